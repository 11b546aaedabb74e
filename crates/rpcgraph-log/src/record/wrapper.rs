//! Wrappers, which put each line of any program into a line of their own.
//!
//! ```text
//! {"log":"{\"jsonrpc\":…}\n","stream":"stdout","time":"2026-01-05T10:00:00.123456789Z"}
//! 2026-01-05T10:00:00.123456789Z stdout F {"jsonrpc":…}
//! Jan 05 10:00:00 host mcpd[812]: {"jsonrpc":…}
//! api-1  | {"jsonrpc":…}
//! [pod/api-7d9/mcp] {"jsonrpc":…}
//! ```
//!
//! Some wrappers name the writer of each line: the container, the pod, or the program and its process.

use super::Time;
use super::colours::{has_colours, without_colours};
use super::decoder::{leading_blanks, trim_end};
use super::object::{RawObject, offset_in, scalar, unescape};
use super::surroundings::named_direction;
use super::times;
use super::value::{Extent, byte_array, is_whole, value};
use super::window::{InputHead, lines};
use memchr::memchr;
use regex::bytes::Regex;
use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// A wrapper around each line of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wrapper {
    /// Docker's `json-file`.
    Docker,
    /// The logs of Kubernetes' containers (CRI).
    Cri,
    /// `journalctl -o json`.
    Journald,
    /// RFC 3164 and RFC 5424; `journalctl -o short`, `short-iso` and `short-precise`.
    Syslog,
    /// `docker compose logs`.
    Compose,
    /// `kubectl logs --prefix`.
    Kubectl,
    /// `tail` or `head` of several files.
    Tail,
    /// The colours of a terminal.
    Colours,
    /// Lines quoted with `> `.
    Quoted,
    /// A block between lines of three backquotes. Text outside of it is not part of the log.
    Fenced,
    /// Lines indented by this number of blanks.
    Indented(usize),
    /// Lines broken at the width of a terminal, in characters.
    Broken(usize),
}

/// The content of a wrapped line.
pub(super) struct UnwrappedLine<'a> {
    /// The text without the end of its line.
    pub text: Cow<'a, [u8]>,
    /// The offset of the text in the line.
    pub start: usize,
    pub time: Option<Time>,
    /// The name of the writer; empty if the line does not name it.
    pub writer: Cow<'a, [u8]>,
    pub stream: &'a [u8],
    /// True if the next line of the same stream continues this one.
    pub is_continued: bool,
    /// The number of bytes of the line that are consumed.
    pub used: usize,
}

impl<'a> UnwrappedLine<'a> {
    /// Takes the rest of a line from `start` on.
    fn rest(line: &'a [u8], start: usize, time: Option<Time>) -> Self {
        let writer = Cow::default();
        Self { text: line[start..].into(), start, time, writer, stream: b"", is_continued: false, used: line.len() }
    }
}

/// Wrappers that each line shows.
const SHOWN: [Wrapper; 7] = [
    Wrapper::Colours,
    Wrapper::Docker,
    Wrapper::Cri,
    Wrapper::Journald,
    Wrapper::Syslog,
    Wrapper::Compose,
    Wrapper::Kubectl,
];

