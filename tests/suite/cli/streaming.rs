//! Streams: what is known goes out before more is waited for, and a reader may leave.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use oxrdfio::RdfFormat;

use super::{BASE, LOG, Place, REQUEST, RESPONSE, rpcg, values};

/// Long enough for a slow machine; a run that works takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// A run whose input is written bit by bit.
pub(super) struct Live {
    pub child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Vec<u8>>,
    seen: Vec<u8>,
}

impl Live {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        Self::run(place, &[&["convert", "--quiet"], arguments].concat())
    }

    pub fn run(place: &Place, arguments: &[&str]) -> Self {
        let mut child = place.command(arguments).spawn().expect("a run");
        let mut pipe = child.stdout.take().expect("a pipe");
        let (sender, output) = mpsc::channel();
        thread::spawn(move || {
            let mut buffer = [0; 1 << 16];
            while let Ok(read @ 1..) = pipe.read(&mut buffer)
                && sender.send(buffer[..read].to_vec()).is_ok()
            {}
        });
        let input = child.stdin.take();
        Self { child, input, output, seen: Vec::new() }
    }

    pub fn write(&mut self, bytes: &str) {
        let input = self.input.as_mut().expect("an open input");
        input.write_all(bytes.as_bytes()).and_then(|()| input.flush()).expect("somebody reads");
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    /// Waits for a text in the output.
    pub fn shows(&mut self, text: &str) -> bool {
        while !self.text().contains(text) {
            match self.output.recv_timeout(PATIENCE) {
                Ok(bytes) => self.seen.extend(bytes),
                Err(_) => return false,
            }
        }
        true
    }

    /// Closes the input and gives all of the output.
    pub fn end(mut self) -> String {
        drop(self.input.take());
        self.seen.extend(self.output.iter().flatten());
        assert!(self.child.wait().expect("an end").success());
        self.text()
    }

    /// Presses Ctrl-C, and returns standard output and standard error.
    #[cfg(unix)]
    pub fn interrupted(mut self) -> (String, String) {
        let pid = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
        self.seen.extend(self.output.iter().flatten());
        let mut said = String::new();
        self.child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        assert_eq!(self.child.wait().expect("an end").code(), Some(0), "{said}");
        (self.text(), said)
    }
}

#[test]
fn triples_go_out_before_the_input_ends() {
    let place = Place::new();
    for syntax in ["turtle", "trig", "ntriples", "nquads", "jsonld", "jsonld-lines", "rdfxml"] {
        let mut live = Live::start(&place, &["-f", "json-lines", "-t", syntax]);
        live.write(&format!("{REQUEST}\n"));
        assert!(live.shows("#m1"), "{syntax}: nothing of the first record in {}", live.text());
        live.write(&format!("{RESPONSE}\n"));
        assert!(live.shows("#m2"), "{syntax}: nothing of the second record in {}", live.text());
        let source = "\"stdin\"";
        assert!(!live.text().contains(source), "{syntax}: the session before its end");
        let whole = live.end();
        assert!(whole.contains(source) || whole.contains(">stdin<"), "{syntax}");
    }
}

/// Also where the format is to be found out: one whole line is enough to know it by.
#[test]
fn triples_go_out_while_the_format_is_detected() {
    let place = Place::new();
    let mut live = Live::start(&place, &[]);
    live.write(&format!("{REQUEST}\n"));
    let shown = live.shows("#m1");
    live.end();
    assert!(shown, "the first record is whole, but nothing of it was written before the input ended");
}

/// A line is a record as soon as it ends, in however many pieces it came.
#[test]
fn a_line_in_two_pieces_is_not_held_back() {
    let place = Place::new();
    let mut live = Live::start(&place, &["-f", "json-lines"]);
    let (start, end) = REQUEST.split_at(REQUEST.len() - 5);
    live.write(start);
    thread::sleep(Duration::from_millis(200));
    live.write(&format!("{end}\n"));
    let shown = live.shows("#m1");
    live.end();
    assert!(shown, "the record is whole, but nothing of it was written before the input ended");
}

#[test]
fn the_session_closes_the_output() {
    let place = Place::with("log", LOG);
    let ran = place.convert(&["log", "--base", "https://example.org/s"]);
    let last = ran.text().split("\n\n").last().expect("a block");
    let session =
        "<> a rpcg:Session ;\n\trpcg:source \"log\" ;\n\trpcg:format \"json-lines\" ;\n\trpcg:recordCount 5 .\n";
    assert_eq!(last, session);
}

