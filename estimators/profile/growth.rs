//! Finds clocks whose value grows with each call, as a logical clock does or one that makes its
//! readings unique in a coarse unit: it moves by more than the time that passed.

use crate::rate;
use crate::statistics::{median, quantile, sorted};
use crate::trace::Trace;

/// Returns how far a call moves the timer in addition to the time that it takes, in ticks, if that
/// is more than this time. The timer was read before and after many calls, and after none.
pub fn growth_per_call(trace: &Trace) -> Option<f64> {
    /// The share of the counted calls that may have moved it less. *Judgement*: interruptions.
    const MAX_EXCEPTIONS: f64 = 0.1;
    let (ns_per_tick, _) = rate::tick(trace)?;
    let took = |reference: i64| reference as f64 * trace.reference.ns_per_tick / ns_per_tick;
    let all = || trace.runs.iter().flat_map(|run| &run.calls_between);
    let beyond = |[timer, reference]: [i64; 2]| timer as f64 - took(reference);
    let without = all().filter(|(calls, _)| *calls == 0);
    let without = median(without.map(|(_, moved)| beyond(*moved)))?;
    let with_calls = || all().filter(|(calls, _)| *calls > 0);
    let growth = with_calls().map(|(calls, moved)| (beyond(*moved) - without) / *calls as f64);
    let growth = sorted(&growth.collect::<Vec<f64>>());
    let cost = median(with_calls().map(|(calls, moved)| took(moved[1]) / *calls as f64))?;
    let is_more = quantile(&growth, MAX_EXCEPTIONS)? > cost.max(0.0);
    quantile(&growth, 0.5).filter(|_| is_more)
}
