//! gzip, zstd, bzip2, xz, and UTF-16 with a byte-order mark, recognised by their first bytes.

use super::page::{PAGE, PageText};
use super::zstd::ZstdDecoder;
use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::GzDecoder;
use lzma_rust2::XzReader;
use std::fmt;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The encoding of an input: a compression, or a page whose log is inside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InputEncoding {
    /// gzip, RFC 1952; any number of members, and zeros after them.
    Gzip,
    /// Zstandard, RFC 8878; any number of frames, skippable ones too.
    Zstd,
    /// bzip2; any number of streams.
    Bzip2,
    /// xz; any number of streams, with dictionaries of up to 128 MiB.
    Xz,
    /// A page that `rpcgraph report` made, which holds the log.
    Page,
}

impl InputEncoding {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', ..] => Some(Self::Xz),
            _ if head.starts_with(PAGE) => Some(Self::Page),
            _ => None,
        }
    }
}

impl fmt::Display for InputEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Page => "page",
        })
    }
}

/// Returns the bytes in an input that is plain, compressed, or compressed twice, for files that are not logs.
pub fn decompressed<'r>(input: impl Read + Send + 'r) -> io::Result<impl Read + Send + 'r> {
    Ok(layers(input, Arc::default())?.0)
}

/// Returns the decompressed input, and true if it was compressed.
fn layers<'r>(input: impl Read + Send + 'r, pauses: Arc<AtomicBool>) -> io::Result<(CompressionLayer<'r>, bool)> {
    let inner = CompressionLayer::new(Box::new(LogSource { input, pauses }))?;
    let is_compressed = inner.kind.is_some();
    Ok((CompressionLayer::new(Box::new(inner))?, is_compressed))
}

/// Returns the text of a log that is plain, compressed, or compressed twice, as UTF-8, for a [`Reader`](super::Reader).
pub fn plain_text<'r>(input: impl Read + Send + 'r) -> io::Result<impl Read + Send + 'r> {
    Ok(PlainText::new(input)?.text)
}

/// The text of an input that is plain, compressed, or compressed twice, as UTF-8. Reading fails with a [`TextFailure`].
///
/// Data that ends early gives all text before its end. Damaged data may also lose a block of text before the damage:
/// the libraries do not return a part of a block that is damaged.
pub(super) struct PlainText<'r> {
    text: Utf8<'r>,
    /// True if a read of the input that was interrupted, because nothing came for a while, is not repeated.
    pauses: Arc<AtomicBool>,
    is_compressed: bool,
}

impl<'r> PlainText<'r> {
    pub(super) fn new(input: impl Read + Send + 'r) -> io::Result<Self> {
        let pauses = Arc::default();
        let (plain, is_compressed) = layers(input, Arc::clone(&pauses))?;
        Ok(Self { text: Utf8::new(Box::new(plain)), pauses, is_compressed })
    }

    /// Sets whether a read fails with [`io::ErrorKind::Interrupted`] if nothing came for a while. Compressed data does not
    /// pause.
    pub(super) fn set_pauses(&self, pauses: bool) {
        self.pauses.store(pauses && !self.is_compressed, Ordering::Relaxed);
    }

    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, TextFailure> {
        self.text.read(buffer).map_err(|error| error.downcast().unwrap_or_else(TextFailure::Source))
    }
}

/// The side that failed. It travels inside of an [`io::Error`] through the decompressing readers.
#[derive(Debug, thiserror::Error)]
pub(super) enum TextFailure {
    #[error(transparent)]
    Source(io::Error),
    /// Without a source, the data ends early.
    #[error("{kind} data {}", if source.is_some() { "is damaged" } else { "ends early" })]
    Data { kind: InputEncoding, source: Option<io::Error> },
}

/// The input itself. It marks its errors as its own, so that they do not count as damaged data.
struct LogSource<R> {
    input: R,
    pauses: Arc<AtomicBool>,
}

impl<R: Read> Read for LogSource<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.input.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    if self.pauses.load(Ordering::Relaxed) {
                        return Err(error);
                    }
                }
                result => return result.map_err(|error| io::Error::other(TextFailure::Source(error))),
            }
        }
    }
}

