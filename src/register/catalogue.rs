//! The register itself as RDF, `examples.ttl`: what there is an example of, and where its graph is.
//!
//! | subject | predicates |
//! |---|---|
//! | the register (`dcat:Catalog`, `skos:ConceptScheme`) | `skos:prefLabel`, `dcat:dataset`, `bblocks:hasValidationReport` |
//! | the block (`dcat:Dataset`, `skos:Concept`, a class of `bblocks:`) | `rdfs:label`, `dct:title`, `dct:description`, `dct:abstract`, `dct:identifier`, `dct:hasVersion`, `dct:created`, `dct:modified`, `dct:source`, `skos:inScheme`, `bblocks:status`, `bblocks:hasJsonLdContext`, `bblocks:hasSchema`, `dct:hasPart` |
//! | an example (`dcat:Dataset`, `skos:Concept`) | `dct:title`, `skos:prefLabel`, `dct:description`, `dct:isPartOf`, `skos:inScheme`, `dct:source`, `dct:conformsTo`, `dcat:distribution` |
//! | a distribution (`dcat:Distribution`) | `dcat:downloadURL`, `dcat:mediaType`, `dct:conformsTo` |

use std::collections::HashSet;

use oxrdf::vocab::{rdf, rdfs, xsd};
use oxrdf::{Literal, NamedNode, Term, Triple};

use super::Shown;
use super::block::Block;
use super::examples::Prefixes;
use super::report::Report;
use super::schema::Schemas;
use super::site::Site;
use super::turtle;

const BBLOCKS: &str = "https://www.opengis.net/def/bblocks/";
const DCAT: &str = "http://www.w3.org/ns/dcat#";
const DCT: &str = "http://purl.org/dc/terms/";
const SKOS: &str = "http://www.w3.org/2004/02/skos/core#";
const STATUS: &str = "http://www.opengis.net/def/status/";
const MEDIA_TYPES: &str = "https://www.iana.org/assignments/media-types/";

/// What the catalogue is made of.
pub struct Catalogue<'c> {
    /// The block.
    pub block: &'c Block,
    /// Where the files are.
    pub site: &'c Site,
    /// What passed.
    pub report: &'c Report,
    /// The examples.
    pub shown: &'c [Shown],
    /// The schemas, for what examples are examples of.
    pub schemas: &'c Schemas,
    /// Where the context is.
    pub context: &'c str,
}

/// `examples.ttl`. Without a base URL, its IRIs are relative to the file itself.
pub fn catalogue(catalogue: &Catalogue<'_>) -> String {
    let mut writer = Writer::default();
    let Catalogue { block, site, report, shown, .. } = catalogue;
    let register = site.base().unwrap_or("./").to_owned();
    let me = site.reference(&format!("examples.ttl#{}", block.key));
    writer.typed(&register, &[&format!("{SKOS}ConceptScheme"), &format!("{DCAT}Catalog")]);
    writer.text(&register, SKOS, "prefLabel", &format!("Examples of {}", block.name()));
    writer.link(&register, DCAT, "dataset", &me);
    writer.link(&register, BBLOCKS, "hasValidationReport", &site.reference("report.html"));

    let mut classes = vec![format!("{SKOS}Concept"), format!("{DCAT}Dataset")];
    classes.extend(block.metadata.item_class.as_deref().and_then(class));
    writer.typed(&me, &classes.iter().map(String::as_str).collect::<Vec<_>>());
    writer.push(&me, rdfs::LABEL.as_str(), Literal::new_simple_literal(block.name()));
    writer.text(&me, DCT, "identifier", &report.id);
    let metadata = &block.metadata;
    for (name, text) in
        [("title", &metadata.title), ("description", &metadata.description), ("hasVersion", &metadata.version)]
    {
        if let Some(text) = text {
            writer.text(&me, DCT, name, text);
        }
    }
    for (name, time) in [("created", &metadata.date_time_addition), ("modified", &metadata.date_of_last_change)] {
        if let Some(time) = time {
            writer.push(&me, &format!("{DCT}{name}"), date(time));
        }
    }
    for link in metadata.sources.iter().filter_map(|source| source.link.as_deref()) {
        if NamedNode::new(link).is_ok() {
            writer.link(&me, DCT, "source", link);
        }
    }
    writer.link(&me, SKOS, "inScheme", &register);
    if let Some(status) =
        metadata.status.as_deref().filter(|status| NamedNode::new(format!("{STATUS}{status}")).is_ok())
    {
        writer.link(&me, BBLOCKS, "status", &format!("{STATUS}{status}"));
    }
    writer.link(&me, BBLOCKS, "hasJsonLdContext", catalogue.context);
    if let Some(file) = block.schema_file {
        writer.link(&me, BBLOCKS, "hasSchema", &site.reference(&site.own(file)));
    }
    for example in *shown {
        let node = site.reference(&format!("examples.ttl#{}", example.key));
        writer.link(&me, DCT, "hasPart", &node);
    }
    for example in *shown {
        example_triples(catalogue, example, &register, &me, &mut writer);
    }
    let prefixes: Prefixes =
        [("bblocks", BBLOCKS), ("dcat", DCAT), ("dct", DCT), ("rdfs", RDFS), ("skos", SKOS), ("xsd", XSD)]
            .into_iter()
            .map(|(name, namespace)| (name.to_owned(), namespace.to_owned()))
            .collect();
    turtle::write(&writer.triples, &prefixes)
}

