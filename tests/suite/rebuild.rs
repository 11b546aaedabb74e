//! Every message of every corpus is rebuilt from its graph: no content is lost.

use std::collections::BTreeMap;
use std::fs::{self, File};

use rpcgraph::convert::Options;
use rpcgraph::json::{self, Value};
use rpcgraph::message::Id;
use rpcgraph::rebuild::{RebuiltContent, RebuiltSession, TableRecords, rebuild};
use rpcgraph::record::{Format, ReaderOptions, SessionBy};

use crate::support::{BASE, convert, convert_to_tables, convert_with, corpora, files, logs, own, same_value};

fn rebuilt(log: &[u8]) -> RebuiltSession {
    // Lines of any text are records of one session here, whatever their content looks like.
    let session_by = Some(SessionBy::parse("none").expect("a word"));
    let reader = ReaderOptions { format: Some(Format::JsonLines), session_by, ..ReaderOptions::default() };
    let options = Options { reader, ..Options::default() };
    let quads = convert_with(log, &[], options.clone());
    let mut sessions = rebuild(&quads).expect("a session's graph");
    assert_eq!(sessions.len(), 1);
    let session = sessions.remove(0);
    assert_eq!(session.iri, BASE);
    // So do tables.
    let folder = tempfile::tempdir().expect("a folder");
    convert_to_tables(log, options, &folder.path().join("tables"));
    let messages = File::open(folder.path().join("tables/messages.parquet")).expect("a table");
    let records = TableRecords::open(messages).expect("Parquet").map(|record| record.expect("a record"));
    let records: Vec<_> =
        records.map(|record| (record.iri, record.entry.location().record, record.entry.bytes().to_vec())).collect();
    let bytes = |content: &RebuiltContent| match content {
        RebuiltContent::Json(text) | RebuiltContent::Text(text) => text.clone().into_bytes(),
        RebuiltContent::Bytes(bytes) => bytes.clone(),
        RebuiltContent::Skipped => Vec::new(),
    };
    let expected = session.records.iter().map(|record| (record.iri.clone(), record.sequence, bytes(&record.content)));
    assert!(records == expected.collect::<Vec<_>>());
    session
}

/// Asserts that every line comes back, and who answers whom.
fn assert_rebuilds(log: &[u8], what: &str) -> usize {
    let session = rebuilt(log);
    let lines: Vec<&[u8]> = log.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
    assert_eq!(session.records.len(), lines.len(), "{what}: records");
    for (number, (record, line)) in (1..).zip(session.records.iter().zip(&lines)) {
        assert_eq!(record.sequence, number, "{what}");
        assert_eq!(record.iri, format!("{BASE}#m{number}"), "{what}");
        match (&record.content, json::parse(line)) {
            (RebuiltContent::Json(text), Ok(original)) => {
                let again = json::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{what}:{number}: {error}"));
                assert!(same_value(&original, &again), "{what}:{number}:\n{}\n{text}", String::from_utf8_lossy(line));
            }
            (RebuiltContent::Text(text), Err(_)) => assert_eq!(text.as_bytes(), line.trim_ascii(), "{what}:{number}"),
            (RebuiltContent::Bytes(bytes), Err(_)) => assert_eq!(bytes, line.trim_ascii(), "{what}:{number}"),
            (content, original) => panic!("{what}:{number}: {content:?} but {original:?}"),
        }
    }
    assert_eq!(session.answers, naive_answers(&lines), "{what}: answers");
    lines.len()
}

