//! Annotated messages as parts of spans, in the terms of OpenTelemetry's conventions for JSON-RPC and MCP.
//!
//! | message | attributes |
//! |---|---|
//! | every request | `rpc.system.name`, `rpc.method`, `jsonrpc.request.id`, `jsonrpc.protocol.version`, `session.id` |
//! | a request over HTTP with a `Mcp-Session-Id`, or in an archive whose session has one | `mcp.session.id` |
//! | the resource of every span | `service.name`: the name of the session's server, else of its client, else of the log |
//! | a request of MCP | `mcp.method.name`, `mcp.protocol.version`, `gen_ai.tool.name`, `gen_ai.prompt.name`, `gen_ai.operation.name` |
//! | an error | `rpc.response.status_code` |
//! | an answer over HTTP | `http.response.status_code` |
//! | an answer with a time before its request | `rpcgraph.answer_before_request`; the span has no duration |
//! | an answer whose latency the offset of the clocks corrects, from the first of these on | `rpcgraph.latency_estimated` |
//! | a failure: an error, a tool or an HTTP exchange that failed | `error.type`, and the span's status |
//! | a request without an answer, if the log shows that | `rpcgraph.state`; the span ends with the session, in its restart, or as it was cancelled |
//! | payloads, if enabled | the message of the status, `mcp.resource.uri`, `gen_ai.tool.call.arguments` |

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::facts::PayloadFacts;
use super::{InputMapper, MapPart, MapTarget, ReferenceError};
use crate::json::Canonical;
use crate::message::{ErrorMember, Id, Kind, Message, Payload, Problem};
use crate::protocol::{Statement, StatementObject, literal_of};
use crate::record::units::{scaled, since_1970};
use crate::record::{Protocols, Sender, Time, known_method};
use crate::session::triples::{NodeRef, PartKind, ProtocolPart};
use crate::session::{Annotated, FailureKind, Name, Node, session_reference};
use crate::sink::otlp::{Answer, SpanPart, SpanRecords, TimedRequest, attribute};
use crate::vocab::{lsp, mcp, rpcg};

impl MapTarget for SpanRecords {
    fn map(&mut self, _: &mut InputMapper<'_>, part: &MapPart<'_>) -> Result<(), ReferenceError> {
        if let MapPart::End(end) = *part {
            let restarted = end.restart.and_then(|restart| restart.time).or(end.exited);
            let ended = restarted.or(end.ended.map(Time::DateTime)).and_then(nanoseconds);
            let latencies = end.estimates.iter().map(|(answer, seconds)| (*answer, scaled(*seconds, 9))).collect();
            self.parts.push(SpanPart::Ends(session_reference(end.key), latencies));
            self.parts.extend(end.unanswered.iter().map(|(name, state)| SpanPart::Silent(*name, ended, *state)));
        } else if let MapPart::Nodes(session, nodes, statements) = *part {
            for node in nodes {
                let statements = statements.get(node.meaning.clone()).unwrap_or_default();
                self.parts.extend(introduction(session, statements));
                let part = match (&node.node, node.responds_to) {
                    (Node::Message(message), _) => self.part(node, message, session, statements),
                    (Node::Exchange(_), Some(request)) => Some(self.answer(node, request, None)),
                    _ => None,
                };
                self.parts.extend(part);
            }
        }
        Ok(())
    }
}

