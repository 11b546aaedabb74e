//! `tshark`: packets as Wireshark's `tshark -T json` and `-T ek` write them, with HTTP bodies or dissected JSON.

use super::about::{About, Sign, Window};
use super::elements::{first_element, object_array};
use super::har_entry::HttpBody;
use super::marked::{Found, More};
use super::object::{RawObject, offset_in, scalar};
use super::rules::time;
use super::{Entry, LogLine, Record, Sender};
use memchr::memmem;

pub(super) const ABOUT: About = About {
    summary: "`tshark -T json` or `-T ek`: packets with `layers`, of which `http.file_data` or `json.object` is a message",
    carries: "time, sender (HTTP), sessions (TCP streams)",
    sign: Sign::Value(detect),
    // Objects on lines are read as those of an array.
    decoder: |limit| object_array(limit, None, open),
};

/// The first element of the first value has layers, or the first or second object has, or says that such objects follow.
fn detect(window: &Window<'_>) -> bool {
    let is_header = |object: &RawObject<'_>| {
        let index = object.object("index").and_then(|index| index.string("_index"));
        index.is_some_and(|index| index.starts_with("packets-"))
    };
    let is_packet = |object: &RawObject<'_>| object.has("timestamp") && object.object("layers").is_some();
    first_element(window).and_then(|first| first.object("_source")).is_some_and(|source| source.has("layers"))
        || window.objects().take(2).any(|object| is_packet(&object) || is_header(&object))
}

/// The messages of a packet; a line of text where it has none, or is none.
fn open<'a>(packet: &RawObject<'a>, text: &'a [u8], more: &mut More) -> Option<Found<'a>> {
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
    for (data, body) in texts {
        let side = if is_response { Sender::Server } else { Sender::Client };
        let sender = (is_request || is_response).then_some(side);
        let start = offset_in(text, data) + usize::from(data.starts_with(b"\""));
        let parts = HttpBody::of(start, from_hex(&body), sender).map_or_else(Vec::new, HttpBody::events);
        if parts.iter().any(HttpBody::holds_message) {
            let entries = HttpBody::entries(parts, stream.clone());
            more.entries.extend(entries.filter_map(|(start, entry)| match entry {
                Entry::Record(record) => Some((start, Record { time: captured, ..record }.into())),
                Entry::LogLine(_) => None,
            }));
        }
    }
    more.entries.pop_front().or_else(none)
}

/// The bytes that `7b:22:…` or `7b22…` stands for, or else the text as it is.
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
