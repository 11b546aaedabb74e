//! Queries, each on its own thread, and their answers as they are found.

use std::future::{Future as _, poll_fn};
use std::io::{self, Write};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, timeout, timeout_at};

use super::body::{HttpError, ResponseBody, whole};
use super::media::{GRAPHS, ROWS, choose};
use super::protocol::QueryRequest;
use super::shared::{LiveContent, ServedData, SharedState};
use crate::query::results::{write_boolean, write_graph, write_solutions};
use crate::query::{
    Answer, Cancel, Cause, Dataset, Form, Query, QueryError, ResultsError, Solutions, Table, resident_bytes,
};
use crate::schema::QuerySchemas;
use crate::sink::SinkError;

/// The size of a part of an answer, in bytes. A shorter answer is sent when complete, and can still be refused until
/// then.
const PART: usize = 64 << 10;
/// The number of parts that may wait for a client.
const AHEAD: usize = 4;
/// The interval at which a running query is checked.
const TICK: Duration = Duration::from_millis(10);
/// The time that a cancelled query has to stop.
const GRACE: Duration = Duration::from_millis(500);
/// The time that a cancelled query has to release its memory.
const RELEASE: Duration = Duration::from_secs(5);

type Head = Result<Response<ResponseBody>, HttpError>;

/// Answers a query.
pub(super) async fn answer(shared: Arc<SharedState>, live: Arc<LiveContent>, asked: QueryRequest) -> Head {
    let time = shared.limits.time;
    let busy = |_| HttpError::new(StatusCode::SERVICE_UNAVAILABLE, "too many queries run already: ask again later");
    let slot = timeout(time, Arc::clone(&shared.slots).acquire_owned()).await.map_err(busy)?;
    let deadline = Instant::now() + time;
    let cancel = Cancel::default();
    let (head, begun) = oneshot::channel();
    let mut writer = HttpAnswerWriter {
        media_type: "",
        head: Some(head),
        part: Vec::new(),
        parts: None,
        deadline,
        handle: Handle::current(),
    };
    let work = spawn_blocking({
        let (shared, live, cancel) = (Arc::clone(&shared), Arc::clone(&live), cancel.clone());
        move || {
            let ended = write(&shared, &live, &asked, &cancel, &mut writer);
            // Any later failure is only a consequence of the cause.
            writer.end(ended.map_err(|refusal| cancel.cause().map_or(refusal, |cause| ended_by(&cause))));
        }
    });
    tokio::spawn(watch(work, cancel, deadline, slot, (Arc::clone(&shared), live.memory)));
    let (mut begun, mut exhausted) = (pin!(timeout_at(deadline + GRACE, begun)), pin!(shared.exhausted.notified()));
    let head = poll_fn(|context| match exhausted.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => begun.as_mut().poll(context).map(Some),
    });
    match head.await {
        Some(Ok(Ok(head))) => head,
        Some(Ok(Err(_))) => Err(HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "the query ended without an answer")),
        Some(Err(_)) => Err(ended_by(&Cause::TimedOut)),
        None => Err(ended_by(&Cause::OutOfMemory)),
    }
}

/// Cancels a query that exceeds its time limit. If all queries together exceed the memory limit, the first of them is
/// cancelled. A query that does not stop leaves its slot to the next one, and is then last in that order.
async fn watch(
    mut work: JoinHandle<()>,
    cancel: Cancel,
    deadline: Instant,
    slot: Result<OwnedSemaphorePermit, tokio::sync::AcquireError>,
    (shared, memory): (Arc<SharedState>, u64),
) {
    let resident = || resident_bytes().unwrap_or_default();
    // Allocators keep some memory of earlier queries, which is not this query's own.
    let most = memory.max(resident().saturating_add(shared.limits.memory / 8));
    let mut place = (false, shared.asked.fetch_add(1, Ordering::Relaxed));
    shared.running().insert(place);
    let (mut slot, mut beyond) = (Some(slot), None);
    while timeout(TICK, &mut work).await.is_err() {
        let now = Instant::now();
        if now > deadline {
            cancel.cancel(Cause::TimedOut);
        }
        if now > deadline + GRACE && slot.take().is_some() {
            shared.running().remove(&place);
            place.0 = true;
            shared.running().insert(place);
        }
        let resident = resident();
        if resident <= most || shared.running().first() != Some(&place) {
            beyond = None;
            continue;
        }
        cancel.cancel(Cause::OutOfMemory);
        if *beyond.get_or_insert(now) + RELEASE < now || resident > most.saturating_add(shared.limits.memory / 2) {
            shared.exhausted.notify_waiters();
        }
    }
    shared.running().remove(&place);
}

fn ended_by(cause: &Cause) -> HttpError {
    HttpError::new(StatusCode::SERVICE_UNAVAILABLE, cause.to_string())
}

fn bad(error: impl ToString) -> HttpError {
    HttpError::new(StatusCode::BAD_REQUEST, error.to_string())
}

