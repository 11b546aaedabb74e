//! The surroundings of a message, which state its time, its sender and its session.

use super::colours::without_colours;
use super::decoder::trim_end;
use super::methods::known_method;
use super::object::{RawObject, scalar, unescape};
use super::times;
use super::{Direction, Record, Sender, Time};
use oxsdatatypes::Decimal;
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;

/// The place of the value that names the session of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SessionKey {
    pub place: KeyPlace,
    /// The digest of the value that stands for the input's own session.
    pub own: Option<u64>,
}

/// The place of a [`SessionKey`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum KeyPlace {
    /// A member of the objects around messages.
    Member(&'static str),
    /// A word in the text before messages, counted from 0.
    Word(usize),
}

impl SessionKey {
    /// Returns the value in the text before a message, if the place is a word in that text.
    pub(super) fn in_front(self, text: &[u8]) -> Option<&[u8]> {
        match self.place {
            KeyPlace::Word(nth) => word(text, nth),
            KeyPlace::Member(_) => None,
        }
    }

    /// True if the value stands for the input's own session.
    pub(super) fn is_own(self, value: &str) -> bool {
        self.own == Some(digest(value.as_bytes()))
    }
}

/// Returns the digest of a value.
pub(super) fn digest(value: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Members that state the time, the most reliable first.
const TIMES: [&str; 9] =
    ["time", "ts", "timestamp", "@timestamp", "timeUnixNano", "observedTimeUnixNano", "asctime", "datetime", "t"];

/// The member that states the date, if another member states the time of day.
const DATE: &str = "date";

/// Members that state the sender, if their value names a side.
const SENDERS: [&str; 6] = ["direction", "dir", "sender", "from", "sent_by", "sentBy"];

/// Members with a text that may state the direction of a message.
const EVENTS: [&str; 3] = ["msg", "message", "event"];

/// Members that state how long an answer took: in milliseconds, and with a unit. The last two names may mean something
/// else, unless the request is there too.
const MILLISECONDS: [&str; 6] = ["latency_ms", "duration_ms", "elapsed_ms", "latencyMs", "durationMs", "elapsedMs"];
const DURATIONS: [&str; 5] = ["duration", "took", "latency", "elapsed", "t"];

/// A text with a direction is shorter than this, in bytes, and is not a message.
const EVENT: usize = 128;

/// The facts around a message.
#[derive(Clone, Copy, Default)]
pub(super) struct Surroundings<'a> {
    pub time: Option<Time>,
    pub sender: Option<Sender>,
    /// Set only if the sender is not named.
    pub direction: Option<Direction>,
    /// The place of the session key, and its value.
    pub key: Option<SessionKey>,
    pub session: Option<&'a [u8]>,
}

impl<'a> Surroundings<'a> {
    /// Returns the facts in the object, and otherwise the outer facts.
    pub(super) fn within(self, object: &RawObject<'a>) -> Self {
        let time = TIMES.iter().find_map(|name| times::any(&text(object, name)?));
        let time = time.or_else(|| {
            let date = text(object, DATE);
            TIMES.iter().find_map(|name| times::of_day(date.as_deref(), &text(object, name)?))
        });
        let time = time.or_else(|| instant(&object.object("instant")?));
        let sender = SENDERS.iter().find_map(|name| named_side(&object.string(name)?));
        let stated = || SENDERS.iter().find_map(|name| named_direction(&object.string(name)?));
        let event = |name: &str| object.get(name).filter(|text| text.len() < EVENT && !text.contains(&b'{'));
        let told = || EVENTS.iter().find_map(|name| last_direction(&String::from_utf8_lossy(event(name)?)));
        let own = self.key.and_then(|key| match key.place {
            KeyPlace::Member(name) => object.get(name),
            KeyPlace::Word(_) => None,
        });
        let session = own.or(self.session);
        Self { session, ..self.or_outer(time, sender, || stated().or_else(told)) }
    }

    /// Returns the given facts, and otherwise the outer facts.
    fn or_outer(self, time: Option<Time>, sender: Option<Sender>, direction: impl Fn() -> Option<Direction>) -> Self {
        let sender = sender.or(self.sender);
        let direction = if sender.is_none() { direction().or(self.direction) } else { None };
        Self { time: time.or(self.time), sender, direction, ..self }
    }

