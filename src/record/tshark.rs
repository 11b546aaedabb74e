//! `tshark`: packets as Wireshark's `tshark -T json` and `-T ek` write them, with HTTP bodies or dissected JSON.

use super::about::{About, Sign, Window};
use super::decoder::{Decoder, Step, leading_blanks};
use super::elements::{ArrayDecoder, first_element};
use super::har_entry::HttpBody;
use super::layout::time;
use super::marked::{Found, enveloped};
use super::object::{RawObject, offset_in, scalar};
use super::{Entry, LogLine, Record, Sender};
use memchr::memmem;

pub(super) const ABOUT: About = About {
    name: "tshark",
    summary: "`tshark -T json` or `-T ek`: packets with `layers`, of which `http.file_data` or `json.object` is a message",
    carries: "time, sender (HTTP), sessions (TCP streams)",
    sample: include_str!("samples/tshark.log"),
    sign: Sign::Value(detect),
    decoder: |limit| Box::new(Tshark { limit, inner: None }),
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

/// An array, or lines.
struct Tshark {
    limit: usize,
    inner: Option<Box<dyn Decoder>>,
}

impl Decoder for Tshark {
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        let Some(inner) = &mut self.inner else {
            return match input[leading_blanks(input)..].first() {
                Some(first) => {
                    self.inner = Some(if *first == b'[' {
                        ArrayDecoder::of_objects(self.limit, None, Box::new(packet))
                    } else {
                        self.lines()
                    });
                    self.step(input, end)
                }
                None if input.is_empty() => Step::NeedMore,
                None => Step::Skip { consumed: input.len() },
            };
        };
        inner.step(input, end)
    }
}

impl Tshark {
    fn lines(&self) -> Box<dyn Decoder> {
        enveloped(self.limit, None, |object, line, more| {
            let mut found = packet(object, line, usize::MAX).filter(|_| object.is_whole())?.into_iter();
            let first: Found<'static> = found.next()?;
            more.extend(found);
            Some(first)
        })
    }
}

/// The messages of a packet; a line of text where it has none.
fn packet(packet: &RawObject<'_>, text: &[u8], limit: usize) -> Option<Vec<Found<'static>>> {
    let layers = packet.object("layers").or_else(|| packet.object("_source")?.object("layers"))?;
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
    let mut found = Vec::new();
    for data in bodies {
        let side = if is_response { Sender::Server } else { Sender::Client };
        let sender = (is_request || is_response).then_some(side);
        let start = offset_in(text, data) + usize::from(data.starts_with(b"\""));
        let parts = HttpBody::of(start, from_hex(&scalar(data)?), sender).map_or_else(Vec::new, HttpBody::events);
        if parts.iter().any(HttpBody::holds_message) {
            let entries = HttpBody::entries(parts, limit, stream.clone());
            found.extend(entries.filter_map(|(start, entry)| match entry {
                Entry::Record(record) => Some((start, Record { time: captured, ..record }.into())),
                Entry::LogLine(_) => None,
            }));
        }
    }
    if found.is_empty() {
        found.push((0, Entry::from(LogLine::new(text.to_vec())).within(limit)));
    }
    Some(found)
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
