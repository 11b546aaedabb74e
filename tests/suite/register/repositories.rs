//! Whole repositories, and the registers that the official tool made of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use oxrdf::dataset::CanonicalizationAlgorithm;
use oxrdf::vocab::xsd;
use oxrdf::{Dataset, Literal, NamedNode, NamedOrBlankNode, Quad, Term};
use rpcgraph::register::{RegisterOptions, Repository, RepositoryRegister};

use super::{json, turtle};
use crate::support::{corpora, files};

/// Graphs that are not the published ones although all that they are made of is here, with the reason.
const OTHERWISE: &[(&str, &str)] = &[
    ("bblocks-examples/bbr/examples/feature/geosparqlFeature/example_1_1.ttl", STEP),
    ("bblocks-examples/bbr/examples/semantic-uplift/pre-and-post-uplift/example_1_1.ttl", STEP),
    (
        "bblocks-examples/bbr/examples/transforms/transforms-example/transforms/example_1_3.prefix-predicates.ttl",
        TRANSFORM,
    ),
    ("bblocks-tutorial/bbr/tutorial/exercise8_completed/transforms/example_1_3.prefix-predicates.ttl", TRANSFORM),
    ("modelcontextprotocol/mcp/example_14_1.ttl", OLDER),
    ("modelcontextprotocol/mcp/example_1_1.ttl", OLDER),
];
/// A graph without the step would be another one, so there is none.
const STEP: &str = "a step of the uplift is not run";
const TRANSFORM: &str = "transforms are not run";
/// `ogc-na` 0.7 makes of the block's sources the context that is made here, and not the published one.
const OLDER: &str = "published with a context that an older ogc-na made";

fn repositories() -> Option<(PathBuf, Vec<(String, PathBuf)>)> {
    let folder = corpora()?.join("bblocks");
    let below = |folder: &Path| -> Vec<PathBuf> {
        let mut below: Vec<_> =
            fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
        below.sort();
        below
    };
    let mut imports = Vec::new();
    for host in below(&folder.join("imports")) {
        for register in below(&host) {
            let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
            imports.push((format!("https://{}/{}", name(&host), name(&register)), register));
        }
    }
    Some((folder, imports))
}

fn made(folder: &Path, imports: &[(String, PathBuf)], base: Option<&str>) -> RepositoryRegister {
    let options = RegisterOptions {
        folders: imports.to_vec(),
        base: base.map(str::to_owned),
        offline: true,
        ..RegisterOptions::default()
    };
    Repository::open(folder).expect("a repository").build(None, &options, &mut |_| {}).expect("a register")
}

/// A graph in which numbers stand for their values to seven digits, which is what the official tool keeps of them, and what is
/// beside the example stands where that tool ran.
fn canonical(text: &str, key: &str) -> Dataset {
    let place = format!("/build/tests/{key}/");
    let name = |iri: &str| match iri.split_once(&place) {
        Some((_, file)) => NamedNode::new_unchecked(format!("file:///github/workspace/{file}")),
        None => NamedNode::new_unchecked(iri),
    };
    let value = |literal: Literal| {
        let datatype = literal.datatype().into_owned();
        let number = [xsd::DOUBLE, xsd::DECIMAL, xsd::FLOAT, xsd::INTEGER].contains(&datatype.as_ref());
        match literal.value().parse::<f64>() {
            Ok(number_value) if number => Literal::new_simple_literal(format!("{number_value:.6e}")),
            _ if datatype == xsd::DATE_TIME => Literal::new_simple_literal(literal.value().replace("+00:00", "Z")),
            _ => literal,
        }
    };
    let quads = turtle(text, &format!("https://example.org/build/tests/{key}/x")).into_iter().map(|quad| {
        let subject = match quad.subject {
            NamedOrBlankNode::NamedNode(node) => name(node.as_str()).into(),
            blank => blank,
        };
        let object = match quad.object {
            Term::NamedNode(node) => name(node.as_str()).into(),
            Term::Literal(literal) => value(literal).into(),
            other => other,
        };
        Quad::new(subject, quad.predicate, object, quad.graph_name)
    });
    let mut dataset: Dataset = quads.collect();
    dataset.canonicalize(CanonicalizationAlgorithm::Unstable);
    dataset
}

#[test]
fn the_published_graphs() {
    let Some((folder, imports)) = repositories() else { return };
    let otherwise: BTreeMap<_, _> = OTHERWISE.iter().copied().collect();
    let mut wrong = Vec::new();
    let (mut all_equal, mut all_whole) = (0, 0);
    println!("{:<24}{:>8}{:>11}{:>8}{:>15}", "repository", "blocks", "published", "equal", "lacking input");
    for (name, blocks) in [
        ("bblock-template", 2),
        ("bblocks-examples", 25),
        ("bblocks-tutorial", 21),
        ("bblocks-eoap-cct", 5),
        ("modelcontextprotocol", 2),
    ] {
        let register = made(&folder.join(name), &imports, Some("https://example.org/build/"));
        let listed = json(&register.files()["register.json"]);
        assert_eq!(
            (register.blocks.len(), listed["bblocks"].as_array().map(Vec::len)),
            (blocks, Some(blocks)),
            "{name}"
        );
        let lacks: BTreeMap<_, _> = register
            .blocks
            .iter()
            .map(|block| {
                let key = block.report.id.split_once('.').expect("a prefix").1.replace('.', "/");
                let entries = block.report.items.iter().flat_map(|item| &item.entries);
                (key, entries.clone().any(|entry| entry.is("context-incomplete")))
            })
            .collect();
        let tests = folder.join(name).join("build/tests");
        let published = if tests.is_dir() { files(&tests, ".ttl") } else { Vec::new() };
        let (mut equal, mut lacking) = (0, 0);
        for path in &published {
            let file = path.strip_prefix(&tests).expect("below").to_str().expect("text");
            let (key, _) = file.rsplit_once('/').expect("a folder");
            let ours = register.files().get(&format!("tests/{file}"));
            let theirs = fs::read_to_string(path).expect("text");
            let is_equal = ours.is_some_and(|ours| canonical(ours, key) == canonical(&theirs, key));
            equal += usize::from(is_equal);
            let is_lacking = lacks.get(key) == Some(&true) && !is_equal;
            lacking += usize::from(is_lacking);
            let file = format!("{name}/{file}");
            if !is_lacking && is_equal == otherwise.contains_key(file.as_str()) {
                wrong.push(format!("{file}: {}", if is_equal { "equal" } else { "another graph" }));
            }
        }
        println!("{name:<24}{:>8}{:>11}{equal:>8}{lacking:>15}", register.blocks.len(), published.len());
        (all_equal, all_whole) = (all_equal + equal, all_whole + published.len() - lacking);
    }
    println!("{all_equal} of {all_whole} graphs whose inputs are here");
    OTHERWISE.iter().for_each(|(file, why)| println!("{file}: {why}"));
    assert_eq!(wrong, Vec::<String>::new());
    assert!(all_equal * 10 >= all_whole * 8, "{all_equal} of {all_whole}");
}
