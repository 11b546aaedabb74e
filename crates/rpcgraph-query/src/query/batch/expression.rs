//! Expressions: common ones are evaluated here, row by row; all others by Oxigraph, for the distinct inputs of a batch.

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use memchr::memmem;
use oxrdf::vocab::{rdf, xsd};
use oxrdf::{Literal, Term, Variable};
use oxsdatatypes::Decimal;
use spargebra::algebra::{self, Function as Called};

use super::super::functions::{FunctionKind, apply, apply_to_text};
use super::super::operand::Operand;
use super::plan::{Batch, Call, Comparison, ExprNode, Expression, Operation, Slot, Stop};
use super::terms::QueryRun;
use crate::sink::columns::TermId;

/// The number of cached results.
const REMEMBERED: usize = 64;

/// Cached inputs and results.
type ResultCache = RefCell<[(TermId, TermId); REMEMBERED]>;

/// An expression prepared for the rows of a batch.
pub(super) struct PreparedExpr<'e, 'r> {
    expression: &'e Expression,
    run: &'r QueryRun,
    batch: &'e Batch,
    patterns: Vec<Vec<bool>>,
    calls: Vec<Vec<TermId>>,
    /// The cached results, for an expression of one slot.
    remembered: Option<(Slot, ResultCache)>,
    /// Values of slots that are not in the batch.
    late: &'e [(Slot, Option<Operand<'r>>)],
}

impl Expression {
    /// Evaluates the patterns and the calls for a batch.
    pub fn prepare<'e, 'r>(&'e self, run: &'r QueryRun, batch: &'e Batch) -> Result<PreparedExpr<'e, 'r>, Stop> {
        let patterns = self.patterns.iter().map(|inner| inner.exists(run, batch));
        let patterns = patterns.collect::<Result<_, _>>()?;
        let calls = self.calls.iter().map(|call| call.evaluate(run, batch)).collect();
        run.cancel.check()?;
        let is_plain = self.patterns.is_empty() && self.calls.is_empty();
        let is_small = matches!(self.root, ExprNode::Constant(_) | ExprNode::Slot(_) | ExprNode::Bound(_));
        let remembered = match self.reads.as_slice() {
            [slot] if is_plain && !is_small => {
                Some((*slot, RefCell::new([(TermId::computed(u32::MAX), TermId::UNBOUND); REMEMBERED])))
            }
            _ => None,
        };
        Ok(PreparedExpr { expression: self, run, batch, patterns, calls, remembered, late: &[] })
    }

    /// Returns the value of a row, with the values of some slots that are not in the batch.
    pub fn late<'r>(
        &self,
        run: &'r QueryRun,
        batch: &Batch,
        row: usize,
        late: &[(Slot, Option<Operand<'r>>)],
    ) -> Option<Operand<'r>> {
        let (patterns, calls) = (Vec::new(), Vec::new());
        let prepared = PreparedExpr { expression: self, run, batch, patterns, calls, remembered: None, late };
        prepared.value(&self.root, row)
    }
}

impl Call {
    fn evaluate(&self, run: &QueryRun, batch: &Batch) -> Vec<TermId> {
        let mut known = HashMap::with_hasher(run.hashes.clone());
        let mut inputs = Vec::new();
        let places: Vec<usize> = (0..batch.rows)
            .map(|row| {
                let input: Box<[TermId]> = self.slots.iter().map(|slot| batch.get(*slot, row)).collect();
                *known.entry(input).or_insert_with_key(|input| {
                    inputs.push(input.iter().map(|id| run.term(*id)).collect::<Vec<_>>());
                    inputs.len() - 1
                })
            })
            .collect();
        let results = run.evaluate(&self.expression, &self.variables, &inputs);
        let results: Vec<_> =
            results.into_iter().map(|term| term.map_or(TermId::UNBOUND, |term| run.id(term))).collect();
        places.into_iter().map(|place| results.get(place).copied().unwrap_or(TermId::UNBOUND)).collect()
    }
}

