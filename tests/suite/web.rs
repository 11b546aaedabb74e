//! The page that opens logs in a browser, as `web/build.sh` built it: its answers are those of the command.

use std::path::PathBuf;
use std::process::Command;

use crate::report::browser;
use crate::support::own;

/// The target folder of a build.
fn build() -> Option<PathBuf> {
    let folder = std::env::var_os("RPCGRAPH_WEB").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: RPCGRAPH_WEB is not set");
    }
    folder
}

fn passes(node: &mut Command) {
    let output = node.output().expect("node");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    println!("{text}");
    assert!(output.status.success(), "{text}");
}

#[test]
fn the_program_answers_as_the_command() {
    let Some(folder) = build() else { return };
    let mut node = Command::new("node");
    passes(
        node.arg(own("tests/browser/program.mjs")).arg(folder.join("web-bindings")).arg(env!("CARGO_BIN_EXE_rpcgraph")),
    );
}

#[test]
fn a_browser_opens_logs() {
    let Some((folder, (driver, chromium))) = build().zip(browser()) else { return };
    let mut node = Command::new("node");
    node.arg(own("tests/browser/web.mjs")).arg(chromium).arg(folder.join("web-site"));
    passes(node.env("RPCGRAPH_BROWSER", driver));
}
