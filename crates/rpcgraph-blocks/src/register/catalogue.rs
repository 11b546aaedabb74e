//! The register itself as RDF, `bblocks.ttl` or `examples.ttl`: its blocks in the terms of the official register context
//! (`register-context.yaml` of the OGC postprocessor), and its examples.
//!
//! | subject | predicates |
//! |---|---|
//! | the register (`bblocks:BBlocksRegister`, `dcat:Catalog`, `skos:ConceptScheme`) | the properties of [`MEMBERS`], `skos:hasTopConcept` |
//! | a block (`bblocks:BBlock`, `dcat:Dataset`, `skos:Concept`, the class of its `itemClass`) | the properties of [`MEMBERS`], `skos:inScheme`, `skos:topConceptOf`, `dct:source`, `dct:identifier`, `dct:hasPart`, `prof:hasResource`, and `dct:description` for its documentation |
//! | a resource | `prof:hasArtifact`, `prof:hasRole`, `dct:format`, `dct:conformsTo`, `rdfs:seeAlso` |
//! | an example (`dcat:Dataset`, `skos:Concept`) | `dct:title`, `skos:prefLabel`, `dct:description`, `dct:isPartOf`, `skos:inScheme`, `dct:source`, `dct:conformsTo`, `dcat:distribution` |
//! | a distribution (`dcat:Distribution`) | `dcat:downloadURL`, `dcat:mediaType` |

use indexmap::IndexSet;
use oxrdf::vocab::{rdf, xsd};
use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use oxrdfio::{JsonLdProfileSet, RdfFormat, RdfSerializer};
use serde_json::Value;

use super::language::Language;
use super::library::shown;
use super::references::block_reference;
use super::turtle;
use super::view::{BlockView, ExampleView};
use crate::json::indented;

