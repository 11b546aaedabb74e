//! A building block, read from its folder and checked as far as that is possible without its examples' content.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::{BLOCK, BlockError};
use super::examples::{Examples, Others, SnippetSource};
use super::folder::{Folder, key};
use super::language::Language;
use super::library::Library;
use super::steps::{Step, Transform, steps, transforms};
use super::turtle::read_turtle;
use crate::context::{JSON_RPC, JSON_RPC_SCHEMA, JSON_RPC_SCHEMA_URL, JSON_RPC_URL};
use crate::vocab::{JSON_RPC_ONTOLOGY, JSON_RPC_ONTOLOGY_URL};

/// The files of a block, each under the names that it may have.
pub const METADATA: &[&str] = &["bblock.json", "bblock.yaml", "bblock.yml"];
pub const CONTEXT: &[&str] = &["context.jsonld"];
pub const SCHEMA: &[&str] = &["schema.yaml", "schema.yml", "schema.json"];
const EXAMPLES: &[&str] = &["examples.yaml", "examples.yml", "examples.json"];
const DESCRIPTION: &[&str] = &["description.md"];
const ONTOLOGY: &[&str] = &["ontology.ttl"];
/// The second is used where there is no first.
const SHAPES: &[&str] = &["shapes.shacl", "rules.shacl"];
const TESTS: &str = "tests";
const MORE_TESTS: &[&str] = &["tests.yaml", "tests.yml"];

/// The entries of `bblock.json`, by name. Each may be absent; one of another type than is wanted is as if it were.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Metadata(pub Others);

impl Metadata {
    /// An entry.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// An entry that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// The documents that the block is made after.
    pub fn sources(&self) -> Vec<BlockSource> {
        self.get("sources").and_then(|sources| Vec::deserialize(sources).ok()).unwrap_or_default()
    }
}

/// A source of a block.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct BlockSource {
    /// Its name.
    pub title: Option<String>,
    /// Where it is.
    pub link: Option<String>,
}

/// A file of `tests/`.
#[derive(Debug, Clone)]
pub struct BlockTest {
    /// Its name.
    pub file: String,
    /// Its language, from its extension.
    pub language: Language,
    /// Its path in the block, or its URL.
    pub path: String,
    /// Whether it is there to fail: its name ends in `-fail`, or `tests.yaml` says so.
    pub must_fail: bool,
    /// What names it, for messages.
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
    /// Its name without extension.
    pub fn stem(&self) -> &str {
        self.file.rsplit_once('.').map_or(self.file.as_str(), |(stem, _)| stem)
    }
}

/// A building block.
#[derive(Debug, Clone)]
pub struct Block {
    /// Where it is.
    pub folder: Folder,
    /// Name for folders and URLs: the folder's own, of ASCII letters, digits, `.`, `_` and `-`.
    pub key: String,
    /// The entries of `bblock.json`.
    pub metadata: Metadata,
    /// Its identifier in the register.
    pub identifier: String,
    /// Path of its folder in the repository, with a slash at its end; empty where it stands alone.
    pub below: String,
    /// Name of the context's file.
    pub context_file: Option<&'static str>,
    /// Why the context cannot be used; the block goes without one then.
    pub context_error: Option<String>,
    /// Name of the schema's file.
    pub schema_file: Option<&'static str>,
    /// Name of the file of examples.
    pub examples_file: Option<String>,
    /// The examples, with the text of those that stand in files.
    pub examples: Examples,
    /// The tests, in the order of their names.
    pub tests: Vec<BlockTest>,
    /// Steps beside the uplift.
    pub steps: Vec<Step>,
    /// What else is made of its examples.
    pub transforms: Vec<Transform>,
    /// The description, in Markdown.
    pub description: Option<String>,
    /// The ontology, in Turtle.
    pub ontology: Option<String>,
    /// Files or URLs of SHACL shapes.
    pub shapes: Vec<String>,
    /// The parts of the block that are not used, and why.
    pub notes: Vec<String>,
}

