//! Zstandard: the decoder of its C library, and one in Rust for browsers.

#[cfg(target_family = "wasm")]
pub(super) use self::frames::ZstdDecoder;

#[cfg(not(target_family = "wasm"))]
pub(super) type ZstdDecoder<R> = zstd::stream::read::Decoder<'static, R>;

#[cfg(target_family = "wasm")]
mod frames {
    use std::io::{self, BufRead, Read};

    use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
    use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

    /// A decoder of any number of frames, skippable ones too.
    pub struct ZstdDecoder<R> {
        input: R,
        frame: FrameDecoder,
        is_open: bool,
    }

    impl<R: BufRead> ZstdDecoder<R> {
        pub fn with_buffer(input: R) -> io::Result<Self> {
            Ok(Self { input, frame: FrameDecoder::new(), is_open: false })
        }

        /// An error of the decoder; at the end of the input, the missing end.
        fn failed(&mut self, error: FrameDecoderError) -> io::Error {
            match self.input.fill_buf() {
                Ok([]) => io::ErrorKind::UnexpectedEof.into(),
                Ok(_) => io::Error::other(error),
                Err(error) => error,
            }
        }
    }

    impl<R: BufRead> Read for ZstdDecoder<R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            loop {
                while self.is_open && self.frame.can_collect() == 0 && !self.frame.is_finished() {
                    let decoded = self.frame.decode_blocks(&mut self.input, BlockDecodingStrategy::UptoBlocks(1));
                    decoded.map_err(|error| self.failed(error))?;
                }
                if self.is_open && self.frame.can_collect() > 0 {
                    return self.frame.read(buffer);
                }
                if self.input.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                self.is_open = false;
                match self.frame.reset(&mut self.input) {
                    Ok(()) => self.is_open = true,
                    Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                        length, ..
                    })) => {
                        io::copy(&mut self.input.by_ref().take(length.into()), &mut io::sink())?;
                    }
                    Err(error) => return Err(self.failed(error)),
                }
            }
        }
    }
}
