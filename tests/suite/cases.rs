//! Cases: runs of the command, a folder each in `tests/cases/`, with a transcript `cmd` and the files that it names.
//!
//! ```text
//! # A comment says what the case shows.
//! $ rpcgraph errors session.ndjson
//! standard output
//! ! standard error
//! [2]
//! $ cat > terms.jsonld
//! < {"@context": {"x": "https://example.org/x"}}
//! $ NAME=value rpcgraph convert -c terms.jsonld - < session.ndjson > graph.ttl
//! ```
//!
//! - Below a command stand its standard input behind `< `, its standard output, its standard error behind `! `, and its exit
//!   status if it is not 0. A line `…` stands for any lines, `[..]` for any part of a line, `/FOLDER` for the folder of the run.
//! - `< FILE`: standard input. `> FILE`: standard output equals `FILE` of the case, as a graph if it is one. `> /dev/null`:
//!   it may be anything.
//! - `$ cat > FILE` writes a file, `$ cat FILE` and `$ ls FOLDER` show files, `$ rm FILE` removes one, `$ mkdir FOLDER` makes
//!   a folder, `$ cp FILE NAME` copies a file of the project.
//!
//! A case runs in a folder that holds its files alone, and leaves no file there that `cmd` does not name.
//! `RPCGRAPH_BLESS=1` writes the output of the commands into `cmd`, and the files behind `>`: review them.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use oxrdfio::RdfFormat;

use crate::cli::{Place, parse};
use crate::support::{canonical, files, own};
use crate::transcript::{matches, words};

/// Runs a command of a case and returns its output in the form of the transcript.
fn output(place: &mut Place, case: &Path, command: &str, input: String) -> String {
    let path = place.path("").canonicalize().expect("a folder").to_string_lossy().trim_end_matches('/').to_owned();
    let (mut stdin, mut target, mut given) = (input.into_bytes(), None, Vec::new());
    let mut words = words(&command.replace("/FOLDER", &path)).into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "<" => stdin = place.read(&words.next().expect("a file")),
            ">" => target = words.next(),
            _ => given.push(word),
        }
    }
    let given: Vec<_> = given.iter().map(String::as_str).collect();
    let (mut status, mut stderr) = (0, String::new());
    let stdout = match given[..] {
        ["cat"] => {
            place.put(&target.expect("a file"), stdin);
            return String::new();
        }
        ["cat", file] => place.read(file),
        ["ls", ref folder @ ..] => place.names_in(&folder.concat()).join("\n").into_bytes(),
        ["rm", file] => fs::remove_file(place.path(file)).map(|()| Vec::new()).expect("a file"),
        ["mkdir", folder] => fs::create_dir(place.path(folder)).map(|()| Vec::new()).expect("a folder"),
        ["cp", from, to] => {
            place.put(to, fs::read(own(from)).expect("a file of the project"));
            Vec::new()
        }
        _ => {
            let program = given.iter().position(|word| *word == "rpcgraph").expect("a command");
            let set = given[..program].iter().map(|set| set.split_once('=').expect("NAME=value"));
            place.environment = set.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            let ran = place.run_with(&given[program + 1..], stdin);
            (status, stderr) = (ran.status.expect("an exit status"), ran.stderr);
            ran.stdout
        }
    };
    let text = String::from_utf8_lossy(&stdout).replace("\r\n", "\n").replace('\r', "␍").replace(&path, "/FOLDER");
    let mut shown = match target.as_deref() {
        None => text,
        Some("/dev/null") => String::new(),
        Some(target) => {
            place.put(target, stdout);
            compared(&case.join(target), &text)
        }
    };
    shown += if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
    for line in stderr.replace(&path, "/FOLDER").lines() {
        shown += format!("! {line}").trim_end();
        shown += "\n";
    }
    if status == 0 { shown } else { format!("{shown}[{status}]\n") }
}

/// Returns the differences between an output and the file of the case that it should equal. With `RPCGRAPH_BLESS`, rewrites
/// the file instead.
fn compared(file: &Path, found: &str) -> String {
    let expected = fs::read_to_string(file).unwrap_or_default();
    let extension = file.extension().unwrap_or_default().to_string_lossy();
    let lines = |text: &str| match RdfFormat::from_extension(&extension).filter(|_| extension != "txt") {
        Some(syntax) => canonical(&parse(syntax, text.as_bytes())),
        None => text.lines().map(str::to_owned).collect(),
    };
    let (expected, lines) = (lines(&expected), lines(found));
    if expected != lines && is_blessed() {
        fs::write(file, found).expect("a file of the case");
        return String::new();
    }
    difference(&expected, &lines)
}

