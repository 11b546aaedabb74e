//! Possible messages are reported, whatever surrounds them; times and durations of records are kept.

use crate::renderings::entries;
use crate::support::convert;
use proptest::prelude::*;
use rpcgraph::record::{Entry, Reader, ReaderOptions};
use rpcgraph::vocab::rpcg;
use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Text that may stand before a message, and behind it.
const BEFORE: [&str; 24] = [
    "",
    "",
    "  ",
    "2026-11-22T09:00:00Z recv ",
    "request: ",
    ">> ",
    "<-- ",
    "Received: ",
    "a {",
    "[x] ",
    "[1] {\"a\": ",
    "data: ",
    "{\"payload\": ",
    "{\"a\":1} ",
    "answered by ",
    "x=",
    "// ",
    "-- f.json --\n",
    "```json\n",
    "> ",
    "api-1  | ",
    "f(",
    "[",
    "\"",
];
const AFTER: [&str; 20] = [
    "",
    "",
    "\n",
    "\n",
    "\n",
    " ",
    "}",
    ", ",
    " and ",
    " +1ms\n",
    ")",
    "]",
    "}\n",
    "\n```\n",
    " {\n",
    "\n{\n",
    "\n[\n",
    " text: {\n",
    ":\n",
    "\"",
];

/// A message with this word as its method, or in its result, over several lines or not.
fn message(kind: usize, layout: usize, word: &str) -> String {
    let members = match kind {
        0 => format!("'jsonrpc':'2.0','id':1,'method':'{word}'"),
        1 => format!("'jsonrpc':'2.0','id':2,'method':'{word}','params':{{'a':[1,{{'b':'}}{{'}}]}}"),
        2 => format!("'id':3,'method':'{word}'"),
        3 => format!("'method':'{word}','params':[1]"),
        4 => format!("'jsonrpc':'2.0','id':1,'result':{{'method':'{word}'}}"),
        _ => format!("'jsonrpc':'2.0','id':1,'method':'{word}','params':{{"),
    };
    let text = match layout {
        0 => format!("{{{members}}}"),
        1 => format!("{{\n  {}\n}}", members.replace(",'", ",\n  '")),
        2 => format!("[{{{members}}}]"),
        3 => format!("{{{}}}", members.replacen(",'", ",\n'", 1)),
        _ => format!("[\n{{{members}}}\n]"),
    };
    text.replace('\'', "\"")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn every_method_is_in_an_entry(
        parts in proptest::collection::vec(
            (prop::sample::select(&BEFORE[..]), 0..6_usize, 0..5_usize, prop::sample::select(&AFTER[..])),
            1..6,
        ),
    ) {
        let word = |index: usize| format!("needle{index}x");
        let log: String = parts
            .iter()
            .enumerate()
            .map(|(index, (before, kind, layout, after))| {
                format!("{before}{}{after}", message(*kind, *layout, &word(index)))
            })
            .collect();
        let found = entries(log.as_bytes());
        for index in 0..parts.len() {
            let is_in = |entry: &Entry<'_>| String::from_utf8_lossy(entry.bytes()).contains(&word(index));
            prop_assert!(found.iter().any(is_in), "{} is lost of:\n{log}", word(index));
        }
    }
}

/// Records, and `# ` before text.
fn texts(log: &str) -> Vec<String> {
    let text = |entry: &Entry<'_>| {
        let mark = if matches!(entry, Entry::LogLine(_)) { "# " } else { "" };
        format!("{mark}{}", String::from_utf8_lossy(entry.bytes()))
    };
    entries(log.as_bytes()).iter().map(text).collect()
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":1}"#;

#[test]
fn text_before_a_message_over_several_lines() {
    let spread = "{\n \"jsonrpc\":\"2.0\",\n \"id\":1,\"result\":1\n}";
    let unsure = r#"{"id":1,"method":"a"}"#;
    let broken = r#"{"id":1,"method":"a""#;
    let table = [
        (format!("{CALL}, {spread}\n"), vec![CALL.to_owned(), spread.to_owned()]),
        (format!("12:00:00 request {CALL} answered by {spread}\n"), vec![CALL.to_owned(), spread.to_owned()]),
        (format!("recv {unsure} and {spread}\n"), vec![unsure.to_owned(), spread.to_owned()]),
        (format!("recv {unsure} and {ANSWER}\n"), vec![unsure.to_owned(), ANSWER.to_owned()]),
        (format!("{{\"a\":{unsure},\"b\":{ANSWER}}}"), vec![unsure.to_owned(), ANSWER.to_owned()]),
        (format!("recv {CALL}, {ANSWER}"), vec![CALL.to_owned(), ANSWER.to_owned()]),
        // A line of its own is text.
        (format!("12:00:00 received:\n{spread}\n"), vec!["# 12:00:00 received:".to_owned(), spread.to_owned()]),
        (format!("12:00:00 received:\n{ANSWER}\n"), vec!["# 12:00:00 received:".to_owned(), ANSWER.to_owned()]),
    ];
    for (log, expected) in table {
        assert_eq!(texts(&log), expected, "{log}");
    }
    let around = format!("{{\"a\":[1,\"x {}\"],\"b\":{ANSWER}}}", broken.replace('"', "\\\""));
    assert_eq!(texts(&around), [format!("# {around}"), ANSWER.to_owned()]);
    let found = entries(format!("10:00:00 received:\n{ANSWER}\n").as_bytes());
    // One line above a message may say anything of it but its time.
    assert!(matches!(&found[1], Entry::Record(record) if record.time.is_some() && record.direction.is_none()));
}

