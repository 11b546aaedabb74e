//! A separate process for work that may not end, or not fit into memory.
//!
//! ```text
//! program worker   ← one line with the setup; then one line per request
//!                  → one line per answer
//! ```
//!
//! All lines are JSON. One process answers any number of requests. A request that exceeds the limits on time or memory
//! ends the process, and the next request starts another.

use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// The argument that makes a program a worker.
const ARGUMENT: &str = "worker";
/// Limit on the address space of the process, in bytes. Windows lacks such a limit without unsafe code, and macOS does
/// not enforce it.
const MEMORY: u64 = 2 << 30;

/// A worker process, started with the first request.
#[derive(Debug)]
pub struct SchemaWorker {
    program: PathBuf,
    /// Time limit for an answer.
    time: Duration,
    setup: Value,
    running: Option<WorkerProcess>,
}

#[derive(Debug)]
struct WorkerProcess {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<io::Result<String>>,
}

impl SchemaWorker {
    /// Creates a worker that runs a program, which must call `serve` if `ARGUMENT` is its only argument. `time` is the
    /// time limit for an answer.
    pub fn new(program: PathBuf, time: Duration) -> Self {
        Self { program, time, setup: Value::Null, running: None }
    }

    /// Replaces the setup, which ends the running process.
    pub fn set_up(&mut self, setup: Value) {
        (self.setup, self.running) = (setup, None);
    }

    /// Returns the answer to a request, or the reason why there is none within the time and 2 GiB of memory. The
    /// worker accepts further requests after an error.
    pub fn ask(&mut self, request: &Value) -> Result<Value, String> {
        let failed = |error: io::Error| format!("cannot start the worker process: {error}");
        let mut running = self.running.take().map_or_else(|| self.start(), Ok).map_err(failed)?;
        // Most likely, the process reached its memory limit.
        let ended = || format!("the schema worker ended (memory limit {} MiB?)", MEMORY >> 20);
        // One system call: formatting into the pipe would take one for each token.
        running.requests.write_all(format!("{request}\n").as_bytes()).map_err(|_| ended())?;
        let answer = running.answers.recv_timeout(self.time).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("it takes more than {} s", self.time.as_secs()),
            RecvTimeoutError::Disconnected => ended(),
        })?;
        let answer = answer.and_then(|line| Ok(serde_json::from_str(&line)?)).map_err(failed)?;
        self.running = Some(running);
        Ok(answer)
    }

    fn start(&self) -> io::Result<WorkerProcess> {
        let mut command = Command::new(&self.program);
        // The worker runs untrusted code, which must not see the environment.
        command.arg(ARGUMENT).env_clear();
        // Without it, programs on Windows may lack random numbers.
        command.envs(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let (Some(mut requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (sender, receiver) = mpsc::channel();
        let mut lines = BufReader::new(answers).lines();
        thread::Builder::new().spawn(move || lines.try_for_each(|line| sender.send(line)))?;
        writeln!(requests, "{}", self.setup)?;
        Ok(WorkerProcess { child, requests, answers: receiver })
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Answers the requests on standard input until its end, within the limits of a worker. `set_up` returns the function
/// that answers.
pub fn serve<A: FnMut(&Value) -> Value>(
    set_up: impl FnOnce(Value) -> Result<A, serde_json::Error>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    #[cfg(unix)]
    for (resource, limit) in [(rustix::process::Resource::As, MEMORY), (rustix::process::Resource::Core, 0)] {
        // Fails if the limit is lower already.
        let limit = rustix::process::Rlimit { current: Some(limit), maximum: Some(limit) };
        let _ = rustix::process::setrlimit(resource, limit);
    }
    let mut lines = io::stdin().lines();
    let Some(setup) = lines.next() else { return Ok(()) };
    let mut answer = set_up(serde_json::from_str(&setup?)?)?;
    for request in lines {
        let answer = answer(&serde_json::from_str(&request?)?);
        writeln!(io::stdout(), "{answer}")?;
    }
    Ok(())
}
