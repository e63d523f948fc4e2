//! Builds the text document of a report: the machine, one table for each kind of timer, and notes.

use super::machine;
use super::notes::notes;
use crate::document::Document;
use crate::fields::{Detail, Kind, Row, Visibility, conditions_in_words, known_columns, rows};
use crate::table::{Table, TableColumn};
use crate::text::numbers::short_time;
use estimators::model::Report;
use judgement::assessment::{leading_waits, sentences};

/// Builds the document of a report.
pub fn document(report: &Report, detail: Detail) -> Document<'_, &Report> {
    let sentences = sentences(report);
    let mut document = Document::new(report)
        .paragraphs(report.assessment.warnings())
        .paragraphs((!sentences.is_empty()).then(|| sentences.join(" ")))
        .conditions(machine::facts(report, detail));
    for section in sections(report) {
        if section.kind != Kind::Clocks {
            let heading = section.kind.in_words();
            document = document.heading(heading).paragraph(&*section.caption);
        }
        if !section.rows.is_empty() {
            document = document.table(section.table(detail));
        }
    }
    let notes = notes(report, detail);
    if !notes.is_empty() {
        document = document.heading("notes").findings(notes);
    }
    match detail {
        Detail::Full => document,
        Detail::Short => document.note(
            "-v: all notes, causes, remedies, intervals, and the machine; `timermeter explain WORD`: the words",
        ),
    }
}

/// The timers of one kind that have results.
pub struct TimerSection<'a> {
    /// The kind.
    pub kind: Kind,
    /// What the rows have in common, and their order.
    pub caption: String,
    /// The rows: of sleep primitives one for each length.
    pub rows: Vec<Row<'a>>,
}

impl TimerSection<'_> {
    /// The table of the default columns for which a row has a value.
    pub fn table(&self, detail: Detail) -> Table<'static> {
        let visibility = match detail {
            Detail::Short => Visibility::Wide,
            Detail::Full => Visibility::InFull,
        };
        let mut fields = known_columns(self.kind, visibility, &self.rows);
        // The caption states the only length.
        let has_one_length = one_length(&self.rows).is_some();
        fields.retain(|field| field.key != "request_ns" || !has_one_length);
        let columns = fields.iter().map(|field| TableColumn {
            folds: field.key == "timer",
            omission_priority: field.visibility.map_or(0, |visibility| visibility as u8),
            ..field.as_column()
        });
        let mut table = Table::new(columns.collect());
        for row in &self.rows {
            table.push(fields.iter().map(|field| field.value(*row)).collect());
        }
        table
    }
}

/// The sections of a report, one for each kind of which it has rows.
pub fn sections(report: &Report) -> Vec<TimerSection<'_>> {
    let main = Kind::main(report);
    let section = |kind| {
        let all = rows(report, kind);
        let is_shown = kind == main || !all.is_empty();
        let measured = all.into_iter().filter(Row::has_figures);
        let mut rows: Vec<Row> = measured.flat_map(Row::by_length).collect();
        if kind != Kind::Clocks {
            sort_waits(report, &mut rows);
        }
        let caption = caption(kind, &rows);
        is_shown.then_some(TimerSection {
            kind,
            caption,
            rows,
        })
    };
    Kind::ALL.into_iter().filter_map(section).collect()
}

/// The length of waits and their conditions, if all have the same, and their order.
fn caption(kind: Kind, rows: &[Row]) -> String {
    let (what, of, last) = match kind {
        _ if rows.is_empty() => return "No timer could be characterised.".into(),
        Kind::Clocks => return String::new(),
        Kind::Waits => ("Waits", "of", ""),
        Kind::Periods => (
            "Wake-ups",
            "every",
            "; last those without a schedule, or behind it",
        ),
    };
    let length = one_length(rows).map(|ns| format!(" {of} {}", short_time(ns as f64)));
    let conditions = rows.iter().find_map(Row::conditions);
    let conditions = conditions.map(|all| format!(" ({})", conditions_in_words(all)));
    let [length, conditions] = [length, conditions].map(Option::unwrap_or_default);
    format!("{what}{length}{conditions}, the recommended first, then the least late{last}")
}

/// The length of all waits; `None` if they have several.
fn one_length(rows: &[Row]) -> Option<u64> {
    let length = rows.first()?.request_ns();
    length.filter(|_| rows.iter().all(|row| row.request_ns() == length))
}

/// Orders rows of waits by their length; of one length those that the report recommends come first, then
/// those that keep their schedule, the least late first. Early is as inaccurate as late.
fn sort_waits(report: &Report, rows: &mut [Row]) {
    rows.sort_by_key(Row::request_ns);
    for rows in rows.chunk_by_mut(|a, b| a.request_ns() == b.request_ns()) {
        let length_ns = rows[0].request_ns().unwrap_or_default() as f64;
        let leading = leading_waits(report, length_ns, rows[0].kind() == Kind::Periods);
        rows.sort_by_cached_key(|row| {
            let place = leading.iter().position(|one| one.id == *row.id());
            let falls_behind = row.period().is_some_and(|found| !found.keeps_schedule());
            let late = row.lateness().and_then(|late| late.p50_ns);
            let late = late.map_or(u64::MAX, |late| late.value.abs() as u64);
            (place.unwrap_or(usize::MAX), falls_behind, late)
        });
    }
}
