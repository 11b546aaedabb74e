//! Prints a learned format as the file that describes it.

use super::super::rules::{WordMeaning, named_meaning};
use super::super::spelling::Spelling;
use super::super::surroundings::TIMES;
use super::super::{Direction, Sender, times};
use super::elapsed::Elapsed;
use super::front::{Token, TokenSet, blanks, labelled, shape, skeleton, tokens};
use super::scan::Candidate;
use super::sessions::Field;
use super::{EVENTS, LearnedFormat, Place, PlaceKey, is_time_member, last_token};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// The maximum number of pointers in one envelope.
pub(super) const POINTERS: usize = 12;

/// Members that state the outcome of an exchange over HTTP.
pub(super) const STATUSES: [&str; 5] = ["status", "status_code", "statusCode", "http_status", "responseStatus"];
pub(super) const ERRORS: [&str; 3] = ["error", "err", "error_message"];

/// Signs of loggers that leave out the end of a message.
const TRUNCATED: &str = r"(?i)(?:\.\.\.|…) ?(?:[\[(<]? ?(?:\d+ \w+ )?(?:more )?(?:truncated|omitted)[^\]]{0,40}[\])>]?)?$|\[truncated\]|<truncated>|LOG TRUNCATED";

impl LearnedFormat<'_> {
    pub(super) fn print(&self, places: &[Place], sessions: &[Field]) -> Option<String> {
        let mut groups: BTreeMap<_, Vec<&Place>> = BTreeMap::new();
        for place in places {
            let PlaceKey { within, skeleton, spelling, words, .. } = &place.key;
            let order = (
                words.is_none(),
                Reverse((place.tokens.len(), skeleton.len())),
                skeleton,
                within,
                spelling,
                words,
                place.is_copy,
            );
            groups.entry(order).or_default().push(place);
        }
        let mut text = "name = \"learned\"\ndetect_wrappers = true\n".to_owned();
        if self.is_transport {
            text.push_str("transport = true\n");
        }
        if self.candidates.iter().any(|candidate| candidate.is_broken) {
            let _ = writeln!(text, "truncated = '{TRUNCATED}'");
        }
        for heading in &self.headings {
            let _ = write!(text, "\n[[rule]]\ngives = \"heading\"\n");
            let tokens: Vec<_> = heading.tokens.iter().map(|set| set.kind.clone()).collect();
            let is_key = |label: &String| sessions.contains(&Field::Above(label.clone()));
            let words: Vec<usize> =
                labelled(&tokens).filter(|(label, ..)| is_key(label)).map(|(_, nth, _)| nth).collect();
            let line = expression(&heading.tokens, heading.stated.clone(), &words, None);
            let _ = writeln!(text, "line = {}", toml_string(&format!("^{line}$")));
            let words = heading.words.iter().map(|(word, meaning)| (word.as_str(), *meaning));
            print_words(&mut text, words);
        }
        let rules: Vec<_> = groups.values().filter_map(|group| self.rule(group, sessions)).collect();
        (!rules.is_empty()).then(|| text + &rules.concat())
    }

    /// Prints the rule of places that differ in the members that lead to the message only. `None` if there are too many.
    fn rule(&self, group: &[&Place], sessions: &[Field]) -> Option<String> {
        let first = group.first()?;
        let mut found: Vec<usize> = group.iter().flat_map(|place| place.found.iter().copied()).collect();
        found.sort_unstable();
        let candidates = || found.iter().map(|number| &self.candidates[*number]);
        let since = Elapsed::of(candidates().collect());
        let is_line = !candidates().all(|candidate| candidate.is_alone)
            || first.key.spelling != Spelling::Json.name()
            || !self.headings.is_empty() && group.iter().all(|place| place.key.pointer.is_empty());
        let mut text = "\n[[rule]]\nsure = false\n".to_owned();
        if first.is_copy {
            text.push_str("gives = \"copy\"\n");
        }
        if is_line {
            let mut sets = first.tokens.clone();
            group
                .iter()
                .flat_map(|place| &place.found)
                .for_each(|number| TokenSet::add(&mut sets, &self.candidates[*number].front));
            // Where all is copied, the last word may name the kind of message, and other kinds may follow.
            if first.is_copy && first.key.words.is_none() {
                let last = sets.iter_mut().rfind(|set| matches!(set.kind, Token::Word(_)));
                last.into_iter().for_each(|last| _ = last.texts.insert(String::new()));
            }
            let ranges = found.iter().filter_map(|number| self.stated.get(number)?.tokens.clone());
            let words: Vec<usize> = sessions
                .iter()
                .filter_map(|field| if let Field::Word(nth) = field { Some(*nth) } else { None })
                .collect();
            let fronts: Vec<_> = candidates().map(|candidate| &candidate.front[..]).collect();
            let elapsed = since.word(&fronts);
            let line = expression(&sets, most_frequent(ranges), &words, elapsed);
            let _ = writeln!(text, "line = {}", toml_string(&format!("^{line}(?<value>.*)")));
            let _ = writeln!(text, "spelling = \"{}\"", first.key.spelling);
            if let Some(within) = &first.key.within {
                let _ = writeln!(text, "within = {}", toml_string(within));
            }
            if let Some(behind) = behind(candidates(), sessions, &since) {
                let _ = writeln!(text, "behind = {}", toml_string(&behind));
            }
        }
        for (is, key) in [(self.hops.is_some(), "directed"), (self.repeats_requests, "repeats")] {
            text.push_str(&if is { format!("{key} = true\n") } else { String::new() });
        }
        let mut pointers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let messages: BTreeSet<_> = group.iter().map(|place| place.key.pointer.clone()).collect();
        if !is_line || messages.iter().any(|pointer| !pointer.is_empty()) {
            // The deepest first: of an object and a part of it, both may be messages.
            pointers.entry("message").or_default().extend(messages.into_iter().rev());
        }
        let members = || candidates().flat_map(|candidate| candidate.members.iter());
        let elapsed = since.member();
        // Beside each message, an `elapsed` without a unit may count from the beginning.
        let may_be = |(pointer, unit): &(&str, Option<&str>)| {
            elapsed.is_none_or(|(known, _)| known != *pointer)
                && (last_token(pointer) != "elapsed" || group.len() > 1 || *unit != Some(""))
        };
        let duration = |pointer| Some((pointer, self.unit(&found, pointer)?));
        let pointed: BTreeSet<&str> = members().map(|(pointer, _)| &**pointer).collect();
        let durations: BTreeMap<&str, Option<&'static str>> =
            pointed.into_iter().filter_map(duration).filter(may_be).collect();
        let mut named = |part: &'static str, names: &[&str], fits: &dyn Fn(&str, &str) -> bool| {
            let all: BTreeSet<&str> = members()
                .filter(|(pointer, value)| fits(pointer, value))
                .map(|(pointer, _)| pointer.as_str())
                .collect();
            let mut all: Vec<_> = all.into_iter().collect();
            let rank =
                |pointer: &str| names.iter().position(|name| *name == last_token(pointer)).unwrap_or(names.len());
            all.sort_by_key(|pointer| (usize::MAX - pointer.matches('/').count(), rank(pointer)));
            if !all.is_empty() {
                let unit = |pointer| match part {
                    "duration" => durations.get(pointer).copied().flatten().unwrap_or_default(),
                    "elapsed" => elapsed.map_or("", |(_, unit)| unit),
                    _ => "",
                };
                let all = all.into_iter().map(|pointer| format!("{pointer}{}", unit(pointer)));
                pointers.entry(part).or_default().extend(all);
            }
        };
        let is_known_time = |pointer: &str, value: &str| is_time_member(pointer) && times::is_time(value.as_bytes());
        // Without a known name, the only member that is always a date and a time states the time.
        let mut dates: BTreeMap<&str, bool> = BTreeMap::new();
        if !members().any(|(pointer, value)| is_known_time(pointer, value)) {
            for (pointer, value) in members() {
                let is_date = |(length, time): (usize, Option<_>)| length == value.len() && time.is_some();
                *dates.entry(pointer).or_insert(true) &= times::timestamp(value.as_bytes()).is_some_and(is_date);
            }
            dates.retain(|_, is_date| *is_date);
        }
        let only_date = if dates.len() == 1 { dates.keys().next().copied() } else { None };
        let is_time = |pointer: &str, value: &str| is_known_time(pointer, value) || only_date == Some(pointer);
        named("time", &TIMES, &is_time);
        named("date", &[], &|pointer, _| last_token(pointer) == "date");
        named("elapsed", &[], &|pointer, _| elapsed.is_some_and(|(known, _)| known == pointer));
        named("duration", &[], &|pointer, _| durations.get(pointer).is_some_and(Option::is_some));
        named("status", &STATUSES, &|pointer, value| {
            STATUSES.contains(&last_token(pointer))
                && value.parse().is_ok_and(|status: u16| (100..600).contains(&status))
        });
        if members().any(|(pointer, _)| STATUSES.contains(&last_token(pointer))) {
            named("error", &ERRORS, &|pointer, _| ERRORS.contains(&last_token(pointer)));
        }
        let senders: BTreeSet<_> = found.iter().filter_map(|number| self.stated.get(number)?.pointer.clone()).collect();
        let mut senders: Vec<_> = senders.into_iter().collect();
        senders.sort_by_key(|pointer| EVENTS.contains(&last_token(pointer)));
        for (part, all) in
            [("sender", senders), ("session", members_of(sessions, 0)), ("peer", members_of(sessions, 1))]
        {
            let all: Vec<_> = all.into_iter().filter(|pointer| members().any(|(other, _)| other == pointer)).collect();
            if !all.is_empty() {
                pointers.insert(part, all);
            }
        }
        if pointers.values().any(|all| all.len() > POINTERS) {
            return None;
        }
        if !pointers.is_empty() {
            let list = |all: &Vec<String>| match &all[..] {
                [one] => toml_string(one),
                all => format!("[{}]", all.iter().map(|one| toml_string(one)).collect::<Vec<_>>().join(", ")),
            };
            let parts: Vec<_> = pointers.iter().map(|(part, all)| format!("{part} = {}", list(all))).collect();
            let _ = writeln!(text, "envelope = {{ {} }}", parts.join(", "));
        }
        for (pointer, _) in durations.iter().filter(|(_, unit)| unit.is_none()) {
            let _ = writeln!(
                text,
                "# {pointer} is not read, as its unit is unknown: add duration = '{pointer}:ms', or :s, :us, :ns"
            );
        }
        let words = found
            .iter()
            .filter_map(|number| self.stated.get(number))
            .map(|stated| (stated.text.as_str(), stated.meaning));
        print_words(&mut text, words);
        Some(text)
    }
}

