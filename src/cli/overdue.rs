//! `unanswered --follow --after`: calls of a growing log that have waited too long for an answer.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use oxrdf::{Literal, Term, Variable};
use oxsdatatypes::Double;

use super::bounds::parse_seconds;
use super::filter::text_of;

use crate::overview::moment::parse;
use crate::query::QuerySolution;

/// The time between two looks at the clock.
const TICK: Duration = Duration::from_millis(100);
/// The maximum number of calls that are watched at once.
const MAX_OPEN: usize = 100_000;

/// Parses a duration such as 30s.
pub fn parse_wait(text: &str) -> Result<Duration, String> {
    let seconds = match text.strip_suffix("ms") {
        Some(number) => number.parse::<f64>().ok().map(|number| number / 1_000.0),
        None => parse_seconds(text).map(|seconds| f64::from(Double::from(seconds))),
    };
    let parsed = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    parsed.ok_or_else(|| "expected a duration such as 30s, 500ms or 2m".to_owned())
}

/// The calls of a log that wait for an answer.
pub struct OpenCalls {
    after: Duration,
    /// The columns of the rows that are written.
    variables: Arc<[Variable]>,
    /// The calls by their IRIs, in the order of the log.
    open: IndexMap<String, OpenCall>,
    /// The names of the programs of a session, by the column that has them.
    programs: HashMap<(Term, &'static str), Term>,
}

struct OpenCall {
    row: QuerySolution,
    /// Its time in seconds, and the instant at which it was read.
    time: Option<f64>,
    read: Instant,
}

impl OpenCalls {
    /// Creates a list without calls, from which a call is taken `after` it has waited so long.
    pub fn new(after: Duration, variables: Vec<Variable>) -> Self {
        Self { after, variables: variables.into(), open: IndexMap::new(), programs: HashMap::new() }
    }

    /// The columns of the rows.
    pub fn variables(&self) -> Vec<Variable> {
        self.variables.to_vec()
    }

    /// Takes messages of the log. Returns the rows of the calls that had waited too long, by the times of the log.
    fn take(&mut self, rows: Vec<QuerySolution>) -> Vec<QuerySolution> {
        let mut due = Vec::new();
        for row in rows {
            let text = |name: &str| row.get(name).map(|term| text_of(term).to_owned());
            let time = text("time").and_then(|time| parse(&time)).map(|(time, _)| time);
            if let Some(now) = time {
                due.extend(self.due(|call| call.time.map_or(0.0, |time| now - time)));
            }
            if let Some(request) = text("request") {
                self.open.shift_remove(&request);
            }
            let content = || text("content").and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
            if text("method").as_deref() == Some("initialize")
                && let Some((content, session)) = content().zip(row.get("session"))
            {
                for (column, pointer) in [("client", "/clientInfo/name"), ("server", "/serverInfo/name")] {
                    let name = content.pointer(pointer).and_then(|name| name.as_str()).map(Literal::from);
                    self.programs.extend(name.map(|name| ((session.clone(), column), name.into())));
                }
            }
            // MCP wants no answer to a cancelled request.
            if text("method").as_deref() == Some("notifications/cancelled") {
                let id = content().and_then(|content| content.get("requestId").map(ToString::to_string));
                let is_cancelled = |call: &OpenCall| {
                    let own = call.row.get("id").map(text_of);
                    own.zip(id.as_deref()).is_some_and(|(own, id)| own == id.trim_matches('"'))
                        && call.row.get("session") == row.get("session")
                };
                self.open.retain(|_, call| !is_cancelled(call));
            }
            if text("kind").as_deref() == Some("Request")
                && let Some(message) = text("message")
                && self.open.len() < MAX_OPEN
            {
                self.open.insert(message, OpenCall { row, time, read: Instant::now() });
            }
        }
        due
    }

    /// Takes out the calls that have waited too long, and returns their rows. `waited` gives the seconds that a call waited.
    fn due(&mut self, waited: impl Fn(&OpenCall) -> f64) -> Vec<QuerySolution> {
        let (after, variables, programs) = (self.after.as_secs_f64(), Arc::clone(&self.variables), &self.programs);
        let mut due = Vec::new();
        self.open.retain(|_, call| {
            let seconds = waited(call);
            if seconds >= after {
                due.push(call.row(&variables, seconds, programs));
            }
            seconds < after
        });
        due
    }
}

impl OpenCall {
    fn row(
        &self,
        variables: &Arc<[Variable]>,
        seconds: f64,
        programs: &HashMap<(Term, &'static str), Term>,
    ) -> QuerySolution {
        let is_of_tool = self.row.get("method").map(text_of) == Some("tools/call");
        let value = |variable: &Variable| match variable.as_str() {
            "waited" => Some(Literal::new_typed_literal(format!("{seconds:.3}"), oxrdf::vocab::xsd::DECIMAL).into()),
            "state" => Some(Literal::new_simple_literal("open").into()),
            // The answers' columns of these names differ.
            "after" | "until" => None,
            "tool" => self.row.get("about").filter(|_| is_of_tool).cloned(),
            name @ ("client" | "server") => {
                self.row.get("session").and_then(|session| programs.get(&(session.clone(), name))).cloned()
            }
            name => self.row.get(name).cloned(),
        };
        QuerySolution::from((Arc::clone(variables), variables.iter().map(value).collect::<Vec<_>>()))
    }
}

/// Passes rows to a writer.
pub type Pass<'p> = &'p mut (dyn FnMut(Vec<QuerySolution>) -> io::Result<()> + Send);

/// Passes on the rows of calls that have waited too long: as `read` passes on messages, and as time goes by.
pub fn watch<T>(calls: OpenCalls, pass: Pass<'_>, read: impl FnOnce(Pass<'_>) -> T) -> T {
    let shared = Mutex::new((calls, pass));
    let is_over = AtomicBool::new(false);
    let give = |take: &mut dyn FnMut(&mut OpenCalls) -> Vec<QuerySolution>| {
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let (calls, pass) = &mut *shared;
        let due = take(calls);
        if due.is_empty() { Ok(()) } else { pass(due) }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                thread::sleep(TICK);
                if give(&mut |calls| calls.due(|call| call.read.elapsed().as_secs_f64())).is_err() {
                    return;
                }
            }
        });
        let made = read(&mut |rows| {
            let mut rows = Some(rows);
            give(&mut |calls| calls.take(rows.take().unwrap_or_default()))
        });
        is_over.store(true, Ordering::Relaxed);
        made
    })
}
