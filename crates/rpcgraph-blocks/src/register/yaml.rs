//! YAML with limits, since a building block may come from anywhere.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_saphyr::{DuplicateKeyPolicy, Error, SerializerOptions, UserMessageFormatter};

/// The maximum number of parser events that all aliases in a document may add.
const MAX_ALIAS_EVENTS: usize = 100_000;
/// The maximum nesting depth, the same as for JSON in the files of a block.
const MAX_DEPTH: usize = 128;

/// The reason why a text is not the expected YAML, with its line and column if known.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.render_with_formatter(&UserMessageFormatter))]
pub struct YamlError(Box<Error>);

impl YamlError {
    /// Returns the line, counted from 1.
    pub fn line(&self) -> Option<u64> {
        self.0.location().map(|location| location.line())
    }
}

/// Parses one YAML document by [YAML 1.2](https://yaml.org/spec/1.2.2/): `yes` is a string.
///
/// A duplicate key in a mapping is an error. JSON is YAML, so this parses JSON, too.
pub fn read(text: &str) -> Result<Value, YamlError> {
    read_as(text)
}

/// Parses a document as a type. Type errors then have a line.
pub fn read_as<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    let mut options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::Error,
        strict_booleans: true,
        reject_non_finite_typeless_float: true,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH },
    };
    options.alias_limits.max_total_replayed_events = MAX_ALIAS_EVENTS;
    serde_saphyr::from_str_with_options(text, options).map_err(|error| YamlError(Box::new(error)))
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
