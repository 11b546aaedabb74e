//! A repository of building blocks: one register of all of them.
//!
//! The blocks are the folders under `_sources/` that hold a `bblock.json`. Their identifiers are the prefix of
//! `bblocks-config.yaml` and the names of their folders. What is wrong with one block is in its report; the others are made.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use indexmap::IndexSet;
use serde::Deserialize;
use serde_json::{Value, json};

use super::block::{BLOCK, Block, CONTEXT, METADATA, SCHEMA, key};
use super::builder::{BlockPart, RegisterBuilder, said};
use super::catalogue;
use super::dependencies;
use super::folder::Folder;
use super::html::html;
use super::library::{Library, LocalBlock, MAIN_REGISTER, uri};
use super::output::{self, Files, Product, WriteError};
use super::report::{Report, without_nulls};
use super::site::Site;
use super::{BlockError, Register, RegisterOptions, absolute, lines, loader};
use crate::context::{LoadError, Loader, Reference};

const CONFIG: &[&str] = &["bblocks-config.yaml", "bblocks-config.yml"];
const LOCAL_CONFIG: &[&str] = &["bblocks-config-local.yml", "bblocks-config-local.yaml"];
const SOURCES: &str = "_sources";
/// How deep folders of blocks may be nested.
const MAX_FOLDERS: usize = 32;

/// `bblocks-config.yaml`, as far as there is use for it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Config {
    identifier_prefix: Option<String>,
    name: Option<String>,
    r#abstract: Option<String>,
    description: Option<String>,
    imports: Option<Vec<String>>,
}

/// `bblocks-config-local.yml`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct LocalConfig {
    url_mappings: BTreeMap<String, String>,
}

/// A repository, opened.
#[derive(Debug)]
pub struct Repository {
    folder: Folder,
    config: Config,
    /// Paths of the blocks' folders, by identifier.
    blocks: BTreeMap<String, String>,
    /// Folders of the repository that stand for URLs.
    mapped: Vec<(String, std::path::PathBuf)>,
    notes: Vec<String>,
}

/// A block of a repository, and what came of it.
#[derive(Debug)]
pub struct RepositoryBlock {
    /// Its report.
    pub report: Report,
    /// The parts of it that were not used, and why.
    pub notes: Vec<String>,
}

/// The register of a repository, complete and in memory.
#[derive(Debug)]
pub struct RepositoryRegister {
    files: Files,
    /// The blocks, by identifier.
    pub blocks: Vec<RepositoryBlock>,
    /// What is to be said of the repository itself.
    pub notes: Vec<String>,
}

impl Repository {
    /// Whether a folder is a repository, and not one block.
    pub fn is_one(path: &Path) -> bool {
        let has = |name: &&str| path.join(name).exists();
        CONFIG.iter().any(has) || (path.join(SOURCES).is_dir() && !METADATA.iter().any(has))
    }

    /// Opens a repository. Fails where its configuration cannot be read, and where there is no block in it.
    pub fn open(path: &Path) -> Result<Self, BlockError> {
        let folder = Folder::open(path)?;
        let by = "the repository";
        let (_, config): (_, Config) = folder.read_first(CONFIG, by)?;
        let mut notes = Vec::new();
        let mut mapped = Vec::new();
        let (name, LocalConfig { url_mappings }) = folder.read_first(LOCAL_CONFIG, by)?;
        for (url, path) in url_mappings {
            match folder.locate(&path, name) {
                Ok(path) => mapped.push((url, path)),
                Err(error) => notes.push(format!("{}; to use it, name it with --import {url}=DIR", said(&error))),
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
                // Links may lead in circles.
                let is_folder = place.join(&name).symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
                if is_folder && !name.starts_with(['_', '.']) && depth < MAX_FOLDERS {
                    folders.push((format!("{path}/{name}"), format!("{id}.{name}"), depth + 1));
                }
            }
        }
        if blocks.is_empty() {
            let message = format!("there is no bblock.json in a folder below {SOURCES}");
            return Err(BlockError::unusable(&super::folder::shown(path), message));
        }
        Ok(Self { folder, config, blocks, mapped, notes })
    }

