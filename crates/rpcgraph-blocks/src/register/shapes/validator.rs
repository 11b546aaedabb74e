//! Runs the `shacl` crate on graphs in memory, with queries that cannot reach the network.

use std::fmt;

use oxigraph::sparql::QueryResults;
use oxigraph::store::Store;
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, Graph, GraphNameRef, NamedNode, Term, TripleRef};
use prefixmap::{PrefixMap, PrefixMapError};
use rudof_iri::IriS;
use rudof_rdf::rdf_core::query::{QueryRDF, QueryResultFormat, QuerySolution, QuerySolutions, VarName};
use rudof_rdf::rdf_core::term::Object;
use rudof_rdf::rdf_core::{BuildRDF as _, Matcher, NeighsRDF, Rdf};
use rudof_rdf::rdf_impl::OxigraphInMemory;
use serde::Serialize;
use shacl::ir::IRSchema;
use shacl::rdf::ShaclParser;
use shacl::types;
use shacl::validator::engine::{Engine, NativeEngine};
use shacl::validator::processor::ShaclProcessor;
use shacl::validator::report::ValidationResult;
use shacl::validator::{RecursionSemantics, ShaclConfig, ShaclValidationMode};

use crate::query::query_store;

/// A [validation result](https://www.w3.org/TR/shacl/#results-validation-result) of a shape in a graph, as reports have it.
/// The order is the order in the report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ShapeFinding {
    /// 0 for a violation, which makes the example fail; more for what weighs less.
    #[serde(skip)]
    pub rank: u8,
    /// The severity. One of the author's own, by its name, is a violation, too.
    #[serde(rename = "resultSeverity")]
    pub severity: String,
    /// The focus node, in N-Triples syntax.
    #[serde(rename = "focusNode")]
    pub focus: String,
    /// The path from the focus node, in SPARQL syntax.
    #[serde(rename = "resultPath")]
    pub path: Option<String>,
    /// The value.
    pub value: Option<String>,
    /// IRI of the constraint component.
    #[serde(rename = "sourceConstraintComponent")]
    pub component: String,
    /// IRI of the shape, if it has one.
    #[serde(rename = "sourceShape")]
    pub shape: Option<String>,
    /// The message of the shape.
    #[serde(rename = "resultMessage")]
    pub message: String,
}

/// Compiled shapes.
pub struct ShapesValidator(IRSchema);

impl ShapesValidator {
    /// Compiles a shapes graph. The error describes its defect.
    pub fn new(shapes: &Graph) -> Result<Self, String> {
        let shapes = ShaclParser::new(in_memory(shapes)?).parse().map_err(|error| error.to_string())?;
        IRSchema::compile(&shapes).map(Self).map_err(|error| error.to_string())
    }

    /// Returns the findings in a graph, in a reproducible order. The error is the reason why the shapes cannot be used.
    pub fn validate(&self, graph: &Graph) -> Result<Vec<ShapeFinding>, String> {
        // SHACL leaves recursive shapes undefined. Here, as in other implementations, a node on a cycle of nodes
        // conforms unless a node on the cycle has a violation.
        let config = ShaclConfig::default().with_recursion_semantics(RecursionSemantics::Gfp);
        let mut data = ShapesData::new(graph)?;
        let report =
            data.validate(&self.0, &ShaclValidationMode::Native, &config).map_err(|error| error.to_string())?;
        let mut found: Vec<_> = report.results().iter().map(finding).collect();
        found.sort();
        found.dedup();
        Ok(found)
    }
}

fn in_memory(graph: &Graph) -> Result<OxigraphInMemory, String> {
    let mut copy = OxigraphInMemory::new();
    for triple in graph {
        let (subject, predicate, object) = (triple.subject, triple.predicate, triple.object);
        copy.add_triple(subject.into_owned(), predicate.into_owned(), object.into_owned())
            .map_err(|error| error.to_string())?;
    }
    Ok(copy)
}

fn finding(result: &ValidationResult) -> ShapeFinding {
    let term = |object: &Object| Term::from(object.clone()).to_string();
    // The path of one property is written without the brackets of its IRI.
    let path = result.path().map(|path| match path.pred() {
        Some(property) => format!("<{property}>"),
        None => path.to_string(),
    });
    let (rank, severity) = match result.severity() {
        _ if is_beyond(result) => (3, "Not judged, for the number is too large or too small".to_owned()),
        types::Severity::Violation => (0, "Violation".to_owned()),
        types::Severity::Generic(iri) => (0, format!("<{iri}>")),
        types::Severity::Warning => (1, "Warning".to_owned()),
        types::Severity::Info | types::Severity::Debug | types::Severity::Trace => (2, "Info".to_owned()),
    };
    ShapeFinding {
        rank,
        severity,
        focus: term(result.focus_node()),
        path,
        value: result.value().map(term),
        component: result.constraint_component().to_string(),
        // Labels of blank nodes differ on each run.
        shape: result.source().filter(|shape| matches!(shape, Object::Iri(_))).map(term),
        message: message(result),
    }
}

/// True if a finding is about a number that the crate may not compare with others: it knows decimals below 2^96 with at most
/// 28 decimal places.
fn is_beyond(result: &ValidationResult) -> bool {
    let Some(Term::Literal(literal)) = result.value().cloned().map(Term::from) else { return false };
    let number = literal.value().parse::<f64>().map_or(0.0, f64::abs);
    [xsd::INTEGER, xsd::DECIMAL, xsd::DOUBLE, xsd::FLOAT].contains(&literal.datatype())
        && (number >= 2_f64.powi(96) || (number > 0.0 && number < 1e-28))
}

