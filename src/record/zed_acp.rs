//! `zed-acp`: what the Zed editor copies of its log of agents (ACP). There is no envelope; it is put together again.

use super::about::{About, Sign, Window};
use super::elements::{ArrayDecoder, first_element};
use super::marked::Found;
use super::object::{NewObject, RawObject, plain_name};
use super::{Entry, Flags, Record, Sender};

pub(super) const ABOUT: About = About {
    name: "zed-acp",
    summary: "an array of `{\"_direction\":\"outgoing\",\"_type\":\"request\",\"id\":0,\"method\":\"initialize\",\"params\":{…}}`",
    carries: "sender",
    sample: include_str!("samples/zed-acp.log"),
    sign: Sign::Value(detect),
    decoder: |limit| ArrayDecoder::of_objects(limit, None, records),
};

/// The first value is an array whose first element has a direction and a type.
fn detect(window: &Window<'_>) -> bool {
    first_element(window).is_some_and(|entry| entry.has("_direction") && entry.has("_type"))
}

/// The message of an entry. A response names the method of its request, and has its result under `params`.
fn records(entry: &RawObject<'_>, _: &[u8], limit: usize) -> Option<Vec<Found<'static>>> {
    let is_response = entry.get("_type")? == b"\"response\"";
    let is_other = entry.has("result") || entry.has("error");
    let sender = match entry.get("_direction")? {
        b"\"outgoing\"" => Some(Sender::Client),
        b"\"incoming\"" => Some(Sender::Server),
        _ => None,
    };
    let is_type = |kind: &[u8]| matches!(kind, b"\"request\"" | b"\"notification\"" | b"\"response\"");
    let mut message = NewObject::new();
    for (name, value) in entry.members() {
        let name = match plain_name(name)? {
            "_direction" if sender.is_some() => continue,
            "_type" if is_type(value) => continue,
            "method" if is_response => continue,
            "params" if is_response && !is_other => "result",
            // The result of none.
            "params" if is_response && value == b"null" => continue,
            name => name,
        };
        message.member(name, value);
    }
    let flags = Flags { reconstructed: true, ..Flags::default() };
    let record = Record { sender, flags, ..Record::new(message.end()) };
    Some(vec![(0, Entry::from(record).within(limit))])
}
