//! The strip of a page: calls over time by their outcomes, and percentiles of their latencies below, as SVG.
//!
//! Places along the strip are percentages, so that it fits every width without a script.

use std::fmt::Write as _;

use crate::diagnostic::markup::xml;
use crate::overview::facts::{CallOutcome, Facts};
use crate::overview::incident::{Incident, STEPS, percentile};
use crate::overview::moment::{clock, date};
use crate::overview::units::{counted, duration};

const BUCKETS: usize = 120;
/// The height of the bars; the top and the height of the latencies below, and the line of the clock times.
const BARS: f64 = 60.0;
const LATENCIES: (f64, f64) = (66.0, 34.0);
const CLOCKS: f64 = 114.0;
/// The maximum numbers of clock times, of those with a date, and of marks.
const MAX_CLOCKS: f64 = 7.0;
const MAX_DATED: f64 = 4.0;
const MAX_MARKS: usize = 40;

/// The calls of a bucket: failed, without an answer, cancelled or outdated, and answered; and their latencies.
#[derive(Clone, Default)]
struct StripBucket([usize; 4], Vec<f64>);

/// Draws the strip; empty without times.
pub(super) fn svg(facts: &Facts, incidents: &[Incident]) -> String {
    let (Some(from), Some(to)) = (facts.from, facts.to) else { return String::new() };
    if to <= from || facts.calls.iter().all(|call| call.time.is_none()) {
        return String::new();
    }
    let share = |time: f64| (time - from) / (to - from);
    let percent = |time: f64| format!("{:.2}%", (100.0 * share(time)).clamp(0.0, 100.0));
    let mut buckets = vec![StripBucket::default(); BUCKETS];
    for call in &facts.calls {
        let Some(time) = call.time else { continue };
        let bucket = &mut buckets[((share(time) * BUCKETS as f64) as usize).min(BUCKETS - 1)];
        bucket.0[match call.outcome {
            CallOutcome::Failed => 0,
            CallOutcome::Silent | CallOutcome::Open => 1,
            CallOutcome::Cancelled | CallOutcome::Outdated | CallOutcome::Unknown => 2,
            CallOutcome::Answered => 3,
        }] += 1;
        bucket.1.extend(call.seconds);
    }
    let label =
        format!("{} over time by outcome, with percentiles of their latencies", counted(facts.calls.len(), "call"));
    let mut svg = format!("<svg width=\"100%\" height=\"118\" role=\"img\" aria-label=\"{label}\">");
    for incident in incidents {
        let (left, right) = (share(incident.from.max(from)), share(incident.to.min(to)));
        let _ = write!(
            svg,
            "<rect class=\"incident\" x=\"{:.2}%\" width=\"{:.2}%\" height=\"102\"/>",
            100.0 * left,
            100.0 * (right - left)
        );
    }
    bars(&mut svg, &buckets);
    latencies(&mut svg, &mut buckets);
    for session in facts.sessions.iter().take(MAX_MARKS) {
        let Some((_, Some(time))) = session.begun else { continue };
        let _ = write!(svg, "<line class=\"begun\" x1=\"{0}\" x2=\"{0}\" y1=\"0\" y2=\"102\"/>", percent(time));
        if session.before.is_some() {
            let (anchor, x) = if share(time) > 0.85 { ("end", -4) } else { ("start", 4) };
            let server = xml(session.server.as_deref().unwrap_or(&session.label));
            let at = percent(time);
            let _ = write!(svg, "<text x=\"{at}\" dx=\"{x}\" y=\"11\" text-anchor=\"{anchor}\">⟲ {server}</text>");
        }
    }
    let are_dates = !facts.is_of_one_day();
    let most = if are_dates { MAX_DATED } else { MAX_CLOCKS };
    let step = STEPS.iter().map(|step| f64::from(*step)).find(|step| (to - from) / step <= most);
    let step = step.unwrap_or((to - from) / most);
    let mut time = (from / step).ceil() * step;
    while time <= to {
        // A text fits before the edge of a small screen.
        if share(time) < if are_dates && step < 86_400.0 { 0.8 } else { 0.9 } {
            let day = if are_dates { date(time)[5..].to_owned() } else { String::new() };
            let clock = if step < 86_400.0 { clock(time, step < 60.0) } else { String::new() };
            let text = format!("{day} {clock}");
            let text = text.trim();
            let _ = write!(svg, "<text x=\"{}\" y=\"{CLOCKS}\">{text}</text>", percent(time));
        }
        time += step;
    }
    format!("<div data-part=\"strip\" data-from=\"{from}\" data-to=\"{to}\">{svg}</svg></div>")
}

fn bars(svg: &mut String, buckets: &[StripBucket]) {
    let most = buckets.iter().map(|bucket| bucket.0.iter().sum::<usize>()).max().unwrap_or_default().max(1) as f64;
    let width = 100.0 / buckets.len() as f64;
    for (place, bucket) in buckets.iter().enumerate() {
        let mut bottom = BARS;
        for (count, class) in
            bucket.0.iter().zip(["failed", "silent", "cancelled", "ok"]).filter(|(count, _)| **count > 0)
        {
            // One failure among many calls stays visible.
            let least = if class == "ok" { 0.0 } else { 2.0 };
            let height = (*count as f64 / most * (BARS - 6.0)).max(least);
            bottom -= height;
            let _ = write!(
                svg,
                "<rect class=\"{class}\" x=\"{:.2}%\" width=\"{:.2}%\" y=\"{bottom:.1}\" height=\"{height:.1}\"/>",
                place as f64 * width,
                width * 0.9
            );
        }
    }
}

/// Draws the 50th and the 95th percentile of each bucket on a logarithmic scale.
fn latencies(svg: &mut String, buckets: &mut [StripBucket]) {
    buckets.iter_mut().for_each(|bucket| bucket.1.sort_by(f64::total_cmp));
    let ends = buckets.iter().filter_map(|bucket| Some((percentile(&bucket.1, 0.5)?, percentile(&bucket.1, 0.95)?)));
    let (least, most) = ends.fold((f64::MAX, 0.0_f64), |(least, most), (half, late)| (least.min(half), most.max(late)));
    if most <= 0.0 {
        return;
    }
    let (low, high) = (least.max(1e-6).log10().floor(), most.max(1e-6).log10().ceil());
    let (top, height) = LATENCIES;
    let y = |seconds: f64| height - (seconds.max(1e-6).log10() - low) / (high - low).max(1.0) * height;
    let at = top + y(10_f64.powf(high - 1.0));
    let label = duration(10_f64.powf(high - 1.0));
    let _ = write!(svg, "<line class=\"axis\" x1=\"0\" x2=\"100%\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>");
    let _ = write!(svg, "<text class=\"scale\" x=\"100%\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", at - 2.0);
    let _ = write!(
        svg,
        "<svg y=\"{top}\" width=\"100%\" height=\"{height}\" viewBox=\"0 0 {BUCKETS} {height}\" preserveAspectRatio=\"none\">"
    );
    for (class, at) in [("half", 0.5), ("most", 0.95)] {
        let mut path = String::new();
        let mut is_down = false;
        for (place, bucket) in buckets.iter().enumerate() {
            let Some(seconds) = percentile(&bucket.1, at) else {
                is_down = false;
                continue;
            };
            let step = if is_down { 'L' } else { 'M' };
            let _ = write!(path, "{step}{} {:.1}h1", place, y(seconds));
            is_down = true;
        }
        let _ = write!(svg, "<path class=\"{class}\" d=\"{path}\"/>");
    }
    svg.push_str("</svg>");
}
