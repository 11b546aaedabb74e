//! Which records are wanted: known of each before its triples come, so that nothing is kept of the others.

use std::borrow::Cow;
use std::collections::HashMap;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{Literal, NamedNode, NamedNodeRef, Term};

use super::super::selection::Condition;
use crate::record::{Sender, Time};
use crate::session::triples::NodeRef;
use crate::session::{Annotated, Node};
use crate::vocab::{jrpc, rpcg};

/// The properties that are known of a record before its triples. Nothing but records has them.
pub(crate) const FORESEEN: [NamedNodeRef<'_>; 6] =
    [rpcg::IN_SESSION, rpcg::SEQUENCE, rpcg::SENT_BY, rpcg::CAPTURED_AT, rpcg::CLOCK_TIME, jrpc::HAS_METHOD];

/// How many values are remembered of each condition.
const REMEMBERED: usize = 1 << 10;

/// Groups of conditions, and which of them the record at hand meets: all of one.
pub(super) struct Conditions {
    iri: String,
    groups: Vec<Vec<Condition>>,
    /// What came of testing a value, for each condition of each group.
    tested: Vec<Vec<HashMap<String, bool>>>,
    met: Vec<bool>,
    subject: Subject,
}

/// Of what the triples are.
enum Subject {
    /// The record that was judged, when its node comes.
    Next,
    Judged,
    /// A record that was not.
    Another,
    /// What is not a record, and meets no condition.
    Else,
}

impl Conditions {
    /// None yet, for an input of that IRI.
    pub fn new(iri: &str) -> Self {
        let (groups, tested, met) = (Vec::new(), Vec::new(), Vec::new());
        Self { iri: iri.to_owned(), groups, tested, met, subject: Subject::Another }
    }

    /// The number of a group of conditions.
    pub fn group(&mut self, group: &[Condition]) -> usize {
        self.groups.iter().position(|known| known == group).unwrap_or_else(|| {
            self.tested.push(group.iter().map(|_| HashMap::new()).collect());
            self.groups.push(group.to_vec());
            // The record at hand has begun.
            self.met.push(true);
            self.met.len() - 1
        })
    }

    /// Tests a record.
    pub fn judge(&mut self, record: &Annotated<'_>, session: &str) {
        self.subject = Subject::Next;
        for ((group, tested), met) in self.groups.iter().zip(&mut self.tested).zip(&mut self.met) {
            let mut conditions = group.iter().zip(tested);
            *met = conditions.all(|(condition, tested)| is_met(condition, tested, record, (&self.iri, session)));
        }
    }

    /// Goes on to the next subject.
    pub fn subject(&mut self, node: NodeRef<'_>) {
        self.subject = match (&self.subject, node) {
            (Subject::Next, _) => Subject::Judged,
            (_, NodeRef::Message(_)) => Subject::Another,
            _ => Subject::Else,
        };
    }

    /// Whether the subject at hand may meet one of these groups.
    pub fn is_any_met(&self, groups: &[usize]) -> bool {
        match self.subject {
            Subject::Judged => groups.iter().any(|group| self.met.get(*group) == Some(&true)),
            Subject::Next | Subject::Another => true,
            Subject::Else => false,
        }
    }
}

fn is_met(
    condition: &Condition,
    tested: &mut HashMap<String, bool>,
    record: &Annotated<'_>,
    (iri, session): (&str, &str),
) -> bool {
    let Some(test) = &condition.test else { return true };
    condition.properties.iter().any(|property| {
        let Some(text) = value(property.as_ref(), record, session) else { return false };
        // A text of another property may be another term.
        let is_alone = condition.properties.len() == 1;
        if let Some(known) = tested.get(text.as_ref()).filter(|_| is_alone) {
            return *known;
        }
        let fits = test(&term(property.as_ref(), &text, iri));
        if tested.len() == REMEMBERED {
            tested.clear();
        }
        tested.insert(text.into_owned(), fits);
        fits
    })
}

/// The value that a record has of a property, as text.
fn value<'r>(property: NamedNodeRef<'_>, record: &'r Annotated<'_>, session: &'r str) -> Option<Cow<'r, str>> {
    match (property, record.time, &record.node) {
        (rpcg::IN_SESSION, ..) => Some(session.into()),
        (rpcg::SEQUENCE, _, Node::LogLine { .. }) => None,
        (rpcg::SEQUENCE, ..) => Some(record.name.record.to_string().into()),
        (rpcg::SENT_BY, ..) => Some(match record.sender? {
            Sender::Client => rpcg::CLIENT.as_str().into(),
            Sender::Server => rpcg::SERVER.as_str().into(),
        }),
        (rpcg::CAPTURED_AT, Some(time @ Time::DateTime(_)), _) | (rpcg::CLOCK_TIME, Some(time @ Time::Clock(_)), _) => {
            Some(time.to_string().into())
        }
        (rdf::TYPE, ..) => record.failure.map(|_| rpcg::FAILURE.as_str().into()),
        (jrpc::HAS_METHOD, _, Node::Message(message)) => message.method.as_deref().map(Cow::Borrowed),
        _ => None,
    }
}

/// That value.
fn term(property: NamedNodeRef<'_>, text: &str, iri: &str) -> Term {
    match property {
        rpcg::IN_SESSION => NamedNode::new_unchecked(format!("{iri}{text}")).into(),
        rpcg::SENT_BY | rdf::TYPE => NamedNode::new_unchecked(text).into(),
        rpcg::SEQUENCE => Literal::new_typed_literal(text, xsd::INTEGER).into(),
        rpcg::CAPTURED_AT => Literal::new_typed_literal(text, xsd::DATE_TIME).into(),
        rpcg::CLOCK_TIME => Literal::new_typed_literal(text, xsd::TIME).into(),
        _ => Literal::from(text).into(),
    }
}
