//! Compares the answers of old and new reports to the trust questions (is the timer monotonic, the
//! same on all threads, …).

use serde::Serialize;

use super::ChangeVerdict;
use crate::model::{Outcome, Question, TimerRow};

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

/// The changed answers for one timer, and whether both sides answered a question. A question that one of
/// the sides did not ask is ignored, and so is a change between passed and not tested.
pub fn changed_answers(old: &[&TimerRow], new: &[&TimerRow]) -> (Vec<ChangedAnswer>, bool) {
    let (mut changed, mut is_asked) = (Vec::new(), false);
    for question in Question::ALL {
        let sides = [old, new].map(|side| majority_answer(side, question));
        let [Some((old, _)), Some((after, finding))] = sides else {
            continue;
        };
        is_asked |= old != Outcome::NotTested && after != Outcome::NotTested;
        let verdict = match (old, after) {
            _ if old == after => continue,
            (Outcome::Pass, Outcome::NotTested) | (Outcome::NotTested, Outcome::Pass) => continue,
            (_, Outcome::Fail) => ChangeVerdict::Worse,
            (Outcome::Fail, Outcome::Pass) => ChangeVerdict::Better,
            _ => ChangeVerdict::Unjudged,
        };
        let timer = new[0].id.clone();
        changed.push(ChangedAnswer {
            timer,
            question,
            old,
            new: after,
            finding,
            verdict,
        });
    }
    (changed, is_asked)
}

/// The answer to a question with its evidence: the clock also fails if a part of it is wrong, as
/// another clock shows.
fn answer(row: &TimerRow, question: Question) -> Option<(Outcome, String)> {
    let own = row.verdicts.as_ref()?.answer(question);
    let inherited = row.trust.as_ref().and_then(|trust| {
        let defect = trust.defect.filter(|it| it.kind.question() == question)?;
        Some(format!("{} {}", trust.part.as_ref()?, defect.in_words()))
    });
    Some(match inherited {
        Some(evidence) => (Outcome::Fail, evidence),
        None => (own.outcome, own.evidence.to_owned()),
    })
}

/// The most frequent answer among runs that could test the question; of equally frequent answers,
/// the most severe one.
fn majority_answer(rows: &[&TimerRow], question: Question) -> Option<(Outcome, String)> {
    let mut asked: Vec<_> = rows
        .iter()
        .filter_map(|row| answer(row, question))
        .collect();
    let count = |outcome: &Outcome| asked.iter().filter(|(one, _)| one == outcome).count();
    let tested = [Outcome::NotApplicable, Outcome::Pass, Outcome::Fail];
    let most = tested
        .into_iter()
        .filter(|outcome| count(outcome) > 0)
        .max_by_key(count)
        .unwrap_or(Outcome::NotTested);
    let found = asked.iter().position(|(one, _)| *one == most)?;
    Some(asked.swap_remove(found))
}
