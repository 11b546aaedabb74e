//! Files and folders that are written beside their targets.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::Builder;

/// The unfinished outputs, for a process that ends early. An output that was renamed or dropped has left its path.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Returns the files and folders being written beside their targets. Holding the list blocks [`discard_unfinished`].
pub(crate) fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes unfinished outputs. Call this before a process ends without dropping them; afterwards, starting an output
/// blocks forever.
pub fn discard_unfinished() {
    let mut unfinished = unfinished();
    // A failure cannot be reported any more.
    unfinished.drain(..).for_each(|path| remove(&path));
    // Other threads wait for the lock from now on, so they do not write any more.
    std::mem::forget(unfinished);
}

/// Creates a file or folder with a unique name in a folder, with a mode that is subject to the umask.
pub(crate) fn begin<U>(
    folder: &Path,
    mode: u32,
    make: impl Fn(&Builder<'_, '_>, &Path) -> io::Result<U>,
    path: impl Fn(&U) -> &Path,
) -> io::Result<U> {
    fs::metadata(folder)?; // the system's error, without the name of a temporary file
    let mut builder = Builder::new();
    builder.prefix(".rpcgraph-").suffix(".part");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    let made = make(&builder, folder)?;
    unfinished().push(path(&made).to_owned());
    Ok(made)
}

/// Moves a complete folder to its target, in place of an existing folder. `complete` is inside the folder `beside` it.
#[cfg(any(feature = "parquet", feature = "register"))]
pub(crate) fn put_folder(beside: tempfile::TempDir, complete: &Path, target: &Path) -> io::Result<()> {
    let exists = target.symlink_metadata().is_ok();
    let old = beside.path().join("old");
    // For a moment, the folder holds the only copy of the replaced folder.
    let mut unfinished = unfinished();
    unfinished.retain(|unfinished| unfinished != beside.path());
    // Readers always see one or the other, if the system can exchange two folders.
    #[cfg(target_os = "linux")]
    if exists {
        let here = rustix::fs::CWD;
        if rustix::fs::renameat_with(here, complete, here, target, rustix::fs::RenameFlags::EXCHANGE).is_ok() {
            return beside.close();
        }
    }
    if exists {
        fs::rename(target, &old)?;
    }
    if let Err(error) = fs::rename(complete, target) {
        if exists {
            fs::rename(&old, target)?;
        }
        return Err(error);
    }
    beside.close()
}

fn remove(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}
