//! The built-in queries: `examples/queries/*.rq`, each a self-documented SPARQL query.
//!
//! A file starts with comments: a title, a description of the answer in one or more lines, then `Columns:` and
//! optionally `Parameters:`. A line of the query that ends in `#:NAME TEMPLATE` is replaced with its template if the
//! parameter is given; in the template, `$value` stands for the value as a SPARQL string, `$number` for the value as a
//! number. Without parameters, a file is plain SPARQL.
//!
//! A line `# Facts: needs times, follows` in the comments states what the command must know of a question: [`FACTS`]. The lines
//! `# Shown:`, `# Partial:`, `# Seconds:` and `# Bytes:` list columns: of a table for people, and with these units
//! ([`TableColumns`]).
//!
//! A line `#:messages ?message` is a place for conditions on the messages of the question, `#:sessions ?session` for
//! conditions on sessions ([`Condition`]).
//!
//! Queries must be fast on large logs, here and on servers, without depending on an optimizer: where two large patterns
//! meet, or where a shared variable may be unbound, one of them is a subquery.

use super::syntax::SyntaxError;
use super::table::TableColumns;
use crate::json;

/// A query of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedQuery<'q> {
    /// The name, which is also the name of the file.
    pub name: &'q str,
    /// The text of the file.
    pub text: &'q str,
}

/// A condition on messages, with the same meaning in every query that has places for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// A pattern of SPARQL, in which `$it` stands for the message.
    pub pattern: String,
    /// The same condition for a session, if it applies to sessions.
    pub session: Option<String>,
}

/// The facts that a file may state:
/// - the answer is none if the log was not read, even if there are rows;
/// - the answer has no rows if no message has a time;
/// - the answer is about two logs;
/// - rows of several logs are sorted by time;
/// - a row is final, so that a log can be followed as it grows;
/// - messages of different sessions are not compared.
pub const FACTS: [&str; 6] =
    ["needs messages", "needs times", "needs two logs", "sorted by time", "follows", "within sessions"];

/// The names of places that are not parameters.
const PLACES: [&str; 2] = ["messages", "sessions"];

macro_rules! catalogue {
    ($($name:literal $($sql:ident)? $($reason:literal)?,)*) => {
        /// Every query, in the order in which a user explores a log.
        pub const CATALOGUE: &[NamedQuery<'static>] =
            &[$(NamedQuery { name: $name, text: include_str!(concat!("../../examples/queries/", $name, ".rq")) }),*];

        /// The SQL twins of queries that columns can answer, over the tables of `convert -t parquet`, in DuckDB's
        /// dialect.
        const TWINS: &[(&str, &str)] = &[$($(
            ($name, include_str!(concat!("../../examples/queries/", stringify!($sql), "/", $name, ".sql"))),
        )?)*];

        /// The reasons why the other queries do not have a twin.
        const REASONS: &[(&str, &str)] = &[$($(($name, $reason),)?)*];
    };
}

// Queries with `sql` have a twin; for the others, the reason is given.
catalogue! {
    "overview" "it needs exact differences of times",
    "sessions" sql,
    "timeline" sql,
    "methods" sql,
    "errors" sql,
    "slowest" sql,
    "in-flight" sql,
    "unanswered" "it needs exact differences of times",
    "unsolicited" sql,
    "repeated-ids" sql,
    "problems" sql,
    "batches" sql,
    "tools" "it counts definitions, which lists of tools repeat and change",
    "tool-failures" sql,
    "tool-changes" "it compares definitions, which lists of tools repeat and change",
    "cost" "it measures definitions, which lists repeat and change",
    "forwarded" "only the graph links a request to the one that a gateway sent for it",
    "operations" "an operation may span several requests",
    "inputs" "an answer may ask, and another request may answer",
    "resources" "it counts definitions and contents, of which a message may have many",
    "documents" "a document has several spellings, and a message may name many",
    "diagnostics" "it follows diagnostics from report to report, and a message may have many",
    "capabilities" "it lists members of payloads, of which a message may have many",
    "handshake" "clients may describe themselves in any request",
    "cancelled" sql,
    "progress" "the request of a token depends on the requests that were open",
    "secrets" "it searches all texts for the shapes of secrets",
    "biggest" sql,
    "compare" "it compares definitions, which lists of tools repeat and change",
}

/// A dialect of SQL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SqlDialect {
    /// SQL of DuckDB
    #[default]
    Duckdb,
    /// SQL of Spark
    Spark,
}

impl SqlDialect {
    /// Translates DuckDB's SQL into this dialect.
    fn translated(self, text: &str) -> String {
        match self {
            Self::Duckdb => text.to_owned(),
            Self::Spark => with_paths(text),
        }
    }
}

