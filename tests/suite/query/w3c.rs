//! The W3C's evaluation tests of SPARQL 1.0 and 1.1 (`tests/w3c/sparql`, from the working groups' `data-r2` and
//! `data-sparql11`, without entailment and federation).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use oxigraph::sparql::results::{QueryResultsFormat, QueryResultsParser, SliceQueryResultsParserOutput};
use oxrdf::vocab::rdf;
use oxrdf::{BlankNode, GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term};
use oxrdfio::{RdfFormat, RdfParser};
use rpcgraph::query::{Answer, Cancel, Dataset, Query};

use crate::support::{canonical, files, own};

const BASE: &str = "http://w3c.test/";
const MANIFEST: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#";
const QUERY: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#";
const RESULTS: &str = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#";

/// The tests that fail, by cause.
const FAILURES: &[(&str, &[&str])] = &[];

fn path(iri: &str) -> std::path::PathBuf {
    own("tests/w3c/sparql").join(iri.strip_prefix(BASE).expect("a file of the tests"))
}

/// The triples of a file of the tests.
fn triples(iri: &str) -> Vec<Quad> {
    let format = if iri.ends_with(".rdf") { RdfFormat::RdfXml } else { RdfFormat::Turtle };
    let bytes = fs::read(path(iri)).unwrap_or_else(|error| panic!("{iri}: {error}"));
    let parser = RdfParser::from_format(format).with_base_iri(iri).expect("an IRI");
    parser.for_slice(&bytes).map(|quad| quad.unwrap_or_else(|error| panic!("{iri}: {error}"))).collect()
}

/// The objects of a subject's property.
fn objects(graph: &[Quad], subject: &Term, property: &str) -> Vec<Term> {
    let is_it = |quad: &&Quad| Term::from(quad.subject.clone()) == *subject && quad.predicate.as_str() == property;
    graph.iter().filter(is_it).map(|quad| quad.object.clone()).collect()
}

fn object(graph: &[Quad], subject: &Term, namespace: &str, local: &str) -> Option<Term> {
    objects(graph, subject, &format!("{namespace}{local}")).pop()
}

fn iri(term: Term) -> String {
    if let Term::NamedNode(node) = term { node.into_string() } else { panic!("{term} is not an IRI") }
}

/// Rows, a boolean or a graph as quads, so that blank nodes may have any label; the rows of a sorted answer by number.
fn rows_as_quads(rows: Vec<BTreeMap<String, Term>>, is_sorted: bool) -> Vec<Quad> {
    let mut quads = Vec::new();
    for (index, row) in rows.into_iter().enumerate() {
        let node = NamedOrBlankNode::from(BlankNode::default());
        let mut add = |property: String, value: Term| {
            quads.push(Quad::new(node.clone(), NamedNode::new_unchecked(property), value, GraphName::DefaultGraph));
        };
        add("urn:row".to_owned(), Literal::from(if is_sorted { index as u64 } else { 0 }).into());
        row.into_iter().for_each(|(name, value)| add(format!("urn:{name}"), value));
    }
    quads
}

fn boolean(truth: bool) -> Vec<Quad> {
    rows_as_quads(vec![BTreeMap::from([("truth".to_owned(), Literal::from(truth).into())])], false)
}

/// The expected answer of a test.
fn expected(result: &str, is_sorted: bool) -> Vec<Quad> {
    let extension = result.rsplit('.').next().unwrap_or_default();
    let format = match extension {
        "srx" => QueryResultsFormat::Xml,
        "srj" => QueryResultsFormat::Json,
        "tsv" => QueryResultsFormat::Tsv,
        _ => {
            let graph = triples(result);
            let set = graph
                .iter()
                .find(|quad| quad.predicate == rdf::TYPE && quad.object.to_string() == format!("<{RESULTS}ResultSet>"));
            let Some(set) = set.map(|quad| Term::from(quad.subject.clone())) else { return graph };
            if let Some(Term::Literal(truth)) = object(&graph, &set, RESULTS, "boolean") {
                return boolean(truth.value() == "true");
            }
            let mut rows: Vec<(i64, BTreeMap<String, Term>)> = Vec::new();
            for solution in objects(&graph, &set, &format!("{RESULTS}solution")) {
                let bindings = objects(&graph, &solution, &format!("{RESULTS}binding")).into_iter();
                let row = bindings.filter_map(|binding| match object(&graph, &binding, RESULTS, "variable")? {
                    Term::Literal(name) => Some((name.value().to_owned(), object(&graph, &binding, RESULTS, "value")?)),
                    _ => None,
                });
                let index = match object(&graph, &solution, RESULTS, "index") {
                    Some(Term::Literal(index)) => index.value().parse().expect("an index"),
                    _ => 0,
                };
                rows.push((index, row.collect()));
            }
            rows.sort_by_key(|(index, _)| *index);
            return rows_as_quads(rows.into_iter().map(|(_, row)| row).collect(), is_sorted);
        }
    };
    let bytes = fs::read(path(result)).expect("a result");
    match QueryResultsParser::from_format(format).for_slice(&bytes).expect("results") {
        SliceQueryResultsParserOutput::Boolean(truth) => boolean(truth),
        SliceQueryResultsParserOutput::Solutions(rows) => {
            let row = |row: oxigraph::sparql::QuerySolution| {
                row.iter().map(|(name, value)| (name.as_str().to_owned(), value.clone())).collect()
            };
            rows_as_quads(rows.map(|found| row(found.expect("a row"))).collect(), is_sorted)
        }
    }
}

