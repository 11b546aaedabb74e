//! Sessions: who answers whom, how long it took, and what is doubtful about it.
//!
//! Most cases are tables of short records: who sends (`c` client, `s` server, `-` unknown, `>` the side that wrote the log,
//! `<` the other), what (a request `?id`, a notification `.`, a result `=id`, an error `!id`, a batch of these `[…]`), maybe
//! which method (`~…`), and maybe when (`@…`).

mod clocks;
mod states;

use oxsdatatypes::Decimal;
use rpcgraph::message::{Content, Kind, Problem};
use rpcgraph::record::{Direction, Flags, Format, Location, Record, Sender, Time};
use rpcgraph::session::{Annotated, IdNode, Name, Node, Origin, RequestState, Sessions};

/// The annotations of one node.
#[derive(Debug, Clone, Default)]
struct Told {
    name: String,
    sender: Option<Sender>,
    answers: Option<String>,
    /// The older request whose id it takes.
    takes_id_of: Option<String>,
    /// The node of its id, and whether it says itself what the id is.
    id: Option<(String, bool)>,
    latency: Option<String>,
    problems: Vec<Problem>,
}

impl Told {
    fn from_node(node: &Annotated<'_>) -> Self {
        Self {
            name: node.name.to_string(),
            sender: node.sender,
            answers: node.responds_to.as_ref().map(Name::to_string),
            takes_id_of: node.superseded.as_ref().map(Name::to_string),
            id: node.id_node().map(|IdNode { owner, minted }| (owner.to_string(), minted)),
            latency: node.latency.as_ref().map(Decimal::to_string),
            problems: node.problems.iter().collect(),
        }
    }
}

/// A session and the number of its records.
#[derive(Default)]
struct Run {
    sessions: Sessions,
    records: u64,
}

impl Run {
    /// Annotates one more record.
    fn record(&mut self, mut record: Record<'_>) -> Vec<Told> {
        self.records += 1;
        record.location = Location { record: self.records, line: self.records, byte: 0 };
        let mut content = Content::parse(&record.bytes);
        let nodes = self.sessions.annotate(&record, &mut content);
        nodes.iter().map(Told::from_node).collect()
    }

    /// Annotates one more record, given as in the tables.
    fn short(&mut self, text: &str) -> Vec<Told> {
        let (sender, rest) = text.split_once(' ').expect("a sender and a message");
        let (message, time) = match rest.split_once(" @") {
            Some((message, time)) => (message, Some(at(time))),
            None => (rest, None),
        };
        let message = match message.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(elements) => format!("[{}]", elements.split(' ').map(json).collect::<Vec<_>>().join(",")),
            None => json(message),
        };
        let (sender, direction) = match sender {
            "c" => (Some(Sender::Client), None),
            "s" => (Some(Sender::Server), None),
            ">" => (None, Some(Direction::Out)),
            "<" => (None, Some(Direction::In)),
            _ => (None, None),
        };
        self.record(Record { sender, direction, time, ..Record::new(message.into_bytes()) })
    }
}

