//! From SPARQL's algebra to a plan.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

use oxrdf::{Term, Variable};
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression as Algebra, GraphPattern, OrderExpression,
};

use super::super::functions::function_kind;
use super::live::{chain, late, live, writes};
use super::plan::{Aggregate, Batch, Group, Inner, Join, Operator, Plan, Slot, Sort, Stage, TableSink, TermSource};
use super::scope::{Names, in_scope, is_safe, names_of};
use super::terms::QueryRun;
use crate::sink::columns::TermId;

/// The query, or a part of it, is not covered.
#[derive(Debug)]
pub(super) struct Uncovered;

/// Compiles patterns to operators.
pub(super) struct Compiler<'r> {
    pub run: &'r QueryRun,
    /// The names of the slots.
    names: Vec<String>,
    /// The slots of the variables in scope.
    scope: HashMap<Variable, Slot>,
    /// The time of the query, once it is used.
    pub now: Option<String>,
    /// The cached number of triples with an object in a column.
    pub counts: RefCell<HashMap<(usize, TermId), usize>>,
}

/// The operators so far, and the known properties of their rows.
#[derive(Default)]
pub(super) struct Compiled {
    pub operators: Vec<Operator>,
    /// Slots that may have a value, and slots that have one in every row.
    pub possible: BTreeSet<Slot>,
    pub certain: BTreeSet<Slot>,
    /// Conditions that wait for their variables.
    pending: Vec<PendingCondition>,
    filters: usize,
    /// True if the rows belong to an `EXISTS`, whose variables are replaced with their values.
    substituted: bool,
}

struct PendingCondition {
    condition: Algebra,
    names: Names,
    /// The filter that the condition belongs to.
    filter: usize,
}

/// Compiles a query into a plan.
pub(super) fn compile(query: &Query, run: &QueryRun) -> Result<Plan, Uncovered> {
    let (pattern, ask) = match query {
        Query::Select { pattern, .. } => (pattern, false),
        Query::Ask { pattern, .. } => (pattern, true),
        Query::Construct { .. } | Query::Describe { .. } => return Err(Uncovered),
    };
    let mut compiler =
        Compiler { run, names: Vec::new(), scope: HashMap::new(), now: None, counts: RefCell::default() };
    let mut part = Compiled::default();
    compiler.append(pattern, &mut part)?;
    let mut variables = Vec::new();
    if !ask {
        pattern.on_in_scope_variable(|variable| {
            if !variables.contains(variable) {
                variables.push(variable.clone());
            }
        });
    }
    let slots: Vec<Slot> = variables.iter().map(|variable| compiler.slot(variable)).collect();
    let late = late(&mut part.operators, &slots);
    let mut needed: BTreeSet<Slot> = slots.iter().copied().collect();
    needed.extend(late.iter().flat_map(|(_, value)| value.reads.iter().copied()));
    let width = compiler.names.len();
    let mut chain = chain(part.operators);
    live(&mut chain, needed, width);
    Ok(Plan { variables, slots, chain, late, width, ask, names: compiler.names })
}

impl Compiled {
    pub fn visible(&self, compiler: &Compiler<'_>) -> Names {
        let scope = compiler.scope.iter().filter(|(_, slot)| self.possible.contains(slot));
        scope.map(|(name, _)| name.clone()).collect()
    }

    /// Returns true if a slot may have a value.
    pub fn has(&self, slot: Slot) -> bool {
        self.possible.contains(&slot)
    }

    pub fn binds(&mut self, slot: Slot) {
        self.possible.insert(slot);
        self.certain.insert(slot);
    }

    /// Creates a part that continues these rows.
    pub fn inside(&self) -> Self {
        let (possible, certain) = (self.possible.clone(), self.certain.clone());
        Self { possible, certain, substituted: self.substituted, ..Self::default() }
    }
}

impl<'r> Compiler<'r> {
    pub fn slot(&mut self, variable: &Variable) -> Slot {
        if let Some(slot) = self.scope.get(variable) {
            return *slot;
        }
        let slot = self.hidden();
        self.names[slot] = variable.to_string();
        self.scope.insert(variable.clone(), slot);
        slot
    }

