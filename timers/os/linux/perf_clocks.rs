//! Counters of the kernel's perf events, for the thread that opens them.
//!
//! What ticks: `perf-task-clock` counts the nanoseconds that the thread ran, according to the
//! scheduler; `perf-cycles` counts the clock cycles of the core while the thread ran on it. The
//! frequency of the core varies, so that no `ns_per_tick` is declared. Both are read by the system
//! call `read(2)` ([perf_event_open(2)]).
//!
//! Who may read them: kernel.perf_event_paranoid decides. At 2, the default, an unprivileged thread
//! may count itself in user mode only; at higher values, which some distributions add, not at all.
//! Many virtual machines and containers offer no hardware counters.
//!
//! How they lie: if cycles in the kernel may not be counted, those of `read(2)` are missing, so
//! that the timer advances by less than its own cost. On CPUs with two kinds of cores the counter belongs to one kind. The events are
//! pinned to a hardware counter, because an event that shares a counter with others would stop at
//! times.
//!
//! [perf_event_open(2)]: https://man7.org/linux/man-pages/man2/perf_event_open.2.html

use crate::entry::clocks;
use crate::{Counted, Family, Properties};

/// The time that the thread ran.
const TASK: Properties = Properties {
    family: Some(Family::PerfEvent),
    ..Properties::THREAD
};
/// A counter of the cycles of the thread.
const CYCLES: Properties = Properties {
    counts: Some(Counted::ThreadCycles),
    ..TASK
};

// `perf-task-clock` is the variant of `perf-cycles`, because the same system call reads it and it
// needs no hardware counter.
clocks! { "Linux", all(target_os = "linux", any(target_pointer_width = "64", target_arch = "x86"));
    CountedEvent<false>, "perf-task-clock", "read(PERF_COUNT_SW_TASK_CLOCK)", Some(1.0), TASK;
    CountedEvent<true>, "perf-cycles", "read(PERF_COUNT_HW_CPU_CYCLES)", None, CYCLES.with_variant("perf-task-clock");
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
    use crate::os::linux::perf_event::OpenEvent;
    use crate::{Available, Ticks, Timer, Unavailable, record_failure};

    /// The cycles of the core, or the time that the thread ran, read by `read(2)`.
    pub struct CountedEvent<const CYCLES: bool>(OpenEvent);

    impl<const CYCLES: bool> Timer for CountedEvent<CYCLES>
    where
        Self: crate::Described,
    {
        type Reading = u64;

        fn open() -> Available<Self> {
            OpenEvent::open_checked(CYCLES).map(Self)
        }

        #[inline(always)]
        fn read(&self) -> u64 {
            self.0.read()
        }

        fn ticks(&self, reading: u64) -> Ticks {
            if reading == u64::MAX {
                let why = "read() of the event fails: other events use all hardware counters";
                record_failure::<Self>(Unavailable::because(why));
            }
            Ticks(reading)
        }
    }
}
