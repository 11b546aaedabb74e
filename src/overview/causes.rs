//! Failures by their causes.

use std::collections::HashMap;

use super::facts::FailureFact;
use super::units::one_line;

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
