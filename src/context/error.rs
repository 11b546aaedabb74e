//! Why there is no context, and the limits of contexts.

use std::error::Error;
use std::io;
use std::time::Duration;

/// Largest context document, in bytes.
pub(super) const MAX_DOCUMENT: usize = 4 << 20;
/// Redirects that are followed for a document.
pub(super) const MAX_REDIRECTS: usize = 5;
/// References that may be nested below the document that the user named.
pub(super) const MAX_REFERENCES: usize = 16;
/// Scoped contexts that may be nested, over all documents. One file that serde_json reads cannot hold more.
pub(super) const MAX_SCOPES: usize = 64;
/// Different documents, the one that the user named included.
pub(super) const MAX_DOCUMENTS: usize = 64;
/// Bytes of text, each document counted as often as it is inlined: stops documents that double each other.
pub(super) const MAX_TEXT: usize = 16 << 20;

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
