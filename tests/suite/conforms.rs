//! `rpcg:conforms`: built-in schemas, schemas of strangers, schemas of OpenRPC.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rpcgraph::schema::{QuerySchemas, openrpc};
use serde_json::{Map, Value, json};

use crate::support::{needed_corpora, own};

const PACKED: &str = "ontology/schemas/mcp.json.zst";
const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// The built-in file is made from the published schemas; `RPCGRAPH_BLESS=1` writes it.
#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn mcp_schemas_are_those_beside_the_corpora() {
    let corpora = needed_corpora();
    let revision = |name: &str| {
        let text = fs::read(corpora.join("mcp-spec/schema").join(name).join("schema.json")).unwrap();
        (name.to_owned(), json!({ "$defs": definitions(serde_json::from_slice(&text).unwrap()) }))
    };
    let made = Value::Object(REVISIONS.into_iter().map(revision).collect());
    if std::env::var_os("RPCGRAPH_BLESS").is_some() {
        fs::write(own(PACKED), zstd::encode_all(made.to_string().as_bytes(), 19).unwrap()).unwrap();
    }
    let packed = zstd::decode_all(fs::File::open(own(PACKED)).unwrap()).unwrap();
    assert!(serde_json::from_slice::<Value>(&packed).unwrap() == made, "RPCGRAPH_BLESS=1 writes {PACKED}");
}

/// The definitions of a schema, with the definitions of methods, without descriptions and known defects.
fn definitions(schema: Value) -> Value {
    let Value::Object(mut schema) = schema else { panic!("it is not an object") };
    let mut definitions = schema.remove("$defs").or_else(|| schema.remove("definitions")).unwrap();
    strip(&mut definitions);
    // An error may be about a message whose id is unknown.
    if let Some(id) = definitions.pointer_mut("/JSONRPCError/properties/id") {
        *id = json!({ "anyOf": [id.take(), { "type": "null" }] });
    }
    // The schema of a property may be a boolean.
    for schema in ["input", "output"] {
        let properties = format!("/Tool/properties/{schema}Schema/properties/properties/additionalProperties");
        if let Some(any) = definitions.pointer_mut(&properties) {
            *any = json!(true);
        }
    }
    // Any JSON, null too; without the references back to itself.
    if let Some(any) = definitions.get_mut("JSONValue") {
        *any = json!(true);
    }
    let known = definitions.as_object().unwrap();
    let methods: Vec<_> = known.iter().flat_map(|(name, definition)| method(&definitions, name, definition)).collect();
    definitions.as_object_mut().unwrap().extend(methods);
    definitions
}

