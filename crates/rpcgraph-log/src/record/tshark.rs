//! `tshark`: packets that Wireshark's `tshark -T json` and `-T ek` write, with HTTP bodies, texts of WebSockets, dissected
//! JSON, or else the bytes of TCP.

use super::decoder::Decoder;
use super::elements::{first_element, object_array};
use super::har_entry::{ArchiveFacts, HarExchange, HttpBody, opened_session, posted_session};
use super::http_headers::{LAST_EVENT, SESSION, VERSION, request_headers};
use super::lines::{Extras, FoundEntry};
use super::object::{RawObject, elements, offset_in, scalar};
use super::rules::time;
use super::tcp::{Segment, TcpConnections};
use super::window::InputHead;
use super::{Entry, LogLine, Record, Sender};
use memchr::memmem;
use std::borrow::Cow;
use std::collections::HashMap;

pub(super) fn decoder() -> Box<dyn Decoder> {
    let mut capture = TsharkState::default();
    object_array(move |packet, text, more| open(packet, text, more, &mut capture))
}

/// True if the first element of the first value has layers, or if the first or second object has layers or announces
/// such objects.
pub(super) fn detect(window: &InputHead<'_>) -> bool {
    let is_header = |object: &RawObject<'_>| {
        let index = object.object("index").and_then(|index| index.string("_index"));
        index.is_some_and(|index| index.starts_with("packets-"))
    };
    let is_packet = |object: &RawObject<'_>| object.has("timestamp") && object.object("layers").is_some();
    first_element(window).and_then(|first| first.object("_source")).is_some_and(|source| source.has("layers"))
        || window.objects().take(2).any(|object| is_packet(&object) || is_header(&object))
}

/// The maximum number of streams for which a request is kept.
const STREAMS: usize = 64;
/// The maximum number of streams, and of `Mcp-Session-Id`s, whose sessions are known.
const SESSIONS: usize = 4096;

/// The state of a capture.
#[derive(Default)]
struct TsharkState {
    /// The newest request of each TCP stream, its bodies and its session.
    asked: HashMap<String, (HarExchange, Vec<HttpBody>, String)>,
    /// The session of each `Mcp-Session-Id`: it begins on one stream, and may go on in others.
    sessions: HashMap<String, String>,
    /// The session of the other messages of each stream; true if an `Mcp-Session-Id` names it, too.
    streams: HashMap<String, (String, bool)>,
    /// The bytes of streams without a protocol above TCP that is dissected.
    bytes: TcpConnections,
    seen: ArchiveFacts,
}

impl TsharkState {
    /// Returns the session of a packet. `begins` is true for a request that begins a session.
    fn session(&mut self, stream: &str, id: Option<&str>, begins: bool) -> String {
        if let Some(known) = id.and_then(|id| self.sessions.get(id)) {
            return known.clone();
        }
        if self.streams.len().max(self.sessions.len()) == SESSIONS {
            self.streams.clear();
            self.sessions.clear();
        }
        let count = self.sessions.len();
        let (key, is_named) = self.streams.entry(stream.to_owned()).or_insert_with(|| (stream.to_owned(), false));
        if *is_named && (begins || id.is_some()) {
            (*key, *is_named) = (format!("{stream}-{count}"), false);
        }
        if let Some(id) = id {
            self.sessions.insert(id.to_owned(), key.clone());
            *is_named = true;
        }
        key.clone()
    }
}

