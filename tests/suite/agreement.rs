//! Other JSON-LD processors, given the JSON-LD that we print, make the graph that we make.
//!
//! That is what it means that the annotated message is the definition. Here the other processor is oxjsonld; in
//! `agreement/jsonld_js.rs` it is jsonld.js. Literals are compared as they are: oxjsonld makes doubles of the numbers in a JSON
//! literal and sorts its members by code point, where RFC 8785 sorts by UTF-16 code unit, but what this would change is
//! printed as a string of type `rdf:JSON`.

mod contexts;
mod generated;
mod jsonld_js;

use std::fs;
use std::thread;

use oxjsonld::JsonLdParser;
use oxrdf::{BlankNode, GraphName, NamedOrBlankNode, Quad, Term};
use oxrdfio::{RdfFormat, RdfParser};
use rpcgraph::context::Context;
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::record::{Format, ReaderOptions};
use rpcgraph::sink::{Sink, Syntax};

use crate::support::{BASE, assert_isomorphic, corpora, files};

const MAPPINGS: [Mapping; 2] = [Mapping::Session, Mapping::Bblock];

/// The program under one mapping and some further contexts, for any number of logs.
struct Program {
    mapping: Mapping,
    converter: Converter,
}

impl Program {
    fn new(mapping: Mapping, contexts: &[Context]) -> Self {
        Self::with(mapping, contexts, None)
    }

    /// Takes every line for a record, whatever the log looks like.
    fn json_lines(mapping: Mapping) -> Self {
        Self::with(mapping, &[], Some(Format::JsonLines))
    }

    fn with(mapping: Mapping, contexts: &[Context], format: Option<Format>) -> Self {
        let mapper = Mapper::new(mapping, contexts).expect("contexts work").with_provenance(true);
        let reader = ReaderOptions { format, ..ReaderOptions::default() };
        let options = Options { reader, log_lines: true, ..Options::default() };
        Self { mapping, converter: Converter::new(mapper, options) }
    }

    fn print(&mut self, log: &[u8], syntax: Syntax) -> String {
        let mut text = Vec::new();
        let mut sink = syntax.sink(&mut text, 1);
        self.feed(log, BASE, &mut sink);
        sink.finish().expect("the end");
        drop(sink);
        String::from_utf8(text).expect("text")
    }

    fn feed(&mut self, log: &[u8], iri: &str, sink: &mut Sink<'_>) {
        let (name, source) = ("log".to_owned(), "log".to_owned());
        let input = Input { name, source, iri: iri.to_owned(), iri_stated: true, read: log };
        self.converter.convert(input, sink, &mut |_| {}).expect("a conversion");
    }

    fn quads(&mut self, log: &[u8]) -> Vec<Quad> {
        nquads(&self.print(log, Syntax::NQuads))
    }

    /// Asserts that oxjsonld reads our JSON-LD as our own graph, the document and the lines.
    fn assert_agrees(&mut self, log: &[u8], what: &str) {
        let quads = self.assert_document_agrees(log, what);
        let lines = self.print(log, Syntax::JsonLdLines);
        let lines: Vec<_> = (0..).zip(lines.lines()).flat_map(|(number, line)| oxjsonld(line, number)).collect();
        assert_isomorphic(&quads, &lines, &format!("{what}, {:?}, jsonld-lines", self.mapping));
    }

    /// The same for the document alone; gives our quads.
    fn assert_document_agrees(&mut self, log: &[u8], what: &str) -> Vec<Quad> {
        let quads = self.quads(log);
        let document = oxjsonld(&self.print(log, Syntax::JsonLd), 0);
        assert_isomorphic(&quads, &document, &format!("{what}, {:?}, jsonld", self.mapping));
        quads
    }
}

/// Does work on a stack as large as the command's: the expansion of deep messages takes more than tests are given.
fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(256 << 20).spawn_scoped(scope, work).expect("a thread");
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn nquads(text: &str) -> Vec<Quad> {
    RdfParser::from_format(RdfFormat::NQuads).for_slice(text.as_bytes()).map(|quad| quad.expect("N-Quads")).collect()
}

