//! Limits of `serve`: queries, memory, connections.

use super::*;

#[test]
fn slow_queries_time_out() {
    let place = Place::with("log.ndjson", LOG);
    let server = Serving::start(&place, &["log.ndjson", "--timeout", "2", "--max-rows", "40", "--max-memory", "200M"]);
    thread::scope(|scope| {
        let endless: Vec<_> = (0..2).map(|_| scope.spawn(|| server.query(ENDLESS, "*/*"))).collect();
        let began = Instant::now();
        // Others are answered, at the latest when those are ended.
        assert_eq!(server.query("ASK {}", "text/csv").text(), "true\n");
        assert!(began.elapsed() < Duration::from_secs(20));
        for endless in endless {
            let reply = endless.join().unwrap();
            assert_eq!(reply.status, 503);
            assert!(reply.text().starts_with("time limit exceeded"), "{}", reply.text());
            assert_eq!(reply.header("retry-after"), Some("1"));
        }
    });
    let many = server.query("SELECT * { ?s ?p ?o }", "text/csv");
    assert_eq!(many.status, 400);
    assert!(many.text().starts_with("the answer has more than 40 rows"), "{}", many.text());
    assert_eq!(server.query("SELECT * { ?s ?p ?o } LIMIT 40", "text/csv").text().lines().count(), 41);
    let large = server.query("SELECT (GROUP_CONCAT(CONCAT(STR(?a), STR(?d), STR(?g), STR(?j))) AS ?all) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }", "*/*");
    assert_eq!(large.status, 503);
    assert!(server.memory() < 800 << 20, "{}", server.memory());
    assert_eq!(server.query("ASK {}", "text/csv").text(), "true\n");
    // No data is asked here that a switch could be looked at with: the next query is answered all the same.
    let values = (0..150).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
    let values: String = ["a", "b", "c", "d", "e"].map(|name| format!("VALUES ?{name} {{ {values} }} ")).concat();
    assert_eq!(server.query(&format!("SELECT (SUM(?a * ?e) AS ?n) {{ {values} }}"), "*/*").status, 503);
    assert_eq!(server.query("ASK {}", "text/csv").text(), "true\n");
}

/// An answer that breaks off does not look like one that is complete.
#[test]
fn an_answer_that_is_cut_is_not_whole() {
    let place = Place::with("log.ndjson", LOG);
    let server = Serving::start(&place, &["log.ndjson", "--max-rows", "5000"]);
    let cut = server.query("SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", "text/csv");
    assert_eq!(cut.status, 200);
    assert!(cut.text().ends_with("CUT"));
    let whole = server.query("SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } LIMIT 5000", "text/csv");
    assert!(whole.text().lines().count() == 5001 && whole.body.len() > 100_000);
}

#[test]
fn slow_clients_do_not_block_others() {
    let place = Place::with("log.ndjson", LOG);
    let server = Serving::start(&place, &["log.ndjson"]);
    let head = |path: &str| {
        format!("{path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n", server.port, server.token)
    };
    // Clients that send nothing, half a head, half a body; and one that does not read.
    let mut slow: Vec<TcpStream> = (0..60).map(|_| server.connect()).collect();
    for (number, stream) in slow.iter_mut().enumerate() {
        let text = match number % 3 {
            0 => String::new(),
            1 => head("GET /"),
            _ => head("POST /sparql") + "Content-Type: application/sparql-query\r\nContent-Length: 100\r\n\r\nASK",
        };
        stream.write_all(text.as_bytes()).unwrap();
    }
    let mut greedy = server.connect();
    for _ in 0..100 {
        greedy.write_all((head("GET /") + "\r\n").as_bytes()).unwrap();
    }
    let began = Instant::now();
    assert_eq!(server.query("ASK {}", "text/csv").text(), "true\n");
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    // Huge ones.
    let huge = server.ask("POST /sparql", "Content-Type: application/sparql-query", &vec![b' '; 200 << 10]);
    assert_eq!(huge.status, 413);
    let mut endless = server.connect();
    let chunked = "Content-Type: application/sparql-query\r\nTransfer-Encoding: chunked\r\n\r\n";
    endless.write_all((head("POST /sparql") + chunked).as_bytes()).unwrap();
    let chunk = [b"10000\r\n", &vec![b' '; 0x10000][..], b"\r\n"].concat();
    assert!((0..1000).any(|_| endless.write_all(&chunk).is_err()), "it is read without end");
    let long = server.ask(&format!("GET /sparql?query={}", "x".repeat(100 << 10)), "", b"");
    assert!([414, 431].contains(&long.status), "{}", long.status);
    // A thousand at a time.
    thread::scope(|scope| {
        let all: Vec<_> =
            (0..1000).map(|_| scope.spawn(|| server.query("SELECT * { ?s ?p ?o }", "text/csv"))).collect();
        for one in all {
            let reply = one.join().unwrap();
            assert_eq!((reply.status, reply.text().lines().count()), (200, 49));
        }
    });
    assert!(server.memory() < 300 << 20, "{}", server.memory());
    let threads = fs::read_dir(format!("/proc/{}/task", server.answering())).unwrap().count();
    assert!(threads < 80, "{threads}");
    // A slow client is disconnected with status 408.
    let told = reply(slow.pop().unwrap());
    assert_eq!(told.status, 408);
}

