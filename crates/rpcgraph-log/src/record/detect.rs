//! The formats, and their detection.

use super::capped::CappedDecoder;
use super::decoder::{Decoder, Step};
use super::described::FileFormat;
use super::formats::listed;
use super::json_lines::JsonLines;
use super::learner::{self, Reading};
use super::own_format::OwnFormat;
use super::unwrapped::UnwrappedLog;
use super::window::{InputHead, lines};
use super::wrapper::Wrapper;
use super::{Entry, Sender};
use super::{content_length, har, inspector_network, json_array, json_values, mcpspy};
use super::{protocol_monitor, recording, socat, sse, tshark, vscode_lsp_text, zed_acp};
use memchr::{memchr, memmem, memrchr};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Defines the formats, in the order in which users see them.
macro_rules! formats {
    ($($format:ident = $rank:literal $name:literal $by_text:literal [$($literal:literal),*],)+) => {
        /// A log format.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum Format {
            $(#[doc = concat!("`", $name, "`.")] $format,)+
        }

        impl Format {
            /// Every format, in the order in which users see them.
            pub const ALL: &'static [Self] = &[$(Self::$format,)+];

            fn row(self) -> FormatRow {
                match self {
                    $(Self::$format => {
                        const TEXT: &str = include_str!(concat!("formats/", $name, ".toml"));
                        static FILE: LazyLock<FileFormat> = LazyLock::new(|| FileFormat::parse(TEXT).unwrap_or_default());
                        let literals = &[$($literal),*];
                        FormatRow { rank: $rank, name: $name, by_text: $by_text, literals, text: TEXT, file: &FILE }
                    })+
                }
            }
        }
    };
}
listed!(formats);

/// A format in the list.
struct FormatRow {
    rank: u8,
    name: &'static str,
    /// True if the clue is text before the first value.
    by_text: bool,
    /// The file is parsed when it is first needed: for a log with one of these literals.
    literals: &'static [&'static str],
    text: &'static str,
    file: &'static LazyLock<FileFormat>,
}

/// The code of a format whose file has no rules: a function that makes its decoder, and a clue, unless the file has
/// it.
type FormatCode = (Format, fn() -> Box<dyn Decoder>, Option<FormatClue>);

