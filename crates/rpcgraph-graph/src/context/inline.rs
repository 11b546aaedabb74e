//! Inlining: replaces every reference in a context with the context that it refers to.
//!
//! One walk resolves references, merges imports and refuses definitions that an external context may not have. The
//! caller decides where documents come from.

use std::collections::BTreeSet;
use std::rc::Rc;

use json_ld::syntax::{is_keyword, is_keyword_like};
use serde_json::{Map, Value};
use url::Url;

use super::error::{LoadError, MAX_DOCUMENTS, MAX_REFERENCES, MAX_SCOPES, MAX_TEXT};
use crate::vocab::PREFIXES;

/// A document that holds a context, read but not inlined.
#[derive(Debug)]
pub(super) struct Document {
    /// The name used in messages.
    pub(super) name: String,
    /// The base of its references. `None` for a value from the program, which may not have references.
    pub(super) location: Option<Url>,
    /// The value of `@context`.
    pub(super) context: Value,
    /// The length of the text, in bytes.
    pub(super) size: usize,
}

/// Returns the document that a reference refers to, given the document that holds the reference.
pub(super) type ReferenceResolver<'a> = dyn FnMut(&Document, &str) -> Result<Rc<Document>, LoadError> + 'a;

/// The kind of document that a context is applied to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Audience {
    /// A log: definitions that could turn its data into keywords are refused, except aliases of `@id` and `@type`.
    #[default]
    Logs,
    /// A document by the author of the context, who may use all of JSON-LD.
    Authors,
}

/// Returns the document's context, inlined: an object, or an array of objects.
pub(super) fn inline(
    root: Rc<Document>,
    audience: Audience,
    resolve: &mut ReferenceResolver<'_>,
) -> Result<Value, LoadError> {
    Inliner { resolve, audience, chain: Vec::new(), names: BTreeSet::new(), text: 0, scopes: 0 }.document(&root)
}

struct Inliner<'r, 'a> {
    resolve: &'r mut ReferenceResolver<'a>,
    audience: Audience,
    /// The open documents, from the root.
    chain: Vec<Rc<Document>>,
    names: BTreeSet<String>,
    text: usize,
    scopes: usize,
}

impl Inliner<'_, '_> {
    fn document(&mut self, document: &Rc<Document>) -> Result<Value, LoadError> {
        self.open(document)?;
        let inlined = self.context(document, &document.context)?;
        self.chain.pop();
        Ok(inlined)
    }

    fn open(&mut self, document: &Rc<Document>) -> Result<(), LoadError> {
        if document.location.is_some() && self.chain.iter().any(|open| open.location == document.location) {
            let chain = self.chain.iter().chain([document]).map(|document| document.name.clone()).collect();
            return Err(LoadError::Cycle(chain));
        }
        if self.chain.len() > MAX_REFERENCES {
            return Err(LoadError::TooDeep(document.name.clone()));
        }
        self.chain.push(Rc::clone(document));
        self.names.insert(document.name.clone());
        self.text += document.size;
        if self.names.len() > MAX_DOCUMENTS || self.text > MAX_TEXT {
            let origin = self.chain.first().unwrap_or(document).name.clone();
            return Err(LoadError::TooMuch(origin));
        }
        Ok(())
    }

    fn context(&mut self, here: &Document, context: &Value) -> Result<Value, LoadError> {
        let Value::Array(items) = context else { return self.single(here, context) };
        let mut inlined = Vec::with_capacity(items.len());
        for item in items {
            match self.single(here, item)? {
                Value::Array(more) => inlined.extend(more),
                one => inlined.push(one),
            }
        }
        Ok(Value::Array(inlined))
    }

    /// Inlines a context that is not an array; a reference may still resolve to an array.
    fn single(&mut self, here: &Document, context: &Value) -> Result<Value, LoadError> {
        let bad = |found| Err(LoadError::BadContext { origin: here.name.clone(), found });
        match context {
            Value::Object(entries) => self.definition(here, entries).map(Value::Object),
            Value::String(reference) => self.reference(here, reference),
            // Null in the context of a term clears only the contexts that its author chose to clear.
            Value::Null if self.scopes > 0 || self.audience == Audience::Authors => Ok(Value::Null),
            Value::Null => Err(LoadError::NullContext(here.name.clone())),
            Value::Bool(_) => bad("a boolean"),
            Value::Number(_) => bad("a number"),
            Value::Array(_) => bad("an array in an array"),
        }
    }

