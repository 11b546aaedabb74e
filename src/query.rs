//! Questions: SPARQL 1.1 over logs, RDF files and stores.
//!
//! ```text
//! query text → Query → what it needs of the data → Dataset (loaded) → Answer → results
//!              syntax   needs                       dataset            answer   results, table
//! ```
//!
//! A query says which triples can make a difference to its answer ([`Query::needs`]), and only those are loaded: a
//! question about methods and latencies never waits for payloads.
//!
//! A query over columns is evaluated in batches (`batch`). What batches do not cover goes, as a whole, to Oxigraph's
//! evaluator over the same columns; a query that tells graphs apart is asked of Oxigraph's store.
//!
//! ```
//! use rpcgraph::convert::{Converter, Input, Options};
//! use rpcgraph::mapping::{Mapper, Mapping};
//! use rpcgraph::query::{Answer, Cancel, Dataset, Query};
//!
//! let query = Query::parse("SELECT ?method { ?request jrpc:hasMethod ?method }", None)?;
//! let log = br#"{"jsonrpc":"2.0","id":1,"method":"subtract","params":[42,23]}"#;
//! let input = Input {
//!     name: "session.ndjson".into(),
//!     source: "session.ndjson".into(),
//!     iri: "https://example.org/session.ndjson".into(),
//!     iri_stated: true,
//!     read: log.as_slice(),
//! };
//!
//! let dataset = Dataset::new(&query, false)?;
//! let mut loading = dataset.load(&Cancel::default())?;
//! let mut converter = Converter::new(Mapper::new(Mapping::Session, &[])?, Options::default());
//! converter.convert(input, &mut loading.sink(), &mut |_| {})?;
//! loading.commit()?;
//!
//! let Answer::Solutions(solutions) = dataset.answer(&query, &Cancel::default())? else { panic!() };
//! let rows: Vec<_> = solutions.rows.collect::<Result<_, _>>()?;
//! assert_eq!(rows[0].get("method").map(ToString::to_string).as_deref(), Some("\"subtract\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod algebra;
mod answer;
mod batch;
mod cancel;
pub mod catalogue;
mod columnar;
mod dataset;
#[cfg(feature = "http")]
mod endpoint;
mod functions;
mod items;
mod keys;
mod narrow;
mod needs;
mod numbers;
mod overlap;
mod percentile;
mod rdf;
pub mod results;
#[cfg(feature = "http")]
mod service;
mod syntax;
mod table;
mod times;
mod tokens;
mod window;

pub use self::answer::{Answer, QueryError, ResultsError, Solutions, Triples};
#[cfg(feature = "serve")]
pub(crate) use self::cancel::resident_bytes;
pub use self::cancel::{Cancel, Cause};
use oxrdf::NamedNode;
use spargebra::algebra::QueryDataset;

use self::catalogue::{CatalogueError, NamedQuery};
#[cfg(feature = "shacl")]
pub(crate) use self::dataset::no_services;
pub use self::dataset::{Dataset, Engine, Loading};
#[cfg(feature = "http")]
pub use self::endpoint::ask;
pub use self::functions::{FUNCTIONS, Function};
use self::needs::Uses;
pub use self::rdf::{RdfError, rdf_format};
#[cfg(feature = "http")]
pub use self::service::services;
pub use self::syntax::SyntaxError;
pub use self::table::Table;
pub use self::times::{by_time, relative};
pub use self::window::Window;
use crate::sink::Selection;
pub use crate::store::answer::Form;
use crate::vocab::rpcg;

/// The prefixes that a query need not declare.
pub const QUERY_PREFIXES: &[(&str, &str)] = &[
    ("jrpc", crate::vocab::jrpc::NAMESPACE),
    ("rpcg", rpcg::NAMESPACE),
    ("mcp", crate::vocab::mcp::NAMESPACE),
    ("lsp", crate::vocab::lsp::NAMESPACE),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
    ("prov", crate::vocab::prov::NAMESPACE),
    ("dcterms", "http://purl.org/dc/terms/"),
];

