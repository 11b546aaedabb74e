//! The formats, and how one is recognised.

use super::decoder::{Decoder, is_blank, leading_blanks, trim_end};
use super::json_values::{Value, value};
use super::{arrows, json_lines, json_values};
use super::{claude_desktop, helix, mcp_inspector, nvim_lua, vscode_mcp, zed};
use super::{content_length, json_array, sse, vscode_lsp_json, vscode_lsp_text};
use super::{har, lsp_devtools_db, lsp_test, mcpsnoop, mcpspy};
use memchr::{memchr, memrchr};
use serde_json::value::RawValue;

/// A log format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Format {
    /// One JSON value a line.
    JsonLines,
    /// JSON values one after another, over many lines or several on one.
    JsonValues,
    /// `>> {…}`, `--> {…}`, `> {…}`, `→ {…}` and the other way round.
    Arrows,
    /// VS Code's output channel of an MCP server.
    VscodeMcp,
    /// Claude Desktop's logs of MCP servers.
    ClaudeDesktop,
    /// Helix's log of language servers.
    Helix,
    /// Zed's view of the messages of a server.
    Zed,
    /// The MCP Inspector's exported history.
    McpInspector,
    /// Neovim's log of language servers, which is recognised but not read: [`Format::refusal`].
    NvimLua,
    /// One array of messages over several lines.
    JsonArray,
    /// `Content-Length: N`, an empty line and a message: the base protocol of LSP.
    ContentLength,
    /// Server-sent events.
    Sse,
    /// The trace of a VS Code language client.
    VscodeLspText,
    /// The same, where it is set to JSON.
    VscodeLspJson,
    /// mcpsnoop's log: an object a line, with the message inside.
    Mcpsnoop,
    /// MCPSpy's JSONL output.
    Mcpspy,
    /// Sessions that haskell-lsp captured.
    LspTest,
    /// An HTTP Archive.
    Har,
    /// The SQLite database of lsp-devtools; without the feature `sqlite` it has a [`Format::refusal`].
    LspDevtoolsDb,
}

/// What a format says of itself, in its own file.
pub(super) struct About {
    pub name: &'static str,
    /// One line: what a record looks like.
    pub summary: &'static str,
    /// What it tells besides messages: time, sender, sessions.
    pub carries: &'static str,
    /// A small log, which must be detected as this format.
    pub sample: &'static str,
    /// Makes a decoder that keeps records of up to so many bytes.
    pub decoder: fn(usize) -> Box<dyn Decoder>,
}

