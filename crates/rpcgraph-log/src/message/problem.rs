//! Problems of records that can still be mapped.

use oxrdf::NamedNodeRef;

use crate::json::Evidence;
use crate::vocab::rpcg;

macro_rules! problems {
    ($($(#[$meta:meta])* $name:ident = $iri:ident,)*) => {
        /// A departure from JSON-RPC 2.0, or a doubt about the content of the log: an individual of `rpcg:Problem`.
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

            /// The local name, as summaries show it.
            pub fn name(self) -> &'static str {
                self.iri().as_str().strip_prefix(rpcg::NAMESPACE).unwrap_or_default()
            }
        }
    };
}

problems! {
    /// The member `jsonrpc` is missing (JSON-RPC 1.0, and logs that strip it).
    MissingVersion = MISSING_VERSION,
    /// `jsonrpc` is not the string `2.0` (section 4).
    WrongVersion = WRONG_VERSION,
    /// A request whose id is `null`, which section 4 discourages. An answer cannot be matched to it.
    NullRequestId = NULL_REQUEST_ID,
    /// `params` that are neither object nor array (section 4.2).
    ScalarParams = SCALAR_PARAMS,
    /// `error` that is not an object (section 5.1).
    ErrorNotObject = ERROR_NOT_OBJECT,
    /// The error's `code` is missing or not an integer (section 5.1).
    BadErrorCode = BAD_ERROR_CODE,
    /// The error's `message` is missing or not a string (section 5.1).
    BadErrorMessage = BAD_ERROR_MESSAGE,
    /// Both `result` and `error`, one of them null, as section 5 forbids. JSON-RPC 1.0 requires it, of messages without
    /// a version.
    BothResultAndError = BOTH_RESULT_AND_ERROR,
    /// A batch without elements (section 6).
    EmptyBatch = EMPTY_BATCH,
    /// An object, at any depth, with a duplicate member (RFC 8259, section 4).
    DuplicateMember = DUPLICATE_MEMBER,
    /// A string, at any depth, with half of a surrogate pair (RFC 8259, section 8.2).
    LoneSurrogate = LONE_SURROGATE,
    /// A member named like a JSON-LD keyword, which is not mapped.
    KeywordMember = KEYWORD_MEMBER,
    /// The message is cut off: by the writer of the log, or at the end of the log.
    Truncated = TRUNCATED,
    /// The log does not hold the message, only the data to build it.
    Reconstructed = RECONSTRUCTED,
    /// The log does not show which of several empty results was sent.
    ResultUnknown = RESULT_UNKNOWN,
    /// The response may answer more than one open request.
    AmbiguousPairing = AMBIGUOUS_PAIRING,
    /// A later request took the same id before this one was answered.
    IdReusedWhileOpen = ID_REUSED_WHILE_OPEN,
    /// The request was answered before.
    DuplicateAnswer = DUPLICATE_ANSWER,
    /// The time of the answer is before the time of its request: the clocks of the two sides differ.
    AnswerBeforeRequest = ANSWER_BEFORE_REQUEST,
}

/// A set of problems.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Problems(u32);

impl Problems {
    /// Adds a problem.
    pub fn insert(&mut self, problem: Problem) {
        self.0 |= 1 << problem as u8;
    }

    /// Adds a problem if `condition` is true.
    pub fn insert_if(&mut self, condition: bool, problem: Problem) {
        if condition {
            self.insert(problem);
        }
    }

    /// Adds the problems that a text has evidence of.
    pub(super) fn insert_evidence(&mut self, evidence: Evidence) {
        self.insert_if(evidence.duplicate_member, Problem::DuplicateMember);
        self.insert_if(evidence.lone_surrogate, Problem::LoneSurrogate);
    }

    /// True if the set contains the problem.
    pub fn contains(self, problem: Problem) -> bool {
        self.0 & (1 << problem as u8) != 0
    }

    /// True if the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the problems in the order of [`Problem::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Problem> {
        let all = if self.is_empty() { &[] } else { Problem::ALL };
        all.iter().copied().filter(move |problem| self.contains(*problem))
    }
}
