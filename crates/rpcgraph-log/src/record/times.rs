//! Times and durations, in the spellings of all logs.

use super::Time;
use super::units::{civil, days, local_epoch, scaled, unix_epoch};
use oxsdatatypes::{DateTime, DayTimeDuration, Decimal};
use regex::bytes::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Parses a number. A number with an exponent or too many digits is read as a double, to nine places.
pub(super) fn number(text: &[u8]) -> Option<Decimal> {
    let text = std::str::from_utf8(text).ok()?;
    if !text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().or_else(|| format!("{:.9}", text.parse::<f64>().ok()?).parse().ok())
}

/// Parses a duration in milliseconds, and returns it in seconds. `None` if it is negative.
pub(super) fn duration(milliseconds: &[u8]) -> Option<Decimal> {
    from_milliseconds(milliseconds).filter(|seconds| !seconds.is_negative())
}

/// Parses minutes or hours with a fraction of a second, such as `01:02.5`. Without one, it may be a time of day.
fn with_colons(text: &str) -> Option<Decimal> {
    let parts: Vec<_> = text.split(':').collect();
    let is_number = |part: &&str| part.starts_with(|first: char| first.is_ascii_digit());
    if parts.len() > 3 || !parts.last()?.contains('.') || !parts.iter().all(is_number) {
        return None;
    }
    parts.iter().try_fold(Decimal::from(0), |sum, part| sum.checked_mul(60)?.checked_add(part.parse::<Decimal>().ok()?))
}

/// Parses a duration with its units, such as `2.8ms`, `45 µs` and `1m2.5s`, or with colons and a fraction, such as `01:02.5`,
/// and returns it in seconds.
pub(super) fn with_units(text: &str) -> Option<Decimal> {
    if text.contains(':') {
        return with_colons(text);
    }
    let (mut rest, mut seconds) = (text, Decimal::from(0));
    loop {
        let (count, behind) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit() && c != '.')?);
        let (unit, next) = behind.split_at(behind.find(|c: char| c.is_ascii_digit()).unwrap_or(behind.len()));
        let count = number(count.as_bytes())?;
        let part = match unit.strip_prefix(' ').unwrap_or(unit) {
            "h" => count.checked_mul(3600),
            "m" => count.checked_mul(60),
            "s" => Some(count),
            "ms" => count.checked_div(1000),
            "µs" | "μs" | "us" => count.checked_div(1_000_000),
            "ns" => count.checked_div(1_000_000_000),
            _ => None,
        };
        seconds = seconds.checked_add(part?)?;
        if next.is_empty() {
            return Some(seconds);
        }
        rest = next;
    }
}

/// Converts milliseconds to seconds.
pub(super) fn from_milliseconds(milliseconds: &[u8]) -> Option<Decimal> {
    number(milliseconds)?.checked_div(1000)
}

/// Parses a date and a time.
pub(super) fn date_time(text: &[u8]) -> Option<Time> {
    let common = if text.get(10) == Some(&b'T') { common(text) } else { None };
    common.or_else(|| std::str::from_utf8(text).ok()?.parse().ok()).map(Time::DateTime)
}

/// Parses the forms that most logs have, `2025-03-10T17:03:18.764Z` and `2025-03-10 17:03:18.764`, in a fraction of the time.
fn common(text: &[u8]) -> Option<DateTime> {
    let (local, begin) = match text.strip_suffix(b"Z") {
        Some(local) => (local, unix_epoch()?),
        None => (text, local_epoch()?),
    };
    let (whole, fraction) = local.split_at_checked(b"0000-00-00 00:00:00".len())?;
    fits(whole, b"0000-00-00 00:00:00")?;
    let two = |at: usize| i64::from(10 * (whole[at] - b'0') + whole[at + 1] - b'0');
    let (year, month, day) = (100 * two(0) + two(2), two(5), two(8));
    let (hour, minute, second) = (two(11), two(14), two(17));
    // Values that are not valid in every month, day and minute take the general path.
    if !(1..=12).contains(&month) || !(1..=28).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let fraction = match fraction {
        [] => fraction,
        [b'.' | b',', digits @ ..] if (1..=9).contains(&digits.len()) => digits,
        _ => return None,
    };
    let mut count = i128::from(((24 * days(year, month, day) + hour) * 60 + minute) * 60 + second);
    for byte in fraction {
        count = 10 * count + i128::from(byte.is_ascii_digit().then(|| byte - b'0')?);
    }
    let seconds = Decimal::new(count, fraction.len() as u32).ok()?;
    begin.checked_add_day_time_duration(DayTimeDuration::new(seconds))
}

