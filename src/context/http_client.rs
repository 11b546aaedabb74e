//! HTTP clients, made the same way for contexts and for SPARQL servers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use reqwest::blocking::ClientBuilder;
use reqwest::redirect::Policy;

const USER_AGENT: &str = concat!("rpcgraph/", env!("CARGO_PKG_VERSION"));

/// A client that follows no redirect, repeats nothing and asks no proxy: its caller decides on each request.
///
/// `timeout` is for connecting and sending up to the head of the answer, and again for each part of its body.
pub(crate) fn http_client(tls: bool, timeout: Duration) -> ClientBuilder {
    // Fails where the process has a provider already, which then is used.
    drop(rustls::crypto::ring::default_provider().install_default());
    let localhost = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    let builder = ClientBuilder::new()
        .user_agent(USER_AGENT)
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy()
        .timeout(timeout)
        // On some systems the name means something else.
        .resolve_to_addrs("localhost", &localhost.map(|address| SocketAddr::new(address, 0)));
    match tls {
        true => builder,
        // No certificates, so that plain HTTP works on a machine that has none.
        false => builder.tls_certs_only([]),
    }
}
