//! Spellings of values in logs: JSON, JSON in a string, literals of other languages, and hexadecimal digits.

mod literal;
mod prefixed;

use self::literal::Literal;
use self::prefixed::{Prefixed, prefix, prefixed};
use super::cut::{elided, is_note};
use super::decoder::{leading_blanks, trim_end};
use super::object::{RawObject, objects, unescaped};
use super::value::{Extent, value, value_shown};
use memchr::memmem;
use std::borrow::Cow;

/// The spelling of the value in a place of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Spelling {
    #[default]
    Json,
    /// The text of a string, with or without its quotes. Web servers write `\x22` for a quote in it.
    String,
    /// A field of CSV, or the end of one: its quotes are doubled.
    Csv,
    /// Python's dictionaries, strings, bytes and constructor calls, Vim's dictionaries, and Java's records.
    Python,
    /// Objects with bare names, as Node.js's `util.inspect` prints them, hashes of Ruby, maps of Elixir, and Rust's `{:?}`.
    JavaScript,
    /// Property lists of Emacs.
    Lisp,
    /// Two digits for each byte.
    Hex,
    /// JSON in HTML, with entities such as `&quot;`.
    Html,
    /// JSON over several lines, each of which but the first has the same text in front, with other digits.
    Prefixed,
}

/// A value in JSON, of which the spelling in the log has `used` bytes.
pub(super) struct SpelledValue<'a> {
    pub json: Cow<'a, [u8]>,
    pub used: usize,
    /// True if the value is cut off or has a syntax error.
    pub is_broken: bool,
    /// True if the spelling states that it leaves out a part.
    pub is_cut: bool,
}

