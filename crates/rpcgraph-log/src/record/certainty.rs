//! How sure it is that JSON, or text, is a JSON-RPC message: other JSON has a `method` or an `id` too.

use super::decoder::leading_blanks;
use super::methods::known_method;
use super::object::{RawObject, objects};
use super::value::{Extent, value};
use memchr::memmem::Finder;
use memchr::{memchr_iter, memchr2_iter, memmem};
use std::sync::LazyLock;

/// How sure it is that something is JSON-RPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// It is not JSON-RPC.
    No,
    /// It has members that messages have, and other programs use.
    Maybe,
    /// It is JSON-RPC, valid or not.
    Sure,
}

impl Certainty {
    /// Returns the certainty of an object, in any place of a log.
    ///
    /// It is sure if it has `jsonrpc`, or a method that a published protocol defines and only members that JSON-RPC
    /// defines. It may be a message if it has the members of a call or of an answer.
    pub(super) fn of_object(object: &RawObject<'_>) -> Self {
        if object.has("jsonrpc") {
            return Self::Sure;
        }
        let method = object.string("method");
        let is_known = || method.as_ref().is_some_and(|method| known_method(method).is_some());
        let is_call = || method.is_some() && (object.has("id") || object.has("params"));
        let is_answer = || object.has("id") && (object.has("result") || object.has("error"));
        match has_members_of_messages(object) && is_known() {
            true => Self::Sure,
            false if is_call() || is_answer() => Self::Maybe,
            false => Self::No,
        }
    }

    /// Returns the greatest certainty of an object, or of the elements of a batch.
    pub(super) fn of(text: &[u8]) -> Self {
        objects(text).map(|object| Self::of_object(&object)).max().unwrap_or(Self::No)
    }
}

impl<'a> RawObject<'a> {
    /// Parses a message.
    pub(crate) fn message(text: &'a [u8]) -> Option<Self> {
        Self::parse(text).filter(|object| Certainty::of_object(object) != Certainty::No)
    }
}

/// The members of a message. `result` and `error` occur together in JSON-RPC 1.0, `sessionId` belongs to Chrome's
/// protocol, and recorders add `_meta`.
const MEMBERS: [&str; 8] = ["jsonrpc", "id", "method", "params", "result", "error", "sessionId", "_meta"];

/// True if all members are members of messages.
pub(super) fn has_members_of_messages(object: &RawObject<'_>) -> bool {
    object.members().all(|(name, _)| is_member_of_messages(name))
}

/// True if messages have a member of that name.
pub fn is_member_of_messages(name: &[u8]) -> bool {
    MEMBERS.iter().any(|known| known.as_bytes() == name)
}

/// The words of which each message has at least one. A finder is built once: for a short text, that costs more than the search.
static WORDS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| [Finder::new("jsonrpc"), Finder::new("method")]);

/// True if the text may hold a message that is sure. Other text is not searched.
pub(super) fn may_hold_message(text: &[u8]) -> bool {
    WORDS.iter().any(|word| word.find(text).is_some())
}

/// Returns the number of words in a text of which each message has at least one.
pub(super) fn mentions(text: &[u8]) -> usize {
    WORDS.iter().filter(|word| word.needle().len() <= text.len()).map(|word| word.find_iter(text).count()).sum()
}

/// True if a text has the name of a member of messages, in JSON or in JSON within a string.
pub(super) fn names_member(text: &[u8]) -> bool {
    names_one_of(text, &[b"jsonrpc", b"method", b"result", b"error"])
}

/// True if a line has the beginning of a JSON value that cannot be parsed, also with names in other quotes or in none.
pub(super) fn has_broken_json(line: &[u8]) -> bool {
    let opens = |at: &usize| {
        let next = line[at + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
        next.is_some_and(|next| b"\"'".contains(next) || line[*at] == b'{' && next.is_ascii_alphabetic())
    };
    let first = memchr2_iter(b'{', b'[', line).find(opens);
    first.is_some_and(|at| !matches!(value(&line[at..]), Extent::Whole(_)))
}

/// True if a text may hold a message, or a part of one.
pub(super) fn mentions_message(text: &[u8]) -> bool {
    memmem::find(text, b"jsonrpc").is_some() || names_member(text)
}

/// True if a text has the member `jsonrpc`, in JSON or in JSON within a string.
pub fn names_jsonrpc(text: &[u8]) -> bool {
    memmem::find(text, b"jsonrpc").is_some() && names_one_of(text, &[b"jsonrpc"])
}

/// True if a text has the version of JSON-RPC as a member in another language, as in `:jsonrpc=>"2.0"`, `'jsonrpc': '2.0'`,
/// `JSONRPC:2.0` and `:jsonrpc "2.0"`.
pub fn spells_version(text: &[u8]) -> bool {
    let is_version = |at: usize| {
        let rest = &text[at + b"jsonrpc".len()..];
        if text[..at].ends_with(b":") && rest.starts_with(b" \"2.0") {
            return true;
        }
        let rest = [&b"\""[..], b"'"].iter().find_map(|quote| rest.strip_prefix(*quote)).unwrap_or(rest);
        let rest = rest.trim_ascii_start();
        let value = [&b"=>"[..], b"=", b":"].iter().find_map(|sign| rest.strip_prefix(*sign));
        let value = value.map(|value| value.trim_ascii_start());
        value.is_some_and(|value| {
            let value = [&b"\""[..], b"'"].iter().find_map(|quote| value.strip_prefix(*quote)).unwrap_or(value);
            value.starts_with(b"2.0") || value.starts_with(b"JsonRpcVersion2_0")
        })
    };
    [&b"jsonrpc"[..], b"JSONRPC"].iter().any(|name| memmem::find_iter(text, name).any(is_version))
}

fn names_one_of(text: &[u8], names: &[&[u8]]) -> bool {
    let is_named = |rest: &[u8]| {
        let name = rest.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let behind = &rest[name..];
        let behind = behind[behind.iter().take_while(|byte| **byte == b'\\').count()..].strip_prefix(b"\"");
        names.contains(&&rest[..name]) && behind.is_some_and(|rest| rest[leading_blanks(rest)..].starts_with(b":"))
    };
    // The opening quote may have been taken for the end of a string before the text.
    is_named(text) || memchr_iter(b'"', text).any(|quote| is_named(&text[quote + 1..]))
}
