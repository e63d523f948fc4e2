//! JSON: reports (schema `timermeter.report.v2`), and tables as an array with one object for each row.

use std::io::{self, Write};

use serde::{Serialize, Serializer};

use crate::table::{CellValue, Table};
use estimators::model::{Distribution, Granularity, Lateness, Report};

/// The document, indented, with a final newline. Numbers that are not finite become null.
pub fn render(report: &Report) -> String {
    serde_json::to_string_pretty(&remove_non_finite(report.clone())).expect("all keys are strings")
        + "\n"
}

/// The document on one line for archives, which is about a third smaller than the indented
/// document.
pub fn render_compact(report: &Report) -> String {
    serde_json::to_string(&remove_non_finite(report.clone())).expect("all keys are strings") + "\n"
}

pub(super) fn write_table(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    let rows = table
        .rows
        .iter()
        .map(|row| serde_json::to_string(&JsonRow { table, row }));
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    writeln!(output, "[\n  {}\n]", rows.join(",\n  "))
}

/// A row as an object whose members are named by the keys of the columns.
struct JsonRow<'a> {
    table: &'a Table<'a>,
    row: &'a [CellValue],
}

impl Serialize for JsonRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cells = self.table.cells(self.row);
        serializer.collect_map(cells.map(|(column, cell)| (column.key, cell)))
    }
}

/// Serialises undetermined values as null, and bounds as `{"at_most": …}`.
impl Serialize for CellValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => serializer.serialize_none(),
            Self::Figure(figure) => serializer.serialize_f64(figure.value),
            Self::Count(count) => serializer.serialize_i64(*count),
            Self::Truth(truth) => serializer.serialize_bool(*truth),
            other => serializer.collect_str(other),
        }
    }
}

/// Replaces NaN and infinity, which JSON does not support: optional numbers become null, and an
/// object whose required numbers are not finite is removed.
fn remove_non_finite(mut report: Report) -> Report {
    for row in &mut report.timers {
        row.resolution = row
            .resolution
            .filter(|resolution| resolution.ticks.is_finite());
        row.processes
            .retain(|process| process.amortised_ns.is_finite());
        row.distribution = row.distribution.take().filter(Distribution::is_finite);
        if let Some(verdicts) = &mut row.verdicts {
            verdicts
                .thread_safe
                .offsets
                .retain(|offset| (offset.ns + offset.uncertainty_ns).is_finite());
        }
    }
    for figures in report
        .waits
        .iter_mut()
        .filter_map(|row| row.figures.as_mut())
    {
        for granularity in figures
            .steps
            .iter_mut()
            .flat_map(|steps| [&mut steps.rounding, &mut steps.grid])
        {
            *granularity = granularity.filter(|granularity| match granularity {
                Granularity::Step(known) => known.value.is_finite(),
                Granularity::AtMost(ns) => ns.is_finite(),
            });
        }
        figures.lateness.retain(Lateness::is_finite);
    }
    let periods = report.periods.iter_mut();
    for figures in periods.filter_map(|row| row.figures.as_mut()) {
        figures.lateness = figures.lateness.take().filter(Lateness::is_finite);
    }
    report
}

#[cfg(test)]
mod tests {
    use super::{render, render_compact};
    use crate::report::parse;

    #[test]
    fn kept_document_is_shorter() {
        let waits = include_str!("../../tests/fuzz/corpus/report/waits.json");
        let report = parse(waits, "waits").unwrap();
        let (kept, indented) = (render_compact(&report), render(&report));
        assert_eq!(parse(&kept, "kept").unwrap(), report);
        assert!(kept.len() < indented.len() * 3 / 4, "{kept}");
    }
}
