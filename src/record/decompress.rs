//! gzip and zstd, recognised by their first bytes.

use flate2::bufread::MultiGzDecoder;
use std::fmt;
use std::io::{self, BufReader, Chain, Cursor, Read};
use zstd::stream::read::Decoder as ZstdDecoder;

/// How data are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InputCompression {
    /// gzip, RFC 1952; any number of members.
    Gzip,
    /// Zstandard, RFC 8878; any number of frames, skippable ones too.
    Zstd,
}

impl InputCompression {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some(Self::Zstd),
            _ => None,
        }
    }
}

impl fmt::Display for InputCompression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}

/// The bytes behind an input that is plain, compressed, or compressed twice, for files that are not logs.
pub fn decompressed<R: Read>(input: R) -> io::Result<impl Read> {
    CompressionLayer::new(CompressionLayer::new(LogSource(input))?)
}

/// The text of an input that is plain, compressed, or compressed twice. It fails with a [`TextFailure`].
///
/// Data that ends early gives all text before its end. Where data is damaged, a block of text before that place may be
/// lost with it: the libraries give no part of a piece that they found damaged.
pub(super) struct PlainText<R: Read>(CompressionLayer<CompressionLayer<LogSource<R>>>);

impl<R: Read> PlainText<R> {
    pub(super) fn new(input: R) -> io::Result<Self> {
        Ok(Self(CompressionLayer::new(CompressionLayer::new(LogSource(input))?)?))
    }

    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, TextFailure> {
        self.0.read(buffer).map_err(|error| error.downcast().unwrap_or_else(TextFailure::Source))
    }
}

/// Which side failed. Travels inside of an [`io::Error`] through the decompressing readers.
#[derive(Debug, thiserror::Error)]
pub(super) enum TextFailure {
    #[error(transparent)]
    Source(io::Error),
    /// Without a source, the data ends early.
    #[error("{kind} data {}", if source.is_some() { "is damaged" } else { "ends early" })]
    Data { kind: InputCompression, source: Option<io::Error> },
}

/// The input itself: marks its errors as its own, so that they are not taken for damaged data.
struct LogSource<R>(R);

impl<R: Read> Read for LogSource<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result.map_err(|error| io::Error::other(TextFailure::Source(error))),
            }
        }
    }
}

/// The data behind one compression, or behind none.
enum CompressionLayer<R: Read> {
    Plain(Peeked<R>),
    Gzip(MultiGzDecoder<BufReader<Peeked<R>>>),
    Zstd(ZstdDecoder<'static, BufReader<Peeked<R>>>),
}

/// A reader of which the first bytes were looked at: those, the error that came behind them, and the rest.
type Peeked<R> = Chain<Chain<Cursor<Vec<u8>>, Failed>, R>;

impl<R: Read> CompressionLayer<R> {
    /// Fails only for want of memory: a read that fails here does so again in [`Read::read`].
    fn new(mut input: R) -> io::Result<Self> {
        let mut head = Vec::new();
        let failed = Failed(input.by_ref().take(4).read_to_end(&mut head).err());
        let kind = InputCompression::of(&head);
        let peeked = Cursor::new(head).chain(failed).chain(input);
        let buffered = |peeked| BufReader::with_capacity(64 * 1024, peeked);
        Ok(match kind {
            None => Self::Plain(peeked),
            Some(InputCompression::Gzip) => Self::Gzip(MultiGzDecoder::new(buffered(peeked))),
            Some(InputCompression::Zstd) => Self::Zstd(ZstdDecoder::with_buffer(buffered(peeked))?),
        })
    }
}

/// Fails with its error, once.
struct Failed(Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl<R: Read> Read for CompressionLayer<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (kind, result) = match self {
            Self::Plain(input) => return input.read(buffer),
            Self::Gzip(input) => (InputCompression::Gzip, input.read(buffer)),
            Self::Zstd(input) => (InputCompression::Zstd, input.read(buffer)),
        };
        result.map_err(|error| match error.downcast::<TextFailure>() {
            Ok(failure) => io::Error::other(failure),
            Err(error) => {
                let source = Some(error).filter(|error| error.kind() != io::ErrorKind::UnexpectedEof);
                io::Error::other(TextFailure::Data { kind, source })
            }
        })
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

    /// Everything that can be read, and how it ends.
    fn read(input: impl Read) -> (Vec<u8>, Option<String>) {
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
            [gzip(b"{\"a\""), gzip(b""), gzip(b":1}\n[2]\n")].concat(),
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
        for (kind, whole) in [("gzip", gzip(&text)), ("zstd", zstd(&text))] {
            for length in 4..whole.len() {
                let (found, error) = read(&whole[..length]);
                assert!(text.starts_with(&found));
                assert_eq!(error, Some(format!("{kind} data ends early")), "{length}");
            }
            let next = [&whole[..], &whole[..7]].concat();
            assert_eq!(read(&next[..]), (text.clone(), Some(format!("{kind} data ends early"))));
        }
    }

    #[test]
    fn damaged() {
        let text = b"some text that is long enough to be damaged";
        let mut checksum = gzip(text);
        let at = checksum.len() - 8;
        checksum[at] ^= 1;
        assert_eq!(read(&checksum[..]), (text.to_vec(), Some("gzip data is damaged".to_owned())));
        let garbage = [&zstd(text)[..], b"no frame"].concat();
        assert_eq!(read(&garbage[..]), (text.to_vec(), Some("zstd data is damaged".to_owned())));
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
        for whole in [text.to_vec(), gzip(text), zstd(text), gzip(&zstd(text))] {
            for length in [0, 2, 4, whole.len()] {
                let (_, error) = read(whole[..length].chain(Broken));
                assert_eq!(error.as_deref(), Some("the disk is on fire"));
            }
        }
    }
}
