//! Questions: SPARQL 1.1 over logs, RDF files and stores.
//!
//! ```text
//! query text → Query → what it needs of the data → Dataset (loaded) → Answer → results
//!              syntax   needs                       dataset            answer   results, table
//! ```
//!
//! [`Query::needs`] gives the triples that can affect the answer, and only these are loaded: a question about methods
//! and latencies never waits for payloads.
//!
//! Oxigraph's evaluator answers all queries: over columns (`columnar`), with joins in the order of the columns' counts
//! (`order`) and rows sorted here (`sort`), or over Oxigraph's store if a query distinguishes graphs. Lists of messages need
//! no evaluator (`listed`).
//!
//! ```
//! use rpcgraph_graph::convert::{Converter, Input, Options};
//! use rpcgraph_graph::mapping::{Mapper, Mapping};
//! use rpcgraph_query::query::{Answer, Cancel, Dataset, Query};
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
mod cancel;
pub mod catalogue;
mod certain;
mod chronology;
mod columnar;
mod computed;
mod dataset;
#[cfg(feature = "http")]
mod endpoint;
mod first;
mod functions;
pub mod glob;
mod graphed;
mod items;
mod join;
mod listed;
mod names;
mod needs;
mod order;
mod overlap;
mod paths;
mod percentile;
mod rdf;
pub mod results;
mod scope;
#[cfg(feature = "http")]
mod service;
mod sort;
mod sums;
mod syntax;
mod table;
mod times;
mod tokens;
mod window;

pub use oxigraph::sparql::QuerySolution;

pub use self::answer::{Answer, QueryError, ResultsError, Solutions, Triples};
pub use self::cancel::{Cancel, Cause, resident_bytes};
use std::sync::Arc;

use oxrdf::{NamedNode, NamedNodeRef, Variable};
use spargebra::algebra::{Expression, GraphPattern, OrderExpression, QueryDataset};

use self::catalogue::{CatalogueError, NamedQuery};
pub use self::dataset::{Dataset, Engine, Loading, query_store};
#[cfg(feature = "http")]
pub use self::endpoint::ask;
pub use self::functions::{FUNCTIONS, Function};
pub use self::listed::{Listed, Listing};
use self::needs::QueryFeatures;
pub use self::rdf::{RdfError, rdf_format};
#[cfg(feature = "http")]
pub use self::service::services;
pub use self::sort::sorted_by;
pub use self::syntax::{QUERY_PREFIXES, SyntaxError};
pub use self::table::{Table, TableColumns, cut, cut_middle, duration, folded, frequent_prefix, trimmed};
pub use self::times::{by_time, relative};
pub use self::window::Window;
use crate::schema::QuerySchemas;
use crate::sink::Selection;
pub use crate::store::answer::Form;
use crate::vocab::{VOCABULARIES, jrpc, prov, rpcg};

