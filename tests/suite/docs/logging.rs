//! The programs of the page on logging write logs that are read without an option.

use std::fs;
use std::process::Command;

use super::document;

/// Runs the page's program in a language, and compares what is read of its log: two messages that belong together, with
/// times.
fn run(language: &str, file: &str, commands: &[&[&str]]) {
    let page = document("docs/logging.md");
    let (_, program) = page.split_once(&format!("```{language}\n")).unwrap();
    let (program, _) = program.split_once("```").unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(file), program).unwrap();
    for command in commands {
        let output = Command::new(command[0]).args(&command[1..]).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let query = "SELECT ?kind ?side (BOUND(?seconds) AS ?timed) (BOUND(?request) AS ?paired)
        { ?m rpcg:sequence ?n ; a ?kind ; rpcg:sentBy ?side OPTIONAL { ?m rpcg:latencySeconds ?seconds }
        OPTIONAL { ?m rpcg:respondsTo ?request } } ORDER BY ?n";
    let output = Command::new(env!("CARGO_BIN_EXE_rpcgraph"))
        .args(["query", query, "calls.ndjson", "-t", "csv"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap().replace('\r', "");
    let [jrpc, rpcg] = ["http://json-rpc.org/ontology#", "https://w3id.org/rpcgraph#"];
    let expected = format!(
        "kind,side,timed,paired\n{jrpc}Request,{rpcg}Client,false,false\n{jrpc}Response,{rpcg}Server,true,true\n2 rows\n"
    );
    assert_eq!(text, expected, "{language}");
}

#[test]
#[cfg(unix)]
fn logging_in_rust() {
    run("rust", "calls.rs", &[&["rustc", "--edition=2024", "calls.rs"], &["./calls"]]);
}

#[test]
#[cfg(target_os = "linux")]
fn logging_in_a_shell() {
    run("bash", "calls.sh", &[&["bash", "calls.sh"]]);
}

#[test]
#[ignore = "needs Python"]
fn logging_in_python3() {
    run("python", "calls.py", &[&["python3", "calls.py"]]);
}

#[test]
#[ignore = "needs Node.js"]
fn logging_in_node() {
    run("js", "calls.mjs", &[&["node", "calls.mjs"]]);
}

#[test]
#[ignore = "needs a Java development kit"]
fn logging_in_javac() {
    run("java", "Calls.java", &[&["java", "Calls.java"]]);
}

#[test]
#[ignore = "needs Go"]
fn logging_in_go() {
    run("go", "calls.go", &[&["go", "run", "calls.go"]]);
}
