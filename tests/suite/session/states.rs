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
}
