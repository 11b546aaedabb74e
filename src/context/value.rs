//! Contexts with nothing remote in them.

use std::collections::BTreeSet;

use json_ld::syntax::is_keyword_like;
use serde_json::Value;

use super::error::LoadError;
use super::inline::{self, target};

/// A context with nothing remote in it, and where it came from.
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
    /// Fails as [`Loader::load`](super::Loader::load) does for what is in the value, and with [`LoadError::NotInlined`] where it holds a
    /// reference or an `@import`.
    pub fn from_value(origin: impl Into<String>, value: Value) -> Result<Self, LoadError> {
        let origin = origin.into();
        let document = inline::Document { name: origin.clone(), location: None, context: value, size: 0 };
        let value = inline::inline(document.into(), inline::Audience::Logs, &mut |here, reference| {
            Err(LoadError::NotInlined { origin: here.name.clone(), reference: reference.to_owned() })
        })?;
        Ok(Self::unchecked(origin, value))
    }

    /// A context that says nothing.
    #[cfg(feature = "register")]
    pub(crate) fn empty() -> Self {
        Self::unchecked(String::new(), Value::Object(serde_json::Map::new()))
    }

    /// A context that the caller has checked, or that the program is built with.
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

    /// The path or URL, as the user named it.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The terms that the context maps at its top level, with those of the contexts that it refers to.
    ///
    /// A key that it maps to null, or to what JSON-LD ignores, is not among them, nor are keywords.
    pub fn terms(&self) -> &BTreeSet<String> {
        &self.terms
    }

    /// Whether the context leaves a vocabulary mapping in place, so that members it does not define are mapped too.
    pub fn sets_vocab(&self) -> bool {
        self.sets_vocab
    }
}

/// Whether a member of that definition becomes a triple; see [Create Term Definition], steps 11 to 14.
///
/// [Create Term Definition]: https://www.w3.org/TR/json-ld11-api/#create-term-definition
fn defines_a_term(definition: &Value) -> bool {
    let mapped = |target: &Value| target.as_str().is_some_and(|text| !is_keyword_like(text));
    match definition {
        Value::Object(entries) => target(entries).is_none_or(mapped),
        simple => mapped(simple),
    }
}

/// The contexts of an array of them, or the one that it is.
pub(crate) fn definitions(context: &Value) -> &[Value] {
    match context {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    }
}

/// Contexts as one: alone, or in an array without arrays.
#[cfg(feature = "register")]
pub(crate) fn joined<'c>(contexts: impl Iterator<Item = &'c Value>) -> Value {
    let flat: Vec<_> = contexts.flat_map(definitions).collect();
    match flat.as_slice() {
        [one] => (*one).clone(),
        several => several.iter().copied().cloned().collect(),
    }
}
