//! The formats, and how one is recognised.

use super::Entry;
use super::about::{About, Sign, Window};
use super::carried::Carried;
use super::carrier::Carrier;
use super::decoder::{Decoder, Step};
use super::layout::Layout;
use super::{
    arrows, claude_desktop, content_length, eglot_lisp, har, helix, inspector_network, journald_export, json_array,
    json_lines,
};
use super::{
    json_values, lsp_test, lsp4e, mcp_inspector, mcpsnoop, mcpspy, nvim_lua, protocol_monitor, sse, tar, tshark,
    vscode_lsp_json, vscode_lsp_text, vscode_mcp, zed, zed_acp,
};
use memchr::{memchr, memrchr};
use std::borrow::Cow;

/// Lists the formats in the order in which users are shown them: the rule of [`Format::detect`] that each is recognised by,
/// the file where it says of itself all else, and its name, which is that of its sample too.
macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident = $rule:literal $file:ident $name:literal,)+) => {
        /// A log format.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$doc])* $format,)+
        }

        impl Format {
            /// Every format, as they are listed to users.
            pub const ALL: &'static [Self] = &[$(Self::$format,)+];

            fn row(self) -> FormatRow {
                match self {
                    $(Self::$format => FormatRow {
                        rule: $rule,
                        about: &$file::ABOUT,
                        name: $name,
                        sample: include_str!(concat!("samples/", $name, ".log")),
                    },)+
                }
            }
        }
    };
}

/// What the table says of a format.
struct FormatRow {
    rule: u8,
    about: &'static About,
    name: &'static str,
    /// A small log, which must be detected as this format.
    sample: &'static str,
}

formats! {
    /// One JSON value a line.
    JsonLines = 18 json_lines "json-lines",
    /// JSON values one after another, over many lines or several on one.
    JsonValues = 17 json_values "json-values",
    /// One array of messages over several lines.
    JsonArray = 16 json_array "json-array",
    /// `>> {…}`, `--> {…}`, `> {…}`, `→ {…}` and the other way round.
    Arrows = 11 arrows "arrows",
    /// `Content-Length: N`, an empty line and a message: the base protocol of LSP.
    ContentLength = 10 content_length "content-length",
    /// Server-sent events.
    Sse = 9 sse "sse",
    /// An HTTP Archive.
    Har = 15 har "har",
    /// Claude Desktop's logs of MCP servers.
    ClaudeDesktop = 1 claude_desktop "claude-desktop",
    /// VS Code's output channel of an MCP server.
    VscodeMcp = 2 vscode_mcp "vscode-mcp",
    /// The trace of a VS Code language client.
    VscodeLspText = 8 vscode_lsp_text "vscode-lsp-text",
    /// The same, where it is set to JSON.
    VscodeLspJson = 7 vscode_lsp_json "vscode-lsp-json",
    /// Helix's log of language servers.
    Helix = 3 helix "helix",
    /// Zed's view of the messages of a server.
    Zed = 5 zed "zed",
    /// Zed's log of agents.
    ZedAcp = 6 zed_acp "zed-acp",
    /// Eclipse's log of language servers.
    Lsp4e = 7 lsp4e "lsp4e",
    /// The MCP Inspector's exported history.
    McpInspector = 6 mcp_inspector "mcp-inspector",
    /// The HTTP requests that the MCP Inspector exports.
    McpInspectorNetwork = 6 inspector_network "mcp-inspector-network",
    /// The messages of DevTools, as Chrome's Protocol monitor saves them.
    ProtocolMonitor = 6 protocol_monitor "protocol-monitor",
    /// mcpsnoop's log: an object a line, with the message inside.
    Mcpsnoop = 12 mcpsnoop "mcpsnoop",
    /// MCPSpy's JSONL output.
    Mcpspy = 13 mcpspy "mcpspy",
    /// Sessions that haskell-lsp captured.
    LspTest = 14 lsp_test "lsp-test",
    /// Packets, as Wireshark's command writes them.
    Tshark = 12 tshark "tshark",
    /// The events of older versions of Emacs' Eglot, which are recognised but not read: [`Format::refusal`].
    EglotLisp = 4 eglot_lisp "eglot-lisp",
    /// Neovim's log of language servers, which is recognised but not read: [`Format::refusal`].
    NvimLua = 4 nvim_lua "nvim-lua",
    /// journald's format for export, which is recognised but not read: [`Format::refusal`].
    JournaldExport = 4 journald_export "journald-export",
    /// A tape archive, which is recognised but not read: [`Format::refusal`].
    Tar = 0 tar "tar",
}

impl Format {
    /// How many bytes detection looks at.
    pub(super) const WINDOW: usize = 64 * 1024;

