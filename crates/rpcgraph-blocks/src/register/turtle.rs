//! Writes graphs as readable Turtle, the same on every run.
//!
//! The streaming writer of oxttl cannot nest a blank node where it is used, and does not sort its prefixes.

use std::collections::{BTreeMap, HashMap, HashSet};

use indexmap::IndexMap;
use oxrdf::vocab::{rdf, xsd};
use oxrdf::{
    BlankNode, BlankNodeRef, Literal, LiteralRef, NamedNodeRef, NamedOrBlankNode, NamedOrBlankNodeRef, Term, TermRef,
    Triple, TripleRef,
};
use oxttl::{TurtleParser, TurtleSyntaxError};

use super::examples::Prefixes;
use crate::context::definitions;
use crate::diagnostic::markup::turtle_iri;
use crate::vocab::{PREFIXES, is_local_name};

/// Base IRI for the relative references in Turtle that is only checked.
pub const ANY_BASE: &str = "https://example.invalid/";

/// Parses a Turtle document into triples.
pub fn read_turtle(text: &str, base: Option<&str>) -> Result<Vec<Triple>, TurtleSyntaxError> {
    let parser = TurtleParser::new();
    let parser = parser.clone().with_base_iri(base.unwrap_or(ANY_BASE)).unwrap_or(parser);
    parser.for_slice(text).collect()
}

/// Writes triples as N-Triples.
pub fn n_triples(triples: &[Triple]) -> String {
    triples.iter().map(|triple| format!("{triple} .\n")).collect()
}

/// Removes duplicate triples and names blank nodes `b0`, `b1`, … in order of appearance. The order of triples stays.
pub fn normal(triples: Vec<Triple>) -> Vec<Triple> {
    let mut names: HashMap<BlankNode, BlankNode> = HashMap::new();
    let mut rename = |blank: BlankNode| {
        let next = names.len();
        names.entry(blank).or_insert_with(|| BlankNode::new_unchecked(format!("b{next}"))).clone()
    };
    let mut known = HashSet::new();
    let triples = triples.into_iter().map(|mut triple| {
        if let NamedOrBlankNode::BlankNode(blank) = triple.subject {
            triple.subject = rename(blank).into();
        }
        if let Term::BlankNode(blank) = triple.object {
            triple.object = rename(blank).into();
        }
        triple
    });
    triples.filter(|triple| known.insert(triple.clone())).collect()
}

/// Writes triples, with the prefixes that they use and one block per subject. A blank node to which exactly one triple
/// refers is nested there, in brackets, or in parentheses if it is a list.
pub fn write(triples: &[Triple], prefixes: &Prefixes) -> String {
    let mut writer = TurtleWriter::new(triples, prefixes);
    let mut out = String::new();
    let subjects: Vec<_> = writer.properties.keys().copied().collect();
    // First the subjects that are not nested; then the rest, which form cycles or are nested too deep.
    for first in [true, false] {
        for subject in &subjects {
            if writer.written.contains(subject) || (first && writer.is_nested(subject)) {
                continue;
            }
            out.push('\n');
            writer.block(*subject, &mut out);
        }
    }
    let mut text = String::new();
    for (name, namespace) in &writer.used {
        text.push_str(&format!("@prefix {name}: {} .\n", turtle_iri(namespace)));
    }
    text.push_str(if text.is_empty() { out.trim_start_matches('\n') } else { &out });
    text
}

/// The maximum nesting depth of brackets and parentheses. A chain of nodes may be as long as its document, and each
/// level costs an indent and a call.
const MAX_NESTING: usize = 32;

#[derive(Default)]
struct TurtleWriter<'t> {
    prefixes: Vec<(&'t String, &'t String)>,
    used: BTreeMap<&'t str, &'t str>,
    /// The properties of each subject, in the order of their triples.
    properties: IndexMap<NamedOrBlankNodeRef<'t>, Vec<(NamedNodeRef<'t>, TermRef<'t>)>>,
    /// The number of triples that refer to a blank node.
    references: HashMap<BlankNodeRef<'t>, usize>,
    /// The item and the rest of each cell of a list that can be written in parentheses.
    cells: HashMap<BlankNodeRef<'t>, (TermRef<'t>, TermRef<'t>)>,
    written: HashSet<NamedOrBlankNodeRef<'t>>,
    /// The number of open brackets and parentheses.
    nesting: usize,
}

