//! JSON Schemas of a block: which part of which document a reference means, and what is wrong with a value under it.
//!
//! Schemas are documents of the library, in YAML or JSON. Validation itself is the `jsonschema` crate's, which knows every
//! draft from 4 to 2020-12.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ReferencingError, Retrieve, Uri, ValidationError, Validator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::BlockError;
use super::block::BLOCK;
use super::library::{Library, ROOT, shown, uri};
use super::references::{Anchors, is_without_anchors, percent_decode, percent_encode, point};
use super::report::without_nulls;
use super::steps::{self, StepKind};
use crate::worker::Worker;

/// What refers to most schemas, for messages.
const BY: &str = "the schema";
/// Longest message that shows the value it is about.
const MAX_MESSAGE: usize = 300;

/// Why a value is not what a schema describes: the error that tells most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaViolation {
    /// What is wrong.
    pub message: String,
    /// JSON Pointer of the value that it is about.
    pub instance: String,
    /// JSON Pointer of the keyword that it breaks.
    pub keyword: String,
}

/// What came of a validation: what is wrong, if something is, or why nobody knows.
pub type Validated = Result<Option<SchemaViolation>, String>;

/// The schemas of a block.
#[derive(Debug, Default)]
pub struct Schemas {
    library: Rc<Library>,
    /// URI of the block's folder.
    folder: String,
    /// URI of the block's own schema.
    own: Option<String>,
    /// The identifier that the own schema has of itself: URLs beside it are files beside the schema.
    published: Option<String>,
    /// Why the own schema cannot be used.
    broken: Option<String>,
    documents: SchemaDocuments,
    /// What validates by reference, made when first asked for, and what the reference leads to.
    validators: BTreeMap<String, (String, Validator)>,
    /// Validates, where there is one.
    worker: Option<Worker>,
    /// How many documents the worker has.
    sent: usize,
    /// References that lead to schemas which the worker cannot validate with, and why.
    hopeless: BTreeMap<String, String>,
    /// What was passed over.
    notes: BTreeSet<String>,
}

/// Schemas by URI as they are validated with, or why they cannot be: references are whole URIs, and lead to JSON Pointers where a
/// draft has no anchors.
#[derive(Debug, Clone, Default)]
struct SchemaDocuments(Arc<BTreeMap<String, Result<Value, String>>>);

impl Schemas {
    /// The schemas of a block whose own cannot be used, for this reason. `below` is the path of its folder in the library's.
    pub fn unusable(library: Rc<Library>, below: &str, why: Option<String>, worker: Option<Worker>) -> Self {
        Self { folder: uri(below), library, broken: why, worker, ..Self::default() }
    }

    /// The schemas of a library, of which `own` is the URI of the block's own.
    pub fn open(
        library: Rc<Library>,
        below: &str,
        own: Option<String>,
        worker: Option<Worker>,
    ) -> Result<Self, BlockError> {
        let mut schemas = Self { own, ..Self::unusable(library, below, None, worker) };
        if let Some(own) = &schemas.own {
            let schema = schemas.library.document(own, BLOCK)?;
            schemas.published = absolute_id(&schema).filter(|_| schemas.library.is_local(own));
            // Now, not only when an example asks for it.
            schemas.prepare("", BLOCK)?;
        }
        Ok(schemas)
    }

    /// What was passed over.
    pub fn notes(&self) -> Vec<String> {
        self.notes.iter().cloned().collect()
    }

    /// Whether the block has a schema of its own.
    pub fn has_own(&self) -> bool {
        self.own.is_some() || self.broken.is_some()
    }

    /// The URIs of the files that were read.
    pub fn files(&self) -> Vec<String> {
        self.documents.0.keys().filter(|uri| self.library.is_local(uri)).cloned().collect()
    }

    /// The URI of the document that a reference leads to, and what follows it after `#`, percent-decoded. Without a document
    /// before `#`, it is the block's own schema; so the empty reference is that schema.
    pub fn target(&self, reference: &str) -> Option<(String, String)> {
        let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let uri = match file {
            "" => self.own.clone()?,
            file => {
                let in_folder = |_| format!("{}{}", self.folder, percent_encode(file));
                self.local(self.library.resolve(&self.folder, file).unwrap_or_else(in_folder))
            }
        };
        Some((uri, percent_decode(fragment)))
    }

