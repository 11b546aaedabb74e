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
//! [`Register::write`] puts it into a folder as a whole, and [`Register::compare`] tells whether a folder holds it.

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
use std::path::Path;

use serde_json::{Map, Value, json};

pub use self::block::{Block, BlockError, Metadata, Origin, Test};
use self::catalogue::{Catalogue, catalogue};
use self::examples::{Prefixes, Source, UpliftFormat};
pub use self::folder::{Folder, MAX_FILE};
use self::html::html;
use self::item::{Done, Job, Runner};
pub use self::language::Language;
pub use self::output::{Difference, Files, MARKER, Product, WriteError};
use self::page::{Page, page};
pub use self::report::{Entry, Item, Report, Section, Subject};
use self::schema::Schemas;
use self::shapes::Shapes;
use self::site::Site;
use self::uplift::Uplifter;
use crate::context::{JSON_RPC_URL, Loader, Reference};

/// What a register is made with.
#[derive(Debug, Clone, Default)]
pub struct Options {
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
}

/// A register, complete and in memory.
#[derive(Debug)]
pub struct Register {
    files: Files,
    report: Report,
    notes: Vec<String>,
}

/// An example as the page and the catalogue show it.
#[derive(Debug)]
struct Shown {
    /// Name of the example in URLs.
    key: String,
    title: String,
    content: Option<String>,
    snippets: Vec<ShownSnippet>,
}

#[derive(Debug)]
struct ShownSnippet {
    language: String,
    source: String,
    jsonld: Option<String>,
    turtle: Option<String>,
    formats: Vec<UpliftFormat>,
    schema_ref: Option<String>,
    /// Whether a schema was used on it.
    validated: bool,
    /// Paths of its files, its own first.
    files: Vec<String>,
}

impl Register {
    /// Makes the register of a block.
    ///
    /// An example that fails is in the register, with the reason. What is wrong with the block itself is an error, and
    /// then there is no register.
    pub fn build(block: &Block, options: &Options) -> Result<Self, BlockError> {
        let site = site(block, options)?;
        let loader = Loader::new().offline(options.offline).for_authors().within(block.folder.path().to_owned());
        for url in &options.contexts {
            loader.load(&Reference::Url(url.clone()))?;
        }
        let built_in = block.folder.is_built_in(block.context_file);
        let context_path = match built_in {
            true => block.folder.path().join(block.context_file),
            false => block.folder.locate(block.context_file, "the building block")?,
        };
        let published = site.url(&site.own(block.context_file)).or_else(|| block.metadata.ld_context.clone());
        let context = if built_in {
            loader.load(&Reference::Url(JSON_RPC_URL.to_owned()))?
        } else {
            for url in published.iter().chain(&block.metadata.ld_context) {
                loader.publish(url, &context_path)?;
            }
            loader.load(&Reference::File(context_path.clone()))?
        };
        let reference = published.unwrap_or_else(|| site.reference_from_test(&site.own(block.context_file)));
        let place = block.folder.path().join(block.examples_file.as_deref().unwrap_or("examples.yaml"));
        let uplifter = Uplifter { loader: &loader, place, context, context_path };
        if let Err(message) = uplifter.check_context() {
            return Err(BlockError::InvalidContext { file: block.context_file.to_owned(), message });
        }
        let mut schemas = Schemas::open(block.folder.clone(), block.schema_file)?;

        let shapes = Shapes::open(block)?;

        let stems = check_examples(block, &mut schemas)?;
        let mut runner =
            Runner { site: &site, uplifter: &uplifter, schemas: &mut schemas, shapes: &shapes, context: &reference };
        let mut builder = Builder { files: Files::new(), items: Vec::new(), writers: BTreeMap::new() };
        let shown = builder.examples(block, &stems, &mut runner)?;
        builder.tests(block, &mut runner)?;

        let name = options.identifier.clone().or_else(|| block.metadata.item_identifier.clone());
        let report = Report {
            id: name.unwrap_or_else(|| block.key.clone()),
            name: block.name().to_owned(),
            generated: options.generated.clone(),
            items: builder.items,
        };
        let (own, published) = (site.own(block.context_file), block.metadata.ld_context.clone());
        let from_top = site.url(&own).or(published).unwrap_or_else(|| site.reference(&own));
        let notes = [block.notes.clone(), shapes.notes()].concat();
        let mut register = Self { files: builder.files, report, notes };
        register.add_reports(&site);
        register.add_block(block, &site, &uplifter, &schemas, &shown, &from_top)?;
        register.add_marker(block, &site, &from_top);
        Ok(register)
    }

