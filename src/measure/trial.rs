//! Provides what all instruments share: the floor (the time that an empty window shows), the error
//! budget, the shortest sufficient window, collection of samples, and the time limit. A window is
//! the time between two reads of the clock, with the calls in it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use timers::Deadline;

use super::interference::WindowWatch;
use super::summary::{CallSample, MeasuredOperation};
use super::window::TimedOperation;
use estimators::statistics::mean_without_highest;
use judgement::choice::clock_figures::{DRIFT, FENCE_NS};
use judgement::choice::{Budget, ClockFigures};
use reporting::text::numbers::time;

/// The goal of a measurement: its error, number of samples and time limit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Goal {
    /// Largest accepted error of the clock at 95 % confidence, as a share in (0, 1).
    pub error: f64,
    /// Number of undisturbed samples to take.
    pub samples: u32,
    /// Time after which the measurement fails if samples are missing.
    pub limit: Duration,
    /// Seed of all random choices.
    pub seed: u64,
    /// Whether disturbed samples are dropped. `false` for clocks that this machine cannot disturb,
    /// such as simulated ones, and for operations that are so long that each call is disturbed.
    pub watched: bool,
    /// Length of a batch with [`Throughput`](super::Instrument::Throughput).
    pub span: Duration,
}

impl Default for Goal {
    fn default() -> Self {
        Self {
            error: 0.01,
            samples: 10,
            limit: Duration::from_secs(20),
            seed: 1,
            watched: true,
            span: Duration::from_millis(100),
        }
    }
}

/// The reason why an operation could not be measured.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TrialError(pub(super) String);

/// The result of a measurement.
pub type TrialResult = Result<MeasuredOperation, TrialError>;

impl TrialError {
    /// Returns the error for a clock that did not move during the operation.
    pub(super) fn clock_did_not_move() -> Self {
        Self("the operation is too short for the clock: its mean duration is not above that of an empty interval; measure a longer operation or use a finer clock".into())
    }
}

/// Largest number of calls in a batch.
const MAX_CALLS: u64 = 1 << 40;

/// A measurement of an operation in progress.
pub(super) struct Trial<'a> {
    pub(super) timed: &'a mut dyn TimedOperation,
    pub(super) clock: &'a ClockFigures,
    pub(super) goal: Goal,
    deadline: Deadline,
    /// The time that an empty window shows, in nanoseconds.
    pub(super) floor_ns: f64,
    /// Upper bound of the error of `floor_ns`, in nanoseconds.
    pub(super) floor_error_ns: f64,
}

impl<'a> Trial<'a> {
    /// Prepares a measurement: finds the floor, and starts the time limit.
    ///
    /// # Errors
    /// When the error of the goal is not above `DRIFT`, the error of the rate of any clock.
    pub(super) fn new(
        timed: &'a mut dyn TimedOperation,
        clock: &'a ClockFigures,
        goal: &Goal,
    ) -> Result<Self, TrialError> {
        /// Number of empty windows whose mean is the floor.
        const FLOOR_SAMPLES: usize = 501;
        // If the step of the clock is not longer than a read, empty windows show the floor.
        // Otherwise most of them show 0; therefore the cost in the figures of the clock is used.
        let (floor_ns, floor_error_ns) = if clock.step_ns <= clock.cost_ns {
            let floors: Vec<f64> = (0..FLOOR_SAMPLES).map(|_| timed.window(0)).collect();
            (
                mean_without_highest(&floors, 0.02).unwrap_or(clock.cost_ns),
                clock.variation_ns,
            )
        } else {
            let error_ns = clock.cost_error_ns + clock.variation_ns + FENCE_NS;
            (clock.cost_ns, error_ns)
        };
        if goal.error <= DRIFT {
            let percent = DRIFT * 100.0;
            return Err(TrialError(format!(
                "an error of {} % is too small, because no clock has a rate that is known better than {percent} %; allow a larger error",
                goal.error * 100.0
            )));
        }
        Ok(Self {
            timed,
            clock,
            goal: *goal,
            deadline: Deadline::after(goal.limit),
            floor_ns,
            floor_error_ns,
        })
    }

