//! `zed-acp`: the log of agents (ACP), as the Zed editor copies it. It lacks envelopes, which are reconstructed.

use super::decoder::Decoder;
use super::elements::object_array;
use super::lines::{Extras, FoundEntry};
use super::object::{ObjectBuilder, RawObject, offset_in, plain_name, side, unescape};
use super::times::number;
use super::unanswered::UnansweredRequests;
use super::{Flags, LogLine, Record, Sender};

pub(super) fn decoder() -> Box<dyn Decoder> {
    let mut asked = UnansweredRequests::default();
    object_array(move |entry, text, more| open(entry, text, &mut asked, more))
}

/// True if a value has the members of an error, and no others.
fn is_error(value: &[u8]) -> bool {
    RawObject::parse(value).is_some_and(|error| {
        let is_own = |name: &[u8]| [&b"code"[..], b"message", b"data"].contains(&name);
        error.get("code").is_some_and(|code| number(code).is_some())
            && error.string("message").is_some()
            && error.members().all(|(name, _)| is_own(name))
    })
}

/// Returns the message of an entry. A response names the method of its request, and has its result or error under
/// `params`; if the log lacks that request, the name is text. A notification has `"id": null`, and an entry without
/// params has `"params": null`. The agent's output to standard error is text.
fn open<'a>(
    entry: &RawObject<'a>,
    text: &'a [u8],
    asked: &mut UnansweredRequests,
    more: &mut Extras,
) -> Option<FoundEntry<'a>> {
    let kind = entry.get("_type")?;
    let (is_response, is_notification) = (kind == b"\"response\"", kind == b"\"notification\"");
    if entry.get("_direction") == Some(b"\"stderr\"")
        && let Some((line, params)) = entry.get("params").and_then(|params| Some((unescape(params)?, params)))
    {
        return Some((offset_in(text, params) + 1, LogLine::new(line).into()));
    }
    let is_other = entry.has("result") || entry.has("error");
    let sender = side(entry.get("_direction")?, [b"\"outgoing\"", b"\"incoming\""]);
    let is_type = |kind: &[u8]| matches!(kind, b"\"request\"" | b"\"notification\"" | b"\"response\"");
    let mut message = ObjectBuilder::new();
    for (name, value) in entry.members() {
        let name = match plain_name(name)? {
            "_direction" if sender.is_some() => continue,
            "_type" if is_type(value) => continue,
            "method" if is_response => continue,
            "id" if is_notification && value == b"null" => continue,
            "params" if is_response && !is_other => {
                if is_error(value) {
                    "error"
                } else {
                    "result"
                }
            }
            "params" if value == b"null" => continue,
            name => name,
        };
        message.member(name, value);
    }
    let flags = Flags { reconstructed: true, ..Flags::default() };
    let record = Record { sender, flags, ..Record::new(message.end()) };
    let (is_client, methods) = (sender == Some(Sender::Client), entry.all("method").collect::<Vec<_>>());
    let is_unmatched = asked.note(is_response, (is_client == is_response, entry.get("id"), &methods));
    let named = methods.into_iter().filter(|_| is_unmatched);
    more.entries.extend(named.map(|method| (offset_in(text, method), LogLine::new(method.to_vec()).into())));
    Some((0, record.into()))
}
