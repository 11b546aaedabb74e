//! The command: input, output, messages on standard error, and exit status.
//!
//! Each test runs the built program in a folder of its own. Runs on small inputs are cases (`cases.rs`); here are runs that
//! need generated inputs, terminals, signals, links, servers or an oracle.

mod bad_input;
mod builtin;
mod files;
mod filters;
mod follow;
mod inputs;
mod output;
mod questions;
mod show;
mod store;
mod streaming;
mod syntaxes;
mod terminal;
mod threads;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use flate2::write::GzEncoder;
use oxrdf::{GraphName, Quad, Term};
use oxrdfio::{RdfFormat, RdfParser};
use tempfile::TempDir;

/// A call and its result, two notifications (one with numbers), a call that fails: 48 triples.
pub const LOG: &str = r#"{"jsonrpc":"2.0","id":1,"method":"subtract","params":[42,23]}
{"jsonrpc":"2.0","id":1,"result":19}
{"jsonrpc":"2.0","method":"note","params":{"x":1.50}}
{"jsonrpc":"2.0","id":"a","method":"no"}
{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found"}}
"#;

/// The summary of [`LOG`] if triples were written.
pub const LOG_SUMMARY: &str =
    "5 records (json-lines): 2 requests, 1 notification, 1 response, 1 error response; 48 triples\n";

pub const REQUEST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#;
pub const RESPONSE: &str = r#"{"jsonrpc":"2.0","id":1,"result":true}"#;

/// A session's IRI for `--base`.
pub const BASE: &str = "https://example.org/s";

/// The outcome of a run of the program.
#[derive(Debug)]
pub struct Ran {
    pub status: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Ran {
    /// Asserts exit status and standard error.
    #[track_caller]
    pub fn said(&self, status: i32, stderr: &str) -> &Self {
        assert_eq!((self.status, self.stderr.as_str()), (Some(status), stderr));
        self
    }

    /// Asserts how standard error begins; the rest is not in the program's own words.
    #[track_caller]
    pub fn began(&self, status: i32, stderr: &str) {
        assert_eq!(self.status, Some(status), "{}", self.stderr);
        assert!(self.stderr.starts_with(stderr), "{}", self.stderr);
    }

    /// Asserts exit status 0 and an empty standard error.
    #[track_caller]
    pub fn quietly(&self) -> &Self {
        self.said(0, "")
    }

    /// Standard output as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("text")
    }

    /// Standard output as quads.
    pub fn quads(&self, syntax: RdfFormat) -> Vec<Quad> {
        parse(syntax, &self.stdout)
    }

    /// Asserts that standard output is empty.
    #[track_caller]
    pub fn printed_nothing(&self) -> &Self {
        assert_eq!(self.text(), "");
        self
    }
}

/// A folder to run the program in.
pub struct Place {
    folder: TempDir,
    pub environment: Vec<(String, String)>,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: TempDir::new().expect("a folder"), environment: Vec::new() }
    }

    /// A folder with one log in it.
    pub fn with(name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let place = Self::new();
        place.put(name, bytes);
        place
    }

    /// Writes a file, and the folders that it is in.
    pub fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, bytes).expect("a file");
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The `file:` IRI of a file in it.
    pub fn iri(&self, name: &str) -> String {
        let folder = self.folder.path().canonicalize().expect("a folder");
        url::Url::from_file_path(folder.join(name)).expect("an absolute path").into()
    }

    /// Names of what is in it, in order.
    pub fn names(&self) -> Vec<String> {
        self.names_in("")
    }

    /// Names of what is in a folder in it, in order.
    pub fn names_in(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).expect("a folder");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The program in this folder, without the caller's environment, and with an empty cache of its own.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rpcgraph"));
        let folder = self.folder.path().canonicalize().expect("a folder");
        command.current_dir(&folder).env_clear().env("XDG_CACHE_HOME", folder.join("no cache"));
        command.envs(self.environment.iter().cloned()).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end with nothing on standard input.
    #[track_caller]
    pub fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Ran {
        self.run_with(arguments, b"")
    }

    /// Runs the program to its end.
    #[track_caller]
    pub fn run_with<A: AsRef<OsStr>>(&self, arguments: &[A], stdin: impl AsRef<[u8]>) -> Ran {
        let mut child = self.command(arguments).spawn().expect("the program starts");
        let mut pipe = child.stdin.take().expect("a pipe");
        let stdin = stdin.as_ref();
        let output = thread::scope(|scope| {
            // The program may end before it has read everything.
            scope.spawn(move || drop(pipe.write_all(stdin)));
            child.wait_with_output().expect("the program ends")
        });
        let stderr = String::from_utf8(output.stderr).expect("text on standard error");
        assert!(!stderr.contains("panicked"), "{stderr}");
        assert!(!stderr.contains('\x1b'), "escape codes where there is no terminal: {stderr:?}");
        Ran { status: output.status.code(), stdout: output.stdout, stderr }
    }

    /// Runs `convert` with these arguments.
    #[track_caller]
    pub fn convert(&self, arguments: &[&str]) -> Ran {
        self.run(&[&["convert"], arguments].concat())
    }
}

/// Parses all quads of a text; blank nodes are renamed, so that several texts do not share any.
pub fn parse(syntax: RdfFormat, text: &[u8]) -> Vec<Quad> {
    let parser = RdfParser::from_format(syntax).rename_blank_nodes();
    let parsed: Result<_, _> = parser.for_slice(text).collect();
    parsed.unwrap_or_else(|error| panic!("{error} in\n{}", String::from_utf8_lossy(text)))
}

/// The quads without the names of their graphs.
pub fn triples(quads: &[Quad]) -> Vec<Quad> {
    quads.iter().map(|quad| Quad { graph_name: GraphName::DefaultGraph, ..quad.clone() }).collect()
}

/// The same without datatypes and quotes.
pub fn values(quads: &[Quad], node: &str, property: &str) -> Vec<String> {
    found(quads, node, property, |term| match term {
        Term::Literal(literal) => literal.value().to_owned(),
        other => other.to_string(),
    })
}

fn found(quads: &[Quad], node: &str, property: &str, show: impl Fn(&Term) -> String) -> Vec<String> {
    let subject = format!("<{BASE}{node}>");
    let of_property = |quad: &&Quad| quad.subject.to_string() == subject && quad.predicate.as_str() == property;
    let mut found: Vec<_> = quads.iter().filter(of_property).map(|quad| show(&quad.object)).collect();
    found.sort();
    found
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("gzip")
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("zstd")
}

/// An IRI of the building block's ontology.
pub fn jrpc(name: &str) -> String {
    format!("http://json-rpc.org/ontology#{name}")
}

/// An IRI of the program's own ontology.
pub fn rpcg(name: &str) -> String {
    format!("https://w3id.org/rpcgraph#{name}")
}
