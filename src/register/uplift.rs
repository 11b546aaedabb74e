//! Uplift: an example in JSON becomes JSON-LD by the block's context, and that becomes RDF.
//!
//! The JSON-LD names the context by its URL, for people to read and for other processors to follow. JSON-LD ignores the
//! `@base` of a context that is only named, so the base that counts for the RDF stands beside the name: whoever reads
//! the JSON-LD gets the graph that the Turtle holds. What this cannot mend is a null context of a term, which goes back to
//! the document's own base: there, JSON-LD means the URL that the document is read from.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

use json_ld::syntax::ErrorCode;
use json_ld::{IriBuf, NoLoader, RemoteDocument};
use oxrdf::{NamedNode, NamedOrBlankNode, Quad, Term, Triple};
use serde_json::json;

use super::error::BlockError;
use super::examples::Prefixes;
use super::library::Library;
use super::lost::{self, Lost, Why, own_members};
use super::prefixes::OtherPrefixes;
use super::references::resolve;
use super::turtle::ANY_BASE;
use crate::context::{Context, LoadError, definitions, joined};
use crate::json::{self, Object, Text, Value, pretty};
use crate::mapping::{Loss, Losses, document_to_rdf};

/// Makes RDF of JSON under one context.
pub struct Uplifter {
    /// Loads what contexts in the documents refer to.
    library: Rc<Library>,
    /// Where the documents stand, for such references.
    place: PathBuf,
    /// The block's context, with all that is remote in place.
    pub context: Context,
    /// How the JSON-LD names the context.
    reference: String,
}

/// An uplifted document.
#[derive(Debug)]
pub struct Uplifted {
    /// The JSON-LD, in lines.
    pub document: String,
    /// Its RDF, the default graph of it.
    pub triples: Vec<Triple>,
    /// The places that are not in the RDF.
    pub lost: Vec<Lost>,
    /// Descriptions of the rest that is not in the RDF.
    pub losses: Vec<String>,
}

/// Why a document has no RDF.
#[derive(Debug, thiserror::Error)]
pub enum UpliftError {
    /// It is not JSON-LD, or is nested too deep, or its base is none.
    #[error("{0}")]
    Document(String),
    /// A context in the document.
    #[error(transparent)]
    Context(#[from] LoadError),
    /// What a term for `@nest` holds is not an object.
    #[error("JSON-LD expansion fails: a term for `@nest` holds something else than objects{0}")]
    Nest(String),
    /// The JSON-LD algorithms refuse it.
    #[error("JSON-LD expansion fails: {0}")]
    Expansion(String),
}

type Expanded = (Vec<Quad>, Losses, Vec<String>);

/// One of the contexts of a document.
struct ContextLayer {
    /// As the JSON-LD shows it.
    shown: serde_json::Value,
    /// With all that is remote in place.
    inlined: serde_json::Value,
}

impl ContextLayer {
    fn plain(value: serde_json::Value) -> Self {
        Self { shown: value.clone(), inlined: value }
    }

    fn base(base: serde_json::Value) -> Self {
        Self::plain(json!({ "@base": base }))
    }
}

impl Uplifter {
    /// Uplifts what has a context of its own, and refers to things from a file of examples.
    pub fn new(place: PathBuf, library: Rc<Library>) -> Self {
        Self { library, place, context: Context::empty(), reference: String::new() }
    }

    /// Uplifts under a context in which nothing is remote, and which JSON-LD names by the reference. Fails where JSON-LD does
    /// not allow it.
    pub fn set_context(&mut self, context: serde_json::Value, reference: String) -> Result<(), BlockError> {
        let context = self.library.loader.load_value(&self.place, context)?;
        // Whatever is uplifted. A relative base is for those examples that have a base.
        let nothing = Value::Object(Object::from_members(Vec::new()));
        if let Err(UpliftError::Expansion(message)) = expand(&nothing, &context.value().to_string(), Some(ANY_BASE)) {
            let term =
                lost::faulty_term(context.value()).map_or_else(String::new, |term| format!(", of the term {term:?}"));
            let message = format!("JSON-LD does not allow this context: {message}{term}");
            return Err(BlockError::unusable("context.jsonld", message));
        }
        (self.context, self.reference) = (context, reference);
        Ok(())
    }

