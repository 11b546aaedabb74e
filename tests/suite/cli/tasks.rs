//! What an engineer wants of a log, one command each; plain code says what has to come out.

use std::collections::BTreeMap;

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
    let failed = |seen: &Seen| match seen.3.get("error") {
        Some(error) => error["message"] != "Unsupported protocol version",
        None => seen.3["result"]["isError"] == true,
    };
    assert_eq!(found(&place, &["errors"]), expected(&seen, failed));
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

/// How often a log asks or tells what: `requests` or `notifications`, the method, and its tool.
fn said(log: &str) -> BTreeMap<(&str, String), i64> {
    let mut said = BTreeMap::new();
    for line in log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let messages = line["raw"].as_array().cloned().unwrap_or_else(|| vec![line["raw"].clone()]);
        for message in &messages {
            let Some(method) = message["method"].as_str() else { continue };
            let part = if message.get("id").is_some() { "requests" } else { "notifications" };
            let tool = message["params"]["name"].as_str().filter(|_| method == "tools/call");
            *said.entry((part, tool.map_or(method.to_owned(), |tool| format!("{method} {tool}")))).or_default() += 1;
        }
    }
    said
}

#[test]
fn two_logs_are_compared() {
    let (place, _) = place();
    let whole = String::from_utf8(place.read("mcp.jsonl")).unwrap();
    let part: String =
        whole.lines().enumerate().filter(|(n, _)| n % 3 != 2).map(|(_, line)| format!("{line}\n")).collect();
    place.put("a part.jsonl", &part);
    let (one, other) = (said(&whole), said(&part));
    for (a, b, logs) in [(&one, &other, ["mcp.jsonl", "a part.jsonl"]), (&other, &one, ["a part.jsonl", "mcp.jsonl"])] {
        let ran = place.run(&[&["compare"], &logs[..], &["-t", "jsonl", "--quiet"]].concat());
        let rows: Vec<Value> = ran.quietly().text().lines().map(|row| serde_json::from_str(row).unwrap()).collect();
        let found = rows.iter().filter(|row| row["part"] == "requests" || row["part"] == "notifications").map(|row| {
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            ((text("part"), text("what")), (row["a"].as_i64().unwrap(), row["b"].as_i64().unwrap()))
        });
        let count = |side: &BTreeMap<_, _>, what| side.get(what).copied().unwrap_or(0);
        let expected = one
            .keys()
            .filter(|what| count(a, *what) != count(b, *what))
            .map(|what| ((what.0.to_owned(), what.1.clone()), (count(a, what), count(b, what))));
        let (found, expected): (BTreeMap<_, _>, BTreeMap<_, _>) = (found.collect(), expected.collect());
        assert!(expected.len() > 3);
        assert_eq!(found, expected);
    }
    // What is the same does not differ, whatever its file is called.
    place.put("again.jsonl", &whole);
    let ran = place.run(&["compare", "mcp.jsonl", "again.jsonl", "-t", "csv", "--quiet"]);
    assert_eq!(ran.quietly().text(), "part,what,a,b,ratio\r\n");
    place
        .run(&["compare", "mcp.jsonl", "./mcp.jsonl"])
        .said(2, "error: mcp.jsonl and ./mcp.jsonl are the same log: name it once\n");
}

/// A session with a server of that version, as mcpsnoop writes it: the tools that it lists, and how it answers calls of `lock`.
fn version(
    version: &str,
    capabilities: &Value,
    tools: &[Value],
    seconds: f64,
    text: &str,
    failure: Option<&Value>,
) -> String {
    let mut log = String::new();
    let mut time = 0.0;
    let initialize = serde_json::json!({ "protocolVersion": "2025-06-18", "capabilities": { "roots": {} },
        "clientInfo": { "name": "desk", "version": "1.4" } });
    let server = serde_json::json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities,
        "serverInfo": { "name": "harbour", "version": version } });
    let call = serde_json::json!({ "name": "lock", "arguments": {} });
    let result = serde_json::json!({ "content": [{ "type": "text", "text": text }] });
    let read = serde_json::json!({ "uri": "file:///chart" });
    for (id, (method, params, result, error, seconds)) in [
        ("initialize", initialize, server, None, 0.5),
        ("tools/list", serde_json::json!({}), serde_json::json!({ "tools": tools }), None, 0.5),
        ("tools/call", call.clone(), result.clone(), None, seconds),
        ("tools/call", call, result, None, seconds),
        ("resources/read", read, serde_json::json!({ "contents": [] }), failure, 0.5),
    ]
    .into_iter()
    .enumerate()
    {
        let mut answer = serde_json::json!({ "jsonrpc": "2.0", "id": id });
        match error {
            Some(error) => answer["error"] = error.clone(),
            None => answer["result"] = result,
        }
        let request = serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        for (direction, message, after) in [("c2s", request, seconds), ("s2c", answer, 1.0)] {
            let time_text = format!("2026-01-05T10:00:{time:06.3}Z");
            log += &format!("{}\n", serde_json::json!({ "ts": time_text, "direction": direction, "raw": message }));
            time += after;
        }
    }
    log
}

