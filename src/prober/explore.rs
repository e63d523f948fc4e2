//! What one fresh process is asked about its timer.

use std::collections::BTreeMap;

use rand::RngExt;
use rand::rngs::StdRng;
use smallvec::SmallVec;
use timers::Answer;

use crate::analysis::cost;
use crate::analysis::statistics::median;
use crate::prober::bench::Bench;
use crate::prober::calibrate::watched_rate;
use crate::prober::sampling::Plan;
use crate::prober::watch::SeenOfCore;
use crate::trace::{Batches, Intervals, Reference, Run};

/// What a process observed, and what the others need to know of it.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// The observations.
    pub run: Run,
    /// Nanoseconds in a tick of the timer, declared or found.
    pub ns_per_tick: Option<f64>,
    /// Whether its steps are too long for a run like this one.
    pub slow: bool,
    /// Windows that were dropped by the word of the runtime itself, by what disturbed them.
    pub dropped: BTreeMap<String, u32>,
}

/// Most successive readings a process.
/// *Judgement*.
const READINGS: f64 = 6_000.0;

/// Calls in a batch that still shows how skewed a single one is.
/// *Judgement*.
const FEW_CALLS: u64 = 8;
/// Calls in a batch that shows how much one varies, before anything slow does.
/// *Judgement*.
const SOME_CALLS: u64 = 32;

/// Calls in the longest batches.
/// *Judgement*.
const MOST_CALLS: f64 = 512.0;

/// Intervals of one amount of work that a growth stage takes.
/// *Judgement*.
const STAGE: usize = 24;

/// Questions the timer on the bench: cost first, then its step.
///
/// # Errors
/// As the subjects on the bench.
pub fn explore(
    bench: &mut Bench,
    reference: &Reference,
    plan: &Plan,
    random: &mut StdRng,
) -> Answer<Exploration> {
    let mut run = Run::default();
    let ns_per_tick = match bench.ns_per_tick {
        Some(ns) => Some(ns),
        None => watched_rate(bench.timer.as_mut(), &bench.reference_id, reference.ns_per_tick)?,
    };
    let cost_ns = ask_calls(bench, reference, plan, &mut run)?;
    run.floor = bench.floor(run.batches.calls, run.batches.deltas.len() as u32)?.unwrap_or_default();
    let slow = ask_step(bench, reference, plan, cost_ns, ns_per_tick, &mut run.intervals, random)?;
    run.dropped = std::mem::take(&mut bench.dropped);
    Ok(Exploration { run, ns_per_tick, slow, dropped: BTreeMap::new() })
}

/// Times calls of the timer on the bench, and nothing else: what tells how processes differ. All of it is one window. The `floor` of a
/// process is the same whatever timer is asked: the first one finds it.
///
/// # Errors
/// As the subjects on the bench.
pub fn explore_calls(bench: &mut Bench, reference: &Reference, floor: &mut Option<Batches>) -> Answer<Run> {
    let mut watch = bench.watch.take();
    let mut calls = || {
        let mut run = Run::default();
        ask_calls(bench, reference, &Plan::BRIEF, &mut run)?;
        if floor.is_none() {
            *floor = bench.floor(MOST_CALLS as u64, Plan::BRIEF.batches)?;
        }
        run.floor = floor.clone().unwrap_or_default();
        Ok(run)
    };
    let (run, seen) = match &mut watch {
        Some(watch) => watch.around(&mut calls)?,
        None => (calls()?, SeenOfCore::default()),
    };
    bench.watch = watch;
    Ok(run.seen(seen.core_hz, seen.unstable))
}

/// Single calls, batches and successive readings; returns the cost of a call, roughly, in nanoseconds.
fn ask_calls(bench: &mut Bench, reference: &Reference, plan: &Plan, run: &mut Run) -> Answer<f64> {
    /// What is taken off single calls has to be known as well as they are.
    /// *Judgement*.
    const BRACKETS: u32 = 1_500;
    // The first calls find cold caches and are not kept.
    bench.timer.batches(&bench.reference_id, 8, 3)?;
    if is_coarse(reference) {
        return ask_calls_coarsely(bench, reference, plan, run);
    }
    run.bracket = bench.batches(0, BRACKETS)?;
    let pilot = bench.batches(8, 15)?;
    let cost_ns = cost::rough(&pilot, &run.bracket).unwrap_or(0.0) * reference.ns_per_tick;
    let singles =
        (plan.interval_ns / (cost_ns + 50.0)).clamp(f64::from(plan.singles) / 10.0, plan.singles.into());
    run.singles = bench.batches(1, singles as u32)?;
    let rare = cost::rare(run, reference);
    // At most one batch in eight is to hold a rare interruption.
    let undisturbed = if rare > 0.0 { 0.13 / rare } else { f64::INFINITY };
    let calls = (BATCH_NS / cost_ns.max(0.1)).clamp(16.0, MOST_CALLS).min(undisturbed).max(8.0) as u64;
    // Short batches are quantised more coarsely, so there are more of them.
    let repeat = plan.batches * (64 / calls as u32).clamp(1, 4);
    run.batches = bench.batches(calls, repeat)?;
    for (calls, batches, most) in [(FEW_CALLS, &mut run.few, 4_000.0), (SOME_CALLS, &mut run.some, 800.0)] {
        let affordable = 0.15 * plan.interval_ns / (calls as f64 * cost_ns + 50.0);
        let repeat = affordable.clamp(40.0, most) as u32;
        *batches = bench.batches(calls, repeat)?;
    }
    let readings = (0.2 * plan.interval_ns / (cost_ns + 20.0)).clamp(500.0, READINGS);
    run.readings = bench.readings(readings as u32)?;
    Ok(cost_ns)
}

