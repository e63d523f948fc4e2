//! The numbered notes below a table: the warnings of a report, each cause and advice once.

use super::rows::{LONGEST, all_told};
use crate::model::{Report, Warning};
use crate::text::{clipped, in_short, plain};

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
    key: fn(&Warning) -> (String, String),
}

impl Notes {
    /// Those of the whole run first, then those of the rows in the order in which the rows are shown.
    pub fn of(report: &Report) -> Self {
        Self::gathered(report, key)
    }

    /// None of them.
    pub fn none() -> Self {
        Self { list: Vec::new(), key }
    }

    /// One a code, whatever it advises.
    pub fn by_code(report: &Report) -> Self {
        Self::gathered(report, |warning| (plain(&warning.code), String::new()))
    }

    fn gathered(report: &Report, key: fn(&Warning) -> (String, String)) -> Self {
        let mut notes = Self { list: Vec::new(), key };
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
        let (code, advice) = (self.key)(warning);
        self.list.iter().position(|note| note.code == code && note.advice == advice).map(|at| at + 1)
    }

    fn add(&mut self, warning: &Warning, id: Option<String>) {
        let at = self.number(warning).unwrap_or_else(|| {
            let (code, advice) = (self.key)(warning);
            self.list.push(Note { code, advice, causes: Vec::new(), whole_run: false });
            self.list.len()
        });
        let note = &mut self.list[at - 1];
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
        run.into_iter().chain(self.ids()).collect::<Vec<_>>().join(", ")
    }

    /// The same by number, with the first of many named.
    pub fn concerns_in_short(&self) -> String {
        if self.whole_run {
            return "the whole run".to_owned();
        }
        in_short(&self.ids())
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
