//! What the README shows is run: each `$ …` line of its console blocks, with the output that stands below it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::files;
use rpcgraph::query::catalogue::CATALOGUE;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Commands of the README's console blocks, each with the lines shown below it.
fn shown(readme: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        match (inside, line) {
            (false, "```console") => inside = true,
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

/// Whether the lines are as shown, where `…` stands for any number of lines.
fn matches(shown: &[&str], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((&"…", rest)) => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        Some((first, rest)) => lines.split_first().is_some_and(|(line, lines)| line == first && matches(rest, lines)),
    }
}

/// The words of a command, as a shell has them: in single quotes, spaces are part of a word.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (part, text) in line.split('\'').enumerate() {
        for (index, word) in if part % 2 == 1 { vec![text] } else { text.split(' ').collect() }.into_iter().enumerate()
        {
            if index > 0 {
                words.push(String::new());
            }
            words.last_mut().unwrap().push_str(word);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// How commands begin that are not run here: the tests themselves; what `tests/tables/lake.py` runs, as it stands and with
/// other places.
const ELSEWHERE: [&str; 3] = ["cargo test", "python examples/lake/lake.py ", "spark-submit "];

#[test]
fn commands_of_the_readme() {
    let readme = fs::read_to_string(format!("{ROOT}/README.md")).unwrap();
    // A folder of their own, since some of them write files.
    let folder = tempfile::tempdir().unwrap();
    for example in files(Path::new(&format!("{ROOT}/examples")), "") {
        let copy = folder.path().join(example.strip_prefix(ROOT).unwrap());
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(example, copy).unwrap();
    }
    let mut run = 0;
    for (command, expected) in shown(&readme) {
        let arguments = match command.strip_prefix("cargo run --release -- ").or(command.strip_prefix("rpcgraph ")) {
            Some(arguments) => arguments,
            None => {
                assert!(
                    ELSEWHERE.iter().any(|known| command.starts_with(known)),
                    "a command that nobody runs: {command}"
                );
                continue;
            }
        };
        let output = Command::new(env!("CARGO_BIN_EXE_rpcgraph"))
            .args(words(arguments))
            .current_dir(folder.path())
            .output()
            .expect("the command runs");
        assert!(output.status.success(), "{command}: {}", output.status);
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert!(matches(&expected, &lines), "{command} prints\n{text}");
        run += 1;
    }
    assert_eq!(run, 18);
}

/// The long options that a text names.
fn long_options(text: &str) -> BTreeSet<String> {
    text.split(|character: char| !(character.is_ascii_alphabetic() || character == '-'))
        .filter(|word| word.starts_with("--") && word.len() > 2 && *word != "--help")
        .map(str::to_owned)
        .collect()
}

/// Each command has a table of its options: those of `convert` are not said again.
#[test]
fn options_of_the_readme() {
    let readme = fs::read_to_string(format!("{ROOT}/README.md")).unwrap();
    let of = |command: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_rpcgraph")).args([command, "--help"]).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        // Examples and explanations stand around the options.
        let (_, options) = help.split_once("\nOptions:\n").unwrap();
        let options = options.split("\nExamples:").next().unwrap();
        options
            .lines()
            .filter(|line| line.trim_start().starts_with('-'))
            .flat_map(|line| long_options(line.split("  ").find(|part| part.contains("--")).unwrap_or_default()))
            .collect::<BTreeSet<_>>()
    };
    let convert = of("convert");
    for (command, heading) in
        [("convert", "\n## Commands\n"), ("query", "\n### Asking\n"), ("load", "\n### Stores and servers\n")]
    {
        let (_, section) = readme.split_once(heading).unwrap();
        let section = section.split("\n##").next().unwrap();
        let first_cells: String = section
            .lines()
            .filter(|line| line.starts_with("| `-"))
            .map(|line| line.split(" | ").next().unwrap().to_owned() + "\n")
            .collect();
        let mut expected = of(command);
        if command != "convert" {
            expected.retain(|option| !convert.contains(option));
        }
        assert_eq!(long_options(&first_cells), expected, "{command}");
    }
}

#[test]
fn formats_of_the_readme() {
    let readme = fs::read_to_string(format!("{ROOT}/README.md")).unwrap();
    let (_, section) = readme.split_once("\n## Formats\n").unwrap();
    let (table, _) = section.split_once("\n## ").unwrap();
    let first_cells = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" |")).map(|(cell, _)| cell);
    let mut shown: Vec<_> = first_cells.flat_map(|cell| cell.split(", ")).map(|name| name.trim_matches('`')).collect();
    let mut there: Vec<_> = rpcgraph::record::Format::ALL.iter().map(|format| format.name()).collect();
    shown.sort_unstable();
    there.sort_unstable();
    assert_eq!(shown, there);
}

#[test]
fn queries_of_the_readme() {
    let readme = fs::read_to_string(format!("{ROOT}/README.md")).unwrap();
    let (_, section) = readme.split_once("\n### Questions\n").unwrap();
    let (table, _) = section.split_once("```").unwrap();
    let shown: Vec<_> = table.lines().filter(|line| line.starts_with("| `")).collect();
    let there = CATALOGUE.iter().map(|query| format!("| `{}` | {} |", query.name, query.title()));
    assert_eq!(shown, there.collect::<Vec<_>>());
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
        } else if section.ends_with("dependencies]") && line.contains('=') {
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

/// What help shows is run, by a shell, in a folder with the files that it names. Servers and stores are for other tests.
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
        "convert query ask errors show rebuild queries load register context ontology formats completions man";
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
            if ["--fail-if", "--compare"].iter().any(|option| example.contains(option)) { &[0, 1] } else { &[0] };
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
        .output()
        .expect("a shell");
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    let drawn = String::from_utf8(drawn.stdout).unwrap();
    assert_eq!(fs::read_to_string(format!("{ROOT}/examples/terminal.svg")).unwrap(), drawn);
    assert!(drawn.contains(">Method not found</tspan>"), "{drawn}");
}
