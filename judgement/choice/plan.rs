//! Plans how to measure with one clock: with single calls, batches, or many averaged single calls
//! under a coarse clock; for requests that come by themselves, each by itself or the mean of many.
//!
//! Let *a* be the resolution of a clock and *d* the duration between two reads. The readings differ
//! by *d* plus the cost of a read, with an error below *a* for any phase of the clock. Over random
//! phases the mean error is 0 and its variance is *f*(1-*f*)*a*², where *f* is the fractional part
//! of *d/a*: the difference is one step larger with the probability that the interval crosses an
//! additional edge. This gives three methods. Single calls and edge-crossing measure the latency of
//! one call. A batch measures the reciprocal throughput, because consecutive calls overlap in the
//! pipeline of the core. These two durations differ.
//!
//! The duration of an operation is known only roughly. Plans therefore keep their error even if the
//! operation takes only 90 % of the specified duration.

use serde::Serialize;

use super::clock_figures::{Budget, ClockFigures, DRIFT, FRAME_CAUSE, TURN_NS};
use super::requirement::Requirement;
mod edges;

pub use edges::{plan_edge_crossing, plan_mean, plan_within};

/// A method of measurement with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PlanMethod {
    /// One call between two reads. Each single result keeps the error.
    Single,
    /// Many calls between two reads; the result is their mean.
    Batch {
        /// Calls between two reads.
        calls: u64,
    },
    /// Averaged single calls, each between two reads. During some of them the reading of the clock
    /// changes, during most it does not.
    EdgeCrossing {
        /// Number of measured calls.
        samples: u64,
        /// Number of measured empty intervals; their mean is subtracted from the mean of the calls.
        floor_samples: u64,
    },
    /// The mean of many requests, each between two reads, less the mean cost of a read.
    Mean {
        /// Number of timed requests.
        requests: u64,
    },
}

impl PlanMethod {
    /// The number of calls that the method needs. Requests come by themselves, so their number does
    /// not matter.
    pub(super) fn calls(&self) -> u64 {
        match *self {
            Self::Single => 1,
            Self::Mean { .. } => 2,
            Self::Batch { calls: count } | Self::EdgeCrossing { samples: count, .. } => count,
        }
    }
}

/// A plan for measuring with one clock, with its expected error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeasuringPlan {
    /// The method with its parameters.
    pub method: PlanMethod,
    /// The expected error as a share of the duration.
    pub error: f64,
    /// The expected error by cause.
    pub budget: Budget,
    /// The expected error of a single call, if `error` is that of a mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub single_error: Option<f64>,
    /// Share of the running time spent on reading the clock. It is computed from the time that a
    /// read adds to the surrounding code if that is known, else from the cost of a read.
    pub overhead: f64,
    /// Duration of the measurement in nanoseconds.
    pub campaign_ns: f64,
}

impl MeasuringPlan {
    /// The method with its parameters, for people.
    pub fn in_words(&self) -> String {
        match self.method {
            PlanMethod::Single => "each call between two reads".into(),
            PlanMethod::Batch { calls } => format!("{calls} calls between two reads"),
            PlanMethod::EdgeCrossing { samples, .. } => {
                format!("the mean of {samples} single calls")
            }
            PlanMethod::Mean { requests } => format!("the mean of at least {requests} requests"),
        }
    }

    /// Returns this plan if it keeps the requirement. `measured` is what one result is of.
    fn checked(self, requirement: &Requirement, measured: &str) -> Planned {
        // The tolerance keeps rounding from rejecting a plan that is exactly sufficient.
        if self.error > requirement.error * (1.0 + 1e-9) {
            let reason = self
                .budget
                .causes()
                .into_iter()
                .max_by(|a, b| a.1.total_cmp(&b.1))
                .map(|(cause, share)| {
                    format!("the {cause} is {} of one {measured}", percent(share))
                });
            return Err(Shortfall {
                reason: reason.unwrap_or_default(),
                nearest: Some(Box::new(self)),
            });
        }
        Ok(self)
    }
}

/// The reason why a method cannot keep a requirement with a clock, and the nearest possible plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// The reason; messages print it after the name of the clock.
    pub reason: String,
    /// The plan with the smallest error; `None` if no plan is possible.
    pub nearest: Option<Box<MeasuringPlan>>,
}

/// A plan, or why there is none.
pub type Planned = Result<MeasuringPlan, Shortfall>;

impl Shortfall {
    /// A shortfall without a possible plan.
    pub(super) fn because(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            nearest: None,
        }
    }
}

/// Longest measurement that is proposed, in nanoseconds: one hour.
pub const LONGEST_CAMPAIGN_NS: f64 = 3_600e9;
/// Smallest number of samples whose mean is treated as normally distributed.
const FEWEST_SAMPLES: f64 = 30.0;

/// Plans single calls, or else a batch of at most an hour, or, at a rate, the mean of many requests.
///
/// # Errors
/// When neither keeps the requirement: the shortfall with the smaller error.
pub fn plan_fastest(clock: &ClockFigures, requirement: &Requirement) -> Planned {
    let single = match plan_single(clock, requirement) {
        Err(single) => single,
        planned => return planned,
    };
    let plan = match requirement.rate_hz {
        Some(_) => plan_mean(clock, requirement),
        None => plan_batch(clock, requirement).and_then(|plan| {
            if plan.campaign_ns <= LONGEST_CAMPAIGN_NS {
                return Ok(plan);
            }
            let calls = (LONGEST_CAMPAIGN_NS / requirement.duration_ns).max(1.0);
            let possible = plan_calls(clock, &any_error(requirement), calls as u64);
            Err(Shortfall {
                reason: format!("{} would take hours", plan.in_words()),
                nearest: possible.ok().map(Box::new),
            })
        }),
    };
    match plan {
        Ok(plan) => Ok(MeasuringPlan {
            single_error: single.nearest.map(|plan| plan.error),
            ..plan
        }),
        Err(shortfall) => Err(nearer(single, shortfall)),
    }
}

