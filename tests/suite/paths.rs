//! The fast path and the reference path give the same graph, and any number of threads the same bytes.

use std::fs;
use std::path::PathBuf;

use oxrdf::Quad;
use proptest::prelude::*;
use rpcgraph::context::{Context, Loader, Reference};
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::sink::{Sink, Syntax};
use rpcgraph::summary::Summary;
use rpcgraph::vocab::rpcg;

use crate::support::{BASE, assert_isomorphic, files, logs, needed_corpora, own};

fn mapped(
    log: &[u8],
    mapping: Mapping,
    contexts: &[Context],
    stated: bool,
    reference_only: bool,
) -> (Vec<Quad>, Summary) {
    let mapper = Mapper::new(mapping, contexts).unwrap().with_provenance(true).with_reference_only(reference_only);
    let mut quads = Vec::new();
    let options = Options { log_lines: true, ..Options::default() };
    let input = Input { name: "log".into(), source: "log".into(), iri: BASE.into(), iri_stated: stated, read: log };
    let mut sink = Sink::quads(&mut quads);
    let mut summary = Converter::new(mapper, options).convert(input, &mut sink, &mut |_| {}).unwrap();
    drop(sink);
    // The one thing that has to differ.
    summary.by_reference.clear();
    (quads, summary)
}

fn assert_paths_agree(log: &[u8], what: &str) {
    for (mapping, stated) in [(Mapping::Session, true), (Mapping::Bblock, true), (Mapping::Bblock, false)] {
        assert_paths_agree_under(log, mapping, &[], stated, what);
    }
}

fn assert_paths_agree_under(log: &[u8], mapping: Mapping, contexts: &[Context], stated: bool, what: &str) {
    let (fast, mut fast_summary) = mapped(log, mapping, contexts, stated, false);
    let (reference, reference_summary) = mapped(log, mapping, contexts, stated, true);
    assert_isomorphic(&fast, &reference, &format!("{what}, {mapping:?}"));
    // A statement that is made twice is counted twice, or not.
    fast_summary.triples = reference_summary.triples;
    assert_eq!(fast_summary, reference_summary, "{what}, {mapping:?}");
}

/// Contexts that the plan covers, in part or not at all.
fn further_contexts() -> Vec<Context> {
    [
        r#"{"@vocab":"http://v.example/"}"#,
        r#"{"a":"http://e/a","b":{"@id":"http://e/b","@type":"@id"},"c":{"@id":"http://e/c","@type":"@json"}}"#,
        r#"{"params":{"@id":"http://e/params","@context":{"a":"http://e/a","b":{"@id":"http://e/b","@container":"@list"}}}}"#,
        r#"{"params":{"@id":"http://e/params","@container":"@list"},"result":{"@id":"http://e/result","@container":"@set"}}"#,
        r#"{"result":{"@id":"http://e/r","@type":"http://www.w3.org/2001/XMLSchema#double"},"a":{"@id":"http://e/a","@type":"http://www.w3.org/2001/XMLSchema#string"}}"#,
        r#"{"@language":"en","a":"http://e/a","b":{"@id":"http://e/b","@language":null},"c":{"@id":"http://e/c","@language":"DE-at"},"result":"http://e/r"}"#,
        r#"{"params":{"@id":"http://e/params","@container":"@index"},"result":{"@id":"http://e/result","@container":"@language"}}"#,
        r#"{"params":{"@id":"http://e/params","@context":{"@vocab":"http://v.example/","@propagate":false}}}"#,
        r#"{"error":null,"method":null}"#,
        r#"{"error":{"@id":"http://e/error","@type":"@json"},"jsonrpc":"http://e/version"}"#,
        r#"{"data":"http://e/data","code":"http://e/code","params":{"@id":"http://json-rpc.org/ontology#hasParameters","@context":{"data":null}}}"#,
        r#"{"params":{"@reverse":"http://e/of"},"result":{"@id":"http://e/r","@type":"@vocab"}}"#,
        r#"{"a":{"@id":"http://e/a","@nest":"nested"},"nested":"@nest"}"#,
        r#"{"e":"http://e/","a":"e:a","@base":"http://base.example/","b":{"@id":"e:b","@type":"@id"}}"#,
        r#"{"@direction":"rtl","a":"http://e/a"}"#,
    ]
    .into_iter()
    .filter_map(|text| Context::from_value(text, serde_json::from_str(text).unwrap()).ok())
    .collect()
}

