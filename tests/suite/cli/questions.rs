//! Questions as commands, and what is a question.

use super::{BASE, LOG, Place, REQUEST};

/// A log that fails in one place, and a folder with queries of one's own.
fn place() -> Place {
    let place = Place::with("log", LOG);
    place.put("own/calls.rq", "# Who is called\nSELECT ?method { ?r jrpc:hasMethod ?method\n} ORDER BY ?method\n");
    place.put("own/errors.rq", "# Nothing\nASK {}\n");
    place.put("own/notes.txt", "none of them");
    place
}

#[test]
fn questions_are_commands() {
    let place = place();
    for (command, name) in [
        ("timeline", "timeline"),
        ("errors", "errors"),
        ("unanswered", "unanswered"),
        ("slowest", "slowest"),
        ("methods", "methods"),
        ("tools", "tools"),
        ("problems", "problems"),
        ("handshake", "handshake"),
    ] {
        let asked = place.run(&["ask", name, "log", "-t", "csv", "--quiet"]);
        assert!(asked.quietly().text().lines().count() > 0);
        let ran = place.run(&[command, "log", "-t", "csv", "--quiet"]);
        assert_eq!(ran.quietly().stdout, asked.stdout, "{command}");
    }
    // From standard input too, and not only from logs.
    let piped = place.run_with(&["errors", "-t", "csv", "--base", BASE, "--quiet"], LOG);
    place.put("graph.nq", &place.convert(&["log", "-t", "nquads", "--base", BASE, "--quiet"]).stdout);
    let graph = place.run(&["errors", "graph.nq", "-t", "csv", "--quiet"]);
    assert!(graph.quietly().text().contains("Method not found"), "{}", graph.text());
    assert_eq!(graph.stdout, piped.quietly().stdout);
}

#[test]
fn queries_of_ones_own() {
    let mut place = place();
    let ran = place.run(&["ask", "calls", "log", "--queries", "own", "-t", "csv"]);
    ran.said(0, "3 rows\n");
    assert_eq!(ran.text(), "method\r\nno\r\nnote\r\nsubtract\r\n");
    let list = place.run(&["ask", "--queries", "own"]);
    assert!(list.quietly().text().contains("calls\n    Who is called\n"), "{}", list.text());
    assert!(!list.text().contains("Nothing"), "{}", list.text());
    place.run(&["ask", "none", "log", "--queries", "own"]).began(2, "error: unknown query \"none\"; use one of ");
    place.run(&["ask", "none", "log", "--queries", "gone"]).began(2, "error: cannot read the queries in gone: ");
    // What is built in is not shadowed.
    let ran = place.run(&["ask", "errors", "log", "--queries", "own", "-t", "csv"]);
    ran.said(0, "note: errors is the built-in question; a query of your own needs another name\n1 row\n");
    place.set("RPCGRAPH_QUERIES", "own");
    assert_eq!(place.run(&["ask", "calls", "log", "-t", "csv"]).text().lines().count(), 4);
    assert!(place.run(&["ask", "calls", "--print"]).quietly().text().starts_with("# Who is called"));
}

#[test]
fn a_wrong_name_or_text_is_told_what_it_is() {
    let place = place();
    let ran = place.run(&["ask", "eror", "log"]);
    ran.began(2, "error: unknown query \"eror\"; use one of overview, sessions, ");
    assert!(ran.stderr.ends_with(" (did you mean errors?)\n"), "{}", ran.stderr);
    place
        .run(&["query", "log", "-q", "errors"])
        .said(2, "error: errors is not SPARQL but the name of a question: rpcgraph ask errors INPUT\n");
    place
        .run(&["query", "log", "-q", "own/errors.rq"])
        .said(2, "error: own/errors.rq is not SPARQL but a file: name it with --query-file\n");
    let ran = place.run(&["query", "log"]);
    ran.began(2, "error: missing query: write SPARQL or a file NAME.rq before the inputs, or name one with ");
    let ran = place.run(&["errors", "log", "-t", "turtle"]);
    ran.began(2, "error: the answer is rows, and turtle is for a graph: one of table, csv, ");
    let ran = place.run(&["query", "log", "-q", "DESCRIBE <#m1>", "-t", "csv"]);
    ran.began(2, "error: the answer is a graph, and csv is for rows: one of turtle, ");
    let ran = place.run(&["errors", "log", "-t", "excel"]);
    assert!(ran.stderr.contains("unknown format; use one of table, csv, "), "{}", ran.stderr);
}

