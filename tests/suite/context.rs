//! Contexts: what is built in, what is loaded from files and over HTTP, what is refused.
#![expect(clippy::unwrap_used, reason = "clippy sees tests in functions marked so, but not their helpers")]

mod remote;

use std::fs::{self, File};
use std::io::Write;
use std::net::ToSocketAddrs as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rpcgraph::context::{
    Context, JSON_RPC, JSON_RPC_SCHEMA, JSON_RPC_URL, LoadError, Loader, RPCGRAPH, Reference, builtin,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::{Server, ok, redirect};

const HOUR: Duration = Duration::from_secs(60 * 60);
const FROM_WHERE: &str = "contexts come from https URLs without a password, or from http on this machine (localhost, \
                          127.0.0.0/8, [::1]); save it to a file and name the file with -c";

/// Refers to the context at a path of the server.
fn at(server: &Server, path: &str) -> Reference {
    Reference::Url(format!("{}{path}", server.url))
}

/// A loader that keeps nothing on disk.
fn loader() -> Loader {
    Loader::new().cache_dir(None)
}

fn load(reference: &Reference) -> Result<Context, LoadError> {
    loader().load(reference)
}

fn refusal(result: Result<Context, LoadError>) -> String {
    result.map(|context| context.value().clone()).unwrap_err().to_string()
}

fn write(dir: &TempDir, name: &str, document: &Value) -> PathBuf {
    let path = dir.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, document.to_string()).unwrap();
    path
}

/// Returns the error for a document with this context in a file; the name of the file is replaced by `FILE`.
fn refused(context: Value) -> String {
    let dir = TempDir::new().unwrap();
    let path = write(&dir, "c.jsonld", &json!({ "@context": context }));
    refusal(load(&Reference::File(path.clone()))).replace(path.to_str().unwrap(), "FILE")
}

/// Returns the inlined form of a context in a file.
fn inlined(context: Value) -> Value {
    let dir = TempDir::new().unwrap();
    load(&Reference::File(write(&dir, "c.jsonld", &json!({ "@context": context })))).unwrap().value().clone()
}

fn copies(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).map(|entries| entries.map(|entry| entry.unwrap().path()).collect()).unwrap_or_default()
}

#[test]
fn arguments_are_urls_or_files() {
    for url in ["http://a.example/c", "https://a.example/c", "HTTPS://a.example/c"] {
        assert_eq!(Reference::parse(url), Reference::Url(url.into()));
    }
    for path in ["c.jsonld", "/a/c.jsonld", "http", "http:c", "file:///c", "C:\\c.jsonld", "é://x", ""] {
        assert_eq!(Reference::parse(path), Reference::File(path.into()));
        assert_eq!(Reference::parse(path).to_string(), path);
    }
}

#[test]
fn built_in_contexts_pass_the_checks_made_on_others() {
    let texts = [JSON_RPC, RPCGRAPH];
    assert_eq!(builtin().len(), texts.len());
    for (context, text) in builtin().iter().zip(texts) {
        let document: Value = serde_json::from_str(text).unwrap();
        assert_eq!(context.value(), &document["@context"]);
        assert_eq!(&Context::from_value(context.origin(), context.value().clone()).unwrap(), context);
    }
    for member in ["jsonrpc", "id", "method", "params", "result", "error"] {
        assert!(builtin()[0].terms().contains(member), "{member}");
    }
    assert!(!builtin()[0].terms().contains("code"), "the terms of an error are scoped to it");
    assert!(serde_json::from_str::<Value>(JSON_RPC_SCHEMA).unwrap().is_object());
}

#[test]
fn the_public_url_of_the_block_is_answered_from_the_program() {
    let cache = TempDir::new().unwrap();
    let loader = || Loader::new().cache_dir(Some(cache.path().into())).offline(true);
    let named = loader().load(&Reference::Url(JSON_RPC_URL.into())).unwrap();
    assert_eq!((named.origin(), named.value()), (JSON_RPC_URL, builtin()[0].value()));

    // In a file, and as the target of a redirect, too; its @base then has no effect.
    let dir = TempDir::new().unwrap();
    let file = write(&dir, "c.jsonld", &json!({ "@context": [JSON_RPC_URL, { "x": "http://x.example/x" }] }));
    let context = loader().load(&Reference::File(file)).unwrap();
    assert_eq!(context.value()[0]["method"], builtin()[0].value()["method"]);
    assert_eq!(context.value()[0].get("@base"), None);
    assert!(context.terms().contains("x") && context.terms().contains("jsonrpc"));
    let server = Server::start(|_, stream| redirect(stream, JSON_RPC_URL));
    assert_eq!(load(&at(&server, "/")).unwrap().value(), builtin()[0].value());
    assert_eq!(copies(cache.path()), [] as [PathBuf; 0]);

    // A file in its place that is not JSON does not hide it.
    let folder = fs::canonicalize(dir.path()).unwrap();
    let (start, name) = JSON_RPC_URL.rsplit_once('/').unwrap();
    fs::write(folder.join(name), "{").unwrap();
    let mapped = loader().for_authors(folder.clone(), vec![(start.to_owned(), folder)]);
    assert_eq!(mapped.load(&Reference::Url(JSON_RPC_URL.into())).unwrap().value(), builtin()[0].value());
}

