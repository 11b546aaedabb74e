//! Messages inside other JSON: what loggers, telemetry and recorders put around them.

use super::object::{RawObject, elements, offset_in, unescape};
use super::times;
use super::{Record, Sender, Time};
use memchr::memmem;

/// How many members deep a message is looked for; OpenTelemetry's records, all in one object, are the deepest.
const DEEP: usize = 5;

/// The members of a message. `sessionId` is that of Chrome's protocol, and recorders add `_meta`.
const MEMBERS: [&str; 8] = ["jsonrpc", "id", "method", "params", "result", "error", "sessionId", "_meta"];

/// The methods of the Model Context Protocol (its schemas) and the Language Server Protocol (metaModel 3.17 and 3.18).
const METHODS: &str = include_str!("methods.txt");

/// Members that tell the time, the most telling first.
const TIMES: [&str; 9] =
    ["time", "ts", "timestamp", "@timestamp", "timeUnixNano", "observedTimeUnixNano", "asctime", "datetime", "t"];

/// Members that tell the sender, if their value names a side.
const SENDERS: [&str; 6] = ["direction", "dir", "sender", "from", "sent_by", "sentBy"];

/// A message in a line: where its first byte is, and the record.
pub(super) type Inside<'a> = (usize, Record<'a>);

/// The facts that stand around a message.
#[derive(Clone, Copy, Default)]
pub(super) struct Clues {
    pub time: Option<Time>,
    pub sender: Option<Sender>,
}

impl Clues {
    /// Those of the object, and else those around it.
    fn within(self, object: &RawObject<'_>) -> Self {
        let time = TIMES.iter().find_map(|name| times::any(&text(object, name)?));
        let sender = SENDERS.iter().find_map(|name| named_side(&object.string(name)?));
        Self { time: time.or(self.time), sender: sender.or(self.sender) }
    }

    pub(super) fn of<'a>(self, record: Record<'a>) -> Record<'a> {
        Record { time: self.time, sender: self.sender, ..record }
    }
}

/// The characters of a number or a string.
fn text<'a>(object: &RawObject<'a>, name: &str) -> Option<std::borrow::Cow<'a, [u8]>> {
    let value = object.get(name)?;
    unescape(value).or(Some(value.into()))
}

/// Whether there can be a message in the text that counts: it is looked for in no other.
pub(super) fn may_hold_message(text: &[u8]) -> bool {
    memmem::find(text, b"jsonrpc").is_some() || memmem::find(text, b"method").is_some()
}

/// Whether an object is a message of JSON-RPC for sure, although it stands among other things: it says so, or has a method
/// that a published protocol knows, and nothing that JSON-RPC does not know.
pub(super) fn counts(object: &RawObject<'_>) -> bool {
    object.has("jsonrpc")
        || has_members_of_messages(object)
            && object.string("method").is_some_and(|method| METHODS.lines().any(|known| *known == *method))
}

/// Whether all members are those of messages.
pub(super) fn has_members_of_messages(object: &RawObject<'_>) -> bool {
    object.members().all(|(name, _)| MEMBERS.iter().any(|known| known.as_bytes() == name))
}

/// Whether an object is a message for sure, or an array is a batch that has such a message.
pub(super) fn is_sure(text: &[u8]) -> bool {
    match RawObject::parse(text) {
        Some(object) => counts(&object),
        None => elements(text).filter_map(RawObject::parse).any(|object| counts(&object)),
    }
}

/// The messages in an object, which is not one itself. One that is cut off goes up to the end of the line.
pub(super) fn messages<'a>(line: &'a [u8], object: &RawObject<'a>) -> Vec<Inside<'a>> {
    let mut found = Vec::new();
    in_object(line, object, Clues::default(), DEEP, &mut found);
    found
}

fn in_object<'a>(line: &'a [u8], object: &RawObject<'a>, around: Clues, deep: usize, found: &mut Vec<Inside<'a>>) {
    let clues = around.within(object);
    for (_, value) in object.members() {
        in_value(line, value, clues, deep - 1, found);
    }
}

/// Looks at a value that stands in `line`, and up to `deep` members inside it.
fn in_value<'a>(line: &'a [u8], value: &'a [u8], clues: Clues, deep: usize, found: &mut Vec<Inside<'a>>) {
    match value.first() {
        Some(b'{' | b'[') if is_sure(value) => found.push((offset_in(line, value), clues.of(Record::new(value)))),
        Some(b'{') if deep > 0 => {
            if let Some(object) = RawObject::parse(value) {
                in_object(line, &object, clues, deep, found);
            }
        }
        Some(b'[') if deep > 0 => {
            elements(value).filter(|element| element.starts_with(b"{")).for_each(|element| {
                in_value(line, element, clues, deep, found);
            });
        }
        // JSON with members has quotes, so as a string it has escapes.
        Some(b'"') if may_hold_message(value) => {
            let Some(text) = unescape(value) else { return };
            let text = text.trim_ascii();
            let mut inside = Vec::new();
            in_value(text, text, clues, deep, &mut inside);
            let start = offset_in(line, value) + 1;
            found.extend(inside.into_iter().map(|(_, record)| (start, record.into_owned())));
        }
        _ => {}
    }
}

