//! Rules and conditions, read from Turtle or from a query with a head of comments.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, LazyLock};

use oxrdf::vocab::{rdf, rdfs};
use oxrdf::{NamedNode, NamedOrBlankNode, Term};
use oxrdfio::{RdfFormat, RdfParser};
use regex::Regex;

use crate::query::{Form, QUERY_PREFIXES, Query, glob};
use crate::schema::QuerySchemas;
use crate::vocab::{JSON_RPC_ONTOLOGY, rpcg};

/// The base of the identifiers of built-in rules and conditions.
const BASE: &str = "https://w3id.org/rpcgraph/rules/";

/// The files of the built-in rules, conditions first.
pub const BUILT_IN: [(&str, &str); 8] = [
    ("conditions.ttl", include_str!("../../ontology/rules/conditions.ttl")),
    ("jsonrpc.ttl", include_str!("../../ontology/rules/jsonrpc.ttl")),
    ("lsp.ttl", include_str!("../../ontology/rules/lsp.ttl")),
    ("mcp.ttl", include_str!("../../ontology/rules/mcp.ttl")),
    ("mcp-tools.ttl", include_str!("../../ontology/rules/mcp-tools.ttl")),
    ("mcp-tasks.ttl", include_str!("../../ontology/rules/mcp-tasks.ttl")),
    ("mcp-headers.ttl", include_str!("../../ontology/rules/mcp-headers.ttl")),
    ("mcp-2026-07-28.ttl", include_str!("../../ontology/rules/mcp-2026-07-28.ttl")),
];

/// The beginning of the IRI of a clause of MCP, before its revision.
const SPECIFICATION: &str = "https://modelcontextprotocol.io/specification/";

/// The file of the rules of an OpenRPC document.
const OPENRPC: &str = include_str!("../../ontology/rules/openrpc.ttl");

/// SHACL's namespace.
const SHACL: &str = "http://www.w3.org/ns/shacl#";

/// SHACL's terms that a rule can have, except its targets.
const RULE_TERMS: [&str; 8] = ["sparql", "severity", "message", "deactivated", "name", "description", "order", "group"];

/// The pattern for the instances of a class.
const OF_CLASS: &str = "?this a <>";

/// SHACL's terms that select the nodes a rule is about, each with the pattern for a node or a property.
const TARGETS: [(&str, &str); 4] = [
    ("targetNode", "VALUES ?this { <> }"),
    ("targetClass", OF_CLASS),
    ("targetSubjectsOf", "?this <> []"),
    ("targetObjectsOf", "[] <> ?this"),
];

/// The entries in the comments before a rule's query.
pub const HEAD: [&str; 4] = ["id", "title", "level", "clause"];

/// How grave it is to break a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth to know.
    Note,
    /// Against a recommendation.
    Warning,
    /// Against a requirement.
    #[default]
    Error,
}

impl Level {
    /// The name, as SARIF has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// Returns the level with a name: ours, or SHACL's.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "note" | "Info" => Some(Self::Note),
            "warning" | "Warning" => Some(Self::Warning),
            "error" | "Violation" => Some(Self::Error),
            _ => None,
        }
    }
}

/// A rule. The terms of `ontology/rpcgraph.ttl` describe the fields.
#[derive(Debug, Default)]
pub struct Rule {
    /// The identifier, such as `mcp/batch`.
    pub id: String,
    /// The title, in one line.
    pub title: String,
    /// How grave it is to break the rule.
    pub level: Level,
    /// Why the rule exists.
    pub rationale: Option<String>,
    /// A sentence that says how to mend a finding.
    pub remedy: Option<String>,
    /// The IRIs of the clause and of further explanations.
    pub clauses: Vec<String>,
    /// The guilty side: `client`, `server`, or `sender` for the sender of the message.
    pub side: Option<String>,
    /// The protocol whose sessions the rule is about.
    pub protocol: Option<String>,
    /// The first and the last revision of the protocol that has the clause.
    pub revisions: [Option<String>; 2],
    /// The IRIs of conditions: of the protocol, if there is one, then others.
    pub(super) requires: Vec<String>,
    pub(super) exercised_by: Option<Query>,
    /// Queries whose rows are faults, each with their text, which has variables in braces.
    pub(super) constraints: Vec<(Query, String)>,
    pub(super) general: bool,
    /// Sessions that break the rule.
    pub breaks: Vec<String>,
    /// Sessions that keep the rule.
    pub keeps: Vec<String>,
    /// The other rules that the sessions in `breaks` break.
    pub also_breaks: Vec<String>,
    /// The log format of `breaks` and `keeps`, if they are not JSON lines.
    pub sample_format: Option<String>,
}

