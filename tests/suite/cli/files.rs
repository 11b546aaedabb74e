//! Files and standard streams that are not what they should be: an output that is an input, streams that are closed,
//! what a run that was killed has left.

use std::fs;
use std::process::{Command, Stdio};

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

/// What is appended to its own input is read again, and never ends.
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

/// Rust opens `/dev/null` where a standard stream is closed: that is not to be taken for an output, nor for an empty log.
#[test]
#[cfg(unix)]
fn closed_streams_are_told() {
    let place = Place::with("log", LOG);
    place.put("empty", "");
    let run = |arguments: &str| {
        let program = env!("CARGO_BIN_EXE_rpcgraph");
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{program} {arguments}")).current_dir(place.path("")).stdin(Stdio::null());
        let output = shell.output().expect("a run");
        (output.status.code(), String::from_utf8(output.stderr).expect("text"))
    };
    let output = "error: standard output is closed: nothing can be written there\n";
    for arguments in ["convert log", "convert log -o -", "query log -q 'ASK {}'", "ask", "formats", "man"] {
        assert_eq!(run(&format!("{arguments} >&-")), (Some(2), output.to_owned()), "{arguments}");
    }
    let input = "error: standard input is closed: name a file to read\n";
    assert_eq!(run("convert <&-"), (Some(2), format!("{input}error: 1 of 1 inputs failed\n")));
    for arguments in ["query -q 'ASK {}'", "query log --query-file -", "capture - -o block"] {
        assert_eq!(run(&format!("{arguments} <&-")), (Some(2), input.to_owned()), "{arguments}");
    }
    // Neither matters where it is not used, and /dev/null is what the user says it is.
    assert_eq!(run("convert log -o out.nt <&- >&-"), (Some(0), LOG_SUMMARY.to_owned()));
    assert_eq!(run("convert log >/dev/null"), (Some(0), LOG_SUMMARY.to_owned()));
    assert_eq!(run("convert --quiet </dev/null >/dev/null"), (Some(0), String::new()));
    assert_eq!(run("convert log 1<>/dev/null"), (Some(0), LOG_SUMMARY.to_owned()));
}

/// What a run that was killed has left beside its target goes with the next run there; what another is writing stays.
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
