//! The paths of files in a register, and their URLs.

use percent_encoding::{AsciiSet, PercentEncode, utf8_percent_encode};

use crate::vocab::RESERVED;

/// The report of all blocks, for people and for programs.
pub const REPORTS: [&str; 2] = ["tests/report.html", "tests/report.json"];
/// The catalogue of the register, as Turtle.
pub const CATALOGUE: &str = "bblocks.ttl";

/// The paths of a register, below a base URL if it has one.
#[derive(Debug, Clone, Default)]
pub struct RegisterPaths {
    base: Option<String>,
    /// URL of the folder with the sources of the blocks.
    sources: Option<String>,
    key: String,
}

impl RegisterPaths {
    /// Creates the paths of a register. The base is a folder, with or without a slash at its end. `has_sources` is true
    /// if the repository, which holds the register as `build/`, is published, too.
    pub fn new(base: Option<&str>, has_sources: bool) -> Self {
        let base = base.map(|base| format!("{}/", base.trim_end_matches('/')));
        let sources = base.as_ref().filter(|_| has_sources);
        let sources = sources.map(|base| base.strip_suffix("build/").unwrap_or(base).to_owned());
        Self { base, sources, key: String::new() }
    }

    /// Returns the paths of one of its blocks.
    #[must_use]
    pub fn block_paths(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }

    /// Returns the URL of a file of the repository; `None` if that is not published.
    pub fn source(&self, path: &str) -> Option<String> {
        Some(format!("{}{}", self.sources.as_ref()?, encode(path)))
    }

    /// Returns the IRI of the register: the URL of its repository, or of its own folder.
    pub fn register(&self) -> Option<String> {
        self.sources.clone().or_else(|| self.base.clone())
    }

    /// Returns the URL of a part of the block in the catalogue; without a base, a relative reference.
    pub fn node(&self, name: &str) -> String {
        self.reference(&format!("{CATALOGUE}#{}/{name}", self.key))
    }

    /// Returns the path of the block's page.
    pub fn page(&self) -> String {
        format!("generateddocs/markdown/{}/index.md", self.key)
    }

    /// Returns the path of the block's full register entry, in JSON.
    pub fn json_full(&self) -> String {
        format!("generateddocs/json-full/{}/index.json", self.key)
    }

    /// Returns the path of an example's or test's file.
    pub fn test(&self, name: &str) -> String {
        format!("tests/{}/{name}", self.key)
    }

    /// Returns the path of one of the block's own files.
    pub fn own(&self, name: &str) -> String {
        format!("annotated/{}/{name}", self.key)
    }

    /// Returns the URL of a path; `None` without a base.
    pub fn url(&self, path: &str) -> Option<String> {
        Some(format!("{}{}", self.base.as_ref()?, encode(path)))
    }

    /// Returns the URL of a path, or the path relative to the top of the register.
    pub fn reference(&self, path: &str) -> String {
        self.reference_from("", path)
    }

    /// Returns the URL of a path, or the path relative to the folder of the file `from`, which may be the folder itself
    /// with a slash at its end.
    pub fn reference_from(&self, from: &str, path: &str) -> String {
        let folder = from.rfind('/').map_or("", |end| &from[..=end]);
        let relative = || match path.strip_prefix(folder) {
            Some(below) => encode(below).to_string(),
            None => format!("{}{}", "../".repeat(folder.matches('/').count()), encode(path)),
        };
        self.url(path).unwrap_or_else(relative)
    }
}

/// True if a URL has a harmless scheme, unlike `javascript:`.
pub fn is_web(url: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme)) && oxiri::Iri::parse(url).is_ok()
}

/// The bytes that are percent-encoded in a path that may have a fragment.
const PATH: &AsciiSet = &RESERVED.remove(b'/').remove(b'#').remove(b'$');

/// Percent-encodes a path for a URL.
fn encode(path: &str) -> PercentEncode<'_> {
    utf8_percent_encode(path, PATH)
}
