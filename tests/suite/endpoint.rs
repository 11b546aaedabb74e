//! Servers as the library sees them, and what the command says when one cannot be used.

use std::io::Write as _;
use std::time::Duration;

use oxrdf::{GraphName, NamedNode, Quad, Term};
use rpcgraph::endpoint::{Credentials, Endpoint, EndpointError, ServerAnswer, ServerDataset};
use rpcgraph::vocab::rpcg;
use tempfile::TempDir;

use crate::cli::{BASE, LOG, Place};
use crate::http::{Server, ok, redirect, respond};
use crate::sparql::{Fault, SparqlServer};

fn endpoint(url: &str) -> Endpoint {
    Endpoint::builder(url).timeout(Duration::from_secs(5)).build().expect("an endpoint")
}

fn ask(url: &str, query: &str) -> Result<ServerAnswer, EndpointError> {
    endpoint(url).query(query, &ServerDataset::default())
}

/// Returns the error of a query, which may be in the answer; `S` replaces the URL of the server.
fn refusal(server: &Server, query: &str) -> String {
    let url = format!("{}/query", server.url);
    let error = match ask(&url, query) {
        Err(error) => error,
        Ok(ServerAnswer::Solutions(mut solutions)) => solutions.rows.find_map(Result::err).expect("an error"),
        Ok(ServerAnswer::Graph(mut triples)) => triples.find_map(Result::err).expect("an error"),
        Ok(ServerAnswer::Boolean(answer)) => panic!("{answer}"),
    };
    error.to_string().replace(&server.url, "S")
}

fn typed(content_type: &'static str, body: &'static str) -> Server {
    Server::start(move |_, stream| respond(stream, "200 OK", &[&format!("Content-Type: {content_type}")], body))
}

const XML: &str = r#"<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="x"/></head><results>
<result><binding name="x"><literal>1</literal></binding></result><result/></results></sparql>"#;

#[test]
fn answers_of_every_kind() {
    let server = SparqlServer::start();
    let url = server.at("/query");
    assert!(matches!(ask(&url, "ASK {}"), Ok(ServerAnswer::Boolean(true))));
    assert!(matches!(ask(&url, "ASK { ?s ?p ?o }"), Ok(ServerAnswer::Boolean(false))));
    let Ok(ServerAnswer::Solutions(solutions)) = ask(&url, "SELECT ?x ?y { VALUES (?x ?y) { (1 UNDEF) (UNDEF 'é') } }")
    else {
        panic!("solutions");
    };
    assert_eq!(solutions.variables.iter().map(|name| name.as_str()).collect::<Vec<_>>(), ["x", "y"]);
    let rows: Vec<Vec<Option<Term>>> = solutions.rows.map(|row| row.unwrap().values().to_vec()).collect();
    assert_eq!(rows, [[Some(Term::Literal(1.into())), None], [None, Some(Term::Literal("é".into()))]]);
    let Ok(ServerAnswer::Graph(triples)) = ask(&url, "CONSTRUCT { <urn:a> <urn:b> 1 } {}") else { panic!("a graph") };
    assert_eq!(triples.map(|triple| triple.unwrap().predicate).collect::<Vec<_>>(), [NamedNode::new("urn:b").unwrap()]);

    // Not as we asked for it, but as the answer says.
    let server = typed("application/sparql-results+xml; charset=UTF-8", XML);
    let Ok(ServerAnswer::Solutions(solutions)) = ask(&server.url, "SELECT * {}") else { panic!("solutions") };
    assert_eq!(solutions.rows.map(|row| row.unwrap().get("x").is_some()).collect::<Vec<_>>(), [true, false]);
    let server = typed("text/turtle", "<a> <b> [] .");
    let Ok(ServerAnswer::Graph(mut triples)) = ask(&server.url, "DESCRIBE <urn:a>") else { panic!("a graph") };
    assert_eq!(triples.next().unwrap().unwrap().predicate.as_str(), format!("{}/b", server.url));
    // Virtuoso answers ASK with a row or none.
    let server = typed("application/sparql-results+xml", XML);
    assert!(matches!(ask(&server.url, "ASK {}"), Ok(ServerAnswer::Boolean(true))));
}

