//! The triples of a log that a query needs, in columns: for each predicate its subjects and its objects, as numbers.
//!
//! ```text
//! worker → Collector → Columns → evaluator
//! ```
//!
//! Each worker numbers the terms of its chunk on its own; merging a chunk gives its new terms their final numbers.
//! Records arrive in order, so subjects are already sorted. The index by object is built on first use.

mod collect;
mod column;
#[cfg(target_family = "wasm")]
mod deflate;
mod kept;
mod lookup;
mod packed;
mod term;
mod values;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use oxrdf::{BlankNode, Literal, NamedNode, NamedNodeRef, Term};

pub use self::collect::Collector;
pub(crate) use self::collect::ColumnsSink;
pub(crate) use self::column::Column;
pub use self::kept::TextStore;
use self::kept::{TextForm, is_long};
pub use self::lookup::{ColumnLookUps, ColumnMatches};
use self::packed::PackedLiterals;
pub use self::term::TermId;
use self::term::{BASES, TermMeaning};
use self::values::ValueRows;
use super::selection::LiteralFunctions;
use super::text::push_fragment;
use crate::session::triples::ObjectRef;

/// The IRIs of inputs whose nodes are encoded in numbers.
#[derive(Default)]
struct Bases(Vec<String>);

impl Bases {
    fn find(&self, iri: &str) -> Option<u16> {
        self.0.iter().rposition(|base| base == iri).and_then(|place| u16::try_from(place).ok())
    }

    /// Returns the number of a base, adding it if there is room. A base without a number never gets one later.
    fn add(&mut self, iri: &str) -> Option<u16> {
        self.find(iri).or_else(|| {
            (self.0.len() < BASES).then(|| self.0.push(iri.to_owned()))?;
            self.find(iri)
        })
    }
}

/// Triples, all in one graph.
#[derive(Default)]
pub struct Columns {
    bases: Bases,
    kept: TextStore,
    packed: PackedLiterals,
    /// The functions whose values are stored in place of literals.
    functions: Option<Arc<dyn LiteralFunctions>>,
    values: ValueRows,
    /// The columns, each with the number of its predicate.
    columns: Vec<(TermId, Column)>,
}

impl Columns {
    /// Completes the columns after the last triple.
    pub fn finish(&mut self) {
        self.columns.iter_mut().for_each(|(_, column)| column.finish());
    }

    fn column(&mut self, predicate: &str) -> &mut Column {
        let id = TermId::from_stored(self.kept.add(TextForm::Iri, predicate));
        let place = self.columns.iter().position(|(known, _)| *known == id).unwrap_or_else(|| {
            self.columns.push((id, Column::default()));
            self.columns.len() - 1
        });
        &mut self.columns[place].1
    }

    /// Returns the number of a term; `None` if no triple can contain it.
    pub fn find(&self, term: &Term) -> Option<TermId> {
        self.find_object(ObjectRef::new(term.as_ref())?)
    }

    /// Returns the number of a term that is not given as a number or a name; `None` if no triple can contain it.
    pub fn find_object(&self, object: ObjectRef<'_>) -> Option<TermId> {
        let (form, text) = TextForm::from_object(object)?;
        let (encoded, is_packed) = match form {
            TextForm::Iri => {
                let node = TermId::parse_node(text);
                (node.and_then(|(base, node)| TermId::node(self.bases.find(base)?, node)), false)
            }
            TextForm::Blank => (TermId::parse_blank(text), false),
            form => (TermId::literal(form, text), is_long(form, text)),
        };
        encoded.or_else(|| match is_packed {
            true => self.packed.find(form, text).map(TermId::packed),
            false => self.kept.find(form, text).map(TermId::from_stored),
        })
    }

    /// Returns the index of the predicate's column, if any triple has that predicate.
    pub fn column_index(&self, predicate: &NamedNode) -> Option<usize> {
        let id = self.kept.find(TextForm::Iri, predicate.as_str()).map(TermId::from_stored)?;
        self.columns.iter().position(|(known, _)| *known == id)
    }