impl Spelling {
    /// The name in files that describe formats.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::String => "string",
            Self::Csv => "csv",
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::Lisp => "lisp",
            Self::Hex => "hex",
            Self::Html => "html",
            Self::Prefixed => "prefixed",
        }
    }

    /// Returns the spelling of a value that may begin at the end of `front`.
    pub fn shown(front: &[u8], text: &[u8]) -> Option<Self> {
        let is_apart = !front.last().is_some_and(|last| last.is_ascii_alphanumeric() || *last == b'_');
        let inside = || &text[1 + leading_blanks(&text[1..])..];
        let is_string =
            |text: &[u8]| text.starts_with(b"{\\\"") || text.starts_with(b"[{\\\"") || begins_with_quote_as_byte(text);
        let is_field = |text: &[u8]| matches!(text, [b'{', b'"', b'"', b'a'..=b'z', ..]);
        match text.first()? {
            b'{' | b'[' if is_string(text) => Some(Self::String),
            b'{' if is_field(text) => Some(Self::Csv),
            b'{' if ["&quot;", "&#34;"].iter().any(|quote| inside().starts_with(quote.as_bytes())) => Some(Self::Html),
            b'"' if is_field(&text[1..]) || text[1..].starts_with(b"[") && is_field(&text[2..]) => Some(Self::Csv),
            b'{' => match inside() {
                [b':', b'a'..=b'z', ..] => Some(Self::JavaScript),
                [b'"', name @ ..] if is_before_arrow(name) => Some(Self::JavaScript),
                [] | [b'"' | b'}', ..] => Some(Self::Json),
                [b'\'', ..] | [b'u' | b'b', b'\'' | b'"', ..] => Some(Self::Python),
                inside if begins_member(inside) || inside.starts_with(NO_BREAK) => Some(Self::JavaScript),
                _ => prefix(text).map(|_| Self::Prefixed),
            },
            b'(' if is_apart && matches!(inside(), [b':', b'a'..=b'z', ..]) => Some(Self::Lisp),
            // A map of Elixir.
            b'%' if text[1..].starts_with(b"{") => {
                Self::shown(b"", &text[1..]).filter(|spelling| *spelling == Self::JavaScript)
            }
            b'[' => match inside() {
                [] => Some(Self::Json),
                [b'\'' | b'`', b'{', ..] => Some(Self::JavaScript),
                [b'{', ..] => Self::shown(b"", inside()).filter(|spelling| *spelling != Self::String),
                _ => None,
            },
            b'"' if is_apart && (is_string(&text[1..]) || text[1..].starts_with(HEADER)) => Some(Self::String),
            b'b' if is_apart && matches!(text.get(1), Some(b'\'' | b'"')) => Some(Self::Python),
            b'A'..=b'Z' if is_apart && is_call(text) => Some(Self::Python),
            b'5' | b'7' if is_apart && begins_in_hex(text) => Some(Self::Hex),
            _ => None,
        }
    }

    /// Decodes the object or array at the beginning of a text, behind the header of a frame.
    pub fn decode(self, text: &[u8]) -> Option<SpelledValue<'_>> {
        match self {
            Self::Json => structured(text),
            Self::Html => {
                let (json, ends) = without_entities(text);
                let found = structured(&json)?;
                let (length, is_broken) = (found.json.len(), found.is_broken);
                let used = ends.get(length.checked_sub(1)?).copied()?;
                Some(SpelledValue { json: json[..length].to_vec().into(), used, is_broken, is_cut: found.is_cut })
            }
            Self::String => {
                let quoted = text.strip_prefix(b"\"");
                let rest = quoted.unwrap_or(text);
                let end = end_of_string(rest);
                let used = text.len() - rest.len() + end.map_or(rest.len(), |end| end + usize::from(quoted.is_some()));
                let mut inside = unescaped(&rest[..end.unwrap_or(rest.len())]).into_owned();
                if inside.starts_with(b"{\\\"") {
                    inside = unescaped(&inside).into_owned();
                }
                let found = owned(inside, used)?;
                // Without quotes, another field may follow on the line.
                let is_bare = quoted.is_none() && begins_with_quote_as_byte(rest);
                let used = if is_bare { length_of_bytes(rest, found.json.len()) } else { used };
                Some(SpelledValue { used, ..found })
            }
            Self::Csv => {
                let rest = text.strip_prefix(b"\"").unwrap_or(text);
                let (mut inside, mut at) = (Vec::new(), 0);
                while let Some(quote) = memchr::memchr(b'"', &rest[at..]) {
                    let is_doubled = rest.get(at + quote + 1) == Some(&b'"');
                    inside.extend_from_slice(&rest[at..at + quote + usize::from(is_doubled)]);
                    at += quote + 1 + usize::from(is_doubled);
                    if !is_doubled {
                        break;
                    }
                }
                owned(inside, text.len() - rest.len() + at)
            }
            Self::Python | Self::JavaScript | Self::Lisp => {
                let (literal, is_whole) = self.literal(text);
                is_whole.then_some(())?;
                let Literal { at, json, is_cut, .. } = literal;
                // A program may print the list of its arguments.
                let quoted = json.strip_prefix(b"[").filter(|_| self == Self::JavaScript && is_single(&json));
                let inside = match quoted.unwrap_or(&json).strip_prefix(b"\"") {
                    Some(quoted) => unescaped(quoted).into_owned(),
                    None => json,
                };
                Some(SpelledValue { is_cut, ..owned(inside, at)? })
            }
            Self::Prefixed => match prefixed(text) {
                Some(Prefixed::Whole(json, used)) => owned(json, used),
                _ => None,
            },
            Self::Hex => {
                let used = hex_digits(text);
                owned(of_hex(&text[..used]), used)
            }
        }
    }

    /// Reads the literal at the beginning of a text. The second value is true if it is whole.
    fn literal(self, text: &[u8]) -> (Literal<'_>, bool) {
        let mut literal = Literal::new(text);
        let found = if self == Self::Lisp { literal.lisp(0) } else { literal.value(0) };
        (literal, found.is_some())
    }

    /// Returns the extent of a value that continues on the lines below its first; nothing follows the text at its `end`.
    pub fn extent(self, text: &[u8], end: bool) -> Extent {
        match self {
            Self::Python | Self::JavaScript | Self::Lisp => match self.literal(text) {
                (literal, true) => Extent::Whole(literal.at),
                (literal, false) if literal.at >= text.len() && end => Extent::Whole(trim_end(text).len()),
                (literal, false) if literal.at >= text.len() => Extent::Incomplete,
                (literal, false) => Extent::Broken(literal.at),
            },
            Self::Prefixed => match prefixed(text) {
                Some(Prefixed::Whole(_, used)) => Extent::Whole(used),
                Some(Prefixed::Incomplete) if !end => Extent::Incomplete,
                // The second line shows the prefix.
                None if !end && memchr::memchr_iter(b'\n', text).nth(1).is_none() => Extent::Incomplete,
                _ => Extent::Broken(0),
            },
            _ => match value_shown(text, end) {
                Extent::Broken(at) if is_note(text, at) => match elided(text) {
                    Some((_, used)) => Extent::Whole(used),
                    None if end => Extent::Broken(at),
                    None => Extent::Incomplete,
                },
                extent => extent,
            },
        }
    }
}

