//! What the terminal and the Markdown page share: the table of timers, their ranks, and the numbered notes.

use std::borrow::Cow;

use super::rank::ranks;
use super::waits::named;
use crate::model::{AccuracyKind, Answers, Report, Status, TimerRow, Verdicts, WaitConditions, Warning};
use crate::table::{Cell, Column, Notation, Table};
use crate::text::numbers::{NOTHING, percent, plus_minus};
use crate::text::{clipped, plain};

/// Longest text from elsewhere that is printed.
const LONGEST: usize = 600;

/// The rows that have figures: the `ok` ones in the order of the report, then the unresolved ones.
fn rows(report: &Report) -> Vec<&TimerRow> {
    with_status(report, Status::Ok).chain(with_status(report, Status::Unresolved)).collect()
}

/// A rank for people.
#[must_use]
pub fn written_rank(rank: Option<usize>) -> String {
    rank.map_or_else(|| NOTHING.to_owned(), |rank| rank.to_string())
}

fn with_status(report: &Report, status: Status) -> impl Iterator<Item = &TimerRow> {
    report.timers.iter().filter(move |row| row.status == status)
}

/// What all rows of a report have, of timers that are read and of those that wait.
struct Told<'a> {
    id: &'a str,
    /// Under what it waited, if it was asked to.
    conditions: Option<&'a WaitConditions>,
    status: Status,
    reason: Option<&'a str>,
    remedy: Option<&'a str>,
    warnings: &'a [Warning],
}

/// A row as far as it tells why.
macro_rules! told {
    ($row:expr, $conditions:expr) => {
        Told {
            id: &$row.id,
            conditions: $conditions,
            status: $row.status,
            reason: $row.reason.as_deref(),
            remedy: $row.remedy.as_deref(),
            warnings: &$row.warnings,
        }
    };
}

/// Those that have figures first, in the order in which they are shown.
fn all_told(report: &Report) -> Vec<Told<'_>> {
    let hidden = [Status::Failed, Status::Unavailable];
    let timers = rows(report)
        .into_iter()
        .chain(hidden.into_iter().flat_map(|status| with_status(report, status)))
        .map(|row| told!(row, None));
    let asked = |conditions| Some(conditions).filter(|told: &&WaitConditions| !told.policy.is_empty());
    let waits = report.waits.iter().map(|row| told!(row, asked(&row.conditions)));
    let periods = report.periods.iter().map(|row| told!(row, asked(&row.conditions)));
    timers.chain(waits).chain(periods).collect()
}

/// Where the table of timers stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// In Markdown.
    Markdown,
    /// On a terminal.
    Terminal,
    /// On a terminal, with what the paper calls the timers.
    TerminalWithLegends,
    /// On a narrow terminal, without the figures in cycles.
    NarrowTerminal,
}

/// A row a timer that has figures.
pub fn timers(report: &Report, notes: &Notes, page: Page) -> Table<'static> {
    let wide = page == Page::Markdown;
    let mut columns = vec![
        Column::written(""),
        // An id that is to be folded is plain already.
        Column { folds: true, longest: None, ..Column::left("timer") },
        Column::left("call"),
        Column::right("accuracy", Notation::Time),
        Column::right(if wide { "cycles" } else { "acc. cycles" }, Notation::Count),
        Column::right("cost", Notation::Time),
        Column::right(if wide { "cycles" } else { "cost cycles" }, Notation::Count),
        Column::right("spread", Notation::Fixed(3)),
        Column::written(if wide { "Quality" } else { "Quality %" }),
        Column { right: !wide, ..Column::written("trust") },
        Column::left(if wide { "notes" } else { "see" }),
    ];
    let rows = rows(report);
    let half = |row: &TimerRow| plus_minus(row.quality, row.quality_low, row.quality_high);
    let interval_width = rows.iter().map(|row| half(row).chars().count()).max().unwrap_or(0);
    let cells = |(rank, row): (Option<usize>, &&TimerRow)| -> Vec<Cell> {
        let id = clipped(&row.id, if wide { 200 } else { 100 });
        let (step, cost) = (row.accuracy.as_ref(), row.cost.as_ref());
        let at_most = step.is_some_and(|step| step.kind == AccuracyKind::AtMost);
        let quality = match (row.quality, wide) {
            (Some(_), true) => format!("{} % {}", percent(row.quality), half(row)).trim_end().to_owned(),
            (None, true) => NOTHING.to_owned(),
            (Some(_), false) => format!("{} {:interval_width$}", percent(row.quality), half(row)),
            (None, false) => NOTHING.to_owned() + &" ".repeat(interval_width + 1),
        };
        let printed = row.printed_quality.filter(|_| wide);
        let printed = printed.map_or_else(String::new, |q| format!(" (printed: {} %)", percent(Some(q))));
        let marks = notes.marks(&row.warnings);
        vec![
            written_rank(rank).into(),
            if page == Page::TerminalWithLegends { with_legend(id, row) } else { id }.into(),
            with_legend(clipped(&row.label, 200), row).into(),
            Cell::bounded(step.and_then(|step| step.ns), at_most),
            step.and_then(|step| step.cycles).into(),
            cost.and_then(|cost| cost.median_ns).into(),
            cost.and_then(|cost| cost.median_cycles).into(),
            row.spread.into(),
            (quality + &printed).into(),
            row.verdicts.as_ref().map_or(NOTHING, Verdicts::in_short).into(),
            if wide { marks.replace(',', ", ") } else { marks }.into(),
        ]
    };
    let mut rows: Vec<Vec<Cell>> = ranks(&rows).into_iter().zip(&rows).map(cells).collect();
    /// The columns `call`, and accuracy and cost in cycles, the last first.
    const LEFT_OUT: [usize; 3] = [6, 4, 2];
    let left_out = match page {
        Page::Markdown => &LEFT_OUT[3..],
        Page::Terminal | Page::TerminalWithLegends => &LEFT_OUT[2..],
        Page::NarrowTerminal => &LEFT_OUT[..],
    };
    for &column in left_out {
        columns.remove(column);
        rows.iter_mut().for_each(|row| drop(row.remove(column)));
    }
    Table { rows: rows.into_iter().map(Cow::Owned).collect(), widest_gap: 3, ..Table::new(columns) }
}

