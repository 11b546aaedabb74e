//! The parts of a plan.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use oxrdf::Variable;
use spargebra::algebra::{self, AggregateFunction};

use super::super::cancel::Cause;
use super::super::functions::FunctionKind;
use crate::json::KeyedHashes;
use crate::sink::columns::TermId;

/// The place of a variable's column in a batch.
pub(super) type Slot = usize;

/// The approximate number of rows in a batch.
pub(super) const ROWS: usize = 4096;

/// The reason why evaluation ends early.
#[derive(Debug)]
pub(super) enum Stop {
    Ended(Cause),
    /// The consumer of the rows does not want more.
    Enough,
}

impl From<Cause> for Stop {
    fn from(cause: Cause) -> Self {
        Self::Ended(cause)
    }
}

/// Receives the batches of an operator.
pub(super) type BatchSink<'o> = dyn FnMut(Batch) -> Result<(), Stop> + 'o;

/// Some rows. An empty column is unbound in all of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Batch {
    pub rows: usize,
    pub columns: Vec<Vec<TermId>>,
}

impl Batch {
    /// Creates a batch of one row in which every slot is unbound.
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

    /// Returns the given rows, with only the columns to keep.
    pub fn take(&self, rows: &[u32], keep: &[bool]) -> Self {
        let taken = |(column, keep): (&Vec<TermId>, &bool)| match *keep && !column.is_empty() {
            true => rows.iter().map(|row| column.get(*row as usize).copied().unwrap_or(TermId::UNBOUND)).collect(),
            false => Vec::new(),
        };
        Self { rows: rows.len(), columns: self.columns.iter().zip(keep).map(taken).collect() }
    }

    /// Returns the rows `from..to`.
    pub fn slice(&self, from: usize, to: usize) -> Self {
        let to = to.min(self.rows);
        let from = from.min(to);
        let columns = self.columns.iter().map(|column| column.get(from..to).unwrap_or_default().to_vec());
        Self { rows: to - from, columns: columns.collect() }
    }

    /// Appends the rows of another batch, in the given slots.
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

    /// Returns the slots to keep that have a value in some row.
    pub fn in_use(&self, keep: &[bool]) -> impl Iterator<Item = Slot> {
        let slots = self.columns.iter().zip(keep).enumerate();
        slots.filter(|(_, (column, keep))| **keep && !column.is_empty()).map(|(slot, _)| slot)
    }

    /// Clears the columns that are not to be kept.
    pub fn keep(&mut self, keep: &[bool]) {
        for (column, keep) in self.columns.iter_mut().zip(keep) {
            if !keep && !column.is_empty() {
                *column = Vec::new();
            }
        }
    }
}

/// A sequence of operators.
#[derive(Debug, Default)]
pub(super) struct Chain(pub Vec<PlanStep>);

/// An operator, and the columns to keep in its rows.
#[derive(Debug)]
pub(super) struct PlanStep {
    pub operator: Operator,
    pub keep: Vec<bool>,
}

#[derive(Debug)]
pub(super) enum Operator {
    Scan(TripleScan),
    /// Adds a row for each item of a JSON literal.
    Items {
        json: Slot,
        item: Slot,
        members: bool,
    },
    /// Copies the value of one slot to another.
    Same {
        from: Slot,
        to: Slot,
    },
    Filter(Expression),
    Bind(Slot, Expression),
    Union(Vec<Chain>),
    /// The rows of all chains, without duplicates of these slots per input row.
    Alternative(Vec<Inner>, [Slot; 2]),
    /// The rows of the chain, or the input row if there are none.
    Optional(Inner),
    Join(Join),
    /// Rows that are not compatible with any row of the table.
    Minus(Join),
}

/// A chain that is evaluated for each row of a batch.
#[derive(Debug)]
pub(super) struct Inner {
    pub chain: Chain,
    /// The slot for the number of the row in the batch.
    pub row: Slot,
    /// The slots that the chain reads, or whose values are wanted after it.
    pub slots: Vec<Slot>,
}

