//! The table for people: the machine, one row a timer, and below it what the reader should know.

use comfy_table::{Cell, CellAlignment, Table, presets};

use super::fact::Fact;
use super::machine::facts_of;
use super::sections::{Notes, half_width, ranked, reasons, trust, with_legend};
use crate::model::{Report, Status, TimerRow};
use crate::text::numbers::{NOTHING, accuracy, count, percent, share, time};
use crate::text::{clipped, fold_name, hang};

/// How the table is to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal; null where there is none (the text then folds at 120).
    pub width: Option<u16>,
    /// Whether escape sequences may be used.
    pub colour: bool,
}

const NO_WIDTH: u16 = 120;
const LONGEST_ID: usize = 100;
/// Narrower than this, an id is no longer readable; the table then exceeds the terminal.
const SHORTEST_ID: usize = 12;
const HEADER: [&str; 10] =
    ["", "timer", "accuracy", "cycles", "cost", "cycles", "spread", "Quality %", "trust", "see"];
const ID: usize = 1;
const SEE: usize = 9;

impl Style {
    /// Columns that text may take.
    #[must_use]
    pub fn columns(self) -> usize {
        usize::from(self.width.unwrap_or(NO_WIDTH)).max(40)
    }

    /// `text` between the escape sequences of `codes` (ECMA-48, SGR), where there is colour.
    #[must_use]
    pub fn paint(self, codes: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{codes}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "31";
const YELLOW: &str = "33";

/// The whole table, with a newline at its end.
#[must_use]
pub fn render(report: &Report, style: Style) -> String {
    let notes = Notes::of(report);
    let mut out = machine(&facts_of(report), style);
    out.push('\n');
    out.push_str(&grid(report, &notes, style));
    for (title, status, codes) in [
        ("unresolved", Status::Unresolved, YELLOW),
        ("failed", Status::Failed, RED),
        ("unavailable", Status::Unavailable, DIM),
    ] {
        explain(&mut out, report, status, &style.paint(codes, title), style);
    }
    explain_notes(&mut out, &notes, style);
    out
}

/// Lines that begin with `#` and say who the machine is.
#[must_use]
pub fn machine(facts: &[Fact], style: Style) -> String {
    let name_width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, value) in facts {
        let first = format!("# {name:name_width$}  ");
        let next = format!("# {:name_width$}  ", "");
        hang(&mut text, &first, &next, value, style.columns());
    }
    text.lines().map(|line| style.paint(DIM, line.trim_end()) + "\n").collect()
}

fn grid(report: &Report, notes: &Notes, style: Style) -> String {
    let (ranks, rows): (Vec<String>, Vec<&TimerRow>) = ranked(report).into_iter().unzip();
    if rows.is_empty() {
        return "No timer could be characterised.\n".to_owned();
    }
    let interval_width = rows.iter().map(|row| half_width(row).chars().count()).max().unwrap_or(0);
    let cells = ranks.into_iter().zip(&rows).map(|(rank, row)| row_cells(rank, row, notes, interval_width));
    let mut cells: Vec<[String; 10]> = cells.collect();
    let (gap, id_width) = fit(&cells, style.columns());
    let (gap, id_width) = add_legends(&mut cells, &rows, style.columns()).unwrap_or((gap, id_width));
    for row in &mut cells {
        row[ID] = fold_name(&row[ID], id_width);
    }
    draw(&cells, gap, style)
}

fn row_cells(rank: String, row: &TimerRow, notes: &Notes, interval_width: usize) -> [String; 10] {
    let cost = row.cost.as_ref();
    let quality = match row.quality {
        Some(_) => format!("{} {:interval_width$}", percent(row.quality), half_width(row)),
        None => NOTHING.to_owned() + &" ".repeat(interval_width + 1),
    };
    [
        rank,
        clipped(&row.id, LONGEST_ID),
        accuracy(row.accuracy.as_ref()),
        count(row.accuracy.and_then(|accuracy| accuracy.cycles)),
        time(cost.and_then(|cost| cost.median_ns)),
        count(cost.and_then(|cost| cost.median_cycles)),
        share(row.spread),
        quality,
        trust(row).to_owned(),
        notes.marks(row),
    ]
}

/// Puts the names of the paper beside the ids where there is room for all of them.
fn add_legends(cells: &mut [[String; 10]], rows: &[&TimerRow], columns: usize) -> Option<(u16, usize)> {
    let mut longer = cells.to_vec();
    for (cells, row) in longer.iter_mut().zip(rows) {
        cells[ID] = with_legend(&cells[ID], row);
    }
    let (gap, width) = fit(&longer, columns);
    // The narrowest gap is that of a table that does not fit.
    (gap > 1).then(|| {
        cells.clone_from_slice(&longer);
        (gap, width)
    })
}

/// The widest gap between columns with which all columns fit, and the width left for the id.
fn fit(cells: &[[String; 10]], columns: usize) -> (u16, usize) {
    let width_of = |column: usize| {
        let all = cells.iter().map(|row| row[column].chars().count());
        all.chain([HEADER[column].chars().count()]).max().unwrap_or(0)
    };
    let others: usize = (0..HEADER.len()).filter(|column| *column != ID).map(width_of).sum();
    let id = width_of(ID);
    for gap in [3, 2] {
        if others + id + gap * (HEADER.len() - 1) <= columns {
            return (gap as u16, id);
        }
    }
    (1, columns.saturating_sub(others + HEADER.len() - 1).clamp(SHORTEST_ID, id.max(SHORTEST_ID)))
}

fn draw(cells: &[[String; 10]], gap: u16, style: Style) -> String {
    let aligned = |column: usize, text: &str| {
        let left = column == ID || column == SEE;
        Cell::new(text).set_alignment(if left { CellAlignment::Left } else { CellAlignment::Right })
    };
    let line = |texts: Vec<&str>| -> Vec<Cell> {
        texts.into_iter().enumerate().map(|(column, text)| aligned(column, text)).collect()
    };
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(line(HEADER.to_vec()));
    for row in cells {
        table.add_row(line(row.iter().map(String::as_str).collect()));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, gap));
    }
    let mut out = String::new();
    for (number, text) in table.lines().enumerate() {
        let text = text.trim_end();
        out += &if number == 0 { style.paint(BOLD, text) } else { text.to_owned() };
        out.push('\n');
    }
    out
}

fn explain(out: &mut String, report: &Report, status: Status, title: &str, style: Style) {
    let reasons = reasons(report, status);
    if reasons.is_empty() {
        return;
    }
    out.push('\n');
    out.push_str(title);
    out.push('\n');
    for reason in reasons {
        hang(out, "  ", "    ", &format!("{} — {}", reason.ids.join(", "), reason.text), style.columns());
    }
}

fn explain_notes(out: &mut String, notes: &Notes, style: Style) {
    if notes.0.is_empty() {
        return;
    }
    out.push('\n');
    out.push_str(&style.paint(YELLOW, "notes"));
    out.push('\n');
    for (at, note) in notes.0.iter().enumerate() {
        let first = format!("  {:>2}  ", at + 1);
        hang(out, &first, "      ", &format!("{}: {}", note.code, note.concerns()), style.columns());
        for told in note.told() {
            hang(out, "      ", "      ", &told, style.columns());
        }
        hang(out, "      → ", "        ", &note.advice, style.columns());
    }
}
