//! Validation by JSON Schema: the `boon` crate, with messages in the words of Python's `jsonschema`, which the official
//! tool of building blocks uses.
//!
//! `boon` does not support two conditions: patterns with look-around or back-references, and `multipleOf` with a
//! fraction, which it divides in binary floating point. Marks replace these conditions before `boon` runs, and a value
//! that reaches a mark is reported as not checked there.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use boon::{
    CompileError, Compiler, ErrorKind, Format, InstanceToken, SchemaIndex, Schemas, UrlLoader, ValidationError,
};
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::references::{each_object, percent_decode, split};
use crate::json::{pointer_token, quoted};

/// URI of a schema that stands alone.
const DOCUMENT: &str = "schema:/";
/// URI of the schema that refers to the target, so that keyword paths begin with `/$ref`.
const ENTRY: &str = "entry:/";
/// The prefix of a mark's URI, before the JSON type of the values that the mark applies to.
const MARK: &str = "mark:/";
/// The `format` of all marks.
const UNDECIDED: &str = "undecided";
/// The maximum length of a message that repeats the value, in bytes.
const MAX_MESSAGE: usize = 300;
/// The maximum number of values of an `enum` that a message lists.
const MAX_LISTED: usize = 10;

thread_local! {
    /// Set when a validation reaches a mark.
    static IS_UNDECIDED: Cell<bool> = const { Cell::new(false) };
}

/// The outcome of validating a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Validity {
    /// It is valid.
    Valid,
    /// It is valid, except for conditions that are not checked.
    Unchecked,
    /// It is not valid.
    Invalid(SchemaViolation),
    /// The outcome is unknown, for this reason.
    Unknown(String),
}

/// The most significant error in a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaViolation {
    /// The error in the words of Python's `jsonschema`.
    pub message: String,
    /// JSON Pointer of the invalid value.
    pub instance: String,
    /// JSON Pointer of the violated keyword, through references.
    pub keyword: String,
}

/// The reason why a schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnusableSchema {
    /// URI of the document that cannot be used.
    pub uri: String,
    /// The reason.
    pub why: String,
    /// True if the document is to blame, not a reference or a keyword that is not supported.
    pub is_invalid: bool,
}

/// A compiled schema.
pub struct SchemaValidator {
    schemas: Schemas,
    index: SchemaIndex,
}

impl SchemaValidator {
    /// Compiles a schema that stands alone.
    pub fn from_schema(mut schema: Value) -> Result<Self, UnusableSchema> {
        mark_undecidable(&mut schema);
        Self::compile(DOCUMENT, &Arc::new([(DOCUMENT.to_owned(), schema)].into()))
    }

    /// Compiles the schema at a URI. The documents must have been marked by [`mark_undecidable`].
    pub fn compile(target: &str, documents: &Arc<BTreeMap<String, Value>>) -> Result<Self, UnusableSchema> {
        let mut compiler = Compiler::new();
        compiler.register_format(Format { name: UNDECIDED, func: reach_mark });
        let documents = Arc::clone(documents);
        compiler
            .use_loader(Box::new(SchemaLoader { entry: json!({ "$ref": target }), documents: Arc::clone(&documents) }));
        let mut schemas = Schemas::new();
        let index = compiler.compile(ENTRY, &mut schemas).map_err(|error| {
            let (uri, why) = match &error {
                CompileError::ValidationError { url, src } => {
                    let (uri, pointer) = split(url);
                    let schema = documents.get(uri).and_then(|document| document.pointer(&percent_decode(pointer)));
                    let violation = most_telling(src, schema.unwrap_or(&Value::Null));
                    let at = if violation.instance.is_empty() { "" } else { ", at " };
                    (uri, format!("it is not a valid JSON Schema: {}{at}{}", violation.message, violation.instance))
                }
                CompileError::LoadUrlError { url, .. } => (url.as_str(), error.to_string()),
                _ => (split(target).0, error.to_string()),
            };
            let is_invalid = matches!(
                error,
                CompileError::ValidationError { .. }
                    | CompileError::JsonPointerNotFound(_)
                    | CompileError::AnchorNotFound { .. }
            );
            UnusableSchema { uri: uri.to_owned(), why, is_invalid }
        })?;
        Ok(Self { schemas, index })
    }