#[test]
fn two_versions_of_a_server_are_compared() {
    let tool = |name: &str, description: &str, properties: Value| {
        serde_json::json!({ "name": name, "description": description, "annotations": { "readOnlyHint": true },
            "inputSchema": { "type": "object", "properties": properties } })
    };
    let empty = || serde_json::json!({});
    let lock =
        tool("lock", "Opens a lock", serde_json::json!({ "open": { "type": "boolean" }, "a/b": { "type": "null" } }));
    let mut other = tool("lock", "Opens a lock, or closes it", serde_json::json!({ "open": { "type": "string" } }));
    other["annotations"]["readOnlyHint"] = false.into();
    other["icons"] = serde_json::json!([]);
    let [both, tide, crane] = ["both", "tide", "crane"].map(|name| tool(name, "", empty()));
    let failure = serde_json::json!({ "code": -32601, "message": "Method not found" });
    let capabilities = serde_json::json!({ "tools": { "listChanged": true }, "resources": {} });
    let one = version("0.9", &capabilities, &[lock, both.clone(), tide], 0.25, "open", None);
    let other = version(
        "1.0",
        &serde_json::json!({ "tools": {} }),
        &[other, both, crane],
        0.75,
        &"open ".repeat(100),
        Some(&failure),
    );
    let place = Place::with("one.log", one);
    place.put("other.log", other);
    let ran = place.run(&["compare", "one.log", "other.log", "-t", "csv", "--quiet"]);
    let lines: Vec<_> = ran.quietly().text().lines().filter(|line| !line.contains("p95")).collect();
    assert_eq!(
        lines,
        [
            "part,what,a,b,ratio",
            "programs,server version,0.9,1.0,",
            "capabilities,server resources,{},,",
            r#"capabilities,server tools,"{""listChanged"":true}",{},"#,
            "tools,crane,,listed,",
            "tools,lock annotations/readOnlyHint,true,false,",
            r#"tools,lock description,Opens a lock,"Opens a lock, or closes it","#,
            r#"tools,lock inputSchema/properties/a~1b,"{""type"":""null""}",,"#,
            r#"tools,lock inputSchema/properties/open,"{""type"":""boolean""}","{""type"":""string""}","#,
            "tools,lock other/icons,,[],",
            "tools,tide,listed,,",
            "outcomes,resources/read: -32601 Method not found,0,1,",
            "seconds,tools/call lock: median,0.25,0.75,3",
            "characters,initialize: median,141,108,0.77",
            "characters,tools/call lock: median,43,539,12.53",
            "characters,tools/list: median,421,425,1.01",
        ]
    );
    // A log that does not list tools says nothing about them.
    let part: String = String::from_utf8(place.read("other.log")).unwrap();
    let part: String =
        part.lines().filter(|line| !line.contains("\"tools/list\"")).map(|line| format!("{line}\n")).collect();
    place.put("part.log", part);
    let ran = place.run(&["compare", "one.log", "part.log", "-t", "csv", "--quiet", "--columns", "part"]);
    assert!(!ran.quietly().text().contains("tools"));
}

