//! Times the calls of one timer: single calls, batches of calls, and successive readings.

use timers::Answer;

use super::bench::{Bench, CoreState};
use crate::cost;
use crate::trace::{Batches, Reference, Run};

/// Numbers of calls of a timer that a process times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallsPlan {
    /// Number of single calls, in a process that measures only one timer.
    pub singles: u32,
    /// Number of batches, in a process that measures only one timer.
    pub batches: u32,
    /// Target time of the single calls, in nanoseconds. Short batches and readings take shares of
    /// the same length in addition.
    pub interval_ns: f64,
    /// Total time that a process waits for steps of slow timers, in nanoseconds. A tenth of it is
    /// the target time of the batches if the reference is coarse.
    pub slow_ns: f64,
}

impl CallsPlan {
    /// The plan of a brief process.
    pub const BRIEF: Self = Self {
        singles: 2_500,
        batches: 31,
        interval_ns: 5e5,
        slow_ns: 1.1e9,
    };
}

/// Maximum number of successive readings in a process. *Judgement*.
const MAX_READINGS: f64 = 6_000.0;

/// Calls in a batch that still shows the skewness of a single call. *Judgement*.
const SMALL_BATCH_CALLS: u64 = 8;
/// Calls in a batch that shows the variation of a single call, but is short enough to exclude slow
/// variation. *Judgement*.
const MEDIUM_BATCH_CALLS: u64 = 32;

/// Calls in the longest batches. *Judgement*.
const MAX_BATCH_CALLS: f64 = 512.0;

/// Times few calls of the timer, which suffices to compare processes. All measurements are in one
/// measurement window, so they are kept or dropped together. Also times the timer that reads
/// nothing, unless `floor` already holds its batches.
///
/// # Errors
/// When a timer of the bench refuses or their host is lost.
pub fn time_calls_briefly(
    bench: &mut Bench,
    reference: &Reference,
    floor: &mut Option<Batches>,
) -> Answer<Run> {
    let mut watch = bench.watch.take();
    let mut measure = || {
        let mut run = Run::default();
        time_calls(bench, reference, &CallsPlan::BRIEF, &mut run)?;
        if floor.is_none() {
            *floor = bench.floor(MAX_BATCH_CALLS as u64, CallsPlan::BRIEF.batches)?;
        }
        run.floor = floor.clone().unwrap_or_default();
        Ok(run)
    };
    let (run, core) = match &mut watch {
        Some(watch) => watch.ask_in_window(&mut measure)?,
        None => (measure()?, CoreState::default()),
    };
    bench.watch = watch;
    Ok(run.with_core_state(core.core_hz, core.unstable))
}

/// Measures single calls, batches and successive readings.
///
/// # Errors
/// When a timer of the bench refuses or their host is lost.
pub fn time_calls(
    bench: &mut Bench,
    reference: &Reference,
    plan: &CallsPlan,
    run: &mut Run,
) -> Answer<()> {
    /// Number of batches without calls: their time is subtracted from single calls, so it has to be
    /// as precise. *Judgement*.
    const BRACKETS: u32 = 1_500;
    // The first calls are discarded, because their code and data are not in a cache yet.
    bench.timer.batches(&bench.reference_id, 8, 3)?;
    if is_coarse(reference) {
        return time_calls_coarsely(bench, reference, plan, run);
    }
    run.bracket = bench.batches(0, BRACKETS)?;
    let pilot = bench.batches(8, 15)?;
    let cost_ns =
        cost::approximate_cost(&pilot, &run.bracket).unwrap_or(0.0) * reference.ns_per_tick;
    let singles = (plan.interval_ns / (cost_ns + 50.0))
        .clamp(f64::from(plan.singles) / 10.0, plan.singles.into());
    run.singles = bench.batches(1, singles as u32)?;
    let interrupted_share = cost::interruption_share(run, reference);
    // At most about one batch in eight should contain an interruption.
    let max_calls = if interrupted_share > 0.0 {
        0.13 / interrupted_share
    } else {
        f64::INFINITY
    };
    let calls = (TARGET_BATCH_NS / cost_ns.max(0.1))
        .clamp(16.0, MAX_BATCH_CALLS)
        .min(max_calls)
        .max(8.0) as u64;
    // Short batches have larger quantisation errors, so there are more of them.
    let repeat = plan.batches * (64 / calls as u32).clamp(1, 4);
    run.batches = bench.batches(calls, repeat)?;
    for (calls, batches, max_repeat) in [
        (SMALL_BATCH_CALLS, &mut run.small_batches, 4_000.0),
        (MEDIUM_BATCH_CALLS, &mut run.medium_batches, 800.0),
    ] {
        let affordable = 0.15 * plan.interval_ns / (calls as f64 * cost_ns + 50.0);
        let repeat = affordable.clamp(40.0, max_repeat) as u32;
        *batches = bench.batches(calls, repeat)?;
    }
    let readings = (0.2 * plan.interval_ns / (cost_ns + 20.0)).clamp(500.0, MAX_READINGS);
    run.readings = bench.readings(readings as u32)?;
    Ok(())
}

