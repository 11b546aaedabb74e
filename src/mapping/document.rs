//! The annotated message as a JSON-LD node object: the one definition of what a message means in RDF.
//!
//! Members of the message stand under the terms of the building block's context, so that a further context may map
//! them anew. All that is ours stands under full IRIs and as value objects, which no context touches.
//!
//! | of a message | written as |
//! |---|---|
//! | `jsonrpc`, `method`, error `message` | the term, a string |
//! | `params`, `result`, error `data` | the term, canonical JSON; see [`write_literal_member`] for the exception |
//! | error `code` | the term, an integer; beyond 2^53 the property, a typed string |
//! | `id` | `jrpc:hasId`, a node |
//! | every other member | `rpcg:extraMembers`, or the term where a further context defines it |
//! | members of MCP's payloads | beside the payload, as [`facts`](super::facts) lists them |

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;

use super::facts::Facts;
use super::loss::{Loss, Losses};
use super::reference::ReferenceError;
use super::shape::{IriMembers, Place, Rules, Shape, write_json_literal, write_key, write_literal_member, write_typed};
use super::terms::{class, kind_of_error, sha256};
use super::triples::Blank;
use crate::context::Context;
use crate::json::{self, Numbers, Object, Text, Value};
use crate::message::{
    ErrorMember, ErrorObject, Id, Invalid, Member, Message, Payload, Problem, Problems, is_keyword_like,
};
use crate::record::{Sender, Time};
use crate::session::{Annotated, Malformed, Name, Node, SessionEnd};
use crate::vocab::RESERVED;
use crate::vocab::{jrpc, prov, rpcg};
use percent_encoding::utf8_percent_encode;

/// The largest integer that every JSON-LD processor reads exactly: 2^53.
const MAX_EXACT_INTEGER: u64 = 1 << 53;

/// Further contexts, and what the members of a message are under them.
pub(super) struct Further {
    root: Rc<Shape>,
    terms: FurtherTerms,
}

/// The terms that further contexts define.
#[derive(Debug, Clone)]
pub(super) struct FurtherTerms {
    terms: BTreeSet<String>,
    /// They set `@vocab`, which makes a property of every member.
    vocabulary: bool,
}

/// Writes nodes as JSON-LD.
pub(super) struct DocumentWriter<'w> {
    pub out: &'w mut String,
    pub losses: &'w mut Losses,
    pub further: Option<&'w Further>,
    pub provenance: bool,
    pub buffer: String,
    /// What tells the blank nodes that the record names from those of others.
    pub blanks: Blank,
    /// Problems that show only here: members that a further context would have obeyed.
    pub late: &'w mut u64,
    /// IRI reference of the session: see [`session_reference`].
    pub session: String,
}

/// IRI reference of a session, against the input's own IRI.
pub(super) fn session_reference(key: Option<&str>) -> String {
    match key {
        None => String::new(),
        Some(key) => format!("#session-{}", utf8_percent_encode(key, RESERVED)),
    }
}

impl FurtherTerms {
    pub fn new(contexts: &[Context]) -> Self {
        let vocabulary = contexts.iter().any(Context::sets_vocab);
        let terms = contexts.iter().flat_map(|context| context.terms().iter().cloned()).collect();
        Self { terms, vocabulary }
    }
}

impl Further {
    pub fn new(root: Rc<Shape>, terms: FurtherTerms) -> Self {
        Self { root, terms }
    }

    /// What the members of a message are.
    pub fn root(&self) -> &Rc<Shape> {
        &self.root
    }

    /// Whether a member that the built-in contexts leave alone is a term of theirs.
    pub fn takes(&self, name: &str) -> bool {
        let builtin =
            matches!(name, "jsonrpc" | "id" | "method" | "params" | "result" | "error" | "code" | "message" | "data");
        !builtin && !is_keyword_like(name) && self.define(name)
    }

    /// Whether they say themselves what the term means.
    fn define(&self, term: &str) -> bool {
        self.terms.terms.contains(term) || self.terms.vocabulary && !term.contains(':')
    }
}

