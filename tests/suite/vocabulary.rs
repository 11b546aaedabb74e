//! The contexts, the schema, the ontologies and the constants of `rpcgraph::vocab` know the same terms.
//!
//! Five files name every term. Whoever adds, renames or retypes one must do so in all of them; these tests say where it
//! was forgotten. The published building block is compared where a copy of it lies beside the corpora.

mod annotated;

use crate::support::{files, own};
use oxrdf::vocab::{rdf, rdfs, xsd};
use oxrdf::{Graph, LiteralRef, NamedNode, NamedNodeRef, NamedOrBlankNodeRef, TermRef, Triple};
use oxrdfio::{RdfFormat, RdfParser};
use rpcgraph::vocab::{jrpc, lsp, mcp, rpcg};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const CONTEXT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/context/json-rpc.jsonld");
const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/context/json-rpc.schema.json");
const OUR_CONTEXT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/context/rpcgraph.jsonld");
const ONTOLOGY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/ontology/json-rpc.ttl");
const OUR_ONTOLOGY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/ontology/rpcgraph.ttl");
const LSP_ONTOLOGY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/ontology/lsp.ttl");
const ALIGNMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/ontology/alignment.ttl");

const OBJECT_PROPERTY: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://www.w3.org/2002/07/owl#ObjectProperty");
const DATATYPE_PROPERTY: NamedNodeRef<'_> =
    NamedNodeRef::new_unchecked("http://www.w3.org/2002/07/owl#DatatypeProperty");
const RDF_JSON: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON";

// Contexts and schemas as tables of terms

/// Terms by name, one that is scoped to another as `outer/inner`; each with its IRI and its coercion.
type Terms = BTreeMap<String, (String, Option<String>)>;

fn read_json(path: impl AsRef<Path>) -> Outcome<Value> {
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

fn read_context(path: impl AsRef<Path>) -> Outcome<Map<String, Value>> {
    let mut document = read_json(path)?;
    match document.get_mut("@context").map(Value::take) {
        Some(Value::Object(context)) => Ok(context),
        _ => Err("no @context object".into()),
    }
}

/// The prefixes of a context: its entries that are IRIs and no more.
fn prefixes(context: &Map<String, Value>) -> BTreeMap<&str, &str> {
    context
        .iter()
        .filter(|(name, _)| !name.starts_with('@'))
        .filter_map(|(name, definition)| Some((name.as_str(), definition.as_str()?)))
        .collect()
}

fn context_terms(context: &Map<String, Value>) -> Outcome<Terms> {
    fn collect(
        context: &Map<String, Value>,
        scope: &str,
        prefixes: &BTreeMap<&str, &str>,
        terms: &mut Terms,
    ) -> Outcome {
        let expand = |name: &str| match name.split_once(':') {
            Some((prefix, local)) => match prefixes.get(prefix) {
                Some(namespace) => format!("{namespace}{local}"),
                None => name.to_owned(),
            },
            None => name.to_owned(),
        };
        for (name, definition) in context {
            let Value::Object(definition) = definition else { continue };
            let iri = definition.get("@id").and_then(Value::as_str).ok_or_else(|| format!("{name} has no @id"))?;
            let coercion = definition.get("@type").and_then(Value::as_str).map(expand);
            terms.insert(format!("{scope}{name}"), (expand(iri), coercion));
            if let Some(Value::Object(inner)) = definition.get("@context") {
                collect(inner, &format!("{scope}{name}/"), prefixes, terms)?;
            }
        }
        Ok(())
    }
    let mut terms = Terms::new();
    collect(context, "", &prefixes(context), &mut terms)?;
    Ok(terms)
}

/// The terms of a schema's `x-jsonld-*` annotations. Terms of an annotated member's members are scoped to it.
fn schema_terms(schema: &Value) -> Outcome<Terms> {
    fn insert(name: String, schema: &Value, terms: &mut Terms) -> Outcome<bool> {
        let text = |key| schema.get(key).and_then(Value::as_str).map(str::to_owned);
        let Some(iri) = text("x-jsonld-id") else { return Ok(false) };
        let term = (iri, text("x-jsonld-type"));
        // One member is described wherever it may occur, and has to mean the same everywhere.
        match terms.get(&name) {
            Some(known) if *known != term => Err(format!("{name} is {known:?} and {term:?}").into()),
            _ => {
                terms.insert(name, term);
                Ok(true)
            }
        }
    }
    fn collect(root: &Value, schema: &Value, scope: &str, terms: &mut Terms) -> Outcome {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let pointer = reference.strip_prefix('#').ok_or_else(|| format!("{reference} is elsewhere"))?;
            let target = root.pointer(pointer).ok_or_else(|| format!("{reference} leads nowhere"))?;
            collect(root, target, scope, terms)?;
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            for part in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
                collect(root, part, scope, terms)?;
            }
        }
        if let Some(items) = schema.get("items") {
            collect(root, items, scope, terms)?;
        }
        for (name, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let name = format!("{scope}{name}");
            if insert(name.clone(), member, terms)? {
                collect(root, member, &format!("{name}/"), terms)?;
            }
        }
        for (name, term) in schema.get("x-jsonld-extra-terms").and_then(Value::as_object).into_iter().flatten() {
            insert(format!("{scope}{name}"), term, terms)?;
        }
        Ok(())
    }
    let mut terms = Terms::new();
    collect(schema, schema, "", &mut terms)?;
    Ok(terms)
}