/// As with jq and rg, the query may come first.
#[test]
fn the_query_may_come_first() {
    let mut place = place();
    let expected = place.run(&["query", "log", "-q", "ASK { ?x a jrpc:Request }"]);
    assert_eq!(expected.quietly().text(), "true\n");
    place.put("q.rq", "ASK { ?x a jrpc:Request }");
    place.put("ask.log", LOG);
    for query in [
        "ASK { ?x a jrpc:Request }",
        "# any\nask{?x a jrpc:Request}",
        "PREFIX a: <urn:> ASK { ?x a jrpc:Request }",
        "q.rq",
    ] {
        for arguments in [&["query", query, "log"][..], &["query", "--quiet", query, "ask.log"]] {
            assert_eq!(place.run(arguments).quietly().stdout, expected.stdout, "{arguments:?}");
        }
        assert_eq!(place.run_with(&["query", query], LOG).quietly().stdout, expected.stdout, "{query}");
    }
    place.run(&["query", "ask.log", "--query-file", "q.rq"]).quietly();
    place.run(&["query", "gone.rq", "log"]).began(2, "error: cannot read the query from gone.rq: ");
    place.run(&["query", "SELCT * { ?x a ?y }", "log"]).began(2, "error: not SPARQL, at line 1, column 1: ");
    place.run(&["query", "errors", "log"]).began(2, "error: errors is not SPARQL but the name of a question: ");
    let ran = place.run(&["query", "log", "-q", "ASK {}", "--endpoint", "http://localhost:1"]);
    ran.said(2, "error: --store and --endpoint do not take inputs: leave out log\n");
    place.set("RPCGRAPH_QUERIES", "own");
    place.run(&["query", "calls", "log"]).began(2, "error: calls is not SPARQL but the name of a question: ");
}

#[test]
fn completions_know_questions_and_formats() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let ran = place.run(&["completions", shell]);
        // The script for fish has no values of what is not an option.
        let values = if shell == "fish" { &[][..] } else { &["in-flight", "tool-failures"] };
        for word in values.iter().chain(&["markdown", "jsonl", "turtle"]) {
            assert!(ran.text().contains(word), "{shell} knows {word}");
        }
    }
}

#[test]
fn rows_as_lines_of_json() {
    let place = Place::with("data.nt", "");
    let query = r#"SELECT * { VALUES (?iri ?plain ?number ?yes ?json ?no) {
        (<urn:a> "a \"b\"\n" 1.50 true "[1,\n{\"a\":null}]"^^rdf:JSON UNDEF)
        (UNDEF "x"@en "NaN"^^xsd:double "1"^^xsd:boolean "{"^^rdf:JSON UNDEF)
        (UNDEF UNDEF UNDEF UNDEF UNDEF UNDEF) } }"#;
    let ran = place.run(&["query", "data.nt", "-q", query, "-t", "jsonl"]);
    ran.said(0, "3 rows\n");
    let expected = concat!(
        r#"{"iri":"urn:a","plain":"a \"b\"\n","number":1.50,"yes":true,"json":[1, {"a":null}]}"#,
        "\n",
        r#"{"plain":"x","number":"NaN","yes":true,"json":"{"}"#,
        "\n{}\n"
    );
    assert_eq!(ran.text(), expected.replace("1.50", "1.5"));
    place.run(&["query", "data.nt", "-q", query, "-o", "a.jsonl", "--quiet"]).quietly();
    assert_eq!(place.read("a.jsonl"), ran.stdout);
}

#[test]
fn rows_as_markdown() {
    let place = Place::with("data.nt", "");
    let query = r#"SELECT * { VALUES (?word ?number) { ("a|b *c*\n`d` <e>" 7) ("é" 12) } }"#;
    let ran = place.run(&["query", "data.nt", "-q", query, "-t", "markdown"]);
    ran.said(0, "2 rows\n");
    assert_eq!(ran.text(), "| word | number |\n| --- | --: |\n| a\\|b \\*c\\*\\\\n\\`d\\` \\<e\\> | 7 |\n| é | 12 |\n");
    place.run(&["query", "data.nt", "-q", query, "-o", "a.md", "--quiet"]).quietly();
    assert_eq!(place.read("a.md"), ran.stdout);
}

