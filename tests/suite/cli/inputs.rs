//! Inputs: standard input, one file, several; the IRIs of their sessions; --strict and what stops it.

use oxrdfio::RdfFormat;

use super::{BASE, LOG, LOG_SUMMARY, Place, REQUEST, RESPONSE, Ran, gzip, rpcg, zstd};
use crate::support::assert_isomorphic;

/// Sessions, in the order in which they end.
fn sessions(ran: &Ran, syntax: RdfFormat) -> Vec<String> {
    let quads = ran.quads(syntax);
    let sessions = quads.iter().filter(|quad| quad.object.to_string() == format!("<{}>", rpcg("Session")));
    sessions.map(|quad| quad.subject.to_string().trim_matches(['<', '>']).to_owned()).collect()
}

/// What was made to be large is told, and read all the same.
#[test]
fn much_from_little() {
    let log = format!("{}{LOG}", " \n".repeat(1 << 20));
    let packed = zstd(log.as_bytes());
    let place = Place::with("log.zst", &packed);
    let told = format!("compressed: {} bytes stand for {}, more than logs mostly do\n", packed.len(), log.len());
    assert!(packed.len() * 1000 < log.len(), "{}", packed.len());
    place.convert(&["log.zst"]).said(0, &LOG_SUMMARY.replace('\n', &format!("\n{told}")));
    place.put("other.gz", gzip(LOG.as_bytes()));
    place.convert(&["other.gz"]).said(0, LOG_SUMMARY);
}

#[test]
fn standard_input() {
    let place = Place::new();
    let expected = place.run_with(&["convert"], LOG);
    expected.said(0, LOG_SUMMARY);
    assert_eq!(sessions(&expected, RdfFormat::Turtle), ["urn:rpcgraph:stdin"]);
    assert!(expected.text().contains("rpcg:source \"stdin\""));
    assert_eq!(place.run_with(&["convert", "-"], LOG).stdout, expected.stdout);
    assert_eq!(place.run_with(&["convert", "-"], gzip(LOG.as_bytes())).stdout, expected.stdout);
    assert_eq!(place.run_with(&["convert"], zstd(LOG.as_bytes())).stdout, expected.stdout);

    let based = place.run_with(&["convert", "--base", BASE], LOG);
    assert_eq!(sessions(&based, RdfFormat::Turtle), [BASE]);
    let bad = place.run_with(&["convert", "--strict"], "oops");
    bad.said(1, "standard input:1: record 1 at byte 0: not JSON: expected value at byte 0\n");
}

#[test]
fn empty_inputs_are_noted() {
    let place = Place::with("log", "");
    for bytes in ["", "\n", "\u{feff}", " \r\n\t\n"] {
        place.put("log", bytes);
        let ran = place.convert(&["log", "--base", BASE, "--strict"]);
        let note = "note: log is empty: found no records\n";
        ran.said(0, &format!("{note}0 records (json-lines); 4 triples\n"));
        assert_eq!(sessions(&ran, RdfFormat::Turtle), [BASE]);
        place.convert(&["log", "-m", "bblock"]).said(0, &format!("{note}0 records (json-lines)\n"));
        place.run(&["query", "log", "-q", "ASK { ?e a jrpc:ErrorResponse }"]).said(0, note);
    }
}

#[test]
fn a_file_has_an_iri() {
    let place = Place::new();
    let names = ["log.ndjson", "folder/log", "a b#c?d%20é.log", "semi;colon:log", "-log", "\"<{`$&'*+,=@!~}>"];
    for name in names {
        place.put(name, REQUEST);
        let ran = place.convert(&["-t", "nquads", "--quiet", "--", name]);
        ran.quietly();
        assert_eq!(sessions(&ran, RdfFormat::NQuads), [place.iri(name)]);
        assert_isomorphic(
            &ran.quads(RdfFormat::NQuads),
            &place.convert(&["-t", "trig", "--quiet", "--", name]).quads(RdfFormat::TriG),
            name,
        );
        assert_isomorphic(
            &ran.quads(RdfFormat::NQuads),
            &place.convert(&["-t", "jsonld", "--quiet", "--", name]).quads(super::syntaxes::json_ld()),
            name,
        );
    }
    assert_eq!(sessions(&place.convert(&["./log.ndjson"]), RdfFormat::Turtle), [place.iri("log.ndjson")]);
}

