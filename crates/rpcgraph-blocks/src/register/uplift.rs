//! Uplift: the block's context turns an example in JSON into JSON-LD, which is converted to RDF.
//!
//! The JSON-LD names the context by its URL, for people and for other processors. JSON-LD ignores the `@base` of a
//! context that is named by URL, so the base for the RDF stands beside the name: a processor that reads the JSON-LD
//! gets the graph in the Turtle. A term with a null context is an exception, since it resets the base to the document's
//! own base, which JSON-LD defines as the URL from which the document is read.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use json_ld::syntax::ErrorCode;
use json_ld::{IriBuf, NoLoader, RemoteDocument};
use oxrdf::vocab::xsd;
use oxrdf::{NamedNode, NamedOrBlankNode, Quad, Term, Triple};
use serde_json::json;

use super::error::{BlockError, with_causes};
use super::examples::Prefixes;
use super::library::Library;
use super::lost::{self, LostWalk, MissingValue, change, own_members};
use super::prefixes::OtherPrefixes;
use super::references::resolve;
use super::turtle::ANY_BASE;
use crate::context::{Context, definitions, joined};
use crate::json::{self, Object, Text, Value, pretty};
use crate::mapping::{Loss, Losses, document_to_rdf};

/// Makes RDF from JSON, with one context.
pub struct Uplifter<'l> {
    /// Loads the contexts that documents refer to.
    library: &'l Library,
    /// The path of the file with the documents, against which such references are resolved.
    place: PathBuf,
    /// The block's context, with remote contexts inlined.
    pub context: Context,
    /// The reference to the context in the JSON-LD.
    reference: String,
}

/// An uplifted document.
#[derive(Debug)]
pub struct Uplifted {
    /// The JSON-LD, pretty-printed.
    pub document: String,
    /// Its RDF: the triples of the default graph.
    pub triples: Vec<Triple>,
    /// The places in the document that are not in the RDF.
    pub lost: Vec<MissingValue>,
    /// Descriptions of other losses.
    pub losses: Vec<String>,
}

type ExpansionResult = (Vec<Quad>, Losses, Vec<String>);

/// One of the contexts of a document: as the JSON-LD shows it, and with remote contexts inlined.
type ContextLayer = (serde_json::Value, serde_json::Value);

fn plain(context: serde_json::Value) -> ContextLayer {
    (context.clone(), context)
}

impl<'l> Uplifter<'l> {
    /// Creates an uplifter for documents that have their own contexts. Relative references start at the file `place`.
    pub fn new(place: PathBuf, library: &'l Library) -> Self {
        Self { library, place, context: Context::empty(), reference: String::new() }
    }

    /// Sets the block's context, which must not contain remote references, and the reference by which JSON-LD names it.
    /// Fails if JSON-LD does not allow the context.
    pub fn set_context(&mut self, context: serde_json::Value, reference: String) -> Result<(), BlockError> {
        self.context = self.allowed(context)?;
        self.reference = reference;
        Ok(())
    }

    /// Loads a context. Fails if JSON-LD does not allow it.
    pub fn allowed(&self, context: serde_json::Value) -> Result<Context, BlockError> {
        let context = self.library.loader.load_value(&self.place, context)?;
        // An empty document suffices for the check. It has a base, since a relative `@base` is allowed for examples
        // with a base.
        let nothing = Value::Object(Object::from_members(Vec::new()));
        if let Err(message) = expand(&nothing, &context.value().to_string(), Some(ANY_BASE), &[]) {
            let term =
                lost::faulty_term(context.value()).map_or_else(String::new, |term| format!(", of the term {term:?}"));
            let message = format!("JSON-LD does not allow this context: {message}{term}");
            return Err(BlockError::unusable("context.jsonld", message));
        }
        Ok(context)
    }

    /// True if the block has a context.
    pub fn has_context(&self) -> bool {
        self.context.value().as_object().is_none_or(|entries| !entries.is_empty())
    }

