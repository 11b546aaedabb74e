//! A page that shows logs: one HTML file that does not need other files, a network or a server.
//!
//! ```text
//! input bytes → record → annotated message → row of the index → page
//!                      ↘ text → piece ↗
//! ```
//!
//! The page has an index with a row for each message, and the logs themselves in compressed pieces. It decompresses a
//! piece when one of its messages is viewed. Memory grows by about 100 bytes per message, plus the open requests; the
//! pieces are in a temporary file until the page is written.

mod facts;
mod front;
mod index;
pub(crate) mod page;
mod pieces;
mod strip;

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read, Write};

use self::facts::Handshakes;
use self::index::{LogFacts, PageIndex, PageRow, RowKind};
pub use self::page::OmittedTexts;
use self::pieces::{PieceFile, RecordingReader, TextSpan};
use crate::log::convert::PairingState;
use crate::log::summary::Summary;
use crate::message::{Content, Kind, Message, Problem, Single};
use crate::overview::Facts;
use crate::protocol::{Extract, Extraction, Maker, Makers, Protocol, Statement, StatementObject};
use crate::record::{Entry, LogLine, ReadError, Reader, ReaderOptions, Record, plain_text};
use crate::session::triples::NodeRef;
use crate::session::{Annotated, Name, Node, Origin};
use crate::vocab::rpcg;

/// The default maximum size of texts in a page, in bytes.
pub const DEFAULT_LIMIT: u64 = 1 << 20;

/// The methods that cancel a request: of MCP, and of LSP.
const CANCELLATIONS: [&str; 2] = ["notifications/cancelled", "$/cancelRequest"];

/// The statements about operations, whose rounds the page marks, and about cancellations.
const EXTRACTION: Extraction = Extraction {
    protocol: Protocol::Auto,
    makers: Makers::NONE.with(Maker::Operation).with(Maker::Cancellation),
    payloads: true,
    exchanges: true,
};

/// The options of a page.
#[derive(Debug, Clone)]
pub struct ReportOptions {
    /// True if the logs are redacted, so that what looks like a secret is a placeholder.
    pub redacted: bool,
    /// The maximum size of payloads, in bytes; `None` for all.
    pub limit: Option<u64>,
    /// The criteria that chose the messages, as the page shows them; `None` if it has all messages.
    pub chosen_by: Option<String>,
}

/// The verdicts of the rules of conformance on the logs of a page.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Verdicts {
    /// The number of rules by verdict, in a line.
    pub summary: String,
    /// The broken rules, in the order of `rpcgraph check`.
    pub broken: Vec<BrokenRule>,
}

/// A broken rule of conformance.
#[derive(Debug, Clone, serde::Serialize)]
pub struct BrokenRule {
    /// The identifier of the rule.
    pub rule: String,
    /// The number of faults.
    pub faults: usize,
    /// The log of the first fault, counted from 0, if it is known.
    pub log: Option<usize>,
    /// The name of the first message that breaks the rule, if a message does.
    pub message: Option<String>,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self { redacted: false, limit: Some(DEFAULT_LIMIT), chosen_by: None }
    }
}

/// A page under construction.
pub struct Report {
    options: ReportOptions,
    index: PageIndex,
    pieces: PieceFile,
    sessions: Option<Vec<String>>,
    verdicts: Option<Verdicts>,
    /// The number of messages that were not chosen.
    left_out: u64,
    /// The facts about the logs, for the sentences of the page.
    facts: Facts,
    handshakes: Handshakes,
}

/// The log being read.
struct OpenLog<'c> {
    /// The names of the messages to include; `None` for all.
    chosen: Option<&'c BTreeSet<Name>>,
    paired: PairingState,
    /// True if there was a request whose operation another request may continue.
    may_go_on: bool,
    /// The rows of the open requests, and their methods.
    open: HashMap<Name, (u32, Option<String>)>,
    facts: LogFacts,
}

impl Report {
    /// Creates a page without logs.
    pub fn new(options: &ReportOptions) -> Self {
        Self {
            options: options.clone(),
            index: PageIndex::new(),
            pieces: PieceFile::new(!options.redacted),
            sessions: None,
            verdicts: None,
            left_out: 0,
            facts: Facts::default(),
            handshakes: Handshakes::default(),
        }
    }

