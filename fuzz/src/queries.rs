//! Random queries over random logs, and changed queries of the catalogue: the rows that Oxigraph's store finds in all of the
//! log's triples, in the order that the query asks for.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use oxigraph::store::Store;
use oxrdf::vocab::xsd;
use oxrdf::{Quad, Term};
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::query::catalogue::CATALOGUE;
use rpcgraph::query::{Answer, Cancel, Dataset, Query, QueryError};
use rpcgraph::sink::Sink;

/// The time for one answer; a query that takes longer is not compared.
const TIME: Duration = Duration::from_secs(2);
/// A query with more rows is not compared.
const ROWS: usize = 20_000;
/// The sessions that logs become.
const SESSIONS: [&str; 2] = ["https://e/one", "https://e/two"];

/// The target: makes a query and logs of the choices.
pub fn queries(data: &[u8]) {
    let seed =
        data.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    let mut maker = Maker { state: seed, names: 0 };
    let (query, logs) = match maker.below(4) {
        0 => (maker.changed(), FIXTURES.clone()),
        _ => (maker.query(), maker.logs()),
    };
    compare(&query, &logs);
}

/// The logs of the catalogue's tests that are not long.
static FIXTURES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [folder.join("tests/queries"), folder.join("../tests/queries")];
    let folder = folders.iter().find(|folder| folder.is_dir()).expect("a folder");
    ["mcp.jsonl", "plain.ndjson"].map(|name| fs::read(folder.join(name)).expect("a log")).into()
});

/// Makes choices out of a seed.
struct Maker {
    state: u64,
    /// Variables that were made.
    names: usize,
}

const NODES: [&str; 3] = ["?a", "?b", "?c"];
const VALUES: [&str; 3] = ["?v", "?w", "?x"];
const NUMBERS: [&str; 2] = ["?n", "?i"];
const METHODS: [&str; 5] = ["a", "b", "2", "tools/call", "x"];
const IDS: [&str; 7] = ["1", "2", "15", "\"1\"", "\"x\"", "1.5", "null"];
const PAYLOADS: [&str; 6] = ["[1]", "{}", "{\"name\":\"t\"}", "{\"isError\":true}", "{\"a\":[1,2]}", "[\"s\"]"];

/// Properties, and what their objects are.
const PROPERTIES: [(&str, Kind); 24] = [
    ("a", Kind::Class),
    ("a", Kind::Class),
    ("rpcg:inSession", Kind::Session),
    ("rpcg:sequence", Kind::Number),
    ("rpcg:sequence", Kind::Number),
    ("rpcg:batchIndex", Kind::Number),
    ("rpcg:respondsTo", Kind::Node),
    ("rpcg:respondsTo", Kind::Node),
    ("rpcg:inBatch", Kind::Node),
    ("jrpc:hasId", Kind::Node),
    ("jrpc:hasError", Kind::Node),
    ("rpcg:sentBy", Kind::Role),
    ("rpcg:capturedAt", Kind::Value),
    ("rpcg:latencySeconds", Kind::Value),
    ("jrpc:hasMethod", Kind::Text),
    ("jrpc:hasMethod", Kind::Text),
    ("jrpc:hasNumberValue", Kind::Decimal),
    ("jrpc:hasStringValue", Kind::Text),
    ("jrpc:hasParameters", Kind::Json),
    ("jrpc:hasResult", Kind::Json),
    ("jrpc:hasErrorCode", Kind::Value),
    ("jrpc:hasErrorMessage", Kind::Text),
    ("rpcg:problem", Kind::Value),
    ("rpcg:toolName", Kind::Text),
];

const CLASSES: [&str; 8] = [
    "jrpc:Request",
    "jrpc:Response",
    "jrpc:Notification",
    "jrpc:ErrorResponse",
    "rpcg:Session",
    "rpcg:Batch",
    "jrpc:NumberId",
    "rpcg:InvalidMessage",
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Class,
    Session,
    Number,
    Node,
    Role,
    Text,
    Decimal,
    Json,
    Value,
}

