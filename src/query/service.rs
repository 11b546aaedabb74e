//! `SERVICE`: parts of a query that another server answers ([SPARQL 1.1 Federated Query]).
//!
//! [SPARQL 1.1 Federated Query]: https://www.w3.org/TR/sparql11-federated-query/

use std::time::Duration;

use oxigraph::sparql::{DefaultServiceHandler, QueryEvaluationError, QuerySolutionIter, SparqlEvaluator};
use oxiri::Iri;
use oxrdf::NamedNode;
use spargebra::algebra::GraphPattern;

use crate::endpoint::{self, Endpoint, EndpointError};

/// An evaluator that lets queries call services. None of them is told who we are: their names are part of a query, and
/// credentials are for the servers that the user names.
pub fn services(timeout: Duration) -> SparqlEvaluator {
    SparqlEvaluator::new().with_default_service_handler(Services { timeout })
}

/// An evaluator that lets queries call nobody, whatever another crate's features would let them.
pub(crate) fn no_services() -> SparqlEvaluator {
    SparqlEvaluator::new().with_default_service_handler(NoServices)
}

struct NoServices;

/// A service that a query is not let call.
#[derive(Debug, thiserror::Error)]
#[error("the query calls <{0}> with SERVICE, and nobody has let it")]
struct NotAllowed(String);

impl DefaultServiceHandler for NoServices {
    type Error = NotAllowed;

    fn handle(
        &self,
        service: &NamedNode,
        _: &GraphPattern,
        _: Option<&Iri<String>>,
    ) -> Result<QuerySolutionIter<'static>, NotAllowed> {
        Err(NotAllowed(service.as_str().to_owned()))
    }
}

struct Services {
    timeout: Duration,
}

impl DefaultServiceHandler for Services {
    type Error = EndpointError;

    fn handle(
        &self,
        service: &NamedNode,
        pattern: &GraphPattern,
        base: Option<&Iri<String>>,
    ) -> Result<QuerySolutionIter<'static>, EndpointError> {
        let endpoint = Endpoint::builder(service.as_str()).timeout(self.timeout).build()?;
        let query = spargebra::Query::Select { dataset: None, pattern: pattern.clone(), base_iri: base.cloned() };
        match endpoint.query(&query.to_string(), &endpoint::Dataset::default())? {
            endpoint::Answer::Solutions(rows) => {
                let variables = rows.variables().to_vec().into();
                let rows = rows.map(|row| row.map_err(|error| QueryEvaluationError::Service(Box::new(error))));
                Ok(QuerySolutionIter::new(variables, rows))
            }
            _ => Err(endpoint.other_answer("rows")),
        }
    }
}
