//! Writers of a wrapped log that wrote one direction of a connection each, as where each end of a pipe has a tag of its own.

use super::Direction;
use super::object::{RawObject, objects};
use super::surroundings::named_direction;
use memchr::memchr;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Returns the writers that each belong to the connection of another writer, given the lines at the beginning of a log, each
/// with its writer: the two answer each other, and neither of them answers itself more often, or says of some messages that it
/// sent them and of some that it received them.
pub(super) fn one_way_writers(texts: &[(String, Vec<u8>)]) -> BTreeMap<String, String> {
    let mut open: HashMap<Vec<u8>, BTreeSet<String>> = HashMap::new();
    let mut pairs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // By writer, the answers to requests that only others wrote, without those to requests that it wrote itself.
    let mut crossed: HashMap<String, i64> = HashMap::new();
    let mut first_seen: Vec<String> = Vec::new();
    // By writer, the directions that the words before messages name.
    let mut named: HashMap<String, Vec<Direction>> = HashMap::new();
    for (writer, text) in texts {
        if !first_seen.contains(writer) {
            first_seen.push(writer.clone());
        }
        let start = memchr(b'{', text).unwrap_or(text.len());
        let (front, message) = text.split_at(start);
        if !message.is_empty() {
            let front = String::from_utf8_lossy(front);
            let words = front.rsplit(|letter: char| !letter.is_ascii_alphabetic()).filter(|word| word.len() > 3);
            let direction = words.take(4).find_map(named_direction);
            named.entry(writer.clone()).or_default().extend(direction);
        }
        for object in objects(message).filter(RawObject::is_whole) {
            let Some(id) = object.get("id").filter(|id| *id != b"null") else { continue };
            let askers = open.entry(id.to_vec()).or_default();
            if object.has("method") {
                askers.insert(writer.clone());
                continue;
            }
            // Both sides of a connection may use the same ids.
            if askers.remove(writer) {
                *crossed.entry(writer.clone()).or_default() -= 1;
                continue;
            }
            // An answer without a request belongs to no other writer.
            let others = if askers.is_empty() { [writer.clone()].into() } else { std::mem::take(askers) };
            for other in others {
                for one in [writer, &other] {
                    *crossed.entry(one.clone()).or_default() += 1;
                }
                pairs.entry(writer.clone()).or_default().insert(other.clone());
                pairs.entry(other).or_default().insert(writer.clone());
            }
        }
    }
    let is_both_ways = |writer: &String| {
        let names = |direction| named.get(writer).is_some_and(|named| named.contains(&direction));
        names(Direction::Out) && names(Direction::In)
    };
    let is_crossed = |writer: &String| crossed.get(writer).is_some_and(|more| *more >= 0);
    let only = |writer: &String| {
        pairs.get(writer).filter(|others| others.len() == 1 && !is_both_ways(writer) && is_crossed(writer))?.first()
    };
    let position = |writer: &String| first_seen.iter().position(|known| known == writer);
    let is_later = |(writer, other): &(String, String)| position(other) < position(writer);
    pairs
        .keys()
        .filter_map(|writer| Some((writer.clone(), only(writer).filter(|other| only(other) == Some(writer))?.clone())))
        .filter(is_later)
        .collect()
}
