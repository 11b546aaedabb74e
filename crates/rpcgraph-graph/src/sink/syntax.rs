//! The syntaxes of RDF output.

use oxrdfio::{JsonLdProfileSet, RdfFormat, RdfSerializer};

use crate::vocab::PREFIXES;

/// A syntax of RDF output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Syntax {
    /// RDF 1.1 Turtle.
    #[default]
    Turtle,
    /// RDF 1.1 N-Triples.
    NTriples,
    /// RDF 1.1 N-Quads.
    NQuads,
    /// RDF 1.1 TriG.
    TriG,
    /// JSON-LD 1.1, one document.
    JsonLd,
    /// JSON-LD 1.1, one document per line.
    JsonLdLines,
    /// RDF 1.1 XML Syntax.
    RdfXml,
}

impl Syntax {
    /// Every syntax, in the order of the documentation.
    pub const ALL: [Self; 7] =
        [Self::Turtle, Self::NTriples, Self::NQuads, Self::TriG, Self::JsonLd, Self::JsonLdLines, Self::RdfXml];

    /// Returns the name on the command line, and the file extensions.
    fn names(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Turtle => ("turtle", &["ttl"]),
            Self::NTriples => ("ntriples", &["nt"]),
            Self::NQuads => ("nquads", &["nq"]),
            Self::TriG => ("trig", &["trig"]),
            Self::JsonLd => ("jsonld", &["jsonld"]),
            Self::JsonLdLines => ("jsonld-lines", &["jsonldl", "ndjsonld"]),
            Self::RdfXml => ("rdfxml", &["rdf", "owl"]),
        }
    }

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// Returns the syntax for a file extension.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|syntax| syntax.names().1.contains(&extension))
    }
}

impl From<Syntax> for RdfFormat {
    /// Returns the format of a document in the syntax.
    fn from(syntax: Syntax) -> Self {
        match syntax {
            Syntax::Turtle => Self::Turtle,
            Syntax::NTriples => Self::NTriples,
            Syntax::NQuads => Self::NQuads,
            Syntax::TriG => Self::TriG,
            Syntax::RdfXml => Self::RdfXml,
            Syntax::JsonLd | Syntax::JsonLdLines => Self::JsonLd { profile: JsonLdProfileSet::empty() },
        }
    }
}

/// Creates a serializer of whole documents in the syntax, with our prefixes, and with IRIs relative to `base` if the
/// syntax allows it.
pub fn serializer(syntax: Syntax, base: Option<&str>) -> RdfSerializer {
    let mut serializer = RdfSerializer::from_format(syntax.into());
    // The RDF/XML serializer defines `rdf` itself.
    for (prefix, namespace) in PREFIXES.iter().filter(|(prefix, _)| syntax != Syntax::RdfXml || *prefix != "rdf") {
        if let Ok(with) = serializer.clone().with_prefix(*prefix, *namespace) {
            serializer = with;
        }
    }
    base.and_then(|base| serializer.clone().with_base_iri(base).ok()).unwrap_or(serializer)
}
