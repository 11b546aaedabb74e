//! Messages inside lines: in the JSON of loggers, telemetry and recorders, and after a prefix in text.

use super::certainty::{Certainty, may_hold_message, names_member};
use super::colours::without_colours;
use super::decoder::leading_blanks;
use super::har_entry::{ids, is_answer};
use super::lines::{FoundEntry, behind};
use super::object::{RawObject, elements, offset_in, unescape, unescaped};
use super::surroundings::{SessionKey, Surroundings, took, took_in_text};
use super::value::{Extent, value};
use super::{Entry, LogLine, Record};
use memchr::memchr2;
use oxsdatatypes::Decimal;
use std::borrow::Cow;

/// The depth in members to which messages are searched for. OpenTelemetry's records, all in one object, are the
/// deepest.
const DEEP: usize = 5;

/// Returns the messages in a line that is text, or an object that is not a message itself. A message that is cut off
/// goes up to the end of the line. Other parts of the line that may be messages become text. Empty if there is no
/// message. `key` is the place of the session key.
pub(super) fn messages<'a>(
    line: &'a [u8],
    object: Option<&RawObject<'a>>,
    key: Option<SessionKey>,
) -> Vec<FoundEntry<'a>> {
    let (mut found, around) = (Vec::new(), Surroundings { key, ..Surroundings::default() });
    if !may_hold_message(line) {
        return found;
    }
    match object {
        Some(object) => {
            in_object(line, object, around, DEEP, &mut found);
            let end = found.last().map_or(0, |(start, _)| behind(line, *start));
            if !object.is_whole() && names_member(&line[end..]) {
                found.push(text(line, &line[end..]));
            }
        }
        None => in_text(line, around, DEEP, usize::MAX, &mut found),
    }
    if found.iter().any(is_record) { found } else { Vec::new() }
}

/// Returns the messages in text that ends in a value over several lines, which begins at `start`. Empty if that value
/// does not hold a message.
pub(super) fn messages_over_lines(text: &[u8], start: usize, key: Option<SessionKey>) -> Vec<FoundEntry<'_>> {
    let (mut found, mut inside, around) = (Vec::new(), Vec::new(), Surroundings { key, ..Surroundings::default() });
    in_text(text, around, DEEP, start, &mut found);
    if !found.iter().any(|entry| entry.0 >= start && is_record(entry)) {
        in_value(text, &text[start..], around.in_front(&text[..start]), DEEP, &mut inside);
        if !inside.iter().any(is_record) {
            return Vec::new();
        }
        found.retain(|(at, _)| *at < start);
        if found.is_empty() && names_member(&text[..start]) {
            found.push((0, LogLine::new(text[..start].trim_ascii_end()).into()));
        }
        found.append(&mut inside);
    }
    found
}

fn is_sure(text: &[u8]) -> bool {
    Certainty::of(text) == Certainty::Sure
}

fn is_record((_, entry): &FoundEntry<'_>) -> bool {
    matches!(entry, Entry::Record(_))
}

fn in_object<'a>(
    line: &'a [u8],
    object: &RawObject<'a>,
    around: Surroundings<'a>,
    deep: usize,
    found: &mut Vec<FoundEntry<'a>>,
) {
    let (facts, before) = (around.within(object), found.len());
    // The payload of a message does not belong to an envelope.
    let own: &[&[u8]] = match (object.string("method"), object.has("id")) {
        (Some(_), _) => &[b"params"],
        (None, true) => &[b"result", b"error"],
        (None, false) => &[],
    };
    for (_, value) in object.members().filter(|(name, _)| !own.contains(name)) {
        in_value(line, value, facts, deep - 1, found);
    }
    tell_latency(&mut found[before..], |is_exchange| took(object, is_exchange));
}

