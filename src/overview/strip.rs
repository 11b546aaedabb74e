//! The strip of calls over time: a row of small bars each for calls, failures and the 95th percentile.

use super::facts::{Facts, timed_answers};
use super::incident::{Bucket, Buckets, Incident, IncidentKind};
use super::moment::{clock, date};
use super::units::{duration, number};

/// The width of the names of rows.
const NAMES: usize = 8;
/// The width of the largest values, behind the bars.
const MOST: usize = 11;
/// Columns from one label of the time to the next.
const LABELS: usize = 15;

/// The number of bars in lines of a width.
pub fn bars(width: Option<usize>) -> usize {
    width.map_or(60, |width| width.saturating_sub(NAMES + MOST).clamp(10, 120))
}

/// Draws the rows, and below them marks of the incidents.
pub fn rows(facts: &Facts, buckets: &Buckets, incidents: &[Incident]) -> Vec<String> {
    let per_minute = |most: f64| {
        let rate = most * 60.0 / buckets.step;
        match rate {
            rate if rate >= 1.0 => format!("{}/min", number(rate.round() as usize)),
            rate => format!("{}/h", number((rate * 60.0).round() as usize)),
        }
    };
    let calls = buckets.buckets.iter().map(|bucket| bucket.calls as f64).collect::<Vec<_>>();
    let failed = buckets.buckets.iter().map(|bucket| bucket.failed as f64).collect::<Vec<_>>();
    let silent = buckets.buckets.iter().map(|bucket| bucket.silent as f64).collect::<Vec<_>>();
    let is_silent = incidents.iter().any(|incident| incident.kind() == IncidentKind::Silent);
    let p95 = buckets.buckets.iter().map(|bucket| Bucket::p95(bucket).unwrap_or(0.0)).collect::<Vec<_>>();
    let (timed, answered) = timed_answers(facts.calls.iter());
    let mut rows = vec![labels(buckets)];
    for (name, values, unit) in [("calls", calls, 0), ("failed", failed, 0), ("silent", silent, 0), ("p95", p95, 1)] {
        let most = values.iter().copied().fold(0.0, f64::max);
        // Most logs have few silent calls, and a log whose clocks differ has few latencies.
        if name == "silent" && !is_silent || unit == 1 && (most <= 0.0 || timed * 2 < answered) {
            continue;
        }
        let text = match (unit, most) {
            (_, 0.0) => "none".to_owned(),
            (0, most) => per_minute(most),
            (_, most) => duration(most),
        };
        rows.push(format!("{name:<NAMES$}{}{text:>MOST$}", heights(&values, most)));
    }
    rows.extend((!incidents.is_empty()).then(|| marks(facts, buckets, incidents)));
    rows
}

/// Marks each incident, with its times if they fit before the next.
fn marks(facts: &Facts, buckets: &Buckets, incidents: &[Incident]) -> String {
    let count = buckets.buckets.len();
    let place = |time: f64| (time - buckets.start) / buckets.step;
    let mut spans: Vec<_> = incidents
        .iter()
        .map(|incident| {
            let begin = place(incident.from).floor().max(0.0) as usize;
            let end = (place(incident.to).ceil() as usize).clamp(begin + 1, count.max(begin + 1));
            (begin, end - begin, incident.span(facts))
        })
        .collect();
    spans.sort_unstable();
    let (mut line, mut end) = (" ".repeat(NAMES), 0);
    for (nth, (begin, room, span)) in spans.iter().enumerate() {
        let next = spans.get(nth + 1).map_or(count, |(begin, ..)| *begin);
        let width = (span.chars().count() + 2).max(*room);
        let left = (*begin).min(next.saturating_sub(width)).max(end);
        let fits = left + width <= next || spans.len() == 1;
        let (left, width, span) =
            if fits { (left, width, span.as_str()) } else { ((*begin).max(end), (*room).max(2), "") };
        line += &format!("{}╰{span:─^1$}╯", " ".repeat(left - end), width - 2);
        end = left + width;
    }
    line
}

fn heights(values: &[f64], most: f64) -> String {
    let bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bar = |value: f64| match value {
        value if value <= 0.0 || most <= 0.0 => ' ',
        value => bars[((value / most * 8.0).ceil() as usize).clamp(1, 8) - 1],
    };
    values.iter().map(|value| bar(*value)).collect()
}

/// The line of clock times above the bars; dates, in a log of days.
fn labels(buckets: &Buckets) -> String {
    let count = buckets.buckets.len();
    let last = buckets.start + buckets.step * count as f64;
    let are_dates = last - buckets.start > 2.0 * 86_400.0;
    let with_seconds = buckets.step < 4.0;
    // Labels stand at round times.
    let each = LABELS.min(count.max(1));
    let mut line = " ".repeat(NAMES);
    let mut end = NAMES;
    for place in (0..count).step_by(each) {
        let time = buckets.start + buckets.step * place as f64;
        let label = if are_dates { date(time)[5..].to_owned() } else { clock(time, with_seconds) };
        if place + label.len() <= count {
            line += &" ".repeat(NAMES + place - end);
            line += &label;
            end = NAMES + place + label.len();
        }
    }
    line += &" ".repeat(NAMES + count - end);
    format!("{line}{:>MOST$}", "most")
}