/// How long a batch should take, in nanoseconds: long against the step of most references, short against interruptions.
/// *Judgement*.
const BATCH_NS: f64 = 20_000.0;

/// Steps of a coarse reference that a batch spans.
/// *Judgement*: its ends are off by up to a step each.
const COARSE_STEPS: f64 = 8.0;

/// Whether a reference is known to move in steps too long for usual batches, as clocks of browsers do.
pub(super) fn is_coarse(reference: &Reference) -> bool {
    reference.step_at_most.is_none() && COARSE_STEPS * reference.uncertainty_ns() > 2.0 * BATCH_NS
}

/// As [`ask_calls`], by a reference whose steps are long: batches that are longer. What single calls tell is that none takes long.
fn ask_calls_coarsely(bench: &mut Bench, reference: &Reference, plan: &Plan, run: &mut Run) -> Answer<f64> {
    /// Single calls: where none of them shows a step, one takes less than 3 parts in so many of it.
    /// *Judgement*: 150 ns of a millisecond.
    const SINGLES: u32 = 20_000;
    const FEW: u32 = 200;
    /// No batch holds more.
    const MOST: f64 = 1e10;
    let batch_ns = COARSE_STEPS * reference.uncertainty_ns();
    run.bracket = bench.batches(0, SINGLES)?;
    let mut calls = MOST_CALLS;
    let mut cost_ns = 0.0;
    while calls < MOST && calls * cost_ns < batch_ns / 2.0 {
        calls *= 4.0;
        let pilot = bench.batches(calls as u64, 3)?;
        cost_ns = cost::rough(&pilot, &run.bracket).unwrap_or(0.0) * reference.ns_per_tick;
    }
    run.singles = bench.batches(1, SINGLES)?;
    let repeat = (0.1 * plan.slow_ns / batch_ns).clamp(3.0, plan.batches.into()) as u32;
    run.batches = bench.batches((batch_ns / cost_ns.max(0.1)).clamp(MOST_CALLS, MOST) as u64, repeat)?;
    run.few = bench.batches(FEW_CALLS, FEW)?;
    run.some = bench.batches(SOME_CALLS, FEW)?;
    run.readings = bench.readings(READINGS as u32)?;
    Ok(cost_ns)
}

/// Growing work until the timer jumps at nearly every interval, then random work around there. Returns whether the
/// timer is too slow for that.
fn ask_step(
    bench: &mut Bench,
    reference: &Reference,
    plan: &Plan,
    cost_ns: f64,
    ns_per_tick: Option<f64>,
    groups: &mut Vec<Intervals>,
    random: &mut StdRng,
) -> Answer<bool> {
    let work_ns = reference.ns_per_work;
    let tight_ns = cost_ns + 20.0;
    let repeat = (0.2 * plan.interval_ns / tight_ns).clamp(100.0, 2_000.0) as u32;
    let tight = bench.timer.intervals(&[0], repeat)?.pop().unwrap_or_default();
    let still = u64::from(median(&tight.iter().map(|&delta| delta as f64).collect::<Vec<_>>()) == Some(1.0));
    groups.push(Intervals { work: 0, deltas: tight.into() });
    let mut top_ns = (16.0 * work_ns).max(8.0 * ns_per_tick.unwrap_or(0.0).min(100.0));
    loop {
        let stage = random_work(bench, top_ns / work_ns, STAGE, random)?;
        let moved = stage
            .iter()
            .filter(|group| group.deltas.iter().any(|delta| delta.unsigned_abs() > still))
            .count();
        groups.extend(stage);
        if 10 * moved >= 9 * STAGE {
            break;
        }
        top_ns *= 2.0;
        if top_ns > plan.growth_ns {
            return Ok(true);
        }
    }
    // A read far more expensive than this work may hide steps nearly as long as itself.
    let mut spans = vec![top_ns, 2.0 * top_ns, 4.0 * top_ns];
    spans.extend([0.5, 2.0].map(|scale| scale * cost_ns).into_iter().filter(|span| *span > 4.0 * top_ns));
    for &span_ns in &spans {
        let count = (plan.interval_ns / spans.len() as f64 / (cost_ns + span_ns / 2.0)).clamp(20.0, 500.0);
        groups.extend(random_work(bench, span_ns / work_ns, count as usize, random)?);
    }
    // The same amount again and again: what varies now is the timer, not the work.
    for scale in [0.3, 0.7] {
        let work = (scale * top_ns / work_ns) as u64 + random.random_range(0..4_u64);
        let repeat = (0.1 * plan.interval_ns / (cost_ns + scale * top_ns)).clamp(10.0, 100.0) as u32;
        let deltas = bench.timer.intervals(&[work], repeat)?.pop().unwrap_or_default();
        groups.push(Intervals { work, deltas: deltas.into() });
    }
    Ok(false)
}

fn random_work(bench: &mut Bench, most: f64, count: usize, random: &mut StdRng) -> Answer<Vec<Intervals>> {
    let work: Vec<u64> = (0..count).map(|_| random.random_range(0..=most as u64)).collect();
    let rows = bench.timer.intervals(&work, 1)?;
    Ok(work
        .into_iter()
        .zip(rows)
        .map(|(work, row)| Intervals { work, deltas: SmallVec::from_slice(&row) })
        .collect())
}
