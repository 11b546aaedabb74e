//! Formats that are learned: `tests/learned` holds logs of programs that no file describes, each with its entries in a file
//! `.entries` beside it, as in `tests/formats`.

use std::io::{Read, Write as _};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use rpcgraph::Log;
use rpcgraph::record::{Entry, Follow, OwnFormat, Reader, ReaderOptions, Record, Sender};

use crate::renderings::Pieces;
use crate::support::{corpora, files, own, shown};

/// Returns the entries, and the file that describes the format if it was learned.
fn read(log: impl Read + Send, options: &ReaderOptions) -> (Vec<Entry<'static>>, Option<String>) {
    let mut reader = Reader::new(log, options).unwrap();
    let entries = std::iter::from_fn(|| reader.next_entry().unwrap()).collect();
    (entries, reader.learned().map(str::to_owned))
}

/// Reads a log by itself and by the file that was learned from it. Returns the entries if there is one.
fn read_twice(path: &Path) -> Option<Vec<Entry<'static>>> {
    let log = std::fs::read(path).unwrap();
    let (found, learned) = read(&log[..], &ReaderOptions::default());
    let learned = learned?;
    let own_format =
        OwnFormat::described(&learned).unwrap_or_else(|error| panic!("{}: {error}\n{learned}", path.display()));
    let (again, _) = read(&log[..], &ReaderOptions::default().with_own_format(own_format));
    assert_eq!(again, found, "{}\n{learned}", path.display());
    Some(found)
}

#[test]
fn logs_of_unknown_programs() {
    let logs: Vec<_> = ["log", "jsonl"].iter().flat_map(|ending| files(&own("tests/learned"), ending)).collect();
    assert!(logs.len() > 10);
    for path in logs {
        let found = read_twice(&path).unwrap_or_else(|| panic!("{}: nothing was learned", path.display()));
        let text: String = found.iter().map(|entry| shown(entry) + "\n").collect();
        let expected = path.with_extension("entries");
        if std::env::var_os("RPCGRAPH_BLESS").is_some() {
            std::fs::write(&expected, &text).unwrap();
        }
        assert_eq!(text, std::fs::read_to_string(expected).unwrap_or_default(), "{}", path.display());
        let log = std::fs::read(&path).unwrap();
        for size in [1, 61] {
            assert_eq!(read(Pieces(&log, size), &ReaderOptions::default()).0, found, "{} in pieces", path.display());
        }
    }
}

/// A learned format that is printed and read back reads the same, for each log with one.
#[test]
fn learned_formats_are_read_back() {
    let mut folders = vec![own("tests/formats"), own("tests/logs"), own("tests/cases"), own("examples")];
    folders.extend(corpora().map(|corpora| corpora.join("public-logs")));
    let mut all = folders;
    let mut count = 0;
    while let Some(folder) = all.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.extension().and_then(|ending| ending.to_str()) {
                _ if entry.is_dir() => all.push(entry),
                Some("log" | "jsonl" | "ndjson" | "txt" | "md") => {
                    let is_read = Reader::new(&std::fs::read(&entry).unwrap()[..], &ReaderOptions::default()).is_ok();
                    count += usize::from(is_read && read_twice(&entry).is_some());
                }
                _ => {}
            }
        }
    }
    assert!(count > 0);
}

