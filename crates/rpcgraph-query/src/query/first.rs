//! The first message of a group, as an aggregate.

use oxigraph::sparql::AggregateFunctionAccumulator;
use oxrdf::Term;

/// The message that comes first: of the log with the least IRI, by record and place in its batch. Any term that is not
/// the IRI of a message makes the result unbound.
#[derive(Default)]
pub(super) struct FirstMessage {
    first: Option<Term>,
    failed: bool,
}

impl AggregateFunctionAccumulator for FirstMessage {
    fn accumulate(&mut self, element: Term) {
        let place_of_element = message_position(&element);
        self.failed |= place_of_element.is_none();
        if self.first.as_ref().is_none_or(|first| place_of_element < message_position(first)) {
            self.first = Some(element);
        }
    }

    fn finish(&mut self) -> Option<Term> {
        self.first.take().filter(|_| !self.failed)
    }
}

/// Returns the log of a message, its record, and its place in a batch.
fn message_position(message: &Term) -> Option<(&str, (u64, u64))> {
    let Term::NamedNode(message) = message else { return None };
    let (log, name) = message.as_str().rsplit_once("#m")?;
    let (record, element) = name.split_once('.').unwrap_or((name, "0"));
    Some((log, (record.parse().ok()?, element.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use oxrdf::NamedNode;

    use super::*;

    fn first(names: &[&str]) -> Option<String> {
        let mut accumulator = FirstMessage::default();
        names.iter().for_each(|name| accumulator.accumulate(NamedNode::new_unchecked(*name).into()));
        accumulator.finish().map(|term| term.to_string())
    }

    #[test]
    fn records_count_as_numbers() {
        assert_eq!(first(&["a#m10", "a#m9"]).as_deref(), Some("<a#m9>"));
        assert_eq!(first(&["a#m9.10", "a#m9.2", "a#m9.3"]).as_deref(), Some("<a#m9.2>"));
        assert_eq!(first(&["b#m1", "a#m2"]).as_deref(), Some("<a#m2>"));
        assert_eq!(first(&["a#m1", "a#session"]), None);
        assert_eq!(first(&[]), None);
    }
}