/// Replaces DuckDB's function for a string at a JSON Pointer with Spark's, and the pointer with a path such as
/// `$['a'][0]`.
fn with_paths(text: &str) -> String {
    const FUNCTION: &str = "json_extract_string(";
    let mut calls = text.split(FUNCTION);
    let mut translated = calls.next().unwrap_or_default().to_owned();
    for call in calls {
        let parts = call.split_once(", '/").and_then(|(json, rest)| Some((json, rest.split_once('\'')?)));
        let Some((json, (pointer, rest))) = parts else {
            translated.extend([FUNCTION, call]);
            continue;
        };
        let member = |name: &str| {
            if name.parse::<u64>().is_ok() { format!("[{name}]") } else { format!("['{}']", name.replace("~1", "/")) }
        };
        let path: String = pointer.split('/').map(member).collect();
        translated += &format!("get_json_object({json}, \"${path}\"{rest}");
    }
    translated
}

/// Returns the names of the queries with a twin in SQL.
pub fn names_with_sql() -> Vec<&'static str> {
    TWINS.iter().map(|(name, _)| *name).collect()
}

/// Returns the names of all built-in queries.
pub fn names() -> Vec<&'static str> {
    CATALOGUE.iter().map(|query| query.name).collect()
}

/// Errors in finding a query or filling in its parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    /// A query with this name does not exist.
    #[error("unknown question {0:?}; use one of {list}", list = names().join(", "))]
    UnknownQuery(String),
    /// The text with the filled-in parameters is not a query.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The query does not have a parameter with this name.
    #[error("unknown parameter {parameter:?} of the query {query}; its parameters: {}", match known.as_slice() {
        [] => "none".to_owned(),
        known => known.join(", "),
    })]
    UnknownParameter {
        /// The query.
        query: String,
        /// The given name.
        parameter: String,
        /// The parameters of the query.
        known: Vec<String>,
    },
    /// The query does not have a place for conditions.
    #[error("the query {0} does not accept filters: it needs a line `#:messages ?message`")]
    NoPlace(String),
    /// The value of a numeric parameter is not a number.
    #[error("the parameter {parameter} wants a whole number, not {value:?}")]
    NotANumber {
        /// The parameter.
        parameter: String,
        /// The value.
        value: String,
    },
}

impl NamedQuery<'static> {
    /// Returns the query with this name.
    pub fn find(name: &str) -> Result<&'static Self, CatalogueError> {
        let found = CATALOGUE.iter().find(|query| query.name == name);
        found.ok_or_else(|| CatalogueError::UnknownQuery(name.to_owned()))
    }
}

