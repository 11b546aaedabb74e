//! Runs a block's examples and tests one after the other, which gives files and items of the report.

use serde_json::{Value, json};

use super::super::error::{BLOCK, BlockError, absolute, with_causes};
use super::super::examples::{Example, Prefixes, Snippet};
use super::super::item::{ItemJob, ItemOutcome};
use super::super::language::Language;
use super::super::references::block_reference;
use super::super::report::{ItemSubject, NOT_VALIDATED, Section};
use super::super::schema::Validity;
use super::super::site::is_web;
use super::super::view::ExampleView;
use super::BlockBuilder;
use crate::json::{indented, without_nulls};

impl BlockBuilder<'_> {
    pub(super) fn add_examples(&mut self) {
        let block = self.view.block;
        let file = block.examples_file.as_deref().unwrap_or_default();
        if let Err(error) = check_prefixes(&block.examples.prefixes, file) {
            return self.errors.push(error);
        }
        for (example, number) in block.examples.examples.iter().zip(1..) {
            let place = format!("{file}, example {number}");
            let prefixes = block.examples.prefixes.iter().chain(&example.prefixes);
            let prefixes = prefixes.map(|(name, iri)| (name.clone(), iri.clone())).collect();
            let mut results = Vec::new();
            for (snippet, index) in example.snippets.iter().zip(1..) {
                results.push(self.snippet(example, snippet, (number, index), &prefixes, &place));
            }
            let full = self.transformed(example, number, &results, &prefixes);
            self.view.shown.push(ExampleView { number, example, results, full });
        }
    }

    /// Runs the transforms on the snippets of an example, then on their uplifted JSON-LD and Turtle.
    fn transformed(&mut self, example: &Example, number: usize, results: &[ItemOutcome], prefixes: &Prefixes) -> Value {
        let mut texts = Vec::new();
        let mut uplifted = Vec::new();
        for (snippet, done) in example.snippets.iter().zip(results) {
            let language = Language::from_name(&snippet.language);
            if language == Language::Json {
                let forms = [(Language::JsonLd, &done.jsonld), (Language::Turtle, &done.turtle)];
                for (language, made) in forms.into_iter().filter(|(form, _)| snippet.documents(&form.extension())) {
                    let made = made.as_ref().map(|text| {
                        let stem = done.item.file.rsplit_once('.').map_or("", |(stem, _)| stem);
                        let url = self.view.block.site.reference(&format!("{stem}.{}", language.extension()));
                        let entry = json!({ "language": language.extension(), "url": url, "code": text });
                        (language, text.clone(), entry)
                    });
                    uplifted.extend(made);
                }
            }
            let text = done.files.first().map_or_else(|| snippet.text().to_owned(), |(_, text)| text.clone());
            let mut entry = json!(snippet);
            if let (Some(reference), Some(text)) = (&snippet.r#ref, &snippet.referenced) {
                let url = Some(reference.clone()).filter(|url| is_web(url)).or_else(|| self.source(reference));
                (entry["ref"], entry["code"]) = (url.into(), text.as_str().into());
            }
            if snippet.json_path.is_some() {
                entry["code"] = text.as_str().into();
            }
            entry["url"] = self.view.block.site.reference(&done.item.file).into();
            texts.push((language, text, entry));
        }
        texts.extend(uplifted);
        let given = example.base_output_filename.as_deref().and_then(|name| stem(name, "").ok());
        let mut snippets = Vec::new();
        for ((language, text, mut entry), index) in texts.into_iter().zip(1..) {
            let stem = snippet_stem(given, number, index);
            let mut outcomes = serde_json::Map::new();
            for transform in self.view.block.transforms.iter().filter(|transform| transform.takes(&language)) {
                let path = self.view.block.site.test(&transform.file(&stem));
                let url = self.view.block.site.reference(&path);
                let outcome = match transform.transform(&text, &language, prefixes, self.runner.sandbox) {
                    Ok(made) => {
                        let mut outcome = json!({ "success": true, "url": url, "sizeBytes": made.len() });
                        for id in transform.profiles() {
                            let (result, why) = self.profile(id, &made);
                            self.notes.extend(
                                why.map(|why| format!("transform {} of {stem}, profile {id}: {why}", transform.id)),
                            );
                            outcome["profilesValidation"][id] = json!({ "result": result });
                        }
                        self.add(&path, made);
                        outcome
                    }
                    Err(why) => {
                        if transform.unsupported().is_none() {
                            self.notes.push(format!("transform {} of {stem}: {why}", transform.id));
                        }
                        json!({ "success": false, "stderr": why })
                    }
                };
                outcomes.insert(transform.id.clone(), outcome);
            }
            entry["sizeBytes"] = text.len().into();
            if !outcomes.is_empty() {
                entry["transformResults"] = outcomes.into();
            }
            snippets.push(without_nulls(entry));
        }
        let mut full = json!(example);
        full["snippets"] = snippets.into();
        full
    }

    /// Validates the output of a transform by the schema of a block. Returns true, or false with the reason.
    fn profile(&mut self, id: &str, output: &str) -> (bool, Option<String>) {
        let reference = block_reference(id);
        if let Err(error) = self.runner.schemas.prepare(&reference, BLOCK) {
            return (false, Some(with_causes(&error)));
        }
        let Ok(value) = serde_json::from_str(output) else {
            return (false, Some("not validated: the output is not JSON".to_owned()));
        };
        match self.runner.schemas.validate(&reference, &value) {
            Some(Validity::Invalid(invalid)) => {
                (false, Some(format!("{}, at {:?}", invalid.message, invalid.instance)))
            }
            Some(Validity::Unknown(why)) => (false, Some(format!("not validated: {why}"))),
            _ => (true, None),
        }
    }

    fn snippet(
        &mut self,
        example: &Example,
        snippet: &Snippet,
        (number, index): (usize, usize),
        prefixes: &Prefixes,
        place: &str,
    ) -> ItemOutcome {
        let given = example.base_output_filename.as_deref().and_then(|name| stem(name, place).ok());
        let mut stem = snippet_stem(given, number, index);
        let text = check_example(example, place)
            .and_then(|()| self.snippet_text(snippet, &format!("{place}, snippet {index}")))
            .and_then(|text| self.claim(&stem, format!("example {number}, snippet {index}")).map(|()| text));
        if text.is_err() {
            stem = snippet_stem(None, number, index);
        }
        if let Some(reference) = &snippet.schema_ref {
            // Validation of the example reports the error.
            drop(self.runner.schemas.prepare(reference, &format!("{place}, snippet {index}")));
        }
        let language = Language::from_name(&snippet.language);
        let document = self.view.block.document(&format!("{stem}.{}", language.extension()));
        let job = ItemJob {
            subject: ItemSubject::Example { example: number, snippet: index, title: example.title.clone() },
            language: &language,
            stem: &stem,
            prefixes,
            base: snippet.base_uri.as_deref().or(example.base_uri.as_deref()).or(document.as_deref()),
            schema_ref: snippet.schema_ref.as_deref(),
            must_fail: false,
        };
        self.run(text, &job)
    }

    /// Returns the text of a snippet, or the part of it that is the example.
    fn snippet_text(&self, snippet: &Snippet, place: &str) -> Result<String, BlockError> {
        check_base(snippet.base_uri.as_deref(), place)?;
        let text = match (&snippet.code, &snippet.r#ref) {
            (Some(text), None) => text.clone(),
            // Reading it with the block failed; reading it again gives the reason.
            (None, Some(_)) if snippet.referenced.is_some() => snippet.text().to_owned(),
            (None, Some(reference)) => self.view.block.folder.read_any(reference, place, &self.library.loader)?,
            _ => return Err(BlockError::unusable(place, "give it either `code` or `ref`")),
        };
        let Some(path) = &snippet.json_path else { return Ok(text) };
        let path_of_jq = path.strip_prefix('$').unwrap_or(path).replace('\'', "\"").replace("[*]", "[]");
        let path_of_jq = path_of_jq.strip_prefix('.').unwrap_or(&path_of_jq);
        let found = self.runner.sandbox.borrow_mut().step("jq", &format!("first(.{path_of_jq} | values)"), &text);
        let found = found.map_err(|why| BlockError::unusable(place, format!("json-path {path:?}: {why}")))?;
        Ok(indented(&found) + "\n")
    }

    pub(super) fn add_tests(&mut self) {
        for test in &self.view.block.tests {
            let text = self.view.block.folder.read_any(&test.path, &test.by, &self.library.loader);
            let text = text.and_then(|text| self.claim(test.stem(), test.path.clone()).map(|()| text));
            let document = self.view.block.document(&test.file);
            let job = ItemJob {
                subject: ItemSubject::Test { file: test.file.clone() },
                language: &test.language,
                stem: test.stem(),
                prefixes: &Prefixes::new(),
                base: document.as_deref(),
                schema_ref: None,
                must_fail: test.must_fail,
            };
            self.run(text, &job);
        }
    }

    /// Reserves a file name for an example or test. Fails if another example or test, or the report, has it.
    fn claim(&mut self, stem: &str, writer: String) -> Result<(), BlockError> {
        // These names are reserved for reports.
        let ends = [".validation_passed", ".validation_failed", ".validation_not_validated"];
        if stem == "_report" || ends.iter().any(|end| stem.ends_with(end)) {
            return Err(bad_name(writer, stem));
        }
        match self.writers.insert(stem.to_lowercase(), writer.clone()) {
            None => Ok(()),
            Some(one) => Err(BlockError::unusable(
                &format!("{one} and {writer} would both be written to `{stem}`"),
                "give one of them another name".to_owned(),
            )),
        }
    }

    /// Runs an example or test on its text, or reports why there is none.
    fn run(&mut self, text: Result<String, BlockError>, job: &ItemJob<'_>) -> ItemOutcome {
        let mut done = self.runner.begin(job);
        match text {
            Ok(text) => self.runner.run(job, &text, &mut done),
            // Without its text, nothing is known about it, even if it must fail.
            Err(error) => done.item.fail(Section::Files, with_causes(&error), json!({ "op": NOT_VALIDATED })),
        }
        self.notes.extend(done.item.unrelated_failure());
        self.view.files.extend(done.files.iter().cloned());
        // An example that is only shown does not have an item in the report.
        if job.language.is_validated() || done.item.has_errors() {
            self.view.report.items.push(done.item.clone());
        }
        done
    }
}

