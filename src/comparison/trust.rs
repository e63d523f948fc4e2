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

/// The answers that changed, of the same timer in the runs of either side. A report that did not ask says nothing, and what a run could not
/// test is no other answer than what another one found.
pub(super) fn changed<F, V: Answers>(old: &[&TimerRow<F, V>], new: &[&TimerRow<F, V>]) -> Vec<Answer> {
    let (before, after) = (asked(old), asked(new));
    let answered = (0..before.first().map_or(0, |answers| answers.len())).filter_map(|question| {
        let ((name, old, _), (_, answer, finding)) = (agreed(&before, question)?, agreed(&after, question)?);
        is_another(old, answer).then(|| Answer {
            timer: new[0].id.clone(),
            question: name,
            old,
            new: answer,
            finding: finding.to_owned(),
            verdict: verdict(old, answer),
        })
    });
    answered.collect()
}

/// A question, its answer and the evidence.
type Answered<'a> = (&'static str, Outcome, &'a str);

/// What the runs answered that asked.
fn asked<'a, F, V: Answers>(rows: &[&'a TimerRow<F, V>]) -> Vec<[Answered<'a>; 6]> {
    rows.iter().filter_map(|row| row.verdicts.as_ref()).map(Answers::each).collect()
}

/// What most runs answered that could test it; of two that are as many, the graver one.
fn agreed<'a>(runs: &[[Answered<'a>; 6]], question: usize) -> Option<Answered<'a>> {
    let count = |outcome: Outcome| runs.iter().filter(|run| run[question].1 == outcome).count();
    let by_number = [Outcome::NotApplicable, Outcome::Pass, Outcome::Fail];
    let most =
        by_number.into_iter().max_by_key(|outcome| count(*outcome)).filter(|outcome| count(*outcome) > 0);
    let most = most.unwrap_or(Outcome::NotTested);
    runs.iter().map(|run| run[question]).find(|(_, outcome, _)| *outcome == most)
}

/// Whether an answer says something else than the one before: that a pass could not be tested again is none.
pub(super) fn is_another(old: Outcome, new: Outcome) -> bool {
    let untested = [old, new].contains(&Outcome::NotTested);
    old != new && !(untested && [old, new].contains(&Outcome::Pass))
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
