//! Compares the estimates for simulated sleep primitives and periodic timers with the truth, and
//! counts right granularities, and intervals that contain the true value.

use std::collections::BTreeMap;

use serde::Serialize;
use simulated::WaitModel;
use timers::Answer;

use super::truth::{TruePeriods, TrueWaits, is_proportional};
use super::{TickCase, WaitCase};
use crate::figure::{FigureScore, FigureSummary, FoundFigure};
use estimators::model::{
    Estimate, Granularity, Lateness, PeriodFigures, Steps, WaitFigures, value_of,
};

/// The largest relative error of a right granularity.
const MAX_RIGHT_ERROR: f64 = 0.01;
/// A granularity with a larger relative error counts as one that the timer does not have.
const MAX_SAME_ERROR: f64 = 0.05;
/// A granularity has to be found if the standard deviation of the delays is below this share of it.
const MAX_NOISE: f64 = 0.1;

/// The verdict on a timer: for a sleep primitive on its granularities over all ranges of lengths,
/// for a periodic timer on its numbers of missed expirations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// Sleep primitive: all identifiable granularities were found, and no others. Periodic timer:
    /// both numbers are exact.
    Right,
    /// Sleep primitive: an identifiable granularity was not found.
    Missed,
    /// Sleep primitive: a granularity was reported that the timer does not have, or an upper limit
    /// below the true one; or its waits seem to end early because the reference is coarse. Periodic
    /// timer: a number is wrong.
    False,
}

/// Counts of timers by verdict: on the granularity of sleep primitives, or on the missed
/// expirations of periodic timers.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// All timers.
    pub timers: u32,
    /// Timers for which everything was right.
    pub right: u32,
    /// Timers with a property that was not found.
    pub missed: u32,
    /// Timers with a reported property that they do not have.
    pub wrong: u32,
}

impl Counts {
    /// Returns the sum over all kinds of timers.
    #[must_use]
    pub fn sum(counts: &BTreeMap<String, Self>) -> Self {
        counts.values().fold(Self::default(), |sum, counts| Self {
            timers: sum.timers + counts.timers,
            right: sum.right + counts.right,
            missed: sum.missed + counts.missed,
            wrong: sum.wrong + counts.wrong,
        })
    }
}

/// The score of a population.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// Granularity, by kind of timer.
    pub steps: BTreeMap<String, Counts>,
    /// Missed expirations, by kind of timer.
    pub expirations: BTreeMap<String, Counts>,
    figures: BTreeMap<&'static str, FigureScore>,
}

impl Score {
    /// Returns the summary of each figure by name.
    #[must_use]
    pub fn summary(&self) -> BTreeMap<&'static str, FigureSummary> {
        self.figures
            .iter()
            .map(|(name, score)| (*name, score.summary()))
            .collect()
    }

    /// Adds the verdict on one timer.
    pub fn add(&mut self, judged: &Judged) {
        let counts = if judged.periodic {
            &mut self.expirations
        } else {
            &mut self.steps
        };
        let counts = counts.entry(judged.kind.clone()).or_default();
        counts.timers += 1;
        match judged.judgement {
            Judgement::Right => counts.right += 1,
            Judgement::Missed => counts.missed += 1,
            Judgement::False => counts.wrong += 1,
        }
        for (name, found, relative) in &judged.figures {
            self.figures.entry(*name).or_default().add(
                found,
                found.covered() == Some(true),
                *relative,
            );
        }
    }
}

/// The verdict on one timer and its figures, estimated and true.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The verdict on the granularities, or on the missed expirations.
    pub judgement: Judgement,
    kind: String,
    periodic: bool,
    /// The figures by name; the flag says whether errors are relative to the true value.
    figures: Vec<(&'static str, FoundFigure, bool)>,
}

impl Judged {
    fn new(kind: &str, periodic: bool, judgement: Judgement) -> Self {
        Self {
            judgement,
            kind: kind.into(),
            periodic,
            figures: Vec::new(),
        }
    }

    fn add(
        &mut self,
        name: &'static str,
        truth: Option<f64>,
        estimate: Option<Estimate>,
        relative: bool,
    ) {
        let found = FoundFigure::new(truth, estimate);
        self.figures
            .extend(estimate.map(|_| (name, found, relative)));
    }

