//! The collector of a worker: the wanted triples, in a column for each predicate, with the worker's own numbers for
//! terms.

use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

use oxrdf::{NamedNodeRef, Quad, TermRef};

use super::super::record_sink::{RecordSink, SinkError, SinkInput};
use super::super::rendered::Rendered;
use super::super::selection::{LiteralFunctions, Selection, WantedExtent};
use super::Columns;
use super::kept::{TextForm, TextStore, is_long};
use super::packed::Packer;
use super::term::TermId;
use super::values::ValueRows;
use crate::session::triples::{NodeRef, ObjectRef, TripleSink};
use crate::vocab::rpcg;

/// The triples of one predicate.
struct CollectedPredicate {
    predicate: String,
    /// The IRIs that are wanted as objects; `None` for any.
    objects: Option<Vec<String>>,
    extent: WantedExtent,
    /// True if only the triples of failures are wanted.
    of_failures: bool,
    triples: Vec<(TermId, TermId)>,
}

/// The current subject.
enum CurrentSubject {
    Numbered(TermId),
    /// A named subject, numbered once one of its triples is collected.
    Named(TextForm<'static>),
}

/// The size of the caches of predicates and IRIs, of which there are at most some hundreds.
const PLACES: usize = 1 << 10;

/// Collects triples of an input for `Columns::take`.
pub struct Collector {
    iri: String,
    base: Option<u16>,
    selection: Selection,
    collected: Vec<CollectedPredicate>,
    /// A cache of places in `collected`, by the address of the predicate: address, length and place, if it is wanted.
    places: Vec<(usize, usize, Option<usize>)>,
    /// A cache of numbers in `kept`, by the address of an IRI: most are constants.
    iris: Vec<u32>,
    kept: TextStore,
    packer: Packer,
    /// The functions whose values are collected in place of literals.
    functions: Option<Arc<dyn LiteralFunctions>>,
    values: ValueRows,
    subject: CurrentSubject,
    is_failure: bool,
    /// The name of the subject, until one of its triples is collected.
    name: String,
    /// The current session: its reference and its number.
    session: Option<(String, TermId)>,
    count: u64,
    buffer: String,
    /// True if there may be JSON that is not canonical.
    has_any_json: bool,
}

impl Collector {
    /// Creates a collector for an input whose IRI the columns already know.
    pub fn new(columns: &Columns, iri: &str, selection: Selection) -> Self {
        Self {
            iri: iri.to_owned(),
            base: columns.bases.find(iri),
            functions: selection.functions().cloned(),
            values: ValueRows::default(),
            selection,
            collected: Vec::new(),
            places: vec![(0, 0, None); PLACES],
            iris: vec![0; PLACES],
            kept: TextStore::default(),
            packer: Packer::new(&columns.packed),
            subject: CurrentSubject::Named(TextForm::Iri),
            is_failure: false,
            name: String::new(),
            session: None,
            count: 0,
            buffer: String::new(),
            has_any_json: false,
        }
    }

    /// Creates a collector of triples that are not of a log.
    pub fn outside(columns: &Columns, selection: Selection) -> Self {
        Self { has_any_json: true, ..Self::new(columns, "", selection) }
    }

    fn node(&mut self, node: NodeRef<'_>) -> TermId {
        if let NodeRef::Iri(iri) = node {
            let cached = &mut self.iris[iri.as_ptr().addr() / 8 % PLACES];
            // The address may have had another text.
            if self.kept.get(*cached) != (TextForm::Iri, iri) {
                *cached = self.kept.add(TextForm::Iri, iri);
            }
            return TermId::from_stored(*cached);
        }
        if let Some(id) = self.numbered(node) {
            return id;
        }
        let form = spell(node, &self.iri, &mut self.buffer);
        let id = TermId::from_stored(self.kept.add(form, &self.buffer));
        if let NodeRef::Session(reference) = node {
            self.session = Some((reference.to_owned(), id));
        }
        id
    }

    /// Returns the number of a node that is encoded as such, or of the current session.
    fn numbered(&self, node: NodeRef<'_>) -> Option<TermId> {
        match node {
            NodeRef::Iri(_) => None,
            NodeRef::Blank(blank) => TermId::blank(blank),
            NodeRef::Label(label) => TermId::parse_blank(label),
            NodeRef::Session(reference) => {
                self.session.as_ref().filter(|(known, _)| known == reference).map(|(_, id)| *id)
            }
            NodeRef::Message(_) | NodeRef::Id(_) | NodeRef::Error(_) | NodeRef::Part(..) | NodeRef::LogLine(..) => {
                TermId::node(self.base?, node)
            }
        }
    }

