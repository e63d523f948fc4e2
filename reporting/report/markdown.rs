//! The report as a Markdown page (GitHub's tables).

use super::machine::facts_of;
use super::notes::Notes;
use super::sections::{Page, reasons, timers};
use super::waits;
use crate::model::{ProvenanceKind, Report, Status};
use crate::table::{Format, escape_markdown as escape};
use crate::text::clipped;

const LONGEST: usize = 200;

/// The page.
#[must_use]
pub fn render(report: &Report) -> String {
    let notes = Notes::of(report);
    let mut out = format!("# {}\n\n", title(report));
    for (name, value) in facts_of(report) {
        out += &format!("- {name}: {}\n", escape(&value));
    }
    out.push('\n');
    if waits::is_read(report) {
        let table = timers(report, &notes, Page::Markdown);
        if table.rows.is_empty() {
            out += "No timer could be characterised.\n";
        } else {
            out += &table.render(Format::Markdown);
        }
    }
    for section in waits::sections(report, &notes) {
        out += &section.markdown();
    }
    for (title, status) in [
        ("Unresolved", Status::Unresolved),
        ("Failed", Status::Failed),
        ("Unavailable", Status::Unavailable),
    ] {
        explain(&mut out, report, title, status);
    }
    explain_notes(&mut out, &notes);
    out
}

fn title(report: &Report) -> String {
    match (report.provenance.kind, &report.platform.cpu.model) {
        (ProvenanceKind::Published, Some(cpu)) => {
            format!("Timers of {}", escape(&clipped(cpu, LONGEST)))
        }
        _ => "Timers of this machine".to_owned(),
    }
}

fn explain(out: &mut String, report: &Report, title: &str, status: Status) {
    let reasons = reasons(report, status);
    if reasons.is_empty() {
        return;
    }
    *out += &format!("\n## {title}\n\n");
    for reason in reasons {
        *out += &format!(
            "- {} — {}\n",
            escape(&reason.ids.join(", ")),
            escape(&reason.text)
        );
    }
}

fn explain_notes(out: &mut String, notes: &Notes) {
    if notes.list.is_empty() {
        return;
    }
    *out += "\n## Notes\n\n";
    for (at, note) in notes.list.iter().enumerate() {
        *out += &format!(
            "{}. **{}** ({})\n",
            at + 1,
            escape(&note.code),
            escape(&note.concerns())
        );
        for told in note.told() {
            *out += &format!("   - {}\n", escape(&told));
        }
        *out += &format!("   - *Advice:* {}\n", escape(&note.advice));
    }
}
