//! What changed in the answers to the questions of trust.

use serde::Serialize;

use super::{Comparison, Verdict};
use crate::model::{Answers, Outcome, TimerRow};

/// A question of trust that two reports answered otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The timer.
    pub timer: String,
    /// The question, as in `thread-safe`.
    pub question: &'static str,
    /// What the old report answered.
    pub old: Outcome,
    /// What the new one answers.
    pub new: Outcome,
    /// The evidence of the new one.
    pub finding: String,
    /// Worse where the timer failed just now, better where it passes what it failed; else nobody can tell.
    pub verdict: Verdict,
}

/// The answers that changed. A report that did not ask says nothing.
pub(super) fn changed<F, V: Answers>(old: &TimerRow<F, V>, new: &TimerRow<F, V>) -> Vec<Answer> {
    let (Some(before), Some(after)) = (&old.verdicts, &new.verdicts) else { return Vec::new() };
    let pairs = before.each().into_iter().zip(after.each());
    let answers = pairs.filter(|((_, old, _), (_, new, _))| old != new).map(
        |((question, old, _), (_, answered, finding))| Answer {
            timer: new.id.to_string(),
            question,
            old,
            new: answered,
            finding: finding.to_owned(),
            verdict: verdict(old, answered),
        },
    );
    answers.collect()
}

/// What another answer means.
pub(super) fn verdict(old: Outcome, new: Outcome) -> Verdict {
    match (old, new) {
        (_, Outcome::Fail) => Verdict::Worse,
        (Outcome::Fail, Outcome::Pass) => Verdict::Better,
        _ => Verdict::Unjudged,
    }
}

impl Answer {
    /// By how much trust changed: one less where the timer failed just now, one more where it passes what it failed.
    #[must_use]
    pub fn difference(&self) -> f64 {
        match self.verdict {
            Verdict::Worse => -1.0,
            Verdict::Better => 1.0,
            Verdict::Noise | Verdict::Unjudged => 0.0,
        }
    }
}

impl Comparison {
    /// Questions of trust that a timer fails and did not fail before.
    pub fn failed(&self) -> impl Iterator<Item = &Answer> {
        self.answers.iter().filter(|answer| answer.verdict == Verdict::Worse)
    }
}