/// Returns the messages of a packet; a line of text if it does not have any, or is not a packet.
fn open<'a>(
    packet: &RawObject<'a>,
    text: &'a [u8],
    more: &mut Extras,
    capture: &mut TsharkState,
) -> Option<FoundEntry<'a>> {
    let none = || Some((0, LogLine::new(text).into()));
    let Some(layers) = packet.object("layers").or_else(|| packet.object("_source")?.object("layers")) else {
        return none().filter(|_| !packet.has("jsonrpc"));
    };
    // A field, or a member of a field.
    let field = |layer: &str, names: [&str; 2]| {
        let of = |object: &RawObject<'a>| names.iter().find_map(|name| object.get(name));
        let inside = |object: &RawObject<'a>| {
            object.members().filter_map(|(_, value)| RawObject::parse(value)).find_map(|o| of(&o))
        };
        layers.objects(layer).filter_map(|layer| of(&layer).or_else(|| inside(&layer))).collect::<Vec<_>>()
    };
    let stated = |layer, names| field(layer, names).first().copied().and_then(scalar);
    let bodies = [
        ("http", ["http.file_data", "http_http_file_data"]),
        ("websocket", ["websocket.payload.text", "websocket_websocket_payload_text"]),
        ("json", ["json.object", "json_json_object"]),
    ];
    let bodies = bodies.into_iter().map(|(layer, names)| field(layer, names)).find(|found| !found.is_empty());
    let http = layers.get("http").unwrap_or_default();
    let has = |name: &str| memmem::find(http, name.as_bytes()).is_some();
    let is_response = has("\"http.response") || has("\"http_http_response");
    let is_request = has("\"http.request") || has("\"http_http_request");
    // [RFC 6455, 5.1](https://www.rfc-editor.org/rfc/rfc6455#section-5.1): a client masks what it sends, a server does not.
    let masked = stated("websocket", ["websocket.mask", "websocket_websocket_mask"]);
    let sender = match (is_response, is_request, masked.as_deref()) {
        (true, ..) | (_, false, Some("0" | "false")) => Some(Sender::Server),
        (_, true, _) | (_, _, Some("1" | "true")) => Some(Sender::Client),
        _ => None,
    };
    let captured = stated("frame", ["frame.time_epoch", "frame_frame_time_epoch"]);
    let captured = captured.or_else(|| scalar(packet.get("timestamp")?)).and_then(|text| time(&text));
    let stream = stated("tcp", ["tcp.stream", "tcp_tcp_stream"]);
    if let Some(stream) = stream.as_deref().filter(|_| bodies.is_none()) {
        let address = || {
            let port = stated("tcp", ["tcp.srcport", "tcp_tcp_srcport"])?;
            let host = stated("ip", ["ip.src", "ip_ip_src"]).or_else(|| stated("ipv6", ["ipv6.src", "ipv6_ipv6_src"]));
            Some(format!("{} {port}", host.unwrap_or_default()))
        };
        let of_other = ["http", "http2", "websocket"].iter().any(|layer| layers.has(layer));
        let payload = field("tcp", ["tcp.payload", "tcp_tcp_payload"]).first().copied();
        let payload = payload.or_else(|| field("data", ["data.data", "data_data_data"]).first().copied());
        match address() {
            _ if of_other => capture.bytes.note_http(stream),
            Some(source) => {
                let number = |names| stated("tcp", names);
                let flags = number(["tcp.flags", "tcp_tcp_flags"]).unwrap_or_default();
                let segment = Segment {
                    source,
                    sequence: number(["tcp.seq", "tcp_tcp_seq"]).and_then(|number| number.parse().ok()),
                    flags: u64::from_str_radix(flags.trim_start_matches("0x"), 16).unwrap_or_default(),
                    bytes: payload.and_then(scalar).map(|digits| from_hex(&digits)).unwrap_or_default(),
                };
                let (sender, direction, messages) = capture.bytes.messages(stream, segment);
                let start = payload.map_or(0, |payload| offset_in(text, payload) + 1);
                for message in messages {
                    let session = Some(capture.session(stream, None, false).into());
                    let record = Record { time: captured, sender, direction, session, ..Record::new(message) };
                    more.entries.push_back((start, record.into()));
                }
                return more.entries.pop_front().or_else(none);
            }
            None => {}
        }
    } else if let Some(stream) = &stream {
        capture.bytes.note_http(stream);
    }
    // A body may quote headers.
    let is_body = |name: &[u8]| name.ends_with(b"file_data");
    let lines = |http: RawObject<'a>| {
        http.members().filter(|(name, _)| !is_body(name)).map(|(_, value)| value).collect::<Vec<_>>()
    };
    let lines: Vec<_> = layers.objects("http").flat_map(lines).collect();
    let session = header(&lines, SESSION);
    let is_mcp = session.is_some() || header(&lines, VERSION).is_some();
    let headers =
        layers.objects("http").filter(|_| is_request).flat_map(|http| header_lines(&http)).collect::<Vec<_>>();
    let headers = request_headers(headers.iter().filter_map(|line| {
        let (name, value) = line.split_once(": ")?;
        Some((name.into(), value.into()))
    }));
    let uri = stated("http", ["http.request.full_uri", "http_http_request_full_uri"]).unwrap_or_default();
    let texts = bodies.unwrap_or_default().into_iter().map(|data| Some((data, scalar(data)?)));
    let Some(texts) = texts.collect::<Option<Vec<_>>>() else { return none() };
    let session = session.or_else(|| if is_request { posted_session(uri.as_bytes()) } else { None });
    let mut opened = None;
    let mut parts = Vec::new();
    for (data, body) in texts {
        let start = offset_in(text, data) + usize::from(data.starts_with(b"\""));
        let bytes = from_hex(&body);
        opened = opened.or_else(|| opened_session(&bytes).filter(|_| is_response));
        let all = HttpBody::of(start, bytes, sender).map_or_else(Vec::new, HttpBody::events);
        if all.iter().any(HttpBody::holds_message) || is_mcp && is_request && body.trim() == "[]" {
            parts.extend(all);
        }
    }
    let session = session.or(opened);
    let (key, found) = if is_response {
        let asked = stream.as_ref().and_then(|stream| capture.asked.remove(stream));
        let (exchange, mut bodies, key) = asked.unwrap_or_default();
        let key = match &stream {
            Some(_) if !key.is_empty() && session.is_none() => Some(key),
            stream => stream.as_ref().map(|stream| capture.session(stream, session.as_deref(), false)),
        };
        let status = stated("http", ["http.response.code", "http_http_response_code"]);
        let status = status.and_then(|status| status.parse().ok());
        let reason = stated("http", ["http.response.phrase", "http_http_response_phrase"]).unwrap_or_default();
        let exchange = HarExchange { status, reason, ..exchange };
        let count = bodies.len();
        bodies.extend(HttpBody::captured(parts, captured));
        (key, exchange.entries(bodies, None, &mut capture.seen).into_iter().skip(count).collect())
    } else {
        let begins = session.is_none() && parts.iter().any(HttpBody::begins_session);
        let key = stream.as_ref().map(|stream| capture.session(stream, session.as_deref(), begins));
        let bodies: Vec<_> = HttpBody::captured(parts, captured).collect();
        if is_request && let Some((stream, key)) = stream.zip(key.clone()) {
            if capture.asked.len() == STREAMS {
                capture.asked.clear();
            }
            let exchange = HarExchange {
                method: stated("http", ["http.request.method", "http_http_request_method"]).unwrap_or_default(),
                url: uri,
                session: session.map(|_| String::new()),
                is_mcp,
                is_authorized: header(&lines, "authorization").is_some(),
                is_resumption: header(&lines, LAST_EVENT).is_some(),
                ..HarExchange::default()
            };
            capture.asked.insert(stream, (exchange, bodies.clone(), key));
        }
        (key, HttpBody::entries(bodies, None).collect::<Vec<_>>())
    };
    more.entries.extend(found.into_iter().filter_map(|(start, entry)| match entry {
        Entry::Record(record) => {
            let headers = headers.clone();
            let session = key.clone().map(Cow::Owned);
            let time = record.time.or(captured.filter(|_| record.is_exchange()));
            Some((start, Record { time, session, headers, ..record }.into()))
        }
        Entry::LogLine(_) => None,
    }));
    more.entries.pop_front().or_else(none)
}

