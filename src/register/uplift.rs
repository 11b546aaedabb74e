//! Uplift: an example in JSON becomes JSON-LD by the block's context, and that becomes RDF.
//!
//! The JSON-LD names the context by its URL, for people to read and for other processors to follow. JSON-LD ignores the
//! `@base` of a context that is only named, so the base that counts for the RDF stands beside the name: whoever reads
//! the JSON-LD gets the graph that the Turtle holds. What this cannot mend is a null context of a term, which goes back to
//! the document's own base: there, JSON-LD means the URL that the document is read from.

use std::path::PathBuf;

use json_ld::syntax::{ErrorCode, Parse as _};
use json_ld::{IriBuf, NoLoader, RemoteDocument};
use oxiri::{Iri, IriRef};
use oxrdf::{GraphName, Quad, Term};
use serde_json::json;

use super::block::ANY_BASE;
use super::examples::Prefixes;
use super::lost::{self, Lost};
use super::pretty::pretty;
use crate::context::{Context, LoadError, Loader};
use crate::json::{self, Object, Value};
use crate::mapping::{Loss, Losses, document_to_rdf};

/// Makes RDF of JSON under one context.
pub struct Uplifter<'l> {
    /// Loads what contexts in the documents refer to.
    pub loader: &'l Loader,
    /// Where the documents stand, for such references.
    pub place: PathBuf,
    /// The block's context, with all that is remote in place.
    pub context: Context,
    /// Where the context is.
    pub context_path: PathBuf,
}

/// What an example says beside its document.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'s> {
    /// Prefixes that the document may use.
    pub prefixes: &'s Prefixes,
    /// Base IRI of the document, over which that of a context goes.
    pub base: Option<&'s str>,
    /// How the JSON-LD names the block's context.
    pub context: &'s str,
}

/// An uplifted document.
#[derive(Debug)]
pub struct Uplifted {
    /// The JSON-LD, in lines.
    pub document: String,
    /// Its RDF.
    pub quads: Vec<Quad>,
    /// What is not in the RDF, by place.
    pub lost: Vec<Lost>,
    /// What is not in the RDF, by number.
    pub losses: Vec<String>,
}

/// Why a document has no RDF.
#[derive(Debug, thiserror::Error)]
pub enum UpliftError {
    /// JSON-LD is made of objects, and arrays of them.
    #[error("it is no JSON object and no array, so no JSON-LD")]
    NoDocument,
    /// Nested so deep that it is not read.
    #[error("{0}")]
    NotRead(String),
    /// A context in the document.
    #[error(transparent)]
    Context(#[from] LoadError),
    /// The base is no IRI.
    #[error("{0:?} is no absolute IRI")]
    Base(String),
    /// A context below the top that is not written out.
    #[error("a context below the top of the document refers to another: write it out, or name it at the top")]
    Nested,
    /// The JSON-LD algorithms refuse it.
    #[error("JSON-LD expansion fails: {0}")]
    Expansion(String),
}

/// One of the contexts of a document.
struct Layer {
    /// As the JSON-LD shows it.
    shown: serde_json::Value,
    /// With all that is remote in place.
    inlined: serde_json::Value,
}

impl Layer {
    fn plain(value: serde_json::Value) -> Self {
        Self { shown: value.clone(), inlined: value }
    }
}

impl Uplifter<'_> {
    /// Whether JSON-LD allows the block's context; the error is its word for what is wrong.
    pub fn check_context(&self) -> Result<(), String> {
        let context = [Layer::plain(self.context.value().clone())];
        // A relative base is for those examples that have a base.
        match expand(&Value::Object(Object::from_members(Vec::new())), &context, Some(ANY_BASE)) {
            Err(UpliftError::Expansion(message)) => Err(message),
            _ => Ok(()),
        }
    }

    /// Uplifts a JSON document under the block's context.
    ///
    /// The prefixes come first and the document's own context last, so that each may refine what was before.
    pub fn uplift(&self, value: &Value<'_>, setting: Setting<'_>) -> Result<Uplifted, UpliftError> {
        let mut layers = prefix_layer(setting.prefixes);
        let block = Layer { shown: json!(setting.context), inlined: self.context.value().clone() };
        let base = base_after(setting.base, &block.inlined)?;
        layers.push(block);
        let own = self.own_layers(value, setting)?;
        self.convert(value, layers, base, own, setting.base)
    }

    /// Converts a document that is JSON-LD already.
    pub fn convert_jsonld(&self, value: &Value<'_>, setting: Setting<'_>) -> Result<Uplifted, UpliftError> {
        let layers = prefix_layer(setting.prefixes);
        let own = self.own_layers(value, setting)?;
        self.convert(value, layers, Base::of(setting.base), own, setting.base)
    }

