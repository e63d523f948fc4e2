//! Watching a slow timer while its thread works: all that can be done where it counts the time of a
//! CPU.

use rand::RngExt;
use rand::rngs::StdRng;
use timers::Answer;

use super::steps::{Steps, last};

use crate::campaign::sampling::Plan;
use crate::hosts::bench::Bench;
use crate::trace::{Intervals, Reference};

/// Length of an interval, in nanoseconds: far below any step that comes here.
const INTERVAL_NS: f64 = 60_000.0;
/// Intervals in a question.
const REPEAT: u32 = 25;

/// Watches the timer on the bench until it stepped often enough or the time of the plan is over.
///
/// # Errors
/// As the subjects on the bench.
pub fn at_work(
    bench: &mut Bench,
    reference: &Reference,
    plan: &Plan,
    random: &mut StdRng,
) -> Answer<Vec<Intervals>> {
    let mut groups = Vec::new();
    let mut steps = Steps::default();
    let start = last(bench.reference.as_mut())?;
    let mut before = last(bench.timer.as_mut())?;
    // Should the reference stand still, the work itself says how much time has passed.
    let most_questions = (plan.calls.slow_ns / (0.5 * INTERVAL_NS * f64::from(REPEAT))) as usize;
    loop {
        let work = (INTERVAL_NS / reference.ns_per_work * random.random_range(0.5..1.5)) as u64;
        let mut deltas = bench
            .timer
            .intervals(&[work], REPEAT)?
            .pop()
            .unwrap_or_default();
        // What the timer moved between the intervals is one more of them, so that no step is
        // missed.
        let reading = last(bench.timer.as_mut())?;
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
            last(bench.reference.as_mut())?.wrapping_sub(start) as f64 * reference.ns_per_tick;
        let over = elapsed_ns >= plan.calls.slow_ns || groups.len() >= most_questions;
        if over || steps.are_enough() {
            return Ok(groups);
        }
    }
}
