//! Queries answered by a SPARQL server.

use super::Query;
use super::answer::{Answer, QueryError, Solutions};
use super::cancel::Cancel;
use crate::store::endpoint::{Endpoint, EndpointError, ServerAnswer, ServerDataset};

impl From<EndpointError> for QueryError {
    fn from(error: EndpointError) -> Self {
        Self::Server(error.into())
    }
}

/// Sends a query to a server. A query without a dataset clause sees every session there, even if the server's default
/// graph is not their union.
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
