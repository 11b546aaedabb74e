//! Requests that wait for their answers, in the order of their names.

use std::collections::BTreeMap;

use crate::session::Name;

/// The default maximum number of open requests; beyond it, the oldest is evicted.
const OPEN: usize = 1 << 18;

/// Data about open requests.
pub struct OpenRequests<T> {
    requests: BTreeMap<Name, T>,
    limit: usize,
}

impl<T> Default for OpenRequests<T> {
    fn default() -> Self {
        Self::new(OPEN)
    }
}

impl<T> OpenRequests<T> {
    /// Creates a table of at most `limit` requests.
    pub fn new(limit: usize) -> Self {
        Self { requests: BTreeMap::new(), limit }
    }

    /// Removes all requests and returns their number.
    pub fn clear(&mut self) -> u64 {
        std::mem::take(&mut self.requests).len() as u64
    }

    /// Returns the data of an open request.
    pub fn get_mut(&mut self, name: Name) -> Option<&mut T> {
        self.requests.get_mut(&name)
    }

    /// Adds the newest request; returns the oldest and its data, if it was evicted.
    pub fn insert(&mut self, name: Name, remembered: T) -> Option<(Name, T)> {
        self.requests.insert(name, remembered);
        if self.requests.len() > self.limit { self.requests.pop_first() } else { None }
    }

    /// Removes a request and returns its data.
    pub fn take(&mut self, name: Name) -> Option<T> {
        self.requests.remove(&name)
    }
}

/// Open requests by the digests of their progress tokens, which several requests may share.
pub(super) struct ProgressTokens<T>(BTreeMap<(u128, Name), T>);

impl<T> Default for ProgressTokens<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Copy> ProgressTokens<T> {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn insert(&mut self, token: u128, request: Name, data: T) {
        self.0.insert((token, request), data);
    }

    /// Returns the newest open request that gave a token, and its data.
    pub fn newest(&self, token: u128) -> Option<(Name, T)> {
        let first = Name { record: 0, element: None };
        let last = Name { record: u64::MAX, element: Some(u32::MAX) };
        self.0.range((token, first)..=(token, last)).next_back().map(|((_, request), data)| (*request, *data))
    }

    pub fn remove(&mut self, token: u128, request: Name) {
        self.0.remove(&(token, request));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(record: u64) -> Name {
        Name { record, element: None }
    }

    #[test]
    fn a_shared_token_belongs_to_the_newest_open_request() {
        let mut tokens = ProgressTokens::default();
        for record in 1..=3 {
            tokens.insert(7, name(record), record);
            tokens.insert(8, name(record + 10), record);
        }
        tokens.remove(7, name(1));
        assert_eq!(tokens.newest(7), Some((name(3), 3)));
        tokens.remove(7, name(3));
        assert_eq!(tokens.newest(7), Some((name(2), 2)));
        tokens.remove(7, name(2));
        assert_eq!((tokens.newest(7), tokens.newest(8)), (None, Some((name(13), 3))));
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let mut open = OpenRequests::default();
        for record in 0..OPEN as u64 {
            assert_eq!(open.insert(name(record), record), None);
        }
        assert_eq!(open.take(name(0)), Some(0));
        assert_eq!(open.insert(name(1 << 30), 7), None);
        assert_eq!(open.insert(name(1 << 31), 8), Some((name(1), 1)));
    }
}