impl Maker {
    fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ mixed >> 31) % end.max(1) as u64).unwrap_or_default()
    }

    fn choose<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    /// True once in `times` calls.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn logs(&mut self) -> Vec<Vec<u8>> {
        (0..1 + self.below(2)).map(|_| self.log().into_bytes()).collect()
    }

    fn log(&mut self) -> String {
        let enveloped = self.once_in(2);
        let mut log = String::new();
        for second in 10..11 + self.below(9) {
            let record = match self.below(12) {
                0 => {
                    let elements: Vec<_> = (0..self.below(4)).map(|_| self.message()).collect();
                    format!("[{}]", elements.join(","))
                }
                1 => self.choose(&["1", "\"text\"", "{}", "{\"id\":[]}"]).to_owned(),
                _ => self.message(),
            };
            if enveloped {
                let (session, direction) = (self.choose(&["s", "t"]), self.choose(&["c2s", "s2c"]));
                log += &format!(
                    "{{\"session_id\":\"{session}\",\"ts\":\"2026-01-05T10:00:{second}Z\",\"direction\":\"{direction}\",\
                     \"transport\":\"stdio\",\"raw\":{record}}}\n"
                );
            } else {
                log += &(record + "\n");
            }
        }
        log
    }

    fn message(&mut self) -> String {
        let (id, payload) = (self.choose(&IDS), self.choose(&PAYLOADS));
        let method = self.choose(&METHODS);
        match self.below(8) {
            0 => format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"}}"),
            1 => format!("{{\"method\":\"{method}\",\"params\":{payload},\"more\":1}}"),
            2 | 3 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{payload}}}"),
            4 => {
                let code = self.choose(&["-32601", "1", "\"text\""]);
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":\"{method}\"}}}}")
            }
            5 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"}}"),
            _ => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{payload}}}"),
        }
    }

    /// A query out of the grammar.
    fn query(&mut self) -> String {
        let from = if self.once_in(25) { format!(" FROM <{}>", self.choose(&SESSIONS)) } else { String::new() };
        let group = self.group(2);
        if self.once_in(15) {
            return format!("ASK{from} {group}");
        }
        if self.once_in(20) {
            return format!("CONSTRUCT {{ ?a rpcg:about ?v . ?a a ?t }}{from} WHERE {group}");
        }
        let (columns, tail) = self.columns();
        let distinct = if self.once_in(4) { "DISTINCT " } else { "" };
        let mut query = format!("SELECT {distinct}{columns}{from} {group}{tail}");
        let mut keys: Vec<_> = columns.split([' ', '(', ')']).filter(|word| word.starts_with('?')).collect();
        if columns == "*" {
            keys = NODES.into_iter().chain(VALUES).chain(NUMBERS).filter(|name| group.contains(name)).collect();
        }
        if columns.contains(" AS ") {
            keys = vec!["?g", "?k"];
            keys.retain(|key| query.contains(key));
        }
        if !keys.is_empty() && !self.once_in(3) {
            query += " ORDER BY";
            if self.once_in(4) && columns == "*" && group.contains("?n") {
                query += " ?s ?n ?i";
            } else {
                for _ in 0..1 + self.below(3) {
                    let key = self.choose(&keys);
                    query += &if self.once_in(4) { format!(" DESC({key})") } else { format!(" {key}") };
                }
            }
        }
        if self.once_in(5) {
            query += &format!(" LIMIT {}", self.below(6));
        }
        query
    }

    /// The columns of a query, and what stands behind its pattern for them.
    fn columns(&mut self) -> (String, String) {
        match self.below(4) {
            0 => {
                let key = *[&NODES[..], &VALUES, &["?t", "?s"]].concat().get(self.below(8)).expect("a variable");
                let distinct = if self.once_in(3) { "DISTINCT " } else { "" };
                let counted = match self.below(5) {
                    0 => "COUNT(*)".to_owned(),
                    1 => format!("COUNT({distinct}{})", self.choose(&VALUES)),
                    2 => format!("SUM(STRLEN(STR({})))", self.choose(&VALUES)),
                    3 => format!("{}(?n)", self.choose(&["MIN", "MAX", "SUM"])),
                    _ => format!("COUNT({distinct}{})", self.choose(&NODES)),
                };
                match self.once_in(5) {
                    true => (format!("({counted} AS ?k)"), String::new()),
                    false => (format!("({key} AS ?g) ({counted} AS ?k)"), format!(" GROUP BY {key}")),
                }
            }
            1 => {
                let names = [self.choose(&NODES), self.choose(&VALUES), self.choose(&NUMBERS)];
                (names.join(" "), String::new())
            }
            _ => ("*".to_owned(), String::new()),
        }
    }

    fn group(&mut self, depth: usize) -> String {
        let mut group = String::from("{ ");
        if depth < 2 && self.once_in(8) {
            group += "{ ";
            group += self.choose(&["SELECT ?a (COUNT(*) AS ?x)", "SELECT DISTINCT ?a", "SELECT ?a ?v"]);
            let by = if group.contains("COUNT") { " GROUP BY ?a" } else { "" };
            group += &format!(" {}{by} }} ", self.group(0));
        } else {
            for _ in 0..1 + self.below(3) {
                group += &self.triple();
            }
        }
        let most = if depth == 0 { 2 } else { 4 };
        for _ in 0..self.below(most) {
            let part = match (self.below(9), depth) {
                (0 | 1, 1..) => format!("OPTIONAL {} ", self.group(depth - 1)),
                (2, 1..) => format!("{} UNION {} ", self.group(depth - 1), self.group(depth - 1)),
                (3, 1..) => format!("MINUS {} ", self.group(0)),
                (4, _) => {
                    self.names += 1;
                    format!("BIND({} AS ?bound{}) ", self.value(), self.names)
                }
                (5, _) => {
                    let values: Vec<_> = (0..2).map(|_| self.constant(Kind::Text)).collect();
                    let name = self.choose(&VALUES);
                    format!(
                        "VALUES {name} {{ {} {} }} ",
                        values.join(" "),
                        self.choose(&["", "UNDEF", "2", "jrpc:Request"])
                    )
                }
                (6, 1..) => {
                    let graph = format!("<{}>", self.choose(&SESSIONS));
                    let graph = if self.once_in(2) { "?s" } else { &graph };
                    match self.once_in(3) {
                        true => format!("GRAPH {graph} {} ", self.group(0)),
                        false => self.triple(),
                    }
                }
                _ => format!("FILTER({}) ", self.condition(depth)),
            };
            group += &part;
        }
        group + "}"
    }

    fn triple(&mut self) -> String {
        let subject = match self.below(12) {
            0 => format!("<{}#m{}>", self.choose(&SESSIONS), 1 + self.below(4)),
            1..5 => "?a".to_owned(),
            _ => self.choose(&NODES).to_owned(),
        };
        let (property, kind) = PROPERTIES[self.below(PROPERTIES.len())];
        let (path, kind) = match self.below(16) {
            0 => {
                let (other, of) = PROPERTIES[self.below(PROPERTIES.len())];
                (format!("{property}|{other}"), if self.once_in(2) { kind } else { of })
            }
            1 => {
                let (other, of) = PROPERTIES[self.below(PROPERTIES.len())];
                (
                    format!(
                        "{}/{other}",
                        self.choose(&["rpcg:respondsTo", "^rpcg:respondsTo", "jrpc:hasId", "jrpc:hasError"])
                    ),
                    of,
                )
            }
            2 => (format!("^{property}"), Kind::Node),
            3 => (
                format!("{}{}", self.choose(&["rpcg:respondsTo", "rpcg:inBatch"]), self.choose(&["+", "*", "?"])),
                Kind::Node,
            ),
            4 => (self.choose(&["?p", "!rdf:type"]).to_owned(), Kind::Value),
            _ => (property.to_owned(), kind),
        };
        let object = match (kind, self.once_in(4)) {
            (kind, true) => self.constant(kind),
            (Kind::Class, _) => "?t".to_owned(),
            (Kind::Session, _) => "?s".to_owned(),
            (Kind::Node, _) => self.choose(&NODES).to_owned(),
            (Kind::Number, _) => self.choose(&NUMBERS).to_owned(),
            _ => self.choose(&VALUES).to_owned(),
        };
        format!("{subject} {path} {object} . ")
    }

    fn constant(&mut self, kind: Kind) -> String {
        match kind {
            Kind::Class => self.choose(&CLASSES).to_owned(),
            Kind::Session => format!("<{}>", self.choose(&SESSIONS)),
            Kind::Number => (1 + self.below(3)).to_string(),
            Kind::Node => format!("<{}#m{}>", self.choose(&SESSIONS), 1 + self.below(4)),
            Kind::Role => self.choose(&["rpcg:Client", "rpcg:Server"]).to_owned(),
            Kind::Text => format!("\"{}\"", self.choose(&METHODS)),
            Kind::Decimal => format!("\"{}\"^^xsd:decimal", self.choose(&["1", "2", "15", "1.5"])),
            Kind::Json => format!("'{}'^^rdf:JSON", self.choose(&PAYLOADS)),
            Kind::Value => {
                self.choose(&["-32601", "rpcg:MissingVersion", "\"2026-01-05T10:00:10Z\"^^xsd:dateTime"]).to_owned()
            }
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let all = [&NODES[..], &VALUES, &NUMBERS, &["?t"]].concat();
        let (one, other) = (self.choose(&all), self.choose(&all));
        match self.below(10) {
            0 => format!("{one} {} {other}", self.choose(&["=", "!=", "<"])),
            1 => format!("BOUND({one})"),
            2 => format!("{} IN (\"a\", \"2\", 2)", self.choose(&VALUES)),
            3 => format!("STRSTARTS(STR({one}), \"{}\")", self.choose(&["t", "h", "1"])),
            4 if depth > 0 => format!("{}EXISTS {}", self.choose(&["", "NOT "]), self.group(0)),
            5 if depth > 0 => format!("{} && {}", self.condition(0), self.condition(depth - 1)),
            6 if depth > 0 => format!("!({}) || {}", self.condition(0), self.condition(0)),
            7 => format!("?n {} {}", self.choose(&["=", "<", ">="]), self.below(4)),
            _ => {
                let value = self.constant(Kind::Text);
                format!("{} {} {value}", self.choose(&VALUES), self.choose(&["=", "!=", ">"]))
            }
        }
    }

    fn value(&mut self) -> String {
        let (one, other) = (self.choose(&VALUES), self.choose(&VALUES));
        match self.below(7) {
            0 => format!("STRLEN(STR({one}))"),
            1 => format!("STR({one})"),
            2 => "?n + 1".to_owned(),
            3 => format!("COALESCE({one}, {other}, \"none\")"),
            4 => format!("IF(BOUND({one}), 1, \"none\")"),
            5 => format!("EXISTS {{ {}}}", self.triple()),
            _ => format!("CONCAT(STR({one}), \"x\")"),
        }
    }

    /// A query of the catalogue in which lines are left out, doubled or exchanged, or terms are others.
    fn changed(&mut self) -> String {
        let query = CATALOGUE[self.below(CATALOGUE.len())];
        let text = query.text.lines().filter(|line| !line.starts_with('#'));
        let mut lines: Vec<String> = text.map(|line| line.split("#:").next().unwrap_or_default().to_owned()).collect();
        let changes = self.below(4);
        if changes > 0 {
            // A subquery's LIMIT says which rows stay only with an order, which a change may take away.
            lines.retain(|line| !line.starts_with(' ') || !line.trim_start().starts_with("LIMIT"));
        }
        for _ in 0..changes {
            let (at, other) = (self.below(lines.len()), self.below(lines.len()));
            match self.below(5) {
                0 => _ = lines.remove(at),
                1 => lines.insert(at, lines[other].clone()),
                2 => lines.swap(at, other),
                3 => lines[at] = lines[at].replacen("OPTIONAL", "", 1),
                _ => {
                    let words: Vec<_> = PROPERTIES.iter().map(|(name, _)| *name).filter(|name| *name != "a").collect();
                    let (old, new) = (self.choose(&words), self.choose(&words));
                    lines[at] = lines[at].replacen(old, new, 1);
                }
            }
        }
        lines.join("\n")
    }
}

