//! `lsp4e`: Eclipse's log of language servers. Headings state time and direction; a piece of the stream stands below
//! each. Header and message of the stream may have headings of their own.

use super::about::{About, Sign};
use super::marked::{Found, HEAD, MarkedLines, Marks, More, head};
use super::object::extent;
use super::times;
use super::{Record, Sender, Time};
use std::borrow::Cow;

pub(super) const ABOUT: About = About {
    summary: "`[2026-09-13T20:13:16.649+02:00] LSP4E_TO_LANGUAGE_SERVER name:`, and below it a piece of the stream",
    carries: "time, sender, language server",
    sign: Sign::Line(|window| window.lines_before_values().any(|line| Heading::of(head(line)).is_some())),
    decoder: |limit| MarkedLines::boxed(limit, HEAD, Lsp4e(None)),
};

#[derive(Clone)]
struct Heading {
    time: Option<Time>,
    sender: Sender,
    server: String,
}

impl Heading {
    fn of(line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?;
        let (time, rest) = text.strip_prefix('[')?.split_once("] ")?;
        let (direction, server) = rest.strip_suffix(':')?.split_once(' ')?;
        let sender = match direction {
            "LSP4E_TO_LANGUAGE_SERVER" => Sender::Client,
            "LANGUAGE_SERVER_TO_LSP4E" => Sender::Server,
            _ => return None,
        };
        Some(Self { time: times::any(time.as_bytes()), sender, server: server.to_owned() })
    }
}

/// Lines that begin as an object or an array are messages; headings and the stream's headers are text.
struct Lsp4e(Option<Heading>);

impl Marks for Lsp4e {
    fn read<'a>(&mut self, line: &'a [u8], more: &mut More) -> Option<Found<'a>> {
        if let Some(heading) = Heading::of(head(line)) {
            self.0 = Some(heading);
            return None;
        }
        let heading = self.0.as_ref()?;
        if !matches!(line.first(), Some(b'{' | b'[')) || line.starts_with(b"[2") {
            return None;
        }
        // A stream does not have line ends, so the next message may follow on the line.
        let (length, _) = extent(line, false);
        more.taken = (length < line.len()).then_some(length);
        let session = Some(Cow::Owned(heading.server.clone()));
        let (time, sender) = (heading.time, Some(heading.sender));
        Some((0, Record { time, sender, session, ..Record::new(&line[..length]) }.into()))
    }
}