fn json(message: &str) -> String {
    let (kind, id) = message.split_at(1);
    let (id, method) = id.split_once('~').unwrap_or((id, "m"));
    let rest = match kind {
        "?" => format!(r#""method":"{method}""#),
        "." => return format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#),
        "=" => r#""result":null"#.to_owned(),
        "!" => r#""error":{"code":1,"message":""}"#.to_owned(),
        other => panic!("{other} is not a kind of message"),
    };
    format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#)
}

fn at(time: &str) -> Time {
    match time.contains('T') {
        true => Time::DateTime(time.parse().expect("a date and a time")),
        false => Time::Clock(time.parse().expect("a time of day")),
    }
}

/// Asserts, by name, which request each node answers, and its problems.
#[track_caller]
fn assert_session(records: &[&str], expected: &[(&str, Option<&str>, &[Problem])]) -> Vec<Told> {
    let mut run = Run::default();
    let told: Vec<_> = records.iter().flat_map(|record| run.short(record)).collect();
    let found: Vec<_> = told
        .iter()
        .filter(|node| node.answers.is_some() || !node.problems.is_empty())
        .map(|node| (node.name.as_str(), node.answers.as_deref(), node.problems.as_slice()))
        .collect();
    assert_eq!(found, expected, "{records:?}");
    told
}

const AMBIGUOUS: &[Problem] = &[Problem::AmbiguousPairing];
const DUPLICATE: &[Problem] = &[Problem::DuplicateAnswer];

#[test]
fn each_side_counts_for_itself() {
    assert_session(
        &["c ?1", "s ?1", "c =1", "s =1", "s ?2", "c ?2", "s !2", "c !2"],
        &[("m3", Some("m2"), &[]), ("m4", Some("m1"), &[]), ("m7", Some("m6"), &[]), ("m8", Some("m5"), &[])],
    );
    // Nobody answers itself.
    assert_session(&["c ?1", "c =1", "s =1"], &[("m3", Some("m1"), &[])]);
    assert_session(&["s ?1", "s =1"], &[]);
}

#[test]
fn an_id_may_be_used_again() {
    let told = assert_session(
        &["c ?1", "s =1", "c ?1", "s =1", "c ?1", "s !1"],
        &[("m2", Some("m1"), &[]), ("m4", Some("m3"), &[]), ("m6", Some("m5"), &[])],
    );
    // Each exchange has an id node of its own.
    let nodes: Vec<_> = told.iter().map(|node| node.id.clone().expect("an id")).collect();
    let expected = [("m1", true), ("m1", false), ("m3", true), ("m3", false), ("m5", true), ("m5", false)];
    assert_eq!(nodes, expected.map(|(owner, minted)| (owner.to_owned(), minted)));
    assert!(told.iter().all(|node| node.takes_id_of.is_none()));
}

#[test]
fn an_id_may_be_used_while_it_is_open() {
    let told = assert_session(
        &["c ?1", "c ?1", "c ?1", "s =1", "s =1", "s =1", "s =1"],
        &[("m4", Some("m3"), &[]), ("m5", Some("m2"), &[]), ("m6", Some("m1"), &[]), ("m7", None, DUPLICATE)],
    );
    let older: Vec<_> = told.iter().map(|node| node.takes_id_of.as_deref()).collect();
    assert_eq!(older, [None, Some("m1"), Some("m2"), None, None, None, None]);
    // The other side's ids are others.
    for records in [["c ?1", "s ?1"], ["c ?1", "c ?\"1\""]] {
        let told = assert_session(&records, &[]);
        assert!(told.iter().all(|node| node.takes_id_of.is_none()), "{records:?}");
    }
    let mut run = Run::default();
    run.short("- ?1");
    assert_eq!(run.short("- ?1")[0].takes_id_of.as_deref(), Some("m1"));
    // The reuse of a request's id is reported once.
    let told = assert_session(
        &["c ?1", "c ?1", "s =1", "c ?1", "s ?1", "s =1", "c ?1"],
        &[("m3", Some("m2"), &[]), ("m6", Some("m4"), &[])],
    );
    let older: Vec<_> = told.iter().map(|node| node.takes_id_of.as_deref()).collect();
    assert_eq!(older, [None, Some("m1"), None, None, None, None, None]);
}

/// However many requests of both sides are open under one id, each is found at once.
#[test]
fn open_requests_with_one_id() {
    const COUNT: u64 = 50_000;
    let mut run = Run::default();
    for short in ["c ?1", "- ?1", "s ?1"] {
        (0..COUNT).for_each(|_| drop(run.short(short)));
    }
    for (short, newest) in [("s =1", 2 * COUNT), ("c =1", 3 * COUNT)] {
        for nth in 0..COUNT {
            assert_eq!(run.short(short)[0].answers, Some(format!("m{}", newest - nth)));
        }
    }
    assert_eq!(run.short("c =1")[0].answers, None);
    assert_eq!(run.short("- =1")[0].answers, Some(format!("m{COUNT}")));
}

#[test]
fn without_senders_two_open_requests_are_a_doubt() {
    assert_session(&["- ?1", "- =1"], &[("m2", Some("m1"), &[])]);
    assert_session(&["- ?1", "- ?1", "- =1", "- =1"], &[("m3", Some("m2"), AMBIGUOUS), ("m4", Some("m1"), AMBIGUOUS)]);
    assert_session(&["c ?1", "s ?1", "- =1", "- =1"], &[("m3", Some("m2"), AMBIGUOUS), ("m4", Some("m1"), AMBIGUOUS)]);
    // A known side may answer who is unknown, and the other way round.
    assert_session(&["- ?1", "s =1"], &[("m2", Some("m1"), &[])]);
    assert_session(&["s ?1", "- =1"], &[("m2", Some("m1"), &[])]);
    // With different ids there is no doubt.
    assert_session(&["- ?1", "- ?2", "- =1"], &[("m3", Some("m1"), &[])]);
}

#[test]
fn only_the_first_answer_counts() {
    assert_session(
        &["c ?1", "s =1", "s =1", "s !1"],
        &[("m2", Some("m1"), &[]), ("m3", None, DUPLICATE), ("m4", None, DUPLICATE)],
    );
    assert_session(&["- ?1", "- =1", "- =1"], &[("m2", Some("m1"), &[]), ("m3", None, DUPLICATE)]);
    // An answer with an id that the other side never used is not a duplicate.
    assert_session(&["c ?1", "s =1", "c =1"], &[("m2", Some("m1"), &[])]);
    let told = assert_session(&["c ?1", "s =1", "s =1"], &[("m2", Some("m1"), &[]), ("m3", None, DUPLICATE)]);
    assert_eq!(told[2].id, Some(("m3".to_owned(), true)), "an answer without a request has an id node of its own");
}

#[test]
fn an_answer_needs_an_earlier_request() {
    let told = assert_session(&["s =1", "s !2", "c ?1", "c ?2"], &[]);
    assert_eq!(told[0].id, Some(("m1".to_owned(), true)));
    // The request is open still, for what comes after it.
    assert_session(&["s =1", "c ?1", "s =1"], &[("m3", Some("m2"), &[])]);
    assert_session(&["s [=1 =2]", "c [?1 ?2]"], &[]);
}

#[test]
fn null_pairs_with_nothing() {
    let null: &[Problem] = &[Problem::NullRequestId];
    let told = assert_session(&["c ?null", "s =null", "c ?null", "s !null"], &[("m1", None, null), ("m3", None, null)]);
    for (node, name) in told.iter().zip(["m1", "m2", "m3", "m4"]) {
        assert_eq!(node.id, Some((name.to_owned(), true)));
        assert_eq!(node.takes_id_of, None);
    }
}

#[test]
fn ids_are_the_same_by_value() {
    for (request, response, same) in [
        ("1", "1", true),
        ("1", "1.0", true),
        ("1", "1e0", true),
        ("100", "1E2", true),
        ("0", "-0", true),
        ("0.5", "5e-1", true),
        ("1", "\"1\"", false),
        ("\"1\"", "\"1\"", true),
        ("\"1\"", "\"1.0\"", false),
        ("\"a\"", "\"\\u0061\"", true),
        ("\"\"", "\"\"", true),
        ("\"null\"", "null", false),
        ("9007199254740993", "9007199254740992", false),
        ("1", "1.0000000000000000000000000001", false),
        ("12345678901234567890123", "12345678901234567890123.0", true),
    ] {
        let mut run = Run::default();
        run.short(&format!("c ?{request}"));
        let told = run.short(&format!("s ={response}"));
        assert_eq!(told[0].answers.is_some(), same, "{request} and {response}");
    }
}

#[test]
fn batches() {
    assert_session(
        &["c [?1 ?2 ?3]", "s =2", "s [!3 =1]"],
        &[("m2", Some("m1.2"), &[]), ("m3.1", Some("m1.3"), &[]), ("m3.2", Some("m1.1"), &[])],
    );
    assert_session(&["c ?1", "c ?2", "s [=2 =1]"], &[("m3.1", Some("m2"), &[]), ("m3.2", Some("m1"), &[])]);
    let told = assert_session(&["c [?1 ?1]", "s [=1 =1]"], &[("m2.1", Some("m1.2"), &[]), ("m2.2", Some("m1.1"), &[])]);
    let names: Vec<_> = told.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["m1", "m1.1", "m1.2", "m2", "m2.1", "m2.2"]);
    assert_eq!(told[2].takes_id_of.as_deref(), Some("m1.1"));
    assert_eq!(told[4].id, Some(("m1.2".to_owned(), false)));
    assert_eq!(told[0].id, None);

    let mut run = Run::default();
    assert_eq!(run.record(Record::new(&b"[]"[..]))[0].problems, [Problem::EmptyBatch]);
    let told = run.record(Record::new(&br#"[1,{"jsonrpc":"2.0","id":1,"method":"m"},[]]"#[..]));
    assert_eq!(told.len(), 4);
    assert_eq!(run.short("- =1")[0].answers.as_deref(), Some("m2.2"));
}

/// The number of records that a place in a session is known by, in both: the record and the element.
#[test]
fn elements_know_their_place() {
    let bytes = br#"[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","id":1,"result":1},3]"#;
    let record = Record::new(&bytes[..]);
    let mut content = Content::parse(&record.bytes);
    let nodes = Sessions::new().annotate(&record, &mut content);
    let places: Vec<_> = nodes.iter().map(|node| node.batch_index).collect();
    assert_eq!(places, [None, Some(1), Some(2), Some(3)]);
    let kinds: Vec<_> = nodes.iter().map(Annotated::kind).collect();
    assert_eq!(kinds, [None, Some(Kind::Request), Some(Kind::Response), None]);
    assert!(matches!(nodes[0].node, Node::Batch) && matches!(nodes[3].node, Node::Invalid(_)));
}

/// The number of answered ids that all sessions remember.
const REMEMBERED: u64 = 65_536;

fn exchanges(ids: std::ops::Range<u64>) -> Run {
    let mut run = Run::default();
    for id in ids {
        run.short(&format!("c ?{id}"));
        let told = run.short(&format!("s ={id}"));
        assert!(told[0].answers.is_some());
    }
    run
}

#[test]
fn answered_ids_are_remembered_for_a_while() {
    let mut run = exchanges(0..70_000);
    for (id, remembered) in
        [(0, false), (70_000 - REMEMBERED - 1, false), (70_000 - REMEMBERED, true), (69_999, true), (70_000, false)]
    {
        let told = run.short(&format!("s ={id}"));
        assert_eq!(told[0].answers, None);
        assert_eq!(told[0].problems, if remembered { DUPLICATE } else { &[] }, "{id}");
    }
}

/// The last that were answered, not the last that were answered for the first time.
#[test]
fn an_id_that_is_answered_again_is_remembered_anew() {
    let mut run = exchanges(0..REMEMBERED);
    run.short("c ?0");
    assert!(run.short("s =0")[0].answers.is_some());
    run.short("c ?\"new\"");
    run.short("s =\"new\"");
    assert_eq!(run.short("s =0")[0].problems, DUPLICATE, "it is the last but one that was answered");
    assert_eq!(run.short("s =1")[0].problems, [], "it is the oldest, and one too many");
}

/// The limit holds for all sessions together.
#[test]
fn answered_ids_are_remembered_over_all_sessions() {
    let mut sessions = Sessions::new();
    let mut say = |session: u64, message: &str| {
        let bytes = json(message).into_bytes();
        let record = Record { session: Some(session.to_string().into()), ..Record::new(bytes) };
        let mut content = Content::parse(&record.bytes);
        let nodes = sessions.annotate(&record, &mut content);
        (nodes[0].responds_to.is_some(), nodes[0].problems.contains(Problem::DuplicateAnswer))
    };
    for session in 0..REMEMBERED + 1 {
        say(session, "?1");
        assert_eq!(say(session, "=1"), (true, false));
    }
    for (session, remembered) in [(0, false), (1, true), (REMEMBERED, true), (REMEMBERED + 1, false)] {
        assert_eq!(say(session, "=1"), (false, remembered), "{session}");
    }
}

/// The least number of sessions that wait for answers.
const KEPT: u64 = 4_096;

#[test]
fn sessions_that_were_idle_longest_are_given_up() {
    let mut sessions = Sessions::new();
    let mut number = 0;
    let mut say = |session: u64, message: &str| {
        number += 1;
        let mut record = Record::new(json(message).into_bytes());
        record.location.record = number;
        record.session = Some(session.to_string().into());
        record.time = Some(Time::DateTime(format!("2026-01-05T10:00:00.{number:06}+01:00").parse().expect("a time")));
        let mut content = Content::parse(&record.bytes);
        let nodes = sessions.annotate(&record, &mut content);
        (nodes[0].responds_to.map(|name| name.record), sessions.given_up())
    };
    for session in 0..2 * KEPT {
        assert_eq!(say(session, "?1"), (None, 0));
    }
    // It has been used, and one that nothing waits in is nothing to give up.
    say(0, ".");
    say(1, "=1");
    let mut given_up = 0;
    for session in 2 * KEPT..3 * KEPT {
        (_, given_up) = say(session, "?1");
    }
    assert_eq!(given_up, KEPT - 1, "the first half, in one of which nothing waits, and in place of the first the next");
    assert_eq!(say(0, "=1").0, Some(1));
    assert_eq!(say(2, "=1").0, None, "what answers it finds no request");
    assert_eq!(say(3 * KEPT - 1, "=1").0, Some(3 * KEPT + 2));
    assert_eq!(sessions.count() as u64, 3 * KEPT);
    let origin = Origin { source: "log".to_owned(), format: Format::JsonLines };
    let ends: Vec<_> = sessions.ends(&origin).take(3).collect();
    let told = ends.iter().map(|end| (end.key, end.record_count, end.started.map(|time| time.to_string())));
    let time = |micros: &str| Some(format!("2026-01-05T10:00:00.{micros}+01:00"));
    let expected = [(Some("0"), 3, time("000001")), (Some("1"), 2, time("000002")), (Some("2"), 2, time("000003"))];
    assert_eq!(told.collect::<Vec<_>>(), expected, "a session that was given up keeps its counts");
}

/// Asserts the sender of each node, and whether a sender was inferred.
#[track_caller]
fn assert_senders(records: &[&str], expected: &str, inferred: bool) -> Vec<Told> {
    let mut run = Run::default();
    let told: Vec<_> = records.iter().flat_map(|record| run.short(record)).collect();
    let letter = |told: &Told| match told.sender {
        Some(Sender::Client) => 'c',
        Some(Sender::Server) => 's',
        None => '-',
    };
    assert_eq!(told.iter().map(letter).collect::<String>(), expected, "{records:?}");
    let origin = Origin { source: "log".to_owned(), format: Format::JsonLines };
    assert_eq!(run.sessions.ends(&origin).next().map(|end| end.sender_inferred), Some(inferred), "{records:?}");
    told
}

#[test]
fn methods_tell_who_sends_them() {
    assert_senders(&["- ?1~tools/list", "- =1", "- ?2~sampling/createMessage", "- !2"], "cssc", true);
    assert_senders(
        &["- .~notifications/message", "- .~notifications/initialized", "- .~textDocument/didOpen"],
        "scc",
        true,
    );
    // Both sides send it, or nobody knows it; then nobody knows the answer's sender either.
    assert_senders(&["- ?1~ping", "- =1", "- ?2~$/progress", "- ?3", "- =3", "- =4"], "------", false);
    // Senders that the log states take precedence over methods.
    assert_senders(&["s ?1~tools/list", "c =1", "c ?2", "- =2", "- ?3", "s =3"], "sccs-s", true);
    assert_senders(&["s ?1~tools/list", "c =1"], "sc", false);
    assert_senders(&["- [?1~tools/list ?2]", "- [=2 =1]", "- [?3 ?4]"], "cccsss---", true);
}

#[test]
fn inferred_senders_keep_exchanges_apart() {
    // The first answer may be from either side; so may the second, whichever request is left for it.
    let told = assert_senders(&["- ?0~tools/list", "- ?0~roots/list", "- =0", "- =0"], "cs--", true);
    assert_senders(&["- ?0~tools/list", "- ?0~roots/list", "- =0", "- ?0~tools/call", "- =0", "- =0"], "cs-c--", true);
    assert!(told.iter().all(|node| node.takes_id_of.is_none()), "one id, but of two sides");
    assert_session(
        &["- ?0~tools/list", "- ?0~roots/list", "- =0", "- =0"],
        &[("m3", Some("m2"), AMBIGUOUS), ("m4", Some("m1"), AMBIGUOUS)],
    );
    assert_session(
        &["- ?0~tools/list", "- ?0~roots/list", "s =0", "c =0"],
        &[("m3", Some("m1"), &[]), ("m4", Some("m2"), &[])],
    );
    // Two of one side are a doubt still, though not about who answers.
    let told = assert_senders(&["- ?0~tools/list", "- ?0~tools/call", "- =0", "- =0"], "ccss", true);
    assert_eq!((told[1].takes_id_of.as_deref(), &*told[2].problems), (Some("m1"), AMBIGUOUS));
    // One whose method nobody knows may be of either side, as before.
    let told = assert_senders(&["- ?0~tools/list", "- ?0", "- =0", "- =0"], "c---", true);
    assert_eq!(told[1].takes_id_of.as_deref(), Some("m1"));
    // The log says who answers, against what the method tells.
    assert_session(&["- ?0~tools/list", "c =0"], &[("m2", Some("m1"), &[])]);
}

#[test]
fn directions_tell_sides_once_it_is_known_who_wrote_the_log() {
    assert_senders(&["> ?1", "< =1", "> ?2~initialize", "< =2", "< ?3", "> =3", "< .", "- ."], "cscsscs-", true);
    // Methods and directions agree: nothing but the log tells who sent what, until they contradict each other.
    let agreed = ["> ?1~initialize", "< =1", "> ?2", "< =2", "< ?3", "> =3", "> ?4~tools/list", "< ?5~roots/list"];
    assert_senders(&agreed, "cscssccs", false);
    assert_senders(&[&agreed[..], &["< ?6~tools/list"]].concat(), "cscssccsc", true);
    assert_senders(&[&agreed[..], &["> =5", "> =4"]].concat(), "cscssccscs", true);
    // Of a protocol that is not published, the side that asks first is the client.
    assert_senders(&["> ?1", "< =1", "> ?2", "< ?2"], "cscs", true);
    // The sides are distinct even if the writer of the log is unknown.
    let told = assert_session(&["> ?1", "< ?1", "< =1", "> =1"], &[("m3", Some("m1"), &[]), ("m4", Some("m2"), &[])]);
    assert!(told.iter().all(|node| node.takes_id_of.is_none()));
    // A proxy receives from both sides, and sends to both.
    assert_senders(&["< ?1~tools/list", "< =1", "< ?2", "< =2"], "cs--", true);
    let told = assert_senders(&["< ?1~tools/list", "> ?1~tools/list", "< =1", "> =1", "> ?3"], "ccss-", true);
    assert_eq!(told[3].answers.as_deref(), Some("m1"));
}

#[test]
fn latencies() {
    let day = |time: &str| format!("2026-01-05T{time}");
    for (request, response, latency) in [
        (day("10:00:00.120Z"), day("10:00:00.538Z"), Some("0.418")),
        (day("10:00:00Z"), day("10:00:00Z"), Some("0")),
        (day("10:00:00Z"), day("12:00:01+02:00"), Some("1")),
        (day("23:59:59.5Z"), "2026-01-06T00:00:00.25Z".to_owned(), Some("0.75")),
        (day("10:00:00"), day("10:01:00"), Some("60")),
        // A clock that was set back.
        (day("10:00:00.5Z"), day("10:00:00.4Z"), None),
        ("10:00:00.120".to_owned(), "10:00:00.5".to_owned(), Some("0.38")),
        ("23:59:59.5".to_owned(), "00:00:01.25".to_owned(), Some("1.75")),
        ("10:00:00.5".to_owned(), "10:00:00.499".to_owned(), None),
        ("10:00:00".to_owned(), "10:00:00".to_owned(), Some("0")),
        // Two kinds of time have nothing in common.
        (day("10:00:00Z"), "10:00:01".to_owned(), None),
        ("10:00:00".to_owned(), day("10:00:01Z"), None),
    ] {
        let mut run = Run::default();
        run.short(&format!("c ?1 @{request}"));
        let told = run.short(&format!("s =1 @{response}"));
        assert_eq!(told[0].latency.as_deref(), latency, "{request} to {response}");
    }
    for records in [["c ?1 @10:00:00", "s =1"], ["c ?1", "s =1 @10:00:00"], ["c ?1", "s =1"]] {
        let mut run = Run::default();
        run.short(records[0]);
        assert_eq!(run.short(records[1])[0].latency, None, "{records:?}");
    }
}

#[test]
fn a_latency_that_the_log_states_is_taken() {
    let stated = Some("0.51".parse::<Decimal>().expect("a number"));
    let response = |time: Option<Time>| Record {
        sender: Some(Sender::Server),
        latency: stated,
        time,
        ..Record::new(json("=1").into_bytes())
    };
    for time in [None, Some(at("10:00:07")), Some(at("09:00:00"))] {
        let mut run = Run::default();
        run.short("c ?1 @10:00:00");
        assert_eq!(run.record(response(time))[0].latency.as_deref(), Some("0.51"));
        // An answer without a request has no latency.
        assert_eq!(run.record(response(time))[0].latency, None);
    }
    let mut run = Run::default();
    run.short("c [?1 ?2] @10:00:00");
    let batch =
        Record { bytes: br#"[{"id":1,"result":1},{"id":2,"result":1},{"id":3,"result":1}]"#.into(), ..response(None) };
    let latencies: Vec<_> = run.record(batch).into_iter().map(|node| node.latency).collect();
    assert_eq!(latencies, [None, Some("0.51".to_owned()), Some("0.51".to_owned()), None]);
}

fn ended(records: &[&str]) -> (u64, Option<String>, Option<String>) {
    let mut run = Run::default();
    records.iter().for_each(|record| drop(run.short(record)));
    let origin = Origin { source: "log".to_owned(), format: Format::JsonLines };
    let end = run.sessions.ends(&origin).next().expect("a session");
    assert_eq!((end.key, end.source, end.format), (None, "log", Format::JsonLines));
    (end.record_count, end.started.map(|time| time.to_string()), end.ended.map(|time| time.to_string()))
}

#[test]
fn a_session_lasts_from_its_earliest_to_its_latest_time() {
    let time = |text: &str| Some(text.to_owned());
    assert_eq!(ended(&[]), (0, None, None));
    assert_eq!(ended(&["c ?1", "s =1 @10:00:00"]), (2, None, None), "a time of day is not a date");
    let one = time("2026-01-05T10:00:00.12Z");
    assert_eq!(ended(&["c ?1", "s =1 @2026-01-05T10:00:00.120Z", "c ?2"]), (3, one.clone(), one));
    assert_eq!(
        ended(&[
            "c ?1 @2026-01-05T10:00:03Z",
            "s [=1 ?7] @2026-01-05T10:00:01Z",
            "s =2 @2026-01-05T10:30:02+00:30",
            "c ?3 @2026-01-05T10:00:05-00:00",
            "c ?4 @2026-01-05T10:00:04Z",
        ]),
        (5, time("2026-01-05T10:00:01Z"), time("2026-01-05T10:00:05Z"))
    );
}

#[test]
fn flags_of_records_become_problems() {
    let flagged = |bytes: &'static [u8], flags: Flags| {
        let mut run = Run::default();
        run.record(Record { flags, ..Record::new(bytes) })
    };
    let none = Flags::default();
    let message = &br#"{"jsonrpc":"2.0","id":1,"method":"m"}"#[..];
    for (flags, problem) in [
        (Flags { truncated: true, ..none }, Problem::Truncated),
        (Flags { reconstructed: true, ..none }, Problem::Reconstructed),
        (Flags { result_unknown: true, ..none }, Problem::ResultUnknown),
    ] {
        for bytes in [message, b"{}", b"7", b"oops"] {
            assert_eq!(flagged(bytes, flags)[0].problems, [problem], "{}", String::from_utf8_lossy(bytes));
        }
        // It is about the record, which is the batch.
        let told = flagged(br#"[{"jsonrpc":"2.0","method":"m"}]"#, flags);
        assert_eq!((told[0].problems.as_slice(), told[1].problems.as_slice()), (&[problem][..], &[][..]));
    }
    let all = Flags { truncated: true, reconstructed: true, result_unknown: true, ..Flags::default() };
    assert_eq!(flagged(message, all)[0].problems, [Problem::Truncated, Problem::Reconstructed, Problem::ResultUnknown]);
    let mut run = Run::default();
    assert_eq!(run.record(Record::oversized(300))[0].problems, [Problem::Truncated]);
    // Text that ends inside a value was cut off, whoever did that.
    assert_eq!(flagged(br#"{"jsonrpc":"#, none)[0].problems, [Problem::Truncated]);
    assert_eq!(flagged(b"oops", none)[0].problems, []);
}

#[test]
fn invalid_messages_do_not_pair() {
    let mut run = Run::default();
    for bytes in [
        &br#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#[..],
        br#"{"jsonrpc":"2.0","id":1}"#,
        br#"{"jsonrpc":"2.0","id":true,"method":"m"}"#,
        b"oops",
        br#"{"jsonrpc":"2.0","method":"m"}"#,
    ] {
        let told = run.record(Record::new(bytes));
        assert_eq!((told.len(), told[0].id.clone()), (1, None));
    }
    let told = run.short("- =1");
    assert_eq!((told[0].name.as_str(), told[0].answers.clone()), ("m6", None));
}