impl Wrapper {
    /// The name of the wrapper.
    pub fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Cri => "cri",
            Self::Journald => "journald",
            Self::Syslog => "syslog",
            Self::Compose => "compose",
            Self::Kubectl => "kubectl",
            Self::Tail => "tail",
            Self::Colours => "colours",
            Self::Quoted => "quoted",
            Self::Fenced => "fenced",
            Self::Indented(_) => "indented",
            Self::Broken(_) => "broken lines",
        }
    }

    /// Returns the wrapper that at least half of the lines show.
    pub(super) fn shown(text: &[u8]) -> Option<Self> {
        let count = lines(text).count();
        // The bars after the names of services are all in the same column.
        let bar = |line: &[u8]| Self::Compose.take(line, true, &mut Vec::new()).and_then(|_| memchr(b'|', line));
        let first_bar = lines(text).find_map(|(_, line)| bar(line));
        SHOWN.into_iter().find(|&wrapper| {
            let shows = |&(at, line): &(usize, &[u8])| match wrapper {
                Self::Colours => has_colours(line),
                Self::Compose => bar(line).is_some_and(|bar| Some(bar) == first_bar),
                _ => {
                    let is_ended = at + line.len() < text.len();
                    wrapper.take(line, is_ended, &mut Vec::new()).is_some() || wrapper.omits_text(line)
                }
            };
            // Colours need more than half: a program may colour some lines itself.
            let needed = (count + usize::from(wrapper == Self::Colours)).div_ceil(2).max(1);
            // Once too many lines do not show it, the others are not examined.
            let spare = count.checked_sub(needed);
            spare.is_some_and(|spare| lines(text).filter(|line| !shows(line)).nth(spare).is_none())
        })
    }

    /// True for a line that states that its text is left out: `journalctl` does so for more than 4 KiB, without `--all`.
    pub fn omits_text(self, line: &[u8]) -> bool {
        self == Self::Journald
            && object(line, true)
                .is_some_and(|(object, _)| object.has("__REALTIME_TIMESTAMP") && object.get("MESSAGE") == Some(b"null"))
    }

    /// Returns the wrapper that all lines, or the lines before the first JSON value, might have. Other logs look the
    /// same.
    pub(super) fn possible(text: &[u8]) -> Option<Self> {
        let (_, first) = lines(text).next()?;
        let indents =
            lines(text).map(|(at, _)| text[..at].iter().rev().take_while(|byte| b" \t".contains(byte)).count());
        let indent = indents.min().filter(|&indent| indent > 0);
        let is_quoted = first.starts_with(b">") && lines(text).all(|(_, line)| behind_front(&QUOTED, line).is_some());
        if header(first).is_some() {
            return Some(Self::Tail);
        }
        let is_fenced = || InputHead::new(text).lines_before_values().any(is_fence);
        indent
            .map(Self::Indented)
            .or_else(|| is_quoted.then_some(Self::Quoted))
            .or_else(|| is_fenced().then_some(Self::Fenced))
            .or_else(|| width_of_broken_lines(text).map(Self::Broken))
    }

    /// The maximum number of nested wrappers: the colours of a terminal, and two more.
    pub(super) const MOST: usize = 3;

    /// Returns the content of a line without its LF, if the line has this wrapper; `ended` is true if it had an LF. The
    /// caller keeps `inside` for the next line: the name of the file, a value that is not empty inside a fence, or the beginning
    /// of a broken line.
    pub(super) fn take<'a>(self, line: &'a [u8], ended: bool, inside: &mut Vec<u8>) -> Option<UnwrappedLine<'a>> {
        let mut taken = match self {
            Self::Docker => return docker(line, ended),
            Self::Journald => return journald(line, ended),
            Self::Colours => UnwrappedLine { text: without_colours(line), ..UnwrappedLine::rest(line, 0, None) },
            Self::Fenced => {
                if is_fence(line) {
                    *inside = if inside.is_empty() { b"`".to_vec() } else { Vec::new() };
                    return None;
                }
                (!inside.is_empty()).then(|| UnwrappedLine::rest(line, 0, None))?
            }
            Self::Tail => {
                if let Some(name) = header(line) {
                    *inside = name.to_vec();
                    return None;
                }
                UnwrappedLine { writer: inside.clone().into(), ..UnwrappedLine::rest(line, 0, None) }
            }
            Self::Indented(blanks) => {
                let blanks = line.iter().take(blanks).take_while(|byte| b" \t".contains(byte)).count();
                UnwrappedLine::rest(line, blanks, None)
            }
            Self::Broken(width) => {
                inside.extend_from_slice(line);
                // A value may end at the width.
                let is_continued = characters(line) == width && !ends_in_value(inside);
                if !is_continued {
                    inside.clear();
                }
                UnwrappedLine { is_continued, ..UnwrappedLine::rest(line, 0, None) }
            }
            Self::Syslog => behind_front(&STRUCTURED_SYSLOG, line).or_else(|| {
                let found = behind_front(&SYSLOG, line)?;
                (!is_about_a_message(&found.writer)).then_some(found)
            })?,
            Self::Cri => behind_front(&CRI, line)?,
            // Neither a level of logging nor a time is a service.
            Self::Compose => behind_front(&COMPOSE, line).filter(|found| {
                found.writer.iter().any(u8::is_ascii_alphabetic)
                    && !is_level(&String::from_utf8_lossy(&found.writer))
                    && !times::is_time(&found.writer)
            })?,
            Self::Kubectl => behind_front(&KUBECTL, line)?,
            Self::Quoted => behind_front(&QUOTED, line)?,
        };
        taken.is_continued |= !ended;
        Some(taken)
    }
}

