//! `-t messages`: writes the messages that rows name, each as a line of JSON.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use crate::log::{LogError, LoggedEntry, Messages, file_iri};
use crate::query::{Answer, Cancel, Query, QueryError, Solutions, rdf_format};
use crate::rebuild::messages;
use crate::record::{ReaderOptions, decompressed};
use crate::session::Name;
use anyhow::{Context as _, anyhow, bail};
use oxrdf::{GraphName, Quad, Term};
use oxrdfio::RdfParser;

use super::filter::text_of;
use super::input::{InputSource, shown};
use super::question::QuerySource;

/// The maximum number of records in one query.
const AT_ONCE: usize = 200;

/// The selected messages by the IRIs of their logs, written in the order of each log. A batch stands for all messages
/// in it.
#[derive(Default)]
pub struct SelectedMessages(BTreeMap<String, BTreeSet<Name>>);

/// Parses the name of a message, with or without its `m`.
pub fn parse_name(text: &str) -> Option<Name> {
    let name = text.trim_start_matches('m');
    let (record, element) = name.split_once('.').map_or((name, None), |(record, element)| (record, Some(element)));
    Some(Name { record: record.parse().ok()?, element: element.map(str::parse).transpose().ok()? })
}

impl SelectedMessages {
    /// Selects the messages that the first column of rows names.
    pub fn from_rows(solutions: Solutions<'_>, limit: usize) -> anyhow::Result<Self> {
        let column = solutions.variables.first().map(|variable| variable.as_str().to_owned()).unwrap_or_default();
        let mut selected = Self::default();
        for row in solutions.rows.take(limit) {
            if !row?.get(0).is_some_and(|term| selected.add(term)) {
                bail!("-t messages writes the messages in the first column, and {column} has something else");
            }
        }
        Ok(selected)
    }

    /// Adds the message whose IRI is the term. Returns false if the term is not the IRI of a message.
    pub fn add(&mut self, message: &Term) -> bool {
        let Term::NamedNode(node) = message else { return false };
        let Some((log, Some(name))) = node.as_str().rsplit_once("#m").map(|(log, name)| (log, parse_name(name))) else {
            return false;
        };
        match self.0.get_mut(log) {
            Some(names) => _ = names.insert(name),
            None => _ = self.0.insert(log.to_owned(), BTreeSet::from([name])),
        }
        true
    }

    /// Counts the logs.
    pub fn logs(&self) -> usize {
        self.0.len()
    }

    /// Returns the selected messages of a log.
    pub fn of_log(&self, log: &str) -> &BTreeSet<Name> {
        const NONE: &BTreeSet<Name> = &BTreeSet::new();
        self.0.get(log).unwrap_or(NONE)
    }

    /// Selects the whole records of the messages, and `count` records before and after each.
    pub fn around(&self, count: u64) -> Self {
        let around = |name: &Name| name.record.saturating_sub(count)..=name.record.saturating_add(count);
        let records = |names: &BTreeSet<Name>| {
            names.iter().flat_map(around).map(|record| Name { record, element: None }).collect()
        };
        Self(self.0.iter().map(|(log, names)| (log.clone(), records(names))).collect())
    }