/// Returns the text of a date and a time, as `Display` writes it, in a fraction of the time.
pub fn date_time_text(time: DateTime) -> String {
    common_text(time).unwrap_or_else(|| time.to_string())
}

/// `None` for years with more than four digits.
fn common_text(time: DateTime) -> Option<String> {
    let zone = time.timezone_offset();
    let seconds = time.checked_sub(if zone.is_some() { unix_epoch()? } else { local_epoch()? })?.as_seconds();
    let (count, unit) = (scaled(seconds, 18), 10_i128.pow(18));
    let offset = zone.map_or(0, |zone| i64::from(i16::from_be_bytes(zone.to_be_bytes())));
    let whole = count.div_euclid(unit);
    let mut fraction = u64::try_from(count - whole * unit).ok()?;
    let seconds = i64::try_from(whole).ok()? + 60 * offset;
    let ((year, month, day), second) = (civil(seconds.div_euclid(86_400)), seconds.rem_euclid(86_400));
    if !(1..=9999).contains(&year) {
        return None;
    }
    let mut text = String::with_capacity(36);
    let mut two = |number: i64, behind: &str| {
        let digit = |number: i64| char::from(b'0' + (number % 10) as u8);
        text.extend([digit(number / 10), digit(number)]);
        text.push_str(behind);
    };
    two(year / 100, "");
    two(year % 100, "-");
    two(month, "-");
    two(day, "T");
    two(second / 3_600, ":");
    two(second / 60 % 60, ":");
    two(second % 60, "");
    if fraction > 0 {
        let mut digits = [b'0'; 18];
        for digit in digits.iter_mut().rev() {
            *digit += (fraction % 10) as u8;
            fraction /= 10;
        }
        text.push('.');
        text.push_str(str::from_utf8(&digits).ok()?.trim_end_matches('0'));
    }
    match zone {
        None => {}
        Some(_) if offset == 0 => text.push('Z'),
        Some(zone) => text.push_str(&zone.to_string()),
    }
    Some(text)
}

/// Returns the time that many seconds after the beginning of 1970, in UTC. `None` before 1973: such numbers come from a
/// clock with another beginning, and do not give a date.
pub(super) fn epoch(seconds: Decimal) -> Option<Time> {
    let is_date = seconds >= Decimal::from(100_000_000);
    is_date.then(|| later(Time::DateTime(unix_epoch()?), seconds))?
}

/// Parses a whole text that is a date and a time, or the number of seconds, milliseconds, microseconds or nanoseconds
/// since the beginning of 1970, whichever is after 1973 and before 5138.
pub(super) fn any(text: &[u8]) -> Option<Time> {
    match timestamp(text) {
        Some((length, time)) => time.filter(|_| length == text.len()),
        None if text.len() == b"20260105100000".len() && digits(text) == text.len() => compact(text),
        None => {
            let count = number(text)?;
            let units = [1_i64, 1000, 1_000_000, 1_000_000_000];
            let mut seconds = units.iter().filter_map(|&unit| count.checked_div(unit));
            epoch(
                seconds.find(|seconds| {
                    (Decimal::from(100_000_000)..Decimal::from(100_000_000_000_i64)).contains(seconds)
                })?,
            )
        }
    }
}