/// A test for a format, given the first bytes of an input. The variant is the part of the input that shows the format.
#[derive(Clone, Copy)]
enum FormatClue {
    /// A line of text, with or without a message after it.
    Line(fn(&InputHead<'_>) -> bool),
    /// The first JSON value.
    Value(fn(&InputHead<'_>) -> bool),
}

const CODE: [FormatCode; 14] = [
    (Format::JsonLines, || JsonLines::decoder(false, true), None),
    (Format::JsonValues, || JsonLines::decoder(true, true), Some(FormatClue::Value(json_values::detect))),
    (Format::JsonArray, json_array::decoder, Some(FormatClue::Value(json_array::detect))),
    (Format::ContentLength, content_length::decoder, None),
    (Format::Socat, socat::decoder, None),
    (Format::Sse, sse::decoder, Some(FormatClue::Line(sse::detect))),
    (Format::Har, har::decoder, Some(FormatClue::Line(har::detect))),
    (Format::VscodeLspText, vscode_lsp_text::decoder, Some(FormatClue::Line(vscode_lsp_text::detect))),
    (Format::ZedAcp, zed_acp::decoder, None),
    (Format::McpInspectorNetwork, inspector_network::decoder, None),
    (Format::ProtocolMonitor, protocol_monitor::decoder, None),
    (Format::Mcpspy, mcpspy::decoder, None),
    (Format::Record, recording::decoder, None),
    (Format::Tshark, tshark::decoder, Some(FormatClue::Value(tshark::detect))),
];

impl Format {
    /// The number of bytes that detection reads.
    pub(super) const WINDOW: usize = 64 * 1024;

    /// Detects the format of an input by its first bytes, at most 64 KiB. The same bytes give the same format. For a
    /// log whose lines are in a [`Wrapper`], it is the format of the text inside.
    ///
    /// An input that begins as tape archives do is `tar`. Other formats are tried in the order of their ranks, and the
    /// first match decides. The clue of a format is text before any line that is or begins another
    /// JSON value, the first object with members on a line, or the first value. Everything else, also an empty input,
    /// is `json-lines`.
    ///
    /// Lines that are not JSON (banners, stderr) do not count, nor do objects and arrows with a syntax error; in an
    /// archive, the part before the error counts. An object that shows a format does not have a member `jsonrpc`. An
    /// object that is cut off at the end of the examined bytes counts as far as it goes.
    pub fn detect(head: &[u8]) -> Self {
        Self::of(&Self::taken_off(&head[..head.len().min(Self::WINDOW)]).1)
    }

    /// Returns the format of a text, without regard to wrappers.
    fn of(text: &[u8]) -> Self {
        Self::shown_in(&InputHead::new(text), false).unwrap_or(Self::JsonLines)
    }

    /// Returns the wrappers around a text, the outermost first, and the text inside.
    fn taken_off(text: &[u8]) -> (Vec<Wrapper>, Cow<'_, [u8]>) {
        let (mut wrappers, mut text) = (Vec::new(), Cow::Borrowed(text));
        while wrappers.len() < Wrapper::MOST && !is_archive(&text) {
            let shown = Wrapper::shown(&text);
            let Some(wrapper) = shown.or_else(|| Wrapper::possible(&text)) else { break };
            let inside = UnwrappedLog::inside(wrapper, &text);
            let has_fence = || Wrapper::possible(&inside) == Some(Wrapper::Fenced);
            // JSON may be indented without a wrapper. A wrapper inside of the indentation makes it certain.
            let is_sure =
                || !matches!(wrapper, Wrapper::Indented(_)) || shown.is_some() || Wrapper::shown(&inside).is_some();
            if !is_sure()
                && !has_fence()
                && matches!(Self::of(&inside), Self::JsonLines | Self::JsonValues | Self::JsonArray)
            {
                break;
            }
            wrappers.push(wrapper);
            text = inside.into();
        }
        (wrappers, text)
    }

    /// Detects wrappers and a format as soon as the content shows them, so that a live log need not wait: in the first
    /// 1, 2, 4, 8, … lines that hold a whole JSON value or the sign of a format. Otherwise decides by `head` if `all`
    /// is true, because no more will be examined. The same bytes give the same result, however they are split.
    pub(super) fn settled(head: &[u8], all: bool, looked: &mut ExaminedInput) -> Option<(Vec<Wrapper>, Self)> {
        let head = &head[..head.len().min(Self::WINDOW)];
        while let Some(text) = looked.further(head) {
            let (wrappers, seen) = Self::taken_off(text);
            // A part of a line is not a value.
            let window = InputHead::new(&seen[..memrchr(b'\n', &seen).map_or(0, |last| last + 1)]);
            let has_whole_value = window.first_value.is_some_and(|value| value.end.is_some());
            if has_whole_value || Self::shown_in(&window, true).is_some() {
                let format = Self::of(window.bytes);
                // More input is needed to see text after an array, and arrows that point the other way in a log of
                // arrows.
                let may_be_arrows = || wrappers.contains(&Wrapper::Quoted) && Self::of(text) == Self::Arrows;
                if format != Self::JsonArray && (format != Self::JsonLines || !may_be_arrows()) {
                    return Some((wrappers, format));
                }
            }
        }
        all.then(|| {
            let (wrappers, text) = Self::taken_off(head);
            (wrappers, Self::of(&text))
        })
    }

    /// The side whose answers may stand before their requests: a stream of events by the server is one piece, where it
    /// begins or where it ends.
    pub(super) fn early_side(self) -> Option<Sender> {
        match self {
            Self::Har | Self::McpInspectorNetwork => Some(Sender::Server),
            Self::Tshark => Some(Sender::Client),
            _ => None,
        }
    }

    /// True if a learned format may read more of a log than this one.
    pub(super) fn may_be_learned(self) -> bool {
        matches!(self, Self::JsonLines | Self::JsonValues | Self::JsonArray | Self::Arrows | Self::ContentLength)
    }

    /// Returns the format that is learned from a part of a log, with the file that describes it, if it reads all that this
    /// format does. The beginning has `wrappers`. A part after it adds rules to the file that was learned `before`, or to
    /// no rules.
    pub(super) fn learned(
        self,
        part: &[u8],
        is_all: bool,
        wrappers: &[Wrapper],
        before: Option<&str>,
    ) -> Option<(String, OwnFormat)> {
        // Of lines that are messages there is nothing to learn, and most logs have only these.
        if self == Self::JsonLines && lines(part).all(|(_, line)| is_message(line)) {
            return None;
        }
        let take_off = |text: Cow<'_, [u8]>, wrapper: &Wrapper| UnwrappedLog::inside(*wrapper, &text).into();
        let inside = wrappers.iter().fold(Cow::Borrowed(part), take_off);
        // The last line inside of a wrapper may be cut off.
        let is_cut = !is_all && !wrappers.is_empty();
        let inside = if is_cut { &inside[..memrchr(b'\n', &inside).map_or(0, |end| end + 1)] } else { &inside };
        let mut text = learner::learn(inside)?;
        if self == Self::Arrows {
            // The learner takes arrows for directions. At the beginning of a line, some name the sender.
            let head = self.row().text.lines().take_while(|line| *line != "[[rule]]");
            let sides = head.filter(|line| line.starts_with("client = ") || line.starts_with("server = "));
            let sides: String = sides.flat_map(|line| [line, "\n"]).collect();
            text = text.replacen("\n[[rule]]", &format!("{sides}\n[[rule]]"), 1);
        }
        // A line that is cut off may be a message. Only the elements of an array are certain.
        if !is_all && !part.ends_with(b"\n") && !text.starts_with("array") {
            return None;
        }
        let mut own = self.detected_decoder();
        if let Some(before) = before {
            text = learner::with_rules(before, &text);
            own = OwnFormat::described(before).map_or(own, |format| format.decoder());
        }
        let own_format = OwnFormat::described(&text).ok()?;
        let (learned, own) = (Reading::of(own_format.decoder(), inside), Reading::of(own, inside));
        let is_better = before.is_none() && self == Self::JsonLines || learned.has_more_than(&own);
        // A record that is not a message stays a record behind an arrow, and would be text in a learned format.
        let keeps_records = self != Self::Arrows || learned.keeps_records_of(&own);
        (is_better && keeps_records && learned.has_all_of(&own)).then_some((text, own_format))
    }

    /// Returns the wrappers of a log whose format was stated, built in or `own_format`, as soon as a record shows inside
    /// of them. The result is empty if the lines as they are have the format, or a record in the place that the user's
    /// format states.
    pub(super) fn wrappers(
        self,
        own_format: Option<&OwnFormat>,
        head: &[u8],
        all: bool,
        looked: &mut ExaminedInput,
    ) -> Option<Vec<Wrapper>> {
        let head = &head[..head.len().min(Self::WINDOW)];
        let has_record = |text: &[u8], all| {
            let decoder = own_format.map_or_else(|| self.own_decoder(), OwnFormat::decoder);
            has_record(decoder, text, all)
        };
        let shown = |text: &[u8], all| {
            let (wrappers, seen) = Self::taken_off(text);
            let as_it_is = match own_format {
                Some(_) => has_record(text, all),
                None => wrappers.is_empty() || self != Self::JsonLines && Self::of(text) == self,
            };
            match as_it_is {
                true => has_record(text, all).then(Vec::new),
                false => (!wrappers.is_empty() && has_record(&seen, all)).then_some(wrappers),
            }
        };
        while let Some(text) = looked.further(head) {
            if let Some(wrappers) = shown(text, false) {
                return Some(wrappers);
            }
        }
        all.then(|| shown(head, true).unwrap_or_default())
    }

    /// Returns the first format, by rank, that a window shows; with `by_text`, only formats that are shown by text.
    fn shown_in(window: &InputHead<'_>, by_text: bool) -> Option<Self> {
        static RANKED: LazyLock<Vec<Format>> = LazyLock::new(|| {
            let mut ranked = Format::ALL.to_vec();
            ranked.sort_by_key(|format| format.row().rank);
            ranked
        });
        let has = |literal: &&str| memmem::find(window.bytes, literal.as_bytes()).is_some();
        RANKED.iter().copied().find(|format| match format.code() {
            Some((.., Some(FormatClue::Line(test)))) => test(window),
            Some((.., Some(FormatClue::Value(test)))) => !by_text && test(window),
            _ => {
                let row = format.row();
                let is_possible = if row.by_text { window.before_values() > 0 } else { !by_text };
                is_possible && row.literals.iter().any(has) && row.file.is_in(window)
            }
        })
    }

    /// The code of a format whose file has no rules.
    fn code(self) -> Option<&'static FormatCode> {
        self.code_position().map(|at| &CODE[at])
    }

    pub(super) fn code_position(self) -> Option<usize> {
        CODE.iter().position(|(format, ..)| *format == self)
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the format with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// The description of a record, in one line.
    pub fn summary(self) -> &'static str {
        &self.row().file.summary
    }

    /// A small log in this format.
    pub fn sample(self) -> &'static str {
        &self.row().file.sample
    }

    /// The facts that the format carries besides messages: time, sender, sessions.
    pub fn carries(self) -> &'static str {
        &self.row().file.carries
    }

    /// The file that describes the format completely, if there is one.
    pub fn file(self) -> Option<&'static str> {
        self.code().is_none().then_some(self.row().text)
    }

