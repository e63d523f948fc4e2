//! Builds the text document of a report: the machine, one table for each kind of timer, the reasons
//! why timers have no results, and notes.

use std::collections::HashMap;

use indexmap::{IndexMap, IndexSet};

use super::machine;
use super::notes::notes;
use crate::assessment::{RankedWait, leading_waits, sentences};
use crate::document::{Document, FindingText};
use crate::fields::{
    Detail, Kind, Row, Visibility, all_rows, conditions_in_words, field, known_columns, rows,
};
use crate::model::{ProvenanceKind, Report, Severity, Status};
use crate::table::{Table, TableColumn};
use crate::text::numbers::short_time;

/// The largest number of measured rows for which a short document gives the reason of every timer
/// that is not `ok`.
const MAX_DETAILED_ROWS: usize = 8;

/// Builds the document of a report. `sentence` is the summary that opens it.
#[must_use]
pub fn document(report: &Report, detail: Detail) -> Document<'_, &Report> {
    let in_full = detail == Detail::Full;
    let mut document = Document::new(report).paragraphs(report.assessment.warnings());
    let sentences = sentences(report);
    if !sentences.is_empty() {
        document = document.paragraph(sentences.join(" "));
    }
    let is_measured = report.provenance.kind == ProvenanceKind::Measured;
    document = document.conditions(machine::facts(report, detail));
    for section in tables(report, detail) {
        if section.kind != Kind::Clocks {
            document = document
                .heading(section.kind.in_words())
                .paragraph(section.caption);
        }
        if let Some(table) = section.table {
            document = document.table(table);
        }
    }
    let has_few_rows = report
        .timers
        .iter()
        .filter(|row| row.quality.is_some())
        .count()
        <= MAX_DETAILED_ROWS;
    let mut reasons = reasons(report);
    reasons.retain(|reason| in_full || has_few_rows || reason.severity == Severity::Problem);
    reasons.extend(notes(report, in_full));
    if !reasons.is_empty() {
        document = document.heading("notes").findings(reasons);
    }
    if in_full {
        return document;
    }
    let lacks_adds =
        !report.timers.is_empty() && report.timers.iter().all(|row| row.adds_ns.is_none());
    let is_quick = lacks_adds && is_measured;
    document
        .paragraphs(is_quick.then(|| "adds is not measured with --quick".to_owned()))
        .note("-v: all notes, causes, remedies, intervals, and the machine; `timermeter explain WORD`: the words")
}

/// A table of timers with its caption.
pub struct TimerTable<'a> {
    /// The kind of timers in the table.
    pub kind: Kind,
    /// The conditions and definitions that apply to the table.
    pub caption: String,
    /// `None` if no timer of this kind has results.
    pub table: Option<Table<'static>>,
    /// The rows of the table.
    pub rows: Vec<Row<'a>>,
}

/// The tables of a report, one for each kind of which the report has rows.
#[must_use]
pub fn tables(report: &Report, detail: Detail) -> Vec<TimerTable<'_>> {
    let main = Kind::main(report);
    let kinds = Kind::ALL
        .into_iter()
        .filter(|kind| *kind == main || !rows(report, *kind).is_empty());
    kinds.map(|kind| timers(report, kind, detail)).collect()
}

fn timers(report: &Report, kind: Kind, detail: Detail) -> TimerTable<'_> {
    let measured = rows(report, kind).into_iter().filter(Row::has_figures);
    let mut rows: Vec<Row> = measured.flat_map(Row::by_length).collect();
    if kind != Kind::Clocks {
        sort_waits(report, &mut rows);
    }
    let Some(first) = rows.first() else {
        return TimerTable {
            kind,
            caption: "No timer could be characterised.".into(),
            table: None,
            rows,
        };
    };
    let length = short_time(first.request_ns().unwrap_or_default() as f64);
    let what = match kind {
        Kind::Clocks => String::new(),
        Kind::Waits if has_one_length(&rows) => format!("Waits of {length}"),
        Kind::Waits => "Waits".into(),
        Kind::Periods => format!("Wake-ups every {length}"),
    };
    let conditions = rows.iter().find_map(Row::conditions);
    let conditions = conditions.map(|it| format!(" ({})", conditions_in_words(it)));
    let order = match kind {
        Kind::Clocks => "",
        Kind::Waits => ", the recommended first, then the least late",
        Kind::Periods => {
            ", the recommended first, then the least late; last those without a schedule, or behind it"
        }
    };
    TimerTable {
        kind,
        caption: what + &conditions.unwrap_or_default() + order,
        table: Some(table(kind, &rows, detail)),
        rows,
    }
}