    /// Recognises a format by the content of an input's first bytes, of which it looks at 64 KiB at most. The same bytes
    /// give the same format. In a log whose lines are in a [`Carrier`], it is the format of what is inside.
    ///
    /// An input that begins as tape archives do is `tar`. Of these, the first that is true decides; what
    /// marks the messages of 1 to 5 and 7 to 11 stands before any line that is or begins another JSON value.
    /// 1. A line has Claude Desktop's date, server and level, and then a message that begins with `{` or `[`, or else
    ///    the start of a server, if there is not a JSON value or such a message comes later: `claude-desktop`.
    /// 2. A line has `[editor -> server]` or `[server -> editor]`, with nothing but a date and a level before it, and
    ///    then `{` or `[`: `vscode-mcp`.
    /// 3. A line has Helix's date, source and level, a server and an arrow, and then `{` or `[`: `helix`.
    /// 4. A line names a Lua file and then `rpc.send` or `rpc.receive`, or begins Neovim's log: `nvim-lua`. A line is
    ///    Eglot's heading of a message, and the next one begins with `(:`: `eglot-lisp`. A line is the field
    ///    `__REALTIME_TIMESTAMP=` of a journal: `journald-export`.
    /// 5. A line is `// Send:` or `// Receive:`, and the next one begins with `{` or `[`: `zed`.
    /// 6. The first JSON value is an array of objects with `timestamp`, `message` and `direction` or `origin`:
    ///    `mcp-inspector`; with `_direction` and `_type`: `zed-acp`; with `url` and the body, headers or status of a request or
    ///    response: `mcp-inspector-network`; with a `type` of send or recv, or a `requestTime`: `protocol-monitor`.
    /// 7. A line is an object that begins with the member `isLSPMessage`, or has `[LSP   - CLOCK]` and then `{`:
    ///    `vscode-lsp-json`. A line names LSP4E, a direction and a server: `lsp4e`.
    /// 8. A line with `[Trace - CLOCK]`, or a date and a level, says what was sent or received: `vscode-lsp-text`.
    /// 9. An HTTP status line has the header `Content-Type: text/event-stream` behind it, or the lines up to an empty one
    ///    are fields of an event, one of them `data:` and then `{` or `[`: `sse`. At the end of what is seen, a field
    ///    `event:` does for the empty line.
    /// 10. A line has the header `Content-Length:`, and the next empty line has `{` or `[` behind it: `content-length`.
    /// 11. An arrow with `{` or `[` behind it begins a line: `arrows`.
    /// 12. The first line that is an object with members has `session_id`, a `direction` of c2s, s2c, stderr or meta, and
    ///     one of `server_label`, `seq`, `ts`, `transport` and `raw`: `mcpsnoop`. The first or second has `timestamp` and `layers`,
    ///     or the first element of an array has `_source` with `layers`: `tshark`.
    /// 13. That line has a `timestamp`, a `transport_type` that is a string and one of `type`, `stdio_transport`,
    ///     `http_transport` and `raw`, or else all of `timestamp`, `message_type`, `pid` and `comm`: `mcpspy`.
    /// 14. That line has a `tag` of FromClient or FromServer and `contents` that are an array: `lsp-test`.
    /// 15. The first object with members that begins a line, over however many lines it goes, has a `log` with an array
    ///     `entries`, or with a `version` and a `creator`: `har`.
    /// 16. The first value is an array over several lines, and nothing stands behind it: `json-array`. Its end may be
    ///     missing, and elements behind its first may have errors.
    /// 17. The first object or array that begins a line goes over several lines, whole or up to the end of what is seen,
    ///     or another one stands behind it on its line: `json-values`. Not if it is a message behind a prefix, or in one.
    /// 18. Everything else, and nothing at all, is `json-lines`.
    ///
    /// Lines that are not JSON (banners, stderr) do not count, nor do objects and arrows with an error in them; what comes
    /// before the error in an archive does. No object of 12 to 15 has a member `jsonrpc`, and one that is cut off by the
    /// end of what is seen counts as far as it goes.
    pub fn detect(head: &[u8]) -> Self {
        Self::of(&Self::taken_off(&head[..head.len().min(Self::WINDOW)]).1)
    }

    /// The format of a text, whatever carrier it may be in.
    fn of(text: &[u8]) -> Self {
        Self::shown_in(&Window::new(text), |_| true).unwrap_or(Self::JsonLines)
    }

    /// The carriers that a text is in, the outermost first, and the text inside.
    fn taken_off(text: &[u8]) -> (Vec<Carrier>, Cow<'_, [u8]>) {
        let (mut carriers, mut text) = (Vec::new(), Cow::Borrowed(text));
        while carriers.len() < Carrier::MOST && !tar::is_archive(&text) {
            let shown = Carrier::shown(&text);
            let Some(carrier) = shown.or_else(|| Carrier::possible(&text)) else { break };
            let inside = Carried::inside(carrier, &text);
            let has_fence = || Carrier::possible(&inside) == Some(Carrier::Fenced);
            let is_sure = || shown.is_some() || Carrier::shown(&inside).is_some() || has_fence();
            if !is_sure() && !carrier.helps(Self::of(&inside)) {
                break;
            }
            carriers.push(carrier);
            text = inside.into();
        }
        (carriers, text)
    }

