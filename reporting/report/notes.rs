//! Collects the findings of a report as numbered notes below a table; findings with equal code and
//! advice share a note.

use std::collections::BTreeSet;

use indexmap::{IndexMap, IndexSet};

use crate::document::FindingText;
use crate::fields::{Row, all_rows};
use crate::model::{Finding, Report, Severity};
use crate::text::summarise_names;

/// The largest number of measured rows for which a short document gives the reason of every timer
/// that is not `ok`, lists lateness by length, and has notes that concern half of the rows.
pub(super) const MAX_DETAILED_ROWS: usize = 8;

/// The largest number of notes in a short document.
const MAX_SHORT_NOTES: usize = 3;

/// All notes of a report by code and advice.
#[derive(Default)]
pub(super) struct Notes(IndexMap<(String, String), Note>);

/// Findings with the same code and advice.
struct Note {
    severity: Severity,
    /// The distinct messages, each with the names of its timers.
    causes: IndexMap<String, IndexSet<String>>,
    /// Whether the note is about the whole run, not only about single timers.
    concerns_run: bool,
    /// The number of rows with the note.
    rows: usize,
    /// The number under which the note is printed; `None` if it is not.
    number: Option<usize>,
}

impl Notes {
    /// Collects the notes of the run, then the notes of its rows in display order. Unless `in_full`,
    /// only the gravest are printed, without those that change no result and concern half of all
    /// rows, if there are many.
    pub fn gather(report: &Report, in_full: bool) -> Self {
        let mut notes = Self::default();
        for finding in &report.findings {
            notes.add(finding, None);
        }
        let all = all_rows(report);
        for row in &all {
            for finding in row.findings() {
                notes.add(finding, Some(*row));
            }
        }
        let rows = all.iter().filter(|row| row.has_figures()).count();
        if !in_full {
            notes.0.sort_by(|_, a, _, b| a.severity.cmp(&b.severity));
        }
        let is_shown = |note: &&mut Note| {
            let is_common = !note.concerns_run && 2 * note.rows >= rows;
            let is_many = rows > MAX_DETAILED_ROWS;
            in_full || !(is_many && is_common && note.severity >= Severity::Note)
        };
        let shown = notes.0.values_mut().filter(is_shown);
        let max = if in_full { usize::MAX } else { MAX_SHORT_NOTES };
        for (note, number) in shown.take(max).zip(1..) {
            note.number = Some(number);
        }
        notes
    }

    /// The number of notes that are not printed.
    pub fn hidden(&self) -> usize {
        self.0.values().filter(|note| note.number.is_none()).count()
    }

    /// Adds a finding about a row, or about the whole run if `row` is `None`.
    fn add(&mut self, finding: &Finding, row: Option<Row>) {
        let note = self.0.entry(key(finding)).or_insert_with(|| Note {
            severity: finding.severity,
            causes: IndexMap::new(),
            concerns_run: false,
            rows: 0,
            number: None,
        });
        note.concerns_run |= row.is_none();
        note.rows += usize::from(row.is_some());
        let names = note.causes.entry(finding.message()).or_default();
        names.extend(row.map(|row| row.name()));
    }

    /// The numbers of the notes about a row, as in `1,3`.
    pub fn marks(&self, row: Row) -> String {
        let notes = row.findings().iter();
        let notes = notes.filter_map(|finding| self.0.get(&key(finding)));
        let numbers: BTreeSet<usize> = notes.filter_map(|note| note.number).collect();
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        numbers.join(",")
    }

    /// The notes as findings: with all messages and advice if `in_full`, else with the names of the
    /// timers only.
    pub fn findings(&self, in_full: bool) -> Vec<FindingText> {
        let numbered = |((code, advice), note): (&(String, String), &Note)| {
            let message = if in_full {
                note.message()
            } else {
                note.subjects()
            };
            Some(FindingText {
                severity: note.severity,
                code: format!("{} {code}", note.number?),
                message,
                advice: in_full.then(|| advice.clone()),
            })
        };
        self.0.iter().filter_map(numbered).collect()
    }
}

/// Findings with equal keys share a note.
fn key(finding: &Finding) -> (String, String) {
    (finding.code.clone(), finding.advice())
}

impl Note {
    /// The names of the timers of the note, shortened if there are many.
    fn subjects(&self) -> String {
        if self.concerns_run {
            return "the whole run".to_owned();
        }
        let names: BTreeSet<&String> = self.causes.values().flatten().collect();
        summarise_names(&Vec::from_iter(names))
    }

    /// The first two messages. Messages of a note mostly differ in their numbers only.
    fn message(&self) -> String {
        let prefixed = |(message, names): (&String, &IndexSet<String>)| {
            if names.is_empty() {
                return message.clone();
            }
            format!("{}: {message}", summarise_names(&Vec::from_iter(names)))
        };
        let causes: Vec<String> = self.causes.iter().take(2).map(prefixed).collect();
        let more = match self.causes.len() - causes.len() {
            0 => String::new(),
            more => format!("; and {more} more with other figures"),
        };
        causes.join("; ") + &more
    }
}
