//! The syntaxes that triples are written in.

use oxrdfio::{JsonLdProfileSet, RdfFormat, RdfSerializer};

use crate::vocab::PREFIXES;

/// A syntax that triples are written in.
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
    /// JSON-LD 1.1, a document a line.
    JsonLdLines,
    /// RDF 1.1 XML Syntax.
    RdfXml,
}

impl Syntax {
    /// Every syntax, in the order of the documentation.
    pub const ALL: [Self; 7] =
        [Self::Turtle, Self::NTriples, Self::NQuads, Self::TriG, Self::JsonLd, Self::JsonLdLines, Self::RdfXml];

    /// Its name on the command line, and the extensions of files that hold it.
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

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// The syntax that a file name's extension stands for.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|syntax| syntax.names().1.contains(&extension))
    }
}

impl From<Syntax> for RdfFormat {
    /// The format that a document of the syntax is in.
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

/// Writes a whole document of the syntax, with our prefixes, and IRIs that are relative to `base` where the syntax can.
pub(crate) fn serializer(syntax: Syntax, base: Option<&str>) -> RdfSerializer {
    let mut serializer = RdfSerializer::from_format(syntax.into());
    // `rdf` is the own of RDF/XML's serializer.
    for (prefix, namespace) in PREFIXES.iter().filter(|(prefix, _)| syntax != Syntax::RdfXml || *prefix != "rdf") {
        if let Ok(with) = serializer.clone().with_prefix(*prefix, *namespace) {
            serializer = with;
        }
    }
    base.and_then(|base| serializer.clone().with_base_iri(base).ok()).unwrap_or(serializer)
}
