//! Annotations of the ontologies: examples, and links to other vocabularies.

use std::collections::{BTreeMap, BTreeSet};

use oxrdf::vocab::{rdf, rdfs};
use oxrdf::{Graph, NamedNodeRef, TermRef};
use rpcgraph::query::Query;
use rpcgraph::vocab::{jrpc, lsp, mcp, rpcg};

use super::{ALIGNMENT, Outcome, both_ontologies, read_turtle};
use crate::support::{needed_corpora, own};

const SKOS_EXAMPLE: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://www.w3.org/2004/02/skos/core#example");

const SKOS_MEMBER: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://www.w3.org/2004/02/skos/core#member");

/// Returns true for a term that graphs of logs have.
fn of_graphs(term: &str) -> bool {
    [jrpc::ALL, rpcg::ALL, mcp::ALL].concat().iter().any(|known| known.as_str() == term.trim_matches(['<', '>']))
}

/// The terms aligned with JSON-RPC-LD are terms of graphs of logs, and in the namespace that is registered for it. Other terms of
/// MCP are aligned with terms of graphs.
#[test]
fn terms_are_aligned_with_terms_of_graphs() -> Outcome {
    let graph = read_turtle(ALIGNMENT)?;
    let is_match = |triple: &oxrdf::TripleRef<'_>| triple.predicate.as_str().ends_with("Match");
    let (others, ours): (Vec<_>, Vec<_>) = graph
        .iter()
        .filter(is_match)
        .partition(|triple| triple.object.to_string().starts_with("<https://w3id.org/json-rpc-ld/ns#"));
    assert_eq!(others.len(), 6);
    for triple in others {
        assert!(of_graphs(&triple.subject.to_string()), "{triple}");
    }
    assert!(ours.len() > 15, "{}", ours.len());
    for triple in ours {
        let subject = triple.subject.to_string();
        assert!(subject.starts_with(&format!("<{}", mcp::NAMESPACE)) && !of_graphs(&subject), "{triple}");
        assert!(of_graphs(&triple.object.to_string()), "{triple}");
    }
    Ok(())
}

/// The members of each collection, by its label; a term is in one.
fn collections(graph: &Graph) -> BTreeMap<&str, BTreeSet<String>> {
    let mut collections: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut all = BTreeSet::new();
    for triple in graph.triples_for_predicate(SKOS_MEMBER) {
        let Some(TermRef::Literal(label)) = graph.object_for_subject_predicate(triple.subject, rdfs::LABEL) else {
            panic!("{} has no label", triple.subject);
        };
        let member = triple.object.to_string();
        assert!(all.insert(member.clone()), "{member} is in two collections");
        collections.entry(label.value()).or_default().insert(member);
    }
    collections
}

/// The terms that the building block of MCP publishes are in graphs, in our context for payloads, aligned with terms of graphs, or in
/// a collection that says why not. So are the features that MCP deprecated in its newest revision, as its list names them.
#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn published_terms_of_mcp_are_aligned_or_named_beside_corpora() -> Outcome {
    let reference = needed_corpora().join("../reference");
    let graph = read_turtle(ALIGNMENT)?;
    let collections = collections(&graph);
    let ontology = read_turtle(reference.join("ogc-mcp/_sources/mcp/ontology/mcp.ttl"))?;
    let context = std::fs::read_to_string(reference.join("ogc-mcp/build/annotated/mcp/context.jsonld"))?;
    let ours = std::fs::read_to_string(own("context/mcp.jsonld"))?;
    let in_context = |text: &str| -> BTreeSet<String> {
        let names = text.split("\"mcp:").skip(1).filter_map(|rest| rest.split_once('"'));
        names.map(|(name, _)| format!("<{}{name}>", mcp::NAMESPACE)).collect()
    };
    let mut published = in_context(&context);
    let declared = ontology.triples_for_predicate(rdf::TYPE).map(|triple| triple.subject.to_string());
    published.extend(declared.filter(|term| term.starts_with(&format!("<{}", mcp::NAMESPACE))));
    assert!(published.len() > 200, "{}", published.len());
    let named: BTreeSet<_> = collections.values().flatten().collect();
    let payloads = in_context(&ours);
    for term in &published {
        let node = NamedNodeRef::new(term.trim_matches(['<', '>']))?;
        let is_aligned = graph.triples_for_subject(node).any(|triple| triple.predicate.as_str().ends_with("Match"));
        let is_known = of_graphs(term) || payloads.contains(term);
        assert!(is_known || is_aligned || named.contains(term), "{term} has no counterpart");
    }
    for term in named {
        assert!(published.contains(term), "{term} is not published");
    }
    let deprecated = std::fs::read_to_string(reference.join("protocols/mcp/2026-07-28/deprecated.mdx"))?;
    let rows = deprecated.lines().filter(|row| row.contains("| `2026-07-28`") && !row.contains("/authorization/"));
    let features: BTreeSet<_> = rows.filter_map(|row| row.split(['[', ']']).nth(1)).collect();
    let since = |comment: TermRef<'_>| comment.to_string().contains("Deprecated since MCP 2026-07-28");
    let comments = graph.triples_for_predicate(rdfs::COMMENT).filter(|triple| since(triple.object));
    let labels = comments.filter_map(|triple| graph.object_for_subject_predicate(triple.subject, rdfs::LABEL));
    let labels: BTreeSet<_> = labels.map(|label| label.to_string()).collect();
    assert_eq!(labels, features.iter().map(|feature| format!("\"{feature}\"@en")).collect());
    Ok(())
}

/// The example of a term is a triple that uses it, or for a property of JSON in queries a pattern.
#[test]
fn every_term_has_an_example() -> Outcome {
    let mut graph = both_ontologies()?;
    graph.extend(read_turtle(ALIGNMENT)?.iter().map(oxrdf::TripleRef::into_owned));
    for term in [jrpc::ALL, rpcg::ALL, lsp::ALL, mcp::ALL].concat() {
        let examples: Vec<_> = graph.objects_for_subject_predicate(term, SKOS_EXAMPLE).collect();
        let [TermRef::Literal(text)] = examples.as_slice() else {
            return Err(format!("{term} has {} examples", examples.len()).into());
        };
        let query = Query::parse(&format!("SELECT * {{ {} }}", text.value()), Some("urn:log"))
            .map_err(|error| format!("{text}: {error}"))?;
        assert!(query.names(term), "{term}: {text}");
    }
    Ok(())
}
