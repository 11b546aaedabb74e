//! The output: place, compression and syntax by `--output`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::sink::{Compression, Output, OutputError, SinkError, Syntax, discard_unfinished};
use clap::Args;

use super::console::Outcome;
use super::input::is_stdin;
use super::paths::OutputPath;
use super::values::named;

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct TargetArgs {
    /// Write to a file; its extension selects the format
    ///
    /// A further extension .gz or .zst selects a compression. The file appears when it is complete.
    #[arg(short, long, value_name = "FILE")]
    output: Option<OutputPath>,
}

impl TargetArgs {
    /// Creates a target of a file.
    pub fn from_file(file: PathBuf) -> Self {
        Self { output: Some(file.into_os_string().into()) }
    }

    /// Returns the file to write; `None` for standard output.
    pub fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| !is_stdin(path))
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
            anyhow::anyhow!("unknown extension {extension:?} of {}; name the syntax with {option}", path.display())
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

/// Writes text to standard output.
pub fn print(text: &str) -> anyhow::Result<Outcome> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(Outcome::Done)
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

/// Parses the name of a syntax, or one of its file extensions.
pub fn parse_syntax(name: &str) -> Result<Syntax, String> {
    Syntax::from_extension(name).map_or_else(|| named("syntax", &Syntax::ALL, Syntax::name, name), Ok)
}
