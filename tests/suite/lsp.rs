//! Documents and diagnostics of LSP: no log forges them, and memory is bounded.

use std::collections::BTreeSet;

use oxrdf::{NamedOrBlankNode, Term};
use rpcgraph::convert::Options;
use rpcgraph::record::{Format, ReaderOptions};

use crate::protocol::{set, statements};
use crate::support::{BASE, convert, convert_with};

/// A report of diagnostics, which replaces the one before.
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
    let last: BTreeSet<_> = statements(&quads, &["document"])
        .into_iter()
        .filter(|line| line.starts_with("m70101 ") || line.starts_with("m70102 "))
        .collect();
    assert_eq!(last, set(["m70101 document m8-document1", "m70102 document m70102-document1"]));
    assert_eq!(statements(&quads, &["reportedIn"]).len(), distinct.len());
    assert!(statements(&quads, &["replacedIn"]).is_empty());
}