/// Gives an answer the duration that is stated beside it, if it stands alone or only with its request.
fn tell_latency(found: &mut [FoundEntry<'_>], took: impl Fn(bool) -> Option<Decimal>) {
    match found {
        [(_, Entry::Record(call)), (_, Entry::Record(answer))] if answer.latency.is_none() => {
            let ids = ids(&call.bytes).into_iter().collect();
            answer.latency = if is_answer(&answer.bytes, &ids) { took(true) } else { None };
        }
        [(_, Entry::Record(answer))] if answer.latency.is_none() => {
            let answers = || RawObject::parse(&answer.bytes).is_some_and(|it| it.has("id") && !it.has("method"));
            answer.latency = took(false).filter(|_| answers());
        }
        _ => {}
    }
}

/// Searches a value in `line`, and up to `deep` members inside it.
fn in_value<'a>(
    line: &'a [u8],
    value: &'a [u8],
    facts: Surroundings<'a>,
    deep: usize,
    found: &mut Vec<FoundEntry<'a>>,
) {
    match value.first() {
        Some(b'{' | b'[') if is_sure(value) => {
            found.push((offset_in(line, value), facts.of(Record::new(value)).into()));
        }
        Some(b'{' | b'[') if deep == 0 && names_member(value) => found.push(text(line, value)),
        Some(b'{') if deep > 0 => {
            if let Some(object) = RawObject::parse(value) {
                let before = found.len();
                in_object(line, &object, facts, deep, found);
                if found.len() == before && Certainty::of_object(&object) != Certainty::No {
                    found.push(text(line, value));
                }
            }
        }
        Some(b'[') if deep > 0 => {
            elements(value).filter(|element| matches!(element[0], b'{' | b'"')).for_each(|element| {
                in_value(line, element, facts, deep, found);
            });
        }
        // JSON with members has quotes, so in a string it has escape sequences.
        Some(b'"') if may_hold_message(value) => {
            let Some(text) = unescape(value) else { return };
            let text = text.trim_ascii();
            let mut inside = Vec::new();
            in_value(text, text, facts, deep, &mut inside);
            if inside.is_empty() && !text.contains(&b'\n') && !matches!(text.first(), Some(b'{' | b'[')) {
                in_text(text, facts, deep, usize::MAX, &mut inside);
            }
            if inside.is_empty() && names_member(text) {
                inside.push((0, LogLine::new(text).into()));
            }
            let start = offset_in(line, value) + 1;
            found.extend(inside.into_iter().map(|(_, entry)| (start, entry.into_owned())));
        }
        _ => {}
    }
}

/// Returns a part of a line as text.
fn text<'a>(line: &[u8], part: &'a [u8]) -> FoundEntry<'a> {
    (offset_in(line, part), LogLine::new(part).into())
}

/// Searches a line of text for messages: after blanks or a mark, as a value `key="…"` with escape sequences or
/// `key='…'` without, or inside other JSON. Other text in quotes belongs to a program, except at `known`.
fn in_text<'a>(line: &'a [u8], around: Surroundings<'a>, deep: usize, known: usize, found: &mut Vec<FoundEntry<'a>>) {
    if [&b"//"[..], b"#", b"*"].iter().any(|comment| line.starts_with(comment)) {
        return;
    }
    let (mut at, mut prefix, before) = (0, 0, found.len());
    // The time at the start of the line applies to all messages on it.
    let mut time = around.time;
    while let Some(next) = memchr2(b'{', b'[', &line[at..]) {
        let start = at + next;
        let (front, rest) = line.split_at(start);
        at = start + 1;
        // Commas may separate messages.
        let is_next =
            (1..=NEXT).contains(&(start - prefix)) && front[prefix..].iter().all(|byte| b" \t,".contains(byte));
        if start != known && !is_opened(if is_next { b"" } else { front }, rest) {
            continue;
        }
        let (part, done) = if is_quoted(front) { in_quotes(rest) } else { in_braces(front, rest) };
        at = start + done;
        let count = found.len();
        if let Some(part) = part.filter(|part| may_hold_message(part)) {
            let facts = Surroundings { time, ..around }.in_front(&front[prefix..]);
            match part {
                Cow::Borrowed(text) => in_value(line, text, facts, deep, found),
                Cow::Owned(text) if is_sure(&text) => found.push((start, facts.of(Record::new(text)).into())),
                Cow::Owned(_) => {}
            }
            time = facts.time;
        }
        if found.len() > count {
            if names_member(&front[prefix..]) {
                found.insert(count, text(line, front[prefix..].trim_ascii()));
            }
            prefix = at;
        }
    }
    if found.len() > before && names_member(&line[prefix..]) {
        found.push(text(line, line[prefix..].trim_ascii()));
    }
    // Loggers write their values in any order.
    if let [(_, Entry::Record(record))] = &mut found[before..]
        && !line[prefix..].trim_ascii().is_empty()
    {
        let behind = Surroundings::default().in_front(&line[prefix..]);
        record.time = record.time.or(behind.time);
        record.sender = record.sender.or(behind.sender);
    }
    let first = found.get(before).map_or(0, |(start, _)| *start);
    tell_latency(&mut found[before..], |is_exchange| {
        let stated = |text| took_in_text(text, is_exchange);
        stated(&line[..first]).or_else(|| stated(&line[prefix..]))
    });
}