/// Returns a regular expression for tokens, with groups for the time, the sender and the words that name the session.
fn expression(
    sets: &[TokenSet],
    sender: Option<RangeInclusive<usize>>,
    sessions: &[usize],
    elapsed: Option<usize>,
) -> String {
    let (mut text, mut nth) = (String::new(), 0);
    // The last is the innermost, but a time with a date or fractions is more, and `deadline=` is another time.
    let is_other = |at: usize| {
        let [Some(name), Some(mark)] = [2, 1].map(|before| Some(sets.get(at.checked_sub(before)?)?.kind.text())) else {
            return false;
        };
        mark.ends_with('=') && !TIMES.contains(&name)
    };
    let times = (0..sets.len()).filter(|at| sets[*at].is_time());
    let time = times.max_by_key(|at| (!is_other(*at), sets[*at].is_dated(), sets[*at].has_fraction()));
    for (at, set) in sets.iter().enumerate() {
        let (mut open, mut close) = (String::new(), "");
        match set.kind {
            Token::Time(_) if time == Some(at) => {
                (open, close) = ("(?<time>".to_owned(), ")");
            }
            Token::Word(_) if is_named(sets, at, &["date"]) => {
                let shapes: BTreeSet<_> = set.texts.iter().map(|text| shape(text)).collect();
                let _ = write!(text, "(?<date>{})", shapes.into_iter().collect::<Vec<_>>().join("|"));
                nth += 1;
                continue;
            }
            Token::Word(_) if elapsed == Some(at) => {
                (open, close) = ("(?<elapsed>".to_owned(), ")");
                nth += 1;
            }
            Token::Word(_) if is_duration(sets, at) && !text.contains("(?<duration>") => {
                (open, close) = ("(?<duration>".to_owned(), ")");
                nth += 1;
            }
            Token::Word(_) => {
                if let Some(part) = sessions.iter().position(|session| *session == nth) {
                    (open, close) = (format!("(?<{}>", ["session", "peer"][part.min(1)]), ")");
                }
                nth += 1;
            }
            _ => {}
        }
        if sender.as_ref().is_some_and(|range| *range.start() == at) {
            text.push_str("(?<sender>");
        }
        text.push_str(&open);
        text.push_str(&set.regex(sets.get(at + 1)));
        text.push_str(close);
        if sender.as_ref().is_some_and(|range| *range.end() == at) {
            text.push(')');
        }
    }
    text
}

