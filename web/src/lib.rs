//! rpcgraph in a browser: what its worker calls.

mod logs;

use std::io::Read as _;

use rpcgraph::log::redacted::redacted_for_reading;
use rpcgraph::query::QUERY_PREFIXES;
use rpcgraph::query::catalogue::CATALOGUE;
use rpcgraph::query::results::{ResultsFormat, write_boolean, write_graph, write_solutions};
use rpcgraph::query::{Answer, Cancel, Dataset, Query, Table};
use rpcgraph::record::{Format, ReaderOptions, decompressed};
use rpcgraph::redact::{RedactOptions, Redactor};
use rpcgraph::report::{Report, ReportOptions};
use rpcgraph::{Syntax, convert};
use serde_json::json;
use wasm_bindgen::prelude::*;

use self::logs::{Failure, LogFile, failed};

/// Returns what the form offers, as JSON: the formats, the questions, and the prefixes of queries.
#[wasm_bindgen]
pub fn offers() -> String {
    let queries =
        CATALOGUE.iter().map(|query| json!({ "name": query.name, "title": query.title(), "text": query.text }));
    let formats = Format::ALL.iter().map(|format| format.name());
    json!({
        "version": rpcgraph::VERSION,
        "formats": formats.collect::<Vec<_>>(),
        "queries": queries.collect::<Vec<_>>(),
        "prefixes": QUERY_PREFIXES,
    })
    .to_string()
}

/// The open logs.
#[wasm_bindgen]
pub struct Logs {
    files: Vec<LogFile>,
    options: ReaderOptions,
    notes: Vec<String>,
}

/// The answer to a query.
#[wasm_bindgen(getter_with_clone)]
pub struct Answered {
    /// The media type.
    pub media_type: String,
    /// The text.
    pub bytes: Vec<u8>,
}

#[wasm_bindgen]
impl Logs {
    /// Creates an empty list of logs of a format; detected if empty.
    #[wasm_bindgen(constructor)]
    pub fn new(format: &str) -> Self {
        let options = ReaderOptions::default();
        let options = Format::from_name(format).map_or(options.clone(), |format| options.with_format(format));
        Self { files: Vec::new(), options, notes: Vec::new() }
    }

    /// Adds a log, which may be compressed.
    pub fn add(&mut self, name: &str, bytes: Vec<u8>) {
        let is_taken = |name: &String| self.files.iter().any(|file| file.name == *name);
        let names = (2..).map(|number| format!("{name} ({number})"));
        let name = std::iter::once(name.to_owned()).chain(names).find(|name| !is_taken(name));
        self.files.extend(name.map(|name| LogFile::new(name, bytes)));
    }

    /// Returns the page that shows the logs. To be shown here, the page also names the sessions.
    pub fn page(&mut self, redacted: bool, is_shown: bool) -> Result<Vec<u8>, JsError> {
        Ok(if redacted { self.redacted()?.report(true, is_shown)? } else { self.report(false, is_shown)? })
    }

    /// Returns the remarks of the last [`page`](Self::page) on logs that were not read.
    pub fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Returns the graph of the logs in a syntax, which is named by its file extension.
    pub fn graph(&mut self, extension: &str, redacted: bool) -> Result<Vec<u8>, JsError> {
        let redacted = if redacted { Some(self.redacted()?) } else { None };
        let logs = redacted.as_ref().unwrap_or(self);
        let syntax = Syntax::from_extension(extension).unwrap_or_default();
        let mut text = Vec::new();
        let mut sink = syntax.sink(&mut text, logs.files.len());
        logs.convert(&mut sink, false, false)?;
        sink.finish().map_err(failed)?;
        drop(sink);
        Ok(text)
    }

    /// Answers a query in the first of the media types that fits.
    pub fn ask(&self, query: &str, accept: &str) -> Result<Answered, JsError> {
        Ok(self.answer(query, accept)?)
    }

    /// Judges the logs by the rules; returns their verdicts in a line, and what breaks them as lines of JSON.
    pub fn check(&self) -> Result<Vec<String>, JsError> {
        Ok(self.judged()?)
    }
}

impl Logs {
    fn report(&mut self, redacted: bool, is_shown: bool) -> Result<Vec<u8>, Failure> {
        let mut report = Report::new(&ReportOptions { redacted, limit: None, ..ReportOptions::default() });
        self.notes.clear();
        for file in &self.files {
            let summary = report.read(&file.name, file.reader(), &self.options).map_err(|error| file.failed(error))?;
            let why = summary.why_unread(self.options.is_stated());
            let empty = summary.is_empty().then(|| "there is nothing in it".to_owned());
            self.notes.extend(why.or(empty).map(|why| format!("{}: {why}", file.name)));
        }
        if self.notes.len() == self.files.len() && !self.files.is_empty() {
            return Err(Failure(self.notes.join("\n")));
        }
        let names: Vec<_> = self.files.iter().map(|file| &*file.name).collect();
        let title = if redacted { "Redacted log".to_owned() } else { names.join(", ") };
        if is_shown {
            report = report.served(self.files.iter().map(LogFile::iri).collect());
        }
        let mut page = Vec::new();
        report.write(&title, &mut page).map_err(failed)?;
        Ok(page)
    }

