//! JSON Schemas of a block: which part of which file a reference means, and what is wrong with a value under it.
//!
//! Schemas are files of the block's folder, in YAML or JSON. Nothing is fetched. Validation itself is the `jsonschema`
//! crate's, which knows every draft from 4 to 2020-12.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Retrieve, Uri, ValidationError, Validator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::BlockError;
use super::block::BLOCK;
use super::folder::Folder;
use super::library::{BLOCKS, Library};
use super::references::{Anchors, is_without_anchors, percent_decode, percent_encode, point};
use super::report::without_nulls;
use super::steps::{self, Step};
use crate::worker::{Worker, WorkerError};

/// The folder above the block's folder, to the schemas in it. A path of this machine would show in messages.
const ABOVE: &str = "block:///";

/// The block's folder, to the schemas in it: below another, so that references that lead out of it are told.
pub(super) const ROOT: &str = "block:///block/";

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

/// What came of a validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Validated {
    /// The value is what the schema describes.
    Passed,
    /// It is not.
    Failed(SchemaViolation),
    /// Nobody knows, for this reason.
    Not(String),
}

/// What a worker says: what is wrong, or why it cannot tell.
type WorkerAnswer = Result<Option<SchemaViolation>, String>;

/// The schemas of a block.
#[derive(Debug, Default)]
pub struct Schemas {
    files: SchemaFiles,
    /// The block's own schema.
    file: Option<String>,
    /// Validators by reference, made when first asked for.
    validators: BTreeMap<String, Validator>,
    /// Validates, where there is one.
    worker: Option<Worker>,
    /// How many schemas the worker has.
    sent: usize,
    /// References that lead to schemas which the worker cannot validate with, and why.
    hopeless: BTreeMap<String, String>,
    /// Schemas beyond the folder.
    library: Rc<Library>,
    /// The block's folder below that of the schemas, with a slash at its end.
    below: String,
    /// Files whose references were followed into the library.
    collected: BTreeSet<String>,
    /// Why the block's own schema cannot be used.
    broken: Option<String>,
}

impl Schemas {
    fn new(library: Rc<Library>, file: Option<String>, worker: Option<Worker>) -> Self {
        let files = SchemaFiles { folder: library.folder.clone(), read: Arc::default() };
        Self { files, file, worker, library, ..Self::default() }
    }

    /// The schemas of a block whose own cannot be used, for this reason.
    pub fn unusable(library: Rc<Library>, below: &str, why: String, worker: Option<Worker>) -> Self {
        Self { below: below.to_owned(), broken: Some(why), ..Self::new(library, None, worker) }
    }

    /// What was passed over.
    pub fn notes(&self) -> Vec<String> {
        self.files.known().notes.iter().cloned().collect()
    }

    /// The schemas of a library, of which `file` is the block's own: a path in the library's folder, or a URL. `below` is the
    /// path of the block's folder there.
    pub fn open(
        library: Rc<Library>,
        below: &str,
        file: Option<&str>,
        worker: Option<Worker>,
    ) -> Result<Self, BlockError> {
        let mut schemas = Self::new(library, file.map(str::to_owned), worker);
        schemas.below = below.to_owned();
        if let Some(file) = file {
            schemas.collect(file);
            let schema = schemas.files.get(file, BLOCK)?;
            schemas.files.publish(file, &schema);
            // Now, not only when an example asks for it.
            schemas.prepare("", BLOCK)?;
        }
        Ok(schemas)
    }

    /// Whether the block has a schema of its own.
    pub fn has_own(&self) -> bool {
        self.file.is_some() || self.broken.is_some()
    }

    /// The files that were read, by their names in the folder; each schema as it was read.
    pub fn files(&self) -> BTreeMap<String, Value> {
        self.files.known().schemas.clone()
    }

    /// The file that a reference leads to, and what follows it after `#`, percent-decoded. Without a file before `#`, it
    /// is the block's own schema; so the empty reference is that schema.
    pub fn target(&self, reference: &str) -> Option<(String, String)> {
        let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let file = match file {
            "" => self.file.clone()?,
            file => match self.files.local(file) {
                Some(local) => local,
                None => {
                    let here = uri(&format!("{}schema", self.below));
                    let found = self.library.resolve(&here, file).unwrap_or_else(|_| file.to_owned());
                    self.files
                        .local(&found)
                        .unwrap_or_else(|| if found.starts_with(ABOVE) { file.to_owned() } else { found })
                }
            },
        };
        Some((file, percent_decode(fragment)))
    }

