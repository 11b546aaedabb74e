//! How a query ends: services, time, memory and Ctrl-C.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rpcgraph::query::{Answer, Cancel, Dataset, Query};

use super::ask;
use crate::cli::{LOG, Place, REQUEST, RESPONSE};
use crate::http::{Server, respond};

/// Goes on for as long as anybody waits: five hundred triples, five times with each other.
const ENDLESS: &str = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p }";

fn long_log() -> String {
    let requests = (1..=100).map(|id| format!("{}\n", REQUEST.replace("\"id\":1", &format!("\"id\":{id}"))));
    requests.chain([format!("{RESPONSE}\n")]).collect()
}

#[test]
fn services_are_not_called_unless_allowed() {
    for silent in ["", "SILENT "] {
        let query = format!("ASK {{ SERVICE {silent}<http://127.0.0.1:1/> {{ ?s ?p ?o }} }}");
        ask(LOG, &query, &[])
            .said(2, "error: the query calls another server with SERVICE; --allow-service allows it\n");
    }
    let query = "ASK { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }";
    let ran = ask(LOG, query, &["--allow-service"]);
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("http://127.0.0.1:1/"), "{}", ran.stderr);
    assert_eq!(ask(LOG, &query.replace("SERVICE", "SERVICE SILENT"), &["--allow-service"]).text(), "true\n");
}

/// Not even where a feature of another crate would have Oxigraph call them.
#[test]
fn the_library_calls_no_services_unasked() {
    let server = Server::start(|_, stream| respond(stream, "200 OK", &[], "{}"));
    for (silent, fails) in [("", true), ("SILENT ", false)] {
        let query = format!("SELECT * {{ SERVICE {silent}<{}> {{ ?s ?p ?o }} }}", server.url);
        let query = Query::parse(&query, None).expect("a query");
        let dataset = Dataset::new(&query, false).expect("a dataset");
        let error = match dataset.answer(&query, &Cancel::default()) {
            Ok(Answer::Solutions(mut solutions)) => solutions.rows.find_map(Result::err),
            Ok(_) => panic!("a table is wanted"),
            Err(error) => Some(error),
        };
        assert_eq!(error.is_some(), fails, "{error:?}");
        let said = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(!fails || said.contains("which is not allowed"), "{said}");
    }
    assert_eq!(*server.requests.lock().unwrap(), [""; 0]);
}

#[test]
fn a_query_is_given_up_when_its_time_is_up() {
    let place = Place::with("s", long_log());
    let started = Instant::now();
    let ran = place.run(&["query", "s", "-q", ENDLESS, "--timeout", "0.3", "-o", "a.csv"]);
    ran.said(2, "error: time limit exceeded; raise --timeout, or ask for less\n");
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(place.names(), ["s"]);
}

#[cfg(unix)]
#[test]
fn control_c_ends_a_query() {
    let place = Place::with("s", long_log());
    let mut command = place.command(&["query", "s", "-q", ENDLESS]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error: interrupted\n");
}

/// Sends Ctrl-C to a command that is ready for it.
#[cfg(unix)]
fn interrupt(child: &Child) {
    let (status, began) = (format!("/proc/{}/status", child.id()), Instant::now());
    // Linux shows which signals have a handler; SIGINT is the second.
    let catches = || match std::fs::read_to_string(&status) {
        Ok(text) => text
            .lines()
            .filter_map(|line| line.strip_prefix("SigCgt:"))
            .any(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 2 != 0)),
        Err(_) => began.elapsed() > Duration::from_secs(1),
    };
    while !catches() && began.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(10));
    }
    thread::sleep(Duration::from_millis(500));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(killed.success());
}

/// Sends Ctrl-C to a command; its status.
#[cfg(unix)]
fn interrupted(place: &Place, arguments: &[&str]) -> Option<i32> {
    let mut child = place.command(arguments).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    // It stays open: the command waits for more.
    let _input = child.stdin.take();
    interrupt(&child);
    child.wait().expect("it ends").code()
}

/// Also while the log is silent.
#[cfg(unix)]
#[test]
fn waiting_for_a_log_ends_too() {
    let place = Place::new();
    assert_eq!(interrupted(&place, &["query", "-q", "ASK {}"]), Some(2));
    let mut command = place.command(&["query", "-q", "ASK {}", "--timeout", "0.3"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let input = child.stdin.take();
    assert_eq!(child.wait().expect("it ends").code(), Some(2));
    drop(input);
}

#[cfg(target_os = "linux")]
#[test]
fn a_query_is_given_up_when_its_memory_is_used_up() {
    let place = Place::with("s", long_log());
    let endless = "SELECT DISTINCT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }";
    let ran = place.run(&["query", "s", "-q", endless, "--max-memory", "150M", "-o", "a.csv"]);
    ran.said(
        2,
        "error: memory limit exceeded; raise --max-memory, or ask for less: fewer properties, fewer rows, no payloads\n",
    );
    assert_eq!(place.names(), ["s"]);
}

#[cfg(unix)]
#[test]
fn control_c_leaves_no_part_of_an_output() {
    let place = Place::new();
    assert_eq!(interrupted(&place, &["convert", "-o", "a.nt"]), Some(2));
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn an_answer_that_does_not_end_in_time_leaves_no_part_of_an_output() {
    let server = Server::serve(|request, stream| {
        let kind = "Content-Type: application/sparql-results+json";
        if request.text().contains("ASK") {
            return respond(stream, "200 OK", &[kind], r#"{"head":{},"boolean":true}"#);
        }
        let row = r#"{"x":{"type":"literal","value":"1"}}"#;
        write!(
            stream,
            "HTTP/1.1 200 OK\r\n{kind}\r\n\r\n{{\"head\":{{\"vars\":[\"x\"]}},\"results\":{{\"bindings\":[{row},"
        )?;
        // Something always comes, so that the server is not given up.
        for _ in 0..50 {
            thread::sleep(Duration::from_millis(200));
            write!(stream, " ")?;
        }
        Ok(())
    });
    let place = Place::new();
    let query = ["query", "--endpoint", &server.url, "-q", "SELECT ?x { ?x ?y ?z }", "-o", "a.csv", "--timeout", "1"];
    place.run(&query).began(2, "error: ");
    assert_eq!(place.names(), [""; 0]);
}
