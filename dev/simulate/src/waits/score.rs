//! Compares the estimates for simulated sleep primitives and periodic timers with the truth, and
//! counts right granularities, and intervals that contain the true value.

use simulated::WaitModel;
use timers::Answer;

use super::truth::{TruePeriods, TrueWaits, is_proportional};
use super::{TickCase, WaitCase, population};
use crate::figure::{FoundFigure, Unit};
use crate::tally::{Among, Bound, Judged, Question, Requirement, judge_all};
use estimators::model::{
    Estimate, Granularity, Lateness, PeriodFigures, Steps, WaitFigures, value_of,
};
use timermeter::plan::Plan;

/// The largest relative error of a right granularity.
const MAX_RIGHT_ERROR: f64 = 0.01;
/// A granularity with a larger relative error counts as one that the timer does not have.
const MAX_SAME_ERROR: f64 = 0.05;
/// A granularity has to be found if the standard deviation of the delays is below this share of it.
const MAX_NOISE: f64 = 0.1;

/// What is required of the estimators: granularities right to 1 %, none that do not exist, exact
/// numbers of missed expirations, and the coverage of intervals. Those of quantiles may not be
/// wider than necessary, those by a coarse reference contain its steps.
#[must_use]
pub fn required(is_quick: bool) -> Vec<Requirement> {
    // The plan of `wait --quick` has too few waits for some granularities.
    let granularity = if is_quick { 0.9 } else { 0.98 };
    [
        (Question::Answer(RIGHT), Bound::AtLeast(granularity)),
        (Question::Answer(FALSE), Bound::AtMost(0.005)),
        (Question::Answer(EXACT), Bound::AtLeast(0.99)),
        (Question::Covered(""), Bound::AtLeast(0.93)),
        (Question::Covered("lateness"), Bound::AtMost(0.97)),
    ]
    .map(|(counted, bound)| Requirement(counted, Among::All, bound))
    .to_vec()
}
/// All identifiable granularities of a sleep primitive were found, and no others.
const RIGHT: &str = "granularity right";
/// A granularity was reported that the primitive does not have, or an upper limit below the true
/// one; or its waits seem to end early because the reference is coarse.
const FALSE: &str = "false granularity";
/// Both numbers of missed expirations of a periodic timer are exact.
const EXACT: &str = "expirations exact";

/// Judges `count` sleep primitives and `count` periodic timers, and some of special kinds.
///
/// # Errors
/// If a simulated timer does not answer.
pub fn judge(count: usize, seed: u64, plan: &Plan) -> Answer<Vec<Judged>> {
    let waits = [
        population::waits(count, seed),
        population::coarse_references(count.div_ceil(4), seed),
    ];
    let ticks = [
        population::ticks(count, seed),
        population::jittery_ticks(count.div_ceil(8), seed),
    ];
    let waits = judge_all(&waits.concat(), |case| {
        Ok(judge_wait(case, &case.figures(plan)?))
    })?;
    let ticks = judge_all(&ticks.concat(), |case| {
        let (figures, missed) = case.figures(plan)?;
        judge_ticks(case, &figures, missed)
    })?;
    Ok([waits, ticks].concat())
}

