//! The targets of `fuzz/` under random choices: a few of each, always the same, or as many as fit in the seconds that
//! RPCGRAPH_FUZZ_SECONDS says, from the number on that RPCGRAPH_FUZZ_FROM says. RPCGRAPH_FUZZ_TARGET names one target.
//!
//! A number that fails is printed, and fails again: `RPCGRAPH_FUZZ_FROM=NUMBER cargo test --test fuzz`.
#![expect(clippy::expect_used, clippy::panic, reason = "a target panics, and the driver says where")]

#[path = "../../fuzz/src/lib.rs"]
mod targets;

use std::collections::BTreeMap;
use std::env;
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// The number of runs of each target if no time is given.
const RUNS: u64 = 400;
/// A run that takes longer is a failure.
const SLOW: Duration = Duration::from_secs(20);
/// The maximum number of failures that are shown.
const SHOWN: usize = 10;

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text}")))
}

#[test]
fn targets_hold() {
    let from = number("RPCGRAPH_FUZZ_FROM").unwrap_or(0);
    let seconds = number("RPCGRAPH_FUZZ_SECONDS").map(Duration::from_secs);
    let only = env::var("RPCGRAPH_FUZZ_TARGET").ok();
    let targets: Vec<_> =
        targets::TARGETS.iter().filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name)).collect();
    assert!(!targets.is_empty(), "RPCGRAPH_FUZZ_TARGET names no target: {only:?}");
    let start = Instant::now();
    let (mut failures, mut runs) = (BTreeMap::<String, (u64, String)>::new(), 0);
    panic::set_hook(Box::new(|_| {}));
    for seed in from.. {
        let done = match seconds {
            Some(seconds) => start.elapsed() >= seconds,
            None => seed - from >= RUNS,
        };
        if done || failures.len() >= SHOWN {
            break;
        }
        for (name, target) in &targets {
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&seed.to_le_bytes());
            let mut data = [0; 256];
            TestRng::from_seed(RngAlgorithm::ChaCha, &bytes).fill_bytes(&mut data);
            runs += 1;
            let run = || {
                let began = Instant::now();
                (panic::catch_unwind(AssertUnwindSafe(|| target(&data))), began.elapsed())
            };
            // A machine may be busy: what is slow is slow again.
            let (result, took) = match run() {
                (Ok(()), took) if took > SLOW => run(),
                run => run,
            };
            let failure = match result {
                Err(panic) => panic
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                    .unwrap_or_default(),
                Ok(()) if took > SLOW => format!("took {took:?}"),
                Ok(()) => continue,
            };
            // One of each kind: failures of one target in one format mostly are.
            let kind = format!("{name} {}", failure.split([':', '(', ',']).next().unwrap_or_default());
            failures.entry(kind).or_insert((seed, format!("{name}, number {seed}: {failure}")));
        }
    }
    drop(panic::take_hook());
    println!("{runs} runs in {:?}", start.elapsed());
    let shown: Vec<_> = failures.into_values().map(|(_, failure)| failure).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n\n"));
}

/// Queries and logs that once had other answers than Oxigraph's store has.
#[test]
fn queries_that_were_answered_wrongly() {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#;
    let named_like_numbers = "{\"method\":\"x\"}\n{\"method\":\"x\"}\n{\"method\":\"2\"}\n";
    let mixed: String = (0..60)
        .map(|id| format!("{{\"id\":{id},\"method\":\"x\"}}\n{{\"id\":\"{id}x\",\"method\":\"x\"}}\n"))
        .collect();
    for (query, log) in [
        ("SELECT ?t (COUNT(*) AS ?n) { <https://e/one#m1> a ?t } GROUP BY ?t", named_like_numbers),
        ("SELECT * { ?m jrpc:hasMethod|rpcg:sequence \"2\" }", named_like_numbers),
        ("SELECT * { ?m rpcg:inSession ?s ; rpcg:sequence ?n
             OPTIONAL { ?m rpcg:inBatch ?b . ?b rpcg:sequence ?i } OPTIONAL { ?m rpcg:batchIndex ?i } } ORDER BY ?s ?n ?i",
         &*format!("[]\n[{request}]\n[{request},{request}]\n")),
        ("SELECT * { ?m rpcg:inSession ?s ; rpcg:sequence ?n
             OPTIONAL { ?x rpcg:sequence ?i } OPTIONAL { ?m rpcg:batchIndex ?i } } ORDER BY ?s ?n ?i LIMIT 3",
         &*format!("[]\n[{request}]\n")),
        ("SELECT ?one { GRAPH <https://e/one> { } BIND(1 AS ?one) }", request),
        ("ASK { GRAPH <https://e/one> { } }", request),
        ("SELECT ?id { ?i jrpc:hasNumberValue|jrpc:hasStringValue ?id } ORDER BY ?id", &*mixed),
        ("SELECT ?x { ?m rpcg:sequence|jrpc:hasMethod|a ?x } ORDER BY DESC(?x) LIMIT 30", &*mixed),
        ("SELECT ?b ?n { ?m jrpc:hasMethod ?x BIND(COALESCE(?n, \"none\") AS ?b) OPTIONAL { ?m rpcg:sequence ?n } }",
         named_like_numbers),
        ("SELECT * { { ?m jrpc:hasMethod ?x FILTER(!BOUND(?n)) } ?m rpcg:sequence ?n }", named_like_numbers),
        ("SELECT * { ?m rpcg:sequence ?n FILTER NOT EXISTS { ?o rpcg:sequence ?k FILTER(?k > ?n) } }", named_like_numbers),
        ("SELECT ?v { ?m jrpc:hasParameters ?v FILTER(!(?v IN (\"a\", 2)) || BOUND(?w)) }",
         r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{}}"#),
        ("SELECT ?m ?v { ?m jrpc:hasError ?e . ?m jrpc:hasParameters|jrpc:hasId ?v
             BIND(ABS(IF(BOUND(?v) && ?v = \"a\", 1, -1)) AS ?n) }",
         &*format!("{request}\n{{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{{\"code\":1,\"message\":\"x\"}}}}\n")),
    ] {
        targets::compare(query, &[log.as_bytes().to_vec()]);
    }
}
