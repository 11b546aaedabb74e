//! A log as its users see it: opened, then written as RDF, queried, or read message by message.

mod error;
#[cfg(test)]
mod extraction;
mod messages;
pub mod rebuild;
pub mod redacted;
mod rows;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use oxiri::{Iri, IriParseError, IriRef};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
pub use rpcgraph_graph::{convert, summary};

use self::convert::{Converter, Input, Options, processors};
pub use self::error::LogError;
pub use self::messages::{LoggedEntry, LoggedMessage, Messages};
pub use self::rows::{Row, Rows};
use self::summary::Summary;
use crate::context::{Context, file_url};
use crate::diagnostic::{Finding, printable_path};
use crate::mapping::{Mapper, Mapping};
use crate::protocol::Protocol;
use crate::query::{Cancel, Dataset, Query, QueryError};
use crate::record::{Follow, FollowEvent, ReaderOptions};
use crate::sink::{Sink, Syntax};
use crate::vocab::RESERVED;

/// The default IRI of a session that is read from standard input.
pub const STDIN_IRI: &str = "urn:rpcgraph:stdin";

/// Characters that URLs allow in a path and IRIs do not.
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

/// A log that has been opened, with the options for reading it.
///
/// The options come first (`with_…`). Then [`write_to`](Self::write_to), [`ask`](Self::ask) or
/// [`messages`](Self::messages) consumes the log, reading it once from beginning to end.
pub struct Log {
    input: Input<Box<dyn Read + Send>>,
    size: Option<u64>,
    options: Options,
    mapping: Mapping,
    contexts: Vec<Context>,
    provenance: bool,
    findings: Box<dyn FnMut(Finding) + Send>,
}

