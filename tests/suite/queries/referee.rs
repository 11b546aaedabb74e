//! The same questions, answered by going through the log with plain code.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use rpcgraph::query::catalogue::NamedQuery;
use serde_json::Value;

use super::{FOLDER, Log, rows, value};

#[path = "../../../benches/support/workload.rs"]
mod workload;

/// A log of two sessions with times and senders, in which both use the same ids, and one without.
pub fn logs(messages: u64) -> Vec<Log> {
    let generated = |seed| {
        let mut log = Vec::new();
        workload::write(&mut log, messages, seed).expect("a log");
        String::from_utf8(log).expect("text")
    };
    let (first, second) = (generated(workload::SEED), generated(workload::SEED + 1));
    let mut both = String::new();
    for (number, (one, two)) in first.lines().zip(second.lines()).enumerate() {
        for (session, line, more) in [("one", one, 0), ("two", two, 13)] {
            let milliseconds = number * 37 + number % 11 + more;
            let (minutes, milliseconds) = (milliseconds / 60_000, milliseconds % 60_000);
            let direction = if line.contains(r#""method":"tools/call""#) { "c2s" } else { "s2c" };
            both.push_str(&format!(
                "{{\"session_id\":\"{session}\",\"ts\":\"2026-01-05T{:02}:{:02}:{:02}.{:03}Z\",\
                 \"direction\":\"{direction}\",\"transport\":\"stdio\",\"raw\":{line}}}\n",
                10 + minutes / 60,
                minutes % 60,
                milliseconds / 1000,
                milliseconds % 1000
            ));
        }
    }
    vec![
        ("both.jsonl".to_owned(), both.into_bytes()),
        ("untimed.ndjson".to_owned(), generated(workload::SEED + 2).into_bytes()),
    ]
}

/// A message as the log has it.
struct Seen {
    iri: String,
    session: String,
    /// In milliseconds.
    time: Option<i64>,
    message: Value,
}

impl Seen {
    fn text(&self, pointer: &str) -> String {
        self.message.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// Its place in its log, whatever its session.
    fn order_in_log(&self) -> (String, usize) {
        let (log, number) = self.iri.rsplit_once("#m").expect("a record");
        (log.to_owned(), number.parse().expect("a number"))
    }

    fn order(&self) -> (String, usize) {
        let (_, number) = self.iri.rsplit_once("#m").expect("a record");
        (self.session.clone(), number.parse().expect("a number"))
    }
}

fn seen(logs: &[Log]) -> Vec<Seen> {
    let mut all = Vec::new();
    for (name, bytes) in logs {
        for (number, line) in std::str::from_utf8(bytes).expect("text").lines().enumerate() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let iri = format!("{FOLDER}{name}#m{}", number + 1);
            let (session, time, message) = match line.get("raw") {
                Some(raw) => {
                    let text = line["ts"].as_str().expect("a time");
                    let part = |range: Range<usize>| text[range].parse::<i64>().expect("a number");
                    let time = ((part(11..13) * 60 + part(14..16)) * 60 + part(17..19)) * 1000 + part(20..23);
                    (format!("#session-{}", line["session_id"].as_str().expect("a name")), Some(time), raw.clone())
                }
                None => (String::new(), None, line),
            };
            all.push(Seen { iri, session: format!("{FOLDER}{name}{session}"), time, message });
        }
    }
    all
}

/// A request and what answers it.
struct Exchange<'s> {
    request: &'s Seen,
    answer: Option<&'s Seen>,
}

impl Exchange<'_> {
    fn is_error(&self) -> bool {
        // Two codes of MCP are part of negotiation.
        let is_failure = |error: &Value| ![-32022, -32042].map(Value::from).contains(&error["code"]);
        self.answer.and_then(|answer| answer.message.get("error")).is_some_and(is_failure)
    }

    fn is_failure(&self) -> bool {
        self.is_error()
            || self.answer.is_some_and(|answer| answer.message.pointer("/result/isError") == Some(&Value::Bool(true)))
    }

    fn latency(&self) -> Option<i64> {
        Some(self.answer?.time? - self.request.time?)
    }
}

