//! Facts of a loaded log that verdicts and faults need beside the rules' own queries.

use std::collections::{BTreeMap, HashMap};

use oxrdf::NamedNode;

use crate::log::{Row, Rows};
use crate::query::{Cancel, Dataset, Query, QueryError, SyntaxError};

/// The maximum number of messages in one query.
const AT_ONCE: usize = 1_000;

/// The sessions that are not empty.
const SESSIONS: &str = "SELECT ?session { ?session a rpcg:Session FILTER NOT EXISTS { ?session rpcg:recordCount 0 } }";
const AGREED: &str = include_str!("agreed.rq");
const INTRODUCED: &str = include_str!("introduced.rq");
const NAMED: &str = include_str!("named.rq");
const MESSAGES: &str = include_str!("messages.rq");

/// The sessions with requests of which the log holds one side, or lacks most answers or the requests of most answers.
pub(super) const INCOMPLETE: &str = "SELECT DISTINCT ?this { \
     { ?this rpcg:oneSided true . ?asked rpcg:inSession ?this ; a jrpc:Request } \
     UNION { ?this rpcg:answersMissing true } UNION { ?this rpcg:requestsMissing true } }";

/// The data by which [`Dataset::order_by_time`] orders records.
const ORDER: &str = "SELECT * { ?message rpcg:sequence ?number ; rpcg:inSession ?session ; rpcg:capturedAt ?time . ?answer rpcg:respondsTo ?message }";

/// The ids of messages, which VALUES names once they are known.
const IDS: &str = "SELECT ?message ?id { VALUES ?message { } ?message jrpc:hasId ?node . ?node jrpc:hasNumberValue|jrpc:hasStringValue ?id }";

/// All requests, by session and id.
const REQUESTS: &str = "SELECT ?session ?id ?sequence ?sender ?method ?tool {
    ?request a jrpc:Request ; rpcg:inSession ?session ; rpcg:sequence ?sequence ; jrpc:hasMethod ?method ; jrpc:hasId ?node .
    ?node jrpc:hasNumberValue|jrpc:hasStringValue ?id
    OPTIONAL { ?request rpcg:sentBy ?sender } OPTIONAL { ?request rpcg:toolName ?tool }
}";

/// All queries here, for what they need of the data.
pub(super) const QUERIES: [&str; 9] = [INCOMPLETE, SESSIONS, AGREED, INTRODUCED, NAMED, MESSAGES, ORDER, IDS, REQUESTS];

/// Returns the rows of a query.
pub(super) fn rows(dataset: &Dataset, query: &Query, cancel: &Cancel) -> Result<Rows, QueryError> {
    Ok(dataset.answer(query, cancel)?.into())
}

pub(super) fn parsed(text: &str) -> Result<Query, QueryError> {
    Query::parse(text, None).map_err(|error: SyntaxError| QueryError::Server(error.into()))
}

/// The sessions of a log.
#[derive(Debug, Default)]
pub(super) struct SessionRevisions(pub BTreeMap<String, Revisions>);

/// The revisions of its protocol that a session has.
#[derive(Debug, Default)]
pub(super) struct Revisions {
    /// By the number of the record from which on they hold.
    agreed: BTreeMap<u64, String>,
    /// Revisions that only some messages have.
    own: Vec<String>,
}

impl Revisions {
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.agreed.values().chain(&self.own).map(String::as_str)
    }

    /// Returns the revision at a record: as agreed before, or else later.
    pub fn at(&self, sequence: u64) -> Option<&str> {
        let before = self.agreed.range(..=sequence).next_back();
        before.or_else(|| self.agreed.first_key_value()).map(|(_, version)| version.as_str())
    }
}

impl SessionRevisions {
    pub fn read(dataset: &Dataset, cancel: &Cancel) -> Result<Self, QueryError> {
        let mut sessions = Self::default();
        for query in [SESSIONS, AGREED, INTRODUCED, NAMED] {
            if query == NAMED && sessions.0.values().all(|revisions| revisions.iter().next().is_some()) {
                break;
            }
            for row in rows(dataset, &parsed(query)?, cancel)? {
                let row = row?;
                let Some(session) = row.text("session") else { continue };
                let session = sessions.0.entry(session.to_owned()).or_default();
                match (row.text("version").map(str::to_owned), number(&row, "sequence")) {
                    (Some(version), Some(sequence)) => _ = session.agreed.insert(sequence, version),
                    (version, _) => session.own.extend(version),
                }
            }
        }
        sessions.complete();
        Ok(sessions)
    }

    /// Gives a session of HTTP without an id, which has no revision, the revision of a session with an id at its origin.
    fn complete(&mut self) {
        let known = self.0.iter().filter_map(|(name, revisions)| {
            let (origin, _) = name.rsplit_once("%23").filter(|(origin, _)| origin.contains("%3A%2F%2F"))?;
            Some((origin.to_owned(), revisions.iter().next()?.to_owned()))
        });
        for (origin, version) in known.collect::<Vec<_>>() {
            if let Some(session) = self.0.get_mut(&origin).filter(|session| session.iter().next().is_none()) {
                session.own.push(version);
            }
        }
    }
}