#[test]
fn messages_on_lines_and_over_lines() {
    let spread = "{\n  \"jsonrpc\":\"2.0\",\n  \"id\":1,\n  \"result\":1\n}";
    let begun = "{\"jsonrpc\":\"2.0\",\n  \"id\":2,\"result\":{}}";
    let bare = "{\n  \"id\":3,\n  \"result\":1\n}";
    let [b, c] = ["2", "3"].map(|id| CALL.replace(":1,", &format!(":{id},")));
    let log = format!("{CALL}\n{spread}\n{b}\n{begun}\n{c}\n{bare}\n");
    assert_eq!(texts(&log), [CALL, spread, &b, begun, &c, bare]);
    // The first one goes over lines, and the others stand behind a prefix.
    let other = spread.replace(":1,", ":7,");
    let log = format!("{spread}\n10:00:00 recv {CALL}\n10:00:01 send: {other}\ntext\n");
    assert_eq!(texts(&log), [spread, CALL, &other, "# text"]);
    // Files in one text.
    let log = format!("-- a.json --\n{spread}\n-- b.json --\n{CALL} {ANSWER}\n-- c --\n{CALL}\n");
    assert_eq!(texts(&log), ["# -- a.json --", spread, "# -- b.json --", CALL, ANSWER, "# -- c --", CALL]);
    let log = format!("-- a.json --\n{CALL}\n-- {ANSWER} --\n");
    assert_eq!(texts(&log), ["# -- a.json --", CALL, ANSWER]);
    // Below an arrow.
    let log = format!(">> {}\n<< {spread}\n>> {{\n<< {ANSWER}\n", spread.replace("\"result\":1", "\"method\":\"a\""));
    let found = texts(&log);
    assert_eq!((found.len(), &*found[1], &*found[2], &*found[3]), (4, spread, "{", ANSWER), "{found:?}");
    // An envelope over several lines.
    let log = format!("start\nrecv {{\n \"time\": 1767607200,\n \"payload\": {CALL}\n}}\n");
    assert_eq!(texts(&log), ["# start", CALL]);
}

/// Gives a line at a time, and counts their bytes.
struct Lines<'a>(&'a [u8], &'a AtomicUsize);

impl Read for Lines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let line = self.0.iter().position(|byte| *byte == b'\n').map_or(self.0.len(), |end| end + 1);
        let (given, rest) = self.0.split_at(line.min(buffer.len()));
        buffer[..given.len()].copy_from_slice(given);
        self.0 = rest;
        self.1.fetch_add(given.len(), Ordering::Relaxed);
        Ok(given.len())
    }
}

/// The number of bytes that a format is learned from.
const LEARNED: usize = 64 * 1024;

#[test]
fn an_open_bracket_holds_nothing_back() {
    for text in ["state {", "state [", "state: [{", "a: {\"b\": [", "recv {\"jsonrpc\":\"2.0\","] {
        for before in ["", "recv "] {
            let log = format!("{CALL}\n{text}\n{}", format!("{before}{ANSWER}\n").repeat(10_000));
            let read = AtomicUsize::new(0);
            let mut reader = Reader::new(Lines(log.as_bytes(), &read), &ReaderOptions::default()).unwrap();
            let mut answers = 0;
            while let Some(entry) = reader.next_entry().unwrap() {
                let is_answer = matches!(&entry, Entry::Record(record) if &*record.bytes == ANSWER.as_bytes());
                answers += usize::from(is_answer);
                assert!(
                    answers == 0 || read.load(Ordering::Relaxed) < LEARNED + (answers + 4) * (ANSWER.len() + 10) + 200,
                    "{text} {before}"
                );
            }
            assert!(answers >= 9_999, "{text} {before}: {answers}");
        }
    }
}

fn latencies(log: &str) -> Vec<Option<String>> {
    let latency = |entry: &Entry<'_>| match entry {
        Entry::Record(record) => record.latency.map(|seconds| seconds.to_string()),
        Entry::LogLine(_) => None,
    };
    entries(log.as_bytes()).iter().map(latency).collect()
}