/// The side that a word about a message names as its sender. Words of the log's writer (`in`, `sent`) name none.
pub(super) fn named_side(word: &str) -> Option<Sender> {
    if word.len() > 32 || word.contains(['<', '←']) {
        return None;
    }
    let letters: String = word.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    match &*letters {
        "client" | "fromclient" | "toserver" | "clienttoserver" | "clientserver" | "c2s" | "clientsays" => {
            Some(Sender::Client)
        }
        "server" | "fromserver" | "toclient" | "servertoclient" | "serverclient" | "s2c" | "serversays" => {
            Some(Sender::Server)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<(usize, String)> {
        let object = RawObject::parse(line.as_bytes()).unwrap();
        let text = |record: Record<'_>| String::from_utf8_lossy(&record.bytes).into_owned();
        messages(line.as_bytes(), &object).into_iter().map(|(start, record)| (start, text(record))).collect()
    }

    #[test]
    fn only_what_is_a_message_for_sure() {
        let table = [
            (r#"{"a":{"jsonrpc":"2.0","b":1}}"#, Some(r#"{"jsonrpc":"2.0","b":1}"#)),
            (r#"{"a":{"b":{"c":{"d":{"e":{"jsonrpc":1}}}}}}"#, Some(r#"{"jsonrpc":1}"#)),
            (r#"{"a":{"b":{"c":{"d":{"e":{"f":{"jsonrpc":1}}}}}}}"#, None),
            (r#"{"a":{"method":"tools/list","id":1}}"#, Some(r#"{"method":"tools/list","id":1}"#)),
            (r#"{"a":{"method":"tools/list","ms":1}}"#, None),
            (r#"{"a":{"method":"GET","id":1}}"#, None),
            (r#"{"a":{"id":1,"result":{}}}"#, None),
            (r#"{"a":"{\"jsonrpc\":\"2.0\",\"s\":\"\\n\"}\n"}"#, Some(r#"{"jsonrpc":"2.0","s":"\n"}"#)),
            (r#"{"a":"{\"b\":{\"jsonrpc\":1}}"}"#, Some(r#"{"jsonrpc":1}"#)),
            (r#"{"a":"jsonrpc"}"#, None),
            (r#"{"a":[{"jsonrpc":1},{}]}"#, Some(r#"[{"jsonrpc":1},{}]"#)),
            (r#"{"a":[1,{"b":{"jsonrpc":1}}]}"#, Some(r#"{"jsonrpc":1}"#)),
            (r#"{"a":{"jsonrpc":"2.0","id":"#, Some(r#"{"jsonrpc":"2.0","id":"#)),
        ];
        for (line, expected) in table {
            let texts: Vec<_> = found(line).into_iter().map(|(_, text)| text).collect();
            assert_eq!(texts, Vec::from_iter(expected), "{line}");
        }
        let both = found(r#"{"request":{"jsonrpc":"2.0","id":1},"response":"{\"jsonrpc\":\"2.0\"}"}"#);
        assert_eq!(both.iter().map(|(start, _)| *start).collect::<Vec<_>>(), [11, 53]);
    }

    #[test]
    fn the_nearest_time_and_sides_that_are_named() {
        let line = r#"{"ts":1,"time":1767607200123,"a":{"timestamp":"2025-06-01T10:00:00Z","b":{"jsonrpc":1}},"dir":"c2s","c":{"jsonrpc":2}}"#;
        let object = RawObject::parse(line.as_bytes()).unwrap();
        let found = messages(line.as_bytes(), &object);
        let times: Vec<_> = found.iter().map(|(_, record)| record.time).collect();
        assert_eq!(times, [times::date_time(b"2025-06-01T10:00:00Z"), times::date_time(b"2026-01-05T10:00:00.123Z")]);
        assert!(found.iter().all(|(_, record)| record.sender == Some(Sender::Client)));
        for (word, side) in [
            ("server -> client", Some(Sender::Server)),
            ("client_to_server", Some(Sender::Client)),
            ("client <- server", None),
            ("in", None),
            ("outgoing", None),
            ("sent", None),
            ("observer", None),
        ] {
            assert_eq!(named_side(word), side, "{word}");
        }
    }

    #[test]
    fn methods_are_in_order() {
        assert!(METHODS.lines().is_sorted() && METHODS.lines().count() > 100);
    }
}
