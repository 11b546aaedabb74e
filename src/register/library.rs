//! What the blocks of a repository refer to: each other's schemas, and those of the registers that the repository imports.
//!
//! A document is known by its URI: a URL, or [`ROOT`] with the path of a file of the repository. Nothing is fetched unless the
//! command line says from where; folders may stand for URLs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use oxiri::{Iri, IriRef};
use serde_json::Value;

use super::annotate::annotate;
use super::dependencies::extended;
use super::extension;
use super::folder::Folder;
use super::references::{percent_decode, percent_encode};
use super::{BlockError, yaml};
use crate::context::Loader;

/// The folder above the library's folder. A path of this machine would show in messages.
const ABOVE: &str = "block:///";
/// The library's folder: below another, so that references that lead out of it are told.
pub const ROOT: &str = "block:///block/";
/// What references to blocks begin with; their identifier follows.
pub const BLOCKS: &str = "bblocks://";
/// The register that is imported where nothing else is said.
pub const MAIN_REGISTER: &str = "https://opengeospatial.github.io/bblocks/register.json";
/// Registers that are read at most, with those that they import.
const MAX_REGISTERS: usize = 64;

/// A block of the repository, as far as others may refer to it.
#[derive(Debug, Clone, Default)]
pub struct LocalBlock {
    /// URI of its schema.
    pub schema: Option<String>,
    /// The context that its author wrote, with nothing remote in it.
    pub context: Option<Value>,
    /// URL that its annotated schema will have.
    pub published: Option<String>,
    /// The block that its schema extends, as `bblock.json` names it.
    pub extends: Option<Value>,
    /// The extension points that make its schema.
    pub points: Option<Value>,
}

/// All that references may lead to.
#[derive(Debug, Default)]
pub struct Library {
    /// The folder whose files are in it.
    pub folder: Folder,
    /// What loads contexts and documents from elsewhere.
    pub loader: Loader,
    blocks: BTreeMap<String, LocalBlock>,
    /// The identifiers of the blocks, by the URIs of their schemas and by the URLs that those will have.
    by_schema: BTreeMap<String, String>,
    by_url: BTreeMap<String, String>,
    documents: RefCell<BTreeMap<String, Rc<Value>>>,
    annotated: RefCell<BTreeMap<String, Rc<Value>>>,
    /// Schemas that are being made of extension points.
    open: RefCell<BTreeSet<String>>,
    imports: RefCell<Imports>,
}

/// The registers of others, read as far as something was looked for.
#[derive(Debug, Default)]
struct Imports {
    queue: VecDeque<String>,
    known: BTreeSet<String>,
    /// Their blocks, by identifier.
    blocks: BTreeMap<String, Rc<Value>>,
    /// URLs of registers that could not be read.
    lacking: Vec<String>,
}

impl Library {
    /// The files of a folder.
    pub fn new(folder: Folder, loader: Loader) -> Self {
        Self { folder, loader, ..Self::default() }
    }

    /// Adds the blocks of a repository by identifier, and the URLs of the registers that it imports.
    #[must_use]
    pub fn with(mut self, blocks: BTreeMap<String, LocalBlock>, imports: &[String]) -> Self {
        for (id, block) in &blocks {
            block.schema.iter().for_each(|uri| drop(self.by_schema.insert(uri.clone(), id.clone())));
            block.published.iter().for_each(|url| drop(self.by_url.insert(url.clone(), id.clone())));
        }
        self.blocks = blocks;
        self.imports.get_mut().queue = imports.iter().cloned().collect();
        self
    }

    /// Gives a block of the repository the schema that extension points make of another one, where that other has one: for APIs
    /// they are only said. Returns whether it is so.
    pub fn extend(&mut self, id: &str, points: &Value, schema: String, published: Option<String>) -> bool {
        let base = points.get("baseBuildingBlock").and_then(Value::as_str).unwrap_or_default();
        let is_schema = match self.blocks.get(base) {
            Some(base) => base.schema.is_some(),
            // What is unknown is told where it is used.
            None => self.imported(base).is_none_or(|base| schema_url(&base).is_some()),
        };
        if let Some(block) = self.blocks.get_mut(id).filter(|_| is_schema) {
            self.by_schema.insert(schema.clone(), id.to_owned());
            published.iter().for_each(|url| drop(self.by_url.insert(url.clone(), id.to_owned())));
            (block.schema, block.published, block.points) = (Some(schema), published, Some(points.clone()));
        }
        is_schema
    }

    /// A block of the repository.
    pub fn block(&self, id: &str) -> Option<&LocalBlock> {
        self.blocks.get(id)
    }