    /// Whether the block has a context.
    pub fn has_context(&self) -> bool {
        self.context.value().as_object().is_none_or(|entries| !entries.is_empty())
    }

    /// Uplifts a JSON document under the block's context.
    ///
    /// The prefixes come first and the document's own context last, so that each may refine what was before.
    pub fn uplift(&self, value: &Value<'_>, prefixes: &Prefixes, base: Option<&str>) -> Result<Uplifted, UpliftError> {
        let mut layers = prefix_layer(prefixes);
        if self.has_context() {
            layers.push(ContextLayer { shown: json!(self.reference), inlined: self.context.value().clone() });
        }
        self.convert(value, layers, base_after(base, self.context.value())?, base)
    }

    /// Converts a document that is JSON-LD already.
    pub fn convert_jsonld(
        &self,
        value: &Value<'_>,
        prefixes: &Prefixes,
        base: Option<&str>,
    ) -> Result<Uplifted, UpliftError> {
        self.convert(value, prefix_layer(prefixes), base.map(|base| json!(base)), base)
    }

    /// `base` counts after the layers: an IRI, or null; none where it is not known.
    fn convert(
        &self,
        value: &Value<'_>,
        mut layers: Vec<ContextLayer>,
        base: Option<serde_json::Value>,
        document_base: Option<&str>,
    ) -> Result<Uplifted, UpliftError> {
        let position = layers.len();
        layers.extend(base.clone().map(ContextLayer::base));
        layers.extend(self.own_layers(value, document_base)?);
        if !matches!(value, Value::Object(_) | Value::Array(_)) {
            return Err(not_read("it is no JSON object and no array, so no JSON-LD"));
        }
        let context = |layers: &[ContextLayer]| joined(layers.iter().map(|layer| &layer.inlined)).to_string();
        let (inlined, mut value) = (context(&layers), value.clone());
        let types = lost::scoped_types(&value, &inlined, document_base);
        if !types.is_empty() {
            change(&mut value, "", &mut |at, class| {
                if let Some(iri) = types.get(at) {
                    *class = Value::String(Text::Unicode(iri.clone().into()));
                }
                true
            });
        }
        let mut nulls = Vec::new();
        let (quads, losses, undeclared) = match expand(&value, &inlined, document_base) {
            Err(UpliftError::Nest(_)) => {
                // Nulls under terms for `@nest` stand for nothing, but JSON-LD does not allow them. GeoJSON has them.
                let faults = lost::faults(&value, &inlined, document_base, ErrorCode::InvalidNestValue);
                let faults = HashSet::<String>::from_iter(faults);
                change(&mut value, "", &mut |at, value| {
                    let is_fault = matches!(value, Value::Null) && faults.contains(at);
                    nulls.extend(is_fault.then(|| Lost { pointer: at.to_owned(), why: Why::Null }));
                    !is_fault
                });
                expand(&value, &inlined, document_base)?
            }
            Err(UpliftError::Expansion(message)) => return Err(UpliftError::Expansion(in_context(message, &layers))),
            expanded => expanded?,
        };
        let value = &value;
        // Without a base, relative references are not IRIs; a processor that reads a file would make some of them.
        if base.is_none() && losses.count(Loss::NoIri) > 0 {
            layers.insert(position, ContextLayer::base(serde_json::Value::Null));
        }
        let mut lost = lost::lost(value, &inlined, document_base).map_err(UpliftError::Expansion)?;
        lost.extend(nulls);
        let shown = (!layers.is_empty()).then(|| joined(layers.iter().map(|layer| &layer.shown)).to_string());
        let document = compose(value, shown.as_deref())?;
        let losses = describe(&losses, &undeclared, &quads);
        let triples = quads.into_iter().filter(|quad| quad.graph_name.is_default_graph()).map(Triple::from).collect();
        Ok(Uplifted { document, triples, lost, losses })
    }

