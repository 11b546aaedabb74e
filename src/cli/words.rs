//! Words on the command line: the command, the values of options, and suggestions for unknown words.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use crate::overview::shell_quoted;
use crate::query::catalogue::names;
use anyhow::{anyhow, bail};
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use super::console::say;
use super::filter::FILTERS;
use super::input::{is_stdin, is_url, shown};

/// A parser of values: a function that parses a word, and a function that lists the usual words, for shells.
#[derive(Clone)]
pub struct NamedParser<T>(pub fn(&str) -> Result<T, String>, pub fn() -> Vec<&'static str>);

impl<T: Clone + Send + Sync + 'static> TypedValueParser for NamedParser<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        TypedValueParser::parse_ref(&self.0, command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.1().into_iter().map(PossibleValue::new)))
    }
}

/// Returns the known word that is most similar to a word, if one is similar enough.
pub fn nearest<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let lower = word.to_lowercase();
    let likeness = |known: &str| {
        let known = known.to_lowercase();
        let part = lower.len() > 1 && known.contains(&lower) || known.len() > 2 && lower.contains(&known);
        let slip = strsim::osa_distance(&lower, &known) <= 1;
        strsim::jaro_winkler(&lower, &known).max(match (slip, part) {
            (true, _) => 0.9,
            // The more of the name it is, the likelier.
            (_, true) => 0.8 + 0.1 * (lower.len().min(known.len()) as f64 / lower.len().max(known.len()) as f64),
            _ => 0.0,
        })
    };
    let scored = known.into_iter().map(|known| (likeness(known), known)).filter(|(likeness, _)| *likeness > 0.75);
    scored.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, known)| known)
}

