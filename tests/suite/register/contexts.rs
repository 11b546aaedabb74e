//! Contexts made of annotated schemas, beside those that `ogc-na` makes of its own test data.

use std::fs;
use std::path::Path;
use std::process::Command;

use rpcgraph::register::RegisterOptions;
use serde_json::{Value, json as value};

use super::json;
use super::repositories::made;
use crate::cli::Place;
use crate::support::{corpora, files};

#[test]
fn contexts_are_those_of_ogc_na() {
    let Some(python) = std::env::var_os("RPCGRAPH_OGC_NA") else {
        println!("skipped: RPCGRAPH_OGC_NA names no Python that has ogc-na");
        return;
    };
    let Some(data) = corpora().map(|corpora| corpora.join("ogc-na-tools/test/data")) else { return };
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
        let ours = ours
            .files()
            .get("annotated/b/context.jsonld")
            .map_or_else(|| value!({ "@context": {} }), |text| json(text));
        // An empty one has a version there, or none.
        let terms = |context: &Value| context["@context"].as_object().filter(|terms| terms.len() > 1).cloned();
        assert_eq!(terms(&ours), terms(&theirs), "{schema}");
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}
