//! The content of an entry of an HTTP Archive: the messages of an HTTP request and its response, or of a WebSocket.

use super::certainty::Certainty;
use super::http_headers::{LAST_EVENT, SESSION, VERSION, request_headers};
use super::lines::FoundEntry;
use super::object::{RawObject, elements, objects, offset_in, scalar, unescape};
use super::times::{any, duration, later};
use super::value::may_be_message;
use super::{Entry, Flags, Http, HttpExchange, HttpOutcome, LogLine, Record, Sender, Time, sse};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use oxsdatatypes::Decimal;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// Returns the messages of an entry in the order in which they were sent, with the offset of each body in the entry; or
/// a line of text if there are none. Empty for an entry with a syntax error.
pub(super) fn entries(text: &[u8], seen: &mut ArchiveFacts) -> Vec<FoundEntry<'static>> {
    let Some(entry) = RawObject::parse(text).filter(RawObject::is_whole) else { return Vec::new() };
    let [request, response] = ["request", "response"].map(|name| entry.object(name));
    let of = |side: &Option<RawObject<'_>>, name| side.as_ref()?.string(name).map(Cow::into_owned);
    let (method, url) = (of(&request, "method").unwrap_or_default(), of(&request, "url").unwrap_or_default());
    let mut events = frames(&entry, text, "_eventSourceMessages");
    if !events.iter().any(HttpBody::holds_message) {
        events.clear();
    }
    let body =
        |side: &Option<RawObject<'_>>, name, sender| HttpBody::within(&side.as_ref()?.object(name)?, text, sender);
    let sent = body(&request, "postData", Sender::Client);
    let received = body(&response, "content", Sender::Server);
    let opened = received.as_ref().and_then(|received| opened_session(&received.bytes));
    let started = entry.date_time("startedDateTime");
    let took = entry.get("time").and_then(duration);
    let (bodies, again) = HttpBody::of_exchange(started, took, sent, received, events);
    let frames = frames(&entry, text, "_webSocketMessages");
    // Messages that the text repeats.
    let duplicates = again.iter().map(|body| mentions(&body.bytes)).sum::<usize>();

    let header = |side: &Option<RawObject<'_>>, wanted: &str| {
        let mut headers = elements(side.as_ref()?.get("headers")?).filter_map(RawObject::parse);
        headers.find_map(|header| {
            header.string("name").filter(|name| name.eq_ignore_ascii_case(wanted))?;
            header.string("value").filter(|value| !value.is_empty()).map(Cow::into_owned)
        })
    };
    let said = |name| of(&response, name).filter(|text| !text.is_empty());
    let exchange = HarExchange {
        method: method.clone(),
        url: url.clone(),
        status: response.as_ref().and_then(|response| scalar(response.get("status")?)?.parse().ok()),
        reason: said("_error").or_else(|| said("statusText")).unwrap_or_default(),
        session: header(&request, SESSION).or_else(|| posted_session(url.as_bytes())),
        is_mcp: [SESSION, VERSION].iter().any(|name| header(&request, name).is_some()),
        is_authorized: header(&request, "authorization").is_some(),
        is_resumption: header(&request, LAST_EVENT).is_some(),
        headers: request.as_ref().and_then(|request| {
            let headers = elements(request.get("headers")?).filter_map(RawObject::parse);
            request_headers(headers.filter_map(|header| Some((header.string("name")?, header.string("value")?))))
        }),
        started,
        took,
    };
    let mut found = exchange.entries(bodies, header(&response, SESSION).or(opened), seen);
    if frames.iter().any(HttpBody::holds_message) {
        seen.sockets += 1;
        let sockets = seen.sockets;
        found.extend(HttpBody::entries(frames, Some(format!("{}#{sockets}", origin(&url)))));
    }
    described(found, text, duplicates, (&method, &url))
}

/// Returns the entries of an exchange. The text of the exchange is a line before them if it mentions more messages than the
/// entries and the `duplicates` among them, since a message may be in a place where archives do not have one. Without
/// entries, method and URL are a line of text.
pub(super) fn described(
    mut found: Vec<FoundEntry<'static>>,
    text: &[u8],
    duplicates: usize,
    (method, url): (&str, &str),
) -> Vec<FoundEntry<'static>> {
    let given: usize = found.iter().map(|(_, entry)| mentions(entry.bytes())).sum();
    let is_missing = mentions(text) > given + duplicates;
    if is_missing || found.is_empty() {
        let line = if is_missing || url.is_empty() { text.to_vec() } else { format!("{method} {url}").trim().into() };
        found.insert(0, (0, LogLine::new(line).into()));
    }
    found
}

