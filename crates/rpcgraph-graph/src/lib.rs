#![doc = include_str!("../README.md")]

/// The version of the program `rpcgraph`, which its files and requests state.
pub const VERSION: &str = "0.1.0";

pub mod context;
pub mod convert;
pub mod mapping;
pub mod sink;
pub mod summary;

pub(crate) use rpcgraph_log::{diagnostic, json, message, protocol, record, session, vocab};
