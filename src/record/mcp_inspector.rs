//! `mcp-inspector`: the history that the MCP Inspector exports, an array of requests with their responses.

use super::decoder::{Decoder, Line, Lines, Passed, Step, is_blank, leading_blanks, trim_end};
use super::detect::{About, Window};
use super::json_values::{Value, value};
use super::object_scan::{ObjectScan, column};
use super::{LogLine, Record, Sender, Time};
use oxsdatatypes::{DateTime, DayTimeDuration, Decimal};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::ops::Range;

pub(super) const ABOUT: About = About {
    name: "mcp-inspector",
    summary: "an array of `{\"id\":…,\"timestamp\":…,\"direction\":…,\"origin\":…,\"message\":{…},\"response\":{…},\"duration\":…}`",
    carries: "sender, time, latency",
    sample: concat!(
        "[\n  {\n",
        "    \"id\": \"6f1c\",\n",
        "    \"timestamp\": \"2026-05-23T10:00:00.000Z\",\n",
        "    \"direction\": \"request\",\n",
        "    \"origin\": \"client\",\n",
        "    \"message\": { \"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\" },\n",
        "    \"response\": { \"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {} },\n",
        "    \"duration\": 4\n",
        "  }\n]\n",
    ),
    decoder: |limit| {
        let lines = Lines::new(limit);
        Box::new(McpInspector { limit, lines, state: State::Between, column: Some(0) })
    },
};

/// The first value is an array whose first element is an object with the members of an entry, as far as it can be seen.
pub(super) fn detect(window: &Window<'_>) -> bool {
    let Some(first) = window.first_value() else { return false };
    let Some(array) = window.bytes()[first.start..].strip_prefix(b"[") else { return false };
    let Some(mut rest) = array[leading_blanks(array)..].strip_prefix(b"{") else { return false };
    let (mut message, mut timestamp, mut direction) = (false, false, false);
    while let Some((name, value, behind)) = member(rest) {
        match name {
            b"\"message\"" => message = matches!(value, [b'{' | b'[', ..]),
            b"\"timestamp\"" => timestamp = true,
            b"\"direction\"" | b"\"origin\"" => direction = true,
            _ => {}
        }
        rest = behind;
    }
    message && timestamp && direction
}

/// The name and the value of the member that `text` begins with, and what is behind it. The value may be cut off.
fn member(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let text = &text[text.iter().position(|&byte| !is_blank(byte) && byte != b',')?..];
    let Value::Whole(length) = value(text) else { return None };
    let (name, behind) = text.split_at(length);
    let behind = behind[leading_blanks(behind)..].strip_prefix(b":")?;
    let behind = &behind[leading_blanks(behind)..];
    let length = match value(behind) {
        Value::Whole(length) => length,
        Value::Incomplete => behind.len(),
        Value::Broken(_) => return None,
    };
    Some((name, &behind[..length], &behind[length..]))
}

/// How much longer than the limit an entry may be, for what it has besides a message.
const AROUND: usize = 60 * 1024;

/// Each entry gives its message, and then its response if it has one. An object that is no entry is a record as a whole.
struct McpInspector {
    limit: usize,
    lines: Lines,
    state: State,
    /// How many blanks stand before this place on its line, if nothing else does.
    column: Option<usize>,
}

enum State {
    /// Before an entry or what is around it.
    Between,
    /// In text that ends with its line.
    Text,
    /// In an entry, of which the message was given.
    Response(Response),
    /// In an entry that is too long.
    Long { passed: Passed, scan: ObjectScan },
}

/// The second record of an entry; its places count from the first byte that is not consumed.
struct Response {
    place: Range<usize>,
    /// Where the entry ends.
    end: usize,
    time: Option<Time>,
    sender: Option<Sender>,
    latency: Option<Decimal>,
}

impl Decoder for McpInspector {
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        match &mut self.state {
            State::Between => self.between(input, end),
            State::Text => self.text(input, end),
            State::Response(response) if input.len() < response.end => Step::NeedMore,
            State::Response(Response { place, end, time, sender, latency }) => {
                let record = record(&input[place.clone()], self.limit);
                let record = Record { time: *time, sender: *sender, latency: *latency, ..record };
                let step = Step::entry(place.start, *end, record);
                self.state = State::Between;
                step
            }
            State::Long { passed, scan } => {
                if input.is_empty() && !end {
                    return Step::NeedMore;
                }
                let done = scan.end(input);
                let consumed = done.unwrap_or(input.len());
                passed.add(&input[..consumed]);
                if done.is_none() && !end {
                    return Step::Skip { consumed };
                }
                let step = Step::entry(0, consumed, Record::oversized(passed.length()));
                self.column = scan.column_behind();
                self.state = State::Between;
                step
            }
        }
    }
}