/// A query for the sessions that meet a condition, and why a rule is undecidable without such a session.
pub(super) type ConditionQuery = (Query, String);

/// Errors in rules.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// A rule, or a file of rules, is wrong.
    #[error("{0}: {1}")]
    Wrong(String, String),
    /// A rule names a term that its vocabulary does not have.
    #[error("{0}: graphs of logs have no term {1}")]
    Term(String, String),
    /// The head of a query has an entry that rules do not have.
    #[error("{0}: a rule has no entry {1:?} before its query: it may have {list}", list = HEAD.join(", "))]
    Head(String, String),
    /// No rule has the name.
    #[error("unknown rule: {0}")]
    Unknown(String),
}

pub(super) fn wrong(rule: &str, reason: impl fmt::Display) -> RuleError {
    RuleError::Wrong(rule.to_owned(), reason.to_string())
}

/// Rules and the conditions that they require.
#[derive(Debug, Default)]
pub struct Rules {
    pub(super) rules: Vec<Rule>,
    pub(super) conditions: BTreeMap<String, ConditionQuery>,
    /// The namespaces that the files declare with `sh:declare`, by prefix.
    prefixes: BTreeMap<String, String>,
    /// The schemas for `rpcg:conforms`, shared by all queries.
    schemas: Arc<QuerySchemas>,
}

macro_rules! shacl {
    ($name:literal) => {
        concat!("http://www.w3.org/ns/shacl#", $name)
    };
}

/// The values of a property.
type PropertyValues = Vec<String>;

/// The properties of the subjects of a file. Nodes and literals are texts.
#[derive(Default)]
struct DescribedSubjects {
    /// In the order of the file.
    subjects: Vec<String>,
    values: HashMap<String, HashMap<String, PropertyValues>>,
}

impl DescribedSubjects {
    fn parse(text: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let mut described = Self::default();
        for quad in RdfParser::from_format(RdfFormat::Turtle).with_base_iri(BASE)?.for_slice(text) {
            let quad = quad?;
            let subject = match quad.subject {
                NamedOrBlankNode::NamedNode(node) => node.into_string(),
                NamedOrBlankNode::BlankNode(node) => node.to_string(),
            };
            let value = match quad.object {
                Term::NamedNode(node) => node.into_string(),
                Term::Literal(literal) => literal.value().to_owned(),
                other => other.to_string(),
            };
            described.add(&subject, quad.predicate.as_str(), value);
        }
        Ok(described)
    }

    fn add(&mut self, subject: &str, property: &str, value: String) {
        if !self.values.contains_key(subject) {
            self.subjects.push(subject.to_owned());
        }
        self.values.entry(subject.to_owned()).or_default().entry(property.to_owned()).or_default().push(value);
    }

    fn all(&self, subject: &str, property: &str) -> &[String] {
        self.values.get(subject).and_then(|values| values.get(property)).map_or(&[], Vec::as_slice)
    }

    fn is_a(&self, subject: &str, classes: &[&str]) -> bool {
        self.all(subject, rdf::TYPE.as_str()).iter().any(|class| classes.contains(&class.as_str()))
    }

    /// True if a subject, or a constraint, is switched off.
    fn is_deactivated(&self, subject: &str) -> bool {
        self.all(subject, shacl!("deactivated")).iter().any(|value| value == "true" || value == "1")
    }

