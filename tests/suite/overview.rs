//! The first screen: what it says of logs, and how it fits a terminal.

use crate::cli::{LOG, Place};

mod incidents;

fn line(second: f64, session: &str, sender: &str, message: &str) -> (f64, String) {
    let (minutes, seconds) = ((second / 60.0).floor(), second % 60.0);
    let text = format!(
        "{{\"time\":\"2026-03-02T14:{minutes:02}:{seconds:06.3}Z\",\"session\":\"{session}\",\"sender\":\"{sender}\",\"message\":{message}}}\n"
    );
    (second, text)
}

/// Twenty minutes of calls of two connections, one each second. From 14:08 to 14:12 a quarter of them fail, and all are slow. At
/// 14:15 one server begins anew, and two calls are lost; a call of 14:01 is never answered.
pub fn gateway() -> String {
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

const GOOD: &str = r#""result":{}"#;
const BAD: &str = r#""error":{"code":-32603,"message":"boom"}"#;

/// Calls of one connection, one each second for twenty minutes: the time and the text of the answer, if there is one.
fn steady(answer: impl Fn(u32) -> Option<(f64, &'static str)>) -> String {
    let mut lines = Vec::new();
    for id in 1..1200 {
        let call = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t"}}}}"#);
        lines.push(line(f64::from(id), "one", "client", &call));
        if let Some((seconds, result)) = answer(id) {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},{result}}}"#);
            // The lines are in the order of the messages, whatever the clock says.
            lines.push((f64::from(id) + seconds.max(0.0), line(f64::from(id) + seconds, "one", "server", &text).1));
        }
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    lines.into_iter().map(|(_, text)| text).collect()
}

/// Times without a date go on after midnight.
#[test]
fn a_log_of_times_of_day_passes_midnight() {
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"c","version":"1"}}}"#;
    let ping = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let answer = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    let lines = [
        ("23:59:50.000", "-->", hello.to_owned()),
        ("23:59:50.100", "<--", answer(0)),
        ("23:59:51.000", "-->", ping(1)),
        ("00:00:20.000", "-->", ping(2)),
        ("00:00:20.100", "<--", answer(2)),
        ("00:00:30.000", "-->", hello.to_owned()),
    ];
    let all = lines.map(|(time, arrow, message)| format!("{time} [s] {arrow} {message}\n"));
    let place = Place::with("log", all[..5].concat());
    let text = place.run(&["log"]).text().to_owned();
    assert!(text.contains(" · 23:59:50–00:00:20, no date (30.1 s)\n"), "{text}");
    assert!(text.contains("     1  ping  m3 23:59:51  waited 29.1 s\n"), "{text}");
    let ran = place.run(&["timeline", "log", "--relative", "--columns", "time", "-t", "csv", "--quiet"]);
    assert_eq!(ran.text(), "time\r\n0\r\n0.1\r\n1\r\n30\r\n30.1\r\n");
    place.put("restarted", all.concat());
    let ran = place.run(&["unanswered", "restarted", "--columns", "waited,until", "-t", "csv", "--quiet"]);
    assert_eq!(ran.text(), "waited,until\r\n39,restart\r\n,end\r\n");
}