/// Parses a document with oxjsonld. Blank nodes of documents with different numbers are different.
fn oxjsonld(document: &str, number: usize) -> Vec<Quad> {
    let renamed = |blank: BlankNode| BlankNode::new_unchecked(format!("d{number}-{}", blank.as_str()));
    let quads = JsonLdParser::new().for_slice(document.as_bytes()).map(|quad| {
        let mut quad = quad.unwrap_or_else(|error| panic!("{error}:\n{document}"));
        if let NamedOrBlankNode::BlankNode(blank) = quad.subject {
            quad.subject = renamed(blank).into();
        }
        if let Term::BlankNode(blank) = quad.object {
            quad.object = renamed(blank).into();
        }
        if let GraphName::BlankNode(blank) = quad.graph_name {
            quad.graph_name = renamed(blank).into();
        }
        quad
    });
    quads.collect()
}

/// Every log of the project's own and of the corpora, whole and as it was captured.
fn logs() -> Vec<(String, Vec<u8>)> {
    let mut paths: Vec<_> =
        ["messages.ndjson", "not-json.txt", ".io", ".log"].into_iter().flat_map(crate::support::logs).collect();
    if let Some(corpora) = corpora() {
        for folder in ["lsp-inspector", "mcp-rust-sdk", "JSONTestSuite/test_parsing"] {
            paths.extend(files(&corpora.join(folder), ".json"));
        }
    }
    paths.iter().map(|path| (path.display().to_string(), fs::read(path).expect("a log"))).collect()
}

/// Messages that no corpus holds.
fn torture() -> Vec<u8> {
    let lines = [
        r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"big","params":[9007199254740993,-0,1e2,0.1000,1e400,-1e400]}"#,
        r#"{"jsonrpc":"2.0","id":9007199254740993,"result":{"n":123456789012345678901234567890.5,"m":1.0,"o":5e-324}}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"fraction","params":{"id":9007199254740993}}"#,
        r#"{"jsonrpc":"2.0","id":15e-1,"result":0.30000000000000004}"#,
        r#"{"jsonrpc":"2.0","id":1e-7,"method":"small"}"#,
        r#"{"jsonrpc":"2.0","id":1e20,"method":"large"}"#,
        r#"{"jsonrpc":"2.0","id":1e21,"method":"larger"}"#,
        r#"{"jsonrpc":"2.0","id":123456789012345678901,"method":"large"}"#,
        r#"{"jsonrpc":"2.0","id":1e400,"method":"beyond"}"#,
        r#"{"jsonrpc":"2.0","id":6.96530365426231e-303,"method":"sixteen digits are not the shortest fifteen"}"#,
        r#"{"jsonrpc":"2.0","id":-0.0,"method":"zero"}"#,
        r#"{"jsonrpc":"2.0","id":1.00000000000000000001,"method":"nearly one"}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":9007199254740993,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-9007199254740992,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":12345678901234567890123,"message":"m","data":1e999}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601.0,"message":"m","data":{"@id":"x"},"more":{"@type":"y"}}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":1.5,"message":["m"],"data":null,"@context":{},"jrpc:hasErrorCode":1}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":[{"code":1},{"code":1},[{"code":2}],null,"x",true]}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":"relative/../iri"}"#,
        r#"{"jsonrpc":"2.0","id":"","method":""}"#,
        r#"{"jsonrpc":"","id":"","result":""}"#,
        r#"{"jsonrpc":2.0,"id":"a","method":"m"}"#,
        r#"{"jsonrpc":["2.0","2.0"],"id":{"id":{"method":"nested"}},"method":[["m"],[]]}"#,
        r#"{"id":"_:x","method":"one blank node"}"#,
        r#"{"id":"_:x","method":"another blank node"}"#,
        r#"[{"id":"_:x","method":"third"},{"id":["_:x","_:x",{"id":"_:x"}],"method":"fourth"}]"#,
        r#"{"id":"_:","method":"empty label"}"#,
        r#"{"_:p":1,"method":"m"}"#,
        r#"{"id":"http://example.org/ {}<>\"\\^`|","method":"m"}"#,
        r#"{"id":"http://example.org/é?#é","method":"m"}"#,
        r#"{"id":"@type","method":"@id","params":"@context"}"#,
        r#"{"id":"@none","method":"m","error":null}"#,
        r#"{"method":"dup","params":{"a":1,"a":2},"method":"again"}"#,
        r#"{"method":"lone","params":["\ud800","\udc00\ud800","\ud83d\ude00",{"\ud800":1}]}"#,
        r#"{"method":"lone \ud800"}"#,
        r#"{"id":"\udfff","method":"m"}"#,
        r#"{"method":"keys","params":{"\ufb33":1,"\ud83d\ude00":2,"\ue000":3,"\uffff":4,"é":5,"\r":6,"1":7,"":8}}"#,
        r#"{"method":"\u0000\u0001\b\t\n\f\r\u001f\u007f\u0085\u2028\ufeff\ufffe"}"#,
        r#"{"method":"m","params":"\u0000\u0001\b\t\n\f\r\u001f\u007f\u0085\u2028\ufeff\ufffe\/"}"#,
        r#"{"id":"\u0000\u0001\u001f\u007f\u0085","method":"m"}"#,
        r#"{"method":"m","@context":{"@vocab":"http://e/"},"@id":"x","@type":["y"],"@graph":[{}],"@reverse":{"id":"x"},"@included":{},"@nest":{},"@unknown":1,"@":2,"@1":3}"#,
        r#"{"result":{"@context":"http://e/","@graph":[],"@list":[1],"@value":1},"id":{"@id":"x","@list":[1]}}"#,
        r#"{"method":"m","jrpc:hasError":1,"jrpc:hasError":2,"http://json-rpc.org/ontology#hasId":"x","http://e/p":{"http://e/q":[1,1,{}]},"http://e/a b":1,"urn:x":null}"#,
        r#"{"method":"m","https://w3id.org/rpcgraph#inSession":"x","rpcg:problem":"y","xsd:string":"z","prov:wasDerivedFrom":{}}"#,
        r#"{"method":"m","stringValue":"s","numberValue":7.25,"Error":{"code":1},"RequestId":"http://e/x","ServerError":["a",{}]}"#,
        r#"{"method":"m","message":"unscoped","code":1,"data":2,"toString":1,"constructor":{"code":2}}"#,
        r#"{"id":null,"method":"m","params":null}"#,
        r#"{"id":true,"method":"m"}"#,
        r#"{"id":[],"method":"m"}"#,
        r#"{"id":4,"result":1,"error":null}"#,
        r#"{"id":4,"result":null,"error":{}}"#,
        r#"{"id":4,"result":1,"error":{"code":1,"message":"m"}}"#,
        r#"[{"error":{"code":1}},{"error":{"code":1}},{"method":"m"},{"method":"m"},[],{},null,1,"x",[{"method":"deeper"}]]"#,
        "[]",
        "{}",
        "null",
        "1e400",
        r#""\ud800""#,
        "not json",
        r#"{"jsonrpc":"2.0","id":1,"#,
        r#"{"method":"unpaired"}}"#,
        r#"{'method':'m'}"#,
    ];
    let mut log = lines.join("\n").into_bytes();
    for (member, below) in [("params", "a"), ("id", "id"), ("error", "error"), ("http://e/p", "@id")] {
        let nested = format!(
            "\n{{\"method\":\"m\",\"{member}\":{}1{}}}",
            format!("{{\"{below}\":[").repeat(50),
            "]}".repeat(50)
        );
        log.extend_from_slice(nested.as_bytes());
    }
    log.extend_from_slice(b"\n{\"method\":\"\xff\"}\n\xed\xa0\x80\n\xff\xfe\n\x00\n");
    log
}