    /// Returns what `check` cannot use: a shape without a constraint in SPARQL, a term of SHACL that is not supported,
    /// or an unknown term of ours.
    fn unusable(&self, file: &str) -> Option<RuleError> {
        let constraints: HashSet<_> =
            self.subjects.iter().flat_map(|subject| self.all(subject, shacl!("sparql"))).collect();
        let is_target = |name: &str| TARGETS.iter().any(|(target, _)| *target == name);
        for subject in &self.subjects {
            let shown = if subject.starts_with("_:") { "a blank node".to_owned() } else { format!("<{subject}>") };
            let properties = self.values.get(subject).into_iter().flat_map(HashMap::keys).collect::<BTreeSet<_>>();
            let is_rule = !self.all(subject, shacl!("sparql")).is_empty();
            let is_shape =
                self.is_a(subject, &[shacl!("NodeShape"), shacl!("PropertyShape")]) && !constraints.contains(subject);
            for property in &properties {
                let term = |iri: &str| property.strip_prefix(iri).map(str::to_owned);
                if let Some(name) =
                    term(rpcg::NAMESPACE).filter(|_| !rpcg::ALL.iter().any(|known| known.as_str() == *property))
                {
                    return Some(RuleError::Term(file.to_owned(), format!("rpcg:{name}")));
                }
                let Some(name) = term(SHACL) else { continue };
                let is_used = match &*name {
                    "declare" | "prefix" | "namespace" | "prefixes" => true,
                    name if constraints.contains(subject) => ["select", "message", "deactivated"].contains(&name),
                    name if is_rule => RULE_TERMS.contains(&name) || is_target(name),
                    name => name == "select" && self.is_a(subject, &[rpcg::CONDITION.as_str()]),
                };
                if !is_used && is_rule | constraints.contains(subject) {
                    return Some(wrong(
                        file,
                        format!("sh:{name} of {shown} is not supported: check runs queries, sh:sparql with sh:select"),
                    ));
                } else if !is_used {
                    return Some(wrong(file, no_query(&shown)));
                }
            }
            if is_shape && !is_rule {
                return Some(wrong(file, no_query(&shown)));
            }
        }
        None
    }

    /// Returns a query for the targets of a shape; `None` if it has none.
    fn targets(&self, shape: &str) -> Result<Option<String>, RuleError> {
        let mut nodes: Vec<_> = TARGETS
            .iter()
            .flat_map(|(name, pattern)| {
                self.all(shape, &format!("{SHACL}{name}")).iter().map(move |node| (*pattern, node.clone()))
            })
            .collect();
        // [SHACL, 2.1.3.3](https://www.w3.org/TR/shacl/#implicit-targetClass)
        if self.is_a(shape, &[rdfs::CLASS.as_str(), "http://www.w3.org/2002/07/owl#Class"]) {
            nodes.push((OF_CLASS, shape.to_owned()));
        }
        let mut patterns = Vec::new();
        for (pattern, node) in nodes {
            let node = NamedNode::new(&node).map_err(|_| wrong(shape, format!("the target {node:?} is not an IRI")))?;
            let mut nodes = vec![node.as_str()];
            if pattern == OF_CLASS {
                nodes
                    .extend(SUBCLASSES.iter().filter(|(_, class)| class == node.as_str()).map(|(sub, _)| sub.as_str()));
            }
            patterns.extend(nodes.iter().map(|node| format!("{{ {} }}", pattern.replace("<>", &format!("<{node}>")))));
        }
        Ok((!patterns.is_empty()).then(|| format!("SELECT DISTINCT ?this {{ {} }}", patterns.join(" UNION "))))
    }

    fn one(&self, subject: &str, property: &str) -> Option<String> {
        self.all(subject, property).first().cloned()
    }
}

/// The subclasses of each class of JSON-RPC: a message has the type of the subclass only.
static SUBCLASSES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let quads = RdfParser::from_format(RdfFormat::Turtle).for_slice(JSON_RPC_ONTOLOGY).flatten();
    let subclasses = quads.filter(|quad| quad.predicate == rdfs::SUB_CLASS_OF);
    subclasses
        .filter_map(|quad| match (quad.subject, quad.object) {
            (NamedOrBlankNode::NamedNode(sub), Term::NamedNode(class)) => {
                Some((sub.into_string(), class.into_string()))
            }
            _ => None,
        })
        .collect()
});

fn no_query(shape: &str) -> String {
    format!("{shape} has no constraint in SPARQL, so nothing of it would be checked: add sh:sparql with sh:select")
}

/// Returns the identifier of a rule: its IRI after the base, or after the last `/` or `#`.
fn id_of(iri: &str) -> String {
    let local = || iri.rsplit(['/', '#']).next().unwrap_or(iri);
    iri.strip_prefix(BASE).unwrap_or_else(local).to_owned()
}

impl Rule {
    /// Returns the queries of the rule.
    pub fn queries(&self) -> impl Iterator<Item = &Query> {
        self.constraints.iter().map(|(query, _)| query).chain(&self.exercised_by)
    }