    /// Creates a slot without a variable.
    pub fn hidden(&mut self) -> Slot {
        self.names.push(format!("?_{}", self.names.len()));
        self.names.len() - 1
    }

    /// Appends a pattern; as a table if values of the rows would change its meaning.
    pub fn join(&mut self, pattern: &GraphPattern, part: &mut Compiled) -> Result<(), Uncovered> {
        if part.substituted || part.possible.is_empty() || is_safe(pattern, &part.visible(self)) {
            return self.append(pattern, part);
        }
        let mut inside = Compiled::default();
        self.append(pattern, &mut inside)?;
        let names = in_scope(pattern);
        self.table(inside, names, TableSink::All, part);
        Ok(())
    }

    /// Joins the rows with a part, as a table.
    fn table(&mut self, inside: Compiled, names: Names, sink: TableSink, part: &mut Compiled) {
        let slots: Vec<Slot> = names.iter().map(|name| self.slot(name)).collect();
        let join = self.joined(inside, slots, sink, part);
        let certain: Vec<Slot> = join.1;
        part.possible.extend(join.0.stage.slots.iter().copied());
        part.certain.extend(certain);
        part.operators.push(Operator::Join(join.0));
    }

    /// Returns a join of the rows so far with the table of a part, and the slots that have a value in each of its rows.
    fn joined(&mut self, inside: Compiled, slots: Vec<Slot>, sink: TableSink, part: &Compiled) -> (Join, Vec<Slot>) {
        let certain: Vec<Slot> = match &sink {
            TableSink::Group(group) => {
                let counts =
                    group.aggregates.iter().filter(|aggregate| matches!(aggregate.function, AggregateFunction::Count));
                let keys = group.keys.iter().filter(|slot| inside.certain.contains(slot));
                keys.copied().chain(counts.map(|aggregate| aggregate.slot)).collect()
            }
            _ => slots.iter().filter(|slot| inside.certain.contains(slot)).copied().collect(),
        };
        let common = || slots.iter().filter(|slot| part.possible.contains(slot)).copied();
        let is_key = |slot: &Slot| part.certain.contains(slot) && certain.contains(slot);
        let (keys, shared) = (common().filter(is_key).collect(), common().filter(|slot| !is_key(slot)).collect());
        let stage = Arc::new(Stage { chain: chain(inside.operators), sink, slots, table: Mutex::default() });
        (Join { stage, keys, shared, by_keys: OnceLock::new(), by_values: OnceLock::new() }, certain)
    }

