//! Logs that grow: reading goes on where other readers end.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// The time between two looks for more.
const PAUSE: Duration = Duration::from_millis(100);
/// How many bytes of a pipe are taken at once.
const PIECE: usize = 64 * 1024;

/// How many bytes are kept of what was read, to see whether they are still there.
const TAIL: usize = 64;

/// What became of a log while it was followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowEvent {
    /// Another file has its name. The old one was read to its end.
    Replaced,
    /// It does not hold what was read of it any more: it was truncated or written anew. It is read again from its beginning.
    Truncated,
}

/// Reads a log, and where that ends, waits for more until it is told to stop: the reader sees the end only then. A file that
/// takes the place of the log goes on with it, in a line of its own.
pub struct Follow {
    source: FollowSource,
    stop: Arc<AtomicBool>,
    event: Box<dyn FnMut(FollowEvent) + Send>,
    /// Whether the last byte that was given is within a line.
    in_line: bool,
}

enum FollowSource {
    File {
        path: PathBuf,
        file: File,
        /// How much of it was read, and the last bytes of that.
        read: u64,
        tail: Vec<u8>,
        /// The last read reached the end, so what was read may have been written anew since.
        at_end: bool,
        /// The file that took its place, for when no more comes from the old one.
        next: Option<File>,
    },
    /// What a thread reads, since nothing ends a wait for a pipe.
    Pipe { pieces: Receiver<io::Result<Vec<u8>>>, rest: io::Cursor<Vec<u8>> },
}

impl Follow {
    /// Follows a file that was opened at a path, until `stop` is true. A pipe or a device is read to its end.
    ///
    /// # Errors
    ///
    /// Nothing can be known of it.
    pub fn file(
        path: &Path,
        file: File,
        stop: Arc<AtomicBool>,
        event: impl FnMut(FollowEvent) + Send + 'static,
    ) -> io::Result<Self> {
        if !file.metadata()?.is_file() {
            return Self::pipe(file, stop);
        }
        let path = path.to_owned();
        let source = FollowSource::File { path, file, read: 0, tail: Vec::new(), at_end: false, next: None };
        Ok(Self { source, stop, event: Box::new(event), in_line: false })
    }

    /// Reads a pipe to its end, or until `stop` is true.
    ///
    /// # Errors
    ///
    /// There is no thread to read it.
    pub fn pipe(mut pipe: impl Read + Send + 'static, stop: Arc<AtomicBool>) -> io::Result<Self> {
        let (sender, pieces) = sync_channel(1);
        thread::Builder::new().spawn(move || {
            let mut buffer = vec![0; PIECE];
            loop {
                let piece = match pipe.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(length) => Ok(buffer.get(..length).unwrap_or_default().to_vec()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let failed = piece.is_err();
                if sender.send(piece).is_err() || failed {
                    return;
                }
            }
        })?;
        let source = FollowSource::Pipe { pieces, rest: io::Cursor::default() };
        Ok(Self { source, stop, event: Box::new(|_| {}), in_line: false })
    }

    /// What there is to read now; `None`: nothing yet.
    fn take(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let (path, file, position, tail, at_end, next) = match &mut self.source {
            FollowSource::File { path, file, read, tail, at_end, next } => (path, file, read, tail, at_end, next),
            FollowSource::Pipe { pieces, rest } => {
                if rest.position() == rest.get_ref().len() as u64 {
                    *rest = match pieces.recv_timeout(PAUSE) {
                        Ok(piece) => io::Cursor::new(piece?),
                        Err(RecvTimeoutError::Timeout) => return Ok(None),
                        Err(RecvTimeoutError::Disconnected) => return Ok(Some(0)),
                    };
                }
                return rest.read(buffer).map(Some);
            }
        };
        let event = if std::mem::take(at_end) && !holds(file, tail, *position)? {
            file.rewind()?;
            FollowEvent::Truncated
        } else {
            let length = file.read(buffer)?;
            *position += length as u64;
            *at_end = length < buffer.len();
            if length > 0 {
                tail.extend_from_slice(buffer.get(length.saturating_sub(TAIL)..length).unwrap_or_default());
                tail.drain(..tail.len().saturating_sub(TAIL));
                return Ok(Some(length));
            }
            let Some(other) = next.take() else {
                // Where there is nothing for a while, there will be again.
                if fs::metadata(path.as_path()).is_ok_and(|there| there.is_file() && !is_same(&there, file)) {
                    *next = File::open(path.as_path()).ok();
                }
                thread::sleep(PAUSE);
                return Ok(None);
            };
            *file = other;
            FollowEvent::Replaced
        };
        *position = 0;
        tail.clear();
        (self.event)(event);
        match buffer.first_mut().filter(|_| self.in_line) {
            Some(first) => {
                *first = b'\n';
                Ok(Some(1))
            }
            None => Ok(None),
        }
    }
}

impl Read for Follow {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() && !self.stop.load(Ordering::Relaxed) {
            if let Some(length) = self.take(buffer)? {
                if let Some(last) = buffer.get(..length).and_then(<[u8]>::last) {
                    self.in_line = *last != b'\n';
                }
                return Ok(length);
            }
        }
        Ok(0)
    }
}

