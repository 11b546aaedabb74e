//! `socat`: the bytes of connections in chunks, as `socat -v` prints them. A head states the direction and length of a
//! chunk; the next head stands right behind it. A message may begin in one chunk and end in another.

use super::decoder::{Decoder, Step, leading_blanks, trim_end};
use super::lines::{Extras, FoundEntry, LineFormat, LineSplitter};
use super::rules::time;
use super::value::{Extent, value};
use super::{Direction, LogLine, Record, Time};
use memchr::memchr;
use regex::bytes::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

static HEAD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(HEADS).ok());
const HEADS: &str = r"(?-u)(?<way>[<>]) (?<time>\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d+)  length=(?<length>\d+) from=(?<from>\d+) to=(?<to>\d+)\r?\n";
/// The maximum size of a head.
const HEAD_SIZE: usize = 160;
/// The maximum number of connections that are known.
const CONNECTIONS: usize = 64;

pub(super) fn decoder() -> Box<dyn Decoder> {
    LineSplitter::boxed(Socat::default())
}

#[derive(Default)]
struct Socat {
    /// The number of connections before these, and the number of bytes of each direction.
    before: usize,
    connections: Vec<[u64; 2]>,
}

/// The bytes of one direction of a connection.
#[derive(Default)]
struct Stream {
    connection: usize,
    is_in: bool,
    bytes: Vec<u8>,
    /// The offset of the last chunk in them.
    chunk_start: usize,
    /// Offsets in the stream, the offsets in the log of the bytes there, and the times of their chunks.
    places: Vec<(usize, usize, Option<Time>)>,
}

impl LineFormat for Socat {
    /// Reads chunks up to one after which no message is unfinished.
    fn resume<'a>(&mut self, input: &'a [u8], end: bool, more: &mut Extras) -> Option<Step<'a>> {
        let (mut streams, mut at): (Vec<Stream>, usize) = (Vec::new(), 0);
        let mut connections = self.connections.clone();
        loop {
            let behind = at + leading_blanks(&input[at..]);
            let head = HEAD.as_ref()?.captures(&input[behind..input.len().min(behind + HEAD_SIZE)]);
            let Some(head) = head.filter(|head| head.get(0).is_some_and(|head| head.start() == 0)) else {
                // Text of the program itself ends the chunks.
                let is_line = end || input.len() >= behind + HEAD_SIZE || memchr(b'\n', &input[behind..]).is_some();
                match (is_line, at) {
                    (false, _) => return Some(Step::NeedMore),
                    (true, 0) => return None,
                    (true, _) => break,
                }
            };
            let text = |name: &str| head.name(name).map(|group| String::from_utf8_lossy(group.as_bytes()));
            let number = |name: &str| text(name)?.parse::<u64>().ok();
            let is_in = text("way")? == "<";
            let (length, from, to) = (usize::try_from(number("length")?).ok()?, number("from")?, number("to")?);
            let connection = connection(&mut connections, usize::from(is_in), from);
            connections[connection][usize::from(is_in)] = to + 1;
            let start = behind + head.get(0)?.end();
            let stream = match streams.iter().position(|one| (one.connection, one.is_in) == (connection, is_in)) {
                Some(known) => &mut streams[known],
                None => {
                    streams.push(Stream { connection, is_in, ..Stream::default() });
                    streams.last_mut()?
                }
            };
            match stream.chunk(input, start, length, end, text("time").and_then(|text| time(&text))) {
                Some(chunk_end) => at = chunk_end,
                None => return Some(Step::NeedMore),
            }
            if streams.iter().all(|stream| parts(&stream.bytes, false).is_some()) {
                break;
            }
        }
        let mut found: Vec<_> = streams.iter().flat_map(|stream| stream.entries(self.before)).collect();
        found.sort_by_key(|(start, _)| *start);
        self.connections = connections;
        let old = self.connections.len().saturating_sub(CONNECTIONS);
        self.connections.drain(..old);
        self.before += old;
        match more.first_of(found) {
            Some(first) => Some(more.give(first, at)),
            None => Some(Step::Skip { consumed: at }),
        }
    }
}

/// Returns the connection of a chunk: the one whose bytes it continues, or else a new one.
fn connection(connections: &mut Vec<[u64; 2]>, way: usize, from: u64) -> usize {
    let known = connections.iter().position(|counts| counts[way] == from);
    known.or_else(|| connections.len().checked_sub(1).filter(|_| from > 0)).unwrap_or_else(|| {
        connections.push([0; 2]);
        connections.len() - 1
    })
}

