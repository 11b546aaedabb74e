//! `report`: writes a page that shows logs.

use crate::report::{DEFAULT_LIMIT, Report, ReportOptions};
use crate::sink::Compression;
use crate::summary::counted;
use anyhow::bail;
use clap::Args;

use super::choice::Choice;
use super::console::{Outcome, say};
use super::filter::FilterArgs;
use super::input::{InputSource, shown};
use super::judging::judged;
use super::read::{InputArgs, all_read};
use super::target::TargetArgs;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/report.txt").trim_end())]
pub struct ReportCommand {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    target: TargetArgs,

    /// Title of the page [default: the names of the logs]
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    title: Option<String>,

    /// Keep the text of every message; without it, up to 1 MB of texts, failures first
    #[arg(long, help_heading = "Output")]
    full: bool,

    /// Exit with 1 and write no page if the log has possible passwords, tokens or keys
    #[arg(long)]
    fail_on_secrets: bool,

    /// Add the verdicts of `rpcgraph check` on the whole logs
    #[arg(long)]
    check: bool,

    /// Print only errors
    #[arg(long, help_heading = "Output")]
    quiet: bool,

    #[command(flatten)]
    filter: FilterArgs,
}

impl ReportCommand {
    pub fn run(&self) -> anyhow::Result<Outcome> {
        let extension = self.target.file().and_then(|file| Some((file, Compression::split(file).0?)));
        if let Some((file, extension)) = extension.filter(|(_, extension)| !["htm", "html"].contains(&&**extension)) {
            bail!("a page is HTML, and not {extension}: name it {}", shown(&file.with_extension("html")));
        }
        let (options, redacted) = (self.input.options()?, self.input.format.redact.is_on());
        let mut sources = self.input.sources()?;
        let jobs = self.input.format.jobs();
        let limit = (!self.full).then_some(DEFAULT_LIMIT);
        let choice = Choice::new(&[], &self.filter);
        let chosen_by = Some(self.filter.given_options(!redacted)).filter(|said| !said.is_empty());
        let (mut chosen, mut nothing) = (None, None);
        if self.check || chosen_by.is_some() {
            sources.iter_mut().try_for_each(InputSource::keep)?;
        }
        if chosen_by.is_some() {
            let asked = choice.read(&sources, (&options, jobs), std::iter::empty())?;
            let messages = chosen.insert(choice.messages(&asked)?);
            if messages.logs() == 0 {
                let names: Vec<_> = sources.iter().map(InputSource::name).collect();
                nothing = Some(choice.nothing(&asked, &names.join(", "))?);
            }
        }
        if let (true, Some(filter)) = (self.check, &chosen_by) {
            bail!("--check judges whole logs: leave out {filter}");
        }
        let mut report = Report::new(&ReportOptions { redacted, limit, chosen_by });
        let unread = self.input.read_each(&sources, self.quiet, |source, input| {
            let messages = chosen.as_ref().map(|messages| messages.of_log(&source.iri));
            Ok(report.read_chosen(&source.file_name(), input.read, &options, messages)?)
        })?;
        if let Some(nothing) = nothing {
            return Err(nothing);
        }
        let secrets = report.secrets();
        if secrets > 0 && self.fail_on_secrets {
            say(&format!("{}; the page was not written", counted(secrets, "possible secret")));
            return Ok(Outcome::Findings);
        }
        let verdicts = self.check.then(|| judged(&sources, &options, jobs)).transpose()?;
        let names = || sources.iter().map(InputSource::file_name).collect::<Vec<_>>().join(", ");
        let title = self.title.clone().unwrap_or_else(names);
        let mut output = self.target.open(false)?;
        let left = report
            .judged(verdicts)
            .write(&title, &mut output)
            .map_err(|error| self.target.unwritable(anyhow::Error::from(crate::sink::SinkError::Io(error))))?;
        output.finish()?;
        if !self.quiet {
            if secrets > 0 {
                say(&format!("note: {}: --redact puts placeholders there", counted(secrets, "possible secret")));
            }
            if left.without_text > 0 {
                let rows = counted(left.rows, "message");
                say(&format!("note: the texts of {} of {rows} are not in the page; --full has all", left.without_text));
            }
        }
        all_read(unread, sources.len())?;
        Ok(Outcome::Done)
    }
}
