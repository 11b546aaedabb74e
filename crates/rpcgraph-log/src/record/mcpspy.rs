//! `mcpspy`: one object per line, with the members of the message among the members that MCPSpy adds, and the message
//! as it was on the wire in a string.

use super::decoder::Decoder;
use super::lines::{Extras, FoundEntry, LineFormat, LineSplitter, in_envelope, with_others};
use super::object::{RawObject, offset_in, unescape};
use super::{Direction, Record, Sender};
use std::borrow::Cow;

pub(super) fn decoder() -> Box<dyn Decoder> {
    LineSplitter::boxed(McpSpy)
}

/// The members of the message, which `raw` holds too.
static MESSAGE: [&str; 5] = ["method", "params", "result", "error", "request"];

struct McpSpy;

impl LineFormat for McpSpy {
    fn splits_lines(&self) -> bool {
        true
    }

    fn read<'a>(&mut self, line: &'a [u8], more: &mut Extras) -> Option<FoundEntry<'a>> {
        in_envelope(line, more, |object, own, more| Some(with_others(object, own, &MESSAGE, open(object, own)?, more)))
    }
}

fn open<'a>(object: &RawObject<'a>, line: &'a [u8]) -> Option<FoundEntry<'a>> {
    object.string("transport_type")?;
    let raw = object.get("raw")?;
    let text = unescape(raw).filter(|text| !text.trim_ascii().is_empty())?;
    let mut record = Record { time: object.date_time("timestamp"), ..Record::new(text) };
    if let Some(stdio) = object.object("stdio_transport") {
        if let (Some(from), Some(to)) = (pid(&stdio, "from_pid"), pid(&stdio, "to_pid")) {
            record.session = Some(Cow::Owned(format!("{}-{}", from.min(to), from.max(to))));
            // The log only has process ids: `Out` is from the smaller one to the larger.
            record.direction = Some(if from < to { Direction::Out } else { Direction::In });
        }
    } else {
        let http = object.object("http_transport");
        record.session = session(object, http.as_ref());
        // The member is absent if it is false.
        record.sender = http.map(|http| match http.get("is_request") {
            Some(b"true") => Sender::Client,
            _ => Sender::Server,
        });
    }
    Some((offset_in(line, raw) + 1, record.into()))
}

fn pid(transport: &RawObject<'_>, name: &str) -> Option<u64> {
    std::str::from_utf8(transport.get(name)?).ok()?.parse().ok()
}

/// Returns the key of a session over HTTP: the protocol's own, or MCPSpy's, or the host and the observed process.
fn session<'a>(object: &RawObject<'a>, http: Option<&RawObject<'a>>) -> Option<Cow<'a, str>> {
    let own = object.object("session").and_then(|session| {
        let id = |name| session.string(name).filter(|id| !id.is_empty());
        id("external_id").or_else(|| id("internal_id"))
    });
    own.or_else(|| match (http?.string("host"), pid(http?, "pid")) {
        (host, None) => host,
        (host, Some(pid)) => Some(Cow::Owned(format!("{}#{pid}", host.unwrap_or_default()))),
    })
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{entries, texts};
    use super::super::{Entry, Format};
    use super::*;

    const CLIENT: Option<Sender> = Some(Sender::Client);
    const SERVER: Option<Sender> = Some(Sender::Server);

    fn records(lines: &[String]) -> Vec<Record<'static>> {
        let found = entries(decoder, lines.join("\n").as_bytes());
        let record = |(_, entry)| match entry {
            Entry::Record(record) => record,
            Entry::LogLine(line) => panic!("{line:?}"),
        };
        found.into_iter().map(record).collect()
    }

    fn http(rest: &str) -> String {
        format!("{{\"timestamp\":\"2026-01-05T10:00:00Z\",\"transport_type\":\"http\",{rest}}}")
    }

    fn stdio(from: u32, to: u32, rest: &str) -> String {
        format!(
            "{{\"transport_type\":\"stdio\",\"stdio_transport\":{{\"from_pid\":{from},\"to_pid\":{to}}},{rest},\"raw\":{}}}",
            serde_json::Value::from(format!("{{{rest}}}"))
        )
    }

    #[test]
    fn raw_messages_are_kept_exactly() {
        let found = |lines: &str| texts(&entries(decoder, lines.as_bytes()));
        let one = http(r#""type":"request","raw":"{\"id\":1.0,\"method\":\"a\"}""#);
        let two = http(r#""type":"request","method":"b","raw":"{\"method\":\"b\"}""#);
        let (whole_one, whole_two) = (r#"{"id":1.0,"method":"a"}"#, r#"{"method":"b"}"#);
        assert_eq!(found(&format!("{one}{two}\n{two}")), [whole_one, whole_two, whole_two]);
        let cut = &one[..one.len() - 3];
        assert_eq!(found(cut), [r#"{"id":1.0,"method":"a""#]);
        let more = http(r#""raw":"{\"id\":1}","more":{"jsonrpc":"2.0"}"#);
        assert_eq!(found(&more), [&*format!("# {more}"), "{\"id\":1}"]);
        for text in [&http(r#""type":"response","id":1,"result":{}"#), &http(r#""id":1,"raw":" ""#), "{\"raw\":\"{}\"}"]
        {
            assert_eq!(found(text), [format!("# {text}")]);
        }
    }

    #[test]
    fn over_pipes() {
        let lines = [(9, 7), (7, 9), (8, 9)].map(|(from, to)| stdio(from, to, r#""method":"tools/call""#));
        let found = records(&lines);
        let found = found.iter().map(|record| (record.session.as_deref(), record.sender, record.direction));
        let (out, back) = (Some(Direction::Out), Some(Direction::In));
        let expected = [(Some("7-9"), None, back), (Some("7-9"), None, out), (Some("8-9"), None, out)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn over_http() {
        let table = [
            (r#""http_transport":{"pid":5,"host":"h","is_request":true},"raw":"{}""#, CLIENT, Some("h#5")),
            (r#""http_transport":{"pid":5,"host":"h"},"raw":"{}""#, SERVER, Some("h#5")),
            (r#""http_transport":{"host":"h"},"session":null,"raw":"{}""#, SERVER, Some("h")),
            (r#""http_transport":{},"session":{"external_id":"e","internal_id":"i"},"raw":"{}""#, SERVER, Some("e")),
            (r#""session":{"internal_id":"i"},"raw":"{}""#, None, Some("i")),
            (r#""raw":"{}""#, None, None),
        ];
        for (rest, sender, session) in table {
            let [record] = &records(&[http(rest)])[..] else { panic!() };
            assert_eq!((record.sender, record.session.as_deref()), (sender, session), "{rest}");
            assert!(record.time.is_some());
        }
    }

    #[test]
    fn detection() {
        let detected = |input: &str| Format::detect(input.as_bytes()).name() == "mcpspy";
        let call = r#"{"timestamp":"2026-01-05T10:00:00Z","message_type":"request","pid":1,"comm":"x"}"#;
        assert!(detected(&format!("banner\n{call}\n{}", http(r#""type":"request""#))));
        assert!(detected(call));
        assert!(!detected(&format!("{{\"jsonrpc\":\"2.0\"}}\n{}", http(r#""type":"request""#))));
        assert!(!detected(&http(r#""jsonrpc":"2.0","type":"request""#)));
    }
}
