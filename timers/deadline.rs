//! Deadlines, and the kernel's clocks that they use.
//!
//! What ticks: the kernel's monotonic clock, read by the system call and not by libc, because a
//! library preloaded by `LD_PRELOAD` can make the clock of libc step back, and a thread that waited
//! for that clock would wait forever.

use std::time::Duration;

use crate::os::{CommonClock, UndistortedClock, UntrimmedClock, rest};
use crate::{Available, Ticks, Timer, Unavailable, failure, work};

/// A point in time, in nanoseconds of [`kernel_time`]; `None` if there is no clock.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Option<u64>);

impl Deadline {
    /// The deadline `span` from now. Without a clock it has always passed.
    pub fn after(span: Duration) -> Self {
        Self::from(kernel_time(), span)
    }

    fn from(now: Option<u64>, span: Duration) -> Self {
        let span = i64::try_from(span.as_nanos()).unwrap_or(i64::MAX);
        Self(now.map(|now| now.wrapping_add_signed(span)))
    }

    /// The time until the deadline; `None` if it has passed or there is no clock.
    pub fn remaining(&self) -> Option<Duration> {
        // Signed, because a clock may be before its zero.
        let left = self.0?.wrapping_sub(kernel_time()?) as i64;
        (left > 0).then(|| Duration::from_nanos(left.unsigned_abs()))
    }
}

/// Pauses the calling thread for `span`, or not at all if there is no clock. Unlike
/// `std::thread::sleep`, it does not panic if a sandbox refuses `clock_nanosleep`.
pub fn pause(span: Duration) {
    let deadline = Deadline::after(span);
    while let Some(left) = deadline.remaining() {
        rest::wait(left);
    }
}

/// Computes for a time span.
pub(crate) fn spin(span: Duration) {
    let deadline = Deadline::after(span);
    while deadline.remaining().is_some() {
        work::units(1 << 10);
    }
}

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
fn read_ns<T: Timer>() -> Option<u64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadline_passes_for_good() {
        assert_eq!(Deadline::after(Duration::ZERO).remaining(), None);
        let left = Deadline::after(Duration::from_secs(3_600))
            .remaining()
            .expect("an hour is left");
        assert!(left <= Duration::from_secs(3_600));
        assert!(Deadline::after(Duration::MAX).remaining().is_some());
    }

    #[test]
    fn nothing_waits_without_clock() {
        assert_eq!(
            Deadline::from(None, Duration::from_secs(3_600)).remaining(),
            None
        );
        assert_eq!(Deadline::from(None, Duration::MAX).remaining(), None);
    }
}
