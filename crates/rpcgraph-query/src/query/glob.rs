//! Globs: `*` stands for any text and `?` for a character.

use oxrdf::Literal;
use regex::Regex;

fn pattern(glob: &str) -> String {
    format!("^{}$", regex::escape(glob).replace(r"\*", ".*").replace(r"\?", "."))
}

/// Returns the regular expression for the whole texts that a glob matches.
///
/// # Errors
///
/// If the glob is too long.
pub fn regex(glob: &str) -> Result<Regex, regex::Error> {
    Regex::new(&format!("(?s){}", pattern(glob)))
}

/// Returns the expression in SPARQL that is true if a glob matches a whole value.
pub fn condition(value: &str, glob: &str) -> String {
    format!("REGEX({value}, {}, \"s\")", Literal::from(pattern(glob)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_matches_whole_texts() {
        for (glob, text, matches) in [
            ("tools/*", "tools/call", true),
            ("tools/*", "my tools/call", false),
            ("?", "\u{e9}", true),
            ("a*", "a\nb", true),
            ("a", "a\n", false),
            ("a.c", "abc", false),
            ("[a]", "[a]", true),
        ] {
            assert_eq!(regex(glob).unwrap().is_match(text), matches, "{glob:?} {text:?}");
        }
        assert_eq!(condition("?name", "a\"*"), r#"REGEX(?name, "^a\".*$", "s")"#);
    }

    #[test]
    fn many_stars_take_no_longer_than_one() {
        assert!(!regex(&"*a".repeat(50)).unwrap().is_match(&"a".repeat(49)));
    }
}