    /// Returns the IRI of the clause.
    pub fn clause(&self) -> Option<&str> {
        self.clauses.first().map(String::as_str)
    }

    /// Returns the IRI of the clause in a revision of its protocol: the newest clause that is not newer, or else the oldest.
    pub fn clause_in(&self, revision: &str) -> Option<&str> {
        let clauses = self.clauses.iter().map(String::as_str);
        let dated =
            clauses.filter_map(|clause| Some((clause.strip_prefix(SPECIFICATION)?.get(..revision.len())?, clause)));
        let (known, later): (Vec<_>, Vec<_>) = dated.partition(|(since, _)| *since <= revision);
        let found = known.iter().rev().max_by_key(|(since, _)| since).or(later.iter().min_by_key(|(since, _)| since));
        found.map(|(_, clause)| *clause).or(self.clause())
    }
}

impl Rules {
    /// Returns the built-in rules, with the schemas for `rpcg:conforms`.
    ///
    /// # Errors
    ///
    /// A built-in file is wrong; tests check that none is.
    pub fn built_in(schemas: &Arc<QuerySchemas>) -> Result<Self, RuleError> {
        let mut rules = Self { schemas: Arc::clone(schemas), ..Self::default() };
        BUILT_IN.iter().try_for_each(|(name, text)| rules.add_shapes(name, text, false))?;
        Ok(rules)
    }

    /// Adds the rules for an OpenRPC document.
    ///
    /// # Errors
    ///
    /// As [`built_in`](Self::built_in).
    pub fn add_openrpc(&mut self) -> Result<(), RuleError> {
        self.add_shapes("openrpc.ttl", OPENRPC, false)
    }

    /// Adds the rules of a Turtle file: shapes with a constraint in SPARQL, about their targets if they have any.
    ///
    /// # Errors
    ///
    /// The file is not Turtle, has no rule, or has a shape or a term that is not supported; a query is not SPARQL, or
    /// names an unknown term; a rule has the name of another.
    pub fn add_turtle(&mut self, file: &str, text: &str) -> Result<(), RuleError> {
        let before = self.rules.len() + self.conditions.len();
        self.add_shapes(file, text, true)?;
        if self.rules.len() + self.conditions.len() == before {
            return Err(wrong(file, "the file has no rules: a rule is a shape with sh:sparql"));
        }
        Ok(())
    }

    /// Adds shapes. The built-in ones select their messages without targets, once for all sessions.
    fn add_shapes(&mut self, file: &str, text: &str, with_targets: bool) -> Result<(), RuleError> {
        let described = DescribedSubjects::parse(text).map_err(|error| wrong(file, error))?;
        if let Some(error) = described.unusable(file) {
            return Err(error);
        }
        for declared in described.subjects.iter().flat_map(|subject| described.all(subject, shacl!("declare"))) {
            let prefix = described.one(declared, shacl!("prefix"));
            self.prefixes.extend(prefix.zip(described.one(declared, shacl!("namespace"))));
        }
        for subject in &described.subjects {
            if described.is_a(subject, &[rpcg::CONDITION.as_str()]) {
                let select = described.one(subject, shacl!("select")).unwrap_or_default();
                let query = self.query(&id_of(subject), &select, Form::Select, None)?;
                let reason = described.one(subject, rdfs::COMMENT.as_str()).unwrap_or_default();
                self.conditions.insert(subject.clone(), (query, reason));
            } else if !described.all(subject, shacl!("sparql")).is_empty() && !described.is_deactivated(subject) {
                let targets = if with_targets { described.targets(subject)? } else { None };
                self.add(&described, subject, targets.as_deref())?;
            }
        }
        match self.rules.iter().flat_map(|rule| &rule.requires).find(|iri| !self.conditions.contains_key(*iri)) {
            Some(iri) => Err(wrong(file, format!("unknown condition: <{iri}>"))),
            None => Ok(()),
        }
    }

