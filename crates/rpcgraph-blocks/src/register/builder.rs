//! One block of a register in the making: runs its examples and tests, and adds its own files.

mod runs;

use std::cell::RefCell;
use std::collections::BTreeMap;

use oxrdf::Triple;
use serde_json::{Map, Value, json};

use super::block::Block;
use super::catalogue::catalogue;
use super::dependencies::{InheritedParts, referring, shape_uris};
use super::error::{BLOCK, BlockError, with_causes};
use super::item::ItemRunner;
use super::library::{Library, published, shown};
use super::options::RegisterOptions;
use super::output::{Files, lines};
use super::page::page;
use super::references::{block_reference, identifiers, point, split};
use super::report::BlockReport;
use super::sandbox::Sandbox;
use super::schema::Schemas;
use super::shapes::Shapes;
use super::site::RegisterPaths;
use super::uplift::Uplifter;
use super::view::BlockView;
use super::{terms, yaml};
use crate::json::without_nulls;

/// The part of a register that comes from one block.
pub struct BlockPart {
    pub files: Files,
    pub report: BlockReport,
    pub notes: Vec<String>,
    /// Errors in the block itself, rather than in an example.
    pub errors: Vec<BlockError>,
    /// Its entry in `register.json`.
    pub entry: Value,
    /// Its part of the catalogue.
    pub triples: Vec<Triple>,
}

/// Builds the part of one block.
pub struct BlockBuilder<'b> {
    view: BlockView<'b>,
    runner: ItemRunner<'b>,
    library: &'b Library,
    inherited: InheritedParts,
    notes: Vec<String>,
    errors: Vec<BlockError>,
    /// The examples and tests that write files, by file name without extension. Names are in lower case, since some
    /// file systems ignore case.
    writers: BTreeMap<String, String>,
}

impl<'b> BlockBuilder<'b> {
    /// Builds the part of a block, whose references are resolved in a library, with the dependencies that it inherits.
    pub fn build(
        block: &'b Block,
        inherited: InheritedParts,
        library: &'b Library,
        sandbox: &'b RefCell<Sandbox>,
        options: &RegisterOptions,
    ) -> BlockPart {
        let place = block.folder.path().join(block.examples_file.as_deref().unwrap_or("examples.yaml"));
        let runner = ItemRunner {
            block,
            uplifter: Uplifter::new(place, library),
            schemas: Schemas::new(library, sandbox, block),
            sandbox,
            shapes: Shapes::default(),
            lacking: Vec::new(),
            strict: options.strict,
        };
        let report = BlockReport {
            id: block.identifier.clone(),
            name: block.name().to_owned(),
            generated: options.generated.clone(),
            items: Vec::new(),
            errors: block.errors.iter().map(|error| with_causes(error)).collect(),
        };
        let view =
            BlockView { block, context: None, files: Files::new(), report, shown: Vec::new(), links: Vec::new() };
        let (notes, errors, writers) = (block.notes.clone(), Vec::new(), BTreeMap::new());
        let mut builder = Self { view, runner, library, inherited, notes, errors, writers };
        let clashes = builder.open_context();
        builder.errors.extend(builder.runner.schemas.prepare("", BLOCK).err());
        builder.notes.extend(builder.runner.schemas.notes.iter().cloned());
        let shapes = builder.inherited.shapes.values().flatten().cloned();
        match Shapes::open(&shape_uris(block).into_iter().chain(shapes).collect::<Vec<_>>(), library) {
            Ok(shapes) => builder.runner.shapes = shapes,
            Err(error) => builder.errors.push(error),
        }
        builder.notes.extend(builder.runner.shapes.notes());
        if options.strict { &mut builder.view.report.errors } else { &mut builder.notes }.extend(clashes);
        builder.finish()
    }

    /// Finds the block's context. A block that stands alone uses the context that its author wrote; any other block, or
    /// a block without such a context, uses the context made from its annotated schema. Returns the terms that its
    /// schemas define differently.
    fn open_context(&mut self) -> Vec<String> {
        let block = self.view.block;
        let site = &block.site;
        let by_hand = site.is_alone() && block.context_file.is_some();
        let (mut built, mut clashes) = (None, Vec::new());
        match block.schema.as_ref().filter(|_| !by_hand).map(|uri| terms::context(self.library, uri)) {
            Some(Ok(found)) => {
                self.runner.lacking.extend(found.lacking.into_values());
                clashes = found.clashes;
                built = (!found.context.is_empty()).then_some(Value::Object(found.context));
            }
            Some(Err(error)) => {
                self.runner.lacking.push(error.to_string());
                self.errors.push(error);
            }
            None => built.clone_from(&block.context),
        }
        self.runner.lacking.extend(block.context_error.clone());
        let own = site.own("context.jsonld");
        let published =
            site.url(&own).or_else(|| block.metadata["ldContext"].as_str().filter(|_| by_hand).map(str::to_owned));
        if let Some(context) = built {
            let reference = published.clone().unwrap_or_else(|| site.reference_from_test(&own));
            self.errors.extend(self.runner.uplifter.set_context(context, reference).err());
            self.view.context = Some(published.unwrap_or_else(|| site.reference(&own)));
        }
        clashes
    }

