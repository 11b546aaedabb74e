//! The data that a query runs on: loaded for the query, or already in a store.
//!
//! [SPARQL 1.1, 13.1](https://www.w3.org/TR/sparql11-query/#rdfDataset): a query runs on a default graph and on named
//! graphs. Without a dataset clause, the default graph is the merge of everything that was loaded; with one, the merge
//! of the graphs in `FROM`. A merge is a set, so it is made while loading: in Oxigraph's own union of graphs, a triple
//! occurs once for each graph that has it.
//!
//! If everything that was loaded is one graph, or `FROM` merges RDF files into one, it is in columns, which load many times as
//! fast as a store and keep literals as they were written. Several graphs are loaded into Oxigraph's embedded store.

use std::sync::{Arc, OnceLock};

use oxigraph::sparql::{
    DefaultServiceHandler, QueryDatasetSpecification, QueryEvaluationError, QueryResults, QuerySolutionIter,
    SparqlEvaluator,
};
use oxigraph::store::{StorageError, Store, Transaction};
use oxiri::Iri;
use oxrdf::vocab::rdf;
use oxrdf::{GraphNameRef, NamedNode, Quad, QuadRef};
use spargebra::algebra::{GraphPattern, QueryDataset};

use super::algebra::{dataset_mut, pattern};
use super::answer::{Answer, QueryError, Solutions};
use super::cancel::Cancel;
use super::columnar::{Columnar, QueryTerms};
use super::sort::{self, RowOrder};
use super::{Query, chronology, functions, order, paths};
use crate::session::triples::{ObjectRef, TripleSink as _};
use crate::sink::columns::{Collector, Columns};
use crate::sink::{QuadSink, Selection, Sink, SinkError};
use crate::vocab::rpcg;

/// The data for a query.
pub struct Dataset {
    data: DatasetStorage,
    graphs: Graphs,
    needs: Selection,
}

enum DatasetStorage {
    /// One graph, set once it is loaded.
    Columns(OnceLock<Arc<Columns>>),
    Store(Store),
}

/// The engine that a log is loaded into and that answers queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Engine {
    /// Sorted columns; Oxigraph's store if a query distinguishes graphs.
    #[default]
    Columns,
    /// Oxigraph's embedded store, in memory.
    Store,
}

/// Creates an evaluator that does not allow queries to call services, whatever features other crates enable.
fn no_services() -> SparqlEvaluator {
    SparqlEvaluator::new().with_default_service_handler(NoServices)
}

/// Evaluates a query on a store; `this` is the value of the variable `?this`. The query cannot call services.
///
/// # Errors
///
/// The text is not a query, or its evaluation failed.
pub fn query_store(
    store: &Store,
    query: &str,
    this: Option<oxrdf::Term>,
) -> Result<QueryResults<'static>, Box<dyn std::error::Error>> {
    let mut prepared = no_services().parse_query(query)?;
    if let Some(this) = this {
        prepared = prepared.substitute_variable(oxrdf::Variable::new_unchecked("this"), this);
    }
    Ok(prepared.on_store(store).execute()?)
}

struct NoServices;

/// The query calls a service without permission.
#[derive(Debug, thiserror::Error)]
#[error("the query calls <{0}> with SERVICE, which is not allowed")]
struct NotAllowed(String);

impl DefaultServiceHandler for NoServices {
    type Error = NotAllowed;

    fn handle(
        &self,
        service: &NamedNode,
        _: &GraphPattern,
        _: Option<&Iri<String>>,
    ) -> Result<QuerySolutionIter<'static>, NotAllowed> {
        Err(NotAllowed(service.as_str().to_owned()))
    }
}

/// The assignment of loaded graphs to the dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Graphs {
    /// All graphs, whatever their names.
    All {
        /// True if they are merged into the default graph.
        merged: bool,
        /// True if they are also named graphs. Unless merged, their union is the default graph: they do not share
        /// triples.
        named: bool,
    },
    /// The graphs of the dataset clause, assigned as it states.
    Clause(QueryDataset),
    /// The graphs of an existing store, each session in a graph of its own.
    Stored,
}

/// Returns the graphs that a dataset clause names.
fn named_graphs(clause: &QueryDataset) -> Vec<NamedNode> {
    clause.default.iter().chain(clause.named.iter().flatten()).cloned().collect()
}