/// A log that grows line by line, without a pause, is not held back until there is enough to learn from.
#[test]
fn a_live_log_is_read_as_it_comes() {
    let (pipe, mut log) = std::io::pipe().unwrap();
    let (found, wait) = mpsc::channel();
    thread::spawn(move || {
        let mut reader = Reader::new(Follow::pipe(pipe, Arc::default()).unwrap(), &ReaderOptions::default()).unwrap();
        while let Some(entry) = reader.next_entry().unwrap() {
            found.send(shown(&entry)).unwrap();
        }
    });
    for number in 0..1000 {
        writeln!(log, r#"{{"jsonrpc":"2.0","method":"m{number}"}}"#).unwrap();
        if let Ok(first) = wait.recv_timeout(Duration::from_millis(50)) {
            assert!(first.contains("m0"), "{first}");
            return;
        }
    }
    panic!("nothing was read");
}

/// Messages in a place that the beginning of a log does not show are learned where they come first.
#[test]
fn places_of_later_lines_are_learned() {
    let text = "2026-01-05T10:00:00Z worker is idle\n".repeat(2_000);
    let messages = |first: &str| -> String {
        let call = |id: usize| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"a\"}}");
        (0..40).map(|id| format!("{first}{}\n", call(id))).collect()
    };
    let prefixed = messages("2026-01-05T10:00:00Z recv ");
    for log in [
        format!("{text}{prefixed}"),
        format!("{}{prefixed}{}", messages("").repeat(60), messages("")),
        format!("{prefixed}{text}{}", messages("conn 1 ==> ")),
    ] {
        let (found, learned) = read(log.as_bytes(), &ReaderOptions::default());
        let count = |entries: &[Entry<'_>]| {
            let is_call = |entry: &&Entry<'_>| matches!(entry, Entry::Record(record) if record.bytes.starts_with(b"{\"jsonrpc\":\"2.0\",\"id\""));
            entries.iter().filter(is_call).count()
        };
        assert_eq!(count(&found), log.matches("jsonrpc").count());
        let learned = OwnFormat::described(&learned.unwrap()).unwrap();
        let (again, _) = read(log.as_bytes(), &ReaderOptions::default().with_own_format(learned));
        assert_eq!(count(&again), count(&found));
        assert_eq!(read(Pieces(log.as_bytes(), 61), &ReaderOptions::default()).0, found);
    }
}

