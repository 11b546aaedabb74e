//! `vocab` and `formats`: print the built-in vocabularies and formats.

use std::borrow::Cow;

use crate::context::{JSON_RPC, JSON_RPC_SCHEMA, MCP, RPCGRAPH};
use crate::record::Format;
use crate::sink::rows::schema::describe_tables;
use crate::vocab::JSON_RPC_ONTOLOGY;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

use super::console::Outcome;
use super::target::TargetArgs;
use super::values::named;
use super::words::NamedParser;

pub const RPCGRAPH_ONTOLOGY: &str = include_str!("../../ontology/rpcgraph.ttl");
pub const ALIGNMENT: &str = include_str!("../../ontology/alignment.ttl");
const R2RML: &str = include_str!("../../ontology/messages.r2rml.ttl");
pub const LSP_ONTOLOGY: &str = include_str!("../../ontology/lsp.ttl");
const SHAPES: &str = include_str!("../../ontology/shapes.ttl");

/// Returns the name, title and text of each vocabulary.
fn vocabularies() -> [(&'static str, &'static str, Cow<'static, str>); 11] {
    [
        ("json-rpc", "Ontology `jrpc:` of the building block, in Turtle", JSON_RPC_ONTOLOGY.into()),
        ("rpcgraph", "Ontology `rpcg:`, the terms that rpcgraph adds", RPCGRAPH_ONTOLOGY.into()),
        ("lsp", "Ontology `lsp:`, terms for language servers", LSP_ONTOLOGY.into()),
        ("alignment", "Terms of other vocabularies that no ontology declares", ALIGNMENT.into()),
        ("shapes", "SHACL shapes of a session's graph", SHAPES.into()),
        ("r2rml", "R2RML mapping of the tables of `convert -t parquet` to the graph", R2RML.into()),
        ("context", "JSON-LD context of the building block", JSON_RPC.into()),
        ("rpcgraph-context", "JSON-LD context with the prefixes of the terms that rpcgraph adds", RPCGRAPH.into()),
        ("mcp-context", "JSON-LD context for payloads of MCP, which `-c builtin:mcp` applies", MCP.into()),
        ("schema", "JSON Schema of JSON-RPC messages", JSON_RPC_SCHEMA.into()),
        ("columns", "Columns of the tables of `convert -t parquet`", describe_tables().into()),
    ]
}

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/vocab.txt").trim_end())]
pub struct VocabCommand {
    /// Which one [default: list them]
    #[arg(value_parser = PossibleValuesParser::new(vocabularies().map(|(name, title, _)| PossibleValue::new(name).help(title))))]
    name: Option<String>,

    #[command(flatten)]
    target: TargetArgs,
}

impl VocabCommand {
    pub fn run(&self) -> anyhow::Result<Outcome> {
        let text = vocabularies().into_iter().map(|(name, title, text)| match &self.name {
            None => format!("{name:<18}{title}\n"),
            Some(wanted) if wanted == name => text.into_owned(),
            Some(_) => String::new(),
        });
        self.target.print(text.collect::<String>())
    }
}

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/formats.txt").trim_end())]
pub struct FormatsCommand {
    /// A format, whose file is printed [default: list the formats]
    #[arg(value_name = "NAME", value_parser = NamedParser(parse_format, format_names), hide_possible_values = true)]
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

/// Describes a format: its name, summary, fields and sample.
fn format_text(format: Format) -> String {
    let sample: String = format.sample().lines().map(|line| format!("        {line}\n")).collect();
    format!("{}\n    {}\n    carries: {}\n{sample}", format.name(), format.summary(), format.carries())
}

impl FormatsCommand {
    pub fn run(&self) -> anyhow::Result<Outcome> {
        if let Some(format) = self.name {
            return self.target.print(format.file().unwrap_or(&format_text(format)));
        }
        let all: Vec<_> = Format::ALL.iter().map(|format| format_text(*format) + "\n").collect();
        self.target.print(all.concat() + "Any of them may be compressed with gzip, zstd, bzip2 or xz.\n")
    }
}
