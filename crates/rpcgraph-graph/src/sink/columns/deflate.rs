//! Compression as `zstd::bulk` has it, without C.

use std::io::{self, Read, Write as _};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

pub(super) struct DeflateCompressor(Compression);

impl DeflateCompressor {
    pub fn new(level: u32) -> io::Result<Self> {
        Ok(Self(Compression::new(level)))
    }

    pub fn compress(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut encoder = DeflateEncoder::new(Vec::new(), self.0);
        encoder.write_all(bytes)?;
        encoder.finish()
    }
}

pub(super) struct Decompressor;

impl Decompressor {
    pub fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub fn decompress(&mut self, bytes: &[u8], length: usize) -> io::Result<Vec<u8>> {
        let mut text = Vec::with_capacity(length);
        DeflateDecoder::new(bytes).read_to_end(&mut text)?;
        Ok(text)
    }
}
