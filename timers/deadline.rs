//! A point in time by which something has to be done.
//!
//! What ticks: the kernel's monotonic clock, asked by its system call. A library that stands
//! between (`LD_PRELOAD`) can make libc's clock step back, and a thread that waited for that would
//! wait forever.

use std::time::Duration;

use crate::Timer;
use crate::os::{Common, Undistorted, Unsteered};

/// A point in time by which something has to be done, in nanoseconds of the clock; `None` where
/// there is no clock.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Option<u64>);

impl Deadline {
    /// The deadline that is `span` ahead. Without a clock it has passed.
    #[must_use]
    pub fn after(span: Duration) -> Self {
        Self::from(kernel_time(), span)
    }

    fn from(now: Option<u64>, span: Duration) -> Self {
        let span = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        Self(now.map(|now| now.saturating_add(span)))
    }

    /// The time that is left; `None` once there is none, and without a clock.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        let left = self.0?.checked_sub(kernel_time()?);
        left.filter(|left| *left > 0).map(Duration::from_nanos)
    }
}

/// Nanoseconds of the kernel's monotonic clock: by the system call, or where a sandbox refuses
/// that, by what the kernel mapped into this process. `None` where neither can be read: then no
/// deadline can be kept.
#[must_use]
pub fn kernel_time() -> Option<u64> {
    nanoseconds::<Undistorted>().or_else(nanoseconds::<Common>)
}

/// Nanoseconds of the kernel's clock that is not steered: at the rate of the hardware, as the
/// kernel found it when it started. `None` where it cannot be read.
#[must_use]
pub fn kernel_raw_time() -> Option<u64> {
    nanoseconds::<Unsteered>()
}

fn nanoseconds<T: Timer>() -> Option<u64> {
    let (clock, unit) = (T::open().ok()?, T::ns_per_tick()?);
    let ticks = clock.ticks(clock.read()).0;
    // Nanoseconds stay as they are: those of some years have more digits than a floating-point
    // number.
    Some(if unit == 1.0 {
        ticks
    } else {
        (ticks as f64 * unit) as u64
    })
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