    /// The files, by path.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// What came of each example and test.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// What in the block was not used, and why.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Puts the register into a folder, in place of the register that is there. The folder holds all of it afterwards,
    /// or what it held before.
    pub fn write(&self, folder: &Path) -> Result<(), WriteError> {
        output::write(&self.files, folder, Product::Register)
    }

    /// What differs between the register and a folder; nothing where the folder holds just this register.
    pub fn compare(&self, folder: &Path) -> Result<Vec<Difference>, WriteError> {
        output::compare(&self.files, folder)
    }

    fn add(&mut self, path: &str, text: String) {
        self.files.insert(path.to_owned(), text);
    }

    fn add_reports(&mut self, site: &Site) {
        for item in &self.report.items {
            let result = if item.passed() { "passed" } else { "failed" };
            let stem = item.file.rsplit_once('.').map_or(item.file.as_str(), |(stem, _)| stem);
            self.files.insert(format!("{stem}.validation_{result}.txt"), self.report.text(item));
        }
        let path = site.test("_report.json");
        let (own, whole) = (self.report.to_json(), self.report.summary(&site.reference(&path)));
        self.add(&path, lines(&own));
        self.add("report.json", lines(&whole));
        self.add("report.html", html(&self.report));
    }

    /// The block's own files, the page and the catalogue.
    fn add_block(
        &mut self,
        block: &Block,
        site: &Site,
        uplifter: &Uplifter<'_>,
        schemas: &Schemas,
        shown: &[Shown],
        context_reference: &str,
    ) -> Result<(), BlockError> {
        let by = "the building block";
        let mut links = Vec::new();
        let mut context = block.folder.read(block.context_file, by)?;
        // References to other files would lead nowhere.
        let unchanged = serde_json::from_str::<Value>(&context)
            .is_ok_and(|document| document.get("@context") == Some(uplifter.context.value()));
        if !unchanged {
            context = lines(&json!({ "@context": uplifter.context.value() }));
        }
        links.push(("JSON-LD context", site.own(block.context_file)));
        self.add(&site.own(block.context_file), context.clone());
        for (file, source) in schemas.files() {
            self.add(&site.own(&file), block.folder.read(&file, by)?);
            if Some(file.as_str()) == block.schema_file {
                links.push(("JSON Schema", site.own(&file)));
                if !file.ends_with(".json") {
                    links.push(("JSON Schema, as JSON", site.own("schema.json")));
                    self.add(&site.own("schema.json"), lines(&source));
                }
            }
        }
        if let Some(ontology) = &block.ontology {
            links.push(("ontology", site.own("ontology.ttl")));
            self.add(&site.own("ontology.ttl"), ontology.clone());
        }
        links.push(("report, for people", "report.html".to_owned()));
        links.push(("report, for programs", site.test("_report.json")));
        links.push(("examples, as RDF", "examples.ttl".to_owned()));
        let schema = block.schema_file.map(|file| (self.files.get(&site.own(file)).cloned().unwrap_or_default(), file));
        let schema =
            schema.as_ref().map(|(text, file)| (text.as_str(), if file.ends_with(".json") { "json" } else { "yaml" }));
        let markdown =
            page(&Page { block, site, report: &self.report, shown, context: &context, schema, links: &links });
        self.add("index.md", markdown);
        let turtle =
            catalogue(&Catalogue { block, site, report: &self.report, shown, schemas, context: context_reference });
        self.add("examples.ttl", turtle);
        Ok(())
    }