    /// Returns the number of the current subject, which is then collected.
    fn subject_id(&mut self) -> TermId {
        match self.subject {
            CurrentSubject::Numbered(id) => id,
            CurrentSubject::Named(form) => {
                let id = TermId::from_stored(self.kept.add(form, &self.name));
                self.subject = CurrentSubject::Numbered(id);
                id
            }
        }
    }

    fn object(&mut self, object: ObjectRef<'_>) -> TermId {
        match (object, TextForm::from_object(object)) {
            (ObjectRef::Node(node), _) => self.node(node),
            (ObjectRef::Integer(number), _) => TermId::integer(number).unwrap_or_else(|| {
                self.literal(TextForm::Typed(oxrdf::vocab::xsd::INTEGER.as_str()), &number.to_string())
            }),
            (_, form) => form.map_or(TermId::UNBOUND, |(form, text)| self.literal(form, text)),
        }
    }

    /// Returns the number of the values of functions of a literal.
    fn computed(&mut self, literal: ObjectRef<'_>, distinct: bool) -> TermId {
        let Some(functions) = self.functions.clone() else { return self.object(literal) };
        let digits;
        let literal = match literal {
            ObjectRef::Node(node) => return self.node(node),
            ObjectRef::Integer(number) => {
                digits = number.to_string();
                ObjectRef::Typed(&digits, oxrdf::vocab::xsd::INTEGER.as_str())
            }
            literal => literal,
        };
        let mut row = vec![TermId::UNBOUND; functions.names().len() + 1];
        if let (true, Some(last), Some((form, text))) = (distinct, row.last_mut(), TextForm::from_object(literal)) {
            *last = TermId::integer(self.packer.digest(form, text) >> 8).unwrap_or(TermId::UNBOUND);
        }
        functions.compute(literal, !self.has_any_json, &mut |place, value| row[place] = self.object(value));
        TermId::values(self.values.add(&row))
    }

    fn literal(&mut self, form: TextForm<'_>, text: &str) -> TermId {
        if let Some(id) = TermId::literal(form, text) {
            id
        } else if is_long(form, text) {
            TermId::packed(self.packer.add(form, text))
        } else {
            TermId::from_stored(self.kept.add(form, text))
        }
    }

    /// Returns the place of the predicate's triples, if they are wanted.
    fn column_index(&mut self, predicate: NamedNodeRef<'_>) -> Option<usize> {
        let known = self.collected.iter().position(|collected| collected.predicate == predicate.as_str());
        known.or_else(|| {
            self.selection.wants(predicate, None).then(|| {
                let objects = self.selection.objects(predicate);
                self.collected.push(CollectedPredicate {
                    predicate: predicate.as_str().to_owned(),
                    objects: objects.map(|objects| objects.into_iter().map(str::to_owned).collect()),
                    extent: self.selection.extent(predicate),
                    of_failures: self.selection.is_of_failures(predicate),
                    triples: Vec::new(),
                });
                self.collected.len() - 1
            })
        })
    }

