//! The order of rows: the outermost `ORDER BY` of a query, and its `LIMIT`.
//!
//! Every `ORDER BY` sorts by one total order over all terms. Oxigraph compares numbers by value, but a number with any
//! other literal as text. Together, this is not an order (9 < 10 < "1x" < 9), and the sort of Rust's library panics.
//! Therefore, the outermost `ORDER BY` sorts rows of numbers of terms here, and compares each term once; an inner one
//! sorts by the key of a term, which Oxigraph compares with all other keys consistently:
//!
//! | term | key |
//! |---|---|
//! | blank node, IRI | a blank node: blank nodes sort first |
//! | text, and other literals that are not numbers | an IRI |
//! | number; time and duration in seconds | a numeric literal |

use std::cmp::Ordering;
use std::collections::HashMap;
use std::mem;
use std::str::FromStr as _;
use std::sync::Arc;

use oxigraph::sparql::{QueryEvaluationError, QuerySolution, QuerySolutionIter};
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, Literal, NamedNode, NamedNodeRef, Term, Variable};
use oxsdatatypes::{DayTimeDuration, Decimal, Double};
use spargebra::Query;
use spargebra::algebra::{Expression, Function, GraphPattern, OrderExpression};

use super::algebra::{for_each_mut, pattern_mut};
use super::answer::{QueryError, Solutions};
use super::columnar::{QueryTerms, number_of};
use super::paths::empty;
use super::times::moment;
use crate::json::KeyedHashes;
use crate::sink::columns::TermId;

/// The function that computes a key. Its name contains a space, so that queries cannot call it.
pub(super) const SORT_KEY: NamedNodeRef<'static> = NamedNodeRef::new_unchecked("sort key");

/// Replaces the sort expressions of a query with keys.
pub(super) fn rewrite(query: &mut Query) {
    let mut keys = 0;
    for_each_mut(pattern_mut(query), &mut |pattern| {
        let GraphPattern::OrderBy { inner, expression } = pattern else { return };
        for OrderExpression::Asc(by) | OrderExpression::Desc(by) in expression {
            let variable = Variable::new_unchecked(format!("key {keys}"));
            keys += 1;
            let by = mem::replace(by, Expression::Variable(variable.clone()));
            let unsorted = mem::replace(&mut **inner, empty());
            let expression = Expression::FunctionCall(Function::Custom(SORT_KEY.into_owned()), vec![by]);
            **inner = GraphPattern::Extend { inner: unsorted.into(), variable, expression };
        }
    });
}

/// The outermost order of a query's rows, taken from the query: its rows are not sorted, and have the sort keys as
/// further columns.
pub(super) struct RowOrder {
    /// The number of columns that are not sort keys.
    columns: usize,
    /// The column of each key, and true if the greatest comes first.
    keys: Vec<(usize, bool)>,
    start: usize,
    length: Option<usize>,
}

impl RowOrder {
    /// Takes the order from a query, if it is outermost.
    pub fn take(query: &mut Query) -> Option<Self> {
        let Query::Select { pattern, .. } = query else { return None };
        let (start, length) = match &*pattern {
            GraphPattern::Slice { inner, start, length } if is_sorted(inner) => (*start, *length),
            pattern if is_sorted(pattern) => (0, None),
            _ => return None,
        };
        if let GraphPattern::Slice { inner, .. } = pattern {
            *pattern = mem::replace(&mut **inner, empty());
        }
        let GraphPattern::Project { inner, variables } = pattern else { return None };
        let GraphPattern::OrderBy { inner: rows, expression } = mem::replace(&mut **inner, empty()) else {
            return None;
        };
        let columns = variables.len();
        let (mut rows, mut keys) = (rows, Vec::new());
        for by in expression {
            let (expression, is_descending) = match by {
                OrderExpression::Asc(expression) => (expression, false),
                OrderExpression::Desc(expression) => (expression, true),
            };
            let variable = match expression {
                Expression::Variable(variable) => variable,
                expression => {
                    let variable = Variable::new_unchecked(format!("order {}", keys.len()));
                    rows = GraphPattern::Extend { inner: rows, variable: variable.clone(), expression }.into();
                    variable
                }
            };
            let place = variables.iter().position(|known| *known == variable).unwrap_or_else(|| {
                variables.push(variable);
                variables.len() - 1
            });
            keys.push((place, is_descending));
        }
        *inner = rows;
        Some(Self { columns, keys, start, length })
    }

