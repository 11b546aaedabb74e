//! The JSON Schema of messages accepts what JSON-RPC 2.0 does, each message under the right name.

use std::fs;
use std::path::Path;

use boon::{Compiler, SchemaIndex, Schemas};
use rpcgraph::context::{JSON_RPC_SCHEMA, JSON_RPC_SCHEMA_URL};
use rpcgraph::message::{Content, Kind, Problem, Single};
use rpcgraph::register::examples::Examples;
use serde_json::Value;

use crate::support::{corpora, files, logs};

/// The elements that an example may refer to.
pub const ELEMENTS: &[&str] = &[
    "Request",
    "Notification",
    "Response",
    "ErrorResponse",
    "Message",
    "BatchRequest",
    "BatchResponse",
    "ErrorObject",
    "ParseErrorResponse",
    "InvalidRequestResponse",
    "MethodNotFoundResponse",
    "InvalidParamsResponse",
    "InternalErrorResponse",
    "ServerErrorResponse",
];

/// Messages, and what is none, each with every element that accepts it. Whatever one accepts, the schema does, but for
/// an error object by itself.
const TABLE: &[(&str, &[&str])] = &[
    // Section 4: requests. `id` is a string, a number or null; fractions and null are advised against, not forbidden.
    (r#"{"jsonrpc":"2.0","method":"m","id":1}"#, &["Request", "Message"]),
    (r#"{"jsonrpc":"2.0","method":"m","id":null}"#, &["Request", "Message"]),
    (r#"{"jsonrpc":"2.0","method":"m","id":"a","params":{}}"#, &["Request", "Message"]),
    (r#"{"jsonrpc":"2.0","method":"m","id":1.5,"params":[]}"#, &["Request", "Message"]),
    (r#"{"jsonrpc":"2.0","method":"m","id":-1,"params":[null]}"#, &["Request", "Message"]),
    (r#"{"jsonrpc":"2.0","method":"m","id":""}"#, &["Request", "Message"]),
    (r#"{"jsonrpc":"2.0","method":"","id":0}"#, &["Request", "Message"]),
    (r#"{"jsonrpc":"2.0","method":"rpc.discover","id":0}"#, &["Request", "Message"]),
    (r#"{"jsonrpc":"2.0","method":"m","id":1,"extra":[]}"#, &["Request", "Message"]),
    (r#"{"jsonrpc":"2.0","method":"m","id":true}"#, &[]),
    (r#"{"jsonrpc":"2.0","method":"m","id":{}}"#, &[]),
    (r#"{"jsonrpc":"2.0","method":"m","id":[1]}"#, &[]),
    (r#"{"method":"m","id":1}"#, &[]),
    (r#"{"jsonrpc":2.0,"method":"m","id":1}"#, &[]),
    (r#"{"jsonrpc":"2","method":"m","id":1}"#, &[]),
    (r#"{"jsonrpc":"1.0","method":"m","id":1}"#, &[]),
    (r#"{"jsonrpc":null,"method":"m","id":1}"#, &[]),
    (r#"{"jsonrpc":"2.0","method":1,"id":1}"#, &[]),
    (r#"{"jsonrpc":"2.0","method":null,"id":1}"#, &[]),
    (r#"{"jsonrpc":"2.0","id":1}"#, &[]),
    // Section 4.1: notifications.
    (r#"{"jsonrpc":"2.0","method":"m"}"#, &["Notification", "Message"]),
    (r#"{"jsonrpc":"2.0","method":"m","extra":true}"#, &["Notification", "Message"]),
    (r#"{"jsonrpc":"2.0","method":"m","params":[1,"a",{}]}"#, &["Notification", "Message"]),
    // Section 4.2: parameters are structured, or left out.
    (r#"{"jsonrpc":"2.0","method":"m","id":1,"params":"s"}"#, &[]),
    (r#"{"jsonrpc":"2.0","method":"m","params":null}"#, &[]),
    (r#"{"jsonrpc":"2.0","method":"m","params":1}"#, &[]),
    // Section 5: either a result or an error, and an id.
    (r#"{"jsonrpc":"2.0","result":null,"id":1}"#, &["Response", "Message"]),
    (r#"{"jsonrpc":"2.0","result":false,"id":"1"}"#, &["Response", "Message"]),
    (r#"{"jsonrpc":"2.0","result":{"a":1},"id":null}"#, &["Response", "Message"]),
    (r#"{"jsonrpc":"2.0","result":{"error":1,"method":2},"id":1.5}"#, &["Response", "Message"]),
    (r#"{"jsonrpc":"2.0","result":1}"#, &[]),
    (r#"{"jsonrpc":"2.0","result":1,"id":false}"#, &[]),
    (r#"{"jsonrpc":"2.0","result":1,"error":null,"id":1}"#, &[]),
    (r#"{"jsonrpc":"2.0","result":null,"error":{"code":1,"message":"x"},"id":1}"#, &[]),
    (r#"{"jsonrpc":"2.0","method":"m","result":1,"id":1}"#, &[]),
    (r#"{"jsonrpc":"2.0","method":"m","error":{"code":1,"message":"x"},"id":1}"#, &[]),
    (r#"{"result":1,"id":1}"#, &[]),
    // Section 5.1: error objects.
    (r#"{"jsonrpc":"2.0","error":{"code":-1,"message":""},"id":null}"#, &["ErrorResponse", "Message"]),
    (r#"{"jsonrpc":"2.0","error":{"code":1,"message":"x","data":[1]},"id":"q"}"#, &["ErrorResponse", "Message"]),
    (r#"{"jsonrpc":"2.0","error":{"code":1,"message":"x","data":null},"id":1}"#, &["ErrorResponse", "Message"]),
    // JSON has one type of number, so 1.0 is the integer 1.
    (r#"{"jsonrpc":"2.0","error":{"code":1.0,"message":"x","more":1},"id":1}"#, &["ErrorResponse", "Message"]),
    (r#"{"jsonrpc":"2.0","error":"x","id":1}"#, &[]),
    (r#"{"jsonrpc":"2.0","error":null,"id":1}"#, &[]),
    (r#"{"jsonrpc":"2.0","error":{"code":1.5,"message":"x"},"id":1}"#, &[]),
    (r#"{"jsonrpc":"2.0","error":{"code":"1","message":"x"},"id":1}"#, &[]),
    (r#"{"jsonrpc":"2.0","error":{"code":1},"id":1}"#, &[]),
    (r#"{"jsonrpc":"2.0","error":{"message":"x"},"id":1}"#, &[]),
    (r#"{"jsonrpc":"2.0","error":{"code":1,"message":null},"id":1}"#, &[]),
    (r#"{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}"#, &[]),
    (r#"{"code":1,"message":"x"}"#, &["ErrorObject"]),
    // The errors that the protocol defines. A call that could not be read had no id that could.
    (
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}"#,
        &["ErrorResponse", "Message", "ParseErrorResponse"],
    ),
    (r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":1}"#, &["ErrorResponse", "Message"]),
    (
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"},"id":null}"#,
        &["ErrorResponse", "Message", "InvalidRequestResponse"],
    ),
    (
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"},"id":1}"#,
        &["ErrorResponse", "Message", "InvalidRequestResponse"],
    ),
    (
        r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"no"},"id":1}"#,
        &["ErrorResponse", "Message", "MethodNotFoundResponse"],
    ),
    (
        r#"{"jsonrpc":"2.0","error":{"code":-32602,"message":"no"},"id":1}"#,
        &["ErrorResponse", "Message", "InvalidParamsResponse"],
    ),
    (
        r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"no"},"id":1}"#,
        &["ErrorResponse", "Message", "InternalErrorResponse"],
    ),
    (
        r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"},"id":1}"#,
        &["ErrorResponse", "Message", "ServerErrorResponse"],
    ),
    (
        r#"{"jsonrpc":"2.0","error":{"code":-32099,"message":"no"},"id":1}"#,
        &["ErrorResponse", "Message", "ServerErrorResponse"],
    ),
    (r#"{"jsonrpc":"2.0","error":{"code":-32100,"message":"no"},"id":1}"#, &["ErrorResponse", "Message"]),
    (r#"{"jsonrpc":"2.0","error":{"code":-31999,"message":"no"},"id":1}"#, &["ErrorResponse", "Message"]),
    (r#"{"jsonrpc":"2.0","error":{"code":-32601},"id":1}"#, &[]),
    // Section 6: batches, of calls or of answers, and never empty.
    (r#"[{"jsonrpc":"2.0","method":"m","id":1},{"jsonrpc":"2.0","method":"m"}]"#, &["BatchRequest"]),
    (r#"[{"jsonrpc":"2.0","method":"m"}]"#, &["BatchRequest"]),
    (
        r#"[{"jsonrpc":"2.0","result":null,"id":1},{"jsonrpc":"2.0","error":{"code":-1,"message":""},"id":null}]"#,
        &["BatchResponse"],
    ),
    ("[]", &[]),
    (r#"[{"jsonrpc":"2.0","method":"m","id":1},{"jsonrpc":"2.0","result":null,"id":1}]"#, &[]),
    (r#"[[{"jsonrpc":"2.0","method":"m","id":1}]]"#, &[]),
    ("[1]", &[]),
    ("{}", &[]),
    (r#""x""#, &[]),
    ("null", &[]),
];

/// The published schema, and its elements.
pub struct Schema {
    schemas: Schemas,
    whole: SchemaIndex,
    elements: Vec<(&'static str, SchemaIndex)>,
}

impl Schema {
    pub fn new() -> Self {
        let schema: Value = serde_json::from_str(JSON_RPC_SCHEMA).unwrap();
        assert_eq!(schema["$id"], JSON_RPC_SCHEMA_URL);
        let mut compiler = Compiler::new();
        compiler.add_resource(JSON_RPC_SCHEMA_URL, schema).unwrap();
        let mut schemas = Schemas::new();
        let mut compile = |reference: &str| compiler.compile(reference, &mut schemas).unwrap();
        let whole = compile(JSON_RPC_SCHEMA_URL);
        let elements = ELEMENTS.iter().map(|name| (*name, compile(&format!("{JSON_RPC_SCHEMA_URL}#{name}")))).collect();
        Self { schemas, whole, elements }
    }

    fn is_valid(&self, message: &Value, schema: SchemaIndex) -> bool {
        self.schemas.validate(message, schema).is_ok()
    }

    pub fn accepts(&self, message: &Value) -> bool {
        self.is_valid(message, self.whole)
    }

    /// The elements that accept it.
    pub fn fitting(&self, message: &Value) -> Vec<&'static str> {
        self.elements.iter().filter(|(_, schema)| self.is_valid(message, *schema)).map(|(name, _)| *name).collect()
    }

    /// Checks a message against the element that a `schema-ref` names; otherwise the text of the error.
    pub fn check(&self, message: &Value, element: &str) -> Result<(), String> {
        let name = element.strip_prefix('#').expect("an anchor");
        let (_, schema) = self.elements.iter().find(|(known, _)| *known == name).expect("a known element");
        self.schemas.validate(message, *schema).map_err(|error| error.to_string())
    }
}

#[test]
fn every_message_has_its_elements() {
    let schema = Schema::new();
    for (text, expected) in TABLE {
        let message = serde_json::from_str(text).unwrap();
        assert_eq!(schema.fitting(&message), sorted(expected), "{text}");
        assert_eq!(schema.accepts(&message), expected.iter().any(|name| *name != "ErrorObject"), "{text}");
    }
    for element in ELEMENTS {
        assert!(TABLE.iter().any(|(_, names)| names.contains(element)), "{element} accepts nothing here");
    }
}

/// In the order of [`ELEMENTS`].
fn sorted(names: &[&'static str]) -> Vec<&'static str> {
    ELEMENTS.iter().copied().filter(|name| names.contains(name)).collect()
}

/// The schema and the program agree: what the schema calls a request is one, without a problem, and the other way round.
fn agree(schema: &Schema, text: &str) {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let Content::Single(single) = Content::parse(text.as_bytes()) else { return };
    // Problems that a schema cannot see.
    let unseen = [Problem::NullRequestId, Problem::DuplicateMember, Problem::LoneSurrogate];
    let kind = match &single {
        // To the program an answer without an id is an answer all the same, and it has no name for the fault.
        Single::Message(message) if message.id.is_none() && message.kind != Kind::Notification => None,
        Single::Message(message) if message.problems.iter().all(|problem| unseen.contains(&problem)) => {
            Some(message.kind)
        }
        _ => None,
    };
    let expected = kind.map(|kind| match kind {
        Kind::Request => "Request",
        Kind::Notification => "Notification",
        Kind::Response => "Response",
        Kind::ErrorResponse => "ErrorResponse",
    });
    let fitting = schema.fitting(&value).into_iter().find(|name| ELEMENTS[..4].contains(name));
    assert_eq!(fitting, expected, "{text}");
}

#[test]
fn the_program_agrees() {
    let schema = Schema::new();
    TABLE.iter().for_each(|(text, _)| agree(&schema, text));
}

#[test]
fn the_program_agrees_on_the_corpora() {
    let schema = Schema::new();
    let mut count = 0;
    for log in logs("messages.ndjson") {
        for line in fs::read_to_string(log).unwrap().lines() {
            agree(&schema, line);
            count += 1;
        }
    }
    assert!(count > if corpora().is_some() { 1000 } else { 40 }, "{count}");
}

/// The block of examples that the project ships.
#[test]
fn examples_fit() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/json-rpc");
    let schema = Schema::new();
    let examples = Examples::from_yaml(&fs::read_to_string(folder.join("examples.yaml")).unwrap()).unwrap();
    let mut shown: Vec<&str> = Vec::new();
    for example in &examples.examples {
        let title = example.title.as_deref().unwrap();
        assert!(example.content.is_some(), "{title} explains itself");
        for snippet in &example.snippets {
            let code = snippet.code.as_ref().unwrap_or_else(|| panic!("{title}: a text"));
            let element = snippet.schema_ref.as_deref().unwrap_or_else(|| panic!("{title}: a schema-ref"));
            let message = serde_json::from_str(code).unwrap_or_else(|error| panic!("{title}: {error}"));
            schema.check(&message, element).unwrap_or_else(|error| panic!("{title}: {error}"));
            shown.extend(schema.fitting(&message));
        }
    }
    for element in ELEMENTS.iter().filter(|element| **element != "ErrorObject") {
        assert!(shown.contains(element), "no example of {element}");
    }

    let (mut passing, mut failing) = (0, 0);
    for test in files(&folder.join("tests"), ".json") {
        let message = serde_json::from_slice(&fs::read(&test).unwrap()).unwrap();
        let must_fail = test.to_string_lossy().ends_with("-fail.json");
        assert_eq!(schema.accepts(&message), !must_fail, "{}", test.display());
        if must_fail { failing += 1 } else { passing += 1 }
    }
    assert!(passing > 3 && failing > 10);
}
