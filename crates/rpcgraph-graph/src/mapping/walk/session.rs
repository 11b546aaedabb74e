//! The nodes that are written when a session ends: the session, the states of requests without an answer, and the requests that
//! a gateway forwarded.

use oxrdf::vocab::xsd;

use super::{MessageWalk, NodeWriter};
use crate::record::Time;
use crate::session::triples::NodeRef;
use crate::session::{Name, RequestState, SessionEnd, session_reference};
use crate::vocab::{prov, rpcg};

impl<'v, W: NodeWriter<'v>> MessageWalk<'_, W> {
    /// Writes the session's own node.
    pub fn session_end(&mut self, end: &SessionEnd<'_>) {
        let reference = session_reference(end.key);
        self.start(NodeRef::Session(&reference), rpcg::SESSION);
        self.string(rpcg::SOURCE, end.source);
        self.string(rpcg::FORMAT, end.format.name());
        self.writer.count(rpcg::RECORD_COUNT, end.record_count);
        for (property, time) in [(prov::STARTED_AT_TIME, end.started), (prov::ENDED_AT_TIME, end.ended)] {
            if let Some(time) = time {
                self.writer.literal(property, &time.to_string(), xsd::DATE_TIME);
            }
        }
        if let Some((seconds, answers)) = end.clock_offset {
            self.writer.literal(rpcg::CLOCK_OFFSET_SECONDS, &seconds.to_string(), xsd::DECIMAL);
            self.writer.count(rpcg::CLOCK_OFFSET_ANSWERS, answers);
        }
        let incomplete = [
            (rpcg::ONE_SIDED, end.one_sided),
            (rpcg::ANSWERS_MISSING, end.answers_missing),
            (rpcg::REQUESTS_MISSING, end.requests_missing),
        ];
        for (property, _) in incomplete.into_iter().filter(|(_, is_true)| *is_true) {
            self.writer.boolean(property, true);
        }
        if let Some(restart) = end.restart {
            self.writer.link(rpcg::RESTARTED_BY, NodeRef::Message(restart.message));
        }
        if let Some(Time::DateTime(time)) = end.exited {
            self.writer.literal(rpcg::EXITED_AT, &time.to_string(), xsd::DATE_TIME);
        }
        if self.provenance {
            self.writer.link(prov::USED, NodeRef::Session("#input"));
        }
        if end.sender_inferred {
            self.writer.link(rpcg::INFERRED, NodeRef::Iri(rpcg::SENT_BY.as_str()));
        }
        self.writer.close();
        for (answer, seconds) in &end.estimates {
            self.writer.open(NodeRef::Message(*answer));
            self.writer.literal(rpcg::ESTIMATED_LATENCY_SECONDS, &seconds.to_string(), xsd::DECIMAL);
            self.writer.close();
        }
        end.unanswered.iter().for_each(|(request, state)| self.state(*request, *state));
        for (request, forwarded) in &end.forwarded {
            self.writer.open(NodeRef::Message(*request));
            self.writer.link(rpcg::FORWARDS, NodeRef::Message(*forwarded));
            self.writer.close();
        }
    }

    /// Writes the state of a request.
    pub(super) fn state(&mut self, request: Name, state: RequestState) {
        self.writer.open(NodeRef::Message(request));
        self.writer.link(rpcg::STATE, NodeRef::Iri(state.iri().as_str()));
        self.writer.close();
    }
}
