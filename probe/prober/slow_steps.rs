//! Watches a slow timer, whose steps are longer than any work of [`find_step`](super::find_step),
//! until it has stepped often enough, while its process computes or sleeps between readings.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::{Rng, RngExt};
use timers::{Answer, Fault, Subject};

use estimators::trace::{Advance, Differences, Reference, ThreadActivity};

/// Mean length of the intervals of a process that computes, in nanoseconds: far below the steps of
/// any slow timer. An interval lies between two readings; its actual length varies by ±50 %.
const INTERVAL_NS: f64 = 60_000.0;
/// Differences in one question.
const INTERVALS_PER_QUESTION: u32 = 25;
/// The time after which a timer that has not moved at all stands still, in nanoseconds.
/// *Judgement*: the longest usual step is one second.
const STILL_NS: f64 = 1.1e9;
/// Mean sleep between two readings, in nanoseconds; the actual sleep varies by ±50 %.
const NAP_NS: f64 = 2e6;

/// Watches a timer while its process computes or, if `sleeps`, sleeps between
/// readings, until the timer has stepped often enough, `slow_ns` nanoseconds are over, or
/// [`STILL_NS`] in which it did not move, or `stop` is set. `clock` is the reference. Returns the
/// intervals, and how far the timer moved in all of them.
///
/// # Errors
/// When the timer or the reference refuses or their host is lost.
pub fn watch_steps(
    [timer, clock]: &mut [Box<dyn Subject + '_>; 2],
    reference: &Reference,
    slow_ns: f64,
    sleeps: bool,
    random: &mut dyn Rng,
    stop: &AtomicBool,
) -> Answer<(Vec<Differences>, Advance)> {
    let (mut groups, mut steps) = (Vec::new(), StepCounts::default());
    // The timer is read between two reads of the reference, because the process may wait for its CPU
    // between two reads.
    let mut read_enclosed = |timer: &mut dyn Subject| {
        let first = read_once(clock.as_mut())?;
        Ok([first, read_once(timer)?, read_once(clock.as_mut())?])
    };
    let start = read_enclosed(timer.as_mut())?;
    let mut before = start;
    // The number of turns also limits the time, because the reference may not move, as in a
    // simulation.
    let (activity, shortest_turn_ns) = if sleeps {
        (ThreadActivity::Sleep, NAP_NS)
    } else {
        let question_ns = 0.5 * INTERVAL_NS * f64::from(INTERVALS_PER_QUESTION);
        (ThreadActivity::Spin, question_ns)
    };
    let max_turns = (slow_ns / shortest_turn_ns) as usize;
    for turn in 1.. {
        let length = random.random_range(0.5..1.5);
        let mut add = |work, deltas: Vec<i64>| {
            steps.count(&deltas);
            let deltas = deltas.into();
            groups.push(Differences { work, deltas });
        };
        let mut within_intervals = 0;
        if sleeps {
            timers::pause(Duration::from_nanos((NAP_NS * length) as u64));
        } else {
            let work = (INTERVAL_NS / reference.ns_per_work * length) as u64;
            let answer = timer.intervals(&[work], INTERVALS_PER_QUESTION)?;
            let deltas = answer.concat();
            within_intervals = deltas.iter().copied().fold(0, i64::wrapping_add);
            add(work, deltas);
        }
        let now = read_enclosed(timer.as_mut())?;
        // The timer may also move between the intervals. The sum of these movements is another
        // interval, so that no step is missed; it is no longer than the whole turn.
        let moved = now[1].wrapping_sub(before[1]);
        let between = if sleeps {
            moved
        } else {
            moved.wrapping_sub(within_intervals).max(0)
        };
        let longest = reference.ns(before[0], now[2]) / reference.ns_per_work;
        add(longest as u64, vec![between]);
        before = now;
        let limit_ns = if steps.moved == 0 {
            STILL_NS.min(slow_ns)
        } else {
            slow_ns
        };
        let is_over = reference.ns(start[2], now[2]) >= limit_ns || turn >= max_turns;
        if is_over || steps.are_enough() || stop.load(Ordering::Relaxed) {
            break;
        }
    }
    let moved = Advance {
        activity,
        timer: before[1].wrapping_sub(start[1]),
        reference: before[2].wrapping_sub(start[2]),
    };
    Ok((groups, moved))
}

/// Number of steps that are enough to find their length.
const SUFFICIENT_STEPS: usize = 48;
/// Number of steps that are enough if each is exactly one tick long: no step is shorter than a
/// tick.
const SUFFICIENT_TICKS: usize = 2;

/// The numbers of intervals in which a timer moved, in which it moved by exactly one tick, and in
/// which it did not move.
#[derive(Clone, Copy, Debug, Default)]
struct StepCounts {
    moved: usize,
    by_one_tick: usize,
    unmoved: usize,
}

impl StepCounts {
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
pub fn read_once(subject: &mut dyn Subject) -> Answer<i64> {
    subject
        .readings(1)?
        .pop()
        .ok_or_else(|| Fault::Lost("it gave no reading".into()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use rand::SeedableRng;
    use rand::rngs::SmallRng;

    use super::*;

    /// Nanoseconds of a step of the timer.
    const STEP_NS: i64 = 10_000_000;

    /// A clock with this step, read by a process that often waits 33 ms for its CPU.
    struct Delayed {
        now: Rc<Cell<i64>>,
        reads: i64,
        step: i64,
    }

    impl Subject for Delayed {
        fn intervals(&mut self, _: &[u64], _: u32) -> Answer<Vec<Vec<i64>>> {
            Ok(vec![vec![0; 25]])
        }

        fn batches(&mut self, _: &str, _: u64, _: u32) -> Answer<Vec<i64>> {
            Ok(Vec::new())
        }

        fn readings(&mut self, _: u32) -> Answer<Vec<i64>> {
            self.reads += 1;
            let delay = if self.reads % 5 == 0 {
                33_000_000
            } else {
                700_000
            };
            self.now.set(self.now.get() + delay);
            Ok(vec![self.now.get() / self.step])
        }
    }

    /// No interval is longer than its recorded length, which alone shows how many steps it may hold.
    #[test]
    fn delays_lengthen_no_short_interval() {
        let now = Rc::new(Cell::new(0));
        let mut clocks = [(STEP_NS, 3), (1, 0)].map(|(step, reads)| {
            let now = Rc::clone(&now);
            Box::new(Delayed { now, reads, step }) as Box<dyn Subject>
        });
        let reference = Reference {
            ns_per_tick: 1.0,
            ns_per_work: 1.0,
            step: 1.0,
            ..Reference::default()
        };
        let (mut random, stop) = (SmallRng::seed_from_u64(1), AtomicBool::new(false));
        let mut watch = |sleeps| {
            let watched = watch_steps(&mut clocks, &reference, 1.1e9, sleeps, &mut random, &stop);
            watched.unwrap().0
        };
        let (computed, slept) = (watch(false), watch(true));
        for group in computed.iter().chain(&slept) {
            for &ticks in &group.deltas {
                let most = group.work as i64 / STEP_NS + 1;
                assert!(ticks <= most, "{ticks} steps in {} ns", group.work);
            }
        }
        assert!(slept.iter().any(|group| group.deltas[0] > 1));
    }
}
