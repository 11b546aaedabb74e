//! `serve`: who is answered, what, and that nobody keeps others from it.

mod limits;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use oxrdfio::RdfFormat;
use serde_json::Value;

use crate::cli::{LOG, Place, parse};
use crate::report::shown::browser;
use crate::support::{assert_isomorphic, own, tool};

/// A server that runs until the test ends.
pub struct Serving {
    child: Child,
    pub port: u16,
    pub token: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer of the server.
#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

impl Serving {
    pub fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut child = place.command(&[&["serve"], arguments].concat()).stdin(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        let rest = url.trim().strip_prefix("http://127.0.0.1:").unwrap_or_else(|| panic!("{url:?}"));
        let (port, token) = rest.split_once("/?token=").unwrap();
        Self { port: port.parse().unwrap(), token: token.to_owned(), child }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends a head as it is, and a body.
    fn raw(&self, head: &str, body: &[u8]) -> Reply {
        let mut stream = self.connect();
        let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        // The server may have refused it before all is sent.
        let _ = stream.write_all(format!("{head}\r\n{length}Connection: close\r\n\r\n").as_bytes());
        let _ = stream.write_all(body);
        reply(stream)
    }

    /// Asks with the token: `GET /path`, and more lines.
    fn ask(&self, request: &str, more: &str, body: &[u8]) -> Reply {
        let (port, token) = (self.port, &self.token);
        let more =
            more.split('\n').filter(|line| !line.is_empty()).map(|line| format!("\r\n{line}")).collect::<String>();
        self.raw(&format!("{request} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}{more}"), body)
    }

    fn query(&self, query: &str, accept: &str) -> Reply {
        let more = format!("Content-Type: application/sparql-query\nAccept: {accept}");
        self.ask("POST /sparql", &more, query.as_bytes())
    }

    /// The process that answers, which the one that was begun looks after.
    fn answering(&self) -> u32 {
        let parent = format!("PPid:\t{}", self.child.id());
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let mut ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_child = |id: &u32| {
            fs::read_to_string(format!("/proc/{id}/status"))
                .is_ok_and(|status| status.lines().any(|line| line == parent))
        };
        ids.find(is_child).unwrap_or(self.child.id())
    }

    fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.answering())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }
}

fn reply(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let whole = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| panic!("{whole:?} {bytes:?}"));
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let reply = Reply { status, head, body: bytes[end + 4..].to_vec() };
    match reply.header("transfer-encoding") {
        Some("chunked") => Reply { body: unchunked(&reply.body), ..reply },
        _ => reply,
    }
}

/// A body in chunks; what is not ended is marked.
fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            return all;
        }
        let Some(chunk) = body.get(end + 2..end + 2 + size) else { break };
        all.extend_from_slice(chunk);
        body = body.get(end + 2 + size + 2..).unwrap_or_default();
    }
    all.extend_from_slice(b"CUT");
    all
}

/// Never ends: every combination of triples.
const ENDLESS: &str = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n2 ?o . ?p ?q ?r }";

