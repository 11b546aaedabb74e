//! Loading: from a reference by the user to a context without remote references.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;
use url::Url;

use super::builtin::{JSON_RPC, JSON_RPC_URL};
use super::cache::Cache;
use super::error::{LoadError, MAX_DOCUMENT};
use super::files::{file_path, file_url};
#[cfg(feature = "http")]
use super::http::fetch;
use super::inline::{Audience, Document, inline};
use super::remote::{self, FetchedDocument, TrustedHosts};
use super::{Context, Reference};

const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Loads contexts from files, over HTTP, from a cache on disk, and from the program itself.
///
/// A context named by URL is fetched over https, or over http from this machine; the same holds for the contexts that
/// it refers to. From this machine and from private networks, contexts are fetched only if [`Loader::load`] was given a
/// URL of the same server. A file may refer to other files, and to a URL that the same loader has already loaded.
/// [`JSON_RPC_URL`] is never fetched.
///
/// A document has at most 4 MiB. References nest at most 16 deep, over at most 64 documents. A whole document, with up
/// to 5 redirects, must arrive within 10 seconds. A cached copy younger than 24 hours is used without a request.
///
/// [Remote contexts](https://www.w3.org/TR/json-ld11-api/#context-processing-algorithm) are taken from JSON documents;
/// `Link` headers and JSON in HTML are ignored. The `@base` of a referenced context is ignored, as JSON-LD
/// specifies; the `@base` of the context that the user named is kept.
#[derive(Debug)]
pub struct Loader {
    offline: bool,
    cache: Cache,
    time_limit: Duration,
    audience: Audience,
    folder: Option<PathBuf>,
    /// URL prefixes, and the folders that replace them.
    mapped: Vec<(String, PathBuf)>,
    /// True if references in files are fetched from hosts that the command line names.
    online: bool,
    hosts: RefCell<TrustedHosts>,
    /// The documents that were read, by the URL that named them.
    documents: RefCell<HashMap<Url, Rc<Document>>>,
    /// The documents fetched for the context being loaded.
    fetched: RefCell<Vec<(Url, FetchedDocument)>>,
}

impl Default for Loader {
    fn default() -> Self {
        Self::new()
    }
}

impl Loader {
    /// Creates an online loader, with the cache in `$XDG_CACHE_HOME/rpcgraph/contexts`, else in
    /// `$HOME/.cache/rpcgraph/contexts`, else in `%LOCALAPPDATA%\rpcgraph\contexts`.
    pub fn new() -> Self {
        Self {
            offline: false,
            cache: Cache::standard(),
            time_limit: TIME_LIMIT,
            audience: Audience::Logs,
            folder: None,
            mapped: Vec::new(),
            online: false,
            hosts: RefCell::default(),
            documents: RefCell::default(),
            fetched: RefCell::default(),
        }
    }

    /// Forbids fetching if true. Cached copies of any age are then used.
    #[must_use]
    pub fn offline(mut self, offline: bool) -> Self {
        self.offline = offline;
        self
    }

    /// Sets the folder for copies of fetched contexts; `None` disables the cache. The folder is created when first
    /// needed.
    #[must_use]
    pub fn cache_dir(mut self, dir: Option<PathBuf>) -> Self {
        self.cache = Cache::new(dir);
        self
    }

    /// Sets the time limit for each fetched document, including redirects; the default is 10 seconds.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Allows contexts for documents of their own authors: they may alias keywords, define any term, and be null. Not
    /// for logs, which could then name nodes and types.
    ///
    /// Files are read only below `folder`, also through links; its path is canonical. The folders of `mapped` replace
    /// the URLs that begin with a prefix, and files one URL: files in them are not fetched.
    #[must_use]
    pub fn for_authors(self, folder: PathBuf, mapped: Vec<(String, PathBuf)>) -> Self {
        Self { audience: Audience::Authors, folder: Some(folder), mapped, ..self }
    }

    /// Fetches references in files from the hosts of these URLs, which the command line names.
    pub fn online(mut self, urls: &[String]) -> Result<Self, LoadError> {
        self.online = true;
        urls.iter().try_for_each(|url| parse_url(url).map(|url| self.hosts.get_mut().add(&url)))?;
        Ok(self)
    }

