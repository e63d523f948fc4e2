//! The calls that wait. What they are stands in `waits/windows.rs`.

mod alarm;
mod callbacks;
mod sleeps;
mod waitable;

use std::io;

use crate::Unavailable;
use crate::waits::WaitEntry;
use crate::waits::observe::methods;

pub(crate) const OWN: &[WaitEntry] = methods![
    sleeps::Sleep: waits relative;
    sleeps::SleepEx: waits;
    sleeps::WaitForSingleObject: waits;
    sleeps::SleepConditionVariable: waits;
    waitable::Plain: waits arms periods;
    waitable::HighResolution: waits arms periods;
    callbacks::TimeSetEvent: waits periods;
    callbacks::TimerQueue: waits arms periods;
    callbacks::ThreadPool: waits arms periods;
];

/// In milliseconds, rounded up; the most that is not for ever.
fn milliseconds(nanoseconds: u64) -> u32 {
    u32::try_from(nanoseconds.div_ceil(1_000_000)).map_or(u32::MAX - 1, |most| most.min(u32::MAX - 1))
}

/// From now on in units of 100 ns, rounded up: negative, as an instant would be positive. Nothing would be one.
fn from_now(nanoseconds: u64) -> i64 {
    -(nanoseconds.div_ceil(100).max(1) as i64)
}

/// What the last call was refused for, in the system's words.
fn refused(call: &str) -> Unavailable {
    Unavailable::because(format!("{call}: {}", io::Error::last_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::windows;

    #[test]
    fn what_is_told_elsewhere_is_what_is_here() {
        let own: Vec<_> = OWN.iter().map(|entry| (entry.info, entry.answers)).collect();
        assert_eq!(own, windows::ALL);
    }

    #[test]
    fn requests_are_rounded_up_and_never_endless() {
        assert_eq!([0, 1, 1_000_000, 1_000_001].map(milliseconds), [0, 1, 1, 2]);
        assert_eq!(milliseconds(u64::MAX), u32::MAX - 1);
        assert_eq!([0, 1, 100, 101].map(from_now), [-1, -1, -1, -2]);
    }
}
