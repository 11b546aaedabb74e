//! From SPARQL's expressions to a plan's expressions.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, Variable};
use oxsdatatypes::DateTime;
use spargebra::algebra::{Expression as Algebra, Function as Called};

use super::super::algebra::operands_mut;
use super::compile::{Compiled, Compiler, Uncovered};
use super::expression::custom;
use super::plan::{Builtin, Call, Comparison, ExprNode, Expression, Inner, Operation, Slot};
use super::scope::names_of;

/// The patterns and calls found in an expression.
#[derive(Default)]
struct ExprPatterns {
    patterns: Vec<Inner>,
    calls: Vec<Call>,
}

impl Compiler<'_> {
    /// Compiles an expression over the rows of a part.
    pub fn expression(&mut self, expression: &Algebra, part: &Compiled) -> Result<Expression, Uncovered> {
        let mut found = ExprPatterns::default();
        let root = self.node(expression, part, &mut found)?;
        let slots = names_of(expression);
        let reads: Vec<Slot> = slots.iter().map(|name| self.slot(name)).filter(|slot| part.has(*slot)).collect();
        let uncertain = slots.iter().map(|name| self.slot(name)).filter(|slot| !part.certain.contains(slot)).collect();
        Ok(Expression { root, patterns: found.patterns, calls: found.calls, reads, uncertain })
    }

    fn node(&mut self, expression: &Algebra, part: &Compiled, found: &mut ExprPatterns) -> Result<ExprNode, Uncovered> {
        let pair = |compiler: &mut Self, one: &Algebra, other: &Algebra, found: &mut ExprPatterns| {
            Ok((Box::new(compiler.node(one, part, found)?), Box::new(compiler.node(other, part, found)?)))
        };
        let compare = |compiler: &mut Self, comparison, one, other, found: &mut ExprPatterns| {
            let (one, other) = pair(compiler, one, other, found)?;
            Ok(ExprNode::Compare(comparison, one, other))
        };
        let arithmetic = |compiler: &mut Self, operation, one, other, found: &mut ExprPatterns| {
            let (one, other) = pair(compiler, one, other, found)?;
            Ok(ExprNode::Arithmetic(operation, one, other))
        };
        Ok(match expression {
            Algebra::NamedNode(node) => ExprNode::Constant(self.run.id(node.clone().into())),
            Algebra::Literal(literal) => ExprNode::Constant(self.run.id(literal.clone().into())),
            Algebra::Variable(variable) => ExprNode::Slot(self.slot(variable)),
            Algebra::Bound(variable) => ExprNode::Bound(self.slot(variable)),
            Algebra::Exists(pattern) => {
                let chain = self.exists(pattern, part)?;
                found.patterns.push(chain);
                ExprNode::Exists(found.patterns.len() - 1)
            }
            Algebra::Not(inner) => ExprNode::Not(Box::new(self.node(inner, part, found)?)),
            Algebra::And(one, other) => {
                let (one, other) = pair(self, one, other, found)?;
                ExprNode::And(one, other)
            }
            Algebra::Or(one, other) => {
                let (one, other) = pair(self, one, other, found)?;
                ExprNode::Or(one, other)
            }
            Algebra::SameTerm(one, other) => {
                let (one, other) = pair(self, one, other, found)?;
                ExprNode::SameTerm(one, other)
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
                ExprNode::In(value, self.nodes(list, part, found)?)
            }
            Algebra::If(condition, then, otherwise) => {
                let condition = self.node(condition, part, found)?;
                let (then, otherwise) = pair(self, then, otherwise, found)?;
                ExprNode::If(Box::new([condition, *then, *otherwise]))
            }
            Algebra::Coalesce(list) => ExprNode::Coalesce(self.nodes(list, part, found)?),
            Algebra::FunctionCall(Called::Now, _) => ExprNode::Constant(self.run.id(self.now().into())),
            Algebra::FunctionCall(Called::Custom(name), arguments) if custom(name).is_some() => {
                ExprNode::Custom(custom(name).ok_or(Uncovered)?, self.nodes(arguments, part, found)?)
            }
            Algebra::FunctionCall(called, arguments) if own(called).is_some() && !arguments.is_empty() => {
                ExprNode::Function(own(called).ok_or(Uncovered)?, self.nodes(arguments, part, found)?)
            }
            other => self.call(other, found)?,
        })
    }

    fn nodes(
        &mut self,
        list: &[Algebra],
        part: &Compiled,
        found: &mut ExprPatterns,
    ) -> Result<Vec<ExprNode>, Uncovered> {
        list.iter().map(|expression| self.node(expression, part, found)).collect()
    }

    /// Adds a call that Oxigraph evaluates.
    fn call(&mut self, expression: &Algebra, found: &mut ExprPatterns) -> Result<ExprNode, Uncovered> {
        let mut expression = expression.clone();
        self.settle(&mut expression)?;
        let variables: Vec<Variable> = names_of(&expression).into_iter().collect();
        let slots = variables.iter().map(|variable| self.slot(variable)).collect();
        found.calls.push(Call { expression, variables, slots });
        Ok(ExprNode::Called(found.calls.len() - 1))
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
fn own(called: &Called) -> Option<Builtin> {
    Some(match called {
        Called::Str => Builtin::Str,
        Called::StrLen => Builtin::StrLen,
        Called::StrBefore => Builtin::StrBefore,
        Called::StrAfter => Builtin::StrAfter,
        Called::Contains => Builtin::Contains,
        Called::StrStarts => Builtin::StrStarts,
        Called::StrEnds => Builtin::StrEnds,
        Called::Concat => Builtin::Concat,
        Called::LCase => Builtin::LCase,
        Called::UCase => Builtin::UCase,
        Called::Datatype => Builtin::Datatype,
        Called::IsIri => Builtin::IsIri,
        Called::IsBlank => Builtin::IsBlank,
        Called::IsLiteral => Builtin::IsLiteral,
        _ => return None,
    })
}
