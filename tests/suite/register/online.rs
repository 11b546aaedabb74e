//! References of blocks to other hosts are fetched with `--online`, from the hosts that the command line names, within limits.

use crate::cli::Place;
use crate::http::{Server, ok, redirect};

/// A repository of one block, whose schema is elsewhere.
fn repository(url: &str) -> Place {
    let place = Place::new();
    place.put("r/bblocks-config.yaml", "imports: []\n");
    let metadata = r#"{"name": "b", "status": "stable", "version": "1", "itemClass": "schema", "dateTimeAddition": "2026-01-01T00:00:00Z"}"#;
    place.put("r/_sources/b/bblock.json", metadata);
    place.put("r/_sources/b/schema.yaml", format!("$ref: {url}\n"));
    place.put("r/_sources/b/examples.yaml", "- snippets: [{language: json, code: '{\"p\": 1}'}]\n");
    place
}

const MADE: [&str; 5] = ["register", "r", "-o", "out", "--base-url=https://example.net/r/build"];

#[test]
fn schemas_are_fetched_from_hosts_that_are_named() {
    let server =
        Server::serving(r#"{"properties": {"p": {"x-jsonld-id": "https://example.org/p", "type": "number"}}}"#);
    let place = repository(&format!("{}/s.json", server.url));
    let ran = place.run(&MADE);
    assert!(ran.status == Some(1) && ran.stderr.contains("or fetch it with --online -c URL"), "{}", ran.stderr);
    let ran = place.run(&[&MADE[..], &["--online", "-c", "https://example.org/"]].concat());
    assert!(ran.status == Some(1) && ran.stderr.contains("or fetch it with --online -c URL"), "{}", ran.stderr);
    assert_eq!(server.count(), 0);
    // Any URL of the host names it; the second run has a copy.
    for _ in 0..2 {
        let ran = place.run(&[&MADE[..], &["--online", "-c", &server.url]].concat());
        ran.said(0, "b: 1 of 1 passed; 17 files in out\n");
        assert_eq!(server.count(), 1);
    }
    let graph = String::from_utf8(place.read("out/tests/b/example_1_1.ttl")).expect("text");
    assert!(graph.contains("<https://example.org/p> 1"), "{graph}");
}

#[test]
fn registers_are_fetched_where_an_identifier_is_not_local() {
    let server = Server::start(|path, stream| match path {
        "/other/build/register.json" => ok(
            stream,
            r#"{"bblocks": [{"itemIdentifier": "eg.far", "schema": {"application/yaml": "../schema.yaml"}}]}"#,
        ),
        _ => ok(stream, "properties: {p: {type: string}}"),
    });
    let place = repository("bblocks://ogc.c");
    place.put("r/_sources/c/bblock.json", "{}");
    place.put("r/_sources/c/schema.yaml", "{}");
    place.put("r/bblocks-config.yaml", format!("imports: ['{}/other']\n", server.url));
    let online = [&MADE[..], &["--online", "-c", &server.url, "--block", "ogc.b"]].concat();
    assert_eq!(place.run(&[&MADE[..], &["--offline"]].concat()).status, Some(0));
    assert_eq!(server.count(), 0);
    let far = format!("{}/s.yaml", server.url);
    place.put("r/_sources/b/schema.yaml", format!("$ref: {far}\n"));
    let ran = place.run(&online);
    assert!(ran.stderr.contains("Validation failed: 1 is not of type \"string\""), "{}", ran.stderr);
}

#[test]
fn redirects_and_large_documents_are_refused() {
    let large = "x".repeat(5 << 20);
    let server = Server::start(move |path, stream| match path {
        "/private.json" => redirect(stream, "https://10.0.0.1/s.json"),
        "/clear.json" => redirect(stream, "http://example.org/s.json"),
        "/circle.json" => redirect(stream, "/circle.json"),
        _ => ok(stream, &large),
    });
    for (path, said) in [
        ("private.json", "it is on this machine or a private network"),
        ("clear.json", "contexts come from https URLs without a password"),
        ("circle.json", "redirects more than 5 times"),
        ("large.json", "is larger than 4194304 bytes"),
    ] {
        let place = repository(&format!("{}/{path}", server.url));
        let ran = place.run(&[&MADE[..], &["--online", "-c", &server.url]].concat());
        assert!(ran.status == Some(1) && ran.stderr.contains(said), "{said}\n{}", ran.stderr);
        // Files that do not need the reference are written.
        assert!(place.path("out/register.json").exists());
    }
}
