//! Advice for inputs in which JSON-RPC was not found: the kind of the input, or where possible messages are, with the
//! option that reads them there.

use super::certainty::{Certainty, has_members_of_messages};
use super::object::{RawObject, elements, unescape};
use super::value::{Extent, value};
use crate::json::pointer_token;
use memchr::memmem;

/// The first bytes of files that are not logs, with a description of the file and advice.
const FILES: &[(&[u8], &str)] = &[
    (b"PK\x03\x04", "it is a zip archive: unpack it, and name the logs in it"),
    (b"%PDF-", "it is a PDF document: save its text to a file, or name the log that it was made of"),
    (
        b"SQLite format 3\0",
        "it is a SQLite database: `lsp-devtools record --to-file FILE` makes a log of what is recorded",
    ),
];
const UNDECODED: &str = "it has binary data, or text in another encoding than UTF-8, such as UTF-16 without a byte-order mark: \
                         convert it, with `iconv -f UTF-16LE -t UTF-8` for example";

/// Members of objects that are not JSON-RPC, with a description of the input.
const OBJECTS: &[(&[&str], &str)] = &[
    (&["seq", "command"], DAP),
    (&["seq", "event"], DAP),
    (
        &["_direction", "_type"],
        "it has parts of messages, as Zed's ACP log shows them: capture the messages themselves",
    ),
    (
        &["url", "requestBody"],
        "it has HTTP requests, as the MCP Inspector's network export shows them: export the history instead",
    ),
    (&["method", "status"], ACCESS),
    (&["method", "url"], ACCESS),
    (&["method", "path"], ACCESS),
    (&["method", "uri"], ACCESS),
    (&["request_method"], ACCESS),
];
const DAP: &str = "it has messages of the Debug Adapter Protocol (DAP), which is not JSON-RPC";
const ACCESS: &str = "it looks like the access log of a web server, whose methods are HTTP methods; \
                      `--from json-lines` reads them as JSON-RPC methods";

/// The maximum number of objects, or of lines, that are examined.
const MOST: usize = 32;

/// Describes an input in which JSON-RPC was not found, with advice, if its first bytes show its kind.
pub fn other_kind(head: &[u8]) -> Option<&'static str> {
    if let Some(kind) = kind_of_file(head).or_else(|| undecoded(head)) {
        return Some(kind);
    }
    let starts = (0..head.len()).filter(|&at| at == 0 || head[at - 1] == b'\n');
    let objects = starts.filter_map(|at| {
        let line = head[at..].split(|byte| *byte == b'\n').next()?;
        let start = line.iter().position(|byte| *byte == b'{')?;
        // A member of a document is not a line of a log.
        let is_member = line[..start].trim_ascii_end().ends_with(b"\":");
        RawObject::parse(&head[at + start..]).filter(|_| !is_member)
    });
    objects.take(MOST).find_map(|object| {
        let named = OBJECTS.iter().find(|(members, _)| members.iter().all(|name| object.has(name)));
        named.filter(|_| !object.has("jsonrpc")).map(|(_, kind)| *kind)
    })
}

fn kind_of_file(head: &[u8]) -> Option<&'static str> {
    FILES.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, kind)| *kind)
}

/// Describes a text that was not decoded, in whole or in part, with advice: text in UTF-16 or UTF-32, or binary data.
pub fn undecoded(text: &[u8]) -> Option<&'static str> {
    let is_undecoded = text.chunks(WINDOW).any(|window| {
        let zeros = window.iter().filter(|byte| **byte == 0).count();
        let invalid: usize = window.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
        zeros * 8 > window.len() || (invalid * 4 > window.len() && invalid >= 16)
    });
    is_undecoded.then(|| kind_of_file(text).unwrap_or(UNDECODED))
}

/// The size of the parts of a text that are examined, in bytes.
const WINDOW: usize = 4096;

/// Returns the option that reads the first possible message inside a JSON value or behind a prefix, given the first
/// bytes of an input.
pub fn nested(head: &[u8]) -> Option<String> {
    head.split(|byte| *byte == b'\n').take(MOST).find_map(|line| in_line(line.trim_ascii()))
}

