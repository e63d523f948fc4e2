//! Writes tables for people with the crate comfy-table. On narrow terminals, columns are omitted
//! and cells are folded to several lines. Very long tables are written row by row without aligned
//! columns.

use std::collections::HashSet;
use std::io::{self, Write};
use std::iter;

use comfy_table::presets::NOTHING as NO_BORDERS;
use comfy_table::{CellAlignment, Table as Drawing};

use super::{CellValue, Table, TableColumn};
use crate::text::{ascii, clipped, display_width, fold_name, hang, plain, without_unit, wrap};

/// The largest number of rows for which columns are aligned.
const MAX_ALIGNED_ROWS: usize = 5_000;
/// The number of blanks between columns if the table then fits the terminal; otherwise there is one
/// blank.
const COLUMN_GAP: usize = 2;
/// The smallest width of a folded column, in columns of the terminal. A table that does not fit
/// even with this width exceeds the terminal.
pub(super) const MIN_FOLDED_WIDTH: usize = 10;
/// The smallest number of columns that are shown on any terminal.
const MIN_SHOWN_COLUMNS: usize = 3;
/// The width of text if the output is not a terminal, in columns.
const DEFAULT_WIDTH: u16 = 120;
/// The largest number of lines that explain the columns of a table.
const MAX_LEGEND_LINES: usize = 6;
/// The end of the lines that explain the columns of a table.
const MORE: &str = "all: timermeter explain";

/// The width and the colours of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// The width of the terminal in columns; `None` if the output is not a terminal, and text then
    /// folds at 120 columns.
    pub width: Option<u16>,
    /// Whether escape sequences may be used.
    pub colour: bool,
    /// Whether only ASCII characters may be used.
    pub ascii: bool,
    /// Whether lines below a table explain its columns.
    pub legend: bool,
    /// Whether suggestions for the next step are omitted.
    pub quiet: bool,
}

impl Style {
    /// The width of text in columns, at least 40.
    pub fn columns(self) -> usize {
        usize::from(self.width.unwrap_or(DEFAULT_WIDTH)).max(40)
    }

    /// `text` as one printable line, in ASCII if other characters may not be used.
    pub fn plain(self, text: &str) -> String {
        let text = plain(text);
        if self.ascii { ascii(&text) } else { text }
    }

