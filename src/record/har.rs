//! `har`: an HTTP Archive, whose entries are read one by one.

use super::about::{FormatInfo, FormatTest, InputHead};
use super::decoder::{Step, leading_blanks, split_once, trim_end};
use super::elements::{ArrayDecoder, ArrayFormat, Element, Elements};
use super::known::may_hold_message;
use super::marked::Extras;
use super::object::RawObject;
use super::scan::ValueScan;
use super::value::{Extent, value};
use super::{Entry, LogLine, Record, har_entry};

pub(super) const ABOUT: FormatInfo = FormatInfo {
    summary: "an HTTP Archive (browsers, mitmproxy): bodies, server-sent events and WebSocket messages; other requests are comments",
    carries: "time, sender, latency, sessions (origins, Mcp-Session-Id, WebSockets)",
    sign: FormatTest::Line(detect),
    decoder: |limit| ArrayDecoder::boxed(limit, AROUND, Har::default()),
};

/// True if the first object that begins a line and has a member has a `log` with entries, or with a version and a
/// creator. The object may span lines, and counts up to a syntax error in it.
fn detect(window: &InputHead<'_>) -> bool {
    let mut objects = window.lines().filter_map(|(at, _)| RawObject::parse(&window.bytes[at..]));
    let root = objects.find(|object| !object.is_empty());
    root.filter(|root| !root.has("jsonrpc")).and_then(|root| root.object("log")).is_some_and(|log| {
        let entries = log.get("entries").is_some_and(|entries| entries.starts_with(b"["));
        entries || (log.has("version") && log.object("creator").is_some())
    })
}

/// The number of bytes by which an entry may exceed the limit, so that it can hold a message of that size with all
/// headers.
const AROUND: usize = 48 * 1024;

/// The maximum length of the name of a member, in bytes. Longer names do not matter.
const NAME: usize = 1024;

/// Walks to `log.entries`, and gives the content of each entry. Holds one entry at a time: its text, up to the limit,
/// and the messages in it.
#[derive(Default)]
struct Har {
    level: HarLevel,
    /// True if the archive had entries.
    entries_seen: bool,
    /// The facts about the exchanges so far.
    seen: har_entry::ArchiveFacts,
    /// Set before the value of a member that is neither the log nor its entries; true if archives have that member.
    value: Option<bool>,
}

/// The part of an archive at the current position.
#[derive(Clone, Copy, Default, PartialEq)]
enum HarLevel {
    #[default]
    Outside,
    Root,
    Log,
    Entries,
}

impl ArrayFormat for Har {
    fn next<'a>(&mut self, elements: &mut Elements, input: &'a [u8], end: bool, more: &mut Extras) -> Option<Step<'a>> {
        if let (Some(is_usual), [_, ..]) = (self.value, input) {
            let step = Self::value(elements, input, end, is_usual);
            self.value = self.value.filter(|_| step == Step::NeedMore);
            return Some(step);
        }
        Some(match (self.level, input) {
            (HarLevel::Outside, [b'{', ..]) => {
                self.entries_seen = false;
                self.enter(HarLevel::Root, 1)
            }
            (HarLevel::Outside, _) => return None,
            (_, [b',', ..]) => Step::Skip { consumed: 1 },
            (HarLevel::Entries, [b']', ..]) => self.enter(HarLevel::Log, 1),
            // In the entries, the closing bracket is missing.
            (HarLevel::Log | HarLevel::Entries, [b'}', ..]) => self.enter(HarLevel::Root, 1),
            (HarLevel::Root, [b'}', ..]) => {
                self.level = HarLevel::Outside;
                match self.entries_seen {
                    true => Step::Skip { consumed: 1 },
                    false => Step::entry(0, 1, LogLine::new(&input[..1])),
                }
            }
            (HarLevel::Entries, _) => self.entry(elements, input, end, more),
            (_, [b'"', ..]) => self.member(elements, input, end),
            _ => Self::value(elements, input, end, false),
        })
    }
}

