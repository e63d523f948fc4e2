//! Judges the resolution of simulated clocks with all kinds of steps.

use estimators::figures::resolution;
use estimators::resolution::Step;
use timermeter::plan::Plan;
use timers::Answer;

use crate::figure::Unit;
use crate::observer::is_findable;
use crate::population::{SteppedClock, steps};
use crate::tally::{Among, Bound, Judged, Question, Requirement, judge_all};
use crate::{FoundFigure, Truth};

/// What is required of the search for steps.
pub const REQUIRED: [Requirement; 4] = [
    Requirement(Question::Answer(WRONG), Among::All, Bound::AtMost(0.003)),
    Requirement(
        Question::Answer(WRONG),
        Among::EachKind,
        Bound::AtMost(0.01),
    ),
    Requirement(Question::Answer(REFUSED), Among::All, Bound::AtMost(0.03)),
    Requirement(Question::Covered("step"), Among::All, Bound::AtLeast(0.95)),
];
/// The true step lies outside the interval with an error above 1 %.
const WRONG: &str = "wrong";
/// An ideal observer finds the step, but it is not determined.
const REFUSED: &str = "refused";

/// Judges the steps of `count` clocks.
///
/// # Errors
/// If a simulated clock cannot be probed.
pub fn judge(count: usize, seed: u64, plan: &Plan) -> Answer<Vec<Judged>> {
    // Further processes only narrow the intervals of costs.
    let plan = Plan {
        max_processes: plan.max_processes.min(plan.processes + plan.brief),
        ..*plan
    };
    judge_all(&steps(count, seed), |clock| judge_one(clock, &plan))
}

fn judge_one(clock: &SteppedClock, plan: &Plan) -> Answer<Judged> {
    let case = &clock.case;
    let (trace, _) = case.probe(plan)?;
    let truth = Truth::of_timer(&case.timer, &case.surroundings).resolution;
    // In ticks of the timer.
    let truth = truth.unwrap_or(f64::NAN) / case.timer.unit;
    let findable = is_findable(truth, &trace);
    let mut judged = Judged {
        kinds: clock.groups.to_vec(),
        ..Judged::default()
    };
    let (mut step, mut is_low_bound) = (None, false);
    let found = match resolution(&trace) {
        Step::Resolved { step: found, rule } => {
            step = Some(found);
            format!("{found:?} by {rule:?}")
        }
        Step::AtMost { bound, reason } => {
            is_low_bound = bound < 0.99 * truth;
            format!("at most {bound:.4}: {reason}")
        }
        Step::Unmoved => "unmoved".into(),
    };
    // A raw counter may run faster or slower than declared.
    let figure = FoundFigure {
        truth: Some(truth),
        value: step.map(|step| step.value),
        low: step.map(|step| step.low * (1.0 - 1e-3)),
        high: step.map(|step| step.high * (1.0 + 1e-3)),
    };
    let (wrong, refused) = (figure.misses(0.01 * truth), findable && step.is_none());
    judged.answers = vec![
        (WRONG, wrong),
        ("determined", step.is_some()),
        ("low bound", is_low_bound),
    ];
    judged
        .answers
        .extend(findable.then_some((REFUSED, refused)));
    judged.figures = vec![("step, %", figure, Unit::Percent)];
    let cost = case.timer.base / case.timer.unit / truth;
    judged.wrong = (wrong || refused || is_low_bound).then(|| {
        format!(
            "{found}; truth {truth:.4}, cost {cost:.2} steps, {:?}, {:?}, reference {}, seed {}",
            case.timer.jitter, case.timer.updates, case.reference.name, case.seed
        )
    });
    Ok(judged)
}