/// The data inside a compression, or plain data.
struct CompressionLayer<'r> {
    kind: Option<InputEncoding>,
    data: AnyRead<'r>,
}

/// An input of any kind.
type AnyRead<'r> = Box<dyn Read + Send + 'r>;

/// The memory limit for xz, in KiB: twice the dictionary of its highest level.
const XZ_MEMORY: u32 = 128 << 10;

/// A reader whose first bytes were read ahead: these bytes, the error after them, and the rest.
type PeekedRead<'r> = Chain<Chain<Cursor<Vec<u8>>, FailedRead>, AnyRead<'r>>;

/// Reads the first bytes of an input ahead. There may be fewer.
fn peek(mut input: AnyRead<'_>) -> (Vec<u8>, PeekedRead<'_>) {
    let mut head = Vec::new();
    let failed = FailedRead(input.by_ref().take(PAGE.len() as u64).read_to_end(&mut head).err());
    (head.clone(), Cursor::new(head).chain(failed).chain(input))
}

impl<'r> CompressionLayer<'r> {
    /// Fails only if memory is short: a read that fails here fails again in [`Read::read`].
    fn new(input: AnyRead<'r>) -> io::Result<Self> {
        let (head, peeked) = peek(input);
        let buffered = |peeked| BufReader::with_capacity(64 * 1024, peeked);
        let kind = InputEncoding::of(&head);
        let data: AnyRead<'r> = match kind {
            None => Box::new(peeked),
            Some(InputEncoding::Gzip) => Box::new(GzipMembers(Some(GzDecoder::new(buffered(peeked))))),
            Some(InputEncoding::Zstd) => Box::new(ZstdDecoder::with_buffer(buffered(peeked))?),
            Some(InputEncoding::Bzip2) => Box::new(MultiBzDecoder::new(buffered(peeked))),
            Some(InputEncoding::Xz) => Box::new(XzReader::new_mem_limit(buffered(peeked), true, XZ_MEMORY)),
            Some(InputEncoding::Page) => Box::new(PageText::new(buffered(peeked))),
        };
        Ok(Self { kind, data })
    }
}

/// A decoder of any number of gzip members. Zeros after a member are padding, as they are for GNU gzip.
struct GzipMembers<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(mut member) = self.0.take() {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                self.0 = Some(member);
                return Ok(read);
            }
            let mut input = member.into_inner();
            if skip_zeros(&mut input)? {
                if input.fill_buf()?.first() != Some(&0x1f) {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "its end is followed by other bytes"));
                }
                self.0 = Some(GzDecoder::new(input));
            }
        }
        Ok(0)
    }
}

/// Skips zeros. Returns true if anything follows them.
fn skip_zeros(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = input.fill_buf()?;
        let (zeros, length) = (bytes.iter().take_while(|byte| **byte == 0).count(), bytes.len());
        input.consume(zeros);
        if zeros < length || length == 0 {
            return Ok(length > 0);
        }
    }
}

/// Fails with its error, once.
struct FailedRead(Option<io::Error>);

impl Read for FailedRead {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl Read for CompressionLayer<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.data.read(buffer);
        let Some(kind) = self.kind else { return result };
        result.map_err(|error| match error.downcast::<TextFailure>() {
            Ok(failure) => io::Error::other(failure),
            Err(error) => {
                let source = Some(error).filter(|error| error.kind() != io::ErrorKind::UnexpectedEof);
                io::Error::other(TextFailure::Data { kind, source })
            }
        })
    }
}

/// Text as UTF-8: as it is, or converted from UTF-16 with a byte-order mark, which is kept.
///
/// A lone surrogate becomes the three bytes that UTF-8 would encode it with, and half of a code unit at the end becomes
/// U+FFFD, so that readers of the text notice both.
struct Utf8<'r> {
    input: PeekedRead<'r>,
    /// Makes a UTF-16 code unit from two bytes; `None` for UTF-8.
    unit: Option<fn([u8; 2]) -> u16>,
    /// Bytes that are not converted yet: between reads, less than a character.
    units: Vec<u8>,
    /// The converted text, and the number of bytes given of it.
    text: Vec<u8>,
    given: usize,
}