/// The answer to a test's query.
fn found(query: &str, data: &[String], named: &[String], is_sorted: bool) -> Result<Vec<Quad>, String> {
    let text = fs::read_to_string(path(query)).expect("a query");
    let mut parsed = Query::parse(&text, Some(query)).map_err(|error| error.to_string())?;
    let node = |iri: &String| NamedNode::new_unchecked(iri.clone());
    let mut sources: BTreeSet<String> = data.iter().chain(named).cloned().collect();
    if parsed.has_dataset() {
        let names = text.split("FROM").skip(1).filter_map(|rest| Some(rest.split_once('<')?.1.split_once('>')?.0));
        let folder = query.rsplit_once('/').expect("a folder").0;
        sources.extend(names.map(|name| if name.contains(':') { name.to_owned() } else { format!("{folder}/{name}") }));
    } else if !named.is_empty() || parsed.uses_graphs() {
        parsed = parsed.with_dataset(data.iter().map(node).collect(), named.iter().map(node).collect());
    }
    let cancel = Cancel::default();
    cancel.after(std::time::Duration::from_secs(20));
    let dataset = Dataset::new(&parsed, true).expect("a dataset");
    let mut loading = dataset.load(&cancel).expect("a start");
    for source in sources {
        let format = if source.ends_with(".rdf") { RdfFormat::RdfXml } else { RdfFormat::Turtle };
        let bytes = fs::read(path(&source)).map_err(|error| format!("{source}: {error}"))?;
        loading.rdf(&source, &source, format, 1 << 20, bytes.as_slice()).map_err(|error| error.to_string())?;
    }
    loading.commit().expect("an end");
    let answer = dataset.answer(&parsed, &cancel).map_err(|error| error.to_string())?;
    match answer {
        Answer::Boolean(truth) => Ok(boolean(truth)),
        Answer::Graph(triples) => triples
            .map(|triple| Ok(triple.map_err(|error| error.to_string())?.in_graph(GraphName::DefaultGraph)))
            .collect(),
        Answer::Solutions(solutions) => {
            let row = |row: oxigraph::sparql::QuerySolution| {
                row.iter().map(|(name, value)| (name.as_str().to_owned(), value.clone())).collect()
            };
            let rows: Result<Vec<_>, _> = solutions.rows.map(|found| found.map(row)).collect();
            Ok(rows_as_quads(rows.map_err(|error| error.to_string())?, is_sorted))
        }
    }
}

#[test]
fn the_tests_of_the_w3c_pass() {
    let (mut failed, mut passed, mut reasons) = (BTreeSet::new(), 0, Vec::new());
    for manifest in files(&own("tests/w3c/sparql"), "manifest.ttl") {
        let folder = manifest.parent().and_then(Path::file_name).expect("a folder").to_string_lossy().into_owned();
        let graph = triples(&format!("{BASE}{folder}/manifest.ttl"));
        let kind = format!("<{MANIFEST}QueryEvaluationTest>");
        let tests = graph.iter().filter(|quad| quad.predicate == rdf::TYPE && quad.object.to_string() == kind);
        for test in tests.map(|quad| Term::from(quad.subject.clone())) {
            let action = object(&graph, &test, MANIFEST, "action").expect("an action");
            let (Some(query), Some(result)) =
                (object(&graph, &action, QUERY, "query"), object(&graph, &test, MANIFEST, "result"))
            else {
                continue;
            };
            let (query, result) = (iri(query), iri(result));
            let all = |local: &str| {
                objects(&graph, &action, &format!("{QUERY}{local}")).into_iter().map(iri).collect::<Vec<_>>()
            };
            let is_sorted = folder == "1.0-sort";
            let found = found(&query, &all("data"), &all("graphData"), is_sorted);
            let is_right =
                found.as_ref().is_ok_and(|found| canonical(found) == canonical(&expected(&result, is_sorted)));
            let name = format!(
                "{folder}/{}",
                test.to_string().trim_matches(['<', '>']).rsplit('#').next().unwrap_or_default()
            );
            match is_right {
                true => passed += 1,
                false => {
                    reasons.push(format!("{name} ({query}): {:?}", found.map(|found| found.len())));
                    failed.insert(name);
                }
            }
        }
    }
    let known: BTreeSet<String> =
        FAILURES.iter().flat_map(|(_, names)| *names).map(|name| (*name).to_owned()).collect();
    assert_eq!(failed, known, "{passed} passed:\n{}", reasons.join("\n"));
    assert!(passed >= 400, "{passed} passed");
}
