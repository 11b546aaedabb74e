//! `mcpspy`: one object per line, with the members of the message among the members that MCPSpy adds, and the message
//! as it was on the wire in a string.

use super::about::{About, Sign, Window};
use super::known::known_method;
use super::marked::{Found, More, enveloped};
use super::object::{NewObject, RawObject, offset_in, unescape};
use super::value::is_whole;
use super::{Entry, Flags, LogLine, Record, Sender};
use memchr::memmem;
use std::borrow::Cow;
use std::collections::HashMap;

pub(super) const ABOUT: About = About {
    summary: "`{\"timestamp\":…,\"transport_type\":\"stdio\",\"stdio_transport\":{…},\"type\":\"request\",…}`, MCPSpy's JSONL output",
    carries: "time, sessions (process ids, hosts), sender where a message of the session tells it",
    sign: Sign::Line(detect),
    decoder: |limit| {
        let mut pairs = Pairs::default();
        enveloped(limit, Some(&MESSAGE[1..]), move |object, line, more| pairs.open(object, line, more))
    },
};

/// True if the first line that is an object has a timestamp, a transport and another one of MCPSpy's members, or
/// records a call of a language model, which MCPSpy also captures.
fn detect(window: &Window<'_>) -> bool {
    window.objects().next().is_some_and(|object| {
        let has = |name: &&str| object.has(name);
        let message = object.string("transport_type").is_some()
            && ["type", "stdio_transport", "http_transport", "raw"].iter().any(has);
        let call = ["message_type", "pid", "comm"].iter().all(has);
        (message || call) && object.has("timestamp") && !object.has("jsonrpc")
    })
}

/// The members around a message.
const ENVELOPE: [&str; 7] =
    ["timestamp", "transport_type", "stdio_transport", "http_transport", "session", "type", "raw"];

/// Members of the message.
static MESSAGE: [&str; 6] = ["id", "method", "params", "result", "error", "request"];

/// The maximum number of pairs of processes that are kept, more than a machine has at a time.
const PAIRS: usize = 16 * 1024;

/// The client of each pair of processes.
#[derive(Default)]
struct Pairs {
    /// The client process of each pair, by the process ids of the pair, the smaller one first.
    clients: HashMap<(u64, u64), u64>,
}

