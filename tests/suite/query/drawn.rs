//! Queries drawn from the graphs of logs: the log has as many solutions as its graph. A query makes only the triples that
//! it needs of a log, so a graph that holds all triples, in a store that knows nothing of this, finds what is left out.
//!
//! For each graph: all classes and properties, and some pairs of them and connected patterns by a seed;
//! `RPCGRAPH_DRAWN=N` makes N times as many.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::Store;
use oxrdf::vocab::rdf;
use oxrdf::{GraphName, Quad, Term};
use rpcgraph::convert::{ConvertError, Converter, Input, Options};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::query::{Answer, Cancel, Dataset, Query};
use rpcgraph::sink::Sink;

use crate::support::{corpora, files, logs, own};

/// The size in bytes from which a log is left out.
const LARGE: usize = 150_000;
/// The numbers of pairs and patterns drawn from a graph.
const DRAWN: usize = 8;
/// The maximum number of solutions that are counted.
const MOST: usize = 5_000;

/// A log, and its graph.
struct Drawn {
    log: Vec<u8>,
    quads: Vec<Quad>,
    store: Store,
    /// The quads by their subjects and objects.
    by_node: HashMap<String, Vec<usize>>,
    state: u64,
}

pub fn convert(log: &[u8], sink: &mut Sink<'_>) -> Result<(), ConvertError> {
    let options = Options { log_lines: true, ..Options::default() };
    let mapper = Mapper::new(Mapping::Session, &[]).expect("contexts").with_provenance(true);
    let input =
        Input { name: "log".into(), source: "log".into(), iri: "https://e/log".into(), iri_stated: true, read: log };
    Converter::new(mapper, options).convert(input, sink, &mut |_| {}).map(|_| ())
}

impl Drawn {
    /// Returns `None` if the file is not a log.
    fn new(log: Vec<u8>) -> Option<Self> {
        let mut quads = Vec::<Quad>::new();
        convert(&log, &mut Sink::quads(&mut quads)).ok()?;
        let store = Store::new().expect("a store");
        let mut by_node: HashMap<_, Vec<_>> = HashMap::new();
        for (place, quad) in quads.iter_mut().enumerate() {
            quad.graph_name = GraphName::DefaultGraph;
            store.insert(quad.as_ref()).expect("a store");
            for node in [quad.subject.to_string(), quad.object.to_string()] {
                by_node.entry(node).or_default().push(place);
            }
        }
        let state = log
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |state: u64, byte| (state ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
        (!quads.is_empty()).then_some(Self { log, quads, store, by_node, state })
    }

    fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % end.max(1)
    }

