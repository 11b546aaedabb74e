//! The output: place, compression and syntax by `--output`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::record::file_id;
use crate::sink::{Compression, Output, OutputError, SinkError, Syntax, discard_unfinished};
use anyhow::bail;
use clap::Args;

use super::console::Outcome;
use super::input::{is_stdin, shown};
use super::standard::check_output;
use super::values::named;

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
    /// Creates a target of a file.
    pub fn of(file: PathBuf) -> Self {
        Self { output: Some(file) }
    }

    /// Returns the file to write; `None` for standard output.
    pub fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| !is_stdin(path))
    }

    /// Fails if standard output is closed, or if the output is one of the files that are read: the output would replace
    /// that file, or grow without end.
    pub fn check<'p>(&self, mut read: impl Iterator<Item = &'p Path>) -> anyhow::Result<()> {
        if self.file().is_none() {
            check_output()?;
        }
        let id = |path: &Path| path.is_file().then(|| file_id(path)).flatten();
        let output = id(self.file().unwrap_or(Path::new("/dev/stdout")));
        match output.and_then(|output| read.find(|path| id(path).as_ref() == Some(&output))) {
            Some(path) => bail!("{} is an input and the output: name another file for the output", shown(path)),
            None => Ok(()),
        }
    }

    /// Opens the output; `xml` is true for XML.
    pub fn open(&self, xml: bool) -> Result<Output, OutputError> {
        match self.file() {
            Some(path) => {
                leave_on_ctrl_c();
                Output::file(path, Compression::split(path).1, xml)
            }
            None => Ok(Output::stdout(xml)),
        }
    }

    /// Writes a text to the output.
    pub fn print(&self, text: impl AsRef<[u8]>) -> anyhow::Result<Outcome> {
        self.check(std::iter::empty())?;
        let mut output = self.open(false)?;
        output.write_all(text.as_ref())?;
        output.finish()?;
        Ok(Outcome::Done)
    }

    /// Returns the format: `named` if it is given, else the format for the file's extension before an extension for
    /// compression, else, without an extension, the default.
    ///
    /// # Errors
    ///
    /// If the extension does not stand for a format; `option` is the option that names a format instead.
    pub fn kind<T: Default>(
        &self,
        named: Option<T>,
        from_extension: impl Fn(&str) -> Option<T>,
        option: &str,
    ) -> anyhow::Result<T> {
        let (Some(path), None) = (self.file(), &named) else { return Ok(named.unwrap_or_default()) };
        let Some(extension) = Compression::split(path).0 else { return Ok(T::default()) };
        from_extension(&extension).ok_or_else(|| {
            anyhow::anyhow!(
                "no syntax goes by the extension {extension:?} of {}; name one with {option}",
                path.display()
            )
        })
    }

    /// Adds the output's file name to a failure to write it. Other failures stay, such as a closed pipe, which is not a
    /// failure.
    pub fn unwritable(&self, failure: anyhow::Error) -> anyhow::Error {
        match (failure.downcast(), self.file()) {
            (Ok(SinkError::Io(cause)), Some(path)) => OutputError::new(path, cause).into(),
            (Ok(error), _) => error.into(),
            (Err(failure), _) => failure,
        }
    }
}

/// Fails if a file that is read is in the folder that the output replaces.
pub fn check_folder<'p>(folder: &Path, mut read: impl Iterator<Item = &'p Path>) -> anyhow::Result<()> {
    let Ok(folder) = fs::canonicalize(folder) else { return Ok(()) };
    match read.find(|path| fs::canonicalize(path).is_ok_and(|path| path != folder && path.starts_with(&folder))) {
        Some(path) => {
            bail!("{} is in the folder that would be replaced: name another folder with --output", shown(path))
        }
        None => Ok(()),
    }
}

/// Makes Ctrl-C end the command, unless the command has a handler already.
pub fn leave_on_ctrl_c() {
    let _ = ctrlc::set_handler(|| leave());
}

/// Exits the process, and removes incomplete outputs.
pub fn leave() -> ! {
    discard_unfinished();
    std::process::exit(2)
}

/// Parses the name of a syntax.
pub fn parse_syntax(name: &str) -> Result<Syntax, String> {
    named("syntax", &Syntax::ALL, Syntax::name, name)
}
