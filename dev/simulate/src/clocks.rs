//! Judges resolution, cost, spread and Quality of simulated clocks.

use timermeter::plan::Plan;
use timers::Answer;

use crate::population::{irregular, kinds, per_kind, regular};
use crate::tally::{Among, Bound, Judged, Question, Requirement, judge_all};
use crate::verdict::{GIVEN_A_STEP, MISSED, RIGHT};
use crate::{Case, Verdict};

/// What is required of the estimators: right figures if any reference determines the median cost,
/// intervals that contain the truth, and no step of timers without a step.
pub const REQUIRED: [Requirement; 8] = [
    Requirement(Question::Answer(RIGHT[0]), Among::All, Bound::AtLeast(0.97)),
    Requirement(Question::Answer(RIGHT[1]), Among::All, Bound::AtLeast(0.97)),
    Requirement(Question::Answer(RIGHT[2]), Among::All, Bound::AtLeast(0.97)),
    Requirement(Question::Answer(RIGHT[3]), Among::All, Bound::AtLeast(0.97)),
    Requirement(Question::Answer(MISSED), Among::All, Bound::AtMost(0.05)),
    Requirement(
        Question::Answer(GIVEN_A_STEP),
        Among::All,
        Bound::AtMost(0.005),
    ),
    Requirement(Question::Covered(""), Among::EachKind, Bound::AtLeast(0.93)),
    Requirement(Question::Covered(""), Among::All, Bound::AtLeast(0.95)),
];

/// Judges `count` random clocks with a step and as many without.
///
/// # Errors
/// If a simulated clock cannot be probed.
pub fn judge(count: usize, seed: u64, plan: &Plan) -> Answer<Vec<Judged>> {
    let cases = [regular(count, seed), irregular(count, seed)].concat();
    judge_all(&cases, |case| judge_one(case, plan, true))
}

/// Judges `count` clocks of each kind by each reference, or of those whose names contain a text, and
/// as many without a step. Many have a median that a coarse reference cannot determine, so only the
/// intervals of their figures are judged.
///
/// # Errors
/// If a simulated clock cannot be probed.
pub fn judge_per_kind(
    count: usize,
    seed: u64,
    text: Option<&str>,
    plan: &Plan,
) -> Answer<Vec<Judged>> {
    let mut cases = [per_kind(count, seed), irregular(count, seed)].concat();
    cases.retain(|case| text.is_none_or(|text| kinds(case).iter().any(|it| it.contains(text))));
    judge_all(&cases, |case| judge_one(case, plan, false))
}

fn judge_one(case: &Case, plan: &Plan, counts_right: bool) -> Answer<Judged> {
    let verdict: Verdict = case.judge(plan)?;
    Ok(verdict.judged(case, counts_right))
}
