//! Plans edge-crossing: many single calls under a coarse clock. Most differences are 0, some are
//! one step, and their mean estimates the duration.

use super::{
    DRIFT, FEWEST_SAMPLES, LONGEST_CAMPAIGN_NS, Method, Plan, Shortfall, remaining_error,
    too_expensive, variation, within,
};
use crate::method::clock_figures::{Budget, ClockFigures};
use crate::method::requirement::Requirement;
use crate::statistics::normal_quantile;

/// Plans averaged single calls under a clock that is too coarse for one call.
///
/// # Errors
/// When the step of the clock is only bounded, or no number of samples is enough.
pub fn edge_crossing(clock: &ClockFigures, requirement: &Requirement) -> Result<Plan, Shortfall> {
    if !clock.resolved {
        return Err(Shortfall::because("its step is not known, only bounded"));
    }
    let spread = Spread::for_clock(clock, requirement)?;
    let z = normal_quantile(requirement.confidence);
    let room =
        remaining_error(requirement, clock.pipeline_ns(true)).map_err(|shortfall| Shortfall {
            nearest: nearest_plan(clock, requirement),
            ..shortfall
        })?;
    let needed = (z / (requirement.shortest_ns() * room)).powi(2)
        * (spread.call + spread.floor / spread.ratio);
    // The normal approximation needs this many intervals that cross an edge.
    let edges = FEWEST_SAMPLES / (spread.gap_ns / clock.step_ns).min(1.0);
    plan_samples(
        clock,
        requirement,
        needed.max(edges).max(FEWEST_SAMPLES).ceil(),
        &spread,
    )
}

/// The nearest possible plan if no number of calls reaches the required error.
fn nearest_plan(clock: &ClockFigures, requirement: &Requirement) -> Option<Plan> {
    let error = 1.2 * (DRIFT + clock.pipeline_ns(true) / requirement.shortest_ns());
    if error >= 1.0 {
        return None;
    }
    let possible = Requirement {
        error,
        ..requirement.clone()
    };
    let plan = edge_crossing(clock, &possible).ok()?;
    if plan.campaign_ns <= LONGEST_CAMPAIGN_NS {
        Some(plan)
    } else {
        within(clock, requirement, plan.method, LONGEST_CAMPAIGN_NS)
    }
}

/// The variance of one sample, and how the samples are divided into calls and empty intervals.
pub(super) struct Spread {
    /// Length of a measured interval in nanoseconds: the call and a read.
    pub(super) gap_ns: f64,
    /// Variance of one measured call, in ns².
    call: f64,
    /// Variance of one empty interval, in ns².
    floor: f64,
    /// The part of the variance of a call, and of an empty interval, that the steps of the clock
    /// cause, in ns².
    steps: [f64; 2],
    /// Number of empty intervals for each measured call: the ratio with the smallest variance in a
    /// given time (Neyman allocation).
    pub(super) ratio: f64,
}

impl Spread {
    pub(super) fn for_clock(
        clock: &ClockFigures,
        requirement: &Requirement,
    ) -> Result<Self, Shortfall> {
        let variation = variation(clock, requirement)?;
        let gap_ns = requirement.shortest_ns() + clock.read_ns();
        let steps = [gap_ns, clock.read_ns()].map(|length| edge_variance(length, clock.step_ns));
        // The variance of a value within a range is at most a quarter of the squared range
        // (Popoviciu).
        let [call, floor] = steps.map(|steps| steps + variation.powi(2) / 4.0);
        let cost_ratio = spacing(clock, requirement.duration_ns) / spacing(clock, 0.0).max(0.1);
        let ratio = (floor / call * cost_ratio).sqrt().clamp(1e-6, 1e6);
        Ok(Self {
            gap_ns,
            call,
            floor,
            steps,
            ratio,
        })
    }
}

/// The variance, in ns², of the difference of two readings around an interval of `length_ns`, over
/// random phases of the clock. An interval longer than half a step is not known precisely enough to
/// say where in the step it ends, so the largest possible variance is returned.
fn edge_variance(length_ns: f64, step_ns: f64) -> f64 {
    let part = length_ns / step_ns;
    if part < 0.5 {
        part * (1.0 - part) * step_ns.powi(2)
    } else {
        step_ns.powi(2) / 4.0
    }
}

/// Mean time between the starts of two samples in nanoseconds: two reads, the call, and a random
/// delay of up to the shorter of the step and the sum of reads and call. The delay keeps the loop
/// from synchronising with the clock.
pub(super) fn spacing(clock: &ClockFigures, call_ns: f64) -> f64 {
    let busy = call_ns + 2.0 * clock.read_ns();
    busy + busy.min(clock.step_ns) / 2.0
}

/// Plans this number of samples, with the number of empty intervals that belongs to it.
pub(super) fn plan_samples(
    clock: &ClockFigures,
    requirement: &Requirement,
    samples: f64,
    spread: &Spread,
) -> Result<Plan, Shortfall> {
    let floor_samples = (samples * spread.ratio).max(FEWEST_SAMPLES).ceil();
    let z = normal_quantile(requirement.confidence);
    let deviation = |[call, floor]: [f64; 2]| {
        z * (call / samples + floor / floor_samples).sqrt() / requirement.shortest_ns()
    };
    let statistical = deviation([spread.call, spread.floor]);
    let quantisation = deviation(spread.steps).min(statistical);
    let budget = Budget {
        quantisation,
        invocation_cost: statistical - quantisation,
        drift: DRIFT,
        pipeline: clock.pipeline_ns(true) / requirement.shortest_ns(),
    };
    let reads = 2.0 * clock.takes_ns();
    let (overhead, every) = match (requirement.rate_hz, requirement.overhead) {
        (Some(rate), most) => {
            let all = reads * rate * 1e-9;
            let every = most.map_or(1.0, |most| (all / most).ceil().max(1.0));
            (all / every, every)
        }
        // The overhead is computed for a program without other work between the calls.
        (None, _) => (reads / (reads + requirement.shortest_ns()), 1.0),
    };
    let floor_ns = floor_samples * spacing(clock, 0.0);
    let sampling_ns = match requirement.rate_hz {
        Some(rate) => samples * every * 1e9 / rate,
        None => samples * spacing(clock, requirement.duration_ns),
    };
    let [samples, floor_samples, every] =
        [samples, floor_samples, every].map(|count| count.min(9e15) as u64);
    let method = Method::EdgeCrossing {
        samples,
        floor_samples,
        every,
    };
    let campaign_ns = sampling_ns + floor_ns;
    let plan = Plan {
        method,
        error: budget.total(),
        budget,
        overhead,
        campaign_ns,
    };
    too_expensive(requirement, &plan).map_or(Ok(plan), Err)
}
