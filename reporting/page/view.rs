//! What a page shows of a report, as text that is ready to be escaped.

use std::collections::HashSet;

use super::parts::{self, FigureView, FindingView, SectionView, WaiterView, anchor};
use super::{Figures, Sentence};
use crate::fields::{Field, Kind, Room, default_columns, rows};
use crate::model::{ProvenanceKind, Report, Status, TimerRow, Verdicts, value_of};
use crate::plot::{Plot, ranking};
use crate::report::machine::{facts_of, name};
use crate::report::{Detail, Fact, facts, ranks, tables_without_notes, written_rank};
use crate::table::Value;
use crate::text::numbers::{NOTHING, percent, plus_minus};

pub(super) struct ReportView {
    /// Leads all anchors of this report.
    pub key: String,
    pub heading: String,
    /// What it comes down to.
    pub answer: Option<String>,
    pub caption: String,
    pub provenance: Option<String>,
    pub facts: Vec<Fact>,
    pub warnings: Vec<FindingView>,
    /// What the table of timers has besides Quality.
    pub columns: Vec<ColumnView>,
    /// All timers at a glance.
    pub ranking: Option<RankingView>,
    pub timers: Vec<TimerView>,
    /// Tables of timers that wait.
    pub sections: Vec<SectionView>,
    /// Timers that wait, one by one.
    pub waiters: Vec<WaiterView>,
}

/// Cost over step of all timers.
pub(super) struct RankingView {
    pub width: u32,
    pub height: u32,
    pub caption: String,
    pub marks: String,
}

pub(super) struct TimerView {
    pub anchor: String,
    pub rank: String,
    pub id: String,
    pub label: String,
    pub runtime: String,
    pub status: &'static str,
    pub trust: &'static str,
    pub quality_colour: &'static str,
    pub quality: Cell,
    pub half: String,
    /// What the list of fields has for screens.
    pub cells: Vec<Cell>,
    pub facts: Vec<Fact>,
    pub warnings: Vec<FindingView>,
    pub figures: Vec<FigureView>,
}

/// Columns that the page explains among its terms.
const EXPLAINED: [&str; 4] = ["resolution", "cycles", "cost", "spread"];

/// A column of figures: what it is called, what it sorts by, whether the largest come first, and
/// from which width on it is shown.
pub(super) struct ColumnView {
    pub heading: &'static str,
    pub key: String,
    pub first: &'static str,
    pub width: &'static str,
    /// Which of the explanations on the page is its; else what it is.
    pub explained: Option<&'static str>,
    pub about: &'static str,
}

/// The columns that have no cell of their own in the template.
fn on_page(report: &Report) -> Vec<&'static Field> {
    let is_known = |field: &&Field| {
        let rows = rows(report, Kind::Clocks);
        !["timer", "quality", "quality_half_interval", "trust"].contains(&field.key)
            && rows.iter().any(|row| field.value(*row) != Value::Nothing)
    };
    default_columns(Kind::Clocks, Room::Wide)
        .filter(is_known)
        .collect()
}

/// From which width on a column is shown: a class of the style sheet.
fn width(field: &Field) -> &'static str {
    match field.room {
        Some(Room::Wide) => "wide",
        Some(Room::OneReport) => "medium",
        _ => "",
    }
}

impl ColumnView {
    fn of(field: &Field) -> Self {
        let in_cycles = field.key.ends_with("_cycles");
        let term = if in_cycles { "cycles" } else { field.column };
        Self {
            heading: field.as_column_with_units().heading,
            first: if field.unit.is_largest_first() {
                "descending"
            } else {
                "ascending"
            },
            width: width(field),
            explained: EXPLAINED.into_iter().find(|known| *known == term),
            about: field.about,
            key: field.column.to_owned(),
        }
    }
}

/// A cell, what it sorts by (nothing where nothing was determined), and from which width on it is
/// shown.
pub(super) struct Cell {
    pub text: String,
    pub sort: String,
    pub width: &'static str,
}

/// What tells reports of one machine apart.
pub(super) fn about(report: &Report) -> String {
    let date = report.created.split('T').next().unwrap_or_default();
    let kernel = report.platform.kernel.release.as_deref().map(str::to_owned);
    let source = report
        .platform
        .clocksource
        .current
        .as_deref()
        .map(str::to_owned);
    let published =
        (report.provenance.kind == ProvenanceKind::Published).then(|| "published".to_owned());
    let parts = [Some(date.to_owned()), kernel, source, published];
    parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" · ")
}

