//! YAML with limits, since a building block may come from anywhere.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span};
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};
use serde_saphyr::SerializerOptions;

/// The maximum number of nodes that all aliases in a document may add.
const MAX_ALIAS_NODES: usize = 100_000;
/// The maximum nesting depth, the same as for JSON in the files of a block.
const MAX_DEPTH: usize = 128;

/// The reason why a text is not the expected YAML, with its place.
#[derive(Debug, thiserror::Error)]
pub enum YamlError {
    /// Not YAML, or YAML that JSON cannot express.
    #[error("{message} at line {line}, column {column}")]
    Syntax {
        /// The reason.
        message: String,
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
    },
    /// A value of another type than expected, after the path to it.
    #[error(transparent)]
    Type(#[from] serde_path_to_error::Error<serde_json::Error>),
}

impl YamlError {
    fn new(message: impl Into<String>, span: Span) -> Self {
        Self::Syntax { message: message.into(), line: span.start.line(), column: span.start.col() + 1 }
    }

    /// Returns the line, counted from 1, if known.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Syntax { line, .. } => Some(*line),
            Self::Type(_) => None,
        }
    }
}

impl From<ScanError> for YamlError {
    fn from(error: ScanError) -> Self {
        Self::new(error.info(), Span::empty(*error.marker()))
    }
}

/// Parses one YAML document by the core schema of [YAML 1.2](https://yaml.org/spec/1.2.2/): `yes` is a string. Merge keys
/// (`<<`) are supported, as by most other parsers.
///
/// A duplicate key in a mapping is an error. JSON is YAML, so this parses JSON, too.
pub fn read(text: &str) -> Result<Value, YamlError> {
    let mut loader = Loader::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event?;
        loader.take(event, span)?;
    }
    Ok(loader.document.unwrap_or_default())
}

/// Parses a document as a type.
pub fn read_as<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    Ok(serde_path_to_error::deserialize(read(text)?)?)
}

/// Writes a YAML document; a string of several lines becomes a block scalar with the same lines.
pub fn write(value: &Value) -> Result<String, serde_saphyr::ser_error::Error> {
    let options: SerializerOptions = serde_saphyr::ser_options! {
        compact_list_indent: false,
        // Folding would break lines of code.
        folded_wrap_chars: usize::MAX,
        min_fold_chars: usize::MAX,
    };
    serde_saphyr::to_string_with_options(value, options)
}

/// A sequence or a mapping that has not ended yet.
enum OpenNode {
    Sequence(Vec<Value>),
    Mapping { members: Map<String, Value>, merged: Vec<Value>, key: Option<MappingKey> },
}

enum MappingKey {
    Member(String),
    /// `<<`
    Merge,
}

/// Builds the value of a document from the events of its parser.
#[derive(Default)]
struct Loader {
    document: Option<Value>,
    /// The nodes that have not ended yet, with their anchors.
    open: Vec<(OpenNode, usize)>,
    /// The values of anchors, with the number of their nodes.
    anchors: HashMap<usize, (Value, usize)>,
    replayed: usize,
}

