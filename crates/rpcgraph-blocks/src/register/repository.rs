//! A repository of building blocks, or a block that stands alone, which counts as a repository of one block; and its
//! register.
//!
//! The blocks of a repository are the folders under `_sources/` that hold a `bblock.json`. A block's identifier is the
//! prefix in `bblocks-config.yaml` followed by the names of the folders. Errors in a block are in its report, and the
//! other blocks are still made. A block that stands alone is a repository of one block, in the folder itself; it does not
//! have a register if it has errors.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::block::{Block, CONTEXT, EXAMPLES, METADATA, SCHEMA, TESTS, refused_entries};
use super::builder::{BlockBuilder, BlockPart};
use super::error::{BLOCK, BlockError, absolute, with_causes};
use super::examples::UnusedEntries;
use super::folder::{Folder, key};
use super::html::html;
use super::library::{Library, uri};
use super::options::RegisterOptions;
use super::output::{self, Files, Product, WriteError, lines};
use super::references::{BLOCKS, resolve};
use super::report::BlockReport;
use super::sandbox::Sandbox;
use super::site::{CATALOGUE, REPORTS, RegisterPaths, is_web};
use super::{catalogue, dependencies, extension, yaml};
use crate::context::{LoadError, Loader, Reference};
use crate::diagnostic::markup::{markdown, markdown_code, safe_markdown};
use crate::json::without_nulls;

const CONFIG: &[&str] = &["bblocks-config.yaml", "bblocks-config.yml"];
/// The configuration for one machine.
const LOCAL: &[&str] = &["bblocks-config-local.yml", "bblocks-config-local.yaml"];
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
    sparql: Value,
}

/// The configuration for one machine.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct LocalConfig {
    /// Folders and files that stand for URLs.
    url_mappings: BTreeMap<String, String>,
    #[serde(flatten)]
    others: UnusedEntries,
}

