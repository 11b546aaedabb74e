//! `load`: logs to a server or a store.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use clap::{ArgGroup, Args};
use oxrdf::NamedNode;
use rpcgraph::endpoint::{Credentials, Endpoint};
use rpcgraph::load::{self, Loaded, ServerTarget, Spool, StoreTarget, Target};
use rpcgraph::mapping::Mapping;
use rpcgraph::sink::Sink;
use rpcgraph::store;
use rpcgraph::summary::counted;

use super::ask::parse_seconds;
use super::input::shown;
use super::progress::{Meter, Unit};
use super::read::{Attempt, GraphArgs, ReadArgs, SummaryArgs};
use super::{Failure, Outcome, print_failure, say, told};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("target").required(true).args(["store", "endpoint"]))]
#[command(after_help = include_str!("help/load.txt").trim_end())]
pub struct Load {
    #[command(flatten)]
    read: ReadArgs,

    /// Load into the store in a folder, which is made if it is not there
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,

    /// Load into the SPARQL server that answers queries at a URL
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,

    /// Where the server takes updates [default: the URL of --endpoint]
    #[arg(long, value_name = "URL", requires = "endpoint", conflicts_with = "store")]
    update: Option<String>,

    /// Where the server has its graphs, by the SPARQL Graph Store Protocol
    #[arg(long, value_name = "URL", requires = "endpoint", conflicts_with = "store")]
    graph_store: Option<String>,

    /// Give the server so long to answer a request
    #[arg(long, value_name = "SECONDS", requires = "endpoint", conflicts_with = "store")]
    #[arg(default_value = "300", value_parser = parse_seconds)]
    timeout: Duration,

    #[command(flatten)]
    graph: GraphArgs,

    #[command(flatten)]
    summary: SummaryArgs,
}

impl Load {
    pub fn run(&self) -> Result<Outcome, Failure> {
        let sources = self.read.sources()?;
        if sources.iter().any(|source| source.is_stdin() && !source.iri_stated) {
            bail!("standard input has no name that its graph could have: give it one with --base IRI");
        }
        let mut run = self.read.run(&self.graph, self.summary.quiet)?;
        let endpoint = self.endpoint()?;
        let (mut target, name): (Box<dyn Target>, _) = match (&endpoint, &self.store) {
            (Some(endpoint), _) => (Box::new(ServerTarget::connect(endpoint)?), endpoint.url().to_owned()),
            (None, Some(dir)) => (Box::new(StoreTarget::new(store::open(dir)?)), shown(dir)),
            (None, None) => bail!("name a --store or an --endpoint"),
        };

        let (mut loaded, mut spools) = (Loaded::default(), Vec::new());
        for source in &sources {
            let mut spool = Spool::new(NamedNode::new(&source.iri)?, self.read.mapping);
            let mut sink = Sink::quads(&mut spool);
            let attempt = run.attempt(source, &mut sink)?;
            sink.finish()?;
            drop(sink);
            match attempt {
                Attempt::Done => spools.push(spool),
                Attempt::Failed => continue,
                // What was loaded of it before stays.
                Attempt::Unread(why) => {
                    print_failure(&why);
                    continue;
                }
                Attempt::Stopped => {
                    say("nothing was loaded");
                    return Ok(Outcome::Findings);
                }
            }
            // With --strict, a later input may stop it all.
            if !self.graph.strict {
                self.load(&mut spools, &mut *target, &name, &mut loaded)?;
            }
        }
        self.load(&mut spools, &mut *target, &name, &mut loaded)?;
        run.findings.end();
        self.summary.say(run.total.as_ref());
        self.say_loaded(&loaded, &name);
        for doubt in &loaded.doubts {
            say(&told(doubt));
        }
        run.check("")?;
        run.check_read()?;
        Ok(if loaded.doubts.is_empty() { Outcome::Done } else { Outcome::Findings })
    }

    fn endpoint(&self) -> Result<Option<Endpoint>, Failure> {
        let Some(url) = &self.endpoint else { return Ok(None) };
        let builder = Endpoint::builder(url)
            .update(self.update.clone())
            .graph_store(self.graph_store.clone())
            .credentials(Credentials::from_environment()?)
            .timeout(self.timeout);
        Ok(Some(builder.build()?))
    }

    /// Loads what waits.
    fn load(
        &self,
        spools: &mut Vec<Spool>,
        target: &mut dyn Target,
        name: &str,
        loaded: &mut Loaded,
    ) -> Result<(), Failure> {
        for spool in spools.drain(..) {
            let size = spool.graphs().map(|graph| graph.triples()).sum();
            let mut meter = Meter::new(name.to_owned(), Unit::Triples, Some(size), self.read.progress);
            if let Err(error) = load::load(&spool, target, &mut |count| meter.add(count), loaded) {
                drop(meter);
                if loaded.graphs > 0 {
                    self.say_loaded(loaded, name);
                }
                return Err(error.into());
            }
        }
        Ok(())
    }

    fn say_loaded(&self, loaded: &Loaded, name: &str) {
        if !self.summary.quiet {
            let noun = match self.read.mapping {
                Mapping::Session => "session",
                Mapping::Bblock => "graph",
            };
            let (graphs, triples) = (counted(loaded.graphs, noun), counted(loaded.triples, "triple"));
            say(&format!("loaded {graphs}, {triples} into {name}"));
        }
    }
}
