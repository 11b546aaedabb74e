//! Parsing of text to a [`Value`], or to what another builder makes of the checked text.

use std::collections::HashSet;

use super::{Array, Cursor, Error, ErrorKind, Evidence, MAX_DEPTH, Number, Object, Text, Value};

/// Parses a text that is one JSON value, with or without whitespace around it.
///
/// Takes time linear in the text, and no stack for nesting. A byte-order mark is not whitespace.
pub fn parse(bytes: &[u8]) -> Result<Value<'_>, Error> {
    let mut builder = ValueBuilder::default();
    let (value, _) = whole(bytes, &mut builder)?;
    builder.levels.checked().map(|()| value)
}

impl<'a> Value<'a> {
    /// Returns the value of a text that is known to be JSON, without the content of an array or object.
    pub fn hollow(text: &'a str) -> Self {
        let evidence = Evidence::default();
        match text.as_bytes().first() {
            Some(b'[') => Self::Array(Array { items: Vec::new(), raw: text, evidence }),
            Some(b'{') => Self::Object(Object { members: Vec::new(), raw: text, evidence }),
            _ => parse(text.as_bytes()).unwrap_or(Self::Null),
        }
    }
}

/// Checks a text as [`parse`] does, and returns it.
pub fn check(bytes: &[u8]) -> Result<&str, Error> {
    let mut levels = Levels::default();
    let ((), text) = whole(bytes, &mut levels)?;
    levels.checked().map(|()| text)
}

/// Returns what `builder` makes of a text that is one JSON value, and the text.
fn whole<'a, B: Build<'a>>(bytes: &'a [u8], builder: &mut B) -> Result<(B::Built, &'a str), Error> {
    let text =
        str::from_utf8(bytes).map_err(|error| Error { kind: ErrorKind::NotUtf8, offset: error.valid_up_to() })?;
    let mut cursor = Cursor::new(text, 0);
    if cursor.is_at_end() {
        return Err(Error { kind: ErrorKind::Empty, offset: cursor.at() });
    }
    let built = cursor.value(builder).and_then(|built| match cursor.is_at_end() {
        true => Ok(built),
        false => Err("trailing characters"),
    });
    built.map(|built| (built, text)).map_err(|problem| {
        let is_cut = cursor.at() == text.len();
        let kind = if is_cut { ErrorKind::UnexpectedEnd } else { ErrorKind::Syntax(problem.to_owned()) };
        Error { kind, offset: cursor.at() }
    })
}

/// A builder, which receives the content of a text from front to back.
pub(crate) trait Build<'a> {
    /// The result for one value.
    type Built;

    /// A value that is neither an array nor an object.
    fn scalar(&mut self, scalar: Scalar<'a>) -> Self::Built;

    /// An array or object begins, with its bracket at `start`.
    fn begin(&mut self, start: usize);

    /// The name, without quotes, of the next member of the object that began last.
    fn name(&mut self, name: &'a str);

    /// A value of the array or object that began last.
    fn add(&mut self, built: Self::Built);

    /// The array or object that began last ends before the cursor.
    fn end(&mut self, is_object: bool, cursor: &Cursor<'a>) -> Self::Built;
}

/// A value that is neither an array nor an object.
pub(crate) enum Scalar<'a> {
    /// `null`, `true` or `false`.
    Word(&'static str),
    /// A number as it is spelled.
    Number(&'a str),
    /// The text between the quotes of a string.
    String(&'a str),
}

impl<'a> Scalar<'a> {
    /// Returns the scalar as a value.
    pub fn value(self) -> Value<'a> {
        match self {
            Self::Word("null") => Value::Null,
            Self::Word(word) => Value::Bool(word == "true"),
            Self::Number(spelling) => Value::Number(Number::new(spelling)),
            Self::String(inner) => Value::String(Text::decode(inner)),
        }
    }
}

impl<'a> Cursor<'a> {
    /// Reads the next value, and returns what `builder` makes of it. Otherwise returns the problem with the byte at which
    /// the cursor stops, or stops at the end of a text that is cut off.
    pub fn value<B: Build<'a>>(&mut self, builder: &mut B) -> Result<B::Built, &'static str> {
        // True for each open object, false for each open array.
        let mut open = Vec::new();
        loop {
            let mut built = match self.peek() {
                Some(bracket @ (b'[' | b'{')) => {
                    builder.begin(self.at());
                    self.skip();
                    let is_object = bracket == b'{';
                    if self.take(if is_object { b'}' } else { b']' }).is_some() {
                        builder.end(is_object, self)
                    } else {
                        open.push(is_object);
                        if is_object {
                            self.member_name(builder)?;
                        }
                        continue;
                    }
                }
                Some(b'"') => {
                    self.skip();
                    builder.scalar(Scalar::String(self.rest_of_string()?))
                }
                Some(b't' | b'f' | b'n') => {
                    builder.scalar(Scalar::Word(self.word().ok_or("expected `true`, `false` or `null`")?))
                }
                Some(b'-' | b'0'..=b'9') => builder.scalar(Scalar::Number(self.number().ok_or("invalid number")?)),
                _ => return Err("expected value"),
            };
            // The value may be the last one of several arrays and objects.
            loop {
                let Some(&is_object) = open.last() else { return Ok(built) };
                builder.add(built);
                match self.another(if is_object { b'}' } else { b']' }) {
                    Some(false) => {
                        open.pop();
                        built = builder.end(is_object, self);
                    }
                    Some(true) if is_object => break self.member_name(builder)?,
                    Some(true) => break,
                    None if is_object => return Err("expected `,` or `}`"),
                    None => return Err("expected `,` or `]`"),
                }
            }
        }
    }

    /// Reads the name of a member, and its colon.
    fn member_name<B: Build<'a>>(&mut self, builder: &mut B) -> Result<(), &'static str> {
        self.take(b'"').ok_or("expected a member name")?;
        builder.name(self.rest_of_string()?);
        self.take(b':').ok_or("expected `:`")
    }
}

/// Builds nothing, and finds nesting that is too deep. The text after it is still checked.
#[derive(Default)]
pub(crate) struct Levels {
    depth: usize,
    /// The offset of the first array or object that is nested too deep.
    too_deep: Option<usize>,
}

impl Levels {
    /// The levels inside `depth` arrays and objects.
    pub fn at_depth(depth: usize) -> Self {
        Self { depth, too_deep: None }
    }

    fn checked(&self) -> Result<(), Error> {
        self.too_deep.map_or(Ok(()), |offset| Err(Error { kind: ErrorKind::TooDeep, offset }))
    }

    /// True unless an array or object is nested too deep.
    pub fn are_few(&self) -> bool {
        self.too_deep.is_none()
    }
}

impl Build<'_> for Levels {
    type Built = ();

    fn scalar(&mut self, _: Scalar<'_>) {}

    #[inline]
    fn begin(&mut self, start: usize) {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.too_deep.get_or_insert(start);
        }
    }

    fn name(&mut self, _: &str) {}

    fn add(&mut self, (): ()) {}

    #[inline]
    fn end(&mut self, _: bool, _: &Cursor<'_>) {
        self.depth -= 1;
    }
}

/// Builds values. Content that is nested too deep is null.
#[derive(Default)]
struct ValueBuilder<'a> {
    levels: Levels,
    open: Vec<OpenValue<'a>>,
}

/// An open array or object.
#[derive(Default)]
struct OpenValue<'a> {
    start: usize,
    evidence: Evidence,
    items: Vec<Value<'a>>,
    members: Vec<(Text<'a>, Value<'a>)>,
    /// The name of the member whose value comes next.
    name: Option<Text<'a>>,
}

