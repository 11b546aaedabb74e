//! A server's answers to queries, parsed as they arrive.

use std::io;

use oxrdf::Triple;
use oxrdfio::RdfFormat;
use reqwest::blocking::Response;
use sparesults::{QueryResultsFormat, QueryResultsParser, ReaderQueryResultsParserOutput};
use spargebra::SparqlParser;

use super::error::{EndpointError, ServerRequest, content_type};
use crate::store::answer::{FallibleAnswer, FallibleSolutions, Form};
use crate::store::quads::{LONGEST, quads};

/// A server's answer to a query. Rows and triples are returned as they arrive, and none after an error. Blank nodes
/// keep the labels that the server gives them.
pub type ServerAnswer = FallibleAnswer<'static, EndpointError>;

/// Returns the form of a query's answer; `None` if we cannot parse the query, although the server might.
pub(super) fn form_of(query: &str) -> Option<Form> {
    SparqlParser::new().parse_query(query).ok().map(|query| Form::from_query(&query))
}

/// Returns the value of `Accept`. If the form is known, only media types for it: some servers would answer a SELECT in
/// Turtle.
pub(super) fn accept(form: Option<Form>) -> &'static str {
    match form {
        Some(Form::Select | Form::Ask) => "application/sparql-results+json, application/sparql-results+xml;q=0.5",
        Some(Form::Graph) => "application/n-triples, text/turtle;q=0.8, application/rdf+xml;q=0.5",
        None => {
            "application/sparql-results+json, application/sparql-results+xml;q=0.8, application/n-triples, \
             text/turtle;q=0.5"
        }
    }
}

/// Parses an answer by its content type.
pub(super) fn read(
    response: Response,
    form: Option<Form>,
    request: Box<ServerRequest>,
) -> Result<ServerAnswer, EndpointError> {
    let name = content_type(response.headers()).unwrap_or_default();
    // `application/xml` and `application/json` may hold either.
    if form != Some(Form::Graph)
        && let Some(format @ (QueryResultsFormat::Json | QueryResultsFormat::Xml)) =
            QueryResultsFormat::from_media_type(&name)
    {
        return match QueryResultsParser::from_format(format).for_reader(response) {
            Ok(ReaderQueryResultsParserOutput::Boolean(truth)) => Ok(FallibleAnswer::Boolean(truth)),
            Ok(ReaderQueryResultsParserOutput::Solutions(parser)) => {
                let variables = parser.variables().to_vec();
                let mut rows = received(parser, request, name);
                match form {
                    // Virtuoso answers an ASK with one row for true, and without rows for false.
                    Some(Form::Ask) => Ok(FallibleAnswer::Boolean(rows.next().transpose()?.is_some())),
                    _ => Ok(FallibleAnswer::Solutions(FallibleSolutions { variables, rows: Box::new(rows) })),
                }
            }
            Err(error) => Err(request.not_read(&name, error.into())),
        };
    }
    if matches!(form, Some(Form::Graph) | None)
        && let Some(format) = RdfFormat::from_media_type(&name)
    {
        // Relative IRIs resolve against the server's URL.
        let triples = quads(format, &request.url, LONGEST, response, None).map(|quad| match quad? {
            quad if quad.graph_name.is_default_graph() => Ok(Triple::from(quad)),
            quad => {
                Err(io::Error::new(io::ErrorKind::InvalidData, format!("a triple is in the graph {}", quad.graph_name)))
            }
        });
        return Ok(FallibleAnswer::Graph(Box::new(received(triples, request, name))));
    }
    Err(request.unexpected(
        response,
        match form {
            Some(Form::Select | Form::Ask) => "SPARQL results in JSON or XML",
            Some(Form::Graph) => "RDF",
            None => "SPARQL results or RDF",
        },
    ))
}

/// Returns the items up to and including the first error.
fn received<T, E: Into<io::Error>>(
    items: impl Iterator<Item = Result<T, E>>,
    request: Box<ServerRequest>,
    content_type: String,
) -> impl Iterator<Item = Result<T, EndpointError>> {
    let mut failed = false;
    items.map_while(move |item| {
        let item = (!failed).then(|| item.map_err(|error| request.clone().not_read(&content_type, error.into())));
        failed = !matches!(item, Some(Ok(_)));
        item
    })
}
