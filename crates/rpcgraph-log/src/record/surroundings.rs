//! Words and members that state the time, the sender or the direction of a message.

use super::colours::without_colours;
use super::decoder::trim_end;
use super::object::{RawObject, unescape};
use super::times;
use super::{Direction, Record, Sender, Time};
use oxsdatatypes::Decimal;
use std::borrow::Cow;

/// Members that state the time, the most reliable first.
pub(super) const TIMES: [&str; 14] = [
    "time",
    "ts",
    "timestamp",
    "@timestamp",
    "timeUnixNano",
    "observedTimeUnixNano",
    "asctime",
    "datetime",
    "t",
    "instant",
    "@t",
    "_time",
    "timestampMs",
    "timestamp_ms",
];

/// The member that states the date, if another member states the time of day.
const DATE: &str = "date";

/// Members that state the sender or the direction.
pub(super) const SENDERS: [&str; 6] = ["direction", "dir", "sender", "from", "sent_by", "sentBy"];

/// Adds the facts that the members of an object state to a record.
pub(super) fn with_facts<'r>(object: &RawObject<'_>, record: Record<'r>) -> Record<'r> {
    let words = || SENDERS.iter().filter_map(|name| object.string(name));
    let sender = words().find_map(|word| named_side(&word));
    let direction = if sender.is_none() { words().find_map(|word| named_direction(&word)) } else { None };
    Record { time: time_within(object), sender, direction, ..record }
}

/// Returns the time that the members of an object state.
fn time_within(object: &RawObject<'_>) -> Option<Time> {
    let time = TIMES.iter().find_map(|name| times::any(&text(object, name)?));
    let time = time.or_else(|| {
        let date = text(object, DATE);
        TIMES.iter().find_map(|name| times::of_day(date.as_deref(), &text(object, name)?))
    });
    time.or_else(|| instant(&object.object("instant")?))
}

/// Returns the time in a text.
fn time_in_front(text: &[u8]) -> Option<Time> {
    let text = without_colours(trim_end(text));
    let text = String::from_utf8_lossy(&text);
    let stated = |names: &'static [&str]| {
        pairs(&text).filter(|(name, _)| names.contains(name)).map(|(_, value)| value.trim_matches('"'))
    };
    let date = || stated(&[DATE]).next().map(str::as_bytes);
    stated(&TIMES)
        .find_map(|value| times::any(value.as_bytes()))
        .or_else(|| stated(&TIMES).find_map(|value| times::of_day(Some(date()?), value.as_bytes())))
        .or_else(|| times::first(text.as_bytes()))
}

/// Parses Log4j's `{"epochSecond":1767607200,"nanoOfSecond":123000000}`.
pub(super) fn instant(object: &RawObject<'_>) -> Option<Time> {
    let nanoseconds = object.get("nanoOfSecond").map_or(Some(Decimal::from(0)), times::number)?;
    times::epoch(times::number(object.get("epochSecond")?)?.checked_add(nanoseconds.checked_div(1_000_000_000)?)?)
}

/// Returns the names and values of the words `name=value` in a text.
fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    // Most texts have none.
    let paired = Some(text).filter(|text| text.contains('='));
    paired.into_iter().flat_map(str::split_whitespace).filter_map(|word| word.split_once('='))
}

/// The number of bytes of a text line that are searched for its time.
const STATED: usize = 64;

/// Returns the time in a line that is not a message: in a member of an object, or at the start of a text.
pub(crate) fn stated_time(line: &[u8]) -> Option<Time> {
    let line = line.trim_ascii_start();
    match RawObject::parse(line) {
        Some(object) => time_within(&object),
        None => time_in_front(&line[..line.len().min(STATED)]),
    }
}

/// Words, in any case, with what they mean.
type Meanings<T> = [(T, &'static [&'static str]); 2];

const DIRECTIONS: Meanings<Direction> = [
    (
        Direction::Out,
        &[
            "out", "output", "send", "sent", "sends", "sending", "outgoing", "outbound", "egress", "tx", "write",
            "wrote", "writing",
        ],
    ),
    (
        Direction::In,
        &[
            "in",
            "input",
            "recv",
            "receive",
            "received",
            "receives",
            "receiving",
            "incoming",
            "inbound",
            "ingress",
            "rx",
            "read",
            "reading",
        ],
    ),
];

const SIDES: Meanings<Sender> = [
    (Sender::Client, &["client", "fromclient", "toserver", "clienttoserver", "ctos", "c2s", "clientsays"]),
    (Sender::Server, &["server", "fromserver", "toclient", "servertoclient", "stoc", "s2c", "serversays"]),
];

fn meaning<T: Copy>(word: &str, meanings: &Meanings<T>) -> Option<T> {
    meanings.iter().find(|(_, names)| names.iter().any(|name| name.eq_ignore_ascii_case(word))).map(|(it, _)| *it)
}

