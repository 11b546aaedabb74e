//! The W3C's evaluation tests of SPARQL 1.0 and 1.1, over RDF files that are loaded as `query` loads them. docs/sparql.md lists
//! those that fail.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use oxigraph::sparql::results::{QueryResultsFormat, QueryResultsParser, SliceQueryResultsParserOutput};
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, Graph, GraphName, Literal, NamedNode, NamedOrBlankNodeRef, Quad, Term, TermRef};
use oxrdfio::RdfParser;
use rpcgraph::query::results::{ResultsFormat, write_solutions};
use rpcgraph::query::{Answer, Cancel, Dataset, Query, Table, rdf_format};

use crate::support::{canonical, files, own};

const MANIFEST: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#";
const QUERY: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#";
const RESULTS: &str = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#";
const APPROVAL: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-dawg#";
/// The folders, and their IRIs.
const FOLDERS: [(&str, &str); 2] = [
    ("tests/w3c/sparql/1.0", "http://www.w3.org/2001/sw/DataAccess/tests/data-r2"),
    ("tests/w3c/sparql/1.1", "http://www.w3.org/2009/sparql/docs/tests/data-sparql11"),
];

/// The tests in which a number has the expected value and another spelling, since Oxigraph computes with values.
const NUMBERS: &[&str] = &[
    "1.1/aggregates/agg-avg-02",
    "1.1/aggregates/agg-err-02",
    "1.1/aggregates/agg-max-01",
    "1.1/aggregates/agg-max-02",
    "1.1/aggregates/agg-min-01",
    "1.1/aggregates/agg-min-02",
    "1.1/aggregates/agg-sum-02",
    "1.1/csv-tsv-res/tsv03",
    "1.1/functions/coalesce01",
    "1.1/functions/plus-1",
];

/// Rows or a graph, for comparison.
enum Outcome {
    Rows(Vec<Row>),
    Boolean(bool),
    Graph(Vec<String>),
    Text(Vec<String>),
}

type Row = BTreeMap<String, Term>;
type Failure = String;

fn iri(namespace: &str, name: &str) -> NamedNode {
    NamedNode::new(format!("{namespace}{name}")).expect("an IRI")
}

/// The file with an IRI.
fn path(iri: &str) -> PathBuf {
    let inside = |(folder, base): &(&str, &str)| Some(own(folder).join(iri.strip_prefix(base)?.strip_prefix('/')?));
    FOLDERS.iter().find_map(inside).unwrap_or_else(|| panic!("{iri} is not in the suite"))
}

fn graph(iri: &str) -> Graph {
    let format = rdf_format(&path(iri)).expect("an RDF file");
    let parser = RdfParser::from_format(format).with_base_iri(iri).expect("an IRI");
    let quads = parser.for_reader(File::open(path(iri)).expect("a file"));
    quads.map(|quad| oxrdf::Triple::from(quad.unwrap_or_else(|error| panic!("{iri}: {error}")))).collect()
}

fn node<'g>(term: TermRef<'g>) -> NamedOrBlankNodeRef<'g> {
    match term {
        TermRef::NamedNode(node) => node.into(),
        TermRef::BlankNode(node) => node.into(),
        // With `shacl`, a term may be a triple, too.
        _ => panic!("{term} is a node"),
    }
}

/// The values of a property.
fn values<'g>(graph: &'g Graph, subject: NamedOrBlankNodeRef<'_>, namespace: &str, name: &str) -> Vec<TermRef<'g>> {
    let property = iri(namespace, name);
    graph
        .triples_for_subject(subject)
        .filter(|triple| triple.predicate == property.as_ref())
        .map(|triple| triple.object)
        .collect()
}

fn iris(graph: &Graph, subject: NamedOrBlankNodeRef<'_>, namespace: &str, name: &str) -> Vec<NamedNode> {
    let named = |term| if let TermRef::NamedNode(node) = term { node.into_owned() } else { panic!("{term} is an IRI") };
    values(graph, subject, namespace, name).into_iter().map(named).collect()
}

