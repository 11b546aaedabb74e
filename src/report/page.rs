//! Writing the page.

use std::io::{self, BufWriter, IntoInnerError, Write};
use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use super::index::PageIndex;
use super::pieces::{PieceFile, TextPiece};
use crate::diagnostic::markup::xml;
use crate::record::page_mark;

const BODY: &str = include_str!("page/body.html");
static STYLE: LazyLock<String> = LazyLock::new(|| compact(include_str!("page/style.css")));
/// The common beginning of the scripts of all pages.
#[cfg(feature = "serve")]
pub(crate) const BASIC: &str = include_str!("page/basic.js");
static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    compact(concat!(
        "\"use strict\";\n(() => {\n",
        include_str!("page/basic.js"),
        include_str!("page/data.js"),
        include_str!("page/filter.js"),
        include_str!("page/search.js"),
        include_str!("page/tree.js"),
        include_str!("page/message.js"),
        include_str!("page/list.js"),
        include_str!("page/waterfall.js"),
        include_str!("page/sequence.js"),
        include_str!("page/side.js"),
        include_str!("page/strip.js"),
        include_str!("page/plots.js"),
        include_str!("page/main.js"),
        "})();\n",
    ))
});

/// The permission of every page beside its own script: a worker for the search.
const MORE: &str = "; worker-src blob:";
/// The further permission of a page from a server: requests to that server.
const SERVED: &str = "; worker-src blob:; connect-src 'self'";

/// The content that a page leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OmittedTexts {
    /// The number of messages and texts in total.
    pub rows: u64,
    /// The number of rows whose text is not in the page.
    pub without_text: u64,
}

/// Writes the page with the chosen pieces, which may be all; `front` is HTML, and `facts` are for its script.
pub(super) fn write(
    title: &str,
    (front, mut facts): (&str, serde_json::Value),
    index: &mut PageIndex,
    pieces: &mut PieceFile,
    (chosen, are_all): &(Vec<TextPiece>, bool),
    out: &mut impl Write,
) -> io::Result<OmittedTexts> {
    let left = OmittedTexts {
        rows: index.len().into(),
        without_text: index.rows.iter().filter(|row| row.place.piece == 0).count() as u64,
    };
    let holds = if index.logs.len() != 1 {
        "several logs"
    } else if *are_all {
        "a log"
    } else {
        "a part of a log"
    };
    writeln!(out, "{}", page_mark(holds))?;
    let more = if facts["sessions"].is_null() { MORE } else { SERVED };
    let body = BODY.replace("<!-- front -->", front);
    writeln!(out, "{}{body}", head(title, &policy(&SCRIPT, more)))?;
    facts["withoutText"] = left.without_text.into();
    writeln!(out, "{}", facts_script(&facts))?;
    // The encoder clears its output buffer on each write, however small.
    let mut encoder = BufWriter::with_capacity(64 << 10, GzEncoder::new(Vec::new(), Compression::best()));
    serde_json::to_writer(&mut encoder, index)?;
    let encoded = encoder.into_inner().map_err(IntoInnerError::into_error)?.finish()?;
    data(out, "index", false, &encoded)?;
    for piece in chosen {
        let bytes = pieces.read(piece)?;
        data(out, &format!("piece-{}", piece.number), piece.of_log, &bytes)?;
    }
    writeln!(out, "<script>{}</script>\n</body>\n</html>", *SCRIPT)?;
    Ok(left)
}

fn data(out: &mut impl Write, id: &str, of_log: bool, bytes: &[u8]) -> io::Result<()> {
    let kind = if of_log { "application/gzip" } else { "application/x-gzip" };
    writeln!(out, "<script type=\"{kind}\" id=\"{id}\">{}</script>", BASE64_STANDARD.encode(bytes))
}

/// Returns the Content-Security-Policy of a page with this script; `more` adds permissions.
pub(crate) fn policy(script: &str, more: &str) -> String {
    let (script, style) = (hash(script), hash(&STYLE));
    format!("default-src 'none'; script-src {script}; style-src {style}; base-uri 'none'; form-action 'none'{more}")
}

/// Returns the beginning of a page, up to its body.
pub(crate) fn head(title: &str, policy: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{}</title>\n<style>{}</style>\n</head>\n",
        xml(title),
        *STYLE
    )
}

/// Returns a script element with data for the script of a page.
pub(crate) fn facts_script(facts: &serde_json::Value) -> String {
    format!("<script type=\"application/json\" id=\"facts\">{}</script>", facts.to_string().replace('<', "\\u003c"))
}

/// Returns the policy of the page, for the server that sends it.
#[cfg(feature = "serve")]
pub(crate) fn own_policy() -> String {
    policy(&SCRIPT, SERVED)
}

/// Returns a script or a style without indentation and the lines of comments, which every page would have.
fn compact(text: &str) -> String {
    let mut is_comment = false;
    let lines = text.lines().map(str::trim_start).filter(|line| {
        let begins = line.starts_with("/*");
        let is_left_out = is_comment || begins || line.starts_with("//") || line.is_empty();
        is_comment = (is_comment || begins) && !line.ends_with("*/");
        !is_left_out
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Returns the source expression of a script or a style in a Content-Security-Policy.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}
