//! Servers that other people wrote, each with a folder of its own, where they are installed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use oxrdf::{NamedNode, NamedOrBlankNode, Quad, Term};
use oxrdfio::RdfFormat;
use rpcgraph::endpoint::{Endpoint, ServerAnswer, ServerDataset};
use tempfile::TempDir;

use crate::cli::{BASE, LOG, Place};
use crate::support::{assert_isomorphic, tool};

/// How long a server may take to start.
const START: Duration = Duration::from_secs(60);

/// A server that runs until this is dropped.
pub struct Running {
    command: Command,
    process: Child,
    folder: TempDir,
    /// The URL for queries, followed by the URLs for updates and graphs.
    pub query: String,
    pub update: String,
    pub graph_store: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Running {
    fn start(mut command: Command, folder: TempDir, urls: [String; 3]) -> Self {
        let [query, update, graph_store] = urls;
        let output = fs::File::create(folder.path().join("output")).expect("a file");
        command.current_dir(folder.path()).stdin(Stdio::null());
        command.stdout(output.try_clone().expect("a file")).stderr(output);
        let process = command.spawn().expect("a server");
        let mut running = Self { command, process, folder, query, update, graph_store };
        running.wait();
        running
    }

    /// Waits until it answers.
    fn wait(&mut self) {
        let started = Instant::now();
        while self.endpoint().query("ASK {}", &ServerDataset::default()).is_err() {
            let output = || fs::read_to_string(self.folder.path().join("output")).unwrap_or_default();
            assert!(started.elapsed() < START, "it does not start: {}", output());
            let ended = self.process.try_wait().expect("a process");
            assert!(ended.is_none(), "it ended: {}", fs::read_to_string(self.folder.path().join("output")).unwrap());
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Ends it at once, whatever it does.
    fn kill(&mut self) {
        self.process.kill().expect("a process");
        self.process.wait().expect("a process");
    }

    fn start_again(&mut self) {
        self.process = self.command.spawn().expect("a server");
        self.wait();
    }

    pub fn endpoint(&self) -> Endpoint {
        self.endpoint_within(Duration::from_secs(60))
    }

    fn endpoint_within(&self, limit: Duration) -> Endpoint {
        Endpoint::builder(&self.query).timeout(limit).build().expect("an endpoint")
    }

    /// The options of `load` for each way to it.
    fn ways(&self) -> [Vec<&str>; 3] {
        let query = ["--endpoint", &self.query];
        let update = ["--update", &self.update];
        let store = ["--graph-store", &self.graph_store];
        [[query, update].concat(), [query, update, store].concat(), [query, store].concat()]
    }

    /// A graph that it has.
    fn graph(&self, name: &str) -> Vec<Quad> {
        let query = format!("CONSTRUCT {{ ?s ?p ?o }} {{ GRAPH <{name}> {{ ?s ?p ?o }} }}");
        let graph = NamedNode::new(name).expect("an IRI");
        match self.endpoint().query(&query, &ServerDataset::default()).expect("an answer") {
            ServerAnswer::Graph(triples) => {
                triples.map(|triple| triple.expect("a triple").in_graph(graph.clone())).collect()
            }
            _ => panic!("another answer"),
        }
    }

    /// Names of the graphs that hold a session.
    fn sessions(&self) -> BTreeSet<String> {
        self.sessions_within(Duration::from_secs(60)).expect("an answer in time")
    }

    /// The same; `None` if there is no answer in time.
    fn sessions_within(&self, limit: Duration) -> Option<BTreeSet<String>> {
        let query = "SELECT ?graph { GRAPH ?graph { ?session a <https://w3id.org/rpcgraph#Session> } }";
        match self.endpoint_within(limit).query(query, &ServerDataset::default()).ok()? {
            ServerAnswer::Solutions(solutions) => {
                solutions.rows.map(|row| Some(row.ok()?.get(0)?.to_string())).collect()
            }
            _ => panic!("another answer"),
        }
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// Oxigraph's own server: `RPCGRAPH_OXIGRAPH`, or `oxigraph` on the path.
pub fn oxigraph() -> Running {
    let program = tool("RPCGRAPH_OXIGRAPH", &["oxigraph"]);
    let (folder, port) = (TempDir::new().expect("a folder"), free_port());
    let mut command = Command::new(program);
    command.args(["serve", "--location", "store", "--bind", &format!("127.0.0.1:{port}")]);
    let urls = ["query", "update", "store"].map(|name| format!("http://127.0.0.1:{port}/{name}"));
    Running::start(command, folder, urls)
}

/// Virtuoso with its `isql`: `RPCGRAPH_VIRTUOSO`, or `virtuoso-t` on the path. Anyone may change it.
pub fn virtuoso() -> Running {
    let server = tool("RPCGRAPH_VIRTUOSO", &["virtuoso-t"]);
    let client = tool("RPCGRAPH_ISQL", &["isql-vt", "isql-v"]);
    let (folder, sql, http) = (TempDir::new().expect("a folder"), free_port(), free_port());
    let ini = format!(
        "[Database]\nDatabaseFile = v.db\nErrorLogFile = v.log\nLockFile = v.lck\nTransactionFile = v.trx\n\
         xa_persistent_file = v.pxa\n[TempDatabase]\nDatabaseFile = t.db\nTransactionFile = t.trx\n\
         [Parameters]\nServerPort = 127.0.0.1:{sql}\nNumberOfBuffers = 4000\nMaxDirtyBuffers = 2000\nDirsAllowed = .\n\
         [HTTPServer]\nServerPort = 127.0.0.1:{http}\nServerRoot = .\n[SPARQL]\nResultSetMaxRows = 1000000\n"
    );
    fs::write(folder.path().join("virtuoso.ini"), ini).expect("a file");
    let mut command = Command::new(server);
    command.args(["+foreground", "+configfile", "virtuoso.ini"]);
    let urls = ["sparql", "sparql", "sparql-graph-crud"].map(|name| format!("http://127.0.0.1:{http}/{name}"));
    let running = Running::start(command, folder, urls);
    let grant = r#"exec=grant SPARQL_UPDATE to "SPARQL";"#;
    let granted = Command::new(client).args([&format!("127.0.0.1:{sql}"), "dba", "dba", grant]).output();
    let granted = granted.expect("isql runs");
    assert!(granted.status.success(), "{}", String::from_utf8_lossy(&granted.stdout));
    running
}

/// Loads an example twice, then one that has grown, each way; what is there is what `convert` writes.
fn load_and_compare(server: &Running, logs: &[&str], arguments: &[&str], same: impl Fn(&[Quad], &[Quad], &str)) {
    for way in server.ways() {
        let place = Place::new();
        for log in logs {
            place.put("log", log);
            let arguments = [&["log", "--base", BASE, "--quiet"], arguments].concat();
            place.run(&[&["load"], &arguments[..], &way].concat()).quietly();
            let expected = place.convert(&[&arguments[..], &["-t", "nquads"]].concat());
            same(&server.graph(BASE), &expected.quads(RdfFormat::NQuads), &way.join(" "));
            assert_eq!(server.sessions(), [format!("<{BASE}>")].into());
        }
    }
}

/// Counts the triples of the session in each graph.
fn counts(quads: &[Quad]) -> BTreeMap<String, usize> {
    quads.iter().fold(BTreeMap::new(), |mut counts, quad| {
        *counts.entry(quad.graph_name.to_string()).or_default() += 1;
        counts
    })
}

/// Loads small sessions, many at a time, and kills the server when some are there. Loaded again, each is there once and whole.
fn killed_and_loaded_again(server: &mut Running, sessions: usize) {
    let place = Place::new();
    let calls = |count: usize| -> String {
        let line = |id| {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\"}}\n{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{id}}}\n"
            )
        };
        (0..count).map(line).collect()
    };
    (0..sessions).for_each(|number| place.put(&format!("logs/{number}.ndjson"), calls(number % 20 + 1)));
    let [way, ..] = server.ways().map(|way| way.into_iter().map(str::to_owned).collect::<Vec<_>>());
    let folder = place.path("logs");
    let mut load = Command::new(env!("CARGO_BIN_EXE_rpcgraph"));
    load.args(["load", "--jobs", "8"]).arg(&folder).args(&way);
    let began = Instant::now();
    let mut first = load.stderr(Stdio::piped()).spawn().expect("a process");
    // Virtuoso may keep a query waiting for those who load: such an answer is not waited for.
    while server.sessions_within(Duration::from_secs(2)).is_none_or(|there| there.len() < sessions / 4) {
        assert!(first.try_wait().expect("a process").is_none(), "it ended before a quarter was there");
        thread::sleep(Duration::from_millis(20));
    }
    server.kill();
    let ended = first.wait_with_output().expect("a process");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(2), "{said}");
    println!("{:.1} s, the server killed: {}", began.elapsed().as_secs_f32(), said.trim_end());
    server.start_again();
    let there = server.sessions().len();
    assert!(there >= sessions / 4 && there < sessions, "{there} of {sessions} are there");

    let began = Instant::now();
    let again = load.output().expect("a process");
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(again.status.success(), "{said}");
    println!("{:.1} s, {there} there: {}", began.elapsed().as_secs_f32(), said.trim_end());
    assert!(said.trim_end().ends_with(" were there already"), "{said}");
    let expected = place.convert(&["logs", "-t", "nquads", "--quiet"]).quads(RdfFormat::NQuads);
    let query = "SELECT ?graph (COUNT(*) AS ?count) { GRAPH ?graph { ?session a <https://w3id.org/rpcgraph#Session> } \
                 GRAPH ?graph { ?s ?p ?o } } GROUP BY ?graph";
    let ServerAnswer::Solutions(rows) = server.endpoint().query(query, &ServerDataset::default()).expect("an answer")
    else {
        panic!("another answer")
    };
    let count =
        |term: &Term| if let Term::Literal(count) = term { count.value().parse().expect("a number") } else { 0 };
    let found = rows.rows.map(|row| row.expect("a row"));
    let found = found.map(|row| (row.get(0).expect("a graph").to_string(), count(row.get(1).expect("a count"))));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), counts(&expected));
    let staged = "ASK { GRAPH ?graph { ?s ?p ?o } FILTER(STRSTARTS(STR(?graph), \"urn:rpcgraph:staging:\")) }";
    assert!(!server.endpoint().ask(staged).expect("an answer"), "a part of a session is left");
}

#[test]
#[ignore = "needs Oxigraph's server"]
fn oxigraph_is_killed_and_loaded_again() {
    let mut server = oxigraph();
    killed_and_loaded_again(&mut server, 160);
}

#[test]
#[ignore = "needs Virtuoso"]
fn virtuoso_is_killed_and_loaded_again() {
    let mut server = virtuoso();
    killed_and_loaded_again(&mut server, 160);
}

#[test]
#[ignore = "takes minutes, and needs Oxigraph's server and Virtuoso"]
fn a_thousand_sessions_survive() {
    for mut server in [oxigraph(), virtuoso()] {
        killed_and_loaded_again(&mut server, 1_000);
    }
}

fn example() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mcp-session.ndjson")).expect("an example")
}

