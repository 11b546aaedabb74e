#![doc = include_str!("../README.md")]

#[cfg(feature = "schema")]
pub mod check;
pub mod log;
pub mod query;
#[cfg(feature = "schema")]
pub mod schema;
#[cfg(not(feature = "schema"))]
#[path = "schema/absent.rs"]
mod schema;
pub mod store;

pub(crate) use rpcgraph_graph::{context, mapping, sink};
pub(crate) use rpcgraph_log::{diagnostic, json, message, protocol, record, redact, session, vocab};

pub use self::log::{Log, LogError, LoggedMessage, Messages, Row, Rows};
pub use self::query::Query;
