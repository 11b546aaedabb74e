//! The programs of a block: steps before and after the uplift of its examples, and transforms, which make further
//! outputs.
//!
//! A transform runs on every snippet of a media type that it takes, and on the JSON-LD and the Turtle that JSON snippets
//! were uplifted to. A program of a kind that is not supported is reported where it would run.

use std::cell::RefCell;

use oxrdf::Triple;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::{BLOCK, BlockError, with_causes};
use super::examples::{Prefixes, UnusedEntries};
use super::folder::{Folder, key};
use super::language::Language;
use super::sandbox::Sandbox;
use super::turtle::{self, n_triples, read_turtle};
use crate::context::Loader;
use crate::json::{self, pretty, without_nulls};

/// The possible names of the files with a block's steps and transforms.
pub const STEPS: &[&str] = &["semantic-uplift.yaml", "semantic-uplift.yml"];
pub const TRANSFORMS: &[&str] = &["transforms.yaml", "transforms.yml"];

/// A step or a transform.
#[derive(Debug, Clone, Deserialize)]
pub struct Program {
    /// Its identifier, if it is a transform.
    #[serde(default)]
    pub id: String,
    /// Its kind: `jq` replaces JSON by its first output, `sparql-construct` replaces a graph, `sparql-update` changes it,
    /// `shacl` (`shacl-af-rule`) adds triples to it by rules. Other kinds are not supported.
    pub r#type: String,
    /// Its source, inline or from the file or URL that `ref` names.
    code: Option<String>,
    r#ref: Option<String>,
    #[serde(default)]
    inputs: MediaTypes,
    #[serde(default)]
    outputs: MediaTypes,
    #[serde(flatten)]
    others: UnusedEntries,
    /// The reason why the source is missing.
    #[serde(skip)]
    lacking: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ProgramsFile {
    #[serde(alias = "transforms")]
    additional_steps: Vec<Program>,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
struct MediaTypes {
    media_types: Vec<MediaType>,
    /// Blocks whose schemas the outputs must match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    profiles: Vec<String>,
}

/// A media type, and the extension of its files.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", from = "Value")]
struct MediaType {
    mime_type: String,
    default_extension: String,
}

/// Converts from the name of a media type, or from an object with its name and its extension.
impl From<Value> for MediaType {
    fn from(entry: Value) -> Self {
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        let mime_type = entry.as_str().or_else(|| text("mimeType")).unwrap_or_default().to_owned();
        let default_extension = text("defaultExtension").map_or_else(|| extension_of(&mime_type), key);
        Self { mime_type, default_extension }
    }
}

/// Returns the extension for a media type whose author does not name one.
fn extension_of(media_type: &str) -> String {
    match (media_type, Language::from_name(media_type)) {
        ("application/geo+json", _) => "geojson".to_owned(),
        (_, Language::Other(name)) => {
            let name = name.rsplit(['/', '+', '.']).next().unwrap_or_default();
            key(if name == "plain" { "txt" } else { name })
        }
        (_, known) => known.extension(),
    }
}

/// Reads the programs in the first of the files that the block has, with their sources.
pub fn programs(folder: &Folder, names: &[&'static str], loader: &Loader) -> Result<Vec<Program>, BlockError> {
    let (file, ProgramsFile { additional_steps: mut programs }) = folder.read_first(names, BLOCK)?;
    programs.iter_mut().for_each(|program| program.complete(folder, file, loader));
    Ok(programs)
}

impl Program {
    /// Reads the source, and adds the default media types.
    fn complete(&mut self, folder: &Folder, file: &str, loader: &Loader) {
        // The defaults of the official tool.
        const RDF: &[&str] = &["text/turtle", "application/rdf+xml"];
        const RDF_OR_JSON_LD: &[&str] = &["text/turtle", "application/rdf+xml", "application/ld+json"];
        let (inputs, outputs): (&[_], &[_]) = match self.r#type.as_str() {
            "jq" => (&["application/json"], &["application/json"]),
            "semantic-uplift" => (&["application/json"], RDF),
            "json-ld-frame" | "jsonld-frame" => (RDF_OR_JSON_LD, &["application/ld+json"]),
            "xslt" => (&["application/xml"], &["application/xml"]),
            _ if self.takes_rdf() => (RDF, RDF),
            _ => (&[], &[]),
        };
        for (medias, usual) in [(&mut self.inputs, inputs), (&mut self.outputs, outputs)] {
            if medias.media_types.is_empty() {
                medias.media_types.extend(usual.iter().map(|name| Value::from(*name).into()));
            }
        }
        let read = match (&self.code, &self.r#ref) {
            (Some(_), _) => return,
            (None, Some(reference)) => folder.read_any(reference, file, loader),
            (None, None) => Err(BlockError::unusable(file, "a program has neither `code` nor `ref`")),
        };
        match read {
            Ok(code) => self.code = Some(code),
            Err(error) => self.lacking = with_causes(&error),
        }
    }

    /// Returns the file or the URL of its source.
    pub fn reference(&self) -> Option<&str> {
        self.r#ref.as_deref()
    }

    /// Returns a note on a transform whose type is not supported, so that it is not run.
    pub fn unsupported(&self) -> Option<String> {
        let is_supported = self.r#type == "jq" || self.takes_rdf();
        (!is_supported).then(|| format!("transform {} is not run: type {} is not supported", self.id, self.r#type))
    }

    /// True if it converts RDF to RDF.
    pub fn takes_rdf(&self) -> bool {
        matches!(self.r#type.as_str(), "sparql-construct" | "sparql-update" | "shacl" | "shacl-af-rule")
    }

    /// Runs it on a JSON text or on N-Triples.
    pub fn run(&self, input: &str, sandbox: &RefCell<Sandbox>) -> Result<String, String> {
        let code = self.code.as_ref().ok_or_else(|| self.lacking.clone())?;
        sandbox.borrow_mut().step(&self.r#type, code, input)
    }

    /// Runs it on a graph.
    pub fn run_on_graph(&self, triples: &[Triple], sandbox: &RefCell<Sandbox>) -> Result<Vec<Triple>, String> {
        let output = self.run(&n_triples(triples), sandbox)?;
        // N-Triples is a subset of Turtle.
        read_turtle(&output, None).map_err(|error| format!("its output cannot be read: {error}"))
    }

    /// Runs it on a text in a language that it takes.
    pub fn transform(
        &self,
        text: &str,
        language: &Language,
        prefixes: &Prefixes,
        sandbox: &RefCell<Sandbox>,
    ) -> Result<String, String> {
        if self.takes_rdf() && *language != Language::Turtle {
            return Err("it takes RDF, and is run on Turtle alone".to_owned());
        }
        if self.takes_rdf() {
            let input = read_turtle(text, None).map_err(|error| error.to_string())?;
            let triples = self.run_on_graph(&input, sandbox)?;
            return Ok(turtle::write(&turtle::normal(triples), prefixes));
        }
        let output = self.run(text, sandbox)?;
        json::parse(output.as_bytes()).map(|value| pretty(&value) + "\n").map_err(|error| error.to_string())
    }

    /// Returns the blocks whose schemas the outputs must match.
    pub fn profiles(&self) -> &[String] {
        &self.outputs.profiles
    }

    /// True if the transform takes texts of a language.
    pub fn takes(&self, language: &Language) -> bool {
        self.inputs.media_types.iter().any(|media| Language::from_name(&media.mime_type) == *language)
    }

    /// Returns the name of a transform's output file for the input file with a stem.
    pub fn file(&self, stem: &str) -> String {
        let extension = self.outputs.media_types.first().map_or("txt", |media| &media.default_extension);
        format!("transforms/{stem}.{}.{extension}", key(&self.id))
    }

    /// Returns the entry of a step in registers. `source` returns the URL of a file of the block.
    pub fn step_entry(&self, source: impl Fn(&str) -> Option<String>) -> Value {
        let stage = if self.takes_rdf() { "post" } else { "pre" };
        let url = self.r#ref.as_deref().and_then(source);
        let code = self.code.as_ref().filter(|_| url.is_none());
        without_nulls(json!({ "type": self.r#type, "code": code, "ref": url, "stage": stage }))
    }

    /// Returns the entry of a transform in registers. `source` returns the URL of a file of the block.
    pub fn transform_entry(&self, source: impl Fn(&str) -> Option<String>) -> Value {
        let url =
            |reference: &String| if reference.contains("://") { Some(reference.clone()) } else { source(reference) };
        let mut entry = without_nulls(json!({
            "id": self.id,
            "type": self.r#type,
            "ref": self.r#ref.as_ref().and_then(url),
            "code": self.code,
            "inputs": self.inputs,
            "outputs": self.outputs,
        }));
        if let Value::Object(entry) = &mut entry {
            entry.extend(self.others.clone());
        }
        entry
    }
}
