//! Functions beyond SPARQL: access to payloads, and percentiles.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oxigraph::sparql::SparqlEvaluator;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, NamedNodeRef, Term};

use super::first::FirstMessage;
use super::overlap::MaxOverlap;
use super::percentile::{Percentile, SkipsUnbound};
use super::sort;
use crate::json::{self, Decimal, Number, Numbers, QuickWriter, Value, quoted};
use crate::redact::secrets::masked;
use crate::schema::QuerySchemas;
use crate::sink::columns::Columns;
use crate::vocab::{rdf, rpcg};

/// A function for queries.
#[derive(Debug)]
pub struct Function {
    /// The prefixed name.
    pub name: &'static str,
    /// A description of the result.
    pub gives: &'static str,
    kind: FunctionKind,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum FunctionKind {
    Value,
    /// The number of characters of any literal or IRI.
    Characters,
    Length,
    Size,
    Keys,
    Pointers,
    Type,
    Secrets,
    Conforms,
    SchemaProblem,
    HeaderText,
    Percentile(usize),
    MostAtOnce,
    First,
}

/// The function for `STRLEN(STR(?value))`. Its name contains a space, so that queries cannot call it.
pub(super) const LENGTH: NamedNodeRef<'static> = NamedNodeRef::new_unchecked("text length");

/// Every function. The first argument of JSON functions is an rdf:JSON literal, or a string that contains JSON, as
/// texts of MCP often do. The second is a JSON Pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)); without
/// it, the function applies to the whole value. `*` in the pointer stands for each element of an array, and the result
/// is then an array of the values found, or the sum of their sizes. If the value does not exist, the result is unbound.
pub const FUNCTIONS: &[Function] = &[
    function(
        "rpcg:json",
        "the value: a string, an exact number, a boolean; objects, arrays and null as rdf:JSON",
        FunctionKind::Value,
    ),
    function("rpcg:jsonLength", "how many elements an array has, or members an object", FunctionKind::Length),
    function("rpcg:jsonSize", "how many bytes the value has as canonical JSON", FunctionKind::Size),
    function("rpcg:jsonKeys", "the member names of an object, as an rdf:JSON array", FunctionKind::Keys),
    function(
        "rpcg:jsonPointers",
        "the JSON Pointers, from the value, of all strings, numbers, booleans and nulls in it, as an rdf:JSON array; unbound \
         if they are longer than 1 MiB",
        FunctionKind::Pointers,
    ),
    function(
        "rpcg:jsonType",
        "\"object\", \"array\", \"string\", \"number\", \"boolean\" or \"null\"",
        FunctionKind::Type,
    ),
    function(
        "rpcg:secrets",
        "what looks like a password, a token or a key: an array of objects with its JSON Pointer, at, and how it begins, looks",
        FunctionKind::Secrets,
    ),
    function(
        "rpcg:conforms",
        "the first error of the value by a JSON Schema: rdf:JSON, or the IRI of a built-in schema; unbound if it conforms \
         or that is unknown",
        FunctionKind::Conforms,
    ),
    function(
        "rpcg:schemaProblem",
        "the reason why a JSON Schema is not valid in its dialect; unbound if it is valid or that is unknown",
        FunctionKind::SchemaProblem,
    ),
    function(
        "rpcg:headerText",
        "the text of a header's value, which MCP encodes as =?base64?…?= if it has other characters than ASCII; unbound if \
         that is not valid",
        FunctionKind::HeaderText,
    ),
    function("rpcg:median", "the median, as one of the numbers", FunctionKind::Percentile(50)),
    function("rpcg:p90", "the 90th percentile, as one of the numbers", FunctionKind::Percentile(90)),
    function("rpcg:p95", "the 95th percentile, as one of the numbers", FunctionKind::Percentile(95)),
    function("rpcg:p99", "the 99th percentile, as one of the numbers", FunctionKind::Percentile(99)),
    function(
        "rpcg:mostAtOnce",
        "how many spans overlap at most; \"3/7\" is one from 3 up to 7, \"3/\" one that goes on",
        FunctionKind::MostAtOnce,
    ),
    function("rpcg:first", "the message that comes first in its log", FunctionKind::First),
];

const fn function(name: &'static str, gives: &'static str, kind: FunctionKind) -> Function {
    Function { name, gives, kind }
}

impl FunctionKind {
    /// Returns true for a function of the text of a payload.
    pub fn is_of_text(self) -> bool {
        !self.is_aggregate() && !matches!(self, Self::Conforms | Self::SchemaProblem | Self::HeaderText)
    }

