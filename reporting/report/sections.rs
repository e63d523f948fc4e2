//! Builds the text document of a report: the machine, one table for each kind of timer, the reasons
//! why timers have no results, and notes.

use indexmap::{IndexMap, IndexSet};

use super::machine::{in_a_line, report_facts};
use super::notes::notes;
use crate::assessment::sentences;
use crate::document::{Document, FindingText};
use crate::fields::{Kind, Row, Visibility, all_rows, known_columns, rows};
use crate::model::{Lateness, ProvenanceKind, Report, Severity, Status, USUAL_WAIT_NS, value_of};
use crate::table::{Table, TableColumn};
use crate::text::numbers::short_time;

/// The largest number of measured rows for which a short document gives the reason of every timer
/// that is not `ok`, and lists lateness by length.
const MAX_DETAILED_ROWS: usize = 8;

/// The level of detail of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// What matters for choosing a timer, in a few lines
    #[default]
    Short,
    /// The whole machine, and each note with its causes and what to do about them
    Full,
}

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
    document = document.conditions(match detail {
        Detail::Short if is_measured => {
            vec![("machine", in_a_line(report))]
        }
        _ => report_facts(report),
    });
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

/// The tables of a report, for each kind of which the report has rows.
#[must_use]
pub fn tables(report: &Report, detail: Detail) -> Vec<TimerTable<'_>> {
    let main = Kind::main(report);
    let kinds = Kind::ALL
        .into_iter()
        .filter(|kind| *kind == main || !rows(report, *kind).is_empty());
    kinds
        .flat_map(|kind| kind_sections(report, kind, detail))
        .collect()
}

fn kind_sections<'a>(report: &'a Report, kind: Kind, detail: Detail) -> Vec<TimerTable<'a>> {
    let measured: Vec<Row> = rows(report, kind)
        .into_iter()
        .filter(Row::has_figures)
        .collect();
    if measured.is_empty() {
        return vec![TimerTable {
            kind,
            caption: "No timer could be characterised.".into(),
            table: None,
            rows: Vec::new(),
        }];
    }
    let shared = match measured[0].conditions_in_words(true) {
        none if none.is_empty() => none,
        conditions => format!(" ({conditions})"),
    };
    let length = |row: &Row| short_time(row.request_ns().unwrap_or_default() as f64);
    let section = |caption: String, rows: Vec<Row<'a>>| TimerTable {
        kind,
        caption,
        table: Some(table(kind, &rows, detail)),
        rows,
    };
    match kind {
        Kind::Clocks => vec![section(String::new(), measured)],
        Kind::Waits => {
            let mut sections = Vec::new();
            let waits = usual_waits(&measured);
            if let Some(request_ns) = waits.iter().find_map(Row::request_ns) {
                let caption = format!(
                    "Waits of {}{shared}, the least late first: lateness is observed minus requested, floor is the shortest wait",
                    short_time(request_ns as f64)
                );
                sections.push(section(caption, waits));
            }
            let by_length: Vec<Row> = measured.iter().flat_map(|row| row.by_length()).collect();
            if measured.len() <= MAX_DETAILED_ROWS && by_length.len() > measured.len() {
                sections.push(section("Lateness by length".into(), by_length));
            }
            sections
        }
        Kind::Periods => {
            let caption = format!(
                "A period of {}{shared}: jitter is |interval − period|, lateness is to the time when it was due",
                length(&measured[0])
            );
            vec![section(caption, measured)]
        }
    }
}

/// The sleep primitives with results, at the usual length or the length nearest to it, the least late
/// first. Returning early is as inaccurate as returning late.
fn usual_waits<'a>(measured: &[Row<'a>]) -> Vec<Row<'a>> {
    let lengths: Vec<Row> = measured.iter().flat_map(|row| row.by_length()).collect();
    let latenesses = lengths.iter().filter_map(|row| row.lateness());
    let Some(usual) = Lateness::nearest(latenesses, USUAL_WAIT_NS) else {
        return Vec::new();
    };
    let at_usual = |row: &Row<'a>| {
        let mut lengths = row.by_length().into_iter();
        let usual = lengths.find(|row| row.request_ns() == Some(usual.request_ns));
        usual.unwrap_or(*row)
    };
    let mut rows: Vec<Row> = measured.iter().map(at_usual).collect();
    let late = |row: &Row| value_of(row.lateness().and_then(|late| late.p50_ns));
    let distance = |row: &Row| late(row).map_or(f64::INFINITY, f64::abs);
    rows.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    rows
}

/// Builds a table from the default columns for which a row has a value.
fn table(kind: Kind, rows: &[Row], detail: Detail) -> Table<'static> {
    // If all rows have the same length, the caption states it.
    let has_one_length = rows
        .iter()
        .all(|row| row.request_ns() == rows[0].request_ns());
    let visibility = match detail {
        Detail::Short => Visibility::Wide,
        Detail::Full => Visibility::InFull,
    };
    let mut fields = known_columns(kind, visibility, rows);
    fields.retain(|field| match field.key {
        "timer" | "conditions" => false,
        "request_ns" => !has_one_length,
        _ => true,
    });
    let name = TableColumn {
        folds: true,
        ..TableColumn::left("timer")
    };
    let figures = fields.iter().map(|field| TableColumn {
        omission_priority: field.visibility.map_or(0, |visibility| visibility as u8),
        ..field.as_column_with_units()
    });
    let mut table = Table::new([name].into_iter().chain(figures).collect());
    for row in rows {
        let figures = fields.iter().map(|field| field.value(*row));
        table.push([row.name().into()].into_iter().chain(figures).collect());
    }
    table
}

/// The reasons of all timers that are not `ok`, with their remedies; equal reasons are merged.
fn reasons(report: &Report) -> Vec<FindingText> {
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
            let names: IndexSet<String> = rows.iter().map(Row::name).collect();
            format!("{}: {reason}", Vec::from_iter(names).join(", "))
        },
        advice: remedy.map(str::to_owned),
    });
    finding.collect()
}
