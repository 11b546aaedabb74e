//! Inputs: files and standard input, and the IRIs of their sessions.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use oxiri::{Iri, IriRef};
use oxrdfio::RdfFormat;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use rpcgraph::query::rdf_format;
use rpcgraph::vocab::RESERVED;

use super::Failure;
use rpcgraph::diagnostic::printable;

/// IRI of a session that is read from standard input.
const STDIN_IRI: &str = "urn:rpcgraph:stdin";

/// The characters that URLs leave in a path and IRIs do not.
const NOT_IN_IRIS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// An input that has not been opened yet.
#[derive(Debug)]
pub struct InputSource {
    /// As the user named it; `None` for standard input.
    path: Option<PathBuf>,
    pub iri: String,
    pub iri_stated: bool,
}

/// Whether a path stands for standard input, or output.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The inputs, each with the IRI of its session. No two share one: their triples would get mixed up.
pub fn sources(paths: &[PathBuf], base: Option<&str>) -> Result<Vec<InputSource>, Failure> {
    let stdin = [PathBuf::from("-")];
    let paths = if paths.is_empty() { &stdin } else { paths };
    let base = base.map(check_base).transpose()?;
    let mut known: HashMap<String, String> = HashMap::new();
    let mut sources = Vec::with_capacity(paths.len());
    for path in paths {
        let path = (!is_stdin(path)).then(|| path.clone());
        let mut source = InputSource { path, iri: String::new(), iri_stated: base.is_some() };
        source.iri = match &base {
            None => default_iri(source.path.as_deref())?,
            Some(base) if paths.len() == 1 => base.as_str().to_owned(),
            Some(base) => {
                // One segment of a path, in which nothing of the name is syntax.
                let segment = utf8_percent_encode(&source.file_name(), RESERVED).to_string();
                base.resolve(&IriRef::parse(segment)?)?.into_inner()
            }
        };
        if let Some(other) = known.insert(source.iri.clone(), source.name()) {
            bail!(
                "{other} and {} would both be the session <{}>; convert them one by one, with a --base each",
                source.name(),
                source.iri
            );
        }
        sources.push(source);
    }
    Ok(sources)
}

fn check_base(base: &str) -> Result<Iri<String>, Failure> {
    let mut iri = Iri::parse(base.to_owned()).with_context(|| format!("--base {base:?} is no absolute IRI"))?;
    if iri.authority().is_some() && iri.path().is_empty() {
        // The same IRI to RFC 3986 (6.2.3), and the one that JSON-LD processors make of it.
        iri = iri.resolve(&IriRef::parse(format!(
            "/{}",
            iri.query().map(|query| format!("?{query}")).unwrap_or_default()
        ))?)?;
    }
    if iri.fragment().is_some() {
        bail!("--base {base:?} has a fragment; fragments are for the messages of the session");
    }
    Ok(iri)
}

fn default_iri(path: Option<&Path>) -> Result<String, Failure> {
    let Some(path) = path else { return Ok(STDIN_IRI.to_owned()) };
    let absolute = std::path::absolute(path).with_context(|| format!("cannot tell where {} is", shown(path)))?;
    let url = url::Url::from_file_path(&absolute).ok();
    // Parsing takes the dot segments out: one file has one IRI.
    match url.and_then(|url| url::Url::parse(url.as_str()).ok()) {
        Some(url) => Ok(utf8_percent_encode(url.as_str(), NOT_IN_IRIS).to_string()),
        None => bail!("{} has no file: IRI; give the session one with --base", shown(path)),
    }
}

/// A path as messages show it: without control characters, which a terminal would obey.
pub fn shown(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}

impl InputSource {
    /// The syntax, if it is an RDF file and not a log.
    pub fn rdf_format(&self) -> Option<RdfFormat> {
        rdf_format(self.path.as_deref()?)
    }

    pub fn is_stdin(&self) -> bool {
        self.path.is_none()
    }

    /// As messages to the user name it.
    pub fn name(&self) -> String {
        match &self.path {
            Some(path) => shown(path),
            None => "standard input".to_owned(),
        }
    }

    /// Its name without folders.
    pub fn file_name(&self) -> String {
        match &self.path {
            Some(path) => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            None => "stdin".to_owned(),
        }
    }

    /// Opens it; its size in bytes where that is known.
    pub fn open(&self) -> Result<(Box<dyn Read + Send>, Option<u64>), Failure> {
        let Some(path) = &self.path else { return Ok((Box::new(io::stdin()), None)) };
        let file = File::open(path).with_context(|| format!("cannot read {}", shown(path)))?;
        let metadata = file.metadata().with_context(|| format!("cannot read {}", shown(path)))?;
        if metadata.is_dir() {
            bail!("cannot read {}: it is a folder; name the logs in it", shown(path));
        }
        let size = metadata.is_file().then_some(metadata.len());
        Ok((Box::new(file), size))
    }
}