/// True if a word is the value of one of these names, as in `took 2ms`, `in 510ms` and `t=1.4ms`.
fn is_named(sets: &[TokenSet], at: usize, names: &[&str]) -> bool {
    let Some([name, mark]) = at.checked_sub(2).and_then(|from| sets.get(from..at)) else { return false };
    matches!(&name.kind, Token::Word(word) if name.texts.len() == 1 && names.contains(&word.as_str()))
        && matches!(mark.kind.text().trim_matches('"'), " " | "=" | ": ")
}

/// True if a word states how long an answer took.
fn is_duration(sets: &[TokenSet], at: usize) -> bool {
    // As in `(2ms)`.
    let mark = |at: Option<usize>| at.and_then(|at| sets.get(at)).map_or("", |set| set.kind.text());
    let is_bracketed = mark(at.checked_sub(1)).ends_with('(') && mark(Some(at + 1)).starts_with(')');
    let is_aside = sets.get(at + 1).is_some_and(|next| next.kind.text().contains(','));
    (is_bracketed || is_named(sets, at, &["took", "in", "t", "duration", "latency", "elapsed"]))
        && !is_aside
        && sets[at].texts.iter().all(|text| times::with_units(text).is_some())
}

/// Returns a regular expression for the texts after values, with groups for the words that name the session.
fn behind<'c>(
    candidates: impl Iterator<Item = &'c Candidate>,
    sessions: &[Field],
    since: &Elapsed<'_>,
) -> Option<String> {
    let texts: Vec<_> =
        candidates.filter_map(|candidate| candidate.behind.as_deref()).filter(|text| !text.is_empty()).collect();
    let labels: Vec<_> = sessions
        .iter()
        .filter_map(|field| if let Field::Behind(label) = field { Some(label.as_str()) } else { None })
        .collect();
    let first = tokens(texts.first()?);
    if texts.iter().all(|text| skeleton(&tokens(text)) == skeleton(&first)) {
        let mut sets = TokenSet::of(&first);
        let all: Vec<_> = texts.iter().map(|text| tokens(text)).collect();
        all.iter().for_each(|tokens| TokenSet::add(&mut sets, tokens));
        let place = |label: &&str| labelled(&first).find(|(own, ..)| own == label).map(|(_, nth, _)| nth);
        let words: Vec<usize> = labels.iter().filter_map(place).collect();
        return Some(expression(&sets, None, &words, since.word(&all)));
    }
    if let [label] = labels[..] {
        let label = blanks(&regex::escape(label)).replace("from", "(?:from|to)");
        return Some(format!(r"(?:[^{{]*?\b|){label}(?<session>[\w./@:-]+)[^{{]*"));
    }
    let shapes: BTreeSet<_> = texts.iter().map(|text| shape(text)).collect();
    Some(if shapes.len() <= 4 { shapes.into_iter().collect::<Vec<_>>().join("|") } else { r"[^{\[]*".to_owned() })
}

