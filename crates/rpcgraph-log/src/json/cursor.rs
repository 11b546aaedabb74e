//! A cursor that reads JSON text from front to back.

use memchr::memchr2;

use super::unescape;

/// A position in JSON text, from which the next token is read.
///
/// Reading checks the text. If the text is not what the caller asked for, the cursor stops at the wrong byte, or at the
/// end of a text that is cut off.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    /// `bytes` as text; empty if they may not be UTF-8.
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str, at: usize) -> Self {
        Self { bytes: text.as_bytes(), text, at }
    }

    /// A cursor over bytes that may not be UTF-8. It checks their structure: names, strings and numbers are read as empty
    /// texts.
    pub fn over(bytes: &'a [u8]) -> Self {
        Self { bytes, text: "", at: 0 }
    }

    /// The position, in bytes.
    pub fn at(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The text from `start` up to the cursor.
    pub fn text_from(&self, start: usize) -> &'a str {
        self.text_between(start, self.at).unwrap_or_default()
    }

    /// The text between two positions. `None` if it is not UTF-8.
    #[inline]
    pub fn text_between(&self, start: usize, end: usize) -> Option<&'a str> {
        self.text.get(start..end)
    }

    /// Returns the next byte, which may be whitespace, without consuming it.
    #[inline]
    pub(super) fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips whitespace, and returns the byte after it without consuming that byte.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte()? {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Skips the byte that [`Self::peek`] returned.
    pub fn skip(&mut self) {
        self.at += 1;
    }

    /// Skips whitespace and the byte, if it is next.
    pub fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.skip())
    }

    /// Skips a comma and returns true, or skips the closing bracket `end` and returns false.
    pub fn another(&mut self, end: u8) -> Option<bool> {
        let next = self.peek()?;
        (next == b',' || next == end).then(|| {
            self.skip();
            next == b','
        })
    }

    /// Calls `take` at each element or member of the array or object that is next, whose bracket is `open`. `None` if the
    /// next value is another one, or if `take` does not read a whole element or member.
    #[inline]
    pub fn each(&mut self, open: u8, mut take: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        let end = if open == b'{' { b'}' } else { b']' };
        self.take(open)?;
        let mut more = self.take(end).is_none();
        while more {
            take(self)?;
            more = self.another(end)?;
        }
        Some(())
    }

    /// True if only whitespace follows.
    pub fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Within a string, moves to the next quote, backslash or control character, and returns that byte.
    #[inline(always)]
    pub(super) fn next_special(&mut self) -> Option<u8> {
        self.at += special(self.bytes.get(self.at..)?);
        self.bytes.get(self.at).copied()
    }

    /// Reads a string without escape sequences. Returns the text between its quotes.
    #[inline]
    pub fn plain_string(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        self.rest_of_plain_string()
    }

    /// As [`Self::plain_string`], behind the opening quote.
    #[inline(always)]
    pub(super) fn rest_of_plain_string(&mut self) -> Option<&'a str> {
        let start = self.at;
        let next = self.next_special()?;
        let string = self.text_between(start, self.at)?;
        (next == b'"').then(|| {
            self.skip();
            string
        })
    }

    /// Reads the rest of a string, behind its opening quote. Returns the text between the quotes, with its escape
    /// sequences, or the problem with it.
    #[inline(always)]
    pub fn rest_of_string(&mut self) -> Result<&'a str, &'static str> {
        let start = self.at;
        loop {
            match self.next_special() {
                Some(b'\\') => drop(self.escape().ok_or("invalid escape")?),
                Some(b'"') => {
                    let string = self.text_from(start);
                    self.skip();
                    return Ok(string);
                }
                _ => return Err("control character in a string"),
            }
        }
    }

    /// Returns up to eight bytes at `start`, the first of `length` bytes, as a number with the same order. Missing bytes
    /// are zeros, which strings without escape sequences do not contain.
    #[inline]
    pub(super) fn prefix(&self, start: usize, length: usize) -> u64 {
        let text = self.bytes.get(start..).unwrap_or_default();
        let word = match text.first_chunk() {
            Some(chunk) => u64::from_be_bytes(*chunk),
            None => text.iter().rev().fold(0, |word, byte| word >> 8 | u64::from(*byte) << 56),
        };
        let excess = 8 * 8_u32.saturating_sub(length.min(8) as u32);
        word & u64::MAX.checked_shl(excess).unwrap_or(0)
    }

    /// Reads a string of text that is known to be JSON. Returns the text between its quotes, with its escape sequences.
    pub fn known_string(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let start = self.at;
        self.pass_string()?;
        self.text.get(start..self.at - 1)
    }

    /// Skips the rest of a string and its quote, in text that is known to be JSON.
    #[inline]
    fn pass_string(&mut self) -> Option<()> {
        loop {
            let rest = self.rest();
            // Most names are too short for `memchr2` to repay its set-up.
            self.at += match rest.first_chunk().and_then(special_in) {
                Some(near) => near,
                None => memchr2(b'"', b'\\', rest)?,
            };
            if self.rest().first() == Some(&b'"') {
                self.skip();
                return Some(());
            }
            self.at += 2;
        }
    }

    /// Skips the next value of text that is known to be JSON. If `depth` is not 0, skips the rest of that many enclosing
    /// arrays and objects.
    pub fn pass_canonical(&mut self, mut depth: usize) -> Option<()> {
        loop {
            let byte = self.peek()?;
            self.skip();
            match byte {
                b'"' => self.pass_string()?,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.checked_sub(1)?,
                b',' | b':' => {}
                _ => self.known_scalar(),
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Reads the next value of text that is known to be JSON, and returns its text.
    #[inline]
    pub fn canonical(&mut self) -> Option<&'a str> {
        self.peek()?;
        let start = self.at;
        self.pass_canonical(0)?;
        self.text.get(start..self.at)
    }

    /// Skips a number, `true`, `false` or `null`, in text that is known to be JSON.
    pub fn known_scalar(&mut self) {
        let is_in = |byte: &u8| !matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
        self.at += self.rest().iter().take_while(|byte| is_in(byte)).count();
    }

    /// Skips an escape sequence of two characters, if it is canonical.
    pub(super) fn pass_short_escape(&mut self) -> bool {
        let is_short = matches!(self.bytes.get(self.at + 1), Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't'));
        if is_short {
            self.at += 2;
        }
        is_short
    }

    /// Reads the next escape sequence. Returns its character, or a lone surrogate as an `Err`.
    pub fn escape(&mut self) -> Option<Result<char, u16>> {
        let escape = self.rest();
        match unescape(escape) {
            Some((unescaped, length)) => {
                self.at += length;
                Some(unescaped)
            }
            None => {
                let is_right = |(at, byte): &(usize, &u8)| match at {
                    0 => true,
                    1 => **byte == b'u',
                    _ => byte.is_ascii_hexdigit(),
                };
                self.at += escape.iter().enumerate().take_while(is_right).count();
                None
            }
        }
    }

    /// Reads `true`, `false` or `null`.
    pub fn word(&mut self) -> Option<&'static str> {
        let word = match self.peek()? {
            b't' => "true",
            b'f' => "false",
            _ => "null",
        };
        let rest = self.rest();
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Some(word);
        }
        self.at += rest.iter().zip(word.bytes()).take_while(|(byte, wanted)| *byte == wanted).count();
        None
    }

    /// Reads a number, and returns its spelling.
    pub fn number(&mut self) -> Option<&'a str> {
        self.peek()?;
        let start = self.at;
        self.check_number()?;
        Some(self.text_from(start))
    }

    fn check_number(&mut self) -> Option<()> {
        self.pass(b"-");
        if self.pass(b"0").is_none() {
            self.digits()?;
        } else if self.rest().first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        if self.pass(b".").is_some() {
            self.digits()?;
        }
        if self.pass(b"eE").is_some() {
            self.pass(b"+-");
            self.digits()?;
        }
        Some(())
    }

    fn pass(&mut self, bytes: &[u8]) -> Option<()> {
        bytes.contains(self.rest().first()?).then(|| self.skip())
    }

    /// Skips one or more digits.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.skip();
        }
        (self.at > start).then_some(())
    }
}