    /// The contexts that the document has of itself.
    fn own_layers(&self, value: &Value<'_>, base: Option<&str>) -> Result<Vec<ContextLayer>, UpliftError> {
        let Value::Object(object) = value else { return Ok(Vec::new()) };
        let Some(context) = object.get("@context") else { return Ok(Vec::new()) };
        let context: serde_json::Value = serde_json::from_str(&pretty(context)).map_err(not_read)?;
        let mut layers = Vec::new();
        for item in definitions(&context).iter().cloned() {
            let inlined = self.library.loader.load_value(&self.place, item.clone())?.value().clone();
            // A path leads elsewhere from the folder of the results.
            let path = item.as_str().filter(|item| !item.contains("://")).map(|item| self.place.with_file_name(item));
            let shown = match path.map(|path| path == self.place.with_file_name("context.jsonld")) {
                None => item,
                Some(true) => json!(self.reference),
                Some(false) => inlined.clone(),
            };
            // A null goes back to the document's own base, which is another where the JSON-LD is published.
            let resets = definitions(&inlined).iter().any(serde_json::Value::is_null);
            layers.push(ContextLayer { shown, inlined });
            if resets {
                layers.push(ContextLayer::base(json!(base)));
            }
        }
        Ok(layers)
    }
}

/// The base that counts after a context: [Context Processing], step 5.7. Null where a context says that there is none.
///
/// [Context Processing]: https://www.w3.org/TR/json-ld11-api/#context-processing-algorithm
fn base_after(document: Option<&str>, context: &serde_json::Value) -> Result<Option<serde_json::Value>, UpliftError> {
    let document = document.map(|base| json!(base));
    let mut base = document.clone();
    for definition in definitions(context) {
        match definition.get("@base") {
            // A null context goes back to the document's own.
            None if definition.is_null() => base = document.clone(),
            None => {}
            Some(serde_json::Value::String(reference)) => {
                let known = base.as_ref().and_then(serde_json::Value::as_str);
                let resolved = resolve(known, reference).ok_or_else(|| no_base(reference))?;
                base = Some(json!(resolved));
            }
            Some(_) => base = Some(serde_json::Value::Null),
        }
    }
    Ok(base)
}

/// The message of a context that JSON-LD does not allow, with the term and the context that it is about.
fn in_context(message: String, layers: &[ContextLayer]) -> String {
    let of = |layer: &ContextLayer| Some((lost::faulty_term(&layer.inlined)?, layer.shown.as_str().map(str::to_owned)));
    match layers.iter().find_map(of) {
        Some((term, Some(named))) => format!("{message}, of the term {term:?} of `{named}`"),
        Some((term, None)) => format!("{message}, of the term {term:?} of the document's own context"),
        None => message,
    }
}

fn not_read(error: impl ToString) -> UpliftError {
    UpliftError::Document(error.to_string())
}

fn no_base(base: &str) -> UpliftError {
    not_read(format!("{base:?} is not an absolute IRI"))
}

fn prefix_layer(prefixes: &Prefixes) -> Vec<ContextLayer> {
    if prefixes.is_empty() { Vec::new() } else { vec![ContextLayer::plain(json!(prefixes))] }
}

/// The JSON text of a document with a context in front of its own members; an array goes under `@graph`.
fn compose(value: &Value<'_>, context: Option<&str>) -> Result<String, UpliftError> {
    let member = |name, value| (Text::Unicode(Cow::Borrowed(name)), value);
    let context = context.map(|context| json::parse(context.as_bytes())).transpose().map_err(not_read)?;
    let mut members: Vec<_> = context.map(|context| member("@context", context)).into_iter().collect();
    match value {
        Value::Object(object) => members.extend(own_members(object)),
        other => members.push(member("@graph", other.clone())),
    }
    Ok(pretty(&Value::Object(Object::from_members(members))))
}

/// The quads of a document under a context, what is lost, and the prefixes that nothing declares.
fn expand(value: &Value<'_>, context: &str, base: Option<&str>) -> Result<Expanded, UpliftError> {
    let text = compose(value, Some(context))?;
    let (parsed, prefixes) = OtherPrefixes::parse(&text, false).map_err(not_read)?;
    let iri = |base: &str| IriBuf::new(base.to_owned()).map_err(|_| no_base(base));
    let base_iri = base.map(iri).transpose()?;
    let document = RemoteDocument::new(base_iri.clone(), None, parsed);
    // In the order of names, so that every run writes the same.
    let options = json_ld::Options { base: base_iri, ordered: true, ..json_ld::Options::default() };
    let (mut quads, losses) = document_to_rdf(&document, options, &NoLoader).map_err(|error| {
        let faults = lost::faults(value, context, base, error.code());
        let at = faults.first().map_or_else(String::new, |at| format!(", at {at}"));
        match error.code() {
            ErrorCode::LoadingDocumentFailed | ErrorCode::LoadingRemoteContextFailed => not_read(
                "a context below the top of the document refers to another: write it out, or name it at the top",
            ),
            ErrorCode::InvalidNestValue => UpliftError::Nest(at),
            _ => UpliftError::Expansion(format!("{error}{at}")),
        }
    })?;
    let base = base_after(base, &serde_json::from_str(context).unwrap_or_default()).ok().flatten();
    let undeclared = prefixes.restore(&mut quads, base.as_ref().and_then(serde_json::Value::as_str));
    let undeclared = undeclared.into_iter().map(str::to_owned).collect();
    Ok((quads, losses, undeclared))
}

/// Changes the values below a value, by JSON Pointer; those go of which `keep` says so.
fn change(value: &mut Value<'_>, at: &str, keep: &mut dyn FnMut(&str, &mut Value<'_>) -> bool) {
    match value {
        Value::Object(object) => {
            let mut members = std::mem::replace(object, Object::from_members(Vec::new())).members;
            members.retain_mut(|(name, value)| {
                let at = lost::below(at, name);
                change(value, &at, keep);
                keep(&at, value)
            });
            *object = Object::from_members(members);
        }
        Value::Array(array) => {
            for (index, item) in array.items.iter_mut().enumerate() {
                let at = format!("{at}/{index}");
                change(item, &at, keep);
                keep(&at, item);
            }
        }
        _ => {}
    }
}

