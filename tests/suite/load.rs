//! `load` into a server: what is there afterwards, whatever goes wrong on the way.

use std::fmt::Write as _;
use std::thread;

use oxrdf::{GraphName, Quad};
use oxrdfio::RdfFormat;

use crate::cli::{BASE, LOG, Place, REQUEST, RESPONSE, Ran};
use crate::sparql::{Fault, SparqlServer};
use crate::support::assert_isomorphic;

/// How a server can be named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Updates,
    GraphsAndUpdates,
    Graphs,
}

const WAYS: [Way; 3] = [Way::Updates, Way::GraphsAndUpdates, Way::Graphs];

impl Way {
    fn options(self, server: &SparqlServer) -> Vec<String> {
        let mut options = vec!["--endpoint".to_owned(), server.at("/query")];
        if self != Self::Graphs {
            options.extend(["--update".to_owned(), server.at("/update")]);
        }
        if self != Self::Updates {
            options.extend(["--graph-store".to_owned(), server.at("/store")]);
        }
        options
    }
}

/// A log of `count` calls, enough for several batches: about nine triples a record.
fn calls(count: usize) -> String {
    (0..count).fold(String::new(), |mut log, id| {
        let _ = writeln!(log, r#"{{"jsonrpc":"2.0","id":{id},"method":"m","params":{{"text":"\u001b[0m {id}"}}}}"#);
        log
    })
}

/// Calls whose parameters are blank nodes under [`CONTEXT`].
const CONTEXT: &str = r#"{"@context": {"params": {"@id": "http://json-rpc.org/ontology#hasParameters",
    "@context": {"text": "http://x.example/text"}}}}"#;

fn load(place: &Place, server: &SparqlServer, way: Way, arguments: &[&str]) -> Ran {
    let mut all = vec!["load".to_owned()];
    all.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    all.extend(way.options(server));
    place.run(&all)
}

/// Loads `log` as the session [`BASE`].
fn load_log(place: &Place, server: &SparqlServer, way: Way) -> Ran {
    load(place, server, way, &["log", "--base", BASE, "--quiet"])
}

/// The output of `convert` for the same arguments.
fn converted(place: &Place, arguments: &[&str]) -> Vec<Quad> {
    let ran = place.convert(&[arguments, &["-t", "nquads", "--quiet"]].concat());
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    ran.quads(RdfFormat::NQuads)
}

#[track_caller]
fn assert_has(server: &SparqlServer, expected: &[Quad], what: &str) {
    let there = server.quads();
    assert_eq!(there.len(), expected.len(), "{what}: how many");
    assert_isomorphic(&there, expected, what);
}

/// A place with the log that is loaded, and a server that has an older one.
fn grown(way: Way) -> (Place, SparqlServer, Vec<Quad>) {
    let (place, server) = (Place::with("log", LOG), SparqlServer::start());
    load_log(&place, &server, way).quietly();
    let old = converted(&place, &["log", "--base", BASE]);
    assert_has(&server, &old, "the old one");
    place.put("log", calls(700));
    (place, server, old)
}

/// Asserts that the server has what the log is now.
#[track_caller]
fn assert_new(place: &Place, server: &SparqlServer) {
    server.failed();
    assert_has(server, &converted(place, &["log", "--base", BASE]), "the new one");
}

#[test]
fn graphs_are_replaced() {
    for way in WAYS {
        let (place, server, _) = grown(way);
        for _ in 0..2 {
            let ran = load(&place, &server, way, &["log", "--base", BASE]);
            let lines: Vec<_> = ran.stderr.lines().filter(|line| !line.starts_with("note: ")).collect();
            let count = server.quads().len();
            let url = server.at("/query");
            assert_eq!(lines[1..], [format!("loaded 1 session, {count} triples into {url}")], "{}", ran.stderr);
            assert_new(&place, &server);
        }
        // A log that has become shorter, and one without a record.
        for log in [LOG, ""] {
            place.put("log", log);
            load_log(&place, &server, way).quietly();
            assert_new(&place, &server);
        }
        assert_eq!(server.sessions().len(), 1);
    }
}

#[test]
fn sessions_of_one_input_are_a_graph_each() {
    let log = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/claude-desktop/mixed.log")).unwrap();
    for way in WAYS {
        let (place, server) = (Place::with("log", &log), SparqlServer::start());
        place.put("other", LOG);
        let arguments = ["log", "other", "--base", "https://example.org/logs/"];
        for _ in 0..2 {
            let ran = load(&place, &server, way, &[&arguments[..], &["--log-lines", "--provenance"]].concat());
            let sessions = server.sessions().len();
            assert!(sessions > 2);
            assert!(ran.stderr.contains(&format!("\nloaded {sessions} sessions, ")), "{}", ran.stderr);
            let expected = converted(&place, &[&arguments[..], &["--log-lines", "--provenance"]].concat());
            assert_has(&server, &expected, &format!("{way:?}"));
        }
    }
}

