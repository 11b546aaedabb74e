//! Failures by their causes.

use indexmap::IndexMap;

use super::facts::FailureFact;
use super::units::one_line;

/// Failures with one text.
pub struct FailureCause<'f> {
    pub count: usize,
    /// True if all failures have the code of the first.
    pub has_one_code: bool,
    pub first: &'f FailureFact,
    /// The last time.
    pub last: Option<f64>,
    places: Vec<&'f str>,
    /// The names of all failures.
    pub names: Vec<&'f str>,
}

impl FailureCause<'_> {
    /// Returns the tool or method that failed, or the number of them.
    pub fn scope(&self) -> String {
        match self.places.as_slice() {
            [place] => one_line(place),
            places => format!("{} {}s", places.len(), if self.first.is_tool { "tool" } else { "method" }),
        }
    }
}

/// Groups failures by their causes; the most frequent first.
pub fn causes<'f>(failures: &'f [FailureFact]) -> Vec<FailureCause<'f>> {
    let groups = grouped(failures, |failure| (&failure.text, failure.code.as_deref()));
    let causes = groups.into_iter().filter_map(|failures| {
        let earlier = |first: &'f FailureFact, failure: &'f FailureFact| {
            if failure.time < first.time { failure } else { first }
        };
        let first: &FailureFact = failures.iter().copied().reduce(earlier)?;
        let names = failures.iter().map(|failure| failure.name.as_str()).collect();
        let mut cause =
            FailureCause { count: failures.len(), has_one_code: true, first, last: None, places: Vec::new(), names };
        for failure in failures {
            cause.has_one_code &= failure.code == first.code;
            cause.last = if cause.last < failure.time { failure.time } else { cause.last };
            if !cause.places.contains(&failure.what.as_str()) {
                cause.places.push(&failure.what);
            }
        }
        Some(cause)
    });
    causes.collect()
}

/// Groups failures by their texts, numbers and quoted words aside, and failures without a text by their codes; the most
/// frequent first.
pub(super) fn grouped<T>(
    failures: impl IntoIterator<Item = T>,
    text_and_code: impl Fn(&T) -> (&str, Option<&str>),
) -> Vec<Vec<T>> {
    let mut groups: IndexMap<String, Vec<T>> = IndexMap::new();
    for failure in failures {
        let key = match text_and_code(&failure) {
            ("", code) => code.unwrap_or_default().to_owned(),
            (text, _) => normalised(text),
        };
        groups.entry(key).or_default().push(failure);
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups
}

/// Replaces numbers, quoted words and hexadecimal words, which differ between failures of one cause.
pub(super) fn normalised(text: &str) -> String {
    let text = without_hexadecimal(text);
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

/// Puts `0` in place of words of hexadecimal digits, such as parts of a UUID, of which some are numbers and some letters.
fn without_hexadecimal(text: &str) -> String {
    let is_hexadecimal = |word: &str| {
        let digits = word.strip_prefix("0x").unwrap_or(word);
        digits.len() >= 4
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
            && digits.bytes().any(|byte| byte.is_ascii_digit())
            && digits.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    let words = text.split_inclusive(|character: char| !character.is_ascii_alphanumeric()).map(|part| {
        let word = part.trim_end_matches(|character: char| !character.is_ascii_alphanumeric());
        (word, part.strip_prefix(word).unwrap_or_default())
    });
    words.flat_map(|(word, end)| [if is_hexadecimal(word) { "0" } else { word }, end]).collect()
}

#[cfg(test)]
mod tests {
    use super::normalised;

    #[test]
    fn failures_that_differ_in_numbers_are_of_one_cause() {
        let one = "503 for request 8f3a2b-77d1 of \"a\" at 0xdeadbeef01: cafe";
        let other = "502 for request 1c9e04-d0a2 of \"b\" at 0xff00ff00ff: cafe";
        assert_eq!(normalised(one), normalised(other));
        assert_eq!(normalised(one), r#"0 for request 0-0 of "" at 0: cafe"#);
        assert_ne!(normalised("no face"), normalised("no bead"));
    }
}
