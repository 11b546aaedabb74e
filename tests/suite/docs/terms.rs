//! The page of terms: each with its meaning, an example of data and a pattern for queries, from the ontologies.

use std::collections::BTreeMap;
use std::process::Command;

use oxrdf::vocab::rdfs;
use oxrdf::{Literal, NamedNodeRef, NamedOrBlankNode, Term};
use oxttl::TurtleParser;
use rpcgraph::vocab::VOCABULARIES;

use super::document;
use crate::support::{files, own};

const SKOS_EXAMPLE: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://www.w3.org/2004/02/skos/core#example");

/// The first literals of a property in the ontologies, by the IRIs of their subjects.
fn texts(property: NamedNodeRef<'_>) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for ontology in ["rpcgraph", "lsp", "json-rpc", "alignment"] {
        for triple in TurtleParser::new().for_slice(&document(&format!("ontology/{ontology}.ttl"))) {
            let triple = triple.unwrap();
            if let (NamedOrBlankNode::NamedNode(term), Term::Literal(text)) = (triple.subject, triple.object)
                && triple.predicate == property
            {
                texts.entry(term.into_string()).or_insert_with(|| Literal::destruct(text).0);
            }
        }
    }
    texts
}

/// A term with a prefix, its comment, its example, and the pattern that finds it.
struct Shown {
    name: String,
    comment: String,
    example: String,
    pattern: String,
}

/// The terms of each vocabulary, by its prefix.
fn shown() -> Vec<(&'static str, Vec<Shown>)> {
    let (comments, examples) = (texts(rdfs::COMMENT), texts(SKOS_EXAMPLE));
    let of_vocabulary = |(prefix, namespace, _): (&'static str, &str, _)| {
        let terms = examples.iter().filter_map(|(term, example)| {
            let name = format!("{prefix}:{}", term.strip_prefix(namespace)?);
            let example = example.trim_end_matches(" .").to_owned();
            Some(Shown { pattern: pattern(&name, &example), comment: comments[term].clone(), name, example })
        });
        (prefix, terms.collect())
    };
    // Terms of others, such as those of PROV, are described where they are defined.
    VOCABULARIES.into_iter().map(of_vocabulary).filter(|(_, terms): &(_, Vec<_>)| !terms.is_empty()).collect()
}

/// The example of a term as a pattern of a query, in which all but the term and its predicate is variable.
fn pattern(term: &str, example: &str) -> String {
    let mut words = example.splitn(3, ' ');
    match [(); 3].map(|()| words.next().expect("a triple")) {
        [variable, ..] if variable.starts_with('?') => example.to_owned(),
        [_, predicate, _] if predicate == term => format!("?subject {term} ?value"),
        [_, predicate, object] if object == term => format!("?subject {predicate} {term}"),
        [subject, predicate, _] => {
            assert_eq!(subject, term, "{example}");
            format!("{term} {predicate} ?value")
        }
    }
}

/// A table of the terms of each vocabulary.
pub fn terms() -> String {
    let mut text = String::new();
    for (prefix, terms) in shown() {
        text += &format!("\n## {prefix}\n\n| term | meaning | example | query |\n|---|---|---|---|\n");
        for Shown { name, comment, example, pattern } in terms {
            let cells = [comment, format!("`{example}`"), format!("`{pattern}`")].map(|cell| cell.replace('|', "\\|"));
            text += &format!("| `{name}` | {} |\n", cells.join(" | "));
        }
    }
    text.trim_start().to_owned()
}

/// The pattern of each term finds something in our example logs, the graphs of cases, or the ontologies and rules.
#[test]
fn patterns_of_terms_find_something() {
    let mut inputs = files(&own("examples"), ".ndjson");
    inputs.extend(files(&own("tests/queries"), ".jsonl"));
    inputs.extend(
        files(&own("tests/formats"), ".log").into_iter().filter(|log| !log.starts_with(own("tests/formats/nvim-lua"))),
    );
    inputs.extend(files(&own("tests/cases"), ".ttl"));
    inputs.extend(files(&own("ontology"), ".ttl"));
    // Terms that no other log has.
    inputs.extend(["terms", "halves"].map(|log| own(&format!("tests/suite/docs/{log}.ndjson"))));
    let terms: Vec<Shown> = shown().into_iter().flat_map(|(_, terms)| terms).collect();
    let searches = terms
        .iter()
        .map(|Shown { name, pattern, .. }| format!("{{ SELECT (\"{name}\" AS ?term) {{ {pattern} }} LIMIT 1 }}"));
    let query = format!("SELECT ?term {{ {} }}", searches.collect::<Vec<_>>().join(" UNION "));
    let output = Command::new(env!("CARGO_BIN_EXE_rpcgraph"))
        .args(["query", &query, "-t", "csv"])
        .args(inputs)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = String::from_utf8(output.stdout).unwrap();
    let is_found = |term: &Shown| found.lines().any(|line| line == term.name);
    let missing: Vec<_> = terms.iter().filter(|term| !is_found(term)).map(|term| &term.name).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(terms.len() > 200, "{}", terms.len());
}