    /// Recognises carriers and a format as soon as the content settles them, so that a live log need not wait: by the first 1, 2,
    /// 4, 8, … lines that hold a whole JSON value or the mark of a format, or else by `head` if it is `all` that is looked
    /// at. The same bytes give the same, in whatever pieces they come.
    pub(super) fn settled(head: &[u8], all: bool, looked: &mut Looked) -> Option<(Vec<Carrier>, Self)> {
        let head = &head[..head.len().min(Self::WINDOW)];
        while let Some(text) = looked.further(head) {
            let (carriers, seen) = Self::taken_off(text);
            // A piece of a line is not a value.
            let window = Window::new(&seen[..memrchr(b'\n', &seen).map_or(0, |last| last + 1)]);
            let has_whole_value = window.first_value.is_some_and(|value| value.end.is_some());
            if has_whole_value || Self::shown_in(&window, |sign| !matches!(sign, Sign::Value(_))).is_some() {
                let format = Self::of(window.bytes);
                // Whether anything stands behind an array has to be seen, and whether a log of arrows has some that go the
                // other way.
                let may_be_arrows = || carriers.contains(&Carrier::Quoted) && Self::of(text) == Self::Arrows;
                if format != Self::JsonArray && (format != Self::JsonLines || !may_be_arrows()) {
                    return Some((carriers, format));
                }
            }
        }
        all.then(|| {
            let (carriers, text) = Self::taken_off(head);
            (carriers, Self::of(&text))
        })
    }

    /// The carriers of a log whose format, or `layout`, was stated, as soon as a record shows in them. Where the lines as they are
    /// have the format, or a record where the layout says, these are what was meant.
    pub(super) fn carriers(
        self,
        layout: Option<&Layout>,
        head: &[u8],
        all: bool,
        looked: &mut Looked,
    ) -> Option<Vec<Carrier>> {
        let head = &head[..head.len().min(Self::WINDOW)];
        let has_record = |text: &[u8], all| {
            let decoder = layout.map_or_else(|| self.decoder(Self::WINDOW), |layout| layout.decoder(Self::WINDOW));
            has_record(decoder, text, all)
        };
        let shown = |text: &[u8], all| {
            let (carriers, seen) = Self::taken_off(text);
            let as_it_is = match layout {
                Some(_) => has_record(text, all),
                None => carriers.is_empty() || self != Self::JsonLines && Self::of(text) == self,
            };
            match as_it_is {
                true => has_record(text, all).then(Vec::new),
                false => (!carriers.is_empty() && has_record(&seen, all)).then_some(carriers),
            }
        };
        while let Some(text) = looked.further(head) {
            if let Some(carriers) = shown(text, false) {
                return Some(carriers);
            }
        }
        all.then(|| shown(head, true).unwrap_or_default())
    }

    /// The first format, in the order of the rules of [`Format::detect`], whose sign is in the window.
    fn shown_in(window: &Window<'_>, is_wanted: impl Fn(Sign) -> bool) -> Option<Self> {
        let signs = Self::ALL.iter().map(|format| (format, format.about().sign));
        let shown = signs.filter(|(_, sign)| is_wanted(*sign) && sign.is_in(window));
        shown.map(|(format, _)| *format).min_by_key(|format| format.row().rule)
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// The look of a record, in one line.
    pub fn summary(self) -> &'static str {
        self.about().summary
    }

    /// A small log in this format.
    pub fn sample(self) -> &'static str {
        self.row().sample
    }

    /// The facts that the format tells besides messages: time, sender, sessions.
    pub fn carries(self) -> &'static str {
        self.about().carries
    }

    /// A new decoder, which keeps records of up to `max_record_size` bytes. It is to be given input without a byte-order
    /// mark.
    pub fn decoder(self, max_record_size: usize) -> Box<dyn Decoder> {
        (self.about().decoder)(max_record_size)
    }

    /// The same for an input that was recognised, and not said to have this format.
    pub(super) fn detected_decoder(self, max_record_size: usize) -> Box<dyn Decoder> {
        match self {
            Self::JsonLines => json_lines::detected(max_record_size),
            Self::JsonValues => json_values::detected(max_record_size),
            _ => self.decoder(max_record_size),
        }
    }

    fn about(self) -> &'static About {
        self.row().about
    }

    /// Why logs in this format are not read although they are recognised, and what to do instead; `None`: they are read.
    pub fn refusal(self) -> Option<&'static str> {
        match self.about().sign {
            Sign::Refused(_, reason) => Some(reason),
            _ => None,
        }
    }
}

/// Whether a decoder finds a record in a text.
fn has_record(mut decoder: Box<dyn Decoder>, mut text: &[u8], all: bool) -> bool {
    loop {
        match decoder.step(text, all) {
            Step::NeedMore => return false,
            Step::Entry { entry: Entry::Record(_), .. } => return true,
            step => text = &text[step.consumed()..],
        }
    }
}

/// How far an input has been looked at.
#[derive(Default)]
pub(super) struct Looked {
    bytes: usize,
    lines: usize,
}

impl Looked {
    /// The first 1, 2, 4, 8, … lines, each number once, if they are there.
    fn further<'h>(&mut self, head: &'h [u8]) -> Option<&'h [u8]> {
        loop {
            self.bytes += memchr(b'\n', head.get(self.bytes..)?)? + 1;
            self.lines += 1;
            if self.lines.is_power_of_two() {
                return Some(&head[..self.bytes]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