    /// Reads a schema and those that its references lead to, as far as the library has them.
    fn collect(&mut self, file: &str) {
        let mut files = vec![file.to_owned()];
        while let Some(file) = files.pop() {
            if !self.collected.insert(file.clone()) {
                continue;
            }
            let here = if file.contains("://") { file.clone() } else { uri(&file) };
            if file.contains("://") {
                let Ok(document) = self.library.document(&file) else { continue };
                self.files.add(&file, &document);
            }
            // What cannot be read is said when the reference is followed.
            let Ok(mut schema) = self.files.read(&file, BLOCK) else { continue };
            let base = absolute_id(&schema).filter(|_| file.contains("://")).unwrap_or(here);
            let mut renamed = false;
            point(&mut schema, &mut |reference| {
                let (path, fragment) = reference.split_once('#').unwrap_or((reference, ""));
                let found = self.library.resolve(&base, path).ok().filter(|_| !path.is_empty())?;
                let local = self.files.local(&found);
                files.extend(local.or_else(|| (!found.starts_with(ABOVE)).then(|| found.clone())));
                renamed |= path.starts_with(BLOCKS);
                path.starts_with(BLOCKS).then(|| format!("{found}#{fragment}"))
            });
            if renamed {
                self.files.add(&file, &schema);
            }
        }
    }

    /// Makes sure that a reference leads to a schema that can be used. `by` is what refers to it, for messages.
    pub fn prepare(&mut self, reference: &str, by: &str) -> Result<&Validator, BlockError> {
        let validator = match self.validators.remove(reference) {
            Some(known) => known,
            None => {
                self.target(reference).into_iter().for_each(|(file, _)| self.collect(&file));
                self.compile(reference, by)?
            }
        };
        Ok(self.validators.entry(reference.to_owned()).or_insert(validator))
    }

    /// What is wrong with a value, under the schema that a reference leads to. A worker finds out, where there is one: strangers'
    /// schemas may take all time and memory.
    pub fn validate(&mut self, reference: &str, value: &Value) -> Result<Validated, BlockError> {
        if let Some(why) = self.broken.as_ref().filter(|_| reference.is_empty()) {
            return Ok(Validated::Not(why.clone()));
        }
        let is_here = self.worker.is_none();
        let validator = self.prepare(reference, "an example")?;
        if is_here {
            return Ok(
                best(&validator.iter_errors(value).collect::<Vec<_>>()).map_or(Validated::Passed, Validated::Failed)
            );
        }
        if let Some(why) = self.hopeless.get(reference) {
            return Ok(Validated::Not(why.clone()));
        }
        let answer = self.ask(&json!({ "reference": reference, "value": value.to_string() }));
        let answer = answer.map_err(|error| error.to_string()).and_then(|answer| {
            serde_json::from_value::<WorkerAnswer>(answer).unwrap_or_else(|error| Err(error.to_string()))
        });
        Ok(match answer {
            Ok(None) => Validated::Passed,
            Ok(Some(violation)) => Validated::Failed(violation),
            Err(why) => {
                self.hopeless.insert(reference.to_owned(), why.clone());
                Validated::Not(why)
            }
        })
    }

    /// What a step beside the uplift makes of a text, in the worker where there is one.
    pub fn step(&mut self, step: &Step, input: &str) -> Result<String, String> {
        let kind = step.r#type.name();
        if self.worker.is_none() {
            return steps::run(kind, &step.code, input);
        }
        let answer = self.ask(&json!({ "step": kind, "code": step.code, "input": input }));
        let answer = answer.map_err(|error| error.to_string())?;
        serde_json::from_value(answer).unwrap_or_else(|error| Err(error.to_string()))
    }

