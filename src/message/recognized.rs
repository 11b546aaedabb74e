//! Recognition of JSON-RPC in the records of a log. Any object may happen to have a `method` or an `id`.

use std::sync::LazyLock;

use super::{Content, ExtraMembers, Message, Single};
use crate::json::MemberName;
use crate::record::is_member_of_messages;

static VERSION: LazyLock<MemberName> = LazyLock::new(|| MemberName::new("jsonrpc"));

/// The degree to which a record shows that its log is JSON-RPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recognized {
    /// The record is neither a message, nor a batch, nor an object with `jsonrpc`, or it is not JSON.
    Nothing,
    /// A message by the table of [`Content::parse`], but without `jsonrpc` and with members that JSON-RPC does not
    /// define. A line of a web server's access log may look like this: `{"method":"GET","status":200}`.
    Doubtful,
    /// JSON-RPC, valid or not.
    JsonRpc,
}

impl Recognized {
    /// Returns the degree of a batch, given the highest degree of its elements.
    pub(crate) fn batch(most: Option<Self>) -> Self {
        // A batch with nothing but other values is broken JSON-RPC (section 6).
        most.filter(|most| *most != Self::Nothing).unwrap_or(Self::JsonRpc)
    }
}

impl Content<'_> {
    /// Returns the degree of a record.
    #[inline]
    pub fn recognized(&self) -> Recognized {
        match self {
            Self::Single(single) => single.recognized(),
            Self::Batch(elements) => Recognized::batch(elements.iter().map(Single::recognized).max()),
            // Even if its text names `jsonrpc`: an answer to a question would lack the message that it was.
            Self::Malformed(_) => Recognized::Nothing,
            Self::Exchange => Recognized::JsonRpc,
        }
    }
}

impl Single<'_> {
    #[inline]
    pub(crate) fn recognized(&self) -> Recognized {
        match self {
            Self::Message(message) if message.version.is_some() || !is_doubtful(message) => Recognized::JsonRpc,
            Self::Message(_) => Recognized::Doubtful,
            Self::Invalid(invalid) if invalid.value.has_member(&VERSION) => Recognized::JsonRpc,
            Self::Invalid(_) => Recognized::Nothing,
        }
    }
}

fn is_doubtful(message: &Message<'_>) -> bool {
    let is_known = |name: Option<&str>| name.is_some_and(|name| is_member_of_messages(name.as_bytes()));
    let unknown = match &message.extra {
        ExtraMembers::Listed(members) => members.iter().any(|(name, _)| !is_known(name.as_str())),
        // Extra members with known names are small and few, so this object has other members.
        ExtraMembers::Canonical { .. } => true,
    };
    unknown && !message.extra.has(&VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_recognized() {
        use Recognized::{Doubtful, JsonRpc, Nothing};
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","method":"m","status":200}"#, JsonRpc),
            (r#"{"jsonrpc":2,"method":"m","status":200}"#, JsonRpc),
            (r#"{"jsonrpc":"2.0"}"#, JsonRpc),
            (r#"{"method":"m","params":[],"id":1}"#, JsonRpc),
            (r#"{"result":1,"error":null,"id":1}"#, JsonRpc),
            (r#"{"method":"Page.enable","params":{},"id":1,"sessionId":"A"}"#, JsonRpc),
            ("[]", JsonRpc),
            ("[1]", JsonRpc),
            (r#"[{"method":"GET","status":200},{"method":"m"}]"#, JsonRpc),
            (r#"[{"method":"GET","status":200},{"a":1}]"#, Doubtful),
            (r#"{"method":"GET","status":200}"#, Doubtful),
            (r#"{"level":"error","error":"timeout"}"#, Doubtful),
            (r#"{"seq":1,"type":"request","command":"launch"}"#, Nothing),
            (r#"{"msg":"{\"jsonrpc\":\"2.0\",\"id"#, Nothing),
            (r#"sent {"jsonrpc":"2.0","id":1,"method":"m"}"#, Nothing),
            (r#"{"jsonrpc":"2.0","id":1,"meth"#, Nothing),
            (r#"{"jsonrpc":"2.0","method":"m",}"#, Nothing),
            ("7", Nothing),
            ("", Nothing),
        ] {
            assert_eq!(Content::parse(text.as_bytes()).recognized(), expected, "{text}");
        }
    }
}
