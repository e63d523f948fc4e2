//! The calls that wait. What they are stands in `waits/systems.rs`.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::{io, ptr};

use windows_sys::Win32::System::Threading;
use windows_sys::Win32::System::Threading::{
    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CancelWaitableTimer, CreateWaitableTimerExW, INFINITE,
    SetWaitableTimer, TIMER_ALL_ACCESS, WaitForSingleObject,
};

use crate::Unavailable;
use crate::subject::{Answer, Fault};
use crate::waits::method::{Armed, Countdown, Method, Periodic};
use crate::waits::observe::methods;
use crate::waits::{WaitEntry, WaitInfo, windows};

pub(crate) const OWN: &[WaitEntry] = methods![
    Sleep: waits relative;
    WaitableTimer<false>: waits arms periods;
    WaitableTimer<true>: waits arms periods;
];

/// In milliseconds, rounded up; the most that is not for ever.
fn milliseconds(nanoseconds: u64) -> u32 {
    u32::try_from(nanoseconds.div_ceil(1_000_000))
        .map_or(u32::MAX - 1, |most| most.min(u32::MAX - 1))
}

/// From now on in units of 100 ns, rounded up: negative, as an instant would be positive. Nothing
/// would be one.
fn from_now(nanoseconds: u64) -> i64 {
    -(nanoseconds.div_ceil(100).max(1) as i64)
}

/// What the last call was refused for, in the system's words.
fn refused(call: &str) -> Unavailable {
    Unavailable::because(format!("{call}: {}", io::Error::last_os_error()))
}

/// A system that does not know the flag refuses it.
fn too_old(why: Unavailable) -> Unavailable {
    Unavailable::because(format!(
        "{}; high-resolution timers came with Windows 10 1803",
        why.reason
    ))
}

/// `Sleep`.
pub(crate) struct Sleep;

impl Method for Sleep {
    const INFO: WaitInfo = windows::SLEEP;

    fn open() -> Result<Self, Unavailable> {
        Ok(Self)
    }
}

impl Countdown for Sleep {
    fn wait(&mut self, nanoseconds: u64) {
        // SAFETY: a plain number.
        unsafe { Threading::Sleep(milliseconds(nanoseconds)) };
    }
}

/// A waitable timer, which goes by the tick, or has an interrupt of its own. Who waited for it
/// resets it.
pub(crate) struct WaitableTimer<const HIGH_RESOLUTION: bool>(OwnedHandle);

impl<const HIGH_RESOLUTION: bool> WaitableTimer<HIGH_RESOLUTION> {
    /// Arms it: once, or periodically after the first expiration; in milliseconds.
    #[inline(always)]
    fn set(&self, first_ns: u64, period_ms: u32) -> Result<(), Unavailable> {
        let due = from_now(first_ns);
        let period_ms = i32::try_from(period_ms).unwrap_or(i32::MAX);
        // SAFETY: the time is read, nothing is called, and the timer is open as long as it is
        // borrowed.
        let done = unsafe {
            SetWaitableTimer(
                self.0.as_raw_handle(),
                &raw const due,
                period_ms,
                None,
                ptr::null(),
                0,
            )
        };
        if done == 0 {
            Err(refused("SetWaitableTimer()"))
        } else {
            Ok(())
        }
    }

    /// Until it is signalled.
    #[inline(always)]
    fn until_signalled(&self) {
        // SAFETY: the handle is open as long as it is borrowed.
        unsafe { WaitForSingleObject(self.0.as_raw_handle(), INFINITE) };
    }

    fn cancel(&self) {
        // SAFETY: the timer is open as long as it is borrowed.
        unsafe { CancelWaitableTimer(self.0.as_raw_handle()) };
    }
}

impl<const HIGH_RESOLUTION: bool> Method for WaitableTimer<HIGH_RESOLUTION> {
    const INFO: WaitInfo = if HIGH_RESOLUTION {
        windows::WAITABLE_TIMER_HIGH
    } else {
        windows::WAITABLE_TIMER
    };

    fn open() -> Result<Self, Unavailable> {
        let flags = if HIGH_RESOLUTION {
            CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
        } else {
            0
        };
        // SAFETY: no attributes and no name.
        let timer =
            unsafe { CreateWaitableTimerExW(ptr::null(), ptr::null(), flags, TIMER_ALL_ACCESS) };
        if timer.is_null() {
            let why = refused("CreateWaitableTimerExW()");
            return Err(if HIGH_RESOLUTION { too_old(why) } else { why });
        }
        // SAFETY: it was just made and has no other owner.
        Ok(Self(unsafe { OwnedHandle::from_raw_handle(timer) }))
    }
}

impl<const HIGH_RESOLUTION: bool> Countdown for WaitableTimer<HIGH_RESOLUTION> {
    fn wait(&mut self, nanoseconds: u64) {
        // A refused wait returns at once, and is seen to be early.
        if self.set(nanoseconds, 0).is_ok() {
            self.until_signalled();
        }
    }
}

impl<const HIGH_RESOLUTION: bool> Armed for WaitableTimer<HIGH_RESOLUTION> {
    fn arm_and_cancel(&mut self, nanoseconds: u64) {
        let _ = self.set(nanoseconds, 0);
        self.cancel();
    }
}

impl<const HIGH_RESOLUTION: bool> Periodic for WaitableTimer<HIGH_RESOLUTION> {
    fn start(&mut self, period_ns: u64) -> Answer<()> {
        let whole = period_ns
            .is_multiple_of(1_000_000)
            .then_some(period_ns / 1_000_000);
        let period_ms = whole
            .and_then(|period| u32::try_from(period).ok())
            .filter(|&period| period > 0);
        let period_ms = period_ms.ok_or_else(|| {
            Fault::Refused(format!(
                "{} has periods of whole milliseconds only",
                Self::INFO.label
            ))
        })?;
        self.set(period_ns, period_ms)
            .map_err(|why| Fault::Refused(why.reason))
    }

    fn tick(&mut self) {
        self.until_signalled();
    }

    fn stop(&mut self) {
        self.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_elsewhere_is_what_is_here() {
        let own: Vec<_> = OWN
            .iter()
            .map(|entry| (entry.info, entry.answers))
            .collect();
        assert_eq!(own, windows::ALL);
    }

    #[test]
    fn requests_are_rounded_up_and_never_endless() {
        assert_eq!([0, 1, 1_000_000, 1_000_001].map(milliseconds), [0, 1, 1, 2]);
        assert_eq!(milliseconds(u64::MAX), u32::MAX - 1);
        assert_eq!([0, 1, 100, 101].map(from_now), [-1, -1, -1, -2]);
    }

    #[test]
    fn a_windows_without_high_resolution_is_quoted_and_explained() {
        use windows_sys::Win32::Foundation::{ERROR_INVALID_PARAMETER, SetLastError};
        // What such a Windows answers.
        // SAFETY: a plain number.
        unsafe { SetLastError(ERROR_INVALID_PARAMETER) };
        let why = too_old(refused("CreateWaitableTimerExW()")).reason;
        assert!(
            why.starts_with("CreateWaitableTimerExW(): ") && why.contains("os error 87"),
            "{why}"
        );
        assert!(why.ends_with("came with Windows 10 1803"), "{why}");
    }
}