    /// Judges the estimates for a sleep primitive.
    #[must_use]
    pub fn wait(case: &WaitCase, figures: &WaitFigures) -> Self {
        let model = &case.model;
        let is_coarse = model.clock_step > 1.0;
        let seems_early = |late: &Lateness| {
            let values = [Some(late.max_ns), value_of(late.p50_ns)];
            late.early > 0.0 || values.into_iter().flatten().any(|ns| ns < 0.0)
        };
        let judgement = match is_coarse && figures.lateness.iter().any(seems_early) {
            true => Judgement::False,
            false => judge_steps(model, &figures.steps),
        };
        let mut judged = Self::new(&model.name, false, judgement);
        if is_coarse {
            judged.add_coarse(case, figures);
            return judged;
        }
        // A timer has up to two granularities: requests are rounded up to multiples of `rounding`,
        // and wake-ups lie on a `grid` of absolute time. Each is judged in the first range of
        // lengths in which the timer has it and it was found.
        let estimated = [|steps: &Steps| steps.rounding, |steps: &Steps| steps.grid];
        for (true_step, estimated) in true_steps(model).into_iter().zip(estimated) {
            let found =
                figures
                    .steps
                    .iter()
                    .find_map(|steps| match (true_step(steps), estimated(steps)) {
                        (Some(truth), Some(Granularity::Step(estimate))) => Some((truth, estimate)),
                        _ => None,
                    });
            if let Some((truth, estimate)) = found {
                judged.add("step", Some(truth), Some(estimate), true);
            }
        }
        // Otherwise lateness does not grow in proportion to the length, and there is no true value.
        if is_proportional(model) {
            judged.add(
                "proportional error",
                Some(model.ppm),
                figures.proportional_ppm,
                false,
            );
        }
        // Only one length of each timer is judged: a process is late by the same constant part at
        // all lengths, so the errors at several lengths would not be independent.
        let rows: Vec<&Lateness> = figures
            .lateness
            .iter()
            .filter(|row| row.waits >= MIN_WAITS)
            .collect();
        if let Some(row) = rows.get(case.seed as usize % rows.len().max(1)) {
            let truth = TrueWaits::draw(model, row.request_ns as f64, case.seed);
            judged.add_lateness(["lateness p50", "lateness p99"], &truth, row);
            judged.add("CPU time", truth.cpu(), row.cpu_ns, true);
        }
        judged
    }

    /// Adds two quantiles of the lateness, under these names.
    fn add_lateness(&mut self, [p50, p99]: [&'static str; 2], truth: &TrueWaits, row: &Lateness) {
        self.add(p50, truth.late(0.5), row.p50_ns, true);
        self.add(p99, truth.late(0.99), row.p99_ns, true);
    }

    /// Adds the figures that a coarse reference leaves. The intervals of all are wider than chance
    /// requires, because they contain the steps of the reference.
    fn add_coarse(&mut self, case: &WaitCase, figures: &WaitFigures) {
        let model = &case.model;
        let rows = &figures.lateness;
        if let Some(row) = rows.get(case.seed as usize % rows.len().max(1)) {
            let truth = TrueWaits::draw(model, row.request_ns as f64, case.seed);
            let names = ["coarse, lateness p50", "coarse, lateness p99"];
            self.add_lateness(names, &truth, row);
        }
        self.add(
            "coarse, proportional",
            Some(model.ppm),
            figures.proportional_ppm,
            false,
        );
    }

    /// Judges the estimates for a periodic timer. `missed` are the true numbers of missed
    /// expirations: those that the timer counts itself, and all.
    ///
    /// # Errors
    /// If the simulated timer does not answer.
    pub fn ticks(case: &TickCase, figures: &PeriodFigures, missed: [u64; 2]) -> Answer<Self> {
        let judgement = match [figures.missed_reported, figures.missed] == missed {
            true => Judgement::Right,
            false => Judgement::False,
        };
        let mut judged = Self::new(&case.model.name, true, judgement);
        let late = figures.lateness.as_ref().expect("its start is known");
        let wakeups = late.waits / u64::from(figures.processes.max(1));
        let truth = TruePeriods::draw(&case.model, case.period_ns, wakeups as u32, case.seed)?;
        judged.add("rate error", Some(truth.ppm), figures.rate_error_ppm, false);
        let quantiles = [
            ("periodic, lateness p50", 0.5, late.p50_ns),
            ("periodic, lateness p99", 0.99, late.p99_ns),
        ];
        for (name, probability, found) in quantiles {
            judged.add(name, truth.late(probability), found, true);
        }
        Ok(judged)
    }
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

fn judge_steps(model: &WaitModel, ranges: &[Steps]) -> Judgement {
    let true_steps = true_steps(model);
    let mut found = [false, false];
    for steps in ranges {
        for (which, given) in [steps.rounding, steps.grid].into_iter().enumerate() {
            match (given, true_steps[which](steps)) {
                (Some(Granularity::Step(estimate)), Some(truth))
                    if (estimate.value / truth - 1.0).abs() <= MAX_RIGHT_ERROR =>
                {
                    found[which] = true;
                }
                // Few waits determine the granularity less precisely. If it is coarser for long
                // waits, a range that begins at 0 contains the finer one too. Such an estimate is
                // neither right nor false.
                (Some(Granularity::Step(estimate)), Some(truth))
                    if is_same(estimate, truth)
                        || model
                            .grows
                            .is_some_and(|(_, factor)| is_same(estimate, truth / factor)) => {}
                (Some(Granularity::Step(_)), _) => return Judgement::False,
                (Some(Granularity::AtMost(bound)), Some(truth)) if bound < truth => {
                    return Judgement::False;
                }
                _ => {}
            }
        }
    }
    // `deviation` is the standard deviation of the logarithm, which is a relative deviation.
    let noise = model.delays.median * model.delays.deviation;
    let is_identifiable = |step: Option<f64>| step.is_some_and(|step| noise < MAX_NOISE * step);
    let missing = [model.rounding, model.grid]
        .into_iter()
        .zip(found)
        .any(|(step, found)| is_identifiable(step) && !found);
    if missing {
        Judgement::Missed
    } else {
        Judgement::Right
    }
}
