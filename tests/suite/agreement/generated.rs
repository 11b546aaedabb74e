//! Logs that nobody wrote: JSON-RPC shapes, with names and values that collide with everything JSON-LD and our own
//! terms know. They agree with oxjsonld, rebuild to the same values, and convert to the same quads each time.
//!
//! The seed is fixed; `RPCGRAPH_LONG=1` takes many more, of other seeds.

use oxrdf::NamedNode;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rpcgraph::json;
use rpcgraph::mapping::Mapping;
use rpcgraph::rebuild::{RebuiltContent, rebuild};

use super::{MAPPINGS, Program};
use crate::support::same_value;

/// Members of messages and errors.
const MEMBERS: &[&str] = &["jsonrpc", "id", "method", "params", "result", "error", "code", "message", "data"];

/// Names and strings, as JSON text, that something else might take for its own.
const COLLIDING: &[&str] = &[
    r#""@id""#,
    r#""@type""#,
    r#""@context""#,
    r#""@graph""#,
    r#""@value""#,
    r#""@list""#,
    r#""@set""#,
    r#""@reverse""#,
    r#""@json""#,
    r#""@none""#,
    r#""@unknown""#,
    r#""@""#,
    r#""@1""#,
    r#""\u0040id""#,
    r#""jrpc:hasError""#,
    r#""jrpc:hasId""#,
    r#""http://json-rpc.org/ontology#hasErrorData""#,
    r#""https://w3id.org/rpcgraph#text""#,
    r#""rpcg:extraMembers""#,
    r#""rpcg:inSession""#,
    r#""rdfs:label""#,
    r#""xsd:string""#,
    r#""stringValue""#,
    r#""numberValue""#,
    r#""Error""#,
    r#""RequestId""#,
    r#""http://example.org/p""#,
    r#""http://example.org/a b""#,
    r#""http://[""#,
    r#""urn:x""#,
    r#""mailto:""#,
    r#""a:b""#,
    r#"":""#,
    r#""_:x""#,
    r#""_:""#,
    r#""_:b0""#,
    r##""#m1""##,
    r##""#m1-id""##,
    r#""../x""#,
    r#""//x/y""#,
    r#""?""#,
    r#""""#,
    r#"" ""#,
    r#""2.0""#,
    r#""rpc.call""#,
    r#""toString""#,
    r#""name""#,
    r#""isError""#,
    r#""\u0000""#,
    r#""\b\t\n\f\r\"\\\/\u001f\u007f\u0085\u2028""#,
    r#""\ud800""#,
    r#""x\udc00y""#,
    r#""\udc00\ud800""#,
    r#""\ufb33""#,
    r#""\uffff""#,
    r#""😀""#,
    r#""é""#,
];

/// Numbers that some processor changes.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-0.0",
    "0e5",
    "1",
    "1.0",
    "10e-1",
    "1.5",
    "-32601",
    "-32000",
    "0.1",
    "1e2",
    "1E+2",
    "100e-2",
    "1e20",
    "1e21",
    "123456789012345678901",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "18446744073709551616",
    "9007199254740993.0",
    "9007199254740992.5",
    "1.00000000000000000001",
    "0.1000000000000000055511151231257827",
    "5e-324",
    "1e-400",
    "1e308",
    "1e400",
    "-1e400",
    "1e999999999999999999999",
    "2.5e-7",
    "1e-6",
    "123456.789e-2",
];

/// White space of JSON.
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    json::write_str(text, &mut quoted);
    quoted
}

fn string() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(COLLIDING).prop_map(str::to_owned),
        1 => any::<String>().prop_map(|text| quoted(&text)),
        2 => "[a-z]{1,8}".prop_map(|text| quoted(&text)),
    ]
}

/// Names of members, none of them a blank node or an IRI that is none: oxjsonld drops the nodes below such a property,
/// where JSON-LD drops only the property (Deserialize JSON-LD to RDF). About that jsonld.js is asked.
fn name() -> impl Strategy<Value = String> {
    let no_property = |name: &str| name.contains(':') && NamedNode::new(name.trim_matches('"')).is_err();
    prop_oneof![
        2 => string().prop_map(move |name| if no_property(&name) { name.replace(':', "") } else { name }),
        3 => select(MEMBERS).prop_map(quoted),
    ]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => select(NUMBERS).prop_map(str::to_owned),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => any::<f64>().prop_filter_map("JSON has no such number", |number| {
            number.is_finite().then(|| format!("{number:e}"))
        }),
    ]
}

fn object(members: Vec<(String, String)>) -> String {
    let members: Vec<_> = members.into_iter().map(|(name, value)| format!("{name}:{value}")).collect();
    format!("{{{}}}", members.join(","))
}