impl<'q> NamedQuery<'q> {
    /// The title: the first line of the comment at the start of the file.
    pub fn title(&self) -> &'q str {
        self.text.lines().next().and_then(|line| line.strip_prefix('#')).unwrap_or_default().trim()
    }

    /// The protocols that the title names, such as `MCP, LSP`; empty for any.
    pub fn protocols(&self) -> &'q str {
        let inner = self.title().split_once('(').and_then(|(_, rest)| rest.split_once(')'));
        inner.map_or("", |(inner, _)| inner)
    }

    /// True if the comments state one of [`FACTS`].
    pub fn states(&self, fact: &str) -> bool {
        self.stated("# Facts: ").any(|stated| stated == fact)
    }

    /// The columns of its table for people.
    pub fn table_columns(&self) -> TableColumns {
        let [shown, partial, seconds, bytes] = ["# Shown: ", "# Partial: ", "# Seconds: ", "# Bytes: "]
            .map(|start| self.stated(start).map(str::to_owned).collect());
        TableColumns { shown, partial, seconds, bytes }
    }

    fn stated(&self, start: &'static str) -> impl Iterator<Item = &'q str> {
        let comments = self.text.lines().take_while(|line| line.starts_with('#'));
        comments.filter_map(move |line| line.strip_prefix(start)).flat_map(|stated| stated.split(", "))
    }

    /// Returns the query in SQL over the tables of `convert -t parquet`, without parameters; `None` if columns cannot
    /// answer it.
    pub fn sql(&self, dialect: SqlDialect) -> Option<String> {
        let (_, text) = TWINS.iter().find(|(name, _)| *name == self.name)?;
        Some(format!("-- {}\n{}", self.title(), dialect.translated(text)))
    }

    /// Returns the reason why the query is not available in SQL.
    pub fn why_no_sql(&self) -> Option<&'static str> {
        REASONS.iter().find(|(name, _)| *name == self.name).map(|(_, reason)| *reason)
    }

    /// Returns the names of the parameters.
    pub fn parameters(&self) -> Vec<&'q str> {
        let mut names = Vec::new();
        for (name, _) in self.text.lines().filter_map(slot) {
            if !names.contains(&name) && !PLACES.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the number of rows that the query has without the parameter `limit`; `None` if it has all.
    pub fn own_limit(&self) -> Option<usize> {
        let is_limit = |line: &&str| slot(line).is_some_and(|(name, _)| name == "limit");
        let (own, _) = self.text.lines().find(is_limit)?.split_once("#:")?;
        own.trim().strip_prefix("LIMIT ")?.parse().ok()
    }

    /// Fills in parameters, and conditions on messages.
    pub fn with(&self, parameters: &[(String, String)], conditions: &[Condition]) -> Result<String, CatalogueError> {
        let known = self.parameters();
        if let Some((parameter, _)) = parameters.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            let (query, known) = (self.name.to_owned(), known.into_iter().map(str::to_owned).collect());
            return Err(CatalogueError::UnknownParameter { query, parameter: parameter.clone(), known });
        }
        if !conditions.is_empty() && !self.text.lines().filter_map(slot).any(|(name, _)| name == PLACES[0]) {
            return Err(CatalogueError::NoPlace(self.name.to_owned()));
        }
        let mut text = String::with_capacity(self.text.len());
        for line in self.text.lines() {
            // The last given value counts.
            let value = |parameter| parameters.iter().rev().find(|(name, _)| name == parameter);
            if let Some((place, variable)) = slot(line).filter(|(name, _)| PLACES.contains(name)) {
                if conditions.is_empty() {
                    text.extend([line, "\n"]);
                }
                for condition in conditions {
                    let pattern =
                        if place == PLACES[0] { Some(&condition.pattern) } else { condition.session.as_ref() };
                    text.extend(pattern.map(|pattern| pattern.replace("$it", variable.trim()) + "\n"));
                }
                continue;
            }
            match slot(line).and_then(|(parameter, template)| Some((parameter, template, value(parameter)?))) {
                Some((parameter, template, (_, value))) => text.push_str(&filled(parameter, template, value)?),
                None => text.push_str(line),
            }
            text.push('\n');
        }
        Ok(text)
    }
}

/// Parses the parameter of a line, and its template.
fn slot(line: &str) -> Option<(&str, &str)> {
    line.split_once("#:")?.1.split_once(' ')
}

fn filled(parameter: &str, template: &str, value: &str) -> Result<String, CatalogueError> {
    if !template.contains("$number") {
        // JSON's escape sequences are valid in SPARQL too; both spell control characters `\u001F`.
        return Ok(template.replace("$value", &json::quoted(value)));
    }
    let number = value.parse::<u64>();
    let number =
        number.map_err(|_| CatalogueError::NotANumber { parameter: parameter.to_owned(), value: value.to_owned() })?;
    Ok(template.replace("$number", &number.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: NamedQuery<'static> = NamedQuery {
        name: "test",
        text: "# A title\n#\n# More.\nSELECT * {\n  ?r jrpc:hasMethod ?m\n  #:method FILTER(?m = $value)\n}\nLIMIT 10 #:limit LIMIT $number\n",
    };

    fn with(parameters: &[(&str, &str)]) -> Result<String, CatalogueError> {
        let owned: Vec<_> = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        QUERY.with(&owned, &[])
    }

    #[test]
    fn facts_are_known() {
        for query in CATALOGUE {
            assert_eq!(query.stated("# Facts: ").find(|fact| !FACTS.contains(fact)), None, "{}", query.name);
        }
        for fact in FACTS {
            assert!(CATALOGUE.iter().any(|query| query.states(fact)), "{fact}");
        }
    }

    #[test]
    fn a_parameter_replaces_its_line() {
        assert_eq!(QUERY.title(), "A title");
        assert_eq!(QUERY.parameters(), ["method", "limit"]);
        assert_eq!(QUERY.own_limit(), Some(10));
        assert_eq!(with(&[]).unwrap(), QUERY.text);
        let text = with(&[("method", "a\"b\\c\n"), ("limit", "3")]).unwrap();
        assert!(text.contains("\nFILTER(?m = \"a\\\"b\\\\c\\n\")\n}\nLIMIT 3\n"), "{text}");
    }

    #[test]
    fn wrong_parameters_are_refused() {
        assert!(matches!(with(&[("metod", "x")]), Err(CatalogueError::UnknownParameter { .. })));
        assert!(matches!(with(&[("limit", "3 OFFSET 1")]), Err(CatalogueError::NotANumber { .. })));
    }
}
