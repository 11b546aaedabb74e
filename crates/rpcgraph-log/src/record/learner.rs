//! Learns the format of a log from its beginning: where its messages stand, and which words, numbers and members around
//! them are their time, sender and session. The result is a format in the language of `record/formats`.
//!
//! A *place* is the text in front of a value, with its varying parts, the members that lead to the message, and the
//! spelling. A place with one message for sure is a place of messages: every object there with a message's shape is one.

mod durations;
mod elapsed;
mod front;
mod headings;
mod print;
mod quoted;
mod reading;
mod scan;
mod sessions;
mod sides;

pub(super) use self::reading::Reading;

use self::front::{Token, TokenSet, labelled, skeleton, tokens};
use self::headings::{Heading, headings};
use self::print::{ERRORS, STATUSES, toml_string};
use self::quoted::LinePart;
use self::scan::{Candidate, Scan};
use self::sessions::{Field, Observed};
use self::sides::{Cell, Exchanges, Hops, Stated, cells};
use super::Time;
use super::certainty::{Certainty, is_member_of_messages};
use super::elements::element_lines;
use super::methods::known_method;
use super::object::{RawObject, objects, scalar};
use super::rules::{WordMeaning, duration_unit};
use super::spelling::Spelling;
use super::surroundings::{SENDERS, TIMES, named_direction};
use super::units::nanoseconds;
use super::value::{Extent, value};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// The maximum number of places: those with the most messages.
const PLACES: usize = 48;

/// Members with a text that may state the sender or the direction.
const EVENTS: [&str; 3] = ["msg", "message", "event"];

/// The place of messages in a log.
struct Place {
    key: PlaceKey,
    found: Vec<usize>,
    tokens: Vec<TokenSet>,
    is_copy: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct PlaceKey {
    within: Option<String>,
    skeleton: String,
    spelling: &'static str,
    pointer: String,
    /// The words in front, if they set the place apart from a similar one.
    words: Option<String>,
}

/// Returns the file that describes the format of a log, given its first bytes. `None` if there are no messages, or if
/// the lines themselves are messages.
pub(super) fn learn(text: &[u8]) -> Option<String> {
    let scan = Scan::of(text);
    let Some(array) = scan.array_of_messages() else { return learned(&scan, true) };
    let rules = learned(&Scan::of(&element_lines(array.member(), text)), false)?;
    Some(format!("array = {}\n{rules}", array.member().map_or_else(|| "true".to_owned(), toml_string)))
}

/// Returns the file for the messages in a log; `None` if its lines are messages, and `may_be_transport` is true.
fn learned(scan: &Scan<'_>, may_be_transport: bool) -> Option<String> {
    let mut places = places(&scan.candidates);
    let repeats_requests = take_repeated(&scan.candidates, &mut places);
    let (headings, headed) = headings(scan, &places);
    let is_line =
        |place: &Place| place.key.skeleton.is_empty() && place.key.pointer.is_empty() && place.key.within.is_none();
    let found = || places.iter().flat_map(|place| &place.found);
    let with_text = found().filter(|number| !scan.candidates[**number].is_alone).count();
    // A message in another spelling between lines of JSON is damaged, and so is a single one with text behind it.
    let is_transport = || {
        may_be_transport
            && places.iter().all(is_line)
            && places.iter().any(|place| place.key.spelling == Spelling::Json.name())
            && (with_text == 0 || with_text == 1 && found().count() > 2)
    };
    if places.is_empty() || headings.is_empty() && is_transport() || omits_ids(&scan.candidates) {
        return None;
    }
    let mut format = LearnedFormat {
        candidates: &scan.candidates,
        is_in_arrays: !may_be_transport,
        repeats_requests,
        waits: HashMap::new(),
        stated: HashMap::new(),
        hops: None,
        is_transport: false,
        headings,
        headed,
    };
    format.state(&places);
    format.is_transport = may_be_transport && format.headings.is_empty() && holds_messages_alone(scan);
    format.find_copies(&mut places);
    // A message that is passed on goes both ways.
    format.state(&places);
    format.name_sides(&places);
    format.waits = Exchanges::of(&scan.candidates, originals(&places)).waits().collect();
    let sessions = format.sessions(&places);
    format.print(&places, &sessions)
}

/// True if messages stand in lines of JSON, and each line of JSON is a message: then other lines with JSON are damaged.
fn holds_messages_alone(scan: &Scan<'_>) -> bool {
    let others = || scan.lines.iter().filter(|line| line.candidates.is_empty() && !line.text.is_empty());
    let is_json = |text: &[u8]| matches!(value(text), Extent::Whole(length) if length == text.len());
    scan.candidates.iter().any(|candidate| candidate.spelling == Spelling::Json)
        && scan.candidates.iter().all(|candidate| candidate.is_alone)
        && !others().any(|line| is_json(line.text))
}

/// Adds the rules for later lines of a log to the file that was learned from earlier lines. Without one, the earlier lines
/// were messages, or text.
pub(super) fn with_rules(earlier: &str, later: &str) -> String {
    const RULE: &str = "\n[[rule]]\n";
    const MESSAGES: &str = "\n[[rule]]\nsure = false\nline = '^(?<value>.*)'\nspelling = \"json\"\n";
    let (mut head, mut rules) = match earlier.find(RULE) {
        Some(rules) => (earlier[..rules].to_owned(), earlier[rules..].to_owned()),
        None => (String::new(), MESSAGES.to_owned()),
    };
    let mut parts = later.split(RULE);
    for line in parts.next().unwrap_or_default().lines() {
        let key = line.split(' ').next();
        if head.lines().all(|known| known.split(' ').next() != key) {
            let _ = writeln!(head, "{line}");
        }
    }
    for rule in parts.filter(|rule| !earlier.contains(rule)) {
        let _ = write!(rules, "{RULE}{rule}");
    }
    head + &rules
}

/// True if a log prints a handshake without its id: then it has parts of messages only.
fn omits_ids(candidates: &[Candidate]) -> bool {
    let has_no_id = |candidate: &Candidate| {
        let is_handshake = |object: RawObject<'_>| {
            object.string("method").as_deref() == Some("initialize") && object.has("params") && !object.has("id")
        };
        !candidate.is_broken && RawObject::parse(&candidate.message).is_some_and(is_handshake)
    };
    candidates.iter().any(has_no_id)
}

