//! A building block, read from its folder and checked as far as that is possible without its examples' content. A part
//! that cannot be read is an error of the block, which has the other parts.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::error::{BLOCK, BlockError};
use super::examples::{DOCUMENTED, Examples, UnusedEntries};
use super::folder::{Folder, key};
use super::language::Language;
use super::rules::SHACL;
use super::site::RegisterPaths;
use super::steps::{Program, STEPS, TRANSFORMS, programs};
use super::turtle::read_turtle;
use crate::context::{JSON_RPC, JSON_RPC_SCHEMA, JSON_RPC_SCHEMA_URL, JSON_RPC_URL, Loader};
use crate::vocab::{JSON_RPC_ONTOLOGY, JSON_RPC_ONTOLOGY_URL};

/// The possible names of each file of a block.
pub const METADATA: &[&str] = &["bblock.json", "bblock.yaml", "bblock.yml"];
pub const CONTEXT: &[&str] = &["context.jsonld"];
pub const SCHEMA: &[&str] = &["schema.yaml", "schema.yml", "schema.json"];
pub const EXAMPLES: &[&str] = &["examples.yaml", "examples.yml", "examples.json"];
const OPENAPI: &[&str] = &["openapi.yaml", "openapi.yml", "openapi.json"];
const DESCRIPTION: &[&str] = &["description.md"];
const ONTOLOGY: &[&str] = &["ontology.ttl"];
/// `rules.shacl` is used only if `shapes.shacl` is absent.
const SHAPES: &[&str] = &["shapes.shacl", "rules.shacl"];
pub const TESTS: &str = "tests";
const MORE_TESTS: &[&str] = &["tests.yaml", "tests.yml"];

/// A file of `tests/`.
#[derive(Debug, Clone)]
pub struct BlockTest {
    /// Its file name.
    pub file: String,
    /// Its language, from its extension.
    pub language: Language,
    /// Its path in the block, or its URL.
    pub path: String,
    /// True if it must fail: its name ends in `-fail`, or `tests.yaml` says so.
    pub must_fail: bool,
    /// The file or block that names the test, for messages.
    pub by: String,
}

/// An entry of `tests.yaml`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct TestEntry {
    r#ref: String,
    require_fail: Option<bool>,
    output_filename: Option<String>,
    media_type: Option<String>,
}

impl BlockTest {
    /// Returns its file name without the extension.
    pub fn stem(&self) -> &str {
        self.file.rsplit_once('.').map_or(self.file.as_str(), |(stem, _)| stem)
    }
}

/// A building block.
#[derive(Debug)]
pub struct Block {
    /// The folder that holds it.
    pub folder: Folder,
    /// Path of its folder in the repository, with a slash at its end; empty if the block stands alone.
    pub below: String,
    /// Name for folders and URLs: the folder's own, of ASCII letters, digits, `.`, `_` and `-`.
    pub key: String,
    /// The entries of `bblock.json`, an object.
    pub metadata: Value,
    /// Its identifier in the register.
    pub identifier: String,
    /// The paths and URLs of its files in the register.
    pub site: RegisterPaths,
    /// File name of the context.
    pub context_file: Option<&'static str>,
    /// The context that its author wrote, without remote references.
    pub context: Option<Value>,
    /// True if the context cannot be used; the reason is among the errors.
    pub lacks_context: bool,
    /// File name of the schema.
    pub schema_file: Option<&'static str>,
    /// URI of the schema.
    pub schema: Option<String>,
    /// Path of the OpenAPI document in the block.
    pub openapi_file: Option<String>,
    /// File name of the examples.
    pub examples_file: Option<String>,
    /// The examples, including the text of those in separate files.
    pub examples: Examples,
    /// The tests, in the order of their names.
    pub tests: Vec<BlockTest>,
    /// Steps before and after the uplift.
    pub steps: Vec<Program>,
    /// Further outputs to make from its examples.
    pub transforms: Vec<Program>,
    /// The description, in Markdown.
    pub description: Option<String>,
    /// The ontology, in Turtle.
    pub ontology: Option<String>,
    /// Files or URLs of SHACL shapes.
    pub shapes: Vec<String>,
    /// Files or URLs of graphs that complete the examples' graphs for their validation by the shapes.
    pub closures: Vec<String>,
    /// The parts of the block that are not used, with reasons.
    pub notes: Vec<String>,
    /// The parts of the block that cannot be read.
    pub errors: Vec<BlockError>,
}