/// Returns the number of messages that a text may have. HTTP has methods too, so only the member `jsonrpc` counts.
fn mentions(text: &[u8]) -> usize {
    memmem::find_iter(text, b"\"jsonrpc").count()
}

/// The facts about an archive's exchanges so far.
#[derive(Default)]
pub(super) struct ArchiveFacts {
    /// The number of WebSockets that carried messages.
    sockets: u64,
    /// The origins that answered with messages.
    served: HashSet<String>,
}

/// The maximum number of these origins, and the maximum number of characters of each.
const SERVED: usize = 1 << 10;
const LONGEST: usize = 1 << 10;

impl ArchiveFacts {
    fn has_served(&self, url: &str) -> bool {
        self.served.contains(&origin(url).chars().take(LONGEST).collect::<String>())
    }
}

/// An HTTP exchange.
#[derive(Default)]
pub(super) struct HarExchange {
    pub method: String,
    pub url: String,
    /// The status of the response; 0 or less if a response never came.
    pub status: Option<i32>,
    /// The reason phrase, or the reason why a response never came.
    pub reason: String,
    /// The id of a session in the request.
    pub session: Option<String>,
    /// True if the request has an MCP header.
    pub is_mcp: bool,
    /// True if the request has credentials.
    pub is_authorized: bool,
    /// True if the request resumes a stream of events.
    pub is_resumption: bool,
    /// The [headers of MCP](request_headers) in the request.
    pub headers: Option<Arc<String>>,
    pub started: Option<Time>,
    pub took: Option<Decimal>,
}

impl HarExchange {
    pub(super) fn outcome(&self, has_response: bool, seen: &ArchiveFacts) -> HttpOutcome {
        let is_call = !matches!(&*self.method, "GET" | "DELETE");
        match self.status {
            Some(..=0) if !has_response => HttpOutcome::Failed,
            Some(405) if !is_call => HttpOutcome::Negotiated,
            // The session has ended.
            Some(404) if self.session.is_some() => HttpOutcome::Negotiated,
            Some(401) if !self.is_authorized && self.session.is_none() && !seen.has_served(&self.url) => {
                HttpOutcome::Negotiated
            }
            Some(400..=599) => HttpOutcome::Failed,
            _ => HttpOutcome::Done,
        }
    }

    /// Returns the entries of its bodies in a session, whose id may come with the response. Adds the exchange itself if
    /// it did not bring a message, unless it succeeded for a message that was sent. Empty if the exchange does not
    /// concern messages.
    pub fn entries(
        self,
        bodies: Vec<HttpBody>,
        answered_session: Option<String>,
        seen: &mut ArchiveFacts,
    ) -> Vec<FoundEntry<'static>> {
        if !(bodies.iter().any(HttpBody::holds_message) || self.is_mcp && self.status.is_some()) {
            return Vec::new();
        }
        let session = session(&self.url, self.session.as_deref().or(answered_session.as_deref()));
        let is_received = |body: &&HttpBody| body.sender == Some(Sender::Server);
        let has_message = bodies.iter().filter(is_received).any(HttpBody::holds_message);
        let is_sent = |body: &HttpBody| body.sender != Some(Sender::Server) && body.holds_message();
        let has_sent = bodies.iter().any(is_sent);
        let outcome = self.outcome(bodies.iter().any(|body| is_received(&body)), seen);
        let status = self.status.and_then(|status| u16::try_from(status).ok()).filter(|status| *status > 0);
        if has_message && matches!(status, Some(200..=299)) && seen.served.len() < SERVED {
            seen.served.insert(origin(&self.url).chars().take(LONGEST).collect());
        }
        let is_done = outcome == HttpOutcome::Done;
        let asked = bodies.iter().filter(|body| is_sent(body) && !is_done).flat_map(|body| ids(&body.bytes));
        let ids = asked.map(|id| String::from_utf8_lossy(&id).into()).collect::<Vec<Box<str>>>();
        let http = |ids| status.map(|status| Arc::new(Http { status: Some(status), outcome, ids, exchange: None }));
        let (of_received, of_sent) = (http(ids.clone()), http(Vec::new()).filter(|_| is_done && !has_message));
        let mut found: Vec<_> = HttpBody::entries(bodies, session.clone())
            .map(|(start, entry)| match entry {
                // An error page or an error of OAuth.
                Entry::Record(record)
                    if !is_done && record.sender == Some(Sender::Server) && !is_rpc(&record.bytes) =>
                {
                    (start, LogLine::new(record.bytes).into())
                }
                Entry::Record(record) => {
                    let is_received = record.sender == Some(Sender::Server);
                    let http = if is_received { of_received.clone() } else { of_sent.clone() };
                    let flags = Flags { resumed: self.is_resumption && is_received, ..record.flags };
                    let headers = self.headers.clone().filter(|_| !is_received);
                    (start, Record { http, flags, headers, ..record }.into())
                }
                line => (start, line),
            })
            .collect();
        if self.status.is_some() && !has_message && !(is_done && has_sent) {
            let exchange = Some(HttpExchange { method: self.method, url: self.url, reason: self.reason });
            let record = Http { status, outcome, ids, exchange }.record();
            let time = self.started.zip(self.took).and_then(|(started, took)| later(started, took));
            let (latency, sender) = (self.took, status.map(|_| Sender::Server));
            found.push((0, Record { time, latency, sender, session: session.map(Cow::Owned), ..record }.into()));
        }
        found
    }
}

