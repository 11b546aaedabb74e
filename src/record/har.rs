//! `har`: an HTTP Archive, from which the entries are cut as they come.

use super::decoder::{Decoder, Line, Lines, Step, leading_blanks, trim_end};
use super::detect::{About, Window};
use super::object::Object;
use super::object_scan::{ObjectScan, column};
use super::value_scan::ValueScan;
use super::{Entry, LogLine, Record, har_entry};
use memchr::memchr2;
use std::collections::VecDeque;

pub(super) const ABOUT: About = About {
    name: "har",
    summary: "an HTTP Archive (browsers, mitmproxy): bodies, server-sent events and WebSocket messages; other requests are comments",
    carries: "time, sender, latency, sessions (origins, Mcp-Session-Id, WebSockets)",
    sample: concat!(
        r#"{"log":{"version":"1.2","creator":{"name":"demo","version":"1"},"entries":[{"#,
        r#""startedDateTime":"2026-01-05T10:00:00.12Z","time":10.5,"#,
        r#""request":{"method":"POST","url":"https://example.org/mcp","headers":[],"#,
        r#""postData":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"}},"#,
        r#""response":{"status":200,"headers":[],"#,
        r#""content":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"}}}]}}"#,
        "\n",
    ),
    decoder: |limit| Box::new(Har::new(limit)),
};

/// The first object that begins a line and has a member, over however many lines it goes and up to an error in it, has a
/// `log` with entries, or with a version and a creator.
pub(super) fn detect(window: &Window<'_>) -> bool {
    let mut objects = window.lines().filter_map(|(at, _)| Object::parse(&window.bytes()[at..]));
    let root = objects.find(|object| !object.is_empty());
    root.filter(|root| !root.has("jsonrpc")).and_then(|root| root.object("log")).is_some_and(|log| {
        let entries = log.get("entries").is_some_and(|entries| entries.starts_with(b"["));
        entries || (log.has("version") && log.object("creator").is_some())
    })
}

/// How much longer than the limit an entry may be, so that a message of that size fits into it with all headers.
const AROUND: usize = 48 * 1024;

/// The longest name of a member; a longer one is none that matters.
const NAME: usize = 1024;

/// Walks to `log.entries` and gives what is in each entry. It holds one entry at a time: the text, which the limit is
/// for, and the messages taken out of it.
struct Har {
    limit: usize,
    lines: Lines,
    level: Level,
    /// In a line of text outside the archive, of which `lines` has seen a part.
    in_text: bool,
    /// Whether the archive had entries.
    entries_seen: bool,
    /// The value that is being looked through, of which so many bytes of the input were seen.
    scan: Scan,
    scanned: usize,
    /// In the entries: how many blanks stand before this place on its line, if nothing else does.
    column: Option<usize>,
    passing: Option<Passing>,
    /// What the entry holds that the input begins with, where in it each begins, and how long it is.
    found: VecDeque<(usize, Entry<'static>)>,
    length: usize,
    /// How many WebSockets there were.
    sockets: u64,
}

/// What the input stands in.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Outside,
    Root,
    Log,
    Entries,
}

/// What is being passed over.
#[derive(Clone, Copy)]
enum Passing {
    Member,
    /// An entry that is too long, of which so many bytes were passed over.
    Entry(u64),
}

impl Decoder for Har {
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        if let Some((start, entry)) = self.found.pop_front() {
            return self.give(start, entry);
        }
        if let Some(passing) = self.passing {
            match self.scan.end(input) {
                Some(0) if matches!(passing, Passing::Member) => self.passing = None,
                done => return self.pass(passing, done, input, end),
            }
        }
        if self.level == Level::Outside {
            return self.outside(input, end);
        }
        let blanks = input.iter().position(|byte| !b" \t\r\n,".contains(byte)).unwrap_or(input.len());
        if blanks > 0 && self.scanned == 0 {
            input[..blanks].iter().for_each(|&byte| self.column = column(self.column, byte));
            return Step::Skip { consumed: blanks };
        }
        match (self.level, input.first()) {
            (_, None) => Step::NeedMore,
            (Level::Entries, Some(b']')) => self.climb(Level::Log),
            // In the entries: the bracket is missing.
            (Level::Log | Level::Entries, Some(b'}')) => self.climb(Level::Root),
            (_, Some(b'}')) => self.close(),
            (Level::Entries, Some(_)) => self.entry(input, end),
            (_, Some(b'"')) => self.member(input, end),
            (_, Some(_)) => self.pass_member(0, input),
        }
    }
}

