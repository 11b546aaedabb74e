#![doc = include_str!("../README.md")]

pub mod check;
pub mod log;
pub mod query;
pub mod schema;
pub mod store;

pub(crate) use rpcgraph_graph::{context, mapping, sink};
pub(crate) use rpcgraph_log::{diagnostic, json, message, protocol, record, redact, session, vocab};

pub use self::log::{Log, LogError, LoggedMessage, Messages, Row, Rows};
pub use self::query::Query;
