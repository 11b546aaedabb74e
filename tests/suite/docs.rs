//! Runs every command of the documents' console blocks and compares its output; compares generated parts with the program.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use crate::support::files;
use crate::transcript::{matches, words};
use rpcgraph::check::Rules;
use rpcgraph::query::catalogue::CATALOGUE;

mod logging;
mod terms;
mod workflows;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Commands of a document's console blocks, each with the lines below it. A block may be indented, in a list.
fn shown(document: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut inside = false;
    let mut indent = 0;
    for line in document.lines() {
        let line = if inside { line.get(indent..).unwrap_or_default() } else { line };
        match (inside, line) {
            (false, line) if line.trim_start() == "```console" => {
                (inside, indent) = (true, line.len() - line.trim_start().len());
            }
            (true, "```") => inside = false,
            (true, line) => match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => commands.push((command, Vec::new())),
                (None, Some((_, output))) => output.push(line),
                (None, None) => panic!("output without a command: {line}"),
            },
            (false, _) => {}
        }
    }
    commands
}

/// Beginnings of commands that other tests run, or that need a cluster.
const ELSEWHERE: [&str; 3] = ["cargo test", "python examples/lake/lake.py ", "spark-submit "];

/// The documents for users, by their paths.
fn documents() -> Vec<(String, String)> {
    let mut paths = files(Path::new(&format!("{ROOT}/docs")), ".md");
    paths.insert(0, format!("{ROOT}/README.md").into());
    let name = |path: &Path| path.strip_prefix(ROOT).unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

fn document(name: &str) -> String {
    fs::read_to_string(format!("{ROOT}/{name}")).unwrap()
}

#[test]
fn commands_of_the_documents() {
    let mut run = 0;
    // `register::authors` runs the commands of block-authors.md in a shell.
    for (name, text) in documents().into_iter().filter(|(name, _)| name != "docs/block-authors.md") {
        // A folder for each document, since some of its commands write files.
        let folder = tempfile::tempdir().unwrap();
        for example in files(Path::new(&format!("{ROOT}/examples")), "") {
            let copy = folder.path().join(example.strip_prefix(ROOT).unwrap());
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::copy(example, copy).unwrap();
        }
        for (command, expected) in shown(&text) {
            let arguments = match command.strip_prefix("cargo run --release -- ").or(command.strip_prefix("rpcgraph "))
            {
                Some(arguments) => arguments,
                None => {
                    let is_known = ELSEWHERE.iter().any(|known| command.starts_with(known));
                    assert!(is_known, "{name}: no test runs {command}");
                    continue;
                }
            };
            let output = Command::new(env!("CARGO_BIN_EXE_rpcgraph"))
                .args(words(arguments))
                .current_dir(folder.path())
                .env_remove("COLUMNS")
                .output()
                .expect("the command runs");
            assert!(output.status.success(), "{name}: {command}: {}", output.status);
            let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            let lines: Vec<_> = text.lines().collect();
            assert!(matches(&expected, &lines), "{name}: {command} prints\n{text}");
            run += 1;
        }
    }
    assert!(run > 20, "{run}");
}

/// README is short, the changelog has this version, and every relative link leads to a file.
#[test]
fn documents_are_short_and_linked() {
    assert!(document("README.md").lines().count() <= 150);
    assert!(document("CHANGELOG.md").contains(concat!("\n## [", env!("CARGO_PKG_VERSION"), "]")));
    for (name, text) in documents() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            let path = link.split('#').next().unwrap();
            let folder = Path::new(ROOT).join(&name).parent().unwrap().to_owned();
            assert!(link.starts_with("https://") || folder.join(path).exists(), "{name}: {link} leads nowhere");
        }
        let is_listed = name == "README.md" || document("docs/SUMMARY.md").contains(name.trim_start_matches("docs/"));
        assert!(is_listed || name == "docs/SUMMARY.md", "docs/SUMMARY.md lacks {name}");
    }
}

