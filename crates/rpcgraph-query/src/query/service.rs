//! `SERVICE`: parts of a query answered by another server ([SPARQL 1.1 Federated Query]).
//!
//! [SPARQL 1.1 Federated Query]: https://www.w3.org/TR/sparql11-federated-query/

use std::time::Duration;

use oxigraph::sparql::{DefaultServiceHandler, QueryEvaluationError, QuerySolutionIter, SparqlEvaluator};
use oxiri::Iri;
use oxrdf::NamedNode;
use spargebra::algebra::GraphPattern;

use crate::store::endpoint::{Endpoint, EndpointError};

/// Creates an evaluator that allows queries to call services. They never get credentials: their URLs are part of a
/// query, and credentials are only for servers that the user names.
pub fn services(timeout: Duration) -> SparqlEvaluator {
    SparqlEvaluator::new().with_default_service_handler(Services { timeout })
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
        let solutions = endpoint.solutions(&query.to_string())?;
        let rows = solutions.rows.map(|row| row.map_err(|error| QueryEvaluationError::Service(Box::new(error))));
        Ok(QuerySolutionIter::new(solutions.variables.into(), rows))
    }
}
