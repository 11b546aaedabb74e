//! Transforms: what else a block's author has made of its examples, by programs that name the media types they take and give.
//!
//! Each is run on every snippet of a media type that it takes; to them belong the JSON-LD and the Turtle that JSON was
//! uplifted to. What nothing here runs is said.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};

use super::BlockError;
use super::block::{ANY_BASE, BLOCK, key, read_snippet, read_turtle};
use super::builder::said;
use super::examples::{Others, Prefixes};
use super::folder::Folder;
use super::item::Runner;
use super::language::Language;
use super::library::Library;
use super::report::without_nulls;
use super::steps::{Step, StepKind};
use super::turtle;
use super::uplift_definition::program;
use crate::json::{self, pretty};

/// The file that a block's transforms stand in.
const FILES: &[&str] = &["transforms.yaml", "transforms.yml"];

/// A transform of a block.
#[derive(Debug, Clone)]
pub struct Transform {
    /// Its identifier.
    pub id: String,
    step: Step,
    /// The file or URL that its program stands in.
    reference: Option<String>,
    /// Why there is no program.
    lacking: Option<String>,
    inputs: Vec<Media>,
    outputs: Vec<Media>,
    others: Others,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TransformsFile {
    transforms: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    id: String,
    r#type: StepKind,
    code: Option<String>,
    r#ref: Option<String>,
    #[serde(default)]
    inputs: Medias,
    #[serde(default)]
    outputs: Medias,
    #[serde(flatten)]
    others: Others,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Medias {
    media_types: Vec<Media>,
}

/// A media type, and the extension of its files.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "MediaEntry")]
struct Media {
    name: String,
    extension: String,
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
        let (name, extension) = match entry {
            MediaEntry::Name(name) => (name, None),
            MediaEntry::Whole { mime_type, default_extension } => (mime_type, default_extension),
        };
        let extension = extension.map_or_else(|| extension_of(&name), |extension| key(&extension));
        Self { name, extension }
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
    let Some(file) = folder.find(FILES) else { return Ok(Vec::new()) };
    let entries: Option<TransformsFile> = folder.read_data(file, BLOCK)?;
    let entries = entries.unwrap_or_default().transforms.into_iter();
    Ok(entries.map(|entry| Transform::new(entry, folder, file, library)).collect())
}

impl Transform {
    fn new(entry: Entry, folder: &Folder, file: &str, library: &Library) -> Self {
        let Entry { id, r#type, code, r#ref: reference, inputs, outputs, others } = entry;
        let (json, turtle) = ("application/json", "text/turtle");
        let [input, output] = match r#type {
            StepKind::Jq => [Some(json); 2],
            StepKind::SemanticUplift => [Some(json), Some(turtle)],
            StepKind::SparqlConstruct | StepKind::SparqlUpdate | StepKind::Shacl => [Some(turtle); 2],
            StepKind::Other(_) => [None; 2],
        };
        let or_default = |medias: Medias, default: Option<&str>| match medias.media_types.is_empty() {
            true => default.map(|name| MediaEntry::Name(name.to_owned()).into()).into_iter().collect(),
            false => medias.media_types,
        };
        let by = format!("{file}, transform {id}");
        let read = match (code, &reference) {
            (Some(code), _) => Ok(code),
            (None, Some(reference)) => read_snippet(folder, reference, &by, library),
            (None, None) => Err(BlockError::unusable(&by, "it has neither `code` nor `ref`".to_owned())),
        };
        let (code, lacking) = read.map_or_else(|error| (String::new(), Some(said(&error))), |code| (code, None));
        let step = Step::new(r#type, code);
        let (inputs, outputs) = (or_default(inputs, input), or_default(outputs, output));
        Self { id, step, reference, lacking, inputs, outputs, others }
    }

    /// Whether it takes texts of a language.
    pub fn takes(&self, language: &Language) -> bool {
        self.inputs.iter().any(|media| Language::from_name(&media.name) == *language)
    }

    /// The name of what it makes of the file with a stem.
    pub fn file(&self, stem: &str) -> String {
        let extension = self.outputs.first().map_or("txt", |media| &media.extension);
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
        if let Some(lacking) = &self.lacking {
            return Err(lacking.clone());
        }
        if self.step.r#type == StepKind::SemanticUplift {
            let program = program(&self.step.code).map_err(|error| error.to_string())?;
            let document = runner.schemas.step(&Step::new(StepKind::Jq, program), text)?;
            let document = json::parse(document.as_bytes()).map_err(|error| error.to_string())?;
            let uplifted = runner.uplifter.convert_jsonld(&document, &Prefixes::new(), url);
            let uplifted = uplifted.map_err(|error| said(&error))?;
            return Ok(turtle::write(&turtle::normal(uplifted.triples), prefixes));
        }
        let is_rdf = self.step.r#type.takes_rdf();
        let input = match (is_rdf, language) {
            (true, Language::Turtle) => {
                let triples = read_turtle(text, ANY_BASE).map_err(|error| error.to_string())?;
                Cow::Owned(triples.iter().map(|triple| format!("{triple} .\n")).collect())
            }
            (true, _) => return Err("it takes RDF, and is run on Turtle alone".to_owned()),
            (false, _) => Cow::Borrowed(text),
        };
        let output = runner.schemas.step(&self.step, &input)?;
        if is_rdf {
            // N-Triples are Turtle.
            let triples = read_turtle(&output, ANY_BASE).map_err(|error| error.to_string())?;
            return Ok(turtle::write(&turtle::normal(triples), prefixes));
        }
        json::parse(output.as_bytes()).map(|value| pretty(&value) + "\n").map_err(|error| error.to_string())
    }

    /// What registers say of it. `source` gives the URL of a file of the block.
    pub fn entry(&self, source: impl Fn(&str) -> Option<String>) -> Value {
        let medias = |medias: &[Media]| {
            let media = |media: &Media| json!({ "mimeType": media.name, "defaultExtension": media.extension });
            json!({ "mediaTypes": medias.iter().map(media).collect::<Vec<_>>() })
        };
        let url =
            |reference: &String| if reference.contains("://") { Some(reference.clone()) } else { source(reference) };
        let mut entry = without_nulls(json!({
            "id": self.id,
            "type": self.step.r#type.name(),
            "ref": self.reference.as_ref().and_then(url),
            "code": self.lacking.is_none().then_some(&self.step.code),
            "inputs": medias(&self.inputs),
            "outputs": medias(&self.outputs),
        }));
        if let Value::Object(entry) = &mut entry {
            entry.extend(self.others.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        entry
    }
}
