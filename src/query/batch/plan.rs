//! What a plan is made of, and how it is shown.

use std::fmt;
use std::sync::{Arc, OnceLock};

use oxrdf::Variable;

use super::super::cancel::Cause;
use super::expression::Expression;
use super::group::Group;
use super::operators::Index;
use super::scan::Scan;
use super::sort::Sort;
use crate::sink::columns::TermId;

/// The place of a variable's column in a batch.
pub(super) type Slot = usize;

/// How many rows a batch has, more or less.
pub(super) const ROWS: usize = 4096;

/// Why evaluation ends early.
#[derive(Debug)]
pub(super) enum Stop {
    Ended(Cause),
    /// Whoever takes the rows wants no more of them.
    Enough,
}

impl From<Cause> for Stop {
    fn from(cause: Cause) -> Self {
        Self::Ended(cause)
    }
}

/// Takes the batches that an operator makes.
pub(super) type Out<'o> = dyn FnMut(Batch) -> Result<(), Stop> + 'o;

/// Some rows. A column without rows is unbound in all of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Batch {
    pub rows: usize,
    pub columns: Vec<Vec<TermId>>,
}

impl Batch {
    /// One row, in which nothing is bound.
    pub fn unit(slots: usize) -> Self {
        Self { rows: 1, columns: vec![Vec::new(); slots] }
    }

    pub fn get(&self, slot: Slot, row: usize) -> TermId {
        self.columns.get(slot).and_then(|column| column.get(row)).copied().unwrap_or(TermId::UNBOUND)
    }

    /// Fills a column.
    pub fn set(&mut self, slot: Slot, values: Vec<TermId>) {
        if let Some(column) = self.columns.get_mut(slot) {
            *column = values;
        }
    }

    /// These rows of those columns that are kept.
    pub fn take(&self, rows: &[u32], keep: &[bool]) -> Self {
        let taken = |(column, keep): (&Vec<TermId>, &bool)| match *keep && !column.is_empty() {
            true => rows.iter().map(|row| column.get(*row as usize).copied().unwrap_or(TermId::UNBOUND)).collect(),
            false => Vec::new(),
        };
        Self { rows: rows.len(), columns: self.columns.iter().zip(keep).map(taken).collect() }
    }

    /// The rows from one to another.
    pub fn slice(&self, from: usize, to: usize) -> Self {
        let to = to.min(self.rows);
        let from = from.min(to);
        let columns = self.columns.iter().map(|column| column.get(from..to).unwrap_or_default().to_vec());
        Self { rows: to - from, columns: columns.collect() }
    }

    /// Adds the rows of another, with those slots.
    pub fn append(&mut self, other: Self, slots: &[Slot]) {
        self.columns.resize_with(other.columns.len().max(self.columns.len()), Vec::new);
        for slot in slots {
            let (Some(mine), Some(theirs)) = (self.columns.get_mut(*slot), other.columns.get(*slot)) else { continue };
            if theirs.is_empty() && mine.is_empty() {
                continue;
            }
            mine.resize(self.rows, TermId::UNBOUND);
            match theirs.is_empty() {
                true => mine.resize(self.rows + other.rows, TermId::UNBOUND),
                false => mine.extend_from_slice(theirs),
            }
        }
        self.rows += other.rows;
    }

    /// Forgets the columns that are not kept.
    pub fn keep(&mut self, keep: &[bool]) {
        for (column, keep) in self.columns.iter_mut().zip(keep) {
            if !keep && !column.is_empty() {
                *column = Vec::new();
            }
        }
    }
}

/// Operators, one after the other.
#[derive(Debug, Default)]
pub(super) struct Chain(pub Vec<Step>);

/// An operator, and which columns are wanted of its rows.
#[derive(Debug)]
pub(super) struct Step {
    pub operator: Operator,
    pub keep: Vec<bool>,
}

