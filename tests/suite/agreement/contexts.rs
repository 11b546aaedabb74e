//! Further contexts (`--context`) may do with a message whatever JSON-LD can do; others must read that as we do.

use std::fs;

use rpcgraph::context::{Context, Loader, Reference};
use serde_json::{Value, json};

use super::jsonld_js::{self, Questions};
use super::{MAPPINGS, Program, with_room};
use crate::support::{corpora, files};

/// Contexts by name, each made for what MCP messages hold.
fn contexts() -> Vec<(&'static str, Value)> {
    vec![
        (
            "scoped to a property",
            json!({
                "e": "http://example.org/",
                "params": { "@id": "e:params", "@context": {
                    "name": "e:name",
                    "arguments": { "@id": "e:arguments", "@context": { "location": "e:location" } },
                    "clientInfo": { "@id": "e:client", "@context": { "version": "e:version", "name": null } },
                    "cursor": { "@id": "e:cursor", "@type": "@id" }
                } },
                "result": { "@id": "e:result", "@context": { "tools": "e:tool", "name": "e:name", "content": "e:content" } }
            }),
        ),
        (
            "not propagated",
            json!({
                "e": "http://example.org/",
                "name": "e:outer-name",
                "params": { "@id": "e:params", "@context": {
                    "@propagate": false, "name": "e:inner-name", "arguments": "e:arguments", "clientInfo": "e:client"
                } }
            }),
        ),
        ("a vocabulary", json!({ "@vocab": "http://example.org/vocab#" })),
        (
            "a vocabulary for payloads",
            json!({
                "@vocab": "http://example.org/vocab#", "params": "http://example.org/params", "result": "http://example.org/result"
            }),
        ),
        (
            "a vocabulary with language and base",
            json!({
                "@vocab": "http://example.org/vocab#", "@language": "en", "@base": "http://example.org/base/",
                "params": "http://example.org/params", "uri": { "@id": "http://example.org/uri", "@type": "@id" }
            }),
        ),
        (
            "lists",
            json!({
                "e": "http://example.org/",
                "params": { "@id": "e:params", "@container": "@list" },
                "result": "e:result",
                "tools": { "@id": "e:tools", "@container": "@list" },
                "content": { "@id": "e:content", "@container": "@list" },
                "required": { "@id": "e:required", "@container": "@list" },
                "more": { "@id": "e:more", "@container": "@list" },
                "name": "e:name", "text": "e:text", "inputSchema": "e:schema"
            }),
        ),
        (
            "sets",
            json!({
                "e": "http://example.org/",
                "params": { "@id": "e:params", "@container": "@set" },
                "result": { "@id": "e:result", "@container": "@set" },
                "tools": { "@id": "e:tools", "@container": "@set" },
                "more": { "@id": "e:more", "@container": "@set" },
                "name": "e:name", "text": "e:text"
            }),
        ),
        (
            "maps by index",
            json!({
                "e": "http://example.org/",
                "params": { "@id": "e:params", "@context": {
                    "capabilities": { "@id": "e:capability", "@container": "@index" },
                    "arguments": { "@id": "e:argument", "@container": ["@index", "@set"] },
                    "_meta": { "@id": "e:meta", "@container": "@index", "@index": "e:key" },
                    "listChanged": "e:listChanged"
                } },
                "more": { "@id": "e:more", "@container": "@index" }
            }),
        ),
        (
            "maps by language",
            json!({
                "e": "http://example.org/",
                "more": { "@id": "e:more", "@container": "@language" },
                "params": { "@id": "e:params", "@context": { "title": { "@id": "e:title", "@container": ["@language", "@set"] } } }
            }),
        ),
        (
            "maps by id and type",
            json!({
                "e": "http://example.org/",
                "params": { "@id": "e:params", "@context": {
                    "capabilities": { "@id": "e:capability", "@container": "@id" },
                    "arguments": { "@id": "e:argument", "@container": "@type" },
                    "name": "e:name", "listChanged": "e:listChanged"
                } },
                "more": { "@id": "e:more", "@container": "@id" }, "n": "e:n"
            }),
        ),
        (
            "graphs",
            json!({
                "e": "http://example.org/",
                "result": "e:result",
                "tools": { "@id": "e:tools", "@container": "@graph" },
                "more": { "@id": "e:more", "@container": ["@graph", "@id"] },
                "name": "e:name", "n": "e:n"
            }),
        ),
        (
            "types",
            json!({
                "e": "http://example.org/", "xsd": "http://www.w3.org/2001/XMLSchema#",
                "params": { "@id": "e:params", "@type": "@id" },
                "result": { "@id": "e:result", "@type": "@vocab" },
                "progress": { "@id": "e:progress", "@type": "xsd:double" },
                "total": { "@id": "e:total", "@type": "xsd:decimal" },
                "n": { "@id": "e:n", "@type": "xsd:integer" },
                "d": { "@id": "e:d", "@type": "xsd:double" },
                "plain": "e:plain",
                "more": { "@id": "e:more", "@type": "@none" },
                "iri": { "@id": "e:iri", "@type": "@id" },
                "term": { "@id": "e:term", "@type": "@vocab" },
                "name": { "@id": "e:name", "@type": "xsd:token" },
                "language": { "@id": "e:language", "@language": "de" },
                "direction": { "@id": "e:direction", "@direction": "rtl" }
            }),
        ),
        (
            "JSON at depth",
            json!({
                "e": "http://example.org/",
                "params": { "@id": "e:params", "@context": {
                    "arguments": { "@id": "e:arguments", "@type": "@json" },
                    "capabilities": { "@id": "e:capabilities", "@context": {
                        "experimental": { "@id": "e:experimental", "@type": "@json", "@container": "@set" }
                    } }
                } },
                "result": { "@id": "e:result", "@context": {
                    "tools": { "@id": "e:tools", "@context": { "inputSchema": { "@id": "e:schema", "@type": "@json" } } }
                } },
                "error": { "@id": "http://json-rpc.org/ontology#hasError", "@context": {
                    "data": { "@id": "e:data", "@context": { "supported": { "@id": "e:supported", "@type": "@json" } } }
                } },
                "more": { "@id": "e:more", "@type": "@json" }
            }),
        ),
        (
            "JSON in lists",
            json!({
                "e": "http://example.org/",
                "params": { "@id": "e:params", "@context": {
                    "arguments": { "@id": "e:arguments", "@type": "@json", "@container": "@list" },
                    "progress": { "@id": "e:progress", "@type": "@json", "@container": "@list" }
                } },
                "more": { "@id": "e:more", "@type": "@json", "@container": "@list" }
            }),
        ),
        (
            "reverse",
            json!({
                "e": "http://example.org/",
                "params": { "@id": "e:params", "@context": {
                    "clientInfo": { "@reverse": "e:clientOf" },
                    "location": "e:location", "name": "e:name", "version": "e:version"
                } }
            }),
        ),
        (
            "terms of the building block anew",
            json!({
                "e": "http://example.org/",
                "jsonrpc": "e:version", "id": "e:id", "method": { "@id": "e:method", "@type": "@vocab" },
                "ping": "e:Ping", "error": "e:error", "code": "e:code", "message": "e:message", "data": "e:data"
            }),
        ),
        (
            "terms of the building block dropped",
            json!({
                "jsonrpc": null, "id": null, "method": null, "params": null, "result": null, "error": null
            }),
        ),
        ("error as JSON", json!({ "error": { "@id": "http://example.org/error", "@type": "@json" } })),
        ("protected", json!({ "@protected": true, "more": "http://example.org/more", "n": "http://example.org/n" })),
    ]
}

