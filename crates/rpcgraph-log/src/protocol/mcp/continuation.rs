//! Requests that continue an operation: the keys by which they find it.

use oxrdf::vocab::xsd;

use super::super::definitions::DefinitionKind;
use super::super::extract::{McpRequest, RequestMeaning, Round};
use super::super::rounds::{ContinuedOperation, PausedOperation, UsedDefinition};
use super::super::{Maker, Statement, StatementWriter, TextDigest, key};
use super::{Linker, PendingRequest};
use crate::record::Sender;
use crate::session::Annotated;
use crate::session::triples::{NodeRef, ProtocolPart};
use crate::vocab::rpcg;

const CLIENT: Option<Sender> = Some(Sender::Client);
const SERVER: Option<Sender> = Some(Sender::Server);

impl Linker {
    /// Finds the open operation that a request continues. The operation is then no longer open, unless it is a task.
    pub(super) fn find_continued(&mut self, request: &McpRequest<'_>, asker: Option<Sender>) -> ContinuedOperation {
        let session = self.current.1;
        match &request.meaning {
            RequestMeaning::Task(task, _) => self.rounds.find([task_key(session, asker, *task)]),
            RequestMeaning::Use(kind, _, text, arguments) => {
                let used = (*kind, key(text));
                let keys = match (request.state, request.responses) {
                    (None, None) => vec![round_key(session, used, ContinuationKey::Again(*arguments))],
                    (state, responses) => {
                        let state_key = state.map(|state| round_key(session, used, ContinuationKey::State(state)));
                        let responses = [false, true].map(|stated| {
                            let fits = responses.filter(|_| state.is_none() || !stated);
                            fits.map(|responses| {
                                round_key(session, used, ContinuationKey::Responses(responses, stated))
                            })
                        });
                        state_key.into_iter().chain(responses.into_iter().flatten()).collect()
                    }
                };
                let found = self.rounds.find(keys);
                if let ContinuedOperation::With(paused) = &found {
                    self.rounds.take(paused.operation);
                }
                found
            }
            _ => ContinuedOperation::Nothing,
        }
    }

    /// Returns the keys of requests that may continue an operation that this answer to `asker` leaves open.
    pub(super) fn keys(
        &self,
        round: &Round<'_>,
        asker: Option<Sender>,
        used: Option<UsedDefinition>,
    ) -> Vec<TextDigest> {
        let session = self.current.1;
        match (round.task, used) {
            (Some(task), _) if round.is_new => {
                let askers = if asker.is_some() { &[asker, None][..] } else { &[None, CLIENT, SERVER] };
                askers.iter().map(|asker| task_key(session, *asker, task)).collect()
            }
            (None, Some(UsedDefinition { kind, key, .. })) => {
                let asked = round.asked.map(|asked| ContinuationKey::Responses(asked, round.state.is_some()));
                let wants = round.state.map(ContinuationKey::State).into_iter().chain(asked);
                wants.map(|wants| round_key(session, (kind, key), wants)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// States that a message is the outcome of an operation that was left open before.
    pub(super) fn end<'a>(
        &mut self,
        before: &PausedOperation,
        annotated: &Annotated<'a>,
        out: &mut Vec<Statement<'a>>,
    ) {
        if self.rounds.end(before.operation) {
            let mut writer =
                StatementWriter::new(Maker::Operation, out, NodeRef::Part(before.operation, ProtocolPart::OPERATION));
            writer.link(rpcg::ENDED_BY, NodeRef::Message(annotated.name));
            let seconds = before.seconds(annotated.time).map(|seconds| seconds.to_string().into());
            writer.literal(rpcg::DURATION_SECONDS, seconds, xsd::DECIMAL);
        }
    }
}

/// The properties that a request must have to continue an operation.
#[derive(Hash)]
pub(super) enum ContinuationKey {
    /// The `requestState` that an earlier result contained.
    State(TextDigest),
    /// Responses to all requested inputs; true if a state was given too.
    Responses(TextDigest, bool),
    /// The digest of the arguments, which the last request has, too.
    Again(TextDigest),
}

pub(super) fn round_key(
    session: TextDigest,
    (kind, used): (DefinitionKind, TextDigest),
    wants: ContinuationKey,
) -> TextDigest {
    key((session, kind as u8, used, wants))
}

/// Returns the key of a task, which each side names for itself: by the side that asked for it, or, where a request does not show
/// its side, for any.
pub(super) fn task_key(session: TextDigest, asker: Option<Sender>, task: TextDigest) -> TextDigest {
    key((session, asker.map(|asker| asker == Sender::Client), task))
}

impl Round<'_> {
    /// Returns true if the answer to such a request really describes a continued operation, and does not just look like
    /// it.
    pub(super) fn is_continuation(&self, pending: &PendingRequest) -> bool {
        match pending {
            PendingRequest::Use(_) => self.is_new || self.task.is_none(),
            PendingRequest::Task(_) => true,
            _ => self.is_new,
        }
    }
}
