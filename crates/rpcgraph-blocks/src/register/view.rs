//! One block in a register, as the page and the catalogue show it.

use serde_json::Value;

use super::block::Block;
use super::examples::Example;
use super::item::ItemOutcome;
use super::output::Files;
use super::report::BlockReport;

/// A block and its results, as shown.
pub struct BlockView<'b> {
    pub block: &'b Block,
    /// Reference to the context from the top of the register.
    pub context: Option<String>,
    pub files: Files,
    pub report: BlockReport,
    pub shown: Vec<ExampleView<'b>>,
    /// Paths that the page links to, with their labels.
    pub links: Vec<(&'static str, String)>,
}

/// An example, and the outcome of each of its snippets.
pub struct ExampleView<'b> {
    /// The number of the example, from 1.
    pub number: usize,
    pub example: &'b Example,
    pub results: Vec<ItemOutcome>,
    /// The example as registers show it, with the outputs of its snippets.
    pub full: Value,
}

impl ExampleView<'_> {
    /// Returns the name of the example in URLs.
    pub fn key(&self) -> String {
        format!("example_{}", self.number)
    }

    pub fn title(&self) -> String {
        self.example.title.clone().unwrap_or_else(|| format!("Example {}", self.number))
    }
}
