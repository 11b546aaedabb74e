//! The page for authors of blocks, the GitHub Action and the note on the published block: what they show is so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::reference;
use crate::support::{files, own};

/// A folder with the examples of the project, and a shell in it that finds the program.
fn shell(folder: &TempDir, script: &str) -> Command {
    for example in files(&own("examples"), "") {
        let copy = folder.path().join(example.strip_prefix(env!("CARGO_MANIFEST_DIR")).expect("below"));
        fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
        fs::copy(example, copy).expect("a copy");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_rpcgraph")).parent().expect("a folder").to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = [program].into_iter().chain(std::env::split_paths(&others)).collect();
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(folder.path()).env("PATH", std::env::join_paths(path).expect("a path"));
    command
}

/// The blocks of a page whose first line begins so, with the rest of that line.
fn blocks<'p>(page: &'p str, language: &str) -> Vec<(&'p str, &'p str)> {
    let blocks = page.split("\n```").filter_map(|block| block.strip_prefix(language)?.split_once('\n'));
    blocks.map(|(rest, text)| (rest.trim(), text)).collect()
}

#[cfg(unix)]
#[test]
fn commands_of_the_page_for_authors() {
    let page = fs::read_to_string(own("docs/block-authors.md")).expect("a page");
    let folder = tempfile::tempdir().expect("a folder");
    let mut run = 0;
    for (_, block) in blocks(&page, "console") {
        for command in block.split("$ ").filter(|command| !command.trim().is_empty()) {
            let (command, expected) = command.split_once('\n').unwrap_or((command, ""));
            let output = shell(&folder, command).output().expect("bash");
            let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("text");
            assert!(output.status.success(), "{command}: {text}");
            assert_eq!(text.trim_end(), expected.trim_end(), "{command}");
            run += 1;
        }
    }
    assert_eq!(run, 7);
}

/// The script of the last step of an action.
#[cfg(unix)]
fn last_script(path: &str) -> String {
    let action = fs::read_to_string(own(path)).expect("an action");
    action.rsplit_once("run: |\n").expect("a script").1.to_owned()
}

#[cfg(unix)]
#[test]
fn the_action_makes_and_compares() {
    let script = last_script("action.yml");
    let folder = tempfile::tempdir().expect("a folder");
    let run = |path: &str, output: &str, compare: &str| {
        let mut command = shell(&folder, &script);
        command.env("BLOCKS", path).env("OUTPUT", output).env("COMPARE", compare).env("OPTIONS", "--offline --quiet");
        command.status().expect("bash").code()
    };
    assert_eq!(run("examples/subtract", "build", "build"), Some(0));
    fs::write(folder.path().join("build/tests/subtract/example_1_1.ttl"), "<a:b> <c:d> 1 .").expect("a file");
    assert_eq!(run("examples/subtract", "", "build"), Some(1));
    assert_eq!(run("examples/none", "other", ""), Some(2));
}

#[cfg(unix)]
#[test]
fn the_action_checks() {
    let script = last_script(".github/actions/check/action.yml");
    let folder = tempfile::tempdir().expect("a folder");
    let run = |log: &str| {
        let mut command = shell(&folder, &script);
        command
            .env("LOGS", log)
            .env("OPTIONS", "--only jsonrpc/*")
            .env("GITHUB_STEP_SUMMARY", folder.path().join("summary"));
        let output = command.output().expect("bash");
        (output.status.code(), String::from_utf8(output.stdout).expect("text"))
    };
    let (status, annotations) = run("examples/checked-session.ndjson");
    assert_eq!(status, Some(1));
    let first = "::error file=examples/checked-session.ndjson,line=6,title=A second answer to a request [jsonrpc/second-answer]::";
    assert!(annotations.contains(first), "{annotations}");
    let summary = fs::read_to_string(folder.path().join("summary")).expect("a summary");
    assert!(summary.contains("error: A second answer to a request"), "{summary}");
    assert_eq!(run("examples/mcp-session.ndjson").0, Some(0));
}

/// The published files have each fault that the note removes.
#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn the_faults_are_in_the_block_beside_the_corpora() {
    let folder = reference("ogc-json-rpc");
    let note = fs::read_to_string(own("docs/upstream.md")).expect("a note");
    let blocks = blocks(&note, "diff ");
    assert!(blocks.len() > 7, "{}", blocks.len());
    for (file, change) in blocks {
        let published = fs::read_to_string(folder.join("_sources/json-rpc").join(file)).expect("a file");
        for line in change.lines().filter(|line| line.starts_with(['-', ' '])) {
            assert!(published.lines().any(|known| known.trim_end() == line[1..].trim_end()), "{file}: {line}");
        }
    }
}
