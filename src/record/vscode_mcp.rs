//! `vscode-mcp`: the output channel that VS Code keeps for each MCP server.

use super::about::{About, Sign, Window};
use super::decoder::leading_blanks;
use super::marked::{Found, HEAD, MarkedLines, Marks, More, head, is_structured};
use super::times::timestamp;
use super::value::{Extent, value};
use super::vscode::level;
use super::{Record, Sender, Time};
use memchr::memmem;
use std::borrow::Cow;

pub(super) const ABOUT: About = About {
    summary: "`[editor -> server] {…}` and `[server -> editor] {…}`, maybe a date and a level in front; other lines are text",
    carries: "sender, time (where the channel shows it), connections",
    sign: Sign::Line(detect),
    decoder: |limit| MarkedLines::boxed(limit, HEAD, VscodeMcp::default()),
};

/// A line with a mark and an object or array behind it, before any line that is a JSON value.
fn detect(window: &Window<'_>) -> bool {
    window.lines_before_values().any(|line| is_structured(VscodeMcp::default().read(line, &mut More::default())))
}

/// The marks, and who sent what is behind each; the last two are those of the first releases with MCP.
const MARKS: [(&[u8], Sender); 4] = [
    (b"[editor -> server]", Sender::Client),
    (b"[server -> editor]", Sender::Server),
    (b"[Client Says]", Sender::Client),
    (b"[Server Says]", Sender::Server),
];

/// Lines that VS Code writes while it starts a server, before the first message of the new connection; several of them
/// for one start.
const STARTS: [&[u8]; 2] = [b"Starting server ", b"Connection state: Starting"];

/// A server that is started again uses its ids again: each connection after the first is a session of its own.
#[derive(Default)]
struct VscodeMcp {
    /// A connection is being started.
    starting: bool,
    /// How many connections had messages.
    connections: u64,
}

impl Marks for VscodeMcp {
    fn read<'a>(&mut self, line: &'a [u8], more: &mut More) -> Option<Found<'a>> {
        let (time, text) = prefix(head(line));
        let Some((sender, at)) = message(&line[text..]) else {
            self.starting |= STARTS.iter().any(|start| line[text..].starts_with(start));
            return None;
        };
        if std::mem::take(&mut self.starting) || self.connections == 0 {
            self.connections += 1;
        }
        let session = (self.connections > 1).then(|| Cow::Owned(self.connections.to_string()));
        let start = text + at;
        let end = next_mark(&line[start..]).map_or(line.len(), |length| start + length);
        // Where the line goes on with another mark.
        more.taken = (end < line.len()).then_some(end);
        Some((start, Record { time, sender: Some(sender), session, ..Record::new(&line[start..end]) }.into()))
    }
}

/// How long the value is that `text` begins with, if another mark is behind it: lines may have been pasted as one.
fn next_mark(text: &[u8]) -> Option<usize> {
    MARKS.iter().find(|(mark, _)| memmem::find(text, mark).is_some())?;
    let Extent::Whole(length) = value(text) else { return None };
    let next = length + leading_blanks(&text[length..]);
    let (_, behind) = prefix(&text[next..]);
    message(&text[next + behind..]).map(|_| length)
}

/// Reads `2025-06-01 10:00:00.123 [trace] `, each part of which may be missing: the time, and where the text begins.
fn prefix(line: &[u8]) -> (Option<Time>, usize) {
    let (length, time) = timestamp(line).unwrap_or_default();
    let at = length + leading_blanks(&line[length..]);
    (time, at + level(&line[at..]).unwrap_or(0))
}

