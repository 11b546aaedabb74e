//! Rows of each table, rendered by a worker: cells from the triples of the walk, beside cells that are derived.
//!
//! [`schema`] defines the tables. The sink copies columns of requests to the rows of their answers.

pub mod cells;
pub mod schema;

use std::collections::HashMap;
use std::io;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use oxrdf::{NamedNodeRef, Quad};

use self::cells::TableRows;
use self::schema::{CellType, ColumnNode, TABLES, latencies, messages, problems, sessions};
use crate::json::KeyedHashes;
use crate::protocol::OpenRequests;
use crate::record::streams_answers;
use crate::session::Name;
use crate::session::triples::{NodeRef, ObjectRef, TripleSink};
use crate::sink::record_sink::{RecordSink, SinkError, SinkInput};
use crate::sink::rendered::Rendered;
use crate::sink::selection::Selection;
use crate::vocab::{jrpc, rpcg};

/// The method and tool of a request.
pub(crate) type RequestNames = [Option<Box<str>>; 2];

/// The part that a row plays in an exchange.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ExchangeRole {
    /// A request, to which an answer may refer.
    Asks(Name),
    /// An answer, with the name of its request.
    Answers(Name),
    /// Neither a request nor an answer.
    Apart,
}

/// Records as rows of the tables.
pub(crate) struct RecordRows {
    /// The IRI of the input, and its name.
    pub iri: String,
    pub source: String,
    pub messages: TableRows,
    pub sessions: TableRows,
    pub problems: TableRows,
    pub latencies: TableRows,
    /// The exchange of each row of messages.
    pub exchanges: Vec<ExchangeRole>,
}

/// The triples of one record or session, on their way into the current row.
pub(crate) struct RowTriples<'r> {
    pub rows: &'r mut RecordRows,
    /// The reference of the session.
    pub session: &'r str,
    /// The record.
    pub name: Name,
    /// The message that triples are about.
    subject: Option<Name>,
    /// The node that triples are about, if columns describe it.
    node: Option<ColumnNode>,
}