    /// Whether a URI is that of a file of the folder.
    pub fn is_local(&self, uri: &str) -> bool {
        uri.starts_with(ROOT)
    }

    /// The URI that a reference without its fragment stands for, in a document with a URI.
    pub fn resolve(&self, base: &str, reference: &str) -> Result<String, BlockError> {
        let remote = || BlockError::Remote { reference: reference.to_owned(), by: shown(base) };
        if let Some(id) = reference.strip_prefix(BLOCKS) {
            let schema = match self.blocks.get(id) {
                Some(block) => block.schema.clone(),
                None => self.imported(id).and_then(|block| schema_url(&block)),
            };
            return schema.ok_or_else(|| self.unknown(reference, base));
        }
        let parsed = IriRef::parse(reference).map_err(|_| remote())?;
        let whole = Iri::parse(base).map_err(|_| remote())?.resolve(&parsed).map_err(|_| remote())?.into_inner();
        // What will be published is here already.
        let local = self.by_url.get(&whole).and_then(|id| self.blocks.get(id)?.schema.clone());
        Ok(local.unwrap_or(whole))
    }

    /// The block of the repository whose schema a URI is.
    pub fn block_of(&self, uri: &str) -> Option<&LocalBlock> {
        self.blocks.get(self.by_schema.get(uri)?)
    }

    /// The identifier of the block whose schema a URI is, of the repository or of a register that it imports.
    pub fn identifier(&self, uri: &str) -> Option<String> {
        if self.is_local(uri) {
            return self.by_schema.get(uri).cloned();
        }
        // All that is imported has to be read.
        drop(self.imported(""));
        let imports = self.imports.borrow();
        let of = |(_, block): &(&String, &Rc<Value>)| schema_urls(block).any(|url| url == uri);
        imports.blocks.iter().find(of).map(|(id, _)| id.clone())
    }

    fn unknown(&self, reference: &str, base: &str) -> BlockError {
        let lacking = self.imports.borrow().lacking.join(", ");
        let message = match lacking.is_empty() {
            true => "neither the repository nor what it imports has a schema of that name".to_owned(),
            false => format!(
                "the repository has no schema of that name, and what it imports is not at hand: name folders with \
                 --import URL=DIR, or fetch it with --online -c URL: {lacking}"
            ),
        };
        BlockError::unusable(&format!("{reference}, named by {}", shown(base)), message)
    }

    /// A document as it was written. `by` is what refers to it, for messages.
    pub fn document(&self, uri: &str, by: &str) -> Result<Rc<Value>, BlockError> {
        if let Some(known) = self.documents.borrow().get(uri) {
            return Ok(Rc::clone(known));
        }
        if let Some(points) = self.block_of(uri).and_then(|block| block.points.as_ref()) {
            if !self.open.borrow_mut().insert(uri.to_owned()) {
                let message = "its extension points lead back to it".to_owned();
                return Err(BlockError::unusable(&shown(uri), message));
            }
            let made = extension::schema(points, uri, self).map(Rc::new);
            self.open.borrow_mut().remove(uri);
            return made.inspect(|made| drop(self.documents.borrow_mut().insert(uri.to_owned(), Rc::clone(made))));
        }
        let document: Rc<Value> = match uri.strip_prefix(ROOT) {
            Some(path) => Rc::new(self.folder.read_data(&percent_decode(path), by)?),
            None => {
                if let Some(path) = uri.strip_prefix(ABOVE) {
                    return Err(BlockError::Outside { reference: format!("../{path}"), by: by.to_owned() });
                }
                let text = self.text(uri, by)?;
                let value = serde_json::from_str(&text).or_else(|_| yaml::read(&text));
                Rc::new(value.map_err(|error| BlockError::syntax(uri, error))?)
            }
        };
        let extends = self.block_of(uri).and_then(|block| block.extends.as_ref());
        let document = extends.and_then(|base| extended(base, &document)).map_or(document, Rc::new);
        self.documents.borrow_mut().insert(uri.to_owned(), Rc::clone(&document));
        Ok(document)
    }

    /// The text of a file of the repository, or of what a URL stands for. `by` is what refers to it, for messages.
    #[cfg(feature = "shacl")]
    pub fn source(&self, uri: &str, by: &str) -> Result<String, BlockError> {
        match uri.strip_prefix(ROOT) {
            Some(path) => self.folder.read(&percent_decode(path), by),
            None => self.text(uri, by),
        }
    }

