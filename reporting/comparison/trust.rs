//! Compares whether timers can be read, and whether they can be trusted.

use std::fmt;

use serde::Serialize;

use super::{ChangeVerdict, SidesOf};
use crate::fields::Row;
use estimators::model::Answer;

/// What a side says about a timer, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It has figures, and nothing is known to be wrong.
    Right,
    /// It has a defect, or a part of it has.
    Wrong,
    /// It could not be read.
    Unreadable,
    /// It is not in the reports.
    Absent,
}

/// A timer with another standing.
#[derive(Debug, Serialize)]
pub struct ChangedAnswer {
    /// The timer.
    pub timer: String,
    /// The standing in the old runs.
    pub old: Standing,
    /// The standing in the new runs.
    pub new: Standing,
    /// What is wrong with it in the new runs.
    pub finding: String,
    /// Whether it is worse or better; unchanged if only the new runs contain the timer.
    pub verdict: ChangeVerdict,
}

impl fmt::Display for ChangedAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.timer, self.finding)
    }
}

/// The change of the standing of a timer, if any; that of a side is the one that most of its runs have or
/// fall behind.
pub fn changed_answer(timer: &str, sides: &SidesOf<Row<'_>>) -> Option<ChangedAnswer> {
    let [(old, _), (new, finding)] = sides.each_ref().map(|side| {
        let mut all: Vec<_> = side.iter().map(|(_, row)| standing(row)).collect();
        all.sort();
        let none = (Standing::Absent, "absent".to_owned());
        all.into_iter().nth(side.len() / 2).unwrap_or(none)
    });
    (old != new).then(|| ChangedAnswer {
        timer: timer.to_owned(),
        old,
        new,
        finding,
        verdict: ChangeVerdict::of(old != Standing::Absent, new > old),
    })
}

fn standing(row: &Row<'_>) -> (Standing, String) {
    let trust = row.clock().and_then(|clock| clock.trust.as_ref());
    let wrong = trust.filter(|trust| trust.answer == Answer::No);
    match wrong.and_then(|trust| trust.defect) {
        _ if !row.status().has_figures() => {
            let reason = row.reason().unwrap_or(row.status().name());
            (Standing::Unreadable, reason.to_owned())
        }
        Some(defect) => (Standing::Wrong, defect.in_short()),
        None => (Standing::Right, "right".to_owned()),
    }
}
