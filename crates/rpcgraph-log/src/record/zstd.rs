//! Zstandard: the decoder of its C library, and one in Rust for browsers.

#[cfg(target_family = "wasm")]
pub(super) use self::frames::ZstdDecoder;

#[cfg(not(target_family = "wasm"))]
pub(super) type ZstdDecoder<R> = zstd::stream::read::Decoder<'static, R>;

#[cfg(target_family = "wasm")]
mod frames {
    use std::error::Error;
    use std::io::{self, BufRead, Read};

    use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
    use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

    /// A decoder of any number of frames, which may have skippable frames between them
    /// ([RFC 8878, 3.1](https://www.rfc-editor.org/rfc/rfc8878#section-3.1)).
    pub struct ZstdDecoder<R> {
        input: R,
        frame: FrameDecoder,
    }

    impl<R: BufRead> ZstdDecoder<R> {
        pub fn with_buffer(input: R) -> io::Result<Self> {
            Ok(Self { input, frame: FrameDecoder::new() })
        }

        /// Reads the header of the next frame.
        fn begin(&mut self) -> io::Result<()> {
            match self.frame.init(&mut self.input) {
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut self.input.by_ref().take(length.into()), &mut io::sink()).map(drop)
                }
                result => result.map_err(failure),
            }
        }
    }

    /// Returns the error of a decoder; data that ends early is an unexpected end.
    fn failure(error: FrameDecoderError) -> io::Error {
        let mut cause: Option<&dyn Error> = Some(&error);
        while let Some(error) = cause {
            if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof) {
                return io::ErrorKind::UnexpectedEof.into();
            }
            cause = error.source();
        }
        io::Error::other(error)
    }

    impl<R: BufRead> Read for ZstdDecoder<R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            while self.frame.can_collect() == 0 {
                if !self.frame.is_finished() {
                    let blocks = BlockDecodingStrategy::UptoBlocks(1);
                    self.frame.decode_blocks(&mut self.input, blocks).map_err(failure)?;
                } else if self.input.fill_buf()?.is_empty() {
                    return Ok(0);
                } else {
                    self.begin()?;
                }
            }
            self.frame.read(buffer)
        }
    }
}