    /// Adds the rule of a query with a head of comments: `# id:`, `# title:`, `# level:` and `# clause:`. The query
    /// selects `?message`, and optionally `?related` and `?text`. Without a head, `name` is the identifier.
    ///
    /// # Errors
    ///
    /// The query is not SPARQL, does not select `?message` or names an unknown term, or the rule has the name of another.
    pub fn add_query(&mut self, name: &str, text: &str) -> Result<(), RuleError> {
        let head: HashMap<_, _> = text
            .lines()
            .map_while(|line| line.strip_prefix('#'))
            .filter_map(|line| line.split_once(':'))
            .map(|(key, value)| (key.trim(), value.trim()))
            .collect();
        // Other comments have capitals or several words.
        let is_entry = |key: &&&str| key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        if let Some(key) = head.keys().filter(is_entry).filter(|key| !HEAD.contains(key)).min() {
            return Err(RuleError::Head(name.to_owned(), (*key).to_owned()));
        }
        let (mut described, id) = (DescribedSubjects::default(), head.get("id").unwrap_or(&name).replace('#', "-"));
        let subject = format!("{BASE}{id}");
        let properties =
            [("title", rdfs::LABEL.as_str()), ("level", shacl!("severity")), ("clause", rdfs::SEE_ALSO.as_str())];
        for (key, property) in properties {
            head.get(key).into_iter().for_each(|value| described.add(&subject, property, (*value).to_owned()));
        }
        described.add(&subject, shacl!("sparql"), "_:q".to_owned());
        described.add("_:q", shacl!("select"), text.to_owned());
        self.add(&described, &subject, None)
    }

    /// Adds a rule about a protocol or any, which `ask` exercises, with the queries for what breaks it and its texts.
    pub(super) fn add_limit(
        &mut self,
        id: &str,
        (title, level): (&str, Level),
        protocol: Option<&str>,
        ask: &str,
        selects: &[&str],
    ) -> Result<(), RuleError> {
        let (mut described, subject) = (DescribedSubjects::default(), format!("{BASE}{id}"));
        let properties = [
            (rdfs::LABEL.as_str(), Some(title)),
            (shacl!("severity"), Some(level.name())),
            (shacl!("message"), Some("{?text}")),
            (rpcg::EXERCISED_BY.as_str(), Some(ask)),
            (rpcg::PROTOCOL.as_str(), protocol),
        ];
        for (property, value) in properties {
            value.into_iter().for_each(|value| described.add(&subject, property, value.to_owned()));
        }
        for (number, select) in selects.iter().enumerate() {
            let constraint = format!("_:q{number}");
            described.add(&constraint, shacl!("select"), (*select).to_owned());
            described.add(&subject, shacl!("sparql"), constraint);
        }
        self.add(&described, &subject, None)
    }

    fn add(&mut self, described: &DescribedSubjects, subject: &str, targets: Option<&str>) -> Result<(), RuleError> {
        let id = id_of(subject);
        if self.rules.iter().any(|known| known.id == id) {
            return Err(wrong(&id, "two rules have this name: rename one"));
        }
        let one = |property: &str| described.one(subject, property);
        let all = |property: &str| described.all(subject, property).to_vec();
        let title = one(rdfs::LABEL.as_str()).unwrap_or_else(|| id.clone());
        let mut constraints = Vec::new();
        let active = described.all(subject, shacl!("sparql")).iter();
        for constraint in active.filter(|constraint| !described.is_deactivated(constraint)) {
            let select = described.one(constraint, shacl!("select"));
            let select = select.ok_or_else(|| wrong(&id, "sh:sparql without sh:select"))?;
            let message = described.one(constraint, shacl!("message")).or_else(|| one(shacl!("message")));
            let query = self.query(&id, &select, Form::Select, targets)?;
            if !query.selects("this") && (targets.is_some() || !query.selects("message")) {
                return Err(wrong(
                    &id,
                    "the query selects ?message, or in a shape $this: the messages that break the rule",
                ));
            }
            constraints.push((query, message.unwrap_or_else(|| title.clone())));
        }
        if constraints.is_empty() {
            return Err(wrong(
                &id,
                "all constraints of the rule are deactivated: deactivate the rule, or leave it out",
            ));
        }
        let are_there = targets.map(|targets| targets.replace("SELECT DISTINCT ?this", "ASK"));
        let exercised_by = one(rpcg::EXERCISED_BY.as_str()).or(are_there);
        let exercised_by = exercised_by.map(|ask| self.query(&id, &ask, Form::Ask, None));
        let level = one(shacl!("severity")).map_or(Some(Level::Error), |level| Level::named(&id_of(&level)));
        let protocol = one(rpcg::PROTOCOL.as_str());
        let of_protocol = protocol.as_ref().map(|protocol| format!("{BASE}conditions/{protocol}"));
        self.rules.push(Rule {
            title,
            level: level.ok_or_else(|| wrong(&id, "the level is error, warning or note"))?,
            rationale: one(rdfs::COMMENT.as_str()),
            remedy: one(shacl!("description")),
            clauses: all(rdfs::SEE_ALSO.as_str()),
            side: one(rpcg::SIDE.as_str()),
            protocol,
            revisions: [one(rpcg::SINCE.as_str()), one(rpcg::UNTIL.as_str())],
            requires: of_protocol.into_iter().chain(all(rpcg::REQUIRES.as_str())).collect(),
            exercised_by: exercised_by.transpose()?,
            constraints,
            general: one(rpcg::GENERAL.as_str()).as_deref() == Some("true"),
            breaks: all(rpcg::BREAKS.as_str()),
            keeps: all(rpcg::KEEPS.as_str()),
            also_breaks: all(rpcg::ALSO_BREAKS.as_str()).iter().map(|iri| id_of(iri)).collect(),
            sample_format: one(rpcg::SAMPLE_FORMAT.as_str()),
            id,
        });
        Ok(())
    }

