//! What a page shows of a report, as text that is ready to be escaped.

use std::collections::HashSet;

use super::parts::{self, FigureView, FindingView, SectionView, WaiterView, anchor};
use super::{Figures, Sentence};
use crate::fields::{Field, Row, Screen, on_screen};
use crate::model::{ProvenanceKind, Report, Status, TimerRow, Verdicts, value_of};
use crate::report::facts::facts_of_timer;
use crate::report::machine::{facts_of, name};
use crate::report::plot::Plot;
use crate::report::plot::ranking::{self, Ranking};
use crate::report::plot::svg::{DrawError, marks};
use crate::report::{Fact, ranks, waits, written_rank};
use crate::table::TableColumn;
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

type ShownFields = [(&'static Field, Screen)];

fn on_page(report: &Report) -> Vec<(&'static Field, Screen)> {
    let mut shown = on_screen(report);
    shown.retain(|(_, screen)| !screen.headings[1].is_empty());
    shown
}

impl ColumnView {
    fn of((field, screen): (&Field, Screen)) -> Self {
        let stem = screen.headings[1]
            .split(['.', '\u{a0}', ' '])
            .next()
            .unwrap_or_default();
        let in_cycles = field.key.ends_with("_cycles");
        let key = field.key.trim_end_matches("_ns").replace('_', "-");
        Self {
            heading: screen.headings[1],
            first: if field.largest_first {
                "descending"
            } else {
                "ascending"
            },
            width: screen.width,
            explained: EXPLAINED
                .into_iter()
                .find(|term| *term == if in_cycles { "cycles" } else { stem }),
            about: field.about,
            key,
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
    if !waits::is_read(report) {
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
    pub fn of(
        report: &Report,
        key: &str,
        figures: Figures,
        sentence: Option<Sentence>,
    ) -> Result<Self, DrawError> {
        let provenance = &report.provenance;
        let mut taken = HashSet::new();
        let shown = on_page(report);
        let ranks = ranks(&report.timers.iter().collect::<Vec<_>>());
        let timers: Result<Vec<TimerView>, DrawError> = report
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
        Ok(Self {
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
            ranking: RankingView::of(report)?,
            timers: timers?,
            sections: waits::for_page(report)
                .into_iter()
                .map(SectionView::of)
                .collect(),
            waiters: WaiterView::all_of(report, key, figures, &mut taken)?,
        })
    }
}

impl TimerView {
    fn of(
        row: &TimerRow,
        anchor: String,
        rank: String,
        shown: &ShownFields,
        figures: Figures,
    ) -> Result<Self, DrawError> {
        let plots = if figures == Figures::Drawn {
            Plot::all_of(row)
        } else {
            Vec::new()
        };
        let drawn: Result<Vec<FigureView>, DrawError> =
            plots.into_iter().map(FigureView::of).collect();
        let cell = |text, sort: Option<f64>, width| Cell {
            text,
            sort: sorted_by(sort),
            width,
        };
        let figure = |(field, screen): &(&Field, Screen)| {
            let value = field.of_row(&Row::Clock(row));
            cell(
                TableColumn::right("", screen.notation).shown(&value),
                value.number(),
                screen.width,
            )
        };
        Ok(Self {
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
            facts: facts_of_timer(row),
            warnings: row.warnings.iter().map(FindingView::from_finding).collect(),
            figures: drawn?,
        })
    }
}

impl RankingView {
    fn of(report: &Report) -> Result<Option<Self>, DrawError> {
        let (width, height) = ranking::SIZE;
        let view = |drawn: Ranking| Self {
            width,
            height,
            caption: drawn.caption,
            marks: marks(&drawn.svg),
        };
        Ok(ranking::ranking(report)?.map(view))
    }
}

fn sorted_by(figure: Option<f64>) -> String {
    figure
        .filter(|figure| figure.is_finite())
        .map_or_else(String::new, |figure| figure.to_string())
}
