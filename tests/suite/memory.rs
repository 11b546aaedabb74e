//! Memory: a small multiple of the largest record, whatever is in it. Long batches are worked on in pieces, and large
//! messages are not held as values; both give what short ones give.

use std::collections::HashSet;

use oxrdf::Quad;
use rpcgraph::context::Context;
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::mapping::{Loss, Mapper, Mapping};
use rpcgraph::sink::{Sink, Syntax};
use rpcgraph::summary::Summary;

use crate::support::{BASE, canonical};

/// Returns the output for a log in a mapping, and its findings; `whole` takes the reference path, which does not split
/// documents.
fn converted(
    log: &str,
    (mapping, contexts): (Mapping, &[Context]),
    whole: bool,
    strict: bool,
) -> (Vec<Quad>, Result<Summary, String>, Vec<String>) {
    let (mut quads, mut findings) = (Vec::new(), Vec::new());
    let mapper = Mapper::new(mapping, contexts).unwrap().with_reference_only(whole);
    let mut sink = Sink::quads(&mut quads);
    let input =
        Input { name: "log".into(), source: "log".into(), iri: BASE.into(), iri_stated: true, read: log.as_bytes() };
    let options = Options { strict, log_lines: true, jobs: 2, ..Options::default() };
    let mut report = |finding: rpcgraph::diagnostic::Finding| findings.push(finding.to_string());
    let summary = Converter::new(mapper, options).convert(input, &mut sink, &mut report);
    drop(sink);
    let summary = summary.map_err(|error| error.to_string()).map(|mut summary| {
        summary.by_reference.clear();
        summary
    });
    (quads, summary, findings)
}

/// Asserts that the paths for small and for very large records give the same output.
fn assert_same(log: &str, mapping: Mapping, contexts: &[Context]) {
    for strict in [false, true] {
        let (pieces, summary, findings) = converted(log, (mapping, contexts), false, strict);
        let (whole, expected, found) = converted(log, (mapping, contexts), true, strict);
        assert_eq!(findings, found);
        // A statement that is made twice is counted twice, or not.
        let expected = expected.map(|mut expected| {
            expected.triples = summary.as_ref().map_or(0, |summary| summary.triples);
            expected
        });
        assert_eq!(summary, expected);
        let equal = pieces.iter().collect::<HashSet<_>>() == whole.iter().collect::<HashSet<_>>();
        let same = equal || canonical(&pieces) == canonical(&whole);
        assert!(same, "{} quads instead of {}", pieces.len(), whole.len());
    }
}

