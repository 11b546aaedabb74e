//! The places of messages in a log, as its user states them: by pointers into objects, by a regular expression for
//! lines, or in a file.

use super::decoder::Decoder;
use super::pointer::{Pointer, PointerError};
use super::rules::{
    DurationUnit, EnvelopeParts, FormatRule, FormatRules, LineRegex, LineRule, MESSAGE_MEMBERS, PARTS, RuleKind,
    VALUES, fact_groups,
};
use regex::bytes::Regex;
use std::sync::Arc;

/// The places of messages in a log, and of the time, sender and session of each, as the user states them. Cheap to
/// clone.
///
/// An object or an array in such a place is a record, with or without `jsonrpc`; lines without a record are text
/// between messages.
///
/// ```
/// use rpcgraph_log::record::{Entry, OwnFormat, Reader, ReaderOptions};
///
/// let log = "{\"ts\":1767607200,\"dir\":\"c2s\",\"payload\":{\"id\":1,\"method\":\"add\"}}\n";
/// let own_format = OwnFormat::envelope("message=/payload time=/ts sender=/dir")?;
/// let mut reader = Reader::new(log.as_bytes(), &ReaderOptions::default().with_own_format(own_format))?;
/// let Some(Entry::Record(record)) = reader.next_entry()? else { unreachable!() };
/// assert_eq!(&*record.bytes, b"{\"id\":1,\"method\":\"add\"}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OwnFormat(Arc<FormatRules>);

