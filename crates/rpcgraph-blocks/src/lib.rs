#![doc = include_str!("../README.md")]

pub mod capture;
pub mod register;

pub(crate) use rpcgraph_graph::{context, mapping, sink};
pub(crate) use rpcgraph_log::{diagnostic, json, message, record, session, vocab};
pub(crate) use rpcgraph_query::{log, query, schema};
