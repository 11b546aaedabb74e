//! `detect`: prints the format of a log, the outcome of reading it, and a description of the format.

use std::io::{Read, Write as _};

use crate::diagnostic::{printable, shortened};
use crate::message::Content;
use crate::record::{Direction, Entry, Format, Reader, ReaderOptions, Record, Sender, decompressed};
use crate::summary::Summary;
use anstyle::{AnsiColor, Style};
use clap::Args;

use super::console::Outcome;
use super::format::check_pointers;
use super::input::InputSource;
use super::read::InputArgs;

/// The number of bytes at the start of a log that a description is made from.
const HEAD: u64 = 64 * 1024;
/// The maximum number of records shown, and of characters of a message.
const SHOWN: usize = 3;
const SHOWN_CHARACTERS: usize = 200;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/detect.txt").trim_end())]
pub struct DetectCommand {
    #[command(flatten)]
    input: InputArgs,
}

impl DetectCommand {
    pub fn run(&self) -> anyhow::Result<Outcome> {
        let (options, mut outcome) = (self.input.options()?, Outcome::Done);
        for source in self.input.sources()? {
            if let Outcome::Findings = explain(&source, &options)? {
                outcome = Outcome::Findings;
            }
        }
        Ok(outcome)
    }
}

/// Prints how a log was read: its format, its first records, the counts, and options that read it in the same way.
fn explain(source: &InputSource, options: &ReaderOptions) -> anyhow::Result<Outcome> {
    let mut out = anstream::stdout().lock();
    let (mut head, mut outcome) = (Vec::new(), Outcome::Done);
    let mut input = decompressed(source.open()?.into_input().read)?;
    input.by_ref().take(HEAD).read_to_end(&mut head)?;
    let mut reader = Reader::new(head.as_slice().chain(input), options)?;
    let format = reader.format();
    let mut summary = Summary::new(&reader);
    let mut seen = Vec::new();
    writeln!(out, "{}: {}", source.name(), summary.forms())?;
    while let Some(entry) = reader.next_entry()? {
        match &entry {
            Entry::Record(record) => summary.count(&Content::from_record(record)),
            Entry::LogLine(_) => summary.log_lines += 1,
        }
        if let Entry::Record(record) = &entry
            && summary.records <= SHOWN as u64
        {
            show(&mut out, record)?;
        }
        // Entries near the end of the head may be cut off.
        if entry.location().byte < HEAD / 2 {
            seen.push(as_read(entry));
        }
    }
    summary.end_input(options.is_stated(), reader.head());
    let unread = if summary.unread > 0 { format!("; not read as JSON-RPC: {}", summary.unread) } else { String::new() };
    writeln!(out, "\n{summary}{unread}")?;
    if let Some(why) = summary.why_unread(options.is_stated()) {
        writeln!(out, "{why}")?;
        outcome = Outcome::Findings;
    }
    match reader.learned() {
        Some(file) => writeln!(out, "\n# This file for --from says the same.\n{file}")?,
        None if options.is_stated() => {}
        None => writeln!(out, "\n{}", reading_option(format, &head, &seen))?,
    }
    check_pointers(options)?;
    Ok(outcome)
}

/// Prints the parts of a record, each after its name.
fn show(out: &mut impl std::io::Write, record: &Record<'_>) -> std::io::Result<()> {
    let time = record.time.map(|time| time.to_string());
    let sender = match (record.sender, record.direction) {
        (Some(Sender::Client), _) => Some("client"),
        (Some(Sender::Server), _) => Some("server"),
        (None, Some(Direction::Out)) => Some("out: whoever wrote the log"),
        (None, Some(Direction::In)) => Some("in: the other side than whoever wrote the log"),
        (None, None) => None,
    };
    let text = String::from_utf8_lossy(&record.bytes);
    writeln!(out, "\nrecord {}, line {}", record.location.record, record.location.line)?;
    for (name, value, colour) in [
        ("time", time.as_deref(), AnsiColor::Cyan),
        ("sender", sender, AnsiColor::Magenta),
        ("session", record.session.as_deref(), AnsiColor::Yellow),
        ("message", Some(&*shortened(&text, SHOWN_CHARACTERS)), AnsiColor::Green),
    ] {
        let style = Style::new().fg_color(Some(colour.into()));
        writeln!(out, "  {name:7}  {style}{}{style:#}", value.map_or("-".into(), printable))?;
    }
    Ok(())
}

/// Returns the option that reads a log as it was detected. The log begins with `head`, which has the entries `seen`.
fn reading_option(format: Format, head: &[u8], seen: &[Entry<'_>]) -> String {
    let name = format.name();
    match entries(head, &ReaderOptions::default().with_format(format), seen.len()) == seen {
        true => format!("`--from {name}` reads this log identically."),
        false => format!("No `--from` reads it identically; the closest is `--from {name}`."),
    }
}

/// Clears the flag for copied bytes, which differs with the options for reading a log.
fn as_read(mut entry: Entry<'static>) -> Entry<'static> {
    if let Entry::Record(record) = &mut entry {
        record.flags.is_derived = false;
    }
    entry
}

/// Returns the first entries of a text, at most `most`.
fn entries(text: &[u8], options: &ReaderOptions, most: usize) -> Vec<Entry<'static>> {
    let Ok(mut reader) = Reader::new(text, options) else { return Vec::new() };
    std::iter::from_fn(|| reader.next_entry().ok()?).take(most).map(as_read).collect()
}
