//! A reverse proxy for MCP over HTTP: Streamable HTTP, and HTTP with SSE.
//!
//! Requests and responses pass as they are, event by event. Only `Accept-Encoding` is left out, since compressed messages could
//! not be read, and headers that belong to one connection. No header is logged but those that MCP defines, and whether there is
//! a `Last-Event-ID`.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::SystemTime;

use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, TRANSFER_ENCODING, UPGRADE,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use reqwest::Client;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tokio::sync::mpsc::{Sender as Parts, channel};
use url::Url;

use super::log::{HttpPart, LogQueue, Piece, RecordLog, RequestPart};
use crate::record::{Sender, is_mcp_header};
use crate::serve::ResponseBody;

/// The longest body of a request, in bytes.
const MAX_BODY: usize = 256 << 20;
const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";
/// Headers of one connection.
const OF_CONNECTION: [HeaderName; 6] = [
    CONNECTION,
    TRANSFER_ENCODING,
    UPGRADE,
    HOST,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("te"),
];

/// A proxy that listens, but does not answer yet.
pub struct Proxy {
    listener: TcpListener,
    target: Url,
}

impl Proxy {
    /// Listens at an address.
    ///
    /// # Errors
    ///
    /// The address is not this machine's, or taken.
    pub fn bind(address: SocketAddr, target: Url) -> io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address)?, target })
    }

    /// The URL for clients.
    ///
    /// # Errors
    ///
    /// The system does not know the address.
    pub fn url(&self) -> io::Result<String> {
        Ok(format!("http://{}{}", self.listener.local_addr()?, self.target.path()))
    }

    /// Passes requests to the target and records them, until the process ends.
    ///
    /// # Errors
    ///
    /// The system does not allow it.
    pub fn run(self, log: RecordLog) -> io::Result<()> {
        let (queue, _end) = log.start()?;
        let client = crate::context::passing_client(self.target.scheme() == "https").map_err(io::Error::other)?;
        let shared = Arc::new(Shared { target: self.target, client, queue });
        self.listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            loop {
                let (stream, _) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    let service = service_fn(move |request| respond(request, Arc::clone(&shared)));
                    // Errors of a connection concern only its client.
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        })
    }
}

struct Shared {
    target: Url,
    client: Client,
    queue: LogQueue,
}

async fn respond(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<ResponseBody>, Infallible> {
    Ok(pass(request, &shared).await.unwrap_or_else(|(status, text)| {
        let mut response = Response::new(ResponseBody::Whole(Some(Bytes::from(text + "\n"))));
        *response.status_mut() = status;
        response
    }))
}

/// Passes a request to the target, and its response back.
async fn pass(request: Request<Incoming>, shared: &Shared) -> Result<Response<ResponseBody>, (StatusCode, String)> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MAX_BODY).collect().await;
    let body = body.map_err(|error| {
        let text = format!("cannot read the request: {error}");
        let http = HttpPart { error: Some(text.clone()), ..HttpPart::default() };
        shared.queue.send(Piece { http: Some(http), ..Piece::now(None, b"") });
        (StatusCode::BAD_REQUEST, text)
    })?;
    let body = body.to_bytes();
    let mut url = shared.target.clone();
    if head.uri.path() != "/" {
        url.set_path(head.uri.path());
    }
    if let Some(query) = head.uri.query() {
        url.set_query(Some(query));
    }
    let session = session(&head.headers).or_else(|| {
        let (_, value) =
            url.query_pairs().find(|(name, _)| name.eq_ignore_ascii_case("sessionid") || name == "session_id")?;
        Some(value.as_ref().into())
    });
    let mut exchange = Exchange {
        queue: shared.queue.clone(),
        session,
        request: Some((SystemTime::now(), body.trim_ascii().to_vec())).filter(|(_, bytes)| !bytes.is_empty()),
        facts: Arc::new(request_part(&head.method, &url, &head.headers, &body)),
        response: HttpPart { resumed: head.headers.contains_key(LAST_EVENT), ..HttpPart::default() },
        ended: false,
    };
    // A request without a session may get one by its answer, and both belong to it.
    if exchange.session.is_some() {
        exchange.log_request();
    }
    let mut headers = without_connection(head.headers);
    headers.remove(ACCEPT_ENCODING);
    headers.remove(CONTENT_LENGTH);
    let sent = shared.client.request(head.method, url).headers(headers).body(body).send().await;
    let response = sent.map_err(|error| {
        // The query of the URL may hold secrets.
        let error = crate::cli::told(&error.without_url());
        exchange.fail(&error);
        (StatusCode::BAD_GATEWAY, format!("the server did not answer: {error}"))
    })?;
    exchange.session = self::session(response.headers()).or(exchange.session.take());
    exchange.log_request();
    let (status, headers) = (response.status(), response.headers().clone());
    exchange.response.status = Some(status.as_u16());
    let is_stream = headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let recorder = ResponseRecorder {
        needs_request: !status.is_success() || !is_stream,
        exchange,
        kept: Vec::new(),
        event: is_stream.then(EventLines::default),
    };
    let (parts, received) = channel(16);
    tokio::spawn(pass_body(response, parts, recorder));
    let mut passed = Response::new(ResponseBody::Parts(received));
    *passed.status_mut() = status;
    *passed.headers_mut() = without_connection(headers);
    Ok(passed)
}

