//! Who may ask.

use std::io;
use std::net::{IpAddr, SocketAddr};

use hyper::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use hyper::http::HeaderValue;
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, StatusCode};
use url::form_urlencoded;

use super::body::Refusal;

/// Bytes of a token: more than can be guessed.
const TOKEN: usize = 16;

/// Lets in who knows the token, and asks at the server's own address.
pub(super) struct Gate {
    address: SocketAddr,
    token: String,
}

/// How somebody got in.
pub(super) enum Entry {
    /// With a cookie, or as a client with the token.
    Known,
    /// With the token in the URL, for which there is this cookie.
    New(String),
}

impl Gate {
    /// Of a server at this address, with a token that nobody knows yet.
    pub fn new(address: SocketAddr) -> io::Result<Self> {
        let mut bytes = [0; TOKEN];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self::with_token(address, bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Of a server at this address, with a token.
    pub fn with_token(address: SocketAddr, token: String) -> Self {
        Self { address, token }
    }

    pub fn token(&self) -> String {
        self.token.clone()
    }

    /// Where the server is, with the token.
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

    /// Looks at the head of a request.
    pub fn check(&self, head: &Parts) -> Result<Entry, Refusal> {
        let host = one(&head.headers, HOST).filter(|host| self.is_own(host));
        let of_target = head.uri.authority().map(Authority::as_str);
        let Some(host) = host.filter(|host| of_target.is_none_or(|target| target == *host)) else {
            let text = "this server goes by its address only: ask it where it said that it is";
            return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, text));
        };
        if head.headers.contains_key(ORIGIN) && one(&head.headers, ORIGIN) != Some(&format!("http://{host}")) {
            return Err(Refusal::new(StatusCode::FORBIDDEN, "pages of other sites cannot ask this server"));
        }
        let bearer = one(&head.headers, AUTHORIZATION).and_then(|value| value.split_once(' '));
        let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
        if bearer.is_some_and(|token| self.is_token(token)) || self.has_cookie(&head.headers) {
            return Ok(Entry::Known);
        }
        let mut parameters = form_urlencoded::parse(head.uri.query().unwrap_or_default().as_bytes());
        if head.uri.path() == "/" && parameters.any(|(name, value)| name == "token" && self.is_token(&value)) {
            let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie(), self.token);
            return Ok(Entry::New(cookie));
        }
        let text =
            "missing or invalid token: open the URL that the server printed, or send the token as a bearer token";
        Err(Refusal::new(StatusCode::UNAUTHORIZED, text))
    }

    /// Whether a `Host` is this server. Names can be made to stand for any address by whoever they belong to, addresses and
    /// `localhost` cannot.
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

    /// Cookies are the same for all ports.
    fn cookie(&self) -> String {
        format!("rpcgraph-{}", self.address.port())
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(known, value)| known == name && self.is_token(value))
    }

    /// Takes the same time however much of it is right.
    fn is_token(&self, text: &str) -> bool {
        let differences = text.bytes().zip(self.token.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
        text.len() == self.token.len() && differences == 0
    }
}

/// The value of a header that is there once.
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