/// A SPARQL 1.1 query that has been understood.
#[derive(Debug, Clone)]
pub struct Query {
    text: String,
    base: Option<String>,
    algebra: spargebra::Query,
    /// As columns are asked that have only the lengths of these properties' values.
    sized: Option<(spargebra::Query, Vec<NamedNode>)>,
    uses: Uses,
}

impl Query {
    /// Understands the text of a query. Relative IRIs in it are resolved against `base`, which has to be absolute.
    pub fn parse(text: &str, base: Option<&str>) -> Result<Self, SyntaxError> {
        let mut algebra = syntax::parse(text, base)?;
        let asked = algebra.clone();
        numbers::rewrite(&mut algebra);
        let text = if algebra == asked { text.to_owned() } else { algebra.to_string() };
        let mut uses = Uses::of(&algebra);
        syntax::check_functions(&uses)?;
        if uses.items {
            syntax::rewrite_items(&mut algebra, &uses)?;
        }
        let sized = narrow::sized(&algebra).filter(|_| uses.needs.predicates().is_some());
        sized.iter().for_each(|(_, properties)| uses.needs.only_sizes(properties));
        Ok(Self { text, base: base.map(str::to_owned), algebra, sized, uses })
    }

    /// A query of the catalogue, without parameters.
    ///
    /// # Errors
    ///
    /// [`CatalogueError::UnknownQuery`].
    pub fn named(name: &str) -> Result<Self, CatalogueError> {
        Ok(Self::parse(NamedQuery::find(name)?.text, None)?)
    }

    /// The kind of its answer.
    pub fn form(&self) -> Form {
        Form::of(&self.algebra)
    }

    /// The triples that can make a difference to the answer.
    pub fn needs(&self) -> &Selection {
        &self.uses.needs
    }

    /// Needs what another query needs, too, which will be asked of the same data.
    #[must_use]
    pub fn with_needs_of(mut self, other: &Self) -> Self {
        self.uses.needs.add(other.needs());
        self
    }

    /// The query, asked of other graphs than those that it names itself: the merge of some, and some by their names.
    #[must_use]
    pub fn with_dataset(mut self, default: Vec<NamedNode>, named: Vec<NamedNode>) -> Self {
        for algebra in [Some(&mut self.algebra), self.sized.as_mut().map(|(sized, _)| sized)].into_iter().flatten() {
            *algebra::dataset_mut(algebra) =
                Some(QueryDataset { default: default.clone(), named: Some(named.clone()) });
        }
        self
    }

    /// Whether it says itself which graphs it is about (`FROM`, `FROM NAMED`).
    pub fn has_dataset(&self) -> bool {
        self.algebra.dataset().is_some()
    }

    /// Whether it asks in which graph something is.
    pub fn uses_graphs(&self) -> bool {
        self.uses.graphs
    }

    /// Whether it calls other SPARQL services.
    pub fn uses_services(&self) -> bool {
        self.uses.services
    }

    /// The functions of this program that it calls, and the properties that only it has, by their prefixed names: no
    /// other processor has them.
    pub fn functions(&self) -> Vec<&'static str> {
        let is_called = |function: &&Function| self.uses.calls.iter().any(|(name, _)| *name == function.iri());
        let items = [("rpcg:element", rpcg::ELEMENT), ("rpcg:member", rpcg::MEMBER)].into_iter();
        let items = items.filter(|(_, property)| self.uses.items && self.names(*property)).map(|(name, _)| name);
        FUNCTIONS.iter().filter(is_called).map(|function| function.name).chain(items).collect()
    }

    /// The query as a server takes it: its text, with the prefixes and the base that it need not declare here.
    pub fn to_portable(&self) -> String {
        let base = self.base.iter().map(|base| format!("BASE <{base}>\n"));
        let prefixes = QUERY_PREFIXES.iter().map(|(prefix, namespace)| format!("PREFIX {prefix}: <{namespace}>\n"));
        base.chain(prefixes).chain([self.text.clone()]).collect()
    }
}
