//! Which messages of published protocols have meaning in the graph, by their methods, and why the others have not.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;

use oxrdf::{Quad, Term};
use rpcgraph::convert::Options;
use rpcgraph::protocol::Protocol;
use rpcgraph::vocab::{jrpc, rpcg};

use crate::support::{BASE, convert_with, files, needed_corpora};

const ALONE: &str = "its request does not stand beside it";
const HAPPENED: &str = "it tells only that something happened";
const UNPUBLISHED: &str = "no published schema has its method";
const PAYLOAD: &str = "what it tells is in its payload: it names no other message, and no document of LSP";
const NO_ID: &str = "without an id, it is not a request";
const ANSWER: &str = "of answers of LSP, those with capabilities or diagnostics have meaning";

/// Messages without meaning, in part or all: by method, with their answers, and answers without a request.
const NOT_LIFTED: &[(&str, &str)] = &[
    ("an answer to nothing", ALONE),
    ("notifications/cancelled", ALONE),
    ("notifications/progress", ALONE),
    ("notifications/elicitation/complete", HAPPENED),
    ("notifications/initialized", HAPPENED),
    ("notifications/prompts/list_changed", HAPPENED),
    ("notifications/resources/list_changed", HAPPENED),
    ("notifications/resources/updated", PAYLOAD),
    ("notifications/roots/list_changed", HAPPENED),
    ("notifications/subscriptions/acknowledged", HAPPENED),
    ("notifications/tools/list_changed", HAPPENED),
    ("exit", HAPPENED),
    ("initialized", HAPPENED),
    ("notifications/tasks/created", UNPUBLISHED),
    ("loadingBar", UNPUBLISHED),
    ("some_method", UNPUBLISHED),
    ("tasks/delete", UNPUBLISHED),
    ("tasks/input_response", UNPUBLISHED),
    ("tslint/status", UNPUBLISHED),
    ("window/showStatus", UNPUBLISHED),
    ("resources/list", NO_ID),
    ("workspace/configuration", PAYLOAD),
    ("workspace/didChangeConfiguration", PAYLOAD),
    ("window/logMessage", PAYLOAD),
];

/// The number of the record that a node is named after, and of its element.
fn record(node: &str) -> Option<&str> {
    let name = node.strip_prefix(BASE)?.strip_prefix("#m")?;
    Some(name.split('-').next().unwrap_or(name))
}

/// Counts messages by kind: how many have meaning, and all.
fn count(log: &[u8], counts: &mut BTreeMap<String, (usize, usize)>) {
    let graph = |protocol| -> BTreeSet<String> {
        let quads = convert_with(log, &[], Options { protocol, ..Options::default() });
        quads.iter().map(Quad::to_string).collect()
    };
    let plain = graph(Protocol::None);
    let (mut methods, mut answers, mut lifted) = (HashMap::new(), HashMap::new(), BTreeSet::new());
    for quad in convert_with(log, &[], Options::default()) {
        let subject = quad.subject.to_string();
        let Some(name) = record(subject.trim_matches(['<', '>'])).map(str::to_owned) else { continue };
        match &quad.object {
            Term::Literal(method) if quad.predicate == jrpc::HAS_METHOD => {
                methods.insert(name, method.value().to_owned());
            }
            Term::NamedNode(request) if quad.predicate == rpcg::RESPONDS_TO => {
                answers.insert(name, record(request.as_str()).map(str::to_owned));
            }
            Term::NamedNode(class)
                if class.as_str().ends_with("#Response") || class.as_str().ends_with("#ErrorResponse") =>
            {
                answers.entry(name).or_insert(None);
            }
            _ if !plain.contains(&quad.to_string()) => drop(lifted.insert(name)),
            _ => {}
        }
    }
    let answers = answers.into_iter().map(|(name, request)| {
        let method = request.and_then(|request| methods.get(&request).cloned());
        (name, format!("an answer to {}", method.as_deref().unwrap_or("nothing")))
    });
    for (name, kind) in answers.collect::<Vec<_>>().into_iter().chain(methods) {
        let (with, all) = counts.entry(kind).or_default();
        *with += usize::from(lifted.contains(&name));
        *all += 1;
    }
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn every_message_of_the_corpora_has_meaning_or_a_reason() {
    let corpora = needed_corpora();
    let mut logs = files(&corpora.join("mcp-spec"), "messages.ndjson");
    logs.extend(files(&corpora.join("lsp-haskell-sessions"), "messages.ndjson"));
    logs.extend(files(&corpora.join("lsp-inspector/fixture"), ".log"));
    assert!(logs.len() > 10, "{}", logs.len());
    let mut counts = BTreeMap::new();
    for log in logs {
        count(&fs::read(log).unwrap(), &mut counts);
    }
    let mut unused: BTreeSet<_> = NOT_LIFTED.iter().map(|(kind, _)| *kind).collect();
    let mut unexplained = Vec::new();
    // Answers to what MCP has are part of an operation.
    let methods =
        include_str!("../../crates/rpcgraph-log/src/record/methods.txt").lines().filter(|line| line.ends_with("MCP"));
    let known_to_mcp: BTreeSet<_> = methods.filter_map(|line| line.split(' ').next()).collect();
    for (kind, (with, all)) in &counts {
        let listed = |kind: &str| NOT_LIFTED.iter().find(|(known, _)| *known == kind).map(|(_, reason)| *reason);
        let of_answer = |method: &str| listed(method).filter(|reason| *reason == UNPUBLISHED).unwrap_or(ANSWER);
        let is_of_mcp = |method: &str| known_to_mcp.contains(method);
        let answered = kind.strip_prefix("an answer to ").filter(|method| !is_of_mcp(method));
        let reason = listed(kind).or_else(|| answered.map(of_answer));
        let shown = if with == all { "" } else { reason.unwrap_or("NOBODY KNOWS WHY") };
        println!("{kind:50} {with:4} of {all:4}  {shown}");
        if with < all {
            unused.remove(kind.as_str());
            unexplained.extend(reason.is_none().then_some(kind));
        }
    }
    assert!(unexplained.is_empty(), "not lifted, and nobody knows why: {unexplained:?}");
    assert!(unused.is_empty(), "all of them are lifted: {unused:?}");
}
