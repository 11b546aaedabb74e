//! A question about a growing log, answered for each message as it arrives, with the request that the message answers.

use std::collections::{HashMap, HashSet};
use std::io;

use oxigraph::sparql::QuerySolution;
use oxrdf::{NamedOrBlankNode, Quad, Term};

use super::Query;
use super::answer::{Answer, QueryError};
use super::cancel::Cancel;
use super::dataset::Dataset;
use crate::sink::{QuadSink, Sink, SinkError};
use crate::vocab::{jrpc, rpcg};

/// The state of a question about a log that has not ended: the open requests, without their params, and the names of the
/// programs of each session.
///
/// The question has at most one row for each message, which is in its first column, and depends only on the message, on
/// the request that it answers, and on the programs of its session so far. So its row for a message is the same as for the
/// whole log.
pub struct Window<R> {
    query: Query,
    cancel: Cancel,
    open: HashMap<String, Vec<Quad>>,
    /// The names of the client and the server, by session.
    programs: HashMap<Term, Vec<Quad>>,
    rows: R,
}

impl<R: FnMut(Vec<QuerySolution>) -> io::Result<()> + Send> Window<R> {
    /// Creates a window whose rows go to `rows`, in the order of the log.
    pub fn new(query: Query, cancel: Cancel, rows: R) -> Self {
        Self { query, cancel, open: HashMap::new(), programs: HashMap::new(), rows }
    }

    /// Returns the sink for a converter.
    pub fn sink(&mut self) -> Sink<'_> {
        let needs = self.query.needs().clone();
        Sink::quads(self).selecting(needs)
    }

    /// Returns the quads of the requests that these messages answer, except for requests among the messages themselves.
    fn answered(&mut self, quads: &[Quad]) -> Vec<Quad> {
        let here = places(quads);
        let answered = quads.iter().filter_map(|quad| match &quad.object {
            Term::NamedNode(request) if quad.predicate == rpcg::RESPONDS_TO => Some(request.as_str()),
            _ => None,
        });
        let answered: HashSet<&str> = answered.collect();
        let before = answered.iter().filter(|request| !here.contains_key(*request));
        let before: Vec<_> = before.filter_map(|request| self.open.remove(*request)).flatten().collect();
        let of = |predicate| quads.iter().filter(move |quad| quad.predicate == predicate).filter_map(record);
        let with_id: HashSet<&str> = of(jrpc::HAS_ID).collect();
        let open: HashSet<&str> =
            of(jrpc::HAS_METHOD).filter(|request| with_id.contains(request) && !answered.contains(request)).collect();
        for quad in quads {
            // Without its sequence number, the request does not get a row of its own.
            if let Some(request) = record(quad).filter(|request| open.contains(request))
                && quad.predicate != rpcg::SEQUENCE
                && quad.predicate != jrpc::HAS_PARAMETERS
            {
                self.open.entry(request.to_owned()).or_default().push(quad.clone());
            }
        }
        before
    }

    /// Returns the names of the programs that were known before, of the sessions of these messages.
    fn named(&mut self, quads: &[Quad]) -> Vec<Quad> {
        let sessions: HashSet<&Term> =
            quads.iter().filter(|quad| quad.predicate == rpcg::IN_SESSION).map(|quad| &quad.object).collect();
        let named = sessions.into_iter().filter_map(|session| self.programs.get(session)).flatten().cloned().collect();
        for quad in
            quads.iter().filter(|quad| [rpcg::CLIENT_NAME, rpcg::SERVER_NAME].contains(&quad.predicate.as_ref()))
        {
            self.programs.entry(quad.subject.clone().into()).or_default().push(quad.clone());
        }
        named
    }

    fn ask(&mut self, quads: &[Quad]) -> Result<Vec<QuerySolution>, QueryError> {
        let mut before = self.answered(quads);
        before.extend(self.named(quads));
        let dataset = Dataset::new(&self.query, false)?;
        let mut loading = dataset.load(&self.cancel)?;
        before.iter().chain(quads).for_each(|quad| loading.insert(quad.as_ref()));
        loading.commit()?;
        let Answer::Solutions(solutions) = dataset.answer(&self.query, &self.cancel)? else { return Ok(Vec::new()) };
        let mut rows: Vec<QuerySolution> = solutions.rows.collect::<Result<_, _>>()?;
        let places = places(quads);
        rows.sort_by_key(|row| match row.get(0) {
            Some(Term::NamedNode(message)) => places.get(message.as_str()).copied(),
            _ => None,
        });
        Ok(rows)
    }
}

impl<R: FnMut(Vec<QuerySolution>) -> io::Result<()> + Send> QuadSink for &mut Window<R> {
    fn quads(&mut self, quads: &[Quad]) -> Result<(), SinkError> {
        let rows = self.ask(quads).map_err(io::Error::other)?;
        Ok((self.rows)(rows)?)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Returns the first quad of each message.
fn places(quads: &[Quad]) -> HashMap<&str, usize> {
    let mut places = HashMap::new();
    for (place, quad) in quads.iter().enumerate() {
        if let Some(message) = record(quad) {
            places.entry(message).or_insert(place);
        }
    }
    places
}

/// Returns the message that a node belongs to: `…#m7` for `…#m7-id`.
fn record(quad: &Quad) -> Option<&str> {
    let NamedOrBlankNode::NamedNode(node) = &quad.subject else { return None };
    let node = node.as_str();
    let fragment = node.rfind('#')?;
    let end = node.get(fragment..)?.find('-').map_or(node.len(), |dash| fragment + dash);
    node.get(..end)
}