/// Returns the message of a shape: in English if it has one, otherwise the last by language. The crate's own messages
/// do not have a language.
fn message(result: &ValidationResult) -> String {
    let is_english = |language: &str| language.trim_start_matches('@').starts_with("en");
    let languages = result.message().iter();
    let languages =
        languages.map(|(language, text)| (language.as_ref().map(ToString::to_string).unwrap_or_default(), text));
    let chosen = languages.max_by_key(|(language, text)| (is_english(language), language.clone(), (*text).clone()));
    chosen.map_or_else(|| "does not conform to the shape".to_owned(), |(_, text)| (*text).clone())
}

/// A graph for the `shacl` crate.
///
/// The crate writes the focus node into the text of a query, which SPARQL does not allow for blank nodes, and its
/// evaluator may reach the network. Here the focus node is bound before the query runs, as [SHACL requires], and a
/// query cannot call a server.
///
/// [SHACL requires]: https://www.w3.org/TR/shacl/#pre-binding
struct ShapesData {
    graph: OxigraphInMemory,
    store: Store,
}

impl ShapesData {
    fn new(graph: &Graph) -> Result<Self, String> {
        let store = Store::new().map_err(|error| error.to_string())?;
        let quads = graph.iter().map(|triple: TripleRef<'_>| triple.in_graph(GraphNameRef::DefaultGraph).into_owned());
        store.extend(quads).map_err(|error| error.to_string())?;
        Ok(Self { graph: in_memory(graph)?, store })
    }

    fn ask(&self, query: &str) -> Result<QueryResults<'_>, String> {
        let (query, focus) = take_focus(query);
        query_store(&self.store, &query, focus).map_err(|error| error.to_string())
    }
}

/// Removes from a query the focus node that the crate has written into it; also returns the node. Literals stay, since
/// SPARQL allows them.
fn take_focus(query: &str) -> (String, Option<Term>) {
    const BEFORE: &str = "VALUES ?this { ";
    const BEHIND: &str = " }";
    let taken = || {
        let (before, rest) = query.split_once(BEFORE)?;
        let (node, behind) = rest.split_once(BEHIND)?;
        let node = match (node.strip_prefix("_:"), node.strip_prefix('<').and_then(|node| node.strip_suffix('>'))) {
            (Some(label), _) => Term::from(BlankNode::new(label).ok()?),
            (None, Some(iri)) => NamedNode::new(iri).ok()?.into(),
            (None, None) => return None,
        };
        Some((format!("{before}{behind}"), node))
    };
    match taken() {
        Some((query, node)) => (query, Some(node)),
        None => (query.to_owned(), None),
    }
}

impl fmt::Debug for ShapesData {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ShapesData").finish_non_exhaustive()
    }
}

impl Rdf for ShapesData {
    type Subject = <OxigraphInMemory as Rdf>::Subject;
    type IRI = <OxigraphInMemory as Rdf>::IRI;
    type Term = <OxigraphInMemory as Rdf>::Term;
    type BNode = <OxigraphInMemory as Rdf>::BNode;
    type Literal = <OxigraphInMemory as Rdf>::Literal;
    type Triple = <OxigraphInMemory as Rdf>::Triple;
    type Err = String;

    fn qualify_iri(&self, iri: &Self::IRI) -> String {
        self.graph.qualify_iri(iri)
    }

    fn qualify_subject(&self, subject: &Self::Subject) -> String {
        self.graph.qualify_subject(subject)
    }

    fn qualify_term(&self, term: &Self::Term) -> String {
        self.graph.qualify_term(term)
    }

    fn prefixmap(&self) -> Option<PrefixMap> {
        None
    }

    fn resolve_prefix_local(&self, prefix: &str, local: &str) -> Result<IriS, PrefixMapError> {
        self.graph.resolve_prefix_local(prefix, local)
    }
}

impl NeighsRDF for ShapesData {
    fn triples(&self) -> Result<impl Iterator<Item = Self::Triple>, String> {
        self.graph.triples().map_err(|error| error.to_string())
    }

    fn triples_matching<S, P, O>(
        &self,
        subject: &S,
        predicate: &P,
        object: &O,
    ) -> Result<impl Iterator<Item = Self::Triple> + '_, String>
    where
        S: Matcher<Self::Subject>,
        P: Matcher<Self::IRI>,
        O: Matcher<Self::Term>,
    {
        self.graph.triples_matching(subject, predicate, object).map_err(|error| error.to_string())
    }
}

impl QueryRDF for ShapesData {
    fn query_select(&self, query: &str) -> Result<QuerySolutions<Self>, String> {
        let QueryResults::Solutions(rows) = self.ask(query)? else {
            return Err("a query of a shape is not a SELECT query".to_owned());
        };
        let names: Vec<_> = rows.variables().iter().map(|variable| VarName::new(variable.as_str())).collect();
        let solutions = rows.map(|row| {
            Ok(QuerySolution::new(names.clone(), row.map_err(|error| error.to_string())?.values().to_vec()))
        });
        Ok(QuerySolutions::new(solutions.collect::<Result<_, String>>()?, PrefixMap::new()))
    }

    fn query_construct(&self, _: &str, _: &QueryResultFormat) -> Result<String, String> {
        Err("no shape constructs a graph".to_owned())
    }

    fn query_ask(&self, query: &str) -> Result<bool, String> {
        match self.ask(query)? {
            QueryResults::Boolean(truth) => Ok(truth),
            _ => Err("a query of a shape is not an ASK query".to_owned()),
        }
    }
}

impl ShaclProcessor<Self> for ShapesData {
    fn store(&self) -> &Self {
        self
    }

    fn runner(_: &ShaclValidationMode, config: &ShaclConfig) -> Box<dyn Engine<Self>> {
        Box::new(NativeEngine::new(config.recursion_semantics()))
    }
}
