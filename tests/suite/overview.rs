//! The first screen: what it says of logs, and how it fits a terminal.

use crate::cli::{LOG, Place};

fn line(second: f64, session: &str, sender: &str, message: &str) -> (f64, String) {
    let (minutes, seconds) = ((second / 60.0).floor(), second % 60.0);
    let text = format!(
        "{{\"time\":\"2026-03-02T14:{minutes:02}:{seconds:06.3}Z\",\"session\":\"{session}\",\"sender\":\"{sender}\",\"message\":{message}}}\n"
    );
    (second, text)
}

/// Twenty minutes of calls of two connections, one each second. From 14:08 to 14:12 a quarter of them fail, and all are slow. At
/// 14:15 one server begins anew, and two calls are lost; a call of 14:01 is never answered.
fn gateway() -> String {
    let mut lines = Vec::new();
    let call = |id: u32, tool: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}}}}}"#)
    };
    let mut begin = |second: f64, session: &str, server: &str| {
        let asks = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"agent","version":"1"}}}"#;
        let answers = format!(
            r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"2025-06-18","capabilities":{{}},"serverInfo":{{"name":"{server}","version":"2"}}}}}}"#
        );
        lines.push(line(second, session, "client", asks));
        lines.push(line(second + 0.1, session, "server", &answers));
    };
    begin(0.0, "one", "jira");
    begin(0.5, "two", "search");
    begin(900.2, "two", "search");
    for second in 1..1200 {
        let (session, tool) = if second % 2 == 0 { ("one", "find") } else { ("two", "web") };
        let start = f64::from(second);
        let in_incident = (480..720).contains(&second);
        lines.push(line(start, session, "client", &call(second, tool)));
        if second == 61 || second == 897 || second == 899 {
            continue;
        }
        let answer = match in_incident && second % 4 == 0 {
            true => format!(
                r#"{{"jsonrpc":"2.0","id":{second},"result":{{"content":[{{"type":"text","text":"pool exhausted after {second}"}}],"isError":true}}}}"#
            ),
            false => format!(r#"{{"jsonrpc":"2.0","id":{second},"result":{{"content":[]}}}}"#),
        };
        lines.push(line(start + if in_incident { 1.5 } else { 0.1 }, session, "server", &answer));
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    lines.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn an_incident_is_seen_and_said() {
    let mut place = Place::with("gateway.ndjson", gateway());
    place.set("COLUMNS", "80");
    let ran = place.run(&["gateway.ndjson"]);
    let text = ran.quietly().text();
    assert!(text.lines().all(|line| line.chars().count() <= 80) && text.lines().count() <= 40, "{text}");
    for said in [
        "gateway.ndjson · json-lines · 2,401 messages\n2026-03-02 14:00–14:19 UTC (19 min 59 s)\n",
        "agent 1 → jira 2, MCP 2025-06-18\n",
        "        14:00          14:05          14:10          14:15",
        "\ncalls   ",
        "\nfailed                          ████████████ ",
        "╰14:08–14:12╯",
        "✗ 60 of 1,202 calls failed (5 %), 60 of them 14:08–14:12\n  14:08–14:12: 60 of 240 calls failed (25 %); p95 1.50 s, else 100 ms\n",
        "    60  pool exhausted after 480  find",
        "first m",
        "✗ 3 calls were never answered, 2 lost as search restarted at 14:15:00 (m",
        ")\n     3  web  first m",
        "  connection  calls  failed  no answer     p50     p95     max\n",
        "  two search    602                  3  100 ms  1.50 s  1.50 s  1 restart\n",
        "next: rpcgraph errors gateway.ndjson --since 14:08 --until 14:12\n",
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

/// A log that was read by half does not look like a log without failures, and nothing of a log is invented.
#[test]
fn what_was_not_read_is_said_first() {
    let place = Place::with("log", format!("{LOG}{{\"jsonrpc\":\"2.0\",\"id\":7,\nworse\n"));
    let ran = place.run(&["log"]);
    let text = ran.text();
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    let place_of = |said: &str| text.find(said).unwrap_or_else(|| panic!("{said} is missing in\n{text}"));
    assert!(place_of("! 2 of 7 lines are not JSON\n") < place_of("✗ 1 of 2 calls failed (50 %)\n"));
    assert!(text.contains("     1  -32601 Method not found  no  first m4\n"), "{text}");
    assert!(!text.contains("MalformedRecord") && !text.contains("p95"), "{text}");
    place.put("other", LOG.lines().take(2).collect::<Vec<_>>().join("\n"));
    let ran = place.run(&["log", "other"]);
    assert!(
        ran.text().starts_with("2 logs · json-lines · 7 messages\n") && ran.text().contains("first log#m4"),
        "{}",
        ran.text()
    );
    place.put("good", LOG.lines().take(2).collect::<Vec<_>>().join("\n"));
    assert!(place.run(&["good"]).text().contains("· 0 of 1 call failed\n"));
}
