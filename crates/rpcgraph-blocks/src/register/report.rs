//! The steps and the outcome of each example and test, as JSON and as text, in the form that the OGC's building blocks
//! publish.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::json::without_nulls;

/// The maximum number of losses or results of one kind that are listed; the count of losses includes the rest.
pub const MAX_LISTED: usize = 50;
/// The operation in the entry of an item whose validity is unknown.
pub const NOT_VALIDATED: &str = "not-validated";

/// The operation in the entry of an item whose shapes, or some of them, are not checked.
pub const SHAPES_NOT_CHECKED: &str = "shacl-not-checked";
/// The operation in the entry of an item whose file cannot be parsed.
pub const PARSE_ERROR: &str = "parse-error";
/// The `op` of entries about Turtle made from JSON.
pub(super) const TURTLE: &str = "ttl-create";
/// The operation in the entry of an item that must fail and does not.
const NO_FAILURE: &str = "require-fail";

/// Sections of a report, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Section {
    /// About the whole item.
    General,
    /// Files read and written.
    Files,
    /// Validation by JSON Schema.
    JsonSchema,
    /// Expansion.
    JsonLd,
    /// Reading Turtle.
    Turtle,
    /// Validation by shapes.
    Shacl,
    /// Steps before and after the uplift.
    SemanticUplift,
}

impl Section {
    /// Its title.
    pub fn title(self) -> &'static str {
        ["General", "Files", "JSON Schema", "JSON-LD", "Turtle", "SHACL", "Semantic Uplift"][self as usize]
    }
}

/// A step or a finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportEntry {
    /// Its section in the report.
    #[serde(skip)]
    pub section: Section,
    /// Its data, for programs.
    #[serde(flatten)]
    pub payload: Value,
    /// True if it makes the item fail.
    pub is_error: bool,
    /// Its message, for people.
    pub message: String,
}

impl ReportEntry {
    /// True if the entry is about this operation.
    pub fn is(&self, operation: &str) -> bool {
        self.payload.get("op").is_some_and(|op| op == operation)
    }
}

/// The verdict on an example, a test or a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemVerdict {
    /// Everything was checked, with the outcome that is required.
    Passed,
    /// Nothing failed, but shapes were not checked.
    NotValidated,
    /// Something failed.
    Failed,
}

impl ItemVerdict {
    /// Its name in class names and file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::NotValidated => "not_validated",
            Self::Failed => "failed",
        }
    }

    /// True if it passed, as registers and reports write it.
    pub fn is_pass(self) -> bool {
        self == Self::Passed
    }
}

/// The example or test of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemSubject {
    /// A snippet, by the number of its example and its own number.
    Example {
        /// The example's number, from 1.
        example: usize,
        /// The snippet's number within its example, from 1.
        snippet: usize,
        /// Title of the example.
        title: Option<String>,
    },
    /// A file of `tests/`.
    Test {
        /// Its file name.
        file: String,
    },
}

/// The outcome of one example or test.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportItem {
    /// The example or test.
    pub subject: ItemSubject,
    /// True if it must fail.
    pub must_fail: bool,
    /// Path of its file in the register.
    pub file: String,
    /// URL of the file, if the register has a URL.
    pub url: Option<String>,
    /// URL of the file, or its path relative to the report for people.
    pub href: String,
    /// Media type.
    pub language: String,
    /// The steps, in order.
    pub entries: Vec<ReportEntry>,
    /// The number of its losses.
    pub losses: usize,
}

impl ReportItem {
    /// Adds a step that succeeded; the payload is an object.
    pub fn done(&mut self, section: Section, message: impl Into<String>, payload: Value) {
        self.add(section, false, message, payload);
    }

    /// Adds an error, which makes the item fail; the payload is an object.
    pub fn fail(&mut self, section: Section, message: impl Into<String>, payload: Value) {
        self.add(section, true, message, payload);
    }

    /// Adds an entry.
    pub(super) fn add(&mut self, section: Section, is_error: bool, message: impl Into<String>, payload: Value) {
        self.entries.push(ReportEntry { section, payload, is_error, message: message.into() });
    }

