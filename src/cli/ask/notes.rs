//! Notes on standard error about a question: how it was understood, and why it has no rows.

use std::collections::BTreeMap;

use oxrdf::vocab::rdfs;
use oxrdf::{NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term};
use oxrdfio::{RdfFormat, RdfParser};

use super::super::bounds::{LogTimes, TIMES};
use super::super::builtin::{ALIGNMENT, LSP_ONTOLOGY, RPCGRAPH_ONTOLOGY};
use super::super::console::say;
use super::super::filter::text_of;
use super::super::question::{QuerySource, Question};
use crate::query::{Answer, Cancel, Query};
use crate::summary::counted;
use crate::vocab::{JSON_RPC_ONTOLOGY, PREFIXES, VOCABULARIES, jrpc};

/// The data that was asked.
pub struct AskedData<'a> {
    pub source: &'a QuerySource,
    pub base: Option<&'a str>,
    pub times: &'a LogTimes,
}

/// Notes how bounds in time were understood, and why no rows were found: conditions that no message fulfils,
/// times that no message has, or a filter that leaves nothing; or else messages that conditions cannot judge.
pub fn note_filter(
    question: &Question<'_>,
    (found, query): (u64, &Query),
    asked: &AskedData<'_>,
    cancel: &Cancel,
) -> anyhow::Result<()> {
    let (filter, AskedData { source, base, times }) = (question.filter, asked);
    filter.notes(times).iter().for_each(|note| say(&format!("note: {note}")));
    // A server would have to scan all its graphs.
    let is_here = matches!(source, QuerySource::Here(_));
    let mut unmet = Vec::new();
    if is_here || found == 0 {
        unmet = filter.unmet(times, |text| source.values(text, cancel))?;
    }
    if found == 0 {
        note_superclasses(query);
        let time = format!("SELECT ?time {{ ?message {TIMES} ?time }} LIMIT 1");
        if unmet.is_empty() && question.needs_times && source.values(&time, cancel)?.is_empty() {
            unmet.push("no message has a time, so no latency is known".to_owned());
        }
        let said = filter.given_options(true);
        if unmet.is_empty() && said.is_empty() && !question.protocols.is_empty() {
            unmet
                .push(format!("the question is about {}: messages of other protocols give no row", question.protocols));
        }
        if unmet.is_empty() && !said.is_empty() && has_rows(source.answer(&question.unfiltered(*base)?, cancel)?)? {
            unmet.push(format!("no row passes {said}; without it there are rows"));
        }
    }
    unmet.iter().for_each(|unmet| say(&format!("note: {unmet}")));
    if !unmet.is_empty() {
        return Ok(());
    }
    for (property, count) in filter.unknown().filter(|_| is_here) {
        let values = source.values(&count, cancel)?;
        let count = values.first().and_then(|count| text_of(count).parse().ok()).unwrap_or(0);
        if count > 0 {
            say(&format!("note: left out: {} without a {property}", counted(count, "message")));
        }
    }
    Ok(())
}

/// True if an answer has a row or a triple.
fn has_rows(answer: Answer<'_>) -> anyhow::Result<bool> {
    Ok(match answer {
        Answer::Solutions(mut solutions) => solutions.rows.next().transpose()?.is_some(),
        _ => false,
    })
}

/// Notes the parts of a query that cannot match any log: unknown terms, pointers without their slash, and variables
/// without a value.
pub fn note_unknown(query: &Query) {
    for variable in query.unbound_in_having() {
        say(&format!(
            "note: {variable} has no value in HAVING, which sees only the variables of GROUP BY: write its expression there"
        ));
    }
    for text in query.no_pointers() {
        say(&format!("note: {text:?} is not a JSON Pointer and finds nothing: did you mean \"/{text}\"?"));
    }
    for term in query.unknown_terms() {
        say(&format!("note: graphs of logs have no term {term}; {}", advice_on_term(&term)));
    }
}

/// Terms that people look for under another name, and ours.
const OTHER_TERMS: [(&str, &str); 6] = [
    ("jrpc:params", "jrpc:hasParameters"),
    ("lsp:position", "lsp:startLine"),
    ("lsp:range", "lsp:startLine"),
    ("rpcg:answer", "rpcg:respondsTo"),
    ("rpcg:seconds", "rpcg:latencySeconds"),
    ("rpcg:time", "rpcg:capturedAt"),
];