impl Block {
    /// Reads a block from its folder, which is at a path in the repository, and the files that it refers to. `file` names
    /// its examples if they are not in the usual file.
    pub fn read(mut folder: Folder, below: &str, file: Option<String>, loader: &Loader) -> Self {
        let (mut notes, mut errors) = (Vec::new(), Vec::new());
        let own_examples: &[_] = if file.is_none() { EXAMPLES } else { &[] };
        let examples_file = file.or_else(|| folder.find(EXAMPLES).map(str::to_owned));
        let (_, metadata): (_, UnusedEntries) = value_or_error(folder.read_first(METADATA, BLOCK), &mut errors);
        let metadata = json!(metadata);
        provide_json_rpc(&mut folder, &metadata);
        let context_file = folder.find(CONTEXT);
        // Reads the context to check that it is a file: the loader of contexts reads it again, and would wait on a
        // pipe.
        value_or_error(context_file.map(|file| folder.read(file, BLOCK)).transpose(), &mut errors);
        let examples = examples_file.as_ref().map(|file| examples(&folder, file, loader, &mut notes));
        let examples = value_or_error(examples.transpose(), &mut errors).unwrap_or_default();
        let tests = value_or_error(read_tests(&folder, &mut notes), &mut errors);
        let shapes = shapes(&folder, &metadata, &mut notes);
        let closures = metadata["shaclClosures"].as_array().into_iter().flatten();
        let closures = closures.filter_map(Value::as_str).map(str::to_owned).collect();
        for names in [METADATA, SCHEMA, own_examples] {
            let mut present = names.iter().filter(|name| folder.find(&[**name]).is_some());
            if let Some(used) = present.next() {
                notes.extend(present.map(|other| format!("{other}: not used, since there is {used}")));
            }
        }
        let resources = metadata.get("resources").and_then(Value::as_array).into_iter().flatten();
        for resource in resources.filter(|resource| resource["role"] == "validation") {
            notes.push(format!("bblock.json: resource {}: role `validation` is not supported", resource["ref"]));
        }
        let usual = |names: &[&'static str]| folder.find(names).map(str::to_owned);
        let ontology_file = named_file(&metadata, "ontology").or_else(|| usual(ONTOLOGY));
        let [description, ontology] = [&usual(DESCRIPTION), &ontology_file]
            .map(|file| value_or_error(file.as_ref().map(|file| folder.read(file, BLOCK)).transpose(), &mut errors));
        if let (Some(file), Some(Err(error))) = (&ontology_file, ontology.as_ref().map(|text| read_turtle(text, None)))
        {
            errors.push(BlockError::syntax(file, error));
        }
        let [steps, transforms] =
            [STEPS, TRANSFORMS].map(|names| value_or_error(programs(&folder, names, loader), &mut errors));
        let used = shapes.iter().chain(&closures).chain(&ontology_file).map(String::as_str);
        let used = used.chain(steps.iter().chain(&transforms).filter_map(Program::reference));
        notes.extend(unused_shapes(&folder, &used.collect()));
        let key = key(&folder.name());
        Self {
            shapes,
            closures,
            steps,
            transforms,
            below: below.to_owned(),
            identifier: metadata["itemIdentifier"].as_str().unwrap_or(&key).to_owned(),
            key,
            site: RegisterPaths::default(),
            context_file,
            context: None,
            lacks_context: false,
            schema_file: folder.find(SCHEMA),
            schema: None,
            openapi_file: named_file(&metadata, "openAPIDocument").or_else(|| usual(OPENAPI)),
            examples_file,
            examples,
            tests,
            description,
            ontology,
            notes,
            metadata,
            folder,
            errors,
        }
    }

    /// Returns the file name of its schema in the register.
    pub fn published_schema(&self) -> Option<&'static str> {
        self.schema.as_ref().map(|_| "schema.yaml")
    }