/// Returns the object at the beginning of a line, if it is whole or cut off with the log, and its length in bytes.
fn object(line: &[u8], ended: bool) -> Option<(RawObject<'_>, usize)> {
    let blanks = leading_blanks(line);
    let (object, length) = RawObject::first(&line[blanks..])?;
    (object.is_whole() || !ended).then_some((object, blanks + length))
}

/// Returns a member that occurs only once: of two, one would be lost.
fn only<'a>(object: &RawObject<'a>, name: &str) -> Option<&'a [u8]> {
    let mut all = object.all(name);
    all.next().filter(|_| all.next().is_none())
}

/// Returns the values of the given members that are present, with blanks between them.
fn names(object: &RawObject<'_>, members: &[&str]) -> Vec<u8> {
    let values: Vec<_> = members.iter().filter_map(|name| scalar(object.get(name)?)).collect();
    values.join(" ").into_bytes()
}

fn docker(line: &[u8], ended: bool) -> Option<UnwrappedLine<'_>> {
    let (object, used) = object(line, ended)?;
    let log = only(&object, "log")?;
    let text = unescape(log)?;
    let is_dockers = ["stream", "time", "kubernetes"].iter().any(|name| object.has(name)) || !object.is_whole();
    is_dockers.then(|| {
        let (text, is_continued) = match text {
            Cow::Owned(mut text) => {
                let ends = text.pop_if(|last| *last == b'\n').is_some();
                (text.into(), !ends)
            }
            text => (text, true),
        };
        let stream = object.get("stream").unwrap_or_default();
        // Log collectors name the container beside the line.
        let writer = match (object.object("kubernetes"), object.object("attrs")) {
            (Some(pod), _) => names(&pod, &["namespace_name", "pod_name", "container_name"]),
            (None, Some(labels)) => {
                labels.members().filter_map(|(_, value)| scalar(value)).collect::<Vec<_>>().join(" ").into()
            }
            (None, None) => names(&object, &["container_name", "container_id"]),
        };
        let start = offset_in(line, log) + 1;
        let time = ["time", "@timestamp", "timestamp"].iter().find_map(|name| object.date_time(name));
        UnwrappedLine { text, start, time, writer: writer.into(), stream, is_continued, used }
    })
}

fn journald(line: &[u8], ended: bool) -> Option<UnwrappedLine<'_>> {
    let (object, used) = object(line, ended)?;
    let time = times::any(&unescape(object.get("__REALTIME_TIMESTAMP")?)?);
    let message = only(&object, "MESSAGE")?;
    let (text, start) = match message.first() {
        // Text that is not printable, or not UTF-8, is an array of bytes.
        Some(b'[') => (byte_array(message)?.1.into(), offset_in(line, message)),
        _ => (unescape(message)?, offset_in(line, message) + 1),
    };
    // A line that was too long for journald is continued in the next entry of its stream.
    let is_continued = !object.is_whole() || object.get("_LINE_BREAK") == Some(b"\"line-max\"");
    let program = if object.has("_SYSTEMD_UNIT") { "_SYSTEMD_UNIT" } else { "SYSLOG_IDENTIFIER" };
    let writer = names(&object, &["_HOSTNAME", "CONTAINER_NAME", "CONTAINER_ID", program, "_PID"]).into();
    let stream = object.get("_STREAM_ID").unwrap_or_default();
    Some(UnwrappedLine { text, start, time, writer, stream, is_continued, used })
}

/// A regular expression for the front of a line, with groups for the time, the writer and the stream, and a group `part`
/// if the line is continued. The text comes after the front.
type LineFront = LazyLock<Option<Regex>>;

