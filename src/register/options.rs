//! The choices that a register is made with.

use std::path::{Path, PathBuf};

use crate::context::{LoadError, Loader, Reference};

/// The choices that a register is made with.
#[derive(Debug, Clone, Default)]
pub struct RegisterOptions {
    /// URL of the folder where it will be published. Without one, its files refer to each other by relative paths.
    pub base: Option<String>,
    /// Identifier of the block; otherwise what `bblock.json` says, or the name of its folder.
    pub identifier: Option<String>,
    /// When it was made, for the reports. Without it, nothing in a register depends on the time.
    pub generated: Option<String>,
    /// An example of which something is not in its graph fails.
    pub strict: bool,
    /// URLs of contexts that may be fetched when the block refers to them.
    pub contexts: Vec<String>,
    /// Never fetch anything.
    pub offline: bool,
    /// Folders that stand for the URLs that begin with a prefix.
    pub folders: Vec<(String, PathBuf)>,
    /// Fetch what schemas, contexts and registers refer to from the hosts of the URLs in `contexts`.
    pub online: bool,
    /// Runs what strangers wrote, JSON Schemas and programs; without one, that is done here, and may take all time and memory.
    /// [`worker`](super::worker) is its other side.
    pub worker: Option<PathBuf>,
}

impl RegisterOptions {
    /// What loads contexts for blocks in a folder.
    pub(super) fn loader(&self, folder: &Path) -> Result<Loader, LoadError> {
        let loader = Loader::new().offline(self.offline).for_authors(folder.to_owned(), self.folders.clone());
        if self.online {
            return loader.online(&self.contexts);
        }
        for url in &self.contexts {
            loader.load(&Reference::Url(url.clone()))?;
        }
        Ok(loader)
    }
}