    /// The identifiers of its blocks.
    pub fn identifiers(&self) -> impl Iterator<Item = &str> {
        self.blocks.keys().map(String::as_str)
    }

    /// Makes the register. With `only`, of that block alone, by its identifier; `progress` is told each block's.
    pub fn build(
        &self,
        only: Option<&str>,
        options: &RegisterOptions,
        progress: &mut dyn FnMut(&str),
    ) -> Result<RepositoryRegister, BlockError> {
        let mut notes = self.notes.clone();
        let base = self.base(options, &mut notes)?;
        let title = self.config.name.clone().unwrap_or_else(|| self.folder.name());
        let site = |id: &str| Site::new(Some(&base), &path_of(id)).within(title.clone());
        let mut options = options.clone();
        options.folders.extend(self.mapped.iter().cloned());
        let loader = loader(&options, self.folder.path())?;
        let mut empty = Library::new(self.folder.clone(), loader);
        let mut errors = BTreeMap::new();
        let mut read = BTreeMap::new();
        let mut locals = BTreeMap::new();
        for (id, below) in &self.blocks {
            let block = Folder::open_within(&self.folder.path().join(below), &self.folder)
                .and_then(|folder| Block::read_from(folder, None, &empty));
            let (mut local, error) = self.local(id, below, block.as_ref().ok(), &empty.loader, &mut notes);
            local.extends = block.as_ref().ok().and_then(|block| block.metadata.others.get("extends").cloned());
            local.published = local.schema.is_some().then(|| site(id).url(&site(id).own("schema.yaml"))).flatten();
            locals.insert(id.clone(), local);
            match block {
                Ok(mut block) => {
                    empty.folder.provide_below(below, &block.folder);
                    block.context_error = error;
                    (block.key, block.below, block.identifier) = (path_of(id), below.clone(), id.clone());
                    read.insert(id.clone(), block);
                }
                Err(error) => drop(errors.insert(id.clone(), error)),
            }
        }
        let named = |import: String| if import == "default" { MAIN_REGISTER.to_owned() } else { import };
        let imports = self.config.imports.clone().unwrap_or_else(|| vec!["default".to_owned()]);
        let imports: Vec<_> = imports.into_iter().map(named).collect();
        let mut library = empty.with(locals, &imports);
        let points = |block: &Block| block.metadata.others.get("extensionPoints").cloned();
        let mut extended: Vec<_> = read.values().filter_map(|block| Some((block, points(block)?))).collect();
        // One may extend another that does.
        for _ in 0..extended.len() {
            extended.retain(|(block, points)| {
                let (site, schema) = (site(&block.identifier), uri(&format!("{}schema.yaml", block.below)));
                !library.extend(&block.identifier, points, schema, site.url(&site.own("schema.yaml")))
            });
        }
        let only_said = "extensionPoints are only said: what they extend has no JSON Schema";
        notes.extend(extended.iter().map(|(block, _)| format!("{}: {only_said}", block.identifier)));
        let library = Rc::new(library);
        for (id, inherited) in dependencies::inherited(&read, &library) {
            if inherited.is_in_circle {
                notes.push(format!(
                    "{id}: what it depends on depends on it: whatever it takes over, it takes over once"
                ));
            }
            read.get_mut(&id).into_iter().for_each(|block| block.inherited = inherited.clone());
        }
        if let Some(id) = only.filter(|id| !self.blocks.contains_key(*id)) {
            let message =
                format!("there is no such block; there are {}", self.identifiers().collect::<Vec<_>>().join(", "));
            return Err(BlockError::unusable(&format!("--block {id}"), message));
        }
        let mut parts = Vec::new();
        for id in self.identifiers().filter(|id| only.is_none_or(|only| only == *id)) {
            progress(id);
            parts.push(match (read.get(id), errors.get(id)) {
                (Some(block), _) => RegisterBuilder::open(block, site(id), Rc::clone(&library), &options).within(),
                (None, error) => unread(id, &site(id), error.map(|error| said(error)).unwrap_or_default(), &options),
            });
        }
        let imports: Vec<_> = imports.iter().map(|named| library.register_url(named)).collect();
        Ok(self.joined(parts, &site(""), &imports, notes))
    }

