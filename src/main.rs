//! The command `rpcgraph`: arguments in, an exit status out.

use std::process::ExitCode;
use std::thread;

fn main() -> ExitCode {
    match thread::Builder::new()
        .stack_size(rpcgraph::convert::STACK)
        .spawn(rpcgraph::cli::run)
        .map(thread::JoinHandle::join)
    {
        Ok(Ok(code)) => code,
        // The panic has printed its message.
        Ok(Err(_)) | Err(_) => ExitCode::from(2),
    }
}
