//! `load` into a store: in memory with the library, on disk with the command where it is built in.

use std::panic::{AssertUnwindSafe, catch_unwind};

use oxigraph::store::Store;
use oxrdf::{NamedNode, Quad};
use rpcgraph::context::{Context, builtin};
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::load::{Loaded, Spool, StoreTarget, load};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::sink::Sink;
use rpcgraph::vocab::rpcg;

use crate::cli::{LOG, Place};
use crate::support::{assert_isomorphic, convert_with};

/// The spool of a log that is a session of this name.
fn spooled(name: &str, log: &[u8], contexts: &[Context], mapping: Mapping) -> Spool {
    let mut spool = Spool::new(NamedNode::new(name).expect("an IRI"), mapping);
    let mut sink = Sink::quads(&mut spool);
    let (label, read) = ("log".to_owned(), log);
    let input = Input { name: label.clone(), source: label, iri: name.to_owned(), iri_stated: true, read };
    let mapper = Mapper::new(mapping, contexts).expect("contexts");
    Converter::new(mapper, Options::default()).convert(input, &mut sink, &mut |_| {}).expect("a conversion");
    sink.finish().expect("an end");
    drop(sink);
    spool
}

fn quads(store: &Store) -> Vec<Quad> {
    store.iter().map(|quad| quad.expect("a quad")).collect()
}

/// Counts the graphs that look like a session.
fn sessions(store: &Store) -> usize {
    store.quads_for_pattern(None, None, Some(rpcg::SESSION.into()), None).count()
}

fn calls(count: usize) -> Vec<u8> {
    let line = |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\",\"params\":{{\"id\":[{id}]}}}}\n");
    (0..count).map(line).collect::<String>().into_bytes()
}

const NAME: &str = crate::support::BASE;

#[test]
fn graphs_are_replaced() {
    let store = Store::new().unwrap();
    let target = StoreTarget::new(store.clone());
    let other = spooled("urn:other", LOG.as_bytes(), &[], Mapping::Session);
    load(&other, &target, &mut |_| {}, &mut Loaded::default()).unwrap();
    let before = quads(&store);
    for log in [LOG.as_bytes(), &calls(100), &calls(100), &[], LOG.as_bytes()] {
        let mut loaded = Loaded::default();
        let mut told = 0;
        let spool = spooled(NAME, log, &[], Mapping::Session);
        load(&spool, &target, &mut |count| told += count, &mut loaded).unwrap();
        let mut expected = convert_with(log, &[], Options::default());
        // Both call it as the input is called.
        expected.iter_mut().filter(|quad| quad.predicate == rpcg::SOURCE).for_each(|quad| {
            quad.object = oxrdf::Literal::from("log").into();
        });
        assert_eq!((loaded.graphs, loaded.triples, told), (1, expected.len() as u64, loaded.triples));
        assert!(loaded.doubts.is_empty());
        expected.extend(before.iter().cloned());
        assert_isomorphic(&quads(&store), &expected, "all of it");
    }
}

#[test]
fn blank_nodes_of_graphs_stay_apart() {
    let store = Store::new().unwrap();
    let target = StoreTarget::new(store.clone());
    let context = serde_json::json!({ "params": {
        "@id": "http://json-rpc.org/ontology#hasParameters", "@context": { "id": "http://x.example/id" }
    } });
    let context = Context::from_value("here", context).unwrap();
    assert_eq!(builtin().len(), 2);
    for (mapping, contexts) in [(Mapping::Bblock, vec![]), (Mapping::Session, vec![context])] {
        for name in ["urn:one", "urn:two", "urn:one"] {
            let spool = spooled(name, &calls(2), &contexts, mapping);
            load(&spool, &target, &mut |_| {}, &mut Loaded::default()).unwrap();
        }
        let blanks = |name: &str| -> std::collections::BTreeSet<String> {
            let name = NamedNode::new(name).unwrap();
            let quads = store.quads_for_pattern(None, None, None, Some(name.as_ref().into()));
            let quads: Vec<_> = quads.map(Result::unwrap).collect();
            quads.iter().filter(|quad| quad.subject.is_blank_node()).map(|quad| quad.subject.to_string()).collect()
        };
        let (one, two) = (blanks("urn:one"), blanks("urn:two"));
        assert_eq!((one.len(), two.len(), one.intersection(&two).count()), (2, 2, 0), "{mapping:?}");
    }
}

#[test]
fn an_interrupted_load_leaves_nothing_that_looks_whole() {
    let store = Store::new().unwrap();
    let (old, few, new) = (calls(100), calls(9_000), calls(16_000));
    let spool = |log: &[u8]| spooled(NAME, log, &[], Mapping::Session);
    load(&spool(&old), &StoreTarget::new(store.clone()), &mut |_| {}, &mut Loaded::default()).unwrap();
    let before = quads(&store);
    assert_eq!(sessions(&store), 1);
    // Within one transaction, and where one would be too large.
    for (log, limit, there) in [(&few, 50_000, 1), (&new, 100_000, 0)] {
        let (mut told, target) = (0, StoreTarget::new(store.clone()));
        let mut progress = |count| {
            told += count;
            assert!(told < limit, "interrupted");
        };
        let spool = spool(log);
        let interrupted = catch_unwind(AssertUnwindSafe(|| {
            load(&spool, &target, &mut progress, &mut Loaded::default()).unwrap();
        }));
        assert!(interrupted.is_err());
        assert_eq!(sessions(&store), there);
        if there == 1 {
            assert_isomorphic(&quads(&store), &before, "the old one");
        }
    }
    // Large and small sessions are replaced alike, by larger and smaller ones.
    for log in [new, calls(17_000), old] {
        let (mut loaded, spool) = (Loaded::default(), spool(&log));
        load(&spool, &StoreTarget::new(store.clone()), &mut |_| {}, &mut loaded).unwrap();
        assert_eq!((sessions(&store), quads(&store).len() as u64), (1, loaded.triples));
        assert_eq!(spool.graphs().map(|graph| graph.distinct().unwrap()).sum::<u64>(), loaded.triples);
    }
    assert_isomorphic(&quads(&store), &before, "the old one again");
}