    /// [Context processing](https://www.w3.org/TR/json-ld11-api/#context-processing-algorithm) ignores the `@base` of a
    /// context reached by reference (step 5.7). Inlined, it would have an effect, so it is dropped. The opposite case
    /// is not corrected: a `@propagate` in a referenced context has an effect, but not once it stands in an array.
    fn reference(&mut self, here: &Document, reference: &str) -> Result<Value, LoadError> {
        let document = (self.resolve)(here, reference)?;
        let mut inlined = self.document(&document)?;
        let definitions = match &mut inlined {
            Value::Array(items) => items.as_mut_slice(),
            one => std::slice::from_mut(one),
        };
        for definition in definitions.iter_mut().filter_map(Value::as_object_mut) {
            definition.shift_remove("@base");
        }
        Ok(inlined)
    }

    fn definition(&mut self, here: &Document, entries: &Map<String, Value>) -> Result<Map<String, Value>, LoadError> {
        let mut inlined = match entries.get("@import") {
            Some(import) => self.import(here, import)?,
            None => Map::new(),
        };
        // A key that only looks like a keyword does not define anything, and authors comment with it; the processor
        // would treat it as a term.
        let audience = self.audience;
        let is_comment = |key: &str| audience == Audience::Authors && is_keyword_like(key) && !is_keyword(key);
        let counts = |key: &str| key != "@import" && !is_comment(key);
        for (key, value) in entries.iter().filter(|(key, _)| counts(key)) {
            if self.audience == Audience::Logs {
                check(here, key, value)?;
            }
            let mut value = value.clone();
            if let Some(context) = value.get_mut("@context") {
                *context = self.scoped(here, context)?;
            }
            inlined.insert(key.clone(), value);
        }
        Ok(inlined)
    }

    fn scoped(&mut self, here: &Document, context: &Value) -> Result<Value, LoadError> {
        self.scopes += 1;
        if self.scopes > MAX_SCOPES {
            return Err(LoadError::TooDeep(here.name.clone()));
        }
        let inlined = self.context(here, context)?;
        self.scopes -= 1;
        Ok(inlined)
    }

    /// Step 5.6 of context processing: returns the imported definitions, for the importing definitions to override.
    /// References are resolved against the document that holds them.
    fn import(&mut self, here: &Document, import: &Value) -> Result<Map<String, Value>, LoadError> {
        let bad = || LoadError::BadImport(here.name.clone());
        let document = (self.resolve)(here, import.as_str().ok_or_else(bad)?)?;
        let entries = document.context.as_object().filter(|entries| !entries.contains_key("@import"));
        self.open(&document)?;
        let inlined = self.definition(&document, entries.ok_or_else(bad)?)?;
        self.chain.pop();
        Ok(inlined)
    }
}

/// The members of messages and errors whose terms cannot be aliases of keywords. An id is not written under its term.
const MEMBERS: [&str; 8] = ["jsonrpc", "method", "params", "result", "error", "code", "message", "data"];

/// Refuses a definition that could turn data into keywords, or capture the full IRIs of annotations.
fn check(here: &Document, key: &str, value: &Value) -> Result<(), LoadError> {
    if PREFIXES.iter().any(|(_, namespace)| key.starts_with(namespace)) {
        return Err(LoadError::ReservedTerm { origin: here.name.clone(), term: key.to_owned() });
    }
    let target = match value {
        Value::Object(entries) => target(entries),
        simple => Some(simple),
    };
    let Some(target) = target.and_then(Value::as_str) else { return Ok(()) };
    let captures = match key {
        "@base" | "@direction" | "@language" => false,
        // In payloads alone: the mapping keeps an alias from the message and from annotations.
        _ if matches!(target, "@id" | "@type") && value.get("@reverse").is_none() => {
            key.starts_with('@') || MEMBERS.contains(&key)
        }
        // `@` before a member called `id` would make it a keyword too.
        "@vocab" => target.starts_with('@'),
        _ => is_keyword(target) || (target.starts_with('@') && !is_keyword_like(target)),
    };
    if captures {
        let (term, keyword) = (key.to_owned(), target.to_owned());
        return Err(LoadError::KeywordAlias { origin: here.name.clone(), term, keyword });
    }
    Ok(())
}

/// Returns the IRI or keyword to which an expanded term definition maps its term.
pub(super) fn target(entries: &Map<String, Value>) -> Option<&Value> {
    entries.get("@reverse").or_else(|| entries.get("@id"))
}
