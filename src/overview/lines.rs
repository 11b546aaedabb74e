//! The lines of the screen.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use anstyle::{AnsiColor, Style};
use indexmap::IndexMap;

use super::causes::{FailureCause, causes};
use super::command::breakable;
use super::facts::{Call, CallOutcome, Facts, SessionFact, SilentCall, timed_answers};
use super::incident::{Incident, IncidentKind, percentile};
use super::moment::clock;
use super::sentences::{Severity, Topic};
use super::strip;
use super::units::{counted, duration, number, one_line};
use crate::diagnostic::{display_width, printable};
use crate::query::{cut, cut_middle, folded, frequent_prefix};

/// The maximum numbers of lines of the parts.
const MAX_PROGRAMS: usize = 4;
const MAX_CAUSES: usize = 4;
const MAX_GROUPS: usize = 8;
/// The width of a name that is cut rather than a column left out.
const LONG_NAME: usize = 26;

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
pub(super) struct Line(pub(super) String, Style);

/// Formats the overview.
pub fn lines(facts: &Facts, style: ScreenStyle) -> String {
    let mut screen = Screen::new(facts, style);
    screen.head();
    let buckets = facts.buckets(strip::bars(style.width));
    if let Some(buckets) = &buckets {
        screen.incidents = facts.incidents();
        screen.blank();
        for row in strip::rows(facts, buckets, &screen.incidents) {
            screen.plain(row);
        }
    }
    screen.blank();
    screen.sentences();
    if buckets.is_none() {
        screen.slowest();
    }
    screen.groups();
    screen.next();
    screen.text()
}

pub(super) struct Screen<'f> {
    facts: &'f Facts,
    pub(super) style: ScreenStyle,
    pub(super) lines: Vec<Line>,
    /// The worst first.
    incidents: Vec<Incident>,
}

impl<'f> Screen<'f> {
    pub(super) fn new(facts: &'f Facts, style: ScreenStyle) -> Self {
        Self { facts, style, lines: Vec::new(), incidents: Vec::new() }
    }

    pub(super) fn styled(&mut self, text: String, style: Style) {
        self.lines.push(Line(text, style));
    }

    pub(super) fn plain(&mut self, text: String) {
        self.styled(text, Style::new());
    }

    pub(super) fn bad(&mut self, text: &str) {
        self.styled(format!("✗ {text}"), Style::new().fg_color(Some(AnsiColor::Red.into())));
    }

    pub(super) fn blank(&mut self) {
        if self.lines.last().is_some_and(|line| !line.0.is_empty()) {
            self.plain(String::new());
        }
    }

    /// The file, what it holds, when it happened, and between whom.
    pub(super) fn head(&mut self) {
        let Facts { logs, formats, messages, .. } = self.facts;
        let name = match logs.as_slice() {
            [log] => log.clone(),
            logs => counted(logs.len(), "log"),
        };
        let first = [name, formats.join(", "), counted(*messages, "message")].join(" · ");
        match self.facts.times() {
            Some(times) => {
                let short = times.split(" (").next().unwrap_or_default();
                let lines = [&times, short].map(|times| format!("{first} · {times}"));
                match lines.into_iter().find(|line| self.fits(line)) {
                    Some(line) => self.plain(line),
                    None => {
                        self.plain(first);
                        self.plain(times);
                    }
                }
            }
            None if *messages > 0 => self.plain(format!("{first} · no times")),
            None => self.plain(first),
        }
        let programs = &self.facts.programs;
        for (programs, count) in programs.iter().take(MAX_PROGRAMS) {
            let count = if *count > 1 { format!(" ({count} connections)") } else { String::new() };
            let line = printable(&format!("{programs}{count}")).into_owned();
            match self.style.width.zip(line.split_once(" → ")) {
                Some((width, (client, server))) if !self.fits(&line) => {
                    let client = cut_middle(client, width.saturating_sub(display_width(server) + 3).max(width / 3));
                    let server = cut_middle(server, width.saturating_sub(display_width(&client) + 3));
                    self.plain(format!("{client} → {server}"));
                }
                _ => self.plain(line),
            }
        }
        if programs.len() > MAX_PROGRAMS {
            let more = format!("{} more programs: ", programs.len() - MAX_PROGRAMS);
            self.command(&more, &self.facts.question("handshake"));
        }
        if programs.is_empty() && !self.facts.calls.is_empty() && !self.facts.has_senders {
            self.plain(format!(
                "{}; who sent what is not in the log (--envelope sender=…)",
                counted(self.facts.calls.len(), "call")
            ));
        }
    }

