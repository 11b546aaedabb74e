//! Guards that refuse input which would exhaust a parser, before the parser sees it.

use std::collections::HashMap;
use std::io::{self, Read};

use memchr::memchr2;

/// The maximum nesting of JSON: each level of JSON-LD has a context, and all are in memory at once.
const MAX_DEPTH: usize = 1024;
/// The maximum length of an entity declaration, and of an entity's expansion, in bytes.
const MAX_ENTITY: usize = 64 << 10;
/// The maximum that entities may add to a document: a constant number of bytes, or a factor of the document's length.
const MAX_ADDED: u64 = 16 << 20;
const MAX_ADDED_EACH: u64 = 32;

/// A reason to refuse a document regardless of its content.
#[derive(Debug, thiserror::Error)]
enum DocumentRefusal {
    #[error("it is nested more than {MAX_DEPTH} levels deep: flatten it")]
    Depth,
    #[error(
        "its entities stand for too much: more than {MAX_ENTITY} bytes in one, or {MAX_ADDED_EACH} times the document in \
         all: write what they stand for in their place"
    )]
    Entities,
    #[error("something in it is longer than {0} bytes: a longer --max-record-size may help")]
    Length(usize),
}

impl From<DocumentRefusal> for io::Error {
    fn from(refusal: DocumentRefusal) -> Self {
        Self::other(refusal)
    }
}

/// Creates the error for an item of more than that many bytes.
pub(super) fn too_long(bytes: usize) -> io::Error {
    DocumentRefusal::Length(bytes).into()
}

/// Inspects bytes on their way to a parser.
pub(super) trait Guard {
    /// Inspects bytes, which may end anywhere.
    fn pass(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// A reader that fails as soon as its guard refuses the input.
pub(super) struct GuardedReader<R, G> {
    pub read: R,
    pub guard: G,
}

impl<R: Read, G: Guard> Read for GuardedReader<R, G> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.read.read(buffer)?;
        self.guard.pass(buffer.get(..length).unwrap_or_default())?;
        Ok(length)
    }
}

/// Refuses JSON that is nested too deep.
#[derive(Default)]
pub(super) struct DepthGuard {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Guard for DepthGuard {
    fn pass(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while let Some((first, mut rest)) = bytes.split_first() {
            match first {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {
                    let end = memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                    rest = rest.get(end..).unwrap_or_default();
                }
                b'[' | b'{' => self.depth += 1,
                b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if self.depth > MAX_DEPTH {
                return Err(DocumentRefusal::Depth.into());
            }
            bytes = rest;
        }
        Ok(())
    }
}

/// Refuses XML whose entities multiply.
#[derive(Default)]
pub(super) struct EntityGuard {
    /// The length of each entity's expansion, in bytes.
    entities: HashMap<Vec<u8>, u64>,
    /// The beginning of a declaration or reference.
    open: Vec<u8>,
    passed: u64,
    added: u64,
}

const DECLARATION: &[u8] = b"<!ENTITY";

impl EntityGuard {
    /// Returns the length of the expansion of references, in bytes; each ends at a semicolon.
    fn length_of<'t>(&self, names: impl Iterator<Item = &'t [u8]>) -> u64 {
        names.filter_map(|name| self.entities.get(name.split(|byte| *byte == b';').next()?)).sum()
    }

    /// Records the open declaration, if it is one, as the parser does: its value is in double quotes.
    fn declare(&mut self) -> io::Result<()> {
        let Some(text) = self.open.strip_prefix(DECLARATION) else { return Ok(()) };
        let text = text.trim_ascii_start();
        let text = text.strip_prefix(b"%").unwrap_or(text).trim_ascii_start();
        let name = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        let value = text.split(|byte| *byte == b'"').nth(1).unwrap_or_default();
        let length = value.len() as u64 + self.length_of(value.split(|byte| *byte == b'&').skip(1));
        if length > MAX_ENTITY as u64 {
            return Err(DocumentRefusal::Entities.into());
        }
        self.entities.insert(name.to_owned(), length);
        Ok(())
    }

    /// Returns true if the open text is a whole declaration: the parser may use it before it reads more.
    fn is_declared(&self) -> bool {
        let Some(text) = self.open.strip_suffix(b">") else { return false };
        text.trim_ascii_end().ends_with(b"\"") && text.iter().filter(|byte| **byte == b'"').count() == 2
    }

