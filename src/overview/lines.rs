//! The lines of the screen.

use std::collections::{HashMap, HashSet};

use anstyle::{AnsiColor, Style};

use super::causes::{Cause, causes};
use super::facts::{Call, CallOutcome, Facts, SilentCall};
use super::incident::{Buckets, Incident, percentile};
use super::moment::{Zone, clock, date};
use super::strip;
use super::units::{counted, cut_middle, duration, in_words, number, one_line, share};
use crate::diagnostic::{display_width, printable};
use crate::query::cut;

/// The least number of timed calls that are drawn over time.
const MIN_TIMED: usize = 200;
/// The maximum numbers of lines of the parts.
const MAX_PROGRAMS: usize = 4;
const MAX_CAUSES: usize = 4;
const MAX_GROUPS: usize = 8;
const MAX_PROBLEMS: usize = 3;

/// A call that is open for longer than this, in seconds, and than three times the slowest answer was not lost in a restart, but hung.
const MIN_HANG: f64 = 30.0;
/// A cause is a burst if its failures are within this share of the log, and as many as this.
const BURST: (f64, usize) = (0.05, 5);

/// How lines look.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScreenStyle {
    /// The columns of the screen; `None` cuts nothing.
    pub width: Option<usize>,
    pub is_coloured: bool,
}

/// A line, and its colour.
struct Line(String, Style);

/// Formats the overview.
pub fn lines(facts: &Facts, style: ScreenStyle) -> String {
    let mut screen = Screen { facts, style, lines: Vec::new(), incident: None };
    screen.head();
    let timed = facts.calls.iter().filter(|call| call.time.is_some() && call.seconds.is_some()).count();
    let buckets = if timed >= MIN_TIMED { Buckets::new(&facts.calls, strip::bars(style.width)) } else { None };
    if let Some(buckets) = buckets.filter(|buckets| buckets.buckets.len() > 1) {
        screen.incident = buckets.incident();
        screen.blank();
        for row in strip::rows(&buckets, screen.incident.as_ref()) {
            screen.plain(row);
        }
    }
    screen.blank();
    if facts.others > 0 {
        screen.unread();
    }
    screen.failures();
    screen.silent();
    screen.normal();
    screen.problems();
    if timed < MIN_TIMED {
        screen.slowest();
    }
    screen.groups();
    screen.next();
    screen.text()
}

struct Screen<'f> {
    facts: &'f Facts,
    style: ScreenStyle,
    lines: Vec<Line>,
    incident: Option<Incident>,
}

