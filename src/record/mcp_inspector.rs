//! `mcp-inspector`: the history that the MCP Inspector exports, an array of requests with their responses.

use super::about::{About, Sign, Window};
use super::elements::{first_element, object_array};
use super::marked::{Found, More};
use super::object::{RawObject, offset_in};
use super::times::{date_time, duration, epoch, from_milliseconds, later};
use super::{Record, Sender};

pub(super) const ABOUT: About = About {
    summary: "an array of `{\"id\":…,\"timestamp\":…,\"direction\":…,\"origin\":…,\"message\":{…},\"response\":{…},\"duration\":…}`",
    carries: "sender, time, latency",
    sign: Sign::Value(detect),
    decoder: |limit| object_array(limit, Some(&[]), open),
};

/// The first value is an array whose first element is an object with the members of an entry, as far as it can be seen.
fn detect(window: &Window<'_>) -> bool {
    first_element(window).is_some_and(|entry| {
        message(&entry).is_some() && entry.has("timestamp") && (entry.has("direction") || entry.has("origin"))
    })
}

fn message<'a>(entry: &RawObject<'a>) -> Option<&'a [u8]> {
    entry.get("message").filter(|value| matches!(value, [b'{' | b'[', ..]))
}

/// The message of an entry and its response, and where in the entry they begin.
fn open<'a>(entry: &RawObject<'a>, text: &'a [u8], more: &mut More) -> Option<Found<'a>> {
    let message = message(entry)?;
    let response = entry.get("response").filter(|&value| value != b"null");
    let sender = match (entry.get("origin"), entry.get("direction")) {
        (Some(b"\"client\""), _) => Some(Sender::Client),
        (Some(b"\"server\""), _) => Some(Sender::Server),
        // Before it told the origin, the Inspector kept everything that the server sent, and the client's requests.
        (None, Some(b"\"response\"" | b"\"notification\"")) => Some(Sender::Server),
        (None, Some(b"\"request\"")) if response.is_some() => Some(Sender::Client),
        _ => None,
    };
    // A time as `Date.prototype.toJSON` writes it, or in milliseconds since 1970.
    let time = entry.get("timestamp").and_then(|stated| match stated {
        [b'"', text @ .., b'"'] => date_time(text),
        number => epoch(from_milliseconds(number)?),
    });
    let latency = entry.get("duration").and_then(duration);
    if let Some(response) = response {
        let time = time.zip(latency).and_then(|(time, latency)| later(time, latency));
        let sender = sender.map(Sender::other);
        let record = Record { time, sender, latency, ..Record::new(response.to_vec()) };
        more.entries.push_back((offset_in(text, response), record.into()));
    }
    Some((offset_in(text, message), Record { time, sender, ..Record::new(message) }.into()))
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{entries, texts};
    use super::super::elements::AROUND;
    use super::super::{Entry, Format, Time};
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
            (r#""yesterday","duration":1e3"#, "", "", "1"),
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
    fn messages_in_other_members() {
        let message = r#"{"jsonrpc":"2.0","id":1}"#;
        let quoted = serde_json::Value::from(message).to_string();
        let deeper = format!(r#"{{"message":{{"a":1}},"x":[{message}]}}"#);
        let text = format!("# {deeper}");
        let table = [
            (format!(r#"{{"x":{quoted},"message":{{"a":1}},"y":{message}}}"#), vec![message, "{\"a\":1}", message]),
            (deeper, vec![&text, "{\"a\":1}"]),
            (r#"{"message":{"a":1}"id":2}"#.to_owned(), vec![r#"# {"message":{"a":1}"id":2}"#, "{\"a\":1}"]),
        ];
        for (entry, expected) in table {
            assert_eq!(found(1000, &format!("[{entry}]")), expected, "{entry}");
        }
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