    fn is_aggregate(self) -> bool {
        matches!(self, Self::Percentile(_) | Self::MostAtOnce | Self::First)
    }
}

impl Function {
    /// Returns true if the function aggregates the rows of a group.
    pub fn is_aggregate(&self) -> bool {
        self.kind.is_aggregate()
    }

    /// Returns the function's name with its arguments.
    pub fn signature(&self) -> String {
        let arguments = match self.kind {
            FunctionKind::Percentile(_) => "?number",
            FunctionKind::MostAtOnce => "?span",
            FunctionKind::First => "?message",
            FunctionKind::Secrets => "?json",
            FunctionKind::Conforms => "?json, ?schema",
            FunctionKind::SchemaProblem => "?schema",
            FunctionKind::HeaderText => "?value",
            _ => "?json, \"/pointer\"",
        };
        format!("{}({arguments})", self.name)
    }

    /// Returns true if the function takes this number of arguments.
    pub(super) fn takes(&self, arguments: usize) -> bool {
        match self.kind {
            FunctionKind::Conforms => arguments == 2,
            FunctionKind::Secrets | FunctionKind::SchemaProblem | FunctionKind::HeaderText => arguments == 1,
            _ => arguments == 1 || arguments == 2 && !self.is_aggregate(),
        }
    }

    pub(super) fn kind(&self) -> FunctionKind {
        self.kind
    }

