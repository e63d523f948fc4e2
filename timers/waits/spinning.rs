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
use crate::subject::Answer;
use crate::{Available, Ticks, Timer};

/// The length of the busy loop at the end of a `hybrid` wait, in nanoseconds. The sleep before the
/// loop is shorter by this length, so that a late wake-up rarely makes the wait late: sleeps are 60
/// to 100 µs late with the kernel's default slack of 50 µs.
const MARGIN_NS: u64 = 120_000;

methods! { "all systems", all();
    Spinning<NEVER_SLEEP, false>, "spin", "a loop that reads the clock", WAITS_AND_PERIODS, activity: WaitActivity::Spins;
    Spinning<NEVER_SLEEP, true>, "yield", "a loop of std::thread::yield_now()", WAITS, activity: WaitActivity::Spins;
    Spinning<MARGIN_NS, false>, "hybrid", "std::thread::sleep(), the last 120 µs a loop that reads the clock", WAITS_AND_PERIODS, activity: WaitActivity::Hybrid;
    #[cfg(feature = "spin_sleep")]
    SpinSleep, "spin-sleep", "spin_sleep::sleep()", WAITS, activity: WaitActivity::Hybrid;
}

/// A margin, in nanoseconds, longer than any wait.
const NEVER_SLEEP: u64 = u64::MAX;

/// Sleeps for all but the last `MARGIN_NS`, then runs a loop that reads the clock; if `YIELDS`, the
/// loop also calls `sched_yield` between reads.
struct Spinning<const MARGIN_NS: u64, const YIELDS: bool> {
    clock: CommonClock,
    ns_per_tick: f64,
    /// The scheduled end of the last period.
    last: Ticks,
}

impl<const MARGIN_NS: u64, const YIELDS: bool> Spinning<MARGIN_NS, YIELDS> {
    #[inline(always)]
    fn now(&self) -> Ticks {
        self.clock.ticks(self.clock.read())
    }

    /// The time `nanoseconds` after `begin`.
    fn end_after(&self, begin: Ticks, nanoseconds: u64) -> Ticks {
        let ticks = (nanoseconds as f64 / self.ns_per_tick).ceil() as u64;
        Ticks(begin.0.saturating_add(ticks))
    }

    /// Waits until `end`.
    #[inline(always)]
    fn wait_until(&self, end: Ticks) {
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
    }
}

impl<const MARGIN_NS: u64, const YIELDS: bool> WaitMethod for Spinning<MARGIN_NS, YIELDS> {
    fn open(label: &'static str) -> Available<Self> {
        if MARGIN_NS != NEVER_SLEEP {
            check_thread_sleep(label)?;
        }
        let (clock, ns_per_tick) = open_with_unit()?;
        Ok(Self {
            clock,
            ns_per_tick,
            last: Ticks(0),
        })
    }

    fn wait(&mut self, nanoseconds: u64) {
        self.wait_until(self.end_after(self.now(), nanoseconds));
    }

    fn start(&mut self, _period_ns: u64) -> Answer<bool> {
        self.last = self.now();
        Ok(true)
    }

    /// Waits for the end of the next period, counted from the scheduled end of the last one, even
    /// if that time has already passed.
    fn tick(&mut self, period_ns: u64) {
        self.last = self.end_after(self.last, period_ns);
        self.wait_until(self.last);
    }
}

#[cfg(feature = "spin_sleep")]
super::standard::stateless_methods! {
    /// `spin_sleep::sleep`.
    SpinSleep if check_thread_sleep, |span| spin_sleep::sleep(span);
}