    /// Returns the triples of a predicate.
    pub fn triples(&self, predicate: NamedNodeRef<'_>) -> impl Iterator<Item = (TermId, TermId)> {
        let place = self.column_index(&predicate.into_owned());
        place.and_then(|place| self.columns.get(place)).into_iter().flat_map(|(_, column)| column.triples())
    }

    /// Replaces the objects of a predicate's triples, each by a function of its triple.
    pub fn replace_objects(&mut self, predicate: NamedNodeRef<'_>, object: impl Fn(TermId, TermId) -> TermId) {
        let place = self.column_index(&predicate.into_owned());
        if let Some((_, column)) = place.and_then(|place| self.columns.get_mut(place)) {
            *column = column.with_objects(object);
        }
    }

    /// Returns the indexes of the columns of a predicate, or of all.
    pub fn places(&self, predicate: Option<TermId>) -> Range<usize> {
        match predicate {
            None => 0..self.columns.len(),
            Some(predicate) => {
                let place = self.columns.iter().position(|(known, _)| *known == predicate);
                place.map_or(0..0, |place| place..place + 1)
            }
        }
    }

    /// Returns every column, with the number of its predicate.
    pub fn all(&self) -> &[(TermId, Column)] {
        &self.columns
    }

    /// Returns the place of a function with a constant argument among those whose values are stored.
    pub fn function_place(&self, function: &str, argument: &str) -> Option<usize> {
        self.functions.as_ref()?.names().iter().position(|(name, of)| name == function && of == argument)
    }

    /// Returns the value of the function at a place, if the literal is stored as such values.
    pub fn computed(&self, literal: TermId, place: usize) -> Option<TermId> {
        self.values.get(literal.as_values()?)?.get(place).copied()
    }

    /// Returns a text that is stored, and its form.
    fn stored(&self, id: TermId) -> Option<(TextForm<'_>, Cow<'_, str>)> {
        match id.unpack() {
            TermMeaning::Kept(number) => {
                let (form, text) = self.kept.get(number);
                Some((form, text.into()))
            }
            TermMeaning::Packed(number) => Some(self.packed.get(number)),
            _ => None,
        }
    }

    /// Returns the term of a number.
    pub fn term(&self, id: TermId) -> Term {
        match id.unpack() {
            TermMeaning::Node(base, node) => {
                let base = self.bases.0.get(usize::from(base)).map_or("", String::as_str);
                let mut iri = Vec::with_capacity(base.len() + 24);
                iri.extend_from_slice(base.as_bytes());
                push_fragment(node, &mut iri);
                NamedNode::new_unchecked(String::from_utf8(iri).unwrap_or_default()).into()
            }
            TermMeaning::Blank(blank) => BlankNode::new_unchecked(blank.to_string()).into(),
            TermMeaning::Literal(text, datatype) => literal(TextForm::Typed(datatype), text),
            TermMeaning::Kept(_) | TermMeaning::Packed(_) => {
                let (form, text) = self.stored(id).unwrap_or((TextForm::Text, "".into()));
                literal(form, text.into_owned())
            }
        }
    }
}

impl TextStore {
    /// Returns the number of a term, adding it if new. The term is not given as a number or a name.
    pub fn add_object(&mut self, object: ObjectRef<'_>) -> Option<u32> {
        let (form, text) = TextForm::from_object(object)?;
        Some(self.add(form, text))
    }

    /// Returns the term of a number.
    pub fn term(&self, number: u32) -> Term {
        let (form, text) = self.get(number);
        literal(form, text.to_owned())
    }
}

/// Returns the term of a text in a form.
fn literal(form: TextForm<'_>, text: String) -> Term {
    match form {
        TextForm::Iri => NamedNode::new_unchecked(text).into(),
        TextForm::Blank => BlankNode::new_unchecked(text).into(),
        TextForm::Text => Literal::new_simple_literal(text).into(),
        TextForm::Typed(datatype) => Literal::new_typed_literal(text, NamedNodeRef::new_unchecked(datatype)).into(),
        TextForm::Tagged(language) => Literal::new_language_tagged_literal_unchecked(text, language).into(),
    }
}