impl McpInspector {
    fn between<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        let blanks = leading_blanks(input);
        if blanks > 0 {
            input[..blanks].iter().for_each(|&byte| self.column = column(self.column, byte));
            return Step::Skip { consumed: blanks };
        }
        match input.first() {
            None => Step::NeedMore,
            Some(b'{') => self.entry(input, end),
            Some(b'[') => {
                let window = &input[1..input.len().min(AROUND)];
                match window.get(leading_blanks(window)) {
                    None if !end && input.len() < AROUND => Step::NeedMore,
                    None | Some(b'{' | b']') => self.punctuation(),
                    Some(_) => self.text(input, end),
                }
            }
            Some(b',' | b']') => self.punctuation(),
            Some(_) => self.text(input, end),
        }
    }

    fn punctuation(&mut self) -> Step<'static> {
        self.column = None;
        Step::Skip { consumed: 1 }
    }

    /// The rest of a line.
    fn text<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        let step = match self.lines.step(input, end) {
            Line::NeedMore => Step::NeedMore,
            Line::Skip { consumed } => Step::Skip { consumed },
            Line::Long { consumed, .. } => Step::Begin { start: 0, consumed },
            Line::Whole { text, consumed } => Step::entry(0, consumed, LogLine::new(text)),
            Line::End { length, consumed } => Step::entry(0, consumed, LogLine::oversized(length)),
        };
        self.state = State::Text;
        if matches!(step, Step::Entry { .. }) {
            (self.state, self.column) = (State::Between, Some(0));
        }
        step
    }

    fn entry<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        let most = self.limit.saturating_add(AROUND);
        let window = &input[..input.len().min(most)];
        let mut scan = ObjectScan::new(self.column);
        let length = match scan.end(window) {
            Some(length) => length,
            None if window.len() == most => {
                let mut passed = Passed::default();
                passed.add(window);
                self.state = State::Long { passed, scan };
                return Step::Begin { start: 0, consumed: window.len() };
            }
            None if !end => return Step::NeedMore,
            None => window.len(),
        };
        self.column = scan.column_behind();
        let text = trim_end(&window[..length]);
        let Some(parts) = Parts::read(text) else {
            return Step::entry(0, length, record(text, self.limit));
        };
        let Parts { message, response, time, sender, latency } = parts;
        let start = message.start;
        let message = Record { time, sender, ..record(&text[message], self.limit) };
        let Some(place) = response else { return Step::entry(start, length, message) };
        let answered = time.zip(latency).and_then(|(time, latency)| later(time, latency));
        let sender = sender.map(|sender| match sender {
            Sender::Client => Sender::Server,
            Sender::Server => Sender::Client,
        });
        // The entry's first byte is done with.
        let place = place.start - 1..place.end - 1;
        self.state = State::Response(Response { place, end: length - 1, time: answered, sender, latency });
        Step::entry(start, 1, message)
    }
}

/// Text as a record, if it is not too long.
fn record(text: &[u8], limit: usize) -> Record<'_> {
    if text.len() > limit { Record::oversized(text.len() as u64) } else { Record::new(text) }
}

/// What an entry says. Places are those in the entry's text.
struct Parts {
    message: Range<usize>,
    response: Option<Range<usize>>,
    time: Option<Time>,
    sender: Option<Sender>,
    latency: Option<Decimal>,
}

