//! Writes a register to disk as a whole, or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::folder::shown;
use crate::sink::{UnfinishedFolder, unfinished};

/// A kind of output folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Product {
    /// Its name.
    name: &'static str,
    /// The file that identifies the product and lists its files.
    pub marker: &'static str,
}

impl Product {
    /// A register.
    pub const REGISTER: Self = Self { name: "register", marker: "register.json" };
    /// A building block, made from captured traffic.
    pub const BLOCK: Self = Self { name: "building block", marker: "bblock.json" };

    /// A collection of captured calls.
    pub const COLLECTION: Self = Self { name: "collection", marker: "collection.json" };

    /// Returns the marker's entry about this tool: the list of the product's files.
    pub fn tooling(self, files: &Files) -> Value {
        let mut files: Vec<&str> = files.keys().map(String::as_str).chain([self.marker]).collect();
        files.sort_unstable();
        json!({ "rpcgraph": { "files": files } })
    }
}

/// The reason why a product cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The path is not a folder, is in use, or holds other files, which would be lost.
    #[error("{0}")]
    Refused(String),
    /// The system refuses the write.
    #[error("cannot write {path}")]
    Io {
        /// The path.
        path: String,
        /// The system's error.
        source: io::Error,
    },
}

/// The files of a register, by path.
pub type Files = BTreeMap<String, String>;

/// Formats pretty JSON with a line end.
pub fn lines(value: &Value) -> String {
    format!("{value:#}\n")
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> WriteError + '_ {
    move |source| WriteError::Io { path: shown(path), source }
}

/// Puts the files of a product into a folder, in place of an earlier product of the same kind if there is one.
///
/// The files are written beside the folder, which is replaced when all are complete. A folder with files that the
/// earlier product did not list is refused.
///
/// With `replace`, the folder may hold a product that another program wrote, which is then removed.
pub fn write(files: &Files, folder: &Path, product: Product, replace: bool) -> Result<(), WriteError> {
    let target = UnfinishedFolder::target(folder).map_err(failed(folder))?;
    if target.symlink_metadata().is_ok() {
        check_replaceable(&target, product, replace)?;
        if UnfinishedFolder::holds_current(&target) {
            let problem = "is, or contains, the current folder; run the command from elsewhere";
            return Err(WriteError::Refused(format!("{} {problem}", shown(folder))));
        }
    }
    let parent = target.parent().ok_or_else(|| not_a_folder(folder))?;
    fs::create_dir_all(parent).map_err(failed(folder))?;
    let beside = UnfinishedFolder::beside(target).map_err(failed(folder))?;
    let complete = beside.path();
    for (path, text) in files {
        let path = complete.join(path);
        let _whole = unfinished();
        fs::create_dir_all(path.parent().unwrap_or(&complete)).map_err(failed(&path))?;
        fs::write(&path, text).map_err(failed(&path))?;
    }
    beside.finish().map_err(failed(folder))
}

fn not_a_folder(path: &Path) -> WriteError {
    WriteError::Refused(format!("{} is not a folder: name one, or a path where there is nothing yet", shown(path)))
}

/// Fails if replacing the folder would lose files: it must be empty, or hold a product and only files that the marker
/// lists.
fn check_replaceable(folder: &Path, product: Product, replace: bool) -> Result<(), WriteError> {
    if !folder.is_dir() {
        return Err(not_a_folder(folder));
    }
    if fs::read_dir(folder).map_err(failed(folder))?.next().is_none() {
        return Ok(());
    }
    // The marker comes before any listing, since this may be a home folder.
    let marker =
        fs::read(folder.join(product.marker)).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    if replace && marker.as_ref().is_some_and(|marker| marker.get("bblocks").is_some_and(Value::is_array)) {
        return Ok(());
    }
    let known = marker.as_ref().and_then(|marker| marker.pointer("/tooling/rpcgraph/files")?.as_array());
    let (folder_name, name) = (shown(folder), product.name);
    let Some(known) = known else {
        return Err(WriteError::Refused(format!(
            "{folder_name} is not empty, and not a {name} that rpcgraph wrote: name a new folder, or empty this one if nothing in it \
             is needed"
        )));
    };
    let known: BTreeSet<_> = known.iter().filter_map(Value::as_str).collect();
    match list(folder).map_err(failed(folder))?.into_iter().find(|file| !known.contains(file.as_str())) {
        Some(file) => Err(WriteError::Refused(format!(
            "{folder_name} holds {file}, which is not of the {name} and would be lost: move it away"
        ))),
        None => Ok(()),
    }
}

/// Lists everything below a folder except folders, as sorted paths with slashes. Does not follow symbolic links.
pub fn list(folder: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        for entry in fs::read_dir(folder.join(&below))? {
            let entry = entry?;
            let name = below.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(name);
            } else {
                let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
                found.push(parts.join("/"));
            }
        }
    }
    found.sort();
    Ok(found)
}