impl Log {
    /// Opens a file, which may be compressed. Its session has the `file:` IRI of its path.
    ///
    /// # Errors
    ///
    /// [`LogError::Open`], [`LogError::Folder`], [`LogError::NoIri`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LogError> {
        Self::opened(path.as_ref(), |file| match file.metadata()?.is_file() {
            true => Ok(Box::new(file) as Box<_>),
            false => Ok(Box::new(Follow::pipe(file, Arc::default())?)),
        })
    }

    /// Opens a file that grows, or a pipe. Reading waits for more at its end, until `stop` is true; see [`Follow`].
    ///
    /// # Errors
    ///
    /// As [`Log::open`].
    pub fn follow(
        path: impl AsRef<Path>,
        stop: &Arc<AtomicBool>,
        event: impl FnMut(FollowEvent) + Send + 'static,
    ) -> Result<Self, LogError> {
        let path = path.as_ref();
        let log = Self::opened(path, |file| Ok(Box::new(Follow::file(path, file, Arc::clone(stop), event)?)))?;
        Ok(Self { size: None, ..log })
    }

    fn opened(path: &Path, read: impl FnOnce(File) -> io::Result<Box<dyn Read + Send>>) -> Result<Self, LogError> {
        let failed = |source| LogError::Open { path: printable_path(path), source };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(LogError::Folder { path: printable_path(path) });
        }
        let size = metadata.is_file().then_some(metadata.len());
        Ok(Self { size, ..Self::at_path(path, read(file).map_err(failed)?)? })
    }

    /// Creates a log with the name and IRI of the file at a path, and the bytes of `read`: the file, or a copy of it.
    ///
    /// # Errors
    ///
    /// [`LogError::NoIri`].
    pub fn at_path(path: &Path, read: impl Read + Send + 'static) -> Result<Self, LogError> {
        let log = Self::read(file_name(path), read).with_name(printable_path(path));
        Ok(Self { input: Input { iri: file_iri(path)?, ..log.input }, ..log })
    }

    /// Standard input, to its end. Its session is [`STDIN_IRI`].
    ///
    /// # Errors
    ///
    /// [`LogError::Open`].
    pub fn stdin() -> Result<Self, LogError> {
        Self::follow_stdin(&Arc::default())
    }

    /// Standard input, followed to its end or until `stop` is true. Its session is [`STDIN_IRI`].
    ///
    /// # Errors
    ///
    /// [`LogError::Open`].
    pub fn follow_stdin(stop: &Arc<AtomicBool>) -> Result<Self, LogError> {
        let failed = |source| LogError::Open { path: "standard input".to_owned(), source };
        let read = Follow::pipe(io::stdin(), Arc::clone(stop)).map_err(failed)?;
        let log = Self::read("stdin", read).with_name("standard input");
        Ok(Self { input: Input { iri: STDIN_IRI.to_owned(), ..log.input }, ..log })
    }

    /// A log from any reader, compressed or not, and its name. Its session is `urn:rpcgraph:NAME`.
    pub fn read(name: impl Into<String>, read: impl Read + Send + 'static) -> Self {
        let source = name.into();
        let iri = format!("urn:rpcgraph:{}", utf8_percent_encode(&source, RESERVED));
        let input = Input { name: source.clone(), source, iri, iri_stated: false, read: Box::new(read) as Box<_> };
        Self {
            input,
            size: None,
            options: Options { jobs: processors(), ..Options::default() },
            mapping: Mapping::default(),
            contexts: Vec::new(),
            provenance: false,
            findings: Box::new(|_| {}),
        }
    }

    /// Sets the name of the log in findings.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.input.name = name.into();
        self
    }

    /// Sets the IRI of the session: absolute, without a fragment.
    ///
    /// # Errors
    ///
    /// [`LogError::BadIri`], [`LogError::Fragment`].
    pub fn with_base(mut self, iri: &str) -> Result<Self, LogError> {
        self.input.iri = session_iri(iri)?.into_inner();
        self.input.iri_stated = true;
        Ok(self)
    }

    /// Sets the options for reading: the format, which is detected by default, and the maximum size of records.
    #[must_use]
    pub fn with_options(mut self, reader: ReaderOptions) -> Self {
        self.options.reader = reader;
        self
    }

    /// Sets how messages become triples.
    #[must_use]
    pub fn with_mapping(mut self, mapping: Mapping) -> Self {
        self.mapping = mapping;
        self
    }

    /// Adds a context, applied after the built-in contexts and the contexts added before.
    #[must_use]
    pub fn with_context(mut self, context: Context) -> Self {
        self.contexts.push(context);
        self
    }

    /// Sets whether the graph states line, byte offset and SHA-256 of each record.
    #[must_use]
    pub fn with_provenance(mut self, provenance: bool) -> Self {
        self.provenance = provenance;
        self
    }

    /// Sets whether to keep the text between messages.
    #[must_use]
    pub fn with_log_lines(mut self, log_lines: bool) -> Self {
        self.options.log_lines = log_lines;
        self
    }

    /// Sets the protocol whose nodes and links are added; detected by default.
    #[must_use]
    pub fn with_protocol(mut self, protocol: Protocol) -> Self {
        self.options.protocol = protocol;
        self
    }

    /// Sets whether to stop at the first record that is not a valid message
    /// (`ConvertError::NotAMessage`).
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> Self {
        self.options.strict = strict;
        self
    }

    /// Sets the maximum number of threads: by default the number of processors. The output does not depend on it.
    #[must_use]
    pub fn with_jobs(mut self, jobs: usize) -> Self {
        self.options.jobs = jobs;
        self
    }

    /// Sets the handler of findings about records that are not valid messages, called in the order of the records.
    /// Findings are dropped by default.
    #[must_use]
    pub fn with_findings(mut self, findings: impl FnMut(Finding) + Send + 'static) -> Self {
        self.findings = Box::new(findings);
        self
    }

    /// The size of the log in bytes, compressed if the log is; `None` if it is not known.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Writes the graph, record by record while reading.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/mcp-session.ndjson");
    /// use rpcgraph_graph::sink::Syntax;
    /// use rpcgraph_query::Log;
    ///
    /// let mut turtle = Vec::new();
    /// let summary = Log::open(path)?.with_base("https://example.org/log")?.write_to(&mut turtle, Syntax::Turtle)?;
    /// assert!(summary.records > 0);
    /// assert!(turtle.starts_with(b"@base <https://example.org/log> ."));
    /// # Ok::<(), rpcgraph_query::LogError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LogError::Context`], [`LogError::Convert`]. Everything before the error has been written.
    pub fn write_to(self, writer: impl Write + Send, syntax: Syntax) -> Result<Summary, LogError> {
        let mut sink = syntax.sink(writer, 1);
        let summary = self.convert(&mut sink)?;
        sink.finish()?;
        Ok(summary)
    }

    /// Answers a query. Only what the query needs is kept in memory.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/mcp-session.ndjson");
    /// use rpcgraph_query::{Log, Query};
    ///
    /// for row in Log::open(path)?.ask(&Query::named("methods")?)? {
    ///     let row = row?;
    ///     println!("{} {}", row.text("method").unwrap_or_default(), row.text("calls").unwrap_or_default());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LogError::Context`], [`LogError::Convert`], [`LogError::Query`]; [`LogError::Unread`], unless the query sees
    /// input that is not a message ([`Query::sees_unread`]).
    pub fn ask(self, query: &Query) -> Result<Rows, LogError> {
        let cancel = Cancel::default();
        let dataset = Dataset::new(query, false).map_err(QueryError::from)?;
        let mut loading = dataset.load(&cancel).map_err(QueryError::from)?;
        let (input, stated) = (self.input.name.clone(), self.options.reader.is_stated());
        let summary = self.convert(&mut loading.sink())?;
        if let Some(reason) = summary.why_unread(stated).filter(|_| !query.sees_unread()) {
            return Err(LogError::Unread { input, reason });
        }
        loading.commit().map_err(QueryError::from)?;
        Ok(Rows::from(dataset.answer(query, &cancel)?))
    }

    /// Returns the messages one by one, and the invalid values in place of messages.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/mcp-session.ndjson");
    /// use rpcgraph_query::Log;
    ///
    /// let mut answers = 0;
    /// for message in Log::open(path)?.messages() {
    ///     let message = message?;
    ///     answers += usize::from(message.responds_to.is_some());
    /// }
    /// assert!(answers > 0);
    /// # Ok::<(), rpcgraph_query::LogError>(())
    /// ```
    pub fn messages(self) -> Messages {
        Messages::new(self.input, &self.options.reader)
    }

    /// Returns the input, for a [`Converter`] that takes several.
    pub fn into_input(self) -> Input<Box<dyn Read + Send>> {
        self.input
    }

    fn convert(mut self, sink: &mut Sink<'_>) -> Result<Summary, LogError> {
        let mapper = Mapper::new(self.mapping, &self.contexts)?.with_provenance(self.provenance);
        Ok(Converter::new(mapper, self.options).convert(self.input, sink, &mut self.findings)?)
    }
}

