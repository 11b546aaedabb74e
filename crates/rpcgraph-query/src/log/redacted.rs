//! Redacted logs, which are read again to see that they are as before.

use std::collections::HashMap;
use std::io::Cursor;

use super::{Log, LogError, LoggedMessage, Messages};
use crate::json::quoted;
use crate::record::{ReaderOptions, Sender, known_method};
use crate::redact::Redactor;

/// Redacts the text of a log: in its own format or, if that is not possible and `options` do not name the format, as
/// JSON lines. `None` if neither is possible.
///
/// # Errors
///
/// As [`Messages`].
pub fn redacted_for_reading(
    text: &[u8],
    options: &ReaderOptions,
    redactor: &mut Redactor,
) -> Result<Option<Vec<u8>>, LogError> {
    match redacted(text, options, redactor)? {
        None if !options.is_stated() => redacted_lines(text, options, redactor).map(Some),
        log => Ok(log),
    }
}

/// Redacts the text of a log, in its own format. `None` if the result does not read as the log does: if a message has
/// another name, kind, sender, time, problem or partner, or if other messages are in its session.
///
/// # Errors
///
/// As [`Messages`].
pub fn redacted(text: &[u8], options: &ReaderOptions, redactor: &mut Redactor) -> Result<Option<Vec<u8>>, LogError> {
    let redacted = redactor.log(text);
    let (mut before, mut after) = (messages(text, options), messages(&redacted, options));
    let (mut sessions, mut others) = (HashMap::new(), HashMap::new());
    loop {
        match (before.next().transpose()?, after.next()) {
            (None, None) => return Ok(Some(redacted)),
            (Some(one), Some(Ok(other)))
                if is_like(&one, &other, redactor.keeps_times())
                    && *sessions.entry(one.session.clone()).or_insert_with(|| other.session.clone())
                        == other.session
                    && *others.entry(other.session.clone()).or_insert_with(|| one.session.clone()) == one.session => {}
            _ => return Ok(None),
        }
    }
}

/// Redacts the messages of a log, and returns them as JSON lines.
///
/// # Errors
///
/// As [`Messages`].
pub fn redacted_lines(text: &[u8], options: &ReaderOptions, redactor: &mut Redactor) -> Result<Vec<u8>, LogError> {
    let mut lines = String::new();
    for message in messages(text, options) {
        let LoggedMessage { time, sender, session, kind, text, .. } = message?;
        // Line ends are around the tokens of JSON, and so not needed.
        let text = text.replace(['\n', '\r'], " ");
        if kind.is_none() {
            lines.push_str(&text);
            lines.push('\n');
            continue;
        }
        let sender = sender.map(|sender| if sender == Sender::Client { "client" } else { "server" }.to_owned());
        lines.push('{');
        for (name, value) in [("time", time), ("sender", sender), ("session", session)] {
            value.into_iter().for_each(|value| lines.push_str(&format!("\"{name}\":{},", quoted(&value))));
        }
        lines.push_str(&format!("\"message\":{text}}}\n"));
    }
    Ok(redactor.log(lines.as_bytes()))
}

fn messages(text: &[u8], options: &ReaderOptions) -> Messages {
    Log::read("log", Cursor::new(text.to_vec())).with_options(options.clone()).messages()
}

/// True if the messages differ only in what redaction replaces.
fn is_like(one: &LoggedMessage, other: &LoggedMessage, has_times: bool) -> bool {
    let facts = |message: &LoggedMessage| {
        let LoggedMessage { name, kind, sender, responds_to, latency, problems, .. } = message;
        (*name, *kind, *sender, *responds_to, *latency, *problems, message.session.is_some())
    };
    let known = |message: &LoggedMessage| message.method.clone().filter(|method| known_method(method).is_some());
    facts(one) == facts(other) && known(one) == known(other) && (!has_times || one.time == other.time)
}
