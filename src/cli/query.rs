//! `query`: SPARQL over logs, RDF files, a store or a server.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{ArgGroup, Args};

use super::ask::{AskArgs, EngineArgs};
use super::console::Outcome;
use super::filter::FilterArgs;
use super::input::{is_stdin, note_terminal, shown};
use super::queries::OwnQueries;
use super::question::Question;
use super::words::is_sparql;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("question"), after_long_help = include_str!("help/query.txt").trim_end())]
pub struct QueryCommand {
    /// SPARQL, or a file NAME.rq; with -q or --query-file, an input
    #[arg(value_name = "QUERY|FILE.rq")]
    first: Option<PathBuf>,

    /// Query, if it is not the first argument
    #[arg(short, long, value_name = "TEXT", group = "question")]
    query: Option<String>,

    /// File of the query; `-` for standard input
    #[arg(long, value_name = "FILE", group = "question")]
    query_file: Option<PathBuf>,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    ask: AskArgs,

    #[command(flatten)]
    filter: FilterArgs,
}

impl QueryCommand {
    pub fn run(&mut self) -> anyhow::Result<Outcome> {
        if self.query.is_none() && self.query_file.is_none() {
            self.take_first()?;
        } else if let Some(input) = self.first.take() {
            self.ask.add_first(input)?;
        }
        if let Some(text) = &self.query {
            check_text(text)?;
        }
        let mut question = self.question()?;
        question.engine = self.engine;
        self.ask.ask(&question, self.ask.sources()?)
    }

    /// Takes the first argument as the query.
    fn take_first(&mut self) -> anyhow::Result<()> {
        let first = self.first.take().unwrap_or_default();
        let text = first.to_string_lossy();
        if first.extension().is_some_and(|extension| extension == "rq") && !text.contains('\n') {
            self.query_file = Some(first);
        } else if (is_sparql(&text) || text.contains('{')) && !first.exists() {
            self.query = Some(text.into_owned());
        } else {
            if !first.exists() {
                check_text(&text)?;
            }
            bail!(
                "missing query: write SPARQL or a file NAME.rq before the inputs, or name one with --query or \
                 --query-file; `rpcgraph ask` lists questions that need no SPARQL"
            );
        }
        Ok(())
    }

    /// Reads the question from the option or the file.
    fn question(&self) -> anyhow::Result<Question<'_>> {
        if let Some(text) = &self.query {
            return Ok(Question::sparql(text.clone(), None, &self.filter));
        }
        let path = self.query_file.clone().unwrap_or_default();
        let text = match is_stdin(&path) {
            true => {
                note_terminal();
                let mut text = String::new();
                io::stdin().read_to_string(&mut text).context("cannot read the query from standard input")?;
                text
            }
            false => {
                fs::read_to_string(&path).with_context(|| format!("cannot read the query from {}", path.display()))?
            }
        };
        Ok(Question::sparql(text, Some(path), &self.filter))
    }
}

/// Fails if a text is the name of a question or a file, and not SPARQL.
fn check_text(text: &str) -> anyhow::Result<()> {
    if OwnQueries::default().has(text)? {
        bail!("{text} is not SPARQL but the name of a question: rpcgraph ask {text} INPUT");
    }
    if !text.contains(['{', '\n']) && Path::new(text).is_file() {
        bail!("{} is not SPARQL but a file: name it with --query-file", shown(Path::new(text)));
    }
    Ok(())
}
