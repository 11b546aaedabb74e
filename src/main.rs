//! The command `rpcgraph`: arguments in, an exit status out.

mod cli;

use std::process::ExitCode;
use std::thread;

/// Room for messages nested as deeply as they may be, under contexts that map every level.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    match thread::Builder::new().stack_size(STACK).spawn(cli::run).map(thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic has printed its message.
        Ok(Err(_)) | Err(_) => ExitCode::from(2),
    }
}
