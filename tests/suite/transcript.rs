//! Transcripts, in documents and in cases: commands behind `$ `, each with its output on the lines below.

/// Splits a command into words as a shell does: in quotes, spaces are part of a word; in `"…"`, a backslash escapes and
/// `\n` and `\r` end a line.
pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None, ' ') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (Some(open), _) if open == character => quote = None,
            (Some('"'), '\\') => {
                let escaped = characters.next().map(|escaped| match escaped {
                    'n' => '\n',
                    'r' => '\r',
                    other => other,
                });
                word.get_or_insert_default().extend(escaped);
            }
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// Returns true if the lines match the shown lines: a shown line `…` stands for any number of lines, and `[..]` for any
/// part of a line.
pub fn matches(shown: &[&str], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((&"…", rest)) => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, lines)| is_like(first, line) && matches(rest, lines))
        }
    }
}

fn is_like(shown: &str, line: &str) -> bool {
    match shown.split_once("[..]") {
        None => shown == line,
        Some((start, rest)) => line.strip_prefix(start).is_some_and(|line| {
            line.char_indices().map(|(at, _)| at).chain([line.len()]).any(|at| is_like(rest, &line[at..]))
        }),
    }
}
