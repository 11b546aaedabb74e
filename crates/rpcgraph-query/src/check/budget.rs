//! Budgets: limits that a team states in TOML, as rules.
//!
//! ```toml
//! [[budget]]
//! tool = "search*"
//! max-duration = "2s"
//! max-tokens = 4000
//!
//! [[budget]]
//! max-failures = "1%"
//! forbid-tool = "delete_*"
//! ```

use serde::Deserialize;

use super::rules::{Level, RuleError, Rules, wrong};
use crate::query::catalogue::NamedQuery;
use crate::query::glob::condition;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetFile {
    budget: Vec<Budget>,
}

/// The limits of the calls of a tool, of the requests of a method (globs), or of all requests.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Budget {
    name: Option<String>,
    level: Option<String>,
    tool: Option<String>,
    method: Option<String>,
    max_duration: Option<String>,
    max_bytes: Option<Amount>,
    max_tokens: Option<Amount>,
    max_failures: Option<Amount>,
    expect_tool: Option<String>,
    forbid_tool: Option<String>,
}

/// A number, or a text with a number and its unit.
#[derive(Deserialize)]
#[serde(untagged)]
enum Amount {
    Number(f64),
    Text(String),
}

const DURATIONS: &[(&str, f64)] = &[("ms", 0.001), ("s", 1.0), ("m", 60.0), ("min", 60.0), ("h", 3600.0)];
const BYTES: &[(&str, f64)] = &[
    ("", 1.0),
    ("B", 1.0),
    ("kB", 1e3),
    ("KiB", 1024.0),
    ("MB", 1e6),
    ("MiB", 1024.0 * 1024.0),
    ("GB", 1e9),
    ("GiB", 1024.0 * 1024.0 * 1024.0),
];
const NUMBERS: &[(&str, f64)] = &[("", 1.0), ("k", 1e3)];

impl Amount {
    /// Returns the amount in the first unit that has the factor 1.
    fn of(&self, units: &[(&str, f64)]) -> Option<f64> {
        let (number, factor) = match self {
            Self::Number(number) => (*number, units.iter().find(|(unit, _)| unit.is_empty())?.1),
            Self::Text(text) => {
                let text = text.trim();
                let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
                let (number, unit) = text.split_at(end);
                (number.parse().ok()?, units.iter().find(|(name, _)| *name == unit.trim())?.1)
            }
        };
        Some(number * factor).filter(|amount| amount.is_finite() && *amount >= 0.0)
    }
}

/// The query of a limit, and what it says.
struct Limit {
    name: &'static str,
    title: String,
    /// The part of the query between its braces.
    pattern: String,
    exercised_by: String,
    protocol: Option<&'static str>,
}

impl Rules {
    /// Adds the limits of a file as rules named `budget/NAME/LIMIT`. NAME is the name, the tool or the method of the budget.
    ///
    /// # Errors
    ///
    /// The file is not TOML, or has an unknown member, an unreadable amount or two limits of one name.
    pub fn add_budget(&mut self, file: &str, text: &str) -> Result<(), RuleError> {
        let BudgetFile { budget } = toml::from_str(text).map_err(|error| wrong(file, error.to_string().trim_end()))?;
        for budget in &budget {
            let limits = budget.limits().map_err(|reason| wrong(file, reason))?;
            if limits.is_empty() {
                return Err(wrong(
                    file,
                    "a budget without a limit: add max-duration, max-bytes, max-tokens, max-failures, expect-tool or forbid-tool",
                ));
            }
            let level = match &budget.level {
                None => Level::Error,
                Some(name) => Level::named(name).ok_or_else(|| wrong(file, "the level is error, warning or note"))?,
            };
            let name = [&budget.name, &budget.tool, &budget.method].into_iter().flatten().next();
            for limit in limits {
                let tool = budget.expect_tool.as_ref().filter(|_| limit.name == "expect-tool");
                let tool = tool.or(budget.forbid_tool.as_ref().filter(|_| limit.name == "forbid-tool"));
                let about = name.or(tool).map_or(String::new(), |name| format!("{}/", name.replace('#', "-")));
                let id = format!("budget/{about}{}", limit.name);
                let query = format!("SELECT ?message ?related ?text {{ {} }}", limit.pattern);
                let ask = format!("ASK {{ {} }}", limit.exercised_by);
                self.add_limit(&id, (&limit.title, level), limit.protocol, &ask, &[&query])?;
            }
        }
        Ok(())
    }
}

