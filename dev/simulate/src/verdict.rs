//! Compares the row of a report on a simulated timer with the truth.

use super::figure::FoundFigure;
use super::{Case, FREQUENCY, Slowdowns, Truth};
use estimators::figures::MIN_PROCESSES;
use estimators::model::{Core, Cycles, Estimate, Hertz, Nanos, Timer, TimerRow};
use estimators::quality::quality;
use estimators::trace::{Observations, Trace};
use judgement::trust::ReadPathBaselines;
use simulated::Model;
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
    let mut stored = trace.with_runs(Vec::new(), Vec::new());
    trace.runs.into_iter().for_each(|run| stored.add(run));
    let timer = Timer {
        id: timer.name.clone(),
        runtime: "simulated".into(),
        ns_per_tick: timer.declared.then_some(timer.unit),
        ..Timer::default()
    };
    Observation::new(timer, Ok(stored))
        .row_with_verdicts(Some(hertz), &ReadPathBaselines::default())
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

    /// Whether the resolution is right: within 1 %, or not given for a timer without a step.
    #[must_use]
    pub fn resolution_holds(&self) -> bool {
        // Backward steps may prevent the estimate; such a timer has Quality 0 anyway.
        let hidden = !self.monotonic && self.resolution.value.is_none();
        hidden || self.resolution.holds(self.relevant_step_error())
    }

    /// Whether the cost is right: within 2 % or 0.5 ns, whichever is larger.
    #[must_use]
    pub fn cost_holds(&self) -> bool {
        self.cost
            .holds((0.02 * self.cost.truth.unwrap_or(0.0)).max(0.5))
    }

    /// Whether the spread is right: within 0.02.
    #[must_use]
    pub fn spread_holds(&self) -> bool {
        (!self.monotonic && self.spread.value.is_none()) || self.spread.holds(0.02)
    }

    /// Whether Quality is right: within 0.5 points, or not given for a timer that has none.
    #[must_use]
    pub fn quality_holds(&self) -> bool {
        self.quality.holds(0.005)
    }

    /// Whether backward steps were found if and only if the timer has some.
    #[must_use]
    pub fn order_holds(&self) -> bool {
        let backward_steps = self
            .row
            .observations
            .as_ref()
            .map_or(0, |observations| observations.backward_steps);
        (backward_steps == 0) == self.monotonic
    }

    /// Whether all figures are right.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.resolution_holds()
            && self.cost_holds()
            && self.spread_holds()
            && self.quality_holds()
            && self.order_holds()
    }

    /// Whether the true cost lies outside its interval with an error above 1 %, or the true Quality
    /// with an error above 0.1 points.
    #[must_use]
    pub fn misses(&self) -> bool {
        self.cost.misses(self.relevant_cost_error()) || self.quality.misses(RELEVANT_QUALITY_ERROR)
    }

    /// Whether a step is reported that is wrong: the true step lies outside the interval with an error
    /// above 1 %.
    #[must_use]
    pub fn step_is_wrong(&self) -> bool {
        self.resolution.misses(self.relevant_step_error())
    }

    /// The smallest possible probability of a [miss](Self::misses), given the widths of the
    /// intervals and a coverage of exactly 95 %.
    #[must_use]
    pub fn unavoidable(&self) -> f64 {
        self.cost
            .unavoidable(self.relevant_cost_error())
            .max(self.quality.unavoidable(RELEVANT_QUALITY_ERROR))
    }

    /// In nanoseconds.
    fn relevant_step_error(&self) -> f64 {
        RELEVANT_STEP_ERROR * self.resolution.truth.unwrap_or(0.0)
    }

    /// In nanoseconds.
    fn relevant_cost_error(&self) -> f64 {
        RELEVANT_COST_ERROR * self.cost.truth.unwrap_or(0.0)
    }
}
