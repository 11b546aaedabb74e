//! RDF terms as numbers: most terms of a log are encoded in the number itself, without a look-up.
//!
//! | term | content of the number |
//! |---|---|
//! | `BASE#m7.2-id` and the like | base, 12 bits; record or line, 31; 0, 1; element, 14; kind of node of a message, 2 |
//! | `BASE#m7-content3` and the like | base, 12 bits; record, 31; 1, 1; kind, 4; index, 12 |
//! | a blank node of a record | input, 12 bits; record, 32; index, 16 |
//! | `xsd:integer`, `xsd:decimal` | value, and number of digits after the point |
//! | `xsd:dateTime`, `xsd:time`, in UTC or without a zone | microseconds, and number of zeros that end the fraction |
//! | a string of at most 7 bytes | the bytes |
//! | a literal of which a query needs only the values of functions | index of the row of these values |
//! | anything else | index in the store of texts |
//!
//! A literal is encoded only if the number restores its exact spelling, so that equal numbers are equal terms, and
//! equal terms have equal numbers. All nodes of a record come before the nodes of the next, which is nearly the order in
//! which columns are filled.

use oxrdf::vocab::xsd;

use super::kept::TextForm;
use crate::record::units::{civil, days};
use crate::session::Name;
use crate::session::triples::{BlankName, NodeRef, PartKind, ProtocolPart};

/// An RDF term as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermId(pub(super) u64);

