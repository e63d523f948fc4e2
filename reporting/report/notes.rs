//! The rows of a report in the order in which they are shown, and the numbered notes below a table:
//! the warnings of a report, each cause and advice once. And what a table of clocks says of its
//! rows in short: what matters for choosing one as footnotes, what most of them share once.

use crate::model::{Finding, Outcome, Report, Status, TimerRow, WaitConditions};
use crate::text::{counted, in_short, runs_of};

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
pub struct Notes {
    /// The notes.
    pub list: Vec<Note>,
    key: fn(&Finding) -> (String, String),
}

impl Notes {
    /// Those of the whole run first, then those of the rows in the order in which the rows are
    /// shown.
    pub fn of(report: &Report) -> Self {
        Self::gathered(report, key)
    }

    /// None of them.
    pub fn none() -> Self {
        Self {
            list: Vec::new(),
            key,
        }
    }

    /// One a code, whatever it advises.
    pub fn by_code(report: &Report) -> Self {
        Self::gathered(report, |warning| (warning.code.to_string(), String::new()))
    }

    fn gathered(report: &Report, key: fn(&Finding) -> (String, String)) -> Self {
        let mut notes = Self {
            list: Vec::new(),
            key,
        };
        for warning in &report.warnings {
            notes.add(warning, None);
        }
        for row in all_told(report) {
            for warning in row.warnings {
                notes.add(warning, Some(row.id.to_owned()));
            }
        }
        notes
    }

    /// The numbers of the notes that concern this row, as in `1,3`.
    pub fn marks(&self, warnings: &[Finding]) -> String {
        let mut numbers: Vec<usize> = warnings
            .iter()
            .filter_map(|warning| self.number(warning))
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
            .iter()
            .map(usize::to_string)
            .collect::<Vec<_>>()
            .join(",")
    }

    fn number(&self, warning: &Finding) -> Option<usize> {
        let (code, advice) = (self.key)(warning);
        self.list
            .iter()
            .position(|note| note.code == code && note.advice == advice)
            .map(|at| at + 1)
    }