/// Returns the program that a message introduces, if it states its name.
fn introduction(session: &str, statements: &[Statement<'_>]) -> Option<SpanPart> {
    let node = statements.iter().find_map(|statement| match statement.object {
        StatementObject::Node(node) if statement.property == rpcg::INTRODUCES => Some(node),
        _ => None,
    })?;
    let name = [mcp::HAS_NAME, lsp::NAME].into_iter().find_map(|property| literal_of(statements, node, property))?;
    let is_client = matches!(node, NodeRef::Part(_, ProtocolPart { kind: PartKind::Client, .. }));
    let side = if is_client { Sender::Client } else { Sender::Server };
    Some(SpanPart::Introduces(session.to_owned(), side, name.to_owned()))
}

/// Returns the `Mcp-Session-Id` in the reference of a session of an origin: `#session-https%3A%2F%2Fexample.org%23ID`.
fn mcp_session(session: &str) -> Option<String> {
    let key = percent_decode_str(session.strip_prefix("#session-")?).decode_utf8().ok()?;
    let (_, id) = key.split_once('#').filter(|(origin, id)| origin.contains("://") && !id.is_empty())?;
    Some(id.to_owned())
}

/// Returns the nanoseconds since 1970, if the time has a date and a zone.
fn nanoseconds(time: Time) -> Option<i128> {
    if let Time::DateTime(time) = time { since_1970(time, 9) } else { None }
}

impl SpanRecords {
    fn part(
        &self,
        annotated: &Annotated<'_>,
        message: &Message<'_>,
        session: &str,
        statements: &[Statement<'_>],
    ) -> Option<SpanPart> {
        let time = annotated.time.and_then(nanoseconds);
        Some(match (message.kind, time, annotated.responds_to) {
            (Kind::Response | Kind::ErrorResponse, _, None) => SpanPart::Apart,
            (Kind::Response | Kind::ErrorResponse, _, Some(request)) => self.answer(annotated, request, Some(message)),
            (_, None, _) => SpanPart::Untimed,
            (Kind::Notification, Some(time), _) => {
                let about = statements.iter().find_map(|statement| match statement.object {
                    StatementObject::Node(NodeRef::Message(request))
                        if [rpcg::PROGRESS_OF, rpcg::CANCELS].contains(&statement.property) =>
                    {
                        Some(request)
                    }
                    _ => None,
                });
                SpanPart::Tells(about, json!({ "timeUnixNano": time.to_string(), "name": message.method }))
            }
            (Kind::Request, Some(start), _) => {
                let own = NodeRef::Message(annotated.name);
                let said = |property| literal_of(statements, own, property).map(str::to_owned);
                let facts = PayloadFacts::from_message(message);
                let name = [message.method.as_deref(), facts.tool_name.as_deref()];
                let asked = TimedRequest {
                    start,
                    iri: format!("{}{own}", self.iri),
                    session: session.to_owned(),
                    name: name.into_iter().flatten().collect::<Vec<_>>().join(" "),
                    trace: said(rpcg::TRACE_ID).zip(said(rpcg::PARENT_SPAN_ID)).map(<[String; 2]>::from),
                    attributes: self.request(annotated, message, &facts, session),
                    events: Vec::new(),
                };
                SpanPart::Asks(annotated.name, Box::new(asked))
            }
        })
    }

    fn request(
        &self,
        annotated: &Annotated<'_>,
        message: &Message<'_>,
        facts: &PayloadFacts<'_>,
        session: &str,
    ) -> Vec<Value> {
        let method = message.method.as_deref().unwrap_or_default();
        let id = match &message.id {
            Some(Id::String(text) | Id::Number(text)) => Some(&**text),
            _ => None,
        };
        let is_mcp = known_method(method).is_some_and(|known| known.protocols.has(Protocols::MCP));
        let mut attributes = vec![
            attribute("rpc.system.name", "jsonrpc"),
            attribute("rpc.method", method),
            attribute("session.id", &format!("{}{session}", self.iri)),
        ];
        let headers = annotated.headers.map(|headers| Payload::new(headers, Canonical { interoperable: true }));
        let id_of_session = headers.as_ref().and_then(|headers| headers.string_member("mcp-session-id"));
        let id_of_session = id_of_session.map(Cow::into_owned).or_else(|| mcp_session(session));
        let tool = facts.tool_name.as_deref();
        let params = message.params.as_ref().filter(|_| is_mcp);
        let prompt = params.filter(|_| method == "prompts/get").and_then(|params| params.string_member("name"));
        let params = params.filter(|_| self.payloads);
        let arguments = params.filter(|_| tool.is_some()).and_then(|params| params.member("arguments"));
        let uri = params.and_then(|params| params.string_member("uri"));
        for (key, text) in [
            ("jsonrpc.request.id", id),
            ("jsonrpc.protocol.version", message.version.as_deref()),
            ("mcp.method.name", is_mcp.then_some(method)),
            ("mcp.session.id", id_of_session.as_deref()),
            ("mcp.protocol.version", facts.protocol_version.as_deref()),
            ("gen_ai.tool.name", tool),
            ("gen_ai.prompt.name", prompt.as_deref()),
            ("gen_ai.operation.name", tool.map(|_| "execute_tool")),
            ("gen_ai.tool.call.arguments", arguments),
            ("mcp.resource.uri", uri.as_deref()),
        ] {
            attributes.extend(text.map(|text| attribute(key, text)));
        }
        attributes
    }

    fn answer(&self, annotated: &Annotated<'_>, request: Name, message: Option<&Message<'_>>) -> SpanPart {
        let took = annotated.latency.map(|latency| scaled(latency, 9));
        if took.is_none() && !annotated.problems.contains(Problem::AnswerBeforeRequest) {
            return SpanPart::UntimedAnswer(request);
        }
        let (attributes, status) = self.outcome(annotated, message);
        SpanPart::Answers(request, Box::new(Answer { name: annotated.name, took, attributes, status }))
    }

    /// Returns the attributes and the status that an answer gives its span.
    fn outcome(&self, annotated: &Annotated<'_>, message: Option<&Message<'_>>) -> (Vec<Value>, Value) {
        let (code, text) = match message.and_then(|message| message.error.as_ref()) {
            Some(ErrorMember::Object(error)) => (error.code.as_deref(), error.message.as_deref()),
            Some(ErrorMember::Other(_)) | None => (None, None),
        };
        let status = annotated.http.and_then(|http| http.status);
        let mut attributes: Vec<_> = code.map(|code| attribute("rpc.response.status_code", code)).into_iter().collect();
        attributes.extend(
            status.map(
                |status| json!({ "key": "http.response.status_code", "value": { "intValue": status.to_string() } }),
            ),
        );
        let kind = match annotated.failure {
            None => return (attributes, json!({})),
            Some(FailureKind::Error) => code.unwrap_or("_OTHER").to_owned(),
            Some(FailureKind::Tool) => "tool_error".to_owned(),
            Some(FailureKind::Http) => status.map_or("_OTHER".to_owned(), |status| status.to_string()),
        };
        attributes.insert(0, attribute("error.type", &kind));
        let status = match annotated.failure {
            Some(FailureKind::Error) => {
                json!({ "code": 2, "message": text.filter(|_| self.payloads).unwrap_or_default() })
            }
            _ => json!({ "code": 2 }),
        };
        (attributes, status)
    }
}
