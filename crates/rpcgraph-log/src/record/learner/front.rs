//! The text around messages, cut into times, words, arrows and marks.

use super::super::rules::{WordMeaning, named_meaning};
use super::super::surroundings::{SENDERS, is_of_arrow, named_direction, named_side};
use super::super::{Direction, times};
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

/// A part of the text before or after a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Time(String),
    /// A number too, or an address.
    Word(String),
    /// A sign that points in a direction.
    Arrow(String),
    /// Everything else, with one blank for several.
    Mark(String),
}

impl Token {
    pub fn text(&self) -> &str {
        let (Self::Time(text) | Self::Word(text) | Self::Arrow(text) | Self::Mark(text)) = self;
        text
    }
}

/// Returns the tokens of a text.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_apart = !text[..at].ends_with(|last: char| last.is_alphanumeric() || last == ':');
        let is_begin = first.is_ascii_digit() || first.is_ascii_uppercase();
        // As in `Client[1421504923]`, where an event or a process has a number.
        let is_number_of =
            text[..at].strip_suffix('[').is_some_and(|before| before.ends_with(|last: char| last.is_alphanumeric()));
        let time = if is_apart && is_begin { time_length(rest, !is_number_of) } else { None };
        let (token, length) = match (time, first) {
            (Some(length), _) => (Token::Time(rest[..length].to_owned()), length),
            (None, first) if first.is_alphanumeric() || first == '_' => {
                let length = word_length(rest);
                (Token::Word(rest[..length].to_owned()), length)
            }
            (None, _) => {
                let length = rest.find(|next: char| next.is_alphanumeric() || next == '_').unwrap_or(rest.len());
                marks(&rest[..length], &mut tokens);
                at += length;
                continue;
            }
        };
        tokens.push(token);
        at += length;
    }
    tokens
}

/// Adds marks, and the arrows in them.
fn marks(text: &str, tokens: &mut Vec<Token>) {
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.find(|c| is_of_arrow(c) != rest.starts_with(is_of_arrow)).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(length);
        match (named_direction(part).is_some() && part != "=", tokens.last_mut()) {
            (true, _) => tokens.push(Token::Arrow(part.to_owned())),
            (false, Some(Token::Mark(last))) => last.push_str(part),
            (false, _) => tokens.push(Token::Mark(part.to_owned())),
        }
        rest = behind;
    }
    if let Some(Token::Mark(last)) = tokens.last_mut() {
        let blank = |c: char| c.is_ascii_whitespace();
        let words: Vec<_> = last.split(blank).filter(|part| !part.is_empty()).collect();
        let [front, end] = [last.starts_with(blank), last.ends_with(blank)].map(|is| if is { " " } else { "" });
        *last = if words.is_empty() { " ".to_owned() } else { format!("{front}{}{end}", words.join(" ")) };
    }
}

/// Returns the length of the time at the beginning of a text: a date, a time of day, or the number of seconds or smaller
/// units since 1970, if that may be one.
fn time_length(text: &str, may_be_count: bool) -> Option<usize> {
    let is_end = |length: usize| !text[length..].starts_with(|next: char| next.is_ascii_alphanumeric());
    if let Some((length, Some(_))) = times::timestamp(text.as_bytes()) {
        return is_end(length).then_some(length);
    }
    if times::clock(text.as_bytes()).is_some() {
        let length = text.find(|c: char| !c.is_ascii_digit() && !".,:".contains(c)).unwrap_or(text.len());
        let length = text[..length].trim_end_matches(['.', ',', ':']).len();
        let half = times::half_of_day(&text.as_bytes()[length..]);
        return Some(length + half.map_or(0, |(half, _)| half)).filter(|length| is_end(*length));
    }
    let length = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..length].trim_end_matches('.');
    let whole = number.find('.').unwrap_or(number.len());
    let is_count =
        matches!(whole, 10 | 13 | 16 | 19) && seconds(number).is_some_and(|seconds| YEARS.contains(&seconds));
    (may_be_count && is_count && is_end(number.len())).then_some(number.len())
}

/// The seconds since 1970 of the years in which a log may be written: 2001 to 2037.
const YEARS: Range<u64> = 1_000_000_000..2_145_000_000;
/// The longest time that a log may take, in seconds. The numbers of threads differ by more.
const LONGEST: u64 = 400 * 86_400;

/// Returns the whole seconds of a number of seconds since 1970, or of smaller units: the first ten digits.
fn seconds(number: &str) -> Option<u64> {
    number.get(..10)?.parse().ok()
}

