//! `mcp`: calls by an agent, as lines of JSON-RPC, and by the official client of MCP.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::cli::{LOG, Place};
use crate::support::tool;

/// A server and its pipes.
struct Agent {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    last: u64,
    /// The messages of both sides, as a log.
    log: String,
}

impl Agent {
    fn new(place: &Place, arguments: &[&str]) -> Self {
        let mut command = place.command(&[&["mcp"], arguments].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (requests, answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut agent = Self { child, requests, answers, last: 0, log: String::new() };
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        assert_eq!(agent.ask("initialize", &params)["result"]["protocolVersion"], "2025-06-18");
        agent.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        agent
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.requests, "{message}").unwrap();
        self.log += &format!("{{\"sender\":\"client\",\"message\":{message}}}\n");
    }

    /// Returns the answer to a request, which has to be the next line.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        self.log += &format!("{{\"sender\":\"server\",\"message\":{answer}}}\n");
        assert_eq!(answer["id"], self.last, "{line}");
        answer
    }

    /// Returns the result of a call; its length is within the budget.
    fn call(&mut self, tool: &str, arguments: &Value, budget: usize) -> Value {
        let result = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))["result"].take();
        assert!(result.to_string().chars().count() <= budget, "{tool}: {}", result.to_string().len());
        result
    }

    fn rows(&mut self, tool: &str, arguments: &Value) -> Vec<Value> {
        let result = self.call(tool, arguments, 8000);
        assert_eq!(result["isError"], json!(false), "{result}");
        result["structuredContent"]["rows"].as_array().unwrap().clone()
    }

    fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments, 8000);
        assert_eq!(result["isError"], json!(true), "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_agent_asks_a_log() {
    let place = Place::with("log", LOG);
    place.put("logs/other", LOG);
    let mut agent = Agent::new(&place, &["log", "--allow", "logs", "-f", "json-lines"]);
    let tools = agent.ask("tools/list", &json!({}))["result"]["tools"].take();
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["overview", "incident", "ask", "show", "query", "schema"]);
    let asks = &tools[2]["inputSchema"]["properties"];
    for name in ["question", "client", "server", "since", "until", "session", "tool", "limit", "by", "sort", "cursor"] {
        assert!(asks[name]["description"].is_string(), "{name} is missing in {asks}");
    }
    assert!(
        agent.rows("overview", &json!({})).contains(&json!({ "part": "sessions", "what": "json-lines", "count": 1 }))
    );
    assert!(agent.rows("incident", &json!({})).is_empty());
    place.put("gateway.ndjson", crate::overview::gateway());
    let incident = Agent::new(&place, &["gateway.ndjson"]).rows("incident", &json!({}));
    assert!(
        incident[0]["what"] == "onset" && incident[0]["time"].as_str().is_some_and(|time| time.contains("T14:08:")),
        "{incident:?}"
    );
    let errors = agent.rows("ask", &json!({ "question": "errors" }));
    assert_eq!(errors[0]["error"], "Method not found");
    let name = errors[0]["message"].clone();
    let shown = agent.rows("show", &json!({ "messages": [name] }));
    let texts: Vec<_> = shown.iter().map(|message| message.as_str().unwrap()).collect();
    assert!(texts.len() == 2 && texts[1].contains(" · ErrorResponse to m"), "{texts:?}");
    assert!(texts[1].contains("\n    \"message\": \"Method not found\""), "{texts:?}");
    assert_eq!(agent.rows("query", &json!({ "sparql": "ASK { ?m a jrpc:Request }" })), ["true"]);
    assert!(agent.rows("schema", &json!({})).iter().any(|row| row["term"] == "http://json-rpc.org/ontology#Request"));
    assert_eq!(agent.rows("ask", &json!({ "question": "sessions", "inputs": ["other"] })).len(), 1);
    // The recorded session breaks no rule.
    place.put("recorded.ndjson", &agent.log);
    let checked = place.run(&["check", "recorded.ndjson"]);
    assert!(checked.text().starts_with("0 rules broken, "), "{}", checked.text());
    assert!(checked.text().contains(" passed"), "{}", checked.text());
}

/// A filter that selects no message is noted with the nearest value; findings about the log are not noted.
#[test]
fn an_agent_reads_notes_about_its_filters() {
    let place = Place::with("log", LOG);
    let mut agent = Agent::new(&place, &["log"]);
    let mut notes = |arguments: Value| agent.call("ask", &arguments, 8000)["structuredContent"]["notes"].take();
    let near = notes(json!({ "question": "timeline", "method": "subtrac" }));
    assert_eq!(near, "note: no message has the method \"subtrac\"; did you mean subtract?");
    let other = notes(json!({ "question": "timeline", "server": "search", "sort": "-seconds" }));
    assert_eq!(other, "note: no message has a server");
    let late = notes(json!({ "question": "timeline", "since": "10:00" }));
    assert_eq!(late, "note: no message has a time, for --since, --last and --until");
    assert_eq!(notes(json!({ "question": "timeline" })), Value::Null);
    let refused = agent.refused("ask", &json!({ "question": "errors", "since": "25:00:00" }));
    assert!(refused.starts_with("invalid value '25:00:00' for '--since <TIME>'"), "{refused}");
}

