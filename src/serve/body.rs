//! Bodies of requests and answers.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt as _, Collected, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::CONTENT_TYPE;
use hyper::{Response, StatusCode};
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

/// The maximum size of a request, in bytes: queries are short.
const LONGEST: usize = 128 << 10;
/// The time limit for receiving a head, and for receiving a body.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The body of an answer.
pub enum ResponseBody {
    /// The whole body; `None` once it is sent.
    Whole(Option<Bytes>),
    /// Parts as they arrive, then `None`. Without that `None`, the connection ends with an error, so that a partial
    /// body never looks complete.
    Parts(Receiver<Option<Bytes>>),
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Parts(parts) => parts.poll_recv(context).map(|part| match part {
                Some(part) => part.map(|part| Ok(Frame::data(part))),
                None => Some(Err(io::Error::other("not all of the answer could be written"))),
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Parts(_) => SizeHint::default(),
        }
    }
}

/// A refused request, with the reason.
#[derive(Debug)]
pub(super) struct HttpError {
    pub status: StatusCode,
    text: String,
}

impl HttpError {
    pub fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }
}

impl From<HttpError> for Response<ResponseBody> {
    fn from(refusal: HttpError) -> Self {
        let mut response = whole("text/plain; charset=utf-8", refusal.text + "\n");
        *response.status_mut() = refusal.status;
        response
    }
}

/// Creates an answer with a complete body.
pub(super) fn whole(media_type: &'static str, body: impl Into<Bytes>) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::Whole(Some(body.into())));
    response.headers_mut().insert(CONTENT_TYPE, hyper::http::HeaderValue::from_static(media_type));
    response
}

/// Reads the body of a request.
pub(super) async fn read(body: Incoming) -> Result<Bytes, HttpError> {
    let too_long = || {
        let text = format!("a request has at most {} KiB here", LONGEST >> 10);
        HttpError::new(StatusCode::PAYLOAD_TOO_LARGE, text)
    };
    if body.size_hint().lower() > LONGEST as u64 {
        return Err(too_long());
    }
    let too_slow = |_| HttpError::new(StatusCode::REQUEST_TIMEOUT, "the request took too long to arrive");
    let read = timeout(PATIENCE, Limited::new(body, LONGEST).collect()).await.map_err(too_slow)?;
    read.map(Collected::to_bytes).map_err(|error| match error.is::<LengthLimitError>() {
        true => too_long(),
        false => HttpError::new(StatusCode::BAD_REQUEST, error.to_string()),
    })
}

/// The result type of a service that never fails.
pub(super) type ServiceResult = Result<Response<ResponseBody>, Infallible>;
