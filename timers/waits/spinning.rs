//! Waits that end computing.
//!
//! What ticks: the clock that is asked again and again, which is the system's monotonic one
//! ([`Common`]): by the same clock others are programmed, and it needs no rate found first. At what
//! granularity: that of a read, some 25 ns, or of a call of the scheduler where it is asked in
//! between (`yield`). Who may use them: any process. Caveats: `spin` takes a whole CPU and, without
//! a pause instruction in its loop, most of the core from a sibling thread; a thread that the
//! scheduler puts in between makes it late by milliseconds. The margins of `hybrid` and
//! `spin-sleep` are for a quiet Linux: where sleeps are later than that, so are they. Source:
//! [spin_sleep], whose margin is 125 µs on Linux and which gives the CPU away between two looks.
//!
//! [spin_sleep]: https://docs.rs/spin_sleep/1.3.3/spin_sleep/

use std::thread;
use std::time::Duration;

use super::method::{Countdown, Method, Periodic};
use super::{Means, WaitInfo};
use crate::os::Common;
use crate::subject::Answer;
use crate::{Ticks, Timer, Unavailable};

/// How much of a wait `hybrid` computes: sleeps that ask for so much less are back in time, by far
/// most of them. With the kernel's default slack of 50 µs they come 60 to 100 µs late.
const MARGIN_NS: u64 = 120_000;

/// Points in time of the clock.
struct SpinClock {
    clock: Common,
    ns_per_tick: f64,
    /// Where the last period ended, and how long one is.
    grid: (Ticks, u64),
}

impl SpinClock {
    fn open() -> Result<Self, Unavailable> {
        let unknown = || Unavailable::because("the unit of the system's clock is not known");
        let (clock, ns_per_tick) = (Common::open()?, Common::ns_per_tick().ok_or_else(unknown)?);
        Ok(Self {
            clock,
            ns_per_tick,
            grid: (Ticks(0), 0),
        })
    }

    #[inline(always)]
    fn now(&self) -> Ticks {
        self.clock.ticks(self.clock.read())
    }

    fn ticks(&self, nanoseconds: u64) -> u64 {
        (nanoseconds as f64 / self.ns_per_tick).ceil() as u64
    }

    fn after(&self, nanoseconds: u64) -> Ticks {
        Ticks(self.now().0.saturating_add(self.ticks(nanoseconds)))
    }

    #[inline(always)]
    fn until(&self, end: Ticks, meanwhile: impl Fn()) {
        while self.now() < end {
            meanwhile();
        }
    }

    fn sleep_and_spin(&self, end: Ticks) {
        let left_ns = end.since(self.now()).max(0) as f64 * self.ns_per_tick;
        let slept = (left_ns as u64).saturating_sub(MARGIN_NS);
        if slept > 0 {
            thread::sleep(Duration::from_nanos(slept));
        }
        self.until(end, || {});
    }

    fn start(&mut self, period_ns: u64) {
        self.grid = (self.now(), self.ticks(period_ns));
    }

    /// The end of the next period, whether it has passed or not.
    fn next(&mut self) -> Ticks {
        self.grid.0.0 = self.grid.0.0.saturating_add(self.grid.1);
        self.grid.0
    }
}

/// A loop of reads.
pub(crate) struct Spin(SpinClock);

impl Method for Spin {
    const INFO: WaitInfo = WaitInfo {
        id: "spin",
        label: "a loop that reads the clock",
        means: Means::Spins,
        unit_ns: 1,
        slack: false,
    };

    fn open() -> Result<Self, Unavailable> {
        SpinClock::open().map(Self)
    }
}

impl Countdown for Spin {
    fn wait(&mut self, nanoseconds: u64) {
        self.0.until(self.0.after(nanoseconds), || {});
    }
}

impl Periodic for Spin {
    fn start(&mut self, period_ns: u64) -> Answer<()> {
        self.0.start(period_ns);
        Ok(())
    }

    fn tick(&mut self) {
        let end = self.0.next();
        self.0.until(end, || {});
    }
}

/// A loop of reads that offers the CPU to others in between (`sched_yield`).
pub(crate) struct Yield(SpinClock);

impl Method for Yield {
    const INFO: WaitInfo = WaitInfo {
        id: "yield",
        label: "a loop of std::thread::yield_now()",
        ..Spin::INFO
    };

    fn open() -> Result<Self, Unavailable> {
        SpinClock::open().map(Self)
    }
}

impl Countdown for Yield {
    fn wait(&mut self, nanoseconds: u64) {
        self.0.until(self.0.after(nanoseconds), thread::yield_now);
    }
}

/// A sleep and then a loop of reads, for the last 120 µs.
pub(crate) struct Hybrid(SpinClock);

impl Method for Hybrid {
    const INFO: WaitInfo = WaitInfo {
        id: "hybrid",
        label: "std::thread::sleep(), the last 120 µs a loop that reads the clock",
        means: Means::Hybrid,
        unit_ns: 1,
        slack: true,
    };

    fn open() -> Result<Self, Unavailable> {
        SpinClock::open().map(Self)
    }
}

impl Countdown for Hybrid {
    fn wait(&mut self, nanoseconds: u64) {
        self.0.sleep_and_spin(self.0.after(nanoseconds));
    }
}

impl Periodic for Hybrid {
    fn start(&mut self, period_ns: u64) -> Answer<()> {
        self.0.start(period_ns);
        Ok(())
    }

    fn tick(&mut self) {
        let end = self.0.next();
        self.0.sleep_and_spin(end);
    }
}

/// `spin_sleep::sleep`.
pub(crate) struct SpinSleep;

impl Method for SpinSleep {
    const INFO: WaitInfo = WaitInfo {
        id: "spin-sleep",
        label: "spin_sleep::sleep()",
        ..Hybrid::INFO
    };

    fn open() -> Result<Self, Unavailable> {
        Ok(Self)
    }
}

impl Countdown for SpinSleep {
    fn wait(&mut self, nanoseconds: u64) {
        spin_sleep::sleep(Duration::from_nanos(nanoseconds));
    }
}
