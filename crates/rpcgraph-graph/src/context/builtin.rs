//! The contexts that the program is built with.

use std::sync::LazyLock;

use serde_json::Value;

use super::value::Context;

/// The building block's context, `context/json-rpc.jsonld`: a JSON-LD document.
pub const JSON_RPC: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/context/json-rpc.jsonld"));

/// The prefixes of `rpcg:` and related terms, `context/rpcgraph.jsonld`, for use in further contexts: a JSON-LD
/// document.
pub const RPCGRAPH: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/context/rpcgraph.jsonld"));

/// Terms of the OGC building block "Model Context Protocol" for params and results, `context/mcp.jsonld`: a JSON-LD
/// document, added as a further context by `-c builtin:mcp`.
pub const MCP: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/context/mcp.jsonld"));

/// The building block's JSON Schema, `context/json-rpc.schema.json`.
pub const JSON_RPC_SCHEMA: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/context/json-rpc.schema.json"));

/// The identifier (`$id`) of [`JSON_RPC_SCHEMA`].
pub const JSON_RPC_SCHEMA_URL: &str = "https://w3id.org/rpcgraph/json-rpc.schema.json";

/// The URL at which the building block publishes its context. It is always answered from [`JSON_RPC`], never fetched.
pub const JSON_RPC_URL: &str =
    "https://ogcincubator.github.io/modelcontextprotocol/build/annotated/json-rpc/context.jsonld";

static BUILTIN: LazyLock<[Context; 2]> =
    LazyLock::new(|| [parse("context/json-rpc.jsonld", JSON_RPC), parse("context/rpcgraph.jsonld", RPCGRAPH)]);

/// The built-in contexts in the order of their application: [`JSON_RPC`], [`RPCGRAPH`].
pub fn builtin() -> &'static [Context] {
    &*BUILTIN
}

/// [`MCP`] as a further context.
pub(super) fn mcp() -> Context {
    parse("builtin:mcp", MCP)
}

#[expect(clippy::expect_used, reason = "the text is part of the program, and a test reads it")]
fn parse(origin: &str, text: &str) -> Context {
    let mut document: Value = serde_json::from_str(text).expect("built-in contexts are JSON");
    let context = document.get_mut("@context").map(Value::take).expect("built-in contexts have a @context");
    Context::unchecked(origin.to_owned(), context)
}
