//! A graph is the same before and after Oxigraph's store, which gives numbers and times back in a form of its own.

use std::collections::BTreeSet;

use oxigraph::store::Store;
use oxrdf::{GraphName, Literal, NamedNode, NamedNodeRef, Quad};
use oxrdfio::RdfFormat;
use rpcgraph::mapping::{InputIri, InputMapper, MapPart, MapTarget as _, Mapper, Mapping};
use rpcgraph::message::Content;
use rpcgraph::record::{Format, Location, Record, Sender, Time};
use rpcgraph::session::{Origin, Sessions};
use rpcgraph::triples::{NodeRef, ObjectRef, TripleSink};

use super::{BASE, Place, rpcg, values};

/// Asserts that the store gives back exactly what it is given.
fn assert_stored(quads: &[Quad]) {
    let store = Store::new().expect("a store in memory");
    store.extend(quads.iter().cloned()).expect("a load");
    let given: BTreeSet<String> = quads.iter().map(ToString::to_string).collect();
    let back: BTreeSet<String> = store.iter().map(|quad| quad.expect("a quad").to_string()).collect();
    assert_eq!(given, back);
}

#[test]
fn ids_and_codes() {
    let ids = [
        "1",
        "1.0",
        "1.50",
        "-0",
        "1e3",
        "0.5",
        "-0.0",
        "0e10",
        "1E-2",
        "100",
        "-7",
        "-0.50",
        "12345678901234567890",
        "123456789012345678901234567890.5",
        "0.1234567890123456789012345",
        "1e30",
        "1e-30",
        "\"1\"",
        "\"\"",
        "null",
    ];
    let mut log = String::new();
    for id in ids {
        log.push_str(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\"}}\n"));
        log.push_str(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{},\"message\":\"\"}}}}\n",
            id.trim_matches('"').parse().map_or("-0".to_owned(), |code: f64| format!("{code:.0}"))
        ));
    }
    let place = Place::with("log", &log);
    let ran = place.convert(&["log", "--base", BASE, "-t", "nquads", "--quiet", "--provenance"]);
    let quads = ran.quietly().quads(RdfFormat::NQuads);
    assert_stored(&quads);
    let numbers = ["1", "1", "1.5", "0", "1000", "0.5", "0", "0", "0.01", "100", "-7", "-0.5"];
    for (number, record) in numbers.iter().zip((1..).step_by(2)) {
        let node = format!("#m{record}-id");
        assert_eq!(values(&quads, &node, "http://json-rpc.org/ontology#hasNumberValue"), [*number], "{node}");
    }
}

