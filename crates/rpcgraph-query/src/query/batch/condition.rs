//! From SPARQL's expressions to a plan's expressions.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, Variable};
use oxsdatatypes::DateTime;
use spargebra::algebra::{Expression as Algebra, Function as Called};

use super::super::algebra::operands_mut;
use super::super::computed::constant_argument;
use super::super::functions::function_kind;
use super::compile::{Compiled, Compiler, Uncovered};
use super::plan::{Call, Comparison, ExprNode, Expression, Inner, Operation, Slot};
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
        let compare = |comparison| move |one, other| ExprNode::Compare(comparison, one, other);
        let arithmetic = |operation| move |one, other| ExprNode::Arithmetic(operation, one, other);
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
            Algebra::And(one, other) => self.pair(ExprNode::And, one, other, part, found)?,
            Algebra::Or(one, other) => self.pair(ExprNode::Or, one, other, part, found)?,
            Algebra::SameTerm(one, other) => self.pair(ExprNode::SameTerm, one, other, part, found)?,
            Algebra::Equal(one, other) => self.pair(compare(Comparison::Equal), one, other, part, found)?,
            Algebra::Less(one, other) => self.pair(compare(Comparison::Less), one, other, part, found)?,
            Algebra::LessOrEqual(one, other) => self.pair(compare(Comparison::LessOrEqual), one, other, part, found)?,
            Algebra::Greater(one, other) => self.pair(compare(Comparison::Greater), one, other, part, found)?,
            Algebra::GreaterOrEqual(one, other) => {
                self.pair(compare(Comparison::GreaterOrEqual), one, other, part, found)?
            }
            Algebra::Add(one, other) => self.pair(arithmetic(Operation::Add), one, other, part, found)?,
            Algebra::Subtract(one, other) => self.pair(arithmetic(Operation::Subtract), one, other, part, found)?,
            Algebra::Multiply(one, other) => self.pair(arithmetic(Operation::Multiply), one, other, part, found)?,
            Algebra::Divide(one, other) => self.pair(arithmetic(Operation::Divide), one, other, part, found)?,
            Algebra::In(value, list) => {
                let value = Box::new(self.node(value, part, found)?);
                ExprNode::In(value, self.nodes(list, part, found)?)
            }
            Algebra::If(condition, then, otherwise) => {
                let mut node = |expression| self.node(expression, part, found);
                ExprNode::If(Box::new([node(condition)?, node(then)?, node(otherwise)?]))
            }
            Algebra::Coalesce(list) => ExprNode::Coalesce(self.nodes(list, part, found)?),
            Algebra::FunctionCall(Called::Now, _) => ExprNode::Constant(self.run.id(self.now().into())),
            Algebra::FunctionCall(Called::Custom(name), arguments) => {
                let Some(kind) = function_kind(name) else { return self.call(expression, found) };
                let argument = constant_argument(arguments.get(1..).unwrap_or_default());
                let place = argument.and_then(|argument| self.run.columns.function_place(name.as_str(), argument));
                ExprNode::Custom(kind, place, self.nodes(arguments, part, found)?)
            }
            Algebra::FunctionCall(called, arguments) if is_own(called) && !arguments.is_empty() => {
                ExprNode::Function(called.clone(), self.nodes(arguments, part, found)?)
            }
            other => self.call(other, found)?,
        })
    }

    fn pair(
        &mut self,
        make: impl FnOnce(Box<ExprNode>, Box<ExprNode>) -> ExprNode,
        one: &Algebra,
        other: &Algebra,
        part: &Compiled,
        found: &mut ExprPatterns,
    ) -> Result<ExprNode, Uncovered> {
        Ok(make(Box::new(self.node(one, part, found)?), Box::new(self.node(other, part, found)?)))
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
            // A function of SPARQL 1.2, which some builds have: columns do not hold triples as terms.
            Algebra::FunctionCall(called, _) if called.to_string() == "TRIPLE" => return Err(Uncovered),
            _ => {}
        }
        operands_mut(expression).into_iter().try_for_each(|operand| self.settle(operand))
    }

    fn now(&mut self) -> Literal {
        let now = self.now.get_or_insert_with(|| DateTime::now().to_string());
        Literal::new_typed_literal(now.clone(), xsd::DATE_TIME)
    }
}

/// Returns true if the batch evaluator has a function; Oxigraph evaluates all others.
fn is_own(function: &Called) -> bool {
    matches!(
        function,
        Called::Str
            | Called::StrLen
            | Called::StrBefore
            | Called::StrAfter
            | Called::Contains
            | Called::StrStarts
            | Called::StrEnds
            | Called::Concat
            | Called::LCase
            | Called::UCase
            | Called::Datatype
            | Called::IsIri
            | Called::IsBlank
            | Called::IsLiteral
    )
}
