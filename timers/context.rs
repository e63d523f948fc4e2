//! Measures the time that a read of a timer adds to the code around it: a loop over pieces of work
//! is timed without a read, and with a read in the middle of each piece.
//!
//! What ticks: the reference, read before and after the loop. The loop without a read is the same
//! code compiled for the timer that reads nothing, so that both differ only by the read and the use
//! of its result. How it lies: the core executes later instructions while the read is still under
//! way, which hides a part of the time of the read. The size of this part depends on the work;
//! therefore there are several kinds of work ([`Context`]).

mod pieces;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use self::pieces::{EqualWords, QueryPlan};
use crate::affinity::{Pinned, cpus_before_pinning, current_cpu};
use crate::arch::{keep, opaque, opaque_reference};
use crate::deadline::kernel_time;
use crate::null::Null;
use crate::{Answer, Context, Fault, Ticks, Timer, work};

/// The time of the other work before a cold read, in nanoseconds.
const WORK_BEFORE_COLD_READ_NS: f64 = 1e6;

/// The loops over pieces of work with a read in each piece, compiled for each timer.
pub(crate) trait Pieces: Sync {
    /// Runs the loop of [`Context::Latency`].
    fn chain(&self, turns: u64);
    /// Runs the loop of [`Context::Throughput`].
    fn chains(&self, turns: u64);
    /// Runs the loop of [`Context::Memory`]. The read is between a load and the use of the loaded
    /// value.
    fn chase(&self, words: &EqualWords, turns: u64);
    /// Runs the loop of [`Context::Ahead`]. The read is between the outer and the inner chain of
    /// the plan.
    fn run_ahead(&self, plan: &QueryPlan, turns: u64);
    /// Reads the timer once, without other work.
    fn read_once(&self);
}

/// Answers [`Subject::adds`](crate::Subject::adds) for one context: the times of the loop without
/// and with a read, `repeat` pairs in ticks of the reference that `now` reads.
pub(crate) fn time_pairs(
    timer: &(impl Pieces + ?Sized),
    now: &dyn Fn() -> Ticks,
    context: Context,
    [turns, repeat]: [u32; 2],
) -> Answer<Vec<[i64; 2]>> {
    let (turns, null): (_, &dyn Pieces) = (u64::from(turns), &Null);
    let throughput = || time_loops(now, repeat, &|| null.chains(turns), &|| timer.chains(turns));
    Ok(match context {
        Context::Latency => time_loops(now, repeat, &|| null.chain(turns), &|| timer.chain(turns)),
        Context::Throughput => throughput(),
        Context::Memory => {
            let words = EqualWords::shared();
            time_loops(now, repeat, &|| null.chase(words, turns), &|| {
                timer.chase(words, turns)
            })
        }
        Context::Ahead => {
            let plan = QueryPlan::shared();
            time_loops(now, repeat, &|| null.run_ahead(plan, turns), &|| {
                timer.run_ahead(plan, turns)
            })
        }
        Context::Cold => time_cold_reads(timer, now, repeat),
        Context::Contended => with_readers(timer, throughput)?,
    })
}

/// Times the loop without a read and the loop with a read, alternately.
fn time_loops(
    now: &dyn Fn() -> Ticks,
    repeat: u32,
    without: &dyn Fn(),
    with: &dyn Fn(),
) -> Vec<[i64; 2]> {
    let time = |run_loop: &dyn Fn()| {
        let first = now();
        run_loop();
        now().since(first)
    };
    alternate(repeat, &|| time(without), &|| time(with))
}

/// Calls both measurements alternately, so that changes of the machine affect both; each is first
/// equally often. Returns `repeat` pairs. The first pair finds cold caches and is dropped.
fn alternate(repeat: u32, without: &dyn Fn() -> i64, with: &dyn Fn() -> i64) -> Vec<[i64; 2]> {
    without();
    with();
    let pair = |number: u32| {
        if number.is_multiple_of(2) {
            let without = without();
            [without, with()]
        } else {
            let with = with();
            [without(), with]
        }
    };
    (0..repeat).map(pair).collect()
}

impl<T: Timer> Pieces for T {
    fn chain(&self, turns: u64) {
        let mut state = opaque(3);
        work::repeat(turns, |_| {
            for _ in 0..8 {
                state = opaque(state.wrapping_mul(work::MULTIPLIER));
            }
            keep(&opaque_reference(self).read());
            for _ in 0..8 {
                state = opaque(state.wrapping_mul(work::MULTIPLIER));
            }
        });
        opaque(state);
    }

    fn chains(&self, turns: u64) {
        let [mut a, mut b, mut c, mut d] = [3, 5, 7, 9].map(opaque);
        macro_rules! multiply_eight_times {
            () => {
                for _ in 0..8 {
                    a = opaque(a.wrapping_mul(work::MULTIPLIER));
                    b = opaque(b.wrapping_mul(work::MULTIPLIER));
                    c = opaque(c.wrapping_mul(work::MULTIPLIER));
                    d = opaque(d.wrapping_mul(work::MULTIPLIER));
                }
            };
        }
        work::repeat(turns, |_| {
            multiply_eight_times!();
            keep(&opaque_reference(self).read());
            multiply_eight_times!();
        });
        let _ = [a, b, c, d].map(opaque);
    }

