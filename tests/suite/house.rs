//! `.ci/house`, which checks imports between files: small crates with what it finds.

use std::fs;
use std::process::Command;

use super::support::own;

/// The exit status of `.ci/house` and what it prints, over files by their path below `src`. `house.txt` is the list of what is known.
fn house(files: &[(&str, &str)]) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let rooms = "//! ```text rooms\n//! low   what lies below\n//! high  what lies above\n//! ```\n";
    let usual = [
        ("lib.rs", rooms),
        ("low.rs", "pub struct Low;\n"),
        ("high.rs", "pub struct High;\n"),
        ("../.ci/house.txt", ""),
    ];
    for (path, text) in usual.iter().chain(files) {
        let path = folder.path().join("src").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::create_dir_all(folder.path().join(".ci")).unwrap();
        fs::write(path, text).unwrap();
    }
    let output = Command::new(own(".ci/house")).arg(folder.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.success(), text)
}

#[track_caller]
fn finds(files: &[(&str, &str)], finding: &str) {
    let (holds, text) = house(files);
    assert!(!holds && text.lines().any(|line| line == finding), "no `{finding}` in\n{text}");
}

#[track_caller]
fn holds(files: &[(&str, &str)]) {
    let (holds, text) = house(files);
    assert!(holds, "{text}");
}

#[test]
fn the_project_keeps_its_rules() {
    let output = Command::new(own(".ci/house")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn lines_are_counted_by_room() {
    let (holds, text) = house(&[("high/part.rs", "// Why.\npub struct Part;\n")]);
    assert!(holds && text.contains("     2 high\n     1 low\n"), "{text}");
}

#[test]
fn an_import_against_the_order_of_rooms_fails() {
    finds(&[("low.rs", "use crate::high::High;\n")], "new: up low high");
    finds(
        &[
            ("low.rs", "use crate::{\n    high::{\n        self,\n        part::Part as Named,\n    },\n};\n"),
            ("high/part.rs", ""),
        ],
        "new: up low high::part",
    );
    finds(&[("low.rs", "fn make() {\n    let made = crate::high::make();\n}\n")], "new: up low high");
    finds(&[("low/deep.rs", "pub(crate) use super::super::high::High;\n")], "new: up low::deep high");
    finds(&[("low.rs", "use crate as root;\nfn make() -> root::high::High {}\n")], "new: up low high");
    finds(
        &[
            ("lib.rs", "//! ```text rooms\n//! low high\n//! ```\npub use self::high::High;\n"),
            ("low.rs", "use crate::High;\n"),
        ],
        "new: up low high",
    );
}

#[test]
fn tests_strings_and_comments_import_nothing() {
    holds(&[("low.rs", "pub struct Low;\n#[cfg(test)]\nmod tests {\n    use crate::high::High;\n}\n")]);
    holds(&[(
        "low.rs",
        "// crate::high::High\nconst A: (&str, char) = (\"crate::high \\\" ::High\", '\"');\n/* crate::high::High */\n",
    )]);
    holds(&[(
        "low.rs",
        "const A: &str = r#\"\n\" crate::high::High\n\"#;\nfn a<'a>(a: &'a str) -> impl Iterator + use<'a> {}\n",
    )]);
}

#[test]
fn a_circle_of_files_fails() {
    let part = ("high/part.rs", "use super::Base;\npub struct Part;\n");
    let user = ("high.rs", "mod part;\nuse self::part::Part;\npub struct Base;\n");
    finds(&[user, part], "new: circle high high::part");
    finds(
        &[("high.rs", "mod part;\npub struct Base;\nfn part() -> part::Part {}\n"), part],
        "new: circle high high::part",
    );
    // By way of a third file.
    let between = ("high/between.rs", "use super::part::Part;\n");
    finds(
        &[("high.rs", "mod between;\nuse between::A;\n"), part, between],
        "new: circle high high::between high::part",
    );
    // A name that is only passed on is no need, and leads to the file that has it.
    holds(&[("high.rs", "mod part;\npub use self::part::Part;\npub struct Base;\n"), part]);
    let both = ("high/both.rs", "use super::Part;\n");
    finds(
        &[
            ("high.rs", "mod part;\nmod both;\npub use self::part::Part;\n"),
            ("high/part.rs", "use super::both::A;\n"),
            both,
        ],
        "new: circle high::both high::part",
    );
}

#[test]
fn listed_exceptions_pass_while_they_hold() {
    let up = ("low.rs", "use crate::high::part::Part;\n");
    let part = ("high/part.rs", "");
    holds(&[up, part, ("../.ci/house.txt", "# Why.\nup low high::part\n")]);
    finds(&[("../.ci/house.txt", "up low high::part\n"), part], "no longer so, delete the line: up low high::part");
    let circle = [("high.rs", "use self::part::Part;\n"), ("high/part.rs", "use super::Base;\n")];
    let listed = ("../.ci/house.txt", "circle high high::other high::part\n");
    finds(&[circle[0], circle[1], listed], "smaller, replace the longer line: circle high high::part");
}

#[test]
fn every_room_is_listed_once_it_exists() {
    finds(&[("attic.rs", "use crate::high::High;\n")], "src/lib.rs does not list the room attic");
    finds(
        &[("lib.rs", "//! ```text rooms\n//! low high cellar\n//! ```\n")],
        "src/lib.rs lists cellar, which does not exist",
    );
}
