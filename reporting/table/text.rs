//! For people: columns set by blanks, folded where a terminal is narrow. Groups of columns are numbered, as their names are longer
//! than figures. A hundred thousand lines are set in parallel, and never kept as cells.

use std::borrow::Cow;
use std::io::{self, Write};

use super::{Column, Table, Value};
use crate::parallel;
use crate::text::{clipped, fold_name, wrap};

/// Lines that are kept together.
const CHUNK: usize = 1 << 10;
/// Of these, how many are set at once.
const AT_ONCE: usize = 64;
/// Parts the cells of a line that is not set yet; no cell holds it, as text loses its control characters.
const PART: char = '\u{1f}';
/// Blanks between columns, where there is room for them.
const GAP: usize = 2;
/// A column that is folded is no narrower, as nothing could be read in it: the table then exceeds the terminal.
const NARROWEST: usize = 12;
/// Columns of a terminal, where there is none.
const NO_TERMINAL: u16 = 120;
/// The longest name of a group.
const LONGEST: usize = 200;

/// How text is to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal; null where there is none (the text then folds at 120).
    pub width: Option<u16>,
    /// Whether escape sequences may be used.
    pub colour: bool,
}

impl Style {
    /// Columns that text may take.
    #[must_use]
    pub fn columns(self) -> usize {
        usize::from(self.width.unwrap_or(NO_TERMINAL)).max(40)
    }

    /// `text` between the escape sequences of `codes` (ECMA-48, SGR), where there is colour.
    #[must_use]
    pub fn paint(self, codes: &str, text: &str) -> String {
        if self.colour && !codes.is_empty() { format!("\x1b[{codes}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// As wide as it is, with a narrow gap.
pub(super) fn write(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    for (at, name) in table.groups.iter().enumerate() {
        writeln!(output, "# [{}]  {}", at + 1, clipped(name, LONGEST))?;
    }
    if !table.groups.is_empty() {
        writeln!(output)?;
    }
    let chunks = chunks(table);
    let setting = Setting { widths: widths(table, &chunks), gap: GAP, columns: &table.columns };
    output.write_all(setting.lines(&head(table)).concat().as_bytes())?;
    for some in chunks.chunks(AT_ONCE) {
        let set = parallel::mapped(some, |chunk| {
            chunk.lines().flat_map(|line| setting.lines(line)).collect::<String>()
        });
        set.iter().try_for_each(|lines| output.write_all(lines.as_bytes()))?;
    }
    Ok(())
}

impl Table<'_> {
    /// The table for a terminal: as wide as that, its headings bold. `codes` says how each row is painted.
    #[must_use]
    pub fn on_terminal(&self, style: Style, codes: &dyn Fn(usize) -> &'static str) -> String {
        let room = style.width.map_or(usize::MAX, |_| style.columns());
        let chunks = chunks(self);
        let mut widths = widths(self, &chunks);
        let gap = (GAP..=self.widest_gap).rev().find(|gap| total(&widths, *gap) <= room).unwrap_or(1);
        if gap == 1 {
            narrow(&mut widths, &self.columns, room);
            let head = head(self);
            let rows = chunks.iter().flat_map(|chunk| chunk.lines()).chain([head.as_str()]);
            widths = tight(rows, &widths);
        }
        let setting = Setting { widths, gap, columns: &self.columns };
        let head = head(self);
        let rows = chunks.iter().flat_map(|chunk| chunk.lines()).enumerate();
        let mut out = String::new();
        for (codes, row) in [("1", head.as_str())].into_iter().chain(rows.map(|(at, row)| (codes(at), row))) {
            for line in setting.lines(row) {
                out += &style.paint(codes, line.trim_end());
                out.push('\n');
            }
        }
        out
    }

    /// Whether all columns fit the terminal side by side.
    #[must_use]
    pub fn fits(&self, style: Style) -> bool {
        total(&widths(self, &chunks(self)), GAP) <= style.columns()
    }
}

fn head(table: &Table<'_>) -> String {
    let heads = table.columns.iter().map(|column| match column.group {
        Some(group) => Cow::Owned(format!("[{}] {}", group + 1, column.heading)),
        None => Cow::Borrowed(column.heading),
    });
    heads.collect::<Vec<_>>().join(&PART.to_string())
}

/// Lines that are not set yet. A string for many: a hundred thousand of their own would take more memory than what is in them.
fn chunks(table: &Table<'_>) -> Vec<String> {
    let some: Vec<_> = table.rows.chunks(CHUNK).collect();
    parallel::mapped(&some, |rows| chunk(table, rows))
}

/// No cell breaks a line, as text loses its control characters.
fn chunk(table: &Table<'_>, rows: &[Cow<'_, [Value]>]) -> String {
    let mut lines = String::new();
    for row in rows {
        for (at, (column, cell)) in table.cells(row).enumerate() {
            if at > 0 {
                lines.push(PART);
            }
            match (cell, column.longest) {
                (Value::Text(text), Some(longest)) => lines += &clipped(text, longest),
                _ => lines += &column.shown(cell),
            }
        }
        lines.push('\n');
    }
    lines.shrink_to_fit();
    lines
}

/// What the widest cell of each column takes.
fn widths(table: &Table<'_>, chunks: &[String]) -> Vec<usize> {
    let wider = |widths: &mut [usize], cells: &mut dyn Iterator<Item = usize>| {
        widths.iter_mut().zip(cells).for_each(|(width, cell)| *width = (*width).max(cell));
    };
    let of = |text: &str| {
        let mut widths = vec![0; table.columns.len()];
        for line in text.lines() {
            wider(&mut widths, &mut line.split(PART).map(|cell| cell.chars().count()));
        }
        widths
    };
    let mut widest = of(&head(table));
    parallel::mapped(chunks, |chunk| of(chunk))
        .into_iter()
        .for_each(|widths| wider(&mut widest, &mut widths.into_iter()));
    widest
}

fn total(widths: &[usize], gap: usize) -> usize {
    widths.iter().sum::<usize>() + gap * widths.len().saturating_sub(1)
}

/// What columns that fold have too much is taken from the widest of them.
fn narrow(widths: &mut [usize], columns: &[Column], room: usize) {
    let mut folding: Vec<usize> = (0..columns.len()).filter(|&at| columns[at].folds).collect();
    folding.sort_by_key(|&at| widths[at]);
    let fixed = total(widths, 1) - folding.iter().map(|&at| widths[at]).sum::<usize>();
    let mut left = room.saturating_sub(fixed);
    for (done, &at) in folding.iter().enumerate() {
        let share = left / (folding.len() - done);
        widths[at] = widths[at].min(share.max(NARROWEST));
        left = left.saturating_sub(widths[at]);
    }
}

/// What columns of these widths take once their cells are folded.
fn tight<'a>(rows: impl Iterator<Item = &'a str>, widths: &[usize]) -> Vec<usize> {
    let mut taken = vec![0; widths.len()];
    for (at, cell) in rows.flat_map(|row| row.split(PART).enumerate()) {
        for part in folded(cell, widths[at]) {
            taken[at] = taken[at].max(part.chars().count());
        }
    }
    taken
}

/// How lines are set.
struct Setting<'a> {
    widths: Vec<usize>,
    gap: usize,
    columns: &'a [Column],
}