    /// Appends a pattern.
    pub fn append(&mut self, pattern: &GraphPattern, part: &mut Compiled) -> Result<(), Uncovered> {
        match pattern {
            GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Join { .. } => {
                self.group(pattern, part)?;
            }
            GraphPattern::Lateral { left, right } => {
                self.append(left, part)?;
                self.append(right, part)?;
            }
            GraphPattern::Filter { expr, inner } => {
                part.filters += 1;
                let (filter, names) = (part.filters, in_scope(inner));
                conjuncts(expr, &mut |condition| {
                    let used = names_of(condition);
                    let pending = PendingCondition { condition: condition.clone(), names: &used & &names, filter };
                    part.pending.push(pending);
                });
                // Conditions of outer filters wait for their own variables.
                self.append(inner, part)?;
                let (mine, others) =
                    std::mem::take(&mut part.pending).into_iter().partition(|pending| pending.filter == filter);
                part.pending = others;
                for pending in mine {
                    let condition = self.expression(&pending.condition, part)?;
                    part.operators.push(Operator::Filter(condition));
                }
            }
            GraphPattern::Extend { inner, variable, expression } => {
                self.append(inner, part)?;
                let value = self.expression(expression, part)?;
                let slot = self.slot(variable);
                let is_certain = match expression {
                    Algebra::NamedNode(_) | Algebra::Literal(_) | Algebra::Bound(_) | Algebra::Exists(_) => true,
                    Algebra::Variable(of) => self.scope.get(of).is_some_and(|of| part.certain.contains(of)),
                    _ => false,
                };
                if part.possible.contains(&slot) {
                    return Err(Uncovered);
                }
                part.operators.push(Operator::Bind(slot, value));
                part.possible.insert(slot);
                if is_certain {
                    part.certain.insert(slot);
                }
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                self.append(left, part)?;
                self.ready(part)?;
                self.optional(right, expression.as_ref(), part)?;
            }
            GraphPattern::Union { .. } => {
                let mut branches = Vec::new();
                alternatives(pattern, &mut branches);
                let (mut chains, mut possible, mut certain) = (Vec::new(), BTreeSet::new(), None::<BTreeSet<Slot>>);
                for branch in branches {
                    let mut inside = part.inside();
                    self.join(branch, &mut inside)?;
                    chains.push(chain(inside.operators));
                    possible.extend(inside.possible);
                    certain = Some(certain.map_or(inside.certain.clone(), |certain| &certain & &inside.certain));
                }
                part.operators.push(Operator::Union(chains));
                part.possible.extend(possible);
                part.certain.extend(certain.unwrap_or_default());
            }
            GraphPattern::Minus { left, right } => {
                if part.substituted {
                    return Err(Uncovered);
                }
                self.append(left, part)?;
                let mut inside = Compiled::default();
                self.append(right, &mut inside)?;
                let slots: Vec<Slot> = in_scope(right).iter().map(|name| self.slot(name)).collect();
                let (join, _) = self.joined(inside, slots, TableSink::All, part);
                part.operators.push(Operator::Minus(join));
            }
            GraphPattern::Values { variables, bindings } => {
                let slots: Vec<Slot> = variables.iter().map(|variable| self.slot(variable)).collect();
                let mut table = Batch::unit(self.names.len());
                table.rows = bindings.len();
                for (nth, slot) in slots.iter().enumerate() {
                    // A triple as a term is not in columns.
                    let id = |row: &Vec<Option<_>>| match row.get(nth) {
                        Some(Some(term)) => {
                            let id = self.run.id(Term::from(spargebra::term::GroundTerm::clone(term)));
                            Some(id).filter(|id| id.is_bound())
                        }
                        _ => Some(TermId::UNBOUND),
                    };
                    table.set(*slot, bindings.iter().map(id).collect::<Option<_>>().ok_or(Uncovered)?);
                }
                let certain = slots.iter().filter(|slot| (0..table.rows).all(|row| table.get(**slot, row).is_bound()));
                let inside = Compiled { certain: certain.copied().collect(), ..Compiled::default() };
                self.table(inside, variables.iter().cloned().collect(), TableSink::All, part);
                if let Some(Operator::Join(join)) = part.operators.last() {
                    *join.stage.known() = Some(Arc::new(table));
                }
            }
            GraphPattern::Project { inner, variables } => {
                let slots: Vec<Slot> = variables.iter().map(|variable| self.slot(variable)).collect();
                let shown = variables.iter().cloned().zip(slots).collect();
                let around = std::mem::replace(&mut self.scope, shown);
                // Conditions of outer filters refer to outer variables.
                let pending = std::mem::take(&mut part.pending);
                let done = self.join(inner, part);
                part.pending = pending;
                self.scope = around;
                done?;
            }
            GraphPattern::Distinct { inner } => {
                let mut inside = Compiled::default();
                self.subselect(inner, part)?;
                self.append(inner, &mut inside)?;
                let keys: Vec<Slot> = in_scope(inner).iter().map(|name| self.slot(name)).collect();
                // Without keys, rows would be one group even if there are none.
                if keys.is_empty() {
                    return Err(Uncovered);
                }
                let group = Group { keys, aggregates: Vec::new() };
                self.table(inside, in_scope(inner), TableSink::Group(group), part);
            }
            GraphPattern::Reduced { inner } => self.append(inner, part)?,
            GraphPattern::Slice { inner, start, length } => {
                let mut inside = Compiled::default();
                self.subselect(inner, part)?;
                self.append(inner, &mut inside)?;
                if let (Some(length), Some((Operator::Join(first), rest))) =
                    (length, inside.operators.split_first_mut())
                    && rest.iter().all(keeps_rows)
                    && let Some(stage) = Arc::get_mut(&mut first.stage)
                    && let TableSink::Sort(sort) = &mut stage.sink
                {
                    sort.limit = Some(start.saturating_add(*length));
                }
                self.table(inside, in_scope(inner), TableSink::Slice(*start, *length), part);
            }
            GraphPattern::OrderBy { inner, expression } => self.sorted(inner, expression, part)?,
            GraphPattern::Group { inner, variables, aggregates } => {
                self.subselect(inner, part)?;
                let mut inside = Compiled::default();
                self.append(inner, &mut inside)?;
                let keys = variables.iter().map(|variable| self.slot(variable)).collect();
                let mut found = Vec::new();
                for (variable, aggregate) in aggregates {
                    let aggregate = self.aggregate(variable, aggregate, &inside)?;
                    found.push(aggregate);
                }
                let names = variables.iter().chain(aggregates.iter().map(|(variable, _)| variable)).cloned().collect();
                self.table(inside, names, TableSink::Group(Group { keys, aggregates: found }), part);
            }
            GraphPattern::Graph { .. } | GraphPattern::Service { .. } => return Err(Uncovered),
        }
        self.ready(part)
    }

