//! `vocab`, `formats`: what is built in.

use clap::{Args, ValueEnum};
use rpcgraph::context::{JSON_RPC, JSON_RPC_SCHEMA, MCP, RPCGRAPH};
use rpcgraph::record::Format;
use rpcgraph::sink::describe_tables;
use rpcgraph::vocab::JSON_RPC_ONTOLOGY;

use super::read::named;
use super::target::TargetArgs;
use super::words::Named;
use super::{Failure, Outcome};

pub const RPCGRAPH_ONTOLOGY: &str = include_str!("../../ontology/rpcgraph.ttl");
pub const ALIGNMENT: &str = include_str!("../../ontology/alignment.ttl");
const R2RML: &str = include_str!("../../ontology/messages.r2rml.ttl");
pub const LSP_ONTOLOGY: &str = include_str!("../../ontology/lsp.ttl");
const SHAPES: &str = include_str!("../../ontology/shapes.ttl");

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/vocab.txt").trim_end())]
pub struct VocabCommand {
    /// Which one [default: list them]
    #[arg(value_enum)]
    name: Option<VocabName>,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum VocabName {
    /// Ontology `jrpc:` of the building block, in Turtle
    JsonRpc,
    /// Ontology `rpcg:`, the terms that rpcgraph adds
    Rpcgraph,
    /// Ontology `lsp:`, terms for language servers
    Lsp,
    /// Terms of other vocabularies that no ontology declares
    Alignment,
    /// SHACL shapes of a session's graph
    Shapes,
    /// R2RML mapping of the tables of `convert -t parquet` to the graph
    R2rml,
    /// JSON-LD context of the building block
    Context,
    /// JSON-LD context with the prefixes of the terms that rpcgraph adds
    RpcgraphContext,
    /// JSON-LD context for payloads of MCP, which `-c builtin:mcp` applies
    McpContext,
    /// JSON Schema of JSON-RPC messages
    Schema,
    /// Columns of the tables of `convert -t parquet`
    Columns,
}

impl VocabCommand {
    pub fn run(&self) -> Result<Outcome, Failure> {
        let (list, columns);
        self.target.print(match self.name {
            Some(VocabName::JsonRpc) => JSON_RPC_ONTOLOGY,
            Some(VocabName::Rpcgraph) => RPCGRAPH_ONTOLOGY,
            Some(VocabName::Lsp) => LSP_ONTOLOGY,
            Some(VocabName::Alignment) => ALIGNMENT,
            Some(VocabName::Shapes) => SHAPES,
            Some(VocabName::R2rml) => R2RML,
            Some(VocabName::Context) => JSON_RPC,
            Some(VocabName::RpcgraphContext) => RPCGRAPH,
            Some(VocabName::McpContext) => MCP,
            Some(VocabName::Schema) => JSON_RPC_SCHEMA,
            Some(VocabName::Columns) => {
                columns = describe_tables();
                &columns
            }
            None => {
                let names = VocabName::value_variants().iter().filter_map(VocabName::to_possible_value);
                let line = |name: clap::builder::PossibleValue| {
                    format!("{:<18}{}\n", name.get_name(), name.get_help().map(ToString::to_string).unwrap_or_default())
                };
                list = names.map(line).collect::<String>();
                &list
            }
        })
    }
}

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/formats.txt").trim_end())]
pub struct FormatsCommand {
    /// A format, whose file is printed [default: list the formats]
    #[arg(value_name = "NAME", value_parser = Named(parse_format, format_names), hide_possible_values = true)]
    name: Option<Format>,

    #[command(flatten)]
    target: TargetArgs,
}

fn parse_format(name: &str) -> Result<Format, String> {
    let wrong = |wrong| match std::path::Path::new(name).exists() {
        true => format!("{name} is a log and not a format: `rpcgraph detect {name}` explains it"),
        false => wrong,
    };
    named("format", Format::ALL, Format::name, name).map_err(wrong)
}

fn format_names() -> Vec<&'static str> {
    Format::ALL.iter().map(|format| format.name()).collect()
}

/// Name, summary, fields and sample of a format.
fn format_text(format: Format) -> String {
    let sample: String = format.sample().lines().map(|line| format!("        {line}\n")).collect();
    format!("{}\n    {}\n    carries: {}\n{sample}", format.name(), format.summary(), format.carries())
}

impl FormatsCommand {
    pub fn run(&self) -> Result<Outcome, Failure> {
        if let Some(format) = self.name {
            return self.target.print(format.file().unwrap_or(&format_text(format)));
        }
        let all: Vec<_> = Format::ALL.iter().map(|format| format_text(*format) + "\n").collect();
        self.target.print(&(all.concat() + "Any of them may be compressed with gzip, zstd, bzip2 or xz.\n"))
    }
}
