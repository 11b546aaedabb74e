//! Failures: error responses, failures that tools and tasks (MCP) report, and HTTP exchanges.
//!
//! | not a failure | known by |
//! |---|---|
//! | negotiation of HTTP | [`HttpOutcome::Negotiated`] |
//! | a version of MCP that is not supported | error -32022, or -32602 with `supported` and `requested` in its data |
//! | a URL that has to be visited first (MCP) | error -32042 |
//! | a request that was cancelled, or that later content overtook (LSP, ACP) | errors -32800 to -32802 |
//! | a request that was cancelled (MCP) | the cancellation before the answer |
//! | a failure that was reported before | an earlier answer to the request |
//!
//! A failed task is one failure, however often the log reports it.

use std::collections::{HashMap, HashSet};

use super::{FailureKind, Name};
use crate::json::KeyedHashes;
use crate::message::{ErrorMember, ErrorObject, Message, Payload};
use crate::record::{Http, HttpOutcome, Protocols};

/// The maximum number of failed tasks of a session that are kept, and of requests for the results of tasks.
const REMEMBERED: usize = 1 << 12;
/// The maximum length, in bytes, of task ids that are kept.
const LONGEST: usize = 1 << 10;

/// True if an error response is a failure. `asked` are the protocols of its request, as far as they are known.
fn is_failure(error: &ErrorObject<'_>, asked: Protocols) -> bool {
    let has_versions = |data: &Payload<'_>| ["supported", "requested"].iter().all(|name| data.member(name).is_some());
    match error.code.as_deref() {
        Some("-32022" | "-32042") => !asked.has(Protocols::MCP),
        Some("-32602") => !(asked.has(Protocols::MCP) && error.data.as_ref().is_some_and(has_versions)),
        Some("-32800" | "-32801" | "-32802") => asked.is_any() && !asked.has(Protocols::LSP.or(Protocols::ACP)),
        _ => true,
    }
}

/// The tasks of a session whose failure was reported.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    failed: HashSet<Box<str>, KeyedHashes>,
    /// The open requests for the results of tasks.
    asked: HashMap<Name, Box<str>, KeyedHashes>,
}

impl Tasks {
    /// Adds a request for the result of a task.
    #[inline]
    pub fn ask(&mut self, message: &Message<'_>, name: Name) {
        if message.method.as_deref() == Some("tasks/result")
            && let Some(task) = message.params.as_ref().and_then(|params| params.string_member("taskId"))
            && self.asked.len() < REMEMBERED
            && task.len() <= LONGEST
        {
            self.asked.insert(name, task.into());
        }
    }

    /// Returns the failure of a message, which answers the given request with a method of the given protocols.
    #[inline]
    pub fn failure(
        &mut self,
        message: &Message<'_>,
        (request, asked): (Option<Name>, Protocols),
        http: Option<&Http>,
    ) -> Option<FailureKind> {
        let task = if self.asked.is_empty() { None } else { request.and_then(|request| self.asked.remove(&request)) };
        let failure = match &message.error {
            Some(_) if http.is_some_and(|http| http.outcome == HttpOutcome::Negotiated) => None,
            Some(ErrorMember::Object(error)) => is_failure(error, asked).then_some(FailureKind::Error),
            Some(ErrorMember::Other(_)) => Some(FailureKind::Error),
            None if message.failed.is_some() => Some(FailureKind::Tool),
            None => FailureKind::of_http(http),
        };
        let told = || message.failed.clone().filter(|task| (1..=LONGEST).contains(&task.len()));
        let Some(task) = task.filter(|_| failure.is_some()).or_else(told) else { return failure };
        if self.failed.len() == REMEMBERED {
            self.failed.clear();
        }
        failure.filter(|_| self.failed.insert(task))
    }
}
