//! Summary of a run: counts of records, messages, problems and losses.

use std::collections::BTreeMap;
use std::fmt;

use oxsdatatypes::Decimal;

use crate::diagnostic::{printable, shortened};
use crate::mapping::Losses;
use crate::message::{Content, Kind, Problem, Problems, Single};
use crate::record::{
    Certainty, Format, LogLine, Protocols, Reader, Wrapper, names_jsonrpc, nested, other_kind, spells_version,
};
use crate::session::Sessions;

/// The maximum number of characters that are shown of an unread line.
const SHOWN: usize = 80;
/// A text that is more than this many times as long as its input is reported.
const MOST_COMPRESSED: u64 = 1000;

/// Counts for one or more inputs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The formats of the inputs, each once.
    pub formats: Vec<Format>,
    /// The wrappers around the inputs, each once.
    pub wrappers: Vec<Wrapper>,
    /// The number of sessions, at least one for each input.
    pub sessions: u64,
    /// The number of inputs.
    pub inputs: u64,
    /// The number of records.
    pub records: u64,
    /// The number of messages of each [`Kind`].
    pub messages: [u64; Kind::ALL.len()],
    /// The number of batches. Their elements are counted as messages or as invalid.
    pub batches: u64,
    /// The number of JSON values that are not messages.
    pub invalid: u64,
    /// The number of records that are not JSON.
    pub malformed: u64,
    /// The number of HTTP exchanges without a message.
    pub exchanges: u64,
    /// The number of lines of text between messages.
    pub log_lines: u64,
    /// The number of these lines that are neither copies nor headings of messages.
    pub text_lines: u64,
    /// The number of triples written; 0 if JSON-LD was written.
    pub triples: u64,
    /// The losses of the mapping.
    pub losses: Losses,
    /// The number of records that took the reference path, by reason.
    pub by_reference: BTreeMap<&'static str, u64>,
    /// The number of records that were not read as JSON-RPC: neither a message, nor a batch, nor an object with
    /// `jsonrpc`.
    pub unread: u64,
    /// The number of sessions whose open requests were given up; see [`Sessions::given_up`].
    pub given_up: u64,
    /// The number of requests that stand after their answers; see [`Sessions::misordered`].
    pub misordered: u64,
    /// True if the lines were out of order, and the records are sorted by time.
    pub is_by_time: bool,
    /// The number of lines whose text the log leaves out; see [`Wrapper::omits_text`].
    pub omitted: u64,
    /// The number of sessions of which the log holds one side; see [`Sessions::one_sided`].
    pub one_sided: u64,
    /// The numbers of sessions that lack most answers, and the requests of most answers; see [`Sessions::incomplete`].
    pub incomplete: [u64; 2],
    /// The most by which the clock of a side of a session is behind, in seconds; see [`Sessions::clock_offset`].
    pub clock_offset: Option<(Decimal, bool)>,
    /// True if there are times with a zone, and true if there are times without.
    zones: [bool; 2],
    /// The protocols whose methods implied senders that the log does not state.
    protocols: Protocols,
    /// The sizes in bytes of an input and of its text, if the text is more than 1,000 times as long as the input.
    pub compression: Option<(u64, u64)>,
    problems: [u64; Problem::ALL.len()],
    /// The number of records that are [`Certainty::Maybe`].
    doubtful: u64,
    /// The number of lines of text that hold `"jsonrpc":`, or the same in another language.
    mentions: u64,
    /// The beginning of the text of the input, if no record of it was read.
    head: Vec<u8>,
}

impl Summary {
    /// Creates the summary of an input without records.
    pub fn new(reader: &Reader<'_>) -> Self {
        let wrappers = reader.wrappers().to_vec();
        Self { formats: vec![reader.format()], wrappers, sessions: 1, inputs: 1, ..Self::default() }
    }

    /// The number of occurrences of a problem.
    pub fn problem(&self, problem: Problem) -> u64 {
        self.problems[problem as usize]
    }

    /// Counts the content of a record.
    pub fn count(&mut self, content: &Content<'_>) {
        self.records += 1;
        self.batches += u64::from(matches!(content, Content::Batch(_)));
        self.malformed += u64::from(matches!(content, Content::Malformed(_)));
        self.exchanges += u64::from(matches!(content, Content::Exchange));
        content.elements().iter().for_each(|element| self.count_element(element));
        self.count_certainty(content.certainty());
    }

    /// Counts a batch, whose elements are counted separately.
    pub(crate) fn count_batch(&mut self, certainty: Certainty) {
        self.records += 1;
        self.batches += 1;
        self.count_certainty(certainty);
    }

    /// Counts a message, or the value in its place.
    pub(crate) fn count_element(&mut self, element: &Single<'_>) {
        match element {
            Single::Message(message) => self.messages[message.kind as usize] += 1,
            Single::Invalid(_) => self.invalid += 1,
        }
    }