fn failed(error: impl ToString) -> HttpError {
    HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

/// Writes the answer to a query.
fn write(
    shared: &SharedState,
    live: &LiveContent,
    asked: &QueryRequest,
    cancel: &Cancel,
    writer: &mut HttpAnswerWriter,
) -> Result<(), HttpError> {
    let QueryRequest { query, default_graphs, named_graphs, accept } = asked;
    let base = shared.base.as_deref();
    let schemas = Arc::new(QuerySchemas::new(shared.worker.clone()));
    let mut query = Query::parse(query, base).map_err(bad)?.with_schemas(&schemas);
    if !default_graphs.is_empty() || !named_graphs.is_empty() {
        query = query.with_dataset(default_graphs.clone(), named_graphs.clone());
    }
    if query.uses_services() {
        return Err(bad("the query calls another server with SERVICE, which this one never does"));
    }
    let own;
    let dataset = match &live.data {
        ServedData::Stored(dataset) => dataset,
        ServedData::Logs { all, .. } if !needs_own(&query) => all,
        ServedData::Logs { load, .. } => {
            own = Dataset::new(&query, false).map_err(failed)?;
            let mut loading = own.load(cancel).map_err(failed)?;
            load(&mut loading, &query).map_err(failed)?;
            loading.commit().map_err(failed)?;
            &own
        }
    };
    let most = shared.limits.rows;
    let written = match query.form() {
        Form::Graph => {
            let (media_type, syntax) = choose(accept.as_deref(), GRAPHS)?;
            writer.media_type = media_type;
            let Answer::Graph(triples) = dataset.answer(&query, cancel).map_err(failed)? else {
                return Err(failed("the answer is not a graph"));
            };
            write_graph(Box::new(limited(triples, most)), syntax, base, &mut *writer).map(drop)
        }
        Form::Select | Form::Ask => {
            let (media_type, format) = choose(accept.as_deref(), ROWS)?;
            writer.media_type = media_type;
            match dataset.answer(&query, cancel).map_err(failed)? {
                Answer::Boolean(truth) => write_boolean(truth, format, &mut *writer),
                Answer::Solutions(Solutions { variables, rows }) => {
                    let solutions = Solutions { variables, rows: Box::new(limited(rows, most)) };
                    let table = Table { base: shared.base.clone(), ..Table::default() };
                    write_solutions(solutions, format, &table, &mut *writer).map(drop)
                }
                Answer::Graph(_) => return Err(failed("the answer is a graph")),
            }
        }
    };
    written.map_err(|error| match error {
        // The format cannot carry a literal or a predicate.
        ResultsError::Sink(SinkError::NotXml { .. } | SinkError::NotXmlName { .. }) => {
            HttpError::new(StatusCode::NOT_ACCEPTABLE, error.to_string())
        }
        ResultsError::Query(QueryError::Server(_)) => bad(error),
        _ => failed(error),
    })
}

/// Returns true if a query distinguishes graphs, or asks for data that is loaded only on demand.
fn needs_own(query: &Query) -> bool {
    query.has_dataset() || query.uses_graphs() || query.names_provenance() || query.names_log_lines()
}

/// Returns the items up to a maximum, with an error in place of the others.
fn limited<'a, T: 'a>(
    items: impl Iterator<Item = Result<T, QueryError>> + 'a,
    most: u64,
) -> impl Iterator<Item = Result<T, QueryError>> + 'a {
    let error = move || format!("the answer has more than {most} rows: ask for less, or for more with --max-rows");
    items.zip(1_u64..).map(move |(item, number)| match number > most {
        true => Err(QueryError::Server(error().into())),
        false => item,
    })
}

/// Sends an answer as it is written.
struct HttpAnswerWriter {
    media_type: &'static str,
    /// The receiver of the head, until it is sent.
    head: Option<oneshot::Sender<Head>>,
    part: Vec<u8>,
    parts: Option<mpsc::Sender<Option<Bytes>>>,
    deadline: Instant,
    handle: Handle,
}

impl HttpAnswerWriter {
    fn send(&mut self, part: Option<Bytes>) -> io::Result<()> {
        if let Some(head) = self.head.take() {
            let (sender, receiver) = mpsc::channel(AHEAD);
            self.parts = Some(sender);
            let mut response = Response::new(ResponseBody::Parts(receiver));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(self.media_type));
            head.send(Ok(response)).map_err(|_| io::ErrorKind::BrokenPipe)?;
        }
        let Some(parts) = &self.parts else { return Ok(()) };
        // A client that does not read gets no more time than a query.
        let sent = self.handle.block_on(timeout_at(self.deadline, parts.send(part)));
        sent.map_err(|_| io::ErrorKind::TimedOut)?.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Ends the answer: with the rest, or cut off if it is incomplete.
    fn end(mut self, ended: Result<(), HttpError>) {
        let part = std::mem::take(&mut self.part);
        if let Some(head) = self.head.take() {
            // The receiver may be gone.
            drop(head.send(ended.map(|()| whole(self.media_type, part))));
        } else if ended.is_ok() && self.send(Some(part.into())).is_ok() {
            let _ = self.send(None);
        }
    }
}

impl Write for HttpAnswerWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part.extend_from_slice(bytes);
        if self.part.len() > PART {
            let part = std::mem::take(&mut self.part);
            self.send(Some(part.into()))?;
        }
        Ok(bytes.len())
    }

    /// Does nothing: parts are sent when they are full.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
