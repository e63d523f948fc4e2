//! Builds tables that compare platforms: a row for each timer and a column for each report.

use indexmap::IndexMap;

use super::quality_class;
use super::view::{about, describe_timers};
use crate::model::{ProvenanceKind, Report, Status, TimerRow, value_of};
use crate::report::machine::name;
use crate::report::usual_lateness;
use crate::statistics::mean;
use crate::text::numbers::{percent, time};

/// The part of a report that the index of a site needs, so that ten thousand reports need not fit
/// in memory.
pub(super) struct ReportSummary {
    pub is_published: bool,
    /// The name of the machine.
    pub name: String,
    /// The date and the kernel.
    pub about: String,
    /// The address of the page; `None` if the report is on the same page.
    pub href: Option<String>,
    /// The summary of the report, or the numbers of its timers.
    pub summary: String,
    /// The id of each clock with its Quality.
    clocks: Vec<(String, Cell)>,
    /// The name of each sleep primitive with its median lateness for waits of 1 ms, or of the
    /// length nearest to it.
    waits: Vec<(String, Cell)>,
}

/// The result of a timer on a platform.
#[derive(Clone, Default)]
pub(super) struct Cell {
    /// The CSS class of the colour.
    pub class: &'static str,
    pub text: String,
    /// The value by which the cell is sorted: a Quality in [0, 1], or lateness in nanoseconds.
    pub value: Option<f64>,
    /// The reason if there is no result, otherwise empty.
    pub reason: String,
}

/// A table with timers as rows and platforms (the machines of the reports) as columns.
pub(super) struct Matrix<'a> {
    /// The prefix of the anchors of this table.
    pub key: &'static str,
    pub title: &'static str,
    pub caption: &'static str,
    /// The direction in which the first click on a heading sorts: `ascending` or `descending`.
    pub first_order: &'static str,
    pub columns: Vec<&'a ReportSummary>,
    pub rows: Vec<(&'a str, Vec<Cell>)>,
}

impl ReportSummary {
    pub fn new(report: &Report, href: Option<String>, summary: Option<String>) -> Self {
        let clocks = report.timers.iter();
        let waits = usual_lateness(report).into_iter().map(|(name, ns)| {
            let cell = Cell {
                class: "none",
                text: time(Some(ns)),
                value: Some(ns),
                reason: String::new(),
            };
            (name, cell)
        });
        Self {
            is_published: report.provenance.kind == ProvenanceKind::Published,
            name: name(report),
            about: about(report),
            href,
            summary: summary.unwrap_or_else(|| describe_timers(report)),
            clocks: clocks
                .map(|row| (row.id.clone(), Cell::from_clock(row)))
                .collect(),
            waits: waits.collect(),
        }
    }
}

impl Cell {
    fn from_clock(row: &TimerRow) -> Self {
        let value = value_of(row.quality).filter(|quality| quality.is_finite());
        let text = match (value, row.status) {
            (Some(_), _) => percent(value),
            (None, Status::Unavailable) => "n/a".to_owned(),
            (None, Status::Failed) => "✕".to_owned(),
            (None, Status::Ok | Status::Unresolved) => "?".to_owned(),
        };
        let reason = row.reason.as_ref().filter(|_| row.status != Status::Ok);
        let status = row.status.name();
        Self {
            class: quality_class(value),
            text,
            value,
            reason: reason.map_or_else(String::new, |reason| format!("{status}: {reason}")),
        }
    }
}

impl<'a> Matrix<'a> {
    /// The tables of the Quality of clocks and of the lateness of waits; a table without rows is
    /// omitted.
    pub fn from_summaries(reports: &'a [ReportSummary]) -> Vec<Self> {
        let quality = Self {
            key: "matrix",
            title: "Quality by timer and platform",
            caption: "Quality in percent. n/a: the timer cannot be read on that machine · ?: its step could not be determined · \
                      ✕: it failed · blank: not in that report.",
            first_order: "descending",
            columns: Vec::new(),
            rows: Vec::new(),
        };
        let lateness = Self {
            key: "waits",
            title: "Lateness of waits by timer and platform",
            caption: "Median of observed minus requested time, of waits of 1 ms or of the length nearest to it. Blank: not in that report.",
            first_order: "ascending",
            columns: Vec::new(),
            rows: Vec::new(),
        };
        [
            quality.fill(reports, |report| &report.clocks),
            lateness.fill(reports, |report| &report.waits),
        ]
        .into_iter()
        .filter(|matrix| !matrix.rows.is_empty())
        .collect()
    }

    /// Fills in the columns and the rows. Timers that most reports contain come first; timers are
    /// sorted by the mean of their values, the best first.
    fn fill(
        self,
        reports: &'a [ReportSummary],
        cells: fn(&ReportSummary) -> &[(String, Cell)],
    ) -> Self {
        let reports = reports.iter();
        let columns: Vec<&ReportSummary> =
            reports.filter(|report| !cells(report).is_empty()).collect();
        let mut rows: IndexMap<&str, Vec<Cell>> = IndexMap::new();
        for (column, report) in columns.iter().enumerate() {
            for (id, cell) in cells(report) {
                let blank = || vec![Cell::default(); columns.len()];
                rows.entry(id).or_insert_with(blank)[column] = cell.clone();
            }
        }
        let mut rows: Vec<(&str, Vec<Cell>)> = rows.into_iter().collect();
        let sign = if self.first_order == "descending" {
            -1.0
        } else {
            1.0
        };
        let sort_key = |cells: &[Cell]| {
            let values: Vec<f64> = cells.iter().filter_map(|cell| cell.value).collect();
            let is_common = 2 * values.len() > columns.len();
            // Timers without results come last.
            let mean = mean(&values).map_or(f64::INFINITY, |mean| sign * mean);
            (!is_common, mean)
        };
        rows.sort_by(|(_, a), (_, b)| {
            let (a, b) = (sort_key(a), sort_key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        Self {
            columns,
            rows,
            ..self
        }
    }
}