    fn convert(
        &self,
        value: &Value<'_>,
        mut layers: Vec<Layer>,
        base: Base,
        own: Vec<Layer>,
        document_base: Option<&str>,
    ) -> Result<Uplifted, UpliftError> {
        if !matches!(value, Value::Object(_) | Value::Array(_)) {
            return Err(UpliftError::NoDocument);
        }
        let position = layers.len();
        layers.extend(base.layer());
        layers.extend(own);
        let (quads, losses) = expand(value, &layers, document_base)?;
        // Without a base, relative references are no IRIs; a processor that reads a file would make some of them.
        if matches!(base, Base::Unknown) && losses.count(Loss::NoIri) > 0 {
            layers.insert(position, Layer::plain(json!({ "@base": null })));
        }
        let inlined = list(layers.iter().map(|layer| layer.inlined.clone()).collect()).to_string();
        let lost = lost::lost(value, &inlined, document_base).map_err(UpliftError::Expansion)?;
        let shown = match layers.is_empty() {
            true => None,
            false => Some(list(layers.into_iter().map(|layer| layer.shown).collect())),
        };
        let text = compose(value, shown.as_ref());
        let document = json::parse(text.as_bytes()).map_err(|error| UpliftError::NotRead(error.to_string()))?;
        let losses = describe(&losses, &quads);
        Ok(Uplifted { document: pretty(&document), quads, lost, losses })
    }

    /// The contexts that the document has of itself.
    fn own_layers(&self, value: &Value<'_>, setting: Setting<'_>) -> Result<Vec<Layer>, UpliftError> {
        let Setting { base, context: reference, .. } = setting;
        let Value::Object(object) = value else { return Ok(Vec::new()) };
        let Some(context) = object.get("@context") else { return Ok(Vec::new()) };
        let context: serde_json::Value =
            serde_json::from_str(&pretty(context)).map_err(|error| UpliftError::NotRead(error.to_string()))?;
        let items = match context {
            serde_json::Value::Array(items) => items,
            one => vec![one],
        };
        let mut layers = Vec::with_capacity(items.len());
        for item in items {
            let inlined = self.loader.load_value(&self.place, item.clone())?.value().clone();
            // A path leads elsewhere from the folder of the results.
            let path = item.as_str().filter(|item| !item.contains("://")).map(|item| self.place.with_file_name(item));
            let shown = match path.map(|path| path == self.context_path) {
                None => item,
                Some(true) => json!(reference),
                Some(false) => inlined.clone(),
            };
            // A null goes back to the document's own base, which is another where the JSON-LD is published.
            let resets = list_of(&inlined).iter().any(serde_json::Value::is_null);
            layers.push(Layer { shown, inlined });
            if resets {
                layers.push(Layer::plain(json!({ "@base": base })));
            }
        }
        Ok(layers)
    }
}

/// What relative references are resolved against.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Base {
    Unknown,
    /// A context says that there is none.
    None,
    Iri(String),
}

impl Base {
    fn of(base: Option<&str>) -> Self {
        base.map_or(Self::Unknown, |base| Self::Iri(base.to_owned()))
    }

    fn layer(&self) -> Option<Layer> {
        match self {
            Self::Unknown => None,
            Self::None => Some(Layer::plain(json!({ "@base": null }))),
            Self::Iri(iri) => Some(Layer::plain(json!({ "@base": iri }))),
        }
    }
}

/// The base that counts after a context: [Context Processing], step 5.7.
///
/// [Context Processing]: https://www.w3.org/TR/json-ld11-api/#context-processing-algorithm
fn base_after(document: Option<&str>, context: &serde_json::Value) -> Result<Base, UpliftError> {
    let mut base = Base::of(document);
    for definition in list_of(context) {
        match definition.get("@base") {
            // A null context goes back to the document's own.
            None if definition.is_null() => base = Base::of(document),
            None => {}
            Some(serde_json::Value::String(reference)) => {
                let bad = || UpliftError::Base(reference.clone());
                let parsed = IriRef::parse(reference.as_str()).map_err(|_| bad())?;
                let iri = match (&base, parsed.is_absolute()) {
                    (_, true) => reference.clone(),
                    (Base::Iri(base), false) => {
                        let base = Iri::parse(base.as_str()).map_err(|_| bad())?;
                        base.resolve(&parsed).map_err(|_| bad())?.into_inner()
                    }
                    (Base::Unknown | Base::None, false) => return Err(bad()),
                };
                base = Base::Iri(iri);
            }
            Some(_) => base = Base::None,
        }
    }
    Ok(base)
}

