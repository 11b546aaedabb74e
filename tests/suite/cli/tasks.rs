//! What an engineer wants of a log, one command each; plain code says what has to come out.

use serde_json::Value;

use super::Place;
use crate::support::own;

/// The number of a record, its time, whether the client sent it, and its message.
type Seen = (usize, String, bool, Value);

fn place() -> (Place, Vec<Seen>) {
    let log = std::fs::read_to_string(own("tests/queries/mcp.jsonl")).unwrap();
    let seen = (1..).zip(log.lines()).filter_map(|(number, line)| {
        let line: Value = serde_json::from_str(line).ok()?;
        let message = line["raw"].as_object()?;
        let (time, direction) = (line["ts"].as_str()?.to_owned(), line["direction"] == "c2s");
        Some((number, time, direction, Value::Object(message.clone())))
    });
    let seen: Vec<_> = seen.collect();
    assert!(seen.len() > 30);
    (Place::with("mcp.jsonl", log), seen)
}

/// The numbers of the records that a question finds, batches left out.
fn found(place: &Place, arguments: &[&str]) -> Vec<usize> {
    let ran = place.run(&[arguments, &["mcp.jsonl", "-t", "csv", "--quiet"]].concat());
    let numbers = ran.quietly().text().lines().skip(1).filter_map(|row| {
        let name = row.split(',').next()?.rsplit_once("#m")?.1;
        name.parse().ok()
    });
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_unstable();
    numbers
}

fn expected(seen: &[Seen], choose: impl Fn(&Seen) -> bool) -> Vec<usize> {
    let chosen: Vec<_> = seen.iter().filter(|seen| choose(seen)).map(|seen| seen.0).collect();
    assert!(!chosen.is_empty());
    chosen
}

#[test]
fn messages_are_found() {
    let (place, seen) = place();
    let is = |seen: &Seen, method: &str| seen.3["method"] == method;
    // What failed.
    assert_eq!(found(&place, &["errors"]), expected(&seen, |seen| seen.3.get("error").is_some()));
    // Calls by the value of an argument.
    let city = |seen: &Seen| is(seen, "tools/call") && seen.3["params"]["arguments"]["city"] == "Uppsala";
    let calls = found(&place, &["timeline", "--kind", "request", "--contains", "\"city\":\"Uppsala\""]);
    assert_eq!(calls, expected(&seen, city));
    // What the client sent before the first error of a tool.
    let before = expected(&seen, |seen| seen.2 && seen.1.trim_end_matches('Z') <= "2026-01-05T10:00:04.01");
    let rows = found(&place, &["timeline", "--sender", "client", "--until", "2026-01-05T10:00:04.01Z"]);
    assert_eq!(rows, before);
    // One method, one tool, one id.
    assert_eq!(
        found(&place, &["timeline", "--method", "notifications/*"]),
        expected(&seen, |seen| seen.3["method"].as_str().is_some_and(|method| method.starts_with("notifications/")))
    );
    assert_eq!(
        found(&place, &["timeline", "--kind", "request", "--tool", "radar"]),
        expected(&seen, |seen| is(seen, "tools/call") && seen.3["params"]["name"] == "radar")
    );
    assert_eq!(found(&place, &["timeline", "--id", "3"]), expected(&seen, |seen| seen.3["id"] == 3));
    // The last five seconds.
    let last = expected(&seen, |seen| seen.1.as_str() >= "2026-01-05T10:00:16");
    assert_eq!(found(&place, &["timeline", "--since", "5s", "--kind", "*e[q]*"]), Vec::<usize>::new());
    let rows = found(&place, &["timeline", "--since", "5s"]);
    assert!(last.iter().all(|number| rows.contains(number)), "{rows:?}");
}

#[test]
fn messages_are_shown() {
    let (place, seen) = place();
    // One payload, indented; the same JSON all the same.
    let ran = place.run(&["show", "mcp.jsonl", "m8", "-t", "messages"]);
    let (request, answer) = ran.quietly().text().split_once('\n').unwrap();
    let raw = |number: usize| seen.iter().find(|seen| seen.0 == number).map(|seen| seen.3.clone()).unwrap();
    assert_eq!(serde_json::from_str::<Value>(request).unwrap(), raw(8));
    assert_eq!(serde_json::from_str::<Value>(answer).unwrap(), raw(11));
    let pretty = place.run(&["show", "mcp.jsonl", "m1", "-t", "json"]);
    let values: Vec<Value> =
        serde_json::Deserializer::from_str(pretty.text()).into_iter().map(Result::unwrap).collect();
    assert_eq!(values, [raw(1), raw(2)]);
    // Where it is, and the message that a line has.
    assert!(place.run(&["show", "mcp.jsonl", "m7"]).text().contains("\nm7 · line 7, "));
    assert_eq!(place.run(&["show", "mcp.jsonl:7"]).stdout, place.run(&["show", "mcp.jsonl", "m7"]).stdout);
    // With an id, of whatever session.
    let ran = place.run(&["show", "mcp.jsonl", "--id", "3", "-t", "messages"]);
    let ids = expected(&seen, |seen| seen.3["id"] == 3);
    assert_eq!(ran.text().lines().count(), ids.len());
}

#[test]
fn messages_are_counted() {
    let (place, seen) = place();
    let rows = place.run(&["methods", "mcp.jsonl", "--method", "sampling/*", "-t", "jsonl", "--quiet"]);
    let row: Value = serde_json::from_str(rows.text()).unwrap();
    let count = expected(&seen, |seen| seen.3["method"] == "sampling/createMessage").len();
    assert_eq!((&row["count"], &row["p95"]), (&Value::from(count), &Value::from(2)));
    let tools = place.run(&["tools", "mcp.jsonl", "--tool", "forecast", "-t", "jsonl", "--quiet"]);
    let row: Value = serde_json::from_str(tools.text()).unwrap();
    // One of them in a batch.
    let called = expected(&seen, |seen| seen.3["params"]["name"] == "forecast").len();
    assert!(row["count"].as_u64().unwrap() as usize >= called, "{row}");
}
