//! Errors in loading a context, and the limits of contexts.

use std::error::Error;
use std::io;
use std::time::Duration;

/// The maximum size of a context document, in bytes.
pub(super) const MAX_DOCUMENT: usize = 4 << 20;
/// The maximum number of redirects followed for one document.
pub(super) const MAX_REDIRECTS: usize = 5;
/// The maximum depth of references below the document that the user named.
pub(super) const MAX_REFERENCES: usize = 16;
/// The maximum depth of scoped contexts, over all documents. One file that serde_json parses cannot exceed it.
pub(super) const MAX_SCOPES: usize = 64;
/// The maximum number of different documents, including the one that the user named.
pub(super) const MAX_DOCUMENTS: usize = 64;
/// The maximum total text, in bytes. A document counts each time it is inlined, which stops documents that double each
/// other.
pub(super) const MAX_TEXT: usize = 16 << 20;

/// Errors in loading a context, one variant for each cause.
///
/// A `name` or `origin` is the path or URL of a document, spelled as the user gave it if the user named the document.
/// The same holds for the text of a variant without named fields. Text from documents is escaped, so that a message
/// does not contain control characters.
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
        /// The error of the operating system.
        source: io::Error,
    },
    /// The reference is not a valid IRI reference, or does not resolve against the document's location.
    #[error("{reference:?}, named by {by}, is not a reference to a context: give a URL or a relative path")]
    BadReference {
        /// The reference.
        reference: String,
        /// The document or the user that named it.
        by: String,
    },
    /// The URL is not one from which contexts are fetched.
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
    /// The server is not public, and the command line does not name it.
    #[error(
        "will not fetch `{url}`, named by {by}: it is on this machine or a private network; to allow it, name it with -c first"
    )]
    NotPublic {
        /// The URL.
        url: String,
        /// The document or the server that named it.
        by: String,
    },
    /// The program was built without an HTTP client.
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
    /// `--offline`, and the cache does not have a copy.
    #[error(
        "`{0}` is not in the cache, and --offline forbids to fetch it: run once without --offline, or save it to a \
         file and name the file with -c"
    )]
    Offline(String),
    /// The file is outside of the folder that contexts may come from.
    #[error("`{origin}`, named by {by}, is outside of the building block's folder: put a copy of it there")]
    Outside {
        /// The file.
        origin: String,
        /// The document or the user that named it.
        by: String,
    },
    /// The request failed, or the response was cut off.
    #[error("cannot fetch the context `{url}`: check the URL and the network")]
    Fetch {
        /// The URL.
        url: String,
        /// The error of the HTTP client.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The document did not arrive within the time limit.
    #[error("`{url}` did not arrive within {limit:?}: save it to a file and name the file with -c")]
    TimedOut {
        /// The URL.
        url: String,
        /// The time limit for the whole document, including redirects.
        limit: Duration,
    },
    /// The response is neither a document nor a redirect.
    #[error("`{url}` answered with HTTP status {status}: check the URL")]
    Status {
        /// The URL, after redirects.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// The redirect does not have a valid target.
    #[error("`{0}` answered with a redirect that names no valid URL: check the URL")]
    BadRedirect(String),
    /// The number of redirects exceeds the limit.
    #[error("`{0}` redirects more than {MAX_REDIRECTS} times: name the URL that it leads to")]
    TooManyRedirects(String),
    /// The document exceeds the size limit.
    #[error("the context `{0}` is larger than {MAX_DOCUMENT} bytes: is it a context?")]
    TooLarge(String),
    /// The document is not JSON (or is JSON nested deeper than 128 levels).
    #[error("the context `{origin}` is not JSON: a context is a JSON document with an `@context` entry")]
    NotJson {
        /// The document.
        origin: String,
        /// The place of the syntax error, and its cause.
        source: serde_json::Error,
    },
    /// The document is JSON, but not an object with an `@context`.
    #[error("`{0}` is not a JSON object with an `@context` entry: put the context under `@context`")]
    NoContext(String),
    /// [JSON-LD](https://www.w3.org/TR/json-ld11/#context-definitions) does not allow the value as a context.
    #[error("a context in `{origin}` is {found}: it must be an object, a reference, or an array of these")]
    BadContext {
        /// The document.
        origin: String,
        /// The JSON type of the value.
        found: &'static str,
    },
    /// A null context outside of a term.
    #[error("`{0}` has a null context, which would wipe out the built-in ones: remove the null")]
    NullContext(String),
    /// A term is an alias of a keyword.
    #[error(
        "`{origin}` makes {term:?} an alias of {keyword:?}, so that logs could change their messages: map it to an IRI, \
         or leave it out"
    )]
    KeywordAlias {
        /// The document.
        origin: String,
        /// The term.
        term: String,
        /// The keyword that the term is mapped to.
        keyword: String,
    },
    /// A term is a full IRI in a namespace that the program uses in annotations.
    #[error("`{origin}` defines {term:?}, an IRI that rpcgraph itself writes: define a short term for it")]
    ReservedTerm {
        /// The document.
        origin: String,
        /// The term.
        term: String,
    },
    /// `@import` is not a single string, or names a context that cannot be imported.
    #[error("`{0}` has an @import that is wrong: it must name one context, an object without an @import of its own")]
    BadImport(String),
    /// Documents refer to each other in a circle.
    #[error("contexts refer to each other in a circle, which cannot be inlined: {}", .0.join(" -> "))]
    Cycle(Vec<String>),
    /// References, or scoped contexts within scoped contexts, are nested too deep.
    #[error(
        "`{0}` is nested too deep: at most {MAX_REFERENCES} references and {MAX_SCOPES} scoped contexts may be nested"
    )]
    TooDeep(String),
    /// The limit on the number of documents, or on the total text with each document counted at each reference, is
    /// exceeded.
    #[error(
        "`{0}` and what it refers to are too much: at most {MAX_DOCUMENTS} documents, and {MAX_TEXT} bytes with each \
         counted wherever it is referred to"
    )]
    TooMuch(String),
    /// A value passed as inlined still holds a reference.
    #[error("the context `{origin}` still refers to {reference:?}: load it with a loader")]
    NotInlined {
        /// The origin given.
        origin: String,
        /// The reference.
        reference: String,
    },
}
