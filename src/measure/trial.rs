//! What all instruments share: windows of the wanted length, the floor, the samples that count, the
//! limit.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use timers::Deadline;

use super::interference::Watch;
use super::summary::{Sample, Summary};
use super::window::Timed;
use crate::method::clock_figures::{DRIFT, FENCE_NS};
use crate::method::{Budget, ClockFigures};
use crate::statistics::mean_but;

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
        }
    }
}

/// A measurement with the way it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Calls in a sample, or samples in a group of single calls.
    pub calls: u64,
    /// What it came to.
    pub summary: Summary,
    /// All samples, disturbed ones too.
    pub samples: Vec<Sample>,
}

/// Why a measurement came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrialError {
    /// The clock cannot do it.
    #[error("{0}")]
    Clock(String),
    /// The limit passed before there were enough valid samples.
    #[error(
        "{valid} of {wanted} samples were valid when the limit of {limit:?} was over{why}; allow more time"
    )]
    Limit {
        /// Valid samples.
        valid: usize,
        /// Wanted.
        wanted: u32,
        /// The limit.
        limit: Duration,
        /// What disturbed the others, with a semicolon before it.
        why: String,
    },
    /// The clock did not move by as much as the operation should take.
    #[error(
        "the clock did not see the operation: the mean is not above what an empty interval shows"
    )]
    Unseen,
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
            return Err(TrialError::Clock(format!(
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
            if self.deadline.remaining().is_none() {
                let last = samples
                    .iter()
                    .rev()
                    .find_map(|sample| sample.disturbed.clone());
                return Err(TrialError::Limit {
                    valid,
                    wanted: self.goal.samples,
                    limit: self.goal.limit,
                    why: last.map_or_else(String::new, |why| {
                        format!("; the last of the others: {why}")
                    }),
                });
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
        let summary =
            Summary::of(&samples, budget, self.goal.confidence).ok_or(TrialError::Unseen)?;
        Ok(Measured {
            calls,
            summary,
            samples,
        })
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
            if self.deadline.remaining().is_none() || calls >= MOST_CALLS {
                return Err(TrialError::Clock(format!(
                    "{calls} calls are not long enough for this clock yet ({} needed), and the limit of {} s is over",
                    crate::text::numbers::time(Some(target_ns)),
                    self.goal.limit.as_secs()
                )));
            }
            calls *= 2;
        }
    }
}
