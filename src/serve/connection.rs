//! Connections: their number, their lifetime, and the answers to their requests.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY,
    RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::body::{HttpError, PATIENCE, ResponseBody, ServiceResult, read};
use super::gate::Admission;
use super::shared::SharedState;
use super::{answer, protocol};

/// The maximum number of connections. Further ones wait until one ends.
const CONNECTIONS: usize = 512;
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
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(slot) = Arc::clone(&slots).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            // The limit of open files is reached.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        // A failure only delays answers.
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(|request| respond(request, &shared));
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(BUFFER);
            // Errors of the connection concern only the client.
            let _ = timeout(LIFE, http.serve_connection(TokioIo::new(stream), service)).await;
            drop(slot);
        });
    }
}

async fn respond(request: Request<Incoming>, shared: &Arc<SharedState>) -> ServiceResult {
    let (head, body) = request.into_parts();
    let admission = shared.gate.check(&head);
    let is_refused = admission.is_err();
    let answer = match admission {
        Ok(admission) => follow(&head, body, admission, shared).await,
        Err(refusal) => Err(refusal),
    };
    let mut response = answer.unwrap_or_else(Response::from);
    let status = response.status();
    let headers = response.headers_mut();
    if is_refused {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    for (name, value) in ALWAYS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    match status {
        StatusCode::UNAUTHORIZED => headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
        StatusCode::SERVICE_UNAVAILABLE => headers.insert(RETRY_AFTER, HeaderValue::from_static("1")),
        StatusCode::METHOD_NOT_ALLOWED => {
            let allowed = if head.uri.path().ends_with("/sparql") { "GET, HEAD, POST" } else { "GET, HEAD" };
            headers.insert(ALLOW, HeaderValue::from_static(allowed))
        }
        _ => None,
    };
    Ok(response)
}

async fn follow(
    head: &Parts,
    body: Incoming,
    admission: Admission<'_>,
    shared: &Arc<SharedState>,
) -> Result<Response<ResponseBody>, HttpError> {
    let path = match admission {
        Admission::Path(path) => path,
        Admission::Moved(path) => {
            let mut response = Response::new(ResponseBody::Whole(None));
            *response.status_mut() = StatusCode::SEE_OTHER;
            response.headers_mut().extend(HeaderValue::from_str(&path).ok().map(|path| (LOCATION, path)));
            return Ok(response);
        }
    };
    let reads = matches!(head.method, Method::GET | Method::HEAD);
    match path {
        "/sparql" if reads || head.method == Method::POST => {
            let body = if reads { Bytes::new() } else { read(body).await? };
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
        _ => Err(HttpError::new(StatusCode::NOT_FOUND, "not found; try /, /query or /sparql")),
    }
}