/// An error that answers no request of the log was not necessarily carried by HTTP.
#[test]
fn an_error_without_its_request_has_no_invented_place() {
    let error = |id: u32| line(f64::from(id), "one", "server", &format!(r#"{{"jsonrpc":"2.0","id":{id},{BAD}}}"#)).1;
    let place = Place::with("log.ndjson", (1..9).map(error).collect::<String>());
    let text = place.run(&["log.ndjson"]).text().to_owned();
    assert!(text.contains("     8  -32603 boom  unknown request  first m1 14:00:01\n"), "{text}");
}

/// The command that the overview advises lists as many failures as its sentence counts, whatever the calls took.
#[test]
fn the_advised_command_has_the_failures_of_the_sentence() {
    let fails = |id| (478..722).contains(&id) && id % 2 == 0;
    let place = Place::with(
        "log.ndjson",
        steady(|id| Some((if fails(id) { 4.0 } else { 0.1 }, if fails(id) { BAD } else { GOOD }))),
    );
    let text = place.run(&["log.ndjson"]).text().to_owned();
    let next = text.lines().find_map(|line| line.strip_prefix("next: rpcgraph ")).expect("a command");
    let count = text.split(" calls failed (10.2 %), ").nth(1).and_then(|rest| rest.split(' ').next()).expect(&text);
    let ran = place.run(&next.split(' ').collect::<Vec<_>>());
    assert!(ran.stderr.contains(&format!("{count} rows")), "{}\n{text}", ran.stderr);
}

/// The commands that a screen names read the log as the screen did.
#[test]
fn the_advised_commands_repeat_how_the_log_is_read() {
    let mut place = Place::with("gateway.ndjson", gateway());
    place.set("COLUMNS", "80");
    let ran = place.run(&["gateway.ndjson", "--server", "jira", "--since", "14:01"]);
    let next = "next: rpcgraph errors gateway.ndjson --server jira --since 14:08:00 \\\n      --until 14:11:59\n";
    assert!(ran.text().ends_with(next), "{}", ran.text());
    let line = |line: &str| format!("x {line}\n");
    place.put("it's.log", LOG.lines().map(line).collect::<String>());
    let ran = place.run(&["--line", "^x (?<message>.*)", "./it's.log"]);
    let next = r"next: rpcgraph show './it'\''s.log' m4 --line '^x (?<message>.*)'";
    assert!(ran.text().ends_with(&format!("{next}\n")), "{}", ran.text());
    // Globs are quoted.
    let ran = place.run(&["incident", "gateway.ndjson", "--method", "tools/*", "-t", "csv", "--quiet"]);
    let next = "next,rpcgraph slowest gateway.ndjson --method 'tools/*' --since 14:08:00 --until 14:11:59,";
    assert!(ran.text().contains(next), "{}", ran.text());
}

/// Long names are cut in their middle: what stands behind them is there.
#[test]
fn long_names_do_not_hide_what_is_behind_them() {
    let long = "very-long-name-".repeat(10);
    let hello = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"2025-06-18","clientInfo":{{"name":"{long}","version":"1"}}}}}}"#
    );
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"jira","version":"2"}}}"#;
    let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{long}"}}}}"#);
    let lines = [("client", hello.as_str()), ("server", answer), ("client", &call)];
    let lines = (0..).zip(lines).map(|(second, (sender, text))| line(f64::from(second), "one", sender, text).1);
    let mut place = Place::with("log.ndjson", lines.collect::<String>());
    place.set("COLUMNS", "80");
    let text = place.run(&["log.ndjson"]).text().to_owned();
    for said in [" → jira 2, MCP 2025-06-18\n", "  m3 14:00:02  waited 0 s\n"] {
        assert!(text.contains(said), "{said} is missing in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// Failures that differ in numbers are one difference between logs.
#[test]
fn failures_that_differ_in_numbers_are_compared_as_one() {
    let log = |first: u32, count: u32| {
        let call = |id: u32| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"find\"}}\n");
        let error = |id: u32| format!("\"error\":{{\"code\":-1,\"message\":\"exhausted after {id} ms\"}}");
        let ids = first..first + count;
        ids.map(|id| format!("{}{{\"jsonrpc\":\"2.0\",\"id\":{id},{}}}\n", call(id), error(id))).collect::<String>()
    };
    let place = Place::with("a", log(1, 2));
    place.put("b", log(7, 3));
    let ran = place.run(&["compare", "a", "b", "-t", "csv", "--quiet"]);
    let outcomes: Vec<_> = ran.text().lines().filter(|line| line.starts_with("outcomes,")).collect();
    assert_eq!(outcomes, ["outcomes,find: -1 exhausted after … ms,2,3,"]);
}

/// A time of day would choose the calls of each day.
#[test]
fn an_incident_past_midnight_is_chosen_by_its_dates() {
    let late = gateway().replace("2026-03-02T14:0", "2026-03-02T23:5").replace("2026-03-02T14:1", "2026-03-03T00:0");
    let mut place = Place::with("gateway.ndjson", late);
    let ran = place.run(&["gateway.ndjson"]);
    let next = "next: rpcgraph errors gateway.ndjson --since 2026-03-02T23:58:00Z";
    let until = "--until 2026-03-03T00:01:59.999Z\n";
    assert!(ran.text().ends_with(&format!("{next} {until}")), "{}", ran.text());
    place.set("COLUMNS", "80");
    let ran = place.run(&["gateway.ndjson"]);
    assert!(ran.text().ends_with(&format!("{next} \\\n      {until}")), "{}", ran.text());
}

/// Only a graph that somebody wrote has such a session.
#[test]
fn a_session_that_restarts_itself_ends_the_walk() {
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"a","version":"1"}}}"#;
    let place = Place::with("log", format!("{hello}\n{hello}\n"));
    let graph = place.run(&["convert", "log", "-t", "ntriples", "--base", "urn:log"]).text().to_owned();
    let restart = |message: &str| format!("<urn:log> <https://w3id.org/rpcgraph#restartedBy> <urn:log#{message}> .");
    assert!(graph.contains(&restart("m2")), "{graph}");
    place.put("circle.nt", graph.replace(&restart("m2"), &restart("m1")));
    place.run(&["circle.nt"]).began(0, "");
}

