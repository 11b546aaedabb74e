//! Annotated messages as rows of tables, with the same content as the walk, but without the nodes of protocols.

use oxrdf::NamedNodeRef;
use oxsdatatypes::DateTime;

use super::facts::Facts;
use super::terms::kind_of_error;
use super::walk::{extra, role};
use super::{InputMapper, MapPart, MapTarget, ReferenceError};
use crate::json::sha256;
use crate::message::{ErrorMember, Id, Kind, Message, Payload, Problem};
use crate::protocol::{Statement, StatementObject, literal_of};
use crate::record::{Time, known_method};
use crate::session::triples::NodeRef;
use crate::session::{Annotated, FailureKind, Name, Node, SessionEnd, asked_id, session_reference};
use crate::sink::parquet::schema::{messages, problems, sessions};
use crate::sink::parquet::{ExchangeRole, RecordRows};
use crate::sink::units::{scaled, since_1970};
use crate::vocab::{jrpc, rpcg};

impl MapTarget for RecordRows {
    fn map(&mut self, mapper: &mut InputMapper<'_>, part: &MapPart<'_>) -> Result<(), ReferenceError> {
        match *part {
            MapPart::Nodes(session, nodes, statements) => {
                for node in nodes {
                    let statements = statements.get(node.meaning.clone()).unwrap_or_default();
                    self.node(node, session, statements, mapper.mapper.provenance);
                }
            }
            MapPart::End(ref end) => self.session(end),
            // Tables hold sessions only.
            MapPart::Plain(..) => {}
        }
        Ok(())
    }
}

