//! The register itself as RDF, `bblocks.ttl` and `bblocks.jsonld`: its blocks in the terms of the official register context
//! (`register-context.yaml` of the OGC postprocessor), and its examples. `catalogue.jq` states the triples.

use indexmap::IndexSet;
use oxiri::IriRef;
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Term, Triple};
use oxrdfio::{JsonLdProfileSet, RdfFormat, RdfSerializer};
use serde::Deserialize;
use serde_json::{Value, json};

use super::examples::Prefixes;
use super::language::Language;
use super::library::shown;
use super::sandbox::jq;
use super::turtle;
use super::view::BlockView;
use crate::json::indented;

const PROGRAM: &str = include_str!("catalogue.jq");
const MARKDOWN: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("https://www.w3.org/ns/iana/media-types/text/markdown");

/// The triples of `catalogue.jq`, and their prefixes.
#[derive(Deserialize)]
struct Catalogue {
    prefixes: Prefixes,
    triples: Vec<(String, String, CatalogueObject)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum CatalogueObject {
    Node(String),
    Term(String),
    Text(String),
    Markdown(String),
    Date(String),
    Boolean(bool),
}

/// Writes a register and its [blocks](block) as Turtle and as JSON-LD. `scheme` is its IRI.
pub fn write(register: &Value, scheme: Option<&str>, blocks: &[Value]) -> Result<[String; 2], String> {
    let input = json!({ "register": register, "scheme": scheme.unwrap_or("./"), "blocks": blocks });
    let catalogue: Catalogue =
        serde_json::from_str(&jq(PROGRAM, &input.to_string())?).map_err(|error| error.to_string())?;
    let triples: IndexSet<_> = catalogue.triples.iter().filter_map(|triple| catalogue.triple(triple)).collect();
    let triples = Vec::from_iter(triples);
    let jsonld = catalogue.jsonld(&triples).ok_or("the catalogue cannot be written as JSON-LD")?;
    Ok([turtle::write(&triples, &catalogue.prefixes), indented(&jsonld) + "\n"])
}

impl Catalogue {
    /// Returns a triple; `None` if a name in it is not an IRI.
    fn triple(&self, (subject, property, object): &(String, String, CatalogueObject)) -> Option<Triple> {
        let object: Term = match object {
            CatalogueObject::Node(name) => node(name)?.into(),
            CatalogueObject::Term(name) => self.term(name)?.into(),
            CatalogueObject::Text(text) => Literal::new_simple_literal(text).into(),
            CatalogueObject::Markdown(text) => Literal::new_typed_literal(text, MARKDOWN).into(),
            CatalogueObject::Date(text) => date(text).into(),
            CatalogueObject::Boolean(value) => Literal::from(*value).into(),
        };
        Some(Triple::new(node(subject)?, self.term(property)?, object))
    }

    /// Returns the IRI of a prefixed name.
    fn term(&self, name: &str) -> Option<NamedNode> {
        let (prefix, local) = name.split_once(':')?;
        NamedNode::new(format!("{}{local}", self.prefixes.get(prefix)?)).ok()
    }

    fn jsonld(&self, triples: &[Triple]) -> Option<String> {
        let serializer = RdfSerializer::from_format(RdfFormat::JsonLd { profile: JsonLdProfileSet::empty() });
        let mut prefixes = self.prefixes.iter();
        let serializer = prefixes.try_fold(serializer, |serializer, (name, iri)| serializer.with_prefix(name, iri));
        let mut writer = serializer.ok()?.for_writer(Vec::new());
        triples.iter().try_for_each(|triple| writer.serialize_triple(triple)).ok()?;
        String::from_utf8(writer.finish().ok()?).ok()
    }
}

fn node(name: &str) -> Option<NamedOrBlankNode> {
    match name.strip_prefix("_:") {
        Some(label) => Some(BlankNode::new_unchecked(label).into()),
        // Unchecked, since relative references become IRIs only when the file is read.
        None => IriRef::parse(name).is_ok().then(|| NamedNode::new_unchecked(name).into()),
    }
}

fn date(text: &str) -> Literal {
    let is_time = text.parse::<oxsdatatypes::DateTime>().is_ok();
    let is_date = text.parse::<oxsdatatypes::Date>().is_ok();
    let datatype = if is_time { xsd::DATE_TIME } else { xsd::DATE };
    if is_time || is_date { Literal::new_typed_literal(text, datatype) } else { Literal::new_simple_literal(text) }
}

/// Describes a block with its entry in the register and its examples, for [`write`].
pub fn block(view: &BlockView<'_>, entry: &Value) -> Value {
    let site = &view.block.site;
    let file = |(path, _): &(String, String)| json!({ "url": site.reference(path), "mediaType": media_type(path) });
    let mut examples = Vec::new();
    for example in &view.shown {
        let results = example.results.iter().map(|done| {
            let schema = done.schema.as_ref().and_then(|schema| schema_url(view, schema));
            json!({ "schema": schema, "files": done.files.iter().map(file).collect::<Vec<_>>() })
        });
        examples.push(json!({
            "node": site.node(&example.key()),
            "title": example.title(),
            "content": example.example.content.as_deref().map(str::trim_end),
            "results": results.collect::<Vec<_>>(),
        }));
    }
    let (key, name) = (view.block.key.replace('/', "_-"), view.block.name());
    json!({ "id": view.report.id, "key": key, "name": name, "entry": entry, "examples": examples })
}

fn media_type(path: &str) -> Option<String> {
    let extension = path.rsplit('.').next().unwrap_or_default();
    let language = Language::from_name(extension);
    (language.is_validated() && language.extension() == extension).then(|| language.media_type().to_owned())
}

/// Returns the URL of the schema that validated an example.
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
