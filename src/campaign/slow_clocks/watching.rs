//! Watches a slow timer until it stepped often enough, while the process works or sleeps between
//! readings.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use smallvec::smallvec;
use timers::{Answer, Fault, Subject};

use crate::campaign::sampling::Plan;
use crate::hosts::bench::Bench;
use crate::trace::{Intervals, Meanwhile, Moved, Reference};

/// Length of an interval, in nanoseconds: far below the steps of any slow timer.
const INTERVAL_NS: f64 = 60_000.0;
/// Intervals in a question.
const REPEAT: u32 = 25;

/// Watches the timer on the bench, with the process working, until it stepped often enough or the
/// time of the plan is over.
///
/// # Errors
/// The errors of the subjects on the bench.
pub fn at_work(
    bench: &mut Bench,
    reference: &Reference,
    plan: &Plan,
    random: &mut StdRng,
) -> Answer<Vec<Intervals>> {
    let mut groups = Vec::new();
    let mut steps = Steps::default();
    let start = read_once(bench.reference.as_mut())?;
    let mut before = read_once(bench.timer.as_mut())?;
    // If the reference stands still, the amount of work bounds the elapsed time.
    let most_questions = (plan.calls.slow_ns / (0.5 * INTERVAL_NS * f64::from(REPEAT))) as usize;
    loop {
        let work = (INTERVAL_NS / reference.ns_per_work * random.random_range(0.5..1.5)) as u64;
        let mut deltas = bench
            .timer
            .intervals(&[work], REPEAT)?
            .pop()
            .unwrap_or_default();
        // The movement of the timer between the intervals is added as another interval, so that no
        // step is missed.
        let reading = read_once(bench.timer.as_mut())?;
        let shown = deltas
            .iter()
            .fold(0, |sum: i64, delta| sum.wrapping_add(*delta));
        let missed = reading.wrapping_sub(before).wrapping_sub(shown);
        deltas.extend((missed > 0).then_some(missed));
        before = reading;
        steps.count(&deltas);
        groups.push(Intervals {
            work,
            deltas: deltas.into(),
        });
        let elapsed_ns =
            read_once(bench.reference.as_mut())?.wrapping_sub(start) as f64 * reference.ns_per_tick;
        let over = elapsed_ns >= plan.calls.slow_ns || groups.len() >= most_questions;
        if over || steps.are_enough() {
            return Ok(groups);
        }
    }
}

/// Mean sleep between two readings, in nanoseconds; the actual sleep varies by ±50 %.
const NAP_NS: f64 = 2e6;

/// Watches the timer on the bench, with the process sleeping between readings, until it stepped
/// often enough, the time of the plan is over, or `over` is set.
///
/// # Errors
/// The errors of the subjects on the bench.
pub fn watch_asleep(
    bench: &mut Bench,
    reference: &Reference,
    plan: &Plan,
    random: &mut StdRng,
    over: &AtomicBool,
) -> Answer<(Vec<Intervals>, Moved)> {
    let (mut groups, mut steps) = (Vec::new(), Steps::default());
    let mut read = || {
        Ok((
            read_once(bench.timer.as_mut())?,
            read_once(bench.reference.as_mut())?,
        ))
    };
    let begin = read()?;
    let mut before = begin;
    // If the reference stands still, as in a simulated world, the number of naps bounds the elapsed
    // time.
    let most_naps = (plan.calls.slow_ns / NAP_NS) as usize;
    loop {
        thread::sleep(Duration::from_nanos(
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
        let is_long =
            moved as f64 * reference.ns_per_tick >= plan.calls.slow_ns || groups.len() >= most_naps;
        if is_long || steps.are_enough() || over.load(Ordering::Relaxed) {
            let moved = Moved {
                meanwhile: Meanwhile::Sleep,
                timer: now.0.wrapping_sub(begin.0),
                reference: moved,
            };
            return Ok((groups, moved));
        }
    }
}

/// Steps that are sufficient to find their length.
const SUFFICIENT_STEPS: usize = 48;
/// Steps of exactly one tick that are sufficient: a step cannot be shorter than a tick.
const SUFFICIENT_TICKS: usize = 2;

/// Counts movements of a timer: all, those by one tick, and intervals without movement.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    all: usize,
    ticks: usize,
    zeros: usize,
}

impl Steps {
    fn count(&mut self, deltas: &[i64]) {
        self.all += deltas.iter().filter(|&&delta| delta > 0).count();
        self.ticks += deltas.iter().filter(|&&delta| delta == 1).count();
        self.zeros += deltas.iter().filter(|&&delta| delta == 0).count();
    }

    fn are_enough(&self) -> bool {
        let only_ticks =
            self.ticks == self.all && self.ticks >= SUFFICIENT_TICKS && self.zeros > self.ticks;
        // A timer that makes its readings unique moves by one tick at every read, which is no step.
        let enough = self.all - self.ticks >= SUFFICIENT_STEPS
            || (self.zeros > 0 && self.all >= SUFFICIENT_STEPS);
        only_ticks || enough
    }
}

/// Returns a new reading.
fn read_once(subject: &mut dyn Subject) -> Answer<i64> {
    subject
        .readings(1)?
        .pop()
        .ok_or_else(|| Fault::Lost("it gave no reading".into()))
}
