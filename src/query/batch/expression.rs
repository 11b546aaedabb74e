//! Expressions: common ones are evaluated here, row by row; all others by Oxigraph, for the distinct inputs of a batch.

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{Literal, NamedNode, Term, Variable};
use oxsdatatypes::Decimal;
use spargebra::algebra;

use super::super::functions::{FunctionKind, apply};
use super::plan::{Batch, Call, Comparison, Expression, Function, Node, Operation, Slot, Stop};
use super::terms::{Run, Value};
use crate::sink::columns::TermId;

/// The number of cached results.
const REMEMBERED: usize = 64;

/// Cached inputs and results.
type Remembered = RefCell<[(TermId, TermId); REMEMBERED]>;

/// An expression prepared for the rows of a batch.
pub(super) struct Prepared<'e, 'r> {
    expression: &'e Expression,
    run: &'r Run,
    batch: &'e Batch,
    patterns: Vec<Vec<bool>>,
    calls: Vec<Vec<TermId>>,
    /// The cached results, for an expression of one slot.
    remembered: Option<(Slot, Remembered)>,
    /// Values of slots that are not in the batch.
    late: &'e [(Slot, Option<Value<'r>>)],
}

impl Expression {
    /// Evaluates the patterns and the calls for a batch.
    pub fn prepare<'e, 'r>(&'e self, run: &'r Run, batch: &'e Batch) -> Result<Prepared<'e, 'r>, Stop> {
        let patterns = self.patterns.iter().map(|(chain, slot)| chain.exists(run, batch, *slot));
        let patterns = patterns.collect::<Result<_, _>>()?;
        let calls = self.calls.iter().map(|call| call.evaluate(run, batch)).collect();
        run.cancel.check()?;
        let is_plain = self.patterns.is_empty() && self.calls.is_empty();
        let is_small = matches!(self.root, Node::Constant(_) | Node::Slot(_) | Node::Bound(_));
        let remembered = match self.reads.as_slice() {
            [slot] if is_plain && !is_small => {
                Some((*slot, RefCell::new([(TermId::computed(u32::MAX), TermId::UNBOUND); REMEMBERED])))
            }
            _ => None,
        };
        Ok(Prepared { expression: self, run, batch, patterns, calls, remembered, late: &[] })
    }

    /// Returns the value of a row, with the values of some slots that are not in the batch.
    pub fn late<'r>(
        &self,
        run: &'r Run,
        batch: &Batch,
        row: usize,
        late: &[(Slot, Option<Value<'r>>)],
    ) -> Option<Value<'r>> {
        let (patterns, calls) = (Vec::new(), Vec::new());
        let prepared = Prepared { expression: self, run, batch, patterns, calls, remembered: None, late };
        prepared.value(&self.root, row)
    }
}

impl Call {
    fn evaluate(&self, run: &Run, batch: &Batch) -> Vec<TermId> {
        let mut known = HashMap::with_hasher(run.seed);
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

impl<'r> Prepared<'_, 'r> {
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
        let place = usize::try_from(self.run.seed.hash([input].into_iter()) >> 58).unwrap_or_default() % REMEMBERED;
        let known = remembered.borrow()[place];
        if known.0 == input {
            return known.1;
        }
        let found = compute();
        remembered.borrow_mut()[place] = (input, found);
        found
    }

