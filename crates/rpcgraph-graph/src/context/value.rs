//! Contexts without remote references.

use std::collections::BTreeSet;

use json_ld::syntax::is_keyword_like;
use serde_json::Value;

use super::error::LoadError;
use super::inline::{self, target};

/// A context without remote references, and its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    origin: String,
    value: Value,
    terms: BTreeSet<String>,
    sets_vocab: bool,
}

impl Context {
    /// Checks a context that is already inlined: an object, or an array of objects.
    ///
    /// Fails as [`Loader::load`](super::Loader::load) does for the content of the value, and with
    /// [`LoadError::NotInlined`] if it holds a reference or an `@import`.
    pub fn from_value(origin: impl Into<String>, value: Value) -> Result<Self, LoadError> {
        let origin = origin.into();
        let document = inline::Document { name: origin.clone(), location: None, context: value, size: 0 };
        let value = inline::inline(document.into(), inline::Audience::Logs, &mut |here, reference| {
            Err(LoadError::NotInlined { origin: here.name.clone(), reference: reference.to_owned() })
        })?;
        Ok(Self::unchecked(origin, value))
    }

    /// Creates an empty context.
    pub fn empty() -> Self {
        Self::unchecked(String::new(), Value::Object(serde_json::Map::new()))
    }

    /// Creates a context that the caller has checked, or that is built into the program.
    pub(super) fn unchecked(origin: String, value: Value) -> Self {
        let (mut terms, mut sets_vocab) = (BTreeSet::new(), false);
        for (key, definition) in definitions(&value).iter().filter_map(Value::as_object).flatten() {
            if key == "@vocab" {
                sets_vocab = !definition.is_null();
            } else if is_keyword_like(key) {
            } else if defines_a_term(definition) {
                terms.insert(key.clone());
            } else {
                terms.remove(key);
            }
        }
        Self { origin, value, terms, sets_vocab }
    }

    /// The context: an object, or an array of objects, without string references and `@import`.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The path or URL, as the user spelled it.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The terms that the context maps at its top level, including the terms of contexts that it refers to.
    ///
    /// Keywords, keys mapped to null, and keys mapped to a value that JSON-LD ignores are not included.
    pub fn terms(&self) -> &BTreeSet<String> {
        &self.terms
    }

    /// True if the context sets a vocabulary mapping, so that members without a definition are mapped too.
    pub fn sets_vocab(&self) -> bool {
        self.sets_vocab
    }
}

/// Returns true if a member with that definition becomes a triple; see [Create Term Definition], steps 11 to 14.
///
/// [Create Term Definition]: https://www.w3.org/TR/json-ld11-api/#create-term-definition
fn defines_a_term(definition: &Value) -> bool {
    let mapped = |target: &Value| target.as_str().is_some_and(|text| !is_keyword_like(text));
    match definition {
        Value::Object(entries) => target(entries).is_none_or(mapped),
        simple => mapped(simple),
    }
}

/// Returns the elements of an array of contexts, or the single context.
pub fn definitions(context: &Value) -> &[Value] {
    match context {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    }
}

/// Joins contexts into one value: a single context, or a flat array.
pub fn joined<'c>(contexts: impl Iterator<Item = &'c Value>) -> Value {
    let flat: Vec<_> = contexts.flat_map(definitions).collect();
    match flat.as_slice() {
        [one] => (*one).clone(),
        several => several.iter().copied().cloned().collect(),
    }
}
