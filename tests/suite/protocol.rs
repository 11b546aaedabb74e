//! Nodes of protocols: no log forges them, and memory is bounded.

use std::collections::BTreeSet;

use oxrdf::{NamedOrBlankNode, Quad, Term};
use rpcgraph::convert::Options;
use rpcgraph::protocol::Protocol;
use rpcgraph::record::{Format, ReaderOptions};
use rpcgraph::vocab::mcp;

use crate::support::{BASE, convert, convert_with};

/// A term without what is around it: fragments of the session, local names, the text of literals.
fn short(text: &str) -> &str {
    text.strip_prefix(BASE)
        .map_or_else(|| text.rsplit(['#', '/']).next().unwrap_or(text), |rest| &rest[1.min(rest.len())..])
}

/// Statements of a graph with one of these properties, as `subject property object`.
pub(crate) fn statements(quads: &[Quad], properties: &[&str]) -> BTreeSet<String> {
    let shown = quads.iter().filter(|quad| properties.contains(&short(quad.predicate.as_str()))).map(|quad| {
        let NamedOrBlankNode::NamedNode(subject) = &quad.subject else { panic!("{quad}") };
        let object = match &quad.object {
            Term::NamedNode(node) => short(node.as_str()),
            Term::Literal(literal) => literal.value(),
            other => panic!("{other}"),
        };
        format!("{} {} {object}", short(subject.as_str()), short(quad.predicate.as_str()))
    });
    shown.collect()
}

pub(crate) fn set<const N: usize>(lines: [&str; N]) -> BTreeSet<String> {
    lines.map(str::to_owned).into()
}

pub(crate) fn with_protocol(log: &[u8], protocol: Protocol) -> BTreeSet<String> {
    let quads = convert_with(log, &[], Options { protocol, ..Options::default() });
    quads.iter().map(Quad::to_string).collect()
}

fn definitions(name: &str, tools: &[&str], asked: &str, next: &str) -> String {
    let tools =
        tools.iter().map(|tool| format!(r#"{{"name":"{tool}","inputSchema":{{}}}}"#)).collect::<Vec<_>>().join(",");
    let (request, answer) = match (asked, next) {
        ("", "") => (String::new(), String::new()),
        ("", next) => (String::new(), format!(r#","nextCursor":"{next}""#)),
        (asked, "") => (format!(r#","params":{{"cursor":"{asked}"}}"#), String::new()),
        (asked, next) => (format!(r#","params":{{"cursor":"{asked}"}}"#), format!(r#","nextCursor":"{next}""#)),
    };
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"{name}\",\"method\":\"tools/list\"{request}}}\n\
         {{\"jsonrpc\":\"2.0\",\"id\":\"{name}\",\"result\":{{\"tools\":[{tools}]{answer}}}}}\n"
    )
}

/// Names and URIs of the log are strings, whatever they look like.
#[test]
fn no_log_forges_a_node() {
    let odd =
        ["#m1", "m1-op", "", "#", BASE, &format!("{BASE}#m1"), "http://modelcontextprotocol.io/ontology#Tool", "> <x"];
    let mut log = String::new();
    for (number, name) in odd.iter().enumerate() {
        log.push_str(&format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"{name}"}}}}
{{"jsonrpc":"2.0","id":"r{number}","method":"resources/read","params":{{"uri":"{name}"}}}}
{{"jsonrpc":"2.0","id":"l{number}","method":"resources/list","params":{{"cursor":"{name}"}}}}
{{"jsonrpc":"2.0","id":"l{number}","result":{{"resources":[{{"uri":"{name}","name":"{name}","@id":"{name}","@type":"{name}"}}],"nextCursor":"{name}"}}}}
"#
        ));
    }
    let nodes =
        regex::Regex::new(r"^(#m\d+(\.\d+)?(-(id|error|op|(tool|resource|content)\d*))?)?$").expect("a pattern");
    let quads = convert(log.as_bytes());
    assert_eq!(statements(&quads, &["hasURI"]).len(), 2 * odd.len());
    for quad in &quads {
        let object = match &quad.object {
            Term::NamedNode(node) => Some(node.as_str()),
            _ => None,
        };
        let NamedOrBlankNode::NamedNode(subject) = &quad.subject else { panic!("{quad}") };
        let minted = subject.as_str().strip_prefix(BASE).expect("a node of the session");
        assert!(nodes.is_match(minted), "{quad}");
        let inside = object.and_then(|object| object.strip_prefix(BASE));
        assert!(inside.is_none_or(|inside| nodes.is_match(inside)), "{quad}");
        // Nodes have only properties from the message that they are named after.
        let is_message = !minted.contains('-') && !minted.is_empty();
        assert!(!is_message || !quad.predicate.as_str().starts_with(mcp::NAMESPACE), "{quad}");
    }
}

#[test]
fn without_protocols_the_rest_is_the_same() {
    let log = include_bytes!("../cases/definitions/log.ndjson");
    let (auto, mcp, none) =
        (with_protocol(log, Protocol::Auto), with_protocol(log, Protocol::Mcp), with_protocol(log, Protocol::None));
    assert_eq!(auto, mcp);
    assert!(none.is_subset(&auto) && none.len() < auto.len());
    assert!(none.iter().all(|line| !line.contains(mcp::NAMESPACE) && !line.contains("inOperation")));
}

/// A million tools, and a list that changes every time, are written but not all remembered: definitions of other sessions are
/// forgotten first.
#[test]
fn definitions_are_outdated_until_they_are_listed_again() {
    let changed = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";
    let call =
        |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"add"}}}}"#) + "\n";
    let answer = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#) + "\n";
    let listed = |id, tools: &[&str]| definitions(id, tools, "", "");
    let outdated = |log: String| statements(&convert(log.as_bytes()), &["definitionOutdated"]);
    // A notice between the call and its answer, and before the next call.
    let noticed = listed("a", &["add"]) + &call(1) + changed + &answer(1) + &call(2);
    assert_eq!(outdated(noticed.clone()), set(["m5 definitionOutdated true", "m6 definitionOutdated true"]));
    assert_eq!(outdated(noticed + &listed("b", &["add"]) + &call(3)).len(), 2, "listed again");
    // The list lacks the tool, or nothing ever listed it.
    assert_eq!(
        outdated(listed("a", &["add"]) + &call(1) + &listed("b", &[]) + &answer(1)),
        set(["m6 definitionOutdated true"])
    );
    assert_eq!(outdated(call(1) + changed + &answer(1)), set([]));
}