/// True if a value at the end of a line may continue on the lines below.
pub(super) fn may_continue(line: &[u8]) -> bool {
    matches!(line.last(), Some(b'{' | b'[' | b',')) || line.starts_with(b"(:")
}

/// The minimum number of digits of a message in hexadecimal.
const LEAST_HEX: usize = 32;

/// Returns the number of hexadecimal digits of whole bytes at the beginning of a text.
fn hex_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count() / 2 * 2
}

/// Returns the bytes that pairs of hexadecimal digits stand for.
fn of_hex(digits: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or_default() as u8;
    digits.chunks_exact(2).map(|pair| 16 * digit(pair[0]) + digit(pair[1])).collect()
}

/// True if hexadecimal digits stand for an object with a member, or for an array of objects, with blanks or without.
fn begins_in_hex(text: &[u8]) -> bool {
    if hex_digits(&text[..text.len().min(LEAST_HEX)]) < LEAST_HEX {
        return false;
    }
    let json = of_hex(&text[..LEAST_HEX]);
    let [first @ (b'{' | b'['), inside @ ..] = &json[..] else { return false };
    let next = inside.get(leading_blanks(inside));
    next == Some(if *first == b'{' { &b'"' } else { &b'{' })
}

/// True for an object, or an array of objects, in which `\x22` stands for each quote.
fn begins_with_quote_as_byte(text: &[u8]) -> bool {
    text.strip_prefix(b"[").unwrap_or(text).starts_with(b"{\\x22")
}

/// Returns the length of a spelling of this many bytes, in which `\x` and two digits stand for one.
fn length_of_bytes(text: &[u8], count: usize) -> usize {
    (0..count).fold(0, |at, _| at + if text.get(at..).is_some_and(|rest| rest.starts_with(b"\\x")) { 4 } else { 1 })
}

/// Returns a text of HTML with its characters for entities, and for each byte the end of its spelling.
fn without_entities(text: &[u8]) -> (Vec<u8>, Vec<usize>) {
    const ENTITIES: [(&[u8], u8); 8] = [
        (b"&quot;", b'"'),
        (b"&#34;", b'"'),
        (b"&#x27;", b'\''),
        (b"&#39;", b'\''),
        (b"&apos;", b'\''),
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&amp;", b'&'),
    ];
    let (mut plain, mut ends, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(&byte) = text.get(at) {
        let entity = ENTITIES.iter().find(|(name, _)| byte == b'&' && text[at..].starts_with(name));
        let (character, length) = entity.map_or((byte, 1), |(name, character)| (*character, name.len()));
        at += length;
        plain.push(character);
        ends.push(at);
    }
    (plain, ends)
}

/// True for the bare name of a member and its colon.
fn begins_member(text: &[u8]) -> bool {
    let name = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    name > 0 && !text[0].is_ascii_digit() && matches!(text[name..], [b':', b' ' | b'\n', ..])
}

/// True for an array of one string.
fn is_single(json: &[u8]) -> bool {
    json.starts_with(b"[\"") && end_of_string(&json[2..]).is_some_and(|end| json[2 + end..] == *b"\"]")
}

/// The no-break space, which pages have in place of blanks.
const NO_BREAK: &[u8] = "\u{a0}".as_bytes();

/// The beginning of a frame's header.
pub(super) const HEADER: &[u8] = b"Content-Length";

fn owned<'a>(text: Vec<u8>, used: usize) -> Option<SpelledValue<'a>> {
    let start = match text.starts_with(HEADER) {
        true => text.iter().position(|byte| b"{[".contains(byte))?,
        false => 0,
    };
    let found = structured(&text[start..])?;
    Some(SpelledValue { json: found.json.into_owned().into(), used, ..found })
}

/// Returns the object or array in JSON at the beginning of a text.
fn structured(text: &[u8]) -> Option<SpelledValue<'_>> {
    let text_start = leading_blanks(text);
    let rest = &text[text_start..];
    let (length, is_broken) = match (rest.first()?, value(rest)) {
        (b'{' | b'[', Extent::Whole(length)) => (length, false),
        (b'{', _) if let Some((json, length)) = elided(rest) => {
            let used = text_start + length;
            return Some(SpelledValue { json: json.into(), used, is_broken: false, is_cut: true });
        }
        (b'{' | b'[', _) => (trim_end(rest).len(), true),
        _ => return None,
    };
    Some(SpelledValue { json: rest[..length].into(), used: text_start + length, is_broken, is_cut: false })
}

