//! Payloads of which a query needs only the values of functions: these are computed while a log is loaded, and the
//! payloads are not kept.
//!
//! A payload qualifies if each variable that has it is used only in functions of JSON with a constant pointer, as in
//! `rpcg:json(?payload, "/a/b")`, or in `STRLEN(STR(?payload))`. A variable may also pass its value on to another one
//! that is used in the same way: `BIND(IF(?x, ?y, ?payload) AS ?z)`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use oxrdf::{NamedNode, NamedNodeRef, Variable};
use spargebra::Query;
use spargebra::algebra::{Expression, Function, GraphPattern};
use spargebra::term::{NamedNodePattern, TermPattern};

use super::algebra::{
    expressions, expressions_mut, for_each_mut, last_steps, operands, operands_mut, parts, pattern_mut,
};
use super::functions::{FunctionKind, LENGTH, apply_to_text, function_kind};
use crate::json;
use crate::session::triples::ObjectRef;
use crate::sink::{FunctionName, LiteralFunctions, WantedExtent};
use crate::vocab::{jrpc, rdf, rpcg};

/// The properties whose values may be long.
const PAYLOADS: [NamedNodeRef<'_>; 5] =
    [jrpc::HAS_PARAMETERS, jrpc::HAS_RESULT, jrpc::HAS_ERROR_DATA, rpcg::VALUE, rpcg::TEXT];
/// The payloads of which a node has at most one.
const SINGLE: [NamedNodeRef<'_>; 2] = [jrpc::HAS_PARAMETERS, jrpc::HAS_RESULT];

/// The uses of a variable that need no more of its value than functions, or that give it a value.
#[derive(Default)]
struct VariableUses<'q> {
    count: usize,
    functions: BTreeSet<FunctionName>,
    /// The variables that get its value.
    passed_to: Vec<&'q Variable>,
    /// The number of expressions that give it a value.
    assigned: usize,
}

/// The uses of variables in a query.
struct PayloadUses<'q> {
    pattern: &'q GraphPattern,
    /// The number of times that each word is in the query's text, which shows every use.
    words: HashMap<&'q str, usize>,
    variables: BTreeMap<&'q Variable, VariableUses<'q>>,
}

/// Replaces `STRLEN(STR(?value))` with a function of one argument.
pub(super) fn name_lengths(query: &mut Query) {
    for_each_mut(pattern_mut(query), &mut |pattern| {
        expressions_mut(pattern).into_iter().for_each(name_lengths_in);
    });
}

fn name_lengths_in(expression: &mut Expression) {
    if let Expression::FunctionCall(Function::StrLen, arguments) = &*expression
        && let [Expression::FunctionCall(Function::Str, arguments)] = arguments.as_slice()
        && let [Expression::Variable(_)] = arguments.as_slice()
    {
        *expression = Expression::FunctionCall(Function::Custom(LENGTH.into_owned()), arguments.clone());
    }
    operands_mut(expression).into_iter().for_each(name_lengths_in);
}