fn list_of(context: &serde_json::Value) -> &[serde_json::Value] {
    match context {
        serde_json::Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    }
}

/// Contexts as one: alone, or in an array without arrays.
fn list(contexts: Vec<serde_json::Value>) -> serde_json::Value {
    let mut flat = Vec::with_capacity(contexts.len());
    for context in contexts {
        match context {
            serde_json::Value::Array(items) => flat.extend(items),
            one => flat.push(one),
        }
    }
    match flat.len() {
        1 => flat.remove(0),
        _ => serde_json::Value::Array(flat),
    }
}

fn prefix_layer(prefixes: &Prefixes) -> Vec<Layer> {
    if prefixes.is_empty() { Vec::new() } else { vec![Layer::plain(json!(prefixes))] }
}

/// The JSON text of a document with a context in front of its own members; an array goes under `@graph`.
fn compose(value: &Value<'_>, context: Option<&serde_json::Value>) -> String {
    let mut out = String::from("{");
    if let Some(context) = context {
        out.push_str(&format!("\"@context\":{context}"));
    }
    let mut member = |name: &str, value: &str| {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(name);
        out.push(':');
        out.push_str(value);
    };
    match value {
        Value::Object(object) => {
            for (name, value) in object.members.iter().filter(|(name, _)| name.as_str() != Some("@context")) {
                let mut key = String::new();
                json::write_string(name, &mut key);
                member(&key, &pretty(value));
            }
        }
        other => member("\"@graph\"", &pretty(other)),
    }
    out.push('}');
    out
}

fn expand(value: &Value<'_>, layers: &[Layer], base: Option<&str>) -> Result<(Vec<Quad>, Losses), UpliftError> {
    let context = list(layers.iter().map(|layer| layer.inlined.clone()).collect());
    let text = compose(value, Some(&context));
    let (parsed, _) =
        json_ld::syntax::Value::parse_str(&text).map_err(|error| UpliftError::NotRead(error.to_string()))?;
    let iri = |base: &str| IriBuf::new(base.to_owned()).map_err(|_| UpliftError::Base(base.to_owned()));
    let base = base.map(iri).transpose()?;
    let document = RemoteDocument::new(base.clone(), None, parsed);
    // In the order of names, so that every run writes the same.
    let options = json_ld::Options { base, ordered: true, ..json_ld::Options::default() };
    document_to_rdf(&document, options, &NoLoader).map_err(|error| match error.code() {
        ErrorCode::LoadingDocumentFailed | ErrorCode::LoadingRemoteContextFailed => UpliftError::Nested,
        _ => UpliftError::Expansion(error.to_string()),
    })
}

/// Losses that have no place.
fn describe(losses: &Losses, quads: &[Quad]) -> Vec<String> {
    let mut described: Vec<_> = losses
        .iter()
        .filter(|(loss, _)| *loss != Loss::NumberOutOfRange)
        .map(|(loss, count)| match loss {
            Loss::NoIri => format!("{count} of the names and references are no IRIs"),
            loss => {
                let (one, more, what) = loss.describe();
                format!("{count} {} {what}", if count == 1 { one } else { more })
            }
        })
        .collect();
    let named = quads.iter().filter(|quad| quad.graph_name != GraphName::DefaultGraph).count();
    if named > 0 {
        described.push(format!("{named} triples of named graphs, which Turtle does not have"));
    }
    for quad in quads {
        if let Term::Literal(literal) = &quad.object
            && is_ill_typed(literal.value(), literal.datatype())
        {
            described.push(format!("{literal} is no value of its datatype"));
        }
    }
    described.dedup();
    described
}

/// Whether a literal is outside of the lexical space of its datatype, for those that JSON-LD gives to numbers.
fn is_ill_typed(lexical: &str, datatype: oxrdf::NamedNodeRef<'_>) -> bool {
    use oxrdf::vocab::xsd;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = lexical.strip_prefix(['+', '-']).unwrap_or(lexical);
    if datatype == xsd::INTEGER {
        unsigned.is_empty() || !digits(unsigned)
    } else if datatype == xsd::DECIMAL {
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction)
    } else if datatype == xsd::BOOLEAN {
        !matches!(lexical, "true" | "false" | "0" | "1")
    } else if datatype == xsd::DATE_TIME {
        lexical.parse::<oxsdatatypes::DateTime>().is_err()
    } else if datatype == xsd::DATE {
        lexical.parse::<oxsdatatypes::Date>().is_err()
    } else if datatype == xsd::DOUBLE || datatype == xsd::FLOAT {
        lexical.parse::<oxsdatatypes::Double>().is_err()
    } else {
        false
    }
}
