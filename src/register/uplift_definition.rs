//! Transforms of the type `semantic-uplift`: definitions of the conversion from JSON to JSON-LD, as for the OGC's
//! `ingest_json`.
//!
//! | entry | meaning |
//! |---|---|
//! | `transform` | jq programs, one after the other |
//! | `types` | classes for the objects at a JSONPath |
//! | `context` | a context for the whole (`$`), or for the objects at a JSONPath |
//! | `position` | `before` the existing context, or `after` it |
//! | `scope` | `graph`: all entries except contexts for the whole apply to the value of `@graph`, if there is one |
//!
//! The supported JSONPath is the part that jq has, too, and filters for one text, such as `[?name="text"]`.

use std::error::Error;

use serde::Deserialize;
use serde_json::Value;

use super::yaml;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Definition {
    transform: Value,
    types: serde_json::Map<String, Value>,
    context: serde_json::Map<String, Value>,
    position: Option<String>,
    scope: Option<String>,
}

/// Translates a definition to a jq program.
pub fn program(definition: &str) -> Result<String, Box<dyn Error>> {
    let definition: Definition = serde_json::from_value(yaml::read(definition)?)?;
    let programs = match &definition.transform {
        Value::Array(programs) => programs.iter().filter_map(Value::as_str).collect(),
        program => Vec::from_iter(program.as_str()),
    };
    let mut inner: Vec<_> = programs.into_iter().map(|program| format!("({program})")).collect();
    for (path, classes) in &definition.types {
        inner.push(format!(r#"({}) |= (."@type" = ([(."@type" // empty), {classes}] | flatten))"#, jq(path)));
    }
    let with_context = |added: &Value| match definition.position.as_deref() {
        Some("after") => format!(r#"."@context" = ([(."@context" // empty), {added}] | flatten)"#),
        _ => format!(r#"."@context" = ([{added}, (."@context" // empty)] | flatten)"#),
    };
    let (whole, parts): (Vec<_>, Vec<_>) =
        definition.context.iter().partition(|(path, _)| matches!(path.as_str(), "" | "." | "$"));
    inner.extend(parts.into_iter().map(|(path, added)| format!("({}) |= ({})", jq(path), with_context(added))));
    let inner = if inner.is_empty() { ".".to_owned() } else { inner.join(" | ") };
    let mut program = match definition.scope.as_deref().unwrap_or("graph") {
        "graph" => format!(r#"if type == "object" and has("@graph") then ."@graph" |= ({inner}) else {inner} end"#),
        _ => inner,
    };
    program.push_str(r#" | if type == "array" then {"@graph": .} else . end"#);
    whole.into_iter().for_each(|(_, added)| program.push_str(&format!(" | {}", with_context(added))));
    Ok(program)
}

/// Translates a JSONPath to a jq path.
pub fn jq(path: &str) -> String {
    let path = path.strip_prefix('$').unwrap_or(path).replace('\'', "\"").replace("[*]", "[]").replace(".*", "[]");
    let mut parts = path.split("[?");
    let mut whole = format!(".{}", parts.next().unwrap_or_default().trim_start_matches('.'));
    for part in parts {
        let (filter, rest) = part.split_once(']').unwrap_or((part, ""));
        let filter = filter.trim_matches(['(', ')', ' ']).trim_start_matches("@.").replace("==", "=");
        let (name, text) = filter.split_once('=').unwrap_or((&filter, "null"));
        whole.push_str(&format!("[] | select(.{}? == {}){rest}", name.trim(), text.trim()));
    }
    whole
}
