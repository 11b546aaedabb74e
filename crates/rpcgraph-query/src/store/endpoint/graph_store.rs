//! Graphs of a server, over the Graph Store Protocol.

use std::io::Read;

use oxrdf::NamedNodeRef;
use reqwest::blocking::Body;
use reqwest::header::CONTENT_TYPE;
use url::Url;

use super::error::EndpointError;
use super::request::{Repeat, RequestSender};

const N_TRIPLES: &str = "application/n-triples; charset=utf-8";

/// The graphs of an [`Endpoint`](super::Endpoint).
#[derive(Debug, Clone, Copy)]
pub struct GraphStore<'e> {
    pub(super) url: &'e Url,
    pub(super) sender: &'e RequestSender,
}

impl GraphStore<'_> {
    /// Replaces a graph with N-Triples of `length` bytes. `body` returns them anew for each attempt.
    pub fn put<R: Read + Send + 'static>(
        &self,
        graph: NamedNodeRef<'_>,
        length: u64,
        body: impl Fn() -> R,
    ) -> Result<(), EndpointError> {
        let url = self.graph_url(graph);
        self.sender.send(self.url, &format!("the graph {graph}"), Repeat::Harmless, |client| {
            client.put(url.clone()).header(CONTENT_TYPE, N_TRIPLES).body(Body::sized(body(), length))
        })?;
        Ok(())
    }

    /// Adds N-Triples to a graph.
    pub fn post(&self, graph: NamedNodeRef<'_>, triples: &str, repeat: Repeat) -> Result<(), EndpointError> {
        let url = self.graph_url(graph);
        self.sender.send(self.url, &format!("triples of the graph {graph}"), repeat, |client| {
            client.post(url.clone()).header(CONTENT_TYPE, N_TRIPLES).body(triples.to_owned())
        })?;
        Ok(())
    }

    /// Returns a graph's URL by [indirect
    /// identification](https://www.w3.org/TR/sparql11-http-rdf-update/#indirect-graph-identification).
    fn graph_url(&self, graph: NamedNodeRef<'_>) -> Url {
        let mut url = self.url.clone();
        url.query_pairs_mut().append_pair("graph", graph.as_str());
        url
    }
}
