//! The page of a register, in Markdown that repository hosts render.

use super::report::BlockReport;
use super::site::{REPORTS, RegisterPaths, is_web};
use super::view::{BlockView, ExampleView};
use crate::diagnostic::markup::{markdown, markdown_block, markdown_code, markdown_link, safe_markdown};

/// Writes `index.md`.
pub fn page(view: &BlockView<'_>) -> String {
    let BlockView { block, report, shown, .. } = view;
    let site = &block.site;
    let metadata = &block.metadata;
    let title = metadata["title"].as_str().unwrap_or(block.name());
    let mut out = format!("# {}\n\n{}", markdown(title), markdown_code(&report.id));
    if let Some(version) = metadata["version"].as_str() {
        out.push_str(&format!(" *v{}*", markdown(version)));
    }
    for (name, text) in [("status", "status"), ("class", "itemClass")] {
        if let Some(text) = metadata[text].as_str() {
            out.push_str(&format!(", {name}: {}", markdown(text)));
        }
    }
    out.push_str("\n\n");
    for text in ["description", "abstract"].into_iter().filter_map(|name| metadata[name].as_str()) {
        out.push_str(&format!("{}\n\n", safe_markdown(text.trim())));
    }
    out.push_str(&format!(
        "{}: {}.\n\n",
        BlockReport::passed_in_words(std::iter::once(report), " examples and tests passed"),
        markdown_link("report", &site.reference_from(&site.page(), REPORTS[0]))
    ));
    if let Some(description) = &block.description {
        out.push_str(&format!("## Description\n\n{}\n\n", safe_markdown(description)));
    }
    out.push_str("## Examples\n\n");
    if shown.is_empty() {
        out.push_str("There are none.\n\n");
    }
    shown.iter().for_each(|shown| example(shown, site, &mut out));
    let own = |file: &str| view.files.get(&site.own(file)).map_or("", String::as_str);
    if let Some(file) = block.published_schema() {
        out.push_str("## Schema\n\n");
        out.push_str(&markdown_block(if file.ends_with(".json") { "json" } else { "yaml" }, own(file)));
    }
    if view.context.is_some() {
        out.push_str("## JSON-LD context\n\n");
        out.push_str(&markdown_block("jsonld", own("context.jsonld")));
    }
    out.push_str("## Files\n\n");
    for (name, path) in &view.links {
        out.push_str(&format!("- {}\n", markdown_link(name, &site.reference_from(&site.page(), path))));
    }
    let sources = metadata["sources"].as_array().map_or(&[][..], Vec::as_slice);
    if !sources.is_empty() {
        out.push_str("\n## Sources\n\n");
    }
    for source in sources {
        let (title, link) = (source["title"].as_str().unwrap_or("source"), source["link"].as_str());
        out.push_str(&match link {
            Some(link) if is_web(link) => format!("- {}\n", markdown_link(title, link)),
            Some(link) => format!("- {}: {}\n", markdown(title), markdown_code(link)),
            None => format!("- {}\n", markdown(title)),
        });
    }
    out
}

fn example(shown: &ExampleView<'_>, site: &RegisterPaths, out: &mut String) {
    out.push_str(&format!("### {}\n\n", markdown(&shown.title())));
    if let Some(content) = &shown.example.content {
        out.push_str(&format!("{}\n\n", safe_markdown(content)));
    }
    for (snippet, done) in shown.example.snippets.iter().zip(&shown.results) {
        out.push_str(&format!("#### {}\n\n", markdown(&snippet.language)));
        if let Some(schema) = &snippet.schema_ref {
            out.push_str(&format!("An example of {}.\n\n", markdown_code(schema)));
        }
        let part = done.files.first().filter(|_| snippet.json_path.is_some()).map(|(_, text)| text.as_str());
        out.push_str(&markdown_block(&snippet.language, part.unwrap_or_else(|| snippet.text())));
        for (name, text) in [("jsonld", &done.jsonld), ("ttl", &done.turtle)] {
            if let Some(text) = text.as_ref().filter(|_| snippet.language != name && snippet.documents(name)) {
                out.push_str(&format!("#### {name}\n\n"));
                out.push_str(&markdown_block(name, text));
            }
        }
        let link = |(path, _): &(String, String)| {
            let name = path.rsplit('/').next().unwrap_or(path);
            markdown_link(name, &site.reference_from(&site.page(), path))
        };
        let files: Vec<_> = done.files.iter().map(link).collect();
        out.push_str(&format!("{}\n\n", files.join(", ")));
    }
}
