//! Plans edge-crossing: many single calls are measured with a coarse clock. In most of them the two
//! readings are equal, in some they differ by one step; the mean difference estimates the duration.

use super::{
    DRIFT, FEWEST_SAMPLES, LONGEST_CAMPAIGN_NS, MeasuringPlan, PIPELINE_CAUSE, PlanMethod, Planned,
    Shortfall, any_error, cost_variation, remaining_error,
};
use crate::choice::clock_figures::{Budget, ClockFigures};
use crate::choice::requirement::Requirement;
use crate::statistics::{CONFIDENCE, normal_quantile};

/// Plans averaged single calls under a clock that is too coarse for one call.
///
/// # Errors
/// When only an upper bound of the resolution is known, or no number of samples is enough.
pub fn plan_edge_crossing(clock: &ClockFigures, requirement: &Requirement) -> Planned {
    if !clock.resolved {
        return Err(Shortfall::because(
            "only an upper bound of its resolution is known",
        ));
    }
    let spread = Spread::for_clock(clock, requirement)?;
    let z = normal_quantile(CONFIDENCE);
    let nearest = |possible: &Requirement| {
        let plan = plan_edge_crossing(clock, possible).ok()?;
        if plan.campaign_ns <= LONGEST_CAMPAIGN_NS {
            return Some(plan);
        }
        plan_within(clock, requirement, LONGEST_CAMPAIGN_NS)
    };
    let pipeline_ns = clock.pipeline_ns(true);
    let remaining = remaining_error(requirement, pipeline_ns, PIPELINE_CAUSE, nearest)?;
    let needed = (z / (requirement.shortest_ns() * remaining)).powi(2)
        * (spread.call_variance + spread.floor_variance / spread.ratio);
    // The normal approximation needs this many intervals that cross an edge.
    let edges = FEWEST_SAMPLES / (spread.gap_ns / clock.step_ns).min(1.0);
    plan_samples(
        clock,
        requirement,
        needed.max(edges).max(FEWEST_SAMPLES).ceil(),
        &spread,
    )
}

/// The edge-crossing with the smallest error for a measurement of `campaign_ns` nanoseconds; `None` if none
/// is possible.
pub fn plan_within(
    clock: &ClockFigures,
    requirement: &Requirement,
    campaign_ns: f64,
) -> Option<MeasuringPlan> {
    let spread = Spread::for_clock(clock, requirement)
        .ok()
        .filter(|_| clock.resolved)?;
    let sample_ns =
        spacing_ns(clock, requirement.duration_ns) + spread.ratio * spacing_ns(clock, 0.0);
    let samples = (campaign_ns / sample_ns).floor();
    let edges = samples * (spread.gap_ns / clock.step_ns).min(1.0);
    let plan = plan_samples(clock, &any_error(requirement), samples.max(1.0), &spread).ok()?;
    (samples >= FEWEST_SAMPLES && edges >= FEWEST_SAMPLES && plan.error < 1.0).then_some(plan)
}

/// Plans the mean of requests that come by themselves, less the mean cost of a read, which the code finds
/// at its start.
///
/// # Errors
/// When no number of requests is enough.
pub fn plan_mean(clock: &ClockFigures, requirement: &Requirement) -> Planned {
    let rate = requirement.rate_hz.unwrap_or(f64::INFINITY);
    let spread = Spread::for_clock(clock, requirement)?;
    let nearest = |possible: &Requirement| plan_mean(clock, possible).ok();
    let pipeline_ns = clock.pipeline_ns(true);
    // The code subtracts at most its shortest reading, which is 0 if no step need be in a request.
    let is_coarse = spread.gap_ns < clock.step_ns;
    let cost_ns = if is_coarse {
        clock.read_ns()
    } else {
        clock.cost_error_ns
    };
    let systematic_ns = pipeline_ns + cost_ns;
    let remaining = remaining_error(requirement, systematic_ns, PIPELINE_CAUSE, nearest)?;
    let z = normal_quantile(CONFIDENCE) / requirement.shortest_ns();
    let edges = FEWEST_SAMPLES / (spread.gap_ns / clock.step_ns).min(1.0);
    let requests = (z / remaining).powi(2) * spread.call_variance;
    let requests = requests.max(edges).max(FEWEST_SAMPLES).ceil();
    let deviation = |variance: f64| z * (variance / requests).sqrt();
    let quantisation = deviation(spread.step_variances[0]);
    let budget = Budget {
        quantisation,
        invocation_cost: deviation(spread.call_variance) - quantisation
            + cost_ns / requirement.shortest_ns(),
        drift: DRIFT,
        pipeline: pipeline_ns / requirement.shortest_ns(),
        frame: 0.0,
    };
    let plan = MeasuringPlan {
        method: PlanMethod::Mean {
            requests: requests.min(9e15) as u64,
        },
        error: budget.total(),
        budget,
        single_error: None,
        overhead: 2.0 * clock.takes_ns() * rate * 1e-9,
        campaign_ns: requests * 1e9 / rate,
    };
    plan.checked(requirement, "request")
}

