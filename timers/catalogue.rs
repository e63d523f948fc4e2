//! The list of native timers. A new one is a file of its own and one line here.

use crate::null::Null;
use crate::{Info, Native, Subject, Timer, Unavailable};
use crate::{perf_event, posix, quanta_clock, std_time, x86};

/// A native timer as the catalogue knows it.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Name, label, unit, and what it is.
    pub info: Info,
    /// The resolution that the system declares for it, in nanoseconds.
    pub declared_resolution: fn() -> Option<f64>,
    /// Whether it can be read on this machine, and if not, why.
    pub availability: fn() -> Result<(), Unavailable>,
    /// Opens it for the calling thread.
    pub open: fn() -> Result<Box<dyn Subject>, Unavailable>,
}

impl Entry {
    const fn of<T: Timer>() -> Self {
        Self {
            info: T::INFO,
            declared_resolution: T::declared_resolution,
            availability: T::availability,
            open: || Ok(Box::new(Native::<T>::open()?)),
        }
    }
}

/// The list of all timers, and what visits them by their types.
macro_rules! list {
    ($($timer:ty),* $(,)?) => {
        const ALL: &[Entry] = &[$(Entry::of::<$timer>()),*];

        /// Hands the native timer of that id, opened for the calling thread, to a visitor, which is compiled for each
        /// timer: no call it makes is dynamic. `None` when nobody is called so.
        ///
        /// # Errors
        /// Says why this machine does not let the timer be read.
        pub fn visit<V: Visitor>(id: &str, visitor: V) -> Option<Result<V::Output, Unavailable>> {
            match id {
                $(id if id == <$timer>::INFO.id => Some(<$timer>::open().map(|timer| visitor.visit(timer))),)*
                _ => None,
            }
        }
    };
}

/// Something to be done with a timer whose type is not known beforehand.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<T: Timer>(self, timer: T) -> Self::Output;
}

/// The id of the timer that reads nothing.
pub const FLOOR_ID: &str = Null::INFO.id;

list![
    x86::Rdtsc,
    x86::RdtscLfence,
    x86::Rdtscp,
    posix::Monotonic,
    posix::MonotonicRaw,
    posix::MonotonicCoarse,
    posix::Realtime,
    posix::RealtimeCoarse,
    posix::Boottime,
    posix::Tai,
    posix::ProcessCputime,
    posix::ThreadCputime,
    posix::MonotonicSyscall,
    posix::MonotonicRawSyscall,
    posix::MonotonicCoarseSyscall,
    posix::RealtimeSyscall,
    posix::RealtimeCoarseSyscall,
    posix::BoottimeSyscall,
    posix::ProcessCputimeSyscall,
    posix::ThreadCputimeSyscall,
    posix::Gettimeofday,
    posix::Time,
    posix::Clock,
    posix::Times,
    posix::GetrusageSelf,
    posix::GetrusageThread,
    std_time::StdInstant,
    std_time::StdSystemTime,
    quanta_clock::Quanta,
    quanta_clock::QuantaRaw,
    perf_event::TaskClock,
    perf_event::Cycles,
    perf_event::RdpmcCycles,
];

/// Every native timer this build knows, readable here or not.
#[must_use]
pub fn catalogue() -> &'static [Entry] {
    ALL
}

/// The timer that reads nothing. It is not in the [`catalogue`]: nobody picks it as a clock.
#[must_use]
pub fn floor() -> Entry {
    Entry::of::<Null>()
}

/// The timer of that id, the floor included.
#[must_use]
pub fn find(id: &str) -> Option<Entry> {
    catalogue().iter().copied().chain([floor()]).find(|entry| entry.info.id == id)
}