impl DocumentWriter<'_> {
    /// Numbers keep their value, and nothing that merely looks like an IRI is a property.
    fn rules(&self) -> Rules {
        Rules { numbers: Numbers::Exact, iri_members: IriMembers::Data, blanks: self.blanks }
    }

    /// Puts a comma between this node and the one before it.
    pub fn separate(&mut self) {
        if !self.out.is_empty() {
            self.out.push(',');
        }
    }

    /// Writes a node, and what it says about others.
    pub fn node<'e>(&mut self, annotated: &'e Annotated<'e>) -> Result<(), ReferenceError> {
        self.out.push('{');
        match &annotated.node {
            Node::LogLine(_) => {
                let nth = annotated.name.element.map(|nth| format!(".{nth}")).unwrap_or_default();
                self.member_id(&format!("#l{}{nth}", annotated.location.line));
            }
            _ => self.member_id(&format!("#{}", annotated.name)),
        }
        let mut problems = annotated.problems;
        match &annotated.node {
            Node::Message(message) => {
                self.member_type(class(message.kind));
                self.message(annotated, message, &mut problems)?;
            }
            Node::Invalid(invalid) => {
                self.member_type(rpcg::INVALID_MESSAGE);
                self.invalid(invalid);
            }
            Node::Batch(_) => self.member_type(rpcg::BATCH),
            Node::Malformed(Malformed { bytes }) => {
                self.member_type(rpcg::MALFORMED_RECORD);
                self.text_or_bytes(bytes);
            }
            Node::LogLine(bytes) => {
                self.member_type(rpcg::LOG_LINE);
                self.text_or_bytes(bytes);
            }
        }
        *self.late += u64::from(problems != annotated.problems);
        self.annotations(annotated, problems);
        self.out.push('}');
        if let Some(older) = annotated.superseded {
            self.out.push_str(",{");
            self.member_id(&format!("#{older}"));
            self.reference(rpcg::PROBLEM, Problem::IdReusedWhileOpen.iri().as_str());
            self.out.push('}');
        }
        Ok(())
    }

    /// Writes the session's own node.
    pub fn session_end(&mut self, end: &SessionEnd<'_>) {
        self.out.push('{');
        self.member_id(&session_reference(end.key));
        self.member_type(rpcg::SESSION);
        self.string(rpcg::SOURCE, end.source);
        self.string(rpcg::FORMAT, end.format.name());
        self.integer(rpcg::RECORD_COUNT, end.record_count);
        for (property, time) in [(prov::STARTED_AT_TIME, end.started), (prov::ENDED_AT_TIME, end.ended)] {
            if let Some(time) = time {
                self.typed(property, &time.to_string(), xsd::DATE_TIME);
            }
        }
        self.out.push('}');
    }

    fn message<'e>(
        &mut self,
        annotated: &Annotated<'e>,
        message: &'e Message<'e>,
        problems: &mut Problems,
    ) -> Result<(), ReferenceError> {
        let mut extra = Vec::new();
        if let Some(version) = &message.version {
            self.string_member("jsonrpc", jrpc::VERSION, version, &mut extra, problems)?;
        }
        if let (Some(id), Some(node)) = (&message.id, annotated.id_node()) {
            write_key(jrpc::HAS_ID.as_str(), self.out);
            self.out.push('{');
            self.member_id(&format!("#{}-id", node.owner));
            if node.minted {
                self.id(id);
            }
            self.out.push('}');
        }
        if let Some(method) = &message.method {
            self.string_member("method", jrpc::HAS_METHOD, method, &mut extra, problems)?;
        }
        let root = self.further.map(|further| &further.root);
        for (term, property, value) in
            [("params", jrpc::HAS_PARAMETERS, &message.params), ("result", jrpc::HAS_RESULT, &message.result)]
        {
            if let Some(value) = value {
                self.payload(root, term, property, value, &mut extra, problems)?;
            }
        }
        if let Some(error) = &message.error {
            self.error(annotated.name, error, &mut extra, problems)?;
        }
        self.extra_members(root, &message.extra, extra, problems)?;
        self.facts(&Facts::of(message));
        if let Some(text) = message.text {
            self.string(rpcg::TEXT, text);
        }
        Ok(())
    }

    fn facts(&mut self, facts: &Facts<'_>) {
        if let Some(name) = &facts.tool_name {
            self.string(rpcg::TOOL_NAME, name);
        }
        if let Some(version) = &facts.protocol_version {
            self.string(rpcg::PROTOCOL_VERSION, version);
        }
        if let Some(is_error) = facts.is_error {
            self.boolean(rpcg::IS_ERROR, is_error);
        }
    }

    fn id(&mut self, id: &Id<'_>) {
        match id {
            Id::String(text) => {
                self.member_type(jrpc::STRING_ID);
                self.string(jrpc::HAS_STRING_VALUE, text);
            }
            Id::Number(digits) => {
                self.member_type(jrpc::NUMBER_ID);
                self.typed(jrpc::HAS_NUMBER_VALUE, digits, xsd::DECIMAL);
            }
            Id::Null => self.member_type(jrpc::NULL_ID),
        }
    }

    fn error<'e>(
        &mut self,
        owner: Name,
        error: &'e ErrorMember<'e>,
        extra: &mut Vec<Member<'e>>,
        problems: &mut Problems,
    ) -> Result<(), ReferenceError> {
        let root = self.further.map(|further| &further.root);
        let place = root.map(|root| root.place("error", self.rules())).transpose()?;
        let below = match place {
            None => {
                write_key("error", self.out);
                None
            }
            Some(Place::Mapped(mapped))
                if mapped.is_plain(jrpc::HAS_ERROR, true) && self.keeps_base(mapped.shape()) =>
            {
                write_key("error", self.out);
                Some(mapped.shape().clone())
            }
            // Where the term means something else, that is made of the error too, and the node stands by itself.
            Some(_) => {
                let value = error.to_value();
                self.payload(root, "error", jrpc::HAS_ERROR, &value.into(), extra, problems)?;
                write_key(jrpc::HAS_ERROR.as_str(), self.out);
                root.cloned()
            }
        };
        self.out.push('{');
        self.member_id(&format!("#{owner}-error"));
        match error {
            ErrorMember::Object(object) => self.error_object(object, below.as_ref(), problems)?,
            ErrorMember::Other(value) => {
                self.member_type(jrpc::ERROR);
                self.json(rpcg::VALUE, value);
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn error_object<'e>(
        &mut self,
        error: &'e ErrorObject<'e>,
        below: Option<&Rc<Shape>>,
        problems: &mut Problems,
    ) -> Result<(), ReferenceError> {
        let code = error.code.as_deref();
        let (class, kind) = kind_of_error(code);
        self.member_type(class);
        let mut extra = Vec::new();
        if let Some(code) = code {
            let exact = code.trim_start_matches('-').parse().is_ok_and(|digits: u64| digits <= MAX_EXACT_INTEGER);
            if exact && self.is_term(below, "code")? {
                write_key("code", self.out);
                self.out.push_str(code);
            } else {
                self.typed(jrpc::HAS_ERROR_CODE, code, xsd::INTEGER);
            }
        }
        if let Some(message) = &error.message {
            if self.is_term(below, "message")? {
                write_key("message", self.out);
                json::write_str(message, self.out);
            } else {
                self.string(jrpc::HAS_ERROR_MESSAGE, message);
            }
        }
        if let Some(data) = &error.data {
            if self.is_term(below, "data")? {
                self.payload(below, "data", jrpc::HAS_ERROR_DATA, data, &mut extra, problems)?;
            } else {
                self.json(jrpc::HAS_ERROR_DATA, &data.value());
            }
        }
        if let Some(kind) = kind {
            self.reference(rpcg::ERROR_KIND, kind.as_str());
        }
        self.extra_members(below, &error.extra, extra, problems)
    }

    /// Whether our own names resolve under a scoped context as they do outside.
    fn keeps_base(&self, shape: &Rc<Shape>) -> bool {
        self.further.is_none_or(|further| further.root.active().base_iri() == shape.active().base_iri())
    }

    /// Whether a member of the error is mapped by its term, as it is unless a further context took that from `error`.
    fn is_term(&self, below: Option<&Rc<Shape>>, term: &str) -> Result<bool, ReferenceError> {
        match below {
            None => Ok(true),
            Some(shape) => Ok(!matches!(shape.place(term, self.rules())?, Place::Unmapped)),
        }
    }

    /// A member whose value is a string.
    fn string_member<'e>(
        &mut self,
        term: &'e str,
        property: NamedNodeRef<'_>,
        text: &'e str,
        extra: &mut Vec<Member<'e>>,
        problems: &mut Problems,
    ) -> Result<(), ReferenceError> {
        let root = self.further.map(|further| &further.root);
        if let Some(root) = root
            && !matches!(root.place(term, self.rules())?, Place::Mapped(mapped) if mapped.is_plain(property, false))
        {
            let value = Value::String(Text::Unicode(Cow::Borrowed(text)));
            return self.further_member(root, term, &value, extra, problems);
        }
        write_key(term, self.out);
        json::write_str(text, self.out);
        Ok(())
    }

    /// A member whose value the built-in contexts take as a JSON literal, or a further one as it likes.
    fn payload<'e>(
        &mut self,
        shape: Option<&Rc<Shape>>,
        term: &'e str,
        property: NamedNodeRef<'_>,
        payload: &Payload<'e>,
        extra: &mut Vec<Member<'e>>,
        problems: &mut Problems,
    ) -> Result<(), ReferenceError> {
        if let Some(shape) = shape
            && !matches!(shape.place(term, self.rules())?, Place::Json { property: Some(same) } if same == property.as_str())
        {
            return self.further_member(shape, term, &payload.value(), extra, problems);
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        // Exact numbers never fail.
        if let Ok((literal, canonical)) = payload.canonical(Numbers::Exact, &mut buffer) {
            write_literal_member(term, property.as_str(), literal, canonical, self.out);
        }
        self.buffer = buffer;
        Ok(())
    }

    /// A member that a further context maps. What it would drop of the value is kept beside it, whole.
    fn further_member<'e>(
        &mut self,
        shape: &Rc<Shape>,
        term: &'e str,
        value: &Value<'e>,
        extra: &mut Vec<Member<'e>>,
        problems: &mut Problems,
    ) -> Result<(), ReferenceError> {
        let mut losses = Losses::default();
        shape.write_member(term, value, self.rules(), self.out, &mut losses)?;
        problems.insert_if(losses.count(Loss::KeywordMember) > 0, Problem::KeywordMember);
        if losses != Losses::default() || leaves_nothing(value) {
            extra.push((Text::Unicode(Cow::Borrowed(term)), value.clone()));
        }
        self.losses.merge(&losses);
        Ok(())
    }

    fn extra_members<'e>(
        &mut self,
        shape: Option<&Rc<Shape>>,
        members: &'e [Member<'e>],
        mut extra: Vec<Member<'e>>,
        problems: &mut Problems,
    ) -> Result<(), ReferenceError> {
        for (name, value) in members {
            match (shape, name.as_str()) {
                (Some(shape), Some(term)) if self.further.is_some_and(|further| further.takes(term)) => {
                    self.further_member(shape, term, value, &mut extra, problems)?;
                }
                _ => extra.push((name.clone(), value.clone())),
            }
        }
        if !extra.is_empty() {
            self.json(rpcg::EXTRA_MEMBERS, &Value::Object(Object::from_members(extra)));
        }
        Ok(())
    }

    fn invalid(&mut self, invalid: &Invalid<'_>) {
        self.json(rpcg::VALUE, &invalid.value);
        if let Some(text) = invalid.text {
            self.string(rpcg::TEXT, text);
        }
    }

    fn text_or_bytes(&mut self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok("") => {}
            Ok(text) => self.string(rpcg::TEXT, text),
            Err(_) => self.typed(rpcg::BYTES, &BASE64.encode(bytes), xsd::BASE_64_BINARY),
        }
    }

    fn annotations(&mut self, annotated: &Annotated<'_>, problems: Problems) {
        let session = std::mem::take(&mut self.session);
        self.reference(rpcg::IN_SESSION, &session);
        self.session = session;
        let log_line = matches!(annotated.node, Node::LogLine(_));
        if !log_line {
            self.integer(rpcg::SEQUENCE, annotated.name.record);
        }
        match annotated.time {
            Some(Time::DateTime(time)) => self.typed(rpcg::CAPTURED_AT, &time.to_string(), xsd::DATE_TIME),
            Some(Time::Clock(time)) => self.typed(rpcg::CLOCK_TIME, &time.to_string(), xsd::TIME),
            None => {}
        }
        if let Some(sender) = annotated.sender {
            let role = match sender {
                Sender::Client => rpcg::CLIENT,
                Sender::Server => rpcg::SERVER,
            };
            self.reference(rpcg::SENT_BY, role.as_str());
        }
        if let Some(index) = annotated.batch_index {
            self.reference(rpcg::IN_BATCH, &format!("#m{}", annotated.name.record));
            self.integer(rpcg::BATCH_INDEX, index.into());
        }
        if let Some(request) = annotated.responds_to {
            self.reference(rpcg::RESPONDS_TO, &format!("#{request}"));
        }
        if let Some(latency) = annotated.latency {
            self.typed(rpcg::LATENCY_SECONDS, &latency.to_string(), xsd::DECIMAL);
        }
        if !problems.is_empty() {
            write_key(rpcg::PROBLEM.as_str(), self.out);
            self.out.push('[');
            for (index, problem) in problems.iter().enumerate() {
                self.out.push_str(if index > 0 { ",{" } else { "{" });
                self.member_id(problem.iri().as_str());
                self.out.push('}');
            }
            self.out.push(']');
        }
        if log_line || self.provenance && annotated.batch_index.is_none() {
            self.integer(rpcg::LINE, annotated.location.line);
        }
        if self.provenance && annotated.batch_index.is_none() {
            self.integer(rpcg::BYTE_OFFSET, annotated.location.byte);
            if let Some(record) = annotated.record {
                self.string(rpcg::SHA256, &sha256(record));
            }
        }
    }

    fn member_id(&mut self, reference: &str) {
        write_key("@id", self.out);
        json::write_str(reference, self.out);
    }

    fn member_type(&mut self, class: NamedNodeRef<'_>) {
        write_key("@type", self.out);
        json::write_str(class.as_str(), self.out);
    }

    fn reference(&mut self, property: NamedNodeRef<'_>, reference: &str) {
        write_key(property.as_str(), self.out);
        self.out.push('{');
        self.member_id(reference);
        self.out.push('}');
    }

    fn string(&mut self, property: NamedNodeRef<'_>, text: &str) {
        write_key(property.as_str(), self.out);
        self.out.push_str("{\"@value\":");
        json::write_str(text, self.out);
        self.out.push('}');
    }

    fn typed(&mut self, property: NamedNodeRef<'_>, lexical: &str, datatype: NamedNodeRef<'_>) {
        write_key(property.as_str(), self.out);
        write_typed(lexical, datatype.as_str(), self.out);
    }

    fn integer(&mut self, property: NamedNodeRef<'_>, value: u64) {
        write_key(property.as_str(), self.out);
        let _ = write!(self.out, "{{\"@value\":{value}}}");
    }

    fn boolean(&mut self, property: NamedNodeRef<'_>, value: bool) {
        write_key(property.as_str(), self.out);
        let _ = write!(self.out, "{{\"@value\":{value}}}");
    }

    /// A JSON literal that stands under no term.
    fn json(&mut self, property: NamedNodeRef<'_>, value: &Value<'_>) {
        let mut literal = String::new();
        let canonical = json::write_canonical(value, Numbers::Exact, &mut literal);
        write_key(property.as_str(), self.out);
        if canonical.is_ok_and(|canonical| canonical.interoperable) {
            self.out.push_str("{\"@type\":\"@json\",\"@value\":");
            self.out.push_str(&literal);
            self.out.push('}');
        } else {
            write_json_literal(&literal, self.out);
        }
    }
}

/// Whether no triple tells that the value, or a part of it, was there: JSON-LD drops nulls, and arrays of nothing.
pub(super) fn leaves_nothing(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Array(array) => array.items.is_empty() || array.items.iter().any(leaves_nothing),
        Value::Object(object) => object.members.iter().any(|(_, value)| leaves_nothing(value)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

impl ErrorMember<'_> {
    /// The error as it was: one JSON value.
    fn to_value(&self) -> Value<'_> {
        let object = match self {
            Self::Other(value) => return value.clone(),
            Self::Object(object) => object,
        };
        let named = |name, value| (Text::Unicode(Cow::Borrowed(name)), value);
        let mut members: Vec<Member<'_>> = Vec::new();
        members.extend(object.code.as_deref().map(|code| named("code", Value::Number(json::Number::new(code)))));
        members.extend(
            object
                .message
                .as_deref()
                .map(|message| named("message", Value::String(Text::Unicode(Cow::Borrowed(message))))),
        );
        members.extend(object.data.as_ref().map(|data| named("data", data.value().into_owned())));
        members.extend(object.extra.iter().cloned());
        Value::Object(Object::from_members(members))
    }
}