type Row = Vec<Option<Term>>;

/// Returns the columns and rows of an answer.
fn rows(answer: Result<Answer<'_>, QueryError>) -> Option<(Vec<String>, Vec<Row>)> {
    let (mut columns, mut rows) = (Vec::new(), Vec::new());
    match answer {
        Ok(Answer::Boolean(truth)) => rows.push(vec![Some(oxrdf::Literal::from(truth).into())]),
        Ok(Answer::Graph(triples)) => {
            for triple in triples.take(ROWS) {
                let triple = triple.ok()?;
                rows.push(vec![Some(triple.subject.into()), Some(triple.predicate.into()), Some(triple.object)]);
            }
            rows.sort_by_cached_key(|row| format!("{row:?}"));
            rows.dedup();
        }
        Ok(Answer::Solutions(solutions)) => {
            columns = solutions.variables.iter().map(|name| name.as_str().to_owned()).collect();
            for row in solutions.rows.take(ROWS) {
                rows.push(row.ok()?.values().to_vec());
            }
        }
        Err(QueryError::Ended(_)) => return None,
        Err(error) => panic!("{error}"),
    }
    (rows.len() < ROWS).then_some((columns, rows))
}

fn convert(logs: &[Vec<u8>], sink: &mut Sink<'_>) {
    let mapper = Mapper::new(Mapping::Session, &[]).expect("contexts");
    let mut converter = Converter::new(mapper, Options::default());
    for (log, iri) in logs.iter().zip(SESSIONS) {
        let input =
            Input { name: "log".into(), source: "log".into(), iri: iri.into(), iri_stated: true, read: log.as_slice() };
        converter.convert(input, sink, &mut |_| {}).expect("a conversion");
    }
}