// Ontologies as graphs

fn read_turtle(path: impl AsRef<Path>) -> Outcome<Graph> {
    let bytes = std::fs::read(path)?;
    let mut graph = Graph::new();
    for quad in RdfParser::from_format(RdfFormat::Turtle).for_slice(&bytes) {
        graph.insert(&Triple::from(quad?));
    }
    Ok(graph)
}

fn both_ontologies() -> Outcome<Graph> {
    let mut graph = read_turtle(ONTOLOGY)?;
    for path in [OUR_ONTOLOGY, LSP_ONTOLOGY] {
        graph.extend(read_turtle(path)?.iter().map(oxrdf::TripleRef::into_owned));
    }
    Ok(graph)
}

fn is_ours(iri: &str) -> bool {
    [jrpc::NAMESPACE, rpcg::NAMESPACE, lsp::NAMESPACE].iter().any(|namespace| iri.starts_with(namespace))
}

/// The `jrpc:` and `rpcg:` terms that a graph gives a type.
fn declared(graph: &Graph) -> BTreeSet<&str> {
    graph
        .triples_for_predicate(rdf::TYPE)
        .filter_map(|triple| match triple.subject {
            NamedOrBlankNodeRef::NamedNode(term) if is_ours(term.as_str()) => Some(term.as_str()),
            _ => None,
        })
        .collect()
}

fn is_a(graph: &Graph, term: NamedNodeRef<'_>, class: NamedNodeRef<'_>) -> bool {
    graph.objects_for_subject_predicate(term, rdf::TYPE).any(|object| object == class.into())
}

fn range<'a>(graph: &'a Graph, property: NamedNodeRef<'a>) -> Option<&'a str> {
    match graph.object_for_subject_predicate(property, rdfs::RANGE) {
        Some(TermRef::NamedNode(range)) => Some(range.as_str()),
        _ => None,
    }
}

/// A term as text; a blank node as all its statements, so that two graphs can be compared.
fn shape(graph: &Graph, term: TermRef<'_>) -> String {
    let TermRef::BlankNode(node) = term else { return term.to_string() };
    let said = graph.triples_for_subject(node).map(|triple| (triple.predicate, triple.object));
    shape_of(graph, said)
}