    /// The IRI of the function.
    pub fn iri(&self) -> NamedNode {
        let local = self.name.strip_prefix("rpcg:").unwrap_or(self.name);
        NamedNode::new_unchecked(format!("{}{local}", rpcg::NAMESPACE))
    }
}

/// Adds the functions to an evaluator.
pub(super) fn add(evaluator: SparqlEvaluator, schemas: &Arc<QuerySchemas>, columns: &Arc<Columns>) -> SparqlEvaluator {
    let sort_key = |arguments: &[Term]| arguments.first().and_then(sort::sort_key);
    let evaluator = evaluator.with_custom_function(sort::SORT_KEY.into_owned(), sort_key);
    let own = FUNCTIONS.iter().map(|function| (function.iri(), function.kind));
    own.chain([(LENGTH.into_owned(), FunctionKind::Characters)]).fold(evaluator, |evaluator, (name, kind)| {
        if kind.is_aggregate() {
            return evaluator.with_custom_aggregate_function(name, move || Box::new(accumulator(kind)));
        }
        let (schemas, columns, function) = (schemas.clone(), columns.clone(), name.as_str().to_owned());
        evaluator.with_custom_function(name, move |arguments| {
            computed(&function, arguments, &columns).unwrap_or_else(|| apply(kind, arguments, &schemas))
        })
    })
}

/// Returns the value of a function, if columns hold that value in place of the first argument.
fn computed(function: &str, arguments: &[Term], columns: &Columns) -> Option<Option<Term>> {
    let pointer = match arguments.get(1) {
        Some(Term::Literal(pointer)) => pointer.value(),
        _ => "",
    };
    let place = columns.function_place(function, pointer)?;
    let value = columns.computed(columns.find(arguments.first()?)?, place)?;
    Some(value.is_bound().then(|| columns.term(value)))
}

/// Returns the kind of the function with that IRI.
pub(super) fn function_kind(name: &NamedNode) -> Option<FunctionKind> {
    if *name == LENGTH {
        return Some(FunctionKind::Characters);
    }
    let local = name.as_str().strip_prefix(rpcg::NAMESPACE)?;
    let is_it = |function: &&Function| function.name.strip_prefix("rpcg:") == Some(local);
    FUNCTIONS.iter().find(is_it).map(Function::kind)
}

/// Creates the accumulator of an aggregate.
fn accumulator(kind: FunctionKind) -> SkipsUnbound {
    SkipsUnbound(match kind {
        FunctionKind::Percentile(percent) => Box::new(Percentile::new(percent)),
        FunctionKind::First => Box::new(FirstMessage::default()),
        _ => Box::new(MaxOverlap::default()),
    })
}

/// Applies a function to its arguments.
fn apply(kind: FunctionKind, arguments: &[Term], schemas: &QuerySchemas) -> Option<Term> {
    match (kind, arguments) {
        (FunctionKind::Conforms, [json, schema]) => {
            let json = text_of(json)?;
            let error = match schema {
                Term::NamedNode(iri) => schemas.violation_by_iri(json, iri.as_str()),
                schema => schemas.violation(Some(json), text_of(schema)?),
            };
            error.map(|error| Literal::from(error).into())
        }
        (FunctionKind::SchemaProblem, [schema]) => {
            schemas.violation(None, text_of(schema)?).map(|error| Literal::from(error).into())
        }
        (FunctionKind::HeaderText, [value]) => {
            let value = text_of(value)?;
            let encoded = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
            let text =
                encoded.map_or(Some(value.to_owned()), |text| String::from_utf8(STANDARD.decode(text).ok()?).ok());
            text.map(|text| Literal::from(text).into())
        }
        (FunctionKind::Characters, [Term::NamedNode(node)]) => number(node.as_str().chars().count()),
        (FunctionKind::Characters, [Term::Literal(text)]) => number(text.value().chars().count()),
        (kind, [json]) => apply_to_text(kind, text_of(json)?, false, ""),
        (kind, [json, Term::Literal(pointer)]) if pointer.datatype() == xsd::STRING => {
            apply_to_text(kind, text_of(json)?, false, pointer.value())
        }
        _ => None,
    }
}

/// Applies a function of a payload to its text, which may be known to be canonical JSON.
pub(super) fn apply_to_text(kind: FunctionKind, text: &str, is_canonical: bool, pointer: &str) -> Option<Term> {
    match kind {
        FunctionKind::Secrets => return secrets(text),
        FunctionKind::Characters => return number(text.chars().count()),
        _ => {}
    }
    let text = if is_canonical { text } else { json::check(text.as_bytes()).ok()?.trim_ascii() };
    let json = JsonText { text, is_canonical };
    match pointer.contains("/*") {
        false => json.at(pointer)?.apply(kind),
        true => json.apply_to_all(kind, pointer),
    }
}

/// A text that is a JSON value, without whitespace around it.
#[derive(Clone, Copy)]
struct JsonText<'t> {
    text: &'t str,
    is_canonical: bool,
}

