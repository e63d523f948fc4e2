//! What one fresh process is asked about its timer.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rand::RngExt;
use rand::rngs::StdRng;
use timers::Answer;

use crate::hosts::bench::Bench;
use crate::hosts::calls::{CallsPlan, ask_calls};
use crate::hosts::connection::Connection;
use crate::hosts::hosted;
use crate::hosts::step_search::{StepQuestion, find_step};

use crate::campaign::calibrate::{SHORT_WATCH_MS, watched_rate};
use crate::campaign::sampling::Plan;
use crate::cost;
use crate::trace::{Reference, Run};

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
                if shortcuts.brief {
                    &CallsPlan::BRIEF
                } else {
                    &plan.calls
                },
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
        interval_ns: plan.calls.interval_ns,
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