impl Dataset {
    /// Creates an empty dataset for this query. `overlapping` is true if a triple may be in several of the graphs to
    /// load, as in RDF files; sessions of logs never share a triple.
    pub fn new(query: &Query, overlapping: bool) -> Result<Self, StorageError> {
        Self::on(query, overlapping, Engine::Columns)
    }

    /// Creates a dataset as [`new`](Self::new) does, with the given engine.
    pub fn on(query: &Query, overlapping: bool, engine: Engine) -> Result<Self, StorageError> {
        let graphs = match query.algebra.dataset() {
            Some(clause) => Graphs::Clause(clause.clone()),
            None => Graphs::All { merged: overlapping || !query.uses_graphs(), named: query.uses_graphs() },
        };
        let mut needs = query.needs().clone();
        if overlapping && (query.uses_graphs() || query.has_dataset()) {
            // Any triple makes its graph exist.
            needs.everything();
        } else if query.has_dataset() {
            // The class of each session makes its graph exist.
            needs.triples(rdf::TYPE.into_owned(), Some(rpcg::SESSION.into_owned().into()));
        }
        // The query must not distinguish graphs or call a service.
        let is_merged = match &graphs {
            Graphs::All { merged, named } => *merged && !named,
            // Of logs, the graphs that the clause does not name would be loaded in vain.
            Graphs::Clause(clause) => {
                overlapping && !query.uses_graphs() && clause.named.as_ref().is_none_or(Vec::is_empty)
            }
            Graphs::Stored => false,
        };
        let is_one_graph = engine == Engine::Columns && is_merged && !query.uses_services();
        let data =
            if is_one_graph { DatasetStorage::Columns(OnceLock::new()) } else { DatasetStorage::Store(Store::new()?) };
        Ok(Self { data, graphs, needs })
    }

    /// Creates an empty dataset for any query that does not distinguish graphs: everything is loaded into one graph.
    pub fn of_everything() -> Self {
        let graphs = Graphs::All { merged: true, named: false };
        Self { data: DatasetStorage::Columns(OnceLock::new()), graphs, needs: Selection::all() }
    }

    /// Creates a dataset from an existing store of sessions.
    pub fn stored(store: Store) -> Self {
        Self { data: DatasetStorage::Store(store), graphs: Graphs::Stored, needs: Selection::all() }
    }

    /// Orders the records of each session by their times: `rpcg:sequence` becomes the number by time. Without effect on a
    /// store, and on a session whose records are in the order of their times.
    pub fn order_by_time(&mut self) {
        if let DatasetStorage::Columns(loaded) = &mut self.data
            && let Some(columns) = loaded.get_mut().and_then(Arc::get_mut)
        {
            chronology::order_by_time(columns);
        }
    }

