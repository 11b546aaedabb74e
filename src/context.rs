//! JSON-LD contexts as inlined values: the built-in ones, and those that the command line names.
//!
//! A [`Loader`] is configured, then given a [`Reference`]; what comes out is a [`Context`] in which nothing remote is
//! left, so that everything after this stage runs without reading files or the network. A context that could capture
//! what the program itself says of a message (by aliasing a keyword, or by defining a term for one of its full IRIs)
//! is refused here.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use json_ld::syntax::is_keyword_like;
use serde_json::{Map, Value};

mod builtin;
mod cache;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod http_client;
mod inline;
mod loader;
mod remote;

pub use builtin::{JSON_RPC, JSON_RPC_SCHEMA, JSON_RPC_SCHEMA_URL, JSON_RPC_URL, MCP, RPCGRAPH, builtin};
#[cfg(feature = "http")]
pub(crate) use http_client::http_client;
pub use loader::Loader;
#[cfg(feature = "http")]
pub(crate) use remote::is_loopback;

use self::inline::{MAX_DOCUMENTS, MAX_REFERENCES, MAX_SCOPES, MAX_TEXT};

/// Largest context document, in bytes.
const MAX_DOCUMENT: usize = 4 << 20;
/// Redirects that are followed for a document.
const MAX_REDIRECTS: usize = 5;

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

/// A context with nothing remote in it, and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    origin: String,
    value: Value,
    terms: BTreeSet<String>,
    sets_vocab: bool,
}

impl Context {
    /// Checks a context that is already inlined: an object, or an array of objects.
    ///
    /// Fails as [`Loader::load`] does for what is in the value, and with [`LoadError::NotInlined`] where it holds a
    /// reference or an `@import`.
    pub fn from_value(origin: impl Into<String>, value: Value) -> Result<Self, LoadError> {
        let origin = origin.into();
        let document = inline::Document { name: origin.clone(), location: None, context: value, size: 0 };
        let value = inline::inline(document.into(), inline::Audience::Logs, &mut |here, reference| {
            Err(LoadError::NotInlined { origin: here.name.clone(), reference: reference.to_owned() })
        })?;
        Ok(Self::unchecked(origin, value))
    }

    /// A context that says nothing.
    #[cfg(feature = "register")]
    pub(crate) fn empty() -> Self {
        Self::unchecked(String::new(), Value::Object(Map::new()))
    }

    /// A context that the caller has checked, or that the program is built with.
    fn unchecked(origin: String, value: Value) -> Self {
        let (mut terms, mut sets_vocab) = (BTreeSet::new(), false);
        for (key, definition) in definitions(&value).iter().filter_map(Value::as_object).flatten() {
            if key == "@vocab" {
                sets_vocab = !definition.is_null();
            } else if is_keyword_like(key) {
            } else if defines_a_term(definition) {
                terms.insert(key.clone());
            } else {
                terms.remove(key);
            }
        }
        Self { origin, value, terms, sets_vocab }
    }

    /// The context: an object, or an array of objects, without string references and `@import`.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The path or URL, as the user named it.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The terms that the context maps at its top level, with those of the contexts that it refers to.
    ///
    /// A key that it maps to null, or to what JSON-LD ignores, is not among them, nor are keywords.
    pub fn terms(&self) -> &BTreeSet<String> {
        &self.terms
    }

    /// Whether the context leaves a vocabulary mapping in place, so that members it does not define are mapped too.
    pub fn sets_vocab(&self) -> bool {
        self.sets_vocab
    }
}

/// Whether a member of that definition becomes a triple; see [Create Term Definition], steps 11 to 14.
///
/// [Create Term Definition]: https://www.w3.org/TR/json-ld11-api/#create-term-definition
fn defines_a_term(definition: &Value) -> bool {
    let mapped = |target: &Value| target.as_str().is_some_and(|text| !is_keyword_like(text));
    match definition {
        Value::Object(entries) => target(entries).is_none_or(mapped),
        simple => mapped(simple),
    }
}

/// The IRI or keyword that an expanded term definition maps its term to.
fn target(entries: &Map<String, Value>) -> Option<&Value> {
    entries.get("@reverse").or_else(|| entries.get("@id"))
}

/// The contexts of an array of them, or the one that it is.
pub(crate) fn definitions(context: &Value) -> &[Value] {
    match context {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    }
}

/// Contexts as one: alone, or in an array without arrays.
#[cfg(feature = "register")]
pub(crate) fn joined<'c>(contexts: impl Iterator<Item = &'c Value>) -> Value {
    let flat: Vec<_> = contexts.flat_map(definitions).collect();
    match flat.as_slice() {
        [one] => (*one).clone(),
        several => several.iter().copied().cloned().collect(),
    }
}

