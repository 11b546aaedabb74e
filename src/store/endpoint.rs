//! A SPARQL server: queries, updates and graphs over HTTP.
//!
//! The [SPARQL 1.1 Protocol](https://www.w3.org/TR/sparql11-protocol/) and the
//! [SPARQL 1.1 Graph Store HTTP Protocol](https://www.w3.org/TR/sparql11-http-rdf-update/), whichever of their URLs the
//! user names. Redirects are not followed: credentials go to the servers that were named, and to no other.

mod answer;
mod credentials;
mod error;
mod graph_store;
mod request;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use oxrdf::vocab::rdf;
use oxrdf::{NamedNode, NamedNodeRef, Term};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use url::{Url, form_urlencoded};

pub use self::answer::ServerAnswer;
pub use self::credentials::Credentials;
pub use self::error::{EndpointError, ServerRequest};
pub use self::graph_store::GraphStore;
pub use self::request::Repeat;
use self::request::RequestSender;
use crate::context::http_client;
use crate::store::answer::{Answer, Solutions};
use crate::vocab::rpcg;

/// How long a server may take to answer, unless it is set.
pub const TIMEOUT: Duration = Duration::from_secs(300);

/// A SPARQL server.
#[derive(Debug)]
pub struct Endpoint {
    query: Url,
    update: Option<Url>,
    graph_store: Option<Url>,
    sender: RequestSender,
}

/// The parts that an [`Endpoint`] is made from.
#[derive(Debug, Clone)]
#[must_use]
pub struct EndpointBuilder {
    query: String,
    update: Option<String>,
    graph_store: Option<String>,
    credentials: Credentials,
    timeout: Duration,
}

/// The graphs that a query is asked of; without any, those that the server takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerDataset {
    /// Graphs that are merged into the default graph.
    pub default_graphs: Vec<NamedNode>,
    /// Named graphs.
    pub named_graphs: Vec<NamedNode>,
}

impl EndpointBuilder {
    /// Where updates are sent to; unless it is set, where queries are.
    pub fn update(self, update: Option<String>) -> Self {
        Self { update, ..self }
    }

    /// Where graphs are, by the Graph Store Protocol.
    pub fn graph_store(self, graph_store: Option<String>) -> Self {
        Self { graph_store, ..self }
    }

    /// The credentials for the server.
    pub fn credentials(self, credentials: Credentials) -> Self {
        Self { credentials, ..self }
    }

    /// Time to connect, send and get the beginning of an answer, and again for each further part of it.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The server. Nothing is sent to it yet.
    ///
    /// # Errors
    ///
    /// Not the URL of a server, or one with a password; credentials that would go over plain HTTP to another machine.
    pub fn build(self) -> Result<Endpoint, EndpointError> {
        let query = server_url(&self.query)?;
        let update = self.update.as_deref().map(server_url).transpose()?;
        let graph_store = self.graph_store.as_deref().map(server_url).transpose()?;
        let mut tls = false;
        for url in [&query].into_iter().chain(&update).chain(&graph_store) {
            self.credentials.authorization(url)?;
            tls |= url.scheme() == "https";
        }
        let client = http_client(tls, self.timeout).build().map_err(EndpointError::Client)?;
        let sender = RequestSender {
            client,
            credentials: self.credentials,
            timeout: self.timeout,
            reached: AtomicBool::new(false),
        };
        Ok(Endpoint { query, update, graph_store, sender })
    }
}

fn server_url(text: &str) -> Result<Url, EndpointError> {
    let bad = || EndpointError::BadUrl(text.to_owned());
    let mut url = Url::parse(text).map_err(|_| bad())?;
    if !url.username().is_empty() || url.password().is_some() {
        // They fail for URLs without a host, which have neither.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        return Err(EndpointError::PasswordInUrl(url.into()));
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad());
    }
    url.set_fragment(None);
    Ok(url)
}

impl Endpoint {
    /// The server that answers queries at a URL.
    pub fn builder(query: impl Into<String>) -> EndpointBuilder {
        EndpointBuilder {
            query: query.into(),
            update: None,
            graph_store: None,
            credentials: Credentials::none(),
            timeout: TIMEOUT,
        }
    }

    /// Where queries are sent to.
    pub fn url(&self) -> &str {
        self.query.as_str()
    }