/// Returns the length of a word: letters and digits, with signs between them as in `tcp-192.0.2.1:80`.
fn word_length(text: &str) -> usize {
    let mut end = 0;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let next = rest.peek().map(|(_, next)| *next);
        let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let joins = match c {
            '.' | '/' | '@' | '-' => next.is_some_and(|next| next.is_alphanumeric() || next == '_'),
            ':' => is_digit(text[..at].chars().next_back()) && is_digit(next),
            c => c.is_alphanumeric() || c == '_',
        };
        if !joins {
            break;
        }
        end = at + c.len_utf8();
    }
    let end = end.max(text.chars().next().map_or(0, char::len_utf8));
    end + unit_length(&text[..end], &text[end..])
}

/// Returns the length of the unit behind a number and a blank, as in `1000 ms`; 0 without one.
fn unit_length(number: &str, behind: &str) -> usize {
    let is_unit = |unit: &&str| {
        let rest = behind.strip_prefix(' ').and_then(|behind| behind.strip_prefix(*unit));
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
    };
    let unit = ["ms", "s", "us", "µs", "μs", "ns"].into_iter().find(is_unit);
    unit.filter(|_| times::number(number.as_bytes()).is_some()).map_or(0, |unit| 1 + unit.len())
}

/// Returns a text that is the same for texts of the same marks, whatever words and times are between them.
pub(super) fn skeleton(tokens: &[Token]) -> String {
    let part = |token: &Token| {
        match token {
            Token::Time(_) => "\u{1}",
            Token::Word(_) => "\u{2}",
            Token::Arrow(_) => "\u{3}",
            Token::Mark(mark) => mark,
        }
        .to_owned()
    };
    tokens.iter().map(part).collect()
}

/// Returns the words of a text, each with its label, the word and the marks in front, and its number among the words. Behind
/// `to`, the label is the same as behind `from`: both name the connection.
pub(super) fn labelled<'t>(tokens: &'t [Token]) -> impl Iterator<Item = (String, usize, &'t str)> {
    let words = tokens.iter().enumerate().filter(|(_, token)| matches!(token, Token::Word(_)));
    words.enumerate().map(|(nth, (at, word))| {
        let from = tokens[..at].iter().rposition(|token| !matches!(token, Token::Mark(_))).unwrap_or(0);
        let part = |token: &'t Token| if token.text() == "to" { "from" } else { token.text() };
        (tokens[from..at].iter().map(part).collect(), nth, word.text())
    })
}

/// Returns the tokens that state who sent a message, or in which direction it went, and what they state. The last words
/// before the message count, and values after names such as `dir=`.
pub(super) fn meaning(tokens: &[Token], with_arrows: bool) -> Option<(RangeInclusive<usize>, WordMeaning)> {
    let is_name = |at: usize| matches!(&tokens[at], Token::Word(word) if SENDERS.iter().any(|name| name.eq_ignore_ascii_case(word)));
    let is_pair = |at: usize| at > 1 && tokens[at - 1].text().trim_matches('"') == "=" && is_name(at - 2);
    let words: Vec<_> = (0..tokens.len()).filter(|at| matches!(tokens[*at], Token::Word(_))).collect();
    if let Some((at, meaning)) =
        words.iter().filter(|at| is_pair(**at)).find_map(|at| Some((*at, named_meaning(tokens[*at].text())?)))
    {
        return Some((at..=at, meaning));
    }
    // As in `from client:` and `[server -> client]`. One word may be the name of a program.
    let last: Vec<_> = words.iter().rev().take(5).copied().collect();
    let phrases = (0..last.len().min(3)).flat_map(|to| (to + 1..last.len().min(to + 3)).map(move |from| (from, to)));
    for (from, to) in phrases.map(|(from, to)| (last[from], last[to])) {
        let text: String = tokens[from..=to].iter().map(Token::text).collect();
        if let Some(side) = named_side(&text) {
            return Some((from..=to, WordMeaning::Sent(side)));
        }
    }
    let arrow = tokens.iter().rposition(|token| matches!(token, Token::Arrow(_))).filter(|_| with_arrows);
    let arrow = arrow.filter(|at| words.iter().filter(|word| *word > at).count() <= 2);
    let arrow = arrow.and_then(|at| Some((at, named_direction(tokens[at].text())?)));
    let word = words.iter().rev().take(4).find_map(|at| Some((*at, direction(tokens, *at)?)));
    let (at, went) = match (arrow, word) {
        (Some((_, arrow)), Some((_, word))) if arrow != word => return None,
        (arrow, word) => arrow.or(word)?,
    };
    Some((at..=at, WordMeaning::Went(went)))
}

/// Returns the direction that a word states. A short word needs a mark beside it: `in` may be any word.
fn direction(tokens: &[Token], at: usize) -> Option<Direction> {
    let word = tokens[at].text();
    let mark = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", Token::text);
    let is_marked = || {
        word.chars().all(|c| c.is_ascii_uppercase())
            || mark(at.checked_sub(1)).ends_with(['[', '('])
            || mark(Some(at + 1)).starts_with([':', ']', ')', '|'])
    };
    word_direction(word).filter(|_| word.len() > 3 || is_marked())
}

