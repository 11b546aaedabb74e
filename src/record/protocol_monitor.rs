//! `protocol-monitor`: what Chrome's Protocol monitor saves of the messages of DevTools.

use super::about::{About, Sign, Window};
use super::elements::{ArrayDecoder, first_element};
use super::marked::Found;
use super::object::{NewObject, RawObject, plain_name, side};
use super::times::{duration, epoch, from_milliseconds, later, number};
use super::{Entry, Flags, Record, Sender};

pub(super) const ABOUT: About = About {
    name: "protocol-monitor",
    summary: "an array of `{\"id\":1,\"method\":\"…\",\"params\":{},\"type\":\"send\"}`; older: of `{\"id\":1,\"method\":\"…\",\"params\":{},\"result\":{},\"requestTime\":…,\"elapsedTime\":…}`",
    carries: "sender; older: time, latency",
    sample: include_str!("samples/protocol-monitor.log"),
    sign: Sign::Value(detect),
    decoder: |limit| ArrayDecoder::of_objects(limit, None, Box::new(records)),
};

/// The first value is an array whose first element was sent or received, or has the time of a request.
fn detect(window: &Window<'_>) -> bool {
    first_element(window).is_some_and(|entry| {
        let is_message = entry.has("method") || entry.has("id");
        is_message && !entry.has("jsonrpc") && (sender(&entry).is_some() || entry.has("requestTime"))
    })
}

fn sender(entry: &RawObject<'_>) -> Option<Sender> {
    side(entry.get("type")?, [b"\"send\"", b"\"recv\""])
}

/// A message with the member `type`, or a call with its answer.
fn records(entry: &RawObject<'_>, text: &[u8], limit: usize) -> Option<Vec<Found<'static>>> {
    if let Some(sender) = sender(entry) {
        let record = Record { sender: Some(sender), ..Record::within(limit, text.to_vec()) };
        return Some(vec![(0, record.into())]);
    }
    let time = entry.get("requestTime").and_then(from_milliseconds).and_then(epoch);
    let latency = entry.get("elapsedTime").and_then(duration);
    let has_answer = entry.has("id") && (entry.has("result") || entry.has("error"));
    let [mut call, mut answer] = [NewObject::new(), NewObject::new()];
    for (name, value) in entry.members() {
        match plain_name(name)? {
            "requestTime" | "elapsedTime" if number(value).is_some() => {}
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
    // What has no id was sent by the browser.
    let sender = if entry.has("id") { Sender::Client } else { Sender::Server };
    let record = |sender, message: NewObject| Record { sender: Some(sender), flags, ..Record::new(message.end()) };
    let mut found = vec![(0, Entry::from(Record { time, ..record(sender, call) }).within(limit))];
    if has_answer {
        let time = time.zip(latency).and_then(|(time, latency)| later(time, latency));
        let answer = Record { time, latency, ..record(Sender::Server, answer) };
        found.push((0, Entry::from(answer).within(limit)));
    }
    Some(found)
}
