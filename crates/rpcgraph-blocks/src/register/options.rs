//! Options for making a register.

use std::path::{Path, PathBuf};

use crate::context::{LoadError, Loader, Reference};

/// The options for making a register.
#[derive(Debug, Clone, Default)]
pub struct RegisterOptions {
    /// URL of the folder where the register will be published. `None` if its files refer to each other by relative
    /// paths.
    pub base: Option<String>,
    /// Identifier of the block. `None` for the identifier in `bblock.json`, or else the name of the block's folder.
    pub identifier: Option<String>,
    /// Time at which the register was made, for the reports. Without it, a register does not depend on the time.
    pub generated: Option<String>,
    /// True if a loss makes an example fail.
    pub strict: bool,
    /// URLs of contexts that may be fetched when the block refers to them.
    pub contexts: Vec<String>,
    /// Never fetch anything.
    pub offline: bool,
    /// Folders that stand for URLs, with the prefix of those URLs, or with the URL of the register in the folder; and files that
    /// stand for one URL.
    pub folders: Vec<(String, PathBuf)>,
    /// Fetch documents that schemas, contexts and registers refer to, from the hosts of the URLs in `contexts`.
    pub online: bool,
    /// The program that runs untrusted JSON Schemas and code, by calling [`worker`](super::worker). If `None`, they run
    /// in this process, without limits on time and memory.
    pub worker: Option<PathBuf>,
}

impl RegisterOptions {
    /// Returns the loader of contexts for blocks in a folder, whose configuration maps URLs to further folders.
    pub(super) fn loader(&self, folder: &Path, mapped: &[(String, PathBuf)]) -> Result<Loader, LoadError> {
        let prefix = |(url, path): &(String, PathBuf)| {
            let register = url.strip_suffix("/register.json").filter(|_| path.is_dir());
            (register.unwrap_or(url).to_owned(), path.clone())
        };
        let mapped = self.folders.iter().chain(mapped).map(prefix).collect();
        let loader = Loader::new().offline(self.offline).for_authors(folder.to_owned(), mapped);
        if self.online {
            return loader.online(&self.contexts);
        }
        for url in &self.contexts {
            loader.load(&Reference::Url(url.clone()))?;
        }
        Ok(loader)
    }
}
