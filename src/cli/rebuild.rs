//! `rebuild`: the messages of graphs.

use std::fs::File;
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::Args;
use oxrdf::Quad;
use oxrdfio::RdfParser;
use rpcgraph::log::file_iri;
use rpcgraph::query::rdf_format;
use rpcgraph::rebuild::{RebuiltContent, rebuild};
use rpcgraph::record::decompressed;
use rpcgraph::sink::Output;

use super::input::shown;
use super::{Failure, Outcome, say, standard};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/rebuild.txt").trim_end())]
pub struct RebuildCommand {
    /// RDF files that `rpcgraph convert` has written, compressed or not; their extensions tell the syntax
    #[arg(value_name = "GRAPH", required = true)]
    graphs: Vec<PathBuf>,
}

impl RebuildCommand {
    pub fn run(&self) -> Result<Outcome, Failure> {
        standard::check_output()?;
        let mut quads = Vec::new();
        for path in &self.graphs {
            quads.extend(read_graph(path)?);
        }
        let mut output = Output::stdout(false);
        for record in rebuild(&quads)?.into_iter().flat_map(|session| session.records) {
            match &record.content {
                RebuiltContent::Json(text) | RebuiltContent::Text(text) => output.write_all(text.as_bytes())?,
                RebuiltContent::Bytes(bytes) => output.write_all(bytes)?,
                RebuiltContent::Skipped => {
                    say(&format!("note: the graph does not hold what {} was: it was too large", record.iri));
                    continue;
                }
            }
            output.write_all(b"\n")?;
        }
        output.finish()?;
        Ok(Outcome::Done)
    }
}

/// The quads of an RDF file.
pub fn read_graph(path: &Path) -> Result<Vec<Quad>, Failure> {
    let name = shown(path);
    let format = rdf_format(path).ok_or_else(|| anyhow!("{name} is not an RDF file, by its extension"))?;
    let unreadable = || format!("cannot read {name}");
    let file = File::open(path).with_context(unreadable)?;
    let read = decompressed(BufReader::new(file)).with_context(unreadable)?;
    let parser = RdfParser::from_format(format).with_base_iri(file_iri(path)?)?.rename_blank_nodes();
    parser.for_reader(read).collect::<Result<_, _>>().with_context(unreadable)
}
