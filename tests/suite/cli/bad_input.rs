//! Bad input of every kind: what is said, the exit status, and that the rest is converted all the same.

use oxrdfio::RdfFormat;
use rpcgraph::record::Format;
use rpcgraph::sink::Syntax;

use super::{BASE, LOG, Place, REQUEST, gzip, parse, rpcg, values, zstd};

/// Levels of arrays and objects: the message, then `params` as deep as is left.
fn nested(levels: usize, open: &str, inside: &str, close: &str) -> String {
    let params = [&open.repeat(levels - 1), inside, &close.repeat(levels - 1)].concat();
    format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params}}}"#)
}

#[test]
fn lines_that_are_no_json() {
    let log = [REQUEST.as_bytes(), b"\nServer started\n\n  {\"a\": 1 \"b\": 2}\n\xff\n{\"jsonrpc\":"].concat();
    let ran = Place::with("log", log).convert(&["log", "--base", BASE, "-t", "nquads"]);
    let stderr = "log:2: record 2 at byte 38: not JSON: expected value at byte 38
log:4: record 3 at byte 56: not JSON: expected `,` or `}` at byte 64
log:5: record 4 at byte 72: not JSON: not UTF-8 at byte 72
log:6: record 5 at byte 74: not JSON: the text ends inside a value at byte 85
note: log: 3 of 5 records were not read as JSON-RPC
5 records (json-lines): 1 request, 4 malformed records; 29 triples
problems: 1 Truncated
";
    ran.said(0, stderr);
    let quads = ran.quads(RdfFormat::NQuads);
    assert_eq!(values(&quads, "#m2", &rpcg("text")), ["Server started"]);
    assert_eq!(values(&quads, "#m3", &rpcg("text")), [r#"{"a": 1 "b": 2}"#]);
    assert_eq!(values(&quads, "#m4", &rpcg("bytes")), ["/w=="]);
    assert_eq!(values(&quads, "#m5", &rpcg("text")), [r#"{"jsonrpc":"#]);
}

#[test]
fn repeated_findings_are_one_line_with_a_count() {
    let place = Place::with("log", format!("{}{REQUEST}\n", "oops\n".repeat(23)));
    let ran = place.convert(&["log"]);
    let lines: Vec<_> = ran.stderr.lines().collect();
    let expected = [
        "log:1: record 1 at byte 0: not JSON: expected value at byte 0",
        "note: log: 23 of 24 records were not read as JSON-RPC",
        "log:23: record 23 at byte 110: not JSON: expected value at byte 110 (the last of 22 more like record 1)",
        "24 records (json-lines): 1 request, 23 malformed records; 104 triples",
    ];
    assert_eq!(lines, expected);
    // A question is about the same log.
    let asked = place.run(&["ask", "unanswered", "log"]);
    assert_eq!(asked.stderr.lines().collect::<Vec<_>>(), [&expected[..3], &["1 row"]].concat());
    place.run(&["ask", "unanswered", "log", "--quiet"]).quietly();
}

#[test]
fn findings_of_many_inputs_are_counted() {
    let place = Place::with("logs/0", format!("oops\n{REQUEST}\n"));
    (1..23).for_each(|log| place.put(&format!("logs/{log}"), format!("oops\n{REQUEST}\n")));
    let ran = place.run(&["ask", "unanswered", "logs"]);
    let lines: Vec<_> = ran.stderr.lines().collect();
    assert_eq!(lines.len(), 22, "{}", ran.stderr);
    assert_eq!(lines[20], "… and 3 findings more; the graph holds them all");
}

#[test]
fn records_over_the_size_limit() {
    let place = Place::with("log", LOG);
    let findings = "\
log:1: record 1 at byte 0: 61 bytes are more than --max-record-size allows (60); the record is skipped
log:5: record 5 at byte 194: 79 bytes are more than --max-record-size allows (60); the record is skipped
";
    let summary = "5 records (json-lines): 1 request, 1 notification, 1 response, 2 malformed records; 34 triples
problems: 2 Truncated
";
    place.convert(&["log", "--max-record-size", "60"]).said(0, &format!("{findings}{summary}"));
    // Nothing else tells of what is skipped, so --quiet does not hide it.
    place.convert(&["log", "--max-record-size", "60", "--quiet"]).said(0, findings);
    let first = findings.lines().next().expect("a line");
    place.convert(&["log", "--max-record-size", "60", "--strict"]).said(1, &format!("{first}\n"));
    for whole in ["79", "1K", "1kib", "1MB", "1g"] {
        place.convert(&["log", "--max-record-size", whole, "--quiet", "--strict"]).quietly();
    }
    for bad in ["", "0", "x", "-1", "1.5M", "1T", "99999999999999999999"] {
        let argument = format!("--max-record-size={bad}");
        place.convert(&["log", &argument]).said(
            2,
            &format!(
                "error: invalid value '{bad}' for '--max-record-size <N>': expected a number of bytes such as 65536, \
                 64K, 16M or 1G\n\nFor more information, try '--help'.\n"
            ),
        );
    }
}

#[test]
fn compressed_data_that_is_cut_off() {
    let place = Place::new();
    let whole = gzip(LOG.as_bytes());
    place.put("log.gz", &whole[..whole.len() - 4]);
    place.put("log.zst", [zstd(LOG.as_bytes()), zstd(LOG.as_bytes())[..20].to_vec()].concat());
    for (name, kind) in [("log.gz", "gzip"), ("log.zst", "zstd")] {
        let failed =
            format!("error: {name}: {kind} data ends early after 274 bytes of text\nerror: 1 of 1 inputs failed");
        let ran = place.convert(&[name, "--base", BASE]);
        ran.said(2, &format!("{failed}\n"));
        // Everything before that place is there, and whole.
        let quads = ran.quads(RdfFormat::Turtle);
        assert_eq!(values(&quads, "#m5", &rpcg("sequence")), ["5"]);
        place.convert(&[name, "-o", "out.ttl"]).said(2, &format!("{failed}, so the output file was not written\n"));
        place.convert(&[name, "--strict", "--quiet"]).said(2, &format!("{failed}\n"));
    }
    assert_eq!(place.names(), ["log.gz", "log.zst"]);
}

/// The input, the place and the cause, each of them once.
#[test]
fn inputs_that_fail_say_why() {
    let place = Place::new();
    let mut damaged = gzip(LOG.as_bytes());
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    place.put("log.gz", damaged);
    place.put("head.gz", b"\x1f\x8b\x07 is not how gzip goes on");
    let mut cases = vec![
        (
            "log.gz",
            "gzip data is damaged after 274 bytes of text: corrupt gzip stream does not have a matching checksum",
        ),
        ("head.gz", "gzip data is damaged after 0 bytes of text: invalid gzip header"),
    ];
    if cfg!(target_os = "linux") {
        // A file that can be opened, and not be read where it begins.
        cases.push(("/proc/self/mem", "reading failed after 0 bytes of text: Input/output error (os error 5)"));
    }
    for (name, failure) in cases {
        let failed = format!("error: {name}: {failure}\n");
        place.convert(&[name]).said(2, &format!("{failed}error: 1 of 1 inputs failed\n"));
        place.run(&["query", name, "-q", "ASK {}"]).said(2, &failed);
    }
}

#[test]
fn inputs_that_cannot_be_read() {
    let place = Place::new();
    place.put("folder/log", LOG);
    for (name, problem) in
        [("missing", "No such file or directory (os error 2)"), ("folder/log/more", "Not a directory (os error 20)")]
    {
        let failed = format!("error: cannot read {name}: {problem}\nerror: 1 of 1 inputs failed");
        place.convert(&[name]).said(2, &format!("{failed}\n"));
        place.convert(&[name, "-o", "out.ttl"]).said(2, &format!("{failed}, so the output file was not written\n"));
    }
    std::fs::create_dir(place.path("folder/empty")).unwrap();
    let none = "error: found no files in the folder folder/empty; -r reads those in its folders, too\n";
    place.convert(&["folder/empty"]).said(2, none);
    assert_eq!(place.names(), ["folder"]);
}

/// Whoever reads standard output as JSON must be able to, or find nothing at all.
#[test]
fn no_output_is_better_than_half_a_document() {
    let place = Place::with("log", LOG);
    for inputs in [&["missing"][..], &["missing", "gone"], &["missing", "log"], &["log", "missing"]] {
        let ran = place.convert(&[inputs, &["-t", "jsonld"]].concat());
        assert_eq!(ran.status, Some(2));
        let whole = serde_json::from_slice::<serde_json::Value>(&ran.stdout).is_ok();
        assert!(whole || ran.stdout.is_empty(), "{inputs:?}: {:?}", ran.text());
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let place = Place::with("log", LOG);
    place.put("folder.ttl/old", "");
    for (output, problem) in [
        ("nowhere/out.ttl", "cannot write nowhere/out.ttl: No such file or directory (os error 2)"),
        ("log/out.ttl", "cannot write log/out.ttl: Not a directory (os error 20)"),
        ("folder.ttl", "cannot write folder.ttl: it is a folder"),
        ("out.html", "no syntax goes by the extension \"html\" of out.html; name one with --to"),
        ("out.json.gz", "no syntax goes by the extension \"json\" of out.json.gz; name one with --to"),
    ] {
        place.convert(&["log", "-o", output]).said(2, &format!("error: {problem}\n")).printed_nothing();
    }
    assert_eq!(place.names(), ["folder.ttl", "log"]);
}

/// The system says only what went wrong; where is for the program to add.
#[test]
#[cfg(target_os = "linux")]
fn an_output_that_fills_up() {
    let place = Place::with("log", LOG);
    let full = "error: cannot write /dev/full: No space left on device (os error 28)\n";
    for syntax in Syntax::ALL {
        place.convert(&["log", "--quiet", "-t", syntax.name(), "-o", "/dev/full"]).said(2, full);
    }
}

#[test]
fn options_that_do_not_exist() {
    let place = Place::with("log", LOG);
    let formats: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
    let syntaxes = Syntax::ALL.map(Syntax::name);
    for (arguments, stderr) in [
        (["--nope", "log"], "unexpected argument '--nope' found".to_owned()),
        (
            ["--from", "nope"],
            format!("invalid value 'nope' for '--from <NAME>': unknown format; use one of {}", formats.join(", ")),
        ),
        (
            ["--to", "nope"],
            format!(
                "invalid value 'nope' for '--to <NAME>': unknown syntax; use one of {}, parquet, otlp",
                syntaxes.join(", ")
            ),
        ),
        (
            ["--mapping", "nope"],
            "invalid value 'nope' for '--mapping <NAME>'\n  [possible values: session, bblock]".to_owned(),
        ),
        (["--jobs", "0"], "invalid value '0' for '--jobs <N>': 0 is not in 1..=65535".to_owned()),
        (
            ["--progress", "nope"],
            "invalid value 'nope' for '--progress <WHEN>'\n  [possible values: auto, never, always]".to_owned(),
        ),
    ] {
        place.convert(&arguments).began(2, &format!("error: {stderr}\n"));
    }
    place.run(&["nope"]).began(2, "error: unknown command or file \"nope\": rpcgraph --help lists the commands\n");
    place.run::<&str>(&[]).began(0, "note: standard input is empty");
}

#[test]
fn contexts_that_are_none() {
    let place = Place::with("log", LOG);
    place.put("text.jsonld", "no json");
    place.put("bare.jsonld", r#"{"kind":"http://example.org/kind"}"#);
    place.put("list.jsonld", "[1]");
    place.put("alias.jsonld", r#"{"@context":{"kind":"@type"}}"#);
    place.put("alias2.jsonld", r#"{"@context":[{"kind":{"@id":"@id"}}]}"#);
    place.put("null.jsonld", r#"{"@context":null}"#);
    place.put("number.jsonld", r#"{"@context":[7]}"#);
    place.put("away.jsonld", r#"{"@context":"https://example.org/context"}"#);
    place.put("ours.jsonld", r#"{"@context":{"https://w3id.org/rpcgraph#problem":"http://example.org/p"}}"#);
    place.put("loop.jsonld", r#"{"@context":"loop.jsonld"}"#);
    for (context, stderr) in [
        (
            "bare.jsonld",
            "`bare.jsonld` is not a JSON object with an `@context` entry: put the context under `@context`",
        ),
        (
            "list.jsonld",
            "`list.jsonld` is not a JSON object with an `@context` entry: put the context under `@context`",
        ),
        (
            "alias.jsonld",
            "`alias.jsonld` makes \"kind\" an alias of \"@type\", so that logs could name nodes and types: map it to \
             an IRI, or leave it out",
        ),
        (
            "alias2.jsonld",
            "`alias2.jsonld` makes \"kind\" an alias of \"@id\", so that logs could name nodes and types: map it to \
             an IRI, or leave it out",
        ),
        ("null.jsonld", "`null.jsonld` has a null context, which would wipe out the built-in ones: remove the null"),
        (
            "number.jsonld",
            "a context in `number.jsonld` is a number: it must be an object, a reference, or an array of these",
        ),
        (
            "away.jsonld",
            "will not fetch `https://example.org/context` because the file `away.jsonld` refers to it: if you trust \
             it, name it too, with -c https://example.org/context before the file",
        ),
        (
            "ours.jsonld",
            "`ours.jsonld` defines \"https://w3id.org/rpcgraph#problem\", an IRI that rpcgraph itself writes: define \
             a short term for it",
        ),
        (
            "missing.jsonld",
            "cannot read the context `missing.jsonld`, named by the command line: No such file or directory \
             (os error 2)",
        ),
        (
            "http://example.org/context",
            "will not fetch `http://example.org/context`, named by the command line: contexts come from https URLs \
             without a password, or from http on this machine (localhost, 127.0.0.0/8, [::1]); save it to a file and \
             name the file with -c",
        ),
        (
            "https://example.org/context",
            "`https://example.org/context` is not in the cache, and --offline forbids to fetch it: run once without \
             --offline, or save it to a file and name the file with -c",
        ),
    ] {
        let ran = place.convert(&["log", "--offline", "-c", context, "-o", "out.ttl"]);
        ran.said(2, &format!("error: {stderr}\n"));
    }
    place.convert(&["log", "-c", "text.jsonld"]).began(
        2,
        "error: the context `text.jsonld` is not JSON: a context is a JSON document with an `@context` entry: ",
    );
    place
        .convert(&["log", "-c", "loop.jsonld"])
        .began(2, "error: contexts refer to each other in a circle, which cannot be inlined: loop.jsonld -> ");
    assert!(!place.names().contains(&"out.ttl".to_owned()));
}

/// Of several contexts, the message has to say which one.
#[test]
fn contexts_that_are_no_json_ld() {
    let place = Place::with("log", LOG);
    place.put("good.jsonld", r#"{"@context":{"kind":"http://example.org/kind"}}"#);
    place.put("number.jsonld", r#"{"@context":{"@vocab":5}}"#);
    place.put("container.jsonld", r#"{"@context":{"kind":{"@id":"http://example.org/k","@container":"@nope"}}}"#);
    place.put("cycle.jsonld", r#"{"@context":{"a":"b:x","b":"a:x"}}"#);
    for bad in ["number.jsonld", "container.jsonld", "cycle.jsonld"] {
        let ran = place.convert(&["log", "-c", "good.jsonld", "-c", bad, "-o", "out.ttl"]);
        assert_eq!(ran.status, Some(2), "{bad}");
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(bad), "{bad}: {}", ran.stderr);
        assert!(!place.path("out.ttl").exists());
    }
}

#[test]
fn nesting_beyond_the_limit() {
    let place = Place::with("log", nested(200_000, "[", "", "]"));
    let finding = "log:1: record 1 at byte 0: not JSON: nested deeper than 1024 levels at byte 1062\n";
    let ran = place.convert(&["log", "--base", BASE]);
    ran.said(0, &format!("{finding}1 record (json-lines): 1 malformed record; 8 triples\n"));
    let quads = ran.quads(RdfFormat::Turtle);
    assert_eq!(values(&quads, "#m1", &rpcg("text")).concat().len(), 400_038);
    place.convert(&["log", "--strict"]).said(1, finding);
    place.convert(&["log", "-m", "bblock", "--quiet"]).said(0, finding);
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        place.put("log", nested(1_025, open, "0", close));
        assert!(place.convert(&["log"]).stderr.contains("1 malformed record"));
    }
}

#[test]
fn nesting_up_to_the_limit() {
    let place = Place::new();
    let vocabulary = r#"{"@context":{"@vocab":"http://example.org/","params":"http://example.org/params"}}"#;
    place.put("vocabulary.jsonld", vocabulary);
    for (open, close, nodes) in [(r#"{"a":"#, "}", 1_023), ("[", "]", 0)] {
        place.put("log", nested(1_024, open, "0", close));
        let ran = place.convert(&["log", "--base", BASE, "--strict", "--quiet"]);
        ran.quietly();
        let params = values(&ran.quads(RdfFormat::Turtle), "#m1", &super::jrpc("hasParameters"));
        assert_eq!(params.concat(), [&open.repeat(1_023), "0", &close.repeat(1_023)].concat());
        // Under a context that makes a node of every level, and as the document that those nodes are made from.
        let mapped = ["log", "--base", BASE, "--quiet", "-c", "vocabulary.jsonld"];
        let ran = place.convert(&[&mapped[..], &["-t", "ntriples"]].concat());
        ran.quietly();
        let levels = parse(RdfFormat::NTriples, &ran.stdout);
        assert_eq!(levels.iter().filter(|quad| quad.predicate.as_str() == "http://example.org/a").count(), nodes);
        for syntax in ["jsonld", "trig", "rdfxml"] {
            place.convert(&[&mapped[..], &["-t", syntax]].concat()).quietly();
        }
        place.convert(&["log", "--quiet", "-m", "bblock", "-c", "vocabulary.jsonld"]).quietly();
    }
}

#[test]
fn bases_that_are_none() {
    let place = Place::with("log", LOG);
    for base in ["relative", "", "//example.org/s", "http://example.org/a b", "http://example.org/%zz"] {
        let ran = place.convert(&["log", "--base", base, "-o", "out.ttl"]);
        ran.began(2, &format!("error: --base {base:?} is not an absolute IRI: "));
    }
    for base in ["http://example.org/s#", "http://example.org/s#m"] {
        let ran = place.convert(&["log", "--base", base, "-o", "out.ttl"]);
        let stderr = format!("error: --base {base:?} has a fragment; fragments are for the messages of the session\n");
        ran.said(2, &stderr);
    }
    assert_eq!(place.names(), ["log"]);
}
