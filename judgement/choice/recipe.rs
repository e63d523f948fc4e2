//! Plans how to measure with one clock: with single calls, with batches, or with the mean of many single
//! calls under a coarse clock or of requests that come by themselves.
//!
//! Let *a* be the resolution of a clock and *d* the duration between two reads. The readings differ
//! by *d* plus the cost of a read, with an error below *a* for any phase of the clock. Over random
//! phases the mean error is 0 and its variance is *f*(1-*f*)*a*², where *f* is the fractional part
//! of *d/a*: the difference is one step larger with the probability that the interval crosses an
//! additional edge. This gives three methods. Single calls and their mean measure the latency of one
//! call. A batch measures the reciprocal throughput, because consecutive calls overlap in the
//! pipeline of the core. These two durations differ.
//!
//! The duration of an operation is known only roughly. Plans therefore keep their error even if the
//! operation takes only 90 % of the specified duration.

use serde::Serialize;

use super::clock_figures::{Budget, ClockFigures, DRIFT, TURN_NS};
use super::requirement::Requirement;

mod mean;

pub use mean::plan_mean;

/// A method of measurement with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RecipeMethod {
    /// One call between two reads. Each single result keeps the error.
    Single,
    /// Many calls between two reads; the result is their mean.
    Batch {
        /// Calls between two reads.
        calls: u64,
    },
    /// The mean of many requests or calls, each between two reads, less the mean cost of a read. The
    /// reading of a coarse clock changes during some of them only.
    Mean {
        /// Number of timed requests or calls.
        requests: u64,
    },
}

impl RecipeMethod {
    /// The number of calls that the method needs. Requests come by themselves, so their number does
    /// not matter.
    pub(super) fn calls(&self) -> u64 {
        match *self {
            Self::Single => 1,
            Self::Mean { .. } => 2,
            Self::Batch { calls } => calls,
        }
    }
}

/// A plan for measuring with one clock, with its expected error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Recipe {
    /// The method with its parameters.
    pub method: RecipeMethod,
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
    /// Whether it keeps the requirement. If not, it is the nearest plan.
    #[serde(skip)]
    pub suffices: bool,
}

impl Recipe {
    /// A plan with windows of this length.
    fn new(
        clock: &ClockFigures,
        requirement: &Requirement,
        method: RecipeMethod,
        budget: Budget,
        [window_ns, campaign_ns]: [f64; 2],
    ) -> Self {
        let (error, reads_ns) = (budget.total(), 2.0 * clock.takes_ns());
        Self {
            method,
            error,
            budget,
            single_error: None,
            overhead: match requirement.rate_hz {
                Some(rate) => reads_ns * rate * 1e-9,
                // Of a program without other work between the calls.
                None => reads_ns / (reads_ns + window_ns),
            },
            campaign_ns,
            // The tolerance keeps rounding from rejecting a plan that is exactly sufficient.
            suffices: error <= requirement.error * (1.0 + 1e-9),
        }
    }

    /// The method with its parameters, for people.
    pub fn in_words(&self) -> String {
        match self.method {
            RecipeMethod::Single => "each call between two reads".into(),
            RecipeMethod::Batch { calls } => format!("{calls} calls between two reads"),
            RecipeMethod::Mean { requests } => format!("the mean of at least {requests} requests"),
        }
    }

    /// The largest part of the error, for people.
    pub fn largest_cause(&self) -> String {
        let causes = self.budget.causes().into_iter();
        let largest = causes.max_by(|a, b| a.1.total_cmp(&b.1));
        let (cause, share) = largest.unwrap_or_default();
        format!("the {cause} is {} of what is measured", percent(share))
    }
}

/// Longest batch that is proposed, in nanoseconds: one hour.
pub const LONGEST_CAMPAIGN_NS: f64 = 3_600e9;

/// Plans single calls, or else a batch of at most an hour, or, at a rate, the mean of many requests.
/// If none keeps the requirement, it is the plan with the smallest error.
pub fn plan_fastest(clock: &ClockFigures, requirement: &Requirement) -> Recipe {
    let single = plan_single(clock, requirement);
    if single.suffices {
        return single;
    }
    let many = match requirement.rate_hz {
        Some(_) => plan_mean(clock, requirement, f64::INFINITY),
        None => plan_batch(clock, requirement),
    };
    if !many.suffices && single.error <= many.error {
        return single;
    }
    Recipe {
        single_error: Some(single.error),
        ..many
    }
}

/// Plans one call between two reads.
pub fn plan_single(clock: &ClockFigures, requirement: &Requirement) -> Recipe {
    plan_calls(clock, requirement, 1)
}

/// Plans a batch with the fewest calls between two reads that keep the error.
pub fn plan_batch(clock: &ClockFigures, requirement: &Requirement) -> Recipe {
    let one = budget(clock, requirement, 1.0, false);
    let constant = one.drift + one.frame;
    let calls = (one.total() - constant) / remaining_error(requirement, constant);
    let most = (LONGEST_CAMPAIGN_NS / requirement.duration_ns).max(1.0);
    plan_calls(clock, requirement, calls.ceil().clamp(1.0, most) as u64)
}

/// The part of the error that remains after subtracting the part that more calls do not reduce. If
/// nothing remains, it is that of the nearest plan: a fifth of this part.
fn remaining_error(requirement: &Requirement, constant: f64) -> f64 {
    if requirement.error > constant {
        requirement.error - constant
    } else {
        0.2 * constant
    }
}

/// The error of `calls` calls between two reads; around a `single` one, the reads affect the core
/// otherwise.
fn budget(clock: &ClockFigures, requirement: &Requirement, calls: f64, single: bool) -> Budget {
    let share = |ns: f64| ns / (requirement.shortest_ns() * calls);
    // The code takes the least of many runs with and without calls: with any step and phase these
    // differ from the truth by less than the one step that the quantisation already counts.
    let turn_ns = if requirement.by_code { TURN_NS } else { 0.0 };
    Budget {
        quantisation: share(clock.step_ns),
        invocation_cost: share(clock.cost_error_ns + clock.variation_ns + clock.fence_ns()),
        drift: DRIFT,
        pipeline: share(clock.pipeline_ns(single)),
        frame: turn_ns / requirement.shortest_ns(),
    }
}

/// Plans `calls` calls between two reads.
fn plan_calls(clock: &ClockFigures, requirement: &Requirement, calls: u64) -> Recipe {
    let (method, count) = match calls {
        1 => (RecipeMethod::Single, 1.0),
        _ => (RecipeMethod::Batch { calls }, calls as f64),
    };
    let budget = budget(clock, requirement, count, calls == 1);
    let [window_ns, calls_ns] =
        [requirement.shortest_ns(), requirement.duration_ns].map(|ns| ns * count);
    let lengths = [window_ns, calls_ns + 2.0 * clock.read_ns()];
    Recipe::new(clock, requirement, method, budget, lengths)
}

/// A share in percent with three significant digits.
pub fn percent(share: f64) -> String {
    format!("{} %", estimators::numbers::significant(share * 100.0, 3))
}

#[cfg(test)]
mod tests;
