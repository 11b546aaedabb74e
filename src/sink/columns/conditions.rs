//! Conditions on records, tested before a record's triples arrive, so that triples of other records are not collected.

use std::borrow::Cow;
use std::collections::HashMap;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{Literal, NamedNode, NamedNodeRef, Term};

use super::super::selection::Condition;
use crate::record::{Sender, Time};
use crate::session::triples::NodeRef;
use crate::session::{Annotated, Node};
use crate::vocab::{jrpc, rpcg};

/// The properties of a record that are known before its triples. Only records have them.
pub(crate) const FORESEEN: [NamedNodeRef<'_>; 6] =
    [rpcg::IN_SESSION, rpcg::SEQUENCE, rpcg::SENT_BY, rpcg::CAPTURED_AT, rpcg::CLOCK_TIME, jrpc::HAS_METHOD];

/// The maximum number of cached test results for each condition.
const REMEMBERED: usize = 1 << 10;

/// Groups of conditions, and the groups that the current record meets: each in all its conditions.
pub(super) struct Conditions {
    iri: String,
    groups: Vec<Vec<Condition>>,
    /// The cached results of tests by value, for each condition of each group.
    tested: Vec<Vec<HashMap<String, bool>>>,
    met: Vec<bool>,
    subject: Subject,
}

/// The subject of the current triples.
enum Subject {
    /// The judged record, before its node arrives.
    Next,
    Judged,
    /// A record that was not judged.
    Another,
    /// A subject that is not a record, so it does not meet any condition.
    Else,
}

impl Conditions {
    /// Creates an empty list of groups, for an input of that IRI.
    pub fn new(iri: &str) -> Self {
        let (groups, tested, met) = (Vec::new(), Vec::new(), Vec::new());
        Self { iri: iri.to_owned(), groups, tested, met, subject: Subject::Another }
    }

    /// Returns the number of a group of conditions, adding it if new.
    pub fn group(&mut self, group: &[Condition]) -> usize {
        self.groups.iter().position(|known| known == group).unwrap_or_else(|| {
            self.tested.push(group.iter().map(|_| HashMap::new()).collect());
            self.groups.push(group.to_vec());
            // The current record has already begun, so it passes.
            self.met.push(true);
            self.met.len() - 1
        })
    }

    /// Tests a record against all groups.
    pub fn judge(&mut self, record: &Annotated<'_>, session: &str) {
        self.subject = Subject::Next;
        for ((group, tested), met) in self.groups.iter().zip(&mut self.tested).zip(&mut self.met) {
            let mut conditions = group.iter().zip(tested);
            *met = conditions.all(|(condition, tested)| is_met(condition, tested, record, (&self.iri, session)));
        }
    }

    /// Moves on to the next subject.
    pub fn subject(&mut self, node: NodeRef<'_>) {
        self.subject = match (&self.subject, node) {
            (Subject::Next, _) => Subject::Judged,
            (_, NodeRef::Message(_)) => Subject::Another,
            _ => Subject::Else,
        };
    }

    /// Returns true if the current subject may meet one of the groups.
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
        // The same text of another property may be another term.
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

/// Returns the record's value of a property, as text.
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

/// Returns the term of such a value.
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
