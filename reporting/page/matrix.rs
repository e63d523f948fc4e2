//! Builds tables that compare platforms: a row for each timer and a column for each report.

use indexmap::IndexMap;

use super::quality_class;
use super::view::{about, summary};
use crate::model::{ProvenanceKind, Report, Status, TimerRow, value_of};
use crate::report::machine::name;
use crate::report::usual_lateness;
use crate::statistics::mean;
use crate::text::numbers::{percent, time};

/// The part of a report that an index needs, so that ten thousand reports need not fit in memory.
pub(super) struct Brief {
    pub is_published: bool,
    /// The name of the machine.
    pub name: String,
    /// The date and the kernel.
    pub about: String,
    /// The address of the page.
    pub href: Option<String>,
    /// The summary of the report, or the number of its timers.
    pub says: String,
    /// The Quality of each clock.
    clocks: Vec<(String, Cell)>,
    /// The median lateness of each sleep primitive at 1 ms, or at the length nearest to it.
    waits: Vec<(String, Cell)>,
}

/// The result of a timer on a platform.
#[derive(Clone, Default)]
pub(super) struct Cell {
    pub class: &'static str,
    pub text: String,
    /// The value by which the cell is sorted.
    pub value: Option<f64>,
    /// The reason if there is no result.
    pub reason: String,
}

/// A table with timers as rows and platforms as columns.
pub(super) struct Matrix<'a> {
    /// The prefix of the anchors of this table.
    pub key: &'static str,
    pub title: &'static str,
    pub caption: &'static str,
    /// The direction in which a click sorts first.
    pub first: &'static str,
    pub columns: Vec<&'a Brief>,
    pub rows: Vec<(&'a str, Vec<Cell>)>,
}

impl Brief {
    pub fn new(report: &Report, href: Option<String>, says: Option<String>) -> Self {
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
            says: says.unwrap_or_else(|| summary(report)),
            clocks: clocks
                .map(|row| (row.id.clone(), Cell::of_clock(row)))
                .collect(),
            waits: waits.collect(),
        }
    }
}

impl Cell {
    fn of_clock(row: &TimerRow) -> Self {
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
    /// The tables of Quality of clocks and of lateness of waits, if any report has such results.
    pub fn all_of(reports: &'a [Brief]) -> Vec<Self> {
        let quality = Self {
            key: "matrix",
            title: "Quality by timer and platform",
            caption: "Quality in percent. n/a: the machine does not let it be read · ?: its step could not be determined · \
                      ✕: it failed · blank: not in that report.",
            first: "descending",
            columns: Vec::new(),
            rows: Vec::new(),
        };
        let lateness = Self {
            key: "waits",
            title: "Lateness of waits by timer and platform",
            caption: "Median of observed less asked, of waits of 1 ms or of the length nearest to it. Blank: not in that report.",
            first: "ascending",
            columns: Vec::new(),
            rows: Vec::new(),
        };
        let matrices = [
            quality.fill(reports, |report| &report.clocks),
            lateness.fill(reports, |report| &report.waits),
        ];
        let matrices = matrices.into_iter();
        matrices.filter(|matrix| !matrix.rows.is_empty()).collect()
    }

    /// Fills in the rows. Timers that most reports contain come first, sorted by their mean, the
    /// best first.
    fn fill(self, reports: &'a [Brief], cells: fn(&Brief) -> &[(String, Cell)]) -> Self {
        let reports = reports.iter();
        let columns: Vec<&Brief> = reports.filter(|report| !cells(report).is_empty()).collect();
        let mut rows: IndexMap<&str, Vec<Cell>> = IndexMap::new();
        for (column, report) in columns.iter().enumerate() {
            for (id, cell) in cells(report) {
                let blank = || vec![Cell::default(); columns.len()];
                rows.entry(id).or_insert_with(blank)[column] = cell.clone();
            }
        }
        let mut rows: Vec<(&str, Vec<Cell>)> = rows.into_iter().collect();
        let sign = if self.first == "descending" {
            -1.0
        } else {
            1.0
        };
        let order = |cells: &[Cell]| {
            let values: Vec<f64> = cells.iter().filter_map(|cell| cell.value).collect();
            let is_common = 2 * values.len() > columns.len();
            // Timers without results come last.
            let mean = mean(&values).map_or(f64::INFINITY, |mean| sign * mean);
            (!is_common, mean)
        };
        rows.sort_by(|(_, a), (_, b)| {
            let (a, b) = (order(a), order(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        Self {
            columns,
            rows,
            ..self
        }
    }
}
