//! `arrows`: an arrow, and behind it a message. What the arrow says of the sender depends on who drew it.

use super::about::{About, Sign};
use super::decoder::{Step, leading_blanks};
use super::marked::{Found, MarkedLines, Marks, More, is_structured};
use super::value::{Extent, value};
use super::{Direction, Entry, Record, Sender, Time};
use memchr::memchr;

pub(super) const ABOUT: About = About {
    summary: "`>> {…}` and `<< {…}`, also `-->`, `>`, `→` and clangd's `V[13:09:49.765] >>>`; other lines are comments",
    carries: "sender (`>>`, `-->`, clangd), time of day (clangd)",
    // In front of an object or an array, before any line that is a JSON value.
    sign: Sign::Line(|window| window.lines_before_values().any(|line| is_structured(read(line)))),
    decoder: |limit| MarkedLines::boxed(limit, HEAD, Arrows { limit }),
};

struct Arrows {
    limit: usize,
}

impl Marks for Arrows {
    fn read<'a>(&mut self, line: &'a [u8], _: &mut More) -> Option<Found<'a>> {
        read(line)
    }

    /// A message that goes on in the lines below its arrow.
    fn below<'a>(&mut self, line: &'a [u8], _: usize, input: &'a [u8], end: bool, _: &mut More) -> Option<Step<'a>> {
        let found = if matches!(line.last(), Some(b'{' | b'[' | b',')) { read(line) } else { None };
        let Some((start, Entry::Record(record))) = found else { return None };
        let text = &input[start..input.len().min(self.limit.saturating_add(HEAD))];
        match value(text) {
            Extent::Whole(length) if start + length > line.len() => {
                let entry = Entry::from(Record { length: length as u64, bytes: text[..length].into(), ..record });
                Some(Step::entry(start, start + length, entry.within(self.limit)))
            }
            Extent::Incomplete if !end && start + text.len() == input.len() => Some(Step::NeedMore),
            _ => None,
        }
    }
}

/// More than any arrow with a time has.
const HEAD: usize = 64;

/// Each arrow, longest first, and the side that sent what it points out of or into: `>` leaves whoever wrote the log.
///
/// `>>` and `-->` are drawn by clients (Ethereum's execution-apis, go-ethereum, the specification's examples). Both sides
/// draw the others.
const ARROWS: [(&[u8], Option<Sender>); 10] = [
    (b">>>", None),
    (b"<<<", None),
    (b"-->", Some(Sender::Client)),
    (b"<--", Some(Sender::Server)),
    (b">>", Some(Sender::Client)),
    (b"<<", Some(Sender::Server)),
    ("→".as_bytes(), None),
    ("←".as_bytes(), None),
    (b">", None),
    (b"<", None),
];

/// The message behind the arrow that `line` begins with: anything but a `//` comment, and behind a bare `>` or `<`, which
/// also begin quotations and markup, an object or an array.
fn read(line: &[u8]) -> Option<Found<'_>> {
    let clangd = clangd_time(line);
    let at = clangd.map_or(0, |(_, length)| length);
    let (drawn, mut sender) = *ARROWS.iter().find(|(drawn, _)| line[at..].starts_with(drawn))?;
    if clangd.is_some() {
        // clangd, a server, draws these in front of what it sends and of what it gets.
        sender = match drawn {
            b">>>" => Some(Sender::Server),
            b"<<<" => Some(Sender::Client),
            _ => return None,
        };
    }
    let behind = at + drawn.len();
    let payload = behind + leading_blanks(&line[behind..]);
    let message = match line.get(payload)? {
        b'{' | b'[' => true,
        // A longer drawing, such as a rule or a mark of a merge conflict.
        b'<' | b'>' | b'-' | b'=' if payload == behind => false,
        _ => !matches!(drawn, b">" | b"<") && !line[payload..].starts_with(b"//"),
    };
    let points = if drawn.ends_with(b">") || drawn == "→".as_bytes() { Direction::Out } else { Direction::In };
    let direction = sender.is_none().then_some(points);
    let time = clangd.and_then(|(time, _)| time);
    message.then(|| (payload, Record { time, sender, direction, ..Record::new(&line[payload..]) }.into()))
}

/// Reads clangd's `V[13:09:49.765] `: the time of day, if it is one, and where the rest of the line begins.
fn clangd_time(line: &[u8]) -> Option<(Option<Time>, usize)> {
    let [b'A'..=b'Z', b'[', rest @ ..] = line else { return None };
    let length = memchr(b']', &rest[..rest.len().min(24)])?;
    let time = std::str::from_utf8(&rest[..length]).ok().and_then(|text| text.parse().ok()).map(Time::Clock);
    let behind = 2 + length + 1;
    Some((time, behind + leading_blanks(&line[behind..])))
}

#[cfg(test)]
mod tests {
    use super::super::Entry;
    use super::super::decoder::tests::{entries, texts};
    use super::*;