    /// Converts a JSON document to RDF, with the block's context unless it is JSON-LD already.
    ///
    /// The prefixes come first and the document's own context last, so that each context may refine those before it.
    pub fn convert(
        &self,
        value: &Value<'_>,
        prefixes: &Prefixes,
        document_base: Option<&str>,
        is_jsonld: bool,
    ) -> Result<Uplifted, String> {
        let mut layers = Vec::from_iter((!prefixes.is_empty()).then(|| plain(json!(prefixes))));
        if self.has_context() && !is_jsonld {
            layers.push((json!(self.reference), self.context.value().clone()));
        }
        let nothing = serde_json::Value::Array(Vec::new());
        // The base after these contexts: an IRI, or null; `None` if it is unknown.
        let base = base_after(document_base, if is_jsonld { &nothing } else { self.context.value() })?;
        let position = layers.len();
        layers.extend(base.iter().map(|base| plain(json!({ "@base": base }))));
        layers.extend(self.own_layers(value, document_base)?);
        if !matches!(value, Value::Object(_) | Value::Array(_)) {
            return Err("it is not a JSON object or array, so it is not JSON-LD".to_owned());
        }
        let context = |layers: &[ContextLayer]| joined(layers.iter().map(|(_, inlined)| inlined)).to_string();
        let (inlined, mut value) = (context(&layers), value.clone());
        let mut walked = lost::walk(&value, &inlined, document_base);
        let mut nulls = Vec::new();
        if let Ok(LostWalk { types, faults, .. }) = &walked {
            let nests = faults.iter().filter(|(code, _)| *code == ErrorCode::InvalidNestValue);
            let nests: HashSet<_> = nests.map(|(_, at)| at.as_str()).collect();
            if !types.is_empty() || !nests.is_empty() {
                change(&mut value, "", &mut |at, value| {
                    if let Some(iri) = types.get(at) {
                        *value = Value::String(Text::Unicode(iri.clone().into()));
                    }
                    // JSON-LD does not allow nulls under terms for `@nest`, but GeoJSON contains them. They are removed as
                    // losses.
                    let is_fault = matches!(value, Value::Null) && nests.contains(at);
                    nulls.extend(is_fault.then(|| MissingValue { pointer: at.to_owned(), why: lost::NULL }));
                    !is_fault
                });
                walked = lost::walk(&value, &inlined, document_base);
            }
        }
        let faults = walked.as_ref().map_or(&[][..], |walk| &walk.faults);
        let fails = |message| format!("JSON-LD expansion fails: {}", in_context(message, &layers));
        let contexts = walked.as_ref().ok().map(|walk| &walk.contexts).filter(|contexts| !contexts.is_empty());
        let scoped = contexts.map(|contexts| with_contexts(value.clone(), contexts));
        let expanded = expand(scoped.as_ref().unwrap_or(&value), &inlined, document_base, faults);
        let (quads, losses, undeclared) = expanded.map_err(fails)?;
        let value = &value;
        // Without a base, relative references are not IRIs. A null base keeps processors from resolving them against a
        // file's URL.
        if base.is_none() && losses.count(Loss::NoIri) > 0 {
            layers.insert(position, plain(json!({ "@base": null })));
        }
        let mut lost = walked?.lost;
        lost.extend(nulls);
        let shown = (!layers.is_empty()).then(|| joined(layers.iter().map(|(shown, _)| shown)).to_string());
        let document = compose(value, shown.as_deref())?;
        let losses = describe(&losses, &undeclared, &quads, base.is_some());
        let triples = quads.into_iter().filter(|quad| quad.graph_name.is_default_graph()).map(Triple::from).collect();
        Ok(Uplifted { document, triples, lost, losses })
    }