#[test]
fn durations_that_records_state() {
    let text = |json: &str| serde_json::Value::from(json).to_string();
    let (call, answer) = (text(CALL), text(ANSWER));
    let both = format!("\"request\":{CALL},\"response\":{ANSWER}");
    let some = |seconds: &str| Some(seconds.to_owned());
    let table = [
        (
            format!(
                "{{\"http\":{{\"request\":{{\"body\":{call}}},\"response\":{{\"body\":{answer}}}}},\"event\":{{\"duration\":35000000}}}}"
            ),
            vec![None, some("0.035")],
        ),
        (format!("{{\"event.duration\":35000000,{both}}}"), vec![None, some("0.035")]),
        (format!("{{\"startedDateTime\":\"2026-01-05T10:00:00Z\",\"time\":12,{both}}}"), vec![None, some("0.012")]),
        (format!("{{\"duration\":\"35ms\",{both}}}"), vec![None, some("0.035")]),
        (format!("{{\"elapsed\":\"35ms\",{both}}}"), vec![None, some("0.035")]),
        (format!("{{\"elapsed\":\"35ms\",\"response\":{ANSWER}}}"), vec![None]),
        (format!("{{\"latency_ms\":12,\"response\":{ANSWER}}}"), vec![some("0.012")]),
        (format!("{{\"latency_ms\":12,\"request\":{CALL}}}"), vec![None]),
        (format!("12:00:00 <- {ANSWER} took 2ms"), vec![some("0.002")]),
        (format!("12:00:00 response in 510ms: {ANSWER}"), vec![some("0.51")]),
        (format!("12:00:00 <- {ANSWER} +2ms"), vec![None]),
        (format!("12:00:00 served {CALL} with {ANSWER} took 2ms"), vec![None, some("0.002")]),
    ];
    for (log, expected) in table {
        assert_eq!(latencies(&log), expected, "{log}");
    }
}

#[test]
fn an_exchange_in_one_record_has_no_latency_of_its_time() {
    let both = format!("{{\"ts\":\"2026-01-05T10:00:00Z\",\"request\":{CALL},\"response\":{ANSWER}}}\n");
    let docker = format!(
        "{{\"log\":{},\"stream\":\"stdout\",\"time\":\"2026-01-05T10:00:00Z\"}}\n",
        serde_json::Value::from(both.replace("\"ts\"", "\"x\""))
    );
    let count = |log: &str, predicate| {
        convert(log.as_bytes()).iter().filter(|quad| quad.predicate.as_ref() == predicate).count()
    };
    for log in [&both, &docker, &format!("2026-01-05T10:00:00Z request {CALL} answered by {ANSWER}\n")] {
        assert_eq!((count(log, rpcg::LATENCY_SECONDS), count(log, rpcg::RESPONDS_TO)), (0, 1), "{log}");
    }
    let apart = format!("2026-01-05T10:00:00Z -> {CALL}\n2026-01-05T10:00:00Z <- {ANSWER}\n");
    assert_eq!(count(&apart, rpcg::LATENCY_SECONDS), 1);
}

#[test]
fn times_that_logs_spell_in_their_own_way() {
    let first = |log: &str| match &entries(log.as_bytes())[0] {
        Entry::Record(record) => record.time.map(|time| time.to_string()),
        Entry::LogLine(_) => None,
    };
    let table = [
        (format!("22.11.2026 09:00:00,500 recv {CALL}"), Some("2026-11-22T09:00:00.5")),
        (format!("[22.11.2026, 09:00:00] recv {CALL}"), Some("2026-11-22T09:00:00")),
        (format!("{{\"time\":\"22.11.2026 09:00:00\",\"m\":{CALL}}}"), Some("2026-11-22T09:00:00")),
        (format!("{{\"date\":\"2026-11-22\",\"time\":\"09:00:00.5\",\"m\":{CALL}}}"), Some("2026-11-22T09:00:00.5")),
        (format!("{{\"date\":\"22.11.2026\",\"time\":\"09:00:00\",\"m\":{CALL}}}"), Some("2026-11-22T09:00:00")),
        (format!("{{\"time\":\"09:00:00\",\"m\":{CALL}}}"), Some("09:00:00")),
        (format!("date=2026-11-22 time=09:00:00 level=info msg={CALL}"), Some("2026-11-22T09:00:00")),
        (r#"[{"method":"a","id":1,"requestTime":1234.5,"result":{}}]"#.to_owned(), None),
        (format!("{{\"ts\":12.345,\"m\":{CALL}}}"), None),
    ];
    for (log, expected) in table {
        assert_eq!(first(&log).as_deref(), expected, "{log}");
    }
}
