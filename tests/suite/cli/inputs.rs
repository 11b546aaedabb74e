//! IRIs of inputs: output depends on the inputs alone.

use oxrdfio::RdfFormat;

use super::{LOG, Place, REQUEST, RESPONSE, Ran, rpcg};
use crate::support::assert_isomorphic;

/// Sessions, in the order in which they end.
fn sessions(ran: &Ran, syntax: RdfFormat) -> Vec<String> {
    let quads = ran.quads(syntax);
    let sessions = quads.iter().filter(|quad| quad.object.to_string() == format!("<{}>", rpcg("Session")));
    sessions.map(|quad| quad.subject.to_string().trim_matches(['<', '>']).to_owned()).collect()
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

/// A context may put nodes into graphs of their own.
#[test]
fn graphs_of_a_context_are_the_same_in_each_syntax() {
    let nodes = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"g":[{"id":"urn:in","b":"c"},{"b":"d"}],"h":"x"}}"#;
    let place = Place::with("log", format!("{LOG}{nodes}\n{LOG}"));
    let context = r#"{"@vocab":"http://v.org/","id":"@id","params":"http://v.org/params","g":{"@id":"http://v.org/g","@container":"@graph"}}"#;
    place.put("c.jsonld", format!(r#"{{"@context":{context}}}"#));
    for mapping in ["session", "bblock"] {
        let convert = |name| place.convert(&["log", "--quiet", "-m", mapping, "-c", "c.jsonld", "-t", name]);
        let quads = convert("nquads").quads(RdfFormat::NQuads);
        assert!(quads.iter().any(|quad| quad.graph_name.is_blank_node()));
        assert_isomorphic(&quads, &convert("trig").quads(RdfFormat::TriG), mapping);
    }
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