    /// Fails for a subselect inside `EXISTS` that would see the substituted values.
    fn subselect(&mut self, inner: &GraphPattern, part: &Compiled) -> Result<(), Uncovered> {
        let visible = part.visible(self);
        let is_apart = in_scope(inner).is_disjoint(&visible);
        if part.substituted && !is_apart { Err(Uncovered) } else { Ok(()) }
    }

    fn aggregate(
        &mut self,
        variable: &Variable,
        aggregate: &AggregateExpression,
        inside: &Compiled,
    ) -> Result<Aggregate, Uncovered> {
        let slot = self.slot(variable);
        Ok(match aggregate {
            AggregateExpression::CountSolutions { distinct: true } => return Err(Uncovered),
            AggregateExpression::CountSolutions { distinct: false } => {
                Aggregate { slot, function: AggregateFunction::Count, of: None, distinct: false }
            }
            AggregateExpression::FunctionCall { name, expr, distinct } => {
                if let AggregateFunction::Custom(name) = name {
                    function_kind(name).ok_or(Uncovered)?;
                }
                Aggregate {
                    slot,
                    function: name.clone(),
                    of: Some(self.expression(expr, inside)?),
                    distinct: *distinct,
                }
            }
        })
    }

    /// Sorts the rows of a pattern as soon as the sort keys are known.
    fn sorted(&mut self, inner: &GraphPattern, by: &[OrderExpression], part: &mut Compiled) -> Result<(), Uncovered> {
        self.subselect(inner, part)?;
        let mut inside = Compiled::default();
        self.append(inner, &mut inside)?;
        let mut keys = Vec::new();
        for key in by {
            let (expression, down) = match key {
                OrderExpression::Asc(expression) => (expression, false),
                OrderExpression::Desc(expression) => (expression, true),
            };
            let slot = match expression {
                Algebra::Variable(variable) => self.slot(variable),
                expression => {
                    let value = self.expression(expression, &inside)?;
                    let slot = self.hidden();
                    inside.operators.push(Operator::Bind(slot, value));
                    inside.possible.insert(slot);
                    slot
                }
            };
            keys.push((slot, down));
        }
        let is_later = |operator: &Operator| {
            let writes = writes(operator);
            !matches!(operator, Operator::Union(_)) && !keys.iter().any(|(slot, _)| writes.contains(slot))
        };
        let later = inside.operators.iter().rev().take_while(|operator| is_later(operator)).count();
        // A scan that finds a row's subject again does not add anything, but the first operator is the source of rows.
        let later = later.min(inside.operators.len().saturating_sub(1));
        let rest = inside.operators.split_off(inside.operators.len() - later);
        let mut slots: BTreeSet<Slot> = inside.operators.iter().flat_map(writes).collect();
        slots.extend(keys.iter().map(|(slot, _)| *slot));
        let (possible, certain) = (inside.possible.clone(), inside.certain.clone());
        let slots: Vec<Slot> = slots.into_iter().collect();
        let (join, _) = self.joined(inside, slots, TableSink::Sort(Sort { keys, limit: None }), part);
        if part.possible.is_empty() {
            part.operators.push(Operator::Join(join));
            part.operators.extend(rest);
            part.possible = possible;
            part.certain = certain;
            return Ok(());
        }
        let inside = Compiled { operators: vec![Operator::Join(join)], possible, certain, ..Compiled::default() };
        let mut inside = inside;
        inside.operators.extend(rest);
        self.table(inside, in_scope(inner), TableSink::All, part);
        Ok(())
    }

