//! `query`: SPARQL over logs, RDF files, a store or a server.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{ArgGroup, Args};

use super::ask::{AskArgs, Question, RowTimes};
use super::filter::FilterArgs;
use super::input::{is_stdin, shown};
use super::queries::{NamedArgs, OwnQueries};
use super::standard::check_input;
use super::{Failure, Outcome, print};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("question"), after_help = include_str!("help/query.txt").trim_end())]
pub struct QueryCommand {
    #[command(flatten)]
    ask: AskArgs,

    /// The query
    #[arg(short, long, value_name = "TEXT", group = "question")]
    query: Option<String>,

    /// The query, in a file; `-` for standard input
    #[arg(long, value_name = "FILE", group = "question")]
    query_file: Option<PathBuf>,

    /// One of the queries that `rpcgraph queries` lists, as `rpcgraph ask NAME` asks it
    #[arg(long, value_name = "NAME", group = "question", hide = true)]
    named: Option<String>,

    #[command(flatten)]
    own: OwnQueries,

    #[command(flatten)]
    parameters: NamedArgs,

    #[command(flatten)]
    filter: FilterArgs,
}

impl QueryCommand {
    pub fn run(&self) -> Result<Outcome, Failure> {
        if self.named.is_none() && self.parameters.is_given() {
            bail!(
                "--param is for questions with a name, as `rpcgraph ask` asks them; write what is wanted into the query"
            );
        }
        if self.query.is_none() && self.named.is_none() && self.query_file.is_none() {
            print(&self.own.list()?)?;
            bail!(
                "there is no query: give one with --query or --query-file, or ask one of these: rpcgraph ask NAME INPUT"
            );
        }
        if let Some(text) = &self.query {
            self.check_text(text)?;
        }
        self.ask.ask(&self.question()?)
    }

    /// Says what a word is that is not SPARQL.
    fn check_text(&self, text: &str) -> Result<(), Failure> {
        if self.own.has(text)? {
            bail!("{text} is not SPARQL but the name of a question: rpcgraph ask {text} INPUT");
        }
        if !text.contains(['{', '\n']) && Path::new(text).is_file() {
            bail!("{} is not SPARQL but a file: name it with --query-file", shown(Path::new(text)));
        }
        Ok(())
    }

    /// The query as it is asked, before anything is known of the data.
    fn question(&self) -> Result<Question<'_>, Failure> {
        if let Some(name) = &self.named {
            return Ok(self.own.question(name, &self.parameters, &self.filter, RowTimes::default()));
        }
        if let Some(text) = &self.query {
            return Ok(Question::sparql(text.clone(), None, &self.filter));
        }
        let path = self.query_file.clone().unwrap_or_default();
        let text = match is_stdin(&path) {
            true => {
                check_input()?;
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
