//! The prober: measures one timer in one process. It times calls ([`time_calls`]) and searches for
//! the step ([`find_step`], and [`watch_steps`] for long steps). It runs in the process that reads the
//! timer or, for agents that answer single questions only, in the one that asks.

mod calibrate;
mod calls;
mod slow_steps;
mod steps;
mod watcher;

use timers::{Answer, Subject};

use estimators::cost;
use estimators::cost::singles::successive;
use estimators::statistics::median;
use estimators::trace::{Observations, Reference};

pub use calibrate::{REFERENCE_WATCH_MS, calibrate};
pub use calls::{CallsPlan, is_coarse, time_calls, time_calls_briefly};
use slow_steps::read_once;
pub use slow_steps::watch_steps;
pub use steps::{equal_intervals, find_step, measure_rate, random_intervals};
pub use timers::StepQuestion;
pub use watcher::{CoreState, Watcher};

/// Makes the question for the step of a timer after its calls were timed: by its declared tick
/// `ns_per_tick` or its rate by `clock`, and by the limits of the total time of the intervals and of the
/// longest work, in nanoseconds. Adds to `run` whether calls move the timer.
///
/// # Errors
/// When the timer refuses or its host is lost.
pub fn step_question(
    timer: &mut dyn Subject,
    ns_per_tick: Option<f64>,
    [clock, reference]: [&Reference; 2],
    [interval_ns, growth_ns]: [f64; 2],
    seed: u64,
    run: &mut Observations,
) -> Answer<StepQuestion> {
    let ns_per_tick = match ns_per_tick {
        None => measure_rate(timer, &clock.id, clock.ns_per_tick, TIMER_WATCH_MS)?,
        declared => declared,
    };
    let question = StepQuestion {
        ns_per_work: reference.ns_per_work,
        ns_per_tick,
        cost_ns: cost::approximate_cost_ns(run, reference),
        interval_ns,
        growth_ns,
        seed,
    };
    run.calls_between = call_between(timer, &reference.id, run, &question)?;
    Ok(question)
}

/// If successive readings of the timer move further than their cost explains, calls it between two
/// of its readings, which shows whether the calls move it.
fn call_between(
    timer: &mut dyn Subject,
    reference: &str,
    run: &Observations,
    question: &StepQuestion,
) -> Answer<Vec<(u64, [[i64; 2]; 2])>> {
    /// The largest interval between successive readings that their cost explains, as a multiple of
    /// it, and the time in nanoseconds that is added. *Judgement*: the reading is also stored.
    const MAX_INTERVAL: (f64, f64) = (2.0, 50.0);
    /// How far the timer should move, in nanoseconds: a question and its answer take far less.
    /// *Judgement*.
    const MOVED_NS: f64 = 2e6;
    let intervals = successive(&run.readings.values);
    let interval = median(intervals.iter().map(|ticks| *ticks as f64)).unwrap_or(0.0);
    let interval_ns = interval * question.ns_per_tick.unwrap_or(0.0);
    if interval_ns <= MAX_INTERVAL.0 * question.cost_ns + MAX_INTERVAL.1 {
        return Ok(Vec::new());
    }
    let many = (MOVED_NS / interval_ns).clamp(100.0, 1e5) as u64;
    let mut moved = |calls| {
        let first = read_once(timer)?;
        let took = timer.batches(reference, calls, 1)?.iter().sum();
        Ok([read_once(timer)?.wrapping_sub(first), took])
    };
    let pairs = (0..3).map(|_| Ok((many, [moved(0)?, moved(many)?])));
    pairs.collect()
}

/// Time for which a timer is compared with the reference to find its rate, in milliseconds.
/// *Judgement*: an error of 50 ns at the ends is 17 ppm, which no reported value shows.
const TIMER_WATCH_MS: u32 = 3;
