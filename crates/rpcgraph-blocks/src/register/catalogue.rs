//! The register itself as RDF, `examples.ttl`: its examples, and the places of their graphs.
//!
//! | subject | predicates |
//! |---|---|
//! | the register (`dcat:Catalog`, `skos:ConceptScheme`) | `skos:prefLabel`, `dcat:dataset`, `bblocks:hasValidationReport` |
//! | the block (`dcat:Dataset`, `skos:Concept`, a class of `bblocks:`) | `rdfs:label`, `dct:title`, `dct:description`, `dct:abstract`, `dct:identifier`, `dct:hasVersion`, `dct:created`, `dct:modified`, `dct:source`, `skos:inScheme`, `bblocks:status`, `bblocks:hasJsonLdContext`, `bblocks:hasSchema`, `dct:hasPart` |
//! | an example (`dcat:Dataset`, `skos:Concept`) | `dct:title`, `skos:prefLabel`, `dct:description`, `dct:isPartOf`, `skos:inScheme`, `dct:source`, `dct:conformsTo`, `dcat:distribution` |
//! | a distribution (`dcat:Distribution`) | `dcat:downloadURL`, `dcat:mediaType`, `dct:conformsTo` |

use indexmap::IndexSet;
use oxrdf::vocab::{rdf, xsd};
use oxrdf::{Literal, NamedNode, Term, Triple};
use oxrdfio::{JsonLdProfileSet, RdfFormat, RdfSerializer};

use super::language::Language;
use super::site::RegisterPaths;
use super::turtle;
use super::view::{BlockView, ExampleView};
use crate::json::indented;