#[cfg(not(feature = "rocksdb"))]
#[test]
fn a_build_without_the_store_says_how_to_get_it() {
    let place = Place::with("log", LOG);
    place.run(&["load", "log", "--store", "traffic"]).said(
        2,
        "error: this build of rpcgraph does not support stores on disk: build it from its source with `cargo build --release \
         --features rocksdb`, which takes a C++ compiler, libclang and some minutes\n",
    );
    assert_eq!(place.names(), ["log"]);
}

#[cfg(feature = "rocksdb")]
mod on_disk {
    use oxrdfio::RdfFormat;
    use rpcgraph::store;

    use super::*;
    use crate::cli::BASE;

    fn load(place: &Place) {
        place.run(&["load", "log", "--base", BASE, "--store", "traffic", "--quiet"]).quietly();
    }

    fn there(place: &Place) -> Vec<Quad> {
        quads(&store::open_read_only(&place.path("traffic")).unwrap())
    }

    fn converted(place: &Place) -> Vec<Quad> {
        place.convert(&["log", "--base", BASE, "-t", "nquads", "--quiet"]).quads(RdfFormat::NQuads)
    }

    #[test]
    fn disk_has_what_is_converted() {
        let place = Place::with("log", LOG);
        load(&place);
        let shown = place.run(&["show", "--store", "traffic", "m5", "-t", "messages"]);
        assert_eq!(shown.quietly().text().lines().count(), 2);
        let chosen = place.run(&["show", "--store", "traffic", "--method", "n?", "-t", "messages"]);
        assert_eq!(chosen.quietly().stdout, shown.stdout);
        for log in [LOG.as_bytes(), LOG.as_bytes(), &calls(500), LOG.as_bytes()] {
            place.put("log", log);
            load(&place);
            assert_isomorphic(&there(&place), &converted(&place), "the store");
        }
        place.put("log", "no JSON\n");
        let before = there(&place);
        let ran = place.run(&["load", "log", "--base", BASE, "--store", "traffic", "--strict"]);
        assert_eq!(ran.status, Some(1));
        assert_isomorphic(&there(&place), &before, "strict");
        let ran = place.run(&["load", "missing", "--base", BASE, "--store", "traffic"]);
        assert_eq!(ran.status, Some(2));
        assert_isomorphic(&there(&place), &before, "unreadable");
        place.put("log", "no JSON\n{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n");
        let ran = place.run(&["load", "log", "--base", "urn:other", "--store", "traffic"]);
        assert!(ran.stderr.ends_with("\nloaded 1 session, 13 triples into traffic\n"), "{}", ran.stderr);
    }

    #[test]
    fn folders_that_are_no_store_are_refused() {
        let place = Place::with("log", LOG);
        place.put("logs/a", LOG);
        let message = "error: logs is not a store, and not empty: name a new or an empty folder\n";
        place.run(&["load", "log", "--store", "logs"]).said(2, message);
        let ran = place.run(&["load", "log", "--store", "log"]);
        assert_eq!(ran.status, Some(2), "{}", ran.stderr);
        let missing = store::open_read_only(&place.path("none")).err().unwrap().to_string();
        assert!(missing.ends_with("/none: make one with `rpcgraph load --store`"), "{missing}");
        assert_eq!(place.names(), ["log", "logs"]);

        load(&place);
        let _open = store::open(&place.path("traffic")).unwrap();
        let ran = place.run(&["load", "log", "--store", "traffic"]);
        ran.began(2, "error: cannot open the store traffic: does another program have it open?: ");
        // Opening it for reading alone still works.
        assert_eq!(there(&place).len(), converted(&place).len());
    }

    #[test]
    fn a_load_that_is_killed_leaves_nothing_that_looks_whole() {
        let place = Place::with("log", calls(100));
        load(&place);
        let old = there(&place);
        place.put("log", calls(16_000));
        let new = converted(&place).len();
        for wait in [1_000, 3_000] {
            let mut command = place.command(&["load", "log", "--base", BASE, "--store", "traffic", "--quiet"]);
            let mut child = command.spawn().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(wait));
            child.kill().unwrap();
            child.wait().unwrap();
            // Opened for writing, it recovers first.
            let store = store::open(&place.path("traffic")).unwrap();
            let there = quads(&store).len();
            match sessions(&store) {
                0 => assert!(there < new),
                _ => assert!(there == new || there == old.len(), "{there} of {new}"),
            }
        }
        load(&place);
        assert_eq!(there(&place).len(), new);
    }
}