    /// Asks the worker, which is given the schemas that were read since it was set up.
    fn ask(&mut self, request: &Value) -> Result<Value, WorkerError> {
        let Some(worker) = &mut self.worker else { return Ok(Value::Null) };
        let known = self.files.known();
        if known.schemas.len() != self.sent {
            self.sent = known.schemas.len();
            // As text: JSON may be nested only so deep.
            let schemas: BTreeMap<_, _> =
                known.schemas.iter().map(|(file, schema)| (file, schema.to_string())).collect();
            worker.set_up(json!({ "file": self.file, "schemas": schemas }));
        }
        worker.ask(request)
    }

    /// What a worker answers requests with, by the schemas that it is set up with.
    pub fn worker(setup: Value) -> Result<impl FnMut(Value) -> Value, Box<dyn Error + Send + Sync>> {
        let (file, texts): (Option<String>, Option<BTreeMap<String, String>>) =
            serde_json::from_value(json!([setup["file"], setup["schemas"]]))?;
        let mut schemas = Self::new(Rc::default(), file, None);
        for (file, text) in &texts.unwrap_or_default() {
            let schema: Value = serde_json::from_str(text)?;
            if Some(file) == schemas.file.as_ref() {
                schemas.files.publish(file, &schema);
            }
            schemas.files.add(file, &schema);
        }
        Ok(move |request: Value| {
            let text = |name: &str| request[name].as_str().unwrap_or_default();
            if request.get("step").is_some() {
                return json!(steps::run(text("step"), text("code"), text("input")));
            }
            let value = serde_json::from_str(text("value")).map_err(|error| error.to_string());
            let answer: WorkerAnswer = value.and_then(|value| match schemas.validate(text("reference"), &value) {
                Ok(Validated::Passed) => Ok(None),
                Ok(Validated::Failed(violation)) => Ok(Some(violation)),
                Ok(Validated::Not(why)) => Err(why),
                Err(error) => Err(error.to_string()),
            });
            json!(answer)
        })
    }

    fn compile(&self, reference: &str, by: &str) -> Result<Validator, BlockError> {
        let no_file = || format!("schema-ref {reference:?} has no file before `#`, and the building block no schema");
        let (file, fragment) = self.target(reference).ok_or_else(|| BlockError::unusable(by, no_file()))?;
        let schema = self.files.get(&file, by)?;
        let pointer = Anchors::default()
            .pointer(&schema, &fragment)
            .map_err(|message| BlockError::unusable(by, format!("{file}: {message}")))?;
        let here = || if file.contains("://") { file.clone() } else { uri(&file) };
        let uri = absolute_id(&schema).unwrap_or_else(here);
        let target = format!("{uri}#{}", percent_encode(&pointer));
        let entry = without_nulls(json!({ "$schema": schema.get("$schema"), "$ref": target }));
        let options = jsonschema::options().with_base_uri(ROOT).with_retriever(self.files.clone());
        options.build(&entry).map_err(|error| {
            let failure = self.files.known().failure.take();
            failure.unwrap_or_else(|| BlockError::unusable(&file, schema_error(&error)))
        })
    }
}

fn schema_error(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    if place.is_empty() { error.to_string() } else { format!("{error}, at {place}") }
}

/// A file of the block as a URI.
pub(super) fn uri(file: &str) -> String {
    format!("{ROOT}{}", percent_encode(file))
}

/// Files of the block, for the validator.
#[derive(Debug, Clone, Default)]
struct SchemaFiles {
    folder: Folder,
    read: Arc<Mutex<ReadSchemas>>,
}

/// The schemas that were read, and what they said of themselves.
#[derive(Debug, Default)]
struct ReadSchemas {
    /// Schemas by the names of their files.
    schemas: BTreeMap<String, Value>,
    /// The names of their files, by their own identifiers.
    ids: BTreeMap<String, String>,
    /// Where the block's schema says that its folder is (`$id`).
    published: Option<String>,
    /// Why a file could not be had, in our words.
    failure: Option<BlockError>,
    /// What was passed over.
    notes: BTreeSet<String>,
}