/// A body that is not empty, or a part of one, with the facts about the message that it may be.
#[derive(Clone)]
pub(super) struct HttpBody {
    /// The offset of its text in the entry.
    start: usize,
    bytes: Vec<u8>,
    is_stream: bool,
    sender: Option<Sender>,
    time: Option<Time>,
    latency: Option<Decimal>,
    /// The id of the server-sent event that it is.
    event: Option<Box<str>>,
}

impl HttpBody {
    /// Returns the bodies of a request and of its response, with their times: `started`, and `took` in seconds. If the
    /// archive lists the `events` of the response, it may hold the stream as a whole too; parts of the stream that are
    /// listed as events are returned separately.
    pub(super) fn of_exchange(
        started: Option<Time>,
        took: Option<Decimal>,
        sent: Option<Self>,
        received: Option<Self>,
        events: Vec<Self>,
    ) -> (Vec<Self>, Vec<Self>) {
        let ended = started.zip(took).and_then(|(started, took)| later(started, took));
        let mut bodies: Vec<_> = sent.into_iter().map(|body| Self { time: started, ..body }).collect();
        let ids: HashSet<_> = bodies.iter().flat_map(|body| ids(&body.bytes)).collect();
        let known: HashSet<_> = events.iter().map(|event| event.bytes.trim_ascii().to_vec()).collect();
        bodies.extend(events);
        let parts = received.into_iter().flat_map(Self::events);
        let (again, parts): (Vec<_>, Vec<_>) = parts.partition(|part| known.contains(part.bytes.trim_ascii()));
        let last = parts.iter().rposition(|part| is_answer(&part.bytes, &ids));
        bodies.extend(parts.into_iter().enumerate().map(|(at, part)| {
            let answers = is_answer(&part.bytes, &ids) && (!part.is_stream || last == Some(at));
            // For a stream, the archive states the beginning and the end. The stream ends with the answer; earlier
            // parts do not have times.
            Self { time: ended.filter(|_| answers || !part.is_stream), latency: took.filter(|_| answers), ..part }
        }));
        (bodies, again)
    }

    /// Returns a captured body, whose last packet has this time: the parts of a stream came before, but for the answer that
    /// ends it.
    pub(super) fn captured(parts: Vec<Self>, time: Option<Time>) -> impl Iterator<Item = Self> {
        let count = parts.len();
        parts.into_iter().enumerate().map(move |(at, part)| {
            let is_end = at + 1 == count && objects(part.bytes.trim_ascii()).any(|message| !message.has("method"));
            Self { time: time.filter(|_| is_end || !part.is_stream), ..part }
        })
    }

    /// True if it is an `initialize`.
    pub(super) fn begins_session(&self) -> bool {
        objects(&self.bytes).any(|message| message.string("method").as_deref() == Some("initialize"))
    }