/// A request, and the facts about its response so far. Dropped before its end, the client has closed the connection.
struct Exchange {
    queue: LogQueue,
    session: Option<Arc<str>>,
    /// The body of the request and its time, until they are logged.
    request: Option<(SystemTime, Vec<u8>)>,
    facts: Arc<RequestPart>,
    response: HttpPart,
    ended: bool,
}

impl Exchange {
    fn log_request(&mut self) {
        if let Some((time, bytes)) = self.request.take() {
            let headers = Some(self.facts.headers.clone());
            let (session, http) = (self.session.clone(), Some(HttpPart { headers, ..HttpPart::default() }));
            self.queue.send(Piece { time, sender: Some(Sender::Client), session, http, bytes });
        }
    }

    /// Logs what a side sent, or that nothing was sent.
    fn log(&self, sender: Option<Sender>, http: HttpPart, bytes: &[u8]) {
        self.queue.send(Piece { session: self.session.clone(), http: Some(http), ..Piece::now(sender, bytes) });
    }

    fn fail(&mut self, error: &str) {
        self.log_request();
        self.ended = true;
        let request = Some(Arc::clone(&self.facts));
        self.log(None, HttpPart { error: Some(error.to_owned()), request, ..HttpPart::default() }, b"");
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.ended {
            self.log_request();
            let http = HttpPart { closed: true, request: Some(Arc::clone(&self.facts)), ..self.response.clone() };
            self.log(Some(Sender::Client), http, b"");
        }
    }
}

fn request_part(method: &Method, url: &Url, headers: &HeaderMap, body: &[u8]) -> RequestPart {
    #[derive(Deserialize)]
    struct Sent {
        id: Option<Box<RawValue>>,
        method: Option<IgnoredAny>,
    }
    let one = || serde_json::from_slice::<Sent>(body).map(|message| vec![message]);
    let messages = serde_json::from_slice::<Vec<Sent>>(body).or_else(|_| one()).unwrap_or_default();
    let requests = messages.into_iter().filter(|message| message.method.is_some());
    // A query may hold secrets, as headers do.
    let mut url = url.clone();
    url.set_query(None);
    let (_, _) = (url.set_username(""), url.set_password(None));
    let of_mcp = headers.iter().filter(|(name, _)| is_mcp_header(name.as_str()));
    RequestPart {
        method: method.to_string(),
        url: url.to_string(),
        headers: of_mcp
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
            .collect(),
        ids: requests.filter_map(|request| request.id).collect(),
    }
}

fn session(headers: &HeaderMap) -> Option<Arc<str>> {
    headers.get(SESSION).and_then(|value| value.to_str().ok()).map(Arc::from)
}

fn without_connection(mut headers: HeaderMap) -> HeaderMap {
    for name in OF_CONNECTION {
        headers.remove(name);
    }
    headers
}

