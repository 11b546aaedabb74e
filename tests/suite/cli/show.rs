//! `show`: messages as they were, with what belongs to them.

use serde_json::Value;

use super::Place;
use crate::serve::Serving;
use crate::support::own;

fn place() -> Place {
    let place = Place::new();
    for (name, from) in [("log", "examples/mcp-session.ndjson"), ("mcp.jsonl", "tests/queries/mcp.jsonl")] {
        place.put(name, std::fs::read(own(from)).unwrap());
    }
    place.put("app.log", "starting\n<< {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\nit \u{1b}[2J fails\n>> {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"no\"}}\nthe end\n");
    place
}

#[test]
fn a_message_and_its_answer_or_request() {
    let place = place();
    let shown = place.run(&["show", "log", "m7"]);
    // As a line of CSV has it.
    assert_eq!(place.run(&["show", "log", &format!("{}#m7\r", place.iri("log"))]).stdout, shown.stdout);
    assert_eq!(
        shown.quietly().text(),
        r#"m6 · line 6, byte 573 · Request
{
  "jsonrpc": "2.0",
  "id": "retry-1",
  "method": "tools/cal",
  "params": {
    "name": "forecast",
    "arguments": {
      "city": "Uppsala",
      "days": 1
    }
  }
}

m7 · line 7, byte 696 · ErrorResponse to m6
{
  "jsonrpc": "2.0",
  "id": "retry-1",
  "error": {
    "code": -32601,
    "message": "Method not found",
    "data": {
      "method": "tools/cal"
    }
  }
}

"#
    );
    let whole = std::fs::read_to_string(own("examples/mcp-session.ndjson")).unwrap();
    for arguments in [&["log", "6"][..], &["log:7"], &["log#m7"], &["log", "--id", "retry-1"], &["log", "m6-m7"]] {
        assert_eq!(place.run(&[&["show"], arguments].concat()).quietly().stdout, shown.stdout, "{arguments:?}");
        let lines = place.run(&[&["show"], arguments, &["-t", "messages"]].concat());
        let expected: Vec<_> = whole.lines().skip(5).take(2).collect();
        assert_eq!(lines.quietly().text().lines().collect::<Vec<_>>(), expected);
    }
    let piped = place.run_with(&["show", "-", "m7"], &whole);
    assert_eq!(piped.quietly().stdout, shown.stdout);
    // What is not JSON is shown as it is.
    assert_eq!(
        place.run(&["show", "log", "m8"]).text(),
        "m8 · line 8, byte 812 · not a message\nweather: lost connection to station 14\n\n"
    );
    let batch = place.run(&["show", "mcp.jsonl", "m33.1", "-t", "json"]);
    assert!(batch.quietly().text().contains("\"ping\"") && !batch.text().contains("tools/call"), "{}", batch.text());
    let timed = place.run(&["show", "mcp.jsonl", "m11"]);
    assert!(timed.text().contains("m11 · line 11, "), "{}", timed.text());
    assert!(
        timed.text().contains(" · session a1 · 2026-01-05T10:00:02.5Z · Server · Response to m8 after 1.5 s"),
        "{}",
        timed.text()
    );
    let problem = place.run(&["show", "mcp.jsonl", "m27"]);
    assert!(problem.text().contains("\nproblems: DuplicateAnswer\n"), "{}", problem.text());
}

