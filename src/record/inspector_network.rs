//! `mcp-inspector-network`: the HTTP requests that the MCP Inspector exports. Each is read as an entry of an archive.

use super::about::{About, Sign, Window};
use super::elements::{first_element, object_array};
use super::har_entry::{HttpBody, SESSION, comment, mentions, session, told};
use super::marked::{Found, More};
use super::object::{RawObject, scalar};
use super::times::duration;
use super::{LogLine, Sender};

pub(super) const ABOUT: About = About {
    summary: "an array of `{\"id\":…,\"timestamp\":…,\"method\":\"POST\",\"url\":…,\"requestBody\":\"{…}\",\"responseBody\":\"{…}\",\"duration\":…}`",
    carries: "time, sender, latency, sessions (origins, Mcp-Session-Id)",
    sign: Sign::Value(detect),
    decoder: |limit| object_array(limit, Some(&HEADERS), open),
};

/// Headers may have the words of messages.
const HEADERS: [&str; 2] = ["requestHeaders", "responseHeaders"];

/// The first value is an array whose first element has a URL and the body of a request or response, or their headers.
fn detect(window: &Window<'_>) -> bool {
    let parts = ["requestBody", "responseBody", "responseStatus", "requestHeaders"];
    let has_url = |entry: &RawObject<'_>| entry.string("url").is_some_and(|url| !url.is_empty());
    first_element(window).is_some_and(|entry| has_url(&entry) && parts.iter().any(|part| entry.has(part)))
}

/// The messages of a request and its response, and where in the entry the body begins that each is in.
fn open<'a>(entry: &RawObject<'a>, text: &'a [u8], more: &mut More) -> Option<Found<'a>> {
    let url = entry.string("url").filter(|url| !url.is_empty())?;
    let body = |name, sender| entry.get(name).and_then(|body| HttpBody::new(body, text, false, Some(sender)));
    let [sent, received] = [body("requestBody", Sender::Client), body("responseBody", Sender::Server)]
        .map(|body| body.into_iter().collect());
    let took = entry.get("duration").and_then(duration);
    let (bodies, _) = HttpBody::of_exchange(entry.date_time("timestamp"), took, sent, received, Vec::new());
    let found = &mut more.entries;
    if bodies.iter().any(HttpBody::holds_message) {
        let id = HEADERS.iter().filter_map(|name| entry.object(name)).find_map(|headers| {
            let mut members = headers.members();
            let (_, id) = members.find(|(name, _)| name.eq_ignore_ascii_case(SESSION.as_bytes()))?;
            scalar(id).filter(|id| !id.is_empty())
        });
        found.extend(HttpBody::entries(bodies, session(&url, id.as_deref())));
    }
    let values = HEADERS.iter().flat_map(|name| entry.all(name));
    let values = values.chain(["requestBody", "responseBody"].iter().filter_map(|name| entry.get(name)));
    if values.map(mentions).sum::<usize>() > told(&*found) {
        // A message may be where headers are, or deeper in a body.
        return Some((0, LogLine::new(text).into()));
    }
    if found.is_empty() {
        found.extend(comment(&entry.string("method").unwrap_or_default(), &url, ""));
    }
    found.pop_front()
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
