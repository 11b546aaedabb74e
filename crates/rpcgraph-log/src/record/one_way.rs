//! Writers of a wrapped log that wrote one direction of a connection each, as where each end of a pipe has a tag of its own.

use super::Wrapper;
use super::object::{RawObject, objects};
use super::unwrapped::UnwrappedLog;
use memchr::memchr;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Returns the writers that each belong to the connection of another writer, given the beginning of a log: the two answer
/// each other, and neither of them answers itself, or has what the other has.
pub(super) fn one_way_writers(wrappers: &[Wrapper], head: &[u8]) -> BTreeMap<String, String> {
    // The writers of open requests, with their methods.
    let mut open: HashMap<Vec<u8>, BTreeMap<String, Vec<u8>>> = HashMap::new();
    let mut pairs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut first_seen: Vec<String> = Vec::new();
    for (writer, text) in UnwrappedLog::texts(wrappers, head) {
        if !first_seen.contains(&writer) {
            first_seen.push(writer.clone());
        }
        let message = memchr(b'{', &text).map_or(&[][..], |start| &text[start..]);
        for object in objects(message).filter(RawObject::is_whole) {
            let Some(id) = object.get("id").filter(|id| *id != b"null") else { continue };
            let askers = open.entry(id.to_vec()).or_default();
            if let Some(method) = object.get("method") {
                askers.insert(writer.clone(), method.to_vec());
                continue;
            }
            // An answer without a request belongs to no other writer, nor does one of a writer with a copy of the request.
            let own = askers.get(&writer);
            let is_copy = askers.iter().any(|(asker, method)| *asker != writer && Some(method) == own);
            let others: BTreeSet<_> = askers.keys().filter(|asker| **asker != writer).cloned().collect();
            let others = if others.is_empty() || is_copy { [writer.clone()].into() } else { others };
            for other in others {
                askers.remove(&other);
                pairs.entry(writer.clone()).or_default().insert(other.clone());
                pairs.entry(other).or_default().insert(writer.clone());
            }
        }
    }
    let only = |writer: &String| pairs.get(writer).filter(|others| others.len() == 1)?.first();
    let position = |writer: &String| first_seen.iter().position(|known| known == writer);
    let is_later = |(writer, other): &(String, String)| position(other) < position(writer);
    pairs
        .keys()
        .filter_map(|writer| Some((writer.clone(), only(writer).filter(|other| only(other) == Some(writer))?.clone())))
        .filter(is_later)
        .collect()
}