/// The Turtle beside each example session is its graph.
#[test]
fn graphs_of_the_examples() {
    for log in ["mcp-session.ndjson", "lsp-session.ndjson", "ethereum-session.io"] {
        let turtle = format!("{ROOT}/examples/{}.ttl", log.split('.').next().unwrap());
        let output = Command::new(env!("CARGO_BIN_EXE_rpcgraph"))
            .args(["convert", &format!("{ROOT}/examples/{log}"), "--base", &format!("https://example.org/{log}")])
            .output()
            .unwrap();
        same_or_bless(&turtle, &String::from_utf8(output.stdout).unwrap());
    }
}

/// Compares a file with its expected text, or writes it if `RPCGRAPH_BLESS` is set.
pub fn same_or_bless(path: &str, expected: &str) {
    if std::env::var_os("RPCGRAPH_BLESS").is_some() {
        fs::write(path, expected).unwrap();
    }
    assert!(
        fs::read_to_string(path).unwrap() == expected,
        "{path} is outdated: this test writes it with RPCGRAPH_BLESS=1"
    );
}

/// Parts of documents between `<!-- generated: NAME -->` and `<!-- end -->` come from the program.
#[test]
fn generated_parts() {
    let mut generated = 0;
    for (name, text) in documents() {
        let mut expected = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once("<!-- generated: ") {
            let (part, after) = after.split_once(" -->\n").unwrap();
            let (_, after) = after.split_once("<!-- end -->").unwrap();
            let content = match part {
                "questions" => questions(),
                "crates" => crates(),
                "commands" => commands(),
                "terms" => terms::terms(),
                "conformance" => conformance(),
                other => panic!("{name}: nothing generates {other}"),
            };
            expected += &format!("{before}<!-- generated: {part} -->\n{content}<!-- end -->");
            rest = after;
            generated += 1;
        }
        same_or_bless(&format!("{ROOT}/{name}"), &(expected + rest));
    }
    assert_eq!(generated, 5);
}

/// The checks of MCP's official conformance suite, by the rule that judges them or the reason why none does.
fn conformance() -> String {
    let rules = Rules::built_in(&Arc::default()).unwrap();
    let mut judged: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut left_out: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (check, by) in rules.coverage() {
        match by {
            Ok(rule) => judged.entry(format!("`{rule}`")).or_default().push(check),
            Err(why) => left_out.entry(why).or_default().push(check),
        }
    }
    let rows = judged.iter().map(|(rule, checks)| (rule.as_str(), checks));
    let rows = rows.chain(left_out.iter().map(|(why, checks)| (*why, checks)));
    let rows = rows.map(|(by, checks)| format!("| {by} | {} | {} |\n", checks.len(), checks.join(", ")));
    format!("| rule, or why there is none | checks | names |\n|---|--:|---|\n{}", rows.collect::<String>())
}

fn questions() -> String {
    let rows = CATALOGUE.iter().map(|query| format!("| `{}` | {} |\n", query.name, query.title()));
    format!("| name | answers |\n|---|---|\n{}", rows.collect::<String>())
}

/// The crates, as `lib.rs` lists them.
fn crates() -> String {
    let library = document("src/lib.rs");
    let (_, block) = library.split_once("```text crates\n").unwrap();
    let (block, _) = block.split_once("//! ```").unwrap();
    let lines: String = block.lines().map(|line| line.trim_start_matches("//! ").to_owned() + "\n").collect();
    format!("```text\n{lines}```\n")
}

