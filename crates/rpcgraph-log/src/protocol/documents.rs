//! The documents named in messages of the Language Server Protocol, and the reports about them.
//!
//! `documents.txt` lists, for each method, the paths of documents; `documents.py` generates it from the types in the
//! protocol's metaModel.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::{TextDigest, key};
use crate::json::{self, member};

/// One line per method and part (`params` or `result`), with the paths.
const DOCUMENTS: &str = include_str!("documents.txt");

static PATHS: LazyLock<HashMap<(&str, &str), Vec<&str>>> = LazyLock::new(|| {
    let read = |line: &'static str| {
        let mut words = line.split(' ');
        Some(((words.next()?, words.next()?), words.collect()))
    };
    DOCUMENTS.lines().filter_map(read).collect()
});

/// A document named in a message, with the statements about it there.
pub(crate) struct DocumentMention<'a> {
    pub uri: Cow<'a, str>,
    /// The digest of the document, equal for all spellings of its URI.
    pub document: TextDigest,
    pub members: DocumentMembers<'a>,
}

/// The members of an object that describe a document.
#[derive(Default)]
pub(crate) struct DocumentMembers<'a> {
    uri: Option<Cow<'a, str>>,
    /// An integer.
    pub version: Option<&'a str>,
    pub language: Option<Cow<'a, str>>,
    /// `full` or `unchanged`, in a report that was requested.
    pub kind: Option<Cow<'a, str>>,
    pub result_id: Option<Cow<'a, str>>,
    /// All diagnostics of the document: the digest of each, and its canonical JSON.
    pub diagnostics: Option<Vec<(TextDigest, &'a str)>>,
}

/// The answer to a request for diagnostics, or a partial result of it.
pub(crate) struct DiagnosticsReports<'a> {
    /// The report on the document in the request.
    pub own: Option<DocumentMembers<'a>>,
    pub others: Vec<DocumentMention<'a>>,
}

/// Returns the documents named in the `params` or `result` of a method, given in canonical text.
pub(super) fn mentions<'a>(method: &str, part: &str, text: &'a str) -> Vec<DocumentMention<'a>> {
    let mut found = Vec::new();
    for path in PATHS.get(&(method, part)).into_iter().flatten() {
        walk(text, path, &mut found);
    }
    found
}

fn walk<'a>(text: &'a str, path: &str, found: &mut Vec<DocumentMention<'a>>) {
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    match step {
        "" => found.extend(json::string(text).map(|uri| DocumentMention::new(uri, DocumentMembers::default()))),
        "uri" => {
            let mut members = DocumentMembers::read(text);
            found.extend(members.uri.take().map(|uri| DocumentMention::new(uri, members)));
        }
        "[]" => json::elements(text).for_each(|element| walk(element, rest, found)),
        "{}" => json::members(text).for_each(|(_, value)| walk(value, rest, found)),
        "{key}" => {
            let read = |(name, value)| Some(DocumentMention::new(json::unescaped(name)?, DocumentMembers::read(value)));
            found.extend(json::members(text).filter_map(read));
        }
        name => member(text, name).into_iter().for_each(|value| walk(value, rest, found)),
    }
}

impl<'a> DocumentMention<'a> {
    fn new(uri: Cow<'a, str>, members: DocumentMembers<'a>) -> Self {
        Self { document: document_key(&uri), uri, members }
    }
}

impl<'a> DocumentMembers<'a> {
    fn read(object: &'a str) -> Self {
        let mut members = Self::default();
        for (name, value) in json::members(object) {
            match name {
                "uri" => members.uri = json::string(value),
                "version" => members.version = Some(value).filter(|value| value.parse::<i64>().is_ok()),
                "languageId" => members.language = json::string(value),
                "kind" => members.kind = json::string(value).filter(|_| is_kind_of_report(value)),
                "resultId" => members.result_id = json::string(value),
                "diagnostics" | "items" if value.starts_with('[') => {
                    members.diagnostics = Some(json::elements(value).map(|text| (key(text), text)).collect());
                }
                _ => {}
            }
        }
        members
    }
}

fn is_kind_of_report(text: &str) -> bool {
    matches!(text, "\"full\"" | "\"unchanged\"")
}