/// The tests that a manifest lists.
fn entries(manifest: &Graph) -> Vec<NamedOrBlankNodeRef<'_>> {
    const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
    let property = iri(MANIFEST, "entries");
    let mut rest = node(manifest.triples_for_predicate(property.as_ref()).next().expect("entries").object);
    let mut tests = Vec::new();
    while let Some(test) = values(manifest, rest, RDF, "first").first() {
        tests.push(node(*test));
        rest = node(values(manifest, rest, RDF, "rest").remove(0));
    }
    tests
}

/// The outcome of a test, and whether its order counts.
fn expected(iri: &str, as_written: Option<ResultsFormat>) -> (Outcome, bool) {
    let bytes = fs::read(path(iri)).unwrap_or_else(|error| panic!("{iri}: {error}"));
    if as_written == Some(ResultsFormat::Csv) {
        return (text(&bytes), false);
    }
    let extension = Path::new(iri).extension().and_then(|extension| extension.to_str()).expect("an extension");
    match QueryResultsFormat::from_extension(extension) {
        Some(format) => (parsed(&bytes, format), false),
        None => in_graph(&graph(iri)),
    }
}

fn text(bytes: &[u8]) -> Outcome {
    // Each file has at most one blank node.
    let blank = regex::Regex::new("_:[a-z0-9]+").expect("an expression");
    let text = String::from_utf8_lossy(bytes);
    let mut lines: Vec<_> = text.lines().map(|line| blank.replace(line, "_:blank").into_owned()).collect();
    lines[1..].sort();
    Outcome::Text(lines)
}

fn parsed(bytes: &[u8], format: QueryResultsFormat) -> Outcome {
    match QueryResultsParser::from_format(format).for_slice(bytes).expect("results") {
        SliceQueryResultsParserOutput::Boolean(truth) => Outcome::Boolean(truth),
        SliceQueryResultsParserOutput::Solutions(rows) => Outcome::Rows(
            rows.map(|row| {
                let row = row.expect("a row");
                row.iter().map(|(name, value)| (name.as_str().to_owned(), value.clone())).collect()
            })
            .collect(),
        ),
    }
}

/// Results that are a graph, or are written as one.
fn in_graph(graph: &Graph) -> (Outcome, bool) {
    let class = iri(RESULTS, "ResultSet");
    let Some(set) = graph.subjects_for_predicate_object(oxrdf::vocab::rdf::TYPE, class.as_ref()).next() else {
        return (of_triples(graph.iter().map(oxrdf::TripleRef::into_owned)), false);
    };
    if let Some(TermRef::Literal(truth)) = values(graph, set, RESULTS, "boolean").first() {
        return (Outcome::Boolean(truth.value() == "true"), false);
    }
    let literal =
        |term: TermRef<'_>| if let TermRef::Literal(text) = term { text.value().to_owned() } else { panic!() };
    let mut rows = Vec::new();
    for solution in values(graph, set, RESULTS, "solution").into_iter().map(node) {
        let index = values(graph, solution, RESULTS, "index")
            .first()
            .map(|index| literal(*index).parse::<usize>().expect("a number"));
        let bindings = values(graph, solution, RESULTS, "binding").into_iter().map(node).map(|binding| {
            let of = |name| *values(graph, binding, RESULTS, name).first().expect("a value");
            (literal(of("variable")), of("value").into_owned())
        });
        rows.push((index, bindings.collect()));
    }
    let ordered = !rows.is_empty() && rows.iter().all(|(index, _): &(_, Row)| index.is_some());
    rows.sort_by_key(|(index, _)| *index);
    (Outcome::Rows(rows.into_iter().map(|(_, row)| row).collect()), ordered)
}

fn of_triples(triples: impl Iterator<Item = oxrdf::Triple>) -> Outcome {
    let quads: Vec<_> = triples.map(|triple| triple.in_graph(GraphName::DefaultGraph)).collect();
    Outcome::Graph(canonical(&quads))
}

