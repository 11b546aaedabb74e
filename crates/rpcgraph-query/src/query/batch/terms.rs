//! The shared state of a running query: computed terms, the evaluator for uncovered expressions, keyed hashes.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oxiri::Iri;
use oxrdf::{Literal, Term, Variable};
use oxsdatatypes::Decimal;
use spareval::QueryEvaluator;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::GroundTerm;

use super::super::algebra::operands_mut;
use super::super::cancel::Cancel;
use super::super::columnar::Columnar;
use super::super::functions;
use super::super::operand::Operand;
use crate::json::KeyedHashes;
use crate::schema::QuerySchemas;
use crate::session::triples::ObjectRef;
use crate::sink::columns::{Columns, TermId, TextStore};
use crate::vocab::rdf;

/// The state that the operators of a running query share.
pub(crate) struct QueryRun {
    pub columns: Arc<Columns>,
    pub cancel: Cancel,
    /// The number of threads that evaluate pieces.
    pub jobs: usize,
    pub hashes: KeyedHashes,
    base: Option<Iri<String>>,
    evaluator: QueryEvaluator,
    pub(super) schemas: Arc<QuerySchemas>,
    /// Terms that are not in any triple, each stored once.
    computed: Mutex<TextStore>,
}

impl QueryRun {
    pub fn new(
        columns: Arc<Columns>,
        cancel: Cancel,
        jobs: usize,
        base: Option<Iri<String>>,
        schemas: Arc<QuerySchemas>,
    ) -> Self {
        let evaluator =
            functions::add(QueryEvaluator::new(), &schemas, &columns).with_cancellation_token(cancel.token());
        let (hashes, computed) = (KeyedHashes::default(), Mutex::default());
        Self { columns, cancel, jobs, hashes, base, evaluator, schemas, computed }
    }

    /// Returns the number of a term, adding it if new.
    pub fn id(&self, term: Term) -> TermId {
        ObjectRef::new(term.as_ref()).map_or(TermId::UNBOUND, |object| self.object_id(object))
    }

    fn object_id(&self, object: ObjectRef<'_>) -> TermId {
        let new = || self.computed().add_object(object).map_or(TermId::UNBOUND, TermId::computed);
        self.columns.find_object(object).unwrap_or_else(new)
    }

    fn computed(&self) -> MutexGuard<'_, TextStore> {
        self.computed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the term of a number; `None` if it is unbound.
    pub fn term(&self, id: TermId) -> Option<Term> {
        id.is_bound().then(|| match id.as_computed() {
            Some(number) => self.computed().term(number),
            None => self.columns.term(id),
        })
    }

