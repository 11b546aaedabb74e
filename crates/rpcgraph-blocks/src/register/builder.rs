//! One block of a register in the making: runs its examples and tests, and adds its own files.

mod runs;

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::block::{Block, named_file};
use super::dependencies::{InheritedParts, file_uris, referring, shape_uris};
use super::error::{BLOCK, BlockError, with_causes};
use super::item::ItemRunner;
use super::library::{Library, published, shown, uri};
use super::options::RegisterOptions;
use super::output::{Files, lines};
use super::page::page;
use super::references::{block_reference, identifiers, point, split};
use super::report::BlockReport;
use super::sandbox::Sandbox;
use super::schema::Schemas;
use super::shapes::Shapes;
use super::site::{CATALOGUE, REPORTS, RegisterPaths, is_web};
use super::steps::Program;
use super::uplift::Uplifter;
use super::view::BlockView;
use super::{catalogue, properties, terms, yaml};
use crate::json::without_nulls;

/// The part of a register that comes from one block.
pub struct BlockPart {
    pub files: Files,
    pub report: BlockReport,
    pub notes: Vec<String>,
    /// The path of its report.
    pub report_path: String,
    /// Its entry in `register.json`.
    pub entry: Value,
    /// Its description for the catalogue.
    pub described: Value,
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
            is_incomplete: block.lacks_context,
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
        let shapes: Vec<_> = shape_uris(block).into_iter().chain(shapes).collect();
        match Shapes::open(&shapes, &file_uris(block, &block.closures), library) {
            Ok(shapes) => builder.runner.shapes = shapes,
            Err(error) => builder.errors.push(error),
        }
        builder.notes.extend(builder.runner.shapes.notes());
        builder.notes.extend(unknown_blocks(block, library));
        builder.notes.extend(block.transforms.iter().filter_map(Program::unsupported));
        if options.strict { &mut builder.view.report.errors } else { &mut builder.notes }.extend(clashes);
        builder.finish()
    }

    /// Finds the block's context: the context made from its annotated schema, or, without a schema, the context that its
    /// author wrote. Returns the terms that its schemas define differently, and what is wrong with a context that only
    /// annotates the schema.
    fn open_context(&mut self) -> Vec<String> {
        let block = self.view.block;
        let site = &block.site;
        let (mut built, mut clashes) = (None, Vec::new());
        match block.schema.as_ref().map(|uri| terms::context(self.library, uri)) {
            Some(Ok(found)) => {
                self.runner.is_incomplete |= !found.lacking.is_empty();
                self.errors.extend(found.lacking.into_values().map(BlockError::Unusable));
                clashes = found.clashes;
                built = (!found.context.is_empty()).then_some(Value::Object(found.context));
                let refused = block.context.clone().and_then(|context| self.runner.uplifter.allowed(context).err());
                clashes.extend(refused.map(|error| with_causes(&error)));
            }
            Some(Err(error)) => {
                self.runner.is_incomplete = true;
                self.errors.push(error);
            }
            None => built.clone_from(&block.context),
        }
        let own = site.own("context.jsonld");
        if let Some(context) = built {
            let reference = site.reference_from(&site.test(""), &own);
            self.errors.extend(self.runner.uplifter.set_context(context, reference).err());
            self.view.context = Some(site.reference(&own));
        }
        clashes
    }

    /// Runs the examples and tests, and returns the part.
    fn finish(mut self) -> BlockPart {
        self.add_examples();
        self.add_tests();
        for item in &self.view.report.items {
            let result = item.verdict().name();
            let stem = item.file.rsplit_once('.').map_or(item.file.as_str(), |(stem, _)| stem);
            self.view.files.insert(format!("{stem}.validation_{result}.txt"), self.view.report.text(item));
        }
        if let Err(error) = self.add_own_files() {
            self.errors.push(error);
        }
        for error in self.errors.iter().map(|error| with_causes(error)) {
            if !self.view.report.errors.contains(&error) {
                self.view.report.errors.push(error);
            }
        }
        self.add(&self.view.block.site.test("_report.json"), lines(&self.view.report.to_json()));
        let page = page(&self.view);
        self.add(&self.view.block.site.page(), page);
        let entry = self.entry();
        let full = lines(&self.full_entry(entry.clone()));
        self.add(&self.view.block.site.json_full(), full);
        let described = catalogue::block(&self.view, &entry);
        let BlockView { block, files, report, .. } = self.view;
        let report_path = block.site.test("_report.json");
        BlockPart { files, report, notes: self.notes, report_path, entry, described }
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
            let text = lines(&json!({ "@context": self.runner.uplifter.context.value() }));
            self.add_linked("JSON-LD context", site.own("context.jsonld"), text);
        }
        self.add_annotated(site);
        if site.source("").is_none() {
            let used = self.runner.schemas.files.iter().filter(|uri| self.library.block_of(uri).is_none()).cloned();
            for uri in used.chain(shape_uris(block)).filter(|uri| self.library.is_local(uri)).collect::<Vec<_>>() {
                // A file that cannot be read is reported where it is used.
                if let Ok(text) = self.library.text(&uri, BLOCK) {
                    self.add(&site.own(&shown(&uri)), text);
                }
            }
        }
        if let Some(file) = &block.openapi_file {
            self.add_openapi(file)?;
        }
        if let Some(ontology) = &block.ontology {
            self.add_linked("ontology", site.own("ontology.ttl"), ontology.clone());
        }
        self.view.links.extend([
            ("report, for people", REPORTS[0].to_owned()),
            ("report, for programs", site.test("_report.json")),
            ("examples, as RDF", CATALOGUE.to_owned()),
        ]);
        Ok(())
    }

    /// Adds the annotated schema, with references that lead to published URLs.
    fn add_annotated(&mut self, site: &RegisterPaths) {
        let Some(uri) = &self.view.block.schema else { return };
        let Ok(schema) = self.library.annotated(uri) else { return };
        if let Ok(text) = yaml::write(&self.with_published_references(&schema, uri, "schema.yaml")) {
            self.add_linked("JSON Schema", site.own("schema.yaml"), text);
        }
        let json = self.with_published_references(&schema, uri, "schema.json");
        self.add_linked("JSON Schema, as JSON", site.own("schema.json"), lines(&json));
        if let Some(properties) = properties::resolved(self.library, uri) {
            self.add(&site.own("resolvedProperties.json"), lines(&properties));
        }
    }

    /// Adds the OpenAPI document.
    fn add_openapi(&mut self, file: &str) -> Result<(), BlockError> {
        let block = self.view.block;
        let uri = uri(&format!("{}{file}", block.below));
        let document = self.library.document(&uri, BLOCK)?;
        let document = self.with_published_references(&document, &uri, "schema.yaml");
        let text = yaml::write(&document).map_err(|error| BlockError::syntax(file, error))?;
        self.add_linked("OpenAPI document", block.site.own("openapi.yaml"), text);
        Ok(())
    }

    /// Copies a document at a URI, with references that lead to published URLs. For schemas of blocks, these are the
    /// files `name`.
    fn with_published_references(&self, document: &Value, uri: &str, name: &str) -> Value {
        let mut document = document.clone();
        point(&mut document, &mut |reference| {
            let (path, fragment) = split(reference);
            let target = self.library.resolve(uri, path).ok().filter(|_| !path.is_empty())?;
            let json = || self.library.imported_json(&target).filter(|_| name.ends_with(".json"));
            let url = match self.library.block_of(&target) {
                // Without a base, this is the only block.
                Some(block) => published(block, name).unwrap_or_else(|| name.to_owned()),
                None => json().map_or_else(|| self.published(&target, name), str::to_owned),
            };
            Some(if reference.contains('#') { format!("{url}#{fragment}") } else { url })
        });
        document
    }

    /// Returns the published URL of a document of the library: in the sources, or else of the block's copy, by the path
    /// from its file `from`.
    fn published(&self, uri: &str, from: &str) -> String {
        let site = &self.view.block.site;
        let file =
            || site.source(&shown(uri)).unwrap_or_else(|| site.reference_from(&site.own(from), &site.own(&shown(uri))));
        if self.library.is_local(uri) { file() } else { uri.to_owned() }
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
        let forms = [("schema.yaml", "yaml"), ("schema.yml", "yaml"), ("schema.json", "json")].into_iter();
        let forms = forms.filter(|(file, _)| self.view.files.contains_key(&site.own(file)));
        let schema: Map<_, _> = forms.map(|(file, form)| (format!("application/{form}"), own(file).into())).collect();
        entry["schema"] = Some(schema).filter(|schema| !schema.is_empty()).into();
        entry["ldContext"] = json!(self.view.context);
        for (name, file) in [("openAPIDocument", "openapi.yaml"), ("ontology", "ontology.ttl")] {
            let elsewhere = || metadata[name].as_str().filter(|url| is_web(url)).map(str::to_owned);
            let is_own = self.view.files.contains_key(&site.own(file));
            entry[name] = is_own.then(|| own(file)).or_else(elsewhere).into();
        }
        entry["testOutputs"] = (!report.items.is_empty()).then(|| site.reference(&site.test(""))).into();
        entry["validationPassed"] = report.verdict().is_pass().into();
        if let Value::Object(entry) = &mut entry {
            entry.extend(self.further_entry());
            let entries = metadata.as_object().into_iter().flatten();
            for (name, value) in entries.filter(|(name, _)| !name.starts_with('$') && *name != "shaclRules") {
                let refers = ["isProfileOf", "extends", "extensionPoints"].contains(&name.as_str());
                let value = if refers { referring(value) } else { value.clone() };
                entry.entry(name).or_insert(value);
            }
        }
        without_nulls(entry)
    }

    /// Returns the entries about transforms, sources, shapes and further files.
    fn further_entry(&self) -> Map<String, Value> {
        const RESOLVED: &str = "resolvedProperties.json";
        let BlockView { block, report, files, .. } = &self.view;
        let site = &block.site;
        let transforms: Vec<_> =
            block.transforms.iter().map(|transform| transform.transform_entry(|file| self.source(file))).collect();
        let own = shape_uris(block);
        let own = (!own.is_empty()).then_some((&report.id, &own));
        let of = |(id, files): (&String, &Vec<String>)| {
            (id.clone(), files.iter().map(|uri| self.published(uri, "")).collect())
        };
        let shapes: Map<_, _> = self.inherited.shapes.iter().chain(own).map(of).collect();
        let source = |file: Option<&str>, entry: &str| {
            file.map(str::to_owned).or_else(|| named_file(&block.metadata, entry)).and_then(|file| self.source(&file))
        };
        let depends_on: Vec<_> = self.inherited.depends_on.iter().map(|id| block_reference(id)).collect();
        let page = |media: &str, path: String| json!({ "mediatype": media, "url": site.reference(&path) });
        let entry = json!({
            "resolvedSchemaProperties": files.get(&site.own(RESOLVED)).map(|_| site.reference(&site.own(RESOLVED))),
            "sourceOpenAPIDocument": block.openapi_file.as_ref().and_then(|file| self.source(file)),
            "sourceSchema": source(block.schema_file, "schema"),
            "sourceLdContext": source(block.context_file, "ldContext"),
            "sourceFiles": self.source(""),
            "shaclShapes": shapes,
            "dependsOn": Some(depends_on).filter(|ids| !ids.is_empty()),
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
        if let Some(description) = &block.description {
            full["description"] = description.clone().into();
        }
        full["examplePrefixes"] = Some(&block.examples.prefixes)
            .filter(|prefixes| !prefixes.is_empty())
            .map(|prefixes| json!(prefixes))
            .into();
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

/// Returns a note for each block that the metadata name and that is not there.
fn unknown_blocks(block: &Block, library: &Library) -> impl Iterator<Item = String> {
    let named = ["isProfileOf", "dependsOn"].iter().filter_map(|entry| block.metadata.get(entry)).flat_map(identifiers);
    let unknown = named.filter(|id| library.has_schema(id).is_none());
    unknown.map(|id| with_causes(&library.unknown(&block_reference(id), "bblock.json")))
}