/// Parses the IRI of a session: absolute, without a fragment.
pub fn session_iri(base: &str) -> Result<Iri<String>, LogError> {
    let bad = |error: IriParseError| LogError::BadIri { base: base.to_owned(), reason: error.to_string() };
    let iri = Iri::parse(base.to_owned()).map_err(bad)?;
    if iri.fragment().is_some() {
        return Err(LogError::Fragment { base: base.to_owned() });
    }
    if iri.authority().is_none() || !iri.path().is_empty() {
        return Ok(iri);
    }
    // An equivalent IRI according to RFC 3986 (6.2.3), and the one that JSON-LD processors produce.
    let query = iri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let root = IriRef::parse(format!("/{query}")).map_err(bad)?;
    iri.resolve(&root).map_err(bad)
}

/// Returns the `file:` IRI of a path, which need not exist.
pub fn file_iri(path: &Path) -> Result<String, LogError> {
    let failed = |source| LogError::Open { path: printable_path(path), source };
    let absolute = std::path::absolute(path).map_err(failed)?;
    let url = file_url(&absolute);
    // Parsing removes dot segments, so that one file has one IRI.
    match url.and_then(|url| url::Url::parse(url.as_str()).ok()) {
        Some(url) => Ok(utf8_percent_encode(url.as_str(), NOT_IN_IRIS).to_string()),
        None => Err(LogError::NoIri { path: printable_path(path) }),
    }
}

/// Returns the IRI of the log that has a session or a message.
pub fn log_iri(node: &str) -> &str {
    node.split_once('#').map_or(node, |(log, _)| log)
}

/// Returns the name of a file without its folders.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
