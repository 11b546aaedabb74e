//! The lines of a story, for a terminal or in Markdown.

use anstyle::Style;

use super::{StoryPart, StoryRow};
use crate::diagnostic::markup::markdown;
use crate::overview::facts::Facts;
use crate::overview::incident::{Incident, IncidentKind};
use crate::overview::lines::{Screen, ScreenStyle};
use crate::overview::sentences::Topic;
use crate::overview::units::{counted, duration, number, one_line, share};

/// The parts below the sentences.
const PARTS: [StoryPart; 5] =
    [StoryPart::Cause, StoryPart::Victim, StoryPart::Change, StoryPart::Certainty, StoryPart::Next];

/// Formats the story of an incident, or the sentence that there is none.
pub fn story_lines(
    facts: &Facts,
    found: Option<(&Incident, &[StoryRow])>,
    style: ScreenStyle,
    is_markdown: bool,
) -> String {
    let mut screen = Screen::new(facts, style);
    let escaped = |text: String| if is_markdown { markdown(&text) } else { text };
    let title = found.map(|(incident, _)| facts.title(incident)).unwrap_or_else(|| "No incident".to_owned());
    if is_markdown {
        screen.plain(format!("## {title}"));
        screen.blank();
        screen.style = ScreenStyle::default();
    }
    let from = screen.lines.len();
    screen.head();
    screen.lines[from..].iter_mut().for_each(|line| line.0 = escaped(std::mem::take(&mut line.0)));
    screen.blank();
    let Some((incident, rows)) = found else {
        let text = facts.no_incident();
        screen.folded(&text).for_each(|line| screen.plain(line.into_owned()));
        return screen.text();
    };
    if !is_markdown {
        screen.bad(&title);
    }
    for sentence in facts.sentences(std::slice::from_ref(incident)) {
        let is_silent = sentence.topic == Topic::Silent && incident.kind() == IncidentKind::Silent;
        if is_silent || matches!(sentence.topic, Topic::Failures | Topic::Incident | Topic::Slowness) {
            let text = escaped(sentence.text());
            for (nth, line) in screen.folded(&text).enumerate() {
                screen.plain(format!("{}{line}", if is_markdown && nth == 0 { "- " } else { "  " }));
            }
        }
    }
    for part in PARTS {
        let rows: Vec<_> = rows.iter().filter(|row| row.part == part).collect();
        let [_, heading] = part.names();
        screen.blank();
        match is_markdown {
            true => {
                screen.plain(format!("### {heading}"));
                screen.blank();
            }
            false => screen.styled(heading.to_owned(), Style::new().bold()),
        }
        match (part, rows.as_slice(), is_markdown) {
            (_, [], _) => screen.plain(format!("{}none that the log shows", if is_markdown { "" } else { "  " })),
            (StoryPart::Next, rows, false) => {
                rows.iter().for_each(|row| screen.command("  ", &row.what));
            }
            (StoryPart::Next, rows, true) => {
                let commands = rows.iter().map(|row| row.what.as_str());
                ["```sh"].into_iter().chain(commands).chain(["```"]).for_each(|line| screen.plain(line.to_owned()));
            }
            (_, rows, false) => {
                // Rows about all calls are columns apart, so that their texts are whole.
                for rows in rows.chunk_by(|a, b| a.call.is_some() == b.call.is_some()) {
                    let cells: Vec<_> = rows.iter().map(|row| cells(facts, row)).collect();
                    screen.columns(&cells);
                }
            }
            (_, rows, true) => {
                for row in rows {
                    let some = cells(facts, row).into_iter().filter(|cell| !cell.trim().is_empty());
                    let some: Vec<_> = some.map(|cell| markdown(cell.trim())).collect();
                    screen.plain(format!("- {}", some.join(" · ")));
                }
            }
        }
    }
    screen.text()
}

impl Facts {
    fn title(&self, incident: &Incident) -> String {
        let zone = self.zone.map(super::Zone::name).unwrap_or_default();
        let Incident { from, to, .. } = incident;
        let span = self.clock_of(Some(*from)).trim().to_owned() + "–" + self.clock_of(Some(*to)).trim();
        format!("Incident {span}{zone} ({})", duration(to - from))
    }

    /// The sentence that there is no incident.
    fn no_incident(&self) -> String {
        let timed = self.timed_calls();
        let least = crate::overview::MIN_TIMED;
        let calls = counted(timed, "timed call");
        match timed < least {
            true => format!("no incident to be found: {calls}, and at least {least} are needed"),
            false => format!("no incident: in {calls}, no span fails or is slow three times as much as the rest"),
        }
    }
}

/// A number, a text, where it was, and when.
fn cells(facts: &Facts, row: &StoryRow) -> [String; 4] {
    let StoryRow { part, server, call, count, of, seconds, time, message, .. } = row;
    let place = [server, call].into_iter().flatten().map(|text| one_line(text)).collect::<Vec<_>>().join(" ");
    let message = message.as_ref().map(|message| format!("{message}{}", facts.clock_of(*time)));
    let when = match (part, count, seconds) {
        (StoryPart::Cause, ..) => message.map(|message| format!("first {message}")),
        (StoryPart::Victim, Some(2..), Some(seconds)) => {
            message.map(|message| format!("{}, slowest {message}", duration(*seconds)))
        }
        (StoryPart::Certainty, Some(count), _) => of.map(|of| format!("of {} ({})", number(of), share(*count, of))),
        (_, _, Some(seconds)) => {
            Some([Some(duration(*seconds)), message].into_iter().flatten().collect::<Vec<_>>().join(", "))
        }
        _ => message,
    };
    let count = count.map_or_else(String::new, number);
    [format!("{count:>6}"), one_line(&row.what), place, when.unwrap_or_default()]
}
