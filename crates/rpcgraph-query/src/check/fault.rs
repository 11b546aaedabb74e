//! Faults: messages that break a rule, and their places in the lines of the log.

use std::io::{self, BufRead as _, BufReader, Read};

use super::facts::MessageFacts;
use super::rules::Rule;
use crate::diagnostic::shortened;
use crate::json::sha256;
use crate::log::Row;
use crate::record::decompressed;

/// The maximum length of a text that a log put into a fault, in characters.
const LONGEST: usize = 300;
/// The maximum number of bytes of a line in memory.
const PIECE: u64 = 1 << 20;
/// The maximum number of characters of a line before a place, and after it.
const AROUND: usize = 400;

/// A message that breaks a rule.
#[derive(Debug, Clone, Default)]
pub struct Fault {
    /// The IRI of the guilty message, record or session.
    pub node: String,
    /// The index of its log among the inputs.
    pub input: Option<usize>,
    /// The name of the message.
    pub message: Option<String>,
    /// The name of another message that explains the fault.
    pub related: Option<String>,
    /// The guilty side: `client` or `server`.
    pub side: Option<&'static str>,
    /// A sentence that describes the fault.
    pub text: String,
    /// The IRI of the clause, in the revision of the message.
    pub clause: Option<String>,
    /// The detail in the text that the rule selected.
    pub detail: Option<String>,
    /// The line and the byte offset of the record.
    pub place: Option<(u64, u64)>,
    /// The place in the line, once it is read.
    pub excerpt: Option<Excerpt>,
    /// A digest of the fault that does not depend on its place.
    pub fingerprint: String,
    /// The method of the message, or the method that it answers.
    pub method: Option<String>,
    /// The tool that the message calls, or answers for.
    pub tool: Option<String>,
    /// True if a baseline has the fault.
    pub is_known: bool,
    /// True if it does not depend on when the events of a stream came.
    pub(super) is_certain: bool,
    /// The input, the record and the index in its batch.
    pub(super) order: (usize, u64, u64),
}

/// Returns the IRI of the message that a node hangs on, such as `…#m7` for `…#m7-tool1`, or the node itself.
pub(super) fn message_of(node: &str) -> &str {
    let fragment = node.rfind("#m").map_or(node.len(), |start| start + 2);
    let (start, rest) = node.split_at(fragment);
    let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    if length > 0 { node.get(..start.len() + length).unwrap_or(node) } else { node }
}

/// Returns the name of the message that a node hangs on: its fragment.
fn name(node: &str) -> String {
    message_of(node).rsplit('#').next().unwrap_or(node).to_owned()
}

/// Replaces each `{?variable}` in a text with its value.
fn filled(text: &str, row: &Row) -> String {
    let mut parts = text.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.strip_prefix(['?', '$']).and_then(|part| part.split_once('}')) {
            Some((variable, rest)) => {
                filled.extend([&*shortened(row.text(variable).unwrap_or_default(), LONGEST), rest])
            }
            None => filled.extend(["{", part]),
        }
    }
    filled
}

impl Fault {
    /// Creates the fault that a row states; `text` has variables in braces.
    pub(super) fn of(row: &Row, text: &str) -> Self {
        let mut text = filled(text, row);
        let detail = row.text("text").map(|text| shortened(text, LONGEST).into_owned());
        if let Some(detail) = detail.as_deref().filter(|detail| !text.contains(*detail)) {
            text = format!("{}: {detail}", text.trim_end_matches('.'));
        }
        let node = row.text("this").or_else(|| row.text("message")).unwrap_or_default();
        let related = row.text("related").map(name);
        let is_certain = row.text("certain") == Some("true");
        Self { node: node.to_owned(), related, text, detail, is_certain, ..Self::default() }
    }

