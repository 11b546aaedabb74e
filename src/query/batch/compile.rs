//! From SPARQL's algebra to a plan.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use oxrdf::{Term, Variable};
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression as Algebra, GraphPattern, OrderExpression,
    PropertyPathExpression,
};
use spargebra::term::{NamedNodePattern, TermPattern};

use super::super::algebra::parts;
use super::super::items::{ELEMENT_OF, MEMBER_OF, VALUE_OF};
use super::expression::Expression;
use super::group::{Aggregate, AggregateKind, Group};
use super::plan::{Batch, Chain, Join, Operator, Plan, Slot, Stage, Step, TableSink};
use super::scan::{Place, Scan};
use super::sort::Sort;
use super::terms::Run;
use crate::sink::columns::TermId;

/// What is not covered.
#[derive(Debug)]
pub(super) struct Uncovered;

pub(super) type Names = BTreeSet<Variable>;

/// Compiles patterns to operators.
pub(super) struct Compiler<'r> {
    pub run: &'r Run,
    slots: usize,
    /// The slots of the variables in scope.
    scope: HashMap<Variable, Slot>,
    /// The time of the query, once it is asked for.
    pub now: Option<String>,
    /// How many triples of a column have an object.
    counts: RefCell<HashMap<(usize, TermId), usize>>,
}

/// Operators so far, and what is known of their rows.
#[derive(Default)]
pub(super) struct Part {
    operators: Vec<Operator>,
    /// Slots that may have a value, and those that have one in every row.
    possible: BTreeSet<Slot>,
    certain: BTreeSet<Slot>,
    /// Conditions that wait for their variables.
    pending: Vec<Pending>,
    filters: usize,
    /// The rows are those of an `EXISTS`, whose values are put in the place of its variables.
    substituted: bool,
}

struct Pending {
    condition: Algebra,
    names: Names,
    /// The filter whose condition it is.
    filter: usize,
}

/// The plan of a query.
pub(super) fn compile(query: &Query, run: &Run) -> Result<Plan, Uncovered> {
    let (pattern, ask) = match query {
        Query::Select { pattern, .. } => (pattern, false),
        Query::Ask { pattern, .. } => (pattern, true),
        Query::Construct { .. } | Query::Describe { .. } => return Err(Uncovered),
    };
    let mut compiler = Compiler { run, slots: 0, scope: HashMap::new(), now: None, counts: RefCell::default() };
    let mut part = Part::default();
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
    let width = compiler.slots;
    let mut chain = chain(part.operators);
    live(&mut chain, needed, width);
    Ok(Plan { variables, slots, chain, late, width, ask })
}

fn chain(operators: Vec<Operator>) -> Chain {
    Chain(operators.into_iter().map(|operator| Step { operator, keep: Vec::new() }).collect())
}

/// Takes out of the operators the values that only the answer needs.
fn late(operators: &mut Vec<Operator>, slots: &[Slot]) -> Vec<(Slot, Expression)> {
    let (mut late, mut read) = (Vec::new(), BTreeSet::new());
    for place in (0..operators.len()).rev() {
        if let Operator::Bind(slot, value) = &operators[place]
            && slots.contains(slot)
            && !read.contains(slot)
            && value.patterns.is_empty()
            && value.calls.is_empty()
            && !operators[..place].iter().any(|operator| writes(operator).contains(slot))
        {
            if let Operator::Bind(slot, value) = operators.remove(place) {
                late.insert(0, (slot, value));
            }
            continue;
        }
        read.extend(reads(&operators[place]));
        read.extend(writes(&operators[place]));
    }
    late
}

/// The slots that an operator looks at.
fn reads(operator: &Operator) -> BTreeSet<Slot> {
    let of_chain = |chain: &Chain| -> BTreeSet<Slot> {
        chain.0.iter().flat_map(|step| &reads(&step.operator) | &writes(&step.operator)).collect()
    };
    match operator {
        Operator::Scan(scan) => scan.slots().collect(),
        Operator::Items { json, .. } => [*json].into(),
        Operator::Same { from, to } => [*from, *to].into(),
        Operator::Filter(value) | Operator::Bind(_, value) => value.reads.iter().copied().collect(),
        Operator::Union(chains) => chains.iter().flat_map(of_chain).collect(),
        Operator::Alternative(chains, slot, ends) => {
            chains.iter().flat_map(of_chain).chain([*slot]).chain(*ends).collect()
        }
        Operator::Optional(chain, slot) => of_chain(chain).into_iter().chain([*slot]).collect(),
        Operator::Join(join) | Operator::Minus(join) => join.keys.iter().chain(&join.shared).copied().collect(),
    }
}

