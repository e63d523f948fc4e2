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

use super::method::{Method, row};
use super::standard::spans;
use super::{Answers, Means, WaitEntry};
use crate::os::Common;
use crate::subject::Answer;
use crate::{Ticks, Timer, Unavailable};

/// How much of a wait `hybrid` computes: sleeps that ask for so much less are back in time, by far
/// most of them. With the kernel's default slack of 50 µs they come 60 to 100 µs late.
const MARGIN_NS: u64 = 120_000;

pub(crate) const ALL: &[WaitEntry] = &[
    computing::<Spinning<NEVER_SLEEP, false>>(
        "spin",
        "a loop that reads the clock",
        Means::Spins,
        Answers::LOOP,
    ),
    computing::<Spinning<NEVER_SLEEP, true>>(
        "yield",
        "a loop of std::thread::yield_now()",
        Means::Spins,
        Answers::WAITS,
    ),
    computing::<Spinning<MARGIN_NS, false>>(
        "hybrid",
        "std::thread::sleep(), the last 120 µs a loop that reads the clock",
        Means::Hybrid,
        Answers::LOOP,
    ),
    computing::<SpinSleep>(
        "spin-sleep",
        "spin_sleep::sleep()",
        Means::Hybrid,
        Answers::WAITS,
    ),
];

const fn computing<T: Method>(
    id: &'static str,
    label: &'static str,
    means: Means,
    answers: Answers,
) -> WaitEntry {
    let mut row = row::<T>(id, label, answers);
    row.info.means = means;
    row.info.slack = matches!(means, Means::Hybrid);
    row
}

/// A margin that no wait is longer than.
const NEVER_SLEEP: u64 = u64::MAX;

/// A sleep for all but the margin, then a loop of reads, which may offer the CPU to others in
/// between (`sched_yield`).
struct Spinning<const MARGIN_NS: u64, const YIELDS: bool> {
    clock: Common,
    ns_per_tick: f64,
    /// Where the last period ended.
    last: Ticks,
}

impl<const MARGIN_NS: u64, const YIELDS: bool> Spinning<MARGIN_NS, YIELDS> {
    #[inline(always)]
    fn now(&self) -> Ticks {
        self.clock.ticks(self.clock.read())
    }

    fn after(&self, begin: Ticks, nanoseconds: u64) -> Ticks {
        let ticks = (nanoseconds as f64 / self.ns_per_tick).ceil() as u64;
        Ticks(begin.0.saturating_add(ticks))
    }

    #[inline(always)]
    fn until(&self, end: Ticks) {
        if MARGIN_NS != NEVER_SLEEP {
            let left_ns = end.since(self.now()).max(0) as f64 * self.ns_per_tick;
            let slept = (left_ns as u64).saturating_sub(MARGIN_NS);
            if slept > 0 {
                thread::sleep(Duration::from_nanos(slept));
            }
        }
        while self.now() < end {
            if YIELDS {
                thread::yield_now();
            }
        }
    }
}

impl<const MARGIN_NS: u64, const YIELDS: bool> Method for Spinning<MARGIN_NS, YIELDS> {
    fn open(_label: &'static str) -> Result<Self, Unavailable> {
        let unknown = || Unavailable::because("the unit of the system's clock is not known");
        Ok(Self {
            clock: Common::open()?,
            ns_per_tick: Common::ns_per_tick().ok_or_else(unknown)?,
            last: Ticks(0),
        })
    }

    fn wait(&mut self, nanoseconds: u64) {
        self.until(self.after(self.now(), nanoseconds));
    }

    fn start(&mut self, _period_ns: u64) -> Answer<()> {
        self.last = self.now();
        Ok(())
    }

    /// The next period ends where it does, whether that has passed or not.
    fn tick(&mut self, period_ns: u64) {
        self.last = self.after(self.last, period_ns);
        self.until(self.last);
    }
}

spans! {
    /// `spin_sleep::sleep`.
    SpinSleep, |span| spin_sleep::sleep(span);
}
