//! Pages that show a log, and hold it in compressed pieces, each on a line.

use base64::engine::GeneralPurpose;
use base64::prelude::BASE64_STANDARD;
use base64::read::DecoderReader;
use flate2::read::GzDecoder;
use std::io::{self, BufRead, Read};
use std::mem;

/// The beginning of a page. The name of its content follows.
pub(super) const PAGE: &[u8] = b"<!--rpcgraph page";
/// The beginning of a line with a piece of the log.
const PIECE: &[u8] = b"<script type=\"application/gzip\" id=\"piece-";
/// Returns the first line of a page.
pub fn page_mark(holds: &str) -> String {
    format!("<!--rpcgraph page: {holds}-->")
}

/// The log in a page. However long a line is, little of it is in memory.
pub(super) enum PageText<R: BufRead> {
    Begin(R),
    Piece(Box<GzDecoder<DecoderReader<'static, GeneralPurpose, UntilTag<R>>>>),
    End,
}

impl<R: BufRead> PageText<R> {
    pub(super) fn new(page: R) -> Self {
        Self::Begin(page)
    }

    /// Moves to the next piece, or the end.
    fn next(self) -> io::Result<Self> {
        let mut page = match self {
            Self::Begin(mut page) => {
                if !begins_with(&mut page, page_mark("a log").as_bytes())? {
                    return Err(io::Error::other(
                        "this page does not hold a complete log: make it with `rpcgraph report LOG --full`, without --redact and filters",
                    ));
                }
                page
            }
            Self::Piece(piece) => piece.into_inner().into_inner().0,
            Self::End => return Ok(Self::End),
        };
        while page.skip_until(b'\n')? > 0 {
            if begins_with(&mut page, PIECE)? {
                page.skip_until(b'>')?;
                let piece = DecoderReader::new(UntilTag(page), &BASE64_STANDARD);
                return Ok(Self::Piece(Box::new(GzDecoder::new(piece))));
            }
        }
        Ok(Self::End)
    }
}

impl<R: BufRead> Read for PageText<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match self {
                Self::Piece(piece) => piece.read(buffer)?,
                Self::Begin(_) | Self::End => 0,
            };
            if read > 0 || buffer.is_empty() || matches!(self, Self::End) {
                return Ok(read);
            }
            *self = mem::replace(self, Self::End).next()?;
        }
    }
}

/// Reads the bytes of `beginning` as far as they follow. Returns true if all did.
fn begins_with(page: &mut impl BufRead, beginning: &[u8]) -> io::Result<bool> {
    for byte in beginning {
        if page.fill_buf()?.first() != Some(byte) {
            return Ok(false);
        }
        page.consume(1);
    }
    Ok(true)
}

/// The text before the next tag.
pub(super) struct UntilTag<R>(R);

impl<R: BufRead> Read for UntilTag<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let text = self.0.fill_buf()?;
        let text = &text[..memchr::memchr(b'<', text).unwrap_or(text.len())];
        let read = text.len().min(buffer.len());
        buffer[..read].copy_from_slice(&text[..read]);
        self.0.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::{BufReader, Write};

    fn read(page: &[u8], capacity: usize) -> Result<String, io::Error> {
        io::read_to_string(PageText::new(BufReader::with_capacity(capacity, page)))
    }

    #[test]
    fn pieces_are_the_log() {
        let mut page = page_mark("a log") + "<p>\n";
        for text in ["one\n", "two\n", ""] {
            let mut piece = GzEncoder::new(Vec::new(), Compression::fast());
            piece.write_all(text.as_bytes()).unwrap();
            let piece = BASE64_STANDARD.encode(piece.finish().unwrap());
            page +=
                &format!("<script>other</script>\n<script type=\"application/gzip\" id=\"piece-1\">{piece}</script>\n");
        }
        for capacity in [1, 7, 1000] {
            assert_eq!(read(page.as_bytes(), capacity).unwrap(), "one\ntwo\n");
        }
        assert!(read(&page.as_bytes()[..page.len() - 40], 1000).is_err(), "a piece is cut off");
        assert_eq!(read(page_mark("a log").as_bytes(), 1000).unwrap(), "");
        assert!(read(page_mark("two logs").as_bytes(), 1000).is_err());
    }

    #[test]
    fn little_of_a_long_line_is_read_ahead() {
        let head = page_mark("a log") + "\n<script type=\"application/gzip\" id=\"piece-0\">";
        let mut line = io::repeat(b'A').take(1 << 30);
        let page = BufReader::new(head.as_bytes().chain(&mut line));
        assert!(io::read_to_string(PageText::new(page)).is_err(), "zeros are not gzip data");
        assert!(line.limit() > (1 << 30) - (1 << 20));
    }
}
