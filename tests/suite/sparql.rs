//! A SPARQL server with a store, and with faults on demand: `/query`, `/update`, and graphs at `/store`.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use oxigraph::sparql::results::{QueryResultsFormat, QueryResultsSerializer};
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::Store;
use oxrdf::{NamedNode, NamedOrBlankNode, Quad};
use oxrdfio::{RdfFormat, RdfParser, RdfSerializer};

use crate::http::{Request, Server, respond};

/// A fault in one request.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// This answer, and the request is not followed.
    Refuse(&'static str, &'static [&'static str], &'static str),
    /// The request is not followed, and the connection is closed.
    Vanish,
    /// The request is followed, and the connection is closed without an answer.
    LoseAnswer,
    /// The request is followed, and this is the answer.
    Misreport(&'static str, &'static [&'static str]),
    /// No answer for three seconds, and the request is not followed.
    Hang,
    /// Only a part of the answer.
    CutOff,
}

/// Faults to come: each is for the first request whose path or body contains the text, and for this number of later ones.
type Plan = Arc<Mutex<Vec<(&'static str, Fault, usize)>>>;

pub struct SparqlServer {
    pub server: Server,
    pub store: Store,
    plan: Plan,
}

impl SparqlServer {
    pub fn start() -> Self {
        let store = Store::new().expect("a store");
        let plan = Plan::default();
        let (behind, faults) = (store.clone(), Arc::clone(&plan));
        let server = Server::serve(move |request, stream| {
            let fault = next_fault(&faults, request);
            match fault {
                Some(Fault::Refuse(status, headers, body)) => return respond(stream, status, headers, body),
                Some(Fault::Vanish) => return Ok(()),
                Some(Fault::Hang) => {
                    thread::sleep(Duration::from_secs(3));
                    return Ok(());
                }
                _ => {}
            }
            let answer = follow(&behind, request);
            match fault {
                Some(Fault::LoseAnswer) => Ok(()),
                Some(Fault::Misreport(status, headers)) => respond(stream, status, headers, ""),
                Some(Fault::CutOff) => answer_with(stream, &answer, answer.body.len() / 2),
                _ => answer_with(stream, &answer, answer.body.len()),
            }
        });
        Self { server, store, plan }
    }

    /// Fails once with a request that contains the text.
    pub fn fail(&self, with: &'static str, fault: Fault) -> &Self {
        self.fail_times(with, fault, 1)
    }

    pub fn fail_times(&self, with: &'static str, fault: Fault, times: usize) -> &Self {
        self.plan.lock().expect("faults").push((with, fault, times));
        self
    }

    /// Asserts that all faults have happened.
    #[track_caller]
    pub fn failed(&self) {
        let plan = self.plan.lock().expect("faults");
        assert!(plan.is_empty(), "did not happen: {plan:?}");
    }

    /// The URL of a service.
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.server.url)
    }

    /// All that it has.
    pub fn quads(&self) -> Vec<Quad> {
        self.store.iter().map(|quad| quad.expect("a quad")).collect()
    }

    /// The graphs that a client would take for sessions.
    pub fn sessions(&self) -> BTreeSet<String> {
        let query = "SELECT ?graph { GRAPH ?graph { ?session a <https://w3id.org/rpcgraph#Session> } }";
        let query = SparqlEvaluator::new().parse_query(query).expect("a query");
        let Ok(QueryResults::Solutions(solutions)) = query.on_store(&self.store).execute() else { panic!("solutions") };
        solutions.map(|solution| solution.expect("a solution").get(0).expect("a graph").to_string()).collect()
    }

    /// The requests it received, request lines only.
    pub fn asked(&self) -> Vec<String> {
        let requests = self.server.requests.lock().expect("requests");
        requests.iter().filter_map(|head| head.lines().next().map(str::to_owned)).collect()
    }
}

fn next_fault(plan: &Plan, request: &Request) -> Option<Fault> {
    let mut plan = plan.lock().expect("faults");
    let (path, body) = (percent_decoded(&request.path), percent_decoded(&String::from_utf8_lossy(&request.body)));
    let index = plan
        .iter()
        .position(|(with, ..)| format!("{} {path}", request.method).contains(with) || body.contains(with))?;
    let (_, fault, times) = &mut plan[index];
    let fault = *fault;
    *times -= 1;
    if *times == 0 {
        plan.remove(index);
    }
    Some(fault)
}

fn percent_decoded(text: &str) -> String {
    url::form_urlencoded::parse(text.as_bytes()).map(|(key, value)| format!("{key}={value}")).collect()
}

struct Answer {
    status: &'static str,
    content_type: &'static str,
    body: Vec<u8>,
}

fn answer_with(stream: &mut TcpStream, answer: &Answer, length: usize) -> io::Result<()> {
    let Answer { status, content_type, body } = answer;
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}", body.len());
    write!(stream, "{head}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(&body[..length])
}

/// Does what the request asks for.
fn follow(store: &Store, request: &Request) -> Answer {
    let done = Answer { status: "204 No Content", content_type: "text/plain", body: Vec::new() };
    let (path, parameters) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let graph = url::form_urlencoded::parse(parameters.as_bytes()).find(|(key, _)| key == "graph");
    let graph = graph.map(|(_, graph)| NamedNode::new(graph).expect("an IRI"));
    match (request.method.as_str(), path, request.header("content-type").unwrap_or_default(), graph) {
        ("POST", "/query", "application/x-www-form-urlencoded", _) => answer_query(store, &request.body),
        ("POST", "/update", "application/sparql-update; charset=utf-8", _) => {
            match SparqlEvaluator::new().parse_update(&request.text()) {
                Ok(update) => match update.on_store(store).execute() {
                    Ok(()) => done,
                    Err(error) => refused("400 Bad Request", &error.to_string()),
                },
                Err(error) => refused("400 Bad Request", &error.to_string()),
            }
        }
        (method @ ("PUT" | "POST"), "/store", "application/n-triples; charset=utf-8", Some(graph)) => {
            if method == "PUT" {
                store.remove_named_graph(&graph).expect("a removal");
            }
            let parser = RdfParser::from_format(RdfFormat::NTriples).with_default_graph(graph);
            match store.load_from_reader(parser, request.body.as_slice()) {
                Ok(()) => done,
                Err(error) => refused("400 Bad Request", &error.to_string()),
            }
        }
        _ => refused("404 Not Found", "nothing here"),
    }
}

fn refused(status: &'static str, words: &str) -> Answer {
    Answer { status, content_type: "text/plain", body: words.into() }
}

fn answer_query(store: &Store, form: &[u8]) -> Answer {
    let all = |name: &str| -> Vec<NamedNode> {
        let pairs = url::form_urlencoded::parse(form).filter(|(key, _)| key == name);
        pairs.map(|(_, graph)| NamedNode::new(graph).expect("an IRI")).collect()
    };
    let (_, query) = url::form_urlencoded::parse(form).find(|(key, _)| key == "query").expect("a query");
    let mut query = match SparqlEvaluator::new().parse_query(&query) {
        Ok(query) => query,
        Err(error) => return refused("400 Bad Request", &error.to_string()),
    };
    let (default, named) = (all("default-graph-uri"), all("named-graph-uri"));
    if !(default.is_empty() && named.is_empty()) {
        query.dataset_mut().set_default_graph(default.into_iter().map(Into::into).collect());
        query.dataset_mut().set_available_named_graphs(named.into_iter().map(NamedOrBlankNode::from).collect());
    }
    let json = || QueryResultsSerializer::from_format(QueryResultsFormat::Json);
    let (content_type, body) = match query.on_store(store).execute().expect("an evaluation") {
        QueryResults::Boolean(answer) => {
            ("application/sparql-results+json", json().serialize_boolean_to_writer(Vec::new(), answer).expect("JSON"))
        }
        QueryResults::Solutions(solutions) => {
            let variables = solutions.variables().to_vec();
            let mut writer = json().serialize_solutions_to_writer(Vec::new(), variables).expect("JSON");
            for solution in solutions {
                writer.serialize(&solution.expect("a solution")).expect("JSON");
            }
            ("application/sparql-results+json", writer.finish().expect("JSON"))
        }
        QueryResults::Graph(triples) => {
            let mut writer = RdfSerializer::from_format(RdfFormat::NTriples).for_writer(Vec::new());
            for triple in triples {
                writer.serialize_triple(&triple.expect("a triple")).expect("RDF");
            }
            ("application/n-triples", writer.finish().expect("RDF"))
        }
    };
    Answer { status: "200 OK", content_type, body }
}
