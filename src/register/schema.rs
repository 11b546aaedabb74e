//! JSON Schemas of a block: which part of which document a reference means, and what is wrong with a value under it.
//!
//! Schemas are documents of the library, in YAML or JSON, of any draft from 4 to 2020-12.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;

use boon::{CompileError, Draft};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::BlockError;
use super::block::BLOCK;
use super::library::{Library, shown, uri};
use super::references::{Anchors, is_without_anchors, percent_decode, percent_encode, point};
use super::steps::{self, StepKind};
use super::validator::{Validated, Validator, compile_error, mark_undecidable};
use crate::worker::Worker;

/// What refers to most schemas, for messages.
const BY: &str = "the schema";
/// A schema that gave no answer for this many examples in a row is not tried with others.
const MAX_UNANSWERED: u8 = 3;

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
    /// References that lead to schemas with which the worker gave no answer, the last reason, and how often in a row.
    unanswered: BTreeMap<String, (String, u8)>,
    /// What was passed over.
    notes: BTreeSet<String>,
}

/// Schemas by URI, ready to be compiled: references are whole URIs, and lead to JSON Pointers where a draft has no anchors; conditions
/// that cannot be decided are marked.
#[derive(Debug, Clone, Default)]
struct SchemaDocuments(Arc<BTreeMap<String, Value>>);

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
            self.simplify(&uri, &mut schema);
            Arc::make_mut(&mut self.documents.0).insert(uri, schema);
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

    /// Removes or marks what the validator does not know, and notes it.
    fn simplify(&mut self, uri: &str, schema: &mut Value) {
        let draft = schema.get("$schema").filter(|draft| draft.as_str().and_then(Draft::from_url).is_none()).cloned();
        if let (Some(draft), Some(entries)) = (draft, schema.as_object_mut()) {
            entries.shift_remove("$schema");
            let note = format!("{}: $schema {draft} is not a known draft; 2020-12 is used", shown(uri));
            self.notes.insert(note);
        }
        let notes = mark_undecidable(schema).into_iter();
        self.notes
            .extend(notes.map(|condition| format!("{}: {condition} is not supported, and not checked", shown(uri))));
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
        let pointer = match self.documents.0.get(uri) {
            Some(schema) => Anchors::default().pointer(schema, fragment),
            None => Err("it is not read".to_owned()),
        };
        let pointer = pointer.map_err(|message| BlockError::unusable(by, format!("{}: {message}", shown(uri))))?;
        let target = format!("{uri}#{}", percent_encode(&pointer));
        let error = match self.documents.validator(&target) {
            Ok(validator) => return Ok((target, validator)),
            Err(error) => error,
        };
        let at = match &*error {
            CompileError::LoadUrlError { url, .. } => {
                self.library.document(url, BY)?;
                url
            }
            CompileError::ValidationError { url, .. } => url.split('#').next().unwrap_or_default(),
            _ => uri,
        };
        Err(BlockError::unusable(&shown(at), self.documents.explain(&error)))
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
            return Ok(validator.validate(value));
        }
        let request = json!({ "schema": target, "value": value.to_string() });
        if let Some((why, MAX_UNANSWERED)) = self.unanswered.get(reference) {
            return Ok(Err(why.clone()));
        }
        let answer = self.ask(&request);
        match &answer {
            Err(why) => {
                let before = self.unanswered.get(reference).map_or(0, |(_, times)| *times);
                self.unanswered.insert(reference.to_owned(), (why.clone(), before + 1));
            }
            Ok(_) => drop(self.unanswered.remove(reference)),
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
            let texts: BTreeMap<_, _> = documents.iter().map(|(uri, schema)| (uri, schema.to_string())).collect();
            worker.set_up(json!(texts));
        }
        let answer = worker.ask(request).map_err(|error| error.to_string())?;
        serde_json::from_value(answer).unwrap_or_else(|error| Err(error.to_string()))
    }

    /// What a worker answers requests with, by the schemas that it is set up with.
    pub fn worker(setup: Value) -> Result<impl FnMut(Value) -> Value, Box<dyn Error + Send + Sync>> {
        let texts: Option<BTreeMap<String, String>> = serde_json::from_value(setup)?;
        let read = |(uri, text): (String, String)| Ok((uri, serde_json::from_str(&text)?));
        let documents = texts.unwrap_or_default().into_iter().map(read).collect::<Result<_, serde_json::Error>>()?;
        let documents = SchemaDocuments(Arc::new(documents));
        let mut validators = BTreeMap::new();
        let mut validate = move |schema: &str, value: &str| -> Validated {
            let value = serde_json::from_str(value).map_err(|error| error.to_string())?;
            let validator = match validators.entry(schema.to_owned()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    place.insert(documents.validator(schema).map_err(|error| documents.explain(&error))?)
                }
            };
            validator.validate(&value)
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

impl SchemaDocuments {
    /// Compiles the schema at a URI.
    fn validator(&self, target: &str) -> Result<Validator, Box<CompileError>> {
        let documents = Arc::clone(&self.0);
        Validator::compile(target, move |uri| Ok(documents.get(uri).ok_or("it is not read")?.clone()))
    }

    fn explain(&self, error: &CompileError) -> String {
        compile_error(error, |uri| self.0.get(uri))
    }
}

/// The identifier that a schema has of itself, if it is absolute.
fn absolute_id(schema: &Value) -> Option<String> {
    let id = schema.get("$id").or_else(|| schema.get("id")).and_then(Value::as_str)?;
    let id = id.split('#').next()?;
    id.contains("://").then(|| id.to_owned())
}