impl Parts {
    fn read(text: &[u8]) -> Option<Self> {
        let members: BTreeMap<String, &RawValue> = serde_json::from_slice(text).ok()?;
        let member = |name| members.get(name).map(|value| value.get());
        let place = |value: &str| {
            let start = (value.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
            (start + value.len() <= text.len()).then_some(start..start + value.len())
        };
        let message = member("message").filter(|value| value.starts_with(['{', '[']))?;
        let response = member("response").filter(|&value| value != "null");
        let sender = match (member("origin"), member("direction")) {
            (Some("\"client\""), _) => Some(Sender::Client),
            (Some("\"server\""), _) => Some(Sender::Server),
            // Before it told the origin, the Inspector kept everything that the server sent, and the client's requests.
            (None, Some("\"response\"" | "\"notification\"")) => Some(Sender::Server),
            (None, Some("\"request\"")) if response.is_some() => Some(Sender::Client),
            _ => None,
        };
        let latency = member("duration").and_then(milliseconds).filter(|seconds| !seconds.is_negative());
        Some(Self {
            message: place(message)?,
            response: response.and_then(place),
            time: member("timestamp").and_then(moment),
            sender,
            latency,
        })
    }
}

/// A time as `Date.prototype.toJSON` writes it, or in milliseconds since 1970.
fn moment(value: &str) -> Option<Time> {
    if value.starts_with('"') {
        return serde_json::from_str::<String>(value).ok()?.parse().ok().map(Time::DateTime);
    }
    let epoch = Time::DateTime("1970-01-01T00:00:00Z".parse().ok()?);
    later(epoch, milliseconds(value)?)
}

/// Seconds.
fn milliseconds(value: &str) -> Option<Decimal> {
    value.parse::<Decimal>().ok()?.checked_div(1000)
}

fn later(time: Time, seconds: Decimal) -> Option<Time> {
    let Time::DateTime(time) = time else { return None };
    DateTime::checked_add_day_time_duration(time, DayTimeDuration::new(seconds)).map(Time::DateTime)
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{entries, texts};
    use super::super::{Entry, Format};
    use super::*;

    const CLIENT: Option<Sender> = Some(Sender::Client);
    const SERVER: Option<Sender> = Some(Sender::Server);

    fn found(limit: usize, log: &str) -> Vec<String> {
        texts(&entries(|| (ABOUT.decoder)(limit), log.as_bytes()))
    }

    fn read(entry: &str) -> Vec<Record<'static>> {
        let found = entries(|| (ABOUT.decoder)(1000), format!("[{entry}]").as_bytes());
        let records = found.into_iter().filter_map(|(_, entry)| match entry {
            Entry::Record(record) => Some(record),
            Entry::LogLine(_) => None,
        });
        records.collect()
    }