#[test]
fn requests_without_the_token_are_refused() {
    let place = Place::with("log.ndjson", LOG);
    let server = Serving::start(&place, &["log.ndjson"]);
    let (port, token) = (server.port, server.token.clone());
    let host = format!("Host: 127.0.0.1:{port}");
    let bearer = format!("Authorization: Bearer {token}");
    let status = |lines: &[&str], path: &str| {
        server.raw(&[&[format!("GET {path} HTTP/1.1").as_str()], lines].concat().join("\r\n"), b"").status
    };
    assert_eq!(status(&[&host, &bearer], "/"), 200);
    assert_eq!(status(&[&format!("Host: localhost:{port}"), &bearer], "/"), 200);
    // No token, or another.
    for path in [
        "/",
        "/query",
        "/sparql?query=ASK%7B%7D",
        "/sparql",
        "/x",
        "/?token=",
        "/?token=0123456789abcdef0123456789abcdef",
    ] {
        assert_eq!(status(&[&host], path), 401, "{path}");
        assert_eq!(status(&[&host, "Authorization: Bearer 0123456789abcdef0123456789abcdef"], path), 401, "{path}");
    }
    assert_eq!(status(&[&host], &format!("/sparql?query=ASK%7B%7D&token={token}")), 401);
    // A name that was made to stand for this address, which the browser sends with all that it has.
    for other in
        ["evil.example", &format!("evil.example:{port}"), &format!("127.0.0.1.evil.example:{port}"), "127.0.0.1", ""]
    {
        let cookie = format!("Cookie: rpcgraph-{port}={token}");
        assert_eq!(status(&[&format!("Host: {other}"), &bearer, &cookie], "/"), 421, "{other}");
    }
    assert_eq!(status(&[&bearer], "/"), 421);
    assert_eq!(status(&[&host, "Host: evil.example", &bearer], "/"), 421);
    assert_eq!(status(&[&host, &bearer], &format!("http://evil.example:{port}/")), 421);
    // Another site.
    for other in
        ["https://evil.example", "null", &format!("https://127.0.0.1:{port}"), &format!("http://localhost:{port}"), ""]
    {
        assert_eq!(status(&[&host, &bearer, &format!("Origin: {other}")], "/sparql"), 403, "{other}");
    }
    assert_eq!(status(&[&host, &bearer, &format!("Origin: http://127.0.0.1:{port}")], "/sparql"), 200);
    // The pages are below the token. A cookie would go to the servers on other ports.
    let swapped = server.raw(&format!("GET /?token={token} HTTP/1.1\r\n{host}"), b"");
    assert_eq!((swapped.status, swapped.header("location")), (303, Some(format!("/{token}/").as_str())));
    assert_eq!(swapped.header("set-cookie"), None);
    for path in ["", "query", "sparql", "sparql?query=ASK%7B%7D"] {
        assert_eq!(status(&[&host], &format!("/{token}/{path}")), 200, "{path}");
    }
    assert_eq!(status(&[&host], &format!("/{token}/other")), 404);
    for path in [token.clone(), format!("{token}x/"), format!("/{token}/"), format!("{}/", &token[1..])] {
        assert_eq!(status(&[&host], &format!("/{path}")), 401, "{path}");
    }
    assert_eq!(status(&[&host, &format!("Cookie: rpcgraph-{port}={token}")], "/"), 401);
    assert_eq!(status(&[&host, "Origin: https://evil.example"], &format!("/{token}/sparql")), 403);
    assert_eq!(status(&["Host: evil.example"], &format!("/{token}/")), 421);
    // Headers of every answer, including refusals.
    for reply in
        [server.ask("GET /", "", b""), server.ask("GET /sparql", "", b""), server.raw("GET / HTTP/1.1", b""), swapped]
    {
        for (name, value) in
            [("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"), ("cache-control", "no-store")]
        {
            assert_eq!(reply.header(name), Some(value), "{}", reply.head);
        }
        assert!(reply.header("content-security-policy").unwrap().starts_with("default-src 'none'; "), "{}", reply.head);
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
}

#[test]
fn the_pages() {
    let place = Place::with("a.ndjson", LOG);
    place.put("b.ndjson", LOG);
    place.run(&["report", "a.ndjson", "b.ndjson", "-o", "both.html"]).quietly();
    let server = Serving::start(&place, &["a.ndjson", "b.ndjson"]);
    let page = server.ask("GET /", "", b"");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let sessions = format!("\"sessions\":[\"{}\",\"{}\"]", place.iri("a.ndjson"), place.iri("b.ndjson"));
    // The same page, which knows that it can ask.
    let plain = page.text().replace(&sessions, "\"sessions\":null").replacen("; connect-src 'self'", "", 1);
    assert_eq!(plain, String::from_utf8(place.read("both.html")).unwrap());
    let policy = page.text().split("Security-Policy\" content=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(page.header("content-security-policy").unwrap(), format!("{policy}; frame-ancestors 'none'"));
    let ask = server.ask("GET /query", "", b"");
    assert!(ask.text().contains("Ask with SPARQL"));
    assert!(ask.header("content-security-policy").unwrap().contains("connect-src 'self'"));
    assert_eq!(server.ask("HEAD /", "", b"").body, b"");
    assert_eq!(server.ask("GET /other", "", b"").status, 404);
    let refused = server.ask("DELETE /sparql", "", b"");
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD, POST")));
    // The content of standard input is kept while it is served.
    let mut child = place.command(&["serve"]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(LOG.as_bytes()).unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
    let (port, token) = url.trim().trim_start_matches("http://127.0.0.1:").split_once("/?token=").unwrap();
    let server = Serving { port: port.parse().unwrap(), token: token.to_owned(), child };
    let found = server.query("SELECT ?g { GRAPH ?g { ?s rpcg:source 'stdin' } }", "text/csv");
    assert_eq!(found.text(), "g\r\nurn:rpcgraph:stdin\r\n");
}

#[test]
fn the_protocol() {
    let place = Place::with("log.ndjson", LOG);
    let server = Serving::start(&place, &["log.ndjson", "--base", "https://example.org/s"]);
    let query = "SELECT ?method { ?request jrpc:hasMethod ?method } ORDER BY ?method";
    let encoded: String = url::form_urlencoded::Serializer::new(String::new()).append_pair("query", query).finish();
    let form = "Content-Type: application/x-www-form-urlencoded; charset=utf-8\nAccept: text/csv";
    let rows = "method\r\nno\r\nnote\r\nsubtract\r\n";
    assert_eq!(server.ask(&format!("GET /sparql?{encoded}"), "Accept: text/csv", b"").text(), rows);
    assert_eq!(server.ask("POST /sparql", form, encoded.as_bytes()).text(), rows);
    let reply = server.query(query, "text/csv");
    assert_eq!((reply.text(), reply.header("content-type")), (rows, Some("text/csv; charset=utf-8")));
    // Every format, as the command writes it.
    for (accept, name) in [
        ("application/sparql-results+json", "json"),
        ("application/sparql-results+xml", "xml"),
        ("text/csv", "csv"),
        ("text/tab-separated-values", "tsv"),
        ("application/x-ndjson", "jsonl"),
        ("text/markdown", "markdown"),
        ("text/plain", "table"),
    ] {
        let asked = ["query", "log.ndjson", "--base", "https://example.org/s", "--quiet", "-t", name, "-q"];
        for query in [query, "ASK { ?s a jrpc:Request }", "SELECT * { <#m1> ?p ?o } ORDER BY ?p ?o"] {
            let (served, ran) = (server.query(query, accept), place.run(&[&asked[..], &[query]].concat()));
            assert_eq!((served.status, served.text()), (200, ran.text()), "{name} {query}");
            assert_eq!(served.header("content-type").unwrap().split(';').next(), Some(accept));
        }
    }
    for (accept, syntax) in [
        ("text/turtle", RdfFormat::Turtle),
        ("application/n-triples", RdfFormat::NTriples),
        ("application/rdf+xml", RdfFormat::RdfXml),
        ("application/ld+json", RdfFormat::JsonLd { profile: Default::default() }),
        ("application/n-quads", RdfFormat::NQuads),
        ("application/trig", RdfFormat::TriG),
    ] {
        let graph = server.query("CONSTRUCT WHERE { ?s a jrpc:Request ; jrpc:hasMethod ?m }", accept);
        assert_eq!(parse(syntax, &graph.body).len(), 4, "{accept}");
    }
    assert_eq!(server.query(query, "image/png").status, 406);
    // Requests that are not a query.
    let refused = |reply: Reply, status: u16, text: &str| {
        assert!(reply.status == status && reply.text().contains(text), "{} {}", reply.status, reply.text());
    };
    refused(server.query("SELECT", "*/*"), 400, "not SPARQL, at line 1, column 7");
    refused(server.query("DELETE WHERE { ?s ?p ?o }", "*/*"), 400, "this is SPARQL Update");
    refused(server.query("SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }", "*/*"), 400, "SERVICE");
    refused(server.query("\u{0}", "*/*"), 400, "not SPARQL");
    refused(server.ask("POST /sparql", "Content-Type: application/sparql-query", b"\xff"), 400, "UTF-8");
    refused(
        server.ask("POST /sparql", "Content-Type: application/sparql-update", b"CLEAR ALL"),
        400,
        "changes nothing",
    );
    refused(server.ask("POST /sparql", "Content-Type: text/plain", b"ASK {}"), 415, "application/sparql-query");
    refused(server.ask("POST /sparql", form, b"update=CLEAR+ALL"), 400, "changes nothing");
    refused(server.ask("POST /sparql", form, b"x=y"), 400, "missing query");
    refused(server.ask(&format!("GET /sparql?{encoded}&{encoded}"), "", b""), 400, "several queries");
    refused(server.ask("GET /sparql?query=%FF", "", b""), 400, "UTF-8");
    refused(server.ask(&format!("GET /sparql?{encoded}&default-graph-uri=x"), "", b""), 400, "not an IRI");
    // Without a query it says what it is.
    let description = server.ask("GET /sparql", "Accept: text/turtle", b"");
    let service = parse(RdfFormat::Turtle, &description.body);
    assert!(
        service
            .iter()
            .any(|quad| quad.object.to_string() == "<http://www.w3.org/ns/sparql-service-description#SPARQL11Query>")
    );
}

/// A query over what was loaded once has the answer of `query`, which loads what is needed; also where it tells graphs apart.
#[test]
fn answers_are_those_of_the_command() {
    let place = Place::new();
    place.put("a.ndjson", fs::read(own("examples/mcp-session.ndjson")).unwrap());
    place.put("b.ndjson", LOG);
    let server = Serving::start(&place, &["a.ndjson", "b.ndjson", "--quiet"]);
    let mut queries: Vec<String> =
        rpcgraph::query::catalogue::CATALOGUE.iter().map(|query| query.text.to_owned()).collect();
    let graph = place.iri("b.ndjson");
    queries.extend([
        "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }".to_owned(),
        "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g".to_owned(),
        format!("SELECT (COUNT(*) AS ?n) FROM <{graph}> {{ ?s ?p ?o }}"),
        "SELECT (COUNT(*) AS ?n) FROM <file:///etc/passwd> { ?s ?p ?o }".to_owned(),
        "SELECT ?line { ?s rpcg:line ?line } ORDER BY ?line".to_owned(),
        "SELECT ?text { ?s a rpcg:LogLine ; rpcg:text ?text }".to_owned(),
        "SELECT ?t (SUM(STRLEN(STR(?p))) AS ?n) { ?m jrpc:hasParameters|jrpc:hasResult ?p ; a ?t } GROUP BY ?t ORDER BY ?t".to_owned(),
        "SELECT ?e { ?m jrpc:hasParameters/rpcg:element ?e } ORDER BY ?e".to_owned(),
        r##"SELECT ?m ?e { ?m jrpc:hasParameters ?p BIND(rpcg:conforms(?p, '{"not":{"required":["name"]},"items":{"$ref":"#"}}') AS ?e) } ORDER BY ?m"##.to_owned(),
    ]);
    for query in queries {
        let ran = place.run(&["query", "a.ndjson", "b.ndjson", "--quiet", "-t", "json", "-q", &query]);
        let served = server.query(&query, "application/json");
        let [served, ran] = [&served.body, &ran.stdout].map(|json| {
            serde_json::from_slice::<Value>(json)
                .unwrap_or_else(|_| panic!("{query}: {}", String::from_utf8_lossy(json)))
        });
        assert_eq!(served, ran, "{query}");
    }
    let parameters: String = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("query", "SELECT (COUNT(*) AS ?n) { ?s a jrpc:Request }")
        .append_pair("default-graph-uri", &graph)
        .finish();
    assert_eq!(server.ask(&format!("GET /sparql?{parameters}"), "Accept: text/csv", b"").text(), "n\r\n2\r\n");
    let parameters: String = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("query", "SELECT ?e { ?m jrpc:hasParameters ?p . ?p rpcg:element ?e } ORDER BY ?e")
        .append_pair("default-graph-uri", &graph)
        .finish();
    assert_eq!(server.ask(&format!("GET /sparql?{parameters}"), "Accept: text/csv", b"").text(), "e\r\n23\r\n42\r\n");
}

#[test]
fn clients_get_answers() {
    let mut place = Place::with("log.ndjson", LOG);
    let server = Serving::start(&place, &["log.ndjson"]);
    let endpoint = format!("http://127.0.0.1:{}/sparql", server.port);
    place.run(&["query", "--endpoint", &endpoint, "-q", "ASK {}"]).began(2, "error: ");
    place.set("RPCGRAPH_TOKEN", Box::leak(server.token.clone().into_boxed_str()));
    let ran = place.run(&[
        "query",
        "--endpoint",
        &endpoint,
        "-q",
        "SELECT ?m { ?r jrpc:hasMethod ?m } ORDER BY ?m",
        "-t",
        "csv",
        "--quiet",
    ]);
    assert_eq!(ran.text(), "m\r\nno\r\nnote\r\nsubtract\r\n");
    // The messages that it has, too: by name and by id, with what stands around them.
    let shown = |arguments: &[&str]| place.run(&[&["show", "-t", "messages"], arguments].concat());
    for arguments in [&["m2"][..], &["m4-m5"], &["--id", "1"], &["--id", "a"], &["log.ndjson#m4"], &["m3"]] {
        let there = shown(&[&["--endpoint", &endpoint], arguments].concat());
        let log = if arguments[0].contains('#') { &arguments[..0] } else { &["log.ndjson"] };
        let here = shown(&[log, arguments].concat());
        assert_eq!(there.quietly().text().lines().count(), here.quietly().text().lines().count(), "{arguments:?}");
        for (one, other) in there.text().lines().zip(here.text().lines()) {
            let value = |line| serde_json::from_str::<Value>(line).unwrap();
            assert_eq!(value(one), value(other));
        }
    }
    let around = place.run(&["show", "--endpoint", &endpoint, "m5", "--around", "1"]);
    let text = around.quietly().text();
    assert!(text.starts_with("m3 · Notification\n  {") && text.contains("\nm5 · ErrorResponse to m4\n"), "{text}");
    place.run(&["show", "--endpoint", &endpoint, "log#m1"]).began(2, "error: cannot find m1 in http://127.0.0.1:");
    let graph = place.run(&[
        "query",
        "--endpoint",
        &endpoint,
        "-q",
        "DESCRIBE ?m { ?m a jrpc:Request }",
        "-t",
        "ntriples",
        "--quiet",
    ]);
    let log =
        place.run(&["query", "log.ndjson", "-q", "DESCRIBE ?m { ?m a jrpc:Request }", "-t", "ntriples", "--quiet"]);
    assert_isomorphic(&graph.quads(RdfFormat::NTriples), &log.quads(RdfFormat::NTriples), "DESCRIBE");
    let mut curl = Command::new("curl");
    curl.args([
        "-sS",
        "--fail",
        "-G",
        "-H",
        "Accept: text/csv",
        "--data-urlencode",
        "query=SELECT (COUNT(*) AS ?n) { ?s a jrpc:Request }",
    ]);
    match curl.args(["-H", &format!("Authorization: Bearer {}", server.token), &endpoint]).output() {
        Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stdout), "n\r\n2\r\n"),
        Err(_) => println!("skipped: there is no curl"),
    }
}

#[test]
#[ignore = "needs a Python with SPARQLWrapper"]
fn sparqlwrapper_gets_answers() {
    let place = Place::with("log.ndjson", LOG);
    let server = Serving::start(&place, &["log.ndjson"]);
    let endpoint = format!("http://127.0.0.1:{}/sparql", server.port);
    let python = tool("RPCGRAPH_SPARQLWRAPPER", &[]);
    let script = "import sys\nfrom SPARQLWrapper import *\ns = SPARQLWrapper(sys.argv[1])\ns.addCustomHttpHeader('Authorization', 'Bearer ' + sys.argv[2])\n\
        found = []\nfor method, send, form in [(GET, URLENCODED, JSON), (POST, URLENCODED, JSON), (POST, POSTDIRECTLY, JSON)]:\n\
        \x20 s.setMethod(method); s.setRequestMethod(send); s.setReturnFormat(form)\n\
        \x20 s.setQuery('PREFIX jrpc: <http://json-rpc.org/ontology#> SELECT ?m { ?r jrpc:hasMethod ?m } ORDER BY ?m')\n\
        \x20 found.append([row['m']['value'] for row in s.query().convert()['results']['bindings']])\n\
        s.setMethod(GET); s.setRequestMethod(URLENCODED); s.setReturnFormat(XML); s.setQuery('ASK { ?s ?p ?o }')\n\
        found.append('true' in s.query().convert().toxml())\n\
        s.setReturnFormat(TURTLE); s.setQuery('CONSTRUCT WHERE { ?s <http://json-rpc.org/ontology#hasMethod> ?o }')\n\
        found.append(s.query().convert().count(b'hasMethod'))\nprint(found)\n";
    let output = Command::new(python).args(["-c", script, &endpoint, &server.token]).output().unwrap();
    let rows = "['no', 'note', 'subtract']";
    let expected = format!("[{rows}, {rows}, {rows}, True, 3]\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{}", String::from_utf8_lossy(&output.stderr));
}

/// If a followed log is replaced by a file that takes long to read or never ends, requests wait no longer than a query
/// may take.
#[test]
#[cfg(unix)]
fn logs_are_read_again_in_time() {
    let place = Place::with("log", LOG);
    let server = Serving::start(&place, &["log", "--follow", "--timeout", "1", "--quiet"]);
    let asked = || {
        let began = Instant::now();
        let count = server.query("SELECT (COUNT(?m) AS ?n) { ?m rpcg:inSession ?s }", "text/csv");
        assert_eq!(count.text(), "n\r\n5\r\n");
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    };
    asked();
    // Nothing but zeros.
    fs::File::options().write(true).open(place.path("log")).unwrap().set_len(20 << 30).unwrap();
    asked();
    fs::remove_file(place.path("log")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.path("log"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    asked();
    fs::remove_file(place.path("log")).unwrap();
    place.put("log", LOG.repeat(2));
    // The first who ask may get what there was, while it is still found out that the zeros take too long.
    let count = || server.query("SELECT (COUNT(?m) AS ?n) { ?m rpcg:inSession ?s }", "text/csv").text().to_owned();
    let until = Instant::now() + Duration::from_secs(20);
    while count() != "n\r\n10\r\n" {
        assert!(Instant::now() < until, "{}", count());
    }
}

#[cfg(unix)]
/// Each request sees the log as it is then; a log that cannot be read keeps its earlier content.
#[test]
fn logs_that_grow() {
    let place = Place::with("log", LOG);
    let serving = Serving::start(&place, &["log", "--follow"]);
    let count = || {
        let reply = serving.query("SELECT (COUNT(?m) AS ?n) { ?m rpcg:inSession ?s }", "text/csv");
        reply.text().lines().nth(1).map(str::to_owned)
    };
    let (before, page) = (count(), serving.ask("GET /", "", b"").body);
    let message = "{\"jsonrpc\":\"2.0\",\"method\":\"grown\"}\n";
    place.put("log", format!("{LOG}{message}"));
    let grown = before.as_ref().and_then(|count| count.parse::<u64>().ok()).map(|count| (count + 1).to_string());
    assert!(grown.is_some());
    assert_eq!(count(), grown);
    assert_ne!(serving.ask("GET /", "", b"").body, page);
    fs::remove_file(place.path("log")).unwrap();
    assert_eq!(count(), grown);
    place.put("log", LOG);
    assert_eq!(count(), before);
    // Without that, all queries are about what there was, those that read it again too.
    let other = Serving::start(&place, &["log"]);
    place.put("log", message);
    for pattern in
        ["?m rpcg:inSession ?s", "GRAPH ?g { ?m rpcg:inSession ?s }", "?m rpcg:line ?line ; rpcg:inSession ?s"]
    {
        let reply = other.query(&format!("SELECT (COUNT(?m) AS ?n) {{ {pattern} }}"), "text/csv");
        assert_eq!(reply.text().lines().nth(1).map(str::to_owned), before, "{pattern}");
    }
    place.run_with(&["serve", "--follow"], message).began(2, "error: --follow reads logs again as they grow, ");
}

#[test]
fn ctrl_c_ends_it() {
    let place = Place::with("log.ndjson", LOG);
    let mut server = Serving::start(&place, &["log.ndjson"]);
    let mut stream = server.connect();
    let head = format!(
        "POST /sparql HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nContent-Type: application/sparql-query\r\nContent-Length: {}\r\n\r\n{ENDLESS}",
        server.port,
        server.token,
        ENDLESS.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    thread::sleep(Duration::from_millis(200));
    let began = Instant::now();
    let pid = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn unservable_inputs_are_refused() {
    let place = Place::with("log.ndjson", LOG);
    place.put("prose.txt", "nothing\nto see\n");
    place.put("graph.ttl", "<a> <b> <c> .");
    place.run(&["serve", "prose.txt", "--quiet"]).began(2, "error: prose.txt: ");
    place.run(&["serve", "missing.ndjson"]).began(2, "error: cannot read missing.ndjson");
    place.run(&["serve", "graph.ttl"]).began(2, "error: graph.ttl is RDF and not a log");
    let server = Serving::start(&place, &["log.ndjson"]);
    let address = format!("127.0.0.1:{}", server.port);
    for bind in [address.clone(), address.replace("127.0.0.1", "localhost")] {
        place.run(&["serve", "log.ndjson", "--bind", &bind]).began(2, &format!("error: cannot listen on {address}"));
    }
    place
        .run(&["serve", "log.ndjson", "--bind", "here"])
        .began(2, "error: invalid value 'here' for '--bind <ADDRESS[:PORT]>': expected an address such as 127.0.0.1, ");
}

#[test]
#[ignore = "needs Node and Chromium"]
fn a_browser_asks() {
    let (driver, chromium) = browser();
    let place = Place::new();
    place
        .put("log.ndjson", format!("{LOG}{}\n", r#"{"jsonrpc":"2.0","id":9,"method":"<img src=x onerror=alert(1)>"}"#));
    let server = Serving::start(&place, &["log.ndjson", "--follow"]);
    let url = format!("http://127.0.0.1:{}/?token={}", server.port, server.token);
    let output = Command::new("node")
        .arg(own("tests/browser/ask.mjs"))
        .arg(chromium)
        .arg(url)
        .arg(place.path("log.ndjson"))
        .env("RPCGRAPH_BROWSER", driver)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&seen["said"], &seen["violations"]), (&serde_json::json!([]), &serde_json::json!([])));
    assert_eq!(seen["methods"], serde_json::json!(["<img src=x onerror=alert(1)>", "no", "note", "subtract"]));
    assert!(seen["status"].as_str().unwrap().starts_with("4 rows, after "), "{}", seen["status"]);
    assert!(seen["wrong"].as_str().unwrap().contains("not SPARQL, at line 1"), "{}", seen["wrong"]);
    assert!(seen["described"].as_str().unwrap().contains("subtract"), "{}", seen["described"]);
    assert!(seen["named"].as_str().unwrap().starts_with("# "), "{}", seen["named"]);
    assert_eq!(seen["brokenWords"], 0);
    // The comment is above what the editor shows.
    assert_eq!(seen["firstLine"], "PREFIX");
    assert_eq!(seen["graph"].as_str().unwrap().matches("hasMethod").count(), 4);
    let cells = seen["cells"].to_string();
    assert!(cells.contains("#m") && cells.contains("\"jrpc:Request\"") && !cells.contains("http"), "{cells}");
    assert_eq!(seen["coloured"], serde_json::json!(["SELECT", "a"]));
    assert!(seen["downloads"]["CSV"].as_str().unwrap().starts_with("message,class\r\n"), "{}", seen["downloads"]);
    assert!(seen["downloads"]["JSON"].as_str().unwrap().contains("\"bindings\""), "{}", seen["downloads"]);
    assert!(seen["linked"].as_str().unwrap().ends_with(" subtract"), "{}", seen["linked"]);
    assert_ne!(seen["before"], seen["after"]);
    assert_eq!(seen["truth"], "yes");
    assert_eq!(seen["terms"], serde_json::json!(["jrpc:hasMethod"]));
    assert_eq!(seen["completed"], "SELECT * { ?r jrpc:hasMethod 'x' }");
}