impl<'r> Utf8<'r> {
    fn new(input: AnyRead<'r>) -> Self {
        let (head, input) = peek(input);
        let unit: Option<fn([u8; 2]) -> u16> = match head[..] {
            // In UTF-16, this would be a character NUL: it is the byte-order mark of UTF-32.
            [0xff, 0xfe, 0, 0, ..] => None,
            [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
            [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
            _ => None,
        };
        Self { input, unit, units: Vec::new(), text: Vec::new(), given: 0 }
    }

    /// Converts what was read; at the `end` of the input, all of it.
    fn convert(&mut self, unit: fn([u8; 2]) -> u16, end: bool) {
        let mut units: Vec<u16> = self.units.as_chunks().0.iter().map(|pair| unit(*pair)).collect();
        if !end {
            // The other half of the character may follow.
            units.pop_if(|last| matches!(last, 0xd800..=0xdbff));
        }
        (self.text, self.given) = (Vec::new(), 0);
        for character in char::decode_utf16(units.iter().copied()) {
            match character {
                Ok(character) => self.text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
                Err(half) => {
                    let half = half.unpaired_surrogate();
                    let last_two = [half >> 6, half].map(|bits| 0x80 | (bits & 0x3f) as u8);
                    self.text.push(0xed);
                    self.text.extend_from_slice(&last_two);
                }
            }
        }
        self.units.drain(..2 * units.len());
        if end && !std::mem::take(&mut self.units).is_empty() {
            self.text.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
}

impl Read for Utf8<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(unit) = self.unit else { return self.input.read(buffer) };
        while self.given == self.text.len() {
            let held = self.units.len();
            self.units.resize(held + buffer.len().clamp(2, 64 * 1024), 0);
            let read = self.input.read(&mut self.units[held..]);
            self.units.truncate(held + read.as_ref().map_or(0, |read| *read));
            let read = read?;
            self.convert(unit, read == 0);
            if read == 0 && self.text.is_empty() {
                return Ok(0);
            }
        }
        let mut rest = &self.text[self.given..];
        let given = rest.read(buffer)?;
        self.given += given;
        Ok(given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        zstd::encode_all(text, 1).unwrap()
    }

    fn bzip2(text: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn xz(text: &[u8]) -> Vec<u8> {
        let options = lzma_rust2::XzOptions::with_preset(0);
        let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// Returns everything that can be read, and the error at its end.
    fn read(input: impl Read + Send) -> (Vec<u8>, Option<String>) {
        let (mut text, mut all, mut buffer) = (PlainText::new(input).unwrap(), Vec::new(), [0; 5]);
        loop {
            match text.read(&mut buffer) {
                Ok(0) => return (all, None),
                Ok(read) => all.extend_from_slice(&buffer[..read]),
                Err(failure) => return (all, Some(failure.to_string())),
            }
        }
    }

    #[test]
    fn plain_compressed_and_compressed_twice() {
        let text = b"{\"a\":1}\n[2]\n";
        let skippable = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3], &zstd(text)[..]].concat();
        for input in [
            text.to_vec(),
            gzip(text),
            zstd(text),
            gzip(&zstd(text)),
            zstd(&gzip(text)),
            gzip(&gzip(text)),
            bzip2(text),
            xz(text),
            xz(&bzip2(text)),
            [bzip2(b"{\"a\""), bzip2(b":1}\n[2]\n")].concat(),
            [xz(b"{\"a\""), xz(b":1}\n[2]\n")].concat(),
            [gzip(b"{\"a\""), gzip(b""), gzip(b":1}\n[2]\n")].concat(),
            [gzip(b"{\"a\""), vec![0; 100_000], gzip(b":1}\n[2]\n"), vec![0; 512]].concat(),
            [xz(b"{\"a\""), vec![0; 8], xz(b":1}\n[2]\n"), vec![0; 512]].concat(),
            [zstd(b"{\"a\""), zstd(b""), zstd(b":1}\n[2]\n")].concat(),
            skippable.clone(),
            [zstd(b""), skippable].concat(),
        ] {
            assert_eq!(read(&input[..]), (text.to_vec(), None), "{input:x?}");
        }
        assert_eq!(read(&b""[..]), (vec![], None));
        assert_eq!(read(&b"{}\n"[..]), (b"{}\n".to_vec(), None));
    }

    #[test]
    fn cut_off_anywhere() {
        let text: Vec<u8> = (0..400_u32).flat_map(|n| format!("{}\n", n * n).into_bytes()).collect();
        for (kind, whole) in [("gzip", gzip(&text)), ("zstd", zstd(&text)), ("bzip2", bzip2(&text)), ("xz", xz(&text))]
        {
            for length in 4..whole.len() {
                let (found, error) = read(&whole[..length]);
                assert!(text.starts_with(&found));
                assert_eq!(error, Some(format!("{kind} data ends early")), "{length}");
            }
            let next = [&whole[..], &whole[..whole.len() / 2]].concat();
            let (found, error) = read(&next[..]);
            assert!(found.starts_with(&text));
            assert_eq!(error, Some(format!("{kind} data ends early")));
        }
    }

    #[test]
    fn damaged() {
        let text = b"some text that is long enough to be damaged";
        let mut checksum = gzip(text);
        let at = checksum.len() - 8;
        checksum[at] ^= 1;
        assert_eq!(read(&checksum[..]), (text.to_vec(), Some("gzip data is damaged".to_owned())));
        for (kind, mut whole) in [("bzip2", bzip2(text)), ("xz", xz(text))] {
            let at = whole.len() - 5;
            whole[at] ^= 1;
            assert_eq!(read(&whole[..]).1, Some(format!("{kind} data is damaged")));
        }
        for (kind, whole) in [("gzip", gzip(text)), ("zstd", zstd(text))] {
            let garbage = [&whole[..], b"no frame"].concat();
            assert_eq!(read(&garbage[..]), (text.to_vec(), Some(format!("{kind} data is damaged"))));
        }
    }

    #[test]
    fn errors_of_the_input_are_its_own() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the disk is on fire"))
            }
        }
        let text = b"text";
        for whole in [text.to_vec(), gzip(text), zstd(text), bzip2(text), xz(text), gzip(&zstd(text))] {
            for length in [0, 2, 4, whole.len()] {
                let (_, error) = read(whole[..length].chain(Broken));
                assert_eq!(error.as_deref(), Some("the disk is on fire"));
            }
        }
    }

