//! `record`: runs a server as its client would, and writes a log of what both say.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process;

use crate::recorder::{Proxy, RecordLog};
use anyhow::{Context as _, bail};
use clap::Args;
use url::Url;

use super::console::{Outcome, say};
use super::input::shown;
use super::paths::OutputPath;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/record.txt").trim_end())]
pub struct RecordCommand {
    /// Append to this log; default: a new file in the current folder
    #[arg(short, long, value_name = "LOG.ndjson", help_heading = "Output")]
    output: Option<OutputPath>,

    /// Listen for HTTP on this address of the machine itself, such as 127.0.0.1:8800
    #[arg(long, value_name = "ADDRESS", requires = "to", help_heading = "HTTP")]
    listen: Option<SocketAddr>,

    /// Pass HTTP requests to this server
    #[arg(long = "to", id = "to", value_name = "URL", requires = "listen", help_heading = "HTTP")]
    target: Option<Url>,

    /// Server on standard input and output, with its arguments
    #[arg(value_name = "SERVER", last = true, required_unless_present = "listen", conflicts_with = "listen", help_heading = None)]
    server: Vec<OsString>,
}

impl RecordCommand {
    pub fn run(&self) -> anyhow::Result<Outcome> {
        let new = || PathBuf::from(format!("rpcgraph-{}.ndjson", crate::recorder::new_name()));
        let path = self.output.as_deref().map_or_else(new, Path::to_owned);
        match (&self.listen, &self.target) {
            (Some(address), Some(target)) => {
                if !address.ip().is_loopback() {
                    bail!("{address} can be reached from other machines: listen on 127.0.0.1 or [::1]");
                }
                if !matches!(target.scheme(), "http" | "https") {
                    bail!("{target} is not an HTTP URL");
                }
                let proxy =
                    Proxy::bind(*address, target.clone()).with_context(|| format!("cannot listen on {address}"))?;
                say(&format!("recording to {}: {} passes requests to {target}", shown(&path), proxy.url()?));
                proxy.run(RecordLog::open(&path, say))?;
                Ok(Outcome::Done)
            }
            _ => self.run_server(&path),
        }
    }

    #[cfg(unix)]
    fn run_server(&self, path: &Path) -> anyhow::Result<Outcome> {
        if self.output.is_none() {
            say(&format!("recording to {}", shown(path)));
        }
        let name = self.server.first().cloned().unwrap_or_default();
        let status = crate::recorder::record(&self.server, RecordLog::open(path, say))
            .with_context(|| format!("cannot run {}", shown(Path::new(&name))))?;
        process::exit(status)
    }

    #[cfg(not(unix))]
    fn run_server(&self, _path: &Path) -> anyhow::Result<Outcome> {
        bail!("servers on standard input and output are recorded on Unix only; --listen records HTTP")
    }
}
