//! Groups, and the aggregates of each.

use std::cmp::Ordering;
use std::collections::HashSet;

use hashbrown::HashTable;
use oxigraph::sparql::AggregateFunctionAccumulator;
use oxrdf::{Literal, Term};
use spargebra::algebra::AggregateFunction;

use super::super::functions::{accumulator, function_kind};
use super::super::operand::Operand;
use super::expression::{arithmetic, compare, look};
use super::plan::{Aggregate, Batch, Chain, Comparison, Group, Operation, Stop};
use super::terms::QueryRun;
use crate::json::KeyedHashes;
use crate::sink::columns::TermId;

/// The state of an aggregate in a group.
enum State {
    Count(u64),
    /// The sum and the number of values; `None` for an error.
    Sum(Option<Operand<'static>>, i64),
    One(TermId),
    Concat(Option<(String, Option<Option<String>>)>),
    Custom(Box<dyn AggregateFunctionAccumulator + Send + Sync>),
    Failed,
}

impl Group {
    /// Groups the rows of a chain and returns one row per group.
    pub fn compute(&self, run: &QueryRun, chain: &Chain, width: usize) -> Result<Batch, Stop> {
        let mut table = HashTable::<u32>::new();
        let mut keys: Vec<TermId> = Vec::new();
        let mut states: Vec<State> = Vec::new();
        let mut seen: Vec<HashSet<TermId, KeyedHashes>> = Vec::new();
        let (stride, count) = (self.keys.len(), self.aggregates.len());
        let mut groups = 0_usize;
        let mut begin = |states: &mut Vec<State>, seen: &mut Vec<HashSet<TermId, KeyedHashes>>| {
            states.extend(self.aggregates.iter().map(|aggregate| aggregate.begin()));
            if self.aggregates.iter().any(|aggregate| aggregate.distinct) {
                seen.extend((0..count).map(|_| HashSet::with_hasher(run.hashes.clone())));
            }
            groups += 1;
            groups - 1
        };
        if self.keys.is_empty() {
            begin(&mut states, &mut seen);
        }
        let mut of_rows: Vec<usize> = Vec::new();
        let mut batches = |batch: Batch| {
            of_rows.clear();
            for row in 0..batch.rows {
                if stride == 0 {
                    of_rows.push(0);
                    continue;
                }
                let key = || self.keys.iter().map(|slot| batch.get(*slot, row));
                let hash = run.hashes.hash_all(key());
                let known = |group: usize| keys.get(group * stride..(group + 1) * stride).unwrap_or_default();
                let is_same = |group: &u32| known(*group as usize).iter().copied().eq(key());
                let group = match table.find(hash, is_same) {
                    Some(group) => *group as usize,
                    None => {
                        let rehash = |group: &u32| run.hashes.hash_all(known(*group as usize).iter().copied());
                        let group = begin(&mut states, &mut seen);
                        table.insert_unique(hash, u32::try_from(group).unwrap_or(u32::MAX), rehash);
                        keys.extend(key());
                        group
                    }
                };
                of_rows.push(group);
            }
            for (nth, aggregate) in self.aggregates.iter().enumerate() {
                let values = match &aggregate.of {
                    Some(of) => Some(of.prepare(run, &batch)?),
                    None => None,
                };
                for (row, group) in of_rows.iter().enumerate() {
                    let Some(state) = states.get_mut(group * count + nth) else { continue };
                    let id = values.as_ref().map_or(TermId::computed(0), |values| values.id(row));
                    let is_new = !aggregate.distinct || !id.is_bound() || is_first(&mut seen, group * count + nth, id);
                    if is_new {
                        aggregate.add(run, state, id);
                    }
                }
            }
            Ok(())
        };
        chain.all(run, width, &mut batches)?;
        let slots = self.keys.iter().chain(self.aggregates.iter().map(|aggregate| &aggregate.slot));
        let width = width.max(slots.max().map_or(0, |slot| slot + 1));
        let mut all = Batch::unit(width);
        all.rows = groups;
        for (nth, slot) in self.keys.iter().enumerate() {
            all.set(*slot, keys.iter().skip(nth).step_by(stride.max(1)).copied().collect());
        }
        let mut ends: Vec<TermId> = Vec::with_capacity(states.len());
        for (place, state) in states.into_iter().enumerate() {
            let aggregate = self.aggregates.get(place % count.max(1));
            ends.push(aggregate.map_or(TermId::UNBOUND, |aggregate| aggregate.end(run, state)));
        }
        for (nth, aggregate) in self.aggregates.iter().enumerate() {
            all.set(aggregate.slot, ends.iter().skip(nth).step_by(count).copied().collect());
        }
        Ok(all)
    }
}

impl Aggregate {
    fn begin(&self) -> State {
        match &self.function {
            AggregateFunction::Count => State::Count(0),
            AggregateFunction::Sum | AggregateFunction::Avg => State::Sum(Some(Operand::Integer(0)), 0),
            AggregateFunction::Min | AggregateFunction::Max | AggregateFunction::Sample => State::One(TermId::UNBOUND),
            AggregateFunction::GroupConcat { .. } => State::Concat(Some((String::new(), None))),
            AggregateFunction::Custom(name) => {
                function_kind(name).map_or(State::Failed, |kind| State::Custom(accumulator(kind)))
            }
        }
    }

