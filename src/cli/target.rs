//! Where results go: what `--output` says of place, compression and syntax.

use std::path::{Path, PathBuf};

use clap::Args;
use rpcgraph::sink::{Compression, Output, OutputError, SinkError, Syntax, discard_unfinished};

use super::Failure;
use super::input::is_stdin;
use super::read::named;

#[derive(Debug, Args)]
pub struct TargetArgs {
    /// Write to a file, which appears when it is complete; its extension tells syntax and compression
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl TargetArgs {
    /// The file to write, if it is one.
    pub fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| !is_stdin(path))
    }

    /// Opens it.
    pub fn open(&self) -> Result<Output, OutputError> {
        match self.file() {
            Some(path) => {
                // Where the command does not listen for Ctrl-C itself, it ends here.
                let _ = ctrlc::set_handler(|| leave());
                Output::file(path, Compression::split(path).1)
            }
            None => Ok(Output::stdout()),
        }
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

/// Ends the process without a trace of an output that is not complete.
pub fn leave() -> ! {
    discard_unfinished();
    std::process::exit(2)
}

/// A syntax by its name.
pub fn parse_syntax(name: &str) -> Result<Syntax, String> {
    named("syntax", &Syntax::ALL, Syntax::name, name)
}
