//! SECURITY.md: each promise has a test, and each crate that it names is there.

use std::collections::BTreeSet;
use std::fs;

use crate::support::own;

/// The rows of the table under a head, as the texts in backticks in each cell.
fn rows(head: &str) -> Vec<Vec<Vec<String>>> {
    let text = fs::read_to_string(own("SECURITY.md")).expect("SECURITY.md");
    let table = text.split_once(head).expect("a table").1;
    let quoted = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let cells = |line: &str| line.trim_matches('|').split('|').map(quoted).collect();
    table.lines().skip(2).take_while(|line| line.starts_with('|')).map(cells).collect()
}

#[test]
fn each_promise_has_a_test() {
    let rows = rows("| promise | test | inputs |");
    assert!(rows.len() > 15, "{rows:?}");
    for row in rows {
        let [file, name] = row[1].as_slice() else { panic!("a file and a test: {row:?}") };
        let text = fs::read_to_string(own(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        if name.starts_with("# ") {
            assert!(text.lines().any(|line| line == name), "{file} lacks {name}");
            continue;
        }
        let test = format!("fn {name}(");
        let before = text.split_once(&test).unwrap_or_else(|| panic!("{file} has no {test}")).0;
        assert!(
            before.trim_end().rsplit("\n\n").next().expect("lines").contains("#[test]"),
            "{file}: {test} is not a test"
        );
    }
}

#[test]
fn the_crates_that_are_named_are_used() {
    let lock = fs::read_to_string(own("Cargo.lock")).expect("Cargo.lock");
    let used: BTreeSet<_> = lock.lines().filter_map(|line| line.strip_prefix("name = ")).collect();
    let features = ["rocksdb"];
    for name in rows("| crate | bytes |").into_iter().flat_map(|row| row.into_iter().next().expect("crates")) {
        let is_used = used.contains(format!("\"{name}\"").as_str());
        assert!(is_used || features.contains(&name.as_str()), "nothing uses {name}");
    }
}
