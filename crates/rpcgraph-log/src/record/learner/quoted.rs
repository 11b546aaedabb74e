//! Text that quotes messages of the log, as in `slow request: {…}` and `pending: [{…}]`.

use super::LearnedFormat;
use super::scan::Call;
use serde_json::Value;
use std::collections::HashMap;
use std::slice;

/// The number of a place, the words in front of some messages there, and the numbers of these messages.
pub(super) type LinePart = (usize, String, Vec<usize>);

/// The number of requests and of answers with each id.
#[derive(Default)]
struct Calls(HashMap<(Vec<u8>, bool), usize>);

impl LearnedFormat<'_> {
    /// Returns the parts that only repeat earlier messages of other places, word for word: requests without answers of
    /// their own, and answers without requests. `copies` are known.
    pub(super) fn quoted(&self, parts: &[LinePart], copies: &[LinePart]) -> Vec<LinePart> {
        let mut originals: Vec<&LinePart> = parts.iter().filter(|part| !copies.contains(part)).collect();
        let mut calls = Calls::default();
        originals.iter().for_each(|part| calls.add(self, part));
        let (mut quoted, mut at) = (Vec::new(), 0);
        while let Some(part) = originals.get(at).copied() {
            calls.remove(self, part);
            let repeats = |number: &usize| self.repeats(*number, part.0, &originals[..at]);
            if part.2.iter().all(|number| calls.leave_none_for(self, *number) && repeats(number)) {
                quoted.push(originals.remove(at).clone());
            } else {
                calls.add(self, part);
                at += 1;
            }
        }
        quoted
    }

    /// True if each part of a message, or of a batch, stands earlier at another place, with the same direction.
    fn repeats(&self, number: usize, place: usize, earlier: &[&LinePart]) -> bool {
        let others = || earlier.iter().filter(|(other, ..)| *other != place).flat_map(|(.., found)| found);
        let is_original = |original: usize, value: &Value| {
            let ways = self.meaning(number).zip(self.meaning(original));
            original < number
                && ways.is_none_or(|(one, other)| one == other)
                && self.candidates[original].value().is_some_and(|all| elements(all).contains(value))
        };
        self.candidates[number]
            .value()
            .is_some_and(|all| elements(all).iter().all(|value| others().any(|original| is_original(*original, value))))
    }
}

impl Calls {
    fn add(&mut self, format: &LearnedFormat<'_>, (.., found): &LinePart) {
        for (id, method) in found.iter().flat_map(|number| format.candidates[*number].calls()) {
            *self.0.entry((id.clone(), method.is_some())).or_default() += 1;
        }
    }

    fn remove(&mut self, format: &LearnedFormat<'_>, (.., found): &LinePart) {
        for (id, method) in found.iter().flat_map(|number| format.candidates[*number].calls()) {
            self.0.entry((id.clone(), method.is_some())).and_modify(|count| *count -= 1);
        }
    }

    /// True if a message has only requests whose answers belong to other requests, or answers to requests with other
    /// answers. If all messages of a log are of one kind, nothing is known about their counterparts.
    fn leave_none_for(&self, format: &LearnedFormat<'_>, number: usize) -> bool {
        let count = |id: &[u8], is_request: bool| self.0.get(&(id.to_vec(), is_request)).copied().unwrap_or_default();
        let has_any = |is_request: bool| self.0.iter().any(|((_, other), count)| *other == is_request && *count > 0);
        let calls = format.candidates[number].calls();
        let is_taken = |(id, method): &Call| {
            let is_request = method.is_some();
            has_any(!is_request) && count(id, !is_request) <= count(id, is_request)
        };
        !calls.is_empty() && calls.iter().all(is_taken)
    }
}

/// Returns the messages of a value: itself, or the elements of a batch.
fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(slice::from_ref(value), Vec::as_slice)
}
