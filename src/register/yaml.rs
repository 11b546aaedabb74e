//! YAML, with limits: a building block may come from anywhere.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_saphyr::{
    DefaultMessageFormatter, DuplicateKeyPolicy, Error, MessageFormatter, SerializerOptions, UserMessageFormatter,
};

/// Events of the parser that aliases may add to a document, over all of them.
const MAX_ALIAS_EVENTS: usize = 100_000;
/// Deepest nesting, the same as for JSON in the files of a block.
const MAX_DEPTH: usize = 128;

/// Why a text is not the YAML that is wanted: what is wrong, with its line and column where there is one.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.render_with_formatter(&Words))]
pub struct YamlError(Box<Error>);

/// The parser's words, without those for programmers.
struct Words;

impl MessageFormatter for Words {
    fn format_message<'a>(&self, error: &'a Error) -> Cow<'a, str> {
        match error {
            Error::DuplicateMappingKey { .. } | Error::MultipleDocuments { .. } => {
                UserMessageFormatter.format_message(error)
            }
            _ => DefaultMessageFormatter.format_message(error),
        }
    }
}

impl YamlError {
    /// Line, counted from 1.
    pub fn line(&self) -> Option<u64> {
        self.0.location().map(|location| location.line())
    }
}

/// Reads one YAML document, as [YAML 1.2](https://yaml.org/spec/1.2.2/) has it: `yes` is a string.
///
/// A key may stand only once in a mapping. JSON is YAML, so this reads JSON too.
pub fn read(text: &str) -> Result<Value, YamlError> {
    read_as(text)
}

/// Reads the same as another type, which the parser is compiled for: errors of type have a line then.
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

/// Writes a YAML document; strings of several lines as blocks, whose lines are those of the string.
pub fn write(value: &Value) -> Result<String, serde_saphyr::ser_error::Error> {
    let options: SerializerOptions = serde_saphyr::ser_options! {
        compact_list_indent: false,
        // Folding would break lines of code.
        folded_wrap_chars: usize::MAX,
        min_fold_chars: usize::MAX,
    };
    serde_saphyr::to_string_with_options(value, options)
}