/// Parses a date and a time without signs between them.
fn compact(text: &[u8]) -> Option<Time> {
    let [date, clock] = [&text[..8], &text[8..]];
    let date = [&date[..4], &date[4..6], &date[6..]].join(&b'-');
    let clock = [&clock[..2], &clock[2..4], &clock[4..]].join(&b':');
    common(&[&date, &b"T"[..], &clock].concat()).map(Time::DateTime)
}

/// True for a date and a time, a time of day, or a number that [`any`] takes for one.
pub(crate) fn is_time(text: &[u8]) -> bool {
    any(text).is_some() || of_day(None, text).is_some()
}

/// Returns a date and a time that many days later, in the same spelling: a text that begins with the year, or a number of
/// seconds or of smaller units since the beginning of 1970.
pub(crate) fn days_later(text: &str, days: i64) -> Option<String> {
    let (name, time) = text.split_at(text.find('=').map_or(0, |at| at + 1));
    let (digits, rest) = time.split_at(time.find(|c: char| !c.is_ascii_digit()).unwrap_or(time.len()));
    if digits.len() == 4 {
        let (_, date) = timestamp(&[time.get(..10)?.as_bytes(), b" 00:00:00"].concat())?;
        let later = later(date?, Decimal::from(days).checked_mul(86_400)?)?.to_string();
        return Some(later.get(..10)?.replace('-', time.get(4..5)?) + time.get(10..)?);
    }
    // A number of seconds has up to 11 digits, a smaller unit three more.
    let unit = 1000_i128.checked_pow(u32::try_from(digits.len().checked_sub(9)? / 3).ok()?)?;
    let count = digits.parse::<i128>().ok()?.checked_add(i128::from(days).checked_mul(86_400)?.checked_mul(unit)?)?;
    Some(format!("{name}{count}{rest}"))
}

/// Parses a whole text that is a time of day, on `date` if that is given.
pub(super) fn of_day(date: Option<&[u8]>, text: &[u8]) -> Option<Time> {
    let dated = date.and_then(|date| any(&[date, b" ", text].concat()));
    dated.or_else(|| clock(text).filter(|_| text.iter().all(|byte| b"0123456789:.,".contains(byte))))
}

/// Returns the time that many seconds later.
pub(super) fn later(time: Time, seconds: Decimal) -> Option<Time> {
    match time {
        Time::DateTime(time) => time.checked_add_day_time_duration(DayTimeDuration::new(seconds)).map(Time::DateTime),
        Time::Clock(_) => None,
        Time::Elapsed(time) => time.checked_add(seconds).map(Time::Elapsed),
    }
}

/// Parses a date and time at the start of a line, such as `2025-06-01 10:00:00.123`, Python's with `,123`, or
/// `2025-03-10T17:03:18.764Z`. Returns its length, and the time if that exists.
pub(super) fn timestamp(line: &[u8]) -> Option<(usize, Option<Time>)> {
    let Some(mut length) = fits(line, b"0000-00-00 00:00:00") else { return spelled_otherwise(line) };
    if line.get(length) == Some(&b'.') || fits(&line[length..], b",000").is_some() || has_colon(&line[length..]) {
        length += 1 + digits(&line[length + 1..]);
    }
    let local = with_point(&line[..length], b"0000-00-00 00:00:00".len());
    let half = half_of_day(&line[length..]);
    length += half.map_or(0, |(length, _)| length);
    let (more, zone) = zone(&line[length..]);
    length += more;
    let is_common = half.is_none() && matches!(&*zone, "" | "Z");
    let common = match &local {
        Cow::Borrowed(_) if is_common => common(&line[..length]),
        Cow::Owned(local) if is_common => common(&[local, zone.as_bytes()].concat()),
        _ => None,
    };
    if let Some(time) = common {
        return Some((length, Some(Time::DateTime(time))));
    }
    let mut text = std::str::from_utf8(&local).ok()?.replacen(' ', "T", 1).replace(',', ".");
    if let Some((_, is_after_noon)) = half {
        set_half(&mut text, "0000-00-00T".len(), is_after_noon);
    }
    Some((length, date_time((text + &zone).as_bytes())))
}