    /// Returns the document's own contexts.
    fn own_layers(&self, value: &Value<'_>, base: Option<&str>) -> Result<Vec<ContextLayer>, String> {
        let Value::Object(object) = value else { return Ok(Vec::new()) };
        let Some(context) = object.get("@context") else { return Ok(Vec::new()) };
        let context: serde_json::Value = serde_json::from_str(&pretty(context)).map_err(|error| error.to_string())?;
        let mut layers = Vec::new();
        for item in definitions(&context).iter().cloned() {
            let inlined =
                self.library.loader.load_value(&self.place, item.clone()).map_err(|error| with_causes(&error))?;
            let inlined = inlined.value().clone();
            // A path would lead elsewhere from the folder of the results.
            let path = item.as_str().filter(|item| !item.contains("://")).map(|item| self.place.with_file_name(item));
            let shown = match path.map(|path| path == self.place.with_file_name("context.jsonld")) {
                None => item,
                Some(true) => json!(self.reference),
                Some(false) => inlined.clone(),
            };
            // A null context resets the base to the document's own, which differs where the JSON-LD is published.
            let resets = definitions(&inlined).iter().any(serde_json::Value::is_null);
            layers.push((shown, inlined));
            if resets {
                layers.push(plain(json!({ "@base": base })));
            }
        }
        Ok(layers)
    }
}

/// Returns the base after a context, by [Context Processing], step 5.7. Null if a context removes the base.
///
/// [Context Processing]: https://www.w3.org/TR/json-ld11-api/#context-processing-algorithm
fn base_after(document: Option<&str>, context: &serde_json::Value) -> Result<Option<serde_json::Value>, String> {
    let document = document.map(|base| json!(base));
    let mut base = document.clone();
    for definition in definitions(context) {
        base = match definition.get("@base") {
            // A null context resets the base to the document's own.
            None if definition.is_null() => document.clone(),
            None => base,
            Some(serde_json::Value::String(reference)) => {
                let known = base.as_ref().and_then(serde_json::Value::as_str);
                Some(json!(resolve(known, reference).ok_or_else(|| no_base(reference))?))
            }
            Some(_) => Some(serde_json::Value::Null),
        };
    }
    Ok(base)
}

/// Adds the faulty term and its context to the message about a context that JSON-LD does not allow.
fn in_context(message: String, layers: &[ContextLayer]) -> String {
    let of = |(shown, inlined): &ContextLayer| Some((lost::faulty_term(inlined)?, shown.as_str().map(str::to_owned)));
    match layers.iter().find_map(of) {
        Some((term, Some(named))) => format!("{message}, of the term {term:?} of `{named}`"),
        Some((term, None)) => format!("{message}, of the term {term:?} of the document's own context"),
        None => message,
    }
}

fn no_base(base: &str) -> String {
    format!("{base:?} is not an absolute IRI")
}

/// Puts contexts into nodes, by JSON Pointer, in place of the nodes' own contexts.
fn with_contexts<'a>(mut value: Value<'a>, contexts: &'a BTreeMap<String, String>) -> Value<'a> {
    change(&mut value, "", &mut |at, value| {
        if let (Some(text), Value::Object(object)) = (contexts.get(at), value)
            && let Ok(context) = json::parse(text.as_bytes())
        {
            let context = (Text::Unicode(Cow::Borrowed("@context")), context);
            *object = Object::from_members(std::iter::once(context).chain(own_members(object)).collect());
        }
        true
    });
    value
}

/// Writes a document as JSON text, with a context in front of its own members; an array goes under `@graph`.
fn compose(value: &Value<'_>, context: Option<&str>) -> Result<String, String> {
    let member = |name, value| (Text::Unicode(Cow::Borrowed(name)), value);
    let context =
        context.map(|context| json::parse(context.as_bytes())).transpose().map_err(|error| error.to_string())?;
    let mut members: Vec<_> = context.map(|context| member("@context", context)).into_iter().collect();
    match value {
        Value::Object(object) => members.extend(own_members(object)),
        other => members.push(member("@graph", other.clone())),
    }
    Ok(pretty(&Value::Object(Object::from_members(members))))
}

