//! Built-in files, shell completion and manual pages.

use std::path::Path;

use oxrdfio::RdfFormat;
use rpcgraph::record::Format;

use super::Place;

/// Every command that the help lists.
fn commands(place: &Place) -> Vec<String> {
    let ran = place.run(&["--help"]);
    let lines = ran.text().lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    lines.filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase())).map(str::to_owned).collect()
}

fn file(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("a file of the project")
}

#[test]
fn vocabularies() {
    let place = Place::new();
    let list = place.run(&["vocab"]);
    let mut files = vec![("context", "context/json-rpc.jsonld"), ("schema", "context/json-rpc.schema.json")];
    files.extend([("rpcgraph-context", "context/rpcgraph.jsonld"), ("mcp-context", "context/mcp.jsonld")]);
    files.push(("r2rml", "ontology/messages.r2rml.ttl"));
    let names = ["json-rpc", "rpcgraph", "lsp", "alignment", "shapes"];
    let ontologies = names.map(|name| (name, format!("ontology/{name}.ttl")));
    files.extend(ontologies.iter().map(|(name, file)| (*name, file.as_str())));
    for (name, path) in &files {
        let ran = place.run(&["vocab", name]);
        assert_eq!(ran.quietly().text(), file(path), "{name}");
        assert!(!path.ends_with(".ttl") || ran.quads(RdfFormat::Turtle).len() > 50, "{name}");
        assert!(list.quietly().text().contains(&format!("{name}  ")), "{name} is listed");
    }
    assert_eq!(list.text().lines().count(), files.len() + 1, "the columns of tables are the only other");
    place.run(&["vocab", "shapes", "-o", "shapes.ttl.gz"]).quietly();
    assert!(place.read("shapes.ttl.gz").starts_with(b"\x1f\x8b"));
    place
        .run(&["vocab", "ontology"])
        .began(2, "error: invalid value 'ontology' for '[NAME]'\n  [possible values: json-rpc, ");
}

/// A printed context can be passed back, and changes nothing.
#[test]
fn a_printed_context_can_be_used() {
    let place = Place::with("log", super::LOG);
    for name in ["context", "rpcgraph-context"] {
        place.put("printed.jsonld", &place.run(&["vocab", name]).quietly().stdout);
        let ran = place.convert(&["log", "-c", "printed.jsonld"]);
        ran.said(0, super::LOG_SUMMARY);
        assert_eq!(ran.stdout, place.convert(&["log"]).stdout, "{name}");
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
    let place = Place::with("log", super::LOG);
    assert!(place.run(&["formats", "arrows"]).quietly().text().contains("sample = "));
    let stderr =
        "error: invalid value 'log' for '[NAME]': log is a log and not a format: `rpcgraph detect log` explains it\n";
    place.run(&["formats", "log"]).began(2, stderr);
}

#[test]
fn completions() {
    let place = Place::new();
    for (shell, start) in [("bash", "_rpcgraph() {"), ("zsh", "#compdef rpcgraph"), ("fish", "# Print an optspec")] {
        let ran = place.run(&["completions", shell]);
        let text = ran.quietly().text();
        assert!(text.starts_with(start), "{shell}: {}", text.lines().next().unwrap_or_default());
        let options = ["max-record-size", "provenance", "bblock"].map(str::to_owned);
        for word in commands(&place).into_iter().chain(options) {
            assert!(text.contains(&word), "{shell} knows {word}");
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
    for command in &commands(&place) {
        assert!(text.contains(command), "the page names {command}");
        let page = place.run(&["man", command]);
        let text = page.quietly().text();
        assert!(text.contains(".SH SYNOPSIS") && text.contains(&format!("rpcgraph\\-{command}")), "{command}");
    }
    assert!(place.run(&["man", "convert"]).text().contains("\\-\\-max\\-record\\-size"));
    place.run(&["man", "nope"]).said(2, "error: unknown command \"nope\"; see rpcgraph --help\n");
}

#[test]
fn help_shows_how() {
    let place = Place::new();
    let all = commands(&place);
    assert!(all.len() > 20, "{all:?}");
    for command in &all {
        let ran = place.run(&[command, "--help"]);
        let text = ran.quietly().text();
        assert!(text.contains(&format!("Usage: rpcgraph {command}")), "{command}");
        assert!(text.contains("Examples:\n  rpcgraph "), "{command} --help has examples");
        assert_eq!(place.run(&["help", command]).quietly().text(), text);
    }
    let ran = place.run(&["--help"]);
    let text = ran.quietly().text();
    for group in ["Record", "Look", "Ask", "Convert", "Share", "Building blocks", "Reference"] {
        assert!(text.contains(&format!("\n{group}:\n")), "{group}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "lines are not too long");
}

#[test]
fn short_help_fits_a_screen() {
    let mut place = Place::new();
    place.set("COLUMNS", "80");
    for command in commands(&place).iter().map(String::as_str).chain([""]) {
        let arguments = if command.is_empty() { vec!["-h"] } else { vec![command, "-h"] };
        let lines = place.run(&arguments).quietly().text().lines().count();
        let screen = if command.is_empty() { 42 } else { 40 };
        assert!(lines <= screen, "rpcgraph {command} -h has {lines} lines");
    }
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

/// The description of a format in the documents.
#[test]
fn the_file_of_the_documents() {
    let readme = include_str!("../../../docs/formats.md");
    let (_, rest) = readme.split_once("```toml\n").expect("a file");
    let (file, _) = rest.split_once("```").expect("its end");
    let place = Place::with("log", "{\"dir\":\"app\",\"payload\":{\"id\":1,\"method\":\"add\"}}\n");
    place.put("own.toml", file);
    place.convert(&["log", "-f", "own.toml", "-o", "log.ttl"]).began(0, "1 record (json-lines): 1 request; ");
}