/// Values that are hard to carry: control characters, escapes in JSON, digits beyond a double, long text.
fn hard() -> String {
    let long = "x".repeat(100_000);
    format!(
        r#"{{"jsonrpc":"2.0","id":12345678901234567890123,"method":"frac \u0001\u007f","params":{{"esc":"\u001b[31m \\u0041 \u0000","uni":"é 😀 \u2028"}}}}
{{"jsonrpc":"2.0","id":"quote\"back\\slash\nnl\ttab \\u0041","method":"  "}}
{{"jsonrpc":"2.0","id":"","method":"{long}"}}
not json \u001b {escape}[0m \
"#,
        escape = '\u{1b}'
    )
}

/// More than a batch.
fn many() -> String {
    (0..600).fold(example(), |log, id| {
        format!("{log}{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\",\"params\":[{id}]}}\n")
    })
}

#[test]
#[ignore = "needs Oxigraph's server"]
fn oxigraph_has_what_is_converted() {
    let server = oxigraph();
    let logs = [&*example(), &*example(), &*many(), &*hard(), LOG];
    load_and_compare(&server, &logs, &["--provenance"], |there, expected, what| {
        assert_eq!(there.len(), expected.len(), "{what}");
        assert_isomorphic(there, expected, what);
    });
}

/// Terms as Virtuoso writes them, and how many are not as they were.
#[test]
#[ignore = "needs Virtuoso"]
fn virtuoso_has_what_is_converted() {
    let server = virtuoso();
    let logs = [&*example(), &*example(), &*many(), &*hard(), LOG];
    load_and_compare(&server, &logs, &["--provenance"], |there, expected, what| {
        assert_eq!(there.len(), expected.len(), "{what}");
        assert_isomorphic(there, expected, what);
    });
}

/// Virtuoso has decimals of 15 digits after the point, and takes what is above 40 digits for infinite or refuses it.
#[test]
#[ignore = "needs Virtuoso"]
fn virtuoso_rounds_long_fractions() {
    let server = virtuoso();
    let place = Place::with("log", r#"{"jsonrpc":"2.0","id":0.1234567890123456789012345,"method":"m"}"#);
    let [way, ..] = server.ways();
    place.run(&[&["load", "log", "--base", BASE, "--quiet"], &way[..]].concat()).quietly();
    let value = |quad: &Quad| match (&quad.subject, &quad.object) {
        (NamedOrBlankNode::NamedNode(node), Term::Literal(value)) if node.as_str().ends_with("#m1-id") => {
            Some(value.value().to_owned())
        }
        _ => None,
    };
    let values: Vec<_> = server.graph(BASE).iter().filter_map(value).collect();
    assert_eq!(values, ["0.123456789012346"]);

    place.put("log", format!(r#"{{"jsonrpc":"2.0","id":{},"method":"m"}}"#, "9".repeat(60)));
    let ran = place.run(&[&["load", "log", "--base", BASE, "--quiet"], &way[..]].concat());
    assert!(ran.status == Some(2) && ran.stderr.contains("Can't convert CAST to numeric"), "{}", ran.stderr);
}