/// Characters that URLs may have and IRIs may not; browsers name second copies so.
#[test]
#[cfg(unix)]
fn any_file_name_makes_an_iri() {
    let place = Place::new();
    for (name, encoded) in [("log[1].json", "log%5B1%5D.json"), ("a|b^c", "a%7Cb%5Ec"), ("a\\b\x1b", "a%5Cb%1B")] {
        place.put(name, REQUEST);
        let ran = place.convert(&["--quiet", name]);
        ran.quietly();
        let folder = place.iri("x");
        let folder = folder.strip_suffix('x').expect("a name");
        assert_eq!(sessions(&ran, RdfFormat::Turtle), [format!("{folder}{encoded}")]);
    }
}

/// Every processor resolves references against the base, and most take `..` out of it when they do.
#[test]
fn an_iri_has_no_dot_segments() {
    let place = Place::with("log", LOG);
    place.put("folder/log", LOG);
    let name = "folder/../log";
    assert_eq!(sessions(&place.convert(&[name]), RdfFormat::Turtle), [place.iri("log")]);
    place.convert(&["log", name]).said(2, &format!("error: log and {name} are the same log: name it once\n"));
}

/// A message is a fragment of its session, whatever that IRI looks like.
#[test]
fn bases_of_every_shape() {
    let place = Place::with("log", LOG);
    place.put("unused.jsonld", r#"{"@context":{"unused":"https://example.org/unused"}}"#);
    for base in [
        "https://example.org",
        "https://example.org/",
        "https://example.org/s?from=1",
        "HTTPS://Example.org/%7es",
        "http://example.org/é",
        "urn:example:s",
        "tag:example.org,2026:s",
        "file:///s",
    ] {
        let ran = place.convert(&["log", "--quiet", "-t", "nquads", "--base", base]);
        ran.quietly();
        let quads = ran.quads(RdfFormat::NQuads);
        // An empty path is the same as `/`, and JSON-LD processors write it so.
        let base = if base == "https://example.org" { "https://example.org/" } else { base };
        for quad in &quads {
            let subject = quad.subject.to_string();
            let subject = subject.trim_matches(['<', '>']);
            let fragment = subject.strip_prefix(base);
            assert!(fragment.is_some_and(|rest| rest.is_empty() || rest.starts_with('#')), "{subject} under {base}");
            assert_eq!(quad.graph_name.to_string(), format!("<{base}>"));
        }
        for (name, syntax) in [("trig", RdfFormat::TriG), ("jsonld", super::syntaxes::json_ld())] {
            let ran = place.convert(&["log", "--quiet", "-t", name, "--base", base]);
            assert_isomorphic(&quads, &ran.quads(syntax), &format!("{base} in {name}"));
            let ran = place.convert(&["log", "--quiet", "-t", name, "--base", base, "-c", "unused.jsonld"]);
            assert_isomorphic(&quads, &ran.quads(syntax), &format!("{base} in {name} with a further context"));
        }
    }
}

#[test]
fn several_inputs() {
    let place = Place::with("a.ndjson", LOG);
    place.put("b c.ndjson", REQUEST);
    let inputs = ["a.ndjson", "b c.ndjson"];
    let summary = "6 records (json-lines): 3 requests, 1 notification, 1 response, 1 error response; 58 triples\n";
    for (name, syntax) in [("nquads", RdfFormat::NQuads), ("trig", RdfFormat::TriG)] {
        let ran = place.convert(&[&inputs[..], &["-t", name]].concat());
        ran.said(0, summary);
        assert_eq!(sessions(&ran, syntax), [place.iri("a.ndjson"), place.iri("b c.ndjson")]);

        let ran = place.convert(&[&inputs[..], &["-t", name, "--base", "https://example.org/logs/today"]].concat());
        ran.said(0, summary);
        let expected = ["https://example.org/logs/a.ndjson", "https://example.org/logs/b%20c.ndjson"];
        assert_eq!(sessions(&ran, syntax), expected);
        // Together they are what each would be alone.
        let alone = inputs
            .iter()
            .zip(expected)
            .flat_map(|(input, base)| place.convert(&[input, "--base", base, "-t", name]).quads(syntax));
        assert_isomorphic(&ran.quads(syntax), &alone.collect::<Vec<_>>(), name);
    }
    let ran = place.run_with(&["convert", "a.ndjson", "-", "--quiet"], REQUEST);
    assert_eq!(sessions(ran.said(0, ""), RdfFormat::Turtle), [place.iri("a.ndjson"), "urn:rpcgraph:stdin".to_owned()]);
}

#[test]
fn several_inputs_are_one_json_ld_document() {
    let place = Place::with("a", LOG);
    place.put("b", REQUEST);
    place.put("c", "");
    for mapping in ["session", "bblock"] {
        let common = ["a", "b", "c", "--quiet", "--base", "https://example.org/", "-m", mapping];
        let ran = place.convert(&[&common[..], &["-t", "jsonld"]].concat());
        ran.quietly();
        serde_json::from_slice::<serde_json::Value>(&ran.stdout).expect("one document");
        let quads = place.convert(&[&common[..], &["-t", "nquads"]].concat()).quads(RdfFormat::NQuads);
        assert_isomorphic(&quads, &ran.quads(super::syntaxes::json_ld()), mapping);
    }
}

#[test]
fn two_inputs_with_one_iri() {
    let place = Place::with("log", LOG);
    place.put("more/log", LOG);
    let advice = "convert them one by one, with a --base each";
    for (arguments, stderr) in [
        (&["log", "./log"][..], "log and ./log are the same log: name it once".to_owned()),
        (
            &["log", "more/log", "--base", "https://example.org/"],
            format!("log and more/log would both be the session <https://example.org/log>; {advice}"),
        ),
        (&["-", "-"], "standard input and standard input are the same log: name it once".to_owned()),
    ] {
        place.convert(arguments).said(2, &format!("error: {stderr}\n")).printed_nothing();
    }
    place.convert(&["log", "more/log", "--quiet"]).quietly();
}

#[test]
fn a_bad_input_among_good_ones() {
    let place = Place::with("a", LOG);
    let cut = gzip(LOG.as_bytes());
    place.put("cut", &cut[..cut.len() - 4]);
    place.put("z", REQUEST);
    let stderr = "error: cannot read gone: No such file or directory (os error 2)
error: cut: gzip data ends early after 274 bytes of text
";
    let summary = "6 records (json-lines): 3 requests, 1 notification, 1 response, 1 error response; 58 triples\n";
    let inputs = ["a", "gone", "cut", "z"];
    let ran = place.convert(&inputs);
    ran.said(2, &format!("{stderr}{summary}error: 2 of 4 inputs failed\n"));
    assert_eq!(sessions(&ran, RdfFormat::Turtle), [place.iri("a"), place.iri("z")]);

    place.put("out.nq", "old");
    let ran = place.convert(&[&inputs[..], &["-o", "out.nq"]].concat());
    ran.said(2, &format!("{stderr}error: 2 of 4 inputs failed, so the output file was not written\n"))
        .printed_nothing();
    assert_eq!(place.read("out.nq"), b"old");
    assert_eq!(place.names(), ["a", "cut", "out.nq", "z"]);
}

#[test]
fn strict_stops_at_what_is_no_message() {
    let place = Place::new();
    for (record, problem) in [
        ("oops", "not JSON: expected value at byte 38"),
        ("{\"a\":", "not JSON: the text ends inside a value at byte 43"),
        ("{}", "JSON, but no JSON-RPC message"),
        ("null", "JSON, but no JSON-RPC message"),
        ("\"text\"", "JSON, but no JSON-RPC message"),
        (r#"{"id":[1],"method":"m"}"#, "JSON, but no JSON-RPC message"),
        (r#"{"id":1,"result":1,"error":{"code":1,"message":""}}"#, "JSON, but no JSON-RPC message"),
        (r#"{"method":"\ud800"}"#, "JSON, but no JSON-RPC message"),
        ("[]", "a batch without elements"),
        (r#"[{"method":"m"},7,{}]"#, "element 2 of the batch is no JSON-RPC message"),
    ] {
        place.put("log", format!("{REQUEST}\n{record}\n{RESPONSE}\nmore\n"));
        let stderr = format!("log:2: record 2 at byte 38: {problem}\n");
        for mapping in ["session", "bblock"] {
            let ran = place.convert(&["log", "--strict", "-m", mapping]);
            ran.said(1, &stderr);
            let quads = ran.quads(RdfFormat::Turtle);
            let first = place.run_with(&["convert", "--base", &place.iri("log"), "-m", mapping], REQUEST);
            let first: Vec<_> =
                first.quads(RdfFormat::Turtle).into_iter().filter(|quad| !of_session(&quad.predicate)).collect();
            let without_session: Vec<_> =
                first.iter().filter(|quad| quad.object.to_string() != format!("<{}>", rpcg("Session"))).collect();
            assert_isomorphic(&quads, without_session, &format!("what came before {record}"));

            place.put("out.nq", "old");
            place.convert(&["log", "--strict", "-m", mapping, "-o", "out.nq"]).said(1, &stderr).printed_nothing();
            assert_eq!(place.read("out.nq"), b"old");
            place.convert(&["log", "--strict", "-m", mapping, "-o", "new.nq"]).said(1, &stderr).printed_nothing();
            assert_eq!(place.names(), ["log", "out.nq"]);
        }
    }
}

/// Whether only the node of a session has the property.
fn of_session(property: &oxrdf::NamedNode) -> bool {
    ["source", "format", "recordCount"].iter().any(|name| property.as_str() == rpcg(name))
}

#[test]
fn strict_leaves_whole_documents() {
    let place = Place::with("log", format!("{LOG}oops\n"));
    place.put("before", REQUEST);
    for syntax in ["turtle", "trig", "ntriples", "nquads", "jsonld", "rdfxml"] {
        let ran = place.convert(&["before", "log", "--strict", "-t", syntax]);
        ran.said(1, "log:6: record 6 at byte 274: not JSON: expected value at byte 274\n");
        let quads = ran.quads(super::syntaxes::format(syntax));
        assert_eq!(quads.len(), 12 + 46 - 4, "{syntax}: a session, and another without its end");
    }
}

/// What is odd, but a message, is for rules to judge.
#[test]
fn strict_lets_messages_with_problems_pass() {
    let log = r#"{"id":1,"method":"m","params":3}
{"jsonrpc":"1.0","id":1,"result":1,"error":null}
{"jsonrpc":"2.0","id":null,"error":"text"}
{"jsonrpc":"2.0","id":null,"method":"m"}
[{"jsonrpc":"2.0","method":"m","@id":"x"}]
"#;
    let stderr = "5 records (json-lines): 2 requests, 1 notification, 1 response, 1 error response, 1 batch; 55 triples
problems: 1 MissingVersion, 1 WrongVersion, 1 NullRequestId, 1 ScalarParams, 1 ErrorNotObject, \
                  1 BothResultAndError, 1 KeywordMember
";
    Place::with("log", log).convert(&["log", "--strict"]).said(0, stderr);
}

#[test]
fn a_format_can_be_forced() {
    let place = Place::with("log", ">> {\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n");
    place.convert(&["log"]).said(0, "1 record (arrows): 1 notification; 10 triples\n");
    let stderr = "log:1: record 1 at byte 0: not JSON: expected value at byte 0
error: log: found no JSON-RPC (json-lines: 1 malformed record); it begins with `>> \
                  {\"jsonrpc\":\"2.0\",\"method\":\"m\"}`: try without --from, or with another format (`rpcgraph formats` \
                  lists them)
1 record (json-lines): 1 malformed record; 8 triples
";
    place.convert(&["log", "--from", "json-lines"]).said(1, stderr);
}

#[test]
fn the_output_depends_on_nothing_but_the_input() {
    let place = Place::with("a", LOG.repeat(20));
    place.put("b", format!("{LOG}oops\n[{REQUEST},{RESPONSE}]"));
    for syntax in ["turtle", "nquads", "trig", "jsonld", "jsonld-lines", "rdfxml"] {
        let common = ["a", "b", "--provenance", "-t", syntax];
        let first = place.convert(&common);
        assert_eq!(first.status, Some(0));
        for more in [&[][..], &["--jobs", "1"], &["--jobs", "7"], &["--offline"], &["--progress", "never"]] {
            let again = place.convert(&[&common[..], more].concat());
            assert!(again.stdout == first.stdout, "{syntax}: with {more:?}, the output differs");
            assert_eq!(again.stderr, first.stderr);
        }
    }
}
