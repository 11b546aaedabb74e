//! Rules of shapes ([SHACL Advanced Features](https://www.w3.org/TR/shacl-af/#rules)), which infer triples from a
//! graph.
//!
//! | part of a rule | supported |
//! |---|---|
//! | `sh:SPARQLRule` | its CONSTRUCT, for each target of its shape |
//! | `sh:condition` | property shapes with an IRI for a path, and `sh:class`, `sh:datatype`, `sh:hasValue`, `sh:minCount` 1 or `sh:maxCount` 0 |
//!
//! Any other construct is an error, since ignoring it would infer other triples. Each rule runs once, in the order of
//! `sh:order`.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Display;

use oxigraph::sparql::QueryResults;
use oxigraph::store::Store;
use oxrdf::vocab::rdf;
use oxrdf::{Graph, GraphName, NamedNode, NamedNodeRef, NamedOrBlankNodeRef, Term, TermRef};

use super::turtle::read_turtle;
use crate::query::query_store;

pub const SHACL: &str = "http://www.w3.org/ns/shacl#";
const SUBCLASS: &str = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>*";
const CLASS: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://www.w3.org/2000/01/rdf-schema#Class");

type RuleFailure = Box<dyn Error>;

/// Adds the triples that the rules in a Turtle document infer from a store's default graph. Runs without a time limit.
pub fn infer(shapes: &str, store: &Store) -> Result<(), RuleFailure> {
    let graph = read_turtle(shapes, None)?.into_iter().collect();
    let rules = ShaclRules { graph, store };
    let mut all = Vec::new();
    for triple in rules.graph.triples_for_predicate(&sh("rule")) {
        let rule = node(triple.object)?;
        if !rules.is_deactivated(triple.subject) && !rules.is_deactivated(rule) {
            let order = text(&rules.graph, rule, "order").map_or(Ok(0.0), |order| order.parse::<f64>())?;
            all.push((order, triple.subject.to_string(), triple.subject, rule));
        }
    }
    all.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1)));
    for (_, _, shape, rule) in all {
        rules.run(shape, rule)?;
    }
    Ok(())
}

struct ShaclRules<'s> {
    graph: Graph,
    store: &'s Store,
}

impl ShaclRules<'_> {
    fn run(&self, shape: NamedOrBlankNodeRef<'_>, rule: NamedOrBlankNodeRef<'_>) -> Result<(), RuleFailure> {
        let construct = text(&self.graph, rule, "construct").ok_or("a rule lacks a sh:construct")?;
        let construct = format!("{}{construct}", prefixes(&self.graph));
        let conditions = self.conditions(rule)?;
        let mut inferred = Vec::new();
        'targets: for this in self.targets(shape)?.values() {
            for condition in &conditions {
                if !self.holds(condition, this)? {
                    continue 'targets;
                }
            }
            let QueryResults::Graph(triples) = query_store(self.store, &construct, Some(this.clone()))? else {
                return Err("the sh:construct of a rule is not a CONSTRUCT query".into());
            };
            for triple in triples {
                inferred.push(triple?.in_graph(GraphName::DefaultGraph));
            }
        }
        inferred.iter().try_for_each(|quad| self.store.insert(quad))?;
        Ok(())
    }

    /// Returns the target nodes of a shape, sorted by their spelling.
    fn targets(&self, shape: NamedOrBlankNodeRef<'_>) -> Result<BTreeMap<String, Term>, RuleFailure> {
        let class = &format!("?this a/{SUBCLASS} NODE");
        let patterns = [
            ("targetNode", "VALUES ?this { NODE }"),
            ("targetSubjectsOf", "?this NODE ?object"),
            ("targetObjectsOf", "?subject NODE ?this"),
            ("targetClass", class),
        ];
        let query = |pattern: &str, node: &str| format!("SELECT ?this {{ {} }}", pattern.replace("NODE", node));
        let mut queries = Vec::new();
        for (name, pattern) in patterns {
            let nodes = self.graph.objects_for_subject_predicate(shape, &sh(name));
            queries.extend(nodes.map(|node| query(pattern, &node.to_string())));
        }
        if self.graph.objects_for_subject_predicate(shape, rdf::TYPE).any(|class| class == CLASS.into()) {
            queries.push(query(class, &shape.to_string()));
        }
        for target in self.graph.objects_for_subject_predicate(shape, &sh("target")) {
            let select = text(&self.graph, node(target)?, "select").ok_or("a sh:target lacks a sh:select")?;
            queries.push(format!("{}{select}", prefixes(&self.graph)));
        }
        if queries.is_empty() {
            return Err(format!("the shape {shape} has a rule and no target").into());
        }
        let mut targets = BTreeMap::new();
        for query in queries {
            let QueryResults::Solutions(solutions) = query_store(self.store, &query, None)? else {
                return Err("the sh:select of a target is not a SELECT query".into());
            };
            for solution in solutions {
                targets.extend(solution?.get("this").map(|term| (term.to_string(), term.clone())));
            }
        }
        Ok(targets)
    }

    /// Returns the conditions of a rule, as queries about `?this`.
    fn conditions(&self, rule: NamedOrBlankNodeRef<'_>) -> Result<Vec<String>, RuleFailure> {
        let mut queries = Vec::new();
        for condition in self.graph.objects_for_subject_predicate(rule, &sh("condition")) {
            let condition = node(condition)?;
            for property in self.graph.triples_for_subject(condition).filter(|triple| triple.predicate != rdf::TYPE) {
                if property.predicate != sh("property").as_ref() {
                    return Err(unsupported(&property.predicate));
                }
                let shape = node(property.object)?;
                let Some(TermRef::NamedNode(path)) = self.graph.object_for_subject_predicate(shape, &sh("path")) else {
                    return Err("the sh:path in a sh:condition is not an IRI".into());
                };
                for triple in self.graph.triples_for_subject(shape) {
                    let (name, value) = (triple.predicate, triple.object);
                    let Some(pattern) = pattern(path, name.as_str().strip_prefix(SHACL).unwrap_or_default(), value)
                    else {
                        return Err(unsupported(&format!("{name} {value}")));
                    };
                    queries.push(format!("SELECT ?this {{ {pattern} }}"));
                }
            }
        }
        Ok(queries)
    }

    fn holds(&self, query: &str, this: &Term) -> Result<bool, RuleFailure> {
        match query_store(self.store, query, Some(this.clone()))? {
            QueryResults::Solutions(mut solutions) => Ok(solutions.next().transpose()?.is_some()),
            _ => Ok(false),
        }
    }

    fn is_deactivated(&self, node: NamedOrBlankNodeRef<'_>) -> bool {
        text(&self.graph, node, "deactivated").is_some_and(|value| value == "true" || value == "1")
    }
}

