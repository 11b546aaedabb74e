//! Connections: how many there are, how long they last, and what each request on them gets.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY, RETRY_AFTER,
    SET_COOKIE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::body::{Answered, Outgoing, PATIENCE, Refusal, read};
use super::gate::Entry;
use super::{Shared, answer, protocol};

/// Connections at a time; more wait for one of them to end.
const CONNECTIONS: usize = 512;
/// Bytes of a head, and of what is read or written ahead for a connection.
const BUFFER: usize = 64 << 10;
/// How long a connection lasts at most, whatever is going on with it: nobody takes longer to read a page.
const LIFE: Duration = Duration::from_secs(600);

/// Headers of every answer; the policy is that of what is not a page.
const ALWAYS: [(HeaderName, &str); 6] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
];

/// Takes connections, without an end.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let open = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(permit) = Arc::clone(&open).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            // No more files can be open now.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Without it, answers only come later.
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(|request| respond(request, &shared));
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(BUFFER);
            // How it ends is the client's affair.
            let _ = timeout(LIFE, http.serve_connection(TokioIo::new(stream), service)).await;
            drop(permit);
        });
    }
}

async fn respond(request: Request<Incoming>, shared: &Arc<Shared>) -> Answered {
    let (head, body) = request.into_parts();
    let mut response = follow(&head, body, shared).await.unwrap_or_else(Response::from);
    let status = response.status();
    let headers = response.headers_mut();
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

async fn follow(head: &Parts, body: Incoming, shared: &Arc<Shared>) -> Result<Response<Outgoing>, Refusal> {
    if let Entry::New(cookie) = shared.gate.check(head)? {
        let mut response = Response::new(Outgoing::Whole(None));
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
            Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, format!("{} is not for this", head.method)))
        }
        _ => Err(Refusal::new(StatusCode::NOT_FOUND, "there are /, /query and /sparql")),
    }
}
