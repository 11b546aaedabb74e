//! What programs can name of the library, as text: a change that breaks them shows in `tests/public-items.txt`.
//!
//! The text of the source is enough, since rustfmt decides its indentation: items begin a line, their members are indented by
//! four spaces. Of items that macros make, such as [`rpcgraph::vocab`], only names are listed, or nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::docs::same_or_bless;
use super::support::{files, own};

/// The items of a file.
#[derive(Default)]
struct Module {
    /// Public items by name, with their members: fields, variants, or items of a trait.
    items: BTreeMap<String, Vec<String>>,
    /// Public modules.
    modules: Vec<String>,
    /// Re-exported names with their paths.
    uses: Vec<(String, String)>,
    /// Public methods and implemented traits, by type.
    methods: Vec<(String, Vec<String>)>,
}

/// The lines without comments and without attributes that do not concern programs.
fn plain(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = Vec::new();
    let mut is_attribute = false;
    for line in text.lines() {
        let bare = line.trim_start();
        let begins = bare.starts_with("#[") && !bare.starts_with("#[derive") && !bare.starts_with("#[doc(hidden)]");
        let is_kept = !begins && !is_attribute && !bare.starts_with("//") && !bare.is_empty();
        is_attribute = (begins || is_attribute) && !bare.ends_with(']');
        if is_kept {
            lines.push(line);
        }
    }
    lines
}

/// Joins lines up to the first that ends with one of the marks, without what follows a `=` or `{`.
fn joined(lines: &[&str], marks: &[char]) -> String {
    let end = lines.iter().position(|line| line.ends_with(marks)).map_or(lines.len(), |at| at + 1);
    let text = lines[..end].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    let text = text.split_once(" = ").filter(|_| text.contains("const ")).map_or(text.as_str(), |(text, _)| text);
    text.trim_end_matches([';', ',', '{', ' ']).replace("( ", "(").replace(", )", ")").replace(" }", "}")
}

/// The name that follows the keyword of an item.
fn name(item: &str) -> &str {
    let kinds = ["fn", "struct", "enum", "trait", "type", "static", "const"];
    let after = kinds.iter().find_map(|kind| Some(item.split_once(&format!("{kind} "))?.1)).unwrap_or_default();
    after.split(|character: char| !character.is_alphanumeric() && character != '_').next().unwrap_or_default()
}

/// The members among the lines of a body, which may begin with one of the words; any text begins a variant.
fn members(body: &[&str], words: &[&str], marks: &[char]) -> Vec<String> {
    let begins = |line: &str| {
        line.strip_prefix("    ").is_some_and(|text| match words {
            [] => text.starts_with(char::is_alphabetic),
            words => words.iter().any(|word| text.starts_with(word)),
        })
    };
    let is_hidden = |at: usize| at > 0 && body[at - 1].trim() == "#[doc(hidden)]";
    let there = (0..body.len()).filter(|at| begins(body[*at]) && !is_hidden(*at));
    let whole = |at: usize| match words {
        // A variant with fields ends with the brace below its name.
        [] if body[at].ends_with(['{', '(']) => {
            let end = body[at..].iter().position(|line| line.starts_with("    }") || line.starts_with("    )"));
            let lines = &body[at..=at + end.unwrap_or(0)];
            lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ").trim_end_matches(',').to_owned()
        }
        _ => joined(&body[at..], marks),
    };
    there.map(whole).collect()
}