    /// `text` in the given colours: between the escape sequences for the SGR parameters `codes`
    /// (ECMA-48), or unchanged if escape sequences are not allowed.
    pub fn paint(self, codes: &str, text: &str) -> String {
        if self.colour && !codes.is_empty() {
            format!("\x1b[{codes}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Writes the table at its full width.
pub(super) fn write(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    match table.aligned_cells() {
        Some(rows) => {
            let drawing = draw_cells(&rows, &table.columns, COLUMN_GAP);
            drawing
                .lines()
                .try_for_each(|line| writeln!(output, "{}", line.trim_end()))
        }
        None => write_unaligned(table, output),
    }
}

/// Writes one row per line, with two blanks between cells.
fn write_unaligned(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "{}", headings(table).join("  "))?;
    table
        .rows
        .iter()
        .try_for_each(|row| writeln!(output, "{}", format_cells(table, row).join("  ")))
}

impl Table<'_> {
    /// Renders the table for a terminal with bold headings, no wider than the terminal if possible.
    /// Below the table it lists the columns that were omitted. `codes` returns the SGR parameters
    /// for a row with the given index, as in [`Style::paint`].
    pub fn on_terminal(&self, style: Style, codes: &dyn Fn(usize) -> &'static str) -> String {
        let max_width = style.width.map_or(usize::MAX, |_| style.columns());
        let mut reduced = self.clone();
        reduced.ascii = style.ascii;
        let next_omitted = |table: &Self| {
            table
                .columns
                .iter()
                .enumerate()
                .rev()
                .filter(|(_, column)| column.omission_priority > 0)
                .max_by_key(|(_, column)| column.omission_priority)
                .map(|(index, _)| index)
        };
        while let Some(index) =
            next_omitted(&reduced).filter(|_| style.width.is_some() && !reduced.fits(style))
        {
            reduced.remove_column(index);
        }
        while reduced.columns.len() > MIN_SHOWN_COLUMNS && reduced.min_width() > max_width {
            reduced.remove_column(reduced.columns.len() - 1);
        }
        let mut text = reduced.align(style, max_width, codes);
        let is_shown = |heading: &str| {
            reduced
                .columns
                .iter()
                .any(|column| column.heading == heading)
        };
        let left_out: Vec<&str> = self
            .columns
            .iter()
            .map(|column| column.heading)
            .filter(|heading| !heading.is_empty() && !is_shown(heading))
            .collect();
        if !left_out.is_empty() {
            let note = format!("wider terminals show {} too", left_out.join(", "));
            hang(&mut text, "", "  ", &style.plain(&note), max_width);
        }
        for line in reduced.legend(style) {
            text += &style.paint("2", &line);
            text.push('\n');
        }
        text
    }

    /// The lines that explain as many of the columns, with the words in their cells, as fit into [`MAX_LEGEND_LINES`]; none without
    /// [`Style::legend`].
    fn legend(&self, style: Style) -> Vec<String> {
        let lines = |text: &str| wrap(&style.plain(text), style.columns());
        let mut legend = String::new();
        let mut names = HashSet::new();
        for (index, column) in self.columns.iter().enumerate().filter(|_| style.legend) {
            let name = without_unit(column.heading);
            if column.about.is_empty() || !names.insert(name) {
                continue;
            }
            let cells = self.rows.iter().filter_map(|row| row.get(index));
            let cells: Vec<_> = cells.map(|cell| column.format_cell(cell)).collect();
            let occurs = |word: &str| cells.iter().any(|cell| cell.contains(word));
            let is_shown = |about: &&str| about.split('`').skip(1).step_by(2).any(occurs);
            let words = column.words.split("; ").filter(is_shown);
            let about: Vec<_> = iter::once(column.about).chain(words).collect();
            let about = about.join("; ");
            let longer = format!("{legend}{name}: {about} · ");
            if lines(&(longer.clone() + MORE)).len() <= MAX_LEGEND_LINES {
                legend = longer;
            }
        }
        if legend.is_empty() {
            return Vec::new();
        }
        lines(&(legend + MORE))
    }

    /// The smallest width of the table, in columns: all folding columns have their smallest width,
    /// and one blank separates columns.
    fn min_width(&self) -> usize {
        let Some(rows) = self.aligned_cells() else {
            return 0;
        };
        let mut widths = widths(&rows, self.columns.len());
        fold_columns(&mut widths, &self.columns, 0);
        total_width(&widths, 1)
    }

    /// Aligns the columns, and folds cells if the table is wider than `max_width` columns.
    fn align(
        &self,
        style: Style,
        max_width: usize,
        codes: &dyn Fn(usize) -> &'static str,
    ) -> String {
        let Some(mut rows) = self.aligned_cells() else {
            return self.render(super::Format::Table);
        };
        let mut widths = widths(&rows, self.columns.len());
        let gap = if total_width(&widths, COLUMN_GAP) <= max_width {
            COLUMN_GAP
        } else {
            1
        };
        if gap == 1 {
            fold_columns(&mut widths, &self.columns, max_width);
            for (cell, &width) in rows.iter_mut().flat_map(|row| row.iter_mut().zip(&widths)) {
                *cell = fold_cell(cell, width);
            }
        }
        let drawing = draw_cells(&rows, &self.columns, gap);
        let (mut lines, mut out) = (drawing.lines(), String::new());
        for (index, row) in rows.iter().enumerate() {
            // Row 0 is the headings, in bold.
            let codes = index.checked_sub(1).map_or("1", codes);
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

    fn in_its_characters(&self, text: String) -> String {
        if self.ascii { ascii(&text) } else { text }
    }

    /// Whether all columns fit the terminal side by side.
    pub fn fits(&self, style: Style) -> bool {
        self.aligned_cells().is_some_and(|rows| {
            total_width(&widths(&rows, self.columns.len()), COLUMN_GAP) <= style.columns()
        })
    }

    /// The headings and the cells of all rows; `None` if the table is too long or too wide for
    /// aligned columns.
    fn aligned_cells(&self) -> Option<Vec<Vec<String>>> {
        if self.rows.len() > MAX_ALIGNED_ROWS {
            return None;
        }
        let rows: Vec<Vec<String>> = iter::once(headings(self))
            .chain(self.rows.iter().map(|row| format_cells(self, row)))
            .collect();
        // comfy-table draws no wider tables.
        (total_width(&widths(&rows, self.columns.len()), COLUMN_GAP) <= usize::from(u16::MAX))
            .then_some(rows)
    }
}

/// The headings.
fn headings(table: &Table<'_>) -> Vec<String> {
    table
        .columns
        .iter()
        .map(|column| table.in_its_characters(column.heading.to_owned()))
        .collect()
}

/// Formats the cells of a row. No cell contains a line break, because control characters are
/// removed.
fn format_cells(table: &Table<'_>, row: &[CellValue]) -> Vec<String> {
    table
        .cells(row)
        .map(|(column, cell)| match (cell, column.max_chars) {
            (CellValue::Text(text) | CellValue::Link { text, .. }, Some(max_chars)) => {
                clipped(text, max_chars)
            }
            _ => column.format_cell(cell),
        })
        .map(|cell| table.in_its_characters(cell))
        .collect()
}

/// Draws the cells, `gap` blanks apart.
fn draw_cells(rows: &[Vec<String>], columns: &[TableColumn], gap: usize) -> Drawing {
    let mut drawing = Drawing::new();
    drawing.load_style(NO_BORDERS).add_rows(rows);
    for (drawn, column) in drawing.column_iter_mut().zip(columns) {
        drawn.set_padding((0, gap as u16));
        drawn.set_cell_alignment(if column.right_aligned {
            CellAlignment::Right
        } else {
            CellAlignment::Left
        });
    }
    drawing
}

/// The width of the widest cell of each column, in columns of the terminal.
pub(super) fn widths(rows: &[Vec<String>], count: usize) -> Vec<usize> {
    (0..count)
        .map(|index| {
            rows.iter()
                .map(|row| display_width(&row[index]))
                .max()
                .unwrap_or(0)
        })
        .collect()
}

pub(super) fn total_width(widths: &[usize], gap: usize) -> usize {
    widths.iter().sum::<usize>() + gap * widths.len().saturating_sub(1)
}

/// Reduces the widths of folding columns, but not below [`MIN_FOLDED_WIDTH`], so that the table
/// fits into `max_width` columns. Columns that are narrower than an equal share of the space keep
/// their width.
fn fold_columns(widths: &mut [usize], columns: &[TableColumn], max_width: usize) {
    let mut folding: Vec<usize> = (0..columns.len()).filter(|&at| columns[at].folds).collect();
    folding.sort_by_key(|&at| widths[at]);
    let fixed = total_width(widths, 1) - folding.iter().map(|&at| widths[at]).sum::<usize>();
    let mut available = max_width.saturating_sub(fixed);
    for (done, &index) in folding.iter().enumerate() {
        let share = available / (folding.len() - done);
        widths[index] = widths[index].min(share.max(MIN_FOLDED_WIDTH));
        available = available.saturating_sub(widths[index]);
    }
}

/// Folds a cell to lines of at most `width` columns at blanks, or within a name that has no blanks.
pub(super) fn fold_cell(cell: &str, width: usize) -> String {
    if display_width(cell) <= width {
        return cell.to_owned();
    }
    wrap(cell, width)
        .iter()
        .map(|line| fold_name(line, width))
        .collect::<Vec<_>>()
        .join("\n")
}