    /// The file of the block that a URL stands for, if it is beside the own schema's identifier.
    fn local(&self, url: String) -> String {
        let Some((id, own)) = self.published.as_ref().zip(self.own.as_ref()).filter(|_| !self.library.is_local(&url))
        else {
            return url;
        };
        let folder = |uri: &str| uri.rfind('/').map_or(0, |end| end + 1);
        match url.strip_prefix(id.split_at(folder(id)).0) {
            _ if url == *id => own.clone(),
            Some(below) => format!("{}{below}", own.split_at(folder(own)).0),
            None => url,
        }
    }

    /// Takes a document and those that its references lead to, as far as the library has them.
    fn collect(&mut self, uri: &str, by: &str) -> Result<(), BlockError> {
        self.library.document(uri, by)?;
        let mut next = vec![uri.to_owned()];
        while let Some(uri) = next.pop() {
            if self.documents.0.contains_key(&uri) {
                continue;
            }
            let source = self.library.document(&uri, by)?;
            let (mut schema, anchors) = ((*source).clone(), Anchors::default());
            point(&mut schema, &mut |reference| self.whole(reference, &uri, &source, &anchors, &mut next));
            let checked = self.checked(&uri, schema);
            Arc::make_mut(&mut self.documents.0).insert(uri, checked);
        }
        Ok(())
    }