/// Returns the length of the zone at the beginning of `text`, and the zone as `xsd:dateTime` has it; nothing if there is none.
fn zone(text: &[u8]) -> (usize, Cow<'static, str>) {
    let (blank, sign, digits) = match text {
        [b'Z', ..] => return (1, "Z".into()),
        [sign @ (b'+' | b'-'), digits @ ..] => (0, *sign, digits),
        // Go and Ruby write a blank before the zone.
        [b' ', sign @ (b'+' | b'-'), digits @ ..] => (1, *sign, digits),
        _ => return (0, "".into()),
    };
    // journald leaves out the colon.
    let short = || fits(digits, b"0000").filter(|&length| !digits.get(length).is_some_and(u8::is_ascii_digit));
    let Some(length) = fits(digits, b"00:00").or_else(short) else { return (0, "".into()) };
    let (hours, minutes) = (&digits[..2], &digits[length - 2..length]);
    let text = [&[sign][..], hours, b":", minutes].concat();
    (blank + 1 + length, String::from_utf8_lossy(&text).into_owned().into())
}

/// Returns the length of `AM` or `PM`, in any case, at the beginning of `text` or behind a blank there, and true for `PM`.
pub(super) fn half_of_day(text: &[u8]) -> Option<(usize, bool)> {
    let blanks = [" ", "\u{202f}", "\u{a0}", ""];
    let (blank, rest) = blanks.iter().find_map(|blank| Some((blank.len(), text.strip_prefix(blank.as_bytes())?)))?;
    let [half @ (b'a' | b'A' | b'p' | b'P'), b'm' | b'M', behind @ ..] = rest else { return None };
    let is_word = !behind.first().is_some_and(u8::is_ascii_alphanumeric);
    is_word.then_some((blank + 2, half.eq_ignore_ascii_case(&b'p')))
}

/// Returns the hour of a clock of 24 hours. An hour after 12 is of such a clock already, as some programs write it.
pub(super) fn hour_of_day(hour: u8, is_after_noon: bool) -> u8 {
    match hour {
        0..=12 => hour % 12 + if is_after_noon { 12 } else { 0 },
        _ => hour,
    }
}

/// Changes the hour at an offset from a clock of 12 hours to one of 24.
fn set_half(text: &mut String, at: usize, is_after_noon: bool) {
    if let Some(hour) = text.get(at..at + 2).and_then(|hour| hour.parse().ok()) {
        text.replace_range(at..at + 2, &format!("{:02}", hour_of_day(hour, is_after_noon)));
    }
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A date that is not spelled as ISO 8601 spells it, before a time of day: with the name of its month, as in `Jun 01, 2025`,
/// `Sun Jun  1` with the year behind the time, `Sun, 01 Jun 2025` and `01/Jun/2025:`; or of numbers, of which some may have one
/// digit, as in `2025/6/1`, `2025.06.01`, `20250601-`, `01.06.2025` with or without a comma after it, `6/1/2025,` (as in
/// America) and `1/6/2025,` (as in Britain).
static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let months = MONTHS.join("|");
    let week = "(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +)?";
    let month_first = format!(r"(?<m1>{months}) +(?<d1>\d\d?)(?:, (?<y1>\d{{4}}),?)? ");
    let day_first = format!(r"(?<d2>\d\d?)[ /-](?<m2>{months})[ /-](?<y2>\d{{4}})[ :]");
    let numbers = r"(?<y3>\d{4})[/.-]?(?<m3>\d\d?)[/.-]?(?<d3>\d\d?)(?:, |[ T_-])";
    let points = r"(?<d4>\d\d)\.(?<m4>\d\d)\.(?<y4>\d{4}),?[ T]";
    let slashes = r"(?<a>\d\d?)/(?<b>\d\d?)/(?<y5>\d{4}),? ";
    Regex::new(&format!(r"(?-u)^(?:{week}(?:{month_first}|{day_first})|{numbers}|{points}|{slashes})")).ok()
});