    /// Returns the `text` of a `postData` or `content`.
    fn within(object: &RawObject<'_>, whole: &[u8], sender: Sender) -> Option<Self> {
        let is_base64 = object.get("encoding") == Some(b"\"base64\"");
        let body = Self::new(object.get("text")?, whole, is_base64, Some(sender))?;
        let says_stream = object.string("mimeType").is_some_and(|mime| mime.contains("event-stream"));
        let is_stream = says_stream || body.is_stream;
        let decoded = if is_stream && !is_base64 { misread_utf8(&body.bytes) } else { None };
        Some(Self { is_stream, bytes: decoded.unwrap_or(body.bytes), ..body })
    }

    /// Returns the body in a string of an entry, decoded from Base64 if necessary, or in an object or array.
    pub(super) fn new(value: &[u8], whole: &[u8], is_base64: bool, sender: Option<Sender>) -> Option<Self> {
        let (quote, text) = match unescape(value) {
            Some(text) => (1, text),
            None if may_be_message(value) => (0, Cow::Borrowed(value)),
            None => return None,
        };
        let decoded = if is_base64 { STANDARD.decode(text.trim_ascii()).ok() } else { None };
        Self::of(offset_in(whole, value) + quote, decoded.unwrap_or_else(|| text.into_owned()), sender)
    }

    /// Returns a body of these bytes, unless they are blank.
    pub(super) fn of(start: usize, bytes: Vec<u8>, sender: Option<Sender>) -> Option<Self> {
        let fields: [&[u8]; 4] = [b"data:", b"event:", b"id:", b":"];
        let is_stream = fields.iter().any(|field| bytes.starts_with(field));
        let is_blank = bytes.trim_ascii().is_empty();
        (!is_blank).then_some(Self { start, bytes, is_stream, sender, time: None, latency: None, event: None })
    }

    /// Returns the server-sent events of a stream, and the lines between them; or the body itself if it is not a
    /// stream.
    pub(super) fn events(self) -> Vec<Self> {
        if !self.is_stream {
            return vec![self];
        }
        let parts = sse::events(&self.bytes).flat_map(|(event, lines)| {
            let others = sse::other_lines(lines).map(|line| (Cow::Borrowed(line), None));
            others.chain(std::iter::once((event.data, event_id(event.id))))
        });
        let part = |(bytes, event): (Cow<'_, [u8]>, _)| Self { bytes: bytes.into_owned(), event, ..self };
        parts.map(part).filter(|part| !part.bytes.trim_ascii().is_empty()).collect()
    }

    /// True if it is JSON-RPC.
    pub(super) fn holds_message(&self) -> bool {
        is_rpc(&self.bytes)
    }

    /// Returns the entries of bodies in a session, with their offsets.
    pub(super) fn entries(bodies: Vec<Self>, session: Option<String>) -> impl Iterator<Item = FoundEntry<'static>> {
        bodies.into_iter().map(move |body| (body.start, body.entry(session.as_deref())))
    }

    /// Returns a record if the body may be a message, otherwise a line of text.
    fn entry(self, session: Option<&str>) -> Entry<'static> {
        let text = self.bytes.trim_ascii();
        if !may_be_message(text) {
            return LogLine::new(text.to_vec()).into();
        }
        let session = session.map(|key| Cow::Owned(key.to_owned()));
        let (time, sender, latency) = (self.time, self.sender, self.latency);
        Record { time, sender, session, latency, event: self.event, ..Record::new(text.to_vec()) }.into()
    }
}

/// Returns the id of an event, unless it is empty.
fn event_id(id: &[u8]) -> Option<Box<str>> {
    (!id.is_empty()).then(|| String::from_utf8_lossy(id).into())
}

/// The characters of Windows-1252 for the bytes from 0x80 to 0x9F; Latin-1 has others.
const WINDOWS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// Returns the text of a stream whose bytes were read as Latin-1 or Windows-1252; `None` if it was not. Browsers write such
/// archives, although streams of events are [always UTF-8](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
fn misread_utf8(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok().filter(|text| !text.is_ascii())?;
    let of_windows = |letter| (0x80..).zip(WINDOWS.chars()).find(|(_, other)| *other == letter).map(|(byte, _)| byte);
    let byte = |letter| u8::try_from(letter).ok().or_else(|| of_windows(letter));
    let bytes = text.chars().map(byte).collect::<Option<Vec<u8>>>()?;
    std::str::from_utf8(&bytes).is_ok().then_some(bytes)
}

