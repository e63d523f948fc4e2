//! The table for people: the machine, one row a timer, and below it what the reader should know.

use clap::ValueEnum;

use super::machine::{caution, facts_of, in_a_line};
use super::notes::{Digest, Notes, with_figures};
use super::sections::{NAMES, Page, reasons, timers};
use super::waits;
use crate::model::{ProvenanceKind, Report, Status};
use crate::table::Style;
use crate::text::numbers::NOTHING;
use crate::text::{and_more, hang, plain};

const DIM: &str = "2";
const RED: &str = "31";
const YELLOW: &str = "33";

/// How much is said of each note.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Detail {
    /// What matters for choosing a clock, in a few lines
    #[default]
    Short,
    /// The whole machine, and each note with its causes and what to do about them
    Full,
}

/// The whole table, with a newline at its end.
#[must_use]
pub fn render(report: &Report, style: Style, detail: Detail) -> String {
    if detail == Detail::Short {
        return in_short(report, style);
    }
    let notes = Notes::of(report);
    let mut out = machine(&facts_of(report), style);
    if waits::is_read(report) {
        out.push('\n');
        out.push_str(&grid(report, &notes, style, &mut None));
    }
    for section in waits::sections(report, &notes) {
        out.push_str(&section.on_terminal(style));
    }
    for (title, status, codes) in [
        ("unresolved", Status::Unresolved, YELLOW),
        ("failed", Status::Failed, RED),
        ("unavailable", Status::Unavailable, DIM),
    ] {
        explain(&mut out, report, status, &style.paint(codes, title), style);
    }
    explain_notes(&mut out, &notes, style, Detail::Full);
    out
}

/// Rows above which a table leaves no room for reasons.
const MANY: usize = 8;
/// Timers without figures that are named there.
const FEW: usize = 1;

/// The machine in a line, the table without what all rows share, and what matters for choosing.
fn in_short(report: &Report, style: Style) -> String {
    let mut out = match report.provenance.kind {
        ProvenanceKind::Published => machine(&facts_of(report), style),
        ProvenanceKind::Measured => {
            let line = style.paint(
                DIM,
                &format!("# {}", in_a_line(report, style.columns() - 2)),
            ) + "\n";
            machine(caution(report).as_slice(), style) + &line
        }
    };
    let digest = Digest::of(report);
    let notes = Notes::of(report);
    let mut same = Some(Vec::new());
    if waits::is_read(report) {
        out.push_str(&grid(report, &digest.notes, style, &mut same));
    }
    for section in waits::sections(report, &notes) {
        out.push_str(&section.on_terminal(style));
    }
    let many = with_figures(report).len() > MANY;
    explain(
        &mut out,
        report,
        Status::Failed,
        &style.paint(RED, "failed"),
        style,
    );
    if !many {
        explain(
            &mut out,
            report,
            Status::Unresolved,
            &style.paint(YELLOW, "unresolved"),
            style,
        );
        explain(
            &mut out,
            report,
            Status::Unavailable,
            &style.paint(DIM, "unavailable"),
            style,
        );
    }
    if report.timers.is_empty() {
        explain_notes(&mut out, &notes, style, Detail::Short);
        return out;
    }
    let mut lines = digest.lines(report, &same.unwrap_or_default());
    let left_out = [
        (Status::Unresolved, "no step found"),
        (Status::Unavailable, "unavailable"),
    ];
    let left_out = left_out
        .into_iter()
        .filter(|_| many)
        .filter_map(|(status, title)| {
            let ids: Vec<String> = reasons(report, status)
                .into_iter()
                .flat_map(|reason| reason.ids)
                .collect();
            let told = and_more(&ids[..ids.len().min(FEW)], ids.len());
            (!ids.is_empty()).then(|| format!("{title}: {told}"))
        });
    let left_out: Vec<String> = left_out.collect();
    if !left_out.is_empty() {
        lines.push((String::new(), left_out.join(" · ")));
    }
    lines.push((String::new(), digest.rest()));
    out.push('\n');
    lines.iter().for_each(|(lead, text)| {
        hang(
            &mut out,
            &format!("{lead:>2}  "),
            "    ",
            text,
            style.columns(),
        )
    });
    out
}