    /// Runs the examples and tests, and returns the part.
    fn finish(mut self) -> BlockPart {
        self.add_examples();
        self.add_tests();
        for item in &self.view.report.items {
            let result = if item.passed() { "passed" } else { "failed" };
            let stem = item.file.rsplit_once('.').map_or(item.file.as_str(), |(stem, _)| stem);
            self.view.files.insert(format!("{stem}.validation_{result}.txt"), self.view.report.text(item));
        }
        if let Err(error) = self.add_own_files() {
            self.errors.push(error);
        }
        self.view.report.errors.extend(self.errors.iter().map(|error| with_causes(error)));
        self.add(&self.view.block.site.test("_report.json"), lines(&self.view.report.to_json()));
        let page = page(&self.view);
        self.add(&self.view.block.site.page(), page);
        let entry = self.entry();
        if !self.view.block.site.is_alone() {
            let full = lines(&self.full_entry(entry.clone()));
            self.add(&self.view.block.site.json_full(), full);
        }
        let triples = catalogue(&self.view);
        let BlockView { files, report, .. } = self.view;
        BlockPart { files, report, notes: self.notes, errors: self.errors, entry, triples }
    }

    fn add(&mut self, path: &str, text: String) {
        self.view.files.insert(path.to_owned(), text);
    }

    /// Adds a file that the page links to by `name`.
    fn add_linked(&mut self, name: &'static str, path: String, text: String) {
        self.add(&path, text);
        self.view.links.push((name, path));
    }

    /// Adds the block's own files.
    fn add_own_files(&mut self) -> Result<(), BlockError> {
        let block = self.view.block;
        let site = &block.site;
        if self.view.context.is_some() {
            let context = self.runner.uplifter.context.value();
            let by_hand = block.context_file.filter(|_| site.is_alone());
            let text = by_hand.map(|file| block.folder.read(file, BLOCK)).transpose()?.unwrap_or_default();
            // A context with references to other files is written out, since its references would be broken in the
            // register.
            let unchanged =
                serde_json::from_str::<Value>(&text).is_ok_and(|document| document.get("@context") == Some(context));
            let text = if unchanged { text } else { lines(&json!({ "@context": context })) };
            self.add_linked("JSON-LD context", site.own("context.jsonld"), text);
        }
        match site.is_alone() {
            true => self.add_schemas(site)?,
            false => self.add_annotated(site),
        }
        if let Some(ontology) = &block.ontology {
            self.add_linked("ontology", site.own("ontology.ttl"), ontology.clone());
        }
        let [report, _, catalogue] = site.overview().map(str::to_owned);
        let own_report = ("report, for programs", site.test("_report.json"));
        self.view.links.extend([("report, for people", report), own_report, ("examples, as RDF", catalogue)]);
        Ok(())
    }

    /// Adds the schemas as their author wrote them.
    fn add_schemas(&mut self, site: &RegisterPaths) -> Result<(), BlockError> {
        for uri in std::mem::take(&mut self.runner.schemas.files) {
            if !self.library.is_local(&uri) {
                continue;
            }
            let file = shown(&uri);
            let text = self.view.block.folder.read(&file, BLOCK)?;
            if Some(file.as_str()) != self.view.block.schema_file {
                self.add(&site.own(&file), text);
                continue;
            }
            self.add_linked("JSON Schema", site.own(&file), text);
            if !file.ends_with(".json") {
                let text = lines(&*self.library.document(&uri, BLOCK)?);
                self.add_linked("JSON Schema, as JSON", site.own("schema.json"), text);
            }
        }
        Ok(())
    }

    /// Adds the annotated schema, with references that lead to published URLs.
    fn add_annotated(&mut self, site: &RegisterPaths) {
        let Some(uri) = &self.view.block.schema else { return };
        let Ok(schema) = self.library.annotated(uri) else { return };
        let mut schema = (*schema).clone();
        point(&mut schema, &mut |reference| {
            let (path, fragment) = split(reference);
            let target = self.library.resolve(uri, path).ok().filter(|_| !path.is_empty())?;
            let url = match self.library.block_of(&target) {
                Some(block) => published(block)?,
                None => self.published(&target)?,
            };
            Some(if reference.contains('#') { format!("{url}#{fragment}") } else { url })
        });
        if let Ok(text) = yaml::write(&schema) {
            self.add_linked("JSON Schema", site.own("schema.yaml"), text);
        }
        self.add_linked("JSON Schema, as JSON", site.own("schema.json"), lines(&schema));
    }

