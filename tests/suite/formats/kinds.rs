//! Sessions, durations and refusals that single formats state.

use super::{as_format, log};
use crate::support::convert;
use oxrdf::{Quad, Term};
use rpcgraph::convert::{ConvertError, Converter, Input, Options};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::record::{Format, ReadError, Reader, ReaderOptions};
use rpcgraph::sink::Sink;

#[test]
fn neovim_is_refused_with_advice() {
    for name in ["typical.log", "old.log"] {
        let log = log("nvim-lua", name);
        for format in [None, Format::from_name("nvim-lua")] {
            let options = ReaderOptions { format, ..ReaderOptions::default() };
            let Err(error) = Reader::new(&log[..], &options) else { panic!("{name}") };
            assert!(matches!(error, ReadError::Refused { format: Format::NvimLua, .. }), "{error:?}");
            let message = error.to_string();
            assert!(
                message.starts_with("nvim-lua is not read: Neovim's LSP log holds messages as Lua tables"),
                "{message}"
            );
            assert!(message.contains("lsp-devtools agent --") && !message.contains('\n'), "{message}");
        }
        assert!(!as_format(&log[..], Format::JsonLines, 1 << 20).is_empty());
    }
    let refused = Format::ALL.iter().filter(|format| format.refusal().is_some());
    assert_eq!(
        refused.collect::<Vec<_>>(),
        [
            &Format::Asciinema,
            &Format::EglotLisp,
            &Format::JournaldExport,
            &Format::NvimLua,
            &Format::Pcap,
            &Format::Tar
        ]
    );

    let mut converter = Converter::new(Mapper::new(Mapping::Session, &[]).unwrap(), Options::default());
    let log = log("nvim-lua", "typical.log");
    let input = Input {
        name: "lsp.log".to_owned(),
        source: "lsp.log".to_owned(),
        iri: "https://example.org/lsp.log".to_owned(),
        iri_stated: true,
        read: &log[..],
    };
    let mut quads = Vec::new();
    let result = converter.convert(input, &mut Sink::quads(&mut quads), &mut |_| {});
    assert!(matches!(result, Err(ConvertError::Read { error: ReadError::Refused { .. }, .. })));
}

#[test]
fn old_versions_of_eglot_are_refused_with_advice() {
    for heading in
        ["[client-request] (id:1) Sun Jan  5 10:00:00 2026:", "[server-reply] (id:1) Sun Jan  5 10:00:00 2026:"]
    {
        let log = format!("{heading}\n(:jsonrpc \"2.0\" :id 1)\n");
        let Err(error) = Reader::new(log.as_bytes(), &ReaderOptions::default()) else { panic!("{heading}") };
        let message = error.to_string();
        assert!(message.starts_with("eglot-lisp is not read: ") && message.contains("`:format full`"), "{message}");
    }
    let log = "[client-request] (id:1) Sun Jan  5 10:00:00 2026:\n{\"id\":1}\n";
    assert_eq!(Format::detect(log.as_bytes()), Format::JsonLines);
}

#[test]
fn archives_and_exports_of_journals_are_refused_with_advice() {
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#;
    let mut archive = b"logs/a.jsonl".to_vec();
    archive.resize(257, 0);
    archive.extend_from_slice(b"ustar\0");
    archive.resize(512, 0);
    let logs = [
        ("tar", "unpack it", [&archive[..], message.as_bytes(), b"\n"].concat()),
        (
            "tar",
            "unpack it",
            [&archive[..], b"{\"log\":\"a\\n\",\"stream\":\"stdout\"}\n".repeat(9).as_slice()].concat(),
        ),
        (
            "journald-export",
            "`journalctl -o json`",
            format!("__CURSOR=s\n__REALTIME_TIMESTAMP=1767607200123456\nMESSAGE={message}\n").into_bytes(),
        ),
    ];
    for (name, advice, log) in logs {
        let Err(error) = Reader::new(&log[..], &ReaderOptions::default()) else { panic!("{name}") };
        let message = error.to_string();
        assert!(message.starts_with(&format!("{name} is not read: ")) && message.contains(advice), "{message}");
    }
}

