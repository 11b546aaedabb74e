//! `record`: the log that `rpcgraph record` writes, whose members `recorder.rs` of the program lists.

use super::decoder::Decoder;
use super::har_entry::{ArchiveFacts, HarExchange};
use super::http_headers::{SESSION, VERSION, request_headers};
use super::lines::{Extras, FoundEntry, LineFormat, LineSplitter, in_envelope, with_others};
use super::object::{RawObject, elements, offset_in, scalar, unescape};
use super::surroundings::named_side;
use super::{Flags, Http, HttpExchange, HttpOutcome, LogLine, Record};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;
use std::sync::Arc;

/// The first revision in which
/// [closing a stream](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#cancellation)
/// cancels its request. [Before](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server),
/// it did not mean anything.
const CLOSING_CANCELS: &str = "2026-07-28";

/// The first words of the line that states how the process of the server ended.
const EXIT: &[u8] = b"ended: ";

pub(super) fn decoder() -> Box<dyn Decoder> {
    LineSplitter::boxed(Recording)
}

struct Recording;

impl LineFormat for Recording {
    fn splits_lines(&self) -> bool {
        true
    }

    fn read<'a>(&mut self, line: &'a [u8], more: &mut Extras) -> Option<FoundEntry<'a>> {
        in_envelope(line, more, |object, own, more| {
            let first = more.first_of(open(object, own))?;
            Some(with_others(object, own, &["request"], first, more))
        })
    }
}

/// Returns the message or text of a line, and the HTTP exchange, if it did not bring a message.
fn open<'a>(object: &RawObject<'a>, line: &'a [u8]) -> Vec<FoundEntry<'a>> {
    let (time, session) = (object.date_time("time"), object.string("session"));
    let sender = object.string("sender").and_then(|word| named_side(&word));
    let event = object.string("event").map(|id| id.as_ref().into());
    let flags = Flags { resumed: object.get("resumed") == Some(b"true"), ..Flags::default() };
    let is_wire = sender.is_some() && object.string("transport").as_deref() == Some("stdio");
    let http = http(object);
    let has_message = object.has("message");
    let mut found = Vec::new();
    if let Some((start, bytes)) = content(object, line) {
        let entry = match has_message || is_wire {
            true => {
                let http = http.clone().map(|http| Arc::new(Http { exchange: None, ..http }));
                let headers = object.object("headers").and_then(|headers| request_headers(headers.texts()));
                let session = session.clone();
                Record { time, sender, session, event, flags, http, headers, ..Record::new(bytes) }.into()
            }
            // The recorder's own words have no sender.
            false => {
                let is_exit = sender.is_none() && bytes.starts_with(EXIT);
                LogLine { time, session: session.clone(), is_exit, ..LogLine::new(bytes) }.into()
            }
        };
        found.push((start, entry));
    }
    // Of a line that is cut off, only the message or text is read.
    if let Some(http) = http.filter(|http| !has_message && http.exchange.is_some() && object.is_whole()) {
        let is_accepted = http.outcome == HttpOutcome::Done
            && http.exchange.as_ref().is_some_and(|exchange| exchange.method == "POST");
        let entry = match is_accepted {
            true => LogLine { time, session, ..LogLine::new(http.text().into_bytes()) }.into(),
            false => Record { time, sender, session, ..http.record() }.into(),
        };
        found.insert(0, (0, entry));
    }
    found
}

/// Returns what was sent, and its offset in the line.
fn content<'a>(object: &RawObject<'a>, line: &'a [u8]) -> Option<(usize, Cow<'a, [u8]>)> {
    let at = |value| offset_in(line, value) + usize::from(value.starts_with(b"\""));
    if let Some(value) = object.get("message").or_else(|| object.get("text")) {
        return Some((at(value), unescape(value).unwrap_or(Cow::Borrowed(value))));
    }
    let value = object.get("bytes")?;
    let text = unescape(value)?;
    Some((at(value), STANDARD.decode(&text).map_or(text, Cow::Owned)))
}

/// Returns the HTTP exchange that a line belongs to, with the request if the line states it.
fn http(object: &RawObject<'_>) -> Option<Http> {
    let status = object.get("status").and_then(scalar).and_then(|status| status.parse().ok());
    let request = object.object("request");
    if status.is_none() && request.is_none() {
        return None;
    }
    let of_request = |name| request.as_ref().and_then(|request| request.string(name)).unwrap_or_default().into_owned();
    let headers = request.as_ref().and_then(|request| request.object("headers"));
    let header = |name| headers.as_ref().and_then(|headers| headers.string(name));
    let exchange = HarExchange {
        method: of_request("method"),
        // A request that the server did not answer failed.
        status: Some(status.map_or(0, i32::from)),
        session: header(SESSION).map(Cow::into_owned),
        ..HarExchange::default()
    };
    let outcome = match object.get("closed") == Some(b"true") {
        true if header(VERSION).is_some_and(|version| *version >= *CLOSING_CANCELS) => HttpOutcome::Cancelled,
        true => HttpOutcome::Disconnected,
        false => exchange.outcome(status.is_some(), &ArchiveFacts::default()),
    };
    let ids = request.as_ref().filter(|_| outcome != HttpOutcome::Done).and_then(|request| request.get("ids"));
    let ids = ids.into_iter().flat_map(elements).map(|id| String::from_utf8_lossy(id).into()).collect();
    let reason = outcome.closing().map(str::to_owned).or_else(|| Some(object.string("error")?.into_owned()));
    let exchange = request.is_some().then(|| HttpExchange {
        method: exchange.method.clone(),
        url: of_request("url"),
        reason: reason.unwrap_or_default(),
    });
    Some(Http { status, outcome, ids, exchange })
}