    /// Inserts the conditions whose variables all have values.
    pub fn ready(&mut self, part: &mut Compiled) -> Result<(), Uncovered> {
        let has = |part: &Compiled, compiler: &Self, name: &Variable| {
            compiler.scope.get(name).is_some_and(|slot| part.certain.contains(slot))
        };
        let mut place = 0;
        while place < part.pending.len() {
            let is_ready = part.pending[place].names.iter().all(|name| has(part, self, name));
            // A condition without variables stays at its place, where it decides alone.
            if is_ready && !part.pending[place].names.is_empty() {
                let pending = part.pending.remove(place);
                let condition = self.expression(&pending.condition, part)?;
                part.operators.push(Operator::Filter(condition));
            } else {
                place += 1;
            }
        }
        Ok(())
    }

    fn optional(
        &mut self,
        right: &GraphPattern,
        condition: Option<&Algebra>,
        part: &mut Compiled,
    ) -> Result<(), Uncovered> {
        let mut inside = part.inside();
        self.join(right, &mut inside)?;
        if let Some(condition) = condition {
            let condition = self.expression(condition, &inside)?;
            inside.operators.push(Operator::Filter(condition));
        }
        part.possible.extend(&inside.possible);
        if let [Operator::Scan(scan)] = inside.operators.as_mut_slice()
            && let TermSource::Slot(subject) = scan.subject
            && part.certain.contains(&subject)
        {
            scan.optional = true;
            part.operators.append(&mut inside.operators);
            return Ok(());
        }
        let inner = self.inner(inside);
        part.operators.push(Operator::Optional(inner));
        Ok(())
    }

    /// Compiles a pattern in `EXISTS` into a chain for rows of a part.
    pub fn exists(&mut self, pattern: &GraphPattern, part: &Compiled) -> Result<Inner, Uncovered> {
        let mut inside = Compiled { substituted: true, ..part.inside() };
        self.append(pattern, &mut inside)?;
        Ok(self.inner(inside))
    }

    /// Returns the chain of a part that continues each row.
    pub fn inner(&mut self, inside: Compiled) -> Inner {
        Inner { chain: chain(inside.operators), row: self.hidden(), slots: Vec::new() }
    }
}

/// Returns true if the operator keeps each row at least once.
fn keeps_rows(operator: &Operator) -> bool {
    match operator {
        Operator::Bind(..) | Operator::Optional(..) => true,
        Operator::Scan(scan) => scan.optional,
        _ => false,
    }
}

fn alternatives<'p>(pattern: &'p GraphPattern, branches: &mut Vec<&'p GraphPattern>) {
    match pattern {
        GraphPattern::Union { left, right } => {
            alternatives(left, branches);
            alternatives(right, branches);
        }
        pattern => branches.push(pattern),
    }
}

fn conjuncts(condition: &Algebra, each: &mut dyn FnMut(&Algebra)) {
    match condition {
        Algebra::And(left, right) => {
            conjuncts(left, each);
            conjuncts(right, each);
        }
        condition => each(condition),
    }
}
