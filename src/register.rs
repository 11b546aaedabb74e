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

mod annotate;
mod block;
mod builder;
pub mod capture;
pub mod captured;
mod catalogue;
mod compare;
mod dependencies;
pub mod examples;
mod extension;
mod folder;
mod html;
mod item;
mod language;
mod library;
mod lost;
mod output;
mod page;
pub mod redact;
mod references;
mod report;
mod repository;
mod rules;
mod schema;
#[cfg(feature = "shacl")]
mod shapes;
#[cfg(not(feature = "shacl"))]
#[path = "register/no_shapes.rs"]
mod shapes;
mod site;
mod steps;
mod terms;
mod transforms;
mod turtle;
mod uplift;
mod uplift_definition;
pub mod validator;
mod yaml;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use oxsdatatypes::{DateTime, DayTimeDuration};
use serde_json::Value;

use self::block::BLOCK;
pub use self::block::{Block, BlockError, BlockSource, BlockTest, Metadata};
use self::builder::RegisterBuilder;
pub use self::compare::compare;
pub use self::folder::{Folder, MAX_FILE};
pub use self::language::Language;
use self::library::{Library, LocalBlock, uri};
pub use self::output::{Files, Product, WriteError};
pub use self::report::{ItemSubject, Report, ReportEntry, ReportItem, Section};
pub use self::repository::{Repository, RepositoryBlock, RepositoryRegister};
use self::schema::Schemas;
use self::site::Site;
use crate::context::{JSON_RPC_URL, Loader, Reference};
use crate::worker::serve;

/// The choices that a register is made with.
#[derive(Debug, Clone, Default)]
pub struct RegisterOptions {
    /// URL of the folder where it will be published. Without one, its files refer to each other by relative paths.
    pub base: Option<String>,
    /// Identifier of the block; otherwise what `bblock.json` says, or the name of its folder.
    pub identifier: Option<String>,
    /// When it was made, for the reports. Without it, nothing in a register depends on the time.
    pub generated: Option<String>,
    /// An example of which something is not in its graph fails.
    pub strict: bool,
    /// URLs of contexts that may be fetched when the block refers to them.
    pub contexts: Vec<String>,
    /// Never fetch anything.
    pub offline: bool,
    /// Folders that stand for the URLs that begin with a prefix.
    pub folders: Vec<(String, PathBuf)>,
    /// Fetch what schemas, contexts and registers refer to from the hosts of the URLs in `contexts`.
    pub online: bool,
    /// Validates by JSON Schemas, which are strangers'; without one, that is done here, and may take all time and memory.
    /// [`schema_worker`] is its other side.
    pub worker: Option<PathBuf>,
}

/// Validates as the other side of a [`Worker`](crate::worker::Worker) asks for it, up to the end of standard input.
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

impl Register {
    /// Makes the register of a block.
    ///
    /// An example that fails is in the register, with the reason. What is wrong with the block itself is an error, and
    /// then there is no register.
    pub fn build(block: &Block, options: &RegisterOptions) -> Result<Self, BlockError> {
        let site = site(block, options)?;
        let library = Library::new(block.folder.clone(), loader(options, block.folder.path())?);
        let context =
            block.context_file.map(|file| written_context(block, file, &site, &library.loader)).transpose()?;
        let local = LocalBlock { schema: block.schema_file.map(uri), context, ..LocalBlock::default() };
        let library = Rc::new(library.with([(block.identifier.clone(), local)].into(), &[]));
        let mut builder = RegisterBuilder::open(block, site, library, options);
        options.identifier.iter().for_each(|id| builder.report.id.clone_from(id));
        builder.alone()
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
        output::write(&self.files, folder, Product::REGISTER, false)
    }
}

/// What loads contexts for blocks in a folder.
fn loader(options: &RegisterOptions, folder: &Path) -> Result<Loader, BlockError> {
    let loader = Loader::new().offline(options.offline).for_authors(folder.to_owned(), options.folders.clone());
    if options.online {
        return Ok(loader.online(&options.contexts)?);
    }
    for url in &options.contexts {
        loader.load(&Reference::Url(url.clone()))?;
    }
    Ok(loader)
}

/// The context that the author of a block wrote, which from now on also stands for the URLs where it is published.
fn written_context(block: &Block, file: &str, site: &Site, loader: &Loader) -> Result<Value, BlockError> {
    if block.folder.is_built_in(file) {
        return Ok(loader.load(&Reference::Url(JSON_RPC_URL.to_owned()))?.value().clone());
    }
    let path = block.folder.locate(file, BLOCK)?;
    for url in site.url(&site.own("context.jsonld")).iter().chain(&block.metadata.ld_context) {
        loader.publish(url, &path)?;
    }
    Ok(loader.load(&Reference::File(path))?.value().clone())
}

/// Where the register will be: what the options say, or what the published context's URL tells.
fn site(block: &Block, options: &RegisterOptions) -> Result<Site, BlockError> {
    let file = block.context_file.unwrap_or("context.jsonld");
    let tail = format!("annotated/{}/{file}", block.key);
    // Another's context tells where that other is.
    let own = block.metadata.ld_context.as_deref().filter(|_| !block.folder.is_built_in(file));
    // The report links to it, and not every scheme is harmless there.
    let told = own.and_then(|url| url.strip_suffix(&tail)).filter(|base| site::is_web(base));
    let base = options.base.as_deref().or(told);
    if let Some(base) = base {
        absolute(base, || "--base-url".to_owned())?;
    }
    if let Some(url) = &block.metadata.ld_context {
        absolute(url, || "bblock.json, ldContext".to_owned())?;
    }
    Ok(Site::new(base, &block.key))
}

fn absolute(iri: &str, place: impl Fn() -> String) -> Result<(), BlockError> {
    match oxiri::Iri::parse(iri) {
        Ok(_) => Ok(()),
        Err(_) => Err(BlockError::unusable(&place(), format!("{iri:?} is no absolute IRI"))),
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
