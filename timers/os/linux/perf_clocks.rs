//! Counters of the kernel's perf events, for the thread that opens them.
//!
//! What ticks: `perf-task-clock` the nanoseconds the thread ran, as the scheduler counts them;
//! `perf-cycles` and `rdpmc-cycles` the clock cycles of the core while the thread ran on it, so at
//! whatever frequency it has at the moment and not at all while the thread sleeps. A cycle's length
//! is not declared, hence no `ns_per_tick`. The first two are fetched by `read(2)`, a system call;
//! the third by the instruction `rdpmc` in user mode, with the recipe that the kernel publishes for
//! it ([perf_event_open(2)], "The mmap layout").
//!
//! Who may read them: the value of kernel.perf_event_paranoid decides. At 2, the default, an
//! unprivileged thread may count itself in user mode only, above that nothing (where a distribution
//! has patched that in). Virtual machines and containers often offer no hardware counters at all.
//! `rdpmc` is for x86 and for the thread that opened it.
//!
//! How they lie: where the kernel's own cycles may not be counted, those spent inside `read(2)` are
//! missing, so the timer moves by less than its own cost. Out-of-order execution blurs `rdpmc` as
//! it does `rdtsc`. On CPUs of two kinds of cores the counter belongs to one kind. The events are
//! pinned: a counter that were lent out in turns would stand still unnoticed. Another thread that
//! used `rdpmc` would read the counter of whatever CPU it is on.
//!
//! [perf_event_open(2)]: https://man7.org/linux/man-pages/man2/perf_event_open.2.html

use crate::entry::clocks;
use crate::{Counted, Family, Properties, ReadsBy};

const TASK: Properties = Properties {
    family: Some(Family::PerfEvent),
    ..Properties::THREAD
};
/// Cycles of the thread, which are no time: their length changes with the frequency of the core.
const CYCLES: Properties = Properties {
    counts: Some(Counted::ThreadCycles),
    ..TASK
};
const RDPMC: Properties = Properties {
    reads_by: Some(ReadsBy::Instruction),
    ..CYCLES.unfenced()
};

// The other event is read by the same system call as cycles, and needs no counter of the hardware.
clocks! { "Linux", all(target_os = "linux", any(target_pointer_width = "64", target_arch = "x86"));
    CountedEvent<false>, "perf-task-clock", "read(PERF_COUNT_SW_TASK_CLOCK)", Some(1.0), TASK;
    CountedEvent<true>, "perf-cycles", "read(PERF_COUNT_HW_CPU_CYCLES)", None, CYCLES.with_variant("perf-task-clock");
    RdpmcCycles, "rdpmc-cycles", "rdpmc (PERF_COUNT_HW_CPU_CYCLES)", None, RDPMC;
}

#[cfg(all(
    target_os = "linux",
    any(target_pointer_width = "64", target_arch = "x86")
))]
use here::*;
#[cfg(all(
    target_os = "linux",
    any(target_pointer_width = "64", target_arch = "x86")
))]
mod here {
    use crate::os::perf_event::{Event, Page};
    use crate::{Ticks, Timer, Unavailable};

    /// Cycles of the core, or the time that the thread ran, by `read(2)`.
    pub(super) struct CountedEvent<const CYCLES: bool>(Event);

    impl<const CYCLES: bool> Timer for CountedEvent<CYCLES>
    where
        Self: crate::Described,
    {
        type Reading = u64;

        fn open() -> Result<Self, Unavailable> {
            Event::counting(CYCLES).map(Self)
        }

        #[inline(always)]
        fn read(&self) -> u64 {
            self.0.read()
        }

        fn ticks(&self, reading: u64) -> Ticks {
            Ticks(reading)
        }
    }

    /// Cycles of the core, by `rdpmc`.
    pub(super) struct RdpmcCycles(Page);

    impl Timer for RdpmcCycles {
        type Reading = u64;

        fn open() -> Result<Self, Unavailable> {
            Page::open().map(Self)
        }

        #[inline(always)]
        fn read(&self) -> u64 {
            self.0.read()
        }

        fn ticks(&self, reading: u64) -> Ticks {
            Ticks(reading)
        }
    }
}