/// True if a text is JSON-RPC.
fn is_rpc(text: &[u8]) -> bool {
    Certainty::of(text.trim_ascii()) != Certainty::No
}

/// Returns the messages of a WebSocket (Chrome's and mitmproxy's `_webSocketMessages`), or the server-sent events of a
/// stream, if the archive lists them (`_eventSourceMessages`).
fn frames(entry: &RawObject<'_>, whole: &[u8], name: &str) -> Vec<HttpBody> {
    let frame = |frame: RawObject<'_>| {
        let opcode = frame.get("opcode");
        let sender = match frame.string("type").as_deref() {
            _ if name == "_eventSourceMessages" => Some(Sender::Server),
            Some("send") => Some(Sender::Client),
            Some("receive") => Some(Sender::Server),
            _ => None,
        };
        // Not close, ping, pong, or a frame by the browser.
        let is_usual = sender.is_some() && matches!(opcode, None | Some(b"0" | b"1" | b"2"));
        let time = frame.get("time").and_then(any);
        let body = HttpBody::new(frame.get("data")?, whole, opcode == Some(b"2"), sender)?;
        let event = frame.string("eventId").and_then(|id| event_id(id.as_bytes()));
        (is_usual || body.holds_message()).then_some(HttpBody { time, event, ..body })
    };
    let all = elements(entry.get(name).unwrap_or_default()).filter_map(RawObject::parse);
    all.filter_map(frame).collect()
}

/// Returns the ids of the requests in a body, as they are spelled.
pub(super) fn ids(bytes: &[u8]) -> Vec<Vec<u8>> {
    let requests = objects(bytes.trim_ascii()).filter(|message| message.has("method"));
    requests.filter_map(|message| message.get("id").map(<[u8]>::to_vec)).collect()
}

/// Returns the ids of the answers in a body, as they are spelled.
pub(super) fn answered_ids(bytes: &[u8]) -> Vec<Vec<u8>> {
    let answers = objects(bytes.trim_ascii()).filter(|message| !message.has("method"));
    answers.filter_map(|message| message.get("id").filter(|id| *id != b"null").map(<[u8]>::to_vec)).collect()
}

/// True if a body, or any message in a batch, answers a request with one of these ids.
pub(super) fn is_answer(bytes: &[u8], ids: &HashSet<Vec<u8>>) -> bool {
    answered_ids(bytes).iter().any(|id| ids.contains(id))
}

/// Returns scheme, host and port; the port only if it is not the default of the scheme.
fn origin(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_lowercase();
    let scheme = scheme.to_lowercase();
    let host = match &*scheme {
        "http" | "ws" => host.strip_suffix(":80").unwrap_or(&host),
        "https" | "wss" => host.strip_suffix(":443").unwrap_or(&host),
        _ => &host,
    };
    format!("{scheme}://{host}")
}

/// Returns the session id in the URL that a client of
/// [HTTP+SSE](https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse) posts to.
pub(super) fn posted_session(url: &[u8]) -> Option<String> {
    let names: [&[u8]; 2] = [b"sessionId=", b"session_id="];
    let start = names.iter().find_map(|name| Some(memmem::find(url, name)? + name.len()))?;
    let is_of_id = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let id: Vec<u8> = url[start..].iter().take_while(is_of_id).copied().collect();
    String::from_utf8(id).ok().filter(|id| !id.is_empty())
}

/// Returns the session id that the first event of a stream states.
pub(super) fn opened_session(stream: &[u8]) -> Option<String> {
    let endpoint = memmem::find(stream, b"endpoint").filter(|at| *at < "event: endpoint".len())?;
    posted_session(stream[endpoint..].split(|byte| *byte == b'{').next()?)
}