impl SchemaFiles {
    /// The schemas that were read so far. None may be read while the guard lives.
    fn known(&self) -> MutexGuard<'_, ReadSchemas> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A schema as it is validated with: anchors are pointers where its draft would not find them.
    fn get(&self, file: &str, by: &str) -> Result<Value, BlockError> {
        let source = self.read(file, by)?;
        let mut prepared = source.clone();
        let own = Anchors::default();
        point(&mut prepared, &mut |reference| {
            let (path, fragment) = reference.split_once('#')?;
            if fragment.is_empty() || fragment.starts_with('/') {
                return None;
            }
            let found = match path {
                "" => is_without_anchors(&source).then(|| own.pointer(&source, fragment).ok())??,
                // What is not there is said when the reference is followed.
                path => {
                    let target = self.read(&sibling(file, path)?, by).ok()?;
                    is_without_anchors(&target).then(|| Anchors::default().pointer(&target, fragment).ok())??
                }
            };
            let encoded = percent_encode(&found);
            Some(format!("{path}#{encoded}"))
        });
        let checked = match jsonschema::meta::validate(&prepared) {
            Err(error) if matches!(error.kind(), ValidationErrorKind::Referencing(_)) => {
                let entry = prepared.as_object_mut().and_then(|entries| entries.shift_remove("$schema"));
                let note =
                    format!("{file}: $schema {} is no draft that is known; 2020-12 is used", entry.unwrap_or_default());
                self.known().notes.insert(note);
                jsonschema::meta::validate(&prepared)
            }
            checked => checked,
        };
        if let Err(error) = checked {
            return Err(BlockError::unusable(file, format!("it is no valid JSON Schema: {}", schema_error(&error))));
        }
        Ok(prepared)
    }

    /// A schema as it stands in its file.
    fn read(&self, file: &str, by: &str) -> Result<Value, BlockError> {
        if let Some(known) = self.known().schemas.get(file) {
            return Ok(known.clone());
        }
        let source: Value = self.folder.read_data(file, by)?;
        self.add(file, &source);
        Ok(source)
    }

    /// Takes a schema as it stands in its file.
    fn add(&self, file: &str, source: &Value) {
        let mut known = self.known();
        if let Some(id) = absolute_id(source) {
            known.ids.insert(id, file.to_owned());
        }
        known.schemas.insert(file.to_owned(), source.clone());
    }

    /// The file that a URL stands for.
    fn local(&self, url: &str) -> Option<String> {
        let known = self.known();
        if let Some(file) = known.ids.get(url) {
            return Some(file.clone());
        }
        if known.schemas.contains_key(url) {
            return Some(url.to_owned());
        }
        url.strip_prefix(ROOT).or_else(|| url.strip_prefix(known.published.as_deref()?)).map(percent_decode)
    }

    /// Takes URLs beside the schema's own identifier for files beside the schema.
    fn publish(&self, file: &str, schema: &Value) {
        let id = absolute_id(schema);
        if let (Some((folder, _)), false) = (id.as_deref().and_then(|id| id.rsplit_once('/')), file.contains('/')) {
            self.known().published = Some(format!("{folder}/"));
        }
    }
}

/// The identifier that a schema has of itself, if it is absolute.
fn absolute_id(schema: &Value) -> Option<String> {
    let id = schema.get("$id").or_else(|| schema.get("id")).and_then(Value::as_str)?;
    let id = id.split('#').next()?;
    id.contains("://").then(|| id.to_owned())
}

/// The name of a file that another refers to by a relative path.
fn sibling(file: &str, path: &str) -> Option<String> {
    let base = oxiri::Iri::parse(uri(file)).ok()?;
    let resolved = base.resolve(&oxiri::IriRef::parse(path).ok()?).ok()?.into_inner();
    resolved.strip_prefix(ROOT).map(percent_decode)
}

impl Retrieve for SchemaFiles {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let uri = uri.as_str();
        let by = "the schema";
        let found = match self.local(uri.split('#').next().unwrap_or_default()) {
            Some(file) => self.get(&file, by),
            None => Err(match uri.strip_prefix(ABOVE) {
                Some(path) => BlockError::Outside { reference: format!("../{path}"), by: by.to_owned() },
                None => BlockError::Remote { reference: uri.to_owned(), by: by.to_owned() },
            }),
        };
        found.map_err(|failure| {
            let text = failure.to_string();
            self.known().failure = Some(failure);
            text.into()
        })
    }
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
