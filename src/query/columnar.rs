//! Columns as the dataset of Oxigraph's evaluator.

use std::sync::Arc;

use oxrdf::{BlankNode, Term};
use oxsdatatypes::Decimal;
use spareval::{ExpressionTerm, InternalQuad, QueryableDataset};

use super::cancel::{Cancel, Cause};
use super::{functions, items};
use crate::sink::columns::{Columns, Matches, TermId};

/// A term in a row.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum RowTerm {
    /// A term that triples may contain.
    Known(TermId),
    /// A term that is in no triple, computed by the query.
    Other(Arc<Term>),
    /// The node for one of the items of a JSON literal: see [`items`].
    Item(Arc<Vec<RowTerm>>, u32),
}

/// Columns to query. All their triples are in the default graph.
pub(super) struct Columnar {
    pub columns: Arc<Columns>,
    pub cancel: Cancel,
}

impl Columnar {
    /// Returns the virtual triples of item nodes: the nodes of a literal, or the value of a node.
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
            (Some(item @ RowTerm::Item(values, at)), items::VALUE_OF, _) => {
                let value = values.get(*at as usize).filter(|value| object.is_none_or(|wanted| wanted == *value));
                value.map(|value| quad(item.clone(), value.clone())).into_iter().collect()
            }
            (None, property @ (items::ELEMENT_OF | items::MEMBER_OF), Some(json)) => {
                let term = self.term(json.clone());
                let values = functions::items(&term, property == items::MEMBER_OF).unwrap_or_default();
                let values = Arc::new(values.into_iter().map(|value| self.row_term(value)).collect::<Vec<_>>());
                let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
                (0..count).map(|at| quad(RowTerm::Item(values.clone(), at), json.clone())).collect()
            }
            _ => Vec::new(),
        }
    }

    fn row_term(&self, term: Term) -> RowTerm {
        self.columns.find(&term).map_or_else(|| RowTerm::Other(Arc::new(term)), RowTerm::Known)
    }

    fn term(&self, term: RowTerm) -> Term {
        match term {
            RowTerm::Known(id) => self.columns.term(id),
            RowTerm::Other(term) => Arc::unwrap_or_clone(term),
            // A variable in the query's text never has this value.
            RowTerm::Item(_, at) => BlankNode::new_unchecked(format!("item{at}")).into(),
        }
    }

    /// Fails if the memory limit was exceeded: the rows gathered so far then compare as equal, so that they are not
    /// sorted.
    fn check(&self) -> Result<(), Cause> {
        match self.cancel.cause() {
            Some(cause @ Cause::OutOfMemory) => Err(cause),
            _ => Ok(()),
        }
    }
}

impl QueryableDataset<'static> for Columnar {
    type InternalTerm = RowTerm;
    type Error = Cause;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&RowTerm>,
        predicate: Option<&RowTerm>,
        object: Option<&RowTerm>,
        graph_name: Option<Option<&RowTerm>>,
    ) -> impl Iterator<Item = Result<InternalQuad<RowTerm>, Cause>> + use<> {
        let known = |term: Option<&RowTerm>| match term {
            None => Some(None),
            Some(RowTerm::Known(id)) => Some(Some(*id)),
            Some(RowTerm::Other(_) | RowTerm::Item(..)) => None,
        };
        let items = match predicate {
            Some(RowTerm::Other(property)) => self.items(subject, property, object),
            _ => Vec::new(),
        };
        // Once cancelled, each pattern returns a single error, not one per triple.
        let ended = self.cancel.cause();
        let items = ended.map(Err).into_iter().chain(items.into_iter().map(Ok));
        let columns = self.columns.clone();
        let matches = match (known(subject), known(predicate), known(object), graph_name) {
            (Some(subject), Some(predicate), Some(object), Some(None)) if ended.is_none() => {
                Matches::new(columns, subject, predicate, object)
            }
            _ => Matches::nothing(columns),
        };
        let matches = matches.map(|(subject, predicate, object)| {
            let [subject, predicate, object] = [subject, predicate, object].map(RowTerm::Known);
            Ok(InternalQuad { subject, predicate, object, graph_name: None })
        });
        matches.chain(items)
    }

    fn internalize_term(&self, term: Term) -> Result<RowTerm, Cause> {
        Ok(self.row_term(term))
    }

    fn externalize_term(&self, term: RowTerm) -> Result<Term, Cause> {
        self.check()?;
        Ok(self.term(term))
    }

    fn externalize_expression_term(&self, term: RowTerm) -> Result<ExpressionTerm, Cause> {
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
