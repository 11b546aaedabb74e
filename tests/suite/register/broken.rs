//! What is wrong with a block is said, with exit status 2, and then there is nothing on disk; nor is anything lost that
//! was there.

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

/// Asserts what is said of a block, and that nothing is made of it.
#[track_caller]
fn refused(files: &[(&str, &str)], said: &str) {
    let place = block(files);
    let ran = register(&place);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(2), format!("error: {said}\n").as_str()));
    assert_eq!(place.names(), ["b"]);
}

/// Asserts what is said of an example or a test, which fails alone: the register is made.
#[track_caller]
fn failed(files: &[(&str, &str)], said: &str) {
    let place = block(files);
    let ran = register(&place);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("failed: ") && ran.stderr.contains(&format!(": Files: {said}\n")), "{}", ran.stderr);
    assert_eq!(place.names(), ["b", "out"]);
}

fn snippet(entries: &str) -> String {
    format!("- {{title: T, snippets: [{{language: json, {entries}}}]}}\n")
}

#[test]
fn missing_files_are_reported() {
    // A block is published as what it is.
    let place = block(&[("examples.yaml", EXAMPLES)]);
    register(&place).said(0, "b: 1 of 1 passed; 8 files in out\n");
    let place = block(&[("context.jsonld", CONTEXT)]);
    register(&place).said(0, "b: 0 of 0 passed; 7 files in out\n");
    failed(
        &[("context.jsonld", CONTEXT), ("examples.yaml", &snippet("ref: gone.json"))],
        "cannot read `gone.json`, named by examples.yaml, example 1, snippet 1: No such file or directory (os error 2)",
    );
    let place = Place::new();
    let ran = register(&place);
    ran.said(2, "error: cannot read the building block b: No such file or directory (os error 2)\n");
}