/// The variance of one sample, and how the samples are divided into calls and empty intervals.
struct Spread {
    /// Length of a measured interval in nanoseconds: the call and a read.
    gap_ns: f64,
    /// Variance of one measured call, in ns².
    call_variance: f64,
    /// Variance of one empty interval, in ns².
    floor_variance: f64,
    /// The part of the variance of a call, and of an empty interval, that the steps of the clock
    /// cause, in ns².
    step_variances: [f64; 2],
    /// Number of empty intervals for each measured call: the ratio with the smallest variance in a
    /// given time (Neyman allocation).
    ratio: f64,
}

impl Spread {
    /// Computes the variances for a clock.
    ///
    /// # Errors
    /// When the variation of the cost of a read is unknown.
    fn for_clock(clock: &ClockFigures, requirement: &Requirement) -> Result<Self, Shortfall> {
        let variation_ns = cost_variation(clock)?;
        let gap_ns = requirement.shortest_ns() + clock.read_ns();
        let step_variances =
            [gap_ns, clock.read_ns()].map(|length| edge_variance(length, clock.step_ns));
        // The variance of a value within a range is at most a quarter of the squared range
        // (Popoviciu).
        let [call_variance, floor_variance] =
            step_variances.map(|variance| variance + variation_ns.powi(2) / 4.0);
        let cost_ratio =
            spacing_ns(clock, requirement.duration_ns) / spacing_ns(clock, 0.0).max(0.1);
        let ratio = (floor_variance / call_variance * cost_ratio)
            .sqrt()
            .clamp(1e-6, 1e6);
        Ok(Self {
            gap_ns,
            call_variance,
            floor_variance,
            step_variances,
            ratio,
        })
    }
}

/// The variance, in ns², of the difference of two readings around an interval of `length_ns`, over
/// random phases of the clock. The length of an interval is not known precisely enough to say where
/// in a step an interval longer than half a step ends, so the largest possible variance is
/// returned.
fn edge_variance(length_ns: f64, step_ns: f64) -> f64 {
    let fraction = length_ns / step_ns;
    if fraction < 0.5 {
        fraction * (1.0 - fraction) * step_ns.powi(2)
    } else {
        step_ns.powi(2) / 4.0
    }
}

/// Mean time between the starts of two samples in nanoseconds: two reads, the call, and a random
/// delay of up to the shorter of the step and the sum of reads and call. The delay keeps the loop
/// from synchronising with the clock.
fn spacing_ns(clock: &ClockFigures, call_ns: f64) -> f64 {
    let busy = call_ns + 2.0 * clock.read_ns();
    busy + busy.min(clock.step_ns) / 2.0
}

/// Plans this number of samples, with the number of empty intervals that `spread` assigns to them.
///
/// # Errors
/// When their error is larger than required.
fn plan_samples(
    clock: &ClockFigures,
    requirement: &Requirement,
    samples: f64,
    spread: &Spread,
) -> Planned {
    let floor_samples = (samples * spread.ratio).max(FEWEST_SAMPLES).ceil();
    let z = normal_quantile(CONFIDENCE);
    let deviation = |[call, floor]: [f64; 2]| {
        z * (call / samples + floor / floor_samples).sqrt() / requirement.shortest_ns()
    };
    let statistical = deviation([spread.call_variance, spread.floor_variance]);
    let quantisation = deviation(spread.step_variances).min(statistical);
    let budget = Budget {
        quantisation,
        invocation_cost: statistical - quantisation,
        drift: DRIFT,
        pipeline: clock.pipeline_ns(true) / requirement.shortest_ns(),
        // There is no code for this method.
        frame: 0.0,
    };
    let reads_ns = 2.0 * clock.takes_ns();
    let floor_ns = floor_samples * spacing_ns(clock, 0.0);
    let campaign_ns = samples * spacing_ns(clock, requirement.duration_ns) + floor_ns;
    let [samples, floor_samples] = [samples, floor_samples].map(|count| count.min(9e15) as u64);
    let plan = MeasuringPlan {
        method: PlanMethod::EdgeCrossing {
            samples,
            floor_samples,
        },
        error: budget.total(),
        budget,
        single_error: None,
        // The overhead is computed for a program without other work between the calls.
        overhead: reads_ns / (reads_ns + requirement.shortest_ns()),
        campaign_ns,
    };
    plan.checked(requirement, "call")
}
