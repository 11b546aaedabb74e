//! Files and standard streams that are not what they should be: an output that is an input, streams that are closed,
//! what a run that was killed has left.

use std::fs;

use super::{LOG, LOG_SUMMARY, Place};

#[test]
#[cfg(unix)]
fn no_input_is_replaced() {
    let place = Place::with("log", LOG);
    place.put("other", LOG);
    place.put("data.ttl", "<urn:a> <urn:b> <urn:c> .");
    place.put("q.rq", "ASK {}");
    place.put("c.jsonld", r#"{"@context":{}}"#);
    std::os::unix::fs::symlink("log", place.path("link")).expect("a link");
    fs::hard_link(place.path("log"), place.path("hard")).expect("a link");
    let before = place.names();
    for (arguments, input) in [
        (&["convert", "log", "-o", "log"][..], "log"),
        (&["convert", "log", "-o", "./log"], "log"),
        (&["convert", "log", "-o", "link"], "log"),
        (&["convert", "link", "-o", "log"], "link"),
        (&["convert", "log", "-o", "hard"], "log"),
        (&["convert", "other", "log", "-t", "nquads", "-o", "link"], "log"),
        (&["convert", "log", "-c", "c.jsonld", "-o", "c.jsonld"], "c.jsonld"),
        (&["query", "log", "-q", "ASK {}", "-t", "csv", "-o", "log"], "log"),
        (&["query", "data.ttl", "-q", "CONSTRUCT WHERE { ?s ?p ?o }", "-o", "data.ttl"], "data.ttl"),
        (&["query", "log", "--query-file", "q.rq", "-t", "csv", "-o", "q.rq"], "q.rq"),
    ] {
        let ran = place.run(arguments);
        ran.said(2, &format!("error: {input} is an input and the output: name another file for the output\n"));
        assert_eq!(
            (place.read("log"), place.read("q.rq"), place.names()),
            (LOG.into(), b"ASK {}".to_vec(), before.clone())
        );
    }
    // Devices are read and written as often as one likes.
    place.convert(&["/dev/null", "-o", "/dev/null", "--quiet"]).said(0, "");
}

/// Output that is appended to its own input would be read again, endlessly.
#[test]
#[cfg(target_os = "linux")]
fn no_input_is_appended_to() {
    let place = Place::with("log", LOG);
    for (arguments, stdin, input) in [
        (&["convert", "log"][..], "/dev/null", "log"),
        (&["query", "log", "-q", "ASK {}"], "/dev/null", "log"),
        (&["convert"], "log", "/dev/stdin"),
        (&["convert", "-", "-o", "log"], "log", "/dev/stdin"),
    ] {
        let log = fs::File::options().append(true).open(place.path("log")).expect("a file");
        let stdin = fs::File::open(place.path("").join(stdin)).expect("a file");
        let output = place.command(arguments).stdin(stdin).stdout(log).output().expect("a run");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said, format!("error: {input} is an input and the output: name another file for the output\n"));
        assert_eq!((output.status.code(), place.read("log")), (Some(2), LOG.into()));
    }
}

#[test]
#[cfg(unix)]
fn a_register_does_not_replace_what_it_is_made_of() {
    let place = Place::with("log", LOG);
    place.run(&["capture", "log", "-o", "block", "--quiet"]).quietly();
    for arguments in
        [&["capture", "log", "block/bblock.json", "-o", "block"][..], &["register", "block/bblock.json", "-o", "block"]]
    {
        let ran = place.run(arguments);
        let said = "block/bblock.json is in the folder that would be replaced: name another folder with --output";
        ran.said(2, &format!("error: {said}\n"));
    }
}