    /// The number of strings that look like passwords, tokens or keys.
    pub fn secrets(&self) -> u64 {
        self.pieces.secrets()
    }

    /// Reads a log; `name` is its name in the page.
    ///
    /// # Errors
    ///
    /// As [`Reader::next_entry`]; also if the temporary file is not writable.
    pub fn read(&mut self, name: &str, input: impl Read + Send, options: &ReaderOptions) -> Result<Summary, ReadError> {
        self.read_chosen(name, input, options, None)
    }

    /// Reads a log as [`read`](Self::read) does, but includes only the `chosen` messages if given, without the text
    /// between messages.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_chosen(
        &mut self,
        name: &str,
        input: impl Read + Send,
        options: &ReaderOptions,
        chosen: Option<&BTreeSet<Name>>,
    ) -> Result<Summary, ReadError> {
        let unreadable = |source| ReadError::Io { after: 0, source };
        let (tee, window) = RecordingReader::new(plain_text(input).map_err(unreadable)?);
        self.pieces.begin(window, chosen.is_some());
        let mut reader = Reader::new(tee, options)?;
        let paired = PairingState::new(Summary::new(&reader), Makers::NONE);
        let facts = LogFacts::new(name, reader.format(), self.index.len());
        let mut log = OpenLog { chosen, paired, may_go_on: false, open: HashMap::new(), facts };
        // The rows of restarts and exits, by the key of the session that each ended.
        let mut ends = HashMap::new();
        while let Some(entry) = reader.next_entry()? {
            match entry {
                Entry::Record(record) => self.record(&record, &mut log).map_err(unreadable)?,
                Entry::LogLine(line) => {
                    log.paired.summary.count_log_line(&line);
                    self.log_line(&line, &log).map_err(unreadable)?;
                    log.paired.sessions.note_line(&line);
                    if line.is_exit && chosen.is_none() {
                        ends.insert(self.index.text(line.session.as_deref().unwrap_or_default()), self.index.len() - 1);
                    }
                }
            }
        }
        for (before, next, restart) in log.paired.sessions.restarts() {
            let (before, next) = (self.index.text(before.unwrap_or_default()), self.index.text(next));
            log.facts.restarts.push((next, before));
            ends.extend(self.index.row_of(log.facts.first, restart.message).map(|row| (before, row)));
        }
        for (name, state) in log.paired.sessions.unanswered() {
            if let Some((number, _)) = log.open.get(&name) {
                self.index.mark(*number);
                if let Some(row) = self.index.rows.get_mut(*number as usize) {
                    row.state = state.into();
                    row.ended = row.ended.or(ends.get(&row.session).copied());
                }
            }
        }
        let origin = Origin { source: name.to_owned(), format: reader.format() };
        for end in log.paired.sessions.ends(&origin) {
            let offset = end.clock_offset.map(|(seconds, _)| index::number(seconds));
            self.facts.note_clocks(offset, !end.estimates.is_empty());
            self.index.estimate(log.facts.first, &end.estimates);
            self.facts.requests_missing |= end.requests_missing;
            self.facts.has_exit |= end.exited.is_some();
        }
        if chosen.is_none() {
            self.facts.text_lines += usize::try_from(log.paired.summary.text_lines).unwrap_or_default();
        }
        self.pieces.end().map_err(unreadable)?;
        log.paired.summary.is_by_time = reader.is_by_time();
        log.paired.summary.end_input(options.is_stated(), reader.head());
        log.facts.rows = self.index.len() - log.facts.first;
        self.index.logs.push(log.facts);
        Ok(log.paired.summary)
    }

    fn record(&mut self, record: &Record<'_>, log: &mut OpenLog<'_>) -> io::Result<()> {
        let mut content = Content::from_record(record);
        log.paired.summary.count(&content);
        content.look_up_methods();
        let texts = if log.chosen.is_some() { content.element_texts(&record.bytes) } else { Vec::new() };
        let elements = content.elements();
        log.may_go_on |= elements.iter().any(may_go_on);
        let are_told = log.may_go_on || elements.iter().any(is_cancellation);
        let mut extracts = Extract::all(EXTRACTION, elements.len(), elements.iter().filter(|_| are_told)).into_iter();
        let (mut nodes, mut statements) = (Vec::new(), Vec::new());
        let session = log.paired.sessions.annotate_into(record, &content, &mut nodes);
        log.paired.link(&session, &mut nodes, &mut extracts, &mut statements);
        let mut place = TextSpan::default();
        match log.chosen {
            None => place = self.pieces.locate(record.location.byte, &record.bytes)?,
            Some(_) => self.pieces.leave_out(),
        }
        for node in nodes.iter().filter(|node| !matches!(node.node, Node::Batch)) {
            if let Some(chosen) = log.chosen {
                if !chosen.contains(&node.name) && !chosen.contains(&Name { element: None, ..node.name }) {
                    self.left_out += 1;
                    continue;
                }
                let text = node.batch_index.and_then(|index| texts.get(index as usize - 1));
                let text = text.map_or(&*record.bytes, |text| text.as_bytes());
                place = self.pieces.locate(record.location.byte, text)?;
            }
            self.message(node, place, &statements, log);
        }
        Ok(())
    }

    /// Adds the row of a message to the index.
    fn message(&mut self, node: &Annotated<'_>, place: TextSpan, statements: &[Statement<'_>], log: &mut OpenLog<'_>) {
        let kind = match (&node.node, node.kind()) {
            (_, Some(Kind::Request)) => RowKind::Request,
            (_, Some(Kind::Notification)) => RowKind::Notification,
            (_, Some(Kind::Response)) => RowKind::Response,
            (_, Some(Kind::ErrorResponse)) => RowKind::Error,
            (Node::Malformed(_), _) => RowKind::Malformed,
            (Node::Exchange(_) | Node::Closing(_), _) => RowKind::Exchange,
            _ => RowKind::Invalid,
        };
        let time = node.time.and_then(|time| self.facts.time(&time.to_string()));
        let mut row = PageRow::new(kind, node, time, place);
        row.session = self.index.text(log.paired.sessions.last_key().unwrap_or_default());
        let first = statements[node.meaning.clone()].iter().find_map(operation);
        let first = first.filter(|first| *first != node.name && Some(*first) != node.responds_to);
        row.operation = first.map_or(0, |first| self.index.text(&first.to_string()));
        let answered = node.responds_to.and_then(|name| log.open.remove(&name));
        row.answers = answered.as_ref().map(|(row, _)| *row);
        if let (Node::Exchange(requests) | Node::Closing(requests), Some(http)) = (&node.node, node.http) {
            requests.iter().for_each(|request| self.end(log.open.remove(request).as_ref()));
            row.error = self.index.text(&index::shortened(&http.text()));
        }
        if let Some(older) = node.superseded.and_then(|older| log.open.get(&older))
            && let Some(older) = self.index.rows.get_mut(older.0 as usize)
        {
            older.problems |= 1 << Problem::IdReusedWhileOpen as u32;
        }
        let cancels = |statement: &Statement<'_>| match statement.object {
            StatementObject::Node(NodeRef::Message(request)) if statement.property == rpcg::CANCELS => Some(request),
            _ => None,
        };
        if let Node::Message(Message { method: Some(method), .. }) = &node.node
            && CANCELLATIONS.contains(&&**method)
        {
            let cancelled = statements[node.meaning.clone()].iter().find_map(cancels);
            self.end(cancelled.and_then(|name| log.open.get(&name)));
        }
        if let Node::Message(message) = &node.node {
            self.members(message, &mut row);
            let method = message.method.as_deref().or(answered.as_ref().and_then(|(_, method)| method.as_deref()));
            if method == Some("initialize") {
                log.facts.handshake(message);
                self.handshakes.add((self.index.logs.len(), row.session), self.index.len(), message);
            }
            if kind == RowKind::Request {
                log.open.insert(node.name, (self.index.len(), method.map(str::to_owned)));
            }
        }
        let (failed, answers) = (row.failed, row.answers);
        let number = self.index.push(row);
        if failed {
            answers.into_iter().chain([number]).for_each(|row| self.index.mark(row));
        }
    }

    /// Records that the next row ends an open request.
    fn end(&mut self, request: Option<&(u32, Option<String>)>) {
        let ended = Some(self.index.len());
        if let Some(row) = request.and_then(|(request, _)| self.index.rows.get_mut(*request as usize)) {
            row.ended = ended;
        }
    }

    fn members(&mut self, message: &Message<'_>, row: &mut PageRow) {
        if let Some(method) = &message.method {
            row.method = self.index.text(method);
        }
        if let Some(id) = &message.id {
            row.id = self.index.text(&index::shortened(&index::id(id)));
        }
        let (detail, error) = index::detail_and_error(message);
        if let Some(detail) = detail {
            row.detail = self.index.text(&index::shortened(&detail));
        }
        if let Some((code, text)) = error {
            let text = text.map(|text| index::shortened(&text)).unwrap_or_default();
            row.error = self.index.text(format!("{code} {text}").trim());
        }
    }

    fn log_line(&mut self, line: &LogLine<'_>, log: &OpenLog<'_>) -> io::Result<()> {
        if log.chosen.is_some() {
            self.pieces.leave_out();
            return Ok(());
        }
        let place = self.pieces.locate(line.location.byte, &line.bytes)?;
        let time = line.time.and_then(|time| self.facts.time(&time.to_string()));
        self.index.push(PageRow::log_line(line, time, place));
        Ok(())
    }

    /// Sets the IRIs of the sessions, in the order of the logs, for a page whose server answers queries.
    #[must_use]
    pub fn served(self, sessions: Vec<String>) -> Self {
        Self { sessions: Some(sessions), ..self }
    }

    /// Adds the verdicts of the rules of conformance on all logs.
    #[must_use]
    pub fn judged(self, verdicts: Option<Verdicts>) -> Self {
        Self { verdicts, ..self }
    }

    /// Writes the page.
    ///
    /// # Errors
    ///
    /// The output is not writable.
    pub fn write(mut self, title: &str, out: &mut impl Write) -> io::Result<OmittedTexts> {
        let secrets = self.secrets();
        let ReportOptions { redacted, limit, chosen_by } = self.options;
        let mut facts = serde_json::json!({
            "title": title, "secrets": secrets, "redacted": redacted, "sessions": self.sessions,
            "chosenBy": chosen_by.as_deref(), "leftOut": self.left_out, "verdicts": self.verdicts,
        });
        let places = facts::gather(&mut self.facts, &mut self.index, &self.handshakes);
        let front = front::html(title, &self.facts, &self.handshakes);
        let zone = self.facts.zone.map_or_else(String::new, |zone| zone.name());
        facts["zone"] = zone.into();
        let connection = |(log, key, place): &(usize, u32, usize)| {
            let session = &self.facts.sessions[*place];
            serde_json::json!([log, key, session.label, session.server, session.before.is_some()])
        };
        facts["connections"] = places.iter().map(connection).collect();
        let marked = self.index.marked();
        let chosen = self.pieces.choose(&mut self.index.rows, marked, limit)?;
        page::write(title, (&front, facts), &mut self.index, &mut self.pieces, &chosen, out)
    }
}

/// Returns true for a request of MCP whose operation another request may continue.
fn may_go_on(single: &Single<'_>) -> bool {
    matches!(single, Single::Message(Message { method: Some(method), .. })
        if ["tools/call", "resources/read", "prompts/get"].contains(&&**method))
}

/// Returns true for the cancellation of a request.
fn is_cancellation(single: &Single<'_>) -> bool {
    matches!(single, Single::Message(Message { method: Some(method), .. }) if CANCELLATIONS.contains(&&**method))
}

/// Returns the first request of the operation that the statement assigns a message to.
fn operation(statement: &Statement<'_>) -> Option<Name> {
    match statement.object {
        StatementObject::Node(NodeRef::Part(first, _)) if statement.property == rpcg::IN_OPERATION => Some(first),
        _ => None,
    }
}
