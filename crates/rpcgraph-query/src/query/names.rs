//! Names of resources for people, in tables and in the columns of other formats.

use std::borrow::Cow;

use oxrdf::NamedNodeRef;

use super::QUERY_PREFIXES;
use crate::diagnostic::printable;

/// Returns the name of a resource for people: of a message without `base`, of a session its key, else with a prefix if there
/// is one.
pub(super) fn short_name<'n>(node: NamedNodeRef<'n>, base: Option<&str>) -> Cow<'n, str> {
    let iri = node.as_str();
    if let Some(base) = base
        && let Some(rest) = iri.strip_prefix(base)
    {
        // For one log, only the name of a message, or the key of a session.
        if let Some(fragment) = rest.strip_prefix('#') {
            match session_key(fragment) {
                Some(key) => return printable(key),
                None if is_message(fragment) => return fragment.into(),
                None => {}
            }
        }
        return match rest.split_once('#').map(|(_, fragment)| fragment) {
            // For several logs, also the name of the log.
            Some(fragment) if is_message(fragment) || session_key(fragment).is_some() => printable(rest),
            None if !rest.is_empty() => printable(rest),
            None => {
                printable(base.rsplit(['/', ':']).find(|part| !part.is_empty()).unwrap_or(base)).into_owned().into()
            }
            Some(_) => printable(&format!("<{rest}>")).into_owned().into(),
        };
    }
    for (prefix, namespace) in QUERY_PREFIXES {
        if let Some(local) = iri.strip_prefix(namespace)
            && !local.is_empty()
            && local.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        {
            return format!("{prefix}:{local}").into();
        }
    }
    printable(&format!("<{iri}>")).into_owned().into()
}

/// Returns the key of a session in its fragment, unless it reads as the name of a message.
fn session_key(fragment: &str) -> Option<&str> {
    fragment.strip_prefix("session-").filter(|key| !key.is_empty() && !is_message(key))
}

/// Returns true if a fragment is the name of a message: `m12`, or `m12.3` in a batch.
fn is_message(fragment: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some(number) = fragment.strip_prefix('m') else { return false };
    let (record, element) = number.split_once('.').unwrap_or((number, "1"));
    digits(record) && digits(element)
}
