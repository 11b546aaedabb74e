//! The bytes of TCP connections: segments are put in order, and the stream of each direction is cut into messages, which are
//! frames with a `Content-Length` or JSON values one after the other.

use super::certainty::Certainty;
use super::content_length::Header;
use super::decoder::leading_blanks;
use super::scan::ValueScan;
use super::value::{Extent, value};
use super::{Direction, Sender};
use memchr::{memchr, memmem};
use std::collections::{BTreeMap, HashMap};
use std::mem;

/// The maximum number of connections whose bytes are kept.
const CONNECTIONS: usize = 1024;
/// The maximum number of segments of one direction that wait for an earlier one.
const EARLY: usize = 32;
/// The maximum size of headers, and of a line that is not a message.
const LINE: usize = 64 * 1024;
/// The maximum size of a message.
const MESSAGE: usize = 256 << 20;
/// The flags of a segment that opens a connection, and the flag of the answer to it.
const SYN: u64 = 0x02;
const ACK: u64 = 0x10;

/// The bytes that one packet brings.
pub(super) struct Segment {
    /// The address of the sender.
    pub source: String,
    pub sequence: Option<u64>,
    pub flags: u64,
    pub bytes: Vec<u8>,
}

/// The connections of a capture, by name.
#[derive(Default)]
pub(super) struct TcpConnections(HashMap<String, TcpConnection>);

#[derive(Default)]
struct TcpConnection {
    /// The address of the client, if the capture has the beginning.
    client: Option<String>,
    /// The two directions, with the addresses of their senders.
    ends: Vec<(String, TcpStream)>,
    /// True if it has HTTP, which is read from the dissected packets.
    is_http: bool,
}

/// The bytes of one direction.
#[derive(Default)]
struct TcpStream {
    /// The number of the next byte.
    next: Option<u64>,
    /// Segments behind a gap.
    early: BTreeMap<u64, Vec<u8>>,
    bytes: Vec<u8>,
    /// The search for the end of the value that begins them, and the number of bytes that it has seen.
    scan: ValueScan,
    scanned: usize,
    /// True if the first line of the value was looked at.
    is_checked: bool,
}

impl TcpConnections {
    /// Leaves the bytes of a connection with HTTP alone.
    pub fn note_http(&mut self, connection: &str) {
        let connection = self.connection(connection);
        (connection.is_http, connection.ends) = (true, Vec::new());
    }

    /// Returns the messages that end in a segment, and who sent them.
    pub fn messages(
        &mut self,
        connection: &str,
        segment: Segment,
    ) -> (Option<Sender>, Option<Direction>, Vec<Vec<u8>>) {
        let connection = self.connection(connection);
        let Segment { source, sequence, flags, bytes } = segment;
        let is_first = |other: &&(String, TcpStream)| other.0 == source;
        if connection.ends.iter().find(is_first).is_none() && connection.ends.len() < 2 {
            connection.ends.push((source.clone(), TcpStream::default()));
        }
        let Some(at) = connection.ends.iter().position(|end| end.0 == source) else { return Default::default() };
        let stream = &mut connection.ends[at].1;
        if flags & SYN > 0 {
            *stream = TcpStream { next: sequence.map(|first| first + 1), ..TcpStream::default() };
            if flags & ACK == 0 {
                connection.client = Some(source);
            }
            return Default::default();
        }
        connection.is_http |= stream.bytes.is_empty() && begins_http(&bytes);
        if connection.is_http {
            return Default::default();
        }
        let side = |client: &String| if *client == source { Sender::Client } else { Sender::Server };
        let sender = connection.client.as_ref().map(side);
        let direction = if at == 0 { Direction::Out } else { Direction::In };
        stream.push(sequence, bytes);
        let messages = std::iter::from_fn(|| stream.message()).collect();
        (sender, Some(direction).filter(|_| sender.is_none()), messages)
    }

    fn connection(&mut self, name: &str) -> &mut TcpConnection {
        if self.0.len() == CONNECTIONS && !self.0.contains_key(name) {
            self.0.clear();
        }
        self.0.entry(name.to_owned()).or_default()
    }
}