/// Returns the functions of payloads that a query needs, and the properties of whose values it needs no more than these.
pub(super) fn computed(query: &Query) -> Option<(PayloadFunctions, Vec<(NamedNode, WantedExtent)>)> {
    let Query::Select { pattern, .. } = query else { return None };
    let text = query.to_sse();
    let mut uses = PayloadUses { pattern, words: HashMap::new(), variables: BTreeMap::new() };
    uses.add_pattern(pattern);
    if uses.variables.values().all(|known| known.functions.is_empty()) || text.contains("(count distinct)") {
        return None;
    }
    text.split([' ', '(', ')', '\n']).for_each(|word| *uses.words.entry(word).or_default() += 1);
    let (mut functions, mut choices) = (BTreeSet::new(), Vec::new());
    for variable in uses.variables.keys() {
        let is_of_payload = |(some, objects): &(BTreeSet<_>, Vec<_>)| !some.is_empty() && !objects.is_empty();
        if let Some((some, objects)) = uses.functions(variable).filter(is_of_payload) {
            functions.extend(some);
            choices.extend(objects);
        }
    }
    let is_bound = |property: &NamedNodeRef<'_>| {
        let bound = choices.iter().flatten().filter(|other| *other == property).count();
        PAYLOADS.contains(property) && uses.occurrences(&property.to_string()) == bound
    };
    let mut found: BTreeSet<_> = choices.iter().flatten().copied().filter(is_bound).collect();
    // A path has a value once, even if several of its properties have it, so all of them must know it in the same way.
    let is_partly = |found: &BTreeSet<_>, some: &Vec<NamedNodeRef<'_>>| {
        let known = some.iter().filter(|property| found.contains(*property)).count();
        ![0, some.len()].contains(&known)
    };
    while let Some(some) = choices.iter().find(|some| is_partly(&found, some)) {
        some.iter().for_each(|property| _ = found.remove(property));
    }
    let is_single =
        |property| SINGLE.contains(property) && choices.iter().all(|some| some.len() == 1 || !some.contains(property));
    let extent = |property| if is_single(property) { WantedExtent::Values } else { WantedExtent::DistinctValues };
    let found: Vec<_> = found.iter().map(|property| (property.into_owned(), extent(property))).collect();
    (!found.is_empty()).then(|| (PayloadFunctions::new(functions), found))
}

impl<'q> PayloadUses<'q> {
    fn add_pattern(&mut self, pattern: &'q GraphPattern) {
        if let GraphPattern::Extend { variable, expression, .. } = pattern {
            let known = self.variables.entry(variable).or_default();
            known.count += 1;
            known.assigned += 1;
            self.add_passed(expression, variable);
        }
        expressions(pattern).into_iter().for_each(|expression| self.add_expression(expression));
        parts(pattern).into_iter().for_each(|part| self.add_pattern(part));
    }

    /// Adds the variables whose value an expression may pass on to another variable.
    fn add_passed(&mut self, expression: &'q Expression, to: &'q Variable) {
        match expression {
            Expression::Variable(variable) => {
                let known = self.variables.entry(variable).or_default();
                known.count += 1;
                known.passed_to.push(to);
            }
            Expression::If(_, then, otherwise) => {
                [then, otherwise].into_iter().for_each(|part| self.add_passed(part, to))
            }
            Expression::Coalesce(list) => list.iter().for_each(|part| self.add_passed(part, to)),
            _ => {}
        }
    }

    fn add_expression(&mut self, expression: &'q Expression) {
        if let Some((variable, function)) = function_of(expression) {
            let known = self.variables.entry(variable).or_default();
            known.count += 1;
            known.functions.insert(function);
        }
        operands(expression).into_iter().for_each(|operand| self.add_expression(operand));
    }

    /// Returns how often a variable or a property is used.
    fn occurrences(&self, word: &str) -> usize {
        self.words.get(word).copied().unwrap_or_default()
    }

    /// Returns the functions of a variable's value that the query needs, and the properties that have the value, for each
    /// pattern that binds the variable. `None` if it needs more of the value.
    fn functions(&self, variable: &Variable) -> Option<(BTreeSet<FunctionName>, Vec<Vec<NamedNodeRef<'q>>>)> {
        let known = self.variables.get(variable)?;
        let mut objects = Vec::new();
        // Joined with another value, it would need more than functions.
        values(self.pattern, variable, &mut objects)?;
        let is_passed_once = known.assigned == 1 && objects.is_empty() && known.passed_to.is_empty();
        let uses = known.count + objects.len();
        if !(known.assigned == 0 || is_passed_once) || self.occurrences(&variable.to_string()) != uses {
            return None;
        }
        let mut functions = known.functions.clone();
        for other in &known.passed_to {
            functions.extend(self.functions(other)?.0);
        }
        Some((functions, objects))
    }
}