    /// The text that a URL stands for. `by` is what refers to it, for messages.
    pub fn text(&self, url: &str, by: &str) -> Result<String, BlockError> {
        self.loader.text(url, by).map_err(|error| match error {
            crate::context::LoadError::RemoteFromFile { url, origin } => {
                BlockError::Remote { reference: url, by: origin }
            }
            error => error.into(),
        })
    }

    /// A document with its annotations, where it is the schema of a block of the repository; else as it was written.
    pub fn annotated(&self, uri: &str) -> Result<Rc<Value>, BlockError> {
        if let Some(known) = self.annotated.borrow().get(uri) {
            return Ok(Rc::clone(known));
        }
        let mut document = self.document(uri, "a schema")?;
        if let Some(block) = self.block_of(uri) {
            let schema = Rc::make_mut(&mut document);
            let nothing = Value::Array(Vec::new());
            let own = block.context.as_ref().unwrap_or(&nothing);
            let named = schema.get(super::annotate::CONTEXT).and_then(Value::as_str);
            let named = named.map(|reference| self.context_of(uri, reference)).transpose()?;
            let context = super::uplift::joined([own].into_iter().chain(&named));
            annotate(schema, &context).map_err(|message| BlockError::unusable(&shown(uri), message))?;
        }
        self.annotated.borrow_mut().insert(uri.to_owned(), Rc::clone(&document));
        Ok(document)
    }

    /// The context that a document names.
    fn context_of(&self, uri: &str, reference: &str) -> Result<Value, BlockError> {
        let place = self.folder.path().join(percent_decode(uri.strip_prefix(ROOT).unwrap_or_default()));
        let context = match self.is_local(uri) {
            true => Value::from(reference),
            false => Value::from(self.resolve(uri, reference)?),
        };
        Ok(self.loader.load_value(&place, context)?.value().clone())
    }

    /// The entry of an imported block.
    pub fn imported(&self, id: &str) -> Option<Rc<Value>> {
        loop {
            if let Some(block) = self.imports.borrow().blocks.get(id) {
                return Some(Rc::clone(block));
            }
            let next = self.imports.borrow_mut().queue.pop_front()?;
            self.import(&next);
        }
    }

    /// The URL of a register that the repository imports, where it is found; else the most likely one.
    pub fn register_url(&self, named: &str) -> String {
        let found = candidates(named).into_iter().find_map(|url| self.register(url));
        found.map_or_else(|| candidates(named).swap_remove(0), |(url, _)| url)
    }

    fn register(&self, url: String) -> Option<(String, Rc<Value>)> {
        let register = self.document(&url, "the repository").ok()?;
        register.get("bblocks").is_some_and(Value::is_array).then_some((url, register))
    }

    fn import(&self, named: &str) {
        if self.imports.borrow().known.len() >= MAX_REGISTERS
            || !self.imports.borrow_mut().known.insert(named.to_owned())
        {
            return;
        }
        let Some((_, register)) = candidates(named).into_iter().find_map(|url| self.register(url)) else {
            self.imports.borrow_mut().lacking.push(named.to_owned());
            return;
        };
        let mut imports = self.imports.borrow_mut();
        for block in register["bblocks"].as_array().into_iter().flatten() {
            if let Some(id) = block.get("itemIdentifier").and_then(Value::as_str) {
                imports.blocks.entry(id.to_owned()).or_insert_with(|| Rc::new(block.clone()));
            }
        }
        let further = register.get("imports").and_then(Value::as_array).into_iter().flatten();
        imports.queue.extend(further.filter_map(Value::as_str).map(str::to_owned));
    }
}

/// The URLs where a register is looked for.
fn candidates(named: &str) -> Vec<String> {
    let folder = named.trim_end_matches('/');
    match named.ends_with(".json") {
        true => vec![named.to_owned()],
        false => vec![format!("{folder}/build/register.json"), format!("{folder}/register.json"), named.to_owned()],
    }
}

/// The URL of a published block's schema.
fn schema_url(block: &Value) -> Option<String> {
    schema_urls(block).next().map(str::to_owned)
}

/// The URLs of a published block's schema in each of its forms.
fn schema_urls(block: &Value) -> impl Iterator<Item = &str> {
    let form = |name| block.get("schema")?.get(name)?.as_str();
    let one = block.get("schema").and_then(Value::as_str);
    one.into_iter().chain(form("application/yaml")).chain(form("application/json"))
}

/// A URI as messages show it.
pub fn shown(uri: &str) -> String {
    uri.strip_prefix(ROOT).map_or_else(|| uri.to_owned(), percent_decode)
}

/// A file of the library's folder as a URI.
pub fn uri(file: &str) -> String {
    format!("{ROOT}{}", percent_encode(file))
}