/// Names the known term that an unknown one may stand for.
pub fn advice_on_term(term: &str) -> String {
    let of_vocabulary = |(prefix, namespace, terms): &(&'static str, &str, &'static [NamedNodeRef<'static>])| {
        let (prefix, start) = (*prefix, namespace.len());
        terms.iter().filter_map(move |term| Some((prefix, term.as_str().get(start..)?)))
    };
    let ranked = VOCABULARIES.iter().flat_map(of_vocabulary).filter_map(|known| Some((rank(term, known)?, known)));
    let other = OTHER_TERMS.iter().find(|(other, _)| *other == term).map(|(_, ours)| (*ours).to_owned());
    let near = || ranked.min_by_key(|(rank, _)| *rank).map(|(_, (prefix, name))| format!("{prefix}:{name}"));
    match other.or_else(near) {
        Some(term) => format!("did you mean {term}?"),
        None => "`rpcgraph vocab` lists the vocabularies".to_owned(),
    }
}

/// Returns the rank of a known term as a suggestion for an unknown one: 0 for the best; `None` if it is not similar.
fn rank(term: &str, (prefix, known): (&str, &str)) -> Option<u8> {
    let (written, name) = term.split_once(':').unwrap_or_default();
    let (name, lower, is_own) = (name.to_lowercase(), known.to_lowercase(), written == prefix);
    let is_class = |name: &str| name.starts_with(char::is_uppercase);
    // Classes begin with a capital, properties do not.
    if is_class(known) != is_class(term.split_once(':')?.1) {
        return (is_own && name == lower).then_some(10);
    }
    // Without what only says where it belongs: `hasId`, `mcp:MCPClient`.
    let bare = lower.strip_prefix("has").or_else(|| lower.strip_prefix(prefix)).unwrap_or(&lower);
    let is_slip = |known: &str| strsim::osa_distance(&name, known) <= (name.len() / 4).min(2);
    // The places of the name as one or more words of the known one: `Error` in `hasErrorCode`.
    let words = lower.match_indices(&name).map(|(at, _)| (at, at + name.len())).filter(|(at, end)| {
        let is = |at: usize, is: fn(char) -> bool| known.get(at..).is_some_and(|rest| rest.starts_with(is));
        (*at == 0 || is(*at, char::is_uppercase)) && !is(*end, char::is_lowercase)
    });
    if name == lower || name == bare {
        // The terms of JSON-RPC are the ones that everybody knows.
        return Some(if is_own {
            0
        } else if prefix == jrpc::PREFIX {
            1
        } else {
            4
        });
    }
    let rank = match words.last().filter(|_| !name.is_empty()) {
        Some((_, end)) if end == known.len() => 2,
        Some(_) => 3,
        None if is_slip(&lower) || is_slip(bare) => 5,
        None => return None,
    };
    Some(if is_own { rank } else { rank + 4 })
}

/// Notes the classes in a query that no node has, since nodes have only one of their subclasses.
fn note_superclasses(query: &Query) {
    let mut subclasses: BTreeMap<NamedNode, Vec<String>> = BTreeMap::new();
    let ontologies = [JSON_RPC_ONTOLOGY, RPCGRAPH_ONTOLOGY, LSP_ONTOLOGY, ALIGNMENT];
    for quad in ontologies.into_iter().flat_map(|text| RdfParser::from_format(RdfFormat::Turtle).for_slice(text)) {
        if let Ok(Quad { subject: NamedOrBlankNode::NamedNode(class), predicate, object: Term::NamedNode(all), .. }) =
            quad
            && predicate == rdfs::SUB_CLASS_OF
            && query.names(all.as_ref())
            && !query.names(class.as_ref())
        {
            subclasses.entry(all).or_default().push(prefixed(&class));
        }
    }
    for (class, classes) in subclasses {
        let (class, classes) = (prefixed(&class), classes.join(", "));
        say(&format!("note: instances of {class} have the type of a subclass: ask for {classes}"));
    }
}

/// Returns a term with its prefix, as in queries.
fn prefixed(term: &NamedNode) -> String {
    let local = |(prefix, namespace): &(_, _)| Some(format!("{prefix}:{}", term.as_str().strip_prefix(*namespace)?));
    PREFIXES.iter().find_map(local).unwrap_or_else(|| term.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_term_that_was_meant_is_named() {
        for (term, meant) in [
            ("jrpc:id", Some("jrpc:hasId")),
            ("jrpc:Id", Some("jrpc:RequestId")),
            ("jrpc:method", Some("jrpc:hasMethod")),
            ("jrpc:code", Some("jrpc:hasErrorCode")),
            ("jrpc:Reqest", Some("jrpc:Request")),
            ("jrpc:x", None),
            ("rpcg:error", Some("jrpc:hasError")),
            ("rpcg:methd", Some("jrpc:hasMethod")),
            ("rpcg:answer", Some("rpcg:respondsTo")),
            ("rpcg:session", Some("rpcg:inSession")),
            ("rpcg:failure", Some("rpcg:Failure")),
            ("rpcg:latency", Some("rpcg:latencySeconds")),
            ("rpcg:Tool", Some("mcp:Tool")),
            ("rpcg:x", None),
            ("mcp:Client", Some("mcp:MCPClient")),
            ("lsp:position", Some("lsp:startLine")),
            ("lsp:line", Some("lsp:startLine")),
            ("lsp:hover", None),
            ("prov:time", Some("prov:startedAtTime")),
            ("prov:", None),
        ] {
            let found = advice_on_term(term);
            let expected = meant.map(|meant| format!("did you mean {meant}?"));
            assert_eq!(
                found,
                expected.unwrap_or_else(|| "`rpcgraph vocab` lists the vocabularies".to_owned()),
                "{term}"
            );
        }
    }
}
