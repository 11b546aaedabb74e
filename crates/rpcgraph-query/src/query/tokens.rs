//! The guard before the parser, which is recursive: queries that would use up the stack are refused.

use std::ops::Range;

/// Returns the tokens of a text, roughly as in SPARQL: never a part of a token.
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
                at += run(rest, |character| !matches!(character, '\n' | '\r'));
                continue;
            }
            Some(quote @ ('"' | '\'')) => string(rest, quote),
            Some('<') => iri(rest).unwrap_or_else(|| sign(rest)),
            // `?name`, or a question mark in a path.
            Some('?' | '$') => 1 + run(rest.get(1..).unwrap_or_default(), is_name),
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
    let mut escaped = false;
    let closing = rest.char_indices().skip(end.len()).find(|(at, character)| {
        let plain = !escaped;
        escaped = plain && *character == '\\';
        plain && rest.get(*at..).is_some_and(|rest| rest.starts_with(&end))
    });
    closing.map_or(rest.len(), |(at, _)| at + end.len())
}

fn iri(rest: &str) -> Option<usize> {
    let inner = rest.get(1..)?;
    // Stops at the first character that is not allowed in IRIs, so that many signs cost no more than few.
    let end = inner.find(|c: char| c.is_whitespace() || "<>\"{}|^`".contains(c))?;
    inner.get(end..)?.starts_with('>').then_some(end + 2)
}

/// Returns the length of the matching characters at the start of a text.
fn run(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|character| !is(character)).unwrap_or(text.len())
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}' | '\u{2040}')
}

fn is_word(character: char) -> bool {
    is_name(character) || ":@-.%\\".contains(character)
}

/// Returns the length of a word. A final dot is not included, since it ends a triple.
fn word(rest: &str) -> usize {
    rest.get(..run(rest, is_word)).unwrap_or(rest).trim_end_matches('.').len().max(1)
}

fn sign(rest: &str) -> usize {
    let doubled = ["&&", "||", "^^", "<=", ">=", "!=", "<<", ">>", "{|", "|}"];
    match doubled.iter().any(|sign| rest.starts_with(sign)) {
        true => 2,
        false => rest.chars().next().map_or(1, char::len_utf8),
    }
}

/// The maximum nesting of brackets, and the maximum number of operators and groups: parsing and evaluation are
/// recursive, and the stack is limited.
const MAX_DEPTH: usize = 256;
const MAX_OPERATORS: usize = 5_000;

/// Returns the place where a text is too complex to be parsed safely, as a byte offset, and the reason.
pub(super) fn too_much(text: &str) -> Option<(usize, String)> {
    let (mut depth, mut operators) = (0_usize, 0_usize);
    // `values` is true after `VALUES`; `data` is the depth inside its braces, where numbers may follow each other.
    let (mut values, mut data) = (false, None);
    let mut before = "";
    for range in tokens(text) {
        let token = text.get(range.clone()).unwrap_or_default();
        match token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is = |word: &str| token.eq_ignore_ascii_case(word);
        if token == "{" && std::mem::take(&mut values) {
            data = Some(depth);
        }
        data = data.filter(|inside| depth >= *inside);
        values |= is("VALUES");
        // Each of these adds a level around the text before it.
        let level = ["AS", "FILTER", "VALUES"].into_iter().any(is)
            || ["{", "||", "&&", "|", "+", "*", "/", "!"].contains(&token);
        let minus = if data.is_none() { minus(token, [",", "("].contains(&before)) } else { 0 };
        operators += usize::from(level) + minus;
        before = token;
        if depth > MAX_DEPTH {
            return Some((range.start, format!("brackets are nested more than {MAX_DEPTH} deep")));
        }
        if operators > MAX_OPERATORS {
            let advice = "VALUES and IN take any number of terms";
            return Some((range.start, format!("there are more than {MAX_OPERATORS} operators and groups; {advice}")));
        }
    }
    None
}

/// Returns the number of minus operators in a token: `1-1` and `?x -1` have one each, `1e-3` and names have none.
/// `begins` is true if a sign at the start belongs to a number.
fn minus(token: &str, begins: bool) -> usize {
    if token.contains([':', '"', '\'', '<', '@']) {
        return 0;
    }
    let is_operator = |(at, _): &(usize, &str)| match token.get(..*at).unwrap_or_default().as_bytes() {
        [] => !begins,
        [.., digit, b'e' | b'E'] => !digit.is_ascii_digit() && *digit != b'.',
        _ => true,
    };
    token.match_indices('-').filter(is_operator).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_end_where_their_names_do() {
        let text = "?s ?p ?o.?o a:b? ?x-?y $z*2";
        let found: Vec<_> = tokens(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["?s", "?p", "?o", ".", "?o", "a:b", "?", "?x", "-", "?y", "$z", "*", "2"]);
    }

    #[test]
    fn deep_queries_are_refused() {
        let nested = |depth: usize| format!("ASK {{ FILTER({}1{}) }}", "(".repeat(depth), ")".repeat(depth));
        assert_eq!(too_much(&nested(MAX_DEPTH - 2)), None);
        assert_eq!(too_much(&nested(MAX_DEPTH - 1)).map(|(at, _)| at), Some("ASK { FILTER(".len() + MAX_DEPTH - 2));
        // One operator fewer than operands, plus `{` and `FILTER`.
        let chain = |length: usize| format!("ASK {{ FILTER({}) }}", vec!["true"; length].join(" || "));
        assert_eq!(too_much(&chain(MAX_OPERATORS - 1)), None);
        assert!(too_much(&chain(MAX_OPERATORS)).is_some());
        let expression = |text: &str| too_much(&format!("SELECT ({text}1 AS ?n) {{}}"));
        for operator in ["!", "1-", "1 - ", "?x-", "1+", "-", "-1 ", "true-"] {
            assert_eq!(expression(&operator.repeat(MAX_OPERATORS - 3)), None, "{operator}");
            assert!(expression(&operator.repeat(MAX_OPERATORS + 1)).is_some(), "{operator}");
        }
        let listed = format!("ASK {{ ?s ex:a-b \"-\"@en-us FILTER(1 IN (-1{})) }}", ", -1e-3".repeat(MAX_OPERATORS));
        assert_eq!(too_much(&listed), None);
        let values = format!("SELECT ?x {{ VALUES (?x ?y) {{ {} }} }}", "(1 -2e-1) ".repeat(100_000));
        assert_eq!(too_much(&values), None);
    }

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