/// The classes of log content other than messages.
const UNREAD: [NamedNodeRef<'_>; 3] = [rpcg::LOG_LINE, rpcg::INVALID_MESSAGE, rpcg::MALFORMED_RECORD];

/// A parsed SPARQL 1.1 query.
#[derive(Debug, Clone)]
pub struct Query {
    text: String,
    base: Option<String>,
    algebra: spargebra::Query,
    uses: QueryFeatures,
    schemas: Arc<QuerySchemas>,
}

impl Query {
    /// Parses the text of a query. Relative IRIs resolve against `base`, which must be absolute.
    pub fn parse(text: &str, base: Option<&str>) -> Result<Self, SyntaxError> {
        Self::parse_with(text, base, |_| {})
    }

    /// Parses the constraint of a SHACL shape, whose solutions have a value of `?this` that `targets` selects.
    pub(crate) fn parse_for(text: &str, targets: &str) -> Result<Self, SyntaxError> {
        let targets = std::mem::take(algebra::pattern_mut(&mut syntax::parse(targets, None)?));
        Self::parse_with(text, None, |algebra| algebra::join_targets(algebra::pattern_mut(algebra), &targets))
    }

    fn parse_with(
        text: &str,
        base: Option<&str>,
        change: impl FnOnce(&mut spargebra::Query),
    ) -> Result<Self, SyntaxError> {
        let mut algebra = syntax::parse(text, base)?;
        let asked = algebra.clone();
        change(&mut algebra);
        syntax::ids_as_decimals(&mut algebra);
        let text = if algebra == asked { text.to_owned() } else { algebra.to_string() };
        let mut uses = QueryFeatures::from_query(&algebra);
        syntax::check_functions(&uses)?;
        if uses.items {
            syntax::rewrite_items(&mut algebra, &uses)?;
        }
        sums::rewrite(&mut algebra);
        computed::name_lengths(&mut algebra);
        if let Some((functions, properties)) = computed::computed(&algebra) {
            uses.needs.reduce(Arc::new(functions), &properties);
        }
        percentile::skip_unbound(&mut algebra);
        Ok(Self { text, base: base.map(str::to_owned), algebra, uses, schemas: Arc::default() })
    }

    /// Returns a query of the catalogue, without parameters.
    ///
    /// # Errors
    ///
    /// [`CatalogueError::UnknownQuery`].
    pub fn named(name: &str) -> Result<Self, CatalogueError> {
        Ok(Self::parse(NamedQuery::find(name)?.text, None)?)
    }

    /// The form of the answer.
    pub fn form(&self) -> Form {
        Form::from_query(&self.algebra)
    }

    /// The triples that can affect the answer.
    pub fn needs(&self) -> &Selection {
        &self.uses.needs
    }

    /// Returns the columns of the answer.
    pub fn columns(&self) -> Vec<Variable> {
        algebra::projected(algebra::pattern(&self.algebra)).to_vec()
    }

    /// Returns true if a column of the answer has this name.
    pub(crate) fn selects(&self, name: &str) -> bool {
        algebra::projected(algebra::pattern(&self.algebra)).iter().any(|column| column.as_str() == name)
    }

    /// Returns the properties without which no triple matches the query, except properties that are computed, and
    /// problems, whose absence is what a rule asks for.
    pub(crate) fn required_properties(&self) -> impl Iterator<Item = NamedNodeRef<'_>> {
        let is_stored = |property: &NamedNodeRef<'_>| jrpc::ALL.contains(property) || rpcg::ALL.contains(property);
        let required = certain::properties(algebra::pattern(&self.algebra)).into_iter().filter(is_stored);
        required.filter(|property| ![rpcg::ELEMENT, rpcg::MEMBER, rpcg::VALUE, rpcg::PROBLEM].contains(property))
    }

    /// Returns why `rpcg:conforms` did not decide a value, if that happened.
    pub(crate) fn undecided(&self) -> Option<String> {
        self.schemas.undecided()
    }

    /// The schemas of `rpcg:conforms`.
    pub(crate) fn schemas(&self) -> &QuerySchemas {
        &self.schemas
    }

    /// Sorts the rows by a column; rows without a value come last.
    ///
    /// # Errors
    ///
    /// No column has the name.
    pub fn sorted_by(&self, name: &str, descending: bool) -> Result<Self, SyntaxError> {
        let column = Variable::new(name).ok().filter(|_| self.selects(name));
        let column = column.ok_or_else(|| {
            let known: Vec<_> =
                algebra::projected(algebra::pattern(&self.algebra)).iter().map(Variable::as_str).collect();
            SyntaxError::unknown_column(name, &known)
        })?;
        let query = Self::parse_with(&self.text, self.base.as_deref(), |algebra| {
            let pattern = algebra::pattern_mut(algebra);
            let variables = algebra::projected(pattern).to_vec();
            let by = Expression::Variable(column.clone());
            let unbound = Expression::Not(Expression::Bound(column).into());
            let by = if descending { OrderExpression::Desc(by) } else { OrderExpression::Asc(by) };
            let inner = std::mem::take(pattern).into();
            let inner = GraphPattern::OrderBy { inner, expression: vec![OrderExpression::Asc(unbound), by] }.into();
            *pattern = GraphPattern::Project { inner, variables };
        })?;
        Ok(Self { schemas: Arc::clone(&self.schemas), ..query })
    }

    /// Adds the needs of another query that will run on the same data.
    #[must_use]
    pub fn with_needs_of(mut self, other: &Self) -> Self {
        self.uses.needs.add(other.needs());
        self
    }

    /// Sets the schemas of `rpcg:conforms`. Queries can share them, with their validators.
    #[must_use]
    pub fn with_schemas(mut self, schemas: &Arc<QuerySchemas>) -> Self {
        self.schemas = Arc::clone(schemas);
        self
    }

    /// Replaces the query's dataset clause: the merge of the default graphs, and the named graphs.
    #[must_use]
    pub fn with_dataset(mut self, default: Vec<NamedNode>, named: Vec<NamedNode>) -> Self {
        *algebra::dataset_mut(&mut self.algebra) = Some(QueryDataset { default, named: Some(named) });
        self
    }

    /// Returns true if the query has a dataset clause (`FROM`, `FROM NAMED`).
    pub fn has_dataset(&self) -> bool {
        self.algebra.dataset().is_some()
    }

    /// Returns true if the query has a `GRAPH` pattern.
    pub fn uses_graphs(&self) -> bool {
        self.uses.graphs
    }

    /// Returns true if the query calls other SPARQL services.
    pub fn uses_services(&self) -> bool {
        self.uses.services
    }

    /// Returns the prefixed names of the functions and properties in the query that only this program has.
    pub fn functions(&self) -> Vec<&'static str> {
        let is_called = |function: &&Function| self.uses.calls.iter().any(|(name, _)| *name == function.iri());
        let items = [("rpcg:element", rpcg::ELEMENT), ("rpcg:member", rpcg::MEMBER)].into_iter();
        let items = items.filter(|(_, property)| self.uses.items && self.names(*property)).map(|(name, _)| name);
        FUNCTIONS.iter().filter(is_called).map(|function| function.name).chain(items).collect()
    }

    /// Returns true if the query can match content other than JSON-RPC: records that are not messages, and lines of
    /// text.
    pub fn sees_unread(&self) -> bool {
        let needs = self.needs();
        let is_seen = |class: &NamedNodeRef<'_>| needs.wants(oxrdf::vocab::rdf::TYPE, Some(class.as_str()));
        UNREAD.iter().any(is_seen) || [rpcg::TEXT, rpcg::BYTES].into_iter().any(|text| needs.wants(text, None))
    }

    /// Returns true if the query names a class of such content.
    pub fn names_unread(&self) -> bool {
        UNREAD.iter().any(|class| self.names(*class))
    }

    /// Returns true if the query names optional statements about records: lines, offsets and digests.
    pub fn names_provenance(&self) -> bool {
        [rpcg::LINE, rpcg::BYTE_OFFSET, rpcg::SHA256, prov::USED].into_iter().any(|term| self.names(term))
    }

    /// Returns true if the query names the text between messages, which is optional.
    pub fn names_log_lines(&self) -> bool {
        [rpcg::LOG_LINE, rpcg::AFTER, rpcg::COPY_OF].into_iter().any(|term| self.names(term))
    }

    /// Returns true if the query contains a term.
    pub fn names(&self, term: NamedNodeRef<'_>) -> bool {
        self.uses.terms.contains(term.as_str())
    }

    /// Returns texts in the place of JSON Pointers that do not begin with a slash: they never match anything.
    pub fn no_pointers(&self) -> impl Iterator<Item = &str> {
        self.uses.no_pointers.iter().map(String::as_str)
    }

    /// Returns the variables that have no value in a HAVING clause, such as the aliases of SELECT.
    pub fn unbound_in_having(&self) -> Vec<String> {
        syntax::unbound_in_having(&self.algebra).iter().map(ToString::to_string).collect()
    }

    /// Returns the terms of the vocabularies' namespaces that no graph of a log has: most likely typing errors. The
    /// terms of the built-in context for MCP are known, too.
    pub fn unknown_terms(&self) -> Vec<String> {
        let unknown = |iri: &String| {
            let (prefix, local, terms) = VOCABULARIES
                .iter()
                .find_map(|(prefix, namespace, terms)| Some((prefix, iri.strip_prefix(namespace)?, terms)))?;
            let term = format!("{prefix}:{local}");
            let is_known =
                terms.iter().any(|term| term.as_str() == iri) || crate::context::MCP.contains(&format!("\"{term}\""));
            (!is_known).then_some(term)
        };
        self.uses.terms.iter().filter_map(unknown).collect()
    }

    /// Returns the query text for a server, with declarations of the prefixes and base that are implicit here.
    pub fn to_portable(&self) -> String {
        let base = self.base.iter().map(|base| format!("BASE <{base}>\n"));
        let prefixes = QUERY_PREFIXES.iter().map(|(prefix, namespace)| format!("PREFIX {prefix}: <{namespace}>\n"));
        base.chain(prefixes).chain([self.text.clone()]).collect()
    }
}
