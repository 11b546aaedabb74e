//! HTTP clients with the same settings for contexts and for SPARQL servers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use reqwest::blocking::ClientBuilder;
use reqwest::redirect::Policy;

/// Returns a client that does not follow redirects, retry or use a proxy: its caller decides on each request.
///
/// `timeout` applies to connecting and sending up to the head of the response, and again to each part of the body.
pub fn http_client(tls: bool, timeout: Duration) -> ClientBuilder {
    provide_tls();
    let builder = ClientBuilder::new()
        .user_agent(format!("rpcgraph/{}", crate::VERSION))
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy()
        .timeout(timeout)
        // Some systems resolve the name to other addresses.
        .resolve_to_addrs("localhost", &localhost());
    match tls {
        true => builder,
        // Without certificates, so that plain HTTP works on a machine that does not have any.
        false => builder.tls_certs_only([]),
    }
}

/// Returns a client that passes on the requests of others: it adds no header, and waits as long as they do.
///
/// # Errors
///
/// TLS is wanted, and the machine has no certificates.
pub fn passing_client(tls: bool) -> reqwest::Result<reqwest::Client> {
    provide_tls();
    let builder = reqwest::Client::builder()
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy()
        .resolve_to_addrs("localhost", &localhost());
    if tls { builder } else { builder.tls_certs_only([]) }.build()
}

/// Chooses the provider of TLS.
fn provide_tls() {
    // Fails if the process already has a provider, which is then used.
    drop(rustls::crypto::ring::default_provider().install_default());
}

fn localhost() -> [SocketAddr; 2] {
    [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)].map(|address| SocketAddr::new(address, 0))
}