/// The zone and the year behind a time whose date has the name of its month.
static BEHIND: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)^(?: ?(?<zone>Z|UTC|GMT))?(?: (?<y6>\d{4}))?").ok());

/// Parses a date and time whose date is spelled as in [`DATE`], or as `20250601`. Which of two numbers is the day is known from
/// the letters of its clock, or if it is above 12.
fn spelled_otherwise(line: &[u8]) -> Option<(usize, Option<Time>)> {
    let head = &line[..line.len().min(64)];
    // ISO 8601's basic format, `20250601T100000.5Z`.
    if fits(head, b"00000000 000000").is_some() && !head.get(15).is_some_and(u8::is_ascii_digit) {
        let date = [&head[..4], &head[4..6], &head[6..8]].join(&b'-');
        let clock = [&head[9..11], &head[11..13], &head[13..]].join(&b':');
        return timestamp(&[date, clock].join(&b'T')).map(|(length, time)| (length - 4, time));
    }
    // Go's package `log` writes dates like this. They are too common to wait for the regular expression.
    if fits(head, b"0000/00/00 00:00:00").is_some() {
        let date = [&head[..4], &head[5..7], &head[8..10]].join(&b'-');
        return timestamp(&[&date, &head[10..]].concat());
    }
    let is_name = |at: usize| matches!(head.get(at..), Some([b'A'..=b'Z', b'a'..=b'z', b'a'..=b'z', ..]));
    // Few texts begin like this.
    let count = digits(head);
    let is_date = match (count, head.get(count)) {
        (0, _) => is_name(0),
        (1 | 2, Some(b'/' | b'-' | b'.')) | (4, Some(b'/' | b'-' | b'.')) | (8, Some(b' ' | b'_' | b'-')) => true,
        _ => count <= 2 && is_name(count + 1),
    };
    let date = DATE.as_ref().filter(|_| is_date)?.captures(head)?;
    let rest = &head[date.get_match().len()..];
    // An hour may have one digit.
    let pad = usize::from(rest.get(1) == Some(&b':'));
    let padded = [&b"0"[..pad], rest].concat();
    fits(&padded, b"00:00:00")?;
    let on = |date: &str, clock: &[u8]| timestamp(&[date.as_bytes(), b" ", clock].concat());
    let (clock, behind) = padded.split_at(on("2000-01-01", &padded)?.0 - "2000-01-01 ".len());
    let has_name = date.name("m1").or(date.name("m2")).is_some();
    let behind = if has_name { BEHIND.as_ref()?.captures(behind) } else { None };
    let part = |names: &[&str]| {
        let named = |name: &&str| date.name(name).or_else(|| behind.as_ref()?.name(name));
        std::str::from_utf8(names.iter().find_map(named)?.as_bytes()).ok()
    };
    let (month, day) = match (part(&["a"]), part(&["b"])) {
        (Some(first), Some(second)) => {
            let is_day = |text: &str| text.parse::<u8>().is_ok_and(|number| number > 12);
            match (clock.contains(&b'M'), clock.contains(&b'm')) {
                (true, _) => (first, second),
                (_, true) => (second, first),
                _ if is_day(first) => (second, first),
                _ if is_day(second) => (first, second),
                _ => return None,
            }
        }
        _ => (part(&["m1", "m2", "m3", "m4"])?, part(&["d1", "d2", "d3", "d4"])?),
    };
    let named = MONTHS.iter().position(|name| *name == month).map(|place| (place + 1).to_string());
    let (year, month) = (part(&["y1", "y2", "y3", "y4", "y5", "y6"])?, named.as_deref().unwrap_or(month));
    let zone = if part(&["zone"]).is_some() { "Z" } else { "" };
    let length = head.len() - rest.len() + clock.len() - pad;
    let length = length + behind.as_ref().map_or(0, |behind| behind.get_match().len());
    Some((length, on(&format!("{year}-{month:0>2}-{day:0>2}"), &[clock, zone.as_bytes()].concat())?.1))
}

