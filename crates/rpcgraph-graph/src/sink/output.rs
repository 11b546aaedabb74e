//! Outputs: standard output, or a file that appears only when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use tempfile::NamedTempFile;

use super::compression::Compression;
use super::terminal::TerminalWriter;
use super::unfinished;

/// An error in writing an output.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {cause}", path.display())]
pub struct OutputError {
    /// The file.
    pub path: PathBuf,
    cause: io::Error,
}

impl OutputError {
    /// Creates an error for a file.
    pub fn new(path: &Path, cause: io::Error) -> Self {
        Self { path: path.to_owned(), cause }
    }

    /// The underlying I/O error.
    pub fn cause(&self) -> &io::Error {
        &self.cause
    }
}

/// An output. A file does not appear before [`Output::finish`]; dropped before that, it leaves no trace.
pub struct Output {
    encoder: Encoder,
    path: Option<PathBuf>,
}

enum Encoder {
    Plain(OutputTarget),
    Gzip(GzEncoder<OutputTarget>),
    Zstd(zstd::Encoder<'static, OutputTarget>),
}

enum OutputTarget {
    /// Standard output, or a named device or pipe.
    Direct(BufWriter<Box<dyn Write + Send>>),
    /// A file written beside its target and renamed when complete.
    Beside { file: BufWriter<NamedTempFile>, target: PathBuf, _lock: Option<File> },
}

impl Output {
    /// Creates the standard output. On a terminal, control characters are escaped, with XML's escapes if `xml`.
    pub fn stdout(xml: bool) -> Self {
        Self { encoder: Encoder::Plain(OutputTarget::direct(io::stdout(), xml)), path: None }
    }

    /// Creates an output for a program that shows text on a terminal, such as a pager. `None` passes text on unchanged,
    /// with its intended escape sequences; `Some` escapes control characters, with XML's escapes if true.
    pub fn shown(writer: impl Write + Send + 'static, escaped: Option<bool>) -> Self {
        Self { encoder: Encoder::Plain(OutputTarget::shown(writer, escaped)), path: None }
    }

    /// Creates a file. When complete, it takes the place of a regular file if there is one. A symbolic link is
    /// followed; devices and pipes are written directly, a terminal as in [`Output::stdout`].
    pub fn file(path: &Path, compression: Compression, xml: bool) -> Result<Self, OutputError> {
        let failed = |cause| OutputError { path: path.to_owned(), cause };
        let target = OutputTarget::open(path, xml).map_err(failed)?;
        let encoder = match compression {
            Compression::None => Encoder::Plain(target),
            Compression::Gzip => Encoder::Gzip(GzEncoder::new(target, flate2::Compression::default())),
            Compression::Zstd => Encoder::Zstd(zstd::Encoder::new(target, 0).map_err(failed)?),
        };
        Ok(Self { encoder, path: Some(path.to_owned()) })
    }

    /// Completes the output; a file then appears under its name.
    pub fn finish(self) -> Result<(), OutputError> {
        let target = match self.encoder {
            Encoder::Plain(target) => Ok(target),
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
        };
        target
            .and_then(OutputTarget::complete)
            .map_err(|cause| OutputError { path: self.path.unwrap_or_else(|| PathBuf::from("standard output")), cause })
    }
}

impl OutputTarget {
    fn direct(writer: impl Write + IsTerminal + Send + 'static, xml: bool) -> Self {
        let escaped = writer.is_terminal().then_some(xml);
        Self::shown(writer, escaped)
    }

    fn shown(writer: impl Write + Send + 'static, escaped: Option<bool>) -> Self {
        let writer: Box<dyn Write + Send> = match escaped {
            Some(xml) => Box::new(TerminalWriter::new(writer, xml)),
            None => Box::new(writer),
        };
        Self::Direct(BufWriter::with_capacity(1 << 16, writer))
    }

    fn open(path: &Path, xml: bool) -> io::Result<Self> {
        // A device or pipe is written directly, even if its path does not resolve to a name: `/dev/stdout` into a pipe.
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            return Ok(Self::direct(File::options().write(true).open(path)?, xml));
        }
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing_target(path)?,
            Err(error) => return Err(error),
        };
        let existing = fs::metadata(&target).ok();
        if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The mode of any new file; a replaced file keeps its own.
        let (file, lock) = unfinished::begin(folder, 0o666, |builder, folder| builder.tempfile_in(folder))?;
        if let Some(metadata) = existing {
            if metadata.permissions().readonly() {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            file.as_file().set_permissions(metadata.permissions())?;
        }
        Ok(Self::Beside { file: BufWriter::with_capacity(1 << 16, file), target, _lock: lock })
    }

    fn complete(self) -> io::Result<()> {
        match self {
            Self::Direct(mut writer) => writer.flush(),
            Self::Beside { file, target, _lock } => {
                let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.persist(target).map(drop).map_err(|error| error.error)
            }
        }
    }
}

/// Resolves a path that does not exist yet: itself, or the last target in a chain of symbolic links.
fn missing_target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&target) {
            Ok(link) => target = target.parent().unwrap_or(Path::new("")).join(link),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

impl Write for OutputTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Direct(writer) => writer.write(bytes),
            Self::Beside { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Direct(writer) => writer.flush(),
            Self::Beside { file, .. } => file.flush(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.encoder {
            Encoder::Plain(target) => target.write(bytes),
            Encoder::Gzip(encoder) => encoder.write(bytes),
            Encoder::Zstd(encoder) => encoder.write(bytes),
        }
    }

    /// Flushes only an uncompressed stream, for its readers. Flushing compressed data would make it larger, and an
    /// incomplete file is not visible anyway.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.encoder {
            Encoder::Plain(target @ OutputTarget::Direct(_)) => target.flush(),
            Encoder::Plain(OutputTarget::Beside { .. }) | Encoder::Gzip(_) | Encoder::Zstd(_) => Ok(()),
        }
    }
}