fn shape_of<'a>(graph: &Graph, said: impl Iterator<Item = (NamedNodeRef<'a>, TermRef<'a>)>) -> String {
    let said: BTreeSet<String> =
        said.map(|(predicate, object)| format!("{predicate} {}", shape(graph, object))).collect();
    format!("[ {} ]", said.into_iter().collect::<Vec<_>>().join(" ; "))
}

/// The statements of a graph about its `jrpc:` terms, except labels and comments.
fn axioms(graph: &Graph) -> BTreeSet<String> {
    graph
        .iter()
        .filter(|triple| triple.predicate != rdfs::LABEL && triple.predicate != rdfs::COMMENT)
        .filter_map(|triple| match triple.subject {
            NamedOrBlankNodeRef::NamedNode(subject) if is_ours(subject.as_str()) => {
                Some(format!("{subject} {} {}", triple.predicate, shape(graph, triple.object)))
            }
            _ => None,
        })
        .collect()
}

/// Axioms of blank nodes that a graph uses nowhere else, read as `jrpc:` axioms are.
fn unattached(graph: &Graph) -> BTreeSet<String> {
    graph
        .iter()
        .filter_map(|triple| match triple.subject {
            NamedOrBlankNodeRef::BlankNode(node) if graph.triples_for_object(node).next().is_none() => Some(node),
            _ => None,
        })
        .map(|node| shape(graph, node.into()))
        .collect()
}

/// The words of a graph: labels are too short to be anybody's.
fn comments(graph: &Graph) -> BTreeSet<&str> {
    graph
        .triples_for_predicate(rdfs::COMMENT)
        .filter_map(|triple| match triple.object {
            TermRef::Literal(literal) => Some(literal.value()),
            _ => None,
        })
        .collect()
}

/// The folder of the published building block, if there is a copy.
fn published() -> Option<PathBuf> {
    let corpora = std::env::var_os("RPCGRAPH_CORPORA")?;
    let folder = Path::new(&corpora).join("../reference/ogc-json-rpc/build/annotated/json-rpc");
    folder.is_dir().then_some(folder)
}

// The building block's context and schema

#[test]
fn schema_and_context_have_the_same_terms() -> Outcome {
    let context = read_context(CONTEXT)?;
    let schema = read_json(SCHEMA)?;
    assert_eq!(context_terms(&context)?, schema_terms(&schema)?);

    assert_eq!(context.get("@base"), schema.get("x-jsonld-base"));
    let annotated: BTreeMap<&str, &str> = schema
        .get("x-jsonld-prefixes")
        .and_then(Value::as_object)
        .ok_or("no prefixes")?
        .iter()
        .filter_map(|(prefix, namespace)| Some((prefix.as_str(), namespace.as_str()?)))
        .collect();
    assert_eq!(prefixes(&context), annotated);
    Ok(())
}

#[test]
fn context_maps_six_members_and_three_of_an_error() -> Outcome {
    let terms = context_terms(&read_context(CONTEXT)?)?;
    let members: BTreeSet<&str> =
        terms.keys().map(String::as_str).filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase())).collect();
    // stringValue and numberValue are the building block's too, but no members of a message.
    let expected = [
        "error",
        "error/code",
        "error/data",
        "error/message",
        "id",
        "jsonrpc",
        "method",
        "numberValue",
        "params",
        "result",
        "stringValue",
    ];
    assert_eq!(members, BTreeSet::from(expected));
    Ok(())
}

#[test]
fn schema_anchors_every_kind_of_message() -> Outcome {
    let schema = read_json(SCHEMA)?;
    for kind in crate::schema::ELEMENTS {
        let anchor = schema.pointer(&format!("/$defs/{kind}/$anchor"));
        assert_eq!(anchor.and_then(Value::as_str), Some(*kind));
    }
    Ok(())
}