/// Returns the key of the session: the origin, and the session id.
fn session(url: &str, id: Option<&str>) -> Option<String> {
    let origin = (!url.is_empty()).then(|| origin(url))?;
    Some(id.map_or_else(|| origin.clone(), |id| format!("{origin}#{id}")))
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::texts;
    use super::*;

    fn found(entry: &str) -> Vec<(usize, Entry<'static>)> {
        entries(entry.as_bytes(), &mut ArchiveFacts::default())
    }

    fn post(sent: &str, content: &str) -> String {
        let sent = sent.replace('"', "\\\"");
        format!(
            "{{\"startedDateTime\":\"2026-01-05T10:00:00Z\",\"time\":1500,\"request\":{{\"method\":\"POST\",\"url\":\"http://h/\",\"postData\":{{\"text\":\"{sent}\"}}}},\"response\":{{\"content\":{content}}}}}"
        )
    }

    #[test]
    fn bodies_that_are_messages_and_others() {
        let ask = r#"{"id":1,"method":"x"}"#;
        let table = [
            (ask, r#"{"text":"{\"id\":1}"}"#, vec![ask, "{\"id\":1}"]),
            (ask, r#"{"text":"eyJpZCI6MX0=","encoding":"base64"}"#, vec![ask, "{\"id\":1}"]),
            (ask, r#"{"text":"not base64","encoding":"base64"}"#, vec![ask, "# not base64"]),
            (ask, r#"{"text":"Accepted"}"#, vec![ask, "# Accepted"]),
            (ask, r#"{"text":"  ","size":2}"#, vec![ask]),
            (ask, r#"{"size":0}"#, vec![ask]),
            (ask, "null", vec![ask]),
            (r#"[{"method":"x","params":[]}]"#, "{}", vec![r#"[{"method":"x","params":[]}]"#]),
            (r#"{"jsonrpc":"2.0"#, "{}", vec![r#"{"jsonrpc":"2.0"#]),
            ("", r#"{"text":"{\"id\":1,\"error\":{}}"}"#, vec![r#"{"id":1,"error":{}}"#]),
            (r#"{"method":"x"}"#, r#"{"text":"[{\"id\":1}]"}"#, vec!["# POST http://h/"]),
            ("[1]", r#"{"text":"{\"result\":1}"}"#, vec!["# POST http://h/"]),
        ];
        for (sent, content, expected) in table {
            assert_eq!(texts(&found(&post(sent, content))), expected, "{sent} {content}");
        }
        assert_eq!(texts(&found("{\"a\":1}")), ["# {\"a\":1}"]);
    }

    #[test]
    fn the_answer_has_the_stated_time_and_latency() {
        let stated = |sent: &str, got: &str, mime: &str| {
            let content = format!("{{\"mimeType\":\"{mime}\",\"text\":\"{}\"}}", got.replace('"', "\\\""));
            let all = found(&post(sent, &content)).into_iter().skip(1);
            let both = all.map(|(_, entry)| match entry {
                Entry::Record(record) => (record.time.is_some(), record.latency.map(|seconds| seconds.to_string())),
                Entry::LogLine(_) => (false, None),
            });
            both.collect::<Vec<_>>()
        };
        let took = || (true, Some("1.5".to_owned()));
        let ask = r#"{"id":"a","method":"x"}"#;
        assert_eq!(stated(ask, r#"{"id":"a","result":1}"#, ""), [took()]);
        assert_eq!(stated(ask, r#"{"id":"b","result":1}"#, ""), [(true, None)]);
        assert_eq!(stated(ask, r#"{"id":"a","method":"y"}"#, ""), [(true, None)]);
        assert_eq!(stated(&format!("[{ask}]"), r#"[{"id":"a","result":1}]"#, ""), [took()]);
        let stream = r#"data: {"id":"a","method":"y"}\n\ndata: {"id":"a","result":1}\n\n"#;
        assert_eq!(stated(ask, stream, "text/event-stream"), [(false, None), took()]);
    }

    #[test]
    fn server_sent_events() {
        let events = |text: &str| {
            let (bytes, sender) = (text.as_bytes().to_vec(), Some(Sender::Server));
            let body = HttpBody { start: 0, bytes, is_stream: true, sender, time: None, latency: None, event: None };
            let events = body.events().into_iter().map(|event| String::from_utf8_lossy(&event.bytes).into_owned());
            events.collect::<Vec<_>>()
        };
        assert_eq!(events("event: a\ndata: 1\ndata:2\nid: 3\n\n:data: 4\n\ndata\n\ndata:  5\n\n"), ["1\n2", " 5"]);
        assert_eq!(
            events("\u{feff}data: 1\r\rdata: 2\r\n\r\ndatum: 3\n\nretry: 1\n\ndata: cut"),
            ["1", "2", "datum: 3", "cut"]
        );
        assert_eq!(events("data: 1\n data: {}\noops\n\n\n"), ["data: {}", "oops", "1"]);
        assert_eq!(events(""), [""; 0]);
    }

    #[test]
    fn streams_that_were_read_as_latin() {
        for (text, read) in [
            ("Ã¼ â\u{82}¬ ð\u{9f}\u{98}\u{80}", Some("ü € 😀")),
            ("Ã¼ â‚¬", Some("ü €")),
            ("ü €", None),
            ("ü and Ã¼", None),
            ("日本 Ã¼", None),
            ("plain", None),
        ] {
            assert_eq!(misread_utf8(text.as_bytes()).as_deref(), read.map(str::as_bytes), "{text}");
        }
    }

    #[test]
    fn frames_of_other_kinds() {
        let socket = |frames: &str| {
            texts(&found(&format!("{{\"_webSocketMessages\":[{frames}],\"request\":{{\"url\":\"ws://h\"}}}}")))
        };
        let send = r#"{"type":"send","data":"{\"jsonrpc\":1}"}"#;
        assert_eq!(socket(send), ["{\"jsonrpc\":1}"]);
        for other in
            [r#"{"type":"send","opcode":8,"data":"x"}"#, r#"{"type":"error","data":"x"}"#, r#"{"type":"send"}"#, "1"]
        {
            assert_eq!(socket(&format!("{other},{send}")), ["{\"jsonrpc\":1}"], "{other}");
            assert_eq!(socket(other), ["# ws://h"], "{other}");
        }
        assert_eq!(
            socket(&format!("{send},{{\"type\":\"receive\",\"data\":\"[DONE]\"}}")),
            ["{\"jsonrpc\":1}", "# [DONE]"]
        );
    }

    #[test]
    fn messages_are_found_beside_odd_members() {
        let ask = r#"{"id":1,"method":"x"}"#;
        let quoted = r#"{\"id\":1,\"method\":\"x\"}"#;
        let answer = r#""response":{"content":{"text":"{\"id\":1,\"result\":1}"}}"#;
        let request = |more: &str| format!(r#""request":{{{more}"url":"http://h","postData":{{"text":"{quoted}"}}}}"#);
        let frame = |members: &str| format!(r#"{{{members}"data":"{{\"jsonrpc\":1}}"}}"#);
        let (got, pushed) = (r#"{"id":1,"result":1}"#, r#"{"jsonrpc":1}"#);
        let elsewhere = r#"{"request":{"postData":{"text":{"jsonrpc":1}}},"x":{"jsonrpc":2}}"#;
        let told = format!("# {elsewhere}");
        let nameless = r#"{"_eventSourceMessages":[{"":{"jsonrpc":2},"data":"{\"jsonrpc\":1}"}],"response":{"content":{"mimeType":"text/event-stream","text":"data: {\"jsonrpc\":1}\n\n"}}}"#;
        let nameless_told = format!("# {nameless}");
        let whole = [
            (format!("{{{},{answer}}}", request("")), vec![ask, got]),
            (format!("{{{},\"_eventSourceMessages\":[{}],{answer}}}", request(""), frame("")), vec![ask, pushed, got]),
            (format!("{{{},\"_webSocketMessages\":[{}],{answer}}}", request(""), frame("")), vec![ask, got, pushed]),
            (r#"{"request":{"postData":{"text":{"jsonrpc":1}}}}"#.to_owned(), vec![pushed]),
            (elsewhere.to_owned(), vec![&told, pushed]),
            (nameless.to_owned(), vec![&nameless_told, pushed]),
            (r#"{"_eventSourceMessages":[{"data":"{\"jsonrpc\":1}"}],"response":{"content":{"text":"data: {\"jsonrpc\":1}\n\n"}}}"#.to_owned(), vec![pushed]),
        ];
        for (entry, expected) in whole {
            assert_eq!(texts(&found(&entry)), expected, "{entry}");
        }
        let broken = format!("{{{},\"x\":oops}}", request(""));
        assert_eq!(entries(broken.as_bytes(), &mut ArchiveFacts::default()), []);
    }

    #[test]
    fn origins() {
        let table = [
            ("https://Example.org:443/a?b#c", "https://example.org"),
            ("HTTP://u:p@h:8080?x=//y", "http://h:8080"),
            ("http://[::1]:80/", "http://[::1]"),
            ("wss://h#x", "wss://h"),
            ("mcp://label/tools", "mcp://label"),
            ("no url", "no url"),
        ];
        for (url, expected) in table {
            assert_eq!(origin(url), expected, "{url}");
        }
    }
}