    /// Validates a value.
    pub fn validate(&self, value: &Value) -> Validity {
        IS_UNDECIDED.set(false);
        let outcome = self.schemas.validate(value, self.index);
        if outcome.as_ref().is_err_and(is_endless) {
            return Validity::Unknown("its references lead back to themselves".to_owned());
        }
        match outcome.map_err(|error| most_telling(&error, value)) {
            Ok(()) if IS_UNDECIDED.get() => Validity::Unchecked,
            Ok(()) => Validity::Valid,
            Err(violation) if IS_UNDECIDED.get() && !violation.is_certain() => {
                Validity::Unknown("a pattern or a multipleOf that is not supported decides it".to_owned())
            }
            Err(violation) => Validity::Invalid(violation),
        }
    }
}

/// True if an error is that references lead back to themselves.
fn is_endless(error: &ValidationError<'_, '_>) -> bool {
    matches!(error.kind, ErrorKind::RefCycle { .. }) || error.causes.iter().any(is_endless)
}

fn reach_mark(_: &Value) -> Result<(), Box<dyn Error>> {
    IS_UNDECIDED.set(true);
    Ok(())
}

struct SchemaLoader {
    entry: Value,
    documents: Arc<BTreeMap<String, Value>>,
}

impl UrlLoader for SchemaLoader {
    fn load(&self, uri: &str) -> Result<Value, Box<dyn Error>> {
        let Some(kind) = uri.strip_prefix(MARK) else {
            let document = if uri == ENTRY { Some(&self.entry) } else { self.documents.get(uri) };
            return Ok(document.ok_or("it is not read")?.clone());
        };
        let concerned = if kind == "any" { json!(true) } else { json!({ "type": kind }) };
        // Drafts up to 7 assert formats.
        let draft = "http://json-schema.org/draft-07/schema#";
        Ok(json!({ "$schema": draft, "if": concerned, "then": { "format": UNDECIDED } }))
    }
}

/// Replaces the undecidable conditions of a schema by marks. Returns the conditions as text.
pub fn mark_undecidable(schema: &mut Value) -> Vec<String> {
    let mut found = Vec::new();
    each_object(schema, &mut |entries| {
        if let Some(Value::String(pattern)) = entries.get("pattern").filter(|pattern| !is_pattern(pattern)) {
            found.push(format!("pattern {pattern:?}"));
            entries.shift_remove("pattern");
            mark(entries, "string");
        }
        let is_fraction = |number: &&Value| number.as_f64().is_some_and(|number| number.fract() != 0.0);
        if let Some(divisor) = entries.get("multipleOf").filter(is_fraction) {
            found.push(format!("multipleOf {divisor}"));
            entries.shift_remove("multipleOf");
            mark(entries, "number");
        }
        if let Some(Value::Object(patterns)) = entries.get_mut("patternProperties") {
            let unknown = |name: &&String| Regex::new(name).is_err();
            let names: Vec<_> = patterns.keys().filter(unknown).cloned().collect();
            for name in &names {
                patterns.shift_remove(name);
                // The pattern may match any member, so `additionalProperties` must not apply to any.
                patterns.insert(String::new(), json!({ "$ref": format!("{MARK}any") }));
            }
            found.extend(names.iter().map(|name| format!("patternProperties {name:?}")));
        }
    });
    found
}

fn is_pattern(value: &Value) -> bool {
    value.as_str().is_none_or(|pattern| Regex::new(pattern).is_ok())
}

fn mark(entries: &mut Map<String, Value>, kind: &str) {
    if let Value::Array(all) = entries.entry("allOf").or_insert_with(|| json!([])) {
        all.push(json!({ "$ref": format!("{MARK}{kind}") }));
    }
}

/// An error that is not a group of other errors.
struct LeafError<'e> {
    error: &'e ValidationError<'e, 'e>,
    /// JSON Pointer of the schema that the error comes from, through references.
    path: String,
}

