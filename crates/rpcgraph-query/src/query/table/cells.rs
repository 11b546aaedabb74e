//! The cells of a page, and what all cells of a column have in common.

use std::ops::Range;

use super::fit::frequent_prefix;
use crate::diagnostic::display_width;

/// The least length of a prefix that is shortened.
const LONG: usize = 8;

/// The kind of a cell: only text may be cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CellKind {
    #[default]
    Empty,
    Name,
    Number,
    /// A date, a time of day and a time zone.
    DateTime,
    Text,
}

/// A cell: the place of its text in the page, and its width in columns; `cut` is true if it was cut.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    place: Range<usize>,
    pub width: usize,
    pub kind: CellKind,
    pub cut: bool,
}

/// The cells of a page, row by row. All texts are in one buffer, which the next page uses again.
#[derive(Debug, Default)]
pub struct CellPage {
    text: String,
    cells: Vec<Cell>,
    columns: usize,
    /// The number of rows.
    pub rows: usize,
}

impl CellPage {
    pub fn new(columns: usize) -> Self {
        Self { columns, ..Self::default() }
    }

    pub fn clear(&mut self) {
        self.text.clear();
        self.cells.clear();
        self.rows = 0;
    }

    /// Adds a cell to the row that is being filled.
    pub fn push(&mut self, text: &str, width: usize, kind: CellKind, cut: bool) {
        let place = self.add(text);
        self.cells.push(Cell { place, width, kind, cut });
    }

    /// Ends the row that is being filled: its missing cells are empty.
    pub fn end_row(&mut self) {
        self.rows += 1;
        self.cells.resize(self.rows * self.columns, Cell::default());
    }

    fn add(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }

    /// Returns a cell and its text.
    pub fn get(&self, row: usize, column: usize) -> (&Cell, &str) {
        const NONE: &Cell = &Cell { place: 0..0, width: 0, kind: CellKind::Empty, cut: false };
        let cell = self.cells.get(row * self.columns + column).unwrap_or(NONE);
        (cell, self.text.get(cell.place.clone()).unwrap_or_default())
    }

    /// Returns the cells of a column, with their texts.
    pub fn column(&self, column: usize) -> impl Iterator<Item = (&Cell, &str)> + Clone {
        (0..self.rows).map(move |row| self.get(row, column))
    }

    /// Returns the number of cut cells.
    pub fn cut(&self) -> usize {
        self.cells.iter().filter(|cell| cell.cut).count()
    }

    /// Returns true if a column contains only numbers.
    pub fn is_number(&self, column: usize) -> bool {
        let mut kinds =
            self.column(column).map(|(cell, _)| cell.kind).filter(|kind| *kind != CellKind::Empty).peekable();
        kinds.peek().is_some() && kinds.all(|kind| kind == CellKind::Number)
    }

    /// Gives a cell another text.
    fn replace(&mut self, row: usize, column: usize, text: &str) {
        let place = self.add(text);
        if let Some(cell) = self.cells.get_mut(row * self.columns + column) {
            (cell.width, cell.place) = (display_width(text), place);
        }
    }

    /// Gives the times of a column as many digits as milliseconds have, and removes the day and the time zone if all have the
    /// same. Returns the common day and zone.
    pub fn shorten_times(&mut self, column: usize) -> Option<String> {
        let (mut first, mut differ) = (None, false);
        for (cell, text) in self.column(column).filter(|(cell, _)| cell.kind != CellKind::Empty) {
            let (day, _, zone) = parts(text).filter(|_| cell.kind == CellKind::DateTime)?;
            differ |= *first.get_or_insert((day, zone)) != (day, zone);
        }
        let common = first.filter(|_| !differ).map(|(day, zone)| match zone {
            "Z" => format!("{day} UTC"),
            zone => format!("{day} {zone}").trim_end().to_owned(),
        });
        for row in 0..self.rows {
            let Some((day, time, zone)) = parts(self.get(row, column).1) else { continue };
            let (seconds, fraction) = time.split_once('.').unwrap_or((time, ""));
            let time = format!("{seconds}.{:0<3}", fraction.get(..3).unwrap_or(fraction));
            let time = if differ { format!("{day}T{time}{zone}") } else { time };
            self.replace(row, column, &time);
        }
        common
    }

    /// Removes what all texts of a column begin with, up to a slash, if that is long; of IRIs, also their brackets. Returns
    /// it.
    pub fn without_prefix(&mut self, column: usize) -> Option<String> {
        let mut texts = self.column(column).map(|(_, text)| text);
        let first = texts.next()?;
        let common = texts.fold(first, |common, text| {
            let equal = common.char_indices().zip(text.chars()).take_while(|((_, one), other)| one == other);
            common.get(..equal.last().map_or(0, |((at, last), _)| at + last.len_utf8())).unwrap_or_default()
        });
        let prefix = common.get(..=common.rfind('/')?).filter(|prefix| prefix.len() >= LONG)?.to_owned();
        for row in 0..self.rows {
            let rest = self.get(row, column).1.get(prefix.len()..).unwrap_or_default();
            let rest = if prefix.starts_with('<') { rest.trim_end_matches('>') } else { rest }.to_owned();
            self.replace(row, column, &rest);
        }
        Some(prefix.trim_start_matches('<').to_owned())
    }

    /// Shortens what most names of a column begin with, up to the first slash, to `…`. Returns it.
    pub fn with_short_prefix(&mut self, column: usize) -> Option<String> {
        let names = self.column(column).map(|(_, text)| text).filter(|text| !text.starts_with('<'));
        let prefix = Some(frequent_prefix(names)).filter(|prefix| prefix.len() >= LONG)?.to_owned();
        for row in 0..self.rows {
            if let Some(rest) = self.get(row, column).1.strip_prefix(&prefix) {
                let short = format!("…/{rest}");
                self.replace(row, column, &short);
            }
        }
        Some(prefix.trim_end_matches('/').to_owned())
    }

    /// Clears cells of the first column that repeat the row above.
    pub fn without_repeats(&mut self) {
        let mut heading = String::new();
        for row in 0..self.rows {
            let (cell, text) = self.get(row, 0);
            // Cut texts may differ in the missing part.
            if row > 0 && text == heading && !cell.cut {
                self.cells.get_mut(row * self.columns).into_iter().for_each(|cell| *cell = Cell::default());
            } else {
                text.clone_into(&mut heading);
            }
        }
    }

    /// Aligns the numbers of a column at their decimal points.
    pub fn align(&mut self, column: usize) {
        // The length of the fraction, including the point.
        let fraction = |text: &str| text.find('.').map_or(0, |point| text.len() - point);
        let longest = self.column(column).map(|(_, text)| fraction(text)).max().unwrap_or(0);
        for row in 0..self.rows {
            let (_, text) = self.get(row, column);
            let spaces = longest - fraction(text);
            if spaces > 0 && !text.is_empty() {
                let aligned = format!("{text}{:spaces$}", "");
                self.replace(row, column, &aligned);
            }
        }
    }
}

/// Parses a date and a time: the day, the time of day, and the time zone.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (day, time) = text.split_once('T')?;
    let zone = time.find(['Z', '+', '-']).unwrap_or(time.len());
    Some((day, time.get(..zone)?, time.get(zone..)?))
}