static CRI: LineFront = LazyLock::new(|| Regex::new(CRI_FRONT).ok());
const CRI_FRONT: &str = r"(?x-u)^(?<time>\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d:\d\d[0-9.,:+Z-]*)
    \ (?<stream>stdout|stderr)\ (?:F|(?<part>P))(?:[\ \r]|$)";

/// RFC 3164, and `journalctl`.
static SYSLOG: LineFront = LazyLock::new(|| Regex::new(SYSLOG_FRONT).ok());
const SYSLOG_FRONT: &str = r"(?x-u)^(?:<\d{1,3}>)?
    (?<time>(?:\d{4}-\d\d-\d\dT|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ [\ 0-3]\d\ )
        \d\d:\d\d:\d\d[0-9.,:+Z-]*)
    \ (?<writer>[A-Za-z0-9._-]+[\ \t][A-Za-z0-9._/@()\[\]-]+):(?:\s|$)";

/// RFC 5424. Data is `-`, or groups in brackets with quoted values.
static STRUCTURED_SYSLOG: LineFront = LazyLock::new(|| Regex::new(STRUCTURED_SYSLOG_FRONT).ok());
const STRUCTURED_SYSLOG_FRONT: &str = r#"(?sx-u)^<\d{1,3}>1\ (?<time>\S+)\s(?<writer>\S+\s\S+\s\S+)\s\S+\s
    (?:-|(?:\[(?:[^"\]\\]|\\.|"(?:[^"\\]|\\.)*")*\])+)(?:\x20(?:\xef\xbb\xbf)?|\s*$)"#;

static COMPOSE: LineFront = LazyLock::new(|| Regex::new(r"(?-u)^(?<writer>[\w.-]+)\s+\|(?: |\r?$)").ok());
static KUBECTL: LineFront = LazyLock::new(|| Regex::new(r"(?-u)^\[pod/(?<writer>[\w.-]*/[\w./-]*)\] ?").ok());
static QUOTED: LineFront = LazyLock::new(|| Regex::new(r"(?-u)^(?:> |>\r?$|[ \t\r]*$)").ok());

fn behind_front<'a>(front: &LineFront, line: &'a [u8]) -> Option<UnwrappedLine<'a>> {
    // No front begins like an object, so the expressions are not compiled for a log of objects.
    let found = if line.starts_with(b"{") { None } else { front.as_ref()?.captures(line) }?;
    let group = |name: &str| found.name(name).map(|group| group.as_bytes()).unwrap_or_default();
    let (is_continued, start) = (found.name("part").is_some(), found.get(0)?.end());
    // The line end of a partial line belongs to the wrapper.
    let text = line[start..].strip_suffix(b"\r").filter(|_| is_continued).unwrap_or(&line[start..]);
    let time = times::first(group("time"));
    let unwrapped = UnwrappedLine {
        text: text.into(),
        stream: group("stream"),
        is_continued,
        ..UnwrappedLine::rest(line, start, time)
    };
    Some(UnwrappedLine { writer: group("writer").into(), ..unwrapped })
}

/// True if two words, as in `Sending request:`, `mcp server:` and `DEBUG app:`, are not a host and a program.
fn is_about_a_message(words: &[u8]) -> bool {
    const NOUNS: [&str; 9] =
        ["call", "client", "error", "event", "message", "notification", "request", "response", "server"];
    let words = String::from_utf8_lossy(words);
    let Some((first, last)) = words.split_once([' ', '\t']) else { return false };
    is_level(first)
        || [first, last].into_iter().any(|word| named_direction(word).is_some())
        || NOUNS.iter().any(|noun| last.eq_ignore_ascii_case(noun))
}

/// Returns the name of the file in the header line of `tail` or `head`.
fn header(line: &[u8]) -> Option<&[u8]> {
    trim_end(line).strip_prefix(b"==> ")?.strip_suffix(b" <==").filter(|name| !name.is_empty())
}

fn is_fence(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"```")
}

/// The widths of terminals.
const WIDTHS: RangeInclusive<usize> = 60..=400;
/// The maximum size of a broken line whose value is searched for its end.
const BROKEN: usize = 64 * 1024;

fn characters(line: &[u8]) -> usize {
    String::from_utf8_lossy(line).chars().count()
}

