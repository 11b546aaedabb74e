//! Lines in several pieces: broken at the width of a terminal, or split by a container's log.

use rpcgraph::record::{Entry, Reader, ReaderOptions};

use super::{WRAPPERS, docker, logs, read, records, without_times};
use crate::renderings::{Pieces, SESSION, entries, string};
use crate::support::{assert_isomorphic, convert};

/// Lines that a terminal broke are whole again, and have the place of their beginning.
#[test]
fn lines_broken_at_a_width() {
    for width in [60, 80, 120] {
        let line = |n: usize, text: &str| format!("2026-01-05T10:00:{n:02}Z received {text}");
        let whole: Vec<_> = SESSION.iter().enumerate().map(|(n, text)| line(n, text)).collect();
        let broken = |line: &String| {
            let characters: Vec<char> = line.chars().collect();
            characters.chunks(width).map(|part| part.iter().collect::<String>() + "\n").collect::<String>()
        };
        let parts: Vec<String> = whole.iter().map(broken).collect();
        let found = entries(parts.concat().as_bytes());
        let count = |parts: &[String]| parts.iter().map(|part| part.lines().count()).sum::<usize>();
        let lines = (0..parts.len()).map(|n| 1 + count(&parts[..n]) as u64);
        let texts: Vec<_> = records(&found).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, SESSION.iter().map(|line| line.as_bytes()).collect::<Vec<_>>(), "{width}");
        assert!(found.iter().zip(lines).all(|(entry, line)| entry.location().line == line), "{width}");
    }
    let (wrappers, ..) = read((SESSION.join("\n") + "\n").as_bytes());
    assert!(wrappers.is_empty());
}

/// Long lines are split, and parts of two streams alternate.
#[test]
fn lines_in_pieces() {
    let docker = |stream: &str, text: &str, is_continued: bool| {
        let text = string(&format!("{text}{}", if is_continued { "" } else { "\n" }));
        format!("{{\"log\":{text},\"stream\":\"{stream}\",\"time\":\"2026-01-05T10:00:00Z\"}}\n")
    };
    let cri = |stream: &str, text: &str, is_continued: bool| {
        format!("2026-01-05T10:00:00Z {stream} {} {text}\n", if is_continued { 'P' } else { 'F' })
    };
    let journald = |stream: &str, text: &str, is_continued: bool| {
        let is_continued = if is_continued { ",\"_LINE_BREAK\":\"line-max\"" } else { "" };
        let (text, time) = (string(text), "\"__REALTIME_TIMESTAMP\":\"1767607200123456\"");
        format!("{{{time},\"_STREAM_ID\":\"{stream}\",\"MESSAGE\":{text}{is_continued}}}\n")
    };
    let renderings: [fn(&str, &str, bool) -> String; 3] = [docker, cri, journald];
    for (format, log) in logs().into_iter().take(5) {
        let graph = without_times(convert(log.as_bytes()));
        for render in renderings {
            for size in [1, 7, 100] {
                let mut rendering = String::new();
                for line in log.strip_suffix('\n').unwrap_or(&log).split('\n') {
                    let characters: Vec<_> = line.chars().collect();
                    let mut pieces = characters.chunks(size).map(String::from_iter).peekable();
                    if pieces.peek().is_none() {
                        rendering += &render("stdout", "", false);
                    }
                    while let Some(piece) = pieces.next() {
                        rendering += &render("stdout", &piece, pieces.peek().is_some());
                    }
                }
                let found = without_times(convert(rendering.as_bytes()));
                assert_isomorphic(&found, &graph, &format!("{} in pieces of {size}", format.name()));
            }
        }
    }
    for render in renderings {
        let (one, two) = (SESSION[0].split_at(50), SESSION[1].split_at(20));
        let log = [
            render("stdout", one.0, true),
            render("stderr", two.0, true),
            render("stdout", "", true),
            render("stdout", one.1, false),
            render("stdout", SESSION[2], false),
            render("stderr", two.1, false),
        ]
        .concat();
        let found = entries(log.as_bytes());
        let expected = [(1, SESSION[0]), (5, SESSION[2]), (2, SESSION[1])];
        assert_eq!(records(&found), expected.map(|(line, text)| (line, text.as_bytes())));
        for size in [1, 61] {
            assert_eq!(entries(Pieces(log.as_bytes(), size)), found);
        }
        // One that never ends is given as far as it goes.
        let cut = entries(&log.as_bytes()[..log.len() - render("stderr", two.1, false).len()]);
        assert_eq!(records(&cut)[2], (2, two.0.as_bytes()));
    }
}

/// A line that goes on and on is too long as one in one piece is.
#[test]
fn pieces_are_bounded() {
    let piece = |text: &str| format!("2026-01-05T10:00:00Z stdout P {text}\n");
    let log = format!(
        "{}{}{}{}",
        (WRAPPERS[1].2)(0, SESSION[0]) + "\n",
        piece(&"x".repeat(1000)).repeat(1000),
        (WRAPPERS[1].2)(0, "") + "\n",
        (WRAPPERS[1].2)(0, SESSION[1])
    );
    let options = ReaderOptions::default().with_max_record_size(1000);
    let mut reader = Reader::new(log.as_bytes(), &options).unwrap();
    let found: Vec<_> = std::iter::from_fn(|| reader.next_entry().unwrap()).collect();
    assert_eq!(records(&found), [(1, SESSION[0].as_bytes()), (2, b""), (1003, SESSION[1].as_bytes())]);
    assert!(matches!(&found[1], Entry::Record(record) if record.flags.oversized && record.length > 1000));
    // So is a line of a wrapper.
    let log = [docker(0, SESSION[0]), docker(1, &"x".repeat(1_000_000)), docker(2, SESSION[1])].join("\n");
    let mut reader = Reader::new(log.as_bytes(), &options).unwrap();
    let found: Vec<_> = std::iter::from_fn(|| reader.next_entry().unwrap()).collect();
    assert_eq!(records(&found), [(1, SESSION[0].as_bytes()), (2, b""), (3, SESSION[1].as_bytes())]);
}
