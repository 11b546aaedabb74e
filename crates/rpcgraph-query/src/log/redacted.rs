//! Redacted logs, which are read again to see that they are as before.

use std::collections::HashMap;
use std::io::Cursor;

use super::{Log, LogError, LoggedMessage, Messages};
use crate::json::quoted;
use crate::record::{RawObject, ReaderOptions, Sender, known_method};
use crate::redact::Redactor;

/// Redacts the text of a log: in its own format or, if that is not possible and `options` do not name the format, as
/// JSON lines; true in that case. `None` if neither is possible.
///
/// # Errors
///
/// As [`Messages`].
pub fn redacted_for_reading(
    text: &[u8],
    options: &ReaderOptions,
    redactor: &mut Redactor,
) -> Result<Option<(Vec<u8>, bool)>, LogError> {
    match redacted(text, options, redactor)? {
        None if !options.is_stated() => Ok(redacted_lines(text, options, redactor)?.map(|log| (log, true))),
        log => Ok(log.map(|log| (log, false))),
    }
}

/// Redacts the text of a log, in its own format. `None` if the result does not read as the log does: if a message has
/// another name, kind, sender, time, problem or partner, if other messages are in its session, or if a secret or a payload
/// is left.
///
/// # Errors
///
/// As [`Messages`].
pub fn redacted(text: &[u8], options: &ReaderOptions, redactor: &mut Redactor) -> Result<Option<Vec<u8>>, LogError> {
    let redacted = redactor.log(text);
    let is_like = read_alike(messages(text, options), messages(&redacted, options), redactor, is_like)?;
    Ok(is_like.then_some(redacted))
}

/// Redacts the messages of a log, and returns them as JSON lines. `None` if a message in them has another kind, sender,
/// time or partner, if other messages are in its session, or if a secret or a payload is left. Messages without a version
/// of JSON-RPC get one, by which they are recognised.
///
/// # Errors
///
/// As [`Messages`].
pub fn redacted_lines(
    text: &[u8],
    options: &ReaderOptions,
    redactor: &mut Redactor,
) -> Result<Option<Vec<u8>>, LogError> {
    let mut lines = String::new();
    for message in messages(text, options) {
        let LoggedMessage { time, sender, session, kind, latency, text, .. } = message?;
        // Line ends are around the tokens of JSON, and so not needed.
        let text = text.replace(['\n', '\r'], " ");
        if kind.is_none() {
            lines.push_str(&text);
            lines.push('\n');
            continue;
        }
        let sender = sender.map(|sender| if sender == Sender::Client { "client" } else { "server" }.to_owned());
        let around = [("time", time), ("sender", sender), ("session", session)];
        let around = around.into_iter().filter_map(|(name, value)| Some(format!("\"{name}\":{},", quoted(&value?))));
        let latency = latency.map(|latency| format!("\"duration_ms\":{},", latency.as_secs_f64() * 1000.0));
        let around: String = around.chain(latency).collect();
        // Beside other lines, a message is recognised by its version.
        let has_version = RawObject::parse(text.as_bytes()).is_some_and(|object| object.has("jsonrpc"));
        let text = if has_version { text } else { text.replacen('{', "{\"jsonrpc\":\"2.0\",", 1) };
        match around.is_empty() {
            true => lines.push_str(&text),
            false => lines.push_str(&format!("{{{around}\"message\":{text}}}")),
        }
        lines.push('\n');
    }
    let redacted = redactor.log(lines.as_bytes());
    // Lines do not have batches, which have part of the names.
    let mut names = HashMap::new();
    let is_like = |one: &LoggedMessage, other: &LoggedMessage, has_times: bool| {
        names.insert(one.name, other.name);
        let partner = one.responds_to.and_then(|name| names.get(&name).copied());
        (one.kind, one.sender, partner) == (other.kind, other.sender, other.responds_to)
            && published(one) == published(other)
            && (!has_times || one.time == other.time)
    };
    let own = ReaderOptions::default();
    let is_message =
        |message: &Result<LoggedMessage, LogError>| !matches!(message, Ok(LoggedMessage { kind: None, .. }));
    let (before, after) = (messages(text, options).filter(is_message), messages(&redacted, &own).filter(is_message));
    let is_like = read_alike(before, after, redactor, is_like)?;
    Ok(is_like.then_some(redacted))
}

fn messages(text: &[u8], options: &ReaderOptions) -> Messages {
    Log::read("log", Cursor::new(text.to_vec())).with_options(options.clone()).messages()
}

/// True if the messages before and after redaction are alike, in the same sessions, and without secrets.
fn read_alike(
    mut before: impl Iterator<Item = Result<LoggedMessage, LogError>>,
    mut after: impl Iterator<Item = Result<LoggedMessage, LogError>>,
    redactor: &Redactor,
    mut is_like: impl FnMut(&LoggedMessage, &LoggedMessage, bool) -> bool,
) -> Result<bool, LogError> {
    let (mut sessions, mut others) = (HashMap::new(), HashMap::new());
    loop {
        match (before.next().transpose()?, after.next()) {
            (None, None) => return Ok(true),
            (Some(one), Some(Ok(other)))
                if is_like(&one, &other, redactor.keeps_times())
                    && *sessions.entry(one.session.clone()).or_insert_with(|| other.session.clone())
                        == other.session
                    && *others.entry(other.session.clone()).or_insert_with(|| one.session.clone()) == one.session
                    && (other.kind.is_none()
                        || !redactor.leaves_secret(&other.text) && !redactor.leaves_payload(&other.text)) => {}
            _ => return Ok(false),
        }
    }
}

/// True if the messages differ only in what redaction replaces.
fn is_like(one: &LoggedMessage, other: &LoggedMessage, has_times: bool) -> bool {
    let facts = |message: &LoggedMessage| {
        let LoggedMessage { name, kind, sender, responds_to, latency, problems, .. } = message;
        (*name, *kind, *sender, *responds_to, *latency, *problems, message.session.is_some())
    };
    facts(one) == facts(other) && published(one) == published(other) && (!has_times || one.time == other.time)
}

/// The method of a message, if a protocol defines it.
fn published(message: &LoggedMessage) -> Option<&str> {
    message.method.as_deref().filter(|method| known_method(method).is_some())
}