/// True if the first value in a text ends with the text.
fn ends_in_value(text: &[u8]) -> bool {
    let is_possible = text.ends_with(b"}") && text.len() < BROKEN;
    is_possible && memchr(b'{', text).is_some_and(|from| is_whole(&text[from..]))
}

/// Returns the width at which lines are broken: the width of the longest lines, if most of the values in these lines continue on
/// the next lines.
fn width_of_broken_lines(text: &[u8]) -> Option<usize> {
    let all: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let width = all.iter().map(|line| characters(line)).max().filter(|width| WIDTHS.contains(width))?;
    let (mut broken, mut others, mut at) = (0, 0, 0);
    while let Some(first) = all[at..].iter().position(|line| characters(line) == width).map(|first| at + first) {
        let last =
            all[first..].iter().position(|line| characters(line) < width).map_or(all.len() - 1, |last| first + last);
        at = last + 1;
        let is_value =
            |text: &[u8]| memchr(b'{', text).is_some_and(|from| matches!(value(&text[from..]), Extent::Whole(_)));
        let lines = &all[first..at];
        match (is_value(&lines.concat()), is_value(&lines.join(&b'\n'))) {
            (true, false) => broken += 1,
            (false, _) => others += 1,
            // Broken between two parts of the value.
            (true, true) => {}
        }
    }
    (broken > others).then_some(width)
}