#[test]
fn published_context_and_schema_are_covered() -> Outcome {
    let context = read_context(CONTEXT)?;
    for (keyword, published) in [
        ("@base", json!("https://override-me-for-custom-content.eg/")),
        ("@version", json!(1.1)),
        ("jrpc", json!(jrpc::NAMESPACE)),
        ("xsd", json!("http://www.w3.org/2001/XMLSchema#")),
        ("rdfs", json!("http://www.w3.org/2000/01/rdf-schema#")),
    ] {
        assert_eq!(context.get(keyword), Some(&published), "{keyword}");
    }
    assert!(context_terms(&context)?.len() > 20);

    let Some(folder) = published() else { return Ok(()) };
    // The same terms; ours spells IRIs out below `error`, where another context's prefixes could capture them.
    let ours = read_context(CONTEXT)?;
    let published = read_context(folder.join("context.jsonld"))?;
    assert_eq!(context_terms(&ours)?, context_terms(&published)?);
    for keyword in ["@base", "@version", "jrpc", "xsd", "rdfs"] {
        assert_eq!(ours.get(keyword), published.get(keyword), "{keyword}");
    }

    let theirs = schema_terms(&read_json(folder.join("schema.json"))?)?;
    assert!(theirs.len() > 20, "only {} terms were found", theirs.len());
    assert_eq!(context_terms(&ours)?, theirs);
    Ok(())
}

// Our own context

#[test]
fn our_context_has_prefixes_and_nothing_else() -> Outcome {
    let context = read_context(OUR_CONTEXT)?;
    let expected = [("prov", "http://www.w3.org/ns/prov#"), ("rpcg", rpcg::NAMESPACE)];
    assert_eq!(prefixes(&context), BTreeMap::from(expected));
    assert_eq!(context.keys().filter(|name| !name.starts_with('@')).count(), expected.len());
    Ok(())
}

// Ontologies

#[test]
fn constants_and_ontologies_have_the_same_terms() -> Outcome {
    let ontologies = [
        (jrpc::ALL, jrpc::NAMESPACE, ONTOLOGY),
        (rpcg::ALL, rpcg::NAMESPACE, OUR_ONTOLOGY),
        (lsp::ALL, lsp::NAMESPACE, LSP_ONTOLOGY),
    ];
    for (all, namespace, path) in ontologies {
        let constants: BTreeSet<&str> = all.iter().map(|term| term.as_str()).collect();
        assert_eq!(constants.len(), all.len(), "two constants of {namespace} are one term");
        let graph = read_turtle(path)?;
        let declared: BTreeSet<&str> =
            declared(&graph).into_iter().filter(|term| term.starts_with(namespace)).collect();
        assert_eq!(constants, declared, "{namespace}");
    }
    Ok(())
}

/// JSON-RPC's ontology belongs to others: its version is the version of our copy.
#[test]
fn every_ontology_has_the_version_of_the_package() -> Outcome {
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    let owl = |name: &str| NamedNode::new(format!("http://www.w3.org/2002/07/owl#{name}"));
    let mut ontologies = 0;
    for path in files(&own("ontology"), ".ttl") {
        let graph = read_turtle(&path)?;
        for ontology in graph.subjects_for_predicate_object(rdf::TYPE, &owl("Ontology")?) {
            let NamedOrBlankNodeRef::NamedNode(iri) = ontology else { return Err("an ontology without an IRI".into()) };
            let iri = iri.as_str().replace("http://json-rpc.org/ontology", "https://w3id.org/rpcgraph/json-rpc");
            let version_iri = NamedNode::new(format!("{iri}/{VERSION}"))?;
            let of_it = |name| Ok::<_, Box<dyn Error>>(graph.object_for_subject_predicate(ontology, &owl(name)?));
            assert_eq!(of_it("versionIRI")?, Some(version_iri.as_ref().into()), "{}", path.display());
            assert_eq!(
                of_it("versionInfo")?,
                Some(LiteralRef::new_simple_literal(VERSION).into()),
                "{}",
                path.display()
            );
            ontologies += 1;
        }
    }
    assert!(ontologies >= 5, "{ontologies}");
    Ok(())
}