/// Names of messages in answers are names that calls take.
#[test]
fn an_agent_asks_several_logs() {
    let place = Place::with("a.log", LOG);
    place.put("b.log", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"only/b\"}\n");
    place.put("old/b.log", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"only/old\"}\n");
    let mut agent = Agent::new(&place, &["a.log", "b.log", "old/b.log"]);
    let rows = agent.rows("ask", &json!({ "question": "unanswered", "method": "only/*" }));
    let names: Vec<_> = rows.iter().map(|row| row["message"].as_str().unwrap()).collect();
    assert!(names[0].ends_with("/b.log#m1") && names[1].ends_with("/old/b.log#m1"), "{names:?}");
    for (name, method) in names.iter().zip(["only/b", "only/old"]) {
        let shown = agent.rows("show", &json!({ "messages": [name] }));
        assert!(shown.iter().any(|line| line.as_str().unwrap().contains(method)), "{shown:?}");
    }
    assert_eq!(agent.rows("ask", &json!({ "question": "sessions", "inputs": ["a.log"] })).len(), 1);
    assert_eq!(
        agent.refused("show", &json!({ "messages": ["m1"] })),
        "there are several logs: name messages of one with its name, such as a.log#m7"
    );
}

#[test]
fn an_agent_asks_for_a_graph() {
    let place = Place::with("log", LOG);
    place.put("c.jsonld", r#"{"@context": {"a": "https://example.org/a"}}"#);
    let mut agent = Agent::new(&place, &["log", "--protocol", "none", "-c", "c.jsonld", "--offline"]);
    let construct = "CONSTRUCT { ?m jrpc:hasMethod ?method } WHERE { ?m jrpc:hasMethod ?method }";
    let rows = agent.rows("query", &json!({ "sparql": construct }));
    assert!(rows[0].as_str().unwrap().contains("<http://json-rpc.org/ontology#hasMethod> \""), "{rows:?}");
    assert!(!agent.rows("show", &json!({ "messages": ["m1"] })).is_empty());
}

/// The placeholders of all calls are made with one key.
#[test]
fn an_agent_asks_a_redacted_log() {
    let log = LOG.replace("\"a\"", "\"ida-meyer\"").replace("note", "secret/note");
    let place = Place::with("ida-meyer.log", log);
    let mut agent = Agent::new(&place, &["--redact", "ida-meyer.log"]);
    let question = json!({ "question": "timeline" });
    let rows = agent.rows("ask", &question);
    assert_eq!(rows, agent.rows("ask", &question));
    let shown = agent.rows("show", &json!({ "messages": ["m4"] }));
    let all = format!("{rows:?} {shown:?} {:?}", agent.rows("overview", &json!({})));
    assert!(!all.contains("ida-meyer") && !all.contains("secret/note") && all.contains("Method not found"), "{all}");
    // Of several logs, messages are named as in answers.
    place.put("other.log", LOG);
    let mut agent = Agent::new(&place, &["--redact", "ida-meyer.log", "other.log"]);
    let refused = agent.refused("show", &json!({ "messages": ["m4"] }));
    assert!(refused.contains("urn:rpcgraph:x") && !refused.contains("ida-meyer"), "{refused}");
    let rows = agent.rows("ask", &json!({ "question": "timeline" }));
    let shown = agent.rows("show", &json!({ "messages": [rows[0]["message"]] }));
    assert!(!shown.is_empty(), "{rows:?}");
}

#[test]
fn mistakes_of_an_agent_are_results() {
    let place = Place::with("log", LOG);
    place.put("secret", LOG);
    place.put("logs/other", LOG);
    let mut agent = Agent::new(&place, &["log", "--allow", "logs"]);
    assert!(agent.refused("ask", &json!({ "question": "error" })).contains("did you mean errors?"));
    assert_eq!(agent.refused("ask", &json!({})), "`question` is missing");
    assert!(agent.refused("query", &json!({ "sparql": "SELECT ?m { ?m" })).starts_with("not SPARQL, at line 1"));
    for path in ["../secret", "missing", "/etc/passwd"] {
        let refused = agent.refused("overview", &json!({ "inputs": [path] }));
        assert_eq!(refused, format!("{path} is not a log in a folder that --allow names"));
    }
    assert!(agent.refused("show", &json!({ "messages": ["--help"] })).contains("--help"));
    let unknown = agent.ask("tools/call", &json!({ "name": "rm", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[test]
fn pages_of_a_long_answer_join_within_the_budget() {
    let line = |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\",\"params\":[\"\\\"\"]}}\n");
    let long = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{}\"}}\n", "\\\"x".repeat(20_000));
    let log: String = (0..300).map(line).chain([long]).collect();
    let place = Place::with("log", log);
    let mut agent = Agent::new(&place, &["log", "--budget", "4000"]);
    let (mut cursor, mut rows) = (Value::Null, 0);
    loop {
        let result = agent.call("ask", &json!({ "question": "timeline", "cursor": cursor }), 4000);
        let content = &result["structuredContent"];
        assert_eq!(result["content"][0]["text"], content.to_string());
        assert_eq!(content["total"], 301);
        rows += content["rows"].as_array().unwrap().len();
        cursor = content["cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(rows, 301);
}

/// A message that is longer than a page goes on in the next one.
#[test]
fn a_long_message_is_shown_in_pages() {
    let long = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{}\"}}\n", "\\\"é😀".repeat(3_000));
    let place = Place::with("log", format!("{long}{LOG}"));
    let mut agent = Agent::new(&place, &["log", "--budget", "4000"]);
    let (mut cursor, mut texts, mut pages) = (Value::Null, Vec::new(), 0);
    loop {
        let result = agent.call("show", &json!({ "messages": ["m1-m3"], "cursor": cursor }), 4000);
        let content = &result["structuredContent"];
        assert_eq!(content["total"], 3, "{result}");
        let rows: Vec<_> = content["rows"].as_array().unwrap().iter().map(|row| row.as_str().unwrap()).collect();
        match cursor.as_str().is_some_and(|cursor| cursor.contains('.')).then(|| texts.last_mut()).flatten() {
            Some(last) => {
                *last = format!("{last}{}", rows[0]);
                texts.extend(rows[1..].iter().map(ToString::to_string));
            }
            None => texts.extend(rows.iter().map(ToString::to_string)),
        }
        pages += 1;
        cursor = content["cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert!(pages > 4 && texts.len() == 3, "{pages} {}", texts.len());
    let shown = place.run(&["show", "log", "m1-m3"]);
    assert_eq!(format!("{}\n\n", texts.join("\n\n")), shown.text());
    let cut = agent.call("show", &json!({ "messages": ["m1"], "width": 40 }), 4000);
    assert!(cut["structuredContent"]["rows"][0].as_str().unwrap().ends_with(" characters)"), "{cut}");
    assert!(agent.refused("show", &json!({ "messages": ["m1"], "cursor": "1.x" })).contains("is not the cursor"));
}

/// The processes whose parent is a process.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<u32> {
    let line = format!("PPid:\t{parent}");
    let is_child = |id: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{id}/status"));
        status.is_ok_and(|status| status.lines().any(|found| found == line))
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_child).collect()
}

/// Many calls run few processes at once, none of which outlives a server that is killed.
#[test]
#[cfg(target_os = "linux")]
fn processes_end_with_the_server() {
    let place = Place::with("log", format!("{LOG}{}", "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n".repeat(40)));
    let mut agent = Agent::new(&place, &["log", "--timeout", "20"]);
    let endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }";
    for id in 100..140 {
        let params = json!({ "name": "query", "arguments": { "sparql": endless } });
        agent.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }
    let mut running = Vec::new();
    for _ in 0..40 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        running = children(agent.child.id());
        assert!(running.len() <= 16, "{running:?}");
    }
    assert!(!running.is_empty());
    agent.child.kill().unwrap();
    agent.child.wait().unwrap();
    let is_there = |id: &u32| std::path::Path::new(&format!("/proc/{id}")).exists();
    let ended = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        !running.iter().any(is_there)
    });
    assert!(ended, "{running:?}");
}