/// Returns the variable and the function, if an expression is a function of a payload in a variable.
fn function_of(expression: &Expression) -> Option<(&Variable, FunctionName)> {
    let Expression::FunctionCall(Function::Custom(name), arguments) = expression else { return None };
    let (Expression::Variable(variable), rest) = arguments.split_first()? else { return None };
    function_kind(name).filter(|kind| kind.is_of_text())?;
    Some((variable, (name.as_str().to_owned(), constant_argument(rest)?.to_owned())))
}

/// Returns the constant text among the further arguments of a function; empty if there is none.
pub(super) fn constant_argument(further: &[Expression]) -> Option<&str> {
    match further {
        [] => Some(""),
        [Expression::Literal(argument)] if argument.datatype() == oxrdf::vocab::xsd::STRING => Some(argument.value()),
        _ => None,
    }
}

/// Collects the properties whose values a variable has, for each pattern that binds it. Returns the number of those
/// patterns that are joined; `None` if several are in a subselect, or if a path may lead elsewhere.
fn values<'p>(pattern: &'p GraphPattern, variable: &Variable, found: &mut Vec<Vec<NamedNodeRef<'p>>>) -> Option<usize> {
    let is_value = |object: &TermPattern| matches!(object, TermPattern::Variable(other) if other == variable);
    let before = found.len();
    match pattern {
        GraphPattern::Bgp { patterns } => {
            for triple in patterns.iter().filter(|triple| is_value(&triple.object)) {
                let NamedNodePattern::NamedNode(property) = &triple.predicate else { return None };
                found.push(vec![property.as_ref()]);
            }
        }
        GraphPattern::Path { path, object, .. } if is_value(object) => found.push(last_steps(path)?),
        _ => {}
    }
    let mut counts = vec![found.len() - before];
    for part in parts(pattern) {
        counts.push(values(part, variable, found)?);
    }
    match pattern {
        GraphPattern::Union { .. } => counts.into_iter().max(),
        // A variable that the subselect projects would occur once more in the query's text.
        GraphPattern::Project { .. } => (counts.into_iter().sum::<usize>() < 2).then_some(0),
        _ => Some(counts.into_iter().sum()),
    }
}

/// Functions of payloads.
#[derive(Debug)]
pub(super) struct PayloadFunctions {
    names: Vec<FunctionName>,
    functions: Vec<PayloadFunction>,
}

#[derive(Debug)]
struct PayloadFunction {
    kind: FunctionKind,
    pointer: String,
    /// The member that the pointer begins with, as canonical JSON spells its name, and the length of that beginning.
    member: Option<(String, usize)>,
}

impl PayloadFunctions {
    fn new(names: BTreeSet<FunctionName>) -> Self {
        let function = |(name, pointer): &FunctionName| {
            let end = pointer.get(1..).and_then(|tokens| tokens.find('/')).map_or(pointer.len(), |at| at + 1);
            let member = pointer[..end].strip_prefix('/').map(|member| {
                let quoted = json::quoted(&json::pointer_name(member));
                (quoted[1..quoted.len() - 1].to_owned(), end)
            });
            let kind = function_kind(&NamedNode::new_unchecked(name.clone()))?;
            Some(PayloadFunction { kind, pointer: pointer.clone(), member })
        };
        Self { functions: names.iter().filter_map(function).collect(), names: names.into_iter().collect() }
    }
}

impl LiteralFunctions for PayloadFunctions {
    fn names(&self) -> &[FunctionName] {
        &self.names
    }

