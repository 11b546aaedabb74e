//! What protocols say of messages: which nodes there are, what leads to them, and that no log can forge any.

mod rounds;

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
pub(crate) fn said(quads: &[Quad], properties: &[&str]) -> BTreeSet<String> {
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

#[test]
fn requests_and_their_answers_are_in_operations() {
    let log = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}
{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///a b"}}
{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"a"}}
{"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"no"}}
{"jsonrpc":"2.0","id":1,"result":{}}
{"jsonrpc":"2.0","id":1,"result":{}}
[{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"a"}},{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{"level":"debug"}}]
{"jsonrpc":"2.0","id":6,"method":"initialize","params":{"processId":1,"capabilities":{}}}
{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":8,"method":"elicitation/create","params":{"sessionId":"s","message":"m"}}
{"jsonrpc":"2.0","id":9,"method":"subtract","params":{"name":"a"}}
{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":["a"]}}
{"jsonrpc":"2.0","id":null,"method":"ping"}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}
{"jsonrpc":"2.0","id":9,"result":{"tools":[{"name":"a"}]}}
"#;
    let quads = convert(log.as_bytes());
    let links = ["inOperation", "executesTool", "accessesResource", "instantiatesPrompt", "hasName", "hasURI"];
    let expected = [
        "m1 inOperation m1-op",
        "m1-op executesTool m1-tool",
        "m1-tool hasName a",
        "m2 inOperation m2-op",
        "m2-op accessesResource m2-resource",
        "m2-resource hasURI file:///a b",
        "m3 inOperation m3-op",
        "m3-op instantiatesPrompt m3-prompt",
        "m3-prompt hasName a",
        "m4 inOperation m2-op",
        "m5 inOperation m1-op",
        "m7.1 inOperation m7.1-op",
        "m7.1-op executesTool m1-tool",
        "m7.2 inOperation m7.2-op",
        "m12 inOperation m12-op",
        "m13 inOperation m13-op",
    ];
    assert_eq!(said(&quads, &links), set(expected));
    let classes: BTreeSet<_> = said(&quads, &["type"]).into_iter().filter(|line| line.contains("-op ")).collect();
    let expected = [
        "m1-op type CallToolOperation",
        "m2-op type ReadResourceOperation",
        "m3-op type GetPromptOperation",
        "m7.1-op type CallToolOperation",
        "m7.2-op type Operation",
        "m12-op type CallToolOperation",
        "m13-op type PingOperation",
    ];
    assert_eq!(classes, set(expected));
}

#[test]
fn a_definition_is_gone_when_all_pages_lack_it() {
    let pages = [
        definitions("1", &["a", "b"], "", "2"),
        definitions("2", &["c"], "2", ""),
        // Without a first page, nothing is known to be gone.
        definitions("3", &["c"], "2", ""),
        definitions("4", &["b"], "", "2"),
        // Another pass begins, and the one before is never complete.
        definitions("5", &["c", "c"], "", "2"),
        definitions("6", &["b"], "3", ""),
        definitions("7", &["c"], "", "2"),
        definitions("8", &["b"], "2", ""),
        definitions("9", &["a"], "", ""),
    ];
    let quads = convert(pages.concat().as_bytes());
    let expected = [
        "m18-tool1 definedIn m18",
        "m18-tool1 wasRevisionOf m2-tool1",
        "m2-tool1 definedIn m2",
        "m2-tool1 removedIn m16",
        "m2-tool2 definedIn m12",
        "m2-tool2 definedIn m16",
        "m2-tool2 definedIn m2",
        "m2-tool2 definedIn m8",
        "m2-tool2 removedIn m18",
        "m4-tool1 definedIn m10",
        "m4-tool1 definedIn m14",
        "m4-tool1 definedIn m4",
        "m4-tool1 definedIn m6",
        "m4-tool1 removedIn m18",
    ];
    assert_eq!(said(&quads, &["definedIn", "removedIn", "wasRevisionOf"]), set(expected));
}

#[test]
fn sessions_have_definitions_of_their_own() {
    let line = |session: &str, raw: &str| {
        format!(
            "{{\"session_id\":\"{session}\",\"ts\":\"2026-01-05T10:00:00Z\",\"direction\":\"c2s\",\"transport\":\"stdio\",\"raw\":{raw}}}\n"
        )
    };
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
    let log = [line("a", call), line("b", call), line("a", call)].concat();
    let expected = ["m1-op executesTool m1-tool", "m2-op executesTool m2-tool", "m3-op executesTool m1-tool"];
    assert_eq!(said(&convert(log.as_bytes()), &["executesTool"]), set(expected));
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
    assert_eq!(said(&quads, &["hasURI"]).len(), 2 * odd.len());
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
        // Nothing is said of a node but what hangs on the message that it is named after.
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

/// A million tools and a list that is never the same twice are written, and not all remembered: those of other sessions are
/// forgotten first.
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
        said(&quads, &["definedIn"]).into_iter().filter(|line| line.ends_with(" definedIn m8")).collect();
    assert_eq!(shown, set(["m2-tool2 definedIn m8", "m8-tool2 definedIn m8"]));
}

#[test]
fn contents_of_tool_results_and_resources_are_listed() {
    let log = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}
{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///a"}}
{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"x"},{"type":"resource_link","uri":"file:///b","name":"b"},{"type":"resource","resource":{"uri":"file:///c","mimeType":"text/plain","text":""}},{"type":"hologram"},7]}}
{"jsonrpc":"2.0","id":2,"result":{"contents":[{"uri":"file:///a","mimeType":"image/png","blob":"AA=="},{"uri":"file:///a","text":"y"}]}}
{"jsonrpc":"2.0","id":3,"method":"ping"}
{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text"}],"isError":true,"tools":[{"name":"a"}],"serverInfo":{"name":"s"}}}
"#;
    let quads = convert(log.as_bytes());
    let links = ["toolResult", "hasContent", "hasContents", "hasContentType", "hasMimeType", "uri", "size"];
    let expected = [
        "m3 toolResult m3-result",
        "m3-result hasContent m3-content1",
        "m3-result hasContent m3-content2",
        "m3-result hasContent m3-content3",
        "m3-result hasContent m3-content4",
        "m3-result hasContent m3-content5",
        "m3-content1 hasContentType text",
        "m3-content1 size 26",
        "m3-content2 hasContentType resource_link",
        "m3-content2 uri file:///b",
        "m3-content2 size 53",
        "m3-content3 hasContentType resource",
        "m3-content3 hasMimeType text/plain",
        "m3-content3 uri file:///c",
        "m3-content3 size 84",
        "m3-content4 hasContentType hologram",
        "m3-content4 size 19",
        "m3-content5 size 1",
        "m2-resource hasContents m4-content1",
        "m2-resource hasContents m4-content2",
        "m4-content1 hasMimeType image/png",
        "m4-content1 uri file:///a",
        "m4-content1 size 56",
        "m4-content2 uri file:///a",
        "m4-content2 size 30",
    ];
    assert_eq!(said(&quads, &links), set(expected));
    let types: BTreeSet<_> = said(&quads, &["type"]).into_iter().filter(|line| line.contains("-content")).collect();
    let expected = [
        "m3-content1 type TextContent",
        "m3-content2 type ResourceLink",
        "m3-content3 type EmbeddedResource",
        "m3-content4 type Content",
        "m3-content5 type Content",
        "m4-content1 type BlobResourceContents",
        "m4-content2 type TextResourceContents",
    ];
    assert_eq!(types, set(expected));
    assert!(said(&quads, &["isError"]).contains("m3 isError true"));
}