    /// `register.json`, which also tells that the register is one of ours, and what belongs to it.
    fn add_marker(&mut self, block: &Block, site: &Site, context_reference: &str) {
        let metadata = &block.metadata;
        let mut entry = Map::new();
        let mut text = |name: &str, text: Option<&str>| {
            if let Some(text) = text {
                entry.insert(name.to_owned(), json!(text));
            }
        };
        text("itemIdentifier", Some(&self.report.id));
        text("name", Some(block.name()));
        text("title", metadata.title.as_deref());
        text("description", metadata.description.as_deref());
        text("status", metadata.status.as_deref());
        text("version", metadata.version.as_deref());
        text("itemClass", metadata.item_class.as_deref());
        text("dateTimeAddition", metadata.date_time_addition.as_deref());
        text("dateOfLastChange", metadata.date_of_last_change.as_deref());
        text("ldContext", Some(context_reference));
        if block.ontology.is_some() {
            text("ontology", Some(&site.reference(&site.own("ontology.ttl"))));
        }
        text("testOutputs", Some(&site.reference(&site.test(""))));
        if !metadata.depends_on.is_empty() {
            entry.insert("dependsOn".to_owned(), json!(metadata.depends_on));
        }
        entry.insert("validationPassed".to_owned(), json!(self.report.is_success()));
        let mut register = Map::new();
        register.insert("name".to_owned(), json!(format!("Examples of {}", block.name())));
        if let Some(base) = site.base() {
            register.insert("baseURL".to_owned(), json!(base));
        }
        register.insert("validationReport".to_owned(), json!(site.reference("report.html")));
        register.insert("bblocks".to_owned(), json!([entry]));
        let mut files: Vec<&str> = self.files.keys().map(String::as_str).collect();
        files.push(MARKER);
        files.sort_unstable();
        register.insert("tooling".to_owned(), json!({ "rpcgraph": { "files": files } }));
        self.add(MARKER, lines(&Value::Object(register)));
    }
}

/// Where the register will be: what the options say, or what the published context's URL tells.
fn site(block: &Block, options: &Options) -> Result<Site, BlockError> {
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
        Err(_) => Err(BlockError::BadIri { place: place(), iri: iri.to_owned() }),
    }
}

/// A time as reports have it, in UTC; `seconds` are since 1970. None where the year would have more than four digits.
pub fn date_time(seconds: i64) -> Option<String> {
    // Days to a date as in the proleptic Gregorian calendar, whose years of 400 are 146,097 days.
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let days = days.checked_add(719_468)?;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    (0..10_000)
        .contains(&year)
        .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}+00:00"))
}

/// Pretty JSON with a line end.
fn lines(value: &Value) -> String {
    format!("{value:#}\n")
}

/// The names of each snippet's files, once it is sure that the examples can be run.
fn check_examples(block: &Block, schemas: &mut Schemas) -> Result<Vec<Vec<String>>, BlockError> {
    let file = block.examples_file.as_deref().unwrap_or_default();
    check_prefixes(&block.examples.prefixes, file)?;
    let mut stems = Vec::new();
    for (example, number) in block.examples.examples.iter().zip(1..) {
        let place = format!("{file}, example {number}");
        check_prefixes(&example.prefixes, &place)?;
        if let Some(base) = &example.base_uri {
            absolute(base, || format!("{place}, base-uri"))?;
        }
        let given = example.base_output_filename.as_deref().map(|name| stem(name, &place)).transpose()?;
        let mut names = Vec::new();
        for (snippet, number) in example.snippets.iter().zip(1..) {
            let place = format!("{place}, snippet {number}");
            if let Some(base) = &snippet.base_uri {
                absolute(base, || format!("{place}, base-uri"))?;
            }
            if let Some(reference) = &snippet.schema_ref {
                schemas.prepare(Some(reference), &place)?;
            }
            names.push(match (&given, number) {
                (None, _) => format!("example_{}_{number}", stems.len() + 1),
                (Some(given), 1) => given.clone(),
                (Some(given), _) => format!("{given}-{}", number - 1),
            });
        }
        stems.push(names);
    }
    Ok(stems)
}

fn check_prefixes(prefixes: &Prefixes, place: &str) -> Result<(), BlockError> {
    prefixes.iter().try_for_each(|(name, iri)| {
        let plain = |character: char| character.is_alphanumeric() || matches!(character, '.' | '_' | '-');
        // Turtle has the empty one too.
        let is_prefix = name.chars().all(plain) && name.chars().next().is_none_or(char::is_alphabetic);
        if !is_prefix || name.ends_with('.') {
            return Err(BlockError::BadPrefix { place: place.to_owned(), name: name.clone() });
        }
        absolute(iri, || format!("{place}, prefix {name:?}"))
    })
}