/// Passes the body of a response on, part by part; `None` behind the last, if the server sent all. Ends as the client closes
/// the connection, which closes the connection to the server.
async fn pass_body(mut response: reqwest::Response, parts: Parts<Option<Bytes>>, mut recorder: ResponseRecorder) {
    let mut left = response.content_length();
    loop {
        let part = tokio::select! {
            biased;
            part = response.chunk() => part,
            () = parts.closed() => return recorder.flush(),
        };
        let part = match part {
            Ok(part) => part,
            Err(error) => return recorder.fail(error),
        };
        if let Some(part) = &part {
            recorder.push(part);
            left = left.map(|left| left.saturating_sub(part.len() as u64));
        }
        let is_last = part.is_none();
        // Clients may close a connection behind the last byte.
        if is_last || left == Some(0) {
            recorder.end();
        }
        if parts.send(part).await.is_err() {
            return recorder.flush();
        }
        if is_last {
            return;
        }
    }
}

/// The lines of an event so far.
#[derive(Default)]
struct EventLines {
    id: Option<String>,
    data: Vec<u8>,
}

/// Finds the messages in the body of a response: the whole body, or the data of each event.
struct ResponseRecorder {
    exchange: Exchange,
    /// True until the request is logged, with a part of the response that is not a message.
    needs_request: bool,
    /// The body so far; of a stream, the part of a line.
    kept: Vec<u8>,
    /// The current event, if the body is a stream of events.
    event: Option<EventLines>,
}

impl ResponseRecorder {
    fn push(&mut self, bytes: &[u8]) {
        let room = MAX_BODY.saturating_sub(self.kept.len()).min(bytes.len());
        self.kept.extend_from_slice(bytes.get(..room).unwrap_or_default());
        let Some(mut event) = self.event.take() else { return };
        let end = memchr::memrchr(b'\n', &self.kept).map_or(0, |at| at + 1);
        let rest = self.kept.split_off(end);
        for line in std::mem::replace(&mut self.kept, rest).split_inclusive(|byte| *byte == b'\n') {
            let line = line.trim_ascii_end();
            if line.is_empty() {
                self.give_event(std::mem::take(&mut event));
            } else if let Some(text) = line.strip_prefix(b"data:") {
                if !event.data.is_empty() {
                    event.data.push(b'\n');
                }
                event.data.extend_from_slice(text.strip_prefix(b" ").unwrap_or(text));
            } else if let Some(id) = line.strip_prefix(b"id:") {
                event.id = Some(String::from_utf8_lossy(id.trim_ascii()).into_owned());
            }
        }
        self.event = Some(event);
    }

    /// Logs what is left.
    fn flush(&mut self) {
        let kept = std::mem::take(&mut self.kept);
        match self.event.take() {
            Some(event) => self.give_event(event),
            None => self.give(&kept, None),
        }
    }

    /// Logs what is left, and the response itself if it had no message.
    fn end(&mut self) {
        self.exchange.ended = true;
        self.flush();
        if self.needs_request {
            self.give_part(b"", None);
        }
    }

    fn fail(&mut self, error: reqwest::Error) {
        self.flush();
        self.exchange.response.error = Some(crate::cli::told(&error.without_url()));
        self.needs_request = true;
        self.end();
    }

    fn give_event(&mut self, event: EventLines) {
        self.give(&event.data, event.id);
    }

    fn give(&mut self, bytes: &[u8], event: Option<String>) {
        let bytes = bytes.trim_ascii();
        if !bytes.is_empty() {
            self.give_part(bytes, event);
        }
    }

    fn give_part(&mut self, bytes: &[u8], event: Option<String>) {
        let is_success = self.exchange.response.status.is_some_and(|status| (200..300).contains(&status));
        let has_message = matches!(bytes.first(), Some(b'{' | b'['));
        let states_request = std::mem::take(&mut self.needs_request) && !(is_success && has_message);
        let request = states_request.then(|| Arc::clone(&self.exchange.facts));
        let http = HttpPart { event, request, ..self.exchange.response.clone() };
        self.exchange.log(Some(Sender::Server), http, bytes);
    }
}