/// Changes near the onset: a server that restarts, a tool that is called for the first time, and another version of
/// the server than in the log before.
#[test]
fn the_story_of_an_incident_has_what_changed() {
    let place = Place::with("old", gateway());
    let restarted = gateway().replace("T14:15:00.", "T14:07:45.").replace("\"version\":\"2\"", "\"version\":\"3\"");
    let other = restarted.lines().map(|line| match line.contains("T14:07:5") {
        true => line.replace("\"find\"", "\"delete\"") + "\n",
        false => line.to_owned() + "\n",
    });
    place.put("new", other.collect::<String>());
    let rows = ["--columns", "part,what,server,call,message", "-t", "csv", "--quiet"];
    let ran = place.run(&[&["incident", "new", "--before", "old"], &rows[..]].concat());
    let changes: Vec<_> = ran.text().lines().filter(|line| line.starts_with("change,")).map(str::to_owned).collect();
    for said in [
        "change,restarted,search,,m",
        "change,called for the first time,jira,delete,m",
        "change,since the log before: server version: 2 → 3,,,",
    ] {
        assert!(changes.iter().any(|line| line.starts_with(said)), "{said} is missing in {changes:?}");
    }
    assert!(ran.text().contains("next,rpcgraph compare old new,"), "{}", ran.text());
    place.run(&["incident", "new", "--sort", "count"]).began(2, "error: an incident takes neither --sort");
}

/// A server that is deployed anew has other tools and another version after its restart.
#[test]
fn the_story_of_an_incident_has_what_a_restart_changed() {
    let restarted = gateway().replace("T14:15:00.", "T14:07:45.");
    let mut lines: Vec<_> = restarted.lines().map(|line| format!("{line}\n")).collect();
    for line in lines.iter_mut().filter(|line| line.contains("T14:07:45.")) {
        *line = line.replace("\"version\":\"2\"", "\"version\":\"3\"");
    }
    let mut list = |second: f64, id: u32, tools: &str| {
        let asks = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
        let answers = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":{tools}}}}}"#);
        lines.push(line(second, "two", "client", &asks).1);
        lines.push(line(second + 0.01, "two", "server", &answers).1);
    };
    let tool = |name: &str, text: &str| {
        format!(r#"{{"name":"{name}","description":"{text}","inputSchema":{{"type":"object"}}}}"#)
    };
    list(0.75, 9001, &format!("[{},{}]", tool("web", "Searches."), tool("map", "Draws.")));
    let after = [tool("web", "Searches all."), tool("map", "Draws."), tool("news", "Reads.")];
    list(465.5, 9002, &format!("[{}]", after.join(",")));
    lines.sort();
    let place = Place::with("log", lines.concat());
    let rows = ["--columns", "part,what,server,call", "-t", "csv", "--quiet"];
    let ran = place.run(&[&["incident", "log"], &rows[..]].concat());
    let changes: Vec<_> = ran.text().lines().filter(|line| line.starts_with("change,")).collect();
    let said = [
        "change,\"restarted, version 2 → 3\",search,",
        "change,changed description with the restart,search,web",
        "change,added with the restart,search,news",
    ];
    assert_eq!(changes, said, "{}", ran.text());
}

#[test]
fn a_log_without_an_incident_says_so() {
    let place = Place::with("log", LOG);
    let ran = place.run(&["incident", "log", "--fail-if", "rows"]);
    assert_eq!(ran.status, Some(0));
    assert!(
        ran.text().ends_with("no incident to be found: 0 timed calls, and at least 200 are needed\n"),
        "{}",
        ran.text()
    );
    let ran = place.run(&["incident", "log", "-t", "csv", "--quiet"]);
    assert_eq!(ran.text(), "part,what,server,call,count,of,seconds,time,message\r\n");
}

/// A log with unread lines does not look like a log without failures, and no content is invented.
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
        ran.text().starts_with("2 logs · json-lines · 7 messages · no times\n") && ran.text().contains("first log#m4"),
        "{}",
        ran.text()
    );
    place.put("good", LOG.lines().take(2).collect::<Vec<_>>().join("\n"));
    assert!(place.run(&["good"]).text().contains("· 0 of 1 call failed\n"));
}