    /// Returns the facts in the text before a message, of which the last bytes count, and otherwise the outer facts.
    pub(super) fn in_front(self, text: &'a [u8]) -> Self {
        let session = self.key.and_then(|key| key.in_front(&text[..text.len().min(FRONT)])).or(self.session);
        let text = without_colours(trim_end(&text[text.len().saturating_sub(FRONT)..]));
        let text = String::from_utf8_lossy(&text);
        let stated = |names: &'static [&str]| {
            pairs(&text).filter(|(name, _)| names.contains(name)).map(|(_, value)| value.trim_matches('"'))
        };
        let date = || stated(&[DATE]).next().map(str::as_bytes);
        let time = stated(&TIMES)
            .find_map(|value| times::any(value.as_bytes()))
            .or_else(|| stated(&TIMES).find_map(|value| times::of_day(Some(date()?), value.as_bytes())))
            .or_else(|| times::first(text.as_bytes()));
        let sender = stated(&SENDERS).find_map(named_side).or_else(|| last_words(&text));
        let direction = || stated(&SENDERS).find_map(named_direction).or_else(|| last_direction(&text));
        Self { session, ..self.or_outer(time, sender, direction) }
    }

    /// Adds the facts to a record.
    pub(super) fn of<'r>(self, record: Record<'r>) -> Record<'r> {
        Record {
            time: self.time,
            sender: self.sender,
            direction: self.direction,
            session: self.session_key(),
            ..record
        }
    }

    /// Returns the key of the session.
    pub(super) fn session_key<'s>(self) -> Option<Cow<'s, str>> {
        let is_own = |key: &str| self.key.is_some_and(|place| place.is_own(key));
        self.session.and_then(scalar).filter(|key| !key.is_empty() && !is_own(key)).map(Cow::Owned)
    }
}

/// Parses Log4j's `{"epochSecond":1767607200,"nanoOfSecond":123000000}`.
fn instant(object: &RawObject<'_>) -> Option<Time> {
    let nanoseconds = object.get("nanoOfSecond").map_or(Some(Decimal::from(0)), times::number)?;
    times::epoch(times::number(object.get("epochSecond")?)?.checked_add(nanoseconds.checked_div(1_000_000_000)?)?)
}

/// Returns the time that the answer in an object took; `is_exchange` is true if the request is there too.
pub(super) fn took(object: &RawObject<'_>, is_exchange: bool) -> Option<Decimal> {
    let milliseconds = MILLISECONDS.iter().find_map(|name| times::duration(object.get(name)?));
    let with_units = || durations(is_exchange).find_map(|name| times::with_units(&object.string(name)?));
    // As in HTTP Archives.
    let archived = || times::duration(object.get("time").filter(|_| object.has("startedDateTime"))?);
    // The Elastic Common Schema counts in nanoseconds.
    let event = || object.get("event.duration").or_else(|| object.object("event")?.get("duration"));
    let in_event = || times::duration(event()?)?.checked_div(1_000_000);
    milliseconds.or_else(with_units).or_else(archived).or_else(in_event)
}

/// Returns the names and values of the words `name=value` in a text.
fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    // Most texts have none.
    let paired = Some(text).filter(|text| text.contains('='));
    paired.into_iter().flat_map(str::split_whitespace).filter_map(|word| word.split_once('='))
}

/// Returns the time that an answer took, from a text with `t=1.4ms`, `took 2ms` or `in 510ms`.
pub(super) fn took_in_text(text: &[u8], is_exchange: bool) -> Option<Decimal> {
    let text = String::from_utf8_lossy(&text[text.len().saturating_sub(FRONT)..]);
    let words = text.split_whitespace().scan("", |before, word| Some((mem::replace(before, word), word)));
    // `retry in 5s, received` is about something else.
    let said = words.filter(|(before, word)| *before == "took" || *before == "in" && !word.ends_with(','));
    let named = pairs(&text).filter(|(name, _)| durations(is_exchange).any(|known| known == *name));
    said.chain(named).find_map(|(_, value)| times::with_units(value.trim_matches(['"', '.', ',', ':', '(', ')'])))
}

fn durations(is_exchange: bool) -> impl Iterator<Item = &'static str> {
    DURATIONS.into_iter().take(if is_exchange { DURATIONS.len() } else { 3 })
}

