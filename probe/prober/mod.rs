//! The prober: measures one timer in one process. It times calls ([`time_calls`]) and searches for
//! the step ([`search_step`], and [`watch_steps`] for long steps).
//!
//! The timers of the process are on a [`Bench`]. The runner asks them one question after the other,
//! unless the process has a [`Prober`] of its own: it then takes the same measurements by itself.

mod bench;
mod calibrate;
mod calls;
mod slow_steps;
mod steps;

use rand::{Rng, RngExt, SeedableRng};
use timers::Answer;

use estimators::cost;
use estimators::cost::singles::successive;
use estimators::statistics::median;
use estimators::trace::{Observations, Reference};

pub use bench::{Bench, CoreState, Prober, Watcher};
pub use calibrate::{REFERENCE_WATCH_MS, calibrate};
pub use calls::{CallsPlan, is_coarse, time_calls, time_calls_briefly};
use slow_steps::read_once;
pub use slow_steps::watch_steps;
pub use steps::{equal_intervals, find_step, measure_rate, random_intervals};
pub use timers::StepQuestion;

/// The result of a search for the step of a timer in one process.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Nanoseconds per tick of the timer, declared or measured, if known.
    pub ns_per_tick: Option<f64>,
    /// Whether the steps are too long to be found by such a process.
    pub slow: bool,
}

/// Searches for the step of the timer on the bench after its calls were timed, and adds the
/// intervals to `run`. `limits` are the total time of the intervals and the longest work, in
/// nanoseconds. If earlier processes found the steps too long (`slow`), the search is skipped.
///
/// # Errors
/// When a timer of the bench refuses or their host is lost.
pub fn search_step<R: Rng + SeedableRng>(
    bench: &mut Bench,
    reference: &Reference,
    [interval_ns, growth_ns]: [f64; 2],
    random: &mut R,
    slow: bool,
    run: &mut Observations,
) -> Answer<Search> {
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
        interval_ns,
        growth_ns,
        seed: random.random(),
    };
    run.calls_between = call_between(bench, run, question.cost_ns, ns_per_tick)?;
    let slow = slow
        || match &mut bench.prober {
            Some(prober) => prober.steps(&question, &mut run.intervals)?,
            None => {
                let random = &mut R::seed_from_u64(question.seed);
                find_step(bench.timer.as_mut(), &question, random, &mut run.intervals)?
            }
        };
    Ok(Search { ns_per_tick, slow })
}

/// If successive readings of the timer move further than their cost explains, calls it between two
/// of its readings, which shows whether the calls move it.
fn call_between(
    bench: &mut Bench,
    run: &Observations,
    cost_ns: f64,
    ns_per_tick: Option<f64>,
) -> Answer<Vec<(u64, [[i64; 2]; 2])>> {
    /// The largest interval between successive readings that their cost explains, as a multiple of
    /// it, and the time in nanoseconds that is added. *Judgement*: the reading is also stored.
    const MAX_INTERVAL: (f64, f64) = (2.0, 50.0);
    /// How far the timer should move, in nanoseconds: a question and its answer take far less.
    /// *Judgement*.
    const MOVED_NS: f64 = 2e6;
    let intervals = successive(&run.readings.values);
    let interval = median(intervals.iter().map(|ticks| *ticks as f64)).unwrap_or(0.0);
    let interval_ns = interval * ns_per_tick.unwrap_or(0.0);
    if interval_ns <= MAX_INTERVAL.0 * cost_ns + MAX_INTERVAL.1 {
        return Ok(Vec::new());
    }
    let many = (MOVED_NS / interval_ns).clamp(100.0, 1e5) as u64;
    let timer = bench.timer.as_mut();
    let mut moved = |calls| {
        let first = read_once(timer)?;
        let took = timer.batches(&bench.reference_id, calls, 1)?.iter().sum();
        Ok([read_once(timer)?.wrapping_sub(first), took])
    };
    let pairs = (0..3).map(|_| Ok((many, [moved(0)?, moved(many)?])));
    pairs.collect()
}

/// Time for which a timer is compared with the reference to find its rate, in milliseconds.
/// *Judgement*: an error of 50 ns at the ends is 17 ppm, which no reported value shows.
pub const TIMER_WATCH_MS: u32 = 3;