/// Terms of MCP are declared once: in the ontology of the building block, or else by us.
#[test]
fn terms_of_mcp_are_published_or_declared() -> Outcome {
    let declared = |graph: &Graph, term: NamedNodeRef<'_>| {
        graph.triples_for_subject(term).any(|triple| triple.predicate == rdf::TYPE)
    };
    let ours = read_turtle(ALIGNMENT)?;
    for triple in
        ours.triples_for_predicate(rdf::TYPE).filter(|triple| triple.subject.to_string().contains(mcp::NAMESPACE))
    {
        assert!(
            mcp::ALL.iter().any(|term| NamedOrBlankNodeRef::from(*term) == triple.subject),
            "{triple} is never used"
        );
        for predicate in [rdfs::LABEL, rdfs::COMMENT] {
            assert!(
                ours.object_for_subject_predicate(triple.subject, predicate).is_some(),
                "{} {predicate}",
                triple.subject
            );
        }
        assert_eq!(ours.object_for_subject_predicate(triple.subject, rdfs::DOMAIN), None);
    }
    let Some(folder) = published() else { return Ok(()) };
    let theirs = read_turtle(folder.join("../../../../ogc-mcp/_sources/mcp/ontology/mcp.ttl"))?;
    // So does the context for payloads.
    let mut context: Vec<&Value> = Vec::new();
    let ours_for_payloads = Value::Object(read_context(concat!(env!("CARGO_MANIFEST_DIR"), "/context/mcp.jsonld"))?);
    let published = std::fs::read_to_string(folder.join("../../../../ogc-mcp/build/annotated/mcp/context.jsonld"))?;
    context.push(&ours_for_payloads);
    let mut terms = 0;
    while let Some(value) = context.pop() {
        context.extend(value.as_object().into_iter().flat_map(Map::values));
        if let Some(term) = value.as_str().filter(|text| text.starts_with("mcp:")) {
            let iri = term.replace("mcp:", mcp::NAMESPACE);
            let known = published.contains(&format!("\"{term}\"")) || declared(&theirs, NamedNodeRef::new(&iri)?);
            assert!(known, "{term}");
            terms += 1;
        }
    }
    assert!(terms > 80, "{terms}");
    for term in mcp::ALL {
        assert_ne!(declared(&theirs, *term), declared(&ours, *term), "{term}");
    }
    Ok(())
}

#[test]
fn every_term_has_one_label_and_one_comment() -> Outcome {
    let graph = both_ontologies()?;
    for term in jrpc::ALL.iter().chain(rpcg::ALL).chain(lsp::ALL) {
        for predicate in [rdfs::LABEL, rdfs::COMMENT] {
            let words: Vec<TermRef<'_>> = graph.objects_for_subject_predicate(*term, predicate).collect();
            let [TermRef::Literal(literal)] = words.as_slice() else {
                return Err(format!("{term} has {} values of {predicate}", words.len()).into());
            };
            assert_eq!(literal.language(), Some("en"), "{term} {predicate}");
            assert!(!literal.value().trim().is_empty() && !literal.value().contains('\n'), "{term} {predicate}");
        }
    }
    Ok(())
}

#[test]
fn ontologies_mention_no_undeclared_term() -> Outcome {
    let graph = both_ontologies()?;
    let declared = declared(&graph);
    for triple in &graph {
        let subject = match triple.subject {
            NamedOrBlankNodeRef::NamedNode(subject) => Some(subject),
            _ => None,
        };
        let object = match triple.object {
            TermRef::NamedNode(object) => Some(object),
            _ => None,
        };
        for term in [subject, Some(triple.predicate), object].into_iter().flatten() {
            assert!(!is_ours(term.as_str()) || declared.contains(term.as_str()), "{term} in: {triple}");
        }
    }
    assert_eq!(unattached(&graph), BTreeSet::new());
    Ok(())
}

