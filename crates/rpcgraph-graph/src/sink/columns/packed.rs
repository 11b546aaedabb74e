//! Long literals, mostly payloads: identified by a keyed (secret) digest, and compressed if there are many.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
#[cfg(not(target_family = "wasm"))]
use zstd::bulk::Decompressor;

#[cfg(target_family = "wasm")]
use super::deflate::{Decompressor, DeflateCompressor as Compressor};
use super::kept::{TextForm, TextForms};
use crate::json::KeyedDigests;

/// The size of a piece of text that is compressed at once, in bytes. A longer literal is a piece of its own.
const PIECE: usize = 32 << 10;
/// The size in bytes up to which text is not compressed: the payloads of most logs are read faster than compressed.
const PLAIN: usize = 16 << 20;
/// The maximum number of decompressed pieces in the cache, if they are not much larger than `PIECE`.
const INFLATED: usize = 128;

#[cfg(not(target_family = "wasm"))]
type Compressor = zstd::bulk::Compressor<'static>;

#[derive(Clone)]
enum PackedPiece {
    Plain(Arc<str>),
    /// The bytes, and the length of the decompressed text in bytes.
    Compressed(Arc<[u8]>, usize),
}

#[derive(Clone, Copy)]
struct PackedPlace {
    digest: u128,
    piece: u32,
    start: u32,
    length: u32,
    form: u32,
}

/// The literals of a worker, in pieces of its own.
pub(super) struct Packer {
    digests: KeyedDigests,
    /// The size of the text of all workers in bytes, up to [`PLAIN`].
    plain: Arc<AtomicUsize>,
    forms: TextForms,
    open: String,
    pieces: Vec<PackedPiece>,
    places: Vec<PackedPlace>,
    compressor: Option<Compressor>,
}

impl Packer {
    /// Creates the packer of a worker.
    pub fn new(literals: &PackedLiterals) -> Self {
        Self {
            digests: literals.digests,
            plain: literals.plain.clone(),
            forms: TextForms::default(),
            open: String::new(),
            pieces: Vec::new(),
            places: Vec::new(),
            compressor: Compressor::new(1).ok(),
        }
    }

    /// Returns the first 64 bits of a literal's digest.
    pub fn digest(&self, form: TextForm<'_>, text: &str) -> u64 {
        self.digests.digest((form, text)) as u64
    }

    /// Adds a literal and returns its number in this worker's chunk.
    pub fn add(&mut self, form: TextForm<'_>, text: &str) -> u32 {
        let digest = self.digests.digest((form, text));
        let form = self.forms.add(form);
        if !self.open.is_empty() && self.open.len() + text.len() > PIECE {
            self.close();
        }
        let number = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (piece, start, length) = (short(self.pieces.len()), short(self.open.len()), short(text.len()));
        self.places.push(PackedPlace { digest, piece, start, length, form });
        self.open.push_str(text);
        number
    }

    /// Ends the open piece.
    pub fn close(&mut self) {
        if self.open.is_empty() && self.places.last().is_none_or(|place| (place.piece as usize) < self.pieces.len()) {
            return;
        }
        let text = self.open.as_str();
        let is_plain = self.plain.load(Ordering::Relaxed) < PLAIN;
        let compressed = match &mut self.compressor {
            Some(compressor) if !is_plain => compressor.compress(text.as_bytes()).ok(),
            _ => None,
        };
        if is_plain {
            self.plain.fetch_add(text.len(), Ordering::Relaxed);
        }
        self.pieces.push(match compressed.filter(|compressed| compressed.len() < text.len()) {
            Some(compressed) => PackedPiece::Compressed(compressed.into(), text.len()),
            None => PackedPiece::Plain(text.into()),
        });
        self.open.clear();
        self.open.shrink_to(2 * PIECE);
    }

    pub fn clear(&mut self) {
        self.open.clear();
        self.pieces.clear();
        self.places.clear();
    }
}

/// Decompressed pieces, the last used at the end.
type PieceCache = VecDeque<(u32, Arc<str>)>;