/// True for the name of a level of logging.
pub(super) fn is_level(word: &str) -> bool {
    const LEVELS: [&str; 9] = ["trace", "debug", "info", "notice", "warn", "warning", "error", "fatal", "critical"];
    LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(wrapper: Wrapper, line: &str) -> Option<(String, bool)> {
        let taken = wrapper.take(line.as_bytes(), true, &mut Vec::new())?;
        assert!(taken.used == line.len() || wrapper == Wrapper::Docker);
        Some((String::from_utf8_lossy(&taken.text).into_owned(), taken.is_continued))
    }

    #[test]
    fn wrapped_lines_give_their_text() {
        use Wrapper::{Colours, Compose, Cri, Docker, Indented, Journald, Quoted, Syslog};
        for (wrapper, line, expected) in [
            (Docker, r#"{"log":"a\n","stream":"stdout","time":"2026-01-05T10:00:00Z"}"#, Some(("a", false))),
            (Docker, r#" {"log":"a","stream":"stdout"} "#, Some(("a", true))),
            (Docker, r#"{"log":"a\n","time":"x"}{"log":"b\n","time":"x"}"#, Some(("a", false))),
            (Docker, r#"{"log":"a\n","log":"b\n","time":"x"}"#, None),
            (Docker, r#"{"log":"a\n"}"#, None),
            (
                Docker,
                r#"{"log":"a\n","kubernetes":{"pod_name":"p"},"@timestamp":"2026-01-05T10:00:00Z"}"#,
                Some(("a", false)),
            ),
            (Docker, r#"{"log":{"version":"1.2"},"time":"x"}"#, None),
            (Docker, r#"{"log":"a\n","stream":"stdout",oops}"#, None),
            (Cri, "2026-01-05T10:00:00.123456789Z stdout F a b", Some(("a b", false))),
            (Cri, "2026-01-05T10:00:00.123456789+01:00 stderr P  a", Some((" a", true))),
            (Cri, "2026-01-05T10:00:00.123456789Z stdout F", Some(("", false))),
            (Cri, "2026-01-05T10:00:00.123456789Z stdout X a", None),
            (Cri, "2026-01-05T10:00:00.123456789Z stdoutF a", None),
            (Journald, r#"{"__REALTIME_TIMESTAMP":"1767607200123456","MESSAGE":"a\nb"}"#, Some(("a\nb", false))),
            (Journald, r#"{"MESSAGE":[97, 255],"__REALTIME_TIMESTAMP":"1"}"#, Some(("a\u{fffd}", false))),
            (Journald, r#"{"MESSAGE":null,"__REALTIME_TIMESTAMP":"1"}"#, None),
            (Journald, r#"{"MESSAGE":[97,256],"__REALTIME_TIMESTAMP":"1"}"#, None),
            (Journald, r#"{"MESSAGE":"a"}"#, None),
            (Syslog, "Jan  5 10:00:00 host kernel: a", Some(("a", false))),
            (Syslog, "Jan 05 10:00:00.5 host-1.local (systemd)[1]: ", Some(("", false))),
            (Syslog, "Feb 29 10:00:00 host app:", Some(("", false))),
            (Syslog, "<165>Aug 24 05:34:00 host app[7]:  a", Some((" a", false))),
            (Syslog, "2026-01-05T10:00:00.5+01:00 host app: a", Some(("a", false))),
            (Syslog, "<34>1 - - - - - - a", Some(("a", false))),
            (Syslog, "<34>1 2026-01-05T10:00:00Z h a - - [x@1 y=\"]\"]", Some(("", false))),
            (Syslog, "<34>1 2026-01-05T10:00:00Z h a - - [x@1 y=\"]", None),
            (Syslog, "<34>1 2026-01-05T10:00:00Z h a", None),
            (Syslog, "<p>text</p>", None),
            (Syslog, "Jan 05 10:00:00 host a message", None),
            (Syslog, "Jan 05 10:00 host app: a", None),
            (Syslog, "2026-01-05 10:00:00 host app: a", None),
            (Syslog, "2026-01-05T10:00:00Z DEBUG server: a", None),
            (Syslog, "2026-01-05T10:00:00Z host lsp::msg: a", None),
            (Syslog, "2026-01-05T10:00:00Z [demo] [info] a: b", None),
            (Compose, "api-1  | a | b", Some(("a | b", false))),
            (Compose, "api_1 |", Some(("", false))),
            (Compose, "api-1| a", None),
            (Compose, "| a |", None),
            (Compose, "1741083358.700 | a", None),
            (Compose, "20250601T100000.5Z | a", None),
            (Compose, "two words | a", None),
            (Colours, "\x1b[1;32ma\x1b[0m b\x1b[K", Some(("a b", false))),
            (Colours, "a\x1b[", Some(("a", false))),
            (Colours, "[1;32ma[0m b: {\"c\":\"[0m\"}", Some(("a b: {\"c\":\"[0m\"}", false))),
            (Colours, r"\x1b[2ma\u001b[0m ^[[3mb␛[0m", Some(("a b", false))),
            (Colours, "took[5m] \"[0m\"", Some(("took[5m] \"[0m\"", false))),
            (Colours, "a\x1b[¡\x1b[3\x1b[0mb\x1b[\t", Some(("a\x1b[¡\x1b[3b\x1b[\t", false))),
            (Quoted, "> > a", Some(("> a", false))),
            (Quoted, ">", Some(("", false))),
            (Quoted, ">> a", None),
            (Indented(2), "   a", Some((" a", false))),
            (Indented(2), " a", Some(("a", false))),
        ] {
            let expected = expected.map(|(text, is_continued)| (text.to_owned(), is_continued));
            assert_eq!(text(wrapper, line), expected, "{wrapper:?}: {line}");
        }
    }

    #[test]
    fn wrappers_are_seen_in_most_lines() {
        let docker = "{\"log\":\"a\\n\",\"stream\":\"stdout\"}\n";
        assert_eq!(Wrapper::shown(format!("banner\n{docker}").as_bytes()), Some(Wrapper::Docker));
        assert_eq!(Wrapper::shown(format!("banner\nbanner\n{docker}").as_bytes()), None);
        assert_eq!(Wrapper::shown(b"api-1  | a\nanother  | b\nx\n"), None);
        assert_eq!(Wrapper::shown(b"api-1    | a\nstore-1  | b\n"), Some(Wrapper::Compose));
        assert_eq!(Wrapper::shown(b""), None);
        assert_eq!(Wrapper::possible(b"> a\n>\n> b"), Some(Wrapper::Quoted));
        assert_eq!(Wrapper::possible(b"> a\nb"), None);
        assert_eq!(Wrapper::possible(b"  a\n\n\tb\n"), Some(Wrapper::Indented(1)));
        assert_eq!(Wrapper::possible(b"a\n```\n{}\n```\n"), Some(Wrapper::Fenced));
        assert_eq!(Wrapper::possible(b"{}\n```\n"), None);
    }
}
