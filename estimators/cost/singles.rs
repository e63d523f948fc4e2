//! Selects the clock that measures single invocations.

use crate::cost::{CommonFrequency, approximate_cost_ns};
use crate::rate;
use crate::statistics::median;
use crate::trace::{Integers, Observations, Trace};

/// The least number of successive readings for a distribution. *Default*: moves no figure.
const MIN_READINGS: usize = 100;
/// The largest ratio of the interval between successive readings to the cost of a call at which the
/// timer measures its own invocations. *Judgement*: the reading is also stored.
const MAX_READING_RATIO: f64 = 2.0;
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
        let reference = trace.calls_reference();
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
        let reference = trace.calls_reference();
        let finer =
            step * ns_per_tick < MAX_OWN_STEP_RATIO * reference.step * reference.ns_per_tick;
        let has_readings = |run: &Observations| {
            let intervals = successive(&run.readings.values);
            let usual = median(intervals.iter().map(|&ticks| ticks as f64)).unwrap_or(0.0);
            // Readings of a device are stored where they take longer than the calls.
            let longest = MAX_READING_RATIO * approximate_cost_ns(run, reference);
            intervals.len() >= MIN_READINGS && (usual - step) * ns_per_tick <= longest
        };
        (finer && trace.runs.iter().all(has_readings)).then_some(Self {
            self_measured: true,
            ns_per_tick,
            step,
        })
    }

    /// Nanoseconds in a step of the measuring clock in a process, at `core_frequency`.
    pub fn step_ns(&self, run: &Observations, core_frequency: CommonFrequency) -> f64 {
        let hertz = match self.self_measured {
            true => run.readings.core_hz,
            false => run.singles.core_hz,
        };
        self.step * self.ns_per_tick * core_frequency.scale(hertz)
    }

    /// Single invocations of a process, in ticks of the measuring clock. If that is the reference,
    /// each includes the bracket.
    pub fn samples(&self, run: &Observations) -> Vec<i64> {
        if self.self_measured {
            successive(&run.readings.values)
        } else {
            run.singles.deltas.to_vec()
        }
    }
}

/// Differences of successive readings.
pub fn successive(readings: &Integers) -> Vec<i64> {
    let pairs = readings.iter().zip(readings.iter().skip(1));
    pairs.map(|(one, next)| next.wrapping_sub(one)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Batches, Reference};

    /// A clock of 0.5 ns by a reference of 32 ns, whose calls take 3 ns in batches.
    #[test]
    fn readings_that_take_long_measure_no_calls() {
        let is_self_measured = |intervals: [i64; 4]| {
            let mut reading = 0;
            let values = intervals.into_iter().cycle().take(400).map(|interval| {
                reading += interval;
                reading
            });
            let batches = |calls, delta| Batches {
                calls,
                deltas: vec![delta; 9].into(),
                ..Batches::default()
            };
            let mut run = Observations {
                bracket: batches(0, 32),
                batches: batches(512, 1_568),
                ..Observations::default()
            };
            run.readings.values = values.collect();
            let trace = Trace {
                ns_per_tick: Some(0.5),
                reference: Reference {
                    ns_per_tick: 1.0,
                    step: 32.0,
                    ..Reference::default()
                },
                runs: vec![run],
                ..Trace::default()
            };
            MeasuringClock::best(&trace, Some(1.0)).self_measured
        };
        assert!(is_self_measured([7, 6, 7, 6]));
        assert!(!is_self_measured([20, 20, 20, 43]));
    }
}
