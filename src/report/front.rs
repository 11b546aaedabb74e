//! The front of a page, which needs no script: title, verdict, strip, and the failures and silent calls of print.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::facts::Handshakes;
use super::strip;
use crate::diagnostic::{markup::xml, printable};
use crate::overview::facts::Facts;
use crate::overview::sentences::{Phrase, Sentence, Severity, Topic};
use crate::overview::units::{counted, number, one_line};

const MAX_SENTENCES: usize = 4;
const MAX_PROGRAMS: usize = 4;
/// The maximum number of failures and silent calls on paper.
const MAX_LISTED: usize = 200;

/// Returns the front as HTML.
pub(super) fn html(title: &str, facts: &Facts, handshakes: &Handshakes) -> String {
    let incidents = facts.incidents();
    let mut html = format!("<div id=\"front\">\n<div data-part=\"title\"><h1 id=\"title\">{}</h1> ", escaped(title));
    let _ = write!(
        html,
        "<span class=\"faint\">{}</span></div>\n<div data-part=\"verdict\" id=\"verdict\">",
        about(facts, handshakes)
    );
    let mut lines: Vec<String> = Vec::new();
    for sentence in facts.sentences(&incidents) {
        match (sentence.topic, lines.last_mut()) {
            (Topic::Incident, Some(line)) => {
                *line += &format!(
                    " <span class=\"faint\">({})</span>",
                    phrases(&sentence.phrases[1..]).trim_start_matches(": ")
                )
            }
            _ => lines.push(marked(&sentence)),
        }
    }
    if lines.is_empty() {
        lines.push("<span class=\"mark\">·</span> There are no calls.".to_owned());
    }
    lines.iter().take(MAX_SENTENCES).for_each(|line| {
        let _ = write!(html, "<p>{line}</p>");
    });
    html += "</div>\n";
    html += &strip::svg(facts, &incidents);
    html += &listed(facts);
    html + "</div>"
}

fn escaped(text: &str) -> String {
    xml(&printable(text))
}

/// When the log was written, what is in it, and of which programs.
fn about(facts: &Facts, handshakes: &Handshakes) -> String {
    let requests = if facts.calls.len() == 1 { "request" } else { "requests" };
    let messages = counted(facts.messages, "message");
    let calls = format!("{} ({requests}) in {messages}", counted(facts.calls.len(), "call"));
    let sessions: HashSet<_> = facts.sessions.iter().map(|session| &session.label).collect();
    let connections = (sessions.len() > 1).then(|| counted(sessions.len(), "connection"));
    let all = |names: Vec<&String>| {
        let mut unique: Vec<&str> = Vec::new();
        for name in names {
            if !unique.contains(&name.as_str()) {
                unique.push(name);
            }
        }
        let more = unique.len().saturating_sub(MAX_PROGRAMS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        unique.truncate(MAX_PROGRAMS);
        format!("{}{more}", unique.join(", "))
    };
    let clients = all(handshakes.iter().filter_map(|one| one.client.as_ref()).collect());
    let servers = all(handshakes.iter().filter_map(|one| one.server.as_ref()).collect());
    let version = all(handshakes.iter().filter_map(|one| one.agreed.as_ref()).collect());
    let sides: Vec<_> = [clients, servers].into_iter().filter(|side| !side.is_empty()).collect();
    let programs = Some(sides.join(" → ")).filter(|programs| !programs.is_empty());
    let version = Some(version).filter(|version| !version.is_empty()).map(|version| format!("MCP {version}"));
    let formats = Some(facts.formats.join(", "));
    let parts = [facts.times(), Some(calls), connections, programs, version, formats];
    escaped(&parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
}

fn marked(sentence: &Sentence<'_>) -> String {
    let (class, mark) = match sentence.level {
        Severity::Bad => ("bad", '✗'),
        Severity::Warn => ("warn", '!'),
        Severity::Good => ("good", '✓'),
        Severity::Plain => ("plain", '·'),
    };
    format!("<span class=\"mark {class}\">{mark}</span> {}", phrases(&sentence.phrases))
}

/// The phrases as HTML; spans of time and messages become links into the list, which needs the script.
fn phrases(phrases: &[Phrase]) -> String {
    let to = |text: &str, hash: &str| format!("<span data-to=\"{}\">{}</span>", escaped(hash), escaped(text));
    let html = |phrase: &Phrase| match phrase {
        Phrase::Text(text) => escaped(text),
        Phrase::Span(text, [from, end]) => to(text, &format!("#from={from}&to={end}")),
        Phrase::Message(text, name) => to(text, &format!("#open={name}")),
    };
    phrases.iter().map(html).collect()
}

/// The failures and the silent calls, for print and for browsers without scripts.
fn listed(facts: &Facts) -> String {
    let failures = facts.failures.iter().map(|failure| {
        let code = failure.code.as_ref().map(|code| format!("{code} ")).unwrap_or_default();
        (failure.time, &failure.name, &failure.what, format!("{code}{}", one_line(&failure.text)))
    });
    let is_missing = |state: &str| !matches!(state, "cancelled" | "waiting");
    let silent = facts.silent.iter().filter(|silent| is_missing(&silent.state));
    let silent = silent.map(|silent| (silent.time, &silent.name, &silent.what, "no answer".to_owned()));
    let mut rows: Vec<_> = failures.chain(silent).collect();
    rows.sort_by(|(one, ..), (other, ..)| one.unwrap_or(f64::MAX).total_cmp(&other.unwrap_or(f64::MAX)));
    if rows.is_empty() {
        return String::new();
    }
    let mut html = String::from("<div id=\"listed\"><h2>Failures and calls without an answer</h2>");
    let calls = counted(facts.calls.len(), "call");
    let _ = match rows.len() {
        all if all > MAX_LISTED => write!(html, "<p>{MAX_LISTED} of {}, in {calls}</p>", number(all)),
        all if all <= facts.calls.len() => write!(html, "<p>{} of {calls}</p>", number(all)),
        _ => Ok(()),
    };
    html += "<table>";
    for (time, name, what, text) in rows.into_iter().take(MAX_LISTED) {
        let _ = write!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            facts.clock_of(time).trim(),
            escaped(name),
            escaped(what),
            escaped(&text)
        );
    }
    html + "</table></div>"
}
