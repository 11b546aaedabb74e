//! The columns that are kept after each operator, and the values that are computed last.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::plan::{Chain, Expression, Inner, Operator, PlanStep, Slot, Stage, TableSink};

pub(super) fn chain(operators: Vec<Operator>) -> Chain {
    Chain(operators.into_iter().map(|operator| PlanStep { operator, keep: Vec::new() }).collect())
}

/// Removes the values that only the answer needs from the operators, and returns them.
pub(super) fn late(operators: &mut Vec<Operator>, slots: &[Slot]) -> Vec<(Slot, Expression)> {
    let (mut late, mut read, mut written) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for place in (0..operators.len()).rev() {
        let is_read_late = |slot: &Slot| late.iter().any(|(_, value): &(Slot, Expression)| value.reads.contains(slot));
        if let Operator::Bind(slot, value) = &operators[place]
            && (slots.contains(slot) || is_read_late(slot))
            && !read.contains(slot)
            && !written.contains(slot)
            && value.patterns.is_empty()
            && value.calls.is_empty()
            && !value.uncertain.iter().any(|slot| written.contains(slot))
            && !operators[..place].iter().any(|operator| writes(operator).contains(slot))
        {
            if let Operator::Bind(slot, value) = operators.remove(place) {
                late.insert(0, (slot, value));
            }
            continue;
        }
        read.extend(reads(&operators[place]));
        written.extend(writes(&operators[place]));
    }
    late
}

/// Returns the slots that an operator reads.
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
        Operator::Alternative(inners, ends) => {
            inners.iter().flat_map(|inner| of_chain(&inner.chain)).chain(*ends).collect()
        }
        Operator::Optional(inner) => of_chain(&inner.chain),
        Operator::Join(join) | Operator::Minus(join) => join.keys.iter().chain(&join.shared).copied().collect(),
    }
}

/// Returns the slots that an operator may set.
pub(super) fn writes(operator: &Operator) -> BTreeSet<Slot> {
    let of_chain = |chain: &Chain| chain.0.iter().flat_map(|step| writes(&step.operator)).collect::<Vec<_>>();
    match operator {
        Operator::Scan(scan) => scan.slots().collect(),
        Operator::Items { item, .. } => [*item].into(),
        Operator::Same { to, .. } => [*to].into(),
        Operator::Bind(slot, _) => [*slot].into(),
        Operator::Union(chains) => chains.iter().flat_map(of_chain).collect(),
        Operator::Alternative(inners, _) => inners.iter().flat_map(|inner| of_chain(&inner.chain)).collect(),
        Operator::Optional(inner) => of_chain(&inner.chain).into_iter().collect(),
        Operator::Join(join) => join.stage.slots.iter().copied().collect(),
        Operator::Filter(_) | Operator::Minus(_) => BTreeSet::new(),
    }
}

/// Sets the columns to keep after each operator, given the columns needed at the end. Returns the columns needed before
/// the chain.
pub(super) fn live(chain: &mut Chain, mut needed: BTreeSet<Slot>, width: usize) -> BTreeSet<Slot> {
    for PlanStep { operator, keep } in chain.0.iter_mut().rev() {
        *keep = (0..width).map(|slot| needed.contains(&slot)).collect();
        let after = needed.clone();
        match operator {
            Operator::Union(chains) => {
                chains.iter_mut().for_each(|chain| needed.extend(live(chain, after.clone(), width)))
            }
            Operator::Alternative(inners, ends) => {
                let inside = after.iter().chain(&*ends).copied().collect();
                inners.iter_mut().for_each(|inner| needed.extend(live_inner(inner, &inside, width)));
            }
            Operator::Optional(inner) => needed.extend(live_inner(inner, &after, width)),
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
    for inner in &mut value.patterns {
        needed.extend(live_inner(inner, &BTreeSet::new(), width));
    }
    needed
}

/// Sets the slots that a chain gets of each row. Values that it only passes on stay in the batch.
fn live_inner(inner: &mut Inner, after: &BTreeSet<Slot>, width: usize) -> BTreeSet<Slot> {
    let written: BTreeSet<Slot> = inner.chain.0.iter().flat_map(|step| writes(&step.operator)).collect();
    let wanted = (&written & after).into_iter().chain([inner.row]).collect();
    let needed = live(&mut inner.chain, wanted, width);
    inner.slots = needed.iter().copied().collect();
    needed
}

fn live_stage(stage: &mut Arc<Stage>, wanted: Vec<Slot>, width: usize) {
    let Some(stage) = Arc::get_mut(stage) else { return };
    if stage.known().is_some() {
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
