//! Logs of which the user says where the messages are.

use oxrdfio::RdfFormat;

use super::{BASE, Place, Ran, values};

/// Calls and answers without `jsonrpc`, which count because it is said where they are.
const ENVELOPES: &str = r#"{"ts":1767607200,"dir":"c2s","conn":"a","payload":{"id":1,"method":"add"}}
{"ts":1767607201,"dir":"s2c","conn":"a","payload":"{\"id\":1,\"result\":3}"}
{"level":"info"}
started
"#;

const LINES: &str = "2026-01-05T10:00:00Z [c2s] a {\"id\":1,\"method\":\"add\"}\nstarted {}\n2026-01-05T10:00:01Z [s2c] a \
                     {\"id\":1,\"result\":3} ok\n";

const POINTERS: &str = "message=/payload time=/ts sender=/dir session=/conn";
const REGEX: &str = r"^(?<time>\S+) \[(?<sender>\w+)\] (?<session>\w+) (?<message>.*)";

fn file(lines: &str) -> String {
    format!("name = 'own'\n{lines}\n")
}

/// Asserts that a call by the client and its answer were read, in a session of their own.
#[track_caller]
fn assert_read(ran: &Ran, lines: u64) {
    let read = format!("2 records (json-lines): 1 request, 1 response, {lines} log line");
    assert!(ran.status == Some(0) && ran.stderr.contains(&read), "{}", ran.stderr);
    let quads = ran.quads(RdfFormat::NQuads);
    let rpcg = |name: &str| super::rpcg(name);
    assert_eq!(values(&quads, "#m1", &rpcg("sentBy")), [format!("<{}>", rpcg("Client"))]);
    assert_eq!(values(&quads, "#m2", &rpcg("sentBy")), [format!("<{}>", rpcg("Server"))]);
    assert_eq!(values(&quads, "#m2", &rpcg("latencySeconds")), ["1"]);
    assert_eq!(values(&quads, "#m2", &rpcg("inSession")), [format!("<{BASE}#session-a>")]);
}

#[test]
fn places_on_the_command_line() {
    let place = Place::with("app.log", ENVELOPES);
    place.put("app.txt", LINES);
    let convert = |arguments: &[&str]| place.convert(&[&["-t", "nquads", "--base", BASE], arguments].concat());
    assert_read(&convert(&["app.log", "--envelope", POINTERS]), 2);
    assert_read(&convert(&["app.log", "--envelope", POINTERS, "-f", "json-lines"]), 2);
    assert_read(&convert(&["app.txt", "--line", REGEX]), 1);
    // All that read logs know them.
    let query = place.run(&["methods", "app.log", "--envelope", POINTERS, "-t", "csv", "--quiet"]);
    assert!(query.quietly().text().contains("\nadd,1,"), "{}", query.text());
    let register = place.run(&["capture", "app.txt", "--line", REGEX, "-o", "block"]);
    register.began(0, "0 examples and 1 test in block, of 2 records");
}

#[test]
fn files_that_describe_a_format() {
    let place = Place::with("app.log", ENVELOPES.replace("c2s", "app").replace("s2c", "tool"));
    place.put("app.txt", LINES.replace("c2s", "up").replace("s2c", "down"));
    let words = "client = ['app', 'up']\nserver = ['tool', 'down']";
    let pointers =
        "envelope = { message = ['/nothing', '/payload'], time = '/ts', sender = '/dir', session = '/conn' }";
    let sample = "sample = '{\"payload\":{\"method\":\"add\"}}'\ngives = { messages = 1, method = 'add' }";
    place.put("envelope.toml", file(&format!("{pointers}\n{words}\n{sample}")));
    place.put("line.toml", file(&format!("line = '{REGEX}'\n{words}")));
    let convert = |log, format| place.convert(&["-t", "nquads", "--base", BASE, log, "-f", format]);
    assert_read(&convert("app.log", "envelope.toml"), 2);
    assert_read(&convert("app.txt", "line.toml"), 1);
}