#[test]
fn the_default_graph_may_have_to_be_named() {
    let server = SparqlServer::start();
    let endpoint = endpoint(&server.at("/query"));
    assert_eq!(endpoint.dataset_for_union().unwrap(), ServerDataset::default());
    let [one, two] = ["urn:one", "urn:two"].map(|iri| NamedNode::new(iri).unwrap());
    let typed = |node: &NamedNode, class: oxrdf::NamedNodeRef<'_>, graph: GraphName| {
        Quad::new(node.clone(), oxrdf::vocab::rdf::TYPE, class, graph)
    };
    for node in [&one, &two] {
        server.store.insert(&typed(node, rpcg::SESSION, node.clone().into())).unwrap();
    }
    server.store.insert(&typed(&one, rpcg::ROLE, NamedNode::new("urn:other").unwrap().into())).unwrap();
    let mut dataset = endpoint.dataset_for_union().unwrap();
    dataset.default_graphs.sort();
    dataset.named_graphs.sort();
    let graphs = vec![one.clone(), two.clone()];
    assert_eq!(dataset, ServerDataset { default_graphs: graphs.clone(), named_graphs: graphs });
    let count = |dataset| {
        let Ok(ServerAnswer::Solutions(solutions)) = endpoint.query("SELECT * { ?s a ?class }", dataset) else {
            panic!("rows")
        };
        solutions.rows.count()
    };
    assert_eq!((count(&ServerDataset::default()), count(&dataset)), (0, 2));
    server.store.insert(&typed(&one, rpcg::SESSION, GraphName::DefaultGraph)).unwrap();
    assert_eq!(endpoint.dataset_for_union().unwrap(), ServerDataset::default());
}

#[test]
fn unexpected_content_types_are_described() {
    let html = "text/html;charset=utf-8";
    let page = "<!doctype html><p>It works</p>";
    assert_eq!(
        refusal(&typed(html, page), "SELECT * {}"),
        "S/query answered a query with text/html;charset=utf-8 where SPARQL results in JSON or XML was expected: is \
         it the URL of a SPARQL server?"
    );
    let server = Server::start(|_, stream| ok(stream, ""));
    assert_eq!(
        refusal(&server, "CONSTRUCT {} {}"),
        "S/query answered a query with an unknown content type where RDF was expected: is it the URL of a SPARQL server?"
    );
    let json = "application/sparql-results+json";
    let not_json = "the answer of S/query to a query is not the application/sparql-results+json that it says it is";
    for body in ["", "no", "{}", r#"{"head":{"vars":["x"]},"results":{"bindings":[{"x":1}]}}"#] {
        assert_eq!(refusal(&typed(json, body), "SELECT * {}"), not_json, "{body}");
    }
    let not_turtle = "the answer of S/query to a query is not the text/turtle that it says it is";
    assert_eq!(refusal(&typed("text/turtle", "<a> <b> ."), "CONSTRUCT {} {}"), not_turtle);
    let long = typed("text/plain", Box::leak("x".repeat(2_000).into_boxed_str()));
    let message = refusal(&long, "ASK {}");
    assert!(message.contains(&format!("saying: {}…: is", "x".repeat(1_000))), "{message}");

    let server = SparqlServer::start();
    server.fail("VALUES", Fault::CutOff);
    let lost = "lost the connection to S/query in a query: did the server stop?";
    assert_eq!(refusal(&server.server, "SELECT * { VALUES ?x { 1 2 3 4 5 6 7 8 9 } }"), lost);
    let silent = Server::start(|path, stream| match path {
        "/query" => {
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/turtle\r\nContent-Length: 99\r\n\r\n<a> <b> <c> .\n"
            )?;
            std::thread::sleep(Duration::from_secs(6));
            Ok(())
        }
        _ => Ok(()),
    });
    let url = format!("{}/query", silent.url);
    let patient = Endpoint::builder(&url).timeout(Duration::from_secs(2)).build().unwrap();
    let Ok(ServerAnswer::Graph(triples)) = patient.query("CONSTRUCT {} {}", &ServerDataset::default()) else {
        panic!("a graph")
    };
    let error = triples.last().unwrap().unwrap_err().to_string();
    assert_eq!(error, format!("no answer from {url} to a query within 2 s: a longer --timeout may help"));
}