impl Pairs {
    fn open<'a>(&mut self, object: &RawObject<'a>, line: &'a [u8], more: &mut More) -> Option<Found<'a>> {
        object.string("transport_type")?;
        let on_the_wire = object.all("raw").filter(|raw| *raw != b"null").map(|raw| match unescape(raw) {
            Some(text) => (offset_in(line, raw) + 1, text),
            None => (offset_in(line, raw), Cow::Borrowed(raw)),
        });
        let mut on_the_wire = on_the_wire.filter(|(_, text)| !text.trim_ascii().is_empty());
        // Members that differ from the message on the wire, or are unknown.
        let own =
            |text: &[u8]| object.string("method").is_some_and(|method| memmem::find(text, method.as_bytes()).is_none());
        let is_odd = |message: &[&str]| {
            let is_known = |name| ENVELOPE.iter().chain(message).any(|known| known.as_bytes() == name);
            object.members().any(|(name, _)| !is_known(name)) || MESSAGE.iter().any(|name| object.all(name).count() > 1)
        };
        let mut is_told = false;
        let (start, mut record) = match on_the_wire.next() {
            Some((start, text)) if is_whole(text.trim_ascii()) => {
                is_told = own(&text);
                (start, Record::new(text))
            }
            // A message that is cut off may hold less than the members before it.
            Some((_, text)) if !object.is_whole() && (own(&text) || is_odd(&MESSAGE)) => (0, Record::new(line)),
            Some((start, text)) if !object.is_whole() => (start, Record::new(text)),
            // The other members hold the same, if there are any.
            Some((start, text)) => match rebuild(object).filter(|record| *record.bytes != *b"{}") {
                Some(record) => {
                    is_told = is_odd(&MESSAGE);
                    more.entries.push_back((start, Entry::from(LogLine::new(text)).into_owned()));
                    (0, record)
                }
                None => {
                    is_told = is_odd(&[]);
                    (start, Record::new(text))
                }
            },
            None if object.is_whole() => {
                is_told = is_odd(&MESSAGE);
                (0, rebuild(object)?)
            }
            None => return None,
        };
        record.time = object.date_time("timestamp");
        if let Some(stdio) = object.object("stdio_transport") {
            if let (Some(from), Some(to)) = (pid(&stdio, "from_pid"), pid(&stdio, "to_pid")) {
                record.session = Some(Cow::Owned(format!("{}-{}", from.min(to), from.max(to))));
                record.sender = self.sender(object, from, to);
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
        for (start, text) in on_the_wire {
            let flags = Flags::default();
            let another = Record { length: text.len() as u64, bytes: text, flags, ..record.clone() };
            more.entries.push_back((start, Entry::from(another).into_owned()));
        }
        if is_told && object.is_whole() {
            more.entries.push_front((start, Entry::from(record).into_owned()));
            return Some((0, LogLine::new(line).into()));
        }
        Some((start, record.into()))
    }

    /// Returns the side that sent a message over a pipe. The log only has process ids, so the method of the message, or
    /// of an earlier message between the two processes, must show it. If a process is both client and server, the later
    /// message counts.
    fn sender(&mut self, object: &RawObject<'_>, from: u64, to: u64) -> Option<Sender> {
        let pair = (from.min(to), from.max(to));
        let of = |object: &RawObject<'_>| known_method(&object.string("method")?)?.sender;
        let told = match object.string("method").is_some() {
            true => of(object),
            false => object.object("request").and_then(|request| of(&request)).map(Sender::other),
        };
        if let Some(sender) = told {
            if self.clients.len() == PAIRS {
                self.clients.clear();
            }
            self.clients.insert(pair, if sender == Sender::Client { from } else { to });
        }
        let client = *self.clients.get(&pair)?;
        Some(if client == from { Sender::Client } else { Sender::Server })
    }
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

/// Rebuilds a message from its parts, if the log does not hold it as it was.
///
/// Every message without an error has `"error":{}`. Empty `id`, `method` and `params` are left out, and so is a null
/// result.
fn rebuild(object: &RawObject<'_>) -> Option<Record<'static>> {
    let names: &[&str] = match &*object.string("type")? {
        "request" | "notification" => &["id", "method", "params"],
        "response" => &["id", "result", "error"],
        _ => return None,
    };
    let (mut message, mut answered) = (NewObject::new(), false);
    for name in names {
        let Some(value) = object.get(name) else { continue };
        if *name == "error" && RawObject::parse(value).is_some_and(|error| error.is_empty()) {
            continue;
        }
        answered |= matches!(*name, "result" | "error");
        message.member(name, value);
    }
    let mut record = Record::new(message.end());
    record.flags.reconstructed = true;
    record.flags.result_unknown = names.contains(&"result") && !answered;
    Some(record)
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{entries, texts};
    use super::super::{Entry, Format};
    use super::*;

    const CLIENT: Option<Sender> = Some(Sender::Client);
    const SERVER: Option<Sender> = Some(Sender::Server);

    fn records(lines: &[String]) -> Vec<Record<'static>> {
        let found = entries(|| (ABOUT.decoder)(1000), lines.join("\n").as_bytes());
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
    fn the_message_on_the_wire_or_its_parts() {
        let table = [
            (
                r#""type":"request","id":1,"method":"a","raw":"{\"id\":1.0,\"method\":\"a\"}""#,
                r#"{"id":1.0,"method":"a"}"#,
                "",
            ),
            (
                r#""type":"request","id":0,"method":"a\n","params":{"x":1.0},"error":{}"#,
                r#"{"id":0,"method":"a\n","params":{"x":1.0}}"#,
                "r",
            ),
            (r#""type":"notification","method":"a","error":{},"raw":" ""#, r#"{"method":"a"}"#, "r"),
            (
                r#""type":"response","id":"a","result":false,"error":{},"request":{"id":"a","method":"x"}"#,
                r#"{"id":"a","result":false}"#,
                "r",
            ),
            (r#""type":"response","id":1,"error":{"code":-1}"#, r#"{"id":1,"error":{"code":-1}}"#, "r"),
            (r#""type":"response","id":1,"error":{},"raw":"""#, r#"{"id":1}"#, "ru"),
            (r#""type":"response""#, "{}", "ru"),
        ];
        for (rest, expected, flags) in table {
            let [record] = &records(&[http(rest)])[..] else { panic!() };
            assert_eq!(String::from_utf8_lossy(&record.bytes), expected, "{rest}");
            assert_eq!(record.flags.reconstructed, flags.contains('r'), "{rest}");
            assert_eq!(record.flags.result_unknown, flags.contains('u'), "{rest}");
        }
        let cut = http(r#""type":"request","id":1,"raw":"{\"id\":1"#);
        assert_eq!(&*records(&[cut[..cut.len() - 1].to_owned()])[0].bytes, b"{\"id\":1");
        let cut = http(r#""type":"request","id":1,"method":"a","raw":"{\"id\":1"#);
        let cut = &cut[..cut.len() - 1];
        let [record] = &records(&[cut.to_owned()])[..] else { panic!() };
        assert!(*record.bytes == *cut.as_bytes() && record.time.is_some());
        let odd = http(r#""type":"request","":{"a":1},"":"b","raw":"{"#);
        let odd = &odd[..odd.len() - 1];
        assert_eq!(*records(&[odd.to_owned()])[0].bytes, *odd.as_bytes());
        let table =
            [http(r#""type":"odd""#), "{\"timestamp\":1,\"message_type\":\"request\"}".to_owned(), "# text".to_owned()];
        let found = texts(&entries(|| (ABOUT.decoder)(1000), table.join("\n").as_bytes()));
        assert!(found.iter().all(|text| text.starts_with("# ")), "{found:?}");
    }

    #[test]
    fn nothing_on_the_wire_is_lost_or_invented() {
        let found = |lines: &str| texts(&entries(|| (ABOUT.decoder)(1000), lines.as_bytes()));
        let one = http(r#""type":"request","raw":"{\"id\":1}""#);
        let two = http(r#""type":"request","raw":"{\"id\":2}""#);
        assert_eq!(found(&format!("{one}{two}\n{two}")), ["{\"id\":1}", "{\"id\":2}", "{\"id\":2}"]);
        let escape = r#"{"transport_type":"http","raw":"\m"{"jsonrpc":"2.0"}"#;
        assert_eq!(found(escape), ["m", r#"{"jsonrpc":"2.0"}"#]);
        let broken = r#""type":"response""id":1,"other":"{\"id\":2}""#;
        let (told, odd) = (r#""type":"request","method":"a","raw":"{\"id\":1}""#, r#""method":"a","raw":"}""#);
        let (unnamed, twice) = (r#""type":"request","id":1,"":"m""#, r#""type":"request","method":"a","method":"b""#);
        let [unnamed_line, twice_line] = [unnamed, twice].map(|rest| format!("# {}", http(rest)));
        let more = r#""raw":"{\"id\":1}","more":{"jsonrpc":"2.0"}"#;
        let [whole, told_line, odd_line, more_line] = [broken, told, odd, more].map(|rest| format!("# {}", http(rest)));
        let table = [
            (r#""type":"response","raw":"oops""#, vec!["oops"]),
            (r#""type":"odd","raw":"oops""#, vec!["oops"]),
            (r#""type":"notification","method":"a","raw":"{...}""#, vec![r#"{"method":"a"}"#, "# {...}"]),
            (r#""raw":"{\"id\":1}","raw":"[2]""#, vec!["{\"id\":1}", "[2]"]),
            (r#""raw":{"id":1}"#, vec!["{\"id\":1}"]),
            (told, vec![&told_line, "{\"id\":1}"]),
            (odd, vec![&odd_line, "}"]),
            (unnamed, vec![&unnamed_line, "{\"id\":1}"]),
            (twice, vec![&twice_line, "{\"method\":\"b\"}"]),
            (more, vec![&more_line, "{\"id\":1}"]),
            (broken, vec![&whole, "{\"id\":1}"]),
        ];
        for (rest, expected) in table {
            assert_eq!(found(&http(rest)), expected, "{rest}");
        }
    }

    #[test]
    fn who_is_the_client_of_a_pair() {
        let log = [
            (stdio(9, 7, r#""method":"ping""#), None),
            (stdio(7, 9, r#""type":"response""#), None),
            (stdio(9, 7, r#""method":"sampling/createMessage""#), SERVER),
            (stdio(7, 9, r#""type":"response""#), CLIENT),
            (stdio(9, 7, r#""method":"ping""#), SERVER),
            (stdio(9, 8, r#""method":"ping""#), None),
            (stdio(8, 9, r#""type":"response","request":{"method":"tools/call"}"#), SERVER),
            (stdio(9, 8, r#""method":"ping""#), CLIENT),
            (stdio(7, 9, r#""method":"ping""#), CLIENT),
            (stdio(9, 7, r#""method":"initialize""#), CLIENT),
            (stdio(7, 9, r#""method":"notifications/tools/list_changed""#), SERVER),
        ];
        let lines: Vec<_> = log.iter().map(|(line, _)| line.clone()).collect();
        let found = records(&lines);
        for ((line, sender), record) in log.iter().zip(&found) {
            assert_eq!(record.sender, *sender, "{line}");
        }
        let keys: Vec<_> = found.iter().filter_map(|record| record.session.as_deref()).collect();
        assert_eq!(keys[4..8], ["7-9", "8-9", "8-9", "8-9"]);
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