/// What is called `text` here, with what the paper calls it: `java:nanoTime = NANO`.
fn with_legend(text: String, row: &TimerRow) -> String {
    match row.legend.as_deref().map(plain) {
        Some(legend) if !legend.is_empty() => format!("{text} = {legend}"),
        _ => text,
    }
}

/// Why some timers are not `ok`: one entry a reason.
pub struct Reason {
    /// The timers it concerns.
    pub ids: Vec<String>,
    /// The reason, and what to do about it.
    pub text: String,
}

/// Reasons of all timers of that status, each told once.
pub fn reasons(report: &Report, status: Status) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    let all = all_told(report);
    let among: Vec<&WaitConditions> = all.iter().filter_map(|row| row.conditions).collect();
    for row in all.iter().filter(|row| row.status == status) {
        let id = plain(row.id);
        let id = match row.conditions {
            Some(own) => named(&id, own, &among),
            None => id,
        };
        let reason = clipped(row.reason.unwrap_or("no reason given"), LONGEST);
        let text = match row.remedy.map(|remedy| clipped(remedy, LONGEST)) {
            Some(remedy) if !remedy.is_empty() => format!("{reason} → {remedy}"),
            _ => reason,
        };
        match reasons.iter_mut().find(|reason| reason.text == text) {
            Some(reason) if reason.ids.contains(&id) => {}
            Some(reason) => reason.ids.push(id),
            None => reasons.push(Reason { ids: vec![id], text }),
        }
    }
    reasons
}

/// A numbered note: one cause and one advice, however many timers it concerns.
pub struct Note {
    /// Its code.
    pub code: String,
    /// What to do.
    pub advice: String,
    /// The causes as told, each with the timers that told it so.
    pub causes: Vec<(String, Vec<String>)>,
    /// Whether it concerns the whole run.
    pub whole_run: bool,
}

/// All notes of a report; the number of a note is its place, from 1.
pub struct Notes(pub Vec<Note>);

impl Notes {
    /// Those of the whole run first, then those of the rows in the order in which the rows are shown.
    pub fn of(report: &Report) -> Self {
        let mut notes = Self(Vec::new());
        for warning in &report.warnings {
            notes.add(warning, None);
        }
        for row in all_told(report) {
            for warning in row.warnings {
                notes.add(warning, Some(plain(row.id)));
            }
        }
        notes
    }

    /// The numbers of the notes that concern this row, as in `1,3`.
    pub fn marks(&self, warnings: &[Warning]) -> String {
        let mut numbers: Vec<usize> = warnings.iter().filter_map(|warning| self.number(warning)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
    }

    fn number(&self, warning: &Warning) -> Option<usize> {
        let (code, advice) = key(warning);
        self.0.iter().position(|note| note.code == code && note.advice == advice).map(|at| at + 1)
    }

    fn add(&mut self, warning: &Warning, id: Option<String>) {
        let at = self.number(warning).unwrap_or_else(|| {
            let (code, advice) = key(warning);
            self.0.push(Note { code, advice, causes: Vec::new(), whole_run: false });
            self.0.len()
        });
        let note = &mut self.0[at - 1];
        note.whole_run |= id.is_none();
        let message = clipped(&warning.message, LONGEST);
        let cause = match note.causes.iter().position(|(told, _)| *told == message) {
            Some(known) => &mut note.causes[known],
            None => {
                note.causes.push((message, Vec::new()));
                note.causes.last_mut().expect("one was just pushed")
            }
        };
        cause.1.extend(id.filter(|id| !cause.1.contains(id)));
    }
}

fn key(warning: &Warning) -> (String, String) {
    (plain(&warning.code), clipped(&warning.advice, LONGEST))
}

impl Note {
    /// Whom it concerns.
    pub fn concerns(&self) -> String {
        let run = self.whole_run.then(|| "the whole run".to_owned());
        let mut all: Vec<String> = run.into_iter().collect();
        for id in self.causes.iter().flat_map(|(_, ids)| ids) {
            if !all.contains(id) {
                all.push(id.clone());
            }
        }
        all.join(", ")
    }

    /// The same by number, with the first of many named.
    pub fn concerns_in_short(&self) -> String {
        if self.whole_run {
            return "the whole run".to_owned();
        }
        let mut ids: Vec<&String> = Vec::new();
        for id in self.causes.iter().flat_map(|(_, ids)| ids) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        match ids.as_slice() {
            [first, second, _, ..] => format!("{} timers ({first}, {second}, …)", ids.len()),
            few => few.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", "),
        }
    }

    /// The causes as sentences. They mostly differ in their figures only, so that one of many stands for all.
    pub fn told(&self) -> Vec<String> {
        match self.causes.as_slice() {
            [(message, _)] => vec![message.clone()],
            [one, two] => [one, two].map(|(message, ids)| prefixed(&ids.join(", "), message)).to_vec(),
            [(message, ids), ..] => vec![format!("For instance {}", prefixed(&ids.join(", "), message))],
            [] => Vec::new(),
        }
    }
}

fn prefixed(ids: &str, message: &str) -> String {
    if ids.is_empty() { message.to_owned() } else { format!("{ids}: {message}") }
}