#[test]
fn terms_are_those_that_map_something() {
    let context = json!([
        {
            "@version": 1.1, "@vocab": "http://x.example/", "@type": { "@container": "@set" }, "@future": "x:y",
            "a": "x:a", "b": { "@id": "x:b" }, "c": { "@type": "@json" }, "d": { "@reverse": "x:d" },
            "gone": "x:gone", "none": null, "null": { "@id": null }, "ignored": "@future"
        },
        { "gone": null, "e": { "@id": "x:e", "@context": { "inner": "x:inner" } } }
    ]);
    let context = Context::from_value("here", context).unwrap();
    assert_eq!(context.terms().iter().collect::<Vec<_>>(), ["a", "b", "c", "d", "e"]);
    assert!(context.sets_vocab());
    let context = Context::from_value("here", json!([{ "@vocab": "http://x.example/" }, { "@vocab": null }])).unwrap();
    assert!(!context.sets_vocab() && context.terms().is_empty());
}

#[test]
fn a_value_is_checked_and_not_loaded() {
    let from = |value| Context::from_value("here", value);
    assert_eq!(from(json!({ "a": "x:a" })).unwrap().origin(), "here");
    let message = "the context `here` still refers to \"c.jsonld\": load it with a loader";
    assert_eq!(refusal(from(json!(["c.jsonld"]))), message);
    assert_eq!(refusal(from(json!({ "@import": "c.jsonld" }))), message);
    assert_eq!(refusal(from(json!({ "a": { "@id": "x:a", "@context": "c.jsonld" } }))), message);
    assert!(matches!(from(json!({ "a": "@graph" })), Err(LoadError::KeywordAlias { .. })));
    assert!(matches!(from(json!(null)), Err(LoadError::NullContext { .. })));
}

#[test]
fn files_refer_to_files_beside_them() {
    let dir = TempDir::new().unwrap();
    let a = write(
        &dir,
        "a.jsonld",
        &json!({ "@context": ["sub/b%20b.jsonld", { "t": { "@id": "x:t", "@context": "sub/c.jsonld" } }] }),
    );
    write(&dir, "sub/b b.jsonld", &json!({ "@context": ["c.jsonld", { "b": "x:b", "@base": "http://b.example/" }] }));
    write(&dir, "sub/c.jsonld", &json!({ "@context": { "c": "x:c" }, "other": 1 }));
    let expected = json!([{ "c": "x:c" }, { "b": "x:b" }, { "t": { "@id": "x:t", "@context": { "c": "x:c" } } }]);
    let context = load(&Reference::File(a.clone())).unwrap();
    assert_eq!(context.value(), &expected);
    assert_eq!(context.origin(), a.to_str().unwrap());
    assert_eq!(context.terms().iter().collect::<Vec<_>>(), ["b", "c", "t"]);
    let url = url::Url::from_file_path(dir.path().join("sub/c.jsonld")).unwrap();
    assert_eq!(inlined(json!([url.as_str(), []]).take()[0].take()), json!({ "c": "x:c" }));
}

#[test]
fn imports_are_overridden_by_what_imports_them() {
    let dir = TempDir::new().unwrap();
    let a = json!({ "@context": { "@version": 1.1, "@import": "sub/b.jsonld", "a": "x:a", "both": "x:a-both" } });
    let b = json!({ "@context": {
        "@base": "http://b.example/", "both": "x:b-both", "b": { "@id": "x:b", "@context": "c.jsonld" }
    } });
    let a = write(&dir, "a.jsonld", &a);
    write(&dir, "sub/b.jsonld", &b);
    write(&dir, "sub/c.jsonld", &json!({ "@context": { "c": "x:c" } }));
    let expected = json!({
        "@base": "http://b.example/", "both": "x:a-both", "b": { "@id": "x:b", "@context": { "c": "x:c" } },
        "@version": 1.1, "a": "x:a"
    });
    assert_eq!(load(&Reference::File(a)).unwrap().value(), &expected);

    for wrong in [json!([{}]), json!("c.jsonld"), json!(null), json!({ "@import": "c.jsonld" })] {
        write(&dir, "sub/b.jsonld", &json!({ "@context": wrong }));
        let term = json!({ "t": { "@id": "x:t", "@context": { "@import": "b.jsonld" } } });
        let outer = write(&dir, "sub/a.jsonld", &json!({ "@context": term }));
        let reason = "it must name one context, an object without an @import of its own";
        let message = format!("`{}` has an @import that is wrong: {reason}", outer.display());
        assert_eq!(refusal(load(&Reference::File(outer))), message);
    }
    assert!(refused(json!({ "@import": ["b.jsonld"] })).contains("@import that is wrong"));
    assert!(refused(json!({ "@import": "c.jsonld" })).starts_with("contexts refer to each other in a circle"));
}