/// Every output of a command is held against every path that the command has, by any name.
#[test]
#[cfg(unix)]
fn no_path_of_any_command_is_replaced() {
    let place = Place::with("log", LOG);
    place.put("key", "0123456789abcdef0123456789abcdef");
    place.put("f.toml", "name = 'x'\nline = '(?<message>.*)'\n");
    place.put("o.json", r#"{"openrpc":"1.2.6","methods":[]}"#);
    place.put("r.rq", "# id: mine/x\n# title: t\n# level: note\nSELECT ?message { ?message a jrpc:Request }\n");
    place.put("b.jsonl", "");
    place.put("q/mine.rq", "SELECT ?message { ?message a jrpc:Request }\n");
    place.put("logs/a", LOG);
    place.put("logs/deep/b", LOG);
    std::os::unix::fs::symlink("log", place.path("link")).expect("a link");
    fs::hard_link(place.path("log"), place.path("hard")).expect("a link");
    std::os::unix::fs::symlink("logs", place.path("folder")).expect("a link");
    let all = ["log", "key", "f.toml", "o.json", "r.rq", "b.jsonl", "q/mine.rq", "logs/a", "logs/deep/b"];
    let contents = || all.map(|name| place.read(name));
    let before = (contents(), place.names());
    for (arguments, named) in [
        ("check log --write-baseline log", "log is an input and the output: name another file for --write-baseline"),
        ("check log --write-baseline link", "log is an input"),
        ("check ./log --write-baseline hard", "./log is an input"),
        ("check link --write-baseline log", "link is an input"),
        ("check logs --write-baseline logs/a", "logs/a is an input"),
        ("check -r folder --write-baseline logs/deep/b", "folder/deep/b is an input"),
        ("check log --rules r.rq --write-baseline ./r.rq", "r.rq is an input"),
        ("check log --openrpc o.json --write-baseline o.json", "o.json is an input"),
        (
            "check log --openrpc o.json -o o.json -t json",
            "o.json is an input and the output: name another file for the output",
        ),
        ("check log --baseline b.jsonl -o b.jsonl -t json", "b.jsonl is an input"),
        ("check log -o new --write-baseline ./new", "--write-baseline and --output both write"),
        ("redact log --key-file key -o key", "key is an input"),
        ("redact log -o link", "log is an input"),
        ("convert log -f f.toml -o f.toml -t turtle", "f.toml is an input"),
        ("convert log --redact --key-file key -o key -t turtle", "key is an input"),
        ("convert logs -t parquet -o logs", "logs is an input"),
        ("ask mine log --queries q -o q/mine.rq -t csv", "q/mine.rq is an input"),
        ("show log:1 -o log", "log is an input"),
        ("show log#m1 -o hard", "log is an input"),
        ("report log -o log", "log is an input"),
        ("detect log", ""),
        (
            "load logs/a --store logs",
            "logs/a is in the folder that would be replaced: name another folder with --store",
        ),
        ("capture logs/a -o logs", "logs/a is in the folder that would be replaced: name another folder with --output"),
        ("capture folder/a -o logs", "folder/a is in the folder"),
    ] {
        let arguments: Vec<_> = arguments.split(' ').collect();
        let ran = place.run(&arguments);
        if !named.is_empty() {
            ran.began(2, &format!("error: {named}"));
        }
        assert_eq!((contents(), place.names()), before, "{arguments:?}");
    }
}

/// A run removes the temporary files that a killed run left beside its target, and keeps the files of a run in progress.
#[test]
#[cfg(unix)]
fn leftovers_are_removed() {
    use std::io::Write as _;
    let place = Place::with("log", LOG);
    place.put(".rpcgraph-notes", "of the user");
    let unfinished = || place.names().into_iter().filter(|name| name.ends_with(".part")).collect::<Vec<_>>();
    let begin = || {
        let mut child = place.command(&["convert", "-o", "out.nt"]).spawn().expect("a run");
        let before = unfinished();
        child.stdin.as_mut().expect("a pipe").write_all(LOG.as_bytes()).expect("a log");
        while unfinished() == before || unfinished().is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        child
    };
    let mut killed = begin();
    killed.kill().expect("a kill");
    killed.wait().expect("an end");
    let left = unfinished();
    assert_eq!(left.len(), 1);

    let mut running = begin();
    let written = unfinished();
    assert!(written.len() == 1 && written != left, "{written:?} after {left:?}");
    place.convert(&["log", "-o", "other.nt"]).said(0, LOG_SUMMARY);
    place.run(&["capture", "log", "-o", "block", "--quiet"]).quietly();
    assert_eq!(unfinished(), written);
    drop(running.stdin.take());
    assert!(running.wait().expect("an end").success());
    assert_eq!(place.names(), [".rpcgraph-notes", "block", "log", "other.nt", "out.nt"]);
}