    /// Sorts the rows of a query whose results have the numbers of terms.
    pub fn sorted<'a>(
        &self,
        found: QuerySolutionIter<'_>,
        terms: Arc<QueryTerms>,
    ) -> Result<Solutions<'a>, QueryEvaluationError> {
        let width = found.variables().len();
        let variables: Vec<Variable> = found.variables().iter().take(self.columns).cloned().collect();
        let wanted = self.length.map(|length| self.start.saturating_add(length));
        let mut rows: Vec<TermId> = Vec::new();
        let mut keys = SortKeys { terms: &terms, known: HashMap::default() };
        // Of many rows, those that come too late for the limit are dropped now and then.
        let enough =
            wanted.map_or(usize::MAX, |wanted| wanted.saturating_mul(2).max(1 << 14).saturating_mul(width.max(1)));
        for row in found {
            let row = row?;
            rows.extend(row.values().iter().map(|value| value.as_ref().map_or(TermId::UNBOUND, number_of)));
            if rows.len() >= enough {
                rows = self.first(rows, width, wanted, &mut keys);
            }
        }
        let rows = match width {
            0 => rows,
            _ => self.first(rows, width, wanted, &mut keys),
        };
        let shared: Arc<[Variable]> = variables.clone().into();
        let columns = self.columns;
        let count = rows.len() / width.max(1);
        let row = move |row: usize| {
            let values = rows.iter().skip(row * width).take(columns);
            let values: Vec<Option<Term>> =
                values.map(|id| (*id != TermId::UNBOUND).then(|| terms.term(*id))).collect();
            Ok(QuerySolution::from((Arc::clone(&shared), values)))
        };
        Ok(Solutions { variables, rows: Box::new((self.start.min(count)..count).map(row)) })
    }

    /// Returns the first rows in order, or all.
    fn first(&self, rows: Vec<TermId>, width: usize, wanted: Option<usize>, keys: &mut SortKeys<'_>) -> Vec<TermId> {
        let count = rows.len() / width;
        let at = |row: usize, place: usize| rows.get(row * width + place).copied().unwrap_or(TermId::UNBOUND);
        let ranks: Vec<Vec<u64>> = self
            .keys
            .iter()
            .map(|(place, is_descending)| keys.ranks((0..count).map(|row| at(row, *place)), *is_descending))
            .collect();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|one, other| {
            let compared = ranks.iter().map(|ranks| ranks.get(*one).cmp(&ranks.get(*other)));
            compared.fold(Ordering::Equal, Ordering::then)
        });
        let order = order.into_iter().take(wanted.unwrap_or(usize::MAX));
        order.flat_map(|row| (0..width).map(move |place| (row, place))).map(|(row, place)| at(row, place)).collect()
    }
}

/// Returns true if a pattern selects variables of sorted rows.
fn is_sorted(pattern: &GraphPattern) -> bool {
    let GraphPattern::Project { inner, .. } = pattern else { return false };
    matches!(**inner, GraphPattern::OrderBy { .. })
}

/// The sort keys of terms.
struct SortKeys<'t> {
    terms: &'t QueryTerms,
    known: HashMap<TermId, SortKey, KeyedHashes>,
}

impl SortKeys<'_> {
    /// Returns the rank of each term among these; 0 is unbound.
    fn ranks(&mut self, ids: impl Iterator<Item = TermId> + Clone, is_descending: bool) -> Vec<u64> {
        let integer = |id: TermId| match id.is_bound() {
            true => id.as_integer().map(|integer| integer.cast_unsigned() ^ 1 << 63),
            false => Some(0),
        };
        let integers: Option<Vec<u64>> = ids.clone().map(integer).collect();
        let mut ranks = integers.unwrap_or_else(|| self.ranked(ids));
        if is_descending {
            ranks.iter_mut().for_each(|rank| *rank = !*rank);
        }
        ranks
    }

    fn ranked(&mut self, ids: impl Iterator<Item = TermId> + Clone) -> Vec<u64> {
        for id in ids.clone() {
            self.known.entry(id).or_insert_with(|| key(self.terms, id));
        }
        let mut ranks: HashMap<TermId, u64, KeyedHashes> = HashMap::default();
        ids.clone().for_each(|id| _ = ranks.insert(id, 0));
        let mut distinct: Vec<(&SortKey, TermId)> =
            ranks.keys().filter_map(|id| Some((self.known.get(id)?, *id))).collect();
        distinct.sort_by(|(one, _), (other, _)| one.compare(other));
        let (mut rank, mut last) = (0, None);
        for (key, id) in distinct {
            rank += u64::from(last.is_some_and(|last: &SortKey| last.compare(key).is_ne()));
            last = Some(key);
            ranks.insert(id, rank);
        }
        ids.map(|id| ranks.get(&id).copied().unwrap_or_default()).collect()
    }
}

/// The sort key of a term, in the order of kinds.
#[derive(Debug)]
enum SortKey {
    Unbound,
    /// A blank node or an IRI.
    Node(String),
    Text(String),
    Number(Decimal),
    /// A number beyond the range of decimals.
    Beyond(f64),
}

fn key(terms: &QueryTerms, id: TermId) -> SortKey {
    if id == TermId::UNBOUND {
        return SortKey::Unbound;
    }
    let decimal = id.as_decimal().or_else(|| Some((id.as_date_time()?.0, 6)));
    if let Some((digits, behind)) = decimal
        && let Ok(decimal) = Decimal::new(digits.into(), behind)
    {
        return SortKey::Number(decimal);
    }
    if let Some(integer) = id.as_integer() {
        return SortKey::Number(integer.into());
    }
    key_of(&terms.term(id))
}

