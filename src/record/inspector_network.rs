//! `mcp-inspector-network`: the HTTP requests that the MCP Inspector exports. Each is read as an entry of an archive.

use super::about::{About, Sign, Window};
use super::elements::{ArrayDecoder, first_element};
use super::har_entry::{HttpExchange, exchanged};
use super::marked::Found;
use super::object::{RawObject, offset_in, string};
use super::{LogLine, Sender};
use memchr::memmem;

pub(super) const ABOUT: About = About {
    name: "mcp-inspector-network",
    summary: "an array of `{\"id\":…,\"timestamp\":…,\"method\":\"POST\",\"url\":…,\"requestBody\":\"{…}\",\"responseBody\":\"{…}\",\"duration\":…}`",
    carries: "time, sender, latency, sessions (origins, Mcp-Session-Id)",
    sample: include_str!("samples/mcp-inspector-network.log"),
    sign: Sign::Value(detect),
    decoder: |limit| ArrayDecoder::of_objects(limit, Some(&HEADERS), Box::new(records)),
};

/// Headers may have the words of messages.
const HEADERS: [&str; 2] = ["requestHeaders", "responseHeaders"];

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
    let is_odd = |value: &[u8]| memmem::find(value, b"jsonrpc").is_some();
    let odd = HEADERS.iter().flat_map(|name| entry.all(name)).any(is_odd);
    let headers = |name| {
        let headers = entry.object(name)?;
        let headers = headers
            .members()
            .filter(|(_, value)| !is_odd(value))
            .map(|(name, value)| [b"{\"name\":", &*string(name), b",\"value\":", value, b"}"].concat());
        Some([b"[", &*headers.collect::<Vec<_>>().join(&b','), b"]"].concat())
    };
    let headers = |name| headers(name).unwrap_or_else(|| b"[]".to_vec());
    let exchange = HttpExchange {
        started: value("timestamp"),
        took: value("duration"),
        method: value("method"),
        url: value("url"),
        headers: [&headers(HEADERS[0]), &headers(HEADERS[1])],
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
    // A message may be where headers are: the entry is told as it is.
    let told = odd.then(|| (0, LogLine::new(text.to_vec()).into()));
    Some(told.into_iter().chain(found).collect())
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{entries, texts};
    use super::*;

    #[test]
    fn messages_in_place_of_headers() {
        let odd = [
            r#""requestHeaders":"{\"jsonrpc\":2}""#,
            r#""responseHeaders":{"a":{"jsonrpc":2}}"#,
            r#""requestHeaders":[{"jsonrpc":2}],"requestHeaders":{}"#,
        ];
        for odd in odd {
            let entry = format!(r#"{{"url":"http://h",{odd},"requestBody":"{{\"jsonrpc\":1}}"}}"#);
            let found = entries(|| (ABOUT.decoder)(1000), format!("[{entry}]").as_bytes());
            assert_eq!(texts(&found), [&format!("# {entry}"), r#"{"jsonrpc":1}"#]);
        }
    }
}