fn limited() -> Cancel {
    let cancel = Cancel::default();
    cancel.after(TIME);
    cancel
}

/// Compares the answers of the program with the store's. A text that is not a query is skipped.
pub fn compare(text: &str, logs: &[Vec<u8>]) {
    let (Ok(query), (base, tail)) = (Query::parse(text, None), modifiers(text)) else { return };
    let Ok(plain) = Query::parse(base, None) else { return };
    // The order of the joined values is undefined.
    if text.contains("GROUP_CONCAT") {
        return;
    }
    let mut quads = Vec::<Quad>::new();
    convert(logs, &mut Sink::quads(&mut quads));
    let store = Store::new().expect("a store");
    store.extend(quads.iter().cloned()).expect("quads");
    let cancel = limited();
    let Some((columns, all)) = rows(Dataset::stored(store).answer(&plain, &cancel)) else { return };
    // As `serve` has it, as `query` and the questions do, and over the graph that `convert` writes.
    for way in 0..3 {
        if way == 0 && (query.has_dataset() || query.uses_graphs()) {
            continue;
        }
        let dataset = match way {
            0 => Dataset::of_everything(),
            _ => Dataset::new(&query, way == 2).expect("a dataset"),
        };
        let cancel = limited();
        let mut loading = dataset.load(&cancel).expect("a start");
        match way {
            2 => quads.iter().for_each(|quad| loading.insert(quad.as_ref())),
            _ => convert(logs, &mut loading.sink()),
        }
        loading.commit().expect("an end");
        let Some((_, found)) = rows(dataset.answer(&query, &cancel)) else { return };
        if let Err(why) = judge(&columns, &all, &found, &tail) {
            let logs: Vec<_> = logs.iter().map(|log| String::from_utf8_lossy(log)).collect();
            panic!("{why}, in way {way}: {text}\nlogs:\n{}\nall {all:?}\nfound {found:?}", logs.join("--\n"));
        }
    }
}

