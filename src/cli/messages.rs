//! `-t messages`: the messages that rows are about, each as a line of JSON.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::bail;
use oxrdf::{GraphName, Quad, Term};
use rpcgraph::log::LoggedEntry;
use rpcgraph::query::{Answer, Cancel, Query, QueryError, Solutions};
use rpcgraph::rebuild::messages;

use super::ask::Source;
use super::input::InputSource;
use super::read::ReadArgs;
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

    /// Writes those that a log or a graph has, and counts them.
    pub fn write_of(&self, source: &InputSource, read: &ReadArgs, output: &mut impl Write) -> Result<u64, Failure> {
        if let (Some(_), Some(path)) = (source.rdf_format(), source.paths().next()) {
            return self.write_rebuilt(&read_graph(path)?, output);
        }
        if source.server.is_some() {
            bail!("-t messages is for one log at a time: ask that of the client or of the server alone");
        }
        let mut count = 0;
        for message in read.log(source)?.messages() {
            let message = message?;
            if self.has(&format!("{}#{}", source.iri, message.name)) {
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

    /// Writes those that can be rebuilt from these quads, and counts them.
    pub fn write_rebuilt(&self, quads: &[Quad], output: &mut impl Write) -> Result<u64, Failure> {
        let mut count = 0;
        for (log, entries) in messages(quads)? {
            for entry in entries {
                if let LoggedEntry::Message(message) = entry
                    && self.has(&format!("{log}#{}", message.name))
                    && !message.text.is_empty()
                {
                    writeln!(output, "{}", message.text)?;
                    count += 1;
                }
            }
        }
        Ok(count)
    }
}

/// The record that a message is in.
fn record(message: &str) -> &str {
    let name = message.rfind('#').unwrap_or_default();
    message[name..].find('.').map_or(message, |dot| &message[..name + dot])
}
