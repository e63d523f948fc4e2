//! What changed in the answers to the questions of trust.

use serde::Serialize;

use super::{Comparison, Verdict};
use crate::model::{self, Outcome, Question, TimerRow};

/// A question of trust that two reports answered otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedAnswer {
    /// The timer.
    pub timer: String,
    /// The question.
    pub question: Question,
    /// What the old report answered.
    pub old: Outcome,
    /// What the new one answers.
    pub new: Outcome,
    /// The evidence of the new one.
    pub finding: String,
    /// Worse where the timer failed just now, better where it passes what it failed; else unknown.
    pub verdict: Verdict,
}

/// The answers that changed, of the same timer in the runs of either side. A report that did not
/// ask says nothing, and what a run could not test is the same answer as what another one found.
pub(super) fn changed(old: &[&TimerRow], new: &[&TimerRow]) -> Vec<ChangedAnswer> {
    let answered = Question::ALL.into_iter().filter_map(|question| {
        let (before, after) = (agreed(old, question)?, agreed(new, question)?);
        is_another(before.outcome, after.outcome).then(|| ChangedAnswer {
            timer: new[0].id.clone(),
            question,
            old: before.outcome,
            new: after.outcome,
            finding: after.finding.to_owned(),
            verdict: verdict(before.outcome, after.outcome),
        })
    });
    answered.collect()
}

/// Whether both sides answered a question of trust.
pub(super) fn are_asked(old: &[&TimerRow], new: &[&TimerRow]) -> bool {
    let answered = |rows: &[&TimerRow], question| {
        agreed(rows, question).is_some_and(|answer| answer.outcome != Outcome::NotTested)
    };
    Question::ALL
        .into_iter()
        .any(|question| answered(old, question) && answered(new, question))
}

/// What most runs answered that could test it; of two that are as many, the graver one.
fn agreed<'a>(rows: &[&'a TimerRow], question: Question) -> Option<model::Answer<'a>> {
    let asked = rows
        .iter()
        .filter_map(|row| row.verdicts.as_ref()?.asked(question));
    let count = |outcome: Outcome| {
        asked
            .clone()
            .filter(|answer| answer.outcome == outcome)
            .count()
    };
    let by_number = [Outcome::NotApplicable, Outcome::Pass, Outcome::Fail];
    let most = by_number.into_iter().max_by_key(|outcome| count(*outcome));
    let most = most
        .filter(|outcome| count(*outcome) > 0)
        .unwrap_or(Outcome::NotTested);
    asked.clone().find(|answer| answer.outcome == most)
}

/// Whether an answer says something else than the one before: that a pass could not be tested again
/// is none.
fn is_another(old: Outcome, new: Outcome) -> bool {
    let untested = [old, new].contains(&Outcome::NotTested);
    old != new && !(untested && [old, new].contains(&Outcome::Pass))
}

/// What another answer means.
fn verdict(old: Outcome, new: Outcome) -> Verdict {
    match (old, new) {
        (_, Outcome::Fail) => Verdict::Worse,
        (Outcome::Fail, Outcome::Pass) => Verdict::Better,
        _ => Verdict::Unjudged,
    }
}

impl ChangedAnswer {
    /// By how much trust changed: one less where the timer failed just now, one more where it
    /// passes what it failed.
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
    pub fn failed(&self) -> impl Iterator<Item = &ChangedAnswer> {
        self.answers
            .iter()
            .filter(|answer| answer.verdict == Verdict::Worse)
    }
}
