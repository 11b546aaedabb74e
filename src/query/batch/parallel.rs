//! Evaluation of the pieces of a chain on several threads.

use std::ops::Range;
use std::sync::mpsc::sync_channel;
use std::thread;

use super::plan::{BatchSink, Chain, Stop};
use super::terms::QueryRun;

/// The maximum number of batches that a thread computes ahead of the consumer.
const AHEAD: usize = 4;

impl Chain {
    /// Evaluates pieces on the threads of the query, and passes on their batches in the order of the pieces.
    pub fn in_order(
        &self,
        run: &QueryRun,
        width: usize,
        mut pieces: Range<usize>,
        out: &mut BatchSink<'_>,
    ) -> Result<(), Stop> {
        let jobs = run.jobs.min(pieces.len());
        if jobs < 2 {
            return pieces.try_for_each(|piece| self.piece(run, width, piece, out));
        }
        thread::scope(|scope| {
            // Each thread evaluates every `jobs`-th piece. `None` ends a piece.
            let threads: Vec<_> = (0..jobs)
                .map(|nth| {
                    let (sender, receiver) = sync_channel(AHEAD);
                    let mut own = pieces.clone().skip(nth).step_by(jobs);
                    scope.spawn(move || {
                        own.try_for_each(|piece| {
                            // The receiver is gone if the consumer does not want more.
                            let send = |batch| sender.send(batch).map_err(|_| Stop::Enough);
                            let ended = self.piece(run, width, piece, &mut |batch| send(Ok(Some(batch))));
                            send(ended.map(|()| None))
                        })
                    });
                    receiver
                })
                .collect();
            for thread in threads.iter().cycle().take(pieces.len()) {
                while let Some(batch) = thread.recv().unwrap_or(Err(Stop::Enough))? {
                    out(batch)?;
                }
            }
            Ok(())
        })
    }
}