const PREFIXES: [(&str, &str); 6] = [
    ("bblocks", "https://www.opengis.net/def/bblocks/"),
    ("dcat", "http://www.w3.org/ns/dcat#"),
    ("dct", "http://purl.org/dc/terms/"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("skos", "http://www.w3.org/2004/02/skos/core#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
];
const STATUS: &str = "http://www.opengis.net/def/status/";
const MEDIA_TYPES: &str = "https://www.iana.org/assignments/media-types/";

/// Returns the triples that describe a block. Without a base URL, their IRIs are relative to the catalogue itself.
pub fn catalogue(view: &BlockView<'_>) -> Vec<Triple> {
    let mut writer = CatalogueWriter::default();
    let BlockView { block, report, shown, .. } = view;
    let site = &block.site;
    let metadata = &block.metadata;
    let catalog = site.base().unwrap_or("./").to_owned();
    let me = site.node(&block.key);
    writer.typed(&catalog, &["skos:ConceptScheme", "dcat:Catalog"]);
    writer.text(&catalog, "skos:prefLabel", &site.title(block.name()));
    writer.link(&catalog, "dcat:dataset", &me);
    writer.link(&catalog, "bblocks:hasValidationReport", &site.reference(site.overview()[0]));

    writer.typed(&me, &["skos:Concept", "dcat:Dataset"]);
    if let Some(class) = metadata["itemClass"].as_str().and_then(class) {
        writer.typed(&me, &[&class]);
    }
    writer.text(&me, "rdfs:label", block.name());
    writer.text(&me, "dct:identifier", &report.id);
    let texts = [("dct:title", "title"), ("dct:description", "description"), ("dct:hasVersion", "version")];
    for (predicate, text) in texts {
        metadata[text].as_str().into_iter().for_each(|text| writer.text(&me, predicate, text));
    }
    let dates = [("dct:created", "dateTimeAddition"), ("dct:modified", "dateOfLastChange")];
    for (predicate, time) in dates {
        metadata[time].as_str().into_iter().for_each(|time| writer.push(&me, predicate, date(time)));
    }
    for link in metadata["sources"].as_array().into_iter().flatten().filter_map(|source| source["link"].as_str()) {
        writer.link_if_valid(&me, "dct:source", link);
    }
    writer.link(&me, "skos:inScheme", &catalog);
    if let Some(status) = metadata["status"].as_str() {
        writer.link_if_valid(&me, "bblocks:status", &format!("{STATUS}{status}"));
    }
    view.context.iter().for_each(|context| writer.link(&me, "bblocks:hasJsonLdContext", context));
    if let Some(file) = block.published_schema() {
        writer.link(&me, "bblocks:hasSchema", &site.reference(&site.own(file)));
    }
    for example in shown {
        writer.link(&me, "dct:hasPart", &site.node(&example.key()));
    }
    for example in shown {
        writer.example(site, example, &catalog, &me);
    }
    writer.0.into_iter().collect()
}

/// Writes a catalogue as Turtle.
pub fn text(triples: &[Triple]) -> String {
    let prefixes = PREFIXES.map(|(name, namespace)| (name.to_owned(), namespace.to_owned()));
    turtle::write(triples, &prefixes.into())
}

/// Writes a catalogue as JSON-LD.
pub fn jsonld(triples: &[Triple]) -> Option<String> {
    let serializer = PREFIXES.iter().try_fold(
        RdfSerializer::from_format(RdfFormat::JsonLd { profile: JsonLdProfileSet::empty() }),
        |serializer, (name, namespace)| serializer.with_prefix(*name, *namespace),
    );
    let mut writer = serializer.ok()?.for_writer(Vec::new());
    triples.iter().try_for_each(|triple| writer.serialize_triple(triple)).ok()?;
    Some(indented(&String::from_utf8(writer.finish().ok()?).ok()?) + "\n")
}

/// Returns the class for an item class: its name in upper camel case.
fn class(name: &str) -> Option<String> {
    let mut class = String::new();
    for word in name.split('-') {
        let mut letters = word.chars();
        class.extend(letters.next()?.to_uppercase());
        class.push_str(letters.as_str());
    }
    class.bytes().all(|byte| byte.is_ascii_alphanumeric()).then(|| format!("bblocks:{class}"))
}

/// Returns a date or a time with its datatype, or a plain string if it is neither.
fn date(text: &str) -> Literal {
    let is_time = text.parse::<oxsdatatypes::DateTime>().is_ok();
    let is_date = text.parse::<oxsdatatypes::Date>().is_ok();
    let datatype = if is_time { xsd::DATE_TIME } else { xsd::DATE };
    if is_time || is_date { Literal::new_typed_literal(text, datatype) } else { Literal::new_simple_literal(text) }
}

#[derive(Default)]
struct CatalogueWriter(IndexSet<Triple>);

impl CatalogueWriter {
    fn push(&mut self, subject: &str, predicate: &str, object: impl Into<Term>) {
        let predicate = if predicate == "a" { rdf::TYPE.into_owned() } else { expanded(predicate) };
        // Unchecked, since relative references become IRIs only when the file is read.
        self.0.insert(Triple::new(NamedNode::new_unchecked(subject), predicate, object));
    }

    fn typed(&mut self, subject: &str, classes: &[&str]) {
        classes.iter().for_each(|class| self.push(subject, "a", expanded(class)));
    }

    fn text(&mut self, subject: &str, predicate: &str, text: &str) {
        self.push(subject, predicate, Literal::new_simple_literal(text));
    }

    fn link(&mut self, subject: &str, predicate: &str, object: &str) {
        self.push(subject, predicate, NamedNode::new_unchecked(object));
    }

    fn link_if_valid(&mut self, subject: &str, predicate: &str, object: &str) {
        if NamedNode::new(object).is_ok() {
            self.link(subject, predicate, object);
        }
    }

    fn example(&mut self, site: &RegisterPaths, example: &ExampleView<'_>, catalog: &str, block: &str) {
        let (node, title) = (site.node(&example.key()), example.title());
        self.typed(&node, &["skos:Concept", "dcat:Dataset"]);
        self.text(&node, "dct:title", &title);
        self.text(&node, "skos:prefLabel", &title);
        if let Some(content) = &example.example.content {
            self.text(&node, "dct:description", content.trim_end());
        }
        self.link(&node, "dct:isPartOf", block);
        self.link(&node, "skos:inScheme", catalog);
        for done in &example.results {
            if let Some(schema) = &done.schema {
                self.link(&node, "dct:conformsTo", &site.reference(&site.own(schema)));
            }
            if let Some((source, _)) = done.files.first() {
                self.link(&node, "dct:source", &site.reference(source));
            }
        }
        let files =
            || example.results.iter().flat_map(|done| &done.files).map(|(path, _)| (path, site.reference(path)));
        for (_, file) in files() {
            self.link(&node, "dcat:distribution", &file);
        }
        for (path, file) in files() {
            self.typed(&file, &["dcat:Distribution"]);
            self.link(&file, "dcat:downloadURL", &file);
            let extension = path.rsplit('.').next().unwrap_or_default();
            let language = Language::from_name(extension);
            if language.is_validated() && language.extension() == extension {
                self.link(&file, "dcat:mediaType", &format!("{MEDIA_TYPES}{}", language.media_type()));
            }
        }
    }
}

/// Returns the IRI of a name with one of the prefixes.
fn expanded(name: &str) -> NamedNode {
    let (prefix, local) = name.split_once(':').unwrap_or_default();
    let namespace = PREFIXES.iter().find(|(known, _)| *known == prefix).map_or("", |(_, namespace)| namespace);
    NamedNode::new_unchecked(format!("{namespace}{local}"))
}