    /// Asks a query of a dataset.
    ///
    /// # Errors
    ///
    /// No answer, or not an answer to a query. What goes wrong later comes out of the answer.
    pub fn query(&self, query: &str, dataset: &ServerDataset) -> Result<ServerAnswer, EndpointError> {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("query", query);
        for graph in &dataset.default_graphs {
            form.append_pair("default-graph-uri", graph.as_str());
        }
        for graph in &dataset.named_graphs {
            form.append_pair("named-graph-uri", graph.as_str());
        }
        let body = form.finish();
        let form = answer::form_of(query);
        let (response, request) = self.sender.send(&self.query, "a query", Repeat::Harmless, |client| {
            client
                .post(self.query.clone())
                .header(ACCEPT, answer::accept(form))
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(body.clone())
        })?;
        answer::read(response, form, request)
    }

    /// A dataset in which the default graph holds what all sessions hold.
    ///
    /// On some servers that is so by itself, and the dataset then names no graph; on others the default graph is one graph
    /// among others, and mostly empty.
    pub fn dataset_for_union(&self) -> Result<ServerDataset, EndpointError> {
        if self.ask(&format!("ASK {{ {} }}", session_pattern()))? {
            return Ok(ServerDataset::default());
        }
        let graphs = self.sessions()?;
        Ok(ServerDataset { default_graphs: graphs.clone(), named_graphs: graphs })
    }

    /// The graphs that hold a whole session.
    pub fn sessions(&self) -> Result<Vec<NamedNode>, EndpointError> {
        let query = format!("SELECT DISTINCT ?graph {{ GRAPH ?graph {{ {} }} }}", session_pattern());
        let mut graphs = Vec::new();
        for row in self.solutions(&query)?.rows {
            if let Some(Term::NamedNode(graph)) = row?.get(0) {
                graphs.push(graph.clone());
            }
        }
        Ok(graphs)
    }

    /// The answer to an ASK query.
    pub fn ask(&self, query: &str) -> Result<bool, EndpointError> {
        match self.query(query, &ServerDataset::default())? {
            Answer::Boolean(answer) => Ok(answer),
            _ => Err(self.other_answer("a boolean")),
        }
    }

    /// How many triples a named graph has.
    pub fn count(&self, graph: NamedNodeRef<'_>) -> Result<u64, EndpointError> {
        self.count_of(&format!("GRAPH {graph} {{ ?s ?p ?o }}"))?.ok_or_else(|| self.other_answer("a count"))
    }

    /// How many solutions a pattern has; `None` if the server does not answer with a number.
    pub(crate) fn count_of(&self, pattern: &str) -> Result<Option<u64>, EndpointError> {
        let row = self.solutions(&format!("SELECT (COUNT(*) AS ?count) {{ {pattern} }}"))?.rows.next().transpose()?;
        Ok(row.and_then(|row| match row.get(0)? {
            Term::Literal(count) => count.value().parse().ok(),
            _ => None,
        }))
    }

    /// The answer to a SELECT query.
    pub(crate) fn solutions(&self, query: &str) -> Result<Solutions<'static, EndpointError>, EndpointError> {
        match self.query(query, &ServerDataset::default())? {
            Answer::Solutions(solutions) => Ok(solutions),
            _ => Err(self.other_answer("solutions")),
        }
    }

    fn other_answer(&self, expected: &'static str) -> EndpointError {
        EndpointError::Unexpected {
            request: self.sender.described(&self.query, "a query"),
            content_type: "another kind of answer".to_owned(),
            expected,
            words: String::new(),
        }
    }

    /// Its graphs, where it has a URL for them.
    pub fn graph_store(&self) -> Option<GraphStore<'_>> {
        Some(GraphStore { url: self.graph_store.as_ref()?, sender: &self.sender })
    }

    /// Whether it has a URL for updates of its own.
    pub fn update_is_stated(&self) -> bool {
        self.update.is_some()
    }

    /// Sends an update; `what` is for errors.
    ///
    /// # Errors
    ///
    /// The server may have followed it all the same where there was no answer.
    pub fn update(&self, update: &str, what: &str, repeat: Repeat) -> Result<(), EndpointError> {
        let url = self.update.as_ref().unwrap_or(&self.query);
        self.sender.send(url, what, repeat, |client| {
            client
                .post(url.clone())
                .header(CONTENT_TYPE, "application/sparql-update; charset=utf-8")
                .body(update.to_owned())
        })?;
        Ok(())
    }
}

/// Matches where there is a session.
fn session_pattern() -> String {
    format!("?session {} {}", rdf::TYPE, rpcg::SESSION)
}