/// The arrows away from the writer of a log, and those to it, beside `>` and `<`: to the right and up, and pictures of trays.
const ARROWS_OUT: [char; 7] = ['→', '►', '▶', '➡', '⬆', '↑', '📤'];
const ARROWS_IN: [char; 7] = ['←', '◄', '◀', '⬅', '⬇', '↓', '📥'];
/// Chooses a picture in colours for the character before it.
const PICTURE: char = '\u{fe0f}';

/// True for a character of arrows such as `-->` and `→`.
pub(super) fn is_of_arrow(c: char) -> bool {
    is_shaft(c) || points_out(c) || points_in(c) || c == PICTURE
}

fn is_shaft(c: char) -> bool {
    "-=".contains(c)
}

fn points_out(c: char) -> bool {
    c == '>' || ARROWS_OUT.contains(&c)
}

fn points_in(c: char) -> bool {
    c == '<' || ARROWS_IN.contains(&c)
}

/// Returns the direction of an arrow: away from the writer of the log, as in `>`, `-->`, `==>` and `→`, or to it. `=>` may
/// mean anything.
fn arrow(token: &str) -> Option<Direction> {
    let token = token.trim_end_matches(PICTURE);
    match token {
        "=>" | "<=" => None,
        _ if token.ends_with(points_out) && token.chars().all(|c| is_shaft(c) || points_out(c)) => Some(Direction::Out),
        _ if token.starts_with(points_in) && token.chars().all(|c| is_shaft(c) || points_in(c)) => Some(Direction::In),
        _ => None,
    }
}

/// Replaces each arrow to the right with `to`. `None` if there is an arrow to the left.
fn with_words_for_arrows(text: &str) -> Option<Cow<'_, str>> {
    if text.bytes().all(|byte| byte.is_ascii() && !matches!(byte, b'<' | b'>')) {
        return Some(text.into());
    }
    (!text.contains("<-") && !text.contains('←')).then(|| text.replace("->", " to ").replace('→', " to ").into())
}

/// Returns the characters of a number or a string.
fn text<'a>(object: &RawObject<'a>, name: &str) -> Option<Cow<'a, [u8]>> {
    let value = object.get(name)?;
    unescape(value).or(Some(value.into()))
}

/// Returns the direction that a word about a message names.
pub(super) fn named_direction(word: &str) -> Option<Direction> {
    let word = word.trim();
    arrow(word).or_else(|| meaning(word, &DIRECTIONS))
}

/// Returns the side that a word names as the sender of a message. Words about the writer of the log (`in`, `sent`) do
/// not name a side.
pub(super) fn named_side(word: &str) -> Option<Sender> {
    if word.len() > 32 {
        return None;
    }
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return meaning(word, &SIDES);
    }
    let mut letters = with_words_for_arrows(word)?.into_owned();
    letters.retain(|c| c.is_ascii_alphanumeric());
    meaning(&letters, &SIDES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_text() {
        let at = |text: &str| times::date_time(text.as_bytes());
        let clock = |text: &str| text.parse().ok().map(Time::Clock);
        for (text, time) in [
            ("2026-01-05 10:00:00,123 - mcp.server - DEBUG - Received message: ", at("2026-01-05T10:00:00.123")),
            ("2026/01/05 10:00:00.5 [Server Says]", at("2026-01-05T10:00:00.5")),
            ("I0105 10:00:00.123456   77 rpc.go:12] server→client ", clock("10:00:00.123456")),
            ("<14>Jan  5 10:00:00 host mcp.client[7]: ", clock("10:00:00")),
            ("time=2026-01-05T10:00:00Z dir=c2s payload=", at("2026-01-05T10:00:00Z")),
            ("\x1b[2m2026-01-05T10:00:00Z\x1b[0m from \x1b[1;3mclient\x1b[0m: ", at("2026-01-05T10:00:00Z")),
            ("ts=1767607200 from server payload=\"", at("2026-01-05T10:00:00Z")),
            ("{\"time\":\"10:00:00\",\"date\":\"2026-01-05\"}", at("2026-01-05T10:00:00")),
            ("00:11:22:33 99:00:00 mcp.client.server client <- server ", None),
        ] {
            assert_eq!(stated_time(text.as_bytes()), time, "{text}");
        }
    }

    #[test]
    fn arrows_are_directions() {
        for arrow in [">", "-->", "==>", "→", "⬆️", "➡️", "📤"] {
            assert_eq!(named_direction(arrow), Some(Direction::Out), "{arrow}");
        }
        for arrow in ["<<<", "<--", "←", "⬇", "⬅️", "📥"] {
            assert_eq!(named_direction(arrow), Some(Direction::In), "{arrow}");
        }
        for other in ["", "=", "=>", "<=", "<->", "→←", "--", "\u{fe0f}"] {
            assert_eq!(named_direction(other), None, "{other}");
        }
    }

    #[test]
    fn sides_that_are_named() {
        for (word, side) in [
            ("server -> client", Some(Sender::Server)),
            ("client_to_server", Some(Sender::Client)),
            ("client <- server", None),
            ("in", None),
            ("outgoing", None),
            ("sent", None),
            ("observer", None),
        ] {
            assert_eq!(named_side(word), side, "{word}");
        }
    }
}
