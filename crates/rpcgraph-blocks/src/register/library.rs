//! The documents that the blocks of a repository refer to: each other's schemas, and schemas of the registers that the
//! repository imports.
//!
//! A document is known by its URI: a URL, or [`ROOT`] with the path of a file of the repository. Only URLs that the
//! command line names are fetched; folders may stand for URLs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::annotate::{CONTEXT, PREFIXES, annotate};
use super::block::Block;
use super::error::BlockError;
use super::folder::{Folder, remote};
use super::references::{
    Anchors, BLOCKS, absolute_id, anchors, block_reference, identifiers, percent_decode, percent_encode, pointer,
    resolve, split,
};
use super::yaml;
use crate::context::{Loader, joined};

/// The URI of the folder above the library's folder. Not a path of this machine, since messages would show it.
const ABOVE: &str = "block:///";
/// The URI of the library's folder: below another folder, so that references that lead out of it are detected.
pub const ROOT: &str = "block:///block/";
/// The usual origin of references to schemas, for messages.
pub const BY_SCHEMA: &str = "a schema";
/// The maximum number of registers that are read, including those that they import.
const MAX_REGISTERS: usize = 64;

/// All documents that references may lead to.
#[derive(Debug, Default)]
pub struct Library {
    /// The folder of the repository.
    pub folder: Folder,
    /// Loads contexts and remote documents.
    pub loader: Loader,
    /// The blocks of the repository, by identifier.
    pub blocks: BTreeMap<String, Block>,
    /// The URIs of the blocks' schemas, by the URLs that they state or will have.
    by_url: BTreeMap<String, String>,
    /// The documents that were read or made, and the reasons why schemas cannot be made.
    documents: RefCell<BTreeMap<String, Result<Rc<Value>, String>>>,
    anchors: RefCell<BTreeMap<String, Anchors>>,
    annotated: RefCell<BTreeMap<String, Rc<Value>>>,
    /// The register entries of the blocks in imported registers, by identifier.
    pub imported: BTreeMap<String, Value>,
    /// URLs of imported registers that could not be read.
    lacking: Vec<String>,
}

/// The target of a reference.
pub struct ReferenceTarget {
    /// The document's URI.
    pub uri: String,
    /// The document.
    pub document: Rc<Value>,
    /// The JSON Pointer in the document, or the reason why there is none.
    pub pointer: Result<String, String>,
}

impl Library {
    /// Creates a library from a folder and the URLs of imported registers, which it reads with the registers that they
    /// import.
    pub fn new(folder: Folder, loader: Loader, imports: &[String]) -> Self {
        let mut library = Self { folder, loader, ..Self::default() };
        let (mut queue, mut known) = (VecDeque::from(imports.to_vec()), BTreeSet::new());
        while let Some(named) = queue.pop_front().filter(|_| known.len() < MAX_REGISTERS) {
            if !known.insert(named.clone()) {
                continue;
            }
            let Some((_, register)) = library.register(&named) else {
                library.lacking.push(named);
                continue;
            };
            for block in register["bblocks"].as_array().into_iter().flatten() {
                if let Some(id) = block.get("itemIdentifier").and_then(Value::as_str) {
                    library.imported.entry(id.to_owned()).or_insert_with(|| block.clone());
                }
            }
            let further = register.get("imports").and_then(Value::as_array).into_iter().flatten();
            queue.extend(further.filter_map(Value::as_str).map(str::to_owned));
        }
        library
    }

    /// Adds a block of the repository.
    pub fn add(&mut self, block: Block) {
        if let Some((uri, Ok(own))) = block.schema.as_ref().map(|uri| (uri, self.document(uri, BY_SCHEMA))) {
            let urls = absolute_id(&own).into_iter().chain(published(&block, "schema.yaml"));
            self.by_url.extend(urls.map(|url| (url, uri.clone())));
            if let Some(extends) = block.metadata.get("extends") {
                self.documents.get_mut().insert(uri.clone(), Ok(Rc::new(extended((*own).clone(), extends))));
            }
        }
        self.blocks.insert(block.identifier.clone(), block);
    }

    /// True if the block has a schema; `None` if neither the repository nor its imports have the block.
    pub fn has_schema(&self, id: &str) -> Option<bool> {
        let own = self.blocks.get(id).map(|block| block.schema.is_some());
        own.or_else(|| self.imported.get(id).map(|block| schema_urls(block).next().is_some()))
    }

    /// Provides the schema of a block, which is not a file, or the reason why it cannot be made.
    pub fn provide(&mut self, id: &str, schema: Result<Value, String>) {
        let Some((uri, block)) = self.blocks.get(id).and_then(|block| Some((block.schema.clone()?, block))) else {
            return;
        };
        self.by_url.extend(published(block, "schema.yaml").map(|url| (url, uri.clone())));
        self.documents.get_mut().insert(uri, schema.map(Rc::new));
    }

