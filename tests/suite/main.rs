//! Every test that needs more than one module, in one binary.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on fails, and says when it is skipped"
)]

mod agreement;
mod bblock;
mod capture;
mod captured;
mod cases;
mod check;
mod cli;
mod conforms;
mod context;
mod detection;
mod docs;
mod endpoint;
mod formats;
mod http;
mod json;
mod learner;
mod library;
mod lifted;
mod load;
mod lsp;
mod mcp;
mod memory;
mod messages;
mod nothing_lost;
mod overview;
mod paths;
mod protocol;
mod queries;
mod query;
mod wrappers;

mod reasoners;
mod rebuild;
mod record;
mod recorder;
mod redact;
mod register;
mod renderings;
mod report;
mod schema;
mod security;
mod serve;
mod servers;
mod session;
mod shapes;
mod sparql;
mod stored;
mod support;
mod tables;
mod transcript;
mod vocabulary;
mod w3c;
mod w3c_sparql;
mod web;
mod writers;
