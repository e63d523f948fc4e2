//! Selects the clock that measures single invocations, and fits their distribution in one process.

use crate::distribution::moments::{self, Moments};
use crate::distribution::shape::Fits;
use crate::rate;
use crate::trace::{Run, Trace};

/// The least number of successive readings for a distribution. *Default*: moves no figure.
const MIN_READINGS: usize = 100;
/// The timer measures its own invocations if the ratio of its step to that of the reference is less
/// than this. *Default*: moves no figure; nearly equal steps gain nothing.
pub const MAX_OWN_STEP_RATIO: f64 = 0.75;

/// The clock that measures single invocations.
#[derive(Clone, Copy, Debug)]
pub struct MeasuringClock {
    /// Whether the timer measures itself by its successive readings.
    pub self_measured: bool,
    /// Nanoseconds in a tick of the measuring clock.
    pub ns_per_tick: f64,
    /// The step of the measuring clock, in its ticks.
    pub step: f64,
}

impl MeasuringClock {
    /// Returns the reference as the measuring clock.
    pub fn by_reference(trace: &Trace) -> Self {
        let reference = &trace.reference;
        Self {
            self_measured: false,
            ns_per_tick: reference.ns_per_tick,
            step: reference.step,
        }
    }

    /// Selects the timer itself if its steps are clearly finer than those of the reference,
    /// otherwise the reference. `step` is the resolution of the timer in its ticks, if known.
    pub fn best(trace: &Trace, step: Option<f64>) -> Self {
        Self::by_timer(trace, step).unwrap_or_else(|| Self::by_reference(trace))
    }

    /// Returns the timer as its own measuring clock; `None` unless its steps are clearly finer than
    /// those of the reference and all processes have enough successive readings.
    fn by_timer(trace: &Trace, step: Option<f64>) -> Option<Self> {
        let (step, (ns_per_tick, _)) = (step?, rate::tick(trace)?);
        let finer = step * ns_per_tick
            < MAX_OWN_STEP_RATIO * trace.reference.step * trace.reference.ns_per_tick;
        let has_readings = trace
            .runs
            .iter()
            .all(|run| run.readings.values.len() > MIN_READINGS);
        (finer && has_readings).then_some(Self {
            self_measured: true,
            ns_per_tick,
            step,
        })
    }

    /// Single invocations of a process, in ticks of the measuring clock. If that is the reference,
    /// each includes the bracket.
    pub fn samples(&self, run: &Run) -> Vec<i64> {
        if self.self_measured {
            successive(&run.readings.values)
        } else {
            run.singles.deltas.clone()
        }
    }

    /// Fits the distribution of the invocations of a process. `None` if nothing was observed.
    pub fn fits(&self, run: &Run, trace: &Trace) -> Option<Fits> {
        let moments = moments::estimate(run, &trace.reference);
        let reference_ns = trace.reference.step * trace.reference.ns_per_tick;
        let from_batches = moments.scaled(reference_ns / (self.step * self.ns_per_tick));
        let fitted = match self.self_measured {
            // With a step as fine as this, the samples show the variance of a call; the variance
            // from batches is worse, because the calls of a batch may vary together.
            true => Moments {
                variance: (0.0, f64::INFINITY),
                ..moments
            },
            false => from_batches,
        };
        Fits::from_samples(&self.samples(run), self.step, from_batches, fitted)
    }
}

/// Differences of successive readings.
pub fn successive(readings: &[i64]) -> Vec<i64> {
    readings
        .windows(2)
        .map(|pair| pair[1].wrapping_sub(pair[0]))
        .collect()
}
