//! Watching a slow timer while its thread sleeps, which disturbs no other timer: enough for a timer
//! that counts wall time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use smallvec::smallvec;
use timers::Answer;

use super::steps::{Steps, last};
use crate::campaign::sampling::Plan;
use crate::hosts::bench::Bench;
use crate::trace::{Intervals, Meanwhile, Moved, Reference};

/// How long it sleeps between two readings, in nanoseconds, give or take a half.
const NAP_NS: f64 = 2e6;

/// Watches the timer on the bench until it stepped often enough, the time of the plan is over, or
/// it is not waited for any more. Between two readings the process does nothing.
///
/// # Errors
/// As the subjects on the bench.
pub fn asleep(
    bench: &mut Bench,
    reference: &Reference,
    plan: &Plan,
    random: &mut StdRng,
    over: &AtomicBool,
) -> Answer<(Vec<Intervals>, Moved)> {
    let (mut groups, mut steps) = (Vec::new(), Steps::default());
    let mut read = || Ok((last(bench.timer.as_mut())?, last(bench.reference.as_mut())?));
    let begin = read()?;
    let mut before = begin;
    // Should the reference stand still, as in a world of its own, the naps themselves say how much
    // time has passed.
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