#[test]
fn invalid_context_files_are_refused() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("c.jsonld");
    let file = Reference::File(path.clone());
    let refusal = || refusal(load(&file)).replace(path.to_str().unwrap(), "FILE");
    assert_eq!(refusal(), "cannot read the context `FILE`, named by the command line");
    for text in ["[]", "{}", "\"@context\"", "{\"context\": {}}"] {
        fs::write(&path, text).unwrap();
        let message = "`FILE` is not a JSON object with an `@context` entry: put the context under `@context`";
        assert_eq!(refusal(), message);
    }
    for text in ["", "<html>", "{\"@context\": {}", "{\"@context\": {\"a\": NaN}}", &"[".repeat(1000)] {
        fs::write(&path, text).unwrap();
        let message = "the context `FILE` is not JSON: a context is a JSON document with an `@context` entry";
        assert_eq!(refusal(), message);
    }
    fs::write(&path, format!("{{\"@context\": {{}}}}{}", " ".repeat(4 << 20))).unwrap();
    assert_eq!(refusal(), "the context `FILE` is larger than 4194304 bytes: is it a context?");

    let message = "a context in `FILE` is a number: it must be an object, a reference, or an array of these";
    assert_eq!(refused(json!([{}, 1])), message);
    assert!(refused(json!([[]])).starts_with("a context in `FILE` is an array in an array"));
    assert!(refused(json!({ "a": { "@id": "x:a", "@context": true } })).contains("is a boolean"));
}

#[test]
fn a_null_context_may_only_clear_what_is_under_a_term() {
    let message = "`FILE` has a null context, which would wipe out the built-in ones: remove the null";
    assert_eq!(refused(json!(null)), message);
    assert_eq!(refused(json!([{ "a": "x:a" }, null])), message);
    let scoped = json!({ "a": { "@id": "x:a", "@context": [null, { "b": "x:b" }] } });
    assert_eq!(inlined(scoped.clone()), scoped);
}

#[test]
fn keyword_aliases_are_refused_wherever_they_are() {
    let message = "`FILE` makes \"id\" an alias of \"@graph\", so that logs could change their messages: map it to an IRI, \
                   or leave it out";
    assert_eq!(refused(json!({ "id": "@graph" })), message);
    assert_eq!(refused(json!({ "id": { "@id": "@graph" } })), message);
    assert_eq!(refused(json!([{}, { "a": { "@id": "x:a", "@context": [{ "id": "@graph" }] } }])), message);
    // Payloads may name nodes and classes; messages may not.
    let aliases = json!({ "id": "@id", "type": { "@id": "@type", "@container": "@set" } });
    assert_eq!(inlined(aliases.clone()), aliases);
    for member in ["jsonrpc", "method", "params", "result", "error", "code", "message", "data"] {
        assert!(refused(json!({ member: "@id" })).contains("an alias of"), "{member}");
    }
    for keyword in ["@nest", "@graph", "@value", "@reverse", "@context", "@included", "@none", "@", "@:"] {
        assert!(refused(json!({ "t": keyword })).contains("an alias of"), "{keyword}");
    }
    assert!(refused(json!({ "t": { "@reverse": "@type" } })).contains("an alias of"));
    assert!(refused(json!({ "@vocab": "@" })).contains("an alias of"));
    // Control characters out of a document do not reach the terminal.
    assert!(refused(json!({ "\u{1b}[2J": "@graph" })).contains(r#"makes "\u{1b}[2J" an alias"#));
    // Keys that JSON-LD ignores, allows, or reports itself are kept.
    let left =
        json!({ "@future": "x:y", "t": "@future", "@type": { "@container": "@set" }, "j": { "@type": "@json" } });
    assert_eq!(inlined(left.clone()), left);
}

#[test]
fn full_iris_of_annotations_are_no_terms() {
    let iris = [
        "http://json-rpc.org/ontology#hasId",
        "http://json-rpc.org/ontology#",
        "https://w3id.org/rpcgraph#inSession",
        "http://www.w3.org/ns/prov#startedAtTime",
        "http://www.w3.org/2001/XMLSchema#decimal",
    ];
    for iri in iris {
        let message = format!("`FILE` defines {iri:?}, an IRI that rpcgraph itself writes: define a short term for it");
        assert_eq!(refused(json!({ iri: { "@type": "@id" } })), message);
        assert_eq!(refused(json!({ "a": { "@id": "x:a", "@context": { iri: null } } })), message);
    }
    let short = json!({ "rpcg": "https://w3id.org/rpcgraph#", "rpcg:source": { "@type": "@id" } });
    assert_eq!(inlined(short.clone()), short);
}