impl RecordRows {
    fn node(&mut self, annotated: &Annotated<'_>, session: &str, statements: &[Statement<'_>], provenance: bool) {
        let is_line = matches!(annotated.node, Node::LogLine { .. });
        let whole = annotated.batch_index.is_none();
        let name = match annotated.node {
            Node::LogLine { .. } => NodeRef::LogLine(annotated.location.line, annotated.name.element),
            _ => NodeRef::Message(annotated.name),
        };
        let name = name.to_string();
        self.iri(messages::SESSION_IRI, session);
        self.messages.number(messages::SEQ, signed(annotated.name.record));
        self.messages.text(messages::MESSAGE, name.trim_start_matches('#'));
        self.iri(messages::MESSAGE_IRI, &name);
        self.times(annotated);
        let rows = &mut self.messages;
        rows.optional(messages::SENDER, annotated.sender.map(|sender| local(role(sender))));
        rows.text(messages::SOURCE, &self.source);
        if whole && let Some(record) = annotated.record {
            rows.number(messages::SIZE_BYTES, signed(record.len() as u64));
            if provenance {
                rows.text(messages::SHA256, sha256(record));
            }
        }
        if is_line || whole && provenance {
            rows.number(messages::LINE, signed(annotated.location.line));
        }
        if whole && provenance {
            rows.number(messages::BYTE_OFFSET, signed(annotated.location.byte));
        }
        if let Some(index) = annotated.batch_index {
            rows.number(messages::BATCH_INDEX, index.into());
            self.iri(messages::BATCH_IRI, &NodeRef::Message(Name { element: None, ..annotated.name }).to_string());
        }
        let kind = match &annotated.node {
            Node::Message(message) => self.message(annotated, message, statements),
            Node::Invalid(invalid) => {
                self.payload(messages::VALUE, Some(&invalid.value));
                self.messages.optional(messages::TEXT, invalid.text);
                self.messages.text(messages::REASON, invalid.reason);
                rpcg::INVALID_MESSAGE
            }
            Node::Batch => rpcg::BATCH,
            Node::Exchange(_) => {
                self.exchange(annotated);
                rpcg::HTTP_EXCHANGE
            }
            Node::Malformed(bytes) => {
                self.text_or_bytes(bytes);
                rpcg::MALFORMED_RECORD
            }
            Node::LogLine { bytes, after } => {
                self.text_or_bytes(bytes);
                if let Some(record) = after {
                    self.iri(messages::AFTER_IRI, &NodeRef::Message(*record).to_string());
                }
                rpcg::LOG_LINE
            }
        };
        self.messages.text(messages::KIND, local(kind));
        self.messages.optional(messages::FAILURE, annotated.failure.map(FailureKind::name));
        if let Some(status) = annotated.http.and_then(|http| http.status) {
            self.messages.number(messages::HTTP_STATUS, status.into());
        }
        self.messages.end_row();
        self.exchanges.push(match (annotated.kind(), annotated.responds_to, annotated.id_node()) {
            (_, Some(request), _) => ExchangeRole::Answers(request),
            (Some(Kind::Request), _, Some(_)) => ExchangeRole::Asks(annotated.name),
            _ => ExchangeRole::Apart,
        });
        annotated.problems.iter().for_each(|problem| self.problem(session, &name, problem));
        if let Some(older) = annotated.superseded {
            self.problem(session, &NodeRef::Message(older).to_string(), Problem::IdReusedWhileOpen);
        }
    }

    fn message(
        &mut self,
        annotated: &Annotated<'_>,
        message: &Message<'_>,
        statements: &[Statement<'_>],
    ) -> NamedNodeRef<'static> {
        let rows = &mut self.messages;
        rows.optional(messages::JSONRPC, message.version.as_deref());
        rows.optional(messages::METHOD, message.method.as_deref());
        rows.optional(messages::TEXT, message.text);
        self.id(message.id.as_ref());
        let rows = &mut self.messages;
        let known = message.method.as_deref().and_then(known_method);
        let protocols = known.map(|known| known.protocols.names().collect::<Vec<_>>().join(","));
        rows.optional(messages::PROTOCOL, protocols);
        let facts = Facts::of(message);
        rows.optional(messages::TOOL, facts.tool_name.as_deref());
        rows.optional(messages::PROTOCOL_VERSION, facts.protocol_version.as_deref());
        if let Some(is_error) = facts.is_error {
            rows.number(messages::IS_ERROR, is_error.into());
        }
        for (column, property) in
            [(messages::TRACE_ID, rpcg::TRACE_ID), (messages::PARENT_SPAN_ID, rpcg::PARENT_SPAN_ID)]
        {
            rows.optional(column, literal_of(statements, NodeRef::Message(annotated.name), property));
        }
        self.answer(annotated);
        self.payload(messages::PARAMS, message.params.as_ref());
        self.payload(messages::RESULT, message.result.as_ref());
        self.payload(messages::EXTRA, extra(&message.extra, None).as_deref());
        if let Some(id) = annotated.id_node() {
            self.iri(messages::ID_IRI, &NodeRef::Id(id.owner).to_string());
        }
        if let Some(error) = &message.error {
            self.iri(messages::ERROR_IRI, &NodeRef::Error(annotated.name).to_string());
            let said = statements
                .iter()
                .find(|statement| statement.property == rpcg::ERROR_KIND)
                .map(|statement| &statement.object);
            let kind =
                if let Some(StatementObject::Node(NodeRef::Iri(iri))) = said { iri.rsplit('#').next() } else { None };
            self.error(error, kind);
        }
        super::terms::class(message.kind)
    }

    /// Fills in the columns of an answer.
    fn answer(&mut self, annotated: &Annotated<'_>) {
        if let Some(latency) = annotated.latency {
            let billionths = i64::try_from(scaled(latency, 9)).ok();
            if let Some(latency) = billionths.filter(|number| number.unsigned_abs() < 10_u64.pow(18)) {
                self.messages.number(messages::LATENCY_S, latency);
            }
            self.messages.text(messages::LATENCY_TEXT, latency.to_string());
        }
        if let Some(request) = annotated.responds_to {
            self.iri(messages::RESPONDS_TO, &NodeRef::Message(request).to_string());
        }
    }

    /// Fills in an HTTP exchange, with the id of the first request that it answers.
    fn exchange(&mut self, annotated: &Annotated<'_>) {
        let Some(http) = annotated.http else { return };
        if let Some(exchange) = &http.exchange {
            self.messages.text(messages::HTTP_METHOD, &*exchange.method);
            self.messages.text(messages::URL, &*exchange.url);
            self.messages.optional(messages::REASON, Some(&*exchange.reason).filter(|reason| !reason.is_empty()));
        }
        self.id(http.ids.first().and_then(|id| asked_id(id)).as_ref());
        self.answer(annotated);
    }

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

    /// Fills in an error; `kind` is the name that its protocol gives to the code.
    fn error(&mut self, error: &ErrorMember<'_>, kind: Option<&str>) {
        let error = match error {
            ErrorMember::Object(error) => error,
            ErrorMember::Other(value) => return self.payload(messages::VALUE, Some(value)),
        };
        let (_, standard) = kind_of_error(error.code.as_deref());
        self.messages.optional(messages::ERROR_CODE, error.code.as_deref());
        self.messages.optional(messages::ERROR_MESSAGE, error.message.as_deref());
        self.messages.optional(messages::ERROR_KIND, standard.map(local).or(kind));
        self.payload(messages::ERROR_DATA, error.data.as_ref());
        self.payload(messages::ERROR_EXTRA, extra(&error.extra, None).as_deref());
    }

    fn session(&mut self, end: &SessionEnd<'_>) {
        let iri = format!("{}{}", self.iri, session_reference(end.key));
        let rows = &mut self.sessions;
        rows.text(sessions::SESSION_IRI, iri);
        rows.text(sessions::SOURCE, end.source);
        rows.text(sessions::FORMAT, end.format.name());
        rows.number(sessions::RECORD_COUNT, signed(end.record_count));
        rows.number(sessions::SENDER_INFERRED, end.sender_inferred.into());
        for (column, text, time) in [
            (sessions::STARTED, sessions::STARTED_TEXT, end.started),
            (sessions::ENDED, sessions::ENDED_TEXT, end.ended),
        ] {
            rows.optional(text, time.map(|time| time.to_string()));
            time.and_then(micros).into_iter().for_each(|micros| rows.number(column, micros));
        }
        rows.end_row();
    }

    fn times(&mut self, annotated: &Annotated<'_>) {
        match annotated.time {
            Some(Time::DateTime(time)) => {
                micros(time).into_iter().for_each(|micros| self.messages.number(messages::TIME, micros));
                self.messages.text(messages::TIME_TEXT, time.to_string());
            }
            Some(Time::Clock(time)) => self.messages.text(messages::CLOCK, time.to_string()),
            None => {}
        }
    }

    fn problem(&mut self, session: &str, name: &str, problem: Problem) {
        let rows = &mut self.problems;
        rows.text(problems::SESSION_IRI, format!("{}{session}", self.iri));
        rows.text(problems::MESSAGE, name.trim_start_matches('#'));
        rows.text(problems::PROBLEM, problem.name());
        rows.text(problems::MESSAGE_IRI, format!("{}{name}", self.iri));
        rows.end_row();
    }

    fn text_or_bytes(&mut self, bytes: &[u8]) {
        match str::from_utf8(bytes) {
            Ok("") => {}
            Ok(text) => self.messages.text(messages::TEXT, text),
            Err(_) => self.messages.text(messages::RAW, bytes),
        }
    }

    fn payload(&mut self, column: usize, payload: Option<&Payload<'_>>) {
        self.messages.optional(column, payload.map(|payload| &*payload.text));
    }

    /// Fills a cell with the IRI of a node.
    fn iri(&mut self, column: usize, reference: &str) {
        self.messages.text_of(column, [&self.iri, reference]);
    }
}

/// The name of a term of our vocabularies within its namespace.
fn local(term: NamedNodeRef<'static>) -> &'static str {
    let local = [jrpc::NAMESPACE, rpcg::NAMESPACE].iter().find_map(|namespace| term.as_str().strip_prefix(namespace));
    local.unwrap_or(term.as_str())
}

fn micros(time: DateTime) -> Option<i64> {
    since_1970(time, 6).and_then(|micros| i64::try_from(micros).ok())
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