#[derive(Debug)]
pub(super) enum Operator {
    Scan(Scan),
    /// The items of JSON, a row for each.
    Items {
        json: Slot,
        item: Slot,
        members: bool,
    },
    /// The value of one slot is that of another.
    Same {
        from: Slot,
        to: Slot,
    },
    Filter(Expression),
    Bind(Slot, Expression),
    Union(Vec<Chain>),
    /// The rows of any of the chains, each once for a row; the slot numbers the rows.
    Alternative(Vec<Chain>, Slot, [Slot; 2]),
    /// The rows of the chain, or the row itself where there are none; the slot numbers the rows.
    Optional(Chain, Slot),
    Join(Join),
    /// Rows that are compatible with none of the table.
    Minus(Join),
}

/// A join with a table.
#[derive(Debug)]
pub(super) struct Join {
    pub stage: Arc<Stage>,
    /// The slots that have a value in all rows of both.
    pub keys: Vec<Slot>,
    /// Further slots that both may have.
    pub shared: Vec<Slot>,
    pub index: OnceLock<Index>,
}

/// What becomes a table.
#[derive(Debug)]
pub(super) struct Stage {
    pub chain: Chain,
    pub sink: TableSink,
    pub slots: Vec<Slot>,
    pub table: OnceLock<Arc<Batch>>,
}

#[derive(Debug)]
pub(super) enum TableSink {
    All,
    Group(Group),
    Sort(Sort),
    Distinct,
    Slice(usize, Option<usize>),
}

/// A query that can be run.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) variables: Vec<Variable>,
    pub(super) slots: Vec<Slot>,
    pub(super) chain: Chain,
    /// What is computed of the rows last, as terms that need no number.
    pub(super) late: Vec<(Slot, Expression)>,
    pub(super) width: usize,
    pub(super) ask: bool,
}

impl Plan {
    pub(super) fn is_ask(&self) -> bool {
        self.ask
    }

    pub(super) fn variables(&self) -> &[Variable] {
        &self.variables
    }
}

/// Writes a line of a plan.
fn line(f: &mut fmt::Formatter<'_>, depth: usize, text: fmt::Arguments<'_>) -> fmt::Result {
    writeln!(f, "{:indent$}{text}", "", indent = 2 * depth)
}

impl Chain {
    pub fn show(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        self.0.iter().try_for_each(|step| step.operator.show(f, depth))
    }
}

impl Operator {
    fn show(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        match self {
            Self::Scan(scan) => line(f, depth, format_args!("{scan}")),
            Self::Items { json, item, .. } => line(f, depth, format_args!("items of {json} as {item}")),
            Self::Same { from, to } => line(f, depth, format_args!("{to} is {from}")),
            Self::Filter(condition) => {
                line(f, depth, format_args!("filter {condition}"))?;
                condition.show(f, depth + 1)
            }
            Self::Bind(slot, value) => {
                line(f, depth, format_args!("bind {slot} = {value}"))?;
                value.show(f, depth + 1)
            }
            Self::Union(chains) | Self::Alternative(chains, ..) => chains.iter().try_for_each(|chain| {
                line(f, depth, format_args!("union"))?;
                chain.show(f, depth + 1)
            }),
            Self::Optional(chain, _) => {
                line(f, depth, format_args!("optional"))?;
                chain.show(f, depth + 1)
            }
            Self::Join(Join { stage, keys, shared, .. }) | Self::Minus(Join { stage, keys, shared, .. }) => {
                let name = if matches!(self, Self::Join(_)) { "join" } else { "minus" };
                line(f, depth, format_args!("{name} on {keys:?} {shared:?} with {}", stage.sink))?;
                stage.chain.show(f, depth + 1)
            }
        }
    }
}

impl fmt::Display for TableSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("the rows of"),
            Self::Group(group) => write!(f, "groups by {:?} of", group.keys),
            Self::Sort(sort) => write!(f, "the rows sorted by {:?} (limit {:?}) of", sort.keys, sort.limit),
            Self::Distinct => f.write_str("the distinct rows of"),
            Self::Slice(start, length) => write!(f, "the rows from {start} (at most {length:?}) of"),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chain.show(f, 0)?;
        for (slot, value) in &self.late {
            line(f, 0, format_args!("bind {slot} = {value}"))?;
        }
        let columns: Vec<_> =
            self.variables.iter().zip(&self.slots).map(|(name, slot)| format!("{slot}={name}")).collect();
        line(f, 0, format_args!("rows of {}", columns.join(" ")))
    }
}
