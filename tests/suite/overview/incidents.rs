//! Incidents on the first screen, and their stories.

use super::{BAD, GOOD, gateway, steady};
use crate::cli::Place;

#[test]
fn an_incident_is_seen_and_said() {
    let mut place = Place::with("gateway.ndjson", gateway());
    place.set("COLUMNS", "80");
    let ran = place.run(&["gateway.ndjson"]);
    let text = ran.quietly().text();
    assert!(text.lines().all(|line| line.chars().count() <= 80) && text.lines().count() <= 40, "{text}");
    for said in [
        "gateway.ndjson · json-lines · 2,401 messages · 2026-03-02 14:00–14:19 UTC\n",
        "agent 1 → jira 2, MCP 2025-06-18\n",
        "        14:00          14:05          14:10          14:15",
        "\ncalls   ",
        "\nfailed                          ████████████ ",
        "╰14:08–14:12╯",
        "✗ 60 of 1,202 calls failed (5 %), 60 of them 14:08–14:12\n  14:08–14:12: 60 of 240 calls failed (25 %); p95 1.50 s, else 100 ms\n",
        "    60  pool exhausted after 480  find",
        "first m",
        "✗ 1 call was never answered until search restarted at 14:15:00 (m",
        ")\n     1  web  m",
        "✗ 2 calls were lost as search restarted at 14:15:00 (m",
        ")\n     2  web  first m",
        "  connection  calls  failed  no answer     p50     p95     max\n",
        "  two search    602                  3  100 ms  1.50 s  1.50 s  1 restart\n",
        "next: rpcgraph errors gateway.ndjson --since 14:08:00 --until 14:11:59\n",
    ] {
        assert!(text.contains(said), "{said} is missing in\n{text}");
    }
    // As data, it is the rows of its question.
    let ran = place.run(&["overview", "gateway.ndjson", "-t", "csv", "--quiet"]);
    assert!(
        ran.quietly().text().starts_with("part,what,count,seconds,first\r\nsessions,json-lines,"),
        "{}",
        ran.text()
    );
    let ran = place.run(&["overview", "gateway.ndjson", "--color", "always", "--method", "ping"]);
    assert_eq!(ran.status, Some(0));
    assert!(ran.stderr.contains("no message has the method \"ping\""), "{}", ran.stderr);
}

#[test]
fn the_story_of_an_incident_is_told() {
    let mut place = Place::with("gateway.ndjson", gateway());
    place.set("COLUMNS", "80");
    let ran = place.run(&["incident", "gateway.ndjson"]);
    let text = ran.quietly().text();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for said in [
        "\n✗ Incident 14:08:00–14:12:00 UTC (4 min 0 s)\n",
        "\n  14:08–14:12: 60 of 240 calls failed (25 %); p95 1.50 s, else 100 ms\n",
        "\nCauses\n    60  pool exhausted after 480  jira find  first m962 14:08:00\n",
        "\n   180  above the rest's p95 of 100 ms    1.50 s, slowest m965 14:08:02\n",
        "\n   120  late  search web  1.50 s, slowest ",
        "\nWhat changed\n  none that the log shows\n",
        "\n 1,199  answers with the time that they took    of 1,199 (100 %)\n",
        "\n     0  records that are not messages           of 2,401 (0 %)\n",
        "\n  rpcgraph errors gateway.ndjson --since 14:08:00 --until 14:11:59\n",
    ] {
        assert!(text.contains(said), "{said} is missing in\n{text}");
    }
    let ran = place.run(&["errors", "gateway.ndjson", "--since", "14:08:00", "--until", "14:11:59"]);
    assert!(ran.stderr.contains("60 rows"), "{}", ran.stderr);
    place.set("COLUMNS", "60");
    let ran = place.run(&["incident", "gateway.ndjson"]);
    let next = "  rpcgraph slowest gateway.ndjson --since 14:08:00 \\\n      --until 14:11:59\n";
    assert!(ran.text().ends_with(next), "{}", ran.text());
    let ran = place.run(&["incident", "gateway.ndjson", "-t", "markdown"]);
    assert!(ran.text().starts_with("## Incident 14:08:00–14:12:00 UTC (4 min 0 s)\n\n"), "{}", ran.text());
    assert!(ran.text().contains("\n### Causes\n\n- 60 · pool exhausted after 480 · jira find · "), "{}", ran.text());
    assert_eq!(place.run(&["incident", "gateway.ndjson", "--fail-if", "rows"]).status, Some(1));
}

#[test]
fn an_incident_of_slow_calls_is_no_incident_of_failures() {
    let log = steady(|id| Some((if (480..720).contains(&id) { 2.0 } else { 0.1 }, GOOD)));
    let mut place = Place::with("log.ndjson", log);
    place.set("COLUMNS", "80");
    let text = place.run(&["log.ndjson"]).text().to_owned();
    for said in [
        "· 0 of 1,199 calls failed\n✗ calls were slow 14:08–14:12: p95 2.00 s of ",
        " calls, else 100 ms\n",
        "next: rpcgraph slowest log.ndjson --since 14:08:00 --until 14:11:59\n",
    ] {
        assert!(text.contains(said), "{said} is missing in\n{text}");
    }
    let text = place.run(&["incident", "log.ndjson"]).text().to_owned();
    assert!(text.contains("\n  calls were slow 14:08–14:12: ") && !text.contains("rpcgraph errors"), "{text}");
}