/// The query without its order and limits, and those.
fn modifiers(text: &str) -> (&str, Modifiers) {
    let last = text.rfind('}').map_or(0, |at| at + 1);
    let tail = text.get(last..).unwrap_or_default();
    let start = ["ORDER BY", "LIMIT", "OFFSET"].into_iter().filter_map(|word| tail.find(word)).min();
    let (mut keys, mut limit, mut is_simple) = (Vec::new(), None, true);
    let mut words = tail.get(start.unwrap_or(tail.len())..).unwrap_or_default().split_whitespace().peekable();
    while let Some(word) = words.next() {
        match word {
            "ORDER" => _ = words.next(),
            "LIMIT" => limit = words.next().and_then(|number| number.parse().ok()),
            word => {
                let (name, down) = match word.strip_prefix("DESC(").and_then(|word| word.strip_suffix(')')) {
                    Some(name) => (name, true),
                    None => (word, false),
                };
                is_simple &= name.starts_with('?') && !name.contains(['(', ')', '=']);
                keys.push((name.trim_start_matches('?').to_owned(), down));
            }
        }
    }
    if !is_simple {
        keys.clear();
    }
    (text.get(..start.map_or(text.len(), |start| last + start)).unwrap_or(text), Modifiers { keys, limit })
}

struct Modifiers {
    /// Names of variables, each with whether the greatest comes first.
    keys: Vec<(String, bool)>,
    limit: Option<usize>,
}

