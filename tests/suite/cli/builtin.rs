//! What is built in, and what shells and readers of manuals are given.

use std::path::Path;

use oxrdf::vocab::{rdf, rdfs};
use oxrdfio::RdfFormat;
use rpcgraph::record::Format;

use super::Place;

const COMMANDS: [&str; 6] = ["convert", "context", "ontology", "formats", "completions", "man"];

fn file(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("a file of the project")
}

#[test]
fn contexts_and_the_schema() {
    let place = Place::new();
    for (arguments, name) in [
        (&["context"][..], "context/json-rpc.jsonld"),
        (&["context", "json-rpc"], "context/json-rpc.jsonld"),
        (&["context", "rpcgraph"], "context/rpcgraph.jsonld"),
        (&["context", "mcp"], "context/mcp.jsonld"),
        (&["context", "schema"], "context/json-rpc.schema.json"),
    ] {
        assert_eq!(place.run(arguments).quietly().text(), file(name), "{arguments:?}");
    }
    let ran = place.run(&["context", "nope"]);
    let stderr = "error: invalid value 'nope' for '[NAME]'\n  [possible values: json-rpc, rpcgraph, mcp, schema]\n";
    ran.began(2, stderr);
}

/// What is printed can be given back: it changes nothing, for it is there already.
#[test]
fn a_printed_context_can_be_used() {
    let place = Place::with("log", super::LOG);
    for name in ["json-rpc", "rpcgraph"] {
        place.put("printed.jsonld", &place.run(&["context", name]).quietly().stdout);
        let ran = place.convert(&["log", "-c", "printed.jsonld"]);
        ran.said(0, super::LOG_SUMMARY);
        assert_eq!(ran.stdout, place.convert(&["log"]).stdout, "{name}");
    }
}

/// Payloads of MCP stand under its terms, and under no others.
#[test]
fn the_context_for_mcp_maps_payloads() {
    let log = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"name":1},"other":2}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"}],"isError":false}}"#,
        "\n"
    );
    let place = Place::with("log", log);
    let ran =
        place.run(&["convert", "log", "--protocol", "none", "-c", "builtin:mcp", "-t", "nquads", "--base", "urn:log"]);
    let text = ran.text();
    let said = |property: &str, object: &str| {
        assert!(
            text.contains(&format!(" <http://modelcontextprotocol.io/ontology#{property}> {object} ")),
            "{property}: {text}"
        );
    };
    said("hasName", "\"a\"");
    said("hasArguments", "\"{\\\"name\\\":1}\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>");
    said("hasText", "\"x\"");
    said("hasContentType", "\"text\"");
    said("isError", "\"false\"^^<http://www.w3.org/2001/XMLSchema#boolean>");
}

/// What a program says of itself makes one node: the context keeps the object as it is.
#[test]
fn a_client_is_one_node_under_the_context_for_mcp() {
    let log = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"desk"}}}"#;
    let ran =
        Place::with("log", log).run(&["convert", "log", "-c", "builtin:mcp", "-t", "nquads", "--base", "urn:log"]);
    assert_eq!(ran.text().matches("ontology#hasName> \"desk\"").count(), 1, "{}", ran.text());
    assert!(ran.text().contains("<urn:log#m1-client>"), "{}", ran.text());
}

#[test]
fn ontologies() {
    let place = Place::new();
    for name in ["json-rpc", "rpcgraph", "lsp", "alignment", "shapes"] {
        let ran = place.run(&["ontology", name]);
        assert_eq!(ran.quietly().text(), file(&format!("ontology/{name}.ttl")));
        assert!(ran.quads(RdfFormat::Turtle).len() > 50);
    }
    let both = place.run(&["ontology"]);
    let quads = both.quietly().quads(RdfFormat::Turtle);
    for iri in [super::jrpc("Request"), super::rpcg("Session"), super::rpcg("respondsTo")] {
        let subject = format!("<{iri}>");
        let about: Vec<_> = quads.iter().filter(|quad| quad.subject.to_string() == subject).collect();
        for property in [rdf::TYPE, rdfs::LABEL] {
            assert!(about.iter().any(|quad| quad.predicate.as_ref() == property), "{iri} has a {property}");
        }
    }
}

#[test]
fn formats() {
    let ran = Place::new().run(&["formats"]);
    let text = ran.quietly().text();
    for format in Format::ALL {
        assert!(text.contains(&format!("{}\n    {}\n", format.name(), format.summary())), "{}", format.name());
        assert!(text.contains(&format!("    carries: {}\n", format.carries())), "{}", format.name());
    }
    assert!(text.ends_with("Any of them may be compressed with gzip, zstd, bzip2 or xz.\n"));
}

#[test]
fn completions() {
    let place = Place::new();
    for (shell, start) in [("bash", "_rpcgraph() {"), ("zsh", "#compdef rpcgraph"), ("fish", "# Print an optspec")] {
        let ran = place.run(&["completions", shell]);
        let text = ran.quietly().text();
        assert!(text.starts_with(start), "{shell}: {}", text.lines().next().unwrap_or_default());
        for word in COMMANDS.into_iter().chain(["max-record-size", "provenance", "bblock"]) {
            assert!(text.contains(word), "{shell} knows {word}");
        }
    }
    place.run(&["completions", "nope"]).began(2, "error: invalid value 'nope' for '<SHELL>'\n");
    place.run(&["completions"]).began(2, "error: the following required arguments were not provided:\n  <SHELL>\n");
}

#[test]
fn manual_pages() {
    let place = Place::new();
    let page = place.run(&["man"]);
    let text = page.quietly().text();
    assert!(text.contains(".TH rpcgraph 1 ") && text.contains("Exit status:"));
    for command in COMMANDS {
        assert!(text.contains(command), "the page names {command}");
        let page = place.run(&["man", command]);
        let text = page.quietly().text();
        assert!(text.contains(".SH SYNOPSIS") && text.contains(&format!("rpcgraph\\-{command}")), "{command}");
    }
    assert!(place.run(&["man", "convert"]).text().contains("\\-\\-max\\-record\\-size"));
    place.run(&["man", "nope"]).said(2, "error: there is no command \"nope\"; see rpcgraph --help\n");
}

#[test]
fn help_shows_how() {
    let place = Place::new();
    for command in COMMANDS {
        let ran = place.run(&[command, "--help"]);
        let text = ran.quietly().text();
        assert!(text.contains(&format!("Usage: rpcgraph {command}")), "{command}");
        assert!(text.contains("\nExamples:\n  rpcgraph "), "{command} --help has examples");
        let short = place.run(&["help", command]);
        assert!(short.quietly().text().contains("Examples:"));
    }
    let ran = place.run(&["--help"]);
    let text = ran.quietly().text();
    for command in COMMANDS {
        assert!(text.contains(&format!("\n  {command} ")), "{command}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "lines are not too long");
}

/// Paragraphs are filled for the terminal; a line that ends early was filled twice.
#[test]
fn help_is_wrapped_once() {
    let ran = Place::new().run(&["--help"]);
    let text = ran.quietly().text();
    let status = "\nExit status:\n  0  done\n  1  done, and there are findings that the options ask about\n  2  not done: \
                  usage, input, output or network error\n";
    assert!(text.ends_with(status), "{text}");
}

#[test]
fn version() {
    let place = Place::new();
    for argument in ["--version", "-V"] {
        let expected = concat!("rpcgraph ", env!("CARGO_PKG_VERSION"), "\n");
        assert_eq!(place.run(&[argument]).quietly().text(), expected);
    }
}