impl<'t> JsonText<'t> {
    /// Returns the value at a JSON Pointer ([RFC 6901, 4](https://www.rfc-editor.org/rfc/rfc6901#section-4)).
    fn at(self, pointer: &str) -> Option<Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, Self::step)
    }

    /// Returns the value at one token of a pointer.
    fn step(self, token: &str) -> Option<Self> {
        let text = if self.text.starts_with('[') {
            let plain = token == "0" || !token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit());
            json::elements(self.text).nth(token.parse().ok().filter(|_| plain)?)?
        } else {
            let wanted = json::pointer_name(token);
            let is_it = |(name, _): &(&str, &str)| match name.contains('\\') {
                true => json::unescaped(name).as_deref() == Some(&*wanted),
                false => *name == wanted,
            };
            let mut found = json::members(self.text).filter(is_it);
            // The last of several members with the same name counts.
            if self.is_canonical { found.next()?.1 } else { found.last()?.1 }
        };
        Some(Self { text, ..self })
    }

    fn elements(self) -> impl Iterator<Item = Self> {
        json::elements(self.text).map(move |text| Self { text, ..self })
    }

    fn first(self) -> u8 {
        self.text.as_bytes().first().copied().unwrap_or_default()
    }

    fn apply(self, kind: FunctionKind) -> Option<Term> {
        match (kind, self.first()) {
            (FunctionKind::Value, _) => self.value(),
            (FunctionKind::Length, b'[') => number(self.elements().count()),
            (FunctionKind::Length, b'{') => number(self.object()?.members.len()),
            (FunctionKind::Size, _) => number(self.canonical()?.len()),
            (FunctionKind::Keys, b'{') => array(self.object()?.members.iter().map(|(name, _)| name_text(name))),
            (FunctionKind::Pointers, _) => {
                let mut found = Vec::new();
                self.scalars("", &mut found, &mut (1 << 20))?;
                array(found.into_iter())
            }
            (FunctionKind::Type, first) => Some(Literal::from(type_name(first)).into()),
            _ => None,
        }
    }

    /// Adds the pointers to all scalars in the value, as JSON. `None` if they take more than `room` bytes.
    fn scalars(self, at: &str, found: &mut Vec<String>, room: &mut usize) -> Option<()> {
        *room = room.checked_sub(at.len() + 1)?;
        match self.first() {
            b'{' => json::members(self.text).try_for_each(|(name, text)| {
                let name = json::unescaped(name).unwrap_or(Cow::Borrowed(name));
                Self { text, ..self }.scalars(&format!("{at}/{}", json::pointer_token(&name)), found, room)
            }),
            b'[' => self
                .elements()
                .enumerate()
                .try_for_each(|(index, element)| element.scalars(&format!("{at}/{index}"), found, room)),
            _ => {
                found.push(quoted(at));
                Some(())
            }
        }
    }

    /// Applies a function to the array of all values that a pointer matches, where `*` stands for each element of an
    /// array.
    fn apply_to_all(self, kind: FunctionKind, pointer: &str) -> Option<Term> {
        let mut found = vec![self];
        let mut is_array = false;
        for token in pointer.strip_prefix('/')?.split('/') {
            let mut next = Vec::new();
            for value in found {
                // `*` is never an index in RFC 6901. In an object, it is the name of a member.
                if token == "*" && value.first() == b'[' {
                    is_array = true;
                    next.extend(value.elements());
                } else {
                    next.extend(value.step(token));
                }
            }
            found = next;
        }
        match kind {
            _ if !is_array => found.pop()?.apply(kind),
            FunctionKind::Value => array(found.into_iter().filter_map(Self::canonical)),
            FunctionKind::Length => number(found.len()),
            FunctionKind::Size => number(found.into_iter().filter_map(Self::canonical).map(|text| text.len()).sum()),
            FunctionKind::Type => Some(Literal::from("array").into()),
            _ => None,
        }
    }

    /// Returns the value as a term.
    fn value(self) -> Option<Term> {
        match Value::hollow(self.text) {
            Value::Bool(truth) => Some(Literal::from(truth).into()),
            Value::Number(number) => Some(number_value(number).into()),
            // A string with a lone surrogate is not an RDF string, so its JSON is returned.
            Value::String(json::Text::Unicode(text)) => Some(Literal::from(text.into_owned()).into()),
            Value::String(_) | Value::Null | Value::Array(_) | Value::Object(_) => {
                Some(Literal::new_typed_literal(self.canonical()?, rdf::JSON).into())
            }
        }
    }

    fn canonical(self) -> Option<Cow<'t, str>> {
        if self.is_canonical {
            return Some(self.text.into());
        }
        let mut text = String::with_capacity(self.text.len());
        if QuickWriter::new(Numbers::Exact).write_text(self.text, &mut text).is_none() {
            text.clear();
            json::write_canonical(&json::parse(self.text.as_bytes()).ok()?, Numbers::Exact, &mut text).ok()?;
        }
        Some(text.into())
    }

    /// Returns the members of an object, one for each name.
    fn object(self) -> Option<json::Object<'t>> {
        match json::parse(self.text.as_bytes()).ok()? {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }
}