    fn add(&self, run: &QueryRun, state: &mut State, id: TermId) {
        match (&self.function, &mut *state) {
            (_, State::Count(count)) => *count += u64::from(id.is_bound()),
            (AggregateFunction::Sample, State::One(found)) => *found = if found.is_bound() { *found } else { id },
            (_, State::Failed) => {}
            _ if !id.is_bound() => *state = State::Failed,
            (_, State::Sum(sum, count)) => {
                *count += 1;
                if let Some(Operand::Integer(so_far)) = sum
                    && let Some(integer) = id.as_integer()
                    && let Some(next) = so_far.checked_add(integer)
                {
                    *so_far = next;
                    return;
                }
                let next = sum.take().and_then(|so_far| arithmetic(run, Operation::Add, so_far, Operand::Id(id)));
                *sum = next.map(Operand::into_owned);
            }
            (_, State::One(found)) => {
                let wanted = if self.function == AggregateFunction::Min { Ordering::Less } else { Ordering::Greater };
                if !found.is_bound() || order(run, id, *found) == wanted {
                    *found = id;
                }
            }
            (AggregateFunction::GroupConcat { separator }, State::Concat(joined)) => {
                let text = match run.value(id) {
                    Some(Operand::Text(text)) => Some((text.into_owned(), None)),
                    Some(Operand::Term(Term::Literal(literal))) if literal.language().is_some() => {
                        let language = literal.language().map(str::to_owned);
                        Some((literal.destruct().0, language))
                    }
                    _ => None,
                };
                match (joined.as_mut(), text) {
                    (Some((joined, known)), Some((text, language))) => {
                        match known {
                            Some(known) => {
                                if *known != language {
                                    *known = None;
                                }
                                joined.push_str(separator.as_deref().unwrap_or(" "));
                            }
                            None => *known = Some(language),
                        }
                        joined.push_str(&text);
                    }
                    _ => *joined = None,
                }
            }
            (_, State::Custom(accumulator)) => {
                if let Some(term) = run.term(id) {
                    accumulator.accumulate(term);
                }
            }
            _ => {}
        }
    }

    fn end(&self, run: &QueryRun, state: State) -> TermId {
        let value = match state {
            State::Count(count) => i64::try_from(count).ok().map(Operand::Integer),
            State::Sum(sum, count) => match self.function {
                AggregateFunction::Avg if count > 0 => {
                    sum.and_then(|sum| arithmetic(run, Operation::Divide, sum, Operand::Integer(count)))
                }
                _ => sum,
            },
            State::One(id) => return id,
            State::Concat(joined) => joined.map(|(text, language)| match language.flatten() {
                Some(language) => Operand::Term(Literal::new_language_tagged_literal_unchecked(text, language).into()),
                None => Operand::Text(text.into()),
            }),
            State::Custom(mut accumulator) => accumulator.finish().map(Operand::from),
            State::Failed => None,
        };
        value.map_or(TermId::UNBOUND, |value| run.number(value))
    }
}

/// Compares terms for `MIN` and `MAX`.
fn order(run: &QueryRun, one: TermId, other: TermId) -> Ordering {
    if let (Some(one), Some(other)) = (one.as_integer(), other.as_integer()) {
        return one.cmp(&other);
    }
    if let (Some((one, true)), Some((other, true))) = (one.as_date_time(), other.as_date_time()) {
        return one.cmp(&other);
    }
    let (Some(first), Some(second)) = (run.value(one), run.value(other)) else { return Ordering::Equal };
    if let (Operand::Text(first), Operand::Text(second)) = (&first, &second) {
        return first.cmp(second);
    }
    let rank = |value: &Operand<'_>| match value {
        Operand::Term(Term::BlankNode(_)) => 0,
        Operand::Term(Term::NamedNode(_)) => 1,
        _ => 2,
    };
    match rank(&first).cmp(&rank(&second)) {
        Ordering::Equal if rank(&first) == 2 => {
            let is = |comparison| compare(run, comparison, first.clone(), second.clone());
            match (is(Comparison::Less), is(Comparison::Greater)) {
                (Some(true), _) => Ordering::Less,
                (_, Some(true)) => Ordering::Greater,
                (Some(false), _) => Ordering::Equal,
                (None, _) => {
                    let text = |value| match run.to_term(value) {
                        Some(Term::Literal(literal)) => {
                            let language = literal.language().map(str::to_owned);
                            (literal.value().to_owned(), literal.datatype().into_owned(), language)
                        }
                        _ => (String::new(), oxrdf::vocab::xsd::STRING.into_owned(), None),
                    };
                    text(first).cmp(&text(second))
                }
            }
        }
        Ordering::Equal => {
            // Without brackets: one IRI may begin with another.
            let text = |value| match look(run, value).and_then(|value| run.to_term(value)) {
                Some(Term::NamedNode(node)) => node.into_string(),
                Some(Term::BlankNode(node)) => node.into_string(),
                _ => String::new(),
            };
            text(first).cmp(&text(second))
        }
        order => order,
    }
}

/// Records a value of a distinct aggregate; returns true if it is new.
fn is_first(seen: &mut [HashSet<TermId, KeyedHashes>], place: usize, id: TermId) -> bool {
    seen.get_mut(place).is_some_and(|seen| seen.insert(id))
}
