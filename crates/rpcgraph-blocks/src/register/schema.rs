//! The JSON Schemas of a block: resolves references to parts of documents, and validates values.
//!
//! Schemas are documents of the library, in YAML or JSON, of any draft from 4 to 2020-12.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use boon::Draft;
use serde_json::Value;

use super::block::Block;
use super::error::{BlockError, with_causes};
use super::library::{BY_SCHEMA, Library, shown, uri};
use super::references::{is_without_anchors, percent_decode, percent_encode, point, split};
use super::sandbox::Sandbox;
use crate::schema::mark_undecidable;
pub use crate::schema::{UnusableSchema, Validity};

/// The URI of a schema, and its path and fragment for people.
type SchemaTarget = (String, String);

/// The schemas of a block.
pub struct Schemas<'b> {
    library: &'b Library,
    sandbox: &'b RefCell<Sandbox>,
    /// URI of the block's folder.
    folder: String,
    /// URI of the block's own schema.
    own: Option<String>,
    /// The schema of each prepared reference, or the reason why it cannot be used.
    targets: BTreeMap<String, Result<SchemaTarget, String>>,
    /// The documents that were read.
    pub files: BTreeSet<String>,
    /// Notes on the parts of schemas that are ignored.
    pub notes: BTreeSet<String>,
}

impl<'b> Schemas<'b> {
    /// Creates the schemas of a block of the library.
    pub fn new(library: &'b Library, sandbox: &'b RefCell<Sandbox>, block: &Block) -> Self {
        let (folder, own, targets) = (uri(&block.below), block.schema.clone(), BTreeMap::new());
        Self { library, sandbox, folder, own, targets, files: BTreeSet::new(), notes: BTreeSet::new() }
    }

    /// Resolves a reference and compiles its schema. The empty reference leads to the block's own schema, if there is
    /// one. `by` names the origin of the reference, for messages.
    pub fn prepare(&mut self, reference: &str, by: &str) -> Result<(), BlockError> {
        if self.targets.contains_key(reference) || (reference.is_empty() && self.own.is_none()) {
            return Ok(());
        }
        // The reason is an error of the block, and is not repeated for each example.
        let unusable = || Err("the block's schema cannot be used".to_owned());
        if reference.starts_with('#') && self.targets.get("").is_some_and(Result::is_err) {
            self.targets.insert(reference.to_owned(), unusable());
            return Ok(());
        }
        let prepared = self.prepared(reference, by);
        let target = match &prepared {
            Err(_) if reference.is_empty() => unusable(),
            Err(error) => Err(with_causes(error)),
            Ok(target) => Ok(target.clone()),
        };
        self.targets.insert(reference.to_owned(), target);
        prepared.map(drop)
    }

    /// Returns the file's path and the fragment of a reference's target, percent-decoded for people.
    pub fn shown(&self, reference: &str) -> Option<String> {
        self.targets.get(reference)?.as_ref().ok().map(|(_, shown)| shown.clone())
    }

    fn prepared(&mut self, reference: &str, by: &str) -> Result<SchemaTarget, BlockError> {
        let no_file = || format!("schema-ref {reference:?} needs a file before `#`: the building block lacks a schema");
        let (file, fragment) = (split(reference).0, percent_decode(split(reference).1));
        let in_folder = |_| format!("{}{}", self.folder, percent_encode(file));
        let uri = match file {
            "" => self.own.clone().ok_or_else(|| BlockError::unusable(by, no_file()))?,
            file => self.library.resolve(&self.folder, file).unwrap_or_else(in_folder),
        };
        let document = self.library.document(&uri, by)?;
        self.collect(&uri)?;
        let pointer = self.library.pointer(&uri, &document, &fragment);
        let pointer = pointer.map_err(|message| BlockError::unusable(by, format!("{}: {message}", shown(&uri))))?;
        let target = format!("{uri}#{}", percent_encode(&pointer));
        if let Err(UnusableSchema { uri: at, why, .. }) = self.sandbox.borrow_mut().compile(&target) {
            // A document that cannot be read gives its own error.
            self.library.document(&at, BY_SCHEMA)?;
            return Err(BlockError::unusable(&shown(&at), why));
        }
        let fragment = if fragment.is_empty() { fragment } else { format!("#{fragment}") };
        Ok((target, format!("{}{fragment}", shown(&uri))))
    }

    /// Adds a document to the sandbox, and the documents of the library that its references lead to.
    fn collect(&mut self, uri: &str) -> Result<(), BlockError> {
        let mut next = vec![uri.to_owned()];
        while let Some(uri) = next.pop() {
            if !self.files.insert(uri.clone()) {
                continue;
            }
            let source = self.library.document(&uri, BY_SCHEMA)?;
            let mut schema = (*source).clone();
            point(&mut schema, &mut |reference| {
                // A reference that cannot be followed stays as it is: it may be data, and otherwise fails when the
                // validator follows it.
                let found = self.library.follow(&uri, reference, BY_SCHEMA).ok()?;
                let (path, mut fragment) = (split(reference).0, split(reference).1.to_owned());
                if !fragment.is_empty() && !fragment.starts_with('/') && is_without_anchors(&found.document) {
                    fragment = percent_encode(&found.pointer.ok()?).to_string();
                }
                let target = if path.is_empty() { String::new() } else { found.uri };
                let whole = format!("{target}#{fragment}");
                next.extend(Some(target).filter(|target| !target.is_empty()));
                Some(whole)
            });
            self.simplify(&uri, &mut schema);
            self.sandbox.borrow_mut().documents.insert(uri, schema);
        }
        Ok(())
    }

    /// Removes or marks the keywords that the validator does not support, and notes them.
    fn simplify(&mut self, uri: &str, schema: &mut Value) {
        let draft = schema.get("$schema").filter(|draft| draft.as_str().and_then(Draft::from_url).is_none()).cloned();
        if let (Some(draft), Some(entries)) = (draft, schema.as_object_mut()) {
            entries.shift_remove("$schema");
            let note = format!("{}: $schema {draft} is not a known draft; 2020-12 is used", shown(uri));
            self.notes.insert(note);
        }
        let notes = mark_undecidable(schema).into_iter();
        self.notes
            .extend(notes.map(|condition| format!("{}: {condition} is not supported, and not checked", shown(uri))));
    }

    /// Validates a value against the schema of a prepared reference; `None` if it was not prepared.
    pub fn validate(&self, reference: &str, value: &Value) -> Option<Validity> {
        Some(match self.targets.get(reference)? {
            Ok((target, _)) => self.sandbox.borrow_mut().validate(target, value),
            Err(why) => Validity::Unknown(why.clone()),
        })
    }
}