impl<'e> LeafError<'e> {
    /// Appends the leaves below an error of a schema at `path`, whose own URI is `base`.
    fn collect(error: &'e ValidationError<'e, 'e>, mut path: String, base: &str, leaves: &mut Vec<Self>) {
        let below = error.schema_url.strip_prefix(base).unwrap_or_default();
        path += &percent_decode(below);
        let base = match &error.kind {
            ErrorKind::Reference { kw, url } => {
                path = format!("{path}/{kw}");
                url
            }
            ErrorKind::Group | ErrorKind::AllOf | ErrorKind::Schema { .. } => error.schema_url,
            _ => return leaves.push(Self { error, path }),
        };
        for cause in &error.causes {
            Self::collect(cause, path.clone(), base, leaves);
        }
    }

    /// True if the error is that no alternative holds.
    fn is_choice(&self) -> bool {
        matches!(self.error.kind, ErrorKind::AnyOf | ErrorKind::OneOf(None))
    }

    /// Returns the leaves of each alternative.
    fn alternatives(&self) -> Vec<Vec<Self>> {
        let leaves = |cause| {
            let mut leaves = Vec::new();
            Self::collect(cause, self.path.clone(), self.error.schema_url, &mut leaves);
            leaves
        };
        self.error.causes.iter().map(leaves).collect()
    }

    fn depth(&self) -> usize {
        self.error.instance_location.tokens.len()
    }
}

/// Returns the most significant error: the least deep, since deeper errors may follow from it, or, for alternatives, an
/// error of the closest alternative.
fn most_telling(error: &ValidationError<'_, '_>, value: &Value) -> SchemaViolation {
    let mut leaves = Vec::new();
    LeafError::collect(error, String::new(), error.schema_url, &mut leaves);
    best(leaves).map_or_else(
        || SchemaViolation { message: error.kind.to_string(), instance: String::new(), keyword: String::new() },
        |leaf| SchemaViolation::new(&leaf, value),
    )
}

fn best(leaves: Vec<LeafError<'_>>) -> Option<LeafError<'_>> {
    // Sorted by place as well, since `boon` visits unevaluated members in no fixed order.
    let order = |leaf: &LeafError<'_>| {
        let unevaluated =
            matches!(leaf.error.kind, ErrorKind::FalseSchema).then(|| leaf.error.instance_location.to_string());
        (leaf.depth(), leaf.is_choice(), unevaluated)
    };
    let leaf = leaves.into_iter().min_by_key(order)?;
    Some(closest(&leaf).unwrap_or(leaf))
}

/// Returns an error of the alternative that got furthest into the value; `None` if no single alternative did.
fn closest<'e>(leaf: &LeafError<'e>) -> Option<LeafError<'e>> {
    let top = leaf.depth();
    // An alternative that requires another type, or another value of the distinguishing member, was not meant.
    let score = |leaves: &Vec<LeafError<'_>>| {
        let wrong_type =
            leaves.iter().any(|leaf| matches!(leaf.error.kind, ErrorKind::Type { .. }) && leaf.depth() == top);
        let is_value =
            |leaf: &LeafError<'_>| matches!(leaf.error.kind, ErrorKind::Const { .. } | ErrorKind::Enum { .. });
        let deepest = leaves.iter().map(LeafError::depth).max().unwrap_or(0);
        (wrong_type, leaves.iter().any(is_value), Reverse(deepest), leaves.len())
    };
    let mut alternatives = if leaf.is_choice() { leaf.alternatives() } else { Vec::new() };
    alternatives.sort_by_key(score);
    let mut ranked = alternatives.into_iter();
    let (first, second) = (ranked.next()?, ranked.next());
    if second.is_some_and(|second| score(&second) == score(&first)) { None } else { best(first) }
}

impl fmt::Display for SchemaViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.instance.is_empty() {
            write!(f, "at {}: ", self.instance)?;
        }
        f.write_str(&self.message)
    }
}

