//! --output: what the name says, and that a file is there whole or not at all; no escape sequences.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::{PermissionsExt as _, symlink};

use oxrdfio::RdfFormat;

use super::syntaxes::json_ld;
use super::{BASE, LOG, LOG_SUMMARY, Place, parse, triples};
use crate::support::assert_isomorphic;

#[test]
fn the_extension_names_the_syntax() {
    let place = Place::with("log", LOG);
    let expected = place.convert(&["log", "--base", BASE, "-t", "nquads"]).quads(RdfFormat::NQuads);
    for (extension, syntax) in [
        ("ttl", RdfFormat::Turtle),
        ("nt", RdfFormat::NTriples),
        ("nq", RdfFormat::NQuads),
        ("trig", RdfFormat::TriG),
        ("jsonld", json_ld()),
        ("rdf", RdfFormat::RdfXml),
        ("TTL", RdfFormat::Turtle),
    ] {
        for compression in ["", ".gz", ".zst", ".GZ"] {
            let name = format!("out.{extension}{compression}");
            let ran = place.convert(&["log", "--base", BASE, "-o", &name]);
            ran.said(0, if extension == "jsonld" { JSON_LD_SUMMARY } else { LOG_SUMMARY }).printed_nothing();
            let found = parse(syntax, &decompressed(&place.read(&name), compression));
            match syntax.supports_datasets() {
                true => assert_isomorphic(&expected, &found, &name),
                false => assert_isomorphic(&triples(&expected), &found, &name),
            }
            fs::remove_file(place.path(&name)).expect("a file");
        }
    }
    assert_eq!(place.names(), ["log"]);
}

const JSON_LD_SUMMARY: &str = "5 records (json-lines): 2 requests, 1 notification, 1 response, 1 error response\n";

fn decompressed(bytes: &[u8], extension: &str) -> Vec<u8> {
    match extension.to_lowercase().as_str() {
        ".gz" => {
            let mut text = Vec::new();
            std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(bytes), &mut text).expect("gzip");
            text
        }
        ".zst" => zstd::decode_all(bytes).expect("zstd"),
        _ => bytes.to_vec(),
    }
}

#[test]
fn an_option_goes_before_the_extension() {
    let place = Place::with("log", LOG);
    for (name, compression) in
        [("out.html", ""), ("out", ""), ("out.ttl", ""), ("out.txt.gz", ".gz"), ("out.zst", ".zst")]
    {
        place.convert(&["log", "--base", BASE, "-t", "ntriples", "-o", name]).said(0, LOG_SUMMARY);
        let found = parse(RdfFormat::NTriples, &decompressed(&place.read(name), compression));
        assert_eq!(found.len(), 48, "{name}");
    }
    // Without either, it is what is printed.
    let printed = place.convert(&["log"]).stdout;
    place.convert(&["log", "-o", "none"]).said(0, LOG_SUMMARY);
    assert_eq!(place.read("none"), printed);
    place.convert(&["log", "-o", "none.gz"]).said(0, LOG_SUMMARY);
    assert_eq!(decompressed(&place.read("none.gz"), ".gz"), printed);
}

#[test]
fn an_existing_file_is_replaced_when_all_is_there() {
    let place = Place::with("log", LOG);
    place.put("out.nt", "old ".repeat(10_000));
    place.convert(&["log", "-o", "out.nt"]).said(0, LOG_SUMMARY);
    assert_eq!(parse(RdfFormat::NTriples, &place.read("out.nt")).len(), 48);
    assert_eq!(place.names(), ["log", "out.nt"]);
}

#[test]
#[cfg(unix)]
fn the_mode_of_a_file_stays() {
    let place = Place::with("log", LOG);
    for mode in [0o600, 0o640, 0o755] {
        place.put("out.nt", "");
        fs::set_permissions(place.path("out.nt"), fs::Permissions::from_mode(mode)).expect("a mode");
        place.convert(&["log", "-o", "out.nt"]).said(0, LOG_SUMMARY);
        let found = fs::metadata(place.path("out.nt")).expect("a file").permissions().mode();
        assert_eq!(found & 0o777, mode);
    }
    // A new file has the one that any new file has here.
    place.put("any", "");
    place.convert(&["log", "-o", "new.nt"]).said(0, LOG_SUMMARY);
    let mode = |name: &str| fs::metadata(place.path(name)).expect("a file").permissions().mode();
    assert_eq!(mode("new.nt"), mode("any"));

    fs::set_permissions(place.path("any"), fs::Permissions::from_mode(0o444)).expect("a mode");
    let ran = place.convert(&["log", "-o", "any", "-t", "nquads"]);
    ran.said(2, "error: cannot write any: permission denied\n");
    assert_eq!(place.read("any"), b"");
    assert_eq!(place.names(), ["any", "log", "new.nt", "out.nt"]);
}

