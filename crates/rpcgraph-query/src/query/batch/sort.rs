//! Sorting: each distinct key is resolved once, then rows are compared by rank.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::str::FromStr as _;

use oxrdf::Term;
use oxrdf::vocab::xsd;
use oxsdatatypes::Decimal;

use super::super::keys::sort_key;
use super::plan::{Batch, Chain, Slot, Sort, Stop};
use super::terms::QueryRun;
use crate::sink::columns::TermId;

/// The number of rows kept beyond the limit before they are sorted.
const KEPT: usize = 1 << 16;

impl Sort {
    /// Sorts the rows of a chain.
    pub fn compute(&self, run: &QueryRun, chain: &Chain, width: usize, slots: &[Slot]) -> Result<Batch, Stop> {
        let mut all = Batch::unit(width);
        all.rows = 0;
        chain.all(run, width, &mut |batch| {
            all.append(batch, slots);
            if let Some(limit) = self.limit
                && all.rows > limit.saturating_add(KEPT)
            {
                all = self.sorted(run, std::mem::take(&mut all));
            }
            Ok(())
        })?;
        run.cancel.check()?;
        Ok(self.sorted(run, all))
    }

    fn sorted(&self, run: &QueryRun, mut all: Batch) -> Batch {
        // The first key alone excludes most rows beyond the limit.
        if let (Some(limit @ 1..), Some((slot, down))) = (self.limit, self.keys.first())
            && limit < all.rows
        {
            let ranks = ranks(run, &all, *slot, *down);
            let last = *ranks.clone().select_nth_unstable(limit - 1).1;
            let rows = ranks.iter().zip(0..).filter(|(rank, _)| **rank <= last).map(|(_, row)| row);
            all = all.take(&rows.collect::<Vec<u32>>(), &vec![true; all.columns.len()]);
        }
        let ranks: Vec<Vec<u64>> = self.keys.iter().map(|(slot, down)| ranks(run, &all, *slot, *down)).collect();
        let rank = |row: u32| ranks.iter().map(move |ranks| ranks.get(row as usize).copied().unwrap_or_default());
        let mut order: Vec<u32> = (0..all.rows).filter_map(|row| u32::try_from(row).ok()).collect();
        let limit = self.limit.unwrap_or(usize::MAX);
        let is_sorted = order.is_sorted_by(|one, other| rank(*one).le(rank(*other)));
        if is_sorted && limit >= all.rows {
            return all;
        }
        let compare = |one: &u32, other: &u32| rank(*one).cmp(rank(*other)).then(one.cmp(other));
        if !is_sorted {
            if limit > 0 && limit < order.len() {
                order.select_nth_unstable_by(limit - 1, compare);
                order.truncate(limit);
            }
            order.sort_unstable_by(compare);
        }
        order.truncate(limit);
        all.take(&order, &vec![true; all.columns.len()])
    }
}

/// Returns the rank of each row's value among the values of a slot; 0 is unbound.
fn ranks(run: &QueryRun, all: &Batch, slot: Slot, down: bool) -> Vec<u64> {
    let ids = || (0..all.rows).map(|row| all.get(slot, row));
    let integer = |id: TermId| match id.is_bound() {
        true => id.as_integer().map(|integer| integer.cast_unsigned() ^ 1 << 63),
        false => Some(0),
    };
    let ranks: Option<Vec<u64>> = ids().map(integer).collect();
    let mut ranks = ranks.unwrap_or_else(|| {
        let mut known: HashMap<TermId, u64, _> = HashMap::with_hasher(run.hashes.clone());
        ids().for_each(|id| _ = known.insert(id, 0));
        let mut keys: Vec<(SortKey, TermId)> = known.keys().map(|id| (key(run, *id), *id)).collect();
        keys.sort_by(|(one, _), (other, _)| one.compare(other));
        let mut rank = 0;
        let mut last: Option<&SortKey> = None;
        for (key, id) in &keys {
            rank += u64::from(last.is_some_and(|last| last.compare(key).is_ne()));
            last = Some(key);
            known.insert(*id, rank);
        }
        ids().map(|id| known.get(&id).copied().unwrap_or_default()).collect()
    });
    if down {
        ranks.iter_mut().for_each(|rank| *rank = !*rank);
    }
    ranks
}

/// The sort key of a term, in the order of kinds.
enum SortKey {
    Unbound,
    /// A blank node or an IRI.
    Node(String),
    Text(String),
    Number(Decimal),
    /// A number beyond the range of decimals.
    Beyond(f64),
}

fn key(run: &QueryRun, id: TermId) -> SortKey {
    if let Some((digits, behind)) = id.as_decimal()
        && let Ok(decimal) = Decimal::new(digits.into(), behind)
    {
        return SortKey::Number(decimal);
    }
    if let Some(integer) = id.as_integer() {
        return SortKey::Number(integer.into());
    }
    match run.term(id).as_ref().and_then(sort_key) {
        None => SortKey::Unbound,
        Some(Term::BlankNode(node)) => SortKey::Node(node.into_string()),
        Some(Term::NamedNode(node)) => SortKey::Text(node.into_string()),
        Some(Term::Literal(literal)) if literal.datatype() == xsd::DECIMAL => {
            Decimal::from_str(literal.value()).map_or(SortKey::Unbound, SortKey::Number)
        }
        Some(Term::Literal(literal)) => f64::from_str(literal.value()).map_or(SortKey::Unbound, SortKey::Beyond),
        #[cfg(feature = "shacl")]
        Some(Term::Triple(_)) => SortKey::Unbound,
    }
}

impl SortKey {
    fn rank(&self) -> u8 {
        match self {
            Self::Unbound => 0,
            Self::Node(_) => 1,
            Self::Text(_) => 2,
            Self::Beyond(number) if *number < 0.0 => 3,
            Self::Number(_) => 4,
            Self::Beyond(_) => 5,
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Node(one), Self::Node(other)) | (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (Self::Number(one), Self::Number(other)) => one.cmp(other),
            (Self::Beyond(one), Self::Beyond(other)) => one.total_cmp(other),
            (one, other) => one.rank().cmp(&other.rank()),
        }
    }
}
