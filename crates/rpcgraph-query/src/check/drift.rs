//! Drift: definitions of tools that differ from the definitions in a baseline.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::facts::rows;
use super::rules::{Level, RuleError, Rules};
use crate::query::{Cancel, Dataset, Query, QueryError, SyntaxError};

/// The members of a definition, and their properties.
const MEMBERS: [(&str, &str); 5] = [
    ("title", "mcp:hasTitle"),
    ("description", "mcp:hasDescription"),
    ("inputSchema", "mcp:hasInputSchema"),
    ("outputSchema", "mcp:hasOutputSchema"),
    ("annotations", "mcp:hasAnnotations"),
];

/// The name of the rule.
pub const DRIFT: &str = "mcp/tool-drift";

/// The end of the text of a finding.
const ACCEPT: &str = "; if that is right, --accept writes it to the baseline";

/// The definitions in lists, with the names of their servers.
const LISTED: &str =
    "?definition a mcp:Tool ; mcp:hasName ?tool ; rpcg:definedIn ?message . ?message rpcg:inSession ?session
    OPTIONAL { ?hello rpcg:introduces ?side ; rpcg:inSession ?session . ?side a mcp:MCPServer ; mcp:hasName ?name }
    BIND(COALESCE(?name, \"\") AS ?server)";

/// The digests (SHA-256) of the members of definitions, by server and tool.
pub(super) type KnownTools = BTreeMap<(String, String), BTreeMap<String, String>>;

/// Returns the query for all definitions.
pub(super) fn query() -> Result<Query, SyntaxError> {
    Query::parse(&format!("SELECT * {{ {LISTED} {} }}", digests()), None)
}

/// Returns patterns that give each member's digest in a variable of its name, or an empty text.
fn digests() -> String {
    let digest = |(member, property): &(&str, &str)| {
        format!(
            "OPTIONAL {{ ?definition {property} ?of_{member} }}
             BIND(IF(BOUND(?of_{member}), SHA256(STR(?of_{member})), \"\") AS ?{member}) "
        )
    };
    MEMBERS.iter().map(digest).collect()
}

/// Returns the definitions of a loaded log; of several, the last in the log.
pub(super) fn definitions(dataset: &Dataset, cancel: &Cancel) -> Result<KnownTools, QueryError> {
    let mut all = KnownTools::new();
    let query = query().map_err(|error| QueryError::Server(error.into()))?;
    for row in rows(dataset, &query, cancel)? {
        let row = row?;
        let text = |name| row.text(name).unwrap_or_default().to_owned();
        let members = MEMBERS.iter().map(|(member, _)| ((*member).to_owned(), text(member)));
        all.insert((text("server"), text("tool")), members.filter(|(_, digest)| !digest.is_empty()).collect());
    }
    Ok(all)
}

impl Rules {
    /// Adds the rule `mcp/tool-drift` for known definitions: no list has another definition, or another tool of the same
    /// server, and a list that is complete has each known tool.
    pub(super) fn add_definitions(&mut self, known: &KnownTools) -> Result<(), RuleError> {
        let (mut values, mut servers) = (String::new(), BTreeSet::new());
        for ((server, tool), members) in known {
            let of = |name: &str| members.get(name).map(String::as_str).unwrap_or_default();
            let digests: Vec<_> = MEMBERS.iter().map(|(member, _)| literal(of(member))).collect();
            let _ = writeln!(values, "({} {} {})", literal(server), literal(tool), digests.join(" "));
            servers.insert(literal(server));
        }
        let servers = Vec::from_iter(servers).join(", ");
        let columns: String = MEMBERS.iter().map(|(member, _)| format!(" ?known_{member}")).collect();
        let differs = |member: &str| format!("?{member} != ?known_{member}");
        let differ: Vec<_> = MEMBERS.iter().map(|(member, _)| differs(member)).collect();
        let named: String =
            MEMBERS.iter().map(|(member, _)| format!(", IF({}, \" {member}\", \"\")", differs(member))).collect();
        let (differ, digests) = (differ.join(" || "), digests());
        let select = format!(
            "SELECT ?message ?text {{
                {LISTED} {digests} FILTER(?server IN ({servers}))
                OPTIONAL {{ VALUES (?server ?tool{columns}) {{ {values} }} BIND(true AS ?known) }}
                FILTER(!BOUND(?known) || {differ})
                BIND(CONCAT(?tool, \" of \", ?server, IF(BOUND(?known), CONCAT(\": changed:\"{named}), \": new\"), \"{ACCEPT}\") AS ?text)
            }}"
        );
        let names: String =
            known.keys().map(|(server, tool)| format!("({} {})", literal(server), literal(tool))).collect();
        // Pages that the log lacks may hold more tools.
        let gone = format!(
            "SELECT (MIN(?list) AS ?message) ?text {{
                {{
                    SELECT DISTINCT ?session ?server {{
                        ?hello rpcg:introduces ?side ; rpcg:inSession ?session . ?side a mcp:MCPServer ; mcp:hasName ?server
                    }}
                }}
                ?list rpcg:respondsTo ?asked ; rpcg:inSession ?session ; jrpc:hasResult ?result .
                ?asked jrpc:hasMethod \"tools/list\"
                BIND(rpcg:json(?result, \"/nextCursor\") AS ?cursor)
                FILTER(!BOUND(?cursor))
                VALUES (?server ?tool) {{ {names} }}
                FILTER NOT EXISTS {{
                    ?definition a mcp:Tool ; mcp:hasName ?tool ; rpcg:definedIn ?any . ?any rpcg:inSession ?session
                }}
                BIND(CONCAT(?tool, \" of \", ?server, \": gone\", \"{ACCEPT}\") AS ?text)
            }}
            GROUP BY ?text"
        );
        let title = "A definition of a tool that differs from the baseline's";
        // Lists of other servers are not compared.
        let ask = format!(
            "ASK {{
                {{ {LISTED} }} UNION {{
                    ?list rpcg:respondsTo/jrpc:hasMethod \"tools/list\" ; rpcg:inSession ?session .
                    ?hello rpcg:introduces ?side ; rpcg:inSession ?session . ?side a mcp:MCPServer ; mcp:hasName ?server
                }}
                FILTER(?server IN ({servers}))
            }}"
        );
        self.add_limit(DRIFT, (title, Level::Error), Some("mcp"), &ask, &[&select, &gone])
    }
}

/// Returns a text as a literal of SPARQL.
fn literal(text: &str) -> String {
    oxrdf::Literal::from(text).to_string()
}
