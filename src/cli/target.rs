//! The output: place, compression and syntax by `--output`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::sink::{Compression, Output, OutputError, SinkError, Syntax, discard_unfinished};
use anyhow::bail;
use clap::Args;

use super::input::{is_stdin, shown};
use super::read::named;
use super::standard::check_output;
use super::{Failure, Outcome};

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct TargetArgs {
    /// Write to a file; its extension selects the format
    ///
    /// A further extension .gz or .zst selects a compression. The file appears when it is complete.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl TargetArgs {
    /// The file to write, if it is one.
    pub fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| !is_stdin(path))
    }

    /// Fails where nothing can be written, or where it is one of the files that are read: it would take the place of that,
    /// or add to it without an end.
    pub fn check<'p>(&self, mut read: impl Iterator<Item = &'p Path>) -> Result<(), Failure> {
        if self.file().is_none() {
            check_output()?;
        }
        let output = file_id(self.file().unwrap_or(Path::new("/dev/stdout")));
        match output.and_then(|output| read.find(|path| file_id(path).as_ref() == Some(&output))) {
            Some(path) => bail!("{} is an input and the output: name another file for the output", shown(path)),
            None => Ok(()),
        }
    }

    /// Opens it; `xml` says whether what goes there is XML.
    pub fn open(&self, xml: bool) -> Result<Output, OutputError> {
        match self.file() {
            Some(path) => {
                leave_on_ctrl_c();
                Output::file(path, Compression::split(path).1, xml)
            }
            None => Ok(Output::stdout(xml)),
        }
    }

    /// Writes a text.
    pub fn print(&self, text: &str) -> Result<Outcome, Failure> {
        self.check(std::iter::empty())?;
        let mut output = self.open(false)?;
        output.write_all(text.as_bytes())?;
        output.finish()?;
        Ok(Outcome::Done)
    }

    /// The format that the file's extension stands for, after that of a compression: `named` if it is given, the default
    /// where there is no extension.
    ///
    /// # Errors
    ///
    /// An extension that stands for nothing; `option` is what names one instead.
    pub fn kind<T: Default>(
        &self,
        named: Option<T>,
        from_extension: impl Fn(&str) -> Option<T>,
        option: &str,
    ) -> Result<T, Failure> {
        let (Some(path), None) = (self.file(), &named) else { return Ok(named.unwrap_or_default()) };
        let Some(extension) = Compression::split(path).0 else { return Ok(T::default()) };
        from_extension(&extension).ok_or_else(|| {
            anyhow::anyhow!(
                "no syntax goes by the extension {extension:?} of {}; name one with {option}",
                path.display()
            )
        })
    }

    /// The same failure with the name of the output, if it is about that; but for a closed pipe, which is not a failure.
    pub fn unwritable(&self, failure: Failure) -> Failure {
        match (failure.downcast(), self.file()) {
            (Ok(SinkError::Io(cause)), Some(path)) => OutputError::new(path, cause).into(),
            (Ok(error), _) => error.into(),
            (Err(failure), _) => failure,
        }
    }
}

/// Fails if a file that is read is in the folder that is to be replaced.
pub fn check_folder<'p>(folder: &Path, mut read: impl Iterator<Item = &'p Path>) -> Result<(), Failure> {
    let Ok(folder) = fs::canonicalize(folder) else { return Ok(()) };
    match read.find(|path| fs::canonicalize(path).is_ok_and(|path| path != folder && path.starts_with(&folder))) {
        Some(path) => {
            bail!("{} is in the folder that would be replaced: name another folder with --output", shown(path))
        }
        None => Ok(()),
    }
}

/// Identity of the regular file at a path: its device and its number there.
#[cfg(unix)]
fn file_id(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.dev(), metadata.ino()))
}

/// Identity of the file at a path.
#[cfg(not(unix))]
fn file_id(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// From here on Ctrl-C ends the command, where it does not listen for that itself.
pub fn leave_on_ctrl_c() {
    let _ = ctrlc::set_handler(|| leave());
}

/// Ends the process without a trace of an output that is not complete.
pub fn leave() -> ! {
    discard_unfinished();
    std::process::exit(2)
}

/// A syntax by its name.
pub fn parse_syntax(name: &str) -> Result<Syntax, String> {
    named("syntax", &Syntax::ALL, Syntax::name, name)
}