/// Why there is no context: one variant for each cause.
///
/// A `name` or `origin` is the path or URL of a document, as the user gave it where the user named it; so is the text of
/// a variant without names. Text out of documents is escaped, so that a message cannot carry control characters.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be opened or read.
    #[error("cannot read the context `{origin}`, named by {by}")]
    Read {
        /// The file.
        origin: String,
        /// The document or the user that named it.
        by: String,
        /// What the system says.
        source: io::Error,
    },
    /// A reference that is not a valid IRI reference, or cannot be resolved where it stands.
    #[error("{reference:?}, named by {by}, is not a reference to a context: give a URL or a relative path")]
    BadReference {
        /// The reference.
        reference: String,
        /// The document or the user that named it.
        by: String,
    },
    /// A URL that contexts are not fetched from.
    #[error(
        "will not fetch `{url}`, named by {by}: contexts come from https URLs without a password, or from http on this \
         machine (localhost, 127.0.0.0/8, [::1]); save it to a file and name the file with -c"
    )]
    NotAllowed {
        /// The URL.
        url: String,
        /// The document or the user that named it.
        by: String,
    },
    /// A server that is not public, and that the command line does not name.
    #[error(
        "will not fetch `{url}`, named by {by}: it is of this machine or a private network; if you trust it, name it, with \
         -c, before"
    )]
    NotPublic {
        /// The URL.
        url: String,
        /// The document or the server that named it.
        by: String,
    },
    /// The program was built without what fetches contexts.
    #[error("cannot fetch `{0}`: this program was built without HTTP; save it to a file and name the file")]
    NoHttp(String),
    /// A file refers to a URL that the command line does not name.
    #[error(
        "will not fetch `{url}` because the file `{origin}` refers to it: if you trust it, name it too, with -c {url} \
         before the file"
    )]
    RemoteFromFile {
        /// The URL.
        url: String,
        /// The file.
        origin: String,
    },
    /// `--offline`, and there is no copy in the cache.
    #[error(
        "`{0}` is not in the cache, and --offline forbids to fetch it: run once without --offline, or save it to a \
         file and name the file with -c"
    )]
    Offline(String),
    /// A file outside of the folder that contexts may come from.
    #[error("`{origin}`, named by {by}, is outside of the building block's folder: put a copy of it there")]
    Outside {
        /// The file.
        origin: String,
        /// The document or the user that named it.
        by: String,
    },
    /// The request failed before there was an answer, or the answer broke off.
    #[error("cannot fetch the context `{url}`: check the URL and the network")]
    Fetch {
        /// The URL.
        url: String,
        /// What the HTTP client says.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The document did not arrive in time.
    #[error("`{url}` did not arrive within {limit:?}: save it to a file and name the file with -c")]
    TimedOut {
        /// The URL.
        url: String,
        /// Time for the document in all, redirects included.
        limit: Duration,
    },
    /// An answer that is neither a document nor a redirect.
    #[error("`{url}` answered with HTTP status {status}: check the URL")]
    Status {
        /// The URL, after redirects.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// A redirect to nowhere.
    #[error("`{0}` answered with a redirect that names no valid URL: check the URL")]
    BadRedirect(String),
    /// More redirects than the program follows.
    #[error("`{0}` redirects more than {MAX_REDIRECTS} times: name the URL that it leads to")]
    TooManyRedirects(String),
    /// A document over the size limit.
    #[error("the context `{0}` is larger than {MAX_DOCUMENT} bytes: is it a context?")]
    TooLarge(String),
    /// The document is not JSON (which includes JSON nested deeper than 128).
    #[error("the context `{origin}` is not JSON: a context is a JSON document with an `@context` entry")]
    NotJson {
        /// The document.
        origin: String,
        /// Where, and why.
        source: serde_json::Error,
    },
    /// The document is JSON, but nothing that contexts are taken from.
    #[error("`{0}` is not a JSON object with an `@context` entry: put the context under `@context`")]
    NoContext(String),
    /// A context that [JSON-LD](https://www.w3.org/TR/json-ld11/#context-definitions) does not allow.
    #[error("a context in `{origin}` is {found}: it must be an object, a reference, or an array of these")]
    BadContext {
        /// The document.
        origin: String,
        /// The type of what is there.
        found: &'static str,
    },
    /// A null context outside of a term.
    #[error("`{0}` has a null context, which would wipe out the built-in ones: remove the null")]
    NullContext(String),
    /// A term that stands for a keyword.
    #[error(
        "`{origin}` makes {term:?} an alias of {keyword:?}, so that logs could name nodes and types: map it to an IRI, \
         or leave it out"
    )]
    KeywordAlias {
        /// The document.
        origin: String,
        /// The term.
        term: String,
        /// The keyword that it is mapped to.
        keyword: String,
    },
    /// A term that is a full IRI in a namespace that the program annotates messages with.
    #[error("`{origin}` defines {term:?}, an IRI that rpcgraph itself writes: define a short term for it")]
    ReservedTerm {
        /// The document.
        origin: String,
        /// The term.
        term: String,
    },
    /// An `@import` that is not one string, or of a context that cannot be imported.
    #[error("`{0}` has an @import that is wrong: it must name one context, an object without an @import of its own")]
    BadImport(String),
    /// Documents that refer to each other in a circle.
    #[error("contexts refer to each other in a circle, which cannot be inlined: {}", .0.join(" -> "))]
    Cycle(Vec<String>),
    /// References, or contexts of terms within contexts of terms, nested too deep.
    #[error(
        "`{0}` is nested too deep: at most {MAX_REFERENCES} references and {MAX_SCOPES} scoped contexts may be nested"
    )]
    TooDeep(String),
    /// Too many documents, or too much text when each stands where it is referred to.
    #[error(
        "`{0}` and what it refers to are too much: at most {MAX_DOCUMENTS} documents, and {MAX_TEXT} bytes with each \
         counted wherever it is referred to"
    )]
    TooMuch(String),
    /// A value given as inlined is not.
    #[error("the context `{origin}` still refers to {reference:?}: load it with a loader")]
    NotInlined {
        /// The origin given.
        origin: String,
        /// The reference.
        reference: String,
    },
}