/// True where the name of a day or a month may begin.
fn starts_name(before: &[u8], text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_uppercase) && !before.last().is_some_and(u8::is_ascii_alphanumeric)
}

/// Returns the first date and time in a text, or the first time of day.
pub(super) fn first(text: &[u8]) -> Option<Time> {
    let is_within_number = |at: usize| at > 0 && matches!(text[at - 1], b':' | b'0'..=b'9');
    let begins =
        |at: usize| text[at].is_ascii_digit() && !is_within_number(at) || starts_name(&text[..at], &text[at..]);
    let starts = (0..text.len()).filter(|&at| begins(at));
    starts.map(|at| &text[at..]).find_map(|rest| timestamp(rest).and_then(|(_, time)| time).or_else(|| clock(rest)))
}

/// Parses the time of day at the beginning of `text`. Its hour may have one digit.
pub(super) fn clock(text: &[u8]) -> Option<Time> {
    if fits(text, b"0:00:00").is_some() {
        return clock(&[b"0", &text[..text.len().min(32)]].concat());
    }
    let mut length = fits(text, b"00:00:00")?;
    if matches!(text.get(length), Some(b'.' | b',')) || has_colon(&text[length..]) {
        length += 1 + digits(&text[length + 1..]);
    }
    let rest = &text[length..];
    let local = with_point(&text[..length], b"00:00:00".len());
    let mut text = std::str::from_utf8(&local).ok()?.trim_end_matches(['.', ',']).replace(',', ".");
    if let Some((_, is_after_noon)) = half_of_day(rest) {
        set_half(&mut text, 0, is_after_noon);
    }
    text.parse().ok().filter(|_| !matches!(rest, [b'0'..=b'9', ..] | [b':', b'0'..=b'9', ..])).map(Time::Clock)
}

/// True if a colon and three digits of milliseconds begin here.
fn has_colon(text: &[u8]) -> bool {
    fits(text, b":000").is_some() && !text.get(4).is_some_and(|next| next.is_ascii_digit() || *next == b':')
}

/// Returns a time whose fraction begins with a point, where some programs write a colon.
fn with_point(text: &[u8], seconds: usize) -> Cow<'_, [u8]> {
    let (before, fraction) = text.split_at(seconds);
    match fraction.strip_prefix(b":") {
        Some(digits) => [before, b".", digits].concat().into(),
        None => text.into(),
    }
}

/// Returns the length of `shape`, if `text` begins like this: `0` stands for a digit, a blank also for `T`.
fn fits(text: &[u8], shape: &[u8]) -> Option<usize> {
    let fit = |(&byte, &shape): (&u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        b' ' => matches!(byte, b' ' | b'T'),
        _ => byte == shape,
    };
    text.get(..shape.len())?.iter().zip(shape).all(fit).then_some(shape.len())
}

