//! Values of options.

use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::mapping::Mapping;
use crate::protocol::Protocol;
use crate::query::catalogue::SqlDialect;

/// The choices of an option: name, help, value.
pub type Choices<T> = &'static [(&'static str, &'static str, T)];

pub const MAPPINGS: Choices<Mapping> = &[
    ("session", "Sessions, exchanges, times and problems; nothing lost", Mapping::Session),
    ("bblock", "The building block to the letter: every message by itself under its context", Mapping::Bblock),
];
pub const PROTOCOLS: Choices<Protocol> = &[
    ("auto", "Details of every protocol that is recognised", Protocol::Auto),
    ("mcp", "Details of the Model Context Protocol", Protocol::Mcp),
    ("lsp", "Details of the Language Server Protocol", Protocol::Lsp),
    ("none", "No details: only messages, as JSON-RPC defines them", Protocol::None),
];
pub const SQL_DIALECTS: Choices<SqlDialect> =
    &[("duckdb", "SQL of DuckDB", SqlDialect::Duckdb), ("spark", "SQL of Spark", SqlDialect::Spark)];

/// Returns the parser of an option with choices.
pub fn one_of<T: Copy + Send + Sync>(choices: Choices<T>) -> impl TypedValueParser<Value = T> {
    let values = choices.iter().map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(values).try_map(move |chosen| {
        let value = choices.iter().find(|(name, ..)| *name == chosen).map(|(.., value)| *value);
        value.ok_or("unknown name")
    })
}

/// Parses a number of things.
pub fn parse_count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a whole number, such as 20".to_owned())
}

/// Returns the element of `all` with a name; `kind` is the noun for the elements.
pub fn named<T: Copy>(kind: &str, all: &[T], name_of: impl Fn(T) -> &'static str, name: &str) -> Result<T, String> {
    all.iter().copied().find(|one| name_of(*one) == name).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|one| name_of(*one)).collect();
        format!("unknown {kind}; use one of {}", names.join(", "))
    })
}

/// Parses a size in bytes, which may have a unit.
pub fn parse_size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let shift = match text.get(digits.len()..).unwrap_or_default().to_ascii_lowercase().as_str() {
        "" | "b" => Some(0),
        "k" | "kb" | "kib" => Some(10),
        "m" | "mb" | "mib" => Some(20),
        "g" | "gb" | "gib" => Some(30),
        _ => None,
    };
    let size = digits.parse::<usize>().ok().zip(shift).and_then(|(number, shift)| number.checked_mul(1 << shift));
    size.filter(|size| *size > 0).ok_or_else(|| "expected a number of bytes such as 65536, 64K, 16M or 1G".to_owned())
}

/// Parses a time in seconds, which may have a fraction.
pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "expected a number of seconds, such as 10 or 0.5".to_owned())
}