/// Members of a log that are neither entries nor a message.
const USUAL: [&[u8]; 5] = [b"\"version\"", b"\"creator\"", b"\"browser\"", b"\"pages\"", b"\"comment\""];

impl Har {
    /// Reads the value of a member, or the text in place of a member, as a line; skips it if archives have that member
    /// and it cannot hold a message.
    fn value<'a>(elements: &mut Elements, input: &'a [u8], end: bool, is_usual: bool) -> Step<'a> {
        elements.element(input, end, ValueScan::value(), |elements, Element { length, .. }| {
            let (text, consumed) = (&input[..length.max(1)], length.max(1));
            match is_usual && !may_hold_message(text) {
                true => Step::Skip { consumed },
                false => Step::entry(0, consumed, Entry::from(LogLine::new(trim_end(text))).within(elements.limit)),
            }
        })
    }

    fn enter<'a>(&mut self, level: HarLevel, consumed: usize) -> Step<'a> {
        self.level = level;
        Step::Skip { consumed }
    }

    /// Reads a name, its colon, and the first byte of its value.
    fn member<'a>(&mut self, elements: &mut Elements, input: &'a [u8], end: bool) -> Step<'a> {
        let window = &input[..input.len().min(NAME)];
        let cut = trim_end(split_once(window, b":").map_or(window, |(name, _)| name));
        let unseen = |elements: &mut Elements| match window.len() < NAME {
            true if !end => Step::NeedMore,
            // The input ends in the name.
            true if USUAL.iter().chain([&b"\"log\""[..], b"\"entries\""].iter()).any(|name| name.starts_with(cut)) => {
                Step::Skip { consumed: input.len() }
            }
            _ => Self::value(elements, input, end, false),
        };
        let name = match value(window) {
            Extent::Whole(length) => &window[..length],
            Extent::Incomplete => return unseen(elements),
            Extent::Broken(_) => return Self::value(elements, input, end, false),
        };
        let colon = name.len() + leading_blanks(&window[name.len()..]);
        let at = match window.get(colon) {
            Some(b':') => colon + 1 + leading_blanks(&window[colon + 1..]),
            Some(_) => return Self::value(elements, input, end, false),
            None => return unseen(elements),
        };
        match (self.level, name, window.get(at)) {
            (_, _, None) => unseen(elements),
            (HarLevel::Root, b"\"log\"", Some(b'{')) => self.enter(HarLevel::Log, at + 1),
            (HarLevel::Log, b"\"entries\"", Some(b'[')) => {
                self.entries_seen = true;
                self.enter(HarLevel::Entries, at + 1)
            }
            // The value is missing: the brace or bracket closes.
            (_, _, Some(b'}' | b']' | b',')) => Step::Skip { consumed: at },
            (level, name, _) => {
                let is_usual = level == HarLevel::Log && USUAL.contains(&name);
                self.value = Some(is_usual);
                match is_usual {
                    true => Step::Skip { consumed: at },
                    false => {
                        Step::entry(0, at, Entry::from(LogLine::new(trim_end(&input[..at]))).within(elements.limit))
                    }
                }
            }
        }
    }

    /// Reads an entry of the archive, or the text in its place.
    fn entry<'a>(&mut self, elements: &mut Elements, input: &'a [u8], end: bool, more: &mut Extras) -> Step<'a> {
        let scan = match input.first() {
            // In an archive that is not indented, other objects begin in the first column too.
            Some(b'{') => ValueScan::object(elements.column().filter(|&column| column > 0)),
            _ => ValueScan::value(),
        };
        elements.element(input, end, scan, |elements, Element { text, length, is_closed }| {
            if !text.starts_with(b"{") {
                return Step::entry(0, length, LogLine::new(text));
            }
            if is_closed {
                more.entries = har_entry::entries(text, &mut self.seen).into();
            }
            let first = more.entries.pop_front().unwrap_or_else(|| (0, Record::new(text).into()));
            more.give(first, length, elements.limit)
        })
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
        texts(&entries(|| (ABOUT.decoder)(limit), input.as_bytes()))
    }

    #[test]
    fn entries_wherever_they_are() {
        let none = "# }";
        let (get, call, pages) = ("# GET http://h/a", r#"{"jsonrpc":1}"#, format!("# [{CALL}]"));
        let table = [
            (format!("{{\"log\":{{\"entries\":[{ENTRY},{CALL}]}}}}"), vec![get, call]),
            (format!("\n {{ \"log\" :\n{{ \"entries\"\t: [ {CALL} ,\n {ENTRY} ] }} }}\n"), vec![call, get]),
            (
                format!(
                    "{{\"a\":[\"]\",{{\"log\":1}}],\"log\":{{\"pages\":[{CALL}],\"n\":-1.5,\"entries\":[{CALL}],\"z\":\"\\\"\"}},\"b\":1}}"
                ),
                vec![
                    "# \"a\":",
                    "# [\"]\",{\"log\":1}]",
                    &pages,
                    "# \"n\":",
                    "# -1.5",
                    call,
                    "# \"z\":",
                    "# \"\\\"\"",
                    "# \"b\":",
                    "# 1",
                ],
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
            (format!("{{\"log\":{{oops \"entries\":[{CALL}]:}}}}"), vec!["# oops", call, "# :"]),
            (format!("{{\"log\":{{\"entries\":[{CALL},{{\"request\":"), vec![call, "{\"request\":"]),
            (
                format!("{{\"log\":{{\"entries\":[\n {{\"a\":\n \"\n}},\n {CALL},\n {{\"x\":[\n {CALL}\n {{"),
                vec!["{\"a\":\n \"\n},", call, "{\"x\":[", call, "{"],
            ),
            (
                format!("{{\"log\":{{\n\"entries\":[\n{{\"x\":[\n{{}}\n]}},\n{CALL}\n]}}}}"),
                vec!["# {\"x\":[\n{}\n]}", call],
            ),
            ("{\"log\":{\"entries\":[]}}".to_owned(), vec![]),
            (
                "{\"log\":{\"entries\":1}}{\"log\":[]}\n{}".to_owned(),
                vec!["# \"entries\":", "# 1", none, "# \"log\":", "# []", none, none],
            ),
            ("{\"log\":,\"log\"}".to_owned(), vec!["# \"log\"", none]),
            ("{\"log\":{\"vers".to_owned(), vec![]),
        ];
        for (input, expected) in table {
            assert_eq!(found(1000, &input), expected, "{input}");
        }
    }

    #[test]
    fn places_in_the_entry() {
        let input = format!("{{\"log\":{{\"entries\":[{ENTRY}, {CALL}]}}}}");
        let found = entries(|| (ABOUT.decoder)(1000), input.as_bytes());
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
        assert_eq!(
            texts(&drive(&mut *(ABOUT.decoder)(12), long.as_bytes(), &[])),
            ["# <13>", "# \"x\":", "# <2002>", "<60010>", "<13>"]
        );
        let cut = &long[..long.len() - CALL.len() - 10];
        assert_eq!(
            texts(&drive(&mut *(ABOUT.decoder)(12), cut.as_bytes(), &[])),
            ["# <13>", "# \"x\":", "# <2002>", "<60004>"]
        );
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
        assert_eq!(drive(&mut *(ABOUT.decoder)(1 << 28), many.as_bytes(), &[]).len(), 200_001);
        let deep = format!("{{\"log\":{{\"entries\":[{}", "[{\"\\\"".repeat(200_000));
        assert_eq!(drive(&mut *(ABOUT.decoder)(1 << 28), deep.as_bytes(), &[]).len(), 1);
    }
}