/// Returns the places of messages.
fn places(candidates: &[Candidate]) -> Vec<Place> {
    let mut known: HashMap<PlaceKey, usize> = HashMap::new();
    let mut places: Vec<Place> = Vec::new();
    for (number, candidate) in candidates.iter().enumerate() {
        let key = PlaceKey {
            within: candidate.within.clone(),
            skeleton: skeleton(&candidate.front),
            spelling: candidate.spelling.name(),
            pointer: candidate.pointer.clone(),
            words: None,
        };
        let at = *known.entry(key.clone()).or_insert(places.len());
        match places.get_mut(at) {
            Some(place) => {
                place.found.push(number);
                TokenSet::add(&mut place.tokens, &candidate.front);
            }
            None => {
                places.push(Place { key, found: vec![number], tokens: TokenSet::of(&candidate.front), is_copy: false })
            }
        }
    }
    let answered = answered(candidates);
    // Source code and prose quote one message; a log has several.
    let messages: HashSet<&[u8]> = candidates.iter().map(|candidate| &*candidate.message).collect();
    places.retain(|place| {
        if messages.len() < 2 && place.found.iter().all(|number| candidates[*number].is_glued) {
            return false;
        }
        // A method alone names a message.
        if place.found.iter().all(|number| is_method_alone(&candidates[*number].message)) {
            return false;
        }
        let is_sure = |number: &usize| candidates[*number].certainty == Certainty::Sure || answered.contains(number);
        place.found.iter().any(is_sure)
    });
    places.sort_by_key(|place| Reverse(place.found.len()));
    places.truncate(PLACES);
    places
}

