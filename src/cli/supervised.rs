//! Runs `serve` in a child process, which is restarted if a query has terminated it.
//!
//! ```text
//! rpcgraph serve     listens, keeps copies of the logs, waits
//! └ rpcgraph serve   reads the copies, answers
//! ```
//!
//! The child has the socket as its standard input, and its other parameters in an environment variable.

use std::io::{self, BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, process};

use crate::serve::Server;
use anyhow::Context as _;
use rustix::process::{Signal, set_parent_process_death_signal};
use serde_json::{Value, json};

use super::console::{Outcome, say};
use super::input::InputSource;
use super::target::print;

const VARIABLE: &str = "RPCGRAPH_SERVE";

/// The data that the serving process got from the waiting process.
pub struct HandedOver {
    token: String,
    /// The copy of each input, if there is one.
    pub kept: Vec<Option<PathBuf>>,
}

impl HandedOver {
    /// Returns the data that this process got, if it is the serving process, which is then killed when the waiting
    /// process ends.
    pub fn get() -> anyhow::Result<Option<Self>> {
        let Some(text) = env::var_os(VARIABLE) else { return Ok(None) };
        set_parent_process_death_signal(Some(Signal::KILL)).context("cannot end with the process that waits")?;
        let handed: Value = serde_json::from_slice(text.as_encoded_bytes()).context(VARIABLE)?;
        let kept = handed["kept"].as_array().into_iter().flatten().map(|path| path.as_str().map(PathBuf::from));
        Ok(Some(Self { token: handed["token"].as_str().unwrap_or_default().to_owned(), kept: kept.collect() }))
    }

    /// Returns the server at the socket that was handed over.
    pub fn server(&self) -> anyhow::Result<Server> {
        let socket = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Server::from_listener(TcpListener::from(socket), self.token.clone())?)
    }
}

/// Serves in a child process, and starts another if the child was terminated.
pub fn run(server: Server, sources: &[InputSource]) -> anyhow::Result<Outcome> {
    let (listener, token) = server.into_listener()?;
    let kept: Vec<_> = sources.iter().map(InputSource::kept_path).collect();
    let handed = json!({ "token": token, "kept": kept }).to_string();
    let mut served = false;
    loop {
        let mut command = Command::new("/proc/self/exe");
        command.args(env::args_os().skip(1)).env(VARIABLE, &handed);
        if let Some(name) = env::args_os().next() {
            command.arg0(name);
        }
        let socket = OwnedFd::from(listener.try_clone()?);
        let spawned = command.stdin(Stdio::from(socket)).stdout(Stdio::piped()).spawn();
        let mut child = spawned.context("cannot begin the process that serves")?;
        let mut url = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut url)?;
        }
        if !url.is_empty() && !served {
            print(&url)?;
        }
        served = true;
        let status = child.wait()?;
        match status.code() {
            Some(0) => return Ok(Outcome::Done),
            // The child has printed the reason.
            code if url.is_empty() => process::exit(code.unwrap_or(2)),
            _ => say("note: the logs are read again, and then served as before"),
        }
    }
}