/// Lines that begin with `#` and say who the machine is.
#[must_use]
pub fn machine<N: AsRef<str>, V: AsRef<str>>(facts: &[(N, V)], style: Style) -> String {
    listed("# ", facts, style)
        .lines()
        .map(|line| style.paint(DIM, line) + "\n")
        .collect()
}

/// A line a fact, folded, the values below each other.
#[must_use]
pub fn listed<N: AsRef<str>, V: AsRef<str>>(lead: &str, facts: &[(N, V)], style: Style) -> String {
    let width = facts
        .iter()
        .map(|(name, _)| name.as_ref().chars().count())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for (name, value) in facts {
        let first = format!("{lead}{:width$}  ", name.as_ref());
        let next = format!("{lead}{:width$}  ", "");
        hang(
            &mut text,
            &first,
            &next,
            &plain(value.as_ref()),
            style.columns(),
        );
    }
    text.lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

/// As for a terminal of 120 columns where there is none: with the names of the paper beside the
/// ids, or without the figures in cycles, as there is room. Where it is asked for, what all rows
/// say is taken out of it and told.
fn grid(report: &Report, notes: &Notes, style: Style, same: &mut Option<Vec<String>>) -> String {
    let style = Style {
        width: Some(style.columns() as u16),
        ..style
    };
    let mut made = |page| {
        let mut table = timers(report, notes, page);
        if let Some(told) = same {
            let taken = table
                .take_constant(NAMES)
                .into_iter()
                .filter(|(_, cell)| !["", NOTHING].contains(&cell.as_str()));
            *told = taken
                .map(|(heading, cell)| format!("{heading} {cell}"))
                .collect();
        }
        table
    };
    let wide = [
        Page::TerminalWithLegends,
        Page::Terminal,
        Page::NarrowTerminal,
    ]
    .into_iter()
    .map(&mut made);
    let fitting = wide.into_iter().find(|table| table.fits(style));
    let narrowest = if style.columns() < waits::PHONE {
        Page::Phone
    } else {
        Page::NarrowestTerminal
    };
    let table = fitting.unwrap_or_else(|| made(narrowest));
    if table.rows.is_empty() {
        return "No timer could be characterised.\n".to_owned();
    }
    table.on_terminal(style, &|_| "")
}

fn explain(out: &mut String, report: &Report, status: Status, title: &str, style: Style) {
    let reasons = reasons(report, status);
    if reasons.is_empty() {
        return;
    }
    out.push('\n');
    out.push_str(title);
    out.push('\n');
    for reason in reasons {
        hang(
            out,
            "  ",
            "    ",
            &format!("{} — {}", reason.ids.join(", "), reason.text),
            style.columns(),
        );
    }
}

fn explain_notes(out: &mut String, notes: &Notes, style: Style, detail: Detail) {
    if notes.list.is_empty() {
        return;
    }
    out.push('\n');
    out.push_str(&style.paint(YELLOW, "notes"));
    out.push('\n');
    for (at, note) in notes.list.iter().enumerate() {
        let first = format!("  {:>2}  ", at + 1);
        if detail == Detail::Short {
            hang(
                out,
                &first,
                "      ",
                &format!("{}: {}", note.code, note.concerns_in_short()),
                style.columns(),
            );
            continue;
        }
        hang(
            out,
            &first,
            "      ",
            &format!("{}: {}", note.code, note.concerns()),
            style.columns(),
        );
        for told in note.told() {
            hang(out, "      ", "      ", &told, style.columns());
        }
        hang(out, "      → ", "        ", &note.advice, style.columns());
    }
    if detail == Detail::Short {
        hang(
            out,
            "      → ",
            "        ",
            "--notes full has causes and remedies",
            style.columns(),
        );
    }
}
