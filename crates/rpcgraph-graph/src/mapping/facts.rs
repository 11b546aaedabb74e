//! Facts of a payload that many queries need, so that queries do not have to parse the payload.
//!
//! | message | payload | member | property |
//! |---|---|---|---|
//! | Request of `tools/call` | `params` | `name`, a string | `rpcg:toolName` |
//! | Request of `initialize` | `params` | `protocolVersion`, a string | `rpcg:protocolVersion` |
//! | Response | `result` | `protocolVersion`, a string | `rpcg:protocolVersion` |
//! | Response | `result` | `isError`, a boolean | `rpcg:isError` |
//! | Request, Notification | `params` | `uri`, a string, else `uri` of `textDocument` | `rpcg:targetUri` |
//!
//! Only a member of the payload itself counts; of several members with one name, the last. A string with a lone
//! surrogate is not text, so it does not make a fact. MCP defines the members in
//! [tools](https://modelcontextprotocol.io/specification/2025-11-25/server/tools) and
//! [lifecycle](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle),
//! LSP the documents ([text documents](https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#textDocumentIdentifier)).

use std::borrow::Cow;

use crate::message::{Kind, Message};

/// The facts of a message's payload.
#[derive(Default)]
pub(super) struct PayloadFacts<'a> {
    /// The name of the called tool.
    pub tool_name: Option<Cow<'a, str>>,
    /// The document or resource that the params name.
    pub target_uri: Option<Cow<'a, str>>,
    /// The version of MCP that is proposed or agreed.
    pub protocol_version: Option<Cow<'a, str>>,
    /// True if the called tool reports that it failed.
    pub is_error: Option<bool>,
}

impl<'a> PayloadFacts<'a> {
    /// Extracts the facts of a message.
    pub fn from_message(message: &'a Message<'_>) -> Self {
        let mut facts = Self::default();
        if let (Kind::Request | Kind::Notification, Some(params)) = (message.kind, &message.params) {
            facts.target_uri = params.target_uri();
        }
        match (message.kind, message.method.as_deref(), &message.params, &message.result) {
            (Kind::Request, Some("tools/call"), Some(params), _) => facts.tool_name = params.string_member("name"),
            (Kind::Request, Some("initialize"), Some(params), _) => {
                facts.protocol_version = params.string_member("protocolVersion");
            }
            (Kind::Response, _, _, Some(result)) => {
                facts.protocol_version = result.string_member("protocolVersion");
                facts.is_error = message.is_error();
            }
            _ => {}
        }
        facts
    }
}
