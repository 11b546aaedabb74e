//! Transforms: what else a block's author has made of its examples, by programs that name the media types they take and give.
//!
//! Each is run on every snippet of a media type that it takes; to them belong the JSON-LD and the Turtle that JSON was
//! uplifted to. What nothing here runs is said.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::BlockError;
use super::block::{ANY_BASE, BLOCK, key, read_text, read_turtle};
use super::builder::said;
use super::examples::{Others, Prefixes};
use super::folder::Folder;
use super::item::Runner;
use super::language::Language;
use super::library::Library;
use super::report::without_nulls;
use super::steps::{StepKind, n_triples};
use super::turtle;
use super::uplift_definition::program;
use crate::json::{self, pretty};

/// The file that a block's transforms stand in.
const FILES: &[&str] = &["transforms.yaml", "transforms.yml"];

/// A transform of a block.
#[derive(Debug, Clone, Deserialize)]
pub struct Transform {
    /// Its identifier.
    pub id: String,
    r#type: StepKind,
    /// Its program; read from the file or URL that it names.
    code: Option<String>,
    r#ref: Option<String>,
    #[serde(default)]
    inputs: Medias,
    #[serde(default)]
    outputs: Medias,
    #[serde(flatten)]
    others: Others,
    /// Why there is no program.
    #[serde(skip)]
    lacking: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TransformsFile {
    transforms: Vec<Transform>,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
struct Medias {
    media_types: Vec<Media>,
}

/// A media type, and the extension of its files.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", from = "MediaEntry")]
struct Media {
    mime_type: String,
    default_extension: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum MediaEntry {
    Name(String),
    #[serde(rename_all = "camelCase")]
    Whole {
        mime_type: String,
        default_extension: Option<String>,
    },
}

impl From<MediaEntry> for Media {
    fn from(entry: MediaEntry) -> Self {
        let (mime_type, extension) = match entry {
            MediaEntry::Name(name) => (name, None),
            MediaEntry::Whole { mime_type, default_extension } => (mime_type, default_extension),
        };
        let default_extension = extension.map_or_else(|| extension_of(&mime_type), |extension| key(&extension));
        Self { mime_type, default_extension }
    }
}

/// The extension for a media type whose author names none.
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

/// The transforms of a block, with their programs.
pub fn read(folder: &Folder, library: &Library) -> Result<Vec<Transform>, BlockError> {
    let (file, TransformsFile { mut transforms }) = folder.read_first(FILES, BLOCK)?;
    transforms.iter_mut().for_each(|transform| transform.complete(folder, file, library));
    Ok(transforms)
}

impl Transform {
    /// Reads the program, and adds the media types that go without saying.
    fn complete(&mut self, folder: &Folder, file: &str, library: &Library) {
        let (json, turtle) = ("application/json", "text/turtle");
        let usual = match self.r#type {
            StepKind::Jq => Some([json, json]),
            StepKind::SemanticUplift => Some([json, turtle]),
            StepKind::SparqlConstruct | StepKind::SparqlUpdate | StepKind::Shacl => Some([turtle, turtle]),
            StepKind::Other(_) => None,
        };
        for (medias, name) in [&mut self.inputs, &mut self.outputs].into_iter().zip(usual.into_iter().flatten()) {
            if medias.media_types.is_empty() {
                medias.media_types.push(MediaEntry::Name(name.to_owned()).into());
            }
        }
        let by = format!("{file}, transform {}", self.id);
        let read = match (&self.code, &self.r#ref) {
            (Some(_), _) => return,
            (None, Some(reference)) => read_text(folder, reference, &by, library),
            (None, None) => Err(BlockError::unusable(&by, "it has neither `code` nor `ref`".to_owned())),
        };
        match read {
            Ok(code) => self.code = Some(code),
            Err(error) => self.lacking = said(&error),
        }
    }

    /// Whether it takes texts of a language.
    pub fn takes(&self, language: &Language) -> bool {
        self.inputs.media_types.iter().any(|media| Language::from_name(&media.mime_type) == *language)
    }

    /// The name of what it makes of the file with a stem.
    pub fn file(&self, stem: &str) -> String {
        let extension = self.outputs.media_types.first().map_or("txt", |media| &media.default_extension);
        format!("transforms/{stem}.{}.{extension}", key(&self.id))
    }

    /// What it makes of a text in a language that it takes, or why that is nothing. `url` is where the outcome will be.
    pub fn run(
        &self,
        text: &str,
        language: &Language,
        prefixes: &Prefixes,
        url: Option<&str>,
        runner: &mut Runner,
    ) -> Result<String, String> {
        let Some(code) = &self.code else { return Err(self.lacking.clone()) };
        if self.r#type == StepKind::SemanticUplift {
            let program = program(code).map_err(|error| error.to_string())?;
            let document = runner.schemas.step(&StepKind::Jq, &program, text)?;
            let document = json::parse(document.as_bytes()).map_err(|error| error.to_string())?;
            let uplifted = runner.uplifter.convert_jsonld(&document, &Prefixes::new(), url);
            let uplifted = uplifted.map_err(|error| said(&error))?;
            return Ok(turtle::write(&turtle::normal(uplifted.triples), prefixes));
        }
        let is_rdf = self.r#type.takes_rdf();
        let input = match (is_rdf, language) {
            (true, Language::Turtle) => {
                let triples = read_turtle(text, ANY_BASE).map_err(|error| error.to_string())?;
                Cow::Owned(n_triples(&triples))
            }
            (true, _) => return Err("it takes RDF, and is run on Turtle alone".to_owned()),
            (false, _) => Cow::Borrowed(text),
        };
        let output = runner.schemas.step(&self.r#type, code, &input)?;
        if is_rdf {
            // N-Triples are Turtle.
            let triples = read_turtle(&output, ANY_BASE).map_err(|error| error.to_string())?;
            return Ok(turtle::write(&turtle::normal(triples), prefixes));
        }
        json::parse(output.as_bytes()).map(|value| pretty(&value) + "\n").map_err(|error| error.to_string())
    }

    /// What registers say of it. `source` gives the URL of a file of the block.
    pub fn entry(&self, source: impl Fn(&str) -> Option<String>) -> Value {
        let url =
            |reference: &String| if reference.contains("://") { Some(reference.clone()) } else { source(reference) };
        let mut entry = without_nulls(json!({
            "id": self.id,
            "type": self.r#type.name(),
            "ref": self.r#ref.as_ref().and_then(url),
            "code": self.code,
            "inputs": self.inputs,
            "outputs": self.outputs,
        }));
        if let Value::Object(entry) = &mut entry {
            entry.extend(self.others.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        entry
    }
}
