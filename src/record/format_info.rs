//! A format's description of itself.

use super::decoder::Decoder;
pub(super) use super::window::InputHead;

/// A format's description of itself, in its own file.
pub(super) struct FormatInfo {
    /// One line that describes a record.
    pub summary: &'static str,
    /// The facts that records carry besides messages: time, sender, sessions.
    pub carries: &'static str,
    /// The test that recognises the format.
    pub clue: FormatClue,
    /// Makes a decoder that keeps records of at most the given number of bytes.
    pub decoder: fn(usize) -> Box<dyn Decoder>,
}

/// A test for a format, given the first bytes of an input. The variant is the part of the input that shows the format.
#[derive(Clone, Copy)]
pub(super) enum FormatClue {
    /// A line of text, with or without a message after it.
    Line(fn(&InputHead<'_>) -> bool),
    /// The first JSON value.
    Value(fn(&InputHead<'_>) -> bool),
}