/// Removes texts for readers, names `$defs`, and lets numbers have a fraction where a type is any scalar.
fn strip(schema: &mut Value) {
    if *schema == json!(["string", "integer", "boolean"]) {
        *schema = json!(["string", "number", "boolean"]);
    }
    match schema {
        Value::Object(entries) => {
            entries.retain(|name, value| name != "description" || !value.is_string());
            if let Some(Value::String(reference)) = entries.get_mut("$ref") {
                *reference = reference.replace("#/definitions/", "#/$defs/");
            }
            entries.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// The definitions of a method: its params, and its result.
fn method(definitions: &Value, name: &str, definition: &Value) -> Vec<(String, Value)> {
    let Some(method) = definition.pointer("/properties/method/const").and_then(Value::as_str) else { return vec![] };
    let params = &definition["properties"]["params"];
    let mut found = vec![(method.to_owned(), params.clone())];
    if let Some(stem) = name.strip_suffix("Request") {
        let plain = [format!("{stem}Result"), "EmptyResult".to_owned()];
        let plain = plain.iter().find(|name| definitions.get(name).is_some()).unwrap();
        let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
        let either = |condition: Value, name: &str| json!({ "if": condition, "then": reference(name), "else": reference(plain) });
        let response = &definitions[format!("{stem}ResultResponse")]["properties"]["result"];
        let input_required = reference("InputRequiredResult");
        // The requests that may become tasks.
        let is_task =
            ["CallTool", "CreateMessage", "Elicit"].contains(&stem) && definitions.get("CreateTaskResult").is_some();
        let result = if response["anyOf"].as_array().is_some_and(|all| all.contains(&input_required)) {
            let kind = json!({ "resultType": { "const": "input_required" } });
            either(json!({ "properties": kind, "required": ["resultType"] }), "InputRequiredResult")
        } else if is_task {
            either(json!({ "required": ["task"] }), "CreateTaskResult")
        } else {
            reference(plain)
        };
        found.push((format!("{method}/result"), result));
    }
    found
}

fn mcp(revision: &str, name: &str, json: &Value) -> Option<String> {
    let iri = format!("https://w3id.org/rpcgraph/schemas/mcp/{revision}#{name}");
    QuerySchemas::default().violation_by_iri(&json.to_string(), &iri)
}

#[test]
fn built_in_schemas_are_named_by_definition_and_by_method() {
    for revision in REVISIONS {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": revision, "io.modelcontextprotocol/clientCapabilities": {} });
        let mut call = json!({ "name": "weather", "arguments": { "city": "Uppsala" }, "extra": true, "_meta": meta });
        assert_eq!(mcp(revision, "tools/call", &call), None, "{revision}");
        call["name"] = json!(5);
        let error = mcp(revision, "tools/call", &call);
        assert_eq!(error.as_deref(), Some("at /name: 5 is not of type \"string\""), "{revision}");
        for (result, expected) in [
            (json!({ "content": [], "resultType": "complete" }), None),
            (json!({ "resultType": "complete" }), Some("\"content\" is a required property")),
        ] {
            for name in ["CallToolResult", "tools/call/result"] {
                assert_eq!(mcp(revision, name, &result).as_deref(), expected, "{revision} {name}");
            }
        }
        for unknown in ["tools/none", "Nothing", "", "tools/call/results"] {
            assert_eq!(mcp(revision, unknown, &json!(5)), None, "{revision} {unknown}");
        }
    }
    assert_eq!(mcp("2020-01-01", "tools/call", &json!(5)), None);
    // Results of other kinds than the method's own.
    let task = json!({ "taskId": "1", "status": "working", "createdAt": "2026-01-05T10:00:00Z", "lastUpdatedAt": "2026-01-05T10:00:00Z", "ttl": null });
    for method in ["tools/call", "sampling/createMessage", "elicitation/create"] {
        assert_eq!(mcp("2025-11-25", &format!("{method}/result"), &json!({ "task": task })), None, "{method}");
    }
    assert_eq!(
        mcp("2026-07-28", "tools/call/result", &json!({ "resultType": "input_required", "requestState": "a" })),
        None
    );
    assert_eq!(mcp("2025-06-18", "ping/result", &json!({})), None);
    assert!(mcp("2025-06-18", "ping/result", &json!([])).is_some());
}

#[test]
fn known_defects_of_the_published_schemas_are_corrected() {
    for revision in REVISIONS {
        let tool = json!({ "name": "t", "inputSchema": { "type": "object", "properties": { "a": true } } });
        assert_eq!(mcp(revision, "Tool", &tool), None, "{revision}");
        let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "" } });
        assert_eq!(mcp(revision, "JSONRPCError", &error), None, "{revision}");
        let answer = json!({ "action": "accept", "content": { "size": 3.5 } });
        assert_eq!(mcp(revision, "ElicitResult", &answer), None, "{revision}");
    }
    assert_eq!(mcp("2026-07-28", "JSONValue", &json!({ "a": [null, 3.5] })), None);
    let deep = serde_json::from_str(&nested(120)).unwrap();
    assert_eq!(mcp("2026-07-28", "JSONValue", &deep), None);
}