/// The slots that an operator may give values.
pub(super) fn writes(operator: &Operator) -> BTreeSet<Slot> {
    let of_chain = |chain: &Chain| chain.0.iter().flat_map(|step| writes(&step.operator)).collect::<Vec<_>>();
    match operator {
        Operator::Scan(scan) => scan.slots().collect(),
        Operator::Items { item, .. } => [*item].into(),
        Operator::Same { to, .. } => [*to].into(),
        Operator::Bind(slot, _) => [*slot].into(),
        Operator::Union(chains) | Operator::Alternative(chains, ..) => chains.iter().flat_map(of_chain).collect(),
        Operator::Optional(chain, _) => of_chain(chain).into_iter().collect(),
        Operator::Join(join) => join.stage.slots.iter().copied().collect(),
        Operator::Filter(_) | Operator::Minus(_) => BTreeSet::new(),
    }
}

/// Says which columns are kept behind each operator, if these are needed at the end. Gives those that are needed before.
pub(super) fn live(chain: &mut Chain, mut needed: BTreeSet<Slot>, width: usize) -> BTreeSet<Slot> {
    for Step { operator, keep } in chain.0.iter_mut().rev() {
        *keep = (0..width).map(|slot| needed.contains(&slot)).collect();
        let after = needed.clone();
        match operator {
            Operator::Union(chains) => {
                chains.iter_mut().for_each(|chain| needed.extend(live(chain, after.clone(), width)))
            }
            Operator::Alternative(chains, slot, ends) => {
                let inside: BTreeSet<Slot> = after.iter().copied().chain([*slot]).chain(*ends).collect();
                chains.iter_mut().for_each(|chain| needed.extend(live(chain, inside.clone(), width)));
            }
            Operator::Optional(chain, slot) => {
                needed.extend(live(chain, after.iter().copied().chain([*slot]).collect(), width));
            }
            Operator::Filter(value) | Operator::Bind(_, value) => needed.extend(live_in(value, width)),
            Operator::Join(join) | Operator::Minus(join) => {
                needed.extend(join.keys.iter().chain(&join.shared));
                let wanted = join.stage.slots.iter().filter(|slot| needed.contains(slot)).copied().collect();
                live_stage(&mut join.stage, wanted, width);
            }
            operator => needed.extend(reads(operator)),
        }
    }
    needed
}

fn live_in(value: &mut Expression, width: usize) -> BTreeSet<Slot> {
    let mut needed: BTreeSet<Slot> = value.reads.iter().copied().collect();
    for (chain, slot) in &mut value.patterns {
        needed.extend(live(chain, [*slot].into(), width));
    }
    needed
}

fn live_stage(stage: &mut Arc<Stage>, wanted: Vec<Slot>, width: usize) {
    let Some(stage) = Arc::get_mut(stage) else { return };
    if stage.table.get().is_some() {
        return;
    }
    let needed = match &mut stage.sink {
        TableSink::All | TableSink::Slice(..) => {
            stage.slots = wanted;
            stage.slots.iter().copied().collect()
        }
        TableSink::Sort(sort) => {
            stage.slots = wanted.into_iter().chain(sort.keys.iter().map(|(slot, _)| *slot)).collect();
            stage.slots.sort_unstable();
            stage.slots.dedup();
            stage.slots.iter().copied().collect()
        }
        TableSink::Distinct => stage.slots.iter().copied().collect(),
        TableSink::Group(group) => {
            let mut needed: BTreeSet<Slot> = group.keys.iter().copied().collect();
            group.aggregates.retain(|aggregate| wanted.contains(&aggregate.slot));
            for aggregate in &mut group.aggregates {
                needed.extend(aggregate.of.as_mut().map(|of| live_in(of, width)).unwrap_or_default());
            }
            needed
        }
    };
    live(&mut stage.chain, needed, width);
}