/// Whether a file has these bytes before this position, where it is read on.
fn holds(file: &mut File, bytes: &[u8], end: u64) -> io::Result<bool> {
    file.seek(SeekFrom::Start(end.saturating_sub(bytes.len() as u64)))?;
    let mut there = Vec::new();
    Read::by_ref(file).take(bytes.len() as u64).read_to_end(&mut there)?;
    Ok(there == bytes)
}

/// Whether a path leads to a file that is open.
fn is_same(there: &Metadata, file: &File) -> bool {
    let Ok(open) = file.metadata() else { return true };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        (there.dev(), there.ino()) == (open.dev(), open.ino())
    }
    #[cfg(not(unix))]
    {
        there.created().ok() == open.created().ok()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A log of lines, read until it was told to stop; what happened to it stands between them.
    fn read(path: &Path, write: impl FnOnce(&dyn Fn(&str))) -> String {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, seen) = std::sync::mpsc::channel();
        let events = sender.clone();
        let event = move |event| events.send(format!("<{event:?}>")).unwrap();
        let mut follow = Follow::file(path, File::open(path).unwrap(), Arc::clone(&stop), event).unwrap();
        let reading = thread::spawn(move || {
            let mut buffer = [0; 7];
            while let length @ 1.. = follow.read(&mut buffer).unwrap() {
                sender.send(String::from_utf8_lossy(&buffer[..length]).into_owned()).unwrap();
            }
        });
        let all = std::cell::RefCell::new(String::new());
        write(&|text| {
            while !all.borrow().contains(text) {
                let more = seen.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{}", all.borrow()));
                all.borrow_mut().push_str(&more);
            }
        });
        stop.store(true, Ordering::Relaxed);
        reading.join().unwrap();
        all.into_inner()
    }

    #[test]
    fn a_log_grows_is_truncated_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "one\ntw").unwrap();
        let text = read(&path, |wait| {
            wait("tw");
            let mut file = File::options().append(true).open(&path).unwrap();
            file.write_all(b"o\nthree").unwrap();
            wait("three");
            file.set_len(0).unwrap();
            wait("<Truncated>");
            file.write_all(b"four\n").unwrap();
            wait("four\n");
            fs::rename(&path, folder.path().join("log.1")).unwrap();
            // Whoever writes it has not noticed yet.
            file.write_all(b"five\n").unwrap();
            wait("five\n");
            fs::write(&path, "six").unwrap();
            wait("six");
            let mut file = File::options().write(true).open(&path).unwrap();
            file.write_all(b"seven, which is longer\n").unwrap();
            wait("longer");
        });
        assert_eq!(text, "one\ntwo\nthree<Truncated>\nfour\nfive\n<Replaced>six<Truncated>\nseven, which is longer\n");
    }

    #[test]
    fn a_pipe_ends() {
        let mut text = String::new();
        let stop = Arc::new(AtomicBool::new(false));
        Follow::pipe(&b"one\ntwo"[..], Arc::clone(&stop)).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "one\ntwo");
        // One that says nothing is left when it is time.
        stop.store(true, Ordering::Relaxed);
        let mut silent = Follow::pipe(io::repeat(b'x'), stop).unwrap();
        assert_eq!(silent.read(&mut [0; 10]).unwrap(), 0);
    }
}