/// Returns the number of bytes before the first quote, backslash or control character, or the number of all bytes.
#[inline]
pub fn special(bytes: &[u8]) -> usize {
    // Names and words of text often end within the first sixteen bytes.
    match bytes.first_chunk() {
        Some(chunk) => special_in(chunk).unwrap_or_else(|| special_far(bytes)),
        None => special_near(bytes),
    }
}

/// As [`special`], for bytes that begin with many plain ones.
fn special_far(bytes: &[u8]) -> usize {
    let (chunks, rest) = bytes.as_chunks::<32>();
    let is_plain = |chunk: &&[u8; 32]| chunk.iter().fold(0, |any, byte| any | u8::from(is_special(*byte))) == 0;
    let plain = 32 * chunks.iter().take_while(is_plain).count();
    let (chunks, rest) = bytes.get(plain..).unwrap_or(rest).as_chunks();
    for (index, chunk) in chunks.iter().enumerate() {
        if let Some(found) = special_in(chunk) {
            return plain + 16 * index + found;
        }
    }
    plain + 16 * chunks.len() + special_near(rest)
}

/// As [`special`], for fewer than sixteen bytes.
fn special_near(bytes: &[u8]) -> usize {
    let mut chunk = [b' '; 16];
    if let Some(start) = chunk.get_mut(..bytes.len()) {
        start.copy_from_slice(bytes);
    }
    special_in(&chunk).unwrap_or(bytes.len())
}

/// Returns the index of the first quote, backslash or control character among sixteen bytes.
#[inline(always)]
pub fn special_in(bytes: &[u8; 16]) -> Option<usize> {
    // A loop without calls, which compiles to comparisons of all bytes at once.
    let mut found = [[0; 8]; 2];
    for (found, byte) in found.as_flattened_mut().iter_mut().zip(bytes) {
        *found = if is_special(*byte) { u8::MAX } else { 0 };
    }
    let [near, far] = found.map(u64::from_le_bytes);
    if near != 0 {
        return Some((near.trailing_zeros() / 8) as usize);
    }
    (far != 0).then(|| 8 + (far.trailing_zeros() / 8) as usize)
}

#[inline(always)]
fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_bytes_are_found_wherever_they_are() {
        for length in 0..100 {
            for at in 0..length {
                for byte in [b'"', b'\\', 0, 0x1f] {
                    let mut bytes = vec![0xC3; length];
                    bytes[at] = byte;
                    assert_eq!(special(&bytes), at);
                }
            }
            assert_eq!(special(&vec![b' '; length]), length);
            assert_eq!(special(&vec![0x80; length]), length);
        }
    }
}