/// Orders rows of waits by their length; of one length those that the report recommends come first, then
/// those that keep their schedule, the least late first. Early is as inaccurate as late.
fn sort_waits(report: &Report, rows: &mut [Row]) {
    let mut leading: HashMap<Option<u64>, Vec<_>> = HashMap::new();
    rows.sort_by_cached_key(|row| {
        let length_ns = row.request_ns();
        let leading = leading.entry(length_ns);
        let is_periodic = row.kind() == Kind::Periods;
        let find = || leading_waits(report, length_ns.unwrap_or(0) as f64, is_periodic);
        let leading = leading.or_insert_with(find);
        let is_row = |one: &RankedWait| one.id == *row.id();
        let place = leading.iter().position(is_row).unwrap_or(usize::MAX);
        let falls_behind = row.period().is_some_and(|found| !found.keeps_schedule());
        let late = field("late_p50_ns").and_then(|field| field.figure(*row));
        let late = late.map_or(u64::MAX, |late| late.value.abs() as u64);
        (row.request_ns(), place, falls_behind, late)
    });
}

fn has_one_length(rows: &[Row]) -> bool {
    (rows.iter()).all(|row| row.request_ns() == rows[0].request_ns())
}

/// Builds a table from the default columns for which a row has a value.
fn table(kind: Kind, rows: &[Row], detail: Detail) -> Table<'static> {
    // If all rows have the same length, the caption states it.
    let has_one_length = has_one_length(rows);
    let visibility = match detail {
        Detail::Short => Visibility::Wide,
        Detail::Full => Visibility::InFull,
    };
    let mut fields = known_columns(kind, visibility, rows);
    fields.retain(|field| match field.key {
        "timer" => false,
        "request_ns" => !has_one_length,
        _ => true,
    });
    let name = TableColumn {
        folds: true,
        ..TableColumn::left("timer")
    };
    let figures = fields.iter().map(|field| TableColumn {
        omission_priority: field.visibility.map_or(0, |visibility| visibility as u8),
        ..field.as_column()
    });
    let mut table = Table::new([name].into_iter().chain(figures).collect());
    for row in rows {
        let figures = fields.iter().map(|field| field.value(*row));
        table.push([row.id().into()].into_iter().chain(figures).collect());
    }
    table
}

/// The reasons of all timers that are not `ok`, with their remedies; equal reasons are merged.
pub fn reasons(report: &Report) -> Vec<FindingText> {
    let mut reasons: IndexMap<_, Vec<Row>> = IndexMap::new();
    let rows = all_rows(report).into_iter();
    for row in rows.filter(|row| row.status() != Status::Ok) {
        let reason = row.reason().unwrap_or("no reason given");
        let key = (row.status().name(), reason, row.remedy());
        reasons.entry(key).or_default().push(row);
    }
    let reasons = reasons.into_iter();
    let finding = reasons.map(|((code, reason, remedy), rows)| FindingText {
        severity: match rows[0].status() {
            Status::Ok => Severity::Ok,
            Status::Unresolved => Severity::Note,
            Status::Failed => Severity::Problem,
            Status::Unavailable => Severity::Unknown,
        },
        code: code.to_owned(),
        message: {
            let names: IndexSet<String> = rows.iter().map(|row| row.id().clone()).collect();
            format!("{}: {reason}", Vec::from_iter(names).join(", "))
        },
        advice: remedy.map(str::to_owned),
    });
    finding.collect()
}
