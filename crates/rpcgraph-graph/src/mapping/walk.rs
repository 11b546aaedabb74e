//! The one definition of a message's meaning in RDF: a walk over the annotated message, which a [`NodeWriter`] turns
//! into triples or JSON-LD.
//!
//! Members of the message stand under the terms of the building block's context, so that a further context may remap
//! them. Everything of ours stands under full IRIs, which contexts do not affect.
//!
//! | member of a message | becomes |
//! |---|---|
//! | `jsonrpc`, `method`, error `message` | a string |
//! | `params`, `result`, error `data` | a JSON literal |
//! | error `code` | an integer |
//! | `id` | a node, under `jrpc:hasId` |
//! | every other member | part of `rpcg:extraMembers`, or what a further context makes of it |
//! | members of MCP's payloads | also what [`facts`](super::facts) lists |
//! | the content of its protocol | the statements of [`protocol`](crate::protocol) |

mod session;

use std::borrow::Cow;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;

use super::facts::PayloadFacts;
use super::further::{MembersPlan, MessagePlan};
use super::terms::{class, kind_of_error};
use crate::json::{Canonical, Object, Value, sha256};
use crate::message::{ErrorMember, ErrorObject, Id, Kind, Message, Payload, Problem, Problems};
use crate::protocol::makers::MakerTerms;
use crate::protocol::{Maker, Statement, StatementObject};
use crate::record::{Sender, Time, date_time_text};
use crate::session::triples::NodeRef;
use crate::session::{Annotated, Name, Node, RequestState};
use crate::vocab::{jrpc, prov, rpcg};

/// A member of a message in the building block's context.
#[derive(Clone, Copy)]
pub(super) struct BlockTerm {
    pub property: NamedNodeRef<'static>,
    /// The term of the property, unless a further context has redefined it.
    pub name: Option<&'static str>,
}

impl BlockTerm {
    const fn new(name: &'static str, property: NamedNodeRef<'static>) -> Self {
        Self { property, name: Some(name) }
    }

    /// Creates a member without a term.
    pub const fn termless(property: NamedNodeRef<'static>) -> Self {
        Self { property, name: None }
    }
}

const VERSION: BlockTerm = BlockTerm::new("jsonrpc", jrpc::VERSION);
const METHOD: BlockTerm = BlockTerm::new("method", jrpc::HAS_METHOD);
const PARAMS: BlockTerm = BlockTerm::new("params", jrpc::HAS_PARAMETERS);
const RESULT: BlockTerm = BlockTerm::new("result", jrpc::HAS_RESULT);
const CODE: BlockTerm = BlockTerm::new("code", jrpc::HAS_ERROR_CODE);
const MESSAGE: BlockTerm = BlockTerm::new("message", jrpc::HAS_ERROR_MESSAGE);
const DATA: BlockTerm = BlockTerm::new("data", jrpc::HAS_ERROR_DATA);
/// `id` is never used as a term, since the building block's context treats it as an IRI.
const ID: BlockTerm = BlockTerm::termless(jrpc::HAS_ID);