#[test]
fn unusable_layouts_are_refused() {
    let place = Place::with("log", ENVELOPES);
    for (arguments, expected) in [
        (&["--envelope", "message=payload"][..], "`payload` is not a JSON Pointer"),
        (&["--envelope", "time=/ts"], "the place of the message is missing: add message=/POINTER"),
        (&["--line", "("], "regex parse error"),
        (&["--line", "x"], "add a group (?<message>…)"),
        (&["--line", REGEX, "--envelope", POINTERS], "cannot be used with"),
        (&["--line", REGEX, "-f", "har"], "leave out --from"),
        (&["-f", "none.toml"], "it cannot be read: No such file"),
    ] {
        let ran = place.convert(&[&["log"], arguments].concat());
        assert!(ran.status == Some(2) && ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
    }
    let sample = "sample = '''\n{\"m\":{\"method\":\"a\"}}\n{\"n\":1}\n'''";
    for (lines, expected) in [
        ("", "own: say where the message is: by either `envelope` or `line`"),
        ("envelope = { message = '/m' }\nline = '(?<message>.*)'", "by either `envelope` or `line`"),
        ("envelope = { message = '/m' }\ncolour = 1", "unknown field `colour`"),
        ("envelope = { message = 1 }", "a JSON Pointer, or an array of them"),
        ("envelope = { time = '/t' }", "add message=/POINTER"),
        (
            &format!("envelope = {{ message = '/m' }}\n{sample}\ngives = {{ messages = 2 }}"),
            "own: the sample gives 1 message and not 2; line 2 was not read: `{\"n\":1}`",
        ),
        (
            &format!("envelope = {{ message = '/m' }}\n{sample}\ngives = {{ messages = 1, method = 'b' }}"),
            "the method of the sample's first message is `a` and not `b`",
        ),
        (&format!("envelope = {{ message = '/x' }}\n{sample}"), "the sample gives 0 messages and not 1; line 1 was"),
    ] {
        place.put("own.toml", file(lines));
        let ran = place.convert(&["log", "-f", "own.toml"]);
        assert!(ran.status == Some(2) && ran.stderr.contains(expected), "{lines}: {}", ran.stderr);
    }
}

/// The description in the documents.
#[test]
fn the_file_of_the_documents() {
    let readme = include_str!("../../../docs/formats.md");
    let (_, rest) = readme.split_once("```toml\n").expect("a file");
    let (file, _) = rest.split_once("```").expect("its end");
    let place = Place::with("log", "{\"dir\":\"app\",\"payload\":{\"id\":1,\"method\":\"add\"}}\n");
    place.put("own.toml", file);
    place.convert(&["log", "-f", "own.toml", "-o", "log.ttl"]).began(0, "1 record (json-lines): 1 request; ");
}

#[test]
fn logs_explained() {
    let place = Place::with("log", "// adds\n>> {\"id\":1,\"method\":\"add\"}\n<< {\"id\":1,\"result\":3}\n");
    let explained = place.run(&["detect", "log"]);
    let expected = "log: arrows\n\nrecord 1, line 2\n  time     -\n  sender   client\n  session  -\n  message  \
                    {\"id\":1,\"method\":\"add\"}\n\nrecord 2, line 3\n  time     -\n  sender   server\n  session  -\n  message  \
                    {\"id\":1,\"result\":3}\n\n2 records (arrows): 1 request, 1 response, 1 log line\n\n\
                    `--from arrows` says the same.\n";
    assert_eq!((explained.quietly().text(), explained.status), (expected, Some(0)));
    place.put("app.log", "started\nlistening\n");
    let unread = place.run(&["detect", "app.log"]);
    assert!(unread.status == Some(1) && unread.text().contains("; not read as JSON-RPC: 2\n"), "{}", unread.text());
    let envelopes = place.run_with(&["detect", "-", "--envelope", POINTERS], ENVELOPES);
    assert!(envelopes.quietly().text().contains("\n  sender   server\n  session  a\n"), "{}", envelopes.text());
}