/// The index of a column in its table, and the type of its cells, by the node and the property that it describes.
type DescribedColumns = HashMap<(ColumnNode, &'static str), (usize, CellType), KeyedHashes>;

static COLUMNS: LazyLock<DescribedColumns> = LazyLock::new(|| {
    let columns = TABLES.into_iter().flat_map(|table| table.columns.iter().enumerate());
    let described = columns.flat_map(|(index, column)| {
        let properties = column.properties.iter();
        properties.map(move |(node, property)| ((*node, property.as_str()), (index, column.cells)))
    });
    described.collect()
});

impl RecordRows {
    pub(super) fn new(iri: &str, source: &str) -> Self {
        Self {
            iri: iri.to_owned(),
            source: source.to_owned(),
            messages: TableRows::new(&messages::TABLE),
            sessions: TableRows::new(&sessions::TABLE),
            problems: TableRows::new(&problems::TABLE),
            latencies: TableRows::new(&latencies::TABLE),
            exchanges: Vec::new(),
        }
    }

    /// Copies the method and tool of requests to their answers, unless they are longer than `longest` bytes.
    pub(super) fn repeat_requests(&mut self, open: &mut OpenRequests<RequestNames>, longest: usize) {
        let (messages, exchanges) = (&mut self.messages, &self.exchanges);
        let repeated = exchanges.iter().enumerate().map(|(row, exchange)| match exchange {
            ExchangeRole::Asks(name) => {
                let short = |column| messages.get(column, row).filter(|text| text.len() <= longest).map(Box::from);
                open.insert(*name, [short(messages::METHOD), short(messages::TOOL)]);
                RequestNames::default()
            }
            ExchangeRole::Answers(request) => {
                let streaming = |names: &&mut RequestNames| names[0].as_deref().is_some_and(streams_answers);
                match open.get_mut(*request).filter(streaming) {
                    Some(names) => names.clone(),
                    None => open.take(*request).unwrap_or_default(),
                }
            }
            ExchangeRole::Apart => RequestNames::default(),
        });
        let repeated: Vec<RequestNames> = repeated.collect();
        messages.refill(messages::REQUEST_METHOD, repeated.iter().map(|[method, _]| method.as_deref()));
        messages.refill(messages::REQUEST_TOOL, repeated.iter().map(|[_, tool]| tool.as_deref()));
    }
}

impl<'r> RowTriples<'r> {
    pub fn new(rows: &'r mut RecordRows, session: &'r str, name: Name) -> Self {
        Self { rows, session, name, subject: None, node: None }
    }

    /// Adds a row for a problem of the message that triples are about.
    fn problem(&mut self, problem: &str) {
        let Some(name) = self.subject else { return };
        let RecordRows { iri, problems: rows, .. } = &mut *self.rows;
        rows.text_of(problems::SESSION_IRI, [&**iri, self.session]);
        rows.text(problems::MESSAGE, name.to_string());
        rows.text(problems::PROBLEM, problem);
        rows.text(problems::MESSAGE_IRI, format!("{iri}#{name}"));
        rows.end_row();
    }
}

impl TripleSink for RowTriples<'_> {
    fn subject(&mut self, node: NodeRef<'_>) {
        self.subject = if let NodeRef::Message(name) = node { Some(name) } else { None };
        self.node = match node {
            NodeRef::Message(name) if name == self.name => Some(ColumnNode::Record),
            NodeRef::LogLine(..) => Some(ColumnNode::Record),
            NodeRef::Error(name) if name == self.name => Some(ColumnNode::Error),
            NodeRef::Session(_) => Some(ColumnNode::Session),
            _ => None,
        };
    }

    fn triple(&mut self, predicate: NamedNodeRef<'_>, object: ObjectRef<'_>) {
        if predicate == rpcg::PROBLEM {
            return object.iri().map(local).into_iter().for_each(|problem| self.problem(problem));
        }
        let Some(node) = self.node else { return };
        let Some((column, cells)) = COLUMNS.get(&(node, predicate.as_str())).copied() else { return };
        let RecordRows { iri, messages, sessions, .. } = &mut *self.rows;
        let rows = if node == ColumnNode::Session { sessions } else { messages };
        match (cells, object) {
            (CellType::Text, ObjectRef::Node(NodeRef::Iri(term))) => rows.text(column, local(term)),
            (CellType::Text, ObjectRef::Node(node)) => rows.text_of(column, [&**iri, &node.to_string()]),
            (CellType::Text, ObjectRef::Text(text) | ObjectRef::Typed(text, _) | ObjectRef::Tagged(text, _)) => {
                rows.text(column, text);
            }
            (CellType::Bytes, ObjectRef::Typed(text, _)) => rows.optional(column, BASE64.decode(text).ok()),
            (CellType::Boolean, ObjectRef::Typed(text, _)) => rows.number(column, (text == "true").into()),
            (CellType::Integer, ObjectRef::Integer(number)) => {
                rows.number(column, i64::try_from(number).unwrap_or(i64::MAX));
            }
            _ => {}
        }
    }

    /// Tables are made without further contexts, whose reference path alone has quads.
    fn quads(&mut self, _: &[Quad]) {}
}

impl Rendered for RecordRows {
    fn clear(&mut self) {
        self.messages.clear();
        self.sessions.clear();
        self.problems.clear();
        self.latencies.clear();
        self.exchanges.clear();
    }
}

/// Takes rows of messages.
type PassRows<'w> = dyn FnMut(&TableRows) -> io::Result<()> + Send + 'w;

/// Passes on the rows of messages in the order of the log, each answer with the method and tool of its request.
pub(crate) struct MessagesSink<'w> {
    selection: Selection,
    pass: Box<PassRows<'w>>,
    /// The method and tool of requests of the input that wait for their answers.
    open: OpenRequests<RequestNames>,
}

impl<'w> MessagesSink<'w> {
    pub fn new(selection: Selection, pass: impl FnMut(&TableRows) -> io::Result<()> + Send + 'w) -> Self {
        Self { selection, pass: Box::new(pass), open: OpenRequests::default() }
    }
}

impl RecordSink for MessagesSink<'_> {
    type Rendered = RecordRows;

    fn start(&mut self, _: &SinkInput<'_>) -> Result<(), SinkError> {
        self.open = OpenRequests::default();
        Ok(())
    }

    fn selection(&self) -> Option<&Selection> {
        Some(&self.selection)
    }

    fn rendered(&self, input: &SinkInput<'_>) -> RecordRows {
        RecordRows::new(input.iri, input.source)
    }

    fn take(&mut self, rendered: &mut RecordRows) -> Result<(), SinkError> {
        rendered.repeat_requests(&mut self.open, usize::MAX);
        Ok((self.pass)(&rendered.messages)?)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Returns the name of a term of our vocabularies within its namespace.
fn local(term: &str) -> &str {
    [jrpc::NAMESPACE, rpcg::NAMESPACE].iter().find_map(|namespace| term.strip_prefix(namespace)).unwrap_or(term)
}