const RDFS: &str = "http://www.w3.org/2000/01/rdf-schema#";
const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

fn example_triples(catalogue: &Catalogue<'_>, example: &Shown, register: &str, block: &str, writer: &mut Writer) {
    let site = catalogue.site;
    let node = site.reference(&format!("examples.ttl#{}", example.key));
    writer.typed(&node, &[&format!("{SKOS}Concept"), &format!("{DCAT}Dataset")]);
    writer.text(&node, DCT, "title", &example.title);
    writer.text(&node, SKOS, "prefLabel", &example.title);
    if let Some(content) = &example.content {
        writer.text(&node, DCT, "description", content.trim_end());
    }
    writer.link(&node, DCT, "isPartOf", block);
    writer.link(&node, SKOS, "inScheme", register);
    let mut distributions = Vec::new();
    for snippet in &example.snippets {
        let schema = catalogue.schemas.target(snippet.schema_ref.as_deref()).or_else(|| {
            let file = catalogue.block.schema_file.filter(|_| snippet.validated)?;
            Some((file.to_owned(), String::new()))
        });
        let schema = schema.map(|(file, fragment)| match fragment.as_str() {
            "" => site.reference(&site.own(&file)),
            fragment => site.reference(&site.own(&format!("{file}#{fragment}"))),
        });
        if let Some(schema) = schema.as_ref().filter(|_| snippet.validated) {
            writer.link(&node, DCT, "conformsTo", schema);
        }
        if let Some(source) = snippet.files.first() {
            writer.link(&node, DCT, "source", &site.reference(source));
        }
        for path in &snippet.files {
            let extension = path.rsplit('.').next().unwrap_or_default();
            let media_type = match extension {
                "json" => "application/json",
                "jsonld" => "application/ld+json",
                "ttl" => "text/turtle",
                "yaml" => "application/yaml",
                _ => "",
            };
            distributions.push((site.reference(path), media_type));
        }
    }
    for (file, _) in &distributions {
        writer.link(&node, DCAT, "distribution", file);
    }
    for (file, media_type) in &distributions {
        writer.typed(file, &[&format!("{DCAT}Distribution")]);
        writer.link(file, DCAT, "downloadURL", file);
        if !media_type.is_empty() {
            writer.link(file, DCAT, "mediaType", &format!("{MEDIA_TYPES}{media_type}"));
        }
    }
}

/// The class of `bblocks:` for an item class: its name in upper camel case.
fn class(name: &str) -> Option<String> {
    let mut class = String::new();
    for word in name.split('-') {
        let mut letters = word.chars();
        class.extend(letters.next()?.to_uppercase());
        class.push_str(letters.as_str());
    }
    class.bytes().all(|byte| byte.is_ascii_alphanumeric()).then(|| format!("{BBLOCKS}{class}"))
}

/// A date or a time with its datatype; text where it is neither.
fn date(text: &str) -> Literal {
    if text.parse::<oxsdatatypes::DateTime>().is_ok() {
        Literal::new_typed_literal(text, xsd::DATE_TIME)
    } else if text.parse::<oxsdatatypes::Date>().is_ok() {
        Literal::new_typed_literal(text, xsd::DATE)
    } else {
        Literal::new_simple_literal(text)
    }
}

#[derive(Default)]
struct Writer {
    triples: Vec<Triple>,
    known: HashSet<Triple>,
}

impl Writer {
    fn push(&mut self, subject: &str, predicate: &str, object: impl Into<Term>) {
        // Relative references are no IRIs before somebody reads the file.
        let (subject, predicate) = (NamedNode::new_unchecked(subject), NamedNode::new_unchecked(predicate));
        let triple = Triple::new(subject, predicate, object);
        if self.known.insert(triple.clone()) {
            self.triples.push(triple);
        }
    }

    fn typed(&mut self, subject: &str, classes: &[&str]) {
        for class in classes {
            self.push(subject, rdf::TYPE.as_str(), NamedNode::new_unchecked(*class));
        }
    }

    fn text(&mut self, subject: &str, namespace: &str, name: &str, text: &str) {
        self.push(subject, &format!("{namespace}{name}"), Literal::new_simple_literal(text));
    }

    fn link(&mut self, subject: &str, namespace: &str, name: &str, object: &str) {
        self.push(subject, &format!("{namespace}{name}"), NamedNode::new_unchecked(object));
    }
}
