//! Evaluation of each operator on a batch.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, MutexGuard, PoisonError};

use super::super::functions;
use super::plan::{
    Batch, BatchSink, Chain, HashIndex, Inner, Join, Operator, PlanStep, ROWS, Slot, Stage, Stop, TableSink,
};
use super::terms::QueryRun;
use crate::sink::columns::TermId;

const NONE: u32 = u32::MAX;

impl Chain {
    /// Evaluates the chain for the rows of a batch.
    pub fn run(&self, run: &QueryRun, batch: Batch, most: usize, out: &mut BatchSink<'_>) -> Result<(), Stop> {
        apply(&self.0, run, batch, most, out)
    }

    /// Returns the number of pieces, for a chain that begins with a single empty row.
    pub fn pieces(&self, run: &QueryRun) -> Result<usize, Stop> {
        Ok(match self.0.first().map(|step| &step.operator) {
            Some(Operator::Scan(scan)) => scan.pieces(run),
            Some(Operator::Join(join)) => join.stage.rows(run)?.rows.div_ceil(ROWS),
            Some(Operator::Union(chains)) => {
                chains.iter().try_fold(0, |sum, chain| Ok::<_, Stop>(sum + chain.pieces(run)?))?
            }
            _ => 1,
        })
    }

    /// Evaluates a piece of the chain.
    pub fn piece(&self, run: &QueryRun, width: usize, piece: usize, out: &mut BatchSink<'_>) -> Result<(), Stop> {
        run.cancel.check()?;
        let unit = Batch::unit(width);
        let Some((first, rest)) = self.0.split_first() else { return out(unit) };
        let mut behind = |batch: Batch| apply(rest, run, batch, ROWS, out);
        match &first.operator {
            Operator::Scan(scan) if scan.pieces(run) != 1 => {
                scan.run(run, unit, Some(piece..piece + 1), &first.keep, ROWS, &mut behind)
            }
            Operator::Join(join) => {
                let table = join.stage.rows(run)?;
                let mut batch = table.slice(piece * ROWS, (piece + 1) * ROWS);
                batch.columns.resize_with(width, Vec::new);
                batch.keep(&first.keep);
                behind(batch)
            }
            Operator::Union(chains) => {
                let mut piece = piece;
                for chain in chains {
                    let pieces = chain.pieces(run)?;
                    if piece < pieces {
                        return chain.piece(run, width, piece, &mut behind);
                    }
                    piece -= pieces;
                }
                Ok(())
            }
            _ => apply(&self.0, run, unit, ROWS, out),
        }
    }

    /// Evaluates all pieces.
    pub fn all(&self, run: &QueryRun, width: usize, out: &mut BatchSink<'_>) -> Result<(), Stop> {
        self.in_order(run, width, 0..self.pieces(run)?, out)
    }
}

