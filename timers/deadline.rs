//! A point in time by which something has to be done.
//!
//! What ticks: the kernel's monotonic clock, asked by its system call. A library that stands between (`LD_PRELOAD`) can make
//! libc's clock step back, and whoever waited for that would wait forever.

use std::time::Duration;

use crate::Timer;
use crate::posix::MonotonicSyscall;

/// A point in time by which something has to be done.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// In nanoseconds; `None` when it lies farther ahead than the clock can tell.
    at: Option<u64>,
}

impl Deadline {
    /// The deadline that is `span` ahead.
    #[must_use]
    pub fn after(span: Duration) -> Self {
        Self { at: u64::try_from(span.as_nanos()).ok().and_then(|span| now()?.checked_add(span)) }
    }

    /// The time that is left; `None` once there is none.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        let Some(at) = self.at else { return Some(Duration::MAX) };
        // Without a clock nothing is waited for.
        at.checked_sub(now()?).filter(|left| *left > 0).map(Duration::from_nanos)
    }
}

fn now() -> Option<u64> {
    let clock = MonotonicSyscall::open().ok()?;
    Some(clock.ticks(clock.read()).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_passes_once_and_for_all() {
        assert_eq!(Deadline::after(Duration::ZERO).remaining(), None);
        let left = Deadline::after(Duration::from_secs(3_600)).remaining().expect("an hour is left");
        assert!(left <= Duration::from_secs(3_600));
        assert!(Deadline::after(Duration::MAX).remaining().is_some());
    }
}