#[test]
fn blank_nodes_stay_what_they_are() {
    for way in WAYS {
        let (place, server) = (Place::with("log", calls(700)), SparqlServer::start());
        place.put("c.jsonld", CONTEXT);
        let arguments = ["log", "--base", BASE, "-c", "c.jsonld"];
        for _ in 0..2 {
            load(&place, &server, way, &[&arguments[..], &["--quiet"]].concat()).quietly();
            assert_has(&server, &converted(&place, &arguments), &format!("{way:?}"));
        }
    }
}

#[test]
fn messages_by_themselves_go_to_the_graph_of_the_input() {
    for way in WAYS {
        let (place, server) = (Place::with("log", calls(700)), SparqlServer::start());
        let arguments = ["log", "--base", BASE, "-m", "bblock"];
        let mut expected = converted(&place, &arguments);
        for quad in &mut expected {
            assert_eq!(quad.graph_name, GraphName::DefaultGraph);
            quad.graph_name = oxrdf::NamedNode::new_unchecked(BASE).into();
        }
        for _ in 0..2 {
            let ran = load(&place, &server, way, &arguments);
            assert!(ran.stderr.contains("\nloaded 1 graph, "), "{}", ran.stderr);
            assert_has(&server, &expected, &format!("{way:?}"));
        }
        place.put("log", "");
        load(&place, &server, way, &arguments);
        assert_has(&server, &[], "none");
    }
}

/// Text that only the second batch of a log of 700 calls contains.
const SECOND_BATCH: &str = "#m400>";

/// The requests by which each way sends a log of three batches: two of them, and the last one.
fn steps(way: Way) -> Vec<&'static str> {
    match way {
        Way::Updates => vec!["DROP SILENT GRAPH <urn:rpcgraph:staging:", SECOND_BATCH, "MOVE"],
        Way::GraphsAndUpdates => vec!["PUT ", SECOND_BATCH, "MOVE"],
        Way::Graphs => vec!["PUT "],
    }
}

