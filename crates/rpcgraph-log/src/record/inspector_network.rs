//! `mcp-inspector-network`: the HTTP requests that the MCP Inspector exports. Each is read like an entry of an HTTP
//! Archive.

use super::Sender;
use super::decoder::Decoder;
use super::elements::object_array;
use super::har_entry::{ArchiveFacts, HarExchange, HttpBody, described};
use super::http_headers::{LAST_EVENT, SESSION, VERSION, request_headers};
use super::lines::{Extras, FoundEntry};
use super::object::{RawObject, scalar};
use super::times::duration;

pub(super) fn decoder() -> Box<dyn Decoder> {
    let mut seen = ArchiveFacts::default();
    object_array(move |entry, text, more| open(entry, text, more, &mut seen))
}

/// Returns the messages of a request and its response, each with the offset of its body in the entry.
fn open<'a>(
    entry: &RawObject<'a>,
    text: &'a [u8],
    more: &mut Extras,
    seen: &mut ArchiveFacts,
) -> Option<FoundEntry<'a>> {
    let url = entry.string("url").filter(|url| !url.is_empty())?;
    let body = |name, sender| entry.get(name).and_then(|body| HttpBody::new(body, text, false, Some(sender)));
    let (sent, received) = (body("requestBody", Sender::Client), body("responseBody", Sender::Server));
    let (started, took) = (entry.date_time("timestamp"), entry.get("duration").and_then(duration));
    let (bodies, _) = HttpBody::of_exchange(started, took, sent, received, Vec::new());
    let header = |headers, wanted: &str| {
        let headers: RawObject<'_> = entry.object(headers)?;
        let mut members = headers.members();
        let (_, value) = members.find(|(name, _)| name.eq_ignore_ascii_case(wanted.as_bytes()))?;
        scalar(value).filter(|value| !value.is_empty())
    };
    let [sent, received] = ["requestHeaders", "responseHeaders"];
    let said = |name| entry.string(name).filter(|text| !text.is_empty());
    let error = said("error");
    let method = entry.string("method").unwrap_or_default();
    let exchange = HarExchange {
        method: method.to_string(),
        url: url.to_string(),
        status: entry.get("responseStatus").map_or(error.is_some().then_some(0), |status| scalar(status)?.parse().ok()),
        reason: error.or_else(|| said("responseStatusText")).unwrap_or_default().into_owned(),
        session: header(sent, SESSION),
        is_mcp: [SESSION, VERSION].iter().any(|name| header(sent, name).is_some()),
        is_authorized: header(sent, "authorization").is_some(),
        is_resumption: header(sent, LAST_EVENT).is_some(),
        headers: entry.object(sent).and_then(|headers| request_headers(headers.texts())),
        started,
        took,
    };
    let found = exchange.entries(bodies, header(received, SESSION), seen);
    more.first_of(described(found, text, 0, (&method, &url)))
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
            let found = entries(decoder, format!("[{entry}]").as_bytes());
            assert_eq!(texts(&found), [&format!("# {entry}"), r#"{"jsonrpc":1}"#]);
        }
    }
}
