//! From SPARQL's expressions to a plan's expressions.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, Variable};
use oxsdatatypes::DateTime;
use spargebra::algebra::{Expression as Algebra, Function as Called};

use super::super::algebra::operands_mut;
use super::compile::{Compiler, Part, Uncovered};
use super::expression::custom;
use super::plan::{Call, Chain, Comparison, Expression, Function, Node, Operation, Slot};
use super::scope::names_of;

/// The patterns and calls found in an expression.
#[derive(Default)]
struct Found {
    patterns: Vec<(Chain, Slot)>,
    calls: Vec<Call>,
}

impl Compiler<'_> {
    /// Compiles an expression over the rows of a part.
    pub fn expression(&mut self, expression: &Algebra, part: &Part) -> Result<Expression, Uncovered> {
        let mut found = Found::default();
        let root = self.node(expression, part, &mut found)?;
        let slots = names_of(expression);
        let reads: Vec<Slot> = slots.iter().map(|name| self.slot(name)).filter(|slot| part.has(*slot)).collect();
        let uncertain = slots.iter().map(|name| self.slot(name)).filter(|slot| !part.certain.contains(slot)).collect();
        Ok(Expression { root, patterns: found.patterns, calls: found.calls, reads, uncertain })
    }

    fn node(&mut self, expression: &Algebra, part: &Part, found: &mut Found) -> Result<Node, Uncovered> {
        let pair = |compiler: &mut Self, one: &Algebra, other: &Algebra, found: &mut Found| {
            Ok((Box::new(compiler.node(one, part, found)?), Box::new(compiler.node(other, part, found)?)))
        };
        let compare = |compiler: &mut Self, comparison, one, other, found: &mut Found| {
            let (one, other) = pair(compiler, one, other, found)?;
            Ok(Node::Compare(comparison, one, other))
        };
        let arithmetic = |compiler: &mut Self, operation, one, other, found: &mut Found| {
            let (one, other) = pair(compiler, one, other, found)?;
            Ok(Node::Arithmetic(operation, one, other))
        };
        Ok(match expression {
            Algebra::NamedNode(node) => Node::Constant(self.run.id(node.clone().into())),
            Algebra::Literal(literal) => Node::Constant(self.run.id(literal.clone().into())),
            Algebra::Variable(variable) => Node::Slot(self.slot(variable)),
            Algebra::Bound(variable) => Node::Bound(self.slot(variable)),
            Algebra::Exists(pattern) => {
                let chain = self.exists(pattern, part)?;
                found.patterns.push(chain);
                Node::Exists(found.patterns.len() - 1)
            }
            Algebra::Not(inner) => Node::Not(Box::new(self.node(inner, part, found)?)),
            Algebra::And(one, other) => {
                let (one, other) = pair(self, one, other, found)?;
                Node::And(one, other)
            }
            Algebra::Or(one, other) => {
                let (one, other) = pair(self, one, other, found)?;
                Node::Or(one, other)
            }
            Algebra::SameTerm(one, other) => {
                let (one, other) = pair(self, one, other, found)?;
                Node::SameTerm(one, other)
            }
            Algebra::Equal(one, other) => return compare(self, Comparison::Equal, one, other, found),
            Algebra::Less(one, other) => return compare(self, Comparison::Less, one, other, found),
            Algebra::LessOrEqual(one, other) => return compare(self, Comparison::LessOrEqual, one, other, found),
            Algebra::Greater(one, other) => return compare(self, Comparison::Greater, one, other, found),
            Algebra::GreaterOrEqual(one, other) => return compare(self, Comparison::GreaterOrEqual, one, other, found),
            Algebra::Add(one, other) => return arithmetic(self, Operation::Add, one, other, found),
            Algebra::Subtract(one, other) => return arithmetic(self, Operation::Subtract, one, other, found),
            Algebra::Multiply(one, other) => return arithmetic(self, Operation::Multiply, one, other, found),
            Algebra::Divide(one, other) => return arithmetic(self, Operation::Divide, one, other, found),
            Algebra::In(value, list) => {
                let value = Box::new(self.node(value, part, found)?);
                Node::In(value, self.nodes(list, part, found)?)
            }
            Algebra::If(condition, then, otherwise) => {
                let condition = self.node(condition, part, found)?;
                let (then, otherwise) = pair(self, then, otherwise, found)?;
                Node::If(Box::new([condition, *then, *otherwise]))
            }
            Algebra::Coalesce(list) => Node::Coalesce(self.nodes(list, part, found)?),
            Algebra::FunctionCall(Called::Now, _) => Node::Constant(self.run.id(self.now().into())),
            Algebra::FunctionCall(Called::Custom(name), arguments) if custom(name).is_some() => {
                Node::Custom(custom(name).ok_or(Uncovered)?, self.nodes(arguments, part, found)?)
            }
            Algebra::FunctionCall(called, arguments) if own(called).is_some() && !arguments.is_empty() => {
                Node::Function(own(called).ok_or(Uncovered)?, self.nodes(arguments, part, found)?)
            }
            other => self.call(other, found)?,
        })
    }

    fn nodes(&mut self, list: &[Algebra], part: &Part, found: &mut Found) -> Result<Vec<Node>, Uncovered> {
        list.iter().map(|expression| self.node(expression, part, found)).collect()
    }

    /// Adds a call that Oxigraph evaluates.
    fn call(&mut self, expression: &Algebra, found: &mut Found) -> Result<Node, Uncovered> {
        let mut expression = expression.clone();
        self.settle(&mut expression)?;
        let variables: Vec<Variable> = names_of(&expression).into_iter().collect();
        let slots = variables.iter().map(|variable| self.slot(variable)).collect();
        found.calls.push(Call { expression, variables, slots });
        Ok(Node::Called(found.calls.len() - 1))
    }

    /// Replaces `NOW` with the time of the query. Refuses functions with another value at each call, and patterns.
    fn settle(&mut self, expression: &mut Algebra) -> Result<(), Uncovered> {
        match expression {
            Algebra::FunctionCall(Called::Now, _) => *expression = self.now().into(),
            Algebra::Exists(_)
            | Algebra::FunctionCall(Called::Rand | Called::Uuid | Called::StrUuid | Called::BNode, _) => {
                return Err(Uncovered);
            }
            _ => {}
        }
        operands_mut(expression).into_iter().try_for_each(|operand| self.settle(operand))
    }

    fn now(&mut self) -> Literal {
        let now = self.now.get_or_insert_with(|| DateTime::now().to_string());
        Literal::new_typed_literal(now.clone(), xsd::DATE_TIME)
    }
}

/// Returns the function if the batch evaluator has it.
fn own(called: &Called) -> Option<Function> {
    Some(match called {
        Called::Str => Function::Str,
        Called::StrLen => Function::StrLen,
        Called::StrBefore => Function::StrBefore,
        Called::StrAfter => Function::StrAfter,
        Called::Contains => Function::Contains,
        Called::StrStarts => Function::StrStarts,
        Called::StrEnds => Function::StrEnds,
        Called::Concat => Function::Concat,
        Called::LCase => Function::LCase,
        Called::UCase => Function::UCase,
        Called::Datatype => Function::Datatype,
        Called::IsIri => Function::IsIri,
        Called::IsBlank => Function::IsBlank,
        Called::IsLiteral => Function::IsLiteral,
        _ => return None,
    })
}
