//! `protocol-monitor`: the messages of DevTools that Chrome's Protocol monitor saves.

use super::decoder::Decoder;
use super::elements::object_array;
use super::lines::{Extras, FoundEntry};
use super::object::{ObjectBuilder, RawObject, plain_name, side};
use super::times::{duration, epoch, from_milliseconds, later, number};
use super::{Flags, Record, Sender};

pub(super) fn decoder() -> Box<dyn Decoder> {
    object_array(open)
}

fn sender(entry: &RawObject<'_>) -> Option<Sender> {
    side(entry.get("type")?, [b"\"send\"", b"\"recv\""])
}

/// Returns a message with the member `type`, or a call with its answer.
fn open<'a>(entry: &RawObject<'a>, text: &'a [u8], more: &mut Extras) -> Option<FoundEntry<'a>> {
    if let Some(sender) = sender(entry) {
        return Some((0, Record { sender: Some(sender), ..Record::new(text) }.into()));
    }
    let time = entry.get("requestTime").and_then(from_milliseconds).and_then(epoch);
    let latency = entry.get("elapsedTime").and_then(duration);
    let has_answer = entry.has("id") && (entry.has("result") || entry.has("error"));
    let [mut call, mut answer] = [ObjectBuilder::new(), ObjectBuilder::new()];
    for (name, value) in entry.members() {
        match plain_name(name)? {
            "requestTime" | "elapsedTime" if number(value).is_some() => {}
            // Chrome saves the params of an event as its result.
            "result" if !entry.has("id") => call.member("params", value),
            name @ ("result" | "error") => answer.member(name, value),
            name => {
                if has_answer && name == "id" {
                    answer.member(name, value);
                }
                call.member(name, value);
            }
        }
    }
    let flags = Flags { reconstructed: true, ..Flags::default() };
    // The browser sent messages without an id.
    let sender = if entry.has("id") { Sender::Client } else { Sender::Server };
    let record = |sender, message: ObjectBuilder| Record { sender: Some(sender), flags, ..Record::new(message.end()) };
    if has_answer {
        let time = time.zip(latency).and_then(|(time, latency)| later(time, latency));
        more.entries.push_back((0, Record { time, latency, ..record(Sender::Server, answer) }.into()));
    }
    Some((0, Record { time, ..record(sender, call) }.into()))
}