/// Runs a test of each step of these ways, all at once: most of the time they wait.
fn each_step(ways: &[Way], run: impl Fn(Way, &'static str) + Sync) {
    let run = &run;
    thread::scope(|scope| {
        for &way in ways {
            for step in steps(way) {
                scope.spawn(move || run(way, step));
            }
        }
    });
}

#[test]
fn a_busy_server_is_given_time() {
    let refusals: [(&str, &[&str]); 4] = [
        ("429 Too Many Requests", &["Retry-After: 0"]),
        ("429 Too Many Requests", &[]),
        ("503 Service Unavailable", &["Retry-After: 1"]),
        ("503 Service Unavailable", &["Retry-After: Thu, 01 Jan 2026 00:00:00 GMT"]),
    ];
    each_step(&WAYS, |way, step| {
        let (place, server, _) = grown(way);
        for (status, headers) in refusals {
            server.fail(step, Fault::Refuse(status, headers, ""));
        }
        load_log(&place, &server, way).quietly();
        assert_new(&place, &server);
    });
}

#[test]
fn a_server_that_stays_busy_is_given_up() {
    let (place, server, old) = grown(Way::Updates);
    server.fail_times(SECOND_BATCH, Fault::Refuse("503 Service Unavailable", &["Retry-After: 0"], "full"), 5);
    let message = format!(
        "error: {} answered an update of <{BASE}> with HTTP status 503, saying: full (it is busy; try again later)\n",
        server.at("/update")
    );
    load_log(&place, &server, Way::Updates).said(2, &message);
    server.failed();
    assert_has(&server, &old, "nothing of the new one");
}

#[test]
fn a_refusal_leaves_the_old_graph() {
    for way in WAYS {
        for step in steps(way) {
            let (place, server, old) = grown(way);
            let body = "out  of\u{1b}[31m\nmemory <3";
            server.fail(step, Fault::Refuse("500 Internal Server Error", &["Content-Type: text/plain"], body));
            let ran = load_log(&place, &server, way);
            assert_eq!(ran.status, Some(2));
            let words = " with HTTP status 500, saying: out of\\u{1b}[31m memory <3\n";
            assert!(ran.stderr.ends_with(words), "{}", ran.stderr);
            server.failed();
            assert_has(&server, &old, &format!("{way:?} {step}"));
            // Nothing stands in the way of the next one.
            load_log(&place, &server, way).quietly();
            assert_new(&place, &server);
        }
    }
}

#[test]
fn a_lost_answer_doubles_nothing() {
    for fault in [Fault::LoseAnswer, Fault::Misreport("503 Service Unavailable", &[])] {
        each_step(&WAYS, |way, step| {
            let (place, server, _) = grown(way);
            server.fail(step, fault);
            load_log(&place, &server, way).quietly();
            assert_new(&place, &server);
        });
    }
}

#[test]
fn blank_nodes_are_not_sent_twice() {
    let arguments = ["log", "--base", BASE, "-c", "c.jsonld", "--quiet"];
    each_step(&[Way::Updates, Way::GraphsAndUpdates], |way, step| {
        let (place, server, old) = grown(way);
        place.put("c.jsonld", CONTEXT);
        server.fail(step, Fault::LoseAnswer);
        let ran = load(&place, &server, way, &arguments);
        server.failed();
        let staged = |quad: &Quad| quad.graph_name.to_string().starts_with("<urn:rpcgraph:staging:");
        if step == SECOND_BATCH {
            // The command cannot know whether the server has the new graph.
            assert_eq!(ran.status, Some(2));
            assert!(ran.stderr.starts_with("error: lost the connection to "), "{}", ran.stderr);
            let kept: Vec<_> = server.quads().into_iter().filter(|quad| !staged(quad)).collect();
            assert_isomorphic(&kept, &old, "the old one");
        } else {
            // The first takes away what was there, the last has none.
            ran.quietly();
        }
        load(&place, &server, way, &arguments).quietly();
        assert_has(&server, &converted(&place, &arguments[..5]), &format!("{way:?} {step}"));
    });
}

#[test]
fn a_move_that_nobody_knows_of_is_in_doubt() {
    for fault in [Fault::Vanish, Fault::Hang] {
        let (place, server, old) = grown(Way::Updates);
        server.fail("MOVE", fault);
        let mut arguments = vec!["log", "--base", BASE, "--quiet"];
        if matches!(fault, Fault::Hang) {
            arguments.extend(["--timeout", "1"]);
        }
        let ran = load(&place, &server, Way::Updates, &arguments);
        server.failed();
        let message =
            format!("error: it is unknown whether the server replaced <{BASE}>: load it again, which is safe: ");
        ran.began(2, &message);
        // The old one is there, and what was to replace it is none.
        assert_eq!(server.sessions(), [format!("<{BASE}>")].into());
        let of_session = |quad: &Quad| quad.graph_name.to_string() == format!("<{BASE}>");
        let kept: Vec<_> = server.quads().into_iter().filter(of_session).collect();
        assert_isomorphic(&kept, &old, "the old one");
        load_log(&place, &server, Way::Updates).quietly();
        assert_new(&place, &server);
    }
}

#[test]
fn a_server_that_goes_away_leaves_nothing_that_looks_whole() {
    for way in WAYS {
        let (place, server, old) = grown(way);
        let step = steps(way)[way as usize % 2];
        let step = if way == Way::Graphs { "PUT " } else { step };
        server.fail_times(step, Fault::Vanish, 5);
        let ran = load_log(&place, &server, way);
        server.failed();
        assert_eq!(ran.status, Some(2));
        assert!(ran.stderr.contains(": did the server stop?"), "{}", ran.stderr);
        assert_eq!(server.sessions(), [format!("<{BASE}>")].into());
        let of_session = |quad: &Quad| quad.graph_name.to_string() == format!("<{BASE}>");
        let kept: Vec<_> = server.quads().into_iter().filter(of_session).collect();
        assert_isomorphic(&kept, &old, "the old one");
    }
}

#[test]
fn triples_that_the_server_dropped_are_reported() {
    let (place, server, _) = grown(Way::Updates);
    // It says that it has followed, and has not.
    server.fail(SECOND_BATCH, Fault::Refuse("200 OK", &[], ""));
    let ran = load_log(&place, &server, Way::Updates);
    let (sent, there) = (converted(&place, &["log", "--base", BASE]).len(), server.quads().len());
    assert!(there < sent);
    let message =
        format!("<{BASE}> has {there} triples there, but {sent} were sent: the server does not keep all as it is\n");
    ran.said(1, &message);
}

#[test]
fn failed_counts_give_their_reason() {
    let (place, server, _) = grown(Way::Updates);
    server.fail("COUNT", Fault::Misreport("200 OK", &["Content-Type: application/sparql-results+json"]));
    let url = server.at("/query");
    let message = format!(
        "<{BASE}> is loaded, but what is there could not be counted: the answer of {url} to a query is not the \
         application/sparql-results+json that it says it is: "
    );
    load_log(&place, &server, Way::Updates).began(1, &message);
}

#[test]
fn strict_and_unreadable_inputs_change_nothing() {
    let (place, server, old) = grown(Way::Updates);
    place.put("log", format!("{REQUEST}\n{RESPONSE}\nno JSON\n"));
    place.put("other", REQUEST);
    let before = server.server.count();
    let arguments = ["other", "log", "--base", "https://example.org/", "--strict"];
    let ran = load(&place, &server, Way::Updates, &arguments);
    let message = "log:3: record 3 at byte 77: not JSON: expected `true`, `false` or `null` at byte 78\nthe input was not loaded\n";
    ran.said(1, message);
    assert_has(&server, &old, "strict");
    assert_eq!(server.server.count(), before + 1, "it was only asked whether it is there");

    place.put("log.gz", &crate::cli::gzip(calls(2_000).as_bytes())[..2_000]);
    let arguments = ["log.gz", "missing", "other", "--base", "https://example.org/", "--quiet"];
    let ran = load(&place, &server, Way::Updates, &arguments);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.ends_with("\nerror: 2 of 3 inputs failed\n"), "{}", ran.stderr);
    let expected = [old, converted(&place, &["other", "--base", "https://example.org/other"])].concat();
    let renamed = |quads: Vec<Quad>| -> Vec<String> {
        let mut lines: Vec<_> = quads.iter().map(ToString::to_string).collect();
        lines.sort();
        lines
    };
    assert_eq!(renamed(server.quads()), renamed(expected));
}