impl<'t> TurtleWriter<'t> {
    fn new(triples: &'t [Triple], prefixes: &'t Prefixes) -> Self {
        let prefixes = prefixes.iter().filter(|(name, _)| is_local_name(name) && !name.starts_with('_'));
        let mut writer = Self { prefixes: prefixes.collect(), ..Self::default() };
        for TripleRef { subject, predicate, object } in triples.iter().map(Triple::as_ref) {
            writer.properties.entry(subject).or_default().push((predicate, object));
            if let TermRef::BlankNode(blank) = object {
                *writer.references.entry(blank).or_default() += 1;
            }
        }
        writer.find_lists();
        writer
    }

    /// Finds the lists, from the end of each to its beginning.
    fn find_lists(&mut self) {
        let (mut ends, mut before) = (Vec::new(), HashMap::new());
        for (subject, properties) in self.properties.iter().filter(|(subject, _)| self.is_nested(subject)) {
            let of = |property| properties.iter().find(|(predicate, _)| *predicate == property);
            let (NamedOrBlankNodeRef::BlankNode(cell), 2) = (*subject, properties.len()) else { continue };
            let (Some((_, item)), Some((_, rest))) = (of(rdf::FIRST), of(rdf::REST)) else { continue };
            match *rest {
                TermRef::NamedNode(nil) if nil == rdf::NIL => ends.push((cell, *item, *rest)),
                TermRef::BlankNode(next) => drop(before.insert(next, (cell, *item, *rest))),
                _ => {}
            }
        }
        for end in ends {
            let mut next = Some(end);
            while let Some((cell, item, rest)) = next {
                self.cells.insert(cell, (item, rest));
                next = before.get(&cell).copied();
            }
        }
    }

    /// True for a blank node to which exactly one triple refers, so that it can be nested there.
    fn is_nested(&self, subject: &NamedOrBlankNodeRef<'t>) -> bool {
        matches!(subject, NamedOrBlankNodeRef::BlankNode(blank) if self.references.get(blank) == Some(&1))
    }

    fn block(&mut self, subject: NamedOrBlankNodeRef<'t>, out: &mut String) {
        self.written.insert(subject);
        match subject {
            NamedOrBlankNodeRef::NamedNode(node) => self.iri(node, out),
            NamedOrBlankNodeRef::BlankNode(blank) if self.references.contains_key(&blank) => {
                out.push_str(&blank.to_string());
            }
            NamedOrBlankNodeRef::BlankNode(_) => out.push_str("[]"),
        }
        out.push(' ');
        self.properties(subject, 1, out);
        out.push_str(" .\n");
    }

    fn properties(&mut self, subject: NamedOrBlankNodeRef<'t>, depth: usize, out: &mut String) {
        let mut last = None;
        for (predicate, object) in self.properties.get(&subject).cloned().unwrap_or_default() {
            if last == Some(predicate) {
                out.push_str(" , ");
            } else {
                if last.is_some() {
                    out.push_str(" ;\n");
                    out.extend(std::iter::repeat_n("    ", depth));
                }
                match predicate == rdf::TYPE {
                    true => out.push('a'),
                    false => self.iri(predicate, out),
                }
                out.push(' ');
            }
            last = Some(predicate);
            self.term(object, depth, out);
        }
    }

    fn term(&mut self, term: TermRef<'t>, depth: usize, out: &mut String) {
        match term {
            TermRef::NamedNode(node) => self.iri(node, out),
            TermRef::Literal(literal) => self.literal(literal, out),
            TermRef::BlankNode(blank)
                if self.is_nested(&blank.into())
                    && !self.written.contains(&blank.into())
                    && self.nesting < MAX_NESTING =>
            {
                self.nesting += 1;
                self.blank(blank, depth, out);
                self.nesting -= 1;
            }
            // A blank node that is not nested, or a triple term, where a feature of another crate adds them.
            term => out.push_str(&term.to_string()),
        }
    }

