//! What a page shows of a report, as text that is ready to be escaped.

use std::collections::HashSet;

use super::{Figures, quality_colour};
use crate::model::{Answers, ProvenanceKind, Report, Status, TimerRow, Warning};
use crate::report::facts::facts_of_timer;
use crate::report::machine::{facts_of, name};
use crate::report::plot::Plot;
use crate::report::plot::ranking::{self, Ranking};
use crate::report::plot::svg::{DrawError, marks};
use crate::report::{Fact, ranks, written_rank};
use crate::text::numbers::{NOTHING, accuracy, count, percent, plus_minus, share, time};
use crate::text::{clipped, plain};

const LONGEST: usize = 600;
const LONGEST_NAME: usize = 200;

pub(super) struct ReportView {
    /// Leads all anchors of this report.
    pub key: String,
    pub heading: String,
    pub caption: String,
    pub provenance: Option<String>,
    pub facts: Vec<Fact>,
    pub warnings: Vec<Warning>,
    /// All timers at a glance.
    pub ranking: Option<RankingView>,
    pub timers: Vec<TimerView>,
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
    /// Accuracy, in cycles, cost, in cycles, spread.
    pub cells: [Cell; 5],
    pub facts: Vec<Fact>,
    pub warnings: Vec<Warning>,
    pub figures: Vec<FigureView>,
}

/// A cell, what it sorts by (nothing where nothing was determined), and from which width on it is shown.
pub(super) struct Cell {
    pub text: String,
    pub sort: String,
    pub width: &'static str,
}

pub(super) struct FigureView {
    pub title: &'static str,
    pub across: String,
    pub up: String,
    pub caption: String,
    pub marks: String,
}

/// What tells reports of one machine apart.
pub(super) fn about(report: &Report) -> String {
    let date = report.created.split('T').next().unwrap_or_default();
    let kernel = report.platform.kernel.release.as_deref().map(|release| clipped(release, 60));
    let source = report.platform.clocksource.current.as_deref().map(|source| clipped(source, 40));
    let published = (report.provenance.kind == ProvenanceKind::Published).then(|| "published".to_owned());
    let parts = [Some(clipped(date, 30)), kernel, source, published];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// How many timers, and how they ended.
pub(super) fn summary(report: &Report) -> String {
    let count = |status: Status| report.timers.iter().filter(|row| row.status == status).count();
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
        text += &format!("; the best is {} with {} %", clipped(&best.id, 80), percent(best.quality));
        let first =
            ranks(&report.timers.iter().collect::<Vec<_>>()).iter().filter(|rank| **rank == Some(1)).count();
        match first {
            0 | 1 => {}
            2 => text += ", and another shares its rank",
            more => text += &format!(", and {} others share its rank", more - 1),
        }
    }
    text + "."
}

impl ReportView {
    pub fn of(report: &Report, key: &str, figures: Figures) -> Result<Self, DrawError> {
        let provenance = &report.provenance;
        let mut taken = HashSet::new();
        let ranks = ranks(&report.timers.iter().collect::<Vec<_>>());
        let timers: Result<Vec<TimerView>, DrawError> = report
            .timers
            .iter()
            .zip(ranks)
            .map(|(row, rank)| {
                TimerView::of(row, anchor(key, &row.id, &mut taken), written_rank(rank), figures)
            })
            .collect();
        Ok(Self {
            key: key.to_owned(),
            heading: format!("{} ({})", name(report), about(report)),
            caption: summary(report),
            provenance: (provenance.kind == ProvenanceKind::Published).then(|| {
                let parts = [&provenance.source, &provenance.note].into_iter().flatten();
                parts.map(|part| clipped(part, 2 * LONGEST)).collect::<Vec<_>>().join(" — ")
            }),
            facts: facts_of(report),
            warnings: report.warnings.iter().map(plain_warning).collect(),
            ranking: RankingView::of(report)?,
            timers: timers?,
        })
    }
}

impl TimerView {
    fn of(row: &TimerRow, anchor: String, rank: String, figures: Figures) -> Result<Self, DrawError> {
        let cost = row.cost.as_ref();
        let cost_ns = cost.and_then(|cost| cost.median_ns);
        let cost_cycles = cost.and_then(|cost| cost.median_cycles);
        let step = row.accuracy.as_ref();
        let step_cycles = step.and_then(|step| step.cycles);
        let plots = if figures == Figures::Drawn { Plot::all_of(row) } else { Vec::new() };
        let drawn: Result<Vec<FigureView>, DrawError> = plots.into_iter().map(FigureView::of).collect();
        let cell = |text, sort: Option<f64>, width| Cell { text, sort: sorted_by(sort), width };
        Ok(Self {
            anchor,
            rank,
            id: clipped(&row.id, LONGEST_NAME),
            label: clipped(&row.label, LONGEST_NAME),
            runtime: clipped(&row.runtime, LONGEST_NAME),
            status: row.status.name(),
            trust: row.verdicts.as_ref().map_or(NOTHING, Answers::in_short),
            quality_colour: quality_colour::of(row.quality),
            quality: cell(percent(row.quality), row.quality, ""),
            half: plus_minus(row.quality, row.quality_low, row.quality_high),
            cells: [
                cell(accuracy(step), step.and_then(|step| step.ns), ""),
                cell(count(step_cycles), step_cycles, "wide"),
                cell(time(cost_ns), cost_ns, ""),
                cell(count(cost_cycles), cost_cycles, "wide"),
                cell(share(row.spread), row.spread, "medium"),
            ],
            facts: facts_of_timer(row),
            warnings: row.warnings.iter().map(plain_warning).collect(),
            figures: drawn?,
        })
    }
}

impl RankingView {
    fn of(report: &Report) -> Result<Option<Self>, DrawError> {
        let (width, height) = ranking::SIZE;
        let view = |drawn: Ranking| Self { width, height, caption: drawn.caption, marks: marks(&drawn.svg) };
        Ok(ranking::ranking(report)?.map(view))
    }
}

impl FigureView {
    fn of(plot: Plot) -> Result<Self, DrawError> {
        let marks = plot.svg_marks()?;
        let Plot { title, caption, across, up, .. } = plot;
        Ok(Self { title, across: across.label, up: up.label, caption, marks })
    }
}

fn sorted_by(figure: Option<f64>) -> String {
    figure.filter(|figure| figure.is_finite()).map_or_else(String::new, |figure| figure.to_string())
}

/// A name for a place in the page: the id as far as it is fit for that, made unique.
fn anchor(key: &str, id: &str, taken: &mut HashSet<String>) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':') { c } else { '-' };
    let name: String = id.chars().take(80).map(fit).collect();
    let mut anchor = format!("{key}-{name}");
    let mut number = 2;
    while !taken.insert(anchor.clone()) {
        anchor = format!("{key}-{name}-{number}");
        number += 1;
    }
    anchor
}

fn plain_warning(warning: &Warning) -> Warning {
    Warning {
        code: plain(&warning.code),
        message: clipped(&warning.message, LONGEST),
        advice: clipped(&warning.advice, LONGEST),
    }
}

#[cfg(test)]
mod tests {
    use super::anchor;
    use std::collections::HashSet;

    #[test]
    fn anchors_are_plain_and_unique() {
        let mut taken = HashSet::new();
        let ids = ["java:nanoTime", "a b", "a\"b", "<script>", "a-b"];
        let anchors = ids.map(|id| anchor("r0", id, &mut taken));
        assert_eq!(anchors, ["r0-java:nanoTime", "r0-a-b", "r0-a-b-2", "r0--script-", "r0-a-b-3"]);
    }
}
