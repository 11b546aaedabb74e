//! Whether records come in the order that timelines are sorted by.

use super::Columns;
use super::column::{Column, Row};
use super::term::TermId;
use crate::vocab::rpcg;

impl Columns {
    /// Whether those with a number, in the order of their nodes, are in the order of their sessions' IRIs, then of their
    /// numbers, then of their indexes in a batch, and each has one session and one number.
    pub fn are_in_record_order(&self) -> bool {
        let empty = Column::default();
        let [numbers, sessions, indexes] = [rpcg::SEQUENCE, rpcg::IN_SESSION, rpcg::BATCH_INDEX].map(|predicate| {
            let id = self.find(&predicate.into_owned().into());
            let column = self.columns.iter().find(|(known, _)| Some(*known) == id);
            column.map_or(&empty, |(_, column)| column)
        });
        let (mut row, mut of_session): (Row, Row) = ((0, 0), (0, 0));
        let mut last: Option<(TermId, TermId, TermId)> = None;
        while let Some((message, number)) = numbers.triple(row) {
            // What has no number may have a session.
            let mut of_message = None;
            while let Some((subject, session)) = sessions.triple(of_session)
                && subject <= message
            {
                if subject == message && of_message.replace(session).is_some() {
                    return false;
                }
                of_session = sessions.next(of_session);
            }
            let Some(session) = of_message else { return false };
            let index = |message| indexes.triple(indexes.seek(message)).filter(|(subject, _)| *subject == message);
            let follows = last.is_none_or(|(before, of, numbered)| {
                if of != session {
                    return self.text_before(of, session);
                }
                let numbers = (numbered.as_integer(), number.as_integer());
                before != message
                    && numbers.0 <= numbers.1
                    && (numbers.0 < numbers.1 || index(before).map(|(_, at)| at) < index(message).map(|(_, at)| at))
            });
            if !follows || number.as_integer().is_none() {
                return false;
            }
            last = Some((message, session, number));
            row = numbers.next(row);
        }
        true
    }

    /// Whether an IRI comes before another.
    fn text_before(&self, one: TermId, other: TermId) -> bool {
        matches!((self.term(one), self.term(other)), (oxrdf::Term::NamedNode(one), oxrdf::Term::NamedNode(other)) if one < other)
    }
}