/// Checks the rows found against all rows and the modifiers of the query.
fn judge(columns: &[String], all: &[Row], found: &[Row], modifiers: &Modifiers) -> Result<(), &'static str> {
    if found.len() != modifiers.limit.unwrap_or(usize::MAX).min(all.len()) {
        return Err("other number of rows");
    }
    let mut left: HashMap<String, (usize, &Row)> = HashMap::new();
    all.iter().for_each(|row| left.entry(format!("{row:?}")).or_insert((0, row)).0 += 1);
    for row in found {
        match left.get_mut(&format!("{row:?}")) {
            Some((count @ 1.., _)) => *count -= 1,
            _ => return Err("other rows"),
        }
    }
    let place = |name: &String| columns.iter().position(|column| column == name);
    let keys: Vec<_> = modifiers.keys.iter().map_while(|(name, down)| Some((place(name)?, *down))).collect();
    let order = |one: &Row, other: &Row| {
        for (place, down) in &keys {
            match compare_terms(one[*place].as_ref(), other[*place].as_ref())? {
                Ordering::Equal => {}
                order => return Some(if *down { order.reverse() } else { order }),
            }
        }
        Some(Ordering::Equal)
    };
    if found.windows(2).any(|pair| order(&pair[0], &pair[1]) == Some(Ordering::Greater)) {
        return Err("another order");
    }
    let mut left_out = left.values().filter(|(count, _)| *count > 0);
    if let Some(last) = found.last()
        && keys.len() == modifiers.keys.len()
        && left_out.any(|(_, row)| order(row, last) == Some(Ordering::Less))
    {
        return Err("not the first rows");
    }
    Ok(())
}

/// The order of two terms, where SPARQL says it.
fn compare_terms(one: Option<&Term>, other: Option<&Term>) -> Option<Ordering> {
    let rank = |term: Option<&Term>| match term {
        None => 0,
        Some(Term::BlankNode(_)) => 1,
        Some(Term::NamedNode(_)) => 2,
        Some(_) => 3,
    };
    match (one, other) {
        (Some(Term::NamedNode(one)), Some(Term::NamedNode(other))) => Some(one.as_str().cmp(other.as_str())),
        (Some(Term::Literal(one)), Some(Term::Literal(other))) => {
            let number = |literal: &oxrdf::Literal| match literal.datatype() {
                xsd::INTEGER | xsd::DECIMAL => literal.value().parse::<f64>().ok(),
                _ => None,
            };
            match (number(one), number(other)) {
                (Some(one), Some(other)) => one.partial_cmp(&other),
                (None, None) if one.datatype() == xsd::STRING && other.datatype() == xsd::STRING => {
                    Some(one.value().cmp(other.value()))
                }
                _ => (one == other).then_some(Ordering::Equal),
            }
        }
        (one, other) if rank(one) == rank(other) => (one == other).then_some(Ordering::Equal),
        (one, other) => Some(rank(one).cmp(&rank(other))),
    }
}
