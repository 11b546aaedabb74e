//! A format described by a TOML file: a file of the user, or one in `record/formats`.

use super::elements::first_element;
use super::own_format::{OwnFormat, OwnFormatError, envelope_parts};
use super::pointer::Pointer;
use super::rules::{
    ArrayPlace, FactGroups, FormatRule, FormatRules, LineRegex, LineRule, RuleKind, WordMeaning, fact_groups,
};
use super::spelling::Spelling;
use super::window::InputHead;
use super::{Direction, Sender};
use regex::bytes::Regex;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// The content of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FormatDefinition {
    pub name: String,
    /// Descriptions for users: of a record, and of the facts that it carries besides messages.
    #[serde(default)]
    summary: String,
    #[serde(default)]
    carries: String,
    /// Formats of a lower rank are tried first, in logs that contain one of the literals. `formats.rs` lists both.
    #[serde(default, rename = "rank")]
    _rank: IgnoredAny,
    #[serde(default, rename = "literals")]
    _literals: IgnoredAny,
    clue: Option<ClueText>,
    /// The reason why the format is not read, with advice.
    pub refuse: Option<String>,
    /// The array whose elements are the pieces.
    array: Option<ArrayText>,
    tail: Option<String>,
    truncated: Option<String>,
    /// True if wrappers are searched for as in a log of unknown format.
    #[serde(default)]
    detect_wrappers: bool,
    /// True if each line is a message, so that another line with JSON is damaged.
    #[serde(default)]
    transport: bool,
    /// One rule, or several.
    envelope: Option<BTreeMap<String, Pointers>>,
    line: Option<String>,
    #[serde(default)]
    rule: Vec<DescribedRule>,
    /// Words for the sender in all rules, and for what the writer of the log sent or received.
    #[serde(default)]
    client: Vec<String>,
    #[serde(default)]
    server: Vec<String>,
    #[serde(default)]
    out: Vec<String>,
    #[serde(default)]
    r#in: Vec<String>,
    pub sample: Option<String>,
    pub gives: Option<ExpectedSample>,
}

/// A rule, with words of its own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct DescribedRule {
    gives: RuleKind,
    /// Regular expressions for the values at pointers.
    r#where: BTreeMap<String, String>,
    /// JSON Pointers to the parts.
    envelope: Option<BTreeMap<String, Pointers>>,
    line: Option<String>,
    /// The spelling of the value in a line, the pointer to the text that holds it in the object that is the line, and
    /// the text after it.
    spelling: Option<Spelling>,
    within: Option<String>,
    behind: Option<String>,
    /// False if objects without the shape of a message are text.
    sure: bool,
    /// True if the session and the peer are the sender and the receiver.
    directed: bool,
    /// True if an answer's record repeats its request.
    repeats: bool,
    client: Vec<String>,
    server: Vec<String>,
    out: Vec<String>,
    r#in: Vec<String>,
}

impl Default for DescribedRule {
    fn default() -> Self {
        Self {
            gives: RuleKind::default(),
            r#where: BTreeMap::new(),
            envelope: None,
            line: None,
            spelling: None,
            within: None,
            behind: None,
            sure: true,
            directed: false,
            repeats: false,
            client: Vec::new(),
            server: Vec::new(),
            out: Vec::new(),
            r#in: Vec::new(),
        }
    }
}

/// A regular expression for text before the first JSON value; or regular expressions for the values at pointers in the
/// first object, of which all in one table must match.
#[derive(Deserialize)]
#[serde(untagged)]
enum ClueText {
    Text(String),
    Members(Vec<BTreeMap<String, String>>),
}

/// True for an array by itself, or the name of the member that is the array.
#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "true, or the name of a member")]
enum ArrayText {
    ByItself(bool),
    Member(String),
}

impl ArrayText {
    fn place(&self) -> Option<ArrayPlace> {
        match self {
            Self::ByItself(is) => is.then_some(ArrayPlace::ByItself),
            Self::Member(name) => Some(ArrayPlace::Member(name.clone())),
        }
    }
}

#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "a JSON Pointer, or an array of them")]
enum Pointers {
    One(String),
    Several(Vec<String>),
}

/// The expected result of the sample.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectedSample {
    pub messages: usize,
    /// The method of the first message.
    pub method: Option<String>,
}

/// A format that was parsed from a file.
#[derive(Default)]
pub(super) struct FileFormat {
    pub summary: String,
    pub carries: String,
    pub sample: String,
    pub refuse: Option<String>,
    pub own_format: OwnFormat,
    is_array: bool,
    clue: Option<FileClue>,
}

enum FileClue {
    Text(Regex),
    Members(Vec<Vec<(Pointer, Regex)>>),
}