    /// The classes and properties, each as the predicate and object of a pattern.
    fn terms(&self) -> Vec<String> {
        let term = |quad: &Quad| match quad.predicate == rdf::TYPE {
            true => format!("a {}", quad.object),
            false => format!("{} ?o", quad.predicate),
        };
        self.quads.iter().map(term).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Draws a quad that shares a node with the last of these.
    fn next(&mut self, quads: &[usize]) -> Option<usize> {
        let last = &self.quads[*quads.last()?];
        let nodes = [last.subject.to_string(), last.object.to_string()];
        let near = &self.by_node[&nodes[self.state as usize % 2]];
        let (length, place) = (near.len(), self.below(near.len()));
        let near = &self.by_node[&nodes[(self.state >> 7) as usize % 2]];
        Some(near[place % length.min(near.len())])
    }

    /// Draws a pattern of connected quads, whose nodes are variables or constants. The second text has UNION in place of paths
    /// with alternatives: Oxigraph's evaluator of a store gives a pair of nodes once, and the standard once for each alternative.
    fn pattern(&mut self) -> [String; 2] {
        let mut quads = vec![self.below(self.quads.len())];
        while quads.len() < 3 {
            let Some(next) = self.next(&quads) else { break };
            quads.push(next);
        }
        let mut names = HashMap::new();
        let mut triples = Vec::new();
        for place in quads {
            let quad = self.quads[place].clone();
            let mut node = |drawn: &mut Self, text: String| {
                let count = names.len();
                let is_variable = drawn.below(4) > 0;
                names
                    .entry(text.clone())
                    .or_insert_with(|| if is_variable { format!("?v{count}") } else { text })
                    .clone()
            };
            let subject = node(self, quad.subject.to_string());
            let object = match quad.object {
                object if quad.predicate == rdf::TYPE && self.below(4) > 0 => object.to_string(),
                object => node(self, object.to_string()),
            };
            let p = match self.below(16) {
                0 => format!("?p{place}"),
                _ => quad.predicate.to_string(),
            };
            let [s, o] = [subject, object];
            let steps = "rpcg:respondsTo";
            triples.push(match self.below(16) {
                0 if !p.starts_with('?') => [
                    format!("{s} ({p}|{steps}/{p}) {o} ."),
                    format!("{{ {s} {p} {o} }} UNION {{ {s} {steps}/{p} {o} }}"),
                ],
                _ => [format!("{s} {p} {o} ."), format!("{s} {p} {o} .")],
            });
        }
        let last = triples.pop().expect("a triple");
        let operator = self.below(6);
        [0, 1].map(|text| {
            let first: Vec<_> = triples.iter().map(|triple| triple[text].as_str()).collect();
            let (first, last) = (first.join(" "), &last[text]);
            match operator {
                0 => format!("{first} OPTIONAL {{ {last} }}"),
                1 => format!("{first} FILTER EXISTS {{ {last} }}"),
                2 => format!("{first} FILTER NOT EXISTS {{ {last} }}"),
                3 => format!("{first} MINUS {{ {last} }}"),
                4 => format!("{{ {first} }} UNION {{ {last} }}"),
                _ => format!("{first} {last}"),
            }
        })
    }

    /// Each query as it is asked of the log, and of the graph.
    fn queries(&mut self, times: usize) -> Vec<[String; 2]> {
        let terms = self.terms();
        let both = |pattern: String| [pattern.clone(), pattern];
        let mut patterns: Vec<_> = terms.iter().map(|term| both(format!("?s {term}"))).collect();
        for _ in 0..DRAWN * times {
            let [one, other] = [&terms[self.below(terms.len())], &terms[self.below(terms.len())]];
            patterns.push(both(format!("{{ ?s {one} }} UNION {{ ?s {one} . ?s {} }}", other.replace("?o", "?q"))));
            patterns.push(both(format!("{{ ?s {one} }} UNION {{ ?s {other} }}")));
            let pattern = self.pattern();
            patterns.push(pattern);
        }
        let query = |pattern| {
            format!(
                "PREFIX rpcg: <https://w3id.org/rpcgraph#>\n\
                 SELECT (COUNT(*) AS ?n) {{ SELECT * {{ {pattern} }} LIMIT {MOST} }}"
            )
        };
        patterns.into_iter().map(|patterns| patterns.map(query)).collect()
    }

    fn in_graph(&self, query: &str) -> Term {
        let parsed = SparqlEvaluator::new().parse_query(query).expect("a query");
        let QueryResults::Solutions(mut rows) = parsed.on_store(&self.store).execute().expect("rows") else {
            panic!("rows")
        };
        rows.next().expect("a row").expect("a row").get(0).expect("a count").clone()
    }

    fn in_log(&self, query: &str) -> Term {
        let query = Query::parse(query, None).expect("a query");
        let dataset = Dataset::new(&query, false).expect("a dataset");
        let mut loading = dataset.load(&Cancel::default()).expect("a start");
        convert(&self.log, &mut loading.sink()).expect("a conversion");
        loading.commit().expect("an end");
        let Answer::Solutions(mut rows) = dataset.answer(&query, &Cancel::default()).expect("an answer") else {
            panic!("rows")
        };
        rows.rows.next().expect("a row").expect("a row").get(0).expect("a count").clone()
    }
}

fn all_logs() -> Vec<PathBuf> {
    let folders = ["tests/logs", "tests/formats", "tests/queries", "examples"].map(own);
    let mut found: Vec<_> = folders.iter().flat_map(|folder| files(folder, "")).collect();
    found.retain(|path| {
        ["entries", "ttl", "rs", "png", "csv", "rq"]
            .iter()
            .all(|other| path.extension().is_none_or(|name| name != *other))
    });
    if corpora().is_some() {
        found.extend([".jsonl", ".ndjson", ".log", ".io", ".txt"].into_iter().flat_map(logs));
    }
    found.sort();
    found.dedup();
    found
}

#[test]
fn queries_drawn_from_the_graph_of_each_log_find_as_much_in_the_log() {
    let times = std::env::var("RPCGRAPH_DRAWN").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    let logs = all_logs();
    let (next, asked) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut wrong = Vec::new();
        while let Some(path) = logs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let log = std::fs::read(path).expect("a file");
            let drawn = if log.len() < LARGE { Drawn::new(log) } else { None };
            let Some(mut drawn) = drawn else { continue };
            for [query, of_graph] in drawn.queries(times) {
                let (log, graph) = (drawn.in_log(&query), drawn.in_graph(&of_graph));
                asked.fetch_add(1, Ordering::Relaxed);
                if log != graph {
                    wrong.push(format!("{}: {log} in the log, {graph} in its graph: {query}", path.display()));
                }
            }
        }
        wrong
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let threads =
            [(); 2].map(|()| thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, work).expect("a thread"));
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    println!("{} queries of {} files", asked.into_inner(), logs.len());
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}