    /// The sentences, and below each what it counts.
    fn sentences(&mut self) {
        for sentence in self.facts.sentences(&self.incidents) {
            let text = sentence.text();
            let mut lines = self.folded(&text);
            let text = lines.next().unwrap_or_default();
            match (sentence.topic, sentence.level) {
                (Topic::Incident, _) => self.plain(format!("  {text}")),
                (_, Severity::Bad) => self.bad(&text),
                (_, Severity::Warn) => self.plain(format!("! {text}")),
                _ => self.plain(format!("· {text}")),
            }
            lines.for_each(|line| self.plain(format!("  {line}")));
            match sentence.topic {
                // The sentence about a failing incident comes between.
                Topic::Failures if !self.is_failing() => self.causes(),
                Topic::Incident => self.causes(),
                Topic::Silent => self.kinds(&sentence.silent),
                _ => {}
            }
        }
    }

    /// A sentence goes on below, and not beyond the screen.
    pub(super) fn folded<'t>(&self, text: &'t str) -> impl Iterator<Item = Cow<'t, str>> + use<'t> {
        folded(text, self.style.width.map_or(usize::MAX, |width| width.saturating_sub(2)), 3)
    }

    fn is_failing(&self) -> bool {
        self.incidents.first().is_some_and(|incident| incident.kind() == IncidentKind::Failing)
    }

    /// Why calls failed.
    fn causes(&mut self) {
        let causes = causes(&self.facts.failures);
        let (shown, others) = causes.split_at(causes.len().min(MAX_CAUSES));
        let rows: Vec<_> = shown.iter().map(|cause| self.cause(cause)).collect();
        self.columns(&rows);
        if !others.is_empty() {
            let rest: usize = others.iter().map(|cause| cause.count).sum();
            let rest = format!("{:>6}  in {}: ", number(rest), counted(others.len(), "other text"));
            self.command(&rest, &format!("{} --by cause", self.facts.question("errors")));
        }
    }

    /// A number, a text, where it was, and the first message or the times of a burst.
    fn cause(&self, cause: &FailureCause<'_>) -> [String; 4] {
        let FailureCause { count, first, .. } = cause;
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
            None => format!("first {}{}", first.name, self.facts.clock_of(first.time)),
        };
        [format!("{:>6}", number(*count)), format!("{code}{}", one_line(&first.text)), cause.scope(), when]
    }

    /// Lines of a number or name, a text that may be cut, a place and a time, in columns.
    pub(super) fn columns(&mut self, rows: &[[String; 4]]) {
        let widest = |column: usize| rows.iter().map(|row| display_width(&row[column])).max().unwrap_or_default();
        let (left, mut text, mut place, right) = (widest(0), widest(1), widest(2), widest(3));
        if let Some(width) = self.style.width {
            let room = width.saturating_sub(left + right + 6);
            place = place.min((width / 4).max(room.saturating_sub(text)));
            text = text.min(room.saturating_sub(place));
        }
        for [number, said, at, when] in rows {
            let mut line = format!("{number:<left$}");
            // A text alone has the whole line.
            if at.is_empty() && when.is_empty() {
                self.plain(format!("{line}  {said}"));
                continue;
            }
            // Where no line has a text, names have its room.
            let cells = [(cut(said, text), text), (cut_middle(at, place), place)];
            for (cell, width) in cells.into_iter().skip(usize::from(text == 0)) {
                line += &format!("  {cell}{}", " ".repeat(width.saturating_sub(display_width(&cell))));
            }
            self.plain(format!("{line}  {when}").trim_end().to_owned());
        }
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
        let rows = kinds.iter().take(MAX_CAUSES).map(|(what, count, first)| {
            let waited = first.waited.filter(|_| *count == 1 && first.state != "cancelled");
            let waited = waited.map_or_else(String::new, |seconds| format!("  waited {}", duration(seconds)));
            let first = format!("{}{}{waited}", first.name, self.facts.clock_of(first.time));
            let first = if *count > 1 { format!("first {first}") } else { first };
            [format!("{:>6}", number(*count)), String::new(), one_line(what), first]
        });
        let rows: Vec<_> = rows.collect();
        self.columns(&rows);
        if kinds.len() > MAX_CAUSES {
            let rest: usize = kinds.iter().skip(MAX_CAUSES).map(|(_, count, _)| count).sum();
            self.command(&format!("{:>6}  of others: ", number(rest)), &self.facts.question("unanswered"));
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
        timed.truncate(3);
        let took = |call: &Call| call.seconds.map(duration).unwrap_or_default();
        let width = timed.iter().map(|call| took(call).len()).max().unwrap_or_default();
        let rows = timed.into_iter().map(|call| {
            let name = format!("    {}{}", call.name, self.facts.clock_of(call.time));
            [name, String::new(), one_line(call.what()), format!("{:>width$}", took(call))]
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
            (2.., _) => ("connection", "ask sessions"),
            (_, 2..) => ("tool", "tools"),
            _ => ("method", "methods"),
        };
        let names: Vec<_> = self.facts.sessions.iter().map(SessionFact::name).collect();
        let name = |call: &'f Call| match head {
            "connection" => &names[call.session],
            "tool" => call.what(),
            _ => &call.method,
        };
        let head_is_connection = head == "connection";
        let mut restarts = HashMap::<String, usize>::new();
        for session in self.facts.sessions.iter().filter(|session| session.before.is_some()) {
            *restarts.entry(session.name()).or_default() += 1;
        }
        let mut groups = IndexMap::<&str, Vec<&Call>>::new();
        for call in calls.iter().filter(|call| head != "tool" || call.tool.is_some()) {
            groups.entry(name(call)).or_default().push(call);
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        let (all, columns) =
            (groups.len(), ["calls", "failed", "no answer", "cancelled", "timed", "p50", "p95", "max"]);
        let is_bad =
            |call: &&&Call| matches!(call.outcome, CallOutcome::Failed | CallOutcome::Silent | CallOutcome::Open);
        let weight = |group: &[&Call]| {
            let failed = group.iter().filter(is_bad).count();
            (failed, group.len())
        };
        groups.sort_by_key(|(_, group)| std::cmp::Reverse(weight(group)));
        groups.truncate(MAX_GROUPS);
        let prefix = if head == "method" { frequent_prefix(groups.iter().map(|(name, _)| *name)) } else { "" };
        let head = if prefix.is_empty() {
            head.to_owned()
        } else {
            format!("{head} (… = {})", prefix.trim_end_matches('/'))
        };
        let prefix = prefix.to_owned();
        let mut rows = vec![(head, columns.map(str::to_owned))];
        rows.extend(groups.into_iter().map(|(name, group)| {
            let short = name.strip_prefix(&prefix).filter(|_| !prefix.is_empty()).map(|rest| format!("…/{rest}"));
            (one_line(short.as_deref().unwrap_or(name)), cells(&group))
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
        let mut extra = if restarts.is_empty() || !head_is_connection { 0 } else { "  1 restart".len() };
        if let Some(width) = self.style.width {
            // Names come before columns and restarts, of which a sentence tells; long ones do not come before the median.
            empty[3] |= names + 2 + width_of(&empty) + extra > width;
            if names + 2 + width_of(&empty) + extra > width {
                extra = 0;
            }
            empty[5] |= names.min(LONG_NAME) + 2 + width_of(&empty) > width;
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
            if let Some(count) = restarts.get(&full).filter(|_| extra > 0) {
                line += &format!("  {}", counted(*count, "restart"));
            }
            self.plain(line.trim_end().to_owned());
        }
        if all > MAX_GROUPS {
            self.command(&format!("  {} more: ", number(all - MAX_GROUPS)), &self.facts.question(more));
        }
    }

    /// The commands to run next.
    fn next(&mut self) {
        if self.facts.messages + self.facts.others == 0 {
            return;
        }
        let is_missing = |silent: &SilentCall| ["unanswered", "open"].contains(&silent.state.as_str());
        let has_lost = self.facts.silent.iter().any(|silent| silent.state == "lost");
        let question = |name: &str| self.facts.question(name);
        self.blank();
        let names: Vec<_> = self
            .facts
            .failures
            .iter()
            .map(|failure| failure.name.as_str())
            .chain(self.facts.silent.iter().filter(|silent| is_missing(silent)).map(|silent| silent.name.as_str()))
            .collect();
        let next = match (self.incidents.first(), names.as_slice()) {
            (Some(incident), _) => {
                let question = match incident.kind() {
                    IncidentKind::Failing => "errors",
                    IncidentKind::Silent => "unanswered",
                    IncidentKind::Slow => "slowest",
                };
                self.facts.question_about(question, incident)
            }
            (None, []) if self.facts.messages == 0 => self.facts.detect(),
            (None, []) if has_lost || !self.facts.cancelled_late().is_empty() => question("unanswered"),
            (None, []) if self.facts.malformed > 0 => question("problems"),
            (None, []) => question("timeline"),
            (None, names) => {
                let kind = if self.facts.failures.is_empty() { "unanswered" } else { "errors" };
                let show = self.facts.show(names).filter(|_| names.len() <= 3);
                show.unwrap_or_else(|| question(kind))
            }
        };
        self.command("next: ", &next);
    }

    /// A command, which continues on further lines if it is too long.
    pub(super) fn command(&mut self, before: &str, command: &str) {
        let mut line = format!("{before}{command}");
        if !self.fits(&line) {
            line = before.to_owned();
            for (place, part) in breakable(command).iter().enumerate() {
                // A name that no line holds would be cut.
                let part = if self.fits(&format!("      {part} \\")) { part } else { "LOG" };
                if place > 0 && !self.fits(&format!("{line} {part} \\")) {
                    self.plain(std::mem::replace(&mut line, "     ".to_owned()) + " \\");
                }
                line += if place > 0 { " " } else { "" };
                line += part;
            }
        }
        self.plain(line);
    }

    pub(super) fn fits(&self, text: &str) -> bool {
        self.style.width.is_none_or(|width| display_width(text) <= width)
    }

    pub(super) fn text(self) -> String {
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
const COLUMNS: usize = 8;

fn cells(group: &[&Call]) -> [String; COLUMNS] {
    let count = |outcome| group.iter().filter(|call| call.outcome == outcome).count();
    let some = |count: usize| if count > 0 { number(count) } else { String::new() };
    let mut latencies: Vec<f64> = group.iter().filter_map(|call| call.seconds).collect();
    latencies.sort_by(f64::total_cmp);
    let (timed, answered) = timed_answers(group.iter().copied());
    if timed * 2 < answered {
        // If clocks differ, the few answers with a latency do not represent the others.
        latencies.clear();
    }
    let at = |share| percentile(&latencies, share).map(duration).unwrap_or_default();
    [
        number(group.len()),
        some(count(CallOutcome::Failed)),
        some(count(CallOutcome::Silent) + count(CallOutcome::Open)),
        some(count(CallOutcome::Cancelled)),
        if timed < answered { some(timed) } else { String::new() },
        at(0.5),
        at(0.95),
        at(1.0),
    ]
}
