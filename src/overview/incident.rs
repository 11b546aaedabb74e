//! Calls in buckets of time, and incidents: buckets in a row in which calls fail or take long more often than in the rest.

use std::cmp::Reverse;

use super::facts::{Call, CallOutcome, Facts};
use super::moment::{clock, date};

/// A bucket fails or is slow if it is this many times the rest.
pub(super) const TIMES: f64 = 3.0;
/// The least number of calls of an incident.
const MIN_CALLS: usize = 5;
/// The least excess of an incident's failures over the rest's rate, in standard deviations. Buckets are many, and some look
/// bad by chance.
const DEVIATIONS: f64 = 6.0;
/// Lengths of buckets in seconds that clocks divide into.
pub const STEPS: [u32; 25] = [
    1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 300, 600, 900, 1200, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200,
    86_400, 172_800, 604_800, 2_592_000,
];

/// Calls of a span of time.
#[derive(Debug, Clone, Default)]
pub struct Bucket {
    pub calls: usize,
    pub failed: usize,
    /// Calls that nothing answered, without those that the log's end may have cut off.
    pub silent: usize,
    /// Latencies of its calls, sorted.
    latencies: Vec<f64>,
}

impl Bucket {
    /// The 95th percentile of the latencies, by the nearest rank.
    pub fn p95(&self) -> Option<f64> {
        percentile(&self.latencies, 0.95)
    }

    /// The calls that failed or that nothing answered.
    fn bad(&self) -> usize {
        self.failed + self.silent
    }

    fn bad_rate(&self) -> f64 {
        self.bad() as f64 / self.calls.max(1) as f64
    }

    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.failed += other.failed;
        self.silent += other.silent;
        self.latencies.extend_from_slice(&other.latencies);
    }
}

/// A percentile by the nearest rank of sorted numbers.
pub fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// Buckets of equal length.
#[derive(Debug)]
pub struct Buckets {
    /// The time at which the first begins.
    pub start: f64,
    /// Their length, in seconds.
    pub step: f64,
    pub buckets: Vec<Bucket>,
}

impl Buckets {
    /// Sorts calls into at most `most` buckets, whose edges are round times; `None` if no call has a time.
    pub fn new(calls: &[Call], most: usize) -> Option<Self> {
        let times = || calls.iter().filter_map(Call::counted_at);
        let (first, last) = (times().reduce(f64::min)?, times().reduce(f64::max)?);
        let place = |step: f64, time: f64| (time / step).floor() - (first / step).floor();
        let step = STEPS.iter().map(|step| f64::from(*step)).find(|step| place(*step, last) < most as f64)?;
        let start = (first / step).floor() * step;
        let mut buckets = vec![Bucket::default(); place(step, last) as usize + 1];
        for call in calls {
            let bucket = call.counted_at().and_then(|time| buckets.get_mut(place(step, time) as usize));
            let Some(bucket) = bucket else { continue };
            bucket.calls += 1;
            bucket.failed += usize::from(call.outcome == CallOutcome::Failed);
            bucket.silent += usize::from(call.outcome == CallOutcome::Silent);
            bucket.latencies.extend(call.seconds);
        }
        buckets.iter_mut().for_each(|bucket| bucket.latencies.sort_by(f64::total_cmp));
        Some(Self { start, step, buckets })
    }

    /// Returns the incidents: those with the most failures first, and else with the most calls.
    pub fn incidents(&self) -> Vec<Incident> {
        // Begins with a rest of the faster half, without the buckets that have more than half of the worst one's failures, so
        // that a long incident does not hide itself.
        let worst = self.buckets.iter().map(Bucket::bad).max().unwrap_or_default();
        let mut slowness: Vec<f64> = self.buckets.iter().filter_map(Bucket::p95).collect();
        slowness.sort_by(f64::total_cmp);
        let median = percentile(&slowness, 0.5);
        let is_worse = |bucket: &Bucket| bucket.p95() > median || 2 * bucket.bad() > worst;
        let mut flagged: Vec<bool> = self.buckets.iter().map(is_worse).collect();
        for _ in 0..8 {
            let rest = self.sum(|place| !flagged[place]);
            let now: Vec<bool> = self.buckets.iter().map(|bucket| stands_out(bucket, &rest)).collect();
            if now == flagged {
                break;
            }
            flagged = now;
        }
        let (mut spans, mut place) = (Vec::new(), 0);
        while let Some(begin) = (place..flagged.len()).find(|place| flagged[*place]) {
            // A quiet bucket between two of an incident belongs to it.
            let mut end = begin;
            while (end + 1..flagged.len().min(end + 3)).any(|next| flagged[next]) {
                end += 1;
            }
            place = end + 1;
            spans.extend((end > begin).then_some(begin..place));
        }
        let mut spans: Vec<_> = spans.into_iter().map(|span| (self.sum(|place| span.contains(&place)), span)).collect();
        spans.sort_by_key(|(within, _)| Reverse((within.bad(), within.calls)));
        let (mut incidents, mut calm) = (Vec::new(), vec![true; flagged.len()]);
        for (within, span) in spans {
            // A worse incident does not hide this one.
            let rest = self.sum(|place| calm[place] && !span.contains(&place));
            let [from, to] = [span.start, span.end].map(|place| self.start + place as f64 * self.step);
            let incident = Incident { from, to, step: self.step, within, rest };
            let Incident { within, rest, .. } = &incident;
            if within.calls >= MIN_CALLS && rest.calls > 0 && (is_slow(within, rest) || incident.is_bad()) {
                incidents.push(incident);
                calm[span].fill(false);
            }
        }
        let rest = self.sum(|place| calm[place]);
        incidents.iter_mut().for_each(|incident| incident.rest.clone_from(&rest));
        incidents
    }

