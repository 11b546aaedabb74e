//! Names of columns as people write them.

/// The words of the overview for columns of the questions.
const OTHER_NAMES: [(&str, &str); 3] = [("calls", "count"), ("calls", "requests"), ("failed", "failures")];

/// Returns the column with a name: as it is, else without regard to case and to what stands between words, else by the word that
/// the overview has for it.
pub fn column_named<'c>(name: &str, columns: &[&'c str]) -> Option<&'c str> {
    let folded =
        |name: &str| name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let written = folded(name);
    let has = |wanted: &str| columns.iter().copied().find(|column| folded(column) == wanted);
    let exact = columns.iter().copied().find(|column| *column == name);
    let others = || OTHER_NAMES.into_iter().filter(|(word, _)| *word == written).find_map(|(_, column)| has(column));
    exact.or_else(|| has(&written)).or_else(others)
}

#[cfg(test)]
mod tests {
    use super::column_named;

    #[test]
    fn words_of_the_overview_are_names() {
        let methods = ["method", "count", "failures", "noAnswer", "p95"];
        let sessions = ["session", "requests", "failures"];
        for (name, columns, expected) in [
            ("calls", &methods[..], Some("count")),
            ("calls", &sessions, Some("requests")),
            ("failed", &methods, Some("failures")),
            ("no answer", &methods, Some("noAnswer")),
            ("no-answer", &methods, Some("noAnswer")),
            ("P95", &methods, Some("p95")),
            ("p9", &methods, None),
            ("", &methods, None),
        ] {
            assert_eq!(column_named(name, columns), expected, "{name}");
        }
    }
}
