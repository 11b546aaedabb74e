//! Registers: a building block's examples in, the same examples uplifted, validated and documented out.
//!
//! ```text
//! folder → block → example or test → files and an item of the report → register → folder
//!          block   item (uplift, schema, shapes)                       report, page, html, catalogue, output
//! ```
//!
//! A [building block](https://opengeospatial.github.io/bblocks/) is a folder with a JSON-LD context, a JSON Schema and
//! examples. Its register is what the block's authors publish: each example as JSON, JSON-LD and Turtle, a report of
//! what passed, a page, and all of it described in RDF. [`Register::build`] makes one in memory, the same on every run;
//! [`Register::write`] puts it into a folder as a whole.

mod block;
pub mod capture;
pub mod captured;
mod catalogue;
pub mod examples;
mod folder;
mod html;
mod item;
mod language;
mod lost;
mod output;
mod page;
mod pretty;
pub mod redact;
mod report;
mod schema;
#[cfg(feature = "shacl")]
mod shapes;
#[cfg(not(feature = "shacl"))]
#[path = "register/no_shapes.rs"]
mod shapes;
mod site;
mod turtle;
mod uplift;
pub mod yaml;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use oxsdatatypes::{DateTime, DayTimeDuration};
use serde_json::{Value, json};

use self::block::BLOCK;
pub use self::block::{Block, BlockError, BlockSource, BlockTest, Metadata};
use self::catalogue::catalogue;
use self::examples::{Example, Prefixes};
pub use self::folder::{Folder, MAX_FILE};
use self::html::html;
use self::item::{Done, Job, Runner};
pub use self::language::Language;
pub use self::output::{Files, Product, WriteError};
use self::page::page;
use self::report::without_nulls;
pub use self::report::{ItemSubject, Report, ReportEntry, ReportItem, Section};
use self::schema::Schemas;
use self::shapes::Shapes;
use self::site::Site;
use self::uplift::Uplifter;
use crate::worker::{Worker, serve};

/// The choices that a register is made with.
#[derive(Debug, Clone, Default)]
pub struct RegisterOptions {
    /// URL of the folder where it will be published. Without one, its files refer to each other by relative paths.
    pub base: Option<String>,
    /// Identifier of the block; otherwise what `bblock.json` says, or the name of its folder.
    pub identifier: Option<String>,
    /// When it was made, for the reports. Without it, nothing in a register depends on the time.
    pub generated: Option<String>,
    /// URLs of contexts that may be fetched when the block refers to them.
    pub contexts: Vec<String>,
    /// Never fetch anything.
    pub offline: bool,
    /// Validates by JSON Schemas, which are strangers'; without one, that is done here, and may take all time and memory.
    /// [`schema_worker`] is its other side.
    pub worker: Option<PathBuf>,
}

/// Validates as the other side of a [`Worker`] asks for it, up to the end of standard input.
///
/// # Errors
///
/// Requests that are not those of a register.
pub fn schema_worker() -> Result<(), Box<dyn Error + Send + Sync>> {
    serve(Schemas::worker)
}

/// A register, complete and in memory.
#[derive(Debug)]
pub struct Register {
    files: Files,
    report: Report,
    notes: Vec<String>,
}

/// An example, and the outcome of each of its snippets.
#[derive(Debug)]
struct Shown<'b> {
    /// From 1.
    number: usize,
    example: &'b Example,
    results: Vec<Done>,
}

impl Shown<'_> {
    /// Name of the example in URLs.
    fn key(&self) -> String {
        format!("example_{}", self.number)
    }

    fn title(&self) -> String {
        self.example.title.clone().unwrap_or_else(|| format!("Example {}", self.number))
    }
}

