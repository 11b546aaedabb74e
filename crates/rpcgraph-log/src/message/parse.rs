//! Parsing the bytes of one record to its content.

use super::{Content, PayloadBuffer, Scanner};
use crate::record::Record;

impl<'a> Content<'a> {
    /// Parses the content of a record.
    ///
    /// The members decide which message it is (`·` absent, `*` anything):
    ///
    /// | method | id | result | error | it is |
    /// |---|---|---|---|---|
    /// | string | present | · | · | Request |
    /// | string | ·, or null without `jsonrpc` | · | · | Notification |
    /// | · | * | present | · or null | Response |
    /// | · | * | · or null | present and not null | ErrorResponse |
    ///
    /// Anything else is [`Single::Invalid`](super::Single::Invalid), also anything with an id that
    /// [`Id::from_value`](super::Id::from_value) rejects, or with a lone surrogate in its method, its id or its error
    /// message. An array is a [`Content::Batch`].
    pub fn parse(bytes: &'a [u8]) -> Self {
        Self::scanned(bytes, false)
    }

    /// Parses the content of a record, as far as the log holds it.
    pub fn from_record(record: &'a Record<'_>) -> Self {
        match record.is_exchange() {
            true => Self::Exchange,
            false => Self::scanned(&record.bytes, record.flags.result_unknown),
        }
    }

    /// Parses the content of a record for which the log says that there was a result, but not which one. An object with
    /// only an id is then also a Response, without a result.
    pub fn parse_without_result(bytes: &'a [u8]) -> Self {
        Self::scanned(bytes, true)
    }

    fn scanned(bytes: &'a [u8], result_unknown: bool) -> Self {
        let mut payloads = PayloadBuffer::default();
        Scanner::default().scan(bytes, result_unknown, &mut payloads).own(&payloads)
    }
}

/// True if JSON-LD reserves the name: `@` and then letters only (JSON-LD 1.1, section 1.7).
pub fn is_keyword_like(name: &str) -> bool {
    name.strip_prefix('@').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphabetic()))
}