#[test]
fn paths_agree_under_further_contexts() {
    assert_paths_agree_under_further(
        own("examples/tool-calls.context.jsonld"),
        &[own("tests/logs/mcp/messages.ndjson"), own("tests/logs/specification/messages.ndjson")],
    );
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn paths_agree_on_the_corpora_under_further_contexts() {
    let corpora = needed_corpora();
    let logs = [
        "mcp-spec/docs-2025-11-25/messages.ndjson",
        "mined-jsonrpsee/messages.ndjson",
        "mined-mcp-sdks/messages.ndjson",
    ];
    assert_paths_agree_under_further(
        corpora.join("../reference/ogc-mcp/build/annotated/mcp/context.jsonld"),
        &logs.map(|log| corpora.join(log)),
    );
}

/// Asserts agreement under that context with scoped terms, and all others; of the first log, hardly anything needs the
/// reference path.
fn assert_paths_agree_under_further(scoped: PathBuf, logs: &[PathBuf]) {
    let mut contexts = further_contexts();
    contexts.push(Loader::new().offline(true).load(&Reference::File(scoped)).unwrap());
    for log in logs.iter().map(|log| fs::read(log).unwrap()) {
        for context in &contexts {
            for mapping in [Mapping::Session, Mapping::Bblock] {
                assert_paths_agree_under(&log, mapping, std::slice::from_ref(context), true, context.origin());
            }
        }
    }
    let log = fs::read(&logs[0]).unwrap();
    let mapper = Mapper::new(Mapping::Session, &contexts[contexts.len() - 1..]).unwrap();
    let mut quads = Vec::new();
    let mut sink = Sink::quads(&mut quads);
    let input =
        Input { name: "log".into(), source: "log".into(), iri: BASE.into(), iri_stated: true, read: log.as_slice() };
    let summary = Converter::new(mapper, Options::default()).convert(input, &mut sink, &mut |_| {}).unwrap();
    assert!(summary.by_reference.values().sum::<u64>() * 10 < summary.records, "{:?}", summary.by_reference);
}

#[test]
fn paths_agree_on_every_log() {
    for ending in ["messages.ndjson", "not-json.txt", ".io", ".log"] {
        for file in logs(ending) {
            assert_paths_agree(&fs::read(&file).unwrap(), &file.display().to_string());
        }
    }
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn paths_agree_on_the_corpora() {
    let corpora = needed_corpora();
    let reference = corpora.join("../reference");
    for file in files(&reference, ".txt").into_iter().chain(files(&corpora.join("JSONTestSuite"), ".json")) {
        assert_paths_agree(&fs::read(&file).unwrap(), &file.display().to_string());
    }
}

/// A text that cannot be written becomes null, and no context makes a list of it.
#[test]
fn paths_agree_on_lone_surrogates() {
    for context in further_contexts() {
        let log = br#"{"method":"m","params":"\ud800","a":"\ud800"}"#;
        assert_paths_agree_under(log, Mapping::Session, std::slice::from_ref(&context), true, context.origin());
    }
}

/// The facts of MCP's payloads are the same triples under any context, and absent from the mapping `bblock`.
#[test]
fn facts_are_equal_under_any_context() {
    let log = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/facts/session.ndjson")).unwrap();
    let facts = |mapping, contexts: &[Context]| {
        assert_paths_agree_under(&log, mapping, contexts, true, "facts");
        let predicates = [rpcg::TOOL_NAME, rpcg::PROTOCOL_VERSION, rpcg::IS_ERROR];
        let (quads, _) = mapped(&log, mapping, contexts, true, false);
        quads.into_iter().filter(|quad| predicates.contains(&quad.predicate.as_ref())).collect::<Vec<_>>()
    };
    let expected = facts(Mapping::Session, &[]);
    assert_eq!(expected.len(), 10);
    let mut contexts = further_contexts();
    let capturing = r#"{"name":"rpcg:toolName","isError":"http://e/x","params":{"@id":"http://e/p","@type":"@json"},"result":null}"#;
    contexts.push(Context::from_value(capturing, serde_json::from_str(capturing).unwrap()).unwrap());
    for context in &contexts {
        assert_isomorphic(&facts(Mapping::Session, std::slice::from_ref(context)), &expected, context.origin());
    }
    assert_eq!(facts(Mapping::Bblock, &[]), []);
}

/// A log that takes several chunks, of all kinds of messages.
fn long_log() -> String {
    (0..30_000)
        .map(|id| match id % 7 {
            0 => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m{id}","params":{{"b":[{id}],"a":"é\n"}}}}"#),
            1 => format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"x":{id}.5}}}}"#, id - 1),
            2 => {
                format!(r#"{{"jsonrpc":"2.0","id":"s{id}","error":{{"code":-32601,"message":"\u00e9","data":null}}}}"#)
            }
            3 => format!(r#"[{{"method":"a","id":{id}}},{{"method":"b"}},{id}]"#),
            4 => format!(r#"{{"jsonrpc":"2.0","id":{},"result":null,"extra":{{"@id":1}}}}"#, id - 4),
            5 => format!("line {id} is no JSON"),
            _ => format!(r#"{{"method":"again","id":{},"params":[{id}e-7,12345678901234567890]}}"#, id % 50),
        })
        .map(|line| line + "\n")
        .collect()
}

#[test]
fn long_logs_give_equal_output_on_any_number_of_threads() {
    let log = long_log();
    for (mapping, syntax) in [
        (Mapping::Session, Syntax::Turtle),
        (Mapping::Session, Syntax::TriG),
        (Mapping::Session, Syntax::JsonLd),
        (Mapping::Bblock, Syntax::NTriples),
    ] {
        let convert = |jobs| {
            let mut text = Vec::new();
            let mut findings = Vec::new();
            let mut converter =
                Converter::new(Mapper::new(mapping, &[]).unwrap(), Options { jobs, ..Options::default() });
            let mut sink = syntax.sink(&mut text, 1);
            let input = Input {
                name: "log".into(),
                source: "log".into(),
                iri: BASE.into(),
                iri_stated: true,
                read: log.as_bytes(),
            };
            let summary = converter.convert(input, &mut sink, &mut |finding| findings.push(finding)).unwrap();
            sink.finish().unwrap();
            drop(sink);
            (text, findings, summary)
        };
        let one = convert(1);
        assert!(one.0.len() > 2_000_000 && one.1.len() > 4_000);
        for jobs in [2, 5] {
            assert!(convert(jobs) == one, "{mapping:?} in {syntax:?} with {jobs} threads");
        }
    }
}

/// A strict run ends at the same record whatever the threads, with all before it written.
#[test]
fn strict_runs_end_at_the_same_record_on_any_number_of_threads() {
    let mut log = "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[\"some text\"]}\n".repeat(20_000);
    log.push_str("no message\n");
    log.push_str(&"{\"jsonrpc\":\"2.0\",\"method\":\"after\"}\n".repeat(20_000));
    for jobs in [1, 3] {
        let mut quads = Vec::new();
        let options = Options { strict: true, jobs, ..Options::default() };
        let mut sink = Sink::quads(&mut quads);
        let input = Input {
            name: "log".into(),
            source: "log".into(),
            iri: BASE.into(),
            iri_stated: true,
            read: log.as_bytes(),
        };
        let mapper = Mapper::new(Mapping::Session, &[]).unwrap();
        let error = Converter::new(mapper, options).convert(input, &mut sink, &mut |_| {}).unwrap_err();
        assert!(error.to_string().starts_with("log:20001: record 20001 at byte"), "{error}");
        drop(sink);
        assert_eq!(quads.len(), 20_000 * 6);
    }
}

/// Values that look like what the program itself writes, or what JSON-LD would obey.
fn colliding_name() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(vec!["jsonrpc", "id", "method", "params", "result", "error", "code", "message", "data"])
            .prop_map(str::to_owned),
        2 => prop::sample::select(vec![
            "@id", "@type", "@context", "@graph", "@value", "@foo", "@", "jrpc:hasError", "rpcg:problem", "stringValue",
            "http://json-rpc.org/ontology#hasId", "http://e/p", "_:x", "", "Request", "jrpc", "xsd", "a b", "é", "\u{fb33}",
            "😀",
        ])
        .prop_map(str::to_owned),
        1 => "[a-c]{1,2}",
    ]
}

