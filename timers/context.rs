//! Measures the time that a read of a timer adds to the code around it: a loop over pieces of work
//! is timed without a read, and with a read in the middle of each piece.
//!
//! What ticks: the reference, read before and after the loop. The loop without a read is the same
//! code compiled for the timer that reads nothing, so that both differ only by the read and the use
//! of its result. How it lies: the core executes later instructions while the read is still under
//! way, which hides a part of the time of the read. The size of this part depends on the work;
//! therefore there are two kinds of work: a chain of multiplications, and a query plan ([`Context`]).

mod pieces;

use self::pieces::QueryPlan;
use crate::arch::{keep, opaque, opaque_reference};
use crate::null::Null;
use crate::{Answer, Context, Fault, Ticks, Timer, work};

/// The loops over pieces of work with a read in each piece, compiled for each timer.
pub(crate) trait Pieces: Sync {
    /// Runs the loop of [`Context::Latency`].
    fn chain(&self, turns: u64);
    /// Runs the loop of [`Context::Ahead`]. The read is between the outer and the inner chain of
    /// the plan.
    fn run_ahead(&self, plan: &QueryPlan, turns: u64);
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
    Ok(match context {
        Context::Latency => time_loops(now, repeat, &|| null.chain(turns), &|| timer.chain(turns)),
        Context::Ahead => {
            let plan = QueryPlan::shared();
            time_loops(now, repeat, &|| null.run_ahead(plan, turns), &|| {
                timer.run_ahead(plan, turns)
            })
        }
        Context::Throughput | Context::Memory | Context::Cold | Context::Contended => {
            return Err(Fault::Refused(
                "this agent measures reads in the contexts latency and ahead only".into(),
            ));
        }
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
            let is_measured = [Context::Latency, Context::Ahead].contains(&context);
            match time_pairs(&clock, &now, context, [64, 4]) {
                Ok(pairs) => {
                    assert!(is_measured && pairs.len() == 4, "{context:?}: {pairs:?}");
                    assert!(
                        pairs.iter().flatten().all(|&ticks| ticks >= 0),
                        "{context:?}: {pairs:?}"
                    );
                }
                Err(why) => assert!(!is_measured, "{context:?}: {why}"),
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
        for context in [Context::Latency, Context::Ahead] {
            let mut pairs =
                time_pairs(&SlowRead, &now, context, [32, 21]).expect("one CPU is enough");
            pairs.sort_by_key(|[without, with]| with - without);
            let [without, with] = pairs[10];
            assert!(with > without, "{context:?}: {pairs:?}");
        }
    }
}
