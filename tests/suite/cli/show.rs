//! `show`: messages that filters choose, from logs, graphs and servers.

use super::Place;
use crate::serve::Serving;
use crate::support::own;

fn place_with_logs() -> Place {
    let place = Place::new();
    for (name, from) in [("log", "examples/mcp-session.ndjson"), ("mcp.jsonl", "tests/queries/mcp.jsonl")] {
        place.put(name, std::fs::read(own(from)).unwrap());
    }
    place.put("app.log", "starting\n<< {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\nit \u{1b}[2J fails\n>> {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"no\"}}\nthe end\n");
    place
}

/// The messages that the filters choose, as questions choose them, each with what answers it or what it answers.
#[test]
fn filters_choose_what_is_shown() {
    let place = place_with_logs();
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
            // Each message of a batch counts as one.
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

/// A server shows what the log shows, by names and by filters, but for where it is in the log.
#[test]
fn servers_show_their_messages() {
    let mut place = place_with_logs();
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
