//! Connections: their number, their lifetime, and the answers to their requests.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY,
    RETRY_AFTER, SET_COOKIE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::body::{HttpError, PATIENCE, ResponseBody, ServiceResult, read};
use super::gate::Admission;
use super::shared::SharedState;
use super::{answer, protocol};

/// The maximum number of connections. A further one replaces the oldest that has not shown the token, or waits for one
/// to end.
const CONNECTIONS: usize = 512;
/// The minimum time that a connection keeps its place: enough to send a request with the token.
const FIRST: Duration = Duration::from_millis(200);
/// The maximum size of a head, and of a connection's buffers, in bytes.
const BUFFER: usize = 64 << 10;
/// The maximum lifetime of a connection, active or not: longer than any download of a page.
const LIFE: Duration = Duration::from_secs(600);

/// Headers of every answer. The policy is for answers that are not pages.
const ALWAYS: [(HeaderName, &str); 6] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
];

/// Accepts connections until the task is aborted.
pub(super) async fn accept(listener: TcpListener, shared: Arc<SharedState>) {
    let mut places = ConnectionSlots { free: Arc::new(Semaphore::new(CONNECTIONS)), strangers: VecDeque::new() };
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // The limit of open files is reached.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Some(place) = places.take().await else { return };
        // A failure only delays answers.
        let _ = stream.set_nodelay(true);
        let (shared, is_known) = (Arc::clone(&shared), Arc::new(AtomicBool::new(false)));
        let known = Arc::clone(&is_known);
        let task = tokio::spawn(async move {
            let service = service_fn(|request| respond(request, &shared, &known));
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(BUFFER);
            // Errors of the connection concern only the client.
            let _ = timeout(LIFE, http.serve_connection(TokioIo::new(stream), service)).await;
            drop(place);
        });
        places.strangers.push_back(UnknownClient { since: Instant::now(), is_known, task: task.abort_handle() });
    }
}

/// Places for connections.
struct ConnectionSlots {
    free: Arc<Semaphore>,
    /// Connections in order of arrival; some have since shown the token, or ended.
    strangers: VecDeque<UnknownClient>,
}

/// A connection that has not yet shown the token.
struct UnknownClient {
    since: Instant,
    is_known: Arc<AtomicBool>,
    task: AbortHandle,
}

impl ConnectionSlots {
    /// Returns a free place, if necessary by ending the oldest stranger.
    async fn take(&mut self) -> Option<OwnedSemaphorePermit> {
        if self.strangers.len() > 2 * CONNECTIONS {
            self.strangers.retain(UnknownClient::is_here);
        }
        loop {
            while self.strangers.front().is_some_and(|oldest| !oldest.is_here()) {
                self.strangers.pop_front();
            }
            let free = Arc::clone(&self.free).acquire_owned();
            let until = self.strangers.front().map_or_else(|| Instant::now() + PATIENCE, |oldest| oldest.since + FIRST);
            if let Ok(place) = timeout_at(until, free).await {
                return place.ok();
            }
            if let Some(oldest) = self.strangers.front().filter(|oldest| oldest.is_here()) {
                oldest.task.abort();
            }
            // The place is free once the task has ended.
            tokio::task::yield_now().await;
        }
    }
}

impl UnknownClient {
    fn is_here(&self) -> bool {
        !self.is_known.load(Ordering::Relaxed) && !self.task.is_finished()
    }
}

async fn respond(request: Request<Incoming>, shared: &Arc<SharedState>, is_known: &AtomicBool) -> ServiceResult {
    let (head, body) = request.into_parts();
    let answer = match shared.gate.check(&head) {
        Ok(entry) => {
            is_known.store(true, Ordering::Relaxed);
            follow(&head, body, entry, shared).await
        }
        Err(refusal) => Err(refusal),
    };
    let mut response = answer.unwrap_or_else(Response::from);
    let status = response.status();
    let headers = response.headers_mut();
    if !is_known.load(Ordering::Relaxed) {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    for (name, value) in ALWAYS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    match status {
        StatusCode::UNAUTHORIZED => headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
        StatusCode::SERVICE_UNAVAILABLE => headers.insert(RETRY_AFTER, HeaderValue::from_static("1")),
        StatusCode::METHOD_NOT_ALLOWED => {
            let allowed = if head.uri.path() == "/sparql" { "GET, HEAD, POST" } else { "GET, HEAD" };
            headers.insert(ALLOW, HeaderValue::from_static(allowed))
        }
        _ => None,
    };
    Ok(response)
}

async fn follow(
    head: &Parts,
    body: Incoming,
    entry: Admission,
    shared: &Arc<SharedState>,
) -> Result<Response<ResponseBody>, HttpError> {
    if let Admission::New(cookie) = entry {
        let mut response = Response::new(ResponseBody::Whole(None));
        *response.status_mut() = StatusCode::SEE_OTHER;
        response.headers_mut().insert(LOCATION, HeaderValue::from_static("/"));
        let cookie = HeaderValue::from_str(&cookie);
        response.headers_mut().extend(cookie.ok().map(|cookie| (SET_COOKIE, cookie)));
        return Ok(response);
    }
    let reads = matches!(head.method, Method::GET | Method::HEAD);
    match head.uri.path() {
        "/sparql" if reads || head.method == Method::POST => {
            let body = if reads { Vec::new() } else { read(body).await? };
            match protocol::asked(head, &body)? {
                Some(asked) => answer::answer(Arc::clone(shared), shared.live().await, asked).await,
                None => protocol::description(head),
            }
        }
        "/" if reads => Ok(shared.live().await.report.as_ref().unwrap_or(&shared.ask).response()),
        "/query" if reads => Ok(shared.ask.response()),
        "/" | "/query" | "/sparql" => {
            Err(HttpError::new(StatusCode::METHOD_NOT_ALLOWED, format!("{} is not for this", head.method)))
        }
        _ => Err(HttpError::new(StatusCode::NOT_FOUND, "there are /, /query and /sparql")),
    }
}