/// Returns the direction of a word such as `received`, or of the verb in a name such as `sendRpcPayload`.
pub(super) fn word_direction(word: &str) -> Option<Direction> {
    let end = word.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(word.len());
    let verb = &word[..end];
    let is_verb = ["send", "sent", "sending", "recv", "receive", "received", "receiving"].contains(&verb);
    named_direction(word).or_else(|| named_direction(verb).filter(|_| is_verb))
}

/// The tokens of one place in several lines.
#[derive(Clone, Debug)]
pub(super) struct TokenSet {
    pub kind: Token,
    pub texts: BTreeSet<String>,
}

impl TokenSet {
    pub fn of(tokens: &[Token]) -> Vec<Self> {
        tokens.iter().map(|token| Self { kind: token.clone(), texts: [token.text().to_owned()].into() }).collect()
    }

    pub fn add(sets: &mut [Self], tokens: &[Token]) {
        for (set, token) in sets.iter_mut().zip(tokens) {
            set.texts.insert(token.text().to_owned());
        }
    }

    /// Returns a regular expression for the tokens, given those that follow. Where possible, a word does not match the sign
    /// that follows it: then each character decides how the match goes on, and no backtracking is needed.
    pub fn regex(&self, next: Option<&Self>) -> String {
        let any = |texts: BTreeSet<String>| match texts.len() {
            1 => texts.into_iter().next().unwrap_or_default(),
            _ => format!("(?:{})", texts.into_iter().collect::<Vec<_>>().join("|")),
        };
        // As in `client0`.
        let is_numbered = next.is_some_and(|next| matches!(next.kind, Token::Word(_)));
        match self.kind {
            Token::Time(_) => {
                let shapes: BTreeSet<_> = self.texts.iter().map(|text| time_shape(text)).collect();
                any(shapes)
            }
            Token::Mark(_) => self.texts.iter().next().map_or(String::new(), |mark| blanks(&regex::escape(mark))),
            Token::Arrow(_) => any(self.texts.iter().map(|text| regex::escape(text)).collect()),
            Token::Word(_) if !is_numbered && (self.texts.len() > 1 || self.is_number()) => match self.is_number() {
                true => r"\d+".to_owned(),
                false => {
                    let next = next.and_then(|next| next.kind.text().chars().next());
                    let is_sign =
                        |sign: &char| Some(*sign) != next || self.texts.iter().any(|text| text.contains(*sign));
                    let signs: String = "./@:-".chars().filter(is_sign).collect();
                    let has_unit = self.texts.iter().any(|text| text.contains(' '));
                    format!(r"[\w{signs}]+{}", if has_unit { r"(?: \w+)?" } else { "" })
                }
            },
            Token::Word(_) => any(self.texts.iter().map(|text| regex::escape(text)).collect()),
        }
    }

    /// True if these are times: dates and clock times, or counts of seconds that are not far from each other.
    pub fn is_time(&self) -> bool {
        let counts =
            || self.texts.iter().filter(|text| !text.contains([':', '-', '/', ' '])).filter_map(|text| seconds(text));
        let range = counts().max().zip(counts().min());
        matches!(self.kind, Token::Time(_)) && range.is_none_or(|(most, least)| most - least < LONGEST)
    }

    pub fn is_dated(&self) -> bool {
        self.texts.iter().all(|text| times::timestamp(text.as_bytes()).is_some())
    }

    /// True if one of these times has fractions of a second.
    pub fn has_fraction(&self) -> bool {
        self.texts.iter().any(|text| text.find(':').is_some_and(|colon| text[colon..].contains(['.', ','])))
    }

    fn is_number(&self) -> bool {
        self.texts.iter().all(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

/// Lets each blank of a regular expression match several.
pub(super) fn blanks(regex: &str) -> String {
    regex.replace(' ', r"[ \t]+")
}

/// Returns a text as a regular expression that matches any number in place of each number.
pub(super) fn shape(text: &str) -> String {
    let mut shape = String::new();
    for character in regex::escape(text).chars() {
        match character.is_ascii_digit() {
            true if shape.ends_with(r"\d+") => {}
            true => shape.push_str(r"\d+"),
            false => shape.push(character),
        }
    }
    shape
}

/// Returns a time as a regular expression, which matches any name in place of each name of a day or a month.
fn time_shape(time: &str) -> String {
    let mut names = String::new();
    for part in shape(time).split_inclusive(|c: char| !c.is_ascii_alphabetic()) {
        let name = part.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
        let is_name = name.len() == 3 && name.ends_with(|last: char| last.is_ascii_lowercase());
        names.push_str(match name {
            "AM" | "PM" => "[AP]M",
            "am" | "pm" => "[ap]m",
            _ if is_name => "[A-Z][a-z]{2}",
            _ => name,
        });
        names.push_str(&part[name.len()..]);
    }
    blanks(&names)
}
