//! What a read adds to the code around it: pieces of work of known kinds, without a read and with
//! one in their middle.
//!
//! What ticks: the reference, read before a row of pieces and after it. The row without a read is
//! the same loop, compiled for the timer that reads nothing, so that the two differ by the read and
//! what keeps its result. How it lies: a core runs ahead of a read that waits for nothing and
//! finishes much of its work meanwhile; how much depends on the work, which is why there are
//! several kinds.

mod pieces;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use self::pieces::{Lines, Plan};
use crate::affinity::{Pinned, cpus_before_pinning, current_cpu};
use crate::arch::{afresh, keep, opaque, opaque_count};
use crate::deadline::kernel_time;
use crate::null::Null;
use crate::subject::{Answer, Fault};
use crate::{Ticks, Timer, work};

/// The code around a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum Context {
    /// Sixteen multiplications, each of which waits for the one before: the units that do them are
    /// idle most of the time.
    Latency,
    /// Four such chains side by side, so that the units that multiply have little left.
    Throughput,
    /// A load that misses the caches of the core, at an address that follows from the one before.
    Memory,
    /// Some three hundred instructions of calls through pointers, loads and branches, all predicted
    /// well; pieces do not wait for each other, so that the core works on several at a time.
    Ahead,
    /// The first read after a millisecond of other work.
    Cold,
    /// As [`Throughput`](Self::Throughput), while every other allowed CPU reads the same timer.
    Contended,
}

impl Context {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Latency,
        Self::Throughput,
        Self::Memory,
        Self::Ahead,
        Self::Cold,
        Self::Contended,
    ];

    /// Those that a program meets all the time: reported as a range.
    pub const USUAL: [Self; 4] = [Self::Latency, Self::Throughput, Self::Memory, Self::Ahead];
}

/// How long the other work takes before a read that is cold, in nanoseconds.
const COLD_NS: f64 = 1e6;

/// Rows of pieces of work with a read in each, compiled for each timer.
pub(crate) trait Pieces: Sync {
    /// One chain.
    fn chain(&self, turns: u64);
    /// Four chains.
    fn chains(&self, turns: u64);
    /// A miss a turn; the read stands between the load and what waits for it.
    fn chase(&self, lines: &Lines, turns: u64);
    /// A row of two plans a turn, the read between them.
    fn run_ahead(&self, plan: &Plan, turns: u64);
    /// A read alone.
    fn once(&self);
}

/// As [`Subject::adds`](crate::Subject::adds).
pub(crate) fn pairs(
    timer: &(impl Pieces + ?Sized),
    now: &dyn Fn() -> Ticks,
    context: Context,
    [turns, repeat]: [u32; 2],
) -> Answer<Vec<[i64; 2]>> {
    let (turns, null): (_, &dyn Pieces) = (u64::from(turns), &Null);
    let throughput = || rows(now, repeat, &|| null.chains(turns), &|| timer.chains(turns));
    Ok(match context {
        Context::Latency => rows(now, repeat, &|| null.chain(turns), &|| timer.chain(turns)),
        Context::Throughput => throughput(),
        Context::Memory => {
            let lines = Lines::of_this_process();
            rows(now, repeat, &|| null.chase(lines, turns), &|| {
                timer.chase(lines, turns)
            })
        }
        Context::Ahead => {
            let plan = Plan::of_this_process();
            rows(now, repeat, &|| null.run_ahead(plan, turns), &|| {
                timer.run_ahead(plan, turns)
            })
        }
        Context::Cold => cold(timer, now, repeat),
        Context::Contended => with_readers(timer, throughput)?,
    })
}

/// How long a row takes without and with, in turn.
fn rows(
    now: &dyn Fn() -> Ticks,
    repeat: u32,
    without: &dyn Fn(),
    with: &dyn Fn(),
) -> Vec<[i64; 2]> {
    let time = |row: &dyn Fn()| {
        let first = now();
        row();
        now().since(first)
    };
    in_turn(repeat, &|| time(without), &|| time(with))
}

