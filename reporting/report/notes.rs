//! Collects the findings of a report as numbered notes below a table; findings with equal code and
//! advice share a note.

use crate::document::FindingText;
use crate::fields::{Row, all_rows};
use crate::model::{Finding, Report, Severity};
use crate::text::summarise_names;

/// The largest number of measured rows for which a short document gives the reason of every timer
/// that is not `ok`, lists lateness by length, and has notes that concern half of the rows.
pub(super) const MAX_DETAILED_ROWS: usize = 8;

/// All notes of a report; notes are numbered from 1 in this order.
pub(super) struct Notes(Vec<Note>);

/// Findings with the same code and advice.
struct Note {
    text: FindingText,
    /// The distinct messages, each with the names of its timers.
    causes: Vec<(String, Vec<String>)>,
    /// Whether the note is about the whole run, not only about single timers.
    concerns_run: bool,
    /// The number of rows with the note.
    rows: usize,
    /// Whether the note is not printed.
    hidden: bool,
}

impl Notes {
    /// Collects the notes of the run, then the notes of its rows in display order. Notes that change
    /// no result and concern half of all rows, if there are many, are printed only if `in_full`.
    pub fn gather(report: &Report, in_full: bool) -> Self {
        let mut notes = Self(Vec::new());
        for finding in &report.findings {
            notes.add(finding, None);
        }
        for row in all_rows(report) {
            row.findings()
                .iter()
                .for_each(|finding| notes.add(finding, Some(row)));
        }
        let rows = all_rows(report)
            .iter()
            .filter(|row| row.has_figures())
            .count();
        let is_common = |note: &Note| !note.concerns_run && 2 * note.rows >= rows;
        for note in notes
            .0
            .iter_mut()
            .filter(|_| !in_full && rows > MAX_DETAILED_ROWS)
        {
            note.hidden = note.text.severity >= Severity::Note && is_common(note);
        }
        notes
    }

    /// An empty list of notes.
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// Adds a finding about a row, or about the whole run if `row` is `None`.
    fn add(&mut self, finding: &Finding, row: Option<Row>) {
        let at = self.position(finding).unwrap_or_else(|| {
            self.0.push(Note {
                text: finding.into(),
                causes: Vec::new(),
                concerns_run: false,
                rows: 0,
                hidden: false,
            });
            self.0.len() - 1
        });
        let note = &mut self.0[at];
        note.concerns_run |= row.is_none();
        note.rows += usize::from(row.is_some());
        let message = finding.message();
        let cause = note.causes.iter().position(|(known, _)| *known == message);
        let cause = cause.unwrap_or_else(|| {
            note.causes.push((message, Vec::new()));
            note.causes.len() - 1
        });
        let names = &mut note.causes[cause].1;
        names.extend(
            row.map(|row| row.name())
                .filter(|name| !names.contains(name)),
        );
    }

    /// The index of the note with the code and the advice of a finding.
    fn position(&self, finding: &Finding) -> Option<usize> {
        let advice = finding.advice();
        self.0.iter().position(|note| {
            note.text.code == finding.code && note.text.advice.as_ref() == Some(&advice)
        })
    }

    /// The numbers of the notes about a row, as in `1,3`.
    pub fn marks(&self, row: Row) -> String {
        let numbers = row
            .findings()
            .iter()
            .filter_map(|finding| self.position(finding));
        let mut numbers: Vec<usize> = numbers.filter(|at| !self.0[*at].hidden).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let numbers: Vec<String> = numbers.iter().map(|at| (at + 1).to_string()).collect();
        numbers.join(",")
    }

    /// The notes as findings: with all messages and advice if `in_full`, else with the names of the
    /// timers only.
    pub fn findings(&self, in_full: bool) -> Vec<FindingText> {
        let numbered = |(at, note): (usize, &Note)| FindingText {
            severity: note.text.severity,
            code: format!("{} {}", at + 1, note.text.code),
            message: if in_full {
                note.message()
            } else {
                note.subjects()
            },
            advice: note.text.advice.clone().filter(|_| in_full),
        };
        let all = self.0.iter().enumerate();
        all.filter(|(_, note)| !note.hidden).map(numbered).collect()
    }
}

impl Note {
    /// The names of the timers of the note, shortened if there are many.
    fn subjects(&self) -> String {
        if self.concerns_run {
            return "the whole run".to_owned();
        }
        let mut names: Vec<&str> = self
            .causes
            .iter()
            .flat_map(|(_, names)| names)
            .map(String::as_str)
            .collect();
        names.sort_unstable();
        names.dedup();
        summarise_names(&names)
    }

    /// The first two messages. Messages of a note mostly differ in their numbers only.
    fn message(&self) -> String {
        let prefixed = |(message, names): &(String, Vec<String>)| match names.as_slice() {
            [] => message.clone(),
            names => format!("{}: {message}", summarise_names(names)),
        };
        let causes: Vec<String> = self.causes.iter().take(2).map(prefixed).collect();
        let more = self.causes.len() - causes.len();
        let more = if more > 0 {
            format!("; {more} more like these")
        } else {
            String::new()
        };
        causes.join("; ") + &more
    }
}