    /// The verdict of the fault: `failed`, or `known` if a baseline has it.
    pub(super) fn verdict(&self) -> &'static str {
        if self.is_known { "known" } else { "failed" }
    }

    pub(super) fn complete(&mut self, rule: &Rule, facts: Option<&MessageFacts>, revision: Option<&str>) {
        self.clause = revision.map_or(rule.clause(), |revision| rule.clause_in(revision)).map(str::to_owned);
        self.message = facts.map(|_| name(&self.node));
        let sender = facts.and_then(|facts| facts.sender);
        self.side = match rule.side.as_deref() {
            Some("client") => Some("client"),
            Some("server") => Some("server"),
            Some(_) => sender,
            None => None,
        };
        self.place = facts.and_then(|facts| facts.place);
        let (sequence, index) = facts.map_or((0, 0), |facts| (facts.sequence, facts.index));
        self.order = (self.input.unwrap_or_default(), sequence, index);
        (self.method, self.tool) = facts.map(|facts| (facts.method.clone(), facts.tool.clone())).unwrap_or_default();
        let method = self.method.as_deref().unwrap_or_default();
        self.fingerprint = sha256(format!("{}\n{method}\n{}", rule.id, self.text).as_bytes());
        self.fingerprint.truncate(32);
    }
}

/// A place in a line. Columns count characters, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The first column of the fault.
    pub column: usize,
    /// The column after the fault.
    pub end: usize,
    /// True if the fault is a detail in its message.
    pub is_detail: bool,
    /// The text of the line around the fault.
    pub text: String,
    /// The column of the first character of the text.
    pub first: usize,
}

/// Reads a log once more, and gives each fault its excerpt. The message is marked, or the detail if the message has it.
///
/// # Errors
///
/// The log is not readable.
pub fn read_excerpts<'f>(read: impl Read + Send, faults: impl Iterator<Item = &'f mut Fault>) -> io::Result<()> {
    let mut faults: Vec<_> = faults.filter_map(|fault| fault.place.map(|(_, byte)| (byte, fault))).collect();
    faults.sort_by_key(|(byte, _)| *byte);
    let mut faults = faults.into_iter().peekable();
    let mut log = BufReader::with_capacity(1 << 16, decompressed(read)?);
    let (mut start, mut before, mut piece) = (0, 0, Vec::new());
    while faults.peek().is_some() {
        piece.clear();
        let length = log.by_ref().take(PIECE).read_until(b'\n', &mut piece)? as u64;
        if length == 0 {
            break;
        }
        let line = String::from_utf8_lossy(&piece);
        while let Some((byte, fault)) = faults.next_if(|(byte, _)| *byte < start + length) {
            let at = usize::try_from(byte - start).unwrap_or_default();
            let column = before + String::from_utf8_lossy(piece.get(..at).unwrap_or_default()).chars().count();
            fault.excerpt =
                Some(Excerpt::of(line.trim_end_matches(['\r', '\n']), before, column, fault.detail.as_deref()));
        }
        start += length;
        before = if piece.ends_with(b"\n") { 0 } else { before + line.chars().count() };
    }
    Ok(())
}

impl Excerpt {
    /// Marks a message in a line, from a column on, counted from 0. `before` characters stand before the piece.
    fn of(line: &str, before: usize, column: usize, detail: Option<&str>) -> Self {
        let characters: Vec<char> = line.chars().collect();
        let message: String = characters.get(column - before..).unwrap_or_default().iter().collect();
        // Not a part of a longer word or number.
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'));
        let is_whole =
            |before: &str, after: &str| !is_part(before.chars().next_back()) && !is_part(after.chars().next());
        let marked = detail.filter(|detail| !detail.is_empty()).and_then(|detail| {
            let cut = |(at, _)| Some((message.get(..at)?, message.get(at + detail.len()..)?));
            let mut found = message.match_indices(detail).filter_map(cut);
            found.find(|(before, after)| is_whole(before, after)).map(|(before, _)| (before, detail))
        });
        let (from, length) = match marked {
            Some((skipped, detail)) => (column + skipped.chars().count(), detail.chars().count()),
            None => (column, message.chars().count().max(1)),
        };
        let first = (from - before).saturating_sub(AROUND);
        let text = characters.iter().skip(first).take(2 * AROUND).collect();
        Self { column: from + 1, end: from + length + 1, is_detail: marked.is_some(), text, first: before + first + 1 }
    }
}
