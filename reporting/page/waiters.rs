//! What a page shows of timers that wait.

use std::collections::HashSet;

use super::Figures;
use super::parts::{FigureView, LONGEST_NAME, anchor, plain_warning};
use crate::model::{Report, WaitConditions, Warning};
use crate::report::Fact;
use crate::report::plot::Plot;
use crate::report::plot::svg::DrawError;
use crate::report::waits::{Section, facts_of_period, facts_of_waits, named};
use crate::table::Value;
use crate::text::clipped;

/// A table, as text that is ready to be escaped.
pub(super) struct SectionView {
    pub title: String,
    pub caption: String,
    /// Each with whether it is aligned right.
    pub headings: Vec<(&'static str, bool)>,
    pub rows: Vec<Vec<CellView>>,
}

/// A cell, and what it sorts by; nothing where nothing was determined.
pub(super) struct CellView {
    pub text: String,
    pub sort: String,
    pub right: bool,
}

/// A timer that waits, with everything that is known of it.
pub(super) struct WaiterView {
    pub anchor: String,
    pub id: String,
    pub label: String,
    pub runtime: String,
    pub status: &'static str,
    pub facts: Vec<Fact>,
    pub warnings: Vec<Warning>,
    pub figures: Vec<FigureView>,
}

impl SectionView {
    pub fn of(section: Section) -> Self {
        let Section { title, caption, tables, phone: _ } = section;
        let (mut headings, mut rows) = (Vec::new(), Vec::new());
        if let Some(table) = tables.first() {
            // Notes stand with the timers.
            let columns = || table.columns.iter().filter(|column| column.heading != "see");
            headings = columns().map(|column| (column.heading, column.right)).collect();
            let cell = |(column, cell): (&crate::table::Column, &Value)| CellView {
                text: clipped(&column.shown(cell), LONGEST_NAME),
                sort: match cell.number() {
                    Some(number) => number.to_string(),
                    None => clipped(cell.as_text(), LONGEST_NAME),
                },
                right: column.right,
            };
            rows = table.rows.iter().map(|row| columns().zip(row.iter()).map(cell).collect()).collect();
        }
        Self { title, caption, headings, rows }
    }
}

impl WaiterView {
    pub fn all_of(
        report: &Report,
        key: &str,
        figures: Figures,
        taken: &mut HashSet<String>,
    ) -> Result<Vec<Self>, DrawError> {
        let waits = report.waits.iter().filter(|row| row.figures.is_some()).map(|row| &row.conditions);
        let ticks = report.periods.iter().filter(|row| row.figures.is_some()).map(|row| &row.conditions);
        let (waits, ticks): (Vec<&WaitConditions>, Vec<&WaitConditions>) = (waits.collect(), ticks.collect());
        let mut all = Vec::with_capacity(report.waits.len() + report.periods.len());
        for row in &report.waits {
            let plots = if figures == Figures::Drawn { Plot::all_of_waits(row) } else { Vec::new() };
            all.push(Self {
                anchor: anchor(key, &row.id, taken),
                id: named(&clipped(&row.id, LONGEST_NAME), &row.conditions, &waits),
                label: clipped(&row.label, LONGEST_NAME),
                runtime: clipped(&row.runtime, LONGEST_NAME),
                status: row.status.name(),
                facts: facts_of_waits(row),
                warnings: row.warnings.iter().map(plain_warning).collect(),
                figures: plots.into_iter().map(FigureView::of).collect::<Result<_, _>>()?,
            });
        }
        all.extend(report.periods.iter().map(|row| Self {
            anchor: anchor(key, &row.id, taken),
            id: named(&clipped(&row.id, LONGEST_NAME), &row.conditions, &ticks),
            label: clipped(&row.label, LONGEST_NAME),
            runtime: clipped(&row.runtime, LONGEST_NAME),
            status: row.status.name(),
            facts: facts_of_period(row),
            warnings: row.warnings.iter().map(plain_warning).collect(),
            figures: Vec::new(),
        }));
        Ok(all)
    }
}
