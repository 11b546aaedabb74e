//! `load`: loads logs into a SPARQL server or a store.

use std::collections::{BTreeMap, VecDeque};
use std::iter::Enumerate;
use std::slice;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::endpoint::{Credentials, Endpoint};
use crate::load::{self, Loaded, ServerTarget, Spool, StoreTarget, Target};
use crate::mapping::{Mapping, deep_thread};
use crate::sink::Sink;
use crate::store;
use crate::summary::counted;
use anyhow::bail;
use clap::{ArgGroup, Args};
use oxrdf::NamedNode;

use super::console::{Outcome, print_failure, say, told};
use super::input::{InputSource, shown};
use super::paths::OutputPath;
use super::progress::{Meter, ProgressMode, Unit};
use super::read::{GraphArgs, InputOutcome, InputRun, ReadArgs, SummaryArgs};
use super::values::parse_seconds;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("target").required(true).args(["store", "endpoint"]))]
#[command(after_long_help = include_str!("help/load.txt").trim_end())]
pub struct LoadCommand {
    #[command(flatten)]
    read: ReadArgs,

    /// Load into a store on disk, created if absent
    #[arg(long, value_name = "DIR", help_heading = "Server")]
    store: Option<OutputPath>,

    /// Load into the SPARQL server with this query URL
    #[arg(long, value_name = "URL", help_heading = "Server")]
    endpoint: Option<String>,

    /// URL of the server for updates [default: the URL of --endpoint]
    #[arg(long, value_name = "URL", requires = "endpoint", conflicts_with = "store", help_heading = "Server")]
    update: Option<String>,

    /// URL of the server for graphs (SPARQL Graph Store Protocol)
    #[arg(long, value_name = "URL", requires = "endpoint", conflicts_with = "store", help_heading = "Server")]
    graph_store: Option<String>,

    /// Timeout of a request to the server
    #[arg(long, value_name = "SECONDS", requires = "endpoint", conflicts_with = "store")]
    #[arg(default_value = "300", value_parser = parse_seconds, help_heading = "Server")]
    timeout: Duration,

    #[command(flatten)]
    graph: GraphArgs,

    #[command(flatten)]
    summary: SummaryArgs,
}

/// State that all loading threads share.
struct LoadState<'l> {
    load: &'l LoadCommand,
    run: InputRun<'l>,
    sources: Enumerate<slice::Iter<'l, InputSource>>,
    /// Inputs that were read but not sent yet, by number.
    waiting: VecDeque<(usize, Spool)>,
    /// The counts of each input, by number.
    loaded: BTreeMap<usize, Loaded>,
    /// The reasons why loading ended, by number of the input; `None` if `--strict` stopped it.
    ended: BTreeMap<usize, Option<anyhow::Error>>,
}

