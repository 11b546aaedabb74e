//! Learns the format of a log from its beginning, and again from a line that no rule reads; finds lines out of order.

use super::super::Format;
use super::time_order::TimeOrder;
use super::{Reader, ReaderState};
use memchr::memrchr;
use std::mem;

impl Reader<'_> {
    /// Learns the format from the text that is not consumed: up to 64 KiB, or what a live log had until
    /// [`Follow`](super::Follow) was interrupted. Text `below` other lines adds rules. Returns true if there is
    /// more to read by.
    pub(super) fn learn(&mut self, below: bool) -> bool {
        self.fill_window();
        let head = self.window();
        let is_all = self.is_whole();
        let learned_until = self.consumed + head.len() as u64;
        let before = below.then(|| self.learned.as_deref().unwrap_or_default());
        // Text below other lines is inside of the wrappers.
        let wrappers = if below { &[][..] } else { &self.wrappers };
        let learned = self.format.learned(head, is_all, wrappers, before);
        self.learned_until = learned_until;
        let Some((text, own_format)) = learned else { return false };
        (self.learned, self.options.own_format, self.format) = (Some(text), Some(own_format), Format::JsonLines);
        true
    }

    /// True if the rest of the input fits into the window.
    fn is_whole(&self) -> bool {
        !matches!(self.state, ReaderState::Open) && self.current.unread().len() <= Format::WINDOW
    }

    /// Returns the next 64 KiB of the text up to the end of a line, or its rest, or a part of a line that is one value.
    fn window(&self) -> &[u8] {
        let text = self.current.unread();
        let head = &text[..text.len().min(Format::WINDOW)];
        let end = memrchr(b'\n', head).map_or(if begins_value(head) { head.len() } else { 0 }, |end| end + 1);
        if self.is_whole() { head } else { &head[..end] }
    }

    /// Sorts a log if its beginning is out of order. A live log is read as it comes.
    pub(super) fn order_by_time(&mut self) {
        if self.has_paused {
            return;
        }
        let window = self.window();
        // Text on one line has no lines to sort; a value may have elements.
        if memrchr(b'\n', window).is_none() && !begins_value(window) {
            return;
        }
        self.order = TimeOrder::of(self.decoder(), window);
    }

    /// Reads as much of the text as [`Self::learn`] needs.
    pub(super) fn fill_window(&mut self) {
        self.input.set_pauses(true);
        self.has_paused = false;
        // Reading on may switch to another writer.
        while matches!(self.state, ReaderState::Open)
            && self.current.unread().len() < Format::WINDOW
            && !self.has_paused
            && self.unwrapped.is_none()
        {
            self.fill(self.current.unread().len() + 1);
        }
        self.input.set_pauses(false);
    }

    /// Learns again from the current line on, which no rule reads.
    pub(super) fn learn_below(&mut self) {
        self.learnings -= 1;
        if self.learn(true) {
            let mut parked = mem::take(&mut self.parked);
            for input in parked.iter_mut().filter(|input| !input.gave && input.begun.is_none()) {
                input.decoder = self.decoder();
            }
            (self.parked, self.current.decoder) = (parked, self.decoder());
        }
    }
}

/// True if a text may be one value, with messages inside.
fn begins_value(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'{' | b'['))
}