/// The meaning of a number.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TermMeaning {
    /// A node of an input, with the number of the base.
    Node(u16, NodeRef<'static>),
    Blank(BlankName),
    /// A literal: text and datatype.
    Literal(String, &'static str),
    /// A term stored under that number.
    Kept(u32),
    /// A literal stored compressed under that number.
    Packed(u32),
}

const TAG: u32 = 60;
const NODE: u64 = 0;
const LINE: u64 = 1;
const BLANK: u64 = 2;
const INTEGER: u64 = 3;
const DECIMAL: u64 = 4;
const DATE_TIME: u64 = 5;
const TIME: u64 = 6;
const SHORT: u64 = 7;
const KEPT: u64 = 8;
const PACKED: u64 = 9;
const VALUES: u64 = 10;
const COMPUTED: u64 = 11;

/// The datatype of a literal that stands for a row of values. It contains a space, so that no other literal has it.
const VALUES_TYPE: &str = "computed values";

/// The bit of a node that is a part of a message.
const IS_PART: u64 = 1 << 16;

/// The maximum number of bases that can be encoded.
pub(super) const BASES: usize = 1 << 12;

/// Encodes a signed value in the low `bits` of a number; `None` if it does not fit.
fn signed(value: i64, bits: u32) -> Option<u64> {
    let half = 1_i64 << (bits - 1);
    (-half..half).contains(&value).then(|| value.cast_unsigned() & ((1 << bits) - 1))
}

/// Decodes a value encoded by [`signed`].
fn to_signed(number: u64, bits: u32) -> i64 {
    (number << (64 - bits)).cast_signed() >> (64 - bits)
}

/// Extracts bits of a number.
fn bits(number: u64, from: u32, count: u32) -> u64 {
    (number >> from) & ((1 << count) - 1)
}

impl TermId {
    /// The value of an unbound variable.
    pub const UNBOUND: Self = Self(u64::MAX);

    fn new(tag: u64, rest: u64) -> Self {
        Self(tag << TAG | rest)
    }

    /// Creates the number of a stored term.
    pub(super) fn from_stored(number: u32) -> Self {
        Self::new(KEPT, number.into())
    }

    /// Creates the number of a literal that is stored compressed.
    pub(super) fn packed(number: u32) -> Self {
        Self::new(PACKED, number.into())
    }

    /// Creates the number of a literal that is stored as a row of values.
    pub(super) fn values(row: usize) -> Self {
        Self::new(VALUES, u32::try_from(row).unwrap_or(u32::MAX).into())
    }

    /// Returns the row of a literal that is stored as values.
    pub(super) fn as_values(self) -> Option<usize> {
        (self.0 >> TAG == VALUES).then(|| usize::try_from(bits(self.0, 0, 32)).unwrap_or_default())
    }

    /// Creates the number of a node in an input whose base has a number; `None` if record, element or index do not fit, if
    /// it is a part of a message in a batch, or if the node is of another kind.
    pub(super) fn node(base: u16, node: NodeRef<'_>) -> Option<Self> {
        let (tag, name, low) = match node {
            NodeRef::Message(name) => (NODE, name, 0),
            NodeRef::Id(name) => (NODE, name, 1),
            NodeRef::Error(name) => (NODE, name, 2),
            NodeRef::Part(name, ProtocolPart::OPERATION) => (NODE, name, 3),
            NodeRef::Part(name, ProtocolPart { kind, index }) if name.element.is_none() && index < 1 << 12 => {
                (NODE, name, IS_PART | (kind as u64) << 12 | u64::from(index))
            }
            NodeRef::LogLine(line, nth) => (LINE, Name { record: line, element: nth }, 0),
            _ => return None,
        };
        let element = match name.element {
            None => 0,
            Some(element @ 1..0x4000) => u64::from(element),
            Some(_) => return None,
        };
        let fits = name.record < 1 << 31;
        fits.then(|| Self::new(tag, u64::from(base) << 48 | name.record << 17 | element << 2 | low))
    }

    /// Parses an IRI in the form of an input's nodes into the base and the node.
    pub(super) fn parse_node(iri: &str) -> Option<(&str, NodeRef<'static>)> {
        let (base, fragment) = iri.rsplit_once('#')?;
        let kind = fragment.bytes().next().filter(|kind| matches!(kind, b'm' | b'l'))?;
        let (name, part) = match fragment.get(1..)?.split_once('-') {
            Some((name, part)) => (name, Some(part)),
            None => (fragment.get(1..)?, None),
        };
        let (record, element) = match name.split_once('.') {
            Some((record, element)) => (record, Some(element)),
            None => (name, None),
        };
        let element = match element {
            Some(element) => Some(u32::try_from(counted(element)?).ok()?),
            None => None,
        };
        let record = counted(record)?;
        let name = Name { record, element };
        let node = match (kind, part) {
            (b'm', None) => NodeRef::Message(name),
            (b'm', Some("id")) => NodeRef::Id(name),
            (b'm', Some("error")) => NodeRef::Error(name),
            (b'm', Some(part)) => NodeRef::Part(name, parse_part(part)?),
            (b'l', None) => NodeRef::LogLine(record, element),
            _ => return None,
        };
        Some((base, node))
    }

    /// Creates the number of a record's blank node.
    pub(super) fn blank(blank: BlankName) -> Option<Self> {
        let fits = blank.input < 1 << 12 && blank.record < 1 << 32 && blank.index < 1 << 16;
        fits.then(|| Self::new(BLANK, u64::from(blank.input) << 48 | blank.record << 16 | u64::from(blank.index)))
    }

    /// Parses the label of a record's blank node.
    pub(super) fn parse_blank(label: &str) -> Option<Self> {
        let (input, rest) = match label.strip_prefix('i') {
            Some(rest) => {
                let (input, _) = rest.split_once('m')?;
                (counted(input)?.checked_sub(1).filter(|input| *input > 0)?, rest.get(input.len()..)?)
            }
            None => (0, label),
        };
        let (record, index) = rest.strip_prefix('m')?.split_once('b')?;
        let (record, index) = (counted(record)?, counted(index)?);
        Self::blank(BlankName { input: u32::try_from(input).ok()?, record, index: u32::try_from(index).ok()? })
    }

    /// Creates the number of an integer that the program counts.
    pub(super) fn integer(value: u64) -> Option<Self> {
        Some(Self::new(INTEGER, signed(i64::try_from(value).ok()?, TAG)?))
    }

    /// Creates the number of an `xsd:integer`.
    pub fn signed_integer(value: i64) -> Option<Self> {
        Some(Self::new(INTEGER, signed(value, TAG)?))
    }

    /// Creates the number of a term that a query has computed, by its number in the query.
    pub fn computed(number: u32) -> Self {
        Self::new(COMPUTED, number.into())
    }

    /// Returns the number of a computed term in its query.
    pub fn as_computed(self) -> Option<u32> {
        (self.0 >> TAG == COMPUTED).then(|| u32::try_from(bits(self.0, 0, 32)).unwrap_or_default())
    }

    /// Returns the bits of the number.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// Returns the number with these bits, which came from [`to_bits`](Self::to_bits).
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns true if the number stands for a term.
    pub fn is_bound(self) -> bool {
        self != Self::UNBOUND
    }

    /// Creates the number of a literal; `None` if it cannot be encoded.
    pub(super) fn literal(form: TextForm<'_>, text: &str) -> Option<Self> {
        match form {
            TextForm::Text => Self::text(text),
            TextForm::Typed(datatype) => Self::typed(text, datatype),
            TextForm::Iri | TextForm::Blank | TextForm::Tagged(_) => None,
        }
    }

    /// Creates the number of a short string.
    fn text(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        (bytes.len() <= 7).then(|| {
            let value = bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
            Self::new(SHORT, (bytes.len() as u64) << 56 | value)
        })
    }

    /// Creates the number of a literal with another datatype, if the number restores its text.
    fn typed(lexical: &str, datatype: &str) -> Option<Self> {
        if datatype == VALUES_TYPE {
            Some(Self::values(lexical.parse().ok()?))
        } else if datatype == xsd::DECIMAL.as_str() {
            let (value, digits) = decimal(lexical)?;
            Some(Self::new(DECIMAL, u64::from(digits) << 54 | signed(value, 54)?))
        } else if datatype == xsd::INTEGER.as_str() {
            Self::signed_integer(integer(lexical)?)
        } else if datatype == xsd::DATE_TIME.as_str() {
            let (day, time) = lexical.split_once('T')?;
            let (local, zone) = match time.strip_suffix('Z') {
                Some(local) => (local, 1),
                None => (time, 0),
            };
            let (micros, zeros) = clock(local)?;
            let micros = date(day)?.checked_mul(DAY)?.checked_add(micros)?;
            Some(Self::new(DATE_TIME, zeros << 57 | zone << 56 | signed(micros, 56)?))
        } else if datatype == xsd::TIME.as_str() {
            let (micros, zeros) = clock(lexical)?;
            Some(Self::new(TIME, zeros << 57 | signed(micros, 56)?))
        } else {
            None
        }
    }

    /// Decodes the number.
    pub(super) fn unpack(self) -> TermMeaning {
        let number = self.0;
        let index = || u32::try_from(bits(number, 0, 32)).unwrap_or_default();
        match number >> TAG {
            tag @ (NODE | LINE) => {
                let base = u16::try_from(bits(number, 48, 12)).unwrap_or_default();
                let record = bits(number, 17, 31);
                if number & IS_PART != 0 {
                    let kind = usize::try_from(bits(number, 12, 4)).ok().and_then(|kind| PartKind::ALL.get(kind));
                    let index = u32::try_from(bits(number, 0, 12)).unwrap_or_default();
                    let part = kind.map_or(ProtocolPart::OPERATION, |(kind, _)| ProtocolPart { kind: *kind, index });
                    return TermMeaning::Node(base, NodeRef::Part(Name { record, element: None }, part));
                }
                let element = u32::try_from(bits(number, 2, 14)).ok().filter(|element| *element > 0);
                let name = Name { record, element };
                TermMeaning::Node(
                    base,
                    match (tag, bits(number, 0, 2)) {
                        (LINE, _) => NodeRef::LogLine(name.record, element),
                        (_, 0) => NodeRef::Message(name),
                        (_, 1) => NodeRef::Id(name),
                        (_, 2) => NodeRef::Error(name),
                        _ => NodeRef::Part(name, ProtocolPart::OPERATION),
                    },
                )
            }
            BLANK => TermMeaning::Blank(BlankName {
                input: u32::try_from(bits(number, 48, 12)).unwrap_or_default(),
                record: bits(number, 16, 32),
                index: u32::try_from(bits(number, 0, 16)).unwrap_or_default(),
            }),
            INTEGER => TermMeaning::Literal(to_signed(number, TAG).to_string(), xsd::INTEGER.as_str()),
            DECIMAL => {
                let digits = usize::try_from(bits(number, 54, 6)).unwrap_or_default();
                let value = to_signed(number, 54);
                let sign = if value < 0 { "-" } else { "" };
                let text = format!("{:0width$}", value.unsigned_abs(), width = digits + 1);
                let (whole, fraction) = text.split_at(text.len() - digits);
                let point = if digits > 0 { "." } else { "" };
                TermMeaning::Literal(format!("{sign}{whole}{point}{fraction}"), xsd::DECIMAL.as_str())
            }
            DATE_TIME => {
                let micros = to_signed(number, 56);
                let (year, month, day) = civil(micros.div_euclid(DAY));
                let time = clock_text(micros.rem_euclid(DAY), bits(number, 57, 3));
                let zone = if bits(number, 56, 1) == 1 { "Z" } else { "" };
                let text = format!("{year:04}-{month:02}-{day:02}T{time}{zone}");
                TermMeaning::Literal(text, xsd::DATE_TIME.as_str())
            }
            TIME => TermMeaning::Literal(clock_text(to_signed(number, 56), bits(number, 57, 3)), xsd::TIME.as_str()),
            SHORT => {
                let length = usize::try_from(bits(number, 56, 4)).unwrap_or_default();
                let bytes = number.to_be_bytes();
                let bytes = bytes.get(bytes.len() - length..).unwrap_or_default();
                TermMeaning::Literal(String::from_utf8_lossy(bytes).into_owned(), xsd::STRING.as_str())
            }
            KEPT => TermMeaning::Kept(index()),
            VALUES => TermMeaning::Literal(index().to_string(), VALUES_TYPE),
            _ => TermMeaning::Packed(index()),
        }
    }

    /// Converts a worker's number into the final number: `kept`, `packed` and `values` map the stored terms.
    pub(super) fn here(self, kept: &[Self], packed: &[u32], values: &[usize]) -> Self {
        let index = usize::try_from(bits(self.0, 0, 32)).unwrap_or_default();
        match self.0 >> TAG {
            KEPT => kept.get(index).copied().unwrap_or(self),
            PACKED => packed.get(index).copied().map_or(self, Self::packed),
            VALUES => values.get(index).copied().map_or(self, Self::values),
            _ => self,
        }
    }

    /// Returns the value of an integer, for counting and sorting.
    pub fn as_integer(self) -> Option<i64> {
        (self.0 >> TAG == INTEGER).then(|| to_signed(self.0, TAG))
    }

    /// Returns the microseconds of an `xsd:dateTime`, and true if it has a time zone.
    pub fn as_date_time(self) -> Option<(i64, bool)> {
        (self.0 >> TAG == DATE_TIME).then(|| (to_signed(self.0, 56), bits(self.0, 56, 1) == 1))
    }

    /// Returns the digits of a decimal, and the number of digits after the point.
    pub fn as_decimal(self) -> Option<(i64, u32)> {
        (self.0 >> TAG == DECIMAL)
            .then(|| (to_signed(self.0, 54), u32::try_from(bits(self.0, 54, 6)).unwrap_or_default()))
    }
}

/// Parses the name of a part, after the hyphen.
fn parse_part(name: &str) -> Option<ProtocolPart> {
    let end = name.find(|character: char| character.is_ascii_digit()).unwrap_or(name.len());
    let (kind, index) = name.split_at(end);
    let (kind, _) = PartKind::ALL.into_iter().find(|(_, suffix)| suffix.strip_prefix('-') == Some(kind))?;
    let index = match index {
        "" => 0,
        index => u32::try_from(counted(index)?).ok().filter(|index| *index > 0)?,
    };
    Some(ProtocolPart { kind, index })
}

/// Parses a count without leading zeros.
fn counted(digits: &str) -> Option<u64> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits.len() == 1 || !digits.starts_with('0'));
    if plain { digits.parse().ok() } else { None }
}

