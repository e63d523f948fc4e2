//! The report as a Markdown page (GitHub's tables).

use super::machine::facts_of;
use super::sections::{Notes, half_width, ranked, reasons, trust, with_legend};
use crate::model::{ProvenanceKind, Report, Status, TimerRow};
use crate::text::clipped;
use crate::text::escape::markdown as escape;
use crate::text::numbers::{NOTHING, accuracy, count, percent, share, time};

const HEADER: &str = "\
| | timer | call | accuracy | cycles | cost | cycles | spread | Quality | trust | notes |
|--:|:--|:--|--:|--:|--:|--:|--:|--:|:--|:--|
";
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
    let rows = ranked(report);
    if rows.is_empty() {
        out += "No timer could be characterised.\n";
    } else {
        out += HEADER;
    }
    for (rank, row) in rows {
        out += &line(rank, row, &notes);
    }
    for (title, status) in
        [("Unresolved", Status::Unresolved), ("Failed", Status::Failed), ("Unavailable", Status::Unavailable)]
    {
        explain(&mut out, report, title, status);
    }
    explain_notes(&mut out, &notes);
    out
}

fn title(report: &Report) -> String {
    match (report.provenance.kind, &report.platform.cpu.model) {
        (ProvenanceKind::Published, Some(cpu)) => format!("Timers of {}", escape(&clipped(cpu, LONGEST))),
        _ => "Timers of this machine".to_owned(),
    }
}

fn line(rank: String, row: &TimerRow, notes: &Notes) -> String {
    let cost = row.cost.as_ref();
    let mut quality = match row.quality {
        Some(_) => format!("{} % {}", percent(row.quality), half_width(row)).trim_end().to_owned(),
        None => NOTHING.to_owned(),
    };
    if row.printed_quality.is_some() {
        quality += &format!(" (printed: {} %)", percent(row.printed_quality));
    }
    let cells = [
        rank,
        escape(&clipped(&row.id, LONGEST)),
        escape(&with_legend(&clipped(&row.label, LONGEST), row)),
        accuracy(row.accuracy.as_ref()),
        count(row.accuracy.and_then(|accuracy| accuracy.cycles)),
        time(cost.and_then(|cost| cost.median_ns)),
        count(cost.and_then(|cost| cost.median_cycles)),
        share(row.spread),
        quality,
        trust(row).to_owned(),
        notes.marks(row).replace(',', ", "),
    ];
    format!("| {} |\n", cells.join(" | "))
}

fn explain(out: &mut String, report: &Report, title: &str, status: Status) {
    let reasons = reasons(report, status);
    if reasons.is_empty() {
        return;
    }
    *out += &format!("\n## {title}\n\n");
    for reason in reasons {
        *out += &format!("- {} — {}\n", escape(&reason.ids.join(", ")), escape(&reason.text));
    }
}

fn explain_notes(out: &mut String, notes: &Notes) {
    if notes.0.is_empty() {
        return;
    }
    *out += "\n## Notes\n\n";
    for (at, note) in notes.0.iter().enumerate() {
        *out += &format!("{}. **{}** ({})\n", at + 1, escape(&note.code), escape(&note.concerns()));
        for told in note.told() {
            *out += &format!("   - {}\n", escape(&told));
        }
        *out += &format!("   - *Advice:* {}\n", escape(&note.advice));
    }
}
