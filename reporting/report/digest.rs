//! What a table of clocks says of its rows in short: what matters for choosing one as footnotes, what most of them share once.

use super::notes::{Note, Notes};
use super::rows::with_figures;
use crate::model::{Outcome, Report, TimerRow};
use crate::text::{counted, in_short, plain, runs_of};

/// Footnotes at most.
const FOOTNOTES: usize = 3;

/// What speaks for or against a clock, the gravest first. All else tells how well figures are known.
const TELLING: [&str; 11] = [
    "not-monotonic",
    "not-thread-safe",
    "not-stable",
    "counts-something-else",
    "read-path",
    "cost-contradiction",
    "vague-reference",
    "edges-moved",
    "two-regimes",
    "single-process",
    "shared-core",
];

/// Notes in short.
pub struct Digest {
    /// The footnotes.
    pub notes: Notes,
    /// What is said once: what concerns the whole run, and what more than half of the rows share, by number.
    shared: Vec<String>,
    /// How many notes are not told.
    further: usize,
}

impl Digest {
    pub fn of(report: &Report) -> Self {
        let rows = with_figures(report).len();
        let mut notes = Notes::by_code(report);
        let is_shared = |note: &Note| note.whole_run || 2 * note.ids().len() > rows;
        let (mut shared, mut own): (Vec<Note>, Vec<Note>) = notes.list.drain(..).partition(is_shared);
        shared.sort_by_key(|note| std::cmp::Reverse(note.ids().len()));
        let rank = |note: &Note| TELLING.iter().position(|code| *code == note.code);
        own.sort_by_key(|note| rank(note).unwrap_or(TELLING.len()));
        let telling = own.iter().filter(|note| rank(note).is_some()).count().min(FOOTNOTES);
        let further = own.len() - telling;
        own.truncate(telling);
        notes.list = own;
        let (runs, mut shared): (Vec<Note>, Vec<Note>) = shared.into_iter().partition(|note| note.whole_run);
        let further = further + shared.len().saturating_sub(FOOTNOTES);
        shared.truncate(FOOTNOTES);
        let codes: Vec<&str> = runs.iter().map(|note| note.code.as_str()).collect();
        let run = (!codes.is_empty()).then(|| format!("the run: {}", codes.join(", ")));
        let mut all = Some(format!(" of {rows}"));
        let told =
            |note: &Note| format!("{}{} {}", note.ids().len(), all.take().unwrap_or_default(), note.code);
        let shared = run.into_iter().chain(shared.iter().map(told)).collect();
        Self { notes, shared, further }
    }

    /// What stands below the table, each with its lead: what is the same in all rows, the footnotes, and why some are neither trusted nor
    /// distrusted.
    pub fn lines(&self, report: &Report, same: &[String]) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        let all = same.iter().map(|cell| format!("all: {cell}")).chain(self.shared.iter().cloned());
        let all: Vec<String> = all.collect();
        if !all.is_empty() {
            lines.push((String::new(), all.join(" · ")));
        }
        for (at, note) in self.notes.list.iter().enumerate() {
            lines.push(((at + 1).to_string(), format!("{}: {}", note.code, note.concerns_in_short())));
        }
        lines.extend(untested(report).into_iter().map(|text| ("?".to_owned(), text)));
        lines
    }

    /// Where the rest is said.
    pub fn rest(&self) -> String {
        let further = match self.further {
            0 => String::new(),
            count => format!("{}, ", counted(count, "further note")),
        };
        format!("→ -v: {further}causes and remedies, and the whole machine")
    }
}

/// Why trust is `?`: timers with the same reason together, whatever the figures in it.
fn untested(report: &Report) -> Vec<String> {
    struct Reason {
        question: &'static str,
        why: String,
        varies: bool,
        ids: Vec<String>,
    }
    let without_figures = |why: &str| why.replace(|c: char| c.is_ascii_digit() || c == '.', "");
    let mut told: Vec<Reason> = Vec::new();
    for row in with_figures(report).into_iter().filter(|row| is_open(row)) {
        let answers = row.verdicts.iter().flat_map(|verdicts| verdicts.answers());
        let open =
            answers.filter(|answer| answer.question.disqualifies() && answer.outcome == Outcome::NotTested);
        for answer in open {
            let question = answer.question.name();
            let why = plain(answer.finding);
            let why = why.split([';', ':']).next().unwrap_or_default();
            let is_told = |reason: &&mut Reason| {
                reason.question == question && without_figures(&reason.why) == without_figures(why)
            };
            match told.iter_mut().find(is_told) {
                Some(reason) => {
                    reason.varies |= reason.why != why;
                    reason.ids.push(plain(&row.id));
                }
                None => {
                    let ids = vec![plain(&row.id)];
                    told.push(Reason { question, why: why.to_owned(), varies: false, ids });
                }
            }
        }
    }
    let line = |Reason { question, why, varies, ids }: Reason| {
        let instance = if varies { "for instance, " } else { "" };
        format!("{}: {question}? {instance}{why}", in_short(&runs_of(&ids)))
    };
    told.into_iter().map(line).collect()
}

fn is_open(row: &TimerRow) -> bool {
    row.verdicts.as_ref().is_some_and(|verdicts| verdicts.in_short() == "?")
}
