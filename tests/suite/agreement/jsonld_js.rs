//! jsonld.js makes of our JSON-LD the graph that we make; and in the mapping `bblock` it makes that graph of the message
//! itself, under the same contexts.
//!
//! `RPCGRAPH_JSONLD_JS` names the folder that jsonld.js is installed in: see `tests/jsonld-js` and `.ci/run`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use oxiri::IriRef;
use oxrdf::{NamedNode, Quad};
use oxrdfio::{RdfFormat, RdfParser};
use rpcgraph::context;
use rpcgraph::json::{self, Object, Text, Value};
use rpcgraph::mapping::Mapping;
use rpcgraph::sink::Syntax;
use serde_json::json;

use super::{Program, generated, logs, torture, with_room};
use crate::support::{BASE, assert_isomorphic, tool, with_decimals};

/// A question for jsonld.js, and the expected answer.
struct Question {
    what: String,
    line: String,
    ours: Vec<Quad>,
}

/// The questions, and what is not asked for which reason.
#[derive(Default)]
pub(super) struct Questions {
    asked: Vec<Question>,
    exceptions: BTreeMap<&'static str, usize>,
}

impl Questions {
    /// About the document that we print of a log, and about its lines, which are one document when put together.
    pub fn add_document(&mut self, program: &mut Program, name: &str, log: &[u8]) {
        let ours = program.quads(log);
        let document = program.print(log, Syntax::JsonLd).replace('\n', " ");
        let lines = program.print(log, Syntax::JsonLdLines);
        let nodes: Vec<_> = lines.lines().map(|line| &line[1..line.len() - 1]).collect();
        for (document, kind) in [(document, "the document"), (format!("[{}]", nodes.join(",")), "the lines")] {
            let what = format!("{name}, {:?}, {kind}", program.mapping);
            let line = format!("{{\"document\":{document}}}");
            self.asked.push(Question { what, line, ours: ours.clone() });
        }
    }

    /// About each message of a log as it stands there.
    fn add_messages(&mut self, program: &mut Program, name: &str, log: &[u8]) {
        let context = json!([context::builtin()[0].value(), { "@base": BASE }]);
        for message in messages(log) {
            let Value::Object(object) = &message else { continue };
            let exception = envelope_exception(object).or_else(|| exception(&message, Place::Plain));
            if self.agrees(exception.or_else(|| printed_exception(&message, Place::Plain))) {
                let what = format!("{name}, the message {}", object.raw);
                let line = format!("{{\"context\":{context},\"message\":{}}}", object.raw);
                self.asked.push(Question { what, line, ours: program.quads(object.raw.as_bytes()) });
            }
        }
    }

    /// Returns true for a difference without an exception, and counts the exception of any other.
    fn agrees(&mut self, exception: Option<&'static str>) -> bool {
        if let Some(reason) = exception {
            *self.exceptions.entry(reason).or_default() += 1;
        }
        exception.is_none()
    }

    /// Asks everything at once: to start node takes longer than most answers.
    pub fn ask(&self, folder: &Path) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/jsonld-js/toRdf.mjs");
        let mut node = Command::new("node")
            .arg(script)
            .env("RPCGRAPH_JSONLD_JS", folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node");
        let mut stdin = node.stdin.take().expect("its input");
        let output = thread::scope(|scope| {
            scope.spawn(move || self.asked.iter().try_for_each(|question| writeln!(stdin, "{}", question.line)));
            node.wait_with_output().expect("its output")
        });
        assert!(output.status.success(), "node failed");
        let answers = String::from_utf8(output.stdout).expect("text");
        assert_eq!(answers.lines().count(), self.asked.len(), "answers");
        for (question, answer) in self.asked.iter().zip(answers.lines()) {
            match serde_json::from_str(answer).expect("JSON") {
                serde_json::Value::String(theirs) => {
                    assert_isomorphic(&question.ours, &with_decimals(nquads(&theirs)), &question.what);
                }
                refused => panic!("{}: {refused}", question.what),
            }
        }
        println!("{} agree; not asked: {:#?}", self.asked.len(), self.exceptions);
    }
}

/// The objects that stand on the lines of a log, or in arrays there.
fn messages(log: &[u8]) -> impl Iterator<Item = Value<'_>> {
    let values = log.split(|byte| *byte == b'\n').filter_map(|line| json::parse(line).ok());
    let values = values.flat_map(|value| match value {
        Value::Array(array) => array.items,
        value => vec![value],
    });
    values.filter(|value| matches!(value, Value::Object(_)))
}

/// N-Quads, without those whose IRIs are none: jsonld.js looks for a scheme and for white space, no further.
fn nquads(text: &str) -> Vec<Quad> {
    let parse = |line: &str| RdfParser::from_format(RdfFormat::NQuads).for_slice(line.as_bytes()).next();
    text.lines().filter_map(parse).flatten().collect()
}

/// The term that the building block's context maps a value to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A value, or a node; or nothing.
    Plain,
    /// An IRI, if it is a string: the term has the type `@id`.
    Iri,
    /// A JSON literal, with all that is below it.
    Json,
}