impl LoadCommand {
    pub fn run(&self) -> anyhow::Result<Outcome> {
        let sources = self.read.input.sources()?;
        if sources.iter().any(|source| source.is_stdin() && !source.iri_stated) {
            bail!("standard input needs a name for its graph: give it one with --base IRI");
        }
        let run = self.read.run(&self.graph, self.summary.quiet)?;
        let endpoint = self.endpoint()?;
        let (target, name): (Box<dyn Target>, _) = match (&endpoint, &self.store) {
            (Some(endpoint), _) => {
                let target = ServerTarget::connect(endpoint)?.resuming(sources.len() > 1);
                (Box::new(target), endpoint.url().to_owned())
            }
            (None, Some(dir)) => (Box::new(StoreTarget::new(store::open(dir)?)), shown(dir)),
            (None, None) => bail!("name a --store or an --endpoint"),
        };
        // A store writes one graph after the other.
        let threads = if endpoint.is_some() { self.read.input.format.jobs().min(sources.len()) } else { 1 };
        let loading = Mutex::new(LoadState {
            load: self,
            run,
            sources: sources.iter().enumerate(),
            waiting: VecDeque::new(),
            loaded: BTreeMap::new(),
            ended: BTreeMap::new(),
        });
        let work = || self.work(&loading, &*target, &name, threads);
        thread::scope(|scope| {
            for _ in 1..threads {
                // If a thread cannot be started, fewer threads do the work.
                let _ = deep_thread().spawn_scoped(scope, work);
            }
            work();
        });
        let LoadState { run, loaded, ended, .. } = loading.into_inner().unwrap_or_else(PoisonError::into_inner);
        let loaded = loaded.into_values().fold(Loaded::default(), Loaded::and);
        if let Some(failure) = ended.into_values().next() {
            if loaded.graphs > 0 {
                self.say_loaded(&loaded, &name);
            }
            return failure.map_or(Ok(Outcome::Findings), Err);
        }
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

    /// Loads inputs until there are none left. Inputs are read in turn, and sent in parallel.
    fn work(&self, loading: &Mutex<LoadState<'_>>, target: &dyn Target, name: &str, threads: usize) {
        let when = if threads > 1 { ProgressMode::Never } else { self.read.input.progress };
        loop {
            let Some((number, spool)) = lock(loading).next() else { return };
            let size = spool.graphs().map(|graph| graph.triples()).sum();
            let mut meter = Meter::new(name.to_owned(), Unit::Triples, Some(size), when);
            let mut loaded = Loaded::default();
            let ended = load::load(&spool, target, &mut |count| meter.add(count), &mut loaded);
            drop(meter);
            let mut loading = lock(loading);
            loading.loaded.insert(number, loaded);
            if let Err(failure) = ended {
                loading.ended.insert(number, Some(failure.into()));
            }
        }
    }

    fn endpoint(&self) -> anyhow::Result<Option<Endpoint>> {
        let Some(url) = &self.endpoint else { return Ok(None) };
        let builder = Endpoint::builder(url)
            .update(self.update.clone())
            .graph_store(self.graph_store.clone())
            .credentials(Credentials::from_environment()?)
            .timeout(self.timeout);
        Ok(Some(builder.build()?))
    }

    fn say_loaded(&self, loaded: &Loaded, name: &str) {
        if !self.summary.quiet {
            let noun = match self.read.mapping {
                Mapping::Session => "session",
                Mapping::Bblock => "graph",
            };
            let (graphs, triples) = (counted(loaded.graphs, noun), counted(loaded.triples, "triple"));
            let there = match loaded.there {
                0 => String::new(),
                there => format!("; {there} of them were there already"),
            };
            say(&format!("loaded {graphs}, {triples} into {name}{there}"));
        }
    }
}

impl LoadState<'_> {
    /// Returns the next input to send, unless loading has ended.
    fn next(&mut self) -> Option<(usize, Spool)> {
        // With --strict, all inputs are read first, since a later input may stop the load.
        while self.ended.is_empty() && (self.waiting.is_empty() || self.load.graph.strict) {
            let Some((number, source)) = self.sources.next() else { break };
            let read = self.read(source).and_then(|read| match self.sources.len() {
                0 => self.run.check_pointers().map(|()| read),
                _ => Ok(read),
            });
            match read {
                Ok((InputOutcome::Done, spool)) => self.waiting.push_back((number, spool)),
                Ok((InputOutcome::Failed, _)) => {}
                // The input's earlier graph stays.
                Ok((InputOutcome::Unread(why), _)) => print_failure(&why),
                Ok((InputOutcome::Stopped, _)) => {
                    say("the input was not loaded");
                    self.ended.insert(number, None);
                }
                Err(failure) => _ = self.ended.insert(number, Some(failure)),
            }
        }
        self.waiting.pop_front().filter(|_| self.ended.is_empty())
    }

    /// Reads an input to its end.
    fn read(&mut self, source: &InputSource) -> anyhow::Result<(InputOutcome, Spool)> {
        let mut spool = Spool::new(NamedNode::new(&source.iri)?, self.load.read.mapping);
        let mut sink = Sink::quads(&mut spool);
        let attempt = self.run.attempt(source, &mut sink)?;
        sink.finish()?;
        drop(sink);
        Ok((attempt, spool))
    }
}

fn lock<'m, 'l>(loading: &'m Mutex<LoadState<'l>>) -> MutexGuard<'m, LoadState<'l>> {
    loading.lock().unwrap_or_else(PoisonError::into_inner)
}
