//! Notes on standard error about a question: how it was understood, and why it has no rows.

use std::collections::BTreeMap;

use oxrdf::vocab::rdfs;
use oxrdf::{NamedNode, NamedOrBlankNode, Quad, Term};
use oxrdfio::{RdfFormat, RdfParser};

use super::super::bounds::{LogTimes, TIMES};
use super::super::builtin::{ALIGNMENT, LSP_ONTOLOGY, RPCGRAPH_ONTOLOGY};
use super::super::console::say;
use super::super::filter::text_of;
use super::super::question::{QuerySource, Question};
use super::super::words::nearest;
use crate::query::{Answer, Cancel, Query};
use crate::summary::counted;
use crate::vocab::{JSON_RPC_ONTOLOGY, PREFIXES, VOCABULARIES};

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

/// Names the known term that an unknown one may stand for: one of its vocabulary that ends with the name (`hasMethod` for
/// `method`), one of this name in another vocabulary, one of its vocabulary with a similar name, or any with such a name.
pub fn advice_on_term(term: &str) -> String {
    let (prefix, name) = term.split_once(':').unwrap_or_default();
    let known: Vec<(&str, &str)> = VOCABULARIES
        .iter()
        .flat_map(|(prefix, namespace, terms)| {
            terms.iter().filter_map(|term| Some((*prefix, term.as_str().strip_prefix(*namespace)?)))
        })
        .collect();
    let own = || known.iter().filter(|(known, _)| *known == prefix);
    let near = |names: &mut dyn Iterator<Item = &(&'static str, &'static str)>| {
        let near = nearest(name, names.map(|(_, name)| *name))?;
        known.iter().filter(|(_, name)| *name == near).max_by_key(|(known, _)| *known == prefix)
    };
    let found = own()
        .find(|(_, known)| known.to_lowercase().ends_with(&name.to_lowercase()))
        .or_else(|| known.iter().find(|(_, known)| *known == name))
        .or_else(|| near(&mut own()))
        .or_else(|| near(&mut known.iter()));
    match found {
        Some((prefix, name)) => format!("did you mean {prefix}:{name}?"),
        None => "`rpcgraph vocab` lists the vocabularies".to_owned(),
    }
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
