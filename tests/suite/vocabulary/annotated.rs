//! Annotations of the ontologies: examples, and links to other vocabularies.

use oxrdf::{NamedNodeRef, NamedOrBlankNodeRef, TermRef};
use rpcgraph::query::Query;
use rpcgraph::vocab::{jrpc, lsp, mcp, rpcg};

use super::{ALIGNMENT, Outcome, both_ontologies, read_turtle};

const SKOS_EXAMPLE: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://www.w3.org/2004/02/skos/core#example");

/// The terms aligned with JSON-RPC-LD are terms of graphs of logs, and in the namespace that is registered for it.
#[test]
fn json_rpc_ld_is_aligned() -> Outcome {
    let graph = read_turtle(ALIGNMENT)?;
    let is_match = |triple: &oxrdf::TripleRef<'_>| triple.predicate.as_str().ends_with("Match");
    let matches: Vec<_> = graph.iter().filter(is_match).collect();
    assert_eq!(matches.len(), 6);
    for triple in matches {
        assert!(triple.object.to_string().starts_with("<https://w3id.org/json-rpc-ld/ns#"), "{triple}");
        let mut terms = jrpc::ALL.iter().chain(mcp::ALL);
        assert!(terms.any(|term| NamedOrBlankNodeRef::from(*term) == triple.subject), "{triple}");
    }
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
