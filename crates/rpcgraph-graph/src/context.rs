//! JSON-LD contexts as inlined values: the built-in contexts and the contexts named on the command line.
//!
//! A [`Loader`] is configured, then given a [`Reference`]. It returns a [`Context`] without remote references, so that
//! later stages do not read files or use the network. The loader refuses a context that could capture the annotations
//! of a message, by aliasing a keyword other than `@id` and `@type`, or by defining a term for one of their full IRIs.

use std::fmt;
use std::path::PathBuf;

mod builtin;
mod cache;
mod error;
mod files;
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
pub use files::file_url;
#[cfg(feature = "http")]
pub use http_client::{http_client, passing_client};
pub use loader::Loader;
#[cfg(feature = "http")]
pub use remote::is_loopback;
pub use value::{Context, definitions, joined};

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
    /// Parses an argument of `-c`. `http://` or `https://` in any case begins a URL; anything else but `builtin:mcp` is
    /// a path.
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