impl SchemaViolation {
    fn new(leaf: &LeafError<'_>, root: &Value) -> Self {
        let mut tokens: &[_] = &leaf.error.instance_location.tokens;
        let mut path = leaf.path.clone();
        let (mut keyword, mut message) = explain(leaf.error, &value_at(root, tokens).to_string());
        if message.len() > MAX_MESSAGE {
            message = explain(leaf.error, "value").1;
        }
        // An unevaluated member is an error of the object around it.
        let unevaluated = ["Properties", "Items"].into_iter().find(|of| path.ends_with(&format!("/unevaluated{of}")));
        if let (ErrorKind::FalseSchema, Some(of), Some((last, before))) =
            (&leaf.error.kind, unevaluated, tokens.split_last())
        {
            let last = match last {
                InstanceToken::Prop(name) => quoted(name),
                InstanceToken::Item(_) => value_at(root, tokens).to_string(),
            };
            message = format!("Unevaluated {} are not allowed ({last} was unexpected)", of.to_lowercase());
            (tokens, keyword) = (before, "");
        }
        if !keyword.is_empty() {
            path = format!("{path}/{keyword}");
        }
        Self {
            message,
            instance: tokens.iter().map(|token| format!("/{}", pointer_token(&name(token)))).collect(),
            keyword: path,
        }
    }

    /// True if the error does not depend on unchecked conditions. These count as met, which affects only keywords that
    /// require a condition not to be met.
    fn is_certain(&self) -> bool {
        let unsafe_keywords =
            ["not", "oneOf", "then", "else", "maxContains", "unevaluatedProperties", "unevaluatedItems"];
        !self.keyword.split('/').any(|token| unsafe_keywords.contains(&token))
    }
}

fn name(token: &InstanceToken<'_>) -> String {
    match token {
        InstanceToken::Prop(name) => name.to_string(),
        InstanceToken::Item(index) => index.to_string(),
    }
}

