//! Columns as a dataset of Oxigraph's evaluator.

use std::cell::RefCell;
use std::io;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oxrdf::{BlankNode, Term};
use oxsdatatypes::Decimal;
use spareval::{ExpressionTerm, InternalQuad, QueryableDataset};

use super::cancel::{Cancel, Cause};
use super::times::date_time;
use super::{functions, items};
use crate::session::triples::ObjectRef;
use crate::sink::columns::{ColumnLookUps, ColumnMatches, Columns, TermId, TextStore};

/// A term in a row: its number. Its complement is stored, which is never 0, so that a row has one word for each variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RowTerm(NonZeroU64);

impl RowTerm {
    fn new(id: TermId) -> Option<Self> {
        NonZeroU64::new(!id.to_bits()).map(Self)
    }

    pub fn id(self) -> TermId {
        TermId::from_bits(!self.0.get())
    }
}

/// The terms of a query: terms of the columns, and terms that the query computes, each stored once.
pub(super) struct QueryTerms {
    pub columns: Arc<Columns>,
    computed: Mutex<TextStore>,
}

impl QueryTerms {
    pub fn new(columns: Arc<Columns>) -> Self {
        Self { columns, computed: Mutex::default() }
    }

    fn computed(&self) -> MutexGuard<'_, TextStore> {
        self.computed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn id(&self, term: &Term) -> Option<TermId> {
        self.columns.find(term).or_else(|| {
            let object = ObjectRef::new(term.as_ref())?;
            self.computed().add_object(object).map(TermId::computed)
        })
    }

    pub fn term(&self, id: TermId) -> Term {
        match id.as_computed() {
            Some(number) => self.computed().term(number),
            None => self.columns.term(id),
        }
    }
}

/// The numbers of the terms of results: what the evaluator gets as a term of a result, if its rows are sorted later.
pub(super) fn number_of(term: &Term) -> TermId {
    let number = if let Term::BlankNode(node) = term { node.as_ref().unique_id() } else { None };
    number.and_then(|number| u64::try_from(number).ok()).map_or(TermId::UNBOUND, TermId::from_bits)
}

/// Columns to query. All their triples are in the default graph.
pub(super) struct Columnar {
    pub terms: Arc<QueryTerms>,
    pub cancel: Cancel,
    /// True if results have the numbers of terms.
    pub numbers: bool,
    /// The places of the last look-ups.
    pub look_ups: RefCell<ColumnLookUps>,
}

impl Columnar {
    pub fn new(terms: &Arc<QueryTerms>, cancel: &Cancel, numbers: bool) -> Self {
        Self { terms: terms.clone(), cancel: cancel.clone(), numbers, look_ups: RefCell::default() }
    }

    /// Returns virtual triples: from the items of a JSON literal to the literal, or from an item to itself as its value.
    fn items(
        &self,
        subject: Option<RowTerm>,
        property: RowTerm,
        object: Option<RowTerm>,
    ) -> Vec<InternalQuad<RowTerm>> {
        let quad = |subject, object| InternalQuad { subject, predicate: property, object, graph_name: None };
        // Only a computed term names such a property.
        let Term::NamedNode(name) = self.terms.term(property.id()) else { return Vec::new() };
        match (subject, name.as_ref(), object) {
            (Some(item), items::VALUE_OF, _) if object.is_none_or(|wanted| wanted == item) => vec![quad(item, item)],
            (None, property @ (items::ELEMENT_OF | items::MEMBER_OF), Some(json)) => {
                let term = self.terms.term(json.id());
                let values = functions::items(&term, property == items::MEMBER_OF).unwrap_or_default();
                values.iter().filter_map(|value| Some(quad(self.row_term(value)?, json))).collect()
            }
            _ => Vec::new(),
        }
    }