/// Calls of a client, none of which has an answer, and maybe a notification of the server.
fn unanswered(notification: &str) -> String {
    let calls = (1..6).map(|id| format!(r#"{{"sender":"client","message":{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t"}}}}}}"#) + "\n");
    calls.collect::<String>() + notification
}

#[test]
fn answers_of_a_side_that_is_not_in_the_log_are_unknown() {
    let place = Place::with("log.ndjson", unanswered(""));
    let ran = place.run(&["unanswered", "log.ndjson", "-t", "csv"]);
    assert_eq!(ran.text().lines().count(), 1);
    assert!(ran.stderr.contains("answers are not in this log: 1 session of one side alone"), "{}", ran.stderr);
    let text = place.run(&["log.ndjson"]).text().to_owned();
    assert!(
        text.contains("! answers are not in this log: 5 calls of one side alone") && !text.contains("failed"),
        "{text}"
    );
    let text = place.run(&["check", "log.ndjson", "--only", "jsonrpc/unanswered", "-t", "json"]).text().to_owned();
    assert!(text.contains("\"undecidable\"") && text.contains("answers are not in this log"), "{text}");
    for question in ["methods", "tools", "ask sessions"] {
        let asks: Vec<_> = question.split(' ').chain(["log.ndjson", "--quiet"]).collect();
        let ran = place.run(&[&asks[..], &["--columns", "noAnswer", "-t", "csv"]].concat());
        assert_eq!(ran.text(), "noAnswer\r\n0\r\n", "{question}");
        assert_eq!(place.run(&[&asks[..], &["--fail-if", "noAnswer > 0"]].concat()).status, Some(0), "{question}");
    }
    assert_eq!(place.run(&["ask", "in-flight", "log.ndjson", "-t", "csv"]).text().lines().count(), 1);
}

#[test]
fn a_server_that_sent_anything_owes_its_answers() {
    let notification = r#"{"sender":"server","message":{"jsonrpc":"2.0","method":"ready"}}"#;
    let garbage = r#"{"sender":"server","message":{"jsonrpc":"2.0","ready":true}}"#;
    for sent in [notification, garbage] {
        let place = Place::with("log.ndjson", unanswered(&format!("{sent}\n")));
        let text = place.run(&["log.ndjson"]).text().to_owned();
        assert!(text.contains("✗ 5 calls were open as the log ended"), "{text}");
        assert_eq!(place.run(&["unanswered", "log.ndjson", "-t", "csv"]).text().lines().count(), 6);
    }
}

#[test]
fn rows_are_sorted_and_judged_by_columns() {
    let place = Place::with("gateway.ndjson", gateway());
    let ran = place.run(&["tools", "gateway.ndjson", "--sort", "-failures", "--columns", "tool,failures", "-t", "csv"]);
    assert_eq!(ran.text(), "tool,failures\r\nfind,60\r\nweb,0\r\n");
    let ran =
        place.run(&["tools", "gateway.ndjson", "--sort", "failures", "--columns", "tool", "-t", "csv", "-n", "1"]);
    assert_eq!(ran.text(), "tool\r\nweb\r\n");
    place
        .run(&["methods", "gateway.ndjson", "--sort", "speed"])
        .began(2, "error: unknown column \"speed\"; use one of method, ");
    for (condition, status) in
        [("p95 > 200ms", 1), ("p95>2s", 0), ("failures > 0", 1), ("share > 9%", 1), ("share > 11 %", 0)]
    {
        let ran = place.run(&["tools", "gateway.ndjson", "--fail-if", condition, "--quiet"]);
        assert_eq!(ran.status, Some(status), "{condition}: {}", ran.stderr);
    }
    place
        .run(&["tools", "gateway.ndjson", "--fail-if", "speed > 1"])
        .began(2, "error: --fail-if: unknown column \"speed\"");
}

#[test]
fn a_silent_call_waits_until_the_log_ends_or_its_connection_begins_anew() {
    let place = Place::with("gateway.ndjson", gateway());
    let ran = place.run(&["unanswered", "gateway.ndjson", "--columns", "tool,waited,until", "-t", "csv", "--quiet"]);
    assert_eq!(ran.text(), "tool,waited,until\r\nweb,839.2,restart\r\nweb,3.2,restart\r\nweb,1.2,restart\r\n");
}

/// Each restart that left calls without an answer is named, and a call waits until its own.
#[test]
fn each_restart_that_left_calls_without_an_answer_is_named() {
    let hello = |id: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{"clientInfo":{{"name":"a","version":"1"}}}}}}"#
        )
    };
    let welcome =
        |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"serverInfo":{{"name":"srv","version":"1"}}}}}}"#);
    let call = |id: u32, tool: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#)
    };
    let mut log = String::new();
    for (start, hangs) in [(0.0, "slow"), (60.0, "hang"), (120.0, "none")] {
        let at = |second: f64, sender, message: &str| line(start + second, "one", sender, message).1;
        log += &at(0.0, "client", &hello(0));
        log += &at(0.5, "server", &welcome(0));
        for id in 1..10 {
            log += &at(f64::from(id), "client", &call(id, "quick"));
            log += &at(f64::from(id) + 0.5, "server", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        }
        if start < 120.0 {
            log += &at(59.0, "client", &call(99, hangs));
        }
    }
    let place = Place::with("log.ndjson", log);
    let text = place.run(&["log.ndjson"]).text().to_owned();
    for said in [
        "✗ 2 calls were lost, 1 as srv restarted at 14:01:00 (m22), 1 as srv restarted at 14:02:00 (m43)",
        "     1  slow  m21 14:00:59  waited 1.00 s\n",
        "     1  hang  m42 14:01:59  waited 1.00 s\n",
    ] {
        assert!(text.contains(said), "{said} is missing in\n{text}");
    }
}