/// True if `rest` begins as an object, or as an array of objects, and may be a message after `front`.
fn is_opened(front: &[u8], rest: &[u8]) -> bool {
    let behind = &rest[1..];
    let behind = &behind[leading_blanks(behind)..];
    let is_quoted = is_quoted(front);
    let begins: &[u8] = match rest[0] {
        b'{' if is_quoted => b"\\\"",
        b'{' => b"\"",
        _ => b"{",
    };
    // Checking the whole front for each bracket would take too long.
    let front = without_colours(&front[front.len().saturating_sub(COLOURED)..]);
    let trimmed = front.trim_ascii_end();
    behind.starts_with(begins)
        && match (front.last(), trimmed.last()) {
            (_, None) => true,
            (Some(b'"'), _) => is_quoted,
            (_, Some(b':')) => !(trimmed.ends_with(b"\":") || trimmed.ends_with(b"':")),
            // As Python's structlog writes a string: `payload='{…}'`.
            (Some(b'\''), _) => front.ends_with(b"='"),
            (_, Some(b'(' | b'[' | b'{' | b',' | b'"' | b'\'' | b'`')) => false,
            (Some(last), _) => last.is_ascii_whitespace() || !last.is_ascii() || b"]>)|=".contains(last),
            (None, _) => true,
        }
}

/// True if a text ends with `key="`.
fn is_quoted(front: &[u8]) -> bool {
    let front = front.strip_suffix(b"\"").map(|front| &front[front.len().saturating_sub(COLOURED)..]);
    front.is_some_and(|front| without_colours(front).ends_with(b"="))
}

/// The maximum number of bytes between two messages.
const NEXT: usize = 8;

/// The maximum number of bytes before a bracket that may be colours of a terminal.
const COLOURED: usize = 64;

/// Returns the object or array at the beginning of `rest`, the end of a line after `front`, if it may be a message; and the
/// number of consumed bytes.
fn in_braces<'a>(front: &[u8], rest: &'a [u8]) -> (Option<Cow<'a, [u8]>>, usize) {
    match value(rest) {
        Extent::Whole(length) => {
            let behind = rest[length..].strip_prefix(b"'").filter(|_| front.ends_with(b"'"));
            let is_alone = match behind.unwrap_or(&rest[length..]) {
                [b',', behind @ ..] => matches!(behind.trim_ascii_start(), [b'{' | b'[', ..]),
                behind => matches!(behind, [] | [b' ' | b'\t' | 0x1b, ..]),
            };
            (is_alone.then(|| rest[..length].into()), length)
        }
        Extent::Incomplete | Extent::Broken(_) if is_sure(rest) => (Some(rest.into()), rest.len()),
        Extent::Incomplete => (None, rest.len()),
        Extent::Broken(at) => (None, at.max(1)),
    }
}

/// Returns the same for the text of a string, which ends at a quote.
fn in_quotes(rest: &[u8]) -> (Option<Cow<'_, [u8]>>, usize) {
    let mut end = 0;
    while let Some(next) = rest.get(end..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        end += next;
        if rest[end] == b'"' {
            let is_alone = matches!(rest.get(end + 1), None | Some(b' ' | b'\t' | 0x1b));
            return (is_alone.then(|| unescaped(&rest[..end])), end + 1);
        }
        end += 2;
    }
    (Some(unescaped(rest)), rest.len())
}

#[cfg(test)]
mod tests {
    use super::super::{Sender, times};
    use super::*;

    fn found(line: &str) -> Vec<(usize, String)> {
        let object = RawObject::parse(line.as_bytes()).unwrap();
        let text = |entry: &Entry<'_>| String::from_utf8_lossy(entry.bytes()).into_owned();
        let found = messages(line.as_bytes(), Some(&object), None);
        found.iter().map(|(start, entry)| (*start, text(entry))).collect()
    }

