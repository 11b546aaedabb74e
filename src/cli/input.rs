//! Inputs: files and standard input, and the IRIs of their sessions.

use std::collections::HashMap;
use std::fs::File;
use std::io::{IsTerminal as _, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{fs, io};

use crate::convert::Input;
use crate::log::{Log, STDIN_IRI, file_iri, file_name, session_iri};
use crate::query::rdf_format;
use crate::rebuild::TableLogs;
use crate::record::{FollowEvent, OwnEntries};
use crate::vocab::RESERVED;
use anyhow::{Context as _, anyhow, bail};
use oxiri::IriRef;
use oxrdfio::RdfFormat;
use percent_encoding::utf8_percent_encode;

use super::console::say;
use super::messages::parse_name;
use super::words::near_file;
pub use crate::diagnostic::printable_path as shown;

/// The path of standard input.
const STDIN: &str = "/dev/stdin";

/// An input that has not been opened yet.
#[derive(Clone)]
pub struct InputSource {
    /// The path as the user named it; `None` for standard input.
    path: Option<PathBuf>,
    pub iri: String,
    pub iri_stated: bool,
    /// The switch that ends reading, if the log is followed as it grows.
    pub follow: Option<Arc<AtomicBool>>,
    /// A copy of its content when it was opened, if it is read more than once.
    kept: Option<InputCopy>,
    /// The name in place of the file's, if `kept` is the redacted log.
    alias: Option<String>,
    /// The tables that contain it, if its path is a folder of tables, and its index among their logs.
    tables: Option<(Arc<TableLogs>, usize)>,
}

/// A copy of an input, from its beginning, in an unnamed file that disappears with the process.
#[derive(Debug, Clone)]
struct InputCopy {
    file: Arc<File>,
    at: u64,
}

impl Read for InputCopy {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Several readers share the file, so its position is not used.
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.at)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Notes that standard input is read, if it is a terminal.
pub fn note_terminal() {
    if io::stdin().is_terminal() {
        let end = if cfg!(windows) { "Ctrl-Z and Enter end it" } else { "Ctrl-D ends it" };
        say(&format!("note: reading standard input; {end}"));
    }
}

/// True for `-`, which stands for standard input or output.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// True for a URL of a web server.
pub fn is_url(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.starts_with("https://") || path.starts_with("http://"))
}

/// Returns the inputs, each with the IRI of its session. Two inputs with one IRI are an error: their triples would get
/// mixed up.
pub fn sources(paths: &[PathBuf], base: Option<&str>) -> anyhow::Result<Vec<InputSource>> {
    let stdin = [PathBuf::from("-")];
    let paths = if paths.is_empty() { &stdin } else { paths };
    let base = base.map(session_iri).transpose().map_err(|error| anyhow!("--base {error}"))?;
    let mut known: HashMap<String, String> = HashMap::new();
    let mut sources = Vec::with_capacity(paths.len());
    for path in paths {
        let path = (!is_stdin(path)).then(|| path.clone());
        let mut source = InputSource::new(path, base.is_some());
        if let Some(folder) = source.path.as_deref().filter(|path| TableLogs::are_in(path)) {
            if source.iri_stated {
                bail!("{} has the IRIs of its sessions: leave out --base", source.name());
            }
            sources.extend(in_tables(folder)?);
            continue;
        }
        source.iri = match &base {
            None => source.path.as_deref().map_or_else(|| Ok(STDIN_IRI.to_owned()), file_iri)?,
            Some(base) if paths.len() == 1 => base.as_str().to_owned(),
            Some(base) => {
                // One segment of a path, in which the name is percent-encoded.
                let segment = utf8_percent_encode(&source.file_name(), RESERVED).to_string();
                base.resolve(&IriRef::parse(segment)?)?.into_inner()
            }
        };
        sources.push(source);
    }
    for source in &sources {
        if let Some(other) = known.insert(source.iri.clone(), source.name()) {
            if base.is_none() {
                bail!("{other} and {} are the same log: name it once", source.name());
            }
            bail!(
                "{other} and {} would both be the session <{}>; convert them one by one, with a --base each",
                source.name(),
                source.iri
            );
        }
    }
    Ok(sources)
}

/// Returns the logs in a folder of tables.
fn in_tables(folder: &Path) -> anyhow::Result<Vec<InputSource>> {
    let tables = Arc::new(TableLogs::open(folder).with_context(|| format!("cannot read {}", shown(folder)))?);
    let source = |(place, iri): (usize, &str)| InputSource {
        iri: iri.to_owned(),
        tables: Some((Arc::clone(&tables), place)),
        ..InputSource::new(Some(folder.to_owned()), true)
    };
    let sources: Vec<_> = tables.iris().enumerate().map(source).collect();
    if sources.is_empty() {
        bail!("the tables in {} hold no session", shown(folder));
    }
    Ok(sources)
}