/// What a graph says of messages is shown of them: the same but for the order of members, and for places that it does not know.
#[test]
fn graphs_show_their_messages() {
    let place = place();
    // Heading, problems, and the JSON or text of each.
    let blocks = |text: &str| -> Vec<(String, String, Value)> {
        let block = |block: &str| {
            let (heading, text) = block.split_once('\n').unwrap();
            let parts: Vec<_> = heading.split(" · ").filter(|part| !part.starts_with("line ")).collect();
            let (problems, text) = match text.split_once('\n').filter(|_| text.starts_with("problems: ")) {
                Some((problems, text)) => (problems, text),
                None => ("", text),
            };
            let value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
            (parts.join(" · "), problems.to_owned(), value)
        };
        text.split("\n\n").filter(|text| !text.is_empty()).map(block).collect()
    };
    for (log, arguments) in [
        ("log", &["m7"][..]),
        ("log", &["m6-m8"]),
        ("log", &["--id", "retry-1"]),
        ("log", &["m1-m9"]),
        ("mcp.jsonl", &["m11"]),
        ("mcp.jsonl", &["m33"]),
        ("mcp.jsonl", &["m33.1"]),
        ("mcp.jsonl", &["--id", "3"]),
        ("mcp.jsonl", &["m27", "m1-m35"]),
    ] {
        place.run(&["convert", log, "-o", "graph.ttl", "--quiet"]).quietly();
        place.run(&["convert", log, "-o", "places.nq.gz", "--provenance", "--quiet"]).quietly();
        let shown = |input: &str| place.run(&[&["show", input], arguments].concat());
        let (of_log, of_graph) = (shown(log), shown("graph.ttl"));
        assert_eq!(blocks(of_graph.quietly().text()), blocks(of_log.quietly().text()), "{log} {arguments:?}");
        assert!(!of_graph.text().contains(" · line "));
        let headings = |ran: &super::Ran| -> Vec<String> {
            ran.text().lines().filter(|line| line.contains(" · ")).map(str::to_owned).collect()
        };
        // Where elements of batches are is not said of them.
        if !headings(&of_log).iter().any(|heading| heading.contains("m33.")) {
            assert_eq!(headings(&shown("places.nq.gz")), headings(&of_log));
        }
    }
    place.run(&["convert", "log", "-o", "places.ttl", "--provenance", "--quiet"]).quietly();
    let by_line = place.run(&["show", "places.ttl:7", "-t", "messages"]);
    assert_eq!(by_line.stdout, place.run(&["show", "places.ttl#m7", "-t", "messages"]).stdout);
    assert_eq!(by_line.quietly().text().lines().count(), 2);
    // Text between messages stands in its place.
    place.run(&["convert", "app.log", "-o", "app.ttl", "--log-lines", "--quiet"]).quietly();
    let around = place.run(&["show", "app.ttl", "m2", "--around", "1"]);
    let text = around.quietly().text();
    assert!(text.starts_with("line 1\n  starting\n\nm1 · Server · Request\n"), "{text}");
    assert!(text.contains("\n\nline 3\n  it  [2J fails\n\nm2 · Client · ErrorResponse to m1\n"), "{text}");
    // Of two logs, each has such a message.
    place.run(&["convert", "log", "app.log", "-o", "both.nq", "--quiet"]).quietly();
    let both = place.run(&["show", "both.nq", "m2"]);
    let text = both.quietly().text();
    assert!(
        text.starts_with("file://") && text.contains("/app.log\n\nm1 · ") && text.contains("/log\n\nm1 · "),
        "{text}"
    );
    let one = place.run(&["show", "both.nq", "/log#m2"]);
    assert_eq!(blocks(one.quietly().text()), blocks(place.run(&["show", "log", "m2"]).text()));
    place.run(&["show", "graph.ttl", "m99"]).said(2, "error: cannot find m99 in graph.ttl: the last message is m42\n");
    place.run(&["show", "graph.ttl:7"]).began(2, "error: cannot find message on line 7 in graph.ttl: ");
}

/// Lines of the log too, with nothing that a terminal obeys on one.
#[test]
fn neighbouring_lines_are_shown() {
    let place = place();
    let shown = place.run(&["show", "app.log", "m2", "--around", "1"]);
    let text = shown.quietly().text();
    assert!(text.contains("\nline 3\n  it  [2J fails\n\nm2 · line 4, "), "{text}");
    assert!(text.starts_with("line 1\n  starting\n\nm1 · ") && text.ends_with("line 5\n  the end\n\n"), "{text}");
    assert!(!place.run(&["show", "app.log", "m2"]).text().contains("starting"));
    let far = place.run(&["show", "app.log", "m1", "--around", "9"]);
    assert!(far.text().contains("starting") && far.text().contains("the end"), "{}", far.text());
}

