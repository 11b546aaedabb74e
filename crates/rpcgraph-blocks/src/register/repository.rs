//! A repository of building blocks, or a block that stands alone, which counts as a repository of one block; and its
//! register.
//!
//! The blocks of a repository are the folders under `_sources/` that hold a `bblock.json`. A block's identifier is the
//! prefix in `bblocks-config.yaml` followed by the names of the folders. Errors in a block are in its report, and the
//! other blocks are still made. A block that stands alone does not have a register if it has errors.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use indexmap::IndexSet;
use serde::Deserialize;
use serde_json::{Value, json};

use super::block::{Block, CONTEXT, EXAMPLES, METADATA, SCHEMA, TESTS};
use super::builder::{BlockBuilder, BlockPart};
use super::error::{BLOCK, BlockError, absolute, with_causes};
use super::folder::{Folder, key};
use super::html::html;
use super::library::{Library, uri};
use super::options::RegisterOptions;
use super::output::{self, Files, Product, WriteError, lines};
use super::references::{BLOCKS, resolve};
use super::report::BlockReport;
use super::sandbox::Sandbox;
use super::site::{RegisterPaths, is_web};
use super::{catalogue, dependencies, yaml};
use crate::context::{LoadError, Loader, Reference};
use crate::diagnostic::markup::{markdown, markdown_code, safe_markdown};
use crate::json::without_nulls;

const CONFIG: &[&str] = &["bblocks-config.yaml", "bblocks-config.yml"];
const PLUGINS: &[&str] = &["transform-plugins.yml", "transform-plugins.yaml"];
const SOURCES: &str = "_sources";
/// The maximum nesting depth of folders with blocks.
const MAX_FOLDERS: usize = 32;
/// The register that is imported by default.
const MAIN_REGISTER: &str = "https://opengeospatial.github.io/bblocks/register.json";

/// The entries of `bblocks-config.yaml` that are used.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Config {
    identifier_prefix: Option<String>,
    name: Option<String>,
    r#abstract: Option<String>,
    description: Option<String>,
    license: Option<String>,
    imports: Option<Vec<String>>,
    plugins: Value,
}

/// An opened repository.
#[derive(Debug)]
pub struct Repository {
    folder: Folder,
    config: Config,
    /// Paths of the blocks' folders, by identifier.
    blocks: BTreeMap<String, String>,
    /// True for a block that stands alone.
    is_alone: bool,
    /// Name of the file with the block's examples, if it is not one of the usual names.
    examples: Option<String>,
    notes: Vec<String>,
}

/// The outcome of one block.
#[derive(Debug)]
pub struct RegisterBlock {
    /// Its report.
    pub report: BlockReport,
    /// The parts of the block that were not used, with reasons.
    pub notes: Vec<String>,
}

/// A complete register in memory.
#[derive(Debug)]
pub struct Register {
    /// The files, by path.
    pub files: Files,
    /// The blocks, by identifier.
    pub blocks: Vec<RegisterBlock>,
    /// Notes on the repository itself.
    pub notes: Vec<String>,
}

impl Repository {
    /// Opens a repository, a block's folder, or a block by its file of examples. Fails if the configuration cannot be
    /// read, or if the repository does not contain a block.
    pub fn open(path: &Path) -> Result<Self, BlockError> {
        let has = |name: &&str| path.join(name).exists();
        if !CONFIG.iter().any(has) && (!path.join(SOURCES).is_dir() || METADATA.iter().any(has)) {
            return Self::open_block(path);
        }
        let folder = Folder::open(path)?;
        let by = "the repository";
        let (_, config): (_, Config) = folder.read_first(CONFIG, by)?;
        let (_, plugins): (_, Value) = folder.read_first(PLUGINS, by)?;
        let modules = modules(&plugins).chain(modules(&config.plugins));
        let notes = modules.map(|name| format!("the plugin {name} is not run, nor what needs it")).collect();
        let prefix = config.identifier_prefix.as_deref().unwrap_or("ogc.").trim_end_matches('.').to_owned();
        let mut blocks = BTreeMap::new();
        let mut folders = vec![(SOURCES.to_owned(), prefix, 0)];
        while let Some((path, id, depth)) = folders.pop() {
            let place = folder.path().join(&path);
            if depth > 0 && METADATA.iter().any(|name| place.join(name).is_file()) {
                blocks.insert(id.clone(), format!("{path}/"));
            }
            for name in folder.list(&path)? {
                // Symbolic links are not followed, since they may form a cycle.
                let is_folder = place.join(&name).symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
                if is_folder && !name.starts_with(['_', '.']) && depth < MAX_FOLDERS {
                    folders.push((format!("{path}/{name}"), format!("{id}.{name}"), depth + 1));
                }
            }
        }
        if blocks.is_empty() {
            let message = format!("found no bblock.json in a folder below {SOURCES}");
            return Err(BlockError::unusable(&super::folder::shown(path), message));
        }
        Ok(Self { folder, config, blocks, is_alone: false, examples: None, notes })
    }

