//! What a server answers to a query, read as it arrives.

use std::io;
use std::sync::Arc;

use oxrdf::{Triple, Variable};
use oxrdfio::{RdfFormat, RdfParseError, RdfParser, ReaderQuadParser};
use reqwest::blocking::Response;
use sparesults::{
    QueryResultsFormat, QueryResultsParseError, QueryResultsParser, QuerySolution, ReaderQueryResultsParserOutput,
    ReaderSolutionsParser,
};
use spargebra::{Query, SparqlParser};

use super::EndpointError;
use super::error::{About, content_type};

/// The answer to a query.
#[derive(Debug)]
pub enum Answer {
    /// To SELECT.
    Solutions(Solutions),
    /// To ASK.
    Boolean(bool),
    /// To CONSTRUCT and DESCRIBE.
    Graph(Graph),
}

/// Solutions, as they arrive. There are none after an error.
pub struct Solutions {
    parser: ReaderSolutionsParser<Response>,
    from: From,
    failed: bool,
}

/// Triples, as they arrive. Blank nodes have the labels that the server gives them. There are none after an error.
pub struct Graph {
    parser: ReaderQuadParser<Response>,
    from: From,
    failed: bool,
}

/// Where an answer is from, and what it says that it is.
#[derive(Debug, Clone)]
struct From {
    about: Arc<About>,
    content_type: String,
}

/// Which kinds of answer a query has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Select,
    Ask,
    Graph,
    /// Not SPARQL as we know it; the server may know better.
    Unknown,
}

impl Form {
    pub fn of(query: &str) -> Self {
        match SparqlParser::new().parse_query(query) {
            Ok(Query::Select { .. }) => Self::Select,
            Ok(Query::Ask { .. }) => Self::Ask,
            Ok(Query::Construct { .. } | Query::Describe { .. }) => Self::Graph,
            Err(_) => Self::Unknown,
        }
    }

    /// For `Accept`. One kind only where that is known: some servers give a SELECT as Turtle if they may.
    pub fn accept(self) -> &'static str {
        match self {
            Self::Select | Self::Ask => "application/sparql-results+json, application/sparql-results+xml;q=0.5",
            Self::Graph => "application/n-triples, text/turtle;q=0.8, application/rdf+xml;q=0.5",
            Self::Unknown => {
                "application/sparql-results+json, application/sparql-results+xml;q=0.8, application/n-triples, \
                 text/turtle;q=0.5"
            }
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Select | Self::Ask => "SPARQL results in JSON or XML",
            Self::Graph => "RDF",
            Self::Unknown => "SPARQL results or RDF",
        }
    }
}

impl Answer {
    pub(super) fn read(response: Response, form: Form, about: About) -> Result<Self, EndpointError> {
        let name = content_type(response.headers()).unwrap_or_default();
        // `application/xml` and `application/json` may be either.
        let results = match form {
            Form::Graph => None,
            _ => QueryResultsFormat::from_media_type(&name)
                .filter(|format| matches!(format, QueryResultsFormat::Json | QueryResultsFormat::Xml)),
        };
        let rdf = match form {
            Form::Select | Form::Ask => None,
            _ => RdfFormat::from_media_type(&name),
        };
        let about = Arc::new(about);
        let from = From { about: Arc::clone(&about), content_type: name };
        match (results, rdf) {
            (Some(format), _) => match QueryResultsParser::from_format(format).for_reader(response) {
                Ok(ReaderQueryResultsParserOutput::Boolean(answer)) => Ok(Self::Boolean(answer)),
                Ok(ReaderQueryResultsParserOutput::Solutions(parser)) => {
                    let mut solutions = Solutions { parser, from, failed: false };
                    match form {
                        // Virtuoso gives a row for yes, and none for no.
                        Form::Ask => Ok(Self::Boolean(solutions.next().transpose()?.is_some())),
                        _ => Ok(Self::Solutions(solutions)),
                    }
                }
                Err(error) => Err(from.results_error(error)),
            },
            (None, Some(format)) => {
                let parser = RdfParser::from_format(format).without_named_graphs();
                // What a server refers to is relative to it.
                let parser = parser.clone().with_base_iri(&about.url).unwrap_or(parser);
                Ok(Self::Graph(Graph { parser: parser.for_reader(response), from, failed: false }))
            }
            (None, None) => Err(about.unexpected(response, form.expected())),
        }
    }
}

impl Solutions {
    /// Variables of the solutions, in order.
    pub fn variables(&self) -> &[Variable] {
        self.parser.variables()
    }
}

impl Iterator for Solutions {
    type Item = Result<QuerySolution, EndpointError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.parser.next()?;
        self.failed = next.is_err();
        Some(next.map_err(|error| self.from.results_error(error)))
    }
}

impl Iterator for Graph {
    type Item = Result<Triple, EndpointError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.parser.next()?;
        self.failed = next.is_err();
        Some(match next {
            Ok(quad) => Ok(quad.into()),
            Err(RdfParseError::Io(error)) => Err(self.from.io_error(error)),
            Err(RdfParseError::Syntax(error)) => Err(self.from.about.malformed(&self.from.content_type, error)),
        })
    }
}

impl From {
    fn results_error(&self, error: QueryResultsParseError) -> EndpointError {
        match error {
            QueryResultsParseError::Io(error) => self.io_error(error),
            QueryResultsParseError::Syntax(error) => self.about.malformed(&self.content_type, error),
        }
    }

    fn io_error(&self, error: io::Error) -> EndpointError {
        match error.kind() {
            // Parsers say so of an answer that is short, although it came whole.
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
                self.about.malformed(&self.content_type, error)
            }
            _ => self.about.body(error),
        }
    }
}

impl std::fmt::Debug for Solutions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Solutions").field("variables", &self.variables()).field("from", &self.from).finish()
    }
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").field("from", &self.from).finish()
    }
}
