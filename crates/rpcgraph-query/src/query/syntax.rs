//! Parsing the text of a query, with the place of errors.

use std::collections::BTreeSet;
use std::fmt;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, Variable};
use spargebra::SparqlParser;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::algebra::{for_each_mut, last_steps, operands, pattern_mut};
use super::functions::FUNCTIONS;
use super::items;
use super::needs::QueryFeatures;
use super::tokens::{tokens, too_much};
use crate::diagnostic::pointed;
use crate::json::Decimal;
use crate::message::MAX_ID_DIGITS;
use crate::vocab::{jrpc, lsp, mcp, prov, rpcg};

/// The prefixes that a query does not have to declare.
pub const QUERY_PREFIXES: &[(&str, &str)] = &[
    ("jrpc", jrpc::NAMESPACE),
    ("rpcg", rpcg::NAMESPACE),
    ("mcp", mcp::NAMESPACE),
    ("lsp", lsp::NAMESPACE),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
    ("prov", prov::NAMESPACE),
    ("dcterms", "http://purl.org/dc/terms/"),
];

/// A syntax error in a query. `Display` shows the line and a caret below the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    message: String,
    place: Option<TextPlace>,
}

/// A place in a text, counted from 1, in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TextPlace {
    line: u64,
    column: usize,
    /// The text of the line.
    text: String,
}

/// More characters than any keyword of the grammar has.
const LONGEST_KEYWORD: usize = 64;
/// The number of characters shown around an error's place.
const WIDTH: usize = 120;

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(TextPlace { line, column, text }) = &self.place else { return f.write_str(&self.message) };
        writeln!(f, "not SPARQL, at line {line}, column {column}: {}", self.message)?;
        f.write_str(&pointed(*line, text, column - 1, 1, WIDTH))
    }
}

impl std::error::Error for SyntaxError {}

impl SyntaxError {
    /// Returns the error about a column that an answer does not have.
    pub(super) fn unknown_column(name: &str, known: &[&str]) -> Self {
        Self { message: format!("unknown column {name:?}; use one of {}", known.join(", ")), place: None }
    }
}

pub(super) fn parse(text: &str, base: Option<&str>) -> Result<spargebra::Query, SyntaxError> {
    let plain = |error: &dyn fmt::Display| SyntaxError { message: error.to_string(), place: None };
    if let Some((at, message)) = too_much(text) {
        return Err(SyntaxError { message, place: Some(TextPlace::at(text, at)) });
    }
    let mut parser = SparqlParser::new();
    if let Some(base) = base {
        parser = parser.with_base_iri(base).map_err(|error| plain(&error))?;
    }
    for (prefix, namespace) in QUERY_PREFIXES {
        parser = parser.with_prefix(*prefix, *namespace).map_err(|error| plain(&error))?;
    }
    for function in FUNCTIONS.iter().filter(|function| function.is_aggregate()) {
        parser = parser.with_custom_aggregate_function(function.iri());
    }
    match parser.clone().parse_query(text) {
        Ok(mut query) => {
            order_columns(&mut query, text);
            Ok(query)
        }
        Err(_) if parser.clone().parse_update(text).is_ok_and(|update| !update.operations.is_empty()) => {
            Err(SyntaxError {
                message:
                    "this is SPARQL Update, which changes data; only SELECT, ASK, CONSTRUCT and DESCRIBE are run here"
                        .to_owned(),
                place: None,
            })
        }
        Err(error) => Err(explain(text, parser, &error.to_string())),
    }
}

/// Orders the columns of `SELECT *` as the text first names them; the parser orders them alphabetically.
fn order_columns(query: &mut spargebra::Query, text: &str) {
    let spargebra::Query::Select { pattern, .. } = query else { return };
    let mut pattern = pattern;
    let variables = loop {
        match pattern {
            GraphPattern::Slice { inner, .. } | GraphPattern::Distinct { inner } | GraphPattern::Reduced { inner } => {
                pattern = inner;
            }
            GraphPattern::Project { variables, .. } => break variables,
            _ => return,
        }
    };
    let tokens: Vec<_> = tokens(text).into_iter().filter_map(|range| text.get(range)).collect();
    let is = |token: &str, words: &[&str]| words.iter().any(|word| token.eq_ignore_ascii_case(word));
    let mut head = tokens.iter().skip_while(|token| !is(token, &["SELECT"])).skip(1);
    if head.find(|token| !is(token, &["DISTINCT", "REDUCED"])) == Some(&"*") {
        variables.sort_by_cached_key(|variable| {
            tokens.iter().position(|token| token.strip_prefix(['?', '$']) == Some(variable.as_str()))
        });
    }
}