/// How many timers, and how they ended.
pub(super) fn summary(report: &Report) -> String {
    if Kind::main(report) != Kind::Clocks {
        let (waits, ticks) = (report.waits.len(), report.periods.len());
        let told = [(waits, "timers that wait"), (ticks, "periodic timers")]
            .into_iter()
            .filter(|(count, _)| *count > 0);
        return told
            .map(|(count, what)| format!("{count} {what}"))
            .collect::<Vec<_>>()
            .join(", ")
            + ".";
    }
    let count = |status: Status| {
        report
            .timers
            .iter()
            .filter(|row| row.status == status)
            .count()
    };
    let mut text = match report.timers.len() {
        1 => "1 timer".to_owned(),
        all => format!("{all} timers"),
    };
    for status in [Status::Unresolved, Status::Failed, Status::Unavailable] {
        if count(status) > 0 {
            text += &format!(", {} {}", count(status), status.name());
        }
    }
    let best = report.timers.iter().find(|row| row.quality.is_some());
    if let Some(best) = best {
        text += &format!(
            "; the best is {} with {} %",
            best.id,
            percent(value_of(best.quality))
        );
        let first = ranks(&report.timers.iter().collect::<Vec<_>>())
            .iter()
            .filter(|rank| **rank == Some(1))
            .count();
        match first {
            0 | 1 => {}
            2 => text += ", and another shares its rank",
            more => text += &format!(", and {} others share its rank", more - 1),
        }
    }
    text + "."
}

impl ReportView {
    pub fn of(report: &Report, key: &str, figures: Figures, sentence: Option<Sentence>) -> Self {
        let provenance = &report.provenance;
        let mut taken = HashSet::new();
        let shown = on_page(report);
        let ranks = ranks(&report.timers.iter().collect::<Vec<_>>());
        let timers = report
            .timers
            .iter()
            .zip(ranks)
            .map(|(row, rank)| {
                TimerView::of(
                    row,
                    anchor(key, &row.id, &mut taken),
                    written_rank(rank),
                    &shown,
                    figures,
                )
            })
            .collect();
        Self {
            key: key.to_owned(),
            heading: format!("{} ({})", name(report), about(report)),
            answer: sentence.and_then(|sentence| sentence(report)),
            caption: summary(report),
            provenance: (provenance.kind == ProvenanceKind::Published).then(|| {
                let parts = [&provenance.source, &provenance.note].into_iter().flatten();
                parts.cloned().collect::<Vec<_>>().join(" — ")
            }),
            facts: facts_of(report),
            warnings: report
                .warnings
                .iter()
                .map(FindingView::from_finding)
                .collect(),
            columns: shown.iter().copied().map(ColumnView::of).collect(),
            ranking: ranking(report).map(RankingView::of),
            timers,
            sections: tables_without_notes(report)
                .into_iter()
                .filter(|section| section.kind != Kind::Clocks)
                .map(SectionView::of)
                .collect(),
            waiters: WaiterView::all_of(report, key, figures, &mut taken),
        }
    }
}

impl TimerView {
    fn of(
        row: &TimerRow,
        anchor: String,
        rank: String,
        shown: &[&Field],
        figures: Figures,
    ) -> Self {
        let plots = match figures {
            Figures::Drawn => Plot::of_row(row.into()),
            Figures::LeftOut => Vec::new(),
        };
        let cell = |text, sort: Option<f64>, width| Cell {
            text,
            sort: sorted_by(sort),
            width,
        };
        let figure = |field: &&Field| {
            let value = field.value(row.into());
            cell(
                field.as_column_with_units().shown(&value),
                value.number(),
                width(field),
            )
        };
        Self {
            anchor,
            rank,
            id: row.id.clone(),
            label: row.label.clone(),
            runtime: row.runtime.clone(),
            status: row.status.name(),
            trust: row.verdicts.as_ref().map_or(NOTHING, Verdicts::in_short),
            quality_colour: parts::quality_class(value_of(row.quality)),
            quality: cell(percent(value_of(row.quality)), value_of(row.quality), ""),
            half: row.quality.map_or_else(String::new, plus_minus),
            cells: shown.iter().map(figure).collect(),
            facts: facts(row.into(), Detail::Full),
            warnings: row.warnings.iter().map(FindingView::from_finding).collect(),
            figures: plots.into_iter().map(FigureView::from).collect(),
        }
    }
}

impl RankingView {
    fn of(plot: Plot) -> Self {
        let (width, height) = plot.size;
        Self {
            width,
            height,
            marks: plot.marks(),
            caption: plot.caption,
        }
    }
}

fn sorted_by(figure: Option<f64>) -> String {
    figure
        .filter(|figure| figure.is_finite())
        .map_or_else(String::new, |figure| figure.to_string())
}