/// Ids are numbers here, and none is used twice in a session.
fn exchanges(seen: &[Seen]) -> Vec<Exchange<'_>> {
    let mut exchanges: Vec<Exchange<'_>> = Vec::new();
    let mut open = HashMap::new();
    for seen in seen {
        let Some(id) = seen.message.get("id").and_then(Value::as_u64) else { continue };
        let key = (seen.session.as_str(), id);
        match open.remove(&key) {
            Some(index) => {
                let exchange: &mut Exchange<'_> = &mut exchanges[index];
                exchange.answer = Some(seen);
            }
            None => {
                open.insert(key, exchanges.len());
                exchanges.push(Exchange { request: seen, answer: None });
            }
        }
    }
    exchanges.sort_by_key(|exchange| exchange.request.order());
    exchanges
}

/// Milliseconds as seconds, the way xsd:decimal writes them.
fn seconds(milliseconds: i64) -> String {
    decimal(milliseconds, 3)
}

fn decimal(number: i64, digits: usize) -> String {
    let scale = 10_i64.pow(digits.try_into().expect("few"));
    let text = format!("{}.{:0digits$}", number / scale, number % scale);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The rows of the query, in these columns.
fn found(name: &str, columns: &[&str], parameters: &[(&str, &str)], logs: &[Log]) -> Vec<Vec<String>> {
    let rows = rows(NamedQuery::find(name).expect(name), parameters, logs);
    let indexes: Vec<_> = columns.iter().map(|column| rows.index(column).expect(column)).collect();
    rows.rows.iter().map(|row| indexes.iter().map(|index| value(&row[*index]).to_owned()).collect()).collect()
}

/// Counts and latencies by method or tool.
fn statistics<'e>(
    exchanges: &'e [Exchange<'e>],
    key: &str,
    errors: bool,
    columns: &mut Vec<&'static str>,
) -> Vec<Vec<String>> {
    columns.extend(["count", "failures", "noAnswer", "timed", "min", "mean", "p50", "p95", "p99", "max"]);
    if errors {
        columns.push("errors");
    }
    let mut groups: BTreeMap<String, Vec<&Exchange<'_>>> = BTreeMap::new();
    for exchange in exchanges {
        groups.entry(exchange.request.text(key)).or_default().push(exchange);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.len()));
    let row = |(name, group): (String, Vec<&Exchange<'_>>)| {
        let count = |is: &dyn Fn(&Exchange<'_>) -> bool| group.iter().filter(|exchange| is(exchange)).count();
        let mut latencies: Vec<_> = group.iter().filter_map(|exchange| exchange.latency()).collect();
        latencies.sort_unstable();
        let many = i64::try_from(latencies.len()).expect("few");
        // The nearest rank, and half a microsecond upwards.
        let rank = |percent: usize| latencies[(latencies.len() * percent).div_ceil(100) - 1];
        let mean = (2 * latencies.iter().sum::<i64>() * 1000 + many) / (2 * many);
        let mut row = vec![
            name,
            count(&|_| true).to_string(),
            count(&|exchange| exchange.is_failure()).to_string(),
            count(&|exchange| exchange.answer.is_none()).to_string(),
            latencies.len().to_string(),
            seconds(latencies[0]),
            decimal(mean, 6),
            seconds(rank(50)),
            seconds(rank(95)),
            seconds(rank(99)),
            seconds(latencies[latencies.len() - 1]),
        ];
        if errors {
            row.push(count(&|exchange| exchange.is_error()).to_string());
        }
        row
    };
    groups.into_iter().map(row).collect()
}