impl<'a> Build<'a> for ValueBuilder<'a> {
    type Built = Value<'a>;

    fn scalar(&mut self, scalar: Scalar<'a>) -> Value<'a> {
        scalar.value()
    }

    fn begin(&mut self, start: usize) {
        self.levels.begin(start);
        if self.levels.depth <= MAX_DEPTH {
            self.open.push(OpenValue { start, ..OpenValue::default() });
        }
    }

    fn name(&mut self, name: &'a str) {
        if let Some(object) = self.open.last_mut() {
            object.name = Some(Text::decode(name));
        }
    }

    fn add(&mut self, value: Value<'a>) {
        let Some(parent) = self.open.last_mut() else { return };
        parent.evidence.include(value.evidence());
        match parent.name.take() {
            Some(name) => {
                parent.evidence.include(Evidence::of_text(&name));
                parent.members.push((name, value));
            }
            None => parent.items.push(value),
        }
    }

    fn end(&mut self, is_object: bool, cursor: &Cursor<'a>) -> Value<'a> {
        self.levels.depth -= 1;
        if self.levels.depth >= MAX_DEPTH {
            return Value::Null;
        }
        let OpenValue { start, mut evidence, items, mut members, .. } = self.open.pop().unwrap_or_default();
        let raw = cursor.text_from(start);
        if !is_object {
            return Value::Array(Array { items, raw, evidence });
        }
        if has_duplicate(&members) {
            evidence.duplicate_member = true;
            keep_last(&mut members);
        }
        Value::Object(Object { members, raw, evidence })
    }
}

/// Objects of up to this many members are searched for duplicates without hashing.
const FEW_MEMBERS: usize = 16;

fn has_duplicate(members: &[(Text<'_>, Value<'_>)]) -> bool {
    if members.len() > FEW_MEMBERS {
        let mut seen = HashSet::with_capacity(members.len());
        return !members.iter().all(|(name, _)| seen.insert(name));
    }
    members.iter().enumerate().any(|(at, (name, _))| members.iter().skip(at + 1).any(|(later, _)| later == name))
}

fn keep_last<'a>(members: &mut Vec<(Text<'a>, Value<'a>)>) {
    let mut seen = HashSet::with_capacity(members.len());
    members.reverse();
    members.retain(|(name, _)| seen.insert(name.clone()));
    members.reverse();
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

    /// Texts that are valid, or nearly valid: `serde_json` decides which.
    #[test]
    fn the_grammar_is_that_of_serde_json() {
        let text =
            r#" {"a\\u1\u00e9": [true, false, null, -1.5e+30, 0.1, "\ud83d\ude00é", {}], "b": "\\" , "c" : [[ ]]} "#;
        let swapped = (0..text.len()).flat_map(|at| {
            b"\0\t\n\r \"+,-./0159:EU[\\]aefnrtu{}\x7f".iter().map(move |byte| {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] = *byte;
                bytes
            })
        });
        let cut = (0..text.len()).map(|at| [&text.as_bytes()[..at], &text.as_bytes()[at + 1..]].concat());
        for bytes in swapped.chain(cut) {
            let Ok(text) = str::from_utf8(&bytes) else { continue };
            let expected = serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok();
            assert_eq!(parse(&bytes).is_ok(), expected, "{text}");
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
    fn last_duplicate_member_keeps_its_position() {
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