    fn row_term(&self, term: &Term) -> Option<RowTerm> {
        self.terms.id(term).and_then(RowTerm::new)
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

/// The triples that a pattern finds. The evaluator moves it to the heap for each look-up, so it is small.
enum PatternQuads {
    /// The triples of one property: by far the most frequent pattern.
    OfProperty(RowTerm, ColumnMatches),
    OfAny(Box<dyn Iterator<Item = InternalQuad<RowTerm>>>),
    /// Virtual triples, or an error.
    Few(std::vec::IntoIter<io::Result<InternalQuad<RowTerm>>>),
}

impl Iterator for PatternQuads {
    type Item = io::Result<InternalQuad<RowTerm>>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::OfProperty(property, triples) => triples.next().and_then(|triple| quad(*property, triple)).map(Ok),
            Self::OfAny(quads) => quads.next().map(Ok),
            Self::Few(quads) => quads.next(),
        }
    }
}

fn quad(predicate: RowTerm, (subject, object): (TermId, TermId)) -> Option<InternalQuad<RowTerm>> {
    let (subject, object) = (RowTerm::new(subject)?, RowTerm::new(object)?);
    Some(InternalQuad { subject, predicate, object, graph_name: None })
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
        // Once cancelled, each pattern returns a single error, not one per triple.
        if let Some(cause) = self.cancel.cause() {
            return PatternQuads::Few(vec![Err(io::Error::other(cause))].into_iter());
        }
        let id = |term: Option<&RowTerm>| term.map(|term| term.id());
        let is_computed = |term: Option<&RowTerm>| id(term).is_some_and(|id| id.as_computed().is_some());
        if let (Some(property), true) = (predicate, is_computed(predicate)) {
            let items = self.items(subject.copied(), *property, object.copied());
            return PatternQuads::Few(items.into_iter().map(Ok).collect::<Vec<_>>().into_iter());
        }
        let columns = &self.terms.columns;
        let places = match graph_name {
            Some(None) if !is_computed(subject) && !is_computed(object) => columns.places(id(predicate)),
            _ => 0..0,
        };
        let (subject, object) = (id(subject), id(object));
        if let (Some(property), 1) = (predicate, places.len()) {
            let triples = self.look_ups.borrow_mut().matching(columns, places.start, subject, object);
            return PatternQuads::OfProperty(*property, triples);
        }
        let columns = columns.clone();
        PatternQuads::OfAny(Box::new(places.flat_map(move |place| {
            let property = columns.all().get(place).and_then(|(property, _)| RowTerm::new(*property));
            let triples = ColumnLookUps::default().matching(&columns, place, subject, object);
            triples.filter_map(move |triple| quad(property?, triple))
        })))
    }

    fn internal_named_graphs(&self) -> impl Iterator<Item = io::Result<RowTerm>> + use<> {
        std::iter::empty()
    }

    fn internalize_term(&self, term: Term) -> io::Result<RowTerm> {
        self.row_term(&term).ok_or_else(|| io::Error::other(format!("{term} is not a term of RDF 1.1")))
    }

    fn externalize_term(&self, term: RowTerm) -> io::Result<Term> {
        self.check()?;
        Ok(match self.numbers {
            true => BlankNode::new_from_unique_id(term.id().to_bits().into()).into(),
            false => self.terms.term(term.id()),
        })
    }

    fn externalize_expression_term(&self, term: RowTerm) -> io::Result<ExpressionTerm> {
        self.check()?;
        // Numbers and times are compared and summed without their text.
        let id = term.id();
        if let Some(value) = id.as_integer() {
            return Ok(ExpressionTerm::IntegerLiteral(value.into()));
        }
        let decimal = id.as_decimal().map(|(digits, behind)| Decimal::new(digits.into(), behind));
        if let Some(Ok(value)) = decimal {
            return Ok(ExpressionTerm::DecimalLiteral(value));
        }
        if let Some(value) = id.as_date_time().and_then(|(micros, has_zone)| date_time(micros, has_zone)) {
            return Ok(ExpressionTerm::DateTimeLiteral(value));
        }
        Ok(self.terms.term(id).into())
    }

    fn internalize_expression_term(&self, term: ExpressionTerm) -> io::Result<RowTerm> {
        if let ExpressionTerm::IntegerLiteral(value) = &term
            && let Some(term) = TermId::signed_integer(i64::from(*value)).and_then(RowTerm::new)
        {
            return Ok(term);
        }
        self.internalize_term(term.into())
    }
}
