//! Lines above messages that state facts about them.

use super::super::rules::WordMeaning;
use super::super::surroundings::named_side;
use super::front::{Token, TokenSet, meaning, skeleton, tokens, word_direction};
use super::scan::Scan;
use super::sides::Exchanges;
use super::{Place, originals};
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

/// The maximum number of headings above a message, and of the tokens of each.
const HEADINGS: usize = 3;
const LONGEST_HEADING: usize = 64;

/// A line above messages that states facts about them.
pub(super) struct Heading {
    skeleton: String,
    pub tokens: Vec<TokenSet>,
    pub stated: Option<RangeInclusive<usize>>,
    pub words: BTreeMap<String, WordMeaning>,
    /// The lines by the numbers of the messages below them.
    pub above: HashMap<usize, Vec<Token>>,
}

/// The number of a message, and what the line above it states about its sender.
type HeadedMessage = (usize, Option<WordMeaning>);

/// Returns the lines above messages that state facts about them, and the numbers of these messages with the meaning of the
/// line above: of messages on lines of their own or behind a word, or else the times of messages behind words without a time.
pub(super) fn headings(scan: &Scan<'_>, places: &[Place]) -> (Vec<Heading>, HashMap<usize, WordMeaning>) {
    let in_text = || places.iter().filter(|place| place.key.pointer.is_empty() && place.key.within.is_none());
    let on_lines = || in_text().filter(|place| place.key.skeleton.is_empty());
    // As in `payload: {`, below a line about the message.
    let labelled = || in_text().filter(|place| place.tokens.len() <= 2 && !has_time(&place.tokens));
    let (mut headings, mut headed) = headings_above(scan, labelled(), 0, meaning_in_heading, is_rare);
    // A word in a line of text, as in `Server started`, names nobody.
    if headed.len() < 2
        || !Exchanges::of(&scan.candidates, originals(places)).allow(|number| headed.get(&number).copied())
    {
        (headings, headed) = headings_above(scan, labelled(), 0, |_| None, is_rare);
    }
    let is_timed =
        headings.iter().any(|heading| has_time(&heading.tokens)) || in_text().any(|place| has_time(&place.tokens));
    // Records of other kinds may have the time above, too, also above another heading.
    let is_in_text = on_lines().next().is_none();
    let times = (0..HEADINGS).filter(|_| !is_timed).find_map(|distance| {
        let is_rare = |scan: &Scan<'_>, heading: &Heading, count: usize| is_in_text || is_rare(scan, heading, count);
        let (mut times, _) = headings_above(scan, in_text(), distance, |_| None, is_rare);
        times.retain(|heading| has_time(&heading.tokens));
        (!times.is_empty()).then_some(times)
    });
    headings.extend(times.into_iter().flatten());
    (headings, headed)
}

/// Returns the lines above the messages of some places, with `distance` other lines between, that state facts about them, and
/// the numbers of these messages with the meaning of the line above.
fn headings_above<'p>(
    scan: &Scan<'_>,
    places: impl Iterator<Item = &'p Place>,
    distance: usize,
    meaning: impl Fn(&[Token]) -> Option<(RangeInclusive<usize>, WordMeaning)>,
    is_rare: impl Fn(&Scan<'_>, &Heading, usize) -> bool,
) -> (Vec<Heading>, HashMap<usize, WordMeaning>) {
    let numbers: Vec<usize> = places.flat_map(|place| place.found.clone()).collect();
    let above = |number: usize| {
        let before = scan.lines[..scan.candidates[number].line].iter().rev().take(4);
        let texts = before.filter(|line| !line.text.is_empty() && !line.text.starts_with(b"Content-"));
        let line = texts.take_while(|line| line.candidates.is_empty()).nth(distance)?;
        Some(tokens(&String::from_utf8_lossy(line.text)))
    };
    let mut found: BTreeMap<String, (Heading, Vec<HeadedMessage>)> = BTreeMap::new();
    for &number in &numbers {
        let Some(tokens) = above(number).filter(|tokens| tokens.len() < LONGEST_HEADING) else { continue };
        let stated = meaning(&tokens);
        let skeleton = skeleton(&tokens);
        let (heading, messages) = found.entry(skeleton.clone()).or_insert_with(|| {
            let (tokens, words, above) = (TokenSet::of(&tokens), BTreeMap::new(), HashMap::new());
            (Heading { skeleton, tokens, stated: None, words, above }, Vec::new())
        });
        TokenSet::add(&mut heading.tokens, &tokens);
        messages.push((number, stated.as_ref().map(|(_, meaning)| *meaning)));
        if let Some((at, meaning)) = stated {
            let text: String = tokens[at.clone()].iter().map(Token::text).collect();
            heading.words.insert(text, meaning);
            heading.stated = Some(at);
        }
        heading.above.insert(number, tokens);
    }
    let count: usize = found.values().map(|(_, messages)| messages.len()).sum();
    // Most messages need a heading that says who sent them.
    let is_direction = |messages: &[HeadedMessage]| messages.iter().all(|(_, meaning)| meaning.is_some());
    let directed: usize =
        found.values().map(|(_, messages)| if is_direction(messages) { messages.len() } else { 0 }).sum();
    let (mut headings, mut headed) = (Vec::new(), HashMap::new());
    for (heading, messages) in found.into_values() {
        let is_opening = heading.tokens.last().is_some_and(|last| last.kind.text().ends_with(':'));
        if is_direction(&messages) && directed * 2 > numbers.len()
            || (has_time(&heading.tokens) || is_opening)
                && count == numbers.len()
                && is_rare(scan, &heading, messages.len())
        {
            headed.extend(messages.iter().filter_map(|(number, meaning)| Some((*number, (*meaning)?))));
            headings.push(heading);
        }
    }
    (headings, headed)
}

fn has_time(tokens: &[TokenSet]) -> bool {
    tokens.iter().any(TokenSet::is_time)
}

/// True if lines like a heading are above messages only; the last message may be cut off.
fn is_rare(scan: &Scan<'_>, heading: &Heading, count: usize) -> bool {
    let texts = scan.lines.iter().filter(|line| line.candidates.is_empty() && !line.text.is_empty());
    texts.filter(|line| skeleton(&tokens(&String::from_utf8_lossy(line.text))) == heading.skeleton).count() <= count + 1
}

/// Returns what a heading states. It may name a side with one word.
fn meaning_in_heading(tokens: &[Token]) -> Option<(RangeInclusive<usize>, WordMeaning)> {
    // As in `client-request`.
    let side = |token: &Token| {
        let Token::Word(word) = token else { return None };
        let sender = word.split_once('-').filter(|(_, kind)| ["request", "reply", "notification"].contains(kind));
        named_side(sender.map_or(word, |(sender, _)| sender)).map(WordMeaning::Sent)
    };
    let named = tokens.iter().enumerate().rev().find_map(|(at, token)| Some((at..=at, side(token)?)));
    // As in `Received Request 'ping' with id 1`.
    let first = || {
        let at = tokens.iter().position(|token| matches!(token, Token::Word(_)))?;
        Some((at..=at, WordMeaning::Went(word_direction(tokens[at].text()).filter(|_| tokens[at].text().len() > 3)?)))
    };
    meaning(tokens, false).or(named).or_else(|| meaning(tokens, true)).or_else(first)
}