/// What two programs wrote of one afternoon, in the order in which it happened; a text without a time stays behind the
/// record before it.
#[test]
fn logs_are_interleaved_by_time() {
    let (place, seen) = place();
    let line = |(_, time, client, message): &Seen| {
        let direction = if *client { "c2s" } else { "s2c" };
        format!("{}\n", serde_json::json!({ "ts": time, "direction": direction, "raw": message }))
    };
    for (name, client) in [("client.jsonl", true), ("server.jsonl", false)] {
        let log: String = seen.iter().filter(|seen| seen.2 == client).map(line).collect();
        place.put(name, format!("no JSON\n{log}no JSON\n"));
    }
    let logs = ["timeline", "server.jsonl", "client.jsonl", "-f", "mcpsnoop", "--log-lines", "--quiet", "-t", "jsonl"];
    let rows = |more: &[&str]| -> Vec<Value> {
        let ran = place.run(&[&logs[..], more].concat());
        ran.quietly().text().lines().map(|row| serde_json::from_str(row).unwrap()).collect()
    };
    let all = rows(&[]);
    let times: Vec<_> = all.iter().filter_map(|row| row["time"].as_str()).collect();
    let mut expected: Vec<_> = seen.iter().map(|seen| seen.1.trim_end_matches('Z').trim_end_matches('0')).collect();
    expected.sort_by_key(|time| time.trim_end_matches('.').to_owned());
    assert_eq!(times.len(), expected.len());
    let same = |(found, expected): (&&str, &&str)| {
        found.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.') == expected.trim_end_matches('.')
    };
    assert!(times.iter().zip(&expected).all(same), "{times:?} {expected:?}");
    let lines: Vec<_> = all.iter().enumerate().filter(|(_, row)| row["kind"] == "LogLine").map(|(at, _)| at).collect();
    assert!(lines.len() == 4 && lines[1] < 5 && lines[2] > 20, "{lines:?}");
    // As many as are wanted, and not as many of the first log.
    assert_eq!(rows(&["--limit", "7"]), all[..7]);
    // The same with the seconds since the first.
    let relative = rows(&["--relative"]);
    let seconds = |row: &Value| row["time"].as_f64();
    assert_eq!(seconds(relative.iter().find(|row| row["kind"] == "Request").unwrap()), Some(0.0));
    let (row, at) = all.iter().zip(&relative).find(|(row, _)| row["error"] == "Invalid params").unwrap();
    assert_eq!((row["time"].as_str(), seconds(at)), (Some("2026-01-05T10:00:04.01Z"), Some(4.01)));
}

/// What a program said on standard error, around what failed.
#[test]
fn text_between_messages_stands_in_its_place() {
    let place = Place::with(
        "app.log",
        format!("starting\n<< {}\nworking\nstill\n>> {}\nthe end\n", super::REQUEST, super::RESPONSE),
    );
    let ran = place.run(&["timeline", "app.log", "--log-lines", "-t", "jsonl", "--quiet"]);
    let contents: Vec<String> = ran
        .quietly()
        .text()
        .lines()
        .map(|row| serde_json::from_str::<Value>(row).unwrap())
        .map(|row| row["content"].as_str().map_or(row["kind"].to_string(), str::to_owned))
        .collect();
    assert_eq!(contents, ["starting", "\"Request\"", "working", "still", "true", "the end"]);
    let ran = place.run(&["timeline", "app.log", "-t", "csv", "--quiet"]);
    assert_eq!(ran.quietly().text().lines().count(), 3);
}

/// The messages that a question finds, as lines that other programs read: from the log, and the same from its graph.
#[test]
fn rows_give_messages() {
    let (place, seen) = place();
    let value = |text: &str| -> Vec<Value> { text.lines().map(|line| serde_json::from_str(line).unwrap()).collect() };
    place.run(&["convert", "mcp.jsonl", "-o", "graph.nq.gz", "--quiet"]);
    for question in [&["errors"][..], &["timeline", "--method", "tools/*"], &["slowest"], &["unanswered"]] {
        let numbers = found(&place, question);
        let ran = place.run(&[question, &["mcp.jsonl", "-t", "messages", "--quiet"]].concat());
        let lines = value(ran.quietly().text());
        let expected = seen.iter().filter(|seen| numbers.contains(&seen.0)).map(|seen| &seen.3);
        // Those in batches are lines, too.
        assert!(expected.clone().all(|message| lines.contains(message)), "{question:?}: {lines:?}");
        assert!(lines.len() >= expected.count() && !lines.is_empty());
        let graph = place.run(&[question, &["graph.nq.gz", "-t", "messages", "--quiet"]].concat());
        // There, sessions come one after the other.
        let rebuilt = value(graph.quietly().text());
        assert!(rebuilt.len() == lines.len() && lines.iter().all(|line| rebuilt.contains(line)), "{question:?}");
        let log = String::from_utf8(place.read("mcp.jsonl")).unwrap();
        let piped = place.run_with(&[question, &["-t", "messages", "--quiet"]].concat(), log);
        assert_eq!(piped.quietly().stdout, ran.stdout);
    }
    let log = "{\"jsonrpc\":\"2.0\" , \"id\":1.0,\"method\":\"a\"}\n[{\"jsonrpc\":\"2.0\",\"method\":\"b\"},7]\n";
    place.put("log", log);
    let ran = place.run(&["timeline", "log", "-t", "messages"]);
    assert_eq!(ran.text(), log.replace("[", "").replace("},7]", "}\n7"), "{}", ran.stderr);
    place
        .run(&["methods", "log", "-t", "messages"])
        .said(2, "error: -t messages writes the messages in the first column, and method has something else\n");
}

