//! Where the register will be: paths in its folder, and the URLs that they get.

use percent_encoding::{AsciiSet, PercentEncode, utf8_percent_encode};

use crate::vocab::RESERVED;

/// The paths of a register, below a base URL if there is one.
#[derive(Debug, Clone)]
pub struct Site {
    base: Option<String>,
    key: String,
    /// Title of the register, if it is that of a repository.
    repository: Option<String>,
}

impl Site {
    /// The register of a repository, which has a title, or of a block that stands alone. The base is a folder, also where it does not
    /// end in a slash.
    pub fn new(base: Option<&str>, repository: Option<String>) -> Self {
        let base = base.map(|base| if base.ends_with('/') { base.to_owned() } else { format!("{base}/") });
        Self { base, key: String::new(), repository }
    }

    /// The same for a block.
    #[must_use]
    pub fn of(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }

    /// Whether it is the register of a block that stands alone.
    pub fn is_alone(&self) -> bool {
        self.repository.is_none()
    }

    /// Title of the register, which may be that of one block.
    pub fn title(&self, block: &str) -> String {
        self.repository.clone().unwrap_or_else(|| format!("Examples of {block}"))
    }

    /// URL of a file of the repository, which holds the register as `build/`.
    pub fn source(&self, path: &str) -> Option<String> {
        let base = self.base().filter(|_| !self.is_alone())?;
        Some(format!("{}{}", base.strip_suffix("build/").unwrap_or(base), encode(path)))
    }

    /// Paths of the report that is for people, of that for programs, and of the catalogue.
    pub fn overview(&self) -> [&'static str; 3] {
        match self.is_alone() {
            true => ["report.html", "report.json", "examples.ttl"],
            false => ["tests/report.html", "tests/report.json", "bblocks.ttl"],
        }
    }

    /// What the catalogue calls the block, or a part of it.
    pub fn node(&self, name: &str) -> String {
        let within = if self.is_alone() || name == self.key { String::new() } else { format!("{}/", self.key) };
        format!("{}#{within}{name}", self.overview()[2])
    }

    /// Path of the block's page.
    pub fn page(&self) -> String {
        if self.is_alone() { "index.md".to_owned() } else { format!("generateddocs/markdown/{}/index.md", self.key) }
    }

    /// Path of all that the register says of the block, as JSON.
    pub fn json_full(&self) -> String {
        format!("generateddocs/json-full/{}/index.json", self.key)
    }

    /// URL of an example, which is the base of its relative references in the register of a repository.
    pub fn document(&self, name: &str) -> Option<String> {
        self.url(&self.test(name)).filter(|_| !self.is_alone())
    }

    /// The base URL.
    pub fn base(&self) -> Option<&str> {
        self.base.as_deref()
    }

    /// Path of an example's or test's file.
    pub fn test(&self, name: &str) -> String {
        format!("tests/{}/{name}", self.key)
    }

    /// Path of one of the block's own files.
    pub fn own(&self, name: &str) -> String {
        format!("annotated/{}/{name}", self.key)
    }

    /// URL of a path, where there is a base.
    pub fn url(&self, path: &str) -> Option<String> {
        Some(format!("{}{}", self.base.as_ref()?, encode(path)))
    }

    /// URL of a path, or how a file at the top of the register refers to it.
    pub fn reference(&self, path: &str) -> String {
        self.url(path).unwrap_or_else(|| encode(path).to_string())
    }

    /// The same for a file among the examples.
    pub fn reference_from_test(&self, path: &str) -> String {
        self.url(path).unwrap_or_else(|| format!("../../{}", encode(path)))
    }
}

#[cfg(test)]
#[test]
fn names_of_blocks_are_not_parts_of_paths() {
    assert_eq!(Site::new(None, None).of("markdown").json_full(), "generateddocs/json-full/markdown/index.json");
}

/// Whether a URL is harmless to follow, as `javascript:` is not.
pub fn is_web(url: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme)) && oxiri::Iri::parse(url).is_ok()
}

/// The bytes that are encoded in a path that may have a fragment.
const PATH: &AsciiSet = &RESERVED.remove(b'/').remove(b'#').remove(b'$');

/// A path as it stands in a URL, percent-encoded.
fn encode(path: &str) -> PercentEncode<'_> {
    utf8_percent_encode(path, PATH)
}