#[test]
fn every_property_of_ours_has_kind_domain_and_range() -> Outcome {
    let graph = both_ontologies()?;
    let is_property = |term: NamedNodeRef<'_>| {
        term.as_str().rsplit('#').next().is_some_and(|name| name.starts_with(|c: char| c.is_lowercase()))
    };
    for property in rpcg::ALL.iter().chain(lsp::ALL).copied().filter(|term| is_property(*term)) {
        let object_property = is_a(&graph, property, OBJECT_PROPERTY);
        assert_ne!(object_property, is_a(&graph, property, DATATYPE_PROPERTY), "{property} is of both kinds or none");
        // Several domains would mean their intersection, which is never meant here.
        assert_eq!(graph.objects_for_subject_predicate(property, rdfs::DOMAIN).count(), 1, "domain of {property}");
        if [rpcg::EXTRA_MEMBERS, rpcg::REQUEST_HEADERS, rpcg::VALUE, rpcg::CLOCK_TIME].contains(&property) {
            // rdf:JSON and xsd:time are not in OWL 2's datatype map.
            assert!(!object_property && range(&graph, property).is_none(), "{property}");
            continue;
        }
        assert_eq!(graph.objects_for_subject_predicate(property, rdfs::RANGE).count(), 1, "range of {property}");

        let range = range(&graph, property).ok_or_else(|| format!("{property} has an anonymous range"))?;
        let is_datatype = range.starts_with("http://www.w3.org/2001/XMLSchema#")
            || [RDF_JSON, rdfs::LITERAL.as_str()].contains(&range);
        // Reasoners do not see terms that only queries use.
        assert!(range != xsd::TIME.as_str() && (range != RDF_JSON || property == rpcg::MEMBER), "{property}");
        assert_ne!(object_property, is_datatype, "{property} and its range {range}");

        for parent in graph.objects_for_subject_predicate(property, rdfs::SUB_PROPERTY_OF) {
            let TermRef::NamedNode(parent) = parent else { return Err(format!("parent of {property}").into()) };
            assert_eq!(object_property, is_a(&graph, parent, OBJECT_PROPERTY), "{property} under {parent}");
            assert_ne!(object_property, is_a(&graph, parent, DATATYPE_PROPERTY), "{property} under {parent}");
        }
    }
    Ok(())
}

#[test]
fn the_context_coerces_as_the_ontology_ranges() -> Outcome {
    let graph = both_ontologies()?;
    let declared = declared(&graph);
    for (name, (iri, coercion)) in context_terms(&read_context(CONTEXT)?)? {
        if !is_ours(&iri) {
            continue;
        }
        assert!(declared.contains(iri.as_str()), "{name} is {iri}, which nothing declares");
        let term = NamedNodeRef::new(&iri)?;
        let expected = if is_a(&graph, term, OBJECT_PROPERTY) {
            "@id"
        } else if is_a(&graph, term, DATATYPE_PROPERTY) {
            // The published ontology leaves the range of JSON-valued properties open.
            match range(&graph, term) {
                None | Some(RDF_JSON) => "@json",
                Some(datatype) => datatype,
            }
        } else if is_a(&graph, term, rdf::PROPERTY) {
            "@json"
        } else {
            continue;
        };
        assert_eq!(coercion.as_deref(), Some(expected), "{name}");
    }
    Ok(())
}

#[test]
fn standard_errors_have_the_codes_of_the_specification() -> Outcome {
    let graph = read_turtle(ONTOLOGY)?;
    let errors = [
        (jrpc::PARSE_ERROR, "-32700", "Parse error"),
        (jrpc::INVALID_REQUEST, "-32600", "Invalid Request"),
        (jrpc::METHOD_NOT_FOUND, "-32601", "Method not found"),
        (jrpc::INVALID_PARAMS, "-32602", "Invalid params"),
        (jrpc::INTERNAL_ERROR, "-32603", "Internal error"),
    ];
    for (error, code, message) in errors {
        assert!(is_a(&graph, error, jrpc::ERROR), "{error}");
        let code = LiteralRef::new_typed_literal(code, xsd::INTEGER);
        assert_eq!(graph.object_for_subject_predicate(error, jrpc::HAS_ERROR_CODE), Some(code.into()));
        let message = LiteralRef::new_simple_literal(message);
        assert_eq!(graph.object_for_subject_predicate(error, jrpc::HAS_ERROR_MESSAGE), Some(message.into()));
    }
    Ok(())
}