    /// Returns the URL of an example or a test, which is the base of its relative references.
    pub fn document(&self, file: &str) -> Option<String> {
        self.site.url(&self.site.test(file))
    }

    /// Returns its short name.
    pub fn name(&self) -> &str {
        self.metadata["name"].as_str().unwrap_or(&self.key)
    }
}

/// Returns the path of a file in the block that an entry of its metadata names.
pub fn named_file(metadata: &Value, entry: &str) -> Option<String> {
    metadata[entry].as_str().filter(|named| !named.contains("://")).map(str::to_owned)
}

/// The entries of `bblock.json` that the official tool requires, with their possible values if there are few.
const REQUIRED: [(&str, &str); 5] = [
    ("name", ""),
    ("dateTimeAddition", ""),
    ("version", ""),
    ("status", "experimental, invalid, reserved, retired, stable, submitted, superseded, under-development"),
    (
        "itemClass",
        "api, clause, cookie, datatype, header, model, parameter, path, references, requirements-class, response, schema, terms",
    ),
];

/// Returns the reasons why the official tool refuses the metadata of a block.
pub fn refused_entries(metadata: &Value) -> impl Iterator<Item = String> {
    let lacking = REQUIRED.iter().filter(|(entry, _)| !metadata[*entry].is_string());
    let lacking: Vec<_> = lacking.map(|(entry, _)| format!("`{entry}`")).collect();
    let lacking =
        (!lacking.is_empty()).then(|| format!("bblock.json: the official tool requires {}", lacking.join(", ")));
    let refused = REQUIRED.iter().filter(|(_, values)| !values.is_empty()).filter_map(|(entry, values)| {
        let value = metadata[*entry].as_str().filter(|value| !values.split(", ").any(|known| known == *value))?;
        Some(format!("bblock.json: the official tool refuses the `{entry}` {value:?}; it knows {values}"))
    });
    lacking.into_iter().chain(refused)
}

/// Returns what was read, or nothing and adds the error.
fn value_or_error<T: Default>(read: Result<T, BlockError>, errors: &mut Vec<BlockError>) -> T {
    read.unwrap_or_else(|error| {
        errors.push(error);
        T::default()
    })
}

/// Provides the built-in context, schema and ontology of JSON-RPC to a block that names them and does not hold copies.
fn provide_json_rpc(folder: &mut Folder, metadata: &Value) {
    let built_in = [
        ("ldContext", JSON_RPC_URL, CONTEXT, "context.jsonld", JSON_RPC),
        ("schema", JSON_RPC_SCHEMA_URL, SCHEMA, "schema.json", JSON_RPC_SCHEMA),
        ("ontology", JSON_RPC_ONTOLOGY_URL, ONTOLOGY, "ontology.ttl", JSON_RPC_ONTOLOGY),
    ];
    for (entry, url, names, name, text) in built_in {
        if metadata[entry].as_str() == Some(url) && folder.find(names).is_none() {
            folder.provide(name, text);
        }
    }
}

/// Returns the files and URLs of shapes, each once. An entry is a name, a list of names, or, as in registers, lists by
/// block.
fn shapes(folder: &Folder, metadata: &Value, notes: &mut Vec<String>) -> Vec<String> {
    let mut names = Vec::new();
    let entries = ["shaclShapes", "shaclRules"].into_iter();
    let mut values: Vec<_> = entries.filter_map(|entry| Some((entry, metadata.get(entry)?))).collect();
    while let Some((entry, value)) = values.pop() {
        match value {
            Value::Null => {}
            Value::String(name) => names.push(name.clone()),
            Value::Array(items) => values.extend(items.iter().rev().map(|value| (entry, value))),
            Value::Object(members) => values.extend(members.values().rev().map(|value| (entry, value))),
            other => notes.push(format!("bblock.json: {entry} has {other}, which names no shapes")),
        }
    }
    names.extend(folder.find(SHAPES).map(str::to_owned));
    let mut known = BTreeSet::new();
    names.retain(|name| known.insert(name.clone()));
    names
}