    fn blank(&mut self, blank: BlankNodeRef<'t>, depth: usize, out: &mut String) {
        if self.cells.contains_key(&blank) {
            out.push('(');
            let mut rest = TermRef::BlankNode(blank);
            while let TermRef::BlankNode(cell) = rest {
                self.written.insert(cell.into());
                out.push(' ');
                let (item, next) = self.cells[&cell];
                self.term(item, depth, out);
                rest = next;
            }
            return out.push_str(" )");
        }
        self.written.insert(blank.into());
        if !self.properties.contains_key(&NamedOrBlankNodeRef::from(blank)) {
            return out.push_str("[]");
        }
        out.push_str("[\n");
        out.extend(std::iter::repeat_n("    ", depth + 1));
        self.properties(blank.into(), depth + 1, out);
        out.push('\n');
        out.extend(std::iter::repeat_n("    ", depth));
        out.push(']');
    }

    fn literal(&mut self, literal: LiteralRef<'_>, out: &mut String) {
        let datatype = literal.datatype();
        // Turtle implies these datatypes.
        if datatype == xsd::STRING || datatype == rdf::LANG_STRING {
            return out.push_str(&literal.to_string());
        }
        let text = literal.value();
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if (datatype == xsd::INTEGER && is_integer) || (datatype == xsd::BOOLEAN && matches!(text, "true" | "false")) {
            return out.push_str(text);
        }
        out.push_str(&Literal::new_simple_literal(text).to_string());
        out.push_str("^^");
        self.iri(datatype, out);
    }

    fn iri(&mut self, iri: NamedNodeRef<'_>, out: &mut String) {
        // Use the longest namespace that leaves a valid local name.
        let local = |namespace: &str| iri.as_str().strip_prefix(namespace).filter(|local| is_local_name(local));
        let matching =
            self.prefixes.iter().filter_map(|(name, namespace)| Some((*name, *namespace, local(namespace)?)));
        let Some((name, namespace, local)) = matching.min_by_key(|(_, _, local)| local.len()) else {
            return out.push_str(&iri.to_string());
        };
        self.used.insert(name, namespace);
        out.push_str(&format!("{name}:{local}"));
    }
}

/// Returns the prefixes for a graph: the given prefixes, then prefixes of a context, then `rdf` and `xsd`. On a
/// conflict, the earlier in this list counts.
pub fn prefixes(context: &serde_json::Value, given: &Prefixes) -> Prefixes {
    let w3c = PREFIXES.iter().filter(|(name, _)| matches!(*name, "rdf" | "xsd"));
    let mut prefixes: Prefixes = w3c.map(|(name, namespace)| ((*name).to_owned(), (*namespace).to_owned())).collect();
    for (name, definition) in definitions(context).iter().filter_map(serde_json::Value::as_object).flatten() {
        if let Some(namespace) = definition.as_str()
            && namespace.ends_with([':', '/', '?', '#'])
            && oxiri::Iri::parse(namespace).is_ok()
        {
            prefixes.insert(name.clone(), namespace.to_owned());
        }
    }
    prefixes.extend(given.clone());
    prefixes
}

#[cfg(test)]
mod tests {
    use oxrdf::dataset::{CanonicalizationAlgorithm, CanonicalizationHashAlgorithm};
    use oxrdf::{Dataset, GraphName, NamedNode};
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Vec<Triple> {
        TurtleParser::new()
            .for_slice(text)
            .map(|triple| triple.unwrap_or_else(|error| panic!("{error}\n{text}")))
            .collect()
    }

    fn canonical(triples: &[Triple]) -> Vec<String> {
        let quads: Vec<_> = triples.iter().map(|triple| triple.clone().in_graph(GraphName::DefaultGraph)).collect();
        let mut dataset: Dataset = quads.iter().collect();
        let hash_algorithm = CanonicalizationHashAlgorithm::Sha256;
        dataset.canonicalize(CanonicalizationAlgorithm::Rdfc10 { hash_algorithm });
        let mut lines: Vec<_> = dataset.iter().map(|quad| quad.to_string()).collect();
        lines.sort();
        lines
    }

    fn iri(name: &str) -> NamedNode {
        NamedNode::new_unchecked(format!("https://e.org/{name}"))
    }

