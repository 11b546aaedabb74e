//! Errors of servers, with advice in the messages.

use std::error::Error;
use std::io::{self, Read};
use std::time::Duration;

use reqwest::blocking::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap};

use crate::diagnostic::printable;

/// The maximum number of characters quoted from a server's answer.
const WORDS: usize = 1_000;

/// Errors in using a server.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The URL is not the URL of a server.
    #[error("{0:?} is not the URL of a server: it must begin with http:// or https:// and name a host")]
    BadUrl(String),
    /// The URL contains a user or a password, and is shown without them.
    #[error(
        "{0} has a user or a password in it, which would be seen in the list of processes: set RPCGRAPH_USER and \
         RPCGRAPH_PASSWORD in the environment, or name the host in ~/.netrc"
    )]
    PasswordInUrl(String),
    /// The netrc file is unusable.
    #[error("cannot use the netrc file {path}: {reason}")]
    Netrc {
        /// The file.
        path: String,
        /// The error, without any text of the file.
        reason: String,
    },
    /// Credentials from the given source contain characters that a header cannot carry.
    #[error("the credentials from {0} hold a character that HTTP does not allow")]
    BadCredentials(String),
    /// Credentials would be sent unencrypted.
    #[error(
        "will not send the credentials from {origin} unencrypted to {url}: use https, or take the credentials away \
         (NETRC=/dev/null does without a netrc file)"
    )]
    Unencrypted {
        /// The source of the credentials.
        origin: String,
        /// The URL that they would be sent to.
        url: String,
    },
    /// The HTTP client could not be created.
    #[error("cannot make an HTTP client")]
    Client(#[source] reqwest::Error),
    /// The connection failed.
    #[error("cannot reach {} for {}: is the server running, and is the URL right?", .request.url, .request.what)]
    Unreachable {
        /// The request.
        request: Box<ServerRequest>,
        /// The error of the HTTP client.
        source: reqwest::Error,
    },
    /// The connection was lost, or the received bytes are not HTTP.
    #[error("lost the connection to {} in {}: did the server stop?", .request.url, .request.what)]
    Lost {
        /// The request.
        request: Box<ServerRequest>,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The server did not answer in time.
    #[error("no answer from {} to {} within {} s: a longer --timeout may help", .0.url, .0.what, .0.limit.as_secs_f64())]
    TimedOut(Box<ServerRequest>),
    /// The server refused the request.
    #[error(
        "{} answered {} with HTTP status {status}{}{}", .request.url, .request.what, quoted_body(words), advice(hint)
    )]
    Status {
        /// The request.
        request: Box<ServerRequest>,
        /// The status.
        status: u16,
        /// The beginning of the body, as text.
        words: String,
        /// Advice, or an empty text.
        hint: String,
    },
    /// The server redirects to another URL.
    #[error("{} redirects {} to {target}: if that is the right server, name that URL instead", .request.url, .request.what)]
    Redirect {
        /// The request.
        request: Box<ServerRequest>,
        /// The target of the redirect.
        target: String,
    },
    /// The answer has another content type than expected.
    #[error(
        "{} answered {} with {content_type} where {expected} was expected{}: is it the URL of a SPARQL server?",
        .request.url, .request.what, quoted_body(words)
    )]
    Unexpected {
        /// The request.
        request: Box<ServerRequest>,
        /// The content type of the answer.
        content_type: String,
        /// The expected kind of answer.
        expected: &'static str,
        /// The beginning of the body, as text.
        words: String,
    },
    /// The answer has a value that exceeds the length limit.
    #[error("the answer of {} to {} has a value that is too long: ask for less", .request.url, .request.what)]
    TooLong {
        /// The request.
        request: Box<ServerRequest>,
        /// The error with the limit.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The answer does not match its content type, or is cut off.
    #[error("the answer of {} to {} is not the {content_type} that it says it is", .request.url, .request.what)]
    Malformed {
        /// The request.
        request: Box<ServerRequest>,
        /// The content type of the answer.
        content_type: String,
        /// The error of the parser.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// A request to a URL, as errors describe it.
#[derive(Debug, Clone)]
pub struct ServerRequest {
    /// A description of the request.
    pub what: String,
    /// The URL.
    pub url: String,
    /// The time limit for an answer.
    pub limit: Duration,
}

impl ServerRequest {
    /// Creates the error for a failure to send the request, or to receive the head of the answer.
    pub(super) fn not_sent(self: Box<Self>, error: reqwest::Error) -> EndpointError {
        let (request, source) = (self, error.without_url());
        if source.is_timeout() {
            EndpointError::TimedOut(request)
        } else if source.is_connect() {
            EndpointError::Unreachable { request, source }
        } else {
            EndpointError::Lost { request, source: source.into() }
        }
    }

    /// Creates the error for a failure to receive the body, or to parse it.
    pub(super) fn not_read(self: Box<Self>, content_type: &str, error: io::Error) -> EndpointError {
        let client = error.get_ref().and_then(|error| error.downcast_ref::<reqwest::Error>());
        let timed_out = client.is_some_and(reqwest::Error::is_timeout);
        match error.kind() {
            // Parsers report these for a malformed answer, even if it arrived completely.
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
                let content_type = printable(content_type).into_owned();
                EndpointError::Malformed { request: self, content_type, source: error.into() }
            }
            io::ErrorKind::OutOfMemory => EndpointError::TooLong { request: self, source: error.into() },
            kind if timed_out || kind == io::ErrorKind::TimedOut => EndpointError::TimedOut(self),
            _ => EndpointError::Lost { request: self, source: error.into() },
        }
    }

    /// Creates the error for an answer of an unexpected content type.
    pub(super) fn unexpected(self: Box<Self>, response: Response, expected: &'static str) -> EndpointError {
        let content_type = content_type(response.headers()).unwrap_or_else(|| "an unknown content type".to_owned());
        let content_type = printable(&content_type).into_owned();
        EndpointError::Unexpected { request: self, content_type, expected, words: words(response) }
    }
}

/// Returns the content type of an answer.
pub(super) fn content_type(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(CONTENT_TYPE)?.to_str().ok()?.to_owned())
}

/// Returns the beginning of an answer's body as one line; nothing of a page, which is for a browser.
pub(super) fn words(response: Response) -> String {
    if content_type(response.headers()).is_some_and(|name| name.contains("html")) {
        return String::new();
    }
    let mut body = Vec::new();
    // A failure to read the body is not a further error.
    let _ = response.take(16 << 10).read_to_end(&mut body);
    let text = String::from_utf8_lossy(&body).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut words: String = printable(&text).chars().take(WORDS).collect();
    if text.chars().count() > WORDS {
        words.push('…');
    }
    words
}

fn quoted_body(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(", saying: {words}") }
}

fn advice(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!(" ({hint})") }
}
