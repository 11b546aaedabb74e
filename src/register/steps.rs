//! The programs of a block: steps before and after the uplift, and transforms, with the media types of their inputs and
//! outputs.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::{BLOCK, BlockError, said};
use super::examples::UnusedEntries;
use super::folder::{Folder, key};
use super::language::Language;
use super::library::Library;
use super::report::without_nulls;

/// The possible names of the files with a block's steps and transforms.
const STEPS: &[&str] = &["semantic-uplift.yaml", "semantic-uplift.yml"];
const TRANSFORMS: &[&str] = &["transforms.yaml", "transforms.yml"];

/// A kind of step.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// A jq program, whose first output replaces the example.
    Jq,
    /// A query, whose graph replaces the example's graph.
    SparqlConstruct,
    /// An update of the example's graph.
    SparqlUpdate,
    /// SHACL rules, which add triples to the example's graph.
    #[serde(alias = "shacl-af-rule")]
    Shacl,
    /// A transform only: jq, types and a context, which make a graph from JSON.
    SemanticUplift,
    /// A kind that is not supported.
    #[serde(untagged)]
    Other(String),
}

/// A step.
#[derive(Debug, Clone, Deserialize)]
pub struct TransformStep {
    /// Its kind.
    pub r#type: StepKind,
    /// Its program, inline or from the file that `ref` names.
    #[serde(default)]
    pub code: String,
    r#ref: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StepsFile {
    additional_steps: Vec<TransformStep>,
}

/// A transform.
#[derive(Debug, Clone, Deserialize)]
pub struct Transform {
    /// Its identifier.
    pub id: String,
    /// Its kind.
    pub r#type: StepKind,
    /// Its program, inline or from the file or URL that `ref` names.
    pub code: Option<String>,
    r#ref: Option<String>,
    #[serde(default)]
    inputs: MediaTypes,
    #[serde(default)]
    outputs: MediaTypes,
    #[serde(flatten)]
    others: UnusedEntries,
    /// The reason why the program is missing.
    #[serde(skip)]
    pub lacking: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TransformsFile {
    transforms: Vec<Transform>,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
struct MediaTypes {
    media_types: Vec<MediaType>,
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

impl StepKind {
    /// True if the step converts RDF to RDF.
    pub fn takes_rdf(&self) -> bool {
        matches!(self, Self::SparqlConstruct | Self::SparqlUpdate | Self::Shacl)
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Jq => "jq",
            Self::SparqlConstruct => "sparql-construct",
            Self::SparqlUpdate => "sparql-update",
            Self::Shacl => "shacl",
            Self::SemanticUplift => "semantic-uplift",
            Self::Other(name) => name,
        }
    }
}

/// Reads the steps of a block, with their programs.
pub fn steps(folder: &Folder) -> Result<Vec<TransformStep>, BlockError> {
    let (name, StepsFile { additional_steps: mut steps }) = folder.read_first(STEPS, BLOCK)?;
    for step in &mut steps {
        if let Some(reference) = &step.r#ref {
            step.code = folder.read(reference, name)?;
        }
    }
    Ok(steps)
}

/// Reads the transforms of a block, with their programs.
pub fn transforms(folder: &Folder, library: &Library) -> Result<Vec<Transform>, BlockError> {
    let (file, TransformsFile { mut transforms }) = folder.read_first(TRANSFORMS, BLOCK)?;
    transforms.iter_mut().for_each(|transform| transform.complete(folder, file, library));
    Ok(transforms)
}

impl TransformStep {
    /// Returns the step's entry in registers. `source` returns the URL of a file of the block.
    pub fn entry(&self, source: impl Fn(&str) -> Option<String>) -> Value {
        let stage = if self.r#type.takes_rdf() { "post" } else { "pre" };
        let url = self.r#ref.as_deref().and_then(source);
        let code = Some(&self.code).filter(|_| url.is_none());
        without_nulls(json!({ "type": self.r#type.name(), "code": code, "ref": url, "stage": stage }))
    }
}

impl Transform {
    /// Reads the program, and adds the default media types.
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
                medias.media_types.push(Value::from(name).into());
            }
        }
        let by = format!("{file}, transform {}", self.id);
        let read = match (&self.code, &self.r#ref) {
            (Some(_), _) => return,
            (None, Some(reference)) => library.file(folder, reference, &by),
            (None, None) => Err(BlockError::unusable(&by, "it has neither `code` nor `ref`")),
        };
        match read {
            Ok(code) => self.code = Some(code),
            Err(error) => self.lacking = said(&error),
        }
    }

    /// True if the transform takes texts of a language.
    pub fn takes(&self, language: &Language) -> bool {
        self.inputs.media_types.iter().any(|media| Language::from_name(&media.mime_type) == *language)
    }

    /// Returns the name of the output file for the input file with a stem.
    pub fn file(&self, stem: &str) -> String {
        let extension = self.outputs.media_types.first().map_or("txt", |media| &media.default_extension);
        format!("transforms/{stem}.{}.{extension}", key(&self.id))
    }

    /// Returns the transform's entry in registers. `source` returns the URL of a file of the block.
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
