//! The embedded store on disk: Oxigraph, where the program was built with its RocksDB.
//!
//! [`StoreTarget`](crate::store::load::StoreTarget) replaces graphs in it, and a [`Dataset`](crate::query::Dataset) asks it.

pub(crate) mod answer;
#[cfg(feature = "http")]
pub mod endpoint;
pub mod load;
pub(crate) mod quads;

use std::path::{Path, PathBuf};

use oxigraph::store::{StorageError, Store};

/// Why a store on disk could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The program was built without it.
    #[error(
        "this build of rpcgraph has no store on disk: build one with `cargo build --release --features rocksdb`, which \
         takes a C++ compiler, libclang and some minutes"
    )]
    NotBuilt,
    /// There is none to read.
    #[error("there is no store in {}: make one with `rpcgraph load --store`", dir.display())]
    Missing {
        /// The folder.
        dir: PathBuf,
    },
    /// The folder holds something else.
    #[error("{} is no store, and not empty: name a new folder, or an empty one", dir.display())]
    NotAStore {
        /// The folder.
        dir: PathBuf,
    },
    /// Opening it failed.
    #[error("cannot open the store {}: does another program have it open?", dir.display())]
    Failed {
        /// The folder.
        dir: PathBuf,
        /// The store's own words.
        source: StorageError,
    },
}

/// Opens the store in a folder, which is made if it is not there. One process at a time can do so.
pub fn open(dir: &Path) -> Result<Store, StoreError> {
    let is_empty = dir.read_dir().map_or(true, |mut entries| entries.next().is_none());
    if cfg!(feature = "rocksdb") && !is_empty && !is_store(dir) {
        return Err(StoreError::NotAStore { dir: dir.to_owned() });
    }
    on_disk(dir, false)
}

/// Opens the store in a folder as it is now, to read it only.
pub fn open_read_only(dir: &Path) -> Result<Store, StoreError> {
    if cfg!(feature = "rocksdb") && !is_store(dir) {
        return Err(StoreError::Missing { dir: dir.to_owned() });
    }
    on_disk(dir, true)
}

/// Whether RocksDB has been here.
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

/// Removes what bulk loaders that were interrupted had not handed over yet: nobody else has the store open.
#[cfg(feature = "rocksdb")]
fn remove_leftovers(dir: &Path) {
    for entry in dir.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("bulk-") && name.ends_with(".sst") {
            // They only take room.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(not(feature = "rocksdb"))]
fn on_disk(_: &Path, _: bool) -> Result<Store, StoreError> {
    Err(StoreError::NotBuilt)
}