/// Losses that have no place.
fn describe(losses: &Losses, odd: &[String], quads: &[Quad]) -> Vec<String> {
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
    let below = "is declared nowhere, so names with it are relative to the base";
    described.extend(odd.iter().map(|prefix| format!("the prefix {prefix} {below}")));
    let named = quads.iter().filter(|quad| !quad.graph_name.is_default_graph()).count();
    if named > 0 {
        described.push(format!("{named} triples of named graphs, which Turtle does not have"));
    }
    let mut odd = BTreeMap::new();
    let mut note = |what: String| *odd.entry(what).or_insert(0_u64) += 1;
    for quad in quads {
        if let Term::Literal(literal) = &quad.object
            && is_ill_typed(literal.value(), literal.datatype())
        {
            note(format!("{literal} is no value of its datatype"));
        }
        let subject = if let NamedOrBlankNode::NamedNode(node) = &quad.subject { Some(node) } else { None };
        let object = if let Term::NamedNode(node) = &quad.object { Some(node) } else { None };
        for prefix in subject.into_iter().chain(object).chain([&quad.predicate]).filter_map(undeclared) {
            note(format!("the prefix {prefix} is declared nowhere, so names with it became IRIs as they are"));
        }
    }
    described
        .extend(odd.into_iter().map(|(what, count)| if count > 1 { format!("{what} ({count} times)") } else { what }));
    described
}

/// What looks like a prefix in an IRI that begins with no scheme that is in use.
fn undeclared(node: &NamedNode) -> Option<&str> {
    const SCHEMES: &str =
        "about ark bblocks blob cid data did doi geo info mailto mid news ni orcid sip sips tag tel urn uuid xmpp";
    let (scheme, rest) = node.as_str().split_once(':')?;
    let is_known = rest.starts_with("//") || SCHEMES.split(' ').any(|known| known.eq_ignore_ascii_case(scheme));
    (!is_known).then_some(scheme)
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
