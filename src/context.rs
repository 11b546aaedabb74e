//! JSON-LD contexts as inlined values: the built-in ones, and those that the command line names.
//!
//! A [`Loader`] is configured, then given a [`Reference`]; what comes out is a [`Context`] in which nothing remote is
//! left, so that everything after this stage runs without reading files or the network. A context that could capture
//! what the program itself says of a message (by aliasing a keyword, or by defining a term for one of its full IRIs)
//! is refused here.

use std::fmt;
use std::path::PathBuf;

mod builtin;
mod cache;
mod error;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod http_client;
mod inline;
mod loader;
mod remote;
mod value;

pub use builtin::{JSON_RPC, JSON_RPC_SCHEMA, JSON_RPC_SCHEMA_URL, JSON_RPC_URL, MCP, RPCGRAPH, builtin};
pub use error::LoadError;
#[cfg(feature = "http")]
pub(crate) use http_client::http_client;
pub use loader::Loader;
#[cfg(feature = "http")]
pub(crate) use remote::is_loopback;
pub use value::Context;
#[cfg(feature = "register")]
pub(crate) use value::{definitions, joined};

/// A context as the user named it with `-c`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// A path, relative to the working directory.
    File(PathBuf),
    /// An absolute URL, as typed.
    Url(String),
    /// `builtin:mcp`, [`MCP`]
    Mcp,
}

impl Reference {
    /// An argument that begins with `http://` or `https://` (in any case) is a URL, any other but `builtin:mcp` a path.
    pub fn parse(argument: &str) -> Self {
        let starts_with =
            |scheme: &str| argument.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        if starts_with("http://") || starts_with("https://") {
            Self::Url(argument.to_owned())
        } else if argument == "builtin:mcp" {
            Self::Mcp
        } else {
            Self::File(PathBuf::from(argument))
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Url(url) => f.write_str(url),
            Self::Mcp => f.write_str("builtin:mcp"),
        }
    }
}