    fn slot(&self, slot: Slot, row: usize) -> Option<Value<'r>> {
        if let Some((_, value)) = self.late.iter().find(|(known, _)| *known == slot) {
            return value.clone();
        }
        Some(Value::Id(self.batch.get(slot, row))).filter(|value| !matches!(value, Value::Id(TermId::UNBOUND)))
    }

    /// Returns the value of an expression; `None` for an error or an unbound value.
    pub fn value(&self, node: &Node, row: usize) -> Option<Value<'r>> {
        match node {
            Node::Constant(id) => Some(Value::Id(*id)),
            Node::Slot(slot) => self.slot(*slot, row),
            Node::Called(call) => {
                let id = self.calls.get(*call)?.get(row).copied()?;
                id.is_bound().then_some(Value::Id(id))
            }
            Node::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                self.value(if self.condition(condition, row)? { then } else { otherwise }, row)
            }
            Node::Coalesce(nodes) => nodes.iter().find_map(|node| self.value(node, row)),
            Node::Arithmetic(operation, one, other) => {
                arithmetic(self.run, *operation, self.value(one, row)?, self.value(other, row)?)
            }
            Node::Function(function, arguments) => self.function(*function, arguments, row),
            Node::Custom(kind, arguments) => {
                let term = |node| self.run.to_term(self.value(node, row)?);
                let arguments: Vec<Term> = arguments.iter().map(term).collect::<Option<_>>()?;
                apply(*kind, &arguments, &self.run.schemas).map(Value::from)
            }
            _ => self.condition(node, row).map(Value::Boolean),
        }
    }

    /// Returns the truth of an expression; `None` for an error.
    fn condition(&self, node: &Node, row: usize) -> Option<bool> {
        match node {
            Node::Bound(slot) => Some(self.slot(*slot, row).is_some()),
            Node::Exists(pattern) => self.patterns.get(*pattern)?.get(row).copied(),
            Node::Not(inner) => self.condition(inner, row).map(|truth| !truth),
            Node::And(one, other) => match self.condition(one, row) {
                Some(true) => self.condition(other, row),
                Some(false) => Some(false),
                None => self.condition(other, row).filter(|truth| !truth),
            },
            Node::Or(one, other) => match self.condition(one, row) {
                Some(false) => self.condition(other, row),
                Some(true) => Some(true),
                None => self.condition(other, row).filter(|truth| *truth),
            },
            Node::SameTerm(one, other) => {
                let [one, other] = [one, other].map(|node| self.value(node, row).map(|value| self.run.number(value)));
                Some(one? == other?)
            }
            Node::Compare(comparison, one, other) => {
                compare(self.run, *comparison, self.value(one, row)?, self.value(other, row)?)
            }
            Node::In(value, list) => {
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
    fn truth_of(&self, value: Value<'_>) -> Option<bool> {
        Some(match look(self.run, value)? {
            Value::Boolean(truth) => truth,
            Value::Text(text) => !text.is_empty(),
            Value::Integer(integer) => integer != 0,
            Value::Decimal(decimal) => decimal != Decimal::from(0),
            value => return self.run.truth(self.run.to_term(value)?),
        })
    }

    fn look(&self, node: &Node, row: usize) -> Option<Value<'r>> {
        look(self.run, self.value(node, row)?)
    }

    fn function(&self, function: Function, arguments: &[Node], row: usize) -> Option<Value<'r>> {
        let first = self.look(arguments.first()?, row)?;
        match function {
            Function::Str => return text(first).map(Value::Text),
            Function::IsIri => return Some(Value::Boolean(matches!(first, Value::Term(Term::NamedNode(_))))),
            Function::IsBlank => return Some(Value::Boolean(matches!(first, Value::Term(Term::BlankNode(_))))),
            Function::IsLiteral => {
                return Some(Value::Boolean(!matches!(first, Value::Term(Term::BlankNode(_) | Term::NamedNode(_)))));
            }
            Function::Datatype => {
                let datatype = match &first {
                    Value::Text(_) => xsd::STRING.into_owned(),
                    Value::Integer(_) => xsd::INTEGER.into_owned(),
                    Value::Decimal(_) => xsd::DECIMAL.into_owned(),
                    Value::Boolean(_) => xsd::BOOLEAN.into_owned(),
                    Value::Term(Term::Literal(literal)) => literal.datatype().into_owned(),
                    _ => return None,
                };
                return Some(Value::Term(datatype.into()));
            }
            _ => {}
        }
        let rest = arguments.iter().skip(1).map(|node| self.look(node, row)).collect::<Option<Vec<_>>>()?;
        if std::iter::once(&first).chain(&rest).any(is_tagged) {
            return self.by_oxigraph(function, first, rest);
        }
        let Value::Text(one) = first else { return None };
        Some(match (function, rest.as_slice()) {
            (Function::StrLen, _) => Value::Integer(i64::try_from(one.chars().count()).ok()?),
            (Function::LCase, _) => Value::Text(one.to_lowercase().into()),
            (Function::UCase, _) => Value::Text(one.to_uppercase().into()),
            (Function::Contains, [Value::Text(other)]) => Value::Boolean(one.contains(&**other)),
            (Function::StrStarts, [Value::Text(other)]) => Value::Boolean(one.starts_with(&**other)),
            (Function::StrEnds, [Value::Text(other)]) => Value::Boolean(one.ends_with(&**other)),
            (Function::StrBefore, [Value::Text(other)]) => {
                Value::Text(one.split_once(&**other).map_or("", |(before, _)| before).to_owned().into())
            }
            (Function::StrAfter, [Value::Text(other)]) => {
                Value::Text(one.split_once(&**other).map_or("", |(_, after)| after).to_owned().into())
            }
            (Function::Concat, rest) => {
                let mut joined = one.into_owned();
                for value in rest {
                    let Value::Text(other) = value else { return None };
                    joined.push_str(other);
                }
                Value::Text(joined.into())
            }
            _ => return None,
        })
    }

    fn by_oxigraph(&self, function: Function, first: Value<'r>, rest: Vec<Value<'r>>) -> Option<Value<'r>> {
        let arguments = std::iter::once(first).chain(rest).enumerate();
        let arguments =
            arguments.map(|(nth, value)| Some((Variable::new_unchecked(format!("a{nth}")), self.run.to_term(value)?)));
        let arguments: Vec<_> = arguments.collect::<Option<_>>()?;
        let variables = arguments.iter().map(|(variable, _)| algebra::Expression::Variable(variable.clone())).collect();
        let function = match function {
            Function::StrLen => algebra::Function::StrLen,
            Function::StrBefore => algebra::Function::StrBefore,
            Function::StrAfter => algebra::Function::StrAfter,
            Function::Contains => algebra::Function::Contains,
            Function::StrStarts => algebra::Function::StrStarts,
            Function::StrEnds => algebra::Function::StrEnds,
            Function::LCase => algebra::Function::LCase,
            Function::UCase => algebra::Function::UCase,
            _ => algebra::Function::Concat,
        };
        self.run.evaluate_one(&algebra::Expression::FunctionCall(function, variables), arguments).map(Value::from)
    }
}

