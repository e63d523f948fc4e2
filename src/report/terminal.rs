//! The table for people: the machine, one row a timer, and below it what the reader should know.

use clap::ValueEnum;

use super::fact::Fact;
use super::machine::facts_of;
use super::notes::Notes;
use super::sections::{Page, reasons, timers};
use super::waits;
use crate::model::{Report, Status};
use crate::table::Style;
use crate::text::{hang, plain};

const DIM: &str = "2";
const RED: &str = "31";
const YELLOW: &str = "33";

/// How much is said of each note.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Detail {
    /// A line each: what it is, and which timers it concerns
    #[default]
    Short,
    /// The causes, and what to do about them
    Full,
}

/// The whole table, with a newline at its end.
#[must_use]
pub fn render(report: &Report, style: Style, detail: Detail) -> String {
    let notes = Notes::of(report);
    let mut out = machine(&facts_of(report), style);
    if waits::is_read(report) {
        out.push('\n');
        out.push_str(&grid(report, &notes, style));
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
    explain_notes(&mut out, &notes, style, detail);
    out
}

/// Lines that begin with `#` and say who the machine is.
#[must_use]
pub fn machine(facts: &[Fact], style: Style) -> String {
    listed("# ", facts, style).lines().map(|line| style.paint(DIM, line) + "\n").collect()
}

/// A line a fact, folded, the values below each other.
#[must_use]
pub fn listed<N: AsRef<str>, V: AsRef<str>>(lead: &str, facts: &[(N, V)], style: Style) -> String {
    let width = facts.iter().map(|(name, _)| name.as_ref().chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, value) in facts {
        let first = format!("{lead}{:width$}  ", name.as_ref());
        let next = format!("{lead}{:width$}  ", "");
        hang(&mut text, &first, &next, &plain(value.as_ref()), style.columns());
    }
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// As for a terminal of 120 columns where there is none: with the names of the paper beside the ids, or without the figures in cycles,
/// as there is room.
fn grid(report: &Report, notes: &Notes, style: Style) -> String {
    let style = Style { width: Some(style.columns() as u16), ..style };
    let mut wide =
        [Page::TerminalWithLegends, Page::Terminal].into_iter().map(|page| timers(report, notes, page));
    let fitting = wide.find(|table| table.fits(style));
    let table = fitting.unwrap_or_else(|| timers(report, notes, Page::NarrowTerminal));
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
        hang(out, "  ", "    ", &format!("{} — {}", reason.ids.join(", "), reason.text), style.columns());
    }
}

fn explain_notes(out: &mut String, notes: &Notes, style: Style, detail: Detail) {
    if notes.0.is_empty() {
        return;
    }
    out.push('\n');
    out.push_str(&style.paint(YELLOW, "notes"));
    out.push('\n');
    for (at, note) in notes.0.iter().enumerate() {
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
        hang(out, &first, "      ", &format!("{}: {}", note.code, note.concerns()), style.columns());
        for told in note.told() {
            hang(out, "      ", "      ", &told, style.columns());
        }
        hang(out, "      → ", "        ", &note.advice, style.columns());
    }
    if detail == Detail::Short {
        out.push_str("      → --notes full has causes and remedies\n");
    }
}