/// An error in a user's format.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OwnFormatError {
    /// The text is not a name, `=` and a pointer.
    #[error("`{0}` is not NAME=/POINTER: say where things are as in 'message=/payload time=/ts'")]
    Pair(String),
    /// The name is unknown.
    #[error("unknown part `{0}`; use one of {parts}", parts = PARTS.join(", "))]
    Part(String),
    /// The group is unknown.
    #[error("unknown part `{0}`; use one of {parts}", parts = [&PARTS[..], &MESSAGE_MEMBERS].concat().join(", "))]
    Group(String),
    /// The pointer is not a JSON Pointer.
    #[error(transparent)]
    Pointer(#[from] PointerError),
    /// The format does not state the place of the message.
    #[error("the place of the message is missing: add {0}")]
    NoMessage(&'static str),
    /// The expression does not have the group of the session.
    #[error("the expression has no group `{0}`, which would be the key of the session")]
    NoGroup(String),
    /// The unit of a duration is unknown.
    #[error("unknown unit `{0}` of a duration; use one of s, ms, us, ns")]
    Unit(String),
    /// The text is not a regular expression.
    #[error(transparent)]
    Regex(#[from] regex::Error),
    /// The file is not TOML, or not the TOML of a format.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// The file lacks a part, or its sample gives another result.
    #[error("{0}")]
    File(String),
}

impl OwnFormat {
    /// Messages in JSON lines, at these pointers: `message=/payload time=/ts sender=/dir session=/conn`. A name may
    /// occur more than once: each message is a record, and of other parts, the first that is present is used.
    ///
    /// Pointers also lead through strings that hold JSON.
    ///
    /// # Errors
    ///
    /// If a name or a pointer is wrong, or `message` is missing.
    pub fn envelope(pointers: &str) -> Result<Self, OwnFormatError> {
        let pair = |text: &str| {
            let (name, pointer) = text.split_once('=').ok_or_else(|| OwnFormatError::Pair(text.to_owned()))?;
            Ok::<_, OwnFormatError>((name.to_owned(), pointer.to_owned()))
        };
        let pairs = pointers.split_whitespace().map(pair).collect::<Result<Vec<_>, _>>()?;
        Ok(Self::of(None, Some(envelope_parts(pairs, Pointer::noted, false)?)))
    }

    /// Messages in lines of text, in the group `message` of a regular expression, with the optional groups `time`,
    /// `sender`, `session` and `duration`. Text after the value at the beginning of the group does not belong to the
    /// message. A group may also begin with a quote, or be the text of a string with escape sequences.
    ///
    /// # Errors
    ///
    /// If the text is not a regular expression, has other groups, or lacks `message`.
    pub fn line(regex: &str) -> Result<Self, OwnFormatError> {
        Self::line_by(regex, "session")
    }

    /// Like [`OwnFormat::line`], with another name for the group of the session.
    ///
    /// # Errors
    ///
    /// As [`OwnFormat::line`].
    pub fn line_by(regex: &str, session: &str) -> Result<Self, OwnFormatError> {
        Ok(Self::of(Some(LineRule::new(regex, session, RuleKind::Messages)?), None))
    }

    fn of(line: Option<LineRule>, envelope: Option<EnvelopeParts>) -> Self {
        let rule = FormatRule { line, envelope, is_sure: true, ..FormatRule::default() };
        Self::new(FormatRules { rules: vec![rule], ..FormatRules::default() })
    }

    pub(super) fn new(rules: FormatRules) -> Self {
        Self(Arc::new(rules))
    }

    /// Returns the pointers of [`OwnFormat::envelope`] that were followed in lines, and led to a value in none.
    pub fn unmatched(&self) -> impl Iterator<Item = &str> {
        let parts = self.0.rules.iter().filter_map(|rule| rule.envelope.as_ref()).flatten().flatten();
        parts.filter_map(|pointer| pointer.uses()?.unmatched())
    }

    /// True if wrappers are searched for as in a log of unknown format.
    pub(super) fn detects_wrappers(&self) -> bool {
        self.0.detects_wrappers
    }

    pub(super) fn decoder(&self) -> Box<dyn Decoder> {
        self.0.clone().decoder()
    }
}

/// Returns the pointers of pairs of a name and a pointer, by [`PARTS`]. One leads to the message, unless that is a part
/// of a line.
pub(super) fn envelope_parts(
    pairs: impl IntoIterator<Item = (String, String)>,
    parse: fn(&str) -> Result<Pointer, PointerError>,
    in_line: bool,
) -> Result<EnvelopeParts, OwnFormatError> {
    let mut parts = EnvelopeParts::default();
    for (name, pointer) in pairs {
        let (pointer, unit) = match pointer.rsplit_once(':').filter(|_| ["duration", "elapsed"].contains(&&*name)) {
            Some((pointer, unit)) => {
                let unit = DurationUnit::named(unit).ok_or_else(|| OwnFormatError::Unit(unit.to_owned()))?;
                (pointer.to_owned(), Some(unit))
            }
            None => (pointer, None),
        };
        let place = PARTS.iter().position(|part| *part == name).and_then(|part| parts.get_mut(part));
        place.ok_or(OwnFormatError::Part(name))?.push(parse(&pointer)?.with_unit(unit));
    }
    match parts[..3].iter().all(Vec::is_empty) && !in_line {
        true => Err(OwnFormatError::NoMessage("message=/POINTER")),
        false => Ok(parts),
    }
}

impl LineRule {
    pub(super) fn new(text: &str, session: &str, kind: RuleKind) -> Result<Self, OwnFormatError> {
        // Text that a final `.*` matches up to the end of the line need not be searched.
        let front = text.strip_suffix('$').unwrap_or(text).strip_suffix(".*)").filter(|front| !front.ends_with('\\'));
        let is_message = |front: &&str| {
            let group = front.rfind("(?<").map_or("", |last| &front[last..]);
            let inner = group.strip_prefix("(?<message>").or(group.strip_prefix("(?<value>"));
            inner.is_some_and(is_balanced)
        };
        let front = front.filter(is_message).map(|front| format!("{front})"));
        let is_open = front.is_some();
        let regex = LineRegex::new(front.unwrap_or_else(|| text.to_owned()));
        // An error shows the text that its user wrote.
        let regex = regex.map_err(|error| Regex::new(text).err().unwrap_or(error))?;
        let is_part = |name: &&str| PARTS.contains(name) || MESSAGE_MEMBERS.contains(name) || *name == session;
        if let Some(other) = regex.group_names().flatten().find(|name| !is_part(name)) {
            return Err(OwnFormatError::Group(other.to_owned()));
        }
        let has = |part: &str| regex.group_names().flatten().any(|name| name == part);
        let is_headline = has("id") || has("method");
        if kind == RuleKind::Call && !(has("id") && has("method")) {
            return Err(OwnFormatError::NoMessage("groups (?<id>…) and (?<method>…)"));
        }
        let last = regex.group_names().flatten().last();
        let ends_with_value =
            text.trim_end_matches('$').ends_with(".*)") && last.is_some_and(|last| VALUES.contains(&last));
        let is_closed = is_headline && !ends_with_value;
        if kind == RuleKind::Messages && !has("message") && !has("value") && !is_headline {
            return Err(OwnFormatError::NoMessage("a group (?<message>…)"));
        }
        if session != "session" && !has(session) {
            return Err(OwnFormatError::NoGroup(session.to_owned()));
        }
        Ok(Self { facts: fact_groups(&regex, session), regex, is_open, is_headline, is_closed })
    }
}

/// True if each parenthesis that is opened in a regular expression is closed in it, and no other.
fn is_balanced(regex: &str) -> bool {
    let (mut depth, mut is_escaped) = (0_usize, false);
    for byte in regex.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'(' => depth += 1,
            b')' if depth == 0 => return false,
            b')' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{entries, texts};
    use super::super::{Direction, Entry, Record, Sender, times};
    use super::*;

    fn found(own_format: &OwnFormat, log: &str) -> (Vec<String>, Vec<usize>) {
        let found = entries(|| own_format.decoder(), log.as_bytes());
        (texts(&found), found.iter().map(|(start, _)| *start).collect())
    }

    fn first(own_format: &OwnFormat, log: &str) -> Record<'static> {
        match entries(|| own_format.decoder(), log.as_bytes()).remove(0).1 {
            Entry::Record(record) => record,
            Entry::LogLine(line) => panic!("{line:?}"),
        }
    }

    #[test]
    fn messages_in_envelopes() {
        let own_format = OwnFormat::envelope("message=/a/b message=/c").unwrap();
        let table = [
            (r#"{"a":{"b":{"x":1}}}"#, vec![r#"{"x":1}"#], vec![10]),
            (r#"{"a":{"b":"{\"x\":1}"}}"#, vec![r#"{"x":1}"#], vec![11]),
            (r#"{"a":"{\"b\":{\"x\":1}}"}"#, vec![r#"{"x":1}"#], vec![6]),
            (r#"{"a":{"b":[1]},"c":{}}"#, vec!["[1]", "{}"], vec![10, 19]),
            (r#"{"a":{"b":"text"},"c":null}"#, vec![r##"# {"a":{"b":"text"},"c":null}"##], vec![0]),
            ("started\n{\"b\":1}", vec!["# started", "# {\"b\":1}"], vec![0, 8]),
            (r#"{"jsonrpc":"2.0"}"#, vec![r#"{"jsonrpc":"2.0"}"#], vec![0]),
            (r#"{"c":{"x":"cut"#, vec![r#"{"x":"cut"#], vec![5]),
        ];
        for (log, expected, starts) in table {
            let expected: Vec<_> = expected.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(found(&own_format, log), (expected, starts), "{log}");
        }
        let whole = OwnFormat::envelope("message= time=/_meta/ts").unwrap();
        let record = first(&whole, r#"{"id":1,"_meta":{"ts":"2026-01-05T10:00:00Z"}}"#);
        assert_eq!((record.length, record.time), (46, times::date_time(b"2026-01-05T10:00:00Z")));
    }

    #[test]
    fn messages_in_lines() {
        let regex = r"^(?:(?<time>\S+) )?(?:<(?<sender>\w+)> )?(?:#(?<session>\d+) )?.*?=(?<message>.*)$";
        let own_format = OwnFormat::line(regex).unwrap();
        let table = [
            ("rpc={\"x\":1} +1ms", vec!["{\"x\":1}"], vec![4]),
            ("rpc=\"{\\\"x\\\":1}\"", vec!["{\"x\":1}"], vec![4]),
            ("rpc= [ 1]", vec!["[ 1]"], vec![5]),
            ("rpc=text", vec!["# rpc=text"], vec![0]),
            ("text\n\nrpc={\"cut", vec!["# text", "{\"cut"], vec![0, 10]),
        ];
        for (log, expected, starts) in table {
            let expected: Vec<_> = expected.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(found(&own_format, log), (expected, starts), "{log}");
        }
        let record = first(&own_format, "2026-01-05T10:00:00Z <s2c> #7 m={}");
        assert_eq!((record.sender, record.session.as_deref()), (Some(Sender::Server), Some("7")));
        assert_eq!(record.time, times::date_time(b"2026-01-05T10:00:00Z"));
        let escaped = OwnFormat::line(r#"m="(?<message>[^ ]*)""#).unwrap();
        let log = r#"m="{\"x\":1}" m="[{\"y\":\"\\\"\"}]""#;
        assert_eq!(found(&escaped, log), (vec!["{\"x\":1}".to_owned(), "[{\"y\":\"\\\"\"}]".to_owned()], vec![3, 17]));
    }

    #[test]
    fn words_and_values_around() {
        let pointers = "{ message = '/m', sender = '/s', time = ['/t', '/u'], session = '/k' }";
        let own_format = format!("name = 'own'\nenvelope = {pointers}\nclient = ['App']\nout = ['up']");
        let own_format = OwnFormat::described(&own_format).unwrap();
        let read = |members: &str| first(&own_format, &format!("{{{members},\"m\":{{}}}}"));
        for (members, sender, direction) in [
            (r#""s":"app""#, Some(Sender::Client), None),
            (r#""s":"UP""#, None, Some(Direction::Out)),
            (r#""s":"server -> client""#, Some(Sender::Server), None),
            (r#""s":"<""#, None, Some(Direction::In)),
            (r#""s":"x""#, None, None),
            (r#""s":{}"#, None, None),
        ] {
            let record = read(members);
            assert_eq!((record.sender, record.direction), (sender, direction), "{members}");
        }
        assert_eq!(read(r#""t":"noon","u":1767607200"#).time, times::date_time(b"2026-01-05T10:00:00Z"));
        for (members, session) in [(r#""k":7"#, Some("7")), (r#""k":"a\nb""#, Some("a\nb")), (r#""k":null"#, None)] {
            assert_eq!(read(members).session.as_deref(), session, "{members}");
        }
    }

    #[test]
    fn unusable_layouts_are_refused() {
        for (text, expected) in [
            ("message", "is not NAME=/POINTER"),
            ("msg=/a", "unknown part `msg`"),
            ("message=a", "`a` is not a JSON Pointer"),
            ("message=/a~2", "`/a~2` is not a JSON Pointer"),
            ("time=/a", "add message=/POINTER"),
            ("", "add message=/POINTER"),
        ] {
            let error = OwnFormat::envelope(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        for (text, expected) in
            [("(", "regex parse error"), ("(?<a>x)", "unknown part `a`"), ("x", "a group (?<message>…)")]
        {
            let error = OwnFormat::line(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
