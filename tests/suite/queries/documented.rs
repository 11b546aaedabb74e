//! Descriptions in the files of the catalogue, and the output of the command about them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rpcgraph::query::catalogue::{CATALOGUE, NamedQuery};
use rpcgraph::query::{FUNCTIONS, Form, TableColumns};

use super::{ask, parse};
use crate::cli::Place;

/// The names that a section of the comment lists, such as `Columns:`: `name, name  description`, one a line.
fn listed(query: &NamedQuery, section: &str) -> Vec<String> {
    let comment = query.text.lines().map_while(|line| line.strip_prefix('#'));
    let lines = comment.skip_while(|line| line.trim() != section).skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| {
        let (names, description) = line.strip_prefix("   ")?.split_once("  ")?;
        assert!(!description.trim().is_empty(), "{}: {line}", query.name);
        Some(names.split(", ").map(str::to_owned))
    });
    names.flatten().collect()
}

#[test]
fn columns_and_parameters_are_explained() {
    for query in CATALOGUE {
        let parsed = parse(query, &[]);
        assert_eq!(parsed.form(), Form::Select, "{}", query.name);
        let columns = ask(&parsed, &[], |solutions| solutions.variables);
        let columns: Vec<_> = columns.iter().map(|variable| variable.as_str()).collect();
        assert_eq!(listed(query, "Columns:"), columns, "{}", query.name);
        let TableColumns { shown, partial, seconds, bytes } = query.table_columns();
        let column = |name: &str| columns.contains(&name.rsplit('/').next().unwrap_or(name));
        let unknown = [shown, partial, seconds, bytes].concat().into_iter().find(|name| !column(name));
        assert_eq!(unknown, None, "{}", query.name);
        let mut parameters = query.parameters();
        let mut explained = listed(query, "Parameters:");
        parameters.sort_unstable();
        explained.sort_unstable();
        assert_eq!(explained, parameters, "{}", query.name);
        assert!(parsed.unknown_terms().is_empty(), "{}: {:?}", query.name, parsed.unknown_terms());
        let itself = query.text.contains("needs rpcgraph itself");
        assert_eq!(itself, !parsed.functions().is_empty(), "{}: {:?}", query.name, parsed.functions());
    }
}

#[test]
fn every_file_is_in_the_catalogue_with_a_title_of_its_own() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/queries");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<_> = entries.filter(|name| name != "sql").collect();
    let names: BTreeSet<_> = CATALOGUE.iter().map(|query| format!("{}.rq", query.name)).collect();
    assert_eq!(files, names);
    let titles: BTreeSet<_> = CATALOGUE.iter().map(|query| query.title()).collect();
    assert_eq!(titles.len(), CATALOGUE.len());
    for query in CATALOGUE {
        assert!((10..90).contains(&query.title().len()), "{}", query.title());
        assert!(query.text.lines().all(|line| line.chars().count() <= 120), "{}", query.name);
    }
}

/// One whose parameter is not given is a comment; one that is given leaves a query that can be read.
#[test]
fn every_parameter_leaves_a_query() {
    for query in CATALOGUE {
        let all: Vec<_> = query.parameters().into_iter().map(|name| (name, "7")).collect();
        for some in all.iter().map(std::slice::from_ref).chain([all.as_slice()]) {
            parse(query, some);
        }
    }
}

/// A file works as it is wherever SPARQL does: it declares its prefixes, and only those.
#[test]
fn every_file_is_sparql_without_us() {
    let aggregates = FUNCTIONS.iter().filter(|function| function.is_aggregate()).filter_map(|function| {
        let local = function.name.strip_prefix("rpcg:")?;
        Some(oxrdf::NamedNode::new(format!("{}{local}", rpcgraph::vocab::rpcg::NAMESPACE)).unwrap())
    });
    let parser = aggregates
        .fold(spargebra::SparqlParser::new(), |parser, aggregate| parser.with_custom_aggregate_function(aggregate));
    for query in CATALOGUE {
        if let Err(error) = parser.clone().parse_query(query.text) {
            panic!("{}: {error}", query.name);
        }
        let body = query.text.lines().filter(|line| !line.starts_with('#'));
        let (declared, body): (Vec<_>, Vec<_>) = body.partition(|line| line.starts_with("PREFIX "));
        for line in declared {
            let prefix = line.split_whitespace().nth(1).unwrap();
            assert!(body.iter().any(|line| line.contains(prefix)), "{}: {line}", query.name);
        }
    }
}

#[test]
fn the_command_lists_and_prints_them() {
    let place = Place::new();
    let list = place.run(&["ask"]);
    let text = list.quietly().text();
    for query in CATALOGUE {
        let entry = format!("{}\n    {}\n", query.name, query.title());
        assert!(text.contains(&entry), "{entry}");
        assert_eq!(place.run(&["ask", query.name, "--print"]).quietly().text(), query.text);
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100));
    place
        .run(&["ask", "method", "--print"])
        .began(2, "error: unknown question \"method\": did you mean methods? `rpcgraph ask` lists all questions");
}

#[test]
fn the_command_asks_them() {
    let place = Place::with("log", crate::cli::LOG);
    let ran = place.run(&["ask", "errors", "log", "--method", "no", "-t", "csv", "--quiet"]);
    let expected = format!(
        "message,session,client,server,time,sender,request,method,tool,id,code,kind,error,data,seconds,failure\r\n\
         {0}#m5,{0},,,,,{0}#m4,no,,a,-32601,MethodNotFound,Method not found,,,error\r\n",
        place.iri("log")
    );
    assert_eq!(ran.quietly().text(), expected);
}
