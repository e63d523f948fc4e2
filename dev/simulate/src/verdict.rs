//! What a report says of a simulated timer, compared with what is true.

use super::figure::FoundFigure;
use super::irreducible::irreducible_widths;
use super::{Case, FREQUENCY, Truth};
use timermeter::model::{Cycles, Hertz, Interval, Nanos, Timer, TimerRow, value_of};
use timermeter::quality::quality;
use timermeter::recording::Observation;
use timermeter::trace::Trace;
use timermeter::trust::Yardsticks;

/// An error of cost that matters, as a share of it.
/// *Definition*: the aim that was set.
const COST_MATTERS: f64 = 0.01;
/// An error of Quality that matters: 0.1 points.
/// *Definition*: the aim that was set.
const QUALITY_MATTERS: f64 = 0.001;

/// What was found of a case, compared with what is true.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Nanoseconds.
    pub resolution: FoundFigure,
    /// Nanoseconds, at the frequency of the campaign.
    pub cost: FoundFigure,
    /// A share.
    pub spread: FoundFigure,
    /// A share.
    pub quality: FoundFigure,
    /// Whether it never steps backwards.
    pub monotonic: bool,
    /// The row of the report.
    pub row: TimerRow,
}

impl Verdict {
    /// What the report says of a trace of the case, whose core ran at `hertz`.
    #[must_use]
    pub(super) fn on(case: &Case, trace: Trace, hertz: Interval) -> Self {
        let truth = Truth::of_timer(&case.timer, &case.surroundings);
        let mut stored = trace.with_runs(Vec::new(), Vec::new());
        trace.runs.into_iter().for_each(|run| stored.add(run));
        let observed = Observation {
            timer: Timer {
                id: case.timer.name.clone(),
                runtime: "simulated".into(),
                ns_per_tick: case.timer.declared.then_some(case.timer.unit),
                ..Timer::default()
            },
            outcome: Ok(stored),
        };
        let row = observed.judged(Some(hertz), &Yardsticks::default());
        Self::judge(&truth, case, hertz.value, row)
    }

    fn judge(truth: &Truth, case: &Case, hertz: f64, row: TimerRow) -> Self {
        // What follows the core is reported at the frequency of the campaign; in cycles it is the same
        // at any.
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
        let step = row.resolution_ns;
        let irreducible = irreducible_widths(case, truth);
        Self {
            resolution: FoundFigure {
                truth: truth.resolution,
                value: value_of(step),
                low: step.and_then(|step| step.low()),
                high: step.and_then(|step| step.high()),
                irreducible: 0.0,
            },
            cost: FoundFigure {
                truth: Some(cost_ns),
                value: value_of(row.cost_ns),
                low: row.cost_ns.and_then(|cost| cost.low()),
                high: row.cost_ns.and_then(|cost| cost.high()),
                irreducible: irreducible.cost,
            },
            spread: FoundFigure {
                truth: truth.spread,
                value: value_of(row.spread),
                low: row.spread.and_then(|spread| spread.low()),
                high: row.spread.and_then(|spread| spread.high()),
                irreducible: irreducible.spread,
            },
            quality: FoundFigure {
                truth: true_quality,
                value: value_of(row.quality),
                low: row.quality.and_then(|quality| quality.low()),
                high: row.quality.and_then(|quality| quality.high()),
                irreducible: irreducible.quality,
            },
            monotonic: truth.monotonic,
            row,
        }
    }

    /// Resolution within 1 %; for timers without a step: no number given.
    #[must_use]
    pub fn resolution_holds(&self) -> bool {
        // Backward steps may hide the step; the timer is useless anyway.
        let hidden = !self.monotonic && self.resolution.value.is_none();
        hidden
            || self
                .resolution
                .holds(0.01 * self.resolution.truth.unwrap_or(0.0))
    }

    /// Cost within 2 % or half a nanosecond.
    #[must_use]
    pub fn cost_holds(&self) -> bool {
        self.cost
            .holds((0.02 * self.cost.truth.unwrap_or(0.0)).max(0.5))
    }

    /// Spread within 0.02.
    #[must_use]
    pub fn spread_holds(&self) -> bool {
        (!self.monotonic && self.spread.value.is_none()) || self.spread.holds(0.02)
    }

    /// Quality within half a percentage point; none where there is none.
    #[must_use]
    pub fn quality_holds(&self) -> bool {
        self.quality.holds(0.005)
    }

    /// Steps backwards seen exactly where there are some.
    #[must_use]
    pub fn order_holds(&self) -> bool {
        let seen = self
            .row
            .observations
            .as_ref()
            .map_or(0, |seen| seen.backward_steps);
        (seen == 0) == self.monotonic
    }

    /// All of these.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.resolution_holds()
            && self.cost_holds()
            && self.spread_holds()
            && self.quality_holds()
            && self.order_holds()
    }

    /// The truth lies outside an interval, and is off by what matters: 1 % of cost or 0.1 points of
    /// Quality.
    #[must_use]
    pub fn misses(&self) -> bool {
        self.cost.misses(self.matters()) || self.quality.misses(QUALITY_MATTERS)
    }

    /// How often that happens at least where intervals of this width hold the truth 95 times in
    /// 100.
    #[must_use]
    pub fn unavoidable(&self) -> f64 {
        self.cost
            .unavoidable(self.matters())
            .max(self.quality.unavoidable(QUALITY_MATTERS))
    }

    fn matters(&self) -> f64 {
        COST_MATTERS * self.cost.truth.unwrap_or(0.0)
    }
}