/// Replaces each folder in `paths` by its files, sorted by name, and with `recursive` by the files in its subfolders,
/// too. Skips hidden files and links in folders. Keeps folders of tables.
pub fn files(paths: &[PathBuf], recursive: bool) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        let before = files.len();
        match path.is_dir() && !is_stdin(path) {
            true => files_in(path, recursive, &mut files)?,
            false => files.push(path.clone()),
        }
        if files.len() == before {
            let more = if recursive { "" } else { "; -r reads those in its folders, too" };
            bail!("found no files in the folder {}{more}", shown(path));
        }
    }
    Ok(files)
}

/// Adds the files in a folder.
pub fn files_in(folder: &Path, recursive: bool, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if TableLogs::are_in(folder) {
        files.push(folder.to_owned());
        return Ok(());
    }
    let unreadable = || format!("cannot read {}", shown(folder));
    let entries: io::Result<Vec<_>> = fs::read_dir(folder).and_then(Iterator::collect);
    let mut entries = entries.with_context(unreadable)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries.iter().filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b".")) {
        // For a link, neither is true.
        let kind = entry.file_type().with_context(unreadable)?;
        if kind.is_file() {
            files.push(entry.path());
        } else if kind.is_dir() && recursive {
            files_in(&entry.path(), recursive, files)?;
        }
    }
    Ok(())
}

