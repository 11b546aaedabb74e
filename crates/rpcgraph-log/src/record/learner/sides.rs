//! Finds the words and members around messages that state who sent them, and checks them against the exchanges.

use super::super::methods::known_method;
use super::super::object::objects;
use super::super::rules::{WordMeaning, connection, named_meaning};
use super::super::surroundings::{SENDERS, named_direction, named_side};
use super::super::units::scaled;
use super::super::wrapper::is_level;
use super::super::{Direction, Sender};
use super::front::{Token, meaning, tokens};
use super::scan::Candidate;
use super::sessions::Field;
use super::{EVENTS, LearnedFormat, Place, exchanges, is_outcome, last_token, originals};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

/// The sender or direction that the text or the members around a message state.
pub(super) struct Stated {
    /// The tokens, or the pointer, that state it.
    pub tokens: Option<RangeInclusive<usize>>,
    pub pointer: Option<String>,
    pub text: String,
    pub meaning: WordMeaning,
}

/// Members that name the sender, if another names the receiver.
const ENDS: [&str; 5] = ["from", "src", "source", "sender", "origin"];

/// Members that name the receiver.
const RECEIVERS: [&str; 7] = ["to", "dst", "dest", "destination", "receiver", "recipient", "target"];

/// True for a name whose value is the receiver, as in `"to":"server"` and `dest=server`. `None` for `peer`, which is the sender
/// in some logs, and the receiver in others.
fn names_receiver(name: &str) -> Option<bool> {
    (name != "peer").then(|| RECEIVERS.contains(&name))
}

/// A log that says that all messages went one way holds one side, if at most one in this many requests seems to be answered
/// in it: a proxy receives from both sides, and nearly all requests that it receives have answers.
const ONE_WAY_SHARE: usize = 4;
/// The minimum number of requests, or of answers, of such a log.
const MIN_ONE_WAY: usize = 4;

/// The messages of a log, the oldest first, and the exchanges in it that are certain.
pub(super) struct Exchanges<'c> {
    candidates: &'c [Candidate],
    numbers: BTreeSet<usize>,
    /// The requests and answers on different lines whose id no other request had at the same time.
    pairs: Vec<(usize, usize)>,
}

/// The requests with one id since no request with it was open, and the number of their answers.
#[derive(Default)]
struct WaitingRequests {
    calls: Vec<usize>,
    answers: usize,
}

impl<'c> Exchanges<'c> {
    pub fn of(candidates: &'c [Candidate], numbers: BTreeSet<usize>) -> Self {
        Self::within(candidates, numbers, |_| "")
    }

    /// Returns the exchanges within each connection.
    fn within<'k>(
        candidates: &'c [Candidate],
        numbers: BTreeSet<usize>,
        connection: impl Fn(usize) -> &'k str,
    ) -> Self {
        let mut open: HashMap<_, WaitingRequests> = HashMap::new();
        let mut pairs = Vec::new();
        for &number in &numbers {
            for (id, method) in candidates[number].calls() {
                let key = (connection(number), id);
                let waiting = open.entry(key).or_default();
                if method.is_some() {
                    waiting.calls.push(number);
                    continue;
                }
                waiting.answers += 1;
                if waiting.answers < waiting.calls.len() {
                    continue;
                }
                if let [call] = waiting.calls[..]
                    && candidates[call].line != candidates[number].line
                {
                    pairs.push((call, number));
                }
                open.remove(&key);
            }
        }
        Self { candidates, numbers, pairs }
    }

    /// True if no request and its answer have the same sender, and no sender contradicts a published method.
    pub fn allow(&self, meaning: impl Fn(usize) -> Option<WordMeaning>) -> bool {
        let is_same = |(call, answer): &(usize, usize)| meaning(*call).is_some() && meaning(*call) == meaning(*answer);
        let contradicts = |number: &usize| {
            let Some(WordMeaning::Sent(sender)) = meaning(*number) else { return false };
            let mut methods = objects(&self.candidates[*number].message).filter_map(|object| object.string("method"));
            methods.any(|method| known_method(&method).and_then(|known| known.sender) == Some(sender.other()))
        };
        !self.pairs.iter().any(is_same) && !self.numbers.iter().any(contradicts)
    }

    /// Returns the side that sent every message, if the log says that all went one way and few requests have an answer among
    /// them: such a request and answer are of different exchanges, since both sides count their ids from the same number.
    fn only_side(&self) -> Option<Sender> {
        let calls = || self.numbers.iter().flat_map(|number| self.candidates[*number].calls());
        let asked = calls().filter(|(_, method)| method.is_some()).count();
        let answered = calls().count() - asked;
        if asked.max(answered) < (ONE_WAY_SHARE * self.pairs.len()).max(MIN_ONE_WAY) {
            return None;
        }
        let known = calls().find_map(|(_, method)| known_method(method.as_ref()?)?.sender);
        Some(known.unwrap_or(if asked > answered { Sender::Client } else { Sender::Server }))
    }

    /// Returns the answers with the nanoseconds since their requests, by the times beside both.
    pub fn waits(&self) -> impl Iterator<Item = (usize, i128)> {
        self.pairs.iter().filter_map(|&(call, answer)| {
            let (asked, answered) = (self.candidates[call].time()?, self.candidates[answer].time()?);
            Some((answer, scaled(asked.seconds_to(answered)?, 9)))
        })
    }

    /// Returns the number of answers to requests with another value.
    fn count_across(&self, value: impl Fn(usize) -> Option<bool>) -> usize {
        let (mut open, mut count): (HashMap<(&[u8], bool), usize>, _) = (HashMap::new(), 0);
        for &number in &self.numbers {
            let Some(own) = value(number) else { continue };
            for (id, method) in self.candidates[number].calls() {
                let waiting = open.entry((id.as_slice(), own == method.is_some())).or_default();
                match method {
                    Some(_) => *waiting += 1,
                    None if *waiting > 0 => (*waiting, count) = (*waiting - 1, count + 1),
                    None => {}
                }
            }
        }
        count
    }
}