impl Inner {
    /// Returns true for each row of a batch for which the chain has a row.
    pub fn exists(&self, run: &QueryRun, batch: &Batch) -> Result<Vec<bool>, Stop> {
        let mut found = vec![false; batch.rows];
        self.chain.run(run, self.numbered(batch), 256, &mut |batch| {
            for row in 0..batch.rows {
                if let Some(found) = batch.get(self.row, row).as_computed().and_then(|row| found.get_mut(row as usize))
                {
                    *found = true;
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns the values that the chain needs of each row, and the row's number.
    fn numbered(&self, batch: &Batch) -> Batch {
        let mut numbered = Batch { rows: batch.rows, ..Batch::unit(batch.columns.len()) };
        for slot in &self.slots {
            numbered.set(*slot, batch.columns.get(*slot).cloned().unwrap_or_default());
        }
        numbered.set(self.row, numbers(batch.rows));
        numbered
    }

    /// Evaluates the chain for a batch. Returns the found rows, in order of the batch's rows, and for each the number
    /// of its row in the batch. Values that the chain only passes on are not in the found rows.
    fn found(&self, run: &QueryRun, batch: &Batch) -> Result<(Batch, Vec<u32>), Stop> {
        let slots: Vec<Slot> = (0..batch.columns.len()).collect();
        let mut all = Batch { rows: 0, ..Batch::unit(batch.columns.len()) };
        self.chain.run(run, self.numbered(batch), ROWS, &mut |batch| {
            all.append(batch, &slots);
            Ok(())
        })?;
        let row = |at: usize| all.get(self.row, at).as_computed().unwrap_or_default();
        let rows: Vec<u32> = (0..all.rows).map(row).collect();
        if rows.is_sorted() {
            return Ok((all, rows));
        }
        let mut order: Vec<u32> = (0..all.rows).filter_map(|row| u32::try_from(row).ok()).collect();
        order.sort_by_key(|at| rows.get(*at as usize));
        let every = vec![true; slots.len()];
        let sorted = order.iter().filter_map(|at| rows.get(*at as usize).copied()).collect();
        Ok((all.take(&order, &every), sorted))
    }
}

/// Returns row numbers as term numbers.
fn numbers(rows: usize) -> Vec<TermId> {
    (0..rows).map(|row| TermId::computed(u32::try_from(row).unwrap_or(u32::MAX))).collect()
}

fn apply(
    steps: &[PlanStep],
    run: &QueryRun,
    mut batch: Batch,
    most: usize,
    out: &mut BatchSink<'_>,
) -> Result<(), Stop> {
    let Some((PlanStep { operator, keep }, rest)) = steps.split_first() else { return out(batch) };
    if batch.rows == 0 {
        return Ok(());
    }
    let mut behind = |batch: Batch| apply(rest, run, batch, most, out);
    match operator {
        Operator::Scan(scan) => scan.run(run, batch, None, keep, most, &mut behind),
        Operator::Items { json, item, members } => {
            let (mut rows, mut items) = (Vec::new(), Vec::new());
            for (row, at) in (0..batch.rows).zip(0..) {
                let json = run.term(batch.get(*json, row));
                for value in json.and_then(|json| functions::items(&json, *members)).into_iter().flatten() {
                    rows.push(at);
                    items.push(run.id(value));
                }
            }
            run.cancel.check()?;
            let mut taken = batch.take(&rows, keep);
            taken.set(*item, items);
            behind(taken)
        }
        Operator::Same { from, to } => {
            let (mut rows, mut values) = (Vec::new(), Vec::new());
            for (row, at) in (0..batch.rows).zip(0..) {
                let (one, other) = (batch.get(*from, row), batch.get(*to, row));
                if !other.is_bound() || one == other {
                    rows.push(at);
                    values.push(one);
                }
            }
            let mut taken = batch.take(&rows, keep);
            taken.set(*to, values);
            behind(taken)
        }
        Operator::Filter(condition) => {
            let fits = condition.prepare(run, &batch)?;
            let rows: Vec<u32> =
                (0..batch.rows).zip(0..).filter(|(row, _)| fits.truth(*row)).map(|(_, at)| at).collect();
            if rows.len() == batch.rows {
                batch.keep(keep);
                return behind(batch);
            }
            behind(batch.take(&rows, keep))
        }
        Operator::Bind(slot, value) => {
            let values = value.prepare(run, &batch)?.ids();
            batch.set(*slot, values);
            batch.keep(keep);
            behind(batch)
        }
        Operator::Union(chains) => chains.iter().try_for_each(|chain| chain.run(run, batch.clone(), most, &mut behind)),
        Operator::Alternative(inners, [subject, object]) => {
            let mut all = Batch { rows: 0, ..Batch::unit(batch.columns.len()) };
            let slots: Vec<Slot> = (0..batch.columns.len()).collect();
            let mut rows = Vec::new();
            for inner in inners {
                let (found, numbers) = inner.found(run, &batch)?;
                rows.extend(numbers);
                all.append(found, &slots);
            }
            let mut seen = HashSet::with_hasher(run.hashes.clone());
            let mut order: Vec<(u32, u32)> = rows.iter().copied().zip(0..).collect();
            order.retain(|(row, at)| {
                let at = *at as usize;
                seen.insert((*row, all.get(*subject, at), all.get(*object, at)))
            });
            order.sort_unstable();
            let (rows, order): (Vec<u32>, Vec<u32>) = order.into_iter().unzip();
            let mut taken = batch.take(&rows, keep);
            for slot in all.in_use(keep) {
                taken.set(slot, order.iter().map(|at| all.get(slot, *at as usize)).collect());
            }
            behind(taken)
        }
        Operator::Optional(inner) => {
            let (found, rows) = inner.found(run, &batch)?;
            behind(with_rest(batch, &found, &rows, keep))
        }
        Operator::Join(join) => join.rows(run, &batch, keep, &mut behind),
        Operator::Minus(join) => {
            let table = join.stage.rows(run)?;
            let mut rows = Vec::new();
            for (row, at) in (0..batch.rows).zip(0..) {
                if !join.is_in(run, &batch, row, &table)? {
                    rows.push(at);
                }
            }
            behind(batch.take(&rows, keep))
        }
    }
}

/// Combines the rows found for a batch, given with their row numbers, and the rows of the batch for which none was
/// found.
fn with_rest(mut batch: Batch, found: &Batch, rows: &[u32], keep: &[bool]) -> Batch {
    if rows.is_sorted_by(|one, next| one < next) {
        for slot in found.in_use(keep) {
            let mut column = std::mem::take(&mut batch.columns[slot]);
            column.resize(batch.rows, TermId::UNBOUND);
            for (row, value) in rows.iter().zip(&found.columns[slot]) {
                column[*row as usize] = *value;
            }
            batch.columns[slot] = column;
        }
        batch.keep(keep);
        return batch;
    }
    // The row in the batch, and the place of the row that was found for it.
    let mut taken: Vec<(u32, Option<u32>)> = Vec::with_capacity(batch.rows.max(rows.len()));
    let mut places = rows.iter().zip(0..).peekable();
    for row in (0..batch.rows).filter_map(|row| u32::try_from(row).ok()) {
        let before = taken.len();
        while let Some((_, at)) = places.next_if(|(known, _)| **known == row) {
            taken.push((row, Some(at)));
        }
        if before == taken.len() {
            taken.push((row, None));
        }
    }
    let numbers: Vec<u32> = taken.iter().map(|(row, _)| *row).collect();
    let mut all = batch.take(&numbers, keep);
    for slot in found.in_use(keep) {
        let value = |(row, at): &(u32, Option<u32>)| match at {
            Some(at) => found.get(slot, *at as usize),
            None => batch.get(slot, *row as usize),
        };
        all.set(slot, taken.iter().map(value).collect());
    }
    all
}

impl HashIndex {
    fn new(run: &QueryRun, table: &Batch, slots: Vec<Slot>) -> Self {
        let mut index = Self { slots, first: HashMap::with_hasher(run.hashes.clone()), next: vec![NONE; table.rows] };
        for row in (0..table.rows).rev() {
            let hash = run.hashes.hash_all(index.slots.iter().map(|slot| table.get(*slot, row)));
            let at = u32::try_from(row).unwrap_or(NONE);
            if let Some(next) = index.first.insert(hash, at)
                && let Some(place) = index.next.get_mut(row)
            {
                *place = next;
            }
        }
        index
    }
}

impl Join {
    /// Returns the rows of the table that may match a row, by all slots that have a value there and in the whole table.
    fn candidates<'t>(
        &'t self,
        run: &QueryRun,
        batch: &Batch,
        row: usize,
        table: &'t Batch,
    ) -> impl Iterator<Item = usize> + use<'t> {
        let by_values = self.by_values.get_or_init(|| {
            let is_full = |slot: &&Slot| (0..table.rows).all(|row| table.get(**slot, row).is_bound());
            HashIndex::new(run, table, self.keys.iter().chain(self.shared.iter().filter(is_full)).copied().collect())
        });
        let index = match by_values.slots.iter().all(|slot| batch.get(*slot, row).is_bound()) {
            true => by_values,
            false => self.by_keys.get_or_init(|| HashIndex::new(run, table, self.keys.clone())),
        };
        let hash = run.hashes.hash_all(index.slots.iter().map(|slot| batch.get(*slot, row)));
        let first = index.first.get(&hash).map(|first| *first as usize);
        std::iter::successors(first, |row| {
            index.next.get(*row).filter(|next| **next != NONE).map(|next| *next as usize)
        })
    }

    fn rows(&self, run: &QueryRun, batch: &Batch, keep: &[bool], out: &mut BatchSink<'_>) -> Result<(), Stop> {
        let table = self.stage.rows(run)?;
        let (mut mine, mut theirs): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut flush = |mine: &mut Vec<u32>, theirs: &mut Vec<u32>| {
            run.cancel.check()?;
            let mut taken = batch.take(mine, keep);
            for slot in self.stage.slots.iter().copied().filter(|slot| keep.get(*slot) == Some(&true)) {
                let value = |(row, at): (&u32, &u32)| {
                    let id = table.get(slot, *at as usize);
                    if id.is_bound() { id } else { batch.get(slot, *row as usize) }
                };
                taken.set(slot, mine.iter().zip(theirs.iter()).map(value).collect());
            }
            mine.clear();
            theirs.clear();
            out(taken)
        };
        for row in 0..batch.rows {
            for at in self.candidates(run, batch, row, &table) {
                let is_same = |slot: &Slot| table.get(*slot, at) == batch.get(*slot, row);
                let fits = |slot: &Slot| {
                    is_same(slot) || !table.get(*slot, at).is_bound() || !batch.get(*slot, row).is_bound()
                };
                if self.keys.iter().all(is_same) && self.shared.iter().all(fits) {
                    mine.push(u32::try_from(row).unwrap_or(NONE));
                    theirs.push(u32::try_from(at).unwrap_or(NONE));
                    if mine.len() == ROWS {
                        flush(&mut mine, &mut theirs)?;
                    }
                }
                if at % ROWS == 0 {
                    run.cancel.check()?;
                }
            }
        }
        if mine.is_empty() { Ok(()) } else { flush(&mut mine, &mut theirs) }
    }

    /// Returns true if a row of the table is compatible with a row and shares a variable with it.
    fn is_in(&self, run: &QueryRun, batch: &Batch, row: usize, table: &Batch) -> Result<bool, Stop> {
        for at in self.candidates(run, batch, row, table) {
            let (mut any, mut fits) = (false, true);
            for slot in self.keys.iter().chain(&self.shared) {
                let (one, other) = (batch.get(*slot, row), table.get(*slot, at));
                let both = one.is_bound() && other.is_bound();
                any |= both;
                fits &= !both || one == other;
            }
            if any && fits {
                return Ok(true);
            }
            if at % ROWS == 0 {
                run.cancel.check()?;
            }
        }
        Ok(false)
    }
}

impl Stage {
    /// Returns the rows of the table, if they are computed. Another thread that computes them is waited for.
    pub fn known(&self) -> MutexGuard<'_, Option<Arc<Batch>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the rows of the table, which is computed once.
    pub fn rows(&self, run: &QueryRun) -> Result<Arc<Batch>, Stop> {
        let mut table = self.known();
        Ok(match &*table {
            Some(table) => table.clone(),
            None => table.insert(Arc::new(self.compute(run)?)).clone(),
        })
    }

    fn compute(&self, run: &QueryRun) -> Result<Batch, Stop> {
        let width = self.chain.width().max(self.slots.iter().max().map_or(0, |slot| slot + 1));
        let mut all = Batch::unit(width);
        all.rows = 0;
        match &self.sink {
            TableSink::All => self.chain.all(run, width, &mut |batch| {
                all.append(batch, &self.slots);
                Ok(())
            })?,
            TableSink::Group(group) => return group.compute(run, &self.chain, width),
            TableSink::Sort(sort) => return sort.compute(run, &self.chain, width, &self.slots),
            TableSink::Slice(start, length) => {
                let end = length.map_or(usize::MAX, |length| start.saturating_add(length));
                let ended = if end == 0 {
                    Ok(())
                } else {
                    self.chain.all(run, width, &mut |batch| {
                        all.append(batch, &self.slots);
                        if all.rows < end { Ok(()) } else { Err(Stop::Enough) }
                    })
                };
                if let Err(Stop::Ended(cause)) = ended {
                    return Err(cause.into());
                }
                return Ok(all.slice(*start, end));
            }
        }
        Ok(all)
    }
}

impl Chain {
    /// Returns the number of columns in batches.
    fn width(&self) -> usize {
        self.0.first().map_or(0, |step| step.keep.len())
    }
}
