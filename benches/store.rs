//! Loading a log into the in-memory store, against Oxigraph reading the same triples from N-Triples.
//!
//! `cargo bench --bench store [-- FILE]`, where FILE is a log, of JSON lines for example.

#![expect(clippy::print_stdout, reason = "what a measurement is for")]

use std::error::Error;
use std::fs;
use std::time::{Duration, Instant};

use oxigraph::io::{RdfFormat, RdfParser};
use oxigraph::store::{Store, Transaction};
use oxrdf::Quad;
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::sink::{QuadSink, Sink, SinkError, Syntax};

/// Inserts quads as they come, like the dataset of a query.
struct Straight<'t, 's>(&'t mut Transaction<'s>);

impl QuadSink for Straight<'_, '_> {
    fn quads(&mut self, quads: &[Quad]) -> Result<(), SinkError> {
        self.0.extend(quads.iter().map(Quad::as_ref));
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

fn convert(log: &[u8], sink: &mut Sink<'_>) -> Result<(), Box<dyn Error>> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mapper = Mapper::new(Mapping::Session, &[])?;
    let input = Input {
        name: "log".into(),
        source: "log".into(),
        iri: "https://example.org/log".into(),
        iri_stated: true,
        read: log,
    };
    Converter::new(mapper, Options { jobs, ..Options::default() }).convert(input, sink, &mut |_| {})?;
    Ok(sink.finish()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let log = match std::env::args().skip(1).find(|argument| !argument.starts_with("--")) {
        Some(file) => fs::read(file)?,
        None => (0..50_000)
            .map(|id| match id % 2 {
                0 => format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m{}\",\"params\":{{\"a\":\"some text {id}\"}}}}\n",
                    id % 40
                ),
                _ => format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"content\":[{id},\"some text\"]}}}}\n",
                    id - 1
                ),
            })
            .collect::<String>()
            .into_bytes(),
    };
    let mut text = Vec::new();
    convert(&log, &mut Syntax::NTriples.sink(&mut text, 1))?;
    let mut quads: Vec<Quad> = Vec::new();
    convert(&log, &mut Sink::quads(&mut quads))?;
    let sorted = {
        let mut sorted = quads.clone();
        sorted.sort_by_cached_key(ToString::to_string);
        sorted
    };

    type Way<'w> = (&'w str, Box<dyn Fn() -> Result<usize, Box<dyn Error>> + 'w>);
    let ways: Vec<Way<'_>> = vec![
        (
            "the log, straight",
            Box::new(|| {
                let store = Store::new()?;
                let mut transaction = store.start_transaction()?;
                convert(&log, &mut Sink::quads(Straight(&mut transaction)))?;
                transaction.commit()?;
                Ok(store.len()?)
            }),
        ),
        (
            "N-Triples, Oxigraph's bulk loader",
            Box::new(|| {
                let store = Store::new()?;
                let mut loader = store.bulk_loader();
                loader.load_from_slice(RdfParser::from_format(RdfFormat::NTriples), &text)?;
                loader.commit()?;
                Ok(store.len()?)
            }),
        ),
        (
            "quads in memory, bulk loader",
            Box::new(|| {
                let store = Store::new()?;
                let mut loader = store.bulk_loader();
                loader.load_quads(quads.iter().cloned())?;
                loader.commit()?;
                Ok(store.len()?)
            }),
        ),
        (
            "the same, sorted",
            Box::new(|| {
                let store = Store::new()?;
                let mut loader = store.bulk_loader();
                loader.load_quads(sorted.iter().cloned())?;
                loader.commit()?;
                Ok(store.len()?)
            }),
        ),
        (
            "quads in memory, one transaction",
            Box::new(|| {
                let store = Store::new()?;
                let mut transaction = store.start_transaction()?;
                transaction.extend(quads.iter().map(Quad::as_ref));
                transaction.commit()?;
                Ok(store.len()?)
            }),
        ),
        (
            "quads in memory, one by one",
            Box::new(|| {
                let store = Store::new()?;
                for quad in &quads {
                    store.insert(quad)?;
                }
                Ok(store.len()?)
            }),
        ),
    ];
    let mut best = vec![Duration::MAX; ways.len()];
    // In turn, so that a slow spell of the machine meets all of them.
    for _ in 0..5 {
        for (best, (_, load)) in best.iter_mut().zip(&ways) {
            let start = Instant::now();
            assert_eq!(load()?, quads.len());
            *best = (*best).min(start.elapsed());
        }
    }
    println!("{} triples, best of 5", quads.len());
    let ours = best.first().copied().unwrap_or_default();
    for (best, (what, _)) in best.iter().zip(&ways) {
        println!(
            "{what:36} {:6.3} s  {:5.2} times the first",
            best.as_secs_f64(),
            best.as_secs_f64() / ours.as_secs_f64()
        );
    }
    Ok(())
}
