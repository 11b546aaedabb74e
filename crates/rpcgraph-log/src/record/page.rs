//! Pages that show a log, and hold it in compressed pieces, each on a line.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, Cursor, Read};

/// The beginning of a page. The name of its content follows.
pub(super) const PAGE: &[u8] = b"<!--rpcgraph page";
/// The beginning of a line with a piece of the log.
const PIECE: &[u8] = b"<script type=\"application/gzip\" id=\"piece-";
/// The maximum length of a line, in bytes.
const LONGEST: u64 = 1 << 30;

/// Returns the first line of a page.
pub fn page_mark(holds: &str) -> String {
    format!("<!--rpcgraph page: {holds}-->")
}

/// The log in a page.
pub(super) struct PageText<R> {
    page: R,
    line: Vec<u8>,
    piece: Option<GzDecoder<Cursor<Vec<u8>>>>,
}

impl<R: BufRead> PageText<R> {
    pub(super) fn new(page: R) -> Self {
        Self { page, line: Vec::new(), piece: None }
    }

    /// Moves to the next piece; returns false if there is none.
    fn next(&mut self) -> io::Result<bool> {
        loop {
            let is_first = self.line.is_empty();
            self.line.clear();
            self.page.by_ref().take(LONGEST).read_until(b'\n', &mut self.line)?;
            if self.line.is_empty() {
                return Ok(false);
            }
            if is_first && !self.line.starts_with(page_mark("a log").as_bytes()) {
                return Err(io::Error::other(
                    "the page holds no log that is whole: make it of one log, without --redact and filters, and with --full",
                ));
            }
            if let Some(rest) = self.line.strip_prefix(PIECE) {
                let text = rest.split(|byte| matches!(byte, b'>' | b'<')).nth(1).unwrap_or_default();
                let bytes = BASE64_STANDARD.decode(text).map_err(io::Error::other)?;
                self.piece = Some(GzDecoder::new(Cursor::new(bytes)));
                return Ok(true);
            }
        }
    }
}

impl<R: BufRead> Read for PageText<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.piece.as_mut().map_or(Ok(0), |piece| piece.read(buffer))?;
            if read > 0 || buffer.is_empty() || !self.next()? {
                return Ok(read);
            }
        }
    }
}