#[test]
fn arrows_with_clocks() {
    let log = "V[13:09:49.120] <<< {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}
V[13:09:50.000] >>> {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}
V[24:00:00] <<< {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"m\"}
V[00:00:00.010] >>> {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":1}
";
    let ran = Place::with("log", log).convert(&["log", "--base", BASE, "-t", "nquads", "--provenance"]);
    let quads = ran.quads(RdfFormat::NQuads);
    assert_stored(&quads);
    assert_eq!(values(&quads, "#m1", &rpcg("clockTime")), ["13:09:49.12"]);
    assert_eq!(values(&quads, "#m2", &rpcg("clockTime")), ["13:09:50"]);
    assert_eq!(values(&quads, "#m2", &rpcg("latencySeconds")), ["0.88"]);
    assert_eq!(values(&quads, "#m4", &rpcg("latencySeconds")), ["0.01"]);
}

/// Keeps the literals that have a datatype, of messages and of the session.
struct Literals {
    subject: Option<String>,
    quads: Vec<Quad>,
}

impl TripleSink for Literals {
    fn subject(&mut self, node: NodeRef<'_>) {
        self.subject = match node {
            NodeRef::Message(name) => Some(format!("{BASE}#{name}")),
            NodeRef::Session(reference) => Some(format!("{BASE}{reference}")),
            _ => None,
        };
    }

    fn triple(&mut self, predicate: NamedNodeRef<'_>, object: ObjectRef<'_>) {
        if let (ObjectRef::Typed(lexical, datatype), Some(subject)) = (object, &self.subject) {
            let subject = NamedNode::new_unchecked(subject);
            let literal = Literal::new_typed_literal(lexical, NamedNode::new_unchecked(datatype));
            self.quads.push(Quad::new(subject, predicate, literal, GraphName::DefaultGraph));
        }
    }

    fn quads(&mut self, quads: &[Quad]) {
        self.quads.extend_from_slice(quads);
    }
}

/// The literals of a session that was recorded at these times. Both ways of making them have to agree.
fn timed(times: &[&str]) -> Vec<Quad> {
    let [fast, reference] = [false, true].map(|reference_only| {
        let mapper = Mapper::new(Mapping::Session, &[]).expect("contexts work").with_reference_only(reference_only);
        let quads = literals(&mapper, times).into_iter();
        quads.map(|quad| Quad { graph_name: GraphName::DefaultGraph, ..quad }).collect::<Vec<_>>()
    });
    for quad in &fast {
        assert!(reference.contains(quad), "{quad} in {reference:?}");
    }
    fast
}

fn literals(mapper: &Mapper, times: &[&str]) -> Vec<Quad> {
    let iri = InputIri { number: 0, iri: BASE.to_owned(), stated: true };
    let mut input = InputMapper::new(mapper, &iri);
    let mut sessions = Sessions::new();
    let mut literals = Literals { subject: None, quads: Vec::new() };
    for (number, time) in (1..).zip(times) {
        let (sender, bytes) = match number % 2 {
            1 => (Sender::Client, format!("{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"m\"}}")),
            _ => (Sender::Server, format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":0}}", number - 1)),
        };
        let mut record = Record::new(bytes.into_bytes());
        record.location = Location { record: number, line: number, byte: 0 };
        record.sender = Some(sender);
        record.time = Some(match time.contains('T') {
            true => Time::DateTime(time.parse().expect("a date and a time")),
            false => Time::Clock(time.parse().expect("a time")),
        });
        let mut content = Content::parse(&record.bytes);
        let nodes = sessions.annotate(&record, &mut content);
        literals.map(&mut input, &MapPart::Nodes("", &nodes, &[])).expect("a mapping");
    }
    let origin = Origin { source: "log".into(), format: Format::JsonLines };
    let end = sessions.ends(&origin).next().expect("a session");
    literals.map(&mut input, &MapPart::End(&end)).expect("a mapping");
    literals.quads
}

#[test]
fn times_and_latencies() {
    let quads = timed(&[
        "2026-01-05T10:00:00.120Z",
        "2026-01-05T10:00:00.538Z",
        "2026-01-05T10:00:01.000Z",
        "2026-01-05T12:00:01.500+02:00",
        "2026-01-05T10:00:02.000000001Z",
        "2026-01-05T10:00:02.100000001Z",
        "2026-01-05T24:00:00Z",
        "2026-01-06T00:00:00-00:00",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999Z",
    ]);
    assert_stored(&quads);
    for (node, time, latency) in [
        ("#m1", "2026-01-05T10:00:00.12Z", None),
        ("#m2", "2026-01-05T10:00:00.538Z", Some("0.418")),
        ("#m3", "2026-01-05T10:00:01Z", None),
        ("#m4", "2026-01-05T12:00:01.5+02:00", Some("0.5")),
        ("#m6", "2026-01-05T10:00:02.100000001Z", Some("0.1")),
        ("#m8", "2026-01-06T00:00:00Z", Some("0")),
    ] {
        assert_eq!(values(&quads, node, &rpcg("capturedAt")), [time], "{node}");
        assert_eq!(values(&quads, node, &rpcg("latencySeconds")), Vec::from_iter(latency), "{node}");
    }
    let prov = |name: &str| values(&quads, "", &format!("http://www.w3.org/ns/prov#{name}"));
    assert_eq!(prov("startedAtTime"), ["0001-01-01T00:00:00Z"]);
    assert_eq!(prov("endedAtTime"), ["9999-12-31T23:59:59.999Z"]);
}

#[test]
fn times_without_a_timezone_or_a_date() {
    let quads = timed(&["2026-01-05T10:00:00.10", "2026-01-05T10:00:00.20", "10:00:00.10", "10:00:00.100"]);
    assert_stored(&quads);
    assert_eq!(values(&quads, "#m1", &rpcg("capturedAt")), ["2026-01-05T10:00:00.1"]);
    assert_eq!(values(&quads, "#m2", &rpcg("latencySeconds")), ["0.1"]);
    assert_eq!(values(&quads, "#m3", &rpcg("clockTime")), ["10:00:00.1"]);
    assert_eq!(values(&quads, "#m4", &rpcg("latencySeconds")), ["0"]);
}