fn unsupported(what: &dyn Display) -> RuleFailure {
    format!("unsupported in sh:condition: {what}").into()
}

/// Returns the graph pattern about `?this` for a constraint on the values at a path; `None` if the constraint is not
/// supported.
fn pattern(path: NamedNodeRef<'_>, constraint: &str, value: TermRef<'_>) -> Option<String> {
    let none = |what: &str| Some(format!("FILTER NOT EXISTS {{ ?this {path} ?v {what} }}"));
    match constraint {
        "path" => Some(String::new()),
        "class" => none(&format!("FILTER NOT EXISTS {{ ?v a/{SUBCLASS} {value} }}")),
        "datatype" => none(&format!("FILTER(!isLiteral(?v) || datatype(?v) != {value})")),
        "hasValue" => Some(format!("?this {path} {value}")),
        "minCount" if is_number(value, "1") => Some(format!("?this {path} ?v")),
        "maxCount" if is_number(value, "0") => none(""),
        _ => None,
    }
}

/// Returns the literal value of a SHACL property.
pub fn text<'g>(graph: &'g Graph, subject: NamedOrBlankNodeRef<'_>, name: &str) -> Option<&'g str> {
    match graph.object_for_subject_predicate(subject, &sh(name)) {
        Some(TermRef::Literal(literal)) => Some(literal.value()),
        _ => None,
    }
}

/// Returns the prefixes that shapes declare for queries.
pub fn prefixes(graph: &Graph) -> String {
    let declared = graph.triples_for_predicate(&sh("prefix")).map(|triple| triple.subject);
    let prefix = |subject| {
        Some(format!("PREFIX {}: <{}> ", text(graph, subject, "prefix")?, text(graph, subject, "namespace")?))
    };
    declared.filter_map(prefix).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns a term of SHACL.
pub fn sh(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("{SHACL}{name}"))
}

fn node(term: TermRef<'_>) -> Result<NamedOrBlankNodeRef<'_>, RuleFailure> {
    match term {
        TermRef::NamedNode(node) => Ok(node.into()),
        TermRef::BlankNode(node) => Ok(node.into()),
        other => Err(format!("{other} stands where shapes have a node").into()),
    }
}

fn is_number(term: TermRef<'_>, number: &str) -> bool {
    matches!(term, TermRef::Literal(literal) if literal.value() == number)
}
