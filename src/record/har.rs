//! `har`: an HTTP Archive, whose entries are read one by one.

use super::certainty::may_hold_message;
use super::decoder::{Step, is_blank, trim_end};
use super::elements::{AROUND, Element, element};
use super::format_info::{FormatClue, FormatInfo, InputHead};
use super::lines::{Extras, LineFormat, LineSplitter};
use super::object::RawObject;
use super::scan::ValueScan;
use super::{Entry, LogLine, Record, har_entry};
use memchr::memmem;

pub(super) const ABOUT: FormatInfo = FormatInfo {
    summary: "an HTTP Archive (browsers, mitmproxy): bodies, server-sent events and WebSocket messages; other requests are comments",
    carries: "time, sender, latency, sessions (origins, Mcp-Session-Id, WebSockets)",
    clue: FormatClue::Line(detect),
    decoder: |limit| LineSplitter::boxed(limit, 0, Har { limit, ..Har::default() }),
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

/// The name of the member with the entries.
const ENTRIES: &[u8] = b"\"entries\"";

/// Searches for the entries, and gives the content of each. Holds one entry at a time: its text, up to the limit, and the
/// messages in it.
#[derive(Default)]
struct Har {
    limit: usize,
    place: HarPlace,
    /// The text of the archive up to the current position, entries apart.
    scan: ValueScan,
    /// True if the archive had entries.
    has_entries: bool,
    /// The facts about the exchanges so far.
    seen: har_entry::ArchiveFacts,
}

/// The part of an archive at the current position.
#[derive(Clone, Copy, Default, PartialEq)]
enum HarPlace {
    #[default]
    Outside,
    /// In an archive, and not in its entries.
    Around,
    Entries,
}

impl LineFormat for Har {
    fn resume<'a>(&mut self, input: &'a [u8], end: bool, more: &mut Extras) -> Option<Step<'a>> {
        match (self.place, input) {
            (_, []) => return None,
            (_, [blank, ..]) if is_blank(*blank) => return None,
            (HarPlace::Outside, [b'{', ..]) => {
                (self.place, self.scan, self.has_entries) = (HarPlace::Around, ValueScan::default(), false);
            }
            (HarPlace::Outside, _) => return None,
            (HarPlace::Entries, [b']', ..]) => {
                self.place = HarPlace::Around;
                self.scan.end(b"]");
                return Some(Step::Skip { consumed: 1 });
            }
            (HarPlace::Entries, [b',', ..]) => return Some(Step::Skip { consumed: 1 }),
            (HarPlace::Entries, _) => return Some(self.entry(input, end, more)),
            (HarPlace::Around, _) => {}
        }
        Some(self.around(input, end))
    }
}

impl Har {
    /// Reads the text up to the next entries, or up to the end of the archive. It is a line of text if it may hold a
    /// message, and in an archive without entries.
    fn around<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        let most = self.limit.saturating_add(AROUND);
        let window = &input[..input.len().min(most)];
        let starts = || {
            memmem::find_iter(window, ENTRIES).filter_map(|at| {
                let colon = window[at + ENTRIES.len()..].trim_ascii_start().strip_prefix(b":")?;
                Some(window.len() - colon.trim_ascii_start().strip_prefix(b"[")?.len())
            })
        };
        let found = starts().next();
        let mut scan = self.scan.clone();
        let closed = scan.end(&window[..found.unwrap_or(window.len())]);
        if closed.is_none() && found.is_none() && window.len() < most && !end {
            return Step::NeedMore;
        }
        let consumed = closed.or(found).unwrap_or(window.len());
        self.scan = scan;
        self.place = match (closed, found) {
            (Some(_), _) => HarPlace::Outside,
            (None, Some(_)) => HarPlace::Entries,
            (None, None) => HarPlace::Around,
        };
        self.has_entries |= self.place == HarPlace::Entries;
        let text = &input[..consumed];
        match may_hold_message(text) || self.place == HarPlace::Outside && !self.has_entries {
            true => Step::entry(0, consumed, Entry::from(LogLine::new(trim_end(text))).within(self.limit)),
            false => Step::Skip { consumed },
        }
    }

    /// Reads an entry of the archive, or the text in its place.
    fn entry<'a>(&mut self, input: &'a [u8], end: bool, more: &mut Extras) -> Step<'a> {
        element(self.limit, input, end, more, |Element { text, length, is_closed }, more| {
            if !text.starts_with(b"{") {
                return more.give((0, LogLine::new(text).into()), length, self.limit);
            }
            if is_closed {
                more.entries = har_entry::entries(text, &mut self.seen).into();
            }
            let first = more.entries.pop_front().unwrap_or_else(|| (0, Record::new(text).into()));
            more.give(first, length, self.limit)
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
        let (get, call, pages) =
            ("# GET http://h/a", r#"{"jsonrpc":1}"#, format!("# {{\"log\":{{\"pages\":[{CALL}],\"entries\":["));
        let table = [
            (format!("{{\"log\":{{\"entries\":[{ENTRY},{CALL}]}}}}"), vec![get, call]),
            (format!("\n {{ \"log\" :\n{{ \"entries\"\t: [ {CALL} ,\n {ENTRY} ] }} }}\n"), vec![call, get]),
            (
                format!(
                    "{{\"a\":[\"]\",{{\"log\":1}}],\"log\":{{\"n\":\"entries\",\"entries\":[{CALL}],\"z\":\"\\\"\"}},\"b\":1}}"
                ),
                vec![call],
            ),
            (format!("{{\"log\":{{\"pages\":[{CALL}],\"entries\":[{CALL}]}}}}"), vec![&pages, call]),
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
            (format!("{{\"log\":{{\"entries\":[{CALL},{{\"request\":"), vec![call, "{\"request\":"]),
            (
                format!("{{\"log\":{{\n\"entries\":[\n{{\"x\":[\n{{}}\n]}},\n{CALL}\n]}}}}"),
                vec!["# {\"x\":[\n{}\n]}", call],
            ),
            ("{\"log\":{\"entries\":[]}}".to_owned(), vec![]),
            ("{\"log\":{\"entries\":1}}\n{}".to_owned(), vec!["# {\"log\":{\"entries\":1}}", "# {}"]),
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
        let found = |input: &str| texts(&drive(&mut *(ABOUT.decoder)(12), input.as_bytes(), &[]));
        assert_eq!(found(&long), ["# <13>", "# <60010>", "<13>"]);
        assert_eq!(found(&long[..long.len() - CALL.len() - 10]), ["# <13>", "{\"a\":[\""]);
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