    /// Processes a byte that begins, continues or ends markup or a reference.
    fn go_on(&mut self, byte: u8) -> io::Result<()> {
        let is_markup = self.open.starts_with(b"<");
        if byte == b'<' || (byte == b'&' && !is_markup) {
            self.declare()?;
            self.open.clear();
        }
        self.open.push(byte);
        let known = self.open.len().min(DECLARATION.len());
        if is_markup {
            if self.open.get(..known) != DECLARATION.get(..known) {
                self.open.clear();
            } else if self.open.len() > MAX_ENTITY {
                return Err(DocumentRefusal::Entities.into());
            } else if self.is_declared() {
                self.declare()?;
                self.open.clear();
            }
        } else if byte == b';' || self.open.len() > MAX_ENTITY {
            self.added += self.length_of(self.open.get(1..).into_iter());
            self.open.clear();
            if self.added > MAX_ADDED + self.passed.saturating_mul(MAX_ADDED_EACH) {
                return Err(DocumentRefusal::Entities.into());
            }
        }
        Ok(())
    }
}

impl Guard for EntityGuard {
    fn pass(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.passed += bytes.len() as u64;
        while let Some((first, rest)) = bytes.split_first() {
            if self.open.is_empty() && !matches!(first, b'<' | b'&') {
                let next = memchr2(b'<', b'&', rest).unwrap_or(rest.len());
                bytes = rest.get(next..).unwrap_or_default();
                continue;
            }
            self.go_on(*first)?;
            bytes = rest;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if a text passes, at every split point.
    fn passes<G: Guard + Default>(text: &str) -> bool {
        let passed = |cuts: &[&[u8]]| {
            let mut guard = G::default();
            cuts.iter().all(|cut| guard.pass(cut).is_ok())
        };
        let bytes = text.as_bytes();
        let whole = passed(&[bytes]);
        for at in (0..bytes.len()).step_by(bytes.len() / 64 + 1) {
            let (left, right) = bytes.split_at(at);
            assert_eq!(passed(&[left, right]), whole, "{at} of {}", text.len());
        }
        whole
    }

    #[test]
    fn depth_is_counted_outside_of_strings() {
        for (text, is_let) in [
            ("[".repeat(1024), true),
            ("[".repeat(1025), false),
            ("{\"a\":".repeat(1025), false),
            ("[]".repeat(2000), true),
            (format!("\"{}\"", "[".repeat(2000)), true),
            (format!("\"\\\"{}\"", "[".repeat(2000)), true),
            (format!("\"\\\\\"{}", "[".repeat(2000)), false),
        ] {
            assert_eq!(passes::<DepthGuard>(&text), is_let, "{}", &text[..20]);
        }
    }

    #[test]
    fn entities_are_counted() {
        let laughs = |levels: u8| -> String {
            let level =
                |n: u8| format!("<!ENTITY {} \"{}\">", char::from(n + 1), format!("&{};", char::from(n)).repeat(10));
            (b'a'..b'a' + levels).map(level).collect()
        };
        let declared = format!("<!DOCTYPE r [<!ENTITY a \"ha\">{}]><r>", laughs(4));
        assert!(passes::<EntityGuard>(&declared));
        assert!(passes::<EntityGuard>(&format!("{declared}&e;&e;&unknown;</r>")));
        assert!(!passes::<EntityGuard>(&format!("{declared}{}</r>", "&e;".repeat(2000))));
        assert!(!passes::<EntityGuard>(&format!("<!DOCTYPE r [<!ENTITY a \"ha\">{}]><r>", laughs(5))));
        assert!(!passes::<EntityGuard>(&format!("<r/><!doctype r [<!ENTITY % a \"ha\">{}]>", laughs(5))));
        assert!(!passes::<EntityGuard>(&format!("<!DOCTYPE r [<!ENTITY a \"{}\">", "x".repeat(70_000))));
        assert!(!passes::<EntityGuard>(&format!("<!DOCTYPE r [<!ENTITY a \"> >ha\">{}]>", laughs(5))));
        // Typical for ontologies: short names for namespaces, used any number of times.
        let owl = "<!DOCTYPE rdf:RDF [ <!ENTITY owl \"http://www.w3.org/2002/07/owl#\" > ]><rdf:RDF>";
        assert!(passes::<EntityGuard>(&format!("{owl}{}", "<a r=\"&owl;Class\"/>".repeat(20_000))));
        assert!(passes::<EntityGuard>(&"<a>&amp;&lt;</a>".repeat(1000)));
    }
}