    /// Returns the logs with placeholders for what may be private.
    fn redacted(&self) -> Result<Self, Failure> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(failed)?;
        let mut redactor = Redactor::new(&key, RedactOptions::default());
        let mut logs = Self { files: Vec::new(), options: self.options.clone(), notes: Vec::new() };
        for (number, file) in self.files.iter().enumerate() {
            let mut text = Vec::new();
            let read = decompressed(file.reader()).and_then(|mut read| read.read_to_end(&mut text));
            read.map_err(|error| file.failed(error))?;
            let log = redacted_for_reading(&text, &self.options, &mut redactor).map_err(|error| file.failed(error))?;
            let (log, _) = log.ok_or_else(|| Failure(format!("{} cannot be redacted in its own format", file.name)))?;
            logs.files.push(LogFile::new(format!("log {}", number + 1), log));
        }
        Ok(logs)
    }

    fn convert(&self, sink: &mut rpcgraph::sink::Sink<'_>, provenance: bool, log_lines: bool) -> Result<(), Failure> {
        let options = convert::Options { reader: self.options.clone(), log_lines, ..convert::Options::default() };
        let mapper = rpcgraph::mapping::Mapper::new(rpcgraph::mapping::Mapping::Session, &[]).map_err(failed)?;
        let mut converter = convert::Converter::new(mapper.with_provenance(provenance), options);
        for file in &self.files {
            converter.convert(file.input(), sink, &mut |_| {}).map_err(failed)?;
        }
        Ok(())
    }

    /// Loads what a query needs.
    fn dataset(&self, query: &Query, provenance: bool, log_lines: bool) -> Result<Dataset, Failure> {
        let dataset = Dataset::new(query, false).map_err(failed)?;
        let mut loading = dataset.load(&Cancel::default()).map_err(failed)?;
        self.convert(&mut loading.sink(), provenance, log_lines)?;
        loading.commit().map_err(failed)?;
        Ok(dataset)
    }

    fn answer(&self, text: &str, accept: &str) -> Result<Answered, Failure> {
        let base = match &*self.files {
            [file] => Some(file.iri()),
            _ => None,
        };
        let query = Query::parse(text, base.as_deref()).map_err(failed)?;
        if query.uses_services() {
            return Err(Failure(
                "the query calls another server with SERVICE, and this page never connects to one".into(),
            ));
        }
        let dataset = self.dataset(&query, query.names_provenance(), query.names_log_lines())?;
        let mut bytes = Vec::new();
        let answer = dataset.answer(&query, &Cancel::default()).map_err(failed)?;
        let mut wanted = accept.split(',').map(str::trim);
        let media_type = match answer {
            Answer::Graph(triples) => {
                let known = [("text/turtle", Syntax::Turtle), ("application/ld+json", Syntax::JsonLd)];
                let found = wanted.find_map(|wanted| known.into_iter().find(|(name, _)| *name == wanted));
                let (name, syntax) = found.unwrap_or(known[0]);
                write_graph(triples, syntax, base.as_deref(), &mut bytes).map_err(failed)?;
                name
            }
            rows => {
                let known = [
                    ("text/tab-separated-values", ResultsFormat::Tsv),
                    ("text/csv", ResultsFormat::Csv),
                    ("application/sparql-results+json", ResultsFormat::Json),
                ];
                let found = wanted.find_map(|wanted| known.into_iter().find(|(name, _)| *name == wanted));
                let (name, format) = found.unwrap_or(known[0]);
                match rows {
                    Answer::Solutions(rows) => {
                        write_solutions(rows, format, &Table::default(), &mut bytes).map(drop).map_err(failed)?;
                    }
                    Answer::Boolean(truth) => write_boolean(truth, format, &mut bytes).map_err(failed)?,
                    Answer::Graph(_) => {}
                }
                name
            }
        };
        Ok(Answered { media_type: media_type.to_owned(), bytes })
    }

    fn judged(&self) -> Result<Vec<String>, Failure> {
        use rpcgraph::check::{CheckResult, Rules};
        let rules = Rules::built_in(&Default::default()).map_err(failed)?;
        let mut dataset = self.dataset(&rules.loading(false).map_err(failed)?, true, rules.name_log_lines())?;
        let iris: Vec<_> = self.files.iter().map(LogFile::iri).collect();
        let iris: Vec<_> = iris.iter().map(String::as_str).collect();
        let judged = rules.judge(&mut dataset, &iris, 1, &Cancel::default()).map_err(failed)?;
        let checked = CheckResult { judged, inputs: iris.iter().map(|iri| (*iri).to_owned()).collect() };
        let mut lines = Vec::new();
        checked.write_json(&mut lines).map_err(failed)?;
        Ok(vec![checked.summary(), String::from_utf8_lossy(&lines).into_owned()])
    }
}