impl<'r> PreparedExpr<'_, 'r> {
    /// Returns the values of all rows, as numbers.
    pub fn ids(&self) -> Vec<TermId> {
        (0..self.batch.rows).map(|row| self.id(row)).collect()
    }

    /// Returns the value of a row, as a number.
    pub fn id(&self, row: usize) -> TermId {
        self.remembering(row, || {
            self.value(&self.expression.root, row).map_or(TermId::UNBOUND, |value| self.run.number(value))
        })
    }

    /// Returns true if a condition holds in a row.
    pub fn truth(&self, row: usize) -> bool {
        let [no, yes] = [0, 1].map(TermId::computed);
        let holds = || if self.condition(&self.expression.root, row) == Some(true) { yes } else { no };
        self.remembering(row, holds) == yes
    }

    /// Returns the cached result for the same input, or computes it.
    fn remembering(&self, row: usize, compute: impl FnOnce() -> TermId) -> TermId {
        let Some((slot, remembered)) = &self.remembered else { return compute() };
        let input = self.batch.get(*slot, row);
        let place =
            usize::try_from(self.run.hashes.hash_all([input].into_iter()) >> 58).unwrap_or_default() % REMEMBERED;
        let known = remembered.borrow()[place];
        if known.0 == input {
            return known.1;
        }
        let found = compute();
        remembered.borrow_mut()[place] = (input, found);
        found
    }

    fn slot(&self, slot: Slot, row: usize) -> Option<Operand<'r>> {
        if let Some((_, value)) = self.late.iter().find(|(known, _)| *known == slot) {
            return value.clone();
        }
        Some(Operand::Id(self.batch.get(slot, row))).filter(|value| !matches!(value, Operand::Id(TermId::UNBOUND)))
    }

    /// Returns the value of an expression; `None` for an error or an unbound value.
    pub fn value(&self, node: &ExprNode, row: usize) -> Option<Operand<'r>> {
        match node {
            ExprNode::Constant(id) => Some(Operand::Id(*id)),
            ExprNode::Slot(slot) => self.slot(*slot, row),
            ExprNode::Called(call) => {
                let id = self.calls.get(*call)?.get(row).copied()?;
                id.is_bound().then_some(Operand::Id(id))
            }
            ExprNode::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                self.value(if self.condition(condition, row)? { then } else { otherwise }, row)
            }
            ExprNode::Coalesce(nodes) => nodes.iter().find_map(|node| self.value(node, row)),
            ExprNode::Arithmetic(operation, one, other) => {
                arithmetic(self.run, *operation, self.value(one, row)?, self.value(other, row)?)
            }
            ExprNode::Function(function, arguments) => self.function(function, arguments, row),
            ExprNode::Custom(kind, place, arguments) if kind.is_of_text() => {
                let value = self.value(arguments.first()?, row)?;
                if let (Operand::Id(literal), Some(place)) = (&value, place)
                    && let Some(known) = self.run.columns.computed(*literal, *place)
                {
                    return known.is_bound().then_some(Operand::Id(known));
                }
                let (text, is_canonical) = match kind {
                    FunctionKind::Characters => (self.text(value)?, false),
                    _ => self.run.json_text(value)?,
                };
                match arguments.get(1) {
                    None => apply_to_text(*kind, &text, is_canonical, ""),
                    Some(pointer) => match self.look(pointer, row)? {
                        Operand::Text(pointer) => apply_to_text(*kind, &text, is_canonical, &pointer),
                        _ => None,
                    },
                }
            }
            ExprNode::Custom(kind, _, arguments) => {
                let term = |node| self.run.to_term(self.value(node, row)?);
                let arguments: Vec<Term> = arguments.iter().map(term).collect::<Option<_>>()?;
                apply(*kind, &arguments, &self.run.schemas).map(Operand::from)
            }
            _ => self.condition(node, row).map(Operand::Boolean),
        }
    }

    /// Returns the truth of an expression; `None` for an error.
    fn condition(&self, node: &ExprNode, row: usize) -> Option<bool> {
        match node {
            ExprNode::Bound(slot) => Some(self.slot(*slot, row).is_some()),
            ExprNode::Exists(pattern) => self.patterns.get(*pattern)?.get(row).copied(),
            ExprNode::Not(inner) => self.condition(inner, row).map(|truth| !truth),
            ExprNode::And(one, other) => match self.condition(one, row) {
                Some(true) => self.condition(other, row),
                Some(false) => Some(false),
                None => self.condition(other, row).filter(|truth| !truth),
            },
            ExprNode::Or(one, other) => match self.condition(one, row) {
                Some(false) => self.condition(other, row),
                Some(true) => Some(true),
                None => self.condition(other, row).filter(|truth| *truth),
            },
            ExprNode::SameTerm(one, other) => {
                let [one, other] = [one, other].map(|node| self.value(node, row).map(|value| self.run.number(value)));
                Some(one? == other?)
            }
            ExprNode::Compare(comparison, one, other) => {
                compare(self.run, *comparison, self.value(one, row)?, self.value(other, row)?)
            }
            ExprNode::In(value, list) => {
                let value = self.value(value, row)?;
                let mut is_error = false;
                for other in list {
                    let other = self.value(other, row);
                    match other.and_then(|other| compare(self.run, Comparison::Equal, value.clone(), other)) {
                        Some(true) => return Some(true),
                        Some(false) => {}
                        None => is_error = true,
                    }
                }
                (!is_error).then_some(false)
            }
            _ => self.truth_of(self.value(node, row)?),
        }
    }

    /// Returns the effective boolean value; `None` for an error.
    fn truth_of(&self, value: Operand<'_>) -> Option<bool> {
        Some(match look(self.run, value)? {
            Operand::Boolean(truth) => truth,
            Operand::Text(text) => !text.is_empty(),
            Operand::Integer(integer) => integer != 0,
            Operand::Decimal(decimal) => decimal != Decimal::from(0),
            value => return self.run.truth(self.run.to_term(value)?),
        })
    }

    fn look(&self, node: &ExprNode, row: usize) -> Option<Operand<'r>> {
        look(self.run, self.value(node, row)?)
    }

    /// Returns the text of an IRI or a literal. Payloads are not copied.
    fn text(&self, value: Operand<'r>) -> Option<Cow<'r, str>> {
        if let Operand::Id(id) = value
            && let Some(text) = self.run.stored_text(id)
        {
            return Some(text);
        }
        text(look(self.run, value)?)
    }

    fn function(&self, function: &Called, arguments: &[ExprNode], row: usize) -> Option<Operand<'r>> {
        let first = self.value(arguments.first()?, row)?;
        if *function == Called::Str {
            return self.text(first).map(Operand::Text);
        }
        let first = look(self.run, first)?;
        match function {
            Called::IsIri => {
                return Some(Operand::Boolean(matches!(first, Operand::Term(Term::NamedNode(_)))));
            }
            Called::IsBlank => {
                return Some(Operand::Boolean(matches!(first, Operand::Term(Term::BlankNode(_)))));
            }
            Called::IsLiteral => {
                return Some(Operand::Boolean(!matches!(
                    first,
                    Operand::Term(Term::BlankNode(_) | Term::NamedNode(_))
                )));
            }
            Called::Datatype => {
                let datatype = match &first {
                    Operand::Text(_) => xsd::STRING.into_owned(),
                    Operand::Integer(_) => xsd::INTEGER.into_owned(),
                    Operand::Decimal(_) => xsd::DECIMAL.into_owned(),
                    Operand::Boolean(_) => xsd::BOOLEAN.into_owned(),
                    Operand::Term(Term::Literal(literal)) => literal.datatype().into_owned(),
                    _ => return None,
                };
                return Some(Operand::Term(datatype.into()));
            }
            _ => {}
        }
        let rest = arguments.iter().skip(1).map(|node| self.look(node, row)).collect::<Option<Vec<_>>>()?;
        if std::iter::once(&first).chain(&rest).any(is_tagged) {
            return self.by_oxigraph(function, first, rest);
        }
        let Operand::Text(one) = first else { return None };
        Some(match (function, rest.as_slice()) {
            (Called::StrLen, _) => Operand::Integer(i64::try_from(one.chars().count()).ok()?),
            (Called::LCase, _) => Operand::Text(one.to_lowercase().into()),
            (Called::UCase, _) => Operand::Text(one.to_uppercase().into()),
            (Called::Contains, [Operand::Text(other)]) => Operand::Boolean(find(&one, other).is_some()),
            (Called::StrStarts, [Operand::Text(other)]) => Operand::Boolean(one.starts_with(&**other)),
            (Called::StrEnds, [Operand::Text(other)]) => Operand::Boolean(one.ends_with(&**other)),
            (Called::StrBefore, [Operand::Text(other)]) => {
                let end = find(&one, other).unwrap_or(0);
                Operand::Text(part(one, 0..end))
            }
            (Called::StrAfter, [Operand::Text(other)]) => {
                let start = find(&one, other).map_or(one.len(), |at| at + other.len());
                let end = one.len();
                Operand::Text(part(one, start..end))
            }
            (Called::Concat, rest) => {
                let mut joined = one.into_owned();
                for value in rest {
                    let Operand::Text(other) = value else { return None };
                    joined.push_str(other);
                }
                Operand::Text(joined.into())
            }
            _ => return None,
        })
    }

    fn by_oxigraph(&self, function: &Called, first: Operand<'r>, rest: Vec<Operand<'r>>) -> Option<Operand<'r>> {
        let arguments = std::iter::once(first).chain(rest).enumerate();
        let arguments =
            arguments.map(|(nth, value)| Some((Variable::new_unchecked(format!("a{nth}")), self.run.to_term(value)?)));
        let arguments: Vec<_> = arguments.collect::<Option<_>>()?;
        let variables = arguments.iter().map(|(variable, _)| algebra::Expression::Variable(variable.clone())).collect();
        self.run
            .evaluate_one(&algebra::Expression::FunctionCall(function.clone(), variables), arguments)
            .map(Operand::from)
    }
}