    /// Returns the value of a number; `None` if it is unbound.
    pub(super) fn value(&self, id: TermId) -> Option<Operand<'_>> {
        if let Some(integer) = id.as_integer() {
            return Some(Operand::Integer(integer));
        }
        if let Some((digits, behind)) = id.as_decimal()
            && let Ok(decimal) = Decimal::new(digits.into(), behind)
        {
            return Some(Operand::Decimal(decimal));
        }
        let text = match id.as_computed() {
            Some(number) => self.computed().string(number).map(|text| text.to_owned().into()),
            None => id.is_bound().then(|| self.columns.string(id)).flatten(),
        };
        text.map_or_else(|| self.term(id).map(Operand::from), |text| Some(Operand::Text(text)))
    }

    /// Returns the text of an IRI or a literal that the columns store as text.
    pub(super) fn stored_text(&self, id: TermId) -> Option<Cow<'_, str>> {
        if id.is_bound() && id.as_computed().is_none() { self.columns.stored_text(id) } else { None }
    }

    /// Returns the text of a value that is an `rdf:JSON` literal or an `xsd:string`, and whether it is known to be
    /// canonical JSON.
    pub(super) fn json_text<'r>(&'r self, value: Operand<'r>) -> Option<(Cow<'r, str>, bool)> {
        let value = match value {
            Operand::Id(id) if id.as_computed().is_some() => self.value(id)?,
            Operand::Id(id) => match self.columns.json(id) {
                Some(text) => return Some((text, self.columns.has_canonical_json())),
                None => self.value(id)?,
            },
            value => value,
        };
        match value {
            Operand::Text(text) => Some((text, false)),
            Operand::Term(Term::Literal(literal)) if literal.datatype() == rdf::JSON => {
                Some((literal.destruct().0.into(), false))
            }
            _ => None,
        }
    }

    /// Returns the number of a value.
    pub(super) fn number(&self, value: Operand<'_>) -> TermId {
        match value {
            Operand::Id(id) => id,
            Operand::Integer(integer) => {
                TermId::signed_integer(integer).unwrap_or_else(|| self.id(Literal::from(integer).into()))
            }
            Operand::Text(text) => self.object_id(ObjectRef::Text(&text)),
            value => self.id(self.to_term(value).unwrap_or_else(|| Literal::from("").into())),
        }
    }

    /// Returns the term of a value.
    pub(super) fn to_term(&self, value: Operand<'_>) -> Option<Term> {
        value.into_term().map_or_else(|id| self.term(id), Some)
    }

    /// Evaluates an expression with Oxigraph, for each of some rows of these variables.
    pub fn evaluate(
        &self,
        expression: &Expression,
        variables: &[Variable],
        rows: &[Vec<Option<Term>>],
    ) -> Vec<Option<Term>> {
        let ground = |term: &Option<Term>| match term {
            None => Some(None),
            Some(Term::NamedNode(node)) => Some(Some(GroundTerm::NamedNode(node.clone()))),
            Some(Term::Literal(literal)) => Some(Some(GroundTerm::Literal(literal.clone()))),
            Some(_) => None,
        };
        let bindings = rows.iter().map(|row| row.iter().map(ground).collect::<Option<Vec<_>>>()).collect::<Option<_>>();
        if let Some(bindings) = bindings {
            let values = GraphPattern::Values { variables: variables.to_vec(), bindings };
            let found = self.solve(expression, values, Vec::new());
            if found.len() == rows.len() {
                return found;
            }
        }
        // `VALUES` cannot contain blank nodes.
        let arguments = |row: &Vec<Option<Term>>| {
            let arguments =
                variables.iter().zip(row).filter_map(|(variable, term)| Some((variable.clone(), term.clone()?)));
            arguments.collect()
        };
        rows.iter().map(|row| self.evaluate_one(expression, arguments(row))).collect()
    }

    /// Evaluates an expression with Oxigraph, for these arguments.
    pub fn evaluate_one(&self, expression: &Expression, arguments: Vec<(Variable, Term)>) -> Option<Term> {
        let mut expression = expression.clone();
        insert_values(&mut expression, &arguments);
        let nodes = arguments.into_iter().filter(|(_, term)| term.is_blank_node()).collect();
        self.solve(&expression, GraphPattern::Bgp { patterns: Vec::new() }, nodes).pop().flatten()
    }

    /// Returns the value of an expression in each solution of a pattern, where these arguments replace variables.
    fn solve(
        &self,
        expression: &Expression,
        pattern: GraphPattern,
        arguments: Vec<(Variable, Term)>,
    ) -> Vec<Option<Term>> {
        let result = Variable::new_unchecked("computed value");
        let (inner, expression) = (Box::new(pattern), expression.clone());
        let inner = Box::new(GraphPattern::Extend { inner, variable: result.clone(), expression });
        // Only projected variables can be replaced.
        let variables = std::iter::once(result).chain(arguments.iter().map(|(variable, _)| variable.clone())).collect();
        let pattern = GraphPattern::Project { inner, variables };
        let query = spargebra::Query::Select { dataset: None, pattern, base_iri: self.base.clone() };
        let prepared = arguments.into_iter().fold(self.evaluator.prepare(&query), |prepared, (variable, term)| {
            prepared.substitute_variable(variable, term)
        });
        match prepared.execute(Columnar { columns: Arc::default(), cancel: self.cancel.clone() }) {
            Ok(spareval::QueryResults::Solutions(found)) => {
                found.map(|row| row.ok().and_then(|row| row.get(0).cloned())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the effective boolean value of a term.
    pub fn truth(&self, term: Term) -> Option<bool> {
        let variable = Variable::new_unchecked("a");
        let not = |expression| Expression::Not(Box::new(expression));
        let truth = self.evaluate_one(&not(not(Expression::Variable(variable.clone()))), vec![(variable, term)])?;
        Some(truth == Literal::from(true).into())
    }
}

/// Replaces variables with their values, where the algebra can write these. Oxigraph's optimizer takes variables that are
/// substituted later for unbound ones: it compares them as terms, and `BOUND` is false.
fn insert_values(expression: &mut Expression, arguments: &[(Variable, Term)]) {
    let value_of = |variable: &Variable| arguments.iter().find(|(name, _)| name == variable).map(|(_, term)| term);
    match expression {
        Expression::Variable(variable) => match value_of(variable) {
            Some(Term::NamedNode(node)) => *expression = node.clone().into(),
            Some(Term::Literal(literal)) => *expression = literal.clone().into(),
            _ => {}
        },
        Expression::Bound(variable) => *expression = Literal::from(value_of(variable).is_some()).into(),
        other => operands_mut(other).into_iter().for_each(|operand| insert_values(operand, arguments)),
    }
}