    const UNKNOWN: Option<Sender> = None;
    const CLIENT: Option<Sender> = Some(Sender::Client);
    const SERVER: Option<Sender> = Some(Sender::Server);

    fn record(line: &str) -> Option<(usize, Record<'_>)> {
        match read(line.as_bytes())? {
            (start, Entry::Record(record)) => Some((start, record)),
            (_, Entry::LogLine(line)) => panic!("{line:?}"),
        }
    }

    fn found(line: &str) -> Option<(Option<Sender>, &str)> {
        record(line).map(|(start, record)| (record.sender, &line[start..]))
    }

    #[test]
    fn arrows_and_who_drew_them() {
        let table = [
            (">> {}", Some((CLIENT, "{}"))),
            ("<<{}", Some((SERVER, "{}"))),
            ("--> [1]", Some((CLIENT, "[1]"))),
            ("<--\t[]", Some((SERVER, "[]"))),
            ("> {}", Some((UNKNOWN, "{}"))),
            ("<[]", Some((UNKNOWN, "[]"))),
            ("→{}", Some((UNKNOWN, "{}"))),
            ("← {}", Some((UNKNOWN, "{}"))),
            (">>> {}", Some((UNKNOWN, "{}"))),
            ("V[13:09:49.765] >>> {}", Some((SERVER, "{}"))),
            ("V[13:09:49.765] <<< {}", Some((CLIENT, "{}"))),
            ("V[no time] <<< {}", Some((CLIENT, "{}"))),
            (">> no json", Some((CLIENT, "no json"))),
            (">> 1", Some((CLIENT, "1"))),
            (">> -1", Some((CLIENT, "-1"))),
            ("→ null", Some((UNKNOWN, "null"))),
        ];
        for (line, expected) in table {
            assert_eq!(found(line), expected, "{line}");
        }
    }

    #[test]
    fn directions_where_the_sender_is_unknown() {
        let (out, back) = (Some(Direction::Out), Some(Direction::In));
        for (line, direction) in [
            ("> {}", out),
            ("<[]", back),
            ("→ {}", out),
            ("← {}", back),
            (">>> {}", out),
            (">> {}", None),
            ("<-- {}", None),
        ] {
            assert_eq!(record(line).and_then(|(_, record)| record.direction), direction, "{line}");
        }
    }

    #[test]
    fn lines_that_are_no_messages() {
        let table = [
            "// >> {}",
            "a heading:",
            "<-- //Nothing is returned",
            ">>",
            ">>  ",
            "-->",
            "→",
            "> quoted",
            "<html>",
            "<!-- {} -->",
            ">>>> {}",
            "<<<<<<< HEAD",
            "<----->",
            "V[13:09:49.765] {}",
            "V[13:09:49.765] >> {}",
            "I[13:09:49.765] clangd version 18",
            "V[13:09:49.765 >>> {}",
            "{}",
            "",
        ];
        for line in table {
            assert_eq!(found(line), None, "{line}");
        }
    }

    #[test]
    fn times_of_day() {
        let time = |line: &str| record(line).and_then(|(_, record)| record.time);
        let clock = "13:09:49.765".parse().ok().map(Time::Clock);
        assert!(clock.is_some());
        assert_eq!(time("V[13:09:49.765] >>> {}"), clock);
        assert_eq!(time("V[13:99:49.765] >>> {}"), None);
        assert_eq!(time(">> {}"), None);
    }

    #[test]
    fn records_and_lines_between() {
        let input = "\u{20}// note\r\n\r\n>> {\"a\":1} \r\n<-- //none\n  <<[2]\n>>\nV[10:00:00.5] <<< {}\n< {";
        let found = entries(|| (ABOUT.decoder)(100), input.as_bytes());
        assert_eq!(texts(&found), ["# // note", "{\"a\":1}", "# <-- //none", "[2]", "# >>", "{}", "{"]);
        let starts: Vec<_> = found.iter().map(|(start, _)| *start).collect();
        assert_eq!(starts, [1, 15, 25, 40, 44, 65, 70]);
    }

    #[test]
    fn the_limit_is_for_what_is_behind_the_arrow() {
        let input = ">> {\"a\":123}\n>> {\"a\":12}\n<< {\"a\":1234567}  \n";
        let found = entries(|| (ABOUT.decoder)(8), input.as_bytes());
        assert_eq!(texts(&found), ["<9>", "{\"a\":12}", "<13>"]);

        let input = format!("\n<< {:x<100}\n{:y<100} \r\n>>{:80}z\n", "", "", "");
        let found = entries(|| (ABOUT.decoder)(8), input.as_bytes());
        assert_eq!(texts(&found), ["<100>", "# <100>", "# <83>"]);
        assert_eq!(found[0].0, 4);
        assert!(matches!(&found[0].1, Entry::Record(record) if record.sender == SERVER));
    }
}
