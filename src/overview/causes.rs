//! Failures by their causes.

use std::collections::HashMap;

use indexmap::IndexMap;
use oxrdf::{Literal, Term, Variable};

use super::facts::{FailureFact, text_of_failure};
use super::units::one_line;
use crate::query::{QueryError, QuerySolution, Solutions};

/// The columns of causes that show the value of all their failures, or the number of different values.
const SHARED: [&str; 2] = ["code", "method"];

/// Failures with one text.
pub struct Cause<'f> {
    pub count: usize,
    /// True if all failures have the code of the first.
    pub has_one_code: bool,
    pub first: &'f FailureFact,
    /// The last time.
    pub last: Option<f64>,
    places: Vec<&'f str>,
}

impl Cause<'_> {
    /// Where it happened: the tool or method, or the number of them.
    pub fn place(&self) -> String {
        match self.places.as_slice() {
            [place] => one_line(place),
            places => format!("{} {}s", places.len(), if self.first.is_tool { "tool" } else { "method" }),
        }
    }
}

/// Groups failures by their texts, numbers and quoted words aside; the most frequent first.
pub fn causes(failures: &[FailureFact]) -> Vec<Cause<'_>> {
    let mut causes: Vec<Cause<'_>> = Vec::new();
    let mut places = HashMap::new();
    for failure in failures {
        let place = *places.entry(normalised(&failure.text)).or_insert_with(|| {
            causes.push(Cause { count: 0, has_one_code: true, first: failure, last: None, places: Vec::new() });
            causes.len() - 1
        });
        let cause = &mut causes[place];
        cause.count += 1;
        cause.has_one_code &= failure.code == cause.first.code;
        cause.last = if cause.last < failure.time { failure.time } else { cause.last };
        if failure.time < cause.first.time {
            cause.first = failure;
        }
        if !cause.places.contains(&failure.what.as_str()) {
            cause.places.push(&failure.what);
        }
    }
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.count));
    causes
}

/// Groups the rows of `errors` as [`causes`] does. Columns: count, error, those of [`SHARED`], first (message), time, and last
/// (time).
pub fn by_cause(solutions: Solutions<'_>) -> Result<Solutions<'static>, QueryError> {
    let mut causes: IndexMap<String, (String, Vec<QuerySolution>)> = IndexMap::new();
    for row in solutions.rows {
        let row = row?;
        let text = match row.get("error") {
            Some(Term::Literal(text)) => text_of_failure(text.value()),
            _ => String::new(),
        };
        causes.entry(normalised(&text)).or_insert_with(|| (text, Vec::new())).1.push(row);
    }
    causes.sort_by(|_, (_, one), _, (_, other)| other.len().cmp(&one.len()));
    let names = ["count", "error"].into_iter().chain(SHARED).chain(["first", "time", "last"]);
    let variables: Vec<_> = names.map(Variable::new_unchecked).collect();
    let columns = variables.clone();
    let rows = causes.into_values().map(move |(text, failures)| {
        let of = |place: Option<&QuerySolution>, name: &str| place.and_then(|row| row.get(name)).cloned();
        let (first, last) = (failures.first(), failures.last());
        let mut values = vec![Some(Literal::from(failures.len() as u64).into()), Some(Literal::from(text).into())];
        values.extend(SHARED.map(|name| {
            let mut different: Vec<_> = failures.iter().filter_map(|row| row.get(name)).collect();
            different.sort_unstable_by_key(|value| value.to_string());
            different.dedup();
            match different.as_slice() {
                [] => None,
                [value] => Some((*value).clone()),
                values => Some(Literal::from(format!("{} {name}s", values.len())).into()),
            }
        }));
        values.extend([of(first, "message"), of(first, "time"), of(last, "time")]);
        Ok((columns.clone(), values).into())
    });
    Ok(Solutions { variables, rows: Box::new(rows) })
}

/// Replaces numbers and quoted words, which differ between failures of one cause.
fn normalised(text: &str) -> String {
    let mut found = String::new();
    let mut quote = None;
    for character in text.chars() {
        match (quote, character) {
            (Some(open), character) if character == open => quote = None,
            (Some(_), _) => continue,
            (None, '"' | '`') => quote = Some(character),
            _ => {}
        }
        if character.is_ascii_digit() {
            if !found.ends_with('0') {
                found.push('0');
            }
        } else {
            found.push(character);
        }
    }
    found
}