#[test]
fn remembered_definitions_are_bounded() {
    let mut log = String::new();
    for list in 0..3 {
        let tools: Vec<_> = (0..40_000).map(|number| format!("t{list}-{number}")).collect();
        let tools: Vec<_> = tools.iter().map(String::as_str).collect();
        log.push_str(&definitions(&list.to_string(), &tools, "x", ""));
    }
    log.push_str(&definitions("again", &["t0-1", "t2-39999"], "x", ""));
    let reader = ReaderOptions { format: Some(Format::JsonLines), ..ReaderOptions::default() };
    let quads = convert_with(log.as_bytes(), &[], Options { reader, ..Options::default() });
    let shown: BTreeSet<_> =
        statements(&quads, &["definedIn"]).into_iter().filter(|line| line.ends_with(" definedIn m8")).collect();
    assert_eq!(shown, set(["m2-tool2 definedIn m8", "m8-tool2 definedIn m8"]));
}

/// A log of a gateway: the connection of a client and the one to a server. Each call is the client's session, the gateway's, the
/// tool as the client names it, the city, and how the answer ends.
fn gateway_log(calls: &[(&str, &str, &str, &str)], trace: Option<&str>) -> String {
    let meta = trace
        .map_or_else(String::new, |trace| format!(r#","_meta":{{"traceparent":"00-{trace}-00f067aa0ba902b7-01"}}"#));
    let mut log = String::new();
    let mut line = |session: &str, side: &str, message: String| {
        log.push_str(&format!(r#"{{"session":"{session}","from":"{side}","message":{{"jsonrpc":"2.0",{message}}}}}"#));
        log.push('\n');
    };
    for (number, (client, tool, city, end)) in calls.iter().enumerate() {
        let call = |tool: &str, id: usize| {
            let params = format!(r#"{{"name":"{tool}","arguments":{{"city":"{city}"}}{meta}}}"#);
            format!(r#""id":{id},"method":"tools/call","params":{params}"#)
        };
        let (asked, outer) = (call(tool, number), format!(r#""id":{number},"result":{{"content":[]}}"#));
        let (forwarded, inner) =
            (call("forecast", 900 + number), outer.replacen(&number.to_string(), &(900 + number).to_string(), 1));
        line(client, "client", asked);
        match *end {
            "cache" => line(client, "server", outer),
            "early" => [("up", "client", forwarded), (client, "server", outer), ("up", "server", inner)]
                .into_iter()
                .for_each(|(session, side, message)| line(session, side, message)),
            _ => [("up", "client", forwarded), ("up", "server", inner), (client, "server", outer)]
                .into_iter()
                .for_each(|(session, side, message)| line(session, side, message)),
        }
    }
    log
}

/// A gateway asks a server while its client waits. It shows the tool under a name with a prefix, and knows some answers.
#[test]
fn a_gateway_forwards_requests() {
    let forwards = |calls: &[_], trace| statements(&convert(gateway_log(calls, trace).as_bytes()), &["forwards"]);
    let calls =
        [("a", "weather__forecast", "Oslo", ""), ("b", "forecast", "Bonn", "cache"), ("b", "forecast", "Rome", "")];
    assert_eq!(forwards(&calls, None), set(["m1 forwards m2", "m7 forwards m8"]));
    // One call may be an accident, unless both belong to one trace.
    assert_eq!(forwards(&calls[..1], None), set([]));
    assert_eq!(forwards(&calls[..1], Some("4bf92f3577b34da6a3ce929d0e0e4736")), set(["m1 forwards m2"]));
    // Another tool, and a client that has its answer before the gateway has it.
    assert_eq!(forwards(&[("a", "overcast", "Oslo", ""), ("a", "overcast", "Rome", "")], None), set([]));
    assert_eq!(forwards(&[("a", "forecast", "Oslo", "early"), ("a", "forecast", "Rome", "early")], None), set([]));
}
