//! The languages of snippets, and how each is treated.

use super::folder::key;

/// The language of a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Language {
    /// JSON: validated, and uplifted.
    Json,
    /// JSON-LD: validated, and converted.
    JsonLd,
    /// Turtle: parsed, with the prefixes of the example.
    Turtle,
    /// YAML: validated.
    Yaml,
    /// Anything else: shown.
    Other(String),
}

impl Language {
    /// Returns the language for a short name, an extension or a media type, in upper or lower case.
    pub fn from_name(name: &str) -> Self {
        let name = name.trim().to_ascii_lowercase();
        let essence = name.split(';').next().unwrap_or_default().trim();
        match essence {
            "jsonld" | "json-ld" | "application/ld+json" => Self::JsonLd,
            "ttl" | "turtle" | "text/turtle" | "application/x-turtle" => Self::Turtle,
            "yaml" | "yml" | "application/yaml" | "application/x-yaml" | "text/yaml" => Self::Yaml,
            "json" | "geojson" | "application/json" | "text/json" => Self::Json,
            json if json.starts_with("application/") && json.ends_with("+json") => Self::Json,
            _ => Self::Other(name),
        }
    }

    /// True if the program reads the language, so that its examples can pass or fail.
    pub fn is_validated(&self) -> bool {
        !matches!(self, Self::Other(_))
    }

    /// Returns the extension of its files.
    pub fn extension(&self) -> String {
        match self {
            Self::Json => "json".to_owned(),
            Self::JsonLd => "jsonld".to_owned(),
            Self::Turtle => "ttl".to_owned(),
            Self::Yaml => "yaml".to_owned(),
            Self::Other(name) if name.is_empty() => "txt".to_owned(),
            Self::Other(name) => key(name).chars().take(32).collect(),
        }
    }

    /// Returns its media type, or its name if the media type is unknown.
    pub fn media_type(&self) -> &str {
        match self {
            Self::Json => "application/json",
            Self::JsonLd => "application/ld+json",
            Self::Turtle => "text/turtle",
            Self::Yaml => "application/yaml",
            Self::Other(name) => name,
        }
    }
}
