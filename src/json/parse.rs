//! From text to [`Value`].

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::{Array, Decimal, Error, ErrorKind, Evidence, MAX_DEPTH, Number, Object, Text, Value};

/// Parses a text that is one JSON value, with or without whitespace around it.
///
/// Takes time linear in the text, and no more stack for a deep one. A byte order mark is not whitespace.
pub fn parse(bytes: &[u8]) -> Result<Value<'_>, Error> {
    let text =
        str::from_utf8(bytes).map_err(|error| Error { kind: ErrorKind::NotUtf8, offset: error.valid_up_to() })?;
    serde_json::from_str::<&RawValue>(text).map_err(|error| explain(text, &error))?;
    Walker { text, at: 0 }.walk()
}

/// Walks over text that is valid JSON: what stands there needs telling apart, but no checking.
struct Walker<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Walker<'a> {
    fn walk(mut self) -> Result<Value<'a>, Error> {
        let mut open: Vec<Open<'a>> = Vec::new();
        loop {
            self.take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':'));
            let start = self.at;
            let value = match self.text.as_bytes().get(start) {
                Some(b'[' | b'{') if open.len() == MAX_DEPTH => return Err(self.error(ErrorKind::TooDeep)),
                Some(b'[') => {
                    self.at += 1;
                    open.push(Open::new(start, Inside::Array(Vec::new())));
                    continue;
                }
                Some(b'{') => {
                    self.at += 1;
                    open.push(Open::new(start, Inside::Object { members: Vec::new(), name: None }));
                    continue;
                }
                Some(b']' | b'}') => {
                    self.at += 1;
                    match open.pop() {
                        Some(ended) => ended.close(self.text, self.at),
                        None => break,
                    }
                }
                Some(b'"') => {
                    let text = self.string();
                    match open.last_mut().map(|parent| &mut parent.inside) {
                        Some(Inside::Object { name: name @ None, .. }) => {
                            *name = Some(text);
                            continue;
                        }
                        _ => Value::String(text),
                    }
                }
                _ => match self
                    .take_while(|byte| matches!(byte, b'+' | b'-' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z'))
                {
                    "null" => Value::Null,
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    "" => break,
                    number => Value::Number(Number::new(number)),
                },
            };
            match open.last_mut() {
                Some(parent) => parent.add(value),
                None => return Ok(value),
            }
        }
        // The text was not valid.
        Err(self.error(ErrorKind::UnexpectedEnd))
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error { kind, offset: self.at }
    }

    /// Goes on to the first byte that is not wanted.
    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.bytes().position(|byte| !wanted(byte)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// The string whose opening quote is next.
    fn string(&mut self) -> Text<'a> {
        self.at += 1;
        let start = self.at;
        loop {
            self.take_while(|byte| byte != b'"' && byte != b'\\');
            if self.text.as_bytes().get(self.at) != Some(&b'\\') {
                break;
            }
            self.at += 2;
        }
        let inner = self.text.get(start..self.at).unwrap_or_default();
        self.at += 1;
        Text::decode(inner)
    }
}

/// An array or object whose end has not come yet.
struct Open<'a> {
    start: usize,
    evidence: Evidence,
    inside: Inside<'a>,
}

enum Inside<'a> {
    Array(Vec<Value<'a>>),
    /// `name` waits for its value.
    Object {
        members: Vec<(Text<'a>, Value<'a>)>,
        name: Option<Text<'a>>,
    },
}

impl<'a> Open<'a> {
    fn new(start: usize, inside: Inside<'a>) -> Self {
        Self { start, evidence: Evidence::default(), inside }
    }

    fn add(&mut self, value: Value<'a>) {
        self.evidence.include(value.evidence());
        match &mut self.inside {
            Inside::Array(items) => items.push(value),
            Inside::Object { members, name } => {
                if let Some(name) = name.take() {
                    self.evidence.include(Evidence::of_text(&name));
                    members.push((name, value));
                }
            }
        }
    }

    fn close(self, text: &'a str, end: usize) -> Value<'a> {
        let raw = text.get(self.start..end).unwrap_or_default();
        let mut evidence = self.evidence;
        match self.inside {
            Inside::Array(items) => Value::Array(Array { items, raw, evidence }),
            Inside::Object { mut members, .. } => {
                if has_duplicate(&members) {
                    evidence.duplicate_member = true;
                    keep_last(&mut members);
                }
                Value::Object(Object { members, raw, evidence })
            }
        }
    }
}

/// Objects of up to this many members are searched for duplicates without hashing.
const FEW_MEMBERS: usize = 16;

fn has_duplicate(members: &[(Text<'_>, Value<'_>)]) -> bool {
    let mut names = members.iter().map(|(name, _)| name);
    if members.len() <= FEW_MEMBERS {
        while let Some(name) = names.next() {
            if names.clone().any(|later| later == name) {
                return true;
            }
        }
        false
    } else {
        let mut seen = HashSet::with_capacity(members.len());
        !names.all(|name| seen.insert(name))
    }
}

fn keep_last<'a>(members: &mut Vec<(Text<'a>, Value<'a>)>) {
    let mut seen = HashSet::with_capacity(members.len());
    let mut kept: Vec<_> = members.drain(..).rev().filter(|(name, _)| seen.insert(name.clone())).collect();
    kept.reverse();
    *members = kept;
}