    #[test]
    fn senders() {
        let table = [
            (r#""origin":"client","direction":"request""#, CLIENT, SERVER),
            (r#""origin":"server","direction":"request""#, SERVER, CLIENT),
            (r#""origin":"client","direction":"response""#, CLIENT, SERVER),
            (r#""origin":"other","direction":"request""#, None, None),
            (r#""direction":"request""#, CLIENT, SERVER),
            (r#""direction":"in""#, None, None),
        ];
        for (members, message, response) in table {
            let found = read(&format!(r#"{{{members},"message":{{}},"response":{{}}}}"#));
            assert_eq!(found.iter().map(|record| record.sender).collect::<Vec<_>>(), [message, response], "{members}");
        }
        let sender = |members: &str| read(&format!(r#"{{{members},"message":{{}}}}"#))[0].sender;
        assert_eq!(sender(r#""direction":"request""#), None);
        assert_eq!(sender(r#""direction":"response""#), SERVER);
        assert_eq!(sender(r#""direction":"notification""#), SERVER);
        assert_eq!(sender(r#""direction":"notification","origin":"client""#), CLIENT);
        assert_eq!(sender(r#""direction":"request","response":null,"origin":"server""#), SERVER);
    }

    #[test]
    fn times_and_durations() {
        let time = |text: &str| text.parse().ok().map(Time::DateTime);
        let table = [
            (
                r#""2026-05-23T10:00:00.000Z","duration":12"#,
                "2026-05-23T10:00:00Z",
                "2026-05-23T10:00:00.012Z",
                "0.012",
            ),
            (r#"1779530400000,"duration":0.5"#, "2026-05-23T10:00:00Z", "2026-05-23T10:00:00.0005Z", "0.0005"),
            (
                r#""2026-05-23T12:00:00+02:00","duration":0"#,
                "2026-05-23T12:00:00+02:00",
                "2026-05-23T12:00:00+02:00",
                "0",
            ),
            (r#""2026-05-23T10:00:00Z""#, "2026-05-23T10:00:00Z", "", ""),
            (r#""2026-05-23T10:00:00Z","duration":-1"#, "2026-05-23T10:00:00Z", "", ""),
            (r#""2026-05-23T10:00:00Z","duration":null"#, "2026-05-23T10:00:00Z", "", ""),
            (r#""yesterday","duration":1e3"#, "", "", ""),
            (r#"{},"duration":1000"#, "", "", "1"),
        ];
        for (members, sent, answered, latency) in table {
            let found = read(&format!(r#"{{"timestamp":{members},"response":[1],"message":[0]}}"#));
            let found: Vec<_> = found.iter().map(|r| (&*r.bytes, r.time, r.latency)).collect();
            let latency = latency.parse().ok();
            assert_eq!(found, [(&b"[0]"[..], time(sent), None), (b"[1]", time(answered), latency)], "{members}");
        }
    }

    #[test]
    fn bytes_are_as_spelled() {
        let found = read(r#"{"message":{ "id" : 1.0, "method":"\u0061\/","a":1,"a":2 } , "x":1}"#);
        assert_eq!(&*found[0].bytes, br#"{ "id" : 1.0, "method":"\u0061\/","a":1,"a":2 }"#);
    }

    #[test]
    fn what_is_no_entry() {
        let log = "a banner\n[info] x\n[\n  {\"message\": {\"a\": 1}},\n  {\"b\": 2},\n  {\"message\": \"text\"},\n \
                   {oops},\n  12,\n  {\"message\": [2], \"response\": {}}\n]\nthe end\n[ ]\n{}";
        let expected = [
            "# a banner",
            "# [info] x",
            "{\"a\": 1}",
            "{\"b\": 2}",
            "{\"message\": \"text\"}",
            "{oops}",
            "# 12,",
            "[2]",
            "{}",
            "# the end",
            "{}",
        ];
        assert_eq!(found(100, log), expected);
    }

    #[test]
    fn a_broken_entry_ends_where_the_next_one_begins() {
        let log = "[\n  {\n    \"message\": {\"cut\n  },\n  {\n    \"message\": {\n      \"a\": [\n        {}\n      ]\n    }\n  }\n]\n";
        let broken = "{\n    \"message\": {\"cut\n  },";
        assert_eq!(found(100, log), [broken, "{\n      \"a\": [\n        {}\n      ]\n    }"]);
        assert_eq!(found(100, "[{\"message\":{},\"response\":[1"), ["{\"message\":{},\"response\":[1"]);
    }

    #[test]
    fn the_limit() {
        let log = "[{\"message\":[12345],\"response\":[1234]},{\"message\":[1],\"response\":[12345]},{\"toolong\":1}]";
        assert_eq!(found(6, log), ["<7>", "[1234]", "[1]", "<7>", "<13>"]);
    }

    #[test]
    fn entries_that_are_too_long_are_passed_over() {
        use super::super::decoder::tests::drive;
        let long = "x".repeat(AROUND + 200);
        let log = format!(
            "[\n  {{\"message\": {{}}, \"x\": \"}}\\\"{long}\"}},\n  {{\"message\": [1]}},\n  {{\"{long}\n  {{\"message\": [2]}}\n]"
        );
        let whole = drive(&mut *(ABOUT.decoder)(100), log.as_bytes(), &[]);
        let expected =
            [format!("<{}>", AROUND + 227), "[1]".to_owned(), format!("<{}>", AROUND + 202), "[2]".to_owned()];
        assert_eq!(texts(&whole), expected);
        let cuts: Vec<_> = (0..log.len()).step_by(997).collect();
        assert_eq!(drive(&mut *(ABOUT.decoder)(100), log.as_bytes(), &cuts), whole);
    }

    #[test]
    fn what_is_recognised() {
        let table = [
            (r#"[{"id":"a","timestamp":"t","direction":"request","message":{"cut"#, true),
            (r#"[{"timestamp":1,"origin":"client","message":{}}]"#, true),
            ("text\n[\n  {\n    \"message\": {},\n    \"timestamp\": 1,\n    \"direction\": \"x\"", true),
            (r#"[{"timestamp":1,"message":{}}]"#, false),
            (r#"[{"timestamp":1,"direction":"in","message":"text"}]"#, false),
            (r#"{"timestamp":1,"direction":"in","message":{}}"#, false),
            (r#"[{"jsonrpc":"2.0","method":"m","params":{"timestamp":1,"direction":"in","message":{}}}]"#, false),
            ("[]", false),
            ("[[{\"timestamp\":1,\"direction\":1,\"message\":{}}]]", false),
        ];
        for (log, expected) in table {
            assert_eq!(Format::detect(log.as_bytes()) == Format::McpInspector, expected, "{log}");
        }
    }
}