/// Returns the offset of the quote that ends a string.
fn end_of_string(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

/// True for the call of a constructor, or a record, that has the members of a message.
fn is_call(text: &[u8]) -> bool {
    let name = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let has = |word: &[u8]| memmem::find(text, word).is_some();
    let is_record = || matches!(text.get(name), Some(b'[' | b'{')) && literal::begins_member(&text[name + 1..]);
    (text.get(name) == Some(&b'(') || is_record()) && (has(b"jsonrpc=") || has(b"method="))
}

/// True if an object or array has the shape of a message, or is the beginning of one.
pub(super) fn has_shape(json: &[u8]) -> bool {
    // Most messages begin with their version, and need not be parsed.
    let behind = json.strip_prefix(b"{\"jsonrpc\":");
    behind.is_some_and(|rest| rest[leading_blanks(rest)..].starts_with(b"\"2.0\""))
        || objects(json).any(|object| is_shaped(&object))
}

/// True for an answer without a result, as Dart's analysis server and Flutter's daemon write it: an object with an id and
/// nothing else, also in an array.
pub(super) fn is_bare_answer(json: &[u8]) -> bool {
    let is_id =
        |object: RawObject<'_>| object.is_whole() && object.members().all(|(name, id)| name == b"id" && id != b"null");
    let object = json.strip_prefix(b"[").unwrap_or(json);
    json.len() < 64 && object.starts_with(b"{\"id\"") && objects(json).all(is_id)
}

/// True if an object has the members of a call or of an answer, whatever else it has.
pub(super) fn is_shaped(object: &RawObject<'_>) -> bool {
    object.has("jsonrpc")
        || object.string("method").is_some()
        || object.has("id") && (object.has("result") || object.has("error"))
}

/// True if a name ends here with its quote, and an arrow of Ruby stands behind it.
fn is_before_arrow(name: &[u8]) -> bool {
    let end = name.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    name[end..].strip_prefix(b"\"").is_some_and(|rest| rest[leading_blanks(rest)..].starts_with(b"=>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Option<(String, usize)> {
        let spelling = Spelling::shown(b" ", text.as_bytes())?;
        let found = spelling.decode(text.as_bytes())?;
        Some((String::from_utf8_lossy(&found.json).into_owned(), found.used))
    }

    #[test]
    fn spellings_of_messages() {
        const M: &str = r#"{"id":1,"method":"a"}"#;
        let hex = |json: &str| json.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
        let (hex, spread_hex) = (hex(M), hex("{ \"id\": 1, \"method\": \"a\" }"));
        for (text, json) in [
            (M.to_owned(), M),
            (r#""{\"id\":1,\"method\":\"a\"}""#.to_owned(), M),
            (r#"{\"id\":1,\"method\":\"a\"}"#.to_owned(), M),
            (r"{\x22id\x22:1,\x22method\x22:\x22a\x22}".to_owned(), M),
            ("{&quot;id&quot;:1,&quot;method&quot;:&quot;a&quot;}".to_owned(), M),
            ("{&#34;a&#34;:&#34;&lt;&amp;lt;&#34;}".to_owned(), r#"{"a":"<&lt;"}"#),
            (r#""{\x22a\x22:\x22\xC3\xA9 \x5C\x22 'x22\x22}\x0A""#.to_owned(), r#"{"a":"é \" 'x22"}"#),
            (format!("b'Content-Length: 21\\r\\n\\r\\n{M}'"), M),
            (r#"b"{'x"#.to_owned(), ""),
            ("{'id': 1, u'method': \"a\"}".to_owned(), M),
            (
                "{'a': (True, None, 1.5, 'it\\'s \\u00e9'), 2: {}}".to_owned(),
                r#"{"a":[true,null,1.5,"it's é"],"2":{}}"#,
            ),
            (
                "Message(root=Request(id=1, params=None, method='a'), x=None)".to_owned(),
                r#"{"root":{"id":1,"method":"a"}}"#,
            ),
            ("Root(Request(id=1, method='a'))".to_owned(), M),
            (
                "{'a': 'it''s', 'b': '', 'c': [v:true, v:false, v:null, v:none, v:x]}".to_owned(),
                "",
            ),
            (
                "{'a': 'it''s', 'b': '', 'c': [v:true, v:false, v:null, v:none]}".to_owned(),
                r#"{"a":"it's","b":"","c":[true,false,null,null]}"#,
            ),
            ("Request[id=1, method=a, params=null]".to_owned(), M),
            ("Request{id=1, method='a'}".to_owned(), M),
            (
                "Reply[jsonrpc=2.0, id=6f-1, result={a=[x y, Part[text=1, 2], 3], io.x/b={}, c=null}, method=d (e, f=g) [h]]".to_owned(),
                r#"{"jsonrpc":"2.0","id":"6f-1","result":{"a":["x y",{"text":"1, 2"},3],"io.x/b":{},"c":null},"method":"d (e, f=g) [h]"}"#,
            ),
            (
                "Reply[method=a, error=Error[message=no: (b, data={\"c\":[1]}], other=Odd[x]]".to_owned(),
                r#"{"method":"a","error":{"message":"no: (b","data":{"c":[1]}},"other":"Odd[x]"}"#,
            ),
            ("Request[id=1, method=a".to_owned(), ""),
            (
                r#"%{"id" => 1, "method" => "a", "params" => %{x: nil, :y => :z}}"#.to_owned(),
                r#"{"id":1,"method":"a","params":{"x":null,"y":"z"}}"#,
            ),
            ("{ id: 1, method: 'a', params: undefined }".to_owned(), M),
            ("{\u{a0}\"id\":\u{a0}1,\u{a0} \"method\":\u{a0}\"a\"\u{a0}}".to_owned(), M),
            ("{ id: Number(1), method: \"a\", params: None }".to_owned(), "{\"id\":1,\"method\":\"a\"}"),
            (format!("[\n  `{}`\n]", M.replace('a', "it\\'s")), r#"{"id":1,"method":"it's"}"#),
            (
                "{\n  a: [ 'x' +\n 'y', [Object], ... 2 more items ],\n b: <ref *1> { c: null }, d: 'z'... 9 more characters }".to_owned(),
                r#"{"a":["xy","[Object]"],"b":{"c":null},"d":"z"}"#,
            ),
            ("{\n    id: Number(\n        1,\n    ),\n    method: \"a\",\n}".to_owned(), M),
            ("(:id 1 :method \"a\")".to_owned(), M),
            (
                "(:id 1\n :a [t nil :json-false -1.5 x] :b (:c \"\\\"d\")\n :e #s(hash-table size 1 data\n (\"f\" ())) :g ((:h 1)))".to_owned(),
                r#"{"id":1,"a":[true,null,false,-1.5,"x"],"b":{"c":"\"d"},"e":{"f":[]},"g":[{"h":1}]}"#,
            ),
            ("(:id 1 :method".to_owned(), ""),
            ("{ a b: 1 }".to_owned(), ""),
            (hex, M),
            (spread_hex, "{ \"id\": 1, \"method\": \"a\" }"),
            (format!("\"{}\"", M.replace('"', "\"\"")), M),
            ("{\n9 |   \"a\": [\n10 |     \"}\"\n11 |   ]\n12 | }".to_owned(), "{\n   \"a\": [\n     \"}\"\n   ]\n }"),
            ("{\n9 |   \"a\": 1\n10 : }".to_owned(), ""),
        ] {
            let expected = (!json.is_empty()).then(|| json.to_owned());
            let found = decoded(&format!("{text} rest"));
            assert_eq!(found.as_ref().map(|(json, _)| json.clone()), expected, "{text}");
            if let Some((_, used)) = found.filter(|_| !text.starts_with("{\\")) {
                assert_eq!(used, text.len(), "{text}");
            }
        }
    }
}