/// Returns the lines of the headers of a request.
fn header_lines(http: &RawObject<'_>) -> Vec<String> {
    let is_line = |name: &[u8]| name.ends_with(b"request.line") || name.ends_with(b"request_line");
    let values = http.members().filter(|(name, _)| is_line(name)).map(|(_, value)| value);
    let lines = values.flat_map(|value| if value.starts_with(b"[") { elements(value).collect() } else { vec![value] });
    lines.filter_map(scalar).collect()
}

/// Returns the value of a header among the lines of a request or response.
fn header(lines: &[&[u8]], name: &str) -> Option<String> {
    let start = format!("{name}: ");
    let behind = |line: &&[u8]| Some(memmem::find(&line.to_ascii_lowercase(), start.as_bytes())? + start.len());
    let value = lines.iter().find_map(|line| line[behind(line)?..].split(|byte| b"\"\\".contains(byte)).next())?;
    Some(String::from_utf8_lossy(value.trim_ascii()).into_owned())
}

/// Decodes `7b:22:…` or `7b22…`; returns other text as it is.
fn from_hex(text: &str) -> Vec<u8> {
    let mut digits = text.bytes().filter(|byte| *byte != b':').map(|byte| char::from(byte).to_digit(16));
    let mut bytes = Vec::new();
    while let Some(high) = digits.next() {
        let pair = high.zip(digits.next().flatten()).and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        let Some(byte) = pair else { return text.as_bytes().to_vec() };
        bytes.push(byte);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_of_packets() {
        for (line, session) in [("Mcp-Session-Id: s-1\\r\\n", "7"), ("Accept: */*\\r\\n", "7")] {
            let body = r#"{\"jsonrpc\":\"2.0\",\"method\":\"say\",\"params\":[\"mcp-session-id: quoted\"]}"#;
            let http = format!(r#"{{"http.request.line":["{line}"],"http.request":"1","http.file_data":"{body}"}}"#);
            let packet = format!(r#"[{{"_source":{{"layers":{{"tcp":{{"tcp.stream":"7"}},"http":{http}}}}}}}]"#);
            let object = RawObject::parse(&packet.as_bytes()[1..]).unwrap();
            let mut state = TsharkState::default();
            let found = open(&object, packet.as_bytes(), &mut Extras::default(), &mut state);
            let Some((_, Entry::Record(record))) = found else { panic!("{line}") };
            assert_eq!(record.session.as_deref(), Some(session));
            let headers = if line.starts_with("Mcp") { r#"{"mcp-session-id":"s-1"}"# } else { "{}" };
            assert_eq!(record.headers.as_ref().map(|headers| headers.as_str()), Some(headers), "{line}");
            assert_eq!(state.sessions.contains_key("s-1"), line.starts_with("Mcp"), "{line}");
            assert!(!state.sessions.contains_key("quoted"), "{line}");
        }
    }

    #[test]
    fn bodies_in_hexadecimal_digits() {
        for (text, bytes) in [("7b:22:7D", &b"{\"}"[..]), ("7b22", b"{\""), ("7b2", b"7b2"), ("{}", b"{}"), ("", b"")] {
            assert_eq!(from_hex(text), bytes, "{text}");
        }
    }
}