/// Returns the arguments with the command in front. The first word that does not belong to an option is the command if
/// it names one, or a question for `ask`; otherwise it is a log, and the command is `overview`.
///
/// # Errors
///
/// If the word is neither a command nor a path that exists.
pub fn with_command(mut arguments: Vec<OsString>, root: &Command, terminal: bool) -> anyhow::Result<Vec<OsString>> {
    if arguments.len() < 2 {
        if !terminal {
            arguments.push("overview".into());
        }
        return Ok(arguments);
    }
    let Some(place) = first_word(&arguments, root) else {
        let about_itself = ["-h", "--help", "-V", "--version"].map(OsString::from);
        if !arguments.iter().any(|argument| about_itself.contains(argument)) {
            arguments.insert(1, "overview".into());
        }
        return Ok(arguments);
    };
    let Some(word) = arguments.get(place).cloned() else { return Ok(arguments) };
    let path = Path::new(&word);
    if let Some((_, words)) = ALIASES.iter().find(|(alias, _)| word == *alias) {
        arguments.remove(place);
        arguments.splice(1..1, words.iter().map(OsString::from));
        return Ok(arguments);
    }
    let command = word.to_str().filter(|word| *word == "help" || root.find_subcommand(word).is_some());
    if let Some(command) = command {
        // A folder with the name of a command is common, and does not deserve a note.
        if path.is_file() {
            say(&format!("note: {command} is the command; the file of that name is ./{command}"));
        }
        let word = arguments.remove(place);
        arguments.insert(1, word);
        return Ok(arguments);
    }
    if is_stdin(path) || path.exists() || is_url(path) {
        let next = arguments.get(place + 1).and_then(|next| next.to_str()).filter(|next| !Path::new(next).exists());
        let command = next.and_then(|next| match root.find_subcommand(next) {
            Some(_) => Some(next.to_owned()),
            None => names().contains(&next).then(|| format!("ask {next}")),
        });
        if let Some(command) = command {
            bail!("the command comes first: rpcgraph {command} {}", shell_quoted(&shown(path)));
        }
        arguments.insert(1, "overview".into());
        return Ok(arguments);
    }
    let name = shown(path);
    if names().iter().any(|question| *question == name) {
        let word = arguments.remove(place);
        arguments.splice(1..1, ["ask".into(), word]);
        return Ok(arguments);
    }
    let commands = root.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
    let commands: Vec<_> = commands.collect();
    let near = || other_command(&name).or_else(|| nearest(&name, commands.iter().copied().chain(names())));
    let command = if is_sparql(&name) { Some("query") } else { near() };
    let is_command = |near: &str| near.split(' ').next().is_some_and(|name| commands.contains(&name));
    let command = command.map(|near| if is_command(near) { format!("`{near}`") } else { format!("`ask {near}`") });
    let near: Vec<_> = command.into_iter().chain(near_file(path).map(|near| format!("the file {near}"))).collect();
    let advice = match near.as_slice() {
        [] => "rpcgraph --help lists the commands".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    Err(anyhow!("unknown command or file {name:?}: {advice}"))
}

/// Former commands, and what stands for them.
const ALIASES: [(&str, &[&str]); 1] = [("rebuild", &["timeline", "--to", "messages"])];

/// Options of other tools, and ours.
const OTHER_OPTIONS: [(&str, &str); 16] = [
    ("--csv", "--to csv"),
    ("--exit-code", "--fail-if rows"),
    ("--explain", "--rule"),
    ("--fail", "--fail-if rows"),
    ("--filter", "--contains"),
    ("--format", "--to"),
    ("--grep", "--contains"),
    ("--head", "--limit"),
    ("--json", "--to json"),
    ("--jsonl", "--to jsonl"),
    ("--listen", "--bind"),
    ("--markdown", "--to markdown"),
    ("--port", "--bind"),
    ("--sarif", "--to sarif"),
    ("--search", "--contains"),
    ("--sparql", "--print"),
];

/// Our commands, and the names that other tools and people have for them.
const OTHER_COMMANDS: [(&str, &str); 20] = [
    ("ask cost", "tokens"),
    ("ask in-flight", "concurrency inflight"),
    ("ask sessions", "clients connections servers"),
    ("check", "lint validate verify"),
    ("compare", "diff"),
    ("convert", "export graph rdf turtle"),
    ("convert -t otlp", "otel otlp spans trace traces"),
    ("convert -t parquet", "parquet tables"),
    ("errors", "failed failures"),
    ("methods", "calls latencies p95 requests"),
    ("overview", "stats status summary top"),
    ("query", "sparql sql"),
    ("redact", "anonymize mask sanitize scrub"),
    ("report", "html page"),
    ("serve", "open ui view"),
    ("slowest", "duration durations latency slow timings"),
    ("timeline", "cat head messages tail"),
    ("timeline --contains", "find grep search"),
    ("timeline -t messages", "raw replay"),
    ("unanswered", "hanging hung pending stuck timeouts"),
];

/// Returns our command for a name that other tools and people have.
pub fn other_command(name: &str) -> Option<&'static str> {
    OTHER_COMMANDS.iter().find(|(_, others)| others.split(' ').any(|other| other == name)).map(|(ours, _)| *ours)
}

/// Tips for a command that is given an argument: the command, the argument and the beginning of its value, and the tip.
const TIPS: [(&str, &str, &str, &str); 3] = [
    ("check", "--rule", "", "'--only RULE' checks a log by one rule; '--rule RULE' explains it, without a log"),
    ("query", "--file", "", "'query FILE.rq LOG' asks the query of a file"),
    ("check", "--protocol", "mcp-", "'--set NAME' checks by the rules of a revision of MCP"),
];

