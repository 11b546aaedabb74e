//! Losses: the parts of a record that a mapping could not carry.

/// A kind of loss. In the mapping `session`, a loss affects only what a further context (`--context`) maps; in
/// `bblock`, losses are the effects of the building block's context on real messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Loss {
    /// An `id` that is null.
    NullId,
    /// A string that should be an IRI but is not.
    NoIri,
    /// A member that no context maps.
    UnmappedMember,
    /// A map by `@id` or `@type` in the mapping `session`, where names of the log do not become IRIs.
    KeyedByIri,
    /// A member named like a JSON-LD keyword.
    KeywordMember,
    /// A number that the canonical form changes.
    NumberChanged,
    /// A number beyond the range of a double; its member is left out.
    NumberOutOfRange,
    /// A string with a lone surrogate; its member is left out.
    LoneSurrogate,
    /// A member that occurs twice; the last one counts.
    DuplicateMember,
    /// A string whose language tag is not valid.
    BadLanguage,
    /// A value that JSON-LD does not accept where a further context puts it.
    NotTaken,
    /// A record that is neither a JSON object nor an array of them.
    NoObject,
    /// A record that JSON-LD expansion refuses under a further context.
    NotExpanded,
}

/// Every kind in the order of summaries, with the text after a count: the noun in the singular, in the plural, and a
/// description.
const KINDS: [(Loss, &str, &str, &str); 13] = [
    (Loss::NullId, "id", "ids", "null"),
    (Loss::NoIri, "value", "values", "invalid as an IRI"),
    (Loss::UnmappedMember, "member", "members", "mapped by no context"),
    (Loss::KeyedByIri, "member", "members", "with @container @id or @type, which only -m bblock maps"),
    (Loss::KeywordMember, "member", "members", "named like JSON-LD keywords"),
    (Loss::NumberChanged, "number", "numbers", "changed by the canonical form"),
    (Loss::NumberOutOfRange, "value", "values", "with numbers beyond a double"),
    (Loss::LoneSurrogate, "value", "values", "with lone surrogates"),
    (Loss::DuplicateMember, "message", "messages", "with a member twice"),
    (Loss::BadLanguage, "string", "strings", "with a bad language tag"),
    (Loss::NotTaken, "value", "values", "of a type that JSON-LD does not allow there"),
    (Loss::NoObject, "record", "records", "other than a JSON object"),
    (Loss::NotExpanded, "record", "records", "refused by JSON-LD expansion"),
];

impl Loss {
    /// The text of summaries after a count: the noun in the singular, in the plural, and a description.
    pub fn describe(self) -> (&'static str, &'static str, &'static str) {
        let (_, one, more, what) = KINDS[self as usize];
        (one, more, what)
    }

    /// The text of summaries with a count.
    pub fn counted(self, count: u64) -> String {
        let (one, more, what) = self.describe();
        format!("{count} {} {what}", if count == 1 { one } else { more })
    }
}

/// The number of losses of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Losses([u64; KINDS.len()]);

impl Losses {
    /// Counts one more.
    pub fn add(&mut self, loss: Loss) {
        self.0[loss as usize] += 1;
    }

    /// The number of losses of a kind.
    pub fn count(&self, loss: Loss) -> u64 {
        self.0[loss as usize]
    }

    /// The kinds with at least one loss, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Loss, u64)> {
        KINDS.into_iter().map(|(loss, ..)| (loss, self.count(loss))).filter(|(_, count)| *count > 0)
    }

    /// Adds the counts of another input.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_order() {
        assert!(KINDS.into_iter().enumerate().all(|(place, (loss, ..))| loss as usize == place));
    }
}
