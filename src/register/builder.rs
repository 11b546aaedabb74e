//! The register of one block in the making: its examples and tests are run, its own files put beside them.

mod runs;

use std::collections::BTreeMap;
use std::error::Error;
use std::rc::Rc;

use serde_json::{Value, json};

use super::block::{BLOCK, Block};
use super::catalogue::catalogue;
use super::dependencies::{reference, referring, shape_uri};
use super::examples::Example;
use super::html::html;
use super::item::{Done, Runner};
use super::library::{Library, shown, uri};
use super::output::{Files, Product};
use super::page::page;
use super::references::point;
use super::report::{Report, without_nulls};
use super::schema::Schemas;
use super::shapes::Shapes;
use super::site::Site;
use super::uplift::Uplifter;
use super::{BlockError, Register, RegisterOptions, lines, terms, yaml};
use crate::worker::Worker;

/// An example, and the outcome of each of its snippets.
#[derive(Debug)]
pub struct Shown<'b> {
    /// From 1.
    number: usize,
    pub example: &'b Example,
    pub results: Vec<Done>,
    /// The example as registers show it: with what was made of its snippets.
    full: Value,
}

/// What one block adds to the register of its repository.
#[derive(Debug)]
pub struct BlockPart {
    pub files: Files,
    pub report: Report,
    pub notes: Vec<String>,
    /// Its entry in `register.json`.
    pub entry: Value,
    /// Its part of the catalogue.
    pub triples: Vec<oxrdf::Triple>,
}

impl Shown<'_> {
    /// Name of the example in URLs.
    pub fn key(&self) -> String {
        format!("example_{}", self.number)
    }

    pub fn title(&self) -> String {
        self.example.title.clone().unwrap_or_else(|| format!("Example {}", self.number))
    }
}

/// A register in the making, from which the page and the catalogue are made.
pub struct RegisterBuilder<'b> {
    pub block: &'b Block,
    pub runner: Runner,
    library: Rc<Library>,
    /// Name of the published schema's file.
    pub schema_file: Option<&'static str>,
    /// Where the context is, seen from the top of the register.
    pub context: Option<String>,
    pub files: Files,
    pub report: Report,
    pub shown: Vec<Shown<'b>>,
    /// Paths that the page links to, with what they are called.
    pub links: Vec<(&'static str, String)>,
    notes: Vec<String>,
    /// What is wrong with the block itself.
    errors: Vec<BlockError>,
    /// The writers of files, by name in lower case without the extension: some file systems do not tell them apart.
    writers: BTreeMap<String, String>,
}

impl<'b> RegisterBuilder<'b> {
    /// Begins the register of a block, whose references lead into a library.
    pub fn open(block: &'b Block, site: Site, library: Rc<Library>, options: &RegisterOptions) -> Self {
        let mut errors = Vec::new();
        let below = &block.below;
        let schema_uri = match block.schema_file {
            Some(file) => Some(uri(&format!("{below}{file}"))),
            None => library.block(&block.identifier).and_then(|block| block.schema.clone()),
        };
        let (mut built, mut lacking, mut clashes) = (None, Vec::new(), Vec::new());
        match &schema_uri {
            // What its author wrote is the context of a block that stands alone.
            Some(uri) if site.is_repository() || block.context_file.is_none() => match terms::context(&library, uri) {
                Ok(found) => {
                    lacking.extend(found.lacking.into_values());
                    clashes = found.clashes;
                    built = (!found.context.is_empty()).then_some(Value::Object(found.context));
                }
                Err(error) => {
                    lacking.push(error.to_string());
                    errors.push(error);
                }
            },
            _ => built = library.block(&block.identifier).and_then(|block| block.context.clone()),
        }
        lacking.extend(block.context_error.clone());
        let by_hand = !site.is_repository() && block.context_file.is_some();
        let own = site.own("context.jsonld");
        let published = site.url(&own).or_else(|| block.metadata.ld_context.clone().filter(|_| by_hand));
        let has_context = by_hand || built.is_some();
        let context = has_context.then(|| published.clone().unwrap_or_else(|| site.reference(&own)));
        let reference = published.unwrap_or_else(|| site.reference_from_test(&own));
        let mut uplifter = Uplifter::new(block, Rc::clone(&library));
        errors.extend(built.and_then(|built| uplifter.set_context(built, reference).err()));
        let worker = || options.worker.clone().map(Worker::new);
        let schemas = Schemas::open(Rc::clone(&library), below, schema_uri.clone(), worker()).unwrap_or_else(|error| {
            let schemas = Schemas::unusable(Rc::clone(&library), below, Some(error.to_string()), worker());
            errors.push(error);
            schemas
        });
        let shapes = Shapes::open(block, &library).unwrap_or_else(|error| {
            errors.push(error);
            Shapes::default()
        });
        let mut notes = [block.notes.clone(), schemas.notes(), shapes.notes()].concat();
        if !options.strict {
            notes.append(&mut clashes);
        }
        let schema_file = match site.is_repository() {
            true => schema_uri.is_some().then_some("schema.yaml"),
            false => block.schema_file,
        };
        let report = Report {
            id: block.identifier.clone(),
            name: block.name().to_owned(),
            generated: options.generated.clone(),
            items: Vec::new(),
            errors: clashes,
        };
        Self {
            block,
            runner: Runner {
                site,
                uplifter,
                schemas,
                shapes,
                lacking,
                steps: block.steps.clone(),
                strict: options.strict,
            },
            library,
            schema_file,
            context,
            files: Files::new(),
            report,
            shown: Vec::new(),
            links: Vec::new(),
            notes,
            errors,
            writers: BTreeMap::new(),
        }
    }

