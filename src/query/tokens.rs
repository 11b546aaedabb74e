//! Where a query goes wrong, found by asking the parser about its beginnings.
//!
//! The parser says how far it looked, which is up to the length of a keyword beyond the place where it could not go on.
//! A beginning of a query that some query starts with, followed by enough spaces, is read to its end; one that no query
//! starts with is not. So the first token that makes the difference is the one that is wrong.

use std::ops::Range;

/// Longer than any keyword of the grammar.
const MARGIN: usize = 64;

/// The first token that no query can have there, if the text does not just end too early. `stops_at` tells where the
/// parser gives up on a text: a byte offset.
pub(super) fn first_wrong(text: &str, stops_at: impl Fn(&str) -> Option<usize>) -> Option<Range<usize>> {
    let tokens = tokens(text);
    let viable = |token: &Range<usize>| {
        let beginning = text.get(..token.end).unwrap_or(text);
        let padded = format!("{beginning}{}", " ".repeat(MARGIN));
        stops_at(&padded).is_none_or(|stopped| stopped >= padded.len())
    };
    let wrong = tokens.partition_point(viable);
    tokens.get(wrong).cloned()
}

/// The tokens of a text, roughly as SPARQL has them: never a part of one.
pub(super) fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = match rest.chars().next() {
            Some(first) if first.is_whitespace() => {
                at += first.len_utf8();
                continue;
            }
            Some('#') => {
                at += rest.find(['\n', '\r']).unwrap_or(rest.len());
                continue;
            }
            Some(quote @ ('"' | '\'')) => string(rest, quote),
            Some('<') => iri(rest).unwrap_or_else(|| sign(rest)),
            Some(first) if is_word(first) => word(rest),
            _ => sign(rest),
        };
        tokens.push(at..at + length);
        at += length;
    }
    tokens
}

fn string(rest: &str, quote: char) -> usize {
    let long = quote.to_string().repeat(3);
    let end = if rest.starts_with(&long) { long } else { quote.to_string() };
    let mut at = end.len();
    while let Some(inner) = rest.get(at..).filter(|inner| !inner.is_empty()) {
        if inner.starts_with(&end) {
            return at + end.len();
        }
        let mut characters = inner.chars();
        at += characters.next().map_or(0, char::len_utf8);
        if inner.starts_with('\\') {
            at += characters.next().map_or(0, char::len_utf8);
        }
    }
    rest.len()
}

fn iri(rest: &str) -> Option<usize> {
    let end = rest.find('>')?;
    let inner = rest.get(1..end)?;
    (!inner.contains(|c: char| c.is_whitespace() || "<\"{}|^`".contains(c))).then_some(end + 1)
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || "_:?$@-.%\\\u{B7}".contains(character)
}

/// A word does not end in a dot, which ends a triple.
fn word(rest: &str) -> usize {
    let length = rest.find(|character| !is_word(character)).unwrap_or(rest.len());
    let trimmed = rest.get(..length).unwrap_or(rest).trim_end_matches('.').len();
    trimmed.max(1)
}

fn sign(rest: &str) -> usize {
    let doubled = ["&&", "||", "^^", "<=", ">=", "!=", "<<", ">>", "{|", "|}"];
    match doubled.iter().any(|sign| rest.starts_with(sign)) {
        true => 2,
        false => rest.chars().next().map_or(1, char::len_utf8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_never_cut() {
        let text = r#"SELECT ?x { ?x jrpc:a "b \" c"@en , '''d'e''' . # f
            <http://x/#y> a:b.c "1"^^xsd:integer ; !(?x <= 1.5e-3) && ?y<3 || true. }"#;
        let found: Vec<_> = tokens(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(
            found,
            [
                "SELECT",
                "?x",
                "{",
                "?x",
                "jrpc:a",
                "\"b \\\" c\"",
                "@en",
                ",",
                "'''d'e'''",
                ".",
                "<http://x/#y>",
                "a:b.c",
                "\"1\"",
                "^^",
                "xsd:integer",
                ";",
                "!",
                "(",
                "?x",
                "<=",
                "1.5e-3",
                ")",
                "&&",
                "?y",
                "<",
                "3",
                "||",
                "true",
                ".",
                "}"
            ]
        );
    }
}
