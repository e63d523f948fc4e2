//! The calls that wait. What they are stands in `waits/systems.rs`.
//!
//! What is the same of all timers that are armed by one call and waited for by another.

mod callbacks;
mod sleeps;
mod waitable;

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::{io, ptr};

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Threading::{CreateEventW, INFINITE, ResetEvent, WaitForSingleObject};

use crate::Unavailable;
use crate::subject::{Answer, Fault};
use crate::waits::WaitEntry;
use crate::waits::method::{Armed, Countdown, Method, Periodic};
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

/// A timer that the system keeps.
trait Alarm: Method {
    /// Arms it: once, or periodically after the first expiration; in milliseconds.
    fn set(&mut self, first_ns: u64, period_ms: u32) -> Result<(), Unavailable>;

    /// What it signals when it expires; who waited for that has reset it.
    fn signalled(&self) -> &OwnedHandle;

    /// Disarms it; nothing that it set off is left.
    fn cancel(&mut self);
}

impl<T: Alarm> Countdown for T {
    fn wait(&mut self, nanoseconds: u64) {
        // A refused wait returns at once, and is seen to be early.
        if self.set(nanoseconds, 0).is_ok() {
            wait_for(self.signalled());
        }
    }
}

impl<T: Alarm> Armed for T {
    fn arm_and_cancel(&mut self, nanoseconds: u64) {
        let _ = self.set(nanoseconds, 0);
        self.cancel();
    }
}

impl<T: Alarm> Periodic for T {
    fn start(&mut self, period_ns: u64) -> Answer<()> {
        let whole = period_ns.is_multiple_of(1_000_000).then_some(period_ns / 1_000_000);
        let period_ms = whole.and_then(|period| u32::try_from(period).ok()).filter(|&period| period > 0);
        let period_ms = period_ms.ok_or_else(|| {
            Fault::Refused(format!("{} has periods of whole milliseconds only", Self::INFO.label))
        })?;
        self.set(period_ns, period_ms).map_err(|why| Fault::Refused(why.reason))
    }

    fn tick(&mut self) {
        wait_for(self.signalled());
    }

    fn stop(&mut self) {
        self.cancel();
    }
}

/// What a callback sets and the thread waits for; who waited resets it.
struct Event(OwnedHandle);

impl Event {
    fn new() -> Result<Self, Unavailable> {
        // SAFETY: no attributes and no name.
        let event = unsafe { CreateEventW(ptr::null(), 0, 0, ptr::null()) };
        if event.is_null() {
            return Err(refused("CreateEventW()"));
        }
        // SAFETY: it was just made and has no other owner.
        Ok(Self(unsafe { OwnedHandle::from_raw_handle(event) }))
    }

    fn handle(&self) -> HANDLE {
        self.0.as_raw_handle()
    }

    #[inline(always)]
    fn object(&self) -> &OwnedHandle {
        &self.0
    }

    fn reset(&self) {
        // SAFETY: the event is open as long as `self` lives.
        unsafe { ResetEvent(self.handle()) };
    }
}

/// Until it is signalled.
#[inline(always)]
fn wait_for(object: &OwnedHandle) {
    // SAFETY: the handle is open as long as it is borrowed.
    unsafe { WaitForSingleObject(object.as_raw_handle(), INFINITE) };
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
