//! The page of a register, in Markdown that repository hosts render.

use super::site::{RegisterPaths, is_web};
use super::view::{BlockView, ExampleView};

/// Writes `index.md`.
pub fn page(view: &BlockView<'_>) -> String {
    let BlockView { block, report, shown, .. } = view;
    let site = &block.site;
    let metadata = &block.metadata;
    let title = metadata["title"].as_str().unwrap_or(block.name());
    let mut out = format!("# {}\n\n{}", plain(title), code(&report.id));
    if let Some(version) = metadata["version"].as_str() {
        out.push_str(&format!(" *v{}*", plain(version)));
    }
    for (name, text) in [("status", "status"), ("class", "itemClass")] {
        if let Some(text) = metadata[text].as_str() {
            out.push_str(&format!(", {name}: {}", plain(text)));
        }
    }
    out.push_str("\n\n");
    for text in ["description", "abstract"].into_iter().filter_map(|name| metadata[name].as_str()) {
        out.push_str(&format!("{}\n\n", text.trim()));
    }
    let (passed, total) = (report.passed(), report.items.len());
    out.push_str(&format!(
        "{passed} of {total} examples and tests are as they should be: [report]({}).\n\n",
        site.reference(site.overview()[0])
    ));
    if let Some(description) = &block.description {
        out.push_str(&format!("## Description\n\n{}\n\n", description.trim_end()));
    }
    out.push_str("## Examples\n\n");
    if shown.is_empty() {
        out.push_str("There are none.\n\n");
    }
    shown.iter().for_each(|shown| example(shown, site, &mut out));
    let own = |file: &str| view.files.get(&site.own(file)).map_or("", String::as_str);
    if let Some(file) = block.published_schema() {
        out.push_str("## Schema\n\n");
        fenced(if file.ends_with(".json") { "json" } else { "yaml" }, own(file), &mut out);
    }
    if view.context.is_some() {
        out.push_str("## JSON-LD context\n\n");
        fenced("jsonld", own("context.jsonld"), &mut out);
    }
    out.push_str("## Files\n\n");
    for (name, path) in &view.links {
        out.push_str(&format!("- [{name}]({})\n", site.reference(path)));
    }
    let sources = metadata["sources"].as_array().map_or(&[][..], Vec::as_slice);
    if !sources.is_empty() {
        out.push_str("\n## Sources\n\n");
    }
    for source in sources {
        let (title, link) = (plain(source["title"].as_str().unwrap_or("source")), source["link"].as_str());
        out.push_str(&match link {
            Some(link) if is_web(link) => format!("- [{title}](<{link}>)\n"),
            Some(link) => format!("- {title}: {}\n", code(link)),
            None => format!("- {title}\n"),
        });
    }
    out
}

fn example(shown: &ExampleView<'_>, site: &RegisterPaths, out: &mut String) {
    out.push_str(&format!("### {}\n\n", plain(&shown.title())));
    if let Some(content) = &shown.example.content {
        out.push_str(&format!("{}\n\n", content.trim_end()));
    }
    for (snippet, done) in shown.example.snippets.iter().zip(&shown.results) {
        out.push_str(&format!("#### {}\n\n", plain(&snippet.language)));
        if let Some(schema) = &snippet.schema_ref {
            out.push_str(&format!("An example of {}.\n\n", code(schema)));
        }
        fenced(&snippet.language, snippet.text(), out);
        for (name, text) in [("jsonld", &done.jsonld), ("ttl", &done.turtle)] {
            if let Some(text) = text.as_ref().filter(|_| snippet.language != name) {
                out.push_str(&format!("#### {name}\n\n"));
                fenced(name, text, out);
            }
        }
        let link = |(path, _): &(String, String)| {
            let name = path.rsplit('/').next().unwrap_or(path);
            format!("[{}]({})", plain(name), site.reference(path))
        };
        let files: Vec<_> = done.files.iter().map(link).collect();
        out.push_str(&format!("{}\n\n", files.join(", ")));
    }
}

/// Writes a block of code, with a fence longer than any run of backticks in it.
fn fenced(language: &str, text: &str, out: &mut String) {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    let language: String =
        language.chars().filter(|character| !character.is_whitespace() && *character != '`').collect();
    out.push_str(&format!("{fence}{language}\n{}\n{fence}\n\n", text.trim_end_matches('\n')));
}

/// Formats code within a line.
fn code(text: &str) -> String {
    let text = line(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// Escapes Markdown and HTML in a text, and joins its lines.
fn plain(text: &str) -> String {
    let text = line(text);
    let mut plain = String::with_capacity(text.len());
    let mut previous = ' ';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        let is_markup = match character {
            '\\' | '`' | '*' | '[' | ']' | '<' | '~' => true,
            // Within a word, an underscore is literal.
            '_' => !previous.is_alphanumeric() || !next.is_alphanumeric(),
            '&' => next == '#' || next.is_ascii_alphabetic(),
            _ => false,
        };
        if is_markup {
            plain.push('\\');
        }
        plain.push(character);
        previous = character;
    }
    plain
}

/// Joins the lines of a text.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