/// Takes requests out of their places that stand beside their answers, if most of them stand by themselves before. Returns
/// true if there are any.
fn take_repeated(candidates: &[Candidate], places: &mut [Place]) -> bool {
    let asks = |number: &usize| {
        let one = &candidates[*number];
        !one.pointer.is_empty() && one.value().is_some() && one.calls().iter().any(|(_, method)| method.is_some())
    };
    let is_answered = |number: &usize| {
        let request = &candidates[*number];
        let mut beside = candidates.iter().filter(|other| other.line == request.line).flat_map(Candidate::calls);
        beside.any(|(id, method)| method.is_none() && request.calls().iter().any(|(asked, _)| asked == id))
    };
    let (beside, alone): (Vec<usize>, Vec<usize>) = (0..candidates.len()).filter(asks).partition(is_answered);
    let is_before = |number: &&usize| {
        let repeated = &candidates[**number];
        let mut before = alone.iter().map(|number| &candidates[*number]).take_while(|one| one.line < repeated.line);
        before.any(|one| one.value() == repeated.value())
    };
    let repeats = !beside.is_empty() && 2 * beside.iter().filter(is_before).count() >= beside.len();
    if repeats {
        places.iter_mut().for_each(|place| place.found.retain(|number| !beside.contains(number)));
    }
    repeats
}

/// True for an object with a method and nothing else.
fn is_method_alone(message: &[u8]) -> bool {
    RawObject::parse(message).is_some_and(|object| object.has("method") && object.members().count() == 1)
}

/// Returns the possible requests and answers of which one answers the other.
fn answered(candidates: &[Candidate]) -> BTreeSet<usize> {
    let pairs = exchanges(candidates, 0..candidates.len());
    let own = |number: usize| own_members(&candidates[number]);
    let is_plain = |number: &usize| own(*number).is_some_and(|own| own.is_empty());
    // The sender of a request is the receiver of its answer.
    let are_addressed = |(call, answer): &(usize, usize)| {
        let (Some(from), Some(to)) = (own(*call), own(*answer)) else { return false };
        from.iter().any(|(name, address)| to.iter().any(|(other, value)| name != other && address == value))
    };
    let (addressed, others): (Vec<_>, Vec<_>) = pairs.into_iter().partition(are_addressed);
    let numbers = |pairs: Vec<(usize, usize)>| pairs.into_iter().flat_map(|(call, answer)| [call, answer]);
    numbers(addressed).chain(numbers(others).filter(is_plain)).collect()
}

/// The maximum number of a message's own members, such as the addresses of its sender and its receiver.
const OWN_MEMBERS: usize = 2;

/// Returns the members that JSON-RPC does not define. `None` if there are too many, or if one is not a text, as in
/// envelopes and in records of other kinds.
fn own_members(candidate: &Candidate) -> Option<Vec<(String, String)>> {
    let objects: Vec<_> = objects(&candidate.message).filter(|_| !candidate.is_broken).collect();
    let members = objects.first().map(|_| objects.iter().flat_map(RawObject::members))?;
    let own: Vec<_> = members.filter(|(name, _)| !is_member_of_messages(name)).collect();
    let text = |(name, value): &(&[u8], &[u8])| {
        let text = scalar(value).filter(|_| value.starts_with(b"\""))?;
        Some((String::from_utf8_lossy(name).into_owned(), text))
    };
    own.iter().map(text).collect::<Option<Vec<_>>>().filter(|own| own.len() <= OWN_MEMBERS)
}

/// Returns the pairs of a request and the next answer with its id.
fn exchanges(candidates: &[Candidate], numbers: impl IntoIterator<Item = usize>) -> Vec<(usize, usize)> {
    let (mut open, mut pairs) = (HashMap::new(), Vec::new());
    for number in numbers {
        for (id, method) in candidates[number].calls() {
            if method.is_some() {
                open.insert(id, number);
            } else if let Some(call) = open.remove(id) {
                pairs.push((call, number));
            }
        }
    }
    pairs
}

struct LearnedFormat<'c> {
    candidates: &'c [Candidate],
    /// True if several arrays may hold the messages of one time.
    is_in_arrays: bool,
    /// True if records of answers repeat their requests.
    repeats_requests: bool,
    /// The nanoseconds from requests to their answers, by the times beside both.
    waits: HashMap<usize, i128>,
    /// True if each line is a message, or damaged.
    is_transport: bool,
    /// The stated sender or direction of each candidate.
    stated: HashMap<usize, Stated>,
    hops: Option<Hops>,
    headings: Vec<Heading>,
    /// The sender or direction of each candidate, as its heading states it.
    headed: HashMap<usize, WordMeaning>,
}

