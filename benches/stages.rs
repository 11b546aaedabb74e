//! Times of each stage by itself, and of the whole way.
//!
//! `cargo bench --bench stages [-- FILTER]`
//!
//! All stages work on one log, so their times can be added up and compared. Throughput is in bytes and in messages of
//! that log; the slow ones work on a shorter one.

#![expect(clippy::expect_used, reason = "a bench that cannot be prepared has to stop")]

use std::io;
use std::sync::LazyLock;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use rpcgraph::context::{Loader, Reference};
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::json::{self, Numbers, Value};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::message::{self, Content};
use rpcgraph::record::{Format, Reader, ReaderOptions, Record};
use rpcgraph::session::Sessions;
use rpcgraph::sink::Syntax;

#[path = "support/workload.rs"]
mod workload;

static LOG: LazyLock<Log> = LazyLock::new(|| Log::new(10_000));
/// For what takes many times as long.
static SHORT_LOG: LazyLock<Log> = LazyLock::new(|| Log::new(1_000));

fn main() {
    divan::main();
}

/// A log, in the format `json-lines`.
struct Log {
    text: String,
    messages: u64,
}

impl Log {
    fn new(messages: u64) -> Self {
        let mut bytes = Vec::new();
        workload::write(&mut bytes, messages, workload::SEED).expect("memory takes what is written");
        Self { text: String::from_utf8(bytes).expect("the log is text"), messages }
    }

    fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines()
    }

    /// The same messages in another format.
    fn rewritten(&self, rewrite: impl Fn(&str) -> String) -> Self {
        Self { text: self.lines().map(rewrite).collect(), messages: self.messages }
    }

    fn counted<'a, 'b>(&self, bencher: Bencher<'a, 'b>) -> Bencher<'a, 'b> {
        bencher.counter(BytesCount::of_str(&self.text)).counter(ItemsCount::new(self.messages))
    }
}

/// From bytes to records.
mod read {
    use super::*;

    #[divan::bench]
    fn json_lines(bencher: Bencher<'_, '_>) {
        read(bencher, &LOG, "json-lines");
    }

    #[divan::bench]
    fn arrows(bencher: Bencher<'_, '_>) {
        let from_client = |line: &str| line.contains(r#""method":"tools/call""#);
        let log = LOG.rewritten(|line| format!("{} {line}\n", if from_client(line) { ">>" } else { "<<" }));
        read(bencher, &log, "arrows");
    }

    #[divan::bench]
    fn json_values(bencher: Bencher<'_, '_>) {
        let log = LOG.rewritten(|line| {
            let value: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
            format!("{value:#}\n")
        });
        read(bencher, &log, "json-values");
    }

    fn read(bencher: Bencher<'_, '_>, log: &Log, format: &str) {
        let format = Format::from_name(format).expect("there is such a format");
        let options = ReaderOptions::default().with_format(format);
        let read = || {
            let mut reader = Reader::new(log.text.as_bytes(), &options).expect("memory can be read");
            while let Some(entry) = reader.next_entry().expect("memory can be read") {
                black_box(entry);
            }
            reader.record_count()
        };
        assert_eq!(read(), log.messages);
        log.counted(bencher).bench(read);
    }
}

/// From a record to its content.
mod content {
    use super::*;

    #[divan::bench]
    fn scan(bencher: Bencher<'_, '_>) {
        LOG.counted(bencher).bench(|| {
            let mut scanner = message::Scanner::default();
            let mut payloads = message::PayloadBuffer::default();
            for line in LOG.lines() {
                payloads.clear();
                let mut scanned = scanner.scan(line.as_bytes(), false, &mut payloads);
                scanned.lend(&payloads);
                black_box(scanned);
            }
        });
    }

    #[divan::bench]
    fn parse(bencher: Bencher<'_, '_>) {
        LOG.counted(bencher).bench(|| {
            for line in LOG.lines() {
                black_box(Content::parse(line.as_bytes()));
            }
        });
    }
}

/// Canonical JSON of whole messages: in one pass, or in two.
mod canonical {
    use super::*;

    #[divan::bench]
    fn quick(bencher: Bencher<'_, '_>) {
        LOG.counted(bencher).bench(|| {
            let mut writer = json::QuickWriter::new(Numbers::Exact);
            let mut out = String::new();
            for line in LOG.lines() {
                out.clear();
                black_box(writer.write_text(line, &mut out).expect("ordinary JSON"));
                black_box(&out);
            }
        });
    }

    #[divan::bench]
    fn careful_parse(bencher: Bencher<'_, '_>) {
        LOG.counted(bencher).bench(|| {
            for line in LOG.lines() {
                black_box(value(line));
            }
        });
    }

