//! `file:` URLs of paths. A browser has neither.

use std::path::{Path, PathBuf};

use url::Url;

/// Returns the URL of an absolute path.
#[cfg(not(target_family = "wasm"))]
pub fn file_url(path: &Path) -> Option<Url> {
    Url::from_file_path(path).ok()
}

/// Returns the path of a URL.
#[cfg(not(target_family = "wasm"))]
pub(super) fn file_path(url: &Url) -> Option<PathBuf> {
    url.to_file_path().ok()
}

#[cfg(target_family = "wasm")]
pub fn file_url(_: &Path) -> Option<Url> {
    None
}

#[cfg(target_family = "wasm")]
pub(super) fn file_path(_: &Url) -> Option<PathBuf> {
    None
}
