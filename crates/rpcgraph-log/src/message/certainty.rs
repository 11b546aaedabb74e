//! How sure it is that the records of a log are JSON-RPC. Any object may happen to have a `method` or an `id`.

use super::{Content, Message, Single};
use crate::record::{Certainty, is_member_of_messages};

impl Certainty {
    /// Returns the certainty of a batch, given the highest certainty of its elements: any array of other values looks like
    /// a broken batch (section 6).
    pub fn of_batch(most: Option<Self>) -> Self {
        most.unwrap_or(Self::No)
    }
}

impl Content<'_> {
    /// Returns how sure it is that a record is JSON-RPC, by its content.
    ///
    /// It may be JSON-RPC if it is a message by the table of [`Content::parse`] without `jsonrpc`, and has members that
    /// JSON-RPC does not define. A line of a web server's access log may look like this: `{"method":"GET","status":200}`.
    #[inline]
    pub fn certainty(&self) -> Certainty {
        match self {
            Self::Single(single) => single.certainty(),
            Self::Batch(elements) => Certainty::of_batch(elements.iter().map(Single::certainty).max()),
            // Even if its text names `jsonrpc`: an answer to a question would lack the message that it was.
            Self::Malformed(_) => Certainty::No,
            Self::Exchange => Certainty::Sure,
        }
    }
}

impl Single<'_> {
    /// Returns how sure it is that this is a message of JSON-RPC.
    #[inline]
    pub fn certainty(&self) -> Certainty {
        match self {
            Self::Message(message) if message.version.is_some() || !is_doubtful(message) => Certainty::Sure,
            Self::Message(_) => Certainty::Maybe,
            Self::Invalid(invalid) if invalid.value.member("jsonrpc").is_some() => Certainty::Sure,
            Self::Invalid(_) => Certainty::No,
        }
    }
}

fn is_doubtful(message: &Message<'_>) -> bool {
    let Some(extra) = &message.extra else { return false };
    let mut is_doubtful = false;
    extra.view().each_member(&mut |name, _| is_doubtful |= !is_member_of_messages(name.as_bytes()));
    is_doubtful && extra.member("jsonrpc").is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_recognized() {
        use Certainty::{Maybe, No, Sure};
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","method":"m","status":200}"#, Sure),
            (r#"{"jsonrpc":2,"method":"m","status":200}"#, Sure),
            (r#"{"jsonrpc":"2.0"}"#, Sure),
            (r#"{"method":"m","params":[],"id":1}"#, Sure),
            (r#"{"result":1,"error":null,"id":1}"#, Sure),
            (r#"{"method":"Page.enable","params":{},"id":1,"sessionId":"A"}"#, Sure),
            ("[]", No),
            ("[1]", No),
            (r#"[{"m":{"jsonrpc":"2.0","id":1,"method":"a"}}]"#, No),
            (r#"[1,{"jsonrpc":"2.0"}]"#, Sure),
            (r#"[{"method":"GET","status":200},{"method":"m"}]"#, Sure),
            (r#"[{"method":"GET","status":200},{"a":1}]"#, Maybe),
            (r#"{"method":"GET","status":200}"#, Maybe),
            (r#"{"level":"error","error":"timeout"}"#, Maybe),
            (r#"{"seq":1,"type":"request","command":"launch"}"#, No),
            (r#"{"msg":"{\"jsonrpc\":\"2.0\",\"id"#, No),
            (r#"sent {"jsonrpc":"2.0","id":1,"method":"m"}"#, No),
            (r#"{"jsonrpc":"2.0","id":1,"meth"#, No),
            (r#"{"jsonrpc":"2.0","method":"m",}"#, No),
            ("7", No),
            ("", No),
        ] {
            assert_eq!(Content::parse(text.as_bytes()).certainty(), expected, "{text}");
        }
    }
}
