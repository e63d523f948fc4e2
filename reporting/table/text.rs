//! Writes tables for people with comfy-table, folded on narrow terminals. Column groups are
//! numbered, because their names are longer than the numbers below. Very long tables are written
//! row by row without layout.

use std::io::{self, Write};

use comfy_table::presets::NOTHING as NO_BORDERS;
use comfy_table::{CellAlignment, Table as Drawing};

use super::{Table, TableColumn, Value};
use crate::text::{clipped, columns, fold_name, hang, wrap};

/// The largest number of rows with layout.
const MAX_LAID_OUT_ROWS: usize = 5_000;
/// The number of blanks between columns if there is room.
const COLUMN_GAP: usize = 2;
/// The smallest width of a folded column, in columns of the terminal. If the table does not fit
/// even so, it exceeds the terminal.
const MIN_FOLDED_WIDTH: usize = 10;
/// The smallest number of columns that are shown on any terminal.
const MIN_SHOWN_COLUMNS: usize = 3;
/// The width of the text without a terminal, in columns.
const NO_TERMINAL: u16 = 120;
/// The longest name of a column group, in characters.
const MAX_GROUP_NAME: usize = 200;

/// The style of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// The width of the terminal in columns; `None` without a terminal (text then folds at 120
    /// columns).
    pub width: Option<u16>,
    /// Whether escape sequences may be used.
    pub colour: bool,
}

impl Style {
    /// The width of text, in columns.
    #[must_use]
    pub fn columns(self) -> usize {
        usize::from(self.width.unwrap_or(NO_TERMINAL)).max(40)
    }