/// A test for a format, given the first bytes of an input.
type Test = fn(&Window<'_>) -> bool;

/// The tests in the order in which they are made; what none recognises is `json-lines`.
const TESTS: &[(Format, Test)] = &[
    (Format::LspDevtoolsDb, lsp_devtools_db::detect),
    (Format::ClaudeDesktop, claude_desktop::detect),
    (Format::VscodeMcp, vscode_mcp::detect),
    (Format::Helix, helix::detect),
    (Format::NvimLua, nvim_lua::detect),
    (Format::Zed, zed::detect),
    (Format::McpInspector, mcp_inspector::detect),
    (Format::VscodeLspJson, vscode_lsp_json::detect),
    (Format::VscodeLspText, vscode_lsp_text::detect),
    (Format::Sse, sse::detect),
    (Format::ContentLength, content_length::detect),
    (Format::Arrows, arrows::detect),
    (Format::Mcpsnoop, mcpsnoop::detect),
    (Format::Mcpspy, mcpspy::detect),
    (Format::LspTest, lsp_test::detect),
    (Format::Har, har::detect),
    (Format::JsonArray, json_array::detect),
    (Format::JsonValues, json_values::detect),
];

impl Format {
    /// Every format, as they are listed to users.
    pub const ALL: &'static [Self] = &[
        Self::JsonLines,
        Self::JsonValues,
        Self::JsonArray,
        Self::Arrows,
        Self::ContentLength,
        Self::Sse,
        Self::Har,
        Self::ClaudeDesktop,
        Self::VscodeMcp,
        Self::VscodeLspText,
        Self::VscodeLspJson,
        Self::Helix,
        Self::Zed,
        Self::McpInspector,
        Self::Mcpsnoop,
        Self::Mcpspy,
        Self::LspTest,
        Self::LspDevtoolsDb,
        Self::NvimLua,
    ];

    /// How many bytes detection looks at.
    pub(super) const WINDOW: usize = 64 * 1024;

    /// Recognises a format by the content of an input's first bytes, of which it looks at 64 KiB at most. The same bytes
    /// give the same format.
    ///
    /// An input that begins as SQLite databases do is `lsp-devtools-db`. Of these, the first that is true decides; what
    /// marks the messages of 1 to 5 and 7 to 11 stands before any line that is or begins another JSON value.
    /// 1. A line has Claude Desktop's date, server and level, and then a message that begins with `{` or `[`, or else
    ///    the start of a server, if there is no JSON value or such a message comes later: `claude-desktop`.
    /// 2. A line has `[editor -> server]` or `[server -> editor]`, with nothing but a date and a level before it, and
    ///    then `{` or `[`: `vscode-mcp`.
    /// 3. A line has Helix's date, source and level, a server and an arrow, and then `{` or `[`: `helix`.
    /// 4. A line names a Lua file and then `rpc.send` or `rpc.receive`, or begins Neovim's log: `nvim-lua`.
    /// 5. A line is `// Send:` or `// Receive:`, and the next one begins with `{` or `[`: `zed`.
    /// 6. The first JSON value is an array of objects with `timestamp`, `message` and `direction` or `origin`:
    ///    `mcp-inspector`.
    /// 7. A line is an object that begins with the member `isLSPMessage`, or has `[LSP   - CLOCK]` and then `{`:
    ///    `vscode-lsp-json`.
    /// 8. A line with `[Trace - CLOCK]`, or a date and a level, says what was sent or received: `vscode-lsp-text`.
    /// 9. An HTTP status line has the header `Content-Type: text/event-stream` behind it, or the lines up to an empty one
    ///    are fields of an event, one of them `data:` and then `{` or `[`: `sse`. At the end of what is seen, a field
    ///    `event:` does for the empty line.
    /// 10. A line has the header `Content-Length:`, and the next empty line has `{` or `[` behind it: `content-length`.
    /// 11. An arrow with `{` or `[` behind it begins a line: `arrows`.
    /// 12. The first line that is an object with members has `session_id`, a `direction` of c2s, s2c, stderr or meta, and
    ///     one of `server_label`, `seq`, `ts`, `transport` and `raw`: `mcpsnoop`.
    /// 13. That line has a `timestamp`, a `transport_type` that is a string and one of `type`, `stdio_transport`,
    ///     `http_transport` and `raw`, or else all of `timestamp`, `message_type`, `pid` and `comm`: `mcpspy`.
    /// 14. That line has a `tag` of FromClient or FromServer and `contents` that are an array: `lsp-test`.
    /// 15. The first object with members that begins a line, over however many lines it goes, has a `log` with an array
    ///     `entries`, or with a `version` and a `creator`: `har`.
    /// 16. The first value is an array over several lines, and nothing stands behind it: `json-array`. Its end may be
    ///     missing, and elements behind its first may have errors.
    /// 17. The first object or array that begins a line goes over several lines, whole or up to the end of what is seen,
    ///     or another one stands behind it on its line: `json-values`.
    /// 18. Everything else, and nothing at all, is `json-lines`.
    ///
    /// Lines that are no JSON (banners, stderr) do not count, nor do objects and arrows with an error in them; what comes
    /// before the error in an archive does. No object of 12 to 15 has a member `jsonrpc`, and one that is cut off by the
    /// end of what is seen counts as far as it goes.
    pub fn detect(head: &[u8]) -> Self {
        let window = Window::new(&head[..head.len().min(Self::WINDOW)]);
        TESTS.iter().find(|(_, test)| test(&window)).map_or(Self::JsonLines, |(format, _)| *format)
    }

    /// Recognises a format as soon as the content settles it, so that a live log need not wait: by the first 1, 2, 4, 8, …
    /// lines that hold a whole JSON value or the mark of a format, or else by `head` if it is `all` that is looked at.
    /// The same bytes give the same format, in whatever pieces they come.
    pub(super) fn settled(head: &[u8], all: bool, looked: &mut Looked) -> Option<Self> {
        let head = &head[..head.len().min(Self::WINDOW)];
        while let Some(end) = head.get(looked.bytes..).and_then(|rest| memchr(b'\n', rest)) {
            looked.bytes += end + 1;
            looked.lines += 1;
            if looked.lines < looked.wanted {
                continue;
            }
            looked.wanted *= 2;
            let seen = &head[..looked.bytes];
            let window = Window::new(seen);
            let whole_value = window.first_value().is_some_and(|value| value.end.is_some());
            if whole_value || TESTS.iter().any(|(format, test)| format.is_marked() && test(&window)) {
                let format = Self::detect(seen);
                // Whether anything stands behind an array has to be seen.
                if format != Self::JsonArray {
                    return Some(format);
                }
            }
        }
        all.then(|| Self::detect(head))
    }

    /// Whether a line of text can show the format, with or without a message behind it.
    fn is_marked(self) -> bool {
        !matches!(self, Self::JsonLines | Self::JsonValues | Self::JsonArray | Self::McpInspector)
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// What a record looks like, in one line.
    pub fn summary(self) -> &'static str {
        self.about().summary
    }

    /// A small log in this format.
    pub fn sample(self) -> &'static str {
        self.about().sample
    }

    /// What the format tells besides messages: time, sender, sessions.
    pub fn carries(self) -> &'static str {
        self.about().carries
    }

    /// A new decoder, which keeps records of up to `max_record_size` bytes. It is to be given input without a byte-order
    /// mark.
    pub fn decoder(self, max_record_size: usize) -> Box<dyn Decoder> {
        (self.about().decoder)(max_record_size)
    }

    /// Why logs in this format are not read although they are recognised, and what to do instead; `None`: they are read.
    pub fn refusal(self) -> Option<&'static str> {
        match self {
            Self::NvimLua => Some(nvim_lua::REFUSAL),
            Self::LspDevtoolsDb => lsp_devtools_db::REFUSAL,
            _ => None,
        }
    }

    fn about(self) -> &'static About {
        match self {
            Self::JsonLines => &json_lines::ABOUT,
            Self::JsonValues => &json_values::ABOUT,
            Self::Arrows => &arrows::ABOUT,
            Self::VscodeMcp => &vscode_mcp::ABOUT,
            Self::ClaudeDesktop => &claude_desktop::ABOUT,
            Self::Helix => &helix::ABOUT,
            Self::Zed => &zed::ABOUT,
            Self::McpInspector => &mcp_inspector::ABOUT,
            Self::NvimLua => &nvim_lua::ABOUT,
            Self::JsonArray => &json_array::ABOUT,
            Self::ContentLength => &content_length::ABOUT,
            Self::Sse => &sse::ABOUT,
            Self::VscodeLspText => &vscode_lsp_text::ABOUT,
            Self::VscodeLspJson => &vscode_lsp_json::ABOUT,
            Self::Mcpsnoop => &mcpsnoop::ABOUT,
            Self::Mcpspy => &mcpspy::ABOUT,
            Self::LspTest => &lsp_test::ABOUT,
            Self::Har => &har::ABOUT,
            Self::LspDevtoolsDb => &lsp_devtools_db::ABOUT,
        }
    }
}

