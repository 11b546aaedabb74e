//! Credentials for servers. They are never read from the command line, where other users of the machine could see them.

use std::env;
use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::HeaderValue;
use url::Url;

use super::error::EndpointError;
use crate::context::is_loopback;

/// The value of the header `Authorization`, for every server that the user names.
#[derive(Clone, Default)]
pub struct Credentials {
    /// The source of the credentials, for messages.
    origin: &'static str,
    value: Option<String>,
}

impl Credentials {
    /// Creates an empty set of credentials.
    pub fn none() -> Self {
        Self::default()
    }

    /// Creates a bearer token: [RFC 6750](https://www.rfc-editor.org/rfc/rfc6750).
    pub fn bearer(token: &str) -> Self {
        Self { origin: "RPCGRAPH_TOKEN", value: Some(format!("Bearer {token}")) }
    }

    /// Creates a user with a password: [RFC 7617](https://www.rfc-editor.org/rfc/rfc7617).
    pub fn basic(user: &str, password: &str) -> Self {
        let value = format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")));
        Self { origin: "RPCGRAPH_USER and RPCGRAPH_PASSWORD", value: Some(value) }
    }

    /// Reads the credentials of the environment: `RPCGRAPH_TOKEN`, else `RPCGRAPH_USER` with `RPCGRAPH_PASSWORD`.
    pub fn from_environment() -> Self {
        let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
        match (variable("RPCGRAPH_TOKEN"), variable("RPCGRAPH_USER")) {
            (Some(token), _) => Self::bearer(&token),
            (None, Some(user)) => Self::basic(&user, &variable("RPCGRAPH_PASSWORD").unwrap_or_default()),
            (None, None) => Self::none(),
        }
    }

    /// The source of the credentials.
    pub(super) fn origin(&self) -> &'static str {
        self.origin
    }

    /// Returns the value of the header for a URL.
    ///
    /// # Errors
    ///
    /// The connection is unencrypted, and leads to another machine.
    pub(super) fn authorization(&self, url: &Url) -> Result<Option<HeaderValue>, EndpointError> {
        let Some(value) = &self.value else { return Ok(None) };
        if url.scheme() != "https" && !is_loopback(url) {
            return Err(EndpointError::Unencrypted { origin: self.origin, url: url.to_string() });
        }
        let mut value = HeaderValue::from_str(value).map_err(|_| EndpointError::BadCredentials(self.origin))?;
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

/// Shows the source of the credentials, not their values.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({})", self.origin)
    }
}
