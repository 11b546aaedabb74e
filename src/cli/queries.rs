//! `queries`: the catalogue.

use clap::Args;
use rpcgraph::query::catalogue::{CATALOGUE, NamedQuery};

use super::{Failure, Outcome, print};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/queries.txt").trim_end())]
pub struct QueriesCommand {
    /// Print this query
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

impl QueriesCommand {
    pub fn run(&self) -> Result<Outcome, Failure> {
        if let Some(name) = &self.name {
            return print(NamedQuery::find(name)?.text);
        }
        let mut text = String::new();
        for query in CATALOGUE {
            text.push_str(&format!("{}\n    {}\n", query.name, query.title()));
            if let parameters @ [_, ..] = query.parameters().as_slice() {
                text.push_str(&format!("    parameters: {}\n", parameters.join(", ")));
            }
        }
        text.push_str("\n`rpcgraph queries NAME` prints a query, and explains its columns and parameters.\n");
        print(&text)
    }
}
