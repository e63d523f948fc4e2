//! Tables with aligned columns. On narrow terminals, columns are omitted and cells are folded to
//! several lines. Very long tables are written row by row without aligned columns.

use std::collections::HashSet;
use std::io::{self, Write};
use std::iter;

use super::Style;
use crate::table::{CellValue, Table, TableColumn};
use crate::text::{ascii, clipped, display_width, fold, hang, without_unit, wrap};

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
/// The largest number of lines that explain the columns of a table.
const MAX_LEGEND_LINES: usize = 6;
/// The end of the lines that explain the columns of a table.
const MORE: &str = "all: timermeter explain";

/// A column that is shown, with its heading and its cells as text.
struct Shown<'a> {
    column: &'a TableColumn,
    cells: Vec<String>,
    width: usize,
}

/// Writes the table with bold headings, no wider than the terminal if possible. Below the table it
/// lists the columns that were omitted, and explains the others.
pub(in crate::format) fn write(
    table: &Table<'_>,
    style: Style,
    output: &mut dyn Write,
) -> io::Result<()> {
    let text = |column: &TableColumn, cell: &CellValue| {
        let text = match cell {
            CellValue::Text(text) | CellValue::Link { text, .. } => clipped(text, column.max_chars),
            _ => column.format_cell(cell),
        };
        if style.ascii { ascii(&text) } else { text }
    };
    let heading = |column: &TableColumn| style.plain(column.heading);
    if table.rows.len() > MAX_ALIGNED_ROWS {
        let headings: Vec<_> = table.columns.iter().map(heading).collect();
        writeln!(output, "{}", headings.join("  "))?;
        return table.rows.iter().try_for_each(|row| {
            let cells = table.cells(row).map(|(column, cell)| text(column, cell));
            writeln!(output, "{}", cells.collect::<Vec<_>>().join("  "))
        });
    }
    let columns = table.columns.iter().enumerate().map(|(at, column)| {
        let cells = table
            .rows
            .iter()
            .map(|row| row.get(at).unwrap_or(&CellValue::Nothing));
        let cells = iter::once(heading(column)).chain(cells.map(|cell| text(column, cell)));
        let cells: Vec<String> = cells.collect();
        let width = cells
            .iter()
            .map(|cell| display_width(cell))
            .max()
            .unwrap_or(0);
        Shown {
            column,
            cells,
            width,
        }
    });
    let mut shown: Vec<Shown> = columns.collect();
    let room = style.width.map_or(usize::MAX, |_| style.columns());
    omit(&mut shown, room);
    let gap = if total(&shown, COLUMN_GAP, |it| it.width) <= room {
        COLUMN_GAP
    } else {
        // The widest columns become equally wide.
        let folded = |it: &Shown, level: usize| level.max(least_width(it)).min(it.width);
        let fits = |level: &usize| total(&shown, 1, |it| folded(it, *level)) <= room;
        let level = (0..=room).rev().find(fits).unwrap_or(0);
        for it in &mut shown {
            let width = folded(it, level);
            let lines = it.cells.iter().flat_map(|cell| fold(cell, width));
            it.width = lines.map(|line| display_width(&line)).max().unwrap_or(0);
        }
        1
    };
    for row in 0..=table.rows.len() {
        let cells: Vec<_> = shown
            .iter()
            .map(|it| fold(&it.cells[row], it.width))
            .collect();
        for line in 0..cells.iter().map(Vec::len).max().unwrap_or(1) {
            let part = |(it, cell): (&Shown, &Vec<String>)| {
                let part = cell.get(line).map_or("", String::as_str);
                let blank = " ".repeat(it.width.saturating_sub(display_width(part)));
                if it.column.right_aligned {
                    blank + part
                } else {
                    part.to_owned() + &blank
                }
            };
            let parts: Vec<String> = shown.iter().zip(&cells).map(part).collect();
            let line = parts.join(&" ".repeat(gap));
            writeln!(
                output,
                "{}",
                style.paint(if row == 0 { "1" } else { "" }, line.trim_end())
            )?;
        }
    }
    let headings = table.columns.iter().map(|column| column.heading);
    let is_shown = |heading: &str| shown.iter().any(|it| it.column.heading == heading);
    let omitted: Vec<_> = headings
        .filter(|it| !it.is_empty() && !is_shown(it))
        .collect();
    if !omitted.is_empty() {
        let (mut text, note) = (String::new(), omitted.join(", "));
        let note = style.plain(&format!("wider terminals show {note} too"));
        hang(&mut text, "", "  ", &note, room);
        output.write_all(text.as_bytes())?;
    }
    let mut legend = legend(&shown, style).into_iter();
    legend.try_for_each(|line| writeln!(output, "{}", style.paint("2", &line)))
}

/// Omits columns until the others fit into `room`, folded if need be.
fn omit(shown: &mut Vec<Shown>, room: usize) {
    while total(shown, COLUMN_GAP, |it| it.width) > room {
        let columns = shown.iter().enumerate().rev();
        let priorities = columns.map(|(at, it)| (it.column.omission_priority, at));
        let next = priorities.max_by_key(|(priority, _)| *priority);
        let Some((1.., at)) = next else { break };
        shown.remove(at);
    }
    while shown.len() > MIN_SHOWN_COLUMNS && total(shown, 1, least_width) > room {
        shown.pop();
    }
}

fn least_width(shown: &Shown) -> usize {
    if shown.column.folds {
        shown.width.min(MIN_FOLDED_WIDTH)
    } else {
        shown.width
    }
}

fn total(shown: &[Shown], gap: usize, width: impl Fn(&Shown) -> usize) -> usize {
    shown.iter().map(width).sum::<usize>() + gap * shown.len().saturating_sub(1)
}

/// The lines that explain as many of the columns, with the words in their cells, as fit into
/// [`MAX_LEGEND_LINES`]; none without [`Style::legend`].
fn legend(shown: &[Shown], style: Style) -> Vec<String> {
    let lines = |text: &str| wrap(&style.plain(text), style.columns());
    let (mut legend, mut names) = (String::new(), HashSet::new());
    for Shown { column, cells, .. } in shown.iter().filter(|_| style.legend) {
        let name = without_unit(column.heading);
        if column.about.is_empty() || !names.insert(name) {
            continue;
        }
        let occurs = |word: &str| {
            cells[1..]
                .iter()
                .any(|cell| cell.contains(&style.plain(word)))
        };
        let is_shown = |about: &&str| about.split('`').skip(1).step_by(2).any(occurs);
        let words = column.words.split("; ").filter(is_shown);
        let about: Vec<_> = iter::once(column.about).chain(words).collect();
        let longer = format!("{legend}{name}: {} · ", about.join("; "));
        if lines(&(longer.clone() + MORE)).len() <= MAX_LEGEND_LINES {
            legend = longer;
        }
    }
    if legend.is_empty() {
        return Vec::new();
    }
    lines(&(legend + MORE))
}