    /// Returns the error budget of a window of `window_ns` nanoseconds. `single` says whether it
    /// contains a single call.
    pub(super) fn budget(&self, window_ns: f64, single: bool) -> Budget {
        Budget {
            quantisation: self.clock.step_ns / window_ns,
            invocation_cost: self.floor_error_ns / window_ns,
            drift: DRIFT,
            pipeline: self.clock.pipeline_ns(single) / window_ns,
            ..Budget::default()
        }
    }

    /// Returns the length in nanoseconds of the shortest window with a batch that keeps the error
    /// of the goal.
    pub(super) fn shortest_ns(&self) -> f64 {
        (self.clock.step_ns + self.floor_error_ns + self.clock.pipeline_ns(false))
            / (self.goal.error - DRIFT)
    }

    /// Returns whether the time limit has passed, or the clock has failed.
    pub(super) fn is_over(&self) -> bool {
        self.deadline.remaining().is_none() || timers::failure(&self.clock.id).is_some()
    }

    /// Takes a sample: one window with this number of calls.
    pub(super) fn take_sample(&mut self, calls: u64) -> CallSample {
        let watch = self.goal.watched.then(WindowWatch::begin);
        // Single calls are not warmed up, because the first call after a set-up may be the one to
        // measure.
        self.timed.warm_up(if calls == 1 { 0 } else { calls });
        let ns = self.timed.window(calls) - self.floor_ns;
        CallSample {
            weight: calls,
            ns_per_call: ns / calls as f64,
            disturbed: watch.and_then(WindowWatch::end),
        }
    }

    /// Takes samples with `next` until as many of them are undisturbed as the goal requires.
    ///
    /// # Errors
    /// When the time limit passes.
    pub(super) fn collect_samples(
        &mut self,
        mut next: impl FnMut(&mut Self) -> CallSample,
    ) -> Result<Vec<CallSample>, TrialError> {
        let mut samples = Vec::new();
        loop {
            let valid = samples
                .iter()
                .filter(|sample: &&CallSample| sample.disturbed.is_none())
                .count();
            if valid >= self.goal.samples.max(1) as usize {
                return Ok(samples);
            }
            if self.is_over() {
                let last_cause = samples
                    .iter()
                    .rev()
                    .find_map(|sample| sample.disturbed.as_ref())
                    .map(|cause| format!(" (last disturbance: {cause})"));
                return Err(TrialError(format!(
                    "only {valid} of {} samples were undisturbed within the time limit of {:?}{}; allow more time",
                    self.goal.samples,
                    self.goal.limit,
                    last_cause.unwrap_or_default()
                )));
            }
            samples.push(next(self));
        }
    }

    /// Computes the result from the samples.
    ///
    /// # Errors
    /// When the clock did not move during the operation.
    pub(super) fn summarise(
        &self,
        calls: u64,
        samples: Vec<CallSample>,
        budget: &Budget,
    ) -> TrialResult {
        MeasuredOperation::from_samples(calls, samples, budget)
            .ok_or_else(TrialError::clock_did_not_move)
    }

    /// Doubles the number of calls until a window is at least `target_ns` nanoseconds long. Returns
    /// the number of calls, and the approximate duration of a call in nanoseconds. Measures the
    /// last window twice and uses the shorter one, because caches are cold in the first and
    /// interruptions may lengthen either.
    pub(super) fn calibrate(&mut self, target_ns: f64) -> Result<(u64, f64), TrialError> {
        /// Length of a window, in nanoseconds, from which it is not measured twice, because it is
        /// much longer than an interruption.
        const MIN_SINGLE_WINDOW_NS: f64 = 5e7;
        let mut calls = 1_u64;
        loop {
            let mut window_ns = self.timed.window(calls) - self.floor_ns;
            if window_ns >= target_ns && window_ns < MIN_SINGLE_WINDOW_NS {
                window_ns = window_ns.min(self.timed.window(calls) - self.floor_ns);
            }
            if window_ns >= target_ns {
                return Ok((calls, window_ns / calls as f64));
            }
            if self.is_over() || calls >= MAX_CALLS {
                return Err(TrialError(format!(
                    "{calls} calls take less than {}, which this clock needs, and the time limit of {} s is over; use a finer clock or allow a larger error or more time",
                    time(Some(target_ns)),
                    self.goal.limit.as_secs()
                )));
            }
            calls *= 2;
        }
    }
}
