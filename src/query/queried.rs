//! The dataset of Oxigraph's evaluator: columns or a store. Both are one type, since the evaluator is compiled anew for
//! each type of dataset.

use std::io;
use std::sync::Arc;

use oxigraph::store::Store;
use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, Quad, Term};
use oxsdatatypes::Decimal;
use spareval::{ExpressionTerm, InternalQuad, QueryableDataset};

use super::cancel::{Cancel, Cause};
use super::{functions, items};
use crate::sink::columns::{Columns, TermId};

/// A term in a row.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum RowTerm {
    /// A term that triples may contain.
    Known(TermId),
    /// A term that is in no triple, computed by the query.
    Other(Arc<Term>),
}

/// The data to query: columns, whose triples are all in the default graph, or a store.
pub(super) struct QueriedData {
    /// Empty beside a store.
    columns: Arc<Columns>,
    store: Option<Store>,
    cancel: Cancel,
}

impl QueriedData {
    pub fn columns(columns: Arc<Columns>, cancel: &Cancel) -> Self {
        Self { columns, store: None, cancel: cancel.clone() }
    }

    pub fn store(store: &Store, cancel: &Cancel) -> Self {
        Self { columns: Arc::default(), store: Some(store.clone()), cancel: cancel.clone() }
    }

    /// Returns true if the data is a store.
    pub fn is_stored(&self) -> bool {
        self.store.is_some()
    }

    /// Returns the quads of the store that match a pattern; `None` if no quad can match it.
    fn stored(
        &self,
        subject: Option<&RowTerm>,
        predicate: Option<&RowTerm>,
        object: Option<&RowTerm>,
        graph_name: Option<Option<&RowTerm>>,
    ) -> Option<impl Iterator<Item = io::Result<InternalQuad<RowTerm>>> + use<>> {
        let store = self.store.as_ref()?;
        let term = |term: Option<&RowTerm>| term.map(|term| self.term(term.clone()));
        let subject = term(subject).map(NamedOrBlankNode::try_from).transpose().ok()?;
        let predicate = term(predicate).map(NamedNode::try_from).transpose().ok()?;
        let (object, graph_name) = (term(object), graph_name.map(term));
        let graph_name = match graph_name {
            Some(Some(name)) => Some(GraphName::from(NamedOrBlankNode::try_from(name).ok()?)),
            Some(None) => Some(GraphName::DefaultGraph),
            None => None,
        };
        let quads = store.quads_for_pattern(
            subject.as_ref().map(NamedOrBlankNode::as_ref),
            predicate.as_ref().map(NamedNode::as_ref),
            object.as_ref().map(Term::as_ref),
            graph_name.as_ref().map(GraphName::as_ref),
        );
        let columns = self.columns.clone();
        Some(quads.map(move |quad| {
            let Quad { subject, predicate, object, graph_name } = quad?;
            let [subject, predicate, object] =
                [subject.into(), predicate.into(), object].map(|term| row_term(&columns, term));
            let graph_name = match graph_name {
                GraphName::NamedNode(name) => Some(row_term(&columns, name.into())),
                GraphName::BlankNode(name) => Some(row_term(&columns, name.into())),
                GraphName::DefaultGraph => None,
            };
            Ok(InternalQuad { subject, predicate, object, graph_name })
        }))
    }

    /// Returns the virtual triples of items: those of a literal, or an item as its own value.
    fn items(
        &self,
        subject: Option<&RowTerm>,
        property: &Term,
        object: Option<&RowTerm>,
    ) -> Vec<InternalQuad<RowTerm>> {
        let Term::NamedNode(name) = property else { return Vec::new() };
        let quad = |subject, object| {
            let predicate = RowTerm::Other(property.clone().into());
            InternalQuad { subject, predicate, object, graph_name: None }
        };
        match (subject, name.as_ref(), object) {
            (Some(item), items::VALUE_OF, _) if object.is_none_or(|wanted| wanted == item) => {
                vec![quad(item.clone(), item.clone())]
            }
            (None, property @ (items::ELEMENT_OF | items::MEMBER_OF), Some(json)) => {
                let term = self.term(json.clone());
                let values = functions::items(&term, property == items::MEMBER_OF).unwrap_or_default();
                values.into_iter().map(|value| quad(row_term(&self.columns, value), json.clone())).collect()
            }
            _ => Vec::new(),
        }
    }