    /// Starts loading, which is done once, in one transaction.
    pub fn load<'d>(&'d self, cancel: &Cancel) -> Result<Loading<'d>, StorageError> {
        let missing = match &self.graphs {
            Graphs::Clause(clause) => named_graphs(clause),
            _ => Vec::new(),
        };
        let target = match &self.data {
            DatasetStorage::Columns(loaded) => {
                LoadingTarget::Columns { columns: Columns::default(), collector: None, loaded }
            }
            DatasetStorage::Store(store) => LoadingTarget::Store(store.start_transaction()?),
        };
        Ok(Loading { dataset: self, target, cancel: cancel.clone(), missing })
    }

    /// Returns the graphs of the store that form a query's default graph; `None` stands for any graph.
    fn default_graphs<'q>(&self, query: &'q Query) -> Vec<Option<GraphNameRef<'q>>> {
        match (&self.graphs, query.algebra.dataset()) {
            (Graphs::Stored, Some(clause)) => clause.default.iter().map(|graph| Some(graph.into())).collect(),
            (Graphs::Clause(_), _) => vec![Some(GraphNameRef::DefaultGraph)],
            _ => vec![None],
        }
    }

    /// Answers the query. Fails if it calls a service.
    pub fn answer<'a>(&self, query: &Query, cancel: &Cancel) -> Result<Answer<'a>, QueryError> {
        self.answer_with(query, cancel, no_services())
    }

    /// Answers the query with an evaluator that may know services.
    pub fn answer_with<'a>(
        &self,
        query: &Query,
        cancel: &Cancel,
        evaluator: SparqlEvaluator,
    ) -> Result<Answer<'a>, QueryError> {
        let failed = {
            let cancel = cancel.clone();
            move |error| match cancel.cause() {
                Some(cause) => QueryError::Ended(cause),
                None => QueryError::Evaluation(error),
            }
        };
        let evaluator = evaluator.with_cancellation_token(cancel.token());
        let results = match &self.data {
            DatasetStorage::Store(store) if !query.uses.items => {
                let mut algebra = query.algebra.clone();
                sort::rewrite(&mut algebra);
                paths::rewrite(&mut algebra);
                let mut prepared = functions::add(evaluator, &query.schemas, &Arc::default()).for_query(algebra);
                match &self.graphs {
                    Graphs::All { merged: true, .. } | Graphs::Clause(_) => {
                        *prepared.dataset_mut() = QueryDatasetSpecification::new();
                    }
                    Graphs::Stored if query.has_dataset() => {}
                    Graphs::All { .. } | Graphs::Stored => prepared.dataset_mut().set_default_graph_as_union(),
                }
                prepared.on_store(store).execute()
            }
            _ => {
                let (columns, mut algebra) = self.in_columns(query, cancel)?;
                let sorted = RowOrder::take(&mut algebra);
                sort::rewrite(&mut algebra);
                order::order(&mut algebra, &columns);
                let mut evaluator = functions::add(evaluator, &query.schemas, &columns);
                if order::is_settled(pattern(&algebra)) {
                    evaluator = evaluator.without_optimizations();
                }
                let terms = Arc::new(QueryTerms::new(columns));
                let columns = Columnar::new(&terms, cancel, sorted.is_some());
                let results = evaluator.for_query(algebra).on_queryable_dataset(columns).execute();
                match (sorted, results) {
                    (Some(order), Ok(QueryResults::Solutions(rows))) => {
                        return Ok(Answer::Solutions(order.sorted(rows, terms).map_err(failed)?));
                    }
                    (_, results) => results,
                }
            }
        };
        Ok(answer(results.map_err(failed.clone())?, failed))
    }

    /// Returns the engine that answers the query, and the order of its joins.
    ///
    /// # Errors
    ///
    /// Copying triples from a store fails.
    pub fn plan(&self, query: &Query, cancel: &Cancel) -> Result<String, QueryError> {
        if matches!(self.data, DatasetStorage::Store(_)) && !query.uses.items {
            return Ok("engine: Oxigraph's store\n".to_owned());
        }
        let (columns, mut algebra) = self.in_columns(query, cancel)?;
        let sorted = if RowOrder::take(&mut algebra).is_some() { ", rows sorted afterwards" } else { "" };
        order::order(&mut algebra, &columns);
        Ok(format!("engine: Oxigraph's evaluator over columns{sorted}\n{}", order::plan(&mut algebra)))
    }

    /// Returns the columns for a query, and the query for them.
    fn in_columns(&self, query: &Query, cancel: &Cancel) -> Result<(Arc<Columns>, spargebra::Query), QueryError> {
        let columns = match &self.data {
            DatasetStorage::Columns(loaded) => loaded.get_or_init(Arc::default).clone(),
            DatasetStorage::Store(store) => copied(store, &self.default_graphs(query), query.needs(), cancel)?.into(),
        };
        let mut algebra = query.algebra.clone();
        // Columns are already the default graph.
        *dataset_mut(&mut algebra) = None;
        Ok((columns, algebra))
    }
}

/// Copies the triples that a query needs from some graphs of a store: only columns support the items of JSON.
fn copied(
    store: &Store,
    graphs: &[Option<GraphNameRef<'_>>],
    needs: &Selection,
    cancel: &Cancel,
) -> Result<Columns, QueryError> {
    let mut columns = Columns::default();
    let mut collector = Collector::outside(&columns, needs.clone());
    let predicates = match needs.predicates() {
        Some(predicates) => predicates.map(Some).collect(),
        None => vec![None],
    };
    for predicate in predicates {
        for quad in graphs.iter().flat_map(|graph| store.quads_for_pattern(None, predicate, None, *graph)) {
            cancel.check()?;
            collector.quads(&[quad?]);
            columns.take_many(&mut collector);
        }
    }
    columns.take_all(&mut collector);
    columns.finish();
    Ok(columns)
}

/// Converts the results of an evaluator into an answer.
fn answer<'a>(
    results: QueryResults<'a>,
    failed: impl Fn(QueryEvaluationError) -> QueryError + Clone + 'a,
) -> Answer<'a> {
    match results {
        QueryResults::Solutions(rows) => Answer::Solutions(Solutions {
            variables: rows.variables().to_vec(),
            rows: Box::new(rows.map(move |row| row.map_err(failed.clone()))),
        }),
        QueryResults::Boolean(truth) => Answer::Boolean(truth),
        QueryResults::Graph(triples) => {
            Answer::Graph(Box::new(triples.map(move |triple| triple.map_err(failed.clone()))))
        }
    }
}

