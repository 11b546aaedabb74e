//! Operations of several rounds: what is asked in between, tasks, pages that have to be visited.

use super::{answers, said, set, timed};
use crate::support::convert;

fn operations(log: &str) -> Vec<String> {
    answers("operations", log, &["about", "outcome", "answer", "requests", "seconds"])
}

fn inputs(log: &str) -> Vec<String> {
    answers("inputs", log, &["message", "method", "name", "text", "url", "answer", "action"])
}

const ROUNDS: [&str; 8] =
    ["inOperation", "continues", "status", "endedBy", "durationSeconds", "asks", "problem", "executesTool"];

#[test]
fn a_call_that_asks_and_its_retry_are_one_operation() {
    let log = timed(&[
        ("00.00", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#),
        (
            "00.01",
            r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"login":{"method":"elicitation/create","params":{"message":"Who?"}}},"requestState":"s1"}}"#,
        ),
        (
            "05.01",
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","inputResponses":{"login":{"action":"accept"}},"requestState":"s1"}}"#,
        ),
        ("06.01", r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}"#),
    ]);
    let quads = convert(log.as_bytes());
    let expected = [
        "m1 inOperation m1-op",
        "m1-op executesTool m1-tool",
        "m2 inOperation m1-op",
        "m2 status input_required",
        "m2 asks m2-input1",
        "m3 inOperation m1-op",
        "m3 continues m2",
        "m4 inOperation m1-op",
        "m1-op endedBy m4",
        "m1-op durationSeconds 6.01",
    ];
    assert_eq!(said(&quads, &ROUNDS), set(expected));
    assert!(said(&quads, &["hasName"]).contains("m2-input1 hasName login"));
    assert_eq!(said(&quads, &["toolResult"]), set(["m4 toolResult m4-result"]));
    assert_eq!(operations(&log), ["a result m4 2 6.01"]);
    assert_eq!(inputs(&log), ["m2 elicitation/create login Who? - m3 accept"]);
    let unfinished: String = log.split_inclusive('\n').take(3).collect();
    assert_eq!(operations(&unfinished), ["a input_required - 2 -"]);
}