impl Place {
    fn below(self, name: &Text<'_>) -> Self {
        let definition = |name| context::builtin()[0].value().get(name)?.get("@type")?.as_str();
        match (self, name.as_str()) {
            (Self::Json, _) | (_, Some("params" | "result" | "data")) => Self::Json,
            (_, Some(name)) if definition(name) == Some("@id") => Self::Iri,
            _ => Self::Plain,
        }
    }
}

/// Why an object is not asked about as it stands there.
fn envelope_exception(object: &Object<'_>) -> Option<&'static str> {
    let says_so = object.members.iter().any(|(name, _)| name.as_str() == Some("jsonrpc"));
    (!says_so && object.raw.contains("\"jsonrpc\"")).then_some("it holds a message, which is what we read")
}

/// Why jsonld.js makes something else of a message than we do.
fn exception(value: &Value<'_>, place: Place) -> Option<&'static str> {
    match value {
        Value::Number(number) => number_exception(number.as_str().parse().expect("a number"), place),
        Value::String(text) => string_exception(text, place).or_else(|| iri_exception(text, place)),
        Value::Array(array) => array.items.iter().find_map(|item| exception(item, place)),
        Value::Object(object) => object
            .members
            .iter()
            .find_map(|(name, value)| string_exception(name, place).or_else(|| exception(value, place.below(name)))),
        Value::Null | Value::Bool(_) => None,
    }
}

fn number_exception(value: f64, place: Place) -> Option<&'static str> {
    if !value.is_finite() {
        return Some("JSON.parse makes Infinity of a number beyond a double, which is not JSON; we drop the value");
    }
    let pointless = value != 0.0 && value.abs() < 1e-6 && !format!("{value:e}").contains('.');
    if pointless && place != Place::Json {
        return Some("it takes for an integer, 0, what JavaScript prints without a point, such as 1e-7");
    }
    let digits = format!("{value:.60e}");
    let behind = digits.split(['.', 'e']).nth(1).and_then(|digits| digits.get(15..)).unwrap_or_default();
    let tie = behind.strip_prefix('5').is_some_and(|rest| rest.bytes().all(|digit| digit == b'0'));
    (tie && place != Place::Json)
        .then_some("toExponential rounds a tie up, where printf(\"%1.15E\"), which JSON-LD names, rounds to even")
}

fn string_exception(text: &Text<'_>, place: Place) -> Option<&'static str> {
    (place != Place::Json && text.as_str().is_none())
        .then_some("a lone surrogate is not a character of RDF; we drop the value")
}

fn iri_exception(text: &Text<'_>, place: Place) -> Option<&'static str> {
    let text = text.as_str().filter(|text| place == Place::Iri && !text.contains(char::is_whitespace))?;
    (text.contains(':') && !text.starts_with("_:") && IriRef::parse(text).is_err())
        .then_some("it resolves text that is not an IRI reference by RFC 3987, such as one that begins with a colon")
}

/// Why it makes something else of the document that we print of a message, too.
fn printed_exception(value: &Value<'_>, place: Place) -> Option<&'static str> {
    match value {
        Value::Array(array) => array.items.iter().find_map(|item| printed_exception(item, place)),
        Value::Object(object) => object.members.iter().find_map(|(name, value)| {
            let odd = |name: &str| name.contains(':') && NamedNode::new(name).is_err() && !is_absolute(name);
            let nodes = matches!(value, Value::Array(_) | Value::Object(_));
            (place != Place::Json && nodes && name.as_str().is_some_and(odd))
                .then_some(
                    "it drops the nodes below a property that is not an IRI, where JSON-LD drops only the property",
                )
                .or_else(|| printed_exception(value, place.below(name)))
        }),
        _ => None,
    }
}

/// True if jsonld.js takes the name for an absolute IRI or a blank node.
fn is_absolute(name: &str) -> bool {
    let scheme = name.split_once(':').map_or("", |(scheme, _)| scheme);
    let regular = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || (b'+'..=b'.').contains(&byte));
    (regular || scheme == "_") && !name.contains(char::is_whitespace)
}

/// The folder in which jsonld.js is installed.
pub fn folder() -> PathBuf {
    tool("RPCGRAPH_JSONLD_JS", &[])
}

#[test]
#[ignore = "needs jsonld.js"]
fn jsonld_js_agrees() {
    let folder = folder();
    let mut logs = logs();
    logs.push(("by hand".to_owned(), torture()));
    // Below a property that is a blank node, nodes are nodes; oxjsonld is not asked about this.
    let blank = br#"{"_:p":[{"method":"m","_:q":{"id":1}},"x"],"error":{"_:r":{"code":1}}}"#;
    logs.push(("names of blank nodes".to_owned(), blank.to_vec()));
    let generated = (1..).zip(generated::logs(100));
    logs.extend(generated.map(|(number, log): (u32, _)| (format!("generated log {number}"), log.into_bytes())));

    let mut questions = Questions::default();
    let mut session = Program::new(Mapping::Session, &[]);
    let mut bblock = Program::json_lines(Mapping::Bblock);
    with_room(|| {
        for (name, log) in &logs {
            questions.add_document(&mut session, name, log);
            if questions.agrees(messages(log).find_map(|message| printed_exception(&message, Place::Plain))) {
                questions.add_document(&mut bblock, name, log);
            }
            questions.add_messages(&mut bblock, name, log);
        }
    });
    questions.ask(&folder);
}