/// What `serde_json` found, with the byte instead of line and column.
fn explain(text: &str, error: &serde_json::Error) -> Error {
    let end = |kind| Error { kind, offset: text.len() };
    if text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
        return end(ErrorKind::Empty);
    }
    let message = error.to_string();
    let problem = message.rsplit_once(" at line ").map_or(message.as_str(), |(problem, _)| problem);
    let lines: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let counted = lines + error.column();
    // The column counts the offending byte, but for a control character it stops before.
    let (problem, offset) = match problem {
        "EOF while parsing a string" => match broken_last_escape(text) {
            Some(offset) => ("invalid escape", offset),
            None => return end(ErrorKind::UnexpectedEnd),
        },
        _ if error.is_eof() => return end(ErrorKind::UnexpectedEnd),
        "invalid number" if counted == text.len() && ends_in_number(text) => return end(ErrorKind::UnexpectedEnd),
        "expected ident" => ("expected `true`, `false` or `null`", counted.saturating_sub(1)),
        "key must be a string" => ("expected a member name", counted.saturating_sub(1)),
        _ if problem.starts_with("control character") => ("control character in a string", counted),
        _ => (problem, counted.saturating_sub(1)),
    };
    Error { kind: ErrorKind::Syntax(problem.to_owned()), offset }
}

/// Whether the text ends inside a number that one more digit would complete, as `-`, `1.` and `1e+` do.
fn ends_in_number(text: &str) -> bool {
    let head = text.trim_end_matches(|c: char| matches!(c, '+' | '-' | '.' | '0'..='9' | 'E' | 'e'));
    let number = text.strip_prefix(head).unwrap_or_default();
    Decimal::parse(&[number, "0"].concat()).is_some()
}

/// `serde_json` takes an escape with fewer than four bytes after its `u` for the end of the text, although one of them
/// may be no hexadecimal digit: its place.
fn broken_last_escape(text: &str) -> Option<usize> {
    let (head, digits) = text.rsplit_once("\\u")?;
    let escaped = head.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
    let bad = digits.bytes().position(|byte| !byte.is_ascii_hexdigit())?;
    (!escaped && bad < 4).then_some(head.len() + 2 + bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> (ErrorKind, usize) {
        let Error { kind, offset } = parse(text.as_bytes()).unwrap_err();
        (kind, offset)
    }

    #[test]
    fn a_cut_text_ends_unexpectedly_wherever_it_is_cut() {
        let text =
            r#" {"a\\u1\u00e9": [true, false, null, -1.5e+30, 0.1, "\ud83d\ude00é", {}], "b": "\\" , "c" : [[ ]]} "#;
        let end = text.trim_end().len();
        for (cut, _) in text.char_indices() {
            let part = text.get(..cut).unwrap();
            if part.trim().is_empty() {
                assert_eq!(error(part), (ErrorKind::Empty, cut));
            } else if cut < end {
                assert_eq!(error(part), (ErrorKind::UnexpectedEnd, cut), "{part}");
            } else {
                assert!(parse(part.as_bytes()).is_ok());
            }
        }
        for number in ["-", "1.", "-0.", "1e", "1E+", "12.5e-"] {
            assert_eq!(error(number), (ErrorKind::UnexpectedEnd, number.len()));
        }
    }

    #[test]
    fn syntax_errors_point_at_the_offending_byte() {
        for (text, problem, offset) in [
            ("[1 2]", "expected `,` or `]`", 3),
            ("[1,\n\n 2 3]", "expected `,` or `]`", 8),
            ("{\"a\"\n1}", "expected `:`", 5),
            ("{a:1}", "expected a member name", 1),
            ("[nulL]", "expected `true`, `false` or `null`", 4),
            ("[1,]", "expected value", 3),
            ("1.e", "invalid number", 2),
            ("--", "invalid number", 1),
            ("01", "invalid number", 1),
            ("[\"a\u{1}\"]", "control character in a string", 3),
            ("[\"a\nb\"]", "control character in a string", 3),
            (r#"["\x"]"#, "invalid escape", 3),
            (r#""\u1""#, "invalid escape", 4),
            (r#"["\uD800\u1"]"#, "invalid escape", 11),
            ("1 2", "trailing characters", 2),
            ("\u{FEFF}1", "expected value", 0),
        ] {
            assert_eq!(error(text), (ErrorKind::Syntax(problem.to_owned()), offset), "{text}");
        }
    }

    #[test]
    fn raw_text_is_from_bracket_to_bracket() {
        let Value::Array(outer) = parse(b" [ 1 , { \"a\" : [ ] } ] ").unwrap() else { panic!() };
        assert_eq!(outer.raw, "[ 1 , { \"a\" : [ ] } ]");
        let Some(Value::Object(object)) = outer.items.last() else { panic!() };
        assert_eq!(object.raw, "{ \"a\" : [ ] }");
        assert!(matches!(object.get("a"), Some(Value::Array(inner)) if inner.raw == "[ ]"));
        assert!(object.get("b").is_none());
    }

    #[test]
    fn of_duplicates_the_last_stays_where_it_stood() {
        for others in [0, 2 * FEW_MEMBERS] {
            let others: String = (0..others).map(|i| format!(r#""{i}":null,"#)).collect();
            let text = format!(r#"{{{others}"x":1,"y":2,"x":3,"z":4,"\u0078":5,"w":6}}"#);
            let Value::Object(object) = parse(text.as_bytes()).unwrap() else { panic!() };
            let names: String = object.members.iter().rev().take(4).filter_map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, "wxzy");
            assert!(matches!(object.get("x"), Some(Value::Number(number)) if number.as_str() == "5"));
            assert!(object.evidence.duplicate_member);
        }
    }
}
