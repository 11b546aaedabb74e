//! Latencies of programs whose clocks differ, as every question, table and span of them has them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::cli::Place;
use crate::tables::rows;

/// The time that the fastest answer takes, in milliseconds: latencies may be too small by as much.
const FASTEST: i64 = 4;

/// A log, and the true latencies of its calls of tools, in milliseconds.
#[derive(Default)]
struct Skewed {
    lines: Vec<(i64, String)>,
    latencies: Vec<i64>,
}

impl Skewed {
    /// Adds an exchange: asked at a time of the first clock by a side with an offset, and answered by one with another.
    fn exchange(&mut self, session: &str, (asked, took): (i64, i64), clocks: [(&str, i64); 2], call: [&str; 2]) {
        let [id, method] = call;
        let request = format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"{method}","params":{{"name":"sum"}}}}"#);
        let answer = format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"content":[]}}}}"#);
        for ((direction, clock), time, message) in [(clocks[0], asked, request), (clocks[1], asked + took, answer)] {
            let shown = 9 * 3_600_000 + time + clock;
            let (hours, minutes) = (shown / 3_600_000, shown / 60_000 % 60);
            let seconds = format!("{:02}.{:03}", shown / 1_000 % 60, shown % 1_000);
            let line = format!(
                r#"{{"ts":"2026-03-10T{hours:02}:{minutes:02}:{seconds}Z","session":"{session}","dir":"{direction}","msg":{message}}}"#
            );
            self.lines.push((time, line));
        }
    }

    /// Adds 200 calls of a tool by a client to a server with another clock, and requests of the server, if it sends some.
    fn session(mut self, name: &str, offset: i64, server_asks: bool) -> Self {
        for nth in 0..200 {
            let (at, took) = (10_000 + nth * 2_500, FASTEST + nth * 7_919 % 2_000);
            let (client, server) = (("c2s", 0), ("s2c", offset));
            if server_asks && nth % 3 == 0 {
                let took = FASTEST + nth * 31 % 400;
                self.exchange(name, (at - 1_000, took), [server, client], [&format!("s{nth}"), "ping"]);
            }
            self.exchange(name, (at, took), [client, server], [&nth.to_string(), "tools/call"]);
            self.latencies.push(took);
        }
        self
    }

    fn log(&mut self) -> String {
        self.lines.sort();
        self.latencies.sort_unstable();
        self.lines.iter().fold(String::new(), |mut log, (_, line)| {
            writeln!(log, "{line}").unwrap();
            log
        })
    }

    fn percentile(&self, share: usize) -> i64 {
        self.latencies[(self.latencies.len() * share).div_ceil(100) - 1]
    }
}

fn millis(seconds: &str) -> i64 {
    (seconds.parse::<f64>().unwrap() * 1_000.0).round() as i64
}

#[track_caller]
fn assert_near(found: i64, truth: i64) {
    assert!((truth - FASTEST..=truth).contains(&found), "{found} ms for {truth} ms");
}

#[test]
fn latencies_are_corrected_everywhere() {
    for mut skewed in [
        Skewed::default().session("a", -1_700, false),
        Skewed::default().session("a", -1_700, true),
        // The client's answers show that its clock is behind.
        Skewed::default().session("a", 1_700, true),
        // Few answers of the second server are early, again and again.
        Skewed::default().session("a", -1_700, false).session("b", -400, true),
        // Nothing shows that a clock is ahead, and a session of one clock stays as it is.
        Skewed::default().session("a", -1_700, false).session("b", 0, true),
    ] {
        let log = skewed.log();
        let mut by_time: Vec<_> = log.lines().collect();
        by_time.sort_unstable();
        let place = Place::with("log", &log);
        // As if the logs of the machines were merged by their times.
        place.put("merged.log", by_time.join("\n"));
        let all = skewed.latencies.len();
        let place_of = |log: &str, arguments: &[&str]| {
            let ran = place.run(&[arguments, &[log, "-t", "csv", "--quiet"]].concat());
            ran.text().lines().map(str::to_owned).collect::<Vec<_>>()
        };
        place.convert(&["log", "-t", "nquads", "-o", "graph.nq", "--quiet"]).quietly();
        let questions = [("tools", "tool", "sum,"), ("methods", "method", "tools/call,")];
        let logs = |row| ["log", "graph.nq", "merged.log"].map(|log| (row, log));
        for ((question, key, row), log) in questions.into_iter().flat_map(logs) {
            let found = place_of(log, &[question, "--columns", &format!("{key},count,timed,p50,p95,max")]);
            let cells = found.iter().find_map(|line| line.strip_prefix(row)).unwrap();
            let cells: Vec<_> = cells.split(',').collect();
            assert_eq!(cells[..2], [all.to_string(), all.to_string()], "{question}");
            assert_near(millis(cells[2]), skewed.percentile(50));
            assert_near(millis(cells[3]), skewed.percentile(95));
            assert_near(millis(cells[4]), skewed.percentile(100));
            // Also where the server asks.
            let pings = found.iter().find_map(|line| line.strip_prefix("ping,"));
            assert!(pings.is_none_or(|cells| cells.starts_with("67,67,")), "{log}: {pings:?}");
        }
        let slowest = place_of("log", &["slowest", "--columns", "seconds"]);
        slowest[1..]
            .iter()
            .zip(skewed.latencies.iter().rev())
            .for_each(|(seconds, truth)| assert_near(millis(seconds), *truth));
        assert_eq!(place_of("graph.nq", &["slowest", "--columns", "seconds"]), slowest);

        place.convert(&["log", "-t", "otlp", "-o", "spans.jsonl", "--quiet"]).quietly();
        let mut took: Vec<_> =
            String::from_utf8(place.read("spans.jsonl")).unwrap().lines().filter_map(duration).collect();
        took.sort_unstable();
        assert_eq!(took.len(), all);
        took.iter().zip(&skewed.latencies).for_each(|(took, truth)| assert_near(*took, *truth));

        place.convert(&["log", "-t", "parquet", "-o", "tables", "--quiet"]).quietly();
        let mut latencies = BTreeMap::new();
        for row in rows(&place.path("tables/messages.parquet")) {
            latencies.extend(row.get("latency_s").map(|seconds| (row["message_iri"].clone(), millis(seconds))));
        }
        for row in rows(&place.path("tables/latencies.parquet")) {
            latencies.insert(row["message_iri"].clone(), millis(&row["seconds"]));
        }
        let longest = latencies.values().max().unwrap();
        assert_near(*longest, skewed.percentile(100));
    }
}

/// One answer that is far earlier than all others shows that a clock was set: by how much clocks differ is then unknown.
#[test]
fn no_latency_rests_on_one_answer() {
    let mut skewed = Skewed::default().session("a", -1_700, false);
    skewed.exchange("a", (900_000, 10), [("c2s", 0), ("s2c", -3_600_000)], ["late", "tools/call"]);
    let place = Place::with("log", skewed.log());
    let said = "note: log: 170 answers have times before the request; clocks differ by 1 h 0 min or more, and latencies are \
                uncertain by as much\n";
    place.run(&["tools", "log"]).began(0, said);
}

/// The milliseconds of a span of a tool.
fn duration(span: &str) -> Option<i64> {
    let span: serde_json::Value = serde_json::from_str(span).unwrap();
    let span = &span["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    let nanos = |name: &str| span[name].as_str().unwrap().parse::<i64>().unwrap();
    (span["name"] == "tools/call sum").then(|| (nanos("endTimeUnixNano") - nanos("startTimeUnixNano")) / 1_000_000)
}