impl Part {
    fn visible(&self, compiler: &Compiler<'_>) -> Names {
        let scope = compiler.scope.iter().filter(|(_, slot)| self.possible.contains(slot));
        scope.map(|(name, _)| name.clone()).collect()
    }

    /// Whether a slot may have a value.
    pub fn has(&self, slot: Slot) -> bool {
        self.possible.contains(&slot)
    }

    fn binds(&mut self, slot: Slot) {
        self.possible.insert(slot);
        self.certain.insert(slot);
    }

    /// A part that goes on from these rows.
    fn inside(&self) -> Self {
        let (possible, certain) = (self.possible.clone(), self.certain.clone());
        Self { possible, certain, substituted: self.substituted, ..Self::default() }
    }
}

/// A pattern of a group, or a path that leads from one end to another.
enum Piece<'p> {
    Scan(&'p TermPattern, Vec<&'p PropertyPathExpression>, &'p TermPattern),
    Triple(&'p spargebra::term::TriplePattern),
    Pattern(&'p GraphPattern),
}

impl<'r> Compiler<'r> {
    pub fn slot(&mut self, variable: &Variable) -> Slot {
        if let Some(slot) = self.scope.get(variable) {
            return *slot;
        }
        let slot = self.hidden();
        self.scope.insert(variable.clone(), slot);
        slot
    }

    /// A slot that no variable has.
    pub fn hidden(&mut self) -> Slot {
        self.slots += 1;
        self.slots - 1
    }

    /// Goes on with a pattern; as a table, where values of the rows would change what it means.
    fn join(&mut self, pattern: &GraphPattern, part: &mut Part) -> Result<(), Uncovered> {
        if part.substituted || part.possible.is_empty() || is_safe(pattern, &part.visible(self)) {
            return self.append(pattern, part);
        }
        let mut inside = Part::default();
        self.append(pattern, &mut inside)?;
        let names = in_scope(pattern);
        self.table(inside, names, TableSink::All, part);
        Ok(())
    }

    /// Joins with the rows of a part as a table.
    fn table(&mut self, inside: Part, names: Names, sink: TableSink, part: &mut Part) {
        let slots: Vec<Slot> = names.iter().map(|name| self.slot(name)).collect();
        let join = self.joined(inside, slots, sink, part);
        let certain: Vec<Slot> = join.1;
        part.possible.extend(join.0.stage.slots.iter().copied());
        part.certain.extend(certain);
        part.operators.push(Operator::Join(join.0));
    }

    /// A join of the rows so far with the table of a part, and the slots that have a value in each of its rows.
    fn joined(&mut self, inside: Part, slots: Vec<Slot>, sink: TableSink, part: &Part) -> (Join, Vec<Slot>) {
        let certain: Vec<Slot> = match &sink {
            TableSink::Group(group) => {
                let counts = group.aggregates.iter().filter(|aggregate| matches!(aggregate.kind, AggregateKind::Count));
                let keys = group.keys.iter().filter(|slot| inside.certain.contains(slot));
                keys.copied().chain(counts.map(|aggregate| aggregate.slot)).collect()
            }
            _ => slots.iter().filter(|slot| inside.certain.contains(slot)).copied().collect(),
        };
        let common = || slots.iter().filter(|slot| part.possible.contains(slot)).copied();
        let is_key = |slot: &Slot| part.certain.contains(slot) && certain.contains(slot);
        let (keys, shared) = (common().filter(is_key).collect(), common().filter(|slot| !is_key(slot)).collect());
        let stage = Arc::new(Stage { chain: chain(inside.operators), sink, slots, table: OnceLock::new() });
        (Join { stage, keys, shared, index: OnceLock::new() }, certain)
    }

    /// Goes on with a pattern.
    pub fn append(&mut self, pattern: &GraphPattern, part: &mut Part) -> Result<(), Uncovered> {
        match pattern {
            GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Join { .. } => {
                let mut pieces = Vec::new();
                flatten(pattern, &mut pieces);
                self.pieces(pieces, part)?;
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
                    let pending = Pending { condition: condition.clone(), names: &used & &names, filter };
                    part.pending.push(pending);
                });
                // Conditions of what is around wait for their own variables.
                self.append(inner, part)?;
                let (mine, others) =
                    std::mem::take(&mut part.pending).into_iter().partition(|pending| pending.filter == filter);
                part.pending = others;
                for pending in Vec::<Pending>::from(mine) {
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
                let mut inside = Part::default();
                self.append(right, &mut inside)?;
                let slots: Vec<Slot> = in_scope(right).iter().map(|name| self.slot(name)).collect();
                let (join, _) = self.joined(inside, slots, TableSink::All, part);
                part.operators.push(Operator::Minus(join));
            }
            GraphPattern::Values { variables, bindings } => {
                let slots: Vec<Slot> = variables.iter().map(|variable| self.slot(variable)).collect();
                let mut table = Batch::unit(self.slots);
                table.rows = bindings.len();
                for (nth, slot) in slots.iter().enumerate() {
                    let id = |row: &Vec<Option<_>>| match row.get(nth) {
                        Some(Some(term)) => self.run.id(Term::from(spargebra::term::GroundTerm::clone(term))),
                        _ => TermId::UNBOUND,
                    };
                    table.set(*slot, bindings.iter().map(id).collect());
                }
                let certain = slots.iter().filter(|slot| (0..table.rows).all(|row| table.get(**slot, row).is_bound()));
                let inside = Part { certain: certain.copied().collect(), ..Part::default() };
                self.table(inside, variables.iter().cloned().collect(), TableSink::All, part);
                if let Some(Operator::Join(join)) = part.operators.last() {
                    let _ = join.stage.table.set(Arc::new(table));
                }
            }
            GraphPattern::Project { inner, variables } => {
                let slots: Vec<Slot> = variables.iter().map(|variable| self.slot(variable)).collect();
                let shown = variables.iter().cloned().zip(slots).collect();
                let around = std::mem::replace(&mut self.scope, shown);
                // Conditions of what is around are about its variables.
                let pending = std::mem::take(&mut part.pending);
                let done = self.join(inner, part);
                part.pending = pending;
                self.scope = around;
                done?;
            }
            GraphPattern::Distinct { inner } => {
                let mut inside = Part::default();
                self.subselect(inner, part)?;
                self.append(inner, &mut inside)?;
                self.table(inside, in_scope(inner), TableSink::Distinct, part);
            }
            GraphPattern::Reduced { inner } => self.append(inner, part)?,
            GraphPattern::Slice { inner, start, length } => {
                let mut inside = Part::default();
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
                let mut inside = Part::default();
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

    /// A part of its own inside `EXISTS` would see the values that are put in.
    fn subselect(&mut self, inner: &GraphPattern, part: &Part) -> Result<(), Uncovered> {
        let visible = part.visible(self);
        let is_apart = in_scope(inner).is_disjoint(&visible);
        if part.substituted && !is_apart { Err(Uncovered) } else { Ok(()) }
    }

    fn aggregate(
        &mut self,
        variable: &Variable,
        aggregate: &AggregateExpression,
        inside: &Part,
    ) -> Result<Aggregate, Uncovered> {
        let slot = self.slot(variable);
        Ok(match aggregate {
            AggregateExpression::CountSolutions { distinct: true } => return Err(Uncovered),
            AggregateExpression::CountSolutions { distinct: false } => {
                Aggregate { slot, kind: AggregateKind::Count, of: None, distinct: false }
            }
            AggregateExpression::FunctionCall { name, expr, distinct } => {
                let kind = match name {
                    AggregateFunction::Count => AggregateKind::Count,
                    AggregateFunction::Sum => AggregateKind::Sum,
                    AggregateFunction::Avg => AggregateKind::Average,
                    AggregateFunction::Min => AggregateKind::Least,
                    AggregateFunction::Max => AggregateKind::Most,
                    AggregateFunction::Sample => AggregateKind::Sample,
                    AggregateFunction::GroupConcat { separator } => {
                        AggregateKind::Concat(separator.as_deref().unwrap_or(" ").to_owned())
                    }
                    AggregateFunction::Custom(name) => {
                        AggregateKind::Custom(super::expression::custom(name).ok_or(Uncovered)?)
                    }
                };
                Aggregate { slot, kind, of: Some(self.expression(expr, inside)?), distinct: *distinct }
            }
        })
    }

    /// Sorts the rows of a pattern as soon as what they are sorted by is known.
    fn sorted(&mut self, inner: &GraphPattern, by: &[OrderExpression], part: &mut Part) -> Result<(), Uncovered> {
        self.subselect(inner, part)?;
        let mut inside = Part::default();
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
        // A scan that finds a row's subject again says nothing new, but the first operator is where rows come from.
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
        let inside = Part { operators: vec![Operator::Join(join)], possible, certain, ..Part::default() };
        let mut inside = inside;
        inside.operators.extend(rest);
        self.table(inside, in_scope(inner), TableSink::All, part);
        Ok(())
    }

    /// Puts in the conditions whose variables all have values.
    fn ready(&mut self, part: &mut Part) -> Result<(), Uncovered> {
        let has = |part: &Part, compiler: &Self, name: &Variable| {
            compiler.scope.get(name).is_some_and(|slot| part.certain.contains(slot))
        };
        let mut place = 0;
        while place < part.pending.len() {
            let is_ready = part.pending[place].names.iter().all(|name| has(part, self, name));
            // One without variables decides alone, at its place.
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
        part: &mut Part,
    ) -> Result<(), Uncovered> {
        let mut inside = part.inside();
        self.join(right, &mut inside)?;
        if let Some(condition) = condition {
            let condition = self.expression(condition, &inside)?;
            inside.operators.push(Operator::Filter(condition));
        }
        part.possible.extend(inside.possible);
        if let [Operator::Scan(scan)] = inside.operators.as_mut_slice()
            && let Place::Slot(subject) = scan.subject
            && part.certain.contains(&subject)
        {
            scan.optional = true;
            part.operators.append(&mut inside.operators);
            return Ok(());
        }
        let slot = self.hidden();
        part.operators.push(Operator::Optional(chain(inside.operators), slot));
        Ok(())
    }

    /// The chain of a pattern in `EXISTS`, for rows of a part.
    pub fn exists(&mut self, pattern: &GraphPattern, part: &Part) -> Result<(Chain, Slot), Uncovered> {
        let mut inside = Part { substituted: true, ..part.inside() };
        self.append(pattern, &mut inside)?;
        Ok((chain(inside.operators), self.hidden()))
    }

    /// Goes on with pieces, the cheapest first.
    fn pieces(&mut self, mut pieces: Vec<Piece<'_>>, part: &mut Part) -> Result<(), Uncovered> {
        while !pieces.is_empty() {
            let visible = part.visible(self);
            let mut best: Option<(f64, usize)> = None;
            for (place, piece) in pieces.iter().enumerate() {
                let cost = self.cost(piece, &visible, part.operators.is_empty());
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, place));
                }
            }
            match pieces.remove(best.map_or(0, |(_, place)| place)) {
                Piece::Pattern(pattern) => self.join(pattern, part)?,
                Piece::Scan(subject, paths, object) => self.path(subject, &paths, object, part)?,
                Piece::Triple(triple) => match &triple.predicate {
                    NamedNodePattern::NamedNode(name) => {
                        let name = PropertyPathExpression::NamedNode(name.clone());
                        self.path(&triple.subject, &[&name], &triple.object, part)?;
                    }
                    NamedNodePattern::Variable(name) => {
                        let (subject, object) = (self.place(&triple.subject)?, self.place(&triple.object)?);
                        let predicate = Some(self.slot(name));
                        if [subject, object].contains(&Place::Slot(predicate.unwrap_or_default())) {
                            return Err(Uncovered);
                        }
                        let columns = (0..self.run.columns.all().len()).collect();
                        self.scan(Scan { subject, predicate, object, columns, optional: false }, part);
                    }
                },
            }
            self.ready(part)?;
        }
        Ok(())
    }

    fn scan(&mut self, scan: Scan, part: &mut Part) {
        scan.slots().for_each(|slot| part.binds(slot));
        part.operators.push(Operator::Scan(scan));
    }

    fn place(&mut self, term: &TermPattern) -> Result<Place, Uncovered> {
        Ok(match term {
            TermPattern::Variable(variable) => Place::Slot(self.slot(variable)),
            TermPattern::BlankNode(_) => Place::Slot(self.slot(&named(term).ok_or(Uncovered)?)),
            TermPattern::NamedNode(node) => Place::Known(self.run.id(node.clone().into())),
            TermPattern::Literal(literal) => Place::Known(self.run.id(literal.clone().into())),
        })
    }

    /// Goes on with a path: the choices between some paths.
    fn path(
        &mut self,
        subject: &TermPattern,
        paths: &[&PropertyPathExpression],
        object: &TermPattern,
        part: &mut Part,
    ) -> Result<(), Uncovered> {
        let (from, to) = (self.place(subject)?, self.place(object)?);
        self.places(from, paths, to, part)
    }

    fn places(
        &mut self,
        from: Place,
        paths: &[&PropertyPathExpression],
        to: Place,
        part: &mut Part,
    ) -> Result<(), Uncovered> {
        use PropertyPathExpression::{Alternative, NamedNode, Reverse, Sequence};
        let names: Option<Vec<_>> =
            paths.iter().map(|path| if let NamedNode(name) = path { Some(name) } else { None }).collect();
        if let Some(names) = names {
            if let [name] = names.as_slice()
                && let (Place::Slot(item), Place::Slot(other)) = (from, to)
            {
                let operator = match name.as_ref() {
                    ELEMENT_OF => Some(Operator::Items { json: other, item, members: false }),
                    MEMBER_OF => Some(Operator::Items { json: other, item, members: true }),
                    VALUE_OF => Some(Operator::Same { from: item, to: other }),
                    _ => None,
                };
                if let Some(operator) = operator {
                    part.binds(item);
                    part.binds(other);
                    part.operators.push(operator);
                    return Ok(());
                }
            }
            if names.iter().any(|name| [ELEMENT_OF, MEMBER_OF, VALUE_OF].contains(&name.as_ref())) {
                return Err(Uncovered);
            }
            let mut columns: Vec<usize> = names.iter().filter_map(|name| self.run.columns.place(name)).collect();
            let mut known = BTreeSet::new();
            columns.retain(|column| known.insert(*column));
            self.scan(Scan { subject: from, predicate: None, object: to, columns, optional: false }, part);
            return Ok(());
        }
        match paths {
            [Reverse(inner)] => {
                let mut choices = Vec::new();
                choose(inner, &mut choices);
                self.places(to, &choices, from, part)
            }
            [Sequence(first, second)] => {
                let middle = Place::Slot(self.hidden());
                let (mut ahead, mut behind) = (Vec::new(), Vec::new());
                choose(first, &mut ahead);
                choose(second, &mut behind);
                let is_known = |place: Place, part: &Part| match place {
                    Place::Slot(slot) => part.certain.contains(&slot),
                    Place::Known(_) => true,
                };
                if is_known(to, part) && !is_known(from, part) {
                    self.places(middle, &behind, to, part)?;
                    self.places(from, &ahead, middle, part)
                } else {
                    self.places(from, &ahead, middle, part)?;
                    self.places(middle, &behind, to, part)
                }
            }
            [Alternative(..)] | [] => Err(Uncovered),
            [_] => Err(Uncovered),
            many => {
                let (mut chains, mut slots) = (Vec::new(), BTreeSet::new());
                for path in many {
                    let mut inside = part.inside();
                    self.places(from, &[path], to, &mut inside)?;
                    slots.extend(inside.possible);
                    chains.push(chain(inside.operators));
                }
                let row = self.hidden();
                let mut end = |place| match place {
                    Place::Slot(slot) => slot,
                    Place::Known(_) => self.hidden(),
                };
                let ends = [end(from), end(to)];
                part.operators.push(Operator::Alternative(chains, row, ends));
                for place in [from, to] {
                    if let Place::Slot(slot) = place {
                        part.binds(slot);
                    }
                }
                Ok(())
            }
        }
    }

    /// How many rows a piece makes of one, or of none that there are yet: a guess.
    fn cost(&self, piece: &Piece<'_>, visible: &Names, first: bool) -> f64 {
        match piece {
            Piece::Triple(triple) => {
                let is_known = |term: &TermPattern| match named(term) {
                    Some(name) => visible.contains(&name),
                    None => true,
                };
                let name = match &triple.predicate {
                    NamedNodePattern::NamedNode(name) => Some(name),
                    NamedNodePattern::Variable(_) => None,
                };
                self.cost_of(name.into_iter(), (is_known(&triple.subject), is_known(&triple.object)), &triple.object)
            }
            Piece::Scan(subject, paths, object) => {
                let is_known = |term: &TermPattern| named(term).is_none_or(|name| visible.contains(&name));
                let names = paths.iter().flat_map(|path| names_in(path));
                1.5 * self.cost_of(names, (is_known(subject), is_known(object)), object)
            }
            Piece::Pattern(pattern) => {
                let rows = self.rows(pattern);
                let is_connected = !in_scope(pattern).is_disjoint(visible);
                match (first, is_connected) {
                    (true, _) => rows,
                    (false, true) => rows.min(2.0),
                    (false, false) => rows.max(1.0) * 1e3,
                }
            }
        }
    }

    fn cost_of<'n>(
        &self,
        names: impl Iterator<Item = &'n oxrdf::NamedNode>,
        (subject, object): (bool, bool),
        value: &TermPattern,
    ) -> f64 {
        let columns = self.run.columns.all();
        let places: Vec<usize> = names.filter_map(|name| self.run.columns.place(name)).collect();
        let all: usize = places.iter().filter_map(|place| columns.get(*place)).map(|(_, column)| column.len()).sum();
        let all = all as f64;
        match (subject, object) {
            (true, true) => 0.5,
            (true, false) => 1.0,
            (false, true) if named(value).is_some() => 1.2,
            (false, true) => {
                let id = match value {
                    TermPattern::NamedNode(node) => self.run.id(node.clone().into()),
                    TermPattern::Literal(literal) => self.run.id(literal.clone().into()),
                    _ => TermId::UNBOUND,
                };
                let count = |place: &usize| {
                    let count = || columns.get(*place).map_or(0, |(_, column)| column.count(id));
                    *self.counts.borrow_mut().entry((*place, id)).or_insert_with(count)
                };
                places.iter().map(count).sum::<usize>() as f64
            }
            (false, false) => all,
        }
    }

    /// How many rows a pattern may have.
    fn rows(&self, pattern: &GraphPattern) -> f64 {
        let part = |part: &&GraphPattern| self.rows(part);
        match pattern {
            GraphPattern::Bgp { patterns } => patterns
                .iter()
                .map(|triple| self.cost(&Piece::Triple(triple), &Names::new(), true))
                .fold(f64::INFINITY, f64::min),
            GraphPattern::Path { path, object, .. } => self.cost_of(names_in(path).into_iter(), (false, false), object),
            GraphPattern::Join { .. } => parts(pattern).iter().map(part).fold(f64::INFINITY, f64::min),
            GraphPattern::Union { .. } => parts(pattern).iter().map(part).sum(),
            GraphPattern::Group { inner, variables, .. } => {
                if variables.is_empty() {
                    1.0
                } else {
                    self.rows(inner).sqrt()
                }
            }
            GraphPattern::Slice { inner, length, .. } => {
                self.rows(inner).min(length.map_or(f64::INFINITY, |length| length as f64))
            }
            GraphPattern::Values { bindings, .. } => bindings.len() as f64,
            GraphPattern::Filter { inner, .. } => 0.5 * self.rows(inner),
            _ => parts(pattern).first().map_or(1.0, part),
        }
    }
}

/// Whether each row stays at least one.
fn keeps_rows(operator: &Operator) -> bool {
    match operator {
        Operator::Bind(..) | Operator::Optional(..) => true,
        Operator::Scan(scan) => scan.optional,
        _ => false,
    }
}

/// The variable that a term of a pattern is.
fn named(term: &TermPattern) -> Option<Variable> {
    match term {
        TermPattern::Variable(variable) => Some(variable.clone()),
        TermPattern::BlankNode(blank) => Some(Variable::new_unchecked(format!("blank {}", blank.as_str()))),
        _ => None,
    }
}

/// The paths that a path chooses from.
fn choose<'p>(path: &'p PropertyPathExpression, into: &mut Vec<&'p PropertyPathExpression>) {
    match path {
        PropertyPathExpression::Alternative(left, right) => {
            choose(left, into);
            choose(right, into);
        }
        path => into.push(path),
    }
}

