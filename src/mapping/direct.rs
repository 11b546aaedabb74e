//! The fast path of the mapping `session` under the built-in contexts: from the annotated message straight to triples.
//!
//! It gives the triples that the annotated message's JSON-LD expands to (see [`document`](super::document)), in the order
//! in which the reference path writes them; tests hold the two together.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use oxrdf::NamedNodeRef;
use oxrdf::vocab::{rdf, xsd};

use super::document::session_reference;
use super::facts::Facts;
use super::further::{Members, MessagePlan};
use super::plan::PlanWriter;
use super::terms::{class, kind_of_error, sha256};
use super::triples::{Blank, Node, Object, Triples};
use crate::json::{self, Numbers, Value};
use crate::message::{ErrorMember, Id, Member, Message, Payload, Problem, Problems};
use crate::record::{Sender, Time};
use crate::session::{self, Annotated, Malformed, SessionEnd};
use crate::vocab::{self, jrpc, prov, rpcg};

/// Pushes the triples of annotated messages.
pub(super) struct Direct<'t, T> {
    pub triples: &'t mut T,
    /// Holds one literal at a time.
    pub buffer: &'t mut String,
    pub provenance: bool,
    /// IRI reference of the session.
    pub session: &'t str,
    /// The first blank node of the record that is free.
    pub blank: Blank,
    /// Whether plans say what is to be written; without further contexts there are none.
    pub planned: bool,
}