fn value_at<'v>(root: &'v Value, tokens: &[InstanceToken<'_>]) -> &'v Value {
    let step = |value: &'v Value, token: &InstanceToken<'_>| match token {
        InstanceToken::Prop(name) => value.get(name.as_ref()),
        InstanceToken::Item(index) => value.get(index),
    };
    tokens.iter().try_fold(root, step).unwrap_or(&Value::Null)
}

/// Returns the violated keyword and a message.
fn explain(error: &ValidationError<'_, '_>, value: &str) -> (&'static str, String) {
    let were = |count: usize| if count == 1 { "was" } else { "were" };
    match &error.kind {
        ErrorKind::Type { want, .. } => {
            let kinds: Vec<_> = want.iter().map(|kind| quoted(&kind.to_string())).collect();
            ("type", format!("{value} is not of type {}", kinds.join(", ")))
        }
        ErrorKind::Enum { want } => ("enum", format!("{value} is not one of {}", listed(want))),
        ErrorKind::Const { want } => ("const", format!("{want} was expected")),
        ErrorKind::Format { want, .. } => ("format", format!("{value} is not a {}", quoted(want))),
        ErrorKind::Required { want } => {
            ("required", format!("{} is a required property", quoted(want.first().unwrap_or(&""))))
        }
        ErrorKind::Dependency { prop, missing } | ErrorKind::DependentRequired { prop, missing } => {
            let keyword =
                if matches!(error.kind, ErrorKind::Dependency { .. }) { "dependencies" } else { "dependentRequired" };
            (keyword, format!("{} is a dependency of {}", quoted(missing.first().unwrap_or(&"")), quoted(prop)))
        }
        ErrorKind::AdditionalProperties { got } => {
            let names = got.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
            let message = format!("Additional properties are not allowed ({names} {} unexpected)", were(got.len()));
            ("additionalProperties", message)
        }
        ErrorKind::AdditionalItems { got } => {
            ("additionalItems", format!("Additional items are not allowed ({got} {} unexpected)", were(*got)))
        }
        ErrorKind::PropertyName { prop } => {
            let mut leaves = Vec::new();
            error.causes.iter().for_each(|cause| LeafError::collect(cause, String::new(), "", &mut leaves));
            let why = best(leaves).map_or_else(String::new, |leaf| explain(leaf.error, &quoted(prop)).1);
            ("propertyNames", why)
        }
        ErrorKind::MinProperties { .. } => ("minProperties", format!("{value} does not have enough properties")),
        ErrorKind::MaxProperties { .. } => ("maxProperties", format!("{value} has too many properties")),
        ErrorKind::MinItems { .. } => ("minItems", format!("{value} is too short")),
        ErrorKind::MaxItems { .. } => ("maxItems", format!("{value} is too long")),
        ErrorKind::MinLength { .. } => ("minLength", format!("{value} is too short")),
        ErrorKind::MaxLength { .. } => ("maxLength", format!("{value} is too long")),
        ErrorKind::UniqueItems { .. } => ("uniqueItems", format!("{value} has non-unique elements")),
        ErrorKind::Contains => ("contains", format!("{value} does not contain items matching the given schema")),
        ErrorKind::MinContains { got, want } => {
            let got = got.len();
            (
                "minContains",
                format!("Too few items match the given schema (expected at least {want} but only {got} matched)"),
            )
        }
        ErrorKind::MaxContains { want, .. } => {
            ("maxContains", format!("Too many items match the given schema (expected at most {want})"))
        }
        ErrorKind::Pattern { want, .. } => ("pattern", format!("{value} does not match {}", quoted(want))),
        ErrorKind::Minimum { want, .. } => ("minimum", format!("{value} is less than the minimum of {want}")),
        ErrorKind::Maximum { want, .. } => ("maximum", format!("{value} is greater than the maximum of {want}")),
        ErrorKind::ExclusiveMinimum { want, .. } => {
            ("exclusiveMinimum", format!("{value} is less than or equal to the minimum of {want}"))
        }
        ErrorKind::ExclusiveMaximum { want, .. } => {
            ("exclusiveMaximum", format!("{value} is greater than or equal to the maximum of {want}"))
        }
        ErrorKind::MultipleOf { want, .. } => ("multipleOf", format!("{value} is not a multiple of {want}")),
        ErrorKind::Not => ("not", format!("{value} should not be valid under the given schema")),
        ErrorKind::AnyOf => ("anyOf", format!("{value} is not valid under any of the given schemas")),
        ErrorKind::OneOf(None) => ("oneOf", format!("{value} is not valid under any of the given schemas")),
        ErrorKind::OneOf(Some((one, other))) => {
            ("oneOf", format!("{value} is valid under each of the given schemas {one} and {other}"))
        }
        ErrorKind::FalseSchema => ("", format!("False schema does not allow {value}")),
        kind => ("", kind.to_string()),
    }
}

/// Lists values in brackets, up to a maximum number.
fn listed(values: &[Value]) -> String {
    let mut shown: Vec<_> = values.iter().take(MAX_LISTED).map(Value::to_string).collect();
    if values.len() > MAX_LISTED {
        shown.push(format!("and {} more", values.len() - MAX_LISTED));
    }
    format!("[{}]", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validator(schema: Value) -> SchemaValidator {
        SchemaValidator::from_schema(schema).unwrap_or_else(|why| panic!("{why:?}"))
    }

    #[test]
    fn messages_are_those_of_python_jsonschema() {
        for (schema, value, message, keyword) in [
            (json!({"type": "string"}), json!(1), r#"1 is not of type "string""#, "type"),
            (json!({"type": ["null", "string"]}), json!(1), r#"1 is not of type "null", "string""#, "type"),
            (json!({"enum": [1, "a"]}), json!("b"), r#""b" is not one of [1, "a"]"#, "enum"),
            (json!({"const": 2}), json!(3), "2 was expected", "const"),
            (json!({"required": ["a", "b"]}), json!({"a": 1}), r#""b" is a required property"#, "required"),
            (
                json!({"properties": {"a": {}}, "additionalProperties": false}),
                json!({"a": 1, "b": 2, "c": 3}),
                r#"Additional properties are not allowed ("b", "c" were unexpected)"#,
                "additionalProperties",
            ),
            (
                json!({"unevaluatedProperties": false}),
                json!({"b": 2}),
                r#"Unevaluated properties are not allowed ("b" was unexpected)"#,
                "unevaluatedProperties",
            ),
            (
                json!({"dependentRequired": {"a": ["b"]}}),
                json!({"a": 1}),
                r#""b" is a dependency of "a""#,
                "dependentRequired",
            ),
            (json!({"propertyNames": {"maxLength": 1}}), json!({"ab": 1}), r#""ab" is too long"#, "propertyNames"),
            (json!({"minProperties": 1}), json!({}), "{} does not have enough properties", "minProperties"),
            (json!({"minItems": 1}), json!([]), "[] is too short", "minItems"),
            (json!({"uniqueItems": true}), json!([1, 1]), "[1,1] has non-unique elements", "uniqueItems"),
            (
                json!({"contains": {"const": 1}}),
                json!([2]),
                "[2] does not contain items matching the given schema",
                "contains",
            ),
            (json!({"pattern": "^a/\\d$"}), json!("b"), r#""b" does not match "^a/[0-9]$""#, "pattern"),
            (json!({"minimum": 2}), json!(1), "1 is less than the minimum of 2", "minimum"),
            (
                json!({"exclusiveMaximum": 2}),
                json!(2),
                "2 is greater than or equal to the maximum of 2",
                "exclusiveMaximum",
            ),
            (json!({"multipleOf": 2}), json!(7), "7 is not a multiple of 2", "multipleOf"),
            (json!({"not": {"type": "string"}}), json!(""), r#""" should not be valid under the given schema"#, "not"),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
                json!(1),
                "1 is not valid under any of the given schemas",
                "anyOf",
            ),
            (
                json!({"oneOf": [{}, {"minimum": 0}]}),
                json!(1),
                "1 is valid under each of the given schemas 0 and 1",
                "oneOf",
            ),
        ] {
            let Validity::Invalid(violation) = validator(schema.clone()).validate(&value) else {
                panic!("{schema} accepts {value}");
            };
            assert_eq!((violation.message.as_str(), violation.instance.as_str()), (message, ""), "{schema}");
            assert_eq!(violation.keyword, format!("/$ref/{keyword}"), "{schema}");
        }
    }

    /// A verdict is certain if the unsupported condition cannot change it.
    #[test]
    fn unsupported_conditions_are_not_checked() {
        let look_ahead = json!({"pattern": "^(?!x)"});
        let schema = json!({"properties": {"a": look_ahead, "b": {"type": "integer"}}});
        let verdict = |schema: &Value, value: Value| validator(schema.clone()).validate(&value);
        assert_eq!(verdict(&schema, json!({"b": 1})), Validity::Valid);
        assert_eq!(verdict(&schema, json!({"a": 1})), Validity::Valid, "a pattern is about strings");
        assert_eq!(verdict(&schema, json!({"a": "y"})), Validity::Unchecked);
        assert!(matches!(verdict(&schema, json!({"a": "y", "b": ""})), Validity::Invalid(_)));
        for schema in [json!({"not": look_ahead}), json!({"oneOf": [look_ahead, {"type": "string"}]})] {
            assert!(matches!(verdict(&schema, json!("x")), Validity::Unknown(_)), "{schema}");
        }
        // 1.1 / 0.1 is 11.000000000000002 in binary.
        assert_eq!(verdict(&json!({"multipleOf": 0.1}), json!(1.1)), Validity::Unchecked);
        let closed = json!({"patternProperties": {"(?=x)": {"type": "string"}}, "additionalProperties": false});
        assert_eq!(verdict(&closed, json!({"y": 1})), Validity::Unchecked);
        assert_eq!(verdict(&closed, json!({})), Validity::Valid);
        // Data is not a schema.
        assert_eq!(verdict(&json!({"const": {"pattern": "(?!)"}}), json!({"pattern": "(?!)"})), Validity::Valid);
    }
}