impl TcpStream {
    fn push(&mut self, sequence: Option<u64>, bytes: Vec<u8>) {
        let Some(sequence) = sequence else { return self.bytes.extend(bytes) };
        let next = *self.next.get_or_insert(sequence);
        if sequence > next {
            self.early.insert(sequence, bytes);
            if self.early.len() <= EARLY {
                return;
            }
            // The capture lacks a segment, and with it a part of the message.
            self.take(self.bytes.len());
            self.next = self.early.keys().next().copied();
        } else {
            self.append(sequence, &bytes);
        }
        while let Some(next) = self.next
            && let Some(entry) = self.early.first_entry().filter(|entry| *entry.key() <= next)
        {
            let (sequence, bytes) = entry.remove_entry();
            self.append(sequence, &bytes);
        }
    }

    /// Appends a segment without the bytes that were sent again.
    fn append(&mut self, sequence: u64, bytes: &[u8]) {
        let next = self.next.unwrap_or(sequence);
        let known = usize::try_from(next.saturating_sub(sequence)).unwrap_or(usize::MAX);
        let new = bytes.get(known..).unwrap_or_default();
        self.bytes.extend_from_slice(new);
        self.next = Some(next + new.len() as u64);
    }

    /// Takes the next whole message.
    fn message(&mut self) -> Option<Vec<u8>> {
        loop {
            let blanks = leading_blanks(&self.bytes);
            if blanks > 0 {
                self.take(blanks);
            }
            let found = match self.bytes.first()? {
                b'{' | b'[' => match self.extent() {
                    Extent::Whole(length) => (0, length),
                    Extent::Broken(end) => {
                        self.take(end);
                        continue;
                    }
                    Extent::Incomplete if self.bytes.len() > MESSAGE => (self.bytes.len(), 0),
                    Extent::Incomplete => return None,
                },
                _ => self.frame()?,
            };
            let (start, length) = found;
            self.take(start);
            let message = self.take(length);
            if Certainty::of(&message) != Certainty::No {
                return Some(message);
            }
        }
    }

    /// Returns the place and the length of a message behind headers, or of no message behind a line.
    fn frame(&self) -> Option<(usize, usize)> {
        const NAME: &[u8] = b"content-";
        let bytes = &self.bytes;
        let is_header = bytes.iter().zip(NAME).all(|(byte, expected)| byte.to_ascii_lowercase() == *expected);
        if !is_header {
            let end = memchr(b'\n', bytes).map(|end| end + 1);
            return end.or((bytes.len() > LINE).then_some(bytes.len())).map(|end| (end, 0));
        }
        let head = &bytes[..bytes.len().min(LINE)];
        let ends = [&b"\r\n\r\n"[..], b"\n\n"].into_iter().filter_map(|end| Some(memmem::find(head, end)? + end.len()));
        let Some(start) = ends.min() else { return (bytes.len() > LINE).then_some((bytes.len(), 0)) };
        let stated = bytes[..start].split(|byte| *byte == b'\n').find_map(|line| match Header::of(line)? {
            Header::Length(length) => usize::try_from(length?).ok(),
            Header::Type => None,
        });
        let length = stated.unwrap_or_default();
        (bytes.len() - start >= length || length > MESSAGE).then_some((start, length.min(bytes.len() - start)))
    }

    /// Returns the extent of the object or array at the beginning. One whose first line has a syntax error ends with this line.
    fn extent(&mut self) -> Extent {
        let seen = mem::replace(&mut self.scanned, self.bytes.len());
        let end = self.scan.end(&self.bytes[seen..]).map(|end| seen + end);
        if !self.is_checked
            && let Some(line) = memchr(b'\n', &self.bytes[seen..end.unwrap_or(self.scanned)])
        {
            self.is_checked = true;
            let line = seen + line + 1;
            if matches!(value(&self.bytes[..line]), Extent::Broken(_)) {
                return Extent::Broken(line);
            }
        }
        match end.map(|end| (end, value(&self.bytes[..end]))) {
            Some((_, Extent::Whole(length))) => Extent::Whole(length),
            Some((end, _)) => Extent::Broken(end),
            None => Extent::Incomplete,
        }
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        (self.scan, self.scanned, self.is_checked) = (ValueScan::default(), 0, false);
        let rest = self.bytes.split_off(length);
        mem::replace(&mut self.bytes, rest)
    }
}

