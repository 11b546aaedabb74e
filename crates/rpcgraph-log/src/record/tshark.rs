//! `tshark`: packets that Wireshark's `tshark -T json` and `-T ek` write, with HTTP bodies or dissected JSON.

use super::decoder::Decoder;
use super::elements::{first_element, object_array};
use super::har_entry::{ArchiveFacts, HarExchange, HttpBody, SESSION, VERSION};
use super::lines::{Extras, FoundEntry};
use super::object::{RawObject, offset_in, scalar};
use super::rules::time;
use super::window::InputHead;
use super::{Entry, LogLine, Record, Sender};
use memchr::memmem;
use std::borrow::Cow;
use std::collections::HashMap;

pub(super) fn decoder() -> Box<dyn Decoder> {
    let (mut asked, mut seen) = (HashMap::new(), ArchiveFacts::default());
    object_array(move |packet, text, more| open(packet, text, more, (&mut asked, &mut seen)))
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

/// The newest request of each TCP stream, and its bodies.
type RequestsByStream = HashMap<String, (HarExchange, Vec<HttpBody>)>;

/// The maximum number of streams for which a request is kept.
const STREAMS: usize = 64;

/// Returns the messages of a packet; a line of text if it does not have any, or is not a packet.
fn open<'a>(
    packet: &RawObject<'a>,
    text: &'a [u8],
    more: &mut Extras,
    (asked, seen): (&mut RequestsByStream, &mut ArchiveFacts),
) -> Option<FoundEntry<'a>> {
    let none = || Some((0, LogLine::new(text).into()));
    let Some(layers) = packet.object("layers").or_else(|| packet.object("_source")?.object("layers")) else {
        return none().filter(|_| !packet.has("jsonrpc"));
    };
    let field = |layer: &str, names: [&str; 2]| {
        let all = layers.objects(layer).filter_map(|layer| names.iter().find_map(|name| layer.get(name)));
        all.collect::<Vec<_>>()
    };
    let scalar_of = |layer, names| field(layer, names).first().copied().and_then(scalar);
    let mut bodies = field("http", ["http.file_data", "http_http_file_data"]);
    if bodies.is_empty() {
        bodies = field("json", ["json.object", "json_json_object"]);
    }
    let http = layers.get("http").unwrap_or_default();
    let has = |name: &str| memmem::find(http, name.as_bytes()).is_some();
    let is_response = has("\"http.response") || has("\"http_http_response");
    let is_request = has("\"http.request") || has("\"http_http_request");
    let captured = scalar_of("frame", ["frame.time_epoch", "frame_frame_time_epoch"]);
    let captured = captured.or_else(|| scalar(packet.get("timestamp")?)).and_then(|text| time(&text));
    let stream = scalar_of("tcp", ["tcp.stream", "tcp_tcp_stream"]);
    let texts = bodies.into_iter().map(|data| Some((data, scalar(data)?)));
    let Some(texts) = texts.collect::<Option<Vec<_>>>() else { return none() };
    let mut parts = Vec::new();
    for (data, body) in texts {
        let side = if is_response { Sender::Server } else { Sender::Client };
        let sender = (is_request || is_response).then_some(side);
        let start = offset_in(text, data) + usize::from(data.starts_with(b"\""));
        let all = HttpBody::of(start, from_hex(&body), sender).map_or_else(Vec::new, HttpBody::events);
        if all.iter().any(HttpBody::holds_message) {
            parts.extend(all);
        }
    }
    // A field, or a member of a field.
    let stated = |names: [&str; 2]| {
        let of = |object: &RawObject<'_>| names.iter().find_map(|name| scalar(object.get(name)?));
        let inside =
            |http: &RawObject<'_>| http.members().filter_map(|(_, value)| RawObject::parse(value)).find_map(|o| of(&o));
        layers.objects("http").find_map(|http| of(&http).or_else(|| inside(&http)))
    };
    let found = if is_response {
        let asked = stream.as_ref().and_then(|stream| asked.remove(stream));
        let (exchange, mut bodies) = asked.unwrap_or_default();
        let sent = bodies.len();
        bodies.append(&mut parts);
        let status = stated(["http.response.code", "http_http_response_code"]).and_then(|status| status.parse().ok());
        let reason = stated(["http.response.phrase", "http_http_response_phrase"]).unwrap_or_default();
        let exchange = HarExchange { status, reason, ..exchange };
        exchange.entries(bodies, None, seen).into_iter().skip(sent).collect()
    } else {
        if is_request && let Some(stream) = stream.clone() {
            if asked.len() == STREAMS {
                asked.clear();
            }
            let names = http.to_ascii_lowercase();
            let has_header = |name: &str| memmem::find(&names, format!("{name}: ").as_bytes()).is_some();
            let exchange = HarExchange {
                method: stated(["http.request.method", "http_http_request_method"]).unwrap_or_default(),
                url: stated(["http.request.full_uri", "http_http_request_full_uri"]).unwrap_or_default(),
                session: has_header(SESSION).then(String::new),
                is_mcp: [SESSION, VERSION].into_iter().any(has_header),
                is_authorized: has_header("authorization"),
                ..HarExchange::default()
            };
            asked.insert(stream, (exchange, parts.clone()));
        }
        HttpBody::entries(parts, None).collect::<Vec<_>>()
    };
    more.entries.extend(found.into_iter().filter_map(|(start, entry)| match entry {
        Entry::Record(record) => {
            let session = stream.clone().map(Cow::Owned);
            Some((start, Record { time: captured, session, ..record }.into()))
        }
        Entry::LogLine(_) => None,
    }));
    more.entries.pop_front().or_else(none)
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
    fn bodies_in_hexadecimal_digits() {
        for (text, bytes) in [("7b:22:7D", &b"{\"}"[..]), ("7b22", b"{\""), ("7b2", b"7b2"), ("{}", b"{}"), ("", b"")] {
            assert_eq!(from_hex(text), bytes, "{text}");
        }
    }
}