/// Resolves a number to its value.
pub(super) fn look<'r>(run: &'r QueryRun, value: Operand<'r>) -> Option<Operand<'r>> {
    match value {
        Operand::Id(id) => run.value(id),
        value => Some(value),
    }
}

/// Returns the first place of a text in another.
fn find(text: &str, other: &str) -> Option<usize> {
    memmem::find(text.as_bytes(), other.as_bytes())
}

/// Returns a part of a text.
fn part(text: Cow<'_, str>, range: Range<usize>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => text.get(range).unwrap_or_default().into(),
        Cow::Owned(text) => text.get(range).unwrap_or_default().to_owned().into(),
    }
}

/// Returns the text of an IRI or a literal.
fn text(value: Operand<'_>) -> Option<Cow<'_, str>> {
    Some(match value {
        Operand::Text(text) => text,
        Operand::Integer(integer) => integer.to_string().into(),
        Operand::Decimal(decimal) => decimal.to_string().into(),
        Operand::Boolean(truth) => truth.to_string().into(),
        Operand::Term(Term::NamedNode(node)) => node.into_string().into(),
        Operand::Term(Term::Literal(literal)) => literal.destruct().0.into(),
        _ => return None,
    })
}

/// Returns true if a string has a language tag.
fn is_tagged(value: &Operand<'_>) -> bool {
    matches!(value, Operand::Term(Term::Literal(literal)) if literal.datatype() == rdf::LANG_STRING)
}

/// Compares two values; `None` for an error.
pub(super) fn compare(run: &QueryRun, comparison: Comparison, one: Operand<'_>, other: Operand<'_>) -> Option<bool> {
    if let (Operand::Id(one), Operand::Id(other)) = (&one, &other) {
        if let (Some((one, zoned)), Some((other, as_zoned))) = (one.as_date_time(), other.as_date_time())
            && zoned == as_zoned
        {
            return Some(comparison.holds(one.cmp(&other)));
        }
        if one == other && one.is_node() {
            return (comparison == Comparison::Equal).then_some(true);
        }
    }
    let (one, other) = (look(run, one)?, look(run, other)?);
    let order = match (&one, &other) {
        (Operand::Text(one), Operand::Text(other)) => one.cmp(other),
        (Operand::Integer(one), Operand::Integer(other)) => one.cmp(other),
        (Operand::Decimal(one), Operand::Decimal(other)) => one.cmp(other),
        (Operand::Integer(one), Operand::Decimal(other)) => Decimal::from(*one).cmp(other),
        (Operand::Decimal(one), Operand::Integer(other)) => one.cmp(&Decimal::from(*other)),
        (Operand::Boolean(one), Operand::Boolean(other)) => one.cmp(other),
        (Operand::Term(Term::NamedNode(one)), Operand::Term(Term::NamedNode(other))) => {
            return (comparison == Comparison::Equal).then(|| one == other);
        }
        (Operand::Text(_) | Operand::Integer(_) | Operand::Decimal(_), Operand::Term(Term::NamedNode(_)))
        | (Operand::Term(Term::NamedNode(_)), Operand::Text(_) | Operand::Integer(_) | Operand::Decimal(_))
        | (Operand::Text(_), Operand::Integer(_) | Operand::Decimal(_))
        | (Operand::Integer(_) | Operand::Decimal(_), Operand::Text(_)) => {
            return (comparison == Comparison::Equal).then_some(false);
        }
        _ => {
            let operator = match comparison {
                Comparison::Equal => algebra::Expression::Equal,
                Comparison::Less => algebra::Expression::Less,
                Comparison::LessOrEqual => algebra::Expression::LessOrEqual,
                Comparison::Greater => algebra::Expression::Greater,
                Comparison::GreaterOrEqual => algebra::Expression::GreaterOrEqual,
            };
            return Some(evaluate_pair(run, operator, one, other)? == Literal::from(true).into());
        }
    };
    Some(comparison.holds(order))
}

impl Comparison {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// Evaluates an operator with Oxigraph, for operands of types not covered here; `None` for an error.
fn evaluate_pair(
    run: &QueryRun,
    operator: fn(Box<algebra::Expression>, Box<algebra::Expression>) -> algebra::Expression,
    one: Operand<'_>,
    other: Operand<'_>,
) -> Option<Term> {
    let [a, b] = ["a", "b"].map(Variable::new_unchecked);
    let [one_of, other_of] = [&a, &b].map(|name| Box::new(algebra::Expression::Variable(name.clone())));
    run.evaluate_one(&operator(one_of, other_of), vec![(a, run.to_term(one)?), (b, run.to_term(other)?)])
}

/// Returns the result of an operation; `None` for an error.
pub(super) fn arithmetic<'r>(
    run: &'r QueryRun,
    operation: Operation,
    one: Operand<'r>,
    other: Operand<'r>,
) -> Option<Operand<'r>> {
    let (one, other) = (look(run, one)?, look(run, other)?);
    let (left, right) = match (&one, &other) {
        (Operand::Integer(one), Operand::Integer(other)) if operation != Operation::Divide => {
            return Some(Operand::Integer(match operation {
                Operation::Add => one.checked_add(*other)?,
                Operation::Subtract => one.checked_sub(*other)?,
                _ => one.checked_mul(*other)?,
            }));
        }
        (Operand::Integer(one), Operand::Integer(other)) => (Decimal::from(*one), Decimal::from(*other)),
        (Operand::Decimal(one), Operand::Decimal(other)) => (*one, *other),
        (Operand::Integer(one), Operand::Decimal(other)) => (Decimal::from(*one), *other),
        (Operand::Decimal(one), Operand::Integer(other)) => (*one, Decimal::from(*other)),
        _ => {
            let operator = match operation {
                Operation::Add => algebra::Expression::Add,
                Operation::Subtract => algebra::Expression::Subtract,
                Operation::Multiply => algebra::Expression::Multiply,
                Operation::Divide => algebra::Expression::Divide,
            };
            return evaluate_pair(run, operator, one, other).map(Operand::from);
        }
    };
    Some(Operand::Decimal(match operation {
        Operation::Add => left.checked_add(right)?,
        Operation::Subtract => left.checked_sub(right)?,
        Operation::Multiply => left.checked_mul(right)?,
        Operation::Divide => left.checked_div(right)?,
    }))
}
