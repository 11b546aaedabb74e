//! What a mapping could not carry.

/// A kind of loss. In the mapping `session` none of them takes anything from the graph but what a further context
/// (`--context`) makes of it; in `bblock` they are what the building block's context does to real messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Loss {
    /// An `id` that is null.
    NullId,
    /// A string that is to be an IRI and is none.
    NoIri,
    /// A member that no context maps.
    UnmappedMember,
    /// A member named like a JSON-LD keyword.
    KeywordMember,
    /// A number that the canonical form changes.
    NumberChanged,
    /// A number beyond a double; its member is left out.
    NumberOutOfRange,
    /// A string with half of a surrogate pair; its member is left out.
    LoneSurrogate,
    /// A member that stands twice; the last one counts.
    DuplicateMember,
    /// A string whose language tag is none.
    BadLanguage,
    /// A value that JSON-LD does not take where a further context puts it.
    NotTaken,
    /// A record that is no JSON object, nor an array of them.
    NoObject,
    /// A record that JSON-LD expansion refuses under a further context.
    NotExpanded,
}

impl Loss {
    /// Every kind, in the order of summaries.
    pub const ALL: [Self; 12] = [
        Self::NullId,
        Self::NoIri,
        Self::UnmappedMember,
        Self::KeywordMember,
        Self::NumberChanged,
        Self::NumberOutOfRange,
        Self::LoneSurrogate,
        Self::DuplicateMember,
        Self::BadLanguage,
        Self::NotTaken,
        Self::NoObject,
        Self::NotExpanded,
    ];

    /// What summaries say, after a count: the noun for one, for more, and what is said of them.
    pub fn describe(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::NullId => ("id", "ids", "null"),
            Self::NoIri => ("value", "values", "no IRI"),
            Self::UnmappedMember => ("member", "members", "mapped by no context"),
            Self::KeywordMember => ("member", "members", "named like JSON-LD keywords"),
            Self::NumberChanged => ("number", "numbers", "changed by the canonical form"),
            Self::NumberOutOfRange => ("value", "values", "with numbers beyond a double"),
            Self::LoneSurrogate => ("value", "values", "with lone surrogates"),
            Self::DuplicateMember => ("message", "messages", "with a member twice"),
            Self::BadLanguage => ("string", "strings", "with a bad language tag"),
            Self::NotTaken => ("value", "values", "where JSON-LD takes none such"),
            Self::NoObject => ("record", "records", "no JSON object"),
            Self::NotExpanded => ("record", "records", "refused by JSON-LD expansion"),
        }
    }
}

/// How often each kind of loss happened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Losses([u64; Loss::ALL.len()]);

impl Losses {
    /// Counts one more.
    pub fn add(&mut self, loss: Loss) {
        self.0[loss as usize] += 1;
    }

    /// How often it happened.
    pub fn count(&self, loss: Loss) -> u64 {
        self.0[loss as usize]
    }

    /// Those that happened, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Loss, u64)> {
        Loss::ALL.into_iter().map(|loss| (loss, self.count(loss))).filter(|(_, count)| *count > 0)
    }

    /// Adds those of another input.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }
}
