//! A value that threads use in order, while the rest of their work is not ordered.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A value that is used in turns: by the thread that has chunk 0, then chunk 1, and so on.
pub(super) struct InOrder<T> {
    state: Mutex<OrderState<T>>,
    changed: Condvar,
}

struct OrderState<T> {
    next: usize,
    /// True if a thread will never take its turn.
    given_up: bool,
    value: T,
}

impl<T> InOrder<T> {
    pub fn new(value: T) -> Self {
        Self { state: Mutex::new(OrderState { next: 0, given_up: false, value }), changed: Condvar::new() }
    }

    /// Waits for the turn of chunk `index`, and uses the value. `None` if the turn will never come.
    pub fn in_turn<R>(&self, index: usize, run: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut state = self.lock();
        while state.next != index {
            if state.given_up {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let result = run(&mut state.value);
        state.next += 1;
        drop(state);
        self.changed.notify_all();
        Some(result)
    }

    /// Ends all waits for a turn that will never come.
    pub fn give_up(&self) {
        self.lock().given_up = true;
        self.changed.notify_all();
    }

    /// Uses the value after all turns.
    pub fn after_all<R>(&self, run: impl FnOnce(&mut T) -> R) -> R {
        run(&mut self.lock().value)
    }

    /// Returns the value after all turns.
    pub fn into_inner(self) -> T {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).value
    }

    fn lock(&self) -> MutexGuard<'_, OrderState<T>> {
        // A panic in a turn ends the run; until then, other threads may still read the value.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn turns_are_taken_in_order() {
        let order = InOrder::new(Vec::new());
        thread::scope(|scope| {
            for index in (0..20).rev() {
                let order = &order;
                scope.spawn(move || order.in_turn(index, |taken| taken.push(index)));
            }
        });
        assert_eq!(order.into_inner(), (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn giving_up_releases_waiting_threads() {
        let order = InOrder::new(());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| order.in_turn(1, |()| ()));
            order.give_up();
            assert_eq!(waiting.join().unwrap(), None);
        });
    }
}