/// The shortfall with the smaller error; the first one if neither has a plan.
fn nearer(first: Shortfall, second: Shortfall) -> Shortfall {
    let error = |shortfall: &Shortfall| {
        shortfall
            .nearest
            .as_ref()
            .map_or(f64::INFINITY, |plan| plan.error)
    };
    if error(&first) <= error(&second) {
        first
    } else {
        second
    }
}

/// Plans one call between two reads.
///
/// # Errors
/// When the error of one call is larger than required.
pub fn plan_single(clock: &ClockFigures, requirement: &Requirement) -> Planned {
    plan_calls(clock, requirement, 1)
}

/// Plans a batch with the fewest calls between two reads that keep the error.
///
/// # Errors
/// When the operation cannot be repeated, or no number of calls is enough.
pub fn plan_batch(clock: &ClockFigures, requirement: &Requirement) -> Planned {
    let turn_ns = turn_ns(requirement);
    let nearest = |possible: &Requirement| plan_batch(clock, possible).ok();
    let remaining = remaining_error(requirement, turn_ns, FRAME_CAUSE, nearest)?;
    let variation_ns = cost_variation(clock)?;
    let duration_ns = requirement.shortest_ns();
    let cost_ns = variation_ns + clock.cost_error_ns + clock.fence_ns();
    let by_error = (clock.step_ns + cost_ns + clock.pipeline_ns(false)) / (duration_ns * remaining);
    plan_calls(clock, requirement, by_error.ceil().clamp(1.0, 9e15) as u64)
}

/// Upper bound of what a turn of the loop of printed code adds to a call, in nanoseconds. The
/// code takes the least of many runs with and without calls: with any step and phase these differ
/// from the truth by less than the one step that the quantisation already counts.
fn turn_ns(requirement: &Requirement) -> f64 {
    if requirement.by_code { TURN_NS } else { 0.0 }
}

/// The part of the required error, as a share of the duration, that remains after subtracting the
/// drift and a systematic error of `systematic_ns` nanoseconds that all samples have, for this
/// cause.
///
/// # Errors
/// When nothing remains: with the plan that `nearest` makes for a possible error.
fn remaining_error(
    requirement: &Requirement,
    systematic_ns: f64,
    cause: &str,
    nearest: impl Fn(&Requirement) -> Option<MeasuringPlan>,
) -> Result<f64, Shortfall> {
    let systematic = systematic_ns / requirement.shortest_ns();
    let constant = DRIFT + systematic;
    if requirement.error > constant {
        return Ok(requirement.error - DRIFT - systematic);
    }
    let reason = if requirement.error > DRIFT {
        format!(
            "the {cause} is {} of one call, and averaging does not reduce it",
            percent(systematic)
        )
    } else {
        format!(
            "the rate of no clock is known better than to {} %, because the kernel may slew it by as much",
            DRIFT * 100.0
        )
    };
    // An error somewhat larger than the parts that averaging does not reduce.
    let possible = Requirement {
        error: 1.2 * constant,
        ..requirement.clone()
    };
    let nearest = (possible.error < 1.0)
        .then(|| nearest(&possible))
        .flatten()
        .map(Box::new);
    Err(Shortfall { reason, nearest })
}

/// The name of [`ClockFigures::pipeline_ns`] in messages.
const PIPELINE_CAUSE: &str = "effect of the reads on the core";

/// Upper bound of the distance of the cost of a read from its median, in nanoseconds.
///
/// # Errors
/// When no such bound is known.
fn cost_variation(clock: &ClockFigures) -> Result<f64, Shortfall> {
    let bound = clock.cost_variation_ns();
    bound.ok_or_else(|| Shortfall::because("the variation of its cost is not known"))
}

/// Plans `calls` calls between two reads.
fn plan_calls(clock: &ClockFigures, requirement: &Requirement, calls: u64) -> Planned {
    let variation_ns = cost_variation(clock)?;
    let window_ns = requirement.shortest_ns() * calls as f64;
    let budget = Budget {
        quantisation: clock.step_ns / window_ns,
        invocation_cost: (clock.cost_error_ns + variation_ns + clock.fence_ns()) / window_ns,
        drift: DRIFT,
        pipeline: clock.pipeline_ns(calls == 1) / window_ns,
        frame: turn_ns(requirement) / requirement.shortest_ns(),
    };
    let reads_ns = 2.0 * clock.takes_ns();
    let overhead = match requirement.rate_hz {
        Some(rate) => reads_ns * rate * 1e-9,
        None => reads_ns / (reads_ns + window_ns),
    };
    let method = if calls == 1 {
        PlanMethod::Single
    } else {
        PlanMethod::Batch { calls }
    };
    let campaign_ns = requirement.duration_ns * calls as f64 + 2.0 * clock.read_ns();
    let plan = MeasuringPlan {
        method,
        error: budget.total(),
        budget,
        single_error: None,
        overhead,
        campaign_ns,
    };
    plan.checked(requirement, if calls == 1 { "call" } else { "batch" })
}

/// A share in percent with three significant digits.
pub fn percent(share: f64) -> String {
    format!("{} %", crate::numbers::significant(share * 100.0, 3))
}

/// This requirement with an error that any plan keeps.
fn any_error(requirement: &Requirement) -> Requirement {
    Requirement {
        error: 0.999_999,
        ..requirement.clone()
    }
}

#[cfg(test)]
mod tests;
