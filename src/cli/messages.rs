//! `-t messages`: the messages that rows are about, each as a line of JSON.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::bail;
use oxrdf::{Quad, Term};
use rpcgraph::query::Solutions;
use rpcgraph::rebuild::{RebuiltContent, rebuild};
use serde_json::value::RawValue;

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

    /// Queries for all that a graph holds of them.
    pub fn queries(&self) -> Vec<String> {
        let records: BTreeSet<&str> = self.0.iter().map(|message| record(message)).collect();
        let records: Vec<_> = records.into_iter().collect();
        let query = |some: &[&str]| {
            let some: String = some.iter().map(|record| format!("<{record}> ")).collect();
            format!(
                "CONSTRUCT {{ ?node ?property ?value }} WHERE {{ VALUES ?record {{ {some}}} ?message rpcg:inBatch? ?record . \
                 ?message (jrpc:hasId|jrpc:hasError)? ?node . ?node ?property ?value }}"
            )
        };
        records.chunks(AT_ONCE).map(query).collect()
    }

    /// Writes those that can be rebuilt from these quads, and counts them.
    pub fn write_rebuilt(&self, quads: &[Quad], output: &mut impl Write) -> Result<u64, Failure> {
        let mut count = 0;
        for built in rebuild(quads)?.into_iter().flat_map(|session| session.records) {
            let text = match &built.content {
                RebuiltContent::Json(text) | RebuiltContent::Text(text) => text.as_bytes(),
                RebuiltContent::Bytes(bytes) => bytes,
                RebuiltContent::Skipped => continue,
            };
            // What is not a batch has none.
            let elements: Vec<&RawValue> = serde_json::from_slice(text).unwrap_or_default();
            let names = (1..).map(|nth| format!("{}.{nth}", built.iri));
            let lines = elements.iter().map(|element| element.get().as_bytes()).zip(names);
            let whole = elements.is_empty().then(|| (text, built.iri.clone()));
            for (line, _) in lines.chain(whole).filter(|(_, name)| self.has(name)) {
                output.write_all(&[line, b"\n"].concat())?;
                count += 1;
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
