//! Contexts made of annotated schemas, beside those that `ogc-na` makes of its own test data and of real repositories.

use std::fs;
use std::path::Path;
use std::process::Command;

use rpcgraph::register::RegisterOptions;
use serde_json::{Value, json as value};

use super::json;
use super::repositories::{canonical, made, repositories, under};
use crate::cli::Place;
use crate::support::{files, needed_corpora, tool};

#[test]
#[ignore = "needs a Python with ogc-na"]
fn contexts_are_those_of_ogc_na() {
    let python = tool("RPCGRAPH_OGC_NA", &[]);
    let data = needed_corpora().join("ogc-na-tools/test/data");
    let all = files(&data, "");
    let below = |path: &Path| path.strip_prefix(&data).expect("below").to_str().expect("text").to_owned();
    let is_schema = |name: &str| {
        [".yml", ".yaml", ".json"].iter().any(|end| name.ends_with(end)) && !name.contains("uplift_context")
    };
    let mut compared = 0;
    for schema in all.iter().map(|path| below(path)).filter(|name| is_schema(name)) {
        let place = Place::new();
        for path in &all {
            let bytes = fs::read(path).expect("a file");
            place.put(&format!("theirs/{}", below(path)), bytes.clone());
            place.put(&format!("ours/_sources/b/{}", below(path)), bytes);
        }
        place.put("ours/_sources/b/bblock.json", value!({ "schema": schema }).to_string());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ogc-na/context.py");
        let theirs =
            Command::new(&python).arg(script).arg(place.path("theirs").join(&schema)).output().expect("Python");
        if !theirs.status.success() {
            println!("{schema}: ogc-na makes no context of it");
            continue;
        }
        let theirs = json(&String::from_utf8(theirs.stdout).expect("text"));
        let ours = made(&place.path("ours"), &[], Some("https://example.org/build/"), &RegisterOptions::default());
        let ours =
            ours.files.get("annotated/b/context.jsonld").map_or_else(|| value!({ "@context": {} }), |text| json(text));
        // An empty one has a version there, or none.
        let terms = |context: &Value| context["@context"].as_object().filter(|terms| terms.len() > 1).cloned();
        assert_eq!(terms(&ours), terms(&theirs), "{schema}");
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

/// Blocks whose contexts differ from the contexts of ogc-na, with the reason. For all examples the triples are the same.
const OTHERWISE: &[(&str, &str)] = &[
    (
        "ogc.bbr.examples.rules.topo-edges",
        "two schemas define `featureType`, which is reported; which counts depends on the order in which others are met, which \
         are not here",
    ),
    ("ogc.bbr.examples.observation.vectorObservation", "ogc-na makes none without a block that no register here has"),
];

/// Each block is annotated and its context is made by ogc-na too; what schemas are not here add nothing on both sides.
#[test]
#[ignore = "needs a Python with ogc-na"]
fn contexts_of_repositories_are_those_of_ogc_na() {
    let python = tool("RPCGRAPH_OGC_NA", &[]);
    let (folder, imports) = repositories();
    let base = "https://example.org/build/";
    let (mut equal, mut examples, mut otherwise) = (0, 0, Vec::new());
    for name in ["bblock-template", "bblocks-examples", "bblocks-tutorial", "bblocks-eoap-cct", "modelcontextprotocol"]
    {
        let (place, source) = (Place::new(), folder.join(name));
        let register = made(&source, &imports, Some(base), &RegisterOptions::default());
        register.write(&place.path("out"), false).expect("written");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ogc-na/repository.py");
        let mut theirs = Command::new(&python);
        theirs.arg(script).arg(&source).arg(place.path("out")).arg(base);
        theirs.args(imports.iter().map(|(url, folder)| format!("{url}={}", folder.display())));
        let theirs = theirs.output().expect("Python");
        assert!(theirs.status.success(), "{}", String::from_utf8_lossy(&theirs.stderr));
        let theirs = json(&String::from_utf8(theirs.stdout).expect("text"));
        for (id, theirs) in theirs.as_object().expect("contexts by block") {
            let key = id.split_once('.').expect("a prefix").1.replace('.', "/");
            let ours = register.files.get(&format!("annotated/{key}/context.jsonld"));
            let ours = ours.map_or(Value::Null, |text| json(text));
            // Names that only resemble a keyword define nothing.
            let terms = |context: &Value| {
                let mut terms = context["@context"].as_object().cloned().unwrap_or_default();
                terms.retain(|term, _| term != "@comment" && term != "@version");
                terms
            };
            let is_equal = terms(&ours) == terms(theirs);
            equal += usize::from(is_equal);
            if is_equal {
                continue;
            }
            otherwise.push(id.clone());
            let of_block = format!("tests/{key}/example_");
            let documents =
                register.files.iter().filter(|(path, _)| path.starts_with(&of_block) && path.ends_with(".json"));
            for (path, document) in documents.filter(|_| !theirs.is_null()) {
                let graph = |context: &Value| canonical(&under(context, document, &format!("{base}{path}")), &key);
                assert!(graph(&ours) == graph(theirs), "{path}");
                examples += 1;
            }
        }
    }
    println!("{equal} contexts are equal; under {} others, {examples} examples have the same triples", otherwise.len());
    OTHERWISE.iter().for_each(|(id, why)| println!("{id}: {why}"));
    otherwise.sort_by_key(|id| OTHERWISE.iter().position(|(known, _)| known == id));
    assert_eq!(otherwise, OTHERWISE.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    assert!(equal > 40, "{equal}");
}