impl Budget {
    fn limits(&self) -> Result<Vec<Limit>, String> {
        let (requests, about) = match (&self.tool, &self.method) {
            (Some(_), Some(_)) => return Err("a budget is about a tool or a method: make two".to_owned()),
            (Some(glob), None) => {
                (format!("?request rpcg:toolName ?name . {}", like("name", glob)), format!(" of {glob}"))
            }
            (None, Some(glob)) => {
                (format!("?request jrpc:hasMethod ?name . {}", like("name", glob)), format!(" of {glob}"))
            }
            (None, None) => ("?request jrpc:hasMethod ?name ; jrpc:hasId ?id .".to_owned(), String::new()),
        };
        let mut limits = Vec::new();
        let mut add = |name, title: String, measured: String, beyond: String| {
            let pattern = format!("{measured} {beyond}");
            limits.push(Limit { name, title, pattern, exercised_by: measured, protocol: None });
        };
        if let Some(text) = &self.max_duration {
            let most = amount("max-duration", &Amount::Text(text.clone()), DURATIONS)?;
            add(
                "max-duration",
                format!("An answer{about} takes longer than {text}"),
                // The wait of an open call shows only that it takes longer, never that it keeps the limit.
                format!(
                    "{requests}
                     {{
                        ?message rpcg:respondsTo ?request .
                        OPTIONAL {{ ?message rpcg:estimatedLatencySeconds ?seconds }}
                        OPTIONAL {{ ?message rpcg:latencySeconds ?seconds }} FILTER(BOUND(?seconds))
                        BIND(?request AS ?related) BIND(\" took \" AS ?verb)
                     }} UNION {{
                        {{ SELECT (?message AS ?request) (?waited AS ?seconds) {{
                            {{ {} }} FILTER(?waited > {most} && ?state NOT IN (\"waiting\", \"superseded\"))
                        }} }}
                        BIND(?request AS ?message) BIND(\" waited for \" AS ?verb)
                     }}",
                    unanswered()
                ),
                format!("FILTER(?seconds > {most}) BIND(CONCAT(?name, ?verb, STR(?seconds), \" s\") AS ?text)"),
            );
        }
        if let Some(bytes) = &self.max_bytes {
            let most = amount("max-bytes", bytes, BYTES)?;
            add(
                "max-bytes",
                format!("Params or a result{about} with more than {most} bytes"),
                format!(
                    "{requests}
                     {{ ?request jrpc:hasParameters ?payload BIND(?request AS ?message) }}
                     UNION {{ ?message rpcg:respondsTo ?request ; jrpc:hasResult ?payload }}"
                ),
                format!(
                    "BIND(rpcg:jsonSize(?payload) AS ?size) FILTER(?size > {most})
                     BIND(CONCAT(?name, \": \", STR(?size), \" bytes\") AS ?text)"
                ),
            );
        }
        if let Some(tokens) = &self.max_tokens {
            let most = amount("max-tokens", tokens, NUMBERS)?;
            let results = match self.method {
                Some(_) => requests.clone(),
                None => format!("?request rpcg:toolName ?name . {}", like("name", self.tool.as_deref().unwrap_or("*"))),
            };
            let definitions = match self.method {
                Some(_) => String::new(),
                None => format!(
                    "UNION {{ ?tool a mcp:Tool ; mcp:hasName ?name ; rpcg:size ?size ; rpcg:definedIn ?message {}
                       BIND(\"definition\" AS ?part) }}",
                    like("name", self.tool.as_deref().unwrap_or("*"))
                ),
            };
            add(
                "max-tokens",
                format!("A definition or a result{about} with more than {most} tokens, as estimated"),
                format!(
                    "{{ {results} ?message rpcg:respondsTo ?request ; jrpc:hasResult ?payload
                        BIND(rpcg:jsonSize(?payload) AS ?size) BIND(\"result\" AS ?part) }} {definitions}"
                ),
                format!(
                    "BIND(CEIL(?size / 4) AS ?tokens) FILTER(?tokens > {most})
                     BIND(CONCAT(?name, \": a \", ?part, \" of about \", STR(?tokens), \" tokens\") AS ?text)"
                ),
            );
        }
        if let Some(failures) = &self.max_failures {
            let share = match failures {
                Amount::Text(text) => text.trim().strip_suffix('%').and_then(|text| text.trim().parse::<f64>().ok()),
                Amount::Number(_) => None,
            };
            let (condition, most) = match share {
                Some(percent) => (format!("?failures * 100 > ?calls * {percent}"), format!("{percent} %")),
                None => {
                    let most = amount("max-failures", failures, NUMBERS)?;
                    (format!("?failures > {most}"), most.to_string())
                }
            };
            limits.push(Limit {
                name: "max-failures",
                title: format!("More than {most} of the requests{about} failed"),
                pattern: format!(
                    "{{ SELECT (COUNT(DISTINCT ?request) AS ?calls) (COUNT(?failure) AS ?failures) (SAMPLE(?failure) AS ?message) {{
                        {requests} OPTIONAL {{ ?answer rpcg:respondsTo ?request ; a rpcg:Failure BIND(?answer AS ?failure) }} }} }}
                     FILTER({condition})
                     BIND(CONCAT(STR(?failures), \" of \", STR(?calls), \" failed; this is one of them\") AS ?text)"
                ),
                exercised_by: format!("{requests} ?answer rpcg:respondsTo ?request"),
                protocol: None,
            });
        }
        if let Some(glob) = &self.forbid_tool {
            limits.push(Limit {
                name: "forbid-tool",
                title: format!("A call of {glob}, which the budget forbids"),
                pattern: format!("?message rpcg:toolName ?text {}", like("text", glob)),
                exercised_by: "?request rpcg:toolName ?name".to_owned(),
                protocol: None,
            });
        }
        if let Some(glob) = &self.expect_tool {
            limits.push(Limit {
                name: "expect-tool",
                title: format!("A session without a call of {glob}, which the budget expects"),
                pattern: format!(
                    "?message a rpcg:Session FILTER NOT EXISTS {{ ?call rpcg:inSession ?message ; rpcg:toolName ?name {} }}
                     BIND(\"the session does not call it\" AS ?text)",
                    like("name", glob)
                ),
                exercised_by: "?session a rpcg:Session".to_owned(),
                protocol: Some("mcp"),
            });
        }
        Ok(limits)
    }
}

/// Returns the question `unanswered` as a part of a query.
fn unanswered() -> &'static str {
    let text = NamedQuery::find("unanswered").map_or("", |query| query.text);
    text.split_once("\nSELECT").map_or("", |(head, _)| &text[head.len() + 1..])
}

fn amount(name: &str, amount: &Amount, units: &[(&str, f64)]) -> Result<f64, String> {
    let known = || units.iter().map(|(unit, _)| *unit).filter(|unit| !unit.is_empty()).collect::<Vec<_>>().join(", ");
    amount.of(units).ok_or_else(|| format!("{name} is a number with a unit: {}", known()))
}

/// Returns a filter for the values of a variable that match a glob.
fn like(variable: &str, glob: &str) -> String {
    format!("FILTER({})", condition(&format!("?{variable}"), glob))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        let of = |text: &str, units| Amount::Text(text.to_owned()).of(units);
        for (text, units, expected) in [
            ("500ms", DURATIONS, Some(0.5)),
            ("1.5 s", DURATIONS, Some(1.5)),
            ("2", DURATIONS, None),
            ("10 kB", BYTES, Some(10_000.0)),
            ("1 MiB", BYTES, Some(1_048_576.0)),
            ("7", BYTES, Some(7.0)),
            ("4k", NUMBERS, Some(4000.0)),
            ("-1", NUMBERS, None),
            ("much", NUMBERS, None),
        ] {
            assert_eq!(of(text, units), expected, "{text}");
        }
        assert_eq!(Amount::Number(3.0).of(NUMBERS), Some(3.0));
    }

    #[test]
    fn budgets_that_cannot_be_used() {
        for (text, reason) in [
            ("[[budget]]\n", "a budget without a limit"),
            ("[[budget]]\nmax-duration = \"2\"\n", "max-duration is a number with a unit: ms, s, m, min, h"),
            ("[[budget]]\nmax-lenght = 2\n", "unknown field `max-lenght`"),
            ("[[budget]]\ntool = \"a\"\nmethod = \"b\"\nmax-bytes = 2\n", "a tool or a method"),
            ("[[budget]]\nlevel = \"bad\"\nmax-bytes = 2\n", "the level is"),
            ("budget = 1\n", "invalid type"),
            ("[[budget]]\nmax-bytes = 2\n[[budget]]\nmax-bytes = 3\n", "two rules have this name"),
        ] {
            let error = Rules::default().add_budget("budget.toml", text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