    /// Returns a note on an item that must fail and does so since its file is not read as JSON, YAML or Turtle, or since JSON
    /// gave no triples: schemas and shapes, which it is about, do not refuse it.
    pub fn unrelated_failure(&self) -> Option<String> {
        let errors = || self.entries.iter().filter(|entry| entry.is_error && self.must_fail);
        let why = match errors().find(|entry| entry.is(PARSE_ERROR)) {
            Some(error) => format!("it cannot be parsed: {}", error.message),
            None => {
                let first = errors().next()?;
                errors().all(|error| error.is(TURTLE)).then(|| format!("it has no triples: {}", first.message))?
            }
        };
        Some(format!("{}: fails only because {why}", self.title()))
    }

    /// Adds the reason why an item that must fail and does not is a failure: an entry without an error, which would let the
    /// item pass.
    pub fn require_failure(&mut self) {
        if self.must_fail && !self.has_errors() {
            let unchecked = self.entries.iter().filter(|entry| entry.is(SHAPES_NOT_CHECKED));
            let unchecked: String = unchecked.map(|entry| format!("; {}", entry.message)).collect();
            let message = format!("Failure was expected, but the test passed{unchecked}");
            self.done(Section::General, message, json!({ "op": NO_FAILURE }));
        }
    }

    /// True if an entry is an error.
    pub fn has_errors(&self) -> bool {
        self.entries.iter().any(|entry| entry.is_error)
    }

    /// Returns its verdict: it passes if it has errors exactly if it must fail, and its validity is known.
    pub fn verdict(&self) -> ItemVerdict {
        let is_unchecked = |entry: &ReportEntry| entry.is(SHAPES_NOT_CHECKED) && entry.payload.get("terms").is_none();
        if self.has_errors() != self.must_fail || self.entries.iter().any(|entry| entry.is(NOT_VALIDATED)) {
            ItemVerdict::Failed
        } else if !self.must_fail && self.entries.iter().any(is_unchecked) {
            ItemVerdict::NotValidated
        } else {
            ItemVerdict::Passed
        }
    }

    /// True if its verdict is that it passed.
    pub fn passed(&self) -> bool {
        self.verdict().is_pass()
    }

    /// Its subject, in words.
    pub fn title(&self) -> String {
        match &self.subject {
            ItemSubject::Example { example, snippet, title: Some(title) } => {
                format!("example {example}, snippet {snippet} ({title})")
            }
            ItemSubject::Example { example, snippet, title: None } => format!("example {example}, snippet {snippet}"),
            ItemSubject::Test { file } => format!("test {file}"),
        }
    }

    /// Returns the reasons why it did not pass, one line each.
    pub fn reasons(&self) -> Vec<String> {
        let reason = |entry: &ReportEntry| match entry.is(NO_FAILURE) {
            true => Some(entry.message.clone()),
            false => entry.is_error.then(|| format!("{}: {}", entry.section.title(), entry.message)),
        };
        self.entries.iter().filter_map(reason).collect()
    }

    /// Returns the entries by section.
    pub fn sections(&self) -> BTreeMap<Section, Vec<&ReportEntry>> {
        let mut sections: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for entry in &self.entries {
            sections.entry(entry.section).or_default().push(entry);
        }
        sections
    }

    fn to_json(&self) -> Value {
        let (kind, example, snippet) = match self.subject {
            ItemSubject::Example { example, snippet, .. } => ("EXAMPLE", Some(example), Some(snippet)),
            ItemSubject::Test { .. } => ("TEST_RESOURCE", None, None),
        };
        let source = without_nulls(json!({
            "type": kind,
            "requireFail": self.must_fail,
            "filename": self.file,
            "url": self.url,
            "exampleIndex": example,
            "snippetIndex": snippet,
            "language": self.language,
        }));
        let section = |(section, entries): (Section, Vec<&ReportEntry>)| json!({ "name": section, "title": section.title(), "entries": entries });
        let sections: Vec<_> = self.sections().into_iter().map(section).collect();
        json!({ "source": source, "result": self.passed(), "sections": sections })
    }
}

/// Returns the number of findings beyond [`MAX_LISTED`]; `None` if there are none.
pub fn unlisted(found: usize) -> Option<usize> {
    found.checked_sub(MAX_LISTED).filter(|more| *more > 0)
}

/// Counts items by their verdict.
fn counts<'r>(items: impl Iterator<Item = &'r ReportItem> + Clone) -> Value {
    let of = |verdict| items.clone().filter(|item| item.verdict() == verdict).count();
    let unknown = Some(of(ItemVerdict::NotValidated)).filter(|unknown| *unknown > 0);
    without_nulls(json!({
        "total": items.clone().count(),
        "passed": of(ItemVerdict::Passed),
        "failed": of(ItemVerdict::Failed),
        "notValidated": unknown,
    }))
}