/// A log whose second logger copies all messages may have its first notification anywhere.
#[test]
fn copies_of_a_kind_that_comes_late() {
    let both = |name: &str, id: &str, json: &str, record: &str| {
        format!("INFO codec - Received JSON: {{{id}{json}}}\nINFO session - Received {name}: {record}\n")
    };
    let answer = |id: usize| {
        let record = format!("RpcResponse[jsonrpc=2.0, id=a1b2-{id}, result={{}}, error=null]");
        both("Response", &format!(r#""jsonrpc":"2.0","id":"a1b2-{id}","#), r#""result":{}"#, &record)
    };
    let answers: String = (0..600).map(answer).collect();
    let record = "RpcNotification[jsonrpc=2.0, method=notifications/tools/list_changed, params=null]";
    let json = r#""method":"notifications/tools/list_changed""#;
    let log = answers + &both("notification", r#""jsonrpc":"2.0","#, json, record) + &answer(600);
    let (found, _) = read(log.as_bytes(), &ReaderOptions::default());
    let messages = found.iter().filter(|entry| matches!(entry, Entry::Record(_)));
    assert_eq!(messages.count(), log.matches("JSON").count());
}

/// One line of several with text behind its message is damaged.
#[test]
fn a_line_with_text_behind_its_message() {
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#;
    for (log, is_learned) in [
        (format!("{message}}}\n{message}\n{message}\n"), false),
        (format!("{message},\n{message}\n"), true),
        (format!("{message},\n{message},\n{message}\n"), true),
    ] {
        let (found, learned) = read(log.as_bytes(), &ReaderOptions::default());
        assert_eq!((found.len(), learned.is_some()), (log.lines().count(), is_learned), "{log}");
    }
}

/// Lines that no rule explains, each in a form of its own, do not keep the others from being read.
#[test]
fn lines_of_many_forms() {
    let line = |number: usize| {
        let (call, answer) = (format!(r#""id":{number},"method":"a""#), format!(r#""id":{number},"result":1"#));
        let quoted = format!(r#"{} {{"jsonrpc":"2.0","id":"q{number}","method":"a"}}"#, "- x ".repeat(number));
        format!("send {{\"jsonrpc\":\"2.0\",{call}}}\nrecv {{\"jsonrpc\":\"2.0\",{answer}}}\n{quoted}\n")
    };
    let log: String = (1..80).map(line).collect();
    let (found, learned) = read(log.as_bytes(), &ReaderOptions::default());
    let is_of = |entry: &&Entry<'_>, id: &[u8]| matches!(entry, Entry::Record(record) if record.bytes.starts_with(id));
    let count = |id: &[u8]| found.iter().filter(|entry| is_of(entry, id)).count();
    assert!(learned.is_some());
    for id in 1..80 {
        assert_eq!(count(format!(r#"{{"jsonrpc":"2.0","id":{id},"#).as_bytes()), 2, "{id}");
    }
}

/// A long log that begins with its newest line, whose beginning ends within a line.
#[test]
fn a_long_log_with_the_newest_line_first() {
    let pair = |n: usize| {
        let (minute, second) = (n / 60, n % 60);
        let line = |part: &str, sender, message: String| {
            format!(
                r#"{{"time":"2026-03-01T10:{minute:02}:{second:02}.{part}Z","sender":"{sender}","message":{{"jsonrpc":"2.0","id":{n},{message}}}}}"#
            )
        };
        let ping = line("000", "client", r#""method":"ping""#.to_owned());
        line("100", "server", r#""result":{}"#.to_owned()) + "\n" + &ping + "\n"
    };
    let log: String = (0..500).rev().map(pair).collect();
    assert!(log.len() > 64 << 10);
    let messages = Log::read("log", std::io::Cursor::new(log.into_bytes())).messages().map(Result::unwrap);
    let answered = messages.filter(|message| message.responds_to.is_some() && message.latency.is_some());
    assert_eq!(answered.count(), 500);
}

/// Times without a date give latencies. They begin anew with the program, and times since the line before are others.
#[test]
fn times_since_the_beginning_of_a_log() {
    for (name, expected) in [
        ("since-start.log", &["0.1005", "11.75", "0.189", "0.25"][..]),
        ("since-start-member.jsonl", &["0.1005", "11.75"]),
        ("since-last-line.log", &[]),
    ] {
        let log = std::fs::File::open(own("tests/learned").join(name)).unwrap();
        let messages = Log::read(name, log).messages().map(Result::unwrap);
        let found: Vec<_> = messages.filter_map(|message| Some(message.latency?.as_secs_f64().to_string())).collect();
        assert_eq!(found, expected, "{name}");
    }
}

/// The sender, or the direction, of each message.
fn sides(log: &str) -> Vec<Option<String>> {
    let side = |record: &Record<'_>| match (record.sender, record.direction) {
        (None, None) => None,
        (sender, direction) => Some(format!("{sender:?} {direction:?}")),
    };
    let messages = |entry: &Entry<'_>| if let Entry::Record(record) = entry { Some(side(record)) } else { None };
    read(log.as_bytes(), &ReaderOptions::default()).0.iter().filter_map(messages).collect()
}

fn call(id: u8, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#)
}

fn answer(id: u8) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

/// Two values of a word or member are the two sides, whatever they are, if one value asks what the other answers.
#[test]
fn two_values_state_the_sender() {
    let envelope = |members: &str| format!("{{{members},\"payload\":*}}");
    let (c, s) = ("Some(Client) None", "Some(Server) None");
    let (out, into) = ("None Some(Out)", "None Some(In)");
    for (one, other, sides_of_both) in [
        ("client: *".to_owned(), "server: *".to_owned(), [c, s]),
        ("client sent: *".to_owned(), "server sent: *".to_owned(), [c, s]),
        ("client=>*".to_owned(), "server=>*".to_owned(), [c, s]),
        ("[IDE] *".to_owned(), "[LS] *".to_owned(), [out, into]),
        ("2026-01-05 10:00:00 stdin: *".to_owned(), "2026-01-05 10:00:01 stdout: *".to_owned(), [out, into]),
        ("rx *".to_owned(), "tx *".to_owned(), [into, out]),
        ("editor> *".to_owned(), "agent> *".to_owned(), [out, into]),
        ("editor -> server *".to_owned(), "server -> editor *".to_owned(), [c, s]),
        ("editor <- server *".to_owned(), "server <- editor *".to_owned(), [s, c]),
        (envelope(r#""role":"client""#), envelope(r#""role":"server""#), [c, s]),
        ("dest=server *".to_owned(), "dest=client *".to_owned(), [c, s]),
        (envelope(r#""dst":"server""#), envelope(r#""dst":"client""#), [c, s]),
        (envelope(r#""recipient":"server""#), envelope(r#""recipient":"client""#), [c, s]),
        // The sender or the receiver.
        (envelope(r#""peer":"server""#), envelope(r#""peer":"client""#), [out, into]),
        (envelope(r#""kind":"received""#), envelope(r#""kind":"sent""#), [into, out]),
        (envelope(r#""outgoing":true"#), envelope(r#""outgoing":false"#), [out, into]),
    ] {
        let messages = [call(1, "a"), answer(1), call(2, "b"), call(2, "c"), answer(2), answer(2)];
        let senders = [0, 1, 0, 1, 1, 0];
        let line = |(message, sender): (&String, usize)| [&one, &other][sender].replace('*', message) + "\n";
        let log: String = messages.iter().zip(senders).map(line).collect();
        let expected: Vec<_> = senders.iter().map(|sender| Some(sides_of_both[*sender].to_owned())).collect();
        assert_eq!(sides(&log), expected, "{log}");
    }
}

/// Each end of a connection may have a writer of its own in the wrapper around the lines.
#[test]
fn two_writers_are_the_two_sides() {
    let (out, into) = ("None Some(Out)", "None Some(In)");
    for (one, other) in
        [("client-1  | ", "server-1  | "), ("Jan 05 10:00:00 h client[1]: ", "Jan 05 10:00:00 h server[2]: ")]
    {
        let messages = [call(1, "a"), answer(1), call(2, "b"), call(2, "c"), answer(2), answer(2)];
        let writers = [one, other, one, other, other, one];
        let log: String =
            writers.iter().zip(&messages).map(|(writer, message)| format!("{writer}{message}\n")).collect();
        let expected = writers.map(|writer| Some(if writer == one { out } else { into }.to_owned()));
        assert_eq!(sides(&log), expected, "{log}");
    }
}

/// Two values are not the sides if a value answers itself, names the kinds of messages, or contradicts a published method.
#[test]
fn two_values_of_other_kinds() {
    let (start, both) = ([call(1, "a"), answer(1)], [call(2, "b"), call(2, "c"), answer(2), answer(2)]);
    let log = |lines: &[(&str, &String)]| -> String {
        lines.iter().map(|(word, message)| format!("{word} {message}\n")).collect()
    };
    for (log, is_known) in [
        // Connections.
        (log(&[("A", &start[0]), ("A", &start[1]), ("B", &both[0]), ("B", &both[2])]), false),
        (log(&[("client", &start[0]), ("client", &start[1]), ("server", &both[0]), ("server", &both[2])]), false),
        // Two programs that write what they send and receive.
        (log(&[("client", &start[0]), ("server", &start[0]), ("server", &start[1]), ("client", &start[1])]), false),
        // Kinds and levels.
        (
            log(&[("req", &start[0]), ("rsp", &start[1]), ("req", &both[0]), ("req", &both[1]), ("rsp", &both[2])]),
            false,
        ),
        (log(&[("DEBUG", &start[0]), ("INFO", &start[1]), ("INFO", &both[0]), ("DEBUG", &both[2])]), false),
        // One exchange.
        (log(&[("IDE", &start[0]), ("LS", &start[1])]), false),
        (log(&[("client", &start[0]), ("server", &start[1])]), true),
        // Two connections use each id at the same time.
        (log(&[("in", &start[0]), ("in", &both[0]), ("in", &start[0]), ("out", &start[1]), ("out", &start[1])]), true),
    ] {
        assert_eq!(sides(&log).iter().any(Option::is_some), is_known, "{log}");
    }
    let log = log(&[("server", &call(1, "initialize")), ("client", &answer(1))]);
    assert_eq!(sides(&log), [Some("None Some(Out)".to_owned()), Some("None Some(In)".to_owned())]);
}

/// A line above a message states its sender if the exchanges and published methods allow it. It holds for one message.
#[test]
fn words_above_messages() {
    let (started, idle) = ("2026-01-05 10:00:00 INFO Server started", "2026-01-05 10:00:01 INFO Server idle");
    let log = |lines: &[&str]| lines.join("\n") + "\n";
    for log in [
        log(&[started, &call(1, "a"), idle, &answer(1)]),
        log(&[started, &call(1, "initialize"), idle, &call(2, "tools/list")]),
        log(&[started, &call(1, "a"), &answer(1)]),
        log(&[started, &call(1, "a")]),
    ] {
        assert!(sides(&log).iter().all(Option::is_none), "{log}");
    }
    let (out, into) = (Some("None Some(Out)".to_owned()), Some("None Some(In)".to_owned()));
    let below = [call(1, "a"), answer(1), call(2, "b"), call(3, "c")];
    let labelled = |word: &str, message: &str| format!("[10:00:00.000] DEBUG: {word}\n    payload: {message}");
    let labelled_log = log(&[&labelled("recv", &below[0]), &labelled("send", &below[1]), &labelled("recv", &below[2])]);
    assert_eq!(sides(&labelled_log), [into.clone(), out.clone(), into.clone()], "{labelled_log}");
    let log = log(&["received:", &below[0], "sent:", &below[1], "received:", &below[2], "idle now", &below[3]]);
    assert_eq!(sides(&log), [into.clone(), out, into, None], "{log}");
}

/// Two connections use one id at the same time. Each message has the name of its connection behind it, after another word in
/// each direction, in an object beside it, or in the line above.
#[test]
fn what_names_a_connection() {
    for [asks, answers] in [
        ["recv * from host-#", "send * to host-#"],
        [r#"{"conn":{"id":4#},"dir":"in","payload":*}"#, r#"{"conn":{"id":4#},"dir":"out","payload":*}"#],
        ["recv on connection #:\n*", "send on connection #:\n*"],
        ["client# *", "server# *"],
        ["[client-1#] *", "[server-1#] *"],
    ] {
        let line = |form: &str, message: String, name: &str| form.replace('*', &message).replace('#', name) + "\n";
        let both =
            |form: &str, message: fn(&str) -> String| ["5", "6"].map(|name| line(form, message(name), name)).concat();
        let log = both(asks, |name| call(1, &format!("m{name}"))) + &both(answers, |_| answer(1));
        let sessions = sessions(&log);
        assert!(sessions[0].is_some() && sessions[0] != sessions[1] && sessions[..2] == sessions[2..], "{log}");
    }
}

/// The session of each message.
fn sessions(log: &str) -> Vec<Option<String>> {
    let session = |entry| if let Entry::Record(Record { session, .. }) = entry { Some(session) } else { None };
    let found = read(log.as_bytes(), &ReaderOptions::default()).0.into_iter().filter_map(session);
    found.map(|key| key.map(Into::into)).collect()
}

/// A word that names the sender is not a connection: an answer in one session would have its request in another, or below.
#[test]
fn names_of_senders_are_no_connections() {
    let line = |word: &str, message: String| format!("[{word}] {message}\n");
    let log = [("p2", call(1, "a")), ("p3", call(1, "b")), ("p0", answer(1)), ("p0", call(1, "c")), ("p3", answer(1))]
        .map(|(word, message)| line(word, message))
        .concat();
    assert_eq!(sessions(&log), vec![None; 5], "{log}");
}

/// A proxy receives requests in one connection and passes them on in another.
#[test]
fn hops_of_a_proxy() {
    let hop = |id: u8| {
        let line = |form: &str, message: String| form.replace('*', &message) + "\n";
        line("[client] <- *", call(id, "a"))
            + &line("[upstream] -> *", call(id + 100, "a"))
            + &line("[upstream] <- *", answer(id + 100))
            + &line("[client] -> *", answer(id))
    };
    let log = hop(1) + &hop(2);
    let messages = Log::read("log", std::io::Cursor::new(log.into_bytes())).messages().map(Result::unwrap);
    let found: Vec<_> = messages.map(|message| (message.session, message.sender.unwrap())).collect();
    assert!(found[0].0 != found[1].0 && found[1].0 == found[2].0 && found[0].0 == found[3].0, "{found:?}");
    // A request that only servers send is not one that a proxy passes on for a client.
    let own =
        |id: u8| hop(id).replace(&call(id + 100, "a"), &call(id + 100, "roots/list")).replace("\"a\"", "\"ping\"");
    assert_eq!(sessions(&(own(1) + &own(2))), vec![None; 8]);
    let senders = [Sender::Client, Sender::Client, Sender::Server, Sender::Server];
    assert!(found.iter().zip(senders.iter().cycle()).all(|((_, own), expected)| own == expected), "{found:?}");
}

/// An object beside a message names its connection, however deep its `id` or `name` is.
#[test]
fn connections_in_objects() {
    for form in [r#"{"conn":{"id":"%"},"msg":*}"#, r#"{"ctx":{"net":{"session":{"name":"%"}}},"msg":*}"#] {
        let line = |name: &str, message: String| form.replace('*', &message).replace('%', name) + "\n";
        let one = |name: &str| line(name, call(1, "a")) + &line(name, answer(1));
        let key = |name: &str| Some(name.to_owned());
        assert_eq!(sessions(&(one("x") + &one("y"))), [key("x"), key("x"), key("y"), key("y")], "{form}");
    }
}

/// Durations with a blank before their unit, and times in minutes and seconds.
#[test]
fn latencies_of_other_spellings() {
    for (ask, answers) in [
        ("-> *", ["<- (1500 ms) *", "<- (2 s) *"]),
        ("-> *", ["<- * (1500 ms)", "<- * (2 s)"]),
        ("send: *", ["recv (took 1500 ms): *", "recv (took 2 s): *"]),
        ("[5%:01.100] -> *", ["[5%:02.600] <- *", "[5%:03.100] <- *"]),
    ] {
        let pair = |id: u8| {
            let form = |form: &str, message: String| form.replace('%', &id.to_string()).replace('*', &message) + "\n";
            form(ask, call(id, "a")) + &form(answers[usize::from(id)], answer(id))
        };
        let log = pair(0) + &pair(1);
        assert_eq!(latencies(&log), [1.5, 2.0], "{log}");
    }
}

fn latencies(log: &str) -> Vec<f64> {
    let messages = Log::read("log", std::io::Cursor::new(log.as_bytes().to_vec())).messages().map(Result::unwrap);
    messages.filter_map(|message| Some(message.latency?.as_secs_f64())).collect()
}

/// A number without a unit is a duration in the unit that the times of the exchanges show. Times contradict wrong units.
#[test]
fn units_that_times_show() {
    for (name, values, expected) in [
        ("response_time", ["1480", "210"], [1.48, 0.21]),
        ("latency", ["1.48", "0.21"], [1.48, 0.21]),
        ("took", ["1480000", "210000"], [1.48, 0.21]),
        ("elapsed", ["1480", "210"], [1.48, 0.21]),
        ("latency", ["20", "30"], [1.5, 0.22]),
        ("duration_ms", ["1480", "210"], [1.48, 0.21]),
        ("duration_s", ["1480", "210"], [1.5, 0.22]),
    ] {
        let pair = |id: u8, took: &str, end: &str| {
            let (asked, answered) = (call(id, "a"), answer(id));
            format!("{{\"ts\":\"2026-03-09T14:0{id}:00.000Z\",\"rpc\":{asked}}}\n")
                + &format!("{{\"ts\":\"2026-03-09T14:0{id}:0{end}Z\",\"{name}\":{took},\"rpc\":{answered}}}\n")
        };
        let log = pair(1, values[0], "1.500") + &pair(2, values[1], "0.220");
        assert_eq!(latencies(&log), expected, "{log}");
    }
}

/// A record of a request and its answer has one time, which confirms no unit: the name or the text states the unit, or the
/// learned format says that it is unknown.
#[test]
fn units_in_records_of_exchanges() {
    for (member, expected) in [
        ("\"response_time\":12", None),
        ("\"response_time\":\"12.123\"", None),
        ("\"request_time\":12", None),
        ("\"request_time\":\"0.012\"", Some(0.012)),
        ("\"upstream_response_time\":0.012", Some(0.012)),
        ("\"responseTime\":\"12ms\"", Some(0.012)),
    ] {
        let record = |id: u8| {
            let (asked, answered) = (call(id, "a"), answer(id));
            format!("{{\"ts\":\"2026-03-09T14:0{id}:00.000Z\",{member},\"call\":{asked},\"reply\":{answered}}}\n")
        };
        let log = record(1) + &record(2);
        assert_eq!(latencies(&log), expected.map_or(vec![], |seconds| vec![seconds; 2]), "{log}");
        let (_, learned) = read(log.as_bytes(), &ReaderOptions::default());
        assert_eq!(learned.unwrap().contains("unit is unknown"), expected.is_none(), "{log}");
    }
}

/// Logs of Dart's analysis server, of its clients and of Flutter's daemon, whose messages lack a version. An answer without a
/// result has an id alone.
#[test]
fn logs_of_dart() {
    let (out, into) = ("None Some(Out)", "None Some(In)");
    let (asked, bare, answered) =
        (r#"{"id":"1","method":"device.enable"}"#, r#"{"id":"1"}"#, r#"{"id":"1","result":null}"#);
    let pid = r#"{"event":"daemon.connected","params":{"pid":3}}"#;
    for (lines, expected) in [
        (
            [
                format!("[10:00:00 AM] [Analyzer] [Info] ==> {asked}"),
                format!("[10:00:00 AM] [Analyzer] [Info] <== {bare}"),
            ],
            [out, into],
        ),
        ([format!("[  +31 ms] <== [{asked}]"), format!("[ +104 ms] ==> [{bare}]")], [into, out]),
        (
            [
                format!("2026-01-05 10:00:00,150 [   1284]  INFO - FlutterDaemon - --> [{asked}]"),
                format!("2026-01-05 10:00:00,250 [   1384]  INFO - FlutterDaemon - <-- [{answered}]"),
            ],
            [out, into],
        ),
    ] {
        // A second exchange, behind an event that is not JSON-RPC.
        let [request, answer] = &lines;
        let other = |line: &str| line.replace(bare, answered).replace("\"1\"", "\"2\"");
        let event = answer.replace(bare, pid).replace(answered, pid);
        let log = [request, answer, &event, &other(request), &other(answer)].map(|line| format!("{line}\n")).concat();
        let expected: Vec<_> = expected.iter().chain(&expected).map(|side| Some((*side).to_owned())).collect();
        assert_eq!(sides(&log), expected, "{log}");
        let paired = Log::read("log", std::io::Cursor::new(log.into_bytes())).messages().map(Result::unwrap);
        assert_eq!(paired.filter(|message| message.responds_to.is_some()).count(), 2);
    }
    // The protocol tells requests of the client from requests of the server, where words name the kinds only.
    let log = [
        r#"1699000000010:Req:{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
        r#"1699000000110:Res:{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"1699000000130:Res:{"jsonrpc":"2.0","id":1,"method":"workspace/configuration"}"#,
        r#"1699000000150:Req:{"jsonrpc":"2.0","id":1,"result":[]}"#,
        r#"1699000000160:Noti:{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics"}"#,
    ];
    let senders = Log::read("log", std::io::Cursor::new(log.join("\n").into_bytes())).messages().map(Result::unwrap);
    let senders: String =
        senders.map(|message| if message.sender == Some(Sender::Client) { 'c' } else { 's' }).collect();
    assert_eq!(senders, "csscs");
}