    #[divan::bench]
    fn careful_write(bencher: Bencher<'_, '_>) {
        let values: Vec<_> = LOG.lines().map(value).collect();
        LOG.counted(bencher).bench(|| {
            let mut out = String::new();
            for value in &values {
                out.clear();
                black_box(json::write_canonical(value, Numbers::Exact, &mut out).expect("exact numbers never fail"));
                black_box(&out);
            }
        });
    }

    fn value(line: &str) -> Value<'_> {
        json::parse(line.as_bytes()).expect("a line is JSON")
    }
}

/// From messages to annotated messages: what pairing takes.
mod session {
    use super::*;

    #[divan::bench]
    fn annotate(bencher: Bencher<'_, '_>) {
        let records: Vec<_> = (1..)
            .zip(LOG.lines())
            .map(|(number, line)| {
                let mut record = Record::new(line.as_bytes());
                record.location.record = number;
                record
            })
            .collect();
        let mut scanner = message::Scanner::default();
        let mut payloads = message::PayloadBuffer::default();
        let scanned: Vec<_> = LOG.lines().map(|line| scanner.scan(line.as_bytes(), false, &mut payloads)).collect();
        let contents = scanned.into_iter().map(|mut scanned| {
            scanned.lend(&payloads);
            scanned.content
        });
        let contents: Vec<_> = contents.collect();
        LOG.counted(bencher).with_inputs(|| contents.clone()).bench_values(|mut contents| {
            let mut sessions = Sessions::new();
            for (record, content) in records.iter().zip(&mut contents) {
                black_box(sessions.annotate(record, content));
            }
            sessions
        });
    }
}

/// All stages, from bytes to bytes, with `jobs` threads.
mod convert {
    use super::*;

    #[divan::bench(args = [1, 2])]
    fn session_nquads(bencher: Bencher<'_, '_>, jobs: usize) {
        convert(bencher, &LOG, mapper(Mapping::Session), Syntax::NQuads, jobs);
    }

    #[divan::bench(args = [1, 2])]
    fn session_turtle(bencher: Bencher<'_, '_>, jobs: usize) {
        convert(bencher, &LOG, mapper(Mapping::Session), Syntax::Turtle, jobs);
    }

    #[divan::bench(args = [1, 2])]
    fn session_jsonld(bencher: Bencher<'_, '_>, jobs: usize) {
        convert(bencher, &LOG, mapper(Mapping::Session), Syntax::JsonLd, jobs);
    }

    #[divan::bench(args = [1, 2])]
    fn bblock_ntriples(bencher: Bencher<'_, '_>, jobs: usize) {
        convert(bencher, &LOG, mapper(Mapping::Bblock), Syntax::NTriples, jobs);
    }

    /// Every message written as JSON-LD and expanded by the json-ld crate.
    #[divan::bench(sample_count = 10)]
    fn session_nquads_reference(bencher: Bencher<'_, '_>) {
        let mapper = mapper(Mapping::Session).with_reference_only(true);
        convert(bencher, &SHORT_LOG, mapper, Syntax::NQuads, 1);
    }

    #[divan::bench(sample_count = 10)]
    fn bblock_ntriples_reference(bencher: Bencher<'_, '_>) {
        let mapper = mapper(Mapping::Bblock).with_reference_only(true);
        convert(bencher, &SHORT_LOG, mapper, Syntax::NTriples, 1);
    }

    /// Under a context that maps payloads.
    #[divan::bench(sample_count = 10)]
    fn session_nquads_further_context(bencher: Bencher<'_, '_>) {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/tool-calls.context.jsonld");
        let context = Loader::new().offline(true).load(&Reference::parse(file)).expect("the example is a context");
        let mapper = Mapper::new(Mapping::Session, &[context]).expect("the example is a context");
        convert(bencher, &SHORT_LOG, mapper, Syntax::NQuads, 1);
    }

    fn mapper(mapping: Mapping) -> Mapper {
        Mapper::new(mapping, &[]).expect("the built-in contexts work")
    }

    fn convert(bencher: Bencher<'_, '_>, log: &Log, mapper: Mapper, syntax: Syntax, jobs: usize) {
        let converter = || Converter::new(mapper.clone(), Options { jobs, ..Options::default() });
        log.counted(bencher).with_inputs(converter).bench_values(|mut converter| {
            let input = Input {
                name: "log.ndjson".to_owned(),
                source: "log.ndjson".to_owned(),
                iri: "https://example.org/log.ndjson".to_owned(),
                iri_stated: true,
                read: log.text.as_bytes(),
            };
            let mut sink = syntax.sink(io::sink(), 1);
            let summary = converter.convert(input, &mut sink, &mut |finding| {
                black_box(finding);
            });
            sink.finish().expect("a sink takes what is written");
            assert_eq!(summary.expect("memory can be read").records, log.messages);
        });
    }
}