/// The outcome of all examples and tests of a block.
#[derive(Debug, Clone)]
pub struct BlockReport {
    /// Identifier of the block.
    pub id: String,
    /// Name of the block.
    pub name: String,
    /// Time at which the report was made, if reports state it.
    pub generated: Option<String>,
    /// Examples, then tests.
    pub items: Vec<ReportItem>,
    /// Errors in the block itself.
    pub errors: Vec<String>,
}

impl BlockReport {
    /// Returns the number of items that passed.
    pub fn passed(&self) -> usize {
        self.items.iter().filter(|item| item.passed()).count()
    }

    /// Returns the items that failed.
    pub fn failed(&self) -> impl Iterator<Item = &ReportItem> {
        self.items.iter().filter(|item| item.verdict() == ItemVerdict::Failed)
    }

    /// Returns the worst verdict of its items: failed if the block itself has errors.
    pub fn verdict(&self) -> ItemVerdict {
        let of_block = if self.errors.is_empty() { ItemVerdict::Passed } else { ItemVerdict::Failed };
        self.items.iter().map(ReportItem::verdict).fold(of_block, Ord::max)
    }

    fn title(&self) -> String {
        format!("Validation report for {} - {}", self.id, self.name)
    }

    fn counts(&self) -> Value {
        counts(self.items.iter())
    }

    /// Returns the number of examples and tests that passed in all reports, in words: `5 of 7 passed, 1 not validated`, where
    /// ` passed` is the text behind the numbers.
    pub fn passed_in_words<'r>(reports: impl Iterator<Item = &'r Self>, behind: &str) -> String {
        let items: Vec<_> = reports.flat_map(|report| &report.items).map(ReportItem::verdict).collect();
        let count = |verdict| items.iter().filter(|one| **one == verdict).count();
        let unknown = match count(ItemVerdict::NotValidated) {
            0 => String::new(),
            unknown => format!(", {unknown} not validated"),
        };
        format!("{} of {}{behind}{unknown}", count(ItemVerdict::Passed), items.len())
    }

    /// Returns `_report.json`, the block's report.
    pub fn to_json(&self) -> Value {
        without_nulls(json!({
            "title": self.title(),
            "bblockName": self.name,
            "bblockId": self.id,
            "generated": self.generated,
            "result": self.verdict().is_pass(),
            "items": self.items.iter().map(ReportItem::to_json).collect::<Vec<_>>(),
            "globalErrors": if self.errors.is_empty() { json!({}) } else { json!({ "block": self.errors }) },
            "counts": self.counts(),
        }))
    }

    /// Returns `report.json`, the register's report, which refers to the report of each block by its path.
    pub fn summary<'r>(reports: impl Iterator<Item = (&'r Self, String)> + Clone) -> Value {
        let block = |(report, path): (&Self, String)| {
            json!({
                "bblockId": report.id,
                "bblockName": report.name,
                "result": report.verdict().is_pass(),
                "counts": report.counts(),
                "report": path,
            })
        };
        let all = || reports.clone().map(|(report, _)| report);
        without_nulls(json!({
            "title": "Validation report",
            "generated": all().find_map(|report| report.generated.clone()),
            "result": all().map(Self::verdict).max().unwrap_or(ItemVerdict::Passed).is_pass(),
            "counts": counts(all().flat_map(|report| &report.items)),
            "bblocks": reports.clone().map(block).collect::<Vec<_>>(),
        }))
    }

    /// Returns the text report of an item, which is stored beside its file.
    pub fn text(&self, item: &ReportItem) -> String {
        let mut text = format!("{}\n", self.title());
        if let Some(generated) = &self.generated {
            text.push_str(&format!("Generated {generated}\n"));
        }
        for (section, entries) in item.sections() {
            text.push_str(&format!("=== {} ===\n", section.title()));
            for entry in entries {
                if entry.is_error {
                    text.push_str("\n** Validation error **\n");
                }
                text.push_str(&entry.message);
                text.push('\n');
            }
            text.push_str(&format!("=== End {} ===\n\n", section.title()));
        }
        text
    }
}
