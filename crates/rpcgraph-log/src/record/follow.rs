//! Logs that grow: reading continues where other readers end.

use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::identity::{file_id, open_file_id};

/// The time between two checks for more text.
const PAUSE: Duration = Duration::from_millis(100);
/// The time that reads wait in all before one of them is interrupted.
const PATIENCE: Duration = Duration::from_millis(500);
/// The size of a read from a pipe, in bytes.
const PIECE: usize = 64 * 1024;

/// The number of bytes before the current position that are kept, to check that the file still holds them.
const TAIL: usize = 64;

/// A change to a log while it is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowEvent {
    /// Another file took its name. The old file was read to its end.
    Replaced,
    /// The file no longer holds what was read of it: it was truncated or rewritten. It is read again from its
    /// beginning.
    Truncated,
}

/// Reads a log and waits for more at its end. The reader sees an end only when `stop` is true. A file that takes the
/// place of the log continues it, on a new line. After reads have waited for half a second in all, one is interrupted.
pub struct Follow {
    source: FollowSource,
    stop: Arc<AtomicBool>,
    event: Box<dyn FnMut(FollowEvent) + Send>,
    /// True if the last byte that was given is within a line.
    in_line: bool,
    /// The time that reads took since one was interrupted.
    waited: Duration,
}

enum FollowSource {
    File {
        path: PathBuf,
        file: File,
        /// The number of bytes read, and the last of these bytes.
        read: u64,
        tail: Vec<u8>,
        /// True if the last read reached the end, so that the file may have been rewritten since.
        at_end: bool,
        /// The file that took its place, to be read when the old file does not grow any more.
        next: Option<File>,
    },
    /// The pieces that a thread reads, since a wait for a pipe cannot be interrupted.
    Pipe { pieces: Receiver<io::Result<Vec<u8>>>, rest: io::Cursor<Vec<u8>> },
}

impl Follow {
    /// Follows a file that was opened at a path, until `stop` is true. A pipe or a device is read to its end.
    ///
    /// # Errors
    ///
    /// The metadata of the file cannot be read.
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
        Ok(Self { source, stop, event: Box::new(event), in_line: false, waited: Duration::ZERO })
    }

    /// Reads a pipe to its end, or until `stop` is true.
    ///
    /// # Errors
    ///
    /// The thread that reads cannot be started.
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
        Ok(Self { source, stop, event: Box::new(|_| {}), in_line: false, waited: Duration::ZERO })
    }

    /// Reads the bytes that are available now; `None` if there are none yet.
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
                // If the file is missing for a while, it will come back.
                if is_other(path, file) {
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
            if self.waited >= PATIENCE {
                self.waited = Duration::ZERO;
                return Err(io::ErrorKind::Interrupted.into());
            }
            let begun = Instant::now();
            let taken = self.take(buffer)?;
            self.waited += begun.elapsed();
            if let Some(length) = taken {
                if let Some(last) = buffer.get(..length).and_then(<[u8]>::last) {
                    self.in_line = *last != b'\n';
                }
                return Ok(length);
            }
        }
        Ok(0)
    }
}

/// True if a file holds these bytes before `end`; the next read continues there.
fn holds(file: &mut File, bytes: &[u8], end: u64) -> io::Result<bool> {
    file.seek(SeekFrom::Start(end.saturating_sub(bytes.len() as u64)))?;
    let mut there = Vec::new();
    Read::by_ref(file).take(bytes.len() as u64).read_to_end(&mut there)?;
    Ok(there == bytes)
}

/// True if a path leads to another file than the open one.
fn is_other(path: &Path, open: &File) -> bool {
    let is_file = fs::metadata(path).is_ok_and(|there| there.is_file());
    is_file && file_id(path).zip(open_file_id(open)).is_some_and(|(there, open)| there != open)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// Reads a log of lines until it is stopped; events stand between the lines.
    fn read(path: &Path, write: impl FnOnce(&dyn Fn(&str))) -> String {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, seen) = std::sync::mpsc::channel();
        let events = sender.clone();
        let event = move |event| events.send(format!("<{event:?}>")).unwrap();
        let mut follow = Follow::file(path, File::open(path).unwrap(), Arc::clone(&stop), event).unwrap();
        let reading = thread::spawn(move || {
            let mut buffer = [0; 7];
            loop {
                match follow.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(length) => sender.send(String::from_utf8_lossy(&buffer[..length]).into_owned()).unwrap(),
                    Err(error) => assert_eq!(error.kind(), io::ErrorKind::Interrupted),
                }
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
            // The writer of the log has not noticed yet.
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
        // A pipe that does not end is left when `stop` is true.
        stop.store(true, Ordering::Relaxed);
        let mut silent = Follow::pipe(io::repeat(b'x'), stop).unwrap();
        assert_eq!(silent.read(&mut [0; 10]).unwrap(), 0);
    }
}
