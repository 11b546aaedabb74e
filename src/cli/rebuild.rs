//! `rebuild`: writes the messages of graphs and tables.

use std::fs::File;
use std::io::{BufReader, Read, Write as _};
use std::path::{Path, PathBuf};

use crate::log::{file_iri, log_iri};
use crate::query::rdf_format;
use crate::rebuild::{RebuiltContent, TableRecord, TableRecords, rebuild};
use crate::record::{Entry, decompressed};
use crate::sink::Output;
use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use oxrdf::Quad;
use oxrdfio::RdfParser;

use super::console::{Outcome, say};
use super::input::shown;
use super::target::TargetArgs;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/rebuild.txt").trim_end())]
pub struct RebuildCommand {
    /// RDF files or folders of tables that `rpcgraph convert` wrote
    ///
    /// The extension of an RDF file selects its syntax and compression.
    #[arg(value_name = "GRAPH", required = true)]
    graphs: Vec<PathBuf>,

    #[command(flatten)]
    target: TargetArgs,
}

impl RebuildCommand {
    pub fn run(&self) -> anyhow::Result<Outcome> {
        let mut output = self.target.open(false)?;
        let mut quads = Vec::new();
        for path in &self.graphs {
            let Some(table) = messages_table(path) else {
                quads.extend(read_graph(path)?);
                continue;
            };
            let unreadable = || format!("cannot read {}", shown(&table));
            for record in TableRecords::open(File::open(&table).with_context(unreadable)?).with_context(unreadable)? {
                let TableRecord { iri, entry, .. } = record.with_context(unreadable)?;
                match entry {
                    Entry::Record(record) if !record.is_exchange() => write_record(&iri, &record.bytes, &mut output)?,
                    Entry::Record(_) | Entry::LogLine(_) => {}
                }
            }
        }
        let sessions = rebuild(&quads)?;
        if sessions.is_empty() && !quads.is_empty() {
            bail!(
                "found no session in the graph: `rebuild` reads graphs that `convert` wrote without --mapping bblock"
            );
        }
        let mut records: Vec<_> = sessions.into_iter().flat_map(|session| session.records).collect();
        // Sessions of one log may alternate.
        records.sort_by(|a, b| (log_iri(&a.iri), a.sequence).cmp(&(log_iri(&b.iri), b.sequence)));
        for record in records {
            let bytes = match record.content {
                RebuiltContent::Json(text) | RebuiltContent::Text(text) => text.into_bytes(),
                RebuiltContent::Bytes(bytes) => bytes,
                RebuiltContent::Skipped => Vec::new(),
            };
            write_record(&record.iri, &bytes, &mut output)?;
        }
        output.finish()?;
        Ok(Outcome::Done)
    }
}

/// Returns the table of messages at a path: a Parquet file, or the table in a folder of tables.
fn messages_table(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return Some(path.join("messages.parquet"));
    }
    path.extension().is_some_and(|extension| extension == "parquet").then(|| path.to_owned())
}

fn write_record(iri: &str, bytes: &[u8], output: &mut Output) -> anyhow::Result<()> {
    if bytes.is_empty() {
        say(&format!("note: nothing holds what {iri} was: it was too large"));
        return Ok(());
    }
    output.write_all(bytes)?;
    Ok(output.write_all(b"\n")?)
}

/// Reads the quads of an RDF file.
pub fn read_graph(path: &Path) -> anyhow::Result<Vec<Quad>> {
    let name = shown(path);
    let format = rdf_format(path).ok_or_else(|| anyhow!("{name} is not an RDF file, by its extension"))?;
    let unreadable = || format!("cannot read {name}");
    let file = File::open(path).with_context(unreadable)?;
    // The same type of reader as elsewhere, so that the parsers are compiled once.
    let read: Box<dyn Read> = Box::new(decompressed(BufReader::new(file)).with_context(unreadable)?);
    let parser = RdfParser::from_format(format).with_base_iri(file_iri(path)?)?.rename_blank_nodes();
    parser.for_reader(read).collect::<Result<_, _>>().with_context(unreadable)
}