#[test]
fn queries_are_asked_again_where_that_may_help() {
    let server = SparqlServer::start();
    assert!(ask(&server.at("/query"), "ASK {}").is_ok());
    for fault in [
        Fault::Refuse("503 Service Unavailable", &[], ""),
        Fault::Refuse("429 Too Many Requests", &["Retry-After: soon"], ""),
    ] {
        server.fail("ASK", fault);
        assert!(ask(&server.at("/query"), "ASK {}").is_ok());
    }
    // A server that has answered before may come back.
    let endpoint = endpoint(&server.at("/query"));
    server.fail("ASK", Fault::Vanish);
    assert!(endpoint.query("ASK {}", &ServerDataset::default()).is_err());
    assert!(endpoint.query("ASK {}", &ServerDataset::default()).is_ok());
    server.fail("ASK", Fault::Vanish);
    assert!(endpoint.query("ASK {}", &ServerDataset::default()).is_ok());
    server.failed();
}

#[test]
fn a_server_that_asks_for_more_time_than_there_is_is_not_waited_for() {
    let server =
        Server::start(|_, stream| respond(stream, "503 Service Unavailable", &["Retry-After: 99999999"], "full"));
    let started = std::time::Instant::now();
    let message = "S/query answered a query with HTTP status 503, saying: full (it is busy; try again later)";
    assert_eq!(refusal(&server, "SELECT * {}"), message);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert_eq!(server.count(), 1);
}

/// Logs have literals of any length. A row is read by a parser that stops at 16 MiB, and it says so.
#[test]
fn long_values_of_servers() {
    let long = "x".repeat(17 << 20);
    let triple = format!("<urn:a> <urn:b> \"{long}\" .\n");
    let server =
        Server::start(move |_, stream| respond(stream, "200 OK", &["Content-Type: application/n-triples"], &triple));
    let Ok(ServerAnswer::Graph(mut triples)) = ask(&server.url, "CONSTRUCT {} {}") else { panic!("a graph") };
    assert_eq!(triples.next().unwrap().unwrap().object, Term::Literal(long.as_str().into()));
    let row = format!(
        r#"{{"head":{{"vars":["x"]}},"results":{{"bindings":[{{"x":{{"type":"literal","value":"{long}"}}}}]}}}}"#
    );
    let json = "Content-Type: application/sparql-results+json";
    let server = Server::start(move |_, stream| respond(stream, "200 OK", &[json], &row));
    assert_eq!(
        refusal(&server, "SELECT * {}"),
        "the answer of S/query to a query has a value that is too long: ask for less"
    );
}

/// Runs `load` against a URL; what it says, `S` being the server.
fn load_message(place: &Place, server: &Server, options: &[&str]) -> (Option<i32>, String) {
    let url = format!("{}/query", server.url);
    let ran = place.run(&[&["load", "log", "--base", BASE, "--endpoint", &url], options].concat());
    (ran.status, ran.stderr.replace(&server.url, "S"))
}