/// The figures with their truth, as they are added.
#[derive(Default)]
struct Figures(Vec<(&'static str, FoundFigure, Unit)>);

impl Figures {
    /// Adds a figure that was estimated.
    fn add(
        &mut self,
        name: &'static str,
        truth: Option<f64>,
        estimate: Option<Estimate>,
        unit: Unit,
    ) {
        let figure = FoundFigure::new(truth, estimate);
        self.0.extend(estimate.map(|_| (name, figure, unit)));
    }

    /// Adds two quantiles of the lateness, under these names.
    fn add_lateness(&mut self, [p50, p99]: [&'static str; 2], truth: &TrueWaits, row: &Lateness) {
        self.add(p50, truth.late(0.5), row.p50_ns, Unit::Percent);
        self.add(p99, truth.late(0.99), row.p99_ns, Unit::Percent);
    }
}

/// Judges the estimates for a sleep primitive.
fn judge_wait(case: &WaitCase, found: &WaitFigures) -> Judged {
    let model = &case.model;
    let is_coarse = model.clock_step > 1.0;
    let seems_early = |late: &Lateness| {
        let values = [Some(late.max_ns), value_of(late.p50_ns)];
        late.early > 0.0 || values.into_iter().flatten().any(|ns| ns < 0.0)
    };
    let is_early = is_coarse && found.lateness.iter().any(seems_early);
    let (is_right, is_false) = match is_early {
        true => (false, true),
        false => judge_steps(model, &found.steps),
    };
    let mut figures = Figures::default();
    if is_coarse {
        add_coarse(&mut figures, case, found);
    } else {
        add_fine(&mut figures, case, found);
    }
    Judged {
        kinds: vec![model.name.clone()],
        answers: vec![(RIGHT, is_right), (FALSE, is_false)],
        figures: figures.0,
        wrong: is_false.then(|| format!("{:?}: {model:?}", found.steps)),
    }
}

fn add_fine(figures: &mut Figures, case: &WaitCase, found: &WaitFigures) {
    let model = &case.model;
    // A timer has up to two granularities: requests are rounded up to multiples of `rounding`, and
    // wake-ups lie on a `grid` of absolute time. Each is judged in the first range of lengths in
    // which the timer has it and it was found.
    let estimated = [|steps: &Steps| steps.rounding, |steps: &Steps| steps.grid];
    for (true_step, estimated) in true_steps(model).into_iter().zip(estimated) {
        let both = |steps: &Steps| match (true_step(steps), estimated(steps)) {
            (Some(truth), Some(Granularity::Step(estimate))) => Some((truth, estimate)),
            _ => None,
        };
        if let Some((truth, estimate)) = found.steps.iter().find_map(both) {
            figures.add("step, %", Some(truth), Some(estimate), Unit::Percent);
        }
    }
    // Otherwise lateness does not grow in proportion to the length, and there is no true value.
    if is_proportional(model) {
        let (truth, found) = (Some(model.ppm), found.proportional_ppm);
        figures.add("proportional error, ppm", truth, found, Unit::Of(1.0));
    }
    // Only one length of each timer is judged: a process is late by the same constant part at all
    // lengths, so the errors at several lengths would not be independent.
    let rows = found.lateness.iter().filter(|row| row.waits >= MIN_WAITS);
    let rows: Vec<&Lateness> = rows.collect();
    if let Some(row) = rows.get(case.seed as usize % rows.len().max(1)) {
        let truth = TrueWaits::draw(model, row.request_ns as f64, case.seed);
        figures.add_lateness(["lateness p50, %", "lateness p99, %"], &truth, row);
        figures.add("CPU time, %", truth.cpu(), row.cpu_ns, Unit::Percent);
    }
}

/// Adds the figures that a coarse reference leaves. The intervals of all are wider than chance
/// requires, because they contain the steps of the reference.
fn add_coarse(figures: &mut Figures, case: &WaitCase, found: &WaitFigures) {
    let (model, rows) = (&case.model, &found.lateness);
    if let Some(row) = rows.get(case.seed as usize % rows.len().max(1)) {
        let truth = TrueWaits::draw(model, row.request_ns as f64, case.seed);
        figures.add_lateness(
            ["coarse, lateness p50, %", "coarse, lateness p99, %"],
            &truth,
            row,
        );
    }
    let (truth, found) = (Some(model.ppm), found.proportional_ppm);
    figures.add(
        "coarse, proportional error, ppm",
        truth,
        found,
        Unit::Of(1.0),
    );
}

/// Judges the estimates for a periodic timer. `missed` are the true numbers of missed expirations:
/// those that the timer counts itself, and all.
fn judge_ticks(case: &TickCase, found: &PeriodFigures, missed: [u64; 2]) -> Answer<Judged> {
    let numbers = [found.missed_reported, found.missed];
    let late = found.lateness.as_ref().expect("its start is known");
    let wakeups = late.waits / u64::from(found.processes.max(1));
    let truth = TruePeriods::draw(&case.model, case.period_ns, wakeups as u32, case.seed)?;
    let mut figures = Figures::default();
    figures.add(
        "rate error, ppm",
        Some(truth.ppm),
        found.rate_error_ppm,
        Unit::Of(1.0),
    );
    for (name, probability, found) in [
        ("periodic, lateness p50, %", 0.5, late.p50_ns),
        ("periodic, lateness p99, %", 0.99, late.p99_ns),
    ] {
        figures.add(name, truth.late(probability), found, Unit::Percent);
    }
    Ok(Judged {
        kinds: vec![case.model.name.clone()],
        answers: vec![(EXACT, numbers == missed)],
        figures: figures.0,
        wrong: (numbers != missed).then(|| format!("{numbers:?} for {missed:?}: {:?}", case.model)),
    })
}

/// The smallest number of waits of one length whose quantiles are judged.
const MIN_WAITS: u64 = 50;

/// Returns functions that give the true granularity, from rounding and from a grid, within a range
/// of lengths.
fn true_steps(model: &WaitModel) -> [impl Fn(&Steps) -> Option<f64> + use<>; 2] {
    let grows = model.grows;
    // A proportional error does not change the granularity, because requests are rounded first.
    [model.rounding, model.grid].map(|step| {
        move |steps: &Steps| {
            let growth = grows
                .filter(|(from, _)| steps.up_to_ns as f64 > *from)
                .map_or(1.0, |(_, factor)| factor);
            Some(step? * growth)
        }
    })
}

/// Whether an estimated granularity is close enough to `truth` to count as the same one. Its error
/// may be too large for a right one.
fn is_same(estimate: Estimate, truth: f64) -> bool {
    (estimate.value / truth - 1.0).abs() < MAX_SAME_ERROR
}

/// Whether the granularities are right, and whether one of them is false.
fn judge_steps(model: &WaitModel, ranges: &[Steps]) -> (bool, bool) {
    let true_steps = true_steps(model);
    let (mut found, mut is_false) = ([false, false], false);
    for steps in ranges {
        for (which, given) in [steps.rounding, steps.grid].into_iter().enumerate() {
            let truth = true_steps[which](steps);
            match (given, truth) {
                (Some(Granularity::Step(estimate)), Some(truth)) => {
                    found[which] |= (estimate.value / truth - 1.0).abs() <= MAX_RIGHT_ERROR;
                    // Few waits determine the granularity less precisely. If it is coarser for long
                    // waits, a range that begins at 0 contains the finer one too. Such an estimate
                    // is neither right nor false.
                    let finer = model.grows.map_or(truth, |(_, factor)| truth / factor);
                    is_false |= !is_same(estimate, truth) && !is_same(estimate, finer);
                }
                (Some(Granularity::Step(_)), None) => is_false = true,
                (Some(Granularity::AtMost(bound)), Some(truth)) => is_false |= bound < truth,
                _ => {}
            }
        }
    }
    // `deviation` is the standard deviation of the logarithm, which is a relative deviation.
    let noise = model.delays.median * model.delays.deviation;
    let is_identifiable = |step: Option<f64>| step.is_some_and(|step| noise < MAX_NOISE * step);
    let mut each = [model.rounding, model.grid].into_iter().zip(found);
    let is_missed = each.any(|(step, found)| is_identifiable(step) && !found);
    (!is_false && !is_missed, is_false)
}