fn json() -> impl Strategy<Value = String> {
    let string = || {
        prop_oneof![
            3 => "[a-z ]{0,8}",
            1 => prop::sample::select(vec![
                r"\n\t\\\/", r"\u00e9\u0041", r"\ud800", r"\ud83d\ude00", "\u{7f}é😀\u{ffff}", "2.0", "@type", "_:b0", "../x",
                "http://e/ x", "#m1", r"\u0000", ".", "x.y~z",
            ])
            .prop_map(str::to_owned),
        ]
        .prop_map(|text| format!("\"{text}\""))
    };
    let leaf = prop_oneof![
        2 => string(),
        2 => (-100_i64..100).prop_map(|number| number.to_string()),
        1 => prop::sample::select(vec![
            "1.0", "1.50", "-0", "1e3", "0.1", "9007199254740993", "-32601", "-32000", "1e400", "123456789012345678901234567890",
            "2.5E-8", "null", "true", "false",
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(" , "))),
            prop::collection::vec((colliding_name(), inner), 0..6).prop_map(|members| {
                let members: Vec<_> =
                    members.iter().map(|(name, value)| format!("{}: {value}", serde_json::json!(name))).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

/// A message, more or less.
fn message() -> impl Strategy<Value = String> {
    let member = prop_oneof![
        Just(r#""jsonrpc":"2.0""#.to_owned()),
        json().prop_map(|value| format!("\"id\":{value}")),
        (0..4).prop_map(|id| format!("\"id\":{id}")),
        json().prop_map(|value| format!("\"method\":{value}")),
        Just(r#""method":"m""#.to_owned()),
        json().prop_map(|value| format!("\"params\":{value}")),
        json().prop_map(|value| format!("\"result\":{value}")),
        json().prop_map(|value| format!("\"error\":{value}")),
        (json(), json(), json()).prop_map(|(code, message, data)| {
            format!(r#""error":{{"code":{code},"message":{message},"data":{data}}}"#)
        }),
        (colliding_name(), json()).prop_map(|(name, value)| format!("{}:{value}", serde_json::json!(name))),
    ];
    prop::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(",")))
}

/// A message that may have facts: its payload has the member, or a similar one.
fn message_with_facts() -> impl Strategy<Value = String> {
    let name =
        || prop::sample::select(vec!["name", "protocolVersion", "isError", r"isE\u0072ror", r#"x\"isError"#, "a"]);
    let scalar = prop::sample::select(vec![
        "true",
        "false",
        "null",
        r#""tool""#,
        r#""\"isError\":true""#,
        r#""\u0000\ud83d\ude00""#,
        r#""\ud800""#,
        "9007199254740993",
        "1e400",
    ]);
    let object = |members: Vec<(&str, String)>| {
        let members: Vec<_> = members.into_iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
        format!("{{{}}}", members.join(" , "))
    };
    let payload = scalar.prop_map(str::to_owned).prop_recursive(3, 16, 4, move |inner| {
        prop_oneof![
            4 => prop::collection::vec((name(), inner.clone()), 0..4).prop_map(object),
            1 => prop::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(","))),
        ]
    });
    let head = prop::sample::select(vec![
        r#""id":1,"method":"tools/call","params""#,
        r#""id":2,"method":"initialize","params""#,
        r#""method":"tools/call","params""#,
        r#""id":3,"method":"tools/list","params""#,
        r#""id":1,"result""#,
        r#""id":4,"error":{"code":1,"message":""},"result""#,
    ]);
    (head, payload).prop_map(|(head, payload)| format!("{{{head}:{payload}}}"))
}

/// Part of a conversation in MCP about what a server offers.
fn conversation() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(vec!["a", "b", "#m1", r#"\u00e9\""#, r"\ud800"]);
    let list = (0..3, prop::collection::vec((name(), json()), 0..3), prop::option::of(name()));
    let list = list.prop_map(|(id, tools, next)| {
        let tools: Vec<_> =
            tools.iter().map(|(name, schema)| format!(r#"{{"inputSchema":{schema},"name":"{name}"}}"#)).collect();
        let next = next.map(|next| format!(r#","nextCursor":"{next}""#)).unwrap_or_default();
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{}]{next}}}}}"#, tools.join(","))
    });
    let request = (0..3, prop::sample::select(vec!["tools/list", "tools/call"]), name(), name());
    prop_oneof![
        list,
        request.prop_map(|(id, method, name, cursor)| format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"name":"{name}","cursor":"{cursor}"}}}}"#
        )),
    ]
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![3 => conversation(), 4 => message(), 3 => message_with_facts(), 1 => json()]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("RPCGRAPH_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn paths_agree_on_generated_messages(lines in prop::collection::vec(line(), 1..8)) {
        assert_paths_agree(lines.join("\n").as_bytes(), &lines.join("\n"));
    }

    #[test]
    fn paths_agree_on_generated_messages_under_further_contexts(
        lines in prop::collection::vec(prop_oneof![2 => message(), 1 => message_with_facts()], 1..4),
        context in prop::sample::select(further_contexts()),
    ) {
        let what = format!("{} under {}", lines.join("\n"), context.origin());
        assert_paths_agree_under(lines.join("\n").as_bytes(), Mapping::Session, &[context], true, &what);
    }
}