/// Members that MCP messages do not hold.
const MESSAGES: &str = r##"
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"location":"Paris","@id":"y","n":1}}}
{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"},{"name":"a"},{"name":"b","inputSchema":{"type":"object","z":9007199254740993,"ﬀ":1,"😀":2}}]}}
{"method":"m","params":[1,1,[2,[]],null,"x",{"name":"n"},9007199254740993,1e400,0.1]}
{"method":"m","params":{"progress":9007199254740993,"total":0.5,"n":9007199254740993,"d":9007199254740993,"plain":9007199254740993}}
{"method":"m","n":1e400,"d":-1e400,"plain":123456789012345678901234567890,"progress":1e21,"total":1e-7}
{"method":"m","n":-0.0,"d":-0.0,"plain":-0.0,"progress":100000000000000000000,"total":0.30000000000000004}
{"method":"m","n":1.5,"plain":true,"progress":null,"total":[1,[2]],"more":{"n":1}}
{"method":"m","iri":"a/../b","term":"more","name":["x","x"],"language":["a",1],"direction":"b"}
{"method":"m","iri":"_:x","term":"_:x","more":"_:x","params":"_:x","result":"_:y"}
{"method":"m","iri":"_:x","term":"@type","more":"@id","params":"@id"}
{"method":"m","iri":["http://[","a b","","#x","?y","//z"],"term":["a b","e:x","ping",""]}
{"method":"m","more":{"de":"a","en":["b","b"],"@none":"c","_:x":"e","x y":"d"}}
{"method":"m","more":{"a":{"n":1},"@none":{"n":3}}}
{"method":"m","more":{"de":1}}
{"method":"m","more":{"de":[["a"],null,"b",{"n":1}]}}
{"method":"m","more":[[1,1],{"n":[1,1]},{"n":[1,1]}]}
{"method":"m","params":{"capabilities":{"roots":{"listChanged":true},"sampling":[1,9007199254740993],"experimental":[{"b":1,"a":1e400},1]}}}
{"method":"m","params":{"_meta":{"key":{"n":1},"other":"text"},"clientInfo":{"name":"n","version":"1"},"title":{"de":"Titel"},"cursor":"_:x"}}
{"method":"m","@context":{"more":"http://e/captured"},"more":{"@context":{},"@id":"x","@type":"y","@value":"z","@list":[1],"@set":[2]}}
{"method":"m","http://example.org/more":1,"e:more":2,"rpcg:text":3,"jrpc:hasError":4,"urn:x":{"more":5},"":6}
{"id":1,"error":{"code":9007199254740993,"message":"m","data":{"supported":[1,{"z":1e400}],"requested":"x"},"more":{"n":1}}}
{"id":1,"error":"text"}
{"id":1,"error":[{"code":1}]}
{"id":"_:x","method":"e:method","more":1}
[{"id":"_:x","method":"a","iri":"_:x"},{"id":"_:x","method":"a","iri":"_:x"}]
{"no":"message","more":{"n":1},"iri":"_:x"}
not json
"##;

/// Nodes below names of blank nodes, which oxjsonld is not asked about: see `agreement_generated.rs`.
const BLANK_NAMES: &str = r#"
{"method":"m","more":{"a":{"n":1},"_:x":{"n":2}}}
{"method":"m","more":{"_:x":{"n":2}},"iri":"_:x"}
{"method":"m","params":{"capabilities":{"_:x":{"listChanged":false}}}}
"#;

/// Cases in which oxjsonld 0.2 is wrong, and jsonld.js agrees with us.
const NOT_OXJSONLD: [(&str, &str); 3] = [
    ("maps by id and type", "it takes types relative to the base, and refuses maps with values that are null"),
    ("graphs", "it makes no graphs of the values of terms with such a container"),
    ("JSON in lists", "it makes no lists of JSON literals"),
];

/// Logs to try contexts with.
fn logs() -> Vec<(String, Vec<u8>)> {
    let mut logs = vec![("by hand".to_owned(), MESSAGES.as_bytes().to_vec())];
    if let Some(corpora) = corpora() {
        for folder in ["mcp-spec/docs-2025-11-25", "mcp-spec/examples-2026-07-28", "mined-mcp-sdks"] {
            for file in files(&corpora.join(folder), "messages.ndjson") {
                logs.push((file.display().to_string(), fs::read(&file).expect("a log")));
            }
        }
    }
    logs
}

/// The contexts as the command line takes them.
fn loaded() -> Vec<(&'static str, Context)> {
    let context = |(name, value)| (name, Context::from_value(name, value).expect("a context"));
    let mut loaded: Vec<_> = contexts().into_iter().map(context).collect();
    if let Some(corpora) = corpora() {
        let file = corpora.join("../reference/ogc-mcp/build/annotated/mcp/context.jsonld");
        loaded.push(("MCP", Loader::new().load(&Reference::File(file)).expect("the MCP context")));
        loaded.push(("builtin:mcp", Loader::new().load(&Reference::Mcp).expect("the built-in context")));
    }
    loaded
}

#[test]
fn further_contexts() {
    let logs = logs();
    let mut documents = 0;
    for (name, context) in loaded() {
        if let Some((_, reason)) = NOT_OXJSONLD.iter().find(|(exception, _)| *exception == name) {
            println!("not asked about {name}: {reason}");
            continue;
        }
        for mapping in MAPPINGS {
            let mut program = Program::new(mapping, std::slice::from_ref(&context));
            for (log_name, log) in &logs {
                with_room(|| program.assert_document_agrees(log, &format!("{name}, {log_name}")));
                documents += 1;
            }
        }
    }
    println!("{documents} documents agree");
}

#[test]
#[ignore = "needs jsonld.js"]
fn further_contexts_by_jsonld_js() {
    let folder = jsonld_js::folder();
    let mut logs = logs();
    logs.push(("blank names".to_owned(), BLANK_NAMES.as_bytes().to_vec()));
    let mut questions = Questions::default();
    for (name, context) in loaded() {
        for mapping in MAPPINGS {
            let mut program = Program::new(mapping, std::slice::from_ref(&context));
            for (log_name, log) in &logs {
                questions.add_document(&mut program, &format!("{name}, {log_name}"), log);
            }
        }
    }
    questions.ask(&folder);
}
