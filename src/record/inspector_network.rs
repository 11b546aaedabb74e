//! `mcp-inspector-network`: the HTTP requests that the MCP Inspector exports. Each is read as an entry of an archive.

use super::Sender;
use super::about::{About, Sign, Window};
use super::elements::{ArrayDecoder, first_element};
use super::har_entry::{HttpExchange, exchanged};
use super::marked::Found;
use super::object::{RawObject, offset_in, string};

pub(super) const ABOUT: About = About {
    name: "mcp-inspector-network",
    summary: "an array of `{\"id\":…,\"timestamp\":…,\"method\":\"POST\",\"url\":…,\"requestBody\":\"{…}\",\"responseBody\":\"{…}\",\"duration\":…}`",
    carries: "time, sender, latency, sessions (origins, Mcp-Session-Id)",
    sample: include_str!("samples/mcp-inspector-network.log"),
    sign: Sign::Value(detect),
    decoder: |limit| ArrayDecoder::of_objects(limit, Some(&["requestHeaders", "responseHeaders"]), Box::new(records)),
};

/// The first value is an array whose first element has a URL and the body of a request or response, or their headers.
fn detect(window: &Window<'_>) -> bool {
    let parts = ["requestBody", "responseBody", "responseStatus", "requestHeaders"];
    first_element(window).is_some_and(|entry| has_url(&entry) && parts.iter().any(|part| entry.has(part)))
}

fn has_url(entry: &RawObject<'_>) -> bool {
    entry.string("url").is_some_and(|url| !url.is_empty())
}

/// The messages of a request and its response, and where in the entry the body begins that each is in.
fn records(entry: &RawObject<'_>, text: &[u8], limit: usize) -> Option<Vec<Found<'static>>> {
    if !has_url(entry) {
        return None;
    }
    let value = |name| entry.get(name).unwrap_or(b"null");
    let headers = |name| {
        let headers = entry.object(name)?;
        let headers = headers
            .members()
            .map(|(name, value)| [b"{\"name\":", &*string(name), b",\"value\":", value, b"}"].concat());
        Some([b"[", &*headers.collect::<Vec<_>>().join(&b','), b"]"].concat())
    };
    let headers = |name| headers(name).unwrap_or_else(|| b"[]".to_vec());
    let exchange = HttpExchange {
        started: value("timestamp"),
        took: value("duration"),
        method: value("method"),
        url: value("url"),
        headers: [&headers("requestHeaders"), &headers("responseHeaders")],
        bodies: [value("requestBody"), value("responseBody")],
    };
    let start = |name| entry.get(name).map_or(0, |body| offset_in(text, body) + usize::from(body.starts_with(b"\"")));
    let mut last = 0;
    let found = exchanged(&exchange, limit).into_iter().map(|(sender, entry)| {
        last = match sender {
            Some(Sender::Client) => start("requestBody"),
            Some(Sender::Server) => start("responseBody"),
            None => last,
        };
        (last, entry)
    });
    Some(found.collect())
}
