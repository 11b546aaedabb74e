//! rpcgraph turns captured JSON-RPC traffic (MCP, LSP, Ethereum, any JSON-RPC) into RDF.
//!
//! ```text
//! input bytes → record → message → annotated message → triples → sink
//!               record   message   session             mapping   sink
//! ```
//!
//! Each arrow is a module; imports follow the arrows and never turn back. [`convert`] runs the whole way. What a message
//! means in RDF is defined once: the annotated message is a JSON-LD document, and the contexts in `context/` expand it.
//!
//! ```
//! use rpcgraph::convert::{Converter, Input, Options};
//! use rpcgraph::mapping::{Mapper, Mapping};
//! use rpcgraph::sink::Syntax;
//!
//! let log = br#"{"jsonrpc":"2.0","id":1,"method":"subtract","params":[42,23]}
//! {"jsonrpc":"2.0","id":1,"result":19}"#;
//! let input = Input {
//!     name: "session.ndjson".into(),
//!     source: "session.ndjson".into(),
//!     iri: "https://example.org/session.ndjson".into(),
//!     iri_stated: true,
//!     read: log.as_slice(),
//! };
//!
//! let mut turtle = Vec::new();
//! let mut sink = Syntax::Turtle.sink(&mut turtle, 1);
//! let mut converter = Converter::new(Mapper::new(Mapping::Session, &[])?, Options::default());
//! let summary = converter.convert(input, &mut sink, &mut |finding| eprintln!("{finding}"))?;
//! sink.finish()?;
//! drop(sink);
//!
//! assert_eq!(summary.records, 2);
//! assert!(String::from_utf8(turtle)?.contains("rpcg:respondsTo <#m1>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
pub mod context;
pub mod convert;
pub mod diagnostic;
pub mod endpoint;
mod http;
pub mod json;
pub mod load;
pub mod mapping;
pub mod message;
pub mod query;
pub mod rebuild;
pub mod record;
pub mod register;
pub mod session;
pub mod sink;
pub mod store;
pub mod summary;
pub mod vocab;