/// The properties in a path.
fn names_in(path: &PropertyPathExpression) -> Vec<&oxrdf::NamedNode> {
    use PropertyPathExpression::{Alternative, NamedNode, Reverse, Sequence};
    match path {
        NamedNode(name) => vec![name],
        Reverse(inner) => names_in(inner),
        Sequence(left, right) | Alternative(left, right) => [names_in(left), names_in(right)].concat(),
        _ => Vec::new(),
    }
}

fn flatten<'p>(pattern: &'p GraphPattern, pieces: &mut Vec<Piece<'p>>) {
    match pattern {
        GraphPattern::Join { left, right } => {
            flatten(left, pieces);
            flatten(right, pieces);
        }
        GraphPattern::Bgp { patterns } => pieces.extend(patterns.iter().map(Piece::Triple)),
        GraphPattern::Path { subject, path, object } => {
            let mut paths = Vec::new();
            choose(path, &mut paths);
            pieces.push(Piece::Scan(subject, paths, object));
        }
        pattern => pieces.push(Piece::Pattern(pattern)),
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

/// The variables that a pattern may bind.
pub(super) fn in_scope(pattern: &GraphPattern) -> Names {
    let mut names = Names::new();
    pattern.on_in_scope_variable(|variable| _ = names.insert(variable.clone()));
    names
}

/// All variables in an expression, in its patterns too.
pub(super) fn names_of(expression: &Algebra) -> Names {
    let mut names = Names::new();
    match expression {
        Algebra::Variable(variable) | Algebra::Bound(variable) => _ = names.insert(variable.clone()),
        Algebra::Exists(pattern) => all_names(pattern, &mut names),
        _ => {}
    }
    super::super::algebra::operands(expression).into_iter().for_each(|operand| names.extend(names_of(operand)));
    names
}

/// All variables in a pattern, those in its conditions too.
fn all_names(pattern: &GraphPattern, names: &mut Names) {
    names.extend(in_scope(pattern));
    match pattern {
        GraphPattern::Filter { expr: expression, .. }
        | GraphPattern::Extend { expression, .. }
        | GraphPattern::LeftJoin { expression: Some(expression), .. } => names.extend(names_of(expression)),
        _ => {}
    }
    parts(pattern).into_iter().for_each(|part| all_names(part, names));
}

/// The variables that have a value in every solution of a pattern.
fn certain(pattern: &GraphPattern) -> Names {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } => in_scope(pattern),
        GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => &certain(left) | &certain(right),
        GraphPattern::Union { left, right } => &certain(left) & &certain(right),
        GraphPattern::LeftJoin { left: inner, .. }
        | GraphPattern::Minus { left: inner, .. }
        | GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => certain(inner),
        GraphPattern::Project { inner, variables } => &certain(inner) & &variables.iter().cloned().collect(),
        GraphPattern::Group { inner, variables, .. } => &certain(inner) & &variables.iter().cloned().collect(),
        GraphPattern::Values { variables, bindings } => {
            let is_bound = |nth: usize| bindings.iter().all(|row| row.get(nth).is_some_and(Option::is_some));
            variables.iter().enumerate().filter(|(nth, _)| is_bound(*nth)).map(|(_, name)| name.clone()).collect()
        }
        GraphPattern::Graph { .. } | GraphPattern::Service { .. } => Names::new(),
    }
}

/// Whether a pattern means the same where these variables have values already.
fn is_safe(pattern: &GraphPattern, visible: &Names) -> bool {
    match pattern {
        GraphPattern::LeftJoin { left, right, expression } => {
            let (left_of, mut inside) = (certain(left), Names::new());
            all_names(right, &mut inside);
            let both = &left_of | &certain(right);
            let condition = expression.as_ref().map(names_of).unwrap_or_default();
            is_safe(left, visible) && (&inside & visible).is_subset(&left_of) && (&condition & visible).is_subset(&both)
        }
        GraphPattern::Filter { expr, inner } => {
            is_safe(inner, visible) && (&names_of(expr) & visible).is_subset(&certain(inner))
        }
        GraphPattern::Extend { inner, variable, expression } => {
            is_safe(inner, visible)
                && !visible.contains(variable)
                && (&names_of(expression) & visible).is_subset(&certain(inner))
        }
        GraphPattern::Minus { left, right } => {
            let mut inside = Names::new();
            all_names(right, &mut inside);
            is_safe(left, visible) && (&inside & visible).is_subset(&certain(left))
        }
        GraphPattern::Lateral { left, right } => is_safe(left, visible) && is_safe(right, visible),
        _ => true,
    }
}
