//! Logs in a graph: whether anything of them was read as JSON-RPC.

use std::collections::BTreeMap;

use oxrdf::vocab::rdf;
use oxrdf::{NamedNodeRef, NamedOrBlankNodeRef, QuadRef, TermRef};

use crate::vocab::{jrpc, rpcg};

/// The logs whose statements were taken, by their IRIs.
#[derive(Default)]
pub(super) struct GraphedLogs(BTreeMap<String, GraphedLog>);

#[derive(Default)]
struct GraphedLog {
    has_session: bool,
    has_records: bool,
    /// True if some content is JSON-RPC, valid or not.
    is_read: bool,
}

impl GraphedLogs {
    /// Takes a statement.
    pub fn take(&mut self, quad: QuadRef<'_>) {
        let NamedOrBlankNodeRef::NamedNode(subject) = quad.subject else { return };
        let iri = subject.as_str().split_once('#').map_or(subject.as_str(), |(iri, _)| iri);
        let is = |classes: &[NamedNodeRef<'_>]| {
            quad.predicate == rdf::TYPE && classes.iter().any(|class| quad.object == TermRef::from(*class))
        };
        let has_version = quad.predicate == jrpc::VERSION || quad.predicate == jrpc::HAS_VERSION;
        let (is_session, is_record, is_read) = (is(&[rpcg::SESSION]), is(&OTHERS), has_version || is(&MESSAGES));
        if !(is_session || is_record || is_read) {
            return;
        }
        let log = match self.0.get_mut(iri) {
            Some(log) => log,
            None => self.0.entry(iri.to_owned()).or_default(),
        };
        log.has_session |= is_session;
        log.has_records |= is_record;
        log.is_read |= is_read;
    }

    /// Returns the IRIs of the logs that have records, of which none was read as JSON-RPC.
    pub fn unread(self) -> Vec<String> {
        let is_unread = |log: &GraphedLog| log.has_session && log.has_records && !log.is_read;
        self.0.into_iter().filter(|(_, log)| is_unread(log)).map(|(iri, _)| iri).collect()
    }
}

const MESSAGES: [NamedNodeRef<'static>; 5] =
    [jrpc::REQUEST, jrpc::NOTIFICATION, jrpc::RESPONSE, jrpc::ERROR_RESPONSE, rpcg::HTTP_EXCHANGE];
const OTHERS: [NamedNodeRef<'static>; 2] = [rpcg::INVALID_MESSAGE, rpcg::MALFORMED_RECORD];

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
            ("[{\"m\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}}]\n", false),
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