    /// What other blocks may refer to of a block, and why its context cannot be used.
    fn local(
        &self,
        id: &str,
        below: &str,
        block: Option<&Block>,
        loader: &Loader,
        notes: &mut Vec<String>,
    ) -> (LocalBlock, Option<String>) {
        let path = self.folder.path().join(below);
        let file = || SCHEMA.iter().copied().find(|name| path.join(name).is_file());
        let file = block.map_or_else(file, |block| block.schema_file);
        let named = || block?.metadata.schema.as_str().map(str::to_owned);
        let schema = match (file, named()) {
            (Some(file), _) => Some(uri(&format!("{below}{file}"))),
            (None, Some(named)) => Library::default().resolve(&uri(below), &named).ok(),
            (None, None) => None,
        };
        let has_file = CONTEXT.iter().any(|name| path.join(name).is_file());
        let named = block.and_then(|block| block.metadata.ld_context.clone());
        let context = match (has_file, named) {
            (true, _) => loader.load(&Reference::File(path.join("context.jsonld"))),
            (false, Some(named)) => loader.load_value(&path.join("bblock.json"), Value::String(named)),
            (false, None) => return (LocalBlock { schema, ..LocalBlock::default() }, None),
        };
        // Authors write contexts by hand: as YAML they are taken with a comma too many, or without their wrapper.
        let context = match context {
            Err(error @ (LoadError::NotJson { .. } | LoadError::NoContext(_))) => {
                let value = self.folder.read(&format!("{below}context.jsonld"), BLOCK).ok();
                let value = value.and_then(|text| super::yaml::read::<Value>(&text).ok()).filter(Value::is_object);
                match value.map(|mut value| value.get_mut("@context").map(Value::take).unwrap_or(value)) {
                    Some(value) => {
                        notes.push(format!("{id}: {}; it is taken as if it were", self.said(error)));
                        loader.load_value(&path.join("context.jsonld"), value)
                    }
                    None => Err(error),
                }
            }
            context => context,
        };
        match context {
            Ok(context) => {
                (LocalBlock { schema, context: Some(context.value().clone()), ..LocalBlock::default() }, None)
            }
            Err(error) => (LocalBlock { schema, ..LocalBlock::default() }, Some(self.said(error))),
        }
    }

    /// An error, without the path of the repository.
    fn said(&self, error: LoadError) -> String {
        said(&BlockError::from(error)).replace(&format!("{}/", self.folder.path().display()), "")
    }

    /// The URL of the register's folder: as the options say, else by the repository on GitHub, else by
    /// the register that was published before.
    fn base(&self, options: &RegisterOptions, notes: &mut Vec<String>) -> Result<String, BlockError> {
        let published = || {
            let register: Value = self.folder.read_data("build/register.json", BLOCK).ok()?;
            let url = register.get("baseURL")?.as_str()?.trim_end_matches('/').to_owned();
            super::site::is_web(&url).then(|| format!("{url}/build/"))
        };
        let base = options.base.clone().or_else(|| self.remote()).or_else(published).unwrap_or_else(|| {
            let base = format!("https://example.invalid/{}/build/", key(&self.folder.name()));
            notes.push(format!(
                "nothing tells where the register will be published: name it with --base-url; {base} stands for it"
            ));
            base
        });
        absolute(&base, || "--base-url".to_owned())?;
        Ok(format!("{}/", base.trim_end_matches('/')))
    }