/// Each message, those of batches one by one: its session, whether the client sent it, and the message.
fn each(log: &str) -> Vec<(String, bool, Value)> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let each = |line: Value| {
        let messages = line["raw"].as_array().cloned().unwrap_or_else(|| vec![line["raw"].clone()]);
        let session = line["session_id"].as_str().unwrap_or_default().to_owned();
        messages.into_iter().map(move |message| (session.clone(), line["direction"] == "c2s", message))
    };
    lines.flat_map(each).filter(|(.., message)| message.is_object()).collect()
}

fn rows(place: &Place, arguments: &[&str]) -> Vec<Value> {
    let ran = place.run(&[arguments, &["-t", "jsonl", "--quiet"]].concat());
    ran.quietly().text().lines().map(|row| serde_json::from_str(row).unwrap()).collect()
}

/// A number of each name; the name may have parts.
fn counted<'r>(rows: &'r [Value], name: &[&str], number: &str) -> BTreeMap<Vec<&'r str>, u64> {
    let count = |row: &'r Value| {
        (name.iter().map(|name| row[*name].as_str().unwrap()).collect(), row[number].as_u64().unwrap())
    };
    rows.iter().map(count).collect()
}

/// Calls to which tool have which argument.
#[test]
fn arguments_are_counted_by_tool() {
    let (place, _) = place();
    let log = String::from_utf8(place.read("mcp.jsonl")).unwrap();
    let each = each(&log);
    let mut expected = BTreeMap::new();
    for (.., message) in each.iter().filter(|(.., message)| message["method"] == "tools/call") {
        for argument in message["params"]["arguments"].as_object().unwrap().keys() {
            let key = vec![message["params"]["name"].as_str().unwrap(), argument];
            *expected.entry(key).or_default() += 1;
        }
    }
    assert!(expected.len() > 1);
    let query = "SELECT ?tool ?argument (COUNT(*) AS ?count) { ?call rpcg:toolName ?tool ; jrpc:hasParameters ?params \
                 BIND(rpcg:json(?params, \"/arguments\") AS ?arguments) ?arguments rpcg:member ?member \
                 BIND(rpcg:json(?member, \"/0\") AS ?argument) } GROUP BY ?tool ?argument";
    let rows = rows(&place, &["query", "mcp.jsonl", "-q", query]);
    assert_eq!(counted(&rows, &["tool", "argument"], "count"), expected);
}

/// How many characters of JSON the calls of a method and their answers have; and how many of its requests wait at once.
#[test]
fn methods_are_measured() {
    let (place, _) = place();
    let log = String::from_utf8(place.read("mcp.jsonl")).unwrap();
    let each = each(&log);
    let mut sizes: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
    // Open requests by session, side and id: the newest answers first.
    let mut open: BTreeMap<(&str, bool, String), Vec<&str>> = BTreeMap::new();
    let mut most: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    for (session, client, message) in &each {
        let id = message["id"].to_string();
        let method = match message["method"].as_str() {
            Some(method) => {
                if message.get("id").is_some() {
                    open.entry((session, *client, id)).or_default().push(method);
                }
                Some(method)
            }
            None => open.get_mut(&(&**session, !client, id)).and_then(Vec::pop),
        };
        let waiting: usize =
            open.iter().filter(|((s, c, _), _)| (*s, c) == (session, client)).map(|(_, open)| open.len()).sum();
        let before = most.entry((session, *client)).or_default();
        *before = waiting.max(*before);
        let Some(method) = method else { continue };
        for payload in ["/params", "/result", "/error/data"].iter().filter_map(|at| message.pointer(at)) {
            *sizes.entry(vec![method]).or_default() += payload.to_string().chars().count() as u64;
        }
    }
    let query = "SELECT ?method (SUM(STRLEN(STR(?payload))) AS ?size) { ?message (rpcg:respondsTo?)/jrpc:hasMethod ?method ; \
                 jrpc:hasParameters|jrpc:hasResult|(jrpc:hasError/jrpc:hasErrorData) ?payload } GROUP BY ?method";
    assert!(sizes.len() > 5);
    let rows_of_sizes = rows(&place, &["query", "mcp.jsonl", "-q", query]);
    assert_eq!(counted(&rows_of_sizes, &["method"], "size"), sizes);
    let waiting = rows(&place, &["ask", "in-flight", "mcp.jsonl"]);
    assert!(waiting.len() > 2);
    for row in &waiting {
        let session = row["session"].as_str().unwrap().rsplit_once("session-").unwrap().1;
        assert_eq!(row["most"].as_u64().unwrap() as usize, most[&(session, row["sender"] == "Client")], "{row}");
    }
}

