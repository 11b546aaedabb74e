//! Headers of HTTP that matter to the messages in bodies: those that the Model Context Protocol defines, and `Last-Event-ID`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The header with the session id of the Model Context Protocol. It comes with the response to the first request.
pub(super) const SESSION: &str = "mcp-session-id";

/// The header that [resumes](https://html.spec.whatwg.org/multipage/server-sent-events.html#the-last-event-id-header) a stream.
pub(super) const LAST_EVENT: &str = "last-event-id";

/// The header with the version of the Model Context Protocol.
pub(super) const VERSION: &str = "mcp-protocol-version";

/// True for the name, in lower case, of a header that the Model Context Protocol defines: the session, the version, and what
/// [repeats](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata) the body.
/// No other header is kept or logged, since it may be a secret.
pub fn is_mcp_header(name: &str) -> bool {
    [SESSION, VERSION, "mcp-method", "mcp-name"].contains(&name) || name.starts_with("mcp-param-")
}

/// Returns the headers of a request that the Model Context Protocol defines, as canonical JSON with names in lower case. `None` if
/// the log has no header of the request: every request has some, so the log leaves them out.
pub(super) fn request_headers<'n, 'v>(
    headers: impl Iterator<Item = (Cow<'n, str>, Cow<'v, str>)>,
) -> Option<Arc<String>> {
    let mut all = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).peekable();
    all.peek()?;
    let own: BTreeMap<_, _> = all.filter(|(name, _)| is_mcp_header(name)).collect();
    serde_json::to_string(&own).ok().map(Arc::new)
}