fn key_of(term: &Term) -> SortKey {
    match sort_key(term) {
        None => SortKey::Unbound,
        Some(Term::BlankNode(node)) => SortKey::Node(node.into_string()),
        Some(Term::NamedNode(node)) => SortKey::Text(node.into_string()),
        Some(Term::Literal(literal)) if literal.datatype() == xsd::DECIMAL => {
            Decimal::from_str(literal.value()).map_or(SortKey::Unbound, SortKey::Number)
        }
        Some(Term::Literal(literal)) => f64::from_str(literal.value()).map_or(SortKey::Unbound, SortKey::Beyond),
        #[cfg(feature = "shacl")]
        Some(Term::Triple(_)) => SortKey::Unbound,
    }
}

impl SortKey {
    fn rank(&self) -> u8 {
        match self {
            Self::Unbound => 0,
            Self::Node(_) => 1,
            Self::Text(_) => 2,
            Self::Beyond(number) if *number < 0.0 => 3,
            Self::Number(_) => 4,
            Self::Beyond(_) => 5,
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Node(one), Self::Node(other)) | (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (Self::Number(one), Self::Number(other)) => one.cmp(other),
            (Self::Beyond(one), Self::Beyond(other)) => one.total_cmp(other),
            (one, other) => one.rank().cmp(&other.rank()),
        }
    }
}

/// Sorts rows by a column, in the order of `ORDER BY`; rows without a value come last. All rows are in memory.
///
/// # Errors
///
/// A row cannot be read.
pub fn sorted_by<'a>(solutions: Solutions<'_>, column: &str, descending: bool) -> Result<Solutions<'a>, QueryError> {
    let Solutions { variables, rows } = solutions;
    let with_key = |row: Result<QuerySolution, QueryError>| row.map(|row| (row.get(column).map(key_of), row));
    let mut rows = rows.map(with_key).collect::<Result<Vec<_>, _>>()?;
    rows.sort_by(|(one, _), (other, _)| match (one, other) {
        (Some(one), Some(other)) if descending => other.compare(one),
        (Some(one), Some(other)) => one.compare(other),
        (one, other) => one.is_none().cmp(&other.is_none()),
    });
    Ok(Solutions { variables, rows: Box::new(rows.into_iter().map(|(_, row)| Ok(row))) })
}

/// Returns the key of a term.
pub(super) fn sort_key(term: &Term) -> Option<Term> {
    Some(match term {
        Term::BlankNode(node) => BlankNode::new_unchecked(format!("0{}", node.as_str())).into(),
        Term::NamedNode(node) => BlankNode::new_unchecked(format!("1{}", node.as_str())).into(),
        Term::Literal(literal) => number(literal).map_or_else(
            || {
                let (text, datatype) = (literal.value(), literal.datatype().as_str());
                let language = literal.language().unwrap_or_default();
                NamedNode::new_unchecked(format!("{text}\0{datatype}\0{language}")).into()
            },
            Term::from,
        ),
        #[cfg(feature = "shacl")]
        Term::Triple(_) => return None,
    })
}

/// Returns the number by which a literal is sorted. Only numbers beyond the range of decimals are doubles, so all are
/// compared exactly.
fn number(literal: &Literal) -> Option<Literal> {
    let text = literal.value();
    let decimal = match literal.datatype() {
        xsd::DATE_TIME | xsd::TIME => moment(literal)?.1,
        xsd::DURATION | xsd::DAY_TIME_DURATION => DayTimeDuration::from_str(text).ok()?.as_seconds(),
        xsd::DOUBLE | xsd::FLOAT => match Decimal::try_from(Double::from_str(text).ok()?) {
            Ok(decimal) => decimal,
            Err(_) => return beyond(text),
        },
        datatype if is_exact(datatype) => match Decimal::from_str(text) {
            Ok(_) if datatype == xsd::DECIMAL => return Some(literal.clone()),
            Ok(decimal) => decimal,
            Err(_) => return beyond(text),
        },
        _ => return None,
    };
    Some(Literal::new_typed_literal(decimal.to_string(), xsd::DECIMAL))
}

fn beyond(text: &str) -> Option<Literal> {
    Double::from_str(text).ok().filter(|number| !number.is_nan()).map(|number| f64::from(number).into())
}

/// Returns true if a datatype is `xsd:decimal` or derived from it.
fn is_exact(datatype: NamedNodeRef<'_>) -> bool {
    [
        xsd::INTEGER,
        xsd::DECIMAL,
        xsd::LONG,
        xsd::INT,
        xsd::SHORT,
        xsd::BYTE,
        xsd::UNSIGNED_LONG,
        xsd::UNSIGNED_INT,
        xsd::UNSIGNED_SHORT,
        xsd::UNSIGNED_BYTE,
        xsd::NON_NEGATIVE_INTEGER,
        xsd::NON_POSITIVE_INTEGER,
        xsd::POSITIVE_INTEGER,
        xsd::NEGATIVE_INTEGER,
    ]
    .contains(&datatype)
}
