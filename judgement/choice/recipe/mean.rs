//! Plans the mean of many single calls, each between two reads, less the mean of a read. Of a coarse
//! clock the two readings are equal in most calls and differ by one step in some; the mean difference
//! estimates the duration (edge-crossing). The mean of a read is that of as many empty intervals, or,
//! for requests that come by themselves, what the code finds at its start.

use super::{DRIFT, Recipe, RecipeMethod, remaining_error};
use crate::choice::clock_figures::{Budget, ClockFigures};
use crate::choice::requirement::Requirement;
use estimators::statistics::{CONFIDENCE, normal_quantile};

/// Smallest number of samples whose mean is treated as normally distributed.
const FEWEST_SAMPLES: f64 = 30.0;

/// Plans the mean of requests if they come at a rate, otherwise that of single calls, with as many as
/// the error needs or as `longest_ns` nanoseconds allow. If only an upper bound of the resolution is
/// known, the error is overestimated.
pub fn plan_mean(clock: &ClockFigures, requirement: &Requirement, longest_ns: f64) -> Recipe {
    let (call_ns, read_ns) = (requirement.shortest_ns(), clock.read_ns());
    let crossing = ((call_ns + read_ns) / clock.step_ns).min(1.0);
    let (empty, spacing_ns, cost_error_ns) = match requirement.rate_hz {
        None => {
            let [call, empty] = [requirement.duration_ns, 0.0].map(|ns| spacing_ns(clock, ns));
            (1.0, call + empty, 0.0)
        }
        // The code subtracts at most its shortest reading, which is 0 if no step need be in a request.
        Some(rate) if crossing < 1.0 => (0.0, 1e9 / rate, read_ns),
        Some(rate) => (0.0, 1e9 / rate, clock.cost_error_ns),
    };
    let variance = |ns| edge_variance(ns, clock.step_ns);
    let of_steps = variance(call_ns + read_ns) + empty * variance(read_ns);
    // The variance of a value within a range is at most a quarter of the squared range (Popoviciu).
    let variance = of_steps + (1.0 + empty) * clock.variation_ns.powi(2) / 4.0;
    let pipeline_ns = clock.pipeline_ns(true);
    let systematic = (pipeline_ns + cost_error_ns) / call_ns;
    let z = normal_quantile(CONFIDENCE) / call_ns;
    let needed = (z / remaining_error(requirement, DRIFT + systematic)).powi(2) * variance;
    // As many have to cross an edge for the normal approximation.
    let fewest = FEWEST_SAMPLES / crossing;
    let most = (longest_ns / spacing_ns).floor().max(1.0);
    let samples = needed.max(fewest).ceil().min(most);
    let quantisation = z * (of_steps / samples).sqrt();
    let budget = Budget {
        quantisation,
        invocation_cost: z * (variance / samples).sqrt() - quantisation + cost_error_ns / call_ns,
        drift: DRIFT,
        pipeline: pipeline_ns / call_ns,
        // Requests have no loop around them, and there is no code for single calls.
        frame: 0.0,
    };
    let method = RecipeMethod::Mean {
        requests: samples.min(9e15) as u64,
    };
    let lengths = [call_ns, samples * spacing_ns];
    Recipe::new(clock, requirement, method, budget, lengths)
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