#[test]
#[cfg(unix)]
fn symbolic_links_are_followed() {
    let place = Place::with("log", LOG);
    place.put("folder/old.nt", "old");
    let link = |to: &str, name: &str| symlink(to, place.path(name)).expect("a link");
    link("folder/old.nt", "existing.nt");
    link("folder/new.nt", "dangling.nt");
    link("first.nt", "second.nt");
    link("folder/last.nt", "first.nt");
    for (name, target) in
        [("existing.nt", "folder/old.nt"), ("dangling.nt", "folder/new.nt"), ("second.nt", "folder/last.nt")]
    {
        place.convert(&["log", "-o", name]).said(0, LOG_SUMMARY);
        assert!(fs::symlink_metadata(place.path(name)).expect("a link").is_symlink(), "{name} is still a link");
        assert_eq!(parse(RdfFormat::NTriples, &place.read(target)).len(), 48, "{name}");
    }
    assert!(fs::symlink_metadata(place.path("first.nt")).expect("a link").is_symlink());
    link("circle.nt", "circle.nt");
    let ran = place.convert(&["log", "-o", "circle.nt"]);
    ran.said(2, "error: cannot write circle.nt: Too many levels of symbolic links (os error 40)\n");
    assert_eq!(fs::read_dir(place.path("folder")).expect("a folder").count(), 3);
}

#[test]
#[cfg(target_os = "linux")]
fn devices_are_written_directly() {
    let place = Place::with("log", LOG);
    let ran = place.convert(&["log", "--base", BASE, "-o", "/dev/stdout", "-t", "nquads"]);
    ran.said(0, LOG_SUMMARY);
    assert_eq!(ran.quads(RdfFormat::NQuads).len(), 48);
    place.convert(&["log", "-o", "/dev/null"]).said(0, LOG_SUMMARY).printed_nothing();
    // A pipe is there before its reader has anything, and stays one.
    let pipe = place.path("pipe.nq");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let reader = std::thread::spawn(move || fs::read(pipe).expect("a pipe"));
    place.convert(&["log", "-o", "pipe.nq"]).said(0, LOG_SUMMARY);
    assert_eq!(parse(RdfFormat::NQuads, &reader.join().expect("a reader")).len(), 48);
    assert_eq!(place.names(), ["log", "pipe.nq"]);
}

/// No terminal, no colours; and none on a terminal either where NO_COLOR says so, which is for anstream to know.
#[test]
fn no_escape_codes() {
    let mut place = Place::with("log", "oops\n");
    place.set("TERM", "xterm-256color");
    place.set("COLORTERM", "truecolor");
    let mut without = Place::with("log", "oops\n");
    without.set("NO_COLOR", "1");
    without.set("TERM", "xterm-256color");
    for place in [place, without] {
        for arguments in [&["log", "--progress", "always"][..], &["gone"], &["--nope"], &["--help"], &["-f", "nope"]] {
            let ran = place.convert(arguments);
            assert!(!ran.stdout.contains(&0x1b), "{arguments:?}");
            assert!(!ran.stderr.contains('\x1b'), "{arguments:?}");
        }
    }
}

/// A file name may hold anything but a slash; messages that contain it must not control the terminal.
#[test]
#[cfg(target_os = "linux")]
fn names_are_no_commands_to_the_terminal() {
    let mut place = Place::with("\x1b[31mred\nlog", "oops");
    place.set("CLICOLOR_FORCE", "1");
    place.set("TERM", "xterm-256color");
    let mut command = place.command(&["convert", "\x1b[31mred\nlog"]);
    let output = command.output().expect("a run");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("\x1b[31mred"), "{stderr:?}");
}
