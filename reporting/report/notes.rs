//! Collects the findings of a report, one entry for each code, with the timers that it is about.

use indexmap::{IndexMap, IndexSet};

use crate::document::FindingText;
use crate::fields::all_rows;
use crate::model::{Report, Severity};
use crate::text::summarise_names;

/// Findings of one code.
struct Note {
    severity: Severity,
    /// The distinct texts, each with the names of its timers.
    causes: IndexMap<String, IndexSet<String>>,
    advice: IndexSet<String>,
}

/// The findings of the run and of its rows, the gravest first. Unless `in_full`, those of the run that
/// the warnings do not state, and of rows problems and what makes a figure uncertain.
pub(super) fn notes(report: &Report, in_full: bool) -> Vec<FindingText> {
    let mut notes: IndexMap<&str, Note> = IndexMap::new();
    let busy = &report.assessment.busy;
    let of_run = report.findings.iter();
    let of_run = of_run.filter(|finding| in_full || !busy.contains(finding));
    let rows = all_rows(report);
    let of_rows = rows.into_iter().flat_map(|row| {
        let findings = row.findings().iter();
        findings.map(move |finding| (finding, Some(row)))
    });
    for (finding, row) in of_run.map(|finding| (finding, None)).chain(of_rows) {
        let is_whole = in_full || row.is_none() || finding.severity == Severity::Problem;
        let text = if is_whole {
            Some(finding.message())
        } else {
            finding.in_short()
        };
        let Some(text) = text else { continue };
        let note = notes.entry(&finding.code).or_insert_with(|| Note {
            severity: finding.severity,
            causes: IndexMap::new(),
            advice: IndexSet::new(),
        });
        note.severity = note.severity.min(finding.severity);
        note.causes
            .entry(text)
            .or_default()
            .extend(row.map(|row| row.id().clone()));
        note.advice.extend(finding.advice());
    }
    notes.sort_by(|_, a, _, b| a.severity.cmp(&b.severity));
    let notes = notes.into_iter().map(|(code, note)| FindingText {
        severity: note.severity,
        code: code.to_owned(),
        message: note.message(),
        advice: (in_full && !note.advice.is_empty())
            .then(|| Vec::from_iter(note.advice).join("; ")),
    });
    notes.collect()
}

impl Note {
    /// The first three texts with the names of their timers. Texts of a note mostly differ in
    /// their numbers only.
    fn message(&self) -> String {
        let named = |(text, names): (&String, &IndexSet<String>)| {
            if names.is_empty() {
                return text.clone();
            }
            format!("{}: {text}", summarise_names(&Vec::from_iter(names)))
        };
        let causes: Vec<String> = self.causes.iter().take(3).map(named).collect();
        let all = causes.join("; ");
        match self.causes.len() - causes.len() {
            0 => all,
            more => format!("{all}; and {more} more"),
        }
    }
}
