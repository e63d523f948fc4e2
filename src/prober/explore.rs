//! What one fresh process is asked about its timer.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rand::RngExt;
use rand::rngs::StdRng;
use timers::Answer;

use crate::cost;
use crate::prober::bench::Bench;
use crate::prober::calibrate::{SHORT_WATCH_MS, watched_rate};
use crate::prober::connection::Connection;
use crate::prober::hosted;
use crate::prober::sampling::Plan;
use crate::prober::step_search::{StepQuestion, find_step};
use crate::prober::watch::SeenOfCore;
use crate::trace::{Batches, Reference, Run};

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

/// What makes an exploration shorter.
#[derive(Clone, Copy, Default)]
pub struct Shortcuts<'a> {
    /// Whether other processes time its calls as well: then these are timed as briefly as theirs.
    pub brief: bool,
    /// The host that answers many questions at once, and the id of the timer.
    pub host: Option<(&'a Rc<RefCell<Connection>>, &'a str)>,
    /// Whether other processes found that its steps are too long: they are not looked for again.
    pub slow: bool,
}

/// Questions the timer on the bench: cost first, then its step.
///
/// # Errors
/// As the subjects on the bench.
pub fn explore(
    bench: &mut Bench,
    reference: &Reference,
    plan: &Plan,
    random: &mut StdRng,
    shortcuts: Shortcuts,
) -> Answer<Exploration> {
    let at_once = match shortcuts
        .host
        .filter(|_| shortcuts.brief)
        .zip(bench.watch.as_mut())
    {
        Some(((connection, id), watch)) => {
            watch.once(&mut || hosted::calls(connection, id, reference, true))?
        }
        None => None,
    };
    let mut run = match at_once {
        Some((run, seen)) => run.seen(seen.core_hz, seen.unstable),
        None => {
            let mut run = Run::default();
            ask_calls(
                bench,
                reference,
                if shortcuts.brief { &Plan::BRIEF } else { plan },
                &mut run,
            )?;
            run.floor = bench
                .floor(run.batches.calls, run.batches.deltas.len() as u32)?
                .unwrap_or_default();
            run
        }
    };
    let (ns_per_tick, slow) = search(bench, reference, plan, random, shortcuts, &mut run)?;
    run.dropped = std::mem::take(&mut bench.dropped);
    Ok(Exploration {
        run,
        ns_per_tick,
        slow,
        dropped: BTreeMap::new(),
    })
}

/// Looks for the step of the timer on the bench, whose calls were timed: what its tick is, and
/// whether its steps are too long.
///
/// # Errors
/// As the subjects on the bench.
pub fn search(
    bench: &mut Bench,
    reference: &Reference,
    plan: &Plan,
    random: &mut StdRng,
    shortcuts: Shortcuts,
    run: &mut Run,
) -> Answer<(Option<f64>, bool)> {
    let ns_per_tick = match bench.ns_per_tick {
        Some(ns) => Some(ns),
        None => {
            let (timer, id) = (bench.timer.as_mut(), &bench.reference_id);
            watched_rate(timer, id, reference.ns_per_tick, SHORT_WATCH_MS)?
        }
    };
    let question = StepQuestion {
        ns_per_work: reference.ns_per_work,
        ns_per_tick,
        cost_ns: cost::rough_ns(run, reference),
        interval_ns: plan.interval_ns,
        growth_ns: plan.growth_ns,
        seed: random.random(),
    };
    let slow = match shortcuts {
        Shortcuts { slow: true, .. } => true,
        Shortcuts {
            host: Some((connection, id)),
            ..
        } => {
            let (intervals, slow) = hosted::steps(connection, id, question)?;
            run.intervals = intervals;
            slow
        }
        Shortcuts { host: None, .. } => {
            find_step(bench.timer.as_mut(), &question, &mut run.intervals)?
        }
    };
    Ok((ns_per_tick, slow))
}

/// Times calls of the timer on the bench, and nothing else: what tells how processes differ. All of
/// it is one window. The `floor` of a process is the same whatever timer is asked: the first one
/// finds it.
///
/// # Errors
/// As the subjects on the bench.
pub fn explore_calls(
    bench: &mut Bench,
    reference: &Reference,
    floor: &mut Option<Batches>,
) -> Answer<Run> {
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

/// Single calls, batches and successive readings.
fn ask_calls(bench: &mut Bench, reference: &Reference, plan: &Plan, run: &mut Run) -> Answer<()> {
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
    let singles = (plan.interval_ns / (cost_ns + 50.0))
        .clamp(f64::from(plan.singles) / 10.0, plan.singles.into());
    run.singles = bench.batches(1, singles as u32)?;
    let rare = cost::rare(run, reference);
    // At most one batch in eight is to hold a rare interruption.
    let undisturbed = if rare > 0.0 {
        0.13 / rare
    } else {
        f64::INFINITY
    };
    let calls = (BATCH_NS / cost_ns.max(0.1))
        .clamp(16.0, MOST_CALLS)
        .min(undisturbed)
        .max(8.0) as u64;
    // Short batches are quantised more coarsely, so there are more of them.
    let repeat = plan.batches * (64 / calls as u32).clamp(1, 4);
    run.batches = bench.batches(calls, repeat)?;
    for (calls, batches, most) in [
        (FEW_CALLS, &mut run.few, 4_000.0),
        (SOME_CALLS, &mut run.some, 800.0),
    ] {
        let affordable = 0.15 * plan.interval_ns / (calls as f64 * cost_ns + 50.0);
        let repeat = affordable.clamp(40.0, most) as u32;
        *batches = bench.batches(calls, repeat)?;
    }
    let readings = (0.2 * plan.interval_ns / (cost_ns + 20.0)).clamp(500.0, READINGS);
    run.readings = bench.readings(readings as u32)?;
    Ok(())
}

/// How long a batch should take, in nanoseconds: long against the step of most references, short
/// against interruptions. *Judgement*.
const BATCH_NS: f64 = 20_000.0;

/// Steps of a coarse reference that a batch spans.
/// *Judgement*: its ends are off by up to a step each.
const COARSE_STEPS: f64 = 8.0;

/// Whether a reference is known to move in steps too long for usual batches, as clocks of browsers
/// do.
pub(super) fn is_coarse(reference: &Reference) -> bool {
    reference.step_at_most.is_none() && COARSE_STEPS * reference.uncertainty_ns() > 2.0 * BATCH_NS
}

/// As [`ask_calls`], by a reference whose steps are long: batches that are longer. What single
/// calls tell is that none takes long.
fn ask_calls_coarsely(
    bench: &mut Bench,
    reference: &Reference,
    plan: &Plan,
    run: &mut Run,
) -> Answer<()> {
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
    run.batches = bench.batches(
        (batch_ns / cost_ns.max(0.1)).clamp(MOST_CALLS, MOST) as u64,
        repeat,
    )?;
    run.few = bench.batches(FEW_CALLS, FEW)?;
    run.some = bench.batches(SOME_CALLS, FEW)?;
    run.readings = bench.readings(READINGS as u32)?;
    Ok(())
}