    fn compute(&self, literal: ObjectRef<'_>, is_canonical: bool, each: &mut dyn FnMut(usize, ObjectRef<'_>)) {
        let (text, is_json, is_canonical) = match literal {
            ObjectRef::Text(text) => (text, true, false),
            ObjectRef::Typed(text, datatype) if datatype == rdf::JSON.as_str() => (text, true, is_canonical),
            ObjectRef::Typed(text, _) | ObjectRef::Tagged(text, _) => (text, false, false),
            ObjectRef::Node(_) | ObjectRef::Integer(_) => return,
        };
        let mut compute = |place, kind, text, pointer| {
            if let Some(value) = apply_to_text(kind, text, is_canonical, pointer) {
                ObjectRef::new(value.as_ref()).into_iter().for_each(|value| each(place, value));
            }
        };
        let in_object = |function: &PayloadFunction| is_canonical && text.starts_with('{') && function.member.is_some();
        for (place, function) in self.functions.iter().enumerate() {
            if matches!(function.kind, FunctionKind::Characters) || is_json && !in_object(function) {
                compute(place, function.kind, text, &function.pointer);
            }
        }
        if !self.functions.iter().any(in_object) {
            return;
        }
        for (name, value) in json::members(text) {
            for (place, function) in self.functions.iter().enumerate() {
                if let Some((member, end)) = &function.member
                    && member == name
                {
                    compute(place, function.kind, value, &function.pointer[*end..]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;
    use crate::query::catalogue::CATALOGUE;

    /// Returns the properties of which only functions are needed, and these functions.
    fn found(text: &str) -> (Vec<NamedNode>, Vec<String>) {
        let name = |(function, argument): &FunctionName| {
            format!("{} {argument}", function.rsplit('#').next().unwrap_or_default()).trim_end().to_owned()
        };
        let Some((functions, found)) = computed(&Query::parse(text, None).unwrap().algebra) else {
            return (Vec::new(), Vec::new());
        };
        let properties = found.into_iter().map(|(property, _)| property).collect();
        (properties, functions.names().iter().map(name).collect())
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_catalogue_keeps_few_payloads() {
        let computed = CATALOGUE.iter().filter(|query| !found(query.text).0.is_empty()).map(|query| query.name);
        assert_eq!(
            computed.collect::<Vec<_>>(),
            ["overview", "cost", "inputs", "cancelled", "progress", "secrets", "biggest", "compare"]
        );
    }

    #[test]
    fn functions_are_enough_where_nothing_else_is_asked_for() {
        let (params, result) = (jrpc::HAS_PARAMETERS.into_owned(), jrpc::HAS_RESULT.into_owned());
        for (text, expected) in [
            (
                "SELECT ?n { ?m jrpc:hasParameters ?p BIND(rpcg:json(?p, \"/a~1b/c\") AS ?n) }",
                (vec![params.clone()], names(&["json /a~1b/c"])),
            ),
            (
                "SELECT (SUM(rpcg:jsonSize(?p, \"/a/*\")) AS ?n) { ?m jrpc:hasParameters|jrpc:hasResult ?p
                 FILTER(rpcg:jsonType(?p) = \"null\") } ORDER BY rpcg:json(?p, \"/a\")",
                (vec![params.clone(), result.clone()], names(&["json /a", "jsonSize /a/*", "jsonType"])),
            ),
            (
                "SELECT ?n ?r { ?m jrpc:hasParameters ?p ; jrpc:hasResult ?r BIND(rpcg:json(?p, \"/a\") AS ?n) }",
                (vec![params.clone()], names(&["json /a"])),
            ),
            (
                "SELECT ?n { ?m jrpc:hasResult ?p BIND(rpcg:json(?p, \"/a\") AS ?n)
                 { SELECT (MAX(rpcg:json(?p, \"/b\")) AS ?x) { ?m jrpc:hasResult ?p } } }",
                (vec![result.clone()], names(&["json /a", "json /b"])),
            ),
            (
                "SELECT ?n { ?m jrpc:hasResult ?p OPTIONAL { ?m rpcg:status ?s }
                 BIND(IF(BOUND(?s), rpcg:json(?p, \"/a\"), ?p) AS ?r) BIND(rpcg:jsonSize(?r, \"/b\") AS ?n) }",
                (vec![result.clone()], names(&["json /a", "jsonSize /b"])),
            ),
            (
                "SELECT ?n { ?m jrpc:hasResult|jrpc:hasParameters ?p BIND(STRLEN(STR(?p)) AS ?n) }",
                (vec![params.clone(), result.clone()], names(&["text length"])),
            ),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
        for text in [
            "SELECT * { ?m jrpc:hasResult ?p BIND(STRLEN(STR(?p)) AS ?n) }",
            "SELECT ?m { ?m jrpc:hasResult ?p BIND(STRLEN(STR(?p)) AS ?n) FILTER(?p != 5) }",
            "SELECT ?m { ?m jrpc:hasResult ?p ; jrpc:hasParameters ?p BIND(STRLEN(STR(?p)) AS ?n) }",
            "SELECT ?m ?q { ?m jrpc:hasResult ?p BIND(STRLEN(STR(?p)) AS ?n) ?m jrpc:hasResult ?q }",
            "SELECT ?m { ?m jrpc:hasResult ?p BIND(STRLEN(STR(?p)) AS ?n) FILTER EXISTS { ?x jrpc:hasResult 5 } }",
            "SELECT ?m { ?m jrpc:hasMethod ?p BIND(STRLEN(STR(?p)) AS ?n) }",
            "SELECT ?m { ?m jrpc:hasResult/rpcg:element ?p BIND(STRLEN(STR(?p)) AS ?n) }",
            "SELECT ?m { ?m jrpc:hasResult ?p BIND(STRLEN(STR(?p)) AS ?n) { SELECT ?p { ?x ?y ?p } } }",
            "SELECT (COUNT(DISTINCT *) AS ?c) { ?m jrpc:hasResult ?p BIND(STRLEN(STR(?p)) AS ?n) }",
            "SELECT ?p (COUNT(*) AS ?c) { ?m jrpc:hasResult ?p BIND(STRLEN(STR(?p)) AS ?n) } GROUP BY ?p",
            // The path has the message once if it is also the result.
            "SELECT ?m { ?m jrpc:hasResult|jrpc:hasErrorMessage ?p BIND(STRLEN(STR(?p)) AS ?n) }",
            "SELECT ?r { ?m jrpc:hasResult ?p BIND(COALESCE(?p, 1) AS ?r) BIND(STRLEN(STR(?r)) AS ?n) }",
            "SELECT ?n { ?m jrpc:hasResult ?p BIND(rpcg:json(?p, ?n) AS ?x) }",
            "SELECT ?m { ?m a jrpc:Request }",
        ] {
            assert!(found(text).0.is_empty(), "{text}");
        }
    }

    #[test]
    fn members_have_the_same_values_alone_as_in_the_whole() {
        let pointers = ["", "/a", "/a/*", "/a/*/b", "/*", "/*/b", "/a/0/b", "/a~1b", "/q\"", "/none/x", "/", "/ü"];
        let kinds = ["json", "jsonLength", "jsonSize", "jsonKeys", "jsonPointers", "jsonType"];
        let name = |kind| format!("{}{kind}", rpcg::NAMESPACE);
        let names = kinds.iter().flat_map(|kind| pointers.map(|pointer| (name(kind), pointer.to_owned())));
        let functions = PayloadFunctions::new(names.collect());
        for text in [
            "{}",
            r#"{"":1,"*":{"b":2},"a":[{"b":1},2],"a/b":"x","q\"":true,"ü":null}"#,
            r#"{"a":{"*":[1],"0":{"b":-1.5}}}"#,
            "[{\"a\":1}]",
            "\"a\"",
        ] {
            let values = |is_canonical| {
                let mut values = Vec::new();
                let literal = ObjectRef::Typed(text, rdf::JSON.as_str());
                functions
                    .compute(literal, is_canonical, &mut |place, value| values.push((place, format!("{value:?}"))));
                values.sort_unstable();
                values
            };
            assert_eq!(values(true), values(false), "{text}");
        }
    }
}