    fn open_block(path: &Path) -> Result<Self, BlockError> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let examples = path.file_name().filter(|_| path.is_file()).map(|name| name.to_string_lossy().into_owned());
        let folder = Folder::open(if examples.is_some() { parent } else { path })?;
        let files = [METADATA, CONTEXT, SCHEMA, EXAMPLES, &[TESTS]];
        if examples.is_none() && files.iter().all(|names| folder.find(names).is_none()) {
            let message = "not a building block: found no bblock.json, context, schema, examples or tests in it";
            return Err(BlockError::unusable(&super::folder::shown(path), message));
        }
        let blocks = BTreeMap::from([(key(&folder.name()), String::new())]);
        Ok(Self { folder, config: Config::default(), blocks, is_alone: true, examples, notes: Vec::new() })
    }

    /// True for a block that stands alone.
    pub fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Makes the register, or only the part of the block with the identifier `only`. Calls `progress` with each block's
    /// identifier.
    pub fn build(
        &self,
        only: Option<&str>,
        options: &RegisterOptions,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Register, BlockError> {
        if let Some(id) = only.filter(|id| !self.blocks.contains_key(*id)) {
            let known: Vec<_> = self.blocks.keys().map(String::as_str).collect();
            let message = format!("unknown block; use one of {}", known.join(", "));
            return Err(BlockError::unusable(&format!("--block {id}"), message));
        }
        let mut notes = self.notes.clone();
        let imports = self.imports();
        let mut library = Library::new(self.folder.clone(), options.loader(self.folder.path())?, &imports);
        let title = self.config.name.clone().unwrap_or_else(|| self.folder.name());
        let mut site = match self.is_alone {
            true => RegisterPaths::default(),
            false => RegisterPaths::new(Some(&self.base(options, &mut notes)?), Some(title)),
        };
        self.read(&mut library, &site, options, &mut notes)?;
        let mut inherited = dependencies::inherited(&library);
        let sandbox = RefCell::new(Sandbox::new(options.worker.clone()));
        let mut parts = Vec::new();
        for (id, block) in library.blocks.iter().filter(|(id, _)| only.is_none_or(|only| self.is_alone || only == *id))
        {
            progress(id);
            let inherited = inherited.remove(id).unwrap_or_default();
            let mut part = BlockBuilder::build(block, inherited, &library, &sandbox, options);
            if self.is_alone {
                if !part.errors.is_empty() {
                    return Err(part.errors.swap_remove(0));
                }
                site.clone_from(&block.site);
            }
            parts.push(part);
        }
        let imports: Vec<_> = imports.iter().map(|import| library.register_url(import)).collect();
        Ok(self.joined(parts, &site, &imports, notes))
    }

    /// Returns the registers that the repository imports.
    fn imports(&self) -> Vec<String> {
        let imports = self.config.imports.clone().unwrap_or_else(|| vec!["default".to_owned()]);
        imports.into_iter().map(|named| if named == "default" { MAIN_REGISTER.to_owned() } else { named }).collect()
    }

    /// Reads the blocks into the library, so that they can refer to each other.
    fn read(
        &self,
        library: &mut Library,
        site: &RegisterPaths,
        options: &RegisterOptions,
        notes: &mut Vec<String>,
    ) -> Result<(), BlockError> {
        for (id, below) in &self.blocks {
            let folder = Folder::open_within(&self.folder.path().join(below), &self.folder)?;
            let mut block = Block::read(folder, below, self.examples.clone(), &library.loader);
            library.folder.provide_below(below, &block.folder);
            if self.is_alone {
                if !block.errors.is_empty() {
                    return Err(block.errors.swap_remove(0));
                }
                block.identifier = options.identifier.clone().unwrap_or(block.identifier);
                block.site = site_of(&block, options)?;
            } else {
                (block.key, block.identifier) = (path_of(id), id.clone());
                block.site = site.of(&block.key);
            }
            block.schema = match (block.schema_file, block.metadata["schema"].as_str()) {
                (Some(file), _) => Some(uri(&format!("{below}{file}"))),
                (None, Some(named)) if !self.is_alone && !named.starts_with(BLOCKS) => {
                    resolve(Some(&uri(below)), named)
                }
                _ => None,
            };
            match self.context(&block, &library.loader, notes) {
                Ok(context) => block.context = context,
                Err(error) if self.is_alone && block.context_file.is_some() => return Err(error.into()),
                Err(error) => block.context_error = Some(with_causes(&error)),
            }
            if block.metadata.get("extensionPoints").is_some() {
                notes.push(format!("{id}: extensionPoints are listed, but not applied"));
            }
            library.add(block);
        }
        Ok(())
    }

    /// Loads the context that the author of a block wrote or named.
    fn context(&self, block: &Block, loader: &Loader, notes: &mut Vec<String>) -> Result<Option<Value>, LoadError> {
        let path = block.folder.path();
        let (file, named) = (path.join("context.jsonld"), block.metadata["ldContext"].as_str());
        if !file.is_file() {
            let Some(named) = named else { return Ok(None) };
            let context = match self.is_alone && block.context_file.is_some() {
                // Loaded by its URL, the context keeps its base.
                true => loader.load(&Reference::Url(named.to_owned()))?,
                false => loader.load_value(&path.join("bblock.json"), Value::from(named))?,
            };
            return Ok(Some(context.value().clone()));
        }
        if self.is_alone {
            // The file stands for the URLs at which it is published.
            for url in block.site.url(&block.site.own("context.jsonld")).as_deref().into_iter().chain(named) {
                drop(loader.publish(url, &file));
            }
        }
        let context = match loader.load(&Reference::File(file.clone())) {
            // Authors write contexts by hand: parsing as YAML accepts an extra comma, and a missing wrapper is
            // accepted.
            Err(error @ (LoadError::NotJson { .. } | LoadError::NoContext(_))) => {
                let text = std::fs::read_to_string(&file).unwrap_or_default();
                let Some(mut value) = yaml::read(&text).ok().filter(Value::is_object) else {
                    return Err(error);
                };
                let value = value.get_mut("@context").map(Value::take).unwrap_or(value);
                notes.push(format!("{}: {}; it is taken as if it were", block.identifier, with_causes(&error)));
                loader.load_value(&file, value)?
            }
            context => context?,
        };
        Ok(Some(context.value().clone()))
    }

    /// Returns the URL of the register's folder: from the options, else from the repository on GitHub, else from the
    /// register that was published before.
    fn base(&self, options: &RegisterOptions, notes: &mut Vec<String>) -> Result<String, BlockError> {
        let published = || {
            let register = self.folder.read_data("build/register.json", BLOCK).ok()?;
            let url = register.get("baseURL")?.as_str()?.trim_end_matches('/').to_owned();
            is_web(&url).then(|| format!("{url}/build/"))
        };
        let base = options.base.clone().or_else(|| self.remote()).or_else(published).unwrap_or_else(|| {
            let base = format!("https://example.invalid/{}/build/", key(&self.folder.name()));
            notes
                .push(format!("the URL of the published register is unknown; {base} is used: name it with --base-url"));
            base
        });
        absolute(&base, || "--base-url".to_owned())?;
        Ok(format!("{}/", base.trim_end_matches('/')))
    }

    /// Returns the URL at which GitHub publishes the repository's build, from the remote in git's configuration.
    fn remote(&self) -> Option<String> {
        let config = self.folder.read(".git/config", "git").ok()?;
        let (_, origin) = config.split_once("[remote \"origin\"]")?;
        let url = origin.split("\n[").next()?.lines().find_map(|line| line.trim().strip_prefix("url = "))?;
        let (_, path) = url.split_once("github.com")?;
        let (owner, name) = path.trim_start_matches([':', '/']).split_once('/')?;
        let name = name.trim_end_matches('/').trim_end_matches(".git");
        Some(format!("https://{}.github.io/{name}/build/", owner.to_lowercase()))
    }

    /// Joins the parts of blocks into the register at `site`.
    fn joined(&self, parts: Vec<BlockPart>, site: &RegisterPaths, imports: &[String], notes: Vec<String>) -> Register {
        let mut files = Files::new();
        let (mut blocks, mut entries, mut catalogue) = (Vec::new(), Vec::new(), IndexSet::new());
        for BlockPart { files: own, report, notes, entry, triples, .. } in parts {
            files.extend(own);
            entries.push(entry);
            catalogue.extend(triples);
            blocks.push(RegisterBlock { report, notes });
        }
        let catalogue: Vec<_> = catalogue.into_iter().collect();
        let reports: Vec<_> = blocks.iter().map(|block| &block.report).collect();
        let title = site.title(reports.first().map_or("", |report| &report.name));
        let [html_report, json_report, catalogue_file] = site.overview();
        let path = |report: &BlockReport| match self.is_alone {
            true => site.reference(&site.test("_report.json")),
            false => site.reference(&site.of(&path_of(&report.id)).test("_report.json")),
        };
        let summary = BlockReport::summary(reports.iter().map(|report| (*report, path(report))));
        files.insert(json_report.to_owned(), lines(&summary));
        files.insert(html_report.to_owned(), html(&reports, &title));
        files.insert(catalogue_file.to_owned(), catalogue::text(&catalogue));
        let of_repository = |value: Value| if self.is_alone { Value::Null } else { value };
        if !self.is_alone {
            files.extend(catalogue::jsonld(&catalogue).map(|text| ("bblocks.jsonld".to_owned(), text)));
            files.insert("register-summary.md".to_owned(), self.summary(&title, &entries));
        }
        let mut register = without_nulls(json!({
            "name": title,
            "abstract": self.config.r#abstract,
            "description": self.config.description,
            "license": self.config.license,
            "modified": of_repository(json!(reports.iter().find_map(|report| report.generated.clone()))),
            "baseURL": if self.is_alone { site.base().map(str::to_owned) } else { site.source("") },
            "validationReport": site.reference(html_report),
            "validationReportJson": of_repository(json!(site.reference(json_report))),
            "imports": of_repository(json!(imports)),
            "bblocks": entries,
        }));
        register["tooling"] = Product::REGISTER.tooling(&files);
        files.insert(Product::REGISTER.marker.to_owned(), lines(&register));
        Register { files, blocks, notes }
    }

    /// Writes `register-summary.md`, a short list of the blocks.
    fn summary(&self, title: &str, entries: &[Value]) -> String {
        let mut text = format!("# {}\n\n", markdown(title));
        for about in [&self.config.r#abstract, &self.config.description].into_iter().flatten() {
            text.push_str(&format!("{}\n\n", safe_markdown(about)));
        }
        text.push_str("## Building Blocks\n\n");
        for entry in entries {
            let of = |name: &str| entry[name].as_str().unwrap_or_default();
            let (id, name) = (markdown_code(of("itemIdentifier")), markdown(of("name")));
            text.push_str(&format!("### {id} — {name}\n\n"));
            text.extend(entry["itemClass"].as_str().map(|class| format!("**Type:** {}\n\n", markdown(class))));
            text.extend(entry["abstract"].as_str().map(|about| format!("{}\n\n", safe_markdown(about))));
        }
        text
    }
}

