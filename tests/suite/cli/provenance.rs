//! --provenance and --log-lines: where everything came from.

use std::fmt::Write as _;

use oxrdf::Quad;
use oxrdfio::RdfFormat;
use sha2::{Digest, Sha256};

use super::{BASE, Place, gzip, jrpc, rpcg, values, zstd};

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Line, byte offset and digest of a node.
fn origin(quads: &[Quad], node: &str) -> [Vec<String>; 3] {
    ["line", "byteOffset", "sha256"].map(|name| values(quads, node, &rpcg(name)))
}

/// The [`origin`] of a node that has none.
const NOWHERE: [Vec<String>; 3] = [const { Vec::new() }; 3];

/// Asserts where in the log the record is, and that it is these bytes there.
#[track_caller]
fn assert_origin(quads: &[Quad], node: &str, line: u64, byte: usize, bytes: &[u8], log: &[u8]) {
    assert_eq!(&log[byte..byte + bytes.len()], bytes, "the test itself");
    let expected = [vec![line.to_string()], vec![byte.to_string()], vec![digest(bytes)]];
    assert_eq!(origin(quads, node), expected, "{node}");
}

fn convert(log: &[u8], arguments: &[&str]) -> Vec<Quad> {
    let place = Place::with("log", log);
    let common = ["log", "--base", BASE, "--provenance", "--quiet", "-t", "nquads"];
    place.convert(&[&common, arguments].concat()).quietly().quads(RdfFormat::NQuads)
}

const REQUEST: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"m"}"#;
const BATCH: &[u8] = br#"[ {"jsonrpc":"2.0","id":1,"result":1}, {"jsonrpc":"2.0","method":"n"} ]"#;

#[test]
fn each_record_says_where_it_is() {
    let text = [REQUEST, b"\n\n  ", BATCH, b" \noops \xff\n{\"a\":1}"].concat();
    let log = text.as_slice();
    for compressed in [log.to_vec(), gzip(log), zstd(log)] {
        let quads = convert(&compressed, &[]);
        assert_origin(&quads, "#m1", 1, 0, REQUEST, log);
        assert_origin(&quads, "#m2", 3, 41, BATCH, log);
        assert_origin(&quads, "#m3", 4, 114, b"oops \xff", log);
        assert_origin(&quads, "#m4", 5, 121, b"{\"a\":1}", log);
        // A batch is the record; its elements and what else has a name are not.
        for node in ["#m2.1", "#m2.2", "#m1-id", ""] {
            assert_eq!(origin(&quads, node), NOWHERE, "{node}");
        }
        assert_eq!(values(&quads, "", "http://www.w3.org/ns/prov#used"), [format!("<{BASE}#input>")]);
    }
}

#[test]
fn line_ends_and_byte_order_marks_count() {
    let log = [b"\xef\xbb\xbf", REQUEST, b"\r\n\r\n\t", BATCH, b"\t\r\n", REQUEST, b"\r\n"].concat();
    let quads = convert(&log, &[]);
    assert_origin(&quads, "#m1", 1, 3, REQUEST, &log);
    assert_origin(&quads, "#m2", 3, 45, BATCH, &log);
    assert_origin(&quads, "#m3", 4, 119, REQUEST, &log);
}

#[test]
fn values_over_many_lines() {
    let value = b"{\n  \"jsonrpc\": \"2.0\",\r\n  \"method\": \"m\"\n}";
    let log = [b"\n", &value[..], b" ", value, b"\n"].concat();
    let quads = convert(&log, &[]);
    assert_origin(&quads, "#m1", 2, 1, value, &log);
    assert_origin(&quads, "#m2", 5, 2 + value.len(), value, &log);
}

#[test]
fn provenance_is_absent_by_default() {
    let place = Place::with("log", REQUEST);
    let quads = place.convert(&["log", "--base", BASE, "-t", "nquads"]).quads(RdfFormat::NQuads);
    assert_eq!(origin(&quads, "#m1"), NOWHERE);
}

/// Of bytes that were not kept there is no digest, least of all that of no bytes.
#[test]
fn no_digest_of_what_was_skipped() {
    let log = [REQUEST, b"\n", BATCH, b"\n"].concat();
    let place = Place::with("log", &log);
    let arguments = ["log", "--base", BASE, "--provenance", "-t", "nquads", "--max-record-size", "50"];
    let quads = place.convert(&arguments).quads(RdfFormat::NQuads);
    assert_origin(&quads, "#m1", 1, 0, REQUEST, &log);
    let [line, byte, digests] = origin(&quads, "#m2");
    assert_eq!([line.concat(), byte.concat()], ["2", "38"]);
    assert!(digests.is_empty() || digests == [digest(BATCH)], "{digests:?}");
}

const ARROWS: &[u8] = br#"// reads the chain's id
>> {"jsonrpc":"2.0","id":1,"method":"eth_chainId"}

 a banner
<< {"jsonrpc":"2.0","id":1,"result":"0x1"}
// end"#;