/// The makers of the triples that the walk writes, apart from the statements of protocols and the members that a
/// further context maps. A term that several write is of several makers.
pub(crate) static MAKERS: LazyLock<[MakerTerms; 3]> = LazyLock::new(|| {
    let of_messages = [
        VERSION.property,
        METHOD.property,
        CODE.property,
        MESSAGE.property,
        jrpc::HAS_ERROR,
        rpcg::ERROR_KIND,
        rpcg::SEQUENCE,
        rpcg::CAPTURED_AT,
        rpcg::CLOCK_TIME,
        rpcg::IN_BATCH,
        rpcg::BATCH_INDEX,
        rpcg::HTTP_METHOD,
        rpcg::HTTP_STATUS,
        rpcg::REQUEST_HEADERS,
        rpcg::URI,
        rpcg::AFTER,
        rpcg::COPY_OF,
        rpcg::LINE,
        rpcg::BYTE_OFFSET,
        rpcg::SHA256,
    ];
    let classes = [
        rpcg::INVALID_MESSAGE,
        rpcg::BATCH,
        rpcg::HTTP_EXCHANGE,
        rpcg::MALFORMED_RECORD,
        rpcg::LOG_LINE,
        jrpc::ERROR,
        jrpc::SERVER_ERROR,
    ];
    let kinds = [Kind::Request, Kind::Notification, Kind::Response, Kind::ErrorResponse].map(class);
    let of_payloads = vec![
        PARAMS.property,
        RESULT.property,
        DATA.property,
        rpcg::FAILURE,
        rpcg::TOOL_NAME,
        rpcg::TARGET_URI,
        rpcg::PROTOCOL_VERSION,
        rpcg::IS_ERROR,
        rpcg::EXTRA_MEMBERS,
        rpcg::VALUE,
        rpcg::TEXT,
        rpcg::BYTES,
        rpcg::REASON,
        rpcg::PROBLEM,
    ];
    let of_exchanges = vec![
        ID.property,
        rpcg::FAILURE,
        rpcg::IN_SESSION,
        rpcg::SENT_BY,
        rpcg::RESPONDS_TO,
        rpcg::CANCELS,
        rpcg::LATENCY_SECONDS,
        rpcg::ESTIMATED_LATENCY_SECONDS,
        rpcg::STATE,
        rpcg::PROBLEM,
    ];
    let of_ids_and_sessions = vec![
        jrpc::STRING_ID,
        jrpc::NUMBER_ID,
        jrpc::NULL_ID,
        jrpc::HAS_STRING_VALUE,
        jrpc::HAS_NUMBER_VALUE,
        rpcg::SESSION,
        rpcg::SOURCE,
        rpcg::FORMAT,
        rpcg::RECORD_COUNT,
        rpcg::CLOCK_OFFSET_SECONDS,
        rpcg::CLOCK_OFFSET_ANSWERS,
        rpcg::ONE_SIDED,
        rpcg::ANSWERS_MISSING,
        rpcg::REQUESTS_MISSING,
        rpcg::RESTARTED_BY,
        rpcg::EXITED_AT,
        rpcg::INFERRED,
        prov::STARTED_AT_TIME,
        prov::ENDED_AT_TIME,
        prov::USED,
    ];
    let of_records = of_messages.into_iter().chain(classes).chain(kinds).collect();
    [
        MakerTerms::new(Maker::Message, of_records, Vec::new()),
        MakerTerms::new(Maker::Payload, of_payloads, Vec::new()),
        MakerTerms::new(Maker::Exchange, of_exchanges, of_ids_and_sessions),
    ]
});