fn print_words<'w>(text: &mut String, words: impl Iterator<Item = (&'w str, WordMeaning)>) {
    let mut lists: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (word, meaning) in words.filter(|(word, meaning)| named_meaning(word) != Some(*meaning)) {
        let list = match meaning {
            WordMeaning::Sent(Sender::Client) => "client",
            WordMeaning::Sent(Sender::Server) => "server",
            WordMeaning::Went(Direction::Out) => "out",
            WordMeaning::Went(Direction::In) => "in",
        };
        lists.entry(list).or_default().insert(word);
    }
    for (list, words) in lists {
        let words: Vec<_> = words.into_iter().map(toml_string).collect();
        let _ = writeln!(text, "{list} = [{}]", words.join(", "));
    }
}

fn members_of(sessions: &[Field], part: usize) -> Vec<String> {
    match sessions.get(part) {
        Some(Field::Member(pointer)) => vec![pointer.clone()],
        _ => Vec::new(),
    }
}

fn most_frequent(ranges: impl Iterator<Item = RangeInclusive<usize>>) -> Option<RangeInclusive<usize>> {
    let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    ranges.for_each(|range| *counts.entry((*range.start(), *range.end())).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map(|((start, end), _)| start..=end)
}

/// Returns a string in TOML: literal if possible, and with line breaks around the text if there are line breaks in it.
pub(super) fn toml_string(text: &str) -> String {
    let is_plain = |c: char| !c.is_control() || c == '\n';
    match text.contains('\n') {
        false if text.chars().all(is_plain) && !text.contains('\'') => format!("'{text}'"),
        true if text.chars().all(is_plain) && !text.contains("'''") => format!("'''\n{text}\n'''"),
        // Escape sequences of JSON are valid in TOML.
        _ => serde_json::Value::from(text).to_string().replace('\x7f', "\\u007f"),
    }
}