#[test]
fn methods_and_tools() {
    let logs = logs(4_000);
    let seen = seen(&logs);
    let exchanges = exchanges(&seen);
    for (name, column, key) in [("methods", "method", "/method"), ("tools", "tool", "/params/name")] {
        let mut columns = vec![column];
        let expected = statistics(&exchanges, key, name == "tools", &mut columns);
        let mut found = found(name, &columns, &[], &logs);
        // Methods of notifications alone.
        found.retain(|row| row[1] != "0");
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn errors_failures_and_silence() {
    let logs = logs(4_000);
    let seen = seen(&logs);
    let exchanges = exchanges(&seen);

    let mut answered: Vec<_> = exchanges.iter().filter(|exchange| exchange.is_failure()).collect();
    answered.sort_by_key(|exchange| exchange.answer.map(Seen::order_in_log));
    let errors: Vec<_> = answered
        .iter()
        .filter_map(|exchange| {
            let answer = exchange.answer?;
            let latency = exchange.latency();
            let is_error = exchange.is_error();
            let code = answer.message.pointer("/error/code").map(Value::to_string).unwrap_or_default();
            Some(vec![
                answer.iri.clone(),
                answer.session.clone(),
                exchange.request.iri.clone(),
                exchange.request.text("/method"),
                code,
                if is_error { answer.text("/error/message") } else { String::new() },
                if is_error { "error" } else { "tool" }.to_owned(),
                latency.map(seconds).unwrap_or_default(),
            ])
        })
        .collect();
    assert!(errors.len() > 100);
    let columns = ["message", "session", "request", "method", "code", "error", "failure", "seconds"];
    let mut found_errors = found("errors", &columns, &[], &logs);
    // The error of a tool is its result.
    found_errors.iter_mut().filter(|row| row[6] == "tool").for_each(|row| row[5].clear());
    assert_eq!(found_errors, errors);

    let mut silent: Vec<_> = exchanges.iter().filter(|exchange| exchange.answer.is_none()).collect();
    silent.sort_by_key(|exchange| exchange.request.order_in_log());
    let unanswered: Vec<_> = silent
        .iter()
        .map(|Exchange { request, .. }| {
            let tool = request.text("/params/name");
            vec![request.iri.clone(), request.session.clone(), tool, request.message["id"].to_string()]
        })
        .collect();
    assert!(unanswered.len() > 100);
    assert_eq!(found("unanswered", &["message", "session", "tool", "id"], &[], &logs), unanswered);

    let failed: Vec<_> = exchanges
        .iter()
        .filter_map(|exchange| {
            let answer = exchange.answer?;
            let kind = match (exchange.is_error(), exchange.is_failure()) {
                (true, _) => "ErrorResponse",
                (_, true) => "Response",
                _ => return None,
            };
            Some(vec![
                exchange.request.iri.clone(),
                exchange.request.text("/params/name"),
                answer.iri.clone(),
                kind.into(),
            ])
        })
        .collect();
    assert!(failed.iter().any(|row| row[3] == "Response"));
    assert_eq!(found("tool-failures", &["request", "tool", "answer", "kind"], &[], &logs), failed);
}

#[test]
fn the_slowest_and_the_biggest() {
    let logs = logs(4_000);
    let seen = seen(&logs);
    let exchanges = exchanges(&seen);
    let mut slowest: Vec<_> =
        exchanges.iter().filter_map(|exchange| Some((exchange.latency()?, exchange.request.iri.clone()))).collect();
    slowest.sort_by(|one, two| two.0.cmp(&one.0).then_with(|| one.1.cmp(&two.1)));
    let slowest: Vec<_> = slowest.into_iter().map(|(latency, iri)| vec![iri, seconds(latency)]).collect();
    let all = [("limit", "1000000")];
    assert_eq!(found("slowest", &["request", "seconds"], &all, &logs), slowest);

    let payload = |seen: &Seen| -> Option<usize> {
        ["/params", "/result", "/error/data"].iter().find_map(|pointer| Some(size(seen.message.pointer(pointer)?)))
    };
    let mut biggest: Vec<_> = seen.iter().filter_map(|seen| Some((payload(seen)?, seen.iri.clone()))).collect();
    biggest.sort_by(|one, two| two.0.cmp(&one.0).then_with(|| one.1.cmp(&two.1)));
    let biggest: Vec<_> = biggest.into_iter().map(|(size, iri)| vec![iri, size.to_string()]).collect();
    assert_eq!(found("biggest", &["message", "size"], &all, &logs), biggest);
}

/// The characters of a value as canonical JSON, which does not depend on the order of members.
fn size(value: &Value) -> usize {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| name.len() + 3 + size(value));
            1 + members.map(|size| size + 1).sum::<usize>().max(1)
        }
        Value::Array(items) => 1 + items.iter().map(|item| size(item) + 1).sum::<usize>().max(1),
        // 12.0 is 12.
        Value::Number(number) => number.to_string().trim_end_matches(".0").len(),
        other => other.to_string().chars().count(),
    }
}
