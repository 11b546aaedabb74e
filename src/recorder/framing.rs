//! Finds messages in the bytes of one side: one on each line, or behind `Content-Length` headers.

use memchr::memchr;
use memchr::memmem;

/// The longest message or line that is kept. The rest of a longer one is left out of the log.
const MAX_MESSAGE: usize = 256 << 20;
const LENGTH: &[u8] = b"content-length:";

/// Takes the bytes of one side in pieces of any size, and gives its messages and the text between them.
///
/// Headers may begin anywhere, so that text which a server prints between its messages does not hide them.
#[derive(Debug, Default)]
pub struct Framing {
    /// Bytes that are not given yet: part of a line, or of a body.
    kept: Vec<u8>,
    /// The length of the body that follows, once its header was read.
    body: Option<usize>,
    /// The length in the headers that are being read.
    length: Option<usize>,
    /// Bytes of the current message that were left out.
    dropped: usize,
}

impl Framing {
    /// Takes bytes, and gives what ends in them.
    pub fn push(&mut self, mut bytes: &[u8], give: &mut dyn FnMut(&[u8])) {
        while !bytes.is_empty() {
            bytes = match self.body {
                Some(length) => self.push_body(length, bytes, give),
                None => self.push_line(bytes, give),
            };
        }
    }

    /// Gives what is left at the end.
    pub fn end(&mut self, give: &mut dyn FnMut(&[u8])) {
        if !self.kept.trim_ascii().is_empty() {
            give(&self.kept);
        }
        *self = Self::default();
    }

    fn push_body<'b>(&mut self, length: usize, bytes: &'b [u8], give: &mut dyn FnMut(&[u8])) -> &'b [u8] {
        let missing = length - self.kept.len() - self.dropped;
        let (body, rest) = bytes.split_at(missing.min(bytes.len()));
        self.keep(body);
        if body.len() == missing {
            self.give(give);
            self.body = None;
        }
        rest
    }

    fn push_line<'b>(&mut self, bytes: &'b [u8], give: &mut dyn FnMut(&[u8])) -> &'b [u8] {
        let Some(end) = memchr(b'\n', bytes) else {
            self.keep(bytes);
            return &[];
        };
        let (line, rest) = bytes.split_at(end + 1);
        self.keep(line);
        let line = self.kept.trim_ascii();
        if line.is_empty() && self.dropped == 0 {
            self.body = self.length.take().filter(|length| *length > 0);
            self.kept.clear();
            return rest;
        }
        if let Some((before, length)) = header(line) {
            self.length = Some(length);
            if !before.is_empty() {
                give(before);
            }
            self.kept.clear();
        } else if self.length.is_some() && !matches!(line.first(), Some(b'{' | b'[')) && line.contains(&b':') {
            // Another header.
            self.kept.clear();
        } else {
            self.length = None;
            self.give(give);
        }
        rest
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_MESSAGE.saturating_sub(self.kept.len()).min(bytes.len());
        let (kept, dropped) = bytes.split_at(room);
        self.kept.extend_from_slice(kept);
        self.dropped += dropped.len();
    }

    fn give(&mut self, give: &mut dyn FnMut(&[u8])) {
        give(self.kept.trim_ascii());
        if self.dropped > 0 {
            give(format!("{} more bytes of the text before were not recorded", self.dropped).as_bytes());
        }
        // The memory of a large message is not kept.
        if self.kept.capacity() > 1 << 20 {
            self.kept = Vec::new()
        } else {
            self.kept.clear()
        }
        self.dropped = 0;
    }
}

/// Reads a `Content-Length` header at the end of a line, and returns the text before it. A message that mentions such a header
/// is none, since its line goes on behind the number.
fn header(line: &[u8]) -> Option<(&[u8], usize)> {
    if matches!(line.first(), Some(b'{' | b'[')) && matches!(line.last(), Some(b'}' | b']')) {
        return None;
    }
    let lower = line.get(line.len().saturating_sub(64)..)?.to_ascii_lowercase();
    let at = line.len() - lower.len() + memmem::rfind(&lower, LENGTH)?;
    let number = str::from_utf8(line.get(at + LENGTH.len()..)?).ok()?.trim();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let length = number.parse().ok().filter(|_| is_number)?;
    Some((line.get(..at)?.trim_ascii(), length))
}

#[cfg(test)]
mod tests {
    use super::Framing;

    fn pieces(bytes: &[u8], size: usize) -> Vec<String> {
        let (mut framing, mut found) = (Framing::default(), Vec::new());
        let mut give = |piece: &[u8]| found.push(String::from_utf8_lossy(piece).into_owned());
        bytes.chunks(size).for_each(|chunk| framing.push(chunk, &mut give));
        framing.end(&mut give);
        found
    }

    #[test]
    fn pieces_of_any_size_give_the_same_messages() {
        let lines = "{\"id\":1}\r\n\n text \n{\"a\":\"Content-Length: 5\"}\n{\"id\":2}";
        let frames = "Content-Length: 8\r\n\r\n{\"id\":1}noise\nmoreContent-Type: x\r\n\
            log: Content-Length: 10\r\nContent-Type: y\r\n\r\n{\"id\":\n12}content-length:0\r\n\r\nContent-Length: 99\n\n{\"i";
        for size in 1..40 {
            let found = pieces(lines.as_bytes(), size);
            assert_eq!(found, ["{\"id\":1}", "text", "{\"a\":\"Content-Length: 5\"}", "{\"id\":2}"]);
            let found = pieces(frames.as_bytes(), size);
            let expected = ["{\"id\":1}", "noise", "moreContent-Type: x", "log:", "{\"id\":\n12}", "{\"i"];
            assert_eq!(found, expected, "{size}");
        }
    }
}