/// Returns a note on each file of shapes in the folder that nothing uses.
fn unused_shapes(folder: &Folder, used: &BTreeSet<&str>) -> Vec<String> {
    let has_shapes = |name: &str| {
        let is_turtle = || name.ends_with(".ttl") && folder.read(name, BLOCK).is_ok_and(|text| text.contains(SHACL));
        name.ends_with(".shacl") || is_turtle()
    };
    let names = folder.list("").unwrap_or_default().into_iter();
    let unused = names.filter(|name| !used.contains(name.as_str()) && has_shapes(name));
    unused
        .map(|name| format!("{name}: not used: shapes are in shapes.shacl, else in rules.shacl, or shaclShapes of bblock.json names them"))
        .collect()
}

/// Reads the examples, each with its text in place.
fn examples(folder: &Folder, file: &str, loader: &Loader, notes: &mut Vec<String>) -> Result<Examples, BlockError> {
    let text = folder.read(file, BLOCK)?;
    let mut examples = Examples::from_yaml(&text).map_err(|error| BlockError::syntax(file, error))?;
    let mut unused = |place: &str, others: &UnusedEntries| {
        notes.extend(
            others.keys().filter(|name| *name != DOCUMENTED).map(|name| format!("{place}: unused entry `{name}`")),
        );
    };
    unused(file, &examples.others);
    for (example, number) in examples.examples.iter_mut().zip(1..) {
        let place = format!("{file}, example {number}");
        unused(&place, &example.others);
        for (snippet, number) in example.snippets.iter_mut().zip(1..) {
            let place = format!("{place}, snippet {number}");
            unused(&place, &snippet.others);
            // If the file cannot be read, the example fails when it is run.
            snippet.referenced =
                snippet.r#ref.as_ref().and_then(|reference| folder.read_any(reference, &place, loader).ok());
        }
    }
    Ok(examples)
}

fn read_tests(folder: &Folder, notes: &mut Vec<String>) -> Result<Vec<BlockTest>, BlockError> {
    // A test file is read when the test runs.
    let mut tests = Vec::new();
    let stem = |name: &str| name.rsplit_once('.').map_or(name.to_owned(), |(stem, _)| stem.to_owned());
    let (by, entries): (_, Vec<TestEntry>) = folder.read_first(MORE_TESTS, BLOCK)?;
    for entry in entries {
        let name = entry.r#ref.rsplit('/').next().unwrap_or_default().to_owned();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        tests.push(BlockTest {
            language: Language::from_name(entry.media_type.as_deref().unwrap_or(extension)),
            must_fail: entry.require_fail.unwrap_or_else(|| stem(&name).ends_with("-fail")),
            file: entry.output_filename.map_or(name, |name| key(&name)),
            path: entry.r#ref,
            by: by.to_owned(),
        });
    }
    for file in folder.list(TESTS)? {
        let path = format!("{TESTS}/{file}");
        let is_folder = folder.locate(&path, BLOCK).is_ok_and(|real| real.is_dir());
        let language = file.rsplit_once('.').map(|(_, extension)| Language::from_name(extension));
        match language {
            Some(language) if language.is_validated() && !is_folder => {
                let must_fail = stem(&file).ends_with("-fail");
                tests.push(BlockTest { file, path, language, must_fail, by: BLOCK.to_owned() });
            }
            _ => notes.push(format!("{path}: a test is a file that ends in .json, .jsonld, .ttl, .yaml or .yml")),
        }
    }
    Ok(tests)
}