fn in_line(line: &[u8]) -> Option<String> {
    [&b"{"[..], b"\"{"].iter().find_map(|start| {
        let at = memmem::find(line, start)?;
        let Extent::Whole(length) = value(&line[at..]) else { return None };
        let pointer = pointer(&line[at..at + length], &is_possible)?;
        match (at, pointer.is_empty() || line[at] == b'"') {
            (0, false) if !pointer.contains(['\'', ' ', ',']) => Some(format!("--envelope 'message={pointer}'")),
            (1.., true) if start.len() == 1 => Some(r"--line '^[^{]*(?<message>\{.*)'".to_owned()),
            (1.., true) if !line[..at].contains(&b'"') => Some(r#"--line '^[^"]*(?<message>"\{.*)'"#.to_owned()),
            _ => None,
        }
    })
}

/// Returns the pointer to the first value for which `is` returns true, also in strings that hold JSON.
fn pointer(value: &[u8], is: &dyn Fn(&[u8]) -> bool) -> Option<String> {
    let below = |name: &str, value: &[u8]| Some(format!("/{}{}", pointer_token(name), pointer(value, is)?));
    match value.first()? {
        _ if is(value) => Some(String::new()),
        b'{' => {
            RawObject::parse(value)?.members().find_map(|(name, value)| below(std::str::from_utf8(name).ok()?, value))
        }
        b'[' => elements(value).enumerate().find_map(|(index, value)| below(&index.to_string(), value)),
        b'"' => pointer(unescape(value)?.trim_ascii(), is),
        _ => None,
    }
}

/// True for an object, or an array of objects, that may be a message though it lacks `jsonrpc`.
fn is_possible(text: &[u8]) -> bool {
    let mut elements = elements(text).peekable();
    if elements.peek().is_some() {
        return elements.all(is_possible);
    }
    RawObject::parse(text).filter(RawObject::is_whole).is_some_and(|object| {
        has_members_of_messages(&object)
            && (object.string("method").is_some() || Certainty::of_object(&object) != Certainty::No)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_named_for_what_they_are() {
        let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        let utf32 =
            |text: &str, bytes: fn(u32) -> [u8; 4]| text.chars().map(u32::from).flat_map(bytes).collect::<Vec<u8>>();
        for (head, expected) in [
            (b"PK\x03\x04\x14".to_vec(), "zip archive"),
            (b"%PDF-1.7\n".to_vec(), "PDF"),
            (b"SQLite format 3\0\x10".to_vec(), "lsp-devtools record --to-file"),
            (b"\x7fELF\x02\0\0".to_vec(), "binary"),
            (utf16("{\"a\":1}\n", u16::to_le_bytes), "UTF-16"),
            (utf16("{\"a\":\"\u{e4}\u{20ac}\"}\n", u16::to_be_bytes), "UTF-16"),
            (utf32("\u{feff}{\"a\":1}\n", u32::to_le_bytes), "UTF-16"),
            (utf32("{\"a\":\"\u{e4}\u{20ac}\"}\n", u32::to_be_bytes), "UTF-16"),
            (b"Content-Length: 9\r\n\r\n{\"seq\":1,\"type\":\"request\",\"command\":\"launch\"}".to_vec(), "DAP"),
            (b"start\n{\"seq\":1,\"type\":\"event\",\"event\":\"output\",\"body\":{\"out".to_vec(), "DAP"),
            (b"[{\"_direction\":\"outgoing\",\"_type\":\"request\",\"id\":0,\"method\":\"m\"}]".to_vec(), "Zed"),
            (b"[\n  {\n    \"method\": \"POST\",\n    \"url\": \"/\",\n    \"requestBody\": \"{".to_vec(), "Inspector"),
            (b"{\"method\":\"POST\",\"status\":200}".to_vec(), "access log"),
        ] {
            let kind = other_kind(&head).unwrap_or_default();
            assert!(kind.contains(expected), "{}: {kind}", String::from_utf8_lossy(&head));
        }
        let document = "{\n  \"request\": {\"method\":\"POST\",\"url\":\"/\"}\n}";
        for text in
            ["", "{}", "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"url\":1}", "GET / 200", "\u{e4}\n\u{f6}", document]
        {
            assert_eq!(other_kind(text.as_bytes()), None, "{text}");
        }
        let ascii = "a log of words\n".repeat(1000);
        for (text, expected) in [
            (utf16("{\"a\":1}\n", u16::to_le_bytes), "UTF-16"),
            (utf32("{\"a\":1}\n", u32::to_be_bytes), "UTF-16"),
            ([ascii.as_bytes(), &utf16(&ascii, u16::to_le_bytes)].concat(), "binary"),
            ((0..=255).cycle().take(5000).collect(), "binary"),
            (ascii.clone().into_bytes(), ""),
            ([ascii.as_bytes(), b"\0 \xff\xfe", ascii.as_bytes()].concat(), ""),
            ("Gr\u{fc}\u{df}e".as_bytes().to_vec(), ""),
            (b"Gr\xfc\xdfe \xe4".to_vec(), ""),
        ] {
            let kind = undecoded(&text).unwrap_or_default();
            assert!(kind.contains(expected) && kind.is_empty() == expected.is_empty(), "{expected}: {kind}");
        }
    }

    #[test]
    fn options_that_read_messages_elsewhere() {
        let option = |head: &str| nested(head.as_bytes()).unwrap_or_default();
        let envelope = |pointer: &str| format!("--envelope 'message={pointer}'");
        assert_eq!(option(r#"{"a":{"b~c":[1,{"id":1,"result":{}}]}}"#), envelope("/a/b~0c/1"));
        assert_eq!(option("x\n{\"a\":\"{\\\"method\\\":\\\"m\\\"}\"}"), envelope("/a"));
        assert_eq!(option(r#"at 1: {"id":1,"method":"m"}"#), r"--line '^[^{]*(?<message>\{.*)'");
        assert_eq!(option(r#"at 1: "{\"id\":1,\"method\":\"m\"}""#), r#"--line '^[^"]*(?<message>"\{.*)'"#);
        for text in
            ["", "x", r#"{"a":{"id":1,"method":"m","status":2}}"#, r#"{"a":{"id":1"#, r#"{"id":1,"method":"m"}"#]
        {
            assert_eq!(option(text), "", "{text}");
        }
    }
}