fn number(row: &Row, column: &str) -> Option<u64> {
    row.text(column)?.parse().ok()
}

/// The facts of a message that is guilty of a fault.
#[derive(Debug, Clone)]
pub(super) struct MessageFacts {
    pub session: String,
    pub sequence: u64,
    pub index: u64,
    /// `client` or `server`.
    pub sender: Option<&'static str>,
    /// Its line and byte offset.
    pub place: Option<(u64, u64)>,
    /// Its method, or the method that it answers.
    pub method: Option<String>,
    /// The tool that it calls, or that it answers for.
    pub tool: Option<String>,
    /// The revision that it, or the request that it answers, names.
    pub revision: Option<String>,
    /// True if its place among the other messages is not known.
    pub is_unplaced: bool,
}

/// Returns the facts of messages, by their IRIs. A text that is not an IRI is not a message.
pub(super) fn messages(
    dataset: &Dataset,
    iris: &[&str],
    cancel: &Cancel,
) -> Result<HashMap<String, MessageFacts>, QueryError> {
    let mut facts = HashMap::new();
    // What a rule selects may be a text of the log, which must not become SPARQL.
    let iris: Vec<_> = iris.iter().filter(|iri| NamedNode::new(**iri).is_ok()).collect();
    for some in iris.chunks(AT_ONCE) {
        let some: String = some.iter().map(|iri| format!("<{iri}> ")).collect();
        let query = parsed(&MESSAGES.replace("{ }", &format!("{{ {some}}}")))?;
        for row in rows(dataset, &query, cancel)? {
            let row = row?;
            let (Some(message), Some(session)) = (row.text("message"), row.text("session")) else { continue };
            facts.entry(message.to_owned()).or_insert_with(|| MessageFacts {
                session: session.to_owned(),
                sequence: number(&row, "sequence").unwrap_or_default(),
                index: number(&row, "index").unwrap_or_default(),
                sender: row.text("sender").map(side),
                place: number(&row, "line").zip(number(&row, "byte")),
                method: row.text("method").map(str::to_owned),
                tool: row.text("tool").map(str::to_owned),
                revision: row.text("version").map(str::to_owned),
                is_unplaced: row.text("unplaced") == Some("true"),
            });
        }
    }
    add_earlier_requests(dataset, &mut facts, cancel)?;
    Ok(facts)
}

fn side(role: &str) -> &'static str {
    if role.ends_with("Client") { "client" } else { "server" }
}

/// Adds a method and a tool to each answer without a request, such as a second answer. They are taken from the last earlier
/// request of the other side with the same id.
fn add_earlier_requests(
    dataset: &Dataset,
    facts: &mut HashMap<String, MessageFacts>,
    cancel: &Cancel,
) -> Result<(), QueryError> {
    let unlinked: Vec<_> =
        facts.iter().filter(|(_, facts)| facts.method.is_none()).map(|(iri, _)| iri.clone()).collect();
    let mut ids = Vec::new();
    for some in unlinked.chunks(AT_ONCE) {
        let some: String = some.iter().map(|iri| format!("<{iri}> ")).collect();
        for row in rows(dataset, &parsed(&IDS.replace("{ }", &format!("{{ {some}}}")))?, cancel)? {
            let row = row?;
            ids.extend(row.text("message").map(str::to_owned).zip(row.text("id").map(str::to_owned)));
        }
    }
    if ids.is_empty() {
        return Ok(());
    }
    type Asked = (Option<&'static str>, Option<String>, Option<String>);
    let mut requests: HashMap<(String, String), BTreeMap<u64, Asked>> = HashMap::new();
    for row in rows(dataset, &parsed(REQUESTS)?, cancel)? {
        let row = row?;
        let text = |name| row.text(name).map(str::to_owned);
        if let (Some(session), Some(id), Some(sequence)) = (text("session"), text("id"), number(&row, "sequence")) {
            let asked = (row.text("sender").map(side), text("method"), text("tool"));
            requests.entry((session, id)).or_default().insert(sequence, asked);
        }
    }
    for (message, id) in ids {
        let Some(facts) = facts.get_mut(&message) else { continue };
        let before =
            requests.get(&(facts.session.clone(), id)).into_iter().flat_map(|known| known.range(..facts.sequence));
        let is_of_other = |sender: &Option<&str>| sender.is_none() || facts.sender.is_none() || *sender != facts.sender;
        if let Some((_, (_, method, tool))) = before.rev().find(|(_, (sender, ..))| is_of_other(sender)) {
            (facts.method, facts.tool) = (method.clone(), tool.clone());
        }
    }
    Ok(())
}
