//! The paths of files in a register, and their URLs.

use percent_encoding::{AsciiSet, PercentEncode, utf8_percent_encode};

use crate::vocab::RESERVED;

/// The paths of a register, below a base URL if it has one.
#[derive(Debug, Clone, Default)]
pub struct RegisterPaths {
    base: Option<String>,
    key: String,
    /// Title of the register; `None` for a block that stands alone.
    repository: Option<String>,
}

impl RegisterPaths {
    /// Creates the site of a repository's register, with its title, or of a block that stands alone. The base is a
    /// folder, with or without a slash at its end.
    pub fn new(base: Option<&str>, repository: Option<String>) -> Self {
        let base = base.map(|base| if base.ends_with('/') { base.to_owned() } else { format!("{base}/") });
        Self { base, key: String::new(), repository }
    }

    /// Returns the site of one of its blocks.
    #[must_use]
    pub fn of(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }

    /// True for the register of a block that stands alone.
    pub fn is_alone(&self) -> bool {
        self.repository.is_none()
    }

    /// Returns the title of the register; a block that stands alone gives the name for it.
    pub fn title(&self, block: &str) -> String {
        self.repository.clone().unwrap_or_else(|| format!("Examples of {block}"))
    }

    /// Returns the URL of a file of the repository, which holds the register as `build/`.
    pub fn source(&self, path: &str) -> Option<String> {
        let base = self.base().filter(|_| !self.is_alone())?;
        Some(format!("{}{}", base.strip_suffix("build/").unwrap_or(base), encode(path)))
    }

    /// Returns the paths of the report for people, the report for programs, and the catalogue.
    pub fn overview(&self) -> [&'static str; 3] {
        match self.is_alone() {
            true => ["report.html", "report.json", "examples.ttl"],
            false => ["tests/report.html", "tests/report.json", "bblocks.ttl"],
        }
    }

    /// Returns the URL of the block, or of a part of it, in the catalogue; without a base, a relative reference.
    pub fn node(&self, name: &str) -> String {
        let within = if self.is_alone() || name == self.key { String::new() } else { format!("{}/", self.key) };
        self.reference(&format!("{}#{within}{name}", self.overview()[2]))
    }

    /// Returns the path of the block's page.
    pub fn page(&self) -> String {
        if self.is_alone() { "index.md".to_owned() } else { format!("generateddocs/markdown/{}/index.md", self.key) }
    }

    /// Returns the path of the block's full register entry, in JSON.
    pub fn json_full(&self) -> String {
        format!("generateddocs/json-full/{}/index.json", self.key)
    }

    /// Returns the URL of an example, which is the base of its relative references in the register of a repository.
    pub fn document(&self, name: &str) -> Option<String> {
        self.url(&self.test(name)).filter(|_| !self.is_alone())
    }

    /// Returns the base URL.
    pub fn base(&self) -> Option<&str> {
        self.base.as_deref()
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
        self.url(path).unwrap_or_else(|| encode(path).to_string())
    }

    /// Returns the URL of a path, or the path relative to the folder of an example's files.
    pub fn reference_from_test(&self, path: &str) -> String {
        self.url(path).unwrap_or_else(|| format!("../../{}", encode(path)))
    }
}

#[cfg(test)]
#[test]
fn names_of_blocks_are_not_parts_of_paths() {
    assert_eq!(
        RegisterPaths::new(None, None).of("markdown").json_full(),
        "generateddocs/json-full/markdown/index.json"
    );
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
