//! A server on standard input and output, run as its client would run it.
//!
//! Two threads copy bytes between the ends, a third writes the log, a fourth passes on signals. The first two never wait for the
//! third.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal as _, Read, Write};
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use super::framing::Framing;
use super::log::{LogQueue, Piece, RecordLog, wait};
use crate::record::Sender;

/// How long the last bytes of a server may take after its end. Its child processes may keep its output open for longer.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// Runs a server between the program's standard input and output, and records both.
///
/// Returns the exit status of the server: 128 and its number for a signal, as shells do.
///
/// # Errors
///
/// If the server cannot be started.
pub fn record(command: &[OsString], log: RecordLog) -> io::Result<i32> {
    let [program, arguments @ ..] = command else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let is_terminal = io::stdin().is_terminal();
    // Copies of the ends, so that closing one closes the pipe.
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut server = command.spawn()?;
    let (queue, written) = log.start()?;
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    if let Ok(pid) = i32::try_from(server.id()) {
        let (waiting, passed) = channel();
        thread::Builder::new().spawn(move || pass_signals(pid, is_terminal, waiting))?;
        // The channel closes once signals are passed on. Output of the server comes after that, so that who waits for it can send one.
        let _ = passed.recv();
    }
    if let Some(pipe) = server.stdin.take() {
        let queue = queue.clone();
        thread::Builder::new().spawn(move || pass(input, pipe, Sender::Client, &queue))?;
    }
    let (ended, end) = channel::<()>();
    if let Some(pipe) = server.stdout.take() {
        let queue = queue.clone();
        thread::Builder::new().spawn(move || {
            pass(pipe, output, Sender::Server, &queue);
            drop(ended);
        })?;
    }
    let status = server.wait()?;
    let _ = end.recv_timeout(LAST_OUTPUT);
    queue.end(Piece::now(None, format!("ended: {status}").as_bytes()));
    wait(&written);
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
}

/// Copies bytes until one end closes, and closes both.
fn pass(mut from: impl Read, mut to: impl Write, side: Sender, queue: &LogQueue) {
    let mut framing = Framing::default();
    let mut give = |bytes: &[u8]| queue.send(Piece::now(Some(side), bytes));
    let mut buffer = vec![0; 64 << 10];
    loop {
        let bytes = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => buffer.get(..count).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        // Before the bytes are passed on, so that no answer is earlier than its request.
        framing.push(bytes, &mut give);
        if to.write_all(bytes).and_then(|()| to.flush()).is_err() {
            break;
        }
    }
    framing.end(&mut give);
}

/// Passes signals on to the server, which ends the program when it ends. Drops `waiting` once no signal is missed.
fn pass_signals(server: i32, is_terminal: bool, waiting: mpsc::Sender<()>) {
    let Some(server) = Pid::from_raw(server) else { return };
    let mut signals = vec![
        (SignalKind::terminate(), Signal::TERM),
        (SignalKind::hangup(), Signal::HUP),
        (SignalKind::user_defined1(), Signal::USR1),
        (SignalKind::user_defined2(), Signal::USR2),
    ];
    // A terminal sends these to the server, too; they only must not end this program.
    signals.extend([(SignalKind::interrupt(), Signal::INT), (SignalKind::quit(), Signal::QUIT)]);
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
    runtime.block_on(async {
        let tasks = signals.into_iter().filter_map(|(kind, number)| {
            let mut stream = signal(kind).ok()?;
            let sent_by_terminal = is_terminal && matches!(number, Signal::INT | Signal::QUIT);
            Some(tokio::spawn(async move {
                while stream.recv().await.is_some() {
                    if !sent_by_terminal {
                        let _ = kill_process(server, number);
                    }
                }
            }))
        });
        let tasks: Vec<_> = tasks.collect();
        drop(waiting);
        for task in tasks {
            let _ = task.await;
        }
    });
}
