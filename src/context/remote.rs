//! Which contexts may be fetched, and what comes of it.

use url::{Host, Url};

use super::LoadError;

/// A document as it arrived.
#[derive(Debug, Clone)]
pub(super) struct Fetched {
    /// The URL that answered, after redirects: what relative references are resolved against.
    pub(super) location: Url,
    /// The body, at most [`MAX_DOCUMENT`](super::MAX_DOCUMENT) bytes.
    pub(super) body: Vec<u8>,
}

/// Whether a context may be fetched from the URL, be it named, referred to or redirected to.
pub(super) fn is_allowed(url: &Url) -> bool {
    let anonymous = url.username().is_empty() && url.password().is_none();
    anonymous && (url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url)))
}

/// Refuses a URL that contexts may not be fetched from, without repeating its password.
pub(super) fn check(url: &Url, by: impl FnOnce() -> String) -> Result<(), LoadError> {
    if is_allowed(url) {
        return Ok(());
    }
    let mut shown = url.clone();
    if shown.password().is_some() {
        // Fails for URLs without a host, which have no password.
        let _ = shown.set_password(Some("***"));
    }
    Err(LoadError::NotAllowed { url: shown.into(), by: by() })
}

/// Whether the URL is of this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