fn number(number: usize) -> Option<Term> {
    i64::try_from(number).ok().map(|number| Literal::from(number).into())
}

/// Returns the secrets in any text; `None` if there are none.
fn secrets(text: &str) -> Option<Term> {
    let object = |(at, looks): (String, String)| format!(r#"{{"at":{},"looks":{}}}"#, quoted(&at), quoted(&looks));
    let mut found = masked(text).into_iter().map(object).peekable();
    found.peek()?;
    array(found)
}

/// Returns the JSON text in a term.
fn text_of(term: &Term) -> Option<&str> {
    match term {
        Term::Literal(json) if json.datatype() == rdf::JSON || json.datatype() == xsd::STRING => Some(json.value()),
        _ => None,
    }
}

fn name_text(name: &json::Text<'_>) -> String {
    let mut text = String::new();
    json::write_string(name, &mut text);
    text
}

/// Creates an rdf:JSON array of serialized values.
fn array(values: impl Iterator<Item = impl AsRef<str>>) -> Option<Term> {
    let mut text = String::from("[");
    for value in values {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(value.as_ref());
    }
    text.push(']');
    Some(Literal::new_typed_literal(text, rdf::JSON).into())
}

/// Returns the elements of an array, or the members of an object, as terms; a member is `["name",value]`.
pub(super) fn items(json: &Term, members: bool) -> Option<Vec<Term>> {
    let text = json::check(text_of(json)?.as_bytes()).ok()?.trim_ascii();
    let json = JsonText { text, is_canonical: false };
    match (json.first(), members) {
        (b'[', false) => Some(json.elements().filter_map(JsonText::value).collect()),
        (b'{', true) => {
            let pair = |(name, value): &(_, Value<'_>)| {
                let mut text = String::new();
                json::write_canonical(value, Numbers::Exact, &mut text).ok()?;
                array([name_text(name), text].into_iter())
            };
            Some(json.object()?.members.iter().filter_map(pair).collect())
        }
        _ => None,
    }
}

/// Returns the name of the type of a value that begins with this byte.
fn type_name(first: u8) -> &'static str {
    match first {
        b'n' => "null",
        b't' | b'f' => "boolean",
        b'"' => "string",
        b'[' => "array",
        b'{' => "object",
        _ => "number",
    }
}

/// The maximum number of digits of an integer; a longer number becomes a double.
const MAX_DIGITS: usize = 1024;

