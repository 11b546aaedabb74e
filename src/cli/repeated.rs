//! The arguments of an overview that the commands on it repeat.

use std::ffi::OsStr;
use std::path::Path;

use crate::overview::{RepeatedArgs, shell_quoted};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use super::filter::is_filter;
use super::format::OF_LOGS;
use super::input::is_stdin;
use super::read::OF_MAPPING;

/// The maximum number of logs that a command lists.
const MAX_LOGS: usize = 4;
const OF_TIMES: [&str; 3] = ["since", "last", "until"];
const STORES: [&str; 2] = ["store", "endpoint"];

/// The arguments as they were typed. They add no argument, and are parsed first, since other arguments take their values.
#[derive(Debug, Default)]
pub struct TypedArgs(pub RepeatedArgs);

impl FromArgMatches for TypedArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let options = |takes: &dyn Fn(&str) -> bool| -> String {
            let ids = matches.ids().map(clap::Id::as_str).filter(|id| takes(id));
            ids.map(|id| option(matches, id)).collect()
        };
        // Names of files and values of filters may be secret.
        let redaction = options(&|id| id == "redact");
        if !redaction.is_empty() {
            return Ok(Self(RepeatedArgs { reading: redaction, ..RepeatedArgs::default() }));
        }
        let mut args = RepeatedArgs {
            reading: options(&|id| OF_LOGS.contains(&id) || STORES.contains(&id) || id == "base"),
            asking: options(&|id| OF_MAPPING.contains(&id) || is_filter(id)),
            times: options(&|id| OF_TIMES.contains(&id)),
            ..RepeatedArgs::default()
        };
        // The screen is about the others if an input is missing.
        let is_there = |name: &&OsStr| is_stdin(Path::new(name)) || Path::new(name).exists();
        let inputs = matches.try_get_raw("inputs").ok().flatten().into_iter().flatten();
        // Of thousands of logs, only the first are looked up.
        let inputs: Vec<_> = inputs.filter(is_there).take(MAX_LOGS + 1).collect();
        let is_listed = |text: &&str| !is_stdin(Path::new(text)) && !text.chars().any(char::is_control);
        let names: Vec<_> = inputs.iter().filter_map(|name| name.to_str().filter(is_listed)).collect();
        if matches.ids().any(|id| STORES.contains(&id.as_str())) {
            args.inputs = String::new();
        } else if names.len() == inputs.len() && (1..=MAX_LOGS).contains(&names.len()) {
            let path =
                |name: &str| shell_quoted(&if name.starts_with('-') { format!("./{name}") } else { name.to_owned() });
            args.inputs = names.into_iter().map(|name| format!(" {}", path(name))).collect();
        }
        Ok(Self(args))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for TypedArgs {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

/// Formats an option of the command line with each of its values; empty if it is not there.
fn option(matches: &ArgMatches, id: &str) -> String {
    if matches.value_source(id) != Some(ValueSource::CommandLine) {
        return String::new();
    }
    let name = if id == "contexts" { "context".to_owned() } else { id.replace('_', "-") };
    if matches!(matches.try_get_one::<bool>(id), Ok(Some(_))) {
        return format!(" --{name}");
    }
    let values = matches.get_raw(id).into_iter().flatten().map(|value| shell_quoted(&value.to_string_lossy()));
    values.map(|value| format!(" --{name}{}{value}", if value.starts_with('-') { '=' } else { ' ' })).collect()
}
