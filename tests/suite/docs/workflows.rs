//! Blocks that are not console transcripts: steps of workflows, and scripts.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{ROOT, documents};

/// The text of each block of a language in the documents, with the document's name.
fn blocks(language: &str) -> Vec<(String, String)> {
    let start = format!("\n```{language}\n");
    let mut blocks = Vec::new();
    for (name, text) in documents() {
        let texts = text.split(&start).skip(1).filter_map(|rest| rest.split_once("\n```"));
        blocks.extend(texts.map(|(block, _)| (name.clone(), format!("{block}\n"))));
    }
    blocks
}

/// Steps of workflows are YAML. They name our actions by this version, for the account that a release replaces, and give them
/// inputs that they have, with all that are required.
#[test]
fn workflows_fit_the_actions() {
    let mut uses = 0;
    for (name, block) in blocks("yaml") {
        let workflow: Value = serde_saphyr::from_str(&block).unwrap_or_else(|error| panic!("{name}: {error}"));
        for step in workflow["steps"].as_array().unwrap() {
            let action = step["uses"].as_str().unwrap();
            let Some(path) = action.strip_prefix("OWNER_/rpcgraph") else {
                assert!(!action.contains("rpcgraph"), "{name}: {action}");
                continue;
            };
            let path =
                path.strip_suffix(concat!("@v", env!("CARGO_PKG_VERSION"))).expect("the version of this package");
            let action = fs::read_to_string(format!("{ROOT}{path}/action.yml")).unwrap();
            let action: Value = serde_saphyr::from_str(&action).unwrap();
            let (inputs, given) = (action["inputs"].as_object().unwrap(), step["with"].as_object().unwrap());
            for input in given.keys() {
                assert!(inputs.contains_key(input), "{name}: {input}");
            }
            for (input, about) in inputs {
                assert!(about["required"] != true || given.contains_key(input), "{name}: {input}");
            }
            uses += 1;
        }
    }
    assert_eq!(uses, 2);
}

/// Scripts run in a shell that stops at the first failure, in a folder with logs.
#[cfg(unix)]
#[test]
fn scripts_of_the_documents() {
    let program = Path::new(env!("CARGO_BIN_EXE_rpcgraph")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let scripts = blocks("sh");
    assert!(!scripts.is_empty());
    for (name, script) in scripts {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("logs")).unwrap();
        for log in ["mcp-session.ndjson", "lsp-session.ndjson"] {
            fs::copy(format!("{ROOT}/examples/{log}"), folder.path().join("logs").join(log)).unwrap();
        }
        let output = Command::new("sh")
            .args(["-ec", &script])
            .current_dir(folder.path())
            .env("PATH", format!("{}:{path}", program.display()))
            .output()
            .expect("a shell");
        assert!(output.status.success(), "{name}: {script}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
