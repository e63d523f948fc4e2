//! What the terminal and the Markdown page share: the table of timers, their ranks, and why some have no figures.

use super::notes::Notes;
use super::rank::ranks;
use super::rows::{LONGEST, all_told, with_figures};
use super::waits::named;
use crate::fields::{Field, Row, Screen, on_screen};
use crate::model::{Report, Status, TimerRow, Verdicts, WaitConditions};
use crate::table::{Column, Table, Value};
use crate::text::numbers::{NOTHING, percent, plus_minus};
use crate::text::{clipped, plain};

/// A rank for people.
#[must_use]
pub fn written_rank(rank: Option<usize>) -> String {
    rank.map_or_else(|| NOTHING.to_owned(), |rank| rank.to_string())
}

/// Where the table of timers stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// In Markdown.
    Markdown,
    /// On a terminal.
    Terminal,
    /// On a terminal, with what the paper calls the timers.
    TerminalWithLegends,
    /// On a narrow terminal, without the figures in cycles.
    NarrowTerminal,
    /// On one of 80 columns, also without what not all reports have.
    NarrowestTerminal,
    /// On one of 40 columns, as on a telephone: steps, costs and Quality alone.
    Phone,
}

/// Columns that say of whom a row of [`timers`] is: the rank and the id.
pub const NAMES: usize = 2;

/// A row a timer that has figures.
pub fn timers(report: &Report, notes: &Notes, page: Page) -> Table<'static> {
    let wide = page == Page::Markdown;
    let heading = |screen: &Screen| screen.headings[if wide { 2 } else { 0 }];
    let fits = |screen: &Screen| match page {
        Page::NarrowTerminal => screen.width != "wide",
        Page::NarrowestTerminal => screen.width != "wide" && !screen.optional,
        Page::Phone => screen.width.is_empty(),
        Page::Markdown | Page::Terminal | Page::TerminalWithLegends => true,
    };
    let is_shown = |(_, screen): &(&Field, Screen)| !heading(screen).is_empty() && fits(screen);
    let shown: Vec<_> = on_screen(report).into_iter().filter(is_shown).collect();
    // An id that is to be folded is plain already.
    let id = Column { folds: true, longest: None, ..Column::left("timer") };
    let mut columns = vec![Column::written(""), id];
    columns.extend(wide.then(|| Column::left("call")));
    columns.extend(shown.iter().map(|(_, screen)| Column::right(heading(screen), screen.notation)));
    let phone = page == Page::Phone;
    columns.push(Column::written(match page {
        Page::Markdown => "Quality",
        Page::Phone => "Q. %",
        _ => "Quality %",
    }));
    if !phone {
        columns.push(Column { right: !wide, ..Column::written("trust") });
        columns.push(Column::left(if wide { "notes" } else { "see" }));
    }
    let rows = with_figures(report);
    let interval_width = rows.iter().map(|row| half(row).chars().count()).max().unwrap_or(0);
    let mut table = Table { widest_gap: 3, ..Table::new(columns) };
    for (rank, row) in ranks(&rows).into_iter().zip(&rows) {
        let id = clipped(&row.id, if wide { 200 } else { 100 });
        let id = if page == Page::TerminalWithLegends { with_legend(id, row) } else { id };
        let mut cells: Vec<Value> = vec![written_rank(rank).into(), id.into()];
        cells.extend(wide.then(|| with_legend(clipped(&row.label, 200), row).into()));
        cells.extend(shown.iter().map(|(field, _)| field.of_row(&Row::Clock(row))));
        let marks = notes.marks(&row.warnings);
        if phone {
            cells.push(percent(row.quality).into());
            table.push(cells);
            continue;
        }
        cells.extend([
            if wide { quality_in_full(row) } else { quality(row, interval_width) }.into(),
            row.verdicts.as_ref().map_or(NOTHING, Verdicts::in_short).into(),
            if wide { marks.replace(',', ", ") } else { marks }.into(),
        ]);
        table.push(cells);
    }
    table
}

fn half(row: &TimerRow) -> String {
    plus_minus(row.quality, row.quality_low, row.quality_high)
}

/// With its interval, which takes so many characters, so that the figures stand below each other.
fn quality(row: &TimerRow, interval_width: usize) -> String {
    match row.quality {
        Some(_) => format!("{} {:interval_width$}", percent(row.quality), half(row)),
        None => NOTHING.to_owned() + &" ".repeat(interval_width + 1),
    }
}

/// With its interval, and what a publication prints.
fn quality_in_full(row: &TimerRow) -> String {
    let quality = match row.quality {
        Some(_) => format!("{} % {}", percent(row.quality), half(row)).trim_end().to_owned(),
        None => NOTHING.to_owned(),
    };
    let printed = row.printed_quality.map(|q| format!(" (printed: {} %)", percent(Some(q))));
    quality + &printed.unwrap_or_default()
}

/// What is called `text` here, with what the paper calls it: `java:nanoTime = NANO`.
fn with_legend(text: String, row: &TimerRow) -> String {
    match row.legend.as_deref().map(plain) {
        Some(legend) if !legend.is_empty() => format!("{text} = {legend}"),
        _ => text,
    }
}

/// Why some timers are not `ok`: one entry a reason.
pub struct Reason {
    /// The timers it concerns.
    pub ids: Vec<String>,
    /// The reason, and what to do about it.
    pub text: String,
}

/// Reasons of all timers of that status, each told once.
pub fn reasons(report: &Report, status: Status) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    let all = all_told(report);
    let among: Vec<&WaitConditions> = all.iter().filter_map(|row| row.conditions).collect();
    for row in all.iter().filter(|row| row.status == status) {
        let id = plain(row.id);
        let id = match row.conditions {
            Some(own) => named(&id, own, &among),
            None => id,
        };
        let reason = clipped(row.reason.unwrap_or("no reason given"), LONGEST);
        let text = match row.remedy.map(|remedy| clipped(remedy, LONGEST)) {
            Some(remedy) if !remedy.is_empty() => format!("{reason} → {remedy}"),
            _ => reason,
        };
        match reasons.iter_mut().find(|reason| reason.text == text) {
            Some(reason) if reason.ids.contains(&id) => {}
            Some(reason) => reason.ids.push(id),
            None => reasons.push(Reason { ids: vec![id], text }),
        }
    }
    reasons
}