impl Register {
    /// Makes the register of a block.
    ///
    /// An example that fails is in the register, with the reason. What is wrong with the block itself is an error, and
    /// then there is no register.
    pub fn build(block: &Block, options: &RegisterOptions) -> Result<Self, BlockError> {
        let site = site(block, options)?;
        let own = site.own(block.context_file);
        let published = site.url(&own).or_else(|| block.metadata.ld_context.clone());
        let context = published.clone().unwrap_or_else(|| site.reference(&own));
        let uplifter = Uplifter::open(block, published, site.reference_from_test(&own), options)?;
        let worker = options.worker.clone().map(Worker::new);
        let schemas = Schemas::open(block.folder.clone(), block.schema_file, worker)?;
        let shapes = Shapes::open(block)?;
        let notes = [block.notes.clone(), shapes.notes()].concat();
        let id = options.identifier.as_ref().or(block.metadata.item_identifier.as_ref());
        let report = Report {
            id: id.unwrap_or(&block.key).clone(),
            name: block.name().to_owned(),
            generated: options.generated.clone(),
            items: Vec::new(),
        };
        let mut builder = RegisterBuilder {
            block,
            runner: Runner { site, uplifter, schemas, shapes },
            context,
            files: Files::new(),
            report,
            shown: Vec::new(),
            writers: BTreeMap::new(),
        };
        builder.add_examples()?;
        builder.add_tests()?;
        builder.add_reports();
        let links = builder.add_own_files()?;
        builder.add("index.md", page(&builder, &links));
        builder.add("examples.ttl", catalogue(&builder));
        builder.add_marker();
        Ok(Self { files: builder.files, report: builder.report, notes })
    }

    /// The files, by path.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The outcome of each example and test.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The parts of the block that were not used, and why.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Puts the register into a folder, in place of the register that is there. The folder holds all of it afterwards,
    /// or what it held before.
    pub fn write(&self, folder: &Path) -> Result<(), WriteError> {
        output::write(&self.files, folder, Product::REGISTER)
    }
}

/// Where the register will be: what the options say, or what the published context's URL tells.
fn site(block: &Block, options: &RegisterOptions) -> Result<Site, BlockError> {
    let tail = format!("annotated/{}/{}", block.key, block.context_file);
    // Another's context tells where that other is.
    let own = block.metadata.ld_context.as_deref().filter(|_| !block.folder.is_built_in(block.context_file));
    // The report links to it, and not every scheme is harmless there.
    let told = own.and_then(|url| url.strip_suffix(&tail)).filter(|base| site::is_web(base));
    let base = options.base.as_deref().or(told);
    if let Some(base) = base {
        absolute(base, || "--base".to_owned())?;
    }
    if let Some(url) = &block.metadata.ld_context {
        absolute(url, || "bblock.json, ldContext".to_owned())?;
    }
    Ok(Site::new(base, &block.key))
}

fn absolute(iri: &str, place: impl Fn() -> String) -> Result<(), BlockError> {
    match oxiri::Iri::parse(iri) {
        Ok(_) => Ok(()),
        Err(_) => Err(BlockError::BadText { place: place(), text: iri.to_owned(), problem: "no absolute IRI" }),
    }
}

/// A time as reports have it, in UTC; `seconds` are since 1970. None where the year would have more than four digits.
pub fn date_time(seconds: i64) -> Option<String> {
    let epoch: DateTime = "1970-01-01T00:00:00Z".parse().ok()?;
    let time = epoch.checked_add_day_time_duration(DayTimeDuration::new(seconds))?;
    (0..10_000).contains(&time.year()).then(|| time.to_string().replace('Z', "+00:00"))
}

/// Pretty JSON with a line end.
fn lines(value: &Value) -> String {
    format!("{value:#}\n")
}

fn check_base(base: Option<&str>, place: &str) -> Result<(), BlockError> {
    base.map_or(Ok(()), |base| absolute(base, || format!("{place}, base-uri")))
}

fn check_prefixes(prefixes: &Prefixes, place: &str) -> Result<(), BlockError> {
    prefixes.iter().try_for_each(|(name, iri)| {
        let plain = |character: char| character.is_alphanumeric() || matches!(character, '.' | '_' | '-');
        // Turtle has the empty one too.
        let is_prefix = name.chars().all(plain) && name.chars().next().is_none_or(char::is_alphabetic);
        if !is_prefix || name.ends_with('.') {
            let problem = "no prefix: begin with a letter, then letters, digits, `.`, `_` and `-`";
            return Err(BlockError::BadText { place: place.to_owned(), text: name.clone(), problem });
        }
        absolute(iri, || format!("{place}, prefix {name:?}"))
    })
}

