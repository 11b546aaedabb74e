//! `mcpsnoop`: an object a line, with the message inside and everything that mcpsnoop knows of it.

use super::about::{About, Sign, Window};
use super::marked::{Found, More, enveloped};
use super::object::{RawObject, offset_in, unescape};
use super::{Entry, Flags, LogLine, Record, Sender};
use std::borrow::Cow;

pub(super) const ABOUT: About = About {
    summary: "`{\"session_id\":…,\"seq\":…,\"ts\":…,\"direction\":\"c2s\",\"raw\":{…}}`, mcpsnoop's log; stderr and meta are comments",
    carries: "time, sender, sessions, truncation",
    sign: Sign::Line(detect),
    decoder: |limit| enveloped(limit, Some(&[]), open),
};

/// The first line that is an object has a session, a direction and one more of mcpsnoop's members.
fn detect(window: &Window<'_>) -> bool {
    window.objects().next().is_some_and(|object| {
        object.has("session_id")
            && direction(&object).is_some()
            && ["server_label", "seq", "ts", "transport", "raw"].iter().any(|name| object.has(name))
            && !object.has("jsonrpc")
    })
}

/// The side that sent the message; none, where the line holds the server's stderr, or mcpsnoop's words on the session.
fn direction(object: &RawObject<'_>) -> Option<Option<Sender>> {
    match &*object.string("direction")? {
        "c2s" => Some(Some(Sender::Client)),
        "s2c" => Some(Some(Sender::Server)),
        "stderr" | "meta" => Some(None),
        _ => None,
    }
}

fn open<'a>(object: &RawObject<'a>, line: &'a [u8], more: &mut More) -> Option<Found<'a>> {
    let sender = direction(object)?;
    let truncated = object.get("truncated") == Some(b"true");
    let part = |name: &[u8], value| match (name, unescape(value)) {
        // A message that was cut is not JSON, so it can only stand here as a string. A string that was not cut is what
        // the peer really sent.
        (b"raw", Some(text)) if truncated => Some((offset_in(line, value) + 1, text)),
        (b"raw", _) => Some((offset_in(line, value), Cow::Borrowed(value))),
        // Text that is not JSON stands in `text`, whichever side wrote it.
        (b"text", Some(text)) => Some((offset_in(line, value) + 1, trim(text))).filter(|(_, text)| !text.is_empty()),
        _ => None,
    };
    let session = || object.string("session_id").filter(|key| !key.is_empty());
    let found = |(start, bytes)| match sender {
        Some(_) => {
            let record = Record {
                time: object.date_time("ts"),
                sender,
                session: session(),
                flags: Flags { truncated, ..Flags::default() },
                ..Record::new(bytes)
            };
            (start, Entry::from(record))
        }
        None => (start, LogLine { session: session(), ..LogLine::new(bytes) }.into()),
    };
    let mut all = object.members().filter_map(|(name, value)| part(name, value)).map(found);
    let first = all.next();
    more.entries.extend(all.map(|(start, entry)| (start, entry.into_owned())));
    // An HTTP response without body: its status is all there is.
    first.or_else(|| object.is_whole().then(|| (0, LogLine::new(line).into())))
}