    /// Returns the published URL of a document of the library.
    fn published(&self, uri: &str) -> Option<String> {
        if self.library.is_local(uri) { self.view.block.site.source(&shown(uri)) } else { Some(uri.to_owned()) }
    }

    /// Returns the block's entry in `register.json`.
    fn entry(&self) -> Value {
        let BlockView { block, report, .. } = &self.view;
        let site = &block.site;
        let metadata = &block.metadata;
        let own = |name: &str| site.reference(&site.own(name));
        let mut entry = json!({
            "itemIdentifier": report.id,
            "name": block.name(),
        });
        let texts = ["title", "abstract", "description", "status", "version", "itemClass"];
        for name in texts.into_iter().chain(["dateTimeAddition", "dateOfLastChange"]) {
            entry[name] = json!(metadata.get(name));
        }
        entry["ldContext"] = json!(self.view.context);
        entry["ontology"] = json!(block.ontology.as_ref().map(|_| own("ontology.ttl")));
        entry["testOutputs"] = site.reference(&site.test("")).into();
        entry["dependsOn"] = json!(metadata.get("dependsOn").filter(|blocks| !identifiers(blocks).is_empty()));
        entry["validationPassed"] = report.is_success().into();
        if site.is_alone() {
            entry["license"] = json!(metadata.get("license"));
        } else if let Value::Object(entry) = &mut entry {
            entry.extend(self.repository_entry());
            let entries = metadata.as_object().into_iter().flatten();
            for (name, value) in entries.filter(|(name, _)| !name.starts_with('$') && *name != "shaclRules") {
                let refers = ["isProfileOf", "extends", "extensionPoints"].contains(&name.as_str());
                let value = if refers { referring(value) } else { value.clone() };
                entry.entry(name).or_insert(value);
            }
        }
        without_nulls(entry)
    }

    /// Returns the entries that only the register of a repository has.
    fn repository_entry(&self) -> Map<String, Value> {
        let BlockView { block, report, .. } = &self.view;
        let site = &block.site;
        let own = |name: &str| site.reference(&site.own(name));
        let schema = || json!({ "application/yaml": own("schema.yaml"), "application/json": own("schema.json") });
        let transforms: Vec<_> =
            block.transforms.iter().map(|transform| transform.transform_entry(|file| self.source(file))).collect();
        let own = shape_uris(block);
        let own = (!own.is_empty()).then_some((&report.id, &own));
        let of = |(id, files): (&String, &Vec<String>)| {
            (id.clone(), files.iter().filter_map(|uri| self.published(uri)).collect())
        };
        let shapes: Map<_, _> = self.inherited.shapes.iter().chain(own).map(of).collect();
        let page = |media: &str, path: String| json!({ "mediatype": media, "url": site.reference(&path) });
        let entry = json!({
            "schema": block.schema.as_ref().map(|_| schema()),
            "sourceSchema": block.schema_file.and_then(|file| self.source(file)),
            "sourceLdContext": block.context_file.and_then(|file| self.source(file)),
            "sourceFiles": self.source(""),
            "shaclShapes": shapes,
            "dependsOn": self.inherited.depends_on.iter().map(|id| block_reference(id)).collect::<Vec<_>>(),
            "transforms": Some(transforms).filter(|transforms| !transforms.is_empty()),
            "sources": block.metadata.get("sources"),
            "documentation": {
                "markdown": page("text/markdown", site.page()),
                "json-full": page("application/json", site.json_full()),
            },
        });
        if let Value::Object(entry) = entry { entry } else { Map::new() }
    }

    /// Returns the entry with everything that the register of a repository has for the block.
    fn full_entry(&self, mut full: Value) -> Value {
        let BlockView { block, shown, files, .. } = &self.view;
        let text = |name: &str| files.get(&block.site.own(name)).cloned();
        full["annotatedSchema"] = text("schema.yaml").into();
        full["jsonldContext"] = text("context.jsonld").into();
        full["descriptionMarkdown"] = block.description.clone().into();
        full["examples"] = shown.iter().map(|shown| shown.full.clone()).collect();
        let steps: Vec<_> = block.steps.iter().map(|step| step.step_entry(|file| self.source(file))).collect();
        full["semanticUplift"] = (!steps.is_empty()).then(|| json!({ "additionalSteps": steps })).into();
        without_nulls(full)
    }

    /// Returns the URL of a file of the block's sources.
    fn source(&self, file: &str) -> Option<String> {
        self.view.block.site.source(&format!("{}{file}", self.view.block.below))
    }
}
