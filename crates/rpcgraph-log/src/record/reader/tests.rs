#![cfg(test)]
//! Entries of every kind of memory, and their order.

use super::super::Record;
use super::*;
use std::borrow::Cow;

/// Gives one entry for each kind of memory: borrowed from the input, owned, and static.
struct Lender(u8);

impl Decoder for Lender {
    fn step<'a>(&mut self, input: &'a [u8], _: bool) -> Step<'a> {
        let Some(key) = input.get(..2).and_then(|key| std::str::from_utf8(key).ok()) else { return Step::NeedMore };
        self.0 += 1;
        let (consumed, bytes, session) = match self.0 {
            1 => (0, Cow::Borrowed(&input[2..4]), Cow::Borrowed(key)),
            2 => (0, Cow::Owned(b"own".to_vec()), Cow::Owned("own".to_owned())),
            _ => (input.len(), Cow::Borrowed(&b"static"[..]), Cow::Borrowed("static")),
        };
        Step::entry(2, consumed, Record { session: Some(session), ..Record::new(bytes) })
    }
}

#[test]
fn entries_from_any_memory() {
    let options = ReaderOptions::default().with_format(Format::JsonLines);
    let mut reader = Reader::new(&b"k\nv\n"[..], &options).unwrap();
    reader.current.decoder = CappedDecoder::new(Box::new(Lender(0)), usize::MAX);
    for (number, (bytes, session)) in (1..).zip([("v\n", "k\n"), ("own", "own"), ("static", "static")]) {
        let Some(Entry::Record(record)) = reader.next_entry().unwrap() else { panic!() };
        assert_eq!((&*record.bytes, record.session.as_deref()), (bytes.as_bytes(), Some(session)));
        assert_eq!(record.location, Location { record: number, line: 2, byte: 2 });
    }
    assert_eq!(reader.next_entry().unwrap(), None);
}

#[test]
fn indented_text_is_not_before_an_entry_at_the_same_place() {
    let options = ReaderOptions::default().with_format(Format::ContentLength);
    let mut reader = Reader::new(&b"Content-Type: application/json\n {\"a\":oops\n  x\n"[..], &options).unwrap();
    let mut given = Vec::new();
    while let Some(entry) = reader.next_entry().unwrap() {
        given.push((entry.location().byte, entry.bytes().to_vec()));
    }
    assert_eq!(given, [(32, b"".to_vec()), (32, b"{\"a\":oops".to_vec()), (42, b"  x".to_vec())]);
}

#[test]
fn the_buffer_grows_for_large_records_only() {
    let small = "{\"a\":1}\n".repeat(100_000);
    let mut reader = Reader::new(small.as_bytes(), &ReaderOptions::default()).unwrap();
    while reader.next_entry().unwrap().is_some() {}
    assert_eq!(reader.current.buffer.len(), CHUNK);

    let large = format!("{}\n{small}", "x".repeat(1_000_000));
    let mut reader = Reader::new(large.as_bytes(), &ReaderOptions::default()).unwrap();
    while reader.next_entry().unwrap().is_some() {}
    assert!(reader.current.buffer.len() <= 2_000_000 + CHUNK);
    // The first line is text.
    assert_eq!(reader.record_count(), 100_000);
}

#[test]
fn memory_is_bounded_by_the_largest_record() {
    for (format, head) in [("json-lines", "x"), ("json-values", "[\n"), ("json-values", "x"), ("arrows", ">> {")] {
        let input = io::Cursor::new(head).chain(io::repeat(b' ').take(5_000_000)).chain(&b"1]\n[2]\n"[..]);
        let format = Format::from_name(format).unwrap();
        let options = ReaderOptions::default().with_format(format).with_max_record_size(1000);
        let mut reader = Reader::new(input, &options).unwrap();
        let Some(Entry::Record(record)) = reader.next_entry().unwrap() else { panic!() };
        assert!(record.flags.oversized && record.length > 5_000_000 && record.bytes.is_empty());
        assert!(reader.next_entry().unwrap().is_some());
        assert_eq!(reader.next_entry().unwrap(), None);
        assert!(reader.current.buffer.len() <= 1000 + 3 * CHUNK);
    }
}