/// Long literals, each stored once.
#[derive(Default)]
pub(super) struct PackedLiterals {
    digests: KeyedDigests,
    plain: Arc<AtomicUsize>,
    forms: TextForms,
    pieces: Vec<PackedPiece>,
    places: Vec<PackedPlace>,
    table: HashTable<u32>,
    inflated: Mutex<PieceCache>,
}

impl PackedLiterals {
    /// Takes the literals of a worker, and returns their final numbers in the order of the worker's numbers.
    pub fn take(&mut self, packer: &Packer) -> Vec<u32> {
        let behind = u32::try_from(self.pieces.len()).unwrap_or(u32::MAX);
        let forms: Vec<u32> = (0..)
            .map_while(|number| {
                let form = packer.forms.form(number);
                (packer.forms.find(form) == Some(number)).then(|| self.forms.add(form))
            })
            .collect();
        let mut is_used = vec![false; packer.pieces.len()];
        let Self { places, table, .. } = self;
        let taken = packer.places.iter().map(|place| {
            let digest_of = |number: &u32| places.get(*number as usize).map(|place: &PackedPlace| place.digest);
            let is_same = |number: &u32| digest_of(number) == Some(place.digest);
            match table.entry(place.digest as u64, is_same, |number| digest_of(number).unwrap_or_default() as u64) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    let number = u32::try_from(places.len()).unwrap_or(u32::MAX);
                    entry.insert(number);
                    is_used.get_mut(place.piece as usize).into_iter().for_each(|is_used| *is_used = true);
                    let form = forms.get(place.form as usize).copied().unwrap_or_default();
                    places.push(PackedPlace { piece: behind.saturating_add(place.piece), form, ..*place });
                    number
                }
            }
        });
        let taken = taken.collect();
        self.pieces.extend(packer.pieces.iter().zip(is_used).map(|(piece, is_used)| match piece {
            piece if is_used => piece.clone(),
            // All its literals were known.
            piece => {
                if let PackedPiece::Plain(text) = piece {
                    self.plain.fetch_sub(text.len(), Ordering::Relaxed);
                }
                PackedPiece::Plain("".into())
            }
        }));
        taken
    }

    /// Returns the number of a literal, if it is stored.
    pub fn find(&self, form: TextForm<'_>, text: &str) -> Option<u32> {
        let digest = self.digests.digest((form, text));
        let is_same = |number: &u32| self.places.get(*number as usize).is_some_and(|place| place.digest == digest);
        self.table.find(digest as u64, is_same).copied()
    }

    pub fn get(&self, number: u32) -> (TextForm<'_>, Cow<'_, str>) {
        let Some(place) = self.places.get(number as usize) else { return (TextForm::Text, "".into()) };
        let (start, end) = (place.start as usize, place.start as usize + place.length as usize);
        let text = match self.pieces.get(place.piece as usize) {
            Some(PackedPiece::Plain(text)) => text.get(start..end).unwrap_or_default().into(),
            Some(PackedPiece::Compressed(bytes, length)) => {
                let text = self.inflated(place.piece, bytes, *length);
                text.get(start..end).unwrap_or_default().to_owned().into()
            }
            None => "".into(),
        };
        (self.forms.form(place.form), text)
    }

    /// Returns the text of a compressed piece.
    fn inflated(&self, number: u32, bytes: &[u8], length: usize) -> Arc<str> {
        let cache = || self.inflated.lock().unwrap_or_else(PoisonError::into_inner);
        let mut inflated = cache();
        if let Some(place) = inflated.iter().rposition(|(known, _)| *known == number)
            && let Some(known) = inflated.remove(place)
        {
            let text = known.1.clone();
            inflated.push_back(known);
            return text;
        }
        // Other threads find what they need meanwhile.
        drop(inflated);
        let text = Decompressor::new().and_then(|mut inflate| inflate.decompress(bytes, length)).unwrap_or_default();
        let text: Arc<str> = String::from_utf8(text).unwrap_or_default().into();
        if text.len() <= 4 * PIECE {
            let mut inflated = cache();
            if inflated.len() == INFLATED {
                inflated.pop_front();
            }
            inflated.push_back((number, text.clone()));
        }
        text
    }
}
