//! `-t messages`: the messages that rows are about, each as a line of JSON.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::bail;
use oxrdf::{GraphName, Quad, Term};
use rpcgraph::log::{LogError, LoggedEntry};
use rpcgraph::query::{Answer, Cancel, Query, QueryError, Solutions};
use rpcgraph::rebuild::messages;
use rpcgraph::record::ReaderOptions;

use super::ask::Source;
use super::input::InputSource;
use super::{Failure, rebuild::read_graph};

/// How many messages are asked for at once.
const AT_ONCE: usize = 200;

/// The messages that the first column of rows names, by their IRIs. They are written in the order of their logs, those in a
/// batch one by one.
pub struct SelectedMessages(BTreeSet<String>);

impl SelectedMessages {
    pub fn of(solutions: Solutions<'_>, limit: usize) -> Result<Self, Failure> {
        let column = solutions.variables.first().map(|variable| variable.as_str().to_owned()).unwrap_or_default();
        let mut names = BTreeSet::new();
        for row in solutions.rows.take(limit) {
            match row?.get(0) {
                Some(Term::NamedNode(node)) if node.as_str().contains("#m") => names.insert(node.as_str().to_owned()),
                _ => bail!("-t messages writes the messages in the first column, and {column} has something else"),
            };
        }
        Ok(Self(names))
    }

    /// These.
    pub fn named(messages: BTreeSet<String>) -> Self {
        Self(messages)
    }

    /// Writes those that a log has, and counts them.
    pub fn write(
        &self,
        log: &MessageSource<'_>,
        options: &ReaderOptions,
        output: &mut impl Write,
    ) -> Result<u64, Failure> {
        let mut count = 0;
        for entry in log.entries(options)? {
            if let LoggedEntry::Message(message) = entry?
                && self.has(&format!("{}#{}", log.iri(), message.name))
                && !message.text.is_empty()
            {
                writeln!(output, "{}", message.text.replace(['\n', '\r'], " "))?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Whether a message is among them, or the batch that it is in.
    fn has(&self, message: &str) -> bool {
        self.0.contains(message) || self.0.contains(record(message))
    }

    /// All that a store or a server holds of them.
    pub fn quads(&self, source: &Source, cancel: &Cancel) -> Result<Vec<Quad>, Failure> {
        let records: BTreeSet<&str> = self.0.iter().map(|message| record(message)).collect();
        let records: Vec<_> = records.into_iter().collect();
        let mut quads = Vec::new();
        for some in records.chunks(AT_ONCE) {
            let some: String = some.iter().map(|record| format!("<{record}> ")).collect();
            let query = format!(
                "CONSTRUCT {{ ?node ?property ?value }} WHERE {{ VALUES ?record {{ {some}}} \
                 ?message (rpcg:inBatch|rpcg:after)? ?record . \
                 ?message (jrpc:hasId|jrpc:hasError)? ?node . ?node ?property ?value }}"
            );
            if let Answer::Graph(triples) = source.answer(&Query::parse(&query, None)?, cancel)? {
                let more = triples.map(|triple| Ok(triple?.in_graph(GraphName::DefaultGraph)));
                quads.extend(more.collect::<Result<Vec<_>, QueryError>>()?);
            }
        }
        Ok(quads)
    }
}

/// Where messages are.
pub enum MessageSource<'s> {
    /// In a log.
    Log(&'s InputSource),
    /// In what a graph holds of a log, by the log's IRI.
    Graph(String, Vec<LoggedEntry>),
}

/// Messages and lines of a log.
pub type Entries<'e> = Box<dyn Iterator<Item = Result<LoggedEntry, LogError>> + 'e>;

impl<'s> MessageSource<'s> {
    /// The log that an input is, or those that its graph is of.
    pub fn of(source: &'s InputSource) -> Result<Vec<Self>, Failure> {
        if source.server.is_some() {
            bail!("-t messages is for one log at a time: ask that of the client or of the server alone");
        }
        match (source.rdf_format(), source.paths().next()) {
            (Some(_), Some(path)) => Self::of_graph(&read_graph(path)?),
            _ => Ok(vec![Self::Log(source)]),
        }
    }

    /// The logs that a graph is of.
    pub fn of_graph(quads: &[Quad]) -> Result<Vec<Self>, Failure> {
        Ok(messages(quads)?.into_iter().map(|(log, entries)| Self::Graph(log.to_owned(), entries)).collect())
    }

    pub fn iri(&self) -> &str {
        match self {
            Self::Log(source) => &source.iri,
            Self::Graph(iri, _) => iri,
        }
    }

    pub fn entries(&self, options: &ReaderOptions) -> Result<Entries<'_>, Failure> {
        Ok(match self {
            Self::Log(source) => {
                let mut messages = source.open()?.with_options(options.clone()).messages();
                Box::new(std::iter::from_fn(move || messages.next_entry()))
            }
            Self::Graph(_, entries) => Box::new(entries.iter().cloned().map(Ok)),
        })
    }
}

/// The record that a message is in.
fn record(message: &str) -> &str {
    let name = message.rfind('#').unwrap_or_default();
    message[name..].find('.').map_or(message, |dot| &message[..name + dot])
}
