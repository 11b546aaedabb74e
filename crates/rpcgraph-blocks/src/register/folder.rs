//! The folder of a building block. Only the files in it may be read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::{BLOCK, BlockError};
use super::yaml;
use crate::context::{LoadError, Loader};
pub(super) use crate::diagnostic::printable_path as shown;

/// Largest file of a block, in bytes.
pub const MAX_FILE: u64 = 16 << 20;

/// A folder that references cannot leave, neither by `..` nor by a symbolic link. If the folder was opened within
/// another folder, references may lead anywhere in the other folder.
#[derive(Debug, Clone, Default)]
pub struct Folder {
    root: PathBuf,
    /// The folder itself or a folder above it; references may lead to any file in it.
    within: PathBuf,
    /// Built-in files in place of files that the folder does not have, by name.
    built_in: BTreeMap<String, &'static str>,
}

impl Folder {
    /// Opens a folder.
    pub fn open(path: &Path) -> Result<Self, BlockError> {
        let failed = |source: io::Error| BlockError::syntax(&format!("cannot read {BLOCK} {}", shown(path)), source);
        let root = fs::canonicalize(path).map_err(failed)?;
        fs::read_dir(&root).map_err(failed)?;
        Ok(Self { within: root.clone(), root, built_in: BTreeMap::new() })
    }

    /// Opens a folder below another. Its references may lead to any file in the other folder.
    pub fn open_within(path: &Path, outer: &Self) -> Result<Self, BlockError> {
        let folder = Self::open(path)?;
        match folder.root.starts_with(&outer.root) {
            true => Ok(Self { within: outer.root.clone(), ..folder }),
            false => Err(BlockError::outside(&shown(path), "the repository")),
        }
    }

    /// Returns its path, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Returns its own name.
    pub fn name(&self) -> String {
        self.root.file_name().map_or_else(|| "block".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// Adds a built-in file, under a name that the folder does not have a file for.
    pub fn provide(&mut self, name: &str, text: &'static str) {
        self.built_in.insert(name.to_owned(), text);
    }

    /// Adds the built-in files of a folder below it.
    pub fn provide_below(&mut self, below: &str, folder: &Self) {
        self.built_in.extend(folder.built_in.iter().map(|(name, text)| (format!("{below}{name}"), *text)));
    }

    /// True if a built-in file has the name.
    pub fn is_built_in(&self, name: &str) -> bool {
        self.built_in.contains_key(name)
    }

    /// Returns the first of the names that the folder has a file for.
    pub fn find(&self, names: &[&'static str]) -> Option<&'static str> {
        let is_there = |name: &str| self.is_built_in(name) || self.root.join(name).symlink_metadata().is_ok();
        names.iter().copied().find(|name| is_there(name))
    }

    /// Returns the path of a file in the folder, without symbolic links. `by` names the origin of the reference, for
    /// messages.
    pub fn locate(&self, reference: &str, by: &str) -> Result<PathBuf, BlockError> {
        if reference.contains("://") {
            return Err(BlockError::Remote { reference: reference.to_owned(), by: by.to_owned() });
        }
        // Checked before the file is looked up, so that messages do not reveal which files exist outside.
        let depth = self.root.strip_prefix(&self.within).map_or(0, |below| below.components().count());
        if leads_out(Path::new(reference), depth) {
            return Err(BlockError::outside(reference, by));
        }
        match fs::canonicalize(self.root.join(reference)) {
            Ok(real) if real.starts_with(&self.within) => Ok(real),
            Ok(_) => Err(BlockError::outside(reference, by)),
            Err(source) => Err(BlockError::read(reference, by, source)),
        }
    }

    /// Returns the text of a file in the folder, which must be UTF-8, without its byte order mark.
    pub fn read(&self, reference: &str, by: &str) -> Result<String, BlockError> {
        if let Some(text) = self.built_in.get(reference) {
            return Ok((*text).to_owned());
        }
        let path = self.locate(reference, by)?;
        let failed = |source| BlockError::read(reference, by, source);
        // Opening a pipe would block until a process writes to it.
        if !fs::metadata(&path).map_err(failed)?.is_file() {
            return Err(failed(io::Error::other("it is not a file")));
        }
        let mut bytes = Vec::new();
        File::open(&path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes)).map_err(failed)?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(failed(io::Error::other(format!("it is larger than {MAX_FILE} bytes"))));
        }
        let text = String::from_utf8(bytes)
            .map_err(|error| failed(io::Error::other(format!("it is not UTF-8: {}", error.utf8_error()))))?;
        Ok(text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(text))
    }

    /// Returns the text of a file in the folder, or of a URL.
    pub fn read_any(&self, reference: &str, by: &str, loader: &Loader) -> Result<String, BlockError> {
        if reference.contains("://") { remote(reference, by, loader) } else { self.read(reference, by) }
    }

    /// Parses a file in the folder: JSON or YAML, by its extension.
    pub fn read_data(&self, reference: &str, by: &str) -> Result<Value, BlockError> {
        let text = self.read(reference, by)?;
        match reference.ends_with(".json") {
            true => serde_json::from_str(&text).map_err(|error| BlockError::syntax(reference, error)),
            false => yaml::read(&text).map_err(|error| BlockError::syntax(reference, error)),
        }
    }

    /// Parses the file under the first of the names that the folder has a file for; also returns that name. An absent
    /// file counts as empty.
    pub fn read_first<T>(&self, names: &[&'static str], by: &str) -> Result<(&'static str, T), BlockError>
    where
        T: DeserializeOwned + Default,
    {
        let Some(name) = self.find(names) else { return Ok(("", T::default())) };
        let data: Option<T> =
            serde_json::from_value(self.read_data(name, by)?).map_err(|error| BlockError::syntax(name, error))?;
        Ok((name, data.unwrap_or_default()))
    }

    /// Returns the sorted names of the entries in a folder of this folder; none if it is absent.
    pub fn list(&self, reference: &str) -> Result<Vec<String>, BlockError> {
        if self.root.join(reference).symlink_metadata().is_err() {
            return Ok(Vec::new());
        }
        let path = self.locate(reference, BLOCK)?;
        let failed = |source| BlockError::read(reference, BLOCK, source);
        let mut names = Vec::new();
        for entry in fs::read_dir(&path).map_err(failed)? {
            names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }
}

/// Returns the text of a URL. `by` names the origin of the reference, for messages.
pub fn remote(url: &str, by: &str, loader: &Loader) -> Result<String, BlockError> {
    loader.text(url, by).map_err(|error| match error {
        LoadError::RemoteFromFile { url, origin } => BlockError::Remote { reference: url, by: origin },
        error => error.into(),
    })
}

/// Returns a folder's name as it stands in URLs.
pub fn key(name: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
    let key: String = name.chars().map(|character| if plain(character) { character } else { '-' }).collect();
    let key = key.trim_start_matches('.');
    if key.is_empty() { "block".to_owned() } else { key.to_owned() }
}

/// True if the text of a relative path leads out of the folder that is `levels` above the folder where the path starts.
fn leads_out(path: &Path, levels: usize) -> bool {
    let mut depth = levels as i64;
    path.components().any(|component| {
        depth += match component {
            Component::Normal(_) => 1,
            Component::ParentDir => -1,
            Component::CurDir => 0,
            Component::RootDir | Component::Prefix(_) => return true,
        };
        depth < 0
    })
}
