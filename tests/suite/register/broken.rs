//! Links, pipes, folders with other content, and Ctrl-C: a register is written whole, and other files are kept.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::cli::{Place, Ran};

const CONTEXT: &str = r#"{"@context": {"p": "https://example.org/p"}}"#;
const EXAMPLES: &str = "- {title: T, snippets: [{language: json, code: '{\"p\": 1}'}]}\n";

fn block(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    for (name, text) in files {
        place.put(&format!("b/{name}"), text);
    }
    place
}

fn register(place: &Place) -> Ran {
    place.run(&["register", "b", "-o", "out"])
}

fn snippet(entries: &str) -> String {
    format!("- {{title: T, snippets: [{{language: json, {entries}}}]}}\n")
}

#[cfg(unix)]
#[test]
fn links_out_of_the_block() {
    let place = block(&[("context.jsonld", CONTEXT), ("examples.yaml", &snippet("ref: link.json"))]);
    place.put("secret.json", "{}");
    std::os::unix::fs::symlink(place.path("secret.json"), place.path("b/link.json")).expect("a link");
    let ran = register(&place);
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.stderr.contains("`link.json`, named by examples.yaml, example 1, snippet 1, is outside"),
        "{}",
        ran.stderr
    );
    // A link within the block is fine.
    fs::remove_file(place.path("b/link.json")).expect("removed");
    place.put("b/real.json", r#"{"p": 1}"#);
    std::os::unix::fs::symlink("real.json", place.path("b/link.json")).expect("a link");
    assert_eq!(register(&place).status, Some(0));
    // So is the block itself.
    std::os::unix::fs::symlink("b", place.path("linked")).expect("a link");
    assert_eq!(place.run(&["register", "linked", "-o", "out"]).status, Some(0));
    // The context, and the files that it refers to, cannot be outside of the folder either.
    fs::remove_file(place.path("b/context.jsonld")).expect("removed");
    place.put("context.jsonld", CONTEXT);
    std::os::unix::fs::symlink("../context.jsonld", place.path("b/context.jsonld")).expect("a link");
    register(&place).said(
        2,
        "error: `context.jsonld`, named by the building block, is outside of the building block's folder: put a copy of \
         it there\n",
    );
    fs::remove_file(place.path("b/context.jsonld")).expect("removed");
    place.put("b/context.jsonld", r#"{"@context": "../context.jsonld"}"#);
    let ran = register(&place);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("is outside of"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn pipes_are_no_files() {
    let pipe = |path: std::path::PathBuf| {
        assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
    };
    let place = block(&[("context.jsonld", CONTEXT), ("examples.yaml", &snippet("ref: pipe"))]);
    pipe(place.path("b/pipe"));
    pipe(place.path("b/pipe.jsonld"));
    let ran = register(&place);
    let said = "cannot read `pipe`, named by examples.yaml, example 1, snippet 1: it is not a file\n";
    assert!(ran.status == Some(1) && ran.stderr.contains(said), "{}", ran.stderr);
    place.put("b/examples.yaml", EXAMPLES);
    place.put("b/context.jsonld", r#"{"@context": "pipe.jsonld"}"#);
    fs::remove_dir_all(place.path("out")).expect("removed");
    let ran = register(&place);
    assert!(ran.status == Some(2) && ran.stderr.ends_with(": it is not a file\n"), "{}", ran.stderr);
}

/// A register has the same text wherever its block is.
#[test]
fn no_path_of_the_machine_is_in_a_register() {
    let place = block(&[("context.jsonld", CONTEXT)]);
    place.put("other.jsonld", CONTEXT);
    place.put(
        "b/examples.yaml",
        snippet(r#"code: '{"@context": "gone.jsonld"}'"#) + &snippet(r#"code: '{"@context": "../other.jsonld"}'"#),
    );
    assert_eq!(register(&place).status, Some(1));
    let report = String::from_utf8(place.read("out/tests/b/_report.json")).expect("text");
    let folder = place.path("").display().to_string();
    assert!(!report.contains(folder.trim_end_matches('/')), "{report}");
    assert!(
        report.contains("`../other.jsonld`, named by `examples.yaml`, is outside of the building block"),
        "{report}"
    );
}

/// A context that the block only refers to is fetched where the command line names it.
#[test]
fn contexts_elsewhere_are_not_fetched() {
    let place = block(&[
        ("context.jsonld", r#"{"@context": ["https://127.0.0.1:1/c", {"p": "https://example.org/p"}]}"#),
        ("examples.yaml", EXAMPLES),
    ]);
    let ran = register(&place);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("will not fetch `https://127.0.0.1:1/c` because the file"), "{}", ran.stderr);
    let ran = place.run(&["register", "b", "-o", "out", "--offline", "-c", "https://127.0.0.1:1/c"]);
    ran.began(2, "error: `https://127.0.0.1:1/c` is not in the cache, and --offline forbids to fetch it");
    // The block's own URL, and the building block's, are not fetched.
    let place = block(&[
        ("bblock.json", r#"{"ldContext": "https://example.org/build/annotated/b/context.jsonld"}"#),
        ("context.jsonld", CONTEXT),
        (
            "examples.yaml",
            r#"- snippets:
  - language: jsonld
    code: '{"@context": "https://example.org/build/annotated/b/context.jsonld", "p": 1}'
  - language: jsonld
    code: '{"@context": "https://ogcincubator.github.io/modelcontextprotocol/build/annotated/json-rpc/context.jsonld", "method": "m"}'
"#,
        ),
    ]);
    register(&place).said(0, "b: 2 of 2 passed; 16 files in out\n");
    let report = String::from_utf8(place.read("out/tests/b/_report.json")).expect("text");
    assert!(report.contains("\"https://example.org/build/tests/b/example_1_1.jsonld\""), "{report}");
}

#[test]
fn folders_that_are_no_register_are_left_alone() {
    let place = block(&[("context.jsonld", CONTEXT), ("examples.yaml", EXAMPLES)]);
    place.put("out/mine.txt", "kept");
    register(&place).began(2, "error: ");
    let not_ours = "is not empty, and not a register that rpcgraph wrote: name a new folder, or empty this one if nothing \
                    in it is needed\n";
    assert!(register(&place).stderr.ends_with(not_ours));
    assert_eq!(place.read("out/mine.txt"), b"kept");
    // Nor is the block's own folder one.
    place.run(&["register", "b", "-o", "b"]).began(2, "error: b is an input and the output");
    fs::remove_dir_all(place.path("out")).expect("removed");
    fs::create_dir(place.path("out")).expect("a folder");
    assert_eq!(register(&place).status, Some(0));
    // A new register replaces the old one completely.
    place.put("b/examples.yaml", "- {base-output-filename: other, snippets: [{language: json, code: '{\"p\": 2}'}]}\n");
    assert_eq!(register(&place).status, Some(0));
    let tests: Vec<_> = fs::read_dir(place.path("out/tests/b"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("example"))
        .collect();
    assert_eq!(tests, Vec::<String>::new());
    assert_eq!(place.names(), ["b", "out"]);
    // But not with something in it that is not of it.
    place.put("out/tests/b/mine.txt", "kept");
    let ran = register(&place);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("holds tests/b/mine.txt, which is not of the register"), "{}", ran.stderr);
    assert_eq!(place.read("out/tests/b/mine.txt"), b"kept");
    // A block that is broken takes nothing away either.
    fs::remove_file(place.path("out/tests/b/mine.txt")).expect("removed");
    place.put("b/examples.yaml", "- {title: [}");
    assert_eq!(register(&place).status, Some(2));
    assert!(!place.read("out/register-summary.md").is_empty());
    // A file cannot be a target folder; folders above the register's are created.
    place.put("b/examples.yaml", EXAMPLES);
    place.put("file", "kept");
    assert!(place.run(&["register", "b", "-o", "file"]).stderr.contains("file is not a folder"));
    assert_eq!(place.run(&["register", "b", "-o", "out/tests/../../no/such"]).status, Some(0));
    fs::remove_dir_all(place.path("no")).expect("removed");
    // Nobody's shell is left in a folder that is gone.
    let mut command = place.command(&["register", "../../b", "-o", ".."]);
    let ran = command.current_dir(place.path("out/tests")).output().expect("rpcgraph");
    assert_eq!(ran.status.code(), Some(2));
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(said.contains("is, or contains, the current folder"), "{said}");
    assert_eq!(place.names(), ["b", "file", "out"]);
}

#[cfg(unix)]
#[test]
fn control_c_leaves_no_part_of_a_register() {
    let place = block(&[("context.jsonld", CONTEXT), ("examples.yaml", &EXAMPLES.repeat(1500))]);
    let mut child = place.command(&["register", "b", "-o", "out", "--quiet"]).spawn().expect("it starts");
    while place.names() == ["b"] && child.try_wait().expect("a status").is_none() {
        thread::sleep(Duration::from_millis(5));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    child.wait().expect("it ends");
    // It may have been done by then, and then it is there as a whole.
    match place.names().as_slice() {
        [_] => {}
        [_, out] if out == "out" => assert!(!place.read("out/register.json").is_empty()),
        names => panic!("{names:?}"),
    }
}