/// Parses an integer in its only spelling.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_one_spelling = !digits.starts_with('0') || text == "0";
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_one_spelling && is_plain { text.parse().ok() } else { None }
}

/// Parses a decimal into its digits and the number of digits after the point. Returns `None` if this is not its only
/// spelling, or for more than 15 digits.
fn decimal(text: &str) -> Option<(i64, u8)> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (digits, ""),
    };
    let is_plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_one_spelling = !whole.is_empty() && (whole.len() == 1 || !whole.starts_with('0'));
    if !is_one_spelling || !is_plain(whole) || !is_plain(fraction) || whole.len() + fraction.len() > 15 {
        return None;
    }
    let digits = whole.bytes().chain(fraction.bytes());
    let value = digits.fold(0_i64, |value, digit| value * 10 + i64::from(digit - b'0'));
    if negative && value == 0 {
        return None;
    }
    Some((if negative { -value } else { value }, u8::try_from(fraction.len()).ok()?))
}

/// The microseconds in a day.
const DAY: i64 = 86_400_000_000;

/// Parses a text of digits only.
fn digits(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))
}

/// Parses `HH:MM:SS`, with at most six digits after a point, into microseconds and the number of zeros at the end.
fn clock(text: &str) -> Option<(i64, u64)> {
    let text = text.as_bytes();
    let (whole, fraction) = text.split_at_checked(8)?;
    let [hour @ .., b':', m1, m2, b':', s1, s2] = whole else { return None };
    let (hour, minute, second) = (digits(hour)?, digits(&[*m1, *m2])?, digits(&[*s1, *s2])?);
    let fraction = match fraction {
        [] => fraction,
        [b'.', rest @ ..] if !rest.is_empty() && rest.len() <= 6 => rest,
        _ => return None,
    };
    let scale = u32::try_from(6 - fraction.len()).ok()?;
    let micros = digits(fraction)? * 10_i64.pow(scale);
    let in_range = hour < 24 && minute < 60 && second < 60;
    let zeros = fraction.len() as u64 - fraction_digits(micros);
    in_range.then_some((((hour * 60 + minute) * 60 + second) * 1_000_000 + micros, zeros))
}