/// How far [`Format::settled`] has looked.
pub(super) struct Looked {
    bytes: usize,
    lines: usize,
    wanted: usize,
}

impl Default for Looked {
    fn default() -> Self {
        Self { bytes: 0, lines: 0, wanted: 1 }
    }
}

/// The first bytes of an input, and what several tests want to know of them.
pub(super) struct Window<'a> {
    bytes: &'a [u8],
    first_value: Option<FirstValue>,
}

/// The first JSON value that begins a line: an object, an array, or a line that is another value as a whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FirstValue {
    pub start: usize,
    /// Where it ends; `None` if it goes on at the end of the window.
    pub end: Option<usize>,
    /// Whether nothing else stands on the line where it ends; otherwise it is another object or array.
    pub alone: bool,
}

impl<'a> Window<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, first_value: first_value(bytes) }
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn first_value(&self) -> Option<FirstValue> {
        self.first_value
    }

    /// The lines that are not blank, without blanks around them, and where they begin. The last one may be cut off.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &'a [u8])> {
        let lines = self.bytes.split_inclusive(|&byte| byte == b'\n').scan(0, |at, line| {
            let start = *at + leading_blanks(line);
            *at += line.len();
            Some((start, trim_end(&line[leading_blanks(line)..])))
        });
        lines.filter(|(_, line)| !line.is_empty())
    }
}