/// A number in one spelling.
fn valued(term: &Term) -> Term {
    match term {
        Term::Literal(literal) if [xsd::INTEGER, xsd::DECIMAL, xsd::DOUBLE].contains(&literal.datatype()) => {
            let number: f64 = literal.value().parse().expect("a number");
            Literal::new_typed_literal(number.to_string(), literal.datatype()).into()
        }
        _ => term.clone(),
    }
}

/// Rows in a form in which those that differ only in the names of blank nodes are equal: in their order, or with how often each
/// is there, or each once.
fn normal(rows: &[Row], ordered: bool, lax: bool, by_value: bool) -> Vec<String> {
    let mut counted: BTreeMap<String, (&Row, usize)> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate() {
        let key = if ordered { format!("{place}") } else { format!("{row:?}") };
        let number = if ordered { place } else { usize::from(lax) };
        let entry = counted.entry(key).or_insert((row, number));
        entry.1 += usize::from(!ordered && !lax);
    }
    let mut quads = Vec::new();
    for (row, number) in counted.values() {
        let subject = BlankNode::default();
        let mut say = |name: &str, value: Term| {
            quads.push(Quad::new(subject.clone(), iri("urn:x:", name), value, GraphName::DefaultGraph));
        };
        say("-rows", Literal::from(u64::try_from(*number).expect("a number")).into());
        row.iter().for_each(|(name, value)| say(name, if by_value { valued(value) } else { value.clone() }));
    }
    canonical(&quads)
}

/// Answers a query over files as `rpcgraph query` does.
fn answered(
    query: &NamedNode,
    data: Vec<NamedNode>,
    named: Vec<NamedNode>,
    as_written: Option<ResultsFormat>,
) -> Result<Outcome, Failure> {
    let text_of = fs::read_to_string(path(query.as_str())).expect("a query");
    let mut asked = Query::parse(&text_of, Some(query.as_str())).map_err(|error| format!("{error:?}"))?;
    let mut all: BTreeSet<NamedNode> = data.iter().chain(&named).cloned().collect();
    if asked.has_dataset() {
        let parsed =
            spargebra::SparqlParser::new().with_base_iri(query.as_str()).expect("an IRI").parse_query(&text_of);
        let parsed = parsed.map_err(|error| error.to_string())?;
        let clause = parsed.dataset().expect("a clause");
        all.extend(clause.default.iter().chain(clause.named.iter().flatten()).cloned());
    } else if asked.uses_graphs() || !named.is_empty() || data.is_empty() {
        // Otherwise, the program makes a named graph of each file, too.
        asked = asked.with_dataset(data, named);
    }
    let cancel = Cancel::default();
    let dataset = Dataset::new(&asked, true).map_err(|error| error.to_string())?;
    let mut loading = dataset.load(&cancel).map_err(|error| error.to_string())?;
    for file in all {
        let path = path(file.as_str());
        let format = rdf_format(&path).expect("an RDF file");
        let read = File::open(&path).map_err(|error| error.to_string())?;
        loading.rdf(file.as_str(), file.as_str(), format, 1 << 20, read).map_err(|error| format!("{error:?}"))?;
    }
    loading.commit().map_err(|error| error.to_string())?;
    match dataset.answer(&asked, &cancel).map_err(|error| format!("{error:?}"))? {
        Answer::Boolean(truth) => Ok(Outcome::Boolean(truth)),
        Answer::Graph(triples) => {
            let triples: Vec<_> = triples.collect::<Result<_, _>>().map_err(|error| format!("{error:?}"))?;
            Ok(of_triples(triples.into_iter()))
        }
        Answer::Solutions(solutions) if let Some(format) = as_written => {
            let mut bytes = Vec::new();
            write_solutions(solutions, format, &Table::default(), &mut bytes).map_err(|error| format!("{error:?}"))?;
            Ok(if format == ResultsFormat::Csv { text(&bytes) } else { parsed(&bytes, QueryResultsFormat::Tsv) })
        }
        Answer::Solutions(solutions) => {
            let mut rows = Vec::new();
            for row in solutions.rows {
                let row = row.map_err(|error| format!("{error:?}"))?;
                rows.push(row.iter().map(|(name, value)| (name.as_str().to_owned(), value.clone())).collect());
            }
            Ok(Outcome::Rows(rows))
        }
    }
}