/// Adds a tip to an error of a command: a filter, which only questions take, or one of [`TIPS`].
fn add_tip(error: &mut clap::Error, command: &Command, root: &Command) {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let (argument, prior, value) =
        (text(ContextKind::InvalidArg), text(ContextKind::PriorArg), text(ContextKind::InvalidValue));
    let is_named = |arg: &&Arg| arg.get_long().is_some_and(|long| argument.strip_prefix("--") == Some(long));
    let is_filter = |arg: &&Arg| arg.get_help_heading() == Some(FILTERS) && is_named(arg);
    let takes_filters = |command: &Command| command.get_arguments().any(|arg| arg.get_help_heading() == Some(FILTERS));
    let name = command.get_name();
    let tip = if !takes_filters(command)
        && root.get_subcommands().flat_map(Command::get_arguments).any(|arg| is_filter(&arg))
    {
        Some(format!(
            "'{name}' takes no filters, unlike questions: 'rpcgraph timeline LOG {argument} … -t messages' writes a part of a log"
        ))
    } else {
        let given = |option: &str| [argument, prior].iter().any(|given| given.split(' ').next() == Some(option));
        let tip = TIPS.iter().find(|(of, option, start, _)| *of == name && given(option) && value.starts_with(start));
        tip.map(|(.., tip)| (*tip).to_owned())
    };
    if let Some(tip) = tip {
        // The usage is with the option that was suggested.
        for suggested in [ContextKind::SuggestedArg, ContextKind::SuggestedValue, ContextKind::Usage] {
            error.remove(suggested);
        }
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// Suggests our option in place of another tool's, if the command has ours, or adds a tip.
pub fn suggest_option(error: &mut clap::Error, arguments: &[OsString], root: &Command) {
    let command = arguments.get(1).and_then(|name| root.find_subcommand(name));
    if let Some(command) = command {
        add_tip(error, command, root);
    }
    let Some((ContextValue::String(wrong), command)) = error.get(ContextKind::InvalidArg).zip(command) else { return };
    let has = |option: &str| {
        let name = option.split(' ').next().and_then(|name| name.strip_prefix("--"));
        command.get_arguments().any(|argument| argument.get_long() == name)
    };
    if let Some((_, ours)) = OTHER_OPTIONS.iter().find(|(other, ours)| other == wrong && has(ours)) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String((*ours).to_owned()));
        // It is with the option that was suggested before.
        error.remove(ContextKind::Usage);
    }
}

/// Fails if `ask` lists or prints questions, and has an option for answering them.
pub fn check_used(command: &Command, matches: &ArgMatches) -> anyhow::Result<()> {
    let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let (used, what): (&[&str], _) = match command.get_name() {
        "ask" if !is_given("name") => (&["queries", "output"], "`ask` without NAME lists the questions"),
        "ask" if is_given("print") || is_given("sql") => {
            (&["name", "print", "sql", "dialect", "queries", "output"], "--print and --sql print a question")
        }
        _ => return Ok(()),
    };
    let mut given = command.get_arguments().filter(|arg| is_given(arg.get_id().as_str()));
    match given.find(|arg| !used.contains(&arg.get_id().as_str())) {
        Some(other) => bail!("{what}, and {other} is not used there: leave it out"),
        None => Ok(()),
    }
}

/// Returns the index of the first word that is neither an option nor an option's value. An option may be of any command,
/// since the command may follow it.
fn first_word(arguments: &[OsString], root: &Command) -> Option<usize> {
    let mut is_value = false;
    for (place, argument) in arguments.iter().enumerate().skip(1) {
        let text = argument.to_string_lossy();
        if std::mem::take(&mut is_value) {
            continue;
        }
        if text == "-" || !text.starts_with('-') {
            return Some(place);
        }
        let is_named = |arg: &&Arg| match text.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            // The value may follow the letter directly.
            None => text.len() == 2 && arg.get_short() == text.chars().nth(1),
        };
        is_value = root
            .get_subcommands()
            .flat_map(Command::get_arguments)
            .find(is_named)
            .is_some_and(|arg| arg.get_action().takes_values());
    }
    None
}

/// Returns the file beside a path whose name is most similar.
pub fn near_file(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names: Vec<_> =
        entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())).collect();
    let name = nearest(&path.file_name()?.to_string_lossy(), names.iter().map(String::as_str))?;
    Some(shown(&folder.map_or_else(|| name.into(), |folder| folder.join(name))))
}

/// The first words of SPARQL queries.
const BEGINNINGS: [&str; 6] = ["prefix", "base", "select", "ask", "construct", "describe"];

/// True if a text starts like SPARQL: with a comment, or with a keyword and a character that is rare in file names.
pub fn is_sparql(text: &str) -> bool {
    let text = text.trim_start_matches('\u{FEFF}').trim_start();
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let is_beginning = BEGINNINGS.contains(&word.to_ascii_lowercase().as_str());
    text.starts_with('#') || (is_beginning && rest.starts_with(|c: char| c.is_whitespace() || "{*?$(<:".contains(c)))
}
