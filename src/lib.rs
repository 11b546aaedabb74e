//! rpcgraph turns captured JSON-RPC traffic (MCP, LSP, Ethereum, any JSON-RPC) into RDF.
//!
//! The three things that people do with a log:
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
//! Behind that:
//!
//! ```text
//! input bytes → record → message → annotated message → triples → sink
//!               record   message   session, protocol   mapping   sink
//! ```
//!
//! [`convert`] runs the whole way. What a message means in RDF is defined once, by one walk over the annotated message.
//! Written as JSON-LD, it is a document that the contexts in `context/` expand; written as triples, it is what that document
//! expands to.
//!
//! The rooms of the house, from the bottom up. A room imports from the rooms before it, never from one after it:
//!
//! ```text rooms
//! json vocab digest          JSON with its evidence; IRIs
//! diagnostic secrets         findings; names of members that hold secrets
//! answer http worker         help from outside: servers' answers, TLS, processes
//! record                     bytes → entries: wrapper, splitter, rules of the format
//! message                    record → message
//! session                    senders, pairing, latency
//! triples protocol           what MCP and LSP say of a message
//! context                    JSON-LD contexts and how they are loaded
//! mapping                    message, session and protocol → triples
//! sink                       triples → text, JSON-LD, columns, Parquet, OTLP
//! query                      SPARQL and questions over columns
//! store quads endpoint load  Oxigraph's store; SPARQL servers
//! summary convert log        a log from its bytes to its answers
//! rebuild                    a graph back to messages
//! redact                     messages without what they say
//! report serve               pages, and a server for them
//! register capture           building blocks → registers; logs → building blocks
//! cli                        the command
//! ```

mod answer;
#[cfg(feature = "register")]
pub mod capture;
pub mod context;
pub mod convert;
pub mod diagnostic;
mod digest;
#[cfg(feature = "http")]
pub mod endpoint;
#[cfg(feature = "http")]
mod http;
pub mod json;
pub mod load;
pub mod log;
pub mod mapping;
pub mod message;
pub mod protocol;
mod quads;
pub mod query;
pub mod rebuild;
pub mod record;
#[cfg(feature = "register")]
pub mod redact;
#[cfg(feature = "register")]
pub mod register;
#[cfg(feature = "register")]
pub mod report;
mod secrets;
#[cfg(feature = "serve")]
pub mod serve;
pub mod session;
pub mod sink;
pub mod store;
pub mod summary;
#[doc(hidden)]
pub mod triples;
pub mod vocab;
#[cfg(feature = "register")]
pub mod worker;

pub use self::log::{Log, LogError, LoggedMessage, Messages, Row, Rows};
pub use self::query::Query;
pub use self::sink::Syntax;