fn check_example(example: &Example, place: &str) -> Result<(), BlockError> {
    check_prefixes(&example.prefixes, place)?;
    check_base(example.base_uri.as_deref(), place)?;
    example.base_output_filename.as_deref().map_or(Ok(()), |name| stem(name, place).map(drop))
}

fn check_base(base: Option<&str>, place: &str) -> Result<(), BlockError> {
    base.map_or(Ok(()), |base| absolute(base, || format!("{place}, base-uri")))
}

fn check_prefixes(prefixes: &Prefixes, place: &str) -> Result<(), BlockError> {
    for (name, iri) in prefixes {
        let plain = |character: char| character.is_alphanumeric() || matches!(character, '.' | '_' | '-');
        // As in Turtle, the empty prefix is allowed.
        let is_prefix = name.chars().all(plain) && name.chars().next().is_none_or(char::is_alphabetic);
        if !is_prefix || name.ends_with('.') {
            let problem = "no prefix: begin with a letter, then letters, digits, `.`, `_` and `-`";
            return Err(BlockError::unusable(place, format!("{name:?} is {problem}")));
        }
        absolute(iri, || format!("{place}, prefix {name:?}"))?;
    }
    Ok(())
}

/// Returns a `base-output-filename` without its extension.
fn stem<'n>(name: &'n str, place: &str) -> Result<&'n str, BlockError> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let bad = |character: char| character.is_control() || "/\\:*?\"<>|".contains(character);
    if stem.is_empty() || name.starts_with('.') || stem.contains(bad) || stem.len() > 200 {
        let place = format!("{place}, base-output-filename");
        return Err(bad_name(place, name));
    }
    Ok(stem)
}

/// Returns the name of a snippet's files without extension; both numbers start at 1.
fn snippet_stem(given: Option<&str>, number: usize, index: usize) -> String {
    match (given, index) {
        (None, _) => format!("example_{number}_{index}"),
        (Some(given), 1) => given.to_owned(),
        (Some(given), _) => format!("{given}-{}", index - 1),
    }
}

fn bad_name(place: String, name: &str) -> BlockError {
    let problem = "no name for a file: leave out separators, control characters and a leading dot";
    BlockError::unusable(&place, format!("{name:?} is {problem}"))
}