/// The first word is a command, else a log, which is told at a glance.
#[test]
fn first_argument_is_a_command_or_a_log() {
    let place = place();
    place.put("errors", LOG);
    let overview = place.run(&["overview", "log", "--quiet"]);
    assert!(overview.quietly().text().contains("failures  no: error -32601"), "{}", overview.text());
    for arguments in [
        &["log", "--quiet"][..],
        &["--quiet", "log"],
        &["-f", "json-lines", "log", "--quiet"],
        &["./errors", "--quiet"],
    ] {
        assert_eq!(place.run(arguments).quietly().stdout, overview.stdout, "{arguments:?}");
    }
    for arguments in [&["--quiet"][..], &["-", "--quiet"]] {
        assert_eq!(place.run_with(arguments, LOG).quietly().stdout, overview.stdout, "{arguments:?}");
    }
    let piped = place.run_with::<&str>(&[], LOG);
    piped.said(0, "6 rows\nask next: rpcgraph errors, unanswered, slowest, problems or timeline\n");
    let note = "note: errors is the command; the file of that name is ./errors\n";
    place.run(&["errors", "log", "--quiet"]).said(0, note);
    place.run(&["--quiet", "errors", "log"]).said(0, note);
    place
        .run(&["erors", "log"])
        .said(2, "error: unknown command or file \"erors\": did you mean `errors` or the file errors?\n");
    place.run(&["lgo"]).said(2, "error: unknown command or file \"lgo\": did you mean the file log?\n");
    place
        .run(&["own/call.rq"])
        .began(2, "error: unknown command or file \"own/call.rq\": did you mean the file own/calls.rq?");
    place.run(&["qqqq"]).said(2, "error: unknown command or file \"qqqq\": rpcgraph --help lists the commands\n");
}

/// For scripts: what was found is the exit status, if that is asked for.
#[test]
fn findings_can_fail_a_script() {
    let place = place();
    for (question, rows) in [("errors", true), ("unanswered", false)] {
        for (option, fails) in [("rows", rows), ("none", !rows)] {
            let ran = place.run(&[question, "log", "--quiet", "--fail-if", option]);
            assert_eq!(ran.status, Some(i32::from(fails)), "{question} {option}");
        }
    }
    assert_eq!(place.run(&["query", "log", "-q", "ASK { ?x a rpcg:Batch }", "--fail-if", "none"]).status, Some(1));
}

/// What can be read is answered, what cannot is told, and the status says that not all was.
#[test]
fn an_input_that_is_missing_does_not_hide_the_others() {
    let place = place();
    let alone = place.run(&["errors", "log", "--quiet", "--columns", "code,error"]);
    let ran = place.run(&["errors", "gone", "log", "--quiet", "--columns", "code,error"]);
    ran.began(2, "error: cannot read gone: ");
    assert!(ran.stderr.ends_with("error: 1 of 2 inputs could not be read\n"), "{}", ran.stderr);
    assert_eq!(ran.stdout, alone.quietly().stdout);
    place.run(&["errors", "gone"]).began(2, "error: cannot read gone: ");
}

/// What is made only if it is asked for is made where a query names it.
#[test]
fn places_are_made_for_the_query_that_names_them() {
    let place = place();
    let query = "SELECT ?line { ?m jrpc:hasMethod \"no\" ; rpcg:line ?line }";
    let ran = place.run(&["query", "log", "-q", query, "-t", "csv"]);
    ran.said(0, "1 row\n");
    assert_eq!(ran.text(), "line\r\n4\r\n");
    place.put("app.log", format!("starting\n<< {REQUEST}\nthe end\n"));
    let ran = place.run(&[
        "query",
        "app.log",
        "-q",
        "SELECT ?t { ?l a rpcg:LogLine ; rpcg:text ?t } ORDER BY ?t",
        "-t",
        "csv",
        "--quiet",
    ]);
    assert_eq!(ran.quietly().text(), "t\r\nstarting\r\nthe end\r\n");
}