    /// Makes the register of a block that stands alone.
    pub fn alone(mut self) -> Result<Register, BlockError> {
        if !self.errors.is_empty() {
            return Err(self.errors.swap_remove(0));
        }
        self.fill()?;
        let path = self.site().reference(&self.site().test("_report.json"));
        self.add("report.json", lines(&Report::summary([(&self.report, path)].into_iter())));
        self.add("report.html", html(&[&self.report], &self.site().title(self.block.name())));
        self.add("index.md", page(&self));
        self.add("examples.ttl", super::catalogue::text(&catalogue(&self)));
        self.add_marker();
        Ok(Register { files: self.files, report: self.report, notes: self.notes })
    }

    /// Makes the part of one block in the register of a repository.
    pub fn within(mut self) -> BlockPart {
        if let Err(error) = self.fill() {
            self.errors.push(error);
            self.links.clear();
        }
        self.report.errors.extend(self.errors.iter().map(|error| said(error)));
        self.add_report();
        let page = page(&self);
        let path = self.site().page();
        self.add(&path, page);
        let entry = self.entry();
        let mut full = entry.clone();
        let text = |name: &str| self.files.get(&self.site().own(name)).cloned();
        full["annotatedSchema"] = text("schema.yaml").into();
        full["jsonldContext"] = text("context.jsonld").into();
        full["descriptionMarkdown"] = self.block.description.clone().into();
        full["examples"] = self.shown.iter().map(|shown| shown.full.clone()).collect();
        let steps: Vec<_> = self.block.steps.iter().map(|step| step.entry(|file| self.source(file))).collect();
        full["semanticUplift"] = (!steps.is_empty()).then(|| json!({ "additionalSteps": steps })).into();
        let path = self.site().json_full();
        self.add(&path, lines(&without_nulls(full)));
        let triples = catalogue(&self);
        BlockPart { files: self.files, report: self.report, notes: self.notes, entry, triples }
    }

    fn fill(&mut self) -> Result<(), BlockError> {
        self.add_examples()?;
        self.add_tests();
        self.add_reports();
        self.add_own_files()
    }

    pub fn site(&self) -> &Site {
        &self.runner.site
    }

    fn add(&mut self, path: &str, text: String) {
        self.files.insert(path.to_owned(), text);
    }

    fn add_reports(&mut self) {
        for item in &self.report.items {
            let result = if item.passed() { "passed" } else { "failed" };
            let stem = item.file.rsplit_once('.').map_or(item.file.as_str(), |(stem, _)| stem);
            self.files.insert(format!("{stem}.validation_{result}.txt"), self.report.text(item));
        }
        self.add_report();
    }

    fn add_report(&mut self) {
        let path = self.site().test("_report.json");
        self.add(&path, lines(&self.report.to_json()));
    }

    /// Adds a file that the page links to by this name.
    fn add_linked(&mut self, name: &'static str, path: String, text: String) {
        self.add(&path, text);
        self.links.push((name, path));
    }

    /// The block's own files.
    fn add_own_files(&mut self) -> Result<(), BlockError> {
        let (block, site) = (self.block, self.site().clone());
        if self.context.is_some() {
            let context = self.runner.uplifter.context.value();
            let by_hand = block.context_file.filter(|_| !site.is_repository());
            let text = by_hand.map(|file| block.folder.read(file, BLOCK)).transpose()?.unwrap_or_default();
            // References to other files would lead nowhere.
            let unchanged =
                serde_json::from_str::<Value>(&text).is_ok_and(|document| document.get("@context") == Some(context));
            let text = if unchanged { text } else { lines(&json!({ "@context": context })) };
            self.add_linked("JSON-LD context", site.own("context.jsonld"), text);
        }
        match site.is_repository() {
            true => self.add_annotated(&site),
            false => self.add_schemas(&site)?,
        }
        if let Some(ontology) = &block.ontology {
            self.add_linked("ontology", site.own("ontology.ttl"), ontology.clone());
        }
        let [report, catalogue] = site.overview().map(str::to_owned);
        let own_report = ("report, for programs", site.test("_report.json"));
        self.links.extend([("report, for people", report), own_report, ("examples, as RDF", catalogue)]);
        Ok(())
    }