    /// Adds a triple of the current subject with the predicate at a place, if it is wanted. The subject may have several
    /// of the predicate unless `is_static`.
    #[inline]
    fn add(&mut self, place: Option<usize>, object: ObjectRef<'_>, is_static: bool) {
        let Some(place) = place else { return };
        let Some(collected) = self.collected.get(place) else { return };
        if let (Some(wanted), Some(iri)) = (&collected.objects, object.iri())
            && !wanted.iter().any(|wanted| wanted == iri)
        {
            return;
        }
        // The classes of a record come first.
        if is_static && collected.of_failures && !self.is_failure {
            return;
        }
        self.is_failure |= object.iri() == Some(rpcg::FAILURE.as_str());
        let object = match collected.extent {
            WantedExtent::Whole => self.object(object),
            WantedExtent::Values => self.computed(object, !is_static),
            WantedExtent::DistinctValues => self.computed(object, true),
        };
        let triple = (self.subject_id(), object);
        self.count += 1;
        if let Some(collected) = self.collected.get_mut(place) {
            collected.triples.push(triple);
        }
    }
}

/// Writes the name of a node into `name`, and returns its form: IRI or blank-node label.
fn spell(node: NodeRef<'_>, iri: &str, name: &mut String) -> TextForm<'static> {
    name.clear();
    // Writing to a string never fails.
    match node {
        NodeRef::Iri(iri) => name.push_str(iri),
        NodeRef::Blank(blank) => {
            let _ = write!(name, "{blank}");
        }
        NodeRef::Label(label) => name.push_str(label),
        _ => {
            let _ = write!(name, "{iri}{node}");
        }
    }
    if matches!(node, NodeRef::Blank(_) | NodeRef::Label(_)) { TextForm::Blank } else { TextForm::Iri }
}

impl Rendered for Collector {
    fn finish(&mut self) {
        self.packer.close();
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn clear(&mut self) {
        self.collected.iter_mut().for_each(|collected| collected.triples.clear());
        self.kept.clear();
        self.packer.clear();
        self.values.clear();
        self.session = None;
        self.subject = CurrentSubject::Named(TextForm::Iri);
        self.count = 0;
    }
}

impl TripleSink for Collector {
    fn subject(&mut self, node: NodeRef<'_>) {
        self.is_failure = false;
        self.subject = match (self.numbered(node), node) {
            (Some(id), _) => CurrentSubject::Numbered(id),
            (None, NodeRef::Session(_)) => CurrentSubject::Numbered(self.node(node)),
            (None, _) => CurrentSubject::Named(spell(node, &self.iri, &mut self.name)),
        };
    }

    fn wants(&self, predicate: NamedNodeRef<'_>) -> bool {
        self.selection.wants(predicate, None)
    }

    fn triple(&mut self, predicate: NamedNodeRef<'_>, object: ObjectRef<'_>) {
        let place = self.column_index(predicate);
        self.add(place, object, false);
    }

    fn static_triple(&mut self, predicate: NamedNodeRef<'static>, object: ObjectRef<'_>) {
        let (address, length) = (predicate.as_str().as_ptr().addr(), predicate.as_str().len());
        // Constants are close to each other, and longer than eight bytes.
        let cached = address / 8 % PLACES;
        let place = match self.places[cached] {
            (known, same, place) if known == address && same == length => place,
            _ => {
                let place = self.column_index(predicate);
                self.places[cached] = (address, length, place);
                place
            }
        };
        self.add(place, object, true);
    }

    fn quads(&mut self, quads: &[Quad]) {
        // A context may give any string the type `rdf:JSON`.
        self.has_any_json = true;
        for quad in quads {
            self.subject(quad.subject.as_ref().into());
            if let Some(object) = ObjectRef::new(TermRef::from(&quad.object)) {
                self.triple(quad.predicate.as_ref(), object);
            }
        }
    }
}

impl Columns {
    /// Takes the triples of a collector outside of the workers, if there are many.
    pub fn take_many(&mut self, collector: &mut Collector) {
        if collector.count() >= 1 << 16 {
            self.take_all(collector);
        }
    }

    /// Takes all triples of a collector outside of the workers.
    pub fn take_all(&mut self, collector: &mut Collector) {
        collector.finish();
        self.take(collector);
        collector.clear();
    }

    /// Takes the triples of a worker.
    pub(crate) fn take(&mut self, collector: &Collector) {
        let kept: Vec<TermId> = collector.kept.iter().map(|(form, text)| self.keep(form, text)).collect();
        let packed = self.packed.take(&collector.packer);
        self.functions = self.functions.take().or_else(|| collector.functions.clone());
        let here = |id: &TermId| id.here(&kept, &packed, &[]);
        let rows = collector.values.iter().map(|row| row.iter().map(here).collect::<Vec<_>>());
        let values: Vec<usize> = rows.map(|row| self.values.add(&row)).collect();
        let known = |id: TermId| id.here(&kept, &packed, &values);
        for collected in collector.collected.iter().filter(|collected| !collected.triples.is_empty()) {
            let column = self.column(&collected.predicate);
            for (subject, object) in &collected.triples {
                column.push(known(*subject), known(*object));
            }
        }
    }

    /// Returns the number of an interned term, or of a node that is encoded as a number.
    fn keep(&mut self, form: TextForm<'_>, text: &str) -> TermId {
        let node = if form == TextForm::Iri { TermId::parse_node(text) } else { None };
        node.and_then(|(base, node)| TermId::node(self.bases.add(base)?, node))
            .unwrap_or_else(|| TermId::from_stored(self.kept.add(form, text)))
    }
}

/// Fills columns with a selection of the triples.
pub(crate) struct ColumnsSink<'w> {
    pub columns: &'w mut Columns,
    pub selection: Selection,
    /// Returns an error to stop.
    pub check: Box<dyn Fn() -> io::Result<()> + Send + 'w>,
}

impl RecordSink for ColumnsSink<'_> {
    type Rendered = Collector;

    fn selection(&self) -> Option<&Selection> {
        Some(&self.selection)
    }

    fn keeps_graphs(&self) -> bool {
        false
    }

    fn start(&mut self, input: &SinkInput<'_>) -> Result<(), SinkError> {
        let _ = self.columns.bases.add(input.iri);
        Ok(())
    }

    fn rendered(&self, input: &SinkInput<'_>) -> Collector {
        Collector::new(self.columns, input.iri, self.selection.clone())
    }

    fn take(&mut self, collector: &mut Collector) -> Result<(), SinkError> {
        (self.check)()?;
        self.columns.take(collector);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}
