//! The cells of a page, and what all cells of a column have in common.

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

/// The text of a cell and its width in columns; `cut` is true if it was cut.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    pub width: usize,
    pub kind: CellKind,
    pub cut: bool,
}

/// Returns a cell of a row.
pub fn cell(row: &[Cell], index: usize) -> &Cell {
    const NONE: &Cell = &Cell { text: String::new(), width: 0, kind: CellKind::Empty, cut: false };
    row.get(index).unwrap_or(NONE)
}

/// Returns true if a column contains only numbers.
pub fn is_number(rows: &[Vec<Cell>], index: usize) -> bool {
    let mut kinds = rows.iter().map(|row| cell(row, index).kind).filter(|kind| *kind != CellKind::Empty).peekable();
    kinds.peek().is_some() && kinds.all(|kind| kind == CellKind::Number)
}

/// Removes the day and the time zone from the times of a column if all have the same, and fractions below a
/// millisecond. Returns the common day and zone.
pub fn shorten_times(rows: &mut [Vec<Cell>], index: usize) -> Option<String> {
    let parts = |text: &str| {
        let (day, time) = text.split_once('T')?;
        let zone = time.find(['Z', '+', '-']).unwrap_or(time.len());
        Some((day.to_owned(), time.get(..zone)?.to_owned(), time.get(zone..)?.to_owned()))
    };
    let mut common = None;
    for row in rows.iter() {
        let cell = cell(row, index);
        if cell.kind == CellKind::Empty {
            continue;
        }
        let (day, _, zone) = parts(&cell.text).filter(|_| cell.kind == CellKind::DateTime)?;
        if common.get_or_insert_with(|| (day.clone(), zone.clone())) != &(day, zone) {
            return None;
        }
    }
    for row in rows {
        if let Some(cell) = row.get_mut(index)
            && let Some((_, time, _)) = parts(&cell.text)
        {
            let (seconds, fraction) = time.split_once('.').unwrap_or((&time, ""));
            cell.text = format!("{seconds}.{:0<3}", fraction.get(..3).unwrap_or(fraction));
            cell.width = cell.text.len();
        }
    }
    common.map(
        |(day, zone)| if zone == "Z" { format!("{day} UTC") } else { format!("{day} {zone}").trim_end().to_owned() },
    )
}

/// Clears cells of the first column that repeat the row above.
pub fn without_repeats(rows: &mut [Vec<Cell>]) {
    let mut heading = Cell::default();
    for cell in rows.iter_mut().filter_map(|row| row.first_mut()) {
        // Cut texts may differ in the missing part.
        match *cell == heading && !cell.cut {
            true => *cell = Cell::default(),
            false => heading = cell.clone(),
        }
    }
}

/// Aligns the numbers of a column at their decimal points.
pub fn align(rows: &mut [Vec<Cell>], index: usize) {
    // The length of the fraction, including the point.
    let fraction = |text: &str| text.find('.').map_or(0, |point| text.len() - point);
    let longest = rows.iter().map(|row| fraction(&cell(row, index).text)).max().unwrap_or(0);
    for cell in rows.iter_mut().filter_map(|row| row.get_mut(index)).filter(|cell| !cell.text.is_empty()) {
        let spaces = longest - fraction(&cell.text);
        cell.text.push_str(&" ".repeat(spaces));
        cell.width += spaces;
    }
}
