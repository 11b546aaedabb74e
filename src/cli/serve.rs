//! `serve`: serves a page and a SPARQL endpoint over logs or a store.

use std::net::{AddrParseError, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crate::query::{Cancel, Dataset, Loading, Query};
use crate::report::{Report, ReportOptions};
use crate::serve::{Limits, RenewContent, ServedContent, ServedData, Server, Site};
use crate::store;
use crate::summary::counted;
use anyhow::{Context as _, bail};
use clap::Args;

use super::console::{Outcome, print_failure, say};
use super::format::OF_LOGS;
use super::input::InputSource;
use super::judging::judged;
use super::question::base;
use super::read::{GraphArgs, OF_MAPPING, ReadArgs};
#[cfg(target_os = "linux")]
use super::supervised::{self, HandedOver};
use super::target::print;
use super::values::{parse_seconds, parse_size};

/// The maximum size of texts in the page, in bytes.
const MAX_TEXTS: u64 = 20 << 20;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/serve.txt").trim_end())]
pub struct ServeCommand {
    #[command(flatten)]
    read: ReadArgs,

    /// Serve a store that `rpcgraph load` filled
    #[arg(long, value_name = "DIR", help_heading = "Input", conflicts_with = "inputs")]
    #[arg(conflicts_with_all = OF_LOGS, conflicts_with_all = OF_MAPPING)]
    store: Option<PathBuf>,

    /// Read the logs again as they grow
    #[arg(long, conflicts_with = "store", help_heading = "Input")]
    follow: bool,

    /// Address and port to listen on [default: 127.0.0.1 and a free port]
    ///
    /// On an address of the network, everyone with the token can read the logs, unencrypted.
    #[arg(long, value_name = "ADDRESS[:PORT]", default_value = "127.0.0.1", hide_default_value = true)]
    #[arg(value_parser = parse_address, help_heading = "Server")]
    bind: SocketAddr,

    /// Stop queries after SECONDS
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds, help_heading = "Server")]
    timeout: Duration,

    /// Stop queries at SIZE bytes of memory beyond the logs; K, M and G stand for KiB, MiB and GiB
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_size, help_heading = "Server")]
    max_memory: usize,

    /// Stop queries after N rows or triples
    #[arg(long, value_name = "N", default_value_t = 1_000_000, help_heading = "Server")]
    max_rows: u64,

    /// Add the verdicts of `rpcgraph check` to the page
    #[arg(long, conflicts_with = "store", help_heading = "Server")]
    check: bool,

    /// Print only errors
    #[arg(long, help_heading = "Output")]
    quiet: bool,
}

/// Parses an address with or without a port; port 0 selects a free port.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let numbers = text.replacen("localhost", "127.0.0.1", 1);
    let address = numbers.parse().or_else(|_| Ok(SocketAddr::new(numbers.parse()?, 0)));
    address
        .map_err(|_: AddrParseError| "expected an address such as 127.0.0.1, 127.0.0.1:8087 or [::1]:8087".to_owned())
}

/// The graph options for queries that do not name provenance or the text between messages.
const PLAIN: GraphArgs = GraphArgs { strict: false, provenance: false, log_lines: false };

impl ServeCommand {
    pub fn run(&self) -> anyhow::Result<Outcome> {
        ctrlc::set_handler(|| std::process::exit(0)).context("cannot listen for Ctrl-C")?;
        if self.read.input.format.redact.is_on() {
            bail!("serve reads logs as they are: redact the log first, and serve that");
        }
        let mut sources = if self.store.is_some() { Vec::new() } else { self.read.input.sources()? };
        #[cfg(target_os = "linux")]
        if let Some(handed) = HandedOver::get()? {
            let server = handed.server()?;
            sources.iter_mut().zip(handed.kept).try_for_each(|(source, kept)| source.keep_as(kept.as_deref()))?;
            return self.serve(server, sources);
        }
        // Bind now rather than after all the work.
        let server = Server::bind(self.bind).with_context(|| format!("cannot listen on {}", self.bind))?;
        if self.follow && sources.iter().any(InputSource::is_stdin) {
            bail!("--follow reads logs again as they grow, and standard input is read once: name a file");
        }
        if !self.follow {
            sources.iter_mut().try_for_each(InputSource::keep_log)?;
        }
        #[cfg(target_os = "linux")]
        return supervised::run(server, &sources);
        #[cfg(not(target_os = "linux"))]
        self.serve(server, sources)
    }