/// A dataset being filled. Its data is not visible before [`Loading::commit`].
///
/// Messages reach it as triples, never as text.
pub struct Loading<'d> {
    dataset: &'d Dataset,
    target: LoadingTarget<'d>,
    cancel: Cancel,
    /// The graphs of the dataset clause without triples so far.
    missing: Vec<NamedNode>,
}

/// The target of loading.
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
enum LoadingTarget<'d> {
    Columns {
        columns: Columns,
        /// Collects quads that do not come from a log.
        collector: Option<Collector>,
        loaded: &'d OnceLock<Arc<Columns>>,
    },
    /// In one transaction, the fastest way, as `benches/store.rs` shows: in memory, Oxigraph's bulk loader also inserts
    /// quad by quad, and requires owned quads; sorting saves less than it costs, as a session's triples arrive by
    /// subject.
    Store(Transaction<'d>),
}

impl<'d> Loading<'d> {
    /// Returns a sink for a converter, which creates only the needed triples.
    pub fn sink<'s>(&'s mut self) -> Sink<'s>
    where
        'd: 's,
    {
        let needs = self.dataset.needs.clone();
        match self.target {
            LoadingTarget::Store(_) => Sink::quads(self).selecting(needs),
            // Each quad's graph decides.
            LoadingTarget::Columns { .. } if matches!(self.dataset.graphs, Graphs::Clause(_)) => {
                Sink::quads(self).selecting(needs)
            }
            LoadingTarget::Columns { ref mut columns, .. } => {
                let cancel = &self.cancel;
                Sink::columns(columns, needs, || cancel.check().map_err(std::io::Error::other))
            }
        }
    }

    /// Inserts a quad, if it is needed.
    pub fn insert(&mut self, quad: QuadRef<'_>) {
        let object = ObjectRef::new(quad.object);
        if !self.dataset.needs.wants(quad.predicate, object.and_then(|object| object.iri())) {
            return;
        }
        let (merged, named) = match &self.dataset.graphs {
            Graphs::All { merged, named } => (*merged, *named),
            Graphs::Stored => (false, true),
            Graphs::Clause(clause) => {
                let GraphNameRef::NamedNode(graph) = quad.graph_name else { return };
                self.missing.retain(|missing| missing.as_ref() != graph);
                let is_graph = |name: &NamedNode| name.as_ref() == graph;
                (clause.default.iter().any(is_graph), clause.named.iter().flatten().any(is_graph))
            }
        };
        let transaction = match &mut self.target {
            LoadingTarget::Store(transaction) => transaction,
            LoadingTarget::Columns { columns, collector, .. } => {
                let Some(object) = object.filter(|_| merged) else { return };
                let collector =
                    collector.get_or_insert_with(|| Collector::outside(columns, self.dataset.needs.clone()));
                collector.subject(quad.subject.into());
                collector.triple(quad.predicate, object);
                return columns.take_many(collector);
            }
        };
        if named {
            transaction.insert(quad);
        }
        if merged {
            transaction.insert(QuadRef { graph_name: GraphNameRef::DefaultGraph, ..quad });
        }
    }

    /// The switch that cancels loading.
    pub(super) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Ends loading. Returns the graphs that the query names but that were not loaded.
    pub fn commit(self) -> Result<Vec<NamedNode>, StorageError> {
        match self.target {
            LoadingTarget::Store(transaction) => transaction.commit()?,
            LoadingTarget::Columns { mut columns, collector, loaded } => {
                collector.into_iter().for_each(|mut collector| columns.take_all(&mut collector));
                columns.finish();
                loaded
                    .set(columns.into())
                    .map_err(|_| StorageError::Other("the dataset has been loaded before".into()))?;
            }
        }
        Ok(self.missing)
    }
}

impl QuadSink for &mut Loading<'_> {
    fn quads(&mut self, quads: &[Quad]) -> Result<(), SinkError> {
        self.cancel.check().map_err(std::io::Error::other)?;
        quads.iter().for_each(|quad| self.insert(quad.as_ref()));
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}
