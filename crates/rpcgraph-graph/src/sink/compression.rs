//! The compression of an output, which the name of its file chooses.

use std::path::Path;

/// The compression of an output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compression {
    /// Uncompressed.
    #[default]
    None,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl Compression {
    /// Returns the compression for the last extension of a file name.
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension {
            "gz" => Some(Self::Gzip),
            "zst" => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Returns the file name's extension for the syntax, in lower case, and its compression.
    pub fn split(path: &Path) -> (Option<String>, Self) {
        let extension = |path: &Path| path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        let mut name = path.to_owned();
        let compression = extension(&name).and_then(|extension| Self::from_extension(&extension));
        if compression.is_some() {
            name.set_extension("");
        }
        (extension(&name), compression.unwrap_or_default())
    }
}