#[test]
fn the_command_says_what_to_do() {
    let place = Place::with("log", LOG);
    let none: &[&str] = &[];
    for (status, headers, end) in [
        (
            "401 Unauthorized",
            none,
            "401, saying: no (set RPCGRAPH_TOKEN, or RPCGRAPH_USER and RPCGRAPH_PASSWORD, or name the host in ~/.netrc \
             or the file that NETRC names)",
        ),
        (
            "401 Unauthorized",
            &["WWW-Authenticate: Digest realm=\"x\""],
            "401, saying: no (it asks for a way to log in that rpcgraph does not have: there are Basic and Bearer)",
        ),
        ("404 Not Found", none, "404, saying: no (check the URL)"),
        ("405 Method Not Allowed", none, "405, saying: no (check the URL: it may be for other kinds of requests)"),
        ("500 Internal Server Error", none, "500, saying: no"),
    ] {
        let server = Server::start(move |_, stream| respond(stream, status, headers, "no"));
        let message = format!("error: S/query answered a query with HTTP status {end}\n");
        assert_eq!(load_message(&place, &server, &[]), (Some(2), message));
    }
    let hanging = SparqlServer::start();
    hanging.fail("ASK", Fault::Hang);
    let message = "error: no answer from S/query to a query within 1 s: a longer --timeout may help\n";
    assert_eq!(load_message(&place, &hanging.server, &["--timeout", "1"]), (Some(2), message.to_owned()));

    let ran = place.run(&["load", "log", "--endpoint", "http://127.0.0.1:1/"]);
    ran.began(2, "error: cannot reach http://127.0.0.1:1/ for a query: is the server running, and is the URL right?: ");
    for url in ["localhost:3030", "/sparql", "ftp://x.example/", "http://", "sparql"] {
        let message = format!(
            "error: {url:?} is not the URL of a server: it must begin with http:// or https:// and name a host\n"
        );
        place.run(&["load", "log", "--endpoint", url]).said(2, &message);
        place.run(&["load", "log", "--endpoint", "http://localhost/", "--update", url]).said(2, &message);
    }
}

#[test]
fn targets_are_named_once() {
    let place = Place::with("log", LOG);
    let required = "error: the following required arguments were not provided:\n  <--store <DIR>|--endpoint <URL>>\n";
    place.run(&["load", "log"]).began(2, required);
    let conflict = "error: the argument '--store <DIR>' cannot be used with '--endpoint <URL>'\n";
    place.run(&["load", "log", "--store", "x", "--endpoint", "http://localhost/"]).began(2, conflict);
    for (option, value) in [("--update", "URL"), ("--graph-store", "URL"), ("--timeout", "SECONDS")] {
        let ran = place.run(&["load", "log", "--store", "x", option, "1"]);
        ran.began(2, "error: the argument '--store <DIR>' cannot be used with");
        assert!(ran.stderr.contains(&format!("{option} <{value}>")), "{}", ran.stderr);
    }
    let stdin = "error: standard input needs a name for its graph: give it one with --base IRI\n";
    for inputs in [&["-"][..], &[], &["log", "-"]] {
        place.run(&[&["load", "--endpoint", "http://localhost/"], inputs].concat()).said(2, stdin);
    }
    assert_eq!(place.names(), ["log"]);
}

/// The `Authorization` headers that a server got.
fn authorizations(server: &Server) -> Vec<String> {
    let requests = server.requests.lock().unwrap();
    let headers = requests.iter().flat_map(|head| head.lines()).filter_map(|line| line.split_once(": "));
    let mut values: Vec<_> = headers
        .filter(|(name, _)| name.eq_ignore_ascii_case("authorization"))
        .map(|(_, value)| value.to_owned())
        .collect();
    values.dedup();
    values
}

#[test]
fn credentials_are_sent() {
    let netrc = "# mine\nmachine other.example login a password b\nmacdef init\n  password x\n\nmachine 127.0.0.1\n\
                 \tlogin \"ann\" account x # here\n\tpassword #s:3\ndefault login d password e\n";
    for (environment, expected) in [
        (&[("RPCGRAPH_TOKEN", "t0ken"), ("RPCGRAPH_USER", "u")][..], "Bearer t0ken"),
        (&[("RPCGRAPH_USER", "ann"), ("RPCGRAPH_PASSWORD", "p:é"), ("NETRC", "netrc")], "Basic YW5uOnA6w6k="),
        (&[("RPCGRAPH_TOKEN", ""), ("NETRC", "netrc")], "Basic YW5uOiNzOjM="),
    ] {
        let mut place = Place::with("log", LOG);
        place.put("netrc", netrc);
        environment.iter().for_each(|(name, value)| place.set(name, value));
        let server = SparqlServer::start();
        let (update, store) = (server.at("/update"), server.at("/store"));
        let ran = load_message(&place, &server.server, &["--quiet", "--update", &update, "--graph-store", &store]);
        assert_eq!(ran, (Some(0), String::new()));
        assert_eq!(authorizations(&server.server), [expected]);
        assert_eq!(server.asked().len(), 4, "a query, a graph, an update, a count");
    }
    // By home, and by `default`.
    let mut place = Place::with("log", LOG);
    place.put("home/.netrc", "default login d password e");
    place.set("HOME", "home");
    let server = SparqlServer::start();
    assert_eq!(load_message(&place, &server.server, &["--quiet", "--update", &server.at("/update")]).0, Some(0));
    assert_eq!(authorizations(&server.server), ["Basic ZDpl"]);
}

