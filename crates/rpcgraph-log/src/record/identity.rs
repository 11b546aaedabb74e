//! Identities of files, to notice that a path leads to another file, or that two paths lead to one.

use std::fs::File;
use std::path::Path;

/// The identity of a file or folder: its device and inode.
#[cfg(unix)]
type FileId = (u64, u64);
/// The identity of a file or folder: a handle, since its number is valid only while it is open.
#[cfg(windows)]
type FileId = same_file::Handle;
/// Other systems do not tell files apart.
#[cfg(not(any(unix, windows)))]
type FileId = std::convert::Infallible;

/// Returns the identity of the file or folder at a path.
pub fn file_id(path: &Path) -> Option<FileId> {
    #[cfg(unix)]
    return std::fs::metadata(path).ok().map(id);
    #[cfg(windows)]
    return same_file::Handle::from_path(path).ok();
    #[cfg(not(any(unix, windows)))]
    return path.to_str().and(None);
}

/// Returns the identity of an open file.
pub(crate) fn open_file_id(file: &File) -> Option<FileId> {
    #[cfg(unix)]
    return file.metadata().ok().map(id);
    #[cfg(windows)]
    return same_file::Handle::from_file(file.try_clone().ok()?).ok();
    #[cfg(not(any(unix, windows)))]
    return file.metadata().ok().and(None);
}

#[cfg(unix)]
fn id(metadata: std::fs::Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}