/// Connections of which each message names the sender and the receiver, as in `[client->gateway]` and `[gateway->server]`.
pub(super) struct Hops {
    /// The words or members that name the sender and the receiver.
    pub ends: [Field; 2],
    /// The key of the connection of each message, and its sender.
    connections: HashMap<usize, (String, WordMeaning)>,
}

impl Hops {
    /// Finds the ends of several connections, each with exchanges in both directions.
    fn of(exchanges: &Exchanges<'_>) -> Option<Self> {
        let candidates = exchanges.candidates;
        let ends = ends(&candidates[*exchanges.numbers.first()?])?;
        let mut orders: BTreeMap<String, BTreeSet<bool>> = BTreeMap::new();
        let mut connections = HashMap::new();
        for &number in &exchanges.numbers {
            let cells: BTreeMap<Field, Cell> = cells(&candidates[number]).collect();
            let [from, to] = [0, 1].map(|end| cells.get(&ends[end]).map(|cell| &*cell.text));
            let (from, to) = (from?, to?);
            let (key, meaning) = connection(from, to);
            orders.entry(key.clone()).or_default().insert(from <= to);
            connections.insert(number, (key, meaning));
        }
        let within = Exchanges::within(candidates, exchanges.numbers.clone(), |number| &connections[&number].0);
        let fits = orders.len() > 1
            && orders.values().all(|order| order.len() == 2)
            && !within.pairs.is_empty()
            && within.allow(|number| Some(connections[&number].1));
        fits.then_some(Self { ends, connections })
    }
}

/// Returns the words or members that name the sender and the receiver of a message.
fn ends(candidate: &Candidate) -> Option<[Field; 2]> {
    let words: Vec<_> =
        candidate.front.iter().enumerate().filter(|(_, token)| matches!(token, Token::Word(_))).collect();
    let in_words = words.windows(2).enumerate().find_map(|(nth, pair)| {
        let between: String = candidate.front[pair[0].0 + 1..pair[1].0].iter().map(Token::text).collect();
        let is_out = named_direction(&between).map_or(between.trim() == "=>", |direction| direction == Direction::Out);
        let is_in = named_direction(&between) == Some(Direction::In);
        let [one, other] = [nth, nth + 1].map(Field::Word);
        if is_in { Some([other, one]) } else { is_out.then_some([one, other]) }
    });
    let member = |names: &[&str]| {
        let pointers = candidate.members.iter().map(|(pointer, _)| pointer);
        pointers.rev().find(|pointer| names.contains(&last_token(pointer))).cloned().map(Field::Member)
    };
    in_words.or_else(|| Some([member(&ENDS)?, member(&RECEIVERS)?]))
}

