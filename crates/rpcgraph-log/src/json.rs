//! JSON with its evidence kept.
//!
//! A [`Value`] keeps what a plain JSON value loses: the spelling of numbers, the order of members, whether a member
//! name occurs twice, and strings that are not Unicode because of a lone surrogate. [`parse`] makes a value from text,
//! [`write_canonical`] makes text from a value.
//!
//! The grammar is in one place, a cursor over text. [`parse`] builds values with it; [`QuickWriter`] writes canonical
//! text with it and builds nothing. Tests compare both with what `serde_json` accepts.

mod canonical;
mod cursor;
mod digest;
mod error;
mod escape;
mod indent;
mod member;
mod number;
mod parse;
mod pointer;
mod quick;
mod text;
mod value;

pub use canonical::{Canonical, NumberOutOfRange, Numbers, quoted, write_canonical, write_str, write_string};
pub(crate) use cursor::Cursor;
pub use cursor::{special, special_in};
pub use digest::{KeyedDigests, KeyedHashes, sha256};
pub use error::{Error, ErrorKind, MAX_DEPTH};
pub(crate) use escape::unescape;
pub use indent::{indented, pretty};
pub use member::{elements, members, unescaped};
pub(crate) use member::{member, string};
pub use number::{Decimal, Number};
pub(crate) use parse::Levels;
pub use parse::{check, parse};
pub use pointer::{pointer_name, pointer_token};
pub(crate) use quick::MemberSpan;
pub use quick::QuickWriter;
pub use text::Text;
pub use value::{Array, Evidence, Object, Value};

/// Removes the members that are null from an object.
pub fn without_nulls(mut object: serde_json::Value) -> serde_json::Value {
    object.as_object_mut().into_iter().for_each(|members| members.retain(|_, value| !value.is_null()));
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_reaches_the_top() {
        let evidence = |text: &str| parse(text.as_bytes()).unwrap().evidence();
        assert_eq!(evidence(r#"{"a":[{"b":"\ud83d\ude00"}]}"#), Evidence::default());
        assert_eq!(
            evidence(r#"[{"x":{"a":1,"\u0061":2}}]"#),
            Evidence { duplicate_member: true, lone_surrogate: false }
        );
        assert_eq!(evidence(r#"[["\ude00"]]"#), Evidence { duplicate_member: false, lone_surrogate: true });
        assert_eq!(evidence(r#"[{"\ud83d":1}]"#), Evidence { duplicate_member: false, lone_surrogate: true });
        assert_eq!(evidence(r#"{"a":"\ud83d","a":1}"#), Evidence { duplicate_member: true, lone_surrogate: true });
    }

    #[test]
    fn errors_read_well() {
        let message = |text: &[u8]| parse(text).unwrap_err().to_string();
        assert_eq!(message(br#"{"a": 1 "b": 2}"#), "expected `,` or `}` at byte 8");
        assert_eq!(message(b"[1, 2"), "the text ends inside a value at byte 5");
        assert_eq!(message(b" \r\n"), "no JSON value, only whitespace or nothing");
        assert_eq!(message(b"[\"\xff\"]"), "not UTF-8 at byte 2");
        assert_eq!(message("[".repeat(1025).as_bytes()), "the text ends inside a value at byte 1025");
        assert_eq!(
            message(format!("{}{}", "[".repeat(1025), "]".repeat(1025)).as_bytes()),
            "nested deeper than 1024 levels at byte 1024"
        );
    }
}
