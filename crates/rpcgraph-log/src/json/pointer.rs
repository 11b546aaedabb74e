//! Tokens of JSON Pointers ([RFC 6901, 3 and 4](https://www.rfc-editor.org/rfc/rfc6901#section-3)).

use std::borrow::Cow;

/// Encodes a member's name as a token.
pub fn pointer_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Decodes a token to a member's name.
pub fn pointer_name(token: &str) -> Cow<'_, str> {
    match token.contains('~') {
        // `~1` first, so that `~01` is `~1` and not `/`.
        true => token.replace("~1", "/").replace("~0", "~").into(),
        false => token.into(),
    }
}