impl LearnedFormat<'_> {
    /// Sets apart the places whose messages all stand at another place too, with the same direction, and text that quotes
    /// messages.
    fn find_copies(&self, places: &mut Vec<Place>) {
        let mut parts: Vec<LinePart> = Vec::new();
        for (at, place) in places.iter().enumerate() {
            let mut by_words: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for &number in &place.found {
                by_words.entry(words(&self.candidates[number])).or_default().push(number);
            }
            parts.extend(by_words.into_iter().map(|(words, found)| (at, words, found)));
        }
        parts.sort_by_key(|(.., found)| found[0]);
        if parts.len() > 2 * PLACES {
            return;
        }
        let mut copies: Vec<LinePart> = Vec::new();
        for (later, (at, words, found)) in parts.iter().enumerate() {
            let has_answer = || {
                found.iter().any(|number| self.candidates[*number].calls().iter().any(|(_, method)| method.is_none()))
            };
            let is_of = |(other_at, other_words, originals): &LinePart| {
                let differ: Vec<_> =
                    words.split(' ').zip(other_words.split(' ')).filter(|(one, other)| one != other).collect();
                // Two steps of one program, such as `Received:` and `Forwarding:`.
                let are_steps = match at == other_at {
                    true => differ.iter().any(|(one, other)| is_step(one) && is_step(other)),
                    false => [words, other_words].iter().all(|words| words.split(' ').any(is_step)),
                };
                let is_as_long = words.split(' ').count() == other_words.split(' ').count();
                if at == other_at && !(is_as_long && (are_steps || differ.len() > 1)) {
                    return false;
                }
                let is_respelled = places[*at].key.spelling != places[*other_at].key.spelling;
                // A single request may be sent twice.
                if found.len() == 1 && !is_respelled && !has_answer() {
                    return false;
                }
                let (mut free, mut equal) = (originals.clone(), 0);
                let has_original = |number: &usize| {
                    let copy = &self.candidates[*number];
                    let may_be = |original: &usize| {
                        let original_line = self.candidates[*original].line;
                        let is_near = copy.line.abs_diff(original_line) <= COPIES && original_line <= copy.line;
                        let ways = self.meaning(*number).zip(self.meaning(*original));
                        let is_same_way = ways.is_none_or(|(one, other)| {
                            one == other || std::mem::discriminant(&one) != std::mem::discriminant(&other) || are_steps
                        });
                        let is_answer = || copy.calls().iter().all(|(_, method)| method.is_none());
                        is_near
                            && is_same_way
                            && self.connection(*number) == self.connection(*original)
                            && (at != other_at || are_steps || is_answer())
                    };
                    let is_equal = |original: &usize| copy.equals(&self.candidates[*original]);
                    let is_alike = |original: &usize| is_respelled && copy.is_alike(&self.candidates[*original]);
                    let same = free.iter().position(|original| may_be(original) && is_equal(original));
                    equal += usize::from(same.is_some());
                    let same = same.or_else(|| free.iter().position(|original| may_be(original) && is_alike(original)));
                    same.map(|at| free.swap_remove(at)).is_some()
                };
                found.iter().all(has_original) && 2 * equal >= found.len()
            };
            if parts[..later].iter().any(is_of) {
                copies.push((*at, words.clone(), found.clone()));
            }
        }
        copies.extend(self.quoted(&parts, &copies));
        for (at, words, found) in &copies {
            let place = &mut places[*at];
            if parts.iter().filter(|part| part.0 == *at).all(|part| copies.contains(part)) {
                place.is_copy = true;
                continue;
            }
            place.found.retain(|number| !found.contains(number));
            let mut tokens = TokenSet::of(&self.candidates[found[0]].front);
            found.iter().for_each(|number| TokenSet::add(&mut tokens, &self.candidates[*number].front));
            let key = PlaceKey { words: Some(words.clone()), ..place.key.clone() };
            places.push(Place { key, found: found.clone(), tokens, is_copy: true });
        }
    }

    /// Returns the fields that separate the sessions.
    fn sessions(&self, places: &[Place]) -> Vec<Field> {
        if let Some(hops) = &self.hops {
            return hops.ends.to_vec();
        }
        let originals = places.iter().enumerate().filter(|(_, place)| !place.is_copy);
        let mut placed: Vec<(usize, usize)> =
            originals.flat_map(|(at, place)| place.found.iter().map(move |number| (*number, at))).collect();
        placed.sort_unstable();
        if self.is_in_arrays {
            placed.sort_by_key(|(number, _)| {
                if let Some(Time::DateTime(time)) = self.candidates[*number].time() { nanoseconds(time) } else { None }
            });
        }
        let observed = placed.into_iter().map(|(number, place)| {
            let candidate = &self.candidates[number];
            let stated = self.stated.get(&number);
            let is_stated = |at: &RangeInclusive<usize>| {
                stated.and_then(|stated| stated.tokens.as_ref()).is_some_and(|range| range.contains(at.start()))
            };
            let is_key = |(_, cell): &(Field, Cell)| match (&cell.tokens, &cell.pointer) {
                (Some(at), _) => !is_stated(at),
                (None, pointer) => !pointer.as_deref().map(last_token).is_some_and(is_fact) && !cell.text.contains(' '),
            };
            let keys = cells(candidate).filter(is_key).map(|(field, cell)| (field, cell.text));
            let behind = tokens(candidate.behind.as_deref().unwrap_or_default());
            let behind = labelled(&behind).map(|(label, _, word)| (Field::Behind(label), word.to_owned()));
            let side = self.meaning(number).or_else(|| {
                let (_, method) = candidate.calls().first()?;
                known_method(method.as_ref()?)?.sender.map(WordMeaning::Sent)
            });
            let above = self.headings.iter().filter_map(|heading| heading.above.get(&number));
            let above = above
                .flat_map(|tokens| labelled(tokens))
                .map(|(label, _, word)| (Field::Above(label), word.to_owned()));
            Observed { place, fields: keys.chain(behind).chain(above).collect(), side, calls: candidate.calls() }
        });
        sessions::choose(&observed.collect::<Vec<_>>())
    }
}