/// Returns the least number of digits after the point that microseconds need.
fn fraction_digits(micros: i64) -> u64 {
    (1..=6).rev().find(|digits| micros / 10_i64.pow(6 - digits) % 10 != 0).unwrap_or_default().into()
}

fn clock_text(micros: i64, zeros: u64) -> String {
    let digits = fraction_digits(micros) + zeros;
    let seconds = micros / 1_000_000;
    let mut text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if digits > 0 {
        text.push('.');
        text.push_str(&format!("{:06}", micros % 1_000_000));
        text.truncate(9 + usize::try_from(digits).unwrap_or_default());
    }
    text
}

/// Parses `YYYY-MM-DD` into days since 1970-01-01.
fn date(text: &str) -> Option<i64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return None };
    let (year, month, day) = (digits(&[*y1, *y2, *y3, *y4])?, digits(&[*m1, *m2])?, digits(&[*d1, *d2])?);
    let in_range = (1..=12).contains(&month) && day >= 1;
    let days = in_range.then(|| days(year, month, day))?;
    // Only an existing day survives the round trip.
    (civil(days) == (year, month, day)).then_some(days)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(id: TermId) -> String {
        match id.unpack() {
            TermMeaning::Literal(text, _) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_literal_has_a_number_in_one_spelling_only() {
        let table = [
            (
                xsd::INTEGER,
                vec!["0", "7", "-7", "100000000000000", "-576460752303423488"],
                vec!["07", "-0", "+7", "", "-", "1.0", "1."],
            ),
            (
                xsd::DECIMAL,
                vec!["0", "15", "1.50", "0.001", "-0.5", "0.0", "123456789.012345"],
                vec!["-0.0", "00.5", ".5", "5.", "+1", "1e3", "1234567890.0123456"],
            ),
            (
                xsd::DATE_TIME,
                vec!["2026-01-05T10:00:00Z", "2024-02-29T23:59:59.123456", "1969-12-31T23:59:59.50Z"],
                vec![
                    "2026-01-05T10:00:00+00:00",
                    "2023-02-29T00:00:00Z",
                    "2026-13-01T00:00:00Z",
                    "2026-00-01T00:00:00Z",
                    "2026-01-05T24:00:00Z",
                    "2026-01-05T10:00:60Z",
                    "2026-01-05T10:00:00.1234567Z",
                    "2026-01-05T10:00:00.Z",
                    "0001-01-05T10:00:00Z",
                ],
            ),
            (xsd::TIME, vec!["00:00:00", "23:59:59.9"], vec!["23:59:59Z", "1:00:00"]),
        ];
        for (datatype, good, bad) in table {
            for lexical in good {
                assert_eq!(TermId::typed(lexical, datatype.as_str()).map(text).as_deref(), Some(lexical));
            }
            for lexical in bad {
                assert_eq!(TermId::typed(lexical, datatype.as_str()), None, "{lexical}");
            }
        }
    }

    #[test]
    fn nodes_and_strings_come_back() {
        let name = |record, element| Name { record, element };
        for node in [
            NodeRef::Message(name(0, None)),
            NodeRef::Id(name(i32::MAX as u64, Some(0x3fff))),
            NodeRef::Error(name(7, Some(1))),
            NodeRef::Part(name(8, None), ProtocolPart::OPERATION),
            NodeRef::Part(name(8, Some(2)), ProtocolPart::OPERATION),
            NodeRef::Part(name(i32::MAX as u64, None), ProtocolPart { kind: PartKind::Diagnostic, index: 4095 }),
            NodeRef::Part(name(7, None), ProtocolPart { kind: PartKind::Result, index: 0 }),
            NodeRef::Part(name(7, None), ProtocolPart { kind: PartKind::Content, index: 10 }),
            NodeRef::LogLine(12, Some(2)),
            NodeRef::LogLine(12, None),
        ] {
            let iri = format!("http://e/#x{node}");
            assert_eq!(TermId::parse_node(&iri), Some(("http://e/#x", node)));
            assert_eq!(TermId::node(7, node).map(TermId::unpack), Some(TermMeaning::Node(7, node)));
        }
        for iri in [
            "http://e/#m07",
            "http://e/#m7.",
            "http://e/#m7-x",
            "http://e/#l7-id",
            "http://e/m7",
            "x#m-id",
            "x#m7.1.2",
            "x#m7-tool0",
            "x#m7-tool01",
            "x#m7-tool1x",
            "x#m7-",
            "x#m7-Tool1",
        ] {
            assert_eq!(TermId::parse_node(iri), None, "{iri}");
        }
        for text_of in ["", "a", "1234567", "ü€", "\0"] {
            assert_eq!(TermId::text(text_of).map(text).as_deref(), Some(text_of));
        }
        assert_eq!(TermId::text("12345678"), None);
        for label in ["m7b0", "i2m7b3"] {
            let Some(TermMeaning::Blank(blank)) = TermId::parse_blank(label).map(TermId::unpack) else {
                panic!("{label}")
            };
            assert_eq!(blank.to_string(), label);
        }
        for label in ["m7", "i1m7b0", "i0m7b0", "m07b0", "im7b0", "m7b", "x"] {
            assert_eq!(TermId::parse_blank(label), None, "{label}");
        }
    }

    proptest! {
        #[test]
        fn packed_literals_unpack_unchanged(
            lexical in "-?[0-9]{1,3}(\\.[0-9]{0,3})?|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,7})?Z?",
        ) {
            for datatype in [xsd::INTEGER, xsd::DECIMAL, xsd::DATE_TIME, xsd::TIME] {
                if let Some(id) = TermId::typed(&lexical, datatype.as_str()) {
                    prop_assert_eq!(id.unpack(), TermMeaning::Literal(lexical.clone(), datatype.as_str()));
                }
            }
        }
    }
}