#[test]
fn sides_and_what_they_can_do() {
    let discover = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"desk","version":"2"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}"#;
    let log = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{{"roots":{{"listChanged":true}},"sampling":{{}}}},"clientInfo":{{"name":"desk","title":"Desk","version":"1"}}}}}}
{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"weather","version":"0.9"}}}}}}
{{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{{{discover}}}}}
{{"jsonrpc":"2.0","id":2,"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{}}}},"_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"weather","version":"1"}}}}}}}}
{{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{{{discover}}}}}
"#
    );
    let quads = convert(log.as_bytes());
    let links = [
        "introduces",
        "hasCapabilities",
        "clientCapabilities",
        "hasName",
        "hasTitle",
        "hasVersion",
        "hasProtocolVersion",
    ];
    let expected = [
        "m1 introduces m1-client",
        "m1-client hasName desk",
        "m1-client hasTitle Desk",
        "m1-client hasVersion 1",
        "m1-client hasProtocolVersion 2025-11-25",
        "m1-client clientCapabilities m1-capability1",
        "m1-client clientCapabilities m1-capability2",
        "m1-capability1 hasName roots",
        "m1-capability2 hasName sampling",
        "m2 introduces m2-server",
        "m2-server hasName weather",
        "m2-server hasVersion 0.9",
        "m2-server hasProtocolVersion 2025-06-18",
        "m2-server hasCapabilities m2-capability1",
        "m2-capability1 hasName tools",
        "m3 introduces m3-client",
        "m3-client hasName desk",
        "m3-client hasVersion 2",
        "m3-client hasProtocolVersion 2026-07-28",
        "m3-client clientCapabilities m3-capability1",
        "m3-capability1 hasName elicitation",
        "m4 introduces m4-server",
        "m4-server hasName weather",
        "m4-server hasVersion 1",
        "m4-server hasCapabilities m4-capability1",
        "m4-capability1 hasName tools",
        "m5 introduces m3-client",
    ];
    assert_eq!(said(&quads, &links), set(expected));
    assert!(said(&quads, &["value"]).contains(r#"m1-capability1 value {"listChanged":true}"#));
    let columns = ["client", "clientVersion", "server", "serverVersion", "asked", "agreed", "clientCapabilities"];
    let expected = [
        r#"desk 1 weather 0.9 2025-11-25 2025-06-18 ["roots","sampling"]"#,
        r#"desk 2 weather 1 2026-07-28 - ["elicitation"]"#,
    ];
    assert_eq!(answers("handshake", &log, &columns), expected);
}

/// Since MCP's 2026-07-28 no message has to come first.
#[test]
fn sides_that_shake_no_hands() {
    let request = |id: u32, version: &str| {
        let meta = format!(
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"desk","version":"{version}"}},"io.modelcontextprotocol/clientCapabilities":{{"sampling":{{}},"a\"b\\":{{}}}}"#
        );
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\",\"params\":{{\"_meta\":{{{meta}}}}}}}\n")
    };
    let log = [request(1, "1"), request(2, "1"), request(3, "2"), request(4, "2"), request(5, "1")].concat();
    let columns = ["request", "client", "clientVersion", "asked", "agreed", "clientCapabilities", "serverCapabilities"];
    let expected = ["m1 desk 1", "m3 desk 2", "m5 desk 1"];
    let expected = expected.map(|told| format!(r#"{told} 2026-07-28 - ["a%22b%5C","sampling"] -"#));
    assert_eq!(answers("handshake", &log, &columns), expected);
}

#[test]
fn notifications_lead_to_open_requests() {
    let log = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"1","traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":1,"traceparent":"00-0AF7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"}}}
{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"_meta":{"progressToken":1}}}
{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"1","progress":1}}
{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"2"}}
{"jsonrpc":"2.0","id":2,"result":{}}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}
{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}
{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","logger":"db","data":1,"_meta":{"traceparent":"00-00000000000000000000000000000000-00f067aa0ba902b7-01"}}}
"#;
    let links = ["progressOf", "cancels", "traceId", "parentSpanId", "hasLevel", "hasLogger"];
    let expected = [
        "m1 traceId 0af7651916cd43dd8448eb211c80319c",
        "m1 parentSpanId 00f067aa0ba902b7",
        "m4 progressOf m1",
        // Of the client's request or of the server's: nobody knows who tells, so there is no link, until one is left.
        "m6 cancels m2",
        // Too late.
        "m9 cancels m2",
        "m10 progressOf m3",
        "m11 hasLevel error",
        "m11 hasLogger db",
    ];
    assert_eq!(said(&convert(log.as_bytes()), &links), set(expected));
}

/// A log of the proxy mcpsnoop: each message with its second.
fn timed(lines: &[(&str, &str)]) -> String {
    let line = |(second, raw): &(&str, &str)| {
        let told = ["\"result\":", "\"error\":"].iter().any(|member| raw.contains(member));
        let direction = if told { "s2c" } else { "c2s" };
        format!(
            "{{\"session_id\":\"s\",\"ts\":\"2026-01-05T10:00:{second}Z\",\"direction\":\"{direction}\",\"transport\":\"stdio\",\"raw\":{raw}}}\n"
        )
    };
    lines.iter().map(line).collect()
}

/// Columns of what a question finds in a log.
fn answers(question: &str, log: &str, columns: &[&str]) -> Vec<String> {
    let log = rpcgraph::Log::read("log", std::io::Cursor::new(log.to_owned())).with_base(BASE).expect("an IRI");
    let rows = log.ask(&rpcgraph::Query::named(question).expect("a query")).expect("an answer");
    let shown = rows.map(|row| {
        let row = row.expect("a row");
        let values = columns.iter().map(|column| row.text(column).unwrap_or("-"));
        values.map(|value| value.rsplit('#').next().unwrap_or(value)).collect::<Vec<_>>().join(" ")
    });
    shown.collect()
}
