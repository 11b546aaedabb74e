//! The page of a register: Markdown that repository hosts show.

use super::Shown;
use super::block::Block;
use super::examples::UpliftFormat;
use super::report::Report;
use super::site::{Site, is_web};

/// What the page is made of.
pub struct Page<'p> {
    /// The block.
    pub block: &'p Block,
    /// Where the files are.
    pub site: &'p Site,
    /// What passed.
    pub report: &'p Report,
    /// The examples, each with its snippets.
    pub shown: &'p [Shown],
    /// The context, as text.
    pub context: &'p str,
    /// The schema, as text, and its language.
    pub schema: Option<(&'p str, &'p str)>,
    /// Paths of the block's own files, with what they are called.
    pub links: &'p [(&'static str, String)],
}

/// `index.md`.
pub fn page(page: &Page<'_>) -> String {
    let Page { block, report, .. } = page;
    let mut out = String::new();
    let title = block.metadata.title.as_deref().unwrap_or(block.name());
    out.push_str(&format!("# {}\n\n", plain(title)));
    out.push_str(&code(&report.id));
    if let Some(version) = &block.metadata.version {
        out.push_str(&format!(" *v{}*", plain(version)));
    }
    if let Some(status) = &block.metadata.status {
        out.push_str(&format!(", status: {}", plain(status)));
    }
    if let Some(class) = &block.metadata.item_class {
        out.push_str(&format!(", class: {}", plain(class)));
    }
    out.push_str("\n\n");
    for text in [&block.metadata.description, &block.metadata.r#abstract].into_iter().flatten() {
        out.push_str(&format!("{}\n\n", text.trim()));
    }
    let (passed, total) = (report.passed(), report.items.len());
    out.push_str(&format!("{passed} of {total} examples and tests are as they should be: [report](report.html).\n\n"));
    if let Some(description) = &block.description {
        out.push_str("## Description\n\n");
        out.push_str(description.trim_end());
        out.push_str("\n\n");
    }
    out.push_str("## Examples\n\n");
    if page.shown.is_empty() {
        out.push_str("There are none.\n\n");
    }
    for shown in page.shown {
        example(shown, page.site, &mut out);
    }
    if let Some((schema, language)) = page.schema {
        out.push_str("## Schema\n\n");
        fenced(language, schema, &mut out);
    }
    out.push_str("## JSON-LD context\n\n");
    fenced("jsonld", page.context, &mut out);
    out.push_str("## Files\n\n");
    for (name, path) in page.links {
        out.push_str(&format!("- [{name}]({})\n", page.site.reference(path)));
    }
    if !block.metadata.sources.is_empty() {
        out.push_str("\n## Sources\n\n");
        for source in &block.metadata.sources {
            let title = source.title.as_deref().unwrap_or("source");
            match &source.link {
                Some(link) if is_web(link) => out.push_str(&format!("- [{}](<{link}>)\n", plain(title))),
                Some(link) => out.push_str(&format!("- {}: {}\n", plain(title), code(link))),
                None => out.push_str(&format!("- {}\n", plain(title))),
            }
        }
    }
    out
}

fn example(shown: &Shown, site: &Site, out: &mut String) {
    out.push_str(&format!("### {}\n\n", plain(&shown.title)));
    if let Some(content) = &shown.content {
        out.push_str(content.trim_end());
        out.push_str("\n\n");
    }
    for snippet in &shown.snippets {
        out.push_str(&format!("#### {}\n\n", plain(&snippet.language)));
        if let Some(schema) = &snippet.schema_ref {
            out.push_str(&format!("An example of {}.\n\n", code(schema)));
        }
        fenced(&snippet.language, &snippet.source, out);
        for (format, name, text) in
            [(UpliftFormat::JsonLd, "jsonld", &snippet.jsonld), (UpliftFormat::Ttl, "ttl", &snippet.turtle)]
        {
            if let Some(text) = text
                && snippet.formats.contains(&format)
                && snippet.language != name
            {
                out.push_str(&format!("#### {name}\n\n"));
                fenced(name, text, out);
            }
        }
        let files: Vec<_> = snippet
            .files
            .iter()
            .map(|path| {
                let name = path.rsplit('/').next().unwrap_or(path);
                format!("[{}]({})", plain(name), site.reference(path))
            })
            .collect();
        out.push_str(&format!("{}\n\n", files.join(", ")));
    }
}

/// A block of code, in a fence longer than any in it.
fn fenced(language: &str, text: &str, out: &mut String) {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    let language: String =
        language.chars().filter(|character| !character.is_whitespace() && *character != '`').collect();
    out.push_str(&format!("{fence}{language}\n{}\n{fence}\n\n", text.trim_end_matches('\n')));
}

/// Code within a line.
fn code(text: &str) -> String {
    let text = line(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// How many backticks stand beside each other at most.
fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// A text that is to stay on one line, and of which nothing is Markdown or HTML.
fn plain(text: &str) -> String {
    let text = line(text);
    let mut plain = String::with_capacity(text.len());
    let mut previous = ' ';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        let is_markup = match character {
            '\\' | '`' | '*' | '[' | ']' | '<' | '~' => true,
            // Within a word it stands for itself.
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

/// A text that is to stay on one line.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
