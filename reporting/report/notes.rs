//! Merges what there is to say about timers: why they have no results, and findings.

use indexmap::{IndexMap, IndexSet};

use crate::document::FindingText;
use crate::fields::{Detail, Row, all_rows};
use crate::text::summarise_names;
use estimators::model::{Report, Severity, Status};

/// The largest number of measured clocks for which a short document gives the reason of every timer
/// that is not `ok`.
const MAX_DETAILED_ROWS: usize = 8;

/// A text, the remedy if it says why a timer has no results, and the timer that it is about.
type Remark<'a> = (FindingText, Option<&'a str>, Option<Row<'a>>);

/// The reasons of all timers that are not `ok`, with their remedies.
pub fn reasons(report: &Report) -> Vec<FindingText> {
    merged(all_rows(report).into_iter().filter_map(reason))
}

/// The reasons, and the findings of the run and of its rows, the gravest first. In short those of the
/// run that the warnings do not state, and of rows problems and what makes a figure uncertain.
pub(super) fn notes(report: &Report, detail: Detail) -> Vec<FindingText> {
    let in_full = detail == Detail::Full;
    let measured = report.timers.iter().filter(|row| row.quality.is_some());
    let has_few_rows = measured.count() <= MAX_DETAILED_ROWS;
    let busy = &report.assessment.busy;
    let of_run = report.findings.iter();
    let of_run = of_run.filter(|finding| in_full || !busy.contains(finding));
    let of_rows = all_rows(report).into_iter().flat_map(|row| {
        let findings = row.findings().iter();
        findings.map(move |finding| (finding, Some(row)))
    });
    let findings = of_run.map(|finding| (finding, None)).chain(of_rows);
    let findings = findings.filter_map(|(finding, row)| -> Option<Remark> {
        let mut text = FindingText::from(finding);
        if !in_full {
            text.advice = None;
            if row.is_some() && text.severity != Severity::Problem {
                text.message = finding.in_short()?;
            }
        }
        Some((text, None, row))
    });
    let reasons = all_rows(report).into_iter().filter_map(reason);
    let reasons = reasons
        .filter(|(reason, ..)| in_full || has_few_rows || reason.severity == Severity::Problem);
    merged(reasons.chain(findings))
}

/// Why a row has no results, with the remedy; `None` if it has.
fn reason(row: Row<'_>) -> Option<Remark<'_>> {
    let severity = match row.status() {
        Status::Ok => return None,
        Status::Unresolved => Severity::Note,
        Status::Failed => Severity::Problem,
        Status::Unavailable => Severity::Unknown,
    };
    let text = FindingText {
        severity,
        code: row.status().name().to_owned(),
        message: row.reason().unwrap_or("no reason given").to_owned(),
        advice: row.remedy().map(str::to_owned),
    };
    Some((text, row.remedy().or(Some("")), Some(row)))
}

/// Texts that are merged.
struct Note<'a> {
    severity: Severity,
    /// The distinct texts, each with its timers.
    causes: IndexMap<String, IndexSet<&'a str>>,
    advice: IndexSet<String>,
}

/// Merges the remarks of each code, and reasons with the same remedy. Findings of a code mostly differ in
/// their numbers only, so three of them are enough.
fn merged<'a>(remarks: impl Iterator<Item = Remark<'a>>) -> Vec<FindingText> {
    let mut notes: IndexMap<(String, Option<&str>), Note<'a>> = IndexMap::new();
    for (text, remedy, row) in remarks {
        let note = notes.entry((text.code, remedy)).or_insert_with(|| Note {
            severity: text.severity,
            causes: IndexMap::new(),
            advice: IndexSet::new(),
        });
        note.severity = note.severity.min(text.severity);
        let timers = note.causes.entry(text.message).or_default();
        timers.extend(row.map(|row| row.id().as_str()));
        note.advice.extend(text.advice);
    }
    notes.sort_by(|_, a, _, b| a.severity.cmp(&b.severity));
    let notes = notes.into_iter().map(|((code, remedy), note)| {
        let shown = if remedy.is_some() { usize::MAX } else { 3 };
        let more = note.causes.len().saturating_sub(shown);
        let more = (more > 0).then(|| format!("and {more} more"));
        let causes = note.causes.into_iter().take(shown).map(|(text, timers)| {
            let timers = Vec::from_iter(timers);
            match remedy {
                _ if timers.is_empty() => text,
                None => format!("{}: {text}", summarise_names(&timers)),
                Some(_) => format!("{}: {text}", timers.join(", ")),
            }
        });
        FindingText {
            severity: note.severity,
            code,
            message: Vec::from_iter(causes.chain(more)).join("; "),
            advice: Some(Vec::from_iter(note.advice).join("; ")).filter(|all| !all.is_empty()),
        }
    });
    notes.collect()
}
