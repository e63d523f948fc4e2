//! Spread: the share of single invocations within ±1 accuracy of their median (ICPE 2011, section 4.2).
//!
//! The share is taken of the distribution itself and not of its quantised image, so that a figure quantised at just one
//! accuracy does not lose its neighbouring level.

use crate::analysis::cost::batch_deviation;
use crate::analysis::shape::Shape;
use crate::trace::{Reference, Run};

/// Fewest successive readings from which a shape is taken.
const FEWEST: usize = 100;

/// What single invocations look like, in nanoseconds.
pub struct Singles {
    shape: Shape,
    ns_per_tick: f64,
    /// Whether it comes from the intervals of the timer itself and not from brackets by the reference.
    pub of_intervals: bool,
}

impl Singles {
    /// From the observations of one process. The reference shows the invocations, unless the timer itself moves in
    /// markedly finer steps: then its own successive readings do. `step` is the resolution of the timer in its ticks, where
    /// known. `None` when nothing was observed.
    #[must_use]
    pub fn of(run: &Run, reference: &Reference, step: Option<f64>, ns_per_tick: Option<f64>) -> Option<Self> {
        if let (Some(step), Some(ns)) = (step, ns_per_tick)
            && step * ns < 0.75 * reference.step * reference.ns_per_tick
            && run.readings.len() > FEWEST
        {
            // Where the unit truncates a still finer counter, one cost shows at up to three levels.
            let steady = batch_deviation(run, reference).is_some_and(|deviation| 3.0 * deviation < step * ns);
            let shape = Shape::of(&successive(&run.readings), step, steady)?;
            return Some(Self { shape, ns_per_tick: ns, of_intervals: true });
        }
        let shape = Shape::of(&run.singles.deltas, reference.step, false)?;
        Some(Self { shape, ns_per_tick: reference.ns_per_tick, of_intervals: false })
    }

    /// Share of invocations within ±`accuracy_ns` of the median, in (0, 1].
    #[must_use]
    pub fn spread(&self, accuracy_ns: f64) -> f64 {
        self.shape.share_within(accuracy_ns / self.ns_per_tick)
    }

    /// The median, the bracket included where there is one.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// A quantile, likewise.
    #[must_use]
    pub fn quantile(&self, probability: f64) -> f64 {
        self.shape.quantile(probability) * self.ns_per_tick
    }

    /// The mean of all but rare interruptions, likewise.
    #[must_use]
    pub fn core_mean(&self) -> f64 {
        self.shape.core_mean() * self.ns_per_tick
    }

    /// The share of invocations that are rare interruptions.
    #[must_use]
    pub fn rare(&self) -> f64 {
        self.shape.rare()
    }

    /// The variance of all but rare interruptions, in nanoseconds squared.
    #[must_use]
    pub fn core_variance(&self) -> f64 {
        self.shape.core_variance() * self.ns_per_tick * self.ns_per_tick
    }
}

/// Differences of successive readings.
#[must_use]
pub fn successive(readings: &[i64]) -> Vec<i64> {
    readings.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect()
}
