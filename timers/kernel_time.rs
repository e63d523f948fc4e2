//! The time by the kernel's clocks.

use crate::os::{CommonClock, UndistortedClock, UntrimmedClock};
use crate::{Available, Ticks, Timer, Unavailable, failure};

/// The kernel's monotonic clock in nanoseconds: read by the system call or, if a sandbox refuses
/// the call, in the usual way (on Linux through the vDSO). `None` if neither works.
pub fn kernel_time() -> Option<u64> {
    read_ns::<UndistortedClock>().or_else(read_ns::<CommonClock>)
}

/// The kernel's clock whose rate no time service trims, in nanoseconds (`CLOCK_MONOTONIC_RAW` on
/// Linux). `None` if unreadable.
pub fn kernel_raw_time() -> Option<u64> {
    read_ns::<UntrimmedClock>()
}

/// Reads a clock once, in nanoseconds; `None` if unreadable.
pub(crate) fn read_ns<T: Timer>() -> Option<u64> {
    let (clock, unit) = open_with_unit::<T>().ok()?;
    let now = nanoseconds(clock.ticks(clock.read()), unit);
    failure(T::INFO.id).is_none().then_some(now)
}

/// Opens a clock of the system. Returns it with its nanoseconds per tick.
pub(crate) fn open_with_unit<T: Timer>() -> Available<(T, f64)> {
    let unknown = || Unavailable::because("the system does not report the unit of its clock");
    Ok((T::open()?, T::ns_per_tick().ok_or_else(unknown)?))
}

/// A reading in nanoseconds.
pub(crate) fn nanoseconds(Ticks(ticks): Ticks, ns_per_tick: f64) -> u64 {
    // Nanoseconds are not multiplied: after some months of uptime they have more digits than an
    // f64.
    if ns_per_tick == 1.0 {
        ticks
    } else {
        (ticks as f64 * ns_per_tick) as u64
    }
}