    fn add(&mut self, warning: &Finding, id: Option<String>) {
        let at = self.number(warning).unwrap_or_else(|| {
            let (code, advice) = (self.key)(warning);
            self.list.push(Note {
                code,
                advice,
                causes: Vec::new(),
                whole_run: false,
            });
            self.list.len()
        });
        let note = &mut self.list[at - 1];
        note.whole_run |= id.is_none();
        let message = warning.message();
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

fn key(warning: &Finding) -> (String, String) {
    (warning.code.to_string(), warning.advice())
}

impl Note {
    /// The timers that it concerns.
    pub fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = Vec::new();
        for id in self.causes.iter().flat_map(|(_, ids)| ids) {
            if !ids.contains(&id.as_str()) {
                ids.push(id);
            }
        }
        ids
    }

    /// Whom it concerns.
    pub fn concerns(&self) -> String {
        let run = self.whole_run.then_some("the whole run");
        run.into_iter()
            .chain(self.ids())
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The same by number, with the first of many named.
    pub fn concerns_in_short(&self) -> String {
        if self.whole_run {
            return "the whole run".to_owned();
        }
        in_short(&self.ids())
    }

    /// The causes as sentences. They mostly differ in their figures only, so that one of many
    /// stands for all.
    pub fn told(&self) -> Vec<String> {
        match self.causes.as_slice() {
            [(message, _)] => vec![message.clone()],
            [one, two] => [one, two]
                .map(|(message, ids)| prefixed(&ids.join(", "), message))
                .to_vec(),
            [(message, ids), ..] => vec![format!(
                "For instance {}",
                prefixed(&ids.join(", "), message)
            )],
            [] => Vec::new(),
        }
    }
}

fn prefixed(ids: &str, message: &str) -> String {
    if ids.is_empty() {
        message.to_owned()
    } else {
        format!("{ids}: {message}")
    }
}

/// The rows that have figures: the `ok` ones in the order of the report, then the unresolved ones.
pub fn with_figures(report: &Report) -> Vec<&TimerRow> {
    with_status(report, Status::Ok)
        .chain(with_status(report, Status::Unresolved))
        .collect()
}

fn with_status(report: &Report, status: Status) -> impl Iterator<Item = &TimerRow> {
    report.timers.iter().filter(move |row| row.status == status)
}

/// What all rows of a report have, of timers that are read and of those that wait.
pub struct ToldRow<'a> {
    pub id: &'a str,
    /// Under what it waited, if it was asked to.
    pub conditions: Option<&'a WaitConditions>,
    pub status: Status,
    pub reason: Option<&'a str>,
    pub remedy: Option<&'a str>,
    pub warnings: &'a [Finding],
}

/// A row as far as it tells why.
macro_rules! told {
    ($row:expr, $conditions:expr) => {
        ToldRow {
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
pub fn all_told(report: &Report) -> Vec<ToldRow<'_>> {
    let hidden = [Status::Failed, Status::Unavailable];
    let timers = with_figures(report)
        .into_iter()
        .chain(
            hidden
                .into_iter()
                .flat_map(|status| with_status(report, status)),
        )
        .map(|row| told!(row, None));
    let asked =
        |conditions| Some(conditions).filter(|told: &&WaitConditions| !told.policy.is_empty());
    let waits = report
        .waits
        .iter()
        .map(|row| told!(row, asked(&row.conditions)));
    let periods = report
        .periods
        .iter()
        .map(|row| told!(row, asked(&row.conditions)));
    timers.chain(waits).chain(periods).collect()
}

/// Footnotes at most.
const FOOTNOTES: usize = 3;

/// What speaks for or against a clock, the gravest first. All else tells how well figures are
/// known.
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
    /// What is said once: what concerns the whole run, and what more than half of the rows share,
    /// by number.
    shared: Vec<String>,
    /// How many notes are not told.
    further: usize,
}

impl Digest {
    pub fn of(report: &Report) -> Self {
        let rows = with_figures(report).len();
        let mut notes = Notes::by_code(report);
        let is_shared = |note: &Note| note.whole_run || 2 * note.ids().len() > rows;
        let (mut shared, mut own): (Vec<Note>, Vec<Note>) =
            notes.list.drain(..).partition(is_shared);
        shared.sort_by_key(|note| std::cmp::Reverse(note.ids().len()));
        let rank = |note: &Note| TELLING.iter().position(|code| *code == note.code);
        own.sort_by_key(|note| rank(note).unwrap_or(TELLING.len()));
        let telling = own
            .iter()
            .filter(|note| rank(note).is_some())
            .count()
            .min(FOOTNOTES);
        let further = own.len() - telling;
        own.truncate(telling);
        notes.list = own;
        let (runs, mut shared): (Vec<Note>, Vec<Note>) =
            shared.into_iter().partition(|note| note.whole_run);
        let further = further + shared.len().saturating_sub(FOOTNOTES);
        shared.truncate(FOOTNOTES);
        let codes: Vec<&str> = runs.iter().map(|note| note.code.as_str()).collect();
        let run = (!codes.is_empty()).then(|| format!("the run: {}", codes.join(", ")));
        let mut all = Some(format!(" of {rows}"));
        let told = |note: &Note| {
            format!(
                "{}{} {}",
                note.ids().len(),
                all.take().unwrap_or_default(),
                note.code
            )
        };
        let shared = run.into_iter().chain(shared.iter().map(told)).collect();
        Self {
            notes,
            shared,
            further,
        }
    }

    /// What stands below the table, each with its lead: what is the same in all rows, the
    /// footnotes, and why some are neither trusted nor distrusted.
    pub fn lines(&self, report: &Report, same: &[String]) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        let all = same
            .iter()
            .map(|cell| format!("all: {cell}"))
            .chain(self.shared.iter().cloned());
        let all: Vec<String> = all.collect();
        if !all.is_empty() {
            lines.push((String::new(), all.join(" · ")));
        }
        for (at, note) in self.notes.list.iter().enumerate() {
            lines.push((
                (at + 1).to_string(),
                format!("{}: {}", note.code, note.concerns_in_short()),
            ));
        }
        lines.extend(
            untested(report)
                .into_iter()
                .map(|text| ("?".to_owned(), text)),
        );
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
        let open = answers.filter(|answer| {
            answer.question.disqualifies() && answer.outcome == Outcome::NotTested
        });
        for answer in open {
            let question = answer.question.name();
            let why = answer.finding;
            let why = why.split([';', ':']).next().unwrap_or_default();
            let is_told = |reason: &&mut Reason| {
                reason.question == question && without_figures(&reason.why) == without_figures(why)
            };
            match told.iter_mut().find(is_told) {
                Some(reason) => {
                    reason.varies |= reason.why != why;
                    reason.ids.push(row.id.clone());
                }
                None => {
                    let ids = vec![row.id.clone()];
                    told.push(Reason {
                        question,
                        why: why.to_owned(),
                        varies: false,
                        ids,
                    });
                }
            }
        }
    }
    let line = |Reason {
                    question,
                    why,
                    varies,
                    ids,
                }: Reason| {
        let instance = if varies { "for instance, " } else { "" };
        format!("{}: {question}? {instance}{why}", in_short(&runs_of(&ids)))
    };
    told.into_iter().map(line).collect()
}

fn is_open(row: &TimerRow) -> bool {
    row.verdicts
        .as_ref()
        .is_some_and(|verdicts| verdicts.in_short() == "?")
}