    /// True if a URI names a file of the folder.
    pub fn is_local(&self, uri: &str) -> bool {
        uri.starts_with(ROOT)
    }

    /// Resolves a reference without its fragment, against the URI of the document that it stands in.
    pub fn resolve(&self, base: &str, reference: &str) -> Result<String, BlockError> {
        if let Some(id) = reference.strip_prefix(BLOCKS) {
            let schema = match self.blocks.get(id) {
                Some(block) => block.schema.clone(),
                None => self.imported.get(id).and_then(|block| schema_urls(block).next().map(str::to_owned)),
            };
            return schema.ok_or_else(|| self.unknown(reference, base));
        }
        let remote = || BlockError::Remote { reference: reference.to_owned(), by: shown(base) };
        let whole = resolve(Some(base), reference).ok_or_else(remote)?;
        Ok(self.by_url.get(&whole).cloned().unwrap_or(whole))
    }

    /// Follows a reference in the document at a URI. The document may set another base by its `$id`.
    pub fn follow(&self, uri: &str, reference: &str, by: &str) -> Result<ReferenceTarget, BlockError> {
        let (path, fragment) = split(reference);
        let document = self.document(uri, by)?;
        let target = |base: &str| match path {
            "" => Ok((uri.to_owned(), Rc::clone(&document))),
            _ => {
                let target = self.resolve(base, path)?;
                Ok((target.clone(), self.document(&target, by)?))
            }
        };
        let own = absolute_id(&document).unwrap_or_else(|| uri.to_owned());
        let [first, second] = if self.is_local(uri) { [uri, &own] } else { [own.as_str(), uri] };
        let (target, document) = target(first).or_else(|error| target(second).map_err(|_: BlockError| error))?;
        let pointer = self.pointer(&target, &document, fragment);
        Ok(ReferenceTarget { uri: target, document, pointer })
    }

    /// Returns the JSON Pointer for a fragment of a document.
    pub fn pointer(&self, uri: &str, document: &Value, fragment: &str) -> Result<String, String> {
        let mut known = self.anchors.borrow_mut();
        let anchors = known.entry(uri.to_owned()).or_insert_with(|| anchors(document));
        pointer(document, anchors, fragment)
    }

    /// Returns the block of the repository whose schema is at a URI.
    pub fn block_of(&self, uri: &str) -> Option<&Block> {
        self.blocks.values().find(|block| block.schema.as_deref() == Some(uri))
    }

    /// Returns the identifier of the block whose schema is at a URI, in the repository or in an imported register.
    pub fn identifier(&self, uri: &str) -> Option<&String> {
        if self.is_local(uri) {
            return self.block_of(uri).map(|block| &block.identifier);
        }
        self.imported.iter().find(|(_, block)| schema_urls(block).any(|url| url == uri)).map(|(id, _)| id)
    }

    /// Returns the URL of the JSON form of an imported block's schema, whose URI identifies another form.
    pub fn imported_json(&self, uri: &str) -> Option<&str> {
        let block = self.imported.values().find(|block| schema_urls(block).any(|url| url == uri))?;
        block.get("schema")?.get("application/json")?.as_str()
    }

    /// Returns the error about a reference to a block that neither the repository nor its imports have.
    pub fn unknown(&self, reference: &str, base: &str) -> BlockError {
        let message = match self.lacking.join(", ") {
            lacking if lacking.is_empty() => "neither the repository nor its imports contain it".to_owned(),
            lacking => format!(
                "it is not in the repository, and its imports are not available: name folders with \
                 --import URL=DIR, or fetch it with --online -c URL: {lacking}"
            ),
        };
        BlockError::unusable(&format!("{reference}, named by {}", shown(base)), message)
    }

    /// Returns a document. `by` names the origin of the reference, for messages.
    pub fn document(&self, uri: &str, by: &str) -> Result<Rc<Value>, BlockError> {
        if let Some(known) = self.documents.borrow().get(uri) {
            return known.clone().map_err(BlockError::Unusable);
        }
        let document: Rc<Value> = Rc::new(match uri.strip_prefix(ROOT) {
            Some(path) => self.folder.read_data(&percent_decode(path), by)?,
            None => {
                let text = self.text(uri, by)?;
                let value = serde_json::from_str(&text).or_else(|_| yaml::read(&text));
                value.map_err(|error| BlockError::syntax(uri, error))?
            }
        });
        self.documents.borrow_mut().insert(uri.to_owned(), Ok(Rc::clone(&document)));
        Ok(document)
    }