    fn term(&self, term: RowTerm) -> Term {
        match term {
            RowTerm::Known(id) => self.columns.term(id),
            RowTerm::Other(term) => Arc::unwrap_or_clone(term),
        }
    }

    /// Fails if the memory limit was exceeded: the rows gathered so far then compare as equal, so that they are not
    /// sorted.
    fn check(&self) -> io::Result<()> {
        match self.cancel.cause() {
            Some(cause @ Cause::OutOfMemory) => Err(io::Error::other(cause)),
            _ => Ok(()),
        }
    }
}

fn row_term(columns: &Columns, term: Term) -> RowTerm {
    columns.find(&term).map_or_else(|| RowTerm::Other(Arc::new(term)), RowTerm::Known)
}

impl QueryableDataset<'static> for QueriedData {
    type InternalTerm = RowTerm;
    type Error = io::Error;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&RowTerm>,
        predicate: Option<&RowTerm>,
        object: Option<&RowTerm>,
        graph_name: Option<Option<&RowTerm>>,
    ) -> impl Iterator<Item = io::Result<InternalQuad<RowTerm>>> + use<> {
        let known = |term: Option<&RowTerm>| match term {
            None => Some(None),
            Some(RowTerm::Known(id)) => Some(Some(*id)),
            Some(RowTerm::Other(_)) => None,
        };
        let items = match predicate {
            Some(RowTerm::Other(property)) => self.items(subject, property, object),
            _ => Vec::new(),
        };
        // Once cancelled, each pattern returns a single error, not one per triple.
        let ended = self.cancel.cause();
        let stored = if ended.is_none() { self.stored(subject, predicate, object, graph_name) } else { None };
        let ended_or_items =
            ended.map(|cause| Err(io::Error::other(cause))).into_iter().chain(items.into_iter().map(Ok));
        let columns = self.columns.clone();
        let (places, subject, object) = match (known(subject), known(predicate), known(object), graph_name) {
            (Some(subject), Some(predicate), Some(object), Some(None)) if ended.is_none() => {
                (columns.places(predicate), subject, object)
            }
            _ => (0..0, None, None),
        };
        let matches = places.flat_map(move |place| {
            let (predicate, column) = &columns.all()[place];
            let predicate = *predicate;
            column.matching(subject, object).into_iter().map(move |(subject, object)| {
                let [subject, predicate, object] = [subject, predicate, object].map(RowTerm::Known);
                Ok(InternalQuad { subject, predicate, object, graph_name: None })
            })
        });
        matches.chain(ended_or_items).chain(stored.into_iter().flatten())
    }

    fn internal_named_graphs(&self) -> impl Iterator<Item = io::Result<RowTerm>> + use<> {
        let columns = self.columns.clone();
        let names = self.store.iter().map(Store::named_graphs).collect::<Vec<_>>().into_iter().flatten();
        names.map(move |name| Ok(row_term(&columns, name?.into())))
    }

    fn internalize_term(&self, term: Term) -> io::Result<RowTerm> {
        // A store has each value in one spelling.
        let term = if self.is_stored() { ExpressionTerm::from(term).into() } else { term };
        Ok(row_term(&self.columns, term))
    }

    fn externalize_term(&self, term: RowTerm) -> io::Result<Term> {
        self.check()?;
        Ok(self.term(term))
    }

    fn externalize_expression_term(&self, term: RowTerm) -> io::Result<ExpressionTerm> {
        self.check()?;
        // Numbers are sorted and summed without their text.
        if let RowTerm::Known(id) = term {
            if let Some(value) = id.as_integer() {
                return Ok(ExpressionTerm::IntegerLiteral(value.into()));
            }
            let decimal = id.as_decimal().map(|(digits, behind)| Decimal::new(digits.into(), behind));
            if let Some(Ok(value)) = decimal {
                return Ok(ExpressionTerm::DecimalLiteral(value));
            }
        }
        Ok(self.externalize_term(term)?.into())
    }
}