/// An opened repository.
#[derive(Debug)]
pub struct Repository {
    folder: Folder,
    config: Config,
    /// Paths of the blocks' folders, by identifier; the empty path for a block that stands alone.
    blocks: BTreeMap<String, String>,
    /// Folders and files of the repository that stand for URLs.
    mapped: Vec<(String, PathBuf)>,
    /// URL of the context of a block that stands alone, if it states one.
    context_url: Option<String>,
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
        let mut notes: Vec<_> =
            modules.map(|name| format!("the plugin {name} is not run, nor what needs it")).collect();
        let (local, LocalConfig { url_mappings, others }) = folder.read_first(LOCAL, by)?;
        notes.extend(others.keys().map(|name| format!("{local}: unused entry `{name}`; it may have `url-mappings`")));
        let mut mapped = Vec::new();
        for (url, path) in url_mappings {
            // A repository may come from anywhere, so its configuration cannot open the machine's other files.
            match folder.locate(&path, local) {
                Ok(path) => mapped.push((url, path)),
                Err(error) => notes.push(format!("{}; or allow it with --import {url}={path}", with_causes(&error))),
            }
        }
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
        Ok(Self { folder, config, blocks, mapped, context_url: None, examples: None, notes })
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
        // Errors in the file are reported with the block's other errors.
        let (_, metadata): (_, Value) = folder.read_first(METADATA, BLOCK).unwrap_or_default();
        let text = |name: &str| metadata.get(name).and_then(Value::as_str).map(str::to_owned);
        let id = text("itemIdentifier").unwrap_or_else(|| key(&folder.name()));
        let context_url = text("ldContext").filter(|_| folder.find(CONTEXT).is_some());
        let (config, blocks) = (Config::default(), BTreeMap::from([(id, String::new())]));
        Ok(Self { folder, config, blocks, mapped: Vec::new(), context_url, examples, notes: Vec::new() })
    }

    /// True for a block that stands alone.
    fn is_block(&self) -> bool {
        self.blocks.values().any(String::is_empty)
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
        let mut library =
            Library::new(self.folder.clone(), options.loader(self.folder.path(), &self.mapped)?, &imports);
        let site = RegisterPaths::new(self.base(options, &mut notes)?.as_deref(), !self.is_block());
        self.read(&mut library, &site, options, &mut notes)?;
        let mut inherited = dependencies::inherited(&library);
        notes.extend(dependencies::circles(&inherited));
        let sandbox = RefCell::new(Sandbox::new(options.worker.clone()));
        let mut parts = Vec::new();
        for (id, block) in
            library.blocks.iter().filter(|(id, _)| only.is_none_or(|only| self.is_block() || only == *id))
        {
            progress(id);
            let inherited = inherited.remove(id).unwrap_or_default();
            parts.push(BlockBuilder::build(block, inherited, &library, &sandbox, options));
            if let (true, Some(error)) = (self.is_block(), parts.iter().find_map(|part| part.report.errors.first())) {
                return Err(BlockError::Unusable(error.clone()));
            }
        }
        let imports: Vec<_> = imports.iter().map(|import| library.register_url(import)).collect();
        self.joined(parts, &site, &imports, notes)
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
            block.identifier.clone_from(options.identifier.as_ref().filter(|_| self.is_block()).unwrap_or(id));
            if !self.is_block() {
                block.key = path_of(id);
                block.notes.extend(refused_entries(&block.metadata));
            }
            block.site = site.block_paths(&block.key);
            let has_points = block.metadata.get("extensionPoints").is_some();
            block.schema = match (block.schema_file, block.metadata["schema"].as_str()) {
                (Some(file), _) => Some(uri(&format!("{below}{file}"))),
                (None, Some(named)) if !named.starts_with(BLOCKS) => resolve(Some(&uri(below)), named),
                (None, _) => has_points.then(|| uri(&format!("{below}extensionPoints"))),
            };
            match self.context(&block, &library.loader, notes) {
                Ok(context) => block.context = context,
                Err(error) => {
                    block.lacks_context = true;
                    block.errors.push(error.into());
                }
            }
            if has_points && block.schema_file.is_some() {
                notes.push(format!("{id}: extensionPoints are not applied: the block has its own schema"));
            }
            library.add(block);
        }
        extension::apply(library);
        Ok(())
    }

    /// Loads the context that the author of a block wrote or named.
    fn context(&self, block: &Block, loader: &Loader, notes: &mut Vec<String>) -> Result<Option<Value>, LoadError> {
        let path = block.folder.path();
        let (file, named) = (path.join("context.jsonld"), block.metadata["ldContext"].as_str());
        if !file.is_file() {
            let Some(named) = named else { return Ok(None) };
            let context = match block.context_file.is_some() {
                // Loaded by its URL, a built-in context keeps its base.
                true => loader.load(&Reference::Url(named.to_owned()))?,
                false => loader.load_value(&path.join("bblock.json"), Value::from(named))?,
            };
            return Ok(Some(context.value().clone()));
        }
        // The file stands for the URLs at which it is published.
        for url in block.site.url(&block.site.own("context.jsonld")).as_deref().into_iter().chain(named) {
            drop(loader.publish(url, &file));
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
    /// register that was published before. `None` if the URL of a block that stands alone is unknown.
    fn base(&self, options: &RegisterOptions, notes: &mut Vec<String>) -> Result<Option<String>, BlockError> {
        let published = || {
            let register = self.folder.read_data("build/register.json", BLOCK).ok()?;
            let url = register.get("baseURL")?.as_str()?.trim_end_matches('/').to_owned();
            is_web(&url).then(|| format!("{url}/build/"))
        };
        let of_context = || {
            let tail = format!("annotated/{}/context.jsonld", key(&self.folder.name()));
            // The register links to the URL, and links with other schemes may be harmful.
            self.context_url.as_ref()?.strip_suffix(&tail).filter(|base| is_web(base)).map(str::to_owned)
        };
        let known = options.base.clone().or_else(|| self.remote()).or_else(published).or_else(of_context);
        let base = known.or_else(|| {
            (!self.is_block()).then(|| {
                let base = format!("https://example.invalid/{}/build/", key(&self.folder.name()));
                notes.push(format!(
                    "the URL of the published register is unknown; {base} is used: name it with --base-url"
                ));
                base
            })
        });
        base.iter().try_for_each(|base| absolute(base, || "--base-url".to_owned()))?;
        Ok(base)
    }

    /// Returns the URL at which GitHub publishes the repository's build, from the remote in git's configuration.
    fn remote(&self) -> Option<String> {
        let (owner, name) = self.on_github()?;
        Some(format!("https://{}.github.io/{name}/build/", owner.to_lowercase()))
    }

    /// Returns the URL of the repository on GitHub.
    fn git_repository(&self) -> Option<String> {
        self.on_github().map(|(owner, name)| format!("https://github.com/{owner}/{name}"))
    }

    /// Returns the owner and the name of the repository on GitHub, from the remote in git's configuration.
    fn on_github(&self) -> Option<(String, String)> {
        let config = self.folder.read(".git/config", "git").ok()?;
        let (_, origin) = config.split_once("[remote \"origin\"]")?;
        let url = origin.split("\n[").next()?.lines().find_map(|line| line.trim().strip_prefix("url = "))?;
        let (_, path) = url.split_once("github.com")?;
        let (owner, name) = path.trim_start_matches([':', '/']).split_once('/')?;
        Some((owner.to_owned(), name.trim_end_matches('/').trim_end_matches(".git").to_owned()))
    }

    /// Joins the parts of blocks into the register at `site`.
    fn joined(
        &self,
        parts: Vec<BlockPart>,
        site: &RegisterPaths,
        imports: &[String],
        notes: Vec<String>,
    ) -> Result<Register, BlockError> {
        let mut files = Files::new();
        let (mut blocks, mut entries, mut catalogue, mut paths) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for BlockPart { files: own, report, notes, entry, described, report_path } in parts {
            files.extend(own);
            entries.push(entry);
            paths.push(site.reference_from(REPORTS[1], &report_path));
            catalogue.push(described);
            blocks.push(RegisterBlock { report, notes });
        }
        let reports: Vec<_> = blocks.iter().map(|block| &block.report).collect();
        let title = self.config.name.clone().unwrap_or_else(|| self.folder.name());
        let summary = BlockReport::summary(reports.iter().copied().zip(paths));
        files.insert(REPORTS[1].to_owned(), lines(&summary));
        files.insert(REPORTS[0].to_owned(), html(&reports, &title));
        files.insert("register-summary.md".to_owned(), self.summary(&title, &entries));
        let mut register = without_nulls(json!({
            "name": title,
            "abstract": self.config.r#abstract,
            "description": self.config.description,
            "license": self.config.license,
            "modified": reports.iter().find_map(|report| report.generated.clone()),
            "baseURL": site.register(),
            "validationReport": site.reference(REPORTS[0]),
            "validationReportJson": site.reference(REPORTS[1]),
            "imports": imports,
            "sparqlEndpoint": self.config.sparql.get("query"),
            "gitRepository": self.git_repository(),
            "links": self_links(site),
        }));
        let written = catalogue::write(&register, site.register().as_deref(), &catalogue);
        let [turtle, jsonld] = written.map_err(|message| BlockError::unusable(CATALOGUE, message))?;
        files.extend([(CATALOGUE.to_owned(), turtle), ("bblocks.jsonld".to_owned(), jsonld)]);
        register["bblocks"] = entries.into();
        register["tooling"] = Product::REGISTER.tooling(&files);
        files.insert(Product::REGISTER.marker.to_owned(), lines(&register));
        Ok(Register { files, blocks, notes })
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

/// Returns the links of a register to its own files.
fn self_links(site: &RegisterPaths) -> Value {
    let files = [
        ("register.json", "application/json", "JSON"),
        (CATALOGUE, "text/turtle", "RDF Turtle"),
        ("bblocks.jsonld", "application/ld+json", "JSON-LD"),
    ];
    let link = |(file, media_type, name): (&str, &str, &str)| json!({ "rel": "self", "href": site.reference(file), "type": media_type, "title": format!("This register in {name}") });
    files.into_iter().map(link).collect()
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
