//! The embedded store on disk: Oxigraph, if the program was built with its RocksDB.
//!
//! [`StoreTarget`](crate::store::load::StoreTarget) replaces graphs in it, and a [`Dataset`](crate::query::Dataset)
//! queries it.

pub(crate) mod answer;
#[cfg(feature = "http")]
pub mod endpoint;
pub mod load;
pub(crate) mod quads;

use std::path::{Path, PathBuf};

use oxigraph::store::{StorageError, Store};

/// Errors in opening a store on disk.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The program was built without RocksDB.
    #[error(
        "this build of rpcgraph does not support stores on disk: build it from its source with `cargo build --release \
         --features rocksdb`, which takes a C++ compiler, libclang and some minutes"
    )]
    NotBuilt,
    /// The folder does not hold a store.
    #[error("found no store in {}: make one with `rpcgraph load --store`", dir.display())]
    Missing {
        /// The folder.
        dir: PathBuf,
    },
    /// The folder holds other files.
    #[error("{} is not a store, and not empty: name a new or an empty folder", dir.display())]
    NotAStore {
        /// The folder.
        dir: PathBuf,
    },
    /// The store failed to open.
    #[error("cannot open the store {}: does another program have it open?", dir.display())]
    Failed {
        /// The folder.
        dir: PathBuf,
        /// The error of the store.
        source: StorageError,
    },
}

/// Opens the store in a folder, which is created if it does not exist. Only one process at a time can do so.
pub fn open(dir: &Path) -> Result<Store, StoreError> {
    let is_empty = dir.read_dir().map_or(true, |mut entries| entries.next().is_none());
    if cfg!(feature = "rocksdb") && !is_empty && !is_store(dir) {
        return Err(StoreError::NotAStore { dir: dir.to_owned() });
    }
    on_disk(dir, false)
}

/// Opens the store in a folder in its current state, for reading only.
pub fn open_read_only(dir: &Path) -> Result<Store, StoreError> {
    if cfg!(feature = "rocksdb") && !is_store(dir) {
        return Err(StoreError::Missing { dir: dir.to_owned() });
    }
    on_disk(dir, true)
}

/// Returns true if the folder holds a RocksDB database.
fn is_store(dir: &Path) -> bool {
    dir.join("CURRENT").exists()
}

#[cfg(feature = "rocksdb")]
fn on_disk(dir: &Path, read_only: bool) -> Result<Store, StoreError> {
    let opened = if read_only { Store::open_read_only(dir) } else { Store::open(dir) };
    let store = opened.map_err(|source| StoreError::Failed { dir: dir.to_owned(), source })?;
    if !read_only {
        remove_leftovers(dir);
    }
    Ok(store)
}

/// Removes unfinished files of interrupted bulk loads: no other process has the store open.
#[cfg(feature = "rocksdb")]
fn remove_leftovers(dir: &Path) {
    for entry in dir.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("bulk-") && name.ends_with(".sst") {
            // The files only waste space, so a failure is ignored.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(not(feature = "rocksdb"))]
fn on_disk(_: &Path, _: bool) -> Result<Store, StoreError> {
    Err(StoreError::NotBuilt)
}
