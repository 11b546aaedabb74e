//! Annotated messages as rows of tables: the triples of the walk, and the columns that are derived. The nodes of protocols
//! have no rows.

use oxsdatatypes::{DateTime, Decimal};

use super::{InputMapper, MapPart, MapTarget, ReferenceError};
use crate::message::{Id, Kind};
use crate::record::units::{scaled, since_1970};
use crate::record::{Time, known_method};
use crate::session::triples::NodeRef;
use crate::session::{Annotated, FailureKind, Name, Node, RequestState, SessionEnd, asked_id, session_reference};
use crate::sink::rows::schema::{latencies, messages, sessions};
use crate::sink::rows::{ExchangeRole, RecordRows, RowTriples};

impl MapTarget for RecordRows {
    fn map(&mut self, mapper: &mut InputMapper<'_>, part: &MapPart<'_>) -> Result<(), ReferenceError> {
        match *part {
            MapPart::Nodes(session, nodes, statements) => {
                for node in nodes {
                    let blank = mapper.blank(node.name.record);
                    let mut triples = RowTriples::new(self, session, node.name);
                    mapper.walk((session, statements), blank, &mut triples).node(node, None);
                    self.derive(node);
                }
            }
            MapPart::End(end) => {
                let blank = mapper.blank(0);
                let mut triples = RowTriples::new(self, "", Name::default());
                mapper.walk(("", &[]), blank, &mut triples).session_end(end);
                self.derive_session(end);
            }
            // Tables hold sessions only.
            MapPart::Plain(..) => {}
        }
        Ok(())
    }
}

impl RecordRows {
    /// Fills the derived cells of a record, and ends its row.
    fn derive(&mut self, annotated: &Annotated<'_>) {
        let name = match annotated.node {
            Node::LogLine { .. } => NodeRef::LogLine(annotated.location.line, annotated.name.element),
            _ => NodeRef::Message(annotated.name),
        };
        let name = name.to_string();
        let rows = &mut self.messages;
        rows.number(messages::SEQ, signed(annotated.name.record));
        rows.text(messages::MESSAGE, name.trim_start_matches('#'));
        rows.text_of(messages::MESSAGE_IRI, [&self.iri, &name]);
        rows.text(messages::SOURCE, &self.source);
        if let Some(Time::DateTime(time)) = annotated.time {
            micros(time).into_iter().for_each(|micros| rows.number(messages::TIME, micros));
        }
        if annotated.batch_index.is_none()
            && let Some(record) = annotated.record
        {
            rows.number(messages::SIZE_BYTES, signed(record.len() as u64));
        }
        if let Some(latency) = annotated.latency.and_then(billionths) {
            rows.number(messages::LATENCY_S, latency);
        }
        rows.optional(messages::FAILURE, annotated.failure.map(FailureKind::name));
        match &annotated.node {
            Node::Message(message) => {
                let known = message.method.as_deref().and_then(known_method);
                let protocols = known.map(|known| known.protocols.names().collect::<Vec<_>>().join(","));
                rows.optional(messages::PROTOCOL, protocols);
                self.id(message.id.as_ref());
            }
            // The id of the first request that it answers.
            Node::Exchange(_) | Node::Closing(_) => {
                let first = annotated.http.and_then(|http| http.ids.first());
                self.id(first.and_then(|id| asked_id(id)).as_ref());
            }
            _ => {}
        }
        self.messages.end_row();
        self.exchanges.push(match (annotated.kind(), annotated.responds_to, annotated.id_node()) {
            (_, Some(request), _) => ExchangeRole::Answers(request),
            (Some(Kind::Request), _, Some(_)) => ExchangeRole::Asks(annotated.name),
            _ => ExchangeRole::Apart,
        });
    }

    /// Fills the columns of an id: an answer has the id of its request, whose node is described with the request.
    fn id(&mut self, id: Option<&Id<'_>>) {
        let rows = &mut self.messages;
        let kind = match id {
            None => None,
            Some(Id::String(text)) => {
                rows.text(messages::ID_STRING, &**text);
                Some("String")
            }
            Some(Id::Number(digits)) => {
                rows.text(messages::ID_NUMBER, &**digits);
                Some("Number")
            }
            Some(Id::Null) => Some("Null"),
        };
        rows.optional(messages::ID_KIND, kind);
    }

    /// Fills the derived cells of a session, and ends its row.
    fn derive_session(&mut self, end: &SessionEnd<'_>) {
        let rows = &mut self.sessions;
        rows.text_of(sessions::SESSION_IRI, [&*self.iri, &*session_reference(end.key)]);
        rows.number(sessions::SENDER_INFERRED, end.sender_inferred.into());
        let lost = end.unanswered.iter().filter(|(_, state)| *state == RequestState::Lost);
        let lost: String = lost.map(|(name, _)| format!(" {name} ")).collect();
        rows.optional(sessions::LOST, Some(lost).filter(|lost| !lost.is_empty()));
        for (column, time) in [(sessions::STARTED, end.started), (sessions::ENDED, end.ended)] {
            time.and_then(micros).into_iter().for_each(|micros| rows.number(column, micros));
        }
        rows.end_row();
        for (answer, seconds) in &end.estimates {
            let rows = &mut self.latencies;
            rows.text_of(latencies::SESSION_IRI, [&*self.iri, &*session_reference(end.key)]);
            rows.text(latencies::MESSAGE, answer.to_string());
            rows.text(latencies::MESSAGE_IRI, format!("{}#{answer}", self.iri));
            billionths(*seconds).into_iter().for_each(|number| rows.number(latencies::SECONDS, number));
            rows.text(latencies::SECONDS_TEXT, seconds.to_string());
            rows.end_row();
        }
    }
}

/// Returns billionths of a second, as far as the column holds them.
fn billionths(seconds: Decimal) -> Option<i64> {
    i64::try_from(scaled(seconds, 9)).ok().filter(|number| number.unsigned_abs() < 10_u64.pow(18))
}

fn micros(time: DateTime) -> Option<i64> {
    since_1970(time, 6).and_then(|micros| i64::try_from(micros).ok())
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
