//! One block in a register, as the page and the catalogue show it.

use serde_json::Value;

use super::block::Block;
use super::examples::Example;
use super::item::Done;
use super::output::Files;
use super::report::Report;
use super::site::Site;

/// What there is to show of a block.
pub struct BlockView<'b> {
    pub block: &'b Block,
    pub site: Site,
    /// Name of the published schema's file.
    pub schema_file: Option<&'static str>,
    /// Where the context is, seen from the top of the register.
    pub context: Option<String>,
    pub files: Files,
    pub report: Report,
    pub shown: Vec<Shown<'b>>,
    /// Paths that the page links to, with what they are called.
    pub links: Vec<(&'static str, String)>,
}

/// An example, and the outcome of each of its snippets.
pub struct Shown<'b> {
    /// From 1.
    pub number: usize,
    pub example: &'b Example,
    pub results: Vec<Done>,
    /// The example as registers show it: with what was made of its snippets.
    pub full: Value,
}

impl Shown<'_> {
    /// Name of the example in URLs.
    pub fn key(&self) -> String {
        format!("example_{}", self.number)
    }

    pub fn title(&self) -> String {
        self.example.title.clone().unwrap_or_else(|| format!("Example {}", self.number))
    }
}