#[test]
fn an_incident_of_silent_calls_is_said_in_words() {
    let log = steady(|id| (!(480..720).contains(&id) || id % 2 == 0).then_some((0.1, GOOD)));
    let mut place = Place::with("log.ndjson", log);
    place.set("COLUMNS", "80");
    let text = place.run(&["log.ndjson"]).text().to_owned();
    for said in [
        "✗ 120 calls were never answered 14:08–14:12\n",
        "\nsilent  ",
        "next: rpcgraph unanswered log.ndjson --since 14:08:00 --until 14:11:59\n",
    ] {
        assert!(text.contains(said), "{said} is missing in\n{text}");
    }
    let ran = place.run(&["unanswered", "log.ndjson", "--since", "14:08:00", "--until", "14:11:59"]);
    assert!(ran.stderr.contains("120 rows"), "{}", ran.stderr);
    let text = place.run(&["incident", "log.ndjson"]).text().to_owned();
    assert!(text.contains("\n  120 calls were never answered 14:08–14:12\n"), "{text}");
    assert!(text.contains("  rpcgraph unanswered log.ndjson --since 14:08:00 "), "{text}");
    // A server that hangs until the end of the log is one.
    place.put("hung.ndjson", steady(|id| (id < 1080).then_some((0.1, GOOD))));
    let text = place.run(&["hung.ndjson"]).text().to_owned();
    assert!(text.contains("✗ 120 calls were open as the log ended 14:18–14:20\n"), "{text}");
    assert!(text.contains("next: rpcgraph unanswered hung.ndjson --since 14:18:00 --until 14:19:59\n"), "{text}");
    // Calls whose answers the end of the log may have cut off do not make an incident.
    place.put("cut.ndjson", steady(|id| (id < 1100).then_some((60.0, GOOD))));
    let text = place.run(&["cut.ndjson"]).text().to_owned();
    assert!(text.contains("✗ 100 calls were open as the log ended\n") && !text.contains('╰'), "{text}");
}

/// Failures twice, a slow span and calls without an answer: the worst comes first, and decides what to run next.
#[test]
fn each_incident_is_marked_and_said() {
    let log = steady(|id| match id {
        120..160 | 600..720 => Some((0.1, BAD)),
        360..480 => Some((2.0, GOOD)),
        960..1000 => None,
        _ => Some((0.1, GOOD)),
    });
    let mut place = Place::with("log.ndjson", log);
    place.set("COLUMNS", "80");
    let text = place.run(&["log.ndjson"]).text().to_owned();
    for said in [
        "\n              ╰╯         ╰14:06–14:08╯╰14:10–14:12╯     ╰╯\n",
        "✗ 160 of 1,199 calls failed (13.3 %), 120 of them 14:10–14:12\n",
        "\n  14:10–14:12: 120 of 120 calls failed (100 %); p95 100 ms, else 100 ms\n",
        "✗ 14:02:00–14:02:40: 40 of 40 calls failed (100 %); p95 100 ms, else 100 ms\n",
        "✗ 14:16:00–14:16:40: 40 of 40 calls were never answered (100 %)\n· 1 more incident\n",
        "next: rpcgraph errors log.ndjson --since 14:10:00 --until 14:11:59\n",
    ] {
        assert!(text.contains(said), "{said} is missing in\n{text}");
    }
    let text = place.run(&["incident", "log.ndjson"]).text().to_owned();
    assert!(text.contains("✗ Incident 14:10:00–14:12:00 UTC ") && !text.contains("14:02"), "{text}");
    place.run(&["report", "log.ndjson", "-o", "page.html"]).quietly();
    let page = String::from_utf8(place.read("page.html")).unwrap();
    assert_eq!(page.matches("<rect class=\"incident\"").count(), 4);
}

/// The clock of a server that is behind leaves no latencies.
#[test]
fn an_incident_of_failures_needs_no_latencies() {
    let fails = |id| (480..720).contains(&id) && id % 4 == 0;
    let log = steady(|id| Some((0.0, if fails(id) { BAD } else { GOOD })));
    let untimed = |(number, line): (usize, &str)| match number >= 8 && line.contains("\"server\"") {
        true => format!("{{{}\n", line.split_once(',').expect("a member behind the time").1),
        false => format!("{line}\n"),
    };
    let mut place = Place::with("log.ndjson", log.lines().enumerate().map(untimed).collect::<String>());
    place.set("COLUMNS", "80");
    let text = place.run(&["log.ndjson"]).text().to_owned();
    assert!(text.contains("✗ 60 of 1,199 calls failed (5 %), 60 of them 14:08–14:12\n"), "{text}");
    assert!(!text.contains("p95"), "{text}");
    // Latencies of a few answers do not stand for the others.
    assert!(text.contains("· latencies are of 4 of 1,199 answers\n"), "{text}");
}

/// Where clocks differ, the rows and the incident have the corrected latencies.
#[test]
fn an_incident_between_clocks_that_differ() {
    let log = steady(|id| {
        Some((
            if id < 5 {
                0.0
            } else if (480..720).contains(&id) {
                -1.0
            } else {
                -2.9
            },
            GOOD,
        ))
    });
    let mut place = Place::with("log.ndjson", log);
    place.set("COLUMNS", "80");
    let text = place.run(&["log.ndjson"]).text().to_owned();
    let differ =
        "! 1,195 messages: answer before request by up to 2.90 s: clocks differ,\n  latencies are corrected, first ";
    for said in ["✗ calls were slow 14:08–14:12: p95 1.90 s of ", differ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
}