impl Har {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            lines: Lines::new(limit),
            level: Level::Outside,
            in_text: false,
            entries_seen: false,
            scan: Scan::Value(ValueScan::default()),
            scanned: 0,
            column: None,
            passing: None,
            found: VecDeque::new(),
            length: 0,
            sockets: 0,
        }
    }

    /// Text, up to the line that begins with `{`.
    fn outside<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        if !self.in_text {
            let blanks = leading_blanks(input);
            if blanks > 0 {
                return Step::Skip { consumed: blanks };
            }
            if input.first() == Some(&b'{') {
                self.entries_seen = false;
                return self.climb(Level::Root);
            }
        }
        let step = match self.lines.step(input, end) {
            Line::NeedMore => Step::NeedMore,
            Line::Skip { consumed } => Step::Skip { consumed },
            Line::Long { consumed, .. } => Step::Begin { start: 0, consumed },
            Line::Whole { text, consumed } => Step::entry(0, consumed, LogLine::new(text)),
            Line::End { length, consumed } => Step::entry(0, consumed, LogLine::oversized(length)),
        };
        self.in_text = !matches!(step, Step::Entry { .. }) && (self.in_text || !input.is_empty());
        step
    }

    fn climb<'a>(&mut self, level: Level) -> Step<'a> {
        (self.level, self.column) = (level, None);
        Step::Skip { consumed: 1 }
    }

    fn close<'a>(&mut self) -> Step<'a> {
        self.level = Level::Outside;
        match self.entries_seen {
            true => Step::Skip { consumed: 1 },
            false => Step::entry(0, 1, LogLine::new(&b"an object without log.entries"[..])),
        }
    }

    /// A name, its colon, and the first byte of its value.
    fn member<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        let window = &input[..input.len().min(NAME)];
        let mut quote = 1;
        let name = loop {
            match memchr2(b'"', b'\\', &window[quote.min(window.len())..]) {
                Some(at) if window[quote + at] == b'"' => break Some(quote + at + 1),
                Some(at) => quote += at + 2,
                None => break None,
            }
        };
        let colon = name.map(|name| name + leading_blanks(&window[name..]));
        let value =
            colon.filter(|&at| window.get(at) == Some(&b':')).map(|at| at + 1 + leading_blanks(&window[at + 1..]));
        match (name, value) {
            (Some(name), Some(value)) if value < window.len() => {
                let name = &window[..name];
                let level = match (self.level, name, window[value]) {
                    (Level::Root, b"\"log\"", b'{') => Level::Log,
                    (Level::Log, b"\"entries\"", b'[') => {
                        self.entries_seen = true;
                        Level::Entries
                    }
                    // No value: the brace or bracket closes.
                    (_, _, b'}' | b']' | b',') => return Step::Skip { consumed: value },
                    _ => return self.pass_member(value, input),
                };
                (self.level, self.column) = (level, None);
                Step::Skip { consumed: value + 1 }
            }
            (Some(_), None) if colon.is_some_and(|at| at < window.len()) => self.pass_member(0, input),
            _ if window.len() < NAME && !end => Step::NeedMore,
            _ => self.pass_member(0, input),
        }
    }

    /// Passes over the value at `start`, which tells nothing.
    fn pass_member<'a>(&mut self, start: usize, input: &[u8]) -> Step<'a> {
        let mut scan = ValueScan::default();
        match scan.end(&input[start..]) {
            Some(length) => Step::Skip { consumed: start + length.max(1) },
            None => {
                (self.scan, self.passing) = (Scan::Value(scan), Some(Passing::Member));
                Step::Skip { consumed: input.len() }
            }
        }
    }

    fn pass<'a>(&mut self, passing: Passing, done: Option<usize>, input: &[u8], end: bool) -> Step<'a> {
        let consumed = done.unwrap_or(input.len());
        if done.is_some() || end {
            self.passing = None;
            self.column = self.scan.column_behind();
        }
        match passing {
            Passing::Entry(before) if done.is_some() || end => {
                Step::entry(0, consumed, Record::oversized(before + consumed as u64))
            }
            _ if input.is_empty() => Step::NeedMore,
            Passing::Entry(before) => {
                self.passing = Some(Passing::Entry(before + consumed as u64));
                Step::Skip { consumed }
            }
            Passing::Member => Step::Skip { consumed },
        }
    }

    /// One entry of the archive, or what stands in its place.
    fn entry<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        if self.scanned == 0 {
            self.scan = match input.first() {
                // In an archive that is not indented, other objects begin in the first column too.
                Some(b'{') => Scan::Object(ObjectScan::new(self.column.filter(|&column| column > 0))),
                _ => Scan::Value(ValueScan::default()),
            };
        }
        let most = self.limit.saturating_add(AROUND);
        let window = &input[..input.len().min(most)];
        let done = self.scan.end(&window[self.scanned..]).map(|length| self.scanned + length);
        self.scanned = window.len();
        if done.is_none() && window.len() < most && !end {
            return Step::NeedMore;
        }
        self.scanned = 0;
        self.column = self.scan.column_behind();
        if done.is_none() && window.len() == most {
            self.passing = Some(Passing::Entry(most as u64));
            return Step::Begin { start: 0, consumed: most };
        }
        self.length = done.unwrap_or(input.len());
        let text = trim_end(&input[..self.length]);
        if !text.starts_with(b"{") {
            return Step::entry(0, self.length, LogLine::new(text));
        }
        if done.is_none() {
            let record = match text.len() > self.limit {
                true => Record::oversized(text.len() as u64),
                false => Record::new(text),
            };
            return Step::entry(0, self.length, record);
        }
        self.found = har_entry::entries(text, self.limit, &mut self.sockets).into();
        match self.found.pop_front() {
            Some((start, entry)) => self.give(start, entry),
            None => Step::Skip { consumed: self.length },
        }
    }

    /// The input still begins with the entry of the archive, and is done with it after the last one found in it.
    fn give<'a>(&self, start: usize, entry: Entry<'static>) -> Step<'a> {
        let consumed = if self.found.is_empty() { self.length } else { 0 };
        Step::Entry { start, consumed, entry }
    }
}