/// The state may change or be absent from round to round; without one, what was asked has to be what is answered.
#[test]
fn rounds_are_told_apart_by_their_newest_answer() {
    let call = |id: u32, rest: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a"{rest}}}}}"#) + "\n"
    };
    let asks = |id: u32, key: &str, state: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required","inputRequests":{{"{key}":{{}}}}{state}}}}}"#
        ) + "\n"
    };
    let (state, other) = (r#","requestState":"x""#, r#","requestState":"y""#);
    let answers = |key: &str| format!(r#","inputResponses":{{"{key}":{{}}}}"#);
    let log = [
        call(1, ""),
        asks(1, "k", ""),
        // 3: without a state, by what is answered.
        call(2, &answers("k")),
        asks(2, "l", state),
        // 5: by the state, whatever is answered.
        call(3, &(answers("z") + state)),
        asks(3, "k", other),
        // 7 to 9: an older state, something that was not asked, another tool.
        call(4, &(answers("k") + state)),
        call(5, &answers("z")),
        call(6, &(answers("k") + other)).replace("\"a\"", "\"b\""),
        // 10: the client leaves the state out.
        call(7, &answers("k")),
        // 11 to 14: two that ask for the same.
        call(8, ""),
        call(9, ""),
        asks(8, "k", ""),
        asks(9, "k", ""),
        call(10, &answers("k")),
        call(11, &answers("k")),
        call(12, &answers("k")),
    ];
    let quads = convert(log.concat().as_bytes());
    let expected = ["m3 continues m2", "m5 continues m4", "m10 continues m6"];
    assert_eq!(said(&quads, &["continues"]), set(expected));
    assert_eq!(said(&quads, &["problem"]), set(["m15 problem AmbiguousPairing", "m16 problem AmbiguousPairing"]));
    let operations = said(&quads, &["inOperation"]);
    for line in ["m10 inOperation m1-op", "m7 inOperation m7-op", "m15 inOperation m15-op", "m17 inOperation m17-op"] {
        assert!(operations.contains(line), "{line}");
    }
    assert!(said(&quads, &["endedBy"]).is_empty());
}

#[test]
fn tasks_belong_to_the_operation_that_made_them() {
    let log = timed(&[
        ("00", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","task":{"ttl":60000}}}"#),
        ("01", r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t1","status":"working"}}}"#),
        ("02", r#"{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"t1"}}"#),
        ("03", r#"{"jsonrpc":"2.0","id":2,"result":{"taskId":"t1","status":"completed"}}"#),
        ("04", r#"{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":"t1"}}"#),
        ("05", r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"x"}],"isError":true}}"#),
        ("06", r#"{"jsonrpc":"2.0","id":4,"method":"tasks/get","params":{"taskId":"t2"}}"#),
        ("07", r#"{"jsonrpc":"2.0","id":4,"result":{"taskId":"t2","status":"working"}}"#),
        ("10", r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a"}}"#),
        (
            "11",
            r#"{"jsonrpc":"2.0","id":5,"result":{"resultType":"task","taskId":"t3","status":"working","ttlMs":60000}}"#,
        ),
        ("12", r#"{"jsonrpc":"2.0","id":6,"method":"tasks/update","params":{"taskId":"t3","inputResponses":{}}}"#),
        ("13", r#"{"jsonrpc":"2.0","id":6,"result":{"resultType":"complete"}}"#),
        (
            "14",
            r#"{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t3","status":"completed","result":{"content":[],"isError":false}}}"#,
        ),
        ("15", r#"{"jsonrpc":"2.0","id":7,"method":"tasks/get","params":{"taskId":"t3"}}"#),
        (
            "16",
            r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","taskId":"t3","status":"completed","result":{"content":[]}}}"#,
        ),
        ("20", r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"a"}}"#),
        ("21", r#"{"jsonrpc":"2.0","id":8,"result":{"taskId":"x","status":"odd","content":[]}}"#),
    ]);
    let quads = convert(log.as_bytes());
    let expected = [
        "m1 inOperation m1-op",
        "m1-op executesTool m1-tool",
        "m2 inOperation m1-op",
        "m2 status working",
        "m3 inOperation m1-op",
        "m3 continues m2",
        "m4 inOperation m1-op",
        "m4 status completed",
        "m5 inOperation m1-op",
        "m5 continues m2",
        "m6 inOperation m1-op",
        "m1-op endedBy m6",
        "m1-op durationSeconds 5",
        "m7 inOperation m7-op",
        "m8 inOperation m7-op",
        "m8 status working",
        "m9 inOperation m9-op",
        "m9-op executesTool m1-tool",
        "m10 inOperation m9-op",
        "m10 status working",
        "m11 inOperation m9-op",
        "m11 continues m10",
        "m12 inOperation m9-op",
        "m13 inOperation m9-op",
        "m13 status completed",
        "m9-op endedBy m13",
        "m9-op durationSeconds 4",
        "m14 inOperation m9-op",
        "m14 continues m10",
        "m15 inOperation m9-op",
        "m15 status completed",
        "m16 inOperation m16-op",
        "m16-op executesTool m1-tool",
        "m17 inOperation m16-op",
    ];
    assert_eq!(said(&quads, &ROUNDS), set(expected));
    let results = said(&quads, &["isError"]);
    assert!(results.contains("m6 isError true") && results.contains("m13 isError false"));
    let expected = ["a failure m6 3 5", "- working - 1 -", "a result m13 3 4", "a result m17 1 1"];
    assert_eq!(operations(&log), expected);
}

#[test]
fn errors_of_mcp_have_names_and_a_url_may_have_to_be_visited() {
    let log = timed(&[
        ("00", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":1}}}"#),
        (
            "01",
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","elicitationId":"e1","url":"https://example.org/"}]}}}"#,
        ),
        ("02", r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","arguments":{"n":2}}}"#),
        (
            "03",
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a","arguments":{"n":1},"_meta":{}}}"#,
        ),
        ("04", r#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#),
        ("05", r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32022,"message":"m"}}"#),
        ("06", r#"{"jsonrpc":"2.0","id":4,"method":"subtract"}"#),
        ("07", r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32022,"message":"m"}}"#),
    ]);
    let quads = convert(log.as_bytes());
    let links = ["continues", "endedBy", "durationSeconds", "asks", "errorKind"];
    let expected = [
        "m2 asks m2-input1",
        "m2-error errorKind URLElicitationRequired",
        "m4 continues m2",
        "m1-op endedBy m5",
        "m1-op durationSeconds 4",
        "m6-error errorKind UnsupportedProtocolVersion",
    ];
    assert_eq!(said(&quads, &links), set(expected));
    assert!(said(&quads, &["hasName"]).contains("m2-input1 hasName e1"));
    assert_eq!(operations(&log), ["a result m5 2 4", "a error m6 1 3"]);
    assert_eq!(inputs(&log), ["m2 elicitation/create e1 - https://example.org/ m4 -"]);
}