/// Resolves a number to its value.
pub(super) fn look<'r>(run: &'r Run, value: Value<'r>) -> Option<Value<'r>> {
    match value {
        Value::Id(id) => run.value(id),
        value => Some(value),
    }
}

/// Returns the text of an IRI or a literal.
fn text(value: Value<'_>) -> Option<Cow<'_, str>> {
    Some(match value {
        Value::Text(text) => text,
        Value::Integer(integer) => integer.to_string().into(),
        Value::Decimal(decimal) => decimal.to_string().into(),
        Value::Boolean(truth) => truth.to_string().into(),
        Value::Term(Term::NamedNode(node)) => node.into_string().into(),
        Value::Term(Term::Literal(literal)) => literal.destruct().0.into(),
        _ => return None,
    })
}

/// Returns true if a string has a language tag.
fn is_tagged(value: &Value<'_>) -> bool {
    matches!(value, Value::Term(Term::Literal(literal)) if literal.datatype() == rdf::LANG_STRING)
}

/// Compares two values; `None` for an error.
pub(super) fn compare(run: &Run, comparison: Comparison, one: Value<'_>, other: Value<'_>) -> Option<bool> {
    if let (Value::Id(one), Value::Id(other)) = (&one, &other) {
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
        (Value::Text(one), Value::Text(other)) => one.cmp(other),
        (Value::Integer(one), Value::Integer(other)) => one.cmp(other),
        (Value::Decimal(one), Value::Decimal(other)) => one.cmp(other),
        (Value::Integer(one), Value::Decimal(other)) => Decimal::from(*one).cmp(other),
        (Value::Decimal(one), Value::Integer(other)) => one.cmp(&Decimal::from(*other)),
        (Value::Boolean(one), Value::Boolean(other)) => one.cmp(other),
        (Value::Term(Term::NamedNode(one)), Value::Term(Term::NamedNode(other))) => {
            return (comparison == Comparison::Equal).then(|| one == other);
        }
        (Value::Text(_) | Value::Integer(_) | Value::Decimal(_), Value::Term(Term::NamedNode(_)))
        | (Value::Term(Term::NamedNode(_)), Value::Text(_) | Value::Integer(_) | Value::Decimal(_))
        | (Value::Text(_), Value::Integer(_) | Value::Decimal(_))
        | (Value::Integer(_) | Value::Decimal(_), Value::Text(_)) => {
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
    run: &Run,
    operator: fn(Box<algebra::Expression>, Box<algebra::Expression>) -> algebra::Expression,
    one: Value<'_>,
    other: Value<'_>,
) -> Option<Term> {
    let [a, b] = ["a", "b"].map(Variable::new_unchecked);
    let [one_of, other_of] = [&a, &b].map(|name| Box::new(algebra::Expression::Variable(name.clone())));
    run.evaluate_one(&operator(one_of, other_of), vec![(a, run.to_term(one)?), (b, run.to_term(other)?)])
}

/// Returns the result of an operation; `None` for an error.
pub(super) fn arithmetic<'r>(
    run: &'r Run,
    operation: Operation,
    one: Value<'r>,
    other: Value<'r>,
) -> Option<Value<'r>> {
    let (one, other) = (look(run, one)?, look(run, other)?);
    let (left, right) = match (&one, &other) {
        (Value::Integer(one), Value::Integer(other)) if operation != Operation::Divide => {
            return Some(Value::Integer(match operation {
                Operation::Add => one.checked_add(*other)?,
                Operation::Subtract => one.checked_sub(*other)?,
                _ => one.checked_mul(*other)?,
            }));
        }
        (Value::Integer(one), Value::Integer(other)) => (Decimal::from(*one), Decimal::from(*other)),
        (Value::Decimal(one), Value::Decimal(other)) => (*one, *other),
        (Value::Integer(one), Value::Decimal(other)) => (Decimal::from(*one), *other),
        (Value::Decimal(one), Value::Integer(other)) => (*one, Decimal::from(*other)),
        _ => {
            let operator = match operation {
                Operation::Add => algebra::Expression::Add,
                Operation::Subtract => algebra::Expression::Subtract,
                Operation::Multiply => algebra::Expression::Multiply,
                Operation::Divide => algebra::Expression::Divide,
            };
            return evaluate_pair(run, operator, one, other).map(Value::from);
        }
    };
    Some(Value::Decimal(match operation {
        Operation::Add => left.checked_add(right)?,
        Operation::Subtract => left.checked_sub(right)?,
        Operation::Multiply => left.checked_mul(right)?,
        Operation::Divide => left.checked_div(right)?,
    }))
}

/// Returns the kind of this program's function with that IRI.
pub(super) fn custom(name: &NamedNode) -> Option<FunctionKind> {
    super::super::functions::FUNCTIONS.iter().find(|function| function.iri() == *name).map(|function| function.kind())
}
