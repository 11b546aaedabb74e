//! Texts that fit into columns, and into Markdown.

use std::borrow::Cow;
use std::collections::HashMap;

use unicode_width::UnicodeWidthChar as _;

use crate::diagnostic::display_width;

/// Breaks a text into at most `most` lines of at most `width` columns, at spaces if possible. The last line ends in `…`
/// if text is left over.
pub fn folded(text: &str, width: usize, most: usize) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = text;
    let mut lines = 0;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        lines += 1;
        if display_width(rest) <= width || lines == most {
            return Some(cut(std::mem::take(&mut rest), width));
        }
        let mut used = 0;
        let fits = |(_, character): &(usize, char)| {
            used += character.width().unwrap_or(0);
            used <= width
        };
        let end = rest.char_indices().take_while(fits).last().map_or(0, |(at, c)| at + c.len_utf8());
        let end = end.max(rest.chars().next().map_or(0, char::len_utf8));
        let (line, after) = rest.split_at(end);
        let may_break = |space: &usize| !is_before_unit(&rest[..*space], &rest[*space..]);
        let is_whole = after.starts_with(' ') && may_break(&end);
        let last = line.rfind(' ').filter(|space| *space > end / 2 && !is_whole);
        let mut spaces = line.rmatch_indices(' ').map(|(space, _)| space);
        let space = last.map(|last| spaces.find(may_break).unwrap_or(last));
        let (line, after) = space.map_or((line, after), |space| rest.split_at(space));
        rest = after.trim_start();
        Some(line.trim_end().into())
    })
}

/// True if a number ends here, and its unit begins behind the space.
fn is_before_unit(before: &str, after: &str) -> bool {
    const UNITS: [&str; 9] = ["µs", "ms", "s", "min", "h", "d", "B", "kB", "MB"];
    let word = after.trim_start().split(|character: char| !character.is_alphabetic()).next();
    before.ends_with(|last: char| last.is_ascii_digit()) && word.is_some_and(|word| UNITS.contains(&word))
}

/// Returns the beginning up to the first slash that most names have, with the slash; of two, the last name's. Empty if at most two
/// names have it.
pub fn frequent_prefix<'n>(names: impl Iterator<Item = &'n str> + Clone) -> &'n str {
    let prefixes = names.filter_map(|name| name.get(..=name.find('/')?));
    let mut counts = HashMap::<&str, usize>::new();
    prefixes.clone().for_each(|prefix| *counts.entry(prefix).or_default() += 1);
    prefixes.max_by_key(|prefix| counts[prefix]).filter(|prefix| counts[prefix] > 2).unwrap_or_default()
}

/// Cuts the text to at most `width` columns, with `…` at the end if it is longer.
pub fn cut(text: &str, width: usize) -> Cow<'_, str> {
    let whole = display_width(text);
    if whole <= width { text.into() } else { shortened(text, whole, width).into() }
}

/// Cuts the text to at most `width` columns, with `…` in its middle if it is longer.
pub fn cut_middle(text: &str, width: usize) -> Cow<'_, str> {
    let whole = display_width(text);
    if whole <= width {
        return text.into();
    }
    let start = shortened(text, whole, (width / 2).max(1));
    let mut left = width.saturating_sub(display_width(&start));
    let fits = |(_, character): &(usize, char)| {
        let columns = character.width().unwrap_or(0);
        let fits = columns <= left;
        left -= if fits { columns } else { 0 };
        fits
    };
    let end = text.char_indices().rev().take_while(fits).last().map_or(text.len(), |(at, _)| at);
    (start + text.get(end..).unwrap_or_default()).into()
}

/// Cuts a text of `whole` columns to at most `width` columns, which are fewer.
pub(super) fn shortened(text: &str, whole: usize, width: usize) -> String {
    // If each byte takes a column, so does each character.
    if whole == text.len()
        && let Some(start) = width.checked_sub(1).and_then(|end| text.get(..end))
    {
        return format!("{start}…");
    }
    let mut used = 1;
    let fits = |character: &char| {
        used += character.width().unwrap_or(0);
        used <= width
    };
    text.chars().take_while(fits).chain(['…']).collect()
}