/// The maximum number of lines between a message and its copy.
const COPIES: usize = 3;
/// Returns the numbers of the messages that are not copies.
fn originals(places: &[Place]) -> BTreeSet<usize> {
    places.iter().filter(|place| !place.is_copy).flat_map(|place| place.found.iter().copied()).collect()
}

/// True for a word that says what a program does with a message, such as `Received` and `forwarding`.
fn is_step(word: &str) -> bool {
    let is_verb = word.len() > 4 && ["ing", "ed"].iter().any(|end| word.to_ascii_lowercase().ends_with(end));
    (is_verb || named_direction(word).is_some()) && word.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns the words in front of a candidate.
fn words(candidate: &Candidate) -> String {
    let words = candidate.front.iter().filter_map(|token| match token {
        Token::Word(word) if !word.bytes().any(|byte| byte.is_ascii_digit()) => Some(word.as_str()),
        Token::Arrow(arrow) => Some(arrow.as_str()),
        _ => None,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// True for the name of a member that states the time, the sender, the duration or the outcome.
fn is_fact(name: &str) -> bool {
    SENDERS.contains(&name) || EVENTS.contains(&name) || is_outcome(name)
}

/// True for the name of a member that states the time, the duration or the outcome.
fn is_outcome(name: &str) -> bool {
    [&TIMES[..], &STATUSES, &ERRORS, &["date"]].iter().any(|names| names.contains(&name))
        || duration_unit(name).is_some()
}

/// True for a member that states the time, or the first element of a pair of a time and a text.
fn is_time_member(pointer: &str) -> bool {
    TIMES.contains(&last_token(pointer)) || last_token(pointer) == "0"
}

fn last_token(pointer: &str) -> &str {
    pointer.rsplit('/').next().unwrap_or_default()
}
