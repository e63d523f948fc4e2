//! Watches a slow timer until it has stepped often enough, while its process computes or sleeps
//! between readings.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use smallvec::smallvec;
use timers::{Answer, Fault, Subject};

use crate::campaign::sampling::Plan;
use crate::hosts::bench::Bench;
use crate::trace::{Advance, Intervals, Reference, ThreadActivity};

/// Mean length of the intervals, in nanoseconds: far below the steps of any slow timer. An interval
/// lies between two readings; its actual length varies by ±50 %.
const INTERVAL_NS: f64 = 60_000.0;
/// Intervals in one question.
const INTERVALS_PER_QUESTION: u32 = 25;

/// Watches the timer on the bench while its process computes, until the timer has stepped often
/// enough or the time of the plan is over.
///
/// # Errors
/// The errors of the subjects on the bench.
pub fn watch_computing(
    bench: &mut Bench,
    reference: &Reference,
    plan: &Plan,
    random: &mut StdRng,
) -> Answer<Vec<Intervals>> {
    let mut groups = Vec::new();
    let mut steps = Steps::default();
    let start = read_once(bench.reference.as_mut())?;
    let mut before = read_once(bench.timer.as_mut())?;
    // The number of questions also limits the time, because the reference may not move.
    let question_ns = 0.5 * INTERVAL_NS * f64::from(INTERVALS_PER_QUESTION);
    let max_questions = (plan.calls.slow_ns / question_ns) as usize;
    loop {
        let work = (INTERVAL_NS / reference.ns_per_work * random.random_range(0.5..1.5)) as u64;
        let mut deltas = bench
            .timer
            .intervals(&[work], INTERVALS_PER_QUESTION)?
            .pop()
            .unwrap_or_default();
        // The timer may also move between the intervals. The sum of these movements is added as
        // another interval, so that no step is missed.
        let reading = read_once(bench.timer.as_mut())?;
        let within_intervals = deltas
            .iter()
            .fold(0, |sum: i64, delta| sum.wrapping_add(*delta));
        let missed = reading.wrapping_sub(before).wrapping_sub(within_intervals);
        deltas.extend((missed > 0).then_some(missed));
        before = reading;
        steps.count(&deltas);
        groups.push(Intervals {
            work,
            deltas: deltas.into(),
        });
        let elapsed_ns =
            read_once(bench.reference.as_mut())?.wrapping_sub(start) as f64 * reference.ns_per_tick;
        let is_over = elapsed_ns >= plan.calls.slow_ns || groups.len() >= max_questions;
        if is_over || steps.are_enough() {
            return Ok(groups);
        }
    }
}

/// Mean sleep between two readings, in nanoseconds; the actual sleep varies by ±50 %.
const NAP_NS: f64 = 2e6;

/// Watches the timer on the bench while its process sleeps between readings, until the timer has
/// stepped often enough, the time of the plan is over, or `stop` is set. Returns the intervals, and
/// how far the timer moved in all of them.
///
/// # Errors
/// The errors of the subjects on the bench.
pub fn watch_sleeping(
    bench: &mut Bench,
    reference: &Reference,
    plan: &Plan,
    random: &mut StdRng,
    stop: &AtomicBool,
) -> Answer<(Vec<Intervals>, Advance)> {
    let (mut groups, mut steps) = (Vec::new(), Steps::default());
    let mut read = || {
        Ok((
            read_once(bench.timer.as_mut())?,
            read_once(bench.reference.as_mut())?,
        ))
    };
    let begin = read()?;
    let mut before = begin;
    // The number of naps also limits the time, because the reference may not move, as in a
    // simulation.
    let max_naps = (plan.calls.slow_ns / NAP_NS) as usize;
    loop {
        timers::pause(Duration::from_nanos(
            (NAP_NS * random.random_range(0.5..1.5)) as u64,
        ));
        let now = read()?;
        let napped_ns = now.1.wrapping_sub(before.1) as f64 * reference.ns_per_tick;
        let deltas = smallvec![now.0.wrapping_sub(before.0)];
        steps.count(&deltas);
        groups.push(Intervals {
            work: (napped_ns / reference.ns_per_work) as u64,
            deltas,
        });
        before = now;
        let moved = now.1.wrapping_sub(begin.1);
        let is_over =
            moved as f64 * reference.ns_per_tick >= plan.calls.slow_ns || groups.len() >= max_naps;
        if is_over || steps.are_enough() || stop.load(Ordering::Relaxed) {
            let moved = Advance {
                activity: ThreadActivity::Sleep,
                timer: now.0.wrapping_sub(begin.0),
                reference: moved,
            };
            return Ok((groups, moved));
        }
    }
}

/// Number of steps that are enough to find their length.
const SUFFICIENT_STEPS: usize = 48;
/// Number of steps that are enough if each is exactly one tick long: no step is shorter than a
/// tick.
const SUFFICIENT_TICKS: usize = 2;

/// The numbers of intervals in which a timer moved, in which it moved by exactly one tick, and in
/// which it did not move.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    moved: usize,
    by_one_tick: usize,
    unmoved: usize,
}

impl Steps {
    fn count(&mut self, deltas: &[i64]) {
        self.moved += deltas.iter().filter(|&&delta| delta > 0).count();
        self.by_one_tick += deltas.iter().filter(|&&delta| delta == 1).count();
        self.unmoved += deltas.iter().filter(|&&delta| delta == 0).count();
    }

    /// Returns whether the length of a step can be found from the intervals so far.
    fn are_enough(&self) -> bool {
        let only_single_ticks = self.by_one_tick == self.moved
            && self.by_one_tick >= SUFFICIENT_TICKS
            && self.unmoved > self.by_one_tick;
        // A timer that makes its readings unique moves by one tick at every read, which is no step.
        let many_steps = self.moved - self.by_one_tick >= SUFFICIENT_STEPS
            || (self.unmoved > 0 && self.moved >= SUFFICIENT_STEPS);
        only_single_ticks || many_steps
    }
}

/// Reads the subject once.
fn read_once(subject: &mut dyn Subject) -> Answer<i64> {
    subject
        .readings(1)?
        .pop()
        .ok_or_else(|| Fault::Lost("it gave no reading".into()))
}
