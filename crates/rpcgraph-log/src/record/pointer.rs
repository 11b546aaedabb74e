//! JSON Pointers into the objects around messages, and into JSON that a string in them holds.

use super::object::{RawObject, elements, offset_in, scalar, unescape};
use super::rules::DurationUnit;
use crate::json::pointer_name;
use regex::bytes::Regex;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A JSON Pointer (RFC 6901).
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    tokens: Vec<String>,
    /// Set for a pointer of the user, who is to know if it finds nothing.
    uses: Option<PointerUses>,
    /// The unit of the number at the pointer, if it is stated.
    pub unit: Option<DurationUnit>,
}

/// Notes whether a pointer finds a value. Clones share their notes.
#[derive(Clone, Debug)]
pub(super) struct PointerUses {
    text: String,
    is_tried: Arc<AtomicBool>,
    is_found: Arc<AtomicBool>,
}

impl PointerUses {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), is_tried: Arc::default(), is_found: Arc::default() }
    }

    pub(super) fn note(&self, found: bool) {
        let flag = if found { &self.is_found } else { &self.is_tried };
        if !flag.load(Ordering::Relaxed) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the text of the pointer if it was tried, and never found a value.
    pub(super) fn unmatched(&self) -> Option<&str> {
        let is_unmatched = self.is_tried.load(Ordering::Relaxed) && !self.is_found.load(Ordering::Relaxed);
        is_unmatched.then_some(&self.text)
    }
}

/// A text that is not a JSON Pointer.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a JSON Pointer: it begins with `/`, and has `~0` for `~` and `~1` for `/` (RFC 6901)")]
pub struct PointerError(String);

impl Pointer {
    pub(super) fn parse(text: &str) -> Result<Self, PointerError> {
        let mut tokens = text.split('/');
        let bad = |token: &str| token.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1']));
        let is_pointer = tokens.next() == Some("") && !tokens.clone().any(bad);
        is_pointer
            .then(|| Self {
                tokens: tokens.map(|token| pointer_name(token).into_owned()).collect(),
                uses: None,
                unit: None,
            })
            .ok_or_else(|| PointerError(text.to_owned()))
    }

    /// Parses a pointer of the user, and notes its uses.
    pub(super) fn noted(text: &str) -> Result<Self, PointerError> {
        Ok(Self { uses: Some(PointerUses::new(text)), ..Self::parse(text)? })
    }

    /// The name of the member.
    pub(super) fn name(&self) -> &str {
        self.tokens.last().map_or("", String::as_str)
    }

    pub(super) fn with_unit(self, unit: Option<DurationUnit>) -> Self {
        Self {
            unit: unit
                .or_else(|| super::rules::duration_unit(self.name()).filter(|unit| *unit != DurationUnit::Stated)),
            ..self
        }
    }

    /// The notes about a pointer of the user.
    pub(super) fn uses(&self) -> Option<&PointerUses> {
        self.uses.as_ref()
    }

    /// Returns the value at the pointer, and its offset in the line, or the offset of the string that holds it.
    pub(super) fn find<'a>(&self, object: &RawObject<'a>, line: &'a [u8]) -> Option<(usize, Cow<'a, [u8]>)> {
        let found = self.value(object, line);
        if let Some(uses) = &self.uses {
            uses.note(found.is_some());
        }
        found
    }

    fn value<'a>(&self, object: &RawObject<'a>, line: &'a [u8]) -> Option<(usize, Cow<'a, [u8]>)> {
        let Some((first, rest)) = self.tokens.split_first() else { return Some((0, line.into())) };
        let mut start = offset_in(line, object.get(first)?);
        let mut found = Cow::Borrowed(object.get(first)?);
        for token in rest {
            found = inside(found, |value| member(value, token))?;
            if let Cow::Borrowed(value) = found {
                start = offset_in(line, value);
            }
        }
        Some((start, found))
    }

    /// True if `regex` matches the scalar at the pointer, or another value as it is spelled.
    pub(super) fn has(&self, object: &RawObject<'_>, line: &[u8], regex: &Regex) -> bool {
        let found = self.find(object, line).map(|(_, value)| scalar(&value).map_or(value.to_vec(), String::into_bytes));
        found.is_some_and(|text| regex.is_match(&text))
    }
}

/// Returns the member or element with that name in a value, or in JSON that a string holds.
fn member<'a>(value: &'a [u8], name: &str) -> Option<Cow<'a, [u8]>> {
    match value.first()? {
        b'{' => RawObject::parse(value)?.get(name).map(Cow::Borrowed),
        b'[' => elements(value).nth(name.parse().ok()?).map(Cow::Borrowed),
        b'"' => inside(unescape(value)?, |text| member(text, name)),
        _ => None,
    }
}

/// Returns the result of `find` in a text, which may be owned.
pub(super) fn inside<'a>(text: Cow<'a, [u8]>, find: impl Fn(&[u8]) -> Option<Cow<'_, [u8]>>) -> Option<Cow<'a, [u8]>> {
    match text {
        Cow::Borrowed(text) => find(text),
        Cow::Owned(text) => find(&text).map(|found| found.into_owned().into()),
    }
}
