//! The queries that come with the program: `examples/queries/*.rq`, each a SPARQL query that explains itself.
//!
//! A file starts with comments: a title, a line or more on what it answers, then `Columns:` and maybe `Parameters:`. A
//! line of the query that ends in `#:NAME TEMPLATE` is replaced by its template where the parameter is given, `$value` in
//! it by the value as a SPARQL string, `$number` by the value as a number. Without parameters, a file is plain SPARQL.
//!
//! A line `#:messages ?message` is a place for conditions on what the question is about, `#:sessions ?session` for those
//! that are about sessions ([`Condition`]).
//!
//! They have to be fast on large logs, here and on servers, without luck with an optimizer: where two large patterns meet,
//! or where a variable that both share may be unbound, one of them is a subquery.

use super::SyntaxError;
use crate::json;

/// A query of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedQuery<'q> {
    /// Its name, that of its file.
    pub name: &'q str,
    /// The file.
    pub text: &'q str,
}

/// A condition on messages, which means the same in every query that has places for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// A pattern of SPARQL, in which `$it` stands for the message.
    pub pattern: String,
    /// The same for a session, if it is about sessions.
    pub session: Option<String>,
}

/// Names of places that are not parameters.
const PLACES: [&str; 2] = ["messages", "sessions"];

macro_rules! catalogue {
    ($($name:literal $($sql:ident)? $($reason:literal)?,)*) => {
        /// Every query, in the order in which one gets to know a log.
        pub const CATALOGUE: &[NamedQuery<'static>] =
            &[$(NamedQuery { name: $name, text: include_str!(concat!("../../examples/queries/", $name, ".rq")) }),*];

        /// Those that columns answer, in SQL over the tables of `convert -t parquet`, as DuckDB speaks it.
        const TWINS: &[(&str, &str)] = &[$($(
            ($name, include_str!(concat!("../../examples/queries/", stringify!($sql), "/", $name, ".sql"))),
        )?)*];

        /// What the others need that columns do not have.
        const REASONS: &[(&str, &str)] = &[$($(($name, $reason),)?)*];
    };
}

// Those with `sql` have a twin; of the others it is said what for there is none.
catalogue! {
    "overview" "it takes times from each other with all their digits",
    "sessions" sql,
    "timeline" sql,
    "methods" sql,
    "errors" sql,
    "slowest" sql,
    "in-flight" sql,
    "unanswered" sql,
    "unsolicited" sql,
    "repeated-ids" sql,
    "problems" sql,
    "batches" sql,
    "tools" "it counts definitions, which lists of tools repeat and change",
    "tool-failures" sql,
    "tool-changes" "it compares definitions, which lists of tools repeat and change",
    "definitions-size" "it measures definitions, which lists repeat and change",
    "operations" "an operation may be several requests",
    "inputs" "what is asked may be in an answer, and answered by another request",
    "resources" "it counts definitions and contents, which are many in a message",
    "documents" "one document has several spellings, and many may be in a message",
    "diagnostics" "it follows diagnostics, many in a message, from report to report",
    "capabilities" "it lists what is in payloads, many in a message",
    "handshake" "since 2026-07-28 every request may tell of its client",
    "cancelled" sql,
    "progress" "which request a token belongs to depends on what was open then",
    "secrets" "it looks for shapes of secrets in all texts",
    "biggest" sql,
    "compare" "it compares definitions, which lists of tools repeat and change",
}

/// Whose SQL it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum SqlDialect {
    /// SQL of DuckDB
    #[default]
    Duckdb,
    /// SQL of Spark
    Spark,
}

impl SqlDialect {
    /// What DuckDB's SQL is here.
    fn translated(self, text: &str) -> String {
        match self {
            Self::Duckdb => text.to_owned(),
            Self::Spark => with_paths(text),
        }
    }
}

/// Puts Spark's function in place of the one that takes a string out of JSON by a JSON Pointer, which becomes a path such
/// as `$['a']['b']`.
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
        let path: String = pointer.split('/').map(|name| format!("['{name}']")).collect();
        translated += &format!("get_json_object({json}, \"${path}\"{rest}");
    }
    translated
}

/// The names of the queries that have a twin in SQL.
pub fn names_with_sql() -> Vec<&'static str> {
    TWINS.iter().map(|(name, _)| *name).collect()
}

/// The names of all queries that are built in.
pub fn names() -> Vec<&'static str> {
    CATALOGUE.iter().map(|query| query.name).collect()
}

/// Why there is no such query, or not with these parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    /// There is no query with this name.
    #[error("there is no query {0:?}; there are {list}", list = names().join(", "))]
    UnknownQuery(String),
    /// Its text, with the parameters in it, is not a query.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The query has no parameter with this name.
    #[error("the query {query} has no parameter {parameter:?}; it has {}", match known.as_slice() {
        [] => "none".to_owned(),
        known => known.join(", "),
    })]
    UnknownParameter {
        /// The query.
        query: String,
        /// The name that was given.
        parameter: String,
        /// The parameters that it has.
        known: Vec<String>,
    },
    /// The query has no place for conditions.
    #[error("the query {0} does not say what conditions would be about: it needs a line `#:messages ?message`")]
    NoPlace(String),
    /// The value is not a number where one is wanted.
    #[error("the parameter {parameter} wants a whole number, not {value:?}")]
    NotANumber {
        /// The parameter.
        parameter: String,
        /// The value.
        value: String,
    },
}

impl NamedQuery<'static> {
    /// The query with this name.
    pub fn find(name: &str) -> Result<&'static Self, CatalogueError> {
        let found = CATALOGUE.iter().find(|query| query.name == name);
        found.ok_or_else(|| CatalogueError::UnknownQuery(name.to_owned()))
    }
}

impl<'q> NamedQuery<'q> {
    /// The first line of the comment that the file starts with.
    pub fn title(&self) -> &'q str {
        self.text.lines().next().and_then(|line| line.strip_prefix('#')).unwrap_or_default().trim()
    }

    /// The same question in SQL over the tables of `convert -t parquet`, without parameters; none where columns cannot
    /// answer it.
    pub fn sql(&self, dialect: SqlDialect) -> Option<String> {
        let (_, text) = TWINS.iter().find(|(name, _)| *name == self.name)?;
        Some(format!("-- {}\n{}", self.title(), dialect.translated(text)))
    }

    /// Why there is no such SQL.
    pub fn why_no_sql(&self) -> Option<&'static str> {
        REASONS.iter().find(|(name, _)| *name == self.name).map(|(_, reason)| *reason)
    }

    /// The names of its parameters.
    pub fn parameters(&self) -> Vec<&'q str> {
        let mut names = Vec::new();
        for (name, _) in self.text.lines().filter_map(slot) {
            if !names.contains(&name) && !PLACES.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The query with these parameters, about messages that fulfil these conditions.
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
            // The last value given counts.
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

/// The parameter that changes a line, and the template for it.
fn slot(line: &str) -> Option<(&str, &str)> {
    line.split_once("#:")?.1.split_once(' ')
}

fn filled(parameter: &str, template: &str, value: &str) -> Result<String, CatalogueError> {
    if !template.contains("$number") {
        // JSON's escapes are SPARQL's, but for those of control characters, which both spell `\u001F`.
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
    fn a_parameter_replaces_its_line() {
        assert_eq!(QUERY.title(), "A title");
        assert_eq!(QUERY.parameters(), ["method", "limit"]);
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