#[test]
fn credentials_go_nowhere_else() {
    let mut place = Place::with("log", LOG);
    place.set("RPCGRAPH_USER", "ann");
    place.set("RPCGRAPH_PASSWORD", "s3cret");
    let other = SparqlServer::start();
    let target = other.at("/query");
    let server = Server::start(move |_, stream| redirect(stream, &target));
    let message = format!(
        "error: S/query redirects a query to {}: if that is the right server, name that URL instead\n",
        other.at("/query")
    );
    assert_eq!(load_message(&place, &server, &[]), (Some(2), message));
    assert_eq!(other.asked(), [""; 0]);

    let refusing = Server::start(|_, stream| respond(stream, "403 Forbidden", &[], ""));
    let message = "error: S/query answered a query with HTTP status 403 (it does not accept the credentials from \
                   RPCGRAPH_USER and RPCGRAPH_PASSWORD)\n";
    assert_eq!(load_message(&place, &refusing, &[]), (Some(2), message.to_owned()));
    for option in ["--endpoint", "--update", "--graph-store"] {
        let mut arguments = vec!["load", "log", option, "http://192.0.2.1/x"];
        if option != "--endpoint" {
            arguments.extend(["--endpoint", "http://localhost:1/"]);
        }
        place.run(&arguments).said(
            2,
            "error: will not send the credentials from RPCGRAPH_USER and RPCGRAPH_PASSWORD unencrypted to \
             http://192.0.2.1/x: use https, or take the credentials away (NETRC=/dev/null does without a netrc file)\n",
        );
    }
    for url in ["http://ann:s3cret@127.0.0.1/x", "http://ann@127.0.0.1/x"] {
        place.run(&["load", "log", "--endpoint", url]).said(
            2,
            "error: http://127.0.0.1/x has a user or a password in it, which would be seen in the list of processes: set \
             RPCGRAPH_USER and RPCGRAPH_PASSWORD in the environment, or name the host in ~/.netrc\n",
        );
    }
    let shown =
        format!("{:?}", Endpoint::builder("http://localhost/").credentials(Credentials::basic("ann", "s3cret")));
    assert!(shown.contains("Credentials(RPCGRAPH_USER and RPCGRAPH_PASSWORD)") && !shown.contains("s3cret"), "{shown}");
}

#[test]
fn netrc_files_that_are_none_are_not_repeated() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("netrc");
    let refusal = |text: &[u8]| {
        std::fs::write(&path, text).unwrap();
        let message = Credentials::netrc(&path).unwrap_err().to_string();
        message.strip_prefix(&format!("cannot use the netrc file {}: ", path.display())).unwrap().to_owned()
    };
    assert_eq!(refusal(b"machine a\n s3cret b"), "line 2 has a word that is not known there");
    assert_eq!(refusal(b"login s3cret"), "line 1 has a word that is not known there");
    assert_eq!(refusal(b"machine a login"), "line 1 ends where a value should be");
    assert_eq!(refusal(b"machine \xff"), "it is not text");
    assert!(Credentials::netrc(&dir.path().join("none")).unwrap_err().to_string().contains("No such file"));
    let mut place = Place::with("log", LOG);
    place.set("NETRC", "none");
    let ran = place.run(&["load", "log", "--endpoint", "http://localhost:1/"]);
    ran.began(2, "error: cannot use the netrc file none: ");
    let mut place = Place::with("log", LOG);
    place.set("RPCGRAPH_TOKEN", "a\nb");
    let ran = place.run(&["load", "log", "--endpoint", "http://localhost:1/"]);
    ran.said(2, "error: the credentials from RPCGRAPH_TOKEN hold a character that HTTP does not allow\n");
}