    /// Returns the text of a document: a file of a mapped folder, or a document fetched from a host that the command
    /// line names. `by` is the referrer, for messages.
    pub fn text(&self, url: &str, by: &str) -> Result<String, LoadError> {
        let url = parse_url(url)?;
        let origin = url.to_string();
        let body = match self.mapped_file(&url) {
            Some(path) => read(&path, &origin, || by.to_owned())?,
            None if self.is_named(&url) => {
                remote::check(&url, || by.to_owned())?;
                match self.cache.get(&url, false) {
                    Some(copy) => copy.body,
                    None => {
                        let answer = fetch(&url, self.time_limit, self.hosts.borrow().clone())?;
                        // The copy's age counts from the fetch, not from each use.
                        self.cache.put(&url, &answer);
                        answer.body
                    }
                }
            }
            None => return Err(LoadError::RemoteFromFile { url: origin, origin: by.to_owned() }),
        };
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    fn is_named(&self, url: &Url) -> bool {
        self.online && self.hosts.borrow().has(url)
    }

    /// Returns the file for a URL from the folder with the longest matching prefix, if the file is in that folder.
    fn mapped_file(&self, url: &Url) -> Option<PathBuf> {
        let below = |(prefix, folder): &(String, PathBuf)| {
            let rest = url.as_str().strip_prefix(prefix.as_str())?.split(['?', '#']).next()?;
            let is_part = prefix.ends_with('/') || rest.is_empty() || rest.starts_with('/');
            let rest = percent_encoding::percent_decode_str(rest.trim_start_matches('/')).decode_utf8().ok()?;
            let folder = std::fs::canonicalize(folder).ok()?;
            let file =
                if rest.is_empty() { folder.clone() } else { std::fs::canonicalize(folder.join(&*rest)).ok()? };
            (is_part && file.starts_with(folder) && file.is_file()).then_some((prefix.len(), file))
        };
        self.mapped.iter().filter_map(below).max().map(|(_, file)| file)
    }

    /// Answers a URL with a file from now on, instead of fetching it.
    pub fn publish(&self, url: &str, path: &Path) -> Result<(), LoadError> {
        let url = parse_url(url)?;
        let document = self.file(&absolute_url(path)?, path, by_command_line)?;
        self.documents.borrow_mut().insert(url, document);
        Ok(())
    }

    /// Inlines a context that is part of a file, as [`Loader::load`] does for a whole file.
    pub fn load_value(&self, path: &Path, context: Value) -> Result<Context, LoadError> {
        let name = self.name(path);
        let location = Some(absolute_url(path)?);
        let size = context.to_string().len();
        let root = Document { name: name.clone(), location, context, size };
        self.inlined(name, root.into())
    }

    /// Loads the `@context` of a document, and replaces every string reference and `@import` in it, also in the
    /// contexts of terms. References are resolved against the document that holds them.
    pub fn load(&self, reference: &Reference) -> Result<Context, LoadError> {
        let root = match reference {
            Reference::Mcp => return Ok(super::builtin::mcp()),
            Reference::File(path) => self.file(&absolute_url(path)?, path, by_command_line)?,
            Reference::Url(url) => {
                let url = parse_url(url)?;
                self.hosts.borrow_mut().add(&url);
                self.remote(&url, by_command_line)?
            }
        };
        self.inlined(reference.to_string(), root)
    }

    fn inlined(&self, origin: String, root: Rc<Document>) -> Result<Context, LoadError> {
        let value = inline(root, self.audience, &mut |here, reference| self.resolve(here, reference));
        let (fetched, value) = (self.fetched.take(), value?);
        // Cached only after inlining, since a refused document may be corrected soon.
        for (url, document) in &fetched {
            self.cache.put(url, document);
        }
        Ok(Context::unchecked(origin, value))
    }

    fn resolve(&self, here: &Document, reference: &str) -> Result<Rc<Document>, LoadError> {
        let by = || format!("`{}`", here.name);
        let url = here.location.as_ref().and_then(|base| base.join(reference).ok());
        let mut url = url.ok_or_else(|| bad_reference(reference, by()))?;
        url.set_fragment(None);
        let from_file = here.location.as_ref().is_some_and(|location| location.scheme() == "file");
        match (from_file, url.scheme()) {
            (true, "file") => {
                let path = file_path(&url).ok_or_else(|| bad_reference(reference, by()))?;
                self.file(&url, &path, by)
            }
            (true, "http" | "https") => match self.known(&url) {
                Some(document) => Ok(document),
                None if self.is_named(&url) => self.remote(&url, by),
                None => Err(LoadError::RemoteFromFile { url: url.to_string(), origin: here.name.clone() }),
            },
            _ => self.remote(&url, by),
        }
    }

    /// Returns a document that does not have to be fetched: the built-in document, one that was read before, or a
    /// mapped file.
    fn known(&self, url: &Url) -> Option<Rc<Document>> {
        if let Some(document) = self.documents.borrow().get(url) {
            return Some(Rc::clone(document));
        }
        let parsed = |text: &[u8]| parse(url.to_string(), url.clone(), text).ok();
        let mapped = self.mapped_file(url).and_then(|path| parsed(&read(&path, url.as_str(), String::new).ok()?));
        let builtin = || parsed(JSON_RPC.as_bytes()).filter(|_| url.as_str() == JSON_RPC_URL);
        Some(self.keep(url, mapped.or_else(builtin)?))
    }

    fn keep(&self, url: &Url, document: Document) -> Rc<Document> {
        let document = Rc::new(document);
        self.documents.borrow_mut().insert(url.clone(), Rc::clone(&document));
        document
    }

    fn file(&self, url: &Url, path: &Path, by: impl Fn() -> String) -> Result<Rc<Document>, LoadError> {
        if let Some(document) = self.known(url) {
            return Ok(document);
        }
        // A reference in a document may have put control characters into the path.
        let origin = self.name(path).replace(char::is_control, "\u{FFFD}");
        if let Some(folder) = &self.folder
            && let Ok(real) = std::fs::canonicalize(path)
        {
            if !real.starts_with(folder) {
                return Err(LoadError::Outside { origin, by: by() });
            }
            // Reading a named pipe would block until a writer opens it.
            if !real.is_file() {
                let source = std::io::Error::other("it is not a file");
                return Err(LoadError::Read { origin, by: by(), source });
            }
        }
        let text = read(path, &origin, by)?;
        Ok(self.keep(url, parse(origin, url.clone(), &text)?))
    }

    /// Returns a path for messages. For authors, it is relative to their folder.
    fn name(&self, path: &Path) -> String {
        let relative = |folder: &PathBuf| match path.strip_prefix(folder) {
            Ok(below) => Some(below.to_owned()),
            Err(_) => Some(Path::new("..").join(path.strip_prefix(folder.parent()?).ok()?)),
        };
        self.folder.as_ref().and_then(relative).unwrap_or_else(|| path.to_owned()).display().to_string()
    }

    fn remote(&self, url: &Url, by: impl Fn() -> String) -> Result<Rc<Document>, LoadError> {
        remote::check(url, &by)?;
        let hosts = self.hosts.borrow();
        hosts.check(url, by)?;
        if let Some(document) = self.known(url) {
            return Ok(document);
        }
        let read = |answer: &FetchedDocument| parse(url.to_string(), answer.location.clone(), &answer.body);
        if let Some(document) = self.cache.get(url, self.offline).and_then(|copy| read(&copy).ok()) {
            return Ok(self.keep(url, document));
        }
        if self.offline {
            return Err(LoadError::Offline(url.to_string()));
        }
        let answer = fetch(url, self.time_limit, hosts.clone())?;
        let document = read(&answer)?;
        self.fetched.borrow_mut().push((url.clone(), answer));
        Ok(self.keep(url, document))
    }
}

#[cfg(not(feature = "http"))]
fn fetch(url: &Url, _: Duration, _: TrustedHosts) -> Result<FetchedDocument, LoadError> {
    Err(LoadError::NoHttp(url.to_string()))
}

/// Reads the file of a document.
fn read(path: &Path, origin: &str, by: impl Fn() -> String) -> Result<Vec<u8>, LoadError> {
    let mut text = Vec::new();
    match File::open(path).and_then(|file| file.take(MAX_DOCUMENT as u64 + 1).read_to_end(&mut text)) {
        Err(source) => Err(LoadError::Read { origin: origin.to_owned(), by: by(), source }),
        Ok(_) if text.len() > MAX_DOCUMENT => Err(LoadError::TooLarge(origin.to_owned())),
        Ok(_) => Ok(text),
    }
}

fn by_command_line() -> String {
    "the command line".to_owned()
}

fn absolute_url(path: &Path) -> Result<Url, LoadError> {
    let url = std::path::absolute(path).ok().and_then(|path| file_url(&path));
    url.ok_or_else(|| bad_reference(&path.to_string_lossy(), by_command_line()))
}

/// Parses a URL that the user named, without its fragment.
fn parse_url(text: &str) -> Result<Url, LoadError> {
    let mut url = Url::parse(text).map_err(|_| bad_reference(text, by_command_line()))?;
    url.set_fragment(None);
    Ok(url)
}

fn bad_reference(reference: &str, by: String) -> LoadError {
    LoadError::BadReference { reference: reference.to_owned(), by }
}

/// Parses a document, which holds its context under `@context`.
fn parse(name: String, location: Url, text: &[u8]) -> Result<Document, LoadError> {
    match serde_json::from_slice(text) {
        Ok(Value::Object(mut entries)) => match entries.swap_remove("@context") {
            Some(context) => Ok(Document { name, location: Some(location), context, size: text.len() }),
            None => Err(LoadError::NoContext(name)),
        },
        Ok(_) => Err(LoadError::NoContext(name)),
        Err(source) => Err(LoadError::NotJson { origin: name, source }),
    }
}
