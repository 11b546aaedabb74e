//! Long arrays, processed in pieces.
//!
//! A batch of a few megabytes may have millions of elements, each of them a node with triples: hundreds of times the
//! memory of its text. So the batch is checked as a whole, and then its elements are read, paired and written piece by
//! piece.

use std::sync::atomic::Ordering;

use super::error::ConvertError;
use super::worker::{ConvertWorker, PairingState, WrittenOutput, bad_element};
use crate::json;
use crate::mapping::{Loss, MapPart};
use crate::message::{Content, PayloadBuffer, Single};
use crate::protocol::Extract;
use crate::record::{Certainty, Entry, KnownMethod, Record};
use crate::session::OpenBatch;

/// The approximate size of a piece, in bytes of its elements.
const BYTES: usize = 64 << 10;
/// The maximum number of elements in a piece.
const ELEMENTS: usize = 2_048;

impl ConvertWorker<'_, '_> {
    /// Writes a record that begins as an array to the sink, in the turn of `index`.
    pub(super) fn run_array(&mut self, index: usize, record: &Record<'_>) {
        let array = match json::check(&record.bytes) {
            Ok(array) if json::elements(array).next().is_some() => array,
            _ => return self.run(index, &[Entry::Record(record.clone())], None),
        };
        let shared = self.shared;
        // All earlier records have been paired, so earlier output does not wait for this record.
        shared.paired.in_turn(index, |paired| {
            shared.written.in_turn(index, |written| {
                if written.error.is_none() {
                    written.error = self.batch(record, array, paired, written).err();
                }
                if written.error.is_some() {
                    shared.stopped.store(true, Ordering::Relaxed);
                }
            })
        });
    }

    fn batch(
        &mut self,
        record: &Record<'_>,
        array: &str,
        paired: &mut PairingState,
        written: &mut WrittenOutput<'_>,
    ) -> Result<(), ConvertError> {
        let in_session = self.shared.mapper.in_session();
        if let Some(index) = self.first_bad(array) {
            let finding = self.finding(record.location, bad_element(index), in_session);
            if self.shared.options.strict {
                return Err(ConvertError::NotAMessage(finding));
            }
            (written.report)(finding);
        }
        let sender_method = if in_session && record.sender.is_none() { self.known_sender(array) } else { None };
        let mut open = in_session.then(|| paired.sessions.begin_batch(record, sender_method));
        let (mut first, mut most) = (true, None);
        let mut elements = json::elements(array).peekable();
        while elements.peek().is_some() {
            let mut bytes = 0;
            let piece: Vec<&str> = std::iter::from_fn(|| {
                let element = elements.next_if(|element| bytes == 0 || bytes + element.len() <= BYTES)?;
                bytes += element.len();
                Some(element)
            })
            .take(ELEMENTS)
            .collect();
            let last = elements.peek().is_none();
            let shown = self.write_elements(record, &piece, (first, last), &mut open, paired, written)?;
            most = most.max(shown);
            first = false;
        }
        paired.summary.count_batch(Certainty::of_batch(most));
        written.tally.merge(&self.mapper.take_tally());
        Ok(())
    }

    /// Writes elements to the sink, maybe the first and the last of their batch. Returns the greatest [`Certainty`]
    /// among them.
    fn write_elements(
        &mut self,
        record: &Record<'_>,
        piece: &[&str],
        (first, last): (bool, bool),
        open: &mut Option<OpenBatch>,
        paired: &mut PairingState,
        written: &mut WrittenOutput<'_>,
    ) -> Result<Option<Certainty>, ConvertError> {
        let mut payloads = std::mem::take(&mut self.payloads);
        payloads.clear();
        let mut singles = self.singles(piece, &mut payloads);
        self.scanner.shrink();
        singles.iter().for_each(|single| paired.summary.count_element(single));
        let most = singles.iter().map(Single::certainty).max();

        self.rendered.clear();
        let mut failures = Vec::new();
        if let Some(open) = open {
            singles.iter_mut().for_each(Single::look_up_method);
            let mut extracts = Extract::all(self.shared.extracted, singles.len(), singles.iter()).into_iter();
            let mut statements = Vec::new();
            let (mut nodes, graph) = paired.sessions.elements(record, open, &singles);
            paired.link(&graph, &mut nodes, &mut extracts, &mut statements);
            // Only now are the senders of all elements known.
            nodes.extend(last.then(|| open.end(record)));
            paired.count_problems(&nodes);
            failures.extend(self.map(Some(&graph), first, &MapPart::Nodes(&graph, &nodes, &statements)).err());
        } else {
            for (index, (single, element)) in singles.into_iter().zip(piece).enumerate() {
                paired.summary.add_problems(single.problems());
                let part = MapPart::Plain(record.location.record, element.as_bytes(), &Content::Single(single));
                failures.extend(self.map(None, first && index == 0, &part).err());
            }
        }
        for failure in failures {
            self.mapper.lose(Loss::NotExpanded);
            (written.report)(self.finding(record.location, failure.to_string(), self.shared.mapper.in_session()));
        }
        written.take(&mut *self.rendered)?;
        self.keep(payloads);
        Ok(most)
    }

    /// Returns the index, from 0, of the first element that needs a finding.
    fn first_bad(&mut self, array: &str) -> Option<usize> {
        if !self.shared.options.strict && self.shared.mapper.in_session() {
            return None;
        }
        let mut payloads = PayloadBuffer::default();
        json::elements(array).position(|element| {
            payloads.clear();
            let singles = self.singles(&[element], &mut payloads);
            !singles.iter().all(|single| self.is_tolerated(single))
        })
    }

    /// Returns the first known method that implies a sender.
    fn known_sender(&mut self, array: &str) -> Option<KnownMethod> {
        let mut payloads = PayloadBuffer::default();
        json::elements(array).find_map(|element| {
            payloads.clear();
            let mut singles = self.singles(&[element], &mut payloads);
            singles.iter_mut().for_each(Single::look_up_method);
            singles.iter().find_map(Single::known_sender)
        })
    }

    /// Returns elements of a batch, which borrow from `payloads`.
    fn singles<'e>(&mut self, elements: &[&'e str], payloads: &'e mut PayloadBuffer) -> Vec<Single<'e>> {
        let scanned: Vec<_> = elements.iter().map(|element| self.scanner.scan_element(element, payloads)).collect();
        let payloads = &*payloads;
        let singles = scanned.into_iter().filter_map(|mut scanned| {
            scanned.lend(payloads);
            // The element is valid, since the batch is valid.
            if let Content::Single(single) = scanned.content { Some(single) } else { None }
        });
        singles.collect()
    }
}
