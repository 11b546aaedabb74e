//! The states of requests without an answer, and restarts.

use super::*;

#[test]
fn each_request_without_an_answer_has_a_state() {
    let mut run = Run::default();
    for short in ["c ?1", "s =1", "c ?2", "c ?2", "c ?3", "s =3", "s ?3", "c ?null", "c ?4"] {
        run.short(short);
    }
    let states: Vec<_> = run.sessions.unanswered().map(|(name, state)| (name.to_string(), state)).collect();
    let states: Vec<_> = states.iter().map(|(name, state)| (name.as_str(), *state)).collect();
    let expected = [
        ("m3", RequestState::Superseded),
        ("m4", RequestState::Unanswered),
        ("m7", RequestState::Open),
        ("m8", RequestState::Open),
        ("m9", RequestState::Open),
    ];
    assert_eq!(states, expected);
    // A log of one side does not show which requests were answered.
    let mut run = Run::default();
    for short in ["c ?1", "c ?2", "c ?2", "c ?3", "c ?4", "c ?5"] {
        run.short(short);
    }
    let states: Vec<_> = run.sessions.unanswered().map(|(_, state)| state).collect();
    assert_eq!(states, [RequestState::NotCaptured; 6]);
}

/// The states of calls of a tool `t` with these ids, of which those in a batch of `answered` have an answer.
fn of_calls(tools: &[(u64, &str)], answered: &[u64]) -> (Vec<RequestState>, bool) {
    let mut run = Run::default();
    for (id, tool) in tools {
        let call = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#);
        run.record(Record { sender: Some(Sender::Client), ..Record::new(call.into_bytes()) });
        if answered.contains(id) {
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
            run.record(Record { sender: Some(Sender::Server), ..Record::new(answer.into_bytes()) });
        }
    }
    let is_missing = run.sessions.incomplete()[0] > 0;
    (run.sessions.unanswered().map(|(_, state)| state).collect(), is_missing)
}

#[test]
fn a_log_without_most_answers_accuses_no_request() {
    let same: Vec<_> = (1..=10).map(|id| (id, "t")).collect();
    assert_eq!(of_calls(&same, &[3, 10]), (vec![RequestState::NotCaptured; 8], true));
    // A server that hangs does not answer any more.
    assert_eq!(of_calls(&same, &[1, 2]), (vec![RequestState::Open; 8], false));
    // A server that hung for a while is not between its answers.
    let hung = of_calls(&same, &[1, 2, 3, 10]);
    assert_eq!(hung, (vec![RequestState::Unanswered; 6], false));
    // Nor is a tool that hangs as others go on.
    let two: Vec<_> = (1..=12).map(|id| (id, if id % 3 == 0 { "other" } else { "t" })).collect();
    assert_eq!(of_calls(&two, &[3, 6, 9, 12]), (vec![RequestState::Unanswered; 8], false));
}

#[test]
fn answers_without_requests_show_that_requests_are_missing() {
    let mut run = Run::default();
    for short in ["c ?1", "s =1", "s =2", "s =3", "s =4", "s =5", "s =6", "c ?7", "s =7", "s =8"] {
        run.short(short);
    }
    assert_eq!(run.sessions.incomplete(), [0, 1]);
}

/// The states of the requests without an answer, and the names of the messages that began restarts.
fn left(records: &[&str]) -> (Vec<(String, RequestState)>, Vec<String>) {
    let mut run = Run::default();
    records.iter().for_each(|short| drop(run.short(short)));
    let states = run.sessions.unanswered().map(|(name, state)| (name.to_string(), state));
    let restarts = run.sessions.restarts().map(|(_, _, restart)| restart.message.to_string());
    (states.collect(), restarts.collect())
}

#[test]
fn what_was_in_flight_as_a_connection_began_anew_is_lost() {
    let state = |name: &str, state| (name.to_owned(), state);
    // Without times, a request is lost unless a later one was answered.
    let (states, restarts) =
        left(&["c ?0 ~initialize", "s =0", "c ?1", "c ?2", "s =2", "c ?3", "c ?0 ~initialize", "s =0", "c ?1"]);
    let expected = [RequestState::Unanswered, RequestState::Lost, RequestState::Open];
    assert_eq!(
        states,
        ["m3", "m6", "m9"].into_iter().zip(expected).map(|(name, s)| state(name, s)).collect::<Vec<_>>()
    );
    assert_eq!(restarts, ["m7"]);
    // With times, unless it waited for long.
    let at = |asked: &str| {
        let asked = format!("c ?1 @2026-01-05T{asked}Z");
        let restart = "c ?0 ~initialize @2026-01-05T10:01:00Z";
        left(&["c ?0 ~initialize @2026-01-05T10:00:00Z", "s =0 @2026-01-05T10:00:01Z", &asked, restart]).0
    };
    assert_eq!(at("10:00:30")[0], state("m3", RequestState::Lost));
    assert_eq!(at("10:00:29")[0], state("m3", RequestState::Unanswered));
    // A session whose requests are still answered goes on beside the next: a second client.
    let beside = ["c ?0 ~initialize", "s =0", "c ?1", "c ?2", "c ?0 ~initialize", "s =0", "c ?5", "s =5", "s =2"];
    assert_eq!(left(&beside), (vec![state("m3", RequestState::Unanswered)], vec![]));
    // So does a session whose ids go on as the ids of the next do: the client of ids from 500 on is another one.
    let hello = ["c ?0 ~initialize", "s =0", "c ?1", "s =1", "c ?2", "c ?500 ~initialize", "s =500"];
    let two = [&hello[..], &["c ?3", "s =3", "c ?501", "s =501", "c ?4", "c ?5", "s =5"]].concat();
    let expected = [("m5", RequestState::Unanswered), ("m12", RequestState::Unanswered)];
    assert_eq!(left(&two), (expected.map(|(name, s)| state(name, s)).to_vec(), vec![]));
    // A client that counts on after its restart is one client.
    let one = [&hello[..], &["c ?3", "s =3", "c ?4", "s =4"]].concat();
    assert_eq!(left(&one), (vec![state("m5", RequestState::Lost)], vec!["m6".to_owned()]));
}