/// Each byte is looked at a bounded number of times: after an error the search goes on in the line with the error.
fn first_value(bytes: &[u8]) -> Option<FirstValue> {
    let mut at = 0;
    loop {
        let start = at + bytes[at..].iter().position(|&byte| !is_blank(byte))?;
        let line_end = end_of_line(bytes, start);
        at = line_end;
        if matches!(bytes[start], b'{' | b'[') {
            match value(&bytes[start..]) {
                Value::Incomplete => return Some(FirstValue { start, end: None, alone: true }),
                Value::Whole(length) => {
                    let end = start + length;
                    at = end_of_line(bytes, end);
                    let behind = end + leading_blanks(&bytes[end..at]);
                    let first = FirstValue { start, end: Some(end), alone: behind == at };
                    let another = match bytes.get(behind) {
                        Some(b'{' | b'[') => !matches!(value(&bytes[behind..]), Value::Broken(_)),
                        _ => false,
                    };
                    if first.alone || another {
                        return Some(first);
                    }
                }
                Value::Broken(offset) => {
                    let line = memrchr(b'\n', &bytes[start..start + offset]).map_or(0, |at| at + 1);
                    at = line_end.max(start + line);
                }
            }
        } else if serde_json::from_slice::<&RawValue>(&bytes[start..line_end]).is_ok() {
            let end = start + trim_end(&bytes[start..line_end]).len();
            return Some(FirstValue { start, end: Some(end), alone: true });
        }
    }
}

/// Where the line with the byte at `from` ends: at its LF, or the end of all.
fn end_of_line(bytes: &[u8], from: usize) -> usize {
    memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(bytes: &str) -> Option<(&str, bool)> {
        let value = first_value(bytes.as_bytes())?;
        Some((&bytes[value.start..value.end.unwrap_or(bytes.len())], value.alone))
    }

    #[test]
    fn the_first_value() {
        let table = [
            ("", None),
            (" \n\n", None),
            ("text\nmore text", None),
            ("text\n  {\"a\":1} \n{}", Some(("{\"a\":1}", true))),
            ("[info] a\n[1] b\n[2]\n", Some(("[2]", true))),
            ("{\n\"a\":\n1}", Some(("{\n\"a\":\n1}", true))),
            ("{} {}\n", Some(("{}", false))),
            ("{} {\n", Some(("{}", false))),
            ("{} {oops}\n[]", Some(("[]", true))),
            ("[1,\n", Some(("[1,\n", true))),
            ("{\"a\":\n{\"b\":1}\n{\"c\":1}", Some(("{\"c\":1}", true))),
            ("2024\n", Some(("2024", true))),
            ("\"a\" \r\n", Some(("\"a\"", true))),
            ("2024-01-01 a\n{}", Some(("{}", true))),
            ("null and void", None),
        ];
        for (bytes, expected) in table {
            assert_eq!(first(bytes), expected, "{bytes}");
        }
    }

    #[test]
    fn lines_and_where_they_begin() {
        let window = Window::new(b"a\r\n\n \n  b c \nd");
        let lines: Vec<_> = window.lines().collect();
        assert_eq!(lines, [(0, &b"a"[..]), (8, b"b c"), (13, b"d")]);
    }

    #[test]
    fn names_and_samples() {
        for &format in Format::ALL {
            assert_eq!(Format::from_name(format.name()), Some(format));
            assert_eq!(Format::detect(format.sample().as_bytes()), format);
            assert!(!format.summary().contains('\n') && !format.carries().contains('\n'));
        }
        assert_eq!(Format::from_name("no such format"), None);
    }

    #[test]
    fn looking_is_linear() {
        for text in ["[\n", "[1] {\n", "[[[[\nx\n", "{\"a\":\n", ">> x\n", "1 2\n", "[1] [[2],\n", "\n"] {
            Format::detect(text.repeat(1 << 16).as_bytes());
        }
    }
}