impl Block {
    /// Reads a block from its folder, and what it refers to from a library. Its examples may stand in a file of another name.
    pub fn read(mut folder: Folder, file: Option<String>, library: &Library) -> Result<Self, BlockError> {
        let own_examples: &[_] = if file.is_none() { EXAMPLES } else { &[] };
        let examples_file = file.or_else(|| folder.find(EXAMPLES).map(str::to_owned));
        let mut notes = Vec::new();
        let (_, metadata): (_, Metadata) = folder.read_first(METADATA, BLOCK)?;
        provide_json_rpc(&mut folder, &metadata);
        let context_file = folder.find(CONTEXT);
        // The loader of contexts reads it again; a pipe would keep that waiting.
        context_file.map(|file| folder.read(file, BLOCK)).transpose()?;
        let examples = match &examples_file {
            Some(file) => examples(&folder, file, library, &mut notes)?,
            None => Examples::default(),
        };
        let tests = read_tests(&folder, &mut notes)?;
        let shapes = shapes(&folder, &metadata, &mut notes);
        for names in [METADATA, SCHEMA, own_examples] {
            let mut present = names.iter().filter(|name| folder.find(&[**name]).is_some());
            if let Some(used) = present.next() {
                notes.extend(present.map(|other| format!("{other}: not used, since there is {used}")));
            }
        }
        let resources = metadata.get("resources").and_then(Value::as_array).into_iter().flatten();
        for resource in resources.filter(|resource| resource["role"] == "validation") {
            notes.push(format!("bblock.json: nothing here validates by the resource {}", resource["ref"]));
        }
        let text = |names: &[&'static str]| folder.find(names).map(|name| folder.read(name, BLOCK));
        let description = text(DESCRIPTION).transpose()?;
        let ontology = text(ONTOLOGY).transpose()?;
        if let Some(ontology) = &ontology {
            read_turtle(ontology, None).map_err(|error| BlockError::syntax("ontology.ttl", error))?;
        }
        let key = key(&folder.name());
        Ok(Self {
            shapes,
            identifier: metadata.text("itemIdentifier").unwrap_or(&key).to_owned(),
            key,
            below: String::new(),
            context_error: None,
            metadata,
            context_file,
            schema_file: folder.find(SCHEMA),
            examples_file,
            examples,
            tests,
            steps: steps(&folder)?,
            transforms: transforms(&folder, library)?,
            description,
            ontology,
            notes,
            folder,
        })
    }

    /// Its short name.
    pub fn name(&self) -> &str {
        self.metadata.text("name").unwrap_or(&self.key)
    }
}

/// A block may name the context, the schema and the ontology of JSON-RPC instead of holding copies.
fn provide_json_rpc(folder: &mut Folder, metadata: &Metadata) {
    let built_in = [
        ("ldContext", JSON_RPC_URL, CONTEXT, "context.jsonld", JSON_RPC),
        ("schema", JSON_RPC_SCHEMA_URL, SCHEMA, "schema.json", JSON_RPC_SCHEMA),
        ("ontology", JSON_RPC_ONTOLOGY_URL, ONTOLOGY, "ontology.ttl", JSON_RPC_ONTOLOGY),
    ];
    for (entry, url, names, name, text) in built_in {
        if metadata.text(entry) == Some(url) && folder.find(names).is_none() {
            folder.provide(name, text);
        }
    }
}

/// Files and URLs of shapes, each once: the name of one, a list of them, or lists by block, as registers have them.
fn shapes(folder: &Folder, metadata: &Metadata, notes: &mut Vec<String>) -> Vec<String> {
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

/// The examples, each with its text in place.
fn examples(folder: &Folder, file: &str, library: &Library, notes: &mut Vec<String>) -> Result<Examples, BlockError> {
    let text = folder.read(file, BLOCK)?;
    let read = match file.ends_with(".json") {
        true => Examples::from_json(&text).map_err(|error| BlockError::syntax(file, error)),
        false => Examples::from_yaml(&text).map_err(|error| BlockError::syntax(file, error)),
    };
    let mut examples = read?;
    let mut unused = |place: &str, others: &Others| {
        notes.extend(others.keys().map(|name| format!("{place}: there is no use for the entry `{name}`")));
    };
    unused(file, &examples.others);
    for (example, number) in examples.examples.iter_mut().zip(1..) {
        let place = format!("{file}, example {number}");
        unused(&place, &example.others);
        for (snippet, number) in example.snippets.iter_mut().zip(1..) {
            let place = format!("{place}, snippet {number}");
            unused(&place, &snippet.others);
            // What cannot be read fails that example, when it is run.
            if let SnippetSource::Ref(reference) = &snippet.source
                && let Ok(text) = library.file(folder, reference, &place)
            {
                snippet.source = SnippetSource::Code(text);
            }
        }
    }
    Ok(examples)
}

fn read_tests(folder: &Folder, notes: &mut Vec<String>) -> Result<Vec<BlockTest>, BlockError> {
    // Each is read when it is run.
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