    fn serve(&self, server: Server, sources: Vec<InputSource>) -> anyhow::Result<Outcome> {
        let base = base(&sources).or_else(|| self.read.input.format.base.clone());
        let logs = Arc::new(Logs { read: self.read.clone(), sources, check: self.check, time: self.timeout });
        // Set up before the first reading, so that later changes are noticed.
        let renew = self.follow.then(|| logs.renewal());
        let content = match &self.store {
            Some(dir) => {
                ServedContent { data: ServedData::Stored(Dataset::stored(store::open_read_only(dir)?)), report: None }
            }
            None => logs.content(self.quiet, None)?,
        };
        let limits = Limits { time: self.timeout, memory: self.max_memory as u64, rows: self.max_rows };
        let site = Site { content, renew, base, worker: std::env::current_exe().ok(), limits };
        if !self.bind.ip().is_loopback() && !self.quiet {
            say("warning: whoever gets that URL from the network, where it is not encrypted, can read all of the logs");
        }
        print(&format!("{}\n", server.url()))?;
        server.run(site)?;
        Ok(Outcome::Done)
    }
}

/// The logs that are served, which may be read many times.
struct Logs {
    read: ReadArgs,
    sources: Vec<InputSource>,
    /// True if the page has the verdicts of the rules.
    check: bool,
    /// The time limit for reading them again.
    time: Duration,
}

impl Logs {
    fn content(self: &Arc<Self>, quiet: bool, time: Option<Duration>) -> anyhow::Result<ServedContent> {
        let read = self.read.until(time.map(|time| Instant::now() + time));
        Ok(ServedContent { report: self.report(&read, quiet)?, data: self.data(&read, quiet)? })
    }

    /// Returns a function that reads the content again if a log has changed. If that fails, the earlier content stays.
    fn renewal(self: &Arc<Self>) -> Box<RenewContent> {
        let (logs, mut seen) = (Arc::clone(self), self.state());
        Box::new(move || {
            let now = logs.state();
            // A log is missing, or was replaced by a pipe, whose end cannot be known.
            if now == seen || now.contains(&None) {
                return None;
            }
            seen = now;
            logs.content(true, Some(logs.time)).map_err(|failure| print_failure(&failure)).ok()
        })
    }

    /// Returns the length and modification time of each file that exists.
    fn state(&self) -> Vec<Option<(u64, SystemTime)>> {
        let state = |path: &Path| {
            let metadata = path.metadata().ok().filter(|metadata| metadata.is_file() || metadata.is_dir())?;
            Some((metadata.len(), metadata.modified().ok()?))
        };
        self.sources.iter().map(InputSource::path).map(state).collect()
    }

    /// Makes the page that shows the logs.
    fn report(&self, read: &ReadArgs, quiet: bool) -> anyhow::Result<Option<Vec<u8>>> {
        let sources = &self.sources;
        if sources.is_empty() {
            return Ok(None);
        }
        let options = read.input.options()?;
        let mut report = Report::new(&ReportOptions { limit: Some(MAX_TEXTS), ..ReportOptions::default() });
        for source in sources {
            if source.rdf_format().is_some() {
                bail!("{} is RDF and not a log: load it into a store, and serve that with --store", source.name());
            }
            let input = read.open(source)?;
            report.read(&source.file_name(), input.read, &options).with_context(|| source.name())?;
        }
        let jobs = self.read.input.format.jobs();
        let verdicts = self.check.then(|| judged(sources, &options, jobs)).transpose()?;
        let title = sources.iter().map(InputSource::file_name).collect::<Vec<_>>().join(", ");
        let sessions = sources.iter().map(|source| source.iri.clone()).collect();
        let mut page = Vec::new();
        let left = report.served(sessions).judged(verdicts).write(&title, &mut page)?;
        if left.without_text > 0 && !quiet {
            let rows = counted(left.rows, "message");
            say(&format!("note: the texts of {} of {rows} are not in the page; /sparql has them", left.without_text));
        }
        Ok(Some(page))
    }

    /// Loads the logs once for most queries. Queries that name provenance or log lines load them again.
    fn data(self: &Arc<Self>, read: &ReadArgs, quiet: bool) -> anyhow::Result<ServedData> {
        let all = Dataset::of_everything();
        let mut loading = all.load(&Cancel::default())?;
        let mut run = read.run(&PLAIN, quiet)?;
        run.load(&self.sources, false, &Cancel::default(), |run, source| run.load_one(source, &mut loading))?;
        loading.commit()?;
        let logs = Arc::clone(self);
        let load = move |loading: &mut Loading<'_>, query: &Query| {
            let (provenance, log_lines) = (query.names_provenance(), query.names_log_lines());
            let read = logs.read.until(Some(Instant::now() + logs.time));
            let mut run = read.run(&GraphArgs { provenance, log_lines, ..PLAIN }, true)?;
            logs.sources.iter().try_for_each(|source| run.convert(source, &mut loading.sink()).map(drop))?;
            Ok(())
        };
        Ok(ServedData::Logs { all, load: Box::new(load) })
    }
}
