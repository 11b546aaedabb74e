//! The register that the OGC publishes of the building block "JSON-RPC", made again.

use std::fs;

use rpcgraph::register::RegisterOptions;
use serde_json::{Value, json};

use super::{build, json as parsed, reference, turtle};
use crate::support::{assert_isomorphic, files};

const BASE: &str = "https://ogcincubator.github.io/modelcontextprotocol/build/";

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn the_published_register_beside_the_corpora() {
    let folder = reference("ogc-json-rpc");
    let options = RegisterOptions {
        base: Some(BASE.into()),
        identifier: Some("mcp.json-rpc".into()),
        offline: true,
        ..RegisterOptions::default()
    };
    let register = build(&folder.join("_sources/json-rpc"), &options);
    let mut compared = 0;
    for path in files(&folder.join("build/tests/json-rpc"), "") {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let theirs = fs::read_to_string(&path).expect("text");
        let ours = &register.files[&format!("tests/json-rpc/{name}")];
        match path.extension().expect("an extension").to_str().expect("text") {
            "ttl" => assert_isomorphic(&turtle(ours, BASE), &turtle(&theirs, BASE), &name),
            "jsonld" => {
                let mut ours = parsed(ours);
                // A base that the published document lacks, so that it has another graph than the published Turtle.
                let base = ours["@context"].as_array_mut().expect("contexts").pop();
                assert_eq!(base, Some(json!({ "@base": "https://override-me-for-custom-content.eg/" })));
                assert_eq!(ours, parsed(&theirs), "{name}");
            }
            "json" if name == "_report.json" => assert_eq!(parsed(ours), report(parsed(&theirs))),
            "json" => assert_eq!(parsed(ours), parsed(&theirs), "{name}"),
            "txt" => {
                let theirs: Vec<_> = theirs.lines().filter(|line| !line.starts_with("Generated ")).collect();
                assert_eq!(ours.lines().collect::<Vec<_>>(), theirs, "{name}");
            }
            other => panic!("{other}"),
        }
        compared += 1;
    }
    assert_eq!(compared, 13);
    assert!(register.blocks[0].report.items.iter().all(|item| item.passed() && item.losses == 0));
}

/// The published report without its time, and with paths as they are in the published folder.
fn report(mut report: Value) -> Value {
    report.as_object_mut().expect("an object").remove("generated");
    for item in report["items"].as_array_mut().expect("items") {
        let name = item["source"]["filename"].as_str().expect("a name");
        item["source"]["filename"] = json!(name.strip_prefix("build/").expect("the published folder"));
    }
    report
}