/// Parses the parser's message `error at 3:12: expected …`, where lines and characters count from 1. Returns the place
/// as a byte offset, and the expectation.
fn stop<'w>(text: &str, words: &'w str) -> Option<(usize, &'w str)> {
    let (place, expected) = words.strip_prefix("error at ")?.split_once(": ")?;
    let (line, column) = place.split_once(':')?;
    let (line, column): (usize, usize) = (line.parse().ok()?, column.parse().ok()?);
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let rest = text.get(start..)?;
    let length = rest.char_indices().nth(column - 1).map_or(rest.len(), |(at, _)| at);
    Some((start + length, expected))
}

/// Words the parser's message, at the place where it stopped: the end of the text that it could read.
fn explain(text: &str, parser: SparqlParser, words: &str) -> SyntaxError {
    let Some((stopped, expected)) = stop(text, words) else {
        return SyntaxError { message: words.to_owned(), place: None };
    };
    // The parser looks ahead by a keyword at most. It reads spaces behind the beginning of a query to their end.
    let padded = format!("{text}{:1$}", "", LONGEST_KEYWORD);
    let ends = parser
        .parse_query(&padded)
        .err()
        .is_some_and(|error| stop(&padded, &error.to_string()).is_some_and(|(stopped, _)| stopped >= padded.len()));
    let (message, at) = match rule(expected) {
        Some("Prefix not found") => {
            let known: Vec<_> = QUERY_PREFIXES.iter().map(|(prefix, _)| format!("{prefix}:")).collect();
            (format!("a prefix is not declared; without declaration there are {}", known.join(" ")), stopped)
        }
        Some(rule) => (rule.to_owned(), stopped),
        None if ends => ("the query ends too early".to_owned(), text.trim_end().len()),
        None => ("unexpected text here, or just before".to_owned(), stopped),
    };
    SyntaxError { message, place: Some(TextPlace::at(text, at)) }
}

impl TextPlace {
    fn at(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let source = text.get(start..).unwrap_or_default().split('\n').next().unwrap_or_default();
        Self {
            line: before.matches('\n').count() as u64 + 1,
            column: before.get(start..).unwrap_or_default().chars().count() + 1,
            text: source.trim_end_matches('\r').to_owned(),
        }
    }
}

/// Returns the message of a violated rule beyond the grammar, one of the items in the parser's `expected one of …`.
fn rule(expected: &str) -> Option<&str> {
    let mut items = expected.trim_start_matches("expected ").trim_start_matches("one of ").split(", ");
    items.find(|item| item.contains(' ') && item.starts_with(char::is_alphabetic))
}

/// Checks that the program's functions in a query exist, and take this number of arguments.
pub(super) fn check_functions(uses: &QueryFeatures) -> Result<(), SyntaxError> {
    for (name, arguments) in &uses.calls {
        let Some(local) = name.as_str().strip_prefix(rpcg::NAMESPACE) else { continue };
        let message = match FUNCTIONS.iter().find(|function| function.iri() == *name) {
            Some(function) if function.takes(*arguments) => continue,
            Some(function) => {
                format!("{} does not take {arguments} arguments: it is {}", function.name, function.signature())
            }
            None => {
                let known: Vec<_> = FUNCTIONS.iter().map(|function| function.name).collect();
                format!("unknown function rpcg:{local}; use one of {}", known.join(", "))
            }
        };
        return Err(SyntaxError { message, place: None });
    }
    Ok(())
}

/// Rewrites the patterns for the items of JSON, which work on a single graph.
pub(super) fn rewrite_items(query: &mut spargebra::Query, uses: &QueryFeatures) -> Result<(), SyntaxError> {
    let error = |message: String| SyntaxError { message, place: None };
    if uses.graphs || uses.services || query.dataset().is_some() {
        return Err(error(
            "rpcg:element and rpcg:member do not go with GRAPH, FROM or SERVICE: leave those out".to_owned(),
        ));
    }
    items::rewrite(query).map_err(error)?;
    match QueryFeatures::from_query(query).items {
        false => Ok(()),
        true => Err(error(
            "rpcg:element and rpcg:member stand alone between a variable and a term, in the pattern or in an EXISTS \
             condition: not inside a longer path, nor in a condition that is part of another expression"
                .to_owned(),
        )),
    }
}

