//! Compares the row of a report on a simulated timer with the truth.

use super::figure::{FoundFigure, Unit};
use super::population::{kinds, median_is_identifiable};
use super::tally::Judged;
use super::{Case, FREQUENCY, Slowdowns, Truth};
use estimators::figures::MIN_PROCESSES;
use estimators::model::{Core, Cycles, Estimate, Hertz, Nanos, TimerInfo, TimerRow};
use estimators::quality::quality;
use estimators::trace::{Observations, Trace};
use judgement::trust::ReadPathBaselines;
use simulated::{Model, Processes};
use timermeter::recording::Observation;

/// The smallest relevant error of a step, as a share of the step.
/// *Definition*: the tolerance of a right resolution.
const RELEVANT_STEP_ERROR: f64 = 0.01;
/// The smallest relevant error of a cost, as a share of the cost.
/// *Definition*: the aim that was set.
const RELEVANT_COST_ERROR: f64 = 0.01;
/// The smallest relevant error of Quality: 0.1 points.
/// *Definition*: the aim that was set.
const RELEVANT_QUALITY_ERROR: f64 = 0.001;

/// The figures of one case, estimated and true.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The resolution in nanoseconds.
    pub resolution: FoundFigure,
    /// The median cost in nanoseconds, at the core frequency of the probe.
    pub cost: FoundFigure,
    /// The spread, in [0, 1].
    pub spread: FoundFigure,
    /// Quality, in [0, 1].
    pub quality: FoundFigure,
    /// Whether the timer never steps backwards.
    pub monotonic: bool,
    /// The row of the report.
    pub row: TimerRow,
}

/// Analyses the trace of a timer, timed while the core ran at `hertz`. Returns the row of the report.
pub(super) fn row_of(timer: &Model, trace: Trace, hertz: Estimate) -> TimerRow {
    let timer = TimerInfo {
        id: timer.name.clone(),
        runtime: "simulated".into(),
        ns_per_tick: timer.declared.then_some(timer.unit),
        ..TimerInfo::default()
    };
    Observation::new(timer, Ok(trace)).row_with_verdicts(Some(hertz), &ReadPathBaselines::default())
}

impl Verdict {
    /// Analyses the trace of a case, whose core ran at `hertz`, and compares the row with the truth:
    /// that of a core that is not shared, if enough processes had such a core, otherwise that of the
    /// processes as they were, with these `slowdowns`.
    #[must_use]
    pub(super) fn from_trace(
        case: &Case,
        trace: Trace,
        hertz: Estimate,
        slowdowns: &[Slowdowns],
    ) -> Self {
        let is_alone = |run: &&Observations| run.core(trace.full_width) == Core::Alone;
        let alone = trace.runs.iter().filter(is_alone).count();
        let truth = if alone >= MIN_PROCESSES || !case.timer.follows_core {
            Truth::of_timer(&case.timer, &case.surroundings)
        } else {
            Truth::of_processes(&case.timer, &case.surroundings, slowdowns)
        };
        Self::judge(&truth, case, hertz.value, row_of(&case.timer, trace, hertz))
    }

    fn judge(truth: &Truth, case: &Case, hertz: f64, row: TimerRow) -> Self {
        // A cost that follows the core is reported in nanoseconds at the frequency of the probe. In
        // cycles it does not depend on the frequency.
        let follows = case.timer.follows_core;
        let cost_ns = truth.cost * if follows { FREQUENCY / hertz } else { 1.0 };
        let cycles = |ns: f64| Nanos(ns).cycles(Hertz(FREQUENCY));
        let true_quality = match (truth.resolution, truth.spread) {
            _ if !truth.monotonic => Some(0.0),
            (Some(resolution), Some(spread)) => {
                quality(cycles(resolution), Cycles(cycles(truth.cost).0), spread)
            }
            _ => None,
        };
        let resolution = FoundFigure::new(truth.resolution, row.resolution_ns);
        let cost = FoundFigure::new(Some(cost_ns), row.cost_ns);
        let spread = FoundFigure::new(truth.spread, row.spread);
        let quality = FoundFigure::new(true_quality, row.quality);
        Self {
            resolution,
            cost,
            spread,
            quality,
            monotonic: truth.monotonic,
            row,
        }
    }

    /// Counts the verdict. Whether figures are right is counted only if a coarse reference determines
    /// the median cost, and only in a random population.
    #[must_use]
    pub fn judged(&self, case: &Case, counts_right: bool) -> Judged {
        let error = |share: f64, found: &FoundFigure| share * found.truth.unwrap_or(0.0);
        let [step_error, cost_error] = [
            error(RELEVANT_STEP_ERROR, &self.resolution),
            error(RELEVANT_COST_ERROR, &self.cost),
        ];
        // Backward steps may prevent the estimates; such a timer has Quality 0 anyway.
        let hidden = |found: &FoundFigure| !self.monotonic && found.value.is_none();
        let right = [
            hidden(&self.resolution) || self.resolution.holds(step_error),
            self.cost.holds(error(0.02, &self.cost).max(0.5)),
            hidden(&self.spread) || self.spread.holds(0.02),
            self.quality.holds(0.005),
        ];
        let misses = self.cost.misses(cost_error) || self.quality.misses(RELEVANT_QUALITY_ERROR);
        let observations = self.row.observations.as_ref();
        let steps_back = observations.is_some_and(|found| found.backward_steps > 0);
        if self.resolution.truth.is_none() {
            return Judged {
                kinds: kinds(case),
                answers: vec![(GIVEN_A_STEP, self.resolution.value.is_some())],
                ..Judged::default()
            };
        }
        let mut answers = vec![
            ("wrong step", self.resolution.misses(step_error)),
            (MISSED, misses),
            ("order right", steps_back != self.monotonic),
        ];
        if counts_right && median_is_identifiable(case) {
            let same = case.surroundings.processes == Processes::Identical;
            for (name, right) in RIGHT.into_iter().zip(right) {
                // Processes may differ by more than the tolerance of the cost.
                answers.extend((same || name != RIGHT[1]).then_some((name, right)));
            }
        }
        let figures = [
            ("resolution, %", self.resolution, Unit::Percent),
            ("cost, %", self.cost, Unit::Percent),
            ("spread, points", self.spread, Unit::Of(0.01)),
            ("Quality, points", self.quality, Unit::Of(0.01)),
        ];
        let wrong = !right.into_iter().all(|right| right) || steps_back == self.monotonic;
        let found = figures.map(|(name, found, _)| {
            let [truth, value] = [found.truth, found.value].map(|it| it.unwrap_or(f64::NAN));
            format!("{name}: {truth:.4} → {value:.4}")
        });
        Judged {
            kinds: kinds(case),
            answers,
            figures: figures.to_vec(),
            wrong: wrong.then(|| found.join("; ")),
        }
    }
}

/// A resolution is given of a timer without a step.
pub const GIVEN_A_STEP: &str = "given a step";
/// The true cost lies outside the interval with an error above 1 %, or the true Quality with an error
/// above 0.1 points.
pub const MISSED: &str = "relevant miss";
/// Each figure is right: the resolution within 1 %, or not given for a timer without a step;
/// the cost within 2 % or 0.5 ns, whichever is larger; the spread within 0.02; Quality within 0.5
/// points.
pub const RIGHT: [&str; 4] = [
    "resolution right",
    "cost right",
    "spread right",
    "Quality right",
];