#[test]
fn missing_messages_are_reported() {
    let place = place();
    place.run(&["show", "log", "m99"]).said(2, "error: cannot find m99 in log: the last message is m9\n");
    place.run(&["show", "log"]).said(
        2,
        "error: name what to show: messages such as m24, LOG:LINE, or what --method, --id and the like choose\n",
    );
    // As questions tell it: by the nearest.
    for (arguments, why) in [
        (&["--id", "xyz"][..], "no message has the id \"xyz\"; there are 0, 1, 2, retry-1"),
        (&["m1-m5", "--method", "tool/call"], "no message has the method \"tool/call\"; did you mean tools/call?"),
        (
            &["--tool", "alert", "--id", "xyz"],
            "no message has the tool \"alert\"; did you mean alerts?; no message has the id \"xyz\"; there are 0, 1, 2, retry-1",
        ),
        (&["--since", "1s"], "no message has a time, for --since, --last and --until"),
        (&["m1", "--method", "tools/call", "--id", "2"], "no message is all of --method tools/call --id 2"),
    ] {
        let ran = place.run(&[&["show", "log"], arguments].concat());
        ran.said(2, &format!("error: found nothing to show in log: {why}\n")).printed_nothing();
    }
    place.run(&["show", "gone:7"]).began(2, "error: cannot read gone: ");
    place
        .run(&["show", "log", "x"])
        .began(2, "error: invalid value 'x' for '[MESSAGE]...': expected the name of a message, such as m24");
}