fn help(command: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_rpcgraph")).args(command).arg("--help").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Headings of arguments and options in help.
const HEADINGS: [&str; 7] = ["Arguments:", "Options:", "Input:", "Output:", "Filter:", "Rules:", "Server:"];

/// The help of a command in parts: the usage, the arguments and options, and the text after them.
struct CommandHelp {
    name: String,
    usage: String,
    /// The heading of each argument or option, how it is written, and its text.
    entries: Vec<[String; 3]>,
    after: String,
}

impl CommandHelp {
    fn new(name: &str) -> Self {
        let help = help(&[name]);
        let is_after = |line: &&str| !line.is_empty() && !line.starts_with(' ') && !HEADINGS.contains(line);
        let mut lines = help.lines().map(str::trim_end).skip_while(|line| !HEADINGS.contains(line)).peekable();
        let (mut heading, mut entries) = ("", Vec::<[String; 3]>::new());
        while let Some(line) = lines.next_if(|line| !is_after(line)) {
            let indent = line.len() - line.trim_start().len();
            match entries.last_mut() {
                _ if HEADINGS.contains(&line) => heading = line.trim_end_matches(':'),
                _ if (1..8).contains(&indent) => entries.push([heading, line.trim(), ""].map(str::to_owned)),
                Some([.., text]) if line.is_empty() && !text.is_empty() && !text.ends_with(['.', ':']) => {
                    text.push('.')
                }
                Some([.., text]) => *text = format!("{text} {}", line.trim()).trim().to_owned(),
                None => {}
            }
        }
        entries.iter_mut().for_each(|[.., text]| text.truncate(text.trim_end_matches('.').len()));
        let usage = help.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap().to_owned();
        let after: String = lines.map(|line| format!("{line}\n")).collect();
        Self { name: name.to_owned(), usage, entries, after }
    }
}

/// The usage and the options of each command. What several commands have is described once.
fn commands() -> String {
    let overview = help(&[]);
    let (_, list) = overview.split_once("\nLook:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let list = list.lines().filter_map(|line| line.strip_prefix("  ")?.split_once(' '));
    let list = list.filter(|(name, _)| name.starts_with(char::is_alphabetic));
    let list: Vec<_> = list.map(|(name, about)| (CommandHelp::new(name), about.trim())).collect();
    let count = |entry: &[String; 3]| list.iter().filter(|(help, _)| help.entries.contains(entry)).count();
    let shown = |[_, flags, text]: &[String; 3]| format!("- `{flags}`: {text}\n");
    let mut text = format!("```text\n{overview}```\n\n## Options of several commands\n");
    for heading in HEADINGS.map(|heading| heading.trim_end_matches(':')) {
        let mut shared: Vec<&[String; 3]> = Vec::new();
        for entry in list.iter().flat_map(|(help, _)| &help.entries) {
            if entry[0] == heading && count(entry) > 1 && !shared.contains(&entry) {
                shared.push(entry);
            }
        }
        if !shared.is_empty() {
            text += &format!("\n### {heading}\n\n{}", shared.into_iter().map(shown).collect::<String>());
        }
    }
    for (number, (help, about)) in list.iter().enumerate() {
        let CommandHelp { name, usage, entries, after } = help;
        text += &format!("\n## {name}\n\n{about}. ");
        if let Some((same, _)) = list[..number].iter().find(|(earlier, _)| earlier.entries == *entries) {
            text += &format!("Takes the options of [{0}](#{0}).\n", same.name);
            continue;
        }
        let (shared, own): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| count(entry) > 1);
        text += &format!("`{usage}`\n");
        if !own.is_empty() {
            text += &format!("\n{}", own.into_iter().map(shown).collect::<String>());
        }
        let named = |[_, flags, _]: &[String; 3]| {
            let name = flags.split(' ').find(|word| word.starts_with("--")).unwrap_or(flags);
            format!("`{name}`")
        };
        let shared: Vec<_> = shared.into_iter().filter(|[_, flags, _]| flags != "-h, --help").map(named).collect();
        if !shared.is_empty() {
            text += &format!("\nAs others: {}.\n", shared.join(", "));
        }
        if !after.is_empty() {
            text += &format!("\n```text\n{after}```\n");
        }
    }
    text
}

#[test]
fn formats_of_the_documents() {
    let formats = document("docs/formats.md");
    let (_, section) = formats.split_once("| format | written by |\n").unwrap();
    let (table, _) = section.split_once("\n\n").unwrap();
    let first_cells = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" |")).map(|(cell, _)| cell);
    let mut shown: Vec<_> = first_cells.flat_map(|cell| cell.split(", ")).map(|name| name.trim_matches('`')).collect();
    let mut there: Vec<_> = rpcgraph::record::Format::ALL.iter().map(|format| format.name()).collect();
    shown.sort_unstable();
    there.sort_unstable();
    assert_eq!(shown, there);
}

