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
//! Each arrow is a module; imports follow the arrows and never turn back. [`convert`] runs the whole way. What a message
//! means in RDF is defined once, by one walk over the annotated message. Written as JSON-LD, it is a document that the
//! contexts in `context/` expand; written as triples, it is what that document expands to.

mod answer;
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
