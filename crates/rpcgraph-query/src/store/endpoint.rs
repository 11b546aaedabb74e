//! A SPARQL server: queries, updates and graphs over HTTP.
//!
//! The [SPARQL 1.1 Protocol](https://www.w3.org/TR/sparql11-protocol/) and the [SPARQL 1.1 Graph Store HTTP
//! Protocol](https://www.w3.org/TR/sparql11-http-rdf-update/), at the URLs that the user names. Redirects are not
//! followed: credentials go only to the named servers.

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
use crate::store::answer::{FallibleAnswer, FallibleSolutions};
use crate::vocab::rpcg;

/// The default time limit for an answer.
pub const TIMEOUT: Duration = Duration::from_secs(300);

/// A SPARQL server.
#[derive(Debug)]
pub struct Endpoint {
    query: Url,
    update: Option<Url>,
    graph_store: Option<Url>,
    sender: RequestSender,
}

/// The builder of an [`Endpoint`].
#[derive(Debug, Clone)]
#[must_use]
pub struct EndpointBuilder {
    query: String,
    update: Option<String>,
    graph_store: Option<String>,
    credentials: Credentials,
    timeout: Duration,
}

/// The graphs that a query is evaluated on. If empty, the server's default applies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerDataset {
    /// The graphs that are merged into the default graph.
    pub default_graphs: Vec<NamedNode>,
    /// The named graphs.
    pub named_graphs: Vec<NamedNode>,
}

impl EndpointBuilder {
    /// Sets the URL for updates; the default is the URL for queries.
    pub fn update(self, update: Option<String>) -> Self {
        Self { update, ..self }
    }

    /// Sets the URL of the Graph Store Protocol.
    pub fn graph_store(self, graph_store: Option<String>) -> Self {
        Self { graph_store, ..self }
    }

    /// Sets the credentials for the server.
    pub fn credentials(self, credentials: Credentials) -> Self {
        Self { credentials, ..self }
    }

    /// Sets the time limit to connect, send and receive the start of an answer, and again for each further part.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Builds the endpoint, without sending a request.
    ///
    /// # Errors
    ///
    /// The URL is not the URL of a server, or contains a password; or credentials would be sent over plain HTTP to
    /// another machine.
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
        // These calls fail only for URLs without a host, which have neither.
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
    /// Creates a builder for the server that answers queries at a URL.
    pub fn builder(query: impl Into<String>) -> EndpointBuilder {
        EndpointBuilder {
            query: query.into(),
            update: None,
            graph_store: None,
            credentials: Credentials::none(),
            timeout: TIMEOUT,
        }
    }

    /// The URL for queries.
    pub fn url(&self) -> &str {
        self.query.as_str()
    }

    /// Evaluates a query on a dataset.
    ///
    /// # Errors
    ///
    /// The server does not answer, or not with an answer to a query. Later errors are items of the answer.
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

    /// Returns a dataset whose default graph is the union of all sessions.
    ///
    /// Some servers use this union by default, and the dataset then does not name a graph. On others, the default graph
    /// is a separate graph, and usually empty.
    pub fn dataset_for_union(&self) -> Result<ServerDataset, EndpointError> {
        if self.ask(&format!("ASK {{ {} }}", session_pattern()))? {
            return Ok(ServerDataset::default());
        }
        let graphs = self.sessions()?;
        Ok(ServerDataset { default_graphs: graphs.clone(), named_graphs: graphs })
    }

    /// Returns the graphs that hold a complete session.
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

    /// Returns the answer to an ASK query.
    pub fn ask(&self, query: &str) -> Result<bool, EndpointError> {
        match self.query(query, &ServerDataset::default())? {
            FallibleAnswer::Boolean(answer) => Ok(answer),
            _ => Err(self.other_answer("a boolean")),
        }
    }

    /// Returns the number of triples in a named graph.
    pub fn count(&self, graph: NamedNodeRef<'_>) -> Result<u64, EndpointError> {
        self.count_of(&format!("GRAPH {graph} {{ ?s ?p ?o }}"))?.ok_or_else(|| self.other_answer("a count"))
    }

    /// Returns the number of solutions of a pattern; `None` if the server does not answer with a number.
    pub(crate) fn count_of(&self, pattern: &str) -> Result<Option<u64>, EndpointError> {
        let row = self.solutions(&format!("SELECT (COUNT(*) AS ?count) {{ {pattern} }}"))?.rows.next().transpose()?;
        Ok(row.and_then(|row| match row.get(0)? {
            Term::Literal(count) => count.value().parse().ok(),
            _ => None,
        }))
    }

    /// Returns the answer to a SELECT query.
    pub(crate) fn solutions(&self, query: &str) -> Result<FallibleSolutions<'static, EndpointError>, EndpointError> {
        match self.query(query, &ServerDataset::default())? {
            FallibleAnswer::Solutions(solutions) => Ok(solutions),
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

    /// Returns the graphs of the server, if it has a URL for them.
    pub fn graph_store(&self) -> Option<GraphStore<'_>> {
        Some(GraphStore { url: self.graph_store.as_ref()?, sender: &self.sender })
    }

    /// Returns true if updates have a URL of their own.
    pub fn update_is_stated(&self) -> bool {
        self.update.is_some()
    }

    /// Sends an update; `what` describes it in errors.
    ///
    /// # Errors
    ///
    /// The update may have taken effect even if the server did not answer.
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

/// Returns a pattern that matches sessions.
fn session_pattern() -> String {
    format!("?session {} {}", rdf::TYPE, rpcg::SESSION)
}
