//! Fetched contexts on disk: one file for each URL, named by the SHA-256 of the URL.
//!
//! A file holds the URL that answered (after redirects) and a line feed, then the body. The cache is a convenience:
//! what cannot be read is not there, what cannot be written is not kept.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use url::Url;

use super::error::MAX_DOCUMENT;
use super::remote::{Fetched, is_allowed};

/// A younger copy is used without asking.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);
/// Longest first line.
const MAX_URL: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Cache {
    dir: Option<PathBuf>,
}

impl Cache {
    pub(super) fn new(dir: Option<PathBuf>) -> Self {
        Self { dir }
    }

    /// In the user's cache folder, as the XDG base directory specification says; none where the environment has none.
    pub(super) fn standard() -> Self {
        let variable = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
        Self::new(caches.map(|caches| caches.join("rpcgraph").join("contexts")))
    }

    /// The copy for a URL, if it is fresh or `any_age` is asked for.
    pub(super) fn get(&self, url: &Url, any_age: bool) -> Option<Fetched> {
        let path = self.path(url)?;
        // Opening a pipe would wait for a writer.
        let file = fs::metadata(&path).is_ok_and(|metadata| metadata.is_file()).then(|| File::open(path))?.ok()?;
        // A time in the future has no age, and is not fresh.
        let fresh = || Some(file.metadata().ok()?.modified().ok()?.elapsed().ok()? < FRESH);
        if !any_age && fresh() != Some(true) {
            return None;
        }
        let mut copy = Vec::new();
        (&file).take((MAX_URL + MAX_DOCUMENT) as u64).read_to_end(&mut copy).ok()?;
        let end = copy.iter().position(|byte| *byte == b'\n')?;
        let location = Url::parse(std::str::from_utf8(copy.get(..end)?).ok()?).ok()?;
        let body = copy.split_off(end + 1);
        (is_allowed(&location) && body.len() <= MAX_DOCUMENT).then_some(Fetched { location, body })
    }

    /// Keeps a copy, if that is possible.
    pub(super) fn put(&self, url: &Url, fetched: &Fetched) {
        if let Some(path) = self.path(url) {
            drop(write(&path, fetched));
        }
    }

    fn path(&self, url: &Url) -> Option<PathBuf> {
        Some(self.dir.as_ref()?.join(format!("{:x}", Sha256::digest(url.as_str()))))
    }
}

fn write(path: &std::path::Path, fetched: &Fetched) -> io::Result<()> {
    let dir = path.parent().unwrap_or(path);
    fs::create_dir_all(dir)?;
    let mut file = NamedTempFile::new_in(dir)?;
    writeln!(file, "{}", fetched.location)?;
    file.write_all(&fetched.body)?;
    file.persist(path)?;
    Ok(())
}
