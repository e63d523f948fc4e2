//! Finds clocks whose value grows with each call, as a logical clock does or one that makes its
//! readings unique in a coarse unit: it moves by more than the time that passed.

use crate::rate;
use crate::statistics::median;
use crate::trace::Trace;

/// Returns how far a call moves the timer in addition to the time that it takes, in ticks, if that
/// is more than this time.
pub fn growth_per_call(trace: &Trace) -> Option<f64> {
    let ticks = trace.calls_reference().ns_per_tick / rate::tick(trace)?.0;
    let observed = trace.runs.iter().flat_map(|run| &run.calls_between);
    let per_call = observed.map(|(calls, [none, many])| {
        [0, 1].map(|clock| many[clock].wrapping_sub(none[clock]) as f64 / *calls as f64)
    });
    let per_call: Vec<[f64; 2]> = per_call.collect();
    let growth = median(per_call.iter().map(|[timer, took]| timer - ticks * took))?;
    let cost = median(per_call.iter().map(|[_, took]| ticks * took))?;
    (growth > cost.max(0.0)).then_some(growth)
}