    fn query(&self, rule: &str, text: &str, form: Form, targets: Option<&str>) -> Result<Query, RuleError> {
        let is_implicit = |prefix: &str| QUERY_PREFIXES.iter().any(|(known, _)| *known == prefix);
        let declared = self.prefixes.iter().filter(|(prefix, _)| !is_implicit(prefix));
        // On one line, so that errors have the lines of the text.
        let mut whole: String = declared.map(|(prefix, iri)| format!("PREFIX {prefix}: <{iri}> ")).collect();
        whole.push_str(text.trim_start_matches('\u{FEFF}'));
        let query = match targets {
            Some(targets) => Query::parse_for(&whole, targets),
            None => Query::parse(&whole, None),
        };
        let query = query.map_err(|error| wrong(rule, error))?;
        if let Some(term) = query.unknown_terms().into_iter().next() {
            return Err(RuleError::Term(rule.to_owned(), term));
        }
        if let Some(text) = query.no_pointers().next() {
            return Err(wrong(rule, format!("{text:?} is not a JSON Pointer: did you mean \"/{text}\"?")));
        }
        if query.form() != form {
            return Err(wrong(rule, "expected SELECT in sh:select, and ASK in rpcg:exercisedBy"));
        }
        match query.uses_graphs() || query.uses_services() || query.has_dataset() {
            true => Err(wrong(rule, "rules are about one graph: leave out GRAPH, FROM and SERVICE")),
            // Each query says by itself what it left undecided.
            false => Ok(query.with_schemas(&Arc::new(self.schemas.shared()))),
        }
    }

    /// Returns the rules, in the order of their files.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// Keeps the rules that match one of the globs `only`, if there are any, and none of `skip`.
    ///
    /// # Errors
    ///
    /// [`RuleError::Unknown`]: a glob does not match any rule.
    pub fn retain(&mut self, only: &[String], skip: &[String]) -> Result<(), RuleError> {
        let globs = |globs: &[String]| globs.iter().map(|glob| self.matching(glob)).collect::<Result<Vec<_>, _>>();
        let (only, skip) = (globs(only)?, globs(skip)?);
        let is_in = |globs: &[Regex], rule: &Rule| globs.iter().any(|glob| glob.is_match(&rule.id));
        self.rules.retain(|rule| (only.is_empty() || is_in(&only, rule)) && !is_in(&skip, rule));
        Ok(())
    }

    /// Sets the level of the rules that match a glob.
    ///
    /// # Errors
    ///
    /// [`RuleError::Unknown`]: no rule matches.
    pub fn set_level(&mut self, glob: &str, level: Level) -> Result<(), RuleError> {
        let glob = self.matching(glob)?;
        self.rules.iter_mut().filter(|rule| glob.is_match(&rule.id)).for_each(|rule| rule.level = level);
        Ok(())
    }

    fn matching(&self, glob: &str) -> Result<Regex, RuleError> {
        let pattern = glob::regex(glob).ok();
        let pattern = pattern.filter(|pattern| self.rules.iter().any(|rule| pattern.is_match(&rule.id)));
        pattern.ok_or_else(|| RuleError::Unknown(glob.to_owned()))
    }
}
