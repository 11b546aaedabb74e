//! A reverse proxy for MCP over HTTP: Streamable HTTP, and HTTP with SSE.
//!
//! Requests and responses pass as they are, event by event. Only `Accept-Encoding` is left out, since compressed messages could
//! not be read, and headers that belong to one connection. No header is logged but `Mcp-Session-Id`.

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
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use reqwest::Client;
use tokio::sync::mpsc::{Sender as Parts, channel};
use url::Url;

use super::log::{LogQueue, Piece, RecordLog};
use crate::record::Sender;
use crate::serve::ResponseBody;

/// The longest body of a request, in bytes.
const MAX_BODY: usize = 256 << 20;
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
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
        shared.queue.send(Piece { status: Some(status.as_u16()), ..Piece::now(None, text.as_bytes()) });
        let mut response = Response::new(ResponseBody::Whole(Some(Bytes::from(text + "\n"))));
        *response.status_mut() = status;
        response
    }))
}

/// Passes a request to the target, and its response back.
async fn pass(request: Request<Incoming>, shared: &Shared) -> Result<Response<ResponseBody>, (StatusCode, String)> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MAX_BODY).collect().await;
    let body = body.map_err(|error| (StatusCode::BAD_REQUEST, format!("cannot read the request: {error}")))?.to_bytes();
    let mut url = shared.target.clone();
    if head.uri.path() != "/" {
        url.set_path(head.uri.path());
    }
    if let Some(query) = head.uri.query() {
        url.set_query(Some(query));
    }
    let mut session = session(&head.headers).or_else(|| {
        let (_, value) =
            url.query_pairs().find(|(name, _)| name.eq_ignore_ascii_case("sessionid") || name == "session_id")?;
        Some(value.as_ref().into())
    });
    // A request without a session may get one by its answer, and both belong to it.
    let mut waiting = Some(SystemTime::now()).filter(|_| !body.is_empty());
    let mut log_request = |session: &Option<Arc<str>>| {
        if let Some(time) = waiting.take() {
            let bytes = body.trim_ascii().to_vec();
            shared.queue.send(Piece {
                time,
                sender: Some(Sender::Client),
                session: session.clone(),
                status: None,
                bytes,
            });
        }
    };
    if session.is_some() {
        log_request(&session);
    }
    let mut headers = without_connection(head.headers);
    headers.remove(ACCEPT_ENCODING);
    headers.remove(CONTENT_LENGTH);
    let sent = shared.client.request(head.method, url).headers(headers).body(body.clone()).send().await;
    let response = match sent {
        Ok(response) => response,
        Err(error) => {
            log_request(&session);
            return Err((StatusCode::BAD_GATEWAY, format!("the server did not answer: {}", crate::cli::told(&error))));
        }
    };
    session = self::session(response.headers()).or(session);
    log_request(&session);
    let (status, headers) = (response.status(), response.headers().clone());
    let is_stream = headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let recorder = ResponseRecorder {
        queue: shared.queue.clone(),
        session,
        status: Some(status.as_u16()).filter(|_| !status.is_success()),
        kept: Vec::new(),
        data: is_stream.then(Vec::new),
    };
    let (parts, received) = channel(16);
    tokio::spawn(pass_body(response, parts, recorder));
    let mut passed = Response::new(ResponseBody::Parts(received));
    *passed.status_mut() = status;
    *passed.headers_mut() = without_connection(headers);
    Ok(passed)
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

/// Passes the body of a response on, part by part; `None` behind the last, if the server sent all.
async fn pass_body(mut response: reqwest::Response, parts: Parts<Option<Bytes>>, mut recorder: ResponseRecorder) {
    while let Ok(part) = response.chunk().await {
        let is_last = part.is_none();
        if let Some(part) = &part {
            recorder.push(part);
        }
        if parts.send(part).await.is_err() || is_last {
            break;
        }
    }
    recorder.end();
}

/// Finds the messages in the body of a response: the whole body, or the data of each event.
struct ResponseRecorder {
    queue: LogQueue,
    session: Option<Arc<str>>,
    status: Option<u16>,
    /// The body so far; of a stream, the part of a line.
    kept: Vec<u8>,
    /// The data of the current event, if the body is a stream of events.
    data: Option<Vec<u8>>,
}

impl ResponseRecorder {
    fn push(&mut self, bytes: &[u8]) {
        let room = MAX_BODY.saturating_sub(self.kept.len()).min(bytes.len());
        self.kept.extend_from_slice(bytes.get(..room).unwrap_or_default());
        let Some(mut data) = self.data.take() else { return };
        let Some(end) = memchr::memrchr(b'\n', &self.kept) else {
            self.data = Some(data);
            return;
        };
        let rest = self.kept.split_off(end + 1);
        for line in std::mem::replace(&mut self.kept, rest).split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                self.give(&std::mem::take(&mut data));
            } else if let Some(text) = line.strip_prefix(b"data:") {
                if !data.is_empty() {
                    data.push(b'\n');
                }
                data.extend_from_slice(text.strip_prefix(b" ").unwrap_or(text));
            }
        }
        self.data = Some(data);
    }

    fn end(mut self) {
        let (kept, data) = (std::mem::take(&mut self.kept), self.data.take());
        self.give(&data.unwrap_or(kept));
        if self.status.is_some() {
            self.queue.send(self.piece(b"the response has no text"));
        }
    }

    fn piece(&self, bytes: &[u8]) -> Piece {
        Piece { session: self.session.clone(), status: self.status, ..Piece::now(Some(Sender::Server), bytes) }
    }

    /// Records a message, or text.
    fn give(&mut self, bytes: &[u8]) {
        let bytes = bytes.trim_ascii();
        if !bytes.is_empty() {
            self.queue.send(self.piece(bytes));
            self.status = None;
        }
    }
}