/// Returns the number of digits at the beginning of `bytes`.
fn digits(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_way_gives_what_the_other_does() {
        for text in [
            "2025-06-01T10:00:00Z",
            "0000-01-28T23:59:59.000000001Z",
            "9999-12-01T00:00:09.5Z",
            "2024-02-28T01:02:03.120Z",
            "1969-12-28T23:59:59.25Z",
            "1600-03-01T00:00:00Z",
            "1999-12-27T12:00:00.1Z",
            "2025-06-01T10:00:00",
            "2025-06-01T10:00:00.120",
        ] {
            let time = common(text.as_bytes());
            assert!(time.is_some() && time == text.parse().ok(), "{text}");
            assert_eq!(time.map(|time| time.to_string()), text.parse::<DateTime>().ok().map(|time| time.to_string()));
        }
        for text in [
            "2025-06-01T10:00:00.",
            "2025-06-01T10:00:00.Z",
            "2025-06-01T10:00:00.1234567890Z",
            "2025-06-31T10:00:00Z",
            "2025-06-01T24:00:00Z",
            "2025-06-01T10:00:60Z",
            "2025-00-01T10:00:00Z",
            "2025-06-01T10:00:00.5+00:00",
            "2025-06-01T10:00:00.1:Z",
            "12025-06-01T10:00:00Z",
            "Z",
        ] {
            assert_eq!(common(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn texts_of_times_are_canonical() {
        let zones = ["", "Z", "+02:00", "-00:30", "+14:00", "-14:00"];
        let fractions = ["", ".5", ".000000001", ".999999999999999999", ".120"];
        let dates = ["0001-01-01", "1600-02-29", "1969-12-31", "1970-01-01", "2000-02-28", "2026-11-30", "9999-12-31"];
        for date in dates.into_iter().chain(["-0044-03-15", "12026-01-05"]) {
            for clock in ["00:00:00", "09:59:59", "23:00:10"] {
                for (zone, fraction) in zones.iter().flat_map(|zone| fractions.map(|fraction| (zone, fraction))) {
                    let text = format!("{date}T{clock}{fraction}{zone}");
                    let time: DateTime = text.parse().unwrap();
                    assert_eq!(date_time_text(time), time.to_string(), "{text}");
                }
            }
        }
    }

    #[test]
    fn timestamps() {
        let table = [
            ("2025-06-01 10:00:00.123 [info]", 23, Some("2025-06-01T10:00:00.123")),
            ("2025-06-01T10:00:00Z x", 20, Some("2025-06-01T10:00:00Z")),
            ("2025-06-01T10:00:00.5+02:00", 27, Some("2025-06-01T10:00:00.5+02:00")),
            ("2025-06-01 10:00:00,123 x", 23, Some("2025-06-01T10:00:00.123")),
            ("2025-06-01 10:00:00, x", 19, Some("2025-06-01T10:00:00")),
            ("2025-06-01T10:00:00+0200 host", 24, Some("2025-06-01T10:00:00+02:00")),
            ("2025-06-01T10:00:00.5-0030", 26, Some("2025-06-01T10:00:00.5-00:30")),
            ("2025-06-01 10:00:00-12345", 19, Some("2025-06-01T10:00:00")),
            ("2025-06-01 10:00:00-x", 19, Some("2025-06-01T10:00:00")),
            ("2009-11-10 23:00:00.5 +0000 UTC m=+0.1", 27, Some("2009-11-10T23:00:00.5+00:00")),
            ("2025-06-01 10:00:00 -02:00 x", 26, Some("2025-06-01T10:00:00-02:00")),
            ("2025-06-01 10:00:00 - x", 19, Some("2025-06-01T10:00:00")),
            ("2025-06-01 11:00:00 PM x", 22, Some("2025-06-01T23:00:00")),
            ("2025-06-01 12:30:00.5am", 23, Some("2025-06-01T00:30:00.5")),
            ("2025-06-01 12:30:00 amount", 19, Some("2025-06-01T12:30:00")),
            ("2025-06-01 14:00:00\u{202f}PM +0100", 30, Some("2025-06-01T14:00:00+01:00")),
            ("2025-13-01 10:00:00", 19, None),
            ("2025-06-01 10:00:00.", 20, None),
            ("2025/06/01 10:00:00.5 x", 21, Some("2025-06-01T10:00:00.5")),
            ("22.11.2026 09:00:00,250 x", 23, Some("2026-11-22T09:00:00.25")),
            ("22.11.2026, 09:00:00+01:00", 26, Some("2026-11-22T09:00:00+01:00")),
            ("31.02.2026 09:00:00", 19, None),
            ("20250601T100000.5Z |", 18, Some("2025-06-01T10:00:00.5Z")),
            ("20250601 100000 x", 15, Some("2025-06-01T10:00:00")),
            ("2025.06.01 10:00:00.5 x", 21, Some("2025-06-01T10:00:00.5")),
            ("2025-06-01_10:00:00 x", 19, Some("2025-06-01T10:00:00")),
            ("20250601-10:00:00.123 x", 21, Some("2025-06-01T10:00:00.123")),
            ("20250601 10:00:00,123 x", 21, Some("2025-06-01T10:00:00.123")),
            ("12345678 10:00:00", 17, None),
            ("2025/6/1 9:59:58 x", 16, Some("2025-06-01T09:59:58")),
            ("6/1/2025, 9:59:58 PM x", 20, Some("2025-06-01T21:59:58")),
            ("6/1/2025, 9:59:58\u{202f}AM", 22, Some("2025-06-01T09:59:58")),
            ("1/6/2025, 9:59:58 pm", 20, Some("2025-06-01T21:59:58")),
            ("31/5/2025 9:59:58.5Z", 20, Some("2025-05-31T09:59:58.5Z")),
            ("Jun 01, 2025 10:00:00 AM x", 24, Some("2025-06-01T10:00:00")),
            ("Sun Jun  1 9:00:00 2025 x", 23, Some("2025-06-01T09:00:00")),
            ("Sun Jun  1 09:00:00 UTC 2025", 28, Some("2025-06-01T09:00:00Z")),
            ("01 Jun 2025 10:00:00,123", 24, Some("2025-06-01T10:00:00.123")),
            ("Sun, 01 Jun 2025 10:00:00 GMT", 29, Some("2025-06-01T10:00:00Z")),
            ("01/Jun/2025:10:00:00 +0000", 26, Some("2025-06-01T10:00:00+00:00")),
        ];
        for (line, length, time) in table {
            let time = time.and_then(|time| time.parse().ok()).map(Time::DateTime);
            assert_eq!(timestamp(line.as_bytes()), Some((length, time)), "{line}");
        }
        for line in [
            "",
            "2025-06-01",
            "2025-06-01_10:00",
            "x2025-06-01 10:00:00",
            "22.11.2026",
            "22.11.2026 at 09:00:00",
            "1/6/2025 9:59:58",
        ] {
            assert_eq!(timestamp(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn times_by_their_value() {
        let time = date_time(b"2026-01-05T10:00:00.5Z");
        for text in
            ["1767607200.5", "1767607200500", "1767607200500000", "1767607200500000000", "2026-01-05T10:00:00.5Z"]
        {
            assert_eq!(any(text.as_bytes()), time, "{text}");
        }
        for text in ["", "12", "99999999", "-1767607200", "2026-01-05T10:00:00Z x", "2026", "noon"] {
            assert_eq!(any(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn durations_with_units() {
        for (text, seconds) in [
            ("2.819125ms", "0.002819125"),
            ("45µs", "0.000045"),
            ("1m2.5s", "62.5"),
            ("1h", "3600"),
            ("7ns", "0.000000007"),
            ("2 ms", "0.002"),
            ("01:02.5", "62.5"),
            ("1:00:00.25", "3600.25"),
        ] {
            assert_eq!(with_units(text), seconds.parse().ok(), "{text}");
        }
        for text in ["", "2", "ms", "2  ms", "2.8ms or so", "-1s", "1x", "10:00", "10:00:00", "1:2:3:4.5", ":1.5"] {
            assert_eq!(with_units(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_and_times() {
        let text = |number: &str| super::number(number.as_bytes()).map(|number| number.to_string());
        let table = [("12.50", Some("12.5")), ("-1", Some("-1")), ("1e3", Some("1000")), ("1.5E-2", Some("0.015"))];
        for (number, expected) in table.into_iter().chain([("", None), ("NaN", None), ("\"1\"", None), ("inf", None)]) {
            assert_eq!(text(number).as_deref(), expected, "{number}");
        }
        assert_eq!(text("0.12345678901234567890").as_deref(), Some("0.123456789"));
        let at = |seconds: &str| match epoch(seconds.parse().unwrap()) {
            Some(Time::DateTime(time)) => time.to_string(),
            _ => String::new(),
        };
        assert_eq!(at("1527998918.8565912"), "2018-06-03T04:08:38.8565912Z");
        assert_eq!(at("12.345"), "");
        assert_eq!(from_milliseconds(b"12.345").map(|s| s.to_string()).as_deref(), Some("0.012345"));
    }
}