    /// Counts a line of text, which may be a copy of messages that were read.
    pub fn count_log_line(&mut self, line: &LogLine<'_>) {
        let text = &*line.bytes;
        self.log_lines += 1;
        self.text_lines += u64::from(!line.is_copy && !line.is_heading);
        self.mentions += u64::from(!line.is_copy && (names_jsonrpc(text) || spells_version(text)));
        self.omitted += u64::from(self.wrappers.iter().any(|wrapper| wrapper.omits_text(text)));
    }

    fn count_certainty(&mut self, certainty: Certainty) {
        match certainty {
            Certainty::Sure => {}
            Certainty::Maybe => self.doubtful += 1,
            Certainty::No => self.unread += 1,
        }
    }

    /// Adds the counts of an input's sessions, after they have ended.
    pub(crate) fn count_sessions(&mut self, sessions: &Sessions) {
        self.sessions = sessions.count() as u64;
        self.given_up = sessions.given_up();
        self.misordered = sessions.misordered();
        self.one_sided = sessions.one_sided();
        self.incomplete = sessions.incomplete();
        self.clock_offset = sessions.clock_offset();
        self.protocols = sessions.protocols();
        self.zones = sessions.zones();
    }

    /// Completes the counts of an input whose text begins with `head`. `is_known` is true if the user named the
    /// format, or if it was learned from requests and their answers.
    ///
    /// If the format does not mark messages, and every possible message is doubtful, the input does not count as read.
    pub fn end_input(&mut self, is_known: bool, head: &[u8]) {
        let marked = !matches!(self.formats[..], [Format::JsonLines | Format::JsonValues | Format::JsonArray]);
        if !is_known && !marked && self.records == self.unread + self.doubtful {
            self.unread = self.records;
        }
        if self.nothing_read() {
            self.head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).to_vec();
        }
    }

    /// True if some times have a zone and others do not.
    pub fn mixes_zones(&self) -> bool {
        self.zones == [true, true]
    }

    /// The number of requests with an id that is still open, if there are many: several sessions in one log look like
    /// this.
    pub fn ids_reused(&self) -> Option<u64> {
        let (reused, requests) = (self.problem(Problem::IdReusedWhileOpen), self.messages[Kind::Request as usize]);
        (reused > 1 && reused.saturating_mul(10) >= requests).then_some(reused)
    }

    /// The number of lines of text that may hold a message, as in `send('{"jsonrpc":"2.0"}')`.
    pub fn unread_lines(&self) -> u64 {
        self.mentions
    }

    /// True if there are neither records nor lines of text.
    pub fn is_empty(&self) -> bool {
        self.records + self.log_lines == 0
    }

    /// True if there are records or text, but none of it was read as JSON-RPC: also if no record is a message while lines of
    /// text may hold some.
    pub fn nothing_read(&self) -> bool {
        let has_messages_in_text =
            self.mentions > 0 && self.exchanges == 0 && self.messages.iter().all(|count| *count == 0);
        !self.is_empty() && (self.unread == self.records || has_messages_in_text)
    }

    /// Explains why an input that is not empty was not read as JSON-RPC, and gives advice; `stated` is true if the user
    /// named its format. `None` if a part was read.
    pub fn why_unread(&self, stated: bool) -> Option<String> {
        if !self.nothing_read() {
            return None;
        }
        let advice = other_kind(&self.head).map_or_else(
            || {
                // A bracket alone would not help.
                let end = self.head.iter().skip(8).position(|byte| *byte == b'\n').map_or(self.head.len(), |at| at + 8);
                let line = String::from_utf8_lossy(self.head.get(..end).unwrap_or_default());
                let line = line.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
                let list = "(`rpcgraph formats` lists them)";
                let advice = match nested(&self.head) {
                    _ if line.starts_with('{') && names_jsonrpc(line.as_bytes()) && self.malformed > 0 => {
                        "its messages are not valid JSON or too large; `rpcgraph problems` lists them".to_owned()
                    }
                    _ if stated => format!("try without --from, or with another format {list}"),
                    _ if self.doubtful > 0 => {
                        let count = counted(self.doubtful, "possible message");
                        let lack = if self.doubtful == 1 { "lacks" } else { "lack" };
                        format!("{count} {lack} `jsonrpc`: if it is JSON-RPC, read it with --from {}", self.forms())
                    }
                    Some(option) => format!("if there is JSON-RPC in it, read it with {option}"),
                    None => format!("if there is JSON-RPC in it, name the format with --from {list}"),
                };
                // Entries of tables have no text before them.
                match line.as_str() {
                    "" => advice,
                    line => format!("it begins with `{}`: {advice}", printable(&shortened(line, SHOWN))),
                }
            },
            str::to_owned,
        );
        Some(format!("found no JSON-RPC ({}: {}); {advice}", self.forms(), self.counts()))
    }

    /// The names of wrappers and formats: `docker, json-lines`.
    pub fn forms(&self) -> String {
        let wrappers = self.wrappers.iter().map(|wrapper| wrapper.name());
        wrappers.chain(self.formats.iter().map(|format| format.name())).collect::<Vec<_>>().join(", ")
    }

    /// Lists the counts above 0, each with its noun.
    fn counts(&self) -> String {
        let kinds = ["request", "notification", "response", "error response"];
        let others = [
            (self.batches, "batch"),
            (self.invalid, "invalid message"),
            (self.malformed, "malformed record"),
            (self.exchanges, "HTTP exchange"),
            (self.log_lines, "log line"),
        ];
        let counts = self.messages.into_iter().zip(kinds).chain(others).filter(|(count, _)| *count > 0);
        counts.map(|(count, noun)| counted(count, noun)).collect::<Vec<_>>().join(", ")
    }

    /// Takes the sizes of an input and of its text, in bytes.
    pub(crate) fn add_compression(&mut self, length: u64, text: u64) {
        self.compression = (text / MOST_COMPRESSED > length).then_some((length, text));
    }

    pub(crate) fn add_problem(&mut self, problem: Problem, count: u64) {
        self.problems[problem as usize] += count;
    }

    pub(crate) fn add_problems(&mut self, problems: Problems) {
        problems.iter().for_each(|problem| self.add_problem(problem, 1));
    }

    /// Adds the counts of another input.
    pub fn merge(&mut self, other: &Self) {
        add_new(&mut self.formats, &other.formats);
        add_new(&mut self.wrappers, &other.wrappers);
        self.sessions += other.sessions;
        self.zones = [self.zones[0] | other.zones[0], self.zones[1] | other.zones[1]];
        self.inputs += other.inputs;
        self.records += other.records;
        self.messages.iter_mut().zip(other.messages).for_each(|(mine, theirs)| *mine += theirs);
        self.batches += other.batches;
        self.invalid += other.invalid;
        self.malformed += other.malformed;
        self.exchanges += other.exchanges;
        self.log_lines += other.log_lines;
        self.text_lines += other.text_lines;
        self.mentions += other.mentions;
        self.triples += other.triples;
        self.compression = self.compression.or(other.compression);
        self.unread += other.unread;
        self.doubtful += other.doubtful;
        self.given_up += other.given_up;
        self.misordered += other.misordered;
        self.omitted += other.omitted;
        self.one_sided += other.one_sided;
        self.incomplete.iter_mut().zip(other.incomplete).for_each(|(all, more)| *all += more);
        self.clock_offset = self.clock_offset.max(other.clock_offset);
        self.protocols = self.protocols.or(other.protocols);
        self.losses.merge(&other.losses);
        for (reason, count) in &other.by_reference {
            *self.by_reference.entry(reason).or_default() += count;
        }
        self.problems.iter_mut().zip(other.problems).for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// Writes a few lines for people: `24 records (json-lines): 9 requests, …`, then problems, losses, and how senders were
/// inferred.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", counted(self.records, "record"), self.forms())?;
        if self.sessions > self.inputs {
            write!(f, " in {}", counted(self.sessions, "session"))?;
        }
        match self.counts() {
            counts if counts.is_empty() => {}
            counts => write!(f, ": {counts}")?,
        }
        if self.triples > 0 {
            write!(f, "; {}", counted(self.triples, "triple"))?;
        }
        let problems = Problem::ALL.iter().filter(|problem| self.problem(**problem) > 0);
        list(f, "problems:", problems.map(|problem| format!("{} {}", self.problem(*problem), problem.name())))?;
        if let Some((length, text)) = self.compression {
            write!(f, "\ncompressed: {length} bytes expand to {text}; unusually compressible for a log")?;
        }
        list(f, "not carried:", self.losses.iter().map(|(loss, count)| loss.counted(count)))?;
        if self.given_up > 0 {
            write!(f, "\ngiven up: the open requests of {} that had been idle", counted(self.given_up, "session"))?;
        }
        list(f, "senders inferred from methods of", self.protocols.names())
    }
}

/// Writes items in a line of their own, behind a title; nothing if there are none.
fn list(f: &mut fmt::Formatter<'_>, title: &str, items: impl Iterator<Item = impl fmt::Display>) -> fmt::Result {
    for (index, item) in items.enumerate() {
        match index {
            0 => write!(f, "\n{title} {item}")?,
            _ => write!(f, ", {item}")?,
        }
    }
    Ok(())
}

fn add_new<T: Copy + PartialEq>(mine: &mut Vec<T>, theirs: &[T]) {
    let new: Vec<_> = theirs.iter().filter(|one| !mine.contains(one)).copied().collect();
    mine.extend(new);
}

/// Returns a count and its noun, in the plural unless the count is 1.
pub fn counted(count: u64, noun: &str) -> String {
    match (count, noun) {
        (1, noun) => format!("1 {noun}"),
        (count, "batch") => format!("{count} batches"),
        (count, noun) => format!("{count} {noun}s"),
    }
}