impl Register {
    /// Makes the register of a repository, or of a block that stands alone.
    ///
    /// A failed example is in the register, with the reason.
    ///
    /// # Errors
    ///
    /// If a block that stands alone has an error; it then does not have a register.
    pub fn build(path: &Path, options: &RegisterOptions) -> Result<Self, BlockError> {
        Repository::open(path)?.build(None, options, &mut |_| {})
    }

    /// Writes the register into a folder, in place of an earlier register. On failure, the folder keeps its content.
    /// With `replace`, a register that another program wrote is replaced, too.
    pub fn write(&self, folder: &Path, replace: bool) -> Result<(), WriteError> {
        output::write(&self.files, folder, Product::REGISTER, replace)
    }
}

/// Returns the names of modules in the configuration of plugins.
fn modules(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter().flat_map(modules)),
        Value::Object(members) => Box::new(members.iter().flat_map(|(name, value)| match name.as_str() {
            "modules" => Box::new(value.as_array().into_iter().flatten().filter_map(Value::as_str)),
            _ => modules(value),
        })),
        _ => Box::new(std::iter::empty()),
    }
}

/// Returns the path for a block's files: its identifier without the first segment.
fn path_of(id: &str) -> String {
    let parts: Vec<_> = id.split('.').skip(1).filter(|part| !part.is_empty()).map(key).collect();
    if parts.is_empty() { key(id) } else { parts.join("/") }
}

/// Returns the paths and URLs for a block that stands alone, with the base URL from the options or from the URL of its
/// published context.
fn site_of(block: &Block, options: &RegisterOptions) -> Result<RegisterPaths, BlockError> {
    let file = block.context_file.unwrap_or("context.jsonld");
    let tail = format!("annotated/{}/{file}", block.key);
    // The URL of a built-in context is not related to the block's own.
    let own = block.metadata["ldContext"].as_str().filter(|_| !block.folder.is_built_in(file));
    // The report links to the base URL, and links with other schemes may be harmful.
    let told = own.and_then(|url| url.strip_suffix(&tail)).filter(|base| is_web(base));
    let base = options.base.as_deref().or(told);
    if let Some(base) = base {
        absolute(base, || "--base-url".to_owned())?;
    }
    if let Some(url) = block.metadata["ldContext"].as_str() {
        absolute(url, || "bblock.json, ldContext".to_owned())?;
    }
    Ok(RegisterPaths::new(base, None).of(&block.key))
}