/// Returns the peak memory in KiB of a conversion of `sessions` sessions, one notification each.
#[cfg(target_os = "linux")]
fn peak(place: &Place, sessions: u32) -> u64 {
    let mut log = std::io::BufWriter::new(std::fs::File::create(place.path("log")).expect("a file"));
    for session in 0..sessions {
        let message = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
        writeln!(
            log,
            r#"{{"session_id":"{session:032x}","seq":1,"ts":"2026-01-05T10:00:00Z","direction":"s2c","raw":{message}}}"#
        )
        .expect("a line");
    }
    log.flush().expect("a log");
    let mut child = place.command(&["convert", "--quiet", "-t", "nquads", "log"]).spawn().expect("a run");
    let mut output = child.stdout.take().expect("a pipe");
    let (mut peak, mut buffer, mut ends) = (0, vec![0; 1 << 16], 0);
    while let Ok(read @ 1..) = output.read(&mut buffer) {
        ends += buffer[..read].windows(12).filter(|window| window == b"recordCount>").count();
        // The run waits for its reader, so this is not too late.
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let most =
            status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        peak = most.unwrap_or(peak);
    }
    assert!(child.wait().expect("an end").success());
    // One may be cut by the end of a piece.
    assert!(ends + ends / 100 >= sessions as usize, "{ends} of {sessions} sessions ended");
    peak
}

#[cfg(target_os = "linux")]
#[test]
fn memory_grows_little_with_sessions() {
    let place = Place::new();
    let (few, many) = (peak(&place, 10_000), peak(&place, 50_000));
    let bytes = (many - few) * 1024 / 40_000;
    // The key has 32 bytes and what stands around them, and tables grow by doubling.
    assert!(bytes < 260, "{bytes} bytes for each session: {few} KiB for 10,000, {many} KiB for 50,000");
}

/// One finding where it begins to matter, and the count in the end.
#[test]
fn open_requests_of_idle_sessions_are_given_up() {
    let line = |session: u32| {
        format!(r#"{{"session_id":"{session}","direction":"c2s","raw":{{"jsonrpc":"2.0","id":1,"method":"m"}}}}"#)
            + "\n"
    };
    let log: String = (0..8_193).map(line).collect();
    let place = Place::with("log", &log);
    let ran = place.convert(&["-f", "mcpsnoop", "-t", "ntriples", "log"]);
    let findings: Vec<_> = ran.stderr.lines().filter(|line| line.contains("were dropped")).collect();
    assert!(matches!(findings[..], [finding] if finding.starts_with("log:8193: record 8193")), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("\ngiven up: the open requests of 4096 sessions that had been idle\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_reader_may_leave() {
    let place = Place::new();
    let long = "x".repeat(4_000);
    place.put("log", format!("{{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[\"{long}\"]}}\n").repeat(100));
    for arguments in [
        &["convert", "log", "-t", "turtle"][..],
        &["convert", "log", "-t", "nquads"],
        &["convert", "log", "-t", "jsonld"],
        &["convert", "log", "-t", "jsonld-lines"],
        &["convert", "log", "-t", "rdfxml"],
        &["convert", "log", "-m", "bblock"],
        &["convert", "log", "-t", "nquads", "-o", "/dev/stdout"],
    ] {
        let mut child = place.command(arguments).spawn().expect("a run");
        let mut output = child.stdout.take().expect("a pipe");
        output.read_exact(&mut [0; 10]).expect("some output");
        drop(output);
        let ended = child.wait_with_output().expect("an end");
        assert_eq!(
            (ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_reader_that_never_came() {
    let place = Place::with("log", LOG);
    for arguments in [
        &["convert", "log"][..],
        &["vocab", "context"],
        &["vocab", "rpcgraph"],
        &["formats"],
        &["man"],
        &["completions", "zsh"],
    ] {
        let mut child = place.command(arguments).spawn().expect("a run");
        drop(child.stdout.take());
        let ended = child.wait_with_output().expect("an end");
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(!stderr.contains("error") && !stderr.contains("panicked"), "{arguments:?}: {stderr}");
        assert_eq!(ended.status.code(), Some(0), "{arguments:?}");
    }
}

/// Lines in front of a long batch stand in its session, as lines in front of a message do.
#[test]
fn lines_before_a_long_batch() {
    let batch = vec!["{\"method\":\"m\",\"jsonrpc\":\"2.0\"}"; 1000].join(",");
    let log = format!(
        "2025-03-12T17:53:14.600Z [info] Attempting to connect\n\
         2025-03-12T17:53:14.656Z [info] [a] Message from client: [{batch}]\n\
         2025-03-12T17:53:15.500Z [info] [a] Server transport closed\n"
    );
    let ran = Place::with("log", log).convert(&["log", "--base", BASE, "--quiet", "-t", "nquads", "--log-lines"]);
    let quads = ran.quietly().quads(RdfFormat::NQuads);
    for (line, after) in [("#l1", None), ("#l3", Some(format!("<{BASE}#m1>")))] {
        assert_eq!(values(&quads, line, &rpcg("inSession")), [format!("<{BASE}#session-a>")]);
        assert_eq!(values(&quads, line, &rpcg("after")), Vec::from_iter(after));
    }
    assert_eq!(values(&quads, "", &rpcg("recordCount")), [""; 0]);
}