/// Returns the quads of a document under a context, the losses, and the undeclared prefixes. `faults` are the members that
/// JSON-LD does not allow.
fn expand(
    value: &Value<'_>,
    context: &str,
    base: Option<&str>,
    faults: &[(ErrorCode, String)],
) -> Result<ExpansionResult, String> {
    let text = compose(value, Some(context))?;
    let (parsed, prefixes) = OtherPrefixes::parse(&text, false)?;
    let iri = |base: &str| IriBuf::new(base.to_owned()).map_err(|_| no_base(base));
    let base_iri = base.map(iri).transpose()?;
    let document = RemoteDocument::new(base_iri.clone(), None, parsed);
    // Sorted by name, so that every run writes the same output.
    let options = json_ld::Options { base: base_iri, ordered: true, ..json_ld::Options::default() };
    let (mut quads, losses) = document_to_rdf(&document, options, &NoLoader).map_err(|error| {
        let at = faults.iter().find(|(code, _)| *code == error.code());
        let at = at.map_or_else(String::new, |(_, at)| format!(", at {at}"));
        match error.code() {
            ErrorCode::LoadingDocumentFailed | ErrorCode::LoadingRemoteContextFailed => {
                "a context below the top of the document refers to another: write it out, or name it at the top"
                    .to_owned()
            }
            ErrorCode::InvalidNestValue => format!("a term for `@nest` holds something else than objects{at}"),
            _ => format!("{error}{at}"),
        }
    })?;
    let base = base_after(base, &serde_json::from_str(context).unwrap_or_default()).ok().flatten();
    let undeclared = prefixes.restore(&mut quads, base.as_ref().and_then(serde_json::Value::as_str));
    let undeclared = undeclared.into_iter().map(str::to_owned).collect();
    Ok((quads, losses, undeclared))
}

/// Describes the losses that do not have a place in the document.
fn describe(losses: &Losses, odd: &[String], quads: &[Quad], has_base: bool) -> Vec<String> {
    let advice = if has_base { "" } else { "; --base-url or `base-uri` gives relative ones a base" };
    let mut described: Vec<_> = losses
        .iter()
        .filter(|(loss, _)| *loss != Loss::NumberOutOfRange)
        .map(|(loss, count)| match loss {
            Loss::NoIri if count == 1 => format!("1 name or reference is not an IRI{advice}"),
            Loss::NoIri => format!("{count} names or references are not IRIs{advice}"),
            loss => loss.counted(count),
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
            note(format!("{literal} is not a value of its datatype"));
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

/// Returns the scheme of an IRI if it is not a scheme in use, so that it is probably an undeclared prefix.
fn undeclared(node: &NamedNode) -> Option<&str> {
    const SCHEMES: &str =
        "about ark bblocks blob cid data did doi geo info mailto mid news ni orcid sip sips tag tel urn uuid xmpp";
    let (scheme, rest) = node.as_str().split_once(':')?;
    let is_known = rest.starts_with("//") || SCHEMES.split(' ').any(|known| known.eq_ignore_ascii_case(scheme));
    (!is_known).then_some(scheme)
}

/// True if a literal is outside the lexical space of its datatype. Checks numeric and boolean datatypes, dates and
/// times.
fn is_ill_typed(lexical: &str, datatype: oxrdf::NamedNodeRef<'_>) -> bool {
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = lexical.strip_prefix(['+', '-']).unwrap_or(lexical);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    match datatype {
        xsd::INTEGER => unsigned.is_empty() || !are_digits(unsigned),
        xsd::DECIMAL => (whole.is_empty() && fraction.is_empty()) || !are_digits(whole) || !are_digits(fraction),
        xsd::BOOLEAN => !matches!(lexical, "true" | "false" | "0" | "1"),
        xsd::DATE_TIME => lexical.parse::<oxsdatatypes::DateTime>().is_err(),
        xsd::DATE => lexical.parse::<oxsdatatypes::Date>().is_err(),
        xsd::DOUBLE | xsd::FLOAT => lexical.parse::<oxsdatatypes::Double>().is_err(),
        _ => false,
    }
}
