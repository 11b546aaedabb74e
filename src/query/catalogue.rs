//! The queries that come with the program: `examples/queries/*.rq`, each a SPARQL query that explains itself.
//!
//! A file starts with comments: a title, a line or more on what it answers, then `Columns:` and maybe `Parameters:`. A
//! line of the query that ends in `#:NAME TEMPLATE` is replaced by its template where the parameter is given, `$value` in
//! it by the value as a SPARQL string, `$number` by the value as a number. Without parameters, a file is plain SPARQL.
//!
//! They have to be fast on large logs, here and on servers, without luck with an optimizer: where two large patterns meet,
//! or where a variable that both share may be unbound, one of them is a subquery.

use crate::json;

/// A query of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedQuery {
    /// Its name, that of its file.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

macro_rules! catalogue {
    ($($name:literal,)*) => {
        &[$(NamedQuery { name: $name, text: include_str!(concat!("../../examples/queries/", $name, ".rq")) }),*]
    };
}

/// Every query, in the order in which one gets to know a log.
pub const CATALOGUE: &[NamedQuery] = catalogue! {
    "sessions",
    "timeline",
    "methods",
    "errors",
    "slowest",
    "unanswered",
    "unsolicited",
    "repeated-ids",
    "problems",
    "batches",
    "tool-calls",
    "tool-failures",
    "handshake",
    "cancelled",
    "progress",
    "biggest",
};

/// There is no query with this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no query {name:?}; there are {}", CATALOGUE.iter().map(|query| query.name).collect::<Vec<_>>().join(", "))]
pub struct UnknownQuery {
    name: String,
}

/// Why a parameter cannot be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// The query has none of that name.
    #[error("the query {query} has no parameter {parameter:?}; {}", match known.as_slice() {
        [] => "it has none".to_owned(),
        known => format!("it has {}", known.join(", ")),
    })]
    Unknown {
        /// The query.
        query: &'static str,
        /// What was asked for.
        parameter: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// The value is not a number where one is wanted.
    #[error("the parameter {parameter} wants a whole number, not {value:?}")]
    NotANumber {
        /// The parameter.
        parameter: &'static str,
        /// The value.
        value: String,
    },
}

impl NamedQuery {
    /// The query with this name.
    pub fn find(name: &str) -> Result<&'static Self, UnknownQuery> {
        CATALOGUE.iter().find(|query| query.name == name).ok_or_else(|| UnknownQuery { name: name.to_owned() })
    }

    /// The first line of its comment.
    pub fn title(&self) -> &'static str {
        self.comment().next().unwrap_or_default()
    }

    /// The lines of the comment that the file starts with.
    fn comment(&self) -> impl Iterator<Item = &'static str> {
        self.text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim)
    }

    /// The names of its parameters.
    pub fn parameters(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for name in self.text.lines().filter_map(slot).map(|slot| slot.name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The query with these parameters.
    pub fn with_parameters(&self, parameters: &[(String, String)]) -> Result<String, ParameterError> {
        let known = self.parameters();
        if let Some((parameter, _)) = parameters.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            return Err(ParameterError::Unknown { query: self.name, parameter: parameter.clone(), known });
        }
        let mut text = String::with_capacity(self.text.len());
        for line in self.text.lines() {
            let slot = slot(line);
            // The last value given counts.
            let value = slot.as_ref().and_then(|slot| parameters.iter().rev().find(|(name, _)| name == slot.name));
            match (slot, value) {
                (Some(slot), Some((_, value))) => text.push_str(&slot.fill(value)?),
                _ => text.push_str(line),
            }
            text.push('\n');
        }
        Ok(text)
    }
}

/// A line that a parameter changes.
struct Slot {
    name: &'static str,
    template: &'static str,
}

fn slot(line: &'static str) -> Option<Slot> {
    let (_, slot) = line.split_once("#:")?;
    let (name, template) = slot.split_once(' ')?;
    Some(Slot { name, template })
}

impl Slot {
    fn fill(&self, value: &str) -> Result<String, ParameterError> {
        if !self.template.contains("$number") {
            // JSON's escapes are SPARQL's, but for those of control characters, which both spell `\u001F`.
            let mut string = String::new();
            json::write_str(value, &mut string);
            return Ok(self.template.replace("$value", &string));
        }
        let number: u64 =
            value.parse().map_err(|_| ParameterError::NotANumber { parameter: self.name, value: value.to_owned() })?;
        Ok(self.template.replace("$number", &number.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: NamedQuery = NamedQuery {
        name: "test",
        text: "# A title\n#\n# More.\nSELECT * {\n  ?r jrpc:hasMethod ?m\n  #:method FILTER(?m = $value)\n}\nLIMIT 10 #:limit LIMIT $number\n",
    };

    fn with(parameters: &[(&str, &str)]) -> Result<String, ParameterError> {
        let owned: Vec<_> = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        QUERY.with_parameters(&owned)
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
        assert!(matches!(with(&[("metod", "x")]), Err(ParameterError::Unknown { .. })));
        assert!(matches!(with(&[("limit", "3 OFFSET 1")]), Err(ParameterError::NotANumber { .. })));
    }
}