/// The number of bytes of a text line that are searched for its time.
const STATED: usize = 64;

/// Returns the time in a line that is not a message: in a member of an object, or at the start of a text.
pub(crate) fn stated_time(line: &[u8]) -> Option<Time> {
    let line = line.trim_ascii_start();
    match RawObject::parse(line) {
        Some(object) => Surroundings::default().within(&object).time,
        None => Surroundings::default().in_front(&line[..line.len().min(STATED)]).time,
    }
}

/// The number of bytes of the text before a message that are searched.
const FRONT: usize = 1024;

/// The number of words before a message that are searched for a name.
pub(super) const WORDS: usize = 12;

/// True for the name of a level of logging.
pub(super) fn is_level(word: &str) -> bool {
    const LEVELS: [&str; 9] = ["trace", "debug", "info", "notice", "warn", "warning", "error", "fatal", "critical"];
    LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word))
}

/// Returns the word with the index `nth` in the text before a message, if it may be the name of a writer: not a time, a
/// level, a direction or a method.
pub(super) fn word(text: &[u8], nth: usize) -> Option<&[u8]> {
    let mut words = text.split(|byte| byte.is_ascii_whitespace() || b":|[](){}\"',;".contains(byte));
    let word = words.by_ref().filter(|word| word.iter().any(u8::is_ascii_alphanumeric)).nth(nth)?;
    let said = str::from_utf8(word).ok()?;
    let is_name = said.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && !said.contains(['/', '<', '>'])
        && !is_level(said)
        && named_direction(said).is_none()
        && known_method(said).is_none();
    // Other pairs need not be names.
    let is_pair = said
        .split_once('=')
        .is_some_and(|(name, _)| !["conn", "connection", "logger", "service", "session"].contains(&name));
    (is_name && !is_pair).then_some(word)
}

/// Returns the text without the name of a value at its end, which is not one of its words.
fn without_name(text: &str) -> &str {
    let named = text.trim_end_matches('"').strip_suffix('=');
    named.map_or(text, |rest| rest.rsplit_once(' ').map_or("", |(before, _)| before))
}

/// Returns the sender that the last words before a message name, as in `from client:` and `[server -> client]`. A bare
/// `client` may be the name of the program.
fn last_words(text: &str) -> Option<Sender> {
    let text = with_words_for_arrows(without_name(text))?;
    let words = text.rsplit(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<_> = words.take(3).collect();
    let ends = (1..=words.len())
        .filter_map(|count| words.get(..count))
        .map(|last| last.iter().rev().copied().collect::<String>());
    ends.filter(|words| !["client", "server"].iter().any(|name| name.eq_ignore_ascii_case(words)))
        .find_map(|words| meaning(&words, &SIDES))
}

/// Words, in any case, with what they mean.
type Meanings<T> = [(T, &'static [&'static str]); 2];

