//! Finds the length below which a primitive that blocks does not sleep: it returns at once, or
//! computes until the time is over.

use super::observed_ns;
use crate::model::AwakeWaits;
use crate::statistics::{median, quantile, sorted};
use crate::trace::{Wait, WaitRun, WaitTrace};

/// The shortest request that is used, in nanoseconds, and in steps of the reference. *Judgement*: a
/// call alone may take microseconds; an error of a step does not halve four.
const MIN_REQUEST: (f64, f64) = (1e4, 4.0);
/// The least number of waits that sleep, and of those that do not. *Judgement*.
const MIN_WAITS: usize = 8;
/// The largest share of either that are exceptions. *Judgement*: interruptions and early wake-ups
/// are rarer.
const MAX_EXCEPTIONS: f64 = 0.05;
/// The largest share of the requested time after which a wait returns at once, and the least share
/// of its duration for which one computes that does not sleep. *Judgement*.
const AWAKE_SHARES: (f64, f64) = (0.5, 0.75);

/// Returns the waits that do not sleep, if the requested length decides which do.
pub fn awake_waits(trace: &WaitTrace) -> Option<AwakeWaits> {
    let ns = |wait: &&Wait| observed_ns(wait, &trace.reference);
    let cpu = |wait: &&Wait| Some(wait.cpu_ns? as f64);
    let shortest = MIN_REQUEST
        .0
        .max(MIN_REQUEST.1 * trace.reference.uncertainty_ns());
    let all = trace.runs.iter().flat_map(WaitRun::waits);
    let (awake, asleep): (Vec<&Wait>, Vec<&Wait>) = all
        .filter(|wait| trace.blocks && wait.request_ns as f64 >= shortest)
        .partition(|wait| {
            ns(wait) < AWAKE_SHARES.0 * wait.request_ns as f64
                || cpu(wait).is_some_and(|cpu| cpu > AWAKE_SHARES.1 * ns(wait))
        });
    let requests = |waits: &[&Wait]| sorted(waits.iter().map(|wait| wait.request_ns as f64));
    let (short, long) = (requests(&awake), requests(&asleep));
    let (typical, longest) = (
        quantile(&short, 0.5)?,
        quantile(&short, 1.0 - MAX_EXCEPTIONS)?,
    );
    let shorter = long.partition_point(|request| *request <= longest);
    let below_ns = *long.get(shorter)?;
    let returns_ns = median(awake.iter().map(ns))?;
    let is_split = short.len().min(long.len() - shorter) >= MIN_WAITS
        && shorter as f64 <= MAX_EXCEPTIONS * short.len() as f64
        // The CPU time of a call may be longer than a short sleep.
        && median(asleep.iter().filter_map(cpu)).is_none_or(|cpu| cpu < typical);
    is_split.then_some(AwakeWaits {
        below_ns,
        returns_after_ns: (returns_ns < AWAKE_SHARES.0 * typical).then_some(returns_ns),
        shortest_sleep_ns: quantile(&sorted(asleep.iter().map(ns)), MAX_EXCEPTIONS)?,
    })
}

/// Removes the waits of shorter requests.
pub fn without_shorter(mut trace: WaitTrace, request_ns: f64) -> WaitTrace {
    for run in &mut trace.runs {
        for waits in run.scans.iter_mut().chain([&mut run.lengths]) {
            waits.retain(|wait| wait.request_ns as f64 >= request_ns);
        }
    }
    trace
}