/// What goes on about one document, answers as well.
#[test]
fn documents_have_their_traffic() {
    let uri = |n: usize| format!("file:///src/{}.rs", n % 3);
    let mut log = String::new();
    let mut expected = Vec::new();
    let (mut named, mut line) = (Vec::new(), 0);
    for n in 0..30 {
        let document = format!(r#"{{"textDocument":{{"uri":"{}"}}}}"#, uri(n));
        let messages = match n % 4 {
            0 => vec![format!(r#"{{"jsonrpc":"2.0","method":"textDocument/didChange","params":{document}}}"#)],
            1 => vec![format!(
                r#"{{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{{"uri":"{}"}}}}"#,
                uri(n)
            )],
            _ => vec![
                format!(r#"{{"jsonrpc":"2.0","id":{n},"method":"textDocument/hover","params":{document}}}"#),
                format!(r#"{{"jsonrpc":"2.0","id":{n},"result":null}}"#),
            ],
        };
        for (place, message) in messages.iter().enumerate() {
            line += 1;
            log.push_str(&format!("{message}\n"));
            if n % 3 == 1 {
                expected.push(line);
                named.extend((place == 0).then_some(line));
            }
        }
    }
    let place = Place::with("mcp.jsonl", log);
    let query = "SELECT ?message { ?message (rpcg:respondsTo?)/jrpc:hasParameters ?params \
                 FILTER(\"file:///src/1.rs\" IN (rpcg:json(?params, \"/textDocument/uri\"), rpcg:json(?params, \"/uri\"))) }";
    assert_eq!(found(&place, &["query", "-q", query]), expected);
    // Those alone that name it.
    assert_eq!(found(&place, &["timeline", "--contains", "\"file:///src/1.rs\""]), named);
}

/// What a later list of tools has and an earlier one has not, and the other way round.
#[test]
fn lists_of_tools_are_compared() {
    let lists = [&[("a", 1), ("b", 1)][..], &[("a", 1), ("b", 1)], &[("a", 2), ("c", 1)]];
    let mut log = String::new();
    for (id, tools) in lists.iter().enumerate() {
        let tool = |(name, version): &(&str, usize)| serde_json::json!({ "name": name, "description": format!("{version}"), "inputSchema": {} });
        let tools: Vec<_> = tools.iter().map(tool).collect();
        log.push_str(&format!("{}\n", serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" })));
        log.push_str(&format!("{}\n", serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": { "tools": tools } })));
    }
    let place = Place::with("log", log);
    let changes: Vec<String> = rows(&place, &["ask", "tool-changes", "log"])
        .iter()
        .map(|row| ["change", "tool"].map(|name| row[name].as_str().unwrap().to_owned()).join(" "))
        .collect();
    let names = |list: usize| lists[list].iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let mut expected = Vec::new();
    for (before, after) in [(0, 1), (1, 2)] {
        let changed = |tool: &&(&str, usize)| names(before).contains(&tool.0) && !lists[before].contains(tool);
        expected.extend(
            names(after).iter().filter(|name| !names(before).contains(name)).map(|name| format!("added {name}")),
        );
        expected.extend(lists[after].iter().filter(changed).map(|(name, _)| format!("changed {name}")));
        expected.extend(
            names(before).iter().filter(|name| !names(after).contains(name)).map(|name| format!("removed {name}")),
        );
    }
    let mut changes = changes;
    changes.sort();
    assert_eq!(changes, expected);
}
