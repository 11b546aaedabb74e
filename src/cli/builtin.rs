//! `context`, `ontology`, `formats`: what is built in.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rpcgraph::context::{JSON_RPC, JSON_RPC_SCHEMA, MCP, RPCGRAPH};
use rpcgraph::record::Format;
use rpcgraph::sink::describe_tables;
use rpcgraph::vocab::JSON_RPC_ONTOLOGY;

use super::explain::explain;
use super::format::FormatArgs;
use super::{Failure, Outcome, print};

pub const RPCGRAPH_ONTOLOGY: &str = include_str!("../../ontology/rpcgraph.ttl");
pub const ALIGNMENT: &str = include_str!("../../ontology/alignment.ttl");
const R2RML: &str = include_str!("../../ontology/messages.r2rml.ttl");
pub const LSP_ONTOLOGY: &str = include_str!("../../ontology/lsp.ttl");
const SHAPES: &str = include_str!("../../ontology/shapes.ttl");

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/context.txt").trim_end())]
pub struct ContextCommand {
    /// Which
    #[arg(value_enum, default_value_t)]
    name: ContextName,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum ContextName {
    /// The building block's context
    #[default]
    JsonRpc,
    /// The prefixes of the terms that this program adds
    Rpcgraph,
    /// Terms for the payloads of MCP, which `-c builtin:mcp` puts them in
    Mcp,
    /// The JSON Schema that the building block's context comes from
    Schema,
}

impl ContextCommand {
    pub fn run(&self) -> Result<Outcome, Failure> {
        print(match self.name {
            ContextName::JsonRpc => JSON_RPC,
            ContextName::Rpcgraph => RPCGRAPH,
            ContextName::Mcp => MCP,
            ContextName::Schema => JSON_RPC_SCHEMA,
        })
    }
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/ontology.txt").trim_end())]
pub struct OntologyCommand {
    /// Which [default: the first three]
    #[arg(value_enum)]
    name: Option<OntologyName>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OntologyName {
    /// The building block's ontology, `jrpc:`
    JsonRpc,
    /// The terms that this program adds, `rpcg:`
    Rpcgraph,
    /// The terms for language servers, `lsp:`
    Lsp,
    /// The terms of others that graphs of MCP traffic need, and no ontology declares
    Alignment,
    /// What a session's graph has to look like, in SHACL
    Shapes,
    /// Tables of messages (`convert -t parquet`) as that graph, in R2RML
    R2rml,
}

impl OntologyCommand {
    pub fn run(&self) -> Result<Outcome, Failure> {
        match self.name {
            Some(OntologyName::JsonRpc) => print(JSON_RPC_ONTOLOGY),
            Some(OntologyName::Rpcgraph) => print(RPCGRAPH_ONTOLOGY),
            Some(OntologyName::Lsp) => print(LSP_ONTOLOGY),
            Some(OntologyName::Alignment) => print(ALIGNMENT),
            Some(OntologyName::Shapes) => print(SHAPES),
            Some(OntologyName::R2rml) => print(R2RML),
            None => print(&format!("{JSON_RPC_ONTOLOGY}\n{RPCGRAPH_ONTOLOGY}\n{LSP_ONTOLOGY}")),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/formats.txt").trim_end())]
pub struct FormatsCommand {
    /// A format, whose file is printed, or a log to explain: its format, its first messages and their parts, and what was read
    /// of it [default: list the formats]
    #[arg(value_name = "NAME|LOG")]
    log: Option<PathBuf>,

    /// Print the tables of `convert -t parquet`: their columns, their types and what is in them
    #[arg(long, conflicts_with = "log")]
    parquet: bool,

    #[command(flatten)]
    format: FormatArgs,
}

/// What a format looks like, what it tells, and a small log.
fn format_text(format: Format) -> String {
    let sample: String = format.sample().lines().map(|line| format!("        {line}\n")).collect();
    format!("{}\n    {}\n    carries: {}\n{sample}", format.name(), format.summary(), format.carries())
}

impl FormatsCommand {
    pub fn run(&self) -> Result<Outcome, Failure> {
        if self.parquet {
            return print(&describe_tables());
        }
        if let Some(log) = &self.log {
            let named = Format::ALL.iter().find(|format| log.as_os_str() == format.name() && !log.exists());
            if let Some(format) = named {
                return print(format.file().unwrap_or(&format_text(*format)));
            }
            return explain(log, &self.format);
        }
        let mut text = String::new();
        for format in Format::ALL {
            text.push_str(&format_text(*format));
            text.push('\n');
        }
        text.push_str("Any of them may be compressed with gzip, zstd, bzip2 or xz.\n");
        print(&text)
    }
}
