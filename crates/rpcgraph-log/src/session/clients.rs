//! The ids of clients on a connection that begins anew: a restart, or a second client.

/// The ids that clients count on one connection, of which the second may be the first one again, after a restart.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClientIds {
    /// The last id before the last `initialize`, and of the requests after it.
    first: Option<u64>,
    second: Option<u64>,
    /// True if requests after the `initialize` go on with the ids before it.
    first_goes_on: bool,
    /// True if requests then go on with the ids of the `initialize`, too: there are two clients, and no restart.
    pub are_two: bool,
}

impl ClientIds {
    /// Creates the ids of a connection whose last id was `first`, and that begins anew with the id `second`.
    pub fn new(first: Option<u64>, second: Option<u64>) -> Self {
        Self { first, second, ..Self::default() }
    }

    /// Takes the id of a request after the `initialize`. Returns true if it is of the first of two clients.
    pub fn take(&mut self, id: u64) -> bool {
        let follows = |last: Option<u64>| last.is_some_and(|last| last.checked_add(1) == Some(id));
        if follows(self.first) && !follows(self.second) {
            (self.first, self.first_goes_on) = (Some(id), true);
            return self.are_two;
        }
        self.are_two |= self.first_goes_on && follows(self.second);
        self.second = Some(id);
        false
    }
}