#[test]
fn a_log_that_was_not_read_changes_nothing() {
    let (place, server, old) = grown(Way::Updates);
    place.put("log", "2026-11-21 ready\n");
    let ran = load_log(&place, &server, Way::Updates);
    assert!(ran.stderr.ends_with("\nerror: found no JSON-RPC in 1 of 1 input\n"), "{}", ran.stderr);
    ran.began(2, "error: log: found no JSON-RPC (json-lines: 1 malformed record); ");
    assert_has(&server, &old, "unread");
}

/// Side by side, and told in their order; what is there already as it is, is not sent again.
#[test]
fn several_are_loaded_at_a_time() {
    let names: Vec<_> = (10..34).map(|number| format!("{number}.log")).collect();
    for way in WAYS {
        let (place, server) = (Place::new(), SparqlServer::start());
        for (number, name) in names.iter().enumerate() {
            place.put(name, format!("{}no JSON {number}\n", calls(number + 1)));
        }
        let mut arguments: Vec<_> = names.iter().map(String::as_str).collect();
        arguments.insert(5, "missing.log");
        arguments.extend(["--base", "https://example.org/logs/", "--jobs", "8"]);
        for run in 0..2 {
            let ran = load(&place, &server, way, &arguments);
            assert_eq!(ran.status, Some(2), "{}", ran.stderr);
            let told =
                ran.stderr.lines().filter(|line| !["error: ", "note: "].iter().any(|start| line.starts_with(start)));
            let told: Vec<_> = told.filter_map(|line| line.split_once(".log:")).collect();
            assert!(told.is_sorted_by_key(|(log, _)| *log) && told.len() == 20, "{}", ran.stderr);
            let there = if run == 0 { "" } else { "; 23 of them were there already" };
            let line = ran.stderr.lines().find(|line| line.starts_with("loaded ")).expect("what was loaded");
            assert!(line.starts_with("loaded 24 sessions, ") && line.ends_with(&format!("/query{there}")), "{line}");
            assert!(ran.stderr.ends_with("\nerror: 1 of 25 inputs failed\n"), "{}", ran.stderr);
            arguments.remove(5);
            assert_has(&server, &converted(&place, &arguments), &format!("{way:?}"));
            arguments.insert(5, "missing.log");
            // As many triples, but others.
            place.put("20.log", format!("{}no JSON at all\n", calls(10)));
        }
    }
}

/// The first failure in the order of the inputs is reported, and no load begins after it.
#[test]
fn a_server_that_fails_ends_them_all() {
    let (place, server) = (Place::new(), SparqlServer::start());
    let names: Vec<_> = (10..34).map(|number| format!("{number}.log")).collect();
    for name in &names {
        place.put(name, calls(2));
    }
    server.fail_times("MOVE", Fault::Refuse("500 Internal Server Error", &[], "full"), 24);
    let arguments = [&names.iter().map(String::as_str).collect::<Vec<_>>()[..], &["--quiet", "--jobs", "4"]].concat();
    let ran = load(&place, &server, Way::Updates, &arguments);
    assert_eq!((ran.status, ran.stderr.lines().count()), (Some(2), 1), "{}", ran.stderr);
    assert!(ran.stderr.contains("10.log"), "{}", ran.stderr);
    assert!(server.asked().iter().filter(|asked| asked.contains("MOVE")).count() <= 4);
    assert_has(&server, &[], "nothing");
}