fn run(manifest: &Graph, test: NamedOrBlankNodeRef<'_>, by_value: bool) -> Result<(), Failure> {
    let action = node(*values(manifest, test, MANIFEST, "action").first().expect("an action"));
    let result = iris(manifest, test, MANIFEST, "result").remove(0);
    let lax = iris(manifest, test, MANIFEST, "resultCardinality").contains(&iri(MANIFEST, "LaxCardinality"));
    let class = iris(manifest, test, "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "type").remove(0);
    let as_written = match Path::new(result.as_str()).extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Some(ResultsFormat::Csv),
        Some("tsv") => Some(ResultsFormat::Tsv),
        _ => None,
    };
    assert!(as_written.is_some() || class == iri(MANIFEST, "QueryEvaluationTest"), "{class}");
    let query = iris(manifest, action, QUERY, "query").remove(0);
    let (data, named) = (iris(manifest, action, QUERY, "data"), iris(manifest, action, QUERY, "graphData"));
    let (expected, ordered) = expected(result.as_str(), as_written);
    let outcome = answered(&query, data, named, as_written)?;
    let lines = |outcome| match outcome {
        Outcome::Rows(rows) => normal(&rows, ordered, lax, by_value),
        Outcome::Graph(lines) | Outcome::Text(lines) => lines,
        Outcome::Boolean(truth) => vec![truth.to_string()],
    };
    let (outcome, expected) = (lines(outcome), lines(expected));
    if outcome == expected { Ok(()) } else { Err(format!("{outcome:#?} instead of {expected:#?}")) }
}

#[test]
fn evaluation_tests() {
    let (mut passed, mut not_approved, mut failures) = (0, 0, BTreeMap::new());
    for (folder, base) in FOLDERS {
        for file in files(&own(folder), "manifest.ttl") {
            let name = file.parent().and_then(Path::file_name).and_then(|name| name.to_str()).expect("a folder");
            let manifest = graph(&format!("{base}/{name}/manifest.ttl"));
            for test in entries(&manifest) {
                if iris(&manifest, test, MANIFEST, "result").is_empty() {
                    continue;
                }
                if iris(&manifest, test, APPROVAL, "approval") != [iri(APPROVAL, "Approved")] {
                    not_approved += 1;
                    continue;
                }
                let name =
                    test.to_string().trim_matches(['<', '>']).replace(base, &folder["tests/w3c/sparql/".len()..]);
                let name = name.replace("/manifest#", "/");
                let mut outcome = run(&manifest, test, false);
                if NUMBERS.contains(&name.as_str()) {
                    assert!(outcome.is_err(), "{name} passes as it is written");
                    outcome = run(&manifest, test, true);
                }
                match outcome {
                    Ok(()) => passed += 1,
                    Err(failure) => _ = failures.insert(name, failure),
                }
            }
        }
    }
    // The page names the tests that fail, with their reasons.
    let page = fs::read_to_string(own("docs/sparql.md")).expect("a page");
    let name = regex::Regex::new("`(1[.][01]/[^`]+)`").expect("an expression");
    let listed: BTreeSet<&str> = name.captures_iter(&page).map(|found| found.extract::<1>().1[0]).collect();
    let failing: BTreeSet<&str> = failures.keys().map(String::as_str).collect();
    let unlisted: Vec<_> = failures.iter().filter(|(test, _)| !listed.contains(test.as_str())).collect();
    assert!(unlisted.is_empty(), "tests fail that are not listed: {unlisted:#?}");
    assert_eq!(listed, failing, "tests are listed that pass, or are not run");
    assert_eq!((passed, failures.len(), not_approved), (413, 12, 7));
    assert!(page.contains("413 of the W3C's 425 approved") && page.contains(&format!("In {} of them", NUMBERS.len())));
}