    /// Small data may claim to need a lot of memory.
    #[test]
    fn dictionaries_are_bounded() {
        let mut bomb = xz(&[b'x'; 1000]);
        // The property of the filter, in the header of the block; 40 is 4 GiB. The checksum of the header comes after
        // it.
        let property = 12 + 2 + 2;
        bomb[property] = 40;
        let header = 12..12 + (usize::from(bomb[12]) + 1) * 4 - 4;
        let mut crc = flate2::Crc::new();
        crc.update(&bomb[header.clone()]);
        bomb[header.end..header.end + 4].copy_from_slice(&crc.sum().to_le_bytes());
        assert_eq!(read(&bomb[..]), (vec![], Some("xz data is damaged".to_owned())));
    }

    #[test]
    fn utf_16() {
        let text = "\u{feff}{\"a\":\"é 中 😀\"}\r\n[2]\n";
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            let whole: Vec<u8> = text.encode_utf16().flat_map(order).collect();
            for input in [whole.clone(), gzip(&whole), xz(&whole)] {
                assert_eq!(read(&input[..]), (text.as_bytes().to_vec(), None));
            }
            for cut in 2..whole.len() {
                let (found, error) = read(&whole[..cut]);
                let kept = found.strip_suffix("\u{fffd}".as_bytes()).unwrap_or(&found);
                assert!(error.is_none() && kept.len() >= cut / 2, "{cut}");
                // A cut between the halves of a pair leaves the first half.
                let kept = kept.strip_suffix(b"\xed\xa0\xbd").unwrap_or(kept);
                assert!(text.as_bytes().starts_with(kept), "{cut}");
            }
            let halves = [0xfeff, 0xd83d, 0x61, 0xde00, 0xd83d].map(order).concat();
            assert_eq!(read(&halves[..]).0, b"\xef\xbb\xbf\xed\xa0\xbda\xed\xb8\x80\xed\xa0\xbd");
        }
    }
}