/// Target time of a batch, in nanoseconds: long compared with the step of most references, short
/// compared with the time between interruptions. *Judgement*.
const TARGET_BATCH_NS: f64 = 20_000.0;

/// Length of a batch in steps of a coarse reference. *Judgement*: each end of a batch has an error
/// of up to one step.
const COARSE_BATCH_STEPS: f64 = 8.0;

/// Whether the known step of a reference is too long for batches of the default length, as in
/// browsers.
#[must_use]
pub fn is_coarse(reference: &Reference) -> bool {
    reference.step_at_most.is_none()
        && COARSE_BATCH_STEPS * reference.uncertainty_ns() > 2.0 * TARGET_BATCH_NS
}

/// Like [`time_calls`], for a reference with long steps: uses longer batches. Single calls only
/// show that no call takes long.
fn time_calls_coarsely(
    bench: &mut Bench,
    reference: &Reference,
    plan: &CallsPlan,
    run: &mut Run,
) -> Answer<()> {
    /// Number of single calls: if the reference does not step during any of them, a call takes less
    /// than 3 / 20 000 of a step (rule of three). *Judgement*: 150 ns for a step of 1 ms.
    const SINGLES: u32 = 20_000;
    /// Number of batches of [`SMALL_BATCH_CALLS`] and of [`MEDIUM_BATCH_CALLS`].
    const SMALL_BATCH_COUNT: u32 = 200;
    /// Maximum number of calls in a batch.
    const MAX_CALLS: f64 = 1e10;
    let batch_ns = COARSE_BATCH_STEPS * reference.uncertainty_ns();
    run.bracket = bench.batches(0, SINGLES)?;
    let mut calls = MAX_BATCH_CALLS;
    let mut cost_ns = 0.0;
    while calls < MAX_CALLS && calls * cost_ns < batch_ns / 2.0 {
        calls *= 4.0;
        let pilot = bench.batches(calls as u64, 3)?;
        cost_ns =
            cost::approximate_cost(&pilot, &run.bracket).unwrap_or(0.0) * reference.ns_per_tick;
    }
    run.singles = bench.batches(1, SINGLES)?;
    let repeat = (0.1 * plan.slow_ns / batch_ns).clamp(3.0, plan.batches.into()) as u32;
    run.batches = bench.batches(
        (batch_ns / cost_ns.max(0.1)).clamp(MAX_BATCH_CALLS, MAX_CALLS) as u64,
        repeat,
    )?;
    run.small_batches = bench.batches(SMALL_BATCH_CALLS, SMALL_BATCH_COUNT)?;
    run.medium_batches = bench.batches(MEDIUM_BATCH_CALLS, SMALL_BATCH_COUNT)?;
    run.readings = bench.readings(MAX_READINGS as u32)?;
    Ok(())
}
