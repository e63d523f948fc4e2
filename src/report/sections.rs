//! What the terminal and the Markdown page share: the table of timers, their ranks, and why some have no figures.

use std::borrow::Cow;

use super::notes::Notes;
use super::rank::ranks;
use super::rows::{LONGEST, all_told, with_figures};
use super::waits::named;
use crate::model::{AccuracyKind, Answers, Report, Status, TimerRow, Verdicts, WaitConditions};
use crate::table::{Cell, Column, Notation, Table};
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
}

/// A row a timer that has figures.
pub fn timers(report: &Report, notes: &Notes, page: Page) -> Table<'static> {
    let wide = page == Page::Markdown;
    let mut columns = vec![
        Column::written(""),
        // An id that is to be folded is plain already.
        Column { folds: true, longest: None, ..Column::left("timer") },
        Column::left("call"),
        Column::right("accuracy", Notation::Time),
        Column::right(if wide { "cycles" } else { "acc. cycles" }, Notation::Count),
        Column::right("cost", Notation::Time),
        Column::right(if wide { "cycles" } else { "cost cycles" }, Notation::Count),
        Column::right("spread", Notation::Fixed(3)),
        Column::written(if wide { "Quality" } else { "Quality %" }),
        Column { right: !wide, ..Column::written("trust") },
        Column::left(if wide { "notes" } else { "see" }),
    ];
    let rows = with_figures(report);
    let half = |row: &TimerRow| plus_minus(row.quality, row.quality_low, row.quality_high);
    let interval_width = rows.iter().map(|row| half(row).chars().count()).max().unwrap_or(0);
    let cells = |(rank, row): (Option<usize>, &&TimerRow)| -> Vec<Cell> {
        let id = clipped(&row.id, if wide { 200 } else { 100 });
        let (step, cost) = (row.accuracy.as_ref(), row.cost.as_ref());
        let at_most = step.is_some_and(|step| step.kind == AccuracyKind::AtMost);
        let quality = match (row.quality, wide) {
            (Some(_), true) => format!("{} % {}", percent(row.quality), half(row)).trim_end().to_owned(),
            (None, true) => NOTHING.to_owned(),
            (Some(_), false) => format!("{} {:interval_width$}", percent(row.quality), half(row)),
            (None, false) => NOTHING.to_owned() + &" ".repeat(interval_width + 1),
        };
        let printed = row.printed_quality.filter(|_| wide);
        let printed = printed.map_or_else(String::new, |q| format!(" (printed: {} %)", percent(Some(q))));
        let marks = notes.marks(&row.warnings);
        vec![
            written_rank(rank).into(),
            if page == Page::TerminalWithLegends { with_legend(id, row) } else { id }.into(),
            with_legend(clipped(&row.label, 200), row).into(),
            Cell::bounded(step.and_then(|step| step.ns), at_most),
            step.and_then(|step| step.cycles).into(),
            cost.and_then(|cost| cost.median_ns).into(),
            cost.and_then(|cost| cost.median_cycles).into(),
            row.spread.into(),
            (quality + &printed).into(),
            row.verdicts.as_ref().map_or(NOTHING, Verdicts::in_short).into(),
            if wide { marks.replace(',', ", ") } else { marks }.into(),
        ]
    };
    let mut rows: Vec<Vec<Cell>> = ranks(&rows).into_iter().zip(&rows).map(cells).collect();
    /// The columns `call`, and accuracy and cost in cycles, the last first.
    const LEFT_OUT: [usize; 3] = [6, 4, 2];
    let left_out = match page {
        Page::Markdown => &LEFT_OUT[3..],
        Page::Terminal | Page::TerminalWithLegends => &LEFT_OUT[2..],
        Page::NarrowTerminal => &LEFT_OUT[..],
    };
    for &column in left_out {
        columns.remove(column);
        rows.iter_mut().for_each(|row| drop(row.remove(column)));
    }
    Table { rows: rows.into_iter().map(Cow::Owned).collect(), widest_gap: 3, ..Table::new(columns) }
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
