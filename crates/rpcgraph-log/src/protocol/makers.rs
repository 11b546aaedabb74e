//! The parts of the program that make triples, and the terms that each of them writes.
//!
//! A query needs the makers of the terms that it names. Each maker states its terms next to its code; a statement under
//! another term fails in debug builds.

use std::collections::HashMap;
use std::sync::LazyLock;

use oxrdf::NamedNodeRef;
use oxrdf::vocab::rdf;

use super::{StatementObject, content, definitions, forwarding, lsp, mcp, sides};
use crate::vocab::rpcg;

/// A part of the program that makes triples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// A message alone, without its payloads and its id.
    Message,
    /// The payloads of a message, or duplicate members in them.
    Payload,
    /// The side that sent a message, and other messages of the session.
    Exchange,
    /// Operations of MCP, their rounds and results, and notifications.
    Operation,
    /// Cancellations in MCP and LSP.
    Cancellation,
    /// The error codes of MCP.
    ErrorKind,
    /// Requests that cross a gateway.
    Forwarding,
    /// The definitions in lists of MCP.
    Definition,
    /// The items of results of MCP.
    Content,
    /// Clients and servers.
    Side,
    /// Documents, diagnostics and capabilities of LSP.
    Lsp,
}

/// The terms of a maker: properties, and classes.
pub struct MakerTerms {
    /// The maker.
    pub maker: Maker,
    /// The properties of records and of the errors of answers.
    pub of_records: Vec<NamedNodeRef<'static>>,
    /// The properties of other nodes, and their classes.
    pub of_nodes: Vec<NamedNodeRef<'static>>,
    /// The problems that only this maker finds.
    pub problems: Vec<NamedNodeRef<'static>>,
}

impl MakerTerms {
    /// Creates the terms of a maker that finds no problems of its own.
    pub fn new(maker: Maker, of_records: Vec<NamedNodeRef<'static>>, of_nodes: Vec<NamedNodeRef<'static>>) -> Self {
        Self { maker, of_records, of_nodes, problems: Vec::new() }
    }
}

/// The makers of statements of protocols.
pub static MAKERS: LazyLock<Vec<MakerTerms>> = LazyLock::new(|| {
    let makers = mcp::makers().into_iter();
    let others = [forwarding::maker(), definitions::maker(), content::maker(), sides::maker(), lsp::maker()];
    makers.chain(others).collect()
});

/// A set of makers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Makers(u16);

impl Makers {
    /// All makers.
    pub const ALL: Self = Self(u16::MAX);
    /// No maker.
    pub const NONE: Self = Self(0);
    /// The makers of statements of protocols.
    const OF_PROTOCOLS: Self = Self(u16::MAX << Maker::Operation as u16);

    /// Returns the set with one more maker.
    pub const fn with(self, maker: Maker) -> Self {
        Self(self.0 | 1 << maker as u16)
    }

    /// True if the set has a maker.
    pub fn has(self, maker: Maker) -> bool {
        self.0 & 1 << maker as u16 != 0
    }

    /// Returns true if the set has a maker of statements of protocols.
    pub fn has_protocols(self) -> bool {
        self.0 & Self::OF_PROTOCOLS.0 != 0
    }

    /// Returns true if these are all makers of statements of protocols in the set.
    pub fn are_of_protocols(self, makers: &[Maker]) -> bool {
        let others = makers.iter().fold(self.0, |all, maker| all & !(1 << *maker as u16));
        others & Self::OF_PROTOCOLS.0 == 0
    }
}

/// Returns true if the maker states the terms of a statement.
pub(super) fn is_stated(maker: Maker, property: NamedNodeRef<'_>, object: &StatementObject<'_>) -> bool {
    static TERMS: LazyLock<HashMap<&str, Vec<Maker>>> = LazyLock::new(|| {
        let mut terms: HashMap<_, Vec<_>> = HashMap::new();
        for MakerTerms { maker, of_records, of_nodes, .. } in &*MAKERS {
            of_records.iter().chain(of_nodes).for_each(|term| terms.entry(term.as_str()).or_default().push(*maker));
        }
        terms
    });
    let term = match object {
        StatementObject::Class(class) if property == rdf::TYPE => *class,
        _ => property,
    };
    debug_assert!(property != rpcg::PROBLEM, "problems are not statements");
    TERMS.get(term.as_str()).is_some_and(|makers| makers.contains(&maker))
}