    /// `text` between the escape sequences for `codes` (ECMA-48, SGR) if the output has colour.
    #[must_use]
    pub fn paint(self, codes: &str, text: &str) -> String {
        if self.colour && !codes.is_empty() {
            format!("\x1b[{codes}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// The cells of a row, or the headings, as text for people.
type Cells = Vec<String>;

/// Writes the table at its full width with a narrow gap.
pub(super) fn write(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    for (at, name) in table.groups.iter().enumerate() {
        writeln!(output, "# [{}]  {}", at + 1, clipped(name, MAX_GROUP_NAME))?;
    }
    if !table.groups.is_empty() {
        writeln!(output)?;
    }
    match table.layout_cells() {
        Some(rows) => {
            let drawing = draw_cells(&rows, &table.columns, COLUMN_GAP);
            drawing
                .lines()
                .try_for_each(|line| writeln!(output, "{}", line.trim_end()))
        }
        None => write_in_bulk(table, output),
    }
}

/// Writes one row a line, with two blanks between cells.
fn write_in_bulk(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "{}", head(table).join("  "))?;
    let mut rows = table.rows.iter();
    rows.try_for_each(|row| writeln!(output, "{}", cells(table, row).join("  ")))
}

impl Table<'_> {
    /// The table for a terminal, with bold headings, no wider than the terminal if possible.
    /// `codes` returns the escape codes of each row.
    #[must_use]
    pub fn on_terminal(&self, style: Style, codes: &dyn Fn(usize) -> &'static str) -> String {
        let room = style.width.map_or(usize::MAX, |_| style.columns());
        let mut fewer = self.clone();
        let spare = |table: &Self| {
            let columns = table.columns.iter().enumerate().rev();
            let spare = columns.filter(|(_, column)| column.spare > 0);
            spare
                .max_by_key(|(_, column)| column.spare)
                .map(|(at, _)| at)
        };
        while let Some(spare) =
            spare(&fewer).filter(|_| style.width.is_some() && !fewer.fits(style))
        {
            fewer.remove_column(spare);
        }
        while fewer.columns.len() > MIN_SHOWN_COLUMNS && fewer.narrowest() > room {
            fewer.remove_column(fewer.columns.len() - 1);
        }
        let text = fewer.set(style, room, codes);
        let is_shown = |heading: &str| fewer.columns.iter().any(|column| column.heading == heading);
        let headings = self.columns.iter().map(|column| column.heading);
        let left_out: Vec<&str> = headings
            .filter(|heading| !heading.is_empty() && !is_shown(heading))
            .collect();
        if left_out.is_empty() {
            return text;
        }
        let mut note = String::new();
        hang(
            &mut note,
            "",
            "  ",
            &format!("wider terminals show {} too", left_out.join(", ")),
            room,
        );
        text + &note
    }

    /// The width in columns, with all folding columns at their smallest width and a gap of one
    /// blank.
    fn narrowest(&self) -> usize {
        let Some(rows) = self.layout_cells() else {
            return 0;
        };
        let mut widths = widths(&rows, self.columns.len());
        narrow(&mut widths, &self.columns, 0);
        total(&widths, 1)
    }

    fn set(&self, style: Style, room: usize, codes: &dyn Fn(usize) -> &'static str) -> String {
        let Some(mut rows) = self.layout_cells() else {
            return self.render(super::Format::Table);
        };
        let mut widths = widths(&rows, self.columns.len());
        let gap = if total(&widths, COLUMN_GAP) <= room {
            COLUMN_GAP
        } else {
            1
        };
        if gap == 1 {
            narrow(&mut widths, &self.columns, room);
            for (cell, &width) in rows.iter_mut().flat_map(|row| row.iter_mut().zip(&widths)) {
                *cell = fold_cell(cell, width);
            }
        }
        let drawing = draw_cells(&rows, &self.columns, gap);
        let (mut lines, mut out) = (drawing.lines(), String::new());
        for (at, row) in rows.iter().enumerate() {
            let codes = at.checked_sub(1).map_or("1", codes);
            let height = row
                .iter()
                .map(|cell| cell.split('\n').count())
                .max()
                .unwrap_or(1);
            for line in lines.by_ref().take(height) {
                out += &style.paint(codes, line.trim_end());
                out.push('\n');
            }
        }
        out
    }

    /// Whether all columns fit the terminal side by side.
    #[must_use]
    pub fn fits(&self, style: Style) -> bool {
        self.layout_cells().is_some_and(|rows| {
            total(&widths(&rows, self.columns.len()), COLUMN_GAP) <= style.columns()
        })
    }

    /// The headings and cells; `None` if there are too many rows for layout.
    fn layout_cells(&self) -> Option<Vec<Cells>> {
        if self.rows.len() > MAX_LAID_OUT_ROWS {
            return None;
        }
        let rows: Vec<Cells> = std::iter::once(head(self))
            .chain(self.rows.iter().map(|row| cells(self, row)))
            .collect();
        // Wider tables cannot be drawn.
        (total(&widths(&rows, self.columns.len()), COLUMN_GAP) <= usize::from(u16::MAX))
            .then_some(rows)
    }
}

fn head(table: &Table<'_>) -> Cells {
    let heads = table.columns.iter().map(|column| match column.group {
        Some(group) => format!("[{}] {}", group + 1, column.heading),
        None => column.heading.to_owned(),
    });
    heads.collect()
}

/// The cells of a row. No cell contains a line break, because control characters are removed.
fn cells(table: &Table<'_>, row: &[Value]) -> Cells {
    let shown = table
        .cells(row)
        .map(|(column, cell)| match (cell, column.longest) {
            (Value::Text(text), Some(longest)) => clipped(text, longest),
            _ => column.format_cell(cell),
        });
    shown.collect()
}

fn draw_cells(rows: &[Cells], columns: &[TableColumn], gap: usize) -> Drawing {
    let mut drawing = Drawing::new();
    drawing.load_style(NO_BORDERS).add_rows(rows);
    for (drawn, column) in drawing.column_iter_mut().zip(columns) {
        drawn.set_padding((0, gap as u16));
        drawn.set_cell_alignment(if column.right {
            CellAlignment::Right
        } else {
            CellAlignment::Left
        });
    }
    drawing
}

/// The largest width of the cells of each column.
fn widths(rows: &[Cells], count: usize) -> Vec<usize> {
    (0..count)
        .map(|at| rows.iter().map(|row| columns(&row[at])).max().unwrap_or(0))
        .collect()
}

fn total(widths: &[usize], gap: usize) -> usize {
    widths.iter().sum::<usize>() + gap * widths.len().saturating_sub(1)
}

/// Reduces the widths of folding columns, the widest first, until the table fits.
fn narrow(widths: &mut [usize], columns: &[TableColumn], room: usize) {
    let mut folding: Vec<usize> = (0..columns.len()).filter(|&at| columns[at].folds).collect();
    folding.sort_by_key(|&at| widths[at]);
    let fixed = total(widths, 1) - folding.iter().map(|&at| widths[at]).sum::<usize>();
    let mut left = room.saturating_sub(fixed);
    for (done, &at) in folding.iter().enumerate() {
        let share = left / (folding.len() - done);
        widths[at] = widths[at].min(share.max(MIN_FOLDED_WIDTH));
        left = left.saturating_sub(widths[at]);
    }
}

/// Folds a cell to lines of `width` columns at blanks, or within a name that has no blanks.
fn fold_cell(cell: &str, width: usize) -> String {
    if columns(cell) <= width {
        return cell.to_owned();
    }
    wrap(cell, width)
        .iter()
        .map(|line| fold_name(line, width))
        .collect::<Vec<_>>()
        .join("\n")
}