#[test]
fn unusual_messages_agree() {
    let log = torture();
    with_room(|| {
        for mapping in MAPPINGS {
            let mut program = Program::json_lines(mapping);
            for line in log.split(|byte| *byte == b'\n') {
                program.assert_agrees(line, &String::from_utf8_lossy(line));
            }
            program.assert_agrees(&log, "all lines");
        }
    });
}

#[test]
fn every_corpus() {
    let logs = logs();
    let least = if corpora().is_some() { 200 } else { 20 };
    assert!(logs.len() > least, "{} logs are too few to be all", logs.len());
    for mapping in MAPPINGS {
        let mut program = Program::new(mapping, &[]);
        with_room(|| logs.iter().for_each(|(name, log)| program.assert_agrees(log, name)));
    }
    println!("{} logs agree", logs.len());
}

/// Several inputs are one document, in which each has its own base, and none the blank nodes of another.
#[test]
fn several_inputs() {
    for mapping in MAPPINGS {
        let print = |syntax: Syntax| {
            let mut text = Vec::new();
            let mut sink = syntax.sink(&mut text, 2);
            let mut program = Program::new(mapping, &[]);
            for iri in ["http://example.org/a", "http://example.org/b/"] {
                program.feed(br#"{"method":"m","id":"_:x"}"#, iri, &mut sink);
            }
            sink.finish().expect("the end");
            drop(sink);
            String::from_utf8(text).expect("text")
        };
        let document = oxjsonld(&print(Syntax::JsonLd), 0);
        assert_isomorphic(&nquads(&print(Syntax::NQuads)), &document, &format!("{mapping:?}"));
    }
}