/// True if a text begins as a request or a response of HTTP.
fn begins_http(text: &[u8]) -> bool {
    const METHODS: [&str; 8] = ["GET ", "POST ", "PUT ", "DELETE ", "HEAD ", "OPTIONS ", "PATCH ", "PRI "];
    text.starts_with(b"HTTP/") || METHODS.iter().any(|method| text.starts_with(method.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments by their sequence numbers, and the messages that each completes.
    type SegmentCase<'c> = (&'c [(u64, &'c str)], &'c [&'c str]);

    /// Returns the messages that each segment of one direction completes.
    fn messages(segments: &[(u64, &str)]) -> Vec<String> {
        let mut connections = TcpConnections::default();
        let each = segments.iter().map(|(sequence, text)| {
            let segment =
                Segment { source: "a".into(), sequence: Some(*sequence), flags: 0x18, bytes: text.as_bytes().to_vec() };
            let (.., found) = connections.messages("0", segment);
            found.into_iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect::<Vec<_>>().join(" ")
        });
        each.collect()
    }

    #[test]
    fn messages_in_segments() {
        let (a, b) = (r#"{"id":1,"method":"m"}"#, r#"{"id":2,"result":"}"}"#);
        let both = format!("{a} {b}");
        let frame = format!("Content-Length: {}\r\n\r\n{a}", a.len());
        let (front, back) = frame.split_at(30);
        let table: [SegmentCase<'_>; 9] = [
            (&[(1, a), (22, b)], &[a, b]),
            (&[(1, &both)], &[&both]),
            (&[(1, &a[..9]), (10, &a[9..])], &["", a]),
            (&[(1, front), (31, back)], &["", a]),
            // Out of order, and sent again.
            (&[(1, &a[..5]), (10, &a[9..]), (6, &a[5..9])], &["", "", a]),
            (&[(1, a), (1, a), (22, b)], &[a, "", b]),
            (&[(1, a), (10, &format!("{}{b}", &a[9..]))], &[a, b]),
            // Text, JSON with a syntax error, and JSON that is not a message.
            (&[(1, "hello\n{oops\n"), (13, a), (34, "{\"x\":1}\n"), (42, b)], &["", a, "", b]),
            (&[(1, "GET / HTTP/1.1\r\n\r\n"), (19, a)], &["", ""]),
        ];
        for (segments, expected) in table {
            assert_eq!(messages(segments), expected, "{segments:?}");
        }
    }

    #[test]
    fn a_gap_loses_one_message() {
        let message = r#"{"id":1,"method":"m"}"#;
        let length = message.len() as u64;
        let mut segments = vec![(1, "{\"cut")];
        segments.extend((0..40).map(|at| (100 + at * length, message)));
        assert_eq!(messages(&segments).concat().replace(' ', ""), [message; 40].concat());
    }

    #[test]
    fn the_first_segment_names_the_client() {
        let mut connections = TcpConnections::default();
        let mut send = |source: &str, flags, text: &str| {
            let segment = Segment { source: source.into(), sequence: None, flags, bytes: text.as_bytes().to_vec() };
            let (sender, direction, found) = connections.messages("0", segment);
            (sender, direction, found.len())
        };
        let message = r#"{"id":1,"method":"m"}"#;
        assert_eq!(send("a", SYN, ""), (None, None, 0));
        assert_eq!(send("b", SYN | ACK, ""), (None, None, 0));
        assert_eq!(send("b", 0x18, message), (Some(Sender::Server), None, 1));
        assert_eq!(send("a", 0x18, message), (Some(Sender::Client), None, 1));
        assert_eq!(send("c", 0x18, message), (None, None, 0));
    }
}