/// `show` ends at the limit of memory, like every call.
#[test]
#[cfg(target_os = "linux")]
fn show_has_a_memory_limit() {
    let place =
        Place::with("log", format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}\n", "x".repeat(100 << 20)));
    let mut agent = Agent::new(&place, &["log", "--max-memory", "60M", "--timeout", "60"]);
    let refused = agent.refused("show", &json!({ "messages": ["m1"] }));
    assert!(refused.starts_with("memory limit exceeded"), "{refused}");
}

/// A row that is longer than a page is cut, so that its page has an end.
#[test]
fn a_row_wider_than_the_budget_is_cut() {
    let place = Place::with("log", LOG);
    let mut agent = Agent::new(&place, &["log", "--budget", "3000"]);
    let columns: String = (0..60).map(|n| format!(" ({n} AS ?{}{n})", "column".repeat(8))).collect();
    let sparql = format!("SELECT {columns} {{ VALUES ?row {{ 1 2 }} }}");
    let result = agent.call("query", &json!({ "sparql": sparql }), 3000);
    let content = &result["structuredContent"];
    assert_eq!((&content["total"], &content["cursor"]), (&json!(2), &json!("1")), "{result}");
    assert!(content["rows"][0].as_str().is_some_and(|row| row.contains("characters)")), "{result}");
}

/// The official client validates each answer by the tool's output schema.
#[test]
#[ignore = "needs a Python with the package mcp"]
fn the_client_of_mcp_accepts_the_answers() {
    let python = tool("RPCGRAPH_MCP", &[]);
    let place = Place::with("log", LOG);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/client.py");
    let program = env!("CARGO_BIN_EXE_rpcgraph");
    let ran = Command::new(python).args([script, program, &place.path("log").to_string_lossy()]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "overview\nincident\nask\nshow\nquery\nschema\n");
}
