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
//! The stages behind them:
//!
//! ```text
//! input bytes → record → message → annotated message → triples → sink
//!               record   message   session, protocol   mapping   sink
//! ```
//!
//! [`convert`] runs all stages. The RDF of a message is defined once, by one walk over the annotated message. Written
//! as JSON-LD, the message is a document that the contexts in `context/` expand; written as triples, it is the
//! expansion of that document.
//!
//! The rooms of the house, from the bottom up. A room imports from the rooms before it, never from one after it:
//!
//! ```text rooms
//! json vocab diagnostic   JSON with its evidence; IRIs; findings
//! record                  bytes → entries: wrapper, splitter, rules of the format
//! message                 record → message
//! redact                  logs without their secrets; detection of secrets
//! session                 senders, pairing, latency; names of nodes
//! protocol                the meaning of a message in MCP and LSP
//! context                 JSON-LD contexts and how they are loaded
//! sink                    output of triples: text, JSON-LD, columns, Parquet, OTLP
//! mapping                 message, session and protocol → triples
//! schema                  JSON Schema, for queries and registers
//! store                   Oxigraph's store, SPARQL servers, loading into both
//! query                   SPARQL and questions over columns
//! log                     a log from its bytes to its answers, and back from a graph
//! check                   rules → verdicts and what breaks them
//! report serve mcp        pages, a server for them, and a server for agents
//! register capture        building blocks → registers; logs → building blocks
//! cli                     the command
//! ```

#[cfg(feature = "register")]
pub mod capture;
#[cfg(feature = "schema")]
pub mod check;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod context;
pub mod diagnostic;
pub mod json;
pub mod log;
pub mod mapping;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod message;
pub mod protocol;
pub mod query;
pub mod record;
pub mod redact;
#[cfg(feature = "register")]
pub mod register;
pub mod report;
#[cfg(feature = "schema")]
pub mod schema;
#[cfg(not(feature = "schema"))]
#[path = "schema/absent.rs"]
mod schema;
#[cfg(feature = "serve")]
pub mod serve;
pub mod session;
pub mod sink;
pub mod store;
pub mod vocab;

pub use self::log::{Log, LogError, LoggedMessage, Messages, Row, Rows, convert, rebuild, summary};
pub use self::query::Query;
#[doc(hidden)]
pub use self::session::triples;
pub use self::sink::Syntax;
#[cfg(feature = "http")]
pub use self::store::endpoint;
pub use self::store::load;