/// Looks for the end of what is shown in pieces.
enum Scan {
    Value(ValueScan),
    Object(ObjectScan),
}

impl Scan {
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Value(scan) => scan.end(bytes),
            Self::Object(scan) => scan.end(bytes),
        }
    }

    fn column_behind(&self) -> Option<usize> {
        match self {
            Self::Value(_) => None,
            Self::Object(scan) => scan.column_behind(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::decoder::tests::{drive, entries, texts};
    use super::*;

    const ENTRY: &str = r#"{"request":{"url":"http://h/a","method":"GET"}}"#;
    const CALL: &str = r#"{"request":{"url":"http://h","postData":{"text":"{\"jsonrpc\":1}"}}}"#;

    fn found(limit: usize, input: &str) -> Vec<String> {
        texts(&entries(|| Box::new(Har::new(limit)), input.as_bytes()))
    }

    #[test]
    fn entries_wherever_they_are() {
        let (get, call) = ("# GET http://h/a", r#"{"jsonrpc":1}"#);
        let table = [
            (format!("{{\"log\":{{\"entries\":[{ENTRY},{CALL}]}}}}"), vec![get, call]),
            (format!("\n {{ \"log\" :\n{{ \"entries\"\t: [ {CALL} ,\n {ENTRY} ] }} }}\n"), vec![call, get]),
            (
                format!(
                    "{{\"a\":[\"]\",{{\"log\":1}}],\"log\":{{\"pages\":[{CALL}],\"n\":-1.5,\"entries\":[{CALL}],\"z\":\"\\\"\"}},\"b\":1}}"
                ),
                vec![call],
            ),
            (
                format!("{{\"log\":{{\"entries\":[{CALL}],\"entries\":[{ENTRY}]}},\"log\":{{\"entries\":[{CALL}]}}}}"),
                vec![call, get, call],
            ),
            (
                format!("{{\"log\":{{\"entries\":[1 \"a,\" [{{}}] x{CALL}y]}}}}"),
                vec!["# 1", "# \"a,\"", "# [{}]", "# x", call, "# y"],
            ),
            (
                format!("one\ntwo {{\n{{\"log\":{{\"entries\":[{CALL}]}}}} three\nfour\n"),
                vec!["# one", "# two {", call, "# three", "# four"],
            ),
            (format!("{{\"log\":{{\"entries\":[{CALL}}}}}\n{{\"log\":{{\"entries\":[{ENTRY}]}}}}"), vec![call, get]),
            (format!("{{\"log\":{{oops \"entries\":[{CALL}]:}}}}"), vec![call]),
            (format!("{{\"log\":{{\"entries\":[{CALL},{{\"request\":"), vec![call, "{\"request\":"]),
            (
                format!("{{\"log\":{{\"entries\":[\n {{\"a\":\n \"\n}},\n {CALL},\n {{\"x\":[\n {CALL}\n {{"),
                vec!["# {\"a\":\n \"\n},", call, "# {\"x\":[", call, "{"],
            ),
            (
                format!("{{\"log\":{{\n\"entries\":[\n{{\"x\":[\n{{}}\n]}},\n{CALL}\n]}}}}"),
                vec!["# {\"x\":[\n{}\n]}", call],
            ),
            ("{\"log\":{\"entries\":[]}}".to_owned(), vec![]),
            ("{\"log\":{\"entries\":1}}{\"log\":[]}\n{}".to_owned(), vec!["# an object without log.entries"; 3]),
            ("{\"log\":,\"log\"}".to_owned(), vec!["# an object without log.entries"]),
            ("{\"log\":{\"vers".to_owned(), vec![]),
        ];
        for (input, expected) in table {
            assert_eq!(found(1000, &input), expected, "{input}");
        }
    }

    #[test]
    fn places_in_the_entry() {
        let input = format!("{{\"log\":{{\"entries\":[{ENTRY}, {CALL}]}}}}");
        let found = entries(|| Box::new(Har::new(1000)), input.as_bytes());
        let starts: Vec<_> = found.iter().map(|(start, _)| *start).collect();
        assert_eq!(starts, [19, input.find("{\\\"jsonrpc").unwrap()]);
    }

    #[test]
    fn the_limit() {
        assert_eq!(found(13, &format!("{{\"log\":{{\"entries\":[{CALL}]}}}}")), [r#"{"jsonrpc":1}"#]);
        assert_eq!(found(12, &format!("{{\"log\":{{\"entries\":[{CALL}]}}}}")), ["<13>"]);
        let long = format!(
            "a longer line\n{{\"log\":{{\"x\":\"{:2000}\",\"entries\":[{{\"a\":[\"{:60000}\"]}},{CALL}]}}}}",
            "", ""
        );
        assert_eq!(texts(&drive(&mut Har::new(12), long.as_bytes(), &[])), ["# <13>", "<60010>", "<13>"]);
        let cut = &long[..long.len() - CALL.len() - 10];
        assert_eq!(texts(&drive(&mut Har::new(12), cut.as_bytes(), &[])), ["# <13>", "<60004>"]);
    }

    #[test]
    fn detection() {
        let detected = |input: &str| Format::detect(input.as_bytes()).name() == "har";
        for input in [
            "{\"log\":{\"entries\":[",
            "banner\n{oops\n\n  {\n\"comment\": 1,\n\"log\": {\n\"entries\": []}}",
            "{\"log\": {\"version\": \"1.2\", \"creator\": {}, \"pages\": [",
            "{\"log\": {\"entries\": [oops]}}",
        ] {
            assert!(detected(input), "{input}");
        }
        for input in [
            "{\"log\":{\"version\":1}}",
            "{\"log\":[{\"entries\":[]}]}",
            "{\"jsonrpc\":\"2.0\",\"log\":{\"entries\":[]}}",
            "{\"id\":1}\n{\"log\":{\"entries\":[]}}",
            "[{\"log\":{\"entries\":[]}}]",
        ] {
            assert!(!detected(input), "{input}");
        }
    }

    #[test]
    fn many_entries_in_time() {
        let many = format!("{{\"log\":{{\"entries\":[{}{{}}]}}}}", "{},".repeat(200_000));
        assert_eq!(drive(&mut Har::new(1 << 28), many.as_bytes(), &[]).len(), 200_001);
        let deep = format!("{{\"log\":{{\"entries\":[{}", "[{\"\\\"".repeat(200_000));
        assert_eq!(drive(&mut Har::new(1 << 28), deep.as_bytes(), &[]).len(), 1);
    }
}