/// A `base-output-filename` without its extension.
fn stem(name: &str, place: &str) -> Result<String, BlockError> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let bad = |character: char| character.is_control() || "/\\:*?\"<>|".contains(character);
    if stem.is_empty() || name.starts_with('.') || stem.contains(bad) || stem.len() > 200 {
        let place = format!("{place}, base-output-filename");
        return Err(BlockError::BadName { place, name: name.to_owned() });
    }
    Ok(stem.to_owned())
}

/// Collects what examples and tests give.
struct Builder {
    files: Files,
    items: Vec<Item>,
    /// Who writes which files, by name in lower case without the extension: some file systems do not tell them apart.
    writers: BTreeMap<String, String>,
}

impl Builder {
    fn examples(
        &mut self,
        block: &Block,
        stems: &[Vec<String>],
        runner: &mut Runner<'_>,
    ) -> Result<Vec<Shown>, BlockError> {
        let mut shown = Vec::new();
        for ((example, stems), number) in block.examples.examples.iter().zip(stems).zip(1..) {
            let mut prefixes = block.examples.prefixes.clone();
            prefixes.extend(example.prefixes.clone());
            let mut snippets = Vec::new();
            for ((snippet, stem), index) in example.snippets.iter().zip(stems).zip(1..) {
                self.claim(stem, format!("example {number}, snippet {index}"))?;
                let (Source::Code(text) | Source::Ref(text)) = &snippet.source;
                let language = Language::from_name(&snippet.language);
                let job = Job {
                    subject: Subject::Example { example: number, snippet: index, title: example.title.clone() },
                    text,
                    language: &language,
                    stem,
                    prefixes: &prefixes,
                    base: snippet.base_uri.as_deref().or(example.base_uri.as_deref()),
                    schema_ref: snippet.schema_ref.as_deref(),
                    must_fail: false,
                };
                let done = runner.run(&job)?;
                snippets.push(ShownSnippet {
                    language: snippet.language.clone(),
                    source: done.source.clone(),
                    jsonld: done.jsonld.clone(),
                    turtle: done.turtle.clone(),
                    formats: snippet.doc_uplift_formats.0.clone(),
                    schema_ref: snippet.schema_ref.clone(),
                    validated: done.item.entries.iter().any(|entry| entry.section == Section::JsonSchema),
                    files: done.files.iter().map(|(path, _)| path.clone()).collect(),
                });
                self.take(done, &language);
            }
            let title = example.title.clone().unwrap_or_else(|| format!("Example {number}"));
            shown.push(Shown { key: format!("example_{number}"), title, content: example.content.clone(), snippets });
        }
        Ok(shown)
    }

    fn tests(&mut self, block: &Block, runner: &mut Runner<'_>) -> Result<(), BlockError> {
        for test in &block.tests {
            self.claim(test.stem(), format!("tests/{}", test.file))?;
            let job = Job {
                subject: Subject::Test { file: test.file.clone() },
                text: &test.text,
                language: &test.language,
                stem: test.stem(),
                prefixes: &Prefixes::new(),
                base: None,
                schema_ref: None,
                must_fail: test.must_fail(),
            };
            let done = runner.run(&job)?;
            self.take(done, &test.language);
        }
        Ok(())
    }

    /// Makes sure that nobody else writes files of that name.
    fn claim(&mut self, stem: &str, who: String) -> Result<(), BlockError> {
        // These names are for reports.
        if stem == "_report" || stem.ends_with(".validation_passed") || stem.ends_with(".validation_failed") {
            return Err(BlockError::BadName { place: who, name: stem.to_owned() });
        }
        match self.writers.insert(stem.to_lowercase(), who.clone()) {
            None => Ok(()),
            Some(one) => Err(BlockError::SameOutput { one, other: who, file: stem.to_owned() }),
        }
    }

    fn take(&mut self, done: Done, language: &Language) {
        self.files.extend(done.files);
        // There is nothing to say of what is only shown.
        if language.is_validated() {
            self.items.push(done.item);
        }
    }
}