const PREFIXES: [(&str, &str); 13] = [
    ("bblocks", "https://www.opengis.net/def/bblocks/"),
    ("dcat", "http://www.w3.org/ns/dcat#"),
    ("dct", "http://purl.org/dc/terms/"),
    ("foaf", "http://xmlns.com/foaf/0.1/"),
    ("modspec", "http://www.opengis.net/def/ont/modspec/"),
    ("owl", "http://www.w3.org/2002/07/owl#"),
    ("prof", "http://www.w3.org/ns/dx/prof/"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("role", "http://www.w3.org/ns/dx/prof/role/"),
    ("shacl", "https://www.w3.org/TR/shacl/"),
    ("skos", "http://www.w3.org/2004/02/skos/core#"),
    ("void", "http://rdfs.org/ns/void#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
];
const MARKDOWN: &str = "https://www.w3.org/ns/iana/media-types/text/markdown";
const MEDIA_TYPES: &str = "https://www.iana.org/assignments/media-types/";

/// The form of a member's values in the graph.
enum ValueForm {
    Text,
    Markdown,
    /// A date or a time.
    Date,
    Boolean,
    /// An IRI, or the name of a node below this one.
    Node(&'static str),
}

/// The members of a register and of its blocks, with their predicates, as the official register context has them.
const MEMBERS: [(&str, &str, ValueForm); 22] = [
    ("title", "dct:title", ValueForm::Text),
    ("abstract", "dct:abstract", ValueForm::Markdown),
    ("description", "dct:description", ValueForm::Markdown),
    ("status", "bblocks:status", ValueForm::Node("http://www.opengis.net/def/status/")),
    ("scope", "bblocks:scope", ValueForm::Node("http://www.opengis.net/def/bblocks/scope/")),
    ("version", "dct:hasVersion", ValueForm::Text),
    ("dateTimeAddition", "dct:created", ValueForm::Date),
    ("dateOfLastChange", "dct:modified", ValueForm::Date),
    ("modified", "dct:modified", ValueForm::Date),
    ("tags", "dcat:keyword", ValueForm::Text),
    ("dependsOn", "bblocks:dependsOn", ValueForm::Node("bblocks://")),
    ("isProfileOf", "prof:isProfileOf", ValueForm::Node("bblocks://")),
    ("sourceLdContext", "bblocks:hasSourceJsonLdContext", ValueForm::Node("")),
    ("validationPassed", "bblocks:validationPassed", ValueForm::Boolean),
    ("validationReport", "bblocks:hasValidationReport", ValueForm::Node("")),
    ("imports", "owl:imports", ValueForm::Node("")),
    ("sparqlEndpoint", "void:sparqlEndpoint", ValueForm::Node("")),
    ("viewerURL", "foaf:homepage", ValueForm::Node("")),
    ("concept", "skos:closeMatch", ValueForm::Node("")),
    ("rdfType", "rdfs:subClassOf", ValueForm::Node("")),
    ("conformanceClasses", "modspec:class", ValueForm::Node("")),
    ("requirementClasses", "modspec:requirementsClass", ValueForm::Node("")),
];

/// The members of a block that lead to resources: role, standard and media type. Without a media type, the members of the
/// value have them as names; with an empty one, the identifiers of the blocks that they are from.
const RESOURCES: [(&str, &str, &str, &str); 6] = [
    ("schema", "role:schema", "https://json-schema.org/draft/2020-12/schema", ""),
    ("ldContext", "role:mapping", "https://www.w3.org/TR/json-ld11/", "application/ld+json"),
    ("openAPIDocument", "role:schema", "https://spec.openapis.org/oas/v3.1.0.html", "application/yaml"),
    ("ontology", "role:specification", "http://www.w3.org/2002/07/owl#Ontology", "text/turtle"),
    ("rdfData", "role:data", "", "text/turtle"),
    ("shaclShapes", "role:validation", "https://www.w3.org/TR/shacl/", "text/turtle"),
];

/// Returns the triples of a register without its blocks, whose identifiers are given. Without a base URL, its IRIs are
/// relative to the catalogue itself.
pub fn register(register: &Value, blocks: &[&str]) -> Vec<Triple> {
    let mut writer = CatalogueWriter::default();
    let node = scheme(register["baseURL"].as_str());
    writer.typed(&node, &["skos:ConceptScheme", "dcat:Catalog", "bblocks:BBlocksRegister"]);
    let title = format!("Building Blocks - {}", register["name"].as_str().unwrap_or_default());
    for predicate in ["rdfs:label", "skos:prefLabel"] {
        writer.text(&node, predicate, &title);
    }
    writer.members(&node, register);
    for block in blocks {
        writer.link(&node, "skos:hasTopConcept", &block_reference(block));
    }
    writer.triples.into_iter().collect()
}

/// Returns the triples of a block and its examples, with its entry in the register at a base URL.
pub fn block(view: &BlockView<'_>, entry: &Value, register: Option<&str>) -> Vec<Triple> {
    let mut writer = CatalogueWriter { key: view.block.key.replace('/', "_-"), ..CatalogueWriter::default() };
    let id = entry["itemIdentifier"].as_str().unwrap_or_default();
    let (node, scheme) = (block_reference(id), scheme(register));
    writer.typed(&node, &["skos:Concept", "dcat:Dataset", "bblocks:BBlock"]);
    if let Some(class) = entry["itemClass"].as_str().and_then(class) {
        writer.typed(&node, &[&class]);
    }
    for predicate in ["rdfs:label", "skos:prefLabel"] {
        writer.text(&node, predicate, view.block.name());
    }
    writer.text(&node, "dct:identifier", id);
    writer.members(&node, entry);
    for predicate in ["skos:inScheme", "skos:topConceptOf"] {
        writer.link(&node, predicate, &scheme);
    }
    for source in values(&entry["sources"]) {
        if let Some(link) = source["link"].as_str().filter(|link| NamedNode::new(*link).is_ok()) {
            writer.link(&node, "dct:source", link);
            source["title"].as_str().into_iter().for_each(|title| writer.text(link, "rdfs:label", title));
        }
    }
    for (member, role, standard, media_type) in RESOURCES {
        let groups: Vec<(&str, &Value)> = match &entry[member] {
            Value::Object(members) => members.iter().map(|(name, value)| (name.as_str(), value)).collect(),
            value => vec![("", value)],
        };
        for (name, value) in groups {
            for artifact in values(value).filter_map(Value::as_str) {
                let resource = writer.blank(&node, "prof:hasResource");
                writer.link(&resource, "prof:hasArtifact", artifact);
                writer.push(&resource, "prof:hasRole", expanded(role));
                writer.text(&resource, "dct:format", if media_type.is_empty() { name } else { media_type });
                if !standard.is_empty() {
                    writer.link(&resource, "dct:conformsTo", standard);
                }
                if !media_type.is_empty() && !name.is_empty() {
                    writer.link(&resource, "rdfs:seeAlso", &block_reference(name));
                }
            }
        }
    }
    for page in entry["documentation"].as_object().into_iter().flat_map(|pages| pages.values()) {
        let description = writer.blank(&node, "dct:description");
        writer.text(&description, "dct:format", page["mediatype"].as_str().unwrap_or_default());
        writer.link(&description, "rdfs:isDefinedBy", page["url"].as_str().unwrap_or_default());
    }
    for example in &view.shown {
        writer.link(&node, "dct:hasPart", &view.block.site.node(&example.key()));
    }
    for example in &view.shown {
        writer.example(view, example, &scheme, &node);
    }
    writer.triples.into_iter().collect()
}

/// Returns the IRI of the register at a base URL.
fn scheme(base: Option<&str>) -> String {
    base.unwrap_or("./").to_owned()
}

/// Returns the items of a list, or a value that is not a list; nothing for null.
fn values(value: &Value) -> impl Iterator<Item = &Value> {
    let list = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
    list.iter().filter(|value| !value.is_null())
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
struct CatalogueWriter {
    triples: IndexSet<Triple>,
    /// The name of the block, for the labels of blank nodes.
    key: String,
    blanks: usize,
}

impl CatalogueWriter {
    fn push(&mut self, subject: &(impl CatalogueNode + ?Sized), predicate: &str, object: impl Into<Term>) {
        let predicate = if predicate == "a" { rdf::TYPE.into_owned() } else { expanded(predicate) };
        self.triples.insert(Triple::new(subject.node(), predicate, object));
    }

    fn typed(&mut self, subject: &str, classes: &[&str]) {
        classes.iter().for_each(|class| self.push(subject, "a", expanded(class)));
    }

    fn text(&mut self, subject: &(impl CatalogueNode + ?Sized), predicate: &str, text: &str) {
        self.push(subject, predicate, Literal::new_simple_literal(text));
    }

    fn link(&mut self, subject: &(impl CatalogueNode + ?Sized), predicate: &str, object: &str) {
        // Unchecked, since relative references become IRIs only when the file is read.
        self.push(subject, predicate, NamedNode::new_unchecked(object));
    }

    /// Adds a new blank node as an object.
    fn blank(&mut self, subject: &str, predicate: &str) -> BlankNode {
        self.blanks += 1;
        let blank = BlankNode::new_unchecked(format!("{}-{}", self.key, self.blanks));
        self.push(subject, predicate, blank.clone());
        blank
    }

    /// Adds the members of a register or a block that have a predicate of their own.
    fn members(&mut self, subject: &str, entry: &Value) {
        for (member, predicate, form) in &MEMBERS {
            for value in values(&entry[member]) {
                match (form, value) {
                    (ValueForm::Boolean, Value::Bool(value)) => self.push(subject, predicate, Literal::from(*value)),
                    (ValueForm::Text, Value::String(text)) => self.text(subject, predicate, text),
                    (ValueForm::Markdown, Value::String(text)) => {
                        let datatype = NamedNode::new_unchecked(MARKDOWN);
                        self.push(subject, predicate, Literal::new_typed_literal(text, datatype));
                    }
                    (ValueForm::Date, Value::String(text)) => self.push(subject, predicate, date(text)),
                    (ValueForm::Node(base), Value::String(text)) => {
                        let node = if text.contains("://") { text.clone() } else { format!("{base}{text}") };
                        if oxiri::IriRef::parse(node.as_str()).is_ok() {
                            self.link(subject, predicate, &node);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn example(&mut self, view: &BlockView<'_>, example: &ExampleView<'_>, scheme: &str, block: &str) {
        let site = &view.block.site;
        let (node, title) = (site.node(&example.key()), example.title());
        self.typed(&node, &["skos:Concept", "dcat:Dataset"]);
        self.text(&node, "dct:title", &title);
        self.text(&node, "skos:prefLabel", &title);
        if let Some(content) = &example.example.content {
            self.text(&node, "dct:description", content.trim_end());
        }
        self.link(&node, "dct:isPartOf", block);
        self.link(&node, "skos:inScheme", scheme);
        for done in &example.results {
            if let Some(schema) = done.schema.as_ref().and_then(|schema| schema_url(view, schema)) {
                self.link(&node, "dct:conformsTo", &schema);
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

/// A subject: an IRI or a relative reference, or a blank node.
trait CatalogueNode {
    fn node(&self) -> NamedOrBlankNode;
}

impl CatalogueNode for str {
    fn node(&self) -> NamedOrBlankNode {
        NamedNode::new_unchecked(self).into()
    }
}

impl CatalogueNode for String {
    fn node(&self) -> NamedOrBlankNode {
        self.as_str().node()
    }
}

impl CatalogueNode for BlankNode {
    fn node(&self) -> NamedOrBlankNode {
        self.clone().into()
    }
}

/// Returns the URL of a schema that validated an example, from its path in the repository with a fragment: the
/// published schema of the block, or the file in its sources.
fn schema_url(view: &BlockView<'_>, schema: &str) -> Option<String> {
    let BlockView { block, .. } = view;
    let (path, fragment) = schema.split_once('#').map_or((schema, ""), |(path, _)| (path, &schema[path.len()..]));
    if path.contains("://") {
        return Some(schema.to_owned());
    }
    let site = &block.site;
    if block.schema.as_deref().is_some_and(|own| shown(own) == path) {
        return Some(site.reference(&format!("{}{fragment}", site.own(block.published_schema()?))));
    }
    Some(site.source(schema).unwrap_or_else(|| site.reference(&site.own(schema))))
}

/// Returns the IRI of a name with one of the prefixes.
fn expanded(name: &str) -> NamedNode {
    let (prefix, local) = name.split_once(':').unwrap_or_default();
    let namespace = PREFIXES.iter().find(|(known, _)| *known == prefix).map_or("", |(_, namespace)| namespace);
    NamedNode::new_unchecked(format!("{namespace}{local}"))
}