    #[test]
    fn messages_behind_a_prefix() {
        const M: &str = r#"{"jsonrpc":"2.0","id":1}"#;
        let texts = |line: &str| {
            let text = |(start, entry): FoundEntry<'_>| (start, String::from_utf8_lossy(entry.bytes()).into_owned());
            messages(line.as_bytes(), None, None).into_iter().map(text).collect::<Vec<_>>()
        };
        for prefix in [
            "a: ",
            "12:00 [info] x - ",
            "x ► ",
            "◀",
            "> ",
            "rpc=",
            "INFO result = ",
            "<== ",
            "a | ",
            "[1] {} ",
            "f(x)] ",
            "\x1b[1;2ma:\x1b[0m\x1b[2m",
        ] {
            let found = [(prefix.len(), M.to_owned())];
            assert_eq!(texts(&format!("{prefix}{M}")), found, "{prefix}");
            assert_eq!(texts(&format!("{prefix}{M} +1ms")), found, "{prefix}");
        }
        assert_eq!(texts(&format!("a [{M},{M}] b {M}")), [(2, format!("[{M},{M}]")), (56, M.to_owned())]);
        let quoted = format!("a b={} c={}", serde_json::Value::from(M), serde_json::Value::from(M));
        assert_eq!(texts(&quoted), [(5, M.to_owned()), (40, M.to_owned())]);
        assert_eq!(texts(&format!("a b='{M}' c=1")), [(5, M.to_owned())]);
        assert_eq!(texts(&format!("a: {{\"payload\":{M}}}")), [(14, M.to_owned())]);
        assert_eq!(texts(&format!("a: {}", &M[..20])), [(3, M[..20].to_owned())]);
        assert_eq!(texts(&quoted[..25]), [(5, r#"{"jsonrpc":"2.0""#.to_owned())]);
        for line in [
            format!("let m = {M};"),
            format!("send('{M}')"),
            format!("send(m='{M}')"),
            format!("m='{M}';"),
            format!("send({M})"),
            format!("\"m\": {M}"),
            format!("see `{M}` there"),
            format!("// {M}"),
            format!("let m = {};", serde_json::Value::from(M)),
            format!("m={};", serde_json::Value::from(M)),
            format!("[x, {M}]"),
            format!("x{M}"),
            format!("{{ \"{M}"),
            "a: {\"id\":1,\"result\":{}} jsonrpc".to_owned(),
        ] {
            assert_eq!(texts(&line), [], "{line}");
        }
    }

    #[test]
    fn looking_at_text_is_linear() {
        for text in ["{\"a\": ", "[{\"a\": ", " {\"a\":1}", "={\"a\":[", "=\"{\\\"", "{", " [", " {\"a\":x"] {
            messages(format!("jsonrpc {}", text.repeat(200_000)).as_bytes(), None, None);
        }
    }

    #[test]
    fn only_what_is_a_message_for_sure() {
        let table = [
            (r#"{"a":{"jsonrpc":"2.0","b":1}}"#, Some(r#"{"jsonrpc":"2.0","b":1}"#)),
            (r#"{"a":{"b":{"c":{"d":{"e":{"jsonrpc":1}}}}}}"#, Some(r#"{"jsonrpc":1}"#)),
            (r#"{"a":{"b":{"c":{"d":{"e":{"f":{"jsonrpc":1}}}}}}}"#, None),
            (r#"{"a":{"method":"tools/list","id":1}}"#, Some(r#"{"method":"tools/list","id":1}"#)),
            (r#"{"a":{"method":"tools/list","ms":1}}"#, None),
            (r#"{"a":{"method":"GET","id":1}}"#, None),
            (r#"{"a":{"id":1,"result":{}}}"#, None),
            (r#"{"a":"{\"jsonrpc\":\"2.0\",\"s\":\"\\n\"}\n"}"#, Some(r#"{"jsonrpc":"2.0","s":"\n"}"#)),
            (r#"{"a":"{\"b\":{\"jsonrpc\":1}}"}"#, Some(r#"{"jsonrpc":1}"#)),
            (r#"{"a":"jsonrpc"}"#, None),
            (r#"{"a":[{"jsonrpc":1},{}]}"#, Some(r#"[{"jsonrpc":1},{}]"#)),
            (r#"{"a":[1,{"b":{"jsonrpc":1}}]}"#, Some(r#"{"jsonrpc":1}"#)),
            (r#"{"a":{"jsonrpc":"2.0","id":"#, Some(r#"{"jsonrpc":"2.0","id":"#)),
        ];
        for (line, expected) in table {
            let texts: Vec<_> = found(line).into_iter().map(|(_, text)| text).collect();
            assert_eq!(texts, Vec::from_iter(expected), "{line}");
        }
        let both = found(r#"{"request":{"jsonrpc":"2.0","id":1},"response":"{\"jsonrpc\":\"2.0\"}"}"#);
        assert_eq!(both.iter().map(|(start, _)| *start).collect::<Vec<_>>(), [11, 48]);
    }

    #[test]
    fn the_nearest_time_and_sides_that_are_named() {
        let line = r#"{"ts":1,"time":1767607200123,"a":{"timestamp":"2025-06-01T10:00:00Z","b":{"jsonrpc":1}},"dir":"c2s","c":{"jsonrpc":2}}"#;
        let object = RawObject::parse(line.as_bytes()).unwrap();
        let found = messages(line.as_bytes(), Some(&object), None);
        let records = found.into_iter().filter_map(|(_, entry)| match entry {
            Entry::Record(record) => Some(record),
            Entry::LogLine(_) => None,
        });
        let found: Vec<_> = records.collect();
        let times: Vec<_> = found.iter().map(|record| record.time).collect();
        assert_eq!(times, [times::date_time(b"2025-06-01T10:00:00Z"), times::date_time(b"2026-01-05T10:00:00.123Z")]);
        assert!(found.iter().all(|record| record.sender == Some(Sender::Client)));
    }
}
