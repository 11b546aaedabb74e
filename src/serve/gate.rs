//! Access control.

use std::io;
use std::net::{IpAddr, SocketAddr};

use hyper::header::{AUTHORIZATION, HOST, ORIGIN};
use hyper::http::HeaderValue;
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, StatusCode};
use url::form_urlencoded;

use super::body::HttpError;

/// The length of a token, in bytes: too long to guess.
const TOKEN: usize = 16;

/// Admits clients that know the token and use the server's own address.
pub(super) struct Gate {
    address: SocketAddr,
    token: String,
}

/// The way in which a client was admitted.
pub(super) enum Admission<'h> {
    /// With the token in a header, or at the beginning of the path. This is the path without the token.
    Path(&'h str),
    /// With the token in the query of the URL. The pages are at this path.
    Moved(String),
}

impl Gate {
    /// Creates a gate for the server at this address, with a new random token.
    pub fn new(address: SocketAddr) -> io::Result<Self> {
        let mut bytes = [0; TOKEN];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self::with_token(address, hex::encode(bytes)))
    }

    /// Creates a gate for the server at this address, with a given token.
    pub fn with_token(address: SocketAddr, token: String) -> Self {
        Self { address, token }
    }

    pub fn token(&self) -> String {
        self.token.clone()
    }

    /// The URL of the server, with the token.
    pub fn url(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() {
                IpAddr::from([127, 0, 0, 1])
            } else {
                IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])
            });
        }
        format!("http://{address}/?token={}", self.token)
    }

    /// Checks the head of a request.
    pub fn check<'h>(&self, head: &'h Parts) -> Result<Admission<'h>, HttpError> {
        let host = one(&head.headers, HOST).filter(|host| self.is_own(host));
        let of_target = head.uri.authority().map(Authority::as_str);
        let Some(host) = host.filter(|host| of_target.is_none_or(|target| target == *host)) else {
            let text = "unknown Host; use the URL that the server printed";
            return Err(HttpError::new(StatusCode::MISDIRECTED_REQUEST, text));
        };
        if head.headers.contains_key(ORIGIN) && one(&head.headers, ORIGIN) != Some(&format!("http://{host}")) {
            return Err(HttpError::new(StatusCode::FORBIDDEN, "pages of other sites cannot ask this server"));
        }
        let bearer = one(&head.headers, AUTHORIZATION).and_then(|value| value.split_once(' '));
        let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
        let path = head.uri.path();
        if bearer.is_some_and(|token| self.is_token(token)) {
            return Ok(Admission::Path(path));
        }
        let (first, rest) = path.get(1..).and_then(|path| path.split_at_checked(self.token.len())).unwrap_or_default();
        if self.is_token(first) && rest.starts_with('/') {
            return Ok(Admission::Path(rest));
        }
        let mut parameters = form_urlencoded::parse(head.uri.query().unwrap_or_default().as_bytes());
        if path == "/" && parameters.any(|(name, value)| name == "token" && self.is_token(&value)) {
            return Ok(Admission::Moved(format!("/{}/", self.token)));
        }
        let text =
            "missing or invalid token: open the URL that the server printed, or send the token as a bearer token";
        Err(HttpError::new(StatusCode::UNAUTHORIZED, text))
    }

    /// Returns true if a `Host` is this server. A site can make its own name resolve to any address, but not an IP
    /// address or `localhost`.
    fn is_own(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else { return false };
        if authority.as_str().contains('@') || authority.port_u16().unwrap_or(80) != self.address.port() {
            return false;
        }
        let name = authority.host().trim_start_matches('[').trim_end_matches(']');
        match name.parse::<IpAddr>() {
            Ok(address) => address.is_loopback() || !self.address.ip().is_loopback(),
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Compares in constant time, however much of the token is right.
    fn is_token(&self, text: &str) -> bool {
        let differences = text.bytes().zip(self.token.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
        text.len() == self.token.len() && differences == 0
    }
}

/// Returns the value of a header that occurs exactly once.
fn one(headers: &HeaderMap, name: impl hyper::header::AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none()).and_then(|value: &HeaderValue| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        let gate = |address: &str| Gate::new(address.parse().unwrap()).unwrap();
        let local = gate("127.0.0.1:8080");
        for own in ["127.0.0.1:8080", "localhost:8080", "LocalHost:8080", "[::1]:8080", "127.9.9.9:8080"] {
            assert!(local.is_own(own), "{own}");
        }
        for other in [
            "127.0.0.1",
            "127.0.0.1:8081",
            "evil.example:8080",
            "localhost.evil.example:8080",
            "10.0.0.1:8080",
            "127.0.0.1.nip.io:8080",
            "x@127.0.0.1:8080",
            "2130706433:8080",
            "",
            ":8080",
            "127.0.0.1:8080:8080",
        ] {
            assert!(!local.is_own(other), "{other}");
        }
        let open = gate("0.0.0.0:80");
        assert!(open.is_own("10.0.0.1") && open.is_own("10.0.0.1:80") && !open.is_own("evil.example"));
    }

    #[test]
    fn tokens() {
        let gate = Gate::new("127.0.0.1:8080".parse().unwrap()).unwrap();
        assert_ne!(gate.token, Gate::new(gate.address).unwrap().token);
        assert!(gate.is_token(&gate.token.clone()));
        for wrong in ["", &gate.token[1..], &format!("{}0", gate.token), &"0".repeat(32)] {
            assert!(!gate.is_token(wrong), "{wrong}");
        }
    }
}