/// Elements of a batch, each of some kilobytes.
fn elements(bad: bool) -> Vec<String> {
    let long = "x".repeat(3_000);
    let mut elements = Vec::new();
    for i in 0..8 {
        elements.push(format!(r#"{{"jsonrpc":"2.0","id":{i},"method":"m","params":{{"b":"{long}","a":[]}}}}"#));
        elements.push(format!(r#"{{"jsonrpc":"2.0","id":"r{i}","result":"{long}"}}"#));
        elements.push(format!(r#"{{"jsonrpc":"2.0","id":"e{i}","error":{{"code":1,"message":"{long}","data":1}}}}"#));
        elements.push(format!(r#" {{"method":"m","method":"n","x":"{long}"}} "#));
        if bad && i > 5 {
            elements.push(format!(r#"["{long}"]"#));
            elements.push(r#"{"a":1}"#.to_owned());
        }
    }
    elements
}

/// Contexts that the fast path covers, in part and not at all.
fn contexts() -> Vec<Context> {
    let context = |text| Context::from_value("terms", serde_json::from_str(text).unwrap()).unwrap();
    vec![
        context(r#"{"x":"http://e/x","params":{"@id":"http://e/p","@context":{"a":"http://e/a","b":"http://e/b"}}}"#),
        context(r#"{"x":{"@id":"http://e/x","@type":"@id"},"error":null}"#),
        context(r#"{"params":{"@id":"http://e/p","@container":"@index"},"result":{"@reverse":"http://e/of"}}"#),
    ]
}

#[test]
fn long_batches_are_read_as_short_ones() {
    for bad in [false, true] {
        let batch = format!("[{}]", elements(bad).join(" ,\n"));
        assert!(batch.len() > 64 << 10);
        let log = format!("{{\"method\":\"a\"}}\n[{{\"method\":\"b\"}}]\n{batch}\n{{\"id\":3,\"result\":1}}\n");
        assert_same(&log, Mapping::Session, &[]);
        for context in contexts() {
            assert_same(&log, Mapping::Session, std::slice::from_ref(&context));
            assert_same(&log, Mapping::Bblock, &[context]);
        }
    }
    let batch = format!("[{}]", elements(true).join(","));
    assert_same(&format!("{batch}\n{}\n", &batch[..batch.len() - 1]), Mapping::Bblock, &[]);
    assert_same(&format!("[{}]", " ".repeat(70_000)), Mapping::Session, &[]);
}

/// Two elements of a batch do not name one blank node, whatever the length of the batch.
#[test]
fn blank_nodes_are_those_of_a_message() {
    for length in [10, 10_000] {
        let node = format!(r#"{{"method":"m","x":"_:b","params":["{}"]}}"#, "x".repeat(length));
        let log = format!("[{node},{node},{node}]");
        let of_x = |(quads, ..): (Vec<Quad>, _, _)| {
            let of_x = quads.into_iter().filter(|quad| quad.predicate.as_str() == "http://e/x");
            of_x.map(|quad| quad.object).collect::<HashSet<_>>().len()
        };
        for whole in [false, true] {
            assert_eq!(of_x(converted(&log, (Mapping::Session, &contexts()[1..2]), whole, false)), 3);
        }
    }
}

/// A document too large to be expanded, or even to be inspected for that, is reported; in the mapping `session` it is data.
#[test]
fn very_large_documents_are_not_expanded() {
    not_expanded(5, 1);
    not_expanded(9, 8);
}

/// Tests a message of `size` MiB, more than the limit of `most` MiB.
fn not_expanded(size: usize, most: usize) {
    let large = format!(r#"{{"method":"large","params":{{"a":"{}"}}}}"#, "x".repeat(size << 20));
    let log = format!("{large}\n[{large},{{\"method\":\"b\",\"params\":{{\"a\":\"1\"}}}}]\n{{\"method\":\"c\"}}\n");
    let contexts = &contexts()[2..];
    let named = |quads: &[Quad], end: &str| quads.iter().filter(|quad| quad.predicate.as_str().ends_with(end)).count();
    let (quads, summary, findings) = converted(&log, (Mapping::Session, contexts), false, false);
    assert_eq!([named(&quads, "#hasMethod"), named(&quads, "#hasParameters"), named(&quads, "e/p")], [4, 2, 1]);
    assert_eq!(summary.unwrap().losses.count(Loss::NotExpanded), 2);
    let expected = |record: usize, byte: usize| {
        format!(
            "log:{record}: record {record} at byte {byte}: messages of more than {most} MiB are not expanded as JSON-LD"
        )
    };
    let told = [expected(1, 0), expected(2, large.len() + 1)];
    assert_eq!(findings, told);
    let (quads, _, findings) = converted(&log, (Mapping::Bblock, contexts), false, false);
    assert_eq!([named(&quads, "#hasMethod"), named(&quads, "e/p")], [2, 1]);
    assert_eq!(findings, told);
}

#[test]
fn large_messages_are_read_as_small_ones() {
    let messages = |long: String| {
        [
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":"{long}","\u0061":[{{"c":1,"b":2}}]}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":1.5,"message":"\ud800","data":"{long}","x":[]}}}}"#),
            format!(r#"{{"id":1,"result":"{long}","error":null}}"#),
            format!(r#"{{"method":"m","x":["{long}"],"@type":1}}"#),
            format!(r#"{{"a":"{long}"}}"#),
            format!(r#""{long}""#),
            format!(r#"[{{"method":"m","x":"{long}"}}]"#),
            format!(r#"[{{"method":"m","x":"{long}"}}"#),
        ]
    };
    for (large, less) in messages("x".repeat(1 << 20)).into_iter().zip(messages("x".repeat(1 << 19))) {
        let [large, less] = [large, less].map(|message| format!("{message}\n{{\"method\":\"a\"}}\n"));
        assert_same(&large, Mapping::Session, &[]);
        assert_same(&less, Mapping::Bblock, &[]);
        // Unless it has to be expanded there.
        let (_, _, findings) = converted(&large, (Mapping::Bblock, &[]), false, false);
        if !findings.iter().any(|finding| finding.contains("expanded")) {
            assert_same(&large, Mapping::Bblock, &[]);
        }
    }
}

#[test]
fn pieces_are_written_as_one_record() {
    let batch = format!("[{}]\n", elements(false).join(","));
    let log = format!("{batch}{{\"method\":\"a\"}}\n");
    for syntax in [Syntax::Turtle, Syntax::TriG] {
        let written = |log: &str| {
            let mut out = Vec::new();
            let mut sink = syntax.sink(&mut out, 1);
            let mapper = Mapper::new(Mapping::Session, &[]).unwrap();
            let input = Input {
                name: "log".into(),
                source: "log".into(),
                iri: BASE.into(),
                iri_stated: true,
                read: log.as_bytes(),
            };
            Converter::new(mapper, Options::default()).convert(input, &mut sink, &mut |_| {}).unwrap();
            sink.finish().unwrap();
            drop(sink);
            String::from_utf8(out).unwrap()
        };
        let blocks = |text: &str| text.split("\n\n").count();
        // The blocks: prefixes, batch, message and session.
        assert_eq!(blocks(&written(&log)), blocks(&written("[{\"method\":\"b\"}]\n{\"method\":\"a\"}\n")));
    }
}

#[cfg(target_os = "linux")]
mod peaks {
    use std::fs;
    use std::process::Stdio;
    use std::thread::sleep;
    use std::time::Duration;

    use crate::cli::Place;

    /// Megabytes that the command has in memory at most, as seen a hundred times a second; without the pages of its file, of
    /// which an unoptimized build has more.
    fn peak(place: &Place, arguments: &[&str]) -> f64 {
        let mut command = place.command(arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0;
        while child.try_wait().unwrap().is_none() {
            let status = fs::read_to_string(&status).unwrap_or_default();
            let kilobytes = |name: &str| -> Option<i32> {
                let line = status.lines().find_map(|line| line.strip_prefix(name))?;
                line.trim().trim_end_matches(" kB").parse().ok()
            };
            if let (Some(most), Some(file)) = (kilobytes("VmHWM:"), kilobytes("RssFile:")) {
                peak = peak.max(most - file);
            }
            sleep(Duration::from_millis(10));
        }
        f64::from(peak) / 1024.0
    }

    /// Returns `head`, then `part` repeated up to this number of megabytes, then `tail`.
    fn filled(head: &str, part: impl Fn(usize) -> String, tail: &str, megabytes: usize) -> String {
        let mut text = head.to_owned();
        let mut number = 0;
        while text.len() < megabytes << 20 {
            text.push_str(&part(number));
            text.push(',');
            number += 1;
        }
        text.pop();
        text + tail
    }

    #[test]
    fn tables_take_little_memory_to_write() {
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":["{}"]}}"#, "x".repeat(8_000));
        let place = Place::with("log", format!("{message}\n").repeat(24_000));
        let peak = peak(&place, &["convert", "log", "-t", "parquet", "-o", "tables", "--quiet"]);
        println!("{peak:.0} MB");
        // A row group of 32 MB, beside it what the threads have just converted: 90 to 120 MB, by their order.
        assert!(peak < 150.0, "{peak} MB of a log of 192 MB");
    }

    #[test]
    fn memory_is_a_small_multiple_of_the_largest_record() {
        let same = |text: &'static str| move |_| text.to_owned();
        let note = |rest: &str| format!(r#"{{"jsonrpc":"2.0","method":"m",{rest}"#);
        let batch = filled("[", same("1"), "]\n", 1);
        for (name, log, options) in [
            ("a batch", batch.clone(), &["-t", "nquads"][..]),
            ("a batch", batch.clone(), &["-t", "jsonld"]),
            ("a batch", batch, &["-m", "bblock", "-t", "ntriples"]),
            ("notifications", filled("[", same(r#"{"method":"a"}"#), "]\n", 4), &["-t", "trig"]),
            ("cut off", filled("[", same("1"), "\n", 4), &["-t", "nquads"]),
            ("duplicate", filled(r#"{"method":"a","method":"m","params":["#, same("1"), "]}", 4), &["-t", "nquads"]),
            (
                "duplicate",
                filled(r#"{"method":"a","method":"m","params":["#, same("1"), "]}", 4),
                &["-t", "jsonld-lines"],
            ),
            (
                "members",
                filled(&note(r#""params":{"#), |n| format!("\"{}\":1", 9_999_999 - n), "}}", 4),
                &["-t", "rdfxml"],
            ),
            ("others", filled(&note(""), |n| format!("\"{n}\":1"), "}", 4), &["-t", "turtle"]),
            ("contexts", filled("[", same(r#"{"method":"a","x":1}"#), "]\n", 2), &["-t", "nquads", "-c", "terms"]),
            (
                "contexts",
                filled(&note(r#""params":["#), same(r#"{"a":1}"#), "]}", 10),
                &["-t", "nquads", "-c", "terms", "-c", "map"],
            ),
            (
                "contexts",
                filled(r#"{"method":"m","params":["#, same(r#"{"a":1}"#), "]}", 10),
                &["-m", "bblock", "-t", "ntriples", "-c", "map"],
            ),
            ("comments", format!("data: {}\n{}", note(r#""id":1}"#), ": x\n".repeat(1 << 20)), &["-t", "ntriples"]),
            ("not a message", filled(r#"{"a":["#, same("[]"), "]}", 4), &["-t", "nquads"]),
        ] {
            let bytes = log.len() as f64 / f64::from(1 << 20);
            let place = Place::with("log", log);
            place.put("terms", r#"{"@context":{"x":"http://e/x"}}"#);
            place.put("map", r#"{"@context":{"params":{"@id":"http://e/p","@container":"@index"}}}"#);
            let peak = peak(&place, &[&["convert", "--quiet", "log"], options].concat());
            assert!(peak > 1.0, "{name}: nothing was measured");
            let most = 23.0 + 7.0 * bytes;
            assert!(peak < most, "{name}: {peak:.0} MiB for {bytes:.0} MiB with {options:?}, more than {most:.0}");
        }
    }
}
