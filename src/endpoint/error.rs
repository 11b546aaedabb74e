//! What can go wrong with a server, in words that say what to do about it.

use std::io::Read;
use std::time::Duration;

use crate::diagnostic::printable;
use reqwest::blocking::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap};

/// How many characters of a server's own words are repeated.
const WORDS: usize = 1_000;

/// Why a server could not be used, or did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// Not the URL of a server.
    #[error("{url:?} is not the URL of a server: it must begin with http:// or https:// and name a host")]
    BadUrl {
        /// As it was given.
        url: String,
    },
    /// A URL with a user or a password in it.
    #[error(
        "{url} has a user or a password in it, which would be seen in the list of processes: set RPCGRAPH_USER and \
         RPCGRAPH_PASSWORD in the environment, or name the host in ~/.netrc"
    )]
    PasswordInUrl {
        /// Without them.
        url: String,
    },
    /// The netrc file cannot be used.
    #[error("cannot use the netrc file {path}: {reason}")]
    Netrc {
        /// The file.
        path: String,
        /// What is wrong with it; nothing of what it says.
        reason: String,
    },
    /// Credentials that cannot be sent in a header.
    #[error("the credentials from {origin} hold a character that HTTP does not allow")]
    BadCredentials {
        /// Where they are from.
        origin: String,
    },
    /// Credentials would have to be sent in the clear.
    #[error(
        "will not send the credentials from {origin} unencrypted to {url}: use https, or take the credentials away \
         (NETRC=/dev/null does without a netrc file)"
    )]
    Unencrypted {
        /// Where the credentials are from.
        origin: String,
        /// Where they would go.
        url: String,
    },
    /// The HTTP client could not be made.
    #[error("cannot make an HTTP client")]
    Client(#[source] reqwest::Error),
    /// There was no connection.
    #[error("cannot reach {url} for {what}: is the server running, and is the URL right?")]
    Unreachable {
        /// What was asked of the server.
        what: String,
        /// The URL.
        url: String,
        /// Why not.
        source: reqwest::Error,
    },
    /// The connection was lost, or what came over it is no HTTP.
    #[error("lost the connection to {url} in {what}: did the server stop?")]
    Lost {
        /// What was asked of the server.
        what: String,
        /// The URL.
        url: String,
        /// How.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There was no answer in time.
    #[error("no answer from {url} to {what} within {} s: a longer --timeout may help", limit.as_secs_f64())]
    TimedOut {
        /// What was asked of the server.
        what: String,
        /// The URL.
        url: String,
        /// The time there was.
        limit: Duration,
    },
    /// The server said no.
    #[error("{url} answered {what} with HTTP status {status}{}{}", said(words), advice(hint))]
    Status {
        /// What was asked of the server.
        what: String,
        /// The URL.
        url: String,
        /// The status.
        status: u16,
        /// The beginning of the body, as text.
        words: String,
        /// What to do about it; may be empty.
        hint: String,
    },
    /// The server sent us elsewhere.
    #[error("{url} redirects {what} to {target}: if that is the right server, name that URL instead")]
    Redirect {
        /// What was asked of the server.
        what: String,
        /// The URL.
        url: String,
        /// Where to.
        target: String,
    },
    /// An answer of another kind.
    #[error(
        "{url} answered {what} with {content_type} where {expected} was expected{}: is it the URL of a SPARQL server?",
        said(words)
    )]
    Unexpected {
        /// What was asked of the server.
        what: String,
        /// The URL.
        url: String,
        /// Which kind it is.
        content_type: String,
        /// Which was expected.
        expected: &'static str,
        /// The beginning of the body, as text.
        words: String,
    },
    /// An answer that is not what it says it is, or breaks off.
    #[error("the answer of {url} to {what} is not the {content_type} that it says it is")]
    Malformed {
        /// What was asked of the server.
        what: String,
        /// The URL.
        url: String,
        /// What it says.
        content_type: String,
        /// Where it is wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// What an error is about: a request to a URL.
#[derive(Debug, Clone)]
pub(super) struct About {
    pub what: String,
    pub url: String,
    pub limit: Duration,
}

impl About {
    /// Sending failed, or receiving the head of the answer.
    pub fn request(&self, error: reqwest::Error) -> EndpointError {
        let Self { what, url, limit } = self.clone();
        let source = error.without_url();
        if source.is_timeout() {
            EndpointError::TimedOut { what, url, limit }
        } else if source.is_connect() {
            EndpointError::Unreachable { what, url, source }
        } else {
            EndpointError::Lost { what, url, source: source.into() }
        }
    }

    /// Receiving the body failed.
    pub fn body(&self, error: std::io::Error) -> EndpointError {
        let Self { what, url, limit } = self.clone();
        let timed_out = error
            .get_ref()
            .and_then(|error| error.downcast_ref::<reqwest::Error>())
            .is_some_and(reqwest::Error::is_timeout);
        match timed_out || error.kind() == std::io::ErrorKind::TimedOut {
            true => EndpointError::TimedOut { what, url, limit },
            false => EndpointError::Lost { what, url, source: error.into() },
        }
    }

    /// The answer is of another kind.
    pub fn unexpected(&self, response: Response, expected: &'static str) -> EndpointError {
        let Self { what, url, .. } = self.clone();
        let content_type = content_type(response.headers()).unwrap_or_else(|| "nothing that has a type".to_owned());
        EndpointError::Unexpected {
            what,
            url,
            content_type: printable(&content_type).into_owned(),
            expected,
            words: words(response),
        }
    }

    /// The answer is not what it says it is.
    pub fn malformed(
        &self,
        content_type: &str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> EndpointError {
        let Self { what, url, .. } = self.clone();
        EndpointError::Malformed {
            what,
            url,
            content_type: printable(content_type).into_owned(),
            source: source.into(),
        }
    }
}

/// The content type of an answer.
pub(super) fn content_type(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(CONTENT_TYPE)?.to_str().ok()?.to_owned())
}

/// The beginning of an answer's body, as one line of text without markup.
pub(super) fn words(response: Response) -> String {
    let html = content_type(response.headers()).is_some_and(|name| name.contains("html"));
    let mut body = Vec::new();
    // Words that do not arrive are no further error.
    let _ = response.take(16 << 10).read_to_end(&mut body);
    let body = String::from_utf8_lossy(&body);
    let text = if html { without_tags(&body) } else { body.into_owned() };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut words: String = printable(&text).chars().take(WORDS).collect();
    if text.chars().count() > WORDS {
        words.push('…');
    }
    words
}

/// What a browser would show of a page, about.
fn without_tags(html: &str) -> String {
    let lower = html.to_ascii_lowercase();
    let (mut text, mut position) = (String::new(), 0);
    while let Some(start) = lower.get(position..).and_then(|rest| rest.find('<')).map(|start| position + start) {
        text.push_str(html.get(position..start).unwrap_or_default());
        text.push(' ');
        let rest = lower.get(start..).unwrap_or_default();
        // The contents of these are not shown either.
        let end = ["script", "style", "head"].iter().find_map(|name| {
            let inside = rest.strip_prefix('<')?.strip_prefix(name)?;
            inside.starts_with(['>', ' ']).then(|| format!("</{name}>"))
        });
        let end = end.unwrap_or_else(|| ">".to_owned());
        position = rest.find(&end).map_or(html.len(), |found| start + found + end.len());
    }
    text.push_str(html.get(position..).unwrap_or_default());
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'").replace("&amp;", "&")
}

fn said(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(", saying: {words}") }
}

fn advice(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!(" ({hint})") }
}