#[test]
fn lines_between_messages_are_kept_on_request() {
    let place = Place::with("log", ARROWS);
    let common = ["log", "--base", BASE, "-t", "nquads"];
    let summary = "2 records (arrows): 1 request, 1 response, 3 log lines; ";
    let without = place.convert(&common);
    without.said(0, &format!("{summary}21 triples\n"));
    let with = place.convert(&[&common[..], &["--log-lines"]].concat());
    with.said(0, &format!("{summary}35 triples\n"));
    let quads = with.quads(RdfFormat::NQuads);
    for (node, line, text) in
        [("#l1", "1", "// reads the chain's id"), ("#l4", "4", " a banner"), ("#l6", "6", "// end")]
    {
        assert_eq!(values(&quads, node, oxrdf::vocab::rdf::TYPE.as_str()), [format!("<{}>", rpcg("LogLine"))]);
        assert_eq!(values(&quads, node, &rpcg("text")), [text]);
        assert_eq!(values(&quads, node, &rpcg("line")), [line]);
        assert_eq!(values(&quads, node, &rpcg("inSession")), [format!("<{BASE}>")]);
        assert_eq!(values(&quads, node, &rpcg("sequence")), [""; 0]);
    }
    assert_eq!(values(&quads, "#l1", &rpcg("after")), [""; 0]);
    assert_eq!(values(&quads, "#l4", &rpcg("after")), [format!("<{BASE}#m1>")]);
    assert_eq!(values(&quads, "#l6", &rpcg("after")), [format!("<{BASE}#m2>")]);
    // They are no records: names and counts stay as they are.
    assert_eq!(values(&quads, "#m2", &rpcg("respondsTo")), [format!("<{BASE}#m1>")]);
    assert_eq!(values(&quads, "", &rpcg("recordCount")), ["2"]);
    let before = without.quads(RdfFormat::NQuads);
    assert!(before.iter().all(|quad| quads.contains(quad)));
}

#[test]
fn lines_between_messages_have_an_origin_too() {
    let quads = convert(ARROWS, &["--log-lines"]);
    assert_origin(&quads, "#l1", 1, 0, b"// reads the chain's id", ARROWS);
    assert_origin(&quads, "#l4", 4, 76, b" a banner", ARROWS);
    assert_origin(&quads, "#m1", 2, 27, br#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#, ARROWS);
}

/// A line has the time that it states, stands in the session of its server, and begins none.
#[test]
fn lines_between_messages_have_times_and_sessions() {
    let log = concat!(
        "2025-03-12T17:53:14.600Z [info] Attempting to connect\n",
        "2025-03-12T17:53:14.656Z [info] [a] Message from client: {\"method\":\"m\",\"jsonrpc\":\"2.0\",\"id\":0}\n",
        "2025-03-12T17:53:14.661Z [info] [b] Message from client: {\"method\":\"m\",\"jsonrpc\":\"2.0\",\"id\":0}\n",
        "2025-03-12T17:53:15.500Z [info] [a] Server transport closed\n",
        "    at Transport.close (10:00)\n",
        "2025-03-12T17:53:15.501Z [error] [c] Server disconnected.\n",
    );
    let quads = convert(log.as_bytes(), &["--log-lines"]);
    let said = |node: &str| ["inSession", "after", "capturedAt"].map(|name| values(&quads, node, &rpcg(name)).concat());
    let at = |seconds: &str| format!("2025-03-12T17:53:{seconds}Z");
    let (a, b) = (format!("<{BASE}#session-a>"), format!("<{BASE}#session-b>"));
    let (m1, m2) = (format!("<{BASE}#m1>"), format!("<{BASE}#m2>"));
    assert_eq!(said("#l1"), [a.clone(), String::new(), at("14.6")]);
    assert_eq!(said("#l4"), [a, m1, at("15.5")]);
    assert_eq!(said("#l5"), [b.clone(), m2.clone(), String::new()]);
    assert_eq!(said("#l6"), [b, m2, at("15.501")]);
    assert_eq!(values(&quads, "#l5", &rpcg("text")), ["    at Transport.close (10:00)"]);
    // The input has no session of its own.
    assert_eq!(values(&quads, "", &rpcg("recordCount")), [""; 0]);
}

/// Lines in front of a long batch stand in its session, as those in front of a message do.
#[test]
fn lines_before_a_long_batch() {
    let batch = vec!["{\"method\":\"m\",\"jsonrpc\":\"2.0\"}"; 1000].join(",");
    let log = format!(
        "2025-03-12T17:53:14.600Z [info] Attempting to connect\n\
         2025-03-12T17:53:14.656Z [info] [a] Message from client: [{batch}]\n\
         2025-03-12T17:53:15.500Z [info] [a] Server transport closed\n"
    );
    let quads = convert(log.as_bytes(), &["--log-lines"]);
    for (line, after) in [("#l1", None), ("#l3", Some(format!("<{BASE}#m1>")))] {
        assert_eq!(values(&quads, line, &rpcg("inSession")), [format!("<{BASE}#session-a>")]);
        assert_eq!(values(&quads, line, &rpcg("after")), Vec::from_iter(after));
    }
    assert_eq!(values(&quads, "", &rpcg("recordCount")), [""; 0]);
}

#[test]
fn lines_between_messages_that_are_no_text() {
    let log = [ARROWS, b"\n\xff\xfe\n"].concat();
    let quads = convert(&log, &["--log-lines"]);
    assert_eq!(values(&quads, "#l7", &rpcg("bytes")), ["//4="]);
    // Where every line is a record there are none between.
    let quads = convert(&[&log, REQUEST].concat(), &["--log-lines", "--from", "json-lines"]);
    assert_eq!(values(&quads, "#m6", &rpcg("bytes")), ["//4="]);
    assert_eq!(values(&quads, "#m1", &jrpc("hasMethod")), [""; 0]);
}

/// The place of an error in a message that stands in a string is one in the message.
#[test]
fn a_finding_tells_a_byte_that_is_there() {
    let log = "{\"session_id\":\"s\",\"seq\":1,\"direction\":\"c2s\",\"raw\":\"{\\\"id\\\":1,\\\"meth\",\"truncated\":true}\n";
    let finding = "log:1: record 1 at byte 51: not JSON: the text ends inside a value at byte 13 of the message\n";
    Place::with("log", log).run(&["convert", "log"]).began(1, finding);
}