impl LearnedFormat<'_> {
    pub(super) fn meaning(&self, number: usize) -> Option<WordMeaning> {
        if let Some(hops) = &self.hops {
            return hops.connections.get(&number).map(|(_, meaning)| *meaning);
        }
        self.stated.get(&number).map(|stated| stated.meaning).or_else(|| self.headed.get(&number).copied())
    }

    /// Returns the connection of a message, if its surroundings name both ends.
    pub(super) fn connection(&self, number: usize) -> Option<&str> {
        self.hops.as_ref()?.connections.get(&number).map(|(key, _)| &**key)
    }

    /// Finds what is stated about senders, as far as the exchanges allow it: by words, with or without arrows, by two values of
    /// one word or member, or by one word for all messages of one side. Otherwise, members that name a side are believed.
    pub(super) fn state(&mut self, places: &[Place]) {
        let exchanges = Exchanges::of(self.candidates, originals(places));
        self.hops = Hops::of(&exchanges);
        if self.hops.is_some() {
            self.stated.clear();
            return;
        }
        let read = |with_arrows: bool| -> HashMap<usize, Stated> {
            let one = |number: &usize| Some((*number, stated(&self.candidates[*number], with_arrows)?));
            exchanges.numbers.iter().filter_map(one).collect()
        };
        let fits = |stated: &HashMap<usize, Stated>| {
            let own = |number: usize| stated.get(&number).map(|stated| stated.meaning);
            let is_any = !stated.is_empty() || !self.headed.is_empty();
            is_any && exchanges.allow(|number| own(number).or_else(|| self.headed.get(&number).copied()))
        };
        let is_side = |stated: &Stated| {
            let is_member = |pointer: &String| SENDERS.contains(&last_token(pointer));
            matches!(stated.meaning, WordMeaning::Sent(_)) && stated.pointer.as_ref().is_some_and(is_member)
        };
        let members = || read(false).into_iter().filter(|(_, stated)| is_side(stated)).collect();
        let one_way = || {
            let mut stated = read(true);
            let meaning = stated.values().next()?.meaning;
            let is_one_way = stated.len() == exchanges.numbers.len()
                && matches!(meaning, WordMeaning::Went(_))
                && stated.values().all(|stated| stated.meaning == meaning);
            let side = exchanges.only_side().filter(|_| is_one_way)?;
            stated.values_mut().for_each(|stated| stated.meaning = WordMeaning::Sent(side));
            Some(stated)
        };
        let words = [true, false].into_iter().map(read).find(fits).or_else(|| two_values(&exchanges)).or_else(one_way);
        self.stated = words.unwrap_or_else(members);
    }

    /// Gives directions the meaning of a side, if the other side of each exchange is named.
    pub(super) fn name_sides(&mut self, places: &[Place]) {
        let numbers = originals(places);
        let mut sides: BTreeMap<bool, BTreeSet<bool>> = BTreeMap::new();
        for (call, answer) in exchanges(self.candidates, numbers) {
            for (one, other) in [(call, answer), (answer, call)] {
                if let (Some(WordMeaning::Sent(sender)), Some(WordMeaning::Went(direction))) =
                    (self.meaning(one), self.meaning(other))
                {
                    sides.entry(direction == Direction::Out).or_default().insert(sender == Sender::Server);
                }
            }
        }
        for stated in self.stated.values_mut() {
            if let WordMeaning::Went(direction) = stated.meaning
                && let Some(sides) = sides.get(&(direction == Direction::Out))
                && sides.len() == 1
            {
                let is_client = sides.contains(&true);
                stated.meaning = WordMeaning::Sent(if is_client { Sender::Client } else { Sender::Server });
            }
        }
    }
}

/// Returns what is stated about the sender of a candidate.
fn stated(candidate: &Candidate, with_arrows: bool) -> Option<Stated> {
    let in_member = |names: &[&str], read: &dyn Fn(&str) -> Option<WordMeaning>| {
        let mut members = candidate.members.iter().rev().filter(|(pointer, _)| names.contains(&last_token(pointer)));
        members.find_map(|(pointer, value)| {
            Some(Stated { tokens: None, pointer: Some(pointer.clone()), text: value.clone(), meaning: read(value)? })
        })
    };
    let in_text = |text: &str| {
        let is_event = text.len() < 128 && !text.contains('{');
        is_event.then(|| meaning(&tokens(text), with_arrows))?.map(|(_, meaning)| meaning)
    };
    let in_words = || {
        let (range, meaning) = meaning(&candidate.front, with_arrows)?;
        let text = candidate.front[range.clone()].iter().map(Token::text).collect();
        Some(Stated { tokens: Some(range), pointer: None, text, meaning })
    };
    in_words().or_else(|| in_member(&SENDERS, &named_meaning)).or_else(|| in_member(&EVENTS, &in_text))
}

/// One word or member of a message.
pub(super) struct Cell {
    pub tokens: Option<RangeInclusive<usize>>,
    pub pointer: Option<String>,
    pub text: String,
    /// `None` if it is unknown.
    is_receiver: Option<bool>,
}

impl Cell {
    /// Returns the side that it names as the sender.
    fn side(&self) -> Option<Sender> {
        let is_receiver = self.is_receiver?;
        named_side(&self.text).map(|side| if is_receiver { side.other() } else { side })
    }
}

