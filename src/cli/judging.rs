//! `--check` of pages: judges logs by the built-in rules, from the same reading that makes the page.

use std::env;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::check::{CheckResult, Rules};
use crate::convert::{Converter, Input, Options, STACK};
use crate::mapping::{Mapper, Mapping};
use crate::query::{Cancel, Dataset, Loading};
use crate::record::ReaderOptions;
use crate::report::{BrokenRule, Verdicts};
use crate::schema::QuerySchemas;
use anyhow::anyhow;

use super::input::InputSource;

/// The maximum number of chunks that wait between the page and the rules.
const MAX_CHUNKS: usize = 16;

/// Loads what the rules need of logs while a page reads them.
pub struct Judging<'l> {
    converter: Converter,
    loading: Loading<'l>,
}

/// Calls `read`, which reads all logs, and returns its result. With `check`, it passes each log to [`Judging::read`], and
/// the verdicts of the rules are returned, too.
pub fn judged<T>(
    check: bool,
    sources: &[InputSource],
    (reader, jobs): (&ReaderOptions, usize),
    read: impl FnOnce(Option<&mut Judging<'_>>) -> anyhow::Result<T>,
) -> anyhow::Result<(T, Option<Verdicts>)> {
    if !check {
        return Ok((read(None)?, None));
    }
    let rules = Rules::built_in(&Arc::new(QuerySchemas::new(env::current_exe().ok())))?;
    let query = rules.loading(false)?;
    let mut dataset = Dataset::new(&query, false)?;
    let mapper = Mapper::new(Mapping::Session, &[])?.with_provenance(query.names_provenance());
    let options = Options { reader: reader.clone(), log_lines: rules.name_log_lines(), jobs, ..Options::default() };
    let cancel = Cancel::default();
    let result = {
        let mut judging = Judging { converter: Converter::new(mapper, options), loading: dataset.load(&cancel)? };
        let result = read(Some(&mut judging))?;
        judging.loading.commit()?;
        result
    };
    let inputs: Vec<_> = sources.iter().map(|source| &*source.iri).collect();
    let checked = CheckResult { judged: rules.judge(&mut dataset, &inputs, jobs, &cancel)?, inputs: Vec::new() };
    let broken = checked.broken().map(|judged| {
        let first = judged.faults.first();
        BrokenRule {
            rule: judged.rule.id.clone(),
            faults: judged.faults.len(),
            log: first.and_then(|fault| fault.input),
            message: first.and_then(|fault| fault.message.clone()),
        }
    });
    let broken = broken.collect();
    Ok((result, Some(Verdicts { summary: checked.summary(), broken })))
}

impl Judging<'_> {
    /// Passes a log to `read`, and loads what it reads.
    pub fn read<R: Read + Send, T: Send>(
        &mut self,
        input: Input<R>,
        read: impl FnOnce(TeeRead<R>) -> T + Send,
    ) -> anyhow::Result<T> {
        let (sender, chunks) = sync_channel(MAX_CHUNKS);
        let mut inner = None;
        let copy = input.map(|read| {
            inner = Some(TeeRead { inner: read, copy: sender });
            ChunkRead { chunks, chunk: Vec::new(), at: 0 }
        });
        let Some(tee) = inner else { return Err(anyhow!("the log has no reader")) };
        let Self { converter, loading } = self;
        thread::scope(|scope| {
            let page = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || read(tee))?;
            let loaded = converter.convert(copy, &mut loading.sink(), &mut |_| {});
            let page = page.join().map_err(|_| anyhow!("the page could not be made"))?;
            loaded?;
            Ok(page)
        })
    }
}

/// Reads, and sends a copy of each chunk.
pub struct TeeRead<R> {
    inner: R,
    copy: SyncSender<Vec<u8>>,
}

impl<R: Read> Read for TeeRead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if let Some(chunk) = buffer.get(..count).filter(|chunk| !chunk.is_empty()) {
            // Without a receiver, which has failed, the page is read to its end nevertheless.
            let _ = self.copy.send(chunk.to_vec());
        }
        Ok(count)
    }
}

/// Reads the chunks that a [`TeeRead`] sends.
struct ChunkRead {
    chunks: Receiver<Vec<u8>>,
    chunk: Vec<u8>,
    at: usize,
}

impl Read for ChunkRead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.chunk.len() {
            (self.chunk, self.at) = (self.chunks.recv().unwrap_or_default(), 0);
        }
        let count = self.chunk.get(self.at..).unwrap_or_default().read(buffer)?;
        self.at += count;
        Ok(count)
    }
}