impl Screen<'_> {
    fn plain(&mut self, text: String) {
        self.lines.push(Line(text, Style::new()));
    }

    fn bad(&mut self, text: &str) {
        self.lines.push(Line(format!("✗ {text}"), Style::new().fg_color(Some(AnsiColor::Red.into()))));
    }

    fn note(&mut self, mark: char, text: &str) {
        self.plain(format!("{mark} {text}"));
    }

    fn blank(&mut self) {
        if self.lines.last().is_some_and(|line| !line.0.is_empty()) {
            self.plain(String::new());
        }
    }

    /// The file, what it holds, when it happened, and between whom.
    fn head(&mut self) {
        let Facts { logs, formats, messages, .. } = self.facts;
        let name = match logs.as_slice() {
            [log] => log.clone(),
            logs => counted(logs.len(), "log"),
        };
        let first = [name, formats.join(", "), counted(*messages, "message")].join(" · ");
        let times = self.times();
        match times.map(|times| (format!("{first} · {times}"), times)) {
            Some((whole, _)) if self.fits(&whole) => self.plain(whole),
            Some((_, times)) => {
                self.plain(first);
                self.plain(times);
            }
            None => self.plain(first),
        }
        let programs = &self.facts.programs;
        for (programs, count) in programs.iter().take(MAX_PROGRAMS) {
            let count = if *count > 1 { format!(" ({count} connections)") } else { String::new() };
            self.plain(format!("{programs}{count}"));
        }
        if programs.len() > MAX_PROGRAMS {
            self.plain(format!("{} more programs: rpcgraph handshake", programs.len() - MAX_PROGRAMS));
        }
        if programs.is_empty() && !self.facts.calls.is_empty() && !self.facts.has_senders {
            self.plain(format!(
                "{}; who sent what is not in the log (--envelope sender=…)",
                counted(self.facts.calls.len(), "call")
            ));
        }
    }

    fn times(&self) -> Option<String> {
        let (from, to, zone) = (self.facts.from?, self.facts.to?, self.facts.zone?);
        let with_seconds = to - from < 600.0;
        let (zone_name, span) = (zone.name(), duration((to - from).max(0.0)));
        let clocks = |time| clock(time, with_seconds);
        let text = match zone {
            Zone::OfDay => format!("{}–{}", clocks(from), clocks(to)),
            _ if date(from) == date(to) => format!("{} {}–{}", date(from), clocks(from), clocks(to)),
            _ => format!("{} {} – {} {}", date(from), clocks(from), date(to), clocks(to)),
        };
        Some(format!("{text}{zone_name} ({span})"))
    }

    /// How many calls failed, when, and why.
    fn failures(&mut self) {
        let Facts { failures, calls, .. } = self.facts;
        let unknown = calls.iter().filter(|call| call.outcome == CallOutcome::Unknown).count();
        let known = calls.len() - unknown;
        if unknown > 0 {
            self.note('!', &format!("answers are not in this log: {} of one side alone", counted(unknown, "call")));
        }
        if failures.is_empty() {
            if known > 0 && self.incident.is_none() {
                let read = if self.facts.others > 0 { " that were read" } else { "" };
                self.note('·', &format!("0 of {}{read} failed", counted(known, "call")));
            }
            if self.incident.is_none() {
                return;
            }
        }
        let mut text = match known {
            0 => counted(failures.len(), "failure"),
            all => format!(
                "{} of {} failed ({})",
                number(failures.len()),
                counted(all, "call"),
                share(failures.len(), all)
            ),
        };
        let mut during = None;
        if let Some(incident) = &self.incident {
            let (Incident { within, rest, .. }, span) = (incident, strip::span(incident));
            text += &format!(", {} of them {span}", number(within.failed));
            let p95 = within.p95().zip(rest.p95());
            let p95 = p95.map(|(within, rest)| format!("; p95 {}, else {}", duration(within), duration(rest)));
            let failed = share(within.failed, within.calls);
            during = Some(format!(
                "  {span}: {} of {} failed ({failed}){}",
                number(within.failed),
                counted(within.calls, "call"),
                p95.unwrap_or_default()
            ));
        }
        self.bad(&text);
        during.into_iter().for_each(|during| self.plain(during));
        let causes = causes(failures);
        let (shown, others) = causes.split_at(causes.len().min(MAX_CAUSES));
        let rows: Vec<_> = shown.iter().map(|cause| self.cause(cause)).collect();
        self.columns(&rows);
        if !others.is_empty() {
            let rest: usize = others.iter().map(|cause| cause.count).sum();
            self.plain(format!("{:>6}  {}: rpcgraph errors", number(rest), counted(others.len(), "more text")));
        }
    }

    /// A number, a text, where it was, and the first message or the times of a burst.
    fn cause(&self, cause: &Cause<'_>) -> [String; 4] {
        let Cause { count, first, .. } = cause;
        let code =
            first.code.as_ref().filter(|_| cause.has_one_code).map(|code| format!("{code} ")).unwrap_or_default();
        let log = self.facts.from.zip(self.facts.to).map_or(0.0, |(from, to)| to - from);
        let burst = cause
            .first
            .time
            .zip(cause.last)
            .filter(|(from, to)| *count >= BURST.1 && log >= 600.0 && to - from <= BURST.0 * log);
        let when = match burst {
            Some((from, to)) => format!("all {}–{}", clock(from, true), clock(to, true)),
            None => format!("first {}{}", first.name, self.clock_of(first.time)),
        };
        [format!("{:>6}", number(*count)), format!("{code}{}", one_line(&first.text)), cause.place(), when]
    }

    /// Lines of a number or name, a text that may be cut, a place and a time, in columns.
    fn columns(&mut self, rows: &[[String; 4]]) {
        let widest = |column: usize| rows.iter().map(|row| display_width(&row[column])).max().unwrap_or_default();
        let (left, mut text, mut place, right) = (widest(0), widest(1), widest(2), widest(3));
        if let Some(width) = self.style.width {
            place = place.min(width / 4);
            text = text.min(width.saturating_sub(left + place + right + 6));
        }
        for [number, said, at, when] in rows {
            let mut line = format!("{number:<left$}");
            for (cell, width) in [(cut(said, text), text), (cut_middle(at, place).into(), place)] {
                line += &format!("  {cell}{}", " ".repeat(width.saturating_sub(display_width(&cell))));
            }
            self.plain(format!("{line}  {when:>right$}").trim_end().to_owned());
        }
    }

    fn clock_of(&self, time: Option<f64>) -> String {
        let from = self.facts.from.unwrap_or_default();
        let are_days = self.facts.to.unwrap_or_default() - from >= 86_400.0;
        time.map_or_else(String::new, |time| {
            let day = if are_days { format!(" {}", &date(time)[5..]) } else { String::new() };
            format!("{day} {}", clock(time, true))
        })
    }

    /// Calls that nothing answered: lost in a restart, or never answered.
    fn silent(&mut self) {
        let facts = self.facts;
        // What a connection left open as it began anew is never answered, either.
        let over: HashSet<_> = facts.sessions.iter().filter_map(|session| session.before).collect();
        let left: HashSet<_> =
            facts.calls.iter().filter(|call| over.contains(&call.session)).map(|call| &call.name).collect();
        let of_state = |state: &'static str| facts.silent.iter().filter(move |silent| silent.state == state);
        let (left_open, open): (Vec<_>, Vec<_>) = of_state("open").partition(|silent| left.contains(&silent.name));
        let silent: Vec<&SilentCall> = of_state("unanswered").chain(left_open).collect();
        if !silent.is_empty() {
            let (lost, restart) = self.lost(&silent);
            let lost = restart.filter(|_| lost > 0).map(|restart| format!(", {} lost as {restart}", number(lost)));
            let lost = lost.unwrap_or_default();
            let were = if silent.len() == 1 { "was" } else { "were" };
            self.bad(&format!("{} {were} never answered{lost}", counted(silent.len(), "call")));
            self.kinds(&silent);
        }
        if !open.is_empty() {
            let were = if open.len() == 1 { "was" } else { "were" };
            self.bad(&format!("{} {were} open as the log ended", counted(open.len(), "call")));
            self.kinds(&open);
        }
    }

    /// Counts calls that were in flight as their server began anew, and says when it did.
    fn lost(&self, silent: &[&SilentCall]) -> (usize, Option<String>) {
        let silent: HashSet<_> = silent.iter().map(|silent| &silent.name).collect();
        let (mut lost, mut said) = (0, None);
        for session in &self.facts.sessions {
            let (Some(before), Some((name, time))) = (session.before, &session.begun) else { continue };
            let of_session: Vec<_> = self.facts.calls.iter().filter(|call| call.session == before).collect();
            // Without times: no later call was answered before the restart.
            let is_answered = |call: &&Call| !matches!(call.outcome, CallOutcome::Silent | CallOutcome::Cancelled);
            let in_flight = of_session.iter().rposition(is_answered).map_or(0, |last| last + 1);
            let longest = of_session.iter().filter_map(|call| call.seconds).fold(0.0, f64::max);
            let is_lost = |(place, call): &(usize, &&Call)| {
                let age = time.zip(call.time).map(|(restart, asked)| restart - asked);
                silent.contains(&call.name) && age.map_or(*place >= in_flight, |age| age <= MIN_HANG.max(3.0 * longest))
            };
            let count = of_session.iter().enumerate().filter(is_lost).count();
            lost += count;
            if count > 0 || said.is_none() {
                let server = session.server.as_deref().unwrap_or(&session.label);
                said = Some(format!("{server} restarted ({name}{})", self.clock_of(*time).replacen(' ', ", ", 1)));
            }
        }
        (lost, said)
    }

    /// Silent calls by tool or method.
    fn kinds(&mut self, silent: &[&SilentCall]) {
        let mut kinds: Vec<(&str, usize, &SilentCall)> = Vec::new();
        for call in silent {
            match kinds.iter_mut().find(|(what, ..)| *what == call.what) {
                Some((_, count, _)) => *count += 1,
                None => kinds.push((&call.what, 1, call)),
            }
        }
        kinds.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
        for (what, count, first) in kinds.iter().take(MAX_CAUSES) {
            let first = format!("{}{}", first.name, self.clock_of(first.time));
            let first = if *count > 1 { format!("first {first}") } else { first };
            self.plain(format!("{:>6}  {}  {first}", number(*count), one_line(what)));
        }
        if kinds.len() > MAX_CAUSES {
            let rest: usize = kinds.iter().skip(MAX_CAUSES).map(|(_, count, _)| count).sum();
            self.plain(format!("{:>6}  of others: rpcgraph unanswered", number(rest)));
        }
    }

    /// What is normal in a protocol, and no problem.
    fn normal(&mut self) {
        let count = |outcome| self.facts.calls.iter().filter(|call| call.outcome == outcome).count();
        let (cancelled, outdated) = (count(CallOutcome::Cancelled), count(CallOutcome::Outdated));
        let waiting = self.facts.silent.iter().filter(|silent| silent.state == "waiting").count();
        let mut said = Vec::new();
        let mut say = |count: usize, noun: &str, what: &str| {
            if count > 0 {
                said.push(format!("{} {} {what}", counted(count, noun), if count == 1 { "was" } else { "were" }));
            }
        };
        say(cancelled, "call", "cancelled");
        say(outdated, "answer", "outdated");
        say(waiting, "call", "waiting for an event");
        if !said.is_empty() {
            self.note('·', &said.join(", "));
        }
    }

    /// What was not read, on which all that follows depends.
    fn unread(&mut self) {
        let Facts { malformed, messages, others, .. } = self.facts;
        let all = messages + others;
        if *malformed > 0 {
            let are = if *malformed == 1 { "is" } else { "are" };
            self.note('!', &format!("{} of {} {are} not JSON", number(*malformed), counted(all, "line")));
        }
        if others > malformed {
            let count = others - malformed;
            let hold = if count == 1 { "holds" } else { "hold" };
            self.note('!', &format!("{} of {} {hold} JSON that is no message", number(count), counted(all, "line")));
        }
    }

    /// What is wrong with messages.
    fn problems(&mut self) {
        let Facts { messages, problems, unsolicited, .. } = self.facts;
        if let [first, ..] = unsolicited.as_slice() {
            let answer = if unsolicited.len() == 1 { "answers" } else { "answer" };
            self.note(
                '!',
                &format!("{} {answer} no request in the log, first {first}", counted(unsolicited.len(), "message")),
            );
        }
        // A problem of most messages is a property of the format.
        let rare = problems.iter().filter(|(problem, count, _)| {
            count * 2 < *messages
                && problem.chars().next().is_some_and(char::is_uppercase)
                && problem != "MalformedRecord"
        });
        for (problem, count, first) in rare.take(MAX_PROBLEMS) {
            self.note('!', &format!("{}: {}, first {first}", counted(*count, "message"), in_words(problem)));
        }
    }

    /// The slowest calls, where there are few.
    fn slowest(&mut self) {
        let mut timed: Vec<&Call> = self.facts.calls.iter().filter(|call| call.seconds.is_some()).collect();
        timed.sort_by(|a, b| b.seconds.unwrap_or_default().total_cmp(&a.seconds.unwrap_or_default()));
        if timed.is_empty() {
            return;
        }
        self.plain("  slowest".to_owned());
        let rows = timed.into_iter().take(3).map(|call| {
            let took = call.seconds.map(duration).unwrap_or_default();
            [format!("    {}{}", call.name, self.clock_of(call.time)), one_line(call.what()), String::new(), took]
        });
        let rows: Vec<_> = rows.collect();
        self.columns(&rows);
    }

    /// Calls by connection, tool or method: what there are several of.
    fn groups(&mut self) {
        let calls = &self.facts.calls;
        if calls.is_empty() {
            return;
        }
        let tools: HashSet<_> = calls.iter().filter_map(|call| call.tool.as_ref()).collect();
        let sessions: HashSet<_> = calls.iter().map(|call| call.session).collect();
        let (head, more) = match (sessions.len(), tools.len()) {
            (2.., _) => ("connection", "rpcgraph ask sessions"),
            (_, 2..) => ("tool", "rpcgraph tools"),
            _ => ("method", "rpcgraph methods"),
        };
        let name = |call: &Call| match head {
            "connection" => self.facts.sessions[call.session].name(),
            "tool" => call.what().to_owned(),
            _ => call.method.clone(),
        };
        let head_is_connection = head == "connection";
        let mut restarts = HashMap::<String, usize>::new();
        for session in self.facts.sessions.iter().filter(|session| session.before.is_some()) {
            *restarts.entry(session.name()).or_default() += 1;
        }
        let mut groups: Vec<(String, Vec<&Call>)> = Vec::new();
        let mut places = HashMap::new();
        for call in calls.iter().filter(|call| head != "tool" || call.tool.is_some()) {
            let name = name(call);
            let place = *places.entry(name.clone()).or_insert_with(|| {
                groups.push((name, Vec::new()));
                groups.len() - 1
            });
            groups[place].1.push(call);
        }
        let (all, columns) = (groups.len(), ["calls", "failed", "no answer", "cancelled", "p50", "p95", "max"]);
        let weight = |group: &[&Call]| {
            let failed =
                group.iter().filter(|call| matches!(call.outcome, CallOutcome::Failed | CallOutcome::Silent)).count();
            (failed, group.len())
        };
        groups.sort_by_key(|(_, group)| std::cmp::Reverse(weight(group)));
        groups.truncate(MAX_GROUPS);
        let prefix = if head == "method" { common_prefix(groups.iter().map(|(name, _)| name.as_str())) } else { "" };
        let head = if prefix.is_empty() {
            head.to_owned()
        } else {
            format!("{head} (… = {})", prefix.trim_end_matches('/'))
        };
        let prefix = prefix.to_owned();
        let mut rows = vec![(head, columns.map(str::to_owned))];
        rows.extend(groups.into_iter().map(|(name, group)| {
            let short = name.strip_prefix(&prefix).filter(|_| !prefix.is_empty()).map(|rest| format!("…/{rest}"));
            (one_line(short.as_deref().unwrap_or(&name)), cells(&group))
        }));
        let mut empty = std::array::from_fn::<_, COLUMNS, _>(|column| {
            rows.iter().skip(1).all(|(_, cells)| cells[column].is_empty())
        });
        let widths = std::array::from_fn::<_, COLUMNS, _>(|column| {
            rows.iter().map(|(_, cells)| cells[column].chars().count()).max().unwrap_or_default()
        });
        let width_of = |empty: &[bool; COLUMNS]| -> usize {
            (0..COLUMNS).filter(|column| !empty[*column]).map(|column| widths[column] + 2).sum()
        };
        let names = rows.iter().map(|(name, _)| display_width(name)).max().unwrap_or_default();
        let extra = if restarts.is_empty() || !head_is_connection { 0 } else { "  1 restart".len() };
        if let Some(width) = self.style.width.map(|width| width.saturating_sub(extra)) {
            // Names come before columns.
            for column in [3, 4] {
                empty[column] |= names + 2 + width_of(&empty) > width;
            }
        }
        let names =
            self.style.width.map_or(names, |width| names.min(width.saturating_sub(width_of(&empty) + 2 + extra)));
        self.blank();
        for (full, cells) in rows {
            let name = cut_middle(&full, names);
            let mut line = format!("  {name}{}", " ".repeat(names.saturating_sub(display_width(&name))));
            for column in (0..COLUMNS).filter(|column| !empty[*column]) {
                line += &format!("  {:>width$}", cells[column], width = widths[column]);
            }
            if let Some(count) = restarts.get(&full).filter(|_| head_is_connection) {
                line += &format!("  {}", counted(*count, "restart"));
            }
            self.plain(line.trim_end().to_owned());
        }
        if all > MAX_GROUPS {
            self.plain(format!("  {} more: {more}", number(all - MAX_GROUPS)));
        }
    }

    /// What to run next.
    fn next(&mut self) {
        if self.facts.messages + self.facts.others == 0 {
            return;
        }
        let is_missing = |silent: &SilentCall| ["unanswered", "open"].contains(&silent.state.as_str());
        let log = match self.facts.logs.as_slice() {
            [log] if display_width(log) <= 24 && !log.contains(' ') && log != "stdin" => log.clone(),
            _ => "LOG".to_owned(),
        };
        self.blank();
        let names: Vec<_> = self
            .facts
            .failures
            .iter()
            .map(|failure| &failure.name)
            .chain(self.facts.silent.iter().filter(|silent| is_missing(silent)).map(|silent| &silent.name))
            .collect();
        let next = match (&self.incident, names.as_slice()) {
            (Some(incident), _) => {
                let [from, to] = incident.clocks();
                format!("rpcgraph errors {log} --since {from} --until {to}")
            }
            (None, []) => format!("rpcgraph timeline {log}"),
            (None, names) if names.len() <= 3 && self.facts.logs.len() == 1 => {
                let names: Vec<_> = names.iter().map(|name| name.as_str()).collect();
                format!("rpcgraph show {log} {}", names.join(" "))
            }
            (None, _) if self.facts.failures.is_empty() => format!("rpcgraph unanswered {log}"),
            (None, _) => format!("rpcgraph errors {log}"),
        };
        self.plain(format!("next: {next}"));
    }

    fn fits(&self, text: &str) -> bool {
        self.style.width.is_none_or(|width| display_width(text) <= width)
    }

    fn text(self) -> String {
        let ScreenStyle { width, is_coloured } = self.style;
        let mut text = String::new();
        for Line(line, style) in self.lines {
            let line = printable(&line).into_owned();
            let line = width.map_or(line.as_str().into(), |width| cut(&line, width));
            match is_coloured && style != Style::new() {
                true => text += &format!("{style}{line}{style:#}\n"),
                false => text += &format!("{line}\n"),
            }
        }
        text
    }
}

/// The number of columns of numbers.
const COLUMNS: usize = 7;

/// The part up to a slash that most names begin with.
fn common_prefix<'n>(names: impl Iterator<Item = &'n str> + Clone) -> &'n str {
    let prefixes = names.clone().filter_map(|name| name.get(..=name.find('/')?));
    let count = |prefix: &str| names.clone().filter(|name| name.starts_with(prefix)).count();
    prefixes.max_by_key(|prefix| count(prefix)).filter(|prefix| count(prefix) > 2).unwrap_or("")
}

fn cells(group: &[&Call]) -> [String; COLUMNS] {
    let count = |outcome| group.iter().filter(|call| call.outcome == outcome).count();
    let some = |count: usize| if count > 0 { number(count) } else { String::new() };
    let mut latencies: Vec<f64> = group.iter().filter_map(|call| call.seconds).collect();
    latencies.sort_by(f64::total_cmp);
    let at = |share| percentile(&latencies, share).map(duration).unwrap_or_default();
    [
        number(group.len()),
        some(count(CallOutcome::Failed)),
        some(count(CallOutcome::Silent)),
        some(count(CallOutcome::Cancelled)),
        at(0.5),
        at(0.95),
        at(1.0),
    ]
}