impl<'a> DiagnosticsReports<'a> {
    /// Parses reports from a result or a partial result, in canonical text.
    pub fn read(text: &'a str) -> Option<Self> {
        let is_report = |object| member(object, "kind").is_some_and(is_kind_of_report);
        let is_own = is_report(text);
        let mut items = member(text, "items").into_iter().flat_map(json::elements);
        let of_workspace = !is_own && items.next().is_some_and(is_report);
        if !is_own && !of_workspace && member(text, "relatedDocuments").is_none() {
            return None;
        }
        let method = if of_workspace { "workspace/diagnostic" } else { "textDocument/diagnostic" };
        Some(Self { own: is_own.then(|| DocumentMembers::read(text)), others: mentions(method, "result", text) })
    }
}

/// Returns a digest of the document's URI that ignores needless percent-encoding and the case of the scheme and of a
/// drive letter.
fn document_key(uri: &str) -> TextDigest {
    let scheme = uri.find(':').unwrap_or(0);
    let mut plain = uri.get(..scheme).unwrap_or_default().to_ascii_lowercase().into_bytes();
    let mut rest = uri.as_bytes().get(scheme..).unwrap_or_default();
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.first_chunk::<2>().filter(|_| *byte == b'%');
        let decoded = digits.and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
        match decoded {
            // An encoded delimiter differs from a plain one.
            Some(delimiter @ (b'%' | b'/' | b'?' | b'#')) => plain.extend([b'%', delimiter]),
            Some(decoded) => plain.push(decoded),
            None => plain.push(*byte),
        }
        rest = after.get(if decoded.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    if plain.starts_with(b"file:///")
        && plain.get(9) == Some(&b':')
        && let Some(drive) = plain.get_mut(8)
    {
        drive.make_ascii_lowercase();
    }
    key(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_uri() {
        for (one, other, same) in [
            ("file:///c%3A/a%20b", "file:///C:/a b", true),
            ("FILE:///c:/%e4%bd%a0", "file:///c:/你", true),
            ("file:///a/%41", "file:///a/A", true),
            ("untitled:Untitled-1", "untitled:untitled-1", false),
            ("file:///a%2Fb", "file:///a/b", false),
            ("file:///a%252F", "file:///a%2F", false),
            ("file:///a%2f", "file:///a%2F", true),
            ("file:///a%", "file:///a%25", false),
            ("file:///A", "file:///a", false),
            ("c:", "C:", true),
            ("", "%", false),
        ] {
            assert_eq!(document_key(one) == document_key(other), same, "{one} {other}");
        }
    }

    #[test]
    fn documents_are_found_where_the_table_says() {
        let found = |method, part, text| {
            let found = mentions(method, part, text).into_iter();
            found.map(|mention| format!("{} {:?}", mention.uri, mention.members.version)).collect::<Vec<_>>().join(", ")
        };
        for (method, text, expected) in [
            ("textDocument/didChange", r#"{"textDocument":{"uri":"a","version":3}}"#, "a Some(\"3\")"),
            ("textDocument/didChange", r#"{"textDocument":{"uri":["a"]},"uri":"b"}"#, ""),
            ("textDocument/didOpen", r#"{"textDocument":{"uri":"a","version":1.5}}"#, "a None"),
            ("workspace/didRenameFiles", r#"{"files":[{"newUri":"b","oldUri":"a"},7]}"#, "b None, a None"),
            (
                "workspace/applyEdit",
                r#"{"edit":{"changes":{"a":[]},"documentChanges":[{"textDocument":{"uri":"b","version":null}},{"kind":"create","uri":"c"}]}}"#,
                "a None, c None, b None",
            ),
            ("workspace/configuration", r#"{"items":[{"scopeUri":"a"}]}"#, ""),
            ("initialize", r#"{"rootUri":"a"}"#, ""),
            ("subtract", r#"{"textDocument":{"uri":"a"}}"#, ""),
        ] {
            assert_eq!(found(method, "params", text), expected, "{text}");
        }
        let report = r#"{"items":[],"kind":"full","relatedDocuments":{"a":{"items":[{"relatedInformation":[{"location":{"uri":"b"}}]}],"kind":"full"}}}"#;
        assert_eq!(found("textDocument/diagnostic", "result", report), "a None, b None");
    }

    /// Compares the table with the metaModels, if they are present beside the corpora.
    #[test]
    #[ignore = "needs RPCGRAPH_CORPORA"]
    fn documents_are_those_beside_the_corpora() {
        let corpora = std::path::PathBuf::from(std::env::var_os("RPCGRAPH_CORPORA").expect("it is set"));
        let protocols = corpora.join("../reference/protocols");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/protocol/documents.py");
        let output = std::process::Command::new("python3").arg(script).arg(&protocols).output().expect("Python runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), DOCUMENTS);
    }
}
