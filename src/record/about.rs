//! A format's description of itself.

use super::decoder::Decoder;
pub(super) use super::window::Window;

/// A format's description of itself, in its own file.
pub(super) struct About {
    /// One line that describes a record.
    pub summary: &'static str,
    /// The facts that records carry besides messages: time, sender, sessions.
    pub carries: &'static str,
    /// The test that recognises the format.
    pub sign: Sign,
    /// Makes a decoder that keeps records of at most the given number of bytes.
    pub decoder: fn(usize) -> Box<dyn Decoder>,
}

/// A test for a format, given the first bytes of an input. The variant is the part of the input that shows the format.
#[derive(Clone, Copy)]
pub(super) enum Sign {
    /// A line of text, with or without a message after it.
    Line(fn(&Window<'_>) -> bool),
    /// The first JSON value.
    Value(fn(&Window<'_>) -> bool),
    /// A line of text, in a format that cannot be read; with the reason, and advice.
    Refused(fn(&Window<'_>) -> bool, &'static str),
}