impl FileFormat {
    /// Parses the file of a built-in format. Without rules, the format is code.
    pub fn parse(text: &str) -> Result<Self, OwnFormatError> {
        let described: FormatDefinition = toml::from_str(text)?;
        let has_rules = !described.rule.is_empty() || described.envelope.is_some() || described.line.is_some();
        let own_format = if has_rules { described.own_format()? } else { OwnFormat::default() };
        let clue = match &described.clue {
            Some(ClueText::Text(regex)) => Some(FileClue::Text(Regex::new(regex)?)),
            Some(ClueText::Members(tables)) => {
                Some(FileClue::Members(tables.iter().map(conditions).collect::<Result<_, _>>()?))
            }
            None => None,
        };
        let FormatDefinition { summary, carries, refuse, sample, array, .. } = described;
        let is_array = array.is_some();
        Ok(Self { summary, carries, sample: sample.unwrap_or_default(), refuse, own_format, is_array, clue })
    }

    /// True if an input has this format.
    pub fn is_in(&self, window: &InputHead<'_>) -> bool {
        match &self.clue {
            None => false,
            Some(FileClue::Text(regex)) => {
                regex.find(window.bytes).is_some_and(|found| found.start() < window.before_values())
            }
            Some(FileClue::Members(tables)) => {
                let object = if self.is_array { first_element(window) } else { window.objects().next() };
                let has = |table: &Vec<(Pointer, Regex)>| {
                    let object = object.as_ref().filter(|object| !object.has("jsonrpc"))?;
                    Some(table.iter().all(|(pointer, regex)| pointer.has(object, window.bytes, regex)))
                };
                tables.iter().any(|table| has(table).unwrap_or_default())
            }
        }
    }
}

fn conditions(table: &BTreeMap<String, String>) -> Result<Vec<(Pointer, Regex)>, OwnFormatError> {
    table.iter().map(|(at, regex)| Ok((Pointer::parse(at)?, Regex::new(regex)?))).collect()
}

fn behind(text: &str) -> Result<(LineRegex, FactGroups), OwnFormatError> {
    let regex = LineRegex::new(format!("^(?:{text})$"))?;
    let groups = fact_groups(&regex, "session");
    Ok((regex, groups))
}

impl FormatDefinition {
    pub fn own_format(&self) -> Result<OwnFormat, OwnFormatError> {
        let own =
            DescribedRule { envelope: self.envelope.clone(), line: self.line.clone(), ..DescribedRule::default() };
        let own = (self.rule.is_empty() && self.refuse.is_none()).then_some(own);
        let rules = self.rule.iter().chain(&own).map(|rule| self.one(rule)).collect::<Result<_, _>>()?;
        let regex = |text: &Option<String>| text.as_deref().map(Regex::new).transpose();
        let (tail, truncated) = (regex(&self.tail)?, regex(&self.truncated)?);
        Ok(OwnFormat::new(FormatRules {
            rules,
            array: self.array.as_ref().and_then(ArrayText::place),
            tail,
            truncated,
            detects_wrappers: self.detect_wrappers,
            is_transport: self.transport,
        }))
    }

    fn one(&self, rule: &DescribedRule) -> Result<FormatRule, OwnFormatError> {
        let parts = |pointers: &BTreeMap<String, Pointers>| {
            let pairs = pointers.iter().flat_map(|(name, pointers)| pointers.pairs(name));
            envelope_parts(pairs, Pointer::parse, rule.spelling.is_some())
        };
        let envelope = rule.envelope.as_ref().map(parts).transpose()?;
        let line = rule.line.as_ref().map(|regex| LineRule::new(regex, "session", rule.gives)).transpose()?;
        if envelope.is_none() && line.is_none() {
            let what = "say where the message is: by `envelope`, `line`, or both";
            return Err(OwnFormatError::File(format!("{}: {what}", self.name)));
        }
        let words = [
            (&rule.client, &self.client, WordMeaning::Sent(Sender::Client)),
            (&rule.server, &self.server, WordMeaning::Sent(Sender::Server)),
            (&rule.out, &self.out, WordMeaning::Went(Direction::Out)),
            (&rule.r#in, &self.r#in, WordMeaning::Went(Direction::In)),
        ];
        let own = words.iter().flat_map(|(own, _, meaning)| own.iter().map(|word| (word.clone(), *meaning)));
        let all = words.iter().flat_map(|(_, all, meaning)| all.iter().map(|word| (word.clone(), *meaning)));
        Ok(FormatRule {
            kind: rule.gives,
            line,
            envelope,
            conditions: conditions(&rule.r#where)?,
            spelling: rule.spelling,
            within: rule.within.as_deref().map(Pointer::parse).transpose()?,
            behind: rule.behind.as_deref().map(behind).transpose()?,
            is_sure: rule.sure,
            is_directed: rule.directed,
            repeats_requests: rule.repeats,
            words: own.chain(all).collect(),
        })
    }
}

impl Pointers {
    fn pairs(&self, name: &str) -> Vec<(String, String)> {
        let pointers = match self {
            Self::One(pointer) => std::slice::from_ref(pointer),
            Self::Several(pointers) => pointers,
        };
        pointers.iter().map(|pointer| (name.to_owned(), pointer.clone())).collect()
    }
}
