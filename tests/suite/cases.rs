//! Cases: one folder each in `tests/cases/`, which says what goes in and what comes out.
//!
//! | file | what it is |
//! |---|---|
//! | `arguments` | of the command, one a line |
//! | `stdin` | what is on standard input; absent: nothing |
//! | `expected.ttl`, `.nq`, `.trig`, `.jsonld`, … | the graph on standard output, which is in the same syntax |
//! | `expected.txt` | standard output, exactly |
//! | neither | nothing is on standard output |
//! | `stderr` | standard error, exactly; absent: nothing |
//! | `status` | the exit status; absent: 0 |
//! | everything else | files that the arguments name |
//!
//! The command runs in a folder that holds the last kind of files alone, and leaves nothing there. Graphs are compared
//! as graphs: RDFC-1.0. Inputs get their IRIs from `--base`, since every run has another folder.

use std::fs;
use std::path::Path;

use oxrdfio::RdfFormat;

use crate::cli::{Place, parse};
use crate::support::assert_isomorphic;

fn text(path: &Path) -> Option<String> {
    path.exists().then(|| fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// Runs one case.
fn run(folder: &Path) {
    let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
    let place = Place::new();
    let mut expected = None;
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        if file.starts_with("expected.") {
            assert!(expected.replace(path).is_none(), "{name}: one file says what is expected");
        } else if !matches!(file.as_str(), "arguments" | "stdin" | "stderr" | "status") {
            place.put(&file, fs::read(&path).expect("a file"));
        }
    }
    let before = place.names();
    let arguments = text(&folder.join("arguments")).expect("arguments");
    let arguments: Vec<_> = arguments.lines().collect();
    let stdin = fs::read(folder.join("stdin")).unwrap_or_default();
    let ran = place.run_with(&arguments, stdin);

    assert_eq!(ran.stderr, text(&folder.join("stderr")).unwrap_or_default(), "{name}: standard error");
    let status = text(&folder.join("status")).map_or(0, |status| status.trim().parse().expect("a status"));
    assert_eq!(ran.status, Some(status), "{name}: exit status");
    assert_eq!(place.names(), before, "{name}: what is left in the folder");
    let Some(path) = expected else {
        assert_eq!(ran.text(), "", "{name}: standard output");
        return;
    };
    let extension = path.extension().expect("an extension").to_string_lossy().into_owned();
    let bytes = fs::read(&path).expect("a file");
    match RdfFormat::from_extension(&extension).filter(|_| extension != "txt") {
        Some(syntax) => assert_isomorphic(&parse(syntax, &bytes), &ran.quads(syntax), &name),
        None => assert_eq!(ran.text(), String::from_utf8_lossy(&bytes), "{name}: standard output"),
    }
}

#[test]
fn every_case() {
    let mut folders: Vec<_> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"))
        .expect("the cases")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.sort();
    assert!(folders.len() > 15);
    let failed: Vec<_> = folders.iter().filter(|folder| std::panic::catch_unwind(|| run(folder)).is_err()).collect();
    assert!(failed.is_empty(), "{} of {} cases failed: {failed:#?}", failed.len(), folders.len());
}