/// Writes the output of the walk, one node at a time.
pub(super) trait NodeWriter<'v> {
    /// Starts a node.
    fn open(&mut self, node: NodeRef<'_>);

    /// Starts a node to which the open node has an [announced](Self::announce) link. The open node gets no further
    /// statements.
    fn open_child(&mut self, link: BlockTerm, node: NodeRef<'_>);

    /// Ends the most recently opened node.
    fn close(&mut self);

    /// Returns true if statements with the property may be wanted.
    fn wants(&self, _property: NamedNodeRef<'static>) -> bool {
        true
    }

    /// Writes a link to a node that will be opened as a child.
    fn announce(&mut self, link: BlockTerm, node: NodeRef<'_>);

    /// Writes the class of the node.
    fn class(&mut self, class: NamedNodeRef<'static>);

    /// Writes two classes of the node.
    fn classes(&mut self, classes: [NamedNodeRef<'static>; 2]);

    /// Writes a member that is a string.
    fn string_member(&mut self, member: BlockTerm, text: &str);

    /// Writes a member that is an integer, given as digits.
    fn integer_member(&mut self, member: BlockTerm, digits: &str);

    /// Writes a member that is any JSON.
    fn payload(&mut self, member: BlockTerm, payload: &Payload<'_>);

    /// Writes members that a further context maps.
    fn mapped(&mut self, plan: &'v MembersPlan<'v>);

    /// Writes a link to a node that is described elsewhere.
    fn link(&mut self, property: NamedNodeRef<'static>, node: NodeRef<'_>);

    /// Writes links with one property to nodes that are described elsewhere.
    fn links<'n>(&mut self, property: NamedNodeRef<'static>, nodes: impl Iterator<Item = NodeRef<'n>>);

    /// Writes a literal without a language.
    fn literal(&mut self, property: NamedNodeRef<'static>, lexical: &str, datatype: NamedNodeRef<'static>);

    /// Writes a count as an integer.
    fn count(&mut self, property: NamedNodeRef<'static>, number: u64);

    /// Writes a boolean.
    fn boolean(&mut self, property: NamedNodeRef<'static>, value: bool);

    /// Writes the pending parts of members that a further context maps.
    fn finish(&mut self);
}

/// Walks over annotated messages.
pub(super) struct MessageWalk<'w, W> {
    pub writer: W,
    pub provenance: bool,
    /// The IRI reference of the session.
    pub session: &'w str,
    /// The statements of protocols about the messages.
    pub statements: &'w [Statement<'w>],
}

impl<'w, 'v, W: NodeWriter<'v>> MessageWalk<'w, W> {
    /// Writes a node, and the nodes that it describes. `plan` holds the members that a further context maps.
    #[inline]
    pub fn node(&mut self, annotated: &Annotated<'_>, plan: Option<&'v MessagePlan<'v>>) {
        let name = NodeRef::Message(annotated.name);
        match &annotated.node {
            Node::Message(message) => return self.message(annotated, message, plan),
            Node::Invalid(invalid) => {
                self.start(name, rpcg::INVALID_MESSAGE);
                self.annotations(annotated, None, annotated.problems);
                self.json(rpcg::VALUE, &invalid.value);
                self.optional_string(rpcg::TEXT, invalid.text);
                self.string(rpcg::REASON, invalid.reason);
            }
            Node::Batch => {
                self.start(name, rpcg::BATCH);
                self.annotations(annotated, None, annotated.problems);
            }
            Node::Exchange(_) | Node::Closing(_) => {
                self.start_record(annotated, rpcg::HTTP_EXCHANGE);
                self.annotations(annotated, None, annotated.problems);
                if let Some(exchange) = annotated.http.and_then(|http| http.exchange.as_ref()) {
                    self.string(rpcg::HTTP_METHOD, &exchange.method);
                    self.writer.literal(rpcg::URI, &exchange.url, xsd::ANY_URI);
                    self.optional_string(rpcg::REASON, Some(&*exchange.reason).filter(|reason| !reason.is_empty()));
                }
                if let Node::Closing(requests) = &annotated.node {
                    self.writer.links(rpcg::CANCELS, requests.iter().map(|request| NodeRef::Message(*request)));
                }
            }
            Node::Malformed(bytes) => {
                self.start(name, rpcg::MALFORMED_RECORD);
                self.annotations(annotated, None, annotated.problems);
                self.text_or_bytes(bytes);
            }
            Node::LogLine { bytes, after, copy_of } => {
                self.start(NodeRef::LogLine(annotated.location.line, annotated.name.element), rpcg::LOG_LINE);
                self.annotations(annotated, None, annotated.problems);
                if let Some(record) = after {
                    self.writer.link(rpcg::AFTER, NodeRef::Message(*record));
                }
                if let Some(event) = copy_of {
                    self.writer.link(rpcg::COPY_OF, NodeRef::Message(*event));
                }
                self.text_or_bytes(bytes);
            }
        }
        self.provenance(annotated);
        self.writer.close();
        if let Node::Exchange(others) = &annotated.node {
            let requests = annotated.responds_to.iter().chain(others);
            requests.for_each(|request| self.state(*request, RequestState::Answered));
        }
    }

    #[inline]
    fn message(&mut self, annotated: &Annotated<'_>, message: &Message<'_>, plan: Option<&'v MessagePlan<'v>>) {
        let members = plan.map(|plan| &plan.message);
        let id = annotated.id_node();
        let apart = plan.is_some_and(|plan| plan.error_apart);
        let has_error = BlockTerm { property: jrpc::HAS_ERROR, name: (!apart).then_some("error") };
        let error = NodeRef::Error(annotated.name);

        self.start_record(annotated, class(message.kind));
        self.members(message, members, |writer| match id {
            Some(id) if id.minted => writer.announce(ID, NodeRef::Id(id.owner)),
            Some(id) => writer.link(jrpc::HAS_ID, NodeRef::Id(id.owner)),
            None => {}
        });
        if message.error.is_some() {
            self.writer.announce(has_error, error);
        }
        if let Some(members) = members {
            self.writer.mapped(members);
        }
        let mut problems = annotated.problems;
        problems.insert_if(plan.is_some_and(MessagePlan::has_keyword), Problem::KeywordMember);
        self.annotations(annotated, extra(message.extra.as_deref(), members).as_deref(), problems);
        self.optional_string(rpcg::TEXT, message.text);
        self.provenance(annotated);
        if let (Some(node), Some(id)) = (id, &message.id)
            && node.minted
        {
            self.writer.open_child(ID, NodeRef::Id(node.owner));
            self.id(id);
            self.writer.close();
        }
        if let Some(member) = &message.error {
            self.writer.open_child(has_error, error);
            self.error(member, plan.map(|plan| &plan.error));
            self.writer.close();
        }
        self.writer.close();
        self.writer.finish();
        if let Some(older) = annotated.superseded {
            let mut reused = Problems::default();
            reused.insert(Problem::IdReusedWhileOpen);
            self.writer.open(NodeRef::Message(older));
            self.problems(reused);
            self.writer.close();
        }
        if let Some(request) = annotated.responds_to {
            self.state(request, RequestState::Answered);
        }
        let (_, others) = self.meaning(annotated);
        for statements in others.chunk_by(|one, next| one.subject == next.subject) {
            if let Some(Statement { subject, .. }) = statements.first() {
                self.writer.open(match *subject {
                    NodeRef::Session(_) => NodeRef::Session(self.session),
                    subject => subject,
                });
                self.statements(statements);
                self.writer.close();
            }
        }
    }

    /// Returns the statements of the protocol: about the message, and about other nodes.
    fn meaning(&self, annotated: &Annotated<'_>) -> (&'w [Statement<'w>], &'w [Statement<'w>]) {
        let all = self.statements.get(annotated.meaning.clone()).unwrap_or_default();
        let own = all.iter().take_while(|statement| matches!(statement.subject, NodeRef::Message(_))).count();
        all.split_at(own)
    }

    /// Writes statements about one node.
    fn statements(&mut self, statements: &[Statement<'_>]) {
        for same in statements.chunk_by(|one, next| one.property == next.property) {
            let [Statement { property, object, .. }] = same else {
                // Only nodes occur more than once under a property.
                let Some(Statement { property, .. }) = same.first() else { continue };
                let nodes = same.iter().filter_map(|statement| match statement.object {
                    StatementObject::Node(node) => Some(node),
                    _ => None,
                });
                self.writer.links(*property, nodes);
                continue;
            };
            match object {
                StatementObject::Class(class) => self.writer.class(*class),
                StatementObject::Node(node) => self.writer.link(*property, *node),
                StatementObject::Literal(text, datatype) => self.writer.literal(*property, text, *datatype),
                StatementObject::Json(text, interoperable) => {
                    let canonical = Canonical { interoperable: *interoperable };
                    self.json(*property, &Payload::new(&**text, canonical));
                }
                StatementObject::Boolean(value) => self.writer.boolean(*property, *value),
                StatementObject::Count(number) => self.writer.count(*property, *number),
            }
        }
    }

    fn problems(&mut self, problems: Problems) {
        self.writer.links(rpcg::PROBLEM, problems.iter().map(|problem| NodeRef::Iri(problem.iri().as_str())));
    }

    /// Writes the members of a message that are not nodes; `id` writes the value of its id.
    #[inline]
    pub fn members(&mut self, message: &Message<'_>, plan: Option<&MembersPlan<'_>>, id: impl FnOnce(&mut W)) {
        self.string_member(VERSION, message.version.as_deref(), plan);
        id(&mut self.writer);
        self.string_member(METHOD, message.method.as_deref(), plan);
        self.payload(PARAMS, message.params.as_ref(), plan);
        self.payload(RESULT, message.result.as_ref(), plan);
    }

    /// Writes the members of an error.
    #[inline]
    pub fn error_members(&mut self, error: &ErrorObject<'_>, plan: Option<&MembersPlan<'_>>) {
        if let Some(code) = &error.code
            && let Some(member) = left_to_context(CODE, plan)
        {
            self.writer.integer_member(member, code);
        }
        self.string_member(MESSAGE, error.message.as_deref(), plan);
        self.payload(DATA, error.data.as_ref(), plan);
    }

    fn id(&mut self, id: &Id<'_>) {
        match id {
            Id::String(text) => {
                self.writer.class(jrpc::STRING_ID);
                self.string(jrpc::HAS_STRING_VALUE, text);
            }
            Id::Number(digits) => {
                self.writer.class(jrpc::NUMBER_ID);
                self.writer.literal(jrpc::HAS_NUMBER_VALUE, digits, xsd::DECIMAL);
            }
            Id::Null => self.writer.class(jrpc::NULL_ID),
        }
    }

    fn error(&mut self, error: &ErrorMember<'_>, plan: Option<&'v MembersPlan<'v>>) {
        let error = match error {
            ErrorMember::Object(error) => error,
            ErrorMember::Other(value) => {
                self.writer.class(jrpc::ERROR);
                return self.json(rpcg::VALUE, value);
            }
        };
        let (class, kind) = kind_of_error(error.code.as_deref());
        self.writer.class(class);
        self.error_members(error, plan);
        if let Some(plan) = plan {
            self.writer.mapped(plan);
        }
        self.extra_members(extra(error.extra.as_deref(), plan).as_deref());
        if let Some(kind) = kind {
            self.writer.link(rpcg::ERROR_KIND, NodeRef::Iri(kind.as_str()));
        }
    }

    fn annotations(&mut self, annotated: &Annotated<'_>, extra: Option<&Payload<'_>>, problems: Problems) {
        self.writer.link(rpcg::IN_SESSION, NodeRef::Session(self.session));
        if !matches!(annotated.node, Node::LogLine { .. }) {
            self.writer.count(rpcg::SEQUENCE, annotated.name.record);
        }
        match annotated.time {
            Some(Time::DateTime(time)) => self.writer.literal(rpcg::CAPTURED_AT, &date_time_text(time), xsd::DATE_TIME),
            Some(Time::Clock(time)) => self.writer.literal(rpcg::CLOCK_TIME, &time.to_string(), xsd::TIME),
            Some(Time::Elapsed(_)) | None => {}
        }
        if let Some(sender) = annotated.sender {
            self.writer.link(rpcg::SENT_BY, NodeRef::Iri(role(sender).as_str()));
        }
        if let Some(index) = annotated.batch_index {
            let batch = Name { element: None, ..annotated.name };
            self.writer.link(rpcg::IN_BATCH, NodeRef::Message(batch));
            self.writer.count(rpcg::BATCH_INDEX, index.into());
        }
        if let Some(request) = annotated.responds_to {
            match &annotated.node {
                Node::Exchange(others) if !others.is_empty() => {
                    let requests = std::iter::once(&request).chain(others);
                    self.writer.links(rpcg::RESPONDS_TO, requests.map(|request| NodeRef::Message(*request)));
                }
                _ => self.writer.link(rpcg::RESPONDS_TO, NodeRef::Message(request)),
            }
        }
        if let Some(status) = annotated.http.and_then(|http| http.status) {
            self.writer.count(rpcg::HTTP_STATUS, status.into());
        }
        if let Some(headers) = annotated.headers {
            self.json(rpcg::REQUEST_HEADERS, &Payload::new(headers, Canonical { interoperable: true }));
        }
        if let Some(latency) = annotated.latency {
            self.writer.literal(rpcg::LATENCY_SECONDS, &latency.to_string(), xsd::DECIMAL);
        }
        if let Node::Message(message) = &annotated.node {
            let facts = PayloadFacts::from_message(message);
            self.optional_string(rpcg::TOOL_NAME, facts.tool_name.as_deref());
            self.optional_string(rpcg::TARGET_URI, facts.target_uri.as_deref());
            self.optional_string(rpcg::PROTOCOL_VERSION, facts.protocol_version.as_deref());
            if let Some(is_error) = facts.is_error {
                self.writer.boolean(rpcg::IS_ERROR, is_error);
            }
        }
        let (own, _) = self.meaning(annotated);
        self.statements(own);
        self.extra_members(extra);
        if !problems.is_empty() {
            self.problems(problems);
        }
    }

    fn provenance(&mut self, annotated: &Annotated<'_>) {
        let log_line = matches!(annotated.node, Node::LogLine { .. });
        let whole_record = self.provenance && annotated.batch_index.is_none();
        if log_line || whole_record {
            self.writer.count(rpcg::LINE, annotated.location.line);
        }
        if whole_record {
            self.writer.count(rpcg::BYTE_OFFSET, annotated.location.byte);
            if let Some(record) = annotated.record.filter(|_| self.writer.wants(rpcg::SHA256)) {
                self.string(rpcg::SHA256, &sha256(record));
            }
        }
    }

    fn text_or_bytes(&mut self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok("") => {}
            Ok(text) => self.string(rpcg::TEXT, text),
            Err(_) => self.writer.literal(rpcg::BYTES, &BASE64.encode(bytes), xsd::BASE_64_BINARY),
        }
    }

    fn extra_members(&mut self, members: Option<&Payload<'_>>) {
        if let Some(members) = members {
            self.json(rpcg::EXTRA_MEMBERS, members);
        }
    }

    fn json(&mut self, property: NamedNodeRef<'static>, payload: &Payload<'_>) {
        self.writer.payload(BlockTerm::termless(property), payload);
    }

    #[inline]
    fn string_member(&mut self, member: BlockTerm, text: Option<&str>, plan: Option<&MembersPlan<'_>>) {
        if let Some(text) = text
            && let Some(member) = left_to_context(member, plan)
        {
            self.writer.string_member(member, text);
        }
    }

    #[inline]
    fn payload(&mut self, member: BlockTerm, payload: Option<&Payload<'_>>, plan: Option<&MembersPlan<'_>>) {
        if let Some(payload) = payload
            && let Some(member) = left_to_context(member, plan)
        {
            self.writer.payload(member, payload);
        }
    }

    /// Starts the node of a record that may have failed.
    #[inline]
    fn start_record(&mut self, annotated: &Annotated<'_>, class: NamedNodeRef<'static>) {
        let node = NodeRef::Message(annotated.name);
        if annotated.failure.is_none() {
            return self.start(node, class);
        }
        self.writer.open(node);
        self.writer.classes([class, rpcg::FAILURE]);
    }

    fn start(&mut self, node: NodeRef<'_>, class: NamedNodeRef<'static>) {
        self.writer.open(node);
        self.writer.class(class);
    }

    fn string(&mut self, property: NamedNodeRef<'static>, text: &str) {
        self.writer.literal(property, text, xsd::STRING);
    }

    fn optional_string(&mut self, property: NamedNodeRef<'static>, text: Option<&str>) {
        if let Some(text) = text {
            self.string(property, text);
        }
    }
}

/// Returns the individual for a side.
pub(super) fn role(sender: Sender) -> NamedNodeRef<'static> {
    match sender {
        Sender::Client => rpcg::CLIENT,
        Sender::Server => rpcg::SERVER,
    }
}

/// Returns an object of the members that JSON-RPC does not define and no further context maps; `None` if there are
/// none.
pub(super) fn extra<'e>(all: Option<&'e Payload<'_>>, plan: Option<&MembersPlan<'_>>) -> Option<Cow<'e, Payload<'e>>> {
    let Some(plan) = plan else { return all.map(Cow::Borrowed) };
    let object = || (&Value::Object(Object::from_members(plan.extra.clone()))).into();
    (!plan.extra.is_empty()).then(|| Cow::Owned(object()))
}

/// Returns the member, if the plan leaves it to the building block's context.
#[inline]
fn left_to_context(member: BlockTerm, plan: Option<&MembersPlan<'_>>) -> Option<BlockTerm> {
    let Some((plan, name)) = plan.zip(member.name) else { return Some(member) };
    Some(BlockTerm { name: plan.keeps(name)?.then_some(name), ..member })
}