/// Returns the exact number: an xsd:integer, an xsd:decimal if it fits, otherwise an xsd:double.
fn number_value(number: Number<'_>) -> Literal {
    let spelling = number.as_str();
    if spelling.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(integer) = spelling.parse::<i64>()
    {
        return integer.into();
    }
    let decimal: Decimal = number.to_decimal();
    if let Some(plain) = decimal.to_plain(MAX_DIGITS) {
        if decimal.is_integer() {
            return Literal::new_typed_literal(plain, xsd::INTEGER);
        }
        if plain.parse::<oxsdatatypes::Decimal>().is_ok_and(|decimal| decimal.to_string() == plain) {
            return Literal::new_typed_literal(plain, xsd::DECIMAL);
        }
    }
    Literal::new_typed_literal(spelling, xsd::DOUBLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(kind: FunctionKind, json: &str, pointer: &str) -> Option<String> {
        let json = Literal::new_typed_literal(json, rdf::JSON).into();
        apply(kind, &[json, Literal::from(pointer).into()], &QuerySchemas::default()).map(|term| term.to_string())
    }

    fn typed(lexical: &str, datatype: &str) -> Option<String> {
        Some(format!("\"{lexical}\"^^<http://www.w3.org/2001/XMLSchema#{datatype}>"))
    }

    #[test]
    fn pointers_are_those_of_rfc_6901() {
        // The document in section 5 of the RFC, with the values listed there.
        let json = r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#;
        assert_eq!(call(FunctionKind::Value, json, "/foo/0").as_deref(), Some("\"bar\""));
        let members = ["/", "/a~1b", "/c%d", "/e^f", "/g|h", "/i\\j", "/k\"l", "/ ", "/m~0n"];
        for (number, pointer) in members.into_iter().enumerate() {
            assert_eq!(call(FunctionKind::Value, json, pointer), typed(&number.to_string(), "integer"), "{pointer}");
        }
        assert_eq!(call(FunctionKind::Type, json, "").as_deref(), Some("\"object\""));
        for nothing in ["foo", "/foo/2", "/foo/00", "/foo/01", "/foo/+1", "/foo/-", "/foo/0/x", "/bar", "/foo/"] {
            assert_eq!(call(FunctionKind::Value, json, nothing), None, "{nothing}");
        }
        assert_eq!(call(FunctionKind::Value, r#"{"~1":1,"/":2}"#, "/~01"), typed("1", "integer"));
    }

    #[test]
    fn a_star_is_each_element_of_an_array() {
        let json = r#"{"tools":[{"name":"a","in":[1,2]},{"title":"b"},{"name":"c","in":[3]}],"*":{"x":1},"none":[]}"#;
        let found = |pointer| call(FunctionKind::Value, json, pointer).map(|term| term.replace('\\', ""));
        let array = |text: &str| Some(format!("\"{text}\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>"));
        assert_eq!(found("/tools/*/name"), array(r#"["a","c"]"#));
        assert_eq!(found("/tools/*/in/*"), array("[1,2,3]"));
        assert_eq!(found("/none/*"), array("[]"));
        assert_eq!(found("/*/x"), typed("1", "integer"), "a member's name is one, as in RFC 6901");
        for nothing in ["/tools/0/*", "/missing/*", "/tools/*x"] {
            assert_eq!(found(nothing), None, "{nothing}");
        }
        assert_eq!(call(FunctionKind::Length, json, "/tools/*/in/*"), typed("3", "integer"));
    }

    #[test]
    fn numbers_are_exact() {
        for (json, lexical, datatype) in [
            ("42", "42", "integer"),
            ("1.0", "1", "integer"),
            ("1e3", "1000", "integer"),
            ("123456789012345678901234567890", "123456789012345678901234567890", "integer"),
            ("0.5", "0.5", "decimal"),
            ("25e-1", "2.5", "decimal"),
            ("1e-300", "1e-300", "double"),
            ("-0", "0", "integer"),
        ] {
            assert_eq!(call(FunctionKind::Value, json, ""), typed(lexical, datatype), "{json}");
        }
    }

    #[test]
    fn objects_arrays_and_null_stay_json() {
        let json = |text: &str| Some(format!("\"{text}\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>"));
        assert_eq!(call(FunctionKind::Value, r#"{"a":[1, 2]}"#, "/a"), json("[1,2]"));
        assert_eq!(call(FunctionKind::Value, r#"{"a":null}"#, "/a"), json("null"));
        assert_eq!(call(FunctionKind::Keys, r#"{"a":{"x":1,"y":2}}"#, "/a"), json(r#"[\"x\",\"y\"]"#));
        assert_eq!(
            call(FunctionKind::Pointers, r#"{"a":{"x/y":1,"z":[null,{},[2]]}}"#, "/a"),
            json(r#"[\"/x~1y\",\"/z/0\",\"/z/2/0\"]"#)
        );
        assert_eq!(call(FunctionKind::Pointers, &format!("{{\"{}\":{{\"a\":1}}}}", "x".repeat(1 << 20)), ""), None);
        assert_eq!(call(FunctionKind::Value, "true", ""), typed("true", "boolean"));
    }

    #[test]
    fn lengths_are_of_arrays_and_objects() {
        assert_eq!(call(FunctionKind::Length, "[1,2,3]", ""), typed("3", "integer"));
        assert_eq!(call(FunctionKind::Length, r#"{"a":1}"#, ""), typed("1", "integer"));
        assert_eq!(call(FunctionKind::Length, "\"text\"", ""), None);
        assert_eq!(call(FunctionKind::Length, "no JSON", ""), None);
    }
}
