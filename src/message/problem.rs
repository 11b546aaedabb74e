//! What can be wrong with a record and still leave it worth mapping.

use oxrdf::NamedNodeRef;

use crate::vocab::rpcg;

macro_rules! problems {
    ($($(#[$meta:meta])* $name:ident = $iri:ident,)*) => {
        /// A departure from JSON-RPC 2.0, or a doubt about what the log holds: an individual of `rpcg:Problem`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Problem {
            $($(#[$meta])* $name,)*
        }

        impl Problem {
            /// Every problem, in the order in which they are written.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The individual of `rpcg:Problem`.
            pub fn iri(self) -> NamedNodeRef<'static> {
                match self {
                    $(Self::$name => rpcg::$iri,)*
                }
            }

            /// Its local name, as summaries show it.
            pub fn name(self) -> &'static str {
                self.iri().as_str().strip_prefix(rpcg::NAMESPACE).unwrap_or_default()
            }
        }
    };
}

problems! {
    /// No member `jsonrpc` (JSON-RPC 1.0, and logs that strip it).
    MissingVersion = MISSING_VERSION,
    /// `jsonrpc` is not the string `2.0` (section 4).
    WrongVersion = WRONG_VERSION,
    /// A request whose id is `null`, which section 4 discourages and no answer can be told to belong to.
    NullRequestId = NULL_REQUEST_ID,
    /// `params` that are neither object nor array (section 4.2).
    ScalarParams = SCALAR_PARAMS,
    /// `error` that is not an object (section 5.1).
    ErrorNotObject = ERROR_NOT_OBJECT,
    /// The error's `code` is missing or not an integer (section 5.1).
    BadErrorCode = BAD_ERROR_CODE,
    /// The error's `message` is missing or not a string (section 5.1).
    BadErrorMessage = BAD_ERROR_MESSAGE,
    /// Both `result` and `error`, one of them null, as JSON-RPC 1.0 wants it and section 5 forbids.
    BothResultAndError = BOTH_RESULT_AND_ERROR,
    /// A batch without elements (section 6).
    EmptyBatch = EMPTY_BATCH,
    /// An object, at whatever depth, that has a member twice (RFC 8259, section 4).
    DuplicateMember = DUPLICATE_MEMBER,
    /// A string, at whatever depth, with half of a surrogate pair (RFC 8259, section 8.2).
    LoneSurrogate = LONE_SURROGATE,
    /// A member named like a JSON-LD keyword, taken out of what is mapped.
    KeywordMember = KEYWORD_MEMBER,
    /// Cut off: by whoever wrote the log, or at its end.
    Truncated = TRUNCATED,
    /// The log holds no message but what is needed to build one.
    Reconstructed = RECONSTRUCTED,
    /// The log does not tell which of several empty results it was.
    ResultUnknown = RESULT_UNKNOWN,
    /// More than one open request could be the one that is answered.
    AmbiguousPairing = AMBIGUOUS_PAIRING,
    /// A later request took the same id before this one was answered.
    IdReusedWhileOpen = ID_REUSED_WHILE_OPEN,
    /// The request was answered before.
    DuplicateAnswer = DUPLICATE_ANSWER,
}

/// A set of problems.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Problems(u32);

impl Problems {
    /// Adds one.
    pub fn insert(&mut self, problem: Problem) {
        self.0 |= 1 << problem as u8;
    }

    /// Adds one where `condition` holds.
    pub fn insert_if(&mut self, condition: bool, problem: Problem) {
        if condition {
            self.insert(problem);
        }
    }

    /// Whether it is among them.
    pub fn contains(self, problem: Problem) -> bool {
        self.0 & (1 << problem as u8) != 0
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those that are there, in the order of [`Problem::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Problem> {
        Problem::ALL.iter().copied().filter(move |problem| self.contains(*problem))
    }
}
