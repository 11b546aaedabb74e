//! The page that opens logs in a browser, as `web/build.sh` built it: its answers equal the answers of the command.

use std::path::PathBuf;
use std::process::Command;

use crate::report::shown::browser;
use crate::support::{own, tool};

/// The target folder of a build.
fn build() -> PathBuf {
    tool("RPCGRAPH_WEB", &[])
}

fn passes(node: &mut Command) {
    let output = node.output().expect("node");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    println!("{text}");
    assert!(output.status.success(), "{text}");
}

#[test]
#[ignore = "needs a build by web/build.sh, and Node"]
fn node_gets_the_answers_of_the_command() {
    let folder = build();
    let mut node = Command::new("node");
    passes(
        node.arg(own("tests/browser/program.mjs")).arg(folder.join("web-bindings")).arg(env!("CARGO_BIN_EXE_rpcgraph")),
    );
}

#[test]
#[ignore = "needs a build by web/build.sh, Node and Chromium"]
fn chromium_opens_logs() {
    let (folder, (driver, chromium)) = (build(), browser());
    let mut node = Command::new("node");
    node.arg(own("tests/browser/web.mjs")).arg(chromium).arg(folder.join("web-site"));
    passes(node.env("RPCGRAPH_BROWSER", driver));
}