/// A join with a table.
#[derive(Debug)]
pub(super) struct Join {
    pub stage: Arc<Stage>,
    /// The slots that have a value in all rows of both sides.
    pub keys: Vec<Slot>,
    /// Further slots that may have a value on both sides.
    pub shared: Vec<Slot>,
    /// The index by the keys.
    pub by_keys: OnceLock<HashIndex>,
    /// The index by the keys and those shared slots that have a value in all rows of the table.
    pub by_values: OnceLock<HashIndex>,
}

/// A chain whose rows become a table.
#[derive(Debug)]
pub(super) struct Stage {
    pub chain: Chain,
    pub sink: TableSink,
    pub slots: Vec<Slot>,
    /// The rows, once they are computed.
    pub table: Mutex<Option<Arc<Batch>>>,
}

#[derive(Debug)]
pub(super) enum TableSink {
    All,
    /// Without aggregates, the distinct rows.
    Group(Group),
    Sort(Sort),
    Slice(usize, Option<usize>),
}

/// An executable query.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) variables: Vec<Variable>,
    pub(super) slots: Vec<Slot>,
    pub(super) chain: Chain,
    /// Values computed last, directly as terms without numbers.
    pub(super) late: Vec<(Slot, Expression)>,
    pub(super) width: usize,
    pub(super) ask: bool,
    /// The names of the slots.
    pub(super) names: Vec<String>,
}

impl Plan {
    pub(super) fn is_ask(&self) -> bool {
        self.ask
    }

    pub(super) fn variables(&self) -> &[Variable] {
        &self.variables
    }
}

/// The source of a term in a triple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TermSource {
    Known(TermId),
    Slot(Slot),
}

/// A pattern of triples.
#[derive(Debug)]
pub(super) struct TripleScan {
    pub subject: TermSource,
    /// The slot for the predicate, if the query uses it.
    pub predicate: Option<Slot>,
    pub object: TermSource,
    /// The indexes of the columns to look up.
    pub columns: Vec<usize>,
    /// The name in the plan's text.
    pub name: String,
    /// True if a row without a matching triple is kept.
    pub optional: bool,
}

/// An expression, and the data to prepare for a batch before it is evaluated.
#[derive(Debug)]
pub(super) struct Expression {
    pub root: ExprNode,
    /// The patterns of `EXISTS`.
    pub patterns: Vec<Inner>,
    /// The calls that Oxigraph evaluates.
    pub calls: Vec<Call>,
    /// The slots that the expression reads.
    pub reads: Vec<Slot>,
    /// The slots that are unbound in some rows.
    pub uncertain: Vec<Slot>,
}

#[derive(Debug)]
pub(super) struct Call {
    pub expression: algebra::Expression,
    pub variables: Vec<Variable>,
    pub slots: Vec<Slot>,
}

#[derive(Debug)]
pub(super) enum ExprNode {
    Constant(TermId),
    Slot(Slot),
    Bound(Slot),
    /// The index of a pattern.
    Exists(usize),
    /// The index of a call.
    Called(usize),
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    SameTerm(Box<Self>, Box<Self>),
    Compare(Comparison, Box<Self>, Box<Self>),
    In(Box<Self>, Vec<Self>),
    Arithmetic(Operation, Box<Self>, Box<Self>),
    If(Box<[Self; 3]>),
    Coalesce(Vec<Self>),
    /// A function that is evaluated here.
    Function(algebra::Function, Vec<Self>),
    /// A function of this program, and the place of its values if columns hold them.
    Custom(FunctionKind, Option<usize>, Vec<Self>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Debug)]
pub(super) struct Group {
    pub keys: Vec<Slot>,
    pub aggregates: Vec<Aggregate>,
}

#[derive(Debug)]
pub(super) struct Aggregate {
    pub slot: Slot,
    pub function: AggregateFunction,
    /// The argument; `None` counts rows.
    pub of: Option<Expression>,
    pub distinct: bool,
}

#[derive(Debug)]
pub(super) struct Sort {
    /// The sort keys; true for descending order.
    pub keys: Vec<(Slot, bool)>,
    /// The number of rows wanted; `None` for all.
    pub limit: Option<usize>,
}

/// An index of a table by the hash of the values of some slots: the first row with a hash, and for each row the next.
#[derive(Debug)]
pub(super) struct HashIndex {
    pub slots: Vec<Slot>,
    pub first: HashMap<u64, u32, KeyedHashes>,
    pub next: Vec<u32>,
}
