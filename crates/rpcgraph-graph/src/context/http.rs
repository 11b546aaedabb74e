//! Contexts over HTTP: fetches one document within limits that the server cannot extend.

use std::error::Error;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use reqwest::blocking::{Client, Response};
use reqwest::header::{ACCEPT, LOCATION};
use url::Url;

use super::builtin::{JSON_RPC, JSON_RPC_URL};
use super::error::{LoadError, MAX_DOCUMENT, MAX_REDIRECTS};
use super::http_client;
use super::remote::{FetchedDocument, TrustedHosts, check, is_public};

const MEDIA_TYPES: &str = "application/ld+json, application/json;q=0.9";

/// Fetches the document at an allowed URL, within `limit`.
pub(super) fn fetch(url: &Url, limit: Duration, hosts: TrustedHosts) -> Result<FetchedDocument, LoadError> {
    // Runs on its own thread, since a host name lookup cannot be interrupted. Only this function measures the time: after
    // the limit, the abandoned thread ends with its request.
    let (sender, receiver) = mpsc::sync_channel(1);
    let download = Download { named: url.clone(), limit, hosts };
    let work = move || drop(sender.send(download.run()));
    thread::Builder::new().name("context".to_owned()).spawn(work).map_err(|error| failed(url, error))?;
    receiver.recv_timeout(limit).unwrap_or_else(|error| match error {
        RecvTimeoutError::Timeout => Err(LoadError::TimedOut { url: url.to_string(), limit }),
        RecvTimeoutError::Disconnected => Err(failed(url, error)),
    })
}

struct Download {
    named: Url,
    limit: Duration,
    hosts: TrustedHosts,
}

impl Download {
    fn run(&self) -> Result<FetchedDocument, LoadError> {
        let mut url = self.named.clone();
        for _ in 0..=MAX_REDIRECTS {
            if url.as_str() == JSON_RPC_URL {
                return Ok(FetchedDocument { location: url, body: JSON_RPC.into() });
            }
            let response = self.request(&url)?;
            let status = response.status();
            if matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
                url = target(&url, &response)?;
                self.hosts.check(&url, || format!("a redirect of `{}`", self.named))?;
            } else if status.is_success() {
                return Ok(FetchedDocument { body: body(&url, response)?, location: url });
            } else {
                return Err(LoadError::Status { url: url.into(), status: status.as_u16() });
            }
        }
        Err(LoadError::TooManyRedirects(self.named.to_string()))
    }

    fn request(&self, url: &Url) -> Result<Response, LoadError> {
        let addresses = self.addresses(url)?;
        let request = |client: Client| client.get(url.clone()).header(ACCEPT, MEDIA_TYPES).send();
        client(url, self.limit, &addresses).and_then(request).map_err(|error| match error.is_timeout() {
            true => LoadError::TimedOut { url: self.named.to_string(), limit: self.limit },
            false => failed(url, error.without_url()),
        })
    }

    /// Returns the addresses of an untrusted server, after checking that all are public. A second lookup could give
    /// others. Returns an empty list for a trusted server.
    fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, LoadError> {
        if self.hosts.has(url) {
            return Ok(Vec::new());
        }
        let addresses = url.socket_addrs(|| None).map_err(|error| failed(url, error))?;
        match addresses.iter().all(|address| is_public(address.ip())) {
            true => Ok(addresses),
            false => Err(LoadError::NotPublic { url: url.to_string(), by: format!("`{}`", self.named) }),
        }
    }
}

fn body(url: &Url, response: Response) -> Result<Vec<u8>, LoadError> {
    let mut body = Vec::new();
    response.take(MAX_DOCUMENT as u64 + 1).read_to_end(&mut body).map_err(|error| failed(url, error))?;
    if body.len() > MAX_DOCUMENT { Err(LoadError::TooLarge(url.to_string())) } else { Ok(body) }
}

/// Returns a client for one request, to one of the addresses if any are given. [`Download`] follows redirects itself
/// and checks each.
fn client(url: &Url, timeout: Duration, addresses: &[SocketAddr]) -> reqwest::Result<Client> {
    let tls = url.scheme() == "https";
    let builder = http_client(tls, timeout).https_only(tls);
    match url.host_str() {
        Some(host) if !addresses.is_empty() => builder.resolve_to_addrs(host, addresses).build(),
        _ => builder.build(),
    }
}

fn target(url: &Url, response: &Response) -> Result<Url, LoadError> {
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    let target = location.and_then(|location| url.join(location).ok());
    let mut target = target.ok_or_else(|| LoadError::BadRedirect(url.to_string()))?;
    target.set_fragment(None);
    check(&target, || format!("a redirect of `{url}`"))?;
    Ok(target)
}

fn failed(url: &Url, source: impl Error + Send + Sync + 'static) -> LoadError {
    LoadError::Fetch { url: url.to_string(), source: Box::new(source) }
}
