//! `rebuild`: the messages of graphs.

use std::fs::File;
use std::io::{BufReader, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::Args;
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
            let name = shown(path);
            let format = rdf_format(path).ok_or_else(|| anyhow!("{name} is not an RDF file, by its extension"))?;
            let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
            let read = decompressed(BufReader::new(file)).with_context(|| format!("cannot read {name}"))?;
            let parser = RdfParser::from_format(format).with_base_iri(file_iri(path)?)?.rename_blank_nodes();
            for quad in parser.for_reader(read) {
                quads.push(quad.with_context(|| format!("cannot read {name}"))?);
            }
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