/// A graph gives back the messages that it was made from.
#[test]
fn graphs_give_messages_back() {
    let log = "{\"jsonrpc\":\"2.0\",\"id\":1.50,\"method\":\"m\",\"params\":[1e400],\"x\":null}\nno JSON\n[{\"jsonrpc\":\"2.0\",\"method\":\"a\"},7]\n";
    let place = Place::with("log", log);
    for file in ["a.nq", "b.ttl.gz", "c.jsonld"] {
        assert_eq!(place.convert(&["log", "-o", file, "--quiet"]).status, Some(0));
        let rebuilt = place.run(&["rebuild", file]);
        assert_eq!(rebuilt.quietly().text(), log.replace("1.50", "1.5"), "{file}");
        place.run(&["rebuild", file, "-o", "again.ndjson"]).quietly();
        assert_eq!(place.read("again.ndjson"), rebuilt.stdout);
    }
    place.run(&["rebuild", "log"]).said(2, "error: log is not an RDF file, by its extension\n");
    place.run(&["rebuild", "gone.nq"]).began(2, "error: cannot read gone.nq: ");
}

/// A folder stands for the files in it: with `-r` for those in its folders, too; never for what is hidden, or leads elsewhere.
#[cfg(unix)]
#[test]
fn folders_are_read() {
    let place = place();
    for name in ["logs/b.ndjson", "logs/a.ndjson", "logs/.hidden", "logs/more/c.ndjson", "elsewhere/d.ndjson"] {
        place.put(name, LOG);
    }
    std::os::unix::fs::symlink(place.path("elsewhere"), place.path("logs/link")).unwrap();
    std::os::unix::fs::symlink(place.path("elsewhere/d.ndjson"), place.path("logs/d.ndjson")).unwrap();
    for (options, logs) in [
        (&[][..], &["logs/a.ndjson", "logs/b.ndjson"][..]),
        (&["-r"], &["logs/a.ndjson", "logs/b.ndjson", "logs/more/c.ndjson"]),
    ] {
        for command in [&["errors", "-t", "csv"][..], &["convert", "-t", "nquads"]] {
            let expected = place.run(&[command, logs, &["--quiet"]].concat());
            let ran = place.run(&[command, options, &["logs", "--quiet"]].concat());
            assert_eq!(ran.quietly().stdout, expected.quietly().stdout, "{command:?} {options:?}");
        }
    }
    assert!(place.run(&["logs", "--quiet"]).quietly().text().contains("sessions  json-lines"));
    for command in
        [&["report", "-o", "page.html"][..], &["capture", "-o", "block"], &["detect"], &["load", "--store", "s"]]
    {
        let ran = place.run(&[command, &["-r", "logs"]].concat());
        assert!(ran.status == Some(0) || ran.stderr.contains("rocksdb"), "{command:?}: {}", ran.stderr);
    }
    let shown = place.run(&["show", "logs", "-r", "m2", "-t", "messages"]);
    assert_eq!(shown.quietly().text().lines().count(), 6);
    place.run(&["show", "logs", "-r", "m2", "-t", "messages", "-o", "m2.ndjson"]).quietly();
    assert_eq!(place.read("m2.ndjson"), shown.stdout);
    let note = "note: logs: 1 folder in it not read; -r reads the files in them, too\n";
    place.run(&["convert", "logs", "-t", "nquads"]).began(0, note);
    let ran = place.run(&["convert", "-r", "logs", "-t", "nquads"]);
    assert!(!ran.stderr.contains("not read"));
}

/// The id 15 is found however it is written.
#[test]
fn ids_are_found_by_their_numbers() {
    let place = Place::with("log", LOG.replace("\"id\":1,", "\"id\":1.50,"));
    for number in ["1.5", "1.50", "15e-1"] {
        let query = format!("SELECT ?m {{ ?m jrpc:hasMethod ?name ; jrpc:hasId/jrpc:hasNumberValue {number} }}");
        let ran = place.run(&["query", "log", "-q", &query, "-t", "csv", "--base", BASE]);
        ran.said(0, "1 row\n");
        assert_eq!(ran.text(), format!("m\r\n{BASE}#m1\r\n"));
    }
}