/// Rows of several logs are in the order of time, with the log in the name of each message.
#[test]
fn silent_calls_of_several_logs_are_in_the_order_of_time() {
    let place = Place::with("a.ndjson", gateway());
    place.put("b.ndjson", gateway().replace("T14:", "T13:"));
    let ran = place.run(&["unanswered", "a.ndjson", "b.ndjson", "--columns", "message", "-t", "csv", "--quiet"]);
    let logs: Vec<_> = ran.text().lines().skip(1).filter_map(|row| row.rsplit('/').next()?.split('#').next()).collect();
    assert_eq!(logs, [["b.ndjson"; 3], ["a.ndjson"; 3]].concat());
}

/// `--by cause` shows the groups of the overview.
#[test]
fn failures_are_grouped_by_cause() {
    let place = Place::with("gateway.ndjson", gateway());
    let asks = ["errors", "gateway.ndjson", "--by", "cause", "--quiet", "-t", "csv"];
    let ran = place.run(&[&asks[..], &["--columns", "count,error,tool,code,last"]].concat());
    assert_eq!(
        ran.text(),
        "count,error,tool,code,last\r\n60,pool exhausted after 480,find,,2026-03-02T14:11:57.5Z\r\n"
    );
    assert_eq!(place.run(&[&asks[..5], &["--fail-if", "count > 59"]].concat()).status, Some(1));
    place
        .run(&["slowest", "gateway.ndjson", "--by", "cause"])
        .began(2, "error: --by groups the rows of errors, unanswered");
}

#[test]
fn sessions_are_chosen_by_their_programs() {
    let place = Place::with("gateway.ndjson", gateway());
    let rows = |arguments: &[&str]| {
        place.run(&[arguments, &["gateway.ndjson", "--quiet", "-t", "csv"]].concat()).text().replace("\r\n", " ")
    };
    assert_eq!(
        rows(&["ask", "sessions", "--columns", "client,server"]),
        "client,server agent,jira agent,search agent,search "
    );
    assert_eq!(
        rows(&["ask", "sessions", "--columns", "server,timed,p50,p95,max"]),
        "server,timed,p50,p95,max jira,600,0.1,1.5,1.5 search,448,0.1,1.5,1.5 search,151,0.1,0.1,0.1 "
    );
    assert_eq!(rows(&["tools", "--server", "jir?", "--columns", "tool,p99"]), "tool,p99 find,1.5 ");
    assert_eq!(rows(&["ask", "sessions", "--server", "jira", "--columns", "requests"]), "requests 600 ");
    assert_eq!(rows(&["methods", "--server", "jira", "--client", "other", "--columns", "method"]), "method ");
    let ran = place.run(&["tools", "gateway.ndjson", "--server", "jirra"]);
    assert!(ran.stderr.contains("no message has the server \"jirra\"; did you mean jira?"), "{}", ran.stderr);
}
