//! Zstandard: the decoder of its C library, and one in Rust for browsers.

#[cfg(target_family = "wasm")]
pub(super) use self::frames::ZstdDecoder;

#[cfg(not(target_family = "wasm"))]
pub(super) type ZstdDecoder<R> = zstd::stream::read::Decoder<'static, R>;

#[cfg(target_family = "wasm")]
mod frames {
    use std::io::{self, BufRead, Read};

    use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

    /// A decoder of any number of frames.
    pub struct ZstdDecoder<R: Read>(Option<StreamingDecoder<R, FrameDecoder>>);

    impl<R: BufRead> ZstdDecoder<R> {
        pub fn with_buffer(input: R) -> io::Result<Self> {
            StreamingDecoder::new(input).map(|frame| Self(Some(frame))).map_err(io::Error::other)
        }
    }

    impl<R: BufRead> Read for ZstdDecoder<R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            while let Some(mut frame) = self.0.take() {
                let read = frame.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    self.0 = Some(frame);
                    return Ok(read);
                }
                let mut input = frame.into_inner();
                if !input.fill_buf()?.is_empty() {
                    *self = Self::with_buffer(input)?;
                }
            }
            Ok(0)
        }
    }
}
