//! The programs of the page on logging write logs that are read without an option.

use std::fs;
use std::process::Command;

use super::document;
use crate::support::own;

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

/// A row of the table "A network": a recording program, a fixture that it or one like it wrote, and the format.
const RECORDED: [(&str, &str, &str); 4] = [
    ("`tcpdump ", "tshark/typical.json", "tshark"),
    ("`mitmdump ", "har/mitmproxy.har", "har"),
    ("the network panel", "har/chrome.har", "har"),
    ("`socat ", "socat/typical.log", "socat"),
];

/// The commands that read what other programs record find its messages.
#[test]
fn recordings_of_networks() {
    let page = document("docs/logging.md");
    let (_, table) = page.split_once("| traffic | record | read |\n|---|---|---|\n").unwrap();
    let rows: Vec<_> = table.lines().take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), RECORDED.len());
    for (row, (program, fixture, format)) in rows.into_iter().zip(RECORDED) {
        let cells: Vec<_> = row.split(" | ").collect();
        assert!(cells[1].starts_with(program), "{row}");
        let (_, command) = cells[2].rsplit_once("`rpcgraph ").unwrap();
        let (log, _) = command.split_once('`').unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::copy(own("tests/formats").join(fixture), folder.path().join(log)).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_rpcgraph")).arg(log).current_dir(folder.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let first: Vec<_> = text.lines().next().unwrap_or_default().split(" · ").collect();
        let is_read = first.starts_with(&[log, format]) && first[2].ends_with(" messages");
        assert!(is_read, "{row}: {text}{}", String::from_utf8_lossy(&output.stderr));
    }
}