    /// A reference in a document as a whole URI, which is added to those that are found. What cannot be read stays as it is: it
    /// may be part of the document, and else is told when the reference is followed.
    fn whole(
        &self,
        reference: &str,
        uri: &str,
        source: &Rc<Value>,
        anchors: &Anchors,
        found: &mut Vec<String>,
    ) -> Option<String> {
        let (path, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let mut bases: Vec<_> = [uri.to_owned()].into_iter().chain(absolute_id(source)).collect();
        if !self.library.is_local(uri) {
            bases.reverse();
        }
        let read = |base: &String| {
            let target = self.local(self.library.resolve(base, path).ok()?);
            Some((self.library.document(&target, BY).ok()?, target))
        };
        let (schema, target) = match path {
            "" => (Rc::clone(source), String::new()),
            _ => bases.iter().find_map(read)?,
        };
        let mut fragment = fragment.to_owned();
        if !fragment.is_empty() && !fragment.starts_with('/') && is_without_anchors(&schema) {
            let other = Anchors::default();
            let anchors = if path.is_empty() { anchors } else { &other };
            fragment = percent_encode(&anchors.pointer(&schema, &fragment).ok()?).to_string();
        }
        let whole = format!("{target}#{fragment}");
        found.extend(Some(target).filter(|target| !target.is_empty()));
        Some(whole)
    }

    /// A schema of a draft that is known.
    fn checked(&mut self, uri: &str, mut schema: Value) -> Result<Value, String> {
        let is_unknown = |error: &ValidationError<'_>| matches!(error.kind(), ValidationErrorKind::Referencing(_));
        let check = |schema: &Value| {
            jsonschema::meta::validate(schema).map_err(|error| (is_unknown(&error), schema_error(&error)))
        };
        let mut valid = check(&schema);
        if matches!(valid, Err((true, _))) {
            let draft = schema.as_object_mut().and_then(|entries| entries.shift_remove("$schema")).unwrap_or_default();
            let note = format!("{}: $schema {draft} is no draft that is known; 2020-12 is used", shown(uri));
            self.notes.insert(note);
            valid = check(&schema);
        }
        valid.map_err(|(_, why)| format!("it is no valid JSON Schema: {why}"))?;
        Ok(schema)
    }

    /// What a reference leads to, and what validates by it. `by` is what refers to it, for messages.
    ///
    /// # Errors
    ///
    /// Where it leads to nothing that can be validated with.
    pub fn prepare(&mut self, reference: &str, by: &str) -> Result<&(String, Validator), BlockError> {
        let known = match self.validators.remove(reference) {
            Some(known) => known,
            None => {
                let no_file =
                    || format!("schema-ref {reference:?} has no file before `#`, and the building block no schema");
                let (uri, fragment) = self.target(reference).ok_or_else(|| BlockError::unusable(by, no_file()))?;
                self.collect(&uri, by)?;
                self.compile(&uri, &fragment, by)?
            }
        };
        Ok(self.validators.entry(reference.to_owned()).or_insert(known))
    }

    fn compile(&self, uri: &str, fragment: &str, by: &str) -> Result<(String, Validator), BlockError> {
        let schema = self.documents.get(uri).map_err(|message| BlockError::unusable(&shown(uri), message))?;
        let pointer = Anchors::default().pointer(schema, fragment);
        let pointer = pointer.map_err(|message| BlockError::unusable(by, format!("{}: {message}", shown(uri))))?;
        let target = format!("{uri}#{}", percent_encode(&pointer));
        let error = match self.documents.validator(&target) {
            Ok(validator) => return Ok((target, validator)),
            Err(error) => error,
        };
        if let ValidationErrorKind::Referencing(ReferencingError::Unretrievable { uri: lacking, .. }) = error.kind() {
            self.library.document(lacking, BY)?;
            let why = self.documents.get(lacking).err().unwrap_or_else(|| error.to_string());
            return Err(BlockError::unusable(&shown(lacking), why));
        }
        Err(BlockError::unusable(&shown(uri), schema_error(&error)))
    }

    /// What is wrong with a value, under the schema that a reference leads to. A worker finds out, where there is one: strangers'
    /// schemas may take all time and memory.
    pub fn validate(&mut self, reference: &str, value: &Value) -> Result<Validated, BlockError> {
        if let Some(why) = self.broken.as_ref().filter(|_| reference.is_empty()) {
            return Ok(Err(why.clone()));
        }
        let is_here = self.worker.is_none();
        let (target, validator) = self.prepare(reference, "an example")?;
        if is_here {
            return Ok(Ok(violation(validator, value)));
        }
        let request = json!({ "schema": target, "value": value.to_string() });
        if let Some(why) = self.hopeless.get(reference) {
            return Ok(Err(why.clone()));
        }
        let answer = self.ask(&request);
        if let Err(why) = &answer {
            self.hopeless.insert(reference.to_owned(), why.clone());
        }
        Ok(answer)
    }

    /// What a step beside the uplift makes of a text, in the worker where there is one.
    pub fn step(&mut self, kind: &StepKind, code: &str, input: &str) -> Result<String, String> {
        match self.worker {
            None => steps::run(kind.name(), code, input),
            Some(_) => self.ask(&json!({ "step": kind.name(), "code": code, "input": input })),
        }
    }

    /// Asks the worker, which is given the schemas that were read since it was set up.
    fn ask<T: DeserializeOwned>(&mut self, request: &Value) -> Result<T, String> {
        let Some(worker) = &mut self.worker else { return Err("there is no worker".to_owned()) };
        let documents = &self.documents.0;
        if documents.len() != self.sent {
            self.sent = documents.len();
            // As text: JSON may be nested only so deep.
            let text = |(uri, schema): (_, &Result<Value, String>)| Some((uri, schema.as_ref().ok()?.to_string()));
            worker.set_up(json!(documents.iter().filter_map(text).collect::<BTreeMap<&String, _>>()));
        }
        let answer = worker.ask(request).map_err(|error| error.to_string())?;
        serde_json::from_value(answer).unwrap_or_else(|error| Err(error.to_string()))
    }

    /// What a worker answers requests with, by the schemas that it is set up with.
    pub fn worker(setup: Value) -> Result<impl FnMut(Value) -> Value, Box<dyn Error + Send + Sync>> {
        let texts: Option<BTreeMap<String, String>> = serde_json::from_value(setup)?;
        let read = |(uri, text): (String, String)| Ok((uri, Ok(serde_json::from_str(&text)?)));
        let documents = texts.unwrap_or_default().into_iter().map(read).collect::<Result<_, serde_json::Error>>()?;
        let documents = SchemaDocuments(Arc::new(documents));
        let mut validators = BTreeMap::new();
        let mut validate = move |schema: &str, value: &str| -> Validated {
            let value = serde_json::from_str(value).map_err(|error| error.to_string())?;
            let validator = match validators.entry(schema.to_owned()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(documents.validator(schema).map_err(|error| error.to_string())?),
            };
            Ok(violation(validator, &value))
        };
        Ok(move |request: Value| {
            let text = |name: &str| request[name].as_str().unwrap_or_default();
            match request.get("step") {
                Some(_) => json!(steps::run(text("step"), text("code"), text("input"))),
                None => json!(validate(text("schema"), text("value"))),
            }
        })
    }
}

fn schema_error(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    if place.is_empty() { error.to_string() } else { format!("{error}, at {place}") }
}

impl SchemaDocuments {
    /// A schema, or why there is none.
    fn get(&self, uri: &str) -> Result<&Value, String> {
        let found = self.0.get(uri).map(|schema| schema.as_ref().map_err(Clone::clone));
        found.unwrap_or_else(|| Err("it is not read".to_owned()))
    }

