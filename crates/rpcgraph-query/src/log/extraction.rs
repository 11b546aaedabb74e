#![cfg(test)]
//! Tests of what a conversion extracts for a query.

use rpcgraph_graph::convert::{Converter, Options};
use rpcgraph_graph::mapping::{Mapper, Mapping};
use rpcgraph_log::protocol::{Extraction, Maker, Protocol};

use crate::query::Query;

#[test]
fn protocols_are_read_where_something_is_asked_that_only_they_tell() {
    let mapper = Mapper::new(Mapping::Session, &[]).unwrap();
    let converter = Converter::new(mapper, Options::default());
    let extracted = |text: &str| {
        let text = format!("SELECT * {{ {text} }}");
        let Extraction { protocol, makers, .. } =
            converter.extracted(Some(Query::parse(&text, None).unwrap().needs()), false);
        (protocol, makers.has_protocols() && makers.are_of_protocols(&[Maker::ErrorKind]))
    };
    for text in [
        "?m a jrpc:Request ; jrpc:hasParameters ?p",
        "?m a rpcg:InvalidMessage ; rpcg:value ?v",
        "?m rpcg:respondsTo ?r OPTIONAL { ?m rpcg:value|rpcg:text ?v }",
        "?m jrpc:hasError/(jrpc:hasErrorMessage|rpcg:value) ?v",
        "?m rpcg:problem rpcg:DuplicateAnswer",
    ] {
        assert_eq!(extracted(text), (Protocol::None, false), "{text}");
    }
    assert_eq!(extracted("?m jrpc:hasError ?e . ?e rpcg:errorKind ?k"), (Protocol::Auto, true));
    for text in [
        "?s ?p ?o",
        "?x a ?class",
        // MCP ignores the answer to a cancelled request, even if it fails.
        "?m a ?class ; rpcg:sequence ?n",
        "?m jrpc:hasError ?e . ?e rpcg:value ?v ; a ?class",
        "?x rpcg:value ?v",
        "?m rpcg:problem ?p",
        "?m rpcg:inOperation ?o",
        "?m jrpc:hasError ?e OPTIONAL { ?x rpcg:value ?v }",
        "{ ?x jrpc:hasError ?e } UNION { ?x rpcg:value ?v }",
        "?m rpcg:inOperation ?o . ?e rpcg:errorKind ?k",
        "?x a ?class OPTIONAL { ?x rpcg:respondsTo ?r }",
    ] {
        assert_eq!(extracted(text), (Protocol::Auto, false), "{text}");
    }
}

#[test]
fn payloads_are_read_where_a_triple_depends_on_them() {
    let mapper = Mapper::new(Mapping::Session, &[]).unwrap();
    let converter = Converter::new(mapper, Options::default());
    let payloads = |text: &str| {
        let query = Query::parse(&format!("SELECT * {{ {text} }}"), None).unwrap();
        converter.extracted(Some(query.needs()), false).payloads
    };
    for text in ["?m a jrpc:Request ; jrpc:hasMethod ?n", "?m rpcg:latencySeconds ?s ; rpcg:respondsTo/jrpc:hasId ?i"] {
        assert!(!payloads(text), "{text}");
    }
    for text in [
        "?s ?p ?o",
        "?m a ?class",
        "?m a rpcg:Failure",
        "?m jrpc:hasParameters ?p",
        "?m jrpc:hasError/jrpc:hasErrorData ?d",
        "?m rpcg:problem rpcg:DuplicateMember",
        "?m rpcg:text ?t",
        "?m rpcg:toolName ?t",
    ] {
        assert!(payloads(text), "{text}");
    }
    assert!(converter.extracted(None, true).payloads);
}

#[test]
fn messages_are_paired_where_a_triple_depends_on_others() {
    let mapper = Mapper::new(Mapping::Session, &[]).unwrap();
    let converter = Converter::new(mapper, Options::default());
    let exchanges = |text: &str| {
        let query = Query::parse(&format!("SELECT * {{ {text} }}"), None).unwrap();
        converter.extracted(Some(query.needs()), false).exchanges
    };
    for text in ["?m a jrpc:Request ; jrpc:hasMethod ?n", "?m a jrpc:ErrorResponse ; rpcg:sequence ?n"] {
        assert!(!exchanges(text), "{text}");
    }
    for text in [
        "?s ?p ?o",
        "?m a ?class",
        "?m a rpcg:Failure",
        "?id a jrpc:NumberId",
        "?m jrpc:hasId ?id",
        "?m rpcg:sentBy ?side",
        "?m rpcg:inSession ?session",
        "?m jrpc:hasMethod ?n FILTER NOT EXISTS { ?a rpcg:respondsTo ?m }",
    ] {
        assert!(exchanges(text), "{text}");
    }
    let query = Query::parse("SELECT * { GRAPH ?g { ?m jrpc:hasMethod ?n } }", None).unwrap();
    assert!(converter.extracted(Some(query.needs()), true).exchanges);
}
