//! Columns as a dataset of Oxigraph's evaluator.

use std::io;
use std::sync::Arc;

use oxrdf::Term;
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

/// Columns to query. All their triples are in the default graph.
pub(super) struct Columnar {
    pub columns: Arc<Columns>,
    pub cancel: Cancel,
}

impl Columnar {
    /// Returns virtual triples: from the items of a JSON literal to the literal, or from an item to itself as its value.
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

impl QueryableDataset<'static> for Columnar {
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
        matches.chain(ended_or_items)
    }

    fn internal_named_graphs(&self) -> impl Iterator<Item = io::Result<RowTerm>> + use<> {
        std::iter::empty()
    }

    fn internalize_term(&self, term: Term) -> io::Result<RowTerm> {
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