const DIRECTIONS: Meanings<Direction> = [
    (
        Direction::Out,
        &[
            "out", "send", "sent", "sends", "sending", "outgoing", "outbound", "egress", "tx", "write", "wrote",
            "writing",
        ],
    ),
    (
        Direction::In,
        &[
            "in",
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

/// Returns the direction of an arrow: away from the writer of the log, as in `>`, `-->`, `==>` and `→`, or to it. `=>` may
/// mean anything.
fn arrow(token: &str) -> Option<Direction> {
    let is_of = |marks: &str| !token.is_empty() && token.chars().all(|mark| marks.contains(mark));
    match token {
        "=>" | "<=" => None,
        _ if token.ends_with(['>', '→', '►', '▶']) && is_of("-=>→►▶") => Some(Direction::Out),
        _ if token.starts_with(['<', '←', '◄', '◀']) && is_of("-=<←◄◀") => Some(Direction::In),
        _ => None,
    }
}

/// Returns the direction that the last words before a message state, as in `Received message:`, `recv=`, `[-->]` and `TX`. A
/// bare `in` may be any word; `IN`, `in:` and `[in]` are directions. `None` if an arrow contradicts a word.
fn last_direction(text: &str) -> Option<Direction> {
    let tokens = || {
        text.split_whitespace().rev().take(2).map(|token| (token, token.trim_matches(['[', ']', '(', ')', ':', '|'])))
    };
    let words = text.rsplit(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let is_mark = |(token, bare): &(&str, &str)| token != bare || bare.chars().all(|c| c.is_ascii_uppercase());
    let word = words.take(3).filter(|word| word.len() > 3).find_map(named_direction);
    match (tokens().find_map(|(_, bare)| arrow(bare)), word) {
        (Some(arrow), Some(word)) if arrow != word => None,
        (None, None) => tokens().filter(is_mark).find_map(|(_, bare)| named_direction(bare)),
        (arrow, word) => arrow.or(word),
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
    let mut letters = with_words_for_arrows(word)?.into_owned();
    letters.retain(|c| c.is_ascii_alphanumeric());
    meaning(&letters, &SIDES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_times_in_front() {
        let at = |text: &str| times::date_time(text.as_bytes());
        let clock = |text: &str| text.parse().ok().map(Time::Clock);
        let (client, server) = (Some(Sender::Client), Some(Sender::Server));
        let table = [
            ("2026-01-05 10:00:00,123 - mcp.server - DEBUG - Received message: ", at("2026-01-05T10:00:00.123"), None),
            ("2026-01-05T10:00:00Z Message from client: ", at("2026-01-05T10:00:00Z"), client),
            ("2026/01/05 10:00:00.5 [Server Says]", at("2026-01-05T10:00:00.5"), server),
            ("[10:00:00] client -> server: ", clock("10:00:00"), client),
            ("[10:00:00] S->C ", clock("10:00:00"), server),
            ("I0105 10:00:00.123456   77 rpc.go:12] server→client ", clock("10:00:00.123456"), server),
            ("<14>Jan  5 10:00:00 host mcp.client[7]: ", clock("10:00:00"), None),
            ("time=2026-01-05T10:00:00Z dir=c2s payload=", at("2026-01-05T10:00:00Z"), client),
            ("\x1b[2m2026-01-05T10:00:00Z\x1b[0m from \x1b[1;3mclient\x1b[0m: ", at("2026-01-05T10:00:00Z"), client),
            ("ts=1767607200 from server payload=\"", at("2026-01-05T10:00:00Z"), server),
            ("00:11:22:33 99:00:00 mcp.client.server client <- server ", None, None),
            ("recv: ", None, None),
        ];
        for (text, time, sender) in table {
            let facts = Surroundings::default().in_front(text.as_bytes());
            assert_eq!((facts.time, facts.sender), (time, sender), "{text}");
        }
    }

    #[test]
    fn ways_that_messages_went() {
        let (out, back) = (Some(Direction::Out), Some(Direction::In));
        let table = [
            ("mcp.server - DEBUG - Received message: ", back),
            ("jsonrpsee::ws: send: ", out),
            ("TRACE x::ws: recv=\"", back),
            ("lsp_server::msg: > ", out),
            ("[DEBUG] <-- ", back),
            ("[-->] ", out),
            ("<== ", back),
            ("x => ", None),
            ("Received message -> ", None),
            ("10:00:00 TX ", out),
            ("(in) ", back),
            ("OUT: ", out),
            ("rx: ", back),
            ("log in ", None),
            ("[jsonrpc] e[07:25:31.379] --> initialize[1] ", out),
            ("pw:protocol SEND ► ", out),
            ("pw:protocol ◀ RECV ", back),
            ("level=DEBUG dir=out payload=", out),
            ("client -> server: ", None),
            ("written in java: ", None),
            ("payload=", None),
        ];
        for (text, direction) in table {
            assert_eq!(Surroundings::default().in_front(text.as_bytes()).direction, direction, "{text}");
        }
        for (json, direction) in [
            (r#"{"dir":"in","msg":"sent"}"#, back),
            (r#"{"direction":"outgoing"}"#, out),
            (r#"{"msg":"rpc","event":"request received"}"#, back),
            (r#"{"from":"client","dir":"in"}"#, None),
            (r#"{"dir":"up","msg":"in"}"#, None),
            (r#"{"message":"{\"method\":\"send\"}"}"#, None),
        ] {
            let object = RawObject::parse(json.as_bytes()).unwrap();
            assert_eq!(Surroundings::default().within(&object).direction, direction, "{json}");
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