    /// What validates by the schema at a URI.
    fn validator(&self, target: &str) -> Result<Validator, ValidationError<'static>> {
        let schema = target.split('#').next().and_then(|uri| self.get(uri).ok());
        let dialect = schema.and_then(|schema| schema.get("$schema"));
        let entry = without_nulls(json!({ "$schema": dialect, "$ref": target }));
        jsonschema::options().with_base_uri(ROOT).with_retriever(self.clone()).build(&entry)
    }
}

impl Retrieve for SchemaDocuments {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Ok(self.get(uri.as_str().split('#').next().unwrap_or_default())?.clone())
    }
}

/// The identifier that a schema has of itself, if it is absolute.
fn absolute_id(schema: &Value) -> Option<String> {
    let id = schema.get("$id").or_else(|| schema.get("id")).and_then(Value::as_str)?;
    let id = id.split('#').next()?;
    id.contains("://").then(|| id.to_owned())
}

/// What is wrong with a value.
fn violation(validator: &Validator, value: &Value) -> Option<SchemaViolation> {
    best(&validator.iter_errors(value).collect::<Vec<_>>())
}

impl SchemaViolation {
    fn new(error: &ValidationError<'_>) -> Self {
        let mut message = error.to_string();
        if message.len() > MAX_MESSAGE {
            message = error.masked().to_string();
        }
        Self { message, instance: error.instance_path().to_string(), keyword: error.evaluation_path().to_string() }
    }
}

/// The error that tells most: the least deep, since others may follow from it; and where it is about alternatives, the
/// error of the alternative that comes closest.
fn best(errors: &[ValidationError<'_>]) -> Option<SchemaViolation> {
    let error = errors.iter().min_by_key(|error| (depth(error), is_about_alternatives(error)))?;
    Some(closest(error).unwrap_or_else(|| SchemaViolation::new(error)))
}

fn depth(error: &ValidationError<'_>) -> usize {
    error.instance_path().to_string().matches('/').count()
}

fn is_about_alternatives(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. })
}

/// An error of the only alternative that got furthest into the value; none where no alternative stands out.
fn closest(error: &ValidationError<'_>) -> Option<SchemaViolation> {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) = error.kind() else {
        return None;
    };
    let top = depth(error);
    // An alternative that wants another type altogether, or another value of what tells them apart, was not meant.
    let score = |errors: &[ValidationError<'_>]| {
        let is_type = |error: &ValidationError<'_>| matches!(error.kind(), ValidationErrorKind::Type { .. });
        let is_value = |error: &ValidationError<'_>| {
            matches!(error.kind(), ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. })
        };
        let wrong_type = errors.iter().any(|error| is_type(error) && depth(error) == top);
        let wrong_value = errors.iter().any(is_value);
        let deepest = errors.iter().map(depth).max().unwrap_or(0);
        (wrong_type, wrong_value, std::cmp::Reverse(deepest), errors.len())
    };
    let highest = context.iter().map(|errors| score(errors)).min()?;
    let mut alternatives = context.iter().filter(|errors| score(errors) == highest);
    let (Some(errors), None) = (alternatives.next(), alternatives.next()) else { return None };
    best(errors)
}