impl Setting<'_> {
    /// The lines of a row, each with its end: one, unless a cell is folded.
    fn lines(&self, row: &str) -> Vec<String> {
        let cells = row.split(PART).zip(&self.widths);
        if cells.clone().all(|(cell, &width)| cell.len() <= width || cell.chars().count() <= width) {
            return vec![self.line(row.split(PART))];
        }
        let folded: Vec<Vec<String>> = cells.map(|(cell, &width)| folded(cell, width)).collect();
        let most = folded.iter().map(Vec::len).max().unwrap_or(0);
        let at = |number: usize| folded.iter().map(move |cell| cell.get(number).map_or("", String::as_str));
        (0..most).map(|number| self.line(at(number))).collect()
    }

    fn line<'b>(&self, cells: impl Iterator<Item = &'b str>) -> String {
        let mut out = String::with_capacity(total(&self.widths, self.gap) + 1);
        for ((cell, &width), column) in cells.zip(&self.widths).zip(self.columns) {
            let blanks = std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count()));
            if column.right {
                out.extend(blanks);
                out += cell;
            } else {
                out += cell;
                out.extend(blanks);
            }
            out.extend(std::iter::repeat_n(' ', self.gap));
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        out
    }
}

/// A cell in lines of `width`, broken at blanks, and within a name where there is none.
fn folded(cell: &str, width: usize) -> Vec<String> {
    if cell.chars().count() <= width {
        return vec![cell.to_owned()];
    }
    let lines = wrap(cell, width);
    lines
        .iter()
        .flat_map(|line| fold_name(line, width).lines().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}