/// The messages that the filters choose, as questions choose them, each with what answers it or what it answers.
#[test]
fn filters_choose_what_is_shown() {
    let place = place();
    place.put("plain.ndjson", std::fs::read(own("tests/queries/plain.ndjson")).unwrap());
    let mut compared = 0;
    for log in ["mcp.jsonl", "plain.ndjson", "log"] {
        place.run(&["convert", log, "-o", "graph.nq", "--quiet"]).quietly();
        let row = |row: &str| row.split(',').next().unwrap().rsplit('#').next().unwrap().to_owned();
        let rows = |arguments: &[&str]| -> Vec<(String, String, String)> {
            let asked = ["timeline", log, "-t", "csv", "--quiet", "--columns", "message,request,kind"];
            let ran = place.run(&[&asked, arguments].concat());
            let lines = ran.quietly().text().lines().skip(1);
            lines
                .map(|line| {
                    let cells: Vec<_> = line.split(',').collect();
                    (row(cells[0]), row(cells[1]), cells[2].to_owned())
                })
                .collect()
        };
        let all = rows(&[]);
        for filter in [
            &["--method", "tools/*"][..],
            &["--method", "tools/call", "--method", "ping"],
            &["--tool", "forec*"],
            &["--sender", "server"],
            &["--sender", "client", "--limit", "3"],
            &["--kind", "error*"],
            &["--kind", "malformed*"],
            &["--id", "3", "--id", "a*"],
            &["--session", "b2"],
            &["--since", "6s"],
            &["--contains", "region"],
            &["--limit", "4"],
        ] {
            // Of a batch each message is one.
            let limit = filter.iter().position(|word| *word == "--limit");
            let chosen = rows(&filter[..limit.unwrap_or(filter.len())]);
            let chosen = chosen.iter().filter(|(_, _, kind)| kind != "Batch").map(|(name, ..)| name);
            // The timeline tells one session after the other.
            let number = |name: &str| -> (u64, u32) {
                let (record, element) = name[1..].split_once('.').unwrap_or((&name[1..], "0"));
                (record.parse().unwrap(), element.parse().unwrap())
            };
            let mut chosen: Vec<_> = chosen.collect();
            chosen.sort_by_key(|name| number(name));
            let most = limit.map_or(usize::MAX, |at| filter[at + 1].parse().unwrap());
            chosen.truncate(most);
            let is_shown = |(name, request, kind): &&(String, String, String)| {
                let has_pair = chosen.contains(&request)
                    || all.iter().any(|(answer, of, _)| of == name && chosen.contains(&answer));
                kind != "Batch" && (chosen.contains(&name) || has_pair)
            };
            let mut expected: Vec<_> = all.iter().filter(is_shown).map(|(name, ..)| name.clone()).collect();
            expected.sort_by_key(|name| number(name));
            for input in [log, "graph.nq"] {
                let shown = place.run(&[&["show", input], filter].concat());
                if expected.is_empty() {
                    shown.began(2, &format!("error: found nothing to show in {input}: "));
                    continue;
                }
                let headings = shown.quietly().text().lines().filter(|line| line.contains(" · "));
                let names: Vec<_> = headings.map(|line| line.split(' ').next().unwrap().to_owned()).collect();
                assert_eq!(names, expected, "{input} {filter:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 30, "{compared}");
    // Names and filters: both have to hold.
    let both = place.run(&["show", "log", "m1-m7", "--method", "tools/cal", "-t", "messages"]);
    assert_eq!(both.quietly().stdout, place.run(&["show", "log", "m6", "-t", "messages"]).stdout);
    assert_eq!(place.run(&["show", "log", "m6-m7", "--limit", "1"]).stdout, place.run(&["show", "log", "m7"]).stdout);
    let whole = std::fs::read(own("tests/queries/mcp.jsonl")).unwrap();
    let piped = place.run_with(&["show", "-", "--tool", "radar"], whole);
    assert_eq!(piped.quietly().stdout, place.run(&["show", "mcp.jsonl", "--tool", "radar"]).stdout);
}

/// A line in the middle of a message means that message, in a log as in its graph.
#[test]
fn a_line_is_that_of_the_message_around_it() {
    let place = Place::with("log", "{\"id\":1,\n\"method\":\"a\"}\n{\"id\":2,\n\n\"method\":\"b\"}\n");
    place.run(&["convert", "log", "-o", "graph.ttl", "--provenance", "--quiet"]).quietly();
    for (line, id) in [("1", 1), ("2", 1), ("3", 2), ("5", 2), ("9", 2)] {
        for log in ["log", "graph.ttl"] {
            let shown = place.run(&["show", &format!("{log}:{line}"), "-t", "messages"]);
            let message: Value = serde_json::from_slice(&shown.quietly().stdout).unwrap();
            assert_eq!(message["id"], id, "{log}:{line}");
        }
    }
}

/// A server shows what the log shows, by names and by filters, but for where it is in the log.
#[test]
fn servers_show_their_messages() {
    let mut place = place();
    let server = Serving::start(&place, &["mcp.jsonl", "--quiet"]);
    place.set("RPCGRAPH_TOKEN", Box::leak(server.token.clone().into_boxed_str()));
    let endpoint = format!("http://127.0.0.1:{}/sparql", server.port);
    let headings = |log: &[&str], arguments: &[&str]| -> Vec<String> {
        let shown = place.run(&[&["show"], log, arguments].concat());
        let headings = shown.quietly().text().lines().filter(|line| line.contains(" · "));
        let parts =
            headings.map(|line| line.split(" · ").filter(|part| !part.starts_with("line ")).collect::<Vec<_>>());
        parts.map(|parts| parts.join(" · ")).collect()
    };
    for arguments in [
        &["m7"][..],
        &["m33.1", "m3-m9"],
        &["--tool", "radar"],
        &["--sender", "server", "--limit", "3"],
        &["--since", "6s", "--kind", "request"],
        &["m1-m20", "--method", "tools/*"],
    ] {
        let there = headings(&["--endpoint", &endpoint], arguments);
        assert!(!there.is_empty() && there == headings(&["mcp.jsonl"], arguments), "{arguments:?}: {there:?}");
    }
    place.run(&["show", "--endpoint", &endpoint, "m99"]).began(2, "error: cannot find m99 in http://127.0.0.1:");
    let none = place.run(&["show", "--endpoint", &endpoint, "--method", "tool/call"]);
    assert!(
        none.stderr.ends_with("no message has the method \"tool/call\"; did you mean tools/call?\n"),
        "{}",
        none.stderr
    );
}