#[test]
fn references_out_of_the_block_are_refused() {
    let outside = |name: &str, by: &str| {
        format!("`{name}`, named by {by}, is outside of the building block's folder: put a copy of it there")
    };
    let by = "examples.yaml, example 1, snippet 1";
    for name in ["../secret.json", "/etc/passwd", "x/../../secret.json"] {
        let examples = snippet(&format!("ref: {name}"));
        failed(&[("context.jsonld", CONTEXT), ("examples.yaml", &examples)], &outside(name, by));
    }
    let remote = "is a URL, and examples and schemas are not fetched: put a copy in the block, or name a folder for it with \
                  --import URL=DIR, or fetch it with --online -c URL";
    failed(
        &[("context.jsonld", CONTEXT), ("examples.yaml", &snippet("ref: 'https://example.org/x.json'"))],
        &format!("`https://example.org/x.json`, named by {by}, {remote}"),
    );
    refused(
        &[("context.jsonld", CONTEXT), ("examples.yaml", EXAMPLES), ("schema.json", r#"{"$ref": "../secret.json"}"#)],
        &outside("../secret.json", "the schema"),
    );
    refused(
        &[
            ("context.jsonld", CONTEXT),
            ("examples.yaml", EXAMPLES),
            ("schema.json", r#"{"$ref": "https://example.org/x.json"}"#),
        ],
        &format!("`https://example.org/x.json`, named by the schema, {remote}"),
    );
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
    // The context, and what it refers to, are no way out either.
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

/// What other programs would use is not passed over in silence.
#[test]
fn unused_files_and_members_are_noted() {
    let place = block(&[
        ("context.jsonld", CONTEXT),
        ("examples.yaml", EXAMPLES),
        ("bblock.json", r#"{"shaclShapes": [3], "abstract": "A", "description": "D"}"#),
        ("transforms.yaml", ""),
        ("schema.yaml", "{}"),
        ("schema.json", "{}"),
        ("ontology.ttl", "<> a <#Ontology> ."),
    ]);
    register(&place).said(
        0,
        "note: bblock.json: shaclShapes has 3, which names no shapes
note: schema.json: not used, since there is schema.yaml
b: 1 of 1 passed; 14 files in out
",
    );
}

#[test]
fn malformed_files_are_refused() {
    refused(
        &[("context.jsonld", CONTEXT), ("examples.yaml", "- title: [a]\n")],
        "examples.yaml: expected string scalar at line 1, column 10",
    );
    refused(
        &[("context.jsonld", CONTEXT), ("examples.yaml", &snippet("code: a, ref: b"))],
        "examples.yaml: a snippet has both `code` and `ref`: give it only one of them at line 1, column 25",
    );
    refused(
        &[("context.jsonld", CONTEXT), ("examples.yaml", "- title: a\n  title: b\n")],
        "examples.yaml: duplicate mapping key: title not allowed here at line 2, column 3",
    );
    for (file, text) in [
        ("examples.yaml", "examples: [\n"),
        ("bblock.json", "{"),
        ("schema.yaml", "a: b: c"),
        ("schema.json", "nothing"),
        ("ontology.ttl", "<a> <b"),
        ("examples.yaml", "\u{0}"),
    ] {
        let mut files = vec![("context.jsonld", CONTEXT), (file, text)];
        if file != "examples.yaml" {
            files.push(("examples.yaml", EXAMPLES));
        }
        let place = block(&files);
        let ran = register(&place);
        ran.began(2, &format!("error: {file}: "));
        assert_eq!(place.names(), ["b"]);
    }
    for (context, said) in [
        (r#"{"@context": {"a": {"@id": "https://example.org/a", "@container": "@bogus"}}}"#, "Invalid term definition"),
        (r#"{"@context": {"a": "b:x", "b": "a:y"}}"#, "Cyclic IRI mapping"),
    ] {
        let place = block(&[("context.jsonld", context), ("examples.yaml", EXAMPLES)]);
        let ran = register(&place);
        ran.began(2, "error: context.jsonld: JSON-LD does not allow this context: ");
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert_eq!(place.names(), ["b"]);
    }
    for name in ["a b", "@id", "x: <https://example.org/> . @prefix y"] {
        let examples = format!("prefixes: {{'{name}': 'https://example.org/'}}\nexamples:\n{EXAMPLES}");
        let place = block(&[("context.jsonld", CONTEXT), ("examples.yaml", &examples)]);
        register(&place).began(2, &format!("error: examples.yaml: {name:?} is no prefix: "));
    }
    let place = block(&[("context.jsonld", "{"), ("examples.yaml", EXAMPLES)]);
    let ran = register(&place);
    assert!(ran.status == Some(2) && ran.stderr.contains("is not JSON"), "{}", ran.stderr);
    let place = block(&[("context.jsonld", CONTEXT)]);
    place.put("b/examples.yaml", [0xFF, 0xFE]);
    register(&place).began(2, "error: cannot read `examples.yaml`, named by the building block: it is not UTF-8");
}

#[test]
fn schemas_that_cannot_be_used() {
    let schema = r##"{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"A": {"$anchor": "A"}, "B": {"$id": "#B"}}}"##;
    let with = |reference: &str, schema: &str, said: &str| {
        let examples = snippet(&format!("schema-ref: '{reference}', code: '{{\"p\": 1}}'"));
        let place = block(&[("context.jsonld", CONTEXT), ("examples.yaml", &examples)]);
        if !schema.is_empty() {
            place.put("b/schema.json", schema);
        }
        let ran = register(&place);
        let said = format!(": JSON Schema: Not validated: {said}\n");
        assert!(ran.status == Some(1) && ran.stderr.contains(&said), "{said}{}", ran.stderr);
        // It is uplifted all the same.
        assert_eq!(place.read("out/tests/b/example_1_1.ttl"), b"[] <https://example.org/p> 1 .\n");
    };
    let no_schema = |schema: &str, said: &str| {
        refused(&[("context.jsonld", CONTEXT), ("examples.yaml", EXAMPLES), ("schema.json", schema)], said);
    };
    let by = "examples.yaml, example 1, snippet 1";
    with("#C", schema, &format!("{by}: schema.json: unknown anchor #C; use one of #A, #B"));
    with("#C", "{}", &format!("{by}: schema.json: unknown anchor #C: the schema does not have anchors"));
    with("#/definitions/C", schema, &format!("{by}: schema.json: there is nothing at \"/definitions/C\""));
    with(
        "gone.json#A",
        schema,
        &format!("cannot read `gone.json`, named by {by}: No such file or directory (os error 2)"),
    );
    no_schema(
        r#"{"type": "strin"}"#,
        "schema.json: it is not a valid JSON Schema: \"strin\" is not one of [\"array\", \"boolean\", \"integer\", \
         \"null\", \"number\", \"object\", \"string\"], at /type",
    );
    let place = block(&[
        ("context.jsonld", CONTEXT),
        ("examples.yaml", EXAMPLES),
        ("schema.json", r#"{"$schema": "https://example.org/draft"}"#),
    ]);
    let said = "note: schema.json: $schema \"https://example.org/draft\" is not a known draft; 2020-12 is used\n";
    register(&place).began(0, said);
    // Also where the folder holds a file that it could be taken for.
    let out = [("schema.json", r#"{"$ref": "../common/s.json"}"#), ("common/s.json", "{}")];
    refused(
        &[&out[..], &[("context.jsonld", CONTEXT), ("examples.yaml", EXAMPLES)]].concat(),
        "`../common/s.json`, named by the schema, is outside of the building block's folder: put a copy of it there",
    );
    with("#A", "", &format!("{by}: schema-ref \"#A\" needs a file before `#`: the building block lacks a schema"));
}

#[test]
fn names_that_clash_or_are_none() {
    let two = "- {base-output-filename: Same.json, snippets: [{language: json, code: '{\"p\": 1}'}]}
- {base-output-filename: same, snippets: [{language: json, code: '{\"p\": 1}'}]}\n";
    failed(
        &[("context.jsonld", CONTEXT), ("examples.yaml", two)],
        "example 1, snippet 1 and example 2, snippet 1 would both be written to `same`: give one of them another name",
    );
    failed(
        &[("context.jsonld", CONTEXT), ("examples.yaml", EXAMPLES), ("tests/example_1_1.json", "{}")],
        "example 1, snippet 1 and tests/example_1_1.json would both be written to `example_1_1`: give one of them \
         another name",
    );
    for name in ["../x", "a/b", ".hidden", "", "a\\\\b"] {
        let examples = format!("- {{base-output-filename: \"{name}\", snippets: [{{language: json, code: '1'}}]}}\n");
        let place = block(&[("context.jsonld", CONTEXT), ("examples.yaml", &examples)]);
        register(&place)
            .began(1, "failed: example 1, snippet 1: Files: examples.yaml, example 1, base-output-filename: ");
    }
    for entries in ["base-uri: nowhere, snippets: []", "prefixes: {x: y}, snippets: []"] {
        let place = block(&[("context.jsonld", CONTEXT), ("examples.yaml", &format!("- {{{entries}}}\n"))]);
        register(&place).began(1, "failed: example 1, snippet 1: Files: examples.yaml, example 1, ");
    }
}

/// What is said in a register is the same wherever its block is.
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
    // The block's own URL, and the building block's, are no fetching.
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
    register(&place).said(0, "b: 2 of 2 passed; 13 files in out\n");
    let report = String::from_utf8(place.read("out/tests/b/_report.json")).expect("text");
    assert!(report.contains("\"https://example.org/build/tests/b/example_1_1.jsonld\""), "{report}");
}

#[test]
fn folders_that_are_no_register_are_left_alone() {
    let place = block(&[("context.jsonld", CONTEXT), ("examples.yaml", EXAMPLES)]);
    place.put("out/mine.txt", "kept");
    register(&place).began(2, "error: ");
    let not_ours = "is not empty, and no register that rpcgraph wrote: name a new folder, or empty this one if nothing \
                    in it is needed\n";
    assert!(register(&place).stderr.ends_with(not_ours));
    assert_eq!(place.read("out/mine.txt"), b"kept");
    // Nor is the block's own folder one.
    assert!(place.run(&["register", "b", "-o", "b"]).stderr.ends_with(not_ours));
    fs::remove_dir_all(place.path("out")).expect("removed");
    fs::create_dir(place.path("out")).expect("a folder");
    assert_eq!(register(&place).status, Some(0));
    // A register is replaced, with nothing of the old one left.
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
    assert!(!place.read("out/index.md").is_empty());
    // A file is no folder; folders above the register's are made.
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
    assert!(said.contains("is the current folder, or holds it"), "{said}");
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
