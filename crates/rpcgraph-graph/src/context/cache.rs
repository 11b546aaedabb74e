//! Fetched contexts on disk: one file for each URL, named by the SHA-256 of the URL.
//!
//! A file holds the URL that answered (after redirects) and a line feed, then the body. The cache is best effort: an
//! unreadable file counts as missing, and a failed write is ignored.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use url::Url;

use super::error::MAX_DOCUMENT;
use super::remote::{FetchedDocument, is_allowed};

/// A copy younger than this is used without a request.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);
/// The maximum length of the first line, in bytes.
const MAX_URL: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Cache {
    dir: Option<PathBuf>,
}

impl Cache {
    pub(super) fn new(dir: Option<PathBuf>) -> Self {
        Self { dir }
    }

    /// The cache in the user's cache folder, as the XDG base directory specification defines it, or Windows. Keeps
    /// nothing if the environment does not name such a folder.
    pub(super) fn standard() -> Self {
        let variable = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || Some(variable("HOME")?.join(".cache"));
        let caches = variable("XDG_CACHE_HOME").or_else(home).or_else(|| variable("LOCALAPPDATA"));
        Self::new(caches.map(|caches| caches.join("rpcgraph").join("contexts")))
    }

    /// Returns the copy for a URL if it is fresh, or a copy of any age if `any_age`.
    pub(super) fn get(&self, url: &Url, any_age: bool) -> Option<FetchedDocument> {
        let path = self.path(url)?;
        // Opening a named pipe would block until a writer opens it.
        let file = fs::metadata(&path).is_ok_and(|metadata| metadata.is_file()).then(|| File::open(path))?.ok()?;
        // A modification time in the future does not give an age, so the copy is not fresh.
        let fresh = || Some(file.metadata().ok()?.modified().ok()?.elapsed().ok()? < FRESH);
        if !any_age && fresh() != Some(true) {
            return None;
        }
        let mut copy = Vec::new();
        (&file).take((MAX_URL + MAX_DOCUMENT) as u64).read_to_end(&mut copy).ok()?;
        let end = copy.iter().position(|byte| *byte == b'\n')?;
        let location = Url::parse(std::str::from_utf8(copy.get(..end)?).ok()?).ok()?;
        let body = copy.split_off(end + 1);
        (is_allowed(&location) && body.len() <= MAX_DOCUMENT).then_some(FetchedDocument { location, body })
    }

    /// Stores a copy; a failure is ignored.
    pub(super) fn put(&self, url: &Url, fetched: &FetchedDocument) {
        if let Some(path) = self.path(url) {
            drop(write(&path, fetched));
        }
    }

    fn path(&self, url: &Url) -> Option<PathBuf> {
        Some(self.dir.as_ref()?.join(format!("{:x}", Sha256::digest(url.as_str()))))
    }
}

fn write(path: &std::path::Path, fetched: &FetchedDocument) -> io::Result<()> {
    let dir = path.parent().unwrap_or(path);
    fs::create_dir_all(dir)?;
    let mut file = NamedTempFile::new_in(dir)?;
    writeln!(file, "{}", fetched.location)?;
    file.write_all(&fetched.body)?;
    file.persist(path)?;
    Ok(())
}
