//! The sentences about logs, the same on the terminal and on the page.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::message::Problem;

use super::facts::{Call, CallOutcome, Facts, SilentCall, timed_answers};
use super::incident::{Incident, IncidentKind};
use super::moment::{Zone, clock, date};
use super::units::{counted, duration, in_words, number, share};

const MAX_PROBLEMS: usize = 3;
const MAX_RESTARTS: usize = 4;
const MAX_INCIDENTS: usize = 3;
/// Other text is named if it is at least one line of this many.
const MANY_LINES: usize = 10;
/// A cancelled call has waited for long after these seconds.
const LONG_WAIT: f64 = 10.0;

/// How bad a sentence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Bad,
    Warn,
    Plain,
    /// Everything was read, and every call was answered without a failure.
    Good,
}

/// The subject of a sentence, of which a screen may list details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    Failures,
    /// More about the sentence before.
    Incident,
    Slowness,
    Silent,
    Other,
}

/// A part of a sentence.
#[derive(Debug, Clone)]
pub enum Phrase {
    Text(String),
    /// A span of time, from one time to another.
    Span(String, [f64; 2]),
    /// A text about a message, given by its name.
    Message(String, String),
}

/// A sentence.
pub struct Sentence<'f> {
    pub level: Severity,
    pub topic: Topic,
    pub phrases: Vec<Phrase>,
    /// The calls without an answer that it counts.
    pub silent: Vec<&'f SilentCall>,
}

impl Sentence<'_> {
    fn new(level: Severity, topic: Topic, text: String) -> Self {
        Self { level, topic, phrases: vec![Phrase::Text(text)], silent: Vec::new() }
    }

    /// Its text.
    pub fn text(&self) -> String {
        let text = |phrase: &Phrase| match phrase {
            Phrase::Text(text) | Phrase::Span(text, _) | Phrase::Message(text, _) => text.clone(),
        };
        self.phrases.iter().map(text).collect()
    }
}

impl Incident {
    /// Its times, as a part of a sentence.
    fn phrase(&self, facts: &Facts) -> Phrase {
        Phrase::Span(self.span(facts), [self.from, self.to])
    }
}

impl Facts {
    /// True if the first and the last time are of one day.
    pub(crate) fn is_of_one_day(&self) -> bool {
        // Times of day have no date to be shown, also after midnight.
        self.zone == Some(Zone::OfDay) || self.from.zip(self.to).is_some_and(|(first, last)| date(first) == date(last))
    }

    /// Formats a time after a space, in a log of several days with its date.
    pub fn clock_of(&self, time: Option<f64>) -> String {
        time.map_or_else(String::new, |time| {
            let day = if self.is_of_one_day() { String::new() } else { format!(" {}", &date(time)[5..]) };
            format!("{day} {}", clock(time, true))
        })
    }

    /// Formats the times of the log, their zone and their span.
    pub fn times(&self) -> Option<String> {
        let (from, to, zone) = (self.from?, self.to?, self.zone?);
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

    /// Returns the sentences: of what was not read, on which all that follows depends, then the worst first.
    pub fn sentences(&self, incidents: &[Incident]) -> Vec<Sentence<'_>> {
        let incident = incidents.first();
        let mut all = self.unread();
        all.extend(self.incomplete());
        self.failed(incident, &mut all);
        self.unanswered(incident, &mut all);
        let others = incidents.get(1..).unwrap_or_default();
        all.extend(others.iter().take(MAX_INCIDENTS - 1).map(|incident| {
            let during = || Sentence { level: Severity::Bad, topic: Topic::Other, ..self.during(incident) };
            self.slow(Some(incident)).unwrap_or_else(during)
        }));
        if incidents.len() > MAX_INCIDENTS {
            let more = counted(incidents.len() - MAX_INCIDENTS, "more incident");
            all.push(Sentence::new(Severity::Plain, Topic::Other, more));
        }
        all.extend(self.normal());
        let (timed, answered) = timed_answers(self.calls.iter());
        if timed > 0 && timed < answered {
            let text = format!("latencies are of {} of {}", number(timed), counted(answered, "answer"));
            all.push(Sentence::new(Severity::Plain, Topic::Other, text));
        }
        all.extend(self.wrong());
        all
    }

