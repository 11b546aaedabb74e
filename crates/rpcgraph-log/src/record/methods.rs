//! The methods of published protocols.

use std::collections::HashMap;
use std::sync::LazyLock;

use ahash::RandomState;

use super::Sender;

/// The methods of published protocols: each line has a method, the side that sends it and the protocols that define it.
/// `methods.py` generates it from the protocols' schemas.
const METHODS: &str = include_str!("methods.txt");

/// The protocols of the methods.
const PROTOCOLS: [&str; 3] = ["ACP", "LSP", "MCP"];

/// A set of protocols.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Protocols(u8);

impl Protocols {
    /// The Agent Client Protocol.
    pub const ACP: Self = Self(1);
    /// The Language Server Protocol.
    pub const LSP: Self = Self(1 << 1);
    /// The Model Context Protocol.
    pub const MCP: Self = Self(1 << 2);

    /// Returns the protocols in both sets, or in either if the sets are disjoint.
    pub fn narrowed(self, other: Self) -> Self {
        if self.0 & other.0 == 0 { self.or(other) } else { Self(self.0 & other.0) }
    }

    /// Returns the protocols in either set.
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True if the sets have a protocol in common.
    pub fn has(self, one: Self) -> bool {
        self.0 & one.0 != 0
    }

    /// True if the set is not empty.
    pub fn is_any(self) -> bool {
        self.0 != 0
    }

    /// The names of the protocols.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        (0..).zip(PROTOCOLS).filter(move |(bit, _)| self.0 >> bit & 1 == 1).map(|(_, name)| name)
    }
}

/// A method that a published protocol defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownMethod {
    /// The side that sends it, if only one side does.
    pub sender: Option<Sender>,
    /// The protocols that define it.
    pub protocols: Protocols,
}

static KNOWN_METHODS: LazyLock<HashMap<&str, KnownMethod, RandomState>> = LazyLock::new(|| {
    let read = |line: &'static str| {
        let mut words = line.split(' ');
        let (method, side, names) = (words.next()?, words.next()?, words.next()?);
        let sender = match side {
            "client" => Some(Sender::Client),
            "server" => Some(Sender::Server),
            _ => None,
        };
        let bits = names.split(',').filter_map(|name| PROTOCOLS.iter().position(|protocol| *protocol == name));
        Some((method, KnownMethod { sender, protocols: Protocols(bits.map(|bit| 1 << bit).sum()) }))
    };
    // A log cannot add methods, so the hash may be the same in each run.
    let mut known = HashMap::with_hasher(RandomState::with_seeds(0, 0, 0, 0));
    known.extend(METHODS.lines().filter_map(read));
    known
});

/// Returns what published protocols state about a method.
pub fn known_method(method: &str) -> Option<KnownMethod> {
    KNOWN_METHODS.get(method).copied()
}

/// True for a method of A2A, in any version, that
/// [each event of a stream](https://a2a-protocol.org/latest/specification/#942-sendstreamingmessage) answers.
pub fn streams_answers(method: &str) -> bool {
    ["SendStreamingMessage", "SubscribeToTask", "message/stream", "tasks/resubscribe", "tasks/sendSubscribe"]
        .contains(&method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_who_sends_them() {
        assert!(
            METHODS.lines().is_sorted() && METHODS.lines().count() == KNOWN_METHODS.len() && KNOWN_METHODS.len() > 100
        );
        let (client, server) = (Some(Sender::Client), Some(Sender::Server));
        for (method, sender, protocols) in [
            ("initialize", client, vec!["ACP", "LSP", "MCP"]),
            ("tools/call", client, vec!["MCP"]),
            ("sampling/createMessage", server, vec!["MCP"]),
            ("workspace/configuration", server, vec!["LSP"]),
            ("session/update", server, vec!["ACP"]),
            ("notifications/cancelled", None, vec!["MCP"]),
            ("$/progress", None, vec!["LSP"]),
        ] {
            let known = known_method(method).unwrap();
            assert_eq!((known.sender, known.protocols.names().collect()), (sender, protocols), "{method}");
        }
        assert_eq!(known_method("subtract"), None);
        assert_eq!(Protocols::ACP.or(Protocols::MCP).names().collect::<Vec<_>>(), ["ACP", "MCP"]);
        let protocols = |method: &str| known_method(method).unwrap().protocols;
        let mcp = protocols("initialize").narrowed(protocols("tools/call"));
        assert_eq!(mcp.names().collect::<Vec<_>>(), ["MCP"]);
        assert_eq!(mcp.narrowed(protocols("session/update")).names().collect::<Vec<_>>(), ["ACP", "MCP"]);
    }

    /// The table matches the protocols' schemas, if these are present beside the corpora.
    #[test]
    #[ignore = "needs RPCGRAPH_CORPORA"]
    fn methods_are_those_of_the_schemas_beside_the_corpora() {
        let corpora = std::path::PathBuf::from(std::env::var_os("RPCGRAPH_CORPORA").expect("it is set"));
        let protocols = corpora.join("../reference/protocols");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/record/methods.py");
        let mut python = std::process::Command::new("python3");
        let output = python.arg(script).arg("--sources").args([&corpora, &protocols]).output().expect("Python runs");
        let table = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for (line, known) in table.lines().zip(METHODS.lines()) {
            let (method, files) = line.split_once(" # ").unwrap();
            assert_eq!(method, known, "as {files} say");
        }
        assert_eq!(table.lines().count(), METHODS.lines().count());
    }
}
