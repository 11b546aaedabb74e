//! What was done with each example and test, and what came of it: in the shape in which the OGC's building blocks
//! publish it, as JSON and as text.

use serde_json::{Map, Value, json};

/// Parts of a report, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// What is about the whole.
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
}

impl Section {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::General => "GENERAL",
            Self::Files => "FILES",
            Self::JsonSchema => "JSON_SCHEMA",
            Self::JsonLd => "JSON_LD",
            Self::Turtle => "TURTLE",
            Self::Shacl => "SHACL",
        }
    }

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::General => "General",
            Self::Files => "Files",
            Self::JsonSchema => "JSON Schema",
            Self::JsonLd => "JSON-LD",
            Self::Turtle => "Turtle",
            Self::Shacl => "SHACL",
        }
    }
}

/// Something that was done or found.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Where in the report.
    pub section: Section,
    /// What, in words.
    pub message: String,
    /// Whether it makes the item fail.
    pub is_error: bool,
    /// What, for programs.
    pub payload: Map<String, Value>,
}

/// What an item is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A snippet, by the numbers of its example and of itself.
    Example {
        /// From 1.
        example: usize,
        /// From 1, within its example.
        snippet: usize,
        /// Title of the example.
        title: Option<String>,
    },
    /// A file of `tests/`.
    Test {
        /// Its name.
        file: String,
    },
}

/// What came of one example or test.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// What it is about.
    pub subject: Subject,
    /// Whether it is there to fail.
    pub must_fail: bool,
    /// Path of its file in the register.
    pub file: String,
    /// URL of that file, where the register has one.
    pub url: Option<String>,
    /// That URL, or how a file at the top of the register refers to the file.
    pub href: String,
    /// Media type.
    pub language: String,
    /// What was done, in order.
    pub entries: Vec<Entry>,
    /// How much of it is not in its graph.
    pub losses: usize,
}

impl Item {
    /// Adds something that was done.
    pub fn done(&mut self, section: Section, message: impl Into<String>, payload: Value) {
        self.add(section, message.into(), false, payload);
    }

    /// Adds something that makes the item fail.
    pub fn fail(&mut self, section: Section, message: impl Into<String>, payload: Value) {
        self.add(section, message.into(), true, payload);
    }

    fn add(&mut self, section: Section, message: String, is_error: bool, payload: Value) {
        let payload = match payload {
            Value::Object(payload) => payload,
            _ => Map::new(),
        };
        self.entries.push(Entry { section, message, is_error, payload });
    }

    /// Whether there is an error.
    pub fn has_errors(&self) -> bool {
        self.entries.iter().any(|entry| entry.is_error)
    }

    /// Whether it is as it should be.
    pub fn passed(&self) -> bool {
        self.has_errors() == self.must_fail
    }

    /// What it is about, in words.
    pub fn title(&self) -> String {
        match &self.subject {
            Subject::Example { example, snippet, title: Some(title) } => {
                format!("example {example}, snippet {snippet} ({title})")
            }
            Subject::Example { example, snippet, title: None } => format!("example {example}, snippet {snippet}"),
            Subject::Test { file } => format!("test {file}"),
        }
    }

    /// Why it did not pass, a line each.
    pub fn reasons(&self) -> Vec<String> {
        if self.must_fail && !self.has_errors() {
            return vec!["its name says that it must fail, but nothing is wrong with it".to_owned()];
        }
        let errors = self.entries.iter().filter(|entry| entry.is_error);
        errors.map(|entry| format!("{}: {}", entry.section.title(), entry.message)).collect()
    }

    /// The entries by section.
    pub fn sections(&self) -> Vec<(Section, Vec<&Entry>)> {
        let mut sections: Vec<_> = self.entries.iter().map(|entry| entry.section).collect();
        sections.sort();
        sections.dedup();
        let of = |section| self.entries.iter().filter(|entry| entry.section == section).collect();
        sections.into_iter().map(|section| (section, of(section))).collect()
    }