/// The pairs of (what answers, what is answered), as fragments, and the sessions.
fn pairs(quads: &[Quad]) -> (Vec<(String, String)>, Vec<String>) {
    let fragment =
        |text: &str| text.rsplit_once('#').map_or("", |(_, fragment)| fragment).trim_end_matches('>').to_owned();
    let (mut pairs, mut sessions) = (Vec::new(), Vec::new());
    for quad in quads {
        if quad.predicate.as_str().ends_with("#respondsTo") {
            pairs.push((fragment(&quad.subject.to_string()), fragment(&quad.object.to_string())));
        }
        if matches!(&quad.object, Term::NamedNode(class) if class.as_str().ends_with("rpcgraph#Session")) {
            sessions.push(fragment(&quad.subject.to_string()));
        }
    }
    pairs.sort();
    sessions.sort();
    (pairs, sessions)
}

#[test]
fn sessions_pair_apart() {
    type Case<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);
    let table: [Case<'_>; 5] = [
        (
            "claude-desktop",
            "mixed.log",
            &[("m3", "m1"), ("m4", "m2")],
            &["session-Control%20your%20Mac", "session-memory", "session-memory-2", "session-memory-2-2"],
        ),
        // The second connection never sent the request that "id":2 would answer.
        (
            "claude-desktop",
            "edge.log",
            &[("m2", "m1"), ("m4", "m3"), ("m6", "m5")],
            &["session-Time%20%28Reference%29", "session-Time%20%28Reference%29-2"],
        ),
        ("helix", "typical.log", &[("m3", "m1"), ("m6", "m5"), ("m7", "m2")], &["session-subtl", "session-words"]),
        ("vscode-mcp", "edge.log", &[("m2", "m1"), ("m5", "m4")], &["", "session-2"]),
        ("vscode-mcp", "typical.log", &[("m2", "m1"), ("m5", "m4"), ("m7", "m6")], &[""]),
    ];
    for (format, name, expected, sessions) in table {
        let converted = convert(&log(format, name));
        let (found, named) = pairs(&converted);
        let found: Vec<_> = found.iter().map(|(answer, request)| (answer.as_str(), request.as_str())).collect();
        assert_eq!(found, expected, "{format}/{name}");
        assert_eq!(named, sessions, "{format}/{name}");
    }
}

#[test]
fn durations_and_cut_messages_reach_the_graph() {
    let converted = convert(&log("mcp-inspector", "typical.json"));
    let seconds = |quads: &[Quad]| {
        let stated = quads.iter().filter(|quad| quad.predicate.as_str().ends_with("#latencySeconds"));
        let mut stated: Vec<_> = stated.map(|quad| quad.object.to_string()).collect();
        stated.sort();
        stated
    };
    let decimal = |value: &str| format!("\"{value}\"^^<http://www.w3.org/2001/XMLSchema#decimal>");
    assert_eq!(seconds(&converted), [decimal("0.0025"), decimal("0.118")]);

    let converted = convert(&log("claude-desktop", "edge.log"));
    let cut = converted.iter().filter(|quad| quad.object.to_string().ends_with("#Truncated>"));
    let mut cut: Vec<_> = cut.map(|quad| quad.subject.to_string()).collect();
    cut.sort();
    let cut: Vec<_> = cut.iter().filter_map(|iri| iri.rsplit_once('#')).map(|(_, fragment)| fragment).collect();
    assert_eq!(cut, ["m10>", "m4>", "m6>"]);
}

#[test]
fn plain_messages_are_left_to_other_formats() {
    let table = [
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"log\":{\"entries\":[]}}}\n", "json-lines"),
        ("{\"jsonrpc\":\"2.0\",\"log\":{\"entries\":[]}}\n", "json-lines"),
        ("{\"id\":1,\"method\":\"x\"}\n{\"tag\":\"FromClient\",\"contents\":[]}\n", "json-lines"),
        ("{\"log\":\"text\"}\n", "json-lines"),
        ("{\"log\":{\"level\":1}}\n", "json-lines"),
        ("{\n\"jsonrpc\": \"2.0\",\n\"params\":\n{\"log\":{\"entries\":[]}}\n}\n", "json-values"),
        ("SQLite format 3\n{}\n", "json-lines"),
    ];
    for (input, name) in table {
        assert_eq!(Format::detect(input.as_bytes()).name(), name, "{input}");
    }
}