    /// Where GitHub publishes what is built of the repository, by the remote that git knows.
    fn remote(&self) -> Option<String> {
        let config = self.folder.read(".git/config", "git").ok()?;
        let (_, origin) = config.split_once("[remote \"origin\"]")?;
        let url = origin.split("\n[").next()?.lines().find_map(|line| line.trim().strip_prefix("url = "))?;
        let (_, path) = url.split_once("github.com")?;
        let (owner, name) = path.trim_start_matches([':', '/']).split_once('/')?;
        Some(format!(
            "https://{}.github.io/{}/build/",
            owner.to_lowercase(),
            name.trim_end_matches('/').trim_end_matches(".git")
        ))
    }

    /// The register of parts; `site` is where it will be.
    fn joined(&self, parts: Vec<BlockPart>, site: &Site, imports: &[String], notes: Vec<String>) -> RepositoryRegister {
        let title = site.title("");
        let mut files = Files::new();
        let (mut blocks, mut entries, mut catalogue) = (Vec::new(), Vec::new(), IndexSet::new());
        for BlockPart { files: own, report, notes, entry, triples } in parts {
            files.extend(own);
            entries.push(entry);
            catalogue.extend(triples);
            blocks.push(RepositoryBlock { report, notes });
        }
        let catalogue: Vec<_> = catalogue.into_iter().collect();
        let reports: Vec<_> = blocks.iter().map(|block| &block.report).collect();
        let path = |report: &Report| site.reference(&format!("tests/{}/_report.json", path_of(&report.id)));
        let summary = Report::summary(reports.iter().map(|report| (*report, path(report))));
        files.insert("tests/report.json".to_owned(), lines(&summary));
        files.insert("tests/report.html".to_owned(), html(&reports, &title));
        files.insert("bblocks.ttl".to_owned(), catalogue::text(&catalogue));
        files.extend(catalogue::jsonld(&catalogue).map(|text| ("bblocks.jsonld".to_owned(), text)));
        let mut register = without_nulls(json!({
            "name": title,
            "abstract": self.config.r#abstract,
            "description": self.config.description,
            "modified": reports.iter().find_map(|report| report.generated.clone()),
            "baseURL": site.source(""),
            "validationReport": site.reference("tests/report.html"),
            "validationReportJson": site.reference("tests/report.json"),
            "imports": imports,
            "bblocks": entries,
        }));
        register["tooling"] = Product::REGISTER.tooling(&files);
        files.insert(Product::REGISTER.marker.to_owned(), lines(&register));
        RepositoryRegister { files, blocks, notes }
    }
}

/// The register of a block alone, as that of a repository with one.
impl From<Register> for RepositoryRegister {
    fn from(Register { files, report, notes }: Register) -> Self {
        Self { files, blocks: vec![RepositoryBlock { report, notes }], notes: Vec::new() }
    }
}

impl RepositoryRegister {
    /// The files, by path.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Puts the register into a folder, as [`Register::write`](super::Register::write) does. With `replace`, also in place of
    /// a register that another program wrote.
    pub fn write(&self, folder: &Path, replace: bool) -> Result<(), WriteError> {
        output::write(&self.files, folder, Product::REGISTER, replace)
    }
}

/// The path for a block's files: its identifier without the first segment.
fn path_of(id: &str) -> String {
    let parts: Vec<_> = id.split('.').skip(1).filter(|part| !part.is_empty()).map(key).collect();
    if parts.is_empty() { key(id) } else { parts.join("/") }
}

/// The part of a block that cannot be read.
fn unread(id: &str, site: &Site, error: String, options: &RegisterOptions) -> BlockPart {
    let name = id.rsplit('.').next().unwrap_or(id).to_owned();
    let (id, generated) = (id.to_owned(), options.generated.clone());
    let report = Report { id, name, generated, items: Vec::new(), errors: vec![error] };
    let files = Files::from([(site.test("_report.json"), lines(&report.to_json()))]);
    let entry = json!({ "itemIdentifier": report.id, "name": report.name, "validationPassed": false });
    BlockPart { files, report, notes: Vec::new(), entry, triples: Vec::new() }
}
