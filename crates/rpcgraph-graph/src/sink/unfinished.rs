//! Files and folders that are written beside their targets. Each is locked while its run lasts, so that the next run
//! can recognise and remove the leftovers of a killed run.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::Builder;

/// The prefix of their names.
const PREFIX: &str = ".rpcgraph-";
const SUFFIX: &str = ".part";

/// The unfinished outputs, for a process that ends early. An output that was renamed or dropped has left its path.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Returns the files and folders being written beside their targets. Holding the list blocks [`discard_unfinished`].
pub fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
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

/// Makes a file or folder in a folder, with a mode that is subject to the umask, and removes the leftovers of killed
/// runs there. Only Unix has locks on folders; elsewhere, leftovers stay.
pub(crate) fn begin<U: AsRef<Path>>(
    folder: &Path,
    mode: u32,
    make: impl Fn(&Builder<'_, '_>, &Path) -> io::Result<U>,
) -> io::Result<(U, Option<File>)> {
    fs::metadata(folder)?; // the system's error, without the name of a temporary file
    remove_leftovers(folder);
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    loop {
        // The lock is taken before the output exists: an interrupt in between would leave the output behind.
        let mut unfinished = unfinished();
        let made = make(&builder, folder)?;
        #[cfg(not(unix))]
        let lock = None;
        #[cfg(unix)]
        let lock = File::open(&made).ok().inspect(|lock| {
            // On a file system without locks, leftovers are never recognised.
            let _ = rustix::fs::flock(lock, rustix::fs::FlockOperation::LockExclusive);
        });
        // Another run may have removed the output as a leftover just before it was locked.
        if made.as_ref().symlink_metadata().is_ok() {
            unfinished.push(made.as_ref().to_owned());
            return Ok((made, lock));
        }
    }
}

/// A folder that is filled beside its target, and takes its place when it is complete. Dropped before that, it leaves no
/// trace.
pub struct UnfinishedFolder {
    beside: tempfile::TempDir,
    _lock: Option<File>,
    pub(super) target: PathBuf,
}

impl UnfinishedFolder {
    /// Returns the absolute path of a target, which need not exist.
    pub fn target(folder: &Path) -> io::Result<PathBuf> {
        match fs::canonicalize(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::path::absolute(folder),
            found => found,
        }
    }

    /// True if the current folder is the target or inside it, and would be replaced with it.
    pub fn holds_current(target: &Path) -> bool {
        std::env::current_dir().and_then(fs::canonicalize).is_ok_and(|current| current.starts_with(target))
    }

    /// Creates a folder in the folder of its target, which is an absolute path.
    pub fn beside(target: PathBuf) -> io::Result<Self> {
        let parent = target.parent().ok_or(io::ErrorKind::NotADirectory)?;
        let (beside, lock) = begin(parent, 0o777, |builder, folder| builder.tempdir_in(folder))?;
        Ok(Self { beside, _lock: lock, target })
    }

    /// The folder to fill, which the caller creates.
    pub fn path(&self) -> PathBuf {
        self.beside.path().join("new")
    }

    /// Moves the folder to its target, in place of an existing folder.
    pub fn finish(self) -> io::Result<()> {
        let (complete, target) = (&self.path(), &self.target);
        let exists = target.symlink_metadata().is_ok();
        let old = self.beside.path().join("old");
        // For a moment, the folder holds the only copy of the replaced folder.
        let mut unfinished = unfinished();
        unfinished.retain(|unfinished| unfinished != self.beside.path());
        // Readers always see one or the other, if the system can exchange two folders.
        #[cfg(target_os = "linux")]
        if exists {
            let here = rustix::fs::CWD;
            if rustix::fs::renameat_with(here, complete, here, target, rustix::fs::RenameFlags::EXCHANGE).is_ok() {
                return self.beside.close();
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
        self.beside.close()
    }
}

/// Removes unlocked leftovers, except for the folder that holds the old copy of an interrupted exchange.
#[cfg(unix)]
fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        let path = entry.path();
        // Opening a named pipe would block until a writer opens it.
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir()) || path.join("old").exists()
        {
            continue;
        }
        if let Ok(file) = File::open(&path)
            && rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok()
        {
            remove(&path);
        }
    }
}

#[cfg(not(unix))]
fn remove_leftovers(_: &Path) {}

fn remove(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}