/// A connection that is refused is answered once and closed, and others wait for those that are open no longer than a head
/// may take.
#[test]
fn connections_have_a_limit() {
    let place = Place::with("log.ndjson", LOG);
    let server = Serving::start(&place, &["log.ndjson"]);
    let mut stream = server.connect();
    let request = "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    stream.write_all(request.repeat(2).as_bytes()).unwrap();
    let refused = reply(stream);
    assert_eq!((refused.status, refused.header("connection")), (421, Some("close")));
    assert!(!refused.text().contains("HTTP/1.1"), "{}", refused.text());
    let began = Instant::now();
    let silent: Vec<TcpStream> = (0..600).filter_map(|_| TcpStream::connect(("127.0.0.1", server.port)).ok()).collect();
    assert!(silent.len() > 512, "{}", silent.len());
    thread::sleep(Duration::from_millis(500));
    let open = fs::read_dir(format!("/proc/{}/fd", server.answering())).unwrap().count();
    assert!(open < 560, "{open}");
    assert_eq!(server.query("ASK {}", "text/csv").text(), "true\n");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

/// A query that exceeds the memory limit ends, and the server continues.
#[test]
fn queries_end_alone() {
    let message =
        |number| format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"m{number}","params":{{"n":{number}}}}}"#);
    let log: Vec<_> = (0..2_000).map(message).collect();
    let place = Place::with("log.ndjson", log.join("\n"));
    let server = Serving::start(&place, &["log.ndjson", "--max-memory", "100M", "--timeout", "60", "--quiet"]);
    let id = server.answering();
    let union = vec!["{ ?a ?b ?c . ?d ?e ?f }"; 1500].join(" UNION ");
    for query in [
        "SELECT ?a { ?a ?b ?c . ?d ?e ?f } ORDER BY ?c",
        "SELECT ?a ?d (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f } GROUP BY ?a ?d ?c ?f",
        &format!("SELECT ?a {{ {union} }} ORDER BY ?c"),
    ] {
        thread::scope(|scope| {
            let large = scope.spawn(|| server.query(query, "text/csv"));
            while !large.is_finished() {
                assert_eq!(server.query("ASK { ?m jrpc:hasMethod 'm7' }", "text/csv").text(), "true\n");
                thread::sleep(Duration::from_millis(20));
            }
            let large = large.join().unwrap();
            assert!(large.status == 503 && large.text().starts_with("memory limit exceeded"), "{}", large.text());
        });
    }
    assert_eq!(server.answering(), id);
    assert!(server.memory() < 400 << 20, "{}", server.memory());
}

/// A query that computes without reading data ends the answering process; another process continues with the data in memory.
#[test]
#[cfg(target_os = "linux")]
fn another_process_goes_on() {
    let place = Place::with("log.ndjson", LOG);
    let server = Serving::start(&place, &["log.ndjson", "--max-memory", "50M", "--quiet"]);
    let id = server.answering();
    place.put("log.ndjson", "");
    let values = (0..150).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
    let values: String = ["a", "b", "c", "d", "e"].map(|name| format!("VALUES ?{name} {{ {values} }} ")).concat();
    let large = server
        .query(&format!("CONSTRUCT {{ <#x> rdf:value ?a }} {{ SELECT * {{ {values} }} ORDER BY ?a }}"), "text/turtle");
    assert!(large.status == 503 && large.text().starts_with("memory limit exceeded"), "{}", large.text());
    let found = server.query("SELECT (COUNT(*) AS ?n) { ?m rpcg:line ?line }", "text/csv");
    assert_eq!(found.text(), "n\r\n5\r\n");
    assert_ne!(server.answering(), id);
}

/// Chains of operators are as deep as brackets.
#[test]
fn chains_of_operators_end_no_stack() {
    let place = Place::with("log.ndjson", LOG);
    let server = Serving::start(&place, &["log.ndjson"]);
    let ask = |chain: &str, length: usize| {
        server.query(&format!("SELECT ({}1 AS ?n) {{}}", chain.repeat(length)), "text/csv")
    };
    for chain in ["1-", "1 - ", "1+", "1*", "true||", "-1 ", "!"] {
        let long = ask(chain, 6_000);
        assert!(long.status == 400 && long.text().contains("more than 5000 operators"), "{chain} {}", long.text());
    }
    assert_eq!(server.query("ASK {}", "text/csv").text(), "true\n");
}