/// No published axiom is lost, and the added axioms are the mended faults that the head of the ontology lists.
#[test]
fn published_ontology_is_kept_but_for_what_was_mended() -> Outcome {
    let ours = read_turtle(ONTOLOGY)?;
    let kept = axioms(&ours);
    let (message, version, has_version) = (jrpc::MESSAGE, jrpc::VERSION, jrpc::HAS_VERSION);
    let owl = "http://www.w3.org/2002/07/owl#";
    let restriction = |and: &str| {
        let (on_property, has_value) = (format!("<{owl}onProperty> {has_version}"), format!("<{owl}hasValue> \"2.0\""));
        format!("[ {} <{owl}Restriction> ; {and}{has_value} ; {on_property} ]", rdf::TYPE)
    };
    let mut added = BTreeSet::from([
        format!("{has_version} <{owl}equivalentProperty> {version}"),
        format!("{version} <{owl}equivalentProperty> {has_version}"),
        format!("{version} {} {DATATYPE_PROPERTY}", rdf::TYPE),
        format!("{version} {} {message}", rdfs::DOMAIN),
        format!("{version} {} {}", rdfs::RANGE, xsd::STRING),
    ]);
    assert!(kept.is_superset(&added));
    assert!(kept.len() - added.len() > 70, "only {} axioms were found", kept.len());

    let Some(folder) = published() else { return Ok(()) };
    let theirs = read_turtle(folder.join("ontology.ttl"))?;
    let mended = |axiom: &String| {
        let integer = format!("^^{}", xsd::INTEGER);
        let natural = "^^<http://www.w3.org/2001/XMLSchema#nonNegativeInteger>";
        match axiom.contains("#exactCardinality>") {
            true => axiom.replace("#exactCardinality>", "#cardinality>").replace(&integer, natural),
            false => axiom.clone(),
        }
    };
    // JSON may be a node too, where a context maps it.
    let opaque = [jrpc::HAS_PARAMETERS, jrpc::HAS_RESULT, jrpc::HAS_ERROR_DATA];
    let is_lost = |axiom: &String| {
        opaque.iter().any(|term| *axiom == format!("{term} {} {DATATYPE_PROPERTY}", rdf::TYPE))
            || axiom.contains("#cardinality>") && axiom.contains(&format!("onProperty> {}", jrpc::HAS_RESULT))
    };
    added.extend(opaque.map(|term| format!("{term} {} {}", rdf::TYPE, rdf::PROPERTY)));
    let published: BTreeSet<_> = axioms(&theirs).iter().map(mended).collect();
    assert_eq!(published.iter().filter(|axiom| is_lost(axiom)).count(), 4);
    let published: BTreeSet<_> = published.into_iter().filter(|axiom| !is_lost(axiom)).collect();
    assert!(published.len() > 70, "only {} axioms were found", published.len());
    assert_eq!(published.difference(&kept).collect::<Vec<_>>(), Vec::<&String>::new(), "published and lost");
    assert_eq!(kept.difference(&published).cloned().collect::<BTreeSet<_>>(), added);

    let inverted = restriction(&format!("{} {message} ; ", rdfs::SUB_CLASS_OF));
    assert_eq!(unattached(&theirs), BTreeSet::from([inverted]));

    assert_eq!(comments(&ours).intersection(&comments(&theirs)).collect::<Vec<_>>(), Vec::<&&str>::new());
    Ok(())
}