fn with_worker() -> QuerySchemas {
    QuerySchemas::new(Some(PathBuf::from(env!("CARGO_BIN_EXE_rpcgraph"))))
}

fn violation(schemas: &QuerySchemas, schema: &Value, value: &Value) -> Option<String> {
    schemas.violation(Some(&value.to_string()), &schema.to_string())
}

/// Nests a value in objects.
fn nested(depth: usize) -> String {
    format!("{}5{}", r#"{"a":"#.repeat(depth), "}".repeat(depth))
}

#[test]
fn schemas_of_logs_are_validated_in_the_worker() {
    let schemas = with_worker();
    let tree = json!({ "properties": { "a": { "$ref": "#" } }, "type": ["object", "string"] });
    let error = schemas.violation(Some(&nested(100)), &tree.to_string()).unwrap();
    assert!(error.ends_with(r#": 5 is not of type "string", "object""#), "{error}");
    assert_eq!(violation(&schemas, &tree, &json!({ "a": { "a": "x" } })), None);
    let anchor = json!({ "$ref": "#b", "$defs": { "b": { "$anchor": "b", "type": "string" } } });
    assert_eq!(violation(&schemas, &anchor, &json!(5)).as_deref(), Some(r#"5 is not of type "string""#));
    let invalid = json!({ "properties": { "a": { "$ref": "#" } }, "type": "none" });
    assert!(schemas.violation(None, &invalid.to_string()).unwrap().contains("/type"));
    assert_eq!(violation(&QuerySchemas::default(), &tree, &json!(5)), None, "not decided without a worker");
}

#[test]
fn hostile_schemas_end_undecided() {
    let doubling = |from: usize, to: usize| {
        let step = |at| {
            (
                format!("s{at}"),
                json!({ "allOf": [{ "$ref": format!("#/$defs/s{}", at + 1) }, { "$ref": format!("#/$defs/s{}", at + 1) }] }),
            )
        };
        let mut steps: Map<_, _> = (from..to).map(step).collect();
        steps.insert(format!("s{to}"), json!({ "type": "string" }));
        json!({ "$ref": format!("#/$defs/s{from}"), "$defs": steps })
    };
    let begun = Instant::now();
    let schemas = with_worker();
    assert_eq!(violation(&schemas, &doubling(0, 4), &json!(5)).as_deref(), Some(r#"5 is not of type "string""#));
    assert_eq!(violation(&schemas, &doubling(0, 60), &json!("x")), None);
    // Cached.
    for _ in 0..100 {
        assert_eq!(violation(&schemas, &doubling(0, 60), &json!("x")), None);
    }
    let mut chain: Map<_, _> =
        (0..60).map(|at| (format!("s{at}"), json!({ "$ref": format!("#/$defs/s{}", at + 1) }))).collect();
    chain.insert("s60".to_owned(), json!({ "type": "string" }));
    let chain = json!({ "$ref": "#/$defs/s0", "$defs": chain });
    assert!(violation(&schemas, &chain, &json!(5)).is_some());
    let bomb = json!({ "pattern": "((((a{99}){99}){99}){99})*$", "maxLength": 1 });
    let long = json!({ "pattern": "^(a|aa)*$" });
    let deep = (0..300).fold(json!({}), |below, _| json!({ "not": below }));
    for (schema, value) in [
        (bomb, json!("a")),
        (long, json!("a".repeat(1 << 20))),
        (json!({ "$ref": "#" }), json!(5)),
        (
            json!({ "allOf": [{ "$ref": "#/$defs/a" }], "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
            json!(5),
        ),
        (deep, json!(5)),
    ] {
        for schemas in [&schemas, &QuerySchemas::default()] {
            assert_eq!(
                violation(schemas, &schema, &value),
                None,
                "{}",
                &schema.to_string()[..40.min(schema.to_string().len())]
            );
        }
    }
    assert_eq!(schemas.violation(Some(&nested(2000)), r#"{"type":"string"}"#), None, "deeper than what is parsed");
    // The worker is given up after some requests without an answer.
    for length in 40..50 {
        assert_eq!(violation(&schemas, &doubling(0, length), &json!("x")), None);
    }
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

/// The methods of the Ethereum execution API that the test describes: types of params, `?` after an optional one.
const ETHEREUM: &[&str] = &[
    "debug_getRawBlock Block",
    "debug_getRawHeader Block",
    "debug_getRawReceipts Block",
    "debug_getRawTransaction Hash",
    "debug_traceBlockByHash Hash Object?",
    "debug_traceBlockByNumber Block Object?",
    "debug_traceTransaction Hash Object?",
    "eth_baseFee",
    "eth_blobBaseFee",
    "eth_blockNumber",
    "eth_call Transaction Block?",
    "eth_capabilities",
    "eth_chainId",
    "eth_config",
    "eth_createAccessList Transaction Block?",
    "eth_estimateGas Transaction Block?",
    "eth_feeHistory Number Block Array?",
    "eth_getBalance Address Block?",
    "eth_getBlockByHash Hash Boolean",
    "eth_getBlockByNumber Block Boolean",
    "eth_getBlockReceipts Block",
    "eth_getBlockTransactionCountByHash Hash",
    "eth_getBlockTransactionCountByNumber Block",
    "eth_getCode Address Block?",
    "eth_getLogs Filter",
    "eth_getProof Address Array Block?",
    "eth_getStorageAt Address Word Block?",
    "eth_getStorageValues Object Block?",
    "eth_getTransactionByBlockHashAndIndex Hash Number",
    "eth_getTransactionByBlockNumberAndIndex Block Number",
    "eth_getTransactionByHash Hash",
    "eth_getTransactionCount Address Block?",
    "eth_getTransactionReceipt Hash",
    "eth_sendRawTransaction Bytes",
    "eth_simulateV1 Object Block?",
    "eth_syncing",
    "net_version",
    "testing_buildBlockV1 Hash Object Nullable Bytes?",
    "txpool_content",
    "txpool_contentFrom Address",
    "txpool_status",
];

/// An OpenRPC document of these methods.
fn ethereum() -> Value {
    let reference = |kind: &str| json!({ "$ref": format!("#/components/schemas/{kind}") });
    let method = |line: &&str| {
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let param = |(nth, kind): (usize, &str)| {
            let schema = reference(kind.trim_end_matches('?'));
            json!({ "name": format!("p{nth}"), "required": !kind.ends_with('?'), "schema": schema })
        };
        let mut params: Vec<_> = words.enumerate().map(param).collect();
        if name == "eth_getBlockByHash" {
            params[1] = json!({ "$ref": "#/components/contentDescriptors/Whole" });
        }
        json!({ "name": name, "params": params, "result": { "name": "result", "schema": reference("Result") } })
    };
    let hex = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    let tags = json!({ "enum": ["earliest", "latest", "pending", "safe", "finalized"] });
    let transaction = json!({ "from": reference("Address"), "to": reference("Address"), "gas": reference("Number"), "input": reference("Bytes") });
    let filter = json!({ "fromBlock": reference("Block"), "toBlock": reference("Block"), "blockHash": reference("Hash"), "topics": { "type": "array" }, "default": reference("Bytes") });
    json!({
        "openrpc": "1.3.2",
        "info": { "title": "Ethereum", "version": "1" },
        "methods": ETHEREUM.iter().map(method).collect::<Vec<_>>(),
        "components": {
            "contentDescriptors": { "Whole": { "name": "whole", "required": true, "schema": reference("Boolean") } },
            "schemas": {
                "Address": hex("^0x[0-9a-fA-F]{40}$"),
                "Array": { "type": "array" },
                "Block": { "anyOf": [reference("Number"), reference("Hash"), tags] },
                "Boolean": { "type": "boolean" },
                "Bytes": hex("^0x([0-9a-f]{2})*$"),
                "Filter": { "type": "object", "properties": filter, "not": { "required": ["blockHash", "fromBlock"] } },
                "Hash": hex("^0x[0-9a-f]{64}$"),
                "Nullable": { "type": ["array", "null"] },
                "Number": hex("^0x(0|[1-9a-f][0-9a-f]*)$"),
                "Object": { "type": "object" },
                "Result": { "not": { "type": "boolean" } },
                "Transaction": { "type": "object", "properties": transaction },
                "Word": hex("^0x[0-9a-f]{1,64}$"),
            },
        },
    })
}

#[test]
fn schemas_of_openrpc_have_the_components_that_they_need() {
    let schemas = openrpc::schemas(&ethereum()).unwrap();
    assert_eq!(schemas.len(), 3 * ETHEREUM.len());
    let schema = schemas.iter().find(|schema| schema.iri == "urn:rpcgraph:openrpc/params#eth_getBlockByHash").unwrap();
    let schema = schema.schema.as_ref().unwrap();
    let components: Vec<_> = schema["components"]["schemas"].as_object().unwrap().keys().collect();
    assert_eq!(components, ["Boolean", "Hash"]);
    let schemas = with_worker().with_openrpc(&ethereum()).unwrap();
    let error = |name: &str, json: &str| schemas.violation_by_iri(json, &format!("urn:rpcgraph:openrpc/{name}"));
    for (json, expected) in [
        (r#"["0x0000000000000000000000000000000000000000","latest"]"#, None),
        (r#"{"p0":"0x0000000000000000000000000000000000000000"}"#, None),
        ("[]", Some("[] is too short")),
        ("{}", Some(r#""p0" is a required property"#)),
        ("[5]", Some(r#"at /0: 5 is not of type "string""#)),
        (r#"{"p0":5}"#, Some(r#"at /p0: 5 is not of type "string""#)),
    ] {
        assert_eq!(error("params#eth_getBalance", json).as_deref(), expected, "{json}");
    }
    assert!(error("result#eth_getBalance", "true").is_some());
    assert_eq!(error("params#eth_none", "5"), None);
}

/// A document with one method, whose param has this schema, and components.
fn with_param(schema: Value, components: Value) -> Value {
    json!({
        "openrpc": "1.2.6",
        "methods": [{ "name": "m", "params": [{ "name": "x", "schema": schema }] }],
        "components": { "schemas": components },
    })
}

#[test]
fn documents_of_openrpc_that_are_not_valid_are_refused() {
    let to = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let method = |name: &str| json!({ "name": name, "params": [] });
    for (document, reason) in [
        (
            with_param(json!({ "type": "strng" }), json!({})),
            "the schema of the params of m: it is not a valid JSON Schema",
        ),
        (with_param(to("a"), json!({ "a": { "type": "strng" } })), "\"strng\""),
        (with_param(to("none"), json!({})), "none"),
        (json!({ "methods": [method("a"), method("b"), method("a")] }), "two methods have the name a"),
        (json!({ "methods": [{ "params": [] }] }), "the method 1 has no name"),
        (json!({ "methods": [{ "$ref": "#/methods/0" }] }), "to each other"),
        (
            json!({ "methods": [{ "name": "m", "params": [{ "$ref": "#/components/x" }] }] }),
            "does not have #/components/x",
        ),
        (json!({ "methods": [{ "name": "m", "params": {} }] }), "are not an array"),
        (json!({}), "`methods` is missing"),
    ] {
        let error = QuerySchemas::default().with_openrpc(&document).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

/// References that lead elsewhere or to each other, and schemas that cost too much, decide nothing, and say so.
#[test]
fn schemas_of_openrpc_that_decide_nothing_have_a_reason() {
    let to = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let bomb: Map<String, Value> = (0..32)
        .map(|level| {
            (format!("d{level}"), json!({ "allOf": [to(&format!("d{}", level + 1)), to(&format!("d{}", level + 1))] }))
        })
        .chain([("d32".to_owned(), json!({}))])
        .collect();
    for (document, reason) in [
        (with_param(to("d0"), bomb.into()), "more than 3 s"),
        (with_param(to("a"), json!({ "a": to("b"), "b": to("a") })), "lead back to themselves"),
        (with_param(json!({ "$ref": "https://example.org/s.json" }), json!({})), "https://example.org/s.json"),
        (
            json!({ "methods": [{ "name": "m", "params": [{ "$ref": "params.json#/x" }] }] }),
            "params.json#/x, which is not read",
        ),
        (with_param(json!({ "pattern": "^(?!x)" }), json!({})), "not supported"),
    ] {
        let schemas = with_worker().with_openrpc(&document).unwrap();
        assert_eq!(schemas.violation_by_iri("[\"a\"]", "urn:rpcgraph:openrpc/params#m"), None);
        let why = schemas.undecided().expect(reason);
        assert!(why.contains(reason), "{why}");
        assert_eq!(schemas.shared().undecided(), None);
    }
    // A schema that refers to itself, and a chain of references, decide.
    let tree =
        json!({ "tree": { "type": "object", "properties": { "left": to("tree") }, "additionalProperties": false } });
    let chain: Map<String, Value> = (0..40)
        .map(|level| (format!("c{level}"), to(&format!("c{}", level + 1))))
        .chain([("c40".to_owned(), json!({ "type": "integer" }))])
        .collect();
    for (document, right, wrong) in [
        (with_param(to("tree"), tree), r#"[{"left":{"left":{}}}]"#, r#"[{"left":{"left":{"right":{}}}}]"#),
        (with_param(to("c0"), chain.into()), "[1]", "[\"a\"]"),
    ] {
        let schemas = with_worker().with_openrpc(&document).unwrap();
        let error = |json: &str| schemas.violation_by_iri(json, "urn:rpcgraph:openrpc/params#m");
        assert_eq!((error(right), error(wrong).is_some(), schemas.undecided()), (None, true, None));
    }
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn requests_of_the_corpora_conform_to_openrpc() {
    let corpora = needed_corpora();
    let schemas = with_worker().with_openrpc(&ethereum()).unwrap();
    let log = fs::read_to_string(corpora.join("eth-execution-apis/messages.ndjson")).unwrap();
    let messages: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut refused = Vec::new();
    for (request, answer) in messages.iter().zip(&messages[1..]).filter(|(request, _)| request.get("method").is_some())
    {
        let method = request["method"].as_str().unwrap();
        assert!(ETHEREUM.iter().any(|line| line.split(' ').next() == Some(method)), "{method}");
        let params = request.get("params").map_or("[]".to_owned(), Value::to_string);
        if let Some(error) = schemas.violation_by_iri(&params, &format!("urn:rpcgraph:openrpc/params#{method}")) {
            // The node refuses the same.
            assert_eq!(answer["error"]["code"], -32602, "{method}: {error}");
            refused.push(format!("{method} {error}"));
        }
    }
    let expected = [
        "debug_getRawBlock at /0: \"2\" is not",
        "debug_getRawHeader at /0: \"2\" is not",
        "debug_getRawReceipts at /0: \"2\" is not",
        "debug_getRawTransaction at /0: \"1000",
        "debug_traceBlockByNumber at /0: \"3\" is not",
        "eth_getLogs at /0: {\"blockHash\":",
        "eth_getStorageAt at /1: \"0x00000",
        "eth_getStorageAt at /1: \"0xasdf\"",
    ];
    assert_eq!(refused.len(), expected.len(), "{refused:#?}");
    for (refused, expected) in refused.iter().zip(expected) {
        assert!(refused.starts_with(expected), "{refused}");
    }
}
