//! `zed-acp`: what the Zed editor copies of its log of agents (ACP). There is no envelope; it is put together again.

use super::about::{About, Sign, Window};
use super::asked::Asked;
use super::elements::{first_element, object_array};
use super::marked::{Found, More};
use super::object::{NewObject, RawObject, offset_in, plain_name, side};
use super::{Flags, LogLine, Record, Sender};

pub(super) const ABOUT: About = About {
    summary: "an array of `{\"_direction\":\"outgoing\",\"_type\":\"request\",\"id\":0,\"method\":\"initialize\",\"params\":{…}}`",
    carries: "sender",
    sign: Sign::Value(detect),
    decoder: |limit| {
        let mut asked = Asked::default();
        object_array(limit, None, move |entry, text, more| open(entry, text, &mut asked, more))
    },
};

/// The first value is an array whose first element has a direction and a type.
fn detect(window: &Window<'_>) -> bool {
    first_element(window).is_some_and(|entry| entry.has("_direction") && entry.has("_type"))
}

/// The message of an entry. A response names the method of its request, and has its result under `params`; where the log has
/// no such request, the name is text.
fn open<'a>(entry: &RawObject<'a>, text: &'a [u8], asked: &mut Asked, more: &mut More) -> Option<Found<'a>> {
    let is_response = entry.get("_type")? == b"\"response\"";
    let is_other = entry.has("result") || entry.has("error");
    let sender = side(entry.get("_direction")?, [b"\"outgoing\"", b"\"incoming\""]);
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
    let (is_client, methods) = (sender == Some(Sender::Client), entry.all("method").collect::<Vec<_>>());
    let is_news = asked.is_news(is_response, (is_client == is_response, entry.get("id"), &methods));
    let named = methods.into_iter().filter(|_| is_news);
    more.entries.extend(named.map(|method| (offset_in(text, method), LogLine::new(method.to_vec()).into())));
    Some((0, record.into()))
}