impl<T: Triples> Direct<'_, T> {
    /// Pushes a node, and what it says about others.
    pub fn node(&mut self, annotated: &Annotated<'_>) {
        self.planned_node(annotated, &MessagePlan::default());
    }

    /// Pushes a node, of which a further context maps what the plan says.
    pub fn planned_node(&mut self, annotated: &Annotated<'_>, plan: &MessagePlan<'_>) {
        match &annotated.node {
            session::Node::Message(message) => return self.message(annotated, message, plan),
            session::Node::Invalid(invalid) => {
                self.start(Node::Message(annotated.name), rpcg::INVALID_MESSAGE);
                self.annotations(annotated);
                self.json(rpcg::VALUE, &invalid.value);
                if let Some(text) = invalid.text {
                    self.triples.triple(rpcg::TEXT, Object::Text(text));
                }
            }
            session::Node::Batch(_) => {
                self.start(Node::Message(annotated.name), rpcg::BATCH);
                self.annotations(annotated);
            }
            session::Node::Malformed(Malformed { bytes }) => {
                self.start(Node::Message(annotated.name), rpcg::MALFORMED_RECORD);
                self.annotations(annotated);
                self.text_or_bytes(bytes);
            }
            session::Node::LogLine(bytes) => {
                self.start(Node::LogLine(annotated.location.line, annotated.name.element), rpcg::LOG_LINE);
                self.annotations(annotated);
                self.text_or_bytes(bytes);
            }
        }
        self.provenance(annotated);
    }

    /// Pushes the session's own node.
    pub fn session_end(&mut self, end: &SessionEnd<'_>) {
        let reference = session_reference(end.key);
        self.start(Node::Session(&reference), rpcg::SESSION);
        self.triples.triple(rpcg::SOURCE, Object::Text(end.source));
        self.triples.triple(rpcg::FORMAT, Object::Text(end.format.name()));
        self.triples.triple(rpcg::RECORD_COUNT, Object::Integer(end.record_count));
        for (property, time) in [(prov::STARTED_AT_TIME, end.started), (prov::ENDED_AT_TIME, end.ended)] {
            if let Some(time) = time {
                self.typed(property, &time.to_string(), xsd::DATE_TIME);
            }
        }
    }

    fn message(&mut self, annotated: &Annotated<'_>, message: &Message<'_>, plan: &MessagePlan<'_>) {
        let mut buffer = String::new();
        let mut planned = PlanWriter::new(self.blank, &mut buffer);
        let members = &plan.message;
        let id = annotated.id_node();
        self.start(Node::Message(annotated.name), class(message.kind));
        if let Some(version) = message.version.as_ref().filter(|_| members.keeps("jsonrpc")) {
            self.triples.triple(jrpc::VERSION, Object::Text(version));
        }
        if let Some(id) = id {
            self.triples.triple(jrpc::HAS_ID, Object::Node(Node::Id(id.owner)));
        }
        if let Some(method) = message.method.as_ref().filter(|_| members.keeps("method")) {
            self.triples.triple(jrpc::HAS_METHOD, Object::Text(method));
        }
        self.payload(jrpc::HAS_PARAMETERS, message.params.as_ref().filter(|_| members.keeps("params")));
        self.payload(jrpc::HAS_RESULT, message.result.as_ref().filter(|_| members.keeps("result")));
        if message.error.is_some() {
            self.triples.triple(jrpc::HAS_ERROR, Object::Node(Node::Error(annotated.name)));
        }
        for (entry, value) in &members.mapped {
            planned.member(entry, value.get(), self.triples);
        }
        let planned_extra = self.planned.then_some(members.extra.as_slice());
        let mut problems = annotated.problems;
        problems.insert_if(plan.has_keyword(), Problem::KeywordMember);
        self.annotations_with(annotated, planned_extra.unwrap_or(&message.extra), problems);
        if let Some(text) = message.text {
            self.triples.triple(rpcg::TEXT, Object::Text(text));
        }
        self.provenance(annotated);
        if let (Some(node), Some(id)) = (id, &message.id)
            && node.minted
        {
            self.id(Node::Id(node.owner), id);
        }
        if let Some(error) = &message.error {
            self.error(Node::Error(annotated.name), error, &plan.error, &mut planned);
        }
        planned.finish(self.triples);
        if let Some(older) = annotated.superseded {
            self.triples.subject(Node::Message(older));
            self.problem(Problem::IdReusedWhileOpen);
        }
    }

    fn id(&mut self, node: Node<'_>, id: &Id<'_>) {
        match id {
            Id::String(text) => {
                self.start(node, jrpc::STRING_ID);
                self.triples.triple(jrpc::HAS_STRING_VALUE, Object::Text(text));
            }
            Id::Number(digits) => {
                self.start(node, jrpc::NUMBER_ID);
                self.typed(jrpc::HAS_NUMBER_VALUE, digits, xsd::DECIMAL);
            }
            Id::Null => self.start(node, jrpc::NULL_ID),
        }
    }

    fn error<'v>(
        &mut self,
        node: Node<'_>,
        error: &ErrorMember<'_>,
        members: &'v Members<'v>,
        planned: &mut PlanWriter<'_, 'v>,
    ) {
        let error = match error {
            ErrorMember::Object(error) => error,
            ErrorMember::Other(value) => {
                self.start(node, jrpc::ERROR);
                return self.json(rpcg::VALUE, value);
            }
        };
        let (class, kind) = kind_of_error(error.code.as_deref());
        self.start(node, class);
        if let Some(code) = &error.code {
            self.typed(jrpc::HAS_ERROR_CODE, code, xsd::INTEGER);
        }
        if let Some(message) = &error.message {
            self.triples.triple(jrpc::HAS_ERROR_MESSAGE, Object::Text(message));
        }
        self.payload(jrpc::HAS_ERROR_DATA, error.data.as_ref().filter(|_| members.keeps("data")));
        for (entry, value) in &members.mapped {
            planned.member(entry, value.get(), self.triples);
        }
        self.extra_members(if self.planned { &members.extra } else { &error.extra });
        if let Some(kind) = kind {
            self.iri(rpcg::ERROR_KIND, kind);
        }
    }

    fn annotations(&mut self, annotated: &Annotated<'_>) {
        self.annotations_with(annotated, &[], annotated.problems);
    }

    fn annotations_with(&mut self, annotated: &Annotated<'_>, extra: &[Member<'_>], problems: Problems) {
        self.triples.triple(rpcg::IN_SESSION, Object::Node(Node::Session(self.session)));
        if !matches!(annotated.node, session::Node::LogLine(_)) {
            self.triples.triple(rpcg::SEQUENCE, Object::Integer(annotated.name.record));
        }
        match annotated.time {
            Some(Time::DateTime(time)) => self.typed(rpcg::CAPTURED_AT, &time.to_string(), xsd::DATE_TIME),
            Some(Time::Clock(time)) => self.typed(rpcg::CLOCK_TIME, &time.to_string(), xsd::TIME),
            None => {}
        }
        match annotated.sender {
            Some(Sender::Client) => self.iri(rpcg::SENT_BY, rpcg::CLIENT),
            Some(Sender::Server) => self.iri(rpcg::SENT_BY, rpcg::SERVER),
            None => {}
        }
        if let Some(index) = annotated.batch_index {
            let batch = session::Name { element: None, ..annotated.name };
            self.triples.triple(rpcg::IN_BATCH, Object::Node(Node::Message(batch)));
            self.triples.triple(rpcg::BATCH_INDEX, Object::Integer(index.into()));
        }
        if let Some(request) = annotated.responds_to {
            self.triples.triple(rpcg::RESPONDS_TO, Object::Node(Node::Message(request)));
        }
        if let Some(latency) = annotated.latency {
            self.typed(rpcg::LATENCY_SECONDS, &latency.to_string(), xsd::DECIMAL);
        }
        if let session::Node::Message(message) = &annotated.node {
            self.facts(&Facts::of(message));
        }
        self.extra_members(extra);
        self.problems(problems);
    }

    fn facts(&mut self, facts: &Facts<'_>) {
        if let Some(name) = &facts.tool_name {
            self.triples.triple(rpcg::TOOL_NAME, Object::Text(name));
        }
        if let Some(version) = &facts.protocol_version {
            self.triples.triple(rpcg::PROTOCOL_VERSION, Object::Text(version));
        }
        if let Some(is_error) = facts.is_error {
            self.typed(rpcg::IS_ERROR, if is_error { "true" } else { "false" }, xsd::BOOLEAN);
        }
    }

    fn problems(&mut self, problems: Problems) {
        if !problems.is_empty() {
            problems.iter().for_each(|problem| self.problem(problem));
        }
    }

    fn problem(&mut self, problem: Problem) {
        self.iri(rpcg::PROBLEM, problem.iri());
    }

    fn provenance(&mut self, annotated: &Annotated<'_>) {
        let log_line = matches!(annotated.node, session::Node::LogLine(_));
        let whole_record = self.provenance && annotated.batch_index.is_none();
        if log_line || whole_record {
            self.triples.triple(rpcg::LINE, Object::Integer(annotated.location.line));
        }
        if whole_record {
            self.triples.triple(rpcg::BYTE_OFFSET, Object::Integer(annotated.location.byte));
            if let Some(record) = annotated.record {
                self.triples.triple(rpcg::SHA256, Object::Text(&sha256(record)));
            }
        }
    }

    fn text_or_bytes(&mut self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok("") => {}
            Ok(text) => self.triples.triple(rpcg::TEXT, Object::Text(text)),
            Err(_) => self.typed(rpcg::BYTES, &BASE64.encode(bytes), xsd::BASE_64_BINARY),
        }
    }

    fn extra_members(&mut self, members: &[Member<'_>]) {
        if !members.is_empty() {
            self.json(rpcg::EXTRA_MEMBERS, &Value::Object(json::Object::from_members(members.to_vec())));
        }
    }

    fn payload(&mut self, property: NamedNodeRef<'_>, payload: Option<&Payload<'_>>) {
        // Exact numbers never fail.
        if let Some(payload) = payload
            && let Ok((literal, _)) = payload.canonical(Numbers::Exact, self.buffer)
        {
            self.triples.triple(property, Object::Typed(literal, vocab::rdf::JSON.as_str()));
        }
    }

    fn json(&mut self, property: NamedNodeRef<'_>, value: &Value<'_>) {
        self.buffer.clear();
        if json::write_canonical(value, Numbers::Exact, self.buffer).is_ok() {
            self.triples.triple(property, Object::Typed(self.buffer, vocab::rdf::JSON.as_str()));
        }
    }

    fn start(&mut self, node: Node<'_>, class: NamedNodeRef<'_>) {
        self.triples.subject(node);
        self.iri(rdf::TYPE, class);
    }

    fn iri(&mut self, property: NamedNodeRef<'_>, iri: NamedNodeRef<'_>) {
        self.triples.triple(property, Object::Node(Node::Iri(iri.as_str())));
    }

    fn typed(&mut self, property: NamedNodeRef<'_>, lexical: &str, datatype: NamedNodeRef<'_>) {
        self.triples.triple(property, Object::Typed(lexical, datatype.as_str()));
    }
}
