//! The formats, and how one is recognised.

use super::Entry;
use super::about::{About, Sign, Window};
use super::carried::Carried;
use super::carrier::Carrier;
use super::decoder::{Decoder, Step};
use super::described::FileFormat;
use super::formats::files;
use super::layout::Layout;
use super::{content_length, har, helix, inspector_network, json_array, json_lines, json_values, lsp4e};
use super::{mcpspy, protocol_monitor, sse, tar, tshark, vscode_lsp_json, vscode_lsp_text, zed, zed_acp};
use memchr::{memchr, memmem, memrchr};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Lists the formats in the order in which users are shown them: those that are modules, each with its rank in the order in which
/// they are looked for, and those that are files.
macro_rules! formats {
    (
        $($format:ident = $rank:literal $module:ident $name:literal,)+;
        $($file:ident = $file_rank:literal $file_name:literal $by_text:literal [$($literal:literal),*],)+
    ) => {
        /// A log format.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum Format {
            $(#[doc = concat!("`", $name, "`.")] $format,)+
            $(#[doc = concat!("`", $file_name, "`, a file.")] $file,)+
        }

        impl Format {
            /// Every format, as they are listed to users.
            pub const ALL: &'static [Self] = &[$(Self::$format,)+ $(Self::$file,)+];

            fn row(self) -> FormatRow {
                match self {
                    $(Self::$format => {
                        let sample = include_str!(concat!("samples/", $name, ".log"));
                        FormatRow { rank: $rank, name: $name, says: Says::Module(&$module::ABOUT, sample) }
                    })+
                    $(Self::$file => {
                        const TEXT: &str = include_str!(concat!("formats/", $file_name, ".toml"));
                        static FILE: LazyLock<FileFormat> = LazyLock::new(|| FileFormat::parse(TEXT).unwrap_or_default());
                        let says = Says::File { text: TEXT, by_text: $by_text, literals: &[$($literal),*], file: &FILE };
                        FormatRow { rank: $file_rank, name: $file_name, says }
                    })+
                }
            }
        }
    };
}

/// What the table says of a format.
struct FormatRow {
    rank: u8,
    name: &'static str,
    says: Says,
}

/// What says all else of it.
enum Says {
    /// With a small log, which must be detected as this format.
    Module(&'static About, &'static str),
    /// Parsed when it is first needed: in a log with one of the literals, and text before the first value where that shows it.
    File { text: &'static str, by_text: bool, literals: &'static [&'static str], file: &'static LazyLock<FileFormat> },
}

files! { formats! {
    JsonLines = 18 json_lines "json-lines",
    JsonValues = 17 json_values "json-values",
    JsonArray = 16 json_array "json-array",
    ContentLength = 10 content_length "content-length",
    Sse = 9 sse "sse",
    Har = 15 har "har",
    VscodeLspText = 8 vscode_lsp_text "vscode-lsp-text",
    VscodeLspJson = 7 vscode_lsp_json "vscode-lsp-json",
    Helix = 3 helix "helix",
    Zed = 5 zed "zed",
    ZedAcp = 6 zed_acp "zed-acp",
    Lsp4e = 7 lsp4e "lsp4e",
    McpInspectorNetwork = 6 inspector_network "mcp-inspector-network",
    ProtocolMonitor = 6 protocol_monitor "protocol-monitor",
    Mcpspy = 13 mcpspy "mcpspy",
    Tshark = 12 tshark "tshark",
    Tar = 0 tar "tar",
} }

impl Format {
    /// How many bytes detection looks at.
    pub(super) const WINDOW: usize = 64 * 1024;

    /// Recognises a format by the content of an input's first bytes, of which it looks at 64 KiB at most. The same bytes
    /// give the same format. In a log whose lines are in a [`Carrier`], it is the format of what is inside.
    ///
    /// An input that begins as tape archives do is `tar`. Formats are looked for in the order of their ranks, and the first that
    /// is found decides. Its file says how it is recognised, or its module: by text that stands before any line that is or
    /// begins another JSON value, by the first object with members on a line, or by the first value. Everything else, and
    /// nothing at all, is `json-lines`.
    ///
    /// Lines that are not JSON (banners, stderr) do not count, nor do objects and arrows with an error in them; what comes
    /// before the error in an archive does. No object that shows a format has a member `jsonrpc`, and one that is cut off by the
    /// end of what is seen counts as far as it goes.
    pub fn detect(head: &[u8]) -> Self {
        Self::of(&Self::taken_off(&head[..head.len().min(Self::WINDOW)]).1)
    }

    /// The format of a text, whatever carrier it may be in.
    fn of(text: &[u8]) -> Self {
        Self::shown_in(&Window::new(text), false).unwrap_or(Self::JsonLines)
    }

    /// The carriers that a text is in, the outermost first, and the text inside.
    fn taken_off(text: &[u8]) -> (Vec<Carrier>, Cow<'_, [u8]>) {
        let (mut carriers, mut text) = (Vec::new(), Cow::Borrowed(text));
        while carriers.len() < Carrier::MOST && !tar::is_archive(&text) {
            let shown = Carrier::shown(&text);
            let Some(carrier) = shown.or_else(|| Carrier::possible(&text)) else { break };
            let inside = Carried::inside(carrier, &text);
            let has_fence = || Carrier::possible(&inside) == Some(Carrier::Fenced);
            // JSON may be indented; what is read inside of others is not read in the log as it is.
            let is_sure =
                || !matches!(carrier, Carrier::Indented(_)) || shown.is_some() || Carrier::shown(&inside).is_some();
            if !is_sure()
                && !has_fence()
                && matches!(Self::of(&inside), Self::JsonLines | Self::JsonValues | Self::JsonArray)
            {
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
            if has_whole_value || Self::shown_in(&window, true).is_some() {
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

    /// The first format, in the order of their ranks, that a window has; `by_text`: that text in it shows.
    fn shown_in(window: &Window<'_>, by_text: bool) -> Option<Self> {
        static RANKED: LazyLock<Vec<Format>> = LazyLock::new(|| {
            let mut ranked = Format::ALL.to_vec();
            ranked.sort_by_key(|format| format.row().rank);
            ranked
        });
        let has = |literal: &&str| memmem::find(window.bytes, literal.as_bytes()).is_some();
        RANKED.iter().copied().find(|format| match format.row().says {
            Says::Module(About { sign: Sign::Line(test) | Sign::Refused(test, _), .. }, _) => test(window),
            Says::Module(About { sign: Sign::Value(test), .. }, _) => !by_text && test(window),
            Says::File { by_text: false, .. } if by_text => false,
            Says::File { by_text: true, .. } if window.before_values() == 0 => false,
            Says::File { literals, file, .. } => literals.iter().any(has) && file.is_in(window),
        })
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
        match self.row().says {
            Says::Module(about, _) => about.summary,
            Says::File { file, .. } => &file.summary,
        }
    }

    /// A small log in this format.
    pub fn sample(self) -> &'static str {
        match self.row().says {
            Says::Module(_, sample) => sample,
            Says::File { file, .. } => &file.sample,
        }
    }

    /// The facts that the format tells besides messages: time, sender, sessions.
    pub fn carries(self) -> &'static str {
        match self.row().says {
            Says::Module(about, _) => about.carries,
            Says::File { file, .. } => &file.carries,
        }
    }

    /// The file that describes it, if there is one.
    pub fn file(self) -> Option<&'static str> {
        match self.row().says {
            Says::Module(..) => None,
            Says::File { text, .. } => Some(text),
        }
    }

    /// A new decoder, which keeps records of up to `max_record_size` bytes. It is to be given input without a byte-order
    /// mark.
    pub fn decoder(self, max_record_size: usize) -> Box<dyn Decoder> {
        match self.row().says {
            Says::Module(about, _) => (about.decoder)(max_record_size),
            Says::File { file, .. } => file.layout.decoder(max_record_size),
        }
    }

    /// The same for an input that was recognised, and not said to have this format.
    pub(super) fn detected_decoder(self, max_record_size: usize) -> Box<dyn Decoder> {
        match self {
            Self::JsonLines => json_lines::detected(max_record_size),
            Self::JsonValues => json_values::detected(max_record_size),
            _ => self.decoder(max_record_size),
        }
    }

    /// Why logs in this format are not read although they are recognised, and what to do instead; `None`: they are read.
    pub fn refusal(self) -> Option<&'static str> {
        match self.row().says {
            Says::Module(About { sign: Sign::Refused(_, reason), .. }, _) => Some(reason),
            Says::Module(..) => None,
            Says::File { file, .. } => file.refuse.as_deref(),
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
