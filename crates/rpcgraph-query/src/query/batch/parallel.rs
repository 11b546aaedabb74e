//! Evaluation of the pieces of a chain on several threads.

use std::iter::{Skip, StepBy};
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::plan::{Batch, BatchSink, Chain, Stop};
use super::terms::QueryRun;
use crate::mapping::deep_thread;

/// The maximum number of batches that a thread computes ahead of the consumer.
const AHEAD: usize = 4;

/// The part of a thread: every n-th piece, in order.
pub(super) struct Lane {
    pieces: StepBy<Skip<Range<usize>>>,
    /// `None` ends a piece.
    sender: SyncSender<Result<Option<Batch>, Stop>>,
}

impl Lane {
    /// Passes on the batches of each piece, until an error, or until nobody wants more.
    pub fn run(mut self, chain: &Chain, run: &QueryRun, width: usize) {
        // The receiver is gone if the consumer does not want more.
        let send = |result| self.sender.send(result).map_err(|_| Stop::Enough);
        let _ = self.pieces.try_for_each(|piece| {
            let ended = chain.piece(run, width, piece, &mut |batch| send(Ok(Some(batch))));
            send(ended.map(|()| None))
        });
    }
}

/// The batches of several threads, in the order of the pieces.
#[derive(Default)]
pub(super) struct Ordered {
    left: Range<usize>,
    lane: usize,
    lanes: Vec<Receiver<Result<Option<Batch>, Stop>>>,
}

/// Divides pieces among threads.
pub(super) fn divide(jobs: usize, pieces: Range<usize>) -> (Vec<Lane>, Ordered) {
    let lane = |nth| {
        let (sender, receiver) = sync_channel(AHEAD);
        (Lane { pieces: pieces.clone().skip(nth).step_by(jobs.max(1)), sender }, receiver)
    };
    let (senders, lanes) = (0..jobs).map(lane).unzip();
    (senders, Ordered { left: pieces, lane: 0, lanes })
}

impl Iterator for Ordered {
    type Item = Result<Batch, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.left.is_empty() {
            match self.lanes.get(self.lane)?.recv().unwrap_or(Err(Stop::Enough)) {
                Ok(Some(batch)) => return Some(Ok(batch)),
                Ok(None) => {
                    self.left.start += 1;
                    self.lane = (self.lane + 1) % self.lanes.len();
                }
                Err(stop) => {
                    self.left = 0..0;
                    return Some(Err(stop));
                }
            }
        }
        None
    }
}

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
            let (lanes, mut batches) = divide(jobs, pieces.clone());
            let start = |lane: Lane| deep_thread().spawn_scoped(scope, move || lane.run(self, run, width)).is_ok();
            if !lanes.into_iter().all(start) {
                // Without a receiver, the threads that did start end.
                drop(batches);
                return pieces.try_for_each(|piece| self.piece(run, width, piece, out));
            }
            batches.try_for_each(|batch| out(batch?))
        })
    }
}