/// Pairs requests and answers of unknown senders in the obvious and slow way: look back for the newest unanswered request
/// with the id.
fn naive_answers(lines: &[&[u8]]) -> BTreeMap<String, String> {
    let mut requests: Vec<(String, Id<'static>)> = Vec::new();
    let mut answers = BTreeMap::new();
    for (number, line) in (1..).zip(lines) {
        let Ok(value) = json::parse(line) else { continue };
        let name = format!("{BASE}#m{number}");
        let singles: Vec<(String, Value<'_>)> = match value {
            Value::Array(array) => {
                (1..).zip(array.items).map(|(index, item): (u32, _)| (format!("{name}.{index}"), item)).collect()
            }
            value => vec![(name, value)],
        };
        for (name, value) in singles {
            let Value::Object(object) = value else { continue };
            let Some(id) = object.get("id").and_then(Id::from_value).filter(|id| *id != Id::Null) else { continue };
            let null = |member: &str| matches!(object.get(member), None | Some(Value::Null));
            let is = |member: &str| object.get(member).is_some();
            if matches!(object.get("method"), Some(Value::String(_))) && !is("result") && !is("error") {
                requests.push((name, id.into_owned()));
            } else if !is("method")
                && (is("result") && null("error") || null("result") && !null("error"))
                && let Some(at) = requests.iter().rposition(|(_, other)| *other == id)
            {
                answers.insert(name, requests.remove(at).0);
            }
        }
    }
    answers
}

#[test]
fn every_message_of_every_corpus() {
    let mut messages = 0;
    for file in logs("messages.ndjson").into_iter().chain(logs("not-json.txt")) {
        let log = fs::read(&file).expect("a corpus");
        // Lines of HTTP between messages are text, and not records.
        if !log.windows(5).any(|text| text == b"HTTP/") {
            messages += assert_rebuilds(&log, &file.display().to_string());
        }
    }
    let least = if corpora().is_some() { 1_000 } else { 40 };
    assert!(messages > least, "{messages} messages are too few to be all");
    println!("{messages} messages rebuilt");
}

#[test]
fn unusual_messages_are_rebuilt() {
    let log = [
        r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"big"}"#,
        r#"{"jsonrpc":"2.0","id":9007199254740993,"result":[9007199254740993,1e400,0.1000,-0,1E2,123456789012345678901234567890.5]}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"fraction","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":15e-1,"result":null}"#,
        r#"{"jsonrpc":"2.0","id":"","method":""}"#,
        r#"{"jsonrpc":"2.0","id":"","result":false}"#,
        r#"{"jsonrpc":"2.0","id":"_:x","method":"@type"}"#,
        r#"{"jsonrpc":"2.0","id":"../x","method":"\u0000\u001f\u007f\uffff"}"#,
        r#"{"jsonrpc":"2.0","id":"http://example.org/ {}<>\"\\^`|","method":"m"}"#,
        r#"{"jsonrpc":"2.0","method":"dup","params":{"a":1,"a":2}}"#,
        r#"{"method":"a","method":"b","id":1}"#,
        r#"{"jsonrpc":"2.0","method":"lone","params":["\ud800","\udc00\ud800","\ud83d\ude00"]}"#,
        r#"{"jsonrpc":"2.0","method":"lone \ud800"}"#,
        r#"{"jsonrpc":"2.0","id":"\udfff","method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"\ud800"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":12345678901234567890123,"message":"m","data":null,"@id":1,"code2":2}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":"x","message":7}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":"text"}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":[1,{"a":2e2}]}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":false}"#,
        r#"{"id":4,"result":1,"error":null}"#,
        r#"{"id":4,"result":null,"error":{"code":1,"message":"m"}}"#,
        r#"{"id":4,"result":1,"error":{"code":1,"message":"m"}}"#,
        r#"{"id":null,"method":"m","params":null}"#,
        r#"{"jsonrpc":2.0,"id":true,"method":"m"}"#,
        r#"{"jsonrpc":2.0,"method":"m","params":"scalar"}"#,
        r#"{"jsonrpc":null,"result":{}}"#,
        r#"{"jsonrpc":"1.0","id":5,"method":"m","@context":{"@vocab":"http://e/"},"@id":"x","@type":["y"],"jrpc:hasError":1,"http://e/p":2,"stringValue":"s","":0,"\ud800":1}"#,
        r#"{"jsonrpc":"2.0","id":6,"method":"m","params":{"\ufb33":1,"\ud83d\ude00":2,"é":3,"@id":"x","@value":1}}"#,
        r#"{"jsonrpc":"2.0","id":6,"result":{"@context":"http://e/","@graph":[],"@list":[1]}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\u0000t","arguments":{"name":1}}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{"isError":true,"protocolVersion":"1","n":9007199254740993}}"#,
        r#"{"jsonrpc":"2.0","id":8,"method":"initialize","params":{"protocolVersion":"\ud800"}}"#,
        r#"{"jsonrpc":"2.0","id":8,"result":{"isError":1,"protocolVersion":"1","isError":false}}"#,
        r#"[]"#,
        r#"[[],{},null,1,"x",{"method":"m"},{"id":6,"result":{"b":[]}},{"a":1,"a":2}]"#,
        r#"null"#,
        r#""text""#,
        r#"{}"#,
        r#"{"a":1e999999999999999999999,"b":-1E-999999999999999999999,"c":0e99999999999999999999}"#,
        r#"not json"#,
        r#"{"jsonrpc":"2.0","id":1,"#,
    ]
    .join("\n");
    assert_rebuilds(log.as_bytes(), "by hand");
    assert_rebuilds(b"{\"a\":\"\xff\"}\n\xfe\xff\n\x00\n", "bytes that are not text");

    let digits = "9".repeat(1_024);
    let log = format!(r#"{{"id":{digits},"method":"m"}}{}{{"id":{digits}9,"method":"m"}}"#, "\n");
    assert_rebuilds(log.as_bytes(), "long ids");
}

/// If the log names the senders, an answer comes from the other side; in these sessions it follows its request.
#[test]
fn sessions_with_senders() {
    let mut sessions = 0;
    let mut paths = files(&own("tests/logs"), ".io");
    let own_sessions = paths.len();
    paths.extend(corpora().iter().flat_map(|corpora| files(&corpora.join("eth-execution-apis"), ".io")));
    for file in paths {
        let log = fs::read(&file).expect("a session");
        let quads = convert(&log);
        let session = rebuild(&quads).expect("a session's graph").remove(0);
        let lines = log.split(|byte| *byte == b'\n').filter_map(|line| {
            line.strip_prefix(b">>").map(|text| (true, text)).or(line.strip_prefix(b"<<").map(|text| (false, text)))
        });
        let mut request = None;
        let mut answers = BTreeMap::new();
        for ((sent, text), record) in lines.zip(&session.records) {
            let RebuiltContent::Json(again) = &record.content else { panic!("{}: {record:?}", file.display()) };
            let (original, again) = (json::parse(text).expect("JSON"), json::parse(again.as_bytes()).expect("JSON"));
            assert!(same_value(&original, &again), "{}", file.display());
            match (sent, request.take()) {
                (true, _) => request = Some(record.iri.clone()),
                (false, Some(asked)) => {
                    answers.insert(record.iri.clone(), asked);
                }
                (false, None) => panic!("{}: an answer to nothing", file.display()),
            }
        }
        assert_eq!(session.answers, answers, "{}", file.display());
        sessions += 1;
    }
    assert_eq!(sessions - own_sessions, if corpora().is_some() { 232 } else { 0 });
    assert!(own_sessions > 1);
}