/// Records that are wrong in the same way are one row, with their number and the first of them.
#[test]
fn problems_are_counted() {
    let others: String = (0..132).map(|n| format!("{{\"hello\":{n}}}\nno JSON {n}\n")).collect();
    let place = Place::with("log", format!("{REQUEST}\n{others}[7,8]\n{{\"id\":1,\"result\":1}}\n"));
    let ran = place.run(&["problems", "log", "-t", "csv", "--quiet", "--columns", "kind,problem,count,text"]);
    assert_eq!(
        ran.quietly().text().replace('\r', ""),
        "kind,problem,count,text\n\
         Response,MissingVersion,1,\n\
         InvalidMessage,\"a number, not an object\",2,7\n\
         MalformedRecord,,132,no JSON 0\n\
         InvalidMessage,\"no method, result or error\",132,\"{\"\"hello\"\":0}\"\n"
    );
    let first = place.run(&["problems", "log", "-t", "csv", "--quiet", "--columns", "message"]);
    let names: Vec<_> = first.text().lines().filter_map(|line| Some(line.rsplit_once('#')?.1)).collect();
    assert_eq!(names, ["m267", "m266.1", "m3", "m2"]);
}

/// No rows have a reason, where the program can know it.
#[test]
fn no_rows_are_explained() {
    let place = Place::with("log", LOG);
    for (query, note) in [
        (
            "SELECT * { ?m a jrpc:Message }",
            "0 rows\nnote: instances of jrpc:Message have the type of a subclass: ask for jrpc:Request, \
             jrpc:Notification, jrpc:Response, jrpc:ErrorResponse\n",
        ),
        (
            "SELECT * { ?m jrpc:hasId ?id . ?id a jrpc:RequestId }",
            "0 rows\nnote: instances of jrpc:RequestId have the type of a subclass: ask for jrpc:StringId, \
             jrpc:NumberId, jrpc:NullId\n",
        ),
        (
            "SELECT * { ?m jrpc:hasParameters ?p FILTER(rpcg:json(?p, 'x') = 1.5) }",
            "note: \"x\" is not a JSON Pointer and finds nothing: did you mean \"/x\"?\n0 rows\n",
        ),
        ("SELECT * { ?m jrpc:hasParameters ?p FILTER(rpcg:json(?p, '/x') = 1.5) }", "1 row\n"),
        ("SELECT * { ?m a ?c VALUES ?c { jrpc:Message jrpc:Request } }", "2 rows\n"),
    ] {
        place.run(&["query", "log", "-q", query]).said(0, note);
    }
    place
        .run(&["errors", "log", "--session", "no"])
        .said(0, "0 rows\nnote: no message has the session \"no\"; there are log\n");
    for name in ["tool-failures", "operations"] {
        let stderr = format!("error: unknown command or file \"{name}\": did you mean `ask {name}`?\n");
        place.run(&[name]).said(2, &stderr);
    }
    place.run(&["ASK {}"]).said(2, "error: unknown command or file \"ASK {}\": did you mean `query`?\n");
    place.run(&["queries"]).said(2, "error: unknown command or file \"queries\": did you mean `query`?\n");
}

/// An option or a command of another tool leads to ours, if the command has ours.
#[test]
fn words_of_other_tools_lead_to_ours() {
    let place = Place::with("log", LOG);
    for (arguments, tip) in [
        (&["errors", "log", "--format", "json"][..], "a similar argument exists: '--to'"),
        (&["errors", "log", "--json"], "a similar argument exists: '--to json'"),
        (&["timeline", "log", "--grep=x"], "a similar argument exists: '--contains'"),
        (&["check", "log", "--explain", "x"], "a similar argument exists: '--rule'"),
        (&["ask", "errors", "--sparql"], "a similar argument exists: '--print'"),
        (&["diff", "log", "log"], "did you mean `compare`?"),
        (&["stats", "log"], "did you mean `overview`?"),
    ] {
        let ran = place.run(arguments);
        assert!(ran.stderr.contains(tip), "{arguments:?}: {}", ran.stderr);
    }
    assert!(!place.run(&["register", "log", "--grep"]).stderr.contains("contains"));
}
