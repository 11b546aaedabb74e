//! Interned terms: each is stored once, under a number.

use std::hash::BuildHasher as _;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::json::KeyedHashes;
use crate::session::triples::{NodeRef, ObjectRef};
use crate::vocab::rdf;

/// The maximum length of a string that is stored uncompressed, in bytes.
const LONG: usize = 512;

/// Returns true if a literal is stored compressed: payloads and long texts.
pub(super) fn is_long(form: TextForm<'_>, text: &str) -> bool {
    text.len() > LONG || form == TextForm::Typed(rdf::JSON.as_str())
}

/// The form of a stored text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextForm<'a> {
    Iri,
    /// The label of a blank node.
    Blank,
    /// An `xsd:string`.
    Text,
    /// A literal with that datatype.
    Typed(&'a str),
    /// A string with that language tag.
    Tagged(&'a str),
}

impl<'a> TextForm<'a> {
    /// Returns the form and the text of an object; `None` if it is given as a number or a name.
    pub fn from_object(object: ObjectRef<'a>) -> Option<(Self, &'a str)> {
        Some(match object {
            ObjectRef::Node(NodeRef::Iri(iri)) => (Self::Iri, iri),
            ObjectRef::Node(NodeRef::Label(label)) => (Self::Blank, label),
            ObjectRef::Text(text) => (Self::Text, text),
            ObjectRef::Typed(text, datatype) => (Self::Typed(datatype), text),
            ObjectRef::Tagged(text, tag) => (Self::Tagged(tag), text),
            ObjectRef::Node(_) | ObjectRef::Integer(_) => return None,
        })
    }
}

/// Datatypes and languages, each stored once. There are few.
#[derive(Default)]
pub struct TextForms(Vec<String>);

impl TextForms {
    fn name_index(&self, name: &str) -> Option<u32> {
        self.0.iter().position(|known| known == name).and_then(|place| u32::try_from(place).ok())
    }

    /// Returns the number of a form, if it has one.
    pub fn find(&self, form: TextForm<'_>) -> Option<u32> {
        Some(match form {
            TextForm::Iri => 0,
            TextForm::Blank => 1,
            TextForm::Text => 2,
            TextForm::Typed(datatype) => self.name_index(datatype)? * 2 + 3,
            TextForm::Tagged(language) => self.name_index(language)? * 2 + 4,
        })
    }

    /// Returns the number of a form, adding it if new.
    pub fn add(&mut self, form: TextForm<'_>) -> u32 {
        if let (None, TextForm::Typed(name) | TextForm::Tagged(name)) = (self.find(form), form) {
            self.0.push(name.to_owned());
        }
        self.find(form).unwrap_or_default()
    }

    pub fn form(&self, number: u32) -> TextForm<'_> {
        let name = || self.0.get((number as usize - 3) / 2).map_or("", String::as_str);
        match number {
            0 => TextForm::Iri,
            1 => TextForm::Blank,
            2 => TextForm::Text,
            _ if number % 2 == 1 => TextForm::Typed(name()),
            _ => TextForm::Tagged(name()),
        }
    }
}

/// The size of a buffer of texts, in bytes.
const PIECE: usize = 256 << 10;

#[derive(Clone, Copy)]
struct StoredText {
    piece: u32,
    start: u32,
    length: u32,
    form: u32,
}

/// Texts, each stored once in each form.
#[derive(Default)]
pub struct TextStore {
    forms: TextForms,
    pieces: Vec<String>,
    places: Vec<StoredText>,
    table: HashTable<u32>,
    hashes: KeyedHashes,
}

impl TextStore {
    /// Returns the number of a text in a form, adding it if new.
    pub fn add(&mut self, form: TextForm<'_>, text: &str) -> u32 {
        let form = self.forms.add(form);
        let Self { pieces, places, table, hashes, .. } = self;
        let hash = hashes.hash_one((form, text));
        let is_same = |number: &u32| at(places, pieces, *number) == Some((form, text));
        let hash_of = |number: &u32| hashes.hash_one(at(places, pieces, *number).unwrap_or_default());
        match table.entry(hash, is_same, hash_of) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                // Beyond 4 billion terms, neither numbers nor memory are left.
                let number = u32::try_from(places.len()).unwrap_or(u32::MAX);
                entry.insert(number);
                if pieces.last().is_none_or(|piece| piece.len() + text.len() > piece.capacity()) {
                    pieces.push(String::with_capacity(text.len().max(PIECE)));
                }
                let piece = pieces.len() - 1;
                if let Some(last) = pieces.last_mut() {
                    let start = last.len();
                    last.push_str(text);
                    let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
                    places.push(StoredText {
                        piece: short(piece),
                        start: short(start),
                        length: short(text.len()),
                        form,
                    });
                }
                number
            }
        }
    }

    /// Returns the number of a text in a form, if it is stored.
    pub fn find(&self, form: TextForm<'_>, text: &str) -> Option<u32> {
        let form = self.forms.find(form)?;
        let hash = self.hashes.hash_one((form, text));
        self.table.find(hash, |number| at(&self.places, &self.pieces, *number) == Some((form, text))).copied()
    }

    pub fn get(&self, number: u32) -> (TextForm<'_>, &str) {
        let (form, text) = at(&self.places, &self.pieces, number).unwrap_or_default();
        (self.forms.form(form), text)
    }

    /// Returns all texts in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (TextForm<'_>, &str)> {
        (0..u32::try_from(self.places.len()).unwrap_or(u32::MAX)).map(|number| self.get(number))
    }

    /// Removes all texts.
    pub fn clear(&mut self) {
        self.places.clear();
        self.table.clear();
        self.pieces.truncate(1);
        self.pieces.iter_mut().for_each(String::clear);
    }
}

fn at<'p>(places: &[StoredText], pieces: &'p [String], number: u32) -> Option<(u32, &'p str)> {
    let place = places.get(number as usize)?;
    let start = place.start as usize;
    Some((place.form, pieces.get(place.piece as usize)?.get(start..start + place.length as usize)?))
}