#[test]
fn dependencies_have_a_reason() {
    let manifest = fs::read_to_string(format!("{ROOT}/Cargo.toml")).unwrap();
    let mut section = "";
    let mut explained = false;
    let mut count = 0;
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if line.starts_with('#') {
            explained = true;
        } else if section == "[workspace.dependencies]" && line.contains('=') {
            assert!(explained, "{line}");
            count += 1;
        } else {
            explained = false;
        }
    }
    assert!(count > 20);
}

/// The examples of a command's help, each a line for a shell; what explains them stands behind two spaces or more.
fn examples_of_help(command: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_rpcgraph")).args([command, "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let Some((_, examples)) = help.split_once("\nExamples:\n") else { return Vec::new() };
    let mut lines: Vec<String> = Vec::new();
    for line in examples.lines().take_while(|line| line.starts_with("  ")) {
        match (lines.last_mut(), line.trim().split("  ").next().unwrap()) {
            (_, example) if example.starts_with("rpcgraph ") => lines.push(example.to_owned()),
            (Some(last), rest) if last.ends_with('\\') => *last = format!("{} {rest}", last.trim_end_matches('\\')),
            // An explanation that goes on.
            _ => {}
        }
    }
    lines
}

/// Examples in help run in a shell, in a folder with the files that they name. Other tests cover servers and stores.
#[cfg(unix)]
#[test]
fn examples_of_help_are_run() {
    let program = Path::new(env!("CARGO_BIN_EXE_rpcgraph")).parent().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let put = |from: &str, to: &str| {
        let to = folder.path().join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(Path::new(ROOT).join(from), to).unwrap();
    };
    let log = "examples/mcp-session.ndjson";
    for name in ["session.ndjson", "session.json", "session.log", "logs/a.ndjson", "logs/b.ndjson"] {
        put(log, name);
    }
    for file in files(&Path::new(ROOT).join("examples/json-rpc"), "") {
        let name = file.strip_prefix(Path::new(ROOT).join("examples")).unwrap().to_string_lossy().into_owned();
        put(&format!("examples/{name}"), &name);
        put(&format!("examples/{name}"), &format!("repository/_sources/{name}"));
    }
    fs::create_dir(folder.path().join("other")).unwrap();
    for shell in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"] {
        fs::create_dir_all(folder.path().join(shell)).unwrap();
    }
    let commands =
        "convert query check ask errors show load redact register capture vocab formats detect completions man";
    let mut run = 0;
    for example in commands.split(' ').flat_map(examples_of_help) {
        // `man` itself is not everywhere, and what follows a log does not end.
        if ["--store", "--endpoint", "--follow", "| man"].iter().any(|option| example.contains(option)) {
            continue;
        }
        let path = std::env::join_paths(
            std::iter::once(program.clone())
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        );
        // A log may have what an example asks about, or not.
        let expected: &[i32] =
            if ["--fail-if", "--compare", "rpcgraph check"].iter().any(|option| example.contains(option)) {
                &[0, 1]
            } else {
                &[0]
            };
        let output = Command::new("sh")
            .args(["-c", &example])
            .current_dir(folder.path())
            .env("PATH", path.unwrap())
            .env("HOME", folder.path())
            .stdin(std::process::Stdio::null())
            .output()
            .expect("a shell");
        let status = output.status.code().unwrap();
        assert!(expected.contains(&status), "{example}: {status}, {}", String::from_utf8_lossy(&output.stderr));
        run += 1;
    }
    assert!(run > 20, "{run}");
}

/// The picture of a terminal shows what the program prints.
#[cfg(unix)]
#[test]
fn the_picture_of_a_terminal() {
    let drawn = Command::new("bash")
        .arg(format!("{ROOT}/examples/terminal.sh"))
        .env("RPCGRAPH", env!("CARGO_BIN_EXE_rpcgraph"))
        .env_remove("NO_COLOR")
        .env_remove("COLUMNS")
        .output()
        .expect("a shell");
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    let drawn = String::from_utf8(drawn.stdout).unwrap();
    assert_eq!(fs::read_to_string(format!("{ROOT}/examples/terminal.svg")).unwrap(), drawn);
    assert!(drawn.contains(">Method not found</tspan>"), "{drawn}");
}
