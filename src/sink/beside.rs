//! Files and folders that are written beside their targets: each is locked while its run goes on, so that the next run can
//! tell and remove what one that was killed has left.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, NamedTempFile};

/// How their names begin and end.
const PREFIX: &str = ".rpcgraph-";
const SUFFIX: &str = ".part";

/// What is being written, for a process that ends before its time. One that was renamed or dropped is under that name no
/// more.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The files and folders that are being written beside their targets. Whoever holds the list keeps
/// [`discard_unfinished`] waiting.
pub(crate) fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what outputs have written that are not complete. To be called before a process ends without
/// dropping them; no output can be begun after that.
pub fn discard_unfinished() {
    let mut unfinished = unfinished();
    // There is nobody left to tell if that fails.
    unfinished.drain(..).for_each(|path| remove(&path));
    // Other threads wait for it from now on, and write no more.
    std::mem::forget(unfinished);
}

/// A file or a folder with a name of its own.
pub(crate) trait Unfinished: Sized {
    fn make(builder: &Builder<'_, '_>, folder: &Path) -> io::Result<Self>;

    fn path(&self) -> &Path;

    /// The open file or folder.
    fn handle(&self) -> io::Result<File>;
}

impl Unfinished for NamedTempFile {
    fn make(builder: &Builder<'_, '_>, folder: &Path) -> io::Result<Self> {
        builder.tempfile_in(folder)
    }

    fn path(&self) -> &Path {
        self.path()
    }

    fn handle(&self) -> io::Result<File> {
        self.as_file().try_clone()
    }
}

#[cfg(any(feature = "parquet", feature = "register"))]
impl Unfinished for tempfile::TempDir {
    fn make(builder: &Builder<'_, '_>, folder: &Path) -> io::Result<Self> {
        builder.tempdir_in(folder)
    }

    fn path(&self) -> &Path {
        self.path()
    }

    fn handle(&self) -> io::Result<File> {
        File::open(self.path())
    }
}

/// Makes a file or folder in a folder, with a mode that is subject to the umask, and removes there what runs that were
/// killed have left. The file that is given with it is its lock.
pub(crate) fn begin<U: Unfinished>(folder: &Path, mode: u32) -> io::Result<(U, File)> {
    fs::metadata(folder)?; // in the system's own words, without the name of a file that nobody asked for
    remove_leftovers(folder);
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    loop {
        let made = U::make(&builder, folder)?;
        let handle = made.handle()?;
        #[cfg(unix)]
        // Where the file system has no locks, nothing is ever taken for a leftover.
        let _ = rustix::fs::flock(&handle, rustix::fs::FlockOperation::LockExclusive);
        // Another run may have taken it for a leftover, in the moment before it was locked.
        if made.path().symlink_metadata().is_ok() {
            unfinished().push(made.path().to_owned());
            return Ok((made, handle));
        }
    }
}

/// Puts a complete folder, which is in one that is beside its target, there in place of what is there.
#[cfg(any(feature = "parquet", feature = "register"))]
pub(crate) fn put_folder(beside: tempfile::TempDir, complete: &Path, target: &Path) -> io::Result<()> {
    let exists = target.symlink_metadata().is_ok();
    let old = beside.path().join("old");
    // The only copy of what was there is in it for a moment.
    let mut unfinished = unfinished();
    unfinished.retain(|unfinished| unfinished != beside.path());
    // Readers see the one or the other at any time, where the system lets two folders change places.
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

/// Removes what nobody has locked, but for the earlier of two folders that were to change places.
#[cfg(unix)]
fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        let path = entry.path();
        // Opening a pipe would wait for a writer.
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