    fn to_json(&self) -> Value {
        let mut source = Map::new();
        let kind = match self.subject {
            Subject::Example { .. } => "EXAMPLE",
            Subject::Test { .. } => "TEST_RESOURCE",
        };
        source.insert("type".to_owned(), json!(kind));
        source.insert("requireFail".to_owned(), json!(self.must_fail));
        source.insert("filename".to_owned(), json!(self.file));
        if let Some(url) = &self.url {
            source.insert("url".to_owned(), json!(url));
        }
        if let Subject::Example { example, snippet, .. } = self.subject {
            source.insert("exampleIndex".to_owned(), json!(example));
            source.insert("snippetIndex".to_owned(), json!(snippet));
        }
        source.insert("language".to_owned(), json!(self.language));
        let entry = |entry: &&Entry| {
            let mut members = entry.payload.clone();
            members.insert("isError".to_owned(), json!(entry.is_error));
            members.insert("message".to_owned(), json!(entry.message));
            Value::Object(members)
        };
        let sections: Vec<_> = self
            .sections()
            .into_iter()
            .map(|(section, entries)| {
                let entries: Vec<_> = entries.iter().map(entry).collect();
                json!({ "name": section.name(), "title": section.title(), "entries": entries })
            })
            .collect();
        json!({ "source": source, "result": self.passed(), "sections": sections })
    }
}

/// What came of all examples and tests of a block.
#[derive(Debug, Clone)]
pub struct Report {
    /// Identifier of the block.
    pub id: String,
    /// Name of the block.
    pub name: String,
    /// When it was made, where that is to be said.
    pub generated: Option<String>,
    /// Examples, then tests.
    pub items: Vec<Item>,
}

impl Report {
    /// How many items passed.
    pub fn passed(&self) -> usize {
        self.items.iter().filter(|item| item.passed()).count()
    }

    /// The items that did not pass.
    pub fn failed(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| !item.passed())
    }

    /// Whether every item passed.
    pub fn is_success(&self) -> bool {
        self.items.iter().all(Item::passed)
    }

    fn title(&self) -> String {
        format!("Validation report for {} - {}", self.id, self.name)
    }

    fn counts(&self) -> Value {
        let (total, passed) = (self.items.len(), self.passed());
        json!({ "total": total, "passed": passed, "failed": total - passed })
    }

    /// `_report.json`: the block's report.
    pub fn to_json(&self) -> Value {
        let mut report = Map::new();
        report.insert("title".to_owned(), json!(self.title()));
        report.insert("bblockName".to_owned(), json!(self.name));
        report.insert("bblockId".to_owned(), json!(self.id));
        if let Some(generated) = &self.generated {
            report.insert("generated".to_owned(), json!(generated));
        }
        report.insert("result".to_owned(), json!(self.is_success()));
        report.insert("items".to_owned(), self.items.iter().map(Item::to_json).collect());
        report.insert("globalErrors".to_owned(), json!({}));
        report.insert("counts".to_owned(), self.counts());
        Value::Object(report)
    }

    /// `report.json`: the register's report, which leads to that of the block.
    pub fn summary(&self, path: &str) -> Value {
        let mut report = Map::new();
        report.insert("title".to_owned(), json!("Validation report"));
        if let Some(generated) = &self.generated {
            report.insert("generated".to_owned(), json!(generated));
        }
        report.insert("result".to_owned(), json!(self.is_success()));
        report.insert("counts".to_owned(), self.counts());
        let block = json!({
            "bblockId": self.id,
            "bblockName": self.name,
            "result": self.is_success(),
            "counts": self.counts(),
            "report": path,
        });
        report.insert("bblocks".to_owned(), json!([block]));
        Value::Object(report)
    }

    /// The text that lies beside each file.
    pub fn text(&self, item: &Item) -> String {
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