impl Stream {
    /// Adds the chunk that begins at `start`, and returns its end; `None` if the log has to go on first.
    fn chunk(&mut self, log: &[u8], start: usize, length: usize, end: bool, time: Option<Time>) -> Option<usize> {
        let chunk_end = self.unescape(log, start, length, time);
        let behind = &log[chunk_end + leading_blanks(&log[chunk_end..])..];
        let is_followed = match behind {
            [] => end || matches!(self.bytes.last(), Some(b'}' | b']' | b'\n')),
            [b'<' | b'>'] | [b'<' | b'>', b' ', ..] => true,
            // A line of the program itself.
            [b'0'..=b'9', _, _, _, b'/', ..] => true,
            _ => false,
        };
        if is_followed && self.bytes.len() - self.chunk_start == length {
            return Some(chunk_end);
        }
        // Line ends were converted, or another version escapes other bytes: the chunk ends with the next head.
        let next = HEAD.as_ref()?.find(&log[start..]).map(|head| start + head.start());
        let chunk_end = next.or_else(|| end.then_some(log.len()))?;
        self.bytes.truncate(self.chunk_start);
        self.places.retain(|(at, ..)| *at < self.chunk_start);
        match chunk_end - start == length {
            true => {
                self.places.push((self.chunk_start, start, time));
                self.bytes.extend_from_slice(&log[start..chunk_end]);
            }
            false => _ = self.unescape(&log[..chunk_end], start, usize::MAX, time),
        }
        Some(chunk_end)
    }

    /// Adds a number of bytes, and returns their end in the log.
    fn unescape(&mut self, log: &[u8], start: usize, length: usize, time: Option<Time>) -> usize {
        let mut at = start;
        self.chunk_start = self.bytes.len();
        self.places.push((self.chunk_start, at, time));
        while self.bytes.len() - self.chunk_start < length && at < log.len() {
            // Of the bytes that `socat` escapes, JSON text holds these.
            let escaped = match log[at..] {
                [b'\\', b'\\', ..] => Some(b'\\'),
                [b'\\', b'r', ..] => Some(b'\r'),
                [b'\\', b't', ..] => Some(b'\t'),
                _ => None,
            };
            self.bytes.push(escaped.unwrap_or(log[at]));
            at += 1 + usize::from(escaped.is_some());
            if escaped.is_some() {
                self.places.push((self.bytes.len(), at, time));
            }
        }
        at
    }

    /// Returns its messages, and its text by lines.
    fn entries(&self, before: usize) -> Vec<FoundEntry<'static>> {
        let entry = |(start, end, is_message): (usize, usize, bool)| {
            let text = trim_end(&self.bytes[start..end]).to_vec();
            let index = self.places.partition_point(|(at, ..)| *at <= start).saturating_sub(1);
            let (at, place, time) = self.places.get(index).copied().unwrap_or_default();
            let number = before + self.connection;
            let session = (number > 0).then(|| Cow::Owned((number + 1).to_string()));
            let direction = Some(if self.is_in { Direction::In } else { Direction::Out });
            let entry = match is_message {
                true => Record { time, direction, session, ..Record::new(text) }.into(),
                false => LogLine { time, session, ..LogLine::new(text) }.into(),
            };
            (place + start - at, entry)
        };
        parts(&self.bytes, true).into_iter().flatten().map(entry).collect()
    }
}

/// Returns the beginning and the end of each value and of each line of text, and true for a value; headers of frames are
/// neither. `None` if a value is not finished and more may follow.
fn parts(bytes: &[u8], is_all: bool) -> Option<Vec<(usize, usize, bool)>> {
    let (mut parts, mut at) = (Vec::new(), 0);
    loop {
        at += leading_blanks(&bytes[at..]);
        let rest = &bytes[at..];
        if rest.is_empty() {
            return Some(parts);
        }
        let line = memchr(b'\n', rest).unwrap_or(rest.len());
        let is_value = matches!(rest[0], b'{' | b'[');
        let length = match value(rest) {
            Extent::Whole(length) if is_value => length,
            Extent::Incomplete if is_value && !is_all => return None,
            Extent::Incomplete if is_value => rest.len(),
            _ => line,
        };
        let is_header = rest.get(..8).is_some_and(|name| name.eq_ignore_ascii_case(b"content-"));
        if !is_header {
            parts.push((at, at + length, is_value));
        }
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{entries, texts};
    use super::*;

    #[test]
    fn chunks_of_two_connections() {
        let head = |way: &str, from: usize, text: &str| {
            let (length, to) = (text.len(), from + text.len() - 1);
            format!("{way} 2026/10/05 10:00:00.000001  length={length} from={from} to={to}\n{text}")
        };
        let log = [
            head(">", 0, "{\"id\":1,"),
            head(">", 0, "{\"id\":2,\"method\":\"b\"}"),
            head("<", 0, "{\"id\":2}"),
            head(">", 8, "\"method\":\"a\"}"),
        ];
        let found = entries(decoder, log.concat().as_bytes());
        let expected = ["{\"id\":1,\"method\":\"a\"}", "{\"id\":2,\"method\":\"b\"}", "{\"id\":2}"];
        assert_eq!(texts(&found), expected);
    }
}