    /// The messages that the log lacks: the answers in sessions with one side, and most answers or requests in others.
    fn incomplete(&self) -> Vec<Sentence<'_>> {
        let is_unknown = |call: &&Call| call.outcome == CallOutcome::Unknown;
        let partial: HashSet<_> = self.calls.iter().filter(|call| !is_unknown(call)).map(|call| call.session).collect();
        let alone = self.calls.iter().filter(is_unknown).filter(|call| !partial.contains(&call.session)).count();
        let unknown: Vec<_> =
            self.calls.iter().filter(is_unknown).filter(|call| partial.contains(&call.session)).collect();
        let mut texts = Vec::new();
        if alone > 0 {
            texts.push(format!("answers are not in this log: {} of one side alone", counted(alone, "call")));
        }
        if !unknown.is_empty() {
            let sessions: HashSet<_> = unknown.iter().map(|call| call.session).collect();
            let all = self.calls.iter().filter(|call| sessions.contains(&call.session)).count();
            texts.push(format!("answers are missing from this log ({} of {})", number(unknown.len()), number(all)));
        }
        if self.requests_missing {
            let missing = self.unsolicited.len() + self.late.len();
            let all = missing + self.calls.iter().filter(|call| call.is_answered()).count();
            let missing = number(missing);
            texts.push(format!("requests are missing from this log ({missing} of {})", number(all)));
        }
        texts.into_iter().map(|text| Sentence::new(Severity::Warn, Topic::Other, text)).collect()
    }

    fn unread(&self) -> Vec<Sentence<'_>> {
        let (malformed, others) = (self.malformed, self.others - self.malformed);
        let all = self.messages + self.others + self.text_lines;
        let lines = counted(all, "line");
        let are = if malformed == 1 { "is" } else { "are" };
        let hold = if others == 1 { "holds" } else { "hold" };
        let texts = [
            (malformed, format!("{} of {lines} {are} not JSON", number(malformed))),
            (others, format!("{} of {lines} {hold} JSON that is not a message", number(others))),
        ];
        let holds = if self.without_messages == 1 { "holds" } else { "hold" };
        let logs = counted(self.of_logs.len(), "log");
        let left_out = format!("{} of {logs} {holds} no message", number(self.without_messages));
        let some = texts.into_iter().chain([(self.without_messages, left_out)]).filter(|(count, _)| *count > 0);
        let mut said: Vec<_> = some.map(|(_, text)| Sentence::new(Severity::Warn, Topic::Other, text)).collect();
        if self.messages > 0 && self.text_lines * MANY_LINES >= all && self.text_lines > 0 {
            let are = if self.text_lines == 1 { "is" } else { "are" };
            let text = format!("{} of {lines} {are} other text", number(self.text_lines));
            said.push(Sentence::new(Severity::Plain, Topic::Other, text));
        }
        said
    }

    /// The number of calls that failed, and their times.
    fn failed(&self, incident: Option<&Incident>, all: &mut Vec<Sentence<'_>>) {
        let Self { failures, calls, .. } = self;
        let known = calls.iter().filter(|call| call.outcome != CallOutcome::Unknown).count();
        let kind = incident.map(Incident::kind);
        if failures.is_empty() {
            let read = if self.others + self.without_messages > 0 { " that were read" } else { "" };
            let are_answered = calls.iter().all(|call| call.outcome == CallOutcome::Answered)
                && self.problems.iter().all(|(problem, ..)| problem != Problem::DuplicateAnswer.name());
            let is_good = kind.is_none()
                && self.others + self.without_messages == 0
                && are_answered
                && self.unsolicited.is_empty()
                && self.late.is_empty()
                && self.silent.is_empty();
            let level = if is_good { Severity::Good } else { Severity::Plain };
            if known > 0 {
                let text = format!("0 of {}{read} failed", counted(known, "call"));
                all.push(Sentence::new(level, Topic::Failures, text));
            }
            all.extend(self.slow(incident));
            return;
        }
        let of_calls = failures.iter().filter(|failure| failure.of_call).count();
        let text = match (known, failures.len() - of_calls) {
            (0, _) => counted(failures.len(), "failure"),
            (all, others) => {
                let share = if of_calls > 0 { format!(" ({})", share(of_calls, all)) } else { String::new() };
                let others =
                    if others > 0 { format!(", and {}", counted(others, "further failure")) } else { String::new() };
                format!("{} of {} failed{share}{others}", number(of_calls), counted(all, "call"))
            }
        };
        let mut sentence = Sentence::new(Severity::Bad, Topic::Failures, text);
        let Some(incident) = incident.filter(|_| kind == Some(IncidentKind::Failing)) else {
            all.push(sentence);
            return all.extend(self.slow(incident));
        };
        let text = format!(", {} of them ", number(incident.within.failed));
        sentence.phrases.extend([Phrase::Text(text), incident.phrase(self)]);
        all.extend([sentence, self.during(incident)]);
    }

    /// Says how many calls failed or were never answered in an incident, and how long calls took.
    fn during(&self, incident: &Incident) -> Sentence<'static> {
        let Incident { within, rest, .. } = incident;
        let (count, what) = match incident.kind() {
            IncidentKind::Silent => (within.silent, "were never answered"),
            _ => (within.failed, "failed"),
        };
        let p95 = within.p95().zip(rest.p95());
        let p95 = p95.map(|(within, rest)| format!("; p95 {}, else {}", duration(within), duration(rest)));
        let text = format!(
            ": {} of {} {what} ({}){}",
            number(count),
            counted(within.calls, "call"),
            share(count, within.calls),
            p95.unwrap_or_default()
        );
        let mut during = Sentence::new(Severity::Plain, Topic::Incident, text);
        during.phrases.insert(0, incident.phrase(self));
        during
    }

    /// Says when calls were slow, for an incident in which they neither failed nor stayed unanswered.
    fn slow(&self, incident: Option<&Incident>) -> Option<Sentence<'static>> {
        let incident = incident.filter(|incident| incident.kind() == IncidentKind::Slow)?;
        let (within, rest) = incident.within.p95().zip(incident.rest.p95())?;
        let mut sentence = Sentence::new(Severity::Bad, Topic::Slowness, "calls were slow ".to_owned());
        let of = counted(incident.within.calls, "call");
        let text = format!(": p95 {} of {of}, else {}", duration(within), duration(rest));
        sentence.phrases.extend([incident.phrase(self), Phrase::Text(text)]);
        Some(sentence)
    }

    /// Calls that nothing answered: never answered, lost in a restart or an exit, open as the log ended, or cancelled after
    /// a long wait.
    fn unanswered<'f>(&'f self, incident: Option<&Incident>, all: &mut Vec<Sentence<'f>>) {
        let incident = incident.filter(|incident| incident.kind() == IncidentKind::Silent);
        let groups = [
            (&["unanswered", "superseded"][..], "never answered"),
            (&["lost"], "lost"),
            (&["open"], "open as the log ended"),
        ];
        for (states, how) in groups {
            let silent: Vec<_> = self.silent.iter().filter(|silent| states.contains(&silent.state.as_str())).collect();
            if silent.is_empty() {
                continue;
            }
            let were = if silent.len() == 1 { "was" } else { "were" };
            let text = format!("{} {were} {how}", counted(silent.len(), "call"));
            let mut sentence = Sentence::new(Severity::Bad, Topic::Silent, text);
            if let Some(incident) = incident {
                let is_within = |time: &f64| (incident.from..incident.to).contains(time);
                let count = silent.iter().filter_map(|silent| silent.time).filter(is_within).count();
                let text = if count == silent.len() { " ".to_owned() } else { format!(", {} of them ", number(count)) };
                sentence
                    .phrases
                    .extend((count > 0).then(|| [Phrase::Text(text), incident.phrase(self)]).into_iter().flatten());
            }
            sentence.phrases.extend(self.restarts(&silent));
            sentence.silent = silent;
            all.push(sentence);
        }
        let silent = self.cancelled_late();
        let waits = silent.iter().filter_map(|silent| silent.waited);
        if let Some((least, most)) = waits.clone().reduce(f64::min).zip(waits.reduce(f64::max)) {
            let were = if silent.len() == 1 { "was" } else { "were" };
            let (least, most) = (duration(least), duration(most));
            let wait = if least == most { most } else { format!("{least} to {most}") };
            let text = format!("{} {were} cancelled after {wait} without an answer", counted(silent.len(), "call"));
            let sentence = Sentence::new(Severity::Warn, Topic::Silent, text);
            all.push(Sentence { silent, ..sentence });
        }
    }

    /// Calls that were cancelled after a long wait.
    pub(super) fn cancelled_late(&self) -> Vec<&SilentCall> {
        let is_late = |silent: &&SilentCall| silent.state == "cancelled" && silent.waited >= Some(LONG_WAIT);
        self.silent.iter().filter(is_late).collect()
    }

    /// Says when servers began anew that left calls without an answer, and that servers exited.
    fn restarts(&self, silent: &[&SilentCall]) -> Vec<Phrase> {
        let sessions: HashMap<_, _> = self.calls.iter().map(|call| (call.name.as_str(), call.session)).collect();
        let mut next: HashMap<_, _> = HashMap::new();
        for (place, session) in self.sessions.iter().enumerate() {
            if let Some(before) = session.before {
                next.entry(before).or_insert(place);
            }
        }
        let mut restarts: BTreeMap<usize, usize> = BTreeMap::new();
        let mut others = 0;
        for one in silent {
            let restart = sessions.get(one.name.as_str()).and_then(|session| next.get(session));
            match restart {
                Some(restart) => *restarts.entry(*restart).or_default() += 1,
                None => others += 1,
            }
        }
        let are_lost = silent.iter().any(|silent| silent.state == "lost");
        let is_one = restarts.len() + usize::from(others > 0) == 1;
        // Calls that had waited long before the restart were probably not lost in it.
        let before = |count| match (is_one, are_lost) {
            (true, true) => " as ".to_owned(),
            (true, false) => " until ".to_owned(),
            (false, true) => format!(", {} as ", number(count)),
            (false, false) => format!(", {} until ", number(count)),
        };
        let mut phrases = Vec::new();
        for (place, count) in restarts.iter().take(MAX_RESTARTS) {
            let session = &self.sessions[*place];
            let server = session.server.as_deref().unwrap_or(&session.label);
            phrases.push(Phrase::Text(before(*count)));
            let Some((name, time)) = &session.begun else {
                phrases.push(Phrase::Text(format!("{server} restarted")));
                continue;
            };
            let at = time.map_or_else(String::new, |time| format!(" at{}", self.clock_of(Some(time))));
            phrases.push(Phrase::Message(format!("{server} restarted{at} ({name})"), name.clone()));
        }
        if restarts.len() > MAX_RESTARTS {
            let more = counted(restarts.len() - MAX_RESTARTS, "more restart");
            phrases.push(Phrase::Text(format!(", and in {more}")));
        }
        if are_lost && others > 0 && self.has_exit {
            phrases.push(Phrase::Text(format!("{}the server exited", before(others))));
        }
        phrases
    }

    /// Returns the sentence about outcomes that are normal in a protocol.
    fn normal(&self) -> Option<Sentence<'_>> {
        let count = |outcome| self.calls.iter().filter(|call| call.outcome == outcome).count();
        let waiting = self.silent.iter().filter(|silent| silent.state == "waiting").count();
        let parts = [
            (count(CallOutcome::Cancelled).saturating_sub(self.cancelled_late().len()), "call", "cancelled"),
            (count(CallOutcome::Outdated), "answer", "outdated"),
            (waiting, "call", "waiting for an event"),
        ];
        let some = parts.into_iter().filter(|(count, ..)| *count > 0);
        let said: Vec<_> = some
            .map(|(count, noun, what)| {
                format!("{} {} {what}", counted(count, noun), if count == 1 { "was" } else { "were" })
            })
            .collect();
        (!said.is_empty()).then(|| Sentence::new(Severity::Plain, Topic::Other, said.join(", ")))
    }

    /// Returns the sentences about defects of messages.
    fn wrong(&self) -> Vec<Sentence<'_>> {
        let mut texts = Vec::new();
        if let [first, ..] = self.unsolicited.as_slice()
            && !self.requests_missing
        {
            let count = self.unsolicited.len();
            let answer = if count == 1 { "answers" } else { "answer" };
            texts.push((format!("{} {answer} no request in the log, first ", counted(count, "message")), first));
        }
        if let [(first, _), ..] = self.late.as_slice()
            && !self.requests_missing
        {
            let answer = if self.late.len() == 1 { "answers" } else { "answer" };
            let late = counted(self.late.len(), "message");
            texts.push((format!("the log begins late: {late} {answer} requests before it, first "), first));
        }
        // A problem of most messages comes from the format, unless clocks that differ explain it.
        let offset_of = |problem: &str| self.clock_offset.filter(|_| problem == Problem::AnswerBeforeRequest.name());
        let rare = self.problems.iter().filter(|(problem, count, _)| {
            (count * 2 < self.messages || offset_of(problem).is_some())
                && problem.chars().next().is_some_and(char::is_uppercase)
                && problem != "MalformedRecord"
        });
        texts.extend(rare.take(MAX_PROBLEMS).map(|(problem, count, first)| {
            let behind = offset_of(problem).map(|seconds| {
                let seconds = duration(seconds);
                match self.latencies_uncertain {
                    true => format!(" by up to {seconds}: clocks differ, latencies are uncertain by {seconds} or more"),
                    false => format!(" by up to {seconds}: clocks differ, latencies are corrected"),
                }
            });
            let behind = behind.unwrap_or_default();
            (format!("{}: {}{behind}, first ", counted(*count, "message"), in_words(problem)), first)
        }));
        let sentences = texts.into_iter().map(|(text, first)| {
            let mut sentence = Sentence::new(Severity::Warn, Topic::Other, text);
            sentence.phrases.push(Phrase::Message(first.clone(), first.clone()));
            sentence
        });
        sentences.collect()
    }
}