    /// Writes the selected messages of a log; returns their number.
    pub fn write(
        &self,
        log: &MessageSource<'_>,
        options: &ReaderOptions,
        output: &mut impl Write,
    ) -> anyhow::Result<u64> {
        let mut count = 0;
        for entry in log.entries(options)? {
            if let LoggedEntry::Message(message) = entry?
                && self.has(log.iri(), message.name)
                && !message.text.is_empty()
            {
                writeln!(output, "{}", message.text.replace(['\n', '\r'], " "))?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// True if a message of a log, or the batch that contains it, is selected.
    pub fn has(&self, log: &str, name: Name) -> bool {
        let is_one = |names: &BTreeSet<Name>| names.contains(&name) || names.contains(&Name { element: None, ..name });
        self.0.get(log).is_some_and(is_one)
    }

    /// Returns `VALUES` of the selected records, for one query each.
    fn records(&self) -> Vec<String> {
        let iris = |(log, names): (&String, &BTreeSet<Name>)| -> Vec<String> {
            names.iter().map(|name| format!("<{log}#m{}> ", name.record)).collect()
        };
        let mut records: Vec<_> = self.0.iter().flat_map(iris).collect();
        records.dedup();
        records.chunks(AT_ONCE).map(|some| format!("VALUES ?record {{ {}}}", some.concat())).collect()
    }

    /// Returns the query for the states of requests without an answer, among `records` and the messages in them.
    pub fn states_query(records: &str) -> String {
        format!(
            "SELECT ?request ?state {{ {records} ?request rpcg:inBatch? ?record ; rpcg:state ?is \
             FILTER(?is NOT IN (rpcg:Answered, rpcg:NotCaptured)) \
             FILTER NOT EXISTS {{ ?answer rpcg:respondsTo ?request }} \
             BIND(LCASE(STRAFTER(STR(?is), \"#\")) AS ?state) }}"
        )
    }

    /// Returns the states of the selected requests without an answer, by their IRIs.
    pub fn states(&self, source: &QuerySource, cancel: &Cancel) -> anyhow::Result<HashMap<String, String>> {
        let mut states = HashMap::new();
        for records in self.records() {
            let values = source.values(&Self::states_query(&records), cancel)?;
            let text = |term: &Term| text_of(term).to_owned();
            states.extend(values.chunks_exact(2).map(|row| (text(&row[0]), text(&row[1]))));
        }
        Ok(states)
    }

    /// Returns the quads about the selected messages from a store or a server.
    pub fn quads(&self, source: &QuerySource, cancel: &Cancel) -> anyhow::Result<Vec<Quad>> {
        let mut quads = Vec::new();
        for records in self.records() {
            let query = format!(
                "CONSTRUCT {{ ?node ?property ?value }} WHERE {{ {records} \
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

/// A log, or the entries of a log in a graph.
pub enum MessageSource<'s> {
    /// A log.
    Log(&'s InputSource),
    /// The entries of a log that a graph holds, after the log's IRI.
    Graph(String, Vec<LoggedEntry>),
}

/// The messages and lines of a log.
pub type Entries<'e> = Box<dyn Iterator<Item = Result<LoggedEntry, LogError>> + 'e>;

impl<'s> MessageSource<'s> {
    /// Returns the logs among the inputs, and the logs that RDF inputs hold.
    pub fn of_all(sources: &'s [InputSource]) -> anyhow::Result<Vec<Self>> {
        Ok(sources.iter().map(Self::from_input).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    fn from_input(source: &'s InputSource) -> anyhow::Result<Vec<Self>> {
        match source.rdf_format() {
            Some(_) => Self::of_graph(&read_graph(source.path())?),
            None => Ok(vec![Self::Log(source)]),
        }
    }

    /// Returns the logs that a graph holds.
    pub fn of_graph(quads: &[Quad]) -> anyhow::Result<Vec<Self>> {
        Ok(messages(quads)?.into_iter().map(|(log, entries)| Self::Graph(log.to_owned(), entries)).collect())
    }

    pub fn iri(&self) -> &str {
        match self {
            Self::Log(source) => &source.iri,
            Self::Graph(iri, _) => iri,
        }
    }

    pub fn entries(&self, options: &ReaderOptions) -> anyhow::Result<Entries<'_>> {
        Ok(match self {
            Self::Log(source) => {
                let mut messages = match source.in_tables(false, options.max_record_size)? {
                    Some(entries) => Messages::from_input(entries),
                    None => source.open()?.with_options(options.clone()).messages(),
                };
                Box::new(std::iter::from_fn(move || messages.next_entry()))
            }
            Self::Graph(_, entries) => Box::new(entries.iter().cloned().map(Ok)),
        })
    }
}

/// Reads the quads of an RDF file.
fn read_graph(path: &Path) -> anyhow::Result<Vec<Quad>> {
    let name = shown(path);
    let format = rdf_format(path).ok_or_else(|| anyhow!("{name} is not an RDF file, by its extension"))?;
    let unreadable = || format!("cannot read {name}");
    let file = File::open(path).with_context(unreadable)?;
    // The same type of reader as elsewhere, so that the parsers are compiled once.
    let read: Box<dyn Read> = Box::new(decompressed(BufReader::new(file)).with_context(unreadable)?);
    let parser = RdfParser::from_format(format).with_base_iri(file_iri(path)?)?.rename_blank_nodes();
    parser.for_reader(read).collect::<Result<_, _>>().with_context(unreadable)
}
