//! Sleep primitives of the standard library, which wait again after signals themselves, and waits
//! that end in a busy loop.
//!
//! What ticks: for a busy loop the system's monotonic clock ([`CommonClock`]), which it reads: programs
//! commonly use this clock, and its rate is known. At what granularity: the cost of a read, about
//! 25 ns. Who may use them: any process. Caveats: `spin` occupies a CPU and, as its loop has no pause
//! instruction, takes most of the core from a sibling hardware thread; preemption by another thread
//! makes it late by milliseconds. The margin of `hybrid` suits an idle Linux: if sleeps are later than
//! the margin, it is late too. The crate `spin_sleep` waits so, with a margin of 125 µs on Linux.

use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

use super::WaitActivity;
use super::method::{WaitMethod, methods};
use crate::deadline::check_common_clock;
use crate::kernel_time::open_with_unit;
use crate::os::CommonClock;
use crate::os::linux_waits::{check_thread_deadlines, check_thread_sleep};
use crate::{Available, Ticks, Timer};

// `all()`: on all systems. The checks matter on Linux only: std panics where a sandbox refuses its system call.
methods! { all();
    "std-sleep", "std::thread::sleep()", check_thread_sleep().map(|()| sleep);
    "std-condvar-wait-timeout", "std::sync::Condvar::wait_timeout()", check_thread_deadlines().map(|()| condition());
    "spin", "a loop that reads the clock", Spinning::<false>::new(), activity: WaitActivity::Spins;
    "hybrid", "std::thread::sleep(), the last 120 µs a loop that reads the clock", check_thread_sleep().and_then(|()| Spinning::<true>::new()), activity: WaitActivity::Hybrid;
}

fn sleep(nanoseconds: u64) -> i32 {
    thread::sleep(Duration::from_nanos(nanoseconds));
    0
}

/// Waits for a condition variable that is never notified.
fn condition() -> impl WaitMethod {
    let (never, condition) = (Mutex::new(()), Condvar::new());
    move |nanoseconds| {
        // No other thread locks the mutex, so it cannot be poisoned.
        if let Ok(guard) = never.lock() {
            let _ = condition.wait_timeout(guard, Duration::from_nanos(nanoseconds));
        }
        0
    }
}

/// A loop that reads the clock; if `SLEEPS`, it sleeps first.
struct Spinning<const SLEEPS: bool> {
    clock: CommonClock,
    ns_per_tick: f64,
    start: Ticks,
}

impl<const SLEEPS: bool> Spinning<SLEEPS> {
    fn new() -> Available<Self> {
        check_common_clock()?;
        let (clock, ns_per_tick) = open_with_unit()?;
        let start = Ticks(0);
        Ok(Self {
            clock,
            ns_per_tick,
            start,
        })
    }

    #[inline(always)]
    fn now(&self) -> Ticks {
        self.clock.ticks(self.clock.read())
    }
}

impl<const SLEEPS: bool> WaitMethod for Spinning<SLEEPS> {
    fn start(&mut self, _first_ns: u64, _period_ns: u64) -> Option<i32> {
        self.start = self.now();
        Some(0)
    }

    fn tick(&mut self, due_ns: u64) -> i32 {
        /// The length of the loop after a sleep, in nanoseconds: the sleep is shorter by this length, so
        /// that a late wake-up rarely makes the wait late. Sleeps are 60 to 100 µs late with the
        /// kernel's default slack of 50 µs.
        const MARGIN_NS: u64 = 120_000;
        let length = (due_ns as f64 / self.ns_per_tick).ceil() as u64;
        let end = Ticks(self.start.0.saturating_add(length));
        if SLEEPS {
            let left_ns = end.since(self.now()).max(0) as f64 * self.ns_per_tick;
            if let Some(sleep_ns) = (left_ns as u64).checked_sub(MARGIN_NS) {
                sleep(sleep_ns);
            }
        }
        while self.now() < end {}
        0
    }
}
