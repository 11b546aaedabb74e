//! Text for a terminal, with control characters escaped.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::diagnostic::is_obeyed;

/// Escapes control characters except line ends and tabs, in the escapes of the text's syntax (`\u009B`, or `&#x9B;` in
/// XML), so that the text keeps its meaning.
pub(super) struct TerminalWriter<W> {
    inner: W,
    xml: bool,
    /// The beginning of an incomplete character or line end.
    begun: Vec<u8>,
}

impl<W> TerminalWriter<W> {
    pub(super) fn new(inner: W, xml: bool) -> Self {
        Self { inner, xml, begun: Vec::new() }
    }
}

impl<W: Write> Write for TerminalWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let complete = match std::str::from_utf8(&self.begun) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.begun.len() - usize::from(self.begun.ends_with(b"\r")),
        };
        let rest = self.begun.split_off(complete);
        let text = String::from_utf8_lossy(&self.begun);
        let mut shown = String::with_capacity(text.len());
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let next = characters.peek().or(if rest.starts_with(b"\n") { Some(&'\n') } else { None });
            match (character, self.xml) {
                ('\n' | '\t', _) => shown.push(character),
                ('\r', _) if next == Some(&'\n') => shown.push(character),
                (_, _) if !is_obeyed(character) => shown.push(character),
                // Writing to a string never fails.
                (_, true) => drop(write!(shown, "&#x{:X};", u32::from(character))),
                (_, false) => drop(write!(shown, "\\u{:04X}", u32::from(character))),
            }
        }
        self.begun = rest;
        self.inner.write_all(shown.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_at_any_split() {
        let text = "a\tb\r\n\u{1b}[2J\u{9b}31m\u{61c}\u{200e}\u{202e}é日😀\rc\n";
        for (xml, expected) in [
            (false, "a\tb\r\n\\u001B[2J\\u009B31m\\u061C\\u200E\\u202Eé日😀\\u000Dc\n"),
            (true, "a\tb\r\n&#x1B;[2J&#x9B;31m&#x61C;&#x200E;&#x202E;é日😀&#xD;c\n"),
        ] {
            for at in 0..=text.len() {
                let mut writer = TerminalWriter::new(Vec::new(), xml);
                let (left, right) = text.as_bytes().split_at(at);
                writer.write_all(left).and_then(|()| writer.write_all(right)).unwrap();
                assert_eq!(String::from_utf8(writer.inner).unwrap(), expected, "{at}");
            }
        }
    }
}