    /// Creates a decoder that keeps records of up to `max_record_size` bytes. Its input must not begin with a
    /// byte-order mark.
    pub fn decoder(self, max_record_size: usize) -> Box<dyn Decoder> {
        CappedDecoder::boxed(self.own_decoder(), max_record_size)
    }

    /// Creates a decoder without a limit.
    pub(super) fn own_decoder(self) -> Box<dyn Decoder> {
        self.code().map_or_else(|| self.row().file.own_format.decoder(), |(_, decoder, _)| decoder())
    }

    /// Creates a decoder for an input whose format was detected, not stated.
    pub(super) fn detected_decoder(self) -> Box<dyn Decoder> {
        match self {
            Self::JsonLines | Self::JsonValues => JsonLines::decoder(self == Self::JsonValues, false),
            _ => self.own_decoder(),
        }
    }

    /// The reason why logs in this format are detected but not read, with advice; `None` if they are read.
    pub fn refusal(self) -> Option<&'static str> {
        if self.code().is_some() { None } else { self.row().file.refuse.as_deref() }
    }
}

/// True if a text begins as a tape archive (POSIX.1-1988 and later), whose lines are not one log.
fn is_archive(text: &[u8]) -> bool {
    text.get(257..).is_some_and(|magic| magic.starts_with(b"ustar"))
}

/// True if a line begins and ends as a message does.
fn is_message(line: &[u8]) -> bool {
    line.starts_with(b"{\"jsonrpc\":") && line.ends_with(b"}")
}

/// True if a decoder finds a record in a text.
fn has_record(mut decoder: Box<dyn Decoder>, mut text: &[u8], all: bool) -> bool {
    loop {
        match decoder.step(text, all) {
            Step::NeedMore => return false,
            Step::Entry { entry: Entry::Record(_), .. } => return true,
            step => text = &text[step.consumed()..],
        }
    }
}

/// The part of an input that has been examined.
#[derive(Default)]
pub(super) struct ExaminedInput {
    bytes: usize,
    lines: usize,
}

impl ExaminedInput {
    /// Returns the first 1, 2, 4, 8, … lines, each number once, if the input has as many.
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