/// Replaces numbers in the place of ids with decimals, as which the graph holds them: `jrpc:hasNumberValue 15` finds the
/// id 15, which is not an integer.
pub(super) fn ids_as_decimals(query: &mut spargebra::Query) {
    // The paths for the other properties, whose numbers are integers.
    let mut others = Vec::new();
    for_each_mut(pattern_mut(query), &mut |pattern| match pattern {
        GraphPattern::Bgp { patterns } => {
            let of_ids = |triple: &&mut TriplePattern| matches!(&triple.predicate, NamedNodePattern::NamedNode(name) if *name == jrpc::HAS_NUMBER_VALUE);
            patterns.iter_mut().filter(of_ids).for_each(|triple| as_decimal(&mut triple.object));
        }
        GraphPattern::Path { .. } if others.contains(pattern) => {}
        GraphPattern::Path { path, object, .. } => {
            let Some(ends) = last_steps(path).filter(|ends| ends.contains(&jrpc::HAS_NUMBER_VALUE)) else { return };
            let is_only = ends.len() == 1;
            let mut decimal = object.clone();
            as_decimal(&mut decimal);
            let integer = std::mem::replace(object, decimal);
            if !is_only && integer != *object {
                let mut other = pattern.clone();
                if let GraphPattern::Path { object, .. } = &mut other {
                    *object = integer;
                }
                others.push(other.clone());
                *pattern = GraphPattern::Union { left: pattern.clone().into(), right: other.into() };
            }
        }
        _ => {}
    });
}

/// Returns the variables that have no value in a HAVING clause: they are neither keys of the groups nor aggregates.
/// SPARQL does not see the aliases of SELECT there.
pub(super) fn unbound_in_having(query: &spargebra::Query) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    for_each_mut(pattern_mut(&mut query.clone()), &mut |pattern| {
        if let GraphPattern::Filter { expr, inner } = pattern
            && let GraphPattern::Group { variables, aggregates, .. } = &**inner
        {
            let is_bound =
                |used: &Variable| variables.contains(used) || aggregates.iter().any(|(aggregate, _)| aggregate == used);
            let mut used = BTreeSet::new();
            add_variables(expr, &mut used);
            found.extend(used.into_iter().filter(|used| !is_bound(used)));
        }
    });
    found
}

/// Adds the variables of an expression, without the patterns in it.
fn add_variables(expression: &Expression, found: &mut BTreeSet<Variable>) {
    if let Expression::Variable(variable) | Expression::Bound(variable) = expression {
        found.insert(variable.clone());
    }
    operands(expression).into_iter().for_each(|operand| add_variables(operand, found));
}

