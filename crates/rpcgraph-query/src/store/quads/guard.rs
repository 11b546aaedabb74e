//! Guards that refuse input which would exhaust a parser, before the parser sees it.

use std::io::{self, Read};

use memchr::{memchr, memchr2};

/// The maximum nesting of JSON: each level of JSON-LD has a context, and all are in memory at once.
const MAX_DEPTH: usize = 1024;
/// The maximum length of an entity in bytes: ontologies use entities as short names for namespaces. So entities make a
/// document at most some 40 times as long.
const MAX_ENTITY: usize = 128;

/// A reason to refuse a document regardless of its content.
#[derive(Debug, thiserror::Error)]
enum DocumentRefusal {
    #[error("it is nested more than {MAX_DEPTH} levels deep: flatten it")]
    Depth,
    #[error(
        "it has an entity of more than {MAX_ENTITY} bytes, or one that refers to another: write what it stands for in its \
         place"
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

/// Refuses XML whose entities are long, or refer to other entities.
#[derive(Default)]
pub(super) struct EntityGuard {
    /// The beginning of a declaration.
    open: Vec<u8>,
}

const DECLARATION: &[u8] = b"<!ENTITY";

impl Guard for EntityGuard {
    fn pass(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while let Some((first, rest)) = bytes.split_first() {
            if self.open.is_empty() && *first != b'<' {
                let next = memchr(b'<', rest).unwrap_or(rest.len());
                bytes = rest.get(next..).unwrap_or_default();
                continue;
            }
            // The parser begins a declaration anew at each `<`, and takes the first text in double quotes as the value.
            if *first == b'<' {
                self.open.clear();
            }
            self.open.push(*first);
            bytes = rest;
            let known = self.open.len().min(DECLARATION.len());
            let mut parts = self.open.split(|byte| *byte == b'"');
            if self.open.get(..known) != DECLARATION.get(..known) {
                self.open.clear();
            } else if self.open.len() > 4 * MAX_ENTITY {
                return Err(DocumentRefusal::Entities.into());
            } else if *first == b'"'
                && let (Some(value), Some(_)) = (parts.nth(1), parts.next())
            {
                if value.len() > MAX_ENTITY || value.contains(&b'&') {
                    return Err(DocumentRefusal::Entities.into());
                }
                self.open.clear();
            }
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
    fn entities_are_short_and_do_not_refer_to_others() {
        let entity = |name: &str, value: &str| format!("<!DOCTYPE r [<!ENTITY a \"ha\"><!ENTITY {name} \"{value}\">]>");
        assert!(passes::<EntityGuard>(&format!("{}<r>&b;&unknown;</r>", entity("b", "https://example.org/#"))));
        assert!(passes::<EntityGuard>(&entity("b", &"x".repeat(128))));
        assert!(!passes::<EntityGuard>(&entity("b", &"x".repeat(129))));
        assert!(!passes::<EntityGuard>(&entity("b", &"x".repeat(70_000))));
        for name in ["b", "% b"] {
            assert!(!passes::<EntityGuard>(&entity(name, "&a;&a;")));
        }
        assert!(!passes::<EntityGuard>("<!DOCTYPE r [<!ENTITY a \"> >ha\"><!ENTITY b \"<!ENTITY c \"&a;\">]>"));
        // Typical for ontologies: short names for namespaces, used any number of times.
        let owl = "<!DOCTYPE rdf:RDF [ <!ENTITY owl \"http://www.w3.org/2002/07/owl#\" > ]><rdf:RDF>";
        assert!(passes::<EntityGuard>(&format!("{owl}{}", "<a r=\"&owl;Class\"/>".repeat(20_000))));
        assert!(passes::<EntityGuard>(&"<a>&amp;&lt;</a>".repeat(1000)));
    }
}