fn trim(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_ascii()),
        Cow::Owned(text) => Cow::Owned(text.trim_ascii().to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{entries, texts};
    use super::super::{Entry, Format};
    use super::*;

    fn line(rest: &str) -> String {
        format!("{{\"session_id\":\"s\",\"seq\":1,\"ts\":\"2026-01-05T10:00:00+01:00\",{rest}}}\n")
    }

    fn found(limit: usize, input: &str) -> Vec<String> {
        texts(&entries(|| (ABOUT.decoder)(limit), input.as_bytes()))
    }

    #[test]
    fn what_is_in_a_line() {
        let table = [
            (r#""direction":"c2s","raw":{"id":1,"a":1.0}"#, r#"{"id":1,"a":1.0}"#),
            (r#""direction":"s2c","raw":[ 1 ]"#, "[ 1 ]"),
            (r#""direction":"s2c","raw":"a\"b""#, r#""a\"b""#),
            (r#""direction":"s2c","raw":"{\"a\":\"b","truncated":true"#, "{\"a\":\"b"),
            (r#""direction":"s2c","text":"{\"a\":\"b","truncated":true"#, "{\"a\":\"b"),
            (r#""direction":"c2s","text":" no json\r""#, "no json"),
            (r#""direction":"stderr","text":"a\tb\r\n""#, "# a\tb"),
            (r#""direction":"meta","raw":{"command":["x"]}"#, r##"# {"command":["x"]}"##),
        ];
        for (rest, expected) in table {
            assert_eq!(found(1000, &line(rest)), [expected], "{rest}");
        }
        for rest in [r#""direction":"s2c","status":202"#, r#""direction":"stderr","text":"""#, r#""direction":"up""#] {
            assert_eq!(found(1000, &line(rest)), [format!("# {}", line(rest).trim())]);
        }
    }

    #[test]
    fn all_that_is_on_a_line() {
        let (one, two) = (line(r#""direction":"c2s","raw":{"id":1}"#), line(r#""direction":"s2c","raw":{"id":2}"#));
        let (one, two) = (one.trim(), two.trim());
        let text = line(r#""direction":"stderr","text":"x"#);
        let twice = r#""direction":"c2s","raw":{"id":1},"raw":[2]"#;
        let behind_text = format!("# {}", &two[2..]);
        let broken = format!("{{\"id\":1{two}");
        let other = line(r#""direction":"c2s""raw":{"id":1},"other":2"#);
        let other = format!("# {}", other.trim());
        let table = [
            (format!("{one}{two}\n"), vec!["{\"id\":1}", "{\"id\":2}"]),
            (format!("{one} {two}oops"), vec!["{\"id\":1}", "{\"id\":2}", "# oops"]),
            (line(twice), vec!["{\"id\":1}", "[2]"]),
            (line(&format!(r#"{twice},"text":"three""#)), vec!["{\"id\":1}", "[2]", "three"]),
            (line(&format!(r#""text":"zero",{twice}"#)), vec!["zero", "{\"id\":1}", "[2]"]),
            (format!("{}{two}", &text[..text.len() - 2]), vec!["# x{", &behind_text]),
            (format!("{}{two}", &one[..one.len() - 1]), vec!["{\"id\":1}", "{\"id\":2}"]),
            (format!("{}{two}", &one[..one.len() - 2]), vec![&*broken]),
            (line(r#""direction":"c2s""raw":{"id":1},"other":2"#), vec![&other, "{\"id\":1}"]),
        ];
        for (input, expected) in table {
            assert_eq!(found(1000, &input), expected, "{input}");
        }
        let many = one.repeat(20_000);
        let found = super::super::decoder::tests::drive(&mut *(ABOUT.decoder)(1 << 28), many.as_bytes(), &[]);
        assert_eq!(found.len(), 20_000);
    }

    #[test]
    fn cut_and_broken_lines() {
        let whole = line(r#""direction":"c2s","raw":{"id":1}"#);
        let (head, _) = whole.split_at(whole.len() - 3);
        assert_eq!(found(1000, head), ["{\"id\":1"]);
        assert_eq!(found(1000, &whole[..30]), [&whole[..30]]);
        let input = format!("{{oops\nbanner\n{{\"jsonrpc\":\"2.0\"}}\n[1]\n{{\"a\":1}}\n{whole}");
        let expected = ["{oops", "# banner", "{\"jsonrpc\":\"2.0\"}", "# [1]", "# {\"a\":1}", "{\"id\":1}"];
        assert_eq!(found(1000, &input), expected);
    }

    #[test]
    fn the_limit_is_for_the_message() {
        let message = |length: usize| line(&format!(r#""direction":"c2s","raw":"{}""#, "x".repeat(length)));
        assert_eq!(found(10, &message(8)), [format!("\"{}\"", "x".repeat(8))]);
        assert_eq!(found(10, &message(9)), ["<11>"]);
        let long = entries_of(&message(100_000));
        let [(start, Entry::Record(record))] = &long[..] else { panic!() };
        assert_eq!((*start, record.length, record.sender), (83, 100_003, Some(Sender::Client)));
        assert!(record.flags.oversized && record.time.is_some() && record.session.as_deref() == Some("s"));
        let text = line(&format!(r#""direction":"stderr","text":"{}""#, "x".repeat(100_000)));
        assert!(matches!(&entries_of(&text)[..], [(_, Entry::LogLine(line))] if line.oversized));
    }

    fn entries_of(input: &str) -> Vec<(usize, Entry<'static>)> {
        super::super::decoder::tests::drive(&mut *(ABOUT.decoder)(10), input.as_bytes(), &[])
    }

    #[test]
    fn detection() {
        let detected = |input: &str| Format::detect(input.as_bytes()).name() == "mcpsnoop";
        assert!(detected(&format!("banner\n\n{{oops\n{}", line(r#""direction":"meta","raw":{}"#))));
        assert!(detected(&line(r#""direction":"c2s","raw":{"a":1}"#)[..80]));
        for input in [
            r#"{"jsonrpc":"2.0","session_id":1,"direction":"c2s","seq":1}"#,
            r#"{"session_id":"a","direction":"north","seq":1}"#,
            r#"{"session_id":"a","direction":"c2s"}"#,
            "{\"jsonrpc\":\"2.0\"}\n{\"session_id\":\"a\",\"direction\":\"c2s\",\"seq\":1}",
        ] {
            assert!(!detected(input), "{input}");
        }
    }
}