fn is_blessed() -> bool {
    std::env::var_os("RPCGRAPH_BLESS").is_some()
}

/// Returns the missing lines, each behind `-`, and the unexpected lines, each behind `+`; if there are none, says whether the
/// order or the number of lines differs.
fn difference<T: AsRef<str> + PartialEq>(expected: &[T], found: &[T]) -> String {
    let only = |these: &[T], those: &[T], sign: &str| -> String {
        these.iter().filter(|line| !those.contains(line)).map(|line| format!("{sign} {}\n", line.as_ref())).collect()
    };
    let lines = only(expected, found, "-") + &only(found, expected, "+");
    if lines.is_empty() && expected != found {
        "lines in another order, or another number of times\n".to_owned()
    } else {
        lines
    }
}

/// Runs one case and returns the differences from its transcript. With `RPCGRAPH_BLESS`, rewrites the transcript instead.
fn run(case: &Path) -> String {
    let transcript = fs::read_to_string(case.join("cmd")).expect("a transcript");
    let commands = transcript.lines().filter(|line| line.starts_with("$ ") && !line.starts_with("$ cat >"));
    let targets: Vec<_> = commands.filter_map(|command| command.rsplit_once(" > ")).map(|(_, file)| file).collect();
    let mut place = Place::new();
    for path in files(case, "") {
        let name = path.strip_prefix(case).expect("a name").to_string_lossy().into_owned();
        if name != "cmd" && !targets.contains(&name.as_str()) {
            place.put(&name, fs::read(&path).expect("a file"));
        }
    }
    let inputs = place.names();
    let (mut written, mut differences) = (String::new(), String::new());
    let mut lines = transcript.lines().peekable();
    while let Some(line) = lines.next() {
        written += &format!("{line}\n");
        // Other lines are comments and the blank lines around them.
        let Some(command) = line.strip_prefix("$ ") else { continue };
        let mut input = String::new();
        while let Some(line) = lines.next_if(|line| *line == "<" || line.starts_with("< ")) {
            written += &format!("{line}\n");
            input += &format!("{}\n", line.get(2..).unwrap_or_default());
        }
        let is_output = |line: &&str| !["$ ", "# ", "< "].iter().any(|sign| line.starts_with(sign));
        let mut expected: Vec<_> = std::iter::from_fn(|| lines.next_if(is_output)).collect();
        let length = expected.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        let space = expected.split_off(length).len();
        let found = output(&mut place, case, command, input);
        let found: Vec<_> = found.trim_end_matches('\n').lines().collect();
        assert!(found.iter().all(is_output), "{}: send the output of `{command}` to a file", case.display());
        let is_same = matches(&expected, &found);
        for line in if is_same { &expected } else { &found } {
            written += &format!("{line}\n");
        }
        written += &"\n".repeat(space);
        if !is_same {
            differences += &format!("$ {command}\n{}", difference(&expected, &found));
        }
    }
    if is_blessed() {
        fs::write(case.join("cmd"), &written).expect("a transcript");
        differences.clear();
    }
    for name in place.names().iter().filter(|name| !inputs.contains(name) && !transcript.contains(name.as_str())) {
        differences += &format!("{name} is left in the folder\n");
    }
    differences
}

/// Runs one case; `None` if it passes.
fn failure(case: &Path) -> Option<String> {
    let differences = std::panic::catch_unwind(|| run(case)).unwrap_or("panicked, see above\n".to_owned());
    (!differences.is_empty()).then(|| format!("\n{}:\n{differences}", case.display()))
}

#[test]
fn every_case() {
    let mut cases: Vec<PathBuf> =
        fs::read_dir(own("tests/cases")).expect("the cases").map(|entry| entry.expect("an entry").path()).collect();
    cases.sort();
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let failed: Vec<_> = thread::scope(|scope| {
        let run =
            |worker| cases.iter().skip(worker).step_by(workers).filter_map(|case| failure(case)).collect::<Vec<_>>();
        let running: Vec<_> = (0..workers).map(|worker| scope.spawn(move || run(worker))).collect();
        running.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    });
    assert!(failed.is_empty(), "{} of {} cases failed:\n{}", failed.len(), cases.len(), failed.concat());
}