    fn sum(&self, takes: impl Fn(usize) -> bool) -> Bucket {
        let mut sum = Bucket::default();
        self.buckets.iter().enumerate().filter(|(place, _)| takes(*place)).for_each(|(_, bucket)| sum.add(bucket));
        sum.latencies.sort_by(f64::total_cmp);
        sum
    }
}

/// True if calls fail or are slow several times as often as in the rest.
fn stands_out(bucket: &Bucket, rest: &Bucket) -> bool {
    rest.calls > 0 && (is_slow(bucket, rest) || bucket.bad() > 1 && bucket.bad_rate() > TIMES * rest.bad_rate())
}

fn is_slow(bucket: &Bucket, rest: &Bucket) -> bool {
    rest.p95().is_some_and(|rest| bucket.latencies.len() >= 3 && bucket.p95() > Some(TIMES * rest))
}

/// The most serious thing that happens in an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncidentKind {
    Failing,
    /// Calls are never answered.
    Silent,
    Slow,
}

/// An incident: the sums of its buckets, and of the buckets outside all incidents.
#[derive(Debug)]
pub struct Incident {
    /// Its times, from the edge of a bucket to another.
    pub from: f64,
    pub to: f64,
    /// The length of a bucket, in seconds.
    pub step: f64,
    pub within: Bucket,
    pub rest: Bucket,
}

impl Incident {
    pub fn kind(&self) -> IncidentKind {
        match self.within.silent > self.within.failed {
            _ if !self.is_bad() => IncidentKind::Slow,
            true => IncidentKind::Silent,
            false => IncidentKind::Failing,
        }
    }

    /// True if calls fail several times as often as in the rest, and more than chance would make.
    fn is_bad(&self) -> bool {
        let Self { within, rest, .. } = self;
        let expected = rest.bad_rate() * within.calls as f64;
        let excess = within.bad() as f64 - expected;
        within.bad_rate() > TIMES * rest.bad_rate() && excess >= DEVIATIONS * expected.max(1.0).sqrt()
    }

    /// Formats its times, in a log of several days with the date.
    pub fn span(&self, facts: &Facts) -> String {
        let day = |time: f64| if facts.is_of_one_day() { String::new() } else { format!("{} ", &date(time)[5..]) };
        let ([from, to], last) = (self.clocks(), day(self.to));
        format!("{}{from}–{}{to}", day(self.from), if last == day(self.from) { "" } else { &last })
    }

    /// Its times, with seconds if one is not at a full minute.
    pub fn clocks(&self) -> [String; 2] {
        let edges = [self.from, self.to];
        let with_seconds = edges.iter().any(|edge| edge % 60.0 != 0.0);
        edges.map(|edge| clock(edge, with_seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(time: f64, seconds: f64, fails: bool) -> Call {
        let outcome = if fails { CallOutcome::Failed } else { CallOutcome::Answered };
        let (name, method) = ("m1".to_owned(), "m".to_owned());
        let (time, ended) = (Some(time), Some(time));
        Call { name, session: 0, time, method, tool: None, seconds: Some(seconds), ended, outcome }
    }

    fn incident(calls: &[Call]) -> Option<(f64, f64, usize)> {
        let incidents = Buckets::new(calls, 60).unwrap().incidents();
        let incident = incidents.first()?;
        Some((incident.from, incident.to, incident.within.failed))
    }

    #[test]
    fn an_incident_fails_more_often_or_is_slower_than_the_rest() {
        let all = |fails: &dyn Fn(u32) -> bool, seconds: &dyn Fn(u32) -> f64| -> Vec<Call> {
            (0..1200).map(|second| call(f64::from(second), seconds(second), fails(second))).collect()
        };
        let in_incident = |second: u32| (480..720).contains(&second);
        let failing = all(&|second| second % if in_incident(second) { 4 } else { 100 } == 0, &|_| 0.1);
        assert_eq!(incident(&failing), Some((480.0, 720.0, 60)));
        let slow = all(&|_| false, &|second| if in_incident(second) { 1.0 } else { 0.1 });
        assert_eq!(incident(&slow), Some((480.0, 720.0, 0)));
        let steady = all(&|second| second % 20 == 0, &|second| 0.1 + f64::from(second % 7) / 100.0);
        assert_eq!(incident(&steady), None);
        assert_eq!(incident(&all(&|_| true, &|_| 0.1)), None);
        // Also one that lasts for more than half of the log.
        let long = all(&|second| (480..1140).contains(&second), &|_| 0.1);
        assert_eq!(incident(&long), Some((480.0, 1140.0, 660)));
        // Failures that chance brings close together are none.
        let hash = |number: u32| {
            let number = (number ^ number >> 16).wrapping_mul(0x7feb_352d);
            (number ^ number >> 15).wrapping_mul(0x846c_a68b) >> 16
        };
        for seed in 0..40 {
            assert_eq!(incident(&all(&|second| hash(seed * 1200 + second) % 50 == 0, &|_| 0.1)), None, "{seed}");
        }
        // A burst in a single bucket of the usual length is found in shorter ones; a few failures close together are chance.
        let burst = all(&|second| (600..618).contains(&second), &|_| 0.1);
        assert_eq!(incident(&burst), None);
        let found = Buckets::new(&burst, 240).unwrap().incidents();
        assert_eq!((found[0].from, found[0].to, found[0].within.failed), (600.0, 620.0, 18));
        let close = all(&|second| second % 50 == 0 || second == 601 || second == 606, &|_| 0.1);
        assert!(Buckets::new(&close, 240).unwrap().incidents().is_empty());
    }
}
