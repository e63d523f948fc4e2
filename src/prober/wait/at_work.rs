//! Waiting for slow clocks: those whose steps are longer than the work a run can afford. All of them wait together.

use rand::RngExt;
use rand::rngs::StdRng;
use timers::{Answer, Fault, Subject};

use crate::prober::bench::Bench;
use crate::prober::plan::Plan;
use crate::trace::{Intervals, Reference};

/// Steps after which nothing more is learned.
const ENOUGH_STEPS: usize = 48;
/// Steps of exactly one tick after which nothing more is learned: a step cannot be shorter than a tick.
const ENOUGH_TICKS: usize = 3;
/// Length of an interval, in nanoseconds: far below any step that comes here.
const INTERVAL_NS: f64 = 60_000.0;
/// Intervals in a question.
const REPEAT: u32 = 25;

/// Watches the timer on the bench until it stepped often enough or the time of the plan is over.
///
/// # Errors
/// As the subjects on the bench.
pub fn wait(
    bench: &mut Bench,
    reference: &Reference,
    plan: &Plan,
    random: &mut StdRng,
) -> Answer<Vec<Intervals>> {
    let mut groups = Vec::new();
    let (mut steps, mut ticks, mut zeros) = (0, 0, 0);
    let start = last(bench.reference.as_mut())?;
    let mut before = last(bench.timer.as_mut())?;
    // Should the reference stand still, the work itself says how much time has passed.
    let most_questions = (plan.slow_ns / (0.5 * INTERVAL_NS * f64::from(REPEAT))) as usize;
    loop {
        let work = (INTERVAL_NS / reference.ns_per_work * random.random_range(0.5..1.5)) as u64;
        let mut deltas = bench.timer.intervals(&[work], REPEAT)?.pop().unwrap_or_default();
        // What the timer moved between the intervals is one more of them, so that no step is missed.
        let reading = last(bench.timer.as_mut())?;
        let shown = deltas.iter().fold(0, |sum: i64, delta| sum.wrapping_add(*delta));
        let missed = reading.wrapping_sub(before).wrapping_sub(shown);
        deltas.extend((missed > 0).then_some(missed));
        before = reading;
        steps += deltas.iter().filter(|&&delta| delta > 0).count();
        ticks += deltas.iter().filter(|&&delta| delta == 1).count();
        zeros += deltas.iter().filter(|&&delta| delta == 0).count();
        groups.push(Intervals { work, deltas });
        let elapsed_ns = last(bench.reference.as_mut())?.wrapping_sub(start) as f64 * reference.ns_per_tick;
        let only_ticks = ticks == steps && ticks >= ENOUGH_TICKS && zeros > ticks;
        let over = elapsed_ns >= plan.slow_ns || groups.len() >= most_questions;
        // Readings made unique move by one tick at every read, which is no step.
        let enough = steps - ticks.min(steps) >= ENOUGH_STEPS || (zeros > 0 && steps >= ENOUGH_STEPS);
        if enough || only_ticks || over {
            return Ok(groups);
        }
    }
}

fn last(subject: &mut dyn Subject) -> Answer<i64> {
    subject.readings(1)?.pop().ok_or_else(|| Fault::Lost("it gave no reading".into()))
}
