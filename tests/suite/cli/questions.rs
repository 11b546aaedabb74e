//! Questions over folders, and in completions.

use super::{LOG, Place};

/// A log that fails in one place, and a folder with queries of one's own.
fn place_with_queries() -> Place {
    let place = Place::with("log", LOG);
    place.put("own/calls.rq", "# Who is called\nSELECT ?method { ?r jrpc:hasMethod ?method\n} ORDER BY ?method\n");
    place.put("own/errors.rq", "# Nothing\nASK {}\n");
    place.put("own/notes.txt", "none of them");
    place
}

#[test]
fn completions_know_questions_and_formats() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let ran = place.run(&["completions", shell]);
        // The script for fish has no values of what is not an option.
        let values = if shell == "fish" { &[][..] } else { &["in-flight", "tool-failures"] };
        for word in values.iter().chain(&["markdown", "jsonl", "turtle"]) {
            assert!(ran.text().contains(word), "{shell} knows {word}");
        }
    }
}

/// A folder stands for the files in it: with `-r` for those in its folders, too; never for what is hidden, or leads elsewhere.
#[cfg(unix)]
#[test]
fn folders_are_read() {
    let place = place_with_queries();
    for name in ["logs/b.ndjson", "logs/a.ndjson", "logs/.hidden", "logs/more/c.ndjson", "elsewhere/d.ndjson"] {
        place.put(name, LOG);
    }
    std::os::unix::fs::symlink(place.path("elsewhere"), place.path("logs/link")).unwrap();
    std::os::unix::fs::symlink(place.path("elsewhere/d.ndjson"), place.path("logs/d.ndjson")).unwrap();
    for (options, logs) in [
        (&[][..], &["logs/a.ndjson", "logs/b.ndjson"][..]),
        (&["-r"], &["logs/a.ndjson", "logs/b.ndjson", "logs/more/c.ndjson"]),
    ] {
        for command in [&["errors", "-t", "csv"][..], &["convert", "-t", "nquads"]] {
            let expected = place.run(&[command, logs, &["--quiet"]].concat());
            let ran = place.run(&[command, options, &["logs", "--quiet"]].concat());
            assert_eq!(ran.quietly().stdout, expected.quietly().stdout, "{command:?} {options:?}");
        }
    }
    assert!(place.run(&["logs", "--quiet"]).quietly().text().starts_with("2 logs · json-lines · "));
    for command in
        [&["report", "-o", "page.html"][..], &["capture", "-o", "block"], &["detect"], &["load", "--store", "s"]]
    {
        let ran = place.run(&[command, &["-r", "logs"]].concat());
        assert!(ran.status == Some(0) || ran.stderr.contains("rocksdb"), "{command:?}: {}", ran.stderr);
    }
    let shown = place.run(&["show", "logs", "-r", "m2", "-t", "messages"]);
    assert_eq!(shown.quietly().text().lines().count(), 6);
    place.run(&["show", "logs", "-r", "m2", "-t", "messages", "-o", "m2.ndjson"]).quietly();
    assert_eq!(place.read("m2.ndjson"), shown.stdout);
    let note = "note: logs: 1 folder in it not read; -r reads the files in them, too\n";
    place.run(&["convert", "logs", "-t", "nquads"]).began(0, note);
    let ran = place.run(&["convert", "-r", "logs", "-t", "nquads"]);
    assert!(!ran.stderr.contains("not read"));
}
