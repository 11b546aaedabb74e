//! Rules for the URLs and hosts that contexts may be fetched from, and the fetched document.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use url::{Host, Url};

use super::error::LoadError;

/// A document as received.
#[derive(Debug, Clone)]
pub(super) struct FetchedDocument {
    /// The URL that answered, after redirects: the base of relative references.
    pub(super) location: Url,
    /// The body, at most [`MAX_DOCUMENT`](super::error::MAX_DOCUMENT) bytes.
    pub(super) body: Vec<u8>,
}

/// Returns true if a context may be fetched from the URL, whether named, referred to or redirected to.
pub(super) fn is_allowed(url: &Url) -> bool {
    let anonymous = url.username().is_empty() && url.password().is_none();
    anonymous && (url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url)))
}

/// Refuses a URL from which contexts may not be fetched, without repeating its password.
pub(super) fn check(url: &Url, by: impl FnOnce() -> String) -> Result<(), LoadError> {
    if is_allowed(url) {
        return Ok(());
    }
    let mut shown = url.clone();
    if shown.password().is_some() {
        // Fails for URLs without a host, which cannot hold a password.
        let _ = shown.set_password(Some("***"));
    }
    Err(LoadError::NotAllowed { url: shown.into(), by: by() })
}

/// The servers that the command line names. They are trusted wherever they are; all others must be public.
#[derive(Debug, Clone, Default)]
pub(super) struct TrustedHosts(BTreeSet<String>);

impl TrustedHosts {
    pub(super) fn add(&mut self, url: &Url) {
        self.0.insert(name_of(url));
    }

    pub(super) fn has(&self, url: &Url) -> bool {
        self.0.contains(&name_of(url))
    }

    /// Refuses a URL whose text alone shows that it leads to this machine or into a private network.
    pub(super) fn check(&self, url: &Url, by: impl FnOnce() -> String) -> Result<(), LoadError> {
        let address = match url.host() {
            Some(Host::Ipv4(address)) => Some(address.into()),
            Some(Host::Ipv6(address)) => Some(address.into()),
            _ => None,
        };
        if self.has(url) || !(is_loopback(url) || address.is_some_and(|address| !is_public(address))) {
            return Ok(());
        }
        Err(LoadError::NotPublic { url: url.to_string(), by: by() })
    }
}

/// Returns the host; all names of this machine become `localhost`.
fn name_of(url: &Url) -> String {
    if is_loopback(url) { "localhost" } else { url.host_str().unwrap_or_default() }.to_owned()
}

/// Returns true if an address belongs to the public internet
/// ([IPv4](https://www.iana.org/assignments/iana-ipv4-special-registry/),
/// [IPv6](https://www.iana.org/assignments/iana-ipv6-special-registry/)).
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            let special = address.is_private() || address.is_loopback() || address.is_link_local();
            let shared = matches!((a, b, c), (100, 64..=127, _) | (192, 0, 0) | (198, 18 | 19, _));
            !(special || shared || a == 0 || a >= 224 || address.is_documentation())
        }
        IpAddr::V6(address) => {
            let [a, b, c, ..] = address.segments();
            let v4 = |high: u16, low: u16| is_public(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)).into());
            let [.., high, low] = address.segments();
            match a {
                // IPv4 addresses embedded in IPv6 addresses: 6to4, NAT64.
                0x2002 => v4(b, c),
                0x64 => b == 0xff9b && c == 0 && v4(high, low),
                0x2001 => b >= 0x200 && b != 0xdb8,
                _ => address.to_ipv4_mapped().map_or(a & 0xe000 == 0x2000, |address| is_public(address.into())),
            }
        }
    }
}

/// Returns true if the URL's host is this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_not_public() {
        for (address, public) in [
            ("8.8.8.8", true),
            ("172.15.0.1", true),
            ("100.128.0.1", true),
            ("2606:4700::1111", true),
            ("::ffff:8.8.8.8", true),
            ("64:ff9b::8.8.8.8", true),
            ("127.0.0.1", false),
            ("0.0.0.0", false),
            ("10.1.2.3", false),
            ("172.16.0.1", false),
            ("192.168.1.1", false),
            ("169.254.169.254", false),
            ("100.64.0.1", false),
            ("192.0.0.8", false),
            ("198.18.0.1", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("::1", false),
            ("::", false),
            ("fe80::1", false),
            ("fd00::1", false),
            ("ff02::1", false),
            ("2001:db8::1", false),
            ("2001::1", false),
            ("::ffff:127.0.0.1", false),
            ("::127.0.0.1", false),
            ("64:ff9b::10.0.0.1", false),
            ("2002:7f00:1::", false),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
        }
    }

    #[test]
    fn named_hosts_are_trusted() {
        let url = |text: &str| Url::parse(text).unwrap();
        let mut hosts = TrustedHosts::default();
        hosts.add(&url("http://127.0.0.1:80/c"));
        hosts.add(&url("https://10.0.0.1/c"));
        for (text, is_let) in [
            ("http://127.0.0.1/other", true),
            ("http://localhost:9/", true),
            ("http://[::1]/", true),
            ("https://10.0.0.1/d", true),
            ("https://example.org/", true),
            ("https://10.0.0.2/", false),
            ("https://[::ffff:10.0.0.1]/", false),
            ("https://0x0a000003/", false),
        ] {
            assert_eq!(hosts.check(&url(text), String::new).is_ok(), is_let, "{text}");
        }
        assert!(TrustedHosts::default().check(&url("https://localhost/"), String::new).is_err());
    }
}