impl Loader {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        match event {
            Event::DocumentStart(..) if self.document.is_some() => {
                return Err(YamlError::new("only a single YAML document is expected", span));
            }
            Event::Scalar(text, style, anchor, tag) => {
                let core = tag.as_ref().and_then(|tag| tag.core_suffix());
                let is_plain = style == ScalarStyle::Plain && tag.is_none();
                let is_key = matches!(self.open.last(), Some((OpenNode::Mapping { key: None, .. }, _)));
                let value = match core {
                    _ if is_key => Value::String(text.into_owned()),
                    Some("int" | "float" | "bool" | "null") => plain(&text, span)?,
                    _ if is_plain => plain(&text, span)?,
                    _ => Value::String(text.into_owned()),
                };
                self.end(value, anchor, is_plain, span)?;
            }
            Event::SequenceStart(_, anchor, _) => self.begin(OpenNode::Sequence(Vec::new()), anchor, span)?,
            Event::MappingStart(_, anchor, _) => {
                let (members, merged) = Default::default();
                self.begin(OpenNode::Mapping { members, merged, key: None }, anchor, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some((OpenNode::Sequence(values), anchor)) => self.end(values.into(), anchor, false, span)?,
                Some((OpenNode::Mapping { mut members, merged, .. }, anchor)) => {
                    // A mapping's own members come before merged ones, and earlier merged mappings before later ones.
                    for (name, value) in merged.into_iter().flat_map(members_of) {
                        members.entry(name).or_insert(value);
                    }
                    self.end(members.into(), anchor, false, span)?;
                }
                None => {}
            },
            Event::Alias(anchor) => {
                let Some((value, nodes)) = self.anchors.get(&anchor) else {
                    return Err(YamlError::new("an alias refers to a node that contains it", span));
                };
                self.replayed += nodes;
                if self.replayed > MAX_ALIAS_NODES {
                    return Err(YamlError::new(format!("aliases add more than {MAX_ALIAS_NODES} nodes"), span));
                }
                self.end(value.clone(), 0, false, span)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, node: OpenNode, anchor: usize, span: Span) -> Result<(), YamlError> {
        if self.open.len() == MAX_DEPTH {
            return Err(YamlError::new(format!("nesting is deeper than {MAX_DEPTH}"), span));
        }
        self.open.push((node, anchor));
        Ok(())
    }

    /// Adds a complete value to the node that contains it.
    fn end(&mut self, value: Value, anchor: usize, is_plain: bool, span: Span) -> Result<(), YamlError> {
        if anchor != 0 {
            self.anchors.insert(anchor, (value.clone(), nodes(&value)));
        }
        match self.open.last_mut() {
            None => self.document = Some(value),
            Some((OpenNode::Sequence(values), _)) => values.push(value),
            Some((OpenNode::Mapping { members, merged, key }, _)) => match (key.take(), value) {
                (None, Value::String(name)) if is_plain && name == "<<" => *key = Some(MappingKey::Merge),
                (None, Value::String(name)) if members.contains_key(&name) => {
                    return Err(YamlError::new(format!("duplicate mapping key: {name} not allowed here"), span));
                }
                (None, Value::String(name)) => *key = Some(MappingKey::Member(name)),
                (None, _) => return Err(YamlError::new("the key of a mapping must be a string", span)),
                (Some(MappingKey::Member(name)), value) => _ = members.insert(name, value),
                (Some(MappingKey::Merge), Value::Array(values)) => merged.extend(values),
                (Some(MappingKey::Merge), value) => merged.push(value),
            },
        }
        Ok(())
    }
}

/// Returns the value of a plain scalar by the core schema.
fn plain(text: &str, span: Span) -> Result<Value, YamlError> {
    let unsigned = text.trim_start_matches(['-', '+']);
    let radix = [("0x", 16), ("0o", 8)].into_iter().find_map(|(mark, radix)| Some((text.strip_prefix(mark)?, radix)));
    let is_number = text.len() - unsigned.len() < 2
        && unsigned.bytes().any(|byte| byte.is_ascii_digit())
        && unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && unsigned.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+'));
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        _ if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") => {
            return Err(YamlError::new(format!("{text} is not a number of JSON"), span));
        }
        _ => {
            let integer = match radix {
                Some((digits, radix)) => u64::from_str_radix(digits, radix).ok().map(Number::from),
                None => text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok(),
            };
            let float = || is_number.then(|| text.parse().ok().and_then(Number::from_f64)).flatten();
            integer.or_else(float).map_or_else(|| Value::String(text.to_owned()), Value::Number)
        }
    })
}

/// Counts the nodes of a value.
fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(nodes).sum(),
        Value::Object(members) => members.values().map(nodes).sum(),
        _ => 0,
    }
}

fn members_of(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_scalars_have_the_types_of_the_core_schema() {
        let text = "a: [1, -2, 0x1F, 0o17, 1.5, .5, 1e3, 12345678901234567890]\nb: [yes, 1.2.3, 2024-01-01, 1_000, '1', !!str 1]\n\
                    c: [true, False, ~, null, ]\nd:\n1: x";
        let value = json!({
            "a": [1, -2, 31, 15, 1.5, 0.5, 1000.0, 12_345_678_901_234_567_890_u64],
            "b": ["yes", "1.2.3", "2024-01-01", "1_000", "1", "1"],
            "c": [true, false, null, null], "d": null, "1": "x"
        });
        assert_eq!(read(text).unwrap(), value);
    }

    #[test]
    fn aliases_and_merge_keys_are_replaced() {
        let text = "x: &x {a: 1, b: 2}\ny: {b: 3, <<: *x}\nz: {<<: [*x, {c: 4}]}\n'<<': [*x]";
        let x = json!({ "a": 1, "b": 2 });
        let (y, z) = (json!({ "b": 3, "a": 1 }), json!({ "a": 1, "b": 2, "c": 4 }));
        assert_eq!(read(text).unwrap(), json!({ "x": x, "y": y, "z": z, "<<": [x] }));
    }

    #[test]
    fn hostile_and_impossible_documents_are_refused() {
        let bomb: String = (1..9).map(|n| format!("- &{n} [{}]\n", format!("*{}, ", n - 1).repeat(10))).collect();
        let deep = format!("{}{}", "[".repeat(129), "]".repeat(129));
        for (text, error) in [
            (format!("- &0 [x]\n{bomb}").as_str(), "aliases add more than 100000 nodes at line 6, column 19"),
            (&deep, "nesting is deeper than 128 at line 1, column 129"),
            ("&a [*a]", "an alias refers to a node that contains it at line 1, column 5"),
            ("a: 1\na: 2", "duplicate mapping key: a not allowed here at line 2, column 1"),
            ("? [a]\n: b", "the key of a mapping must be a string at line 1, column 5"),
            ("a: .inf", ".inf is not a number of JSON at line 1, column 4"),
            ("--- 1\n--- 2", "only a single YAML document is expected at line 2, column 1"),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), error, "{text}");
        }
    }
}
