//! Logs in memory, and errors in words.

use std::error::Error;
use std::fmt;
use std::io::{self, Cursor, Read};
use std::sync::Arc;

use rpcgraph::Log;
use rpcgraph::convert::Input;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// Counts bytes of the logs as read.
    #[wasm_bindgen(js_name = rpcgraphProgress)]
    fn progress(bytes: u32);
}

/// A log and its name.
#[derive(Clone)]
pub struct LogFile {
    pub name: String,
    bytes: Arc<[u8]>,
}

impl LogFile {
    pub fn new(name: String, bytes: Vec<u8>) -> Self {
        Self { name, bytes: bytes.into() }
    }

    pub fn reader(&self) -> impl Read + Send + 'static {
        Watched(Cursor::new(Arc::clone(&self.bytes)))
    }

    pub fn input(&self) -> Input<Box<dyn Read + Send>> {
        Log::read(&*self.name, self.reader()).into_input()
    }

    /// The IRI of the session.
    pub fn iri(&self) -> String {
        Log::read(&*self.name, io::empty()).into_input().iri
    }

    pub fn failed(&self, error: impl Error) -> Failure {
        Failure(format!("{}: {}", self.name, failed(error).0))
    }
}

struct Watched(Cursor<Arc<[u8]>>);

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        progress(u32::try_from(read).unwrap_or(u32::MAX));
        Ok(read)
    }
}

/// An error with its causes, in words.
#[derive(Debug)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Failure {}

/// Puts an error and its causes into words.
pub fn failed(error: impl Error) -> Failure {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    Failure(std::iter::once(error.to_string()).chain(causes.map(ToString::to_string)).collect::<Vec<_>>().join(": "))
}
