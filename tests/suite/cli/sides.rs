//! One session in two logs: of each side, what it sent.

use oxrdf::Quad;
use oxrdfio::RdfFormat;

use super::{BASE, Place, gzip, rpcg, values};
use crate::support::assert_isomorphic;

/// Who sent what, and when: calls of both sides, one inside the other, with ids that both count from 0.
const SESSION: [(char, u32, &str); 11] = [
    ('c', 0, r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#),
    ('s', 1, r#"{"jsonrpc":"2.0","id":0,"result":{}}"#),
    ('c', 1, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
    ('c', 2, r#"{"jsonrpc":"2.0","id":"a","method":"tools/call"}"#),
    ('s', 3, r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#),
    ('s', 3, r#"{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage"}"#),
    ('c', 5, r#"{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no"}}"#),
    ('s', 7, r#"{"jsonrpc":"2.0","id":"a","result":1}"#),
    ('c', 8, r#"[{"jsonrpc":"2.0","id":1,"method":"x"},{"jsonrpc":"2.0","id":2,"method":"y"}]"#),
    ('s', 9, r#"[{"jsonrpc":"2.0","id":2.0,"result":1},{"jsonrpc":"2.0","id":1,"result":2}]"#),
    ('c', 9, r#"{"jsonrpc":"2.0","id":3,"method":"shutdown"}"#),
];

const BOTH: [&str; 4] = ["--client-log", "client.log", "--server-log", "server.log"];

/// The session as `render` writes each message of the sides that are wanted.
fn log(sides: &str, render: impl Fn(char, u32, &str) -> String) -> String {
    let wanted = SESSION.iter().filter(|(side, _, _)| sides.contains(*side));
    wanted.map(|(side, time, message)| render(*side, *time, message) + "\n").collect()
}

/// A place with the log of each side, as `render` writes it.
fn place(render: impl Fn(char, u32, &str) -> String) -> Place {
    let place = Place::with("client.log", log("c", &render));
    place.put("server.log", log("s", &render));
    place
}

/// What both logs become, without where they were read from.
#[track_caller]
fn graph(place: &Place, inputs: &[&str]) -> Vec<Quad> {
    let ran = place.convert(&[&["-t", "nquads", "--quiet", "--base", BASE], inputs].concat());
    let mut quads = ran.quietly().quads(RdfFormat::NQuads);
    quads.retain(|quad| quad.predicate.as_str() != rpcg("source"));
    quads
}

fn timed(side: char, time: u32, message: &str) -> String {
    let side = if side == 'c' { "client" } else { "server" };
    format!("{{\"time\":\"2026-01-05T10:00:{time:02}Z\",\"from\":\"{side}\",\"rpc\":{message}}}")
}

#[test]
fn the_graph_of_one_log() {
    let arrows = |side: char, _: u32, message: &str| format!("{} {message}", if side == 'c' { ">>" } else { "<<" });
    for render in [&timed as &dyn Fn(char, u32, &str) -> String, &arrows] {
        let place = place(render);
        place.put("plain.log", log("cs", render));
        let plain = graph(&place, &["plain.log"]);
        assert_isomorphic(&graph(&place, &BOTH), &plain, "two logs");
        assert_isomorphic(&graph(&place, &[&BOTH[..], &["--jobs", "1"]].concat()), &plain, "one thread");
        for name in ["client.log", "server.log"] {
            place.put(name, gzip(&place.read(name)));
        }
        assert_isomorphic(&graph(&place, &BOTH), &plain, "compressed");
    }
    // Nothing but the messages, of which both sides count theirs from 0, and a format of its own for each side.
    let bare = place(|_, _, message| message.to_owned());
    bare.put("plain.log", log("cs", arrows));
    let told = |mut quads: Vec<Quad>| {
        quads.retain(|quad| quad.predicate.as_str() != rpcg("format"));
        quads
    };
    let plain = told(graph(&bare, &["plain.log"]));
    assert_isomorphic(&told(graph(&bare, &BOTH)), &plain, "without times");
    bare.put("server.log", log("s", arrows));
    assert_isomorphic(&told(graph(&bare, &BOTH)), &plain, "two formats");
    let ran = bare.convert(&[&["-m", "bblock", "-t", "nquads"], &BOTH[..]].concat());
    ran.began(0, "11 records (json-lines, arrows): 6 requests");
}

/// An answer comes after its request, although the clocks of the two machines differ, or tell no more than seconds.
#[test]
fn clocks_that_differ() {
    let text = |place: &Place| graph(place, &BOTH).iter().map(ToString::to_string).collect::<Vec<_>>();
    let pairs =
        |lines: &[String]| lines.iter().filter(|line| line.contains("#respondsTo")).cloned().collect::<Vec<_>>();
    let expected = pairs(&text(&place(timed)));
    assert_eq!(expected.len(), 5);
    for late in [0, 20] {
        let place = place(|side, time, message| timed(side, if side == 'c' { time + late } else { time }, message));
        assert_eq!(pairs(&text(&place)), expected, "{late}");
    }
    let minute = place(|side, _, message| timed(side, 0, message));
    assert_eq!(pairs(&text(&minute)), expected);
    let midnight = place(|_, time, message| {
        let clock = if time < 5 { format!("23:59:5{time}") } else { format!("00:00:0{time}") };
        format!("[{clock}] rpc: {message}")
    });
    assert_eq!(pairs(&text(&midnight)), expected);
}

/// What answers nothing that is in the other log waits for a minute of it and not for all.
#[test]
fn answers_to_what_is_not_there() {
    let at = |time: &str, message: &str| format!("{{\"time\":\"2026-01-05T{time}Z\",\"rpc\":{message}}}\n");
    let place = Place::new();
    place.put(
        "client.log",
        ["10:00:30", "10:00:59", "10:01:00", "10:01:01"].map(|time| at(time, SESSION[2].2)).concat(),
    );
    place.put("server.log", at("10:00:00", SESSION[1].2) + &at("10:00:01", SESSION[4].2));
    let quads = graph(&place, &BOTH);
    let kinds = (1..=6).map(|record| values(&quads, &format!("#m{record}"), &rpcg("sentBy")).concat());
    let is_server: Vec<_> = kinds.map(|role| role.ends_with("Server>")).collect();
    assert_eq!(is_server, [false, false, false, true, true, false]);
}

/// Lines and bytes are those of the log of the side that sent a record, and lines of text have names of their own.
#[test]
fn where_things_stand() {
    let place = Place::with("client.log", format!("start\n>> {}\nend\n", SESSION[0].2));
    place.put("server.log", format!("start\n\n<< {}\n<< oops\n", SESSION[1].2));
    let arguments = ["-t", "nquads", "--base", BASE, "--log-lines", "--provenance"];
    let ran = place.convert(&[&arguments[..], &BOTH].concat());
    ran.began(0, "server.log:4: record 3 at byte ");
    let quads = ran.quads(RdfFormat::NQuads);
    let all = |property: &str| {
        let names = ["#m1", "#m2", "#m3", "#l1", "#l3", "#server-l1"];
        names.map(|name| values(&quads, name, &rpcg(property)).concat())
    };
    assert_eq!(all("line"), ["2", "3", "4", "1", "3", "1"]);
    assert_eq!(all("byteOffset"), ["9", "10", "50", "0", "56", "0"]);
    let (client, server) = (&format!("<{}>", rpcg("Client")), &format!("<{}>", rpcg("Server")));
    assert_eq!(all("sentBy").each_ref(), [client, server, server, client, client, server]);
    assert_eq!(values(&quads, "", &rpcg("source")), ["client.log + server.log"]);
    // The JSON-LD says the same.
    let document = place.convert(&[&["-t", "jsonld", "--quiet"], &arguments[2..], &BOTH[..]].concat());
    assert_isomorphic(&document.quads(RdfFormat::JsonLd { profile: Default::default() }), &quads, "JSON-LD");
}

#[test]
fn asked_and_refused() {
    let place = place(timed);
    let query = ["query", "--named", "unanswered", "--results", "csv", "--quiet"];
    let ran = place.run(&[&query[..], &BOTH].concat());
    assert!(ran.quietly().text().lines().count() == 2 && ran.text().contains("shutdown"), "{}", ran.text());
    let ran = place.run(&["convert", "--client-log", "client.log"]);
    assert!(ran.status == Some(2) && ran.stderr.contains("--server-log <FILE>"), "{}", ran.stderr);
    let ran = place.run(&[&["convert", "client.log"], &BOTH[..]].concat());
    assert!(ran.status == Some(2) && ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
    let ran = place.run(&["convert", "--client-log", "client.log", "--server-log", "client.log"]);
    ran.said(2, "error: --client-log and --server-log are the same: client.log\n");
    let ran = place.run(&[&["convert", "-o", "server.log"], &BOTH[..]].concat());
    assert!(ran.status == Some(2) && ran.stderr.contains("server.log"), "{}", ran.stderr);
    let whole = gzip(&place.read("server.log"));
    place.put("server.log", &whole[..whole.len() - 4]);
    let ran = place.convert(&[&["--quiet"], &BOTH[..]].concat());
    assert!(
        ran.status == Some(2) && ran.stderr.starts_with("error: server.log: gzip data ends early"),
        "{}",
        ran.stderr
    );
    let missing = place.run(&["convert", "--client-log", "client.log", "--server-log", "none"]);
    assert!(missing.status == Some(2) && missing.stderr.contains("cannot read none"), "{}", missing.stderr);
}

/// One timeline of both, in the order of their times.
#[test]
fn one_timeline_of_two_logs() {
    let place = place(timed);
    let ran = place.run(&[&["timeline", "-t", "jsonl", "--quiet"], &BOTH[..]].concat());
    let rows = ran.quietly().text().lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap());
    // Elements of batches are not records of their own.
    let rows = rows.filter(|row| !row["message"].as_str().unwrap().rsplit('#').next().unwrap().contains('.'));
    let rows: Vec<_> =
        rows.map(|row| (row["sender"].as_str() == Some("Client"), row["time"].as_str().unwrap().to_owned())).collect();
    let expected = SESSION.map(|(side, time, _)| (side == 'c', format!("2026-01-05T10:00:{time:02}Z")));
    assert_eq!(rows, expected);
}
