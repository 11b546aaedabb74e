//! Queries and servers: asking there, or fetching what a query needs to ask it here.

use oxrdf::{NamedNode, QuadRef};

use super::Query;
use super::answer::{Answer, QueryError, Solutions};
use super::cancel::Cancel;
use super::dataset::{Loading, named_graphs};
use crate::endpoint::{Endpoint, EndpointError, ServerAnswer, ServerDataset};
use crate::store::with_blanks;

impl From<EndpointError> for QueryError {
    fn from(error: EndpointError) -> Self {
        Self::Server(error.into())
    }
}

/// Asks a server. A query without a dataset clause sees every session there, whether the server's default graph is their
/// union or not.
pub fn ask<'a>(endpoint: &Endpoint, query: &Query, cancel: &Cancel) -> Result<Answer<'a>, QueryError> {
    let dataset = match query.has_dataset() {
        true => ServerDataset::default(),
        false => endpoint.dataset_for_union()?,
    };
    cancel.check()?;
    let cancel = cancel.clone();
    Ok(match endpoint.query(&query.to_portable(), &dataset)? {
        ServerAnswer::Boolean(truth) => Answer::Boolean(truth),
        ServerAnswer::Solutions(solutions) => Answer::Solutions(Solutions {
            variables: solutions.variables,
            rows: Box::new(solutions.rows.map(move |row| {
                cancel.check()?;
                Ok(row?)
            })),
        }),
        ServerAnswer::Graph(triples) => Answer::Graph(Box::new(triples.map(move |triple| {
            cancel.check()?;
            Ok(triple?)
        }))),
    })
}

/// Fetches the triples that the query needs, of the sessions that it is about.
///
/// # Errors
///
/// A server that gives less than it has, as some do beyond a number of rows.
pub fn fetch(endpoint: &Endpoint, query: &Query, loading: &mut Loading<'_>) -> Result<(), QueryError> {
    let graphs = match query.algebra.dataset() {
        Some(clause) => named_graphs(clause),
        None => endpoint.sessions()?,
    };
    let filter: String = match loading.needs().predicates() {
        None => String::new(),
        Some(predicates) => {
            let list: Vec<_> = predicates.map(|predicate| predicate.to_string()).collect();
            format!(" VALUES ?p {{ {} }}", list.join(" "))
        }
    };
    for (index, graph) in graphs.iter().enumerate() {
        // Each answer has labels of its own for blank nodes, which may be those of another.
        fetch_graph(endpoint, graph, &filter, &format!("g{index}-"), loading)?;
    }
    Ok(())
}

fn fetch_graph(
    endpoint: &Endpoint,
    graph: &NamedNode,
    filter: &str,
    blank_prefix: &str,
    loading: &mut Loading<'_>,
) -> Result<(), QueryError> {
    let pattern = format!("GRAPH {graph} {{ ?s ?p ?o{filter} }}");
    let there = endpoint.count_of(&pattern)?;
    let mut given = 0;
    let construct = format!("CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {pattern} }}");
    if let ServerAnswer::Graph(triples) = endpoint.query(&construct, &ServerDataset::default())? {
        for triple in triples {
            let triple = with_blanks(triple?, blank_prefix);
            loading.insert(QuadRef::new(&triple.subject, &triple.predicate, &triple.object, graph));
            given += 1;
            loading.cancel().check()?;
        }
    }
    match there {
        Some(there) if there != given => Err(QueryError::Incomplete { graph: graph.as_str().to_owned(), given, there }),
        _ => Ok(()),
    }
}
