//! Measures a timer in one fresh process: times its calls, then searches for its step.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rand::RngExt;
use rand::rngs::StdRng;
use timers::Answer;

use crate::hosts::bench::Bench;
use crate::hosts::calls::{CallsPlan, time_calls};
use crate::hosts::connection::Connection;
use crate::hosts::hosted;
use crate::hosts::step_search::{StepQuestion, find_step};

use crate::campaign::calibrate::{TIMER_WATCH_MS, measure_rate};
use crate::campaign::sampling::Plan;
use crate::cost;
use crate::trace::{Reference, Run};

/// The observations of one process, and the results that decide what later processes do.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// The observations.
    pub run: Run,
    /// Nanoseconds per tick of the timer, declared or measured.
    pub ns_per_tick: Option<f64>,
    /// Whether the steps of the timer are too long to be found by a process like this one.
    pub slow: bool,
    /// Number of dropped windows that the runtime itself reported as disturbed, by cause.
    pub dropped: BTreeMap<String, u32>,
}

/// Options that make an exploration shorter.
#[derive(Clone, Copy, Default)]
pub struct Shortcuts<'a> {
    /// Whether brief processes (which measure many timers each) also time the calls of this timer;
    /// this process then times them as briefly as those do.
    pub brief: bool,
    /// The connection to a host that answers many questions in one request, and the id of the
    /// timer; `None` if the host does not support that.
    pub host: Option<(&'a Rc<RefCell<Connection>>, &'a str)>,
    /// Whether earlier processes found the steps of the timer too long; the search is then skipped.
    pub slow: bool,
}

/// Measures the timer on the bench: its cost first, then its step.
///
/// # Errors
/// The errors of the subjects on the bench.
pub fn explore(
    bench: &mut Bench,
    reference: &Reference,
    plan: &Plan,
    random: &mut StdRng,
    shortcuts: Shortcuts,
) -> Answer<Exploration> {
    let answered = match shortcuts
        .host
        .filter(|_| shortcuts.brief)
        .zip(bench.watch.as_mut())
    {
        Some(((connection, id), watch)) => {
            watch.ask_once(&mut || hosted::measure_calls(connection, id, reference, true))?
        }
        None => None,
    };
    let mut run = match answered {
        Some((run, core)) => {
            bench.add_width(core.width);
            run.with_core_state(core.core_hz, core.unstable)
        }
        None => {
            let mut run = Run::default();
            time_calls(
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
    let (ns_per_tick, slow) = search_step(bench, reference, plan, random, shortcuts, &mut run)?;
    run.dropped = std::mem::take(&mut bench.dropped);
    Ok(Exploration {
        run,
        ns_per_tick,
        slow,
        dropped: BTreeMap::new(),
    })
}

/// Searches for the step of the timer on the bench after its calls were timed, and adds the
/// intervals to `run`. Returns the nanoseconds per tick of the timer if known, and whether its
/// steps are too long to be found.
///
/// # Errors
/// The errors of the subjects on the bench.
pub fn search_step(
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
            measure_rate(timer, id, reference.ns_per_tick, TIMER_WATCH_MS)?
        }
    };
    let question = StepQuestion {
        ns_per_work: reference.ns_per_work,
        ns_per_tick,
        cost_ns: cost::approximate_cost_ns(run, reference),
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
            let (intervals, slow) = hosted::measure_steps(connection, id, question)?;
            run.intervals = intervals;
            slow
        }
        Shortcuts { host: None, .. } => {
            find_step(bench.timer.as_mut(), &question, &mut run.intervals)?
        }
    };
    Ok((ns_per_tick, slow))
}