    fn chase(&self, words: &EqualWords, turns: u64) {
        let mut state = words.first_state();
        work::repeat(turns, |_| {
            let loaded = words.load(state);
            keep(&opaque_reference(self).read());
            state = opaque(EqualWords::next_state(state, loaded));
        });
        words.continue_at(state);
    }

    fn run_ahead(&self, plan: &QueryPlan, turns: u64) {
        let mut sum = opaque(0);
        work::repeat(turns, |left| {
            let row = left as usize;
            sum = sum.wrapping_add(plan.outer(row));
            keep(&opaque_reference(self).read());
            sum = sum.wrapping_add(plan.inner(row));
        });
        opaque(sum);
    }

    fn read_once(&self) {
        keep(&opaque_reference(self).read());
    }
}

/// Times single reads after other work ([`Context::Cold`]), alternately with no read in their
/// place.
fn time_cold_reads(
    timer: &(impl Pieces + ?Sized),
    now: &dyn Fn() -> Ticks,
    repeat: u32,
) -> Vec<[i64; 2]> {
    /// The turns of a pilot run, from whose time the number of turns that take 1 ms is computed.
    const PILOT_TURNS: u64 = 1_000;
    let (words, plan) = (EqualWords::shared(), QueryPlan::shared());
    let null: &dyn Pieces = &Null;
    let other_work = |turns: u64| {
        null.chase(words, turns);
        null.run_ahead(plan, turns);
    };
    other_work(PILOT_TURNS);
    let start = kernel_time();
    other_work(PILOT_TURNS);
    let pilot_ns = start
        .zip(kernel_time())
        .map_or(WORK_BEFORE_COLD_READ_NS, |(start, end)| {
            end.saturating_sub(start) as f64
        });
    let turns =
        (WORK_BEFORE_COLD_READ_NS / pilot_ns.max(1.0) * PILOT_TURNS as f64).clamp(1.0, 1e6) as u64;
    let time = |read_once: &dyn Fn()| {
        other_work(turns);
        // Two reads outside the measurement, so that the reference itself is not cold.
        now();
        now();
        let first = now();
        read_once();
        now().since(first)
    };
    alternate(repeat, &|| time(&|| null.read_once()), &|| {
        time(&|| timer.read_once())
    })
}

/// Calls `measure` while one thread on each other CPU of this process reads the timer in a loop.
fn with_readers<R>(timer: &(impl Pieces + ?Sized), measure: impl FnOnce() -> R) -> Answer<R> {
    let here = current_cpu();
    let others: Vec<u32> = cpus_before_pinning()
        .into_iter()
        .filter(|&cpu| Some(cpu) != here)
        .collect();
    let Some(_pinned_here) = here.and_then(Pinned::to).filter(|_| !others.is_empty()) else {
        return Err(Fault::Refused(
            "contended reads need a second CPU; this process may use one only".into(),
        ));
    };
    let (done, ready) = (AtomicBool::new(false), AtomicUsize::new(0));
    let read_on = |cpu: u32| {
        let _pinned = Pinned::to(cpu);
        ready.fetch_add(1, Ordering::Relaxed);
        while !done.load(Ordering::Relaxed) {
            timer.read_once();
        }
    };
    thread::scope(|scope| {
        let readers = others
            .iter()
            .map(|&cpu| thread::Builder::new().spawn_scoped(scope, move || read_on(cpu)));
        let started = readers.filter(Result::is_ok).count();
        while ready.load(Ordering::Relaxed) < started {
            thread::yield_now();
        }
        let measured = measure();
        done.store(true, Ordering::Relaxed);
        if started == 0 {
            return Err(Fault::Refused(
                "contended reads need a second thread, which cannot be started".into(),
            ));
        }
        Ok(measured)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::CommonClock;

    #[test]
    fn loops_take_time_in_each_context() {
        let clock = CommonClock::open().expect("every system has this clock");
        let now = || clock.ticks(clock.read());
        for context in Context::ALL {
            match time_pairs(&clock, &now, context, [64, 4]) {
                Ok(pairs) => {
                    assert_eq!(pairs.len(), 4, "{context:?}");
                    assert!(
                        pairs.iter().flatten().all(|&ticks| ticks >= 0),
                        "{context:?}: {pairs:?}"
                    );
                }
                Err(why) => assert!(context == Context::Contended, "{context:?}: {why}"),
            }
        }
    }

    /// A timer whose read does more work than a piece of any context.
    struct SlowRead;

    impl crate::Described for SlowRead {
        const INFO: crate::Info = Null::INFO;
    }

    impl Timer for SlowRead {
        type Reading = usize;

        fn open() -> crate::Available<Self> {
            Ok(Self)
        }

        #[inline(always)]
        fn read(&self) -> usize {
            (0..4_096).fold(opaque(3), |state, _| {
                opaque(state.wrapping_mul(work::MULTIPLIER))
            })
        }

        fn ticks(&self, reading: usize) -> Ticks {
            Ticks(reading as u64)
        }
    }

    #[test]
    fn long_read_takes_longer() {
        let clock = CommonClock::open().expect("every system has this clock");
        let now = || clock.ticks(clock.read());
        for context in Context::USUAL {
            let mut pairs =
                time_pairs(&SlowRead, &now, context, [32, 21]).expect("one CPU is enough");
            pairs.sort_by_key(|[without, with]| with - without);
            let [without, with] = pairs[10];
            assert!(with > without, "{context:?}: {pairs:?}");
        }
    }
}