fn as_decimal(object: &mut TermPattern) {
    if let TermPattern::Literal(literal) = object
        && [xsd::INTEGER, xsd::DECIMAL, xsd::DOUBLE].contains(&literal.datatype())
        && let Some(number) = Decimal::parse(literal.value())
        && let Some(plain) = number.to_plain(MAX_ID_DIGITS)
    {
        *literal = Literal::new_typed_literal(plain, xsd::DECIMAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_ids_are_decimals() {
        for number in ["15", "15.0", "1.5e1"] {
            for pattern in [
                "?m jrpc:hasId/jrpc:hasNumberValue NUMBER",
                "?i jrpc:hasStringValue|jrpc:hasNumberValue NUMBER",
                "?m (jrpc:hasId/jrpc:hasNumberValue)|rpcg:sequence NUMBER",
                "?m a ?t FILTER(!EXISTS { ?m jrpc:hasId/jrpc:hasNumberValue NUMBER } && true)",
                "BIND(EXISTS { ?i jrpc:hasNumberValue NUMBER } AS ?is)",
            ] {
                let text = format!("SELECT * {{ {} }}", pattern.replace("NUMBER", number));
                let portable = crate::query::Query::parse(&text, None).unwrap().to_portable();
                assert!(portable.contains("\"15\"^^<http://www.w3.org/2001/XMLSchema#decimal>"), "{portable}");
                crate::query::Query::parse(&portable, None).unwrap();
            }
        }
        // In other places, and if they are already decimals, numbers stay unchanged.
        for text in ["SELECT * { ?m rpcg:sequence 15 }", "SELECT * { ?i jrpc:hasNumberValue \"15\"^^xsd:decimal, ?n }"]
        {
            assert!(crate::query::Query::parse(text, None).unwrap().to_portable().ends_with(text));
        }
    }

    #[test]
    fn variables_without_a_value_in_having_are_found() {
        for (text, unbound) in [
            ("SELECT (COUNT(*) AS ?n) { ?s ?p ?o } HAVING(?n > 1)", "?n"),
            ("SELECT (COUNT(*) AS ?n) { ?s ?p ?o } HAVING(COUNT(*) > 1)", ""),
            ("SELECT ?p (MAX(?o) AS ?n) { ?s ?p ?o } GROUP BY ?p HAVING(?p = ?n && !BOUND(?o))", "?n ?o"),
            ("SELECT ?k { ?s ?p ?o } GROUP BY (STR(?p) AS ?k) HAVING(?k = \"a\")", ""),
            (
                "SELECT * { { SELECT ?p (rpcg:p95(?o) AS ?n) { ?s ?p ?o } GROUP BY ?p HAVING(?n > 1) } FILTER(?n > 2) }",
                "?n",
            ),
            (
                "SELECT * { ?s ?p ?o FILTER EXISTS { SELECT ?s (SUM(?o) AS ?n) { ?s ?p ?o } GROUP BY ?s HAVING(?n > 1) } }",
                "?n",
            ),
            ("SELECT * { { SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p } FILTER(?n > 1) }", ""),
            ("SELECT (SUM(?n) AS ?all) { { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } } HAVING(SUM(?n) > 1)", ""),
            // Each clause is judged by its own groups.
            (
                "SELECT (SUM(?m) AS ?n) { { SELECT (COUNT(*) AS ?m) { ?s ?n ?o } GROUP BY ?n HAVING(?n = 1) } } HAVING(?n > 1)",
                "?n",
            ),
            (
                "SELECT (SUM(?m) AS ?n) { { SELECT (COUNT(*) AS ?m) { ?s ?n ?o } GROUP BY ?s HAVING(?n = 1) } } GROUP BY ?m HAVING(?m > 1)",
                "?n",
            ),
        ] {
            let found: Vec<_> =
                unbound_in_having(&parse(text, None).unwrap()).iter().map(ToString::to_string).collect();
            assert_eq!(found.join(" "), unbound, "{text}");
        }
    }

    fn error(text: &str) -> String {
        parse(text, None).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn a_syntax_error_shows_the_line_and_a_caret() {
        let shown = error("SELECT ?x\nWHERE { ?x a }");
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(lines[0], "not SPARQL, at line 2, column 15: unexpected text here, or just before");
        assert_eq!(lines[1..], ["2 | WHERE { ?x a }", "  |               ^"]);
    }

    #[test]
    fn a_query_that_only_ends_too_early_is_told_so() {
        for text in ["SELECT ?x { ?x a jrpc:Request", "", "SELECT", "# later", "PREFIX ex: <http://example.org/>"] {
            assert!(error(text).contains("the query ends too early"), "{}", error(text));
        }
    }

    #[test]
    fn rules_beyond_the_grammar_are_told() {
        let shown = error("SELECT (1 AS ?x) ?x {}");
        assert!(shown.contains("Duplicated variable name in SELECT"), "{shown}");
    }

    #[test]
    fn an_undeclared_prefix_is_named() {
        let shown = error("SELECT ?x { ?x a foaf:Person }");
        assert!(shown.contains("a prefix is not declared; without declaration there are jrpc:"), "{shown}");
    }

    #[test]
    fn long_lines_are_cut() {
        let text = format!("SELECT * {{ {}FILTR {} }}", "?s ?p ?o . ".repeat(1000), "?s ?p ?o . ".repeat(1000));
        let shown = error(&text);
        let lines: Vec<_> = shown.lines().collect();
        assert!(lines[1].starts_with("1 | …") && lines[1].ends_with('…'), "{shown}");
        let caret = lines[2].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[1].chars().skip(caret - 8).take(5).collect::<String>(), "FILTR", "{shown}");
    }

    #[test]
    fn a_query_that_would_end_the_stack_is_refused() {
        let shown = error(&format!("SELECT * {}", "{".repeat(100_000)));
        assert!(shown.contains("line 1, column 266: brackets are nested more than 256 deep"), "{shown}");
    }

    #[test]
    fn columns_of_a_star_stand_as_the_text_has_them() {
        let query = parse("SELECT * { ?s ?p ?o.?o ?q ?a }", None).unwrap();
        assert!(query.to_string().starts_with("SELECT ?s ?p ?o ?q ?a "), "{query}");
    }

    #[test]
    fn update_is_not_a_query() {
        assert!(error("CLEAR ALL").contains("SPARQL Update"));
    }
}