/// Finds the word or member with two values, where one value asks what the other answers: as two exchanges show, or one if
/// the values name sides or directions. Of values that name connections, one asks and answers, and of values that name
/// requests and answers, one asks everything.
fn two_values(exchanges: &Exchanges<'_>) -> Option<HashMap<usize, Stated>> {
    let mut columns: BTreeMap<Field, HashMap<usize, Cell>> = BTreeMap::new();
    for &number in &exchanges.numbers {
        for (field, cell) in cells(&exchanges.candidates[number]) {
            columns.entry(field).or_default().insert(number, cell);
        }
    }
    let columns = columns.into_values().filter_map(|cells| {
        let meanings = value_meanings(&cells, exchanges)?;
        let stated = |cell: Cell| {
            let meaning = *meanings.get(&cell.text)?;
            Some(Stated { tokens: cell.tokens, pointer: cell.pointer, text: cell.text, meaning })
        };
        Some(cells.into_iter().filter_map(|(number, cell)| Some((number, stated(cell)?))).collect())
    });
    let rank = |column: &HashMap<usize, Stated>| {
        let is_named = column.values().any(|stated| matches!(stated.meaning, WordMeaning::Sent(_)));
        (is_named, column.len())
    };
    // The first of several that are as good.
    columns.reduce(|best, column| if rank(&column) > rank(&best) { column } else { best })
}

/// Returns the meanings of the two values of a word or member, if they state the sender.
fn value_meanings(cells: &HashMap<usize, Cell>, exchanges: &Exchanges<'_>) -> Option<BTreeMap<String, WordMeaning>> {
    let values: BTreeSet<&str> = cells.values().map(|cell| &*cell.text).collect();
    let [one, other] = values.into_iter().collect::<Vec<_>>()[..] else { return None };
    let value = |number: usize| cells.get(&number).map(|cell| cell.text == one);
    if is_level(one) || is_level(other) {
        return None;
    }
    let side = |text: &str| cells.values().find(|cell| cell.text == text).and_then(Cell::side);
    let sent = match (side(one), side(other)) {
        (Some(one), Some(other)) if one == other => None,
        (one, other) => one.or(other.map(Sender::other)),
    };
    let direction = named_direction(one).or(named_direction(other).map(Direction::other));
    // The words `in` and `out` need no exchange that is certain: on a busy server, each id may be open in several connections.
    let has_pair =
        || exchanges.pairs.iter().any(|(call, answer)| cells.contains_key(call) && cells.contains_key(answer));
    if direction.is_none() && !has_pair() {
        return None;
    }
    let asks = |number: &&usize| objects(&exchanges.candidates[**number].message).any(|object| object.has("method"));
    let askers: BTreeSet<bool> = exchanges.numbers.iter().filter(asks).filter_map(|number| value(*number)).collect();
    let is_known = sent.is_some() || direction.is_some();
    if exchanges.count_across(value) < if is_known { 1 } else { 2 } || !is_known && askers.len() < 2 {
        return None;
    }
    // The first message was sent by the writer of the log, unless a word says otherwise.
    let is_first = exchanges.numbers.iter().find_map(|number| value(*number)) == Some(true);
    let went = direction.unwrap_or(if is_first { Direction::Out } else { Direction::In });
    let fits = |own: &WordMeaning| {
        exchanges.allow(|number| value(number).map(|is_one| if is_one { *own } else { own.other() }))
    };
    let own = sent.map(WordMeaning::Sent).into_iter().chain([WordMeaning::Went(went)]).find(fits)?;
    Some([(one.to_owned(), own), (other.to_owned(), own.other())].into())
}

/// Returns the words in front of a message, and the members around it, which may state its sender.
pub(super) fn cells(candidate: &Candidate) -> impl Iterator<Item = (Field, Cell)> {
    let front = &candidate.front;
    let words = front.iter().enumerate().filter(|(_, token)| matches!(token, Token::Word(_))).enumerate();
    let words = words.map(|(nth, (at, token))| {
        // As in `editor -> server` and `server <- editor`.
        let direction = |token: &&Token| if let Token::Arrow(arrow) = token { named_direction(arrow) } else { None };
        let before = front[..at].iter().rev().take(2).find_map(|token| direction(&token));
        let behind = front[at + 1..].iter().take(2).find_map(|token| direction(&token));
        let name = match front[..at] {
            [.., Token::Word(ref name), Token::Mark(ref mark)] if matches!(mark.trim(), "=" | ":") => name,
            _ => "",
        };
        let is_at_head = behind == Some(Direction::In) || behind.is_none() && before == Some(Direction::Out);
        let is_receiver = names_receiver(name).map(|is_named| is_named || is_at_head);
        let text = token.text().to_owned();
        (Field::Word(nth), Cell { tokens: Some(at..=at), pointer: None, text, is_receiver })
    });
    let members = candidate.members.iter().filter(|(pointer, _)| !is_outcome(last_token(pointer)));
    let members = members.map(|(pointer, value)| {
        let is_receiver = names_receiver(last_token(pointer));
        let (pointer, text) = (pointer.clone(), value.clone());
        (Field::Member(pointer.clone()), Cell { tokens: None, pointer: Some(pointer), text, is_receiver })
    });
    words.chain(members)
}
