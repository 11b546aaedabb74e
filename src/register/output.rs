//! A register on disk: put there as a whole, or not at all; and compared with what it should be.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::folder::shown;
use crate::sink::unfinished;

/// The file that tells a register of ours, and what belongs to it.
pub const MARKER: &str = "register.json";

/// What is put into a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// A register.
    Register,
    /// A building block, made of captured traffic.
    Block,
}

impl Product {
    /// The file that tells the product from others' work, and what belongs to it.
    pub fn marker(self) -> &'static str {
        match self {
            Self::Register => MARKER,
            Self::Block => "bblock.json",
        }
    }

    /// What the marker says of the tool that wrote the product: the files that belong to it.
    pub fn tooling(self, files: &Files) -> Value {
        let mut files: Vec<&str> = files.keys().map(String::as_str).chain([self.marker()]).collect();
        files.sort_unstable();
        json!({ "rpcgraph": { "files": files } })
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Register => "register",
            Self::Block => "building block",
        })
    }
}

/// Why a register cannot be put where it is to be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The folder holds something else.
    #[error(
        "{folder} is not empty, and no {product} that rpcgraph wrote: name a new folder, or empty this one if nothing \
         in it is needed"
    )]
    NotARegister {
        /// The folder.
        folder: String,
        /// What was to replace it.
        product: Product,
    },
    /// The folder holds a register, and something beside it.
    #[error("{folder} holds {file}, which is not of the {product} and would be lost: move it away")]
    NotOurs {
        /// The folder.
        folder: String,
        /// What it holds besides.
        product: Product,
        /// The file.
        file: String,
    },
    /// It is no folder.
    #[error("{path} is not a folder: name one, or a path where there is nothing yet")]
    NotAFolder {
        /// The path.
        path: String,
    },
    /// Who calls is in the folder, or in one below it.
    #[error("{folder} is the current folder, or holds it, and would be replaced under your feet: go to another folder")]
    Current {
        /// The folder.
        folder: String,
    },
    /// The system does not let it be written.
    #[error("cannot write {path}")]
    Io {
        /// The path.
        path: String,
        /// What the system says.
        source: io::Error,
    },
}

/// A difference between a register and what is on disk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// The file is not there.
    Missing(String),
    /// The file holds something else.
    Changed(String),
    /// The file is not of the register.
    Extra(String),
}

/// The files of a register, by path.
pub type Files = BTreeMap<String, String>;

fn failed(path: &Path) -> impl FnOnce(io::Error) -> WriteError + '_ {
    move |source| WriteError::Io { path: shown(path), source }
}

/// Puts the files of a product into a folder, in place of an earlier one of its kind if there is one.
///
/// They are written beside the folder and moved there when all are complete. What is in the folder and not of that earlier
/// product is never removed.
pub fn write(files: &Files, folder: &Path, product: Product) -> Result<(), WriteError> {
    let target = match fs::canonicalize(folder) {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::path::absolute(folder).map_err(failed(folder))?,
        Err(error) => return Err(failed(folder)(error)),
    };
    let exists = target.symlink_metadata().is_ok();
    if exists {
        check_replaceable(&target, product)?;
        let current = std::env::current_dir().and_then(fs::canonicalize);
        if current.is_ok_and(|current| current.starts_with(&target)) {
            return Err(WriteError::Current { folder: shown(folder) });
        }
    }
    let parent = target.parent().ok_or_else(|| WriteError::NotAFolder { path: shown(folder) })?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".rpcgraph-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As any new folder, subject to the umask.
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    // In the system's own words, without a name that nobody asked for.
    fs::metadata(parent).map_err(failed(folder))?;
    let beside = builder.tempdir_in(parent).map_err(failed(folder))?;
    unfinished().push(beside.path().to_owned());
    let complete = beside.path().join("new");
    for (path, text) in files {
        let path = complete.join(path);
        let _whole = unfinished();
        fs::create_dir_all(path.parent().unwrap_or(&complete)).map_err(failed(&path))?;
        fs::write(&path, text).map_err(failed(&path))?;
    }
    let old = beside.path().join("old");
    // The only copy of the earlier product is in it for a moment.
    let mut unfinished = unfinished();
    unfinished.retain(|unfinished| unfinished != beside.path());
    if exists {
        fs::rename(&target, &old).map_err(failed(folder))?;
    }
    if let Err(error) = fs::rename(&complete, &target) {
        if exists {
            fs::rename(&old, &target).map_err(failed(folder))?;
        }
        return Err(failed(folder)(error));
    }
    beside.close().map_err(failed(folder))
}

/// What differs between files and what a folder holds, in the order of paths.
pub fn compare(files: &Files, folder: &Path) -> Result<Vec<Difference>, WriteError> {
    let present: BTreeSet<String> = list(folder)?.into_iter().collect();
    let mut differences = Vec::new();
    for (path, text) in files {
        if !present.contains(path) {
            differences.push(Difference::Missing(path.clone()));
        } else if fs::read(folder.join(path)).map_err(failed(folder))? != text.as_bytes() {
            differences.push(Difference::Changed(path.clone()));
        }
    }
    let extra = present.into_iter().filter(|path| !files.contains_key(path));
    differences.extend(extra.map(Difference::Extra));
    Ok(differences)
}

/// Whether nothing is lost with a folder: it is empty, or a register with all its files known.
fn check_replaceable(folder: &Path, product: Product) -> Result<(), WriteError> {
    if !folder.is_dir() {
        return Err(WriteError::NotAFolder { path: shown(folder) });
    }
    if fs::read_dir(folder).map_err(failed(folder))?.next().is_none() {
        return Ok(());
    }
    // Before anything is looked through: it may be somebody's home.
    let marker =
        fs::read(folder.join(product.marker())).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    let known = marker.as_ref().and_then(|marker| marker.pointer("/tooling/rpcgraph/files")?.as_array());
    let Some(known) = known else { return Err(WriteError::NotARegister { folder: shown(folder), product }) };
    let known: BTreeSet<_> = known.iter().filter_map(Value::as_str).collect();
    match list(folder)?.into_iter().find(|file| !known.contains(file.as_str())) {
        Some(file) => Err(WriteError::NotOurs { folder: shown(folder), product, file }),
        None => Ok(()),
    }
}

/// Everything below a folder that is no folder itself, as paths with slashes, in order. Links are not followed.
fn list(folder: &Path) -> Result<Vec<String>, WriteError> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let path = folder.join(&below);
        for entry in fs::read_dir(&path).map_err(failed(&path))? {
            let entry = entry.map_err(failed(&path))?;
            let name = below.join(entry.file_name());
            if entry.file_type().map_err(failed(&path))?.is_dir() {
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
