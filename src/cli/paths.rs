//! The files and folders that the arguments name: no output may be an input.

use std::any::TypeId;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use crate::record::file_id;
use anyhow::bail;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, ValueHint};
use percent_encoding::percent_decode;

use super::input::{files_in, is_stdin, shown};

/// A file or folder that a command writes. Every option for one has this type; [`check`] relies on it.
#[derive(Debug, Clone)]
pub struct OutputPath(PathBuf);

impl From<OsString> for OutputPath {
    fn from(path: OsString) -> Self {
        Self(path.into())
    }
}

impl Deref for OutputPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

/// Fails if a command would write to a file that it reads, or replace a folder that contains such a file. The inputs are
/// the values of all arguments with a hint that they are paths.
pub fn check(command: &Command, matches: &ArgMatches) -> anyhow::Result<()> {
    let given = |arg: &&Arg| {
        arg.get_action().takes_values() && matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    let is_output = |arg: &Arg| arg.get_value_parser().type_id() == TypeId::of::<OutputPath>();
    let values = |arg: &Arg| matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
    let (mut inputs, mut outputs, mut to_stdout) = (Vec::new(), Vec::new(), true);
    for arg in command.get_arguments().filter(given) {
        let option = arg.get_long().unwrap_or_default();
        for value in values(arg) {
            match is_output(arg) {
                true if option == "output" && !is_stdin(Path::new(value)) => {
                    to_stdout = false;
                    outputs.push((option, PathBuf::from(value)));
                }
                true if option != "output" => outputs.push((option, PathBuf::from(value))),
                true => {}
                false if arg.get_value_hint() != ValueHint::Unknown => inputs.extend(named(value)),
                false => {}
            }
        }
    }
    let is_given = |id: &str| command.get_arguments().any(|arg| arg.get_id() == id && given(&arg));
    let may_read_stdin = command.get_arguments().any(|arg| ["inputs", "input"].contains(&arg.get_id().as_str()));
    if may_read_stdin && !["inputs", "input", "store", "endpoint"].into_iter().any(is_given) {
        inputs.push("/dev/stdin".into());
    }
    if to_stdout {
        outputs.push(("output", "/dev/stdout".into()));
    }
    let recursive = matches!(matches.try_get_one::<bool>("recursive"), Ok(Some(true)));
    for folder in inputs.clone().iter().filter(|path| path.is_dir()) {
        // A folder that cannot be read is an error of the command.
        let _ = files_in(folder, recursive, &mut inputs);
    }
    for (number, (option, output)) in outputs.iter().enumerate() {
        if let Some((other, _)) = outputs.iter().take(number).find(|(_, other)| is_same(other, output)) {
            bail!("--{other} and --{option} both write {}: name another file for one of them", shown(output));
        }
        if let Some(input) = inputs.iter().find(|input| is_same(input, output)) {
            let other = if *option == "output" { "the output".to_owned() } else { format!("--{option}") };
            bail!("{} is an input and the output: name another file for {other}", shown(input));
        }
        // `redact` writes the logs of a folder into another, which keeps what it has.
        let is_replaced = command.get_name() != "redact";
        let folder = fs::canonicalize(output).ok().filter(|output| output.is_dir() && is_replaced);
        let Some(folder) = folder else { continue };
        if let Some(input) = inputs.iter().find(|path| fs::canonicalize(path).is_ok_and(|p| p.starts_with(&folder))) {
            bail!("{} is in the folder that would be replaced: name another folder with --{option}", shown(input));
        }
    }
    Ok(())
}

/// Returns the files and folders that exist of those that a value may name: `LOG`, `LOG:LINE`, `LOG#MESSAGE` (also
/// percent-encoded), `URL=DIR`, and `-` for standard input.
fn named(value: &OsStr) -> impl Iterator<Item = PathBuf> {
    let text = value.to_string_lossy();
    let part = |part: Option<(&str, &str)>| part.map(|(path, _)| PathBuf::from(path));
    let decoded = |path: &PathBuf| {
        PathBuf::from(percent_decode(path.as_os_str().as_encoded_bytes()).decode_utf8_lossy().into_owned())
    };
    let whole = if value == "-" { "/dev/stdin".into() } else { PathBuf::from(value) };
    let place = part(text.rsplit_once('#')).or_else(|| part(text.rsplit_once(':')));
    let all = [Some(whole), place.as_ref().map(decoded), place, text.rsplit_once('=').map(|(_, path)| path.into())];
    all.into_iter().flatten().filter(|path| path.exists())
}

/// True if two paths lead to one file or folder, or would. Devices and pipes are read and written as often as one likes.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| (path.is_file() || path.is_dir()).then(|| file_id(path)).flatten();
    let absent = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        (!path.exists()).then(|| Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))).flatten()
    };
    match (id(one), id(other)) {
        (Some(one), Some(other)) => one == other,
        _ => absent(one).is_some_and(|one| absent(other) == Some(one)),
    }
}