/// The side that sent the message behind the mark at the start of `text`, and where it begins.
fn message(text: &[u8]) -> Option<(Sender, usize)> {
    let (mark, sender) = MARKS.iter().find(|(mark, _)| text.starts_with(mark))?;
    let at = mark.len() + leading_blanks(&text[mark.len()..]);
    (at < text.len()).then_some((*sender, at))
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{entries, texts};
    use super::super::{Entry, Format};
    use super::*;

    fn read(line: &str) -> Option<(usize, Record<'_>)> {
        match VscodeMcp::default().read(line.as_bytes(), &mut More::default())? {
            (start, Entry::Record(record)) => Some((start, record)),
            (_, Entry::LogLine(line)) => panic!("{line:?}"),
        }
    }

    #[test]
    fn marks_and_what_may_be_in_front() {
        let client = [
            "[editor -> server] {}",
            "[debug] [editor -> server] {}",
            "2025-06-01 10:00:00.123 [trace] [editor -> server] {}",
            "2025-06-01T10:00:00.123 [editor -> server]{}",
            "2025-03-23 16:38:00.970 [info] [Client Says] {}",
        ];
        for line in client {
            let found = read(line).map(|(start, record)| (&line[start..], record.sender, record.session));
            assert_eq!(found, Some(("{}", Some(Sender::Client), None)), "{line}");
            assert_eq!(Format::detect(line.as_bytes()), Format::VscodeMcp, "{line}");
        }
        let text = [
            "[editor -> server]",
            "[editor -> server] ",
            "[editor] {}",
            "[trace] {}",
            "editor -> server {}",
            "2025-06-01 [editor -> server] {}",
            "[warning] [server stderr] [editor -> server] {}",
        ];
        for line in text {
            assert_eq!(read(line.trim()), None, "{line}");
            assert_ne!(Format::detect(line.as_bytes()), Format::VscodeMcp, "{line}");
        }
        assert_ne!(Format::detect(b"[editor -> server] no json\n"), Format::VscodeMcp);
    }

    #[test]
    fn lines_that_were_pasted_as_one() {
        let log = "[Client Says] {\"a\":\"[Server Says] {}\"} 2025-06-01 10:00:00.123 [info] [Server Says] [1] [Client Says] {x} [Server Says] 2\n";
        let found = entries(|| (ABOUT.decoder)(1000), log.as_bytes());
        assert_eq!(texts(&found), ["{\"a\":\"[Server Says] {}\"}", "[1]", "{x} [Server Says] 2"]);
        let places: Vec<_> = found.iter().map(|(place, _)| *place).collect();
        assert_eq!(places.len(), 3);
    }

    #[test]
    fn times() {
        let time = |line: &str| read(line).and_then(|(_, record)| record.time);
        let stated = "2025-06-01T10:00:00.123".parse().ok().map(Time::DateTime);
        assert!(stated.is_some());
        assert_eq!(time("2025-06-01 10:00:00.123 [info] [server -> editor] {}"), stated);
        assert_eq!(time("2025-06-31 10:00:00.123 [info] [server -> editor] {}"), None);
        assert_eq!(time("[server -> editor] {}"), None);
    }

    #[test]
    fn one_start_of_several_lines_opens_one_connection() {
        let log = concat!(
            "Starting server a\nConnection state: Starting\nConnection state: Starting\nConnection state: Running\n",
            "[editor -> server] 1\n[server -> editor] 2\nConnection state: Stopped\n",
            "[info] Starting server a\n[info] Connection state: Starting\n[info] Connection state: Running\n",
            "[editor -> server] 3\nConnection state: Error\nStarting server a\nStarting server a\n[editor -> server] 4\n",
        );
        let found = entries(|| (ABOUT.decoder)(100), log.as_bytes());
        let records = found.iter().filter_map(|(_, entry)| match entry {
            Entry::Record(record) => Some(record),
            Entry::LogLine(_) => None,
        });
        let records: Vec<_> = records.map(|r| (r.session.as_deref(), r.bytes[0])).collect();
        assert_eq!(records, [(None, b'1'), (None, b'2'), (Some("2"), b'3'), (Some("3"), b'4')]);
        assert_eq!(texts(&found).iter().filter(|text| text.starts_with('#')).count(), 11);
    }
}
