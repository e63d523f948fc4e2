//! Waits that end in a busy loop.
//!
//! What ticks: the system's monotonic clock ([`CommonClock`]), which the loop reads: programs
//! commonly use this clock, and its rate is known. At what granularity: the cost of a read, about
//! 25 ns, or of a scheduler call (`yield`). Who may use them: any process. Caveats: `spin` occupies
//! a CPU and, as its loop has no pause instruction, takes most of the core from a sibling hardware
//! thread; preemption by another thread makes it late by milliseconds. The margins of `hybrid` and
//! `spin-sleep` suit an idle Linux: if sleeps are later than the margin, these waits are late too.
//! Source: [spin_sleep], whose margin is 125 µs on Linux and which yields between two reads.
//!
//! [spin_sleep]: https://docs.rs/spin_sleep/1.3.3/spin_sleep/

use std::thread;
use std::time::Duration;

use super::WaitActivity;
use super::method::{WaitMethod, methods};
use crate::deadline::open_with_unit;
use crate::os::CommonClock;
use crate::os::linux_waits::check_thread_sleep;
use crate::{Available, Ticks, Timer};

/// The length of the busy loop at the end of a `hybrid` wait, in nanoseconds. The sleep before the
/// loop is shorter by this length, so that a late wake-up rarely makes the wait late: sleeps are 60
/// to 100 µs late with the kernel's default slack of 50 µs.
const MARGIN_NS: u64 = 120_000;

/// A margin, in nanoseconds, longer than any wait.
const NEVER_SLEEP: u64 = u64::MAX;

methods! { "all systems", all();
    "spin", "a loop that reads the clock", WAITS_AND_PERIODS, Spinning::<NEVER_SLEEP, false>::new(), activity: WaitActivity::Spins;
    "yield", "a loop of std::thread::yield_now()", WAITS, Spinning::<NEVER_SLEEP, true>::new(), activity: WaitActivity::Spins;
    "hybrid", "std::thread::sleep(), the last 120 µs a loop that reads the clock", WAITS_AND_PERIODS, Spinning::<MARGIN_NS, false>::new(), activity: WaitActivity::Hybrid;
    #[cfg(feature = "spin_sleep")]
    "spin-sleep", "spin_sleep::sleep()", WAITS, check_thread_sleep().map(|()| super::standard::by(spin_sleep::sleep)), activity: WaitActivity::Hybrid;
}

/// Sleeps for all but the last `MARGIN_NS`, then runs a loop that reads the clock; if `YIELDS`, the
/// loop also calls `sched_yield` between reads.
struct Spinning<const MARGIN_NS: u64, const YIELDS: bool> {
    clock: CommonClock,
    ns_per_tick: f64,
    /// The start of the periods.
    start: Ticks,
}

impl<const MARGIN_NS: u64, const YIELDS: bool> Spinning<MARGIN_NS, YIELDS> {
    fn new() -> Available<Self> {
        if MARGIN_NS != NEVER_SLEEP {
            check_thread_sleep()?;
        }
        let (clock, ns_per_tick) = open_with_unit()?;
        Ok(Self {
            clock,
            ns_per_tick,
            start: Ticks(0),
        })
    }

    #[inline(always)]
    fn now(&self) -> Ticks {
        self.clock.ticks(self.clock.read())
    }

    /// Waits until `nanoseconds` after `begin`, which may have passed.
    #[inline(always)]
    fn wait_since(&self, begin: Ticks, nanoseconds: u64) -> i32 {
        let length = (nanoseconds as f64 / self.ns_per_tick).ceil() as u64;
        let end = Ticks(begin.0.saturating_add(length));
        if MARGIN_NS != NEVER_SLEEP {
            let left_ns = end.since(self.now()).max(0) as f64 * self.ns_per_tick;
            let sleep_ns = (left_ns as u64).saturating_sub(MARGIN_NS);
            if sleep_ns > 0 {
                thread::sleep(Duration::from_nanos(sleep_ns));
            }
        }
        while self.now() < end {
            if YIELDS {
                thread::yield_now();
            }
        }
        0
    }
}

impl<const MARGIN_NS: u64, const YIELDS: bool> WaitMethod for Spinning<MARGIN_NS, YIELDS> {
    fn wait(&mut self, nanoseconds: u64) -> i32 {
        self.wait_since(self.now(), nanoseconds)
    }

    fn start(&mut self, _period_ns: u64) -> Option<i32> {
        self.start = self.now();
        Some(0)
    }

    fn tick(&mut self, due_ns: u64) -> i32 {
        self.wait_since(self.start, due_ns)
    }
}