    /// Returns the text of a file of the repository or of a URL. `by` names the origin of the reference, for messages.
    pub fn text(&self, uri: &str, by: &str) -> Result<String, BlockError> {
        if let Some(path) = uri.strip_prefix(ROOT) {
            return self.folder.read(&percent_decode(path), by);
        }
        if let Some(path) = uri.strip_prefix(ABOVE) {
            return Err(BlockError::outside(&format!("../{path}"), by));
        }
        remote(uri, by, &self.loader)
    }

    /// Returns a document, with annotations if it is the schema of a block of the repository.
    pub fn annotated(&self, uri: &str) -> Result<Rc<Value>, BlockError> {
        if let Some(known) = self.annotated.borrow().get(uri) {
            return Ok(Rc::clone(known));
        }
        let mut document = self.document(uri, BY_SCHEMA)?;
        if let Some(block) = self.block_of(uri) {
            let original = Rc::clone(&document);
            let schema = Rc::make_mut(&mut document);
            let named = schema.get(CONTEXT).and_then(Value::as_str);
            let named = named.map(|reference| self.context_of(uri, reference)).transpose()?;
            let context = joined(block.context.iter().chain(&named));
            let follow = |fragment: &str| self.pointer(uri, &original, fragment).ok();
            annotate(schema, &context, &follow).map_err(|message| BlockError::unusable(&shown(uri), message))?;
        }
        self.annotated.borrow_mut().insert(uri.to_owned(), Rc::clone(&document));
        Ok(document)
    }

    /// Loads the context that a document names.
    fn context_of(&self, uri: &str, reference: &str) -> Result<Value, BlockError> {
        let place = self.folder.path().join(percent_decode(uri.strip_prefix(ROOT).unwrap_or_default()));
        let context = match self.is_local(uri) {
            true => Value::from(reference),
            false => Value::from(self.resolve(uri, reference)?),
        };
        Ok(self.loader.load_value(&place, context)?.value().clone())
    }

    /// Returns the URL where an imported register was found, or its most likely URL.
    pub fn register_url(&self, named: &str) -> String {
        self.register(named).map_or_else(|| candidates(named).swap_remove(0), |(url, _)| url)
    }

    fn register(&self, named: &str) -> Option<(String, Rc<Value>)> {
        candidates(named).into_iter().find_map(|url| {
            let register = self.document(&url, "the repository").ok()?;
            register.get("bblocks").is_some_and(Value::is_array).then_some((url, register))
        })
    }
}

/// Returns the schema of a block that extends another: both schemas apply, its own at a path such as `a.b[].c` in the
/// other's values.
fn extended(mut own: Value, extends: &Value) -> Value {
    let Some(base) = identifiers(extends).first().map(|id| block_reference(id)) else { return own };
    let path = extends.get("path").and_then(Value::as_str).unwrap_or_default();
    // These keywords belong at the top of a document.
    let mut top = Map::new();
    for name in ["$schema", "$id", PREFIXES, CONTEXT] {
        if let Some(value) = own.as_object_mut().and_then(|members| members.remove(name)) {
            top.insert(name.to_owned(), value);
        }
    }
    for name in path.split('.').rev().filter(|name| !name.is_empty()) {
        let (name, item) = name.strip_suffix("[]").map_or((name, own.clone()), |name| (name, json!({ "items": own })));
        own = json!({ "properties": { name: item } });
    }
    top.insert("allOf".to_owned(), json!([{ "$ref": base }, own]));
    Value::Object(top)
}

/// Returns the URL of a block's annotated schema in the register of its repository, in the file `name`.
pub fn published(block: &Block, name: &str) -> Option<String> {
    block.schema.as_ref().and_then(|_| block.site.url(&block.site.own(name)))
}

/// Returns the candidate URLs of a register.
fn candidates(named: &str) -> Vec<String> {
    let folder = named.trim_end_matches('/');
    match named.ends_with(".json") {
        true => vec![named.to_owned()],
        false => vec![format!("{folder}/build/register.json"), format!("{folder}/register.json"), named.to_owned()],
    }
}

/// Returns the URLs of a published block's schema in each of its forms.
fn schema_urls(block: &Value) -> impl Iterator<Item = &str> {
    let form = |name| block.get("schema")?.get(name)?.as_str();
    let one = block.get("schema").and_then(Value::as_str);
    one.into_iter().chain(form("application/yaml")).chain(form("application/json"))
}

/// Formats a URI for messages.
pub fn shown(uri: &str) -> String {
    uri.strip_prefix(ROOT).map_or_else(|| uri.to_owned(), percent_decode)
}

/// Returns the URI of a file in the library's folder.
pub fn uri(file: &str) -> String {
    format!("{ROOT}{}", percent_encode(file))
}