/// A `base-output-filename` without its extension.
fn stem<'n>(name: &'n str, place: &str) -> Result<&'n str, BlockError> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let bad = |character: char| character.is_control() || "/\\:*?\"<>|".contains(character);
    if stem.is_empty() || name.starts_with('.') || stem.contains(bad) || stem.len() > 200 {
        let place = format!("{place}, base-output-filename");
        return Err(bad_name(place, name));
    }
    Ok(stem)
}

fn bad_name(place: String, name: &str) -> BlockError {
    let problem = "no name for a file: leave out separators, control characters and a leading dot";
    BlockError::BadText { place, text: name.to_owned(), problem }
}

/// A register in the making, from which the page and the catalogue are made.
struct RegisterBuilder<'b> {
    block: &'b Block,
    runner: Runner,
    /// Where the context is, seen from the top of the register.
    context: String,
    files: Files,
    report: Report,
    shown: Vec<Shown<'b>>,
    /// The writers of files, by name in lower case without the extension: some file systems do not tell them apart.
    writers: BTreeMap<String, String>,
}

impl RegisterBuilder<'_> {
    fn site(&self) -> &Site {
        &self.runner.site
    }

    fn add(&mut self, path: &str, text: String) {
        self.files.insert(path.to_owned(), text);
    }

    fn add_reports(&mut self) {
        for item in &self.report.items {
            let result = if item.passed() { "passed" } else { "failed" };
            let stem = item.file.rsplit_once('.').map_or(item.file.as_str(), |(stem, _)| stem);
            self.files.insert(format!("{stem}.validation_{result}.txt"), self.report.text(item));
        }
        let path = self.site().test("_report.json");
        let (own, whole) = (self.report.to_json(), self.report.summary(&self.site().reference(&path)));
        self.add(&path, lines(&own));
        self.add("report.json", lines(&whole));
        self.add("report.html", html(&self.report));
    }

    /// The block's own files. Returns the paths that the page links to, with what they are called.
    fn add_own_files(&mut self) -> Result<Vec<(&'static str, String)>, BlockError> {
        let (block, site) = (self.block, self.site().clone());
        let context = self.runner.uplifter.context.value();
        let mut links = Vec::new();
        let mut link = |name, path: &str| links.push((name, path.to_owned()));
        let text = block.folder.read(block.context_file, BLOCK)?;
        // References to other files would lead nowhere.
        let unchanged =
            serde_json::from_str::<Value>(&text).is_ok_and(|document| document.get("@context") == Some(context));
        let path = site.own(block.context_file);
        link("JSON-LD context", &path);
        let text = if unchanged { text } else { lines(&json!({ "@context": context })) };
        self.add(&path, text);
        for (file, source) in self.runner.schemas.files() {
            let path = site.own(&file);
            self.add(&path, block.folder.read(&file, BLOCK)?);
            if Some(file.as_str()) == block.schema_file {
                link("JSON Schema", &path);
                if !file.ends_with(".json") {
                    let path = site.own("schema.json");
                    link("JSON Schema, as JSON", &path);
                    self.add(&path, lines(&source));
                }
            }
        }
        if let Some(ontology) = &block.ontology {
            let path = site.own("ontology.ttl");
            link("ontology", &path);
            self.add(&path, ontology.clone());
        }
        link("report, for people", "report.html");
        link("report, for programs", &site.test("_report.json"));
        link("examples, as RDF", "examples.ttl");
        Ok(links)
    }

    /// `register.json`, which also tells that the register is one of ours, and what belongs to it.
    fn add_marker(&mut self) {
        let (block, site) = (self.block, self.site());
        let metadata = &block.metadata;
        let entry = without_nulls(json!({
            "itemIdentifier": self.report.id,
            "name": block.name(),
            "title": metadata.title,
            "description": metadata.description,
            "status": metadata.status,
            "version": metadata.version,
            "itemClass": metadata.item_class,
            "dateTimeAddition": metadata.date_time_addition,
            "dateOfLastChange": metadata.date_of_last_change,
            "ldContext": self.context,
            "ontology": block.ontology.as_ref().map(|_| site.reference(&site.own("ontology.ttl"))),
            "testOutputs": site.reference(&site.test("")),
            "dependsOn": Some(&metadata.depends_on).filter(|blocks| !blocks.is_empty()),
            "validationPassed": self.report.is_success(),
        }));
        let register = without_nulls(json!({
            "name": format!("Examples of {}", block.name()),
            "baseURL": site.base(),
            "validationReport": site.reference("report.html"),
            "bblocks": [entry],
            "tooling": Product::REGISTER.tooling(&self.files),
        }));
        self.add(Product::REGISTER.marker, lines(&register));
    }

    fn add_examples(&mut self) -> Result<(), BlockError> {
        let block = self.block;
        let file = block.examples_file.as_deref().unwrap_or_default();
        check_prefixes(&block.examples.prefixes, file)?;
        for (example, number) in block.examples.examples.iter().zip(1..) {
            let place = format!("{file}, example {number}");
            check_prefixes(&example.prefixes, &place)?;
            let prefixes = block.examples.prefixes.iter().chain(&example.prefixes);
            let prefixes = prefixes.map(|(name, iri)| (name.clone(), iri.clone())).collect();
            check_base(example.base_uri.as_deref(), &place)?;
            let given = example.base_output_filename.as_deref().map(|name| stem(name, &place)).transpose()?;
            let mut results = Vec::new();
            for (snippet, index) in example.snippets.iter().zip(1..) {
                let place = format!("{place}, snippet {index}");
                check_base(snippet.base_uri.as_deref(), &place)?;
                if let Some(reference) = &snippet.schema_ref {
                    self.runner.schemas.prepare(reference, &place)?;
                }
                let stem = match (given, index) {
                    (None, _) => format!("example_{number}_{index}"),
                    (Some(given), 1) => given.to_owned(),
                    (Some(given), _) => format!("{given}-{}", index - 1),
                };
                self.claim(&stem, format!("example {number}, snippet {index}"))?;
                let job = Job {
                    subject: ItemSubject::Example { example: number, snippet: index, title: example.title.clone() },
                    text: snippet.text(),
                    language: &Language::from_name(&snippet.language),
                    stem: &stem,
                    prefixes: &prefixes,
                    base: snippet.base_uri.as_deref().or(example.base_uri.as_deref()),
                    schema_ref: snippet.schema_ref.as_deref(),
                    must_fail: false,
                };
                results.push(self.run(&job)?);
            }
            self.shown.push(Shown { number, example, results });
        }
        Ok(())
    }

    fn add_tests(&mut self) -> Result<(), BlockError> {
        for test in &self.block.tests {
            self.claim(test.stem(), format!("tests/{}", test.file))?;
            let job = Job {
                subject: ItemSubject::Test { file: test.file.clone() },
                text: &test.text,
                language: &test.language,
                stem: test.stem(),
                prefixes: &Prefixes::new(),
                base: None,
                schema_ref: None,
                must_fail: test.must_fail(),
            };
            self.run(&job)?;
        }
        Ok(())
    }

    /// Makes sure that no other example or test writes files of that name.
    fn claim(&mut self, stem: &str, writer: String) -> Result<(), BlockError> {
        // These names are for reports.
        if stem == "_report" || stem.ends_with(".validation_passed") || stem.ends_with(".validation_failed") {
            return Err(bad_name(writer, stem));
        }
        match self.writers.insert(stem.to_lowercase(), writer.clone()) {
            None => Ok(()),
            Some(one) => Err(BlockError::SameOutput { one, other: writer, file: stem.to_owned() }),
        }
    }

    fn run(&mut self, job: &Job<'_>) -> Result<Done, BlockError> {
        let done = self.runner.run(job)?;
        self.files.extend(done.files.iter().cloned());
        // There is nothing to say of an example that is only shown.
        if job.language.is_validated() {
            self.report.items.push(done.item.clone());
        }
        Ok(done)
    }
}