    fn add_schemas(&mut self, site: &Site) -> Result<(), BlockError> {
        for uri in self.runner.schemas.files() {
            let file = shown(&uri);
            let text = self.block.folder.read(&file, BLOCK)?;
            if Some(file.as_str()) != self.block.schema_file {
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

    /// The annotated schema, whose references lead to where things are published.
    fn add_annotated(&mut self, site: &Site) {
        let own = self.library.block(&self.block.identifier).and_then(|block| block.schema.clone());
        let Some((uri, Ok(schema))) = own.map(|uri| (uri.clone(), self.library.annotated(&uri))) else { return };
        let mut schema = (*schema).clone();
        point(&mut schema, &mut |reference| {
            let (path, fragment) = reference.split_once('#').map_or((reference, None), |(path, at)| (path, Some(at)));
            let target = self.library.resolve(&uri, path).ok().filter(|_| !path.is_empty())?;
            let url = match self.library.block_of(&target) {
                Some(block) => block.published.clone()?,
                None if self.library.is_local(&target) => site.source(&shown(&target))?,
                None => target,
            };
            Some(fragment.map_or_else(|| url.clone(), |fragment| format!("{url}#{fragment}")))
        });
        if let Ok(text) = yaml::write(&schema) {
            self.add_linked("JSON Schema", site.own("schema.yaml"), text);
        }
        self.add_linked("JSON Schema, as JSON", site.own("schema.json"), lines(&schema));
    }

    /// `register.json`, which also tells that the register is one of ours, and what belongs to it.
    fn add_marker(&mut self) {
        let (block, site) = (self.block, self.site());
        let register = without_nulls(json!({
            "name": format!("Examples of {}", block.name()),
            "baseURL": site.base(),
            "validationReport": site.reference("report.html"),
            "bblocks": [self.entry()],
            "tooling": Product::REGISTER.tooling(&self.files),
        }));
        self.add(Product::REGISTER.marker, lines(&register));
    }

    /// What `register.json` says of the block.
    fn entry(&self) -> Value {
        let (block, site) = (self.block, self.site());
        let metadata = &block.metadata;
        let own = |name: &str| site.reference(&site.own(name));
        let mut entry = json!({
            "itemIdentifier": self.report.id,
            "name": block.name(),
            "title": metadata.title,
            "abstract": metadata.r#abstract,
            "description": metadata.description,
            "status": metadata.status,
            "version": metadata.version,
            "itemClass": metadata.item_class,
            "dateTimeAddition": metadata.date_time_addition,
            "dateOfLastChange": metadata.date_of_last_change,
            "ldContext": self.context,
            "ontology": block.ontology.as_ref().map(|_| own("ontology.ttl")),
            "testOutputs": site.reference(&site.test("")),
            "dependsOn": Some(&metadata.depends_on).filter(|blocks| !blocks.is_empty()),
            "validationPassed": self.report.is_success(),
        });
        if site.is_repository() {
            let schema = self
                .schema_file
                .map(|_| json!({ "application/yaml": own("schema.yaml"), "application/json": own("schema.json") }));
            let transforms: Vec<_> =
                block.transforms.iter().map(|transform| transform.entry(|file| self.source(file))).collect();
            let own: Vec<_> = block.shapes.iter().map(|file| shape_uri(block, file)).collect();
            let own = (!own.is_empty()).then_some((&self.report.id, &own));
            let url =
                |uri: &String| if self.library.is_local(uri) { site.source(&shown(uri)) } else { Some(uri.clone()) };
            let of = |(id, files): (&String, &Vec<String>)| (id.clone(), files.iter().filter_map(url).collect());
            let shapes: serde_json::Map<_, _> = block.inherited.shapes.iter().chain(own).map(of).collect();
            let page = |media: &str, path: String| json!({ "mediatype": media, "url": site.reference(&path) });
            let more = json!({
                "schema": schema,
                "sourceSchema": block.schema_file.and_then(|file| self.source(file)),
                "sourceLdContext": block.context_file.and_then(|file| self.source(file)),
                "sourceFiles": self.source(""),
                "shaclShapes": shapes,
                "dependsOn": block.inherited.depends_on.iter().map(|id| reference(id)).collect::<Vec<_>>(),
                "transforms": Some(transforms).filter(|transforms| !transforms.is_empty()),
                "sources": Some(&metadata.sources).filter(|sources| !sources.is_empty()),
                "documentation": {
                    "markdown": page("text/markdown", site.page()),
                    "json-full": page("application/json", site.json_full()),
                },
            });
            if let (Value::Object(entry), Value::Object(more)) = (&mut entry, more) {
                entry.extend(more);
                for (name, value) in metadata.others.iter().filter(|(name, _)| !name.starts_with('$')) {
                    let refers = ["isProfileOf", "extends", "extensionPoints"].contains(&name.as_str());
                    let value = if refers { referring(value) } else { value.clone() };
                    entry.entry(name).or_insert(value);
                }
            }
        }
        without_nulls(entry)
    }

    /// URL of a file of the block's sources.
    fn source(&self, file: &str) -> Option<String> {
        self.site().source(&format!("{}{file}", self.block.below))
    }
}

/// An error with its causes, in one line.
pub fn said(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(&format!(": {error}"));
        cause = error.source();
    }
    message
}
