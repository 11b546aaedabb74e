//! --context: what a further context may change, and what it must not; --mapping bblock.

use oxrdf::Quad;
use oxrdfio::RdfFormat;
use rpcgraph::context::JSON_RPC_URL;

use super::{BASE, LOG, LOG_SUMMARY, Place, Ran, jrpc, objects, parse, rpcg, values};
use crate::support::assert_isomorphic;

const KIND: &str = "http://example.org/kind";

/// Converts a log under a context, which is given without its `@context`.
fn run(log: &str, context: &str) -> Ran {
    let place = Place::with("log", log);
    place.put("context.jsonld", format!(r#"{{"@context":{context}}}"#));
    place.convert(&["log", "--base", BASE, "-c", "context.jsonld", "-t", "nquads"])
}

fn convert(log: &str, context: &str) -> Vec<Quad> {
    let ran = run(log, context);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    ran.quads(RdfFormat::NQuads)
}

/// What is said of the only object of a property of `#m1`, a node without a name: the properties and their values.
fn below(quads: &[Quad], property: &str) -> Vec<(String, String)> {
    let [node] = &objects(quads, "#m1", property)[..] else { panic!("one {property} in {quads:?}") };
    let about = quads.iter().filter(|quad| quad.subject.to_string() == *node);
    let mut said: Vec<_> = about.map(|quad| (quad.predicate.as_str().to_owned(), quad.object.to_string())).collect();
    said.sort();
    said
}

fn said(property: &str, object: &str) -> (String, String) {
    (format!("http://example.org/{property}"), object.to_owned())
}

/// What `-c` must leave alone: kind of message, id, pairing, place in the session.
fn assert_annotated(quads: &[Quad]) {
    let expected = parse(
        RdfFormat::Turtle,
        format!(
            "@base <{BASE}> . @prefix jrpc: <{}> . @prefix rpcg: <{}> .
            <#m1> a jrpc:Request ; jrpc:hasId <#m1-id> ; rpcg:inSession <> ; rpcg:sequence 1 .
            <#m1-id> a jrpc:StringId ; jrpc:hasStringValue 'a' .
            <#m2> a jrpc:ErrorResponse ; jrpc:hasId <#m1-id> ; rpcg:inSession <> ; rpcg:sequence 2 ; rpcg:respondsTo <#m1> .
            <> a rpcg:Session ; rpcg:source 'log' ; rpcg:format 'json-lines' ; rpcg:recordCount 2 .",
            jrpc(""),
            rpcg("")
        )
        .as_bytes(),
    );
    for quad in expected {
        let found = quads.iter().any(|other| {
            (&other.subject, &other.predicate, &other.object) == (&quad.subject, &quad.predicate, &quad.object)
                && other.graph_name.to_string() == format!("<{BASE}>")
        });
        assert!(found, "{quad} is missing");
    }
}

const EXCHANGE: &str = r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":"text"},"kind":"fast"}
{"jsonrpc":"2.0","id":"a","error":{"code":-32000,"message":"text","data":["text"],"hint":"text"},"kind":"slow"}
"#;

#[test]
fn a_term_makes_a_property_of_a_member() {
    let log = r#"{"jsonrpc":"2.0","method":"m","kind":"fast","size":2,"left":[1]}"#;
    let quads = convert(log, &format!(r#"{{"kind":"{KIND}","size":"http://example.org/size"}}"#));
    assert_eq!(objects(&quads, "#m1", KIND), ["\"fast\""]);
    assert_eq!(values(&quads, "#m1", "http://example.org/size"), ["2"]);
    assert_eq!(values(&quads, "#m1", &rpcg("extraMembers")), [r#"{"left":[1]}"#]);
    let quads = convert(log, &format!(r#"{{"kind":"{KIND}","size":null,"left":{{"@id":"{KIND}s","@type":"@json"}}}}"#));
    assert_eq!(values(&quads, "#m1", &format!("{KIND}s")), ["[1]"]);
    assert_eq!(values(&quads, "#m1", &rpcg("extraMembers")), [r#"{"size":2}"#]);
}

/// The context stands in front of the whole message, so its terms hold in the error too.
#[test]
fn a_term_makes_a_property_of_an_error_s_member() {
    for context in [r#"{"hint":"http://example.org/hint"}"#, r#"{"@vocab":"http://example.org/"}"#] {
        let quads = convert(EXCHANGE, context);
        assert_annotated(&quads);
        assert_eq!(objects(&quads, "#m2-error", "http://example.org/hint"), ["\"text\""], "{context}");
        assert_eq!(values(&quads, "#m2-error", &rpcg("extraMembers")), [""; 0], "{context}");
        assert_eq!(values(&quads, "#m2-error", &jrpc("hasErrorCode")), ["-32000"], "{context}");
    }
}

#[test]
fn a_vocabulary_makes_properties_of_all_members() {
    let log = r#"{"jsonrpc":"2.0","method":"m","a":1,"d":{"e":[3,{"f":4}]},"urn:g":5,"@h":6,"@i-j":7,"":8}"#;
    let quads = convert(log, r#"{"@vocab":"http://example.org/"}"#);
    assert_eq!(values(&quads, "#m1", "http://example.org/a"), ["1"]);
    assert_eq!(below(&quads, "http://example.org/d").len(), 2);
    // What looks like an IRI or a keyword is data.
    assert_eq!(values(&quads, "#m1", &rpcg("extraMembers")), [r#"{"@h":6,"urn:g":5}"#]);
    assert_eq!(values(&quads, "#m1", &rpcg("problem")), [format!("<{}>", rpcg("KeywordMember"))]);
    assert_eq!(values(&quads, "#m1", &jrpc("hasMethod")), ["m"]);
    assert_annotated(&convert(EXCHANGE, r#"{"@vocab":"http://example.org/"}"#));
}

/// What cannot be written as the context wants it is kept as it was: nothing is lost.
#[test]
fn a_member_that_leaves_no_triple_is_kept() {
    for (value, definition) in [
        (r#""a b""#, format!(r#"{{"@id":"{KIND}","@type":"@id"}}"#)),
        (r#"["a b","http://example.org/ok"]"#, format!(r#"{{"@id":"{KIND}","@type":"@id"}}"#)),
        ("null", format!("\"{KIND}\"")),
        ("[]", format!("\"{KIND}\"")),
        (r#"{"x":null}"#, format!(r#"{{"@id":"{KIND}","@context":{{"x":"http://example.org/x"}}}}"#)),
    ] {
        let log = format!(r#"{{"jsonrpc":"2.0","method":"m","kind":{value}}}"#);
        let quads = convert(&log, &format!(r#"{{"kind":{definition}}}"#));
        let kept = values(&quads, "#m1", &rpcg("extraMembers"));
        assert_eq!(kept, [format!(r#"{{"kind":{value}}}"#)], "under {definition}");
    }
    let log = r#"{"jsonrpc":"2.0","method":"m","no iri":1}"#;
    let quads = convert(log, r#"{"@vocab":"http://example.org/"}"#);
    assert_eq!(values(&quads, "#m1", &rpcg("extraMembers")), [r#"{"no iri":1}"#]);
}

#[test]
fn the_context_of_a_term_holds_below_it() {
    let log = r#"{"jsonrpc":"2.0","method":"m","name":"outside","meta":{"name":"inside","more":{"name":"deeper"}}}"#;
    let context = r#"{"meta":{"@id":"http://example.org/meta","@context":{
        "name":"http://example.org/name","more":"http://example.org/more"}}}"#;
    let quads = convert(log, context);
    let meta = below(&quads, "http://example.org/meta");
    assert_eq!(meta.len(), 2);
    assert_eq!(meta[1], said("name", "\"inside\""));
    let deeper = quads.iter().find(|quad| quad.object.to_string() == "\"deeper\"").expect("a deeper name");
    assert_eq!(deeper.subject.to_string(), meta[0].1);
    assert_eq!(values(&quads, "#m1", &rpcg("extraMembers")), [r#"{"name":"outside"}"#]);
}

#[test]
fn keywords_inside_are_taken_out_and_the_member_is_kept() {
    let context = format!(r#"{{"kind":{{"@id":"{KIND}","@type":"@id"}},"x":"http://example.org/x"}}"#);
    for (value, kept) in [
        (r#"{"@id":"http://evil.example/","x":1}"#, true),
        (r#"{"@type":"http://evil.example/T","x":1}"#, true),
        (r#"{"@context":{"x":"http://evil.example/x"},"x":1}"#, true),
        (r#"{"@graph":[{"x":2}],"x":1}"#, true),
        (r#"{"@reverse":{"x":{"@id":"http://evil.example/"}},"x":1}"#, true),
        (r#"{"@included":[{"x":2}],"@nest":{"x":3},"@future":4,"x":1}"#, true),
        (r#"{"x":[1,{"@id":"http://evil.example/"}]}"#, true),
        (r#"{"@":2,"x":1}"#, false),
    ] {
        let log = format!(r#"{{"jsonrpc":"2.0","method":"m","kind":{value}}}"#);
        let ran = run(&log, &context);
        let quads = ran.quads(RdfFormat::NQuads);
        assert!(
            !ran.text()
                .replace('\\', "")
                .lines()
                .any(|line| { line.contains("evil") && !line.contains("extraMembers") }),
            "{}",
            ran.text()
        );
        let one = ("http://example.org/x".to_owned(), "\"1\"^^<http://www.w3.org/2001/XMLSchema#integer>".to_owned());
        assert!(below(&quads, KIND).contains(&one), "{value}: {quads:?}");
        let [extra] = &values(&quads, "#m1", &rpcg("extraMembers"))[..] else { panic!("{value} is kept") };
        let original: serde_json::Value = serde_json::from_str(value).expect("JSON");
        assert_eq!(serde_json::from_str::<serde_json::Value>(extra).expect("JSON")["kind"], original);
        let problems = values(&quads, "#m1", &rpcg("problem"));
        assert_eq!(problems == [format!("<{}>", rpcg("KeywordMember"))], kept, "{value}: {problems:?}");
    }
}

/// A string that would be a keyword is no IRI.
#[test]
fn keywords_as_values_are_no_iris() {
    for kind in ["@id", "@vocab"] {
        let log = r#"{"jsonrpc":"2.0","method":"m","kind":["@type","@json","@x"]}"#;
        let quads = convert(log, &format!(r#"{{"kind":{{"@id":"{KIND}","@type":"{kind}"}}}}"#));
        assert_eq!(objects(&quads, "#m1", KIND), [""; 0]);
        assert_eq!(values(&quads, "#m1", &rpcg("extraMembers")), [r#"{"kind":["@type","@json","@x"]}"#]);
    }
}

/// A count in the summary is the count in the graph.
#[test]
fn the_summary_counts_the_problems_of_the_graph() {
    let log = r#"{"jsonrpc":"2.0","method":"m","kind":{"@id":"x"}}
{"jsonrpc":"2.0","method":"m","@id":"x"}
"#;
    let ran = run(log, &format!(r#"{{"kind":"{KIND}"}}"#));
    let problem = format!("<{}>", rpcg("KeywordMember"));
    let count = ran.quads(RdfFormat::NQuads).iter().filter(|quad| quad.object.to_string() == problem).count();
    assert_eq!(count, 2);
    assert!(ran.stderr.contains("problems: 2 KeywordMember\n"), "the graph has two: {}", ran.stderr);
}

#[test]
fn params_and_results_can_be_nodes() {
    let log = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"n","size":2,"more":true}}
{"jsonrpc":"2.0","id":1,"result":{"name":["a","b"]}}
"#;
    let names = r#""name":"http://example.org/name","size":"http://example.org/size""#;
    let context = format!(r#"{{"params":"http://example.org/params","result":"{}",{names}}}"#, jrpc("hasResult"));
    let quads = convert(log, &context);
    let integer = "\"2\"^^<http://www.w3.org/2001/XMLSchema#integer>";
    assert_eq!(below(&quads, "http://example.org/params"), [said("name", "\"n\""), said("size", integer)]);
    assert_eq!(values(&quads, "#m1", &jrpc("hasParameters")), [""; 0]);
    // `more` has no term: the whole member is kept beside what became of it.
    let kept = r#"{"params":{"more":true,"name":"n","size":2}}"#;
    assert_eq!(values(&quads, "#m1", &rpcg("extraMembers")), [kept]);
    assert_eq!(values(&quads, "#m2", &rpcg("extraMembers")), [""; 0]);
    assert_eq!(values(&quads, "#m2", &rpcg("respondsTo")), [format!("<{BASE}#m1>")]);
}

#[test]
fn a_language_is_for_what_the_context_maps() {
    let quads = convert(EXCHANGE, &format!(r#"{{"@language":"en","@direction":"rtl","kind":"{KIND}"}}"#));
    assert_annotated(&quads);
    assert_eq!(objects(&quads, "#m1", KIND), ["\"fast\"@en"]);
    for (node, property, text) in [
        ("#m1", jrpc("hasMethod"), "m"),
        ("#m1", jrpc("version"), "2.0"),
        ("#m2-error", jrpc("hasErrorMessage"), "text"),
        ("", rpcg("source"), "log"),
    ] {
        assert_eq!(objects(&quads, node, &property), [format!("\"{text}\"")], "{property}");
    }
    let language = quads.iter().filter(|quad| quad.object.to_string().ends_with("@en")).count();
    assert_eq!(language, 2);
}

#[test]
fn a_context_captures_nothing_of_ours() {
    for context in [
        r#"{"rpcg":"http://evil.example/","prov":"http://evil.example/","rdf":"http://evil.example/"}"#,
        r#"{"@base":"http://evil.example/"}"#,
        r#"{"Request":"http://evil.example/","https":"http://evil.example/","http":"http://evil.example/"}"#,
        r#"{"id":"http://evil.example/","code":"http://evil.example/","message":null,"stringValue":"http://evil.example/"}"#,
        r#"{"@protected":true,"x":"http://example.org/x","@propagate":true}"#,
    ] {
        let quads = convert(EXCHANGE, context);
        assert_annotated(&quads);
        assert_isomorphic(&quads, &convert(EXCHANGE, "{}"), context);
    }
}

/// An error's terms have a context of their own, which is written with these prefixes.
#[test]
fn a_prefix_of_the_same_name_captures_nothing() {
    for prefix in ["jrpc", "xsd"] {
        let context = format!(r#"{{"{prefix}":"http://evil.example/"}}"#);
        assert_isomorphic(&convert(EXCHANGE, &context), &convert(EXCHANGE, "{}"), &context);
    }
}

/// What a context takes off the map is data again, and data is kept.
#[test]
fn a_context_that_takes_terms_away_loses_nothing() {
    let quads = convert(EXCHANGE, r#"{"jsonrpc":null,"method":null,"params":null}"#);
    assert_annotated(&quads);
    let kept = values(&quads, "#m1", &rpcg("extraMembers"));
    assert_eq!(kept, [r#"{"jsonrpc":"2.0","kind":"fast","method":"m","params":{"x":"text"}}"#]);
}

#[test]
fn a_context_that_takes_errors_away_loses_nothing() {
    let quads = convert(EXCHANGE, r#"{"error":null}"#);
    assert_annotated(&quads);
    let kept = values(&quads, "#m2", &rpcg("extraMembers")).concat();
    let error = r#""error":{"code":-32000,"data":["text"],"hint":"text","message":"text"}"#;
    let node = values(&quads, "#m2", &jrpc("hasError"));
    assert!(kept.contains(error) || !node.is_empty(), "the error in {kept}");
}

/// An error's code and message are not lost where the context gives `error` another meaning.
#[test]
fn an_error_that_is_mapped_anew_stays_whole() {
    for context in [
        r#"{"error":"http://example.org/error"}"#,
        r#"{"error":{"@id":"http://example.org/error","@type":"@json"}}"#,
        r#"{"error":{"@id":"http://example.org/error","@context":{"message":"http://example.org/message"}}}"#,
        r#"{"error":{"@id":"http://example.org/error","@container":"@list"}}"#,
        r#"{"error":{"@reverse":"http://example.org/errorOf"}}"#,
    ] {
        let ran = run(EXCHANGE, context);
        let quads = ran.quads(RdfFormat::NQuads);
        assert_annotated(&quads);
        // The code is in the graph: as a number, as an own property, or in JSON that is kept.
        let about = |text: &str| quads.iter().any(|quad| quad.object.to_string().contains(text));
        assert!(about("-32000"), "{context} loses the code: {}", ran.text());
        let messages = ["message\\\":\\\"text", "message\":\"text"];
        let kept = messages.iter().any(|text| about(text));
        let property = quads.iter().any(|quad| {
            quad.object.to_string() == "\"text\"" && quad.predicate.as_str().to_lowercase().ends_with("message")
        });
        assert!(kept || property, "{context} loses the message: {}", ran.text());
    }
}

/// JSON-LD may refuse a value under a container; then the value is data.
#[test]
fn a_message_that_expansion_refuses_is_not_lost() {
    let log = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"en":"text","de":5}}
{"jsonrpc":"2.0","id":1,"result":1}
"#;
    let quads = convert(log, r#"{"params":{"@id":"http://example.org/params","@container":"@language"}}"#);
    assert_eq!(values(&quads, "#m2", &rpcg("respondsTo")), [format!("<{BASE}#m1>")]);
    assert_eq!(values(&quads, "#m1", &jrpc("hasMethod")), ["m"], "the request itself is in the graph");
}

#[test]
fn several_contexts_go_in_order() {
    let place = Place::with("log", r#"{"jsonrpc":"2.0","method":"m","kind":"a","size":1}"#);
    place.put("first.jsonld", format!(r#"{{"@context":{{"kind":"{KIND}/first","size":"{KIND}/size"}}}}"#));
    place.put("folder/second.jsonld", format!(r#"{{"@context":["../base.jsonld",{{"kind":"{KIND}/second"}}]}}"#));
    place.put("base.jsonld", format!(r#"{{"@context":{{"kind":"{KIND}/base","size":"{KIND}/size"}}}}"#));
    for (contexts, kind) in [
        (["first.jsonld", "folder/second.jsonld"], "second"),
        (["folder/second.jsonld", "first.jsonld"], "first"),
        // Never fetched: it is built in.
        (["base.jsonld", JSON_RPC_URL], "base"),
    ] {
        let [one, two] = contexts;
        let ran = place.convert(&["log", "--offline", "--base", BASE, "-t", "nquads", "-c", one, "-c", two]);
        ran.said(0, "1 record (json-lines): 1 notification; 11 triples\n");
        let quads = ran.quads(RdfFormat::NQuads);
        assert_eq!(values(&quads, "#m1", &format!("{KIND}/{kind}")), ["a"]);
        assert_eq!(values(&quads, "#m1", &format!("{KIND}/size")), ["1"]);
    }
}

/// Ids resolve against the base, and so show what it is.
#[test]
fn the_base_of_bblock() {
    let log = r#"{"jsonrpc":"2.0","id":"a","method":"m"}"#;
    let place = Place::with("log", log);
    place.put("based.jsonld", r#"{"@context":{"@base":"https://context.example/"}}"#);
    for (arguments, id) in [
        (&[][..], "https://override-me-for-custom-content.eg/a"),
        (&["--base", "https://example.org/x/"], "https://example.org/x/a"),
        (&["-c", "based.jsonld"], "https://context.example/a"),
        (&["-c", "based.jsonld", "--base", "https://example.org/x/"], "https://example.org/x/a"),
    ] {
        let ran = place.convert(&[&["log", "-m", "bblock"], arguments].concat());
        ran.said(0, "1 record (json-lines): 1 request; 3 triples\n");
        let expected =
            format!("[] <{}> '2.0' ; <{}> <{id}> ; <{}> 'm' .", jrpc("version"), jrpc("hasId"), jrpc("hasMethod"));
        let quads = ran.quads(RdfFormat::Turtle);
        assert_isomorphic(&parse(RdfFormat::Turtle, expected.as_bytes()), &quads, &format!("{arguments:?}"));
    }
}

#[test]
fn bblock_says_what_it_loses() {
    let log = r#"{"jsonrpc":"2.0","id":null,"method":"m","more":1,"@id":"x"}
{"jsonrpc":"2.0","id":"a b","result":12345678901234567890}
7
"#;
    let ran = Place::with("log", log).convert(&["log", "-m", "bblock"]);
    let stderr = "log:3: record 3 at byte 119: JSON, but no JSON-RPC message
3 records (json-lines): 1 request, 1 response, 1 invalid message; 4 triples
problems: 1 NullRequestId, 1 KeywordMember
not carried: 1 id null, 1 value no IRI, 1 member mapped by no context, 1 member named like JSON-LD keywords, \
                  1 number changed by the canonical form, 1 record no JSON object
";
    ran.said(0, stderr);
}

#[test]
fn a_context_that_is_not_used_changes_nothing() {
    let place = Place::with("log", LOG);
    place.put("unused.jsonld", format!(r#"{{"@context":{{"kind":"{KIND}"}}}}"#));
    let ran = place.convert(&["log", "-c", "unused.jsonld"]);
    ran.said(0, LOG_SUMMARY);
    assert_eq!(ran.stdout, place.convert(&["log"]).stdout);
}
