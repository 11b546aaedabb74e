//! Logs in a graph: whether anything of them was read as JSON-RPC, as `Summary` says of a log.

use std::collections::BTreeMap;

use oxrdf::vocab::rdf;
use oxrdf::{NamedNodeRef, NamedOrBlankNodeRef, QuadRef, TermRef};

use crate::message::Content;
use crate::record::{Certainty, Format, is_member_of_messages};
use crate::vocab::{jrpc, rpcg};

/// The logs whose statements were taken, by their IRIs.
#[derive(Default)]
pub(super) struct GraphedLogs(BTreeMap<String, GraphedLog>);

#[derive(Default)]
struct GraphedLog {
    has_session: bool,
    /// True if some content is JSON-RPC, valid or not.
    is_sure: bool,
    /// True if the format marks messages.
    is_marked: bool,
    messages: u64,
    /// The number of messages with members that JSON-RPC does not define.
    doubtful: u64,
    /// The number of records, and elements of batches, that are not messages.
    others: u64,
}

/// A statement that says something about the reading.
enum GraphedFact<'q> {
    Session,
    Message,
    Other,
    Sure,
    Extra(&'q str),
    Value(&'q str),
    Format(&'q str),
}

impl GraphedLogs {
    /// Takes a statement.
    pub fn take(&mut self, quad: QuadRef<'_>) {
        let (NamedOrBlankNodeRef::NamedNode(subject), Some(fact)) = (quad.subject, fact(quad)) else { return };
        let (iri, fragment) = subject.as_str().split_once('#').unwrap_or((subject.as_str(), ""));
        let log = match self.0.get_mut(iri) {
            Some(log) => log,
            None => self.0.entry(iri.to_owned()).or_default(),
        };
        match fact {
            GraphedFact::Session => log.has_session = true,
            GraphedFact::Message => log.messages += 1,
            GraphedFact::Other => log.others += 1,
            GraphedFact::Sure => log.is_sure = true,
            GraphedFact::Format(name) => log.is_marked |= !UNMARKED.iter().any(|format| format.name() == name),
            _ if log.is_sure => {}
            GraphedFact::Value(text) => {
                log.is_sure = Content::parse(text.as_bytes()).certainty() == Certainty::Sure;
            }
            GraphedFact::Extra(text) if !fragment.ends_with("-error") => {
                let members = serde_json::from_str::<serde_json::Map<_, _>>(text).unwrap_or_default();
                log.is_sure = members.contains_key("jsonrpc");
                log.doubtful += u64::from(members.keys().any(|name| !is_member_of_messages(name.as_bytes())));
            }
            GraphedFact::Extra(_) => {}
        }
    }

    /// Returns the IRIs of the logs that have records, of which none was read as JSON-RPC.
    pub fn unread(self) -> Vec<String> {
        let is_unread = |log: &GraphedLog| {
            let is_read = log.is_sure || log.messages > 0 && (log.is_marked || log.messages > log.doubtful);
            log.has_session && !is_read && log.messages + log.others > 0
        };
        self.0.into_iter().filter(|(_, log)| is_unread(log)).map(|(iri, _)| iri).collect()
    }
}

/// Formats that do not mark messages.
const UNMARKED: [Format; 3] = [Format::JsonLines, Format::JsonValues, Format::JsonArray];

fn fact(quad: QuadRef<'_>) -> Option<GraphedFact<'_>> {
    let property = quad.predicate;
    match quad.object {
        TermRef::NamedNode(class) if property == rdf::TYPE => match class {
            _ if class == rpcg::SESSION => Some(GraphedFact::Session),
            _ if MESSAGES.contains(&class) => Some(GraphedFact::Message),
            _ if class == rpcg::HTTP_EXCHANGE => Some(GraphedFact::Sure),
            _ if class == rpcg::INVALID_MESSAGE || class == rpcg::MALFORMED_RECORD => Some(GraphedFact::Other),
            _ => None,
        },
        TermRef::Literal(literal) => match property {
            _ if property == jrpc::VERSION || property == jrpc::HAS_VERSION => Some(GraphedFact::Sure),
            _ if property == rpcg::EXTRA_MEMBERS => Some(GraphedFact::Extra(literal.value())),
            _ if property == rpcg::VALUE => Some(GraphedFact::Value(literal.value())),
            _ if property == rpcg::FORMAT => Some(GraphedFact::Format(literal.value())),
            _ => None,
        },
        _ => None,
    }
}

const MESSAGES: [NamedNodeRef<'static>; 4] = [jrpc::REQUEST, jrpc::NOTIFICATION, jrpc::RESPONSE, jrpc::ERROR_RESPONSE];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Log;
    use oxrdfio::{RdfFormat, RdfParser};

    #[test]
    fn a_graph_is_read_as_its_log_was() {
        for (log, is_read) in [
            ("not a log\n", false),
            ("[\"a\",\"b\"]\n", false),
            ("[{\"m\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}}]\n", true),
            ("{\"method\":\"GET\",\"status\":200}\n", false),
            ("", true),
            ("not a log\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}\n", true),
            ("{\"jsonrpc\":\"2.0\"}\n", true),
            ("{\"jsonrpc\":2,\"method\":\"a\",\"x\":1}\n", true),
            ("{\"method\":\"a\",\"id\":1}\n", true),
            ("{\"method\":\"a\",\"id\":1,\"sessionId\":\"s\"}\n", true),
            ("{\"id\":1,\"error\":{\"code\":1,\"message\":\"m\",\"x\":1}}\n", true),
        ] {
            let mut graph = Vec::new();
            Log::read("urn:x:log", log.as_bytes()).write_to(&mut graph, crate::sink::Syntax::NQuads).expect("a graph");
            let mut logs = GraphedLogs::default();
            for quad in RdfParser::from_format(RdfFormat::NQuads).for_slice(&graph) {
                logs.take(quad.expect("a quad").as_ref());
            }
            assert_eq!(logs.unread().is_empty(), is_read, "{log}");
        }
        assert!(GraphedLogs::default().unread().is_empty());
    }
}
