//! Credentials for servers. They are never read from the command line, where other users of the machine could see them.

use std::collections::HashMap;
use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::HeaderValue;
use url::Url;

use super::error::EndpointError;
use crate::context::is_loopback;

/// Values of the header `Authorization`, by server.
#[derive(Clone, Default)]
pub struct Credentials {
    /// The source of the credentials, for messages.
    origin: String,
    /// Values of the header by host. The value for the empty host applies to every server that the user names.
    by_host: HashMap<String, String>,
}

#[derive(Default)]
struct Login {
    user: String,
    password: String,
}

impl Credentials {
    /// Creates an empty set of credentials.
    pub fn none() -> Self {
        Self::default()
    }

    /// Creates a bearer token: [RFC 6750](https://www.rfc-editor.org/rfc/rfc6750).
    pub fn bearer(token: &str) -> Self {
        Self::for_all("RPCGRAPH_TOKEN", format!("Bearer {token}"))
    }

    /// Creates a user with a password: [RFC 7617](https://www.rfc-editor.org/rfc/rfc7617).
    pub fn basic(user: &str, password: &str) -> Self {
        Self::for_all("RPCGRAPH_USER and RPCGRAPH_PASSWORD", basic(user, password))
    }

    fn for_all(origin: &str, value: String) -> Self {
        Self { origin: origin.to_owned(), by_host: HashMap::from([(String::new(), value)]) }
    }

    /// Reads the credentials of the environment: `RPCGRAPH_TOKEN`, else `RPCGRAPH_USER` with `RPCGRAPH_PASSWORD`, else
    /// the netrc file that `NETRC` names, else `~/.netrc`.
    ///
    /// # Errors
    ///
    /// The netrc file is unreadable or malformed. A missing file is an error only if `NETRC` names it.
    pub fn from_environment() -> Result<Self, EndpointError> {
        let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
        if let Some(token) = variable("RPCGRAPH_TOKEN") {
            return Ok(Self::bearer(&token));
        }
        if let Some(user) = variable("RPCGRAPH_USER") {
            return Ok(Self::basic(&user, &variable("RPCGRAPH_PASSWORD").unwrap_or_default()));
        }
        if let Some(path) = env::var_os("NETRC").filter(|path| !path.is_empty()) {
            return Self::netrc(Path::new(&path));
        }
        // `USERPROFILE` is for Windows.
        let home = ["HOME", "USERPROFILE"].into_iter().filter_map(env::var_os).find(|home| !home.is_empty());
        match home.map(|home| Path::new(&home).join(".netrc")).filter(|path| path.exists()) {
            Some(path) => Self::netrc(&path),
            None => Ok(Self::none()),
        }
    }

    /// Reads the logins of a netrc file.
    pub fn netrc(path: &Path) -> Result<Self, EndpointError> {
        let failed = |reason: String| EndpointError::Netrc { path: path.display().to_string(), reason };
        let text = fs::read_to_string(path).map_err(|error| {
            failed(match error.kind() {
                // The error's own text would not add anything.
                io::ErrorKind::InvalidData => "it is not text".to_owned(),
                _ => error.to_string(),
            })
        })?;
        let logins = hosts(&text).map_err(failed)?.into_iter();
        let by_host = logins.map(|(host, login)| (host, basic(&login.user, &login.password))).collect();
        Ok(Self { origin: path.display().to_string(), by_host })
    }

    /// The source of the credentials.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the value of the header for a URL.
    ///
    /// # Errors
    ///
    /// The connection is unencrypted, and leads to another machine.
    pub(super) fn authorization(&self, url: &Url) -> Result<Option<HeaderValue>, EndpointError> {
        let host = url.host_str().unwrap_or_default();
        let Some(value) = self.by_host.get(host).or_else(|| self.by_host.get("")) else { return Ok(None) };
        let origin = self.origin.clone();
        if url.scheme() != "https" && !is_loopback(url) {
            return Err(EndpointError::Unencrypted { origin, url: url.to_string() });
        }
        let mut value = HeaderValue::from_str(value).map_err(|_| EndpointError::BadCredentials(origin))?;
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

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
}

/// Parses the logins of a netrc file by host; the login of `default` has the empty host. Errors never repeat a word of
/// the file, since it may be a password.
fn hosts(text: &str) -> Result<HashMap<String, Login>, String> {
    let mut hosts: HashMap<String, Login> = HashMap::new();
    let mut login: Option<&mut Login> = None;
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        let mut words = line.split_whitespace();
        while let Some(word) = words.next().filter(|word| !word.starts_with('#')) {
            if word == "default" {
                login = Some(hosts.entry(String::new()).or_default());
                continue;
            }
            // A keyword and its value may stand on two lines, but almost never do.
            let value = words.next().ok_or_else(|| format!("line {number} ends where a value should be"))?;
            let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            let value = quoted.unwrap_or(value).to_owned();
            match (word, &mut login) {
                ("machine", _) => login = Some(hosts.entry(value).or_default()),
                ("login" | "user", Some(login)) => login.user = value,
                ("password", Some(login)) => login.password = value,
                ("account", Some(_)) => {}
                // A macro of ftp extends to the next empty line.
                ("macdef", _) => while lines.next().is_some_and(|(_, line)| !line.trim().is_empty()) {},
                _ => return Err(format!("line {number} has a word that is not known there")),
            }
        }
    }
    Ok(hosts)
}