/// Counts the folders in a folder that are not hidden.
pub fn folders_in(path: &Path) -> u64 {
    let is_folder = |entry: &fs::DirEntry| {
        !entry.file_name().as_encoded_bytes().starts_with(b".") && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    let is_plain = !is_stdin(path) && !TableLogs::are_in(path);
    let entries = is_plain.then(|| fs::read_dir(path).ok()).flatten();
    entries.map_or(0, |entries| entries.flatten().filter(is_folder).count() as u64)
}

impl InputSource {
    /// Creates an input without an IRI.
    fn new(path: Option<PathBuf>, iri_stated: bool) -> Self {
        Self { path, iri: String::new(), iri_stated, follow: None, kept: None, alias: None, tables: None }
    }

    /// Returns the RDF syntax of the file; `None` for a log.
    pub fn rdf_format(&self) -> Option<RdfFormat> {
        rdf_format(self.path.as_deref()?)
    }

    /// True if it is in a folder of tables.
    pub fn is_in_tables(&self) -> bool {
        self.tables.is_some()
    }

    pub fn is_stdin(&self) -> bool {
        self.path() == Path::new(STDIN)
    }

    /// True if its path exists, and for standard input.
    pub fn is_there(&self) -> bool {
        self.path.as_deref().is_none_or(Path::exists)
    }

    /// Returns its name in messages to the user.
    pub fn name(&self) -> String {
        match (&self.alias, &self.path) {
            (Some(alias), _) => alias.clone(),
            (None, Some(path)) => shown(path),
            (None, None) => "standard input".to_owned(),
        }
    }

    /// Returns its file name without folders.
    pub fn file_name(&self) -> String {
        self.alias.clone().unwrap_or_else(|| self.path.as_deref().map_or_else(|| "stdin".to_owned(), file_name))
    }

    /// Replaces the content, the name and, unless `keeps_iri`, the IRI.
    pub fn replace(&mut self, log: &[u8], name: String, keeps_iri: bool) -> anyhow::Result<()> {
        let mut file = tempfile::tempfile().context("cannot keep the redacted log")?;
        file.write_all(log).context("cannot keep the redacted log")?;
        self.kept = Some(InputCopy { file: Arc::new(file), at: 0 });
        if !keeps_iri {
            // The last segment of a stated IRI is the name of the file.
            let stated = self.iri.rsplit_once('/').filter(|_| self.iri_stated);
            self.iri = stated.map_or_else(|| format!("urn:rpcgraph:{name}"), |(base, _)| format!("{base}/{name}"));
        }
        self.alias = Some(name);
        Ok(())
    }

    /// Returns its path; for standard input, the system's path for it.
    pub fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(STDIN))
    }

    /// Copies standard input, or a pipe, so that it can be read again.
    pub fn keep(&mut self) -> anyhow::Result<()> {
        let is_file = self.path().metadata().is_ok_and(|path| path.is_file() || path.is_dir());
        if self.is_stdin() || self.is_there() && !is_file { self.keep_log() } else { Ok(()) }
    }

    /// Copies its present content, unless it is in tables.
    pub fn keep_log(&mut self) -> anyhow::Result<()> {
        if self.tables.is_some() || self.kept.is_some() {
            return Ok(());
        }
        let failed = || format!("cannot keep a copy of {}", self.name());
        let mut file = tempfile::tempfile().with_context(failed)?;
        match self.path.as_deref().filter(|path| *path != Path::new(STDIN)) {
            Some(path) => {
                self.check_name()?;
                let mut log = File::open(path).with_context(|| format!("cannot read {}", self.name()))?;
                io::copy(&mut log, &mut file).with_context(failed)?;
            }
            None => {
                note_terminal();
                io::copy(&mut io::stdin().lock(), &mut file).with_context(failed)?;
                (self.path, self.iri_stated) = (None, true);
            }
        }
        self.kept = Some(InputCopy { file: Arc::new(file), at: 0 });
        Ok(())
    }

    /// Returns the path at which another process can read the copy.
    #[cfg(target_os = "linux")]
    pub fn kept_path(&self) -> Option<String> {
        let file = std::os::fd::AsRawFd::as_raw_fd(&*self.kept.as_ref()?.file);
        Some(format!("/proc/{}/fd/{file}", std::process::id()))
    }

    /// Uses the copy that another process made, if there is one.
    #[cfg(target_os = "linux")]
    pub fn keep_as(&mut self, kept: Option<&Path>) -> anyhow::Result<()> {
        if let Some(kept) = kept {
            let file = File::open(kept).with_context(|| format!("cannot read what is kept of {}", self.name()))?;
            self.kept = Some(InputCopy { file: Arc::new(file), at: 0 });
            if self.is_stdin() {
                (self.path, self.iri_stated) = (None, true);
            }
        }
        Ok(())
    }

    /// Returns the entries of an input in tables, which do not have `provenance`; `None` for other inputs. `longest` is
    /// the maximum size of a cell.
    pub fn in_tables(&self, provenance: bool, longest: usize) -> anyhow::Result<Option<Input<OwnEntries>>> {
        let Some((tables, place)) = &self.tables else { return Ok(None) };
        if self.follow.is_some() {
            bail!("{} is a folder of tables, which do not grow: leave out --follow", self.name());
        }
        if provenance {
            bail!(
                "{} has messages and not the bytes of logs: ask the logs for lines, offsets and digests",
                self.name()
            );
        }
        tables.input(*place, longest).with_context(|| format!("cannot read {}", self.name()))
    }

    /// Fails if its path does not exist, and something else was probably meant.
    fn check_name(&self) -> anyhow::Result<()> {
        let (Some(path), name) = (self.path.as_deref().filter(|_| !self.is_there()), self.name()) else {
            return Ok(());
        };
        if is_url(path) {
            bail!("logs are not read by URL: fetch it, as in `curl -L {name} | rpcgraph errors`");
        }
        if name.starts_with('m') && parse_name(&name).is_some() {
            bail!("cannot read {name}: no such file; `rpcgraph show LOG {name}` shows a message");
        }
        match near_file(path) {
            Some(near) => bail!("cannot read {name}: no such file; did you mean {near}?"),
            None => Ok(()),
        }
    }

    /// Opens the log.
    pub fn open(&self) -> anyhow::Result<Log> {
        if self.tables.is_some() {
            bail!("{} is a folder of tables, and here logs are read: name the logs", self.name());
        }
        if let (Some(alias), Some(kept)) = (&self.alias, &self.kept) {
            if self.follow.is_some() {
                bail!("--redact reads a log to its end: leave out --follow");
            }
            return Ok(Log::read(alias, kept.clone()).with_base(&self.iri)?);
        }
        if self.kept.is_none() {
            self.check_name()?;
        }
        let log = match (&self.path, &self.follow) {
            (Some(path), None) => match &self.kept {
                Some(kept) => Log::at_path(path, kept.clone())?,
                None => Log::open(path)?,
            },
            (Some(path), Some(stop)) => {
                let name = self.name();
                let told = move |event| match event {
                    FollowEvent::Replaced => say(&format!("note: {name} is another file now, which goes on with it")),
                    FollowEvent::Truncated => {
                        say(&format!("note: {name} was cut off or written anew, and is read from its beginning"));
                    }
                };
                Log::follow(path, stop, told)?
            }
            (None, follow) => {
                note_terminal();
                match &self.kept {
                    Some(kept) => Log::read("stdin", kept.clone()).with_name(self.name()),
                    None => follow.as_ref().map_or_else(Log::stdin, Log::follow_stdin)?,
                }
            }
        };
        Ok(if self.iri_stated { log.with_base(&self.iri)? } else { log })
    }
}
