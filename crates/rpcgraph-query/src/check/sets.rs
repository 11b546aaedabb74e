//! Sets of rules, which do not change when rules are added, and the checks of MCP's official conformance suite.

use super::rules::{Rule, Rules};

/// The sets, oldest first: a name, and a rule on each line.
pub const SETS: [(&str, &str); 5] = [
    ("mcp-2024-11-05", include_str!("../../ontology/rules/sets/mcp-2024-11-05.txt")),
    ("mcp-2025-03-26", include_str!("../../ontology/rules/sets/mcp-2025-03-26.txt")),
    ("mcp-2025-06-18", include_str!("../../ontology/rules/sets/mcp-2025-06-18.txt")),
    ("mcp-2025-11-25", include_str!("../../ontology/rules/sets/mcp-2025-11-25.txt")),
    ("mcp-2026-07-28", include_str!("../../ontology/rules/sets/mcp-2026-07-28.txt")),
];

/// The checks of the suite that no rule judges, and why. They are about the newest revision.
const LEFT_OUT: &str = include_str!("../../ontology/rules/sets/conformance.tsv");

/// The suite's address; a check is a fragment.
const SUITE: &str = "https://github.com/modelcontextprotocol/conformance#";

impl Rule {
    /// Returns the checks of the official suite that the rule judges.
    pub fn checks(&self) -> impl Iterator<Item = &str> {
        self.clauses.iter().filter_map(|clause| clause.strip_prefix(SUITE))
    }
}

impl Rules {
    /// Keeps the rules of a set and all rules that are not built in. Returns false if no set has the name.
    pub fn retain_set(&mut self, name: &str) -> bool {
        let Some((_, set)) = SETS.iter().find(|(known, _)| *known == name) else { return false };
        let is_own = |rule: &Rule| !["jsonrpc/", "http/", "mcp/", "lsp/"].iter().any(|ours| rule.id.starts_with(ours));
        self.rules
            .retain(|rule| is_own(rule) || rule.id == "mcp/tool-drift" || set.lines().any(|line| line == rule.id));
        true
    }

    /// Returns the checks of the official suite in the order of their names: with the rule that judges them, or why no rule
    /// does.
    pub fn coverage(&self) -> Vec<(&str, Result<&str, &str>)> {
        let judged = self.iter().flat_map(|rule| rule.checks().map(|check| (check, Ok(rule.id.as_str()))));
        let left_out = LEFT_OUT.lines().filter_map(|line| line.split_once('\t'));
        let mut all: Vec<_> = judged.chain(left_out.map(|(check, why)| (check, Err(why)))).collect();
        all.sort_by_key(|(check, _)| *check);
        all
    }
}
