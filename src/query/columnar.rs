//! Columns as the dataset of Oxigraph's evaluator.

use std::convert::Infallible;
use std::sync::Arc;

use oxrdf::Term;
use spareval::{ExpressionTerm, InternalQuad, QueryableDataset};

use crate::sink::columns::{Columns, Matches, TermId};

/// A term in a row.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum RowTerm {
    /// One that triples may have.
    Known(TermId),
    /// One that none has, computed by the query.
    Other(Arc<Term>),
}

/// Columns that are asked. All their triples are in the default graph.
pub(super) struct Columnar(pub Arc<Columns>);

impl QueryableDataset<'static> for Columnar {
    type InternalTerm = RowTerm;
    type Error = Infallible;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&RowTerm>,
        predicate: Option<&RowTerm>,
        object: Option<&RowTerm>,
        graph_name: Option<Option<&RowTerm>>,
    ) -> impl Iterator<Item = Result<InternalQuad<RowTerm>, Infallible>> + use<> {
        let known = |term: Option<&RowTerm>| match term {
            None => Some(None),
            Some(RowTerm::Known(id)) => Some(Some(*id)),
            Some(RowTerm::Other(_)) => None,
        };
        let columns = self.0.clone();
        let matches = match (known(subject), known(predicate), known(object), graph_name) {
            (Some(subject), Some(predicate), Some(object), Some(None)) => {
                Matches::new(columns, subject, predicate, object)
            }
            _ => Matches::nothing(columns),
        };
        matches.map(|(subject, predicate, object)| {
            let [subject, predicate, object] = [subject, predicate, object].map(RowTerm::Known);
            Ok(InternalQuad { subject, predicate, object, graph_name: None })
        })
    }

    fn internalize_term(&self, term: Term) -> Result<RowTerm, Infallible> {
        Ok(self.0.find(&term).map_or_else(|| RowTerm::Other(Arc::new(term)), RowTerm::Known))
    }

    fn externalize_term(&self, term: RowTerm) -> Result<Term, Infallible> {
        Ok(match term {
            RowTerm::Known(id) => self.0.term(id),
            RowTerm::Other(term) => Arc::unwrap_or_clone(term),
        })
    }

    fn externalize_expression_term(&self, term: RowTerm) -> Result<ExpressionTerm, Infallible> {
        if let RowTerm::Known(id) = term
            && let Some(value) = id.as_integer()
        {
            return Ok(ExpressionTerm::IntegerLiteral(value.into()));
        }
        Ok(self.externalize_term(term)?.into())
    }
}
