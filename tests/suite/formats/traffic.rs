//! Real traffic, where it is there.

use super::{LINES, detected, record, text};
use crate::support::{files, needed_corpora};
use rpcgraph::record::{Direction, Entry, Format, ReadError, Reader, ReaderOptions, Record, Sender, Time};
use serde_json::Value;

/// The two directions of a session, each a stream of frames.
#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn framed_lsp_sessions_of_the_corpora() {
    let corpora = needed_corpora();
    let folder = corpora.join("lsp-haskell-sessions");
    let index = std::fs::read_to_string(folder.join("index.tsv")).unwrap();
    let messages = std::fs::read_to_string(folder.join("messages.ndjson")).unwrap();
    for (name, count) in [("client.log", 8), ("server.log", 9)] {
        let source = format!("documentSymbolFail/{name}");
        let rows = index.lines().skip(1).zip(messages.lines());
        let expected: Vec<_> =
            rows.filter(|(row, _)| row.split('\t').nth(1) == Some(&source)).map(|(_, message)| message).collect();
        let input = std::fs::read(folder.join("raw/lsp-test/test/data").join(&source)).unwrap();
        let (format, found) = detected(&input[..]);
        assert_eq!(format, Format::ContentLength, "{source}");
        assert!(found.iter().all(|entry| record(entry).is_some()), "{source}: only records");
        assert_eq!(found.iter().map(text).collect::<Vec<_>>(), expected, "{source}");
        assert_eq!(found.len(), count, "{source}");
    }
}

/// Each log of the LSP Inspector has a file beside it with what the Inspector makes of the log: an array of
/// `{time, msg, msgKind, msgType, msgId?, msgLatency?, arg}`, where `arg` are the parameters or the result. It leaves out
/// what has neither, so such messages are left out here too. Compared are kind and direction, id, latency, `arg`, the
/// method where the message has one (a response has none), and the time of day. `msg` is the headline, which says the
/// same again.
#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn traces_of_the_lsp_inspector_in_the_corpora() {
    let corpora = needed_corpora();
    let logs = files(&corpora.join("lsp-inspector/fixture"), ".log");
    assert_eq!(logs.len(), 5);
    for path in logs {
        let input = std::fs::read(&path).unwrap();
        let (format, found) = detected(&input[..]);
        assert_eq!(format, Format::VscodeLspText, "{}", path.display());
        let mut items = Vec::new();
        for record in found.iter().filter_map(record) {
            assert!(record.flags.reconstructed, "{}: {}", path.display(), String::from_utf8_lossy(&record.bytes));
            items.extend(inspected(record));
        }
        let parsed: Vec<Value> = serde_json::from_slice(&std::fs::read(path.with_extension("json")).unwrap()).unwrap();
        let expected: Vec<_> = parsed.into_iter().map(comparable).collect();
        assert_eq!(items, expected, "{}", path.display());
    }
}

/// A record as the Inspector shows it, if that does.
fn inspected(record: &Record<'_>) -> Option<Value> {
    let mut message: Value = serde_json::from_slice(&record.bytes).unwrap();
    let members = message.as_object_mut().unwrap();
    let direction = if record.direction == Some(Direction::Out) { "send" } else { "recv" };
    let (kind, arg) = match (members.contains_key("method"), members.contains_key("id")) {
        (true, true) => ("request", members.remove("params")?),
        (true, false) => ("notification", members.remove("params")?),
        (false, _) => ("response", members.remove("result")?),
    };
    let id = members.remove("id").map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
    let Some(Time::Clock(time)) = record.time else { panic!("a clock") };
    Some(serde_json::json!({
        "time": time.to_string(),
        "kind": format!("{direction}-{kind}"),
        "method": members.remove("method"),
        "id": id,
        "latency": record.latency.map(|latency| latency.to_string()),
        "arg": arg,
    }))
}

/// The Inspector's object in the same shape. Its clock may have 12 hours.
fn comparable(item: Value) -> Value {
    let text = |name: &str| item[name].as_str().map(str::to_owned);
    let kind = text("msgKind").unwrap();
    let (clock, afternoon) = match text("time").unwrap().split_once(' ') {
        Some((clock, half)) => (clock.to_owned(), half == "PM"),
        None => (text("time").unwrap(), false),
    };
    let (hour, rest) = clock.split_once(':').unwrap();
    let hour: u8 = hour.parse().unwrap();
    let milliseconds = text("msgLatency").map(|latency| latency.trim_end_matches("ms").parse::<f64>().unwrap());
    serde_json::json!({
        "time": format!("{:02}:{rest}", hour + if afternoon && hour < 12 { 12 } else { 0 }),
        "kind": kind,
        "method": (!kind.ends_with("response")).then(|| text("msgType")),
        "id": text("msgId"),
        "latency": milliseconds.map(|milliseconds| (milliseconds / 1000.0).to_string()),
        "arg": item["arg"],
    })
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn no_other_log_of_the_corpora_is_taken_for_one_of_these() {
    let corpora = needed_corpora();
    let mut paths = files(&corpora, "");
    // This folder has scripts that write logs of all formats.
    paths.retain(|path| !path.starts_with(corpora.join("faults")));
    assert!(!paths.is_empty());
    for path in paths {
        match Reader::new(std::fs::File::open(&path).unwrap(), &ReaderOptions::default()) {
            Ok(reader) => {
                assert!(!LINES.contains(&reader.format()), "{}: {:?}", path.display(), reader.format())
            }
            // Captures of packets are for tshark.
            Err(_) if path.extension().is_some_and(|ending| ending == "pcap") => {}
            Err(error) => assert!(!matches!(error, ReadError::Refused { .. }), "{}", path.display()),
        }
    }
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn sessions_of_haskell_lsp_in_the_corpora() {
    let corpora = needed_corpora();
    let folder = corpora.join("lsp-haskell-sessions");
    let read_text = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a corpus");
    let (index, messages) = (read_text("index.tsv"), read_text("messages.ndjson"));
    for source in ["renameFail/session.log", "renamePass/session.log"] {
        let input = std::fs::read(folder.join("raw/lsp-test/test/data").join(source)).expect("a session");
        let (format, entries) = detected(&input[..]);
        assert_eq!(format.name(), "lsp-test");
        // line, source, ordinal, direction, time and tag
        let rows = index.lines().skip(1).zip(messages.lines());
        let expected: Vec<_> = rows.filter(|(row, _)| row.split('\t').nth(1) == Some(source)).collect();
        assert_eq!((entries.len(), expected.len()), (18, 18));
        for (entry, (row, message)) in entries.iter().zip(expected) {
            let Entry::Record(record) = entry else { panic!("{entry:?}") };
            let cells: Vec<_> = row.split('\t').collect();
            assert_eq!(String::from_utf8_lossy(&record.bytes), message);
            assert_eq!(record.sender, Some(if cells[3] == "c2s" { Sender::Client } else { Sender::Server }));
            let time = cells[4].split(' ').next().and_then(|time| time.parse().ok());
            assert_eq!(record.time, time.map(Time::DateTime));
        }
    }
}
