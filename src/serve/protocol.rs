//! Queries in the form of the [SPARQL 1.1 Protocol](https://www.w3.org/TR/sparql11-protocol/), and the [service
//! description](https://www.w3.org/TR/sparql11-service-description/).

use std::borrow::Cow;

use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use oxrdf::{NamedNode, Triple};
use oxrdfio::{RdfFormat, RdfParser};
use percent_encoding::percent_decode;
use url::form_urlencoded;

use super::body::{HttpError, ResponseBody, whole};
use super::media::{GRAPHS, choose};
use crate::query::FUNCTIONS;
use crate::query::results::write_graph;

/// A query, and the requested form of its answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct QueryRequest {
    pub query: String,
    pub default_graphs: Vec<NamedNode>,
    pub named_graphs: Vec<NamedNode>,
    /// The value of `Accept`.
    pub accept: Option<String>,
}

/// Returns the query of a request; `None` if the request is for the service description.
pub(super) fn asked(head: &Parts, body: &[u8]) -> Result<Option<QueryRequest>, HttpError> {
    let bad = |text: &str| HttpError::new(StatusCode::BAD_REQUEST, text);
    let mut asked = QueryRequest {
        query: String::new(),
        default_graphs: Vec::new(),
        named_graphs: Vec::new(),
        accept: list(head, ACCEPT),
    };
    let posted = list(head, CONTENT_TYPE).unwrap_or_default();
    let posted = posted.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let mut queries = Vec::new();
    let form: Cow<'_, [u8]> = match (&head.method, posted.as_str()) {
        (&Method::POST, "application/x-www-form-urlencoded") => body.into(),
        (&Method::POST, "application/sparql-query") => {
            queries.push(std::str::from_utf8(body).map_err(|_| bad("the query is not UTF-8"))?.to_owned());
            head.uri.query().unwrap_or_default().as_bytes().into()
        }
        (&Method::POST, "application/sparql-update") => return Err(bad("this server changes nothing")),
        (&Method::POST, _) => {
            let text = "a query is sent as application/sparql-query, or in application/x-www-form-urlencoded";
            return Err(HttpError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
        }
        _ => head.uri.query().unwrap_or_default().as_bytes().into(),
    };
    if percent_decode(&form).decode_utf8().is_err() {
        return Err(bad("the parameters are not UTF-8"));
    }
    for (name, value) in form_urlencoded::parse(&form) {
        let graphs = match &*name {
            "query" => {
                queries.push(value.into_owned());
                continue;
            }
            "update" => return Err(bad("this server changes nothing")),
            "default-graph-uri" => &mut asked.default_graphs,
            "named-graph-uri" => &mut asked.named_graphs,
            _ => continue,
        };
        graphs
            .push(NamedNode::new(&*value).map_err(|error| bad(&format!("{name}: {value:?} is not an IRI: {error}")))?);
    }
    match <[String; 1]>::try_from(queries) {
        Ok([query]) => Ok(Some(QueryRequest { query, ..asked })),
        Err(queries) if queries.is_empty() && head.method != Method::POST => Ok(None),
        Err(queries) => Err(bad(if queries.is_empty() { "missing query" } else { "several queries: send one" })),
    }
}

/// Returns the joined values of a list header.
fn list(head: &Parts, name: HeaderName) -> Option<String> {
    let values: Vec<_> = head.headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    (!values.is_empty()).then(|| values.join(","))
}

/// Returns the service description.
pub(super) fn description(head: &Parts) -> Result<Response<ResponseBody>, HttpError> {
    let (media_type, syntax) = choose(list(head, ACCEPT).as_deref(), GRAPHS)?;
    let named = |aggregates: bool| {
        let functions = FUNCTIONS.iter().filter(|function| function.is_aggregate() == aggregates);
        functions.map(|function| function.iri().to_string()).collect::<Vec<_>>().join(", ")
    };
    let turtle = format!(
        "@prefix sd: <http://www.w3.org/ns/sparql-service-description#> . @prefix f: <http://www.w3.org/ns/formats/> .
        [] a sd:Service ; sd:endpoint <> ; sd:supportedLanguage sd:SPARQL11Query ; sd:feature sd:UnionDefaultGraph ;
        sd:defaultDataset [ a sd:Dataset ; sd:defaultGraph [ a sd:Graph ] ] ; sd:extensionFunction {} ; sd:extensionAggregate {} ;
        sd:resultFormat f:SPARQL_Results_JSON, f:SPARQL_Results_XML, f:SPARQL_Results_CSV, f:SPARQL_Results_TSV,
            f:Turtle, f:N-Triples, f:JSON-LD, f:RDF_XML, f:TriG, f:N-Quads .",
        named(false),
        named(true)
    );
    let failed = |error: &dyn std::fmt::Display| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string());
    let host = head.headers.get(hyper::header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let parser = RdfParser::from_format(RdfFormat::Turtle).with_base_iri(format!("http://{host}/sparql"));
    let quads = parser.map_err(|error| failed(&error))?.for_slice(&turtle).collect::<Result<Vec<_>, _>>();
    let triples = quads.map_err(|error| failed(&error))?.into_iter().map(|quad| Ok(Triple::from(quad)));
    let mut out = Vec::new();
    write_graph(Box::new(triples), syntax, None, &mut out).map_err(|error| failed(&error))?;
    Ok(whole(media_type, out))
}