/// How long each takes, in turn, so that whatever changes meanwhile changes both; each is first as
/// often as the other. What comes first finds cold caches and is not kept.
fn in_turn(repeat: u32, without: &dyn Fn() -> i64, with: &dyn Fn() -> i64) -> Vec<[i64; 2]> {
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
    /// One chain.
    fn chain(&self, turns: u64) {
        let (mut state, mut left) = (opaque(3), opaque_count(turns));
        while left != 0 {
            for _ in 0..8 {
                state = opaque(state.wrapping_mul(work::MULTIPLIER));
            }
            keep(&afresh(self).read());
            for _ in 0..8 {
                state = opaque(state.wrapping_mul(work::MULTIPLIER));
            }
            left -= 1;
        }
        opaque(state);
    }

    /// Four chains.
    fn chains(&self, turns: u64) {
        let [mut a, mut b, mut c, mut d] = [3, 5, 7, 9].map(opaque);
        let mut left = opaque_count(turns);
        macro_rules! eight {
            () => {
                for _ in 0..8 {
                    a = opaque(a.wrapping_mul(work::MULTIPLIER));
                    b = opaque(b.wrapping_mul(work::MULTIPLIER));
                    c = opaque(c.wrapping_mul(work::MULTIPLIER));
                    d = opaque(d.wrapping_mul(work::MULTIPLIER));
                }
            };
        }
        while left != 0 {
            eight!();
            keep(&afresh(self).read());
            eight!();
            left -= 1;
        }
        let _ = [a, b, c, d].map(opaque);
    }

    fn chase(&self, lines: &Lines, turns: u64) {
        let (mut at, mut left) = (lines.begin(), opaque_count(turns));
        while left != 0 {
            let loaded = lines.load(at);
            keep(&afresh(self).read());
            at = opaque(Lines::next(at, loaded));
            left -= 1;
        }
        lines.end(at);
    }

    fn run_ahead(&self, plan: &Plan, turns: u64) {
        let (mut sum, mut left) = (opaque(0), opaque_count(turns));
        while left != 0 {
            let row = left as usize;
            sum = sum.wrapping_add(plan.outer(row));
            keep(&afresh(self).read());
            sum = sum.wrapping_add(plan.inner(row));
            left -= 1;
        }
        opaque(sum);
    }

    fn once(&self) {
        keep(&afresh(self).read());
    }
}

/// Single reads after other work, and as often nothing in their place.
fn cold(timer: &(impl Pieces + ?Sized), now: &dyn Fn() -> Ticks, repeat: u32) -> Vec<[i64; 2]> {
    /// Turns that tell how many make a millisecond.
    const PILOT: u64 = 1_000;
    let (lines, plan) = (Lines::of_this_process(), Plan::of_this_process());
    let null: &dyn Pieces = &Null;
    let other_work = |turns: u64| {
        null.chase(lines, turns);
        null.run_ahead(plan, turns);
    };
    other_work(PILOT);
    let began = kernel_time();
    other_work(PILOT);
    let pilot_ns = began
        .zip(kernel_time())
        .map_or(COLD_NS, |(began, ended)| ended.saturating_sub(began) as f64);
    let turns = (COLD_NS / pilot_ns.max(1.0) * PILOT as f64).clamp(1.0, 1e6) as u64;
    let time = |once: &dyn Fn()| {
        other_work(turns);
        // The reference is not to be cold: its first reads stand outside.
        now();
        now();
        let first = now();
        once();
        now().since(first)
    };
    in_turn(repeat, &|| time(&|| null.once()), &|| {
        time(&|| timer.once())
    })
}

/// Does it while a thread on each other CPU that this process may use reads the timer again and
/// again.
fn with_readers<R>(timer: &(impl Pieces + ?Sized), measure: impl FnOnce() -> R) -> Answer<R> {
    let here = current_cpu();
    let others: Vec<u32> = cpus_before_pinning()
        .into_iter()
        .filter(|&cpu| Some(cpu) != here)
        .collect();
    let Some(_here) = here.and_then(Pinned::to).filter(|_| !others.is_empty()) else {
        return Err(Fault::Refused(
            "there is no other CPU that could read the timer meanwhile".into(),
        ));
    };
    let (done, ready) = (AtomicBool::new(false), AtomicUsize::new(0));
    let read_on = |cpu: u32| {
        let _pinned = Pinned::to(cpu);
        ready.fetch_add(1, Ordering::Relaxed);
        while !done.load(Ordering::Relaxed) {
            timer.once();
        }
    };
    thread::scope(|scope| {
        let begun = others
            .iter()
            .map(|&cpu| thread::Builder::new().spawn_scoped(scope, move || read_on(cpu)));
        let begun = begun.filter(Result::is_ok).count();
        while ready.load(Ordering::Relaxed) < begun {
            thread::yield_now();
        }
        let measured = measure();
        done.store(true, Ordering::Relaxed);
        if begun == 0 {
            return Err(Fault::Refused("no second thread can be started".into()));
        }
        Ok(measured)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::Common;

    const ALL: [Context; 6] = [
        Context::Latency,
        Context::Throughput,
        Context::Memory,
        Context::Ahead,
        Context::Cold,
        Context::Contended,
    ];

    #[test]
    fn rows_take_time_in_each_context() {
        let clock = Common::open().expect("every system has it");
        let now = || clock.ticks(clock.read());
        for context in ALL {
            match pairs(&clock, &now, context, [64, 4]) {
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

    /// A read that does as much as the work itself.
    struct Doubled;

    impl crate::Described for Doubled {
        const INFO: crate::Info = Null::INFO;
    }

    impl Timer for Doubled {
        type Reading = usize;

        fn open() -> Result<Self, crate::Unavailable> {
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
        let clock = Common::open().expect("every system has it");
        let now = || clock.ticks(clock.read());
        for context in [
            Context::Latency,
            Context::Throughput,
            Context::Memory,
            Context::Ahead,
        ] {
            let mut pairs =
                pairs(&Doubled, &now, context, [32, 21]).expect("it needs one CPU only");
            pairs.sort_by_key(|[without, with]| with - without);
            let [without, with] = pairs[10];
            assert!(with > without, "{context:?}: {pairs:?}");
        }
    }
}
