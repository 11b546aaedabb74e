//! What is said of messages of language servers: the documents that they name, what is found in them, and that no log can
//! forge any.

use std::collections::BTreeSet;

use oxrdf::{NamedOrBlankNode, Term};
use rpcgraph::convert::Options;
use rpcgraph::protocol::Protocol;
use rpcgraph::record::{Format, ReaderOptions};

use crate::protocol::{said, set, with_protocol};
use crate::support::{BASE, convert, convert_with};

#[test]
fn messages_lead_to_the_documents_that_they_name() {
    let log = r##"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///c%3A/a.rs","languageId":"rust","version":1,"text":"fn"}}}
{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///C:/a.rs"},"position":{"line":0,"character":0}}}
{"jsonrpc":"2.0","id":1,"result":{"contents":[],"uri":"file:///b"}}
{"jsonrpc":"2.0","id":2,"method":"workspace/applyEdit","params":{"edit":{"changes":{"file:///b":[],"#m1":[]},"documentChanges":[{"textDocument":{"uri":"file:///b","version":7},"edits":[]},{"kind":"rename","oldUri":"file:///b","newUri":"file:///d"}]}}}
{"jsonrpc":"2.0","method":"workspace/didCreateFiles","params":{"files":[{"uri":"file:///b"}]}}
{"jsonrpc":"2.0","id":3,"method":"workspace/configuration","params":{"items":[{"scopeUri":"file:///b"}]}}
{"jsonrpc":"2.0","id":4,"method":"subtract","params":{"textDocument":{"uri":"file:///b"}}}
"##;
    let quads = convert(log.as_bytes());
    let expected = [
        "m1 document m1-document1",
        "m1 mentions m1-mention1",
        "m1-mention1 document m1-document1",
        "m1-mention1 documentVersion 1",
        "m1-mention1 languageId rust",
        "m1-document1 uri file:///c%3A/a.rs",
        "m2 document m1-document1",
        "m4 document m4-document1",
        "m4 document m4-document2",
        "m4 document m4-document3",
        "m4 mentions m4-mention5",
        "m4-mention5 document m4-document2",
        "m4-mention5 documentVersion 7",
        "m4-document1 uri #m1",
        "m4-document2 uri file:///b",
        "m4-document3 uri file:///d",
        "m5 document m4-document2",
    ];
    assert_eq!(said(&quads, &["document", "mentions", "documentVersion", "languageId", "uri"]), set(expected));
    let only = |protocol| with_protocol(log.as_bytes(), protocol);
    assert_eq!(only(Protocol::Lsp), only(Protocol::Auto));
    assert_eq!(only(Protocol::Mcp), only(Protocol::None));
}

/// What a report has, in place of the one before.
fn published(uri: &str, diagnostics: &[&str]) -> String {
    let diagnostics: Vec<_> = diagnostics.iter().map(|message| diagnostic(message)).collect();
    format!(
        r#"{{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{{"uri":"{uri}","diagnostics":[{}]}}}}"#,
        diagnostics.join(",")
    ) + "\n"
}

fn diagnostic(message: &str) -> String {
    format!(
        r#"{{"range":{{"start":{{"line":1,"character":2}},"end":{{"line":3,"character":4}}}},"message":"{message}"}}"#
    )
}

#[test]
fn diagnostics_are_nodes_until_a_report_lacks_them() {
    let log = [
        published("file:///a", &["x", "y", "x"]),
        published("file:///b", &["x"]),
        published("file:///%61", &["y", "z"]),
        published("file:///a", &[]),
        published("file:///a", &["y"]),
    ];
    let quads = convert(log.concat().as_bytes());
    let expected = [
        "m1-diagnostic1 reportedIn m1",
        "m1-diagnostic1 replacedIn m3",
        "m1-diagnostic2 reportedIn m1",
        "m1-diagnostic2 replacedIn m4",
        "m2-diagnostic1 reportedIn m2",
        "m3-diagnostic1 reportedIn m3",
        "m3-diagnostic1 replacedIn m4",
        "m5-diagnostic1 reportedIn m5",
    ];
    assert_eq!(said(&quads, &["reportedIn", "replacedIn"]), set(expected));
    let log = r#"{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///a","version":3,"diagnostics":[{"range":{"start":{"line":1,"character":2},"end":{"line":3,"character":4}},"severity":2,"code":7,"source":"lint","message":{"kind":"markdown","value":"m"},"relatedInformation":[{"location":{"uri":"file:///b"},"message":"n"}]},{"code":"E1","severity":9}]}}"#;
    let quads = convert(log.as_bytes());
    let facts = [
        "document",
        "documentVersion",
        "severity",
        "code",
        "source",
        "message",
        "startLine",
        "startCharacter",
        "endLine",
        "endCharacter",
    ];
    let expected = [
        "m1 document m1-document1",
        "m1 document m1-document2",
        "m1-mention1 document m1-document1",
        "m1-mention1 documentVersion 3",
        "m1-diagnostic1 document m1-document1",
        "m1-diagnostic1 severity Warning",
        "m1-diagnostic1 code 7",
        "m1-diagnostic1 source lint",
        "m1-diagnostic1 message m",
        "m1-diagnostic1 startLine 1",
        "m1-diagnostic1 startCharacter 2",
        "m1-diagnostic1 endLine 3",
        "m1-diagnostic1 endCharacter 4",
        "m1-diagnostic2 document m1-document1",
        "m1-diagnostic2 code E1",
        // The session has one too.
        " source session.ndjson",
    ];
    assert_eq!(said(&quads, &facts), set(expected));
}

#[test]
fn diagnostics_that_are_asked_for() {
    let ask = |id: u32, rest: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"textDocument/diagnostic","params":{{"textDocument":{{"uri":"file:///a"}}{rest}}}}}"#
        ) + "\n"
    };
    let answer = |id: u32, result: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#) + "\n";
    let workspace = r#"{"jsonrpc":"2.0","id":9,"method":"workspace/diagnostic","params":{"partialResultToken":"p","previousResultIds":[]}}
{"jsonrpc":"2.0","method":"$/progress","params":{"token":"p","value":{"items":[{"kind":"full","uri":"file:///c","version":null,"items":[{"message":"x"}]}]}}}
{"jsonrpc":"2.0","id":9,"result":{"items":[]}}
{"jsonrpc":"2.0","method":"$/progress","params":{"token":"p","value":{"items":[{"kind":"full","uri":"file:///c","items":[]}]}}}
"#;
    let log = [
        published("file:///a", &["x"]),
        ask(1, ""),
        answer(
            1,
            &format!(
                r#"{{"kind":"full","resultId":"r1","items":[{}],"relatedDocuments":{{"file:///b":{{"kind":"full","items":[{{"message":"y"}}]}}}}}}"#,
                diagnostic("x")
            ),
        ),
        ask(2, r#","previousResultId":"r1""#),
        answer(2, r#"{"kind":"unchanged","resultId":"r1"}"#),
        ask(3, ""),
        answer(3, r#"{"kind":"full","items":[]}"#),
        workspace.to_owned(),
        // Items of other requests are not reports.
        r#"{"jsonrpc":"2.0","id":4,"method":"textDocument/completion","params":{"textDocument":{"uri":"file:///a"}}}"#
            .to_owned()
            + "\n",
        answer(4, r#"{"kind":"full","items":[{"kind":"full","uri":"file:///z","items":[{"message":"z"}]}]}"#),
    ];
    let quads = convert(log.concat().as_bytes());
    let expected = [
        "m1-diagnostic1 reportedIn m1",
        "m3-diagnostic1 reportedIn m3",
        "m3-diagnostic1 replacedIn m7",
        "m3-diagnostic2 reportedIn m3",
        "m3-mention1 reportKind full",
        "m3-mention1 resultId r1",
        "m3-mention2 reportKind full",
        "m5-mention1 reportKind unchanged",
        "m5-mention1 resultId r1",
        "m7-mention1 reportKind full",
        "m9 progressOf m8",
        "m9-mention1 reportKind full",
        "m9-diagnostic1 reportedIn m9",
    ];
    assert_eq!(said(&quads, &["reportedIn", "replacedIn", "reportKind", "resultId", "progressOf"]), set(expected));
    assert!(!quads.iter().any(|quad| quad.to_string().contains("inOperation")));
}

#[test]
fn sides_of_lsp_and_what_they_register() {
    let log = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":1,"clientInfo":{"name":"editor","version":"1"},"capabilities":{"workspace":{"applyEdit":true},"experimental":{}}}}
{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"hoverProvider":true},"serverInfo":{"name":"notes"}}}
{"jsonrpc":"2.0","id":1,"method":"client/registerCapability","params":{"registrations":[{"id":"r","method":"textDocument/rename","registerOptions":{"prepareProvider":true}},{"id":"s","method":"textDocument/hover"}]}}
{"jsonrpc":"2.0","id":2,"method":"client/unregisterCapability","params":{"unregisterations":[{"id":"r","method":"textDocument/rename"},{"id":"q"}]}}
{"jsonrpc":"2.0","id":3,"method":"window/workDoneProgress/create","params":{"token":"t"}}
{"jsonrpc":"2.0","id":3,"result":null}
{"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"kind":"begin","title":"Indexing"}}}
{"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"kind":"end"}}}
{"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"kind":"report"}}}
{"jsonrpc":"2.0","id":4,"method":"textDocument/rename","params":{"textDocument":{"uri":"file:///a"},"workDoneToken":5}}
{"jsonrpc":"2.0","method":"$/progress","params":{"token":5,"value":{"kind":"report"}}}
{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":4}}
{"jsonrpc":"2.0","id":4,"error":{"code":-32800,"message":"cancelled"}}
{"jsonrpc":"2.0","method":"$/progress","params":{"token":5,"value":{"kind":"report"}}}
"#;
    let links = [
        "introduces",
        "hasCapability",
        "registers",
        "unregisters",
        "name",
        "version",
        "progressOf",
        "cancels",
        "value",
    ];
    let expected = [
        "m1 introduces m1-client",
        "m1-client name editor",
        "m1-client version 1",
        "m1-client hasCapability m1-capability1",
        "m1-client hasCapability m1-capability2",
        "m1-capability1 name experimental",
        "m1-capability1 value {}",
        "m1-capability2 name workspace.applyEdit",
        "m1-capability2 value true",
        "m2 introduces m2-server",
        "m2-server name notes",
        "m2-server hasCapability m2-capability1",
        "m2-capability1 name hoverProvider",
        "m2-capability1 value true",
        "m3 registers m3-capability1",
        "m3 registers m3-capability2",
        "m3-capability1 name textDocument/rename",
        r#"m3-capability1 value {"prepareProvider":true}"#,
        "m3-capability2 name textDocument/hover",
        "m4 unregisters m3-capability1",
        "m7 progressOf m5",
        "m8 progressOf m5",
        "m11 progressOf m10",
        "m12 cancels m10",
    ];
    let quads: Vec<_> =
        convert(log.as_bytes()).into_iter().filter(|quad| !quad.predicate.as_str().contains("json-rpc")).collect();
    assert_eq!(said(&quads, &links), set(expected));
}

/// Nodes are named by counters, whatever URIs are; a million of them are written, and not all remembered.
#[test]
fn no_document_forges_a_node_and_memory_is_bounded() {
    let mut log = String::new();
    for uri in [
        "#m1",
        "",
        BASE,
        &format!("{BASE}#m1-document1"),
        "https://w3id.org/rpcgraph/lsp#Document",
        "> <x",
        "file:///%",
    ] {
        log.push_str(&published(uri, &[uri]));
    }
    let nodes = regex::Regex::new(r"^(#m\d+(-(document|diagnostic)1)?)?$").expect("a pattern");
    for quad in convert(log.as_bytes()) {
        let NamedOrBlankNode::NamedNode(subject) = &quad.subject else { panic!("{quad}") };
        assert!(nodes.is_match(subject.as_str().strip_prefix(BASE).expect("a node of the session")), "{quad}");
        if let Term::NamedNode(object) = &quad.object
            && let Some(inside) = object.as_str().strip_prefix(BASE)
        {
            assert!(nodes.is_match(inside), "{quad}");
        }
    }
    let opened = |number: u32| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didClose\",\"params\":{{\"textDocument\":{{\"uri\":\"file:///{number}\"}}}}}}\n"
        )
    };
    let mut log: String = (0..70_000).map(opened).collect();
    let distinct: Vec<_> = (0..100).map(|number| number.to_string()).collect();
    for diagnostic in &distinct {
        log.push_str(&published("file:///1", &[diagnostic]));
    }
    log.push_str(&opened(7));
    log.push_str(&opened(69_999));
    let reader = ReaderOptions { format: Some(Format::JsonLines), ..ReaderOptions::default() };
    let quads = convert_with(log.as_bytes(), &[], Options { reader, ..Options::default() });
    let last: BTreeSet<_> = said(&quads, &["document"])
        .into_iter()
        .filter(|line| line.starts_with("m70101 ") || line.starts_with("m70102 "))
        .collect();
    assert_eq!(last, set(["m70101 document m8-document1", "m70102 document m70102-document1"]));
    assert_eq!(said(&quads, &["reportedIn"]).len(), distinct.len());
    assert!(said(&quads, &["replacedIn"]).is_empty());
}
