//! Requests, retried if that is harmless.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use reqwest::blocking::{Client, RequestBuilder, Response};
use reqwest::header::{AUTHORIZATION, HeaderMap, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use url::Url;

use super::credentials::Credentials;
use super::error::{EndpointError, ServerRequest, words};
use crate::diagnostic::printable;

/// The maximum number of attempts.
const TRIES: u32 = 5;
/// The wait before the first retry; each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The maximum wait before a retry, also if the server requests a longer one. A request is not retried if the server
/// requests more than the remaining time.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The effect of sending a request again, if it is unknown whether the server has executed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// Repeating the request has the same effect as sending it once.
    Harmless,
    /// Repeating the request may have another effect.
    Never,
}

/// Sends requests to the servers that the user named.
#[derive(Debug)]
pub(super) struct RequestSender {
    pub client: Client,
    pub credentials: Credentials,
    pub timeout: Duration,
    /// True if a server has answered before: if it stops answering, it may come back.
    pub reached: AtomicBool,
}

impl RequestSender {
    /// Creates the description of a request for errors.
    pub fn described(&self, url: &Url, what: &str) -> Box<ServerRequest> {
        Box::new(ServerRequest { what: what.to_owned(), url: url.to_string(), limit: self.timeout })
    }

    /// Sends a request and returns a successful answer. `request` builds it anew for each attempt.
    pub fn send(
        &self,
        url: &Url,
        what: &str,
        repeat: Repeat,
        request: impl Fn(&Client) -> RequestBuilder,
    ) -> Result<(Response, Box<ServerRequest>), EndpointError> {
        let about = self.described(url, what);
        let authorization = self.credentials.authorization(url)?;
        let mut tries = 0;
        let started = Instant::now();
        loop {
            tries += 1;
            let mut request = request(&self.client);
            if let Some(authorization) = &authorization {
                request = request.header(AUTHORIZATION, authorization.clone());
            }
            let wait = match request.send().map_err(|error| about.clone().not_sent(error)) {
                Ok(response) => {
                    self.reached.store(true, Ordering::Relaxed);
                    let status = response.status();
                    if status.is_success() {
                        return Ok((response, about));
                    }
                    let asked = retry_after(response.headers());
                    let again = match status.as_u16() {
                        429 => true,
                        // A gateway also answers 503 when it has lost the server during the request.
                        503 => asked.is_some() || repeat == Repeat::Harmless,
                        _ => false,
                    };
                    let left = self.timeout.saturating_sub(started.elapsed());
                    if !again || tries == TRIES || asked.is_some_and(|asked| asked > left) {
                        return Err(refusal(response, about, authorization.map(|_| self.credentials.origin())));
                    }
                    asked
                }
                Err(error) => {
                    let away = matches!(error, EndpointError::Lost { .. } | EndpointError::Unreachable { .. });
                    let came_before = self.reached.load(Ordering::Relaxed);
                    if !away || repeat == Repeat::Never || !came_before || tries == TRIES {
                        return Err(error);
                    }
                    None
                }
            };
            thread::sleep(wait.unwrap_or_else(|| FIRST_WAIT * 2_u32.pow(tries - 1)).min(LONGEST_WAIT));
        }
    }
}

/// Returns the wait that the server requests, in seconds or up to a date ([RFC 9110,
/// 10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)).
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

fn refusal(response: Response, request: Box<ServerRequest>, credentials: Option<&str>) -> EndpointError {
    let status = response.status().as_u16();
    if let (true, Some(target)) = (response.status().is_redirection(), response.headers().get(LOCATION)) {
        let target = printable(&String::from_utf8_lossy(target.as_bytes())).into_owned();
        return EndpointError::Redirect { request, target };
    }
    let hint = match (status, credentials) {
        (401 | 403, _) if asks_for_others(response.headers()) => {
            "it asks for a way to log in that rpcgraph does not have: there are Basic and Bearer".to_owned()
        }
        (401 | 403, Some(origin)) => format!("it does not accept the credentials from {origin}"),
        (401 | 403, None) => {
            "set RPCGRAPH_TOKEN, or RPCGRAPH_USER and RPCGRAPH_PASSWORD, or name the host in ~/.netrc or the file that \
             NETRC names"
                .to_owned()
        }
        (404 | 410, _) => "check the URL".to_owned(),
        (405 | 415, _) => "check the URL: it may be for other kinds of requests".to_owned(),
        (429 | 503, _) => "it is busy; try again later".to_owned(),
        _ => String::new(),
    };
    EndpointError::Status { request, status, words: words(response), hint }
}

/// Returns true if the server offers authentication schemes, but none that we support.
fn asks_for_others(headers: &HeaderMap) -> bool {
    let mut asked = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok()).peekable();
    let ours = |value: &str| {
        let value = value.to_ascii_lowercase();
        value.contains("basic") || value.contains("bearer")
    };
    asked.peek().is_some() && !asked.any(ours)
}
