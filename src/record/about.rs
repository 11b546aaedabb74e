//! A format's description of itself.

use super::decoder::Decoder;
pub(super) use super::window::Window;

/// A format's description of itself, in its own file.
pub(super) struct About {
    /// One line: what a record looks like.
    pub summary: &'static str,
    /// The facts that it tells besides messages: time, sender, sessions.
    pub carries: &'static str,
    /// How it is recognised.
    pub sign: Sign,
    /// Makes a decoder that keeps records of at most that many bytes.
    pub decoder: fn(usize) -> Box<dyn Decoder>,
}

/// A test for a format, given the first bytes of an input, and what it looks at.
#[derive(Clone, Copy)]
pub(super) enum Sign {
    /// A line of text can show the format, with or without a message behind it.
    Line(fn(&Window<'_>) -> bool),
    /// The first JSON value shows the format.
    Value(fn(&Window<'_>) -> bool),
    /// As a line, but logs in this format are not read; and why, and what to do instead.
    Refused(fn(&Window<'_>) -> bool, &'static str),
}