fn array(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

fn value() -> impl Strategy<Value = String> + Clone {
    let leaf = prop_oneof![
        select(["null", "true", "false", "[]", "{}"].as_slice()).prop_map(str::to_owned),
        string(),
        number(),
    ];
    let value = leaf.prop_recursive(4, 24, 4, |value| {
        prop_oneof![
            vec(value.clone(), 0..4).prop_map(|items| array(&items)),
            vec((name(), value), 0..4).prop_map(object),
        ]
    });
    value.boxed()
}

/// Members that make a message of a kind, more often than not.
fn message() -> impl Strategy<Value = String> {
    let id = prop_oneof![3 => select(["1", "2", "\"a\"", "\"_:x\""].as_slice()).prop_map(str::to_owned), 1 => string(), 1 => number()];
    let error = vec((select(["code", "message", "data", "more"].as_slice()).prop_map(quoted), value()), 0..4)
        .prop_map(object)
        .boxed();
    let method = prop_oneof![3 => Just("\"tools/call\"".to_owned()), 1 => string()];
    let pair = |name: &'static str, value: BoxedStrategy<String>| value.prop_map(move |value| (quoted(name), value));
    let kinds = prop_oneof![
        (pair("method", method.clone().boxed()), pair("id", id.clone().boxed())).prop_map(|(a, b)| vec![a, b]),
        pair("method", method.boxed()).prop_map(|a| vec![a]),
        (pair("result", value().boxed()), pair("id", id.clone().boxed())).prop_map(|(a, b)| vec![a, b]),
        (pair("error", error), pair("id", id.boxed())).prop_map(|(a, b)| vec![a, b]),
    ];
    let version = vec(Just(("\"jsonrpc\"".to_owned(), "\"2.0\"".to_owned())), 0..2);
    let params = vec(pair("params", value().boxed()), 0..2);
    let more = vec((name(), value()), 0..3);
    (version, kinds, params, more)
        .prop_map(|(version, kind, params, more)| object([version, kind, params, more].into_iter().flatten().collect()))
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => message(),
        2 => vec(message(), 0..4).prop_map(|messages| array(&messages)),
        2 => value(),
        1 => (message(), 1..40_usize).prop_map(|(message, cut)| message.chars().take(cut).collect()),
        1 => "[^\\n\\r]{1,12}",
    ]
}

/// A log: a line for each record.
pub(super) fn log() -> impl Strategy<Value = String> {
    // The first line makes it a log of JSON.
    vec(line(), 1..6).prop_map(|lines| format!("{{\"method\":\"first\"}}\n{}\n", lines.join("\n")))
}

fn is_long() -> bool {
    std::env::var_os("RPCGRAPH_LONG").is_some_and(|long| long != "0" && !long.is_empty())
}

fn runner(cases: u32) -> TestRunner {
    let config =
        Config { cases: if is_long() { 100 * cases } else { cases }, failure_persistence: None, ..Config::default() };
    if is_long() {
        TestRunner::new(config)
    } else {
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
    }
}

/// Some generated logs, always the same ones unless many are asked for.
pub(super) fn logs(count: u32) -> Vec<String> {
    let mut runner = runner(count);
    let count = runner.config().cases;
    (0..count).map(|_| log().new_tree(&mut runner).expect("a log").current()).collect()
}

#[test]
fn generated_logs_agree() {
    let programs = std::cell::RefCell::new(MAPPINGS.map(|mapping| Program::new(mapping, &[])));
    let outcome = runner(150).run(&log(), |log| {
        for program in programs.borrow_mut().iter_mut() {
            program.assert_agrees(log.as_bytes(), &log);
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn generated_logs_rebuild() {
    let program = std::cell::RefCell::new(Program::json_lines(Mapping::Session));
    let outcome = runner(300).run(&log(), |log| {
        let mut program = program.borrow_mut();
        let quads = program.quads(log.as_bytes());
        prop_assert_eq!(&quads, &program.quads(log.as_bytes()), "the second time it is another graph");
        let sessions = rebuild(&quads).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(sessions.len(), 1);
        let lines: Vec<_> = log.lines().filter(|line| !line.trim_matches(BLANKS).is_empty()).collect();
        prop_assert_eq!(sessions[0].records.len(), lines.len());
        for (record, line) in sessions[0].records.iter().zip(lines) {
            match (&record.content, json::parse(line.as_bytes())) {
                (RebuiltContent::Json(text), Ok(original)) => {
                    let again = json::parse(text.as_bytes());
                    let again = again.map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
                    prop_assert!(same_value(&original, &again), "{line}\n{text}");
                }
                (RebuiltContent::Text(text), Err(_)) => prop_assert_eq!(text.as_str(), line.trim_matches(BLANKS)),
                (content, original) => prop_assert!(false, "{content:?} but {original:?}"),
            }
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