fn module(text: &str) -> Module {
    let lines = plain(text);
    let mut module = Module::default();
    for (at, line) in lines.iter().enumerate() {
        let body = || {
            let begin = at + lines[at..].iter().position(|line| line.ends_with('{')).unwrap_or(0) + 1;
            let end = lines[begin..].iter().position(|line| line.starts_with('}')).unwrap_or(0);
            &lines[begin..begin + end]
        };
        let before = || lines[..at].iter().rev().take_while(|line| line.starts_with("#[")).copied().collect::<Vec<_>>();
        if before().contains(&"#[doc(hidden)]") {
            continue;
        }
        if let Some(name) = line.strip_prefix("pub mod ").and_then(|name| name.strip_suffix(';')) {
            module.modules.push(name.to_owned());
        } else if line.starts_with("pub use ") {
            let path = joined(&lines[at..], &[';']);
            let path = path.trim_start_matches("pub use ").trim_start_matches("self::");
            let (folder, names) = path.split_once("{").unwrap_or((path.rsplit_once("::").unwrap().0, path));
            for name in names.trim_end_matches('}').split(", ").filter_map(|name| name.rsplit("::").next()) {
                let folder = folder.trim_end_matches("::");
                module.uses.push((name.trim().to_owned(), format!("{folder}::{}", name.trim())));
            }
        } else if line.starts_with("pub ") {
            let item = joined(&lines[at..], &[';', '{', '}']);
            let mut all: Vec<String> = before().iter().map(|derive| format!("{derive} {item}")).collect();
            if all.is_empty() {
                all.push(item.clone());
            }
            if !line.ends_with(['}', ';']) {
                all.extend(match item.split(' ').nth(1) {
                    Some("struct") => members(body(), &["pub "], &[',']),
                    Some("enum") => members(body(), &[], &[',']),
                    Some("trait") => members(body(), &["fn ", "type ", "const "], &[';', '{']),
                    _ => Vec::new(),
                });
            }
            module.items.insert(name(&item).to_owned(), all);
        } else if line.starts_with("impl") {
            let header = joined(&lines[at..], &['{', '}']);
            let subject = header.rsplit_once(" for ").map_or(header.as_str(), |(_, subject)| subject);
            let subject = match subject.strip_prefix("impl<") {
                Some(rest) => rest.split_once("> ").map_or(rest, |(_, subject)| subject),
                None => subject.trim_start_matches("impl "),
            };
            let subject = subject.split(['<', ' ']).next().unwrap_or_default().rsplit("::").next().unwrap_or_default();
            let methods = match header.contains(" for ") {
                true => vec![header.clone()],
                false => members(body(), &["pub fn ", "pub const ", "pub async "], &[';', '{']),
            };
            module.methods.push((subject.to_owned(), methods));
        }
    }
    module
}

/// Every file of `src`, as the path of its module.
fn modules() -> BTreeMap<String, Module> {
    let src = own("src");
    let path = |file: &std::path::Path| {
        let name = file.strip_prefix(&src).unwrap().with_extension("");
        let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if parts == ["lib"] { String::new() } else { parts.join("::") }
    };
    files(&src, ".rs").iter().map(|file| (path(file), module(&fs::read_to_string(file).unwrap()))).collect()
}

fn child(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

/// The module and name that a path in a module leads to.
fn resolve(modules: &BTreeMap<String, Module>, module: &str, path: &str) -> Option<(String, String)> {
    let mut at = module.to_owned();
    let (folder, name) = path.rsplit_once("::")?;
    for part in folder.split("::") {
        at = match part {
            "crate" => String::new(),
            "self" => at,
            "super" => at.rsplit_once("::").map_or_else(String::new, |(parent, _)| parent.to_owned()),
            part => child(&at, part),
        };
    }
    let there = modules.get(&at)?;
    match there.uses.iter().find(|(used, _)| used == name) {
        Some((_, path)) if !there.items.contains_key(name) => resolve(modules, &at, path),
        _ => Some((at, name.to_owned())),
    }
}

/// Lists the items of a public module, under the paths by which programs name them.
fn list(
    modules: &BTreeMap<String, Module>,
    path: &str,
    known: &mut BTreeMap<(String, String), String>,
    lines: &mut BTreeSet<String>,
) {
    let Some(module) = modules.get(path) else { return };
    for name in &module.modules {
        list(modules, &child(path, name), known, lines);
    }
    let own = module.items.keys().map(|name| (name.clone(), (path.to_owned(), name.clone())));
    let used = module.uses.iter().filter_map(|(name, at)| Some((name.clone(), resolve(modules, path, at)?)));
    for (name, defined) in own.chain(used) {
        let public = child(path, &name);
        let (file, name) = &defined;
        let there = &modules[file];
        let reexported =
            Some(child(file, name)).filter(|module| modules.contains_key(module) && !there.items.contains_key(name));
        if let Some(first) = known.get(&defined).or(reexported.as_ref()) {
            lines.insert(format!("{public} = {first}"));
            continue;
        }
        let unread = || vec![format!("of {file}")];
        let members = there.items.get(name).cloned().unwrap_or_else(unread);
        let room = file.split("::").next().unwrap_or_default();
        let is_near = |other: &str| other.split("::").next() == Some(room);
        let methods = modules.iter().filter(|(other, _)| is_near(other)).flat_map(|(other, module)| {
            let is_another = other != file && module.items.contains_key(name);
            module
                .methods
                .iter()
                .filter(move |(subject, _)| subject == name && !is_another)
                .flat_map(|(_, methods)| methods)
        });
        lines.extend(members.iter().chain(methods).map(|text| format!("{public}  {text}")));
        known.insert(defined, public);
    }
}

#[test]
fn public_items_are_those_of_the_list() {
    let modules = modules();
    let mut lines = BTreeSet::new();
    list(&modules, "", &mut BTreeMap::new(), &mut lines);
    assert!(lines.len() > 500, "{}", lines.len());
    let list: String = lines.iter().map(|line| format!("{line}\n")).collect();
    same_or_bless(own("tests/public-items.txt").to_str().unwrap(), &list);
}