    fn prefixes() -> Prefixes {
        [("e", "https://e.org/"), ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"), ("ex", "https://e.org/x/")]
            .into_iter()
            .map(|(name, namespace)| (name.to_owned(), namespace.to_owned()))
            .collect()
    }

    fn object() -> impl Strategy<Value = Term> {
        prop_oneof![
            4 => (0..8).prop_map(|number| BlankNode::new_unchecked(format!("x{number}")).into()),
            1 => Just(rdf::NIL.into_owned().into()),
            1 => "[a-z/.%#é-]{0,6}".prop_map(|name| iri(&name.replace('%', "%20").replace('#', "_")).into()),
            1 => any::<String>().prop_map(|text| Literal::new_simple_literal(text).into()),
            1 => "[-0-9tfalserubE.+]{0,5}".prop_map(|text| Literal::new_typed_literal(text, xsd::INTEGER).into()),
            1 => "true|1|x".prop_map(|text| Literal::new_typed_literal(text, xsd::BOOLEAN).into()),
            1 => any::<String>().prop_map(|text| Literal::new_typed_literal(text, iri("x/type")).into()),
            1 => Just(Literal::new_language_tagged_literal_unchecked("a", "en").into()),
        ]
    }

    proptest! {
        /// Lists, cycles, and nodes with several references or none survive the round trip.
        #[test]
        fn written_turtle_parses_to_equal_triples(triples in proptest::collection::vec((0..9, 0..4_usize, object()), 0..16)) {
            let triples: Vec<_> = triples
                .into_iter()
                .map(|(subject, predicate, object)| {
                    let subject = match subject {
                        8 => NamedOrBlankNode::from(iri("s")),
                        number => BlankNode::new_unchecked(format!("x{number}")).into(),
                    };
                    let predicates = [rdf::FIRST.into_owned(), rdf::REST.into_owned(), rdf::TYPE.into_owned(), iri("p")];
                    Triple::new(subject, predicates[predicate].clone(), object)
                })
                .collect();
            let triples = normal(triples);
            let text = write(&triples, &prefixes());
            prop_assert_eq!(canonical(&read(&text)), canonical(&triples), "{}", text);
        }
    }

    #[test]
    fn long_chains_are_not_nested_as_deep() {
        const LENGTH: usize = 20_000;
        let nil = (rdf::REST, Term::from(rdf::NIL.into_owned()));
        let one = (rdf::FIRST, Term::from(Literal::from(1)));
        // The last is a list without an end; the search for its end must not start again at each cell.
        for (predicate, other) in
            [(iri("p"), None), (rdf::FIRST.into_owned(), Some(nil)), (rdf::REST.into_owned(), Some(one))]
        {
            let node = |number: usize| BlankNode::new_unchecked(format!("b{number}"));
            let mut triples = Vec::new();
            for number in 0..LENGTH {
                triples.push(Triple::new(node(number), predicate.clone(), node(number + 1)));
                triples.extend(other.clone().map(|(predicate, object)| Triple::new(node(number), predicate, object)));
            }
            let text = write(&triples, &prefixes());
            assert!(text.len() < 300 * LENGTH, "{} bytes", text.len());
            assert_eq!(read(&text).len(), triples.len());
        }
    }

    #[test]
    fn lists_and_nodes_stand_where_they_are_used() {
        let blank = |name: &str| BlankNode::new_unchecked(name);
        let triple = |subject: &BlankNode, predicate: NamedNodeRef<'_>, object: Term| {
            Triple::new(subject.clone(), predicate.into_owned(), object)
        };
        let (p, one) = (iri("p"), Term::from(Literal::from(1)));
        let triples = [
            triple(&blank("a"), p.as_ref(), blank("l").into()),
            triple(&blank("a"), p.as_ref(), blank("n").into()),
            triple(&blank("l"), rdf::FIRST, one.clone()),
            triple(&blank("l"), rdf::REST, blank("m").into()),
            triple(&blank("m"), rdf::FIRST, blank("twice").into()),
            triple(&blank("m"), rdf::REST, rdf::NIL.into_owned().into()),
            triple(&blank("n"), rdf::TYPE, iri("x/T").into()),
            triple(&blank("n"), p.as_ref(), blank("twice").into()),
            triple(&blank("twice"), p.as_ref(), one),
        ];
        let expected = "@prefix e: <https://e.org/> .
@prefix ex: <https://e.org/x/> .

[] e:p ( 1 _:twice ) , [
        a ex:T ;
        e:p _:twice
    ] .

_:twice e:p 1 .
";
        assert_eq!(write(&triples, &prefixes()), expected);
    }
}
