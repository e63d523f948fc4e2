//! Compares the answers of old and new reports to the trust questions (is the timer monotonic, the
//! same on all threads, …).

use serde::Serialize;

use super::ChangeVerdict;
use crate::model::{Outcome, Question, TimerRow, VerdictAnswer};

/// A trust question that two reports answered differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedAnswer {
    /// The timer.
    pub timer: String,
    /// The question.
    pub question: Question,
    /// The answer in the old report.
    pub old: Outcome,
    /// The answer in the new report.
    pub new: Outcome,
    /// The evidence in the new report.
    pub finding: String,
    /// Worse if the timer newly fails, better if it passes after it failed; otherwise unknown.
    pub verdict: ChangeVerdict,
}

/// The changed answers for one timer. A question that one of the sides did not ask is ignored, and
/// so is a change between passed and not tested.
pub fn changed_answers(old: &[&TimerRow], new: &[&TimerRow]) -> Vec<ChangedAnswer> {
    Question::ALL
        .into_iter()
        .filter_map(|question| {
            let (before, after) = (
                majority_answer(old, question)?,
                majority_answer(new, question)?,
            );
            let verdict = match (before.outcome, after.outcome) {
                (old, new) if old == new => return None,
                (Outcome::Pass, Outcome::NotTested) | (Outcome::NotTested, Outcome::Pass) => {
                    return None;
                }
                (_, Outcome::Fail) => ChangeVerdict::Worse,
                (Outcome::Fail, Outcome::Pass) => ChangeVerdict::Better,
                _ => ChangeVerdict::Unjudged,
            };
            Some(ChangedAnswer {
                timer: new[0].id.clone(),
                question,
                old: before.outcome,
                new: after.outcome,
                finding: after.evidence.to_owned(),
                verdict,
            })
        })
        .collect()
}

/// Whether both sides answered a trust question.
pub fn both_answered(old: &[&TimerRow], new: &[&TimerRow]) -> bool {
    let answered = |rows: &[&TimerRow], question| {
        majority_answer(rows, question).is_some_and(|answer| answer.outcome != Outcome::NotTested)
    };
    Question::ALL
        .into_iter()
        .any(|question| answered(old, question) && answered(new, question))
}

/// The most frequent answer among runs that could test the question; of equally frequent answers,
/// the most severe one.
fn majority_answer<'a>(rows: &[&'a TimerRow], question: Question) -> Option<VerdictAnswer<'a>> {
    let asked = || {
        let verdicts = rows.iter().filter_map(|row| row.verdicts.as_ref());
        verdicts.map(|verdicts| verdicts.answer(question))
    };
    let count = |outcome: &Outcome| asked().filter(|answer| answer.outcome == *outcome).count();
    let tested = [Outcome::NotApplicable, Outcome::Pass, Outcome::Fail];
    let most = tested
        .into_iter()
        .filter(|outcome| count(outcome) > 0)
        .max_by_key(count)
        .unwrap_or(Outcome::NotTested);
    asked().find(|answer| answer.outcome == most)
}
