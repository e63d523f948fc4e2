//! The list of native timers. A new one is a file of its own and one line here.
//!
//! Clocks that one system or one instruction set alone has are known everywhere by their `INFO`.
//! Their loops are compiled there only, where they are listed as `OWN`.
//!
//! A clock that is read now and then, by its id: what is read is a number, and each read costs a
//! dynamic call more than the clock.

use std::sync::LazyLock;

use crate::null::Null;
use crate::{
    Info, Native, Subject, Timer, Unavailable, apple, arch, arm, os, perf_event, posix, ptp,
    quanta_clock, riscv, std_time, windows, x86,
};

/// A native timer as the catalogue knows it.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Name, label, unit, and what it is.
    pub info: Info,
    /// Nanoseconds in one tick, as declared.
    pub ns_per_tick: fn() -> Option<f64>,
    /// The resolution that the system declares for it, in nanoseconds.
    pub declared_resolution: fn() -> Option<f64>,
    /// Whether it can be read on this machine, and if not, why.
    pub availability: fn() -> Result<(), Unavailable>,
    /// Opens it for the calling thread.
    pub open: fn() -> Result<Box<dyn Subject>, Unavailable>,
}

impl Entry {
    pub(crate) const fn of<T: Timer>() -> Self {
        Self {
            info: T::INFO,
            ns_per_tick: T::ns_per_tick,
            declared_resolution: T::declared_resolution,
            availability: T::availability,
            open: || Ok(Box::new(Native::open::<T>()?)),
        }
    }
}

/// A list of timers, and what visits them by their types; whom it does not know goes to the next.
macro_rules! list {
    ($($timer:ty),* $(,)?) => {
        pub(crate) const OWN: &[$crate::Entry] = &[$($crate::Entry::of::<$timer>()),*];

        pub(crate) fn visit_own<V: $crate::Visitor>(
            id: &str,
            visitor: V,
        ) -> Result<Result<V::Output, $crate::Unavailable>, V> {
            match id {
                $(id if id == <$timer as $crate::Timer>::INFO.id => {
                    Ok(<$timer as $crate::Timer>::open().map(|timer| visitor.visit(timer)))
                })*
                _ => Err(visitor),
            }
        }
    };
}
pub(crate) use list;

/// The entries of clocks that are there on some systems only, whose own are `$own`.
macro_rules! only {
    ($own:expr, $where:literal, $infos:expr) => {
        $infos.iter().map(|info: &Info| {
            $own.iter()
                .find(|entry| entry.info.id == info.id)
                .copied()
                .unwrap_or(Entry {
                    info: *info,
                    ns_per_tick: || None,
                    declared_resolution: || None,
                    availability: || Err(Unavailable::elsewhere(concat!($where, " only"))),
                    open: || Err(Unavailable::elsewhere(concat!($where, " only"))),
                })
        })
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
    static ALL: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        let counters = only!(arch::OWN, "x86", x86::ALL)
            .chain(only!(arch::OWN, "64-bit Arm", arm::ALL))
            .chain(only!(arch::OWN, "RISC-V", riscv::ALL));
        let systems = only!(os::OWN, "Linux", ptp::ALL)
            .chain(only!(os::OWN, "Windows", windows::ALL))
            .chain(only!(os::OWN, "macOS", apple::ALL));
        counters.chain(OWN.iter().copied()).chain(systems).collect()
    });
    &ALL
}

/// Hands the native timer of that id, opened for the calling thread, to a visitor, which is
/// compiled for each timer: no call it makes is dynamic. `None` when no timer is called so.
///
/// # Errors
/// Says why this machine does not let the timer be read.
pub fn visit<V: Visitor>(id: &str, visitor: V) -> Option<Result<V::Output, Unavailable>> {
    let native = arch::visit_own(id, visitor).or_else(|visitor| visit_own(id, visitor));
    match native.or_else(|visitor| os::visit_own(id, visitor)) {
        Ok(visited) => Some(visited),
        Err(_) => (find(id)?.availability)().err().map(Err),
    }
}

/// The timer that reads nothing. It is not in the [`catalogue`]: it is never picked as a clock.
#[must_use]
pub fn floor() -> Entry {
    Entry::of::<Null>()
}

/// The timer of that id, the floor included.
#[must_use]
pub fn find(id: &str) -> Option<Entry> {
    catalogue()
        .iter()
        .copied()
        .chain([floor()])
        .find(|entry| entry.info.id == id)
}

/// What reads a clock: the ticks that it is at.
pub type Reader = Box<dyn Fn() -> u64>;

/// What reads the clock of that id; `None` when no clock is called so.
///
/// # Errors
/// Says why this machine does not let it be read.
pub fn reader(id: &str) -> Option<Result<Reader, Unavailable>> {
    visit(id, Opening)
}

struct Opening;

impl Visitor for Opening {
    type Output = Reader;

    fn visit<T: Timer>(self, timer: T) -> Reader {
        Box::new(move || timer.ticks(timer.read()).0)
    }
}

#[cfg(test)]
mod tests {
    use super::reader;

    #[test]
    fn what_is_read_goes_on() {
        let read = reader("monotonic")
            .expect("it is one")
            .expect("it can be read");
        let before = read();
        assert!(read() >= before);
        assert!(reader("sundial").is_none());
    }
}
