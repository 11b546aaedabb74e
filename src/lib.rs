//! rpcgraph turns captured JSON-RPC traffic (MCP, LSP, Ethereum, any JSON-RPC) into RDF.
//!
//! Three things to do with a log:
//!
//! ```no_run
//! use rpcgraph::{Log, Query, Syntax};
//!
//! Log::open("session.ndjson")?.write_to(std::io::stdout(), Syntax::Turtle)?;
//!
//! for row in Log::open("session.ndjson")?.ask(&Query::named("errors")?)? {
//!     println!("{}", row?.text("method").unwrap_or("?"));
//! }
//!
//! for message in Log::open("session.ndjson")?.messages() {
//!     let message = message?;
//!     println!("{} {:?}", message.name, message.method);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `cargo add rpcgraph --no-default-features` is enough for these. The default features are the program's; with them, Cargo
//! compiles the program's crates, too. `http` fetches contexts, and `register` makes registers of building blocks.
//!
//! The stages behind them:
//!
//! ```text
//! input bytes → record → message → annotated message → triples → sink
//!               record   message   session, protocol   mapping   sink
//! ```
//!
//! [`Converter`] runs all stages. The RDF of a message is defined once, by one walk over the annotated message. Written
//! as JSON-LD, the message is a document that the contexts in `context/` expand; written as triples, it is the
//! expansion of that document.
//!
//! The crates of the workspace, from the bottom up, with their modules. Each needs only crates above it in the list:
//!
//! ```text crates
//! crates/rpcgraph-log      bytes → messages: json vocab diagnostic record message redact session protocol
//! crates/rpcgraph-graph    messages → triples and rows: context sink mapping convert summary
//! crates/rpcgraph-query    triples → answers: store query log schema check
//! crates/rpcgraph-blocks   building blocks → registers; logs → building blocks: register capture
//! src                      what most programs need of them, and the command: overview report serve mcp recorder cli
//! ```

#![warn(missing_docs)]

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "mcp")]
#[doc(hidden)]
pub mod mcp;
#[doc(hidden)]
#[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "the terminal has more of it than the page"))]
pub mod overview;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod recorder;
#[doc(hidden)]
pub mod report;
#[cfg(feature = "serve")]
#[doc(hidden)]
pub mod serve;

#[doc(inline)]
pub use rpcgraph_graph::{
    convert::{ConvertError, Converter, Input, Options},
    sink::Syntax,
    summary::Summary,
};
#[doc(inline)]
pub use rpcgraph_query::{
    log::{Log, LogError, LoggedMessage, Messages, Row, Rows},
    query::Query,
};

// For the program, its tests and the page for browsers: nothing of it is promised.
#[cfg(feature = "register")]
#[doc(hidden)]
pub use rpcgraph_blocks::{capture, register};
#[doc(hidden)]
pub use rpcgraph_graph::{VERSION, context, convert, mapping, sink, summary};
#[doc(hidden)]
pub use rpcgraph_log::{
    diagnostic, json, message, protocol, record, redact,
    session::{self, triples},
    vocab,
};
#[cfg(feature = "http")]
#[doc(hidden)]
pub use rpcgraph_query::store::endpoint;
#[doc(hidden)]
pub use rpcgraph_query::{
    check,
    log::{self, rebuild},
    query, schema,
    store::{self, load},
};
