//! What all instruments share: windows of the wanted length, the floor, the samples that count, the
//! limit.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use timers::Deadline;

use super::interference::Watch;
use super::summary::{Measured, Sample};
use super::window::Timed;
use crate::method::clock_figures::{DRIFT, FENCE_NS};
use crate::method::{Budget, ClockFigures};
use crate::statistics::mean_but;
use crate::text::numbers::time;

/// How well, how often and how long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// The error that the clock may make, as a share in (0, 1).
    pub error: f64,
    /// How sure, as a share in (0, 1).
    pub confidence: f64,
    /// Samples that have to be undisturbed.
    pub samples: u32,
    /// After this long the trial has failed.
    pub limit: Duration,
    /// Seed of what is random.
    pub seed: u64,
    /// Whether samples that something disturbed are dropped. Only a clock that does not run with
    /// the machine, as a simulated one, can do without.
    pub watched: bool,
    /// Length of a run of [`Throughput`](super::Instrument::Throughput).
    pub span: Duration,
}

impl Default for Goal {
    fn default() -> Self {
        Self {
            error: 0.01,
            confidence: 0.95,
            samples: 10,
            limit: Duration::from_secs(20),
            seed: 1,
            watched: true,
            span: Duration::from_millis(100),
        }
    }
}

/// Why something could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TrialError(pub(super) String);

impl TrialError {
    /// The clock did not move by as much as the operation should take.
    pub(super) fn unmoved() -> Self {
        Self("the clock did not see the operation: the mean is not above what an empty interval shows".into())
    }
}

/// Longest batch: more calls are not tried.
const MOST_CALLS: u64 = 1 << 40;

/// A trial: what all instruments share.
pub(super) struct Trial<'a> {
    pub(super) timed: &'a mut dyn Timed,
    pub(super) clock: &'a ClockFigures,
    pub(super) goal: Goal,
    deadline: Deadline,
    pub(super) floor_ns: f64,
    /// How far the floor may be off.
    pub(super) floor_error_ns: f64,
}

impl<'a> Trial<'a> {
    pub(super) fn new(
        timed: &'a mut dyn Timed,
        clock: &'a ClockFigures,
        goal: &Goal,
    ) -> Result<Self, TrialError> {
        const FLOORS: usize = 501;
        let variation = clock
            .cost_variation_ns(goal.confidence)
            .unwrap_or(clock.step_ns.max(clock.cost_ns));
        let (floor_ns, floor_error_ns) = if clock.step_ns <= clock.cost_ns {
            let floors: Vec<f64> = (0..FLOORS).map(|_| timed.window(0)).collect();
            (mean_but(&floors, 0.02).unwrap_or(clock.cost_ns), variation)
        } else {
            (clock.cost_ns, clock.cost_error_ns + variation + FENCE_NS)
        };
        if goal.error <= DRIFT {
            let percent = DRIFT * 100.0;
            return Err(TrialError(format!(
                "the rate of no clock is known better than {percent} %: allow more error"
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

    /// The error in one window of that length, around many calls or a single one.
    pub(super) fn budget(&self, window_ns: f64, single: bool) -> Budget {
        Budget {
            quantisation: self.clock.step_ns / window_ns,
            invocation_cost: self.floor_error_ns / window_ns,
            drift: DRIFT,
            pipeline: self.clock.pipeline_ns(single) / window_ns,
        }
    }

    /// The shortest window that keeps the error.
    pub(super) fn shortest_ns(&self) -> f64 {
        (self.clock.step_ns + self.floor_error_ns + self.clock.pipeline_ns(false))
            / (self.goal.error - DRIFT)
    }

    /// Whether the limit has passed.
    pub(super) fn is_over(&self) -> bool {
        self.deadline.remaining().is_none()
    }

    /// Looks out for what disturbs a sample, if that matters.
    pub(super) fn watch(&self) -> Option<Watch> {
        self.goal.watched.then(Watch::begin)
    }

    pub(super) fn take(&mut self, calls: u64) -> Sample {
        let watch = self.watch();
        // Of a single call, the first may be what is wanted.
        self.timed.warm_up(if calls == 1 { 0 } else { calls });
        let ns = self.timed.window(calls) - self.floor_ns;
        Sample {
            weight: calls,
            ns_per_call: ns / calls as f64,
            disturbed: watch.and_then(Watch::end),
        }
    }

    /// Samples until enough are valid; the number of calls is asked for each, with what is known of
    /// the duration.
    pub(super) fn collect(
        &mut self,
        mut next: impl FnMut(&mut Self) -> Sample,
    ) -> Result<Vec<Sample>, TrialError> {
        let mut samples = Vec::new();
        loop {
            let valid = samples
                .iter()
                .filter(|sample: &&Sample| sample.disturbed.is_none())
                .count();
            if valid >= self.goal.samples.max(1) as usize {
                return Ok(samples);
            }
            if self.is_over() {
                let last = samples
                    .iter()
                    .rev()
                    .find_map(|sample| sample.disturbed.as_ref());
                let why = last.map(|why| format!("; the last of the others: {why}"));
                return Err(TrialError(format!(
                    "{valid} of {} samples were valid when the limit of {:?} was over{}; allow more time",
                    self.goal.samples,
                    self.goal.limit,
                    why.unwrap_or_default()
                )));
            }
            samples.push(next(self));
        }
    }

    pub(super) fn sum_up(
        &self,
        calls: u64,
        samples: Vec<Sample>,
        budget: &Budget,
    ) -> Result<Measured, TrialError> {
        Measured::from_samples(calls, samples, budget, self.goal.confidence)
            .ok_or_else(TrialError::unmoved)
    }

    /// Doubles the calls until a window is as long as the clock needs it. Returns them, and roughly
    /// what one takes. Of two windows the shorter counts, as the first call finds everything cold
    /// and any window may be interrupted.
    pub(super) fn calibrate(&mut self, target_ns: f64) -> Result<(u64, f64), TrialError> {
        /// Longer than interruptions are.
        const SURELY_NS: f64 = 5e7;
        let mut calls = 1_u64;
        loop {
            let mut window_ns = self.timed.window(calls) - self.floor_ns;
            if window_ns >= target_ns && window_ns < SURELY_NS {
                window_ns = window_ns.min(self.timed.window(calls) - self.floor_ns);
            }
            if window_ns >= target_ns {
                return Ok((calls, window_ns / calls as f64));
            }
            if self.is_over() || calls >= MOST_CALLS {
                return Err(TrialError(format!(
                    "{calls} calls are not long enough for this clock yet ({} needed), and the limit of {} s is over",
                    time(Some(target_ns)),
                    self.goal.limit.as_secs()
                )));
            }
            calls *= 2;
        }
    }
}
